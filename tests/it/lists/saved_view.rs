//! Saved views of the list of services: the API, the pages, and what becomes of a view whose parts are gone.

use rollcall::db::{Read, Write};
use rollcall::entity::saved_view::{self, MOST, MOST_SHARED};
use rollcall::entity::user::Role;
use rollcall::entity::{Timestamp, audit, event, user};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;

const CREATE: &str = "mutation($input: SavedViewCreateInput!) {
    savedViewCreate(input: $input) { savedView { id name query shared own problem htmlUrl owner { email } } errors { message path } }
}";
const UPDATE: &str = "mutation($input: SavedViewUpdateInput!) {
    savedViewUpdate(input: $input) { savedView { id name query shared } errors { message path } }
}";
const DELETE: &str = "mutation($id: ID!) { savedViewDelete(input: { id: $id }) { deletedId errors { message path } } }";
const ALL: &str = "{ account { savedViews { name query shared own problem } } }";

/// Saves a view, which must succeed.
async fn saved(browser: &Browser<'_>, input: Value) -> Value {
    let answer = browser.query(CREATE, json!({ "input": input })).await;
    assert_eq!(answer["data"]["savedViewCreate"]["errors"], json!([]), "{answer}");
    answer["data"]["savedViewCreate"]["savedView"].clone()
}

/// The first mistake of a mutation.
async fn mistake(browser: &Browser<'_>, mutation: &str, input: Value) -> Value {
    let answer = browser.query(mutation, json!({ "input": input })).await;
    let payload =
        answer["data"].as_object().and_then(|data| data.values().next()).unwrap_or_else(|| panic!("{answer}"));
    payload["errors"][0].clone()
}

async fn names(browser: &Browser<'_>) -> Vec<String> {
    let answer = browser.query(ALL, json!({})).await;
    let views = answer["data"]["account"]["savedViews"].as_array().unwrap_or_else(|| panic!("{answer}"));
    views.iter().map(|view| view["name"].as_str().expect("a name").to_owned()).collect()
}

/// The path in an address.
fn path(app: &TestApp, url: &Value) -> String {
    let url = url.as_str().expect("an address");
    url.split_once(&app.address.to_string()).unwrap_or_else(|| panic!("{url}")).1.to_owned()
}

#[tokio::test]
async fn a_view_is_saved_shared_changed_and_deleted_by_its_owner() {
    let app = TestApp::start().await;
    data(&app, r#"mutation { teamCreate(input: { name: "Core" }) { errors { message } } }"#).await;
    let (mem, vera) = (Browser::of(&app, Role::User).await, Browser::of(&app, Role::Viewer).await);
    let view =
        saved(&mem, json!({ "name": " Tier 1 ", "query": "?unowned=1&tier=tier_1&columns=tier&columns=tags" })).await;
    assert_eq!((&view["name"], &view["shared"], &view["own"]), (&json!("Tier 1"), &json!(false), &json!(true)));
    assert_eq!(view["query"], "tier=tier_1&unowned=1&columns=tier%2Ctags", "as the list understands it");
    assert_eq!((&view["problem"], &view["owner"]["email"]), (&Value::Null, &json!("user@example.com")));
    let address = path(&app, &view["htmlUrl"]);
    assert_eq!(vera.get(&address).await.status, 404, "it is private");
    assert_eq!(names(&vera).await, [""; 0]);
    assert_eq!(
        app.query(ALL, json!({})).await["data"]["account"]["savedViews"],
        json!([]),
        "a token sees what is shared"
    );

    let id = &view["id"];
    let one = "query($id: ID!) { account { savedView(id: $id) { name own } } }";
    assert_eq!(vera.query(one, json!({ "id": id })).await["data"]["account"]["savedView"], Value::Null);
    let changed = mem
        .query(UPDATE, json!({ "input": { "id": id, "name": "All of Core", "query": "owner=core", "shared": true } }));
    let changed = changed.await["data"]["savedViewUpdate"].clone();
    assert_eq!(changed["errors"], json!([]));
    assert_eq!(
        (&changed["savedView"]["name"], &changed["savedView"]["query"]),
        (&json!("All of Core"), &json!("owner=core"))
    );
    let seen = vera.query(one, json!({ "id": id })).await["data"]["account"]["savedView"].clone();
    assert_eq!(seen, json!({ "name": "All of Core", "own": false }));
    assert_eq!(vera.get(&address).await.place(), "/services");
    assert_eq!(app.query(ALL, json!({})).await["data"]["account"]["savedViews"][0]["own"], json!(false));

    let again = mem.query(UPDATE, json!({ "input": { "id": id, "query": "owner=CORE" } })).await;
    assert_eq!(again["data"]["savedViewUpdate"]["errors"], json!([]), "a team's name in other letters");
    // Nobody else changes it.
    let refused = mistake(&vera, UPDATE, json!({ "id": id, "name": "Mine" })).await;
    assert_eq!(refused["message"], "only its owner can change a saved view");
    let refused = vera.query(DELETE, json!({ "id": id })).await;
    assert_eq!(
        refused["data"]["savedViewDelete"]["errors"][0]["message"],
        "only its owner or an administrator can delete a saved view"
    );
    let gone = mem.query(DELETE, json!({ "id": id })).await;
    assert_eq!(gone["data"]["savedViewDelete"]["deletedId"], *id);
    assert_eq!(mem.get(&address).await.status, 404);
    let refused = mistake(&mem, UPDATE, json!({ "id": id, "name": "Again" })).await;
    assert_eq!(refused["path"], json!(["id"]));
}

#[tokio::test]
async fn everybody_saves_for_themselves_only_members_share_and_a_token_does_neither() {
    let app = TestApp::start().await;
    for role in [Role::Viewer, Role::TeamMember, Role::User, Role::StandardsAdmin, Role::Admin] {
        let browser = Browser::of(&app, role).await;
        let view = saved(&browser, json!({ "name": "Mine", "query": "mine=1" })).await;
        let shared = json!({ "name": format!("{role:?}"), "query": "", "shared": true });
        let refused = mistake(&browser, CREATE, shared).await;
        let share = mistake(&browser, UPDATE, json!({ "id": view["id"], "shared": true })).await;
        let expected = match role >= Role::User {
            true => Value::Null,
            false => json!({ "message": "only a member can share a view with everybody", "path": ["shared"] }),
        };
        assert_eq!((&refused, &share), (&expected, &expected), "{role:?}");
    }
    let input = json!({ "name": "Of a script", "query": "" });
    let answer = app.query(CREATE, json!({ "input": input })).await["data"]["savedViewCreate"].clone();
    let message = "an API token belongs to nobody: saved views and favourites belong to the person who is signed in";
    assert_eq!(answer["errors"], json!([{ "message": message, "path": ["base"] }]));
    assert_eq!(answer["savedView"], Value::Null);
    // What one person shares, an administrator may delete.
    let (mem, ada) = (Browser::of(&app, Role::User).await, Browser::of(&app, Role::Admin).await);
    let view = saved(&mem, json!({ "name": "Everybody's", "query": "", "shared": true })).await;
    let deleted = ada.query(DELETE, json!({ "id": view["id"] })).await["data"]["savedViewDelete"].clone();
    assert_eq!(deleted["errors"], json!([]));
}

#[tokio::test]
async fn whoever_may_share_no_more_changes_a_shared_view_only_by_ending_that() {
    let app = TestApp::start().await;
    let mem = Browser::of(&app, Role::User).await;
    let id = saved(&mem, json!({ "name": "Go", "query": "language=Go", "shared": true })).await["id"].clone();
    let demote = r#"mutation { userUpdate(user: { email: "user@example.com" }, input: { role: viewer }) {
        errors { message }
    } }"#;
    assert_eq!(app.query(demote, json!({})).await["data"]["userUpdate"]["errors"], json!([]));
    let expected = json!({ "message": "only a member can share a view with everybody", "path": ["shared"] });
    for change in [json!({ "name": "Rust" }), json!({ "query": "language=Rust" }), json!({ "shared": true })] {
        let mut input = change.clone();
        input["id"] = id.clone();
        assert_eq!(mistake(&mem, UPDATE, input).await, expected, "{change}");
    }
    let input = json!({ "id": id, "name": "Rust", "query": "language=Rust", "shared": false });
    assert_eq!(mistake(&mem, UPDATE, input).await, Value::Null);
    let input = json!({ "id": id, "name": "Java" });
    assert_eq!(mistake(&mem, UPDATE, input).await, Value::Null, "it is private");
    assert_eq!(names(&mem).await, ["Java"]);
}

#[tokio::test]
async fn names_queries_and_numbers_of_views_are_bounded() {
    let app = TestApp::start().await;
    let mem = Browser::of(&app, Role::User).await;
    saved(&mem, json!({ "name": "n".repeat(80), "query": "" })).await;
    for (name, query, field) in [
        ("", "", "name"),
        ("   ", "", "name"),
        (&*"n".repeat(81), "", "name"),
        ("a\u{202e}b", "", "name"),
        (&*"n".repeat(80), "", "name"),
        ("x", "colour=red", "query"),
        ("x", "columns=owner,colour", "query"),
        ("x", "sort=colour_ASC", "query"),
        ("x", "quiet=soon", "query"),
        ("x", "tier=a&tier=b", "query"),
        ("x", "owner=nobody", "query"),
        ("x", "tier=tier_99", "query"),
        ("x", "level=999", "query"),
        ("x", "filter=none", "query"),
        ("x", &*format!("search={}", "x".repeat(256)), "query"),
        ("x", &*format!("tag={}", "x".repeat(2_048)), "query"),
    ] {
        let refused = mistake(&mem, CREATE, json!({ "name": name, "query": query })).await;
        assert_eq!(refused["path"], json!([field]), "{name:.10} {query:.20}: {refused}");
    }
    // Others may have a view of the same name.
    let vera = Browser::of(&app, Role::Viewer).await;
    saved(&vera, json!({ "name": "n".repeat(80), "query": "" })).await;
    let mem_id = owner(&app, "user@example.com").await;
    let row = |number: u64, user_id: i64, shared: bool| saved_view::ActiveModel {
        user_id: Set(user_id),
        name: Set(format!("view {number}")),
        query: Set(String::new()),
        shared: Set(shared),
        created_at: Set(Timestamp::now()),
        updated_at: Set(Timestamp::now()),
        ..Default::default()
    };
    let more: Vec<_> = (1..MOST).map(|number| row(number, mem_id, false)).collect();
    app.db.write(async |db| db.insert_all(more).await).await.expect("views");
    let refused = mistake(&mem, CREATE, json!({ "name": "one more", "query": "" })).await;
    assert_eq!(refused["message"], "you can have at most 50 saved views; delete one first");
    assert_eq!(names(&mem).await.len() as u64, MOST);
    // As many as may be shared, of others.
    let ada = Browser::of(&app, Role::Admin).await;
    let ada_id = owner(&app, "admin@example.com").await;
    let shared: Vec<_> = (0..MOST_SHARED).map(|number| row(number, ada_id, true)).collect();
    app.db.write(async |db| db.insert_all(shared).await).await.expect("views");
    let id =
        mem.query("{ account { savedViews { id own } } }", json!({})).await["data"]["account"]["savedViews"][0]["id"]
            .clone();
    let refused = mistake(&mem, UPDATE, json!({ "id": id, "shared": true })).await;
    assert_eq!(refused["message"], "at most 200 views can be shared; ask somebody to delete one");
    assert_eq!(names(&mem).await.len() as u64, MOST + MOST_SHARED);
    assert!(ada.page("/services").await.len() < 100_000);
}

async fn owner(app: &TestApp, email: &str) -> i64 {
    user::by_email(app.db.read(), email).await.expect("a read").expect("a user").id
}

#[tokio::test]
async fn the_list_is_saved_and_opened_by_its_address_and_the_owner_overwrites_renames_and_deletes_it() {
    let app = TestApp::start().await;
    let made = r#"mutation {
        core: teamCreate(input: { name: "Core" }) { errors { message } }
        a: serviceCreate(input: { name: "Cart", tierAlias: "tier_1", language: "Go" }) { errors { message } }
        b: serviceCreate(input: { name: "Mail", language: "Go", ownerInput: { alias: "core" } }) { errors { message } }
    }"#;
    data(&app, made).await;
    let (mut mem, vera) = (Browser::of(&app, Role::User).await, Browser::of(&app, Role::Viewer).await);
    let page = mem.page("/services?tier=tier_1&unowned=1").await;
    assert!(page.contains("name=\"query\" value=\"tier=tier_1&amp;unowned=1\""), "{page}");
    assert!(page.contains("Share it with everybody") && !vera.page("/services").await.contains("Share it"));
    let hostile = "Tier 1 <b>&\"'";
    let form = [("name", hostile), ("query", "tier=tier_1&unowned=1&columns=language"), ("shared", "1")];
    let answer = mem.post("/views", &form).await;
    let to = answer.header("location").expect("a place").to_owned();
    assert_eq!(to, "/services?tier=tier_1&unowned=1&columns=language&view=1&done=saved");
    let page = mem.page(&to).await;
    assert!(page.contains("aria-current=\"true\">Tier 1 &lt;b&gt;&amp;&quot;'<"), "{page}");
    assert!(page.contains(">Cart<") && !page.contains(">Mail<") && !page.contains("<b>"), "{page}");
    assert!(!page.contains("Save the changes to"), "nothing has changed");
    // Whoever gets the link sees the same list.
    let led = vera.get("/views/1").await;
    assert_eq!(led.location(), "/services?tier=tier_1&unowned=1&columns=language&view=1");
    let page = vera.page(led.location()).await;
    assert!(page.contains(">Cart<") && !page.contains("/views/1/edit"), "{page}");
    assert!(vera.page("/views").await.contains("Tier 1 &lt;b&gt;"));
    // The owner changes the list, and saves it in the place of the view.
    let page = mem.page("/services?language=Go&view=1").await;
    assert!(page.contains("action=\"/views/1/save\"") && page.contains("value=\"language=Go\""), "{page}");
    let answer = mem.post("/views/1/save", &[("query", "language=Go")]).await;
    assert_eq!(answer.header("location"), Some("/services?language=Go&view=1&done=saved"));
    assert_eq!(vera.get("/views/1").await.location(), "/services?language=Go&view=1");
    // Without the box it is shared no more.
    assert!(mem.page("/views/1/edit").await.contains("checked"));
    assert_eq!(mem.post("/views/1/edit", &[("name", "Go")]).await.location(), "/views");
    assert_eq!(vera.get("/views/1").await.status, 404);
    let refused = mem.post("/views/1/edit", &[("name", "")]).await;
    assert!(refused.status == 422 && refused.text().contains("id=\"wrong-name\""), "{refused:?}");
    let refused = mem.post("/views", &[("name", "Go"), ("query", "")]).await;
    assert!(refused.status == 422 && refused.text().contains("You have a view of this name already"), "{refused:?}");
    assert_eq!(mem.post("/views/1/save", &[("query", "colour=red")]).await.status, 400);
    let mut vera = vera;
    for (path, form) in [("/views/1/save", [("query", "")]), ("/views/1/delete", [("x", "")])] {
        assert_eq!(vera.post(path, &form).await.status, 400, "{path}");
    }
    assert_eq!(mem.post("/views/1/delete", &[]).await.header("location"), Some("/views?done=deleted"));
    for path in ["/views/1", "/views/1/edit", "/views/0", "/views/x", "/views/1/colour"] {
        assert_eq!(mem.get(path).await.status, 404, "{path}");
    }
    assert_eq!(Browser::new(&app).get("/views").await.place(), "/sign-in");
}

#[tokio::test]
async fn a_view_that_names_what_is_gone_says_so_and_can_be_deleted() {
    let app = TestApp::start().await;
    let made = r#"mutation {
        core: teamCreate(input: { name: "Core" }) { errors { message } }
        filter: filterCreate(input: { name: "Go" }) { filter { id } errors { message } }
        cart: serviceCreate(input: { name: "Cart" }) { errors { message } }
    }"#;
    let filter = data(&app, made).await["filter"]["filter"]["id"].as_str().expect("an id").to_owned();
    let mut mem = Browser::of(&app, Role::User).await;
    saved(&mem, json!({ "name": "Of Core", "query": "owner=core" })).await;
    saved(&mem, json!({ "name": "Of a filter", "query": format!("filter={filter}") })).await;
    let gone = "mutation($filter: ID!) {
        team: teamDelete(input: { alias: \"core\" }) { errors { message } }
        filter: filterDelete(input: { id: $filter }) { errors { message } }
    }";
    app.query(gone, json!({ "filter": filter })).await;
    // Of another release, perhaps.
    let mem_id = owner(&app, "user@example.com").await;
    let odd = saved_view::ActiveModel {
        user_id: Set(mem_id),
        name: Set("Odd".to_owned()),
        query: Set("colour=red".to_owned()),
        shared: Set(false),
        created_at: Set(Timestamp::now()),
        updated_at: Set(Timestamp::now()),
        ..Default::default()
    };
    app.db.write(async |db| db.insert(odd).await).await.expect("a view");
    let problems = mem.query(ALL, json!({})).await["data"]["account"]["savedViews"].clone();
    let problem = |at: usize| problems[at]["problem"].as_str().unwrap_or_default().to_owned();
    assert!(problem(0).contains("is not understood any more") && problem(0).contains("colour"), "{problems}");
    assert_eq!(problem(1), "The saved filter does not exist.");
    assert_eq!(problem(2), "No team has the alias \"core\".");
    let all = mem.page("/views").await;
    assert_eq!(all.matches("does not work").count(), 3, "{all}");
    for number in 1..=3 {
        let page = mem.page(&format!("/views/{number}")).await;
        assert!(page.contains("This view does not work any more.") && page.contains("Yes, delete"), "{page}");
    }
    // The list itself says what is missing, in the place of services.
    for query in ["owner=core".to_owned(), format!("filter={filter}")] {
        let page = mem.page(&format!("/services?{query}")).await;
        let says = page.contains("No team has the alias") || page.contains("The saved filter does not exist.");
        assert!(says && page.contains("No services match.") && !page.contains(">Cart<"), "{page}");
    }
    for number in 1..=3 {
        assert_eq!(mem.post(&format!("/views/{number}/delete"), &[]).await.location(), "/views");
    }
    assert!(mem.page("/views").await.contains("No saved views yet."));
}

#[tokio::test]
async fn views_go_with_their_owner_and_the_audit_has_their_changes_but_nobody_is_told() {
    let app = TestApp::with(&["--send-events-to", "hooks.example.com"]).await;
    let ada = Browser::of(&app, Role::Admin).await;
    let subscribed = r#"mutation { eventSubscriptionCreate(input: {
        name: "All", receiverUrl: "https://hooks.example.com/x", events: [object_changed]
    }) { errors { message } } }"#;
    data(&app, subscribed).await;
    let mem = Browser::of(&app, Role::User).await;
    saved(&mem, json!({ "name": "Secret plan", "query": "", "shared": true })).await;
    let told = audit::Entity::find().filter(audit::Column::Action.eq("savedViewCreate"));
    let told = app.db.read().all(told).await.expect("entries");
    assert_eq!(told.len(), 1);
    assert!(told[0].detail.contains("Secret plan") && told[0].actor_name.contains("user@example.com"), "{told:?}");
    let events = app.db.read().all(event::Entity::find()).await.expect("events");
    assert!(events.iter().all(|event| !event.detail.contains("Secret plan")), "{events:?}");
    let id = ada.query(r#"{ account { user(input: { email: "user@example.com" }) { id } } }"#, json!({})).await;
    let delete = "mutation($id: ID!) { userDelete(user: { id: $id }) { errors { message } } }";
    app.query(delete, json!({ "id": id["data"]["account"]["user"]["id"] })).await;
    assert!(app.db.read().all(saved_view::Entity::find()).await.expect("views").is_empty());
    assert_eq!(names(&ada).await, [""; 0]);
}

#[tokio::test]
async fn columns_are_chosen_in_the_address_and_kept_by_every_link_and_form() {
    let app = TestApp::start().await;
    let made = r#"mutation {
        till: systemCreate(input: { name: "Till" }) { errors { message } }
        cart: serviceCreate(input: { name: "Cart", language: "Go", framework: "gin", parent: { alias: "till" } }) { errors { message } }
        tag: tagCreate(input: { alias: "cart", type: Service, key: "env", value: "prod" }) { errors { message } }
    }"#;
    data(&app, made).await;
    let vera = Browser::of(&app, Role::Viewer).await;
    let headings = |page: &str| -> Vec<String> {
        let head = page.split_once("<thead>").expect("a table").1.split_once("</thead>").expect("its end").0;
        let cells = head.split("<th").skip(1).map(|cell| cell.split_once('>').expect("a cell").1);
        let text = |cell: &str| {
            let (mut text, mut is_tag) = (String::new(), false);
            for letter in cell.chars() {
                match letter {
                    '<' => is_tag = true,
                    '>' => is_tag = false,
                    _ if !is_tag => text.push(letter),
                    _ => {}
                }
            }
            text
        };
        cells.map(text).collect()
    };
    let usual = vera.page("/services").await;
    assert_eq!(
        headings(&usual),
        ["Mark and select", "Service", "Owner", "Tier", "Language", "Last deploy"],
        "a lifecycle is shown to those who choose it"
    );
    // Phones have no headings: there, chosen columns name their cells.
    assert!(!usual.contains("data-label") && usual.contains("<td class=\"roomy\">Go</td>"), "{usual}");
    // So what a service lacks says what it is.
    for none in ["no owner", "no tier"] {
        assert!(usual.contains(&format!("<td><span class=\"mark warn\">{none}</span></td>")), "{none}: {usual}");
    }
    assert!(usual.find("<summary>Columns</summary>") < usual.find("<table"), "{usual}");
    let nothing = vera.page("/services?search=zzz").await;
    assert!(!nothing.contains("<summary>Columns</summary>"), "{nothing}");
    for query in
        ["columns=tags,system,framework,alias,type", "columns=tags&columns=system&columns=framework,alias,type"]
    {
        let page = vera.page(&format!("/services?{query}&language=Go")).await;
        assert_eq!(headings(&page), ["Mark and select", "Service", "Tags", "System", "Framework", "Alias", "Type"]);
        assert!(page.contains("<td data-label=\"System\">Till</td>"), "{page}");
        assert!(page.contains(">env: prod<") && page.contains(">Till</td>") && page.contains(">gin</td>"), "{page}");
        assert!(page.contains("<code>cart</code>") && page.contains(">Service</td>"), "{page}");
        let kept = "columns=tags%2Csystem%2Cframework%2Calias%2Ctype";
        if query.contains('&') {
            continue;
        }
        assert!(page.contains(&format!("href=\"/services.csv?{kept}&amp;language=Go\"")), "{page}");
        assert!(page.contains(&format!("href=\"/services?{kept}\">Language is")), "the chip: {page}");
        assert!(page.contains("type=\"hidden\" name=\"columns\" value=\"tags,system,framework,alias,type\""), "{page}");
    }
    let file = vera.page("/services.csv?columns=tags,last_deploy,owner").await;
    assert_eq!(file, "name,tags,last deploy,last status,owner\r\nCart,env:prod,,,\r\n");
    let odd = vera.get("/services?columns=owner,colour").await;
    assert!(odd.status == 400 && odd.text().contains("The list has no such column"), "{odd:?}");
    assert_eq!(vera.get("/services.csv?columns=colour").await.status, 400);
}
