//! Events of checks: a service passes one, or no longer does, or has reached another level.

use serde_json::{Value as Json, json};

use super::{Wanted, of_service};
use crate::db::{self, Write, WriteHandle};
use crate::entity::check_result::Status;
use crate::entity::event::{self, Kind, What};
use crate::entity::service;

/// The events of results and levels, for the transaction that stores them.
#[derive(Debug, Default)]
pub struct OfChecks {
    rows: Vec<event::ActiveModel>,
}

/// The kinds of events about checks and levels.
const KINDS: [Kind; 4] = [Kind::CheckPassed, Kind::CheckFailed, Kind::LevelReached, Kind::LevelLost];

impl OfChecks {
    /// Whether a subscription may want them.
    pub fn are_wanted(wanted: &Wanted) -> bool {
        wanted.any(&KINDS)
    }

    /// Adds the event that a service passes a check, or no longer does. A result that is pending is not passed.
    pub fn add_result(
        &mut self,
        service: &service::Model,
        check: &str,
        [before, status]: [Status; 2],
        (message, cause): (&str, &str),
    ) {
        if (before == Status::Passed) == (status == Status::Passed) {
            return;
        }
        let check = json!({ "name": check, "status": status.word(), "message": message });
        self.add(service, What::Checked, json!({ "alias": service.slug, "cause": cause, "check": check }));
    }

    /// Adds the event that a service has another level.
    pub fn add_level(&mut self, service: &service::Model, [before, after]: [&str; 2], has_risen: bool, cause: &str) {
        let level = json!({ "old": before, "new": after, "hasRisen": has_risen });
        self.add(service, What::Rated, json!({ "alias": service.slug, "cause": cause, "level": level }));
    }

    fn add(&mut self, service: &service::Model, what: What, detail: Json) {
        self.rows.push(of_service(service, what, &detail));
    }

    /// Stores them.
    pub async fn store(self, db: &dyn WriteHandle) -> Result<(), db::Error> {
        db.insert_all(self.rows).await
    }
}

/// The kinds of an event of a check.
pub(super) fn kinds(detail: &Json) -> Vec<Kind> {
    vec![if detail["check"]["status"] == "passed" { Kind::CheckPassed } else { Kind::CheckFailed }]
}

/// The kinds of an event of a level.
pub(super) fn level_kinds(detail: &Json) -> Vec<Kind> {
    vec![if detail["level"]["hasRisen"] == true { Kind::LevelReached } else { Kind::LevelLost }]
}
