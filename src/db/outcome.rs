//! Finds the outcome of a transaction whose commit PostgreSQL did not confirm.

use std::time::{Duration, Instant};

use sea_orm::sea_query::{Expr, SelectStatement};
use sea_orm::{DbBackend, DbErr, Statement};
use tokio::time::sleep;

use super::refusal::{STALLED, UNCERTAIN};
use super::{Backend, Db, Read};

/// How long to look for the outcome. The server may have to restart first.
const SEARCH: Duration = Duration::from_secs(5);

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(100);

/// The id of the current transaction, for [`Db::outcome`]. SQLite has none: its commits are never uncertain.
pub fn transaction_id(db: &impl Backend) -> Option<Expr> {
    (db.backend() == DbBackend::Postgres).then(|| Expr::cust("pg_current_xact_id()::text"))
}

impl Db {
    /// Finds out whether a transaction whose commit was not confirmed was committed. `row` must select a row that the
    /// transaction wrote and that nobody removes. Fails as unavailable if the transaction was rolled back, and as
    /// [uncertain](super::uncertain) if the outcome cannot be found.
    pub async fn outcome(&self, transaction: &str, row: &SelectStatement) -> Result<(), DbErr> {
        let (db, began) = (self.reserved(), Instant::now());
        while began.elapsed() < SEARCH {
            // The row decides: after a failover, the number may be another transaction's.
            if db.read.rows(row, |_| Ok(())).await.is_ok_and(|rows| !rows.is_empty()) {
                return Ok(());
            }
            if db.was_rolled_back(transaction).await.unwrap_or_default() {
                return Err(DbErr::Custom(STALLED.to_owned()));
            }
            sleep(PAUSE).await;
        }
        Err(DbErr::Custom(UNCERTAIN.to_owned()))
    }

    async fn was_rolled_back(&self, transaction: &str) -> Result<bool, DbErr> {
        let query = "SELECT pg_xact_status($1::xid8)";
        let query = Statement::from_sql_and_values(DbBackend::Postgres, query, [transaction.into()]);
        let status = self.read.rows_by(query, |row| row.get::<Option<String>>(0)).await?.pop();
        Ok(status.flatten().as_deref() == Some("aborted"))
    }
}
