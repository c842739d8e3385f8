//! Changes of several services at once: boxes and fields around the list of services, and the page that shows what they
//! would change, before it is saved.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};

use super::ask::{ask, by_alias, settled, unanswered};
use super::form::{self, Mistakes};
use super::layout::layout;
use super::operations::change_services::UpdatedService;
use super::operations::services::Service;
use super::operations::{ChangeServices, Choices, IdentifierInput, ServiceChoices, ServicesUpdateInput, TagInput};
use super::parts::{count, link, short};
use super::rights::Reach;
use super::services::{self, address};
use super::visit::{Fields, Session, Visit};
use super::{Answer, Fault, Site, words};
use crate::entity::user::Role;

/// The boxes that select services, by id.
const SERVICE: &str = "service";
/// The fields, by the paths that the API uses for mistakes about them.
const OWNER: &str = "ownerAlias";
const TIER: &str = "tierAlias";
const LIFECYCLE: &str = "lifecycleAlias";
const SYSTEM: &str = "parent.alias";
const KEY: &str = "tags.0.key";
const VALUE: &str = "tags.0.value";
/// The boxes of fields that are to be cleared.
const CLEARED: &str = "clear";
/// The choice that clears a field.
const NONE: &str = "(none)";
/// What the buttons do: without this field, the change is shown.
const DOES: &str = "do";

/// What the list of services shows to whoever may change some of them.
pub struct Bar<'v> {
    reach: Reach,
    choices: Choices,
    form: &'v Fields,
    mistakes: &'v Mistakes,
}

impl<'v> Bar<'v> {
    /// Reads what may be chosen. `None` for visitors who may change no service.
    pub async fn read(
        site: &Site,
        visit: &'v Visit,
        session: &Session,
        mistakes: &'v Mistakes,
    ) -> Result<Option<Self>, Fault> {
        let reach = Reach::read(site, session).await?;
        if reach.is_empty() {
            return Ok(None);
        }
        let choices = ask(site, visit, ServiceChoices).await?.account;
        Ok(Some(Self { reach, choices, form: &visit.form, mistakes }))
    }

    /// Whether the visitor can select a service.
    pub fn offers(&self, service: &Service) -> bool {
        !service.locked && self.reach.includes(service.owner.as_ref().map(|team| &*team.id))
    }

    /// The box that selects a service.
    pub fn select(&self, service: &Service) -> Markup {
        let is_selected = self.form.get_all(SERVICE).any(|id| id == service.id);
        html! {
            @if self.offers(service) {
                label {
                    input type="checkbox" name=(SERVICE) value=(service.id) checked[is_selected];
                    span.hidden { "Select " (service.name) }
                }
            }
        }
    }

    /// The form around the table of services. What it changes stays in sight above the rows, however far they are scrolled.
    pub fn wrap(&self, visit: &Visit, table: Markup) -> Markup {
        let is_begun = self.form.has_text() || !self.mistakes.is_empty();
        html! {
            form method="post" action=(action(visit)) {
                details.bulk open[is_begun] {
                    summary { "Change the selected services" }
                    p.hint { "What is left empty stays as it is. The next page shows what would change." }
                    div.filters { (self.fields()) button { "Preview" } }
                }
                (table)
            }
        }
    }

    fn fields(&self) -> Markup {
        let Self { choices: Choices { tiers, lifecycles, teams, systems, .. }, form, mistakes, .. } = self;
        let mut tier_choices = vec![("", "as it is"), (NONE, "none")];
        tier_choices.extend(tiers.iter().map(|tier| (&*tier.alias, &*tier.name)));
        let mut lifecycle_choices = vec![("", "as it is"), (NONE, "none")];
        lifecycle_choices.extend(lifecycles.iter().map(|stage| (&*stage.alias, &*stage.name)));
        let teams = teams.nodes.iter().map(|team| (&*team.alias, &*team.name));
        let systems = systems.nodes.iter();
        let systems = systems.filter_map(|system| Some((system.aliases.first()?.as_str(), &*system.name)));
        let text =
            |name, label| form::Text { name, label, hint: "", kind: "text", required: false }.show(form, mistakes);
        let named = |name, label, part| form::Named { name, label, hint: "", part, required: false };
        html! {
            (named(OWNER, "Owner (name or alias)", "teams").show(teams, form, mistakes))
            (self.clears(OWNER, "No owner"))
            (form::select(TIER, "Tier", "", &tier_choices, form, mistakes))
            (form::select(LIFECYCLE, "Lifecycle", "", &lifecycle_choices, form, mistakes))
            (named(SYSTEM, "System (name or alias)", "systems").show(systems, form, mistakes))
            (self.clears(SYSTEM, "No system"))
            (text(KEY, "Tag"))
            (text(VALUE, "Value of the tag"))
        }
    }

    /// The box that clears a field.
    fn clears(&self, field: &str, label: &str) -> Markup {
        let is_cleared = self.form.get_all(CLEARED).any(|cleared| cleared == field);
        html! { label.check { input type="checkbox" name=(CLEARED) value=(field) checked[is_cleared]; (label) } }
    }
}

/// Where the forms are sent: with the filters of the list, so that it is the same list afterwards.
fn action(visit: &Visit) -> String {
    link("/services/change", &visit.query.query())
}

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
