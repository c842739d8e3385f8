//! Computes and writes the figures of a period.
//!
//! What a period may cost is limited: its numbers are held in memory, and its rows are written in one transaction. A period
//! above one of the [`FiguresLimits`] has a row that says so, [`MANY`], and its deploys are read instead.

use std::collections::{BTreeMap, HashMap};

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ExprTrait, Func, Order, Query, SelectStatement};

use super::super::recoveries::{SUCCESS, is, recoveries_of_earlier};
use super::durations;
use super::{ALL, FIGURES, MANY, Period, name, period_of, seconds, start_of, time};
use crate::db::{self, Read, ReadHandle, Row, Write, WriteHandle};
use crate::entity::deploy::{self, Column, Status};
use crate::entity::{TimeCursor, Timestamp};

/// The number of deploys read at once.
const PAGE: u64 = 5_000;

/// What a period with figures may have.
#[derive(Debug, Clone, Copy)]
pub struct FiguresLimits {
    /// Deploys, with the failures of earlier periods that these recover. A period with more has no figures.
    pub deploys: u64,
    /// Environments. A period with more has only the figures of all deploys.
    pub environments: usize,
}

impl Default for FiguresLimits {
    fn default() -> Self {
        Self { deploys: 500_000, environments: 1_000 }
    }
}

/// The figures of a period, by the name of the environment.
#[derive(Default)]
pub(super) struct Figures {
    all: OfEnvironment,
    by_environment: BTreeMap<String, OfEnvironment>,
}

/// The figures of a period and an environment.
#[derive(Default)]
struct OfEnvironment {
    failures: i64,
    deploys: i64,
    successes: i64,
    lead_times: Vec<u64>,
    /// Numbers of [`durations::recovery`].
    recovery_times: Vec<u64>,
}

impl Figures {
    /// Computes the figures of a period. `None` if it has too many deploys.
    pub async fn compute(
        snapshot: &dyn ReadHandle,
        period: Period,
        limits: &FiguresLimits,
    ) -> Result<Option<Self>, db::Error> {
        let mut figures = Self::default();
        let Some(mut left) = figures.add_recoveries_of_earlier(snapshot, period, limits.deploys).await? else {
            return Ok(None);
        };
        let mut failures = HashMap::new();
        let mut after = (Timestamp::from_micros(start_of(period)), i64::MIN);
        loop {
            let page = snapshot.rows(&page(period, after), read).await?;
            let Some(last) = page.last() else { return Ok(Some(figures)) };
            after = (last.at, last.id);
            match left.checked_sub(page.len() as u64) {
                Some(rest) => left = rest,
                None => return Ok(None),
            }
            for deploy in page {
                figures.add(deploy, &mut failures);
            }
        }
    }

    /// The number of deploys that count.
    pub fn deploys(&self) -> i64 {
        self.all.deploys + self.all.failures
    }

    /// Adds the recovery times of failures before the period. Returns how many deploys the period may have then; `None` if
    /// these are too many already.
    async fn add_recoveries_of_earlier(
        &mut self,
        snapshot: &dyn ReadHandle,
        period: Period,
        limit: u64,
    ) -> Result<Option<u64>, db::Error> {
        let mut left = limit;
        for is_named in [true, false] {
            let recoveries = recoveries_of_earlier(is_named, time(start_of(period)))
                .and_where(Expr::col((SUCCESS, Column::DeployedAt)).lt(start_of(period + 1)))
                .limit(left + 1)
                .take();
            let read = |row: &Row<'_>| Ok((row.get(0)?, time(row.get(2)?), time(row.get(3)?)));
            let found = snapshot.rows::<(Option<String>, Timestamp, Timestamp), _>(&recoveries, read).await?;
            match left.checked_sub(found.len() as u64) {
                Some(rest) => left = rest,
                None => return Ok(None),
            }
            for (environment_key, failed, recovered) in found {
                self.add_recovery(environment_key.as_deref(), failed, recovered);
            }
        }
        Ok(Some(left))
    }

    /// Adds the next deploy of the period. `failures` has the times of the period's failures that are not recovered yet, by
    /// service and environment.
    fn add(&mut self, deploy: Deploy, failures: &mut HashMap<(i64, Option<String>), Vec<Timestamp>>) {
        let Deploy { at, service_id, environment_key, has_failed, has_succeeded, counts, committed_at, .. } = deploy;
        if !counts {
            return;
        }
        let lead_time = committed_at.map(|commit| at.as_micros() - commit.as_micros()).filter(|time| *time >= 0);
        self.each(environment_key.as_deref(), |figures| match has_failed {
            true => figures.failures += 1,
            false => {
                figures.deploys += 1;
                figures.successes += i64::from(has_succeeded);
                figures.lead_times.extend(lead_time.map(seconds));
            }
        });
        let place = (service_id, environment_key);
        if has_succeeded {
            for failed in failures.remove(&place).unwrap_or_default() {
                self.add_recovery(place.1.as_deref(), failed, at);
            }
        } else if has_failed {
            failures.entry(place).or_default().push(at);
        }
    }

    fn add_recovery(&mut self, environment_key: Option<&str>, failed: Timestamp, recovered: Timestamp) {
        let periods = u64::try_from(period_of(recovered) - period_of(failed)).unwrap_or_default();
        let recovery = durations::recovery(seconds(recovered.as_micros() - failed.as_micros()), periods);
        self.each(environment_key, |figures| figures.recovery_times.push(recovery));
    }

    /// Applies a change to the figures of all deploys and to those of the environment.
    fn each(&mut self, environment_key: Option<&str>, change: impl Fn(&mut OfEnvironment)) {
        change(&mut self.all);
        change(self.by_environment.entry(name(environment_key)).or_default());
    }

    /// Writes the figures of a period. `None` says that it has too many deploys.
    pub async fn write(
        figures: Option<Self>,
        db: &dyn WriteHandle,
        period: Period,
        limits: &FiguresLimits,
    ) -> Result<(), db::Error> {
        let mut rows = BTreeMap::new();
        match figures {
            None => drop(rows.insert(MANY.to_owned(), OfEnvironment::default())),
            Some(Self { all, by_environment }) => {
                rows = match by_environment.len() > limits.environments {
                    true => BTreeMap::from([(MANY.to_owned(), OfEnvironment::default())]),
                    false => by_environment,
                };
                rows.insert(ALL.to_owned(), all);
            }
        }
        // A row at a time: a period can have many bytes, and there are few environments.
        for (environment, figures) in rows {
            figures.write(db, environment, period).await?;
        }
        Ok(())
    }
}

impl OfEnvironment {
    async fn write(self, db: &dyn WriteHandle, environment: String, period: Period) -> Result<(), db::Error> {
        let Self { failures, deploys, successes, mut lead_times, mut recovery_times } = self;
        let mut insert = Query::insert();
        insert.into_table(FIGURES).columns([
            "environment",
            "period",
            "failures",
            "deploys",
            "successes",
            "lead_times",
            "recovery_times",
        ]);
        insert.values_panic([
            environment.into(),
            period.into(),
            failures.into(),
            deploys.into(),
            successes.into(),
            durations::write(&mut lead_times)?.into(),
            durations::write(&mut recovery_times)?.into(),
        ]);
        db.execute::<super::Tables>(&insert).await?;
        Ok(())
    }
}

/// A deploy of the period.
struct Deploy {
    at: Timestamp,
    id: i64,
    service_id: i64,
    environment_key: Option<String>,
    has_failed: bool,
    has_succeeded: bool,
    /// Whether it failed, succeeded, or was sent without a status.
    counts: bool,
    committed_at: Option<Timestamp>,
}

/// Selects the next deploys of a period after a place in the order of time, for [`read`].
fn page(period: Period, after: TimeCursor) -> SelectStatement {
    let own = |column: Column| Expr::col((deploy::Entity, column));
    let status = |status| Expr::case(own(Column::DeployStatus).eq(is(status)), 1).finally(0);
    let place = Expr::tuple([own(Column::DeployedAt), own(Column::Id)]);
    Query::select()
        .columns([Column::DeployedAt, Column::Id, Column::EnvironmentKey])
        .expr(status(Status::Failed))
        .expr(status(Status::Succeeded))
        .expr(Expr::case(own(Column::Status).is_null(), 1).finally(0))
        .expr(Func::coalesce([own(Column::CommitAuthoringDate), own(Column::CommittedAt)]))
        .column(Column::ServiceId)
        .from(deploy::Entity)
        .and_where(own(Column::ServiceId).is_not_null())
        .and_where(place.gt(Expr::tuple([Expr::value(after.0), Expr::value(after.1)])))
        // Implied, but an index needs it as its start.
        .and_where(own(Column::DeployedAt).gte(after.0))
        .and_where(own(Column::DeployedAt).lt(start_of(period + 1)))
        .order_by(Column::DeployedAt, Order::Asc)
        .order_by(Column::Id, Order::Asc)
        .limit(PAGE)
        .take()
}

fn read(row: &Row<'_>) -> Result<Deploy, db::Error> {
    let holds = |place| row.get::<i32>(place).map(|number| number != 0);
    let (has_failed, has_succeeded, has_no_status) = (holds(3)?, holds(4)?, holds(5)?);
    Ok(Deploy {
        at: time(row.get(0)?),
        id: row.get(1)?,
        service_id: row.get(7)?,
        environment_key: row.get(2)?,
        has_failed,
        has_succeeded,
        counts: has_failed || has_succeeded || has_no_status,
        committed_at: row.get::<Option<i64>>(6)?.map(time),
    })
}
