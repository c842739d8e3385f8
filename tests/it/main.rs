//! Tests through the front door, all in one binary.

mod app;
mod database;

mod account;
mod alias;
mod app_audit;
mod app_browser;
mod app_catalogue;
mod app_pages;
mod app_sign_in;
mod backup;
mod code_issue;
mod code_issue_project;
mod codegen_fixtures;
mod command_line;
mod coverage;
mod deploy;
mod deploy_clients;
mod deploy_metrics;
mod deploy_record;
mod deploy_retention;
mod executor;
mod explorer;
mod full_disk;
mod graphql_js_validation;
mod graphql_over_http;
mod http;
mod identifiers;
mod integration;
mod introspection;
mod kill;
mod library;
mod limits;
mod metrics;
mod migrations;
mod openid;
mod openid_provider;
mod openid_slow;
mod paging;
mod postgres;
mod process;
mod properties;
mod published_limits;
mod races;
mod reads;
mod real_catalogue;
mod reference;
mod refusals;
mod repository;
mod schema_diff;
mod sender;
mod service;
mod service_file;
mod share_of_memory;
mod specification;
mod statements;
mod suggestion;
mod tag;
mod team;
mod tidy;
mod tier;
mod time_limit;
mod tls;
mod tour;
mod transfer;
mod user;
mod webhook;

/// Says something that the test runner does not swallow when the test passes.
fn say_aloud(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{text}");
}
