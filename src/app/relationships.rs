//! The relationships of an object, as a part of its page.

use maud::{Markup, html};

use super::groups;
use super::operations::{Relation, RelationshipTypeEnum, Thing};
use super::service_name::address;
use super::visit::path;

/// Lists the relationships that start at the object, and those that end at it. `total` counts both, shown or not.
pub fn section(from: &[Relation], to: &[Relation], total: i32) -> Markup {
    let shown = i32::try_from(from.len() + to.len()).unwrap_or(i32::MAX);
    let more = total.saturating_sub(shown);
    html! {
        @if !from.is_empty() || !to.is_empty() {
            h2 #relationships { "Relationships" }
            ul {
                @for relation in from { li { (words(relation, true)) " " (link(&relation.target)) } }
                @for relation in to { li { (words(relation, false)) " " (link(&relation.source)) } }
            }
            @if more > 0 { p.soft { "and " (more) " more" } }
        }
    }
}

/// The words before the name of the other end.
fn words(relation: &Relation, is_source: bool) -> Markup {
    let plain = match (&relation.r#type, is_source) {
        (RelationshipTypeEnum::BelongsTo, true) => "Belongs to",
        (RelationshipTypeEnum::BelongsTo, false) => "Contains",
        (RelationshipTypeEnum::DependsOn, true) => "Depends on",
        (RelationshipTypeEnum::DependsOn, false) => "Is needed by",
        (RelationshipTypeEnum::RelatedTo, _) => "Related to",
    };
    html! {
        @match &relation.definition {
            Some(definition) if is_source => { (definition.name) ":" },
            Some(definition) => { (definition.name) " of" },
            None => (plain),
        }
    }
}

fn link(thing: &Thing) -> Markup {
    match thing {
        Thing::Service(service) => html! { a href=(address(&service.aliases)) { (service.name) } },
        Thing::System(system) => groups::link("systems", &system.aliases, &system.name),
        Thing::Domain(domain) => groups::link("domains", &domain.aliases, &domain.name),
        Thing::Team(team) => html! { a href=(path(["teams", &team.alias])) { (team.name) } },
        Thing::InfrastructureResource(resource) => {
            html! { a href=(path(["infrastructure", &resource.id])) { (resource.name) } }
        }
    }
}
