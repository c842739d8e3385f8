//! Who is on call for a service, as last reported by an on-call tool.

use super::prelude::*;
use super::{repository, service};

super::table! {
    "on_call", In("onCalls"), |row| Owner::Row(RowOf::new::<service::Entity>(row.service_id)),
    |row| Entry::text(&row.name);

    /// The service.
    pub service_id: i64,
    /// The person's name.
    pub name: String,
    /// The person's email address, by which a user is found.
    pub external_email: Option<String>,
    /// The on-call schedule.
    pub schedule: Option<String>,
    /// The URL of the schedule.
    pub url: Option<String>,
    /// When the person's shift ends; `None` if unknown.
    pub ends_at: Option<Timestamp>,
}

super::called!(noun "entry of who is on call");

super::rules![
    FieldRule::text("name", Column::Name, text::SHORT).required(),
    FieldRule::text("externalEmail", Column::ExternalEmail, text::SHORT),
    FieldRule::text("schedule", Column::Schedule, text::SHORT),
    FieldRule::text("url", Column::Url, text::URL).checked(repository::check_url),
    FieldRule::new("endsAt", Column::EndsAt, ValueRule::Moment),
];
