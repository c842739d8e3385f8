//! The level of a service, from the results of its checks.

use std::sync::Arc;

use super::home::Placed;
use crate::entity::{category, level};
use crate::graphql::prelude::*;

/// Reads the levels, lowest first.
pub(super) async fn in_order(db: &dyn ReadHandle) -> Result<Vec<level::Model>> {
    let levels = level::Entity::find().order_by_asc(level::Column::Index).order_by_asc(level::Column::Id);
    Ok(db.all(levels).await?)
}

/// Reads the categories of these checks, in order of creation.
pub(super) async fn categories(db: &dyn ReadHandle, checks: &[Placed]) -> Result<Vec<Arc<category::Model>>> {
    let categories = db.all(category::Entity::find().order_by_asc(category::Column::Id)).await?;
    let is_used = |category: &category::Model| checks.iter().any(|one| one.check.category_id == category.id);
    Ok(categories.into_iter().filter(is_used).map(Arc::new).collect())
}

/// Returns the position of the level that a service has among `levels`, which are in the order of their indexes. `missed`
/// are the indexes of the levels of the checks that concern the service and that it does not pass. `None` without levels.
///
/// It is the highest level such that no check of this level or one below is missed, and the lowest one if there is none.
pub(super) fn position(levels: &[level::Model], missed: impl Iterator<Item = i32>) -> Option<usize> {
    let last = levels.len().checked_sub(1)?;
    let Some(lowest_missed) = missed.min() else { return Some(last) };
    Some(levels.partition_point(|level| level.index < lowest_missed).saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(place: usize, index: i32) -> level::Model {
        let id = place as i64 + 1;
        level::Model { id, alias: id.to_string(), name: id.to_string(), description: None, index, locked_by: None }
    }

    /// The rule as it is written down, without a thought for its cost.
    fn by_the_words(levels: &[level::Model], checks: &[(i32, bool)]) -> Option<usize> {
        let passes_up_to = |index: i32| checks.iter().filter(|(own, _)| *own <= index).all(|(_, passed)| *passed);
        let highest = (0..levels.len()).rev().find(|place| passes_up_to(levels[*place].index));
        highest.or(if levels.is_empty() { None } else { Some(0) })
    }

    #[test]
    fn the_level_is_that_of_the_rule_for_all_small_rubrics() {
        let indexes = [0, 1, 1, 3, 7];
        let mut count = 0;
        for many in 0..=indexes.len() {
            let levels: Vec<_> =
                indexes[..many].iter().enumerate().map(|(place, index)| level(place, *index)).collect();
            for mask in 0..4_u32.pow(many as u32) {
                // Each level has no check, one that passes, one that fails, or both.
                let of = |place: usize| {
                    let both = mask >> (2 * place) & 3;
                    let index = indexes[place];
                    [(both & 1 != 0, (index, true)), (both & 2 != 0, (index, false))]
                };
                let checks = (0..many).flat_map(of).filter(|(is, _)| *is).map(|(_, check)| check);
                let checks: Vec<_> = checks.collect();
                let missed = checks.iter().filter(|(_, passed)| !passed).map(|(index, _)| *index);
                assert_eq!(position(&levels, missed), by_the_words(&levels, &checks), "{indexes:?} {checks:?}");
                count += 1;
            }
        }
        assert!(count > 1_000);
    }
}
