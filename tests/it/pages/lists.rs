//! Lists of deploys and services by many conditions, as pages and as files, and the histories of objects.

use std::io::Read;
use std::time::Duration;

use flate2::read::GzDecoder;
use hyper::Method;
use rollcall::entity::user::Role;
use rollcall::http::handlers::app::DOWNLOADS;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, sleep, timeout};

use crate::harness::app::{Response, TestApp, data, read_to_end, send};
use crate::harness::browser::Browser;
use crate::harness::webhook::Endpoint;

/// The text of a file, compressed or not.
fn unpacked(file: &Response) -> String {
    if file.header("content-encoding").is_none() {
        return file.text().to_owned();
    }
    let mut text = String::new();
    GzDecoder::new(&*file.body).read_to_string(&mut text).expect("gzip, with its end");
    text
}

/// An endpoint with deploys of two services, of two teams.
async fn deployed() -> Endpoint {
    let endpoint = Endpoint::start().await;
    let query = r#"mutation {
        pay: teamCreate(input: { name: "Till & Pay" }) { errors { message } }
        rest: teamCreate(input: { name: "Rest" }) { errors { message } }
        domain: systemCreate(input: { name: "Checkout" }) { errors { message } }
        cart: serviceCreate(input: { name: "Cart", ownerInput: { alias: "till_pay" }, parent: { alias: "checkout" } }) { errors { message } }
        other: serviceCreate(input: { name: "Other", ownerInput: { alias: "rest" } }) { errors { message } }
    }"#;
    data(&endpoint.app, query).await;
    let deploys = [
        ("cart", "success", "Ada", "production"),
        ("cart", "failure", "Ben", "staging"),
        ("other", "failure", "Ada", "production"),
    ];
    for (number, (service, status, who, environment)) in deploys.into_iter().enumerate() {
        let deploy = json!({
            "service": service, "status": status, "environment": environment, "dedup_id": number.to_string(),
            "deployed_at": format!("2026-11-0{}T10:00:00Z", number + 1), "description": format!("change {number}"),
            "deployer": { "name": who, "email": format!("{}@example.com", who.to_lowercase()) },
        });
        assert_eq!(endpoint.post_with(deploy).await.status, 202);
    }
    endpoint
}

#[tokio::test]
async fn deploys_are_filtered_by_team_system_person_status_environment_and_period() {
    let endpoint = deployed().await;
    let browser = Browser::of(&endpoint.app, Role::Viewer).await;
    for (query, expected) in [
        ("", vec![0, 1, 2]),
        ("service=cart", vec![0, 1]),
        ("team=till_pay", vec![0, 1]),
        ("team=Till+%26+Pay", vec![0, 1]),
        ("team=till_pay&service=other", vec![]),
        ("system=checkout", vec![0, 1]),
        ("person=ADA%40", vec![0, 2]),
        ("person=ben", vec![1]),
        ("status=failed", vec![1, 2]),
        ("status=failed&team=rest", vec![2]),
        ("environment=PRODUCTION", vec![0, 2]),
        ("from=2026-11-02&until=2026-11-02", vec![1]),
    ] {
        let page = browser.page(&format!("/deploys?{query}")).await;
        let shown: Vec<usize> = (0..3).filter(|number| page.contains(&format!("change {number}"))).collect();
        assert_eq!(shown, expected, "{query}");
        let file = browser.page(&format!("/deploys.csv?{query}")).await;
        assert_eq!(file.lines().count(), expected.len() + 1, "{query}: {file}");
    }
    let page = browser.page("/deploys?status=failed&person=ada").await;
    assert!(page.contains("<a href=\"/deploys?person=ada\">Status is <strong>failed</strong>"), "{page}");
    assert!(page.contains("href=\"/deploys.csv?status=failed&amp;person=ada\""), "{page}");
    for bad in ["status=odd", "after=x", "from=soon"] {
        assert_eq!(browser.get(&format!("/deploys?{bad}")).await.status, 400, "{bad}");
    }
    for (path, all) in
        [("/teams/till_pay", "/deploys?team=till_pay"), ("/systems/checkout", "/deploys?system=checkout")]
    {
        let page = browser.page(path).await;
        assert!(
            page.contains(&format!("href=\"{all}\"")) && page.contains("change 1") && !page.contains("change 2"),
            "{page}"
        );
    }
}

#[tokio::test]
async fn the_list_of_deploys_is_answered_by_itself_while_somebody_types() {
    let endpoint = deployed().await;
    let browser = Browser::of(&endpoint.app, Role::Viewer).await;
    for (query, expected) in [
        ("", vec![0, 1, 2]),
        ("team=Till+%26+Pay", vec![0, 1]),
        ("service=Cart", vec![0, 1]),
        ("service=Car", vec![]),
        ("system=Checkout&status=failed", vec![1]),
    ] {
        let list = browser.part(&format!("/deploys?{query}"), "deploys").await;
        assert_eq!(list.status, 200, "{query}");
        let list = list.text();
        assert!(list.starts_with("<div id=\"deploys\"") && list.ends_with("</div>"), "{query}: {list}");
        assert!(!list.contains("<datalist") && !list.contains("<nav aria-label=\"Catalogue\">"), "{query}: {list}");
        let shown: Vec<usize> = (0..3).filter(|number| list.contains(&format!("change {number}"))).collect();
        assert_eq!(shown, expected, "{query}");
    }
    assert_eq!(browser.part("/deploys?status=odd", "deploys").await.status, 400);
    let whole = browser.part("/deploys", "other").await;
    assert!(whole.text().contains("<datalist"), "the page has no such part: {whole:?}");
}

#[tokio::test]
async fn deploys_are_paged_through_whatever_the_filter() {
    let endpoint = Endpoint::start().await;
    endpoint.create_service("shop").await;
    for number in 0..70 {
        let deploy = json!({
            "dedup_id": number.to_string(), "description": format!("change {number}."), "status": "success",
            "deployed_at": "2026-11-01T10:00:00Z",
        });
        endpoint.post_with(deploy).await;
    }
    let browser = Browser::of(&endpoint.app, Role::Viewer).await;
    for query in ["", "?service=shop", "?status=succeeded", "?service=shop&status=succeeded"] {
        let first = browser.page(&format!("/deploys{query}")).await;
        let next = first.split_once("rel=\"next\" href=\"").expect("a page").1.split_once('"').expect("its end").0;
        let second = browser.page(&next.replace("&amp;", "&")).await;
        let shown = |page: &str| (0..70).filter(|number| page.contains(&format!("change {number}."))).count();
        assert_eq!((shown(&first), shown(&second)), (50, 20), "{query}");
        assert!(!second.contains("rel=\"next\""), "{query}");
    }
    assert_eq!(browser.page("/deploys.csv").await.lines().count(), 71);
}

#[tokio::test]
async fn the_list_of_services_is_a_file_with_its_filter_and_order() {
    let app = TestApp::start().await;
    let create = "mutation($input: ServiceCreateInput!) { serviceCreate(input: $input) { errors { message } } }";
    for number in 0..120 {
        let language = if number % 2 == 0 { "Go" } else { "Rust" };
        app.query(create, json!({ "input": { "name": format!("svc {number:03}"), "language": language } })).await;
    }
    app.query(create, json!({ "input": { "name": "=cmd(\"x\"), y", "language": "C" } })).await;
    let browser = Browser::of(&app, Role::Viewer).await;
    let answer = browser.get("/services.csv?language=Go&sort=name_DESC").await;
    assert_eq!(answer.header("content-type"), Some("text/csv; charset=utf-8"));
    assert_eq!(answer.header("content-disposition"), Some("attachment; filename=\"services.csv\""));
    let lines: Vec<&str> = answer.text().lines().collect();
    assert_eq!(lines.len(), 61);
    assert!(lines[0].starts_with("name,alias,owner,") && lines[1].starts_with("svc 118,svc_118,"), "{}", lines[1]);
    let file = browser.page("/services.csv?language=C").await;
    assert!(file.contains("\"'=cmd(\"\"x\"\"), y\","), "{file}");
    assert!(browser.page("/services?language=Go").await.contains("href=\"/services.csv?language=Go\""));
    assert_eq!(Browser::new(&app).get("/services.csv").await.place(), "/sign-in");
}

#[tokio::test]
async fn a_file_of_several_pages_is_the_list_of_the_api_and_is_sent_as_it_is_written() {
    let app = TestApp::with(&["--token-limit", "0", "--ip-limit", "0"]).await;
    for portion in 0..10 {
        let services: String = (0..25)
            .map(|number| {
                let name = format!("svc {:03}", portion * 25 + number);
                format!("s{number}: serviceCreate(input: {{ name: \"{name}\", framework: \"axum\" }}) {{ errors {{ message }} }}\n")
            })
            .collect();
        data(&app, &format!("mutation {{ {services} }}")).await;
    }
    let mut expected = vec!["name,framework".to_owned()];
    let mut after = json!(null);
    loop {
        let query = "query($after: String) { account { services(sortBy: name_DESC, after: $after) {
            nodes { name framework } pageInfo { hasNextPage endCursor }
        } } }";
        let page = app.query(query, json!({ "after": after })).await["data"]["account"]["services"].clone();
        for node in page["nodes"].as_array().expect("services") {
            let text = |field: &str| node[field].as_str().expect("a text").to_owned();
            expected.push(format!("{},{}", text("name"), text("framework")));
        }
        if page["pageInfo"]["hasNextPage"] == json!(false) {
            break;
        }
        after = page["pageInfo"]["endCursor"].clone();
    }
    assert_eq!(expected.len(), 251, "three pages");
    let browser = Browser::of(&app, Role::Viewer).await;
    let path = "/services.csv?sort=name_DESC&columns=framework";
    let answer = browser.get(path).await;
    assert_eq!((answer.header("transfer-encoding"), answer.header("content-length")), (Some("chunked"), None));
    assert_eq!(answer.text().lines().collect::<Vec<_>>(), expected);
    let cookie = browser.cookie.as_deref().expect("a cookie");
    let headers = [("cookie", cookie), ("accept-encoding", "gzip, zstd")];
    let packed = send(&app.http2(), app.address, Method::GET, path, &headers, "").await;
    assert_eq!(unpacked(&packed), answer.text(), "over HTTP/2");
    let head = app.request(Method::HEAD, path, &headers, "").await;
    assert_eq!((head.status, head.text(), head.header("content-length")), (200, "", None));
    assert_eq!(head.header("content-encoding"), Some("gzip"));
    for (asked, coding) in
        [("gzip", Some("gzip")), ("zstd, gzip;q=0.1", Some("gzip")), ("zstd", None), ("gzip;q=0", None)]
    {
        let file = app.get_with(path, &[("cookie", cookie), ("accept-encoding", asked)]).await;
        assert_eq!(
            (file.header("content-encoding"), file.header("vary")),
            (coding, Some("accept-encoding")),
            "{asked}"
        );
        assert_eq!(unpacked(&file), answer.text(), "{asked}");
        assert!(coding.is_none() || file.body.len() < answer.body.len() / 2, "{} bytes", file.body.len());
    }
    // Before HTTP/1.1, the end of the connection ends the file.
    let mut old = app.connect().await;
    let asked = format!("GET {path} HTTP/1.0\r\nCookie: {cookie}\r\nAccept-Encoding: gzip\r\n\r\n");
    old.write_all(asked.as_bytes()).await.expect("a request");
    let old = read_to_end(&mut old).await;
    assert!(old.starts_with("HTTP/1.") && old.contains(" 200 OK") && old.ends_with(answer.text()), "{old}");
    // What cannot be answered at all is a page, not a file.
    assert_eq!(browser.get("/services.csv?sort=colour_ASC").await.status, 400);
    assert_eq!(browser.get("/deploys.csv?from=soon").await.status, 400);
    assert_eq!(browser.get("/services/none/history.csv").await.status, 404);
}

#[tokio::test]
async fn a_list_of_choices_that_ends_takes_the_name_of_what_it_does_not_show() {
    let app = TestApp::with(&["--token-limit", "0", "--ip-limit", "0"]).await;
    for portion in 0..5 {
        let filters: String = (0..21)
            .map(|number| {
                let name = portion * 21 + number;
                let value = if name == 104 { "Go" } else { "none" };
                let predicate = format!("{{ key: language, type: equals, value: \"{value}\" }}");
                format!("f{number}: filterCreate(input: {{ name: \"Filter {name}\", predicates: [{predicate}] }}) {{ errors {{ message }} }}\n")
            })
            .collect();
        data(&app, &format!("mutation {{ {filters} }}")).await;
    }
    let services = r#"mutation {
        cart: serviceCreate(input: { name: "Cart", language: "Go" }) { errors { message } }
        mail: serviceCreate(input: { name: "Mail" }) { errors { message } }
        core: teamCreate(input: { name: "Core" }) { errors { message } }
    }"#;
    data(&app, services).await;
    let mut admin = Browser::of(&app, Role::Admin).await;
    let page = admin.page("/services").await;
    assert!(page.contains("id=\"field-filter\" name=\"filter\"") && page.contains("list=\"list-filter\""), "{page}");
    assert!(page.contains("placeholder=\"Type a name: not all are listed\""), "{page}");
    assert!(page.contains(">Filter 99</option>") && !page.contains(">Filter 100</option>"), "{page}");
    let found = admin.page("/services?filter=Filter+104").await;
    assert!(found.contains(">Cart</a>") && !found.contains(">Mail</a>"), "{found}");
    assert!(found.contains("Saved filter <strong>Filter 104</strong>"), "the chip has its name: {found}");
    let file = admin.page("/services.csv?filter=Filter+104&columns=alias").await;
    assert_eq!(file, "name,alias\r\nCart,cart\r\n");
    let unknown = admin.page("/services?filter=Filter+999").await;
    assert!(unknown.contains("id=\"wrong-filter\"") && unknown.contains("value=\"Filter 999\""), "{unknown}");
    // A form understands the name, too.
    let form = [("name", "All in Go"), ("ownerId", "core"), ("filterId", "Filter 104")];
    let made = admin.post("/new/campaign", &form).await;
    let campaign = admin.page(made.place().trim_end_matches("/edit")).await;
    assert!(campaign.contains("Filter 104"), "{campaign}");
}

#[tokio::test]
async fn a_history_has_what_belongs_to_its_subject_and_is_for_all_who_may_read() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        other: serviceCreate(input: { name: "Bus" }) { errors { message } }
        cart: serviceCreate(input: { name: "Cart <b>" }) { errors { message } }
        tool: toolCreate(input: { serviceAlias: "cart_b", displayName: "Board <b>", url: "https://example.com", category: metrics }) { errors { message } }
        needs: serviceDependencyCreate(inputV2: { dependencyKey: { sourceIdentifier: { alias: "cart_b" }, destinationIdentifier: { alias: "bus" } } }) { errors { message } }
        tag: tagCreate(input: { alias: "cart_b", type: Service, key: "env", value: "x" }) { errors { message } }
        team: teamCreate(input: { name: "Core" }) { errors { message } }
        update: teamUpdate(input: { alias: "core", responsibilities: "All of it" }) { errors { message } }
        system: systemCreate(input: { name: "Checkout" }) { errors { message } }
        domain: domainCreate(input: { name: "Shop" }) { errors { message } }
    }"#;
    data(&app, query).await;
    let browser = Browser::of(&app, Role::Viewer).await;
    assert!(browser.page("/services/cart_b").await.contains("href=\"/services/cart_b/history\""));
    let page = browser.page("/services/cart_b/history").await;
    for text in ["added service", "added tool", "Board &lt;b&gt;", "added service dependency", "added tag"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(!page.contains("<b>"), "{page}");
    let links = browser.page("/services/cart_b/history?kind=links").await;
    assert!(links.contains("added tool") && !links.contains("added service"), "{links}");
    let tags = browser.page("/services/cart_b/history?kind=tags").await;
    assert!(tags.contains("added tag") && !tags.contains("added tool"), "{tags}");
    let file = browser.page("/services/cart_b/history.csv?kind=links").await;
    assert!(file.lines().count() == 2 && file.contains("toolCreate"), "{file}");
    assert!(browser.page("/teams/core/history").await.contains("changed team"));
    for path in ["/systems/checkout/history", "/domains/shop/history"] {
        assert!(browser.page(path).await.contains("added "), "{path}");
    }
    assert_eq!(browser.get("/services/none/history").await.status, 404);
    assert_eq!(browser.get("/services/bus/history?after=x").await.status, 400);
}

/// A connection that takes little at once.
async fn narrow(app: &TestApp) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4 * 1024).expect("a small buffer");
    socket.connect(app.address).await.expect("a connection")
}

/// A file takes more than the buffers of a connection, so whoever does not read holds it up.
#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_read_a_file_is_cut_off_after_the_idle_timeout_and_gives_its_place_back() {
    const IDLE: Duration = Duration::from_secs(6);
    const PATIENCE: Duration = Duration::from_secs(60);
    let app = TestApp::with(&["--token-limit", "0", "--ip-limit", "0", "--idle-timeout", "6s"]).await;
    let tags: Vec<_> = (0..100).map(|key| json!({ "key": format!("k{key}"), "value": "v".repeat(250) })).collect();
    for portion in 0..3 {
        let name = |number: usize| format!("svc_{portion}_{number}");
        let create: String = (0..100)
            .map(|number| {
                format!(
                    "s{number}: serviceCreate(input: {{ name: \"{}\" }}) {{ errors {{ message }} }}\n",
                    name(number)
                )
            })
            .collect();
        data(&app, &format!("mutation {{ {create} }}")).await;
        let services: Vec<_> = (0..100).map(|number| json!({ "alias": name(number) })).collect();
        let update = "mutation($input: ServicesUpdateInput!) { servicesUpdate(input: $input) { errors { message } } }";
        let done = app.query(update, json!({ "input": { "services": services, "tags": tags } })).await;
        assert_eq!(done["data"]["servicesUpdate"]["errors"], json!([]), "{done}");
    }
    let path = "/services.csv?columns=tags";
    for (version, role) in [("1.0", Role::Viewer), ("1.1", Role::User)] {
        let browser = Browser::of(&app, role).await;
        let cookie = browser.cookie.as_deref().expect("a cookie");
        let mut stalled = Vec::new();
        for _ in 0..DOWNLOADS {
            let mut stream = narrow(&app).await;
            let asked = format!("GET {path} HTTP/{version}\r\nHost: a\r\nCookie: {cookie}\r\n\r\n");
            stream.write_all(asked.as_bytes()).await.expect("a request");
            let mut first = [0; 12];
            timeout(PATIENCE, stream.read_exact(&mut first)).await.expect("soon").expect("an answer");
            assert!(first.ends_with(b" 200"), "{version}: {first:?}");
            stalled.push(stream);
        }
        let began = Instant::now();
        let refused = browser.get(path).await;
        assert_eq!(refused.status, 503, "{version}: their places are taken");
        assert!(refused.text().contains("<nav aria-label=\"Catalogue\">"), "{version}: {refused:?}");
        assert!(refused.text().contains(">Try again</a>"), "{version}: {refused:?}");
        let file = loop {
            let answer = browser.get(path).await;
            if answer.status == 200 {
                break answer;
            }
            assert_eq!(answer.status, 503, "{version}");
            assert!(began.elapsed() < PATIENCE, "{version}: the places are given back");
            sleep(Duration::from_millis(100)).await;
        };
        assert!(began.elapsed() > IDLE / 2, "{version}: a slow reader is waited for");
        assert_eq!(file.text().lines().count(), 301, "{version}: others get all of it");
        // The last one may have begun later than the first, by as much as the machine was busy.
        sleep(IDLE).await;
        for mut stream in stalled {
            let mut taken = Vec::new();
            let end = timeout(PATIENCE, stream.read_to_end(&mut taken)).await.expect("the connection is closed");
            assert!(end.is_err() || taken.len() < file.body.len(), "{version}: {} bytes", taken.len());
        }
    }
}
