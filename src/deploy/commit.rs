//! Group commit: posts that wait together are committed together, so that durability costs one flush of the disk for all
//! of them. A post that waits alone is committed at once.
//!
//! One task commits; while it does, the next posts gather. Where the group fails, each of its posts is tried alone, so
//! that none pays for another.

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

/// The most posts of one transaction, unless said otherwise.
pub const GROUP: usize = 256;
/// The most posts that wait for the one after; whoever comes then waits to be let in.
const QUEUE: usize = 1024;
/// How often a post is tried alone: each time another process came first.
const ATTEMPTS: u32 = 10;
/// The longest wait before the second of them; it grows with each. Chance makes it shorter, so that two who lost to each
/// other do not meet again.
const PAUSE: Duration = Duration::from_millis(20);
/// Why a post is not recorded that came second each time.
const CONTESTED: &str = "Others are changing the same things at this moment.";

/// Where posts are recorded. Cheap to clone. When the last clone is dropped, what waits is still committed.
#[derive(Debug, Clone)]
pub struct Deploys {
    queue: mpsc::Sender<Waiting>,
}

/// Why a post is not recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The endpoint was deleted meanwhile.
    EndpointGone,
    /// The database refuses, for the reason given.
    Unavailable(&'static str),
    /// It is our fault, for the reason given, which is for the log alone.
    Internal(String),
}

#[derive(Debug)]
struct Waiting {
    post: Post,
    /// Where its statements belong in the tree of spans.
    place: spans::Place,
    reply: oneshot::Sender<Result<Outcome, Failure>>,
}

impl Deploys {
    /// Begins to commit to a migrated database, at most so many posts at a time. Needs a running tokio.
    pub fn start(db: Db, group: usize) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        tokio::spawn(commit_all(db, waiting, group));
        Self { queue }
    }

    /// Records a post. What it answers is true even when the power goes off at that moment. A caller who stops waiting
    /// does not know.
    pub async fn record(&self, post: Post) -> Result<Outcome, Failure> {
        let (reply, outcome) = oneshot::channel();
        let stopped = || Failure::Internal("what commits the deploys has stopped".to_owned());
        self.queue.send(Waiting { post, place: spans::here(), reply }).await.map_err(|_| stopped())?;
        outcome.await.map_err(|_| stopped())?
    }
}

async fn commit_all(db: Db, mut queue: mpsc::Receiver<Waiting>, most: usize) {
    let mut group = Vec::with_capacity(most);
    while queue.recv_many(&mut group, most).await > 0 {
        // The statements are those of the whole group. They have spans below the one of its first post.
        let place = group.first().map(|first: &Waiting| first.place.clone()).unwrap_or_default();
        let (posts, replies): (Vec<Post>, Vec<_>) = group.drain(..).map(|one| (one.post, one.reply)).unzip();
        let outcomes = AssertUnwindSafe(place.around(commit(&db, &posts))).catch_unwind().await;
        let outcomes = outcomes.unwrap_or_else(|_| vec![Err(Failure::Internal("it panicked".to_owned())); posts.len()]);
        for (reply, outcome) in replies.into_iter().zip(outcomes) {
            // Nobody may be waiting any more.
            let _ = reply.send(outcome);
        }
    }
}

/// Commits the posts, together or else each alone.
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

/// What a transaction that was not committed means.
enum Attempt {
    /// Nothing is written, and it may be tried again.
    Again(DbErr),
    /// Trying again is of no use, or could write twice what was committed although nobody said so.
    Hopeless(Failure),
}

async fn attempt(db: &Db, posts: &[Post]) -> Result<Vec<Outcome>, Attempt> {
    let hopeless = |error: DbErr| Attempt::Hopeless(error.into());
    let transaction = db.begin_write().await.map_err(hopeless)?;
    match store::record(&transaction, posts, Timestamp::now()).await {
        Ok(outcomes) => {
            // Whoever lost a race at its very end has written nothing.
            let again = |error| if db::is_lost_race(&error) { Attempt::Again(error) } else { hopeless(error) };
            db.commit(transaction).await.map_err(again)?;
            Ok(outcomes)
        }
        Err(error) => {
            db.note_failed_write(&error);
            // It has failed either way, and what failed first is what counts.
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
