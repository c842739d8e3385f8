//! Pulls the API documents of services from their URLs, about every hour.
//!
//! Only hosts that the administrator names are asked, redirects are not followed, and what is read is bounded in bytes
//! and in time. Several processes may do this at the same time: each takes rows that no other has taken.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::future::join_all;
use sea_orm::sea_query::LockType;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set};
use tracing::{info, warn};
use ureq::Agent;
use ureq::http::Response;

use super::Described;
use super::hosts::Hosts;
use crate::db::{self, Db, Read, Transaction, Write};
use crate::entity::document_pull::{self as pulls, Model as Pull};
use crate::entity::{ByIds, Timestamp, row_lock, service, service_document as document, text};
use crate::error::shortened;
use crate::outgoing::{self, Attempt, Purpose};

/// The maximum size of a document, in bytes.
pub const LONGEST: usize = 1 << 20;
/// The time for one document, from the look-up of the host's name to the last byte.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// The number of documents that one process reads at a time.
pub const AT_ONCE: usize = 2;
/// The approximate interval between two pulls of a document.
pub const INTERVAL: Duration = Duration::from_secs(3_600);
/// The longest interval after failures. The first one is [`FIRST_RETRY`], and each next one is twice as long.
pub const LONGEST_RETRY: Duration = Duration::from_secs(86_400);
/// The interval after the first failure.
pub const FIRST_RETRY: Duration = Duration::from_secs(300);

/// The number of documents that are taken at once.
const BATCH: u64 = 20;
/// How long a process may take for these. It needs less: [`TIMEOUT`] for each, [`AT_ONCE`] at a time.
const LEASE: Duration = Duration::from_secs(600);
/// The approximate pause when no more documents are due.
const PAUSE: Duration = Duration::from_secs(50);
/// The maximum length of an `ETag` or `Last-Modified` that is sent back, in bytes.
const LONGEST_MARK: usize = 1_000;
/// The error of a document on which a parser panicked.
const PANICKED: &str = "rollcall failed while it read the document; its log says why";

/// The result of a pull.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pulled {
    /// There is a new document, or a changed one.
    Changed,
    /// The document is as it was.
    Unchanged,
    /// There is no document, or it cannot be used.
    Failed,
}

impl Pulled {
    /// All results.
    pub const ALL: [Self; 3] = [Self::Changed, Self::Unchanged, Self::Failed];

    /// Its name in the metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::Failed => "failed",
        }
    }
}

/// What is done with each result.
pub type Note = Box<dyn Fn(Pulled) + Send + Sync>;

/// Pulls the documents that are due, again and again. `note` is called with each result. Runs until dropped, which is
/// safe at any await: a document that was being pulled is due again after a few minutes.
pub fn run(db: Db, hosts: Hosts, note: Note) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        loop {
            match pull_due(&db, &hosts, &*note).await {
                // There may be more.
                Ok(number) if number as u64 == BATCH => continue,
                Ok(_) => {}
                Err(error) => {
                    warn!(%error, "the API documents that are due cannot be found; trying again within a minute")
                }
            }
            // Jitter, so that processes started together drift apart.
            tokio::time::sleep(PAUSE.mul_f64(0.8 + 0.4 * fastrand::f64())).await;
        }
    })
}

/// Pulls the first documents that are due, and returns their number.
///
/// # Errors
/// They cannot be found.
pub async fn pull_due(db: &Db, hosts: &Hosts, note: &(dyn Fn(Pulled) + Sync)) -> Result<usize, db::Error> {
    let now = Timestamp::now();
    let claimed = pulls::claim(db, now, after(now, LEASE), BATCH).await?;
    if claimed.is_empty() {
        return Ok(0);
    }
    let services = service::Entity::by_ids(db.read(), claimed.iter().map(|pull| Some(pull.service_id))).await?;
    let ids: Vec<i64> = claimed.iter().map(|pull| pull.service_id).collect();
    let kept = document::Entity::find().filter(db::any(db.read(), document::Column::ServiceId, &ids));
    let kept = kept.filter(document::Column::IntegrationId.is_null());
    let kept: HashMap<i64, i64> = db.read().all(kept).await?.iter().map(|kept| (kept.service_id, kept.id)).collect();
    let number = claimed.len();
    let agent = outgoing::agent();
    let mut wanted = claimed.into_iter().zip(services).filter_map(|(pull, service)| {
        let kept = kept.get(&pull.service_id).copied();
        // A document that was deleted is read again.
        let marks = if kept.is_some() { (pull.etag.clone(), pull.last_modified.clone()) } else { (None, None) };
        let url = service?.api_document_url?;
        Some((pull, kept, Wanted { agent: agent.clone(), url, etag: marks.0, last_modified: marks.1 }))
    });
    loop {
        let some: Vec<_> = wanted.by_ref().take(AT_ONCE).collect();
        if some.is_empty() {
            return Ok(number);
        }
        let some = some.into_iter().map(|(pull, kept, wanted)| pull_one(db, hosts, pull, kept, wanted));
        let results = join_all(some).await;
        results.into_iter().flatten().for_each(note);
    }
}

/// A document to read.
struct Wanted {
    agent: Agent,
    url: String,
    etag: Option<String>,
    last_modified: Option<String>,
}

/// A response that is no failure. `D` is a text, or what is to be stored.
enum Fetched<D> {
    /// The server says that the document is as it was.
    Unchanged,
    Document {
        document: D,
        etag: Option<String>,
        last_modified: Option<String>,
    },
}

/// A document to store: `None` if it is stored already.
type New = Option<Described>;

/// Pulls a document and stores the result. `kept` is the id of the document that is stored. `None` if that fails: the
/// document is then due again when the lease ends.
async fn pull_one(db: &Db, hosts: &Hosts, pull: Pull, kept: Option<i64>, wanted: Wanted) -> Option<Pulled> {
    let (url, service_id) = (wanted.url.clone(), pull.service_id);
    // The administrator may have changed the list since the URL was set.
    let fetched = match hosts.check(&url) {
        Ok(()) => in_background(move || wanted.fetch()).await,
        Err(why) => Err(why),
    };
    let host = outgoing::authority(&url);
    let compared = match fetched {
        Ok(fetched) => compare(db, kept, fetched).await,
        Err(reason) => Ok(Err(reason)),
    };
    let stored = match compared {
        Ok(fetched) => {
            if let Err(reason) = &fetched {
                info!(host, service_id, reason, "an API document was not pulled");
            }
            db.write(async |transaction| store(transaction, &pull, fetched).await).await
        }
        Err(error) => Err(error),
    };
    match stored {
        Ok(result) => Some(result),
        // The URL was changed or the service deleted meanwhile.
        Err(db::Error::LostRace) => None,
        Err(error) => {
            warn!(%error, host, service_id, "a pulled API document cannot be stored; trying again in ten minutes");
            None
        }
    }
}

/// Compares a document with the stored one, and describes it if it is another: to parse it takes much longer, and many
/// servers send no `ETag`. The inner error is that of a parser.
async fn compare(
    db: &Db,
    kept: Option<i64>,
    fetched: Fetched<String>,
) -> Result<Result<Fetched<New>, String>, db::Error> {
    let Fetched::Document { document: text, etag, last_modified } = fetched else { return Ok(Ok(Fetched::Unchanged)) };
    let is_kept = match kept {
        Some(id) => super::is_text_of(db.read(), id, &text).await?,
        None => false,
    };
    let new = match is_kept {
        true => Ok(None),
        false => in_background(move || Ok(Some(Described::parse(text)))).await,
    };
    Ok(new.map(|document| Fetched::Document { document, etag, last_modified }))
}

/// Reads a document on a thread of its own. If that panics, for example in a parser, only this document fails.
async fn in_background<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    // The text of a panic could hold a part of the URL.
    tokio::task::spawn_blocking(read).await.unwrap_or_else(|_| Err(PANICKED.to_owned()))
}

impl Wanted {
    /// Reads the document. Blocks. Errors are sentences in which only the host of the URL occurs.
    fn fetch(self) -> Result<Fetched<String>, String> {
        let host = outgoing::authority(&self.url);
        let mut request = self.agent.get(&self.url).config().timeout_global(Some(TIMEOUT)).build();
        for (name, mark) in [("if-none-match", &self.etag), ("if-modified-since", &self.last_modified)] {
            if let Some(mark) = mark {
                request = request.header(name, mark);
            }
        }
        let mut response = request.call().map_err(|error| self.failed(&error))?;
        let is_conditional = self.etag.is_some() || self.last_modified.is_some();
        match response.status().as_u16() {
            200 => {}
            304 if is_conditional => return Ok(Fetched::Unchanged),
            301 | 302 | 303 | 307 | 308 => {
                return Err(format!(
                    "{host} redirects to another URL; set that URL, because redirects are not followed"
                ));
            }
            status @ (401 | 403) => {
                return Err(format!("{host} answers {status}; rollcall can only read documents that need no sign-in"));
            }
            status => return Err(format!("{host} answers {status}")),
        }
        if mark(&response, "content-type").is_some_and(|kind| kind.to_ascii_lowercase().starts_with("text/html")) {
            return Err(format!("{host} answers with a web page; set the URL of the file itself"));
        }
        // It is not asked for.
        if let Some(coding) =
            mark(&response, "content-encoding").filter(|coding| !coding.eq_ignore_ascii_case("identity"))
        {
            let coding = coding.escape_debug();
            return Err(format!(
                "{host} answers with Content-Encoding: {coding}, although it was asked for the plain document"
            ));
        }
        let (etag, last_modified) = (mark(&response, "etag"), mark(&response, "last-modified"));
        // One byte more, so that a document of exactly this length is told from a longer one.
        let body = response.body_mut().with_config().limit(LONGEST as u64 + 1).read_to_vec();
        let body = match body {
            Ok(body) if body.len() <= LONGEST => body,
            Ok(_) | Err(ureq::Error::BodyExceedsLimit(_)) => {
                return Err(format!("the document is longer than {} MiB", LONGEST >> 20));
            }
            Err(error) => return Err(self.failed(&error)),
        };
        let text = super::text_of(&body).map_err(|wrong| format!("the document {wrong}"))?;
        if text::is_nothing(&text) {
            return Err("the document is empty".to_owned());
        }
        Ok(Fetched::Document { document: text, etag, last_modified })
    }

    fn failed(&self, error: &ureq::Error) -> String {
        let purpose = Purpose { what: "document", done: "read", receiver: "a web server" };
        match Attempt::<()>::failed(error, &purpose, &self.url) {
            Attempt::Done(()) => String::new(),
            Attempt::Refused(why) | Attempt::Again { why, .. } => why,
        }
    }
}

/// A header that is a text of reasonable length.
fn mark<B>(response: &Response<B>, name: &str) -> Option<String> {
    let text = response.headers().get(name)?.to_str().ok()?;
    (!text.is_empty() && text.len() <= LONGEST_MARK).then(|| text.to_owned())
}

/// Stores the result of a pull.
///
/// # Errors
/// [`db::Error::LostRace`] if the service, or this pull of it, does not exist any more.
async fn store(
    transaction: &Transaction,
    pull: &Pull,
    fetched: Result<Fetched<New>, String>,
) -> Result<Pulled, db::Error> {
    // The service first, as whoever changes its URL does.
    let service = row_lock::row::<service::Entity>(transaction, pull.service_id, LockType::NoKeyUpdate).await?;
    let pull = row_lock::row::<pulls::Entity>(transaction, pull.id, LockType::NoKeyUpdate).await?;
    let now = Timestamp::now();
    let failures = pull.failures;
    let mut row = pulls::ActiveModel::from(pull);
    let result = match fetched {
        Err(reason) => {
            row.error = Set(Some(shortened(&reason).to_string()));
            row.failures = Set(failures.saturating_add(1));
            row.next_pull_at = Set(after(now, retry(failures)));
            transaction.update(row).await?;
            return Ok(Pulled::Failed);
        }
        Ok(Fetched::Unchanged) => Pulled::Unchanged,
        Ok(Fetched::Document { document, etag, last_modified }) => {
            (row.etag, row.last_modified) = (Set(etag), Set(last_modified));
            match document {
                Some(described) => {
                    super::put_pulled(transaction, &service, described).await?;
                    Pulled::Changed
                }
                None => Pulled::Unchanged,
            }
        }
    };
    if result == Pulled::Unchanged && super::find(transaction, service.id, None).await?.is_none() {
        // It was deleted meanwhile. The pull is due again when its lease ends.
        return Err(db::Error::LostRace);
    }
    (row.pulled_at, row.error, row.failures) = (Set(Some(now)), Set(None), Set(0));
    // Jitter, so that documents whose URLs were set together drift apart.
    row.next_pull_at = Set(after(now, INTERVAL.mul_f64(0.9 + 0.2 * fastrand::f64())));
    transaction.update(row).await?;
    Ok(result)
}

/// The interval after a failure that follows `failures` others.
fn retry(failures: i32) -> Duration {
    let doubled = 1_u32.checked_shl(failures.unsigned_abs()).and_then(|times| FIRST_RETRY.checked_mul(times));
    doubled.map_or(LONGEST_RETRY, |pause| pause.min(LONGEST_RETRY))
}

fn after(time: Timestamp, pause: Duration) -> Timestamp {
    Timestamp::from_micros(time.as_micros() + i64::try_from(pause.as_micros()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_after_failures_grow_to_a_day() {
        let minutes: Vec<u64> = (0..5).map(|failures| retry(failures).as_secs() / 60).collect();
        assert_eq!(minutes, [5, 10, 20, 40, 80]);
        assert!([9, 31, 32, 1_000, i32::MAX].iter().all(|failures| retry(*failures) == LONGEST_RETRY));
    }

    #[tokio::test]
    async fn a_panic_is_a_failure_of_its_document() {
        let panics = || -> Result<(), String> { panic!("a bug of a parser") };
        assert_eq!(in_background(panics).await, Err(PANICKED.to_owned()));
        assert_eq!(in_background(|| Ok("read")).await, Ok("read"));
    }
}
