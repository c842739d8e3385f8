//! The search index of all nouns: names and aliases, their words, and the words' trigrams.
//!
//! - `find_text` holds each name, alias and email address, verbatim and folded ([`fold`]). If two texts of the same
//!   owner fold to the same text, only the first is stored; names come first.
//! - `find_posting` maps a word to the texts that contain it, shortest text first.
//! - `find_word` holds each word once. A word is removed with its last text.
//! - `find_gram` maps a trigram of a word, and the word without one of its letters, to the word, shortest word first. A
//!   mistyped word is looked up here, because there are far fewer words than texts.
//! - `find_stale` lists owners whose texts have changed. Triggers fill it, so that no write is missed. [`refresh`]
//!   empties it in the transaction of the write.
//!
//! These tables have no foreign keys, because the texts of a stale owner are rewritten as a whole. Texts are compared
//! by code point on both backends, so that a prefix is a range of an index.
//!
//! The program writes and reads the index through the functions below. They belong to this migration: another form
//! takes another migration.

use std::collections::{BTreeMap, BTreeSet};

use sea_orm_migration::{prelude::*, sea_orm};

use sea_orm::{ConnectionTrait, DbBackend};

/// A noun that is searched.
pub(crate) struct Searched {
    /// Its number in the tables. Never changes.
    pub(crate) kind: i32,
    pub(crate) table: &'static str,
    /// A second column that is searched. It is found by its beginning, but not by its words.
    pub(crate) second: Option<&'static str>,
    /// The table of aliases, and its column of the owner.
    pub(crate) aliases: Option<(&'static str, &'static str)>,
}

pub(crate) const SEARCHED: [Searched; 7] = [
    with_aliases(1, "service", ("service_alias", "service_id")),
    with_aliases(2, "system", ("system_alias", "system_id")),
    with_aliases(3, "domain", ("domain_alias", "domain_id")),
    with_aliases(4, "team", ("team_alias", "team_id")),
    Searched { kind: 5, table: "user", second: Some("email"), aliases: None },
    Searched { kind: 6, table: "repository", second: Some("default_alias"), aliases: None },
    with_aliases(7, "infrastructure_resource", ("infrastructure_resource_alias", "infrastructure_resource_id")),
];

const fn with_aliases(kind: i32, table: &'static str, aliases: (&'static str, &'static str)) -> Searched {
    Searched { kind, table, second: None, aliases: Some(aliases) }
}

/// The maximum number of letters of a folded text.
const TEXT: usize = 255;
/// The maximum number of letters of a word.
const WORD: usize = 40;
/// The maximum number of words by which a text is found.
const WORDS: usize = 20;
/// The maximum number of letters of a word that is also found by what is left of it without one letter.
const MISTYPED: usize = 20;

/// The number of owners refreshed at once.
const BATCH: usize = 200;
/// The number of rows inserted or deleted at once.
pub(crate) const ROWS: usize = 1_000;
/// The number of rows that a condition lists one by one.
const CONDITIONS: usize = 100;

/// This migration.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        let is_postgres = manager.get_database_backend() == DbBackend::Postgres;
        let (text, id, rowless) = match is_postgres {
            true => (r#"text COLLATE "C""#, "bigserial PRIMARY KEY", ""),
            false => ("text", "integer PRIMARY KEY AUTOINCREMENT", " WITHOUT ROWID"),
        };
        for statement in [
            "CREATE TABLE find_stale (kind integer NOT NULL, owner bigint NOT NULL)".to_owned(),
            format!(
                "CREATE TABLE find_text (id {id}, kind integer NOT NULL, owner bigint NOT NULL, \
                 is_name boolean NOT NULL, value text NOT NULL, folded {text} NOT NULL)"
            ),
            "CREATE UNIQUE INDEX find_text_by_owner ON find_text (kind, owner, folded)".to_owned(),
            "CREATE INDEX find_text_by_folded ON find_text (folded, id)".to_owned(),
            format!(
                "CREATE TABLE find_posting (word {text} NOT NULL, letters integer NOT NULL, text_id bigint NOT NULL, \
                 PRIMARY KEY (word, letters, text_id)){rowless}"
            ),
            format!("CREATE TABLE find_word (word {text} NOT NULL PRIMARY KEY){rowless}"),
            format!(
                "CREATE TABLE find_gram (gram {text} NOT NULL, letters integer NOT NULL, word {text} NOT NULL, \
                 PRIMARY KEY (gram, letters, word)){rowless}"
            ),
        ] {
            db.execute_unprepared(&statement).await?;
        }
        for Searched { kind, table, second, aliases } in SEARCHED {
            let texts: Vec<&str> = std::iter::once("name").chain(second).collect();
            for statement in triggers(is_postgres, kind, table, "id", &texts) {
                db.execute_unprepared(&statement).await?;
            }
            if let Some((aliases, owner)) = aliases {
                for statement in triggers(is_postgres, kind, aliases, owner, &["value", owner]) {
                    db.execute_unprepared(&statement).await?;
                }
            }
            let all = format!(r#"INSERT INTO find_stale (kind, owner) SELECT {kind}, id FROM "{table}""#);
            db.execute_unprepared(&all).await?;
        }
        refresh(db).await?;
        take_statistics(db).await
    }
}

/// Returns the triggers that add the owner in `column` to `find_stale` when a row is inserted or deleted, or when one
/// of `texts` changes.
fn triggers(is_postgres: bool, kind: i32, table: &str, column: &str, texts: &[&str]) -> Vec<String> {
    let note = |row: &str| format!("INSERT INTO find_stale (kind, owner) VALUES ({kind}, {row}.{column});");
    let (old, new) = (note("OLD"), note("NEW"));
    let columns = texts.join(", ");
    if is_postgres {
        let function = format!("find_note_{table}");
        let changed: Vec<String> = texts.iter().map(|text| format!("OLD.{text} IS DISTINCT FROM NEW.{text}")).collect();
        let changed = changed.join(" OR ");
        return vec![
            format!(
                "CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                 IF TG_OP <> 'DELETE' THEN {new} END IF; IF TG_OP <> 'INSERT' THEN {old} END IF; RETURN NULL; END $$"
            ),
            format!(
                r#"CREATE TRIGGER find_{table} AFTER INSERT OR DELETE ON "{table}" FOR EACH ROW EXECUTE FUNCTION {function}()"#
            ),
            format!(
                r#"CREATE TRIGGER find_changed_{table} AFTER UPDATE OF {columns} ON "{table}" FOR EACH ROW WHEN ({changed}) EXECUTE FUNCTION {function}()"#
            ),
        ];
    }
    let changed: Vec<String> = texts.iter().map(|text| format!("OLD.{text} IS NOT NEW.{text}")).collect();
    let changed = changed.join(" OR ");
    vec![
        format!(r#"CREATE TRIGGER find_new_{table} AFTER INSERT ON "{table}" BEGIN {new} END"#),
        format!(r#"CREATE TRIGGER find_deleted_{table} AFTER DELETE ON "{table}" BEGIN {old} END"#),
        format!(
            r#"CREATE TRIGGER find_changed_{table} AFTER UPDATE OF {columns} ON "{table}" WHEN {changed} BEGIN {old} {new} END"#
        ),
    ]
}

/// Rewrites the texts of all owners that have changed since the last call, including those changed in this transaction.
pub async fn refresh<C: ConnectionTrait>(db: &C) -> Result<(), DbErr> {
    let mut stale = BTreeMap::<i32, BTreeSet<i64>>::new();
    let taken =
        Query::delete().from_table("find_stale").returning(Query::returning().columns(["kind", "owner"])).take();
    for row in db.query_all(&taken).await? {
        stale.entry(row.try_get_by_index(0)?).or_default().insert(row.try_get_by_index(1)?);
    }
    for Searched { kind, table, second, aliases } in SEARCHED {
        let owners: Vec<i64> = stale.remove(&kind).into_iter().flatten().collect();
        for owners in owners.chunks(BATCH) {
            let mut texts = Texts::new();
            let mut rows = Query::select();
            rows.columns(["id", "name"]).columns(second).from(table).and_where(Expr::col("id").is_in(owners.to_vec()));
            for row in db.query_all(&rows).await? {
                let owner: i64 = row.try_get_by_index(0)?;
                add(&mut texts, owner, row.try_get_by_index(1)?, Some(true));
                if second.is_some() {
                    add(&mut texts, owner, row.try_get_by_index(2)?, None);
                }
            }
            if let Some((aliases, owner)) = aliases {
                let mut rows = Query::select();
                rows.columns([owner, "value"]).from(aliases).and_where(Expr::col(owner).is_in(owners.to_vec()));
                rows.order_by("id", Order::Asc);
                for row in db.query_all(&rows).await? {
                    add(&mut texts, row.try_get_by_index(0)?, row.try_get_by_index(1)?, Some(false));
                }
            }
            replace(db, kind, owners, texts).await?;
        }
    }
    Ok(())
}

/// Updates the statistics of the tables after many writes. PostgreSQL plans searches by them.
pub async fn take_statistics<C: ConnectionTrait>(db: &C) -> Result<(), DbErr> {
    if db.get_database_backend() == DbBackend::Postgres {
        db.execute_unprepared("ANALYZE find_text, find_posting, find_word, find_gram").await?;
    }
    Ok(())
}

/// The texts of owners, by owner and folded text.
pub(crate) type Texts = BTreeMap<(i64, String), Text>;

#[derive(PartialEq)]
pub(crate) struct Text {
    pub(crate) value: String,
    pub(crate) is_name: bool,
    /// Whether the text is found by its words, and not only by its beginning. The words of an email address or of a
    /// repository's alias are those of its owner's name, or say where it is hosted.
    pub(crate) has_words: bool,
}

/// Adds a text, unless the owner has one that folds to the same text. `is_name` is `None` if the text is not found by
/// its words.
pub(crate) fn add(texts: &mut Texts, owner: i64, value: String, is_name: Option<bool>) {
    let folded = fold(&value);
    if !folded.is_empty() {
        let text = Text { value, is_name: is_name == Some(true), has_words: is_name.is_some() };
        texts.entry((owner, folded)).or_insert(text);
    }
}

/// Replaces the stored texts of these owners by the given ones.
async fn replace<C: ConnectionTrait>(db: &C, kind: i32, owners: &[i64], mut texts: Texts) -> Result<(), DbErr> {
    let mut stored = Query::select();
    stored.columns(["id", "owner", "folded", "value", "is_name"]).from("find_text");
    stored.and_where(Expr::col("kind").eq(kind)).and_where(Expr::col("owner").is_in(owners.to_vec()));
    let (mut gone, mut gone_postings) = (Vec::new(), Vec::new());
    for row in db.query_all(&stored).await? {
        let (id, owner, folded): (i64, i64, String) =
            (row.try_get_by_index(0)?, row.try_get_by_index(1)?, row.try_get_by_index(2)?);
        let (value, is_name): (String, bool) = (row.try_get_by_index(3)?, row.try_get_by_index(4)?);
        let key = (owner, folded);
        if texts.get(&key).is_some_and(|text| text.value == value && text.is_name == is_name) {
            texts.remove(&key);
        } else {
            gone.push(id);
            gone_postings.extend(postings(&key.1, id));
        }
    }
    for ids in gone.chunks(ROWS) {
        let is_gone = Expr::col("id").is_in(ids.to_vec());
        db.execute(Query::delete().from_table("find_text").and_where(is_gone)).await?;
    }
    for some in gone_postings.chunks(CONDITIONS) {
        let of = |(word, letters, text): &(String, i32, i64)| {
            let of_text = Expr::col("letters").eq(*letters).and(Expr::col("text_id").eq(*text));
            Expr::col("word").eq(word).and(of_text)
        };
        let mut delete = Query::delete();
        delete.from_table("find_posting").cond_where(some.iter().map(of).fold(Cond::any(), Cond::add));
        db.execute(&delete).await?;
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
        for row in db.query_all(&insert).await? {
            let (id, key): (i64, (i64, String)) =
                (row.try_get_by_index(0)?, (row.try_get_by_index(1)?, row.try_get_by_index(2)?));
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
async fn remove_words<C: ConnectionTrait>(db: &C, words: BTreeSet<String>) -> Result<(), DbErr> {
    let words: Vec<String> = words.into_iter().collect();
    for some in words.chunks(ROWS) {
        // Waits for transactions that add postings of one of these words. The next statement then sees these postings.
        let mut held = Query::select();
        held.column("word").from("find_word").and_where(Expr::col("word").is_in(some)).order_by("word", Order::Asc);
        db.query_all(held.lock(LockType::Update)).await?;
        let of_word = Expr::col(("find_posting", "word")).eq(Expr::col(("find_word", "word")));
        let posting = Query::select().expr(Expr::val(1)).from("find_posting").and_where(of_word).take();
        let mut delete = Query::delete();
        delete.from_table("find_word").and_where(Expr::col("word").is_in(some)).and_where(Expr::exists(posting).not());
        let mut grams = Vec::new();
        for row in db.query_all(delete.returning(Query::returning().column("word"))).await? {
            let word: String = row.try_get_by_index(0)?;
            grams.extend(grams_of(&word).into_iter().map(|(gram, letters)| (gram, letters, word.clone())));
        }
        for some in grams.chunks(CONDITIONS) {
            let of = |(gram, letters, word): &(String, i32, String)| {
                let of_word = Expr::col("letters").eq(*letters).and(Expr::col("word").eq(word));
                Expr::col("gram").eq(gram).and(of_word)
            };
            let mut delete = Query::delete();
            delete.from_table("find_gram").cond_where(some.iter().map(of).fold(Cond::any(), Cond::add));
            db.execute(&delete).await?;
        }
    }
    Ok(())
}

/// Adds the words that are not stored yet, with their grams.
async fn add_words<C: ConnectionTrait>(db: &C, words: BTreeSet<&str>) -> Result<(), DbErr> {
    // Sorted, so that two transactions that add the same words cannot deadlock.
    let words: Vec<&str> = words.into_iter().collect();
    let mut known = BTreeSet::new();
    for some in words.chunks(ROWS) {
        let mut select = Query::select();
        select.column("word").from("find_word").and_where(Expr::col("word").is_in(some.to_vec()));
        // Locked, so that no other transaction removes a word that is about to get a posting.
        select.order_by("word", Order::Asc).lock(LockType::KeyShare);
        for row in db.query_all(&select).await? {
            known.insert(row.try_get_by_index::<String>(0)?);
        }
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

/// The grams that lead to a word, each with the number of letters of the word.
pub(crate) fn grams_of(word: &str) -> Vec<(String, i32)> {
    let letters = <i32 as TryFrom<usize>>::try_from(word.chars().count()).unwrap_or(i32::MAX);
    grams(word).into_iter().chain(shorter(word)).map(|gram| (gram, letters)).collect()
}

/// Inserts rows. Skips those that exist.
async fn insert<C: ConnectionTrait, T, const N: usize>(
    db: &C,
    table: &'static str,
    columns: [&'static str; N],
    rows: &[T],
    values: impl Fn(&T) -> [Expr; N],
) -> Result<(), DbErr> {
    for some in rows.chunks(ROWS) {
        let mut insert = Query::insert();
        insert.into_table(table).columns(columns);
        for row in some {
            insert.values_panic(values(row));
        }
        db.execute(insert.on_conflict(OnConflict::new().do_nothing().to_owned())).await?;
    }
    Ok(())
}

/// Returns the postings of a folded text.
pub(crate) fn postings(folded: &str, text: i64) -> Vec<(String, i32, i64)> {
    let letters = <i32 as TryFrom<usize>>::try_from(folded.chars().count()).unwrap_or(i32::MAX);
    let words: BTreeSet<String> = words(folded).take(WORDS).collect();
    words.into_iter().map(|word| (word, letters, text)).collect()
}

/// Folds a text for comparison: its letters and digits without letter case, in every script, as words separated by one
/// space. `Shopping-Cart` and `shopping_cart` are the same.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let letters = text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    for letter in letters.map(|letter| if letter.is_alphanumeric() { letter } else { ' ' }).take(TEXT) {
        if letter != ' ' || !(folded.is_empty() || folded.ends_with(' ')) {
            folded.push(letter);
        }
    }
    folded.truncate(folded.trim_end().len());
    folded
}

/// Returns the words of a folded text. Truncates long words.
pub fn words(folded: &str) -> impl Iterator<Item = String> {
    folded.split(' ').filter(|word| !word.is_empty()).map(|word| word.chars().take(WORD).collect())
}

/// Returns the trigrams of a word, with a mark before its first letter. A word without a letter, such as a number, has
/// none: nobody who searches for a number means another one.
pub fn grams(word: &str) -> BTreeSet<String> {
    if !word.contains(char::is_alphabetic) {
        return BTreeSet::new();
    }
    let letters: Vec<char> = std::iter::once('^').chain(word.chars()).collect();
    letters.windows(3).map(|gram| gram.iter().collect()).collect()
}

/// Returns a word, and what is left of it without each of its letters, with a mark before each. Two words that differ
/// by one letter, or by two swapped letters, share one of these. If they are short, they may share no trigram. Words of
/// fewer than three letters, very long words, and words without a letter have none.
pub fn shorter(word: &str) -> BTreeSet<String> {
    let letters: Vec<char> = word.chars().collect();
    if !(3..=MISTYPED).contains(&letters.len()) || !word.contains(char::is_alphabetic) {
        return BTreeSet::new();
    }
    let without =
        |place| letters.iter().enumerate().filter(move |(other, _)| *other != place).map(|(_, letter)| *letter);
    // No letter is at the place behind the last one, so the last entry is the whole word.
    (0..=letters.len()).map(|place| std::iter::once('-').chain(without(place)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_compared_by_its_words_alone() {
        for (text, folded) in [
            ("Shopping-Cart", "shopping cart"),
            ("  shopping_cart!", "shopping cart"),
            ("github.com:Org/Repo", "github com org repo"),
            ("STRASSE 7", "strasse 7"),
            ("straße 7", "strasse 7"),
            ("ПЛАТЕЖ", "платеж"),
            ("--", ""),
        ] {
            assert_eq!(fold(text), folded);
            assert_eq!(fold(folded), folded);
        }
        assert_eq!(fold(&"x".repeat(1_000)).len(), TEXT);
    }

    #[test]
    fn a_number_has_no_grams() {
        assert_eq!(grams("cart"), BTreeSet::from(["^ca", "car", "art"].map(str::to_owned)));
        assert_eq!(grams("1234"), BTreeSet::new());
        assert_eq!(grams("ab"), BTreeSet::from(["^ab".to_owned()]));
        assert_eq!(grams("a"), BTreeSet::new());
        assert_eq!(shorter("1234"), BTreeSet::new());
    }

    #[test]
    fn words_that_differ_by_a_letter_share_what_is_left_of_them() {
        for (one, other) in
            [("cart", "crat"), ("cart", "carts"), ("cart", "card"), ("cart", "car"), ("größe", "grösse")]
        {
            assert_eq!(!shorter(one).is_disjoint(&shorter(other)), one != "größe", "{one} {other}");
        }
        assert!(shorter("cart").contains("-cart"));
        assert!(shorter("cart").is_disjoint(&shorter("tram")));
    }
}
