//! The program as a process of its own, so that what its memory does is its own doing.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// A migrated database with a token that may write.
pub struct Installation {
    folder: TempDir,
    token: String,
}

impl Installation {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let made = command(folder.path(), &["token", "create", "--description", "hostile"]).output().expect("a token");
        let token = String::from_utf8(made.stdout).expect("text").trim().to_owned();
        assert!(token.starts_with("rc_"), "{}", String::from_utf8_lossy(&made.stderr));
        Self { folder, token }
    }

    /// A server over a copy of it.
    pub fn serve(&self, flags: &[&str]) -> Server {
        let folder = tempfile::tempdir().expect("a folder");
        for file in fs::read_dir(self.folder.path()).expect("the folder") {
            let file = file.expect("a file");
            fs::copy(file.path(), folder.path().join(file.file_name())).expect("a copy");
        }
        let quiet = ["serve", "--listen", "127.0.0.1:0", "--token-limit", "0", "--ip-limit", "0", "--log", "error"];
        let mut command = command(folder.path(), &[&quiet, flags].concat());
        let mut process =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it runs");
        let mut errors = BufReader::new(process.stderr.take().expect("standard error"));
        let mut line = String::new();
        errors.read_line(&mut line).expect("a line");
        let address = line.split_whitespace().find_map(|word| word.parse().ok());
        let address = address.unwrap_or_else(|| panic!("it does not listen: {line}"));
        // A pipe that nobody empties would stop it.
        std::thread::spawn(move || std::io::copy(&mut errors.by_ref(), &mut std::io::sink()));
        Server { process, address, token: self.token.clone(), _folder: folder }
    }
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rollcall"));
    command.current_dir(folder).args(arguments).env_clear();
    command
}

/// A server that runs until it is dropped.
pub struct Server {
    process: Child,
    pub address: SocketAddr,
    pub token: String,
    _folder: TempDir,
}

impl Server {
    /// Its memory now, and the most that it ever was, in kilobytes; nothing where the system does not tell.
    pub fn memory(&self) -> Option<(u64, u64)> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).ok()?;
        let number = |name| {
            status.lines().find_map(|line: &str| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
        };
        Some((number("VmRSS:")?, number("VmHWM:")?))
    }

    /// The head of a request to `/graphql`, without the blank line at its end.
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
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
