//! The search index of services: the folded names and aliases of each service, indexed by their grams.
//!
//! A gram is one, two or three adjacent letters. A search looks up the grams of its text, so that one letter costs as
//! little as many, in every script. SQLite has a full-text index of grams and their positions, which finds a text as a
//! phrase. PostgreSQL has an index of arrays of hashed grams. What that finds is compared with the text. Neither needs
//! an extension or a locale.
//!
//! The program writes and reads the index through the functions below. They belong to this migration: another form
//! takes another migration.

use std::collections::BTreeSet;
use std::fmt::Write;

use sea_orm_migration::prelude::extension::postgres::PgExpr;
use sea_orm_migration::prelude::extension::sqlite::SqliteExpr;
use sea_orm_migration::{prelude::*, schema::*, sea_orm};

use sea_orm::sea_query::ArrayType;
use sea_orm::{ConnectionTrait, DbBackend, Value};

use crate::BulkInsert;
use crate::Done;
use crate::ddl::cascade;

/// The name of the table on both backends.
const TABLE: &str = "service_search";
/// The separator of a service's texts. A folded text does not contain it.
const BETWEEN: char = '\n';
/// The number of services indexed at once.
const BATCH: u64 = 500;

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let db = manager.get_connection();
        if manager.get_database_backend() != DbBackend::Postgres {
            db.execute_unprepared(
                "CREATE VIRTUAL TABLE service_search \
                 USING fts5(grams, content = '', contentless_delete = 1, tokenize = 'ascii')",
            )
            .await?;
            db.execute_unprepared(
                "CREATE TRIGGER service_search_of_deleted AFTER DELETE ON service \
                 BEGIN DELETE FROM service_search WHERE rowid = OLD.id; END",
            )
            .await?;
            return fill(db).await;
        }
        let table = Table::create()
            .table(TABLE)
            .col(big_integer("service_id").primary_key())
            .col(text("folded"))
            .col(array("grams", ColumnType::Integer))
            .foreign_key(&mut cascade(TABLE, "service_id", "service"))
            .take();
        manager.create_table(table).await?;
        fill(db).await?;
        // Every search reads the index's list of pending entries, so the list is short.
        db.execute_unprepared(
            "CREATE INDEX service_search_by_gram ON service_search USING gin (grams) WITH (gin_pending_list_limit = 256)",
        )
        .await?;
        // The frequency of a gram decides between this index and the index for the order of the services.
        db.execute_unprepared("ANALYZE service_search").await.map(drop)
    })
}

/// Indexes the existing services.
async fn fill(db: &SchemaManagerConnection<'_>) -> Result<(), DbErr> {
    let mut after = 0;
    loop {
        let services = page(db, &mut after).await?;
        if services.is_empty() {
            return Ok(());
        }
        db.execute(&insert(db.get_database_backend(), services)).await?;
    }
}

/// Reads the next services after the id `after`, with their texts, and moves `after` to the last of them.
async fn page<C: ConnectionTrait>(db: &C, after: &mut i64) -> Result<Vec<(i64, Vec<String>)>, DbErr> {
    let mut services = Query::select();
    services.columns(["id", "name"]).from("service").and_where(Expr::col("id").gt(*after)).limit(BATCH);
    let services = db.query_all(services.order_by("id", Order::Asc)).await?;
    let mut rows = Vec::with_capacity(services.len());
    for service in services {
        rows.push((service.try_get::<i64>("", "id")?, vec![service.try_get::<String>("", "name")?]));
    }
    let Some((last, _)) = rows.last() else { return Ok(rows) };
    let mut aliases = Query::select();
    aliases.columns(["service_id", "value"]).from("service_alias");
    aliases.and_where(Expr::col("service_id").gt(*after)).and_where(Expr::col("service_id").lte(*last));
    *after = *last;
    for alias in db.query_all(&aliases).await? {
        let owner = alias.try_get::<i64>("", "service_id")?;
        if let Ok(place) = rows.binary_search_by_key(&owner, |(id, _)| *id) {
            rows[place].1.push(alias.try_get("", "value")?);
        }
    }
    Ok(rows)
}

/// The statement that writes the texts by which services are found. It replaces what was written for these services
/// before. There must be a service, and each must occur only once.
pub fn insert(backend: DbBackend, services: Vec<(i64, Vec<String>)>) -> InsertStatement {
    let mut insert = Query::insert();
    insert.into_table(TABLE).columns(columns(backend).iter().copied());
    for (id, texts) in services {
        insert.values_panic(values(backend, id, &texts).map(Expr::value));
    }
    if backend == DbBackend::Postgres {
        insert.on_conflict(OnConflict::column("service_id").update_columns(["folded", "grams"]).to_owned());
    } else {
        insert.replace();
    }
    insert
}

/// Derives the whole index again, after many rows have been stored by other means. Reads the services page by page, so
/// its memory does not depend on their number.
pub async fn rebuild<C: BulkInsert>(db: &C) -> Result<(), DbErr> {
    let backend = db.get_database_backend();
    if backend == DbBackend::Postgres {
        // Wait for writers of this table, and let no other begin.
        db.execute_unprepared("LOCK TABLE service_search IN SHARE ROW EXCLUSIVE MODE").await?;
    }
    db.execute_unprepared("DELETE FROM service_search").await?;
    let mut after = 0;
    loop {
        let services = page(db, &mut after).await?;
        if services.is_empty() {
            return Ok(());
        }
        let rows = services.into_iter().flat_map(|(id, texts)| values(backend, id, &texts)).collect();
        db.insert_rows(TABLE, columns(backend), rows).await?;
    }
}

/// The columns of a row of the index.
fn columns(backend: DbBackend) -> &'static [&'static str] {
    if backend == DbBackend::Postgres { &["service_id", "folded", "grams"] } else { &["rowid", "grams"] }
}

/// The values of these columns for a service.
fn values(backend: DbBackend, id: i64, texts: &[String]) -> std::vec::IntoIter<Value> {
    let texts = distinct(texts);
    let values = match backend {
        DbBackend::Postgres => {
            let grams: BTreeSet<i32> = texts.iter().flat_map(|text| grams(text, 1..=3)).map(hash).collect();
            vec![id.into(), texts.join(&BETWEEN.to_string()).into(), array_of(grams)]
        }
        _ => vec![id.into(), document(&texts).into()],
    };
    values.into_iter()
}

/// Selects the services that have a text which contains this one, each once. Also returns the column of their ids.
pub fn containing(backend: DbBackend, text: &str) -> (SelectStatement, Expr) {
    let text = fold(text);
    let letters = text.chars().count().clamp(1, 3);
    let grams = grams(&text, letters..=letters);
    let mut select = Query::select();
    select.from(TABLE);
    if backend == DbBackend::Postgres {
        let id = Expr::col((TABLE, "service_id"));
        let grams: BTreeSet<i32> = grams.map(hash).collect();
        select.expr(id.clone());
        select.and_where(Expr::col((TABLE, "grams")).contains(Expr::value(array_of(grams))));
        select.and_where(contains(TABLE, text));
        return (select, id);
    }
    let id = Expr::col((TABLE, "rowid"));
    let mut phrase = String::new();
    for gram in grams {
        let _ = write!(phrase, "{gram:x} ");
    }
    select.expr(id.clone()).and_where(SqliteExpr::matches(Expr::col(TABLE), format!("\"{}\"", phrase.trim_end())));
    (select, id)
}

/// Selects the services that [`containing`] selects on PostgreSQL, but only among the next `among` services after an id,
/// in the order of their ids.
pub fn next_containing(text: &str, after: i64, among: u64, most: u64) -> SelectStatement {
    const NEXT: &str = "next";
    let mut next = Query::select();
    next.columns(["service_id", "folded"]).from(TABLE).and_where(Expr::col("service_id").gt(after));
    next.order_by("service_id", Order::Asc).limit(among);
    let mut select = Query::select();
    select.column((NEXT, "service_id")).from_subquery(next, NEXT).and_where(contains(NEXT, fold(text)));
    select.order_by((NEXT, "service_id"), Order::Asc).limit(most).take()
}

/// The condition that the texts of a row on PostgreSQL contain a folded text.
fn contains(table: &'static str, folded: String) -> Expr {
    let place = Func::cust("strpos").args([Expr::col((table, "folded")), folded.into()]);
    Expr::from(place).gt(0)
}

/// Folds the letter case of a text in every script, so that `Straße` and `STRASSE` are the same. Also replaces the
/// separator by a space.
fn fold(text: &str) -> String {
    let capitals = text.chars().flat_map(char::to_uppercase);
    capitals.flat_map(char::to_lowercase).map(|letter| if letter == BETWEEN { ' ' } else { letter }).collect()
}

/// The folded texts, each once.
fn distinct(texts: &[String]) -> Vec<String> {
    let texts: BTreeSet<String> = texts.iter().map(|text| fold(text)).collect();
    texts.into_iter().collect()
}

/// The grams of a folded text, for each of these numbers of letters, in order. Each letter takes 21 bits of a gram.
fn grams(text: &str, letters: std::ops::RangeInclusive<usize>) -> impl Iterator<Item = u64> {
    let text: Vec<u64> = text.chars().map(|letter| u64::from(u32::from(letter))).collect();
    letters.flat_map(move |letters| {
        let gram = |letters: &[u64]| letters.iter().fold(0, |gram, letter| gram << 21 | letter);
        text.windows(letters).map(gram).collect::<Vec<u64>>()
    })
}

/// Hashes a gram for PostgreSQL's arrays. Two grams may have the same hash, so the texts found are compared.
fn hash(gram: u64) -> i32 {
    let mixed = gram.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    i32::from_ne_bytes(((mixed >> 32) as u32).to_ne_bytes())
}

fn array_of(grams: BTreeSet<i32>) -> Value {
    Value::Array(ArrayType::Int, Some(Box::new(grams.into_iter().map(Value::from).collect())))
}

/// The document that SQLite's full-text index gets for texts. It holds the grams of three letters of each text in
/// order, followed by a separator, and then all shorter grams, each once.
fn document(texts: &[String]) -> String {
    let mut document = String::new();
    for text in texts {
        for gram in grams(text, 3..=3) {
            let _ = write!(document, "{gram:x} ");
        }
        // Not a hexadecimal digit, so not a gram.
        document.push_str("x ");
    }
    let short: BTreeSet<u64> = texts.iter().flat_map(|text| grams(text, 1..=2)).collect();
    for gram in short {
        let _ = write!(document, "{gram:x} ");
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letter_case_is_folded_in_every_script() {
        for (one, other) in [
            ("SHOPPING Cart", "shopping cart"),
            ("ÄRGER", "ärger"),
            ("STRASSE", "straße"),
            ("ΟΔΟΣ", "οδος"),
            ("ПЛАТЕЖ", "платеж"),
            ("\u{212A}ate", "kate"),
            ("ǅungla", "ǆungla"),
        ] {
            assert_eq!(fold(one), fold(other));
            assert_eq!(fold(&fold(one)), fold(one), "{one}");
        }
        assert_ne!(fold("cart"), fold("card"));
    }

    #[test]
    fn no_gram_stands_for_two() {
        let of = |text: &str, letters| grams(text, letters..=letters).collect::<Vec<_>>();
        let (one, two, three) = (of("ab\u{10FFFF}", 1), of("ab\u{10FFFF}", 2), of("ab\u{10FFFF}", 3));
        assert_eq!((one.len(), two.len(), three.len()), (3, 2, 1));
        let all: BTreeSet<u64> = one.into_iter().chain(two).chain(three).collect();
        assert_eq!(all.len(), 6);
        assert_eq!(of("ab", 3), [0_u64; 0]);
    }
}
