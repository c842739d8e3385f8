//! Signing in to the application, and the pages and forms that need a session.

use hyper::Method;
use rollcall::db::{Read, Write};
use rollcall::entity::user::{self, Role};
use rollcall::entity::{Timestamp, audit, session, sign_in_link, token};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::json;

use crate::harness::app::TestApp;
use crate::harness::browser::{Browser, link_for};
use crate::harness::integration;
use crate::harness::program::{Place, assert_refused};

/// Every page that needs a session.
const PAGES: &[&str] = &[
    "/",
    "/services",
    "/services/shop",
    "/systems",
    "/systems/shop",
    "/domains",
    "/domains/shop",
    "/teams",
    "/teams/shop",
    "/suggestions",
    "/integrations",
    "/integrations/new",
    "/repositories",
    "/views",
    "/views/1",
    "/views/1/edit",
    "/repositories/1",
    "/definitions",
    "/definitions/tiers/Z2lkOi8vcm9sbGNhbGwvVGllci8x/edit",
    "/new/filter",
    "/standards",
    "/standards/scorecards/shop",
    "/standards/campaigns/1",
    "/standards/campaigns/1/edit",
    "/new/campaign",
    "/users/1",
    "/integrations/Z2lkOi8vcm9sbGNhbGwvSW50ZWdyYXRpb24vMQ",
    "/tokens",
    "/users",
    "/audit",
    "/changes/1/revert",
    "/account",
];

/// Every form that needs a session.
const FORMS: &[&str] = &[
    "/tokens",
    "/tokens/1/delete",
    "/integrations",
    "/integrations/Z2lkOi8vcm9sbGNhbGwvSW50ZWdyYXRpb24vMQ/rename",
    "/integrations/Z2lkOi8vcm9sbGNhbGwvSW50ZWdyYXRpb24vMQ/delete",
    "/suggestions/Z2lkOi8vcm9sbGNhbGwvU2VydmljZVN1Z2dlc3Rpb24vMQ/create",
    "/definitions/tiers/Z2lkOi8vcm9sbGNhbGwvVGllci8x/delete",
    "/new/filter",
    "/new/campaign",
    "/standards/campaigns/1/end",
    "/users",
    "/users/Z2lkOi8vcm9sbGNhbGwvVXNlci8x/role",
    "/users/Z2lkOi8vcm9sbGNhbGwvVXNlci8x/link",
    "/users/Z2lkOi8vcm9sbGNhbGwvVXNlci8x/delete",
    "/changes/1/revert",
    "/account/sessions/1/end",
    "/account/feeds",
    "/account/feeds/1/delete",
    "/sign-out",
];

async fn tokens(app: &TestApp) -> u64 {
    app.db.read().count(token::Entity::find()).await.expect("a count")
}

#[tokio::test]
async fn every_page_redirects_visitors_without_a_session_to_the_sign_in() {
    let app = TestApp::start().await;
    let made_up = "rollcall_session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".to_owned();
    for cookie in [None, Some("rollcall_session=".to_owned()), Some(made_up)] {
        let mut stranger = Browser::new(&app);
        stranger.cookie = cookie;
        for path in PAGES {
            let answer = stranger.get(path).await;
            assert_eq!((answer.place(), answer.body.len()), ("/sign-in", 0), "{path}");
        }
        for path in FORMS {
            assert_eq!(stranger.post(path, &[("description", "x"), ("scope", "write")]).await.location(), "/sign-in");
        }
    }
    assert_eq!(tokens(&app).await, 1, "the one of the test itself");
}

#[tokio::test]
async fn a_form_from_another_site_changes_nothing() {
    let app = TestApp::start().await;
    let admin = Browser::of(&app, Role::Admin).await;
    let form = [("description", "forged"), ("scope", "write"), ("expires", "never")];
    let own = format!("http://{}", app.address);
    for headers in [
        &[][..],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "none")],
        &[("sec-fetch-site", "cross-site"), ("origin", &own)],
        &[("origin", "http://evil.example")],
        &[("origin", "null")],
        &[("origin", "https://127.0.0.1")],
    ] {
        let answer = admin.post_from("/tokens", &form, headers).await;
        assert_eq!(answer.status, 403, "{headers:?}");
    }
    assert_eq!(tokens(&app).await, 1);
    for (description, headers) in [("one", &[("sec-fetch-site", "same-origin")][..]), ("two", &[("origin", &own)])] {
        let form = [("description", description), form[1], form[2]];
        assert_eq!(admin.post_from("/tokens", &form, headers).await.status, 200, "{headers:?}");
    }
    assert_eq!(tokens(&app).await, 3);
}

#[tokio::test]
async fn a_body_that_is_not_a_form_is_refused() {
    let app = TestApp::start().await;
    let admin = Browser::of(&app, Role::Admin).await;
    let cookie = admin.cookie.as_deref().expect("a session");
    for kind in ["application/json", "text/plain", "multipart/form-data"] {
        let headers = [("content-type", kind), ("cookie", cookie), ("sec-fetch-site", "same-origin")];
        let answer = app.request(Method::POST, "/tokens", &headers, "description=x").await;
        assert_eq!(answer.status, 415, "{kind}");
    }
    let long = [("description", &*"x".repeat(100_000))];
    assert_eq!(admin.post_from("/tokens", &long, &[("sec-fetch-site", "same-origin")]).await.status, 413);
}

#[tokio::test]
async fn a_sign_in_link_works_once_and_opening_it_does_not_use_it_up() {
    let app = TestApp::start().await;
    let link = link_for(&app.db, "ada@example.com", Role::User).await;
    let mut browser = Browser::new(&app);
    for _ in 0..3 {
        assert!(browser.page(&link).await.contains("ada@example.com"));
    }
    assert_eq!(app.request(Method::HEAD, &link, &[], "").await.status, 200);
    let answer = browser.post(&link, &[]).await;
    assert_eq!(answer.location(), "/");
    let cookie = answer.header("set-cookie").expect("a cookie");
    assert!(cookie.starts_with("rollcall_session=") && cookie.contains("; Path=/; "), "{cookie}");
    assert!(cookie.contains("; HttpOnly; SameSite=Lax") && !cookie.contains("Secure"), "{cookie}");
    assert_eq!(browser.get("/services").await.status, 200);

    let mut other = Browser::new(&app);
    assert_eq!(other.get(&link).await.status, 404);
    let again = other.post(&link, &[]).await;
    assert_eq!((again.status, again.header("set-cookie")), (404, None));
}

#[tokio::test]
async fn of_many_who_use_a_link_at_once_one_is_signed_in() {
    let app = TestApp::start().await;
    let link = link_for(&app.db, "ada@example.com", Role::User).await;
    let browser = Browser::new(&app);
    let headers = [("sec-fetch-site", "same-origin")];
    let posts = (0..8).map(|_| browser.post_from(&link, &[], &headers));
    let answers = futures_util::future::join_all(posts).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 303).count(), 1);
    assert_eq!(app.db.read().count(session::Entity::find()).await, Ok(1));
}

#[tokio::test]
async fn a_sign_in_link_expires_after_15_minutes_and_when_a_newer_one_is_created() {
    let app = TestApp::start().await;
    let old = link_for(&app.db, "ada@example.com", Role::User).await;
    let newer = link_for(&app.db, "ada@example.com", Role::User).await;
    let mut browser = Browser::new(&app);
    let refused = browser.post(&old, &[]).await;
    assert_eq!(refused.status, 404);
    for cause in ["already used", "15 minutes", "A newer link", "not copied completely", "another database"] {
        assert!(refused.text().contains(cause), "{cause}");
    }

    let row = app.db.read().one(sign_in_link::Entity::find()).await.expect("an answer").expect("a link");
    assert_eq!(row.expires_at.as_micros() - row.created_at.as_micros(), 15 * 60 * 1_000_000);
    let late =
        sign_in_link::Entity::update_many().col_expr(sign_in_link::Column::ExpiresAt, Expr::value(Timestamp::now()));
    app.db.write(async |db| db.exec(late.clone()).await).await.expect("a change");
    assert_eq!(browser.get(&newer).await.status, 404);
    assert_eq!(browser.post(&newer, &[]).await.status, 404);
    assert_eq!(app.db.read().count(session::Entity::find()).await, Ok(0));
}

#[tokio::test]
async fn a_link_cannot_be_guessed_or_read_from_the_database() {
    let app = TestApp::start().await;
    let link = link_for(&app.db, "ada@example.com", Role::User).await;
    let key = link.strip_prefix("/sign-in/").expect("a link");
    assert_eq!(key.len(), 43, "256 bits");
    let row = app.db.read().one(sign_in_link::Entity::find()).await.expect("an answer").expect("a link");
    assert_ne!(row.hash, key.as_bytes());
    let swapped = if key.starts_with('A') { "B" } else { "A" };
    let browser = Browser::new(&app);
    let never = browser.get(&format!("/sign-in/{swapped}{}", &key[1..])).await;
    for wrong in ["x", "", "%00", &key[..42], &format!("{key}A"), &key.to_lowercase(), "../services"] {
        let answer = browser.get(&format!("/sign-in/{wrong}")).await;
        assert!([404, 303].contains(&answer.status), "{wrong}: {answer:?}");
    }
    // The response does not reveal whether it ever was a link.
    browser.post_from(&link, &[], &[("sec-fetch-site", "same-origin")]).await;
    let used = browser.get(&link).await;
    assert_eq!((never.status, never.text()), (used.status, used.text()));
}

#[tokio::test]
async fn a_session_cannot_be_fixed() {
    let app = TestApp::start().await;
    let planted = "rollcall_session=BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";
    let mut victim = Browser::new(&app);
    victim.cookie = Some(planted.to_owned());
    victim.post(&link_for(&app.db, "ada@example.com", Role::User).await, &[]).await;
    let given = victim.cookie.clone().expect("a session");
    assert_ne!(given, planted);
    assert_eq!(victim.get("/services").await.status, 200);
    let mut attacker = Browser::new(&app);
    attacker.cookie = Some(planted.to_owned());
    assert_eq!(attacker.get("/services").await.place(), "/sign-in");

    // An earlier session is not continued.
    victim.post(&link_for(&app.db, "ada@example.com", Role::User).await, &[]).await;
    assert_ne!(victim.cookie.as_ref(), Some(&given));
    attacker.cookie = Some(given);
    assert_eq!(attacker.get("/services").await.place(), "/sign-in");
}

#[tokio::test]
async fn a_session_ends_when_its_user_says_so() {
    let app = TestApp::start().await;
    let mut here = Browser::of(&app, Role::User).await;
    let mut there = Browser::of(&app, Role::User).await;
    let stolen = there.cookie.clone();
    let other = Browser::of(&app, Role::Admin).await;
    let sessions = app.db.read().all(session::Entity::find()).await.expect("sessions");
    let [_, of_there, of_other] = &*sessions else { panic!("three sessions: {sessions:?}") };

    let page = here.page("/account").await;
    assert_eq!(page.matches("/end\"").count(), 2, "{page}");
    let end = |id: i64| format!("/account/sessions/{id}/end");
    assert_eq!(here.post(&end(of_other.id), &[]).await.status, 404, "somebody else's");
    assert_eq!(other.get("/account").await.status, 200);
    assert_eq!(here.post(&end(of_there.id), &[]).await.location(), "/account");
    assert_eq!(there.get("/services").await.place(), "/sign-in");

    assert_eq!(here.post("/sign-out", &[]).await.location(), "/sign-in");
    assert_eq!(here.cookie, None);
    there.cookie = stolen;
    assert_eq!(there.post("/sign-out", &[]).await.location(), "/sign-in");
}

#[tokio::test]
async fn a_session_ends_by_itself_and_with_its_user() {
    let app = TestApp::start().await;
    let day = 86_400 * 1_000_000;
    for (column, age) in [(session::Column::ExpiresAt, 0), (session::Column::LastSeenAt, 7 * day)] {
        let browser = Browser::of(&app, Role::User).await;
        assert_eq!(browser.get("/services").await.status, 200);
        let then = Timestamp::from_micros(Timestamp::now().as_micros() - age);
        let aged = session::Entity::update_many().col_expr(column, Expr::value(then));
        app.db.write(async |db| db.exec(aged.clone()).await).await.expect("a change");
        assert_eq!(browser.get("/services").await.place(), "/sign-in", "{column:?}");
    }
    let browser = Browser::of(&app, Role::User).await;
    let gone = user::Entity::delete_many().filter(user::Column::EmailKey.eq("user@example.com"));
    app.db.write(async |db| db.exec(gone.clone()).await).await.expect("a change");
    assert_eq!(browser.get("/services").await.place(), "/sign-in");
}

#[tokio::test]
async fn over_tls_the_session_cookie_has_the_host_prefix_and_is_secure() {
    let app = TestApp::with(&["--app-url", "https://catalogue.example.com"]).await;
    let link = link_for(&app.db, "ada@example.com", Role::User).await;
    let mut browser = Browser::new(&app);
    let answer = browser.post(&link, &[]).await;
    let cookie = answer.header("set-cookie").expect("a cookie");
    assert!(cookie.starts_with("__Host-rollcall_session="), "{cookie}");
    assert!(cookie.contains("; Path=/; ") && cookie.ends_with("; Secure") && !cookie.contains("Domain"), "{cookie}");
    assert_eq!(browser.get("/services").await.status, 200);
    browser.cookie = browser.cookie.map(|cookie| cookie.replace("__Host-", ""));
    assert_eq!(browser.get("/services").await.place(), "/sign-in", "a name that another host could have set");
}

#[tokio::test]
async fn the_first_user_is_an_administrator_and_there_is_only_one_first() {
    let app = TestApp::start().await;
    let first = async || {
        let made = app.db.write(async |db| sign_in_link::create(db, None, Timestamp::now()).await).await;
        sign_in_link::path(&made.expect("a link"))
    };
    let link = first().await;
    let mut browser = Browser::new(&app);
    assert!(browser.page(&link).await.contains("first administrator"));
    let refused = browser.post(&link, &[("email", "nonsense"), ("name", "Ada")]).await;
    assert_eq!(refused.status, 422);
    assert!(
        refused.text().contains("Your email address must be an address") && refused.text().contains("value=\"Ada\"")
    );
    assert_eq!(browser.post(&link, &[("email", "ada@example.com"), ("name", "Ada")]).await.location(), "/");
    let ada = user::by_email(app.db.read(), "ada@example.com").await.expect("an answer").expect("Ada");
    assert_eq!((ada.role, &*ada.name), (Role::Admin, "Ada"));

    let row = audit::Entity::find().filter(audit::Column::Action.eq("firstAdministrator"));
    let row = app.db.read().one(row).await.expect("an answer").expect("an entry");
    assert_eq!((row.subject_name.as_deref(), row.actor_id), (Some("ada@example.com"), Some(ada.id)));

    let late = first().await;
    assert_eq!(browser.post(&late, &[("email", "eve@example.com")]).await.status, 404);
    assert_eq!(app.db.read().count(user::Entity::find()).await, Ok(1));
}

#[tokio::test]
async fn an_existing_user_can_become_the_first_administrator() {
    let app = TestApp::start().await;
    let ada = Browser::of(&app, Role::User).await;
    assert_eq!(ada.get("/users").await.status, 403);
    let made = app.db.write(async |db| sign_in_link::create(db, None, Timestamp::now()).await).await;
    let link = sign_in_link::path(&made.expect("a link"));
    let mut browser = Browser::new(&app);
    assert_eq!(browser.post(&link, &[("email", "USER@example.com")]).await.location(), "/");
    assert_eq!(ada.get("/users").await.status, 200);
    assert_eq!(app.db.read().count(user::Entity::find()).await, Ok(1));
}

#[test]
fn the_command_line_makes_links_for_users_and_the_first_user() {
    let place = Place::with_database();
    let made = place.run(&["sign-in-link", "--email", "Ada@example.com", "--name", "Ada"]);
    assert_eq!((made.status, &*made.err), (0, ""));
    let link = made.out.strip_suffix('\n').expect("a line");
    let key = link.strip_prefix("http://127.0.0.1:8080/sign-in/").expect("a link");
    assert_eq!(key.len(), 43);
    let again = place.run(&["sign-in-link", "--email", "ada@EXAMPLE.com", "--app-url", "https://c.example.com"]);
    assert!(again.out.starts_with("https://c.example.com/sign-in/"), "{}", again.out);
    let sentence = "no user has the email address \"eve@example.com\"; an administrator can invite one";
    assert_refused(&place.run(&["sign-in-link", "--email", "eve@example.com"]), sentence);
    let sentence = "no user has the email address \"adaa@example.com\"; the nearest is \"Ada@example.com\"; an administrator can \
                    invite one";
    assert_refused(&place.run(&["sign-in-link", "--email", "adaa@example.com"]), sentence);
}

#[tokio::test]
async fn the_role_decides_what_a_user_may_do() {
    let app = TestApp::start().await;
    for (role, writes, administers) in
        [(Role::Viewer, false, false), (Role::User, true, false), (Role::Admin, true, true)]
    {
        let mut browser = Browser::of(&app, role).await;
        assert_eq!(browser.get("/services").await.status, 200);
        let form = [("type", "deploy"), ("name", "CI")];
        assert_eq!(browser.post("/integrations", &form).await.status == 303, writes, "{role:?}");
        for path in ["/tokens", "/users", "/audit"] {
            assert_eq!(browser.get(path).await.status, if administers { 200 } else { 403 }, "{role:?} {path}");
        }
        let form = [("description", "t"), ("scope", "write"), ("expires", "never")];
        assert_eq!(browser.post("/tokens", &form).await.status == 200, administers, "{role:?}");
        let form = [("email", "eve@example.com"), ("role", "admin")];
        assert_eq!(browser.post("/users", &form).await.status == 200, administers, "{role:?}");
    }
    // A deploy endpoint's URL permits writing only.
    let viewer = Browser::of(&app, Role::Viewer).await;
    let list = viewer.page("/integrations").await;
    let path = list.split('"').find(|text| text.starts_with("/integrations/Z")).expect("an integration");
    assert!(!viewer.page(path).await.contains("/integrations/deploy/"));
}

#[tokio::test]
async fn a_session_may_use_the_api_only_from_our_own_pages() {
    let app = TestApp::start().await;
    integration::deploy_endpoint(&app, "CI").await;
    let create = "mutation($name: String!) { serviceCreate(input: { name: $name }) { errors { message } } }";
    let promote = r#"mutation { userUpdate(user: { email: "user@example.com" }, input: { role: admin }) {
        errors { message } } }"#;
    for (role, writes, administers) in [
        (Role::Viewer, false, false),
        (Role::TeamMember, true, false),
        (Role::User, true, false),
        (Role::Admin, true, true),
    ] {
        let browser = Browser::of(&app, role).await;
        let cookie = browser.cookie.as_deref().expect("a session");
        for headers in [&[("cookie", cookie)][..], &[("cookie", cookie), ("sec-fetch-site", "cross-site")]] {
            assert_eq!(app.post_with("{ account { name } }", json!({}), headers).await.status, 403);
        }
        let here = [("cookie", cookie), ("sec-fetch-site", "same-origin")];
        let answer = app.post_with("{ account { name } }", json!({}), &here).await;
        assert_eq!(answer.json()["data"]["account"]["name"], "rollcall");
        assert!(answer.header("ratelimit-remaining").is_some());
        for (query, may) in [(create, writes), (promote, administers)] {
            let answer = app.post_with(query, json!({ "name": format!("{role:?}") }), &here).await;
            assert_eq!(answer.code() == "FORBIDDEN", !may, "{role:?}: {answer:?}");
        }
        let addresses = app.post_with("{ account { integrations { nodes { webhookUrl } } } }", json!({}), &here).await;
        let address = &addresses.json()["data"]["account"]["integrations"]["nodes"][0]["webhookUrl"];
        assert_eq!(address.is_string(), writes && role != Role::TeamMember, "{role:?}: {address}");
        // A token takes precedence over a cookie.
        let wrong = [("cookie", cookie), ("sec-fetch-site", "same-origin"), ("authorization", "Bearer x")];
        assert_eq!(app.post_with("{ account { name } }", json!({}), &wrong).await.status, 401);
    }
    let services = audit::Entity::find().filter(audit::Column::Action.eq("serviceCreate"));
    let entries = app.db.read().all(services).await.expect("entries");
    let actors: Vec<_> = entries.iter().map(|entry| (entry.actor_kind, &*entry.actor_name)).collect();
    assert!(actors.len() == 2 && actors[0].1.starts_with("user (user@example.com), session "), "{actors:?}");
}

#[tokio::test]
async fn the_requests_of_a_session_have_their_own_limit() {
    let app = TestApp::with(&["--token-limit", "2"]).await;
    let (ada, bob) = (Browser::of(&app, Role::User).await, Browser::of(&app, Role::Viewer).await);
    let ask = async |browser: &Browser<'_>| {
        let cookie = browser.cookie.clone().expect("a session");
        let headers = [("cookie", &*cookie), ("sec-fetch-site", "same-origin")];
        app.post_with("{ account { name } }", json!({}), &headers).await.status
    };
    assert_eq!([ask(&ada).await, ask(&ada).await, ask(&ada).await], [200, 200, 429]);
    assert_eq!(ask(&bob).await, 200);
}

#[tokio::test]
async fn an_error_page_keeps_the_navigation_and_names_the_needed_role() {
    let app = TestApp::start().await;
    let mut viewer = Browser::of(&app, Role::Viewer).await;
    let refused = viewer.get("/tokens").await;
    assert_eq!(refused.status, 403);
    for text in ["Only administrators can do this.", "href=\"/services\"", "Sign out"] {
        assert!(refused.text().contains(text), "{text}: {}", refused.text());
    }
    let refused = viewer.post("/integrations", &[("name", "CI"), ("type", "deploy")]).await;
    assert_eq!(refused.status, 403);
    assert!(refused.text().contains("An administrator can make you a member"), "{}", refused.text());
    // A member's page says which role a member lacks.
    let refused = Browser::of(&app, Role::User).await.get("/new/check").await;
    assert_eq!(refused.status, 403);
    assert!(refused.text().contains("changed by standards administrators and administrators"), "{}", refused.text());
    assert!(!refused.text().contains("read-only"), "{}", refused.text());
    let nothing = viewer.get("/services/none").await;
    assert_eq!(nothing.status, 404);
    assert!(nothing.text().contains("href=\"/services\""), "{}", nothing.text());
}

#[tokio::test]
async fn a_refusal_for_a_role_says_whom_to_ask_to_whoever_is_signed_in() {
    let app = TestApp::start().await;
    let mut viewer = Browser::of(&app, Role::Viewer).await;
    assert!(!viewer.get("/tokens").await.text().contains("You can ask"), "there is no administrator");
    let named = |first: &str| format!("<a href=\"mailto:{first}@example.com\">{first}</a>");
    for name in ["gone", "ada", "bob", "cy", "dee"] {
        link_for(&app.db, &format!("{name}@example.com"), Role::Admin).await;
    }
    let gone = user::Entity::update_many()
        .col_expr(user::Column::DeactivatedAt, Expr::value(Timestamp::now()))
        .filter(user::Column::EmailKey.eq("gone@example.com"));
    app.db.write(async |db| db.exec(gone.clone()).await).await.expect("a change");
    let asked = format!("You can ask {}, {} or {}.", named("ada"), named("bob"), named("cy"));
    for refused in [viewer.get("/tokens").await, viewer.post("/new/service", &[("name", "Shop")]).await] {
        assert_eq!(refused.status, 403);
        assert!(refused.text().contains(&asked), "{}", refused.text());
    }
    // Nobody else is told: a stranger is sent to sign in.
    let stranger = Browser::new(&app).get("/tokens").await;
    assert_eq!(stranger.place(), "/sign-in");
    assert!(!stranger.text().contains("example.com"), "{}", stranger.text());
}
