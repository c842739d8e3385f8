//! Histories in the API: what was changed of a noun and of what belongs to it, and by whom.

use rollcall::entity::token::Scope;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};

const HISTORY: &str =
    "query($kind: HistorySubjectEnum!, $subject: IdentifierInput!, $start: ISO8601DateTime, $first: Int,
    $after: String) { account { history(kind: $kind, subject: $subject, start: $start, first: $first, after: $after) {
        nodes { id at actor action summary subjectType subjectName details reverts notRevertible }
        totalCount pageInfo { hasNextPage endCursor } } } }";

async fn history(app: &TestApp, variables: Value) -> Value {
    let answer = app.query(HISTORY, variables).await;
    assert_eq!(answer.get("errors"), None, "{answer}");
    answer["data"]["account"]["history"].clone()
}

async fn cart(app: &TestApp) {
    for mutation in [
        r#"teamCreate(input: { name: "Payments" })"#,
        r#"systemCreate(input: { name: "Till" })"#,
        r#"domainCreate(input: { name: "Trade" })"#,
        r#"serviceCreate(input: { name: "Cart", description: "Holds goods" })"#,
        r#"serviceCreate(input: { name: "Mail" })"#,
        r#"serviceUpdate(input: { alias: "cart", description: "WRONG", language: "Go" })"#,
        r#"toolCreate(input: { serviceAlias: "cart", category: runbooks, displayName: "Runbook", url: "https://wiki.example.com" })"#,
        r#"serviceUpdate(input: { alias: "mail", description: "Sends" })"#,
    ] {
        let done = data(app, &format!("mutation {{ it: {mutation} {{ errors {{ message }} }} }}")).await;
        assert_eq!(done["it"]["errors"], json!([]), "{mutation}");
    }
}

#[tokio::test]
async fn a_history_tells_who_changed_what_and_the_id_by_which_it_is_reverted() {
    let app = TestApp::start().await;
    cart(&app).await;
    let of_cart = json!({ "kind": "service", "subject": { "alias": "cart" } });
    let told = history(&app, of_cart.clone()).await;
    let nodes = told["nodes"].as_array().expect("nodes");
    let words: Vec<(&str, &str)> = nodes
        .iter()
        .map(|node| (node["summary"].as_str().expect("words"), node["subjectType"].as_str().expect("a type")))
        .collect();
    assert_eq!(words, [("added tool", "Tool"), ("changed service", "Service"), ("added service", "Service")], "{told}");
    assert_eq!(told["totalCount"], 3);
    let changed = &nodes[1];
    assert_eq!((&changed["action"], &changed["subjectName"]), (&json!("serviceUpdate"), &json!("Cart")));
    assert!(!changed["actor"].as_str().expect("an actor").is_empty(), "{changed}");
    let details = changed["details"].as_array().expect("details");
    assert!(details.contains(&json!("description: Holds goods → WRONG")), "{changed}");
    assert!(details.contains(&json!("language: nothing → Go")), "{changed}");
    assert_eq!((&changed["reverts"], &changed["notRevertible"]), (&Value::Null, &Value::Null));
    assert!(nodes[2]["notRevertible"].is_string(), "a whole service is not reverted: {told}");

    let revert = "mutation($id: ID!) { changeRevert(input: { id: $id }) { summary errors { message } } }";
    let done = app.query(revert, json!({ "id": changed["id"] })).await;
    assert_eq!(done["data"]["changeRevert"]["errors"], json!([]), "{done}");
    let found = data(&app, r#"{ account { service(alias: "cart") { description language } } }"#).await;
    assert_eq!(found["account"]["service"], json!({ "description": "Holds goods", "language": null }));
    let newest = history(&app, json!({ "kind": "service", "subject": { "alias": "cart" }, "first": 1 })).await;
    let newest = &newest["nodes"][0];
    assert_eq!((&newest["summary"], &newest["reverts"]), (&json!("reverted a change"), &changed["id"]));
}

#[tokio::test]
async fn a_history_is_paged_and_begins_where_it_is_asked_to() {
    let app = TestApp::start().await;
    cart(&app).await;
    let whole = history(&app, json!({ "kind": "service", "subject": { "alias": "cart" } })).await;
    let whole = whole["nodes"].as_array().expect("nodes").clone();
    let (mut paged, mut after) = (Vec::new(), Value::Null);
    loop {
        let asked = json!({ "kind": "service", "subject": { "alias": "cart" }, "first": 2, "after": after });
        let page = history(&app, asked).await;
        assert_eq!(page["totalCount"], 3);
        paged.extend(page["nodes"].as_array().expect("nodes").clone());
        if page["pageInfo"]["hasNextPage"] == json!(false) {
            break;
        }
        after = page["pageInfo"]["endCursor"].clone();
    }
    assert_eq!(paged, whole);
    let since = json!({ "kind": "service", "subject": { "alias": "cart" }, "start": whole[1]["at"] });
    let since = history(&app, since).await;
    assert_eq!((since["nodes"].as_array().map(Vec::len), &since["totalCount"]), (Some(2), &json!(2)));
    for (kind, alias, name) in
        [("team", "payments", "Payments"), ("system", "till", "Till"), ("domain", "trade", "Trade")]
    {
        let told = history(&app, json!({ "kind": kind, "subject": { "alias": alias } })).await;
        assert_eq!((&told["nodes"][0]["subjectName"], &told["totalCount"]), (&json!(name), &json!(1)), "{kind}");
    }
}

#[tokio::test]
async fn a_history_of_nothing_and_a_cursor_of_another_list_are_errors() {
    let app = TestApp::start().await;
    cart(&app).await;
    let token = app.new_token(Scope::Read, None).await;
    let services = data(&app, "{ account { services(first: 1) { pageInfo { endCursor } } } }").await;
    let foreign = services["account"]["services"]["pageInfo"]["endCursor"].clone();
    for (variables, said) in [
        (
            json!({ "kind": "service", "subject": { "alias": "nope" } }),
            "a service with the alias \"nope\" does not exist",
        ),
        (json!({ "kind": "team", "subject": { "alias": "cart" } }), "a team with the alias \"cart\" does not exist"),
        (json!({ "kind": "service", "subject": {} }), "id"),
        (json!({ "kind": "service", "subject": { "alias": "cart" }, "first": -1 }), "first must not be negative"),
        (json!({ "kind": "service", "subject": { "alias": "cart" }, "after": foreign }), "a cursor of another list"),
        (json!({ "kind": "service", "subject": { "alias": "cart" }, "after": "x" }), "not a valid cursor"),
    ] {
        let answer = app.query(HISTORY, variables.clone()).await;
        let message = answer["errors"][0]["message"].as_str().unwrap_or_else(|| panic!("{variables}: {answer}"));
        assert!(message.contains(said), "{variables}: {message}");
    }
    let bearer = format!("Bearer {token}");
    let asked = json!({ "kind": "service", "subject": { "alias": "cart" } });
    let read = app.post_with(HISTORY, asked, &[("authorization", &bearer)]).await.json();
    assert_eq!(read["data"]["account"]["history"]["totalCount"], 3, "a token for reading reads it: {read}");
}
