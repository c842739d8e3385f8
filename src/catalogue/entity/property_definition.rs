//! Property definitions: what is recorded about services and teams, in addition to their built-in fields.

use super::prelude::*;

super::table! {
    "property_definition", Alone("PropertyDefinition"), Members;

    /// The alias by which values refer to the definition; unique.
    pub alias: String,
    /// The display name.
    pub name: String,
    /// What the property says about a service or a team.
    pub description: Option<String>,
    /// The JSON Schema of its values, as JSON text.
    pub schema: String,
    /// Whether service files may set the property.
    pub allowed_in_config_files: bool,
    /// Whether pages show it: a value of the SDL's `PropertyDisplayStatusEnum`.
    pub property_display_status: String,
    /// Whether people may change its values on pages: a value of the SDL's `PropertyLockedStatusEnum`.
    pub locked_status: String,
    /// Whether only teams have the property.
    pub is_of_teams: bool,
    /// If set, only services of this component type have the property.
    pub component_type_id: Option<i64>,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

super::rules![
    FieldRule::text("name", Column::Name, text::SHORT).required(),
    FieldRule::text("alias", Column::Alias, text::SHORT).required(),
    FieldRule::text("description", Column::Description, text::DESCRIPTION).by_hand(),
];

impl Model {
    /// Why a service of this component type cannot have a value. `own` is the default type for a service without one.
    pub fn refuses_service(&self, own: Option<i64>) -> Option<&'static str> {
        if self.is_of_teams {
            return Some("this property definition is for teams, not for services");
        }
        self.refuses_type(own)
    }

    /// Why the component type of a service does not allow a value.
    pub fn refuses_type(&self, own: Option<i64>) -> Option<&'static str> {
        let of = self.component_type_id?;
        (own != Some(of)).then_some("this property definition is for another component type")
    }

    /// Why a team cannot have a value.
    pub fn refuses_teams(&self) -> Option<&'static str> {
        self.component_type_id.map(|_| "this property definition is for a component type, not for teams")
    }
}

super::by_alias!(Alias);
