//! Changes are reverted from the audit: what comes back, what stands in the way, and who may do so.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use rollcall::db::{Read, Write};
use rollcall::entity::audit::{Column, Entity, Model};
use rollcall::entity::change::kept;
use rollcall::entity::user::Role;
use rollcall::graphql::field::id::Id;
use rollcall::transfer;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::refusal::{NOT_OWN, rules_alone};
use crate::harness::services::lock;

const REVERT: &str = "mutation($id: ID!, $dryRun: Boolean) { changeRevert(input: { id: $id, dryRun: $dryRun }) {
    summary fields { field before after } errors { message path }
} }";

/// A catalogue with two of each noun and a part of each kind, and the ids of all of it.
async fn shop(app: &TestApp) -> BTreeMap<String, String> {
    let nouns = r#"
        ada: userInvite(email: "ada@example.com", input: { name: "Ada" }) { it: user { id } errors { message } }
        bob: userInvite(email: "bob@example.com", input: { name: "Bob" }) { it: user { id } errors { message } }
        core: teamCreate(input: { name: "Core", responsibilities: "All of it", managerEmail: "ada@example.com" }) {
            it: team { id } errors { message }
        }
        pay: teamCreate(input: { name: "Pay" }) { it: team { id } errors { message } }
        till: systemCreate(input: { name: "Till", description: "d", note: "n" }) { it: system { id } errors { message } }
        web: systemCreate(input: { name: "Web" }) { it: system { id } errors { message } }
        trade: domainCreate(input: { name: "Trade", description: "d", note: "n" }) { it: domain { id } errors { message } }
        money: domainCreate(input: { name: "Money" }) { it: domain { id } errors { message } }
        cart: serviceCreate(input: {
            name: "Cart", description: "Holds goods", ownerInput: { alias: "core" }, tierAlias: "tier_2", lifecycleAlias: "beta",
            parent: { alias: "till" }
        }) { it: service { id } errors { message } }
        mail: serviceCreate(input: { name: "Mail" }) { it: service { id } errors { message } }
        repo: repositoryCreate(input: { name: "org/cart" }) { it: repository { id } errors { message } }
        zone: propertyDefinitionCreate(input: { name: "Zone", schema: { type: "string" } }) { it: definition { id } errors { message } }
    "#;
    let parts = r##"
        link: toolCreate(input: {
            serviceId: <cart>, category: runbooks, displayName: "Runbook", url: "https://wiki.example.com/cart", environment: "prod"
        }) { it: tool { id } errors { message } }
        mailbox: contactCreate(input: { ownerId: <cart>, type: email, address: "cart@example.com", displayName: "Mail" }) {
            it: contact { id } errors { message }
        }
        chat: contactCreate(input: { ownerId: <core>, type: slack, address: "#core" }) { it: contact { id } errors { message } }
        tag: tagCreate(input: { id: <cart>, key: "env", value: "dev" }) { it: tag { id } errors { message } }
        teamTag: tagCreate(input: { id: <core>, key: "site", value: "north" }) { it: tag { id } errors { message } }
        needs: serviceDependencyCreate(inputV2: {
            dependencyKey: { sourceIdentifier: { alias: "cart" }, destinationIdentifier: { alias: "mail" } }, notes: "sends"
        }) { it: serviceDependency { id } errors { message } }
        code: serviceRepositoryCreate(input: {
            service: { id: <cart> }, repository: { id: <repo> }, baseDirectory: "src", displayName: "Code"
        }) { it: serviceRepository { id } errors { message } }
        zoned: propertyAssign(input: { owner: { id: <cart> }, definition: { alias: "zone" }, value: "\"eu\"" }) {
            it: property { id } errors { message }
        }
        member: teamMembershipCreate(input: { teamId: <core>, members: [{ user: { id: <ada> }, role: "lead" }] }) {
            errors { message }
        }
        trolley: aliasCreate(input: { ownerId: <cart>, alias: "trolley" }) { errors { message } }
    "##;
    let mut ids = BTreeMap::new();
    for mutations in [nouns, parts] {
        let made = data(app, &format!("mutation {{ {} }}", filled(mutations, &ids))).await;
        for (name, payload) in made.as_object().expect("data") {
            assert_eq!(payload["errors"], json!([]), "{name}");
            if let Some(id) = payload["it"]["id"].as_str() {
                ids.insert(name.clone(), id.to_owned());
            }
        }
    }
    ids
}

/// The text of mutations with the ids of what it names in angle brackets.
fn filled(text: &str, ids: &BTreeMap<String, String>) -> String {
    ids.iter().fold(text.to_owned(), |text, (name, id)| text.replace(&format!("<{name}>"), &format!("\"{id}\"")))
}

/// Runs a mutation, which must succeed.
async fn run(app: &TestApp, mutation: &str) {
    let done = data(app, &format!("mutation {{ it: {mutation} {{ errors {{ message path }} }} }}")).await;
    assert_eq!(done["it"]["errors"], json!([]), "{mutation}");
}

/// The rows that a revert knows, by table: without their ids and times, and without the aliases that follow from names.
async fn rows(app: &TestApp) -> BTreeMap<String, Vec<String>> {
    let mut lines = Vec::new();
    transfer::export(&app.db, &mut lines).await.expect("an export");
    let mut rows = BTreeMap::<String, Vec<String>>::new();
    for line in String::from_utf8(lines).expect("text").lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        for (table, row) in line.as_object().expect("a row") {
            let is_derived = table.ends_with("_alias") && row["kind"] != "managed";
            if kept::table(table).is_none() || is_derived {
                continue;
            }
            let mut row = row.as_object().expect("a row").clone();
            row.retain(|column, _| !["id", "created_at", "updated_at"].contains(&column.as_str()));
            rows.entry(table.clone()).or_default().push(Value::from(row).to_string());
        }
    }
    rows.values_mut().for_each(|rows| rows.sort());
    rows
}

/// The newest entry of the audit about a thing of a class.
async fn newest(app: &TestApp, class: &str) -> Model {
    let entries = Entity::find().filter(Column::SubjectClass.eq(class)).order_by_desc(Column::Id).limit(1);
    app.db.read().one(entries).await.expect("the audit").unwrap_or_else(|| panic!("no entry about a {class}"))
}

fn id_of(entry: &Model) -> String {
    Id::new::<Entity>(entry.id).text()
}

async fn revert(app: &TestApp, entry: &Model, dry_run: bool) -> Value {
    let answer = app.query(REVERT, json!({ "id": id_of(entry), "dryRun": dry_run })).await;
    assert_eq!(answer.get("errors"), None, "{answer}");
    answer["data"]["changeRevert"].clone()
}

/// The class of what a mutation changes, and the mutation. Those that delete a part come after the others that name it.
const CHANGES: &[(&str, &str)] = &[
    (
        "Service",
        r#"serviceUpdate(input: {
            id: <cart>, name: "Basket", description: null, language: "Go", framework: "gin", product: "Shop", note: "**n**",
            tierAlias: "tier_1", lifecycleAlias: null, ownerInput: { alias: "pay" }, parent: { alias: "web" }
        })"#,
    ),
    ("Service", r#"serviceUpdate(input: { id: <cart>, ownerInput: null, parent: null, tierAlias: null })"#),
    (
        "Service",
        r#"serviceApiDocSettingsUpdate(service: { id: <cart> }, apiDocumentPath: "api.yml", preferredApiDocumentSource: PUSH)"#,
    ),
    (
        "Service",
        r#"servicesUpdate(input: {
            services: [{ id: <cart> }], tierAlias: "tier_3", tags: [{ key: "env", value: "prod" }, { key: "lane", value: "web" }]
        })"#,
    ),
    (
        "Team",
        r#"teamUpdate(input: {
            id: <core>, name: "Kernel", responsibilities: null, managerEmail: "bob@example.com", parentTeam: { alias: "pay" }
        })"#,
    ),
    (
        "System",
        r#"systemUpdate(system: { id: <till> }, input: {
            name: "Counter", description: null, note: "m", ownerId: <pay>, parent: { alias: "money" }
        })"#,
    ),
    (
        "Domain",
        r#"domainUpdate(domain: { id: <trade> }, input: { name: "Commerce", description: "e", note: null, ownerId: <core> })"#,
    ),
    (
        "Tool",
        r#"toolCreate(input: { serviceId: <mail>, category: logs, displayName: "Logs", url: "https://logs.example.com" })"#,
    ),
    (
        "Tool",
        r#"toolUpdate(input: {
            id: <link>, category: logs, displayName: "Logs", url: "https://logs.example.com", environment: null
        })"#,
    ),
    ("Tool", "toolDelete(input: { id: <link> })"),
    ("Contact", r#"contactCreate(input: { ownerId: <cart>, type: email, address: "ops@example.com" })"#),
    (
        "Contact",
        r#"contactUpdate(input: { id: <mailbox>, type: web, address: "https://cart.example.com", displayName: null })"#,
    ),
    ("Contact", "contactDelete(input: { id: <mailbox> })"),
    ("Contact", r##"contactUpdate(input: { id: <chat>, address: "#kernel", displayType: "Chat", externalId: "7" })"##),
    ("Contact", "contactDelete(input: { id: <chat> })"),
    ("Service", r#"tagCreate(input: { id: <cart>, key: "lane", value: "" })"#),
    ("Service", r#"tagUpdate(input: { id: <tag>, value: "prod" })"#),
    ("Service", r#"tagUpdate(input: { id: <tag>, key: "stage", value: "live" })"#),
    ("Service", "tagDelete(input: { id: <tag> })"),
    ("Team", r#"tagUpdate(input: { id: <teamTag>, key: "place" })"#),
    ("Team", "tagDelete(input: { id: <teamTag> })"),
    ("System", r#"tagCreate(input: { id: <till>, key: "lane", value: "web" })"#),
    ("Domain", r#"tagCreate(input: { id: <trade>, key: "lane", value: "web" })"#),
    ("Property", r#"propertyAssign(input: { owner: { id: <mail> }, definition: { id: <zone> }, value: "\"us\"" })"#),
    ("Property", r#"propertyAssign(input: { owner: { id: <cart> }, definition: { id: <zone> }, value: "\"us\"" })"#),
    ("Property", "propertyUnassign(owner: { id: <cart> }, definition: { id: <zone> })"),
    (
        "ServiceDependency",
        "serviceDependencyCreate(inputV2: { dependencyKey: { sourceIdentifier: { id: <mail> }, destinationIdentifier: { id: <cart> } } })",
    ),
    ("ServiceDependency", "serviceDependencyDelete(input: { id: <needs> })"),
    ("ServiceRepository", "serviceRepositoryCreate(input: { service: { id: <mail> }, repository: { id: <repo> } })"),
    (
        "ServiceRepository",
        r#"serviceRepositoryUpdate(input: { id: <code>, baseDirectory: null, displayName: "The code" })"#,
    ),
    ("ServiceRepository", "serviceRepositoryDelete(input: { id: <code> })"),
    ("Team", r#"teamMembershipCreate(input: { teamId: <core>, members: [{ user: { id: <bob> }, role: "dev" }] })"#),
    ("Team", "teamMembershipCreate(input: { teamId: <core>, members: [{ user: { id: <ada> }, role: null }] })"),
    ("Team", r#"teamUpdate(input: { id: <core>, responsibilities: "Less", members: [{ user: { id: <bob> } }] })"#),
    ("Team", "teamMembershipDelete(input: { teamId: <core>, members: [{ user: { id: <ada> } }] })"),
    ("Service", r#"aliasCreate(input: { ownerId: <cart>, alias: "pram" })"#),
    ("Service", r#"aliasDelete(input: { ownerType: service, alias: "trolley" })"#),
    ("Team", r#"aliasCreate(input: { ownerId: <core>, alias: "nucleus" })"#),
    ("System", r#"aliasCreate(input: { ownerId: <till>, alias: "counters" })"#),
    ("Domain", r#"aliasCreate(input: { ownerId: <trade>, alias: "business" })"#),
];

#[tokio::test]
async fn each_kind_of_change_is_reverted_and_so_is_its_revert() {
    let app = TestApp::start().await;
    let ids = shop(&app).await;
    for (class, mutation) in CHANGES {
        let before = rows(&app).await;
        run(&app, &filled(mutation, &ids)).await;
        let after = rows(&app).await;
        assert_ne!(before, after, "{mutation}");
        let entry = newest(&app, class).await;

        let tried = revert(&app, &entry, true).await;
        assert_eq!(tried["errors"], json!([]), "{mutation}: {tried}");
        let summary = tried["summary"].as_str().expect("a summary");
        assert!(summary.ends_with('.') && summary.len() > 10, "{mutation}: {summary}");
        let fields = tried["fields"].as_array().expect("fields");
        assert!(!fields.is_empty() && fields.iter().all(|one| one["before"] != one["after"]), "{mutation}: {tried}");
        assert_eq!(rows(&app).await, after, "a dry run changes nothing: {mutation}");
        assert_eq!(newest(&app, class).await, entry, "nor does the audit have it: {mutation}");

        let made = revert(&app, &entry, false).await;
        assert_eq!(made, tried, "the dry run said so: {mutation}");
        assert_eq!(rows(&app).await, before, "{mutation}");
        let reverted = newest(&app, class).await;
        let detail: Value = serde_json::from_str(&reverted.detail).expect("JSON");
        assert_eq!((&*reverted.action, &detail["input"]["id"]), ("changeRevert", &json!(id_of(&entry))), "{mutation}");

        let back = revert(&app, &reverted, false).await;
        assert_eq!(back["errors"], json!([]), "the revert of a revert: {mutation}");
        let swapped = |one: &Value| json!([one["field"], one["after"], one["before"]]).to_string();
        let mut expected: Vec<String> = fields.iter().map(swapped).collect();
        let told = back["fields"].as_array().expect("fields").iter();
        let mut told: Vec<String> =
            told.map(|one| json!([one["field"], one["before"], one["after"]]).to_string()).collect();
        expected.sort();
        told.sort();
        assert_eq!(told, expected, "it names the same values the other way round: {mutation}");
        assert_eq!(rows(&app).await, after, "{mutation}");
        let again = newest(&app, class).await;
        assert_eq!(revert(&app, &again, false).await["errors"], json!([]), "{mutation}");
        assert_eq!(rows(&app).await, before, "{mutation}");
    }
}

#[tokio::test]
async fn a_revert_says_what_it_does_field_by_field() {
    let app = TestApp::start().await;
    let ids = shop(&app).await;
    let field = |field: &str, before: Value, after: Value| json!({ "field": field, "before": before, "after": after });
    let owner = r#"serviceUpdate(input: { id: <cart>, description: "x", ownerInput: null })"#;
    run(&app, &filled(owner, &ids)).await;
    let told = revert(&app, &newest(&app, "Service").await, true).await;
    assert_eq!(told["summary"], "2 fields get their values from before the change.");
    let expected = [field("description", json!("x"), json!("Holds goods")), field("owner", json!(null), json!("core"))];
    assert_eq!(told["fields"], json!(expected));

    run(&app, &filled("toolDelete(input: { id: <link> })", &ids)).await;
    let told = revert(&app, &newest(&app, "Tool").await, true).await;
    assert_eq!(told["summary"], "The link Runbook is made again, with a new id.");
    let names: Vec<&Value> = told["fields"].as_array().expect("fields").iter().map(|one| &one["field"]).collect();
    assert_eq!(json!(names), json!(["category", "displayName", "environment", "url"]), "{told}");

    run(&app, &filled(r#"tagUpdate(input: { id: <tag>, key: "stage", value: "live" })"#, &ids)).await;
    let told = revert(&app, &newest(&app, "Service").await, true).await;
    let expected = [field("tags.stage", json!("live"), json!(null)), field("tags.env", json!(null), json!("dev"))];
    assert_eq!(told["fields"], json!(expected));

    run(&app, &filled(r#"tagUpdate(input: { id: <teamTag>, key: "place" })"#, &ids)).await;
    let told = revert(&app, &newest(&app, "Team").await, true).await;
    let expected = [field("tags.place", json!("north"), json!(null)), field("tags.site", json!(null), json!("north"))];
    assert_eq!(told["fields"], json!(expected));

    let join = r#"teamMembershipCreate(input: { teamId: <core>, members: [{ user: { id: <bob> }, role: "dev" }] })"#;
    run(&app, &filled(join, &ids)).await;
    let told = revert(&app, &newest(&app, "Team").await, true).await;
    assert_eq!(told["fields"], json!([field("members", json!("bob@example.com (dev)"), json!(null))]));
    assert_eq!(told["summary"], "The membership bob@example.com is removed.");
}

#[tokio::test]
async fn what_was_changed_since_stands_in_the_way_of_all_of_it() {
    let app = TestApp::start().await;
    let ids = shop(&app).await;
    let run = async |mutation: &str| run(&app, &filled(mutation, &ids)).await;
    run(r#"serviceUpdate(input: { id: <cart>, description: "b", language: "Go" })"#).await;
    let entry = newest(&app, "Service").await;
    run(r#"serviceUpdate(input: { id: <cart>, description: "c" })"#).await;
    let before = rows(&app).await;
    let refusal = json!([{ "message": "description was changed since, by a test", "path": ["description"] }]);
    let tried = revert(&app, &entry, true).await;
    assert_eq!(tried["errors"], refusal);
    assert_eq!(tried["fields"].as_array().map(Vec::len), Some(2), "{tried}");
    assert_eq!(tried["summary"], Value::Null, "it says nothing of what would not be done");
    let refused = revert(&app, &entry, false).await;
    assert_eq!(refused, json!({ "summary": null, "fields": null, "errors": refusal }));
    assert_eq!(rows(&app).await, before, "not even the language");

    // Once the later change is reverted, nothing stands in the way of the earlier one. Twice is refused.
    let later = newest(&app, "Service").await;
    assert_eq!(revert(&app, &later, false).await["errors"], json!([]));
    assert_eq!(revert(&app, &entry, false).await["errors"], json!([]));
    let again = revert(&app, &entry, false).await;
    let message = "description is as it was before the change already, by a test";
    assert_eq!(again["errors"][0], json!({ "message": message, "path": ["description"] }), "{again}");

    // What was made and is gone, or has another value.
    run(r#"tagCreate(input: { id: <cart>, key: "lane", value: "web" })"#).await;
    let made = newest(&app, "Service").await;
    run(r#"tagAssign(input: { alias: "cart", tags: [{ key: "lane", value: "app" }] })"#).await;
    let refused = revert(&app, &made, false).await;
    let expected = json!([{ "message": "tags.lane was changed since, by a test", "path": ["tags.lane"] }]);
    assert_eq!(refused["errors"], expected);
    run("toolDelete(input: { id: <link> })").await;
    let deleted = newest(&app, "Tool").await;
    let made = app.db.read().all(Entity::find().filter(Column::Action.eq("toolCreate"))).await.expect("entries");
    let refused = revert(&app, &made[0], false).await;
    assert_eq!(refused["errors"][0]["message"], "the link is gone, by a test", "{refused}");
    // What was deleted, and whose place is taken.
    run(r#"propertyUnassign(owner: { id: <cart> }, definition: { alias: "zone" })"#).await;
    run("serviceDependencyDelete(input: { id: <needs> })").await;
    let gone = newest(&app, "ServiceDependency").await;
    run("serviceDependencyCreate(inputV2: { dependencyKey: { sourceIdentifier: { id: <cart> }, destinationIdentifier: { id: <mail> } } })")
        .await;
    for dry_run in [true, false] {
        let refused = revert(&app, &gone, dry_run).await;
        assert_eq!(refused["errors"][0]["message"], "this dependency already exists", "{refused}");
    }
    // With the whole service, its parts cannot come back.
    run("serviceDelete(input: { id: <cart> })").await;
    let refused = revert(&app, &deleted, false).await;
    assert_eq!(refused["errors"], json!([{ "message": "the service no longer exists", "path": ["base"] }]));
}

#[tokio::test]
async fn of_several_who_revert_one_change_at_once_one_wins() {
    let app = TestApp::start().await;
    let ids = shop(&app).await;
    run(&app, &filled(r#"serviceUpdate(input: { id: <cart>, description: "b" })"#, &ids)).await;
    let entry = newest(&app, "Service").await;
    let answers = join_all((0..8).map(|_| revert(&app, &entry, false))).await;
    let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer["errors"] == json!([]));
    assert_eq!(won.len(), 1, "{lost:?}");
    for refused in lost {
        let message = refused["errors"][0]["message"].as_str().expect("a message");
        assert!(message.starts_with("description is as it was before the change already"), "{refused}");
    }
    let reverts = Entity::find().filter(Column::Action.eq("changeRevert"));
    assert_eq!(app.db.read().all(reverts).await.expect("entries").len(), 1);
}

/// The message and the path of the only error.
fn only_error(refused: &Value) -> (&str, &Value) {
    assert_eq!(refused["errors"].as_array().map(Vec::len), Some(1), "{refused}");
    (refused["errors"][0]["message"].as_str().expect("a message"), &refused["errors"][0]["path"])
}

#[tokio::test]
async fn what_took_the_place_of_what_was_deleted_is_not_overwritten() {
    let app = TestApp::start().await;
    let ids = shop(&app).await;
    let run = async |mutation: &str| run(&app, &filled(mutation, &ids)).await;
    run("propertyUnassign(owner: { id: <cart> }, definition: { id: <zone> })").await;
    let property = newest(&app, "Property").await;
    run(r#"propertyAssign(input: { owner: { id: <cart> }, definition: { id: <zone> }, value: "\"us\"" })"#).await;
    run("teamMembershipDelete(input: { teamId: <core>, members: [{ user: { id: <ada> } }] })").await;
    let membership = newest(&app, "Team").await;
    run(r#"teamMembershipCreate(input: { teamId: <core>, members: [{ user: { id: <ada> }, role: "dev" }] })"#).await;
    let before = rows(&app).await;
    for dry_run in [true, false] {
        let refused = revert(&app, &property, dry_run).await;
        assert_eq!(only_error(&refused), ("the property zone exists already", &json!(["value"])));
        let refused = revert(&app, &membership, dry_run).await;
        assert_eq!(only_error(&refused), ("the membership ada@example.com exists already", &json!(["members"])));
        assert_eq!(rows(&app).await, before);
    }
    // Once it is gone, nothing stands in the way.
    run("propertyUnassign(owner: { id: <cart> }, definition: { id: <zone> })").await;
    assert_eq!(revert(&app, &property, false).await["errors"], json!([]));
}

#[tokio::test]
async fn what_was_deleted_is_made_again_once_however_often_and_by_how_many_it_is_reverted() {
    let app = TestApp::start().await;
    let ids = shop(&app).await;
    for (class, mutation, message) in [
        ("Tool", "toolDelete(input: { id: <link> })", "the link Runbook exists already"),
        ("Contact", "contactDelete(input: { id: <mailbox> })", "the contact cart@example.com exists already"),
        ("Contact", "contactDelete(input: { id: <chat> })", "the contact #core exists already"),
    ] {
        let before = rows(&app).await;
        run(&app, &filled(mutation, &ids)).await;
        let entry = newest(&app, class).await;
        let answers = join_all((0..8).map(|_| revert(&app, &entry, false))).await;
        let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer["errors"] == json!([]));
        assert_eq!(won.len(), 1, "{lost:?}");
        for refused in lost {
            assert_eq!(only_error(&refused), (message, &json!(["base"])));
        }
        assert_eq!(rows(&app).await, before, "{mutation}");
        for dry_run in [true, false] {
            assert_eq!(only_error(&revert(&app, &entry, dry_run).await).0, message);
        }
        assert_eq!(rows(&app).await, before, "{mutation}");
    }
}

#[tokio::test]
async fn a_contact_that_is_made_again_leaves_the_default_to_the_one_that_has_it() {
    let app = TestApp::start().await;
    let ids = shop(&app).await;
    let other = r#"contactCreate(input: { ownerId: <cart>, type: email, address: "ops@example.com" })"#;
    run(&app, &filled(other, &ids)).await;
    run(&app, &filled("contactDelete(input: { id: <mailbox> })", &ids)).await;
    // The default was deleted, and another has become it: the newest entry may be about either.
    let entries = Entity::find().filter(Column::Action.eq("contactDelete"));
    let entries = app.db.read().all(entries).await.expect("entries");
    let mailbox = rollcall::graphql::field::id::decode(&ids["mailbox"]).expect("an id").1;
    let deleted = entries.iter().find(|entry| entry.subject_id == Some(mailbox)).expect("the entry of the contact");
    let tried = revert(&app, deleted, true).await;
    let sentence =
        "The contact cart@example.com is made again, with a new id; the default stays the one that it is now.";
    assert_eq!((&tried["summary"], &tried["errors"]), (&json!(sentence), &json!([])));
    let expected = json!({ "field": "isDefault", "before": null, "after": "false" });
    assert!(tried["fields"].as_array().expect("fields").contains(&expected), "{tried}");
    assert_eq!(revert(&app, deleted, false).await, tried);
    let contacts = rows(&app).await.remove("contact").expect("contacts");
    let is_default = |address: &str| {
        let row = contacts.iter().find(|row| row.contains(address)).expect("a contact");
        serde_json::from_str::<Value>(row).expect("JSON")["is_default"] == json!(true)
    };
    assert_eq!((is_default("cart@example.com"), is_default("ops@example.com")), (false, true), "{contacts:?}");
}

#[tokio::test]
async fn whoever_may_not_change_a_row_may_not_revert_its_change() {
    let app = TestApp::start().await;
    let ids = shop(&app).await;
    let member = Browser::of(&app, Role::TeamMember).await;
    let viewer = Browser::of(&app, Role::Viewer).await;
    run(&app, &filled("toolDelete(input: { id: <link> })", &ids)).await;
    let tool = newest(&app, "Tool").await;
    run(&app, &filled(r#"serviceUpdate(input: { id: <cart>, description: "b" })"#, &ids)).await;
    let service = newest(&app, "Service").await;
    let before = rows(&app).await;
    for (entry, dry_run) in [(&tool, true), (&tool, false), (&service, true), (&service, false)] {
        let arguments = json!({ "id": id_of(entry), "dryRun": dry_run });
        let refused = member.query(REVERT, arguments.clone()).await;
        let errors = json!([{ "message": NOT_OWN, "path": ["base"] }]);
        let told = rules_alone(refused["data"]["changeRevert"]["errors"].clone());
        assert_eq!(told, errors, "{refused}");
        let refused = viewer.query(REVERT, arguments).await;
        assert_eq!(refused["errors"][0]["extensions"]["code"], "FORBIDDEN", "{refused}");
        assert_eq!(rows(&app).await, before);
    }
    run(&app, &filled(r#"teamUpdate(input: { id: <core>, managerEmail: "teammember@example.com" })"#, &ids)).await;
    for entry in [&tool, &service] {
        let done = member.query(REVERT, json!({ "id": id_of(entry) })).await;
        assert_eq!(done["data"]["changeRevert"]["errors"], json!([]), "{done}");
    }
    // The owner from before counts: who has lost a service cannot take it back.
    run(&app, &filled(r#"serviceUpdate(input: { id: <cart>, ownerInput: { alias: "pay" } })"#, &ids)).await;
    let lost = newest(&app, "Service").await;
    let refused = member.query(REVERT, json!({ "id": id_of(&lost) })).await;
    let told = rules_alone(refused["data"]["changeRevert"]["errors"][0]["message"].clone());
    assert_eq!(told, NOT_OWN, "{refused}");
}

#[tokio::test]
async fn a_lock_and_what_is_gone_stand_in_the_way_by_name() {
    let app = TestApp::start().await;
    let ids = shop(&app).await;
    run(&app, &filled(r#"serviceUpdate(input: { id: <cart>, ownerInput: { alias: "pay" } })"#, &ids)).await;
    let entry = newest(&app, "Service").await;
    run(&app, &filled("serviceRepositoryDelete(input: { id: <code> })", &ids)).await;
    let code = newest(&app, "ServiceRepository").await;
    run(&app, &filled("teamDelete(input: { id: <core> })", &ids)).await;
    run(&app, &filled("repositoryDelete(input: { id: <repo> })", &ids)).await;
    for dry_run in [true, false] {
        let refused = revert(&app, &entry, dry_run).await;
        let errors = json!([{ "message": "the team \"core\" no longer exists", "path": ["owner"] }]);
        assert_eq!(refused["errors"], errors);
        let refused = revert(&app, &code, dry_run).await;
        let message = refused["errors"][0]["message"].as_str().expect("a message");
        assert!(message.starts_with("the repository ") && message.ends_with(" no longer exists"), "{refused}");
    }

    run(&app, &filled(r#"serviceUpdate(input: { id: <mail>, description: "b" })"#, &ids)).await;
    let entry = newest(&app, "Service").await;
    lock(&app, "Mail").await;
    let message = "the service is locked: its service file rollcall.yml governs it; change it there";
    for dry_run in [true, false] {
        let refused = revert(&app, &entry, dry_run).await;
        assert_eq!(refused["errors"], json!([{ "message": message, "path": ["locked"] }]));
        assert_eq!(refused["fields"].is_array(), dry_run, "the preview shows the fields all the same: {refused}");
        assert_eq!(refused["summary"], Value::Null, "{refused}");
    }
}

#[tokio::test]
async fn what_the_audit_does_not_hold_exactly_is_not_guessed() {
    let app = TestApp::start().await;
    let ids = shop(&app).await;
    let update = "mutation($id: ID!, $note: String, $description: String) {
        serviceUpdate(input: { id: $id, note: $note, description: $description }) { errors { message } }
    }";
    let set = async |note: usize, description: usize| {
        let [note, description] = [note, description].map(|length| "x".repeat(length));
        let given = json!({ "id": ids["cart"], "note": note, "description": description });
        let done = app.query(update, given).await;
        assert_eq!(done["data"]["serviceUpdate"]["errors"], json!([]), "{done}");
        newest(&app, "Service").await
    };
    let whole = set(kept::VALUE, 10).await;
    assert_eq!(revert(&app, &whole, true).await["errors"], json!([]));
    let cut = set(kept::VALUE + 1, 11).await;
    let message = "the audit does not hold the whole value of note: it is too long";
    for dry_run in [true, false] {
        assert_eq!(revert(&app, &cut, dry_run).await["errors"], json!([{ "message": message, "path": ["note"] }]));
    }
    set(0, 0).await;
    let much = set(kept::VALUE, kept::VALUE).await;
    let message = "the change is too large: the audit does not hold all of its values";
    assert_eq!(revert(&app, &much, true).await["errors"], json!([{ "message": message, "path": ["id"] }]));

    // Entries of an earlier version hold nothing exactly, and a later one may write what this one cannot read.
    run(&app, &filled(r#"serviceUpdate(input: { id: <mail>, description: "b" })"#, &ids)).await;
    let entry = newest(&app, "Service").await;
    for (kept, message) in [(None, "the audit does not hold the exact values"), (Some("{}"), "a newer version")] {
        let older = Entity::update_many().col_expr(Column::Kept, Expr::value(kept.map(str::to_owned)));
        let older = older.filter(Column::Id.eq(entry.id));
        app.db.write(async |db| db.exec(older).await).await.expect("an entry of another version");
        let refused = revert(&app, &entry, false).await;
        let said = refused["errors"][0]["message"].as_str().expect("a message");
        assert!(said.starts_with(message), "{refused}");
        assert_eq!(refused["errors"][0]["path"], json!(["id"]));
    }
}

#[tokio::test]
async fn whole_nouns_and_other_things_are_not_reverted() {
    let app = TestApp::start().await;
    let ids = shop(&app).await;
    let first = Entity::find().filter(Column::Action.eq("serviceCreate")).order_by_asc(Column::Id);
    let first = app.db.read().all(first).await.expect("entries").swap_remove(0);
    let refused = revert(&app, &first, false).await;
    let message = "a service that was created is not removed from the audit: delete the service itself";
    assert_eq!(refused["errors"], json!([{ "message": message, "path": ["id"] }]));
    for (class, mutation, start) in [
        ("System", "systemDelete(resource: { id: <web> })", "a deleted system cannot be made again"),
        ("Domain", "domainDelete(resource: { id: <money> })", "a deleted domain cannot be made again"),
        ("Team", "teamDelete(input: { id: <pay> })", "a deleted team cannot be made again"),
        ("Service", "serviceDelete(input: { id: <mail> })", "a deleted service cannot be made again"),
        ("Tier", r#"tierCreate(input: { name: "Other" })"#, "the audit does not hold the exact values"),
    ] {
        run(&app, &filled(mutation, &ids)).await;
        let refused = revert(&app, &newest(&app, class).await, false).await;
        let said = refused["errors"][0]["message"].as_str().expect("a message");
        assert!(said.starts_with(start), "{class}: {refused}");
    }
}

#[tokio::test]
async fn a_contact_becomes_the_default_again_and_another_does_not_cease_to_be() {
    let app = TestApp::start().await;
    let ids = shop(&app).await;
    let made = data(
        &app,
        &filled(
            r#"mutation { it: contactCreate(input: { ownerId: <cart>, type: email, address: "b@example.com" }) { contact { id } } }"#,
            &ids,
        ),
    )
    .await;
    let other = made["it"]["contact"]["id"].as_str().expect("an id");
    let before = rows(&app).await;
    run(&app, &format!("contactUpdate(input: {{ id: \"{other}\", makeDefault: true }})")).await;
    let entries = Entity::find().filter(Column::Action.eq("contactUpdate")).order_by_asc(Column::Id);
    let entries = app.db.read().all(entries).await.expect("entries");
    assert_eq!(entries.len(), 2);
    let number = rollcall::graphql::field::id::decode(other).expect("an id").1;
    let (gained, lost) = match entries.iter().position(|one| one.subject_id == Some(number)) {
        Some(0) => (&entries[0], &entries[1]),
        _ => (&entries[1], &entries[0]),
    };
    let refused = revert(&app, gained, false).await;
    let message = "another contact must become the default in its place: revert the change of that one";
    assert_eq!(refused["errors"], json!([{ "message": message, "path": ["isDefault"] }]));
    assert_eq!(revert(&app, lost, false).await["errors"], json!([]));
    assert_eq!(rows(&app).await, before);
}

#[tokio::test]
async fn a_hostile_id_reverts_nothing() {
    let app = TestApp::start().await;
    let ids = shop(&app).await;
    let before = rows(&app).await;
    let of = |class: &'static str, number: i64| Id { class, number }.text();
    for id in [
        String::new(),
        "1".to_owned(),
        "' OR 1=1 --".to_owned(),
        "x".repeat(5_000),
        ids["cart"].clone(),
        of("Change", i64::MAX),
        of("Change", 0),
        of("Change", -1),
        of("Deploy", 1),
    ] {
        for dry_run in [true, false] {
            let answer = app.query(REVERT, json!({ "id": id, "dryRun": dry_run })).await;
            let refused = &answer["data"]["changeRevert"];
            assert_eq!((&refused["fields"], &refused["errors"][0]["path"]), (&Value::Null, &json!(["id"])), "{answer}");
        }
    }
    assert_eq!(rows(&app).await, before);
}

/// Random values of a field of a service: texts, or names of what exists, and null.
fn random(rng: &mut fastrand::Rng) -> Value {
    let texts = ["a", "ß and 漢字", "two\nlines", "quote \" and \\ and '", "<b>", "x → y…"];
    let mut input = json!({});
    for field in ["description", "note"] {
        if rng.bool() {
            input[field] = if rng.u8(..4) == 0 { Value::Null } else { rng.choice(texts).into() };
        }
    }
    for field in ["language", "framework", "product"] {
        if rng.bool() {
            input[field] = rng.choice([json!(null), json!("Go"), json!("C++"), json!("Rust")]).unwrap_or_default();
        }
    }
    if rng.bool() {
        input["name"] = rng.choice(["Cart", "Basket", "Mail", "The Cart!"]).into();
    }
    if rng.bool() {
        input["tierAlias"] = rng.choice([json!(null), json!("tier_1"), json!("tier_3")]).unwrap_or_default();
    }
    if rng.bool() {
        input["lifecycleAlias"] = rng.choice([json!(null), json!("alpha"), json!("beta")]).unwrap_or_default();
    }
    if rng.bool() {
        let named = rng.choice(["core", "pay"]).map(|alias| json!({ "alias": alias }));
        input["ownerInput"] = if rng.bool() { Value::Null } else { named.unwrap_or_default() };
    }
    if rng.bool() {
        let named = rng.choice(["till", "web"]).map(|alias| json!({ "alias": alias }));
        input["parent"] = if rng.bool() { Value::Null } else { named.unwrap_or_default() };
    }
    input
}

#[tokio::test]
async fn a_random_change_that_is_reverted_leaves_the_row_as_it_was() {
    let app = TestApp::start().await;
    let ids = shop(&app).await;
    let update = "mutation($input: ServiceUpdateInput!) { serviceUpdate(input: $input) { errors { message } } }";
    let mut rng = fastrand::Rng::with_seed(20_261_130);
    let mut reverted = 0;
    for round in 0..60 {
        // A base that differs each time, and then a change of it.
        for is_base in [true, false] {
            let before = rows(&app).await;
            let mut input = random(&mut rng);
            input["id"] = json!(ids["cart"]);
            let done = app.query(update, json!({ "input": input })).await;
            assert_eq!(done["data"]["serviceUpdate"]["errors"], json!([]), "{round}: {input} {done}");
            let after = rows(&app).await;
            if is_base || before == after {
                continue;
            }
            let made = revert(&app, &newest(&app, "Service").await, false).await;
            assert_eq!(made["errors"], json!([]), "{round}: {input}");
            assert_eq!(rows(&app).await, before, "{round}: {input}");
            reverted += 1;
        }
    }
    assert!(reverted > 40, "{reverted}");
}

#[tokio::test]
async fn a_history_leads_to_the_revert_of_its_entries() {
    let app = TestApp::start().await;
    let ids = shop(&app).await;
    run(&app, &filled(r#"serviceUpdate(input: { id: <cart>, description: "<b>new</b>", note: "n" })"#, &ids)).await;
    let entry = newest(&app, "Service").await;
    let before = rows(&app).await;
    let path = format!("/changes/{}/revert", entry.id);
    let mut mem = Browser::of(&app, Role::User).await;
    let history = mem.page("/services/cart/history").await;
    // A button, whose spoken name says what of which thing.
    let button = format!("<a class=\"button quiet\" href=\"{path}\">Revert<span class=\"hidden\">: ");
    let spoken = history.split_once(&button).expect("a button").1.split("</span>").next().unwrap_or_default();
    let fields = spoken.strip_suffix(" of Cart, just now").unwrap_or_else(|| panic!("{spoken}"));
    assert!(["description, note", "note, description"].contains(&fields), "{fields}");
    for about in ["/teams/core", "/systems/till", "/domains/trade"] {
        assert!(mem.page(&format!("{about}/history")).await.contains("history"), "{about}");
    }

    let page = mem.page(&path).await;
    for text in [
        "<h1>Revert a change</h1>",
        "2 fields get their values from before the change.",
        "Nothing is changed yet.",
        "&lt;b&gt;new&lt;/b&gt;",
        "<td>Holds goods</td>",
        ">Revert this change</button>",
        "href=\"/services/cart/history\"",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert_eq!(rows(&app).await, before, "a page changes nothing");
    assert_eq!(mem.post(&path, &[]).await.location(), "/services/cart/history");
    let history = mem.page("/services/cart/history").await;
    assert!(
        history.contains("reverted a change") && history.contains("\">The change that was reverted</a>"),
        "{history}"
    );
    // Twice is refused, with the reason.
    let page = mem.page(&path).await;
    assert!(page.contains("It cannot be reverted.") && !page.contains("Revert this change</button>"), "{page}");
    assert!(!page.contains("get their values") && !page.contains("After the revert"), "it promises nothing: {page}");
    let refused = mem.post(&path, &[]).await;
    assert!(refused.status == 422 && refused.text().contains("as it was before the change already"), "{refused:?}");

    // Of a part, and for an administrator.
    run(&app, &filled("toolDelete(input: { id: <link> })", &ids)).await;
    let tool = format!("/changes/{}/revert", newest(&app, "Tool").await.id);
    let mut ada = Browser::of(&app, Role::Admin).await;
    assert!(ada.page("/audit").await.contains(&tool));
    assert!(ada.page(&tool).await.contains("The link Runbook is made again, with a new id."));
    assert_eq!(ada.post(&tool, &[]).await.location(), "/services/cart/history");
}

#[tokio::test]
async fn the_page_of_a_revert_is_offered_to_those_who_may() {
    let app = TestApp::start().await;
    let ids = shop(&app).await;
    run(&app, &filled(r#"serviceUpdate(input: { id: <cart>, description: "b" })"#, &ids)).await;
    let path = format!("/changes/{}/revert", newest(&app, "Service").await.id);
    let mut viewer = Browser::of(&app, Role::Viewer).await;
    let mut member = Browser::of(&app, Role::TeamMember).await;
    for browser in [&viewer, &member] {
        assert!(!browser.page("/services/cart/history").await.contains(&path));
    }
    assert!(viewer.page(&path).await.contains("your role does not allow to revert changes"));
    assert_eq!(viewer.post(&path, &[]).await.status, 403);
    run(&app, &filled(r#"teamUpdate(input: { id: <pay>, managerEmail: "teammember@example.com" })"#, &ids)).await;
    let before = rows(&app).await;
    assert!(!member.page("/services/cart/history").await.contains(&path), "it is another team's");
    assert!(member.page(&path).await.contains(NOT_OWN));
    let refused = member.post(&path, &[]).await;
    assert!(refused.status == 422 && refused.text().contains(NOT_OWN), "{refused:?}");
    assert_eq!(rows(&app).await, before);

    // Entries that no history tells have no such page, and nor has nonsense.
    let mut ada = Browser::of(&app, Role::Admin).await;
    let of_user = newest(&app, "User").await.id;
    for number in [of_user.to_string(), "0".into(), "-1".into(), "x".into(), "99999999999999999999".into()] {
        let path = format!("/changes/{number}/revert");
        assert_eq!(ada.get(&path).await.status, 404, "{path}");
        assert_eq!(ada.post(&path, &[]).await.status, 404, "{path}");
    }
    let stranger = Browser::new(&app).get(&path).await;
    assert_eq!(stranger.status, 303, "{stranger:?}");
}
