//! The way from a failed deploy to the next one of its service and environment that succeeded.

use sea_orm_migration::prelude::*;

use crate::ddl::{create, index};

/// This step.
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
