//! What the predicates of filters compare, in the words of the two enums.

use crate::entity::check_due::Part;
use crate::graphql::schema::{PredicateKeyEnum, ServiceFilterEnum};

/// What a predicate compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::graphql) enum Key {
    AlertStatus,
    Aliases,
    ComponentCategory,
    ComponentTypeId,
    CreationSource,
    DeployEnvironment,
    DomainId,
    FilterId,
    Framework,
    Language,
    LevelIndex,
    LifecycleIndex,
    Name,
    OwnerIds,
    Product,
    Property,
    Relationship,
    RepositoryIds,
    SystemId,
    Tag,
    TierIndex,
    /// A key that services cannot be filtered by, and the reason.
    Not(&'static str),
}

impl Key {
    /// Whether what it compares can change with a part of a service.
    pub(in crate::graphql) fn asks_about(self, part: Part) -> bool {
        match (self, part) {
            // Another filter may ask about anything.
            (Self::FilterId, _) | (_, Part::Any) => true,
            (Self::Tag, part) => part == Part::Tags,
            (Self::DeployEnvironment, part) => part == Part::Deploys,
            (_, part) => part == Part::Fields,
        }
    }
}

const NO_GROUPS: &str = "groups are not supported; use parent teams instead";

impl From<ServiceFilterEnum> for Key {
    fn from(key: ServiceFilterEnum) -> Self {
        match key {
            ServiceFilterEnum::AlertStatus => Self::AlertStatus,
            ServiceFilterEnum::Aliases => Self::Aliases,
            ServiceFilterEnum::ComponentCategory => Self::ComponentCategory,
            ServiceFilterEnum::ComponentTypeId => Self::ComponentTypeId,
            ServiceFilterEnum::CreationSource => Self::CreationSource,
            ServiceFilterEnum::DeployEnvironment => Self::DeployEnvironment,
            ServiceFilterEnum::DomainId => Self::DomainId,
            ServiceFilterEnum::FilterId => Self::FilterId,
            ServiceFilterEnum::Framework => Self::Framework,
            ServiceFilterEnum::GroupIds => Self::Not(NO_GROUPS),
            ServiceFilterEnum::Language => Self::Language,
            ServiceFilterEnum::LevelIndex => Self::LevelIndex,
            ServiceFilterEnum::LifecycleIndex => Self::LifecycleIndex,
            ServiceFilterEnum::Name => Self::Name,
            ServiceFilterEnum::OwnerId | ServiceFilterEnum::OwnerIds => Self::OwnerIds,
            ServiceFilterEnum::Product => Self::Product,
            ServiceFilterEnum::Property | ServiceFilterEnum::Properties => Self::Property,
            ServiceFilterEnum::Relationship | ServiceFilterEnum::Relationships => Self::Relationship,
            ServiceFilterEnum::RepositoryIds => Self::RepositoryIds,
            ServiceFilterEnum::SystemId => Self::SystemId,
            ServiceFilterEnum::Tag | ServiceFilterEnum::Tags => Self::Tag,
            ServiceFilterEnum::TierIndex => Self::TierIndex,
        }
    }
}

impl From<PredicateKeyEnum> for Key {
    fn from(key: PredicateKeyEnum) -> Self {
        match key {
            PredicateKeyEnum::AlertStatus => Self::AlertStatus,
            PredicateKeyEnum::Aliases => Self::Aliases,
            PredicateKeyEnum::ComponentCategory => Self::ComponentCategory,
            PredicateKeyEnum::ComponentTypeId => Self::ComponentTypeId,
            PredicateKeyEnum::CreationSource => Self::CreationSource,
            PredicateKeyEnum::DeployEnvironment => Self::DeployEnvironment,
            PredicateKeyEnum::DomainId => Self::DomainId,
            PredicateKeyEnum::FilterId => Self::FilterId,
            PredicateKeyEnum::Framework => Self::Framework,
            PredicateKeyEnum::GroupIds => Self::Not(NO_GROUPS),
            PredicateKeyEnum::Language => Self::Language,
            PredicateKeyEnum::LevelIndex => Self::LevelIndex,
            PredicateKeyEnum::LifecycleIndex => Self::LifecycleIndex,
            PredicateKeyEnum::Name => Self::Name,
            PredicateKeyEnum::OwnerId | PredicateKeyEnum::OwnerIds => Self::OwnerIds,
            PredicateKeyEnum::Product => Self::Product,
            PredicateKeyEnum::Property | PredicateKeyEnum::Properties => Self::Property,
            PredicateKeyEnum::Relationship | PredicateKeyEnum::Relationships => Self::Relationship,
            PredicateKeyEnum::RepositoryIds => Self::RepositoryIds,
            PredicateKeyEnum::SystemId => Self::SystemId,
            PredicateKeyEnum::Tag | PredicateKeyEnum::Tags => Self::Tag,
            PredicateKeyEnum::TierIndex => Self::TierIndex,
        }
    }
}
