//! Id sequences and savepoints, which sea-orm does not provide.

use sea_orm::DbBackend;
use sea_orm::sea_query::{Expr, ExprTrait, Query};

use super::{Error, Read, ReadHandle, Unrecorded, Write, WriteHandle};

/// The ids that the tables have given.
struct Sequences;

impl Unrecorded for Sequences {}

/// SQLite's table of the last ids.
const SEQUENCES: &str = "sqlite_sequence";

/// Returns the last id assigned in a table, or 0.
pub async fn last_id(db: &dyn ReadHandle, table: &str) -> Result<i64, Error> {
    let mut last = Query::select();
    match db.backend() {
        DbBackend::Postgres => {
            let last_value = Expr::case(Expr::col("is_called"), Expr::col("last_value")).finally(0_i64);
            last.expr(last_value).from(format!("{table}_id_seq"))
        }
        _ => last.column("seq").from(SEQUENCES).and_where(Expr::col("name").eq(table)),
    };
    Ok(db.rows(&last, |row| row.get(0)).await?.into_iter().next().unwrap_or(0))
}

/// Raises a table's id sequence to at least `last`. Never lowers it.
pub async fn give_ids_after(db: &dyn WriteHandle, table: &str, last: i64) -> Result<(), Error> {
    if last == 0 {
        return Ok(());
    }
    if db.backend() == DbBackend::Postgres {
        let sequence = format!("{table}_id_seq");
        let set = format!("SELECT setval('{sequence}', GREATEST({last}, (SELECT last_value FROM {sequence})))");
        return db.script(&set).await;
    }
    let name = || Expr::col("name").eq(table);
    let known = Query::select().column("seq").from(SEQUENCES).and_where(name()).take();
    let known = db.rows(&known, |row| row.get::<i64>(0)).await?.pop();
    let last = Ord::max(last, known.unwrap_or(0));
    db.execute::<Sequences>(Query::delete().from_table(SEQUENCES).and_where(name())).await?;
    let mut insert = Query::insert();
    insert.into_table(SEQUENCES).columns(["name", "seq"]).values_panic([Expr::value(table), Expr::value(last)]);
    db.execute::<Sequences>(&insert).await.map(drop)
}

/// Runs a part of a transaction in a savepoint. If it fails, only that part is rolled back.
pub async fn attempt<T, E: From<Error>>(
    db: &dyn WriteHandle,
    part: impl AsyncFnOnce() -> Result<T, E>,
) -> Result<T, E> {
    begin_part(db).await?;
    let done = part().await;
    let ended = end_part(db, done.is_ok()).await;
    // Report the first error, not that of the rollback.
    let done = done?;
    ended?;
    Ok(done)
}

/// Begins a part of a transaction. Parts can be nested.
pub async fn begin_part(db: &dyn WriteHandle) -> Result<(), Error> {
    db.script("SAVEPOINT part").await
}

/// Ends the part that began last, and rolls it back unless it is kept.
pub async fn end_part(db: &dyn WriteHandle, keep: bool) -> Result<(), Error> {
    if !keep {
        db.script("ROLLBACK TO SAVEPOINT part").await?;
    }
    db.script("RELEASE SAVEPOINT part").await
}
