//! Evaluates what people write: jq expressions, and messages in Liquid.
//!
//! Neither language knows limits. An expression can ask for any time, any memory, and any depth of recursion, and the last
//! two end a process. So a batch of expressions runs in a process of its own ([`worker`]), which ends at a limit, and
//! never in the server. [`process`] starts it and reads what it says; [`message`] is what passes between the two.
//!
//! Invariants: no other folder names jaq or Liquid's crate, and they run only in that process. The server never
//! evaluates, nor reads an expression.

mod jq;
mod liquid;
mod message;
mod process;
pub mod worker;

use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, Instant};

use quick_cache::sync::Cache;
use tokio::sync::{AcquireError, Semaphore, SemaphorePermit};
use tokio::time::timeout_at;

use message::Task;
pub use message::{Evaluated, Language, One};

/// The processor time of one evaluation.
pub const TIME: Duration = Duration::from_millis(50);

/// The processor time that it takes to read an expression or a template, and an input.
pub const READING: Duration = Duration::from_millis(500);

/// The memory of one evaluation, beside its input, in bytes.
pub const MEMORY: usize = 16 << 20;

/// The maximum length of a message, in characters. A longer one is cut.
pub const MESSAGE: usize = 2_000;

/// The maximum number of services that one expression can name.
pub const NAMES: usize = 1_000;

/// The time for a whole batch.
pub const BATCH: Duration = Duration::from_secs(5);

/// The number of batches that run at a time.
pub const AT_ONCE: usize = 2;

/// The word by which the program knows that it is to evaluate.
pub const COMMAND: &str = "evaluate";

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
/// The expressions and templates that were read, by a hash that nobody outside can foresee, each with what is wrong with it.
static KNOWN: LazyLock<(Cache<u64, Option<String>>, RandomState)> =
    LazyLock::new(|| (Cache::new(4_096), RandomState::new()));
static PLACES: Semaphore = Semaphore::const_new(AT_ONCE);

/// Says which program evaluates: this one. The first call counts.
pub fn use_program(path: PathBuf) {
    let _ = PROGRAM.set(path);
}

/// The expressions of a check of custom events.
#[derive(Debug, Clone, Default)]
pub struct Expressions {
    /// A jq expression that gives the names of services.
    pub selector: String,
    /// A jq expression that says whether such a service passes.
    pub condition: String,
    /// A message in Liquid.
    pub message: Option<String>,
}

/// Evaluates checks of custom events on an event. `None` for a check for which no time was left.
///
/// # Errors
/// Why nothing could be evaluated: the machine's fault.
pub async fn of_event(payload: String, checks: Vec<Expressions>) -> Result<Vec<Option<Evaluated>>, String> {
    let task = |Expressions { selector, condition, message }| Task::Event { selector, condition, message };
    batch(payload, checks.into_iter().map(task).collect()).await
}

/// Evaluates a jq expression on each element of `values`, a JSON array.
///
/// # Errors
/// Why nothing could be evaluated.
pub async fn of_each(values: String, condition: String) -> Result<Evaluated, String> {
    let mut evaluated = batch(values, vec![Task::Each { condition }]).await?;
    evaluated.pop().flatten().ok_or_else(|| "the evaluation takes too long".to_owned())
}

/// Says what is wrong with expressions and templates, in their order: that no time was left to read one until the end is,
/// too. `None` if nothing is. What was read before is not read again.
///
/// # Errors
/// Why they could not be read: the machine's fault.
pub async fn mistakes(texts: Vec<(Language, String)>, end: Instant) -> Result<Vec<Option<String>>, String> {
    let keys: Vec<u64> = texts.iter().map(|text| KNOWN.1.hash_one(text)).collect();
    let known: Vec<Option<Option<String>>> = keys.iter().map(|key| KNOWN.0.get(key)).collect();
    let unknown: Vec<usize> = (0..texts.len()).filter(|place| known[*place].is_none()).collect();
    let task = |place: &usize| {
        let (language, text) = texts[*place].clone();
        Task::Read { language, text }
    };
    let tasks = unknown.iter().map(task).collect();
    // Others may keep it waiting.
    let evaluated = match timeout_at(end.into(), PLACES.acquire()).await {
        Ok(place) => batch_in(place, "null".to_owned(), tasks, end).await?,
        Err(_) => vec![None; unknown.len()],
    };
    let mut mistakes: Vec<Option<String>> = known.into_iter().map(Option::flatten).collect();
    for (place, one) in unknown.into_iter().zip(evaluated) {
        match one {
            Some(Evaluated { fault, was_ended, .. }) => {
                // Another time, the machine may be quicker.
                if !was_ended {
                    KNOWN.0.insert(keys[place], fault.clone());
                }
                mistakes[place] = fault;
            }
            None => mistakes[place] = Some("reading it, and those before it, takes too long".to_owned()),
        }
    }
    Ok(mistakes)
}

async fn batch(input: String, tasks: Vec<Task>) -> Result<Vec<Option<Evaluated>>, String> {
    let place = PLACES.acquire().await;
    batch_in(place, input, tasks, Instant::now() + BATCH).await
}

/// Carries out tasks in a place, within the time for a batch and until the end.
async fn batch_in(
    place: Result<SemaphorePermit<'_>, AcquireError>,
    input: String,
    tasks: Vec<Task>,
    end: Instant,
) -> Result<Vec<Option<Evaluated>>, String> {
    let program = PROGRAM.get().cloned().ok_or("this program cannot evaluate expressions")?;
    if tasks.is_empty() {
        return Ok(Vec::new());
    }
    let _place = place.map_err(|error| error.to_string())?;
    let until = end.min(Instant::now() + BATCH);
    let done = tokio::task::spawn_blocking(move || process::run(&program, &input, &tasks, until));
    done.await.map_err(|error| error.to_string())?
}
