//! The commands that read from a server, where somebody works with them.

use std::process::Command;

use rollcall::entity::token::Scope;
use serde_json::Value;

use crate::harness::app::TestApp;
use crate::harness::deadline::output;
use crate::harness::program::{Done, Place};

/// A folder, a server and a token for it.
pub struct Desk {
    pub place: Place,
    pub url: String,
    pub token: String,
}

impl Desk {
    pub async fn at(app: &TestApp, scope: Scope) -> Self {
        let token = app.new_token(scope, None).await;
        Self { place: Place::new(), url: format!("http://{}", app.address), token }
    }

    /// The command, without the server and the token.
    pub fn bare(&self, arguments: &[&str]) -> Command {
        let mut command = self.place.command(arguments);
        command.env("ROLLCALL_CONTEXTS", self.place.path().join("kept").join("contexts.json"));
        // For git.
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
    }

    pub async fn run(&self, arguments: &[&str]) -> Done {
        let mut command = self.bare(arguments);
        command.env("ROLLCALL_SERVER", &self.url).env("ROLLCALL_TOKEN", &self.token);
        ended(command).await
    }

    /// The output of a command that succeeds and says nothing else.
    pub async fn said(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments).await;
        assert_eq!((done.status, &*done.err), (0, ""), "{arguments:?}: {}", done.err);
        done.out
    }

    pub async fn json(&self, arguments: &[&str]) -> Value {
        let said = self.said(&[arguments, &["--output", "json"]].concat()).await;
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
    }
}

/// Runs a command without blocking the server that it asks.
pub async fn ended(mut command: Command) -> Done {
    let done = tokio::task::spawn_blocking(move || output(&mut command)).await.expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Done { status: done.status.code().expect("a status"), out: text(done.stdout), err: text(done.stderr) }
}
