//! The account of a mutation: every row that its transaction has changed, and the objects of which the audit tells them.

use std::collections::{BTreeMap, HashMap, VecDeque};

use sea_orm::Value;
use serde_json::{Map, Value as Json, json};

use super::row::{Columns, columns_of, different, insert, insert_different, name_of, names_of, read_all, referred};
use crate::db::{
    self, AnyRow, AnyTable, Before, Change, Entry, MOST_AT_ONCE, Owner, RowOf, Side, Told as InAudit, Transaction,
    Word, World,
};
use crate::entity::audit::Subject;
use crate::entity::{recorded_as, team, user};

/// What a transaction has changed.
#[derive(Debug)]
pub struct Account {
    /// The rows that differ, in the order in which they were first changed. Those that follow come last.
    pub changes: Vec<Whole>,
}

/// A row that differs.
#[derive(Debug)]
pub struct Whole {
    /// Its table and its id.
    pub row: RowOf,
    /// The row before. `None` if it is new.
    pub before: Option<AnyRow>,
    /// The row now. `None` if it was deleted.
    pub after: Option<AnyRow>,
    /// Whether it follows from another by a foreign key: it was deleted along with the row that it refers to, or has lost
    /// its reference.
    pub follows: bool,
}

/// How changes are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Each object alone, as [`Told`](InAudit) says.
    Object,
    /// With the thing that they belong to, as service files describe it: [`Table::LIST`](db::Table::LIST).
    Document,
}

/// What the audit tells of an object.
#[derive(Debug)]
pub struct Told {
    /// Its row.
    pub row: RowOf,
    /// The object, as the audit names it.
    pub subject: Subject,
    /// Its fields, each with its `old` and `new` value, or with what was `removed` and `added`.
    pub changed: Map<String, Json>,
}

impl Account {
    /// Completes the record of a transaction: reads the versions of rows that it does not know, and finds the rows that
    /// follow by foreign keys. `None` if there are too many changes.
    pub async fn complete(before: Before<'_>, transaction: &Transaction) -> Result<Option<Self>, db::Error> {
        let Some(changes) = transaction.changes()? else { return Ok(None) };
        let changes = complete(before, transaction, changes).await?;
        let mut account = Self { changes };
        account.follow(before).await?;
        account.changes.retain(|change| !is_same(change.before.as_ref(), change.after.as_ref()));
        Ok(Some(account))
    }

    /// Without the rows that differ only in the time of their last change.
    pub fn beside_times(mut self) -> Self {
        let columns =
            |row: &AnyRow| -> Vec<_> { row.columns().into_iter().filter(|(name, _)| *name != "updated_at").collect() };
        self.changes.retain(|change| change.before.as_ref().map(columns) != change.after.as_ref().map(columns));
        self
    }

    /// Adds the rows that were deleted along with others, or have lost their references to them.
    async fn follow(&mut self, before: Before<'_>) -> Result<(), db::Error> {
        let gone = self.changes.iter().filter(|change| change.before.is_some() && change.after.is_none());
        let mut gone: VecDeque<RowOf> = gone.map(|change| change.row).collect();
        if gone.is_empty() {
            return Ok(());
        }
        let mut places: HashMap<RowOf, usize> =
            self.changes.iter().enumerate().map(|(place, change)| (change.row, place)).collect();
        while let Some(parent) = gone.pop_front() {
            for (table, column, is_deleted) in db::referring(&before, parent, is_told).await? {
                for row in table.read(World::Before(before), Some(column), vec![parent.id], MOST_AT_ONCE).await? {
                    let Some(place) = row.place() else { continue };
                    let own = places.get(&place).and_then(|place| self.changes.get_mut(*place));
                    let Some(own) = own else {
                        let after = (!is_deleted).then(|| row.without(column));
                        places.insert(place, self.changes.len());
                        gone.extend(is_deleted.then_some(place));
                        self.changes.push(Whole { row: place, before: Some(row), after, follows: true });
                        continue;
                    };
                    // The transaction may have changed it before.
                    let is_still = |after: &AnyRow| after.value(column) == Some(Value::BigInt(Some(parent.id)));
                    if let Some(after) = own.after.take_if(|after| is_still(after)) {
                        own.after = (!is_deleted).then(|| after.without(column));
                        gone.extend(is_deleted.then_some(place));
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether the search finds any of the rows.
    pub fn is_searched(&self) -> bool {
        self.changes.iter().any(|change| db::find::is_searched(change.row.table.name()))
    }

    /// Tells the changes by their objects, in the order in which these were first changed.
    pub async fn told(&self, before: Before<'_>, transaction: &Transaction, by: By) -> Result<Vec<Told>, db::Error> {
        let mut subjects: Vec<Parts<'_>> = Vec::new();
        let mut places: HashMap<RowOf, usize> = HashMap::new();
        for change in &self.changes {
            let Some(subject) = change.subject(by) else { continue };
            let place = *places.entry(subject).or_insert_with(|| {
                subjects.push(Parts { subject, own: None, lists: BTreeMap::new() });
                subjects.len() - 1
            });
            if let Some(parts) = subjects.get_mut(place) {
                parts.add(change, by);
            }
        }
        let referred: Vec<RowOf> = subjects.iter().flat_map(Parts::referred).collect();
        let names = names_of(before, transaction, referred).await?;
        Ok(subjects.into_iter().map(|parts| parts.told(&names)).collect())
    }
}

impl Whole {
    /// The object of which this is told.
    pub fn subject(&self, by: By) -> Option<RowOf> {
        let of_owner = || match self.after.as_ref().or(self.before.as_ref())?.owner() {
            Owner::Row(row) => Some(row),
            Owner::Team(id) if by == By::Document => Some(RowOf::new::<team::Entity>(id)),
            Owner::Nobody | Owner::Team(_) | Owner::User(_) => None,
        };
        match self.row.table.told() {
            InAudit::Alone(_) | InAudit::Directly(_) if self.list(by).is_none() => Some(self.row),
            InAudit::Alone(_) | InAudit::Directly(_) | InAudit::In(_) => of_owner(),
            InAudit::Nothing => None,
        }
    }

    /// What it belongs to: its owner, and what it connects that with. Whatever merely has an owner, such as a service, does
    /// not belong to it: only entries of [lists](db::Table::LIST) belong to a team or a user.
    fn owners(&self) -> [Option<(&'static str, i64)>; 2] {
        let is_part = self.row.table.list().is_some();
        let owner = |row: &AnyRow| match row.owner() {
            Owner::Row(row) => Some(row),
            Owner::Team(id) if is_part => Some(RowOf::new::<team::Entity>(id)),
            Owner::User(id) if is_part => Some(RowOf::new::<user::Entity>(id)),
            Owner::Nobody | Owner::Team(_) | Owner::User(_) => None,
        };
        let versions = || self.after.iter().chain(&self.before);
        let owners = [versions().find_map(owner), versions().find_map(AnyRow::other_owner)];
        owners.map(|owner| owner.and_then(|row| Some((row.table.class()?, row.id))))
    }

    /// The list of the object in which this is told.
    fn list(&self, by: By) -> Option<&'static str> {
        match (self.row.table.told(), by) {
            (InAudit::In(list), _) => Some(list),
            (_, By::Document) => self.row.table.list(),
            (_, By::Object) => None,
        }
    }
}

/// What has changed of an object.
struct Parts<'a> {
    subject: RowOf,
    own: Option<&'a Whole>,
    /// The entries of its lists: those that were removed, and those that were added.
    lists: BTreeMap<&'static str, [Vec<Entry>; 2]>,
}

impl<'a> Parts<'a> {
    fn add(&mut self, change: &'a Whole, by: By) {
        let Some(list) = change.list(by) else {
            self.own = Some(change);
            return;
        };
        let [removed, added] = self.lists.entry(list).or_default();
        removed.extend(change.before.as_ref().map(AnyRow::entry));
        added.extend(change.after.as_ref().map(AnyRow::entry));
    }

    fn different(&self) -> Vec<(&'static str, Option<Value>, Option<Value>)> {
        let Some(own) = self.own else { return Vec::new() };
        let columns = |row: &Option<AnyRow>| -> Option<Columns> { row.as_ref().map(columns_of) };
        different(columns(&own.before).as_ref(), columns(&own.after).as_ref())
    }

    /// The rows whose names it needs.
    fn referred(&self) -> Vec<RowOf> {
        let mut rows = Vec::new();
        rows.extend(self.own.is_none().then_some(self.subject));
        for (column, old, new) in self.different() {
            rows.extend([old, new].iter().flat_map(|value| referred(column, value.as_ref())));
        }
        let words = self.lists.values().flatten().flatten().flat_map(|entry| &entry.name);
        rows.extend(words.filter_map(|word| if let Word::NameOf(row) = word { Some(*row) } else { None }));
        rows
    }

    fn told(self, names: &HashMap<RowOf, String>) -> Told {
        let mut changed = Map::new();
        insert_different(&mut changed, self.different(), names);
        let text = |entry: &Entry| -> String {
            let words = entry.name.iter().map(|word| match word {
                Word::Text(text) => text.clone(),
                Word::NameOf(row) => names.get(row).cloned().unwrap_or_else(|| row.id.to_string()),
            });
            words.collect()
        };
        let entries = |all: &[Entry]| {
            let mut entries = Entries::new();
            for entry in all {
                let value = entries.entry(text(entry)).or_default();
                *value = match (value.take(), &entry.value) {
                    // Of several with the same name.
                    (Some(other), Some(own)) => Some(format!("{other}, {own}")),
                    (other, own) => other.or_else(|| own.clone()),
                };
            }
            entries
        };
        for (list, [removed, added]) in &self.lists {
            let has_values = removed.iter().chain(added).any(|entry| entry.value.is_some());
            let compare = if has_values { compare_named } else { compare_list };
            compare(&mut changed, list, entries(removed), entries(added));
        }
        let name = match self.own {
            // What people call it, while it exists.
            Some(Whole { after: Some(after), .. }) => match after.value("name") {
                Some(Value::String(name)) => name,
                _ => name_of(after),
            },
            Some(Whole { before, .. }) => before.as_ref().and_then(name_of),
            None => names.get(&self.subject).cloned(),
        };
        let class = self.subject.table.class().map(str::to_owned);
        let owners = self.own.map(Whole::owners).unwrap_or_default();
        Told { row: self.subject, subject: Subject { class, id: Some(self.subject.id), name, owners }, changed }
    }
}

/// The table with this name, if its rows are told when they go along with another.
fn is_told(name: &str) -> Option<&'static dyn AnyTable> {
    let table = recorded_as(name)?;
    matches!(table.told(), InAudit::Alone(_) | InAudit::In(_)).then_some(table)
}

/// Reads the versions of rows that are unknown.
async fn complete(
    before: Before<'_>,
    transaction: &Transaction,
    mut changes: Vec<Change>,
) -> Result<Vec<Whole>, db::Error> {
    let is_new = |row: RowOf| matches!(transaction.before(row), Side::Absent);
    for change in &mut changes {
        // What is part of a new row is new.
        if let (Side::Unknown, InAudit::In(_), Some(after)) =
            (&change.before, change.row.table.told(), change.after.row())
            && let Owner::Row(owner) = after.owner()
            && is_new(owner)
        {
            change.before = Side::Absent;
        }
    }
    let is_unknown = |side: &Side| matches!(side, Side::Unknown);
    let old = changes.iter().filter(|change| is_unknown(&change.before)).map(|change| change.row);
    let mut old = read_all(World::Before(before), old).await?;
    let new = changes.iter().filter(|change| is_unknown(&change.after)).map(|change| change.row);
    let mut new = read_all(World::Now(transaction), new).await?;
    let side = |row: RowOf, side: Side, read: &mut HashMap<RowOf, AnyRow>| match side {
        Side::Row(row) => Some(row),
        Side::Absent => None,
        Side::Unknown => read.remove(&row),
    };
    let whole = changes.into_iter().map(|Change { row, before, after }| Whole {
        row,
        before: side(row, before, &mut old),
        after: side(row, after, &mut new),
        follows: false,
    });
    Ok(whole.collect())
}

fn is_same(before: Option<&AnyRow>, after: Option<&AnyRow>) -> bool {
    match (before, after) {
        (None, None) => true,
        (Some(before), Some(after)) => before.columns() == after.columns(),
        _ => false,
    }
}

/// The entries of a list: names, and values where the list has them.
type Entries = BTreeMap<String, Option<String>>;

/// Compares entries that have a name and a value.
fn compare_named(changed: &mut Map<String, Json>, list: &str, mut before: Entries, after: Entries) {
    let value = |value: Option<Option<String>>| value.flatten().map_or(Json::Null, Json::from);
    for (key, new) in after {
        insert(changed, &format!("{list}.{key}"), value(before.remove(&key)), value(Some(new)));
    }
    for (key, old) in before {
        insert(changed, &format!("{list}.{key}"), value(Some(old)), Json::Null);
    }
}

fn compare_list(changed: &mut Map<String, Json>, name: &str, before: Entries, after: Entries) {
    let only = |own: &Entries, other: &Entries| -> Vec<String> {
        own.keys().filter(|entry| !other.contains_key(*entry)).cloned().collect()
    };
    let (removed, added) = (only(&before, &after), only(&after, &before));
    if !removed.is_empty() || !added.is_empty() {
        changed.insert(name.to_owned(), json!({ "removed": removed, "added": added }));
    }
}
