//! Reruns the tests on PostgreSQL: in a private cluster of the installed programs, which is removed with the tests.
//!
//! `cargo test` without a filter does it. To run some of them: `ROLLCALL_TEST_DATABASE=postgres cargo test tag::`.

use std::process::{Command, Stdio};

use crate::harness::cluster::programs;
use crate::harness::database::{self, BACKEND};

/// Modules whose tests use no database, or their own files.
const ELSEWHERE: [&str; 9] = [
    "commands::command_line::",
    "commands::sender::",
    "project::codegen_fixtures::",
    "project::executor::",
    "project::schema_diff::",
    "project::tidy::",
    "storage::backup::",
    "storage::postgres::",
    "storage::primary_lost::",
];

#[test]
fn every_test_with_a_database_passes_on_postgresql_too() {
    if database::is_postgres() {
        return;
    }
    if let Err(missing) = programs() {
        assert!(std::env::var_os("CI").is_none(), "{missing}");
        return crate::harness::say_aloud(&format!("left out: all tests on PostgreSQL; {missing}"));
    }
    let mut again = Command::new(std::env::current_exe().expect("this program"));
    again.env(BACKEND, "postgres").args(["--color", "never", "--skip", "sqlite"]);
    for module in ELSEWHERE {
        again.args(["--skip", module]);
    }
    let done = again.stdin(Stdio::null()).output().expect("this program runs");
    let text = String::from_utf8_lossy(&done.stdout);
    let said = String::from_utf8_lossy(&done.stderr);
    // The lines of passed tests would hide those of failed ones.
    let told = text.find("\nfailures:\n").map_or(&*text, |at| &text[at..]);
    assert!(done.status.success(), "on PostgreSQL: {}\n{told}\n{said}", done.status);
    let result = text.lines().rfind(|line| line.starts_with("test result:")).expect("a result");
    crate::harness::say_aloud(&format!("on PostgreSQL: {}", result.trim_start_matches("test result: ")));
}
