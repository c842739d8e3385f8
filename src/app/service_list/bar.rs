//! The boxes and fields around the list of services that change several of them at once.

use maud::{Markup, html};

use crate::ask::ask;
use crate::form::{self, Mistakes};
use crate::operations::services::Service;
use crate::operations::{Choices, ServiceChoices};
use crate::parts::link;
use crate::rights::Reach;
use crate::visit::{Fields, Session, Visit};
use crate::{Fault, Site};

/// The boxes that select services, by id.
pub const SERVICE: &str = "service";
/// The fields, by the paths that the API uses for mistakes about them.
pub const OWNER: &str = "ownerAlias";
pub const TIER: &str = "tierAlias";
pub const LIFECYCLE: &str = "lifecycleAlias";
pub const SYSTEM: &str = "parent.alias";
pub const KEY: &str = "tags.0.key";
pub const VALUE: &str = "tags.0.value";
/// The boxes of fields that are to be cleared.
pub const CLEARED: &str = "clear";
/// The choice that clears a field.
pub const NONE: &str = "(none)";

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
            form method="post" action=(action(visit)) data-select=(SERVICE) {
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
pub fn action(visit: &Visit) -> String {
    link("/services/change", &visit.query.query())
}
