//! Tries the expressions of a check of custom events on the newest event, before they are saved.

use maud::{Markup, html};

use super::ask::ask;
use super::form::{self, Mistakes};
use super::operations::TryEventCheck;
use super::operations::try_event_check::CustomEventCheckPreview as Preview;
use super::parts::{empty, time};
use super::visit::{Visit, path};
use super::{Fault, Site};
use catalogue::entity::Timestamp;

/// Returns what the submitted expressions say of the newest event, and the mistakes.
pub async fn tried(site: &Site, visit: &Visit) -> Result<(Mistakes, Option<Preview>), Fault> {
    let form = &visit.form;
    let (selector, condition) = (form::stored(form.get("serviceSelector")), form::stored(form.get("successCondition")));
    let message = form.given("resultMessage").map(form::stored);
    let operation = TryEventCheck {
        integration: form.get("integrationId"),
        selector: &selector,
        condition: &condition,
        message: message.as_deref(),
    };
    let mut mistakes = Mistakes::none();
    match ask(site, visit, operation).await {
        Ok(found) => Ok((mistakes, found.account.custom_event_check_preview)),
        Err(Fault::BadRequest(why)) => {
            mistakes.push("", why);
            Ok((mistakes, None))
        }
        Err(fault) => Err(fault),
    }
}

/// What the expressions say.
pub fn shown(preview: &Preview) -> Markup {
    let Some(at) = preview.received_at else {
        return html! { h2 #tried { "Tried" } (empty("No event has been received yet.", html! {})) };
    };
    html! {
        h2 #tried { "Tried" }
        p { "On the event of " (time(at.0, Timestamp::now())) ". Nothing is saved." }
        @if let Some(error) = &preview.error { p { span.mark.bad { "cannot be evaluated" } " " (error) } }
        @if preview.services.is_empty() && preview.error.is_none() { p { "The event names no service." } }
        @if !preview.services.is_empty() {
            div.scroll tabindex="0" role="region" aria-label="Tried" {
                table {
                    thead { tr { th scope="col" { "Named" } th scope="col" { "Result" } th scope="col" { "Message" } } }
                    tbody { @for one in &preview.services {
                        tr {
                            td { @match &one.service {
                                Some(service) => a href=(path(["services", &service.alias])) { (service.name) },
                                None => { (one.name) " " span.mark.warn { "unknown service" } },
                            } }
                            td { @if one.passed { span.mark.good { "passed" } } @else { span.mark.bad { "failed" } } }
                            td { @if let Some(error) = &one.error { (error) } @else if let Some(message) = &one.message { (message) } }
                        }
                    } }
                }
            }
        }
    }
}
