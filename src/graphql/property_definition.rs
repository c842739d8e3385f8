//! Property definitions: for services and teams, for the services of one component type, or for teams alone.

use std::collections::{HashMap, HashSet};

use async_graphql::MaybeUndefined;
use sea_orm::sea_query::LockType;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, Set};
use serde_json::Value;

use super::alias::or_taken;
use super::context::{Ctx, MutationCtx};
use super::draft::Draft;
use super::id::Id;
use super::identifier::{self, Identifier};
use super::json::Json;
use super::list::List;
use super::schema::*;
use super::types::PropertyDefinition;
use crate::db::{Read, Transaction, Write};
use crate::engine::page::{PageArguments, PageRequest};
use crate::entity::property_definition::{ActiveModel, Column, Entity, Model};
use crate::entity::text::{ENTRIES, FEW};
use crate::entity::timestamp::touch;
use crate::entity::{Timestamp, alias};
use crate::error::{Problems, Result, UserError, quoted};
use crate::json_schema::{self, Allowance, CHECKING};

/// A definition for teams alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamPropertyDefinition(Model);

/// The payload of `teamPropertyDefinitionsAssign`.
#[derive(Debug, Default)]
pub struct TeamPropertyDefinitionsAssignPayload {
    /// The errors in the request.
    pub errors: Vec<Error>,
    /// Whether the definitions were replaced.
    pub is_assigned: bool,
}

impl TeamPropertyDefinitionsAssignPayloadResolver for TeamPropertyDefinitionsAssignPayload {
    async fn properties(
        payloads: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<Option<TeamPropertyDefinitionConnectionType>>> {
        // A refusal reads nothing: its budget may be exhausted.
        if !payloads.iter().any(|payload| payload.is_assigned) {
            return Ok(vec![None; payloads.len()]);
        }
        let page = team_page(ctx, &args.request()?).await?;
        Ok(payloads.iter().map(|payload| payload.is_assigned.then(|| page.clone())).collect())
    }
}

impl PropertyDefinitionResolver for PropertyDefinition {
    async fn aliases(definitions: &[&Self], _: &Ctx<'_>) -> Result<Vec<Vec<String>>> {
        Ok(definitions.iter().map(|one| vec![one.alias.clone()]).collect())
    }

    fn schema(&self) -> Option<Json> {
        Some(Json(self.schema.clone()))
    }

    fn display_type(&self) -> PropertyDefinitionDisplayTypeEnum {
        display(self).0
    }

    fn display_subtype(&self) -> Option<PropertyDefinitionDisplayTypeEnum> {
        display(self).1
    }

    fn property_display_status(&self) -> PropertyDisplayStatusEnum {
        // Mutations write only words of the enum, so the fallback is not expected.
        PropertyDisplayStatusEnum::from_word(&self.property_display_status).unwrap_or(PropertyDisplayStatusEnum::Hidden)
    }

    fn locked_status(&self) -> PropertyLockedStatusEnum {
        PropertyLockedStatusEnum::from_word(&self.locked_status).unwrap_or(PropertyLockedStatusEnum::UiLocked)
    }

    fn owner_type(&self) -> Option<PropertyOwnerTypeEnum> {
        match self.component_type_id {
            _ if self.is_of_teams => Some(PropertyOwnerTypeEnum::Team),
            Some(_) => Some(PropertyOwnerTypeEnum::Component),
            None => None,
        }
    }

    async fn timestamps(definitions: &[&Self], _: &Ctx<'_>) -> Result<Vec<Timestamps>> {
        let of = |one: &&Self| Timestamps { created_at: one.created_at, updated_at: one.updated_at };
        Ok(definitions.iter().map(of).collect())
    }
}

impl TeamPropertyDefinitionResolver for TeamPropertyDefinition {
    fn id(&self) -> Id {
        PropertyDefinitionResolver::id(&self.0)
    }

    fn alias(&self) -> &str {
        &self.0.alias
    }

    fn name(&self) -> &str {
        &self.0.name
    }

    fn description(&self) -> &str {
        self.0.description.as_deref().unwrap_or_default()
    }

    fn schema(&self) -> Json {
        Json(self.0.schema.clone())
    }

    fn display_type(&self) -> PropertyDefinitionDisplayTypeEnum {
        display(&self.0).0
    }

    fn display_subtype(&self) -> Option<PropertyDefinitionDisplayTypeEnum> {
        display(&self.0).1
    }

    fn locked_status(&self) -> PropertyLockedStatusEnum {
        PropertyDefinitionResolver::locked_status(&self.0)
    }
}

/// Returns how to display a value, and how to display an item if the value is a list.
fn display(definition: &Model) -> (PropertyDefinitionDisplayTypeEnum, Option<PropertyDefinitionDisplayTypeEnum>) {
    let schema: Value = serde_json::from_str(&definition.schema).unwrap_or_default();
    let of = display_of(&schema);
    let item = (of == PropertyDefinitionDisplayTypeEnum::Array).then(|| schema.get("items")).flatten();
    (of, item.map(display_of))
}

fn display_of(schema: &Value) -> PropertyDefinitionDisplayTypeEnum {
    let word = match schema.get("type") {
        Some(Value::String(word)) => word.as_str(),
        // Of several types, take the first that is not null.
        Some(Value::Array(words)) => {
            words.iter().filter_map(Value::as_str).find(|word| *word != "null").unwrap_or_default()
        }
        _ => "",
    };
    match word {
        "array" => PropertyDefinitionDisplayTypeEnum::Array,
        "boolean" => PropertyDefinitionDisplayTypeEnum::Boolean,
        "integer" | "number" => PropertyDefinitionDisplayTypeEnum::Number,
        "object" => PropertyDefinitionDisplayTypeEnum::Object,
        _ if schema.get("enum").is_some() => PropertyDefinitionDisplayTypeEnum::Dropdown,
        _ => PropertyDefinitionDisplayTypeEnum::Text,
    }
}

/// All definitions except those for teams alone, a page at a time.
pub(super) async fn page(ctx: &Ctx<'_>, request: &PageRequest) -> Result<PropertyDefinitionConnectionType> {
    List::<Entity>::new(Column::Id).filter(Column::IsOfTeams.eq(false)).page(ctx, request).await
}

/// The definitions for teams alone, a page at a time.
pub(super) async fn team_page(ctx: &Ctx<'_>, request: &PageRequest) -> Result<TeamPropertyDefinitionConnectionType> {
    let definitions = List::<Entity>::new(Column::Id).filter(Column::IsOfTeams.eq(true)).page(ctx, request).await?;
    Ok(definitions.map(TeamPropertyDefinition))
}

/// Finds the definition for teams alone that a client names, for a query.
pub(super) async fn find_of_teams(
    db: &impl Read,
    identifier: Identifier<'_>,
) -> Result<Option<TeamPropertyDefinition>> {
    Ok(identifier::find::<PropertyDefinition>(db, identifier)
        .await?
        .filter(|found| found.is_of_teams)
        .map(TeamPropertyDefinition))
}

/// The fields of a definition, from any of the inputs that have them.
#[derive(Default)]
struct Given {
    alias: MaybeUndefined<String>,
    allowed_in_config_files: MaybeUndefined<bool>,
    description: MaybeUndefined<String>,
    locked_status: MaybeUndefined<PropertyLockedStatusEnum>,
    name: MaybeUndefined<String>,
    property_display_status: MaybeUndefined<PropertyDisplayStatusEnum>,
    schema: MaybeUndefined<Json>,
}

impl Given {
    fn of_team(input: TeamPropertyDefinitionInput) -> Self {
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

    fn of_type(input: &ComponentTypePropertyDefinitionInput) -> Self {
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
            MaybeUndefined::Null => Err(crate::entity::field_rule::must_not_be_null("schema")),
            MaybeUndefined::Value(Json(text)) => json_schema::read_schema("schema", text),
        };
        if let Some(schema) = draft.problems.take(schema) {
            draft.row.schema = Set(schema.to_string());
        }
    }

    /// Returns the row of a new definition.
    fn make(mut self) -> Result<ActiveModel> {
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
    fn change(self, definition: Model) -> Result<ActiveModel> {
        let mut draft = Draft::of(definition);
        self.fill(&mut draft);
        let mut row = draft.done()?;
        touch(&mut row.updated_at);
        Ok(row)
    }
}

/// Inserts or updates a row. If the unique index rejects it, the error says that the alias is taken.
async fn store(db: &Transaction, row: ActiveModel) -> Result<Model> {
    let alias = row.alias.try_as_ref().cloned().unwrap_or_default();
    let taken = UserError::new("alias", format!("another property definition has the alias {}", quoted(&alias)));
    let stored = if row.id.is_not_set() { db.insert(row).await } else { db.update(row).await };
    stored.map_err(|error| or_taken(error, taken))
}

/// Fails if there are more definitions than allowed. Call it after the insert.
async fn refuse_too_many(db: &Transaction) -> Result<()> {
    if db.count(Entity::find()).await? > ENTRIES as u64 {
        return Err(UserError::base(format!("a catalogue can have at most {ENTRIES} property definitions")).into());
    }
    let of_teams = db.count(Entity::find().filter(Column::IsOfTeams.eq(true))).await?;
    if of_teams > FEW as u64 {
        return Err(UserError::base(format!("teams can have at most {FEW} property definitions")).into());
    }
    Ok(())
}

/// The definitions that an input lists: those of a component type, or those for teams alone.
#[derive(Clone, Copy)]
enum Of {
    Type(i64),
    Teams,
}

/// Replaces the definitions of a component type, or those for teams alone. A definition whose alias is given is
/// updated, a new alias is inserted, and the others are deleted with their values. Errors are about entries of
/// `properties`.
async fn replace(db: &Transaction, of: Of, given: Vec<Given>) -> Result<()> {
    if given.len() > FEW {
        return Err(UserError::new("properties", format!("at most {FEW} properties can be given")).into());
    }
    let own = match of {
        Of::Type(id) => Column::ComponentTypeId.eq(id),
        Of::Teams => Column::IsOfTeams.eq(true),
    };
    let present = db.all(Entity::find().filter(own).lock(LockType::Update)).await?;
    let mut present: HashMap<String, Model> = present.into_iter().map(|one| (one.alias.clone(), one)).collect();
    let mut problems = Problems::default();
    let mut rows = Vec::with_capacity(given.len());
    let mut seen = HashSet::new();
    let mut allowance = Allowance::default();
    let within = |place: usize| move |error: UserError| error.within(place.to_string()).within("properties");
    for (place, one) in given.into_iter().enumerate() {
        let alias = one.alias.value().cloned().unwrap_or_default();
        if !seen.insert(alias.clone()) {
            let twice = UserError::new("alias", format!("the alias {} is given twice", quoted(&alias)));
            problems.push(within(place)(twice));
            continue;
        }
        // A schema may take 100 ms and more: other requests run between two.
        tokio::task::yield_now().await;
        let present = present.remove(&alias);
        let row = allowance.spend(|| match present {
            Some(definition) => one.change(definition),
            None => one.make().map(|row| match of {
                Of::Type(id) => ActiveModel { component_type_id: Set(Some(id)), ..row },
                Of::Teams => ActiveModel { is_of_teams: Set(true), ..row },
            }),
        });
        let row = row.ok_or_else(late)?;
        let row = problems.take_any(row.map_err(|error| error.map_user(within(place))))?;
        rows.extend(row.map(|row| (place, row)));
    }
    problems.none()?;
    if !present.is_empty() {
        let gone = present.values().map(|one| one.id);
        db.exec(Entity::delete_many().filter(Column::Id.is_in(gone))).await?;
    }
    for (place, row) in rows {
        store(db, row).await.map_err(|error| error.map_user(within(place)))?;
    }
    refuse_too_many(db).await
}

/// What is wrong when the schemas take too long. The transaction is held meanwhile.
fn late() -> UserError {
    let message =
        format!("checking the schemas takes more than {CHECKING:?} of processor time; use simpler schemas, or fewer");
    UserError::new("properties", message)
}

/// Replaces the definitions of a component type. Absent leaves them unchanged; null is the same as an empty list.
pub(super) async fn set_of_type(
    db: &Transaction,
    component_type: i64,
    given: &MaybeUndefined<Vec<ComponentTypePropertyDefinitionInput>>,
) -> Result<()> {
    match given {
        MaybeUndefined::Undefined => Ok(()),
        MaybeUndefined::Null => replace(db, Of::Type(component_type), Vec::new()).await,
        MaybeUndefined::Value(given) => {
            replace(db, Of::Type(component_type), given.iter().map(Given::of_type).collect()).await
        }
    }
}

impl PropertyDefinitionCreateMutation for Mutation {
    async fn property_definition_create(
        ctx: &MutationCtx<'_>,
        input: PropertyDefinitionInput,
    ) -> Result<PropertyDefinitionPayload> {
        let db = ctx.db();
        let made = store(db, given(input).make()?).await?;
        refuse_too_many(db).await?;
        Ok(PropertyDefinitionPayload { definition: Some(made), ..Default::default() })
    }
}

fn given(input: PropertyDefinitionInput) -> Given {
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
    }
}

impl PropertyDefinitionUpdateMutation for Mutation {
    async fn property_definition_update(
        ctx: &MutationCtx<'_>,
        property_definition: IdentifierInput,
        input: PropertyDefinitionInput,
    ) -> Result<PropertyDefinitionPayload> {
        let db = ctx.db();
        let found: PropertyDefinition =
            identifier::locked(db, "propertyDefinition", &property_definition, LockType::NoKeyUpdate).await?;
        let changed = store(db, given(input).change(found)?).await?;
        Ok(PropertyDefinitionPayload { definition: Some(changed), ..Default::default() })
    }
}

impl PropertyDefinitionDeleteMutation for Mutation {
    async fn property_definition_delete(
        ctx: &MutationCtx<'_>,
        resource: IdentifierInput,
    ) -> Result<PropertyDefinitionDeletePayload> {
        let db = ctx.db();
        let found = identifier::locked::<PropertyDefinition>(db, "resource", &resource, LockType::Update).await?;
        let deleted_id = Some(PropertyDefinitionResolver::id(&found));
        db.delete(found).await?;
        Ok(PropertyDefinitionDeletePayload { deleted_id, ..Default::default() })
    }
}

impl TeamPropertyDefinitionCreateMutation for Mutation {
    async fn team_property_definition_create(
        ctx: &MutationCtx<'_>,
        input: TeamPropertyDefinitionInput,
    ) -> Result<TeamPropertyDefinitionPayload> {
        let db = ctx.db();
        let row = Given::of_team(input).make()?;
        let made = store(db, ActiveModel { is_of_teams: Set(true), ..row }).await?;
        refuse_too_many(db).await?;
        Ok(TeamPropertyDefinitionPayload { definition: Some(TeamPropertyDefinition(made)), ..Default::default() })
    }
}

impl TeamPropertyDefinitionUpdateMutation for Mutation {
    async fn team_property_definition_update(
        ctx: &MutationCtx<'_>,
        property_definition: IdentifierInput,
        input: TeamPropertyDefinitionInput,
    ) -> Result<TeamPropertyDefinitionPayload> {
        let db = ctx.db();
        let found: PropertyDefinition =
            identifier::locked(db, "propertyDefinition", &property_definition, LockType::NoKeyUpdate).await?;
        if !found.is_of_teams {
            let message = "this property definition is not for teams; use propertyDefinitionUpdate";
            return Err(UserError::new("propertyDefinition", message).into());
        }
        let changed = store(db, Given::of_team(input).change(found)?).await?;
        Ok(TeamPropertyDefinitionPayload { definition: Some(TeamPropertyDefinition(changed)), ..Default::default() })
    }
}

impl TeamPropertyDefinitionsAssignMutation for Mutation {
    async fn team_property_definitions_assign(
        ctx: &MutationCtx<'_>,
        input: TeamPropertyDefinitionsAssignInput,
    ) -> Result<TeamPropertyDefinitionsAssignPayload> {
        let TeamPropertyDefinitionsAssignInput { properties } = input;
        replace(ctx.db(), Of::Teams, properties.into_iter().map(Given::of_team).collect()).await?;
        Ok(TeamPropertyDefinitionsAssignPayload { errors: Vec::new(), is_assigned: true })
    }
}
