//! Filters that ask about other filters. A predicate stores the id of the other one; a file names it, as it names everything.

use std::collections::HashMap;

use serde_json::{Map, Value as Json};

use super::read::Standards;
use crate::graphql::field::id;
use crate::service_file::Standard;

/// The key of a predicate that asks about another filter.
const KEY: &str = "filter_id";

/// The names of filters in the predicates of a filter, with the places of these. A text that is an id is no name.
pub(super) fn named(fields: &Map<String, Json>) -> Vec<(usize, String)> {
    let predicates = fields.get("predicates").and_then(Json::as_array).into_iter().flatten();
    let name = |(place, predicate): (usize, &Json)| {
        let value = predicate["value"].as_str().filter(|_| predicate["key"] == KEY)?;
        id::decode(value).is_none().then(|| (place, value.to_owned()))
    };
    predicates.enumerate().filter_map(name).collect()
}

/// Puts an id in the place of a name.
pub(super) fn put(fields: &mut Map<String, Json>, place: usize, id: &str) {
    if let Some(predicate) = fields.get_mut("predicates").and_then(|predicates| predicates.get_mut(place)) {
        predicate["value"] = id.into();
    }
}

/// Puts each filter after those of the files that it names. Filters that name each other keep their order.
pub(super) fn order(entries: &mut Vec<Standards>) {
    // The standards are in order, so the filters follow each other.
    let is_filter = |entry: &Standards| entry.standard == Standard::Filter;
    let first = entries.iter().position(is_filter).unwrap_or_default();
    let many = entries.iter().filter(|entry| is_filter(entry)).count();
    let mut filters: Vec<(usize, Standards)> = entries.drain(first..first + many).enumerate().collect();
    let places: HashMap<&str, usize> = filters.iter().map(|(place, entry)| (&*entry.name, *place)).collect();
    let others = |entry: &Standards| -> Vec<usize> {
        named(&entry.fields).iter().filter_map(|(_, name)| places.get(name.as_str()).copied()).collect()
    };
    let ranks = ranks(&filters.iter().map(|(_, entry)| others(entry)).collect::<Vec<_>>());
    filters.sort_by_key(|(place, _)| ranks[*place]);
    entries.splice(first..first, filters.into_iter().map(|(_, entry)| entry));
}

/// The rank of each place: after those that it needs, and otherwise in their order.
fn ranks(needed: &[Vec<usize>]) -> Vec<usize> {
    let (mut ranks, mut next) = (vec![0; needed.len()], 0);
    let mut has_begun = vec![false; needed.len()];
    for start in 0..needed.len() {
        // Without recursion, because files can have long chains.
        let mut path = Vec::new();
        if !std::mem::replace(&mut has_begun[start], true) {
            path.push((start, 0));
        }
        while let Some((place, seen)) = path.last_mut() {
            match needed[*place].get(*seen) {
                Some(other) => {
                    *seen += 1;
                    if !std::mem::replace(&mut has_begun[*other], true) {
                        path.push((*other, 0));
                    }
                }
                None => {
                    ranks[*place] = next;
                    next += 1;
                    path.pop();
                }
            }
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_comes_first_and_the_rest_stays() {
        for (needed, expected) in [
            (vec![], vec![]),
            (vec![vec![], vec![], vec![]], vec![0, 1, 2]),
            (vec![vec![2], vec![], vec![1]], vec![2, 0, 1]),
            (vec![vec![], vec![2], vec![0]], vec![0, 2, 1]),
            // Circles.
            (vec![vec![0], vec![2], vec![1]], vec![0, 2, 1]),
        ] {
            assert_eq!(ranks(&needed), expected, "{needed:?}");
        }
        let chain: Vec<Vec<usize>> = (1..1_000).map(|next| vec![next]).chain([vec![]]).collect();
        assert_eq!(ranks(&chain), (0..1_000).rev().collect::<Vec<_>>());
    }
}
