//! The commands that take long with a large catalogue: migrate, back up, export, import, generate. All say how far they are.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Read, StdoutLock, Write};
use std::path::{self, Path, PathBuf};

use super::console::{say, sentence};
use super::opened::{close_or_say, connect, created_sentence, existing, with_database, with_new_database};
use super::progress::{Counted, Counter, Ended, Progress};
use crate::config::Database;
use crate::db::{self, Db};
use crate::entity::Timestamp;
use crate::generate;
use crate::new_file::{Existing, NewFile};
use crate::transfer::{self, Step};

/// Migrates the database.
pub(super) async fn migrate(database: &Database) -> Result<(), String> {
    let (db, created) = connect(&database.url()?).await?;
    let progress = Progress::begin("opening the database");
    let (done, all) = progress.counted_of("migrating", "migrations");
    let told = |number: usize, of: usize| {
        done.set(number as u64);
        all.set(of as u64);
    };
    let steps = db::migrate_telling(&db, &told).await.map_err(|error| error.to_string());
    let ended = progress.end();
    close_or_say(&db).await;
    if let Some(file) = created {
        say(&created_sentence(&file));
    }
    match steps? {
        0 => say("the database is already up to date"),
        1 => say(&format!("migrated the database: 1 migration in {}", ended.took())),
        steps => say(&format!("migrated the database: {}", ended.sum(steps as u64, "migrations"))),
    }
    Ok(())
}

/// Copies the database to a new file. Blocks.
pub(super) fn backup(database: &Database, file: PathBuf) -> Result<(), String> {
    let progress = Progress::begin("opening the database");
    let begun = |part: &Path, all: u64| {
        let part = part.to_owned();
        let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
        progress.measured("copying", "MB", move || {
            let bytes = fs::metadata(&part).map_or(0, |part| part.len());
            Counted { done: megabytes(bytes), all: Some(megabytes(all)), part: None }
        });
    };
    let bytes = db::backup(&existing(database)?, &file, begun)?;
    let (ended, file) = (progress.end(), path::absolute(&file).unwrap_or(file));
    say(&format!("copied the database to {}: {}", file.display(), ended.sum(bytes, "bytes")));
    Ok(())
}

/// Fills an empty catalogue with generated services and deploys.
pub(super) async fn generate(database: &Database, services: u64, deploys: u64) -> Result<(), String> {
    with_new_database(database, async |db| {
        let progress = Progress::begin("opening the catalogue");
        let told = generating(&progress, "services", services);
        generate::catalogue(db, services, told).await.map_err(sentence)?;
        say(&format!("generated {}", progress.end().sum(services, "services")));
        if deploys > 0 {
            let progress = Progress::begin("reading the services");
            let told = generating(&progress, "deploys", deploys);
            generate::deploys(db, deploys, Timestamp::now(), told).await.map_err(sentence)?;
            say(&format!("generated {}", progress.end().sum(deploys, "deploys")));
        }
        Ok(())
    })
    .await
}

/// What is told how many of `all` are generated.
fn generating(progress: &Progress, unit: &'static str, all: u64) -> impl FnMut(u64) {
    let counter = progress.counted("generating", unit, Some(all));
    move |done| {
        counter.set(done);
        if done == all {
            progress.phase(COMPLETING);
        }
    }
}

/// What follows once all rows are stored.
const COMPLETING: &str = "building indexes and what follows from the rows";

/// Exports to standard output, or to a file that only its owner can read and that appears once it is complete.
pub(super) async fn export(database: &Database, output: Option<&Path>, replace: bool) -> Result<(), String> {
    let Some(path) = output else { return with_database(database, export_to_standard_output).await };
    let unwritten = |error: io::Error| format!("{} cannot be written: {error}", path.display());
    if !replace && path.symlink_metadata().is_ok() {
        return Err(format!("{} exists; name a new file, or add --replace", path.display()));
    }
    let file = NewFile::create(path).map_err(unwritten)?;
    let mut out = BufWriter::new(file.as_file());
    let (rows, ended) = with_database(database, async |db| exported(db, &mut out).await).await?;
    drop(out);
    file.finish(if replace { Existing::Replace } else { Existing::Keep }).map_err(unwritten)?;
    say(&format!("exported to {}: {}", path.display(), ended.sum(rows, "rows")));
    Ok(())
}

async fn export_to_standard_output(db: &Db) -> Result<(), String> {
    let is_closed = Cell::new(false);
    let done = export_to_pipe(db, Pipe { out: io::stdout().lock(), is_closed: &is_closed }).await;
    // Whoever closed it has what they wanted.
    if is_closed.get() { Ok(()) } else { done }
}

async fn export_to_pipe(db: &Db, pipe: Pipe<'_>) -> Result<(), String> {
    let mut out = BufWriter::new(pipe);
    if io::stdout().is_terminal() {
        // The rows are the progress.
        return transfer::export(db, &mut out).await.map(drop);
    }
    let (rows, ended) = exported(db, &mut out).await?;
    // Whoever was told how far it is waits for the end.
    if ended.has_said {
        say(&format!("exported {}", ended.sum(rows, "rows")));
    }
    Ok(())
}

/// Standard output, which another program may close.
struct Pipe<'p> {
    out: StdoutLock<'static>,
    is_closed: &'p Cell<bool>,
}

impl Pipe<'_> {
    fn noted<T>(&self, done: io::Result<T>) -> io::Result<T> {
        if done.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            self.is_closed.set(true);
        }
        done
    }
}

impl Write for Pipe<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.noted(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.noted(flushed)
    }
}

/// Exports, and says how far it is. Returns the number of rows.
async fn exported(db: &Db, out: &mut impl Write) -> Result<(u64, Ended), String> {
    let progress = Progress::begin("opening the catalogue");
    let (done, all) = progress.counted_of("exporting", "rows");
    let told = |rows, of| {
        done.set(rows);
        all.set(of);
    };
    let rows = transfer::export_telling(db, out, told).await?;
    Ok((rows, progress.end()))
}

/// Counts the bytes that are read of a file.
struct Counting {
    file: File,
    read: Counter,
}

impl Read for Counting {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(bytes)?;
        self.read.add(read as u64);
        Ok(read)
    }
}

/// Imports a file, or standard input.
pub(super) async fn import(database: &Database, path: &Path) -> Result<(), String> {
    let is_standard_input = path == Path::new("-");
    let unread = |error: io::Error| format!("{} cannot be read: {error}", path.display());
    let (read, mut size) = (Counter::default(), None);
    let input: Box<dyn BufRead + Send> = match is_standard_input {
        true => Box::new(BufReader::new(io::stdin())),
        false => {
            let file = File::open(path).map_err(unread)?;
            // What is no file, such as a pipe, has no size that is known.
            size = file.metadata().ok().filter(fs::Metadata::is_file).map(|file| file.len());
            Box::new(BufReader::new(Counting { file, read: read.clone() }))
        }
    };
    let name = if is_standard_input { "standard input".to_owned() } else { path.display().to_string() };
    let imported = with_new_database(database, async |db| {
        let progress = Progress::begin("opening the catalogue");
        let counter = Counter::default();
        let (own, stored) = (read.clone(), counter.clone());
        let part = move || size.filter(|size| *size > 0).map(|size| own.get() as f64 / size as f64);
        progress.measured("storing", "rows", move || Counted { done: stored.get(), all: None, part: part() });
        let told = |step| match step {
            Step::Rows(rows) => counter.set(rows),
            Step::Completing => progress.phase(COMPLETING),
        };
        let rows = transfer::import_telling(db, &name, input, told).await?;
        Ok((rows, progress.end()))
    });
    let (rows, ended) = imported.await?;
    say(&format!("imported {}", ended.sum(rows, "rows")));
    Ok(())
}
