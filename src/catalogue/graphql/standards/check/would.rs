//! How services would stand with standards that are not stored: for those who are about to store them.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OnceCell;

use super::evaluate::{self, Counts, Prepared};
use super::gathered::{self, everywhere, shown};
use super::home::{self, Home, Placed};
use super::kind::description;
use super::standing;
use super::survey::{Indexes, survey};
use crate::db::RowOf;
use crate::entity::change::{Account, By};
use crate::entity::{campaign, check, filter, scorecard, service};
use crate::graphql::prelude::*;

/// The processor time that a preview may take, beside that of any request: a million results, or a few times as many.
pub const TIME: Duration = Duration::from_secs(10);

/// How services would stand, if a transaction that is rolled back were committed. Its checks are prepared in it, and
/// evaluated later, for services as they are then.
#[derive(Clone)]
pub struct StandardsPreview(Arc<Would>);

struct Would {
    /// The checks that are asked, in words.
    said: Vec<FoundCheck>,
    checks: Vec<One>,
    levels: Vec<Level>,
    selected: Selected,
    found: OnceCell<Found>,
}

/// A check as it would be.
struct One {
    prepared: Prepared,
    /// Whether it would be new, or say something else.
    is_asked: bool,
    /// The index of its level, if it would count towards the levels of services.
    index: Option<i32>,
}

/// How services stand.
struct Found {
    /// The checks that were asked.
    checks: Vec<FoundCheck>,
    /// The services at each level, as it would be, and by the id of the level, as it is.
    levels: (Vec<i64>, HashMap<i64, i64>),
}

struct FoundCheck {
    name: String,
    description: String,
    counts: Counts,
    before: Option<Counts>,
    /// The first services that would miss it, each with what it would say.
    misses: Vec<(service::Model, String)>,
}

impl FoundCheck {
    /// Of a check that was not evaluated.
    fn unevaluated(check: &check::Model) -> Self {
        let (name, description) = (check.name.clone(), description(check));
        Self { name, description, counts: Counts::default(), before: None, misses: Vec::new() }
    }
}

/// What a client selects of a preview.
#[derive(Clone, Copy)]
pub(in crate::graphql) struct Selected {
    /// More of the checks than their words.
    pub(in crate::graphql) counts: bool,
    /// The levels.
    pub(in crate::graphql) levels: bool,
}

impl fmt::Debug for StandardsPreview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a preview of {} checks", self.0.said.len())
    }
}

/// The index of a check's level, if the check counts towards the levels of services.
fn index(one: &Placed, levels: &[Level], now: Timestamp) -> Option<i32> {
    let is_counted = one.home.is_overall() && one.check.counts(now);
    levels.iter().find(|level| is_counted && level.id == one.check.level_id).map(|level| level.index)
}

impl StandardsPreview {
    /// Prepares what a transaction has changed. Without levels, only the checks that it concerns are evaluated, and none for
    /// their words alone.
    pub(in crate::graphql) async fn prepare(db: &Transaction, account: &Account, selected: Selected) -> Result<Self> {
        // The predicates of a filter are told with it.
        let rows = account.changes.iter().flat_map(|change| [Some(change.row), change.subject(By::Object)]);
        let changed: BTreeSet<(&str, i64)> = rows.flatten().map(|row| (row.table.name(), row.id)).collect();
        let is_changed = |row: RowOf| changed.contains(&(row.table.name(), row.id));
        let is_asked = |one: &Placed| {
            let filters = [one.check.filter_id, one.home.filter_id()];
            is_changed(RowOf::new::<check::Entity>(one.check.id))
                || filters.into_iter().flatten().any(|id| is_changed(RowOf::new::<filter::Entity>(id)))
                || match &one.home {
                    Home::Rubric => false,
                    Home::Scorecard(own) => is_changed(RowOf::new::<scorecard::Entity>(own.id)),
                    Home::Campaign(own) => is_changed(RowOf::new::<campaign::Entity>(own.id)),
                }
        };
        let (now, levels) = (Timestamp::now(), standing::in_order(db).await?);
        let mut placed = home::place(db, evaluate::checks(db).await?).await?;
        placed.retain(|one| is_asked(one) || selected.levels && index(one, &levels, now).is_some());
        let said = placed.iter().filter(|one| is_asked(one)).map(|one| FoundCheck::unevaluated(&one.check)).collect();
        if !selected.counts && !selected.levels {
            placed.clear();
        }
        let of = |one: &Placed| (is_asked(one), index(one, &levels, now));
        let known: Vec<(bool, Option<i32>)> = placed.iter().map(of).collect();
        let prepared = evaluate::prepare(placed, everywhere(db)).await?;
        let one = |(prepared, (is_asked, index))| One { prepared, is_asked, index };
        let checks = prepared.into_iter().zip(known).map(one).collect();
        Ok(Self(Arc::new(Would { said, checks, levels, selected, found: OnceCell::new() })))
    }
}

impl Would {
    /// How services stand, and would stand. Both are read in one pass, at the first call.
    async fn found(&self, ctx: &Ctx<'_>) -> Result<&Found> {
        self.found.get_or_try_init(async || self.find(ctx).await).await
    }

    async fn find(&self, ctx: &Ctx<'_>) -> Result<Found> {
        ctx.allow(TIME);
        let (db, now) = (ctx.db(), Timestamp::now());
        let levels = standing::in_order(db).await?;
        let present = gathered::all(ctx).await?;
        let indexes: HashMap<i64, Option<i32>> =
            present.iter().map(|one| (one.check.id, index(one, &levels, now))).collect();
        let index_of = |one: &Prepared| indexes.get(&one.check.id).copied().flatten();
        // A check that would stay as it is says the same before and after. The others are evaluated as they are, too.
        let stays: BTreeSet<i64> =
            self.checks.iter().filter(|one| !one.is_asked).map(|one| one.prepared.check.id).collect();
        let is_asked = |id: i64| self.checks.iter().any(|own| own.is_asked && own.prepared.check.id == id);
        let others = present.iter().filter(|one| {
            let id = one.check.id;
            let counts = || self.selected.levels && indexes.get(&id).is_some_and(Option::is_some);
            !stays.contains(&id) && (is_asked(id) || counts())
        });
        let others = evaluate::prepare(others.cloned().collect(), everywhere(db)).await?;
        let own = self.checks.iter().map(|one| {
            let now = if one.is_asked { None } else { index_of(&one.prepared) };
            (&one.prepared, [now, one.index])
        });
        let all: Vec<(&Prepared, Indexes)> = own.chain(others.iter().map(|one| (one, [index_of(one), None]))).collect();
        let found = survey(db, &all).await?;
        let (_, counts) = found.counts.split_at(self.checks.len());
        let before: HashMap<i64, Counts> = others.iter().map(|one| one.check.id).zip(counts.iter().copied()).collect();
        let mut checks = Vec::new();
        for ((one, counts), missing) in self.checks.iter().zip(&found.counts).zip(&found.missing) {
            let One { prepared, is_asked: true, .. } = one else { continue };
            let mut said = evaluate::results(db, &[prepared], missing).await?;
            let services = service::Entity::by_ids(db, missing.iter().map(|id| Some(*id))).await?;
            let miss = |service: service::Model| {
                let message = said.remove(&service.id)?.pop()?.message;
                Some((service, message))
            };
            checks.push(FoundCheck {
                counts: *counts,
                before: before.get(&prepared.check.id).copied(),
                misses: services.into_iter().flatten().filter_map(miss).collect(),
                ..FoundCheck::unevaluated(&prepared.check)
            });
        }
        let now = levels.iter().map(|level| level.id).zip(found.at_levels(false, &levels)).collect();
        Ok(Found { checks, levels: (found.at_levels(true, &self.levels), now) })
    }
}

fn counted(Counts { services, passed, pending }: Counts) -> StandardsPreviewCounts {
    StandardsPreviewCounts {
        passed: shown(passed),
        failed: shown(services - passed - pending),
        pending: shown(pending),
    }
}

fn check_of(one: &FoundCheck) -> StandardsPreviewCheck {
    let FoundCheck { name, description, counts, before, misses } = one;
    let miss = |(service, message): &(service::Model, String)| StandardsPreviewMiss {
        service: service.clone(),
        message: message.clone(),
    };
    StandardsPreviewCheck {
        name: name.clone(),
        description: description.clone(),
        counts: counted(*counts),
        before: before.map(counted),
        misses: misses.iter().map(miss).collect(),
    }
}

impl StandardsPreviewResolver for StandardsPreview {
    async fn checks(previews: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<StandardsPreviewCheck>>> {
        let mut all = Vec::with_capacity(previews.len());
        for Self(would) in previews {
            let checks = if would.selected.counts { &would.found(ctx).await?.checks } else { &would.said };
            all.push(checks.iter().map(check_of).collect());
        }
        Ok(all)
    }

    async fn levels(previews: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<StandardsPreviewLevel>>> {
        let mut all = Vec::with_capacity(previews.len());
        for Self(would) in previews {
            let (after, before) = &would.found(ctx).await?.levels;
            let level = |(level, after): (&Level, &i64)| StandardsPreviewLevel {
                name: level.name.clone(),
                services: shown(*after),
                before: before.get(&level.id).copied().map(shown),
            };
            all.push(would.levels.iter().zip(after).map(level).collect());
        }
        Ok(all)
    }
}
