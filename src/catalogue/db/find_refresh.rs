//! Keeps both search indexes up to date: that of all nouns, and that of services. Migrations define the tables and how
//! texts are folded. Triggers note what has changed, so nothing that writes a name or an alias says so.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::BoxFuture;
use migration::find::{ROWS, SEARCHED, Searched, Text, Texts, add, grams_of, postings};
use sea_orm::DbBackend;
use sea_orm::sea_query::{Cond, Expr, ExprTrait, LockType, OnConflict, Order, Query};

use super::read::Read;
use super::{Error, Unrecorded, Write, WriteHandle, search};

/// The tables of the index.
struct Index;

impl Unrecorded for Index {}

/// The number of owners refreshed at once.
const BATCH: usize = 200;
/// The number of rows that a condition lists one by one.
const CONDITIONS: usize = 100;

/// Rewrites the texts of all owners that have changed since the last call, including those changed in this transaction.
pub fn refresh(db: &dyn WriteHandle) -> BoxFuture<'_, Result<(), Error>> {
    Box::pin(async move {
        let mut stale = BTreeMap::<i32, BTreeSet<i64>>::new();
        let taken =
            Query::delete().from_table("find_stale").returning(Query::returning().columns(["kind", "owner"])).take();
        for (kind, owner) in
            db.returned::<Index, _, _>(&taken, |row| Ok((row.get::<i32>(0)?, row.get::<i64>(1)?))).await?
        {
            stale.entry(kind).or_default().insert(owner);
        }
        for Searched { kind, table, second, aliases } in SEARCHED {
            let owners: Vec<i64> = stale.remove(&kind).into_iter().flatten().collect();
            for owners in owners.chunks(BATCH) {
                let mut texts = Texts::new();
                let mut rows = Query::select();
                rows.columns(["id", "name"])
                    .columns(second)
                    .from(table)
                    .and_where(Expr::col("id").is_in(owners.to_vec()));
                // Services also have all their names in one text. If two transactions add aliases to a service at the same time,
                // the second waits here, and then reads both. This lock does not conflict with the one that inserting an alias
                // takes on the service.
                let is_service = table == "service";
                if is_service {
                    rows.order_by("id", Order::Asc).lock(LockType::NoKeyUpdate);
                }
                let mut services = BTreeMap::<i64, Vec<String>>::new();
                let has_second = second.is_some();
                let named = db.rows(&rows, move |row| {
                    let second = has_second.then(|| row.get::<String>(2)).transpose()?;
                    Ok((row.get::<i64>(0)?, row.get::<String>(1)?, second))
                });
                for (owner, name, second) in named.await? {
                    if is_service {
                        services.insert(owner, vec![name.clone()]);
                    }
                    add(&mut texts, owner, name, Some(true));
                    if let Some(second) = second {
                        add(&mut texts, owner, second, None);
                    }
                }
                if let Some((aliases, owner)) = aliases {
                    let mut rows = Query::select();
                    rows.columns([owner, "value"]).from(aliases).and_where(Expr::col(owner).is_in(owners.to_vec()));
                    rows.order_by("id", Order::Asc);
                    for (owner, alias) in db.rows(&rows, |row| Ok((row.get(0)?, row.get::<String>(1)?))).await? {
                        if let Some(names) = services.get_mut(&owner) {
                            names.push(alias.clone());
                        }
                        add(&mut texts, owner, alias, Some(false));
                    }
                }
                replace(db, kind, owners, texts).await?;
                search::write(db, services.into_iter().collect()).await?;
            }
        }
        Ok(())
    })
}

/// Updates the statistics of the tables after many writes. PostgreSQL plans searches by them.
pub async fn take_statistics(db: &dyn WriteHandle) -> Result<(), Error> {
    if db.backend() == DbBackend::Postgres {
        db.script("ANALYZE find_text, find_posting, find_word, find_gram").await?;
    }
    Ok(())
}

/// Replaces the stored texts of these owners by the given ones.
async fn replace(db: &dyn WriteHandle, kind: i32, owners: &[i64], mut texts: Texts) -> Result<(), Error> {
    let mut stored = Query::select();
    stored.columns(["id", "owner", "folded", "value", "is_name"]).from("find_text");
    stored.and_where(Expr::col("kind").eq(kind)).and_where(Expr::col("owner").is_in(owners.to_vec()));
    let (mut gone, mut gone_postings) = (Vec::new(), Vec::new());
    let stored = db.rows(&stored, |row| {
        let key = (row.get::<i64>(1)?, row.get::<String>(2)?);
        Ok((row.get::<i64>(0)?, key, row.get::<String>(3)?, row.get::<bool>(4)?))
    });
    for (id, key, value, is_name) in stored.await? {
        if texts.get(&key).is_some_and(|text| text.value == value && text.is_name == is_name) {
            texts.remove(&key);
        } else {
            gone.push(id);
            gone_postings.extend(postings(&key.1, id));
        }
    }
    for ids in gone.chunks(ROWS) {
        let is_gone = Expr::col("id").is_in(ids.to_vec());
        db.execute::<Index>(Query::delete().from_table("find_text").and_where(is_gone)).await?;
    }
    for some in gone_postings.chunks(CONDITIONS) {
        let of = |(word, letters, text): &(String, i32, i64)| {
            let of_text = Expr::col("letters").eq(*letters).and(Expr::col("text_id").eq(*text));
            Expr::col("word").eq(word).and(of_text)
        };
        let mut delete = Query::delete();
        delete.from_table("find_posting").cond_where(some.iter().map(of).fold(Cond::any(), Cond::add));
        db.execute::<Index>(&delete).await?;
    }
    let given: Vec<(&(i64, String), &Text)> = texts.iter().collect();
    let mut new_postings = Vec::new();
    for some in given.chunks(ROWS) {
        let mut insert = Query::insert();
        insert.into_table("find_text").columns(["kind", "owner", "is_name", "value", "folded"]);
        for ((owner, folded), text) in some {
            let Text { value, is_name, .. } = text;
            insert.values_panic([kind.into(), (*owner).into(), (*is_name).into(), value.into(), folded.into()]);
        }
        // A concurrent transaction may add the same text of the same owner.
        insert.on_conflict(OnConflict::columns(["kind", "owner", "folded"]).do_nothing().to_owned());
        insert.returning(Query::returning().columns(["id", "owner", "folded"]));
        let stored = db.returned::<Index, _, _>(&insert, |row| Ok((row.get::<i64>(0)?, (row.get(1)?, row.get(2)?))));
        for (id, key) in stored.await? {
            if texts.get(&key).is_some_and(|text| text.has_words) {
                new_postings.extend(postings(&key.1, id));
            }
        }
    }
    let words: BTreeSet<&str> = new_postings.iter().map(|(word, ..)| word.as_str()).collect();
    add_words(db, words).await?;
    insert(db, "find_posting", ["word", "letters", "text_id"], &new_postings, |(word, letters, text)| {
        [word.into(), (*letters).into(), (*text).into()]
    })
    .await?;
    remove_words(db, gone_postings.into_iter().map(|(word, ..)| word).collect()).await
}

/// Removes those of the words that no text contains any more, with their grams.
async fn remove_words(db: &dyn WriteHandle, words: BTreeSet<String>) -> Result<(), Error> {
    let words: Vec<String> = words.into_iter().collect();
    for some in words.chunks(ROWS) {
        // Waits for transactions that add postings of one of these words. The next statement then sees these postings.
        let mut held = Query::select();
        held.column("word").from("find_word").and_where(Expr::col("word").is_in(some)).order_by("word", Order::Asc);
        db.rows(held.lock(LockType::Update), |row| row.get::<String>(0)).await?;
        let of_word = Expr::col(("find_posting", "word")).eq(Expr::col(("find_word", "word")));
        let posting = Query::select().expr(Expr::val(1)).from("find_posting").and_where(of_word).take();
        let mut delete = Query::delete();
        delete.from_table("find_word").and_where(Expr::col("word").is_in(some)).and_where(Expr::exists(posting).not());
        let mut grams = Vec::new();
        delete.returning(Query::returning().column("word"));
        for word in db.returned::<Index, _, _>(&delete, |row| row.get::<String>(0)).await? {
            grams.extend(grams_of(&word).into_iter().map(|(gram, letters)| (gram, letters, word.clone())));
        }
        for some in grams.chunks(CONDITIONS) {
            let of = |(gram, letters, word): &(String, i32, String)| {
                let of_word = Expr::col("letters").eq(*letters).and(Expr::col("word").eq(word));
                Expr::col("gram").eq(gram).and(of_word)
            };
            let mut delete = Query::delete();
            delete.from_table("find_gram").cond_where(some.iter().map(of).fold(Cond::any(), Cond::add));
            db.execute::<Index>(&delete).await?;
        }
    }
    Ok(())
}

/// Adds the words that are not stored yet, with their grams.
async fn add_words(db: &dyn WriteHandle, words: BTreeSet<&str>) -> Result<(), Error> {
    // Sorted, so that two transactions that add the same words cannot deadlock.
    let words: Vec<&str> = words.into_iter().collect();
    let mut known = BTreeSet::new();
    for some in words.chunks(ROWS) {
        let mut select = Query::select();
        select.column("word").from("find_word").and_where(Expr::col("word").is_in(some.to_vec()));
        // Locked, so that no other transaction removes a word that is about to get a posting.
        select.order_by("word", Order::Asc).lock(LockType::KeyShare);
        known.extend(db.rows(&select, |row| row.get::<String>(0)).await?);
    }
    let unknown: Vec<&str> = words.into_iter().filter(|word| !known.contains(*word)).collect();
    insert(db, "find_word", ["word"], &unknown, |word| [(*word).into()]).await?;
    let mut rows = Vec::new();
    for word in unknown {
        rows.extend(grams_of(word).into_iter().map(|(gram, letters)| (gram, letters, word)));
    }
    insert(db, "find_gram", ["gram", "letters", "word"], &rows, |(gram, letters, word)| {
        [gram.into(), (*letters).into(), (*word).into()]
    })
    .await
}

/// Inserts rows. Skips those that exist.
async fn insert<T, const N: usize>(
    db: &dyn WriteHandle,
    table: &'static str,
    columns: [&'static str; N],
    rows: &[T],
    values: impl Fn(&T) -> [Expr; N],
) -> Result<(), Error> {
    for some in rows.chunks(ROWS) {
        let mut insert = Query::insert();
        insert.into_table(table).columns(columns);
        for row in some {
            insert.values_panic(values(row));
        }
        db.execute::<Index>(insert.on_conflict(OnConflict::new().do_nothing().to_owned())).await?;
    }
    Ok(())
}
