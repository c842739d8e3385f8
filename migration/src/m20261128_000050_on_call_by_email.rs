//! An index of who is on call by email address, to find what a person is on call for.

use sea_orm_migration::prelude::*;

use crate::ddl::{create, index};

/// This migration.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        create(manager, [index("on_call_by_email", "on_call", ["external_email"])]).await
    }
}
