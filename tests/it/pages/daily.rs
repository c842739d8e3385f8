//! What people meet in a day with the pages: lists that understand names, forms that lose nothing, words that are the
//! same everywhere.

use std::time::Duration;

use rollcall::entity::token::Lifetimes;
use rollcall::entity::user::Role;
use rollcall::entity::{Timestamp, remembered, token};
use serde_json::json;

use crate::harness::app::{TestApp, data, soon};
use crate::harness::browser::Browser;

#[tokio::test]
async fn a_filter_that_is_not_understood_keeps_the_form_and_the_other_filters() {
    let app = TestApp::start().await;
    let browser = Browser::of(&app, Role::Viewer).await;
    let page = browser.get("/services?quiet=abc&language=Rust").await;
    assert_eq!(page.status, 400);
    for kept in [
        "<h1>Services</h1>",
        "name=\"language\" type=\"text\" value=\"Rust\"",
        "id=\"wrong-quiet\"",
        "<details class=\"more\" open>",
    ] {
        assert!(page.text().contains(kept), "{kept}: {}", page.text());
    }
}

#[tokio::test]
async fn services_are_found_by_their_owners_name_and_in_spite_of_a_mistake_of_typing() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        teamCreate(input: { name: "Till & Pay" }) { errors { message } }
        serviceCreate(input: { name: "Payments <b>", ownerInput: { alias: "till_pay" } }) { errors { message } }
    }"#;
    data(&app, query).await;
    let browser = Browser::of(&app, Role::Viewer).await;
    for owner in ["till_pay", "Till+%26+Pay", "till+%26+PAY"] {
        let page = browser.page(&format!("/services?owner={owner}")).await;
        assert!(page.contains("1 service ·") && page.contains("All services"), "{owner}: {page}");
    }
    assert!(browser.page("/services?owner=Nobody").await.contains("No services match."));
    let page = browser.page("/services?search=paymnts").await;
    let similar = page.split_once("Services with similar names").expect("similar ones").1;
    assert!(similar.contains(">Payments &lt;b&gt;</a>"), "{page}");
    assert!(!browser.page("/services?search=xyzzyq").await.contains("similar names"));
}

#[tokio::test]
async fn a_filter_in_use_is_a_chip_that_removes_it() {
    let app = TestApp::start().await;
    data(&app, r#"mutation { serviceCreate(input: { name: "A", tierAlias: "tier_1", language: "Go" }) { errors { message } } }"#).await;
    let page = Browser::of(&app, Role::Viewer).await.page("/services?tier=tier_1&language=Go&after=").await;
    let chips = page.split_once("<ul class=\"chips\">").expect("chips").1.split_once("</ul>").expect("their end").0;
    assert!(chips.contains("<a href=\"/services?language=Go\">Tier is <strong>"), "{chips}");
    assert!(chips.contains("<a href=\"/services?tier=tier_1\">Language is <strong>Go</strong>"), "{chips}");
}

#[tokio::test]
async fn properties_are_saved_together_and_their_options_are_plain_words() {
    let app = TestApp::start().await;
    let mut mem = Browser::of(&app, Role::User).await;
    mem.post("/new/service", &[("name", "Cart")]).await;
    let made = data(
        &app,
        r#"mutation {
            rto: propertyDefinitionCreate(input: { name: "RTO minutes", schema: { type: "integer" } }) { definition { id } }
            data: propertyDefinitionCreate(input: { name: "Data class", schema: { enum: ["public", "secret"] } }) { definition { id } }
        }"#,
    )
    .await;
    let id = |name: &str| made[name]["definition"]["id"].as_str().expect("an id").to_owned();
    let field = |kind: &str, name: &str| format!("{kind}-{}", id(name));
    let page = mem.page("/services/cart/properties").await;
    assert!(page.contains("<option value=\"&quot;secret&quot;\">secret</option>"), "{page}");
    assert_eq!(page.matches("<button>Save").count(), 1, "one form: {page}");
    let seen = |page: &str, name: &str| {
        let start = format!("name=\"{}\" value=\"", field("seen", name));
        page.split_once(&start).expect("the field").1.split_once('"').expect("its end").0.to_owned()
    };
    let seen = [seen(&page, "rto"), seen(&page, "data")];
    let form = |rto: &str, data: &str| {
        [
            ("value", "rto", rto.to_owned()),
            ("value", "data", data.to_owned()),
            ("seen", "rto", seen[0].clone()),
            ("seen", "data", seen[1].clone()),
        ]
        .map(|(kind, name, text)| (field(kind, name), text))
    };
    let sent = form("45", "\"secret\"");
    let sent: Vec<(&str, &str)> = sent.iter().map(|(name, text)| (&**name, &**text)).collect();
    assert_eq!(mem.post("/services/cart/properties", &sent).await.location(), "/services/cart/properties");
    let page = mem.page("/services/cart/properties").await;
    assert!(page.contains("value=\"45\"") && page.contains("value=\"&quot;secret&quot;\" selected>secret<"), "{page}");
    // A form from before that changes one value leaves the other as it is now.
    let sent = form("60", "");
    let sent: Vec<(&str, &str)> = sent.iter().map(|(name, text)| (&**name, &**text)).collect();
    mem.post("/services/cart/properties", &sent).await;
    let page = mem.page("/services/cart/properties").await;
    assert!(page.contains("value=\"60\"") && page.contains("selected>secret<"), "{page}");
}

#[tokio::test]
async fn a_team_member_is_told_what_the_role_may_change_and_offered_nothing_else() {
    let app = TestApp::start().await;
    let tom = Browser::of(&app, Role::TeamMember).await;
    let query = r#"mutation {
        teamCreate(input: { name: "Core", members: [{ user: { email: "teammember@example.com" } }] }) { errors { message } }
        led: teamCreate(input: { name: "Led", managerEmail: "teammember@example.com" }) { errors { message } }
        rest: teamCreate(input: { name: "Rest" }) { errors { message } }
        own: serviceCreate(input: { name: "Own", ownerInput: { alias: "core" } }) { errors { message } }
        lead: serviceCreate(input: { name: "Lead", ownerInput: { alias: "led" } }) { errors { message } }
        other: serviceCreate(input: { name: "Other", ownerInput: { alias: "rest" } }) { errors { message } }
        free: serviceCreate(input: { name: "Free" }) { errors { message } }
    }"#;
    data(&app, query).await;
    for (path, may) in [
        ("/services/own", true),
        ("/services/lead", true),
        ("/services/other", false),
        // It can be taken.
        ("/services/free", true),
        ("/teams/core", true),
        ("/teams/led", true),
        ("/teams/rest", false),
    ] {
        assert_eq!(tom.page(path).await.contains(&format!("href=\"{path}/edit\"")), may, "{path}");
    }
    assert!(tom.page("/new/service").await.contains("Choose one of your teams as the owner."));
    let refused = tom.get("/new/team").await;
    assert!(
        refused.status == 403 && refused.text().contains("You can change your own teams and what they own."),
        "{refused:?}"
    );
    let refused = Browser::of(&app, Role::Viewer).await.get("/new/service").await;
    assert!(refused.text().contains("You have read-only access."), "{refused:?}");
}

#[tokio::test]
async fn a_token_expires_on_a_date_and_has_a_description_of_its_own() {
    let app = TestApp::start().await;
    let mut ada = Browser::of(&app, Role::Admin).await;
    let form = [("description", "import"), ("scope", "read"), ("expires", "90")];
    assert_eq!(ada.post("/tokens", &form).await.status, 200);
    let page = ada.page("/tokens").await;
    assert!(!page.contains("months"), "{page}");
    let again = ada.post("/tokens", &form).await;
    assert!(again.status == 422 && again.text().contains("Another token has this description"), "{again:?}");
    assert_eq!(ada.page("/tokens").await.matches("<th scope=\"row\">import<small>").count(), 1);
}

#[tokio::test]
async fn no_two_tokens_are_alike_and_a_rotated_one_overlaps_with_its_successor() {
    let app = TestApp::start().await;
    let mut ada = Browser::of(&app, Role::Admin).await;
    let form = |description: &'static str| [("description", description), ("scope", "read"), ("expires", "90")];
    let secret = |page: &str| {
        let code = page.split_once("id=\"secret\"").expect("a token").1;
        code.split_once('>').expect("its start").1.split_once('<').expect("its end").0.to_owned()
    };
    let old = secret(ada.post("/tokens", &form(" import ")).await.text());
    assert_eq!(ada.post("/tokens", &form("IMPORT")).await.status, 422, "in any case of the letters");
    let ask = async |token: &str| {
        let authorization = format!("Bearer {token}");
        app.post_with("{ account { name } }", json!({}), &[("authorization", &*authorization)]).await.status
    };
    assert_eq!(ask(&old).await, 200);
    // The use is recorded in the background.
    soon("the use is recorded", async {
        while !ada.page("/tokens").await.contains("from 127.0.0.1") {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let page = ada.page("/tokens").await;
    assert!(page.contains(&old[..8]) && !page.contains(&old) && page.contains("by <bdi>"), "{page}");
    let rotate = page.split('"').find(|text| text.ends_with("/rotate")).expect("a form").to_owned();
    let new = secret(ada.post(&rotate, &[("overlap", "1")]).await.text());
    assert_eq!([ask(&old).await, ask(&new).await], [200, 200]);
    assert_eq!(ada.post(&rotate, &[("overlap", "1")]).await.status, 422, "only once");
    assert_eq!(ada.post(&rotate, &[("overlap", "2")]).await.status, 400);
    let page = ada.page("/tokens").await;
    let rotate = page.split('"').find(|text| text.ends_with("/rotate")).expect("a form").to_owned();
    let newest = secret(ada.post(&rotate, &[("overlap", "0")]).await.text());
    assert_eq!([ask(&new).await, ask(&newest).await], [401, 200]);
}

#[tokio::test]
async fn a_token_is_valid_for_as_long_as_the_form_and_the_server_say() {
    let app = TestApp::start().await;
    let mut ada = Browser::of(&app, Role::Admin).await;
    let day = Duration::from_secs(86_400);
    let send = async |ada: &mut Browser<'_>, description: &str, more: &[(&str, &str)]| {
        let form = [&[("description", description), ("scope", "read")], more].concat();
        ada.post("/tokens", &form).await
    };
    let never = send(&mut ada, "older", &[("expires", "never")]).await;
    assert!(never.status == 200 && !never.text().contains("It expires on"), "{never:?}");
    assert!(!ada.page("/tokens").await.contains("as the server is set"));

    let lifetimes = Lifetimes::new(Some(30 * day), Some(90 * day));
    app.db.write(async |tx| remembered::set_token_lifetimes(tx, lifetimes).await).await.expect("remembered");
    let page = ada.page("/tokens").await;
    assert!(page.contains("30 days, as the server is set"), "{page}");
    assert!(
        !page.contains("value=\"365\"") && !page.contains("value=\"never\"") && page.contains("value=\"90\""),
        "{page}"
    );
    let expires = async || {
        let newest = token::all(app.db.read()).await.expect("tokens").pop().expect("a token");
        (newest.expires_at.expect("an end"), newest.created_at)
    };
    let micros = |days: i64| days * 86_400_000_000;
    let made = send(&mut ada, "default", &[("expires", "default")]).await;
    assert!(made.status == 200 && made.text().contains("It expires on "), "{made:?}");
    let (end, from) = expires().await;
    assert_eq!(end.as_micros() - from.as_micros(), micros(30));
    let on = |days: i64| {
        let at = Timestamp::from_micros(Timestamp::now().as_micros() + micros(days));
        at.to_string().chars().take(10).collect::<String>()
    };
    let soon = on(10);
    // The date counts, whatever the time says.
    assert_eq!(send(&mut ada, "dated", &[("expires", "90"), ("expiresOn", &soon)]).await.status, 200);
    assert_eq!(expires().await.0.to_string(), format!("{soon}T00:00:00Z"));
    let too_long = "at most 90 days";
    for (more, message) in [
        ([("expires", "never"), ("expiresOn", "")], too_long),
        ([("expires", "365"), ("expiresOn", "")], too_long),
        ([("expires", "90"), ("expiresOn", &on(92))], too_long),
        ([("expires", "90"), ("expiresOn", &on(0))], "A token must expire later than now"),
        ([("expires", "90"), ("expiresOn", "1999-12-31")], "A token must expire later than now"),
        ([("expires", "90"), ("expiresOn", "31.12.2099")], "Write a date like 2027-01-31."),
        ([("expires", "90"), ("expiresOn", "2027-02-30")], "Write a date like 2027-01-31."),
    ] {
        let refused = send(&mut ada, "refused", &more).await;
        assert!(refused.status == 422 && refused.text().contains(message), "{more:?}: {refused:?}");
    }
    assert_eq!(send(&mut ada, "refused", &[("expires", "7")]).await.status, 400);
    // An older one keeps its end until it is rotated.
    let tokens = token::all(app.db.read()).await.expect("tokens");
    let older = tokens.iter().find(|token| token.description == "older").expect("the token");
    assert_eq!(older.expires_at, None);
    assert_eq!(ada.post(&format!("/tokens/{}/rotate", older.id), &[("overlap", "0")]).await.status, 200);
    let (end, from) = expires().await;
    assert_eq!(end.as_micros() - from.as_micros(), micros(90));
}

#[tokio::test]
async fn forms_take_names_in_the_place_of_aliases() {
    let app = TestApp::start().await;
    let mut mem = Browser::of(&app, Role::User).await;
    let query = r#"mutation {
        teamCreate(input: { name: "Till & Pay" }) { errors { message } }
        systemCreate(input: { name: "Check Out" }) { errors { message } }
        serviceCreate(input: { name: "Event Bus" }) { errors { message } }
    }"#;
    data(&app, query).await;
    let form = [("name", "Cart"), ("ownerInput.alias", "Till & Pay"), ("parent.alias", "Check Out")];
    assert_eq!(mem.post("/new/service", &form).await.location(), "/services/cart");
    let page = mem.page("/services/cart").await;
    assert!(page.contains("href=\"/teams/till_pay\"") && page.contains("href=\"/systems/check_out\""), "{page}");
    let needs = [("dependencyKey.destinationIdentifier.alias", "Event Bus")];
    assert_eq!(mem.post("/services/cart/dependencies", &needs).await.location(), "/services/cart/dependencies");
    let form = [("name", "Core"), ("managerEmail", "user"), ("parentTeam.alias", "Till & Pay")];
    assert_eq!(mem.post("/new/team", &form).await.location(), "/teams/core");
    assert!(mem.page("/teams/core").await.contains("user@example.com"));
    let form = [("name", "Other"), ("ownerInput.alias", "Nobody & Co")];
    let refused = mem.post("/new/service", &form).await;
    assert!(refused.status == 422 && refused.text().contains("wrong-ownerInput.alias"), "{refused:?}");
}

#[tokio::test]
async fn a_role_has_the_same_name_on_every_page() {
    let app = TestApp::start().await;
    let ada = Browser::of(&app, Role::Admin).await;
    Browser::of(&app, Role::User).await;
    assert!(ada.page("/users").await.contains("<option value=\"user\" selected>member</option>"));
    assert!(ada.page("/users/2").await.contains("<dt>Role</dt><dd>member</dd>"));
    assert!(ada.page("/users/1").await.contains("<dt>Role</dt><dd>administrator</dd>"));
}

#[tokio::test]
async fn a_team_lists_the_teams_that_are_a_part_of_it() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        teamCreate(input: { name: "Commerce" }) { errors { message } }
        part: teamCreate(input: { name: "Pay <b>", parentTeam: { alias: "commerce" } }) { errors { message } }
    }"#;
    data(&app, query).await;
    let browser = Browser::of(&app, Role::Viewer).await;
    let page = browser.page("/teams/commerce").await;
    assert!(page.contains("<h2>Parts</h2>") && page.contains("href=\"/teams/pay_b\">Pay &lt;b&gt;</a>"), "{page}");
    assert!(!browser.page("/teams/pay_b").await.contains("<h2>Parts</h2>"));
}

#[tokio::test]
async fn a_form_is_followed_by_a_note_that_links_do_not_carry_on() {
    let app = TestApp::start().await;
    let mut mem = Browser::of(&app, Role::User).await;
    let made = mem.post("/new/service", &[("name", "Cart")]).await;
    assert_eq!(made.header("location"), Some("/services/cart?done=saved"));
    assert!(mem.page("/services/cart?done=saved").await.contains("role=\"status\"><p>Saved.</p>"));
    let deleted = mem.post("/services/cart/delete", &[]).await;
    assert_eq!(deleted.header("location"), Some("/services?done=deleted"));
    let list = mem.page("/services?done=deleted").await;
    assert!(list.contains("<p>Deleted.</p>") && !list.contains("done="), "{list}");
    assert!(!mem.page("/services?done=%3Cb%3E").await.contains("role=\"status\""), "no other text");
}

#[tokio::test]
async fn the_page_of_a_service_lists_what_is_missing_with_the_form_that_adds_it() {
    let app = TestApp::start().await;
    let mem = Browser::of(&app, Role::User).await;
    data(&app, r#"mutation { serviceCreate(input: { name: "Bare", tierAlias: "tier_1" }) { errors { message } } }"#)
        .await;
    let page = mem.page("/services/bare").await;
    let missing =
        page.split_once("<h2>Missing</h2>").expect("what is missing").1.split_once("</ul>").expect("its end").0;
    for link in [
        "edit#field-ownerInput.alias",
        "edit#field-description",
        "bare/tools",
        "bare/contacts",
        "bare/on-call",
        "bare/repositories",
        "bare/dependencies",
    ] {
        assert!(missing.contains(&format!("{link}\"")), "{link}: {missing}");
    }
    assert!(!missing.contains("tierAlias"), "{missing}");
    let page = Browser::of(&app, Role::Viewer).await.page("/services/bare").await;
    assert!(page.contains("<h2>Missing</h2>") && !page.contains("/edit"), "{page}");
    let missing =
        page.split_once("<h2>Missing</h2>").expect("what is missing").1.split_once("</ul>").expect("its end").0;
    assert!(missing.contains("Repository") && !missing.contains("href"), "only for whoever may: {missing}");
}

#[tokio::test]
async fn the_deploys_of_a_commit_to_staging_and_production_are_one_row() {
    let endpoint = crate::harness::webhook::Endpoint::start().await;
    for (number, environment) in [(1, "staging"), (2, "production")] {
        let deploy = json!({
            "deploy_number": number.to_string(), "dedup_id": number.to_string(), "environment": environment,
            "commit": { "sha": "5c577d2aa0", "message": "Log less" }, "status": "success",
        });
        endpoint.post_with(deploy).await;
    }
    let page = Browser::of(&endpoint.app, Role::Viewer).await.page("/services/shop").await;
    let table = page
        .split_once("aria-label=\"Latest deploys\"")
        .expect("the table")
        .1
        .split_once("</table>")
        .expect("its end")
        .0;
    assert_eq!(table.matches("Log less").count(), 1, "{table}");
    assert!(table.contains("production, staging"), "{table}");
}

#[tokio::test]
async fn a_similar_service_is_not_the_first_choice_for_a_suggestion() {
    let app = TestApp::start().await;
    data(&app, r#"mutation { serviceCreate(input: { name: "Cart" }) { errors { message } } }"#).await;
    let (_, url) = crate::harness::integration::deploy_endpoint(&app, "CI").await;
    let path = url.split_once(&app.address.to_string()).expect("our address").1;
    let body = crate::harness::webhook::record(json!({ "service": "cart-worker" })).to_string();
    app.request(hyper::Method::POST, path, &[("content-type", "application/json")], body).await;
    let mut mem = Browser::of(&app, Role::User).await;
    let page = mem.page("/suggestions").await;
    assert!(page.contains("<button class=\"quiet\">Map to this") && page.contains("<button>Create service"), "{page}");
    let map = page.split('"').find(|text| text.ends_with("/map")).expect("a form").to_owned();
    assert_eq!(mem.post(&map, &[("alias", "cart")]).await.place(), "/services/cart");
    assert!(mem.page("/suggestions?state=accepted").await.contains("Undo takes the name from the service."));
}

#[test]
fn no_tool_is_said_to_post_deploys_that_it_does_not_post() {
    let sdl = include_str!("../../../schema/schema.graphql");
    for tool in ["Snyk", "Sentry", "Grafana", "SonarQube"] {
        assert!(!sdl.contains(&format!("Deploys posted by {tool}")), "{tool}");
    }
}
