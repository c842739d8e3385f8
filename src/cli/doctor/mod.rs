//! `rollcall doctor`: checks everything that a server with these settings depends on, and says how to fix each problem.
//! It changes nothing: it neither creates nor migrates a database.

use std::fmt;

use crate::config::Serve;
use crate::entity::text::one_line;

mod database;
mod edge;
mod machine;
mod mail;

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    level: Level,
    about: &'static str,
    says: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// OK.
    Fine,
    /// It works, but could be better or safer.
    Advice,
    /// It does not work.
    Problem,
}

impl Finding {
    fn fine(about: &'static str, says: impl Into<String>) -> Self {
        Self { level: Level::Fine, about, says: says.into() }
    }

    fn advice(about: &'static str, says: impl Into<String>) -> Self {
        Self { level: Level::Advice, about, says: says.into() }
    }

    fn problem(about: &'static str, says: impl Into<String>) -> Self {
        Self { level: Level::Problem, about, says: says.into() }
    }

    /// Whether it is a problem.
    pub fn is_problem(&self) -> bool {
        self.level == Level::Problem
    }
}

/// One line, in columns.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Fine => "ok",
            Level::Advice => "advice",
            Level::Problem => "PROBLEM",
        };
        writeln!(f, "{level:8} {:9} {}", self.about, one_line(&self.says))
    }
}

/// Runs all checks, in the order in which to fix their problems.
pub async fn examine(settings: &Serve) -> Vec<Finding> {
    let mut findings = edge::settings(settings);
    let url = settings.database.url();
    findings.push(machine::connections(settings.edge.max_connections));
    findings.extend(url.as_ref().ok().and_then(|url| machine::disk(url)));
    let server = tokio::task::block_in_place(|| edge::server(settings));
    match url {
        Ok(url) => findings.extend(database::examine(&url, &settings.read_database, server.running.as_ref()).await),
        Err(reason) => findings.push(Finding::problem("database", reason)),
    }
    let is_ready = server.finding.level == Level::Fine;
    findings.push(server.finding);
    findings.extend(mail::examine(settings).await);
    if is_ready {
        findings.extend(tokio::task::block_in_place(|| edge::proxy(settings)));
    }
    findings
}
