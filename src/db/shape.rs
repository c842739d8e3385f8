//! Caches the texts of statements.
//!
//! Building the text of a statement takes as long as running it. Statements that differ only in their parameters have
//! the same text. The builder of a statement says so with a [`Shape`]. A debug build builds the text on each reuse as well,
//! and compares: a shape that leaves out what its text depends on fails in every test that meets it.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use foldhash::HashMap;
use sea_orm::sea_query::{SelectStatement, Values};
use sea_orm::{DbBackend, Statement, Value};

/// Identifies the text of a statement: two statements of the same shape differ only in the values of their parameters.
///
/// Names are compared by address, which is faster than comparing them by content. If the same name is stored at two
/// addresses, the text is merely cached twice.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// The purpose of the statement.
    pub name: &'static str,
    /// The tables and columns it uses.
    pub columns: [(&'static str, &'static str); 5],
    /// Anything else that the text depends on.
    pub flags: u8,
    /// What follows the built text.
    pub tail: &'static str,
}

impl Shape {
    fn words(&self) -> impl Iterator<Item = (*const u8, usize)> {
        let columns = self.columns.iter().flat_map(|(table, column)| [*table, *column]);
        columns.chain([self.name, self.tail]).map(|word| (word.as_ptr(), word.len()))
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

/// The texts by shape. Bounded by the number of shapes in the program.
static TEXTS: LazyLock<RwLock<Texts>> = LazyLock::new(RwLock::default);

/// How a statement selects the rows of its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum How {
    /// By no key, or by one key.
    Each,
    /// By one key at a time: the statement runs once for each, and does not select the key.
    Again,
    /// By a list of keys.
    All,
    /// By a lateral join over the keys.
    Lateral,
}

/// Returns the statement with these values. Builds its text only if it is not cached.
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
        Some(sql) => {
            debug_assert_eq!(*text(db_backend, shape, build, &values), *sql, "{shape:?} has two texts");
            sql
        }
        None => {
            let sql = text(db_backend, shape, build, &values);
            TEXTS.write().unwrap_or_else(PoisonError::into_inner).entry(place).or_insert(sql).clone()
        }
    };
    Statement { sql: sql.as_ref().into(), values: Some(Values(values)), db_backend }
}

/// Builds the text of a statement of this shape, whose parameters are `values`.
fn text(db_backend: DbBackend, shape: Shape, build: &dyn Fn() -> SelectStatement, values: &[Value]) -> Arc<str> {
    let mut built = db_backend.build(&build());
    built.sql.push_str(shape.tail);
    debug_assert_eq!(built.values.map_or_else(Vec::new, |built| built.0), values, "{shape:?}: {}", built.sql);
    built.sql.into()
}
