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

/// Reads keys in the words of both enums, which have the same variants.
macro_rules! keys {
    ($($words:ident)*) => {$(
        impl From<$words> for Key {
            fn from(key: $words) -> Self {
                match key {
                    $words::AlertStatus => Self::AlertStatus,
                    $words::Aliases => Self::Aliases,
                    $words::ComponentCategory => Self::ComponentCategory,
                    $words::ComponentTypeId => Self::ComponentTypeId,
                    $words::CreationSource => Self::CreationSource,
                    $words::DeployEnvironment => Self::DeployEnvironment,
                    $words::DomainId => Self::DomainId,
                    $words::FilterId => Self::FilterId,
                    $words::Framework => Self::Framework,
                    $words::GroupIds => Self::Not(NO_GROUPS),
                    $words::Language => Self::Language,
                    $words::LevelIndex => Self::LevelIndex,
                    $words::LifecycleIndex => Self::LifecycleIndex,
                    $words::Name => Self::Name,
                    $words::OwnerId | $words::OwnerIds => Self::OwnerIds,
                    $words::Product => Self::Product,
                    $words::Property | $words::Properties => Self::Property,
                    $words::Relationship | $words::Relationships => Self::Relationship,
                    $words::RepositoryIds => Self::RepositoryIds,
                    $words::SystemId => Self::SystemId,
                    $words::Tag | $words::Tags => Self::Tag,
                    $words::TierIndex => Self::TierIndex,
                }
            }
        }
    )*};
}

keys! { ServiceFilterEnum PredicateKeyEnum }
