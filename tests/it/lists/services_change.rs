//! Several services are changed at once: by `servicesUpdate`, and on the list of services.

use rollcall::db::Read;
use rollcall::entity::audit;
use rollcall::entity::user::Role;
use sea_orm::{EntityTrait, QueryOrder};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::refusal::{NOT_OWN, rules_alone};
use crate::harness::services::lock;

const UPDATE: &str = "mutation($input: ServicesUpdateInput!) { servicesUpdate(input: $input) {
    services { service { name owner { alias } } outcome changes { field before after } } errors { message path }
} }";

/// A catalogue with two services, of which one has everything that can be set, and the ids of the services.
async fn shop(app: &TestApp) -> [String; 2] {
    let query = r#"mutation {
        core: teamCreate(input: { name: "Core" }) { errors { message } }
        pay: teamCreate(input: { name: "Pay Team" }) { errors { message } }
        till: systemCreate(input: { name: "Till" }) { errors { message } }
        web: systemCreate(input: { name: "Web Shop" }) { errors { message } }
        cart: serviceCreate(input: {
            name: "Cart", ownerInput: { alias: "core" }, tierAlias: "tier_2", lifecycleAlias: "beta", parent: { alias: "web_shop" }
        }) { service { id } errors { message } }
        mail: serviceCreate(input: { name: "Mail" }) { service { id } errors { message } }
        tag: tagAssign(input: { alias: "cart", tags: [{ key: "env", value: "dev" }, { key: "kept", value: "1" }] }) { errors { message } }
    }"#;
    let made = data(app, query).await;
    ["cart", "mail"].map(|name| made[name]["service"]["id"].as_str().expect("an id").to_owned())
}

/// All that can be set.
fn everything(dry_run: bool) -> Value {
    json!({
        "services": [{ "alias": "cart" }, { "alias": "mail" }], "ownerAlias": "pay_team", "tierAlias": "tier_1",
        "lifecycleAlias": "alpha", "parent": { "alias": "till" }, "tags": [{ "key": "env", "value": "prod" }],
        "dryRun": dry_run,
    })
}

async fn update(app: &TestApp, input: Value) -> Value {
    let answer = app.query(UPDATE, json!({ "input": input })).await;
    assert_eq!(answer.get("errors"), None, "{answer}");
    answer["data"]["servicesUpdate"].clone()
}

/// The changes of a service, by field.
fn changes(updated: &Value) -> Value {
    let all = updated["changes"].as_array().expect("changes").iter();
    all.map(|one| (one["field"].as_str().expect("a field").to_owned(), json!([one["before"], one["after"]]))).collect()
}

/// What the services have.
async fn state(app: &TestApp) -> Value {
    let query = "{ account { services { nodes {
        name owner { alias } tier { alias } lifecycle { alias } parent { aliases } tags { nodes { key value } } timestamps { updatedAt }
    } } } }";
    let mut services = data(app, query).await["account"]["services"]["nodes"].take();
    for service in services.as_array_mut().expect("services") {
        if let Some(alias) = service["parent"]["aliases"].get(0).cloned() {
            service["parent"] = json!({ "alias": alias });
        }
    }
    services
}

/// What the audit tells of changes of several services: the name of the service, and its fields.
async fn told(app: &TestApp) -> Vec<(Option<String>, Value)> {
    let rows = app.db.read().all(audit::Entity::find().order_by_asc(audit::Column::Id)).await.expect("entries");
    let entry = |row: audit::Model| {
        let detail: Value = serde_json::from_str(&row.detail).expect("JSON");
        (row.subject_name, detail["changed"].clone())
    };
    rows.into_iter().filter(|row| row.action == "servicesUpdate").map(entry).collect()
}

#[tokio::test]
async fn several_services_change_at_once_and_each_is_audited() {
    let app = TestApp::start().await;
    shop(&app).await;
    let made = update(&app, everything(false)).await;
    assert_eq!(made["errors"], json!([]), "{made}");
    let of_cart = json!({
        "lifecycle": ["beta", "alpha"], "owner": ["core", "pay_team"], "system": ["web_shop", "till"],
        "tags.env": ["dev", "prod"], "tier": ["tier_2", "tier_1"],
    });
    let of_mail = json!({
        "lifecycle": [null, "alpha"], "owner": [null, "pay_team"], "system": [null, "till"], "tags.env": [null, "prod"],
        "tier": [null, "tier_1"],
    });
    for (place, name, expected) in [(0, "Cart", &of_cart), (1, "Mail", &of_mail)] {
        let one = &made["services"][place];
        assert_eq!(one["service"], json!({ "name": name, "owner": { "alias": "pay_team" } }), "{made}");
        assert_eq!((&one["outcome"], &changes(one)), (&json!("updated"), expected), "{made}");
    }
    let state = state(&app).await;
    for (place, tags) in [
        (0, json!([{ "key": "env", "value": "prod" }, { "key": "kept", "value": "1" }])),
        (1, json!([{ "key": "env", "value": "prod" }])),
    ] {
        let one = &state[place];
        let words = ["owner", "tier", "lifecycle", "parent"].map(|field| one[field]["alias"].clone());
        assert_eq!(json!(words), json!(["pay_team", "tier_1", "alpha", "till"]), "{state}");
        assert_eq!(one["tags"]["nodes"], tags, "{state}");
    }
    let in_audit = |changes: &Value| -> Value {
        let pairs = changes.as_object().expect("changes").iter();
        pairs.map(|(field, pair)| (field.clone(), json!({ "old": pair[0], "new": pair[1] }))).collect()
    };
    let expected = [(Some("Cart".to_owned()), in_audit(&of_cart)), (Some("Mail".to_owned()), in_audit(&of_mail))];
    let mut told = told(&app).await;
    told.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_dry_run_says_what_would_change_and_changes_nothing() {
    let app = TestApp::start().await;
    shop(&app).await;
    let before = state(&app).await;
    let mut tried = update(&app, everything(true)).await;
    assert_eq!(state(&app).await, before);
    assert_eq!(told(&app).await, []);
    assert_eq!(tried["services"][0]["service"]["owner"], json!({ "alias": "core" }), "as it is: {tried}");
    let mut made = update(&app, everything(false)).await;
    for answer in [&mut tried, &mut made] {
        for one in answer["services"].as_array_mut().expect("services") {
            one["service"].take();
        }
    }
    assert_eq!(tried, made);
    let again = update(&app, everything(true)).await;
    for place in [0, 1] {
        assert_eq!(again["services"][place]["outcome"], "unchanged", "{again}");
        assert_eq!(again["services"][place]["changes"], json!([]), "{again}");
    }
}

#[tokio::test]
async fn a_service_that_cannot_be_changed_refuses_them_all_and_is_named() {
    let app = TestApp::start().await;
    shop(&app).await;
    let member = Browser::of(&app, Role::TeamMember).await;
    let led = r#"mutation {
        core: teamUpdate(input: { alias: "core", managerEmail: "teammember@example.com" }) { errors { message } }
        mail: serviceUpdate(input: { alias: "mail", ownerAlias: "pay_team" }) { errors { message } }
    }"#;
    data(&app, led).await;
    let before = state(&app).await;
    for dry_run in [true, false] {
        // Only the first of the two is their own team's.
        let input = json!({ "input": everything(dry_run) });
        let refused = member.query(UPDATE, input).await["data"]["servicesUpdate"].clone();
        let errors = json!([{ "message": format!("Mail: {NOT_OWN}"), "path": ["services", "1"] }]);
        assert_eq!(rules_alone(refused), json!({ "services": null, "errors": errors }));
        assert_eq!(state(&app).await, before);
    }
    let own = json!({ "services": [{ "alias": "cart" }], "tierAlias": "tier_1" });
    let made = member.query(UPDATE, json!({ "input": own })).await["data"]["servicesUpdate"].clone();
    assert_eq!((&made["errors"], &made["services"][0]["outcome"]), (&json!([]), &json!("updated")), "{made}");

    lock(&app, "Mail").await;
    let before = state(&app).await;
    for dry_run in [true, false] {
        let refused = update(&app, everything(dry_run)).await;
        let message = "Mail: the service is locked: its service file rollcall.yml governs it; change it there";
        let errors = json!([{ "message": message, "path": ["services", "1"] }]);
        assert_eq!(refused, json!({ "services": null, "errors": errors }));
        assert_eq!(state(&app).await, before);
    }
    let unknown = json!({ "services": [{ "alias": "cart" }, { "alias": "no" }, {}], "tierAlias": "tier_9" });
    let refused = update(&app, unknown).await;
    let paths: Vec<&Value> = refused["errors"].as_array().expect("errors").iter().map(|one| &one["path"]).collect();
    assert_eq!(json!(paths), json!([["tierAlias"], ["services", "1", "alias"], ["services", "2"]]), "{refused}");
    assert_eq!(state(&app).await, before);
}

#[tokio::test]
async fn several_services_are_changed_within_bounds_and_each_once() {
    let app = TestApp::start().await;
    let [cart, _] = shop(&app).await;
    let many = vec![json!({ "alias": "cart" }); 101];
    let tags: Vec<Value> = (0..101).map(|key| json!({ "key": format!("k{key}"), "value": "" })).collect();
    let twice = json!([{ "key": "a", "value": "1" }, { "key": " a", "value": "2" }]);
    let services = json!([{ "alias": "cart" }]);
    let before = state(&app).await;
    for (input, path) in [
        (json!({ "services": [], "tierAlias": "tier_1" }), json!(["services"])),
        (json!({ "services": many, "tierAlias": "tier_1" }), json!(["services"])),
        (json!({ "services": services, "tags": tags }), json!(["tags"])),
        (json!({ "services": services, "tags": twice }), json!(["tags", "1", "key"])),
    ] {
        let refused = update(&app, input).await;
        assert_eq!((&refused["services"], &refused["errors"][0]["path"]), (&Value::Null, &path), "{refused}");
    }
    assert_eq!(state(&app).await, before);
    let named = json!([{ "alias": "cart" }, { "id": cart }, { "alias": "Cart" }]);
    let made = update(&app, json!({ "services": named, "tierAlias": "tier_1" })).await;
    assert_eq!((made["services"].as_array().map(Vec::len), &made["errors"]), (Some(1), &json!([])), "{made}");
    assert_eq!(told(&app).await.len(), 1);
    // As many as may be.
    let create = "mutation($input: ServiceCreateInput!) { serviceCreate(input: $input) { errors { message } } }";
    for number in 0..100 {
        app.query(create, json!({ "input": { "name": format!("svc-{number}") } })).await;
    }
    let named: Vec<Value> = (0..100).rev().map(|number| json!({ "alias": format!("svc_{number}") })).collect();
    let input = json!({ "services": named, "tierAlias": "tier_1", "tags": [{ "key": "a", "value": "b" }] });
    let made = update(&app, input).await;
    assert_eq!((made["services"].as_array().map(Vec::len), &made["errors"]), (Some(100), &json!([])), "{made}");
    assert_eq!(made["services"][0]["service"]["name"], "svc-99", "in the order of the request");
    assert_eq!(told(&app).await.len(), 101);
}

#[tokio::test]
async fn in_a_change_of_several_services_absent_keeps_null_clears_and_a_value_sets() {
    let app = TestApp::start().await;
    shop(&app).await;
    let cart = |field: &str, value: Value| json!({ "services": [{ "alias": "cart" }], field: value });
    for (field, told, old, value) in [
        ("ownerAlias", "owner", "core", json!("pay_team")),
        ("tierAlias", "tier", "tier_2", json!("tier_1")),
        ("lifecycleAlias", "lifecycle", "beta", json!("alpha")),
        ("parent", "system", "web_shop", json!({ "alias": "till" })),
    ] {
        let new = value["alias"].as_str().or(value.as_str()).expect("a name").to_owned();
        let made = update(&app, cart(field, value)).await;
        assert_eq!(changes(&made["services"][0]), json!({ told: [old, new] }), "{made}");
        let made = update(&app, cart(field, Value::Null)).await;
        assert_eq!(changes(&made["services"][0]), json!({ told: [new, null] }), "{made}");
    }
    let before = state(&app).await;
    for input in [
        json!({ "services": [{ "alias": "cart" }] }),
        cart("ownerAlias", Value::Null),
        cart("tags", Value::Null),
        cart("tags", json!([])),
        cart("tags", json!([{ "key": "env", "value": "dev" }])),
        cart("dryRun", Value::Null),
    ] {
        let made = update(&app, input.clone()).await;
        assert_eq!((&made["services"][0]["outcome"], &made["errors"]), (&json!("unchanged"), &json!([])), "{input}");
    }
    assert_eq!(state(&app).await, before, "not even the time of the last change");
}

/// The form of the list, with these services selected.
fn form<'f>(services: &'f [String], fields: &[(&'f str, &'f str)]) -> Vec<(&'f str, &'f str)> {
    let selected = services.iter().map(|id| ("service", id.as_str()));
    selected.chain(fields.iter().copied()).collect()
}

/// The number of services that are selected on a page.
fn selected(page: &str) -> usize {
    let boxes = page.split("<input").filter_map(|input| input.split_once('>')).map(|(input, _)| input);
    boxes.filter(|input| input.contains("name=\"service\"") && input.contains(" checked")).count()
}

#[tokio::test]
async fn the_selected_services_of_the_list_are_changed_after_a_preview() {
    let app = TestApp::start().await;
    let services = shop(&app).await;
    let mut mem = Browser::of(&app, Role::User).await;
    let page = mem.page("/services?sort=name_DESC").await;
    assert_eq!(page.matches("type=\"checkbox\" name=\"service\"").count(), 2, "{page}");
    assert!(page.contains("<span class=\"hidden\">Select Cart</span>"), "{page}");
    assert!(
        page.contains("action=\"/services/change?sort=name_DESC\"") && page.contains(">Preview</button>"),
        "{page}"
    );

    let before = state(&app).await;
    let nothing = mem.post("/services/change", &[("tierAlias", "tier_1")]).await;
    assert!(nothing.status == 422 && nothing.text().contains("Select at least one service"), "{nothing:?}");
    assert!(nothing.text().contains("<option value=\"tier_1\" selected>"), "{nothing:?}");
    let nothing = mem.post("/services/change", &form(&services, &[])).await;
    assert!(nothing.status == 422 && nothing.text().contains("Choose what to change"), "{nothing:?}");
    assert_eq!(selected(nothing.text()), 2, "they stay selected: {nothing:?}");
    for (fields, field) in [
        (&[("ownerAlias", "nobody")][..], "ownerAlias"),
        (&[("ownerAlias", "core"), ("clear", "ownerAlias")], "ownerAlias"),
        (&[("tags.0.value", "x")], "tags.0.key"),
        (&[("tags.0.key", "Bad Key")], "tags.0.key"),
        (&[("parent.alias", "nothing")], "parent.alias"),
    ] {
        let refused = mem.post("/services/change", &form(&services, fields)).await;
        let beside = format!("id=\"wrong-{field}\"");
        assert!(refused.status == 422 && refused.text().contains(&beside), "{fields:?}: {refused:?}");
    }

    let set = [
        ("ownerAlias", "Pay Team"),
        ("tierAlias", "tier_1"),
        ("lifecycleAlias", "alpha"),
        ("parent.alias", "Till"),
        ("tags.0.key", "env"),
        ("tags.0.value", "prod"),
    ];
    let shown = mem.post("/services/change?sort=name_DESC", &form(&services, &set)).await;
    assert_eq!(shown.status, 200, "{shown:?}");
    let page = shown.text();
    for text in [
        "Nothing is saved yet. This changes 2 services.",
        "owner: </span>core → pay_team",
        "tag env: </span>dev → prod",
        "tier: </span><span class=\"soft\">nothing</span> → tier_1",
        ">Change 2 services</button>",
        "name=\"tierAlias\" value=\"tier_1\"",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert_eq!(state(&app).await, before);
    let back =
        mem.post("/services/change?sort=name_DESC", &form(&services, &[&set[..], &[("do", "edit")]].concat())).await;
    assert_eq!((back.status, selected(back.text())), (200, 2), "{back:?}");
    let saved =
        mem.post("/services/change?sort=name_DESC", &form(&services, &[&set[..], &[("do", "save")]].concat())).await;
    assert_eq!(saved.header("location"), Some("/services?sort=name_DESC&done=saved"));
    assert!(mem.page("/services?sort=name_DESC&done=saved").await.contains("<p>Saved.</p>"));
    let after = state(&app).await;
    for place in [0, 1] {
        let words = ["owner", "tier", "lifecycle", "parent"].map(|field| after[place][field]["alias"].clone());
        assert_eq!(json!(words), json!(["pay_team", "tier_1", "alpha", "till"]), "{after}");
    }

    let again = mem.post("/services/change", &form(&services, &set)).await;
    assert!(again.text().contains("The selected services are like this already."), "{again:?}");
    assert!(!again.text().contains("value=\"save\""), "{again:?}");
    let cleared = [
        ("clear", "ownerAlias"),
        ("clear", "parent.alias"),
        ("tierAlias", "(none)"),
        ("lifecycleAlias", "(none)"),
        ("do", "save"),
    ];
    assert_eq!(mem.post("/services/change", &form(&services, &cleared)).await.location(), "/services");
    let after = state(&app).await;
    for place in [0, 1] {
        let words = ["owner", "tier", "lifecycle", "parent"].map(|field| after[place][field].clone());
        assert_eq!(json!(words), json!([null, null, null, null]), "{after}");
    }
}

#[tokio::test]
async fn the_list_offers_to_select_what_the_visitor_may_change() {
    let app = TestApp::start().await;
    let services = shop(&app).await;
    let mut viewer = Browser::of(&app, Role::Viewer).await;
    let mut member = Browser::of(&app, Role::TeamMember).await;
    let boxes = |page: &str| page.matches("type=\"checkbox\" name=\"service\"").count();
    let set = [("tierAlias", "tier_1"), ("do", "save")];
    assert!(!viewer.page("/services").await.contains("Change the selected services"));
    assert_eq!(viewer.post("/services/change", &form(&services, &set)).await.status, 403);
    assert_eq!(boxes(&member.page("/services").await), 0, "of no team");
    let led = r#"mutation { teamUpdate(input: { alias: "core", managerEmail: "teammember@example.com" }) { errors { message } } }"#;
    data(&app, led).await;
    let page = member.page("/services").await;
    assert!(boxes(&page) == 1 && page.contains(">Select Cart<"), "{page}");

    let before = state(&app).await;
    let refused = member.post("/services/change", &form(&services, &set)).await;
    assert!(refused.status == 422 && refused.text().contains(&format!("Mail: {NOT_OWN}")), "{refused:?}");
    assert_eq!(state(&app).await, before);
    let saved = member.post("/services/change", &form(&services[..1], &set)).await;
    assert_eq!(saved.location(), "/services");

    lock(&app, "Cart").await;
    let mut mem = Browser::of(&app, Role::User).await;
    assert_eq!(boxes(&mem.page("/services").await), 1, "a locked service is changed in its file");
    let before = state(&app).await;
    for does in ["", "save"] {
        let set = [("tierAlias", "tier_3"), ("do", does)];
        let refused = mem.post("/services/change", &form(&services, &set)).await;
        assert!(refused.status == 422 && refused.text().contains("Cart: the service is locked"), "{refused:?}");
    }
    assert_eq!(state(&app).await, before);
}
