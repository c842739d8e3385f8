//! Indexes of the audit by time, to find what happened at a certain time and to remove old entries.

use sea_orm_migration::prelude::*;

use crate::ddl::{create, index};

/// This migration.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for name in ["audit_by_actor", "audit_by_subject"] {
            manager.drop_index(Index::drop().name(name).table("audit").to_owned()).await?;
        }
        let indexes = [
            index("audit_by_time", "audit", ["at", "id"]),
            index("audit_by_actor", "audit", ["actor_kind", "actor_id", "at", "id"]),
            index("audit_by_subject", "audit", ["subject_class", "subject_id", "at", "id"]),
        ];
        create(manager, indexes).await
    }
}
