//! Caches the texts of statements.
//!
//! Building the text of a statement takes as long as running it. Statements that differ only in their parameters have
//! the same text. A [`Shape`] holds all that such a text depends on: its builder is a function that gets nothing else, and is
//! a part of the key. So a text is never used for a statement of another kind.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use foldhash::HashMap;
use sea_orm::sea_query::{Asterisk, Expr, ExprTrait, Func, JoinType, Query, SelectStatement, Values};
use sea_orm::{DbBackend, Statement, Value};

use super::row::KEY;

/// Builds a statement from its shape alone, and from the condition on the key if it selects by keys. The values of its
/// parameters may be any: they are given with each use. The condition must hold the first parameter.
pub type Build = fn(&Shape, Option<Expr>) -> SelectStatement;

/// Identifies the text of a statement: two statements of the same shape differ only in the values of their parameters.
///
/// Names are compared by address, which is faster than comparing them by content. If the same name is stored at two
/// addresses, the text is merely cached twice.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Builds it.
    pub build: Build,
    /// The tables and columns it uses. If it selects by keys, the first is that of the key.
    pub columns: [(&'static str, &'static str); 7],
    /// Anything else that the text depends on.
    pub flags: u8,
    /// What follows the built text.
    pub tail: &'static str,
}

impl Shape {
    fn words(&self) -> impl Iterator<Item = (*const u8, usize)> {
        let columns = self.columns.iter().flat_map(|(table, column)| [*table, *column]);
        columns.chain([self.tail]).map(|word| (word.as_ptr(), word.len()))
    }

    /// The address of the builder. Two functions share one only if they are the same code.
    fn builder(&self) -> usize {
        self.build as usize
    }
}

impl PartialEq for Shape {
    fn eq(&self, other: &Self) -> bool {
        self.builder() == other.builder() && self.flags == other.flags && self.words().eq(other.words())
    }
}

impl Eq for Shape {}

impl Hash for Shape {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.words().for_each(|(place, _)| place.hash(state));
        self.builder().hash(state);
        self.flags.hash(state);
    }
}

type Texts = HashMap<(Shape, Option<How>, bool), Arc<str>>;

/// The texts by shape. Bounded by the number of shapes in the program.
static TEXTS: LazyLock<RwLock<Texts>> = LazyLock::new(RwLock::default);

/// How a statement selects the rows of its keys, if it selects by keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum How {
    /// By one key.
    Each,
    /// By one key at a time: the statement runs once for each, and does not select the key.
    Again,
    /// By a list of keys.
    All,
    /// By a lateral join over the keys.
    Lateral,
}

/// The alias of the keys in a lateral join.
const JOINED: &str = "joined_key";

/// Returns a statement of this shape with these values, which selects by no key.
pub(super) fn whole(db_backend: DbBackend, shape: Shape, values: Vec<Value>) -> Statement {
    cached(db_backend, None, shape, values)
}

/// Returns a statement of this shape, which selects by keys. `values` begin with the keys.
pub(super) fn keyed(db_backend: DbBackend, how: How, shape: Shape, values: Vec<Value>) -> Statement {
    cached(db_backend, Some(how), shape, values)
}

/// Selects the rows of keys. `build` gets the condition on the key, whose column is `key`. `selected` is the same column,
/// as `SELECT` names it.
pub(super) fn of_keys(
    db_backend: DbBackend,
    how: How,
    build: &dyn Fn(Expr) -> SelectStatement,
    (key, selected): (&Expr, &Expr),
    keys: &[i64],
) -> SelectStatement {
    let first = keys.first().copied().unwrap_or_default();
    let with_key = |condition: Expr| build(condition).expr_as(selected.clone(), KEY).take();
    match how {
        How::Again => build(key.clone().eq(first)),
        How::Each => with_key(key.clone().eq(first)),
        How::All => with_key(super::is_any(db_backend, key.clone(), keys)),
        How::Lateral => {
            let all = Func::cust("UNNEST").arg(Expr::value(super::list(db_backend, keys)));
            let one = with_key(key.clone().eq(Expr::col(JOINED)));
            Query::select()
                .column(("one", Asterisk))
                .from_function(all, JOINED)
                .join_lateral(JoinType::InnerJoin, one, "one", Expr::cust("TRUE"))
                .take()
        }
    }
}

/// Builds the text only if it is not cached.
fn cached(db_backend: DbBackend, how: Option<How>, shape: Shape, values: Vec<Value>) -> Statement {
    let place = (shape, how, db_backend == DbBackend::Postgres);
    let known = TEXTS.read().unwrap_or_else(PoisonError::into_inner).get(&place).cloned();
    let sql = match known {
        Some(sql) => sql,
        None => {
            let (sql, parameters) = text(db_backend, how, &shape);
            debug_assert_eq!(parameters, values.len(), "{shape:?}: {sql}");
            TEXTS.write().unwrap_or_else(PoisonError::into_inner).entry(place).or_insert(sql).clone()
        }
    };
    Statement { sql: sql.as_ref().into(), values: Some(Values(values)), db_backend }
}

/// Builds the text of a statement of this shape, and counts its parameters.
fn text(db_backend: DbBackend, how: Option<How>, shape: &Shape) -> (Arc<str>, usize) {
    let built = match how {
        None => (shape.build)(shape, None),
        Some(how) => {
            let key = Expr::col(shape.columns[0]);
            let build = |condition: Expr| (shape.build)(shape, Some(condition));
            of_keys(db_backend, how, &build, (&key, &key), &[0])
        }
    };
    let mut built = db_backend.build(&built);
    built.sql.push_str(shape.tail);
    (built.sql.into(), built.values.map_or(0, |values| values.0.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(_: &Shape, _: Option<Expr>) -> SelectStatement {
        Query::select().expr(Expr::col("name")).from("tier").take()
    }

    fn of_shape(shape: &Shape, condition: Option<Expr>) -> SelectStatement {
        let mut rows = Query::select();
        rows.expr(Expr::col(shape.columns[1])).from(shape.columns[1].0).and_where_option(condition);
        rows
    }

    fn shape(build: Build, column: &'static str) -> Shape {
        let mut columns = [("", ""); 7];
        columns[0] = ("tier", "id");
        columns[1] = ("tier", column);
        Shape { build, columns, flags: 0, tail: "" }
    }

    #[test]
    fn a_text_belongs_to_its_builder_and_to_all_that_the_builder_gets() {
        let backend = DbBackend::Sqlite;
        // The second time, they are cached.
        for _ in 0..2 {
            let text = |build: Build, column| whole(backend, shape(build, column), Vec::new()).sql;
            assert_eq!(text(names, "alias"), "SELECT \"name\" FROM \"tier\"");
            assert_eq!(text(of_shape, "alias"), "SELECT \"tier\".\"alias\" FROM \"tier\"");
            assert_eq!(text(of_shape, "index"), "SELECT \"tier\".\"index\" FROM \"tier\"");
            let again = keyed(backend, How::Again, shape(of_shape, "index"), vec![3_i64.into()]);
            assert_eq!(again.sql, "SELECT \"tier\".\"index\" FROM \"tier\" WHERE \"tier\".\"id\" = ?");
            assert_eq!(again.values, Some(Values(vec![3_i64.into()])));
        }
    }
}
