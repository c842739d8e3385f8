//! Alert sources: monitors in other systems, and the services that they watch.

use crate::entity::alert_source::{self, Column};
use crate::entity::field_rule::FieldRules;
use crate::entity::integration::Kind;
use crate::entity::{alert_source_service, integration as integrations};
use crate::graphql::field::alias::or_taken;
use crate::graphql::field::identifier::{OneOf, exactly_one, given};
use crate::graphql::integration;
use crate::graphql::list::relation::{self, to_its_one};
use crate::graphql::prelude::*;

impl AlertSourceResolver for AlertSource {
    fn r#type(&self) -> AlertSourceTypeEnum {
        AlertSourceTypeEnum::from_word(&self.r#type).unwrap_or(AlertSourceTypeEnum::Custom)
    }

    fn status(&self) -> AlertSourceStatusTypeEnum {
        status(self)
    }

    async fn integration(sources: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<Integration>>> {
        let keys = sources.iter().map(|source| Some(source.integration_id)).collect();
        let rows = to_its_one::<integrations::Model>(ctx, keys).await?;
        Ok(rows.into_iter().map(|row| Some(Integration::from(row))).collect())
    }
}

/// Reads the status. Mutations write only words of the enum, so the fallback is not expected.
fn status(source: &AlertSource) -> AlertSourceStatusTypeEnum {
    AlertSourceStatusTypeEnum::from_word(&source.status).unwrap_or(AlertSourceStatusTypeEnum::NoData)
}

impl AlertSourceServiceResolver for AlertSourceService {
    async fn status(links: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<AlertSourceStatusTypeEnum>> {
        let keys = links.iter().map(|link| Some(link.alert_source_id)).collect();
        let sources = to_its_one::<AlertSource>(ctx, keys).await?;
        Ok(sources.iter().map(self::status).collect())
    }
}

/// Finds the alert source that a client names, for a query.
pub(in crate::graphql) async fn find(
    db: &dyn ReadHandle,
    args: &AccountAlertSourceArgs,
) -> Result<Option<AlertSource>> {
    let AccountAlertSourceArgs { id, external_identifier } = args;
    match exactly_one(("id", given(id)), ("externalIdentifier", external_identifier.value()))? {
        OneOf::First(id) => id::find::<alert_source::Entity>(db, id).await,
        OneOf::Second(named) => by_external_id(db, named).await,
    }
}

async fn by_external_id(db: &dyn ReadHandle, named: &AlertSourceExternalIdentifier) -> Result<Option<AlertSource>> {
    let AlertSourceExternalIdentifier { external_id, r#type } = named;
    let sources = alert_source::Entity::find()
        .filter(Column::Type.eq(r#type.as_str()))
        .filter(Column::ExternalId.eq(external_id))
        .order_by_asc(Column::Id);
    Ok(db.one(sources).await?)
}

/// The type of the alert sources of an integration.
fn kind(integration: &integrations::Model) -> AlertSourceTypeEnum {
    match (integration.kind, integration.event_type.as_deref()) {
        (Kind::NewRelic, _) | (_, Some("newRelicCheck")) => AlertSourceTypeEnum::NewRelic,
        (_, Some("datadogCheck")) => AlertSourceTypeEnum::Datadog,
        _ => AlertSourceTypeEnum::Custom,
    }
}

/// Finds the integration that an identifier names, and the alert source if it exists. Locks the integration.
async fn identified(
    db: &Transaction,
    argument: &'static str,
    named: &ExternalResourceIdentifierInput,
) -> Result<(integrations::Model, Option<AlertSource>)> {
    let ExternalResourceIdentifierInput { external_id, integration } = named;
    // Locked, so that two mutations cannot create the same alert source.
    let found = integration::require(&db.locking(LockType::NoKeyUpdate), integration).await;
    let integration = found.map_err(|error| error.map_user(|error| error.within("integration").within(argument)))?;
    let source = db
        .one(
            alert_source::Entity::find()
                .filter(Column::IntegrationId.eq(integration.id))
                .filter(Column::ExternalId.eq(external_id)),
        )
        .await?;
    Ok((integration, source))
}

impl AlertSourceUpsertMutation for Mutation {
    async fn alert_source_upsert(ctx: &MutationCtx<'_>, input: AlertSourceInput) -> Result<AlertSourceUpsertPayload> {
        let AlertSourceInput { identifier, name, texts } = input;
        let db = ctx.db();
        let mut problems = Problems::default();
        let found = problems.take_any(identified(db, "identifier", &identifier).await)?;
        let (integration, source) = found.unzip();
        let source = source.flatten();
        let is_new = source.is_none();
        let mut draft = source.map_or_else(Draft::<alert_source::Entity>::new, Draft::from_row);
        draft.problems = problems;
        if is_new {
            let rule = alert_source::Entity::rule(Column::ExternalId);
            let checked = rule.required_text(&identifier.external_id).map_err(|error| error.within("identifier"));
            if let Some(external_id) = draft.problems.take(checked) {
                draft.row.external_id = Set(external_id);
            }
            // A new row needs a name. An absent one is treated as blank, so that the same error is reported.
            draft.set_required(Column::Name, name.value().map(String::as_str).unwrap_or_default());
        } else {
            draft.set(Column::Name, &name);
        }
        draft.set_texts(&texts);
        let mut row = draft.done()?;
        let integration = integration.ok_or_else(|| Error::internal("an integration was neither found nor missed"))?;
        row.r#type = Set(kind(&integration).as_str().to_owned());
        let source = match is_new {
            true => {
                let now = Timestamp::now();
                let status = Set(AlertSourceStatusTypeEnum::NoData.as_str().to_owned());
                let row = alert_source::ActiveModel {
                    integration_id: Set(integration.id),
                    status,
                    created_at: Set(now),
                    updated_at: Set(now),
                    ..row
                };
                db.insert(row).await?
            }
            false => db.update(row).await?,
        };
        Ok(AlertSourceUpsertPayload { alert_source: Some(source), ..Default::default() })
    }
}

impl AlertSourceStatusUpdateMutation for Mutation {
    async fn alert_source_status_update(
        ctx: &MutationCtx<'_>,
        input: AlertSourceStatusUpdateInput,
    ) -> Result<AlertSourceStatusUpdatePayload> {
        let AlertSourceStatusUpdateInput { alert_source, status } = input;
        let db = ctx.db();
        let (_, source) = identified(db, "alertSource", &alert_source).await?;
        let source = source.ok_or_else(|| {
            let message = "an alert source of the integration with this id does not exist on this account";
            UserError::new("externalId", message).within("alertSource").not_found()
        })?;
        let mut row: alert_source::ActiveModel = source.into();
        row.status = Set(status.as_str().to_owned());
        Ok(AlertSourceStatusUpdatePayload { alert_source: Some(db.update(row).await?), ..Default::default() })
    }
}

impl AlertSourceServiceCreateMutation for Mutation {
    async fn alert_source_service_create(
        ctx: &MutationCtx<'_>,
        input: AlertSourceServiceCreateInput,
    ) -> Result<AlertSourceServiceCreatePayload> {
        let AlertSourceServiceCreateInput { alert_source_external_identifier, alert_source_id, service } = input;
        let db = ctx.db();
        let mut problems = Problems::default();
        let source = async {
            let by_id = ("alertSourceId", given(&alert_source_id));
            match exactly_one(by_id, ("alertSourceExternalIdentifier", alert_source_external_identifier.value()))? {
                OneOf::First(id) => id::require::<alert_source::Entity>(db, id, "alertSourceId").await,
                OneOf::Second(named) => Ok(by_external_id(db, named).await?.ok_or_else(|| {
                    let message = "an alert source of this type with this id does not exist on this account";
                    UserError::new("externalId", message).within("alertSourceExternalIdentifier").not_found()
                })?),
            }
        };
        let source = problems.take_any(source.await)?;
        let service = problems.take_any(identifier::require_in::<Service>(db, "service", &service).await)?;
        problems.none()?;
        let (Some(source), Some(service)) = (source, service) else {
            return Err(Error::internal("an alert source or a service was neither found nor missed"));
        };
        let row = alert_source_service::ActiveModel {
            alert_source_id: Set(source.id),
            service_id: Set(service.id),
            ..Default::default()
        };
        let taken = UserError::base("the alert source is already linked to this service");
        let link = db.insert(row).await.map_err(|error| or_taken(error, taken))?;
        let owner = alert_source_service::Column::ServiceId;
        let said = ("a service", "alert sources");
        relation::check_row_limit::<alert_source_service::Entity>(db, owner, service.id, text::ENTRIES, said).await?;
        Ok(AlertSourceServiceCreatePayload { alert_source_service: Some(link), ..Default::default() })
    }
}

impl AlertSourceServiceDeleteMutation for Mutation {
    async fn alert_source_service_delete(
        ctx: &MutationCtx<'_>,
        input: AlertSourceDeleteInput,
    ) -> Result<AlertSourceServiceDeletePayload> {
        let AlertSourceDeleteInput { id } = input;
        let db = ctx.db();
        let link = id::require::<alert_source_service::Entity>(db, &id, "id").await?;
        let deleted_id = Some(AlertSourceServiceResolver::id(&link));
        db.delete(link).await?;
        Ok(AlertSourceServiceDeletePayload { deleted_id, ..Default::default() })
    }
}
