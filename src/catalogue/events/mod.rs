//! Events: tells other programs what happens in the catalogue.
//!
//! - [`note`], [`OfDeploys`] and [`OfChecks`] store events in the transaction of the change, so that there is an event if
//!   the change is committed, and none if it is not. [`OfFiles`] stores those of files that were refused, which change
//!   nothing.
//! - [`fan_out`] makes out a delivery for each subscription that wants an event.
//! - [`deliver`] sends the deliveries, in order for each subject, and again until the receiver takes them or three days
//!   have passed ([`outcome`]); [`round`] has the threads for it. A message can arrive twice, with the same id.
//! - [`message`] is what is sent, [`told`] is what it tells people, [`page`] finds the pages that it leads to,
//!   [`signature`] what it is signed with, and [`receiver`] says where it may be sent. [`mail`] sends to email
//!   addresses, and [`digest`] tells several events in one message. [`overdue`] finds issues that are open for too long.
//!
//! Invariant: nothing is stored for a kind of event that no subscription wants ([`Wanted`]).

use std::collections::HashMap;

use sea_orm::{Set, Value};
use serde_json::{Map, Value as Json, json};

use crate::db::{self, AnyRow, RowOf, Transaction, Write, WriteHandle};
use crate::entity::audit::{self, Actor, ActorKind};
use crate::entity::change::{Account, Told, Whole};
use crate::entity::event::{self, Kind, What};
use crate::entity::{Timestamp, deploy, global_id, pages, service, token};

mod checks;
pub mod deliver;
pub mod digest;
mod fan_out;
mod files;
pub mod mail;
mod message;
mod outcome;
pub mod overdue;
mod page;
pub mod receiver;
mod round;
pub mod signature;
mod told;
mod wanted;

pub use checks::OfChecks;
pub use fan_out::delivery;
pub use files::{OfFiles, RefusedFile};
pub use message::SUBJECT;
pub use told::{FIELDS, VALUE};
pub use wanted::Wanted;

/// The kinds of events about deploys.
const OF_DEPLOYS: [Kind; 3] = [Kind::DeployRecorded, Kind::DeployFailed, Kind::DeployRecovered];

/// The SDL types of subjects that have filters of their own.
const SERVICE: &str = "Service";
const TEAM: &str = "Team";

/// The SDL type of subscriptions. They are not told about each other.
const SUBSCRIPTION: &str = "EventSubscription";

/// The address of a subscription's page.
fn page_of(app_url: &str, subscription: i64) -> String {
    pages::url(app_url, ["events", &global_id::text(SUBSCRIPTION, subscription)])
}

/// The severity of a code issue that is an event, in lower case.
const CRITICAL: &str = "critical";

/// Stores the events of a change: one for each object of which the audit tells, if a subscription may want it. `action` is
/// the name of the mutation, or `apply`.
pub async fn note(
    db: &dyn WriteHandle,
    wanted: &Wanted,
    (actor, action): (&Actor, &str),
    account: &Account,
    told: &[Told],
) -> Result<(), db::Error> {
    if wanted.is_none() {
        return Ok(());
    }
    let changes: HashMap<RowOf, &Whole> = account.changes.iter().map(|change| (change.row, change)).collect();
    let now = Timestamp::now();
    let mut rows = Vec::new();
    for one in told {
        let Some(row) = noted(one, changes.get(&one.row).copied(), (actor, action), now) else { continue };
        if wanted.any(&row.kinds) {
            rows.push(row.row);
        }
    }
    db.insert_all(rows).await
}

/// An event that is not stored yet, and its kinds.
struct Noted {
    row: event::ActiveModel,
    kinds: Vec<Kind>,
}

fn noted(told: &Told, change: Option<&Whole>, (actor, action): (&Actor, &str), now: Timestamp) -> Option<Noted> {
    let class = told.subject.class.clone().filter(|class| class != SUBSCRIPTION)?;
    let what = match change.map(|change| (change.before.is_some(), change.after.is_some())) {
        Some((false, _)) => What::Created,
        Some((true, false)) => What::Deleted,
        // Of a thing whose list has changed, there is no change of its own.
        Some((true, true)) | None => What::Changed,
    };
    let side = |of: fn(&Whole) -> &Option<AnyRow>| change.and_then(|change| of(change).as_ref());
    let (before, after) = (side(|change| &change.before), side(|change| &change.after));
    let row = after.or(before);
    let own = |is: bool| told.subject.id.filter(|_| is);
    let (is_service, is_team) = (class == SERVICE, class == TEAM);
    let owner = |row: Option<&AnyRow>| key(row, "owner_id").or_else(|| key(row, "team_id"));
    let mut detail = json!({ "action": action, "by": by(actor), "changed": told.changed });
    // Not all of many are kept.
    if told.changed.len() > FIELDS {
        detail["changedCount"] = told.changed.len().into();
    }
    for (name, column) in [("alias", "slug"), ("severity", "severity")] {
        if let Some(text) = text(row, column) {
            detail[name] = text.into();
        }
    }
    // Of a thing whose list has changed, the audit has the alias for a name.
    if change.is_none() && detail["alias"].is_null() {
        detail["alias"] = told.subject.name.clone().into();
    }
    let kinds = kinds(what, &class, &detail);
    let row = event::ActiveModel {
        at: Set(now),
        waits_since: Set(Some(now)),
        what: Set(what),
        subject_id: Set(told.subject.id),
        subject_name: Set(told.subject.name.clone()),
        // A dependency belongs to the service that depends.
        service_id: Set(own(is_service).or_else(|| key(row, "service_id")).or_else(|| key(row, "source_id"))),
        team_id: Set(own(is_team).or_else(|| owner(row))),
        earlier_team_id: Set(owner(before).filter(|_| !is_team)),
        tier_id: Set(key(row, "tier_id")),
        subject_class: Set(class),
        detail: Set(audit::bounded(&detail)),
        ..Default::default()
    };
    Some(Noted { row, kinds })
}

/// An event about a service that nobody has changed.
fn of_service(service: &service::Model, what: What, detail: &Json) -> event::ActiveModel {
    let now = Timestamp::now();
    event::ActiveModel {
        at: Set(now),
        waits_since: Set(Some(now)),
        what: Set(what),
        subject_class: Set(SERVICE.to_owned()),
        subject_id: Set(Some(service.id)),
        subject_name: Set(Some(service.name.clone())),
        service_id: Set(Some(service.id)),
        team_id: Set(service.owner_id),
        tier_id: Set(service.tier_id),
        detail: Set(audit::bounded(detail)),
        ..Default::default()
    }
}

/// The id in a column of a row.
fn key(row: Option<&AnyRow>, column: &str) -> Option<i64> {
    match row?.value(column)? {
        Value::BigInt(id) => id,
        _ => None,
    }
}

fn text(row: Option<&AnyRow>, column: &str) -> Option<String> {
    match row?.value(column)? {
        Value::String(text) => text,
        _ => None,
    }
}

/// Who made a change.
fn by(actor: &Actor) -> Json {
    let kind = match actor.kind {
        ActorKind::Token => "token",
        ActorKind::Session => "user",
        ActorKind::CommandLine => "command_line",
        ActorKind::Visitor => "visitor",
    };
    json!({ "kind": kind, "name": actor.known_as() })
}

/// The kinds of an event, from the most general one, but for those that follow from earlier deploys.
fn kinds(what: What, class: &str, detail: &Json) -> Vec<Kind> {
    let own: &[Kind] = match (what, class) {
        (What::Deployed, _) => {
            let is_failed = detail["deploy"]["status"] == "failure";
            return if is_failed { vec![Kind::DeployRecorded, Kind::DeployFailed] } else { vec![Kind::DeployRecorded] };
        }
        (What::Expiring, _) => return vec![Kind::TokenExpiring],
        (What::Overdue, _) => return vec![Kind::CodeIssueOverdue],
        (What::FileRejected, _) => return vec![Kind::ServiceFileRejected],
        (What::Checked, _) => return checks::kinds(detail),
        (What::Rated, _) => return checks::level_kinds(detail),
        (What::Tested, _) => return vec![Kind::Test],
        (What::Created, SERVICE) => &[Kind::ServiceCreated],
        (What::Changed, SERVICE) if detail["changed"]["owner"].is_null() => &[Kind::ServiceChanged],
        (What::Changed, SERVICE) => &[Kind::ServiceChanged, Kind::ServiceOwnerChanged],
        (What::Deleted, SERVICE) => &[Kind::ServiceDeleted],
        (What::Created, TEAM) => &[Kind::TeamCreated],
        (What::Changed, TEAM) => &[Kind::TeamChanged],
        (What::Deleted, TEAM) => &[Kind::TeamDeleted],
        (What::Changed, "User") if is_deactivated(detail) => &[Kind::UserDeleted],
        (What::Deleted, "User") => &[Kind::UserDeleted],
        (What::Created, "ServiceSuggestion") => &[Kind::SuggestionCreated],
        (What::Created, overdue::CODE_ISSUE) if is_critical(detail) => &[Kind::CriticalCodeIssueCreated],
        _ => &[],
    };
    [&[Kind::ObjectChanged], own].concat()
}

/// Whether a change of a user is that they are no longer here: they were active until now.
fn is_deactivated(detail: &Json) -> bool {
    let moment = &detail["changed"]["deactivatedAt"];
    moment["old"].is_null() && moment["new"].is_string()
}

fn is_critical(detail: &Json) -> bool {
    detail["severity"].as_str().is_some_and(|severity| severity.eq_ignore_ascii_case(CRITICAL))
}

/// The events of deploys and of new suggestions, for the transaction that records them.
#[derive(Debug, Default)]
pub struct OfDeploys {
    rows: Vec<event::ActiveModel>,
}

impl OfDeploys {
    /// Adds the event of a deploy, if a subscription may want it.
    pub fn add(&mut self, wanted: &Wanted, row: &deploy::ActiveModel, now: Timestamp) {
        if !wanted.any(&OF_DEPLOYS) {
            return;
        }
        let status = row.deploy_status.try_as_ref().copied().flatten().map(status);
        let text = |value: &sea_orm::ActiveValue<Option<String>>| value.try_as_ref().cloned().flatten();
        let alias = row.service_alias.try_as_ref().cloned().unwrap_or_default();
        let environment = text(&row.environment);
        let mut deploy = Map::new();
        let mut put = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                deploy.insert(name.to_owned(), value.into());
            }
        };
        put("number", row.deploy_number.try_as_ref().cloned());
        put("status", status.map(str::to_owned));
        put("environment", environment.clone());
        put("description", row.description.try_as_ref().cloned());
        put("url", text(&row.deploy_url));
        put("commit", text(&row.commit_sha));
        put("commitMessage", text(&row.commit_message));
        put("deployer", text(&row.deployer_name).or_else(|| text(&row.deployer_email)));
        put("deployedAt", row.deployed_at.try_as_ref().map(Timestamp::to_string));
        let detail = json!({ "alias": alias, "deploy": deploy });
        self.rows.push(event::ActiveModel {
            at: Set(now),
            waits_since: Set(Some(now)),
            what: Set(What::Deployed),
            subject_class: Set(SERVICE.to_owned()),
            subject_id: Set(row.service_id.try_as_ref().copied().flatten()),
            subject_name: Set(Some(alias)),
            service_id: Set(row.service_id.try_as_ref().copied().flatten()),
            environment: Set(environment),
            detail: Set(audit::bounded(&detail)),
            ..Default::default()
        });
    }

    /// Adds the event of a new suggestion, if a subscription may want it.
    pub fn add_suggestion(&mut self, wanted: &Wanted, id: i64, alias: &str, now: Timestamp) {
        if !wanted.any(&[Kind::SuggestionCreated, Kind::ObjectChanged]) {
            return;
        }
        let by = json!({ "kind": "webhook", "name": "a deploy" });
        self.rows.push(event::ActiveModel {
            at: Set(now),
            waits_since: Set(Some(now)),
            what: Set(What::Created),
            subject_class: Set("ServiceSuggestion".to_owned()),
            subject_id: Set(Some(id)),
            subject_name: Set(Some(alias.to_owned())),
            detail: Set(audit::bounded(&json!({ "action": "deploy", "by": by, "alias": alias }))),
            ..Default::default()
        });
    }

    /// Stores them.
    pub async fn store(self, db: &dyn WriteHandle) -> Result<(), db::Error> {
        db.insert_all(self.rows).await
    }
}

/// How long before its end a token is told to expire, in microseconds: a week.
const BEFORE_EXPIRY: i64 = 7 * 24 * 3_600_000_000;

/// Stores an event for each token that expires soon, once.
async fn note_expiring_tokens(tx: &Transaction, wanted: &Wanted) -> Result<(), db::Error> {
    if !wanted.any(&[Kind::TokenExpiring]) {
        return Ok(());
    }
    let now = Timestamp::now();
    let soon = Timestamp::from_micros(now.as_micros() + BEFORE_EXPIRY);
    let rows = token::tell_expiring(tx, now, soon).await?.into_iter().map(|token| event::ActiveModel {
        at: Set(now),
        waits_since: Set(Some(now)),
        what: Set(What::Expiring),
        subject_class: Set("Token".to_owned()),
        subject_id: Set(Some(token.id)),
        subject_name: Set(Some(token.description)),
        detail: Set(json!({ "expiresAt": token.expires_at.map(|at| at.to_string()) }).to_string()),
        ..Default::default()
    });
    tx.insert_all(rows.collect()).await
}

/// The word of a status, as the API says it.
fn status(status: deploy::Status) -> &'static str {
    match status {
        deploy::Status::Succeeded => "success",
        deploy::Status::Failed => "failure",
        deploy::Status::Cancelled => "canceled",
        deploy::Status::Queued => "queued",
        deploy::Status::Running => "running",
    }
}
