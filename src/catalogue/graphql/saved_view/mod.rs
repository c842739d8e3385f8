//! Saved views of the list of services, and favourites: what people keep for themselves. They belong to whoever is signed in.
//! A token belongs to nobody, so it is refused.

use sea_orm::sea_query::{ExprTrait, Query as Select};

use self::parameters::Parameters;
use super::field::draft;
use super::list::relation::to_its_one;
use super::request::caller::Caller;
use crate::db::Ids;
use crate::entity::saved_view::{self, Column, Entity, MOST, MOST_SHARED};
use crate::entity::user::Role;
use crate::entity::{favourite, remembered, row_lock, team, team_membership, user};
use crate::graphql::prelude::*;

pub mod parameters;

/// What a token is told that asks for something of a person.
const NOBODY: &str = "an API token belongs to nobody: saved views and favourites belong to the person who is signed in";

impl SavedViewResolver for SavedView {
    async fn own(views: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<bool>> {
        let user = person_of(ctx.caller());
        Ok(views.iter().map(|view| user == Some(view.user_id)).collect())
    }

    async fn html_url(views: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<String>> {
        let app_url = &ctx.settings().app_url;
        Ok(views.iter().map(|view| format!("{app_url}{}", address(view))).collect())
    }

    relations! { |views: Self, args, ctx|
        owner() -> User = to_its_one(ctx, views.iter().map(|view| Some(view.user_id)).collect()).await;
        problem() -> Option<String> = problems(ctx.db(), views).await;
    }
}

/// The path that opens a view.
pub fn address(view: &SavedView) -> String {
    format!("/views/{}", view.id)
}

/// What keeps each view from showing what it did, in a sentence.
pub async fn problems(db: &dyn ReadHandle, views: &[&SavedView]) -> Result<Vec<Option<String>>> {
    let parsed: Vec<_> = views.iter().map(|view| Parameters::parse(&view.query)).collect();
    let understood: Vec<&Parameters> = parsed.iter().filter_map(|parsed| parsed.as_ref().ok()).collect();
    let mut missing = parameters::missing(db, &understood).await?.into_iter();
    let problem = |parsed: &std::result::Result<Parameters, UserError>| match parsed {
        Ok(_) => missing.next().flatten(),
        Err(error) => Some(format!("It is not understood any more: {}.", error.message)),
    };
    Ok(parsed.iter().map(problem).collect())
}

/// The person who sends a request. `None` for a token.
fn person_of(caller: &Caller) -> Option<i64> {
    caller.user.map(|(user, _)| user)
}

/// The person who sends a mutation, and their role.
fn person(ctx: &MutationCtx<'_>) -> Result<(i64, Role), UserError> {
    ctx.caller().user.ok_or_else(|| UserError::base(NOBODY).forbidden())
}

/// The view with this id, if the caller sees it.
pub(super) async fn find(id: &str, ctx: &Ctx<'_>) -> Result<Option<SavedView>> {
    let found = id::find::<Entity>(ctx.db(), id).await?;
    Ok(found.filter(|view| view.is_seen_by(person_of(ctx.caller()))))
}

/// The views that the caller sees. Their queries are long, so they are read only for the fields that need them.
pub(super) async fn all(ctx: &Ctx<'_>) -> Result<Vec<SavedView>> {
    let with_queries = ["query", "problem"].iter().any(|field| ctx.selects(field));
    Ok(saved_view::seen_by(ctx.db(), person_of(ctx.caller()), with_queries).await?)
}

/// Whether each service is a favourite of the caller.
pub(super) async fn are_favourites(services: &[i64], ctx: &Ctx<'_>) -> Result<Vec<bool>> {
    let Some(user) = person_of(ctx.caller()) else { return Ok(vec![false; services.len()]) };
    let own = favourite::among(ctx.db(), user, services).await?;
    Ok(services.iter().map(|id| own.contains(id)).collect())
}

/// The person whose services an argument of the list asks for. `None` if it does not.
fn asks_for_own(field: &'static str, given: &MaybeUndefined<bool>, ctx: &Ctx<'_>) -> Result<Option<i64>> {
    if given.value() != Some(&true) {
        return Ok(None);
    }
    let person = person_of(ctx.caller()).ok_or_else(|| UserError::new(field, format!("{field}: {NOBODY}")))?;
    Ok(Some(person))
}

/// Selects the favourites of the caller, if a list asks for them.
pub(super) fn favourites(given: &MaybeUndefined<bool>, ctx: &Ctx<'_>) -> Result<Option<Ids>> {
    let id = Expr::col(favourite::Column::ServiceId.as_column_ref());
    let own = asks_for_own("favourite", given, ctx)?;
    Ok(own.map(|user| Ids { select: favourite::of_user(user), id, may_repeat: false, page: None }))
}

/// The condition on a service's owner that the caller's teams own it, if a list asks for that: those of which they are a
/// member or the manager.
pub(super) fn teams(given: &MaybeUndefined<bool>, ctx: &Ctx<'_>) -> Result<Option<impl Fn(Expr) -> Expr>> {
    let user = asks_for_own("ofMyTeams", given, ctx)?;
    Ok(user.map(|user| {
        move |owner: Expr| {
            use team_membership::Column::{TeamId, UserId};
            let joined =
                Select::select().column(TeamId).from(team_membership::Entity).and_where(UserId.eq(user)).take();
            let led = team::Column::ManagerId.eq(user);
            let led = Select::select().column(team::Column::Id).from(team::Entity).and_where(led).take();
            owner.clone().in_subquery(joined).or(owner.in_subquery(led))
        }
    }))
}

/// A query as it is stored: what it names exists.
async fn checked(db: &Transaction, query: &str) -> Result<String> {
    let parameters = Parameters::parse(query)?;
    match parameters::missing(db, &[&parameters]).await?.pop().flatten() {
        Some(problem) => Err(UserError::new("query", problem).not_found().into()),
        None => Ok(parameters.query()),
    }
}

fn check_share(role: Role, caller: &Caller) -> Result<(), UserError> {
    if role >= Role::User {
        return Ok(());
    }
    let message = match caller.is_held_to_own {
        true => "on this server, only an administrator can share a view with everybody",
        false => "only a member can share a view with everybody",
    };
    Err(UserError::new("shared", message).forbidden())
}

/// Refuses a name that the person has already, but for the view `but`.
async fn check_name(db: &Transaction, person: i64, name: &str, but: i64) -> Result<()> {
    let others = Entity::find().filter(Column::UserId.eq(person)).filter(Column::Id.ne(but));
    match db.count(others.filter(Column::Name.eq(name))).await? {
        0 => Ok(()),
        _ => Err(UserError::new("name", "you have a view of this name already").into()),
    }
}

/// Refuses to share one view too many, once it is written.
async fn check_shared_count(db: &Transaction) -> Result<()> {
    // Of two that are shared at once, the second is counted with the first.
    remembered::lock_shared_views(db).await?;
    if db.count(Entity::find().filter(Column::Shared.eq(true))).await? <= MOST_SHARED {
        return Ok(());
    }
    let message = format!("at most {MOST_SHARED} views can be shared; ask somebody to delete one");
    Err(UserError::new("shared", message).into())
}

impl SavedViewCreateMutation for Mutation {
    async fn saved_view_create(ctx: &MutationCtx<'_>, input: SavedViewCreateInput) -> Result<SavedViewCreatePayload> {
        let SavedViewCreateInput { name, query, shared } = input;
        let (db, (person, role)) = (ctx.db(), person(ctx)?);
        let shared = shared.value().copied().unwrap_or(false);
        let mut draft = Draft::<Entity>::new();
        draft.set_required(Column::Name, &name);
        let query = draft.problems.take_any(checked(db, &query).await)?;
        if shared {
            draft.problems.take(check_share(role, ctx.caller()));
        }
        let row = draft.done()?;
        // Of two that are saved at once, the second is counted with the first.
        row_lock::row::<user::Entity>(db, person, LockType::NoKeyUpdate).await?;
        if db.count(Entity::find().filter(Column::UserId.eq(person))).await? >= MOST {
            return Err(UserError::base(format!("you can have at most {MOST} saved views; delete one first")).into());
        }
        check_name(db, person, row.name.as_ref(), 0).await?;
        let now = Timestamp::now();
        let row = saved_view::ActiveModel {
            user_id: Set(person),
            query: Set(query.unwrap_or_default()),
            shared: Set(shared),
            created_at: Set(now),
            updated_at: Set(now),
            ..row
        };
        let view = db.insert(row).await?;
        if shared {
            check_shared_count(db).await?;
        }
        Ok(SavedViewCreatePayload { saved_view: Some(view), ..Default::default() })
    }
}

/// The view that a mutation is about. One that the person does not see does not exist for them.
async fn required(db: &Transaction, id: &str, person: i64) -> Result<SavedView> {
    let view = id::require::<Entity>(&db.locking(LockType::Update), id, "id").await?;
    match view.is_seen_by(Some(person)) {
        true => Ok(view),
        false => Err(id::missing::<Entity>(id, "id").into()),
    }
}

impl SavedViewUpdateMutation for Mutation {
    async fn saved_view_update(ctx: &MutationCtx<'_>, input: SavedViewUpdateInput) -> Result<SavedViewUpdatePayload> {
        let SavedViewUpdateInput { id, name, query, shared } = input;
        let (db, (person, role)) = (ctx.db(), person(ctx)?);
        // Before the view, as when one is created: nobody waits for each other.
        row_lock::row::<user::Entity>(db, person, LockType::NoKeyUpdate).await?;
        let view = required(db, &id, person).await?;
        if view.user_id != person {
            return Err(UserError::new("id", "only its owner can change a saved view").forbidden().into());
        }
        let (view_id, was_shared) = (view.id, view.shared);
        let mut draft = Draft::<Entity>::from_row(view);
        draft.set(Column::Name, &name);
        let shared = draft.problems.take(draft::changed("shared", &shared, |shared| Ok(*shared))).flatten();
        // Whoever changes a view that stays shared shares what it becomes.
        if shared.unwrap_or(was_shared) {
            draft.problems.take(check_share(role, ctx.caller()));
        }
        let given = draft.problems.take(draft::changed("query", &query, |query| Ok(query.clone()))).flatten();
        let query = match given {
            Some(query) => draft.problems.take_any(checked(db, &query).await)?,
            None => None,
        };
        let mut row = draft.done()?;
        check_name(db, person, row.name.as_ref(), view_id).await?;
        if let Some(shared) = shared {
            row.shared = Set(shared);
        }
        if let Some(query) = query {
            row.query = Set(query);
        }
        let view = db.update(row).await?;
        if view.shared && !was_shared {
            check_shared_count(db).await?;
        }
        Ok(SavedViewUpdatePayload { saved_view: Some(view), ..Default::default() })
    }
}

impl SavedViewDeleteMutation for Mutation {
    async fn saved_view_delete(ctx: &MutationCtx<'_>, input: DeleteInput) -> Result<SavedViewDeletePayload> {
        let DeleteInput { id } = input;
        let (db, (person, role)) = (ctx.db(), person(ctx)?);
        let view = required(db, &id, person).await?;
        if view.user_id != person && role < Role::Admin {
            let message = "only its owner or an administrator can delete a saved view";
            return Err(UserError::new("id", message).forbidden().into());
        }
        let deleted_id = Some(SavedViewResolver::id(&view));
        db.delete(view).await?;
        Ok(SavedViewDeletePayload { deleted_id, ..Default::default() })
    }
}

impl ServiceFavouriteAddMutation for Mutation {
    async fn service_favourite_add(ctx: &MutationCtx<'_>, service: IdentifierInput) -> Result<ServiceFavouritePayload> {
        let (db, (person, _)) = (ctx.db(), person(ctx)?);
        let service = identifier::locked::<Service>(db, "service", &service, LockType::KeyShare).await?;
        favourite::add(db, person, service.id).await?;
        Ok(ServiceFavouritePayload { service: Some(service), ..Default::default() })
    }
}

impl ServiceFavouriteRemoveMutation for Mutation {
    async fn service_favourite_remove(
        ctx: &MutationCtx<'_>,
        service: IdentifierInput,
    ) -> Result<ServiceFavouritePayload> {
        let (db, (person, _)) = (ctx.db(), person(ctx)?);
        let service = identifier::require_in::<Service>(db, "service", &service).await?;
        favourite::remove(db, person, service.id).await?;
        Ok(ServiceFavouritePayload { service: Some(service), ..Default::default() })
    }
}
