//! What a table says of its rows: what they are to the audit, and whose they are.
//!
//! Whoever reads or writes rows of a table needs a [`Table`]. So a new table does not compile before it says whether its
//! changes are recorded, and who may change its rows.

use std::any::TypeId;
use std::fmt;

use futures_util::future::BoxFuture;
use sea_orm::{
    ColumnTrait, EntityTrait, IdenStatic, Iterable, ModelTrait, PrimaryKeyToColumn, QueryFilter, QueryOrder,
    QuerySelect, Value,
};
use serde::de::DeserializeOwned;

use super::read::{Backend, Read, ReadHandle};
use super::row::Omitted;
use super::said::{MayChange, Told};
use super::secret::is_secret;
use super::transaction::Transaction;
use super::{Before, Error};

/// A table whose rows can be read and written. It says whose its rows are, because the permissions follow from that:
///
/// ```
/// mod gadget {
///     use catalogue::db::{Owner, Table, Told};
///     use sea_orm::entity::prelude::*;
///
///     #[derive(Clone, Debug, DeriveEntityModel, serde::Deserialize)]
///     #[sea_orm(table_name = "gadget")]
///     pub struct Model {
///         #[sea_orm(primary_key)]
///         pub id: i64,
///         pub team_id: i64,
///     }
///
///     #[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
///     pub enum Relation {}
///
///     impl ActiveModelBehavior for ActiveModel {}
///
///     impl Table for Entity {
///         const TOLD: Told = Told::Alone("Gadget");
///
///         fn owner(row: &Model) -> Owner {
///             Owner::Team(row.team_id)
///         }
///     }
/// }
/// ```
///
/// Without an owner it does not compile:
///
/// ```compile_fail,E0046
/// mod gadget {
///     use catalogue::db::{Owner, Table, Told};
///     use sea_orm::entity::prelude::*;
///
///     #[derive(Clone, Debug, DeriveEntityModel, serde::Deserialize)]
///     #[sea_orm(table_name = "gadget")]
///     pub struct Model {
///         #[sea_orm(primary_key)]
///         pub id: i64,
///         pub team_id: i64,
///     }
///
///     #[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
///     pub enum Relation {}
///
///     impl ActiveModelBehavior for ActiveModel {}
///
///     impl Table for Entity {
///         const TOLD: Told = Told::Alone("Gadget");
///     }
/// }
/// ```
pub trait Table: EntityTrait<Model: DeserializeOwned + Sync + 'static> {
    /// What its rows are to the audit.
    const TOLD: Told;

    /// The list that holds its rows, such as `tools`. A service file replaces such a list whole, and the audit tells the list
    /// with the other changes of its owner.
    const LIST: Option<&'static str> = None;

    /// The groups of columns that a list leaves out if the client selects no field that reads them. How to group columns is
    /// a choice of speed: each combination of groups is a statement of its own. Which field reads which group is for the
    /// generator to know.
    const GROUPS: &'static [Omitted] = &[];

    /// Why an export leaves its rows out. `None` if it has them.
    const LEFT_OUT: Option<&'static str> = None;

    /// Columns that the audit does not tell: they follow from others, or say nothing about a row. [Secrets](super::Secret) need
    /// not be named, and neither do the id and the times of a row.
    const UNTOLD: &'static [Self::Column] = &[];

    /// Who may change its rows. Whatever a mutation says of itself, one that changes such a row for anybody else is refused.
    const MAY_CHANGE: MayChange = MayChange::Owners;

    /// Whose a row is. A row of [`Told::In`] belongs to the row in whose list it is.
    fn owner(row: &Self::Model) -> Owner;

    /// The second thing that a row belongs to, if it connects two: what a dependency or a relationship leads to. The audit
    /// tells the row in the history of both. Permissions do not follow from it.
    fn other_owner(row: &Self::Model) -> Option<RowOf> {
        let _ = row;
        None
    }

    /// A row, as an entry of the list that it is in.
    fn entry(row: &Self::Model) -> Entry {
        let _ = row;
        Entry::default()
    }
}

/// Whose a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// Nobody's: no team may change it.
    Nobody,
    /// A team's.
    Team(i64),
    /// A user's.
    User(i64),
    /// Whose another row is.
    Row(RowOf),
}

impl Owner {
    /// The team that a column names, if it names one.
    pub fn team(id: Option<i64>) -> Self {
        id.map_or(Self::Nobody, Self::Team)
    }

    /// The row of `E` that a column names, if it names one.
    pub fn row<E: Table>(id: Option<i64>) -> Option<Self> {
        id.map(|id| Self::Row(RowOf::new::<E>(id)))
    }
}

/// An entry of a list in the audit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Entry {
    /// Its name.
    pub name: Vec<Word>,
    /// Its value, for lists whose entries have names and values.
    pub value: Option<String>,
}

impl Entry {
    /// An entry that is a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { name: vec![Word::Text(text.into())], value: None }
    }
}

/// A part of the name of an entry.
#[derive(Debug, Clone, PartialEq)]
pub enum Word {
    /// A text.
    Text(String),
    /// The name of another row.
    NameOf(RowOf),
}

/// The table of a statement that changes rows that no transaction records. It is written for each such table, so a
/// statement without rows cannot change any other.
pub trait Unrecorded {
    /// Who may change its rows.
    const MAY_CHANGE: MayChange = MayChange::Owners;
}

/// A row, by its table and its id.
#[derive(Clone, Copy)]
pub struct RowOf {
    /// The table.
    pub table: &'static dyn AnyTable,
    /// The id.
    pub id: i64,
}

impl RowOf {
    /// A row of the table `E`.
    pub fn new<E: Table>(id: i64) -> Self {
        Self { table: any_table::<E>(), id }
    }

    pub(super) fn key(self) -> (TypeId, i64) {
        (self.table.type_id(), self.id)
    }
}

impl PartialEq for RowOf {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for RowOf {}

impl std::hash::Hash for RowOf {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl fmt::Debug for RowOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.table.name(), self.id)
    }
}

/// A [`Table`] of any type.
pub trait AnyTable: Send + Sync {
    /// The type of the table.
    fn type_id(&self) -> TypeId;
    /// The table's name in the database.
    fn name(&self) -> &'static str;
    /// See [`Table::TOLD`].
    fn told(&self) -> Told;
    /// See [`Table::LIST`].
    fn list(&self) -> Option<&'static str>;
    /// See [`Table::LEFT_OUT`].
    fn left_out(&self) -> Option<&'static str>;
    /// See [`Table::MAY_CHANGE`].
    fn may_change(&self) -> MayChange;
    /// Reads the rows with the next ids after one, at most `most`, by their ids.
    fn page<'d>(&self, db: &'d dyn ReadHandle, after: i64, most: u64) -> BoxFuture<'d, Result<Vec<AnyRow>, Error>>;
    /// Reads the rows whose column `column`, or whose key, is one of these ids: at most `most`.
    fn read<'d>(
        &self,
        db: World<'d>,
        column: Option<&str>,
        ids: Vec<i64>,
        most: u64,
    ) -> BoxFuture<'d, Result<Vec<AnyRow>, Error>>;
}

impl dyn AnyTable {
    /// The SDL type of its rows. `None` if they have no entries of their own.
    pub fn class(&self) -> Option<&'static str> {
        match self.told() {
            Told::Alone(class) | Told::Directly(class) => Some(class),
            Told::In(_) | Told::Nothing => None,
        }
    }
}

/// A table.
pub const fn any_table<E: Table>() -> &'static dyn AnyTable {
    const { &Of::<E>(std::marker::PhantomData) }
}

struct Of<E>(std::marker::PhantomData<fn() -> E>);

impl<E: Table> AnyTable for Of<E> {
    fn type_id(&self) -> TypeId {
        TypeId::of::<E>()
    }

    fn name(&self) -> &'static str {
        E::default().table_name()
    }

    fn told(&self) -> Told {
        E::TOLD
    }

    fn list(&self) -> Option<&'static str> {
        E::LIST
    }

    fn left_out(&self) -> Option<&'static str> {
        E::LEFT_OUT
    }

    fn may_change(&self) -> MayChange {
        E::MAY_CHANGE
    }

    fn page<'d>(&self, db: &'d dyn ReadHandle, after: i64, most: u64) -> BoxFuture<'d, Result<Vec<AnyRow>, Error>> {
        Box::pin(async move {
            let Some(key) = E::PrimaryKey::iter().next().map(PrimaryKeyToColumn::into_column) else {
                return Err(Error::fault("a table without a key"));
            };
            let rows = db.all(E::find().filter(key.gt(after)).order_by_asc(key).limit(most)).await?;
            Ok(rows.into_iter().map(AnyRow::new::<E>).collect())
        })
    }

    fn read<'d>(
        &self,
        db: World<'d>,
        column: Option<&str>,
        ids: Vec<i64>,
        most: u64,
    ) -> BoxFuture<'d, Result<Vec<AnyRow>, Error>> {
        let column = match column {
            Some(name) => E::Column::iter().find(|column| column.as_str() == name),
            None => E::PrimaryKey::iter().next().map(PrimaryKeyToColumn::into_column),
        };
        Box::pin(async move {
            let Some(column) = column else { return Err(Error::fault("a table has no such column")) };
            let rows = db.all(E::find().filter(super::any(&db, column, &ids)).limit(most)).await?;
            Ok(rows.into_iter().map(AnyRow::new::<E>).collect())
        })
    }
}

/// A row of any table.
pub struct AnyRow(Box<dyn AnyModel>);

impl AnyRow {
    /// A row of the table `E`.
    pub fn new<E: Table>(row: E::Model) -> Self {
        Self(Box::new(Held::<E>(row)))
    }

    /// Its table and its id. `None` if its key is not an integer.
    pub fn place(&self) -> Option<RowOf> {
        self.0.place()
    }

    /// The value of a column.
    pub fn value(&self, column: &str) -> Option<Value> {
        self.columns().into_iter().find_map(|(name, value)| (name == column).then_some(value))
    }

    /// Its columns, in the order of the table.
    pub fn columns(&self) -> Vec<(&'static str, Value)> {
        self.0.columns()
    }

    /// Those of its columns that the audit tells: see [`is_told`].
    pub fn told_columns(&self) -> Vec<(&'static str, Value)> {
        self.0.told_columns()
    }

    /// See [`Table::owner`].
    pub fn owner(&self) -> Owner {
        self.0.owner()
    }

    /// See [`Table::other_owner`].
    pub fn other_owner(&self) -> Option<RowOf> {
        self.0.other_owner()
    }

    /// See [`Table::entry`].
    pub fn entry(&self) -> Entry {
        self.0.entry()
    }

    /// The same row, with null in a column.
    pub fn without(&self, column: &str) -> Self {
        Self(self.0.without(column))
    }
}

impl Clone for AnyRow {
    fn clone(&self) -> Self {
        Self(self.0.copy())
    }
}

impl fmt::Debug for AnyRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0.place())
    }
}

trait AnyModel: Send + Sync {
    fn copy(&self) -> Box<dyn AnyModel>;
    fn place(&self) -> Option<RowOf>;
    fn columns(&self) -> Vec<(&'static str, Value)>;
    fn told_columns(&self) -> Vec<(&'static str, Value)>;
    fn owner(&self) -> Owner;
    fn other_owner(&self) -> Option<RowOf>;
    fn entry(&self) -> Entry;
    fn without(&self, column: &str) -> Box<dyn AnyModel>;
}

struct Held<E: Table>(E::Model);

impl<E: Table> AnyModel for Held<E> {
    fn copy(&self) -> Box<dyn AnyModel> {
        Box::new(Self(self.0.clone()))
    }

    fn place(&self) -> Option<RowOf> {
        key_of::<E>(&self.0).map(RowOf::new::<E>)
    }

    fn columns(&self) -> Vec<(&'static str, Value)> {
        E::Column::iter().map(|column| (column.as_str(), self.0.get(column))).collect()
    }

    fn told_columns(&self) -> Vec<(&'static str, Value)> {
        let told = E::Column::iter().filter(|column| is_told::<E>(*column));
        told.map(|column| (column.as_str(), self.0.get(column))).collect()
    }

    fn owner(&self) -> Owner {
        E::owner(&self.0)
    }

    fn other_owner(&self) -> Option<RowOf> {
        E::other_owner(&self.0)
    }

    fn entry(&self) -> Entry {
        E::entry(&self.0)
    }

    fn without(&self, column: &str) -> Box<dyn AnyModel> {
        let mut row = self.0.clone();
        if let Some(column) = E::Column::iter().find(|own| own.as_str() == column) {
            row.set(column, Value::BigInt(None));
        }
        Box::new(Self(row))
    }
}

/// What says of every row only which it is, and when it was made and changed.
const OF_ANY_ROW: [&str; 3] = ["id", "created_at", "updated_at"];

/// Whether the audit tells a column. It never tells a secret.
pub fn is_told<E: Table>(column: E::Column) -> bool {
    let is_named = |own: &E::Column| own.as_str() == column.as_str();
    !OF_ANY_ROW.contains(&column.as_str()) && !E::UNTOLD.iter().any(is_named) && !is_secret(column)
}

/// The id of a row. `None` if the primary key is not one integer.
pub(super) fn key_of<E: Table>(row: &E::Model) -> Option<i64> {
    let mut columns = E::PrimaryKey::iter().map(PrimaryKeyToColumn::into_column);
    match (columns.next().map(|column| row.get(column)), columns.next()) {
        (Some(Value::BigInt(Some(id))), None) => Some(id),
        _ => None,
    }
}

/// The rows as they were before a transaction, or as it sees them.
#[derive(Debug, Clone, Copy)]
pub enum World<'d> {
    /// Before.
    Before(Before<'d>),
    /// Within the transaction.
    Now(&'d Transaction),
}

/// Reads from an enum of handles as from the one that it holds. Takes the names of the enum and its variants.
macro_rules! reads_from_its_own {
    ($name:ident: $($variant:ident)*) => {
        impl ReadHandle for $name<'_> {
            fn as_read(&self) -> &(dyn ReadHandle + '_) {
                self
            }

            fn collect(
                &self,
                work: $crate::db::row::Work,
                rows: Box<dyn $crate::db::row::Collect>,
            ) -> $crate::db::read::Collecting<'_> {
                match self {
                    $(Self::$variant(own) => own.collect(work, rows),)*
                }
            }

            fn is_embedded(&self) -> bool {
                match self {
                    $(Self::$variant(own) => own.is_embedded(),)*
                }
            }
        }

        impl Backend for $name<'_> {
            fn backend(&self) -> sea_orm::DbBackend {
                match self {
                    $(Self::$variant(own) => own.backend(),)*
                }
            }
        }
    };
}
pub(super) use reads_from_its_own;

reads_from_its_own!(World: Before Now);
