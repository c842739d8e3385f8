//! Metrics of what the catalogue lacks: services without an owner, open suggestions, and failed deploys. Read from the
//! database when `/metrics` is asked, at most once a minute.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{ActiveEnum, ColumnTrait};
use tokio::sync::Mutex;
use tracing::warn;

use crate::budget::{Budget, Limits};
use crate::db::{self, Db, Read, ReadHandle};
use crate::entity::deploy::{self, Environments, Status};
use crate::entity::{Timestamp, service, suggestion, tier};

/// How long figures are shown before they are read again.
pub const FRESH: Duration = Duration::from_secs(60);
/// The maximum number of services, of suggestions, and of deploys that are counted.
pub const COUNTED: u64 = 10_000;
/// The time to read the figures in: whoever watches the server must not wait for its database.
const TIME: Duration = Duration::from_secs(1);
/// The period of failed deploys, in microseconds.
const DAY: i64 = 24 * 3_600 * 1_000_000;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TierLabels {
    tier: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FailureLabels {
    environment: &'static str,
    tier: String,
}

/// The metrics.
#[derive(Debug, Default)]
pub struct Standing {
    unowned: Family<TierLabels, Gauge>,
    suggestions: Gauge,
    failures: Family<FailureLabels, Gauge>,
    /// When they were read. Locked while they are.
    read_at: Mutex<Option<Instant>>,
}

impl Standing {
    /// Registers the metrics.
    pub fn register(&self, to: &mut Registry) {
        let help = "Services without an owner, by the alias of their tier";
        to.register("rollcall_services_without_owner", help, self.unowned.clone());
        let help = "Suggestions that nobody has decided about";
        to.register("rollcall_open_suggestions", help, self.suggestions.clone());
        let help =
            "Deploys of services that failed in the last 24 hours, to production or elsewhere, by the services' tier";
        to.register("rollcall_failed_deploys_last_day", help, self.failures.clone());
    }

    /// Reads the figures, unless they are fresh. Keeps the old ones if they cannot be read.
    pub async fn refresh(&self, db: &Db, limits: Limits, production: &Environments) {
        let mut read_at = self.read_at.lock().await;
        if read_at.is_some_and(|at| at.elapsed() < FRESH) {
            return;
        }
        *read_at = Some(Instant::now());
        let limits = Limits { time: limits.time.min(TIME), ..limits };
        let budget = Arc::new(Budget::new(limits, Instant::now() + limits.time, false, Duration::ZERO));
        let read = async {
            let snapshot = db.begin_read(Some(Arc::clone(&budget))).await?;
            budget.metered(self.read(&snapshot, production)).await
        };
        match budget.within(read).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => warn!(error = error.reason(), "the figures of the catalogue cannot be read"),
            Err(_) => warn!("the figures of the catalogue took too long to read"),
        }
    }

    async fn read(&self, db: &dyn ReadHandle, production: &Environments) -> Result<(), db::Error> {
        let tiers = Query::select()
            .columns([tier::Column::Id.as_column_ref(), tier::Column::Alias.as_column_ref()])
            .from(tier::Entity)
            .take();
        let tiers: HashMap<i64, String> =
            db.rows(&tiers, |row| Ok((row.get(0)?, row.get(1)?))).await?.into_iter().collect();
        let alias = |id: Option<i64>| id.and_then(|id| tiers.get(&id)).map_or("none".to_owned(), String::clone);

        let unowned = Query::select()
            .column(service::Column::TierId.as_column_ref())
            .from(service::Entity)
            .and_where(service::Column::OwnerId.is_null())
            .limit(COUNTED)
            .take();
        self.unowned.clear();
        for tier in db.rows(&unowned, |row| row.get(0)).await? {
            self.unowned.get_or_create(&TierLabels { tier: alias(tier) }).inc();
        }

        let open = Query::select()
            .column(suggestion::Column::Id.as_column_ref())
            .from(suggestion::Entity)
            .and_where(suggestion::Column::State.eq(suggestion::State::Open))
            .limit(COUNTED)
            .take();
        self.suggestions.set(db.count_rows(open).await?.try_into().unwrap_or(i64::MAX));

        let since = Timestamp::from_micros(Timestamp::now().as_micros() - DAY);
        let of_service =
            Expr::col(service::Column::Id.as_column_ref()).eq(Expr::col(deploy::Column::ServiceId.as_column_ref()));
        let recent = Query::select()
            .columns([
                deploy::Column::EnvironmentKey.as_column_ref(),
                deploy::Column::DeployStatus.as_column_ref(),
                service::Column::TierId.as_column_ref(),
            ])
            .from(deploy::Entity)
            .inner_join(service::Entity, of_service)
            .and_where(deploy::Column::DeployedAt.gte(since))
            .limit(COUNTED)
            .take();
        self.failures.clear();
        let failed = Status::Failed.to_value();
        let recent: Vec<(Option<String>, Option<String>, Option<i64>)> =
            db.rows(&recent, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).await?;
        for (environment, status, tier) in recent {
            if status.as_ref() == Some(&failed) {
                let environment = if production.contain(environment.as_deref()) { "production" } else { "other" };
                self.failures.get_or_create(&FailureLabels { environment, tier: alias(tier) }).inc();
            }
        }
        Ok(())
    }
}
