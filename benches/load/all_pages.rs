//! The time and the size of every page, with 10,000 services and a million deploys. A page may take 20 ms and 100 KB.

use std::time::Duration;

use regex::Regex;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::client::Connection;
use crate::data::Place;
use crate::options::Options;
use crate::server::Program;
use crate::statistics::percentile;
use crate::subject::{Role, Subject, time_page};

/// The longest median, of a page that is asked for alone.
const MOST_TIME: Duration = Duration::from_millis(20);
const MOST_BYTES: usize = 100_000;
/// How many clients ask for a page at once.
const TOGETHER: usize = 8;

/// Prints a row for each page and returns the figures, and the pages that are over the limits.
pub async fn run(program: &Program, options: &Options) -> Result<(Value, Vec<String>), String> {
    let (services, deploys, times) = if options.is_quick() { (300, 1_000, 1) } else { (10_000, 1_000_000, 200) };
    let place = Place::sqlite()?;
    place.fill(program, "pages", services, deploys).await?;
    let subject = Subject::rollcall(&place, (program, Role::Ours), ("pages", "served"), (services, 0)).await?;
    let (mut figures, mut over) = (Vec::new(), Vec::new());
    println!("\n## All pages, SQLite, {services} services, {deploys} deploys\n");
    println!("| page | p50 ms | p99 ms | p50 ms, {TOGETHER} at once | bytes |\n|---|---:|---:|---:|---:|");
    for path in paths(&subject, services).await? {
        let (alone, bytes) = time_alone(&subject, &path, times).await?;
        let together = time_together(&subject, &path, times / TOGETHER + 1).await?;
        let [p50, p99, p50_together] =
            [(&alone, 0.5), (&alone, 0.99), (&together, 0.5)].map(|(times, share)| percentile(times, share));
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let (p50_ms, p99_ms, together_ms) = (milliseconds(p50), milliseconds(p99), milliseconds(p50_together));
        println!("| {path} | {p50_ms:.1} | {p99_ms:.1} | {together_ms:.1} | {bytes} |");
        figures.push(
            json!({ "page": path, "p50Ms": p50_ms, "p99Ms": p99_ms, "p50MsTogether": together_ms, "bytes": bytes }),
        );
        if (bytes > MOST_BYTES || p50 > MOST_TIME) && !options.is_quick() {
            over.push(format!("{path} takes {p50_ms:.1} ms and {bytes} bytes, of {MOST_TIME:?} and {MOST_BYTES}"));
        }
    }
    Ok((json!(figures), over))
}

async fn time_alone(subject: &Subject, path: &str, times: usize) -> Result<(Vec<Duration>, usize), String> {
    let mut connection = Connection::open(subject.target.address).await?;
    let (_, body) = time_page(&mut connection, &subject.target, path).await?;
    let mut took = Vec::new();
    for _ in 0..times {
        took.push(time_page(&mut connection, &subject.target, path).await?.0);
    }
    took.sort_unstable();
    Ok((took, body.len()))
}

async fn time_together(subject: &Subject, path: &str, times: usize) -> Result<Vec<Duration>, String> {
    let mut tasks = JoinSet::new();
    for _ in 0..TOGETHER {
        let (target, path) = (subject.target.clone(), path.to_owned());
        tasks.spawn(async move {
            let mut connection = Connection::open(target.address).await?;
            let mut took = Vec::new();
            for _ in 0..times {
                took.push(time_page(&mut connection, &target, &path).await?.0);
            }
            Ok::<_, String>(took)
        });
    }
    let mut all = Vec::new();
    while let Some(took) = tasks.join_next().await {
        all.extend(took.map_err(|error| error.to_string())??);
    }
    all.sort_unstable();
    Ok(all)
}

/// The pages: those with most to read, and each kind of the others.
async fn paths(subject: &Subject, services: u64) -> Result<Vec<String>, String> {
    let second_page = link(subject, "/services", r#"href="(/services\?[^"]*after=[^"]*)""#).await?;
    let integration = link(subject, "/integrations", r#"href="(/integrations/[^"?]{8,})""#).await?;
    let middle = format!("/services/svc-{}", services / 2);
    let paths = [
        "/services",
        &second_page,
        "/services?search=ledger",
        "/services?search=svc-99",
        "/services?search=nothing+is+called+so",
        "/services?tag=env%3Aenv-7",
        "/services?owner=team-1&tier=tier_1&language=Rust",
        "/services?unowned=1",
        "/services?quiet=30",
        "/services/svc-1",
        "/services/svc-1/deploys",
        "/services/svc-1/edit",
        &middle,
        "/search?q=svc-99",
        "/search?q=leger+biling",
        "/new/service",
        "/teams",
        "/teams/team-1",
        "/teams/team-1/edit",
        "/suggestions",
        "/integrations",
        &integration,
        "/tokens",
        "/users",
        "/audit",
        "/account",
        "/explorer",
        "/reference",
        "/reference/Account",
        "/reference?q=deploy",
    ];
    Ok(paths.map(str::to_owned).to_vec())
}

/// The first link on a page that looks like this.
async fn link(subject: &Subject, path: &str, pattern: &str) -> Result<String, String> {
    let mut connection = Connection::open(subject.target.address).await?;
    let (_, body) = time_page(&mut connection, &subject.target, path).await?;
    let pattern = Regex::new(pattern).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&body);
    let found = pattern.captures(&text).ok_or_else(|| format!("{path} has no link like {pattern}"))?;
    Ok(found[1].replace("&amp;", "&"))
}
