//! Indexes that serve two filters of services at once, and the filter by the key of a tag.
//!
//! The index of a filter also holds the columns of the others, behind the id. Its entries stay in the order of the
//! list, and another filter is compared without reading the row. One index for each pair would cost several times the
//! writes.

use sea_orm_migration::prelude::*;

use crate::Done;
use crate::ddl::{create, index, partial};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let wider = [
            index("service_by_tier", "service", ["tier_id", "id", "lifecycle_id", "language", "framework", "owner_id"]),
            index(
                "service_by_lifecycle",
                "service",
                ["lifecycle_id", "id", "tier_id", "language", "framework", "owner_id"],
            ),
            index(
                "service_by_language",
                "service",
                ["language", "id", "tier_id", "lifecycle_id", "framework", "owner_id"],
            ),
            index(
                "service_by_framework",
                "service",
                ["framework", "id", "tier_id", "lifecycle_id", "language", "owner_id"],
            ),
        ];
        for name in ["service_by_tier", "service_by_lifecycle", "service_by_language", "service_by_framework"] {
            manager.drop_index(Index::drop().name(name).table("service").to_owned()).await?;
        }
        create(manager, wider).await?;
        // Services with a key, each once and in order, however many values the key has.
        create(manager, [partial("tag_by_key_service", "tag", ["key", "service_id"], "service_id")]).await
    })
}
