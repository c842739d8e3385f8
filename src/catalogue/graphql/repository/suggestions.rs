//! Decisions about several suggestions at once: all of them or none.

use std::collections::HashSet;

use sea_orm::ActiveValue;

use super::suggestion::{decide, settle, undecided};
use crate::entity::alias::AliasKind;
use crate::entity::service::Column;
use crate::entity::suggestion::State;
use crate::entity::{self, service};
use crate::graphql::prelude::*;

/// The maximum number of suggestions that a mutation decides.
pub const MOST: usize = 100;

/// Finds the suggestions, none of which is accepted yet.
async fn all(ctx: &MutationCtx<'_>, ids: &[String]) -> Result<Vec<ServiceSuggestion>> {
    check_named_once(ids)?;
    let mut suggestions = Vec::with_capacity(ids.len());
    for (at, id) in ids.iter().enumerate() {
        let found = undecided(ctx.db(), id).await;
        suggestions.push(found.map_err(|error| error.map_user(|error| at_index(at, error)))?);
    }
    Ok(suggestions)
}

/// Says in an error which of the suggestions it is about.
pub(in crate::graphql) fn at_index(at: usize, error: UserError) -> UserError {
    UserError { path: Vec::new(), ..error }.within(at.to_string()).within("ids")
}

/// Fails unless these are 1 to [`MOST`] suggestions, each named once.
pub(in crate::graphql) fn check_named_once(ids: &[String]) -> Result<()> {
    if ids.is_empty() || ids.len() > MOST {
        return Err(UserError::new("ids", format!("ids must name 1 to {MOST} suggestions")).into());
    }
    let mut known = HashSet::with_capacity(ids.len());
    match ids.iter().position(|id| !known.insert(id)) {
        Some(at) => Err(at_index(at, UserError::base("each suggestion can be named once")).into()),
        None => Ok(()),
    }
}

impl ServiceSuggestionsAcceptMutation for Mutation {
    async fn service_suggestions_accept(
        ctx: &MutationCtx<'_>,
        input: ServiceSuggestionsAcceptInput,
    ) -> Result<ServiceSuggestionsAcceptPayload> {
        let ServiceSuggestionsAcceptInput { ids, owner_input, tier_alias } = input;
        let db = ctx.db();
        let mut draft = Draft::<service::Entity>::new();
        draft.refer(db, Column::OwnerId, &owner_input).await?;
        draft.refer(db, Column::TierId, &tier_alias).await?;
        let given = draft.done()?;
        let mut services: Vec<Service> = Vec::with_capacity(ids.len());
        for suggestion in all(ctx, &ids).await? {
            let suggestion = decide(db, suggestion, State::Accepted).await?;
            let name = entity::text::required("ids", &suggestion.alias, text::SHORT)?;
            let kind = if name == suggestion.alias { AliasKind::Name } else { AliasKind::Managed };
            let new = service::ActiveModel {
                owner_id: set_or(&given.owner_id),
                tier_id: set_or(&given.tier_id),
                ..service::new(name, "suggestion")
            };
            let service = service::create(db, new).await?;
            settle(db, suggestion, &service, (kind, true)).await?;
            services.push(service.into());
        }
        Ok(ServiceSuggestionsAcceptPayload { services: Some(services), ..Default::default() })
    }
}

/// The value, or null.
fn set_or(value: &ActiveValue<Option<i64>>) -> ActiveValue<Option<i64>> {
    match value {
        ActiveValue::Set(value) => ActiveValue::Set(*value),
        _ => ActiveValue::Set(None),
    }
}

impl ServiceSuggestionsIgnoreMutation for Mutation {
    async fn service_suggestions_ignore(
        ctx: &MutationCtx<'_>,
        input: ServiceSuggestionsIgnoreInput,
    ) -> Result<ServiceSuggestionsIgnorePayload> {
        let ServiceSuggestionsIgnoreInput { ids, reopen } = input;
        let state = if reopen == Some(true) { State::Open } else { State::Ignored };
        let mut decided = Vec::with_capacity(ids.len());
        for suggestion in all(ctx, &ids).await? {
            decided.push(decide(ctx.db(), suggestion, state).await?);
        }
        Ok(ServiceSuggestionsIgnorePayload { service_suggestions: Some(decided), ..Default::default() })
    }
}
