//! Service suggestions: what the catalogue lacks, and what people decide about it.

use std::collections::HashMap;

use sea_orm::sea_query::OnConflict;

use crate::entity::alias::{AliasKind, AliasTable};
use crate::entity::service::Writable;
use crate::entity::suggestion::{self, Acceptance, Column, State, SuggestionKind};
use crate::entity::{
    self, code_issue_project_resource, deploy, deploy_number, integration, service_alias, suggestion_integration,
};
use crate::graphql::field::near_match;
use crate::graphql::prelude::*;
use crate::graphql::service;

impl ServiceSuggestionResolver for ServiceSuggestion {
    fn kind(&self) -> ServiceSuggestionKind {
        same!(ServiceSuggestion::kind(self), SuggestionKind => ServiceSuggestionKind { Deploy CodeIssueProject })
    }

    fn state(&self) -> ServiceSuggestionState {
        same!(self.state, State => ServiceSuggestionState { Open Accepted Ignored })
    }

    fn acceptance(&self) -> Option<ServiceSuggestionAcceptance> {
        let acceptance = self.acceptance.filter(|_| self.state == State::Accepted);
        acceptance.map(|acceptance| {
            same!(acceptance, Acceptance => ServiceSuggestionAcceptance {
                Created Mapped Known
            })
        })
    }

    async fn integrations(suggestions: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<Integration>>> {
        let db = ctx.db();
        let ids: Vec<i64> = suggestions.iter().map(|suggestion| suggestion.id).collect();
        let links = suggestion_integration::Entity::find()
            .filter(db::any(db, suggestion_integration::Column::SuggestionId, &ids))
            .order_by_asc(suggestion_integration::Column::IntegrationId);
        let links = db.all(links).await?;
        let rows = integration::Entity::by_ids(db, links.iter().map(|link| Some(link.integration_id))).await?;
        let mut seen_by = HashMap::<i64, Vec<Integration>>::new();
        for (link, row) in links.into_iter().zip(rows) {
            seen_by.entry(link.suggestion_id).or_default().extend(row.map(Integration::from));
        }
        Ok(ids.iter().map(|id| seen_by.remove(id).unwrap_or_default()).collect())
    }

    async fn near_matches(suggestions: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<Service>>> {
        near_match::services(ctx.db(), suggestions.iter().map(|suggestion| &*suggestion.alias)).await
    }
}

/// The suggestions, in the order in which they were first seen.
pub(in crate::graphql) async fn of_account(
    args: &AccountServiceSuggestionsArgs,
    ctx: &Ctx<'_>,
) -> Result<ServiceSuggestionConnectionType> {
    let AccountServiceSuggestionsArgs { state, first, after } = args;
    let mut suggestions = List::<suggestion::Entity>::new(Column::Id);
    if let Some(state) = state.value() {
        suggestions = suggestions.filter(Column::State.eq(same!(state, ServiceSuggestionState => State {
            Open Accepted Ignored
        })));
    }
    suggestions.page(ctx, &PageRequest::new(first, after)?).await
}

/// Finds a suggestion that is not accepted yet.
pub(in crate::graphql) async fn undecided(db: &Transaction, id: &str) -> Result<ServiceSuggestion> {
    let suggestion = id::require::<suggestion::Entity>(db, id, "id").await?;
    if suggestion.state == State::Accepted { Err(accepted_already()) } else { Ok(suggestion) }
}

fn accepted_already() -> Error {
    UserError::new("id", "the suggestion has already been accepted").into()
}

/// Sets the state of a suggestion, unless somebody has accepted it in the meantime. The update locks the suggestion
/// before the mutation writes anything, so that a concurrent deploy sees either no decision or the whole of it. A
/// service is locked before, as by everybody who locks both: in another order, two of them could deadlock.
pub(in crate::graphql) async fn decide(
    db: &Transaction,
    suggestion: ServiceSuggestion,
    state: State,
) -> Result<ServiceSuggestion> {
    let decided = db
        .exec(
            suggestion::Entity::update_many()
                .col_expr(Column::State, Expr::value(state))
                .filter(Column::Id.eq(suggestion.id))
                .filter(Column::State.ne(State::Accepted)),
        )
        .await?;
    if decided == 0 {
        return Err(accepted_already());
    }
    Ok(ServiceSuggestion { state, ..suggestion })
}

impl ServiceSuggestionAcceptMutation for Mutation {
    async fn service_suggestion_accept(
        ctx: &MutationCtx<'_>,
        input: ServiceSuggestionAcceptInput,
    ) -> Result<ServiceSuggestionAcceptPayload> {
        let ServiceSuggestionAcceptInput { id, service: existing, name } = input;
        let db = ctx.db();
        let suggestion = undecided(db, &id).await?;
        let is_new = !existing.is_value();
        let (suggestion, service, alias_kind) = match (existing.value(), name.value()) {
            (Some(_), Some(_)) => {
                return Err(UserError::new(
                    "name",
                    "only one of name and service can be given: a name is for a new service",
                )
                .into());
            }
            (Some(named), None) => {
                let service = service::require_writable_at(db, named).await?;
                (decide(db, suggestion, State::Accepted).await?, service, AliasKind::Managed)
            }
            (None, name) => {
                // Nobody else can have locked the service that is about to be created.
                let suggestion = decide(db, suggestion, State::Accepted).await?;
                let name = name.unwrap_or(&suggestion.alias);
                let name = entity::text::required("name", name, entity::text::SHORT)?;
                let kind = if name == suggestion.alias { AliasKind::Name } else { AliasKind::Managed };
                let service = entity::service::create(db, entity::service::new(name, "suggestion")).await?;
                (suggestion, service, kind)
            }
        };
        let service_suggestion = Some(settle(db, suggestion, &service, (alias_kind, is_new)).await?);
        Ok(ServiceSuggestionAcceptPayload { service_suggestion, service: Some(service.into()), ..Default::default() })
    }
}

/// Gives a service what an accepted suggestion is about: the alias and its deploys, or the code issue project. `is_new` says
/// that the service was created for it.
pub(in crate::graphql) async fn settle(
    db: &Transaction,
    suggestion: ServiceSuggestion,
    service: &Writable,
    (alias_kind, is_new): (AliasKind, bool),
) -> Result<ServiceSuggestion> {
    let is_given = match suggestion.code_issue_project_id {
        Some(project_id) => connect(db, project_id, service.id).await?,
        None => give_alias(db, &suggestion, service, alias_kind).await?,
    };
    let acceptance = match (is_new, is_given) {
        (true, _) => Acceptance::Created,
        (false, true) => Acceptance::Mapped,
        (false, false) => Acceptance::Known,
    };
    db.exec(
        suggestion::Entity::update_many()
            .col_expr(Column::ServiceId, Expr::value(service.id))
            .col_expr(Column::Acceptance, Expr::value(acceptance))
            .filter(Column::Id.eq(suggestion.id)),
    )
    .await?;
    Ok(ServiceSuggestion { service_id: Some(service.id), acceptance: Some(acceptance), ..suggestion })
}

/// Gives a service the alias that was deployed, the deploys that wait for it, and their numbers. Returns whether the service
/// did not have the alias before.
async fn give_alias(
    db: &Transaction,
    suggestion: &ServiceSuggestion,
    service: &Writable,
    kind: AliasKind,
) -> Result<bool> {
    let alias = &*suggestion.alias;
    let own = service_alias::Entity::find().filter(service_alias::Column::ServiceId.eq(service.id));
    let is_known = db.one(own.filter(service_alias::Column::Value.eq(alias))).await?.is_some();
    if !service_alias::Entity::claim(db, service, alias, kind).await? {
        let message = format!("another service now has the alias {}", quoted(alias));
        return Err(UserError::base(message).into());
    }
    db.exec_following::<suggestion::Entity, _>(
        suggestion.id,
        deploy::Entity::update_many()
            .col_expr(deploy::Column::ServiceId, Expr::value(service.id))
            .filter(deploy::Column::ServiceAlias.eq(alias))
            .filter(deploy::Column::ServiceId.is_null()),
    )
    .await?;
    deploy_number::move_to_service(db, alias, service.id).await?;
    Ok(!is_known)
}

/// Connects a code issue project to a service, unless they are connected already. Returns whether they were not.
async fn connect(db: &Transaction, project_id: i64, service_id: i64) -> Result<bool> {
    use code_issue_project_resource::{ActiveModel, Entity};
    let link =
        ActiveModel { code_issue_project_id: Set(project_id), service_id: Set(Some(service_id)), ..Default::default() };
    let made = db.exec(Entity::insert(link).on_conflict(OnConflict::new().do_nothing().to_owned())).await?;
    Ok(made > 0)
}

impl ServiceSuggestionIgnoreMutation for Mutation {
    async fn service_suggestion_ignore(
        ctx: &MutationCtx<'_>,
        input: ServiceSuggestionIgnoreInput,
    ) -> Result<ServiceSuggestionIgnorePayload> {
        let ServiceSuggestionIgnoreInput { id } = input;
        let suggestion = undecided(ctx.db(), &id).await?;
        let service_suggestion = Some(decide(ctx.db(), suggestion, State::Ignored).await?);
        Ok(ServiceSuggestionIgnorePayload { service_suggestion, ..Default::default() })
    }
}

impl ServiceSuggestionUnignoreMutation for Mutation {
    async fn service_suggestion_unignore(
        ctx: &MutationCtx<'_>,
        input: ServiceSuggestionUnignoreInput,
    ) -> Result<ServiceSuggestionUnignorePayload> {
        let ServiceSuggestionUnignoreInput { id } = input;
        let suggestion = undecided(ctx.db(), &id).await?;
        let service_suggestion = Some(decide(ctx.db(), suggestion, State::Open).await?);
        Ok(ServiceSuggestionUnignorePayload { service_suggestion, ..Default::default() })
    }
}
