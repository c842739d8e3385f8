//! What people have defined for the whole catalogue: types of components, properties, relationships, levels, tiers and
//! saved filters. Tiers, lifecycle stages, properties and saved filters have forms, for whoever may change them.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};

use super::ask::ask;
use super::layout::layout;
use super::operations::definitions::{
    Account, ComponentTypeConnectionTypeNodes as ComponentType, Filter, FilterPredicate, PropertyDefinition,
    RelationshipDefinitionType, TeamPropertyDefinition,
};
use super::operations::{ConnectiveEnum, Definitions, PropertyDisplayStatusEnum, PropertyLockedStatusEnum};
use super::parts::{count, count_to_most, local, pages, short};
use super::schema_words::option_label;
use super::visit::{Method, Session, Visit, path};
use super::{Answer, Fault, Site};
use catalogue::entity::user::Role;

mod fields;
pub mod filters;
mod grade;
mod grades;
pub mod uses;

/// The number of predicates of a filter that are shown.
const PREDICATES: usize = 6;

/// The path of the page of all definitions.
const HERE: &str = "/definitions";

/// Shows a page, or handles a form.
pub async fn answer(site: &Site, visit: &Visit, session: &Session, path: &[&str]) -> Result<Answer, Fault> {
    use Method::{Get, Post};
    use grade::Kind;
    // All others are forms, of which who may not send one sees none.
    if path != ["definitions"] {
        session.require(Role::User)?;
    }
    match (visit.method, path) {
        (Get, ["definitions"]) => page(site, visit, session).await,
        (Get, ["new", part @ ("tier" | "lifecycle")]) => Ok(grades::new(visit, Kind::of(part))),
        (Post, ["new", part @ ("tier" | "lifecycle")]) => grades::create(site, visit, Kind::of(part)).await,
        (Get, ["definitions", part @ ("tiers" | "lifecycles"), id, "edit"]) => {
            grades::edit(site, visit, Kind::of(part), id).await
        }
        (Post, ["definitions", part @ ("tiers" | "lifecycles"), id, "edit"]) => {
            grades::change(site, visit, Kind::of(part), id).await
        }
        (Post, ["definitions", part @ ("tiers" | "lifecycles"), id, "delete"]) => {
            grades::delete(site, visit, Kind::of(part), id).await
        }
        (Get, ["new", "property-definition"]) => Ok(fields::new(visit)),
        (Post, ["new", "property-definition"]) => fields::create(site, visit).await,
        (Get, ["definitions", "properties", id, "edit"]) => fields::edit(site, visit, id).await,
        (Post, ["definitions", "properties", id, "edit"]) => fields::change(site, visit, id).await,
        (Post, ["definitions", "properties", id, "delete"]) => fields::delete(site, visit, id).await,
        (Get, ["new", "filter"]) => Ok(filters::new(site, visit)),
        (Post, ["new", "filter"]) => filters::create(site, visit).await,
        (Get, ["definitions", "filters", id, "edit"]) => filters::edit(site, visit, id).await,
        (Post, ["definitions", "filters", id, "edit"]) => filters::change(site, visit, id).await,
        (Post, ["definitions", "filters", id, "delete"]) => filters::delete(site, visit, id).await,
        _ => Err(Fault::NotFound),
    }
}

/// Shows all definitions. Only those of properties are paged: the others are at most 100 of each.
async fn page(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    let account = ask(site, visit, Definitions { after: visit.query.given("after") }).await?.account;
    let (app_url, may) = (&site.catalogue.settings().app_url, session.user.role >= Role::User);
    let main = html! {
        p { "Definitions that describe services, teams and relationships. "
            @if may { "Component types, relationships and properties of teams are changed through the API; " }
            @else { "They are changed by whoever has a higher role than yours, and through the API; " }
            "the " a href="/reference/Mutation" { "reference" } " has their mutations." }
        (types(&account.component_types.nodes, app_url))
        (properties(visit, &account, may))
        (team_properties(&account.team_property_definitions.nodes))
        (relationships(&account.relationship_definitions.nodes))
        (standards(&account, may))
        (saved(&account, app_url, may))
    };
    Ok(Answer::page(layout(visit, "Definitions", main)))
}

/// The headings of the columns of numbers.
const OWN: &str = "Own properties";
const POSITION: &str = "Position";
/// The heading of the column with the links to the forms.
const ACTION: &str = "Action";

/// A table with a heading; nothing without rows.
fn table(title: &str, heads: &[&str], rows: &[Markup]) -> Markup {
    html! { @if !rows.is_empty() { h2 { (title) } (grid(title, heads, rows)) } }
}

/// The same of what people change here, with a link to the form for another one. `new` is the link's address and text, or
/// `None` for whoever may not.
fn changed(title: &str, heads: &[&str], rows: &[Markup], new: Option<(&str, &str)>) -> Markup {
    html! {
        @match new {
            None => (table(title, heads, rows)),
            Some((address, text)) => {
                h2 { (title) }
                @if rows.is_empty() { p.soft { "None yet." } } @else { (grid(title, heads, rows)) }
                div.actions { a.button.quiet href=(address) { (text) } }
            },
        }
    }
}

/// On phones, which show no headings, cells that do not speak for themselves name their column.
fn grid(title: &str, heads: &[&str], rows: &[Markup]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(title) {
            table.lined {
                thead { tr { @for head in heads {
                    th.number[[OWN, POSITION].contains(head)] scope="col" {
                        @if *head == ACTION { span.hidden { (head) } } @else { (head) }
                    }
                } } }
                tbody { @for row in rows { tr { (row) } } }
            }
        }
    }
}

/// The headings of a table, with that of [`edit`] for whoever may change its rows.
fn headed<'h>(heads: &[&'h str], may: bool) -> Vec<&'h str> {
    heads.iter().copied().chain(may.then_some(ACTION)).collect()
}

/// The last cell of a row: a link to its form.
fn edit(part: &str, id: &str, name: &str) -> Markup {
    html! {
        td.act { a.button.quiet href=(path(["definitions", part, id, "edit"])) { "Edit" span.hidden { " " (name) } } }
    }
}

/// An optional field of an input: `None` leaves it out.
fn or_absent<T>(value: Option<T>) -> MaybeUndefined<T> {
    value.map_or(MaybeUndefined::Undefined, MaybeUndefined::Value)
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
                td.number data-label=(OWN) { (one.properties.total_count) }
            }
        })
        .collect();
    table("Component types", &["Type", "Description", OWN], &rows)
}

fn properties(visit: &Visit, account: &Account, may: bool) -> Markup {
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
            td data-label="Component type" {
                @match &one.component_type { Some(of) => (of.name), None => span.soft { "all" } }
            }
            (described(one.description.as_deref()))
            @if may { (edit("properties", &one.id, &one.name)) }
        }
    };
    let rows: Vec<_> = definitions.nodes.iter().map(row).collect();
    let heads = headed(&["Property", "Value", "Component type", "Description"], may);
    html! {
        (changed("Properties", &heads, &rows, may.then_some(("/new/property-definition", "New property"))))
        // The only list of this page that can be longer than what is seen of it.
        @if !rows.is_empty() { p.soft { (count_to_most(definitions.total_count, "property")) } }
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
            td data-label="From" { (one.component_type.name) }
            td data-label="To" {
                @if one.metadata.allowed_types.is_empty() { span.soft { "anything" } }
                @else { (short(&one.metadata.allowed_types.join(", "))) }
            }
            td data-label=[(!range.is_empty()).then_some("How many")] { (range) }
            (described(one.description.as_deref()))
        }
    };
    let heads = ["Relationship", "From services of type", "To", "How many", "Description"];
    table("Relationships", &heads, &definitions.iter().map(row).collect::<Vec<_>>())
}

/// Levels, categories, tiers and lifecycle stages.
fn standards(account: &Account, may: bool) -> Markup {
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
    let graded = |part: &str, id: &str, name: &str, index: i32| {
        html! { @if may { td.number data-label=(POSITION) { (index) } (edit(part, id, name)) } }
    };
    let tiers = account.tiers.iter().map(|tier| {
        html! {
            (step(&tier.name, &tier.alias, tier.description.as_deref()))
            (graded("tiers", &tier.id, &tier.name, tier.index))
        }
    });
    let stages = account.lifecycles.iter().map(|stage| {
        html! {
            (step(&stage.name, &stage.alias, stage.description.as_deref()))
            (graded("lifecycles", &stage.id, &stage.name, stage.index))
        }
    });
    let (tiers, stages): (Vec<_>, Vec<_>) = (tiers.collect(), stages.collect());
    let heads = |first| if may { vec![first, "Description", POSITION, ACTION] } else { vec![first, "Description"] };
    html! {
        (table("Levels", &["Level", "Description"], &levels.collect::<Vec<_>>()))
        (table("Categories", &["Category", "Description"], &categories.collect::<Vec<_>>()))
        (changed("Tiers", &heads("Tier"), &tiers, may.then_some(("/new/tier", "New tier"))))
        (changed("Lifecycle stages", &heads("Stage"), &stages, may.then_some(("/new/lifecycle", "New lifecycle stage"))))
    }
}

fn saved(account: &Account, app_url: &str, may: bool) -> Markup {
    let filters = &account.filters.nodes;
    let row = |one: &Filter| {
        let word = if matches!(one.connective, Some(ConnectiveEnum::Or)) { " or " } else { " and " };
        let more = one.predicates.len().saturating_sub(PREDICATES);
        html! {
            th scope="row" { a href=(local(&one.html_url, app_url)) { (one.name) } }
            td {
                @if one.predicates.is_empty() { span.soft { "every service" } }
                @for (place, predicate) in one.predicates.iter().take(PREDICATES).enumerate() {
                    @if place > 0 { (word) }
                    (sentence(account, predicate))
                }
                @if more > 0 { (word) (count(i64::try_from(more).unwrap_or(i64::MAX), "other condition")) }
            }
            @if may { (edit("filters", &one.id, &one.name)) }
        }
    };
    let (heads, rows) = (headed(&["Filter", "Services whose"], may), filters.iter().map(row).collect::<Vec<_>>());
    changed("Saved filters", &heads, &rows, may.then_some(("/new/filter", "New saved filter")))
}

/// A predicate that asks for one tier, lifecycle stage or level by its position, id or alias: the noun, whether it is or is
/// not, and the name. `None` for any other.
fn graded<'a>(account: &'a Account, predicate: &FilterPredicate) -> Option<(&'static str, &'static str, &'a str)> {
    let value = predicate.value.as_deref()?;
    let is = match &*predicate.r#type.to_string() {
        "equals" => "is",
        "does_not_equal" => "is not",
        _ => return None,
    };
    let named = |id: &str, alias: &str, index: i32| value == id || value == alias || value == index.to_string();
    let (noun, name) = match &*predicate.key.to_string() {
        "tier_index" => {
            let own = account.tiers.iter().find(|one| named(&one.id, &one.alias, one.index));
            ("tier", own.map(|one| &*one.name))
        }
        "lifecycle_index" => {
            let own = account.lifecycles.iter().find(|one| named(&one.id, &one.alias, one.index));
            ("lifecycle stage", own.map(|one| &*one.name))
        }
        "level_index" => {
            let mut levels = account.rubric.iter().flat_map(|rubric| &rubric.levels.nodes);
            let own = levels.find(|one| {
                let (alias, index) = (one.alias.as_deref().unwrap_or_default(), one.index.unwrap_or(i32::MIN));
                named(&one.id, alias, index)
            });
            ("level", own.and_then(|one| one.name.as_deref()))
        }
        _ => return None,
    };
    Some((noun, is, name?))
}

/// A predicate in words.
fn sentence(account: &Account, predicate: &FilterPredicate) -> Markup {
    if let Some((noun, is, name)) = graded(account, predicate) {
        return html! { (noun) " " (is) " " strong { (short(name)) } };
    }
    html! {
        (option_label(&predicate.key.to_string())) " "
        @if let Some(key) = &predicate.key_data { code { (short(key)) } " " }
        (option_label(&predicate.r#type.to_string()))
        @if let Some(value) = &predicate.value { " " code { (short(value)) } }
    }
}
