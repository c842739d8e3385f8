//! Comparisons of texts. SQLite's `LIKE` ignores the case of ASCII letters, so comparisons by code point do not use it.

use sea_orm::DbBackend;
use sea_orm::sea_query::{Expr, ExprTrait, Func, LikeExpr};

use super::Backend;

/// The condition that a text contains another.
pub fn contains(db: &dyn Backend, text: Expr, part: &str) -> Expr {
    match db.backend() {
        DbBackend::Postgres => text.like(pattern("%", part, "%")),
        _ => Expr::cust_with_exprs("instr(?, ?) > 0", [text, Expr::value(part)]),
    }
}

/// The condition that a text begins with another.
pub fn begins_with(db: &dyn Backend, text: Expr, part: &str) -> Expr {
    match db.backend() {
        DbBackend::Postgres => text.like(pattern("", part, "%")),
        _ => Expr::cust_with_exprs("substr(?, 1, ?)", [text, length(part)]).eq(part),
    }
}

/// The condition that a text ends with another.
pub fn ends_with(db: &dyn Backend, text: Expr, part: &str) -> Expr {
    match db.backend() {
        DbBackend::Postgres => text.like(pattern("%", part, "")),
        // `substr(x, 0)` is the whole text.
        _ if part.is_empty() => text.is_not_null(),
        _ => Expr::cust_with_exprs("substr(?, -?)", [text, length(part)]).eq(part),
    }
}

/// The condition that a text contains another, ignoring the case of ASCII letters.
pub fn contains_in_any_case(db: &dyn Backend, text: Expr, part: &str) -> Expr {
    lower(db, text).like(pattern("%", &part.to_ascii_lowercase(), "%"))
}

/// The text with its ASCII letters in lower case, compared by code point, on both backends. Without `COLLATE "C"`,
/// PostgreSQL's `lower` also changes other letters, by the locale of the database. Lists are ordered by this expression,
/// and migrations create indexes on it.
pub fn lower(db: &dyn Backend, text: Expr) -> Expr {
    match db.backend() {
        DbBackend::Postgres => Expr::cust_with_exprs(r#"lower($1 COLLATE "C")"#, [text]),
        _ => Func::lower(text).into(),
    }
}

fn length(text: &str) -> Expr {
    Expr::value(i64::try_from(text.chars().count()).unwrap_or(i64::MAX))
}

/// A `LIKE` pattern that matches `text` literally between two wildcards or nothing.
fn pattern(before: &str, text: &str, behind: &str) -> LikeExpr {
    let text = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    LikeExpr::new(format!("{before}{text}{behind}")).escape('\\')
}
