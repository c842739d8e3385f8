//! Integrations: deploy endpoints and the tools that push code issues. Both are rows of one table.

use async_graphql::MaybeUndefined;
use sea_orm::sea_query::{Expr, LockType};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, DatabaseTransaction, EntityTrait, ModelTrait, QueryFilter, QueryOrder, QuerySelect,
};

use super::context::{Ctx, MutationCtx};
use super::draft::{self, Draft};
use super::id::{self, Id};
use super::identifier::Identifier;
use super::list::List;
use super::schema::*;
use crate::db::{self, Read};
use crate::engine::page::PageRequest;
use crate::entity::field_rule::FieldRules;
use crate::entity::integration::{self, Kind, Model};
use crate::entity::timestamp::touch;
use crate::entity::{Timestamp, code_issue, code_issue_project, deploy, row_lock};
use crate::error::{Result, UserError};

/// A deploy endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeployIntegration {
    row: Model,
    display_name: String,
}

/// A tool that pushes code issues through the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomIntegration {
    row: Model,
    display_name: String,
}

/// The integration that a row stands for.
pub(super) fn of(row: Model) -> Integration {
    match row.kind {
        Kind::Deploy => DeployIntegration { display_name: format!("Deploy: {}", row.name), row }.into(),
        Kind::Custom => CustomIntegration { display_name: format!("Custom: {}", row.name), row }.into(),
    }
}

impl DeployIntegrationResolver for DeployIntegration {
    fn id(&self) -> Id {
        Id::of::<integration::Entity>(self.row.id)
    }

    fn name(&self) -> &str {
        &self.row.name
    }

    fn r#type(&self) -> &str {
        IntegrationTypeEnum::Deploy.as_str()
    }

    fn display_name(&self) -> &str {
        &self.display_name
    }

    fn created_at(&self) -> Timestamp {
        self.row.created_at
    }

    async fn webhook_url(integrations: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<String>>> {
        if !ctx.caller().sees_webhooks() {
            return Ok(vec![None; integrations.len()]);
        }
        let app_url = &ctx.settings().app_url;
        let url = |webhook_id: &String| format!("{app_url}{}", integration::webhook_path(webhook_id));
        Ok(integrations.iter().map(|integration| integration.row.webhook_id.as_ref().map(url)).collect())
    }
}

impl CustomIntegrationResolver for CustomIntegration {
    fn id(&self) -> Id {
        Id::of::<integration::Entity>(self.row.id)
    }

    fn name(&self) -> &str {
        &self.row.name
    }

    fn r#type(&self) -> &str {
        IntegrationTypeEnum::Custom.as_str()
    }

    fn display_name(&self) -> &str {
        &self.display_name
    }

    fn created_at(&self) -> Timestamp {
        self.row.created_at
    }

    async fn webhook_url(integrations: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<String>>> {
        Ok(vec![None; integrations.len()])
    }
}

/// The integration that a client names, or nothing: for queries.
pub(super) async fn find(db: &impl Read, id: &str) -> Result<Option<Integration>> {
    Ok(id::find::<integration::Entity>(db, id).await?.map(of))
}

/// The integrations of one type or of all, a page at a time.
pub(super) async fn page(args: &AccountIntegrationsArgs, ctx: &Ctx<'_>) -> Result<IntegrationConnectionType> {
    let AccountIntegrationsArgs { r#type, first, after } = args;
    let request = PageRequest::new(first, after)?;
    let mut integrations = List::<integration::Entity>::new(integration::Column::Id);
    if let Some(kind) = r#type.value() {
        let kind = match kind {
            IntegrationTypeEnum::Deploy => Kind::Deploy,
            IntegrationTypeEnum::Custom => Kind::Custom,
        };
        integrations = integrations.filter(integration::Column::Kind.eq(kind));
    }
    Ok(integrations.page(ctx, &request).await?.map(of))
}

/// The integration that a mutation names.
async fn require(db: &impl Read, named: &IdentifierInput) -> Result<Model> {
    match Identifier::new(&named.id, &named.alias)? {
        Identifier::Id(id) => id::require::<integration::Entity>(db, id, "id").await,
        Identifier::Alias(_) => Err(UserError::new("alias", "integrations have no aliases: give the id").into()),
    }
}

/// The custom integration that a mutation names.
pub(super) async fn require_custom(db: &impl Read, named: &IdentifierInput) -> Result<Model> {
    let row = require(db, named).await?;
    match row.kind {
        Kind::Custom => Ok(row),
        Kind::Deploy => Err(UserError::new("id", "this is a deploy integration, not a custom one").into()),
    }
}

/// Gives an integration its new name, if there is one.
async fn rename(db: &DatabaseTransaction, row: Model, name: &MaybeUndefined<String>) -> Result<Integration> {
    if name.is_undefined() {
        return Ok(of(row));
    }
    let mut draft = Draft::<integration::Entity>::of(row);
    draft.set(integration::Column::Name, name);
    let mut row = draft.done()?;
    touch(&mut row.updated_at);
    Ok(of(row.update(db).await?))
}

impl CustomIntegrationCreateMutation for Mutation {
    async fn custom_integration_create(
        ctx: &MutationCtx<'_>,
        input: CustomIntegrationInput,
    ) -> Result<CustomIntegrationCreatePayload> {
        let CustomIntegrationInput { name } = input;
        let name = draft::text::<integration::Entity>(integration::Column::Name, &name)?.flatten();
        let name = name.ok_or_else(|| UserError::new("name", "name is needed to create an integration"))?;
        let row = integration::create(ctx.db(), Kind::Custom, name, Timestamp::now()).await?;
        Ok(CustomIntegrationCreatePayload { integration: Some(of(row)), ..Default::default() })
    }
}

impl CustomIntegrationUpdateMutation for Mutation {
    async fn custom_integration_update(
        ctx: &MutationCtx<'_>,
        integration: IdentifierInput,
        input: CustomIntegrationInput,
    ) -> Result<CustomIntegrationUpdatePayload> {
        let CustomIntegrationInput { name } = input;
        let db = ctx.db();
        let row = require_custom(db, &integration).await;
        let row = row.map_err(|error| error.map_user(|error| error.within("integration")))?;
        let integration = rename(db, row, &name).await?;
        Ok(CustomIntegrationUpdatePayload { integration: Some(integration), ..Default::default() })
    }
}

impl EventIntegrationCreateMutation for Mutation {
    async fn event_integration_create(
        ctx: &MutationCtx<'_>,
        input: EventIntegrationInput,
    ) -> Result<EventIntegrationCreatePayload> {
        let EventIntegrationInput { name, r#type } = input;
        let (kind, default_name) = match r#type {
            EventIntegrationEnum::Deploy => (Kind::Deploy, "Deploy"),
        };
        let name = name.value().map_or(default_name, String::as_str);
        let name = integration::Entity::rule(integration::Column::Name).required_text(name)?;
        let row = integration::create(ctx.db(), kind, name, Timestamp::now()).await?;
        Ok(EventIntegrationCreatePayload { integration: Some(of(row)), ..Default::default() })
    }
}

impl EventIntegrationUpdateMutation for Mutation {
    async fn event_integration_update(
        ctx: &MutationCtx<'_>,
        input: EventIntegrationUpdateInput,
    ) -> Result<EventIntegrationUpdatePayload> {
        let EventIntegrationUpdateInput { id, name } = input;
        let db = ctx.db();
        let row = id::require::<integration::Entity>(db, &id, "id").await?;
        if row.kind != Kind::Deploy {
            return Err(UserError::new("id", "this is a custom integration, which receives no events").into());
        }
        let integration = rename(db, row, &MaybeUndefined::Value(name)).await?;
        Ok(EventIntegrationUpdatePayload { integration: Some(integration), ..Default::default() })
    }
}

impl IntegrationDeleteMutation for Mutation {
    async fn integration_delete(ctx: &MutationCtx<'_>, resource: IdentifierInput) -> Result<IntegrationDeletePayload> {
        let db = ctx.db();
        let within = |error: UserError| error.within("resource");
        let named = require(db, &resource).await.map_err(|error| error.map_user(within))?;
        // Whoever adds a project, an issue or a deploy waits, so that the counts are of all that there is. The projects
        // are held in the order in which those who connect several hold them.
        let row = row_lock::row::<integration::Entity>(db, named.id, LockType::Update).await?;
        let projects = code_issue_project::Entity::find()
            .select_only()
            .column(code_issue_project::Column::Id)
            .filter(code_issue_project::Column::IntegrationId.eq(row.id))
            .order_by_asc(code_issue_project::Column::Id)
            .lock(LockType::Update);
        let projects: Vec<i64> = projects.into_tuple().all(db).await?;

        let of_projects = db::any(db, code_issue::Column::CodeIssueProjectId, &projects);
        let issues = code_issue::Entity::delete_many().filter(of_projects).exec(db).await?;
        let of_it = code_issue_project::Column::IntegrationId.eq(row.id);
        let projects = code_issue_project::Entity::delete_many().filter(of_it).exec(db).await?;
        let deploys = deploy::Entity::update_many()
            .col_expr(deploy::Column::IntegrationId, Expr::value(Option::<i64>::None))
            .filter(deploy::Column::IntegrationId.eq(row.id))
            .exec(db)
            .await?;
        let deleted_integration_id = Some(Id::of::<integration::Entity>(row.id));
        row.delete(db).await?;

        let count = |rows: u64| Some(i32::try_from(rows).unwrap_or(i32::MAX));
        Ok(IntegrationDeletePayload {
            deleted_integration_id,
            deleted_code_issue_project_count: count(projects.rows_affected),
            deleted_code_issue_count: count(issues.rows_affected),
            kept_deploy_count: count(deploys.rows_affected),
            ..Default::default()
        })
    }
}
