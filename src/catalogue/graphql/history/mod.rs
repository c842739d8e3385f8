//! Histories: what was changed of a service, a team, a system or a domain and of what belongs to it, from the audit. [`words`]
//! says it for people.
//!
//! Invariant: nothing here writes. Every entry of a history is an entry of the audit.

use std::cmp::Reverse;

use sea_orm::sea_query::{Condition, ExprTrait};

use super::field::id::Id;
use super::revert;
use crate::engine::page::{Cursor, Edge, Page};
use crate::entity::TimeCursor;
use crate::entity::audit::{Column, Entity, Model, OBJECTS};
use crate::graphql::prelude::*;

pub mod words;

/// An object: its SDL type and its id.
pub type Object = (&'static str, i64);

/// An entry of the audit, as clients read it.
#[derive(Debug, Clone)]
pub struct Change {
    entry: Model,
    summary: String,
    refusal: Option<String>,
}

/// Which entries of a history are read.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// Only those at or after this time.
    pub start: Option<Timestamp>,
    /// Only those behind this place.
    pub after: Option<TimeCursor>,
    /// The maximum number that is read of the things of a class.
    pub each: usize,
    /// The maximum number that is returned.
    pub most: usize,
}

/// Returns the wanted entries of a part about an object, and about what belongs to it or belonged to it, newest first, and
/// where to go on.
pub async fn entries(
    db: &dyn ReadHandle,
    (class, id): Object,
    part: Part,
    is_wanted: impl Fn(&Model) -> bool + Send + Sync,
) -> Result<(Vec<Model>, Option<TimeCursor>), db::Error> {
    let Part { start, after, each, most } = part;
    let (mut all, mut end) = (Vec::new(), None);
    for (of_class, of_id) in OBJECTS {
        let mut select = since(Entity::find().filter(of_class.eq(class)).filter(of_id.eq(id)), start);
        if let Some((at, id)) = after {
            let before = Column::At.lt(at).or(Column::At.eq(at).and(Column::Id.lt(id)));
            select = select.filter(Column::At.lte(at)).filter(before);
        }
        let select = select.order_by_desc(Column::At).order_by_desc(Column::Id).limit(each as u64);
        let found = db.all(select).await?;
        if found.len() == each {
            end = Ord::max(end, found.last().map(|entry| (entry.at, entry.id)));
        }
        all.extend(found);
    }
    // Where not all entries were read, nothing is known behind the last.
    all.retain(|entry| end.is_none_or(|end| (entry.at, entry.id) >= end) && is_wanted(entry));
    all.sort_unstable_by_key(|entry| Reverse((entry.at, entry.id)));
    // What connects an object with itself is found by both of its ends.
    all.dedup_by_key(|entry| entry.id);
    let next = if all.len() > most { all.get(most - 1).map(|entry| (entry.at, entry.id)) } else { end };
    all.truncate(most);
    Ok((all, next))
}

fn since(select: sea_orm::Select<Entity>, start: Option<Timestamp>) -> sea_orm::Select<Entity> {
    match start {
        Some(start) => select.filter(Column::At.gte(start)),
        None => select,
    }
}

/// A page of the history that a client asks for.
pub(super) async fn page(args: &AccountHistoryArgs, ctx: &Ctx<'_>) -> Result<ChangeConnectionType> {
    let AccountHistoryArgs { kind, subject, start, first, after } = args;
    let request = PageRequest::new(first, after)?;
    request.check(|cursor| cursor.order.is_some() && cursor.chosen.is_none())?;
    let (db, start) = (ctx.db(), start.value().copied());
    let field = "subject";
    let (class, id) = match kind {
        HistorySubjectEnum::Service => ("Service", identifier::require_in::<Service>(db, field, subject).await?.id),
        HistorySubjectEnum::Team => ("Team", identifier::require_in::<Team>(db, field, subject).await?.id),
        HistorySubjectEnum::System => ("System", identifier::require_in::<System>(db, field, subject).await?.id),
        HistorySubjectEnum::Domain => ("Domain", identifier::require_in::<Domain>(db, field, subject).await?.id),
    };
    let after = request.after.as_ref().map(|cursor| (Timestamp::from_micros(cursor.order.unwrap_or(0)), cursor.id));
    // One more than the page shows.
    let most = usize::try_from(request.first).unwrap_or(usize::MAX).saturating_add(1);
    let part = Part { start, after, each: most, most };
    let (found, _) = entries(db, (class, id), part, |_| true).await?;
    let edge = |entry: Model| Edge { cursor: Cursor::ordered(entry.at.as_micros(), entry.id), node: Change::of(entry) };
    let page = Page::new(found.into_iter().map(edge).collect(), &request);
    let total_count = if ctx.selects("totalCount") { Some(count(db, (class, id), start).await?) } else { None };
    Ok(Page { total_count, ..page })
}

async fn count(db: &dyn ReadHandle, (class, id): Object, start: Option<Timestamp>) -> Result<i32> {
    let about = OBJECTS.map(|(of_class, of_id)| of_class.eq(class).and(of_id.eq(id)));
    let is_about = about.into_iter().fold(Condition::any(), Condition::add);
    let total = db.count(since(Entity::find().filter(is_about), start)).await?;
    Ok(i32::try_from(total).unwrap_or(i32::MAX))
}

impl Change {
    fn of(entry: Model) -> Self {
        Self { summary: words::done(&entry), refusal: revert::refusal(&entry), entry }
    }
}

impl ChangeResolver for Change {
    fn id(&self) -> Id {
        Id::new::<Entity>(self.entry.id)
    }

    fn at(&self) -> Timestamp {
        self.entry.at
    }

    fn actor(&self) -> &str {
        self.entry.public_actor()
    }

    fn action(&self) -> &str {
        &self.entry.action
    }

    fn summary(&self) -> &str {
        &self.summary
    }

    fn subject_type(&self) -> Option<&str> {
        self.entry.subject_class.as_deref()
    }

    fn subject_name(&self) -> Option<&str> {
        self.entry.subject_name.as_deref()
    }

    async fn details(changes: &[&Self], _: &Ctx<'_>) -> Result<Vec<Vec<String>>> {
        Ok(changes.iter().map(|change| words::details(&change.entry)).collect())
    }

    fn reverts(&self) -> Option<Id> {
        words::reverted(&self.entry).map(Id::new::<Entity>)
    }

    fn not_revertible(&self) -> Option<&str> {
        self.refusal.as_deref()
    }
}
