//! Typed writing.
//!
//! sea-orm builds the statements. It does not run them: on SQLite they run on the calling thread
//! ([`super::sqlite::embedded`]).

use std::sync::{Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};

use futures_util::future::BoxFuture;
use sea_orm::sea_query::{Condition, Expr, ExprTrait, InsertStatement, Query, ReturningClause, UpdateStatement};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, DbBackend, DeleteMany, EntityTrait, IdenStatic, Insert, InsertMany, Iterable,
    ModelTrait, PrimaryKeyToColumn, QueryFilter, QueryTrait, Statement, StatementBuilder, UpdateMany,
    ValidatedDeleteOne, Value,
};

use super::Error;
use super::bulk::rows_at_once;
use super::following::{Following, Follows};
use super::lock::lock;
use super::read::{Read, ReadHandle, run};
use super::record::{Record, Side};
use super::row::{Row, Work};
use super::said::{MayChange, Told};
use super::table::{RowOf, Table, Unrecorded};

/// The number of rows that a statement of [`Write::insert_all`] stores.
const ROWS: usize = 128;

/// What rows are written by: a transaction. Functions take it as `&dyn WriteHandle`. Write through [`Write`].
pub trait WriteHandle: ReadHandle {
    /// The same handle, whatever its type.
    #[doc(hidden)]
    fn as_write(&self) -> &(dyn WriteHandle + '_);

    /// Runs a statement and returns the number of rows that it changed.
    #[doc(hidden)]
    fn execute_change(&self, statement: Statement) -> BoxFuture<'_, Result<u64, Error>>;

    /// Runs statements without parameters.
    #[doc(hidden)]
    fn execute_script<'w>(&'w self, sql: &'w str) -> BoxFuture<'w, Result<(), Error>>;

    /// The record of the changes, if one is kept.
    #[doc(hidden)]
    fn record(&self) -> Option<&Mutex<Record>> {
        None
    }
}

/// Typed writing, by any [`WriteHandle`]. Reads see what was written before.
pub trait Write: WriteHandle {
    /// Notes rows that this has read and that no other transaction can change until this one ends: it has locked them, or
    /// what they belong to.
    fn hold<E: Table>(&self, rows: &[E::Model]) {
        if let Some(record) = self.record() {
            lock(record).hold::<E>(rows);
        }
    }

    /// Runs a statement that says nothing of its table, so its changes are not recorded: only for `src/catalogue/db`, and for imports.
    /// Returns the number of rows that it changed.
    #[doc(hidden)]
    fn change_untyped(&self, statement: Statement) -> BoxFuture<'_, Result<u64, Error>> {
        self.execute_change(statement)
    }

    /// Runs statements without parameters: only for `src/catalogue/db`.
    #[doc(hidden)]
    fn script<'w>(&'w self, sql: &'w str) -> BoxFuture<'w, Result<(), Error>> {
        self.execute_script(sql)
    }

    /// Runs a statement about the table `E`, whose changes are not recorded. Returns the number of rows that it changed.
    fn execute<E: Unrecorded>(
        &self,
        statement: &impl StatementBuilder,
    ) -> impl Future<Output = Result<u64, Error>> + Send {
        note_unseen(self.as_write(), E::MAY_CHANGE);
        self.change_untyped(self.backend().build(statement))
    }

    /// Runs an insert, an update or a delete, and returns the number of rows that it changed. An update also stores
    /// [when](touch).
    fn exec<C: Changes>(&self, query: C) -> impl Future<Output = Result<u64, Error>> + Send {
        exec(self.as_write(), query)
    }

    /// Like [`exec`](Self::exec), for rows that [follow](Follows) from a change of the row `parent` of the table `P`, however
    /// many they are: they are not recorded, and nor is when. If the transaction ends without that change, its
    /// [account](super::Transaction::changes) fails.
    fn exec_following<P, C>(&self, parent: i64, query: C) -> impl Future<Output = Result<u64, Error>> + Send
    where
        P: Table,
        C: Changes<Table: Follows<P>>,
    {
        exec_following::<P, C>(self.as_write(), parent, query)
    }

    /// Stores a new row.
    fn insert<A>(&self, row: A) -> impl Future<Output = Result<<A::Entity as EntityTrait>::Model, Error>> + Send
    where
        A: ActiveModelTrait<Entity: Table>,
    {
        self.insert_or(A::Entity::insert(row))
    }

    /// Stores a new row. If it conflicts with one that exists, does what the insert says of that. Returns the stored row.
    fn insert_or<A>(
        &self,
        insert: Insert<A>,
    ) -> impl Future<Output = Result<<A::Entity as EntityTrait>::Model, Error>> + Send
    where
        A: ActiveModelTrait<Entity: Table>,
    {
        stored_one::<A::Entity>(self.as_write(), insert.into_query())
    }

    /// Stores new rows, however many there are, with statements of some rows each.
    fn insert_all<A>(&self, rows: Vec<A>) -> impl Future<Output = Result<(), Error>> + Send
    where
        A: ActiveModelTrait<Entity: Table> + Send + 'static,
    {
        let write = self.as_write();
        async move {
            let mut rows = rows;
            while !rows.is_empty() {
                let rest = rows.split_off(rows_at_once(rows.len(), ROWS));
                exec(write, A::Entity::insert_many(rows)).await?;
                rows = rest;
            }
            Ok(())
        }
    }

    /// Runs an insert and returns the rows that it stored, in no particular order.
    fn returning<I: Inserts>(&self, insert: I) -> impl Future<Output = Result<Vec<Stored<I::Row>>, Error>> + Send {
        self.stored_by::<TableOf<I::Row>>(false, insert.into_query())
    }

    /// Runs a statement about the table `E`, whose changes are not recorded, and maps the rows that it returns.
    fn returned<E, T, F>(
        &self,
        statement: &impl StatementBuilder,
        read: F,
    ) -> impl Future<Output = Result<Vec<T>, Error>> + Send
    where
        E: Unrecorded,
        T: Send + 'static,
        F: Fn(&Row<'_>) -> Result<T, Error> + Send + 'static,
    {
        note_unseen(self.as_write(), E::MAY_CHANGE);
        self.run(Work::writing(self.backend().build(statement), false), read)
    }

    /// Runs an insert into the table `E` and returns the rows that it stored. `one` says that it stores at most one.
    fn stored_by<E: Table>(
        &self,
        one: bool,
        insert: InsertStatement,
    ) -> impl Future<Output = Result<Vec<E::Model>, Error>> + Send {
        stored::<E>(self.as_write(), one, insert)
    }

    /// Stores the changed columns of a row, and [when](touch). Fails with [`Error::LostRace`] if the row does not exist.
    fn update<A>(&self, row: A) -> impl Future<Output = Result<<A::Entity as EntityTrait>::Model, Error>> + Send
    where
        A: ActiveModelTrait<Entity: Table>,
    {
        let write = self.as_write();
        update::<A::Entity>(write, update_of(self.backend(), is_made_here(write, &row), row))
    }

    /// Runs an update, which also stores [when](touch), and returns the rows as they are then, in no particular order.
    fn updated<E: Table>(&self, update: UpdateMany<E>) -> impl Future<Output = Result<Vec<E::Model>, Error>> + Send {
        updated::<E>(self.as_write(), update)
    }

    /// Deletes a row. Returns the number of rows deleted: 0 if it did not exist.
    fn delete<M>(&self, row: M) -> impl Future<Output = Result<u64, Error>> + Send
    where
        M: ModelTrait<Entity: Table>,
    {
        let keys = <M::Entity as EntityTrait>::PrimaryKey::iter().map(PrimaryKeyToColumn::into_column);
        let is_it = keys.map(|column| column.eq(row.get(column))).fold(Condition::all(), Condition::add);
        self.exec(M::Entity::delete_many().filter(is_it))
    }
}

impl<H: WriteHandle + ?Sized> Write for H {}

async fn change(db: &dyn WriteHandle, statement: Statement) -> Result<u64, Error> {
    if stores_nothing(&statement) {
        return Ok(0);
    }
    db.execute_change(statement).await
}

/// The record, if the changes of a table are recorded.
fn record_of<E: Table>(db: &dyn WriteHandle) -> Option<MutexGuard<'_, Record>> {
    db.record().map(lock).filter(|record| record.records::<E>())
}

/// Notes who may change rows that are changed without a record of them. So a mutation is refused to others even there.
fn note_unseen(db: &dyn WriteHandle, may_change: MayChange) {
    if may_change > MayChange::Members
        && let Some(record) = db.record()
    {
        lock(record).change_unseen(may_change);
    }
}

/// Notes rows that were stored. `are_new` says that all of them were made.
fn note_stored<E: Table>(db: &dyn WriteHandle, rows: &[E::Model], are_new: bool) {
    match record_of::<E>(db) {
        Some(mut record) => record.store::<E>(rows, are_new),
        None => note_unseen(db, E::MAY_CHANGE),
    }
}

fn exec<C: Changes>(db: &dyn WriteHandle, query: C) -> impl Future<Output = Result<u64, Error>> + Send {
    let is_recorded = record_of::<C::Table>(db).is_some();
    if !is_recorded {
        note_unseen(db, C::Table::MAY_CHANGE);
    }
    let mut statement = query.into_query();
    C::touch(&mut statement);
    if is_recorded {
        C::return_rows(&mut statement, all_columns::<C::Table>(db.backend()));
    }
    let statement = db.backend().build(&statement);
    async move {
        match is_recorded && !stores_nothing(&statement) {
            true => exec_recorded::<C>(db, statement).await,
            false => change(db, statement).await,
        }
    }
}

fn exec_following<P, C>(db: &dyn WriteHandle, parent: i64, query: C) -> impl Future<Output = Result<u64, Error>> + Send
where
    P: Table,
    C: Changes<Table: Follows<P>>,
{
    const {
        let is_recorded = !matches!(P::TOLD, Told::Nothing);
        assert!(is_recorded, "rows can only follow from a change that is recorded");
        let has_no_entries = matches!(<C::Table as Table>::TOLD, Told::Directly(_) | Told::Nothing);
        let is_deletion = matches!(<C::Table as Follows<P>>::FROM, Following::Deletion);
        assert!(is_deletion || has_no_entries, "nobody would tell these rows");
    }
    note_unseen(db, <C::Table as Table>::MAY_CHANGE);
    if let Some(record) = db.record() {
        lock(record).follow(RowOf::new::<P>(parent), <C::Table as Follows<P>>::FROM);
    }
    change(db, query.build(db.backend()))
}

async fn exec_recorded<C: Changes>(db: &dyn WriteHandle, statement: Statement) -> Result<u64, Error> {
    let are_new = C::MAKES && !statement.sql.contains("ON CONFLICT");
    let rows = run(db, 0, Work::writing(statement, false), |row| row.model::<C::Table>()).await?;
    if let Some(mut record) = record_of::<C::Table>(db) {
        match C::DELETES {
            true => record.delete::<C::Table>(&rows),
            false => record.store::<C::Table>(&rows, are_new),
        }
    }
    Ok(rows.len() as u64)
}

/// Runs a statement that stores rows and returns them.
async fn store<E: Table>(db: &dyn WriteHandle, work: Work, are_new: bool) -> Result<Vec<E::Model>, Error> {
    let rows = run(db, 0, work, |row| row.model::<E>()).await?;
    note_stored::<E>(db, &rows, are_new);
    Ok(rows)
}

async fn stored<E: Table>(
    db: &dyn WriteHandle,
    one: bool,
    mut insert: InsertStatement,
) -> Result<Vec<E::Model>, Error> {
    insert.returning(all_columns::<E>(db.backend()));
    let statement = db.backend().build(&insert);
    if stores_nothing(&statement) {
        return Ok(Vec::new());
    }
    let are_new = !statement.sql.contains("ON CONFLICT");
    store::<E>(db, Work::writing(statement, one), are_new).await
}

async fn stored_one<E: Table>(db: &dyn WriteHandle, insert: InsertStatement) -> Result<E::Model, Error> {
    stored::<E>(db, true, insert).await?.pop().ok_or_else(|| Error::fault("an insert returned no row"))
}

async fn update<E: Table>(db: &dyn WriteHandle, work: Result<Work, Error>) -> Result<E::Model, Error> {
    store::<E>(db, work?, false).await?.into_iter().next().ok_or(Error::LostRace)
}

fn updated<E: Table>(
    db: &dyn WriteHandle,
    update: UpdateMany<E>,
) -> impl Future<Output = Result<Vec<E::Model>, Error>> + Send {
    let mut update = update.into_query();
    touch::<E>(&mut update);
    update.returning(all_columns::<E>(db.backend()));
    store::<E>(db, Work::writing(db.backend().build(&update), false), false)
}

/// The table of a row that is to be stored.
type TableOf<A> = <A as ActiveModelTrait>::Entity;

/// A row that is stored.
pub type Stored<A> = <TableOf<A> as EntityTrait>::Model;

/// A statement that inserts rows.
pub trait Inserts: QueryTrait<QueryStatement = InsertStatement> {
    /// The rows.
    type Row: ActiveModelTrait<Entity: Table>;
}

impl<A: ActiveModelTrait<Entity: Table>> Inserts for Insert<A> {
    type Row = A;
}

impl<A: ActiveModelTrait<Entity: Table>> Inserts for InsertMany<A> {
    type Row = A;
}

/// A statement that changes rows of one table.
pub trait Changes: QueryTrait<QueryStatement: Send> {
    /// The table.
    type Table: Table;
    /// Whether it makes rows.
    const MAKES: bool;
    /// Whether it deletes them.
    const DELETES: bool;
    /// Makes it store when it changes rows, if it does.
    fn touch(statement: &mut Self::QueryStatement) {
        let _ = statement;
    }
    /// Makes it return the rows.
    fn return_rows(statement: &mut Self::QueryStatement, columns: ReturningClause);
}

macro_rules! changes {
    ($($query:ty, $table:ty, $makes:literal, $deletes:literal, [$($generics:tt)*] $(, $touch:path)?;)*) => {$(
        impl<$($generics)*> Changes for $query {
            type Table = $table;
            const MAKES: bool = $makes;
            const DELETES: bool = $deletes;

            $(fn touch(statement: &mut Self::QueryStatement) {
                $touch(statement);
            })?

            fn return_rows(statement: &mut Self::QueryStatement, columns: ReturningClause) {
                statement.returning(columns);
            }
        }
    )*};
}

changes! {
    Insert<A>, A::Entity, true, false, [A: ActiveModelTrait<Entity: Table>];
    InsertMany<A>, A::Entity, true, false, [A: ActiveModelTrait<Entity: Table>];
    UpdateMany<E>, E, false, false, [E: Table], touch::<E>;
    DeleteMany<E>, E, false, true, [E: Table];
    ValidatedDeleteOne<E>, E, false, true, [E: Table];
}

/// The column with the time of the last change of a row.
const UPDATED_AT: &str = "updated_at";

/// Makes a statement that changes rows store when, if the table has a column for that and the statement does not set it
/// itself. The time never moves back.
fn touch<E: EntityTrait>(update: &mut UpdateStatement) {
    let Some(column) = E::Column::iter().find(|column| column.as_str() == UPDATED_AT) else { return };
    let values = update.get_values();
    if values.is_empty() || values.iter().any(|(name, _)| name.to_string() == UPDATED_AT) {
        return;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
    let now = Expr::value(i64::try_from(now).unwrap_or(i64::MAX));
    let last = Expr::col(column.as_column_ref());
    update.value(column, Expr::case(last.clone().gt(now.clone()), last).finally(now));
}

/// Whether the transaction has made a row: its times are those of when it was made.
fn is_made_here<A: ActiveModelTrait<Entity: Table>>(db: &dyn WriteHandle, row: &A) -> bool {
    let key = <A::Entity as EntityTrait>::PrimaryKey::iter().next().map(PrimaryKeyToColumn::into_column);
    let id = match key.and_then(|key| row.get(key).into_value()) {
        Some(Value::BigInt(Some(id))) => id,
        _ => return false,
    };
    record_of::<A::Entity>(db).is_some_and(|record| matches!(record.before(RowOf::new::<A::Entity>(id)), Side::Absent))
}

/// The statement that stores the changed columns of a row and returns it. It only reads the row if none has changed.
/// `is_new` says that the transaction has made the row.
fn update_of<A: ActiveModelTrait>(backend: DbBackend, is_new: bool, row: A) -> Result<Work, Error> {
    let keys = <A::Entity as EntityTrait>::PrimaryKey::iter().map(PrimaryKeyToColumn::into_column);
    let of_row = keys.filter_map(|column| Some(column.eq(row.get(column).into_value()?)));
    let of_row = of_row.fold(Condition::all(), Condition::add);
    let mut update = A::Entity::update(row).validate()?.into_query();
    if update.get_values().is_empty() {
        return Ok(Work::new(backend.build(A::Entity::find().filter(of_row).as_query())));
    }
    if !is_new {
        touch::<A::Entity>(&mut update);
    }
    update.returning(all_columns::<A::Entity>(backend));
    Ok(Work::writing(backend.build(&update), true))
}

/// Whether a statement inserts no rows. sea-orm builds one for an empty list.
fn stores_nothing(statement: &Statement) -> bool {
    let has_values = statement.values.as_ref().is_some_and(|values| !values.0.is_empty());
    statement.sql.starts_with("INSERT") && !has_values && !statement.sql.contains("SELECT")
}

/// All columns of a table, in its order.
fn all_columns<E: EntityTrait>(backend: DbBackend) -> ReturningClause {
    let columns = E::Column::iter().map(|column| column.select_as(column.into_returning_expr(backend)));
    Query::returning().exprs(columns)
}
