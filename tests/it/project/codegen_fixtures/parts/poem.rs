//! A row with groups of columns that lists leave out.

use crate::project::codegen_fixtures::parts::Day;

#[derive(Debug, Clone)]
pub struct Model {
    pub id: i64,
    pub title: String,
    pub form: String,
    pub written_on: Day,
    pub read_on: Option<Day>,
    pub motto: Option<String>,
    pub dedication: Option<String>,
    pub lines: Option<i32>,
    pub author_id: Option<i64>,
    /// Nothing generated can name its type.
    pub ink: Ink,
}

#[derive(Debug, Clone)]
pub struct Ink {
    pub is_dry: bool,
}

/// The generator reads the groups from the text of the macro's call.
macro_rules! column_groups {
    ($($groups:tt)*) => {
        stringify!($($groups)*)
    };
}

impl Model {
    #[allow(dead_code)]
    pub const GROUPS: &'static str = column_groups! {
        texts: Motto, Dedication, Lines;
        keys: AuthorId;
    };
}
