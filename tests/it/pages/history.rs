//! Histories keep what was deleted: in words, by kind, as a file, and with its revert for those who may.

use std::collections::HashSet;

use rollcall::db::Read;
use rollcall::entity::audit::{Column, Entity, Model};
use rollcall::entity::user::Role;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;

/// A service of the team of `teammember@example.com`, with a part of each kind, and another service. Returns the ids.
async fn shop(app: &TestApp) -> Value {
    let nouns = r#"mutation {
        core: teamCreate(input: { name: "Core", members: { email: "teammember@example.com" } }) { errors { message } }
        cart: serviceCreate(input: { name: "Cart", ownerInput: { alias: "core" } }) { it: service { id } errors { message } }
        bus: serviceCreate(input: { name: "Bus" }) { it: service { id } errors { message } }
        till: systemCreate(input: { name: "Till" }) { it: system { id } errors { message } }
        repo: repositoryCreate(input: { name: "org/cart" }) { it: repository { id } errors { message } }
        zone: propertyDefinitionCreate(input: { name: "Zone", schema: { type: "string" } }) { it: definition { id } errors { message } }
    }"#;
    let mut made = data(app, nouns).await;
    let (cart, bus, repo) = (&made["cart"]["it"]["id"], &made["bus"]["it"]["id"], &made["repo"]["it"]["id"]);
    let parts = format!(
        r#"mutation {{
            link: toolCreate(input: {{ serviceId: {cart}, category: runbooks, displayName: "Runbook", url: "https://example.com" }}) {{
                it: tool {{ id }} errors {{ message }}
            }}
            contact: contactCreate(input: {{ ownerId: {cart}, type: email, address: "cart@example.com" }}) {{
                it: contact {{ id }} errors {{ message }}
            }}
            needs: serviceDependencyCreate(inputV2: {{
                dependencyKey: {{ sourceIdentifier: {{ id: {cart} }}, destinationIdentifier: {{ id: {bus} }} }}
            }}) {{ it: serviceDependency {{ id }} errors {{ message }} }}
            code: serviceRepositoryCreate(input: {{ service: {{ id: {cart} }}, repository: {{ id: {repo} }} }}) {{
                it: serviceRepository {{ id }} errors {{ message }}
            }}
            zoned: propertyAssign(input: {{ owner: {{ id: {cart} }}, definition: {{ alias: "zone" }}, value: "\"eu\"" }}) {{
                it: property {{ id }} errors {{ message }}
            }}
        }}"#
    );
    let parts = data(app, &parts).await;
    for (name, payload) in parts.as_object().expect("data") {
        made[name] = payload.clone();
    }
    for (name, payload) in made.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    made
}

/// The newest entry of the audit about a thing of a class.
async fn newest(app: &TestApp, class: &str) -> Model {
    let entries = Entity::find().filter(Column::SubjectClass.eq(class)).order_by_desc(Column::Id).limit(1);
    app.db.read().one(entries).await.expect("the audit").unwrap_or_else(|| panic!("no entry about a {class}"))
}

/// The number of changes that a page of a history has.
fn changes(page: &str) -> usize {
    page.matches("<th scope=\"row\">").count()
}

/// The kind in the address, the class, and what is said of a part that was made and deleted.
const KINDS: [(&str, &str, [&str; 2]); 5] = [
    ("links", "Tool", ["added tool", "removed tool"]),
    ("contacts", "Contact", ["added contact", "removed contact"]),
    ("dependencies", "ServiceDependency", ["added service dependency", "removed service dependency"]),
    ("repositories", "ServiceRepository", ["added service repository", "removed service repository"]),
    ("properties", "Property", ["set property", "cleared property"]),
];

#[tokio::test]
async fn a_history_names_tiers_stages_and_owners_as_people_do() {
    let app = TestApp::start().await;
    Browser::of(&app, Role::TeamMember).await;
    shop(&app).await;
    let change = r#"mutation {
        pay: teamCreate(input: { name: "Pay Team" }) { errors { message } }
        one: serviceUpdate(input: { alias: "cart", tierAlias: "tier_2", lifecycleAlias: "beta", ownerInput: { alias: "pay_team" } }) {
            errors { message }
        }
        two: serviceUpdate(input: { alias: "cart", tierAlias: "tier_4" }) { errors { message } }
        name: tierUpdate(input: { id: "ID", name: "Least <b>" }) { errors { message } }
    }"#;
    let tiers = data(&app, "{ account { tiers { id alias } } }").await["account"]["tiers"].clone();
    let last = tiers.as_array().expect("tiers").iter().find(|tier| tier["alias"] == "tier_4").expect("a tier");
    for (name, done) in
        data(&app, &change.replace("ID", last["id"].as_str().expect("an id"))).await.as_object().expect("data")
    {
        assert_eq!(done["errors"], json!([]), "{name}");
    }
    let viewer = Browser::of(&app, Role::Viewer).await;
    let page = viewer.page("/services/cart/history").await;
    for text in [
        "tier: </span>Customer Facing → Least &lt;b&gt;<",
        "tier: </span><span class=\"soft\">nothing</span> → Customer Facing<",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(page.contains("owner: </span>Core → Pay Team<") && !page.contains("→ pay_team"), "{page}");
    assert!(page.contains(" → Beta<"), "{page}");
}

#[tokio::test]
async fn what_a_member_deletes_stays_in_the_history_with_its_revert() {
    let app = TestApp::start().await;
    let mut member = Browser::of(&app, Role::TeamMember).await;
    let made = shop(&app).await;
    let id = |name: &str| &made[name]["it"]["id"];
    let delete = format!(
        "mutation {{
            link: toolDelete(input: {{ id: {} }}) {{ errors {{ message }} }}
            contact: contactDelete(input: {{ id: {} }}) {{ errors {{ message }} }}
            needs: serviceDependencyDelete(input: {{ id: {} }}) {{ errors {{ message }} }}
            code: serviceRepositoryDelete(input: {{ id: {} }}) {{ errors {{ message }} }}
            zoned: propertyUnassign(owner: {{ id: {} }}, definition: {{ id: {} }}) {{ errors {{ message }} }}
        }}",
        id("link"),
        id("contact"),
        id("needs"),
        id("code"),
        id("cart"),
        id("zone"),
    );
    let gone = member.query(&delete, json!({})).await["data"].clone();
    for (name, payload) in gone.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }

    let viewer = Browser::of(&app, Role::Viewer).await;
    let [all, own] = [&viewer, &member].map(|browser| browser.page("/services/cart/history"));
    let (all, own) = (all.await, own.await);
    let file = viewer.page("/services/cart/history.csv").await;
    for (kind, class, said) in KINDS {
        let page = viewer.page(&format!("/services/cart/history?kind={kind}")).await;
        assert_eq!(changes(&page), 2, "{kind}: {page}");
        for said in said {
            assert!(page.contains(said) && all.contains(said) && file.contains(&format!(",{said},")), "{said}: {all}");
        }
        let revert = format!("href=\"/changes/{}/revert\"", newest(&app, class).await.id);
        assert!(own.contains(&revert) && !all.contains(&revert), "{class}: {own}");
    }
    assert_eq!(changes(&all), 11, "and the service: {all}");
    let ends = "<a href=\"/services/cart\">Cart</a> → <a href=\"/services/bus\">Bus</a>";
    assert!(all.contains(ends), "{all}");
    for line in [",removed tool,Runbook,", ",removed service dependency,Cart → Bus,", ",toolDelete\r\n"] {
        assert!(file.contains(line), "{line}: {file}");
    }
    assert!(!file.contains("{\"") && !file.contains("\"\"changed"), "in words: {file}");
    // On phones each cell is a line, so that nothing is left out.
    let table = all.split_once("<table class=\"stacked\">").expect("a table that phones stack").1;
    assert!(!table.split("</table>").next().expect("its end").contains("class=\"wide\""), "{table}");

    let path = format!("/changes/{}/revert", newest(&app, "Tool").await.id);
    assert_eq!(member.post(&path, &[]).await.location(), "/services/cart/history");
    let links = viewer.page("/services/cart/history?kind=links").await;
    assert!(changes(&links) == 3 && links.contains("reverted a change"), "{links}");
}

#[tokio::test]
async fn what_connects_two_things_is_in_the_history_of_both() {
    let app = TestApp::start().await;
    Browser::of(&app, Role::TeamMember).await;
    let made = shop(&app).await;
    let ada = Browser::of(&app, Role::Admin).await;
    let tie = r#"mutation { it: relationshipCreate(relationshipDefinition: {
        type: related_to, source: { alias: "cart" }, target: { alias: "till" }
    }) { relationship { id } errors { message } } }"#;
    let tied = data(&app, tie).await;
    assert_eq!(tied["it"]["errors"], json!([]));
    let untie = format!(
        "mutation {{ it: relationshipDelete(input: {{ id: {} }}) {{ errors {{ message }} }} }}",
        tied["it"]["relationship"]["id"]
    );
    assert_eq!(data(&app, &untie).await["it"]["errors"], json!([]));
    for about in ["/services/cart", "/systems/till"] {
        let page = ada.page(&format!("{about}/history?kind=relationships")).await;
        assert_eq!(changes(&page), 2, "{about}: {page}");
        let ends = "<a href=\"/services/cart\">Cart</a> → <a href=\"/systems/till\">Till</a>";
        assert!(page.contains("added relationship") && page.contains("removed relationship"), "{about}: {page}");
        assert!(page.contains(ends), "{about}: {page}");
    }

    // Whoever depends reverts the change of a dependency, not whoever is depended upon.
    let revert = format!("/changes/{}/revert", newest(&app, "ServiceDependency").await.id);
    let of_bus = ada.page("/services/bus/history?kind=dependencies").await;
    assert!(of_bus.contains("added service dependency") && !of_bus.contains(&revert), "{of_bus}");
    assert!(ada.page("/services/cart/history").await.contains(&revert));

    // With a service goes what leads to it.
    let delete = format!(
        "mutation {{ it: serviceDelete(input: {{ id: {} }}) {{ errors {{ message }} }} }}",
        made["bus"]["it"]["id"]
    );
    assert_eq!(data(&app, &delete).await["it"]["errors"], json!([]));
    let page = ada.page("/services/cart/history?kind=dependencies").await;
    assert!(changes(&page) == 2 && page.contains("removed service dependency"), "{page}");
    assert!(page.contains("<a href=\"/services/cart\">Cart</a> → <bdi>service "), "it has no page any more: {page}");
    let entry = newest(&app, "ServiceDependency").await;
    let ids: Vec<_> = entry.owners().map(|(class, _)| class).collect();
    assert_eq!((&*entry.action, &*ids), ("serviceDelete", &["Service", "Service"][..]));
    // The history of the deleted service itself is in the audit.
    let bus = entry.other_owner_id.expect("the service");
    let page = ada.page(&format!("/audit?subject=Service:{bus}")).await;
    assert!(page.contains("<code>serviceDelete</code>"), "{page}");
}

#[tokio::test]
async fn the_pages_of_a_history_have_each_change_once() {
    let app = TestApp::start().await;
    Browser::of(&app, Role::TeamMember).await;
    shop(&app).await;
    for number in 0..26 {
        let create = format!(
            "mutation {{ it: toolCreate(input: {{ serviceAlias: \"cart\", category: other, displayName: \"L{number}\", \
             url: \"https://example.com\" }}) {{ tool {{ id }} errors {{ message }} }} }}"
        );
        let id = &data(&app, &create).await["it"]["tool"]["id"];
        data(&app, &format!("mutation {{ toolDelete(input: {{ id: {id} }}) {{ errors {{ message }} }} }}")).await;
    }
    let viewer = Browser::of(&app, Role::Viewer).await;
    let first = viewer.page("/services/cart/history").await;
    let next = first.split('"').find(|text| text.contains("/history?after=")).expect("a next page");
    let second = viewer.page(next).await;
    // 52 of the links that were made and deleted, 5 of the other parts, one of the service.
    assert_eq!((changes(&first), changes(&second)), (50, 8));
    let file = viewer.page("/services/cart/history.csv").await;
    assert_eq!(file.lines().collect::<HashSet<_>>().len(), 59, "and the heading: {file}");
}

#[tokio::test]
async fn the_audit_says_in_words_what_was_done_and_to_whom_it_belonged() {
    let app = TestApp::start().await;
    Browser::of(&app, Role::TeamMember).await;
    let made = shop(&app).await;
    let ids = [&made["link"]["it"]["id"], &made["needs"]["it"]["id"]];
    let delete = format!(
        "mutation {{
            toolDelete(input: {{ id: {} }}) {{ errors {{ message }} }}
            serviceDependencyDelete(input: {{ id: {} }}) {{ errors {{ message }} }}
        }}",
        ids[0], ids[1]
    );
    data(&app, &delete).await;
    let ada = Browser::of(&app, Role::Admin).await;
    let page = ada.page("/audit").await;
    for said in [
        "removed tool<small><code>toolDelete</code></small>",
        "<small>of <a href=\"/services/cart\">Cart</a></small>",
        "removed service dependency<small><code>serviceDependencyDelete</code></small>",
        "<small><a href=\"/services/cart\">Cart</a> → <a href=\"/services/bus\">Bus</a></small>",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
}
