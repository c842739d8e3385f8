//! Runs batches in processes of their own.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use super::message::{Evaluated, Job, Line, One, Said, Task};
use super::worker::{TOO_LATE, TOO_LONG, TOO_MUCH};
use super::{BATCH, COMMAND, MEMORY, TIME};

/// The longest line that is read, in bytes: the names of a task.
const LONGEST_LINE: u64 = 8 << 20;

/// Carries out the tasks. After a task that has ended its process, another process carries out the rest.
pub(super) fn run(
    program: &Path,
    input: &str,
    tasks: &[Task],
    until: Instant,
) -> Result<Vec<Option<Evaluated>>, String> {
    let mut done: Vec<Option<Evaluated>> = vec![None; tasks.len()];
    let mut first = 0;
    while first < tasks.len() && Instant::now() < until {
        let ended = one_process(program, input, &tasks[first..], until, &mut done[first..])?;
        let Some(stopped) = done.iter().position(|one| one.as_ref().is_none_or(|one| !one.is_whole())) else { break };
        if ended.code() == Some(TOO_LATE) && stopped > first {
            // There was no time for it: what it did is left out, and it is evaluated again.
            done[stopped..].fill(None);
            break;
        }
        let own = done[stopped].get_or_insert_default();
        let why = reason(ended);
        own.ones.resize_with(own.names.len(), || One { fault: Some(why.clone()), ..One::default() });
        (own.fault, own.was_ended) = (Some(why), true);
        first = stopped + 1;
    }
    Ok(done)
}

impl Evaluated {
    /// Whether all was said of a task.
    fn is_whole(&self) -> bool {
        self.fault.is_some() || self.ones.len() == self.names.len()
    }
}

/// Why a process did not carry out all tasks, as the end of a sentence.
fn reason(ended: ExitStatus) -> String {
    match (ended.code(), ended.signal()) {
        (Some(TOO_LONG), _) => format!("it takes more than {} ms", TIME.as_millis()),
        (Some(TOO_MUCH), _) => format!("it needs more than {} MiB of memory", MEMORY >> 20),
        (Some(TOO_LATE), _) => format!("the evaluation takes more than {} s", BATCH.as_secs()),
        (None, Some(_)) => "it recurses too deeply, or needs too much memory".to_owned(),
        _ => "the evaluation has ended before its end".to_owned(),
    }
}

/// Starts a process, tells it the tasks, and notes what it says of them. Returns how it ended.
fn one_process(
    program: &Path,
    input: &str,
    tasks: &[Task],
    until: Instant,
    done: &mut [Option<Evaluated>],
) -> Result<ExitStatus, String> {
    let failed = |error: std::io::Error| format!("expressions cannot be evaluated: {error}");
    let mut process = Command::new(program)
        .arg(COMMAND)
        // Expressions can read the environment, which has secrets. And memory is to be had bit by bit, so that a limit
        // holds.
        .env_clear()
        .env("MIMALLOC_ARENA_EAGER_COMMIT", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let left = until.saturating_duration_since(Instant::now());
    let job = Job { input, tasks, time: u64::try_from(left.as_millis()).unwrap_or(u64::MAX) };
    if let Some(mut pipe) = process.stdin.take() {
        // It ends before it has read all if that is too much; then its status says so.
        let _ = serde_json::to_vec(&job).map_err(Into::into).and_then(|job| pipe.write_all(&job));
    }
    if let Some(pipe) = process.stdout.take() {
        note(BufReader::new(pipe), done);
    }
    // It has closed its output, or says what it should not.
    let _ = process.kill();
    process.wait().map_err(failed)
}

/// Notes what a process says, until it ends.
fn note(mut lines: impl BufRead, done: &mut [Option<Evaluated>]) {
    let mut line = Vec::new();
    loop {
        line.clear();
        match lines.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(length) if length > 0 => {}
            _ => return,
        }
        let Ok(Line { task, said }) = serde_json::from_slice(&line) else { return };
        let Some(own) = done.get_mut(task) else { return };
        let own = own.get_or_insert_default();
        match said {
            Said::Names(names) => own.names = names,
            Said::One(one) => own.ones.push(one),
            Said::Fault(why) => own.fault = Some(why),
        }
    }
}
