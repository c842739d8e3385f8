//! Subscriptions: who is told of which events. What is secret, and how the receiver does, is in
//! [`event_receiver`](super::event_receiver).

use super::event::Kind;
use super::prelude::*;

/// The maximum number of subscriptions.
pub const MOST: usize = 100;

super::table! {
    "event_subscription", Alone("EventSubscription"),
    left_out("whoever is told of the other installation is not told of this one"), |row| Owner::team(row.team_id);

    /// The display name; not unique.
    pub name: String,
    /// The form of the messages.
    pub form: Form,
    /// The host of the receiver, with the port if the URL states one. For mail, the domain of the address.
    pub host: String,
    /// The email address, for mail.
    pub email: Option<String>,
    /// How often what has happened is told in one message; `None` for a message about each event at once.
    pub digest: Option<Digest>,
    /// The words of the kinds of events, separated by blanks.
    pub kinds: String,
    /// The team that it belongs to. Only events about this team and what it owns are sent.
    pub team_id: Option<i64>,
    /// Only events about this service and what belongs to it are sent.
    pub service_id: Option<i64>,
    /// Only events about services of this tier are sent.
    pub tier_id: Option<i64>,
    /// Of deploys, only those to this environment are sent.
    pub environment: Option<String>,
    /// Whether anything is sent.
    pub enabled: bool,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

super::rules![
    FieldRule::text("name", Column::Name, text::SHORT).required(),
    FieldRule::new("teamId", Column::TeamId, ValueRule::Id(Reference::Team)),
    FieldRule::new("tierAlias", Column::TierId, ValueRule::Named(Reference::Tier)),
    FieldRule::text("environment", Column::Environment, text::SHORT),
];

/// The form of the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// JSON, signed, by the Standard Webhooks specification.
    StandardWebhook,
    /// A CloudEvent in structured JSON.
    CloudEvent,
    /// A message for Slack's incoming webhooks.
    Slack,
    /// A message for Mattermost's incoming webhooks.
    Mattermost,
    /// An adaptive card for a workflow of Microsoft Teams.
    MicrosoftTeams,
    /// A mail.
    Email,
}

impl Form {
    /// Whether people read the messages, so that one of them can tell several events.
    pub fn is_for_people(self) -> bool {
        match self {
            Self::StandardWebhook | Self::CloudEvent => false,
            Self::Slack | Self::Mattermost | Self::MicrosoftTeams | Self::Email => true,
        }
    }
}

/// How often a digest is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Digest {
    /// Every day.
    Daily,
    /// Every Monday.
    Weekly,
}

impl Model {
    /// The kinds of events that it wants.
    pub fn wanted(&self) -> Vec<Kind> {
        self.kinds.split(' ').filter_map(Kind::from_word).collect()
    }
}
