//! `rollcall apply` to a server.

use std::process::Output;

use crate::harness::app::TestApp;
use crate::harness::deadline::output;
use crate::harness::program::{Done, Place};

/// Runs a command without blocking the server that it talks to.
pub async fn run(place: &Place, app: &TestApp, token: &str, arguments: &[&str]) -> Done {
    let mut command = place.command(&[&["apply"], arguments].concat());
    command.env("ROLLCALL_SERVER", format!("http://{}", app.address)).env("ROLLCALL_TOKEN", token);
    let done = tokio::task::spawn_blocking(move || output(&mut command)).await;
    let Output { status, stdout, stderr } = done.expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    // Without what is said of the progress on a slow machine.
    let is_progress = |line: &&str| {
        ["reading the files: ", "sending: ", "waiting for the server: ", "looked at "]
            .iter()
            .any(|said| line.starts_with(said))
    };
    let err = text(stderr).split_inclusive('\n').filter(|line| !is_progress(line)).collect();
    Done { status: status.code().expect("a status"), out: text(stdout), err }
}
