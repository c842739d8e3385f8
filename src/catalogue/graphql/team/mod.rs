//! Teams: the owners of services. Their members are in `team_membership.rs`.
//!
//! Invariant: teams form trees. [`team::check_parent`] locks all teams above before it allows a parent, so two
//! mutations cannot close a circle together.

use sea_orm::ActiveValue;
use sea_orm::sea_query::{ExprTrait, Query as Select};

use super::deploy::deploy_metrics;
use super::field::alias;
use super::field::alias::or_taken;
use super::field::identifier::given;
use super::list::sort::{Ordered, Sort};
use super::property;
use super::service::{refuse_locked, refuse_where_locked};
use super::standards::check;
use crate::deploy::metrics::Whose;
use crate::entity::alias::AliasTable;
use crate::entity::team::Column;
use crate::entity::{contact as contacts, pages, property as properties, service, team, team_alias, user as users};
use crate::graphql::prelude::*;

pub(super) mod contact;
pub(super) mod hand_over;
pub(super) mod team_membership;
pub mod user;

fn ids_of(teams: &[&Team]) -> Vec<i64> {
    teams.iter().map(|team| team.id).collect()
}

/// The services that teams own.
fn owned_by(ids: &[i64]) -> check::By<'_> {
    check::By { column: service::Column::OwnerId, ids }
}

impl TeamResolver for Team {
    async fn property(teams: &[&Self], args: &TeamPropertyArgs, ctx: &Ctx<'_>) -> Result<Vec<Option<Property>>> {
        let owners = teams.iter().map(|team| team.id).collect();
        property::of_owners(ctx, properties::Column::TeamId, owners, &args.definition).await
    }

    async fn html_url(teams: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<String>> {
        let app_url = &ctx.settings().app_url;
        Ok(teams.iter().map(|team| pages::url(app_url, ["teams", &team.alias])).collect())
    }

    relations! { |teams: Self, args, ctx|
        aliases() -> Vec<String> = alias::all::<team_alias::Entity>(ctx.db(), ids_of(teams)).await;
        level_counts() -> Vec<LevelCount> = check::level_counts(owned_by(&ids_of(teams)), ctx).await;
        level_history(TeamLevelHistoryArgs) -> Vec<LevelDay> =
            check::level_days_by(owned_by(&ids_of(teams)), &args.days, ctx).await;
        missed_checks() -> Vec<MissedCheck> = check::missed_checks(owned_by(&ids_of(teams)), ctx).await;
        managed_aliases() -> Vec<String> = alias::managed::<team_alias::Entity>(ctx.db(), ids_of(teams)).await;
        children(PageArguments) -> TeamConnectionType = children_of(ids_of(teams), args, ctx).await;
        contacts() -> Option<Vec<Contact>> = contact::of_owners(ctx, contacts::Column::TeamId, ids_of(teams)).await;
        deploy_metrics(TeamDeployMetricsArgs) -> DeployMetrics = {
            let TeamDeployMetricsArgs { start, end, environments } = args;
            deploy_metrics::of_each(Whose::Teams, &ids_of(teams), (start, end, environments), ctx).await
        };
    }
}

/// The teams whose parent each team is, by name.
async fn children_of(teams: Vec<i64>, args: &PageArguments, ctx: &Ctx<'_>) -> Result<Vec<TeamConnectionType>> {
    let children = List::<team::Entity>::new(Column::Id).of_parents(Column::ParentTeamId, teams);
    children.pages_in(Some(order(TeamSortEnum::NameAsc)), ctx, &args.request()?).await
}

/// The teams that meet every condition that is given, a page at a time.
pub(super) async fn page(args: &AccountTeamsArgs, ctx: &Ctx<'_>) -> Result<TeamConnectionType> {
    let AccountTeamsArgs { sort_by, first, after, manager_email, search_term, parent_team, has_parent_team } = args;
    let request = PageRequest::new(first, after)?;
    let mut teams = List::<team::Entity>::new(Column::Id);
    if let Some(email) = given(manager_email) {
        let has_it = users::Column::EmailKey.eq(users::email_key(email));
        let manager = Select::select().column(users::Column::Id).from(users::Entity).and_where(has_it).take();
        teams = teams.filter(Column::ManagerId.into_expr().eq(db::scalar(manager)));
    }
    if let Some(text) = given(search_term) {
        teams = teams.filter(contains(ctx.db(), &text::at_most("searchTerm", text, text::SHORT)?));
    }
    if let Some(named) = parent_team.value() {
        let parent = identifier::require_in::<Team>(ctx.db(), "parentTeam", named).await?;
        teams = teams.filter(Column::ParentTeamId.eq(parent.id));
    }
    if let Some(has_one) = has_parent_team.value() {
        let parent = Column::ParentTeamId.into_expr();
        teams = teams.filter(if *has_one { parent.is_not_null() } else { parent.is_null() });
    }
    teams.page_in(sort_by.value().copied().map(order), ctx, &request).await
}

/// Converts a sort order of the SDL.
fn order(sort: TeamSortEnum) -> Sort {
    use TeamSortEnum as By;
    let order = match sort {
        By::NameAsc | By::NameDesc => Sort::by_text(Column::Name),
        By::ManagerAsc | By::ManagerDesc => Sort::by_text_of(Column::ManagerId, users::Column::Id, users::Column::Name),
    };
    order.in_list(Ordered::Teams, sort as u8, matches!(sort, By::NameDesc | By::ManagerDesc))
}

/// The condition that a team's name or one of its aliases contains a text. It scans all teams, which are few beside
/// services.
fn contains(db: &dyn db::ReadHandle, text: &str) -> Expr {
    let like = |column: Expr| db::text::contains_in_any_case(db, column, text);
    let mut aliases = Select::select();
    aliases.expr(Expr::value(1)).from(team_alias::Entity);
    aliases.and_where(team_alias::Column::TeamId.into_expr().eq(Column::Id.into_expr()));
    aliases.and_where(like(team_alias::Column::Value.into_expr()));
    like(Column::Name.into_expr()).or(Expr::exists(aliases))
}

fn taken(name: &str) -> UserError {
    UserError::new("name", format!("another team has the name {}", quoted(name)))
}

impl TeamCreateMutation for Mutation {
    async fn team_create(ctx: &MutationCtx<'_>, input: TeamCreateInput) -> Result<TeamCreatePayload> {
        let TeamCreateInput {
            name,
            manager_email,
            members,
            parent_team,
            contacts,
            // Ignored. Older clients send it along with `parentTeam`, which replaces it.
            group: _,
            texts,
        } = input;
        let db = ctx.db();
        let mut draft = Draft::<team::Entity>::new();
        draft.set_required(Column::Name, &name);
        draft.refer(db, Column::ManagerId, &manager_email).await?;
        draft.refer(db, Column::ParentTeamId, &parent_team).await?;
        if let ActiveValue::Set(Some(parent)) = &draft.row.parent_team_id {
            draft.problems.take_any(team::check_parent(db, None, *parent).await)?;
        }
        draft.set_texts(&texts);
        let members = members.value().map(Vec::as_slice).unwrap_or_default();
        let members = draft.problems.take_any(team_membership::named(db, members).await)?;

        let (row, now) = (draft.done()?, Timestamp::now());
        let row = team::ActiveModel { alias: Set(String::new()), created_at: Set(now), updated_at: Set(now), ..row };
        let team = db.insert(row).await.map_err(|error| or_taken(error, taken(&name)))?;
        contact::of_new_team(db, team.id, contacts.value().map(Vec::as_slice).unwrap_or_default()).await?;
        team_membership::join(db, team.id, &members.unwrap_or_default()).await?;
        let alias = team_alias::Entity::claim_slug(db, &team.id, &name).await?;
        let mut row: team::ActiveModel = team.into();
        row.alias = Set(alias);
        Ok(TeamCreatePayload { team: Some(db.update(row).await?), ..Default::default() })
    }
}

impl TeamUpdateMutation for Mutation {
    async fn team_update(ctx: &MutationCtx<'_>, input: TeamUpdateInput) -> Result<TeamUpdatePayload> {
        let TeamUpdateInput { id, alias, name, manager_email, parent_team, members, group: _, texts } = input;
        let db = ctx.db();
        let team = identifier::require::<Team>(&db.locking(LockType::Update), Identifier::new(&id, &alias)?).await?;
        let team_id = team.id;
        let mut draft = Draft::<team::Entity>::from_row(team);
        draft.set(Column::Name, &name);
        draft.refer(db, Column::ManagerId, &manager_email).await?;
        draft.refer(db, Column::ParentTeamId, &parent_team).await?;
        if let ActiveValue::Set(Some(parent)) = &draft.row.parent_team_id {
            let checked = team::check_parent(db, Some(team_id), *parent).await;
            draft.problems.take_any(checked)?;
        }
        draft.set_texts(&texts);
        let members = match &members {
            MaybeUndefined::Undefined => None,
            MaybeUndefined::Null => Some(Vec::new()),
            MaybeUndefined::Value(members) => draft.problems.take_any(team_membership::named(db, members).await)?,
        };

        let mut row = draft.done()?;
        if let Some(members) = members {
            team_membership::replace(db, team_id, &members).await?;
        }
        let name = name.take();
        if let Some(name) = &name {
            row.alias = Set(team_alias::Entity::claim_slug(db, &team_id, name).await?);
        }
        touch(&mut row.updated_at);
        let name = name.unwrap_or_default();
        let team = db.update(row).await.map_err(|error| or_taken(error, taken(&name)))?;
        Ok(TeamUpdatePayload { team: Some(team), ..Default::default() })
    }
}

impl TeamDeleteMutation for Mutation {
    async fn team_delete(ctx: &MutationCtx<'_>, input: TeamDeleteInput) -> Result<TeamDeletePayload> {
        let TeamDeleteInput { id, alias, successor } = input;
        let db = ctx.db();
        let identifier = Identifier::new(&id, &alias)?;
        let team = identifier::require::<Team>(&db.locking(LockType::Update), identifier).await?;
        let named_by = match identifier {
            Identifier::Alias(alias) => alias.to_owned(),
            Identifier::Id(_) => team.alias.clone(),
        };
        refuse_locked(db, service::Column::OwnerId.eq(team.id)).await?;
        if let Some(named) = successor.value() {
            let successor = identifier::locked::<Team>(db, "successor", named, LockType::NoKeyUpdate).await?;
            hand_over::to_team(ctx, &team, successor).await?;
        }
        ctx.shed_first::<team::Entity>(team.id).await?;
        refuse_where_locked(db, service::Column::OwnerId.eq(team.id)).await?;
        let deleted_team_id = Some(TeamResolver::id(&team));
        db.delete(team).await?;
        Ok(TeamDeletePayload { deleted_team_id, deleted_team_alias: Some(named_by), ..Default::default() })
    }
}
