//! Searches the schema by words in names and descriptions.

use apollo_compiler::ast::InputValueDefinition;
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Name, Node, Schema};
use maud::{Markup, html};

use super::{PATH, index};

/// The maximum number of hits.
pub const MOST: usize = 100;

/// The maximum number of words that count.
pub const WORDS: usize = 10;

/// A search result.
struct Hit<'s> {
    /// Its full name: `Service.owner`.
    path: String,
    /// The URL of its entry.
    address: String,
    description: Option<&'s Node<str>>,
    deprecated: bool,
    /// How well it matches; lower is better.
    rank: u8,
}

/// The search form.
pub(super) fn form(text: &str) -> Markup {
    html! {
        form.filters role="search" action=(PATH) {
            div.field {
                label for="search" { "Search types, fields and descriptions" }
                input #search type="search" name="q" value=(text);
            }
            button { "Search" }
        }
    }
}

/// The search results.
pub(super) fn show(schema: &Schema, text: &str) -> Markup {
    let hits = find(schema, text);
    html! {
        h2 { "Results" }
        @if hits.is_empty() {
            div.empty { p { "No matches in the schema." } p { a href=(PATH) { "All types" } } }
        } @else {
            p.soft {
                @match hits.len() {
                    1 => "1 match.",
                    MOST => { "The first " (MOST) " matches." },
                    found => { (found) " matches." }
                }
            }
            (index::list(hits.iter().map(|hit| {
                (html! { a href=(hit.address) { (hit.path) } }, hit.description, hit.deprecated)
            })))
        }
    }
}

/// Finds everything whose name or description contains the first [`WORDS`] words of `text`, ignoring case. Matches by
/// name come first.
fn find<'s>(schema: &'s Schema, text: &str) -> Vec<Hit<'s>> {
    let text = text.to_lowercase();
    // A dot separates words, as in `Service.owner`.
    let words = text.split(|c: char| c.is_whitespace() || c == '.').filter(|word| !word.is_empty());
    let words: Vec<&str> = words.take(WORDS).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let mut hits = Vec::new();
    let mut offer = |path: String, address: String, name: &Name, description: Option<&'s Node<str>>, deprecated| {
        let text = description.map_or("", |text| &**text);
        if let Some(rank) = rank(&words, &path.to_lowercase(), &name.to_lowercase(), text) {
            hits.push(Hit { path, address, description, deprecated, rank });
        }
    };
    for (ty, definition) in schema.types.iter().filter(|(ty, _)| !ty.starts_with("__")) {
        offer(ty.to_string(), format!("/reference/{ty}"), ty, definition.description(), false);
        let mut inside = |name: &Name, description, deprecated| {
            offer(format!("{ty}.{name}"), format!("/reference/{ty}#{name}"), name, description, deprecated);
        };
        let fields = match definition {
            ExtendedType::Object(object) => &object.fields,
            ExtendedType::Interface(interface) => &interface.fields,
            ExtendedType::InputObject(input) => {
                for field in input.fields.values() {
                    inside(&field.name, field.description.as_ref(), field.directives.has("deprecated"));
                }
                continue;
            }
            ExtendedType::Enum(definition) => {
                for value in definition.values.values() {
                    inside(&value.value, value.description.as_ref(), value.directives.has("deprecated"));
                }
                continue;
            }
            ExtendedType::Scalar(_) | ExtendedType::Union(_) => continue,
        };
        for field in fields.values() {
            inside(&field.name, field.description.as_ref(), field.directives.has("deprecated"));
        }
        for (field, argument) in fields.values().flat_map(|field| field.arguments.iter().map(move |it| (field, it))) {
            let InputValueDefinition { name, description, directives, .. } = &**argument;
            let path = format!("{ty}.{}({name}:)", field.name);
            let address = format!("/reference/{ty}#{}", field.name);
            offer(path, address, name, description.as_ref(), directives.has("deprecated"));
        }
    }
    hits.sort_by_key(|hit| hit.rank);
    hits.truncate(MOST);
    hits
}

/// Returns `None` if a word is missing.
fn rank(words: &[&str], path: &str, name: &str, description: &str) -> Option<u8> {
    let all_in = |text: &str| words.iter().all(|word| text.contains(word));
    let last = words.last()?;
    if all_in(path) {
        let by_name = if name == *last {
            0
        } else if name.starts_with(last) {
            2
        } else if all_in(name) {
            3
        } else {
            4
        };
        // Of two equal names the shorter path comes first: `Service` before `Account.service`.
        return Some(if by_name == 0 && path != name { 1 } else { by_name });
    }
    let description = description.to_lowercase();
    words.iter().all(|word| path.contains(word) || description.contains(word)).then_some(5)
}
