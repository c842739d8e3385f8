//! Shorthands for foreign keys and indexes.

use sea_orm_migration::prelude::*;

/// A foreign key from `column` of `table` to `target`. Deleting the referenced row also deletes this one.
pub fn cascade(table: &'static str, column: &'static str, target: &'static str) -> ForeignKeyCreateStatement {
    reference(table, column, target, ForeignKeyAction::Cascade)
}

/// A foreign key from `column` of `table` to `target`. Deleting the referenced row sets the column to null.
pub fn set_null(table: &'static str, column: &'static str, target: &'static str) -> ForeignKeyCreateStatement {
    reference(table, column, target, ForeignKeyAction::SetNull)
}

/// A foreign key from `column` of `table` to `target`. A row that others refer to cannot be deleted.
pub fn restrict(table: &'static str, column: &'static str, target: &'static str) -> ForeignKeyCreateStatement {
    // SQLite reports a violated `RESTRICT` as one of a trigger.
    reference(table, column, target, ForeignKeyAction::NoAction)
}

fn reference(
    table: &'static str,
    column: &'static str,
    target: &'static str,
    on_delete: ForeignKeyAction,
) -> ForeignKeyCreateStatement {
    ForeignKey::create()
        .name(format!("fk_{table}_{column}"))
        .from(table, column)
        .to(target, "id")
        .on_delete(on_delete)
        .take()
}

/// An index, for [`create`]. Its name must be unique in the whole database (PostgreSQL's rule).
pub fn index<const N: usize>(
    name: &'static str,
    table: &'static str,
    columns: [&'static str; N],
) -> IndexCreateStatement {
    let mut index = Index::create();
    index.name(name).table(table);
    for column in columns {
        index.col(column);
    }
    index
}

/// A partial index of the rows whose `column` is not null. An upsert that relies on a unique one must repeat the
/// condition: `ON CONFLICT (…) WHERE column IS NOT NULL`.
pub fn partial<const N: usize>(
    name: &'static str,
    table: &'static str,
    columns: [&'static str; N],
    column: &'static str,
) -> IndexCreateStatement {
    index(name, table, columns).and_where(Expr::col(column).is_not_null()).take()
}

/// Creates the indexes.
pub async fn create(
    manager: &SchemaManager<'_>,
    indexes: impl IntoIterator<Item = IndexCreateStatement>,
) -> Result<(), DbErr> {
    for index in indexes {
        manager.create_index(index).await?;
    }
    Ok(())
}

/// The condition that exactly one of the columns is not null.
pub fn exactly_one<const N: usize>(columns: [&'static str; N]) -> Expr {
    let one_for = |column| -> Expr { Expr::case(Expr::col(column).is_null(), 0).finally(1).into() };
    let count = columns.into_iter().map(one_for).reduce(|sum, one| sum.add(one));
    count.unwrap_or_else(|| Expr::val(0)).eq(1)
}
