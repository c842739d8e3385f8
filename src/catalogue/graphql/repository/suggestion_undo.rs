//! Undoes decisions about suggestions: all of them or none. What acceptance did is taken back as far as it did it: what the
//! service had before stays, and no deploy is lost.

use std::collections::{BTreeSet, HashMap};

use sea_orm::sea_query::ExprTrait;

use super::suggestions::{at_index, check_named_once};
use crate::db::{Before, RowOf, Told};
use crate::entity::alias::AliasKind;
use crate::entity::service::{self, Writable};
use crate::entity::suggestion::{self, Acceptance, Column, State};
use crate::entity::{code_issue_project_resource, deploy, deploy_number, recorded_as, service_alias};
use crate::graphql::prelude::*;
use crate::graphql::request::permit;

/// The most deploys of mapped aliases that are left without their service at once.
pub const MOST_LEFT: u64 = 10_000;

/// What a service may get, by the table that refers to it, and the words for it.
const THINGS: &[(&str, &str)] = &[
    ("alert_source_service", "alert sources"),
    ("check_answer", "answers to checks"),
    ("check_reported", "results of checks"),
    ("code_issue_project_resource", "other code issue projects"),
    ("contact", "contacts"),
    ("on_call", "people on call"),
    ("property", "properties"),
    ("relationship", "relationships"),
    ("service_dependency", "dependencies"),
    ("service_document", "API documents"),
    ("service_repository", "repositories"),
    ("tag", "tags"),
    ("tool", "links"),
];

/// The services of the suggestions, locked: in the order of their ids, and before the suggestions, as by everybody who locks
/// both.
async fn lock(db: &Transaction, suggestions: &[ServiceSuggestion]) -> Result<HashMap<i64, Service>> {
    let accepted = suggestions.iter().filter(|suggestion| suggestion.state == State::Accepted);
    let ids: BTreeSet<i64> = accepted.filter_map(|suggestion| suggestion.service_id).collect();
    let mut services = HashMap::new();
    for id in ids {
        let found = db.locking(LockType::Update).one(service::Entity::find_by_id(id)).await?;
        services.extend(found.map(|service| (id, service)));
    }
    Ok(services)
}

/// Makes a suggestion open again, if nobody has decided otherwise meanwhile.
async fn reopen(db: &Transaction, suggestion: &ServiceSuggestion) -> Result<ServiceSuggestion> {
    let is_as_read = match suggestion.service_id {
        Some(service) => Column::ServiceId.eq(service),
        None => Column::ServiceId.is_null(),
    };
    let reopened = suggestion::Entity::update_many()
        .col_expr(Column::State, Expr::value(State::Open))
        .col_expr(Column::ServiceId, Expr::value(None::<i64>))
        .col_expr(Column::Acceptance, Expr::value(None::<String>))
        .filter(Column::Id.eq(suggestion.id))
        .filter(Column::State.eq(suggestion.state))
        .filter(is_as_read);
    if db.exec(reopened).await? == 0 {
        return Err(db::Error::LostRace.into());
    }
    Ok(ServiceSuggestion { state: State::Open, service_id: None, acceptance: None, ..suggestion.clone() })
}

/// Takes what it was mapped to from the service again. Leaves at most `most` deploys without a service, and returns their
/// number.
async fn take_back(db: &Transaction, suggestion: &ServiceSuggestion, service: &Writable, most: u64) -> Result<u64> {
    if let Some(project) = suggestion.code_issue_project_id {
        use code_issue_project_resource::{Column, Entity};
        let link = Column::CodeIssueProjectId.eq(project).and(Column::ServiceId.eq(service.id));
        db.exec(Entity::delete_many().filter(link)).await?;
        return Ok(0);
    }
    let alias = &*suggestion.alias;
    let held = db.one(service_alias::Entity::find().filter(service_alias::Column::Value.eq(alias))).await?;
    match held {
        Some(held) if held.service_id != service.id => {
            let message = format!("another service has the alias {} now; it is not taken back", quoted(alias));
            return Err(UserError::base(message).into());
        }
        Some(held) if held.kind != AliasKind::Managed => {
            let message = format!("the service {} has the name {} now", quoted(&service.name), quoted(alias));
            return Err(UserError::base(message).into());
        }
        Some(held) => db.delete(held).await.map(drop)?,
        // Somebody has removed it already.
        None => {}
    }
    let of_alias = deploy::Column::ServiceId.eq(service.id).and(deploy::Column::ServiceAlias.eq(alias));
    if db.count(deploy::Entity::find().filter(of_alias.clone()).limit(most + 1)).await? > most {
        let message = format!(
            "mapped aliases have more than {MOST_LEFT} deploys together; undo fewer at once, or remove the alias {} from the \
             service: its deploys stay there",
            quoted(alias)
        );
        return Err(UserError::base(message).into());
    }
    deploy_number::leave_to_alias(db, alias, service.id).await?;
    let left = deploy::Entity::update_many().col_expr(deploy::Column::ServiceId, Expr::value(None::<i64>));
    Ok(db.exec_following::<suggestion::Entity, _>(suggestion.id, left.filter(of_alias)).await?)
}

/// What was added to a service, or changed of it, since it was created for a suggestion. `None` if that is nothing.
async fn added(db: &Transaction, service: &Service, suggestion: &ServiceSuggestion) -> Result<Option<String>> {
    if service.updated_at != service.created_at {
        return Ok(Some("it was changed since".to_owned()));
    }
    let aliases = service_alias::Entity::find().filter(service_alias::Column::ServiceId.eq(service.id));
    let others = aliases.filter(service_alias::Column::Kind.eq(AliasKind::Managed));
    if let Some(other) = db.one(others.filter(service_alias::Column::Value.ne(&suggestion.alias)).limit(1)).await? {
        return Ok(Some(format!("it has the alias {}", quoted(&other.value))));
    }
    let deploys = deploy::Entity::find().filter(deploy::Column::ServiceId.eq(service.id));
    let is_since = deploy::Column::CreatedAt.gt(service.created_at);
    let others = deploys.filter(deploy::Column::ServiceAlias.ne(&suggestion.alias).or(is_since));
    if db.one(others.limit(1)).await?.is_some() {
        return Ok(Some("it was deployed since".to_owned()));
    }
    let mapped = suggestion::Entity::find().filter(Column::ServiceId.eq(service.id));
    if let Some(other) = db.one(mapped.filter(Column::Id.ne(suggestion.id)).limit(1)).await? {
        return Ok(Some(format!("the suggestion {} was accepted for it too", quoted(&other.alias))));
    }
    things(db, service, suggestion).await
}

/// What refers to a service.
async fn things(db: &Transaction, service: &Service, suggestion: &ServiceSuggestion) -> Result<Option<String>> {
    let row = RowOf::new::<service::Entity>(service.id);
    let is_asked = |name: &str| {
        let table = recorded_as(name)?;
        let is_own = ["service_alias", "suggestion", "code_issue_project_resource"].contains(&name);
        (matches!(table.told(), Told::Alone(_) | Told::In(_)) && !is_own).then_some(table)
    };
    let mut found: Vec<&str> = db::referring(db, row, is_asked).await?.iter().map(|(table, ..)| table.name()).collect();
    let links = code_issue_project_resource::Entity::find()
        .filter(code_issue_project_resource::Column::ServiceId.eq(service.id));
    let others = match suggestion.code_issue_project_id {
        Some(own) => links.filter(code_issue_project_resource::Column::CodeIssueProjectId.ne(own)),
        None => links,
    };
    if db.one(others.limit(1)).await?.is_some() {
        found.push("code_issue_project_resource");
    }
    let words =
        |table: &&str| THINGS.iter().find(|(known, _)| known == table).map_or("other things", |(_, words)| words);
    let words: BTreeSet<&str> = found.iter().map(words).collect();
    let words: Vec<&str> = words.into_iter().collect();
    Ok((!words.is_empty()).then(|| format!("it has {}", words.join(", "))))
}

/// Refuses to delete a service that was created for a suggestion, if anything was added to it.
async fn check_untouched(db: &Transaction, suggestion: &ServiceSuggestion, service: &Service) -> Result<()> {
    let Some(reason) = added(db, service, suggestion).await? else { return Ok(()) };
    let message = format!("the service {} is not deleted again: {reason}", quoted(&service.name));
    Err(UserError::base(message).into())
}

/// Deletes the service that was created for a suggestion. Its deploys are left to their alias.
async fn delete(ctx: &MutationCtx<'_>, service: &Service) -> Result<()> {
    ctx.shed_first::<service::Entity>(service.id).await?;
    deploy_number::leave_to_aliases(ctx.db(), service.id).await?;
    ctx.db().delete(service.clone()).await?;
    Ok(())
}

/// The service of which a decision is undone, if there is one, or why the decision cannot be undone at all.
fn subject(one: &ServiceSuggestion, service: Option<&Service>) -> Result<Option<Writable>> {
    let service = match (one.state, service) {
        (State::Open, _) => return Err(UserError::base("nothing was decided about the suggestion").into()),
        // An accepted suggestion whose service was deleted has nothing else.
        (State::Ignored, _) | (State::Accepted, None) => return Ok(None),
        (State::Accepted, Some(service)) => service::writable(service.clone())?,
    };
    if one.acceptance.is_none() {
        let message = format!(
            "an earlier version accepted the suggestion, and did not note what that did: look at the service {}",
            quoted(&service.name)
        );
        return Err(UserError::base(message).into());
    }
    Ok(Some(service))
}

/// Undoes decisions. The services of accepted suggestions are locked.
async fn undo(
    ctx: &MutationCtx<'_>,
    suggestions: &[ServiceSuggestion],
    services: &HashMap<i64, Service>,
) -> Result<Vec<ServiceSuggestion>> {
    let db = ctx.db();
    let at = |place: usize| move |error: Error| error.map_user(|error| at_index(place, error));
    let mut subjects = Vec::with_capacity(suggestions.len());
    for (place, one) in suggestions.iter().enumerate() {
        let service = one.service_id.and_then(|id| services.get(&id));
        subjects.push(subject(one, service).map_err(at(place))?);
    }
    // A deploy locks suggestions before the rest.
    let mut reopened = Vec::with_capacity(suggestions.len());
    for (place, one) in suggestions.iter().enumerate() {
        reopened.push(reopen(db, one).await.map_err(at(place))?);
    }
    let accepted = |by: Acceptance| {
        let is_so = move |(place, _): &(usize, &Writable)| suggestions[*place].acceptance == Some(by);
        let all = subjects.iter().enumerate().filter_map(|(place, service)| Some((place, service.as_ref()?)));
        all.filter(is_so).collect::<Vec<_>>()
    };
    // First those that were mapped, because of which a service that was created is not deleted.
    let mut left = 0;
    for (place, service) in accepted(Acceptance::Mapped) {
        left += take_back(db, &suggestions[place], service, MOST_LEFT - left).await.map_err(at(place))?;
    }
    let created = accepted(Acceptance::Created);
    for (place, service) in &created {
        check_untouched(db, &suggestions[*place], service).await.map_err(at(*place))?;
    }
    if !created.is_empty() {
        let before = || Before::Committed(ctx.committed());
        permit::check(before(), db, ctx.caller(), &ctx.changed().await?).await?;
        for (_, service) in &created {
            permit::check_row(before(), db, ctx.caller(), RowOf::new::<service::Entity>(service.id)).await?;
        }
    }
    // Nothing refuses it any more: what is shed before a service is deleted does not come back.
    for (place, service) in created {
        delete(ctx, service).await.map_err(at(place))?;
    }
    Ok(reopened)
}

impl ServiceSuggestionsUndoMutation for Mutation {
    async fn service_suggestions_undo(
        ctx: &MutationCtx<'_>,
        input: ServiceSuggestionsUndoInput,
    ) -> Result<ServiceSuggestionsUndoPayload> {
        let ServiceSuggestionsUndoInput { ids } = input;
        let db = ctx.db();
        check_named_once(&ids)?;
        let mut suggestions = Vec::with_capacity(ids.len());
        for (at, id) in ids.iter().enumerate() {
            let found = id::require::<suggestion::Entity>(db, id, "id").await;
            suggestions.push(found.map_err(|error: Error| error.map_user(|error| at_index(at, error)))?);
        }
        let services = lock(db, &suggestions).await?;
        let reopened = undo(ctx, &suggestions, &services).await?;
        Ok(ServiceSuggestionsUndoPayload { service_suggestions: Some(reopened), ..Default::default() })
    }
}
