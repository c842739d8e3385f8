//! The search index of all nouns: names and aliases, their words, and the words' trigrams.
//!
//! - `find_text` holds each name, alias and email address, verbatim and folded ([`fold`]). If two texts of the same
//!   owner fold to the same text, only the first is stored; names come first.
//! - `find_posting` maps a word to the texts that contain it, shortest text first.
//! - `find_word` holds each word once. A word is removed with its last text.
//! - `find_gram` maps a trigram of a word, and the word without one of its letters, to the word, shortest word first. A
//!   mistyped word is looked up here, because there are far fewer words than texts.
//! - `find_stale` lists owners whose texts have changed. Triggers fill it, so that no write is missed. The program
//!   empties it in the transaction of the write.
//!
//! These tables have no foreign keys, because the texts of a stale owner are rewritten as a whole. Texts are compared
//! by code point on both backends, so that a prefix is a range of an index.
//!
//! The program folds and splits texts by the functions below. They belong to this migration: another form takes another
//! migration.

use std::collections::{BTreeMap, BTreeSet};

use sea_orm_migration::{prelude::*, sea_orm};

use sea_orm::{ConnectionTrait, DbBackend};

use crate::Done;
use crate::find_rebuild;

/// A noun that is searched.
pub struct Searched {
    /// Its number in the tables. Never changes.
    pub kind: i32,
    /// Its table.
    pub table: &'static str,
    /// A second column that is searched. It is found by its beginning, but not by its words.
    pub second: Option<&'static str>,
    /// The table of aliases, and its column of the owner.
    pub aliases: Option<(&'static str, &'static str)>,
}

/// All nouns that are searched.
pub const SEARCHED: [Searched; 7] = [
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

/// The number of rows inserted or deleted at once.
pub const ROWS: usize = 1_000;

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
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
        }
        find_rebuild::rebuild(db).await?;
        if is_postgres {
            db.execute_unprepared("ANALYZE find_text, find_posting, find_word, find_gram").await?;
        }
        Ok(())
    })
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

/// The texts of owners, by owner and folded text.
pub type Texts = BTreeMap<(i64, String), Text>;

/// A text by which an owner is found.
#[derive(PartialEq)]
pub struct Text {
    /// The text, verbatim.
    pub value: String,
    /// Whether it is the owner's name.
    pub is_name: bool,
    /// Whether the text is found by its words, and not only by its beginning. The words of an email address or of a
    /// repository's alias are those of its owner's name, or say where it is hosted.
    pub has_words: bool,
}

/// Adds a text, unless the owner has one that folds to the same text. `is_name` is `None` if the text is not found by
/// its words.
pub fn add(texts: &mut Texts, owner: i64, value: String, is_name: Option<bool>) {
    let folded = fold(&value);
    if !folded.is_empty() {
        let text = Text { value, is_name: is_name == Some(true), has_words: is_name.is_some() };
        texts.entry((owner, folded)).or_insert(text);
    }
}

/// The grams that lead to a word, each with the number of letters of the word.
pub fn grams_of(word: &str) -> Vec<(String, i32)> {
    let letters = <i32 as TryFrom<usize>>::try_from(word.chars().count()).unwrap_or(i32::MAX);
    grams(word).into_iter().chain(shorter(word)).map(|gram| (gram, letters)).collect()
}

/// Returns the postings of a folded text.
pub fn postings(folded: &str, text: i64) -> Vec<(String, i32, i64)> {
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
