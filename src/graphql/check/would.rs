//! How services would stand with standards that are not stored: for those who are about to store them.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use super::evaluate::{self, Counts, Prepared};
use super::gathered::{self, everywhere, shown};
use super::home::{self, Home, Placed};
use super::standing;
use crate::db::{RowOf, Transaction};
use crate::entity::change::{Account, By};
use crate::entity::{ByIds, Timestamp, campaign, check, filter, scorecard, service};
use crate::error::Result;
use crate::graphql::context::Ctx;
use crate::graphql::schema::*;
use crate::graphql::types::Level;

/// How services would stand, if a transaction that is rolled back were committed. Its checks are prepared in it, and
/// evaluated later, for services as they are then.
#[derive(Clone)]
pub struct StandardsPreview(Arc<Would>);

struct Would {
    /// The checks that would be new, or say something else.
    checks: Vec<Prepared>,
    /// Those that would count towards the levels of services.
    overall: Vec<Prepared>,
    levels: Vec<Level>,
}

impl fmt::Debug for StandardsPreview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a preview of {} checks", self.0.checks.len())
    }
}

impl StandardsPreview {
    /// Prepares what a transaction has changed.
    pub(in crate::graphql) async fn of(db: &Transaction, account: &Account) -> Result<Self> {
        // The predicates of a filter are told with it.
        let rows = account.changes.iter().flat_map(|change| [Some(change.row), change.subject(By::Object)]);
        let changed: BTreeSet<(&str, i64)> = rows.flatten().map(|row| (row.table.name(), row.id)).collect();
        let is_changed = |row: RowOf| changed.contains(&(row.table.name(), row.id));
        let is_asked = |one: &Placed| {
            let filters = [one.check.filter_id, one.home.filter_id()];
            is_changed(RowOf::to::<check::Entity>(one.check.id))
                || filters.into_iter().flatten().any(|id| is_changed(RowOf::to::<filter::Entity>(id)))
                || match &one.home {
                    Home::Rubric => false,
                    Home::Scorecard(own) => is_changed(RowOf::to::<scorecard::Entity>(own.id)),
                    Home::Campaign(own) => is_changed(RowOf::to::<campaign::Entity>(own.id)),
                }
        };
        let now = Timestamp::now();
        let placed = home::place(db, evaluate::all(db).await?).await?;
        let overall = placed.iter().filter(|one| one.home.is_overall() && one.check.counts(now)).cloned().collect();
        let asked = placed.into_iter().filter(is_asked).collect();
        Ok(Self(Arc::new(Would {
            checks: evaluate::prepare(asked, everywhere(db)).await?,
            overall: evaluate::prepare(overall, everywhere(db)).await?,
            levels: standing::in_order(db).await?,
        })))
    }
}

fn counted(Counts { services, passed, pending }: Counts) -> StandardsPreviewCounts {
    StandardsPreviewCounts {
        passed: shown(passed),
        failed: shown(services - passed - pending),
        pending: shown(pending),
    }
}

async fn checks_of(would: &Would, ctx: &Ctx<'_>) -> Result<Vec<StandardsPreviewCheck>> {
    let after = evaluate::counts(ctx.db(), &would.checks).await?;
    let is_there = |one: &&Placed| would.checks.iter().any(|own| own.check.id == one.check.id);
    let there: Vec<Placed> = gathered::all(ctx).await?.iter().filter(is_there).cloned().collect();
    let before = gathered::counts(ctx, &there).await?;
    let before: HashMap<i64, Counts> = there.iter().map(|one| one.check.id).zip(before).collect();
    let mut checks = Vec::with_capacity(would.checks.len());
    for (one, counts) in would.checks.iter().zip(after) {
        let missing = evaluate::failing(ctx.db(), one).await?;
        let services = service::Entity::by_ids(ctx.db(), missing.iter().map(|(id, ..)| Some(*id))).await?;
        let miss = |((_, _, outcome), service): ((i64, String, evaluate::Outcome), Option<service::Model>)| {
            Some(StandardsPreviewMiss { service: service?, message: outcome.message })
        };
        checks.push(StandardsPreviewCheck {
            name: one.check.name.clone(),
            counts: counted(counts),
            before: before.get(&one.check.id).copied().map(counted),
            misses: missing.into_iter().zip(services).filter_map(miss).collect(),
        });
    }
    Ok(checks)
}

async fn levels_of(would: &Would, ctx: &Ctx<'_>) -> Result<Vec<StandardsPreviewLevel>> {
    let size = gathered::sizes(ctx, &[None]).await?.pop().unwrap_or_default();
    let after = gathered::at_levels(ctx.db(), &would.overall, size, &would.levels).await?;
    let before = gathered::services_at_levels(ctx).await?;
    let level = |(level, after): (&Level, i64)| StandardsPreviewLevel {
        name: level.name.clone(),
        services: shown(after),
        before: before.get(&level.id).copied().map(shown),
    };
    Ok(would.levels.iter().zip(after).map(level).collect())
}

impl StandardsPreviewResolver for StandardsPreview {
    async fn checks(previews: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<StandardsPreviewCheck>>> {
        let mut all = Vec::with_capacity(previews.len());
        for Self(would) in previews {
            all.push(checks_of(would, ctx).await?);
        }
        Ok(all)
    }

    async fn levels(previews: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<StandardsPreviewLevel>>> {
        let mut all = Vec::with_capacity(previews.len());
        for Self(would) in previews {
            all.push(levels_of(would, ctx).await?);
        }
        Ok(all)
    }
}
