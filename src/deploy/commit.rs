//! Group commit: posts that wait at the same time are committed in one transaction and share one disk flush. A post
//! that waits alone is committed at once.
//!
//! A single task commits; meanwhile the next posts queue up. If a group fails, each of its posts is retried alone, so
//! that a bad post does not fail the others.

use std::panic::AssertUnwindSafe;
use std::slice;
use std::time::Duration;

use futures_util::FutureExt;
use sea_orm::{DbErr, EntityTrait};
use tokio::sync::{mpsc, oneshot};

use super::{Outcome, Post, store};
use crate::db::{self, Db};
use crate::entity::{Timestamp, integration};
use crate::spans;

/// The default maximum number of posts in a transaction.
pub const GROUP: usize = 256;
/// The maximum number of queued posts. Further callers wait to enqueue.
const QUEUE: usize = 1024;
/// How often a single post is tried while other processes win the race.
const ATTEMPTS: u32 = 10;
/// The longest wait before the second attempt; it grows with each. The actual wait is random, so that two processes
/// that collided do not collide again.
const PAUSE: Duration = Duration::from_millis(20);
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

#[derive(Debug)]
struct Waiting {
    post: Post,
    /// The parent span of its statements.
    place: spans::Place,
    reply: oneshot::Sender<Result<Outcome, Failure>>,
}

impl Deploys {
    /// Starts the task that commits to a migrated database, at most `group` posts per transaction. Must be called
    /// within a tokio runtime.
    pub fn start(db: Db, group: usize) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        tokio::spawn(commit_all(db, waiting, group));
        Self { queue }
    }

    /// Records a post. When this returns `Ok`, the outcome survives a power cut. If the future is dropped, the post may
    /// or may not be recorded.
    pub async fn record(&self, post: Post) -> Result<Outcome, Failure> {
        let (reply, outcome) = oneshot::channel();
        let stopped = || Failure::Internal("the task that commits deploys has stopped".to_owned());
        self.queue.send(Waiting { post, place: spans::here(), reply }).await.map_err(|_| stopped())?;
        outcome.await.map_err(|_| stopped())?
    }
}

async fn commit_all(db: Db, mut queue: mpsc::Receiver<Waiting>, most: usize) {
    let mut group = Vec::with_capacity(most);
    while queue.recv_many(&mut group, most).await > 0 {
        // The statements belong to the whole group. Their spans are children of the first post's span.
        let place = group.first().map(|first: &Waiting| first.place.clone()).unwrap_or_default();
        let (posts, replies): (Vec<Post>, Vec<_>) = group.drain(..).map(|one| (one.post, one.reply)).unzip();
        let outcomes = AssertUnwindSafe(place.around(commit(&db, &posts))).catch_unwind().await;
        let outcomes = outcomes.unwrap_or_else(|_| vec![Err(Failure::Internal("it panicked".to_owned())); posts.len()]);
        for (reply, outcome) in replies.into_iter().zip(outcomes) {
            // The caller may have given up.
            let _ = reply.send(outcome);
        }
    }
}

/// Commits the posts together, or, if that fails, each alone.
async fn commit(db: &Db, posts: &[Post]) -> Vec<Result<Outcome, Failure>> {
    match attempt(db, posts).await {
        Ok(outcomes) => outcomes.into_iter().map(Ok).collect(),
        Err(Attempt::Hopeless(failure)) => vec![Err(failure); posts.len()],
        Err(Attempt::Again(_)) => {
            let mut outcomes = Vec::with_capacity(posts.len());
            for post in posts {
                outcomes.push(alone(db, post).await);
            }
            outcomes
        }
    }
}

async fn alone(db: &Db, post: &Post) -> Result<Outcome, Failure> {
    let mut last = None;
    for number in 0..ATTEMPTS {
        tokio::time::sleep(PAUSE.mul_f64(f64::from(number) * fastrand::f64())).await;
        match attempt(db, slice::from_ref(post)).await {
            Ok(outcomes) => return outcomes.into_iter().next().ok_or(Failure::Internal("no outcome".to_owned())),
            Err(Attempt::Hopeless(failure)) => return Err(failure),
            Err(Attempt::Again(error)) => last = Some(error),
        }
        let endpoint = integration::Entity::find_by_id(post.integration_id).one(db.read()).await?;
        if endpoint.is_none() {
            return Err(Failure::EndpointGone);
        }
    }
    Err(match last {
        Some(error) if db::is_lost_race(&error) => Failure::Unavailable(CONTESTED),
        Some(error) => error.into(),
        None => Failure::Internal("no attempt".to_owned()),
    })
}

/// Why a transaction was not committed.
enum Attempt {
    /// Nothing was written, and a retry may help.
    Again(DbErr),
    /// A retry would not help, or could write twice: the commit may have succeeded without confirmation.
    Hopeless(Failure),
}

async fn attempt(db: &Db, posts: &[Post]) -> Result<Vec<Outcome>, Attempt> {
    let hopeless = |error: DbErr| Attempt::Hopeless(error.into());
    let transaction = db.begin_write().await.map_err(hopeless)?;
    match store::record(&transaction, posts, Timestamp::now()).await {
        Ok(outcomes) => {
            // A transaction that lost a race during its commit has written nothing.
            let again = |error| if db::is_lost_race(&error) { Attempt::Again(error) } else { hopeless(error) };
            db.commit(transaction).await.map_err(again)?;
            Ok(outcomes)
        }
        Err(error) => {
            db.note_failed_write(&error);
            // Report the first error, not that of the rollback.
            let _ = transaction.rollback().await;
            Err(if db::refusal(&error).is_some() { hopeless(error) } else { Attempt::Again(error) })
        }
    }
}

impl From<DbErr> for Failure {
    fn from(error: DbErr) -> Self {
        match db::refusal(&error) {
            Some(reason) => Self::Unavailable(reason),
            None => Self::Internal(error.to_string()),
        }
    }
}
