//! What a user or a team leaves behind, and who takes it over.

use rollcall::entity::user::Role;
use serde_json::json;

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;

#[tokio::test]
async fn a_leavers_teams_and_shifts_go_to_the_successor() {
    let app = TestApp::start().await;
    let mut ada = Browser::of(&app, Role::Admin).await;
    Browser::of(&app, Role::User).await;
    let query = r#"mutation {
        core: teamCreate(input: { name: "Core", managerEmail: "user@example.com" }) { errors { message } }
        cart: serviceCreate(input: { name: "Cart", ownerInput: { alias: "core" } }) { errors { message } }
        calls: serviceOnCallsUpdate(input: { service: { alias: "cart" }, onCalls: [{ name: "Mem", externalEmail: "user@example.com" }] }) { errors { message } }
    }"#;
    data(&app, query).await;
    let page = ada.page("/users/2").await;
    for text in ["<h2>Leads</h2>", "href=\"/teams/core\"", "<h2>On call for</h2>", "href=\"/services/cart\""] {
        assert!(page.contains(text), "{text}: {page}");
    }
    // What is left without a successor stands between the two ways to delete.
    let (_, without) = page.split_once("<h3>Delete without handing over</h3>").expect("a heading");
    let (left, _) = without.split_once("<details class=\"confirm\">").expect("a question");
    assert!(left.contains("without a manager") && left.contains("Their shifts stay"), "{left}");
    let list = ada.page("/users").await;
    let delete = list.split('"').find(|text| text.ends_with("/delete")).expect("a form").to_owned();
    // What they lead is shown first.
    let shown = ada.post(&delete, &[]).await;
    assert!(shown.status == 422 && shown.text().contains("<h2>Leads</h2>"), "{shown:?}");
    let refused = ada.post(&delete, &[("successor", "nobody@example.com")]).await;
    assert!(refused.status == 422 && refused.text().contains("nobody@example.com"), "{refused:?}");
    assert_eq!(ada.post(&delete, &[("successor", "user@example.com")]).await.status, 422);
    assert_eq!(ada.post(&delete, &[("successor", "admin@example.com")]).await.location(), "/users");
    let fields = "{ account { users { totalCount } team(alias: \"core\") { manager { email } }
        service(alias: \"cart\") { onCalls { nodes { externalEmail } } } } }";
    let after = data(&app, fields).await;
    assert_eq!(after["account"]["users"]["totalCount"], json!(1));
    assert_eq!(after["account"]["team"]["manager"]["email"], json!("admin@example.com"));
    assert_eq!(after["account"]["service"]["onCalls"]["nodes"], json!([{ "externalEmail": "admin@example.com" }]));
    let history = ada.page("/teams/core/history").await;
    assert!(history.contains("user@example.com → admin@example.com"), "{history}");
}

#[tokio::test]
async fn what_a_team_owns_goes_to_another_team() {
    let app = TestApp::start().await;
    let mut mem = Browser::of(&app, Role::User).await;
    let query = r#"mutation {
        top: teamCreate(input: { name: "Top" }) { errors { message } }
        old: teamCreate(input: { name: "Old", parentTeam: { alias: "top" } }) { errors { message } }
        part: teamCreate(input: { name: "Part", parentTeam: { alias: "old" } }) { errors { message } }
        new: teamCreate(input: { name: "New", parentTeam: { alias: "old" } }) { errors { message } }
        below: teamCreate(input: { name: "Below", parentTeam: { alias: "part" } }) { errors { message } }
        cart: serviceCreate(input: { name: "Cart", ownerInput: { alias: "old" } }) { errors { message } }
    }"#;
    let made = data(&app, query).await;
    assert!(made["cart"]["errors"].as_array().is_some_and(Vec::is_empty), "{made}");
    let team = data(&app, "{ account { team(alias: \"old\") { id } } }").await;
    let create = "mutation($id: ID!) {
        system: systemCreate(input: { name: \"Checkout\", ownerId: $id }) { errors { message } }
        domain: domainCreate(input: { name: \"Shop\", ownerId: $id }) { errors { message } }
    }";
    app.query(create, json!({ "id": team["account"]["team"]["id"] })).await;
    let page = mem.page("/teams/old").await;
    for text in ["<h2>Systems</h2>", "<h2>Domains</h2>", "<h2>Parts</h2>"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    for (successor, status) in [("nobody", 422), ("old", 422), ("below", 422)] {
        assert_eq!(mem.post("/teams/old/delete", &[("successor", successor)]).await.status, status, "{successor}");
    }
    assert_eq!(mem.post("/teams/old/delete", &[("successor", "new")]).await.location(), "/teams");
    let fields = "{ account {
        service(alias: \"cart\") { owner { alias } }
        system(input: { alias: \"checkout\" }) { owner { alias } }
        domain(input: { alias: \"shop\" }) { owner { alias } }
        new: team(alias: \"new\") { parentTeam { alias } }
        part: team(alias: \"part\") { parentTeam { alias } }
    } }";
    let after = &data(&app, fields).await["account"];
    for owned in ["service", "system", "domain"] {
        assert_eq!(after[owned]["owner"]["alias"], json!("new"), "{owned}");
    }
    assert_eq!(
        [&after["new"]["parentTeam"]["alias"], &after["part"]["parentTeam"]["alias"]],
        [&json!("top"), &json!("new")]
    );
}

#[tokio::test]
async fn a_team_is_deleted_by_whoever_has_seen_what_it_leaves() {
    let app = TestApp::start().await;
    let mut mem = Browser::of(&app, Role::User).await;
    let services = |k: i32| {
        format!(
            r#"s{k}: serviceCreate(input: {{ name: "Service {k}", ownerInput: {{ alias: "old" }} }}) {{ errors {{ message }} }}"#
        )
    };
    let services: Vec<String> = (1..=12).map(services).collect();
    let query = format!(
        r#"mutation {{
            old: teamCreate(input: {{ name: "Old" }}) {{ team {{ id }} errors {{ message }} }}
            part: teamCreate(input: {{ name: "Part <b>", parentTeam: {{ alias: "old" }} }}) {{ errors {{ message }} }}
            {}
            repository: repositoryCreate(input: {{ name: "org/old" }}) {{ repository {{ id }} errors {{ message }} }}
            calls: serviceOnCallsUpdate(input: {{ service: {{ alias: "service_1" }}, onCalls: [{{ name: "Mem" }}] }}) {{ errors {{ message }} }}
        }}"#,
        services.join(" ")
    );
    let made = data(&app, &query).await;
    let create = "mutation($id: ID!, $repository: ID!) {
        systemCreate(input: { name: \"Till\", ownerId: $id }) { errors { message } }
        domainCreate(input: { name: \"Shop\", ownerId: $id }) { errors { message } }
        repositoryUpdate(input: { id: $repository, ownerId: $id }) { errors { message } }
        eventSubscriptionCreate(input: {
            name: \"Told\", form: slack, receiverUrl: \"https://hooks.example.com/1\", events: [deploy_failed], teamIds: [$id]
        }) { errors { message } }
    }";
    let ids = json!({ "id": made["old"]["team"]["id"], "repository": made["repository"]["repository"]["id"] });
    let answer = app.query(create, ids).await;
    for (name, payload) in answer["data"].as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}: {answer}");
    }
    let leaves = |page: &str| {
        let rest = page.split_once("id=\"leaves\"").expect("a list").1;
        rest.split_once("</ul>").expect("its end").0.to_owned()
    };
    let list = leaves(&mem.page("/teams/old/edit").await);
    for text in [
        "12 services: ",
        "href=\"/services/service_10\"",
        " and more",
        "1 system: <a href=\"/systems/till\">Till</a>",
        "1 domain: <a href=\"/domains/shop\">Shop</a>",
        "1 repository: <a href=\"/repositories/1\">org/old</a>",
        "1 team that is a part of it: <a href=\"/teams/part_b\">Part &lt;b&gt;</a>",
        "1 shift of its services, which stay",
        "1 subscription to events, deleted in any case",
    ] {
        assert!(list.contains(text), "{text}: {list}");
    }
    assert!(!list.contains("service_11") && !list.contains("campaign"), "{list}");
    // Neither a program nor an empty field deletes what nobody has chosen to leave.
    for form in [&[][..], &[("successor", " ")]] {
        let refused = mem.post("/teams/old/delete", form).await;
        assert_eq!(refused.status, 422, "{refused:?}");
        assert!(
            refused.text().contains("First say which team takes over, or delete without handing over."),
            "{refused:?}"
        );
    }
    let mut vera = Browser::of(&app, Role::Viewer).await;
    for form in [&[][..], &[("anyway", "1")]] {
        assert_eq!(vera.post("/teams/old/delete", form).await.status, 403);
    }
    assert_eq!(mem.post("/teams/old/delete", &[("anyway", "1")]).await.location(), "/teams");
    let fields = "{ account { service(alias: \"service_1\") { owner { alias } onCalls { totalCount } }
        team(alias: \"part_b\") { parentTeam { alias } } eventSubscriptions { totalCount } } }";
    let after = &data(&app, fields).await["account"];
    assert_eq!(after["service"], json!({ "owner": null, "onCalls": { "totalCount": 1 } }));
    assert_eq!(after["team"]["parentTeam"], json!(null));
    assert_eq!(after["eventSubscriptions"]["totalCount"], json!(0));
    // A team that leaves nothing has no form that hands over.
    let page = mem.page("/teams/part_b/edit").await;
    assert!(page.contains("owns no services") && !page.contains("name=\"successor\""), "{page}");
    assert_eq!(mem.post("/teams/part_b/delete", &[]).await.location(), "/teams");
}

#[tokio::test]
async fn teams_are_a_tree_if_some_are_a_part_of_others() {
    let app = TestApp::start().await;
    let browser = Browser::of(&app, Role::Viewer).await;
    data(&app, r#"mutation { teamCreate(input: { name: "Commerce" }) { errors { message } } }"#).await;
    assert!(!browser.page("/teams").await.contains("class=\"tree\""));
    let query = r#"mutation {
        teamCreate(input: { name: "Pay <b>", parentTeam: { alias: "commerce" } }) { errors { message } }
        serviceCreate(input: { name: "Cart", ownerInput: { alias: "pay_b" } }) { errors { message } }
    }"#;
    data(&app, query).await;
    let page = browser.page("/teams").await;
    let tree = page.split_once("<ul class=\"tree\">").expect("a tree").1;
    let (outer, inner) = tree.split_once("<ul class=\"tree\">").expect("a branch");
    assert!(outer.contains("href=\"/teams/commerce\"") && outer.contains("0 members, 0 services"), "{outer}");
    assert!(inner.contains(">Pay &lt;b&gt;</a>") && inner.contains("0 members, 1 service"), "{inner}");
    assert!(!browser.page("/teams?sort=name_ASC").await.contains("class=\"tree\""));
}
