//! The process that evaluates: reads a job from standard input, and says what it finds on standard output.
//!
//! One thread evaluates. The other, the first, watches it, and ends the process at a limit: of processor time, of memory
//! that is in use, and of time. A stack that overflows, and memory that there is not, end it too.

use std::fs;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

use super::message::{Job, Line, One, Said, Task};
use super::{MEMORY, READING, TIME, jq, liquid};
use super::{jq::Expression, message::Language};

/// The status if an evaluation takes too much processor time.
pub(super) const TOO_LONG: i32 = 71;
/// The status if an evaluation needs too much memory.
pub(super) const TOO_MUCH: i32 = 72;
/// The status if all takes too long.
pub(super) const TOO_LATE: i32 = 73;

/// The stack of the thread that evaluates, in bytes.
const STACK: usize = 8 << 20;
/// What the process may use at most, in bytes: an input, in the two forms in which the languages have it, and evaluations.
const ALL_MEMORY: u64 = 256 << 20;
/// The interval between two looks.
const LOOK: Duration = Duration::from_millis(2);

/// What the thread that evaluates tells the other.
#[derive(Default)]
struct Watched {
    /// The processor time at which what runs must have ended, in microseconds. 0 if nothing runs.
    end: AtomicU64,
    /// The memory that may be in use, in bytes.
    memory: AtomicU64,
}

/// Carries out the job on standard input.
pub fn run() -> ExitCode {
    // Where the process must not set limits, the look at the memory holds alone.
    let limit = |resource, most| {
        let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    };
    limit(Resource::Core, 0);
    limit(Resource::Data, pages(5).saturating_add(ALL_MEMORY));
    let mut job = Vec::new();
    let job: Job<String, Vec<Task>> = match io::stdin().read_to_end(&mut job).map(|_| serde_json::from_slice(&job)) {
        Ok(Ok(job)) => job,
        _ => return ExitCode::FAILURE,
    };
    let until = Instant::now() + Duration::from_millis(job.time);
    let watched = Arc::new(Watched::default());
    let theirs = Arc::clone(&watched);
    let work = thread::Builder::new().stack_size(STACK).spawn(move || carry_out(&job, &theirs));
    let Ok(work) = work else { return ExitCode::FAILURE };
    while !work.is_finished() {
        thread::sleep(LOOK);
        let end = watched.end.load(Ordering::Acquire);
        if end > 0 && used() > end {
            std::process::exit(TOO_LONG);
        }
        let memory = watched.memory.load(Ordering::Acquire);
        if Ord::min(memory.wrapping_sub(1), ALL_MEMORY) < in_use() {
            std::process::exit(TOO_MUCH);
        }
        if Instant::now() > until {
            std::process::exit(TOO_LATE);
        }
    }
    match work.join() {
        Ok(Ok(())) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// The processor time of this process, in microseconds.
fn used() -> u64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    u64::try_from(used.tv_sec * 1_000_000 + used.tv_nsec / 1_000).unwrap_or_default()
}

/// The memory of its own that the process has in use, in bytes. 0 where the system does not say.
fn in_use() -> u64 {
    pages(1).saturating_sub(pages(2))
}

/// A figure of Linux about the memory of this process, in bytes.
fn pages(place: usize) -> u64 {
    let figures = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let figure = figures.split_whitespace().nth(place).and_then(|figure| figure.parse::<u64>().ok());
    figure.unwrap_or_default() * rustix::param::page_size() as u64
}

impl Watched {
    /// Runs `work` under limits.
    fn within<T>(&self, time: Duration, memory: usize, work: impl FnOnce() -> T) -> T {
        self.memory.store(in_use() + memory as u64 + 1, Ordering::Release);
        self.end.store(used() + u64::try_from(time.as_micros()).unwrap_or(u64::MAX), Ordering::Release);
        let done = work();
        self.end.store(0, Ordering::Release);
        done
    }
}

fn say(task: usize, said: Said) -> io::Result<()> {
    let mut line = serde_json::to_vec(&Line { task, said })?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}

fn carry_out(job: &Job<String, Vec<Task>>, watched: &Watched) -> io::Result<()> {
    let whole = usize::try_from(ALL_MEMORY).unwrap_or(usize::MAX);
    let input = watched.within(READING, whole, || jq::input(&job.input));
    // The same again, as Liquid has it, once a message asks for it.
    let mut globals = None;
    for (task, what) in job.tasks.iter().enumerate() {
        let input = match &input {
            Ok(input) => input,
            Err(why) => {
                say(task, Said::Fault(why.clone()))?;
                continue;
            }
        };
        match what {
            Task::Read { language, text } => {
                let read = watched.within(READING, MEMORY, || match language {
                    Language::Jq => Expression::read(text).map(drop),
                    Language::Liquid => liquid::read(text).map(drop),
                });
                say(task, read.map_or_else(Said::Fault, |()| Said::Names(Vec::new())))?;
            }
            Task::Each { condition } => {
                let condition = match watched.within(READING, MEMORY, || Expression::read(condition)) {
                    Ok(condition) => condition,
                    Err(why) => {
                        say(task, Said::Fault(why))?;
                        continue;
                    }
                };
                let elements = jq::elements(input);
                say(task, Said::Names(vec![String::new(); elements.len()]))?;
                for element in elements {
                    let holds = watched.within(TIME, MEMORY, || condition.holds(element, jaq_json::Val::Null));
                    say(task, Said::One(One::from(holds)))?;
                }
            }
            Task::Event { selector, condition, message } => {
                let checked = Checked { task, selector, condition, message: message.as_deref() };
                let found = checked.read(watched, input);
                let (names, condition) = match found {
                    Ok(found) => found,
                    Err(why) => {
                        say(task, Said::Fault(why))?;
                        continue;
                    }
                };
                say(task, Said::Names(names.iter().map(|(_, name)| name.clone()).collect()))?;
                checked.judge(watched, input, &names, &condition, || {
                    let read = || liquid::data(&job.input).map(liquid::globals);
                    globals.get_or_insert_with(|| watched.within(READING, whole, read))
                })?;
            }
        }
    }
    Ok(())
}

impl From<Result<bool, String>> for One {
    fn from(holds: Result<bool, String>) -> Self {
        match holds {
            Ok(passed) => Self { passed, ..Self::default() },
            Err(fault) => Self { fault: Some(fault), ..Self::default() },
        }
    }
}

/// A check of custom events that is evaluated.
struct Checked<'j> {
    task: usize,
    selector: &'j str,
    condition: &'j str,
    message: Option<&'j str>,
}

impl Checked<'_> {
    /// Reads the expressions, and asks which services the event is about.
    fn read(&self, watched: &Watched, input: &jaq_json::Val) -> Result<(Vec<(usize, String)>, Expression), String> {
        let selector = watched.within(READING, MEMORY, || Expression::read(self.selector));
        let selector = selector.map_err(|why| format!("serviceSelector: {why}"))?;
        let condition = watched.within(READING, MEMORY, || Expression::read(self.condition));
        let condition = condition.map_err(|why| format!("successCondition: {why}"))?;
        let names = watched.within(TIME, MEMORY, || selector.names(input));
        Ok((names.map_err(|why| format!("serviceSelector: {why}"))?, condition))
    }

    /// Says of each service whether it passes, with the message for it.
    fn judge<'g>(
        &self,
        watched: &Watched,
        input: &jaq_json::Val,
        names: &[(usize, String)],
        condition: &Expression,
        globals: impl FnOnce() -> &'g mut Result<::liquid::Object, String>,
    ) -> io::Result<()> {
        let template = self.message.map(|message| watched.within(READING, MEMORY, || liquid::read(message)));
        let mut globals = if template.is_some() && !names.is_empty() { Some(globals()) } else { None };
        for (index, name) in names {
            let context = jq::context(name, *index);
            let mut one = One::from(watched.within(TIME, MEMORY, || condition.holds(input, context)));
            if let (Some(template), Some(globals), None) = (&template, &mut globals, &one.fault) {
                let message = match (template, globals) {
                    (Ok(template), Ok(globals)) => {
                        watched.within(TIME, MEMORY, || liquid::write(template, globals, name, *index, one.passed))
                    }
                    (Err(why), _) => Err(why.clone()),
                    (_, Err(why)) => Err(why.clone()),
                };
                one.message = Some(message.unwrap_or_else(|why| format!("The message cannot be written: {why}")));
            }
            say(self.task, Said::One(one))?;
        }
        Ok(())
    }
}
