//! The files of an SQLite database: their permissions, and that a single file remains after a command.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use crate::harness::deadline::{Deadline, output};
use crate::harness::process::Process;
use crate::harness::program::{Place, assert_refused};

/// Runs a command with umask 0, so that all modes are the program's own.
fn command(place: &Place, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.current_dir(place.path()).env_clear().stdin(Stdio::null());
    command.args(["-c", "umask 0; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_rollcall")]).args(arguments);
    command
}

fn run(place: &Place, arguments: &[&str]) {
    let done = output(&mut command(place, arguments));
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// The files in the folder, with their modes.
fn modes(place: &Place) -> BTreeMap<String, u32> {
    let entries = fs::read_dir(place.path()).expect("the folder").map(|entry| entry.expect("an entry"));
    let mode = |entry: &fs::DirEntry| entry.metadata().expect("metadata").permissions().mode() & 0o777;
    entries.map(|entry| (entry.file_name().into_string().expect("text"), mode(&entry))).collect()
}

fn owners_alone(names: &[&str]) -> BTreeMap<String, u32> {
    names.iter().map(|name| ((*name).to_owned(), 0o600)).collect()
}

#[test]
fn every_command_closes_the_database_and_leaves_one_file_readable_only_by_its_owner() {
    let commands: &[&[&str]] = &[
        &["migrate"],
        &["token", "create", "--description", "first"],
        &["token", "list"],
        &["deploy-endpoint", "create", "--name", "CI"],
        &["deploy-endpoint", "list"],
        &["sign-in-link", "--email", "ada@example.com"],
        &["generate", "--services", "20", "--deploys", "20"],
        &["apply", "shop.yml"],
        &["release", "shop"],
        &["export"],
        &["token", "delete", "1"],
        &["deploy-endpoint", "delete", "1"],
    ];
    // Each command alone, as the one that creates the database, and then all in sequence.
    let shared = Place::new();
    let file = "version: 1\nservice: { name: Shop }\n";
    for arguments in commands {
        shared.write("shop.yml", file);
        run(&shared, arguments);
        fs::remove_file(shared.path().join("shop.yml")).expect("it is there");
        assert_eq!(modes(&shared), owners_alone(&["rollcall.db"]), "{arguments:?}");
    }
    for arguments in [&["migrate"][..], &["generate", "--services", "5"]] {
        let place = Place::new();
        run(&place, arguments);
        assert_eq!(modes(&place), owners_alone(&["rollcall.db"]), "{arguments:?}");
    }
    let (copy, export) = (Place::new(), shared.run(&["export"]));
    copy.write("export", export.out);
    run(&copy, &["import", "export"]);
    fs::remove_file(copy.path().join("export")).expect("it is there");
    assert_eq!(modes(&copy), owners_alone(&["rollcall.db"]));
}

#[test]
fn a_command_that_is_refused_closes_the_database_too() {
    let place = Place::with_database();
    assert_refused(&place.run(&["token", "delete", "7"]), "no token has the id 7");
    assert_eq!(modes(&place), owners_alone(&["rollcall.db"]));
    assert_eq!(place.run(&["apply", "none.yml"]).status, 1);
    assert_eq!(modes(&place), owners_alone(&["rollcall.db"]));
}

#[test]
fn the_files_of_a_server_are_readable_only_by_its_owner() {
    let place = Place::new();
    let service = Process::start(command(&place, &["--listen", "127.0.0.1:0"]));
    assert_eq!(modes(&place), owners_alone(&["rollcall.db", "rollcall.db-shm", "rollcall.db-wal"]));
    drop(service);
}

#[test]
fn an_existing_file_that_others_can_read_is_reported_at_the_start_and_not_changed() {
    let place = Place::new();
    let warnings = || {
        let mut service = command(&place, &["--listen", "127.0.0.1:0"]);
        let mut service = service.stderr(Stdio::piped()).spawn().expect("the program runs");
        let _deadline = Deadline::of(&service);
        let lines = BufReader::new(service.stderr.take().expect("standard error")).lines();
        let lines = lines.map(|line| line.expect("text")).take_while(|line| !line.contains("listens on"));
        let warnings: Vec<String> = lines.filter(|line| line.contains("WARN")).collect();
        service.kill().expect("it runs");
        service.wait().expect("it ends");
        warnings
    };
    assert_eq!(warnings(), Vec::<String>::new());
    fs::set_permissions(place.path().join("rollcall.db"), PermissionsExt::from_mode(0o644)).expect("a mode");
    let told = warnings();
    let file = place.absolute("rollcall.db");
    let sentence =
        format!("other users of this machine may read {file}, which holds secrets (mode 0644); run: chmod 600 {file}");
    assert!(told.len() == 1 && told[0].ends_with(&sentence), "{told:?}");
    assert_eq!(modes(&place)["rollcall.db"], 0o644);
}

#[tokio::test]
async fn a_second_server_on_an_sqlite_file_warns_and_neither_a_command_nor_a_restart_does() {
    let place = Place::new();
    let serve = async || {
        let service = Process::start(place.command(&["--listen", "127.0.0.1:0"]));
        assert_eq!(service.get(service.address, "/readyz").await.0, 200);
        service
    };
    let warning = "another server uses the same database file";
    let stop = |mut service: Process| service.stop().iter().filter(|line| line.contains(warning)).count();
    let (first, second) = (serve().await, serve().await);
    let line = second.line(warning);
    assert!(line.contains("WARN") && line.contains(&place.absolute("rollcall.db")), "{line}");
    let made = place.run(&["token", "create", "--description", "beside the two"]);
    assert_eq!((made.status, &*made.err), (0, ""));
    assert_eq!((stop(first), stop(second)), (0, 0));
    assert_eq!(stop(serve().await), 0);
}
