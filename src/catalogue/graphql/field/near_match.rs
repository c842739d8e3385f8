//! Finds services with an alias similar to a given one.
//!
//! The work does not grow with the number of services: candidates are the nearest neighbours of a few spellings in the
//! index of aliases, and only candidates are compared letter by letter.

use std::collections::HashMap;

use sea_orm::ColumnTrait;
use sea_orm::sea_query::{Expr, ExprTrait, Order, Query, SelectStatement};

use crate::db::{self, Read, ReadHandle};
use crate::entity::alias::slug;
use crate::entity::{ByIds, service, service_alias};
use crate::error::Result;
use crate::graphql::types::Service;

/// The most services proposed for one alias.
const MOST: usize = 5;
/// The number of neighbours on either side of a spelling that are candidates.
const NEIGHBOURS: u64 = 8;
/// The minimum similarity of two names, from 0 to 1.
const LIKENESS: f64 = 0.6;
/// The similarity of names whose last parts are equal: a little less than that of equal names.
const SAME_LAST: f64 = 0.99;
/// The number of letters of a long name that are compared. The work grows with its square.
const LETTERS: usize = 64;

/// The most aliases of a service that are compared to say how alike it is.
const SAID: usize = 8;

/// Says how alike a name is to a service, by the most similar of its first aliases.
pub fn in_words<'a>(alias: &str, aliases: impl Iterator<Item = &'a str>) -> &'static str {
    let wanted = Name::new(alias);
    let best = aliases.take(SAID).map(|other| wanted.likeness(&Name::new(other))).fold(0.0, f64::max);
    match best {
        _ if best >= 1.0 => "same letters",
        _ if best >= SAME_LAST => "same last part",
        _ if best >= 0.85 => "very similar name",
        _ if best >= 0.7 => "similar name",
        _ => "slightly similar name",
    }
}

/// Finds the services with the most similar aliases for each alias, most similar first.
pub(in crate::graphql) async fn services<'a>(
    db: &dyn ReadHandle,
    aliases: impl Iterator<Item = &'a str>,
) -> Result<Vec<Vec<Service>>> {
    let wanted: Vec<Name> = aliases.map(Name::new).collect();
    let candidates = candidates(db, wanted.iter().flat_map(Name::spellings).collect()).await?;
    let nearest: Vec<Vec<i64>> = wanted
        .iter()
        .map(|name| {
            let near = name.spellings().flat_map(|spelling| candidates.get(spelling).into_iter().flatten());
            name.nearest(near)
        })
        .collect();
    let rows = service::Entity::by_ids(db, nearest.iter().flatten().map(|id| Some(*id))).await?;
    let mut rows = rows.into_iter();
    Ok(nearest.iter().map(|ids| rows.by_ref().take(ids.len()).flatten().collect()).collect())
}

/// A name, normalised for comparison. Letter case and separators do not matter. The part after the last slash or colon
/// (`org/repo`, `prod:deployment/shop`) is also compared on its own.
struct Name {
    whole: String,
    last: String,
    /// The beginning of the last part, which most of its variants share.
    stem: String,
}

impl Name {
    fn new(alias: &str) -> Self {
        let cut = |text: &str| slug(text, "").chars().take(LETTERS).collect::<String>();
        let last = alias.rsplit(['/', ':']).map(cut).find(|part| !part.is_empty()).unwrap_or_default();
        // Two thirds of the letters: variants differ by a typo near the end, or by the ending.
        let stem = last.chars().take((last.chars().count() * 2).div_ceil(3)).collect();
        Self { whole: cut(alias), last, stem }
    }

    /// The spellings whose neighbours are candidates.
    fn spellings(&self) -> impl Iterator<Item = &str> {
        let mut spellings = vec![&*self.whole, &*self.last, &*self.stem];
        spellings.retain(|spelling| !spelling.is_empty());
        spellings.dedup();
        spellings.into_iter()
    }

    /// Returns the similarity of two names, from 0 for nothing in common to 1 for equal names.
    fn likeness(&self, other: &Self) -> f64 {
        let of = |one: &str, other: &str| {
            let (shorter, longer) = if one.len() < other.len() { (one, other) } else { (other, one) };
            let begins_with_it =
                shorter.len() >= 3 && longer.strip_prefix(shorter).is_some_and(|rest| rest.starts_with('_'));
            let likeness = strsim::normalized_damerau_levenshtein(one, other);
            if begins_with_it { likeness.max(LIKENESS) } else { likeness }
        };
        of(&self.whole, &other.whole).max(SAME_LAST * of(&self.last, &other.last))
    }

    /// Returns the keys of the services whose aliases are most similar to this name.
    fn nearest<'c>(&self, candidates: impl Iterator<Item = &'c service_alias::Model>) -> Vec<i64> {
        let mut likeness = HashMap::<i64, f64>::new();
        for candidate in candidates {
            let like = self.likeness(&Name::new(&candidate.value));
            if like >= LIKENESS {
                let best = likeness.entry(candidate.service_id).or_insert(like);
                *best = best.max(like);
            }
        }
        let mut nearest: Vec<(i64, f64)> = likeness.into_iter().collect();
        nearest.sort_by(|(id, like), (other, likes)| likes.total_cmp(like).then(id.cmp(other)));
        nearest.into_iter().take(MOST).map(|(id, _)| id).collect()
    }
}

/// Reads the neighbours of each spelling in the index of aliases. Takes two statements for any number of spellings.
async fn candidates(
    db: &dyn ReadHandle,
    mut spellings: Vec<&str>,
) -> Result<HashMap<String, Vec<service_alias::Model>>> {
    spellings.sort_unstable();
    spellings.dedup();
    if spellings.is_empty() {
        return Ok(HashMap::new());
    }
    let values = spellings.iter().map(|spelling| (*spelling).to_owned());
    let mut keys = Query::select();
    keys.from_values(values, "spelling").column(("spelling", "column1"));
    for place in 0..NEIGHBOURS {
        for direction in [Order::Asc, Order::Desc] {
            keys.expr(db::scalar(neighbour(direction, place)));
        }
    }
    let read = |row: &db::Row<'_>| {
        let keys = (1..=2 * NEIGHBOURS as usize).map(|column| row.get::<Option<i64>>(column));
        Ok((row.get::<String>(0)?, keys.collect::<Result<Vec<_>, _>>()?))
    };
    let by_spelling = db.rows(&keys, read).await?;
    let mut wanted: Vec<i64> = by_spelling.iter().flat_map(|(_, keys)| keys).copied().flatten().collect();
    wanted.sort_unstable();
    wanted.dedup();
    let rows = service_alias::Entity::by_ids(db, wanted.iter().copied().map(Some)).await?;
    let rows: HashMap<i64, service_alias::Model> = rows.into_iter().flatten().map(|row| (row.id, row)).collect();
    let found = |keys: Vec<Option<i64>>| keys.into_iter().filter_map(|key| rows.get(&key?).cloned()).collect();
    Ok(by_spelling.into_iter().map(|(spelling, keys)| (spelling, found(keys))).collect())
}

/// Selects the alias that is `place` positions before or after a spelling.
fn neighbour(direction: Order, place: u64) -> SelectStatement {
    let value = service_alias::Column::Value;
    let (own, spelling) = (Expr::col(value.as_column_ref()), Expr::col(("spelling", "column1")));
    let beside = if direction == Order::Asc { own.gte(spelling) } else { own.lt(spelling) };
    Query::select()
        .column(service_alias::Column::Id)
        .from(service_alias::Entity)
        .and_where(beside)
        .order_by(value, direction)
        .limit(1)
        .offset(place)
        .take()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_is_said_in_words_by_the_most_similar_alias() {
        for (alias, aliases, words) in [
            ("Event-Bus", &["stock", "event_bus"][..], "same letters"),
            ("org/cart", &["cart"][..], "same last part"),
            ("shopping-catr", &["shopping_cart"][..], "very similar name"),
            ("shpo", &["shop"][..], "similar name"),
            ("cart-worker", &["cart"][..], "slightly similar name"),
        ] {
            assert_eq!(in_words(alias, aliases.iter().copied()), words, "{alias}");
        }
    }
}
