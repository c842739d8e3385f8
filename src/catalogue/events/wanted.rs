//! What somebody wants to know of changes: which kinds of events, and whether there are checks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sea_orm::{ColumnTrait, EntityTrait, Iterable, QueryFilter, QuerySelect, QueryTrait};

use crate::db::{self, Read, ReadHandle};
use crate::entity::check;
use crate::entity::event::Kind;
use crate::entity::event_subscription::{Column, Entity};

/// The kinds of events that a subscription may want, and whether there are checks. Cheap to clone: all clones share it.
///
/// A kind that nobody wants may be among them: such an event is stored for nothing. One that somebody wants is among them
/// as soon as a subscription is made by this process, or [was read](Wanted::read) after another one made it. The same holds
/// for checks.
#[derive(Debug, Clone, Default)]
pub struct Wanted(Arc<AtomicU64>);

/// The bits of the kinds.
const KINDS: u64 = 0x7fff_ffff;

/// The bit that says that there are checks.
const CHECKS: u64 = 0x8000_0000;

/// All bits. Those above count how often some were added.
const BITS: u64 = KINDS | CHECKS;

impl Wanted {
    /// All kinds and checks, for a process that has not read which ones are wanted.
    pub fn all() -> Self {
        let all = Self::default();
        all.add(&Kind::iter().collect::<Vec<_>>());
        all.add_checks();
        all
    }

    /// Whether there may be checks.
    pub fn has_checks(&self) -> bool {
        self.0.load(Ordering::Relaxed) & CHECKS != 0
    }

    /// Notes that there are checks, before the first one is committed.
    pub fn add_checks(&self) {
        self.add_bits(CHECKS);
    }

    /// Whether no kind is wanted.
    pub fn is_none(&self) -> bool {
        self.0.load(Ordering::Relaxed) & KINDS == 0
    }

    /// Whether any of these kinds is wanted.
    pub fn any(&self, kinds: &[Kind]) -> bool {
        self.0.load(Ordering::Relaxed) & bits(kinds) != 0
    }

    /// Adds kinds, before the subscription that wants them is committed.
    pub fn add(&self, kinds: &[Kind]) {
        self.add_bits(bits(kinds));
    }

    fn add_bits(&self, bits: u64) {
        self.0.fetch_or(bits, Ordering::SeqCst);
        self.0.fetch_add(BITS + 1, Ordering::SeqCst);
    }

    /// Reads what all subscriptions want, and whether there are checks.
    pub async fn read(&self, db: &dyn ReadHandle) -> Result<(), db::Error> {
        let seen = self.0.load(Ordering::SeqCst);
        let enabled = Entity::find().select_only().column(Column::Kinds).filter(Column::Enabled.eq(true));
        let kinds: Vec<String> = db.rows(enabled.as_query(), |row| row.get(0)).await?;
        let wanted = kinds.iter().flat_map(|kinds| kinds.split(' ')).filter_map(Kind::from_word);
        let any = check::Entity::find().select_only().column(check::Column::Id).limit(1);
        let any: Vec<i64> = db.rows(any.as_query(), |row| row.get(0)).await?;
        let checks = if any.is_empty() { 0 } else { CHECKS };
        let wanted = seen & !BITS | checks | bits(&wanted.collect::<Vec<_>>());
        // If a subscription was added meanwhile, it may not be among them: leave that to the next reading.
        let _ = self.0.compare_exchange(seen, wanted, Ordering::SeqCst, Ordering::SeqCst);
        Ok(())
    }
}

fn bits(kinds: &[Kind]) -> u64 {
    kinds.iter().fold(0, |bits, kind| bits | 1 << *kind as u64)
}
