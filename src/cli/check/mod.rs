//! `rollcall check`: evaluates the checks that concern the services of a repository on its checkout, and reports what it
//! found, from a pipeline.
//!
//! Invariants: nothing of the files' contents is sent but sentences that name paths and lines. Bounds are in [`tree`].

mod contents;
mod forge;
mod judge;
mod locks;
mod packages;
pub mod tree;

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value as Json, json};

use super::console::say;
use super::reading::{print_rows, server};
use super::remote::Server;
use super::sender::git;
use crate::config::Check;
use crate::entity::repository;
use crate::entity::text::{SHORT, one_line};
use crate::graphql::standards::check::{MESSAGE, RESULTS};
use crate::service_file::Origin;
use judge::Found;
use tree::Tree;

const CHECKS: &str = "query Checks($name: String!) { account { repository(alias: $name) { defaultAlias checks {
    services { serviceId serviceAlias baseDirectory }
    checks { fingerprint serviceIds check { id name type __typename
        ... on RepositoryFileCheck { directorySearch fileContentsPredicate { type value } filePaths useAbsoluteRoot }
        ... on RepositoryGrepCheck { directorySearch fileContentsPredicate { type value } filePaths }
        ... on RepositorySearchCheck { fileContentsPredicate { type value } fileExtensions }
        ... on PackageVersionCheck { missingPackageResult packageConstraint packageManager packageName
            packageNameIsRegex versionConstraintPredicate { type value } } } }
} } } }";

const REPORT: &str = "mutation Report($input: RepositoryCheckResultsReportInput!) {
    repositoryCheckResultsReport(input: $input) { recorded outdated errors { message path } } }";

/// Runs the command. Blocks.
///
/// # Errors
/// Why nothing was evaluated, or not all was reported, in a sentence or a few.
pub(super) fn run(settings: &Check) -> Result<ExitCode, String> {
    let Checkout { root, alias, commit } = checkout(settings)?;
    let server = server(&settings.asking.remote, settings.asking.deadline)?;
    let mut said = server.ask(CHECKS, &json!({ "name": alias }))?;
    let repository = said["account"]["repository"].take();
    if repository.is_null() {
        return Err(format!("the catalogue knows no repository {alias}"));
    }
    let mut tree = Tree::walk(&root);
    let branch = forge::is_protected(settings, &repository["checks"]);
    let rows = evaluate(&mut tree, &branch, &repository["checks"]);
    if !settings.dry_run {
        let alias = repository["defaultAlias"].as_str().unwrap_or(&alias);
        report(&server, alias, commit.as_deref(), &rows)?;
    }
    let columns = [("service", "/service"), ("check", "/check"), ("result", "/result"), ("found", "/message")];
    print_rows(settings.asking.output, &columns, &rows)?;
    if rows.is_empty() {
        say("no check that is evaluated in a repository concerns its services");
    }
    let has_failed = rows.iter().any(|row| row["result"] == "failed");
    Ok(if settings.fail && has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What is looked at.
struct Checkout {
    root: PathBuf,
    alias: String,
    commit: Option<String>,
}

fn checkout(settings: &Check) -> Result<Checkout, String> {
    let path = settings.path.canonicalize();
    let path = path.map_err(|error| format!("{} cannot be read: {error}", settings.path.display()))?;
    if !path.is_dir() {
        return Err(format!("{} is no folder", settings.path.display()));
    }
    let found = git::checkout_of(&path);
    // An address, of the web or of git, leads to the alias.
    let of_remote = |remote: &str| repository::alias_of(&Origin::new(Some(remote), None).ok()?.repository?);
    let alias = match &settings.repository {
        Some(given) => of_remote(given).unwrap_or_else(|| given.clone()),
        None => found
            .remote
            .as_deref()
            .and_then(of_remote)
            .ok_or("the repository is not known: git has no remote origin here; give --repository")?,
    };
    Ok(Checkout { root: found.root.unwrap_or(path), alias, commit: settings.commit.clone().or(found.commit) })
}

/// Evaluates the checks. Returns a row for each check and service.
fn evaluate(tree: &mut Tree, branch: &Result<bool, String>, asked: &Json) -> Vec<Json> {
    let list = |list: &Json| list.as_array().cloned().unwrap_or_default();
    let services = list(&asked["services"]);
    let mut rows = Vec::new();
    for one in list(&asked["checks"]) {
        let check = &one["check"];
        // Services in the same folder have the same result.
        let mut known: HashMap<String, Result<Found, String>> = HashMap::new();
        for id in list(&one["serviceIds"]) {
            let mut all = Vec::new();
            for place in services.iter().filter(|service| service["serviceId"] == id) {
                let folder = place["baseDirectory"].as_str().unwrap_or_default();
                if !known.contains_key(folder) {
                    known.insert(folder.to_owned(), judge::judge(tree, check, folder, branch));
                }
                all.push((place["serviceAlias"].clone(), known[folder].clone()));
            }
            // It must pass in all of its folders.
            let is_worst =
                |(_, found): &&(Json, Result<Found, String>)| !found.as_ref().is_ok_and(|found| found.passed);
            let Some((alias, found)) = all.iter().find(is_worst).or(all.first()) else { continue };
            let (result, message, path) = match found {
                Ok(Found { passed, message, path }) => (if *passed { "passed" } else { "failed" }, message, path),
                Err(why) => ("pending", why, &None),
            };
            rows.push(json!({
                "service": alias, "check": check["name"], "result": result, "message": shown(message, tree), "path": path,
                "serviceId": id, "checkId": check["id"], "fingerprint": one["fingerprint"],
            }));
        }
    }
    rows
}

/// A message, in one line and not too long.
fn shown(message: &str, tree: &Tree) -> String {
    let cut = tree.cut().map(|why| format!(" Not all files were looked at: {why}.")).unwrap_or_default();
    let room = MESSAGE - cut.chars().count();
    let mut line = one_line(message).to_string();
    if line.chars().count() > room {
        line = line.chars().take(room - 1).chain(['…']).collect();
    }
    line + &cut
}

/// Whether the catalogue takes a path.
fn can_be_stored(path: &str) -> bool {
    path.chars().count() <= SHORT && one_line(path).to_string() == path
}

/// Reports results, in portions.
fn report(server: &Server, alias: &str, commit: Option<&str>, rows: &[Json]) -> Result<(), String> {
    let known: Vec<Json> = rows
        .iter()
        .filter(|row| row["result"] != "pending")
        .map(|row| {
            let path = row["path"].as_str().filter(|path| can_be_stored(path));
            json!({
                "checkId": row["checkId"], "serviceId": row["serviceId"], "fingerprint": row["fingerprint"],
                "passed": row["result"] == "passed", "message": row["message"], "path": path,
            })
        })
        .collect();
    let mut outdated = 0;
    for portion in known.chunks(RESULTS) {
        let input = json!({ "repository": { "alias": alias }, "commit": commit, "results": portion });
        let said = server.ask(REPORT, &json!({ "input": input }))?["repositoryCheckResultsReport"].take();
        let errors = said["errors"].as_array().into_iter().flatten();
        let errors: Vec<&str> = errors.filter_map(|error| error["message"].as_str()).collect();
        if !errors.is_empty() {
            return Err(format!("the server has refused the results: {}", errors.join("; ")));
        }
        outdated += said["outdated"].as_u64().unwrap_or_default();
    }
    if outdated > 0 {
        say(&format!("{outdated} results were not recorded: their checks have changed meanwhile; run this again"));
    }
    Ok(())
}
