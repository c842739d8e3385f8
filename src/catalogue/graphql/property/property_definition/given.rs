//! The inputs of definitions: read and checked before a mutation begins to write, because a schema may take long.

use serde_json::Value;

use crate::entity::property_definition::{ActiveModel, Column, Entity, Model};
use crate::entity::text::FEW;
use crate::entity::{alias, field_rule};
use crate::graphql::field::json::Json;
use crate::graphql::prelude::*;
use crate::json_schema::{self, Allowance, CHECKING};

/// The fields of a definition, from any of the inputs that have them.
#[derive(Default)]
pub(in crate::graphql) struct Given {
    pub(super) alias: MaybeUndefined<String>,
    allowed_in_config_files: MaybeUndefined<bool>,
    description: MaybeUndefined<String>,
    locked_status: MaybeUndefined<PropertyLockedStatusEnum>,
    name: MaybeUndefined<String>,
    property_display_status: MaybeUndefined<PropertyDisplayStatusEnum>,
    schema: MaybeUndefined<Json>,
    /// The schema, or what is wrong with it, once it was read.
    read: Option<std::result::Result<Value, UserError>>,
}

impl Given {
    /// Reads the schema, which may take 100 ms. So it happens before the mutation begins to write.
    pub(super) async fn read(mut self, allowance: &mut Allowance) -> Result<Self> {
        if let MaybeUndefined::Value(Json(text)) = &self.schema {
            let _turn = json_schema::turn(text, "").await;
            let read = allowance.spend(|| json_schema::read_schema("schema", text));
            self.read = Some(read.ok_or_else(late)?);
        }
        Ok(self)
    }

    pub(super) fn of_team(input: TeamPropertyDefinitionInput) -> Self {
        let TeamPropertyDefinitionInput { alias, description, locked_status, name, schema } = input;
        Self {
            alias: MaybeUndefined::Value(alias),
            description: MaybeUndefined::Value(description),
            locked_status,
            name: MaybeUndefined::Value(name),
            schema: MaybeUndefined::Value(schema),
            ..Self::default()
        }
    }

    pub(super) fn of_type(input: &ComponentTypePropertyDefinitionInput) -> Self {
        let ComponentTypePropertyDefinitionInput {
            alias,
            allowed_in_config_files,
            description,
            locked_status,
            name,
            property_display_status,
            schema,
        } = input;
        Self {
            alias: MaybeUndefined::Value(alias.clone()),
            allowed_in_config_files: MaybeUndefined::Value(*allowed_in_config_files),
            description: MaybeUndefined::Value(description.clone()),
            locked_status: *locked_status,
            name: MaybeUndefined::Value(name.clone()),
            property_display_status: MaybeUndefined::Value(*property_display_status),
            schema: MaybeUndefined::Value(schema.clone()),
            read: None,
        }
    }

    fn fill(&self, draft: &mut Draft<Entity>) {
        draft.set(Column::Name, &self.name);
        draft.set(Column::Alias, &self.alias);
        draft.set(Column::Description, &self.description);
        // Null restores the default.
        if !self.allowed_in_config_files.is_undefined() {
            draft.row.allowed_in_config_files = Set(self.allowed_in_config_files.value() != Some(&false));
        }
        if !self.property_display_status.is_undefined() {
            let status = self.property_display_status.value().unwrap_or(&PropertyDisplayStatusEnum::Visible);
            draft.row.property_display_status = Set(status.as_str().to_owned());
        }
        if !self.locked_status.is_undefined() {
            let status = self.locked_status.value().unwrap_or(&PropertyLockedStatusEnum::Unlocked);
            draft.row.locked_status = Set(status.as_str().to_owned());
        }
        let schema = match &self.schema {
            MaybeUndefined::Undefined => return,
            MaybeUndefined::Null => Err(field_rule::must_not_be_null("schema")),
            MaybeUndefined::Value(Json(text)) => match &self.read {
                Some(read) => read.clone(),
                None => json_schema::read_schema("schema", text),
            },
        };
        if let Some(schema) = draft.problems.take(schema) {
            draft.row.schema = Set(schema.to_string());
        }
    }

    /// Returns the row of a new definition.
    pub(super) fn make(mut self) -> Result<ActiveModel> {
        if self.name.is_undefined() {
            self.name = MaybeUndefined::Value(String::new());
        }
        if self.schema.is_undefined() {
            self.schema = MaybeUndefined::Null;
        }
        if self.alias.is_undefined() {
            let name = self.name.value().map_or("", String::as_str);
            self.alias = MaybeUndefined::Value(alias::slug(name, "property"));
        }
        let mut draft = Draft::new();
        let now = Timestamp::now();
        draft.row = ActiveModel {
            allowed_in_config_files: Set(true),
            property_display_status: Set(PropertyDisplayStatusEnum::Visible.as_str().to_owned()),
            locked_status: Set(PropertyLockedStatusEnum::Unlocked.as_str().to_owned()),
            is_of_teams: Set(false),
            created_at: Set(now),
            updated_at: Set(now),
            ..draft.row
        };
        self.fill(&mut draft);
        draft.done()
    }

    /// Returns the changed row of a definition.
    pub(super) fn change(self, definition: Model) -> Result<ActiveModel> {
        let mut draft = Draft::from_row(definition);
        self.fill(&mut draft);
        draft.done()
    }
}

/// The fields of an input.
pub(super) fn given(input: PropertyDefinitionInput) -> Given {
    let PropertyDefinitionInput {
        allowed_in_config_files,
        description,
        locked_status,
        name,
        property_display_status,
        schema,
    } = input;
    Given {
        alias: MaybeUndefined::Undefined,
        allowed_in_config_files,
        description,
        locked_status,
        name,
        property_display_status,
        schema,
        read: None,
    }
}

/// Reads the schemas of definitions, before the mutation begins to write.
pub(super) async fn read_all(given: impl ExactSizeIterator<Item = Given> + Send) -> Result<Vec<Given>> {
    if given.len() > FEW {
        return Err(UserError::new("properties", format!("at most {FEW} properties can be given")).into());
    }
    let (mut read, mut allowance) = (Vec::with_capacity(given.len()), Allowance::default());
    for one in given {
        // A schema may take 100 ms and more: other requests run between two.
        tokio::task::yield_now().await;
        read.push(one.read(&mut allowance).await?);
    }
    Ok(read)
}

/// What is wrong when the schemas take too long.
fn late() -> UserError {
    let message =
        format!("checking the schemas takes more than {CHECKING:?} of processor time; use simpler schemas, or fewer");
    UserError::new("properties", message)
}
