//! Typed writing.
//!
//! sea-orm builds the statements. It does not run them: on SQLite they run on the calling thread
//! ([`super::embedded`]).

use sea_orm::sea_query::{Condition, InsertStatement, Query, ReturningClause};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, DbBackend, DeleteMany, EntityTrait, Insert, InsertMany, Iterable, ModelTrait,
    PrimaryKeyToColumn, QueryFilter, QueryTrait, Statement, StatementBuilder, UpdateMany, ValidatedDeleteOne,
};

use super::Error;
use super::read::Read;
use super::row::{Row, Work};
use super::table::{Table, Unrecorded};

/// Typed writing. Reads see what was written before.
pub trait Write: Read {
    /// Runs a statement and returns the number of rows that it changed.
    #[doc(hidden)]
    fn change(&self, statement: Statement) -> impl Future<Output = Result<u64, Error>> + Send;

    /// Runs statements without parameters.
    #[doc(hidden)]
    fn script(&self, sql: &str) -> impl Future<Output = Result<(), Error>> + Send;

    /// Notes rows that this has read and that no other transaction can change until this one ends: it has locked them, or
    /// what they belong to.
    fn hold<E: Table>(&self, rows: &[E::Model]) {
        let _ = rows;
    }

    /// Whether the changes of a table are recorded.
    #[doc(hidden)]
    fn records<E: Table>(&self) -> bool {
        false
    }

    /// Notes rows that were stored. `are_new` says that none of them existed before.
    #[doc(hidden)]
    fn note_stored<E: Table>(&self, rows: &[E::Model], are_new: bool) {
        let _ = (rows, are_new);
    }

    /// Notes rows that were deleted.
    #[doc(hidden)]
    fn note_deleted<E: Table>(&self, rows: &[E::Model]) {
        let _ = rows;
    }

    /// Runs a statement about the table `E`, whose changes are not recorded. Returns the number of rows that it changed.
    fn execute<E: Unrecorded>(
        &self,
        statement: &impl StatementBuilder,
    ) -> impl Future<Output = Result<u64, Error>> + Send {
        self.change(self.backend().build(statement))
    }

    /// Runs an insert, an update or a delete, and returns the number of rows that it changed.
    fn exec<C: Changes>(&self, query: C) -> impl Future<Output = Result<u64, Error>> + Send {
        let is_recorded = self.records::<C::Table>();
        let mut statement = query.into_query();
        if is_recorded {
            C::return_rows(&mut statement, all_columns::<C::Table>(self.backend()));
        }
        let statement = self.backend().build(&statement);
        async move {
            if stores_nothing(&statement) {
                return Ok(0);
            }
            if !is_recorded {
                return self.change(statement).await;
            }
            let are_new = C::MAKES && !statement.sql.contains("ON CONFLICT");
            let rows = self.run(Work::writing(statement, false), |row| row.model::<C::Table>()).await?;
            match C::DELETES {
                true => self.note_deleted::<C::Table>(&rows),
                false => self.note_stored::<C::Table>(&rows, are_new),
            }
            Ok(rows.len() as u64)
        }
    }

    /// Like [`exec`](Self::exec), for rows that follow from another change of the same transaction, however many they are:
    /// they are not recorded.
    fn exec_following<C: Changes>(&self, query: C) -> impl Future<Output = Result<u64, Error>> + Send {
        let statement = query.build(self.backend());
        async move { if stores_nothing(&statement) { Ok(0) } else { self.change(statement).await } }
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
        let rows = self.stored(true, insert);
        async move { rows.await?.pop().ok_or_else(|| Error::fault("an insert returned no row")) }
    }

    /// Runs an insert and returns the rows that it stored, in no particular order.
    fn returning<I: Inserts>(&self, insert: I) -> impl Future<Output = Result<Vec<Stored<I::Row>>, Error>> + Send {
        self.stored(false, insert)
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
        self.run(Work::writing(self.backend().build(statement), false), read)
    }

    #[doc(hidden)]
    fn stored<I: Inserts>(
        &self,
        one: bool,
        insert: I,
    ) -> impl Future<Output = Result<Vec<Stored<I::Row>>, Error>> + Send {
        self.stored_by::<TableOf<I::Row>>(one, insert.into_query())
    }

    /// Runs an insert into the table `E` and returns the rows that it stored. `one` says that it stores at most one.
    fn stored_by<E: Table>(
        &self,
        one: bool,
        mut insert: InsertStatement,
    ) -> impl Future<Output = Result<Vec<E::Model>, Error>> + Send {
        insert.returning(all_columns::<E>(self.backend()));
        let statement = self.backend().build(&insert);
        async move {
            if stores_nothing(&statement) {
                return Ok(Vec::new());
            }
            let are_new = !statement.sql.contains("ON CONFLICT");
            let rows = self.run(Work::writing(statement, one), |row| row.model::<E>()).await?;
            self.note_stored::<E>(&rows, are_new);
            Ok(rows)
        }
    }

    /// Stores the changed columns of a row. Fails with [`Error::LostRace`] if the row does not exist.
    fn update<A>(&self, row: A) -> impl Future<Output = Result<<A::Entity as EntityTrait>::Model, Error>> + Send
    where
        A: ActiveModelTrait<Entity: Table>,
    {
        let work = update_of(self.backend(), row);
        async move {
            let rows = self.run(work?, |row| row.model::<A::Entity>()).await?;
            self.note_stored::<A::Entity>(&rows, false);
            rows.into_iter().next().ok_or(Error::LostRace)
        }
    }

    /// Runs an update and returns the rows as they are then, in no particular order.
    fn updated<E: Table>(&self, update: UpdateMany<E>) -> impl Future<Output = Result<Vec<E::Model>, Error>> + Send {
        let mut update = update.into_query();
        update.returning(all_columns::<E>(self.backend()));
        let rows = self.run(Work::writing(self.backend().build(&update), false), |row| row.model::<E>());
        async move {
            let rows = rows.await?;
            self.note_stored::<E>(&rows, false);
            Ok(rows)
        }
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
    /// Makes it return the rows.
    fn return_rows(statement: &mut Self::QueryStatement, columns: ReturningClause);
}

macro_rules! changes {
    ($($query:ty, $table:ty, $makes:literal, $deletes:literal, [$($generics:tt)*];)*) => {$(
        impl<$($generics)*> Changes for $query {
            type Table = $table;
            const MAKES: bool = $makes;
            const DELETES: bool = $deletes;

            fn return_rows(statement: &mut Self::QueryStatement, columns: ReturningClause) {
                statement.returning(columns);
            }
        }
    )*};
}

changes! {
    Insert<A>, A::Entity, true, false, [A: ActiveModelTrait<Entity: Table>];
    InsertMany<A>, A::Entity, true, false, [A: ActiveModelTrait<Entity: Table>];
    UpdateMany<E>, E, false, false, [E: Table];
    DeleteMany<E>, E, false, true, [E: Table];
    ValidatedDeleteOne<E>, E, false, true, [E: Table];
}

/// The statement that stores the changed columns of a row and returns it. It only reads the row if none has changed.
fn update_of<A: ActiveModelTrait>(backend: DbBackend, row: A) -> Result<Work, Error> {
    let keys = <A::Entity as EntityTrait>::PrimaryKey::iter().map(PrimaryKeyToColumn::into_column);
    let of_row = keys.filter_map(|column| Some(column.eq(row.get(column).into_value()?)));
    let of_row = of_row.fold(Condition::all(), Condition::add);
    let mut update = A::Entity::update(row).validate()?.into_query();
    if update.get_values().is_empty() {
        return Ok(Work::new(backend.build(A::Entity::find().filter(of_row).as_query())));
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
