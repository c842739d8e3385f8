//! Indexes of the audit by time, to find what happened at a certain time and to remove old entries.

use sea_orm_migration::prelude::*;

use crate::Done;
use crate::ddl::{create, index};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        for name in ["audit_by_actor", "audit_by_subject"] {
            manager.drop_index(Index::drop().name(name).table("audit").to_owned()).await?;
        }
        let indexes = [
            index("audit_by_time", "audit", ["at", "id"]),
            index("audit_by_actor", "audit", ["actor_kind", "actor_id", "at", "id"]),
            index("audit_by_subject", "audit", ["subject_class", "subject_id", "at", "id"]),
        ];
        create(manager, indexes).await
    })
}
