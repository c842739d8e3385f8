//! Decisions about several suggestions at once.

use rollcall::entity::user::Role;
use serde_json::json;

use crate::harness::app::data;
use crate::harness::browser::Browser;
use crate::harness::webhook::Endpoint;

/// An endpoint with suggestions of these names, and their ids.
async fn suggested<const N: usize>(names: [&str; N]) -> (Endpoint, Vec<String>) {
    let endpoint = Endpoint::start().await;
    for name in names {
        assert_eq!(endpoint.post_with(json!({ "service": name, "dedup_id": name })).await.status, 202);
    }
    let found = data(&endpoint.app, "{ account { serviceSuggestions { nodes { id } } } }").await;
    let nodes = found["account"]["serviceSuggestions"]["nodes"].as_array().expect("a list").clone();
    let ids = nodes.iter().map(|node| node["id"].as_str().expect("an id").to_owned()).collect();
    (endpoint, ids)
}

#[tokio::test]
async fn suggestions_are_accepted_with_an_owner_and_a_tier_all_or_none() {
    let (endpoint, ids) = suggested(["cart", "ledger", "bus <b>"]).await;
    let app = &endpoint.app;
    data(app, r#"mutation { teamCreate(input: { name: "Core" }) { errors { message } } }"#).await;
    let mut mem = Browser::of(app, Role::User).await;
    let page = mem.page("/suggestions").await;
    assert_eq!(page.matches("type=\"checkbox\" name=\"id\"").count(), 3, "{page}");
    let chosen = |owner: &'static str| {
        let mut form: Vec<(&str, &str)> = ids.iter().map(|id| ("id", id.as_str())).collect();
        form.extend([("what", "create"), ("ownerInput.alias", owner), ("tierAlias", "tier_2")]);
        form
    };
    let refused = mem.post("/suggestions", &chosen("nobody")).await;
    assert!(refused.status == 422 && refused.text().contains("wrong-ownerInput.alias"), "{refused:?}");
    let chosen_boxes = |page: &str| page.matches("form=\"chosen\" checked").count();
    assert_eq!(chosen_boxes(refused.text()), 3, "they stay chosen");
    // A link chooses all of a page, and another one none.
    assert!(
        chosen_boxes(&page) == 0 && page.contains("href=\"/suggestions?all=1\">Choose all on this page<"),
        "{page}"
    );
    let all = mem.page("/suggestions?all=1").await;
    assert!(chosen_boxes(&all) == 3 && all.contains("href=\"/suggestions\">Choose none<"), "{all}");
    assert!(mem.page("/services").await.contains("1 service<"), "all or none");
    let accepted = mem.post("/suggestions", &chosen("core")).await;
    let page = mem.page(accepted.location()).await;
    assert!(page.contains("3 services created") && page.contains("href=\"/services/ledger\""), "{page}");
    assert_eq!(page.matches("class=\"notice\"").count(), 1, "said once: {page}");
    assert!(page.contains("No open suggestions."), "{page}");
    let found = data(
        app,
        "{ account { services(hasOwner: true) { nodes { owner { alias } tier { alias } deploys { totalCount } } } } }",
    )
    .await;
    let each = json!({ "owner": { "alias": "core" }, "tier": { "alias": "tier_2" }, "deploys": { "totalCount": 1 } });
    assert_eq!(found["account"]["services"]["nodes"], json!([each, each, each]));
    // Each new service has an entry of its own.
    for alias in ["cart", "ledger"] {
        let page = mem.page(&format!("/services/{alias}/history")).await;
        assert!(page.contains("service suggestions"), "{page}");
    }
    let again = "mutation($ids: [ID!]!) { serviceSuggestionsAccept(input: { ids: $ids }) { services { id } errors { message path } } }";
    let answer = app.query(again, json!({ "ids": [ids[0]] })).await;
    let errors = json!([{ "message": "the suggestion has already been accepted", "path": ["ids", "0"] }]);
    assert_eq!(answer["data"]["serviceSuggestionsAccept"], json!({ "services": null, "errors": errors }));
}

#[tokio::test]
async fn the_table_of_suggestions_says_how_often_when_and_which_service_is_alike() {
    let (endpoint, _) = suggested(["shpo", "<b>"]).await;
    let app = &endpoint.app;
    assert_eq!(endpoint.post_with(json!({ "service": "shpo", "dedup_id": "again" })).await.status, 202);
    data(app, r#"mutation { serviceCreate(input: { name: "Shp" }) { errors { message } } }"#).await;
    let mem = Browser::of(app, Role::User).await;
    let page = mem.page("/suggestions").await;
    for shown in [
        "aria-label=\"Choose shpo\"",
        "<small class=\"on-phones\">2 deploys, last <time",
        "<td class=\"number wide\">2</td>",
        "<a href=\"/services/shop\">shop</a><small>similar name</small>",
        "<summary>1 more<span class=\"hidden\"> like shpo</span></summary>",
        "<span class=\"soft\">none</span>",
        "Map a name to a proposed service only if it is the same one",
        "Choose &lt;b&gt;",
    ] {
        assert!(page.contains(shown), "{shown} is missing: {page}");
    }
    // Whoever may not decide sees the proposals, and no form.
    let page = Browser::of(app, Role::Viewer).await.page("/suggestions").await;
    assert!(page.contains("<small>similar name</small>") && !page.contains("Map to this"), "{page}");
    assert!(!page.contains("/create\"") && !page.contains("name=\"id\""), "{page}");
}

#[tokio::test]
async fn chosen_suggestions_are_ignored_and_that_is_undone() {
    let (endpoint, ids) = suggested(["cart", "ledger"]).await;
    let app = &endpoint.app;
    let mut mem = Browser::of(app, Role::User).await;
    let chosen = |what: &'static str| [("id", &*ids[0]), ("id", &*ids[1]), ("what", what)];
    let ignored = mem.post("/suggestions", &chosen("ignore")).await;
    let page = mem.page(ignored.location()).await;
    assert!(page.contains("2 suggestions ignored.") && page.contains("value=\"reopen\">Undo"), "{page}");
    assert!(page.contains("No open suggestions."), "{page}");
    mem.post("/suggestions", &chosen("reopen")).await;
    assert_eq!(mem.page("/suggestions").await.matches("name=\"id\" value=").count(), 2);
    let none = mem.post("/suggestions", &[("what", "ignore")]).await;
    assert!(none.status == 422 && none.text().contains("Choose at least one suggestion"), "{none:?}");
    assert_eq!(mem.post("/suggestions", &chosen("burn")).await.status, 404);
    let query = "mutation($ids: [ID!]!) { serviceSuggestionsIgnore(input: { ids: $ids }) { serviceSuggestions { id } errors { message path } } }";
    for (given, message, path) in [
        (vec![], "ids must name 1 to 100 suggestions", json!(["ids"])),
        (vec![ids[0].clone(); 101], "ids must name 1 to 100 suggestions", json!(["ids"])),
        (vec![ids[0].clone(); 2], "each suggestion can be named once", json!(["ids", "1"])),
    ] {
        let answer = app.query(query, json!({ "ids": given })).await;
        let errors = json!([{ "message": message, "path": path }]);
        assert_eq!(answer["data"]["serviceSuggestionsIgnore"], json!({ "serviceSuggestions": null, "errors": errors }));
    }
    let viewer = Browser::of(app, Role::Viewer).await;
    assert!(!viewer.page("/suggestions").await.contains("type=\"checkbox\""));
}

#[tokio::test]
async fn error_pages_count_the_open_suggestions_as_other_pages_do() {
    let (endpoint, _) = suggested(["cart", "ledger"]).await;
    let viewer = Browser::of(&endpoint.app, Role::Viewer).await;
    let count = "<span class=\"count\">2<span class=\"hidden\"> open</span></span>";
    for (path, status) in [
        ("/nowhere", 404),
        ("/services/none", 404),
        ("/services/a/b", 404),
        ("/assets/none.css", 404),
        ("/tokens", 403),
        ("/services?sort=colour_ASC", 400),
        ("/reference", 200),
        ("/services", 200),
    ] {
        let page = viewer.get(path).await;
        assert_eq!(page.status, status, "{path}");
        assert!(page.text().contains(count), "{path}: {page:?}");
    }
    let foreign = viewer.post_from("/services", &[], &[("sec-fetch-site", "cross-site")]).await;
    assert!(foreign.status == 403 && foreign.text().contains(count), "{foreign:?}");
    assert!(!Browser::new(&endpoint.app).get("/nowhere").await.text().contains("class=\"count\""));
}
