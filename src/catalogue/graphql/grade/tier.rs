//! Tiers: how much depends on a service.

use crate::entity::tier;
use crate::graphql::grade;
use crate::graphql::prelude::*;

grade!(tier, TierId);

impl TierResolver for Tier {}

impl TierCreateMutation for Mutation {
    async fn tier_create(ctx: &MutationCtx<'_>, input: TierCreateInput) -> Result<TierCreatePayload> {
        let TierCreateInput { name, alias, index, texts } = input;
        let tier = grade::create::<tier::Entity>(ctx.db(), &name, &alias, &texts, &index).await?;
        Ok(TierCreatePayload { tier: Some(tier), ..Default::default() })
    }
}

impl TierUpdateMutation for Mutation {
    async fn tier_update(ctx: &MutationCtx<'_>, input: TierUpdateInput) -> Result<TierUpdatePayload> {
        let TierUpdateInput { id, name, alias, index, texts } = input;
        let tier = grade::update::<tier::Entity>(ctx.db(), &id, &name, &alias, &texts, &index).await?;
        Ok(TierUpdatePayload { tier: Some(tier), ..Default::default() })
    }
}

impl TierDeleteMutation for Mutation {
    async fn tier_delete(ctx: &MutationCtx<'_>, input: TierDeleteInput) -> Result<TierDeletePayload> {
        let TierDeleteInput { id } = input;
        let deleted_tier_id = grade::delete::<tier::Entity>(ctx, &id).await?;
        Ok(TierDeletePayload { deleted_tier_id, ..Default::default() })
    }
}
