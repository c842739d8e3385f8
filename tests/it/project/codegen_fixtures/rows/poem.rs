//! A row with columns that match the SDL's fields, one that does not, and one that a method overrides.

use crate::project::codegen_fixtures::rows::Day;

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
    /// Does not match: the SDL's field is not nullable.
    pub dedication: Option<String>,
    /// Matches, but a hand-written method overrides it.
    pub form: String,
    pub author_id: i64,
    pub translator_id: Option<i64>,
    /// Does not match: the SDL's field is not nullable.
    pub printer_id: Option<i64>,
}

/// What people may write, as an entity lists it. The generator reads it from this text.
#[allow(dead_code)]
#[derive(Debug)]
pub struct FieldRule(pub &'static str);

#[allow(dead_code)]
impl FieldRule {
    const fn text(name: &'static str) -> Self {
        Self(name)
    }

    const fn required(self) -> Self {
        self
    }
}

impl Model {
    #[allow(dead_code)]
    pub const FIELDS: &'static [FieldRule] = &[
        FieldRule::text("title").required(),
        FieldRule::text("motto"),
        FieldRule::text("lines"),
        FieldRule::text("dedication"),
        FieldRule::text("form").required(),
        FieldRule::text("rating"),
    ];
}
