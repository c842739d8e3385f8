//! Service files that are applied to a database. Each is tried in a dry run before, which must say the same.

use std::path::PathBuf;

use rollcall::db::Db;
use rollcall::entity::audit::Actor;
use rollcall::service_file::{self, Applied, Done, File, FileSelection, Options, Refused};

use crate::harness::app::TestApp;

/// Applies files and folders, as `rollcall apply` does. Returns the results of the documents as it prints them.
pub async fn run(db: &Db, paths: &[PathBuf]) -> Result<Vec<String>, Refused> {
    Ok(lines(&run_with(db, paths, &Options::default()).await?))
}

/// The same with options.
pub async fn run_with(db: &Db, paths: &[PathBuf], options: &Options<'_>) -> Result<Done, Refused> {
    let files = service_file::collect(&FileSelection { paths: paths.to_vec(), ..FileSelection::default() });
    let actor = Actor::command_line();
    rehearsed_and_applied(db, &actor, &files, options).await
}

/// Applies files after a dry run, which must have said the same.
async fn rehearsed_and_applied(db: &Db, actor: &Actor, files: &[File], options: &Options<'_>) -> Result<Done, Refused> {
    let dry = Options { is_dry_run: true, ..options.clone() };
    let rehearsed = service_file::apply(db, actor, files, &dry).await;
    let applied = service_file::apply(db, actor, files, options).await;
    // One of them is the time of the change.
    let said = |done: &Result<Done, Refused>| {
        let text = format!("{done:#?}");
        let is_time = |line: &&str| !line.trim().trim_start_matches('"').starts_with("20");
        text.lines().filter(is_time).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(said(&rehearsed), said(&applied), "a dry run says what will happen");
    applied
}

/// The results of documents, as `rollcall apply` prints them.
pub fn lines(done: &Done) -> Vec<String> {
    let line = |one: &Applied| format!("{} {} {}", format!("{:?}", one.outcome).to_lowercase(), one.kind, one.name);
    done.documents.iter().map(line).collect()
}

/// Applies texts as files with these names, all in one folder.
pub async fn done_of(app: &TestApp, files: &[(&str, &str)]) -> Result<Done, Refused> {
    done_with(app, files, &Options::default()).await
}

/// The same with options.
pub async fn done_with(app: &TestApp, files: &[(&str, &str)], options: &Options<'_>) -> Result<Done, Refused> {
    let file = |(path, text): &(&str, &str)| File {
        path: (*path).to_owned(),
        content: Ok((*text).to_owned()),
        is_found: false,
    };
    let (files, actor) = (files.iter().map(file).collect::<Vec<_>>(), Actor::command_line());
    rehearsed_and_applied(&app.db, &actor, &files, options).await
}

/// The same. Returns the lines, as `Err` if they are problems.
pub async fn apply(app: &TestApp, files: &[(&str, &str)]) -> Result<Vec<String>, Vec<String>> {
    match done_of(app, files).await {
        Ok(done) => Ok(lines(&done)),
        Err(Refused::Problems(notes)) => Err(notes.iter().map(ToString::to_string).collect()),
        Err(Refused::Failed(error)) => panic!("{error}"),
    }
}

/// Applies a text that has no mistake.
pub async fn apply_text(app: &TestApp, text: &str) -> Vec<String> {
    apply(app, &[("rollcall.yml", text)]).await.expect("a file without a mistake")
}
