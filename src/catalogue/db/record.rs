//! The record of a transaction: the rows that it has stored, changed or deleted, before and after. It is the one account
//! of what a mutation did. The audit, the permissions and the search follow from it.
//!
//! The database tells a stored row as it is then, and a deleted one as it was. A row from before is known if the
//! transaction held it, or made it. Any other is [read](super::AnyTable::read) once the mutation is done.

use std::collections::HashMap;

use super::following::Following;
use super::said::{MayChange, Told};
use super::table::{AnyRow, RowOf, Table, key_of};

/// How many held rows are kept. Most mutations read fewer.
const HELD: usize = 64;

/// How many rows are kept with their contents. Of more, only the ids are kept, and their contents are read again.
const KEPT: usize = 256;

/// The most rows that a mutation may change: those that it changes itself, and none that follow by foreign keys.
pub const MOST_CHANGED: usize = 20_000;

/// A row that a transaction has stored, changed or deleted.
#[derive(Debug, Clone)]
pub struct Change {
    /// The row.
    pub row: RowOf,
    /// The row before the transaction.
    pub before: Side,
    /// The row now.
    pub after: Side,
}

/// One of the two versions of a row.
#[derive(Debug, Clone)]
pub enum Side {
    /// It must be read.
    Unknown,
    /// There is none.
    Absent,
    /// It is known.
    Row(AnyRow),
}

impl Side {
    /// The row, if it is known and exists.
    pub fn row(&self) -> Option<&AnyRow> {
        match self {
            Self::Row(row) => Some(row),
            Self::Unknown | Self::Absent => None,
        }
    }
}

impl From<Option<AnyRow>> for Side {
    fn from(row: Option<AnyRow>) -> Self {
        row.map_or(Self::Absent, Self::Row)
    }
}

/// The record of a transaction.
#[derive(Debug, Default)]
pub struct Record {
    /// The most rows that it may have. 0 if none is kept.
    pub(super) most: usize,
    /// Rows that no other transaction can change, as they were before this one.
    held: Vec<(RowOf, AnyRow)>,
    /// In the order in which they were first changed.
    changes: Vec<Change>,
    places: HashMap<RowOf, usize>,
    /// Whether more rows were changed.
    pub(super) is_over: bool,
    /// Who may change the tables of which it has no rows.
    pub(super) may_change: Option<MayChange>,
    /// The rows from whose changes others follow that are not recorded.
    followed: Vec<(RowOf, Following)>,
}

impl Record {
    /// Whether changes of a table are recorded.
    pub(super) fn records<E: Table>(&self) -> bool {
        self.most > 0 && !matches!(E::TOLD, Told::Nothing)
    }

    /// Notes that a statement changes rows that are not recorded, and who may change such rows.
    pub(super) fn change_unseen(&mut self, may_change: MayChange) {
        self.may_change = self.may_change.max(Some(may_change));
    }

    /// Notes that rows were changed which follow from a change of a row, made or to be made.
    pub(super) fn follow(&mut self, row: RowOf, from: Following) {
        if self.most > 0 && !self.followed.contains(&(row, from)) {
            self.followed.push((row, from));
        }
    }

    /// A row from whose change others follow although it was not changed.
    pub(super) fn unfounded(&self) -> Option<RowOf> {
        let is_founded = |(row, from): &&(RowOf, Following)| {
            let change = self.places.get(row).and_then(|place| self.changes.get(*place));
            change.is_some_and(|change| *from == Following::Change || matches!(change.after, Side::Absent))
        };
        self.followed.iter().find(|followed| !is_founded(followed)).map(|(row, _)| *row)
    }

    /// Notes rows that the transaction has read and that no other transaction can change until it ends.
    pub(super) fn hold<E: Table>(&mut self, rows: &[E::Model]) {
        if !self.records::<E>() {
            return;
        }
        for row in rows {
            let Some(place) = key_of::<E>(row).map(RowOf::new::<E>) else { continue };
            let is_known = self.places.contains_key(&place) || self.held.iter().any(|(held, _)| *held == place);
            if self.held.len() < HELD && !is_known {
                self.held.push((place, AnyRow::new::<E>(row.clone())));
            }
        }
    }

    /// Notes rows that the transaction has stored, as they are now. `are_new` says that it has made all of them.
    pub(super) fn store<E: Table>(&mut self, rows: &[E::Model], are_new: bool) {
        if !self.records::<E>() {
            return;
        }
        for row in rows {
            let is_kept = self.changes.len() < KEPT;
            let Some(change) = self.change::<E>(row, are_new) else { continue };
            change.after = if is_kept { Side::Row(AnyRow::new::<E>(row.clone())) } else { Side::Unknown };
        }
    }

    /// Notes rows that the transaction has deleted, as they were last.
    pub(super) fn delete<E: Table>(&mut self, rows: &[E::Model]) {
        if !self.records::<E>() {
            return;
        }
        for row in rows {
            let is_first = key_of::<E>(row).is_some_and(|id| !self.places.contains_key(&RowOf::new::<E>(id)));
            let is_kept = self.changes.len() < KEPT;
            let Some(change) = self.change::<E>(row, false) else { continue };
            change.after = Side::Absent;
            if is_first && is_kept {
                change.before = Side::Row(AnyRow::new::<E>(row.clone()));
            }
        }
    }

    fn change<E: Table>(&mut self, row: &E::Model, is_new: bool) -> Option<&mut Change> {
        let row = RowOf::new::<E>(key_of::<E>(row)?);
        let place = match self.places.get(&row) {
            Some(place) => *place,
            None if self.changes.len() >= self.most => {
                self.is_over = true;
                return None;
            }
            None => {
                let held = self.held.iter().find(|(held, _)| *held == row);
                let before = match held {
                    _ if is_new => Side::Absent,
                    Some((_, before)) => Side::Row(before.clone()),
                    None => Side::Unknown,
                };
                self.places.insert(row, self.changes.len());
                self.changes.push(Change { row, before, after: Side::Unknown });
                self.changes.len() - 1
            }
        };
        self.changes.get_mut(place)
    }

    /// The changed rows, in the order in which they were first changed.
    pub(super) fn changes(&self) -> Vec<Change> {
        self.changes.clone()
    }

    /// The row before the transaction, as far as that is known.
    pub(super) fn before(&self, row: RowOf) -> Side {
        match self.places.get(&row).and_then(|place| self.changes.get(*place)) {
            Some(change) => change.before.clone(),
            None => match self.held.iter().find(|(held, _)| *held == row) {
                Some((_, held)) => Side::Row(held.clone()),
                None => Side::Unknown,
            },
        }
    }

    /// The row as it is now, as far as that is known. One that is held, and that the transaction has not changed, is as
    /// before.
    pub(super) fn after(&self, row: RowOf) -> Side {
        match self.places.get(&row).and_then(|place| self.changes.get(*place)) {
            Some(change) => change.after.clone(),
            None => self.before(row),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    mod tier {
        use sea_orm::entity::prelude::*;

        use crate::db::{Owner, Table, Told};

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

        impl Table for Entity {
            const TOLD: Told = Told::Alone("Tier");

            fn owner(_: &Model) -> Owner {
                Owner::Nobody
            }
        }
    }

    use tier::{Entity as Tier, Model};

    fn tier(id: i64, name: &str) -> Model {
        Model { id, name: name.to_owned() }
    }

    fn kept() -> Record {
        Record { most: MOST_CHANGED, ..Record::default() }
    }

    fn name(side: &Side) -> String {
        match side {
            Side::Unknown => "?".to_owned(),
            Side::Absent => "-".to_owned(),
            Side::Row(row) => format!("{:?}", row.value("name")),
        }
    }

    /// Each change: the name before, and now.
    fn names(record: &Record) -> Vec<[String; 2]> {
        record.changes().iter().map(|Change { before, after, .. }| [name(before), name(after)]).collect()
    }

    fn named(name: &str) -> String {
        format!("{:?}", Some(sea_orm::Value::from(name)))
    }

    #[test]
    fn a_held_row_is_known_before_and_after_its_change() {
        let mut record = kept();
        record.hold::<Tier>(&[tier(1, "old"), tier(2, "held")]);
        record.store::<Tier>(&[tier(1, "new")], false);
        record.hold::<Tier>(&[tier(1, "new")]);
        assert_eq!(names(&record), [[named("old"), named("new")]]);
        assert_eq!(name(&record.after(RowOf::new::<Tier>(2))), named("held"));
        assert_eq!(name(&record.before(RowOf::new::<Tier>(3))), "?");
    }

    #[test]
    fn a_row_that_was_made_was_not_there_and_a_deleted_one_is_as_it_was() {
        let mut record = kept();
        record.store::<Tier>(&[tier(1, "new")], true);
        record.delete::<Tier>(&[tier(1, "new"), tier(2, "gone")]);
        record.store::<Tier>(&[tier(3, "stored")], false);
        record.delete::<Tier>(&[tier(3, "stored")]);
        let none = || "-".to_owned();
        assert_eq!(names(&record), [[none(), none()], [named("gone"), none()], ["?".to_owned(), none()]]);
    }

    #[test]
    fn rows_follow_only_from_a_change_that_was_made() {
        let mut record = kept();
        let row = RowOf::new::<Tier>;
        record.follow(row(1), Following::Deletion);
        assert_eq!(record.unfounded(), Some(row(1)));
        record.store::<Tier>(&[tier(1, "new")], false);
        assert_eq!(record.unfounded(), Some(row(1)));
        record.delete::<Tier>(&[tier(1, "new")]);
        assert_eq!(record.unfounded(), None);
        record.follow(row(2), Following::Change);
        assert_eq!(record.unfounded(), Some(row(2)));
        record.store::<Tier>(&[tier(2, "new")], false);
        assert_eq!(record.unfounded(), None);
    }

    #[test]
    fn of_many_rows_only_some_are_kept_and_too_many_are_refused() {
        let mut record = kept();
        let many: Vec<Model> = (0..=MOST_CHANGED as i64).map(|id| tier(id, "new")).collect();
        record.store::<Tier>(&many, true);
        let known = record.changes().iter().filter(|change| change.after.row().is_some()).count();
        assert_eq!((known, record.changes().len(), record.is_over), (KEPT, MOST_CHANGED, true));
    }

    #[test]
    fn a_transaction_without_a_record_notes_nothing() {
        let mut record = Record::default();
        record.store::<Tier>(&[tier(1, "new")], true);
        assert_eq!(names(&record), [[""; 2]; 0]);
    }
}
