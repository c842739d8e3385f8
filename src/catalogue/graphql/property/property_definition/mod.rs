//! Property definitions: for services and teams, for the services of one component type, or for teams alone.
//!
//! Invariant: the schema of a definition is read and checked before the transaction begins, because that can take long.

use std::collections::{HashMap, HashSet};

use async_graphql::MaybeUndefined;
use sea_orm::sea_query::LockType;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, Set};
use serde_json::Value;

use self::given::{Given, given, read_all};
use crate::db::{Read, ReadHandle, Transaction, Write};
use crate::engine::page::{PageArguments, PageRequest};
use crate::entity::property_definition::{ActiveModel, Column, Entity, Model};
use crate::entity::text::{ENTRIES, FEW};
use crate::error::{Problems, Result, UserError, quoted};
use crate::graphql::field::alias::or_taken;
use crate::graphql::field::id::Id;
use crate::graphql::field::identifier::{self, Identifier};
use crate::graphql::field::json::Json;
use crate::graphql::list::List;
use crate::graphql::request::context::{Ctx, MutationCtx};
use crate::graphql::schema::*;
use crate::graphql::types::PropertyDefinition;
use crate::json_schema::Allowance;

mod given;

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
pub(in crate::graphql) async fn page(ctx: &Ctx<'_>, request: &PageRequest) -> Result<PropertyDefinitionConnectionType> {
    List::<Entity>::new(Column::Id).filter(Column::IsOfTeams.eq(false)).page(ctx, request).await
}

/// The definitions for teams alone, a page at a time.
pub(in crate::graphql) async fn team_page(
    ctx: &Ctx<'_>,
    request: &PageRequest,
) -> Result<TeamPropertyDefinitionConnectionType> {
    let definitions = List::<Entity>::new(Column::Id).filter(Column::IsOfTeams.eq(true)).page(ctx, request).await?;
    Ok(definitions.map(TeamPropertyDefinition))
}

/// Finds the definition for teams alone that a client names, for a query.
pub(in crate::graphql) async fn find_of_teams(
    db: &dyn ReadHandle,
    identifier: Identifier<'_>,
) -> Result<Option<TeamPropertyDefinition>> {
    Ok(identifier::find::<PropertyDefinition>(db, identifier)
        .await?
        .filter(|found| found.is_of_teams)
        .map(TeamPropertyDefinition))
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
    let own = match of {
        Of::Type(id) => Column::ComponentTypeId.eq(id),
        Of::Teams => Column::IsOfTeams.eq(true),
    };
    let present = db.all(Entity::find().filter(own).lock(LockType::Update)).await?;
    let mut present: HashMap<String, Model> = present.into_iter().map(|one| (one.alias.clone(), one)).collect();
    let mut problems = Problems::default();
    let mut rows = Vec::with_capacity(given.len());
    let mut seen = HashSet::new();
    let within = |place: usize| move |error: UserError| error.within(place.to_string()).within("properties");
    for (place, one) in given.into_iter().enumerate() {
        let alias = one.alias.value().cloned().unwrap_or_default();
        if !seen.insert(alias.clone()) {
            let twice = UserError::new("alias", format!("the alias {} is given twice", quoted(&alias)));
            problems.push(within(place)(twice));
            continue;
        }
        let row = match present.remove(&alias) {
            Some(definition) => one.change(definition),
            None => one.make().map(|row| match of {
                Of::Type(id) => ActiveModel { component_type_id: Set(Some(id)), ..row },
                Of::Teams => ActiveModel { is_of_teams: Set(true), ..row },
            }),
        };
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

/// Reads the definitions of a component type, before the mutation begins to write. Absent leaves them unchanged; null is
/// the same as an empty list.
pub(in crate::graphql) async fn read_of_type(
    given: &MaybeUndefined<Vec<ComponentTypePropertyDefinitionInput>>,
) -> Result<Option<Vec<Given>>> {
    match given {
        MaybeUndefined::Undefined => Ok(None),
        MaybeUndefined::Null => Ok(Some(Vec::new())),
        MaybeUndefined::Value(given) => read_all(given.iter().map(Given::of_type)).await.map(Some),
    }
}

/// Replaces the definitions of a component type, if they were given.
pub(in crate::graphql) async fn set_of_type(
    db: &Transaction,
    component_type: i64,
    given: Option<Vec<Given>>,
) -> Result<()> {
    match given {
        None => Ok(()),
        Some(given) => replace(db, Of::Type(component_type), given).await,
    }
}

impl PropertyDefinitionCreateMutation for Mutation {
    async fn property_definition_create(
        ctx: &MutationCtx<'_>,
        input: PropertyDefinitionInput,
    ) -> Result<PropertyDefinitionPayload> {
        let row = given(input).read(&mut Allowance::default()).await?.make()?;
        ctx.begin().await?;
        let db = ctx.db();
        let made = store(db, row).await?;
        refuse_too_many(db).await?;
        Ok(PropertyDefinitionPayload { definition: Some(made), ..Default::default() })
    }
}

impl PropertyDefinitionUpdateMutation for Mutation {
    async fn property_definition_update(
        ctx: &MutationCtx<'_>,
        property_definition: IdentifierInput,
        input: PropertyDefinitionInput,
    ) -> Result<PropertyDefinitionPayload> {
        let given = given(input).read(&mut Allowance::default()).await?;
        ctx.begin().await?;
        let db = ctx.db();
        let found: PropertyDefinition =
            identifier::locked(db, "propertyDefinition", &property_definition, LockType::NoKeyUpdate).await?;
        let changed = store(db, given.change(found)?).await?;
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
        ctx.shed_first::<Entity>(found.id).await?;
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
        let row = Given::of_team(input).read(&mut Allowance::default()).await?.make()?;
        ctx.begin().await?;
        let db = ctx.db();
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
        let given = Given::of_team(input).read(&mut Allowance::default()).await?;
        ctx.begin().await?;
        let db = ctx.db();
        let found: PropertyDefinition =
            identifier::locked(db, "propertyDefinition", &property_definition, LockType::NoKeyUpdate).await?;
        if !found.is_of_teams {
            let message = "this property definition is not for teams; use propertyDefinitionUpdate";
            return Err(UserError::new("propertyDefinition", message).into());
        }
        let changed = store(db, given.change(found)?).await?;
        Ok(TeamPropertyDefinitionPayload { definition: Some(TeamPropertyDefinition(changed)), ..Default::default() })
    }
}

impl TeamPropertyDefinitionsAssignMutation for Mutation {
    async fn team_property_definitions_assign(
        ctx: &MutationCtx<'_>,
        input: TeamPropertyDefinitionsAssignInput,
    ) -> Result<TeamPropertyDefinitionsAssignPayload> {
        let TeamPropertyDefinitionsAssignInput { properties } = input;
        let given = read_all(properties.into_iter().map(Given::of_team)).await?;
        ctx.begin().await?;
        replace(ctx.db(), Of::Teams, given).await?;
        Ok(TeamPropertyDefinitionsAssignPayload { errors: Vec::new(), is_assigned: true })
    }
}
