//! An index for the next successful deploy of the same service and environment after a failed one.

use sea_orm_migration::prelude::*;

use crate::ddl::{create, index};

/// This migration.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let columns = ["service_id", "environment_key", "deployed_at", "id"];
        let index =
            index("deploy_by_success", "deploy", columns).and_where(Expr::col("deploy_status").eq("succeeded")).take();
        create(manager, [index]).await
    }
}
