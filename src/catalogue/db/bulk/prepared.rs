//! Prepares tables for very many rows, and completes them afterwards.

use sea_orm::{DbBackend, Statement};

use super::Bulk;
use crate::db::error::Constraint;
use crate::db::row::Row;
use crate::db::{Backend as _, Error, Read as _, Write as _, attempt};

/// The page cache while indexes are built, which reads and writes most pages once, and sorts.
const SQLITE_BUILD: &str = "PRAGMA cache_size = -8192";

/// The page cache of [`SQLITE_BULK`], after that.
const SQLITE_BUILT: &str = "PRAGMA cache_size = -16384";

/// Tables that are filled in bulk, and what they lack until [`Bulk::complete`].
#[derive(Debug, Default)]
#[must_use = "what was dropped must be made again"]
pub struct Prepared {
    tables: Vec<String>,
    /// The indexes and keys that were dropped.
    indexes: Vec<Index>,
    /// The foreign keys that are not checked.
    foreign_keys: Vec<ForeignKey>,
    /// The statements that start stopped triggers again.
    triggers: Vec<String>,
}

/// An index or a key that was dropped.
#[derive(Debug)]
struct Index {
    /// The statement that makes it again.
    make: String,
    /// What it checks.
    unique: Option<Unique>,
}

/// What no two rows of a table may have in common.
#[derive(Debug)]
struct Unique {
    table: String,
    /// The columns or expressions of the index.
    keys: String,
    /// The condition for a row to be in the index.
    condition: String,
}

/// A foreign key, which refers to the id of a row of `parent`.
#[derive(Debug)]
struct ForeignKey {
    table: String,
    column: String,
    parent: String,
    /// The statement that adds it again, if it was dropped.
    add: Option<String>,
}

/// Why tables that were filled in bulk are not complete.
#[derive(Debug)]
pub enum Incomplete {
    /// A row is bad.
    Row {
        /// Its table.
        table: String,
        /// Its id.
        id: i64,
        /// What is wrong with it.
        why: String,
    },
    /// A problem of the database.
    Database(Error),
}

impl From<Error> for Incomplete {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

impl From<Incomplete> for Error {
    fn from(why: Incomplete) -> Self {
        match why {
            Incomplete::Row { table, id, why } => Self::fault(format!("the row of {table} with id {id}: {why}")),
            Incomplete::Database(error) => error,
        }
    }
}

impl Bulk {
    /// Prepares a table for very many rows: drops its indexes, and stops its triggers and the checks of its foreign keys,
    /// until [`Bulk::complete`]. Rows of the table must be read in the order of their ids until then. SQLite keeps the
    /// indexes that check something.
    ///
    /// On PostgreSQL, a trigger that writes to the same row for each batch costs more with each, because PostgreSQL keeps
    /// all versions of a row until the end of the transaction; and a foreign key is checked by a query for each row.
    pub async fn prepare(&self, table: &str, prepared: &mut Prepared) -> Result<(), Error> {
        prepared.tables.push(table.to_owned());
        if self.backend() == DbBackend::Postgres {
            return self.prepare_on_postgres(table, prepared).await;
        }
        let (indexes, triggers) = ("sql NOT LIKE 'CREATE UNIQUE%'", "true");
        let indexes = self.drop_all("INDEX", table, indexes).await?;
        prepared.indexes.extend(indexes.into_iter().map(|make| Index { make, unique: None }));
        prepared.triggers.append(&mut self.drop_all("TRIGGER", table, triggers).await?);
        let foreign_keys = r#"SELECT "from", "table" FROM pragma_foreign_key_list($1)"#;
        for [column, parent] in self.about(table, foreign_keys).await? {
            prepared.foreign_keys.push(ForeignKey { table: table.to_owned(), column, parent, add: None });
        }
        Ok(())
    }

    async fn prepare_on_postgres(&self, table: &str, prepared: &mut Prepared) -> Result<(), Error> {
        self.drop_indexes_on_postgres(table, prepared).await?;
        let foreign_keys = "SELECT c.conname::text, pg_get_constraintdef(c.oid), a.attname::text, p.relname::text \
             FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] \
             JOIN pg_class p ON p.oid = c.confrelid WHERE c.conrelid = quote_ident($1)::regclass AND c.contype = 'f'";
        for [name, definition, column, parent] in self.about(table, foreign_keys).await? {
            self.script(&format!("ALTER TABLE \"{table}\" DROP CONSTRAINT \"{name}\"")).await?;
            let add = Some(format!("ALTER TABLE \"{table}\" ADD CONSTRAINT \"{name}\" {definition}"));
            prepared.foreign_keys.push(ForeignKey { table: table.to_owned(), column, parent, add });
        }
        self.script(&format!("ALTER TABLE \"{table}\" DISABLE TRIGGER USER")).await?;
        prepared.triggers.push(format!("ALTER TABLE \"{table}\" ENABLE TRIGGER USER"));
        Ok(())
    }

    /// Drops the indexes of a table, and its primary key if that has several columns: nothing refers to such a key. A key of
    /// one column stays. It is the id, and most rows come in its order.
    async fn drop_indexes_on_postgres(&self, table: &str, prepared: &mut Prepared) -> Result<(), Error> {
        let indexes = "SELECT i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid), coalesce(c.conname::text, ''), \
             coalesce(pg_get_constraintdef(c.oid), ''), i.indisunique::text, \
             (SELECT string_agg(pg_get_indexdef(i.indexrelid, place, true), ', ' ORDER BY place) \
             FROM generate_series(1, i.indnkeyatts) AS place), coalesce(pg_get_expr(i.indpred, i.indrelid), 'true') \
             FROM pg_index i LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid AND c.conrelid = i.indrelid \
             AND c.contype IN ('p', 'u') WHERE i.indrelid = quote_ident($1)::regclass \
             AND NOT (i.indisprimary AND i.indnkeyatts = 1)";
        for [name, definition, constraint, of_constraint, is_unique, keys, condition] in
            self.about(table, indexes).await?
        {
            let (drop, make) = match constraint.is_empty() {
                true => (format!("DROP INDEX {name}"), definition),
                false => (
                    format!("ALTER TABLE \"{table}\" DROP CONSTRAINT \"{constraint}\""),
                    format!("ALTER TABLE \"{table}\" ADD CONSTRAINT \"{constraint}\" {of_constraint}"),
                ),
            };
            self.script(&drop).await?;
            let unique = (is_unique == "true").then(|| Unique { table: table.to_owned(), keys, condition });
            prepared.indexes.push(Index { make, unique });
        }
        Ok(())
    }

    /// Selects texts about a table.
    async fn about<const N: usize>(&self, table: &str, query: &str) -> Result<Vec<[String; N]>, Error> {
        let query = Statement::from_sql_and_values(self.backend(), query, [table.into()]);
        let texts = |row: &Row<'_>| {
            let mut texts = [const { String::new() }; N];
            for (place, text) in texts.iter_mut().enumerate() {
                *text = row.get(place)?;
            }
            Ok(texts)
        };
        self.rows_by(query, texts).await
    }

    /// Makes what [`Bulk::prepare`] has dropped, starts what it has stopped, and checks the foreign keys. After an error,
    /// the transaction must be rolled back. On PostgreSQL, updates the statistics of the tables: without them it reads a
    /// table that was empty as a whole, page after page.
    pub async fn complete(&self, prepared: Prepared) -> Result<(), Incomplete> {
        let is_embedded = self.backend() != DbBackend::Postgres;
        if is_embedded {
            self.script(SQLITE_BUILD).await?;
        }
        for index in &prepared.indexes {
            self.make(index).await?;
        }
        if is_embedded {
            self.script(SQLITE_BUILT).await?;
        }
        for table in prepared.tables.iter().filter(|_| !is_embedded) {
            self.script(&format!("ANALYZE \"{table}\"")).await?;
        }
        for foreign_key in &prepared.foreign_keys {
            self.check(foreign_key).await?;
        }
        for statement in prepared.foreign_keys.iter().filter_map(|key| key.add.as_ref()).chain(&prepared.triggers) {
            self.script(statement).await?;
        }
        Ok(())
    }

    /// Makes an index or a key again.
    async fn make(&self, index: &Index) -> Result<(), Incomplete> {
        let Some(Unique { table, keys, condition }) = &index.unique else {
            self.script(&index.make).await?;
            return Ok(());
        };
        let Err(error) = attempt(self, async || self.script(&index.make).await).await else { return Ok(()) };
        let Some(Constraint::Unique(why)) = error.violation() else { return Err(error.into()) };
        // Of the rows with the same keys, those after the first. A row with a null has the same keys as no other.
        let id = format!(
            "SELECT min(id) FROM (SELECT id, row_number() OVER (PARTITION BY {keys} ORDER BY id) AS place \
             FROM \"{table}\" WHERE {condition} AND ROW({keys}) IS NOT NULL) AS row WHERE place > 1"
        );
        match self.number(id).await {
            Ok(Some(id)) => Err(Incomplete::Row { table: table.clone(), id, why: why.into() }),
            // Derived tables have no ids. Report the first error.
            Ok(None) | Err(_) => Err(error.into()),
        }
    }

    /// Looks for rows that refer to a row that does not exist.
    async fn check(&self, ForeignKey { table, column, parent, .. }: &ForeignKey) -> Result<(), Incomplete> {
        let dangling = format!(
            "SELECT min(child.\"{column}\") FROM \"{table}\" AS child WHERE child.\"{column}\" IS NOT NULL AND NOT EXISTS \
             (SELECT 1 FROM \"{parent}\" AS parent WHERE parent.id = child.\"{column}\")"
        );
        let Some(value) = self.number(dangling).await? else { return Ok(()) };
        let id = self.number(format!("SELECT min(id) FROM \"{table}\" WHERE \"{column}\" = {value}")).await?;
        let id = id.unwrap_or_default();
        let why = format!("its {column} is {value}, and there is no {parent} with this id");
        Err(Incomplete::Row { table: table.clone(), id, why })
    }

    /// Selects a number. `None` if it is null.
    async fn number(&self, select: String) -> Result<Option<i64>, Error> {
        let select = Statement::from_string(self.backend(), select);
        Ok(self.rows_by(select, |row| row.get(0)).await?.pop().flatten())
    }

    /// Drops what belongs to a table on SQLite: its indexes or triggers, as `kind` says in capitals, that meet a
    /// condition. Returns their definitions.
    async fn drop_all(&self, kind: &str, table: &str, condition: &str) -> Result<Vec<String>, Error> {
        let found =
            format!("SELECT name, sql FROM sqlite_master WHERE type = lower(?) AND tbl_name = ? AND {condition}");
        let found = Statement::from_sql_and_values(DbBackend::Sqlite, found, [kind.into(), table.into()]);
        let found = self.rows_by(found, |row| Ok((row.get::<String>(0)?, row.get::<String>(1)?))).await?;
        for (name, _) in &found {
            self.script(&format!("DROP {kind} \"{name}\"")).await?;
        }
        Ok(found.into_iter().map(|(_, definition)| definition).collect())
    }
}
