//! An index for the next successful deploy of the same service and environment after a failed one.

use sea_orm_migration::prelude::*;

use crate::Done;
use crate::ddl::{create, index};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let columns = ["service_id", "environment_key", "deployed_at", "id"];
        let index =
            index("deploy_by_success", "deploy", columns).and_where(Expr::col("deploy_status").eq("succeeded")).take();
        create(manager, [index]).await
    })
}
