//! What people have defined for the whole catalogue: types of components, properties, relationships, levels, tiers and
//! saved filters.

use maud::{Markup, html};

use super::ask::ask;
use super::layout::layout;
use super::operations::definitions::{
    Account, ComponentTypeConnectionTypeNodes as ComponentType, Filter, FilterPredicate, PropertyDefinition,
    RelationshipDefinitionType, TeamPropertyDefinition,
};
use super::operations::{ConnectiveEnum, Definitions, PropertyDisplayStatusEnum, PropertyLockedStatusEnum};
use super::parts::{count, local, pages, short};
use super::visit::Visit;
use super::{Answer, Fault, Site};

/// The number of predicates of a filter that are shown.
const PREDICATES: usize = 6;

/// Shows all definitions. Only those of properties are paged: the others are at most 100 of each.
pub async fn page(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let account = ask(site, visit, Definitions { after: visit.query.given("after") }).await?.account;
    let app_url = &site.catalogue.settings().app_url;
    let main = html! {
        p { "Definitions that describe services, teams and relationships. Change them through the API; "
            "the " a href="/reference/Mutation" { "reference" } " has their mutations." }
        (types(&account.component_types.nodes, app_url))
        (properties(visit, &account))
        (team_properties(&account.team_property_definitions.nodes))
        (relationships(&account.relationship_definitions.nodes))
        (standards(&account))
        (filters(&account.filters.nodes, app_url))
    };
    Ok(Answer::page(layout(visit, "Definitions", main)))
}

/// The heading of the only column of numbers.
const OWN: &str = "Own properties";

/// A table with a heading; nothing without rows.
fn table(title: &str, heads: &[&str], rows: &[Markup]) -> Markup {
    html! {
        @if !rows.is_empty() {
            h2 { (title) }
            div.scroll tabindex="0" role="region" aria-label=(title) {
                table {
                    thead { tr { @for head in heads { th.number[*head == OWN] scope="col" { (head) } } } }
                    tbody { @for row in rows { tr { (row) } } }
                }
            }
        }
    }
}

/// The first cell of a row: a name and its alias.
fn named(name: &str, alias: &str) -> Markup {
    html! { th scope="row" { (name) " " code.soft { (alias) } } }
}

fn described(description: Option<&str>) -> Markup {
    html! { td { @if let Some(text) = description { (short(text)) } } }
}

fn types(types: &[ComponentType], app_url: &str) -> Markup {
    let rows: Vec<_> = types
        .iter()
        .map(|one| {
            html! {
                th scope="row" {
                    a href=(local(&one.href, app_url)) { (one.name) }
                    @if let Some(alias) = one.aliases.first() { " " code.soft { (alias) } }
                    @if one.is_default { " " span.mark.none { "default" } }
                }
                (described(one.description.as_deref()))
                td.number { (one.properties.total_count) }
            }
        })
        .collect();
    table("Component types", &["Type", "Description", OWN], &rows)
}

fn properties(visit: &Visit, account: &Account) -> Markup {
    let definitions = &account.property_definitions;
    let row = |one: &PropertyDefinition| {
        let marks = [
            (one.locked_status == PropertyLockedStatusEnum::UiLocked, "set by programs only"),
            (one.property_display_status == PropertyDisplayStatusEnum::Hidden, "hidden"),
        ];
        html! {
            (named(&one.name, one.aliases.first().map_or("", String::as_str)))
            td {
                (one.display_type.to_string().to_lowercase())
                @for (_, mark) in marks.iter().filter(|(is, _)| *is) { " " span.mark.none { (mark) } }
            }
            td { @match &one.component_type { Some(of) => (of.name), None => span.soft { "all" } } }
            (described(one.description.as_deref()))
        }
    };
    let rows: Vec<_> = definitions.nodes.iter().map(row).collect();
    html! {
        (table("Properties", &["Property", "Value", "Component type", "Description"], &rows))
        (pages(visit, "/definitions", &definitions.page_info))
    }
}

fn team_properties(definitions: &[TeamPropertyDefinition]) -> Markup {
    let row = |one: &TeamPropertyDefinition| {
        html! {
            (named(&one.name, &one.alias))
            td {
                (one.display_type.to_string().to_lowercase())
                @if one.locked_status == PropertyLockedStatusEnum::UiLocked { " " span.mark.none { "set by programs only" } }
            }
            (described(Some(&one.description)))
        }
    };
    table(
        "Properties of teams",
        &["Property", "Value", "Description"],
        &definitions.iter().map(row).collect::<Vec<_>>(),
    )
}

fn relationships(definitions: &[RelationshipDefinitionType]) -> Markup {
    let row = |one: &RelationshipDefinitionType| {
        let range = match (one.metadata.min_items, one.metadata.max_items) {
            (None, None) => String::new(),
            (Some(least), None) => format!("at least {least}"),
            (None, Some(most)) => format!("at most {most}"),
            (Some(least), Some(most)) => format!("{least} to {most}"),
        };
        html! {
            (named(&one.name, &one.alias))
            td { (one.component_type.name) }
            td { @if one.metadata.allowed_types.is_empty() { span.soft { "anything" } } @else { (short(&one.metadata.allowed_types.join(", "))) } }
            td { (range) }
            (described(one.description.as_deref()))
        }
    };
    let heads = ["Relationship", "From services of type", "To", "How many", "Description"];
    table("Relationships", &heads, &definitions.iter().map(row).collect::<Vec<_>>())
}

/// Levels, categories, tiers and lifecycle stages.
fn standards(account: &Account) -> Markup {
    let step =
        |name: &str, alias: &str, description: Option<&str>| html! { (named(name, alias)) (described(description)) };
    let levels = account.rubric.iter().flat_map(|rubric| &rubric.levels.nodes);
    let levels = levels.map(|level| {
        let (name, alias) = (level.name.as_deref(), level.alias.as_deref());
        step(name.unwrap_or_default(), alias.unwrap_or_default(), level.description.as_deref())
    });
    let categories = account.rubric.iter().flat_map(|rubric| &rubric.categories.nodes);
    let categories =
        categories.map(|one| html! { th scope="row" { (one.name) } (described(one.description.as_deref())) });
    let tiers = account.tiers.iter().map(|tier| step(&tier.name, &tier.alias, tier.description.as_deref()));
    let stages = account.lifecycles.iter().map(|stage| step(&stage.name, &stage.alias, stage.description.as_deref()));
    html! {
        (table("Levels", &["Level", "Description"], &levels.collect::<Vec<_>>()))
        (table("Categories", &["Category", "Description"], &categories.collect::<Vec<_>>()))
        (table("Tiers", &["Tier", "Description"], &tiers.collect::<Vec<_>>()))
        (table("Lifecycle stages", &["Stage", "Description"], &stages.collect::<Vec<_>>()))
    }
}

fn filters(filters: &[Filter], app_url: &str) -> Markup {
    let row = |one: &Filter| {
        let word = if matches!(one.connective, Some(ConnectiveEnum::Or)) { " or " } else { " and " };
        let more = one.predicates.len().saturating_sub(PREDICATES);
        html! {
            th scope="row" { a href=(local(&one.html_url, app_url)) { (one.name) } }
            td {
                @if one.predicates.is_empty() { span.soft { "every service" } }
                @for (place, predicate) in one.predicates.iter().take(PREDICATES).enumerate() {
                    @if place > 0 { (word) }
                    (sentence(predicate))
                }
                @if more > 0 { (word) (count(i64::try_from(more).unwrap_or(i64::MAX), "other condition")) }
            }
        }
    };
    table("Saved filters", &["Filter", "Services whose"], &filters.iter().map(row).collect::<Vec<_>>())
}

/// A predicate in words.
fn sentence(predicate: &FilterPredicate) -> Markup {
    let words = |word: String| word.replace('_', " ");
    html! {
        (words(predicate.key.to_string())) " "
        @if let Some(key) = &predicate.key_data { code { (short(key)) } " " }
        (words(predicate.r#type.to_string()))
        @if let Some(value) = &predicate.value { " " code { (short(value)) } }
    }
}
