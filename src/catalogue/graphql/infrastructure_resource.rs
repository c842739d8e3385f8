//! Infrastructure that services run on: databases, queues, clusters and the like. A built-in schema describes the data
//! of each type.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::field::alias;
use super::field::json::Json;
use crate::engine::page::{Cursor, Edge, Page};
use crate::entity::infrastructure_resource::{ActiveModel, Column, Entity};
use crate::entity::{infrastructure_resource_alias, pages};
use crate::graphql::prelude::*;
use crate::json_schema::{self, JsonSchema};

/// The built-in types by name, each with its schema.
static SCHEMAS: LazyLock<Vec<InfrastructureResourceSchema>> = LazyLock::new(|| {
    let schemas: Map<String, Value> =
        serde_json::from_str(include_str!("../../../schema/infrastructure.json")).expect("an object of schemas");
    let schema = |(name, schema): (String, Value)| InfrastructureResourceSchema {
        check: JsonSchema::of_row(&schema.to_string()).map(Into::into).expect("a schema that is allowed"),
        name,
        schema,
    };
    schemas.into_iter().map(schema).collect()
});

/// A built-in type, and the schema of its resources' data.
#[derive(Clone)]
pub struct InfrastructureResourceSchema {
    name: String,
    schema: Value,
    check: std::sync::Arc<JsonSchema>,
}

impl InfrastructureResourceSchema {
    fn named(name: &str) -> Option<&'static Self> {
        SCHEMAS.iter().find(|one| one.name == name)
    }

    /// Whether the schema describes this field.
    fn describes(&self, field: &str) -> bool {
        self.schema["properties"].get(field).is_some()
    }
}

impl InfrastructureResourceSchemaResolver for InfrastructureResourceSchema {
    fn r#type(&self) -> &str {
        &self.name
    }

    fn schema(&self) -> Option<Json> {
        Some(Json(self.schema.to_string()))
    }
}

impl InfrastructureResourceResolver for InfrastructureResource {
    fn r#type(&self) -> &str {
        &self.r#type
    }

    async fn aliases(resources: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<String>>> {
        alias::all::<infrastructure_resource_alias::Entity>(ctx.db(), resources.iter().map(|one| one.id)).await
    }

    async fn provider_data(
        resources: &[&Self],
        _: &Ctx<'_>,
    ) -> Result<Vec<Option<InfrastructureResourceProviderData>>> {
        let of = |one: &&Self| {
            Some(InfrastructureResourceProviderData {
                account_name: one.account_name.clone()?,
                external_url: one.external_url.clone(),
                provider_name: one.provider_name.clone(),
            })
        };
        Ok(resources.iter().map(of).collect())
    }

    fn owner_locked(&self) -> bool {
        self.owner_id.is_some()
    }

    fn data(&self) -> Option<Json> {
        let mut data: Map<String, Value> = serde_json::from_str(&self.data).ok()?;
        if let Some(schema) = InfrastructureResourceSchema::named(&self.r#type) {
            data.retain(|field, _| schema.describes(field));
        }
        Some(Json(Value::Object(data).to_string()))
    }

    fn raw_data(&self) -> Option<Json> {
        Some(Json(self.data.clone()))
    }

    async fn href(resources: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<String>> {
        let app_url = &ctx.settings().app_url;
        let page =
            |one: &&Self| pages::url(app_url, ["infrastructure", &InfrastructureResourceResolver::id(*one).text()]);
        Ok(resources.iter().map(page).collect())
    }

    async fn timestamps(resources: &[&Self], _: &Ctx<'_>) -> Result<Vec<Timestamps>> {
        Ok(resources.iter().map(|one| Timestamps { created_at: one.created_at, updated_at: one.updated_at }).collect())
    }
}

/// All resources, a page at a time.
pub(super) async fn page(ctx: &Ctx<'_>, request: &PageRequest) -> Result<InfrastructureResourceConnectionType> {
    List::<Entity>::new(Column::Id).page(ctx, request).await
}

/// The built-in types, a page at a time.
pub(super) fn schemas(request: &PageRequest) -> InfrastructureResourceSchemaConnectionType {
    let after = request.after.as_ref().map_or(0, |after| after.id);
    let numbered = (1..).zip(SCHEMAS.iter()).filter(|(number, _)| *number > after);
    let most = usize::try_from(request.first + 1).unwrap_or(usize::MAX);
    let rows = numbered.map(|(id, schema)| Edge { node: schema.clone(), cursor: Cursor::id(id) }).take(most);
    let mut page = Page::new(rows.collect(), request);
    page.total_count = i32::try_from(SCHEMAS.len()).ok();
    page
}

/// Checks an input. Returns the row to write, and warnings. `present` is the resource to change, if any.
async fn draft(
    db: &Transaction,
    present: Option<InfrastructureResource>,
    input: InfrastructureResourceInput,
) -> Result<(ActiveModel, Vec<Warning>)> {
    let InfrastructureResourceInput { data, owner_id, provider_data, schema, texts } = input;
    let (had_type, had_data) = match &present {
        Some(present) => (Some(present.r#type.clone()), Some(present.data.clone())),
        None => (None, None),
    };
    let mut draft = present.map_or_else(Draft::<Entity>::new, Draft::from_row);
    // A program that does not know the type of a resource sends it empty. The type then stays.
    let given = schema.take().map(|schema| schema.r#type);
    let given = match (given, &had_type) {
        (None, None) => Err(must_not_be_null("schema")),
        (Some(name), None) if name.trim().is_empty() => {
            Err(UserError::new("type", "a new resource needs a type").within("schema"))
        }
        (Some(name), _) if !name.trim().is_empty() => Ok(name),
        (_, had) => Ok(had.clone().unwrap_or_default()),
    };
    let schema = given.and_then(|name| {
        InfrastructureResourceSchema::named(&name).ok_or_else(|| {
            let known: Vec<_> = SCHEMAS.iter().map(|one| one.name.as_str()).collect();
            let message = format!("there is no type {}; the types are {}", quoted(&name), known.join(", "));
            UserError::new("type", message).within("schema")
        })
    });
    let schema = draft.problems.take(schema);
    let is_new = data.value().is_some() || schema.is_some_and(|schema| had_type.as_ref() != Some(&schema.name));
    let data = match data {
        MaybeUndefined::Undefined => Ok(had_data.unwrap_or_else(|| "{}".to_owned())),
        MaybeUndefined::Null => Err(must_not_be_null("data")),
        MaybeUndefined::Value(Json(text)) => Ok(text),
    };
    let mut warnings = Vec::new();
    let data = draft.problems.take(data.and_then(|text| json_schema::read_value("data", &text)));
    if let (Some(schema), Some(data), true) = (schema, data, is_new) {
        check(schema, &data, &mut draft.problems);
        warnings = strangers(schema, &data);
        draft.row.r#type = Set(schema.name.clone());
        draft.row.name = Set(data["name"].as_str().unwrap_or_default().to_owned());
        draft.row.data = Set(data.to_string());
    }
    draft.set_texts(&texts);
    provide(&mut draft, &provider_data)?;
    draft.refer(db, Column::OwnerId, &owner_id).await?;
    Ok((draft.done()?, warnings))
}

/// Sets the provider of a resource.
fn provide(draft: &mut Draft<Entity>, given: &MaybeUndefined<InfrastructureResourceProviderDataInput>) -> Result<()> {
    let mut provider = Draft::<Entity>::new();
    match given {
        MaybeUndefined::Undefined => return Ok(()),
        MaybeUndefined::Null => {
            provider.row.account_name = Set(None);
            provider.set(Column::ExternalUrl, &MaybeUndefined::<String>::Null);
            provider.set(Column::ProviderName, &MaybeUndefined::<String>::Null);
        }
        MaybeUndefined::Value(InfrastructureResourceProviderDataInput {
            account_name,
            external_url,
            provider_name,
        }) => {
            provider.set_required(Column::AccountName, account_name);
            provider.set(Column::ExternalUrl, &or_null(external_url));
            provider.set(Column::ProviderName, &or_null(provider_name));
        }
    }
    let provider = provider.done().map_err(|error| error.map_user(at_provider));
    if let Some(provider) = draft.problems.take_any(provider)? {
        draft.row.account_name = provider.account_name;
        draft.row.external_url = provider.external_url;
        draft.row.provider_name = provider.provider_name;
    }
    Ok(())
}

/// Treats absent as null: provider data is replaced as a whole.
fn or_null(given: &MaybeUndefined<String>) -> MaybeUndefined<String> {
    if given.is_undefined() { MaybeUndefined::Null } else { given.clone() }
}

fn at_provider(error: UserError) -> UserError {
    // The rule for URLs is shared with repositories, and calls the field `url`.
    let error = if error.path == ["url"] { UserError { path: vec!["externalUrl".into()], ..error } } else { error };
    error.within("providerData")
}

fn check(schema: &InfrastructureResourceSchema, data: &Value, problems: &mut Problems) {
    for fault in schema.check.faults(data) {
        let path = std::iter::once("data".into()).chain(fault.path.into_iter().map(Into::into)).collect();
        problems.push(UserError { path, ..UserError::new("data", fault.message) });
    }
}

/// Warns about fields that the schema does not describe.
fn strangers(schema: &InfrastructureResourceSchema, data: &Value) -> Vec<Warning> {
    let fields = data.as_object().into_iter().flat_map(Map::keys).filter(|field| !schema.describes(field));
    let warning = |field: &String| Warning {
        message: format!("the type {} has no field {}; only rawData has it", schema.name, quoted(field)),
    };
    fields.take(json_schema::FAULTS).map(warning).collect()
}

impl InfrastructureResourceCreateMutation for Mutation {
    async fn infrastructure_resource_create(
        ctx: &MutationCtx<'_>,
        input: InfrastructureResourceInput,
    ) -> Result<InfrastructureResourcePayload> {
        let db = ctx.db();
        let (row, warnings) = draft(db, None, input).await?;
        let now = Timestamp::now();
        let made = db.insert(ActiveModel { created_at: Set(now), updated_at: Set(now), ..row }).await?;
        Ok(payload(made, warnings))
    }
}

fn payload(resource: InfrastructureResource, warnings: Vec<Warning>) -> InfrastructureResourcePayload {
    InfrastructureResourcePayload {
        infrastructure_resource: Some(resource),
        warnings: Some(warnings),
        ..Default::default()
    }
}

impl InfrastructureResourceUpdateMutation for Mutation {
    async fn infrastructure_resource_update(
        ctx: &MutationCtx<'_>,
        infrastructure_resource: IdentifierInput,
        input: InfrastructureResourceInput,
    ) -> Result<InfrastructureResourcePayload> {
        let db = ctx.db();
        let found: InfrastructureResource =
            identifier::locked(db, "infrastructureResource", &infrastructure_resource, LockType::Update).await?;
        let (row, warnings) = draft(db, Some(found), input).await?;
        Ok(payload(db.update(row).await?, warnings))
    }
}

impl InfrastructureResourceDeleteMutation for Mutation {
    async fn infrastructure_resource_delete(
        ctx: &MutationCtx<'_>,
        resource: IdentifierInput,
    ) -> Result<InfrastructureResourceDeletePayload> {
        let db = ctx.db();
        let found = identifier::locked::<InfrastructureResource>(db, "resource", &resource, LockType::Update).await?;
        ctx.shed_first::<Entity>(found.id).await?;
        let deleted_id = Some(InfrastructureResourceResolver::id(&found));
        db.delete(found).await?;
        Ok(InfrastructureResourceDeletePayload { deleted_id, ..Default::default() })
    }
}
