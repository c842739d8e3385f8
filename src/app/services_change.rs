//! Changes of several services at once, by the boxes and fields around the list of services, and the page that shows what
//! they would change, before it is saved.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};

use super::ask::{ask, by_alias, settled, unanswered};
use super::form::Mistakes;
use super::layout::layout;
use super::operations::change_services::UpdatedService;
use super::operations::{ChangeServices, IdentifierInput, ServicesUpdateInput, TagInput};
use super::parts::{count, link, short};
use super::service_list::bar::{CLEARED, KEY, LIFECYCLE, NONE, OWNER, SERVICE, SYSTEM, TIER, VALUE, action};
use super::service_name::address;
use super::services;
use super::visit::{Fields, Session, Visit};
use super::{Answer, Fault, Site, words};
use catalogue::entity::user::Role;

/// What the buttons do: without this field, the change is shown.
const DOES: &str = "do";

/// Shows what a form would change, or changes it.
pub async fn change(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    session.require(Role::TeamMember)?;
    let does = visit.form.get(DOES);
    if does == "edit" {
        return services::show(site, visit, session, &Mistakes::none()).await;
    }
    let saves = does == "save";
    let input = match input(&visit.form, !saves) {
        Ok(input) => input,
        Err(mistakes) => return services::show(site, visit, session, &mistakes).await,
    };
    let done = ask(site, visit, ChangeServices { input }).await?.services_update.ok_or_else(unanswered)?;
    match settled(done.errors) {
        Err(mistakes) => services::show(site, visit, session, &mistakes).await,
        Ok(()) if saves => Ok(Answer::redirect(link("/services", &visit.query.query()))),
        Ok(()) => Ok(Answer::page(preview(visit, &done.services.unwrap_or_default()))),
    }
}

/// The change that a form describes, or what is missing in it.
fn input(form: &Fields, is_dry_run: bool) -> Result<ServicesUpdateInput<'_>, Mistakes> {
    let mut mistakes = Mistakes::none();
    let services: Vec<IdentifierInput<'_>> = form
        .get_all(SERVICE)
        .map(|id| IdentifierInput { id: MaybeUndefined::Value(id), alias: MaybeUndefined::Undefined })
        .collect();
    if services.is_empty() {
        mistakes.push("", "Select at least one service: check the box before its name.");
    }
    let [owner, tier, lifecycle, system] =
        [OWNER, TIER, LIFECYCLE, SYSTEM].map(|field| said(form, field, &mut mistakes));
    let tags = match (form.given(KEY), form.given(VALUE)) {
        (Some(key), value) => MaybeUndefined::Value(vec![TagInput { key, value: value.unwrap_or_default() }]),
        (None, None) => MaybeUndefined::Undefined,
        (None, Some(_)) => {
            mistakes.push(KEY, "Give the tag whose value this is.");
            MaybeUndefined::Undefined
        }
    };
    let sets_nothing = [&owner, &tier, &lifecycle, &system].into_iter().all(MaybeUndefined::is_undefined);
    if mistakes.is_empty() && sets_nothing && tags.is_undefined() {
        mistakes.push("", "Choose what to change above the list: an owner, a tier, a lifecycle, a system or a tag.");
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    Ok(ServicesUpdateInput {
        services,
        owner_alias: owner,
        tier_alias: tier,
        lifecycle_alias: lifecycle,
        parent: system.map_value(by_alias),
        tags,
        dry_run: MaybeUndefined::Value(is_dry_run),
    })
}

/// What a form says of a field: nothing, that it is cleared, or its value.
fn said<'f>(form: &'f Fields, field: &'static str, mistakes: &mut Mistakes) -> MaybeUndefined<&'f str> {
    let is_cleared = form.get_all(CLEARED).any(|cleared| cleared == field);
    match (form.given(field), is_cleared) {
        (None, false) => MaybeUndefined::Undefined,
        (None, true) | (Some(NONE), _) => MaybeUndefined::Null,
        (Some(text), false) => MaybeUndefined::Value(text),
        (Some(_), true) => {
            mistakes.push(field, "Give a name, or check the box beside it, and not both.");
            MaybeUndefined::Undefined
        }
    }
}

/// The page that shows what would change, with the same form to save it.
fn preview(visit: &Visit, services: &[UpdatedService]) -> Markup {
    let changing = services.iter().filter(|one| !one.changes.is_empty()).count();
    let changing = (changing > 0).then(|| count(changing as i64, "service"));
    let main = html! {
        p { @match &changing {
            Some(changing) => { "Nothing is saved yet. This changes " (changing) "." },
            None => { "The selected services are like this already." },
        } }
        div.scroll tabindex="0" role="region" aria-label="Changes" {
            table {
                thead { tr { th scope="col" { "Service" } th scope="col" { "What changes" } } }
                tbody { @for one in services { (row(one)) } }
            }
        }
        form.actions method="post" action=(action(visit)) {
            (kept(&visit.form))
            @if let Some(changing) = &changing { button name=(DOES) value="save" { "Change " (changing) } }
            button.quiet name=(DOES) value="edit" { "Back to the list" }
        }
    };
    layout(visit, "Change services", main)
}

fn row(one: &UpdatedService) -> Markup {
    let side = |text: &Option<String>| {
        html! { @match text { Some(text) => (short(text)), None => span.soft { "nothing" } } }
    };
    html! {
        tr {
            th scope="row" { a href=(address(&one.service.aliases)) { (one.service.name) } }
            td {
                @if one.changes.is_empty() { span.soft { "nothing" } }
                @for change in &one.changes {
                    div {
                        span.soft { (words::field_name(&change.field)) ": " }
                        (side(&change.before)) " → " (side(&change.after))
                    }
                }
            }
        }
    }
}

/// The fields of the form, to be sent again.
fn kept(form: &Fields) -> Markup {
    html! {
        @for name in [SERVICE, CLEARED, OWNER, TIER, LIFECYCLE, SYSTEM, KEY, VALUE] {
            @for text in form.get_all(name).filter(|text| !text.is_empty()) {
                input type="hidden" name=(name) value=(text);
            }
        }
    }
}
