//! The whole table of speed: how fast rollcall answers, and what of processor time and memory that takes.
//!
//! `cargo bench --bench load` fills a database of each kind by `rollcall generate`, serves it as an operator would, and
//! asks it with random arguments. Every answer is checked. It prints tables and writes the same figures as JSON.
//! benches/README.md says what the columns mean. `cargo bench --bench load -- --help` lists the options.
//!
//! As a test (`cargo test`) it shows in a few seconds that everything works, with a small catalogue on SQLite.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::data::Place;
use crate::lines::{LINES, Line};
use crate::options::Options;
use crate::report::Report;
use crate::server::Program;
use crate::subject::{Role, Subject};

mod all_pages;
mod client;
#[path = "../../tests/it/harness/cluster.rs"]
#[allow(dead_code)] // The tests restart theirs.
mod cluster;
mod data;
mod deploys;
mod drive;
mod events;
mod lines;
mod options;
mod peers;
mod processes;
mod report;
mod rounds;
mod server;
mod sizes;
mod statistics;
mod subject;
mod target;

/// The program's own, for the server with a commit for each deploy and each mutation.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [first, url] = &words[..]
        && first == server::ONE_BY_ONE
    {
        Runtime::new().expect("a runtime").block_on(server::serve_one_by_one(url));
        return ExitCode::SUCCESS;
    }
    let options = Options::parse();
    // A single thread: the processors are for the servers.
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    match runtime.block_on(run(&options)) {
        Ok(over) if over.is_empty() => ExitCode::SUCCESS,
        Ok(over) => fail(&over.join("\n")),
        Err(why) => fail(&why),
    }
}

fn fail(why: &str) -> ExitCode {
    eprintln!("load: {why}");
    ExitCode::FAILURE
}

/// The programs that are compared.
struct Programs {
    ours: Program,
    against: Option<Program>,
    /// Whether both have the same schema, so that they can serve copies of one database.
    share_data: bool,
}

/// Measures what the options select and returns what is over a limit.
async fn run(options: &Options) -> Result<Vec<String>, String> {
    let ours = Program::new(&options.program, "rollcall")?;
    let against = options.against.as_deref().map(|path| {
        let file = path.file_name().and_then(|name| name.to_str()).filter(|name| *name != ours.name);
        Program::new(path, file.unwrap_or("the other"))
    });
    let against = against.transpose()?;
    let share_data = match &against {
        Some(against) => data::migrations(&ours)? == data::migrations(against)?,
        None => true,
    };
    if !share_data {
        eprintln!("the two programs have different schemas: each fills its own database by its own generate");
    }
    let programs = Programs { ours, against, share_data };
    let mut figures = describe(&programs, options)?;
    let lines: Vec<Line> = LINES.into_iter().filter(|line| is_selected(line, options)).collect();
    let mut databases = Vec::new();
    if !lines.is_empty() {
        for place in places(options)? {
            databases.push(measure(&programs, &place, &lines, options).await?);
        }
    }
    figures["databases"] = json!(databases);
    let mut over = Vec::new();
    if options.has_part("all-pages") {
        let places = if options.names_databases() { places(options)? } else { vec![Place::sqlite()?] };
        let mut pages = Vec::new();
        for place in &places {
            let (figures, slow) = all_pages::run(&programs.ours, place, options).await?;
            pages.push(figures);
            over.extend(slow);
        }
        figures["allPages"] = json!(pages);
    }
    if options.has_part("deploys") {
        figures["deploys"] = deploys::run(&programs.ours, options).await?;
    }
    if options.has_part("events") {
        figures["events"] = events::run(&programs.ours, places(options)?, options).await?;
    }
    if options.is_named("sizes") {
        figures["sizes"] = sizes::run(&programs.ours, places(options)?, options).await?;
    }
    let file = options.json.clone().unwrap_or_else(|| default_json(options));
    std::fs::write(&file, format!("{figures:#}\n")).map_err(|error| format!("{}: {error}", file.display()))?;
    println!("\nThe figures are in {}.", file.display());
    Ok(over)
}

fn is_selected(line: &Line, options: &Options) -> bool {
    options.only.is_empty() || options.only.iter().any(|word| line.is_selected(word))
}

/// A file in the target folder. Quick figures do not replace those that mean something.
fn default_json(options: &Options) -> PathBuf {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let name = if options.is_quick() { "load-quick.json" } else { "load.json" };
    temporary.parent().unwrap_or(temporary).join(name)
}

/// Prints the machine and the programs, and returns them.
fn describe(programs: &Programs, options: &Options) -> Result<Value, String> {
    let machine = processes::machine();
    println!(
        "# rollcall under load\n\n{} processors, {}, {} MiB of memory, Linux {}. {} services, seed {}, {} rounds of {} s.{}\n",
        machine["processors"],
        machine["processor"].as_str().unwrap_or_default(),
        machine["memoryMiB"],
        machine["kernel"].as_str().unwrap_or_default(),
        options.services(),
        options.seed,
        options.rounds(),
        options.seconds(),
        if options.is_quick() { " Quick: these figures mean nothing." } else { "" },
    );
    println!("| program | version | MiB | |\n|---|---|---:|---|");
    let mut described = Vec::new();
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    for program in [Some(&programs.ours), programs.against.as_ref()].into_iter().flatten() {
        let (size, is_stripped) = program.size(folder.path())?;
        let version = program.version()?;
        let stripped = if is_stripped { "stripped" } else { "with its symbols: strip is missing" };
        println!("| {} | {version} | {size:.1} | {stripped} |", program.name);
        described.push(json!({
            "name": program.name,
            "path": program.path,
            "version": version,
            "sizeMiB": size,
            "isStripped": is_stripped,
        }));
    }
    Ok(json!({
        "machine": machine,
        "programs": described,
        "services": options.services(),
        "seed": options.seed,
        "rounds": options.rounds(),
        "seconds": options.seconds(),
        "isQuick": options.is_quick(),
    }))
}

/// The databases that are selected and there.
fn places(options: &Options) -> Result<Vec<Place>, String> {
    let mut places = Vec::new();
    if options.has_sqlite() {
        places.push(Place::sqlite()?);
    }
    if options.has_postgres() {
        match Place::postgres() {
            Ok(place) => places.push(place),
            Err(why) => println!("\nLeft out: PostgreSQL: {why}"),
        }
    }
    for place in &places {
        if data::is_in_memory(place.folder()) {
            println!("\n{} is in memory, where commits cost less than on a disk.", place.name());
        }
    }
    Ok(places)
}

/// Measures the lines on one database and prints the table.
async fn measure(programs: &Programs, place: &Place, lines: &[Line], options: &Options) -> Result<Value, String> {
    let mut subjects = subjects(programs, place, lines, options).await?;
    let mut notes = rounds::probe(&mut subjects, lines, options.seed).await?;
    let measured = rounds::measure(&subjects, lines, options).await?;
    notes.push(format!(
        "Other programs and the kernel used {:.0} % of the processors meanwhile.",
        Report::others(&measured)
    ));
    let report = Report { place, subjects: &subjects, measured: &measured, notes: &notes };
    println!("{}", report.markdown());
    Ok(report.json())
}

/// Starts all servers on one database.
async fn subjects(
    programs: &Programs,
    place: &Place,
    lines: &[Line],
    options: &Options,
) -> Result<Vec<Subject>, String> {
    let Programs { ours, against, share_data } = programs;
    let (services, starts) = (options.services(), if options.is_quick() { 1 } else { 5 });
    place.fill(ours, "generated", services, 0).await?;
    let sizes = (services, starts);
    let mut subjects = vec![Subject::rollcall(place, (ours, Role::Ours), ("generated", "ours"), sizes).await?];
    if let Some(against) = against {
        let template = if *share_data { "generated" } else { "generated_against" };
        if !share_data {
            place.fill(against, template, services, 0).await?;
        }
        subjects.push(Subject::rollcall(place, (against, Role::Against), (template, "theirs"), sizes).await?);
    }
    let is_sqlite = matches!(place, Place::Sqlite(_));
    if is_sqlite && lines.iter().any(Line::is_group_committed) {
        subjects.push(Subject::one_by_one(place, ours, ("generated", "one_by_one"), services).await?);
    }
    if let Some(folder) = &options.peers {
        let peers = peers::open(folder, services)?;
        let fitting = peers.into_iter().filter(|peer| peer.postgres.is_some() != is_sqlite);
        subjects.extend(fitting.map(Subject::peer));
    } else {
        println!("\nLeft out: other programs, which need --peers.");
    }
    Ok(subjects)
}
