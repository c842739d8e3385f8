//! Campaigns: sets of checks that the services of one filter are to pass by a date.

use super::prelude::*;

/// The maximum number of campaigns.
pub const MOST: usize = 500;

super::table! {
    "campaign", Alone("Campaign"), StandardsAdministrators;

    /// The display name; not unique.
    pub name: String,
    /// What it is for.
    pub project_brief: Option<String>,
    /// The team that runs it; `None` once that is deleted.
    pub owner_id: Option<i64>,
    /// The filter of the services that it is for; `None` for all services.
    pub filter_id: Option<i64>,
    /// When it begins; `None` for a draft.
    pub start_at: Option<Timestamp>,
    /// By when its services are to pass.
    pub target_at: Option<Timestamp>,
    /// When somebody ended it.
    pub ended_at: Option<Timestamp>,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
    /// The name of the standards file that governs it; `None` if it is not locked.
    pub locked_by: Option<String>,
}

super::rules![
    FieldRule::text("name", Column::Name, text::SHORT).required(),
    FieldRule::text("projectBrief", Column::ProjectBrief, text::NOTE),
    FieldRule::new("ownerId", Column::OwnerId, ValueRule::Id(Reference::Team)),
];

/// How far a campaign is, in the order of its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It has no dates.
    Draft,
    /// It begins later.
    Scheduled,
    /// It has begun, and its target date is ahead.
    InProgress,
    /// Its target date has passed.
    Delayed,
    /// Somebody has ended it.
    Ended,
}

impl Model {
    /// How far it is.
    pub fn status(&self, now: Timestamp) -> Status {
        if self.ended_at.is_some() {
            return Status::Ended;
        }
        match (self.start_at, self.target_at) {
            (None, _) => Status::Draft,
            (Some(start), _) if start > now => Status::Scheduled,
            (Some(_), Some(target)) if target < now => Status::Delayed,
            _ => Status::InProgress,
        }
    }
}
