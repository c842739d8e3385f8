//! The number of requests of each caller in its current window, across all processes of an installation on PostgreSQL.

use sea_orm_migration::{prelude::*, schema::*, sea_orm};

use sea_orm::{ConnectionTrait, DbBackend};

use crate::Done;
use crate::ddl::{create, index};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let window = Table::create()
            .table("rate_limit_window")
            .col(text("key").primary_key())
            .col(big_integer("began_at"))
            .col(big_integer("requests"))
            .take();
        manager.create_table(window).await?;
        create(manager, [index("rate_limit_window_by_time", "rate_limit_window", ["began_at"])]).await?;
        if manager.get_database_backend() == DbBackend::Postgres {
            // Unlogged, because counts need not survive a crash. Half of each page is left free for new versions of its
            // rows.
            let unlogged = "ALTER TABLE rate_limit_window SET UNLOGGED; \
                 ALTER TABLE rate_limit_window SET (fillfactor = 50)";
            manager.get_connection().execute_unprepared(unlogged).await?;
        }
        Ok(())
    })
}
