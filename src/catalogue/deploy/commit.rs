//! Group commit: posts that wait at the same time are committed in one transaction and share one disk flush. A post
//! that waits alone is committed at once.
//!
//! A single task commits; meanwhile the next posts queue up. If a group fails, each of its posts is retried alone, so
//! that a bad post does not fail the others. A post whose rows someone else has locked is set aside: another task
//! retries it, and the posts for other services go on.

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::slice;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sea_orm::EntityTrait;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::timeout_at;

use super::{Outcome, Post, store};
use crate::db::{self, Db, Read};
use crate::entity::{Timestamp, integration};
use crate::events::Wanted;
use crate::spans;

/// The default maximum number of posts in a transaction.
pub const GROUP: usize = 256;
/// The maximum number of queued posts. Further callers wait to enqueue.
pub const QUEUE: usize = 1024;
/// How often a single post is tried while other processes win the race.
const ATTEMPTS: u32 = 10;
/// The longest wait before the second attempt; it grows with each. The actual wait is random, so that two processes
/// that collided do not collide again.
const PAUSE: Duration = Duration::from_millis(20);
/// How long a transaction may take before its commit.
const WRITE: Duration = Duration::from_secs(10);
/// How long a post that was set aside is retried. Longer than a process that has died keeps its locks.
pub const ASIDE_TIMEOUT: Duration = Duration::from_secs(20);
/// How long further posts for the same service are set aside without an attempt, after one was set aside.
const LOCK_BACKOFF: Duration = Duration::from_secs(2);
/// How long the posts of a group may wait for locks, one after another. Then the rest are set aside without an attempt.
pub const LOCK_WAIT: Duration = Duration::from_secs(2);
/// The maximum number of posts that are set aside.
pub const MOST_ASIDE: usize = 256;
/// The error for a post that had to be set aside when too many were.
const TOO_MANY_ASIDE: &str = "Too many deploys wait for services that are locked. Please retry.";
/// The error for a post that was set aside and was not tried in time.
const NO_TURN: &str =
    "Too many deploys wait for services that are locked, and this one was not tried in time. Please retry.";
/// The error for a deploy that lost the race on every attempt.
const CONTESTED: &str = "Conflict with concurrent changes. Please retry.";

/// Records deploys. Cheap to clone. After the last clone is dropped, queued posts are still committed.
#[derive(Debug, Clone)]
pub struct Deploys {
    queue: mpsc::Sender<Waiting>,
}

/// Why a post was not recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The endpoint was deleted in the meantime.
    EndpointGone,
    /// The database refuses writes, for the given reason.
    Unavailable(&'static str),
    /// An internal error. The reason is logged and never shown to the client.
    Internal(String),
}

/// Where deploys are recorded, and which events somebody wants.
#[derive(Debug, Clone)]
struct Recorder {
    db: Db,
    events: Wanted,
}

#[derive(Debug)]
struct Waiting {
    post: Post,
    /// The parent span of its statements.
    parent: spans::SpanParent,
    reply: oneshot::Sender<Result<Outcome, Failure>>,
}

impl Deploys {
    /// Starts the task that commits to a migrated database, at most `group` posts per transaction, with the `events` that
    /// somebody wants. Must be called
    /// within a tokio runtime.
    pub fn start(db: Db, events: Wanted, group: usize) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        tokio::spawn(commit_all(Recorder { db, events }, waiting, group));
        Self { queue }
    }

    /// Records a post. When this returns `Ok`, the outcome survives a power cut. If the future is dropped, the post may
    /// or may not be recorded.
    pub fn record(&self, post: Post) -> BoxFuture<'_, Result<Outcome, Failure>> {
        Box::pin(async move {
            let (reply, outcome) = oneshot::channel();
            let stopped = || Failure::Internal("the task that commits deploys has stopped".to_owned());
            self.queue.send(Waiting { post, parent: spans::current(), reply }).await.map_err(|_| stopped())?;
            outcome.await.map_err(|_| stopped())?
        })
    }
}

async fn commit_all(recorder: Recorder, mut queue: mpsc::Receiver<Waiting>, most: usize) {
    let mut group = Vec::with_capacity(most);
    let mut aside = Aside {
        recorder: recorder.clone(),
        turn: Arc::new(Semaphore::new(1)),
        room: Arc::new(Semaphore::new(MOST_ASIDE)),
        timeout: ASIDE_TIMEOUT,
        locked: HashMap::new(),
    };
    while queue.recv_many(&mut group, most).await > 0 {
        aside.take_locked(&mut group);
        if group.is_empty() {
            continue;
        }
        // The statements belong to the whole group. Their spans are children of the first post's span.
        let parent = group.first().map(|first: &Waiting| first.parent.clone()).unwrap_or_default();
        let posts: Vec<Post> = group.iter().map(|one| one.post.clone()).collect();
        let fates = AssertUnwindSafe(parent.instrument(commit(&recorder, &posts))).catch_unwind().await;
        let panicked = || Fate::Done(Err(Failure::Internal("it panicked".to_owned())));
        let fates = fates.unwrap_or_else(|_| vec![panicked(); posts.len()]);
        for (waiting, fate) in group.drain(..).zip(fates) {
            match fate {
                // The caller may have given up.
                Fate::Done(outcome) => drop(waiting.reply.send(outcome)),
                Fate::Locked => aside.set(waiting),
                Fate::Late => aside.retry(waiting),
            }
        }
    }
}

/// Posts whose rows someone else has locked: a process that has stalled, or a long mutation.
struct Aside {
    recorder: Recorder,
    /// Only one of them is tried at a time.
    turn: Arc<Semaphore>,
    /// Bounds their number.
    room: Arc<Semaphore>,
    /// How long each is retried.
    timeout: Duration,
    /// When a post for a service was last set aside, by alias.
    locked: HashMap<String, Instant>,
}

impl Aside {
    /// Sets aside the posts of a group whose service was locked a moment ago.
    fn take_locked(&mut self, group: &mut Vec<Waiting>) {
        self.locked.retain(|_, since| since.elapsed() < LOCK_BACKOFF);
        if !self.locked.is_empty() {
            let is_locked = |one: &mut Waiting| self.locked.contains_key(&one.post.record.service);
            let locked: Vec<Waiting> = group.extract_if(.., is_locked).collect();
            locked.into_iter().for_each(|one| self.retry(one));
        }
    }

    /// Sets a post aside, and for a moment all others for its service.
    fn set(&mut self, one: Waiting) {
        self.locked.insert(one.post.record.service.clone(), Instant::now());
        self.retry(one);
    }

    /// Retries a post in a task of its own until its rows are free, or its caller has gone.
    fn retry(&self, Waiting { post, parent, reply }: Waiting) {
        let Ok(room) = Arc::clone(&self.room).try_acquire_owned() else {
            return drop(reply.send(Err(Failure::Unavailable(TOO_MANY_ASIDE))));
        };
        let (recorder, turn, until) = (self.recorder.clone(), Arc::clone(&self.turn), Instant::now() + self.timeout);
        tokio::spawn(async move {
            let _room = room;
            let outcome = loop {
                let Ok(own_turn) = timeout_at(until.into(), turn.acquire()).await else {
                    break Err(Failure::Unavailable(NO_TURN));
                };
                if reply.is_closed() {
                    return;
                }
                let tried = parent.instrument(alone(&recorder, &post)).await;
                drop(own_turn);
                match tried {
                    Ok(outcome) => break Ok(outcome),
                    Err(Alone::Failed(failure)) => break Err(failure),
                    Err(Alone::Locked(reason)) if Instant::now() >= until => break Err(Failure::Unavailable(reason)),
                    Err(Alone::Locked(_)) => tokio::time::sleep(PAUSE).await,
                }
            };
            let _ = reply.send(outcome);
        });
    }
}

/// What became of a post in a group.
#[derive(Debug, Clone)]
enum Fate {
    Done(Result<Outcome, Failure>),
    /// Someone else has locked its rows.
    Locked,
    /// It was not tried, because others have waited for locks for too long.
    Late,
}

/// Commits the posts together, or, if that fails, each alone.
async fn commit(recorder: &Recorder, posts: &[Post]) -> Vec<Fate> {
    match attempt(recorder, posts).await {
        Ok(outcomes) => outcomes.into_iter().map(|outcome| Fate::Done(Ok(outcome))).collect(),
        Err(Attempt::Final(failure)) => vec![Fate::Done(Err(failure)); posts.len()],
        Err(Attempt::Uncertain(reason)) => posts.iter().map(|post| Fate::Done(Err(uncertain(post, reason)))).collect(),
        Err(Attempt::Locked(_)) if posts.len() == 1 => vec![Fate::Locked],
        Err(Attempt::Locked(_) | Attempt::Again(_)) => each_alone(recorder, posts).await,
    }
}

/// Commits each post alone. Of the posts for a service that is locked, only the first waits for the lock.
async fn each_alone(recorder: &Recorder, posts: &[Post]) -> Vec<Fate> {
    let mut fates = Vec::with_capacity(posts.len());
    let mut locked: HashSet<&str> = HashSet::new();
    let mut waited = Duration::ZERO;
    for post in posts {
        let service = post.record.service.as_str();
        if locked.contains(service) {
            fates.push(Fate::Locked);
            continue;
        }
        if waited >= LOCK_WAIT {
            fates.push(Fate::Late);
            continue;
        }
        let began = Instant::now();
        fates.push(match alone(recorder, post).await {
            Ok(outcome) => Fate::Done(Ok(outcome)),
            Err(Alone::Failed(failure)) => Fate::Done(Err(failure)),
            Err(Alone::Locked(_)) => {
                locked.insert(service);
                waited += began.elapsed();
                Fate::Locked
            }
        });
    }
    fates
}

/// The failure of a post whose commit was not confirmed. With a `dedup_id` the post can be sent again. Without one it
/// could be recorded twice, so the client must not be told to retry.
fn uncertain(post: &Post, reason: &'static str) -> Failure {
    match post.record.dedup_id {
        Some(_) => Failure::Unavailable(reason),
        None => Failure::Internal(reason.to_owned()),
    }
}

/// Why a single post was not committed.
enum Alone {
    /// Someone else has locked its rows. The sentence is for the client.
    Locked(&'static str),
    Failed(Failure),
}

impl From<Failure> for Alone {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

async fn alone(recorder: &Recorder, post: &Post) -> Result<Outcome, Alone> {
    let mut last = None;
    for number in 0..ATTEMPTS {
        tokio::time::sleep(PAUSE.mul_f64(f64::from(number) * fastrand::f64())).await;
        match attempt(recorder, slice::from_ref(post)).await {
            Ok(outcomes) => {
                return Ok(outcomes.into_iter().next().ok_or(Failure::Internal("no outcome".to_owned()))?);
            }
            Err(Attempt::Final(failure)) => return Err(failure.into()),
            Err(Attempt::Uncertain(reason)) => return Err(uncertain(post, reason).into()),
            Err(Attempt::Locked(reason)) => return Err(Alone::Locked(reason)),
            Err(Attempt::Again(error)) => last = Some(error),
        }
        let endpoint = recorder.db.read().one(integration::Entity::find_by_id(post.integration_id)).await;
        if endpoint.map_err(Failure::from)?.is_none() {
            return Err(Failure::EndpointGone.into());
        }
    }
    Err(Alone::Failed(match last {
        Some(error) if error.is_lost_race() => Failure::Unavailable(CONTESTED),
        Some(error) => error.into(),
        None => Failure::Internal("no attempt".to_owned()),
    }))
}

/// Why a transaction was not committed.
enum Attempt {
    /// Nothing was written, and a retry may help.
    Again(db::Error),
    /// Someone else has locked a row. The sentence is for the client.
    Locked(&'static str),
    /// A retry would not help.
    Final(Failure),
    /// The commit was not confirmed, and may have succeeded. The sentence is for the client.
    Uncertain(&'static str),
}

async fn attempt(Recorder { db, events }: &Recorder, posts: &[Post]) -> Result<Vec<Outcome>, Attempt> {
    let give_up = |error: db::Error| Attempt::Final(error.into());
    let transaction = db.begin_write().await.map_err(give_up)?;
    let recorded = db.until(Instant::now() + WRITE, store::record(&transaction, events, posts, Timestamp::now())).await;
    match recorded {
        Ok(outcomes) => {
            // A transaction that lost a race during its commit has written nothing.
            let failed = |error: db::Error| match error.uncertain() {
                Some(reason) => Attempt::Uncertain(reason),
                None if error.is_lost_race() => Attempt::Again(error),
                None => give_up(error),
            };
            db.commit(transaction).await.map_err(failed)?;
            Ok(outcomes)
        }
        Err(error) => {
            db.note_failed_write(&error);
            // Report the first error, not that of the rollback.
            let _ = db.roll_back(transaction).await;
            Err(match error.refusal() {
                Some(reason) if error.is_locked() => Attempt::Locked(reason),
                Some(_) => give_up(error),
                None => Attempt::Again(error),
            })
        }
    }
}

impl From<db::Error> for Failure {
    fn from(error: db::Error) -> Self {
        match error.refusal() {
            Some(reason) => Self::Unavailable(reason),
            None => Self::Internal(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deploy::Record;
    use crate::entity::deploy;
    use crate::entity::integration::Kind;

    /// A database, a place for posts that are set aside for at most this long, and a post.
    async fn prepared(timeout: Duration) -> (tempfile::TempDir, Aside, Post) {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite://{}", folder.path().join("aside.db").display());
        let db = db::connect(&url).await.expect("a database");
        db::migrate(&db).await.expect("migrations");
        let (name, now) = ("CI".to_owned(), Timestamp::now());
        let endpoint = db.write(async |tx| integration::create(tx, Kind::Deploy, name, now).await).await;
        let integration_id = endpoint.expect("an endpoint").id;
        let body = r#"{
            "service": "cart", "description": "x", "deployed_at": "2026-11-21 01:44:00", "deployer": { "name": "Ada" }
        }"#;
        let post = Post { integration_id, record: Record::read(body, false).expect("a record").record };
        let (turn, room) = (Arc::new(Semaphore::new(1)), Arc::new(Semaphore::new(1)));
        let recorder = Recorder { db, events: Wanted::default() };
        (folder, Aside { recorder, turn, room, timeout, locked: HashMap::new() }, post)
    }

    #[tokio::test]
    async fn a_post_that_is_set_aside_and_gets_no_turn_is_refused_in_time() {
        let (_folder, aside, post) = prepared(Duration::from_millis(10)).await;
        let _turn = aside.turn.acquire().await.expect("a turn");
        let (reply, outcome) = oneshot::channel();
        aside.retry(Waiting { post, parent: spans::SpanParent::default(), reply });
        let outcome = tokio::time::timeout(Duration::from_secs(10), outcome).await.expect("in time");
        assert_eq!(outcome.expect("an answer"), Err(Failure::Unavailable(NO_TURN)));
    }

    #[tokio::test]
    async fn a_post_that_is_set_aside_and_whose_caller_has_gone_is_not_recorded() {
        let (_folder, aside, post) = prepared(ASIDE_TIMEOUT).await;
        let turn = aside.turn.acquire().await.expect("a turn");
        let (reply, outcome) = oneshot::channel();
        aside.retry(Waiting { post, parent: spans::SpanParent::default(), reply });
        drop((outcome, turn));
        // The post has left its place.
        let _room = aside.room.acquire().await.expect("room");
        let deploys = aside.recorder.db.read().all(deploy::Entity::find()).await.expect("deploys");
        assert!(deploys.is_empty(), "{deploys:?}");
    }
}
