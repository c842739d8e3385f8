//! Tries the expressions of a check of custom events, before it is saved.

use super::events::found;
use crate::engine::Scope;
use crate::entity::user::Role;
use crate::entity::{custom_event, integration, service};
use crate::evaluation::{self, Expressions};
use crate::graphql::integration::with_events;
use crate::graphql::prelude::*;

/// The expressions to try.
pub(in crate::graphql) struct Tried<'a> {
    pub(in crate::graphql) integration: &'a str,
    pub(in crate::graphql) selector: &'a str,
    pub(in crate::graphql) condition: &'a str,
    pub(in crate::graphql) message: Option<&'a str>,
}

/// Evaluates the expressions on the newest event of the integration. `None` if there is no such integration.
pub(in crate::graphql) async fn preview(tried: Tried<'_>, ctx: &Ctx<'_>) -> Result<Option<CustomEventCheckPreview>> {
    let caller = ctx.caller();
    let may = match caller.user {
        Some((_, role)) => role >= Role::StandardsAdmin,
        None => caller.scope >= Scope::Write,
    };
    if !may {
        let message = "only a standards administrator, an administrator or a token that may write can try expressions";
        return Err(UserError::base(message).into());
    }
    let Some(own) = id::find::<integration::Entity>(ctx.db(), tried.integration).await? else { return Ok(None) };
    let own = with_events(own, "integrationId")?;
    let most = text::DESCRIPTION;
    let expressions = Expressions {
        selector: text::long("serviceSelector", tried.selector, most)?,
        condition: text::long("successCondition", tried.condition, most)?,
        message: tried.message.map(|message| text::long("resultMessage", message, most)).transpose()?,
    };
    let Some(event) = custom_event::newest(ctx.db(), own.id).await? else {
        return Ok(Some(CustomEventCheckPreview { received_at: None, error: None, services: Vec::new() }));
    };
    let at = event.at;
    let evaluated = evaluation::of_event(event.payload, vec![expressions]).await.map_err(Error::internal)?;
    let evaluated = evaluated.into_iter().next().flatten().unwrap_or_default();
    let known = found(ctx.db(), &evaluated.names).await?;
    let ids = evaluated.names.iter().map(|name| known.get(name).copied());
    let services = service::Entity::by_ids(ctx.db(), ids).await?;
    let ones = evaluated.names.into_iter().zip(services).zip(evaluated.ones);
    let services = ones.map(|((name, service), one)| CustomEventCheckPreviewService {
        name,
        service,
        passed: one.passed,
        message: one.message,
        error: one.fault,
    });
    let services = services.take(SHOWN).collect();
    Ok(Some(CustomEventCheckPreview { received_at: Some(at), error: evaluated.fault, services }))
}

/// The number of services that are shown.
pub const SHOWN: usize = 100;
