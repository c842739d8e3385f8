//! What `/proc` says of processes and of the machine.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

/// The kernel counts the time of processes in these.
const TICK: Duration = Duration::from_millis(10);

/// The processor time of a process at some moment.
pub struct Time {
    /// Of all its threads, also of those that have ended. In ticks.
    whole: Duration,
    /// The same of its children that have ended.
    children: Duration,
    /// Nanoseconds of each of its threads.
    threads: HashMap<u32, u64>,
}

impl Time {
    /// Returns `None` if there is no such process.
    pub fn of(id: u32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u32>().ok()).unwrap_or(0);
        let threads = fs::read_dir(format!("/proc/{id}/task")).ok()?.flatten().filter_map(|thread| {
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            let number = thread.file_name().to_str()?.parse().ok()?;
            Some((number, text.split_whitespace().next()?.parse().ok()?))
        });
        Some(Self {
            whole: TICK * (ticks(11) + ticks(12)),
            children: TICK * (ticks(13) + ticks(14)),
            threads: threads.collect(),
        })
    }

    /// The time since `before`. Precise unless threads ended meanwhile.
    pub fn since(&self, before: &Self) -> Duration {
        let one = |(thread, now): (&u32, &u64)| now.saturating_sub(before.threads.get(thread).copied().unwrap_or(0));
        let precise = Duration::from_nanos(self.threads.iter().map(one).sum());
        let whole = self.whole.saturating_sub(before.whole);
        if whole > precise + TICK * 2 { whole } else { precise }
    }
}

/// The processor time of a process and all its children.
pub struct FamilyTime {
    parent: Time,
    living: HashMap<u32, Time>,
}

impl FamilyTime {
    /// Returns `None` if there is no such process.
    pub fn of(parent: u32) -> Option<Self> {
        let living = fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| {
            let id = entry.file_name().to_str()?.parse().ok()?;
            let text = fs::read_to_string(entry.path().join("stat")).ok()?;
            let its_parent = text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()?;
            (its_parent == parent).then(|| Some((id, Time::of(id)?)))?
        });
        Some(Self { living: living.collect(), parent: Time::of(parent)? })
    }

    /// The time since `before`, of children that have ended too.
    pub fn since(&self, before: &Self) -> Duration {
        let mut sum = self.parent.since(&before.parent) + self.parent.children.saturating_sub(before.parent.children);
        for (id, now) in &self.living {
            sum += before.living.get(id).map_or(now.whole, |before| now.since(before));
        }
        let ended = before.living.iter().filter(|(id, _)| !self.living.contains_key(id));
        sum.saturating_sub(ended.map(|(_, before)| before.whole).sum())
    }
}

/// The time that all processors have worked.
pub fn machine_time() -> Duration {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let fields = text.lines().next().unwrap_or_default().split_whitespace().skip(1);
    let ticks: Vec<u32> = fields.filter_map(|field| field.parse().ok()).collect();
    // All but `idle` and `iowait`. The last two are counted under the first two already.
    let worked = [0, 1, 2, 5, 6, 7].iter().filter_map(|at| ticks.get(*at)).sum::<u32>();
    TICK * worked
}

/// The resident memory of a process, in MiB.
pub struct Memory {
    /// Now.
    pub end: f64,
    /// At its peak.
    pub peak: f64,
    /// Pages of files in it now: nearly all of them of the program itself. How many there are depends on the kernel's
    /// cache of that file, so two copies of a program differ by several MiB.
    pub files: f64,
}

/// The memory of a process.
pub fn memory(id: u32) -> Option<Memory> {
    let text = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let of = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.split_whitespace().next()?.parse::<f64>().ok()? / 1024.0)
    };
    Some(Memory { end: of("VmRSS:")?, peak: of("VmHWM:")?, files: of("RssFile:")? })
}

/// The machine: processors, memory, kernel.
pub fn machine() -> Value {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let find = |text: &str, name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.trim_start_matches(['\t', ' ', ':']).to_owned()
    };
    let memory = find(&read("/proc/meminfo"), "MemTotal").trim_end_matches(" kB").parse::<f64>().unwrap_or(0.0);
    json!({
        "processor": find(&read("/proc/cpuinfo"), "model name"),
        "processors": std::thread::available_parallelism().map_or(0, usize::from),
        "memoryMiB": (memory / 1024.0).round(),
        "kernel": read("/proc/sys/kernel/osrelease").trim(),
    })
}
