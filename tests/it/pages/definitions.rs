//! The pages of repositories, of a user, and of what is defined for the whole catalogue.

use rollcall::db::Write;
use rollcall::entity::user::{self, Role};
use sea_orm::EntityTrait;
use sea_orm::sea_query::Expr;
use serde_json::json;

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;

/// The path of the page that the API names at this place.
async fn path_of(app: &TestApp, query: &str, place: &str) -> String {
    let found = app.query(query, json!({})).await;
    let url = found.pointer(place).and_then(serde_json::Value::as_str).expect("a URL").to_owned();
    url.split_once(&app.address.to_string()).expect("our address").1.to_owned()
}

#[tokio::test]
async fn a_repository_has_a_page_with_its_services_and_their_folders() {
    let app = TestApp::start().await;
    let create = r#"mutation {
        teamCreate(input: { name: "Core" }) { errors { message } }
        cart: serviceCreate(input: { name: "Cart", tierAlias: "tier_1" }) { errors { message } }
        stock: serviceCreate(input: { name: "Stock" }) { errors { message } }
        repositoryCreate(input: {
            name: "org/shop", url: "https://github.com/org/shop", defaultBranch: "trunk", private: true, visible: false,
            description: "All of the **shop**", languages: [{ name: "Rust", usage: 0.995 }, { name: "Shell", usage: 0.005 }]
        }) { errors { message } }
        other: repositoryCreate(input: { name: "org/another", url: "https://github.com/org/another" }) { errors { message } }
        one: serviceRepositoryCreate(input: { service: { alias: "cart" }, repository: { alias: "github.com:org/shop" }, baseDirectory: "/src/cart" }) { errors { message } }
        two: serviceRepositoryCreate(input: { service: { alias: "stock" }, repository: { alias: "github.com:org/shop" } }) { errors { message } }
        tagCreate(input: { alias: "github.com:org/shop", type: Repository, key: "ci", value: "on" }) { errors { message } }
    }"#;
    data(&app, create).await;
    let team = data(&app, r#"{ account { team(alias: "core") { id } } }"#).await;
    let owner = "mutation($id: ID!) { repositoryUpdate(input: { alias: \"github.com:org/shop\", ownerId: $id }) { errors { message } } }";
    app.query(owner, json!({ "id": team["account"]["team"]["id"] })).await;
    let query = r#"{ account { repository(alias: "github.com:org/shop") { htmlUrl } } }"#;
    let here = path_of(&app, query, "/data/account/repository/htmlUrl").await;
    let browser = Browser::of(&app, Role::Viewer).await;
    let list = browser.page("/repositories").await;
    let link = format!("<a href=\"{here}\">org/shop</a> <span class=\"mark none\">hidden</span>");
    for part in ["2 repositories", &*link, "<code>github.com:org/shop</code></td>", "href=\"/teams/core\""] {
        assert!(list.contains(part), "{part}: {list}");
    }
    // Without an owner of its own, its first service's owner stands there.
    assert_eq!(list.matches("<span class=\"mark warn\">none</span>").count(), 1, "{list}");
    let give = r#"mutation {
        link: serviceRepositoryCreate(input: { service: { alias: "cart" }, repository: { alias: "github.com:org/another" } }) { errors { message } }
        own: serviceUpdate(input: { alias: "cart", ownerInput: { alias: "core" } }) { errors { message } }
    }"#;
    let given = data(&app, give).await;
    assert_eq!((&given["link"]["errors"], &given["own"]["errors"]), (&json!([]), &json!([])), "{given}");
    let list = browser.page("/repositories").await;
    let of_service = "<a href=\"/teams/core\">Core</a> <span class=\"soft\">(through Cart)</span>";
    assert_eq!(list.matches(of_service).count(), 1, "{list}");
    let another = r#"{ account { repository(alias: "github.com:org/another") { htmlUrl } } }"#;
    let another = path_of(&app, another, "/data/account/repository/htmlUrl").await;
    let page = browser.page(&another).await;
    assert!(page.contains(&format!("<dt>Owner</dt><dd>{of_service}</dd>")), "{page}");
    assert!(!list.contains("<span class=\"mark warn\">none</span>"), "{list}");
    let by_name = browser.page("/repositories?sort=name_ASC").await;
    assert!(by_name.find("org/another") < by_name.find("org/shop</a>"), "{by_name}");
    assert_eq!(browser.get("/repositories?sort=nothing").await.status, 400);
    let page = browser.page(&here).await;
    for part in [
        "<h1>org/shop</h1>",
        "<strong>shop</strong>",
        "href=\"/teams/core\">Core</a>",
        "href=\"https://github.com/org/shop\"",
        "<dd><code>trunk</code></dd>",
        "Rust 100%",
        "Shell &lt;1%",
        ">private</span>",
        "2 services",
        "<a href=\"/services/cart\">Cart</a>",
        "src/cart</a>",
        "Most critical tier",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(browser.page("/services/cart").await.contains(&format!("href=\"{here}\"")));
    for path in ["/repositories/99", "/repositories/x", "/repositories/1/edit"] {
        assert_eq!(browser.get(path).await.status, 404, "{path}");
    }
    // The file that an empty page shows is one that applies.
    let empty = TestApp::start().await;
    let viewer = Browser::of(&empty, Role::Viewer).await;
    let page = viewer.page("/repositories").await;
    let shown = page.split_once("<pre>").and_then(|(_, rest)| rest.split_once("</pre>")).expect("a file").0;
    let apply = "mutation($input: ServiceFilesApplyInput!) { serviceFilesApply(input: $input) { errors { message } } }";
    let input = json!({ "files": [{ "path": "rollcall.yml", "text": shown }] });
    let applied = empty.query(apply, json!({ "input": input })).await;
    assert_eq!(applied["data"]["serviceFilesApply"]["errors"], json!([]), "{applied}");
    let page = viewer.page("/repositories").await;
    assert!(page.contains(">org/cart</a>") && !page.contains("No repositories yet."), "{page}");
}

#[tokio::test]
async fn a_user_has_a_page_with_contacts_and_teams() {
    let app = TestApp::start().await;
    let create = r#"mutation {
        userInvite(email: "grace@example.com", input: { name: "Grace Hopper", role: team_member }) { user { id } errors { message } }
        teamCreate(input: { name: "Core", managerEmail: "grace@example.com", members: { email: "grace@example.com" } }) { errors { message } }
        tagCreate(input: { alias: "grace@example.com", type: User, key: "site", value: "north" }) { errors { message } }
    }"#;
    let made = data(&app, create).await;
    let contact = "mutation($id: ID!) { contactCreate(input: { ownerId: $id, type: slack, address: \"@grace\" }) { errors { message } } }";
    app.query(contact, json!({ "id": made["userInvite"]["user"]["id"] })).await;
    let query = r#"{ account { user(input: { email: "grace@example.com" }) { htmlUrl } } }"#;
    let here = path_of(&app, query, "/data/account/user/htmlUrl").await;
    let browser = Browser::of(&app, Role::Viewer).await;
    let page = browser.page(&here).await;
    for part in [
        "<h1>Grace Hopper</h1>",
        "href=\"mailto:grace@example.com\"",
        "@grace",
        "<dd>team member</dd>",
        "site",
        "1 team",
        "<a href=\"/teams/core\">Core</a>",
        ">never</span>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert_eq!(browser.page("/teams/core").await.matches(&format!("href=\"{here}\"")).count(), 2);
    for path in ["/users/99", "/users/x"] {
        assert_eq!(browser.get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn the_api_says_how_each_user_was_created() {
    let app = TestApp::start().await;
    data(&app, r#"mutation { userInvite(email: "token@example.com", input: {}) { errors { message } } }"#).await;
    // The administrator of the browser is made like the first one.
    let mut ada = Browser::of(&app, Role::Admin).await;
    let invited = ada.post("/users", &[("email", "bob@example.com"), ("name", ""), ("role", "user")]).await;
    assert_eq!(invited.status, 200, "{invited:?}");
    let users = data(&app, "{ account { users(sortBy: email_ASC) { nodes { email provisionedBy } } } }").await;
    let users = users["account"]["users"]["nodes"].as_array().expect("users").clone();
    let by = |email: &str| users.iter().find(|user| user["email"] == email).expect("a user")["provisionedBy"].clone();
    assert_eq!([by("token@example.com"), by("bob@example.com")], [json!("api_other"), json!("user")]);
    assert!(users.iter().any(|user| user["provisionedBy"] == "api_cli"), "{users:?}");
    // Not recorded by earlier versions.
    let none = user::Entity::update_many().col_expr(user::Column::ProvisionedBy, Expr::value(Option::<String>::None));
    app.db.write(async |db| db.exec(none).await).await.expect("an update");
    let users = data(&app, "{ account { users(first: 1) { nodes { provisionedBy } } } }").await;
    assert_eq!(users["account"]["users"]["nodes"], json!([{ "provisionedBy": null }]));
}

#[tokio::test]
async fn the_page_of_definitions_shows_every_kind_and_leads_to_their_services() {
    let app = TestApp::start().await;
    let create = r#"mutation {
        componentTypeCreate(input: { name: "Gadget", description: "A thing" }) { errors { message } }
        propertyDefinitionCreate(input: {
            name: "Rooms", description: "Where it runs", schema: { type: "array" }, lockedStatus: ui_locked, propertyDisplayStatus: hidden
        }) { errors { message } }
        teamPropertyDefinitionCreate(input: { alias: "rota", name: "Rota", description: "Who", schema: { type: "string" } }) { errors { message } }
        relationshipDefinitionCreate(input: {
            alias: "billing", name: "Billed to", componentType: { alias: "service" }, metadata: { allowedTypes: ["team"], minItems: 1, maxItems: 3 }
        }) { errors { message } }
        levelCreate(input: { name: "Bronze", description: "Begun" }) { errors { message } }
        categoryCreate(input: { name: "Security", description: "Safe" }) { errors { message } }
        filterCreate(input: { name: "Vital", connective: or, predicates: [
            { key: tier_index, type: equals, value: "1" }, { key: tags, keyData: "env", type: equals, value: "<prod>" }
        ] }) { errors { message } }
        gadget: serviceCreate(input: { name: "Widget", type: { alias: "gadget" } }) { errors { message } }
        plain: serviceCreate(input: { name: "Cart" }) { errors { message } }
    }"#;
    for (name, payload) in data(&app, create).await.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    let browser = Browser::of(&app, Role::Viewer).await;
    let page = browser.page("/definitions").await;
    for part in [
        "<h2>Component types</h2>",
        ">Gadget</a> <code class=\"soft\">gadget</code>",
        "<th scope=\"row\">Rooms <code class=\"soft\">rooms</code></th><td>array <span class=\"mark none\">set by programs only</span> <span class=\"mark none\">hidden</span></td>",
        "<th scope=\"row\">Rota <code class=\"soft\">rota</code></th><td>text</td><td>Who</td>",
        "<td data-label=\"From\">Service</td><td data-label=\"To\">team</td><td data-label=\"How many\">1 to 3</td>",
        "<h2>Levels</h2>",
        "<td>Begun</td>",
        "<th scope=\"row\">Security</th><td>Safe</td>",
        "<h2>Tiers</h2>",
        "<h2>Lifecycle stages</h2>",
        "tier is <strong>Mission Critical</strong> or tags <code>env</code> equals <code>&lt;prod&gt;</code>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // From a type, and from a filter, to the services.
    let query = r#"{ account { componentType(input: { alias: "gadget" }) { href } } }"#;
    let services = path_of(&app, query, "/data/account/componentType/href").await;
    assert!(page.contains(&format!("href=\"{services}\"")), "{services}: {page}");
    let list = browser.page(&services).await;
    assert!(list.contains("1 service") && list.contains(">Widget</a>") && !list.contains(">Cart</a>"), "{list}");
    assert!(list.contains("selected>Gadget</option>"), "{list}");
    let filtered = page.split('"').find(|text| text.starts_with("/services?filter=")).expect("a link");
    assert_eq!(browser.get(filtered).await.status, 200);
}
