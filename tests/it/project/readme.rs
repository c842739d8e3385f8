//! Runs the examples of README.md, docs/ and ops/database.md unchanged and in order, as a reader would.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use rollcall::service_file::{self, FileSelection};
use serde_json::json;

use crate::harness::database::Database;
use crate::harness::documents::{page, targets};
use crate::harness::process::Process;
use crate::harness::program::Place;

/// Sections whose examples are not run, and why.
const LEFT_OUT: &[(&str, &str, &str)] = &[
    ("README.md", "Run from source", "they build the program that this test uses"),
    ("docs/pages.md", "The explorer", "they need Node.js"),
    ("docs/agents.md", "Connect", "agents read them"),
    ("docs/events.md", "Mail", "it needs a mail server"),
    ("docs/events.md", "What a program receives", "programs read it"),
    ("docs/standards.md", "Checks of repositories", "they need a checkout with a remote"),
];

/// An example: its page, section, language and text. A query in the text of a page is one, too.
struct Example {
    page: String,
    section: String,
    language: String,
    text: String,
}

/// The pages with examples that run, in the order in which a reader meets them: README, the pages of docs/ in the order
/// of their index, and the page of ops/ whose commands need nothing but the program.
fn pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned()];
    let index = targets("docs/README.md", &page("docs/README.md"));
    pages.extend(index.into_iter().filter(|target| target.starts_with("docs/")));
    pages.push("ops/database.md".to_owned());
    pages
}

fn examples() -> Vec<Example> {
    pages().iter().flat_map(|path| examples_of(path)).collect()
}

fn examples_of(path: &str) -> Vec<Example> {
    let (mut examples, mut section, mut open) = (Vec::new(), String::new(), None::<Example>);
    let example = |section: &str, language: &str, text: &str| Example {
        page: path.to_owned(),
        section: section.to_owned(),
        language: language.to_owned(),
        text: text.to_owned(),
    };
    for line in page(path).lines() {
        if line == "```" {
            examples.extend(open.take());
        } else if let Some(example) = &mut open {
            example.text += line;
            example.text += "\n";
        } else if let Some(language) = line.strip_prefix("```") {
            open = Some(example(&section, language, ""));
        } else if line.starts_with('#') {
            section = line.trim_start_matches(['#', ' ']).to_owned();
        } else {
            let queries = line.split('`').skip(1).step_by(2).filter(|code| code.starts_with("{ account {"));
            examples.extend(queries.map(|query| example(&section, "graphql", query)));
        }
    }
    assert!(open.is_none(), "{path}: an example is not closed");
    examples
}

/// The command that posts a query to the API.
fn posted(query: &str, address: &str) -> String {
    let body = json!({ "query": query }).to_string();
    assert!(!body.contains('\''), "the shell would end the text there: {body}");
    format!(
        "curl -sS {address}/graphql -H \"Authorization: Bearer $TOKEN\" -H 'Content-Type: application/json' -d '{body}'"
    )
}

/// The commands of a CI job that call rollcall, with the CI system's variables filled in.
fn steps(text: &str) -> String {
    let mut steps = String::new();
    for line in text.lines().filter(|line| line.contains("rollcall deploy ")) {
        let line = line.trim().trim_start_matches("- ").trim_start_matches("run: ");
        // Jenkins: sh '…'
        let line = line.strip_prefix("sh '").and_then(|line| line.strip_suffix('\'')).unwrap_or(line);
        let _ = writeln!(steps, "{}", line.replace("${{ job.status }}", "success"));
    }
    steps
}

#[tokio::test(flavor = "multi_thread")]
async fn every_example_of_readme_and_docs_works_in_its_order() {
    let (place, other) = (Place::new(), Database::new().await);
    let program = env!("CARGO_BIN_EXE_rollcall");
    fs::create_dir(place.path().join("bin")).expect("a folder");
    symlink(program, place.path().join("bin/rollcall")).expect("a link");
    let service = Process::start(place.command(&["--listen", "127.0.0.1:0"]));
    let address = service.address.to_string();

    let (mut script, mut queries) = (String::new(), 0);
    for (number, Example { page, section, language, text }) in examples().into_iter().enumerate() {
        if LEFT_OUT.iter().any(|(path, name, _)| (*path, *name) == (&*page, &*section)) {
            continue;
        }
        let mut label = page.clone();
        let step = match (&*language, &*page) {
            ("sh", _) => text
                .replace("127.0.0.1:8080", &address)
                .replace("postgres://USER:PASSWORD@HOST/DATABASE", &format!("'{}'", other.url)),
            ("yaml" | "groovy", "docs/deploys.md") => steps(&text),
            ("yaml", _) => format!("cat > rollcall.yml <<'END'\n{text}\nEND"),
            ("graphql", _) => {
                queries += 1;
                label += " query";
                posted(&text, &address)
            }
            _ => panic!("{page}, {section}: nobody runs this example in {language}"),
        };
        assert!(!step.is_empty(), "{page}, {section}: example {number} has no command");
        let _ = writeln!(script, "echo '== {label}'\n{step}\necho");
    }

    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", place.path().join("bin").display());
    let mut shell = Command::new("sh");
    shell.current_dir(place.path()).args(["-eu", "-c", &format!("set -a\n{script}")]).env_clear();
    shell.env("PATH", path).env("HOME", place.path()).env("ROLLCALL_APP_URL", format!("http://{address}"));
    shell.env("CI_JOB_STARTED_AT", "2026-11-21T01:44:00Z").env("ROLLCALL_DEPLOY_DEPLOYER_NAME", "Ada");
    shell.env("ROLLCALL_DEPLOY_DESCRIPTION", "Wait less");
    let done = tokio::task::spawn_blocking(move || shell.output()).await.expect("it runs").expect("a shell");
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{script}\n{out}\n{err}");

    let said = |label: &str| -> Vec<&str> {
        let parts = out.split("== ").filter_map(|part| part.strip_prefix(label)?.strip_prefix('\n'));
        parts.flat_map(str::lines).filter(|line| !line.is_empty()).collect()
    };
    let readme = page("README.md");
    let printed = readme.lines().find_map(|line| line.strip_prefix("    {")).expect("what the first steps print");
    let [first, list, ok, created] = &*said("README.md") else { panic!("{out}") };
    assert_eq!(*first, format!("{{{printed}"));
    assert_eq!(
        *list,
        r#"{"data":{"account":{"services":{"nodes":[{"name":"Shopping Cart","tier":{"alias":"tier_1"},"lastDeploy":null}],"totalCount":1}}}}"#
    );
    assert_eq!((*ok, *created), (r#"{"result":"ok"}"#, "created service parcel_tracking"));
    assert!(queries >= 7, "{out}");
    let answers: Vec<&str> = pages().iter().flat_map(|page| said(&format!("{page} query"))).collect();
    assert_eq!(answers.len(), queries, "{answers:?}");
    for answer in answers {
        assert!(answer.starts_with("{\"data\":{\"") && !answer.contains("\"errors\":[{"), "{answer}");
    }
    assert_eq!(said("docs/deploys.md"), [r#"{"result":"ok"}"#; 4]);
    let applied = [
        "updated service shopping_cart",
        "created repository github.com:org/cart",
        "created repository github.com:org/shared",
        "created team checkout",
        "created system checkout",
        "created domain commerce",
        // Its properties and relationships.
        "updated service shopping_cart",
        // The same file, from a pipeline.
        "unchanged service shopping_cart",
    ];
    assert_eq!(said("docs/service-files.md"), applied);
    let backup = place.absolute("rollcall-backup.db");
    assert!(err.contains(&format!("copied the database to {backup}: ")), "{err}");
    assert!(err.contains("exported to catalogue.jsonl: ") && err.contains("imported "), "{err}");

    let export = fs::read_to_string(place.path().join("catalogue.jsonl")).expect("an export");
    for url in ["sqlite://rollcall-backup.db", "sqlite://rollcall.db", &other.url] {
        let done = place.run(&["export", "--database-url", url]);
        assert_eq!((done.status, &*done.out), (0, &*export), "{url}: {}", done.err);
    }
}

#[test]
fn the_file_name_in_the_examples_matches_no_other_file_of_this_repository() {
    let name = "rollcall.yml";
    assert!(page("docs/service-files.md").contains(&format!("rollcall apply --name {name} .")));
    let entries = fs::read_dir(env!("CARGO_MANIFEST_DIR")).expect("the repository");
    let folders = entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir());
    // Hidden folders are skipped by the command, and builds change the others while this runs.
    let is_left_out = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        name.starts_with('.') || ["target", "dist", "node_modules"].contains(&name)
    };
    let paths: Vec<PathBuf> = folders.filter(|path| !is_left_out(path)).collect();
    assert!(paths.iter().any(|path| path.ends_with("ops")), "{paths:?}");
    let files = service_file::collect(&FileSelection { paths, names: vec![name.to_owned()], root: None });
    let found: Vec<&str> = files.iter().filter(|file| file.content.is_ok()).map(|file| &*file.path).collect();
    assert!(found.is_empty(), "these are not service files: {found:?}");
}
