//! Relationship definitions: what services of a component type can be related to, and what the relationship means.

use super::prelude::*;

/// The maximum number of management rules of a definition. A component type may have as many for owners, and as many
/// for systems.
pub const RULES: usize = 20;

super::table! {
    "relationship_definition", Alone("RelationshipDefinition"), Members;

    /// The alias by which clients refer to the definition; unique.
    pub alias: String,
    /// The display name.
    pub name: String,
    /// What the relationship means.
    pub description: Option<String>,
    /// The component type of the services that have such relationships.
    pub component_type_id: i64,
    /// The allowed types of targets, as a JSON list of words; empty if any type is allowed.
    pub allowed_types: String,
    /// The allowed categories, as given: a JSON list of words.
    pub allowed_categories: String,
    /// Its management rules, as a JSON list.
    pub management_rules: String,
    /// The minimum number of such relationships that a service should have.
    pub min_items: Option<i32>,
    /// The maximum number of such relationships that a service can have.
    pub max_items: Option<i32>,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

super::called!(class "RelationshipDefinition");

super::rules![
    FieldRule::text("alias", Column::Alias, text::SHORT).required(),
    FieldRule::new("componentType", Column::ComponentTypeId, ValueRule::Identified(Reference::ComponentType))
        .required(),
    FieldRule::text("description", Column::Description, text::DESCRIPTION),
    FieldRule::text("name", Column::Name, text::SHORT).required(),
];

super::by_alias!(Alias);
