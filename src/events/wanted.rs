//! Which kinds of events somebody wants.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sea_orm::{ColumnTrait, EntityTrait, Iterable, QueryFilter, QuerySelect, QueryTrait};

use crate::db::{self, Read, ReadHandle};
use crate::entity::event::Kind;
use crate::entity::event_subscription::{Column, Entity};

/// The kinds of events that a subscription may want. Cheap to clone: all clones share it.
///
/// A kind that nobody wants may be among them: such an event is stored for nothing. One that somebody wants is among them
/// as soon as a subscription is made by this process, or [was read](Wanted::read) after another one made it.
#[derive(Debug, Clone, Default)]
pub struct Wanted(Arc<AtomicU64>);

/// The bits of the kinds. Those above count how often some were added.
const KINDS: u64 = 0xffff_ffff;

impl Wanted {
    /// All kinds, for a process that has not read which ones are wanted.
    pub fn all() -> Self {
        let all = Self::default();
        all.add(&Kind::iter().collect::<Vec<_>>());
        all
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
        self.0.fetch_or(bits(kinds), Ordering::SeqCst);
        self.0.fetch_add(KINDS + 1, Ordering::SeqCst);
    }

    /// Reads what all subscriptions want.
    pub async fn read(&self, db: &dyn ReadHandle) -> Result<(), db::Error> {
        let seen = self.0.load(Ordering::SeqCst);
        let enabled = Entity::find().select_only().column(Column::Kinds).filter(Column::Enabled.eq(true));
        let kinds: Vec<String> = db.rows(enabled.as_query(), |row| row.get(0)).await?;
        let wanted = kinds.iter().flat_map(|kinds| kinds.split(' ')).filter_map(Kind::from_word);
        let wanted = seen & !KINDS | bits(&wanted.collect::<Vec<_>>());
        // If a subscription was added meanwhile, it may not be among them: leave that to the next reading.
        let _ = self.0.compare_exchange(seen, wanted, Ordering::SeqCst, Ordering::SeqCst);
        Ok(())
    }
}

fn bits(kinds: &[Kind]) -> u64 {
    kinds.iter().fold(0, |bits, kind| bits | 1 << *kind as u64)
}
