//! Looks up the rows that fields refer to. Separate from the field rules, because the tables themselves depend on
//! those.

use super::field_rule::Reference;
use super::{ByAlias, component_type, domain, lifecycle, system, team, tier, user};
use crate::db::{self, ReadHandle};

impl Reference {
    /// Finds the id of the row that `name` refers to.
    pub async fn key(self, db: &dyn ReadHandle, name: &str) -> Result<Option<i64>, db::Error> {
        Ok(match self {
            Self::Team => team::Entity::by_alias(db, name).await?.map(|team| team.id),
            Self::Tier => tier::Entity::by_alias(db, name).await?.map(|tier| tier.id),
            Self::Lifecycle => lifecycle::Entity::by_alias(db, name).await?.map(|lifecycle| lifecycle.id),
            Self::User => user::by_email(db, name).await?.map(|user| user.id),
            Self::System => system::Entity::by_alias(db, name).await?.map(|system| system.id),
            Self::ComponentType => component_type::Entity::by_alias(db, name).await?.map(|found| found.id),
            Self::Domain => domain::Entity::by_alias(db, name).await?.map(|domain| domain.id),
        })
    }
}
