//! Feeds of deploys and of changes, for feed readers: of a service, of the services of a team, or of all.
//!
//! They tell what the pages tell everybody who may read. Whoever holds the token of a feed reads for the user whom it
//! belongs to, in that user's place.

use super::history::{self, Subject};
use super::parts::link;
use super::visit::{Fields, Reads};
use super::{Fault, Site};
use catalogue::db::ReadHandle;
use catalogue::entity::audit::ActorKind;
use catalogue::entity::{Timestamp, feed};
use futures_util::future::BoxFuture;

mod atom;
mod changes;
mod deploys;

pub use changes::SEARCHED;

/// The number of entries of a feed.
pub const ENTRIES: usize = 50;

/// The maximum length of the summary of an entry, in characters. What is longer is cut.
pub const SUMMARY: usize = 1_000;

/// What a feed tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedKind {
    /// What was deployed.
    Deploys,
    /// What was changed, and by whom.
    Changes,
}

impl FeedKind {
    /// The feed with this name in its address.
    pub fn of_file(name: &str) -> Option<Self> {
        [Self::Deploys, Self::Changes].into_iter().find(|kind| kind.file() == name)
    }

    /// Its name in the address.
    pub fn file(self) -> &'static str {
        match self {
            Self::Deploys => "deploys.atom",
            Self::Changes => "changes.atom",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Deploys => "deploys",
            Self::Changes => "changes",
        }
    }
}

/// Where the installation is reached.
struct Here<'s>(&'s str);

impl Here<'_> {
    /// The address of a page, by its path.
    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }

    /// An id that stays the same (RFC 4151): by the host, a date on which it was ours, and what is meant.
    fn tag(&self, date: &str, what: &str) -> String {
        let host = self.0.split_once("://").map_or(self.0, |(_, host)| host);
        let host = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, _)) => address,
            None => host.split(':').next().unwrap_or_default(),
        };
        let is_kept = |letter: char| letter.is_ascii_alphanumeric() || ".-".contains(letter);
        let host: String = host.chars().map(|letter| if is_kept(letter) { letter } else { '-' }).collect();
        format!("tag:{host},{date}:{what}")
    }
}

/// The day of a point in time in UTC: `2026-11-27`.
fn day(moment: Timestamp) -> String {
    moment.to_string().chars().take(10).collect()
}

/// A text as the summary of an entry.
fn summary(text: &str) -> String {
    match text.char_indices().nth(SUMMARY) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

impl Site {
    /// Writes the newest entries of a feed. The query names a service or a team, or nothing for all services.
    pub fn feed<'f>(
        &'f self,
        feed: &'f feed::Model,
        kind: FeedKind,
        query: &'f Fields,
    ) -> BoxFuture<'f, Result<String, Fault>> {
        Box::pin(async move {
            let (service, team) = (query.given("service"), query.given("team"));
            if service.is_some() && team.is_some() {
                let why = "A feed is about a service or about a team: leave one of the two out of its address.";
                return Err(Fault::BadRequest(why.to_owned()));
            }
            let (here, reads) = (Here(&self.catalogue.settings().app_url), Reads::default());
            let reading = self.reading_of((ActorKind::Session, Some(feed.user_id)), &reads).await?;
            let about = reading.required(|db| subject(db, service, team)).await?;
            let about = about.as_ref();
            let page = here.url(&page(kind, about, team));
            let entries = match kind {
                FeedKind::Deploys => reading.required(|db| deploys::entries(db, about, &here)).await?,
                FeedKind::Changes => reading.required(|db| changes::entries(db, about, &here, &page)).await?,
            };
            let own = [("service", service), ("team", team)].into_iter().find_map(|(name, alias)| Some((name, alias?)));
            let own = own.map(|(name, alias)| Fields::one(name, alias).query()).unwrap_or_default();
            let what = about.map(|about| format!("/{}/{}", about.class.to_lowercase(), about.id)).unwrap_or_default();
            Ok(atom::written(&atom::Feed {
                // The address has a token. This one is the same for everybody, and says which feed it is.
                own: here.url(&link(&format!("{}{}", feed::PATH, kind.file()), &own)),
                id: here.tag("2026", &format!("{}{what}", kind.word())),
                title: title(kind, about),
                updated: entries.iter().map(|entry| entry.updated).max().unwrap_or(feed.created_at),
                page,
                entries,
            }))
        })
    }
}

/// Finds what the feed is about. `None` for all.
async fn subject(db: &dyn ReadHandle, service: Option<&str>, team: Option<&str>) -> Result<Option<Subject>, Fault> {
    match (service, team) {
        (Some(alias), _) => history::find(db, "services", alias).await.map(Some),
        (None, Some(alias)) => history::find(db, "teams", alias).await.map(Some),
        (None, None) => Ok(None),
    }
}

/// The path of the page that tells the same.
fn page(kind: FeedKind, about: Option<&Subject>, team: Option<&str>) -> String {
    match (kind, about, team) {
        (FeedKind::Deploys, None, _) => "/deploys".to_owned(),
        (FeedKind::Deploys, Some(_), Some(team)) => link("/deploys", &Fields::one("team", team).query()),
        (FeedKind::Deploys, Some(service), None) => format!("{}/deploys", service.address),
        (FeedKind::Changes, None, _) => "/".to_owned(),
        (FeedKind::Changes, Some(about), _) => format!("{}/history", about.address),
    }
}

fn title(kind: FeedKind, about: Option<&Subject>) -> String {
    let suffix = match about {
        None => String::new(),
        Some(team) if team.class == "Team" => format!(" of {} and its services", team.name),
        Some(service) => format!(" of {}", service.name),
    };
    match kind {
        FeedKind::Deploys => format!("Deploys{suffix}"),
        FeedKind::Changes => format!("Changes{suffix}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_the_host_without_its_port() {
        for (url, host) in [
            ("https://catalogue.example.com", "catalogue.example.com"),
            ("http://127.0.0.1:8080", "127.0.0.1"),
            ("http://[2001:db8::1]:8080", "2001-db8--1"),
        ] {
            assert_eq!(Here(url).tag("2026-11-27", "deploy/7"), format!("tag:{host},2026-11-27:deploy/7"));
        }
    }

    #[test]
    fn a_long_summary_is_cut_between_characters() {
        assert_eq!(summary(&"é".repeat(SUMMARY)), "é".repeat(SUMMARY));
        assert_eq!(summary(&"é".repeat(SUMMARY + 1)).chars().count(), SUMMARY + 1);
    }
}
