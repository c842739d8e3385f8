//! Checks of custom events: what events say of services, and what becomes of checks that are changed.

use hyper::Method;
use rollcall::db::{Read, Write};
use rollcall::deploy::event;
use rollcall::entity::user::Role;
use rollcall::entity::{check, check_reported, integration};
use rollcall::graphql::field::id;
use rollcall::graphql::standards::check::judge_events;
use sea_orm::EntityTrait;
use sea_orm::sea_query::Expr;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::checks::{create, outcome, send, services};
use crate::harness::webhook::Endpoint;

/// An integration that takes events: its id, and the path of its webhook.
pub async fn integration(app: &TestApp) -> (String, String) {
    let create = "mutation { eventIntegrationCreate(input: { type: customEvent }) { integration { id webhookUrl } errors { message } } }";
    let made = data(app, create).await["eventIntegrationCreate"]["integration"].clone();
    let url = made["webhookUrl"].as_str().expect("a URL");
    (made["id"].as_str().expect("an id").to_owned(), url[url.find("/integrations/").expect("a path")..].to_owned())
}

async fn post(app: &TestApp, path: &str, event: &Value) {
    let answer = app.request(Method::POST, path, &[("content-type", "application/json")], event.to_string()).await;
    assert_eq!(answer.status, 202, "{answer:?}");
}

/// The parameters of a check of scans.
fn scans(integration: &str) -> Value {
    json!({
        "integrationId": integration, "serviceSelector": ".scans[].service",
        "successCondition": ".scans[] | select(.service == $ctx.alias) | .open == 0",
        "resultMessage": "{{ ctx.alias }} has {{ data.scans[ctx.index].open }} open findings.",
    })
}

fn scan(found: &[(&str, i32)]) -> Value {
    let scans: Vec<Value> = found.iter().map(|(service, open)| json!({ "service": service, "open": open })).collect();
    json!({ "scans": scans })
}

async fn started() -> (Endpoint, String, String) {
    let endpoint = services().await;
    let (id, path) = integration(&endpoint.app).await;
    (endpoint, id, path)
}

#[tokio::test]
async fn the_newest_event_that_names_a_service_says_whether_it_passes() {
    let (endpoint, id, path) = started().await;
    let app = &endpoint.app;
    let check = create(app, "CustomEvent", scans(&id)).await;
    let (statuses, messages) = outcome(app, &check).await;
    assert_eq!(statuses, "pending pending pending");
    let wanted = "No event has named it yet. Wanted: an event of \"Custom event\" that meets the condition.";
    assert!(messages[0].starts_with("No event has named it yet. Wanted: an event of "), "{messages:?} {wanted}");
    post(app, &path, &scan(&[("shop", 0), ("mail", 2), ("nowhere", 0)])).await;
    let (statuses, messages) = outcome(app, &check).await;
    assert_eq!(statuses, "passed failed pending");
    assert!(messages[0].starts_with("shop has 0 open findings. The event was received on "), "{messages:?}");
    assert!(messages[1].starts_with("mail has 2 open findings. The event was received on "), "{messages:?}");
    post(app, &path, &scan(&[("mail", 0), ("bare", 1)])).await;
    assert_eq!(outcome(app, &check).await.0, "passed passed failed");
    // Events of others, and deploys, say nothing.
    let (_, other) = integration(app).await;
    post(app, &other, &scan(&[("shop", 9)])).await;
    assert_eq!(outcome(app, &check).await.0, "passed passed failed");
    // An event that cannot be judged changes nothing.
    post(app, &path, &json!({ "scans": 7 })).await;
    assert_eq!(outcome(app, &check).await.0, "passed passed failed");
    // What became of it is shown.
    let page = Browser::of(app, Role::Viewer).await.page(&format!("/integrations/{id}")).await;
    assert!(page.contains("2 services: 1 passed, 1 failed, 1 unknown"), "{page}");
    assert!(page.contains("0 services") && page.contains("serviceSelector: cannot"), "{page}");
}

#[tokio::test]
async fn a_service_is_named_by_any_alias_and_by_its_id() {
    let (endpoint, id, path) = started().await;
    let app = &endpoint.app;
    let service =
        data(app, "{ account { service(alias: \"mail\") { id } } }").await["account"]["service"]["id"].clone();
    data(app, "mutation { aliasCreate(input: { alias: \"store\", ownerId: \"shop\" }) { errors { message } } }").await;
    let own = json!({ "integrationId": id, "serviceSelector": ".", "successCondition": "$ctx.alias != \"bare\"" });
    let check = create(app, "CustomEvent", own).await;
    post(app, &path, &json!(["shop", service, "bare", "Bare"])).await;
    let (statuses, messages) = outcome(app, &check).await;
    assert_eq!(statuses, "passed passed failed");
    assert!(messages[0].starts_with("The event was received on "), "{messages:?}");
}

#[tokio::test]
async fn a_check_that_is_new_or_changed_is_evaluated_on_the_events_that_are_kept() {
    let (endpoint, id, path) = started().await;
    let app = &endpoint.app;
    post(app, &path, &scan(&[("shop", 1), ("mail", 0)])).await;
    post(app, &path, &scan(&[("shop", 0)])).await;
    let check = create(app, "CustomEvent", scans(&id)).await;
    assert_eq!(outcome(app, &check).await.0, "pending pending pending");
    judge_events(&app.db, None).await.expect("evaluated");
    assert_eq!(outcome(app, &check).await.0, "passed passed pending", "the newest event counts");
    let changed = json!({ "id": check["id"], "successCondition": ".scans[0].open == 1", "resultMessage": null });
    assert_eq!(send(app, "checkCustomEventUpdate", changed).await["errors"], json!([]));
    assert_eq!(outcome(app, &check).await.0, "pending pending pending", "not evaluated yet");
    for _ in 0..2 {
        judge_events(&app.db, None).await.expect("evaluated");
        assert_eq!(outcome(app, &check).await.0, "failed passed pending");
    }
    let changed = json!({ "id": check["id"], "passPending": true });
    assert_eq!(send(app, "checkCustomEventUpdate", changed).await["errors"], json!([]));
    judge_events(&app.db, None).await.expect("evaluated");
    let (statuses, messages) = outcome(app, &check).await;
    assert_eq!((&*statuses, &*messages[2]), ("failed passed passed", "No event has named it yet."));
    // Without its integration it cannot be evaluated.
    let delete = "mutation($id: ID!) { integrationDelete(resource: { id: $id }) { errors { message } } }";
    app.query(delete, json!({ "id": id })).await;
    let (statuses, messages) = outcome(app, &check).await;
    assert_eq!(statuses, "pending pending pending");
    assert_eq!(&*messages[0], "This check cannot be evaluated: its integration was deleted.");
}

/// As after a server that died between storing an event and evaluating it, or with two servers that do it at once.
#[tokio::test]
async fn an_event_that_is_stored_is_evaluated_later_and_the_newest_still_counts() {
    let (endpoint, id, path) = started().await;
    let app = &endpoint.app;
    let check = create(app, "CustomEvent", scans(&id)).await;
    let number = id::number::<integration::Entity>(&id).expect("an integration");
    for open in [0, 1, 0] {
        assert!(event::record(&app.db, number, scan(&[("shop", open)]).to_string()).await.expect("stored"));
    }
    assert_eq!(outcome(app, &check).await.0, "pending pending pending");
    let (first, second) = tokio::join!(judge_events(&app.db, None), judge_events(&app.db, None));
    assert!(first.is_ok() && second.is_ok(), "{first:?} {second:?}");
    assert_eq!(outcome(app, &check).await.0, "passed pending pending");
    post(app, &path, &scan(&[("shop", 2)])).await;
    judge_events(&app.db, None).await.expect("evaluated");
    assert_eq!(outcome(app, &check).await.0, "failed pending pending");
    let stored = app.db.read().count(check_reported::Entity::find()).await.expect("a count");
    assert_eq!(stored, 1, "one result for a service");
}

#[tokio::test]
async fn a_hostile_check_fails_and_harms_nothing() {
    let (endpoint, id, path) = started().await;
    let app = &endpoint.app;
    let good = create(app, "CustomEvent", scans(&id)).await;
    let mut own = scans(&id);
    own["successCondition"] = json!("\"x\" * 1000000000");
    let hostile = create(app, "CustomEvent", own.clone()).await;
    own["serviceSelector"] = json!("def f: 1 + f; f");
    let unnamed = create(app, "CustomEvent", own).await;
    post(app, &path, &scan(&[("shop", 0), ("mail", 1)])).await;
    assert_eq!(outcome(app, &good).await.0, "passed failed pending");
    let (statuses, messages) = outcome(app, &hostile).await;
    assert_eq!(statuses, "failed failed pending");
    assert!(messages[0].starts_with("The condition cannot be evaluated: it "), "{messages:?}");
    assert_eq!(outcome(app, &unnamed).await.0, "pending pending pending");
}

#[tokio::test]
async fn expressions_that_cannot_be_read_are_refused() {
    let (endpoint, id, _) = started().await;
    let app = &endpoint.app;
    let check = create(app, "CustomEvent", scans(&id)).await;
    let long = "x".repeat(5_001);
    for (field, value, message) in [
        ("serviceSelector", json!(".["), "serviceSelector: it is not jq: "),
        ("successCondition", json!("$nothing"), "successCondition: the variable $nothing is not defined"),
        ("resultMessage", json!("{{ data"), "resultMessage: "),
        ("resultMessage", json!("{% include 'a' %}{% nothing %}"), "resultMessage: "),
        ("serviceSelector", json!(""), "serviceSelector must not be blank"),
        ("successCondition", json!(" "), "successCondition must not be blank"),
        ("serviceSelector", Value::Null, "serviceSelector must not be null"),
        ("successCondition", Value::Null, "successCondition must not be null"),
        ("integrationId", Value::Null, "integrationId must not be null"),
        ("integrationId", json!("nope"), ""),
        ("resultMessage", json!(long), "resultMessage has 5001 characters"),
        ("serviceSelector", json!(long), "serviceSelector has 5001 characters"),
    ] {
        let answer = send(app, "checkCustomEventUpdate", json!({ "id": check["id"], field: value })).await;
        let errors = answer["errors"].as_array().expect("errors").clone();
        assert_eq!(errors.len(), 1, "{field}: {answer}");
        assert!(errors[0]["message"].as_str().is_some_and(|text| text.starts_with(message)), "{field}: {answer}");
        assert_eq!(errors[0]["path"], json!([field]), "{answer}");
    }
    let mut wrong = scans(&id);
    for field in ["serviceSelector", "successCondition", "resultMessage"] {
        wrong[field] = json!("{{ (");
    }
    for (field, value) in [("name", "n"), ("levelId", "nope"), ("categoryId", "nope")] {
        wrong[field] = json!(value);
    }
    let answer = send(app, "checkCustomEventCreate", wrong).await;
    assert_eq!(answer["errors"].as_array().map(Vec::len), Some(5), "all at once: {answer}");
}

/// Makes an integration, and returns its id.
async fn made(app: &TestApp, ty: &str, name: &str) -> Value {
    let create = "mutation($input: EventIntegrationInput!) { eventIntegrationCreate(input: $input) {
        integration { id } errors { message }
    } }";
    let answer = app.query(create, json!({ "input": { "type": ty, "name": name } })).await;
    let payload = &answer["data"]["eventIntegrationCreate"];
    assert_eq!(payload["errors"], json!([]), "{answer}");
    payload["integration"]["id"].clone()
}

#[tokio::test]
async fn a_check_judges_the_events_of_an_integration_that_takes_some() {
    let (endpoint, id, _) = started().await;
    let app = &endpoint.app;
    let check = create(app, "CustomEvent", scans(&id)).await;
    let ids = crate::harness::checks::ids(app).await;
    let preview = "query($i: ID!) { account {
        customEventCheckPreview(integrationId: $i, serviceSelector: \".a\", successCondition: \".b\") { error }
    } }";
    // A standards file gives the name.
    let apply = async |name: &str| {
        let text = format!(
            "version: 1\nstandards:\n  checks:\n    - name: Named\n      type: generic\n      level: Bronze\n      category: Safety\n      \
             integration: {name}\n      service_selector: .a\n      success_condition: .b\n"
        );
        let apply = "mutation($input: StandardsApplyInput!) { standardsApply(input: $input) { errors { message } } }";
        let answer = app.query(apply, json!({ "input": { "files": [{ "path": "a.yml", "text": text }] } })).await;
        answer["data"]["standardsApply"]["errors"].clone()
    };
    let mut docs = Value::Null;
    for (ty, name) in [("deploy", "CI"), ("jenkins", "Builds"), ("apiDoc", "Docs")] {
        let other = made(app, ty, name).await;
        let what = format!("must name an integration of type customEvent; \"{name}\" is one of type {ty}");
        let errors = json!([{ "message": format!("integrationId {what}"), "path": ["integrationId"] }]);
        let changed = json!({ "id": check["id"], "integrationId": other });
        assert_eq!(send(app, "checkCustomEventUpdate", changed).await["errors"], errors);
        let mut own = scans(&id);
        for (field, value) in [
            ("name", &json!("x")),
            ("integrationId", &other),
            ("levelId", &ids["Bronze"]),
            ("categoryId", &ids["Safety"]),
        ] {
            own[field] = value.clone();
        }
        assert_eq!(send(app, "checkCustomEventCreate", own).await["errors"], errors);
        let tried = app.query(preview, json!({ "i": other })).await;
        assert_eq!(tried["errors"][0]["message"], errors[0]["message"], "{tried}");
        let refused = apply(name).await;
        assert!(refused[0]["message"].as_str().is_some_and(|text| text.ends_with(&what)), "{refused}");
        // With another one of the same name, this one cannot be meant.
        made(app, "customEvent", name).await;
        assert_eq!(apply(name).await, json!([]));
        docs = other;
    }
    // As an earlier release may have stored it.
    let number = id::number::<integration::Entity>(docs.as_str().expect("an id")).expect("an integration");
    let other = check::Entity::update_many().col_expr(check::Column::IntegrationId, Expr::value(number));
    app.db.write(async |tx| tx.exec(other.clone()).await).await.expect("changed");
    let message = "This check cannot be evaluated: its integration takes no events: its type is not customEvent.";
    assert_eq!(outcome(app, &check).await.1[0], message);
}

#[tokio::test]
async fn expressions_are_tried_on_the_newest_event() {
    let (endpoint, id, path) = started().await;
    let app = &endpoint.app;
    let query = "query($i: ID!, $s: String!, $c: String!, $m: String) { account {
        customEventCheckPreview(integrationId: $i, serviceSelector: $s, successCondition: $c, resultMessage: $m) {
            receivedAt error services { name service { alias } passed message error }
        }
    } }";
    let own = scans(&id);
    let variables =
        json!({ "i": id, "s": own["serviceSelector"], "c": own["successCondition"], "m": own["resultMessage"] });
    let tried = async |changed: &[(&str, Value)]| {
        let mut variables = variables.clone();
        for (name, value) in changed {
            variables[*name] = value.clone();
        }
        app.query(query, variables).await
    };
    let preview = |answer: &Value| answer["data"]["account"]["customEventCheckPreview"].clone();
    let none = json!({ "receivedAt": null, "error": null, "services": [] });
    assert_eq!(preview(&tried(&[]).await), none);
    post(app, &path, &json!("old")).await;
    post(app, &path, &scan(&[("shop", 0), ("mail", 2), ("nowhere", 0)])).await;
    let found = preview(&tried(&[]).await);
    assert!(found["receivedAt"].is_string() && found["error"].is_null(), "{found}");
    let service = |name: &str, alias: Value, passed: bool, open: i32| {
        let service = if alias.is_null() { Value::Null } else { json!({ "alias": alias }) };
        json!({ "name": name, "service": service, "passed": passed, "message": format!("{name} has {open} open findings."), "error": null })
    };
    let expected = [
        service("shop", json!("shop"), true, 0),
        service("mail", json!("mail"), false, 2),
        service("nowhere", Value::Null, true, 0),
    ];
    assert_eq!(found["services"], json!(expected));
    let found = preview(&tried(&[("s", json!(".["))]).await);
    assert!(found["error"].as_str().is_some_and(|error| error.starts_with("serviceSelector: it is not jq")), "{found}");
    let found = preview(&tried(&[("c", json!("error(\"no\")")), ("m", Value::Null)]).await);
    assert_eq!((&found["services"][0]["error"], &found["services"][0]["message"]), (&json!("no"), &Value::Null));
    assert_eq!(preview(&tried(&[("i", json!("nope"))]).await), Value::Null);
    let long = tried(&[("c", json!("x".repeat(5_001)))]).await;
    assert!(long["errors"][0]["message"].as_str().is_some_and(|text| text.contains("5001 characters")), "{long}");
    // Nothing is stored, and not everybody may.
    assert_eq!(
        data(app, "{ account { rubric { checks { totalCount } } } }").await["account"]["rubric"]["checks"]["totalCount"],
        json!(0)
    );
    let user = Browser::of(app, Role::User).await;
    let refused = user.query(query, variables.clone()).await;
    assert!(
        refused["errors"][0]["message"].as_str().is_some_and(|text| text.starts_with("only a standards")),
        "{refused}"
    );
    let administrator = Browser::of(app, Role::StandardsAdmin).await;
    assert!(preview(&administrator.query(query, variables.clone()).await)["receivedAt"].is_string());
}

#[tokio::test]
async fn a_check_is_tried_created_and_changed_on_its_page() {
    let (endpoint, id, path) = started().await;
    let app = &endpoint.app;
    post(app, &path, &scan(&[("shop", 0), ("mail", 2), ("<b>", 0)])).await;
    let ids = crate::harness::checks::ids(app).await;
    let mut browser = Browser::of(app, Role::StandardsAdmin).await;
    let own = scans(&id);
    let text = |field: &str| own[field].as_str().expect("a text").to_owned();
    let (selector, condition, message) = (text("serviceSelector"), text("successCondition"), text("resultMessage"));
    let (level, category) = (ids["Bronze"].as_str().expect("an id"), ids["Safety"].as_str().expect("an id"));
    let mut form = vec![
        ("name", "Has no open findings"),
        ("levelId", level),
        ("categoryId", category),
        ("integrationId", &id),
        ("serviceSelector", &selector),
        ("successCondition", &condition),
        ("resultMessage", &message),
        ("passPending", ""),
        ("enabled", "yes"),
        ("do", "try"),
    ];
    assert!(
        browser.page(&format!("/new/check/custom-event?integration={id}")).await.contains("Try on the newest event")
    );
    let tried = browser.post("/new/check/custom-event", &form).await;
    assert_eq!(tried.status, 200);
    for part in
        ["mail has 2 open findings.", "failed", "Nothing is saved", "&lt;b&gt;", "unknown", "Has no open findings"]
    {
        assert!(tried.text().contains(part), "{part}: {}", tried.text());
    }
    form[4].1 = ".[";
    let tried = browser.post("/new/check/custom-event", &form).await;
    assert!(tried.text().contains("serviceSelector: it is not jq"), "{}", tried.text());
    form[9].1 = "save";
    let refused = browser.post("/new/check/custom-event", &form).await;
    assert!(refused.status == 422 && refused.text().contains("it is not jq"), "{}", refused.text());
    form[4].1 = &selector;
    let made = browser.post("/new/check/custom-event", &form).await;
    let place = made.place().to_owned();
    judge_events(&app.db, None).await.expect("evaluated");
    let page = browser.page(&place).await;
    assert!(page.contains("Has no open findings") && page.contains("mail has 2 open findings."), "{page}");
    let edit = format!("{place}/edit");
    assert!(browser.page(&edit).await.contains(".scans[].service"));
    form[0].1 = "Is clean";
    form[8].1 = "";
    assert_eq!(browser.post(&edit, &form).await.place(), place);
    let page = browser.page(&place).await;
    assert!(page.contains("Is clean") && page.contains(">off<"), "{page}");
    assert_eq!(Browser::of(app, Role::User).await.get("/new/check/custom-event").await.status, 403);
}
