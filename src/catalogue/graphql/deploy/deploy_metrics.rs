//! DORA metrics, as clients ask for them. [`metrics`] computes those of services and teams, [`figures`] those of all.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio::task::yield_now;

use crate::deploy::figures;
use crate::deploy::metrics::{self, Metrics, Percentiles, Wanted, Whose, Window};
use crate::entity::deploy::Environments;
use crate::graphql::deploy;
use crate::graphql::prelude::*;

const DAY: i64 = 86_400_000_000;
/// The length of the window if the client gives none.
const DEFAULT_LENGTH: i64 = 30 * DAY;

/// The arguments `start`, `end` and `environments`.
type Asked<'a> = (&'a MaybeUndefined<Timestamp>, &'a MaybeUndefined<Timestamp>, &'a MaybeUndefined<Vec<String>>);

/// The metrics of each row with one of these ids, in their order.
pub(in crate::graphql) async fn of_each<'a>(
    whose: impl FnOnce(&'a [i64]) -> Whose<'a>,
    ids: &'a [i64],
    asked: Asked<'_>,
    ctx: &Ctx<'_>,
) -> Result<Vec<DeployMetrics>> {
    let window = window(asked, ctx)?;
    let found = metrics::measure(ctx.db(), whose(ids), &window, wanted(ctx)).await?;
    let none = Metrics::default();
    Ok(ids.iter().map(|id| answer(found.get(id).unwrap_or(&none), &window)).collect())
}

/// The metrics of all services together. Fields of one level ask at the same time, such as those of several months: the first
/// of them reads for all that want the same of the same environments.
pub(in crate::graphql) async fn of_account(args: &AccountDeployMetricsArgs, ctx: &Ctx<'_>) -> Result<DeployMetrics> {
    let AccountDeployMetricsArgs { start, end, environments } = args;
    let window = window((start, end, environments), ctx)?;
    let wanted = wanted(ctx);
    let asking = ctx.kept::<Asking>();
    let answered = asking.ask(&window, wanted);
    // Meanwhile, the other fields ask.
    yield_now().await;
    let alike = asking.take_alike(&window.environments, wanted);
    if !alike.is_empty() {
        let windows: Vec<_> = alike.iter().map(|one| one.window.start..one.window.end).collect();
        let found = figures::measure_each(ctx.db(), &windows, &window.environments, wanted, figures::KEPT).await?;
        for (one, found) in alike.into_iter().zip(found) {
            // An error says that the field waits no more.
            let _ = one.answer.send(found);
        }
    }
    let found = match answered.await {
        Ok(found) => found,
        // The field that was to read has failed.
        Err(_) => figures::measure(ctx.db(), &window, wanted).await?,
    };
    Ok(answer(&found, &window))
}

/// The windows of all services that fields of a request ask for, until one of these fields reads.
#[derive(Default)]
struct Asking(Mutex<Vec<Waiting>>);

struct Waiting {
    window: Window,
    wanted: Wanted,
    answer: oneshot::Sender<Metrics>,
}

impl Asking {
    fn lock(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for a window. Returns where the answer arrives.
    fn ask(&self, window: &Window, wanted: Wanted) -> oneshot::Receiver<Metrics> {
        let (answer, answered) = oneshot::channel();
        self.lock().push(Waiting { window: window.clone(), wanted, answer });
        answered
    }

    /// Takes those that can be read together. Empty if another field reads them.
    fn take_alike(&self, environments: &Environments, wanted: Wanted) -> Vec<Waiting> {
        let is_alike = |one: &mut Waiting| one.wanted == wanted && one.window.environments == *environments;
        self.lock().extract_if(.., is_alike).collect()
    }
}

/// The window that a client asks for.
fn window((start, end, environments): Asked<'_>, ctx: &Ctx<'_>) -> Result<Window> {
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
