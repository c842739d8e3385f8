//! Makes out deliveries: for each event, one for each subscription that wants it.

use std::collections::{BTreeSet, HashMap};

use sea_orm::sea_query::{ExprTrait, LockType};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Set};
use serde_json::Value as Json;

use super::overdue::{self, CODE_ISSUE, Concerned};
use super::{digest, kinds};
use crate::db::{self, Db, Read, Transaction, Write};
use crate::entity::event::{self, Kind, What};
use crate::entity::event_delivery::{self, MOST_WAITING, State};
use crate::entity::event_subscription::{self as subscription, Digest, Filters, Form, Model as Subscription};
use crate::entity::{ByIds, Timestamp, deploy, event_receiver as receiver, known, service};

/// The most events for which deliveries are made out in one transaction.
const EVENTS: u64 = 200;

/// About the most deliveries that are made out in one transaction. Meanwhile nobody else writes to an SQLite file.
const DELIVERIES: u64 = 2_000;

/// How many earlier deploys of a service are looked at to find the one before in the same environment.
const EARLIER: u64 = 50;

/// Which events waited for their deliveries to be made out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waited {
    /// There was none.
    None,
    /// All were taken.
    Some,
    /// There may be more than were taken.
    More,
}

/// Makes out the deliveries of the oldest events.
pub(super) async fn next(db: &Db) -> Result<Waited, db::Error> {
    // A run with nothing to do takes no write lock.
    let ids: Vec<i64> = db.read().rows(event::waiting(1).as_query(), |row| row.get(0)).await?;
    if ids.is_empty() {
        return Ok(Waited::None);
    }
    let enabled = subscription::Entity::find().filter(subscription::Column::Enabled.eq(true));
    let enabled = enabled.filter(known::<Form>(subscription::Column::Form));
    let subscriptions = db.read().all(enabled.order_by_asc(subscription::Column::Id)).await?;
    let subscriptions: Vec<Subscribed> = subscriptions.into_iter().map(Subscribed::new).collect();
    // Counted before the transaction, in which others would wait for it. Of several processes, each may add some more.
    let mut room = HashMap::with_capacity(subscriptions.len());
    for Subscribed { row, .. } in &subscriptions {
        let waiting = event_delivery::waiting(db.read(), row.id).await?;
        room.insert(row.id, MOST_WAITING.saturating_sub(waiting));
    }
    db.write(async |tx| make_out(tx, &subscriptions, room).await).await
}

/// A subscription, and what it wants.
struct Subscribed {
    row: Subscription,
    kinds: Vec<Kind>,
    filters: Filters,
}

impl Subscribed {
    fn new(row: Subscription) -> Self {
        Self { kinds: row.wanted(), filters: row.filters(), row }
    }
}

async fn make_out(
    tx: &Transaction,
    subscriptions: &[Subscribed],
    mut room: HashMap<i64, u64>,
) -> Result<Waited, db::Error> {
    let most = (DELIVERIES / Ord::max(subscriptions.len() as u64, 1)).clamp(1, EVENTS);
    let events = event::take_waiting(tx, most).await?;
    let places = EventScopes::read(tx, &events, subscriptions).await?;
    let digests = digests(tx, subscriptions).await?;
    let (now, mut missed) = (Timestamp::now(), HashMap::<i64, i64>::new());
    let (mut rows, mut unwanted) = (Vec::new(), Vec::new());
    let is_recovery_wanted = subscriptions.iter().any(|one| one.kinds.contains(&Kind::DeployRecovered));
    for event in &events {
        let kinds = kinds_of(tx, event, is_recovery_wanted).await?;
        let place = places.of_event(event);
        let mut is_wanted = false;
        for one in subscriptions.iter().filter(|one| one.concerns(event, &place)) {
            // The most special kind that it wants.
            let Some(kind) = kinds.iter().rev().find(|kind| one.kinds.contains(kind)) else { continue };
            let Some(left) = room.get_mut(&one.row.id).filter(|left| **left > 0) else {
                *missed.entry(one.row.id).or_default() += 1;
                continue;
            };
            *left -= 1;
            is_wanted = true;
            let row = delivery(one.row.id, event, *kind, now);
            rows.push(match digests.get(&one.row.id) {
                None => row,
                Some(digest) => collected(row, digest::next(*digest, now)),
            });
        }
        if !is_wanted {
            unwanted.push(event.id);
        }
    }
    tx.insert_all(rows).await?;
    for (subscription, number) in missed {
        use receiver::Column::{Missed, SubscriptionId};
        let more = receiver::Entity::update_many()
            .col_expr(Missed, sea_orm::sea_query::Expr::col(Missed).add(number))
            .filter(SubscriptionId.eq(subscription));
        tx.exec(more).await?;
    }
    if !unwanted.is_empty() {
        tx.exec(event::Entity::delete_many().filter(db::any(tx, event::Column::Id, &unwanted))).await?;
    }
    Ok(if events.len() as u64 == most { Waited::More } else { Waited::Some })
}

/// The digests that subscriptions have now, by the ids of these. Whoever changes one waits for the end of the transaction,
/// and so finds all that was collected for it.
async fn digests(tx: &Transaction, subscriptions: &[Subscribed]) -> Result<HashMap<i64, Digest>, db::Error> {
    let rows = subscriptions.iter().map(|one| &one.row);
    let ids: Vec<i64> = rows.filter(|row| row.digest.is_some()).map(|row| row.id).collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let own = subscription::Entity::find().filter(db::any(tx, subscription::Column::Id, &ids));
    let own = tx.locking(LockType::Share).all(own.order_by_asc(subscription::Column::Id)).await?;
    let for_people = own.into_iter().filter(|one| one.form.is_for_people());
    Ok(for_people.filter_map(|one| Some((one.id, one.digest?))).collect())
}

/// A delivery that is not stored yet.
pub fn delivery(subscription: i64, event: &event::Model, kind: Kind, now: Timestamp) -> event_delivery::ActiveModel {
    let subject = match (event.subject_id, &event.subject_name) {
        (Some(id), _) => format!("{}:{id}", event.subject_class),
        (None, name) => format!("{}:{}", event.subject_class, name.as_deref().unwrap_or_default()),
    };
    event_delivery::ActiveModel {
        subscription_id: Set(subscription),
        event_id: Set(event.id),
        kind: Set(kind),
        subject: Set(subject),
        state: Set(State::Waiting),
        next_at: Set(Some(now)),
        digest_at: Set(None),
        attempts: Set(0),
        created_at: Set(now),
        ..Default::default()
    }
}

/// The same delivery, told by the digest of this time.
fn collected(row: event_delivery::ActiveModel, at: Timestamp) -> event_delivery::ActiveModel {
    event_delivery::ActiveModel { next_at: Set(Some(at)), digest_at: Set(Some(at)), ..row }
}

/// Where an event belongs.
#[derive(Default)]
struct EventScope {
    services: Vec<i64>,
    teams: Vec<i64>,
    tiers: Vec<i64>,
}

/// What says where events belong.
#[derive(Default)]
struct EventScopes {
    /// The services that the events are about, or whose parts they are about.
    services: HashMap<i64, service::Model>,
    /// The services that code issues concern.
    issues: HashMap<i64, Vec<Concerned>>,
}

impl EventScopes {
    async fn read(tx: &Transaction, events: &[event::Model], subscriptions: &[Subscribed]) -> Result<Self, db::Error> {
        let ids: BTreeSet<i64> = events.iter().filter_map(|event| event.service_id).collect();
        let found = match ids.is_empty() {
            true => Vec::new(),
            false => service::Entity::by_ids(tx, ids.into_iter().map(Some)).await?,
        };
        let services = found.into_iter().flatten().map(|service| (service.id, service)).collect();
        let issues = match subscriptions.iter().any(|one| one.filters.has_places()) {
            true => events.iter().filter_map(issue).collect(),
            false => BTreeSet::new(),
        };
        Ok(Self { services, issues: overdue::of_issues(tx, issues).await? })
    }

    /// Where an event belongs: as it says itself, or else as its services do now.
    fn of_event(&self, event: &event::Model) -> EventScope {
        if let Some(concerned) = issue(event).and_then(|issue| self.issues.get(&issue)) {
            return EventScope {
                services: concerned.iter().map(|service| service.id).collect(),
                teams: concerned.iter().filter_map(|service| service.team).collect(),
                tiers: concerned.iter().filter_map(|service| service.tier).collect(),
            };
        }
        let service = event.service_id.and_then(|id| self.services.get(&id));
        let team = event.team_id.or_else(|| service?.owner_id);
        EventScope {
            services: event.service_id.into_iter().collect(),
            teams: team.into_iter().chain(event.earlier_team_id).collect(),
            tiers: event.tier_id.or_else(|| service?.tier_id).into_iter().collect(),
        }
    }
}

/// The code issue that an event is about.
fn issue(event: &event::Model) -> Option<i64> {
    event.subject_id.filter(|_| event.subject_class == CODE_ISSUE)
}

impl Subscribed {
    /// Whether an event passes the filters of the subscription, which must be there when it happens.
    fn concerns(&self, event: &event::Model, place: &EventScope) -> bool {
        let Filters { teams, services, tiers, environments } = &self.filters;
        let is_environment = match (environments, &event.environment) {
            (None, _) => true,
            (Some(named), Some(environment)) => named.contains(&deploy::environment_key(environment)),
            // Only deploys have environments.
            (Some(_), None) => event.what != What::Deployed,
        };
        self.row.created_at <= event.at
            && has_one(teams.as_ref(), &place.teams)
            && has_one(services.as_ref(), &place.services)
            && has_one(tiers.as_ref(), &place.tiers)
            && is_environment
    }
}

/// Whether one of these is among those that are named, if any are.
fn has_one(named: Option<&BTreeSet<i64>>, ids: &[i64]) -> bool {
    named.is_none_or(|named| ids.iter().any(|id| named.contains(id)))
}

async fn kinds_of(tx: &Transaction, event: &event::Model, is_recovery_wanted: bool) -> Result<Vec<Kind>, db::Error> {
    let detail: Json = serde_json::from_str(&event.detail).unwrap_or_default();
    let mut kinds = kinds(event.what, &event.subject_class, &detail);
    let is_success = event.what == What::Deployed && detail["deploy"]["status"] == "success";
    if let Some(service) = event.service_id
        && is_success
        && is_recovery_wanted
        && has_failed_before(tx, service, &detail["deploy"]).await?
    {
        kinds.push(Kind::DeployRecovered);
    }
    Ok(kinds)
}

/// Whether the deploy before this one, of the same service in the same environment, failed. Deploys that neither succeeded
/// nor failed do not count.
async fn has_failed_before(tx: &Transaction, service: i64, deployed: &Json) -> Result<bool, db::Error> {
    use deploy::Column::{DeployNumber, DeployStatus, DeployedAt, EnvironmentKey, Id, ServiceId};
    let Some(at) = deployed["deployedAt"].as_str().and_then(|at| Timestamp::parse(at).ok()) else { return Ok(false) };
    let key = deployed["environment"].as_str().map(deploy::environment_key);
    let earlier = deploy::Entity::find()
        .select_only()
        .columns([DeployStatus, EnvironmentKey, DeployNumber])
        .filter(ServiceId.eq(service))
        .filter(DeployedAt.lte(at))
        .order_by_desc(DeployedAt)
        .order_by_desc(Id)
        .limit(EARLIER);
    type Earlier = (Option<String>, Option<String>, String);
    let rows: Vec<Earlier> = tx.rows(earlier.as_query(), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).await?;
    let number = deployed["number"].as_str();
    // Those up to this one: its number says which it is.
    let before = rows.iter().skip_while(|(_, _, own)| number.is_some_and(|number| number != own)).skip(1);
    let mut ended = before.filter(|(_, own, _)| *own == key).filter_map(|(status, ..)| status.as_deref());
    Ok(ended.find(|status| ["succeeded", "failed"].contains(status)) == Some("failed"))
}
