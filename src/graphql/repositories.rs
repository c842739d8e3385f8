//! Changes of several repositories at once, and of the services whose code they hold.

use async_graphql::MaybeUndefined;
use sea_orm::sea_query::{Expr, ExprTrait, LockType};
use sea_orm::{ActiveValue, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Set};

use super::context::MutationCtx;
use super::draft::Draft;
use super::identifier::{self, Identifier};
use super::permit;
use super::schema::*;
use super::types::Repository;
use crate::db::{self, Read, Transaction, Write};
use crate::entity::audit::Subject;
use crate::entity::field_rule::must_not_be_null;
use crate::entity::repository::{self, Column};
use crate::entity::timestamp::touch;
use crate::entity::{Timestamp, service, service_repository, text};
use crate::error::{Error, Problems, Result, UserError};

/// Stores a repository. If its owner has changed, notes when.
pub(super) async fn store(
    db: &Transaction,
    owner: Option<i64>,
    mut row: repository::ActiveModel,
) -> Result<Repository> {
    touch(&mut row.updated_at);
    if matches!(row.owner_id, ActiveValue::Set(new) if new != owner) {
        row.last_owner_changed_at = Set(Some(Timestamp::now()));
    }
    Ok(db.update(row).await?)
}

/// Locks the services whose code a repository holds and whose owner is another one, and returns their ids. Fails if one
/// of them cannot be changed.
async fn services_to_sync(ctx: &MutationCtx<'_>, repository: i64, owner: Option<i64>) -> Result<Vec<i64>> {
    const FIELD: &str = "syncLinkedServices";
    let db = ctx.db();
    let links = service_repository::Entity::find()
        .select_only()
        .column(service_repository::Column::ServiceId)
        .filter(service_repository::Column::RepositoryId.eq(repository))
        .into_query();
    let is_other = match owner {
        Some(owner) => service::Column::OwnerId.is_null().or(service::Column::OwnerId.ne(owner)),
        None => service::Column::OwnerId.is_not_null(),
    };
    // In the order of their ids, so that two transactions that write many services cannot deadlock.
    let services = service::Entity::find()
        .select_only()
        .columns([service::Column::Id, service::Column::Slug, service::Column::LockedBy])
        .filter(service::Column::Id.in_subquery(links))
        .filter(is_other)
        .order_by_asc(service::Column::Id)
        .limit(text::ENTRIES as u64 + 1)
        .lock(LockType::Update);
    let services: Vec<(i64, String, Option<String>)> =
        db.rows(services.as_query(), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).await?;
    if services.len() > text::ENTRIES {
        let message = format!("the repository holds the code of more than {} services of other owners", text::ENTRIES);
        return Err(UserError::new(FIELD, message).into());
    }
    for (id, slug, file) in &services {
        if let Some(file) = file {
            let message = format!("the service {slug} is locked: its service file {file} governs it; change it there");
            return Err(UserError::new("locked", message).into());
        }
        let subject = Subject::new("Service", Some(*id), slug);
        permit::check(&ctx.committed(), db, ctx.caller(), "repositoryUpdate", &subject).await?;
    }
    Ok(services.into_iter().map(|(id, ..)| id).collect())
}

/// Gives the services whose code a repository holds its owner.
pub(super) async fn sync(ctx: &MutationCtx<'_>, repository: i64, owner: Option<i64>) -> Result<()> {
    let services = services_to_sync(ctx, repository, owner).await?;
    set_owner(ctx.db(), &services, owner).await
}

async fn set_owner(db: &Transaction, services: &[i64], owner: Option<i64>) -> Result<()> {
    if services.is_empty() {
        return Ok(());
    }
    let update = service::Entity::update_many()
        .col_expr(service::Column::OwnerId, Expr::value(owner))
        .col_expr(service::Column::UpdatedAt, Expr::value(Timestamp::now()))
        .filter(db::any(db, service::Column::Id, services));
    db.exec(update).await?;
    Ok(())
}

/// Checks which repositories are named, and the new visibility.
fn checked(repositories: &[IdentifierInput], visible: &MaybeUndefined<bool>) -> Problems {
    let mut problems = Problems::default();
    if repositories.is_empty() || repositories.len() > text::FEW {
        let message = format!("repositories must name 1 to {} repositories", text::FEW);
        problems.push(UserError::new("repositories", message));
    }
    if visible.is_null() {
        problems.push(must_not_be_null("visible"));
    }
    for (place, named) in repositories.iter().enumerate().take(text::FEW) {
        let within = |error: UserError| error.within(place.to_string()).within("repositories");
        problems.take(Identifier::of(named).map_err(within));
    }
    problems
}

/// Changes one of the repositories, if nothing forbids it.
async fn update(
    ctx: &MutationCtx<'_>,
    named: &IdentifierInput,
    owner: &ActiveValue<Option<i64>>,
    visible: &MaybeUndefined<bool>,
    syncs: bool,
) -> Result<Result<Repository, NotUpdatedRepository>> {
    let db = ctx.db();
    let refused = |repository, error: Error| match error {
        Error::User(_) => Ok(Err(NotUpdatedRepository { repository, error: error.to_string() })),
        error => Err(error),
    };
    let found = match identifier::locked::<Repository>(db, "repositories", named, LockType::Update).await {
        Ok(found) => found,
        Err(error) => return refused(None, error),
    };
    let before = found.owner_id;
    let after = if let ActiveValue::Set(owner) = owner { *owner } else { before };
    let services = if syncs { services_to_sync(ctx, found.id, after).await } else { Ok(Vec::new()) };
    let services = match services {
        Ok(services) => services,
        Err(error) => return refused(Some(found), error),
    };
    set_owner(db, &services, after).await?;
    let mut draft = Draft::<repository::Entity>::of(found);
    draft.set(Column::Visible, visible);
    let mut row = draft.done()?;
    if let ActiveValue::Set(owner) = owner {
        row.owner_id = Set(*owner);
    }
    Ok(Ok(store(db, before, row).await?))
}

impl RepositoriesUpdateMutation for Mutation {
    async fn repositories_update(
        ctx: &MutationCtx<'_>,
        repositories: Vec<IdentifierInput>,
        owner: MaybeUndefined<IdentifierInput>,
        visible: MaybeUndefined<bool>,
        sync_linked_services: MaybeUndefined<bool>,
    ) -> Result<RepositoriesUpdatePayload> {
        let mut problems = checked(&repositories, &visible);
        let mut change = Draft::<repository::Entity>::new();
        change.refer(ctx.db(), Column::OwnerId, &owner).await?;
        // The rule is that of the field `ownerId` of other mutations.
        let renamed = |mut error: UserError| {
            if let Some(first) = error.path.first_mut() {
                *first = "owner".into();
            }
            error
        };
        problems.take_any(change.problems.none().map_err(|error| error.map_user(renamed)))?;
        problems.none()?;

        let syncs = sync_linked_services == MaybeUndefined::Value(true);
        let (mut updated, mut not_updated) = (Vec::new(), Vec::new());
        for named in &repositories {
            match update(ctx, named, &change.row.owner_id, &visible, syncs).await? {
                Ok(repository) => updated.push(repository),
                Err(repository) => not_updated.push(repository),
            }
        }
        Ok(RepositoriesUpdatePayload {
            updated_repositories: Some(updated),
            not_updated_repositories: Some(not_updated),
            ..Default::default()
        })
    }
}
