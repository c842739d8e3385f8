//! Integrations with clouds and clusters. rollcall stores their settings, and connects to none of them.

use async_graphql::Value;

use super::require_of;
use crate::engine::input::{Input, InputError};
use crate::entity::field_rule::FieldRules;
use crate::entity::integration::{self, IntegrationSettings, Kind, Model};
use crate::entity::repository;
use crate::graphql::field::identifier::given;
use crate::graphql::prelude::*;

/// YAML text. It is stored as given, and not parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Yaml(pub String);

impl Input for Yaml {
    fn read(value: &Value) -> Result<Self, InputError> {
        match value {
            Value::String(text) => Ok(Self(text.clone())),
            _ => Err(InputError::new("expected YAML in a string")),
        }
    }
}

/// The settings of an integration with a cloud or a cluster, changed by an input, and the errors in the input.
struct Change {
    settings: IntegrationSettings,
    problems: Problems,
}

impl Change {
    fn new(row: Option<&Model>) -> Self {
        Self { settings: row.map(Model::settings).unwrap_or_default(), problems: Problems::default() }
    }

    fn text(&mut self, field: &'static str, given: &MaybeUndefined<String>, most: usize) -> Option<Option<String>> {
        match given {
            MaybeUndefined::Undefined => None,
            MaybeUndefined::Null => Some(None),
            MaybeUndefined::Value(given) if most > text::URL => {
                Some(self.problems.take(text::long(field, given, most)))
            }
            MaybeUndefined::Value(given) => Some(self.problems.take(text::line(field, given, most))),
        }
    }

    fn set(
        &mut self,
        field: &'static str,
        given: &MaybeUndefined<String>,
        most: usize,
        part: fn(&mut IntegrationSettings) -> &mut Option<String>,
    ) {
        if let Some(given) = self.text(field, given, most) {
            *part(&mut self.settings) = given;
        }
    }

    /// Checks a secret. It is not stored.
    fn secret(&mut self, field: &'static str, given: &MaybeUndefined<String>) {
        self.text(field, given, text::DESCRIPTION);
    }

    fn set_flag(&mut self, given: &MaybeUndefined<bool>) {
        if !given.is_undefined() {
            self.settings.tags_override_ownership = given.value().copied();
        }
    }

    /// Checks a list of short texts.
    fn texts(&mut self, field: &'static str, given: &[String]) -> Option<Vec<String>> {
        if given.len() > text::FEW {
            self.problems.push(UserError::new(field, format!("{field} must have at most {} entries", text::FEW)));
            return None;
        }
        let checked = given.iter().enumerate().map(|(place, one)| {
            let checked = text::required(field, one, text::SHORT);
            self.problems.take(
                checked.map_err(|error| UserError { path: vec![field.into(), place.to_string().into()], ..error }),
            )
        });
        checked.collect::<Vec<_>>().into_iter().collect()
    }

    fn set_tags(&mut self, given: &MaybeUndefined<Vec<String>>) {
        match given {
            MaybeUndefined::Undefined => {}
            MaybeUndefined::Null => self.settings.ownership_tag_keys = None,
            MaybeUndefined::Value(keys) => self.settings.ownership_tag_keys = self.texts("ownershipTagKeys", keys),
        }
    }

    /// Inserts an integration of this kind, or updates `row` if there is one.
    async fn store(
        self,
        db: &Transaction,
        kind: Kind,
        row: Option<Model>,
        name: &MaybeUndefined<String>,
    ) -> Result<Integration> {
        let Self { settings, mut problems } = self;
        let rule = integration::Entity::rule(integration::Column::Name);
        let name = match (name, &row) {
            (MaybeUndefined::Value(name), _) => problems.take(rule.required_text(name)),
            (MaybeUndefined::Null, Some(_)) => problems.take(rule.check_null().map(|()| String::new())),
            (_, None) => Some(kind.name().to_owned()),
            (MaybeUndefined::Undefined, Some(row)) => Some(row.name.clone()),
        };
        problems.none()?;
        let (name, now) = (name.unwrap_or_default(), Timestamp::now());
        let row = match row {
            None => integration::create(db, kind, name.clone(), now).await?,
            Some(row) => row,
        };
        let settings = serde_json::to_string(&settings).map_err(Error::internal)?;
        let mut row: integration::ActiveModel = row.into();
        row.name = Set(name);
        row.settings = Set(Some(settings));
        Ok(Integration::from(db.update(row).await?))
    }
}

/// Updates the integration that an argument names.
async fn update_connection(
    db: &Transaction,
    kind: Kind,
    (argument, named): (&'static str, &IdentifierInput),
    fill: impl FnOnce(&mut Change) -> MaybeUndefined<String>,
) -> Result<IntegrationUpdatePayload> {
    let row = require_of(&db.locking(LockType::NoKeyUpdate), named, kind).await;
    let row = row.map_err(|error| error.map_user(|error| error.within(argument)))?;
    let mut change = Change::new(Some(&row));
    let name = fill(&mut change);
    let integration = change.store(db, kind, Some(row), &name).await?;
    Ok(IntegrationUpdatePayload { integration: Some(integration), ..Default::default() })
}

/// Creates an integration of this kind.
async fn create_connection(
    db: &Transaction,
    kind: Kind,
    fill: impl FnOnce(&mut Change) -> MaybeUndefined<String>,
) -> Result<IntegrationCreatePayload> {
    let mut change = Change::new(None);
    let name = fill(&mut change);
    let integration = change.store(db, kind, None, &name).await?;
    Ok(IntegrationCreatePayload { integration: Some(integration), ..Default::default() })
}

/// Implements the two mutations of each kind. `$fill` applies the input, and returns the name in it.
macro_rules! connections {
    ($($kind:ident $input:ident $fill:ident: $create:ident $create_fn:ident; $update:ident $update_fn:ident;)*) => {$(
        impl $create for Mutation {
            async fn $create_fn(ctx: &MutationCtx<'_>, input: $input) -> Result<IntegrationCreatePayload> {
                create_connection(ctx.db(), Kind::$kind, |change| $fill(change, input)).await
            }
        }

        impl $update for Mutation {
            async fn $update_fn(
                ctx: &MutationCtx<'_>,
                integration: IdentifierInput,
                input: $input,
            ) -> Result<IntegrationUpdatePayload> {
                let named = ("integration", &integration);
                update_connection(ctx.db(), Kind::$kind, named, |change| $fill(change, input)).await
            }
        }
    )*};
}

connections! {
    Aws AwsIntegrationInput fill_aws:
        AwsIntegrationCreateMutation aws_integration_create;
        AwsIntegrationUpdateMutation aws_integration_update;
    AzureResources AzureResourcesIntegrationInput fill_azure:
        AzureResourcesIntegrationCreateMutation azure_resources_integration_create;
        AzureResourcesIntegrationUpdateMutation azure_resources_integration_update;
    GoogleCloud GoogleCloudIntegrationInput fill_google:
        GoogleCloudIntegrationCreateMutation google_cloud_integration_create;
        GoogleCloudIntegrationUpdateMutation google_cloud_integration_update;
    Kubernetes KubernetesIntegrationInput fill_kubernetes:
        KubernetesIntegrationCreateMutation kubernetes_integration_create;
        KubernetesIntegrationUpdateMutation kubernetes_integration_update;
}

impl NewRelicIntegrationCreateMutation for Mutation {
    async fn new_relic_integration_create(
        ctx: &MutationCtx<'_>,
        input: NewRelicIntegrationInput,
    ) -> Result<IntegrationCreatePayload> {
        create_connection(ctx.db(), Kind::NewRelic, |change| fill_new_relic(change, input)).await
    }
}

impl NewRelicIntegrationUpdateMutation for Mutation {
    async fn new_relic_integration_update(
        ctx: &MutationCtx<'_>,
        input: NewRelicIntegrationInput,
        resource: IdentifierInput,
    ) -> Result<IntegrationUpdatePayload> {
        let named = ("resource", &resource);
        update_connection(ctx.db(), Kind::NewRelic, named, |change| fill_new_relic(change, input)).await
    }
}

fn fill_aws(change: &mut Change, input: AwsIntegrationInput) -> MaybeUndefined<String> {
    let AwsIntegrationInput {
        external_id,
        iam_role,
        name,
        ownership_tag_keys,
        aws_tags_override_ownership,
        region_override,
    } = input;
    change.set("externalId", &external_id, text::SHORT, |settings| &mut settings.external_id);
    change.set("iamRole", &iam_role, text::SHORT, |settings| &mut settings.iam_role);
    change.set_flag(&aws_tags_override_ownership);
    change.set_tags(&MaybeUndefined::Value(ownership_tag_keys));
    match region_override {
        MaybeUndefined::Undefined => {}
        MaybeUndefined::Null => change.settings.region_override = None,
        MaybeUndefined::Value(regions) => change.settings.region_override = change.texts("regionOverride", &regions),
    }
    name
}

fn fill_azure(change: &mut Change, input: AzureResourcesIntegrationInput) -> MaybeUndefined<String> {
    let AzureResourcesIntegrationInput {
        client_id,
        client_secret,
        name,
        ownership_tag_keys,
        subscription_id,
        tags_override_ownership,
        tenant_id,
    } = input;
    change.secret("clientSecret", &client_secret);
    change.set("clientId", &client_id, text::SHORT, |settings| &mut settings.client_id);
    change.set_tags(&ownership_tag_keys);
    change.set("subscriptionId", &subscription_id, text::SHORT, |settings| &mut settings.subscription_id);
    change.set_flag(&tags_override_ownership);
    change.set("tenantId", &tenant_id, text::SHORT, |settings| &mut settings.tenant_id);
    name
}

fn fill_google(change: &mut Change, input: GoogleCloudIntegrationInput) -> MaybeUndefined<String> {
    let GoogleCloudIntegrationInput { client_email, name, ownership_tag_keys, private_key, tags_override_ownership } =
        input;
    change.secret("privateKey", &private_key);
    change.set("clientEmail", &client_email, text::SHORT, |settings| &mut settings.client_email);
    change.set_tags(&ownership_tag_keys);
    change.set_flag(&tags_override_ownership);
    name
}

fn fill_kubernetes(change: &mut Change, input: KubernetesIntegrationInput) -> MaybeUndefined<String> {
    let KubernetesIntegrationInput { extract_definition, name, transform_definition } = input;
    let plain = |given: MaybeUndefined<Yaml>| given.map_value(|Yaml(text)| text);
    change
        .set("extractDefinition", &plain(extract_definition), text::NOTE, |settings| &mut settings.extract_definition);
    change.set("transformDefinition", &plain(transform_definition), text::NOTE, |settings| {
        &mut settings.transform_definition
    });
    name
}

fn fill_new_relic(change: &mut Change, input: NewRelicIntegrationInput) -> MaybeUndefined<String> {
    let NewRelicIntegrationInput { api_key, base_url } = input;
    change.secret("apiKey", &api_key);
    if let Some(url) = given(&base_url) {
        let checked = repository::check_url(url).map_err(|error| UserError { path: vec!["baseUrl".into()], ..error });
        change.problems.take(checked);
    }
    change.set("baseUrl", &base_url, text::URL, |settings| &mut settings.base_url);
    // This input has no name.
    MaybeUndefined::Undefined
}
