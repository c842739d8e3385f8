//! Service files that are applied while others change the same things. SQLite has one writer at a time.

use std::cell::Cell;

use futures_util::future::join;
use rollcall::db::Write;
use rollcall::entity::audit::Actor;
use rollcall::service_file::{self, File, Options};
use serde_json::json;

use crate::harness::app::{TestApp, data, until_somebody_waits};
use crate::harness::database::{Database, is_postgres};
use crate::harness::deadline::output;
use crate::harness::program::Place;
use crate::harness::service_file::apply_text;

#[tokio::test]
async fn a_file_keeps_a_concurrent_change_to_a_field_of_a_repository_that_it_does_not_mention() {
    let app = TestApp::start().await;
    let text = |branch: &str| {
        format!(
            "version: 1\nrepository:\n  name: org/cart\n  url: https://github.com/org/cart\n  \
             default_branch: {branch}\n"
        )
    };
    apply_text(&app, &text("main")).await;
    let transaction = app.db.begin_write().await.expect("a transaction");
    transaction.script("UPDATE repository SET description = 'kept'").await.expect("a change");
    let is_done = Cell::new(false);
    let next = text("next");
    let applied = async {
        let lines = apply_text(&app, &next).await;
        is_done.set(true);
        lines
    };
    let committed = async {
        until_somebody_waits(&app, || !is_postgres() || is_done.get()).await;
        app.db.commit(transaction).await.expect("a commit");
    };
    let (lines, ()) = join(applied, committed).await;
    assert_eq!(lines, ["updated repository github.com:org/cart"]);
    let query = "{ account { repositories { nodes { description defaultBranch } } } }";
    let expected = json!([{ "description": "kept", "defaultBranch": "next" }]);
    assert_eq!(data(&app, query).await["account"]["repositories"]["nodes"], expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_loses_a_race_for_a_name_is_retried_on_postgres() {
    if !is_postgres() {
        return;
    }
    let database = Database::new().await;
    let url = database.url.clone();
    let (app, place) = (TestApp::over(database, &[]).await, Place::new());
    let text = "version: 1\nteam: { name: Core }\n";
    place.write("team.yml", text);
    let file = File { path: "other.yml".to_owned(), content: Ok(text.to_owned()), is_found: false };
    let transaction = app.db.begin_write().await.expect("a transaction");
    let (files, committed) = ([file], app.db.committed());
    let (actor, options) = (Actor::command_line(), Options::default());
    let prepared = service_file::prepare(&app.db, &files, &options).await.expect("it has no mistake");
    prepared.apply(committed, &transaction, &actor, &options).await.expect("it applies");
    let mut command = place.command(&["apply", "team.yml", "--database-url", &url]);
    let second = tokio::task::spawn_blocking(move || output(&mut command));
    until_somebody_waits(&app, || second.is_finished()).await;
    app.db.commit(transaction).await.expect("a commit");
    let second = second.await.expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let (out, err) = (text(second.stdout), text(second.stderr));
    assert_eq!((&*out, &*err), ("unchanged team core\n", ""));
}
