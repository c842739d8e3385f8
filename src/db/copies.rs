//! Copies rows that were read once but occur several times in a level.

use foldhash::HashMap;
use sea_orm::DbErr;

/// Returns the row of each key, in the order of the keys. The first occurrence of a key gets the row itself, later ones
/// get copies. `charge` charges a copy to the budget as if it had been read.
pub fn to_each<T: Clone>(
    keys: impl Iterator<Item = Option<i64>> + Clone,
    found: impl IntoIterator<Item = (i64, T)>,
    charge: impl Fn(&T) -> Result<(), DbErr>,
) -> Result<Vec<Option<T>>, DbErr> {
    let mut left: HashMap<i64, T> = found.into_iter().collect();
    let mut each: Vec<Option<T>> = keys.clone().map(|key| left.remove(&key?)).collect();
    // Where a key was used first. Most relations use each key once, and do not need it.
    let mut firsts = None;
    for (place, key) in keys.clone().enumerate() {
        let (None, Some(key)) = (&each[place], key) else { continue };
        let firsts = firsts.get_or_insert_with(|| {
            let used = keys.clone().enumerate().filter(|(place, _)| each[*place].is_some());
            used.filter_map(|(place, key)| Some((key?, place))).collect::<HashMap<i64, usize>>()
        });
        if let Some(item) = firsts.get(&key).and_then(|first| each[*first].as_ref()) {
            charge(item)?;
            each[place] = Some(item.clone());
        }
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
        let each = to_each(keys.into_iter(), [(1, "one"), (2, "two")], charge).expect("nothing is refused");
        assert_eq!(each, [Some("two"), None, Some("one"), Some("two"), None, Some("two")]);
        assert_eq!(copies.get(), 2);
    }

    #[test]
    fn a_copy_that_is_refused_ends_it() {
        let refuse = |_: &i32| Err(DbErr::Custom("too many".to_owned()));
        assert!(to_each([Some(1), Some(1)].into_iter(), [(1, 1)], refuse).is_err());
    }
}
