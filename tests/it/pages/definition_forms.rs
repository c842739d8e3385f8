//! The forms of tiers, lifecycle stages, property definitions and saved filters.

use rollcall::entity::user::Role;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;

/// The path of the form of the thing with this name, as the page of all definitions links to it.
async fn form_of(browser: &Browser<'_>, part: &str, name: &str) -> String {
    let page = browser.page("/definitions").await;
    let start = format!("<a class=\"button quiet\" href=\"/definitions/{part}/");
    let links = page.split(&*start).skip(1);
    let of_name = format!("<span class=\"hidden\"> {name}</span>");
    let link = links.map(|rest| rest.split_once("</a>").expect("its end").0).find(|link| link.contains(&of_name));
    let link = link.unwrap_or_else(|| panic!("no {name} in {page}"));
    format!("/definitions/{part}/{}", link.split_once('"').expect("its end").0)
}

/// The text at a field that says what is wrong with it.
fn wrong<'p>(page: &'p str, field: &str) -> &'p str {
    let (_, rest) = page.split_once(&format!("id=\"wrong-{field}\">")).unwrap_or_else(|| panic!("{field}: {page}"));
    rest.split_once("</p>").expect("its end").0
}

/// Fails unless the mutations of a document have no errors, and returns its data.
async fn made(app: &TestApp, document: &str) -> Value {
    let made = data(app, document).await;
    for (name, payload) in made.as_object().expect("payloads") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    made
}

#[tokio::test]
async fn tiers_and_stages_are_created_changed_ordered_and_deleted() {
    let app = TestApp::start().await;
    let mut mem = Browser::of(&app, Role::User).await;
    for (part, word, list, noun) in
        [("tiers", "tier", "tiers", "tier"), ("lifecycles", "lifecycle", "lifecycles", "lifecycle stage")]
    {
        let new = format!("/new/{word}");
        assert!(mem.page("/definitions").await.contains(&format!("href=\"{new}\"")));
        let wrong_index = mem.post(&new, &[("name", "Edge"), ("description", "Kept text"), ("index", "soon")]).await;
        assert_eq!(wrong_index.status, 422, "{wrong_index:?}");
        let page = wrong_index.text();
        assert!(wrong(page, "index").contains("Must be a whole number"), "{page}");
        assert!(
            page.contains("value=\"Edge\"") && page.contains("Kept text") && page.contains("value=\"soon\""),
            "{page}"
        );
        assert_eq!(
            mem.post(&new, &[("name", "Edge"), ("description", "At the\r\nedge")]).await.location(),
            "/definitions"
        );
        let taken = mem.post(&new, &[("name", "Edge")]).await;
        assert!(taken.status == 422 && wrong(taken.text(), "alias").contains("has the alias"), "{taken:?}");

        let edit = form_of(&mem, part, "Edge").await;
        let page = mem.page(&edit).await;
        assert!(page.contains(&format!("Nothing uses this {noun}.")) && page.contains("At the\nedge"), "{page}");
        let form = [("name", "Rim"), ("alias", "rim"), ("description", ""), ("index", "0")];
        assert_eq!(mem.post(&edit, &form).await.location(), "/definitions");
        let query = format!("{{ account {{ {list} {{ alias name description index }} }} }}");
        let all = data(&app, &query).await["account"][list].clone();
        // Position 0 makes it the first.
        assert_eq!(all[0], json!({ "alias": "rim", "name": "Rim", "description": null, "index": 0 }), "{all}");
        let refused = mem.post(&edit, &[("name", " "), ("alias", "rim"), ("index", "-1")]).await;
        assert_eq!(refused.status, 422);
        assert!(!wrong(refused.text(), "name").is_empty() && !wrong(refused.text(), "index").is_empty(), "{refused:?}");
        let delete = edit.replace("/edit", "/delete");
        assert_eq!(mem.post(&delete, &[]).await.location(), "/definitions");
        assert!(!data(&app, &query).await.to_string().contains("\"rim\""));
        assert_eq!(mem.get(&edit).await.status, 404);
        assert_eq!(mem.post(&delete, &[]).await.status, 404);
    }
}

#[tokio::test]
async fn a_property_definition_is_created_changed_and_deleted() {
    let app = TestApp::start().await;
    let mut mem = Browser::of(&app, Role::User).await;
    let new = "/new/property-definition";
    let page = mem.page(new).await;
    assert!(page.contains("{&quot;type&quot;: &quot;string&quot;}"), "an example is filled in: {page}");
    for (schema, said) in
        [("{\"type\":", "Is not JSON: EOF while parsing"), ("", "Must be given"), ("{\"type\": \"colour\"}", " ")]
    {
        let form = [("name", "Rooms"), ("schema", schema), ("lockedStatus", "ui_locked"), ("description", "Kept")];
        let refused = mem.post(new, &form).await;
        assert_eq!(refused.status, 422, "{schema}: {refused:?}");
        let page = refused.text();
        assert!(wrong(page, "schema").contains(said), "{schema}: {page}");
        assert!(page.contains("value=\"Rooms\"") && page.contains("Kept"), "{page}");
        assert!(page.contains("<option value=\"ui_locked\" selected>"), "{page}");
    }
    let form = [("name", "Rooms"), ("schema", "{\"type\": \"array\"}"), ("allowedInConfigFiles", "no")];
    assert_eq!(mem.post(new, &form).await.location(), "/definitions");
    let query = "{ account { propertyDefinitions { nodes {
        name alias description schema lockedStatus propertyDisplayStatus allowedInConfigFiles
    } } } }";
    let own = data(&app, query).await["account"]["propertyDefinitions"]["nodes"][0].clone();
    let expected = json!({
        "name": "Rooms", "alias": "rooms", "description": null, "schema": { "type": "array" }, "lockedStatus": "unlocked",
        "propertyDisplayStatus": "visible", "allowedInConfigFiles": false,
    });
    assert_eq!(own, expected);

    let edit = form_of(&mem, "properties", "Rooms").await;
    let page = mem.page(&edit).await;
    assert!(page.contains("Nothing uses this property.") && page.contains("<code>rooms</code>"), "{page}");
    let form = [
        ("name", "Places"),
        ("description", "Where it runs"),
        ("schema", "{\"type\": \"string\"}"),
        ("lockedStatus", "ui_locked"),
        ("propertyDisplayStatus", "hidden"),
        ("allowedInConfigFiles", "yes"),
    ];
    assert_eq!(mem.post(&edit, &form).await.location(), "/definitions");
    let own = data(&app, query).await["account"]["propertyDefinitions"]["nodes"][0].clone();
    let expected = json!({
        "name": "Places", "alias": "rooms", "description": "Where it runs", "schema": { "type": "string" },
        "lockedStatus": "ui_locked", "propertyDisplayStatus": "hidden", "allowedInConfigFiles": true,
    });
    assert_eq!(own, expected);
    let refused = mem.post(&edit, &[("name", ""), ("schema", "{}")]).await;
    assert!(refused.status == 422 && !wrong(refused.text(), "name").is_empty(), "{refused:?}");
    let odd = mem.post(&edit, &[("name", "x"), ("schema", "{}"), ("lockedStatus", "odd")]).await;
    assert!(wrong(odd.text(), "lockedStatus").contains("Must be one of the words"), "{odd:?}");
    assert_eq!(mem.post(&edit.replace("/edit", "/delete"), &[]).await.location(), "/definitions");
    assert_eq!(data(&app, query).await["account"]["propertyDefinitions"]["nodes"], json!([]));
}

const FILTERS: &str =
    "{ account { filters { nodes { name connective predicates { key keyData type value caseSensitive } } } } }";

#[tokio::test]
async fn a_saved_filter_is_created_changed_and_deleted() {
    let app = TestApp::start().await;
    let mut mem = Browser::of(&app, Role::User).await;
    // The second condition is left out, and the mistake stands at the third.
    let form = [
        ("name", "Vital"),
        ("connective", "or"),
        ("predicates.0.key", "tags"),
        ("predicates.0.keyData", "env"),
        ("predicates.0.type", "equals"),
        ("predicates.0.value", "prod"),
        ("predicates.0.caseSensitive", "no"),
        ("predicates.1.key", ""),
        ("predicates.2.key", "language"),
        ("predicates.2.value", "Go"),
    ];
    let refused = mem.post("/new/filter", &form).await;
    assert_eq!(refused.status, 422, "{refused:?}");
    let page = refused.text();
    assert!(wrong(page, "predicates.2.type").contains("Must be chosen"), "{page}");
    assert!(
        page.contains("value=\"Vital\"") && page.contains("value=\"prod\"") && page.contains("value=\"Go\""),
        "{page}"
    );
    let long = "x".repeat(1001);
    let typed = [("predicates.2.type", "equals"), ("predicates.2.value", &*long)];
    let too_long: Vec<_> = form.into_iter().filter(|(name, _)| *name != "predicates.2.value").chain(typed).collect();
    let refused = mem.post("/new/filter", &too_long).await;
    assert!(refused.status == 422 && !wrong(refused.text(), "predicates.2.value").is_empty(), "{refused:?}");
    let whole: Vec<_> = form.into_iter().chain([("predicates.2.type", "equals")]).collect();
    assert_eq!(mem.post("/new/filter", &whole).await.location(), "/definitions");
    let own = data(&app, FILTERS).await["account"]["filters"]["nodes"].clone();
    let expected = json!([{ "name": "Vital", "connective": "or", "predicates": [
        { "key": "tags", "keyData": "env", "type": "equals", "value": "prod", "caseSensitive": false },
        { "key": "language", "keyData": null, "type": "equals", "value": "Go", "caseSensitive": null },
    ] }]);
    assert_eq!(own, expected);

    let edit = form_of(&mem, "filters", "Vital").await;
    let page = mem.page(&edit).await;
    for part in
        ["name=\"predicates.1.value\" type=\"text\" value=\"Go\"", "Nothing uses this saved filter.", "Its services"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(page.len() < 100_000, "{}", page.len());
    let form =
        [("name", "Go"), ("connective", "and"), ("predicates.0.key", "language"), ("predicates.0.type", "exists")];
    assert_eq!(mem.post(&edit, &form).await.location(), "/definitions");
    let own = data(&app, FILTERS).await["account"]["filters"]["nodes"].clone();
    let expected = json!([{ "name": "Go", "connective": "and", "predicates": [
        { "key": "language", "keyData": null, "type": "exists", "value": null, "caseSensitive": null },
    ] }]);
    assert_eq!(own, expected);
    let unnamed = mem.post(&edit, &[("name", "")]).await;
    assert!(unnamed.status == 422 && !wrong(unnamed.text(), "name").is_empty(), "{unnamed:?}");
    assert_eq!(mem.post(&edit.replace("/edit", "/delete"), &[]).await.location(), "/definitions");
    assert_eq!(data(&app, FILTERS).await["account"]["filters"]["nodes"], json!([]));
}

#[tokio::test]
async fn a_filter_with_many_conditions_keeps_them_when_it_is_renamed() {
    let app = TestApp::start().await;
    let conditions = "{ key: language, type: equals, value: \"Go\" } ".repeat(11);
    made(&app, &format!("mutation {{ filterCreate(input: {{ name: \"Many\", predicates: [{conditions}] }}) {{ errors {{ message }} }} }}")).await;
    let mut mem = Browser::of(&app, Role::User).await;
    let edit = form_of(&mem, "filters", "Many").await;
    let page = mem.page(&edit).await;
    assert!(
        page.contains("Its 11 conditions are changed through the API.") && !page.contains("predicates.0"),
        "{page}"
    );
    assert_eq!(mem.post(&edit, &[("name", "More"), ("predicates.0.key", "")]).await.location(), "/definitions");
    let own = data(&app, FILTERS).await["account"]["filters"]["nodes"][0].clone();
    assert_eq!((&own["name"], own["predicates"].as_array().map(Vec::len)), (&json!("More"), Some(11)));
}

#[tokio::test]
async fn a_definition_says_what_uses_it_before_it_is_deleted() {
    let app = TestApp::start().await;
    let make = r#"mutation {
        tier: tierCreate(input: { name: "Edge", index: 9 }) { tier { id } errors { message } }
        stage: lifecycleCreate(input: { name: "Trial" }) { errors { message } }
        rooms: propertyDefinitionCreate(input: { name: "Rooms", schema: { type: "string" } }) { definition { id } errors { message } }
        cart: serviceCreate(input: { name: "Cart", tierAlias: "edge", lifecycleAlias: "trial" }) { service { id } errors { message } }
        value: propertyAssign(input: { owner: { alias: "cart" }, definition: { alias: "rooms" }, value: "\"A\"" }) { errors { message } }
        filter: filterCreate(input: { name: "At the <edge>", predicates: [
            { key: tier_index, type: equals, value: "edge" }, { key: property, keyData: "rooms", type: exists },
            { key: lifecycle_index, type: equals, value: "trial" }
        ] }) { filter { id } errors { message } }
        team: teamCreate(input: { name: "Core" }) { team { id } errors { message } }
    }"#;
    let ids = made(&app, make).await;
    let campaign = format!(
        "mutation {{ campaignCreate(input: {{ name: \"Move\", ownerId: {}, filterId: {} }}) {{ errors {{ message }} }} }}",
        ids["team"]["team"]["id"], ids["filter"]["filter"]["id"]
    );
    made(&app, &campaign).await;
    let mut mem = Browser::of(&app, Role::User).await;
    for (part, name, uses) in [
        ("tiers", "Edge", &["<a href=\"/services?tier=edge\">1 service</a> of it, without a tier afterwards"][..]),
        ("lifecycles", "Trial", &["1 service of it, without a lifecycle stage afterwards"]),
        ("properties", "Rooms", &["1 value, deleted with it"]),
    ] {
        let page = mem.page(&form_of(&mem, part, name).await).await;
        let (_, uses_of_it) = page.split_once("<ul id=\"uses\">").unwrap_or_else(|| panic!("{name}: {page}"));
        let said = uses_of_it.split_once("</ul>").expect("its end").0;
        assert!(uses.iter().all(|one| said.contains(one)), "{name}: {said}");
        assert!(said.contains("1 saved filter: <bdi>At the &lt;edge&gt;</bdi>"), "{name}: {said}");
        assert!(page.contains("Yes, delete"), "{name}: {page}");
    }
    let edit = form_of(&mem, "filters", "At the &lt;edge&gt;").await;
    let page = mem.page(&edit).await;
    assert!(page.contains("1 campaign: <bdi>Move</bdi>") && !page.contains("Yes, delete"), "{page}");
    assert!(page.contains("It can be deleted when no check, scorecard or campaign uses it."), "{page}");
    let refused = mem.post(&edit.replace("/edit", "/delete"), &[]).await;
    assert!(refused.status == 422 && refused.text().contains("refer to this filter"), "{refused:?}");
    // Others read, and see no forms.
    for role in [Role::Viewer, Role::TeamMember] {
        let mut other = Browser::of(&app, role).await;
        let page = other.page("/definitions").await;
        assert!(page.contains(">Edge <code") && !page.contains("/edit\"") && !page.contains("/new/tier"), "{page}");
        assert_eq!(other.get(&edit).await.status, 403);
        assert_eq!(other.post(&edit, &[("name", "x")]).await.status, 403);
    }
}
