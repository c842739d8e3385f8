//! The repository and the commit that a service's file comes from.

use sea_orm_migration::prelude::*;

use crate::Done;
use crate::ddl::{create, partial};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let db = manager.get_connection();
        for column in ["locked_repository", "locked_commit"] {
            db.execute_unprepared(&format!("ALTER TABLE service ADD COLUMN {column} text NULL")).await?;
        }
        let columns = ["locked_repository", "id"];
        create(manager, [partial("service_by_locked_repository", "service", columns, "locked_repository")]).await
    })
}
