//! Rows that a write transaction has read or stored. Whoever compares them later need not read them again.

use std::any::{Any, TypeId};

use sea_orm::{Iterable, ModelTrait, PrimaryKeyToColumn, Value};

use super::Table;

/// How many rows are kept. Most mutations read and store fewer.
const MOST: usize = 64;

/// The known rows of a transaction.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Rows as they were before the transaction. `None` for a row that it has made.
    before: Vec<(Key, Option<Kept>)>,
    /// Rows as they are now.
    after: Vec<(Key, Kept)>,
    /// Whether the transaction has written.
    has_written: bool,
    /// Whether it may have changed rows that are not in `after`.
    has_changed_others: bool,
}

/// A table and an id.
type Key = (TypeId, i64);

/// A row of any table.
type Kept = Box<dyn Any + Send>;

impl Known {
    /// Notes rows that the transaction has read and that no other transaction can change until it ends. After it has
    /// written, this does nothing: they may be its own.
    pub(super) fn hold<E: Table>(&mut self, rows: &[E::Model]) {
        if self.has_written {
            return;
        }
        for row in rows {
            if let Some(key) = key::<E>(row).filter(|_| self.before.len() < MOST) {
                self.before.push((key, Some(Box::new(row.clone()))));
            }
        }
    }

    /// Notes rows that the transaction has stored, as they are now. `are_new` says that it has made all of them.
    pub(super) fn store<E: Table>(&mut self, rows: &[E::Model], are_new: bool) {
        self.has_written = true;
        if self.after.len() + rows.len() > MOST {
            // An old version of one of these rows must not stay.
            self.after.clear();
            self.has_changed_others = true;
        }
        if rows.len() > MOST {
            return;
        }
        for row in rows {
            let Some(key) = key::<E>(row) else {
                self.has_changed_others = true;
                continue;
            };
            self.after.retain(|(other, _)| *other != key);
            self.after.push((key, Box::new(row.clone())));
            if are_new && self.before.len() < MOST {
                self.before.push((key, None));
            }
        }
    }

    /// Notes a statement that may have changed any row.
    pub(super) fn change(&mut self) {
        (self.has_written, self.has_changed_others) = (true, true);
        self.after.clear();
    }

    /// The row as it was before the transaction, if that is known: `Some(None)` if there was none.
    pub(super) fn before<E: Table>(&self, id: i64) -> Option<Option<E::Model>> {
        let key = (TypeId::of::<E>(), id);
        let (_, row) = self.before.iter().find(|(other, _)| *other == key)?;
        Some(row.as_ref().and_then(|row| row.downcast_ref::<E::Model>()).cloned())
    }

    /// The row as it is now, if that is known. One that is held, and that the transaction has not stored, is as before.
    pub(super) fn after<E: Table>(&self, id: i64) -> Option<E::Model> {
        let key = (TypeId::of::<E>(), id);
        match self.after.iter().find(|(other, _)| *other == key) {
            Some((_, row)) => row.downcast_ref::<E::Model>().cloned(),
            None if self.has_changed_others => None,
            None => self.before::<E>(id).flatten(),
        }
    }
}

/// `None` if the primary key is not one integer.
fn key<E: Table>(row: &E::Model) -> Option<Key> {
    let mut columns = E::PrimaryKey::iter().map(PrimaryKeyToColumn::into_column);
    match (columns.next().map(|column| row.get(column)), columns.next()) {
        (Some(Value::BigInt(Some(id))), None) => Some((TypeId::of::<E>(), id)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    mod tier {
        use sea_orm::entity::prelude::*;

        #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, serde::Deserialize)]
        #[sea_orm(table_name = "tier")]
        pub struct Model {
            #[sea_orm(primary_key)]
            pub id: i64,
            pub name: String,
        }

        #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
        pub enum Relation {}

        impl ActiveModelBehavior for ActiveModel {}
    }

    use tier::{Entity as Tier, Model};

    fn tier(id: i64, name: &str) -> Model {
        Model { id, name: name.to_owned() }
    }

    #[test]
    fn what_is_read_before_the_first_write_is_what_others_see() {
        let mut known = Known::default();
        known.hold::<Tier>(&[tier(1, "old")]);
        known.store::<Tier>(&[tier(1, "new")], false);
        known.hold::<Tier>(&[tier(1, "new"), tier(2, "perhaps new")]);
        assert_eq!(known.before::<Tier>(1), Some(Some(tier(1, "old"))));
        assert_eq!(known.after::<Tier>(1), Some(tier(1, "new")));
        assert_eq!(known.before::<Tier>(2), None, "it may be the transaction's own");
    }

    #[test]
    fn a_new_row_was_not_there_before_and_a_statement_about_any_row_makes_the_rest_unknown() {
        let mut known = Known::default();
        known.store::<Tier>(&[tier(1, "new")], true);
        assert_eq!(known.before::<Tier>(1), Some(None));
        known.change();
        assert_eq!((known.before::<Tier>(1), known.after::<Tier>(1)), (Some(None), None));
    }

    #[test]
    fn a_held_row_is_as_before_until_a_statement_may_have_changed_any_row() {
        let mut known = Known::default();
        known.hold::<Tier>(&[tier(1, "held"), tier(2, "held")]);
        known.store::<Tier>(&[tier(2, "new")], false);
        assert_eq!(known.after::<Tier>(1), Some(tier(1, "held")));
        assert_eq!(known.after::<Tier>(2), Some(tier(2, "new")));
        known.change();
        assert_eq!(known.after::<Tier>(1), None);
    }

    #[test]
    fn no_old_version_stays_when_there_are_too_many() {
        let mut known = Known::default();
        known.store::<Tier>(&[tier(1, "old")], true);
        let many: Vec<Model> = (1..=MOST as i64 + 1).map(|id| tier(id, "new")).collect();
        known.store::<Tier>(&many, false);
        assert_eq!(known.after::<Tier>(1), None);
        let others: Vec<Model> = (2..=MOST as i64).map(|id| tier(id, "new")).collect();
        known.store::<Tier>(&others, true);
        known.store::<Tier>(&many[..2], false);
        assert_eq!(known.after::<Tier>(1), Some(tier(1, "new")));
        assert_eq!(known.after::<Tier>(9), None);
    }
}
