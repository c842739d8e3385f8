//! Searches by hill climbing for the requests that cost most: in processor time, in memory, in bytes of the response, and
//! mutations in how long others wait beside them, who send small mutations and deploys.
//!
//! Each goal has a few islands. On each island, the worst request so far is mutated and sent, and replaced if the
//! mutation costs at least as much. An island without progress for long restarts elsewhere. Refused requests count with
//! their cost. Queries use a read token. Mutations use an administrator's token, on a copy of the catalogue that is
//! regularly renewed.
//!
//! `ROLLCALL_CLIMB` sets the duration in seconds, `ROLLCALL_CLIMB_SEED` the start. The findings are in
//! `target/tmp/worst`, a file for each goal. Those worth keeping go into `worst.jsonl`, from which every search begins.

mod change;
mod document;
mod meter;
mod schema;
mod values;

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::catalogue::Size;
use crate::client::shortened;
use crate::{say_aloud, server};
use change::Maker;
use document::Document;
use meter::{Cost, Meter};
use schema::Schema;
use values::Values;

/// The initial requests of a search, one per line.
const WORST: &str = include_str!("../worst.jsonl");

/// The limit of a request's processor time in a release build.
const PROCESSOR: Duration = Duration::from_secs(1);
/// The limit of a request's memory, in kilobytes.
const MEMORY: u64 = 64 * 1024;
/// The limit of the time that a small mutation or a deploy of others takes beside a mutation, in a release build.
const OTHERS: Duration = Duration::from_millis(500);
/// The limit of what the server holds a minute later, in kilobytes: 12 MB of its own, and what the allocator retains.
pub const HELD: u64 = 56 * 1024;

/// The number of islands of each goal.
const ISLANDS: usize = 4;
/// The number of fruitless mutations in a row after which an island restarts.
const PATIENCE: u32 = 150;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goal {
    Processor,
    Memory,
    Bytes,
    Others,
}

/// The goals of a search.
fn goals(is_mutation: bool) -> &'static [Goal] {
    const GOALS: [Goal; 4] = [Goal::Processor, Goal::Memory, Goal::Bytes, Goal::Others];
    // Nobody waits for queries to write.
    if is_mutation { &GOALS } else { &GOALS[..3] }
}

impl Goal {
    fn of(self, cost: &Cost) -> u64 {
        match self {
            // It was stopped for its cost, so it would have cost more than any other.
            Self::Processor | Self::Bytes if cost.kills => u64::MAX,
            Self::Processor => cost.processor.as_micros() as u64,
            Self::Memory => cost.memory,
            Self::Bytes => cost.bytes,
            Self::Others => cost.others.as_micros() as u64,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Processor => "processor time",
            Self::Memory => "memory",
            Self::Bytes => "bytes of answer",
            Self::Others => "wait of others",
        }
    }
}

/// A request and what it cost.
#[derive(Clone)]
struct Found {
    document: Document,
    cost: Cost,
}

struct Island {
    goal: Goal,
    best: Option<Found>,
    stale: u32,
}

struct Search<'s> {
    is_mutation: bool,
    values: Values<'s>,
    random: fastrand::Rng,
    meter: Meter,
    fresh: u64,
    seeds: Vec<Document>,
    requests: u32,
    accepted: u32,
    wrong: Vec<String>,
}

impl Search<'_> {
    fn write(&mut self, document: &Document) -> document::Written {
        document.write(&mut self.fresh)
    }

    fn try_one(&mut self, document: &Document) -> Option<Cost> {
        let written = self.write(document);
        self.requests += 1;
        match self.meter.measure(&written.body) {
            Ok((cost, answer)) => {
                self.accepted += u32::from(cost.status == 200 || cost.kills);
                self.values.learn(&answer, &mut self.random);
                if cost.status >= 500 && cost.status != 503 {
                    self.wrong.push(format!("{} {}: {}", cost.status, shortened(&answer), shortened(&written.text)));
                }
                Some(cost)
            }
            Err(error) => {
                self.wrong.push(format!("{error}: {}", shortened(&written.text)));
                None
            }
        }
    }

    fn begin(&mut self) -> Document {
        if !self.seeds.is_empty() && self.random.u8(..3) > 0 {
            return self.seeds[self.random.usize(..self.seeds.len())].clone();
        }
        Maker { values: &self.values, random: &mut self.random }.make(self.is_mutation)
    }

    /// Searches until `end` and returns the worst request of each goal.
    fn climb(&mut self, end: Instant) -> Vec<Found> {
        let goals = goals(self.is_mutation);
        let mut worst: Vec<Option<Found>> = vec![None; goals.len()];
        let take = |worst: &mut Vec<Option<Found>>, found: &Found| {
            for (goal, known) in goals.iter().zip(worst) {
                if known.as_ref().is_none_or(|known| goal.of(&known.cost) < goal.of(&found.cost)) {
                    *known = Some(found.clone());
                }
            }
        };
        for document in self.seeds.clone() {
            if Instant::now() > end {
                break;
            }
            if let Some(cost) = self.try_one(&document) {
                let text: String = self.write(&document).text.chars().take(70).collect();
                say_aloud(&format!("  {}: {text}", cost.figures()));
                take(&mut worst, &Found { document, cost });
            }
        }
        let mut islands: Vec<Island> =
            (0..ISLANDS).flat_map(|_| goals.iter().map(|goal| Island { goal: *goal, best: None, stale: 0 })).collect();
        // One island of each goal continues from the worst known request.
        for (island, found) in islands.iter_mut().zip(&worst) {
            island.best.clone_from(found);
        }
        let mut at = 0;
        let mut told = Instant::now();
        while Instant::now() < end {
            let other = islands[self.random.usize(..islands.len())].best.as_ref().map(|found| found.document.clone());
            let count = islands.len();
            let island = &mut islands[at % count];
            at += 1;
            let document = match &island.best {
                Some(best) if island.stale < PATIENCE => {
                    let other = other.unwrap_or_else(|| best.document.clone());
                    Maker { values: &self.values, random: &mut self.random }.change(&best.document, &other)
                }
                _ => {
                    (island.best, island.stale) = (None, 0);
                    self.begin()
                }
            };
            let Some(cost) = self.try_one(&document) else { continue };
            let found = Found { document, cost };
            let value = island.goal.of(&cost);
            match &island.best {
                Some(best) if value < island.goal.of(&best.cost) => island.stale += 1,
                best => {
                    let is_more =
                        best.as_ref().is_none_or(|best| value > island.goal.of(&best.cost).saturating_mul(101) / 100);
                    // A request that kills the server cannot get worse.
                    island.stale = if cost.kills {
                        PATIENCE
                    } else if is_more {
                        0
                    } else {
                        island.stale + 1
                    };
                    take(&mut worst, &found);
                    island.best = Some(found);
                }
            }
            if told.elapsed() > Duration::from_secs(60) {
                told = Instant::now();
                let most: Vec<String> = goals
                    .iter()
                    .zip(&worst)
                    .map(|(goal, found)| {
                        format!("{} {}", goal.name(), found.as_ref().map_or(0, |found| goal.of(&found.cost)))
                    })
                    .collect();
                say_aloud(&format!("  {} requests, {} accepted: {}", self.requests, self.accepted, most.join(", ")));
            }
        }
        worst.into_iter().flatten().collect()
    }

    /// The request without the parts that add little to its cost.
    fn minimise(&mut self, goal: Goal, found: Found, end: Instant) -> Found {
        let wanted = goal.of(&found.cost) / 10 * 9;
        let mut found = found;
        while Instant::now() < end {
            let document = Maker { values: &self.values, random: &mut self.random }.without_a_part(&found.document);
            if let Some(cost) = self.try_one(&document)
                && goal.of(&cost) >= wanted
            {
                found = Found { document, cost };
            }
        }
        found
    }

    /// The results as figures, and the violated limits.
    fn tell(&mut self, goal: Goal, found: &Found) {
        let bodies: Vec<String> = (0..3).map(|_| self.write(&found.document).body).collect();
        let written = self.write(&found.document);
        let cost = match self.meter.confirm(bodies) {
            Ok(cost) => cost,
            Err(error) => {
                self.wrong.push(format!("{error}: {}", shortened(&written.text)));
                return;
            }
        };
        let kind = if self.is_mutation { "mutations" } else { "queries" };
        let name = format!("{kind}-{}", goal.name().replace(' ', "-"));
        let file = meter::place().join(format!("{name}.json"));
        fs::create_dir_all(meter::place()).expect("a folder");
        fs::write(&file, &written.body).expect("a file");
        let figures = format!("worst {kind} by {}: {}", goal.name(), cost.figures());
        say_aloud(&format!("{figures}\n  {}\n  {}", file.display(), shortened(&written.text)));
        let (processor, others) = (PROCESSOR * server::slowness(), OTHERS * server::slowness());
        if cost.kills || cost.processor > processor || cost.memory > MEMORY || cost.others > others {
            let memory = MEMORY / 1024;
            self.wrong.push(format!("{figures}; {processor:?}, {memory} MB and {others:?} for others are allowed"));
        }
    }

    /// Waits, at most a minute, until the server has returned its memory.
    fn rest(&mut self) {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let memory = self.meter.held_memory().unwrap_or_default();
            if memory < HELD {
                return;
            }
            if Instant::now() > end {
                self.wrong.push(format!("{} MB are kept", memory / 1024));
                return;
            }
            std::thread::sleep(Duration::from_secs(1));
        }
    }
}

/// Searches for this long and returns the violated limits.
fn search(size: Size, seed: u64, is_mutation: bool, duration: Duration) -> Vec<String> {
    let schema = Schema::read();
    let seeds = WORST.lines().map(|line| {
        let request = serde_json::from_str(line).expect("a line of worst.jsonl is JSON");
        Document::read(&request).unwrap_or_else(|error| panic!("{error}: {line}"))
    });
    let files = values::FILES.iter().map(|file| Document::read(&file.request()).expect("a request with a file"));
    let seeds = seeds.chain(files).filter(|document| document.is_mutation == is_mutation).collect();
    let mut search = Search {
        is_mutation,
        values: Values { schema: &schema, cursors: Vec::new() },
        random: fastrand::Rng::with_seed(seed),
        meter: Meter::new(size, is_mutation),
        fresh: 0,
        seeds,
        requests: 0,
        accepted: 0,
        wrong: Vec::new(),
    };
    let begun = Instant::now();
    let found = search.climb(begun + duration * 4 / 5);
    let seconds = begun.elapsed().as_secs_f64();
    say_aloud(&format!(
        "seed {seed}: {} requests in {seconds:.0} s, {} accepted, {} starts, {} MB kept for some time at the most",
        search.requests,
        search.accepted,
        search.meter.starts,
        search.meter.most_kept / 1024,
    ));
    search.rest();
    let goals = goals(is_mutation);
    assert_eq!(found.len(), goals.len(), "nothing was found: {:?}", search.wrong);
    let is_vain = search.accepted * 4 < search.requests;
    for (goal, found) in goals.iter().copied().zip(found) {
        let end = Instant::now() + duration / 5 / goals.len() as u32;
        let found = search.minimise(goal, found, end);
        search.tell(goal, &found);
    }
    if is_vain {
        search.wrong.push(format!("only {} of {} requests were accepted", search.accepted, search.requests));
    }
    search.wrong
}

/// The costliest requests of a kind, `queries` or `mutations`: the findings of the last search, and its initial
/// requests.
pub fn worst(kind: &str) -> Vec<String> {
    let found = fs::read_dir(meter::place()).into_iter().flatten().filter_map(|file| {
        let path = file.ok()?.path();
        path.file_name()?.to_str()?.starts_with(kind).then(|| fs::read_to_string(path).ok())?
    });
    let is_wanted = |line: &&str| line.contains("\"mutation") == (kind == "mutations");
    found.chain(WORST.lines().filter(is_wanted).map(str::to_owned)).collect()
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

#[test]
fn no_request_that_a_search_finds_costs_more_than_its_bounds() {
    let _alone = crate::one_at_a_time();
    if std::env::var_os("ROLLCALL_CLIMB").is_none() {
        crate::say_aloud("left out: the search for costly requests; ROLLCALL_CLIMB=60 searches for a minute");
        return;
    }
    if fs::read_to_string("/proc/self/schedstat").is_err() {
        crate::leave_out(
            "no search for costly requests: the system does not tell what threads cost (/proc, schedstat)",
        );
        return;
    }
    let (seconds, seed) = (number("ROLLCALL_CLIMB", 60), number("ROLLCALL_CLIMB_SEED", 1));
    let (size, duration) = (Size::wanted(), Duration::from_secs(seconds));
    let mut wrong = search(size, seed, false, duration * 2 / 3);
    wrong.extend(search(size, seed, true, duration / 3));
    wrong.dedup();
    assert!(
        wrong.is_empty(),
        "{}",
        json!(wrong.iter().take(20).collect::<Vec<_>>()).to_string().replace("\",\"", "\",\n\"")
    );
}
