//! Derives the [search index of all nouns](crate::m20261123_000001_find) from scratch, in few large statements.

use sea_orm_migration::{prelude::*, sea_orm};

use sea_orm::{ConnectionTrait, DbBackend, Statement, Value};

use crate::BulkInsert;
use crate::m20261123_000001_find::{ROWS, SEARCHED, Searched, Text, Texts, add, grams_of, postings};

/// Derives the whole index again, after many rows have been stored by other means. Reads the nouns page by page, so its
/// memory does not depend on the size of the catalogue.
pub async fn rebuild<C: BulkInsert>(db: &C) -> Result<(), DbErr> {
    let is_postgres = db.get_database_backend() == DbBackend::Postgres;
    if is_postgres {
        // Wait for writers of these tables, and let no other begin.
        let lock = "LOCK TABLE find_stale, find_text, find_posting, find_word, find_gram IN SHARE ROW EXCLUSIVE MODE";
        db.execute_unprepared(lock).await?;
    }
    for table in ["find_stale", "find_text", "find_posting", "find_word", "find_gram"] {
        db.execute_unprepared(&format!("DELETE FROM {table}")).await?;
    }
    // SQLite stores sorted rows many times faster than unsorted ones, because it caches few pages of a large table.
    let staged = |table: &'static str, new: &'static str| if is_postgres { table } else { new };
    let (posting, gram) = (staged("find_posting", "find_posting_new"), staged("find_gram", "find_gram_new"));
    if !is_postgres {
        db.execute_unprepared("CREATE TEMP TABLE find_posting_new (word text, letters integer, text_id bigint)")
            .await?;
        db.execute_unprepared("CREATE TEMP TABLE find_gram_new (gram text, letters integer, word text)").await?;
    }
    rebuild_texts(db, posting).await?;
    move_sorted(db, posting, "find_posting", "word, letters, text_id").await?;
    db.execute_unprepared("INSERT INTO find_word (word) SELECT DISTINCT word FROM find_posting ORDER BY word").await?;
    rebuild_grams(db, gram).await?;
    move_sorted(db, gram, "find_gram", "gram, letters, word").await
}

/// Moves all rows of a temporary table to a table of the index, and drops the temporary one.
async fn move_sorted<C: BulkInsert>(db: &C, from: &str, to: &str, columns: &str) -> Result<(), DbErr> {
    if from == to {
        return Ok(());
    }
    let all = format!("INSERT INTO {to} ({columns}) SELECT {columns} FROM {from} ORDER BY {columns}");
    db.execute_unprepared(&all).await?;
    db.execute_unprepared(&format!("DROP TABLE {from}")).await.map(drop)
}

/// Stores the texts of all nouns, and their postings in the table `posting`. Numbers the texts itself, because a bulk
/// insert does not return ids.
async fn rebuild_texts<C: BulkInsert>(db: &C, posting: &str) -> Result<(), DbErr> {
    let mut last_text = last_text(db).await?;
    for Searched { kind, table, second, aliases } in SEARCHED {
        let mut after = 0_i64;
        loop {
            let mut rows = Query::select();
            rows.columns(["id", "name"]).columns(second).from(table).and_where(Expr::col("id").gt(after));
            let rows = db.query_all(rows.order_by("id", Order::Asc).limit(ROWS as u64)).await?;
            let Some(last) = rows.last() else { break };
            let page = (after, last.try_get("", "id")?);
            after = page.1;
            let mut texts = Texts::new();
            for row in rows {
                let owner: i64 = row.try_get("", "id")?;
                add(&mut texts, owner, row.try_get("", "name")?, Some(true));
                if let Some(second) = second {
                    add(&mut texts, owner, row.try_get("", second)?, None);
                }
            }
            if let Some((aliases, owner)) = aliases {
                let mut rows = Query::select();
                rows.columns([owner, "value"]).from(aliases).and_where(Expr::col(owner).gt(page.0));
                rows.and_where(Expr::col(owner).lte(page.1)).order_by("id", Order::Asc);
                for row in db.query_all(&rows).await? {
                    add(&mut texts, row.try_get("", owner)?, row.try_get("", "value")?, Some(false));
                }
            }
            let (mut values, mut posted) = (Vec::with_capacity(texts.len() * 6), Vec::new());
            for ((owner, folded), Text { value, is_name, has_words }) in texts {
                last_text += 1;
                if has_words {
                    for (word, letters, text) in postings(&folded, last_text) {
                        posted.extend([Value::from(word), letters.into(), text.into()]);
                    }
                }
                values.extend([Value::from(last_text), kind.into(), owner.into(), is_name.into()]);
                values.extend([Value::from(value), folded.into()]);
            }
            db.insert_rows("find_text", &["id", "kind", "owner", "is_name", "value", "folded"], values).await?;
            db.insert_rows(posting, &["word", "letters", "text_id"], posted).await?;
        }
    }
    // SQLite has noted the last id by itself.
    if db.get_database_backend() == DbBackend::Postgres && last_text > 0 {
        db.execute_unprepared(&format!("SELECT setval('find_text_id_seq', {last_text})")).await?;
    }
    Ok(())
}

/// The last id given to a text, so that no id is given twice.
async fn last_text<C: ConnectionTrait>(db: &C) -> Result<i64, DbErr> {
    let last = match db.get_database_backend() {
        DbBackend::Postgres => "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM find_text_id_seq",
        _ => "SELECT seq FROM sqlite_sequence WHERE name = 'find_text'",
    };
    let last = db.query_one_raw(Statement::from_string(db.get_database_backend(), last)).await?;
    last.map_or(Ok(0), |last| last.try_get_by_index(0))
}

/// Stores the grams of all words in the table `gram`.
async fn rebuild_grams<C: BulkInsert>(db: &C, gram: &str) -> Result<(), DbErr> {
    let mut after = String::new();
    loop {
        let mut words = Query::select();
        words.column("word").from("find_word").and_where(Expr::col("word").gt(after));
        let words = db.query_all(words.order_by("word", Order::Asc).limit(ROWS as u64)).await?;
        let Some(last) = words.last() else { return Ok(()) };
        after = last.try_get("", "word")?;
        let mut values = Vec::new();
        for word in words {
            let word: String = word.try_get("", "word")?;
            for (gram, letters) in grams_of(&word) {
                values.extend([Value::from(gram), letters.into(), word.as_str().into()]);
            }
        }
        db.insert_rows(gram, &["gram", "letters", "word"], values).await?;
    }
}
