//! Database rows: one file per table, with its columns, finders and constructors.
//!
//! Finders and constructors take any connection, so that they work inside a transaction. `graphql/` and `deploy/`
//! decide what rows mean to a client. `migration/` defines the foreign keys and unique indexes. Writers rely on them:
//! they write without checking first, and recognise a violation by [`crate::db::Error::violation`].
//!
//! Invariants: nothing here imports a folder above it: not the API, the webhook, service files, the pages, HTTP or the
//! settings. Rows are read and written only of tables that say what they are to the audit ([`Table`]).
//!
//! [`table`](mod@table) declares a table, [`field_rule`] the rules of its columns, and [`text`] the lengths.
//! [`row_lock`] locks rows, [`pages`] writes the addresses of pages, [`action`] says the names of actions in words, and
//! [`change`] tells what a transaction changed.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Expr, ExprTrait, Query, SelectStatement};
use sea_orm::{Iterable, PrimaryKeyTrait, QueryOrder, QuerySelect, QueryTrait};
use serde::{Deserialize, Deserializer};

use self::alias::AliasTable;
use self::table::{by_alias, called, rules, table};
use crate::db::{self, AnyTable, Build, OfKeys, Read, ReadHandle, Shape, Table, Told, Write, WriteHandle, to_each};

pub mod action;
pub mod alert_source;
pub mod alert_source_service;
pub mod alias;
pub mod audit;
pub mod campaign;
pub mod category;
pub mod change;
pub mod check;
pub mod check_answer;
pub mod check_due;
pub mod check_reported;
pub mod check_result;
pub mod code_issue;
pub mod code_issue_cve;
pub mod code_issue_cwe;
pub mod code_issue_project;
pub mod code_issue_project_resource;
pub mod component_type;
pub mod contact;
pub mod custom_event;
pub mod custom_event_outcome;
pub mod delivery;
pub mod deploy;
pub mod deploy_number;
pub mod document_pull;
pub mod domain;
pub mod domain_alias;
pub mod event;
pub mod event_delivery;
pub mod event_receiver;
pub mod event_subscription;
pub mod favourite;
pub mod feed;
pub mod field_rule;
pub mod filter;
pub mod filter_predicate;
pub mod global_id;
pub mod idempotency_key;
pub mod identity;
pub mod infrastructure_resource;
pub mod infrastructure_resource_alias;
pub mod integration;
pub mod key;
pub mod level;
pub mod lifecycle;
pub mod on_call;
pub mod pages;
mod prelude;
pub mod property;
pub mod property_definition;
mod reference;
pub mod relationship;
pub mod relationship_definition;
pub mod relationship_rule;
pub mod remembered;
pub mod repository;
pub mod row_lock;
pub mod saved_view;
pub mod scim_group;
pub mod scim_group_member;
pub mod scorecard;
pub mod scorecard_alias;
pub mod service;
pub mod service_alias;
pub mod service_dependency;
pub mod service_document;
pub mod service_document_content;
pub mod service_file_note;
pub mod service_file_refusal;
pub mod service_last_deploy;
pub mod service_level;
pub mod service_repository;
pub mod session;
pub mod sign_in_link;
pub mod standing_change;
pub mod standing_day;
pub mod suggestion;
pub mod suggestion_integration;
pub mod system;
pub mod system_alias;
mod table;
pub mod tag;
pub mod team;
pub mod team_alias;
pub mod team_membership;
pub mod text;
pub mod tier;
pub mod timestamp;
pub mod token;
pub mod tool;
pub mod user;

pub use timestamp::{TimeCursor, Timestamp};

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

macro_rules! any_tables {
    ($($table:ident)*) => {
        /// All tables.
        pub static TABLES: &[&dyn AnyTable] = &[$(db::any_table::<$table::Entity>()),*];
    };
}

tables!(any_tables);

/// A row that knows how long its texts are.
pub trait Texts {
    /// The bytes of its texts.
    fn texts(&self) -> usize;
}

macro_rules! rows_with_texts {
    ($($table:ident => $($text:ident)*; $($optional:ident)*;)*) => {
        $(impl Texts for $table::Model {
            fn texts(&self) -> usize {
                0 $(+ self.$text.len())* $(+ self.$optional.as_ref().map_or(0, String::len))*
            }
        })*
    };
}

texts!(rows_with_texts);

/// The tables whose changes are recorded.
pub fn recorded() -> impl Iterator<Item = &'static dyn AnyTable> {
    TABLES.iter().copied().filter(|table| table.told() != Told::Nothing)
}

/// The table of this name, if its changes are recorded.
pub fn recorded_as(name: &str) -> Option<&'static dyn AnyTable> {
    recorded().find(|table| table.name() == name)
}

/// What the column `written_by` holds of a row that a service file wrote. It is null for a row that anyone else wrote.
pub const BY_FILE: &str = "service_file";

/// The condition that a column of words holds one that this version knows. While the processes of a database are replaced, a
/// newer one may store others: an older one leaves such rows to it, and goes on with the rest.
pub fn known<T: ActiveEnum<Value = String> + Iterable>(column: impl ColumnTrait) -> Expr {
    column.is_in(T::iter().map(|one| one.to_value()))
}

/// Reads a column of words that may be null. A word that this version does not [know](known) reads as null, too: for columns
/// where that means that nothing is known.
fn known_or_null<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer).unwrap_or_default())
}

/// A table with an integer primary key, whose rows can be read for many keys at once.
pub trait ByIds: Table {
    /// Reads the rows with these ids, in the order of the ids. Returns `None` for an id that is `None` or has no row.
    /// Runs one statement for any number of ids, and none if there are no ids.
    fn by_ids(
        db: &dyn ReadHandle,
        ids: impl IntoIterator<Item = Option<i64>>,
    ) -> impl Future<Output = Result<Vec<Option<Self::Model>>, db::Error>> + Send;
}

impl<E> ByIds for E
where
    E: Table,
    E::PrimaryKey: PrimaryKeyTrait<ValueType = i64>,
{
    fn by_ids(
        db: &dyn ReadHandle,
        ids: impl IntoIterator<Item = Option<i64>>,
    ) -> impl Future<Output = Result<Vec<Option<E::Model>>, db::Error>> + Send {
        let ids: Vec<Option<i64>> = ids.into_iter().collect();
        async move {
            let Some(key) = E::PrimaryKey::iter().map(PrimaryKeyToColumn::into_column).next() else {
                return Ok(vec![None; ids.len()]);
            };
            let query = OfKeys {
                shape: Some(shape(by_id::<E>, &[key])),
                build: &|condition| select::<E>(condition),
                values: Vec::new(),
                key: Expr::col(key.as_column_ref()),
                selected: Expr::col(key.as_column_ref()),
                keys: ids.iter().copied().flatten().collect(),
                is_limited: false,
            };
            let found = db.rows_of(query, |row| Ok((row.model::<E>()?, row.text()))).await?;
            let each = to_each(&mut ids.into_iter(), found, &|(_, text)| db.charge::<E::Model>(*text))?;
            Ok(each.into_iter().map(|found| found.map(|(row, _)| row)).collect())
        }
    }
}

/// Deletes the rows that satisfy a condition, but for the `kept` newest, by their ids.
async fn keep_newest<E: Table>(db: &dyn WriteHandle, of: &Expr, id: E::Column, kept: u64) -> Result<(), db::Error> {
    let oldest = E::find().select_only().column(id).filter(of.clone()).order_by_desc(id).offset(kept).limit(1);
    if let Some(oldest) = db.rows(oldest.as_query(), |row| row.get::<i64>(0)).await?.pop() {
        db.exec(E::delete_many().filter(of.clone()).filter(id.lte(oldest))).await?;
    }
    Ok(())
}

/// Deletes the rows with these ids. Returns whether there are any: without ids, no statement runs.
pub(crate) async fn delete_by_ids<E: Table>(
    db: &dyn WriteHandle,
    id: E::Column,
    ids: &[i64],
) -> Result<bool, db::Error> {
    if ids.is_empty() {
        return Ok(false);
    }
    db.exec(E::delete_many().filter(db::any(db, id, ids))).await?;
    Ok(true)
}

/// Finds the row with this value in a unique column.
pub(crate) async fn by_unique<E: Table>(
    db: &dyn ReadHandle,
    column: E::Column,
    value: impl Into<Value>,
) -> Result<Option<E::Model>, db::Error> {
    fn by_value<E: Table>(shape: &Shape, _: Option<Expr>) -> SelectStatement {
        select::<E>(Expr::col(shape.columns[0]).eq(0_i64))
    }
    Ok(db.all_like::<E>(shape(by_value::<E>, &[column]), vec![value.into()]).await?.pop())
}

/// A table whose rows can be found by an alias, or by another name. An alias belongs to at most one row.
pub trait ByAlias: Table {
    /// What messages call it.
    const CALLED: &'static str = "alias";

    /// Finds the row with this alias, of any kind.
    fn by_alias(
        db: &dyn ReadHandle,
        alias: &str,
    ) -> impl Future<Output = Result<Option<Self::Model>, db::Error>> + Send;
}

/// Finds the owner of an alias that is stored in the alias table `T`.
pub(crate) async fn by_own_alias<E: Table, T: AliasTable>(
    db: &dyn ReadHandle,
    id: E::Column,
    alias: &str,
) -> Result<Option<E::Model>, db::Error> {
    fn by_alias<E: Table, T: AliasTable>(shape: &Shape, _: Option<Expr>) -> SelectStatement {
        select::<E>(Expr::col(shape.columns[0]).eq(id_of(T::OWNER, T::VALUE, "")))
    }
    Ok(db.all_like::<E>(shape(by_alias::<E, T>, &[id]), vec![alias.into()]).await?.pop())
}

/// The id that the column `key` holds in the row with this alias, or null. Compare it with `=`: unlike with `IN`, SQLite
/// does not gather the ids in a table of their own, and an index can keep the order of a list.
pub fn id_of<C: ColumnTrait>(key: C, alias: C, given: &str) -> Expr {
    db::scalar(Query::select().column(key).from(key.entity_name()).and_where(alias.eq(given)).take())
}

fn select<E: EntityTrait>(condition: Expr) -> SelectStatement {
    E::find().filter(condition).into_query()
}

fn by_id<E: Table>(_: &Shape, condition: Option<Expr>) -> SelectStatement {
    match condition {
        Some(condition) => select::<E>(condition),
        None => E::find().into_query(),
    }
}

/// The shape of a statement that is identified by its builder and a few columns.
fn shape<C: ColumnTrait>(build: Build, columns: &[C]) -> Shape {
    let table = C::EntityName::default().table_name();
    let mut shape = Shape { build, columns: [("", ""); 7], flags: 0, tail: "" };
    for (place, column) in shape.columns.iter_mut().zip(columns) {
        *place = (table, column.as_str());
    }
    shape
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;

    /// A row whose texts have three bytes each.
    fn row<E: Table>() -> E::Model {
        let value = |column: E::Column| match column.def().get_column_type() {
            ColumnType::Text | ColumnType::String(_) => json!("abc"),
            ColumnType::Boolean => json!(true),
            _ => json!(1),
        };
        let columns = E::Column::iter().map(|column| (column.as_str().to_owned(), value(column)));
        serde_json::from_value(columns.collect::<Map<String, Value>>().into()).expect("a row")
    }

    #[test]
    fn a_row_counts_the_texts_of_all_its_columns() {
        // Among them what a service file leaves in a service, and what only some repositories have.
        assert_eq!(row::<service::Entity>().texts(), 14 * 3);
        assert_eq!(row::<repository::Entity>().texts(), 7 * 3);
        assert_eq!(row::<document_pull::Entity>().texts(), 3 * 3);
    }
}
