//! Copies checks of any kind to a campaign.

use sea_orm::{ActiveModelTrait, IntoActiveModel, NotSet};

use super::change::refuse_too_many;
use crate::entity::check::{ActiveModel, Model};
use crate::graphql::prelude::*;

/// Copies the checks to a campaign, in this order. The copies count at once, whether the originals do or not, and are
/// changed on their own from then on. Answers are not copied.
pub(in crate::graphql) async fn copy(db: &Transaction, checks: Vec<Model>, campaign: i64) -> Result<()> {
    let now = Timestamp::now();
    for check in checks {
        let copy = ActiveModel {
            id: NotSet,
            enabled: Set(true),
            enable_at: Set(None),
            campaign_id: Set(Some(campaign)),
            locked_by: Set(None),
            created_at: Set(now),
            updated_at: Set(now),
            ..check.into_active_model().reset_all()
        };
        db.insert(copy).await?;
    }
    refuse_too_many(db).await
}
