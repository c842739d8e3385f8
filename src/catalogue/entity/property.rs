//! Properties: the values of property definitions for services and teams.
//!
//! The database enforces that exactly one owner is set, and that an owner has at most one value per definition.

use serde_json::Value as Json;

use super::prelude::*;
use super::{property_definition, service};

super::table! {
    "property";

    /// The definition.
    pub definition_id: i64,
    /// The owner, if it is a service.
    pub service_id: Option<i64>,
    /// The owner, if it is a team.
    pub team_id: Option<i64>,
    /// The value, as the JSON text that was given.
    pub value: String,
    /// The text by which the value is found: see [`search_key`].
    pub search_key: String,
    /// [`BY_FILE`](super::BY_FILE) if a service file wrote the value, else null.
    pub written_by: Option<String>,
}

impl Table for Entity {
    const TOLD: Told = Told::Alone("Property");
    const LIST: Option<&'static str> = Some("properties");
    const UNTOLD: &'static [Column] = &[Column::SearchKey, Column::WrittenBy];

    fn owner(row: &Model) -> Owner {
        let of_team = row.team_id.map(Owner::Team);
        of_team.or(Owner::row::<service::Entity>(row.service_id)).unwrap_or(Owner::Nobody)
    }

    fn entry(row: &Model) -> Entry {
        let definition = RowOf::new::<property_definition::Entity>(row.definition_id);
        Entry { name: vec![Word::NameOf(definition)], value: Some(row.value.clone()) }
    }
}

/// Sets the value of a row. `text` is the JSON text of `value`. `written_by` is null, or [`BY_FILE`](super::BY_FILE).
pub fn set_value(row: &mut ActiveModel, text: String, value: &Json, written_by: Option<&str>) {
    row.search_key = Set(search_key(value));
    row.value = Set(text);
    row.written_by = Set(written_by.map(str::to_owned));
}

/// Returns the text by which a value is found: the text itself, or the JSON text of any other value. It is truncated to
/// [`text::SHORT`] characters to fit into an index.
pub fn search_key(value: &Json) -> String {
    match value {
        Json::String(text) => cut(text),
        other => cut(&other.to_string()),
    }
}

/// Truncates a text to fit into an index. Removes NUL, which PostgreSQL cannot store.
fn cut(text: &str) -> String {
    text.chars().filter(|letter| *letter != '\0').take(text::SHORT).collect()
}
