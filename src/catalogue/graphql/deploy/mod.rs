//! Deploys, as clients read them. [`crate::deploy`] records what is posted to the webhook.
//!
//! Invariant: nothing here records or changes a deploy; its one mutation deletes one.

use std::collections::BTreeSet;

use sea_orm::ActiveEnum;
use sea_orm::sea_query::ExprTrait;

use super::integration as integrations;
use crate::entity::deploy::{self, Column};
use crate::entity::{integration, service};
use crate::graphql::prelude::*;

pub(super) mod deploy_metrics;

impl DeployResolver for Deploy {
    fn duration(&self) -> Option<i32> {
        let micros = self.deployed_at.as_micros().checked_sub(self.started_at?.as_micros())?;
        if micros < 0 { None } else { i32::try_from(micros / 1_000_000).ok() }
    }

    fn author(&self) -> Option<&str> {
        [&self.deployer_name, &self.deployer_email, &self.deployer_id].into_iter().find_map(|who| who.as_deref())
    }

    async fn provider_name(deploys: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<String>>> {
        let integrations = integration::Entity::by_ids(ctx.db(), deploys.iter().map(|deploy| deploy.integration_id));
        Ok(integrations.await?.into_iter().map(|found| Some(found?.name)).collect())
    }

    async fn provider_type(deploys: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<String>>> {
        let integrations = integration::Entity::by_ids(ctx.db(), deploys.iter().map(|deploy| deploy.integration_id));
        Ok(integrations.await?.iter().map(|found| Some(integrations::type_word(found.as_ref()?).to_owned())).collect())
    }

    fn provider_url(&self) -> Option<&str> {
        self.deploy_url.as_deref()
    }

    async fn service_id(deploys: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<String>>> {
        let id = |deploy: &&Self| Some(id::Id::new::<service::Entity>(deploy.service_id?).text());
        Ok(deploys.iter().map(id).collect())
    }

    fn deploy_status(&self) -> DeployStatusEnum {
        match self.deploy_status {
            None => DeployStatusEnum::NoStatus,
            Some(deploy::Status::Queued) => DeployStatusEnum::Queued,
            Some(deploy::Status::Running) => DeployStatusEnum::Running,
            Some(deploy::Status::Succeeded) => DeployStatusEnum::Success,
            Some(deploy::Status::Failed) => DeployStatusEnum::Failure,
            Some(deploy::Status::Cancelled) => DeployStatusEnum::Canceled,
        }
    }
}

/// All deploys that match the arguments, newest first unless `sortBy` says otherwise.
pub(super) async fn of_account(args: &AccountDeploysArgs, ctx: &Ctx<'_>) -> Result<DeployConnectionType> {
    let AccountDeploysArgs { sort_by, start, end, environments, service_id, statuses, owner, first, after } = args;
    let mut deploys = filtered(sort_by, start, end, environments)?;
    if let Some(statuses) = statuses.value().filter(|statuses| !statuses.is_empty()) {
        deploys = deploys.filter(with_status(statuses));
    }
    if let Some(owner) = owner.value() {
        let team = identifier::require_in::<Team>(ctx.db(), "owner", owner).await?;
        let own = service::Entity::find().select_only().column(service::Column::Id);
        let own = own.filter(service::Column::OwnerId.eq(team.id));
        deploys = deploys.filter(Column::ServiceId.in_subquery(own.into_query()));
    }
    if let Some(service) = service_id.value() {
        // No service has the key 0.
        let id = service.key(ctx.db()).await?.unwrap_or(0);
        deploys = deploys.filter(Column::ServiceId.eq(id));
    }
    deploys.page(ctx, &PageRequest::new(first, after)?).await
}

/// The deploys of each service, newest first unless `sortBy` says otherwise.
pub(super) async fn of_services(
    services: Vec<i64>,
    args: &ServiceDeploysArgs,
    ctx: &Ctx<'_>,
) -> Result<Vec<DeployConnectionType>> {
    let ServiceDeploysArgs { sort_by, start, end, environments, first, after } = args;
    let deploys = filtered(sort_by, start, end, environments)?.of_parents(Column::ServiceId, services);
    deploys.pages(ctx, &PageRequest::new(first, after)?).await
}

/// The newest deploy of each service.
pub(super) async fn last_of_services(services: Vec<i64>, ctx: &Ctx<'_>) -> Result<Vec<Option<Deploy>>> {
    newest_first().of_parents(Column::ServiceId, services).first_per_parent(ctx.db()).await
}

/// The newest deploy of each service to production.
pub(super) async fn last_in_production(services: Vec<i64>, ctx: &Ctx<'_>) -> Result<Vec<Option<Deploy>>> {
    let condition = ctx.settings().production.condition(Column::EnvironmentKey.into_expr());
    let deploys = condition.into_iter().fold(newest_first(), List::filter);
    deploys.of_parents(Column::ServiceId, services).first_per_parent(ctx.db()).await
}

/// The condition that a deploy has one of these statuses.
fn with_status(statuses: &[DeployStatusEnum]) -> Expr {
    let stored = |status: &DeployStatusEnum| match status {
        DeployStatusEnum::NoStatus => None,
        DeployStatusEnum::Queued => Some(deploy::Status::Queued),
        DeployStatusEnum::Running => Some(deploy::Status::Running),
        DeployStatusEnum::Success => Some(deploy::Status::Succeeded),
        DeployStatusEnum::Failure => Some(deploy::Status::Failed),
        DeployStatusEnum::Canceled => Some(deploy::Status::Cancelled),
    };
    let known: BTreeSet<String> = statuses.iter().filter_map(stored).map(|status| status.to_value()).collect();
    let condition = Column::DeployStatus.into_expr().is_in(known);
    match statuses.contains(&DeployStatusEnum::NoStatus) {
        true => condition.or(Column::DeployStatus.is_null()),
        false => condition,
    }
}

fn newest_first() -> List<deploy::Entity> {
    List::new(Column::Id).newest_first(Column::DeployedAt)
}

fn filtered(
    sort_by: &MaybeUndefined<DeploySortEnum>,
    start: &MaybeUndefined<Timestamp>,
    end: &MaybeUndefined<Timestamp>,
    environments: &MaybeUndefined<Vec<String>>,
) -> Result<List<deploy::Entity>> {
    let start = start.value().map(|start| Column::DeployedAt.gte(*start));
    let end = end.value().map(|end| Column::DeployedAt.lt(*end));
    let sorted = match sort_by.value() {
        Some(DeploySortEnum::DeployedAtAsc) => List::new(Column::Id).oldest_first(Column::DeployedAt),
        Some(DeploySortEnum::DeployedAtDesc) | None => newest_first(),
    };
    let deploys = [start, end].into_iter().flatten().fold(sorted, List::filter);
    let keys = deploy::environment_keys(self::environments(environments)?);
    Ok(if keys.is_empty() { deploys } else { deploys.among(Column::EnvironmentKey, keys) })
}

/// Returns the environments that the client asks for. An empty list means all.
pub(super) fn environments(given: &MaybeUndefined<Vec<String>>) -> Result<&[String]> {
    let environments = given.value().map(Vec::as_slice).unwrap_or_default();
    if environments.len() > text::ENTRIES {
        let message = format!("at most {} environments can be given", text::ENTRIES);
        return Err(UserError::new("environments", message).into());
    }
    Ok(environments)
}

impl DeployDeleteMutation for Mutation {
    async fn deploy_delete(ctx: &MutationCtx<'_>, input: DeployDeleteInput) -> Result<DeployDeletePayload> {
        let DeployDeleteInput { id } = input;
        let db = ctx.db();
        let deploy = id::require::<deploy::Entity>(db, &id, "id").await?;
        let deleted_id = Some(DeployResolver::id(&deploy));
        db.delete(deploy).await?;
        Ok(DeployDeletePayload { deleted_deploy_id: deleted_id, deleted_id, ..Default::default() })
    }
}
