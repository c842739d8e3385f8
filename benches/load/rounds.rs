//! Measures lines in rounds. In each round every line is asked of every program in turn, in alternating order, so that
//! what disturbs the machine disturbs all of them.

use std::time::{Duration, Instant};

use crate::drive::{Clients, Latency};
use crate::lines::{LINES, Line};
use crate::options::Options;
use crate::processes::{FamilyTime, Time, machine_time};
use crate::subject::{Role, Subject};

/// The share of its greatest rate at which latencies are measured.
const SHARE: f64 = 0.4;

/// What a line cost in one round.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Milliseconds of processor time per request, of the server and of the database's own processes.
    pub server: f64,
    pub database: f64,
    pub per_second: f64,
    /// The share of the processors that neither the programs nor the bench used.
    pub others: f64,
    pub latency: Latency,
}

impl Sample {
    pub fn together(&self) -> f64 {
        self.server + self.database
    }
}

/// What a line cost a subject, a sample for each round.
pub struct Measured {
    pub line: Line,
    /// The subject's place in the list.
    pub subject: usize,
    pub samples: Vec<Sample>,
}

/// The processor time used so far.
struct Usage {
    server: Time,
    database: Option<FamilyTime>,
    own: Time,
    machine: Duration,
    at: Instant,
}

impl Usage {
    fn of(subject: &Subject) -> Result<Self, String> {
        let gone = || format!("{} has ended", subject.name);
        Ok(Self {
            server: Time::of(subject.process).ok_or_else(gone)?,
            database: subject.database.map(|id| FamilyTime::of(id).ok_or_else(gone)).transpose()?,
            own: Time::of(std::process::id()).ok_or_else(gone)?,
            machine: machine_time(),
            at: Instant::now(),
        })
    }
}

/// Asks each line once, so that what a program cannot answer is known before anything is measured. Returns notes.
pub async fn probe(subjects: &mut [Subject], lines: &[Line], seed: u32) -> Result<Vec<String>, String> {
    let mut notes = Vec::new();
    for line in lines {
        let mut bodies = Vec::new();
        for subject in subjects.iter_mut().filter(|subject| subject.answers(line)) {
            let mut clients = Clients::connect(&subject.target, *line, u64::from(seed)).await?;
            match clients.once().await {
                Ok(body) if subject.role != Role::Peer => bodies.push(body),
                Ok(_) => {}
                Err(why) if matches!(subject.role, Role::Ours | Role::OneByOne) => return Err(why),
                Err(why) => {
                    notes.push(format!("{} is not measured on {}: {}", line.name, subject.name, shortened(&why)));
                    subject.refused.push(line.name);
                }
            }
        }
        if line.is_comparable() && bodies.windows(2).any(|two| two[0] != two[1]) {
            notes.push(format!("the programs answer {} differently", line.name));
        }
    }
    Ok(notes)
}

fn shortened(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(160).collect()
}

/// Measures these lines in all rounds.
pub async fn measure(subjects: &[Subject], lines: &[Line], options: &Options) -> Result<Vec<Measured>, String> {
    let mut measured: Vec<Measured> = Vec::new();
    for line in lines {
        let places = (0..subjects.len()).filter(|place| subjects[*place].answers(line));
        measured.extend(places.map(|subject| Measured { line: *line, subject, samples: Vec::new() }));
    }
    for round in 0..options.rounds() {
        for line in lines {
            eprintln!("round {} of {}: {}", round + 1, options.rounds(), line.name);
            let places = measured.iter_mut().filter(|it| it.line.name == line.name);
            let mut turns: Vec<&mut Measured> = places.collect();
            if round % 2 == 1 {
                turns.reverse();
            }
            measure_line(subjects, &mut turns, round, options).await?;
        }
    }
    Ok(measured)
}

/// Measures a line once on each subject.
async fn measure_line(
    subjects: &[Subject],
    turns: &mut [&mut Measured],
    round: u32,
    options: &Options,
) -> Result<(), String> {
    let time = Duration::from_secs_f64(options.seconds());
    let mut asked = Vec::new();
    for turn in turns.iter() {
        let subject = &subjects[turn.subject];
        let number = LINES.iter().position(|line| line.name == turn.line.name).unwrap_or(0) as u64;
        let seed = u64::from(options.seed) * 1_000_000 + u64::from(round) * 100 + number;
        let mut clients = Clients::connect(&subject.target, turn.line, seed).await?;
        clients.closed(time / 4).await?;
        if subject.settle().await? {
            clients.connect_again().await?;
        }
        let before = Usage::of(subject)?;
        let done = clients.closed(time).await?;
        // What follows from the requests belongs to what they cost.
        subject.settle().await?;
        let sample = sample(&before, &Usage::of(subject)?, done.requests, done.took);
        asked.push((clients, sample));
    }
    // One rate for all versions of rollcall: latencies compare at the same rate alone. A slower program gets its own.
    let is_rollcall = |turn: &Measured| matches!(subjects[turn.subject].role, Role::Ours | Role::Against);
    let rates = turns.iter().zip(&asked).filter(|(turn, _)| is_rollcall(turn)).map(|(_, (_, it))| it.per_second);
    let rate = rates.fold(f64::INFINITY, f64::min) * SHARE;
    for (turn, (clients, sample)) in turns.iter_mut().zip(&mut asked) {
        // The rate of the first round holds in all.
        let earlier = turn.samples.first().map(|sample| sample.latency.rate);
        let rate = earlier.unwrap_or_else(|| round_to_two_digits(rate.min(sample.per_second * SHARE)));
        // They were idle while the others were asked.
        clients.connect_again().await?;
        sample.latency = clients.open(rate, time).await?;
        // So that it does not disturb the next one.
        subjects[turn.subject].settle().await?;
        turn.samples.push(*sample);
    }
    Ok(())
}

fn sample(before: &Usage, after: &Usage, requests: u64, took: Duration) -> Sample {
    let server = after.server.since(&before.server);
    let database = after.database.as_ref().zip(before.database.as_ref());
    let database = database.map_or(Duration::ZERO, |(after, before)| after.since(before));
    let machine = after.machine.saturating_sub(before.machine);
    let others = machine.saturating_sub(server + database + after.own.since(&before.own));
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let each = |time: Duration| time.as_secs_f64() * 1e3 / requests.max(1) as f64;
    Sample {
        server: each(server),
        database: each(database),
        per_second: requests as f64 / took.as_secs_f64(),
        others: others.as_secs_f64() / ((after.at - before.at).as_secs_f64() * processors as f64),
        latency: Latency { rate: 0.0, p50: 0.0, p99: 0.0, max: 0.0 },
    }
}

/// So that the rate is often the same in another run.
fn round_to_two_digits(rate: f64) -> f64 {
    let digits = 10_f64.powf(rate.max(1.0).log10().floor() - 1.0);
    ((rate / digits).round() * digits).max(1.0)
}
