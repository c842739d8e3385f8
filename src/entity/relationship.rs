//! Relationships: that one thing of the catalogue belongs to another, depends on it, or is related to it.
//!
//! The database makes sure that each of the two ends is exactly one thing, and that nothing is said twice. What has a place
//! of its own is not a row here: the system of a service, the domain of a system, and what a service depends on.

use sea_orm::Set;
use sea_orm::entity::prelude::*;
use serde::Deserialize;

/// A row of `relationship`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "relationship")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// How the source is tied to the target: a word of `RelationshipTypeEnum`.
    pub r#type: String,
    /// What the relationship means.
    pub relationship_definition_id: Option<i64>,
    /// The source: a service, or
    pub source_service_id: Option<i64>,
    /// a system, or
    pub source_system_id: Option<i64>,
    /// a domain, or
    pub source_domain_id: Option<i64>,
    /// a team, or
    pub source_team_id: Option<i64>,
    /// an infrastructure resource.
    pub source_infrastructure_resource_id: Option<i64>,
    /// The target: a service, or
    pub target_service_id: Option<i64>,
    /// a system, or
    pub target_system_id: Option<i64>,
    /// a domain, or
    pub target_domain_id: Option<i64>,
    /// a team, or
    pub target_team_id: Option<i64>,
    /// an infrastructure resource.
    pub target_infrastructure_resource_id: Option<i64>,
    /// All of it but its id in one text, which is unique: see [`new`].
    pub unique_key: String,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// A thing at an end of a relationship, with its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A service.
    Service(i64),
    /// A system.
    System(i64),
    /// A domain.
    Domain(i64),
    /// A team.
    Team(i64),
    /// An infrastructure resource.
    InfrastructureResource(i64),
}

impl End {
    /// What an end can be, for sentences.
    pub const NOUN: &'static str = "service, a system, a domain, a team or an infrastructure resource";

    /// The noun of the SDL, and the key.
    pub fn named(self) -> (&'static str, i64) {
        match self {
            Self::Service(id) => ("Service", id),
            Self::System(id) => ("System", id),
            Self::Domain(id) => ("Domain", id),
            Self::Team(id) => ("Team", id),
            Self::InfrastructureResource(id) => ("InfrastructureResource", id),
        }
    }

    /// The thing that a noun of the SDL and a key name.
    pub fn of(class: &str, id: i64) -> Option<Self> {
        match class {
            "Service" => Some(Self::Service(id)),
            "System" => Some(Self::System(id)),
            "Domain" => Some(Self::Domain(id)),
            "Team" => Some(Self::Team(id)),
            "InfrastructureResource" => Some(Self::InfrastructureResource(id)),
            _ => None,
        }
    }

    /// The columns that name a source and a target of this kind.
    pub fn columns(self) -> [Column; 2] {
        match self {
            Self::Service(_) => [Column::SourceServiceId, Column::TargetServiceId],
            Self::System(_) => [Column::SourceSystemId, Column::TargetSystemId],
            Self::Domain(_) => [Column::SourceDomainId, Column::TargetDomainId],
            Self::Team(_) => [Column::SourceTeamId, Column::TargetTeamId],
            Self::InfrastructureResource(_) => {
                [Column::SourceInfrastructureResourceId, Column::TargetInfrastructureResourceId]
            }
        }
    }
}

impl Model {
    /// The thing that belongs, depends or is related.
    pub fn source(&self) -> Option<End> {
        end(
            self.source_service_id,
            self.source_system_id,
            self.source_domain_id,
            self.source_team_id,
            self.source_infrastructure_resource_id,
        )
    }

    /// The thing that it belongs to, depends on or is related to.
    pub fn target(&self) -> Option<End> {
        end(
            self.target_service_id,
            self.target_system_id,
            self.target_domain_id,
            self.target_team_id,
            self.target_infrastructure_resource_id,
        )
    }
}

fn end(
    service: Option<i64>,
    system: Option<i64>,
    domain: Option<i64>,
    team: Option<i64>,
    resource: Option<i64>,
) -> Option<End> {
    let grouping = system.map(End::System).or_else(|| domain.map(End::Domain));
    let other = team.map(End::Team).or_else(|| resource.map(End::InfrastructureResource));
    service.map(End::Service).or(grouping).or(other)
}

/// A row to insert.
pub fn new(r#type: &str, definition: Option<i64>, source: End, target: End) -> ActiveModel {
    let ((from, from_id), (to, to_id)) = (source.named(), target.named());
    let key = format!("{type}/{}/{from}/{from_id}/{to}/{to_id}", definition.unwrap_or_default());
    let mut row = ActiveModel {
        r#type: Set(r#type.to_owned()),
        relationship_definition_id: Set(definition),
        unique_key: Set(key),
        ..Default::default()
    };
    row.set(source.columns()[0], from_id.into());
    row.set(target.columns()[1], to_id.into());
    row
}
