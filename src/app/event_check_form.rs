//! The form of a check of custom events: its expressions can be tried on the newest event before they are saved.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};

use super::ask::{ask, or_null, settled, unanswered};
use super::form::{self, Area, Mistakes, Text};
use super::layout::layout;
use super::operations::event_check_choices::Account as Choices;
use super::operations::event_check_to_change::Check;
use super::operations::try_event_check::CustomEventCheckPreview as Preview;
use super::operations::{
    CheckCustomEventCreateInput, CheckCustomEventUpdateInput, CreateEventCheck, EventCheckChoices, EventCheckToChange,
    TryEventCheck, UpdateEventCheck,
};
use super::parts::{empty, time};
use super::standards::{address, name};
use super::visit::{Fields, Session, Visit, path};
use super::{Answer, Fault, Site};
use crate::entity::Timestamp;
use crate::entity::text::DESCRIPTION;
use crate::entity::user::Role;

/// The fields, named by the paths that the API uses for mistakes about them.
const NAME: &str = "name";
const LEVEL: &str = "levelId";
const CATEGORY: &str = "categoryId";
const INTEGRATION: &str = "integrationId";
const SELECTOR: &str = "serviceSelector";
const CONDITION: &str = "successCondition";
const MESSAGE: &str = "resultMessage";
const PENDING: &str = "passPending";
const ENABLED: &str = "enabled";
const FIELDS: [&str; 9] = [NAME, LEVEL, CATEGORY, INTEGRATION, SELECTOR, CONDITION, MESSAGE, PENDING, ENABLED];
const YES: &str = "yes";

/// Shows the form for a new check.
pub async fn new(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    session.require(Role::StandardsAdmin)?;
    let choices = ask(site, visit, EventCheckChoices {}).await?.account;
    let fields = Fields::one(INTEGRATION, visit.query.get("integration"));
    Ok(Answer::page(page(visit, None, &choices, &fields, (&Mistakes::none(), None))))
}

/// Tries the expressions, or creates the check.
pub async fn create(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let form = &visit.form;
    if form.get("do") == "try" {
        return tried(site, visit, None).await;
    }
    let (selector, condition) = (form::stored(form.get(SELECTOR)), form::stored(form.get(CONDITION)));
    let message = form.given(MESSAGE).map(form::stored);
    let input = CheckCustomEventCreateInput {
        name: form.get(NAME),
        level_id: form.get(LEVEL),
        category_id: form.get(CATEGORY),
        integration_id: form.get(INTEGRATION),
        service_selector: &selector,
        success_condition: &condition,
        result_message: or_null(message.as_deref()),
        pass_pending: MaybeUndefined::Value(form.get(PENDING) == YES),
        enabled: MaybeUndefined::Value(form.get(ENABLED) == YES),
        enable_on: MaybeUndefined::Undefined,
        filter_id: MaybeUndefined::Undefined,
        notes: MaybeUndefined::Undefined,
        owner_id: MaybeUndefined::Undefined,
    };
    let done = ask(site, visit, CreateEventCheck { input }).await?.check_custom_event_create.ok_or_else(unanswered)?;
    match settled(done.errors) {
        Ok(()) => Ok(Answer::redirect(address(&done.check.ok_or_else(unanswered)?.id))),
        Err(mistakes) => {
            let choices = ask(site, visit, EventCheckChoices {}).await?.account;
            Ok(Answer::refused(page(visit, None, &choices, form, (&mistakes, None))))
        }
    }
}

async fn find(site: &Site, visit: &Visit, id: &str) -> Result<Fields, Fault> {
    let check = ask(site, visit, EventCheckToChange { id }).await?.account.check.ok_or(Fault::NotFound)?;
    let check = match check {
        Check::CustomEventCheck(check) => check,
        Check::Other(other) => {
            return Err(Fault::BadRequest(format!(
                "{} is no check of custom events: change it through the API",
                other.name
            )));
        }
    };
    let yes = |is: Option<bool>| if is == Some(true) { YES } else { "" };
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    Ok(Fields::one(NAME, &check.name)
        .and(LEVEL, check.level.as_ref().map_or("", |level| &level.id))
        .and(CATEGORY, check.category.as_ref().map_or("", |category| &category.id))
        .and(INTEGRATION, check.integration.as_ref().map_or("", |integration| &integration.id))
        .and(SELECTOR, &text(&check.service_selector))
        .and(CONDITION, &text(&check.success_condition))
        .and(MESSAGE, &text(&check.result_message))
        .and(PENDING, yes(check.pass_pending))
        .and(ENABLED, yes(check.enabled)))
}

/// Shows the form of the check with this id.
pub async fn edit(site: &Site, visit: &Visit, session: &Session, id: &str) -> Result<Answer, Fault> {
    session.require(Role::StandardsAdmin)?;
    let fields = find(site, visit, id).await?;
    let choices = ask(site, visit, EventCheckChoices {}).await?.account;
    Ok(Answer::page(page(visit, Some(id), &choices, &fields, (&Mistakes::none(), None))))
}

/// Tries the expressions, or changes the check.
pub async fn change(site: &Site, visit: &Visit, id: &str) -> Result<Answer, Fault> {
    find(site, visit, id).await?;
    let form = &visit.form;
    if form.get("do") == "try" {
        return tried(site, visit, Some(id)).await;
    }
    let (selector, condition) = (form::stored(form.get(SELECTOR)), form::stored(form.get(CONDITION)));
    let message = form.given(MESSAGE).map(form::stored);
    let value = MaybeUndefined::Value;
    let input = CheckCustomEventUpdateInput {
        id,
        name: value(form.get(NAME)),
        level_id: value(form.get(LEVEL)),
        category_id: value(form.get(CATEGORY)),
        integration_id: value(form.get(INTEGRATION)),
        service_selector: value(&selector),
        success_condition: value(&condition),
        result_message: or_null(message.as_deref()),
        pass_pending: MaybeUndefined::Value(form.get(PENDING) == YES),
        enabled: MaybeUndefined::Value(form.get(ENABLED) == YES),
        enable_on: MaybeUndefined::Undefined,
        filter_id: MaybeUndefined::Undefined,
        notes: MaybeUndefined::Undefined,
        owner_id: MaybeUndefined::Undefined,
    };
    let done = ask(site, visit, UpdateEventCheck { input }).await?.check_custom_event_update.ok_or_else(unanswered)?;
    match settled(done.errors) {
        Ok(()) => Ok(Answer::redirect(address(id))),
        Err(mistakes) => {
            let choices = ask(site, visit, EventCheckChoices {}).await?.account;
            Ok(Answer::refused(page(visit, Some(id), &choices, form, (&mistakes, None))))
        }
    }
}

/// Shows the form again, with what its expressions say of the newest event.
async fn tried(site: &Site, visit: &Visit, id: Option<&str>) -> Result<Answer, Fault> {
    let form = &visit.form;
    let (selector, condition) = (form::stored(form.get(SELECTOR)), form::stored(form.get(CONDITION)));
    let message = form.given(MESSAGE).map(form::stored);
    let operation = TryEventCheck {
        integration: form.get(INTEGRATION),
        selector: &selector,
        condition: &condition,
        message: message.as_deref(),
    };
    let mut mistakes = Mistakes::none();
    let preview = match ask(site, visit, operation).await {
        Ok(found) => found.account.custom_event_check_preview,
        Err(Fault::BadRequest(why)) => {
            mistakes.push("", why);
            None
        }
        Err(fault) => return Err(fault),
    };
    let choices = ask(site, visit, EventCheckChoices {}).await?.account;
    Ok(Answer::page(page(visit, id, &choices, form, (&mistakes, preview.as_ref()))))
}

fn page(
    visit: &Visit,
    id: Option<&str>,
    choices: &Choices,
    form: &Fields,
    (mistakes, preview): (&Mistakes, Option<&Preview>),
) -> Markup {
    let rubric = choices.rubric.as_ref();
    let levels: Vec<(&str, &str)> = rubric
        .iter()
        .flat_map(|rubric| &rubric.levels.nodes)
        .map(|level| (&*level.id, name(level.name.as_deref())))
        .collect();
    let categories: Vec<(&str, &str)> = rubric
        .iter()
        .flat_map(|rubric| &rubric.categories.nodes)
        .map(|category| (&*category.id, &*category.name))
        .collect();
    let integrations: Vec<(&str, &str)> =
        choices.integrations.nodes.iter().map(|integration| (&*integration.id, &*integration.name)).collect();
    let action = id.map_or_else(|| "/new/event-check".to_owned(), |id| path(["standards", id, "edit"]));
    let title = if id.is_some() { "Edit check" } else { "New check of custom events" };
    let area = |name, label, hint| Area { name, label, hint, rows: 3, most: DESCRIPTION }.show(form, mistakes);
    let choice = |name, label, options: &[(&str, &str)]| form::select(name, label, "", options, form, mistakes);
    let main = html! {
        @if integrations.is_empty() || levels.is_empty() || categories.is_empty() {
            (empty("Something is missing.", html! {
                p { "A check of custom events needs a level, a category, and an integration of the type "
                    code { "customEvent" } ": " code { "eventIntegrationCreate(input: {type: customEvent})" } "." }
            }))
        }
        form method="post" action=(action) {
            (mistakes.summary(&FIELDS))
            (Text { name: NAME, label: "Name", hint: "A sentence that the service meets", kind: "text", required: false }
                .show(form, mistakes))
            (choice(LEVEL, "Level", &levels))
            (choice(CATEGORY, "Category", &categories))
            (choice(INTEGRATION, "Events of", &integrations))
            (area(SELECTOR, "Services (jq)", "Gives aliases or ids: .scans[].service"))
            (area(CONDITION, "Passes if (jq)", "Sees $ctx.alias and $ctx.index: .scans[$ctx.index].open == 0"))
            (area(MESSAGE, "Message (Liquid)", "Sees data, ctx and check: {{ data.scans[ctx.index].open }} open findings."))
            (choice(PENDING, "A service that no event has named", &[("", "is pending"), (YES, "passes")]))
            (choice(ENABLED, "The check", &[("", "does not count yet"), (YES, "counts")]))
            button.quiet name="do" value="try" { "Try on the newest event" } " "
            button name="do" value="save" { "Save" }
        }
        @if let Some(preview) = preview { (shown(preview)) }
    };
    layout(visit, title, main)
}

/// What the expressions say.
fn shown(preview: &Preview) -> Markup {
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
                                None => { (one.name) " " span.mark.none { "unknown" } },
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
