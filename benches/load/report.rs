//! The table as Markdown, and the same figures as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::data::Place;
use crate::processes::Memory;
use crate::rounds::{Measured, Sample};
use crate::statistics::Quartiles;
use crate::subject::{Role, Subject};

/// What was measured on one database.
pub struct Report<'a> {
    pub place: &'a Place,
    pub subjects: &'a [Subject],
    pub measured: &'a [Measured],
    pub notes: &'a [String],
}

impl Report<'_> {
    /// The tables.
    pub fn markdown(&self) -> String {
        let mut text = format!("\n## {}\n\n", self.place.name());
        text += "| line | program | requests/s | CPU ms, server | CPU ms, database | CPU ms, both (quartiles) \
                 | rate/s | p50 ms | p99 ms | max ms |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";
        for measured in self.measured {
            self.row(measured, &mut text);
        }
        self.compared(&mut text);
        text += "\n| program | start to first answer, ms | memory at the peak, MiB | at the end | pages of files in it \
                 |\n|---|---:|---:|---:|---:|\n";
        for subject in self.subjects.iter().filter(|subject| subject.role != Role::OneByOne) {
            let start = subject.start.map_or("–".to_owned(), |start| spread(start, figure));
            let memory = subject.memory().map_or("– | – | –".to_owned(), |Memory { end, peak, files }| {
                format!("{peak:.0} | {end:.0} | {files:.0}")
            });
            let _ = writeln!(text, "| {} | {start} | {memory} |", subject.name);
        }
        for note in self.notes {
            let _ = writeln!(text, "\n{note}");
        }
        text
    }

    fn row(&self, measured: &Measured, text: &mut String) {
        let of = |figure: fn(&Sample) -> f64| Quartiles::of(measured.samples.iter().map(figure));
        let median = |figure: fn(&Sample) -> f64| of(figure).map_or(f64::NAN, |it| it.median);
        let subject = &self.subjects[measured.subject];
        let database = if subject.database.is_some() { figure(median(|it| it.database)) } else { "–".to_owned() };
        let both = of(Sample::together).map_or("–".to_owned(), |both| spread(both, figure));
        let max = measured.samples.iter().map(|it| it.latency.max).fold(0.0, f64::max);
        let _ = writeln!(
            text,
            "| {} | {} | {:.0} | {} | {database} | {both} | {:.0} | {} | {} | {} |",
            measured.line.name,
            subject.name,
            median(|it| it.per_second),
            figure(median(|it| it.server)),
            median(|it| it.latency.rate),
            figure(median(|it| it.latency.p50)),
            figure(median(|it| it.latency.p99)),
            figure(max),
        );
    }

    /// Each other program in comparison with ours.
    fn compared(&self, text: &mut String) {
        let others = self.measured.iter().filter(|measured| self.subjects[measured.subject].role != Role::Ours);
        let mut rows = String::new();
        for measured in others {
            let (Some(cpu), Some(speed)) = self.ratios(measured) else { continue };
            let two = |ratio: f64| format!("{ratio:.3}");
            let (cpu, speed) = (spread(cpu, two), spread(speed, two));
            let name = &self.subjects[measured.subject].name;
            let _ = writeln!(rows, "| {} | {name} | {cpu} | {speed} |", measured.line.name);
        }
        if !rows.is_empty() {
            *text += "\nRatios of the measured program to the others, round by round (quartiles):\n\n\
                      | line | to | CPU per request | requests/s |\n|---|---|---:|---:|\n";
            *text += &rows;
        }
    }

    /// The quartiles of our processor time, and of our requests per second, divided by those of another program in the
    /// same round.
    fn ratios(&self, other: &Measured) -> (Option<Quartiles>, Option<Quartiles>) {
        let is_ours = |it: &&Measured| {
            it.line.name == other.line.name
                && self.subjects[it.subject].role == Role::Ours
                && it.subject != other.subject
        };
        let Some(ours) = self.measured.iter().find(is_ours) else { return (None, None) };
        let of = |figure: fn(&Sample) -> f64| {
            let pairs = ours.samples.iter().zip(&other.samples);
            Quartiles::of(pairs.map(|(ours, other)| figure(ours) / figure(other)))
        };
        (of(Sample::together), of(|it| it.per_second))
    }

    pub fn json(&self) -> Value {
        let lines = self.measured.iter().map(|measured| {
            let of = |figure: fn(&Sample) -> f64| Quartiles::json(Quartiles::of(measured.samples.iter().map(figure)));
            let (cpu, speed) = self.ratios(measured);
            json!({
                "line": measured.line.name,
                "description": measured.line.description,
                "connections": measured.line.connections,
                "program": self.subjects[measured.subject].name,
                "requestsPerSecond": of(|it| it.per_second),
                "serverCpuMs": of(|it| it.server),
                "databaseCpuMs": of(|it| it.database),
                "cpuMs": of(Sample::together),
                "rate": of(|it| it.latency.rate),
                "p50Ms": of(|it| it.latency.p50),
                "p99Ms": of(|it| it.latency.p99),
                "maxMs": of(|it| it.latency.max),
                "oursToThisCpu": Quartiles::json(cpu),
                "oursToThisRequestsPerSecond": Quartiles::json(speed),
            })
        });
        let programs = self.subjects.iter().map(|subject| {
            let memory = subject.memory();
            json!({
                "name": subject.name,
                "startMs": Quartiles::json(subject.start),
                "memoryMiB": memory.as_ref().map(|memory| memory.end),
                "peakMiB": memory.as_ref().map(|memory| memory.peak),
                "filesMiB": memory.as_ref().map(|memory| memory.files),
            })
        });
        json!({
            "database": self.place.name(),
            "lines": lines.collect::<Vec<_>>(),
            "programs": programs.collect::<Vec<_>>(),
            "notes": self.notes,
        })
    }

    /// The median share of the processors that others used, in percent.
    pub fn others(measured: &[Measured]) -> f64 {
        let shares = measured.iter().flat_map(|it| &it.samples).map(|sample| sample.others);
        Quartiles::of(shares).map_or(0.0, |share| share.median * 100.0)
    }
}

/// Three digits that count.
pub fn figure(value: f64) -> String {
    match value.abs() {
        0.0..0.1 => format!("{value:.4}"),
        0.1..1.0 => format!("{value:.3}"),
        1.0..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn spread(it: Quartiles, figure: impl Fn(f64) -> String) -> String {
    format!("{} ({}–{})", figure(it.median), figure(it.low), figure(it.high))
}
