//! What happens to services, at a terminal: deploys, histories and reverts, and how a team delivers.

use rollcall::entity::Timestamp;
use rollcall::entity::token::Scope;
use serde_json::json;

use crate::harness::app::data;
use crate::harness::desk::Desk;
use crate::harness::program::Place;
use crate::harness::webhook::Endpoint;

const DAY: i64 = 86_400_000_000;

/// The moment so long ago, in microseconds.
fn ago(micros: i64) -> String {
    Timestamp::from_micros(Timestamp::now().as_micros() - micros).to_string()
}

/// A team with a service that is failing in production, beside a service of nobody.
async fn failing() -> Endpoint {
    let endpoint = Endpoint::start().await;
    let made = r#"mutation {
        teamCreate(input: { name: "Payments" }) { errors { message } }
        serviceCreate(input: { name: "Cart", ownerAlias: "payments", description: "Holds goods" }) { errors { message } }
    }"#;
    data(&endpoint.app, made).await;
    for (service, days, environment, status) in [
        ("cart", 9, "production", "success"),
        ("cart", 3, "production", "failed"),
        ("cart", 2, "staging", "success"),
        ("shop", 2, "production", "success"),
        ("shop", 1, "production", "success"),
    ] {
        let posted =
            json!({ "service": service, "deployed_at": ago(days * DAY), "environment": environment, "status": status });
        assert_eq!(endpoint.post_with(posted).await.status, 202, "{service} {days}");
    }
    endpoint
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_in_production_is_shown_and_listed() {
    let endpoint = failing().await;
    let desk = Desk::at(&endpoint.app, Scope::Read).await;
    let shown = desk.said(&["show", "cart"]).await;
    let line = |label: &str| shown.lines().find(|line| line.trim_start().starts_with(label)).unwrap_or_default();
    assert!(line("last deploy").contains("staging success"), "{shown}");
    assert!(line("in production").contains("production failure"), "{shown}");
    let rows = desk.json(&["list", "services"]).await;
    let status = |name: &str| {
        let row = rows.as_array().expect("rows").iter().find(|row| row["name"] == name).expect("the service");
        row["lastProductionDeploy"]["deployStatus"].clone()
    };
    assert_eq!((status("Cart"), status("shop")), (json!("failure"), json!("success")));
    for (arguments, expected) in [
        (&["--status", "failed"][..], 1),
        (&["--status", "failure", "-e", "production", "--since", "30d"], 1),
        (&["--status", "succeeded", "--status", "failed"], 5),
        (&["--status", "running"], 0),
        (&["--team", "Payments"], 3),
        (&["--team", "payments", "--status", "succeeded"], 2),
        (&["--since", "5d", "--until", "36h"], 3),
        (&["--since", "2020-01-01", "--until", "2020-01-01"], 0),
        (&["--since", "2020-01-01T00:00:00Z"], 5),
    ] {
        let done = desk.run(&[&["deploys"], arguments, &["-o", "json"]].concat()).await;
        let rows: serde_json::Value = serde_json::from_str(&done.out).expect("JSON");
        assert_eq!((done.status, rows.as_array().map(Vec::len)), (0, Some(expected)), "{arguments:?}: {}", done.err);
        assert_eq!(done.err, if expected == 0 { "no deploy fits\n" } else { "" }, "{arguments:?}");
    }
    let done = desk.run(&["deploys", "--limit", "2"]).await;
    assert_eq!((done.status, &*done.err), (0, "the first 2 of 5; --limit shows more\n"));
    for (arguments, status, said) in [
        (&["--since", "1d", "--until", "2d"][..], 1, "--since must be before --until"),
        (&["--team", "nobody"], 1, "no team is called nobody"),
        (&["--since", "soon"], 2, "as a date like 2026-11-28"),
        (&["--status", "red"], 2, "failed"),
    ] {
        let done = desk.run(&[&["deploys"], arguments].concat()).await;
        assert_eq!((done.status, done.err.contains(said)), (status, true), "{arguments:?}: {}", done.err);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_change_is_found_in_the_history_and_reverted_by_its_id() {
    let endpoint = failing().await;
    let app = &endpoint.app;
    let wrong = r#"mutation { serviceUpdate(input: { alias: "cart", description: "WRONG" }) { errors { message } } }"#;
    data(app, wrong).await;
    let desk = Desk::at(app, Scope::Write).await;
    let rows = desk.json(&["history", "cart"]).await;
    assert_eq!(rows[0]["details"], json!(["description: Holds goods → WRONG"]), "{rows}");
    let id = rows[0]["id"].as_str().expect("an id").to_owned();
    let table = desk.said(&["history", "service", "cart"]).await;
    assert!(table.starts_with("AT ") && table.contains("changed service") && table.contains(&id), "{table}");
    assert!(table.contains(" UTC "), "a time is to the minute: {table}");
    let separated = desk.said(&["history", "cart", "-o", "csv", "--since", "1h"]).await;
    assert!(separated.starts_with("at,who,what,of,details,id\n") && separated.contains("WRONG"), "{separated}");
    let done = desk.run(&["history", "cart", "--limit", "1"]).await;
    assert_eq!((done.status, done.out.lines().count()), (0, 2));
    assert!(done.err.starts_with("the first 1 of ") && done.err.ends_with("; --limit shows more\n"), "{}", done.err);
    let done = desk.run(&["history", "team", "payments", "--since", "0s"]).await;
    assert_eq!((done.status, &*done.err), (0, "nothing was changed of the team Payments since then\n"));
    let description = async || {
        let found = data(app, r#"{ account { service(alias: "cart") { description } } }"#).await;
        found["account"]["service"]["description"].clone()
    };

    let told = desk.said(&["revert", &id, "--dry-run"]).await;
    assert!(told.starts_with("would be done: ") && told.contains("description: WRONG → Holds goods"), "{told}");
    assert_eq!(description().await, "WRONG");
    let whole = desk.json(&["revert", &id, "--dry-run"]).await;
    let field = json!({ "field": "description", "before": "WRONG", "after": "Holds goods" });
    assert_eq!((&whole["fields"], whole["summary"].is_string()), (&json!([field]), true), "{whole}");
    let rows = desk.said(&["revert", &id, "--dry-run", "-o", "csv"]).await;
    assert_eq!(rows, "field,before,after\ndescription,WRONG,Holds goods\n");
    assert_eq!(description().await, "WRONG");
    let reading = Desk::at(app, Scope::Read).await;
    let refused = reading.run(&["revert", &id]).await;
    assert_eq!((refused.status, description().await), (1, json!("WRONG")), "{}", refused.err);
    let told = desk.said(&["revert", &id]).await;
    assert!(!told.starts_with("would be done"), "{told}");
    assert_eq!(description().await, "Holds goods");
    let rows = desk.json(&["history", "cart"]).await;
    assert_eq!((&rows[0]["summary"], &rows[0]["reverts"]), (&json!("reverted a change"), &json!(id)));
    for id in ["nothing", &id] {
        let refused = desk.run(&["revert", id]).await;
        assert_eq!((refused.status, &*refused.out), (1, ""), "{id}: {}", refused.err);
    }
    let user = r#"mutation { userInvite(email: "ada@example.com", input: { name: "Ada" }) { errors { message } } }"#;
    data(app, user).await;
    let refused = desk.run(&["history", "user", "ada@example.com"]).await;
    let said = "rollcall: Ada is a user; a service, a team, a system or a domain has a history\n";
    assert_eq!((refused.status, &*refused.err), (1, said));
    let base = r#"mutation { infrastructureResourceCreate(input: { schema: { type: "Database" }, data: { name: "Base" } }) {
        errors { message } } }"#;
    data(app, base).await;
    for command in ["history", "delivery"] {
        let refused = desk.run(&[command, "Base"]).await;
        assert!(
            refused.err.starts_with("rollcall: Base is an infrastructure resource; a "),
            "{command}: {}",
            refused.err
        );
        let unknown = desk.run(&[command, "car"]).await;
        assert!(
            unknown.status == 1 && unknown.err.contains("similar: service Cart (cart)"),
            "{command}: {}",
            unknown.err
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn how_a_team_delivers_is_told_with_units_beside_the_time_before() {
    let endpoint = failing().await;
    let desk = Desk::at(&endpoint.app, Scope::Read).await;
    for (weeks, status) in [(14, "success"), (15, "failed"), (16, "failed"), (17, "success")] {
        let posted = json!({ "service": "cart", "deployed_at": ago(weeks * 7 * DAY), "environment": "production",
            "status": status });
        assert_eq!(endpoint.post_with(posted).await.status, 202, "{weeks}");
    }
    for words in [&["Payments"][..], &["team", "payments"], &["service", "cart"]] {
        let rows = desk.json(&[&["delivery"], words].concat()).await;
        let row = |name: &str| {
            rows.as_array().expect("rows").iter().find(|row| row["figure"] == name).expect("the figure").clone()
        };
        let failures = row("change failure rate");
        assert_eq!((&failures["now"], &failures["before"]), (&json!(50.0), &json!(50.0)), "{words:?}: {rows}");
        assert_eq!(failures["change"], "same");
        assert_eq!(row("deploy frequency")["unit"], "deploys a week");
        assert_eq!(row("recovery time")["before"], json!(10_080.0), "{rows}");
    }
    let table = desk.said(&["delivery"]).await;
    assert!(table.starts_with("FIGURE ") && table.contains("LAST 12 WEEKS") && table.lines().count() == 5, "{table}");
    let idle = r#"mutation { serviceCreate(input: { name: "Idle" }) { errors { message } } }"#;
    data(&endpoint.app, idle).await;
    let done = desk.run(&["delivery", "idle"]).await;
    assert_eq!((done.status, &*done.err), (0, "nothing was deployed to production in these 24 weeks\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_team_is_shown_with_who_is_on_call_for_its_services() {
    let endpoint = failing().await;
    let desk = Desk::at(&endpoint.app, Scope::Read).await;
    let shown = desk.json(&["show", "team", "payments"]).await;
    assert_eq!(shown["onCall"], json!([]), "{shown}");
    let update = r#"mutation { serviceOnCallsUpdate(input: { service: { alias: "cart" }, onCalls: [{ name: "Maya" }] }) {
        errors { message } } }"#;
    let done = endpoint.app.query(update, json!({})).await;
    assert_eq!(done["data"]["serviceOnCallsUpdate"]["errors"], json!([]), "{done}");
    let shown = desk.said(&["show", "team", "payments"]).await;
    assert!(shown.lines().any(|line| line.contains("on call") && line.contains("Maya for Cart")), "{shown}");
}

#[test]
fn a_mistyped_option_has_no_empty_tip() {
    let place = Place::new();
    for arguments in [&["list", "services", "--colour"][..], &["deploys", "--zzzz"], &["query", "-o", "json"]] {
        let done = place.run(arguments);
        assert_eq!(done.status, 2, "{arguments:?}");
        assert!(!done.err.lines().any(|line| line.trim() == "tip:"), "{arguments:?}: {}", done.err);
    }
}

#[test]
fn a_token_is_rotated_and_the_old_one_ends() {
    let place = Place::with_database();
    let made = place.run(&["token", "create", "--description", "Pipeline", "--scope", "read"]);
    assert_eq!(made.status, 0, "{}", made.err);
    let rotated = place.run(&["token", "rotate", "1", "--overlap", "1h"]);
    assert_eq!(rotated.status, 0, "{}", rotated.err);
    assert!(rotated.out.trim() != made.out.trim() && !rotated.out.trim().is_empty());
    assert!(
        rotated.err.starts_with("the old token is valid until ") && rotated.err.ends_with(" UTC at most\n"),
        "{}",
        rotated.err
    );
    let at_once = place.run(&["token", "rotate", "2", "--overlap", "0s"]);
    assert_eq!((at_once.status, &*at_once.err), (0, "the old token is not valid any more\n"));
    let listed = place.run(&["token", "list"]).out;
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 3, "{listed}");
    assert!(lines[..2].iter().all(|line| line.ends_with("\treplaced: Pipeline")), "{listed}");
    assert!(lines[2].ends_with("\tPipeline") && lines[2].contains("\tread\t"), "{listed}");
    for (arguments, said) in [
        (&["token", "rotate", "1"][..], "only a valid token that was not replaced can be rotated"),
        (&["token", "rotate", "99"], "no token has the id 99"),
    ] {
        let refused = place.run(arguments);
        assert_eq!((refused.status, refused.err.contains(said)), (1, true), "{arguments:?}: {}", refused.err);
    }
}
