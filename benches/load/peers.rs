//! Other programs that answer the same operations, from a folder that the caller names.
//!
//! The folder holds `ops.json`, an object of operations by their names for each flavour, and `peers.json`, an object of
//! peers by their names. Text like `$HOME` in it stands for an environment variable. Each peer has
//!
//! - `url`: its GraphQL endpoint. It has the services `svc-1` and so on already.
//! - `start`: the words of the command that starts it, in the folder, and `environment`, an object, for it. Or `pid`: the
//!   id of the process, or a file that holds it, of a peer that already runs.
//! - `postgres`: the data folder of the PostgreSQL that it asks, if it does.
//! - `flavor`: whose operations it takes (`common`); `ops`: which lines it can answer (`Q1,Q2,Q3,M1`).
//! - `auth`: the value of `Authorization`; `deploy`: the URL that deploys are posted to; `cursor`: the cursor after the
//!   first nine tenths of the services (their number); `cursors`: a file with a cursor for each page.

use std::fs;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::Uri;
use regex::{Captures, Regex};
use serde_json::{Map, Value};

use crate::data::postmaster;
use crate::lines::Line;
use crate::target::{Target, header};

/// How long a peer may take to start.
const PATIENCE: Duration = Duration::from_secs(30);

/// Another program.
pub struct Peer {
    pub name: String,
    pub target: Arc<Target>,
    /// Its process.
    pub process: u32,
    /// The process of its database.
    pub postgres: Option<u32>,
    operations: Vec<String>,
    _started: Option<Started>,
}

/// A process that we have started, killed when dropped.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Peer {
    /// Whether it can answer a line.
    pub fn answers(&self, line: &Line) -> bool {
        let operation = line.operation();
        self.operations.iter().any(|known| known == operation)
            && (line.name != "Q2-random" || !self.target.cursors.is_empty())
            && if line.is_deploy() {
                !self.target.webhook.is_empty()
            } else {
                self.target.operation(operation).is_some()
            }
    }
}

/// Starts the peers of a folder or finds them running, and says which are left out. Entries for rollcall itself are
/// skipped.
pub fn open(folder: &Path, services: u64) -> Result<Vec<Peer>, String> {
    let described = read(&folder.join("peers.json"))?;
    let operations = read(&folder.join("ops.json"))?;
    let mut peers = Vec::new();
    for (name, peer) in described.iter().filter(|(name, _)| !name.starts_with("rollcall")) {
        match start(folder, name, peer, &operations, services) {
            Ok(peer) => peers.push(peer),
            Err(why) => eprintln!("left out: the peer {name}: {why}"),
        }
    }
    Ok(peers)
}

fn read(file: &Path) -> Result<Map<String, Value>, String> {
    let why = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let text = fs::read_to_string(file).map_err(|error| why(&error))?;
    let variable = Regex::new(r"\$([A-Z_]+)").map_err(|error| why(&error))?;
    let text = variable.replace_all(&text, |found: &Captures<'_>| std::env::var(&found[1]).unwrap_or_default());
    serde_json::from_str(&text).map_err(|error| why(&error))
}

fn start(
    folder: &Path,
    name: &str,
    peer: &Value,
    operations: &Map<String, Value>,
    services: u64,
) -> Result<Peer, String> {
    let text = |key: &str| peer[key].as_str().filter(|text| !text.is_empty());
    let url: Uri = text("url").ok_or("it has no url")?.parse().map_err(|_| "its url is none")?;
    let address =
        url.authority().and_then(|it| it.as_str().to_socket_addrs().ok()?.next()).ok_or("its url has no host")?;
    let started = peer["start"].as_array().map(|words| spawn(folder, words, peer)).transpose()?;
    let process = match (&started, text("pid")) {
        (Some(started), _) => started.0.id(),
        (None, Some(pid)) => running(pid)?,
        (None, None) => return Err("it has neither start nor pid".to_owned()),
    };
    wait(address)?;
    let flavour = text("flavor").unwrap_or("common");
    let theirs = operations.get(flavour).and_then(Value::as_object).ok_or("ops.json lacks its flavour")?;
    let theirs = theirs.iter().filter_map(|(name, text)| Some((name.as_str(), text.as_str()?)));
    let mut target = Target::new(address, services, theirs)?;
    target.is_peer = true;
    target.graphql = url.path().to_owned();
    target.authorization = text("auth").map(header).transpose()?;
    if let Some(deploy) = text("deploy") {
        target.webhook = deploy.parse::<Uri>().map_err(|_| "its deploy is no URL")?.path().to_owned();
    }
    target.late_cursor = text("cursor").map_or_else(|| (services / 10 * 9).to_string(), str::to_owned);
    target.cursors = match text("cursors") {
        Some(file) => fs::read_to_string(file).map_err(|error| error.to_string())?.lines().map(str::to_owned).collect(),
        None if flavour == "common" => (1..services / 100).map(|page| (page * 100).to_string()).collect(),
        None => Vec::new(),
    };
    let known = text("ops").unwrap_or("Q1,Q2,Q3,M1").split(',').map(str::to_owned);
    // The variables of its mutation are its own.
    let known = known.filter(|name| flavour == "common" || name != "M1").collect();
    let postgres = text("postgres").and_then(|data| postmaster(Path::new(data)));
    Ok(Peer {
        name: name.to_owned(),
        target: Arc::new(target),
        process,
        postgres,
        operations: known,
        _started: started,
    })
}

fn spawn(folder: &Path, words: &[Value], peer: &Value) -> Result<Started, String> {
    let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
    let (program, rest) =
        words.as_ref().and_then(|words| words.split_first()).ok_or("its start is no list of words")?;
    let mut command = Command::new(program);
    command.args(rest).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
    for (name, value) in peer["environment"].as_object().into_iter().flatten() {
        command.env(name, value.as_str().ok_or("its environment holds something else than texts")?);
    }
    command.spawn().map(Started).map_err(|error| format!("{program}: {error}"))
}

/// The process with this id, or with the id in this file.
fn running(pid: &str) -> Result<u32, String> {
    let id = pid.parse().ok().or_else(|| fs::read_to_string(pid).ok()?.trim().parse().ok());
    let id: u32 = id.ok_or_else(|| format!("{pid} holds no process id"))?;
    if Path::new(&format!("/proc/{id}")).is_dir() { Ok(id) } else { Err(format!("process {id} does not run")) }
}

fn wait(address: SocketAddr) -> Result<(), String> {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        if TcpStream::connect(address).is_ok() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err(format!("nothing listens on {address}"))
}
