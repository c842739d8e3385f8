//! The command line of the bench.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use crate::lines::{LINES, PAGE};

/// Parts of the bench beside the lines of the table.
const PARTS: [&str; 4] = ["all-pages", "deploys", "events", "sizes"];

/// Measures how fast rollcall answers, and with how much processor time and memory.
#[derive(Debug, Clone, Parser)]
pub struct Options {
    /// The program to measure [default: the one that cargo has built with the bench]
    #[arg(long, value_name = "PATH", default_value = env!("CARGO_BIN_EXE_rollcall"), hide_default_value = true)]
    pub program: PathBuf,
    /// Another rollcall, measured in alternating rounds on the same data
    #[arg(long, value_name = "PATH")]
    pub against: Option<PathBuf>,
    /// A folder with other programs to measure beside it
    #[arg(long, value_name = "FOLDER")]
    pub peers: Option<PathBuf>,
    /// The databases to measure [default: both; sqlite for all-pages and with --quick]
    #[arg(long, value_name = "DATABASE")]
    database: Option<Databases>,
    /// The lines to measure, separated by commas, such as Q1,W1,page; also all-pages, deploys, events and sizes
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = name)]
    pub only: Vec<String>,
    /// The number of services, a multiple of 100 [default: 100000, 10000 for all-pages; 300 with --quick]
    #[arg(long, value_name = "NUMBER", value_parser = services)]
    services: Option<u64>,
    /// The number of deploys of all-pages [default: 1000000; 1000 with --quick]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(..=50_000_000))]
    deploys: Option<u64>,
    /// How long each line is measured in each round [default: 2; 0.05 with --quick]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    seconds: Option<f64>,
    /// How often each line is measured [default: 5; 2 with --quick]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: Option<u32>,
    /// Where random arguments begin
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u32,
    /// Write the figures to this file [default: load.json in the target folder]
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Show in a few seconds that everything works. So it is without --bench, which `cargo bench` adds
    #[arg(long)]
    quick: bool,
    #[arg(long, hide = true)]
    bench: bool,
}

/// The databases to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Databases {
    Sqlite,
    Postgres,
    Both,
}

impl Options {
    /// Whether the figures matter.
    pub fn is_quick(&self) -> bool {
        self.quick || !self.bench
    }

    /// Whether databases are selected.
    pub fn names_databases(&self) -> bool {
        self.database.is_some()
    }

    pub fn has_sqlite(&self) -> bool {
        self.database != Some(Databases::Postgres)
    }

    pub fn has_postgres(&self) -> bool {
        self.database.map_or(!self.is_quick(), |database| database != Databases::Sqlite)
    }

    pub fn services(&self) -> u64 {
        self.services.unwrap_or(if self.is_quick() { 300 } else { 100_000 })
    }

    /// The number of services when all pages are measured.
    pub fn services_of_pages(&self) -> u64 {
        self.services.unwrap_or(if self.is_quick() { 300 } else { 10_000 })
    }

    /// The number of deploys when all pages are measured.
    pub fn deploys_of_pages(&self) -> u64 {
        self.deploys.unwrap_or(if self.is_quick() { 1_000 } else { 1_000_000 })
    }

    pub fn seconds(&self) -> f64 {
        self.seconds.unwrap_or(if self.is_quick() { 0.05 } else { 2.0 })
    }

    pub fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(if self.is_quick() { 2 } else { 5 })
    }

    /// Whether a part beside the lines is selected.
    pub fn has_part(&self, part: &str) -> bool {
        self.only.is_empty() || self.is_named(part)
    }

    /// Whether a part is selected by its name, because it is not measured otherwise.
    pub fn is_named(&self, part: &str) -> bool {
        self.only.iter().any(|word| word == part)
    }
}

fn name(text: &str) -> Result<String, String> {
    if PARTS.contains(&text) || LINES.iter().any(|line| line.is_selected(text)) {
        return Ok(text.to_owned());
    }
    let lines: Vec<&str> = LINES.iter().map(|line| line.name).chain(PARTS).collect();
    Err(format!("there are {}", lines.join(", ")))
}

fn services(text: &str) -> Result<u64, String> {
    let number =
        text.parse::<u64>().ok().filter(|number| (200..=10_000_000).contains(number) && number % PAGE as u64 == 0);
    number.ok_or_else(|| "it is a multiple of 100, from 200 to 10000000".to_owned())
}

fn seconds(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.05..=600.0).contains(number));
    number.ok_or_else(|| "it is a number from 0.05 to 600".to_owned())
}
