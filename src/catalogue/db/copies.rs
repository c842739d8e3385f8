//! Rows of a level: sorted and gathered by key, and copied to each of the keys.
//!
//! These functions are called for every type of rows. What does not depend on the type is compiled once.

use std::mem;

use super::Error;

/// Sorts items by a key. Those with equal keys keep their order.
///
/// Their order is found first, from the keys alone: items can be large, and few are moved more than once.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    // As a rule they are sorted already, and this only looks.
    if !items.is_sorted_by_key(&key) {
        arrange(items, order_of(&items.iter().map(key).collect::<Vec<K>>()));
    }
}

/// The places of the keys, in the order of the keys.
#[inline(never)]
fn order_of<K: Ord>(keys: &[K]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_unstable_by(|one, other| keys[*one].cmp(&keys[*other]).then(one.cmp(other)));
    order
}

/// Puts the item at `order[place]` at `place`, for every place. Each swap moves one item to where it stays.
fn arrange<T>(items: &mut [T], mut order: Vec<usize>) {
    for first in 0..order.len() {
        let mut place = first;
        loop {
            let from = mem::replace(&mut order[place], place);
            if from == first {
                break;
            }
            items.swap(place, from);
            place = from;
        }
    }
}

/// Gathers items by their key: one list for each key, in which they keep their order.
pub fn by_key<T>(mut items: Vec<(i64, T)>) -> Vec<(i64, Vec<T>)> {
    sort_by_key(&mut items, |(key, _)| *key);
    let mut items = items.into_iter();
    let mut lists = Vec::new();
    while let Some(&(key, _)) = items.as_slice().first() {
        let count = items.as_slice().iter().take_while(|(other, _)| *other == key).count();
        lists.push((key, items.by_ref().take(count).map(|(_, item)| item).collect()));
    }
    lists
}

/// Returns what was found for each key, in the order of the keys. `found` has each key once. The first occurrence of a
/// key gets the item itself, later ones get copies. `charge` charges a copy to the budget as if it had been read.
pub fn to_each<T: Clone>(
    keys: &mut dyn Iterator<Item = Option<i64>>,
    mut found: Vec<(i64, T)>,
    charge: &dyn Fn(&T) -> Result<(), Error>,
) -> Result<Vec<Option<T>>, Error> {
    sort_by_key(&mut found, |(key, _)| *key);
    let (keys_found, mut items): (Vec<i64>, Vec<Option<T>>) =
        found.into_iter().map(|(key, item)| (key, Some(item))).unzip();
    // Where each item has gone.
    let mut firsts = vec![0; items.len()];
    let mut each: Vec<Option<T>> = Vec::with_capacity(keys.size_hint().0);
    for key in keys {
        let Some(place) = key.and_then(|key| keys_found.binary_search(&key).ok()) else {
            each.push(None);
            continue;
        };
        let mut item = items[place].take();
        match item {
            Some(_) => firsts[place] = each.len(),
            None => {
                let first = &each[firsts[place]];
                first.iter().try_for_each(charge)?;
                item.clone_from(first);
            }
        }
        each.push(item);
    }
    Ok(each)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn every_use_but_the_first_is_a_copy_and_is_charged() {
        let copies = Cell::new(0);
        let charge = |_: &&str| {
            copies.set(copies.get() + 1);
            Ok(())
        };
        let keys = [Some(2), None, Some(1), Some(2), Some(3), Some(2)];
        let each = to_each(&mut keys.into_iter(), vec![(2, "two"), (1, "one")], &charge).expect("nothing is refused");
        assert_eq!(each, [Some("two"), None, Some("one"), Some("two"), None, Some("two")]);
        assert_eq!(copies.get(), 2);
    }

    #[test]
    fn a_copy_that_is_refused_ends_it() {
        let refuse = |_: &i32| Err(Error::fault("too many"));
        assert!(to_each(&mut [Some(1), Some(1)].into_iter(), vec![(1, 1)], &refuse).is_err());
    }

    #[test]
    fn items_with_equal_keys_keep_their_order_when_sorted() {
        // All sequences of five keys below four, each with its place.
        for number in 0..4_u32.pow(5) {
            let digits = (0..5).map(|place| (number / 4_u32.pow(place) % 4, place));
            let mut items: Vec<(u32, u32)> = digits.collect();
            let mut expected = items.clone();
            expected.sort();
            sort_by_key(&mut items, |(key, _)| *key);
            assert_eq!(items, expected);
        }
    }

    #[test]
    fn items_are_gathered_in_their_order() {
        let lists = by_key(vec![(3, "c"), (1, "a"), (1, "b")]);
        assert_eq!(lists, [(1, vec!["a", "b"]), (3, vec!["c"])]);
    }
}
