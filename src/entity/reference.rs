//! Looks up what a field names: beside the rules of the fields, which the tables themselves lean on.

use sea_orm::DbErr;

use super::field_rule::Reference;
use super::{component_type, domain, lifecycle, system, team, tier, user};
use crate::db::Read;

impl Reference {
    /// The key of the row that `name` stands for.
    pub async fn key(self, db: &impl Read, name: &str) -> Result<Option<i64>, DbErr> {
        Ok(match self {
            Self::Team => team::by_alias(db, name).await?.map(|team| team.id),
            Self::Tier => tier::by_alias(db, name).await?.map(|tier| tier.id),
            Self::Lifecycle => lifecycle::by_alias(db, name).await?.map(|lifecycle| lifecycle.id),
            Self::User => user::by_email(db, name).await?.map(|user| user.id),
            Self::System => system::by_alias(db, name).await?.map(|system| system.id),
            Self::ComponentType => component_type::by_alias(db, name).await?.map(|found| found.id),
            Self::Domain => domain::by_alias(db, name).await?.map(|domain| domain.id),
        })
    }
}
