//! The properties of a service or a team, as a part of its page.

use maud::{Markup, html};
use serde_json::Value;

use super::operations::PropertyDisplayStatusEnum::Visible;
use super::operations::PropertyRow;
use super::parts::short;
use super::words;

/// The number of items of a list that are shown.
const ITEMS: usize = 12;

/// Lists the properties that are not hidden. `has_more` means that `properties` is not the whole list.
pub fn section(properties: &[PropertyRow], has_more: bool) -> Markup {
    let is_shown = properties.iter().any(|one| one.definition.property_display_status == Visible);
    html! { @if is_shown { section.card { h2 #properties { "Properties" } (list(properties, has_more)) } } }
}

/// The same without a heading.
pub fn list(properties: &[PropertyRow], has_more: bool) -> Markup {
    let shown: Vec<_> = properties.iter().filter(|one| one.definition.property_display_status == Visible).collect();
    html! {
        @if !shown.is_empty() {
            dl.facts { @for property in shown {
                dt title=[&property.definition.description] { (property.definition.name) }
                dd { (value(&serde_json::from_str(&property.value).unwrap_or_default())) }
            } }
            @if has_more { p.soft { "and more" } }
        }
    }
}

/// Shows a JSON value.
pub fn value(value: &Value) -> Markup {
    match value {
        Value::Null => html! { span.soft { "none" } },
        Value::Bool(flag) => html! { (if *flag { "yes" } else { "no" }) },
        Value::Number(number) => html! { (number) },
        Value::String(text) => html! { (short(text)) },
        Value::Array(items) => html! {
            ul.marks { @for item in items.iter().take(ITEMS) { li { span.mark.none { (plain(item)) } } } }
            @if items.len() > ITEMS { "and " (items.len() - ITEMS) " more" }
        },
        Value::Object(_) => html! { (plain(value)) },
    }
}

/// An item of a list, or an object, in one line.
pub fn plain(value: &Value) -> String {
    short(&words::in_words(value)).into_owned()
}
