//! What a user or a team leaves behind goes to a successor, in the transaction that deletes them.

use crate::entity::{domain, infrastructure_resource, on_call, repository, service, system, team};
use crate::graphql::prelude::*;

/// The maximum number of things of a kind that are handed over.
const MOST: usize = text::ENTRIES;

fn checked<T>(found: Vec<T>, noun: &str) -> Result<Vec<T>> {
    if found.len() > MOST {
        let message = format!("at most {MOST} {noun} can be handed over at once; hand some over first");
        return Err(UserError::new("successor", message).into());
    }
    Ok(found)
}

/// Gives a user's teams and shifts to another user.
pub(in crate::graphql) async fn to_user(ctx: &MutationCtx<'_>, from: &User, to: &User) -> Result<()> {
    if from.id == to.id {
        return Err(UserError::new("successor", "successor must be another user").into());
    }
    let db = ctx.db();
    let led = team::Entity::find().filter(team::Column::ManagerId.eq(from.id)).order_by_asc(team::Column::Id);
    let led = checked(db.all(led.limit(MOST as u64 + 1).lock(LockType::NoKeyUpdate)).await?, "teams")?;
    let ids: Vec<i64> = led.iter().map(|team| team.id).collect();
    let update = team::Entity::update_many().col_expr(team::Column::ManagerId, Expr::value(to.id));
    db.exec(update.filter(db::any(db, team::Column::Id, &ids))).await?;
    shifts(ctx, from, to).await
}

async fn shifts(ctx: &MutationCtx<'_>, from: &User, to: &User) -> Result<()> {
    let db = ctx.db();
    let is_theirs = on_call::Column::ExternalEmail.is_in([&*from.email, &*from.email_key]);
    let theirs = on_call::Entity::find().filter(is_theirs).order_by_asc(on_call::Column::Id).limit(MOST as u64 + 1);
    let theirs = checked(db.all(theirs).await?, "shifts")?;
    let ids: Vec<i64> = theirs.iter().map(|shift| shift.id).collect();
    let update = on_call::Entity::update_many()
        .col_expr(on_call::Column::Name, Expr::value(to.name.as_str()))
        .col_expr(on_call::Column::ExternalEmail, Expr::value(to.email.as_str()));
    db.exec(update.filter(db::any(db, on_call::Column::Id, &ids))).await?;
    Ok(())
}

/// Gives what a team owns, and the teams that are a part of it, to another team. The caller has refused to do so if one
/// of the services is locked.
pub(in crate::graphql) async fn to_team(ctx: &MutationCtx<'_>, from: &Team, to: Team) -> Result<()> {
    if from.id == to.id {
        return Err(UserError::new("successor", "successor must be another team").into());
    }
    parts(ctx, from, &to).await?;
    macro_rules! owned {
        ($table:ident, $noun:literal) => {{
            let db = ctx.db();
            let own = $table::Entity::find()
                .select_only()
                .column($table::Column::Id)
                .filter($table::Column::OwnerId.eq(from.id))
                .order_by_asc($table::Column::Id)
                .limit(MOST as u64 + 1);
            let own: Vec<i64> = db.rows(own.as_query(), |row| row.get(0)).await?;
            let own = checked(own, $noun)?;
            let update = $table::Entity::update_many().col_expr($table::Column::OwnerId, Expr::value(to.id));
            db.exec(update.filter(db::any(db, $table::Column::Id, &own))).await?;
        }};
    }
    owned!(service, "services");
    owned!(system, "systems");
    owned!(domain, "domains");
    owned!(repository, "repositories");
    owned!(infrastructure_resource, "infrastructure resources");
    Ok(())
}

/// Makes the teams that are a part of a team a part of another. If that one is itself a part of it, it takes its place.
async fn parts(ctx: &MutationCtx<'_>, from: &Team, to: &Team) -> Result<()> {
    let db = ctx.db();
    let parts = team::Entity::find().filter(team::Column::ParentTeamId.eq(from.id)).order_by_asc(team::Column::Id);
    let parts = checked(db.all(parts.limit(MOST as u64 + 1).lock(LockType::NoKeyUpdate)).await?, "teams")?;
    if to.parent_team_id == Some(from.id) {
        set_parent(db, to.clone(), from.parent_team_id).await?;
    }
    for part in parts.into_iter().filter(|part| part.id != to.id) {
        let above = team::check_parent(db, Some(part.id), to.id).await;
        above.map_err(|error| error.map_user(|error| UserError { path: vec!["successor".into()], ..error }))?;
        set_parent(db, part, Some(to.id)).await?;
    }
    Ok(())
}

async fn set_parent(db: &Transaction, part: Team, parent: Option<i64>) -> Result<()> {
    let mut row: team::ActiveModel = part.into();
    row.parent_team_id = Set(parent);
    db.update(row).await?;
    Ok(())
}
