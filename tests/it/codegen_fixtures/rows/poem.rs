//! A row of which every column is a field, or nearly.

use crate::codegen_fixtures::rows::Day;

#[derive(Debug, Clone)]
pub struct Model {
    pub id: i64,
    pub title: String,
    pub motto: Option<String>,
    pub lines: i32,
    pub rhymes: bool,
    pub rating: Option<f64>,
    pub written_on: Day,
    pub read_on: Option<Day>,
    /// The field may not be null.
    pub dedication: Option<String>,
    /// The field is longer.
    pub form: String,
    pub author_id: i64,
    pub translator_id: Option<i64>,
}
