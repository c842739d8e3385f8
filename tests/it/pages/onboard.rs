//! A new service from one form, and the forms of its repositories, of their owners, and of who is on call.

use rollcall::entity::user::Role;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;

/// What a team member is told who changes what their teams do not own.
const NOT_OWN: &str = "you can change only your own teams and what they own";

/// What a new service is linked to.
async fn around() -> TestApp {
    let app = TestApp::start().await;
    let query = r#"mutation {
        core: teamCreate(input: { name: "Core Team", members: [{ email: "teammember@example.com" }] }) { errors { message } }
        pay: serviceCreate(input: { name: "Pay Gate" }) { errors { message } }
        code: repositoryCreate(input: { name: "Cart code", defaultAlias: "github.com:org/cart" }) { errors { message } }
        port: propertyDefinitionCreate(input: { name: "Port", description: "It listens.", schema: "{\"type\": \"integer\"}" }) { errors { message } }
        zone: propertyDefinitionCreate(input: { name: "Zone", schema: "{\"type\": \"string\"}" }) { errors { message } }
        kept: propertyDefinitionCreate(input: { name: "Kept", schema: {}, lockedStatus: ui_locked }) { errors { message } }
    }"#;
    // The member of the team, who must exist first.
    Browser::of(&app, Role::TeamMember).await;
    for (name, done) in data(&app, query).await.as_object().expect("payloads") {
        assert_eq!(done["errors"], json!([]), "{name}");
    }
    app
}

/// The name of the form field of a property definition.
async fn field_of(app: &TestApp, alias: &str) -> String {
    let query = format!("{{ account {{ propertyDefinition(input: {{ alias: \"{alias}\" }}) {{ id }} }} }}");
    let found = data(app, &query).await;
    format!("value-{}", found["account"]["propertyDefinition"]["id"].as_str().expect("an id"))
}

async fn services(app: &TestApp) -> Value {
    data(app, "{ account { services { totalCount } } }").await["account"]["services"]["totalCount"].clone()
}

const CART: &str = "{ account { service(alias: \"cart\") {
    tools { nodes { category displayName url } }
    contacts { type address displayName }
    dependencies { edges { notes node { name } } }
    serviceRepositories { nodes { baseDirectory repository { defaultAlias } } }
    properties { nodes { value definition { name } } }
} } }";

#[tokio::test]
async fn a_service_and_its_first_parts_come_from_one_form() {
    let app = around().await;
    let (port, zone, kept) = (field_of(&app, "port").await, field_of(&app, "zone").await, field_of(&app, "kept").await);
    let mut mem = Browser::of(&app, Role::User).await;
    let form = mem.page("/new/service").await;
    for name in ["tools.0.url", "contacts.0.address", "dependencies.0.service.alias", &port, &zone] {
        assert!(form.contains(&format!("name=\"{name}\"")), "{name}: {form}");
    }
    assert!(!form.contains(&kept), "only the API sets it: {form}");
    assert!(!form.contains("<details open"), "what is not used is folded: {form}");
    assert!(form.contains("<option value=\"\" selected>Service</option>"), "the default type has a name: {form}");

    // All of it by name, as people write it.
    let said = [
        ("name", "Cart"),
        ("ownerInput.alias", "Core Team"),
        ("tools.0.category", "runbooks"),
        ("tools.0.displayName", "Runbook"),
        ("tools.0.url", "https://wiki.example.com/cart"),
        ("contacts.0.type", "slack"),
        ("contacts.0.address", "#cart"),
        ("contacts.0.displayName", "Help"),
        ("dependencies.0.service.alias", "Pay Gate"),
        ("dependencies.0.notes", "one\r\ntwo"),
        ("repositories.0.repository.alias", "Cart code"),
        ("repositories.0.baseDirectory", "/cmd"),
        (&*port, "80"),
        (&*zone, "north"),
    ];
    let made = mem.post("/new/service", &said).await;
    assert_eq!(made.header("location"), Some("/services/cart?done=saved"));
    let expected = json!({
        "tools": { "nodes": [
            { "category": "runbooks", "displayName": "Runbook", "url": "https://wiki.example.com/cart" },
        ] },
        "contacts": [{ "type": "slack", "address": "#cart", "displayName": "Help" }],
        "dependencies": { "edges": [{ "notes": "one\ntwo", "node": { "name": "Pay Gate" } }] },
        "serviceRepositories": { "nodes": [
            { "baseDirectory": "cmd", "repository": { "defaultAlias": "github.com:org/cart" } },
        ] },
        "properties": { "nodes": [
            { "value": "80", "definition": { "name": "Port" } },
            { "value": "\"north\"", "definition": { "name": "Zone" } },
        ] },
    });
    assert_eq!(data(&app, CART).await["account"]["service"], expected);
    let page = mem.page("/services/cart?done=saved").await;
    assert!(page.contains("<p>Saved.</p>") && page.contains("github.com:org/cart"), "{page}");
    let missing =
        page.split_once("<h2>Missing</h2>").expect("what is missing").1.split_once("</ul>").expect("its end").0;
    assert!(missing.contains("cart/on-call\"") && !missing.contains("cart/repositories"), "{missing}");
}

#[tokio::test]
async fn one_bad_value_of_a_new_service_makes_nothing_and_keeps_the_rest() {
    let app = around().await;
    let (port, zone) = (field_of(&app, "port").await, field_of(&app, "zone").await);
    let mut mem = Browser::of(&app, Role::User).await;
    let before = services(&app).await;
    let good = [
        ("name", "Cart"),
        ("language", "Rust"),
        ("tools.0.category", "wiki"),
        ("tools.0.displayName", "Wiki <b>"),
        ("tools.0.url", "https://wiki.example.com"),
        ("contacts.0.type", "web"),
        ("contacts.0.address", "https://cart.example.com"),
        ("dependencies.0.service.alias", "pay_gate"),
        ("dependencies.0.notes", "to pay"),
        ("repositories.0.repository.alias", "github.com:org/cart"),
        ("repositories.0.baseDirectory", "cmd"),
        (&*zone, "north"),
        (&*port, "80"),
    ];
    let long = "x".repeat(300);
    for (field, bad, marked) in [
        ("name", "", "name"),
        ("tierAlias", "none", "tierAlias"),
        ("tools.0.url", "javascript:alert(1)", "tools.0.url"),
        ("tools.0.displayName", "", "tools.0.displayName"),
        ("tools.0.category", "king", "tools.0.category"),
        ("contacts.0.address", "no address", "contacts.0.address"),
        ("contacts.0.type", "smoke", "contacts.0.type"),
        ("dependencies.0.service.alias", "none", "dependencies.0.service.alias"),
        ("dependencies.0.service.alias", "", "dependencies.0.service.alias"),
        ("repositories.0.repository.alias", "none", "repositories.0.repository.alias"),
        ("repositories.0.repository.alias", "", "repositories.0.repository.alias"),
        ("repositories.0.baseDirectory", &*long, "repositories.0.baseDirectory"),
        (&*port, "many", &*port),
    ] {
        let mut said: Vec<_> = good.into_iter().filter(|(name, _)| *name != field).collect();
        said.push((field, bad));
        let refused = mem.post("/new/service", &said).await;
        let page = refused.text();
        assert_eq!(refused.status, 422, "{field}: {refused:?}");
        assert_eq!(page.matches("id=\"wrong-").count(), 1, "{field}: {page}");
        assert!(page.contains(&format!("id=\"wrong-{marked}\"")), "{field}: {page}");
        assert!(page.contains("value=\"Rust\""), "what was typed stays: {page}");
        assert!(field.starts_with("tools") || page.contains("value=\"Wiki &lt;b&gt;\""), "{field}: {page}");
        assert!(field.starts_with("dependencies") || page.contains("value=\"pay_gate\""), "{field}: {page}");
        assert!(page.contains("value=\"north\"") && !page.contains("role=\"alert\""), "{field}: {page}");
        assert_eq!(services(&app).await, before, "{field}: nothing is made");
    }
    // The same form sent again with the right value is made once.
    assert_eq!(mem.post("/new/service", &good).await.location(), "/services/cart");
    let made = data(&app, CART).await["account"]["service"].clone();
    for list in ["tools", "serviceRepositories"] {
        assert_eq!(made[list]["nodes"].as_array().map(Vec::len), Some(1), "{list}: {made}");
    }
    assert_eq!(made["properties"]["nodes"].as_array().map(Vec::len), Some(2), "{made}");
}

#[tokio::test]
async fn a_team_member_creates_a_service_of_their_team_only() {
    let app = around().await;
    let mut tom = Browser::of(&app, Role::TeamMember).await;
    let part = ("contacts.0.address", "#cart");
    let others = [("name", "Cart"), ("contacts.0.type", "slack"), part];
    let refused = tom.post("/new/service", &others).await;
    assert!(refused.status == 422 && refused.text().contains(NOT_OWN), "{refused:?}");
    assert_eq!(services(&app).await, 1, "nothing is made");
    let own = [("name", "Cart"), ("ownerInput.alias", "core_team"), ("contacts.0.type", "slack"), part];
    assert_eq!(tom.post("/new/service", &own).await.location(), "/services/cart");
    assert_eq!(Browser::of(&app, Role::Viewer).await.post("/new/service", &own).await.status, 403);
}

#[tokio::test]
async fn repositories_of_a_service_are_linked_and_unlinked() {
    let app = around().await;
    let mut mem = Browser::of(&app, Role::User).await;
    let here = "/services/pay_gate/repositories";
    assert!(mem.page(here).await.contains("No repository is linked"));
    let refused = mem.post(here, &[("repository.alias", "none"), ("baseDirectory", "cmd")]).await;
    assert!(refused.status == 422 && refused.text().contains("id=\"wrong-repository.alias\""), "{refused:?}");
    assert!(refused.text().contains("value=\"cmd\""), "{refused:?}");
    let form = [("repository.alias", "Cart code"), ("baseDirectory", "/cmd/"), ("displayName", "Code <b>")];
    assert_eq!(mem.post(here, &form).await.location(), here);
    let twice = mem.post(here, &form).await;
    assert!(twice.status == 422 && twice.text().contains("already linked to this folder"), "{twice:?}");
    let list = mem.page(here).await;
    assert!(list.contains("Code &lt;b&gt;") && list.contains("<code>cmd</code>"), "{list}");
    let page = mem.page("/services/pay_gate").await;
    assert!(page.contains(&format!("href=\"{here}\"")) && page.contains("Code &lt;b&gt;"), "{page}");

    let seen = Browser::of(&app, Role::Viewer).await.page(here).await;
    assert!(seen.contains("Code &lt;b&gt;") && seen.matches("<form").count() == 1, "only to sign out: {seen}");
    let mut tom = Browser::of(&app, Role::TeamMember).await;
    let seen = tom.page(here).await;
    assert_eq!(seen.matches("<form").count(), 1, "not their team's: {seen}");
    let refused = tom.post(here, &[("repository.alias", "github.com:org/cart")]).await;
    assert!(refused.status == 422 && refused.text().contains(NOT_OWN), "{refused:?}");

    let start = format!("{here}/");
    let delete = list.split('"').find(|text| text.starts_with(&start)).expect("a form").to_owned();
    data(&app, "mutation { serviceCreate(input: { name: \"Other\" }) { errors { message } } }").await;
    assert_eq!(mem.post(&delete.replace("pay_gate", "other"), &[]).await.status, 404, "of another service");
    assert_eq!(mem.post(&delete, &[]).await.location(), here);
    assert_eq!(mem.post(&delete, &[]).await.status, 404);
    assert!(mem.page(here).await.contains("No repository is linked"));
    assert_eq!(mem.get("/services/none/repositories").await.status, 404);
}

#[tokio::test]
async fn a_repository_gets_an_owner_by_a_form() {
    let app = around().await;
    let mut mem = Browser::of(&app, Role::User).await;
    let refused = mem.post("/repositories/1/owner", &[("ownerId", "nobody")]).await;
    assert!(refused.status == 422 && refused.text().contains("id=\"wrong-ownerId\""), "{refused:?}");
    assert!(refused.text().contains("value=\"nobody\""), "{refused:?}");
    assert_eq!(mem.post("/repositories/1/owner", &[("ownerId", "Core Team")]).await.location(), "/repositories/1");
    let page = mem.page("/repositories/1").await;
    assert!(page.contains("<a href=\"/teams/core_team\">") && page.contains("value=\"core_team\""), "{page}");
    let own = Browser::of(&app, Role::TeamMember).await.page("/repositories/1").await;
    assert!(own.contains("action=\"/repositories/1/owner\""), "their team's: {own}");
    let seen = Browser::of(&app, Role::Viewer).await.page("/repositories/1").await;
    assert_eq!(seen.matches("<form").count(), 1, "only to sign out: {seen}");
    assert_eq!(mem.post("/repositories/1/owner", &[("ownerId", "")]).await.location(), "/repositories/1");
    assert!(!mem.page("/repositories/1").await.contains("<a href=\"/teams/core_team\">"));
    assert_eq!(mem.post("/repositories/999/owner", &[("ownerId", "core_team")]).await.status, 404);
    assert_eq!(mem.post("/repositories/x/owner", &[("ownerId", "core_team")]).await.status, 404);
}

#[tokio::test]
async fn people_on_call_are_added_and_removed() {
    let app = around().await;
    let mut mem = Browser::of(&app, Role::User).await;
    let here = "/services/pay_gate/on-call";
    let set = "mutation { serviceOnCallsUpdate(input: { service: { alias: \"pay_gate\" }, onCalls: [
        { name: \"Jon\", schedule: \"Nights\", url: \"https://nights.example.com\", endsAt: \"2999-01-01T00:00:00Z\" }
    ] }) { errors { message } } }";
    data(&app, set).await;
    let refused = mem.post(here, &[("name", ""), ("externalEmail", "ada@example.com")]).await;
    assert!(refused.status == 422 && refused.text().contains("id=\"wrong-name\""), "{refused:?}");
    assert!(refused.text().contains("value=\"ada@example.com\""), "{refused:?}");
    let refused = mem.post(here, &[("name", "Ada"), ("url", "javascript:alert(1)")]).await;
    assert!(refused.status == 422 && refused.text().contains("id=\"wrong-url\""), "{refused:?}");
    let old = mem.page(here).await;
    let form = [("name", "Ada <b>"), ("externalEmail", "ada@example.com"), ("schedule", "Days")];
    assert_eq!(mem.post(here, &form).await.location(), here);
    let query = "{ account { service(alias: \"pay_gate\") { onCalls { nodes { name schedule url endsAt } } } } }";
    let found = data(&app, query).await["account"]["service"]["onCalls"]["nodes"].clone();
    let jon = json!({
        "name": "Jon", "schedule": "Nights", "url": "https://nights.example.com", "endsAt": "2999-01-01T00:00:00Z",
    });
    let ada = json!({ "name": "Ada <b>", "schedule": "Days", "url": null, "endsAt": null });
    assert_eq!(found, json!([jon, ada]), "the others stay as they are");
    let list = mem.page(here).await;
    assert!(list.contains("Ada &lt;b&gt;") && list.contains("Nights"), "{list}");

    let start = format!("{here}/");
    let first = |page: &str| page.split('"').find(|text| text.starts_with(&start)).expect("a form").to_owned();
    assert_eq!(mem.post(&first(&old), &[]).await.status, 404, "the list has changed since");
    assert_eq!(mem.post(&first(&list), &[]).await.location(), here);
    let found = data(&app, query).await["account"]["service"]["onCalls"]["nodes"].clone();
    assert_eq!(found, json!([ada]));
    let seen = Browser::of(&app, Role::Viewer).await.page(here).await;
    assert!(seen.contains("Ada &lt;b&gt;") && seen.matches("<form").count() == 1, "only to sign out: {seen}");
}
