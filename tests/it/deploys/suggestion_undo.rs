//! Decisions about suggestions are undone: what acceptance did is taken back, and no deploy is lost.

use rollcall::db::{MOST_AT_ONCE, Read, Write};
use rollcall::entity::user::Role;
use rollcall::entity::{deploy, service, suggestion};
use rollcall::graphql::repository::suggestion_undo::MOST_LEFT;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::code_issues::project;
use crate::harness::integration::custom;
use crate::harness::refusal::{NOT_OWN, rules_alone};
use crate::harness::services::lock;
use crate::harness::webhook::Endpoint;

const UNDO: &str = "mutation($ids: [ID!]!) { serviceSuggestionsUndo(input: { ids: $ids }) {
    serviceSuggestions { alias state acceptance service { name } } errors { message path }
} }";

async fn deployed(endpoint: &Endpoint, service: &str, times: usize) {
    for _ in 0..times {
        assert_eq!(endpoint.post_with(json!({ "service": service })).await.status, 202);
    }
}

/// The id of the suggestion of an alias.
async fn id_of(app: &TestApp, alias: &str) -> String {
    let found = data(app, "{ account { serviceSuggestions { nodes { id alias } } } }").await;
    let nodes = found["account"]["serviceSuggestions"]["nodes"].as_array().expect("nodes").clone();
    let found = nodes.iter().find(|node| node["alias"] == alias).unwrap_or_else(|| panic!("no suggestion of {alias}"));
    found["id"].as_str().expect("an id").to_owned()
}

/// What is known of an alias: its suggestion, and the services of its deploys with the numbers of these.
async fn state(endpoint: &Endpoint, alias: &str) -> Value {
    let all = "{ account { serviceSuggestions { nodes { alias state acceptance service { name } } } } }";
    let mut found = data(&endpoint.app, all).await;
    let nodes = found["account"]["serviceSuggestions"]["nodes"].take();
    let suggestion = nodes.as_array().expect("nodes").iter().find(|node| node["alias"] == alias).cloned();
    let deploys = endpoint.deploys("serviceAlias deployNumber service { name }").await;
    let own = deploys.as_array().expect("deploys").iter().filter(|deploy| deploy["serviceAlias"] == alias);
    let own: Vec<Value> = own.map(|deploy| json!([deploy["deployNumber"], deploy["service"]["name"]])).collect();
    json!({ "suggestion": suggestion, "deploys": own })
}

async fn accept(app: &TestApp, input: Value) {
    let query = "mutation($input: ServiceSuggestionAcceptInput!) {
        serviceSuggestionAccept(input: $input) { errors { message } }
    }";
    let done = app.query(query, json!({ "input": input })).await;
    assert_eq!(done["data"]["serviceSuggestionAccept"]["errors"], json!([]), "{done}");
}

async fn undo(app: &TestApp, ids: &[&str]) -> Value {
    let answer = app.query(UNDO, json!({ "ids": ids })).await;
    assert_eq!(answer.get("errors"), None, "{answer}");
    answer["data"]["serviceSuggestionsUndo"].clone()
}

/// Stores as many more deploys like the only one of an alias, as if they had been recorded with it.
async fn repeat(app: &TestApp, alias: &str, number: u64) {
    let columns = "service_id, service_alias, description, deploy_number, deployed_at, created_at";
    let more = format!(
        "INSERT INTO deploy ({columns}) WITH RECURSIVE numbers (number) AS \
         (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < {number}) \
         SELECT {columns} FROM deploy CROSS JOIN numbers WHERE service_alias = '{alias}'"
    );
    app.db.write(async |tx| tx.script(&more).await).await.expect("deploys");
}

/// How many deploys of an alias have a service, and how many have none.
async fn with_and_without(app: &TestApp, alias: &str) -> [u64; 2] {
    let all = || deploy::Entity::find().filter(deploy::Column::ServiceAlias.eq(alias));
    let with = app.db.read().count(all().filter(deploy::Column::ServiceId.is_not_null())).await;
    let without = app.db.read().count(all().filter(deploy::Column::ServiceId.is_null())).await;
    [with, without].map(|count| count.expect("a count"))
}

/// A suggestion that is open.
fn open(alias: &str) -> Value {
    json!({ "alias": alias, "state": "open", "acceptance": null, "service": null })
}

#[tokio::test]
async fn a_service_that_was_created_is_deleted_and_its_deploys_wait_again() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    deployed(&endpoint, "org/cart", 2).await;
    let before = state(&endpoint, "org/cart").await;
    let id = id_of(app, "org/cart").await;
    for name in [json!(null), json!("The Cart")] {
        accept(app, json!({ "id": id, "name": name })).await;
        let accepted = state(&endpoint, "org/cart").await;
        assert_eq!(accepted["suggestion"]["acceptance"], "created", "{accepted}");
        let undone = undo(app, &[&id]).await;
        assert_eq!(undone, json!({ "serviceSuggestions": [open("org/cart")], "errors": [] }));
        assert_eq!(state(&endpoint, "org/cart").await, before);
        let left = data(app, "{ account { services { nodes { name } } } }").await;
        assert_eq!(left["account"]["services"]["nodes"], json!([{ "name": "shop" }]));
    }
    // The next deploy waits with the others, and gets the next number. All of them go to who gets the name.
    assert!(
        endpoint.post_with(json!({ "service": "org/cart" })).await.body.starts_with(br#"{"result":"no_service_found""#)
    );
    accept(app, json!({ "id": id })).await;
    let deploys = &state(&endpoint, "org/cart").await["deploys"];
    assert_eq!(*deploys, json!([["3", "org/cart"], ["2", "org/cart"], ["1", "org/cart"]]));
    // Open suggestions have no decision to undo.
    let other = Endpoint::start().await;
    deployed(&other, "ledger", 1).await;
    let ledger = id_of(&other.app, "ledger").await;
    let refused = undo(&other.app, &[&ledger]).await;
    let errors = json!([{ "message": "nothing was decided about the suggestion", "path": ["ids", "0"] }]);
    assert_eq!(refused, json!({ "serviceSuggestions": null, "errors": errors }));
}

#[tokio::test]
async fn a_mapped_alias_is_taken_back_with_all_deploys_of_it() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    deployed(&endpoint, "shop", 3).await;
    deployed(&endpoint, "org/shop", 2).await;
    let id = id_of(app, "org/shop").await;
    accept(app, json!({ "id": id, "service": { "alias": "shop" } })).await;
    deployed(&endpoint, "org/shop", 1).await;
    let mapped = state(&endpoint, "org/shop").await;
    assert_eq!(mapped["suggestion"]["acceptance"], "mapped", "{mapped}");
    assert_eq!(mapped["deploys"][0], json!(["4", "shop"]), "{mapped}");

    assert_eq!(undo(app, &[&id]).await["errors"], json!([]));
    let undone = state(&endpoint, "org/shop").await;
    let deploys = json!([["4", null], ["2", null], ["1", null]]);
    assert_eq!(undone, json!({ "suggestion": open("org/shop"), "deploys": deploys }));
    let shop = data(app, r#"{ account { service(alias: "shop") { managedAliases deploys { totalCount } } } }"#).await;
    assert_eq!(shop["account"]["service"], json!({ "managedAliases": [], "deploys": { "totalCount": 3 } }));
    let by_alias = app.query(r#"{ account { service(alias: "org/shop") { name } } }"#, json!({})).await;
    assert_eq!(by_alias["data"]["account"]["service"], Value::Null);
    // No number is given twice.
    deployed(&endpoint, "org/shop", 1).await;
    assert_eq!(state(&endpoint, "org/shop").await["deploys"][0], json!(["5", null]));
    deployed(&endpoint, "shop", 1).await;
    assert_eq!(state(&endpoint, "shop").await["deploys"][0], json!(["5", "shop"]));
}

#[tokio::test]
async fn what_the_service_had_before_it_keeps() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    deployed(&endpoint, "org/shop", 1).await;
    let id = id_of(app, "org/shop").await;
    let shop = data(app, r#"{ account { service(alias: "shop") { id } } }"#).await["account"]["service"]["id"].take();
    let add = "mutation($id: ID!) { aliasCreate(input: { ownerId: $id, alias: \"org/shop\" }) { errors { message } } }";
    app.query(add, json!({ "id": shop })).await;
    accept(app, json!({ "id": id, "service": { "id": shop } })).await;
    let known = state(&endpoint, "org/shop").await;
    assert_eq!(known["suggestion"]["acceptance"], "known", "{known}");
    assert_eq!(undo(app, &[&id]).await["errors"], json!([]));
    let undone = state(&endpoint, "org/shop").await;
    assert_eq!(undone, json!({ "suggestion": open("org/shop"), "deploys": [["1", "shop"]] }));
    let kept = data(app, r#"{ account { service(alias: "org/shop") { managedAliases } } }"#).await;
    assert_eq!(kept["account"]["service"]["managedAliases"], json!(["org/shop"]));
}

#[tokio::test]
async fn a_created_service_to_which_something_was_added_stays_and_is_told_why() {
    for (addition, reason) in [
        (r#"serviceUpdate(input: { alias: "cart", description: "d" })"#, "it was changed since"),
        (r#"tagCreate(input: { alias: "cart", key: "a", value: "b" })"#, "it has tags"),
        (
            r#"toolCreate(input: { serviceAlias: "cart", category: logs, displayName: "L", url: "https://l.example.com" })"#,
            "it has links",
        ),
        (r#"contactCreate(input: { ownerId: "cart", type: email, address: "a@example.com" })"#, "it has contacts"),
        (
            r#"serviceDependencyCreate(inputV2: { dependencyKey: {
                sourceIdentifier: { alias: "shop" }, destinationIdentifier: { alias: "cart" }
            } })"#,
            "it has dependencies",
        ),
        (r#"aliasCreate(input: { ownerId: "cart", alias: "trolley" })"#, "it has the alias \"trolley\""),
    ] {
        let endpoint = Endpoint::start().await;
        let app = &endpoint.app;
        deployed(&endpoint, "cart", 1).await;
        let id = id_of(app, "cart").await;
        accept(app, json!({ "id": id })).await;
        let added = data(app, &format!("mutation {{ it: {addition} {{ errors {{ message }} }} }}")).await;
        assert_eq!(added["it"]["errors"], json!([]), "{addition}");
        let before = state(&endpoint, "cart").await;
        let refused = undo(app, &[&id]).await;
        let message = format!("the service \"cart\" is not deleted again: {reason}");
        assert_eq!(refused["errors"], json!([{ "message": message, "path": ["ids", "0"] }]), "{addition}");
        assert_eq!(state(&endpoint, "cart").await, before, "{addition}");
    }
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    deployed(&endpoint, "cart", 1).await;
    deployed(&endpoint, "org/cart", 1).await;
    let [cart, other] = [id_of(app, "cart").await, id_of(app, "org/cart").await];
    accept(app, json!({ "id": cart })).await;
    deployed(&endpoint, "cart", 1).await;
    let refused = undo(app, &[&cart]).await;
    assert_eq!(refused["errors"][0]["message"], "the service \"cart\" is not deleted again: it was deployed since");
    accept(app, json!({ "id": other, "service": { "alias": "cart" } })).await;
    lock(app, "cart").await;
    for id in [&cart, &other] {
        let refused = undo(app, &[id]).await;
        let message = refused["errors"][0]["message"].as_str().expect("a message");
        assert!(message.starts_with("the service is locked"), "{refused}");
    }
}

#[tokio::test]
async fn several_decisions_are_undone_at_once_all_or_none() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let names = ["cart", "ledger", "org/cart", "quiet"];
    for name in names {
        deployed(&endpoint, name, 1).await;
    }
    let mut ids = Vec::new();
    for name in names {
        ids.push(id_of(app, name).await);
    }
    let [cart, ledger, mapped, quiet] = [&*ids[0], &*ids[1], &*ids[2], &*ids[3]];
    let query = "mutation($ids: [ID!]!, $quiet: [ID!]!) {
        serviceSuggestionsAccept(input: { ids: $ids }) { errors { message } }
        serviceSuggestionsIgnore(input: { ids: $quiet }) { errors { message } }
    }";
    let decide = async || {
        app.query(query, json!({ "ids": [cart, ledger], "quiet": [quiet] })).await;
        accept(app, json!({ "id": mapped, "service": { "alias": "cart" } })).await;
    };
    decide().await;
    // The service that was created for one has another's alias: both at once are undone, one alone is not.
    let refused = undo(app, &[cart]).await;
    let message = "the service \"cart\" is not deleted again: it has the alias \"org/cart\"";
    assert_eq!(refused["errors"][0]["message"], message, "{refused}");
    let undone = undo(app, &[cart, ledger, mapped, quiet]).await;
    assert_eq!(undone, json!({ "serviceSuggestions": names.map(open), "errors": [] }));
    for name in names {
        let expected = json!({ "suggestion": open(name), "deploys": [["1", null]] });
        assert_eq!(state(&endpoint, name).await, expected);
    }

    decide().await;
    data(app, r#"mutation { tagCreate(input: { alias: "ledger", key: "a", value: "" }) { errors { message } } }"#)
        .await;
    let before = [state(&endpoint, "cart").await, state(&endpoint, "quiet").await];
    let refused = undo(app, &[cart, ledger, mapped, quiet]).await;
    let message = "the service \"ledger\" is not deleted again: it has tags";
    assert_eq!(refused["errors"], json!([{ "message": message, "path": ["ids", "1"] }]));
    assert_eq!([state(&endpoint, "cart").await, state(&endpoint, "quiet").await], before, "none is undone");

    for (given, message, path) in [
        (vec![], "ids must name 1 to 100 suggestions", json!(["ids"])),
        (vec![cart; 101], "ids must name 1 to 100 suggestions", json!(["ids"])),
        (vec![cart; 2], "each suggestion can be named once", json!(["ids", "1"])),
        (
            vec!["x"],
            "a suggestion with this id does not exist on this account: \"x\" is not a valid id",
            json!(["ids", "0"]),
        ),
    ] {
        let refused = undo(app, &given).await;
        let errors = json!([{ "message": message, "path": path }]);
        assert_eq!(refused, json!({ "serviceSuggestions": null, "errors": errors }));
    }
}

#[tokio::test]
async fn what_is_refused_leaves_very_many_deploys_where_they_are() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let mut ids = Vec::new();
    for name in ["cart", "ledger"] {
        deployed(&endpoint, name, 1).await;
        ids.push(id_of(app, name).await);
        accept(app, json!({ "id": ids[ids.len() - 1] })).await;
    }
    repeat(app, "cart", MOST_AT_ONCE).await;
    let tag = r#"mutation { tagCreate(input: { alias: "ledger", key: "a", value: "b" }) { errors { message } } }"#;
    data(app, tag).await;
    let refused = undo(app, &[&ids[0], &ids[1]]).await;
    let message = "the service \"ledger\" is not deleted again: it has tags";
    assert_eq!(refused["errors"], json!([{ "message": message, "path": ["ids", "1"] }]));
    assert_eq!(with_and_without(app, "cart").await, [MOST_AT_ONCE + 1, 0], "none has lost its service");
    // Nor do they if the role does not allow it, although the service is the member's.
    let member = Browser::of(app, Role::TeamMember).await;
    let own = r#"mutation {
        team: teamCreate(input: { name: "Own", managerEmail: "teammember@example.com" }) { errors { message } }
    }"#;
    assert_eq!(data(app, own).await["team"]["errors"], json!([]));
    let give = service::Entity::update_many()
        .col_expr(service::Column::OwnerId, Expr::cust("(SELECT MAX(id) FROM team)"))
        .col_expr(service::Column::UpdatedAt, Expr::col(service::Column::UpdatedAt));
    app.db.write(async |db| db.exec(give).await).await.expect("services of the team");
    let refused = member.query(UNDO, json!({ "ids": [ids[0]] })).await;
    let message = &refused["data"]["serviceSuggestionsUndo"]["errors"][0]["message"];
    assert_eq!(rules_alone(message.clone()), NOT_OWN, "{refused}");
    assert_eq!(with_and_without(app, "cart").await, [MOST_AT_ONCE + 1, 0], "none has lost its service");
    assert_eq!(undo(app, &[&ids[0]]).await["errors"], json!([]));
    assert_eq!(with_and_without(app, "cart").await, [0, MOST_AT_ONCE + 1]);
}

#[tokio::test]
async fn mapped_aliases_with_too_many_deploys_together_are_not_taken_back() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let mut ids = Vec::new();
    for name in ["org/shop", "old/shop"] {
        deployed(&endpoint, name, 1).await;
        ids.push(id_of(app, name).await);
        accept(app, json!({ "id": ids[ids.len() - 1], "service": { "alias": "shop" } })).await;
    }
    repeat(app, "org/shop", MOST_LEFT - 1).await;
    let refused = undo(app, &[&ids[0], &ids[1]]).await;
    let message = "mapped aliases have more than 10000 deploys together; undo fewer at once, or remove the alias \
                   \"old/shop\" from the service: its deploys stay there";
    assert_eq!(refused["errors"], json!([{ "message": message, "path": ["ids", "1"] }]));
    assert_eq!(with_and_without(app, "org/shop").await, [MOST_LEFT, 0]);
    assert_eq!(with_and_without(app, "old/shop").await, [1, 0]);
    assert_eq!(undo(app, &[&ids[0]]).await["errors"], json!([]));
    assert_eq!(with_and_without(app, "org/shop").await, [0, MOST_LEFT]);
}

#[tokio::test]
async fn what_cannot_be_taken_back_is_told() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    deployed(&endpoint, "org/shop", 1).await;
    let id = id_of(app, "org/shop").await;
    accept(app, json!({ "id": id, "service": { "alias": "shop" } })).await;
    // Another service has got the alias meanwhile.
    let moved = r#"mutation {
        gone: aliasDelete(input: { ownerType: service, alias: "org/shop" }) { errors { message } }
        made: serviceCreate(input: { name: "org/shop" }) { errors { message } }
    }"#;
    data(app, moved).await;
    let refused = undo(app, &[&id]).await;
    let message = "another service has the alias \"org/shop\" now; it is not taken back";
    assert_eq!(refused["errors"], json!([{ "message": message, "path": ["ids", "0"] }]));
    data(app, r#"mutation { serviceDelete(input: { alias: "org/shop" }) { errors { message } } }"#).await;
    // An earlier version has not noted what acceptance did.
    let older = suggestion::Entity::update_many();
    let older = older.col_expr(suggestion::Column::Acceptance, Expr::value(None::<String>));
    app.db.write(async |db| db.exec(older).await).await.expect("suggestions of an earlier version");
    let refused = undo(app, &[&id]).await;
    let said = refused["errors"][0]["message"].as_str().expect("a message");
    assert!(said.starts_with("an earlier version accepted the suggestion"), "{refused}");
    // Without its service, it is open again.
    data(app, r#"mutation { serviceDelete(input: { alias: "shop" }) { errors { message } } }"#).await;
    assert_eq!(undo(app, &[&id]).await["errors"], json!([]));
    assert_eq!(state(&endpoint, "org/shop").await["suggestion"], open("org/shop"));
}

#[tokio::test]
async fn the_connection_of_a_code_issue_project_is_undone() {
    let app = TestApp::start().await;
    data(&app, r#"mutation { serviceCreate(input: { name: "Shop" }) { errors { message } } }"#).await;
    let scanner = custom(&app, "Scanner").await;
    let project = project(&app, &scanner, "p", "scanned").await;
    let id = id_of(&app, "scanned").await;
    let connected = async || {
        let query = "query($id: ID!) { account { codeIssueProject(id: $id) { resources { totalCount } } } }";
        let answer = app.query(query, json!({ "id": project })).await;
        answer["data"]["account"]["codeIssueProject"]["resources"]["totalCount"].clone()
    };
    for input in [json!({ "id": id, "service": { "alias": "shop" } }), json!({ "id": id })] {
        accept(&app, input).await;
        assert_eq!(connected().await, json!(1));
        assert_eq!(undo(&app, &[&id]).await["errors"], json!([]));
        assert_eq!(connected().await, json!(0));
    }
    let left = data(&app, "{ account { services { totalCount } } }").await;
    assert_eq!(left["account"]["services"]["totalCount"], 1);
}

#[tokio::test]
async fn whoever_may_not_decide_may_not_undo() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    deployed(&endpoint, "cart", 1).await;
    let id = id_of(app, "cart").await;
    accept(app, json!({ "id": id })).await;
    let before = state(&endpoint, "cart").await;
    let member = Browser::of(app, Role::TeamMember).await;
    let refused = member.query(UNDO, json!({ "ids": [id] })).await;
    let message = &refused["data"]["serviceSuggestionsUndo"]["errors"][0]["message"];
    assert_eq!(rules_alone(message.clone()), NOT_OWN, "{refused}");
    let viewer = Browser::of(app, Role::Viewer).await;
    let refused = viewer.query(UNDO, json!({ "ids": [id] })).await;
    assert_eq!(refused["errors"][0]["extensions"]["code"], "FORBIDDEN", "{refused}");
    for browser in [&member, &viewer] {
        assert!(!browser.page("/suggestions?state=accepted").await.contains("value=\"undo\""));
        assert!(!browser.page(&format!("/services/cart?accepted={id}")).await.contains("value=\"undo\""));
    }
    assert_eq!(state(&endpoint, "cart").await, before);
}

#[tokio::test]
async fn one_click_undoes_what_a_form_has_decided() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    for name in ["cart", "ledger", "org/shop", "quiet"] {
        deployed(&endpoint, name, 1).await;
    }
    let mut ids = Vec::new();
    for name in ["cart", "ledger", "org/shop", "quiet"] {
        ids.push(id_of(app, name).await);
    }
    let mut mem = Browser::of(app, Role::User).await;
    // Alone: the page that follows has the button.
    let accepted = mem.post(&format!("/suggestions/{}/create", ids[0]), &[("name", "Cart")]).await;
    assert_eq!(accepted.place(), "/services/cart");
    let page = mem.page(accepted.location()).await;
    assert!(page.contains("The suggestion was accepted.") && page.contains("value=\"undo\">Undo</button>"), "{page}");
    let undone = mem.post("/suggestions", &[("id", &ids[0]), ("what", "undo")]).await;
    assert_eq!(undone.location(), "/suggestions");
    assert_eq!(mem.get("/services/cart").await.status, 404);
    let mapped = mem.post(&format!("/suggestions/{}/map", ids[2]), &[("alias", "shop")]).await;
    assert_eq!(mapped.place(), "/services/shop");
    let page = mem.page("/suggestions?state=accepted").await;
    assert!(page.contains("Undo takes the name from the service.") && page.contains("also those since then"), "{page}");
    mem.post("/suggestions", &[("id", &ids[2]), ("what", "undo")]).await;
    let ignored = mem.post(&format!("/suggestions/{}/ignore", ids[3]), &[]).await;
    assert!(mem.page(ignored.location()).await.contains("1 suggestion ignored."));
    mem.post("/suggestions", &[("id", &ids[3]), ("what", "undo")]).await;

    // All that were accepted at once.
    let both = |what: &'static str| [("id", &*ids[0]), ("id", &*ids[1]), ("what", what)];
    let accepted = mem.post("/suggestions", &both("create")).await;
    let page = mem.page(accepted.location()).await;
    assert!(page.contains("2 services created") && page.contains("value=\"undo\">Undo</button>"), "{page}");
    data(app, r#"mutation { tagCreate(input: { alias: "cart", key: "a", value: "" }) { errors { message } } }"#).await;
    let refused = mem.post("/suggestions", &both("undo")).await;
    let reason = "the service &quot;cart&quot; is not deleted again: it has tags";
    assert!(refused.status == 422 && refused.text().contains(reason), "{refused:?}");
    let tags = data(app, r#"{ account { service(alias: "cart") { tags { nodes { id } } } } }"#).await;
    let tag = tags["account"]["service"]["tags"]["nodes"][0]["id"].clone();
    app.query("mutation($id: ID!) { tagDelete(input: { id: $id }) { errors { message } } }", json!({ "id": tag }))
        .await;
    assert_eq!(mem.post("/suggestions", &both("undo")).await.location(), "/suggestions");
    let open = mem.page("/suggestions").await;
    assert_eq!(open.matches("type=\"checkbox\" name=\"id\"").count(), 4, "{open}");
}
