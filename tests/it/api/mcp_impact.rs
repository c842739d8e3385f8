//! The tool `impact` of `/mcp`: what may fail with a service, a system or a team.

use rollcall::entity::token::Scope;
use rollcall::mcp::impact::{BEGINNINGS, ROWS};
use serde_json::{Value, json};

use crate::harness::agent::{ask, call, post, text};
use crate::harness::app::{TestApp, data};

/// Of the system Shop, Checkout needs Cart, and Payments owns Checkout. Outside of it, the web needs checkout, and the phone
/// needs the web and the cart. A service is called Shop too.
const MAKE: &str = r#"mutation {
    payments: teamCreate(input: { name: "Payments" }) { errors { message } }
    screens: teamCreate(input: { name: "Screens" }) { errors { message } }
    idle: teamCreate(input: { name: "Idle" }) { errors { message } }
    system: systemCreate(input: { name: "Shop" }) { errors { message } }
    front: systemCreate(input: { name: "Front" }) { errors { message } }
    same: serviceCreate(input: { name: "Shop" }) { errors { message } }
    cart: serviceCreate(input: { name: "Cart", parent: { alias: "shop" } }) { errors { message } }
    checkout: serviceCreate(input: { name: "Checkout", ownerAlias: "payments", parent: { alias: "shop" } })
        { errors { message } }
    web: serviceCreate(input: { name: "Web", ownerAlias: "screens", tierAlias: "tier_1", parent: { alias: "front" } })
        { errors { message } }
    phone: serviceCreate(input: { name: "Phone", ownerAlias: "screens" }) { errors { message } }
    calls: serviceOnCallsUpdate(input: { service: { alias: "web" }, onCalls: [{ name: "Ada" }] }) { errors { message } }
}"#;

async fn depend(app: &TestApp, source: &str, on: &str) {
    let document = format!(
        r#"mutation {{ serviceDependencyCreate(inputV2: {{ dependencyKey: {{
            sourceIdentifier: {{ alias: "{source}" }}, destinationIdentifier: {{ alias: "{on}" }} }} }})
            {{ errors {{ message }} }} }}"#
    );
    assert_eq!(data(app, &document).await["serviceDependencyCreate"]["errors"], json!([]), "{source} on {on}");
}

async fn catalogue(app: &TestApp) {
    let made = data(app, MAKE).await;
    for (name, payload) in made.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    for (source, on) in
        [("checkout", "cart"), ("web", "checkout"), ("phone", "web"), ("phone", "cart"), ("web", "shop")]
    {
        depend(app, source, on).await;
    }
}

/// The services that an answer names, each with its distance and the service that leads to it.
fn reached(answer: &Value) -> Vec<(&str, u64, &str)> {
    let of = |edge| -> Option<(&str, u64, &str)> {
        let edge: &Value = edge;
        Some((
            edge["node"]["alias"].as_str()?,
            edge["distance"].as_u64()?,
            edge["through"].as_str().unwrap_or_default(),
        ))
    };
    let edges = answer["edges"].as_array().map(Vec::as_slice).unwrap_or_default();
    edges.iter().map(|edge| of(edge).expect("an edge")).collect()
}

#[tokio::test]
async fn the_impact_of_a_group_is_what_its_services_reach_outside_of_it() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    let token = app.new_token(Scope::Read, None).await;
    let impact = async |given: Value| call(&app, &token, "impact", given).await.expect("an answer");
    let urls =
        data(&app, r#"{ account { system(input: { alias: "shop" }) { htmlUrl } service(alias: "web") { htmlUrl } } }"#)
            .await;

    for name in ["shop", "Shop"] {
        let shop = impact(json!({ "system": name })).await;
        let mut found = reached(&shop);
        found.sort_unstable();
        assert_eq!(found, [("phone", 1, "Cart"), ("web", 1, "Checkout")], "those inside are not told: {shop}");
        assert_eq!(shop["system"], json!({ "name": "Shop", "htmlUrl": urls["account"]["system"]["htmlUrl"] }));
        assert_eq!(
            [&shop["services"], &shop["servicesLookedAt"], &shop["totalCount"], &shop["isComplete"]],
            [&json!(2), &json!(2), &json!(2), &json!(true)],
            "{shop}"
        );
        let edges = shop["edges"].as_array().expect("edges");
        let web = edges.iter().find(|edge| edge["node"]["alias"] == "web").expect("the web");
        let expected = json!({
            "name": "Web", "alias": "web", "htmlUrl": urls["account"]["service"]["htmlUrl"],
            "tier": { "name": "Mission Critical" }, "owner": { "name": "Screens" }, "onCalls": [{ "name": "Ada" }],
        });
        assert_eq!(web["node"], expected, "its owner, and who is on call");
    }
    let payments = impact(json!({ "team": "Payments" })).await;
    assert_eq!(reached(&payments), [("web", 1, "Checkout"), ("phone", 2, "Checkout")], "the nearest first: {payments}");
    assert_eq!(payments["team"]["name"], "Payments");
    // The phone depends on the web, and both are of this team.
    let screens = impact(json!({ "team": "screens" })).await;
    assert_eq!((reached(&screens), &screens["services"]), (vec![], &json!(2)), "{screens}");
    assert_eq!((&screens["totalCount"], &screens["isComplete"]), (&json!(0), &json!(true)));
    // Of the system Front is only the web, so the phone is outside.
    assert_eq!(reached(&impact(json!({ "system": "front" })).await), [("phone", 1, "Web")]);
    let idle = impact(json!({ "team": "idle" })).await;
    assert_eq!((&idle["services"], &idle["servicesLookedAt"], &idle["totalCount"]), (&json!(0), &json!(0), &json!(0)));
}

#[tokio::test]
async fn the_impact_of_a_service_has_the_shape_that_it_always_had() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    let token = app.new_token(Scope::Read, None).await;
    let urls = data(
        &app,
        r#"{ account { web: service(alias: "web") { htmlUrl } phone: service(alias: "phone") { htmlUrl } } }"#,
    )
    .await;
    let expected = json!({
        "edges": [
            { "distance": 1, "node": {
                "name": "Web", "alias": "web", "htmlUrl": urls["account"]["web"]["htmlUrl"],
                "tier": { "name": "Mission Critical" }, "owner": { "name": "Screens" }, "onCalls": [{ "name": "Ada" }],
            } },
            { "distance": 2, "node": {
                "name": "Phone", "alias": "phone", "htmlUrl": urls["account"]["phone"]["htmlUrl"],
                "owner": { "name": "Screens" },
            } },
        ],
        "totalCount": 2,
        "isComplete": true,
    });
    for name in ["checkout", "Checkout"] {
        let given = json!({ "name": "impact", "arguments": { "service": name } });
        let answer = ask(&app, &token, "tools/call", given).await;
        assert_eq!(answer["result"]["content"][0]["text"], expected.to_string(), "byte for byte");
    }
}

#[tokio::test]
async fn a_name_of_several_kinds_is_taken_for_the_kind_that_is_asked_for() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    let token = app.new_token(Scope::Read, None).await;
    let service = call(&app, &token, "impact", json!({ "service": "Shop" })).await.expect("an answer");
    assert_eq!(reached(&service), [("web", 1, ""), ("phone", 2, "")], "{service}");
    let system = call(&app, &token, "impact", json!({ "system": "Shop" })).await.expect("an answer");
    assert_eq!((system["system"]["name"].as_str(), reached(&system).len()), (Some("Shop"), 2), "{system}");
    // A name of another kind only is said to be that.
    for (given, said) in [
        (json!({ "service": "Payments" }), "there is no service \"Payments\", but a team of this name"),
        (json!({ "system": "Payments" }), "there is no system \"Payments\", but a team of this name"),
        (json!({ "team": "Front" }), "there is no team \"Front\", but a system of this name"),
    ] {
        let refused = call(&app, &token, "impact", given).await.expect_err(said);
        assert!(refused.starts_with(said), "{refused}");
    }
}

#[tokio::test]
async fn an_impact_without_one_thing_that_is_there_is_refused() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    let token = app.new_token(Scope::Read, None).await;
    for (given, said) in [
        (json!({}), "give a service, a system or a team, by its name or an alias"),
        (json!({ "service": "", "team": " " }), "give a service, a system or a team, by its name or an alias"),
        (
            json!({ "service": "cart", "team": "payments" }),
            "give one of service, system and team, and not service and team at once",
        ),
        (json!({ "system": 7 }), "system must be a string, not a number: A system, by its name or an alias"),
        (json!({ "team": "x".repeat(256) }), "team is longer than 255 bytes"),
        (json!({ "domain": "x" }), "impact has no argument \"domain\"; its arguments are service, system, team"),
        (json!({ "system": "zzzz" }), "there is no system \"zzzz\"; look for it with find"),
        (json!({ "team": "zzzz" }), "there is no team \"zzzz\"; look for it with find"),
        (json!({ "service": "zzzz" }), "there is no service \"zzzz\"; look for it with find"),
        (json!({ "team": "Paymants" }), "there is no team \"Paymants\"; similar are payments"),
    ] {
        let refused = call(&app, &token, "impact", given.clone()).await;
        assert_eq!(refused, Err(said.to_owned()), "{given}");
    }
}

#[tokio::test]
async fn the_search_begins_at_fifty_services_of_a_group() {
    let app = TestApp::start().await;
    data(&app, r#"mutation { teamCreate(input: { name: "Many" }) { errors { message } } }"#).await;
    let names: Vec<String> = (0..=BEGINNINGS).map(|number| format!("in{number}")).collect();
    for some in names.chunks(12) {
        let one = |name: &String| {
            format!(
                r#"{name}: serviceCreate(input: {{ name: "{name}", ownerAlias: "many" }}) {{ errors {{ message }} }}
                out{name}: serviceCreate(input: {{ name: "out{name}" }}) {{ errors {{ message }} }}"#
            )
        };
        let creates: Vec<String> = some.iter().map(one).collect();
        data(&app, &format!("mutation {{ {} }}", creates.join(" "))).await;
    }
    // Each has one that depends on it; the first has one more.
    for name in &names {
        depend(&app, &format!("out{name}"), name).await;
    }
    data(&app, r#"mutation { serviceCreate(input: { name: "far" }) { errors { message } } }"#).await;
    depend(&app, "far", "outin0").await;
    let token = app.new_token(Scope::Read, None).await;
    let impact = call(&app, &token, "impact", json!({ "team": "Many" })).await.expect("an answer");
    assert_eq!(
        [&impact["services"], &impact["servicesLookedAt"], &impact["isComplete"]],
        [&json!(BEGINNINGS + 1), &json!(BEGINNINGS), &json!(false)],
        "{impact}"
    );
    let found = reached(&impact);
    // Beside those of the fifty there is one that is farther away, which is counted and not named.
    assert_eq!((found.len(), &impact["totalCount"]), (ROWS, &json!(BEGINNINGS + 1)));
    assert!(found.iter().all(|(_, distance, _)| *distance == 1), "{found:?}");
    assert!(!found.iter().any(|(alias, ..)| *alias == format!("outin{BEGINNINGS}")), "{found:?}");
}

#[tokio::test]
async fn a_token_that_may_not_read_is_told_no_impact() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    let call =
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"impact","arguments":{"system":"shop"}}}"#;
    let scim = app.new_token(Scope::Scim, None).await;
    let expired = app.new_token(Scope::Admin, Some(-1)).await;
    for (token, status) in [(&scim, 403), (&expired, 401)] {
        let refused = post(&app, token, call).await;
        assert_eq!(refused.status, status, "{}", text(&refused));
        assert!(!text(&refused).contains("Phone"), "{}", text(&refused));
    }
}
