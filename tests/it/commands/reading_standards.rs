//! `rollcall standards missing`, `rollcall standards failing` and the agents' tool for the same: what services lack.

use rollcall::entity::token::Scope;
use serde_json::{Value, json};

use crate::harness::agent::call;
use crate::harness::app::{TestApp, data};
use crate::harness::desk::Desk;

const STARTER: &str = "mutation { standardsStarterCreate { checks { id name } errors { message } } }";

/// A team, and two services, of which one has an owner.
async fn catalogue(app: &TestApp) {
    let made = data(
        app,
        r#"mutation {
            team: teamCreate(input: { name: "Payments" }) { team { id } errors { message } }
            cart: serviceCreate(input: { name: "Cart", ownerAlias: "payments" }) { errors { message } }
            bare: serviceCreate(input: { name: "Bare" }) { errors { message } }
        }"#,
    )
    .await;
    for (name, payload) in made.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_checks_nobody_is_told_that_all_is_well() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    let desk = Desk::at(&app, Scope::Read).await;
    let none = "there are no checks yet, so nothing says what a service lacks; the starter set has ten \
                (rollcall standards starter)";
    assert_eq!(desk.said(&["standards", "missing", "cart"]).await, format!("{none}\n"));
    for arguments in [&["standards", "missing", "cart", "-o", "json"][..], &["standards", "failing", "x", "-o", "json"]]
    {
        let done = desk.run(arguments).await;
        assert_eq!((done.status, &*done.out, &*done.err), (0, "[]\n", &*format!("{none}\n")), "{arguments:?}");
    }
    for arguments in [json!({}), json!({ "service": "cart" })] {
        let said = call(&app, &desk.token, "what_is_missing", arguments.clone()).await.expect("an answer");
        assert_eq!(said["note"], none, "{arguments}");
    }
    let made = data(&app, STARTER).await["standardsStarterCreate"]["checks"].clone();
    for arguments in [json!({}), json!({ "service": "cart" })] {
        let said = call(&app, &desk.token, "what_is_missing", arguments.clone()).await.expect("an answer");
        assert_eq!(said.get("note"), None, "{arguments}: {said}");
    }
    // Checks that do not count say nothing either.
    for check in made.as_array().expect("checks") {
        let delete = "mutation($id: ID!) { checkDelete(input: { id: $id }) { errors { message } } }";
        if check["name"] != "Has an owner" {
            app.query(delete, json!({ "id": check["id"] })).await;
        }
    }
    let disable =
        "mutation($id: ID!) { checkServiceOwnershipUpdate(input: { id: $id, enabled: false }) { errors { message } } }";
    let done = app.query(disable, json!({ "id": made[0]["id"] })).await;
    assert_eq!(done["data"]["checkServiceOwnershipUpdate"]["errors"], json!([]), "{done}");
    let said = desk.said(&["standards", "missing", "cart"]).await;
    assert!(said.starts_with("no check counts yet, so nothing says what a service lacks"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_service_lacks_is_told_check_by_check_with_how_to_mend_it() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    data(&app, STARTER).await;
    let desk = Desk::at(&app, Scope::Read).await;
    let told = desk.said(&["standards", "missing", "Cart"]).await;
    assert!(told.starts_with("Cart (level Beginner) does not pass ") && told.contains(" of 10 checks\n"), "{told}");
    assert!(told.contains("\nHas a tier (Bronze): failed\n  ") && !told.contains("Has an owner"), "{told}");
    let rows = desk.json(&["standards", "missing", "cart"]).await;
    let rows = rows.as_array().expect("rows");
    let tier = rows.iter().find(|row| row["check"]["name"] == "Has a tier").expect("the check");
    let notes = tier["check"]["rawNotes"].as_str().expect("notes");
    let first = notes.lines().next().expect("a line");
    assert!(told.contains(first), "how to pass it: {told}");
    assert!(!tier["message"].as_str().expect("a message").is_empty());
    assert_eq!(told.matches(": failed\n").count() + told.matches(": pending\n").count(), rows.len(), "{told}");
    let separated = desk.said(&["standards", "missing", "cart", "-o", "csv"]).await;
    assert!(separated.starts_with("check,level,status,found,notes,part of\n"), "{separated}");
    let done = desk.run(&["standards", "missing", "nope"]).await;
    assert_eq!((done.status, &*done.err), (1, "rollcall: no service is called nope\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_services_that_fail_a_check_or_a_scorecard_are_listed() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    let made = data(&app, STARTER).await;
    let desk = Desk::at(&app, Scope::Read).await;
    let rows = desk.json(&["standards", "failing", "has an owner"]).await;
    let names: Vec<&Value> = rows.as_array().expect("rows").iter().map(|row| &row["service"]["name"]).collect();
    assert_eq!((names, &rows[0]["check"]["level"]["name"]), (vec![&json!("Bare")], &json!("Bronze")));
    let id = made["standardsStarterCreate"]["checks"][0]["id"].as_str().expect("an id").to_owned();
    let table = desk.said(&["standards", "failing", &id]).await;
    assert!(table.starts_with("SERVICE ") && table.contains("Has an owner") && table.lines().count() == 2, "{table}");
    let done = desk.run(&["standards", "failing", "Has an onwer"]).await;
    let sentence = "rollcall: no check, scorecard or campaign is called Has an onwer; similar: Has an owner\n";
    assert_eq!((done.status, &*done.out, &*done.err), (1, "", sentence));
    data(
        &app,
        r#"mutation { serviceUpdate(input: { alias: "bare", ownerAlias: "payments" }) { errors { message } } }"#,
    )
    .await;
    let done = desk.run(&["standards", "failing", "Has an owner", "-o", "json"]).await;
    let sentence = "Has an owner: all 2 services that it concerns pass it\n";
    assert_eq!((done.status, &*done.out, &*done.err), (0, "[]\n", sentence));

    let found =
        data(&app, r#"{ account { team(alias: "payments") { id } rubric { levels { nodes { id name } } } } }"#).await;
    let create = "mutation($owner: ID!) { scorecardCreate(input: { name: \"On call\", ownerId: $owner }) {
        scorecard { categories { nodes { id } } } errors { message } } }";
    let card = app.query(create, json!({ "owner": found["account"]["team"]["id"] })).await;
    let card = &card["data"]["scorecardCreate"];
    assert_eq!(card["errors"], json!([]));
    let done = desk.run(&["standards", "failing", "on_call"]).await;
    assert_eq!((done.status, &*done.err), (1, "rollcall: the scorecard on_call has no checks yet\n"));
    let check =
        "mutation($input: CheckTagDefinedCreateInput!) { checkTagDefinedCreate(input: $input) { errors { message } } }";
    let input = json!({
        "name": "Tagged", "categoryId": card["scorecard"]["categories"]["nodes"][0]["id"],
        "levelId": found["account"]["rubric"]["levels"]["nodes"][1]["id"], "enabled": true, "tagKey": "env",
    });
    let made = app.query(check, json!({ "input": input })).await;
    assert_eq!(made["data"]["checkTagDefinedCreate"]["errors"], json!([]), "{made}");
    for words in [&["On call"][..], &["On", "call"], &["on_call"]] {
        let rows = desk.json(&[&["standards", "failing"], words].concat()).await;
        assert_eq!(rows.as_array().map(Vec::len), Some(2), "{rows}");
        assert_eq!(rows[0]["check"]["name"], "Tagged", "{rows}");
    }

    // What a service lacks is told with the scorecard, whether that counts towards levels or not.
    let told = desk.said(&["standards", "missing", "Cart"]).await;
    assert!(told.contains("\nTagged (Bronze, scorecard On call): failed\n"), "{told}");
    let rows = desk.json(&["standards", "missing", "cart"]).await;
    let tagged = rows.as_array().expect("rows").iter().find(|row| row["check"]["name"] == "Tagged").expect("the check");
    assert_eq!(tagged["home"], json!({ "kind": "scorecard", "name": "On call" }));
    let shown = desk.said(&["show", "cart"]).await;
    assert!(shown.contains("fails") && shown.contains("Tagged, of the scorecard On call"), "{shown}");
    let said = call(&app, &desk.token, "what_is_missing", json!({ "service": "cart" })).await.expect("an answer");
    let missed = said["checks_not_passed"].as_array().expect("checks");
    assert!(missed.iter().any(|result| result["home"]["name"] == "On call"), "{said}");
    let said = call(&app, &desk.token, "what_is_missing", json!({})).await.expect("an answer");
    assert_eq!(said["scorecards"][0]["reports"][0]["failed"], 2, "{said}");
    let listed = desk.json(&["standards", "list"]).await;
    let listed = listed.as_array().expect("checks");
    assert_eq!(listed.len(), 11);
    let tagged = listed.iter().find(|check| check["name"] == "Tagged").expect("the check");
    assert_eq!((&tagged["partOf"], &tagged["level"]["name"]), (&json!("scorecard On call"), &json!("Bronze")));
    let table = desk.said(&["standards", "list"]).await;
    assert!(table.starts_with("CHECK ") && table.contains("tag_defined") && table.lines().count() == 12, "{table}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_fails_only_a_check_of_a_campaign_does_not_pass_all() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    data(&app, STARTER).await;
    let desk = Desk::at(&app, Scope::Read).await;
    let found =
        data(&app, r#"{ account { team(alias: "payments") { id } rubric { checks { nodes { id name } } } } }"#).await;
    let checks = found["account"]["rubric"]["checks"]["nodes"].as_array().expect("checks").clone();
    let tier = checks.iter().find(|check| check["name"] == "Has a tier").expect("the check");
    let create = "mutation($owner: ID!) { campaignCreate(input: { name: \"Tiers for all\", ownerId: $owner }) {
        campaign { id } errors { message } } }";
    let made = app.query(create, json!({ "owner": found["account"]["team"]["id"] })).await;
    let id = &made["data"]["campaignCreate"]["campaign"]["id"];
    let begin = "mutation($id: ID!, $check: ID!) {
        copied: checksCopyToCampaign(input: { campaignId: $id, checkIds: [$check] }) { errors { message } }
        begun: campaignScheduleUpdate(input: { id: $id, startDate: \"2026-01-02T03:04:05Z\",
            targetDate: \"2999-01-02T03:04:05Z\" }) { errors { message } } }";
    let done = app.query(begin, json!({ "id": id, "check": tier["id"] })).await;
    assert_eq!(
        (&done["data"]["copied"]["errors"], &done["data"]["begun"]["errors"]),
        (&json!([]), &json!([])),
        "{done}"
    );
    for check in &checks {
        let delete = "mutation($id: ID!) { checkDelete(input: { id: $id }) { errors { message } } }";
        if check["name"] != "Has an owner" {
            app.query(delete, json!({ "id": check["id"] })).await;
        }
    }
    let told = desk.said(&["standards", "missing", "cart"]).await;
    assert!(told.contains(" does not pass 1 of 2 checks\n"), "{told}");
    assert!(told.contains(", campaign Tiers for all): failed\n"), "{told}");
    let said = call(&app, &desk.token, "what_is_missing", json!({ "service": "cart" })).await.expect("an answer");
    assert_eq!((said.get("note"), said["checks_not_passed"].as_array().map(Vec::len)), (None, Some(1)), "{said}");
    let rows = desk.json(&["standards", "failing", "Tiers", "for", "all"]).await;
    assert_eq!(rows.as_array().map(Vec::len), Some(2), "{rows}");
    let listed = desk.json(&["standards", "list"]).await;
    assert_eq!(listed[1]["partOf"], "campaign Tiers for all (in_progress)", "{listed}");
}
