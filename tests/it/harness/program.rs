//! The program as users run it, in a folder of its own.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::harness::database::Database;
use crate::harness::deadline::output;

/// The result of a command.
pub struct Done {
    pub status: i32,
    pub out: String,
    pub err: String,
}

/// The working folder of a test's commands.
pub struct Place(TempDir);

impl Place {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// A folder with an empty catalogue, so that no command has to say that it has created one.
    pub fn with_database() -> Self {
        let place = Self::new();
        assert_eq!(place.run(&["migrate"]).status, 0);
        place
    }

    /// The absolute path of a file, as the program shows it.
    pub fn absolute(&self, name: &str) -> String {
        self.0.path().canonicalize().expect("the folder").join(name).display().to_string()
    }

    /// What the program says when it has created a database.
    pub fn created(&self, name: &str) -> String {
        format!("created the database {}\n", self.absolute(name))
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rollcall"));
        command.current_dir(self.0.path()).args(arguments).stdin(Stdio::null()).env_clear();
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Done {
        let Output { status, stdout, stderr } = output(&mut self.command(arguments));
        let text = |bytes| String::from_utf8(bytes).expect("text");
        Done { status: status.code().expect("a status"), out: text(stdout), err: text(stderr) }
    }

    /// Runs a command that succeeds on a database, and returns its output. First migrates the database: few commands
    /// create a file.
    pub fn run_on(&self, database: &Database, arguments: &[&str]) -> String {
        let migrated = self.run(&["migrate", "--database-url", &database.url]);
        assert_eq!(migrated.status, 0, "{}", migrated.err);
        let done = self.run(&[arguments, &["--database-url", &database.url]].concat());
        assert_eq!(done.status, 0, "{}", done.err);
        done.out.trim().to_owned()
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.0.path().join(name), text).expect("a file");
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Asserts a failure: one sentence on standard error, nothing else, and status 1.
pub fn assert_refused(done: &Done, sentence: &str) {
    assert_eq!((done.status, &*done.out, &*done.err), (1, "", &*format!("rollcall: {sentence}\n")));
}
