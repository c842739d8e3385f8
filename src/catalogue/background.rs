//! Background tasks: what a server does beside answering requests.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// The pause before a task that has panicked starts again.
const PAUSE_AFTER_PANIC: Duration = Duration::from_secs(60);

/// Starts a background task. After a panic, starts it again a minute later. A task that ends is not started again.
pub fn spawn_again<F>(name: &'static str, run: impl FnMut() -> F + Send + 'static) -> JoinHandle<()>
where
    F: Future<Output = ()> + Send + 'static,
{
    tokio::spawn(again_after_panics(name, PAUSE_AFTER_PANIC, run))
}

async fn again_after_panics<F>(name: &'static str, pause: Duration, mut run: impl FnMut() -> F)
where
    F: Future<Output = ()>,
{
    // The inner block also catches a panic of `run` itself.
    while AssertUnwindSafe(async { run().await }).catch_unwind().await.is_err() {
        tracing::error!(task = name, "a background task has panicked and starts again in {} s", pause.as_secs());
        sleep(pause).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_task_that_panics_starts_again_until_it_ends() {
        let starts = AtomicU32::new(0);
        let run = || {
            let start = starts.fetch_add(1, Ordering::Relaxed);
            assert!(start != 0, "on purpose, before the future is there");
            async move { assert!(start != 1, "on purpose, in the future") }
        };
        again_after_panics("test", Duration::ZERO, run).await;
        assert_eq!(starts.into_inner(), 3);
    }

    #[tokio::test]
    async fn a_task_that_waits_to_start_again_can_be_aborted() {
        let task = spawn_again("test", || async { panic!("on purpose") });
        tokio::task::yield_now().await;
        assert!(!task.is_finished());
        task.abort();
        assert!(task.await.is_err_and(|error| error.is_cancelled()));
    }
}
