//! Properties: the values that services and teams have for property definitions.
//!
//! Invariant: a value is read before the transaction begins, because to check it can take long. If its definition has
//! changed by then, the mutation has lost a race, and starts over.

use sea_orm::ActiveModelTrait;
use serde_json::Value;

use super::field::json::JsonText;
use super::list::relation::to_its_one;
use super::service;
use crate::entity::property::{self, Column, Entity};
use crate::entity::service::Writable;
use crate::entity::{self, component_type as component_types};
use crate::graphql::prelude::*;
use crate::json_schema::{self, Fault, JsonSchema};

pub(super) mod component_type;
pub(super) mod property_definition;

impl PropertyResolver for Property {
    fn value(&self) -> JsonText {
        JsonText(self.value.clone())
    }

    async fn owner(properties: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<PropertyOwner>>> {
        let services = services(properties, ctx).await?;
        let teams = entity::team::Entity::by_ids(ctx.db(), properties.iter().map(|one| one.team_id)).await?;
        let owner = |(service, team): (Option<Service>, Option<Team>)| {
            service.map(PropertyOwner::Service).or_else(|| team.map(PropertyOwner::Team))
        };
        Ok(services.into_iter().zip(teams).map(owner).collect())
    }

    async fn locked(properties: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<bool>> {
        let services = services(properties, ctx).await?;
        let definitions = definitions(properties, ctx).await?;
        let is_locked = |(service, definition): (Option<Service>, PropertyDefinition)| {
            PropertyDefinitionResolver::locked_status(&definition) == PropertyLockedStatusEnum::UiLocked
                || service.is_some_and(|service| service.locked_by.is_some())
        };
        Ok(services.into_iter().zip(definitions).map(is_locked).collect())
    }

    async fn validation_errors(properties: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<Vec<super::schema::Error>>>> {
        let definitions = definitions(properties, ctx).await?;
        let services = services(properties, ctx).await?;
        let is_typed = |(one, definition): (&&Self, &PropertyDefinition)| {
            one.service_id.is_some() && definition.component_type_id.is_some()
        };
        let needs_default = properties.iter().zip(&definitions).any(is_typed);
        let default = if needs_default { component_types::default(ctx.db()).await? } else { None };
        let default = default.map(|default| default.id);
        // Each schema is compiled once for all its values on this page. Schemas may be large, so only one is kept at a
        // time.
        let mut places: Vec<usize> = (0..properties.len()).collect();
        places.sort_unstable_by_key(|place| properties[*place].definition_id);
        let mut faults = vec![Vec::new(); properties.len()];
        for places in places.chunk_by(|one, other| properties[*one].definition_id == properties[*other].definition_id) {
            let definition = &definitions[places[0]];
            let schema = JsonSchema::of_row(&definition.schema);
            for &place in places {
                ctx.db().pause().await?;
                let found = &mut faults[place];
                *found = match json_schema::read_value("value", &properties[place].value) {
                    Ok(value) => check(&schema, &value),
                    Err(error) => vec![error],
                };
                if let Some(service) = &services[place] {
                    let own = service.type_id.or(default);
                    found.extend(definition.refuses_type(own).map(|message| UserError::new("definition", message)));
                }
            }
        }
        Ok(faults.into_iter().map(|found| Some(found.into_iter().map(Into::into).collect())).collect())
    }
}

/// The service of each property that has one.
async fn services(properties: &[&Property], ctx: &Ctx<'_>) -> Result<Vec<Option<Service>>> {
    Ok(entity::service::Entity::by_ids(ctx.db(), properties.iter().map(|one| one.service_id)).await?)
}

async fn definitions(properties: &[&Property], ctx: &Ctx<'_>) -> Result<Vec<PropertyDefinition>> {
    to_its_one(ctx, properties.iter().map(|one| Some(one.definition_id)).collect()).await
}

/// Returns what is wrong with a value, by the present schema of its definition.
fn check(schema: &Result<JsonSchema, String>, value: &Value) -> Vec<UserError> {
    match schema {
        Ok(schema) => schema.faults(value).into_iter().map(fault).collect(),
        Err(message) => vec![UserError::new("definition", format!("the definition's schema {message}"))],
    }
}

/// Converts a fault to an error about the field `value`, or about a part of it.
fn fault(Fault { message, path }: Fault) -> UserError {
    let path = std::iter::once("value".into()).chain(path.into_iter().map(Into::into)).collect();
    UserError { path, ..UserError::new("value", message) }
}

/// Returns each owner's value for the definition that an argument names, if any.
pub(super) async fn of_owners(
    ctx: &Ctx<'_>,
    owner: Column,
    owners: Vec<i64>,
    definition: &MaybeUndefined<IdentifierInput>,
) -> Result<Vec<Option<Property>>> {
    let identifier = Identifier::of_argument("definition", definition)?;
    let Some(definition) = identifier::find::<PropertyDefinition>(ctx.db(), identifier).await? else {
        return Ok(vec![None; owners.len()]);
    };
    let values = List::<Entity>::new(Column::Id).filter(Column::DefinitionId.eq(definition.id));
    values.of_parents(owner, owners).first_per_parent(ctx.db()).await
}

/// Returns an owner's value for a definition, if any.
pub(super) async fn find(ctx: &Ctx<'_>, args: &AccountPropertyArgs) -> Result<Option<Property>> {
    let AccountPropertyArgs { definition, owner } = args;
    let db = ctx.db();
    let identifier = Identifier::of_argument("owner", owner)?;
    let (column, owner) = match identifier::find::<Service>(db, identifier).await? {
        Some(service) => (Column::ServiceId, service.id),
        None => match identifier::find::<Team>(db, identifier).await? {
            Some(team) => (Column::TeamId, team.id),
            None => return Ok(None),
        },
    };
    Ok(of_owners(ctx, column, vec![owner], definition).await?.pop().flatten())
}

/// The owner of a property, locked.
enum Owner {
    Service(Box<Writable>),
    Team(i64),
}

impl Owner {
    fn key(&self) -> (Column, i64) {
        match self {
            Self::Service(service) => (Column::ServiceId, service.id),
            Self::Team(id) => (Column::TeamId, *id),
        }
    }
}

/// Finds and locks the owner that the field `owner` names. Without a type, an alias that a service and a team have in
/// common means the service.
async fn owner(db: &Transaction, named: &IdentifierInput, owner_type: Option<PropertyOwnerTypeEnum>) -> Result<Owner> {
    let found = async {
        let identifier = Identifier::from_input(named)?;
        let is_team = match (owner_type, identifier) {
            (Some(owner_type), _) => owner_type == PropertyOwnerTypeEnum::Team,
            (None, Identifier::Id(id)) if let Some((class, _)) = id::decode(id) => match &*class {
                "Service" => false,
                "Team" => true,
                _ => return Err(UserError::new("id", id::stray(id, "service or team")).not_found().into()),
            },
            (None, named) => {
                identifier::find::<Service>(db, named).await?.is_none()
                    && identifier::find::<Team>(db, named).await?.is_some()
            }
        };
        if is_team {
            let team = identifier::require::<Team>(&db.locking(LockType::Update), identifier).await?;
            return Ok(Owner::Team(team.id));
        }
        Ok(Owner::Service(Box::new(service::require_writable(db, identifier).await?)))
    };
    found
        .await
        .map_err(|error: Error| error.map_user(|error| service::unless_locked(error, |error| error.within("owner"))))
}

/// Fails if the owner cannot have a value for the definition.
async fn refuse_stray(db: &Transaction, owner: &Owner, definition: &PropertyDefinition) -> Result<()> {
    let message = match owner {
        Owner::Service(service) => {
            let own = match definition.component_type_id {
                Some(_) => component_types::or_default(db, service.type_id).await?,
                None => None,
            };
            definition.refuses_service(own)
        }
        Owner::Team(_) => definition.refuses_teams(),
    };
    message.map_or(Ok(()), |message| Err(UserError::new("definition", message).into()))
}

async fn stored(db: &Transaction, owner: &Owner, definition: i64) -> Result<Option<Property>> {
    let (column, id) = owner.key();
    Ok(db.one(Entity::find().filter(column.eq(id)).filter(Column::DefinitionId.eq(definition))).await?)
}

/// Reads a value, and checks it if `is_checked`. Returns its JSON text and the value. A text that is no JSON, or that the
/// schema refuses as JSON, is taken as a string if the schema allows that one: programs send the bare text.
///
/// Text that is empty or begins like a list, an object or a string of JSON is meant as JSON, unless the schema says that
/// its values are strings.
fn read(text: &str, schema: Option<&str>, is_checked: bool) -> Result<(String, Value), Vec<UserError>> {
    let compiled = schema.map(JsonSchema::of_row);
    let faults = |value: &Value| compiled.as_ref().map(|schema| check(schema, value)).unwrap_or_default();
    let as_json = json_schema::read_value("value", text).map_err(|error| vec![error]).and_then(|value| {
        let faults = if is_checked { faults(&value) } else { Vec::new() };
        if faults.is_empty() { Ok((text.to_owned(), value)) } else { Err(faults) }
    });
    as_json.or_else(|refused| {
        let is_like_json = text.trim().is_empty() || text.trim().starts_with(['[', '{', '"']);
        let is_of_strings = || {
            let declared = schema.and_then(|schema| serde_json::from_str::<Value>(schema).ok());
            declared.is_some_and(|schema| schema["type"] == "string")
        };
        if is_like_json && !is_of_strings() {
            return Err(refused);
        }
        let bare = Value::String(text.to_owned());
        let quoted = bare.to_string();
        match json_schema::read_value("value", &quoted) {
            Ok(value) if schema.is_some() && faults(&value).is_empty() => Ok((quoted, value)),
            _ => Err(refused),
        }
    })
}

/// A value that was read before the mutation began to write, and the schema of the definition, if there is one.
pub(super) struct Ahead {
    schema: Option<String>,
    read: Result<(String, Value), Vec<UserError>>,
}

/// Reads a value before the mutation begins to write, because to check it may take 100 ms and more.
pub(super) async fn ahead(
    db: &dyn ReadHandle,
    definition: &IdentifierInput,
    text: &str,
    is_checked: bool,
) -> Result<Ahead> {
    let found = async { identifier::find::<PropertyDefinition>(db, Identifier::from_input(definition)?).await };
    let definition = match found.await {
        Ok(definition) => definition,
        // The mutation refuses that.
        Err(Error::User(_)) => None,
        Err(error) => return Err(error),
    };
    let Some(PropertyDefinition { schema, .. }) = definition else {
        return Ok(Ahead { schema: None, read: read(text, None, is_checked) });
    };
    let _turn = json_schema::turn(&schema, text).await;
    let read = read(text, Some(&schema), is_checked);
    Ok(Ahead { schema: Some(schema), read })
}

/// Gives an owner a value for a definition.
pub(super) async fn put(
    db: &Transaction,
    ahead: Ahead,
    (named, owner_type): (&IdentifierInput, Option<PropertyOwnerTypeEnum>),
    definition: &IdentifierInput,
) -> Result<Property> {
    let mut problems = Problems::default();
    let owner = problems.take_any(owner(db, named, owner_type).await)?;
    let checked = problems.take_any(checked(db, ahead, definition).await)?;
    problems.none()?;
    let (Some(owner), Some(checked)) = (owner, checked) else {
        return Err(Error::internal("a property was neither read nor refused"));
    };
    store(db, &owner, checked).await
}

/// A value that its definition allows, for an owner of which that is not known yet.
pub(super) struct Checked {
    definition: PropertyDefinition,
    text: String,
    value: Value,
}

/// Finds and locks the definition of a value that was read ahead, and refuses a value that it does not allow.
pub(super) async fn checked(db: &Transaction, ahead: Ahead, definition: &IdentifierInput) -> Result<Checked> {
    let Ahead { schema, read } = ahead;
    let mut problems = Problems::default();
    let definition = identifier::locked::<PropertyDefinition>(db, "definition", definition, LockType::KeyShare).await;
    let definition = problems.take_any(definition)?;
    if definition.as_ref().is_some_and(|definition| schema.as_ref() != Some(&definition.schema)) {
        // The definition has changed since: a lost race, which is retried.
        return Err(db::Error::LostRace.into());
    }
    let read = problems.take_any(read.map_err(Error::User))?;
    problems.none()?;
    let (Some((text, value)), Some(definition)) = (read, definition) else {
        return Err(Error::internal("a property was neither read nor refused"));
    };
    Ok(Checked { definition, text, value })
}

/// Gives a new service a value. It has none yet for this definition.
pub(super) async fn give(db: &Transaction, service: &Writable, checked: Checked) -> Result<()> {
    let owner = Owner::Service(Box::new(service.clone()));
    if stored(db, &owner, checked.definition.id).await?.is_some() {
        return Err(UserError::new("definition", "this property is given twice").into());
    }
    store(db, &owner, checked).await?;
    Ok(())
}

async fn store(db: &Transaction, owner: &Owner, checked: Checked) -> Result<Property> {
    let Checked { definition, text, value } = checked;
    refuse_stray(db, owner, &definition).await?;
    Ok(match stored(db, owner, definition.id).await? {
        Some(present) => {
            let mut row: property::ActiveModel = present.into();
            property::set_value(&mut row, text, &value, None);
            db.update(row).await?
        }
        None => {
            let (column, id) = owner.key();
            let mut row = property::ActiveModel { definition_id: Set(definition.id), ..Default::default() };
            row.set(column, id.into());
            property::set_value(&mut row, text, &value, None);
            db.insert(row).await?
        }
    })
}

impl PropertyAssignMutation for Mutation {
    async fn property_assign(ctx: &MutationCtx<'_>, input: PropertyInput) -> Result<PropertyPayload> {
        let PropertyInput { definition, owner: named, owner_type, run_validation, value: JsonText(text) } = input;
        let is_checked = run_validation != Some(false);
        let ahead = ahead(ctx.database().read(), &definition, &text, is_checked).await?;
        ctx.begin().await?;
        let property = put(ctx.db(), ahead, (&named, owner_type.value().copied()), &definition).await?;
        Ok(PropertyPayload { property: Some(property), ..Default::default() })
    }
}

impl PropertyUnassignMutation for Mutation {
    async fn property_unassign(
        ctx: &MutationCtx<'_>,
        owner: IdentifierInput,
        definition: IdentifierInput,
    ) -> Result<PropertyUnassignPayload> {
        let db = ctx.db();
        let mut problems = Problems::default();
        let owner = problems.take_any(self::owner(db, &owner, None).await)?;
        let definition =
            identifier::locked::<PropertyDefinition>(db, "definition", &definition, LockType::KeyShare).await;
        let definition = problems.take_any(definition)?;
        problems.none()?;
        let (Some(owner), Some(definition)) = (owner, definition) else {
            return Err(Error::internal("a property was neither found nor missed"));
        };
        let missing = || {
            UserError::base("a value of the owner for this property definition does not exist on this account")
                .not_found()
        };
        let property = stored(db, &owner, definition.id).await?.ok_or_else(missing)?;
        let deleted_id = Some(PropertyResolver::id(&property));
        db.delete(property).await?;
        Ok(PropertyUnassignPayload { deleted_id, ..Default::default() })
    }
}
