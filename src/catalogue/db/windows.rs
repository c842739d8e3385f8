//! Counts the requests of callers across all processes, in windows of a fixed length. The server's clock decides when a
//! window ends.

use std::time::Duration;

use futures_util::future::BoxFuture;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, DbBackend, IdenStatic, Iterable, QueryFilter, QueryTrait, Statement, Value};

use super::write::Write;
use super::{Backend, Db, Error, Read, Row, Table};

/// The window of a caller, including this request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// The number of requests in the window.
    pub requests: u32,
    /// The time until the window ends.
    pub rest: Duration,
}

/// The longest window: that of an address.
pub const LONGEST_WINDOW: Duration = Duration::from_secs(5 * 60);

/// The server's time in microseconds.
const NOW: &str = "(extract(epoch FROM statement_timestamp()) * 1000000)::bigint";

/// The number of windows removed in one statement.
const BATCH: u64 = 500;

impl Db {
    /// Whether several processes may serve this database, so that they count together.
    pub fn is_shared(&self) -> bool {
        self.read.backend() == DbBackend::Postgres
    }

    /// Counts `by` requests of a caller.
    pub fn count<'f>(&'f self, key: &'f str, by: u32, window: Duration) -> BoxFuture<'f, Result<Counted, Error>> {
        Box::pin(async move {
            let count = count("VALUES ($1, $NOW, $2::bigint)", window);
            let values = [Value::from(key), i64::from(by).into()];
            let statement = Statement::from_sql_and_values(DbBackend::Postgres, count, values);
            let counted = self.read.rows_by(statement, |row| Counted::read(row, 0)).await?.pop();
            counted.ok_or_else(|| Error::fault("the window of a caller"))
        })
    }

    /// Reads the row whose `column` has this value, and counts a request for it in the same statement. The key of the
    /// window is `kind` followed by the row's id.
    pub async fn one_and_count<E: Table>(
        &self,
        column: E::Column,
        value: Value,
        kind: &str,
        window: Duration,
    ) -> Result<Option<(E::Model, Counted)>, Error> {
        let mut select = E::find().filter(column.eq(value)).into_query();
        select.exprs(["requests", "rest"].map(|part| Expr::col(("counted", part)))).from("counted");
        let mut statement = DbBackend::Postgres.build(&select);
        let (table, column) = (E::default().table_name(), column.as_str());
        let of_row = format!("SELECT '{kind} ' || id, $NOW, 1 FROM \"{table}\" WHERE \"{column}\" = $1");
        statement.sql = format!("WITH counted AS ({}) {}", count(&of_row, window), statement.sql);
        let columns = E::Column::iter().count();
        let read = move |row: &Row<'_>| Ok((row.model::<E>()?, Counted::read(row, columns)?));
        Ok(self.read.rows_by(statement, read).await?.pop())
    }

    /// Removes some windows that began before `before`, in microseconds since 1970, and returns their number.
    pub async fn remove_windows(&self, before: i64) -> Result<u64, Error> {
        let old = format!(
            "DELETE FROM rate_limit_window WHERE key IN (SELECT key FROM rate_limit_window WHERE began_at < $1 \
             ORDER BY began_at LIMIT {BATCH} FOR UPDATE SKIP LOCKED)"
        );
        let old = Statement::from_sql_and_values(DbBackend::Postgres, old, [before.into()]);
        self.write(async |tx| tx.change_untyped(old).await).await
    }
}

impl Counted {
    /// Reads the columns that [`count`] returns, from this position on.
    fn read(row: &Row<'_>, place: usize) -> Result<Self, Error> {
        let (requests, rest): (i64, i64) = (row.get(place)?, row.get(place + 1)?);
        let rest = Duration::from_micros(u64::try_from(rest).unwrap_or_default());
        Ok(Self { requests: u32::try_from(requests).unwrap_or(u32::MAX), rest })
    }
}

/// The statement that counts the requests that `of` selects: a key, the time and a number.
fn count(of: &str, window: Duration) -> String {
    let window = window.as_micros();
    let has_ended = format!("w.began_at + {window} <= excluded.began_at");
    let insert = format!(
        "INSERT INTO rate_limit_window AS w (key, began_at, requests) {of} ON CONFLICT (key) DO UPDATE SET \
         requests = excluded.requests + CASE WHEN {has_ended} THEN 0 ELSE w.requests END, \
         began_at = CASE WHEN {has_ended} THEN excluded.began_at ELSE w.began_at END \
         RETURNING requests, began_at + {window} - $NOW AS rest"
    );
    insert.replace("$NOW", NOW)
}
