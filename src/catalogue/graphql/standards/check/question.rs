//! What a check asks of the catalogue: conditions on a row of `service`, as SQL.

use sea_orm::sea_query::{ExprTrait, Func, SelectStatement};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::entity::{check, service};
use crate::graphql::filter::predicate::Rows;
use crate::graphql::prelude::*;

/// What a question is asked with.
#[derive(Clone, Copy)]
pub(super) struct Facts<'a> {
    pub(super) db: &'a dyn ReadHandle,
    /// The services that are evaluated; `None` for all. A comparison that SQL lacks reads the texts of these alone.
    pub(super) only: Option<&'a [i64]>,
    pub(super) now: Timestamp,
}

/// The question of a check, as SQL over a row of `service`.
pub(super) struct Question {
    /// The condition that the service passes.
    pub(super) passed: Expr,
    /// The condition that nothing is known of a service that does not pass.
    pub(super) pending: Option<Expr>,
    /// What was found: a text, or null if there is nothing.
    pub(super) found: Expr,
}

/// The maximum length of what was found, in characters.
pub(super) const FOUND: u32 = 200;

impl Question {
    pub(super) fn new(passed: Expr, found: Expr) -> Self {
        Self { passed, pending: None, found: shown(found) }
    }
}

/// A value as a text that a message can quote.
fn shown(value: Expr) -> Expr {
    let (first, most) = (Expr::cust("1"), Expr::cust(FOUND.to_string()));
    Func::cust("substr").arg(value.cast_as("text")).arg(first).arg(most).into()
}

/// The parameters of a kind of check, and what it asks and says.
pub(super) trait Asks: Default + Serialize + DeserializeOwned + Send + Sync {
    /// What a service must have to pass, as a noun with what belongs to it: `a tag env`.
    fn wanted(&self) -> String;

    /// What was found of a service, as a sentence. `found` is [`Question::found`].
    fn said(&self, found: Option<&str>) -> String;

    /// The question of `check`, which has these parameters. A user error says why it cannot be evaluated.
    fn question(&self, check: &check::Model, facts: Facts<'_>) -> impl Future<Output = Result<Question>> + Send;
}

/// The value `own` of the first row of the service among `rows`, or null.
pub(super) fn first(rows: &Rows, own: Expr) -> Expr {
    let mut select = own_rows(rows);
    db::scalar(select.expr(own).limit(1).take())
}

/// The number of the service's rows among `rows`.
pub(super) fn count(rows: &Rows) -> Expr {
    aggregate(rows, Func::count(Expr::cust("*")).into())
}

/// An aggregate, such as a sum, of the service's rows among `rows`.
pub(super) fn aggregate(rows: &Rows, own: Expr) -> Expr {
    let mut select = own_rows(rows);
    db::scalar(select.expr(own).take())
}

/// Selects the service's rows among `rows`, without columns yet.
pub(super) fn own_rows(rows: &Rows) -> SelectStatement {
    let mut select = rows.from.clone();
    select.and_where(rows.owner.clone().eq(service::Column::Id.into_expr())).take()
}
