//! The indexes of dependencies contain both services, so that following thousands of dependencies reads no rows.

use sea_orm_migration::prelude::*;

use crate::Done;
use crate::ddl::{create, index};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        for name in ["service_dependency_by_source", "service_dependency_by_destination"] {
            manager.drop_index(Index::drop().name(name).table("service_dependency").to_owned()).await?;
        }
        let (table, source, destination) = ("service_dependency", "source_id", "destination_id");
        create(
            manager,
            [
                index("service_dependency_from", table, [source, "id", destination]),
                index("service_dependency_to", table, [destination, "id", source]),
            ],
        )
        .await
    })
}
