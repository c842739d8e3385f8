//! Lifecycle stages: how far along a service is.

use crate::entity::lifecycle;
use crate::graphql::grade;
use crate::graphql::prelude::*;

grade!(lifecycle, LifecycleId);

impl LifecycleResolver for Lifecycle {}

impl LifecycleCreateMutation for Mutation {
    async fn lifecycle_create(ctx: &MutationCtx<'_>, input: LifecycleCreateInput) -> Result<LifecycleCreatePayload> {
        let LifecycleCreateInput { name, alias, index, texts } = input;
        let lifecycle = grade::create::<lifecycle::Entity>(ctx.db(), &name, &alias, &texts, &index).await?;
        Ok(LifecycleCreatePayload { lifecycle: Some(lifecycle), ..Default::default() })
    }
}

impl LifecycleUpdateMutation for Mutation {
    async fn lifecycle_update(ctx: &MutationCtx<'_>, input: LifecycleUpdateInput) -> Result<LifecycleUpdatePayload> {
        let LifecycleUpdateInput { id, name, alias, index, texts } = input;
        let lifecycle = grade::update::<lifecycle::Entity>(ctx.db(), &id, &name, &alias, &texts, &index).await?;
        Ok(LifecycleUpdatePayload { lifecycle: Some(lifecycle), ..Default::default() })
    }
}

impl LifecycleDeleteMutation for Mutation {
    async fn lifecycle_delete(ctx: &MutationCtx<'_>, input: LifecycleDeleteInput) -> Result<LifecycleDeletePayload> {
        let LifecycleDeleteInput { id } = input;
        let deleted_lifecycle_id = grade::delete::<lifecycle::Entity>(ctx, &id).await?;
        Ok(LifecycleDeletePayload { deleted_lifecycle_id, ..Default::default() })
    }
}
