//! Dependencies between services, component types, and teams above teams.

use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::services::{depend, many};

async fn services(app: &TestApp) -> Value {
    let query = r#"mutation {
        cart: serviceCreate(input: { name: "Cart" }) { it: service { id } }
        pay: serviceCreate(input: { name: "Pay" }) { it: service { id } }
        mail: serviceCreate(input: { name: "Mail" }) { it: service { id } }
    }"#;
    data(app, query).await
}

const DEPEND: &str = "mutation($key: ServiceDependencyKey!, $notes: String) {
    serviceDependencyCreate(inputV2: { dependencyKey: $key, notes: $notes }) {
        serviceDependency { id sourceService { name } destinationService { name } notes } errors { path message }
    }
}";

#[tokio::test]
async fn a_dependency_is_listed_at_both_ends() {
    let app = TestApp::start().await;
    let ids = services(&app).await;
    let key = json!({ "sourceIdentifier": { "alias": "cart" }, "destination": ids["pay"]["it"]["id"] });
    let made =
        app.query(DEPEND, json!({ "key": key, "notes": "to pay" })).await["data"]["serviceDependencyCreate"].clone();
    let id = made["serviceDependency"]["id"].clone();
    let dependency = json!({ "id": id, "sourceService": { "name": "Cart" }, "destinationService": { "name": "Pay" }, "notes": "to pay" });
    assert_eq!(made, json!({ "serviceDependency": dependency, "errors": [] }));
    let key = json!({
        "source": ids["cart"]["it"]["id"], "destinationIdentifier": { "id": ids["mail"]["it"]["id"] }, "notes": "in the key",
    });
    let made = app.query(DEPEND, json!({ "key": key })).await;
    assert_eq!(made["data"]["serviceDependencyCreate"]["serviceDependency"]["notes"], "in the key");
    // A cycle.
    let key = json!({ "sourceIdentifier": { "alias": "pay" }, "destinationIdentifier": { "alias": "cart" } });
    assert_eq!(app.query(DEPEND, json!({ "key": key })).await["data"]["serviceDependencyCreate"]["errors"], json!([]));

    let query = r#"{ account { service(alias: "cart") {
        dependencies(first: 1) { totalCount nodes { name } edges { id locked notes cursor node { name aliases } } pageInfo { hasNextPage endCursor } }
        dependents { totalCount nodes { name } edges { locked notes node { name } } }
    } } }"#;
    let service = data(&app, query).await["account"]["service"].clone();
    let page = &service["dependencies"];
    assert_eq!(page["nodes"], json!([{ "name": "Pay" }]));
    assert_eq!(page["totalCount"], 2);
    assert_eq!(page["pageInfo"], json!({ "hasNextPage": true, "endCursor": page["edges"][0]["cursor"] }));
    let cursor = &page["edges"][0]["cursor"];
    let node = json!({ "name": "Pay", "aliases": ["pay", "Pay"] });
    let edge = json!({ "id": id, "locked": false, "notes": "to pay", "cursor": cursor, "node": node });
    assert_eq!(page["edges"], json!([edge]));
    let expected = json!({
        "totalCount": 1, "nodes": [{ "name": "Pay" }],
        "edges": [{ "locked": false, "notes": null, "node": { "name": "Pay" } }],
    });
    assert_eq!(service["dependents"], expected);
    let query = "query($after: String) { account { service(alias: \"cart\") { dependencies(after: $after) { edges { node { name } } } } } }";
    let answer = app.query(query, json!({ "after": cursor })).await;
    let edges = &answer["data"]["account"]["service"]["dependencies"]["edges"];
    assert_eq!(*edges, json!([{ "node": { "name": "Mail" } }]));

    let delete = "mutation($id: ID!) { serviceDependencyDelete(input: { id: $id }) { deletedId errors { path } } }";
    let answer = app.query(delete, json!({ "id": id })).await;
    assert_eq!(answer["data"]["serviceDependencyDelete"], json!({ "deletedId": id, "errors": [] }));
    let answer = app.query(delete, json!({ "id": id })).await;
    assert_eq!(answer["data"]["serviceDependencyDelete"]["errors"], json!([{ "path": ["id"] }]));
}

#[tokio::test]
async fn a_service_depends_on_another_once() {
    let app = TestApp::start().await;
    services(&app).await;
    let alias = |name: &str| json!({ "alias": name });
    let refused = async |key: Value| {
        app.query(DEPEND, json!({ "key": key })).await["data"]["serviceDependencyCreate"]["errors"].clone()
    };
    let twice = json!({ "sourceIdentifier": alias("cart"), "destinationIdentifier": alias("pay") });
    assert_eq!(refused(twice.clone()).await, json!([]));
    let base = |message: &str| json!([{ "path": ["base"], "message": message }]);
    assert_eq!(refused(twice).await, base("this dependency already exists"));
    let itself = json!({ "sourceIdentifier": alias("cart"), "destinationIdentifier": alias("Cart") });
    assert_eq!(refused(itself).await, base("a service cannot depend on itself"));
    let gone = json!({ "sourceIdentifier": alias("x"), "destinationIdentifier": alias("y") });
    let expected = json!([
        { "path": ["dependencyKey", "sourceIdentifier", "alias"], "message": "a service with the alias \"x\" does not exist on this account" },
        { "path": ["dependencyKey", "destinationIdentifier", "alias"], "message": "a service with the alias \"y\" does not exist on this account" },
    ]);
    assert_eq!(refused(gone).await, expected);
    let expected = json!([
        { "path": ["dependencyKey"], "message": "exactly one of source and sourceIdentifier must be given" },
        { "path": ["dependencyKey"], "message": "exactly one of destination and destinationIdentifier must be given" },
    ]);
    assert_eq!(refused(json!({})).await, expected);
}

#[tokio::test]
async fn a_dependency_is_deleted_with_either_service() {
    let app = TestApp::start().await;
    services(&app).await;
    for (from, to) in [("cart", "pay"), ("pay", "mail")] {
        let key = json!({ "sourceIdentifier": { "alias": from }, "destinationIdentifier": { "alias": to } });
        assert_eq!(
            app.query(DEPEND, json!({ "key": key })).await["data"]["serviceDependencyCreate"]["errors"],
            json!([])
        );
    }
    data(&app, r#"mutation { serviceDelete(input: { alias: "pay" }) { errors { message } } }"#).await;
    let query = r#"{ account { services { nodes { dependencies { totalCount } dependents { totalCount } } } } }"#;
    let none = json!({ "dependencies": { "totalCount": 0 }, "dependents": { "totalCount": 0 } });
    assert_eq!(data(&app, query).await["account"]["services"]["nodes"], json!([none, none]));
}

#[tokio::test]
async fn every_service_has_a_type() {
    let app = TestApp::start().await;
    services(&app).await;
    let query = r##"mutation {
        made: componentTypeCreate(input: { name: "Data Pipeline", description: "d", icon: { color: "#0a0", name: PhPipe } }) {
            componentType { name aliases description icon { color name } isDefault href timestamps { createdAt updatedAt } } errors { message }
        }
        typed: serviceUpdate(input: { alias: "cart", type: { alias: "data_pipeline" } }) { service { type { name } } errors { message } }
        new: serviceCreate(input: { name: "Lib", type: { alias: "library" } }) { service { type { name } } errors { message } }
        taken: componentTypeCreate(input: { name: "L", alias: "library" }) { errors { path message } }
        bare: componentTypeCreate(input: {}) { errors { path message } }
        color: componentTypeCreate(input: { name: "C", icon: { color: "url(x)", name: PhPipe } }) { errors { path } }
        changed: componentTypeUpdate(componentType: { alias: "data_pipeline" }, input: { alias: "pipeline", icon: null }) {
            componentType { name aliases icon { color name } } errors { message }
        }
        locked: componentTypeDelete(resource: { alias: "service" }) { errors { path message } }
        deleted: componentTypeDelete(resource: { alias: "pipeline" }) { errors { message } }
        gone: componentTypeDelete(resource: { alias: "pipeline" }) { errors { path message } }
    }"##;
    let mut answer = data(&app, query).await;
    let made = &mut answer["made"]["componentType"];
    assert!(made["href"].take().as_str().is_some_and(|href| href.contains("/services")));
    assert!(made["timestamps"].take()["createdAt"].is_string());
    let expected = json!({
        "made": { "componentType": {
            "name": "Data Pipeline", "aliases": ["data_pipeline"], "description": "d",
            "icon": { "color": "#0a0", "name": "PhPipe" }, "isDefault": false, "href": null, "timestamps": null,
        }, "errors": [] },
        "typed": { "service": { "type": { "name": "Data Pipeline" } }, "errors": [] },
        "new": { "service": { "type": { "name": "Library" } }, "errors": [] },
        "taken": { "errors": [{ "path": ["alias"], "message": "another component type has the alias \"library\"" }] },
        "bare": { "errors": [
            { "path": ["name"], "message": "name must not be empty" },
        ] },
        "color": { "errors": [{ "path": ["icon", "color"] }] },
        "changed": { "componentType": {
            "name": "Data Pipeline", "aliases": ["pipeline"], "icon": { "color": null, "name": null },
        }, "errors": [] },
        "locked": { "errors": [{ "path": ["base"], "message": "the default component type cannot be deleted" }] },
        "deleted": { "errors": [] },
        "gone": { "errors": [{ "path": ["resource", "alias"], "message": "a component type with the alias \"pipeline\" does not exist on this account" }] },
    });
    assert_eq!(answer, expected);
    let query = r#"{ account {
        services { nodes { name type { aliases isDefault } } }
        componentType(input: { alias: "library" }) { name }
        nothing: componentType(input: { alias: "no" }) { name }
        componentTypes { totalCount nodes { aliases } }
    } }"#;
    let account = data(&app, query).await["account"].clone();
    let default = json!({ "aliases": ["service"], "isDefault": true });
    let expected = json!([
        { "name": "Cart", "type": default }, { "name": "Pay", "type": default }, { "name": "Mail", "type": default },
        { "name": "Lib", "type": { "aliases": ["library"], "isDefault": false } },
    ]);
    assert_eq!(account["services"]["nodes"], expected);
    assert_eq!((&account["componentType"], &account["nothing"]), (&json!({ "name": "Library" }), &Value::Null));
    assert_eq!(account["componentTypes"]["totalCount"], 6);
}

#[tokio::test]
async fn a_component_type_is_found_by_its_id() {
    let app = TestApp::start().await;
    let found = data(&app, r#"{ account { componentTypes(first: 1) { nodes { id name } } } }"#).await;
    let first = &found["account"]["componentTypes"]["nodes"][0];
    let query = "query($id: ID!) { account { componentType(input: { id: $id }) { id name } } }";
    assert_eq!(app.query(query, json!({ "id": first["id"] })).await["data"]["account"]["componentType"], *first);
}

#[tokio::test]
async fn a_team_can_be_part_of_another_and_never_of_itself() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        a: teamCreate(input: { name: "A" }) { errors { message } }
        b: teamCreate(input: { name: "B", parentTeam: { alias: "a" } }) { team { parentTeam { name } } errors { message } }
        c: teamCreate(input: { name: "C", parentTeam: { alias: "b" } }) { errors { message } }
        itself: teamUpdate(input: { alias: "a", parentTeam: { alias: "a" } }) { errors { path message } }
        circle: teamUpdate(input: { alias: "a", parentTeam: { alias: "c" } }) { errors { path message } }
        gone: teamUpdate(input: { alias: "a", parentTeam: { alias: "x" } }) { errors { path message } }
        free: teamUpdate(input: { alias: "c", parentTeam: null }) { team { parentTeam { name } } errors { message } }
    }"#;
    let circle = "a team cannot be a part of itself, or of one of its parts";
    let expected = json!({
        "a": { "errors": [] },
        "b": { "team": { "parentTeam": { "name": "A" } }, "errors": [] },
        "c": { "errors": [] },
        "itself": { "errors": [{ "path": ["parentTeam"], "message": circle }] },
        "circle": { "errors": [{ "path": ["parentTeam"], "message": circle }] },
        "gone": { "errors": [{ "path": ["parentTeam", "alias"], "message": "a team with the alias \"x\" does not exist on this account" }] },
        "free": { "team": { "parentTeam": null }, "errors": [] },
    });
    assert_eq!(data(&app, query).await, expected);
}

const IMPACT: &str = "query($depth: Int, $first: Int, $after: String) {
    account { services { nodes { name impact(depth: $depth, first: $first, after: $after) {
        totalCount isComplete edges { distance cursor node { name } } nodes { name } pageInfo { hasNextPage endCursor }
    } } } }
}";

#[tokio::test]
async fn the_impact_of_a_service_is_all_that_depends_on_it_by_distance() {
    let app = TestApp::start().await;
    let ids = many(&app, 8).await;
    // A diamond (3 depends on 1 and 2, which depend on 0), a tail, a cycle through 0, and one that nothing depends on.
    let edges = [(1, 0), (2, 0), (3, 1), (3, 2), (4, 3), (5, 4), (6, 5), (0, 5)];
    depend(&app, &edges.map(|(from, to)| (ids[from], ids[to]))).await;
    let of = |answer: &Value, number: usize| answer["data"]["account"]["services"]["nodes"][number]["impact"].clone();
    let found = |impact: &Value| -> Vec<(String, i64)> {
        let edges = impact["edges"].as_array().expect("edges").iter();
        edges
            .map(|edge| {
                (
                    edge["node"]["name"].as_str().expect("a name").to_owned(),
                    edge["distance"].as_i64().expect("a number"),
                )
            })
            .collect()
    };
    let named =
        |all: &[(&str, i64)]| all.iter().map(|(name, distance)| ((*name).to_owned(), *distance)).collect::<Vec<_>>();
    let answer = app.query(IMPACT, json!({})).await;
    let all = [("S1", 1), ("S2", 1), ("S3", 2), ("S4", 3), ("S5", 4), ("S6", 5)];
    let impact = of(&answer, 0);
    assert_eq!(found(&impact), named(&all));
    assert_eq!((&impact["totalCount"], &impact["isComplete"]), (&json!(6), &json!(true)));
    assert_eq!(impact["nodes"][2], json!({ "name": "S3" }));
    assert_eq!(found(&of(&answer, 5)), named(&[("S0", 1), ("S6", 1), ("S1", 2), ("S2", 2), ("S3", 3), ("S4", 4)]));
    assert_eq!(of(&answer, 7)["totalCount"], 0);

    let answer = app.query(IMPACT, json!({ "depth": 2, "first": 2 })).await;
    let impact = of(&answer, 0);
    assert_eq!((found(&impact), &impact["totalCount"]), (named(&all[..2]), &json!(3)));
    assert_eq!(impact["pageInfo"], json!({ "hasNextPage": true, "endCursor": impact["edges"][1]["cursor"] }));
    let answer = app.query(IMPACT, json!({ "depth": 2, "after": impact["pageInfo"]["endCursor"] })).await;
    assert_eq!(found(&of(&answer, 0)), named(&all[2..3]));
    let count = "{ account { services { nodes { impact(first: 0) { totalCount } } } } }";
    assert_eq!(of(&app.query(count, json!({})).await, 0), json!({ "totalCount": 6 }));

    let of_other_list = "{ account { services(first: 1) { pageInfo { endCursor } } } }";
    let cursor =
        app.query(of_other_list, json!({})).await["data"]["account"]["services"]["pageInfo"]["endCursor"].clone();
    let foreign = "`after` is a cursor of another list or order. Use `pageInfo.endCursor` of the previous page.";
    for (arguments, message) in [
        (json!({ "depth": 0 }), "depth must be from 1 to 5"),
        (json!({ "depth": 6 }), "depth must be from 1 to 5"),
        (json!({ "depth": -2147483648_i64 }), "depth must be from 1 to 5"),
        (json!({ "first": -1 }), "first must not be negative"),
        (json!({ "after": cursor }), foreign),
    ] {
        let answer = app.query(IMPACT, arguments.clone()).await;
        assert_eq!(answer["errors"][0]["message"], message, "{arguments}: {answer}");
    }
}

#[tokio::test]
async fn the_search_for_the_impact_stops_at_its_limits() {
    let app = TestApp::start().await;
    let ids = many(&app, 10_002).await;
    let edges: Vec<(i64, i64)> = ids[1..].iter().map(|id| (*id, ids[0])).collect();
    depend(&app, &edges).await;
    let query = "{ account { service(alias: \"s0\") { impact(first: 1) { totalCount isComplete } } } }";
    let impact = data(&app, query).await["account"]["service"]["impact"].clone();
    assert_eq!(impact, json!({ "totalCount": 10_000, "isComplete": false }));

    // 200 services that all depend on each other have 39,800 dependencies.
    let app = TestApp::start().await;
    let ids = many(&app, 200).await;
    let edges = ids.iter().flat_map(|from| ids.iter().filter(move |to| *to != from).map(move |to| (*from, *to)));
    depend(&app, &edges.collect::<Vec<_>>()).await;
    let impact = data(&app, query).await["account"]["service"]["impact"].clone();
    assert_eq!(impact, json!({ "totalCount": 199, "isComplete": false }));
    let query = "{ account { service(alias: \"s0\") { impact(depth: 1) { totalCount isComplete } } } }";
    let impact = data(&app, query).await["account"]["service"]["impact"].clone();
    assert_eq!(impact, json!({ "totalCount": 199, "isComplete": true }));
}

#[tokio::test]
async fn a_dependency_on_a_less_critical_tier_is_marked_at_both_ends() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        Cart: serviceCreate(input: { name: "Cart", tierAlias: "tier_1" }) { errors { message } }
        Mail: serviceCreate(input: { name: "Mail", tierAlias: "tier_3" }) { errors { message } }
        None: serviceCreate(input: { name: "None" }) { errors { message } }
        a: serviceDependencyCreate(inputV2: { dependencyKey: {
            sourceIdentifier: { alias: "cart" }, destinationIdentifier: { alias: "mail" } } }) { errors { message } }
        b: serviceDependencyCreate(inputV2: { dependencyKey: {
            sourceIdentifier: { alias: "mail" }, destinationIdentifier: { alias: "cart" } } }) { errors { message } }
        c: serviceDependencyCreate(inputV2: { dependencyKey: {
            sourceIdentifier: { alias: "cart" }, destinationIdentifier: { alias: "none" } } }) { errors { message } }
    }"#;
    data(&app, query).await;
    let query = r#"{ account { service(alias: "cart") {
        dependencies { edges { onLessCriticalTier node { name } } } dependents { edges { onLessCriticalTier node { name } } }
    } mail: service(alias: "mail") { dependents { edges { onLessCriticalTier } } } } }"#;
    let account = data(&app, query).await["account"].clone();
    let edge = |is_so: bool, name: &str| json!({ "onLessCriticalTier": is_so, "node": { "name": name } });
    assert_eq!(account["service"]["dependencies"]["edges"], json!([edge(true, "Mail"), edge(false, "None")]));
    assert_eq!(account["service"]["dependents"]["edges"], json!([edge(false, "Mail")]));
    assert_eq!(account["mail"]["dependents"]["edges"], json!([{ "onLessCriticalTier": true }]));
}
