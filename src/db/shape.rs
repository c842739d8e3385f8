//! The texts of statements, remembered.
//!
//! To build the text of a statement takes as long as to run it. A statement that differs from an earlier one only in the
//! values of its parameters has the same text, and whoever builds it can say so: by its [`Shape`].

use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use foldhash::HashMap;
use sea_orm::sea_query::{SelectStatement, Values};
use sea_orm::{DbBackend, Statement, Value};

/// What the text of a statement follows from. Two statements of one shape differ in the values of their parameters and
/// in nothing else.
///
/// Its words are compared by where they are in the program, which is quick, and not letter for letter. The same word may be
/// in two places: then there are two shapes for one text.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// What the statement is for.
    pub name: &'static str,
    /// The tables and the columns that it is built of.
    pub columns: [(&'static str, &'static str); 5],
    /// What else it depends on.
    pub flags: u8,
}

impl Shape {
    fn words(&self) -> impl Iterator<Item = (*const u8, usize)> {
        let columns = self.columns.iter().flat_map(|(table, column)| [*table, *column]);
        columns.chain([self.name]).map(|word| (word.as_ptr(), word.len()))
    }
}

impl PartialEq for Shape {
    fn eq(&self, other: &Self) -> bool {
        self.flags == other.flags && self.words().eq(other.words())
    }
}

impl Eq for Shape {}

impl Hash for Shape {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.words().for_each(|(place, _)| place.hash(state));
        self.flags.hash(state);
    }
}

type Texts = HashMap<(Shape, How, bool), Arc<str>>;

/// The texts of statements, by what they follow from. There are as many as there are shapes in the program.
static TEXTS: LazyLock<RwLock<Texts>> = LazyLock::new(RwLock::default);

/// How the rows of several keys are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum How {
    /// Of no key, or one statement for each.
    Each,
    /// One statement for all.
    All,
    /// One that looks up each.
    Lateral,
}

/// A statement with these values. It is built only when the text of its shape is not known.
pub(super) fn statement(
    db_backend: DbBackend,
    how: How,
    shape: Option<Shape>,
    build: &dyn Fn() -> SelectStatement,
    values: Vec<Value>,
) -> Statement {
    let Some(shape) = shape else { return db_backend.build(&build()) };
    let place = (shape, how, db_backend == DbBackend::Postgres);
    let known = TEXTS.read().unwrap_or_else(PoisonError::into_inner).get(&place).cloned();
    let sql = match known {
        Some(sql) => sql,
        None => {
            let built = db_backend.build(&build());
            debug_assert_eq!(
                built.values.map(|values| values.0).unwrap_or_default(),
                values,
                "{shape:?}: {}",
                built.sql
            );
            let sql: Arc<str> = built.sql.into();
            TEXTS.write().unwrap_or_else(PoisonError::into_inner).entry(place).or_insert(sql).clone()
        }
    };
    Statement { sql: sql.as_ref().into(), values: Some(Values(values)), db_backend }
}
