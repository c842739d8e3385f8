//! DORA metrics, as clients ask for them. [`metrics`] computes those of services and teams, [`figures`] those of all.

use std::collections::HashMap;

use async_graphql::MaybeUndefined;

use super::context::Ctx;
use super::deploy;
use super::schema::*;
use super::types::{Domain, Service, System, Team};
use crate::deploy::figures;
use crate::deploy::metrics::{self, Metrics, Percentiles, Wanted, Whose, Window};
use crate::entity::Timestamp;
use crate::entity::deploy::Environments;
use crate::error::{Result, UserError};

const DAY: i64 = 86_400_000_000;
/// The length of the window if the client gives none.
const DEFAULT_LENGTH: i64 = 30 * DAY;

/// The metrics of each service.
pub(super) async fn of_services(
    services: &[&Service],
    args: &ServiceDeployMetricsArgs,
    ctx: &Ctx<'_>,
) -> Result<Vec<DeployMetrics>> {
    let ServiceDeployMetricsArgs { start, end, environments } = args;
    let window = window(start, end, environments, ctx)?;
    let ids: Vec<i64> = services.iter().map(|service| service.id).collect();
    let found = metrics::measure(ctx.db(), Whose::Services(&ids), &window, wanted(ctx)).await?;
    Ok(answers(&found, &window, &ids))
}

/// The metrics of each team.
pub(super) async fn of_teams(
    teams: &[&Team],
    args: &TeamDeployMetricsArgs,
    ctx: &Ctx<'_>,
) -> Result<Vec<DeployMetrics>> {
    let TeamDeployMetricsArgs { start, end, environments } = args;
    let window = window(start, end, environments, ctx)?;
    let ids: Vec<i64> = teams.iter().map(|team| team.id).collect();
    let found = metrics::measure(ctx.db(), Whose::Teams(&ids), &window, wanted(ctx)).await?;
    Ok(answers(&found, &window, &ids))
}

/// The metrics of each system.
pub(super) async fn of_systems(
    systems: &[&System],
    args: &SystemDeployMetricsArgs,
    ctx: &Ctx<'_>,
) -> Result<Vec<DeployMetrics>> {
    let SystemDeployMetricsArgs { start, end, environments } = args;
    let window = window(start, end, environments, ctx)?;
    let ids: Vec<i64> = systems.iter().map(|system| system.id).collect();
    let found = metrics::measure(ctx.db(), Whose::Systems(&ids), &window, wanted(ctx)).await?;
    Ok(answers(&found, &window, &ids))
}

/// The metrics of each domain.
pub(super) async fn of_domains(
    domains: &[&Domain],
    args: &DomainDeployMetricsArgs,
    ctx: &Ctx<'_>,
) -> Result<Vec<DeployMetrics>> {
    let DomainDeployMetricsArgs { start, end, environments } = args;
    let window = window(start, end, environments, ctx)?;
    let ids: Vec<i64> = domains.iter().map(|domain| domain.id).collect();
    let found = metrics::measure(ctx.db(), Whose::Domains(&ids), &window, wanted(ctx)).await?;
    Ok(answers(&found, &window, &ids))
}

/// The metrics of all services together.
pub(super) async fn of_account(args: &AccountDeployMetricsArgs, ctx: &Ctx<'_>) -> Result<DeployMetrics> {
    let AccountDeployMetricsArgs { start, end, environments } = args;
    let window = window(start, end, environments, ctx)?;
    let found = figures::measure(ctx.db(), &window, wanted(ctx)).await?;
    Ok(answer(&found, &window))
}

fn window(
    start: &MaybeUndefined<Timestamp>,
    end: &MaybeUndefined<Timestamp>,
    environments: &MaybeUndefined<Vec<String>>,
    ctx: &Ctx<'_>,
) -> Result<Window> {
    let end = end.value().copied().unwrap_or_else(Timestamp::now);
    let default_start = || Timestamp::from_micros(end.as_micros() - DEFAULT_LENGTH);
    let start = start.value().copied().unwrap_or_else(default_start);
    if start >= end {
        return Err(UserError::new("start", "start must be before end (default: now)").into());
    }
    let environments = match environments.value() {
        Some(_) => Environments::named(deploy::environments(environments)?),
        None => ctx.settings().production.clone(),
    };
    Ok(Window { start, end, environments })
}

/// The durations that the client selects.
fn wanted(ctx: &Ctx<'_>) -> Wanted {
    Wanted { lead_time: ctx.selects("changeLeadTime"), recovery_time: ctx.selects("failedDeploymentRecoveryTime") }
}

fn answers(found: &HashMap<i64, Metrics>, window: &Window, ids: &[i64]) -> Vec<DeployMetrics> {
    let none = Metrics::default();
    ids.iter().map(|id| answer(found.get(id).unwrap_or(&none), window)).collect()
}

fn answer(found: &Metrics, window: &Window) -> DeployMetrics {
    let Metrics { deploys, succeeded, failed, lead_time, recovery_time } = found;
    let Window { start, end, environments: _ } = *window;
    let days = (end.as_micros() - start.as_micros()) as f64 / DAY as f64;
    let finished = succeeded + failed;
    DeployMetrics {
        start,
        end,
        deploy_count: clamped(*deploys),
        succeeded_count: clamped(*succeeded),
        failed_count: clamped(*failed),
        deployment_frequency: *deploys as f64 / days,
        change_lead_time: lead_time.map(percentiles),
        change_failure_rate: (finished > 0).then(|| *failed as f64 / finished as f64),
        failed_deployment_recovery_time: recovery_time.map(percentiles),
    }
}

fn percentiles(Percentiles { count, median, percentile90 }: Percentiles) -> DurationPercentiles {
    DurationPercentiles { count: clamped(count), median: clamped(median), percentile90: clamped(percentile90) }
}

fn clamped(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
