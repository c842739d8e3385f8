//! An index for the deploys of a service to one environment, newest first, even if only few of its deploys go there.

use sea_orm_migration::prelude::*;

use crate::Done;
use crate::ddl::{create, index};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let columns = ["service_id", "environment_key", "deployed_at", "id"];
        let both = Expr::col("service_id").is_not_null().and(Expr::col("environment_key").is_not_null());
        let deploys = index("deploy_by_service_and_environment", "deploy", columns).and_where(both).take();
        create(manager, [deploys]).await
    })
}
