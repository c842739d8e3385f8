//! On SQLite, the indexes that list the aliases and the tags of a service hold what is shown of them. SQLite then reads
//! the index alone, instead of looking up each of its rows in the table. PostgreSQL keeps its indexes: it looks up rows
//! by their place, not by a search, and its indexes cannot hold the longest tags.

use sea_orm_migration::{prelude::*, sea_orm};

use sea_orm::{ConnectionTrait, DbBackend};

use crate::Done;

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        if manager.get_database_backend() != DbBackend::Sqlite {
            return Ok(());
        }
        // Each begins with the columns of the index that it replaces, and serves all that the old one did.
        let indexes = "
            DROP INDEX service_alias_by_service;
            CREATE INDEX service_alias_by_service ON service_alias (service_id, id, value);
            DROP INDEX tag_by_service;
            CREATE INDEX tag_by_service ON tag (service_id, id, \"key\", value) WHERE service_id IS NOT NULL;";
        manager.get_connection().execute_unprepared(indexes).await.map(|_| ())
    })
}
