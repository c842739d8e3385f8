//! Subscriptions: who is told of which events. What is secret, and how the receiver does, is in
//! [`event_receiver`](super::event_receiver).

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::deploy;
use super::event::Kind;
use super::prelude::*;

/// The maximum number of subscriptions.
pub const MOST: usize = 100;

/// The most teams, services, tiers and environments, of each, that a subscription names.
pub const NAMED: usize = 100;

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
    /// The team that it belongs to: the only one that it names. Only events about this team and what it owns are sent.
    pub team_id: Option<i64>,
    /// The ids of the teams that it names, if these are several: then it belongs to none of them.
    pub team_ids: Option<String>,
    /// The ids of the services that it names. Like the other lists, a JSON array that is not empty, or null for all. What was
    /// deleted stays in it and matches nothing, so that what is sent never becomes more.
    pub service_ids: Option<String>,
    /// The ids of the tiers that it names.
    pub tier_ids: Option<String>,
    /// The environments that it names.
    pub environments: Option<String>,
    /// Whether anything is sent.
    pub enabled: bool,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

super::rules![FieldRule::text("name", Column::Name, text::SHORT).required()];

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

/// What events must be about to be sent: for each list, one of it. `None` is all, and an empty list nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filters {
    /// The ids of the teams.
    pub teams: Option<BTreeSet<i64>>,
    /// The ids of the services.
    pub services: Option<BTreeSet<i64>>,
    /// The ids of the tiers.
    pub tiers: Option<BTreeSet<i64>>,
    /// The [keys](deploy::environment_key) of the environments.
    pub environments: Option<BTreeSet<String>>,
}

impl Filters {
    /// Whether it depends on the services of an event what is sent.
    pub fn has_places(&self) -> bool {
        self.teams.is_some() || self.services.is_some() || self.tiers.is_some()
    }
}

impl Model {
    /// The kinds of events that it wants.
    pub fn wanted(&self) -> Vec<Kind> {
        self.kinds.split(' ').filter_map(Kind::from_word).collect()
    }

    /// What events must be about to be sent.
    pub fn filters(&self) -> Filters {
        let ids = |listed: Option<Vec<i64>>| listed.map(BTreeSet::from_iter);
        let keys = |listed: Vec<String>| listed.iter().map(|one| deploy::environment_key(one)).collect();
        Filters {
            teams: ids(self.teams()),
            services: ids(self.services()),
            tiers: ids(self.tiers()),
            environments: self.environments().map(keys),
        }
    }

    /// The ids of the teams that it names, with those that were deleted; `None` for all teams.
    pub fn teams(&self) -> Option<Vec<i64>> {
        self.team_id.map(|team| vec![team]).or_else(|| listed(self.team_ids.as_deref()))
    }

    /// The same of services.
    pub fn services(&self) -> Option<Vec<i64>> {
        listed(self.service_ids.as_deref())
    }

    /// The same of tiers.
    pub fn tiers(&self) -> Option<Vec<i64>> {
        listed(self.tier_ids.as_deref())
    }

    /// The environments that it names; `None` for all.
    pub fn environments(&self) -> Option<Vec<String>> {
        listed(self.environments.as_deref())
    }
}

/// Reads the column of a list. One that cannot be read names nothing, which is not all.
fn listed<T: DeserializeOwned>(column: Option<&str>) -> Option<Vec<T>> {
    column.map(|text| serde_json::from_str(text).unwrap_or_default())
}

/// What the column of a list holds. An empty list is all.
pub fn column<T: Into<Json>>(list: Vec<T>) -> Option<String> {
    (!list.is_empty()).then(|| Json::from(list).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_is_empty_or_cannot_be_read_is_not_all() {
        assert_eq!(listed::<i64>(None), None);
        assert_eq!(column(Vec::<i64>::new()), None);
        assert_eq!(listed::<i64>(column(vec![2, 1]).as_deref()), Some(vec![2, 1]));
        assert_eq!(listed::<String>(column(vec!["a".to_owned()]).as_deref()), Some(vec!["a".to_owned()]));
        for text in ["[]", "[\"a\"]", "", "{"] {
            assert_eq!(listed::<i64>(Some(text)), Some(Vec::new()), "{text}");
        }
    }
}
