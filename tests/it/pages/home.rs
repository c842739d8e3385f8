//! The home page: whom it is about, what it shows of them, and what a new installation has left to do.

use rollcall::entity::user::Role;
use rollcall::entity::{Timestamp, session, suggestion};
use rollcall::graphql::standards::check::history;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::json;

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::checks::{create, services};
use crate::harness::webhook::Endpoint;

/// The card with this heading's id.
fn card<'a>(page: &'a str, id: &str) -> &'a str {
    let start = format!("id=\"{id}\"");
    let rest = page.split_once(&start).unwrap_or_else(|| panic!("no {id} in {page}")).1;
    rest.split_once("</section>").expect("its end").0
}

#[tokio::test]
async fn the_home_page_is_about_the_visitors_teams() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let mem = Browser::of(app, Role::User).await;
    let query = r#"mutation {
        mine: teamCreate(input: { name: "Mine", members: [{ user: { email: "user@example.com" } }] }) { errors { message } }
        rest: teamCreate(input: { name: "Rest" }) { errors { message } }
        cart: serviceCreate(input: { name: "Cart", ownerInput: { alias: "mine" } }) { errors { message } }
        calm: serviceCreate(input: { name: "Calm", ownerInput: { alias: "mine" } }) { errors { message } }
        bare: serviceCreate(input: { name: "Bare", ownerInput: { alias: "mine" } }) { errors { message } }
        other: serviceCreate(input: { name: "Other", ownerInput: { alias: "rest" } }) { errors { message } }
        calls: serviceOnCallsUpdate(input: { service: { alias: "cart" }, onCalls: [{ name: "Lena Fischer" }] }) { errors { message } }
        more: serviceOnCallsUpdate(input: { service: { alias: "other" }, onCalls: [{ name: "Jon" }] }) { errors { message } }
    }"#;
    data(app, query).await;
    let now = Timestamp::now().to_string();
    for (service, status, number) in [
        ("cart", "failure", 1),
        ("other", "failure", 2),
        ("other", "success", 3),
        ("calm", "failure", 4),
        ("calm", "success", 5),
    ] {
        let deploy = json!({
            "service": service, "status": status, "dedup_id": number.to_string(), "environment": "production",
            "deployed_at": now, "description": format!("change {number}"),
        });
        assert_eq!(endpoint.post_with(deploy).await.status, 202);
    }
    let page = mem.page("/").await;
    assert!(page.contains("Your teams: <a href=\"/teams/mine\">Mine</a>."), "{page}");
    let failing = card(&page, "failing");
    assert!(failing.contains("/services/cart"), "{failing}");
    assert!(!failing.contains("/services/calm") && !failing.contains("/services/bare"), "{failing}");
    let deploys = card(&page, "deploys");
    assert!(deploys.contains("change 1") && !deploys.contains("change 2"), "{deploys}");
    let on_call = card(&page, "on-call");
    assert!(on_call.contains("Lena Fischer") && !on_call.contains("Jon"), "{on_call}");
    let changes = card(&page, "changes");
    assert!(
        changes.contains("added service") && changes.contains(">Cart</a>") && !changes.contains(">Other<"),
        "{changes}"
    );
    assert!(!page.contains("Without an owner") && !page.contains("id=\"set-up\""), "{page}");
    // The success after the failure recovers the other service.
    let page = Browser::of(app, Role::Viewer).await.page("/").await;
    assert!(page.contains("the whole organisation") && page.contains("Without an owner"), "{page}");
    let failing = card(&page, "failing");
    assert!(failing.contains("/services/cart") && !failing.contains("/services/other"), "{failing}");
    assert!(card(&page, "deploys").contains("change 2"), "{page}");
}

#[tokio::test]
async fn the_home_page_says_which_checks_are_missed() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let mut mem = Browser::of(app, Role::User).await;
    let page = mem.page("/").await;
    assert!(!page.contains("id=\"next\"") && !page.contains("id=\"delivery\""), "there are no checks: {page}");
    create(app, "TagDefined", json!({ "name": "Env <b>", "tagKey": "env" })).await;
    create(app, "TagDefined", json!({ "name": "Pager", "tagKey": "pager" })).await;
    create(app, "TagDefined", json!({ "name": "Off", "tagKey": "off", "enabled": false })).await;
    history::settle(&app.db, &app.wanted).await.expect("settled");
    let deploy = json!({
        "service": "mail", "status": "success", "environment": "production", "dedup_id": "now",
        "deployed_at": Timestamp::now().to_string(),
    });
    assert_eq!(endpoint.post_with(deploy).await.status, 202);
    // Whoever has no team sees the organisation: what most services miss first.
    let page = mem.page("/").await;
    let next = card(&page, "next");
    assert!(next.contains("Missed checks") && !next.contains("Off"), "{next}");
    let (pager, env) = next.split_once("Env &lt;b&gt;").expect("the second check");
    assert!(
        pager.contains(">Pager</a>") && pager.contains("3 services") && pager.contains("href=\"/standards/"),
        "{next}"
    );
    assert!(env.contains("1 service<") && !next.contains("/services/"), "{next}");

    let join = r#"mutation {
        lone: teamUpdate(input: { alias: "lone", members: [{ user: { email: "user@example.com" } }] }) { errors { message } }
        bare: serviceUpdate(input: { alias: "bare", ownerInput: { alias: "lone" } }) { errors { message } }
    }"#;
    data(app, join).await;
    history::settle(&app.db, &app.wanted).await.expect("settled");
    let page = mem.page("/").await;
    let next = card(&page, "next");
    assert!(next.contains("What is next") && next.contains(">Bronze<"), "{next}");
    let (pager, env) = next.split_once("Env &lt;b&gt;").expect("the second check");
    for text in ["2 services", "href=\"/services/mail\"", "href=\"/services/bare\""] {
        assert!(pager.contains(text), "{text}: {next}");
    }
    assert!(env.contains("1 service<") && env.contains("href=\"/services/bare\""), "{next}");
    assert!(!env.contains("href=\"/services/mail\"") && !next.contains("href=\"/services/shop\""), "{next}");
    assert!(card(&page, "delivery").contains("href=\"/delivery?team=lone\""), "{page}");
    // What is passed is not next.
    for service in ["mail", "bare"] {
        for key in ["pager", "env"] {
            let tag = format!(
                "mutation {{ tagAssign(input: {{ alias: \"{service}\", type: Service, tags: {{ key: \"{key}\", value: \"x\" }} }}) {{ errors {{ message }} }} }}"
            );
            assert_eq!(data(app, &tag).await["tagAssign"]["errors"], json!([]));
        }
    }
    history::settle(&app.db, &app.wanted).await.expect("settled");
    assert!(card(&mem.page("/").await, "next").contains("Your services pass all of their checks."));
    // A team without services has nothing to pass.
    assert_eq!(mem.post("/teams/lone/member-delete", &[("id", &user(app).await)]).await.status, 303);
    let lead =
        r#"mutation { teamCreate(input: { name: "New", managerEmail: "user@example.com" }) { errors { message } } }"#;
    data(app, lead).await;
    assert!(!mem.page("/").await.contains("id=\"next\""));
}

#[tokio::test]
async fn the_home_page_folds_what_one_actor_did_to_many_and_counts_what_it_lists() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let names = ["Alpha", "Beta", "Gamma", "Delta", "Omega"];
    let text = names.map(|name| format!("version: 1\nservice: {{ name: {name} }}\n")).join("---\n");
    let apply = "mutation($input: ServiceFilesApplyInput!) { serviceFilesApply(input: $input) { errors { message } } }";
    let input = json!({ "files": [{ "path": "all.yml", "text": text }], "repository": "https://github.com/org/all" });
    let applied = app.query(apply, json!({ "input": input })).await;
    assert_eq!(applied["data"]["serviceFilesApply"]["errors"], json!([]), "{applied}");
    for name in ["alpha", "beta"] {
        rollcall::service_file::release(&app.db, name).await.expect("a service");
    }
    let now = Timestamp::now().to_string();
    for environment in ["staging", "production"] {
        let deploy = json!({
            "service": "alpha", "status": "success", "environment": environment, "dedup_id": environment,
            "deployed_at": now, "commit": { "sha": "c0ffee0123" },
        });
        assert_eq!(endpoint.post_with(deploy).await.status, 202);
    }
    let viewer = Browser::of(app, Role::Viewer).await;
    let page = viewer.page("/").await;
    let changes = card(&page, "changes");
    assert_eq!(changes.matches("applied a file to").count(), 1, "{changes}");
    assert!(changes.contains("</a> and 2 more") && !changes.contains("unlocked"), "{changes}");
    assert!(page.contains("<strong>2</strong>2 succeeded, 0 failed"), "{page}");
    let deploys = card(&page, "deploys");
    assert!(
        deploys.contains("2 deploys in 1 row: a change that went to several environments is one row."),
        "{deploys}"
    );
    // Where a history says what was done to the object itself, its sentence has an end.
    let history = viewer.page("/services/alpha/history").await;
    let named = "<a href=\"/services/alpha\">Alpha</a>";
    for done in ["applied a file to", "unlocked"] {
        assert!(history.contains(&format!("{done} {named}")), "{done}: {history}");
    }
}

#[tokio::test]
async fn every_service_that_fails_in_production_is_within_reach() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let names: Vec<String> = (0..11).map(|number| format!("broken-{number}")).collect();
    for name in &names {
        let query = "mutation($name: String!) { serviceCreate(input: { name: $name }) { errors { message } } }";
        app.query(query, json!({ "name": name })).await;
        let deploy = json!({
            "service": name, "status": "failure", "dedup_id": name, "environment": "production",
            "deployed_at": Timestamp::now().to_string(),
        });
        assert_eq!(endpoint.post_with(deploy).await.status, 202);
    }
    let page = Browser::of(app, Role::Viewer).await.page("/").await;
    let failing = card(&page, "failing");
    let (shown, others) = failing.split_once("<details><summary>3 more</summary>").expect("the others");
    assert_eq!((shown.matches("<li>").count(), others.matches("<li>").count()), (8, 3), "{failing}");
    for name in &names {
        assert!(failing.contains(&format!(">{name}</a>")), "{name}: {failing}");
    }
}

#[tokio::test]
async fn the_last_changes_have_all_of_their_environments_and_are_five_rows() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let query = r#"mutation {
        team: teamCreate(input: { name: "Core" }) { errors { message } }
        cart: serviceCreate(input: { name: "Cart", ownerInput: { alias: "core" } }) { errors { message } }
    }"#;
    data(app, query).await;
    let now = Timestamp::now().as_micros();
    // All of staging first, and then all of production.
    for (at, environment) in ["production", "staging"].into_iter().enumerate() {
        for number in 0..6 {
            let seconds = i64::try_from(at).expect("a small number") * 60 + number;
            let deploy = json!({
                "service": "cart", "status": "success", "environment": environment,
                "dedup_id": format!("{environment} {number}"), "commit": { "sha": format!("c0ffee{number}") },
                "deployed_at": Timestamp::from_micros(now - seconds * 1_000_000).to_string(),
            });
            assert_eq!(endpoint.post_with(deploy).await.status, 202);
        }
    }
    let viewer = Browser::of(app, Role::Viewer).await;
    for path in ["/", "/teams/core"] {
        let page = viewer.page(path).await;
        let deploys = card(&page, "deploys");
        assert_eq!(deploys.matches("<td>production, staging</td>").count(), 5, "{path}: {deploys}");
        assert!(!deploys.contains("c0ffee5"), "{path}, the sixth: {deploys}");
    }
    assert!(card(&viewer.page("/").await, "deploys").contains("10 deploys in 5 rows:"));
}

/// The day some days ago, as an address has it.
fn day(ago: i64) -> String {
    let moment = Timestamp::from_micros(Timestamp::now().as_micros() - ago * 86_400_000_000).to_string();
    moment.split('T').next().expect("a day").to_owned()
}

#[tokio::test]
async fn the_number_of_deploys_is_that_of_the_list_behind_it() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let mem = Browser::of(app, Role::User).await;
    let query = r#"mutation {
        mine: teamCreate(input: { name: "Mine", members: [{ user: { email: "user@example.com" } }] }) { errors { message } }
        ours: teamCreate(input: { name: "Ours", managerEmail: "user@example.com" }) { errors { message } }
        rest: teamCreate(input: { name: "Rest" }) { errors { message } }
        cart: serviceCreate(input: { name: "Cart", ownerInput: { alias: "mine" } }) { errors { message } }
        mail: serviceCreate(input: { name: "Mail", ownerInput: { alias: "ours" } }) { errors { message } }
        other: serviceCreate(input: { name: "Other", ownerInput: { alias: "rest" } }) { errors { message } }
    }"#;
    data(app, query).await;
    // The first of each is at the start of yesterday, and the second just before.
    for service in ["cart", "mail", "other"] {
        for at in [format!("{}T00:00:00Z", day(1)), format!("{}T23:59:59Z", day(2))] {
            let deploy = json!({
                "service": service, "status": "success", "dedup_id": format!("{service} {at}"), "deployed_at": at,
            });
            assert_eq!(endpoint.post_with(deploy).await.status, 202);
        }
    }
    let list = format!("/deploys?team=mine&team=ours&from={}", day(1));
    let tile = format!("<a href=\"{}\">Deploys since yesterday</a><strong>2</strong>", list.replace('&', "&amp;"));
    let page = mem.page("/").await;
    assert!(page.contains(&tile), "{tile}: {page}");
    let page = mem.page(&list).await;
    assert_eq!(page.matches("<th scope=\"row\">").count(), 2, "{page}");
    for text in ["<strong>mine, ours</strong>", "<input type=\"hidden\" name=\"team\" value=\"ours\">"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    // After a visit two days ago, the words name its day.
    let seen = Timestamp::from_micros(Timestamp::now().as_micros() - 2 * 86_400_000_000);
    let update = session::Entity::update_many().col_expr(session::Column::LastSeenAt, Expr::value(seen));
    app.db.write(async |db| rollcall::db::Write::exec(db, update).await).await.expect("an update");
    let page = mem.page("/").await;
    let (before, number) = page.split_once("</a><strong>4</strong>4 succeeded").expect("four deploys");
    let words = before.rsplit_once("Deploys since ").expect("since when").1;
    let date = day(2).rsplit_once('-').expect("a date").1.trim_start_matches('0').to_owned();
    assert!(words.starts_with(&date) && number.contains("since your last visit"), "{words}: {page}");
    assert!(before.contains(&format!("from={}", day(2))), "{before}");
}

/// The id of the user that browsers sign in as with this role.
async fn user(app: &TestApp) -> String {
    let query = r#"{ account { user(input: { email: "user@example.com" }) { id } } }"#;
    data(app, query).await["account"]["user"]["id"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn the_home_page_says_how_many_suggestions_are_new() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let mem = Browser::of(app, Role::User).await;
    assert!(mem.page("/").await.contains("None is open."));
    for name in ["one-more", "another"] {
        assert_eq!(endpoint.post_with(json!({ "service": name, "dedup_id": name })).await.status, 202);
    }
    assert!(mem.page("/").await.contains("2 new since yesterday"));
    // One of them was there two days ago.
    let ago = Timestamp::from_micros(Timestamp::now().as_micros() - 48 * 3_600_000_000);
    let update = suggestion::Entity::update_many()
        .col_expr(suggestion::Column::FirstSeenAt, Expr::value(ago))
        .filter(suggestion::Column::Alias.eq("another"));
    app.db.write(async |db| rollcall::db::Write::exec(db, update).await).await.expect("an update");
    assert!(mem.page("/").await.contains("1 new since yesterday"));
    let all = suggestion::Entity::update_many().col_expr(suggestion::Column::FirstSeenAt, Expr::value(ago));
    app.db.write(async |db| rollcall::db::Write::exec(db, all).await).await.expect("an update");
    assert!(mem.page("/").await.contains("Names that no service has."));
}

#[tokio::test]
async fn an_administrator_is_shown_what_a_new_installation_lacks_until_all_is_done() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let ada = Browser::of(app, Role::Admin).await;
    let steps = |page: &str| {
        let card = card(page, "set-up").to_owned();
        ["/new/team", "/new/service", "/integrations\"", "/users#invite", "/users#provider"]
            .map(|link| card.contains(link))
    };
    assert_eq!(steps(&ada.page("/").await), [true, false, true, true, true]);
    data(app, r#"mutation { teamCreate(input: { name: "Core" }) { errors { message } } }"#).await;
    assert_eq!(steps(&ada.page("/").await), [false, false, true, true, true]);
    endpoint.post_with(json!({})).await;
    Browser::of(app, Role::Viewer).await;
    assert!(!ada.page("/").await.contains("id=\"set-up\""));
    assert!(ada.page("/users").await.contains("id=\"provider\""));
}

#[tokio::test]
async fn a_visit_that_follows_another_begins_where_that_one_ended() {
    let app = TestApp::start().await;
    let mem = Browser::of(&app, Role::User).await;
    assert!(mem.page("/").await.contains("since yesterday"));
    let ago = |hours: i64| Timestamp::from_micros(Timestamp::now().as_micros() - hours * 3_600_000_000);
    let seen = ago(30);
    let update = session::Entity::update_many().col_expr(session::Column::LastSeenAt, Expr::value(seen));
    app.db.write(async |db| rollcall::db::Write::exec(db, update).await).await.expect("an update");
    let page = mem.page("/").await;
    assert!(
        page.contains("Your last visit: ") && page.contains("1 day ago") && page.contains("since your last visit"),
        "{page}"
    );
    // A use that is noted keeps the end of the visit before.
    let row =
        rollcall::db::Read::one(app.db.read(), session::Entity::find().filter(session::Column::Id.eq(1_i64))).await;
    let row = row.expect("a session").expect("a session");
    let now = Timestamp::now();
    app.db.write(async |db| session::note_use(db, row.id, now).await).await.expect("a use");
    let row = rollcall::db::Read::one(app.db.read(), session::Entity::find_by_id(row.id)).await;
    assert_eq!(row.expect("a session").expect("a session").visit_before(now), Some(seen));
}

#[tokio::test]
async fn pages_of_a_new_installation_say_in_sentences_what_is_missing_and_where_to_begin() {
    let app = TestApp::start().await;
    data(&app, r#"mutation { teamCreate(input: { name: "Core" }) { errors { message } } }"#).await;
    let mem = Browser::of(&app, Role::User).await;
    let page = mem.page("/").await;
    let link = format!("<a href=\"/deploys?from={}\">", day(1));
    for shown in [
        &*format!("{link}Deploys since yesterday</a><strong>0</strong>None was recorded."),
        "No deploy was recorded since yesterday.",
        "<a href=\"/deploys?status=failed\">Failing in production</a>",
    ] {
        assert!(page.contains(shown), "{shown} is missing: {page}");
    }
    let add = "This team has no members. <a href=\"/teams/core/edit\">Add a member</a>";
    let page = mem.page("/teams/core").await;
    assert!(
        page.contains(add) && page.contains("<a href=\"/services?unowned=1\">Services without an owner</a>"),
        "{page}"
    );
    let page = Browser::of(&app, Role::Viewer).await.page("/teams/core").await;
    assert!(page.contains("This team has no members.</p>"), "{page}");
}
