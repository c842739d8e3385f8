//! Relationships: one object belongs to another, depends on it, or is related to it.
//!
//! The database enforces that each end is exactly one object, and that each relationship occurs once. Relationships
//! that have a column or a table of their own are not stored here: the system of a service, the domain of a system, and
//! the dependencies of a service.

use super::prelude::*;
use super::{domain, infrastructure_resource, relationship_definition, service, system, team};

super::table! {
    "relationship";

    /// How the source relates to the target: a value of the SDL's `RelationshipTypeEnum`.
    pub r#type: String,
    /// The definition, which says what the relationship means.
    pub relationship_definition_id: Option<i64>,
    /// The source, if it is a service.
    pub source_service_id: Option<i64>,
    /// The source, if it is a system.
    pub source_system_id: Option<i64>,
    /// The source, if it is a domain.
    pub source_domain_id: Option<i64>,
    /// The source, if it is a team.
    pub source_team_id: Option<i64>,
    /// The source, if it is an infrastructure resource.
    pub source_infrastructure_resource_id: Option<i64>,
    /// The target, if it is a service.
    pub target_service_id: Option<i64>,
    /// The target, if it is a system.
    pub target_system_id: Option<i64>,
    /// The target, if it is a domain.
    pub target_domain_id: Option<i64>,
    /// The target, if it is a team.
    pub target_team_id: Option<i64>,
    /// The target, if it is an infrastructure resource.
    pub target_infrastructure_resource_id: Option<i64>,
    /// The type, the definition and both ends as one text; unique. See [`new`].
    pub unique_key: String,
    /// [`BY_FILE`](super::BY_FILE) if a service file wrote the relationship, else null.
    pub written_by: Option<String>,
}

super::called!(class "Relationship");

impl Table for Entity {
    const TOLD: Told = Told::Alone("Relationship");
    const LIST: Option<&'static str> = Some("relationships");
    const UNTOLD: &'static [Column] = &[Column::UniqueKey, Column::WrittenBy];

    fn owner(row: &Model) -> Owner {
        row.source().map_or(Owner::Nobody, |source| Owner::Row(source.row()))
    }

    fn other_owner(row: &Model) -> Option<RowOf> {
        row.target().map(End::row)
    }

    fn entry(row: &Model) -> Entry {
        let definition = row.relationship_definition_id.map(RowOf::new::<relationship_definition::Entity>);
        let target = row.target().map(End::row);
        let colon = Word::Text(": ".to_owned());
        let name = [definition.map(Word::NameOf), Some(colon), target.map(Word::NameOf)];
        Entry { name: name.into_iter().flatten().collect(), value: None }
    }
}

/// An object at an end of a relationship, with its id.
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
    /// What an end can be, for messages.
    pub const NOUN: &'static str = "service, a system, a domain, a team or an infrastructure resource";

    /// Returns the SDL type and the id.
    pub fn named(self) -> (&'static str, i64) {
        match self {
            Self::Service(id) => ("Service", id),
            Self::System(id) => ("System", id),
            Self::Domain(id) => ("Domain", id),
            Self::Team(id) => ("Team", id),
            Self::InfrastructureResource(id) => ("InfrastructureResource", id),
        }
    }

    /// Returns its row.
    pub fn row(self) -> RowOf {
        match self {
            Self::Service(id) => RowOf::new::<service::Entity>(id),
            Self::System(id) => RowOf::new::<system::Entity>(id),
            Self::Domain(id) => RowOf::new::<domain::Entity>(id),
            Self::Team(id) => RowOf::new::<team::Entity>(id),
            Self::InfrastructureResource(id) => RowOf::new::<infrastructure_resource::Entity>(id),
        }
    }

    /// Returns the end with this SDL type and id; `None` if the type cannot be an end.
    pub fn from_class(class: &str, id: i64) -> Option<Self> {
        match class {
            "Service" => Some(Self::Service(id)),
            "System" => Some(Self::System(id)),
            "Domain" => Some(Self::Domain(id)),
            "Team" => Some(Self::Team(id)),
            "InfrastructureResource" => Some(Self::InfrastructureResource(id)),
            _ => None,
        }
    }

    /// Returns the columns that hold a source and a target of this kind.
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
    /// The object that belongs to the target, depends on it or is related to it.
    pub fn source(&self) -> Option<End> {
        end(
            self.source_service_id,
            self.source_system_id,
            self.source_domain_id,
            self.source_team_id,
            self.source_infrastructure_resource_id,
        )
    }

    /// The object that the source belongs to, depends on or is related to.
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

/// Builds a row to insert.
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
