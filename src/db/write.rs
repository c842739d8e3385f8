//! Typed writing.
//!
//! sea-orm builds the statements. It does not run them: on SQLite they run on the calling thread
//! ([`super::embedded`]).

use sea_orm::sea_query::{Condition, InsertStatement, Query, ReturningClause};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, DbBackend, EntityTrait, Insert, InsertMany, Iterable, ModelTrait,
    PrimaryKeyToColumn, QueryFilter, QueryTrait, Statement, StatementBuilder, UpdateMany,
};

use super::read::Read;
use super::row::{Row, Work};
use super::{Error, Table};

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

    /// Notes rows that were stored. `are_new` says that none of them existed before.
    #[doc(hidden)]
    fn note_stored<E: Table>(&self, rows: &[E::Model], are_new: bool) {
        let _ = (rows, are_new);
    }

    /// Notes a statement that may have changed any row.
    #[doc(hidden)]
    fn note_change(&self) {}

    /// Runs a statement and returns the number of rows that it changed.
    fn execute(&self, statement: &impl StatementBuilder) -> impl Future<Output = Result<u64, Error>> + Send {
        self.change(self.backend().build(statement))
    }

    /// Runs an insert, an update or a delete, and returns the number of rows that it changed.
    fn exec(&self, query: impl QueryTrait) -> impl Future<Output = Result<u64, Error>> + Send {
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

    /// Runs a statement that writes and maps the rows that it returns.
    fn returned<T, F>(
        &self,
        statement: &impl StatementBuilder,
        read: F,
    ) -> impl Future<Output = Result<Vec<T>, Error>> + Send
    where
        T: Send + 'static,
        F: Fn(&Row<'_>) -> Result<T, Error> + Send + 'static,
    {
        self.note_change();
        self.run(Work::writing(self.backend().build(statement), false), read)
    }

    #[doc(hidden)]
    fn stored<I: Inserts>(
        &self,
        one: bool,
        insert: I,
    ) -> impl Future<Output = Result<Vec<Stored<I::Row>>, Error>> + Send {
        let mut insert = insert.into_query();
        insert.returning(all_columns::<TableOf<I::Row>>(self.backend()));
        let statement = self.backend().build(&insert);
        async move {
            if stores_nothing(&statement) {
                return Ok(Vec::new());
            }
            let are_new = !statement.sql.contains("ON CONFLICT");
            let rows = self.run(Work::writing(statement, one), |row| row.model::<TableOf<I::Row>>()).await?;
            self.note_stored::<TableOf<I::Row>>(&rows, are_new);
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
    fn delete<M: ModelTrait>(&self, row: M) -> impl Future<Output = Result<u64, Error>> + Send {
        let mut delete = Query::delete();
        delete.from_table(M::Entity::default());
        for key in <M::Entity as EntityTrait>::PrimaryKey::iter() {
            let column = key.into_column();
            delete.and_where(column.eq(row.get(column)));
        }
        self.change(self.backend().build(&delete))
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
