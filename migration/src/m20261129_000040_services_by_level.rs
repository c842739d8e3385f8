//! The services at a level, in the order of their ids: lists of services are sorted by level.

use sea_orm_migration::prelude::*;

use crate::Done;
use crate::ddl::{create, index};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        const NAME: &str = "service_level_by_level";
        manager.drop_index(Index::drop().name(NAME).table("service_level").to_owned()).await?;
        create(manager, [index(NAME, "service_level", ["level_id", "service_id"])]).await
    })
}
