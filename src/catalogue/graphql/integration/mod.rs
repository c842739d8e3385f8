//! Integrations: webhooks for deploys and API documents, tools that push code issues, clouds and clusters. All are rows
//! of one table.
//!
//! Invariants: the URL of a webhook is a secret, which is shown only to callers who may see it
//! ([`Caller::sees_webhooks`](crate::graphql::request::caller::Caller::sees_webhooks)). rollcall connects to no cloud,
//! and stores no secret of one.

use super::field::draft;
use super::field::id::Id;
use super::field::reference::IntegrationTypeName;
use crate::deploy::event::CUSTOM;
use crate::entity::field_rule::FieldRules;
use crate::entity::integration::{self, IntegrationSettings, Kind, Model};
use crate::entity::{code_issue, code_issue_project, deploy, known};
use crate::graphql::prelude::*;

pub(super) mod alert_source;
pub(super) mod cloud_integration;

/// The SDL type of a row's kind.
impl From<Model> for Integration {
    fn from(row: Model) -> Self {
        let (display_name, settings) = (format!("{}: {}", row.kind.name(), row.name), row.settings());
        match row.kind {
            Kind::Deploy => DeployIntegration { row, display_name, settings }.into(),
            Kind::Custom => CustomIntegration { row, display_name, settings }.into(),
            Kind::ApiDoc => ApiDocIntegration { row, display_name, settings }.into(),
            Kind::Aws => AwsIntegration { row, display_name, settings }.into(),
            Kind::AzureResources => AzureResourcesIntegration { row, display_name, settings }.into(),
            Kind::GoogleCloud => GoogleCloudIntegration { row, display_name, settings }.into(),
            Kind::Kubernetes => KubernetesIntegration { row, display_name, settings }.into(),
            Kind::NewRelic => NewRelicIntegration { row, display_name, settings }.into(),
        }
    }
}

/// Converts the row of an endpoint for API documents.
pub(super) fn api_doc(row: Model) -> ApiDocIntegration {
    ApiDocIntegration {
        display_name: format!("{}: {}", row.kind.name(), row.name),
        settings: IntegrationSettings::default(),
        row,
    }
}

/// The SDL's word for a kind.
fn word(kind: Kind) -> IntegrationTypeEnum {
    same!(kind, Kind => IntegrationTypeEnum {
        Deploy Custom ApiDoc Aws AzureResources GoogleCloud Kubernetes NewRelic
    })
}

/// The kind with this word in the SDL.
fn kind_of(word: IntegrationTypeEnum) -> Kind {
    same!(word, IntegrationTypeEnum => Kind {
        Deploy Custom ApiDoc Aws AzureResources GoogleCloud Kubernetes NewRelic
    })
}

/// The type of an integration, as clients see it.
pub(super) fn type_word(row: &Model) -> &str {
    row.event_type.as_deref().unwrap_or_else(|| word(row.kind).as_str())
}

/// Returns the webhook URL of each integration: `None` if it has none, or if the caller may not see it.
fn webhook_urls<'r>(rows: impl Iterator<Item = &'r Model>, ctx: &Ctx<'_>) -> Vec<Option<String>> {
    let (is_shown, app_url) = (ctx.caller().sees_webhooks(), &ctx.settings().app_url);
    let url = |row: &Model| {
        let webhook_id = row.webhook_id.as_ref().filter(|_| is_shown)?;
        Some(format!("{app_url}{}", integration::webhook_path(row.kind, webhook_id.reveal())))
    };
    rows.map(url).collect()
}

/// Defines a Rust type for each SDL type: a row, the fields that all integrations share, and `$own`.
macro_rules! integrations {
    ($($(#[$doc:meta])* $name:ident, $resolver:ident { $($own:item)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name {
            row: Model,
            display_name: String,
            #[allow(dead_code, reason = "some kinds have none")]
            settings: IntegrationSettings,
        }

        impl $resolver for $name {
            fn id(&self) -> Id {
                Id::new::<integration::Entity>(self.row.id)
            }

            fn name(&self) -> &str {
                &self.row.name
            }

            fn r#type(&self) -> &str {
                type_word(&self.row)
            }

            fn display_name(&self) -> &str {
                &self.display_name
            }

            fn created_at(&self) -> Timestamp {
                self.row.created_at
            }

            fn installed_at(&self) -> Option<Timestamp> {
                self.row.installed_at
            }

            async fn webhook_url(integrations: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<String>>> {
                Ok(webhook_urls(integrations.iter().map(|integration| &integration.row), ctx))
            }

            $($own)*
        }
    )*};
}

integrations! {
    /// A deploy endpoint.
    DeployIntegration, DeployIntegrationResolver {}

    /// A tool that pushes code issues through the API.
    CustomIntegration, CustomIntegrationResolver {}

    /// An endpoint for API documents.
    ApiDocIntegration, ApiDocIntegrationResolver {}

    /// An account at Amazon's cloud.
    AwsIntegration, AwsIntegrationResolver {
        fn iam_role(&self) -> Option<&str> {
            self.settings.iam_role.as_deref()
        }
        fn external_id(&self) -> Option<&str> {
            self.settings.external_id.as_deref()
        }
        fn aws_tags_override_ownership(&self) -> Option<bool> {
            self.settings.tags_override_ownership
        }
        async fn ownership_tag_keys(rows: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<Vec<String>>>> {
            Ok(rows.iter().map(|one| one.settings.ownership_tag_keys.clone()).collect())
        }
        fn invalidated_at(&self) -> Option<Timestamp> {
            None
        }
        fn invalidated_reason(&self) -> Option<&str> {
            None
        }
        async fn region_override(rows: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<Vec<String>>>> {
            Ok(rows.iter().map(|one| one.settings.region_override.clone()).collect())
        }
    }

    /// A subscription at Microsoft's cloud.
    AzureResourcesIntegration, AzureResourcesIntegrationResolver {
        async fn aliases(rows: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<Vec<String>>>> {
            Ok(vec![None; rows.len()])
        }
        async fn ownership_tag_keys(rows: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<Vec<String>>>> {
            Ok(rows.iter().map(|one| one.settings.ownership_tag_keys.clone()).collect())
        }
        fn subscription_id(&self) -> Option<&str> {
            self.settings.subscription_id.as_deref()
        }
        fn tags_override_ownership(&self) -> Option<bool> {
            self.settings.tags_override_ownership
        }
        fn tenant_id(&self) -> Option<&str> {
            self.settings.tenant_id.as_deref()
        }
    }

    /// Projects at Google's cloud.
    GoogleCloudIntegration, GoogleCloudIntegrationResolver {
        async fn aliases(rows: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<Vec<String>>>> {
            Ok(vec![None; rows.len()])
        }
        fn client_email(&self) -> Option<&str> {
            self.settings.client_email.as_deref()
        }
        async fn ownership_tag_keys(rows: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<Vec<String>>>> {
            Ok(rows.iter().map(|one| one.settings.ownership_tag_keys.clone()).collect())
        }
        async fn projects(rows: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<Vec<GoogleCloudProject>>>> {
            Ok(rows.iter().map(|_| None).collect())
        }
        fn tags_override_ownership(&self) -> Option<bool> {
            self.settings.tags_override_ownership
        }
    }

    /// A cluster.
    KubernetesIntegration, KubernetesIntegrationResolver {
        fn extract_definition(&self) -> Option<&str> {
            self.settings.extract_definition.as_deref()
        }
        fn transform_definition(&self) -> Option<&str> {
            self.settings.transform_definition.as_deref()
        }
    }

    /// An account at New Relic.
    NewRelicIntegration, NewRelicIntegrationResolver {
        fn base_url(&self) -> Option<&str> {
            self.settings.base_url.as_deref()
        }
        fn account_key(&self) -> Option<&str> {
            None
        }
    }
}

/// Finds the integration with this id, for a query.
pub(super) async fn find(db: &dyn ReadHandle, id: &str) -> Result<Option<Integration>> {
    Ok(id::find::<integration::Entity>(db, id).await?.map(Integration::from))
}

/// The integrations of one type or of all, a page at a time.
pub(super) async fn page(args: &AccountIntegrationsArgs, ctx: &Ctx<'_>) -> Result<IntegrationConnectionType> {
    let AccountIntegrationsArgs { r#type, first, after } = args;
    let request = PageRequest::new(first, after)?;
    let mut integrations = List::<integration::Entity>::new(integration::Column::Id);
    integrations = integrations.filter(known::<Kind>(integration::Column::Kind));
    if let Some(name) = r#type.value() {
        integrations = integrations.filter(match name {
            IntegrationTypeName::Kind(kind) => integration::Column::Kind.eq(kind_of(*kind)),
            IntegrationTypeName::Event(event) => integration::Column::EventType.eq(event.as_str()),
            IntegrationTypeName::Elsewhere => Expr::value(false),
        });
    }
    Ok(integrations.page(ctx, &request).await?.map(Integration::from))
}

/// The integration that a mutation names.
pub(super) async fn require(db: &dyn ReadHandle, named: &IdentifierInput) -> Result<Model> {
    match Identifier::new(&named.id, &named.alias)? {
        Identifier::Id(id) => id::require::<integration::Entity>(db, id, "id").await,
        Identifier::Alias(_) => Err(UserError::new("alias", "integrations have no aliases: give the id").into()),
    }
}

/// The integration whose custom events `field` names it for.
///
/// # Errors
/// It receives no custom events.
pub(super) fn with_events(row: Model, field: &'static str) -> Result<Model, UserError> {
    if row.event_type.as_deref() == Some(CUSTOM) {
        return Ok(row);
    }
    let message = format!(
        "{field} must name an integration of type {CUSTOM}; {} is one of type {}",
        quoted(&row.name),
        type_word(&row)
    );
    Err(UserError::new(field, message))
}

/// The custom integration that a mutation names.
pub(super) async fn require_custom(db: &dyn ReadHandle, named: &IdentifierInput) -> Result<Model> {
    require_of(db, named, Kind::Custom).await
}

/// The integration of this kind that a mutation names.
pub(super) async fn require_of(db: &dyn ReadHandle, named: &IdentifierInput, kind: Kind) -> Result<Model> {
    let row = require(db, named).await?;
    if row.kind != kind {
        let [is, wanted] = [row.kind, kind].map(|kind| word(kind).as_str());
        return Err(UserError::new("id", format!("this is an integration of type {is}, not {wanted}")).into());
    }
    Ok(row)
}

/// The integration with this id, which must have a webhook.
async fn require_webhook(db: &dyn ReadHandle, id: &str) -> Result<Model> {
    let row = id::require::<integration::Entity>(db, id, "id").await?;
    if !matches!(row.kind, Kind::Deploy | Kind::ApiDoc) {
        let word = word(row.kind).as_str();
        let message = format!("this is an integration of type {word}, which receives no events");
        return Err(UserError::new("id", message).into());
    }
    Ok(row)
}

/// Renames an integration, if a name is given.
async fn rename(db: &Transaction, row: Model, name: &MaybeUndefined<String>) -> Result<Integration> {
    if name.is_undefined() {
        return Ok(Integration::from(row));
    }
    let mut draft = Draft::<integration::Entity>::from_row(row);
    draft.set(integration::Column::Name, name);
    Ok(Integration::from(db.update(draft.done()?).await?))
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
        Ok(CustomIntegrationCreatePayload { integration: Some(Integration::from(row)), ..Default::default() })
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
        let (kind, event_type) = match r#type {
            EventIntegrationEnum::ApiDoc => (Kind::ApiDoc, None),
            EventIntegrationEnum::Deploy => (Kind::Deploy, None),
            other => (Kind::Deploy, Some(other.as_str().to_owned())),
        };
        let name = name.value().map_or(kind.name(), String::as_str);
        let name = integration::Entity::rule(integration::Column::Name).required_text(name)?;
        let row = integration::create(ctx.db(), kind, name, Timestamp::now()).await?;
        let row = match event_type {
            None => row,
            event_type => {
                ctx.db().update(integration::ActiveModel { event_type: Set(event_type), ..row.into() }).await?
            }
        };
        Ok(EventIntegrationCreatePayload { integration: Some(Integration::from(row)), ..Default::default() })
    }
}

impl EventIntegrationUpdateMutation for Mutation {
    async fn event_integration_update(
        ctx: &MutationCtx<'_>,
        input: EventIntegrationUpdateInput,
    ) -> Result<EventIntegrationUpdatePayload> {
        let EventIntegrationUpdateInput { id, name } = input;
        let db = ctx.db();
        let row = require_webhook(db, &id).await?;
        let integration = rename(db, row, &MaybeUndefined::Value(name)).await?;
        Ok(EventIntegrationUpdatePayload { integration: Some(integration), ..Default::default() })
    }
}

impl EventIntegrationUrlRotateMutation for Mutation {
    async fn event_integration_url_rotate(
        ctx: &MutationCtx<'_>,
        input: DeleteInput,
    ) -> Result<EventIntegrationUrlRotatePayload> {
        let db = ctx.db();
        let row = require_webhook(&db.locking(LockType::Update), &input.id).await?;
        let mut row = integration::with_new_webhook(row)?;
        // The audit compares no secrets: that the row was changed is what it tells.
        touch(&mut row.updated_at);
        let integration = Integration::from(db.update(row).await?);
        Ok(EventIntegrationUrlRotatePayload { integration: Some(integration), ..Default::default() })
    }
}

impl IntegrationReactivateMutation for Mutation {
    async fn integration_reactivate(
        ctx: &MutationCtx<'_>,
        integration: IdentifierInput,
    ) -> Result<IntegrationReactivatePayload> {
        let db = ctx.db();
        let row = require(db, &integration).await;
        let row = row.map_err(|error| error.map_user(|error| error.within("integration")))?;
        let mut row: integration::ActiveModel = row.into();
        row.installed_at = Set(Some(Timestamp::now()));
        Ok(IntegrationReactivatePayload {
            integration: Some(Integration::from(db.update(row).await?)),
            ..Default::default()
        })
    }
}

impl IntegrationDeleteMutation for Mutation {
    async fn integration_delete(ctx: &MutationCtx<'_>, resource: IdentifierInput) -> Result<IntegrationDeletePayload> {
        let db = ctx.db();
        let within = |error: UserError| error.within("resource");
        // The lock makes mutations that add a project, an issue or a deploy wait, so that the counts cover every row.
        // The projects are locked in the order of their ids, as when several are connected, which prevents a deadlock.
        let row = require(&db.locking(LockType::Update), &resource).await;
        let row = row.map_err(|error| error.map_user(within))?;
        ctx.shed_first::<integration::Entity>(row.id).await?;
        let projects = code_issue_project::Entity::find()
            .select_only()
            .column(code_issue_project::Column::Id)
            .filter(code_issue_project::Column::IntegrationId.eq(row.id))
            .order_by_asc(code_issue_project::Column::Id)
            .lock(LockType::Update);
        let projects: Vec<i64> = db.rows(projects.as_query(), |row| row.get(0)).await?;

        let of_projects = db::any(db, code_issue::Column::CodeIssueProjectId, &projects);
        let issues = code_issue::Entity::delete_many().filter(of_projects);
        let issues = db.exec_following::<integration::Entity, _>(row.id, issues).await?;
        let of_it = code_issue_project::Column::IntegrationId.eq(row.id);
        let projects = code_issue_project::Entity::delete_many().filter(of_it);
        let projects = db.exec_following::<integration::Entity, _>(row.id, projects).await?;
        let deploys = db
            .exec_following::<integration::Entity, _>(
                row.id,
                deploy::Entity::update_many()
                    .col_expr(deploy::Column::IntegrationId, Expr::value(Option::<i64>::None))
                    .filter(deploy::Column::IntegrationId.eq(row.id)),
            )
            .await?;
        let deleted_integration_id = Some(Id::new::<integration::Entity>(row.id));
        db.delete(row).await?;

        let count = |rows: u64| Some(i32::try_from(rows).unwrap_or(i32::MAX));
        Ok(IntegrationDeletePayload {
            deleted_integration_id,
            deleted_code_issue_project_count: count(projects + ctx.shed_of("code_issue_project")),
            deleted_code_issue_count: count(issues + ctx.shed_of("code_issue")),
            kept_deploy_count: count(deploys + ctx.shed_of("deploy")),
            ..Default::default()
        })
    }
}
