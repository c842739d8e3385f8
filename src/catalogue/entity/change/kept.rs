//! What the audit keeps of a change beside what it tells: the exact values of each row, before and after, from which the
//! change can be reverted. What it tells is for people: it has names in the place of ids, and long texts are cut.
//!
//! Only rows that a revert knows are kept with their values: [`TABLES`]. Of others that belong to the same subject, only
//! the table is kept, so that a revert knows of them. There are no secrets in these columns.

use std::collections::HashMap;
use std::sync::LazyLock;

use sea_orm::{IdenStatic, Value};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::account::{Account, By, Whole};
use super::row::{name_of, read_all, reference};
use crate::db::{self, AnyRow, RowOf, Table, Transaction, World};
use crate::entity::alias::AliasTable;
use crate::entity::field_rule::{FieldRule, FieldRules, ValueRule};

/// The maximum length of a text that is kept, in bytes. Of a longer one, only the column is kept.
pub const VALUE: usize = 4 * 1024;

/// The maximum size of what an entry keeps, in bytes.
pub const ENTRY: usize = 8 * 1024;

/// What an entry keeps if its rows are more than [`ENTRY`].
const CUT: &str = "\"cut\"";

/// The tables of the catalogue's nouns. A row of any other is a part of one.
pub const NOUNS: &[&str] = &["service", "team", "system", "domain"];

/// A table whose rows are kept with their values.
pub struct KeptTable {
    /// Its name.
    pub name: &'static str,
    /// The columns that are kept. The others follow from them, or nobody may set them.
    pub columns: Vec<&'static str>,
    /// The fields of inputs that set some of them.
    pub fields: Vec<KeptField>,
}

/// A field of inputs.
pub struct KeptField {
    /// The column that it sets.
    pub column: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub value: ValueRule,
}

/// The tables whose rows are kept with their values.
static TABLES: LazyLock<[KeptTable; 15]> = LazyLock::new(|| {
    use crate::entity::{
        contact, property, service, service_dependency, service_repository, tag, team_membership, tool,
    };
    use crate::entity::{domain, domain_alias, service_alias, system, system_alias, team, team_alias};
    [
        written::<service::Entity>({
            use service::Column::{ApiDocumentPath, LockedBy, PreferredApiDocumentSource};
            &[ApiDocumentPath, PreferredApiDocumentSource, LockedBy]
        }),
        written::<team::Entity>(&[]),
        written::<system::Entity>(&[]),
        written::<domain::Entity>(&[]),
        written::<tool::Entity>(&[tool::Column::ServiceId, tool::Column::Category]),
        written::<contact::Entity>({
            use contact::Column::{IsDefault, ServiceId, TeamId, Type, UserId};
            &[ServiceId, TeamId, UserId, Type, IsDefault]
        }),
        written::<service_repository::Entity>({
            use service_repository::Column::{RepositoryId, ServiceId};
            &[ServiceId, RepositoryId]
        }),
        unruled::<property::Entity>({
            use property::Column::{DefinitionId, ServiceId, TeamId, Value};
            &[DefinitionId, ServiceId, TeamId, Value]
        }),
        unruled::<service_dependency::Entity>({
            use service_dependency::Column::{DestinationId, Notes, SourceId};
            &[SourceId, DestinationId, Notes]
        }),
        unruled::<tag::Entity>({
            use tag::Column::{DomainId, Key, ServiceId, SystemId, TeamId, Value};
            &[ServiceId, TeamId, SystemId, DomainId, Key, Value]
        }),
        unruled::<team_membership::Entity>({
            use team_membership::Column::{Role, TeamId, UserId};
            &[TeamId, UserId, Role]
        }),
        alias::<service_alias::Entity>(),
        alias::<team_alias::Entity>(),
        alias::<system_alias::Entity>(),
        alias::<domain_alias::Entity>(),
    ]
});

/// A table with the columns that people write by its rules, and with others.
fn written<E: FieldRules + Table>(others: &[E::Column]) -> KeptTable {
    let field =
        |rule: &FieldRule<E::Column>| KeptField { column: rule.column.as_str(), name: rule.name, value: rule.value };
    let fields: Vec<KeptField> = E::FIELDS.iter().map(field).collect();
    let columns = fields.iter().map(|field| field.column).chain(others.iter().map(IdenStatic::as_str)).collect();
    KeptTable { name: db::any_table::<E>().name(), columns, fields }
}

/// A table whose columns have no rules.
fn unruled<E: Table>(columns: &[E::Column]) -> KeptTable {
    let columns = columns.iter().map(IdenStatic::as_str).collect();
    KeptTable { name: db::any_table::<E>().name(), columns, fields: Vec::new() }
}

/// A table of aliases.
fn alias<E: AliasTable + Table>() -> KeptTable {
    unruled::<E>(&[E::OWNER, E::VALUE, E::KIND])
}

/// What is kept of the rows of a table. `None` if their values are not kept.
pub fn table(name: &str) -> Option<&'static KeptTable> {
    TABLES.iter().find(|table| table.name == name)
}

/// The values of a row, by column.
pub type Values = Map<String, Json>;

/// What is kept of a row that changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptRow {
    /// Its table.
    pub table: String,
    /// Its id.
    pub id: i64,
    /// Its values before: those that differ, and what it belongs to. `None` if it was made.
    pub old: Option<Values>,
    /// Its values afterwards. `None` if it was deleted.
    pub new: Option<Values>,
    /// The columns whose values are too long.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<String>,
}

/// What an entry keeps.
#[derive(Debug, Clone, PartialEq)]
pub enum Kept {
    /// All rows of its subject that changed.
    Rows(Vec<KeptRow>),
    /// Nothing: it was too much.
    Cut,
}

impl Kept {
    /// Reads what an entry keeps. `None` if it keeps nothing, or if a newer version has written it in another way.
    pub fn read(text: &str) -> Option<Self> {
        if text == CUT { Some(Self::Cut) } else { serde_json::from_str(text).ok().map(Self::Rows) }
    }
}

/// The changes of an account, by the subjects of its entries.
pub struct Keeping<'a>(HashMap<RowOf, Vec<&'a Whole>>);

impl Account {
    /// Sorts the changes by their subjects, for what the entries keep.
    pub fn keeping(&self) -> Keeping<'_> {
        let mut subjects = HashMap::<_, Vec<_>>::new();
        for change in &self.changes {
            let subject = change.subject(By::Object).filter(|subject| table(subject.table.name()).is_some());
            if let Some(subject) = subject {
                subjects.entry(subject).or_default().push(change);
            }
        }
        Keeping(subjects)
    }
}

impl Keeping<'_> {
    /// What the entry about a subject keeps, in at most [`ENTRY`] bytes.
    pub fn of_subject(&self, subject: RowOf) -> Option<String> {
        let (mut text, mut has_any) = ("[".to_owned(), false);
        for row in self.0.get(&subject)?.iter().filter_map(|change| kept(change)) {
            if has_any {
                text.push(',');
            }
            text.push_str(&serde_json::to_string(&row).ok()?);
            has_any = true;
            if text.len() >= ENTRY {
                return Some(CUT.to_owned());
            }
        }
        text.push(']');
        has_any.then_some(text)
    }
}

/// What is kept of a change. `None` if no column that is kept differs.
fn kept(change: &Whole) -> Option<KeptRow> {
    let name = change.row.table.name();
    let (columns, is_noun) = (table(name).map(|table| &table.columns), NOUNS.contains(&name));
    let [before, after] = [&change.before, &change.after].map(|row| row.as_ref().map(plain_row));
    let is_changed = before.is_some() && after.is_some();
    let (mut old, mut new, mut cut, mut differs) = (Values::new(), Values::new(), Vec::new(), false);
    // A whole noun that was made or deleted is not made out of its columns again.
    for column in columns.into_iter().flatten().filter(|_| is_changed || !is_noun) {
        let value = |row: &Option<Values>| row.as_ref().and_then(|row| row.get(*column)).cloned().unwrap_or_default();
        let values = [value(&before), value(&after)];
        let is_same = values[0] == values[1];
        differs |= !is_same;
        // What a part belongs to, and the key of a tag, say which part it is.
        let says_which = !is_noun && (reference(column).is_some() || *column == "key");
        if is_changed && is_same && !says_which {
            continue;
        }
        if values.iter().any(is_too_long) {
            cut.push((*column).to_owned());
            continue;
        }
        let [before, after] = values;
        old.insert((*column).to_owned(), before);
        new.insert((*column).to_owned(), after);
    }
    if is_changed && columns.is_some() && !differs {
        return None;
    }
    let (old, new) = (before.map(|_| old), after.map(|_| new));
    Some(KeptRow { table: name.to_owned(), id: change.row.id, old, new, cut })
}

fn is_too_long(value: &Json) -> bool {
    value.as_str().is_some_and(|text| text.len() > VALUE)
}

/// The values of a row, as they are kept.
pub fn plain_row(row: &AnyRow) -> Values {
    row.columns().into_iter().map(|(column, value)| (column.to_owned(), plain(&value))).collect()
}

fn plain(value: &Value) -> Json {
    match value {
        Value::BigInt(Some(number)) => (*number).into(),
        Value::Int(Some(number)) => (*number).into(),
        Value::Bool(Some(value)) => (*value).into(),
        Value::String(Some(text)) => text.as_str().into(),
        _ => Json::Null,
    }
}

/// Reads rows as a transaction sees them. Leaves out those that do not exist.
pub async fn rows(transaction: &Transaction, rows: Vec<RowOf>) -> Result<HashMap<RowOf, AnyRow>, db::Error> {
    read_all(World::Now(transaction), rows).await
}

/// The names of rows. Leaves out those that do not exist.
pub async fn names(transaction: &Transaction, wanted: Vec<RowOf>) -> Result<HashMap<RowOf, String>, db::Error> {
    let found = rows(transaction, wanted).await?;
    Ok(found.iter().map(|(row, found)| (*row, name_of(found).unwrap_or_else(|| row.id.to_string()))).collect())
}
