//! A rollcall program: its commands, and its server as an operator would start it.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rollcall::config::{self, Command as Settings};
use rollcall::db;
use rollcall::deploy::Deploys;
use rollcall::events::Wanted;
use rollcall::graphql::{Catalogue, Settings as CatalogueSettings};
use rollcall::http::{self, App};
use rustix::process::{Pid, Signal, kill_process};
use tokio::net::TcpListener;

/// How long a server may take to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a server is started: metrics are shown, requests are counted, the log goes to a file. The audit and
/// authentication cannot be switched off. No limit refuses what the bench asks.
const FLAGS: [&str; 8] = [
    "--listen",
    "127.0.0.1:0",
    "--metrics-listen",
    "127.0.0.1:0",
    "--token-limit",
    "4000000000",
    "--ip-limit",
    "4000000000",
];

/// A rollcall program.
#[derive(Debug, Clone)]
pub struct Program {
    pub path: PathBuf,
    /// Its name in the table.
    pub name: String,
}

impl Program {
    pub fn new(path: &Path, name: &str) -> Result<Self, String> {
        let path = fs::canonicalize(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { path, name: name.to_owned() })
    }

    fn command(&self, url: &str, words: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        command.args(words).args(["--database-url", url]).env_clear().stdin(Stdio::null());
        command
    }

    /// Runs a command on a database and returns its output.
    pub fn run(&self, url: &str, words: &[&str]) -> Result<String, String> {
        let done = self.command(url, words).output().map_err(|error| format!("{}: {error}", self.name))?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            return Err(format!("{} {}: {}", self.name, words.join(" "), said.trim()));
        }
        Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
    }

    /// What the program says its version is.
    pub fn version(&self) -> Result<String, String> {
        let done = Command::new(&self.path).arg("--version").env_clear().output().map_err(|error| error.to_string())?;
        Ok(String::from_utf8_lossy(&done.stdout).trim().trim_start_matches("rollcall ").to_owned())
    }

    /// Serves a database, with the log in this file.
    pub fn serve(&self, url: &str, log: &Path) -> Result<Server, String> {
        self.serve_with(url, log, &[])
    }

    /// The same with more flags.
    pub fn serve_with(&self, url: &str, log: &Path, flags: &[&str]) -> Result<Server, String> {
        let mut command = self.command(url, &["serve"]);
        command.args(FLAGS).args(flags);
        Server::start(command, log)
    }

    /// The program's size in MiB, without symbols if `strip` is there.
    pub fn size(&self, folder: &Path) -> Result<(f64, bool), String> {
        let stripped = folder.join("stripped");
        let done = Command::new("strip").arg("-o").arg(&stripped).arg(&self.path).stderr(Stdio::null()).status();
        let is_stripped = done.is_ok_and(|status| status.success());
        let measured = if is_stripped { &stripped } else { &self.path };
        let bytes = fs::metadata(measured).map_err(|error| error.to_string())?.len();
        let _ = fs::remove_file(&stripped);
        Ok((bytes as f64 / f64::from(1 << 20), is_stripped))
    }
}

/// A running server, killed when dropped.
pub struct Server {
    pub address: SocketAddr,
    process: Child,
}

impl Server {
    /// Starts a command that says in its log on which address it listens.
    pub fn start(mut command: Command, log: &Path) -> Result<Self, String> {
        let begin = Instant::now();
        let file = File::create(log).map_err(|error| error.to_string())?;
        let mut process = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file)
            .spawn()
            .map_err(|error| format!("{command:?}: {error}"))?;
        loop {
            let said = fs::read_to_string(log).unwrap_or_default();
            let address = said.split_once("listens on ").and_then(|(_, rest)| rest.split_once([' ', '\n']));
            if let Some(address) = address.and_then(|(address, _)| address.parse().ok()) {
                return Ok(Self { address, process });
            }
            if begin.elapsed() > PATIENCE || process.try_wait().is_ok_and(|ended| ended.is_some()) {
                let _ = process.kill();
                let _ = process.wait();
                return Err(format!("{command:?} does not serve: {said}"));
            }
            std::thread::sleep(Duration::from_micros(500));
        }
    }

    /// The id of its process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Stops it as an operator does, and waits for it.
    pub fn stop(mut self) -> Result<(), String> {
        let id = i32::try_from(self.id()).ok().and_then(Pid::from_raw).ok_or("no process")?;
        kill_process(id, Signal::TERM).map_err(|error| error.to_string())?;
        let ended = self.process.wait().map_err(|error| error.to_string())?;
        if ended.success() { Ok(()) } else { Err(format!("the server ended with {ended}")) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The first word of this program's command line that makes it a server, see [`serve_one_by_one`].
pub const ONE_BY_ONE: &str = "serve-one-by-one";

/// The command that serves a database with a commit, and a flush of the disk, for each deploy and each mutation.
pub fn one_by_one(url: &str) -> Result<Command, String> {
    let mut command = Command::new(std::env::current_exe().map_err(|error| error.to_string())?);
    command.args([ONE_BY_ONE, url]).env_clear();
    Ok(command)
}

/// Serves as the program does, but commits every deploy alone, and flushes the disk for each commit. Runs until killed.
pub async fn serve_one_by_one(url: &str) {
    let flags = ["rollcall", "serve", "--database-url", url].into_iter().chain(FLAGS);
    let Ok(Settings::Serve(settings)) = config::parse(flags) else { panic!("not the flags of serve") };
    let db = db::connect(url).await.expect("a database").with_a_flush_per_commit();
    db::migrate(&db).await.expect("its schema");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let app_url = settings.addresses.app_url(&address.into());
    let catalogue = Catalogue::new(db.clone(), CatalogueSettings::new(settings.account_name, app_url));
    let app = App::new(db.clone(), catalogue, settings.edge).with_deploys(Deploys::start(db, Wanted::default(), 1));
    eprintln!("listens on {address} ");
    http::serve(Arc::new(app), listener, None, std::future::pending()).await;
}
