//! The program in its own process, so that its memory and processor time can be measured.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// The memory at which a watched server is killed, in kilobytes.
pub const MEMORY_KB: u64 = 512 * 1024;

/// How often its memory is checked.
const LOOK: Duration = Duration::from_millis(20);

/// The program under test: the one built with this test, or the one in `ROLLCALL_TEST_PROGRAM`.
pub fn program() -> PathBuf {
    let other = std::env::var_os("ROLLCALL_TEST_PROGRAM");
    other.map_or(env!("CARGO_BIN_EXE_rollcall").into(), |path| std::path::absolute(path).expect("a path"))
}

/// The factor for time limits: a debug build is about ten times slower than a release build.
pub fn slowness() -> u32 {
    let is_debug = cfg!(debug_assertions) && std::env::var_os("ROLLCALL_TEST_PROGRAM").is_none();
    if is_debug { 10 } else { 1 }
}

/// Runs a command of the program on the database in `folder` and returns its output.
pub fn run(folder: &Path, arguments: &[&str]) -> String {
    let made = command(folder, arguments).output().expect("the program runs");
    assert!(made.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&made.stderr));
    String::from_utf8(made.stdout).expect("text").trim().to_owned()
}

/// Creates a token with a scope.
pub fn token(folder: &Path, scope: &str) -> String {
    run(folder, &["token", "create", "--description", "hostile", "--scope", scope])
}

/// Copies a folder's files and syncs them to disk. Otherwise hundreds of megabytes of pending writes would delay the
/// server's own small writes.
pub fn copy(from: &Path, to: &Path) {
    for file in fs::read_dir(from).expect("the folder") {
        let file = file.expect("a file");
        let copy = to.join(file.file_name());
        fs::copy(file.path(), &copy).expect("a copy");
        fs::File::open(copy).and_then(|copy| copy.sync_all()).expect("a copy on the disk");
    }
}

/// A migrated database with a write token.
pub struct Installation {
    folder: TempDir,
    token: String,
}

impl Installation {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        run(folder.path(), &["migrate"]);
        let token = token(folder.path(), "write");
        assert!(token.starts_with("rc_"), "{token}");
        Self { folder, token }
    }

    /// A server over a copy of the database.
    pub fn serve(&self, flags: &[&str]) -> Server {
        let folder = tempfile::tempdir().expect("a folder");
        copy(self.folder.path(), folder.path());
        let mut server = Server::start(folder.path(), &self.token, flags);
        server.folder = Some(folder);
        server
    }
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.current_dir(folder).args(arguments).env_clear();
    command
}

/// A server that runs until dropped.
pub struct Server {
    process: Arc<Mutex<Child>>,
    id: u32,
    pub address: SocketAddr,
    pub token: String,
    guard: Arc<Guard>,
    /// Its folder, removed after it has stopped.
    folder: Option<TempDir>,
}

/// The watcher of a server's memory.
#[derive(Default)]
struct Guard {
    is_over: AtomicBool,
    has_killed: AtomicBool,
    /// Kilobytes.
    most_memory: AtomicU64,
}

impl Server {
    /// A server over the database in `folder`, without rate limits.
    pub fn start(folder: &Path, token: &str, flags: &[&str]) -> Self {
        let quiet = ["serve", "--listen", "127.0.0.1:0", "--token-limit", "0", "--ip-limit", "0", "--log", "error"];
        let mut command = command(folder, &[&quiet, flags].concat());
        let mut process =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it runs");
        let mut errors = BufReader::new(process.stderr.take().expect("standard error"));
        let mut line = String::new();
        errors.read_line(&mut line).expect("a line");
        let address = line.split_whitespace().find_map(|word| word.parse().ok());
        let address = address.unwrap_or_else(|| panic!("it does not listen: {line}"));
        // A full pipe would block it.
        thread::spawn(move || std::io::copy(&mut errors.by_ref(), &mut std::io::sink()));
        let id = process.id();
        let process = Arc::new(Mutex::new(process));
        Self { process, id, address, token: token.to_owned(), guard: Arc::default(), folder: None }
    }

    /// The same server, killed when its memory exceeds [`MEMORY_KB`].
    pub fn watched(self) -> Self {
        let (process, guard, id) = (Arc::clone(&self.process), Arc::clone(&self.guard), self.id);
        thread::spawn(move || {
            while !guard.is_over.load(Ordering::Relaxed) {
                let memory = status(id, "VmRSS:").unwrap_or(0);
                guard.most_memory.fetch_max(memory, Ordering::Relaxed);
                if memory > MEMORY_KB {
                    guard.has_killed.store(true, Ordering::Relaxed);
                    let _ = lock(&process).kill();
                    return;
                }
                thread::sleep(LOOK);
            }
        });
        self
    }

    /// Whether it was killed for its memory use.
    pub fn is_killed(&self) -> bool {
        self.guard.has_killed.load(Ordering::Relaxed)
    }

    /// Whether the process runs.
    pub fn is_running(&self) -> bool {
        matches!(lock(&self.process).try_wait(), Ok(None))
    }

    /// The maximum memory observed, in kilobytes.
    pub fn most_memory(&self) -> u64 {
        let most = self.memory().map_or(0, |(_, most)| most);
        self.guard.most_memory.load(Ordering::Relaxed).max(most)
    }

    /// Its current and its peak memory, in kilobytes. `None` where the system does not report it.
    pub fn memory(&self) -> Option<(u64, u64)> {
        Some((status(self.id, "VmRSS:")?, status(self.id, "VmHWM:")?))
    }

    /// The memory that it allocated and holds now, in kilobytes. The pages of its program and of its database's files,
    /// which the system takes back when it needs them, are not counted. `None` where the system does not report it.
    pub fn held_memory(&self) -> Option<u64> {
        status(self.id, "RssAnon:")
    }

    /// Resets the peak of its memory.
    pub fn forget_most_memory(&self) {
        let forgotten = fs::write(format!("/proc/{}/clear_refs", self.id), "5");
        assert!(forgotten.is_ok() || !self.is_running(), "{forgotten:?}");
    }

    /// The processor time of each of its threads, by id.
    pub fn threads(&self) -> HashMap<u32, Duration> {
        let Ok(tasks) = fs::read_dir(format!("/proc/{}/task", self.id)) else { return HashMap::new() };
        let one = |entry: std::io::Result<fs::DirEntry>| {
            let path = entry.ok()?.path();
            let number = path.file_name()?.to_str()?.parse().ok()?;
            let text = fs::read_to_string(path.join("schedstat")).ok()?;
            Some((number, Duration::from_nanos(text.split_whitespace().next()?.parse().ok()?)))
        };
        tasks.filter_map(one).collect()
    }

    /// Stops it as an operator does, so that the database is a single file.
    pub fn stop(self) {
        let id = i32::try_from(self.id).ok().and_then(Pid::from_raw).expect("a process");
        kill_process(id, Signal::TERM).expect("a signal");
        lock(&self.process).wait().expect("it ends");
    }

    /// The head of a request to `/graphql`, without the final blank line.
    pub fn head(&self) -> String {
        format!(
            "POST /graphql HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nAccept: application/graphql-response+json\r\n\
             Authorization: Bearer {}\r\n",
            self.token
        )
    }

    /// A whole request to `/graphql`.
    pub fn post(&self, body: impl AsRef<[u8]>) -> Vec<u8> {
        let body = body.as_ref();
        let head = format!("{}Content-Length: {}\r\n\r\n", self.head(), body.len());
        [head.as_bytes(), body].concat()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.guard.is_over.store(true, Ordering::Relaxed);
        let mut process = lock(&self.process);
        let _ = process.kill();
        let _ = process.wait();
    }
}

fn lock(process: &Mutex<Child>) -> MutexGuard<'_, Child> {
    process.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A number from `/proc/ID/status`.
fn status(id: u32, name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
}
