//! What a catalogue of each size takes: disk, memory, processor time and latency. `ops/sizes.md` quotes the table.

use serde_json::{Value, json};

use crate::data::Place;
use crate::lines::{LINES, Line};
use crate::options::Options;
use crate::report::{Report, figure};
use crate::rounds::{self, Measured, Sample};
use crate::server::Program;
use crate::statistics::Quartiles;
use crate::subject::{Role, Subject};

/// How many services each catalogue has.
const SIZES: [u64; 4] = [1_000, 10_000, 100_000, 250_000];
/// How many deploys there are for each service.
const DEPLOYS: u64 = 10;
/// The lines that are measured.
const MEASURED: [&str; 6] = ["Q1", "Q2-random", "search", "M1", "W1-16", "page-service"];

/// Prints a table for each database and returns the figures.
pub async fn run(program: &Program, places: Vec<Place>, options: &Options) -> Result<Value, String> {
    let lines: Vec<Line> = LINES.into_iter().filter(|line| MEASURED.contains(&line.name)).collect();
    let sizes: &[u64] = if options.is_quick() { &[300] } else { &SIZES };
    let mut figures = Vec::new();
    for place in places {
        println!("\n## Sizes, {}, {DEPLOYS} deploys for each service\n", place.name());
        println!(
            "| services | disk MiB | start ms | memory MiB, peak | {} |\n|---:|---:|---:|---:|{}",
            lines.iter().map(|line| format!("{}: CPU ms, p99 ms", line.name)).collect::<Vec<_>>().join(" | "),
            "---:|".repeat(lines.len()),
        );
        for services in sizes {
            figures.push(size(program, &place, *services, &lines, options).await?);
        }
    }
    Ok(json!(figures))
}

/// Measures a catalogue of one size and prints its row.
async fn size(
    program: &Program,
    place: &Place,
    services: u64,
    lines: &[Line],
    options: &Options,
) -> Result<Value, String> {
    let (filled, served) = (format!("filled_{services}"), format!("served_{services}"));
    place.fill(program, &filled, services, services * DEPLOYS).await?;
    let disk = place.bytes(&filled).await? as f64 / f64::from(1 << 20);
    let subject = Subject::rollcall(place, (program, Role::Ours), (&filled, &served), (services, 3)).await?;
    place.remove(&filled).await?;
    let mut subjects = [subject];
    rounds::probe(&mut subjects, lines, options.seed).await?;
    let measured = rounds::measure(&subjects, lines, options).await?;
    let [subject] = &subjects;
    let start = subject.start.map_or(f64::NAN, |start| start.median);
    let peak = subject.memory().map_or(f64::NAN, |memory| memory.peak);
    let median = |line: &Measured, of: fn(&Sample) -> f64| {
        Quartiles::of(line.samples.iter().map(of)).map_or(f64::NAN, |it| it.median)
    };
    let each = measured.iter().map(|line| {
        (
            line.line.name,
            median(line, Sample::together),
            median(line, |it| it.latency.p99),
            median(line, |it| it.latency.rate),
        )
    });
    let each: Vec<_> = each.collect();
    let cells: Vec<_> = each.iter().map(|(_, cpu, p99, _)| format!("{}, {}", figure(*cpu), figure(*p99))).collect();
    println!("| {services} | {disk:.0} | {start:.0} | {peak:.0} | {} |", cells.join(" | "));
    let others = Report::others(&measured);
    eprintln!("other programs and the kernel used {others:.0} % of the processors meanwhile");
    let lines =
        each.iter().map(|(name, cpu, p99, rate)| json!({ "line": name, "cpuMs": cpu, "p99Ms": p99, "rate": rate }));
    Ok(json!({
        "database": place.name(),
        "services": services,
        "deploys": services * DEPLOYS,
        "diskMiB": disk,
        "startMs": start,
        "peakMiB": peak,
        "othersPercent": others,
        "lines": lines.collect::<Vec<_>>(),
    }))
}
