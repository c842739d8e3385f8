//! Searches all nouns by name and alias. A migration defines the tables and how texts are folded.
//!
//! The texts that begin with the term come from a range of an index. For each word of the term, the dictionary gives
//! the words that are equal to it, begin with it, contain it, or resemble it. The texts that have such a word for every
//! word of the term come from the postings of the rarest one. Every list on the way is limited, so the cost of a search
//! does not depend on the size of the catalogue.

use foldhash::{HashMap, HashMapExt};
use migration::find::{SEARCHED, fold, grams, shorter, words};
use sea_orm::sea_query::{Expr, ExprTrait, Func, Order, Query, SelectStatement, UnionType};

use super::{Error, Read, ReadHandle, is_any_text};

pub use super::find_refresh::{refresh, take_statistics};

/// The maximum number of words of a term that are searched for.
pub const WORDS: usize = 6;
/// The maximum number of texts compared because they begin with the term. Also that of texts compared because of their
/// words.
const TEXTS: u64 = 200;
/// The maximum number of texts that begin with the term among which objects of one noun are looked for.
pub const BEGINNING_TEXTS: u64 = 2_000;
/// The maximum number of postings read for a word, shortest texts first.
const POSTINGS: u64 = 2_000;
/// The maximum number of dictionary words read because they begin with a word of the term. Also that of those read
/// because they share trigrams with it.
const BEGINNINGS: u64 = 50;
/// The maximum number of words read for one trigram, shortest first.
const OF_GRAM: u64 = 500;
/// The maximum number of dictionary words that a word of the term may stand for.
const ALIKE: usize = 8;

/// Whether a table holds texts that are searched for.
pub fn is_searched(table: &str) -> bool {
    SEARCHED.iter().any(|one| one.table == table || one.aliases.is_some_and(|(aliases, _)| aliases == table))
}

/// The greatest code point. No text contains it, so it ends the range of texts with a common beginning.
const END: char = '\u{10FFFF}';

/// The noun of an object, by its number in the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Noun {
    /// A service.
    Service = 1,
    /// A system.
    System = 2,
    /// A domain.
    Domain = 3,
    /// A team.
    Team = 4,
    /// A user.
    User = 5,
    /// A repository.
    Repository = 6,
    /// An infrastructure resource.
    InfrastructureResource = 7,
}

const KINDS: [Noun; 7] =
    [Noun::Service, Noun::System, Noun::Domain, Noun::Team, Noun::User, Noun::Repository, Noun::InfrastructureResource];

/// How a text matches a term, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    /// The text is the term.
    Exact,
    /// The text begins with the term.
    Prefix,
    /// The text has words that are those of the term, or begin with them.
    Word,
    /// The text has words that resemble those of the term.
    Similar,
}

/// An object that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its noun.
    pub kind: Noun,
    /// Its id.
    pub id: i64,
    /// The alias that matched; `None` if the name matched.
    pub alias: Option<String>,
    /// How the text matched.
    pub matched: Match,
}

/// A stored text.
struct Text {
    kind: Noun,
    owner: i64,
    is_name: bool,
    value: String,
    folded: String,
}

/// Returns the best matches of a term, at most `most`, each object once. A term without letters and digits matches
/// nothing.
pub async fn find(db: &dyn ReadHandle, term: &str, most: usize) -> Result<Vec<Found>, Error> {
    find_among(db, None, term, most).await
}

/// Does the same for objects of one noun. Looks for them among more texts, but not among all that begin with the term.
pub async fn find_of(db: &dyn ReadHandle, noun: Noun, term: &str, most: usize) -> Result<Vec<Found>, Error> {
    find_among(db, Some(noun), term, most).await
}

async fn find_among(db: &dyn ReadHandle, noun: Option<Noun>, term: &str, most: usize) -> Result<Vec<Found>, Error> {
    let term = fold(term);
    let mut wanted: Vec<String> = words(&term).collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted.truncate(WORDS);
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let mut stands_for = Vec::with_capacity(wanted.len());
    for word in &wanted {
        stands_for.push(alike(db, word).await?);
    }
    let mut texts = beginning_with(db, noun, &term).await?;
    texts.extend(with_words(db, noun, &stands_for).await?);

    let mut best = HashMap::<(Noun, i64), (Rank, Text)>::with_capacity(texts.len());
    for text in texts {
        let Some(rank) = rank(&term, &stands_for, &text) else { continue };
        let known = best.get(&(text.kind, text.owner));
        if known.is_none_or(|(known, _)| rank < *known) {
            best.insert((text.kind, text.owner), (rank, text));
        }
    }
    let mut found: Vec<_> = best.into_values().collect();
    found.sort_by(|(one, text), (other, another)| {
        one.cmp(other)
            .then_with(|| (&text.folded, text.kind, text.owner).cmp(&(&another.folded, another.kind, another.owner)))
    });
    found.truncate(most);
    let found = found.into_iter().map(|(Rank { matched, .. }, text)| {
        let Text { kind, owner, is_name, value, .. } = text;
        Found { kind, id: owner, alias: (!is_name).then_some(value), matched }
    });
    Ok(found.collect())
}

/// The order of matches. Smaller is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    matched: Match,
    /// How dissimilar the words are, in thousandths.
    unlike: u32,
    letters: usize,
    is_alias: bool,
    kind: Noun,
}

/// Ranks a text; `None` if it does not match the term.
fn rank(term: &str, stands_for: &[Vec<(String, u32)>], text: &Text) -> Option<Rank> {
    let Text { kind, is_name, folded, .. } = text;
    let there: Vec<String> = words(folded).collect();
    let best = |words: &Vec<(String, u32)>| {
        let alike = words.iter().filter(|(word, _)| there.contains(word));
        alike.map(|(_, likeness)| *likeness).max()
    };
    let likenesses = stands_for.iter().map(best).collect::<Option<Vec<u32>>>();
    let worst = likenesses.iter().flatten().copied().min();
    let matched = match worst {
        _ if folded == term => Match::Exact,
        _ if folded.starts_with(term) => Match::Prefix,
        Some(likeness) if likeness >= BEGINS => Match::Word,
        Some(_) => Match::Similar,
        None => return None,
    };
    let likeness = match &likenesses {
        Some(likenesses) if matched > Match::Prefix => {
            likenesses.iter().sum::<u32>() / u32::try_from(likenesses.len()).unwrap_or(1)
        }
        _ => SAME,
    };
    let letters = folded.chars().count();
    Some(Rank { matched, unlike: SAME.saturating_sub(likeness), letters, is_alias: !is_name, kind: *kind })
}

/// The similarity of a word to itself, and the minimum similarity of a word that begins with it, in thousandths.
const SAME: u32 = 1_000;
const BEGINS: u32 = 700;

/// Returns the similarity of a dictionary word to a word of the term; `None` if they are too different.
fn likeness(term: &str, word: &str) -> Option<u32> {
    if term == word {
        return Some(SAME);
    }
    let (wanted, letters): (Vec<char>, Vec<char>) = (term.chars().collect(), word.chars().collect());
    let ratio = |part: u32| part * u32::try_from(wanted.len()).unwrap_or(0) / u32::try_from(letters.len()).unwrap_or(1);
    if word.starts_with(term) {
        return Some(BEGINS + ratio(200));
    }
    let mistakes = match wanted.len() {
        0..=2 => 0,
        3..=7 => 1,
        _ => 2,
    };
    match distance(&wanted, &letters) {
        1 if mistakes > 0 => return Some(600),
        2 if mistakes > 1 => return Some(450),
        _ => {}
    }
    // A mistyped beginning of a longer word.
    if wanted.len() > 3 && letters.len() > wanted.len() && distance(&wanted, &letters[..wanted.len()]) == 1 {
        return Some(400);
    }
    if wanted.len() > 2 && word.contains(term) {
        return Some(300 + ratio(100));
    }
    let (of_term, of_word) = (grams(term), grams(word));
    let shared = of_term.intersection(&of_word).count();
    // Half of all grams are shared. In pg_trgm that is a similarity of one third.
    (shared > 0 && shared * 4 >= of_term.len() + of_word.len()).then_some(200)
}

/// Returns the Damerau-Levenshtein distance of two words (optimal string alignment): the number of letters to insert,
/// delete, replace or swap with the next one. Returns `usize::MAX` if the lengths differ by more than two.
fn distance(one: &[char], other: &[char]) -> usize {
    if one.len().abs_diff(other.len()) > 2 {
        return usize::MAX;
    }
    let width = other.len() + 1;
    let mut rows = vec![0; (one.len() + 1) * width];
    for (place, cell) in rows.iter_mut().enumerate().take(width) {
        *cell = place;
    }
    for row in 1..=one.len() {
        rows[row * width] = row;
        for column in 1..width {
            let at = row * width + column;
            let changed = usize::from(one[row - 1] != other[column - 1]);
            let mut least = (rows[at - width] + 1).min(rows[at - 1] + 1).min(rows[at - width - 1] + changed);
            let exchanged =
                row > 1 && column > 1 && one[row - 1] == other[column - 2] && one[row - 2] == other[column - 1];
            if exchanged {
                least = least.min(rows[at - 2 * width - 2] + 1);
            }
            rows[at] = least;
        }
    }
    rows[one.len() * width + other.len()]
}

/// Returns the dictionary words that a word of the term may stand for, most similar first.
async fn alike(db: &dyn ReadHandle, term: &str) -> Result<Vec<(String, u32)>, Error> {
    let mut beginnings = Query::select();
    beginnings.column("word").from("find_word").and_where(begins_with("word", term));
    beginnings.order_by("word", Order::Asc).limit(BEGINNINGS);
    let text = |row: &super::Row<'_>| row.get::<String>(0);
    let mut found = db.rows(&beginnings, text).await?;
    let shorter = shorter(term);
    if !shorter.is_empty() {
        let mut mistyped = Query::select();
        mistyped.column("word").distinct().from("find_gram").and_where(Expr::col("gram").is_in(shorter));
        found.extend(db.rows(mistyped.limit(OF_GRAM), text).await?);
    }
    if let Some(shared) = sharing_grams(term) {
        found.extend(db.rows(&shared, text).await?);
    }
    found.sort_unstable();
    found.dedup();
    let mut alike: Vec<_> =
        found.into_iter().filter_map(|word| likeness(term, &word).map(|likeness| (word, likeness))).collect();
    alike.sort_by(|(one, more), (other, less)| less.cmp(more).then_with(|| one.cmp(other)));
    alike.truncate(ALIKE);
    Ok(alike)
}

/// Selects the words that share the most trigrams with a word.
fn sharing_grams(term: &str) -> Option<SelectStatement> {
    let least = i32::try_from(term.chars().count()).unwrap_or(i32::MAX).saturating_sub(2);
    let of_gram = |(place, gram): (usize, String)| {
        let mut words = Query::select();
        words.column("word").from("find_gram").and_where(Expr::col("gram").eq(gram));
        words.and_where(Expr::col("letters").gte(least));
        words.order_by("letters", Order::Asc).order_by("word", Order::Asc).limit(OF_GRAM);
        // A SELECT with a limit cannot be part of a UNION. A subquery can.
        Query::select().column("word").from_subquery(words.take(), format!("gram_{place}")).take()
    };
    let mut each = grams(term).into_iter().enumerate().map(of_gram);
    let mut all = each.next()?;
    for words in each {
        all.union(UnionType::All, words);
    }
    let mut shared = Query::select();
    shared.column("word").from_subquery(all, "shared").group_by_col("word");
    shared.order_by_expr(Func::count(Expr::col("word")).into(), Order::Desc).order_by("word", Order::Asc);
    Some(shared.limit(BEGINNINGS).take())
}

/// The most aliases that are compared with texts in other letter case. If there are more, none of the texts is found.
pub const RESPELT: u64 = 1_000;

/// Finds the alias of a service for each of these texts that is an alias but for its letter case. A text that stands for
/// aliases of several services has none.
pub async fn respelt(db: &dyn ReadHandle, texts: &[&str]) -> Result<HashMap<String, String>, Error> {
    let folded: Vec<String> = texts.iter().map(|text| fold(text)).filter(|text| !text.is_empty()).collect();
    if folded.is_empty() {
        return Ok(HashMap::new());
    }
    let folded: Vec<&str> = folded.iter().map(String::as_str).collect();
    let of_owner = Expr::col(("service_alias", "service_id")).equals(("find_text", "owner"));
    let mut aliases = Query::select();
    aliases
        .columns([("service_alias", "value"), ("service_alias", "service_id")])
        .from("find_text")
        .inner_join("service_alias", of_owner)
        .and_where(Expr::col(("find_text", "kind")).eq(Noun::Service as i32))
        .and_where(is_any_text(db.backend(), Expr::col(("find_text", "folded")), &folded))
        .distinct()
        .limit(RESPELT);
    let aliases: Vec<(String, i64)> = db.rows(&aliases, |row| Ok((row.get(0)?, row.get(1)?))).await?;
    if aliases.len() as u64 == RESPELT {
        return Ok(HashMap::new());
    }
    let mut meant = HashMap::new();
    for text in texts {
        let lower = text.to_lowercase();
        let mut found: Vec<_> = aliases.iter().filter(|(alias, _)| alias.to_lowercase() == lower).collect();
        found.sort_unstable();
        if let Some((alias, service)) = found.first()
            && found.iter().all(|(_, other)| other == service)
        {
            meant.insert((*text).to_owned(), alias.clone());
        }
    }
    Ok(meant)
}

fn begins_with(column: &'static str, text: &str) -> Expr {
    Expr::col(column).gte(text).and(Expr::col(column).lt(format!("{text}{END}")))
}

/// The columns of [`Text`].
const TEXT: [&str; 5] = ["kind", "owner", "is_name", "value", "folded"];

/// Selects the columns of [`Text`].
fn texts() -> SelectStatement {
    let columns = TEXT.map(|column| ("find_text", column));
    Query::select().columns(columns).from("find_text").take()
}

async fn read(db: &dyn ReadHandle, texts: &SelectStatement) -> Result<Vec<Text>, Error> {
    let rows = db.rows(texts, |row| {
        let kind: i32 = row.get(0)?;
        let (owner, is_name, value, folded) = (row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
        let kind = KINDS.into_iter().find(|known| *known as i32 == kind);
        Ok(kind.map(|kind| Text { kind, owner, is_name, value, folded }))
    });
    Ok(rows.await?.into_iter().flatten().collect())
}

async fn beginning_with(db: &dyn ReadHandle, noun: Option<Noun>, term: &str) -> Result<Vec<Text>, Error> {
    let mut select = texts();
    select.and_where(begins_with("folded", term)).order_by("folded", Order::Asc).order_by("id", Order::Asc);
    let Some(noun) = noun else { return read(db, select.limit(TEXTS)).await };
    let mut of_noun = Query::select();
    of_noun.columns(TEXT).from_subquery(select.limit(BEGINNING_TEXTS).take(), "some");
    of_noun.and_where(Expr::col("kind").eq(noun as i32)).order_by("folded", Order::Asc);
    read(db, of_noun.limit(TEXTS)).await
}

/// Reads texts that have, for each word of the term, one of the words that it may stand for.
async fn with_words(
    db: &dyn ReadHandle,
    noun: Option<Noun>,
    stands_for: &[Vec<(String, u32)>],
) -> Result<Vec<Text>, Error> {
    let names = |words: &[(String, u32)]| words.iter().map(|(word, _)| word.clone()).collect::<Vec<_>>();
    let mut each: Vec<Vec<String>> = stands_for.iter().map(|words| names(words)).collect();
    if each.iter().any(Vec::is_empty) {
        return Ok(Vec::new());
    }
    let mut rarest = 0;
    if each.len() > 1 {
        let mut least = i64::MAX;
        for (place, words) in each.iter().enumerate() {
            let mut some = Query::select();
            some.column("text_id").from("find_posting").and_where(Expr::col("word").is_in(words)).limit(POSTINGS);
            let mut count = Query::select();
            count.expr(Func::count(Expr::col("text_id"))).from_subquery(some, "some");
            let count = db.rows(&count, |row| row.get::<i64>(0)).await?.pop().unwrap_or_default();
            if count < least {
                (rarest, least) = (place, count);
            }
        }
    }
    let rare = each.swap_remove(rarest);
    let mut found = Vec::new();
    for word in rare {
        let mut some = Query::select();
        some.columns(["letters", "text_id"]).from("find_posting").and_where(Expr::col("word").eq(word));
        let most = if each.is_empty() && noun.is_none() { TEXTS } else { POSTINGS };
        some.order_by("letters", Order::Asc).order_by("text_id", Order::Asc).limit(most);
        let mut select = texts();
        select.from_subquery(some, "some").and_where(Expr::col(("find_text", "id")).eq(Expr::col(("some", "text_id"))));
        for words in &each {
            let mut other = Query::select();
            other.expr(Expr::value(1)).from("find_posting").and_where(Expr::col("word").is_in(words));
            for column in ["letters", "text_id"] {
                other.and_where(Expr::col(("find_posting", column)).eq(Expr::col(("some", column))));
            }
            // With OFFSET, PostgreSQL looks up each text and does not read all postings of a frequent word.
            select.and_where(Expr::exists(other.limit(1).offset(0).take()));
        }
        if let Some(noun) = noun {
            select.and_where(Expr::col(("find_text", "kind")).eq(noun as i32));
        }
        select.order_by(("some", "letters"), Order::Asc).order_by(("some", "text_id"), Order::Asc);
        found.extend(read(db, select.limit(TEXTS)).await?);
        if found.len() as u64 >= TEXTS {
            break;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance_of(one: &str, other: &str) -> usize {
        distance(&one.chars().collect::<Vec<_>>(), &other.chars().collect::<Vec<_>>())
    }

    #[test]
    fn the_distance_counts_mistakes_of_typing() {
        for (one, other, mistakes) in [
            ("cart", "cart", 0),
            ("crat", "cart", 1),
            ("cart", "carts", 1),
            ("", "ab", 2),
            ("checkuot", "checkout", 1),
            ("chekcuot", "checkout", 2),
        ] {
            assert_eq!(distance_of(one, other), mistakes, "{one} {other}");
            assert_eq!(distance_of(other, one), mistakes, "{one} {other}");
        }
        assert!(distance_of("a", "abcd") > 2);
    }

    #[test]
    fn the_likest_word_is_the_word_itself_then_what_begins_with_it_then_what_was_mistyped() {
        let of = |word| likeness("payment", word);
        let order = ["payment", "payments", "paymnet", "repayment", "garden"].map(of);
        assert!(order.windows(2).all(|two| two[0] > two[1]), "{order:?}");
        assert_eq!(of("garden"), None);
        assert_eq!(likeness("12", "13"), None);
    }
}
