//! Checks of what repositories contain: their results are reported, by `rollcall check` from a pipeline.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use rollcall::cli::check::tree::OF_FILE;
use rollcall::db::{Read, Write};
use rollcall::entity::audit;
use rollcall::entity::token::Scope;
use rollcall::entity::user::Role;
use sea_orm::EntityTrait;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::checks::{create, ids, outcome, predicate, send, services};
use crate::harness::desk::{Desk, ended};
use crate::harness::program::Done;
use crate::harness::tour::Tour;

const TO_EVALUATE: &str = r#"{ account { repository(alias: "org/shop") { checks {
    services { serviceId serviceAlias baseDirectory } checks { fingerprint serviceIds check { id name } }
} } } }"#;

const REPORT: &str = "mutation($input: RepositoryCheckResultsReportInput!) {
    repositoryCheckResultsReport(input: $input) { recorded outdated errors { message path } } }";

/// What is to be evaluated of a check, and the id of the shop.
async fn asked(app: &TestApp, check: &Value) -> Option<(Value, Value)> {
    let checks = data(app, TO_EVALUATE).await["account"]["repository"]["checks"].clone();
    assert_eq!(checks["services"][0]["serviceAlias"], "shop", "{checks}");
    assert_eq!(checks["services"][0]["baseDirectory"], "", "{checks}");
    let one = checks["checks"].as_array()?.iter().find(|one| one["check"]["id"] == check["id"])?;
    assert_eq!(one["serviceIds"], json!([checks["services"][0]["serviceId"]]));
    Some((one["fingerprint"].clone(), checks["services"][0]["serviceId"].clone()))
}

fn report(result: Value) -> Value {
    json!({ "input": { "repository": { "alias": "org/shop" }, "commit": "0123456789ABCDEF", "results": [result] } })
}

/// Reports a result.
async fn reported(app: &TestApp, result: Value) -> Value {
    app.query(REPORT, report(result)).await["data"]["repositoryCheckResultsReport"].clone()
}

/// A kind: its name, the mutations that create and change it, what one asks, and a change of that.
type Kind = (&'static str, &'static str, &'static str, Value, Value);

fn kinds() -> Vec<Kind> {
    let contains = predicate("contains", "x");
    vec![
        (
            "RepositoryFile",
            "checkRepositoryFileCreate",
            "checkRepositoryFileUpdate",
            json!({ "filePaths": ["/README.md/"] }),
            json!({ "filePaths": ["README"] }),
        ),
        (
            "RepositoryGrep",
            "checkRepositoryGrepCreate",
            "checkRepositoryGrepUpdate",
            json!({ "filePaths": ["**/*.rs"], "fileContentsPredicate": contains }),
            json!({ "directorySearch": true }),
        ),
        (
            "RepositorySearch",
            "checkRepositorySearchCreate",
            "checkRepositorySearchUpdate",
            json!({ "fileContentsPredicate": contains }),
            json!({ "fileExtensions": [".rs"] }),
        ),
        (
            "PackageVersion",
            "checkPackageVersionCreate",
            "checkPackageVersionUpdate",
            json!({ "packageConstraint": "exists", "packageManager": "cargo", "packageName": "serde" }),
            json!({ "packageConstraint": "does_not_exist" }),
        ),
        (
            "GitBranchProtection",
            "checkGitBranchProtectionCreate",
            "checkGitBranchProtectionUpdate",
            json!({}),
            json!({ "name": "Protected" }),
        ),
    ]
}

/// Removes the lock of services, so that their links can change.
async fn unlock(app: &TestApp) {
    let unlocked = "UPDATE service SET locked_by = NULL";
    app.db.write(async |tx| tx.script(unlocked).await).await.expect("unlocked");
}

#[tokio::test]
async fn a_result_counts_once_it_is_reported_and_as_long_as_the_check_asks_the_same() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let recorded = json!({ "recorded": 1, "outdated": 0, "errors": [] });
    let ids = ids(app).await;
    for (kind, creation, update, own, change) in kinds() {
        let mut nameless = json!({ "name": " ", "levelId": ids["Bronze"], "categoryId": ids["Safety"] });
        nameless.as_object_mut().expect("an object").extend(own.as_object().expect("an object").clone());
        assert_eq!(send(app, creation, nameless).await["errors"][0]["path"], json!(["name"]));
        let check = create(app, kind, own).await;
        let (statuses, messages) = outcome(app, &check).await;
        assert_eq!(statuses, "pending pending pending", "{kind}");
        assert!(messages[0].starts_with("Nothing was reported yet"), "{messages:?}");
        let (fingerprint, shop) = asked(app, &check).await.expect("it concerns the shop");
        let result = |passed: bool| {
            json!({
                "checkId": check["id"], "serviceId": shop, "fingerprint": fingerprint, "passed": passed,
                "message": "It has what it has.", "path": "a/b",
            })
        };
        assert_eq!(reported(app, result(true)).await, recorded);
        let (statuses, messages) = outcome(app, &check).await;
        assert_eq!(statuses, "passed pending pending", "{kind}");
        let said = "It has what it has. Reported on ";
        assert!(messages[0].starts_with(said) && messages[0].ends_with("for the commit 0123456789ab."), "{messages:?}");
        assert_eq!(reported(app, result(false)).await, recorded);
        let (statuses, messages) = outcome(app, &check).await;
        assert_eq!(statuses, "failed pending pending", "{kind}");
        assert!(messages[0].contains(" Wanted: "), "{messages:?}");
        let mut changed = change.clone();
        changed["id"] = check["id"].clone();
        assert_eq!(send(app, update, changed).await["errors"], json!([]));
        if change.get("name").is_some() {
            assert_eq!(outcome(app, &check).await.0, "failed pending pending", "a name is not what it asks");
            continue;
        }
        assert_eq!(outcome(app, &check).await.0, "pending pending pending", "{kind} asks something else");
        let outdated = json!({ "recorded": 0, "outdated": 1, "errors": [] });
        assert_eq!(reported(app, result(true)).await, outdated);
    }
    // A repository that no longer holds the service's code says nothing about it.
    let check = create(app, "RepositoryFile", json!({ "filePaths": ["a"] })).await;
    let (fingerprint, shop) = asked(app, &check).await.expect("it concerns the shop");
    let result = json!({ "checkId": check["id"], "serviceId": shop, "fingerprint": fingerprint, "passed": true, "message": "m" });
    assert_eq!(reported(app, result).await, recorded);
    assert_eq!(outcome(app, &check).await.0, "passed pending pending");
    let link = r#"{ account { service(alias: "shop") { serviceRepositories { nodes { id } } } } }"#;
    let link = data(app, link).await["account"]["service"]["serviceRepositories"]["nodes"][0]["id"].clone();
    unlock(app).await;
    let delete = "mutation($id: ID!) { serviceRepositoryDelete(input: { id: $id }) { errors { message } } }";
    assert_eq!(app.query(delete, json!({ "id": link })).await["data"]["serviceRepositoryDelete"]["errors"], json!([]));
    assert_eq!(outcome(app, &check).await.0, "pending pending pending");
}

#[tokio::test]
async fn only_what_concerns_a_service_and_can_be_evaluated_is_to_be_evaluated() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let filter = r#"mutation { filterCreate(input: { name: "Go", predicates: [{ key: language, type: equals, value: "Go" }] }) { filter { id } } }"#;
    let filter = data(app, filter).await["filterCreate"]["filter"]["id"].clone();
    let file = json!({ "filePaths": ["a"], "filterId": filter });
    let filtered = create(app, "RepositoryFile", file).await;
    assert_eq!(outcome(app, &filtered).await.0, "- pending -");
    assert_eq!(asked(app, &filtered).await, None);
    let own = json!({ "packageConstraint": "exists", "packageManager": "hex", "packageName": "a" });
    let unread = create(app, "PackageVersion", own).await;
    let message =
        "This check cannot be evaluated: lock files are read only of cargo, gem, golang, gradle, maven, npm, pypi.";
    assert_eq!(outcome(app, &unread).await.1[0], message);
    assert_eq!(asked(app, &unread).await, None);
    let off = create(app, "RepositoryFile", json!({ "filePaths": ["a"] })).await;
    let switched = json!({ "id": off["id"], "enabled": false });
    assert_eq!(send(app, "checkRepositoryFileUpdate", switched).await["errors"], json!([]));
    assert_eq!(asked(app, &off).await, None);
}

#[tokio::test]
async fn inputs_of_repository_checks_are_refused_at_their_fields() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let ids = ids(app).await;
    let contains = predicate("contains", "x");
    let package = |name: &str, constraint: &str| json!({ "packageName": name, "packageNameIsRegex": true, "packageManager": "npm", "packageConstraint": constraint });
    for (kind, own, path, message) in [
        (
            "RepositoryFile",
            json!({ "filePaths": [] }),
            json!(["filePaths"]),
            "filePaths has 0 texts; 1 to 100 are allowed",
        ),
        ("RepositoryFile", json!({ "filePaths": vec!["a"; 101] }), json!(["filePaths"]), "filePaths has 101 texts"),
        (
            "RepositoryFile",
            json!({ "filePaths": ["a", "b/../../c"] }),
            json!(["filePaths", "1"]),
            "\"b/../../c\": it must not lead out",
        ),
        ("RepositoryFile", json!({ "filePaths": ["//"] }), json!(["filePaths", "0"]), "\"//\": it names no file"),
        (
            "RepositoryFile",
            json!({ "filePaths": ["a"], "fileContentsPredicate": predicate("matches_regex", "(") }),
            json!(["fileContentsPredicate", "value"]),
            "not a regular expression",
        ),
        (
            "RepositoryGrep",
            json!({ "filePaths": ["a[", "b"], "fileContentsPredicate": contains }),
            json!(["filePaths", "0"]),
            "\"a[\": not a pattern",
        ),
        (
            "RepositorySearch",
            json!({ "fileExtensions": ["a/b"], "fileContentsPredicate": contains }),
            json!(["fileExtensions", "0"]),
            "\"a/b\": it must not contain /",
        ),
        ("PackageVersion", package("(", "exists"), json!(["packageName"]), "not a regular expression"),
        (
            "PackageVersion",
            package("a", "matches_version"),
            json!(["versionConstraintPredicate"]),
            "versionConstraintPredicate must be given",
        ),
    ] {
        let mut input = json!({ "name": kind, "levelId": ids["Bronze"], "categoryId": ids["Safety"] });
        input.as_object_mut().expect("an object").extend(own.as_object().expect("an object").clone());
        let payload = send(app, &format!("check{kind}Create"), input).await;
        let error = &payload["errors"][0];
        assert_eq!((&payload["check"], &error["path"]), (&Value::Null, &path), "{kind} {own}: {payload}");
        assert!(error["message"].as_str().expect("a message").starts_with(message), "{error}");
    }
}

#[tokio::test]
async fn a_report_is_refused_at_the_result_that_is_wrong() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let check = create(app, "RepositoryFile", json!({ "filePaths": ["a"] })).await;
    let tag = create(app, "TagDefined", json!({ "tagKey": "env" })).await;
    let (fingerprint, shop) = asked(app, &check).await.expect("it concerns the shop");
    let mail = data(app, r#"{ account { service(alias: "mail") { id } } }"#).await["account"]["service"]["id"].clone();
    let whole = json!({ "checkId": check["id"], "serviceId": shop, "fingerprint": fingerprint, "passed": true, "message": "m" });
    let with = |field: &str, value: &Value| {
        let mut result = whole.clone();
        result[field] = value.clone();
        result
    };
    for (results, path, message) in [
        (json!([]), json!(["results"]), "results has 0 entries; 1 to 200 are allowed"),
        (json!(vec![&whole; 201]), json!(["results"]), "results has 201 entries"),
        (json!([whole, whole]), json!(["results", "1", "checkId"]), "an earlier result is about the same"),
        (
            json!([with("serviceId", &mail)]),
            json!(["results", "0", "serviceId"]),
            "the repository holds no code of this",
        ),
        (
            json!([with("checkId", &tag["id"])]),
            json!(["results", "0", "checkId"]),
            "this check is not evaluated in a rep",
        ),
        (json!([with("checkId", &shop)]), json!(["results", "0", "checkId"]), "a check with this id does not exist"),
        (json!([with("message", &json!("x".repeat(501)))]), json!(["results", "0", "message"]), "message has 501 char"),
    ] {
        let mut input = report(whole.clone());
        input["input"]["results"] = results;
        let payload = app.query(REPORT, input).await["data"]["repositoryCheckResultsReport"].clone();
        let error = &payload["errors"][0];
        assert_eq!((&payload["recorded"], &error["path"]), (&Value::Null, &path), "{payload}");
        assert!(error["message"].as_str().expect("a message").starts_with(message), "{error}");
    }
    let mut input = report(whole.clone());
    input["input"]["commit"] = json!("main");
    let payload = app.query(REPORT, input).await["data"]["repositoryCheckResultsReport"].clone();
    assert_eq!(payload["errors"][0]["path"], json!(["commit"]));
    assert_eq!(outcome(app, &check).await.0, "pending pending pending");
    // Only whoever may change a service reports about it, and the audit has what has changed.
    let member = Browser::of(app, Role::TeamMember).await;
    let answer = member.query(REPORT, report(whole.clone())).await;
    let message = &answer["data"]["repositoryCheckResultsReport"]["errors"][0]["message"];
    let expected = "you can change only your own teams and what they own; this would";
    assert!(message.as_str().is_some_and(|message| message.starts_with(expected)), "{answer}");
    for (passed, told) in [(true, 1), (true, 1), (false, 2)] {
        reported(app, with("passed", &json!(passed))).await;
        let entries = app.db.read().all(audit::Entity::find()).await.expect("entries");
        assert_eq!(entries.iter().filter(|entry| entry.detail.contains("checkResults")).count(), told);
    }
}

#[tokio::test]
async fn every_field_of_a_repository_check_is_read_back_as_it_was_set() {
    let tour = Tour::start().await;
    let document = "query($id: ID!) { account { check(id: $id) {
        category { id } description enableOn enabled filter { id } id level { id } name rawNotes owner { id } type
        ... on RepositoryFileCheck { directorySearch fileContentsPredicate { type value } filePaths useAbsoluteRoot }
        ... on RepositoryGrepCheck { directorySearch fileContentsPredicate { type value } filePaths }
        ... on RepositorySearchCheck { fileContentsPredicate { type value } fileExtensions }
        ... on PackageVersionCheck { missingPackageResult packageConstraint packageManager packageName packageNameIsRegex
            versionConstraintPredicate { type value } }
    } } }";
    for (name, kind, description, own) in [
        (
            "filed",
            "repo_file",
            "The service has a file \"README.md\" whose contents contains \"shop\".",
            json!({
                "directorySearch": false, "fileContentsPredicate": predicate("contains", "shop"), "filePaths": ["README.md"],
                "useAbsoluteRoot": true,
            }),
        ),
        (
            "grepped",
            "repo_grep",
            "The service has no file with a path like \"**/*.rs\" whose contents contains \"todo\".",
            json!({
                "directorySearch": false, "fileContentsPredicate": predicate("does_not_contain", "todo"), "filePaths": ["**/*.rs"],
            }),
        ),
        (
            "searched",
            "repo_search",
            "The service has a file that ends with \"rs\" whose contents contains \"main\".",
            json!({ "fileContentsPredicate": predicate("contains", "main"), "fileExtensions": ["rs"] }),
        ),
        (
            "packed",
            "package_version",
            "The service has no cargo package \"serde\", or only versions of it that match: the version is a version in the range \"^1\".",
            json!({
                "missingPackageResult": "passed", "packageConstraint": "matches_version", "packageManager": "cargo",
                "packageName": "serde", "packageNameIsRegex": false,
                "versionConstraintPredicate": predicate("satisfies_version_constraint", "^1"),
            }),
        ),
        ("protected", "git_branch_protection", "The service has a protected default branch.", json!({})),
    ] {
        let answer = tour.endpoint.app.query(document, json!({ "id": tour.id(name) })).await;
        let mut expected = json!({
            "category": { "id": tour.id("security") }, "description": description, "enableOn": "2026-01-02T03:04:05Z",
            "enabled": true, "filter": { "id": tour.id("vital") }, "id": tour.id(name), "level": { "id": tour.id("bronze") },
            "name": name[..1].to_uppercase() + &name[1..], "rawNotes": "n", "owner": { "id": tour.id("Core") }, "type": kind,
        });
        expected.as_object_mut().expect("an object").extend(own.as_object().expect("an object").clone());
        assert_eq!(answer["data"]["account"]["check"], expected, "{answer}");
    }
}

/// Writes files below a folder.
fn write(root: &Path, files: &[(&str, &[u8])]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, text).expect("a file");
    }
}

/// Makes a checkout with a commit.
fn commit(root: &Path) {
    let own = ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "m"];
    for arguments in [&["init", "-q"][..], &own, &["remote", "add", "origin", "git@github.com:org/mono.git"]] {
        let done = Command::new("git").current_dir(root).args(arguments).status().expect("git runs");
        assert!(done.success(), "{arguments:?}");
    }
}

/// A repository with services in these folders.
async fn linked(app: &TestApp, folders: &[(&str, &str)]) {
    unlock(app).await;
    let made = r#"mutation { repositoryCreate(input: { name: "org/mono", url: "https://github.com/org/mono" }) { errors { message } } }"#;
    assert_eq!(data(app, made).await["repositoryCreate"]["errors"], json!([]));
    for (service, folder) in folders {
        let link = format!(
            "mutation {{ serviceRepositoryCreate(input: {{ service: {{ alias: \"{service}\" }}, repository: {{ alias: \"github.com:org/mono\" }}, baseDirectory: \"{folder}\" }}) {{ errors {{ message }} }} }}"
        );
        assert_eq!(data(app, &link).await["serviceRepositoryCreate"]["errors"], json!([]));
    }
}

/// The results that the command prints, by service and check.
fn results(done: &Done) -> Vec<(String, String, String, String)> {
    let rows: Value =
        serde_json::from_str(&done.out).unwrap_or_else(|error| panic!("{error}: {} {}", done.out, done.err));
    let text = |row: &Value, field: &str| row[field].as_str().unwrap_or_default().to_owned();
    let rows = rows.as_array().expect("rows").iter();
    rows.map(|row| (text(row, "service"), text(row, "check"), text(row, "result"), text(row, "message"))).collect()
}

/// Creates a check with a name.
async fn named(app: &TestApp, kind: &str, name: &str, mut own: Value) -> Value {
    own["name"] = json!(name);
    create(app, kind, own).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_evaluates_and_reports_on_three_layouts() {
    let endpoint = services().await;
    let app = &endpoint.app;
    // The whole repository, a folder of it, and two folders of which one has a lock file of its own.
    linked(app, &[("shop", ""), ("mail", "services/mail"), ("bare", "services/bare"), ("bare", "more")]).await;
    let desk = Desk::at(app, Scope::Write).await;
    let root = desk.place.path().join("mono");
    write(
        &root,
        &[
            ("README.md", b"# Mono\n"),
            ("src/main.rs", b"fn main() {\n    // TODO\n}\n"),
            ("Cargo.lock", b"[[package]]\nname = \"serde\"\nversion = \"1.0.200\"\n"),
            ("services/mail/README.md", b"mail\n"),
            ("services/mail/app.py", b"print(1)\n"),
            ("services/bare/Cargo.lock", b"[[package]]\nname = \"serde\"\nversion = \"0.9.1\"\n"),
            ("more/a.txt", b"a\n"),
            (".gitignore", b"build/\n"),
            ("build/made.rs", b"TODO\n"),
        ],
    );
    commit(&root);
    let serde = |constraint: &str, range: &str| {
        json!({
            "packageConstraint": constraint, "packageManager": "cargo", "packageName": "serde",
            "versionConstraintPredicate": predicate("satisfies_version_constraint", range),
        })
    };
    let todo = |kind: &str| json!({ "filePaths": ["**/*.rs"], "fileContentsPredicate": predicate(kind, "TODO") });
    let mut checks = Vec::new();
    for (kind, own, expected) in [
        ("RepositoryFile", json!({ "filePaths": ["README.md"] }), "passed passed failed"),
        ("RepositoryFile", json!({ "filePaths": ["README.md"], "useAbsoluteRoot": true }), "passed passed passed"),
        (
            "RepositoryFile",
            json!({ "filePaths": ["none", "README.md"], "fileContentsPredicate": predicate("equals", "mail") }),
            "failed passed failed",
        ),
        ("RepositoryFile", json!({ "filePaths": ["src"], "directorySearch": true }), "passed failed failed"),
        ("RepositoryFile", json!({ "filePaths": ["src"] }), "failed failed failed"),
        (
            "RepositoryFile",
            json!({ "filePaths": ["src"], "directorySearch": true, "fileContentsPredicate": predicate("contains", "TODO") }),
            "passed failed failed",
        ),
        (
            "RepositoryFile",
            json!({ "filePaths": ["app.py"], "fileContentsPredicate": { "type": "does_not_exist" } }),
            "passed failed passed",
        ),
        ("RepositoryGrep", todo("contains"), "passed failed failed"),
        ("RepositoryGrep", todo("does_not_contain"), "failed passed passed"),
        (
            "RepositoryGrep",
            json!({ "filePaths": ["*.rs"], "fileContentsPredicate": { "type": "exists" } }),
            "failed failed failed",
        ),
        (
            "RepositoryGrep",
            json!({ "filePaths": ["src"], "directorySearch": true, "fileContentsPredicate": { "type": "exists" } }),
            "passed failed failed",
        ),
        (
            "RepositorySearch",
            json!({ "fileExtensions": ["py"], "fileContentsPredicate": predicate("matches_regex", r"(?m)^print\(") }),
            "passed passed failed",
        ),
        (
            "RepositorySearch",
            json!({ "fileContentsPredicate": predicate("does_not_match_regex", "(?i)todo") }),
            "failed passed passed",
        ),
        ("PackageVersion", serde("exists", "*"), "passed passed passed"),
        ("PackageVersion", serde("does_not_exist", "*"), "failed failed failed"),
        ("PackageVersion", serde("matches_version", ">=1"), "failed passed failed"),
        ("PackageVersion", serde("matches_version", "<2"), "passed passed passed"),
        (
            "PackageVersion",
            json!({ "packageConstraint": "does_not_exist", "packageManager": "npm", "packageName": "x" }),
            "passed passed passed",
        ),
        (
            "PackageVersion",
            json!({ "packageConstraint": "matches_version", "packageManager": "npm", "packageName": "x", "missingPackageResult": "passed", "versionConstraintPredicate": predicate("equals", "1") }),
            "passed passed passed",
        ),
    ] {
        let name = format!("{} {kind} {own}", checks.len()).chars().take(200).collect::<String>();
        checks.push((named(app, kind, &name, own).await, name, expected));
    }
    let protected = create(app, "GitBranchProtection", json!({})).await;
    let path = root.join("src").display().to_string();
    let arguments = |more: &[&'static str]| {
        let all = ["check", &path, "--output", "json"].into_iter().map(str::to_owned);
        all.chain(more.iter().map(|one| (*one).to_owned())).collect::<Vec<_>>()
    };
    let run = async |more: &[&'static str]| {
        let arguments = arguments(more);
        desk.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).await
    };
    let dry = run(&["--dry-run"]).await;
    assert_eq!((dry.status, &*dry.err), (0, ""));
    assert_eq!(outcome(app, &checks[0].0).await.0, "pending pending pending", "nothing is sent");
    let done = run(&["--fail"]).await;
    assert_eq!((done.status, &*done.err), (1, ""));
    assert_eq!(done.out, dry.out);
    let found = results(&done);
    for (check, name, expected) in &checks {
        let own: Vec<&str> = ["shop", "mail", "bare"]
            .iter()
            .map(|service| {
                let row = found.iter().find(|(own, check, ..)| own == service && check == name);
                &*row.unwrap_or_else(|| panic!("{service} {name}")).2
            })
            .collect();
        let (statuses, messages) = outcome(app, check).await;
        assert_eq!((own.join(" "), &*statuses), ((*expected).to_owned(), *expected), "{name}: {messages:?}");
    }
    let of = |name: &str, service: &str| {
        found.iter().find(|row| row.1.starts_with(name) && row.0 == service).expect("a row").3.clone()
    };
    assert_eq!(of("8 ", "shop"), "Such contents are in \"src/main.rs\", line 2.");
    assert_eq!(of("15 ", "bare"), "It uses \"serde\" 0.9.1.");
    assert_eq!(of("0 ", "bare"), "It has no file \"services/bare/README.md\".");
    assert_eq!(
        of("GitBranch", "mail"),
        "nothing says whether the default branch is protected: give --branch-protected, or the pipeline's GITHUB_TOKEN or GITLAB_TOKEN"
    );
    assert_eq!(outcome(app, &protected).await.0, "pending pending pending");
    assert_eq!(run(&["--branch-protected", "yes"]).await.status, 0);
    assert_eq!(outcome(app, &protected).await.0, "passed passed passed");
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_files_neither_stop_the_command_nor_lead_it_out_of_the_checkout() {
    let endpoint = services().await;
    let app = &endpoint.app;
    linked(app, &[("shop", "")]).await;
    let desk = Desk::at(app, Scope::Write).await;
    let (root, outside) = (desk.place.path().join("mono"), desk.place.path().join("outside"));
    let long = vec![b'x'; 10 << 20];
    let late = [&vec![b'\n'; OF_FILE as usize][..], b"secret"].concat();
    write(
        &root,
        &[
            ("long.txt", &long),
            ("late.txt", &late),
            ("odd.txt", b"\xff\xfe caf\xe9 wanted\n"),
            ("binary.txt", b"secret\0"),
            ("new\nline\x1b[31m.txt", b"found here\n"),
        ],
    );
    write(&outside, &[("file.txt", b"secret\n")]);
    symlink(outside.join("file.txt"), root.join("link.txt")).expect("a link");
    symlink(&outside, root.join("folder")).expect("a link");
    symlink(&root, root.join("circle")).expect("a link");
    let made = Command::new("mkfifo").arg(root.join("fifo.txt")).status().expect("mkfifo runs");
    assert!(made.success());
    commit(&root);
    let search = |kind: &str, value: &str| json!({ "fileContentsPredicate": predicate(kind, value) });
    for (name, kind, own) in [
        ("late", "RepositorySearch", search("contains", "secret")),
        ("odd", "RepositorySearch", search("contains", "wanted")),
        ("long", "RepositorySearch", search("matches_regex", "x{200}y")),
        ("link", "RepositoryFile", json!({ "filePaths": ["link.txt"] })),
        ("folder", "RepositoryFile", json!({ "filePaths": ["folder/file.txt"] })),
        ("circle", "RepositoryFile", json!({ "filePaths": ["circle/odd.txt"] })),
        (
            "fifo",
            "RepositoryFile",
            json!({ "filePaths": ["fifo.txt"], "fileContentsPredicate": predicate("contains", "x") }),
        ),
        ("name", "RepositorySearch", search("contains", "found here")),
    ] {
        named(app, kind, name, own).await;
    }
    let started = std::time::Instant::now();
    let done = desk.run(&["check", &root.display().to_string(), "--output", "json"]).await;
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
    assert_eq!((done.status, &*done.err), (0, ""), "{}", done.out);
    let found = results(&done);
    let of = |name: &str| found.iter().find(|row| row.1 == name).map(|row| (&*row.2, &*row.3)).expect("a row");
    for (name, expected) in [
        ("late", "failed"),
        ("odd", "passed"),
        ("long", "failed"),
        ("link", "failed"),
        ("folder", "failed"),
        ("circle", "failed"),
        ("fifo", "failed"),
        ("name", "passed"),
    ] {
        assert_eq!(of(name).0, expected, "{name}: {}", of(name).1);
    }
    assert!(
        of("late").1.ends_with("Not all files were looked at: a file has more than is read of one."),
        "{}",
        of("late").1
    );
    assert!(!of("name").1.contains(['\n', '\u{1b}']), "{}", of("name").1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_says_what_it_lacks() {
    let endpoint = services().await;
    let app = &endpoint.app;
    linked(app, &[("shop", "")]).await;
    create(app, "RepositoryFile", json!({ "filePaths": ["a"] })).await;
    let desk = Desk::at(app, Scope::Read).await;
    let folder = desk.place.path().join("plain");
    write(&folder, &[("a", b"a")]);
    let folder = folder.display().to_string();
    for (arguments, said) in [
        (&["check", "no/such/folder"][..], "no/such/folder cannot be read"),
        (&["check", &folder], "the repository is not known: git has no remote origin here; give --repository"),
        (&["check", &folder, "--repository", "nope"], "the catalogue knows no repository nope"),
        (&["check", &folder, "--repository", "github.com:org/mono"], "requires a token with the scope write"),
    ] {
        let done = desk.run(arguments).await;
        assert!(done.status == 1 && done.err.contains(said), "{arguments:?}: {}", done.err);
    }
    let done = desk.run(&["check", &folder, "--repository", "github.com:org/mono", "--dry-run"]).await;
    assert_eq!((done.status, &*done.err), (0, ""));
    assert!(done.out.contains("SERVICE") && done.out.contains("It has the file \"a\"."), "{}", done.out);
    for address in ["https://github.com/org/mono", "git@github.com:org/mono.git", "ssh://git@GitHub.com:22/org/mono/"] {
        let by_address = desk.run(&["check", &folder, "--repository", address, "--dry-run"]).await;
        assert_eq!((by_address.status, &by_address.out), (0, &done.out), "{address}");
    }
    let done =
        desk.run(&["check", &folder, "--repository", "org/shop", "--dry-run", "--branch-protected", "maybe"]).await;
    assert_eq!(done.status, 2, "{}", done.err);
}

/// A forge that answers these requests, by their paths, in this order. Returns its address.
fn forge(answers: Vec<(&'static str, &'static str)>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for (path, body) in answers {
            let (mut stream, _) = listener.accept().expect("a request");
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).expect("a head");
                head.push(byte[0]);
            }
            let head = String::from_utf8(head).expect("text");
            let (status, body) = match body {
                _ if !head.starts_with(&format!("GET {path} ")) => ("404 Not Found", "{}"),
                _ if !head.contains("Bearer secret") => ("401 Unauthorized", "{}"),
                body => ("200 OK", body),
            };
            let length = body.len();
            write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
                .expect("sent");
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn the_forge_says_whether_the_default_branch_is_protected() {
    let endpoint = services().await;
    let app = &endpoint.app;
    linked(app, &[("shop", "")]).await;
    create(app, "GitBranchProtection", json!({})).await;
    let desk = Desk::at(app, Scope::Write).await;
    let root = desk.place.path().join("mono");
    write(&root, &[("a", b"a")]);
    let root = root.display().to_string();
    let run = async |variables: &[(&str, &str)]| {
        let mut command =
            desk.bare(&["check", &root, "--repository", "github.com:org/mono", "--output", "json", "--dry-run"]);
        command.env("ROLLCALL_SERVER", &desk.url).env("ROLLCALL_TOKEN", &desk.token).envs(variables.iter().copied());
        let done = ended(command).await;
        let found = results(&done);
        (found[0].2.clone(), found[0].3.clone())
    };
    let repository = ("/repos/org/mono", r#"{ "default_branch": "release/1" }"#);
    for (answer, expected) in [
        (r#"{ "protected": true }"#, ("passed", "Its default branch is protected.")),
        (r#"{ "protected": false }"#, ("failed", "Its default branch is not protected.")),
        ("{}", ("pending", "the forge does not say whether the default branch is protected")),
        ("<html>", ("pending", "127.0.0.1")),
    ] {
        let url = forge(vec![repository, ("/repos/org/mono/branches/release%2F1", answer)]);
        let github = [("GITHUB_API_URL", &*url), ("GITHUB_REPOSITORY", "org/mono"), ("GITHUB_TOKEN", "secret")];
        let (result, message) = run(&github).await;
        assert!(result == expected.0 && message.starts_with(expected.1), "{result} {message}");
    }
    let url = forge(vec![("/projects/7/repository/branches/main", r#"{ "protected": true }"#)]);
    let gitlab = |token| {
        [("CI_API_V4_URL", &*url), ("CI_PROJECT_ID", "7"), ("CI_DEFAULT_BRANCH", "main"), ("GITLAB_TOKEN", token)]
    };
    assert_eq!(run(&gitlab("secret")).await.0, "passed");
    let url = forge(vec![("/repos/org/mono", "{}")]);
    let github = [("GITHUB_API_URL", &*url), ("GITHUB_REPOSITORY", "org/mono"), ("GITHUB_TOKEN", "wrong")];
    let (result, message) = run(&github).await;
    assert!(result == "pending" && message.ends_with("it answers 401"), "{result} {message}");
    assert!(!message.contains("wrong"), "{message}");
}
