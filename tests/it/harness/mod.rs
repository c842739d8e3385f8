//! What several tests share: running servers and commands, databases, other programs of the tests, and catalogues to
//! begin with. No test is in here, and no test imports from another: what two tests need is moved here.

pub mod agent;
pub mod app;
pub mod apply_command;
pub mod browser;
pub mod checks;
pub mod cluster;
pub mod code_issues;
pub mod collector;
pub mod database;
pub mod deadline;
pub mod deploy_figures;
pub mod desk;
pub mod documents;
pub mod everything;
pub mod fault_load;
pub mod inbox;
pub mod integration;
pub mod metrics;
pub mod mount;
pub mod openid;
pub mod openid_provider;
pub mod postgres;
pub mod postgres_proxy;
pub mod process;
pub mod program;
pub mod receiver;
pub mod refusal;
pub mod rows;
pub mod service_file;
pub mod services;
pub mod smtp;
pub mod statements;
pub mod tour;
pub mod tour_checks;
pub mod tour_events;
pub mod webhook;

/// Says something that the test runner does not swallow when the test passes.
pub fn say_aloud(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{text}");
}
