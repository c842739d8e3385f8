//! Properties: the values that services and teams have for property definitions.
//!
//! The database makes sure that exactly one of the owners is set, and that an owner has one value for a definition.

use sea_orm::Set;
use sea_orm::entity::prelude::*;
use serde::Deserialize;
use serde_json::Value as Json;

use super::text;

/// A row of `property`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "property")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The definition that it is a value for.
    pub definition_id: i64,
    /// The service that has it, or
    pub service_id: Option<i64>,
    /// the team.
    pub team_id: Option<i64>,
    /// The value, as JSON text as it was given.
    pub value: String,
    /// What the value is found by: see [`search_key`].
    pub search_key: String,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// Sets the value of a row: `text` is the JSON text of `value`.
pub fn set_value(row: &mut ActiveModel, text: String, value: &Json) {
    row.search_key = Set(search_key(value));
    row.value = Set(text);
}

/// What a value is found by: the text itself, or the JSON text of anything else, cut to [`text::SHORT`] characters so that
/// an index takes it.
pub fn search_key(value: &Json) -> String {
    match value {
        Json::String(text) => cut(text),
        other => cut(&other.to_string()),
    }
}

/// Cut to what an index takes, without the one character that no database text may hold.
fn cut(text: &str) -> String {
    text.chars().filter(|letter| *letter != '\0').take(text::SHORT).collect()
}
