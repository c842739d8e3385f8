//! Feeds: how they are made, read and revoked, what they tell, and that their tokens are told to nobody.

use data_encoding::BASE64URL_NOPAD;
use hyper::Method;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use rollcall::db::{Read, Write};
use rollcall::entity::user::{self, Role};
use rollcall::entity::{Timestamp, audit, feed, identity};
use rollcall::retention;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use serde_json::json;
use tokio::task::yield_now;

use crate::harness::app::{Response, TestApp, data, send, soon};
use crate::harness::browser::Browser;
use crate::harness::collector::Collector;
use crate::harness::database::Database;
use crate::harness::process::Process;
use crate::harness::program::Place;
use crate::harness::webhook::Endpoint;

/// The path of the feed that a page shows, up to its token.
fn shown(page: &str) -> String {
    let (_, rest) = page.split_once("/feeds/").expect("an address");
    format!("/feeds/{}", rest.split('/').next().expect("a token"))
}

/// Makes a feed, and returns its path up to the token.
async fn made(browser: &mut Browser<'_>) -> String {
    let page = browser.post("/account/feeds", &[]).await;
    assert_eq!(page.status, 200, "{page:?}");
    let path = shown(page.text());
    assert_eq!(path.len(), "/feeds/".len() + 43, "256 bits: {path}");
    path
}

/// The texts of the elements with this name, as they were before they were escaped.
fn texts(feed: &str, name: &str) -> Vec<String> {
    let begin = format!("<{name}>");
    let inside = feed.split(&begin).skip(1).map(|rest| rest.split('<').next().unwrap_or_default());
    let plain =
        |text: &str| text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    inside.map(plain).collect()
}

/// Reads a feed, which must exist.
async fn read(app: &TestApp, path: &str) -> String {
    let answer = app.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    answer.text().to_owned()
}

#[tokio::test]
async fn a_feed_is_made_and_read_and_revoked() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    endpoint.post_with(json!({ "deploy_number": "v1.2.3", "environment": "production", "status": "failure" })).await;
    let mut viewer = Browser::of(app, Role::Viewer).await;
    let mut other = Browser::of(app, Role::Admin).await;
    let path = made(&mut viewer).await;
    let token = path.trim_start_matches("/feeds/");

    let answer = app.get(&format!("{path}/deploys.atom")).await;
    assert_eq!(answer.status, 200);
    for (name, value) in [
        ("content-type", "application/atom+xml; charset=utf-8"),
        ("cache-control", "private, max-age=60"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name}");
    }
    let deploys = answer.text();
    assert_eq!(texts(deploys, "title"), ["Deploys", "shop: deploy of v1.2.3 to production failed"]);
    assert_eq!(texts(deploys, "name"), ["Ada"]);
    assert_eq!(texts(deploys, "summary"), ["Sell more"]);
    assert!(deploys.contains(&format!("href=\"http://{}/services/shop/deploys\"", app.address)), "{deploys}");
    assert!(deploys.contains("<id>tag:127.0.0.1,2026:deploys</id>"), "{deploys}");
    let changes = read(app, &format!("{path}/changes.atom")).await;
    assert!(texts(&changes, "title").contains(&"shop: added service".to_owned()), "{changes}");
    assert!(!deploys.contains(token) && !changes.contains(token));

    let used = async {
        while app.db.read().one(feed::Entity::find()).await.expect("a feed").expect("a feed").last_used_at.is_none() {
            yield_now().await;
        }
    };
    soon("its use is noted", used).await;
    let page = viewer.page("/account").await;
    assert!(!page.contains(token), "it is shown once");
    let revoke = page.split('"').find(|text| text.starts_with("/account/feeds/")).expect("a form").to_owned();
    assert_eq!(other.post(&revoke, &[]).await.status, 404, "it is somebody else's");
    read(app, &format!("{path}/deploys.atom")).await;
    assert_eq!(viewer.post(&revoke, &[]).await.location(), "/account");
    assert_eq!(viewer.post(&revoke, &[]).await.status, 404);

    let never = format!("/feeds/{}", "A".repeat(43));
    let nowhere = app.get("/nowhere").await;
    for wrong in [&*path, &never, "/feeds/x", "/feeds/"] {
        let answer = app.get(&format!("{wrong}/deploys.atom?service=none")).await;
        assert_eq!((answer.status, &answer.body), (404, &nowhere.body), "{wrong}");
    }
    let row = audit::Entity::find().filter(audit::Column::Action.is_in(["feedCreate", "feedRevoke"]));
    let rows = app.db.read().all(row.order_by_asc(audit::Column::Id)).await.expect("entries");
    let told: Vec<_> = rows.iter().map(|row| (&*row.action, row.subject_name.as_deref(), &*row.detail)).collect();
    let viewer = Some("viewer@example.com");
    assert_eq!(told, [("feedCreate", viewer, "{\"feed\":1}"), ("feedRevoke", viewer, "{\"feed\":1}")]);
}

#[tokio::test]
async fn a_feed_is_about_a_service_or_a_team_or_all() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let query = r#"mutation {
        team: teamCreate(input: { name: "Core" }) { errors { message } }
        cart: serviceCreate(input: { name: "Cart", ownerInput: { alias: "core" } }) { errors { message } }
        tool: toolCreate(input: { serviceAlias: "cart", displayName: "Board", url: "https://example.com", category: metrics }) { errors { message } }
        update: serviceUpdate(input: { alias: "cart", description: "Sells" }) { errors { message } }
        system: systemCreate(input: { name: "Checkout" }) { errors { message } }
    }"#;
    data(app, query).await;
    for (service, number) in [("shop", "1"), ("cart", "2"), ("org/unknown", "3")] {
        let at = format!("2026-11-21 01:4{number}:00");
        endpoint.post_with(json!({ "service": service, "deploy_number": number, "deployed_at": at })).await;
    }
    let mut viewer = Browser::of(app, Role::Viewer).await;
    let path = made(&mut viewer).await;
    let titles = async |address: &str| {
        let mut titles = texts(&read(app, &format!("{path}/{address}")).await, "title");
        (titles.remove(0), titles)
    };

    let (of_cart, of_shop) = ("Cart: deploy of 2".to_owned(), "shop: deploy of 1".to_owned());
    let unknown = "org/unknown: deploy of 3".to_owned();
    assert_eq!(titles("deploys.atom").await, ("Deploys".to_owned(), vec![unknown, of_cart.clone(), of_shop.clone()]));
    assert_eq!(titles("deploys.atom?service=shop").await, ("Deploys of shop".to_owned(), vec![of_shop]));
    let expected = ("Deploys of Core and its services".to_owned(), vec![of_cart]);
    assert_eq!(titles("deploys.atom?team=core").await, expected);

    let own = ["Cart: changed service (description)", "Cart: added tool Board", "Cart: added service"];
    assert_eq!(
        titles("changes.atom?service=cart").await,
        ("Changes of Cart".to_owned(), own.map(String::from).to_vec())
    );
    let (_, of_team) = titles("changes.atom?team=core").await;
    assert_eq!(of_team, [&own[..], &["Core: added team"]].concat());
    let (_, all) = titles("changes.atom").await;
    let expected = [&["Checkout: added system"][..], &own[..], &["Core: added team", "shop: added service"]].concat();
    assert_eq!(all, expected, "and no integration, token or sign-in");
    let feed = read(app, &format!("{path}/changes.atom?service=cart")).await;
    assert_eq!(texts(&feed, "summary")[0], "description: nothing → Sells");
    assert_eq!(texts(&feed, "name")[0], "a test");
    let (here, id) = (app.address, "<id>tag:127.0.0.1,2026:changes/service/2</id>");
    assert!(feed.contains(&format!("href=\"http://{here}/services/cart/history\"")) && feed.contains(id), "{feed}");
    assert!(feed.contains(&format!(
        "rel=\"self\" type=\"application/atom+xml\" href=\"http://{here}/feeds/changes.atom?service=cart\""
    )));

    let refused = async |query: &str| {
        let answer = app.get(&format!("{path}/deploys.atom?{query}")).await;
        (answer.status, answer.json()["errors"][0]["message"].as_str().expect("a sentence").to_owned())
    };
    let (status, why) = refused("service=cart&team=core").await;
    assert!(status == 400 && why.contains("leave one of the two out"), "{status} {why}");
    assert_eq!(refused("service=none").await, (404, "No service has the alias \"none\".".to_owned()));
    assert_eq!(refused("team=none").await, (404, "No team has the alias \"none\".".to_owned()));
}

#[tokio::test]
async fn a_hostile_text_is_only_a_text() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let name = "<b>&\"' ]]> &amp;";
    endpoint.create_service(name).await;
    endpoint.post_with(json!({ "service": "b_amp", "deploy_number": name, "status": "]]><i>" })).await;
    endpoint.post_with(json!({ "environment": "</title>" })).await;
    // As an older version may have stored it.
    let older = "UPDATE deploy SET description = 'a\u{1}\u{1b}]]><i>b', deployer_name = '\u{8}<b>Ada'";
    app.db.write(async |tx| tx.script(older).await).await.expect("a change");
    let mut viewer = Browser::of(app, Role::Viewer).await;
    let path = made(&mut viewer).await;
    let deploys = read(app, &format!("{path}/deploys.atom")).await;
    let changes = read(app, &format!("{path}/changes.atom")).await;
    for feed in [&deploys, &changes] {
        let is_forbidden = |letter: char| letter.is_control() && letter != '\n';
        assert!(!feed.contains(is_forbidden), "{feed}");
        for markup in ["<b>", "<i>", "]]>"] {
            assert!(!feed.contains(markup), "{markup}: {feed}");
        }
        assert_eq!(feed.matches("<entry>").count(), feed.matches("</entry>").count());
        assert_eq!(feed.matches("<title>").count(), feed.matches("</title>").count());
    }
    assert!(texts(&deploys, "title").iter().any(|title| title.contains("</title>")), "{deploys}");
    assert!(texts(&deploys, "title").iter().any(|title| title.contains(name)), "{deploys}");
    assert_eq!(texts(&deploys, "summary")[0], "a]]><i>b");
    assert_eq!(texts(&deploys, "name")[0], "<b>Ada");
    assert!(texts(&changes, "title").contains(&format!("{name}: added service")), "{changes}");
}

#[tokio::test]
async fn a_feed_that_has_not_changed_is_not_sent_again() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    endpoint.post_with(json!({})).await;
    let mut viewer = Browser::of(app, Role::Viewer).await;
    let path = format!("{}/deploys.atom", made(&mut viewer).await);
    let first = app.get(&path).await;
    let tag = first.header("etag").expect("a tag").to_owned();
    let again = app.get_with(&path, &[("if-none-match", &tag)]).await;
    assert_eq!((again.status, again.body.len(), again.header("etag")), (304, 0, Some(&*tag)));
    assert_eq!(again.header("cache-control"), Some("private, max-age=60"));
    let head = app.request(Method::HEAD, &path, &[], "").await;
    assert_eq!((head.status, head.body.len(), head.header("etag")), (200, 0, Some(&*tag)));
    endpoint.post_with(json!({ "deploy_number": "next" })).await;
    assert_eq!(app.get_with(&path, &[("if-none-match", &tag)]).await.status, 200);
    for method in [Method::POST, Method::PUT, Method::DELETE] {
        let answer = app.request(method, &path, &[], "").await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, HEAD")));
    }
}

#[tokio::test]
async fn a_feed_without_entries_is_a_feed() {
    let app = TestApp::start().await;
    let mut viewer = Browser::of(&app, Role::Viewer).await;
    let path = format!("{}/deploys.atom", made(&mut viewer).await);
    let first = read(&app, &path).await;
    assert!(first.contains("<updated>") && !first.contains("<entry>"), "{first}");
    assert_eq!(read(&app, &path).await, first);
}

#[tokio::test]
async fn a_user_has_at_most_five_feeds() {
    let app = TestApp::start().await;
    let mut viewer = Browser::of(&app, Role::Viewer).await;
    for _ in 0..5 {
        made(&mut viewer).await;
    }
    let sixth = viewer.post("/account/feeds", &[]).await;
    assert_eq!(sixth.status, 422);
    assert!(sixth.text().contains("at most 5 feeds") && !sixth.text().contains("deploys.atom"), "{}", sixth.text());
    assert_eq!(app.db.read().count(feed::Entity::find()).await, Ok(5));
    made(&mut Browser::of(&app, Role::Admin).await).await;
}

#[tokio::test]
async fn a_feed_ends_with_its_user_and_with_the_account_at_the_provider() {
    let app = TestApp::start().await;
    let mut viewer = Browser::of(&app, Role::Viewer).await;
    let mut admin = Browser::of(&app, Role::Admin).await;
    let path = format!("{}/changes.atom", made(&mut viewer).await);
    read(&app, &path).await;
    let id = user::by_email(app.db.read(), "viewer@example.com").await.expect("an answer").expect("a user").id;
    let known =
        app.db.write(async |tx| identity::remember(tx, "https://id.example.com", "a", id, Timestamp::now()).await);
    known.await.expect("an identity");
    let global = BASE64URL_NOPAD.encode(format!("gid://rollcall/User/{id}").as_bytes());
    assert_eq!(admin.post(&format!("/users/{global}/forget"), &[]).await.location(), "/users");
    assert_eq!(app.get(&path).await.status, 404);

    let mut viewer = Browser::of(&app, Role::Viewer).await;
    let path = format!("{}/changes.atom", made(&mut viewer).await);
    read(&app, &path).await;
    let gone = user::Entity::delete_many().filter(user::Column::Id.eq(id));
    app.db.write(async |db| db.exec(gone.clone()).await).await.expect("a change");
    assert_eq!(app.get(&path).await.status, 404);
}

#[tokio::test]
async fn an_administrator_revokes_the_feeds_of_a_person() {
    let app = TestApp::start().await;
    let mut viewer = Browser::of(&app, Role::Viewer).await;
    let mut admin = Browser::of(&app, Role::Admin).await;
    let id = user::by_email(app.db.read(), "viewer@example.com").await.expect("an answer").expect("a user").id;
    let here = format!("/users/{id}");
    assert!(admin.page(&here).await.contains(">Feeds</h2><p class=\"soft\">No feed reader"));
    let path = format!("{}/deploys.atom", made(&mut viewer).await);
    made(&mut viewer).await;
    let kept = format!("{}/deploys.atom", made(&mut admin).await);
    let page = admin.page(&here).await;
    assert!(page.contains(">Feeds: 2</h2>") && page.contains("None was ever read."), "{page}");
    let revoke = page.split('"').find(|text| text.ends_with("/feeds")).expect("a form").to_owned();
    // Nobody else sees them, or revokes them.
    assert!(!viewer.page(&here).await.contains("id=\"feeds\""));
    assert_eq!(viewer.post(&revoke, &[]).await.status, 403);
    read(&app, &path).await;
    assert_eq!(admin.post(&revoke, &[]).await.location(), here);
    assert_eq!(app.get(&path).await.status, 404);
    read(&app, &kept).await;
    assert_eq!(admin.post(&revoke, &[]).await.location(), here);
    assert_eq!(admin.post("/users/none/feeds", &[]).await.status, 404);
    let row = audit::Entity::find().filter(audit::Column::Action.eq("feedsRevoke"));
    let rows = app.db.read().all(row).await.expect("entries");
    let told: Vec<_> = rows.iter().map(|row| (row.subject_name.as_deref(), &*row.detail)).collect();
    assert_eq!(told, [(Some("viewer@example.com"), "{\"revokedFeeds\":2}")]);
}

#[tokio::test]
async fn a_feed_that_nobody_reads_is_removed() {
    let app = TestApp::start().await;
    let mut viewer = Browser::of(&app, Role::Viewer).await;
    let now = Timestamp::now();
    let ago = |days: i64| Timestamp::from_micros(now.as_micros() - days * 86_400_000_000);
    // When each was made, and last read.
    let feeds = [(200, None), (200, Some(182)), (200, Some(180)), (200, Some(0)), (180, None)];
    for (made_at, used_at) in feeds {
        made(&mut viewer).await;
        let newest = app.db.read().all(feed::Entity::find().order_by_desc(feed::Column::Id)).await.expect("feeds");
        let times = feed::Entity::update_many()
            .col_expr(feed::Column::CreatedAt, Expr::value(ago(made_at)))
            .col_expr(feed::Column::LastUsedAt, Expr::value(used_at.map(ago)))
            .filter(feed::Column::Id.eq(newest[0].id));
        app.db.write(async |tx| tx.exec(times.clone()).await).await.expect("a change");
    }
    let kept = i64::try_from(feed::KEPT.as_micros()).expect("a number");
    let before = Timestamp::from_micros(now.as_micros() - kept);
    assert_eq!(retention::remove_feeds(&app.db, before).await, Ok(2));
    let left = app.db.read().all(feed::Entity::find().order_by_asc(feed::Column::Id)).await.expect("feeds");
    assert_eq!(left.iter().map(|feed| feed.id).collect::<Vec<_>>(), [3, 4, 5]);
    assert_eq!(retention::remove_feeds(&app.db, before).await, Ok(0));
    // A use is written once a day.
    assert!(
        left[1].is_use_worth_noting(ago(-1))
            && !left[1].is_use_worth_noting(Timestamp::from_micros(ago(-1).as_micros() - 1))
    );
}

#[tokio::test]
async fn every_feed_has_the_limit_of_a_token() {
    let app = TestApp::with(&["--token-limit", "2"]).await;
    let mut viewer = Browser::of(&app, Role::Viewer).await;
    let (one, other) = (made(&mut viewer).await, made(&mut viewer).await);
    for _ in 0..2 {
        read(&app, &format!("{one}/deploys.atom")).await;
    }
    let refused = app.get(&format!("{one}/deploys.atom")).await;
    assert_eq!(refused.status, 429);
    assert!(refused.header("retry-after").is_some());
    read(&app, &format!("{other}/deploys.atom")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_is_in_no_log_no_span_no_metric_and_no_error() {
    let (collector, place, database) = (Collector::start(), Place::new(), Database::new().await);
    let link = place.run_on(&database, &["sign-in-link", "--email", "ada@example.com"]);
    let link = link.split_once(":8080").expect("the usual port").1;
    let serve = ["serve", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"];
    let mut command = place.command(&[&serve[..], &["--database-url", &database.url]].concat());
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
    let mut service = Process::start(command);
    let (figures, client) = (service.metrics(), Client::builder(TokioExecutor::new()).build_http());
    let address = service.address;
    let ask = async |method: Method, path: &str, cookie: &str| -> Response {
        let kind = ("content-type", "application/x-www-form-urlencoded");
        let headers = [kind, ("sec-fetch-site", "same-origin"), ("accept", "text/html"), ("cookie", cookie)];
        send(&client, address, method, path, &headers, "").await
    };
    let signed_in = ask(Method::POST, link, "").await;
    let cookie = signed_in.header("set-cookie").and_then(|cookie| cookie.split(';').next()).expect("a session");
    let path = shown(ask(Method::POST, "/account/feeds", cookie).await.text());
    let token = path.trim_start_matches("/feeds/");
    for (method, address, status) in [
        (Method::GET, format!("{path}/deploys.atom"), 200),
        (Method::GET, format!("{path}/deploys.atom?service=none"), 404),
        (Method::GET, format!("{path}/deploys.atom?service=a&team=b"), 400),
        (Method::GET, format!("{path}/none.atom"), 404),
        // Another path: of a page, which nobody reads without signing in.
        (Method::GET, format!("/{path}/deploys.atom"), 303),
        (Method::POST, format!("{path}/deploys.atom"), 405),
    ] {
        let answer = ask(method, &address, "").await;
        assert_eq!(answer.status, status, "{address}: {answer:?}");
        assert!(!answer.text().contains(token), "{address}");
        assert!(status == 404 || answer.header("referrer-policy") == Some("no-referrer"), "{address}");
    }
    let (_, metrics) = service.get(figures, "/metrics").await;
    assert!(metrics.contains("route=\"/feeds\"") && !metrics.contains(token), "{metrics}");
    let log = service.stop();
    assert!(log.iter().any(|line| line.contains("route=\"/feeds\"")), "{log:#?}");
    assert!(log.iter().all(|line| !line.contains(token)), "{log:#?}");
    let sent: Vec<u8> = collector.posts().into_iter().flat_map(|post| post.body).collect();
    let has = |text: &str| sent.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(has("GET /feeds") && !has(token));
}
