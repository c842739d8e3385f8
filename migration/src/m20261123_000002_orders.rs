//! Indexes for the sort orders of lists, including the orders of services by what they refer to: the names of teams,
//! and the positions of tiers and lifecycles. Texts are ordered ignoring the case of ASCII letters, on both backends.

use sea_orm_migration::{prelude::*, sea_orm};

use sea_orm::{ConnectionTrait, DbBackend};

use crate::Done;

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let db = manager.get_connection();
        for (table, column) in [
            ("service", "name"),
            ("service", "language"),
            ("service", "product"),
            ("team", "name"),
            ("user", "name"),
            ("user", "email"),
            ("repository", "name"),
            ("system", "name"),
            ("domain", "name"),
        ] {
            let folded = match manager.get_database_backend() {
                DbBackend::Postgres => format!(r#"lower({column} COLLATE "C")"#),
                _ => format!("lower({column})"),
            };
            let index = format!(r#"CREATE INDEX {table}_in_order_of_{column} ON "{table}" ({folded}, id)"#);
            db.execute_unprepared(&index).await?;
        }
        for table in ["tier", "lifecycle"] {
            let index = format!(r#"CREATE INDEX {table}_in_order ON {table} ("index", id)"#);
            db.execute_unprepared(&index).await?;
        }
        Ok(())
    })
}
