//! Properties: the values that services and teams have for property definitions.
//!
//! The database makes sure that exactly one of the owners is set, and that an owner has one value for a definition.

use sea_orm::Set;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Expr, ExprTrait, Func, LikeExpr, Query, SelectStatement};
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

/// What a service's value for a definition must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition<'a> {
    /// Anything: the service has a value.
    Exists,
    /// A text that is this, or a number, flag, list or object whose compact JSON text is this. Only the first
    /// [`text::SHORT`] characters count.
    Equals(&'a str),
    /// A value whose [`search_key`] contains this, whatever the case of letters of ASCII.
    Contains(&'a str),
}

/// Selects the keys of the services whose value for a definition meets a condition: a subquery for lists of services. The
/// index `property_by_definition` answers it; `Contains` looks at all values of the definition.
pub fn services_with(definition: i64, condition: Condition<'_>) -> SelectStatement {
    let mut services = Query::select();
    services.column(Column::ServiceId).from(Entity).and_where(Column::DefinitionId.eq(definition));
    services.and_where(Column::ServiceId.is_not_null());
    match condition {
        Condition::Exists => {}
        Condition::Equals(text) => drop(services.and_where(Column::SearchKey.eq(cut(text)))),
        Condition::Contains(text) => {
            let mut pattern = String::from("%");
            for letter in cut(text).to_ascii_lowercase().chars() {
                if matches!(letter, '%' | '_' | '\\') {
                    pattern.push('\\');
                }
                pattern.push(letter);
            }
            pattern.push('%');
            let key = Func::lower(Expr::col(Column::SearchKey));
            services.and_where(Expr::expr(key).like(LikeExpr::new(pattern).escape('\\')));
        }
    }
    services
}
