//! Copies rows that were read once but occur several times in a level.

use foldhash::{HashMap, HashMapExt};
use sea_orm::DbErr;

/// Returns the row of each key, in the order of the keys. The last occurrence of a key gets the row itself, earlier
/// ones get copies. `charge` charges a copy to the budget as if it had been read.
pub fn to_each<T: Clone>(
    keys: impl Iterator<Item = Option<i64>> + Clone,
    found: impl IntoIterator<Item = (i64, T)>,
    charge: impl Fn(&T) -> Result<(), DbErr>,
) -> Result<Vec<Option<T>>, DbErr> {
    let found = found.into_iter();
    let mut left = HashMap::with_capacity(found.size_hint().0);
    left.extend(found.map(|(key, item)| (key, (item, 0_usize))));
    for key in keys.clone().flatten() {
        if let Some((_, uses)) = left.get_mut(&key) {
            *uses += 1;
        }
    }
    let mut each = Vec::with_capacity(keys.size_hint().0);
    for key in keys {
        each.push(match key.and_then(|key| left.get_mut(&key)) {
            Some((item, uses)) if *uses > 1 => {
                *uses -= 1;
                charge(item)?;
                Some(item.clone())
            }
            _ => key.and_then(|key| left.remove(&key)).map(|(item, _)| item),
        });
    }
    Ok(each)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn every_use_but_the_last_is_a_copy_and_is_charged() {
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
