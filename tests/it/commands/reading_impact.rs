//! `rollcall impact`: what breaks if a service, a system or infrastructure is down.

use rollcall::entity::token::Scope;
use serde_json::{Value, json};

use crate::harness::agent::call;
use crate::harness::app::{TestApp, data};
use crate::harness::desk::Desk;

/// Checkout needs the cart, the web needs checkout; both cart and checkout are of the system Shop, which needs a database.
/// A domain needs the database too.
const MAKE: &str = r#"mutation {
    team: teamCreate(input: { name: "Payments" }) { errors { message } }
    shop: systemCreate(input: { name: "Shop" }) { errors { message } }
    trade: domainCreate(input: { name: "Trade" }) { errors { message } }
    cart: serviceCreate(input: { name: "Cart", parent: { alias: "shop" } }) { errors { message } }
    checkout: serviceCreate(input: { name: "Checkout", ownerAlias: "payments", tierAlias: "tier_1", parent: { alias: "shop" } })
        { errors { message } }
    web: serviceCreate(input: { name: "Web" }) { errors { message } }
    report: serviceCreate(input: { name: "Report" }) { errors { message } }
    calls: serviceOnCallsUpdate(input: { service: { alias: "checkout" }, onCalls: [{ name: "Ada" }, { name: "Jon" }] })
        { errors { message } }
    a: serviceDependencyCreate(inputV2: { dependencyKey: {
        sourceIdentifier: { alias: "checkout" }, destinationIdentifier: { alias: "cart" } } }) { errors { message } }
    b: serviceDependencyCreate(inputV2: { dependencyKey: {
        sourceIdentifier: { alias: "web" }, destinationIdentifier: { alias: "checkout" } } }) { errors { message } }
    base: infrastructureResourceCreate(input: { schema: { type: "Database" }, data: { name: "Orders" } })
        { errors { message } }
    disk: infrastructureResourceCreate(input: { schema: { type: "Queue" }, data: { name: "Disk" } }) { errors { message } }
}"#;

async fn catalogue(app: &TestApp) {
    let made = data(app, MAKE).await;
    for (name, payload) in made.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    let found = data(app, "{ account { infrastructureResources { nodes { id name } } } }").await;
    let nodes = found["account"]["infrastructureResources"]["nodes"].as_array().expect("nodes").clone();
    let id = |name: &str| {
        let node = nodes.iter().find(|node| node["name"] == name).expect("a resource");
        json!({ "id": node["id"] })
    };
    for (source, target) in [
        (json!({ "alias": "shop" }), id("Orders")),
        (json!({ "alias": "report" }), id("Orders")),
        (json!({ "alias": "trade" }), id("Orders")),
        (id("Orders"), id("Disk")),
    ] {
        let tie = "mutation($tie: RelationshipDefinition!) { relationshipCreate(relationshipDefinition: $tie) { errors { message } } }";
        let tied = app.query(tie, json!({ "tie": { "type": "depends_on", "source": source, "target": target } })).await;
        assert_eq!(tied["data"]["relationshipCreate"]["errors"], json!([]), "{tied}");
    }
}

/// The services of rows, each with its distance and what leads to it.
fn reached(rows: &Value) -> Vec<(&str, i64, &str)> {
    let of = |row| -> Option<(&str, i64, &str)> {
        let row: &Value = row;
        Some((
            row["service"]["alias"].as_str()?,
            row["distance"].as_i64()?,
            row["through"].as_str().unwrap_or_default(),
        ))
    };
    rows.as_array().expect("rows").iter().map(|row| of(row).expect("a row")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_impact_is_told_of_services_systems_and_infrastructure() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    let desk = Desk::at(&app, Scope::Read).await;
    let rows = desk.json(&["impact", "service", "cart"]).await;
    assert_eq!(reached(&rows), [("checkout", 1, ""), ("web", 2, "")]);
    assert_eq!(
        (&rows[0]["service"]["owner"]["name"], &rows[0]["onCall"], &rows[0]["service"]["tier"]["name"]),
        (&json!("Payments"), &json!(["Ada", "Jon"]), &json!("Mission Critical")),
        "{rows}"
    );
    let rows = desk.json(&["impact", "Shop"]).await;
    assert_eq!(reached(&rows), [("cart", 0, ""), ("checkout", 0, ""), ("web", 1, "Checkout")]);
    let done = desk.run(&["impact", "infrastructure", "Orders", "-o", "json"]).await;
    assert_eq!(
        (done.status, &*done.err),
        (0, "relationships that are no dependencies of services, systems or infrastructure are left out: 1\n")
    );
    let rows: Value = serde_json::from_str(&done.out).expect("JSON");
    let expected = [("cart", 1, "Shop"), ("checkout", 1, "Shop"), ("report", 1, ""), ("web", 2, "Checkout")];
    let mut found = reached(&rows);
    found.sort_unstable();
    assert_eq!(found, expected, "{rows}");
    let done = desk.run(&["impact", "infrastructure", "Disk", "-o", "json"]).await;
    let rows: Value = serde_json::from_str(&done.out).expect("JSON");
    assert!(reached(&rows).contains(&("report", 2, "Orders")), "{rows}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_impact_is_printed_in_every_form_and_within_its_limit() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    let desk = Desk::at(&app, Scope::Read).await;
    let table = desk.said(&["impact", "cart"]).await;
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["SERVICE", "ALIAS", "DISTANCE", "TIER", "OWNER", "ON", "CALL"]);
    assert!(lines[1].ends_with(&["Payments", "Ada,", "Jon"]) && lines[1].starts_with(&["Checkout", "checkout", "1"]));
    let separated = desk.said(&["impact", "system", "shop", "-o", "csv"]).await;
    assert!(separated.starts_with("service,alias,distance,through,tier,owner,on call\nCart,cart,0,,"), "{separated}");
    for arguments in [&["impact", "cart", "--limit", "1"][..], &["impact", "system", "shop", "--limit", "1"]] {
        let done = desk.run(arguments).await;
        assert_eq!((done.status, done.out.lines().count()), (0, 2), "{arguments:?}: {}", done.out);
        assert_eq!(done.err, "the first 1; --limit shows more\n", "{arguments:?}");
    }
    let done = desk.run(&["impact", "service", "web"]).await;
    assert_eq!((done.status, &*done.err), (0, "no service depends on the service Web\n"));
    for (arguments, sentence) in [
        (
            &["impact", "Payments"][..],
            "rollcall: Payments is a team; a service, a system or infrastructure has an impact\n",
        ),
        (
            &["impact", "service", "chekout"],
            "rollcall: no service is called chekout; similar: service Checkout (checkout)\n",
        ),
        (&["impact", "infrastructure", "Zzzz"], "rollcall: no infrastructure is called Zzzz\n"),
    ] {
        let done = desk.run(arguments).await;
        assert_eq!((done.status, &*done.out, &*done.err), (1, "", sentence), "{arguments:?}");
    }
}

#[tokio::test]
async fn the_tool_says_the_same_as_the_command() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    let token = app.new_token(Scope::Read, None).await;
    let impact = call(&app, &token, "impact", json!({ "service": "Cart" })).await.expect("an answer");
    assert_eq!(impact["edges"][0]["node"]["onCalls"], json!([{ "name": "Ada" }, { "name": "Jon" }]), "{impact}");
    assert_eq!((&impact["edges"][1]["distance"], impact.get("pageInfo")), (&json!(2), None), "{impact}");
}
