//! The metrics of a process, on their own listener.

use hyper::Method;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::harness::app::{TestApp, kept_open, read_to_end};
use crate::harness::metrics::{figures, request};
use crate::harness::webhook::record;

#[tokio::test]
async fn the_metrics_count_requests_and_their_results() {
    let app = TestApp::with(&["--metrics-listen", "127.0.0.1:0"]).await;
    let made =
        app.query("mutation Make { serviceCreate(input: { name: \"shop\" }) { service { id } } }", json!({})).await;
    assert!(made["data"]["serviceCreate"]["service"]["id"].is_string(), "{made}");
    for _ in 0..2 {
        app.query("query Name { account { name } }", json!({})).await;
    }
    app.query("{ account { name } }", json!({})).await;
    app.query("query Unknown { none }", json!({})).await;
    app.post_with("{__typename}", json!({}), &[]).await;
    app.get("/nothing/secret").await;
    let (_, url) = crate::harness::integration::deploy_endpoint(&app, "CI").await;
    let path = url.split_once(&app.address.to_string()).expect("our address").1;
    for attributes in [
        json!({ "dedup_id": "1" }),
        json!({ "dedup_id": "1" }),
        json!({ "service": "nobody" }),
        json!({ "description": null }),
    ] {
        app.request(Method::POST, path, &[("content-type", "application/json")], record(attributes).to_string()).await;
    }

    let figures = figures(&app).await;
    for (name, expected) in [
        ("rollcall_http_request_duration_seconds_count{route=\"unknown\",status=\"404\"}", 1.0),
        ("rollcall_http_request_duration_seconds_count{route=\"/graphql\",status=\"401\"}", 1.0),
        ("rollcall_http_request_duration_seconds_count{route=\"/integrations/deploy\",status=\"202\"}", 3.0),
        ("rollcall_http_request_duration_seconds_count{route=\"/integrations/deploy\",status=\"400\"}", 1.0),
        ("rollcall_graphql_operation_duration_seconds_count{type=\"mutation\",name=\"Make\"}", 1.0),
        ("rollcall_graphql_operation_duration_seconds_count{type=\"query\",name=\"Name\"}", 2.0),
        ("rollcall_graphql_operation_duration_seconds_count{type=\"query\",name=\"\"}", 1.0),
        ("rollcall_deploys_total{result=\"ok\"}", 1.0),
        ("rollcall_deploys_total{result=\"duplicate_deploy\"}", 1.0),
        ("rollcall_deploys_total{result=\"no_service_found\"}", 1.0),
        ("rollcall_deploys_total{result=\"refused\"}", 1.0),
        ("rollcall_deploys_total{result=\"failed\"}", 0.0),
        ("rollcall_document_pulls_total{result=\"failed\"}", 0.0),
        ("rollcall_unauthenticated_requests_total", 1.0),
        ("rollcall_limited_requests_total{limit=\"token\"}", 0.0),
        ("rollcall_limited_requests_total{limit=\"session\"}", 0.0),
        ("rollcall_limited_requests_total{limit=\"feed\"}", 0.0),
        ("rollcall_limited_requests_total{limit=\"address\"}", 0.0),
        ("rollcall_open_connections", 1.0),
        ("rollcall_refused_connections_total", 0.0),
        (&*format!("rollcall_build_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION")), 1.0),
    ] {
        assert_eq!(figures.get(name), Some(&expected), "{name} in {figures:#?}");
    }
    for name in ["process_start_time_seconds", "process_resident_memory_bytes", "process_open_fds"] {
        assert!(figures[name] > 0.0, "{name}");
    }
    assert!(figures.keys().any(|name| name.starts_with("rollcall_database_connections{")), "{figures:#?}");
    assert!(!figures.keys().any(|name| name.contains("Unknown") || name.contains("secret")), "{figures:#?}");
}

#[tokio::test]
async fn the_metrics_say_what_the_catalogue_lacks() {
    let app = TestApp::with(&["--metrics-listen", "127.0.0.1:0"]).await;
    let query = r#"mutation {
        a: serviceCreate(input: { name: "shop", tierAlias: "tier_1" }) { errors { message } }
        b: serviceCreate(input: { name: "cart" }) { errors { message } }
    }"#;
    app.query(query, json!({})).await;
    let (_, url) = crate::harness::integration::deploy_endpoint(&app, "CI").await;
    let path = url.split_once(&app.address.to_string()).expect("our address").1;
    let now = rollcall::entity::Timestamp::now().to_string();
    for (service, environment) in [("shop", "Production"), ("shop", "staging"), ("nobody", "production")] {
        let attributes =
            json!({ "service": service, "environment": environment, "status": "failed", "deployed_at": now });
        app.request(Method::POST, path, &[("content-type", "application/json")], record(attributes).to_string()).await;
    }
    let figures = figures(&app).await;
    for (name, expected) in [
        ("rollcall_services_without_owner{tier=\"tier_1\"}", 1.0),
        ("rollcall_services_without_owner{tier=\"none\"}", 1.0),
        ("rollcall_open_suggestions", 1.0),
        ("rollcall_failed_deploys_last_day{environment=\"production\",tier=\"tier_1\"}", 1.0),
        ("rollcall_failed_deploys_last_day{environment=\"other\",tier=\"tier_1\"}", 1.0),
    ] {
        assert_eq!(figures.get(name), Some(&expected), "{name} in {figures:#?}");
    }
}

#[tokio::test]
async fn the_metrics_count_refused_requests_by_limit() {
    let limits = ["--token-limit", "1", "--ip-limit", "3", "--metrics-listen", "127.0.0.1:0"];
    let app = TestApp::with(&limits).await;
    for status in [200, 429, 429, 429] {
        assert_eq!(app.post("{__typename}", json!({})).await.status, status);
    }
    let figures = figures(&app).await;
    for (limit, requests) in [("token", 2.0), ("address", 1.0)] {
        let name = format!("rollcall_limited_requests_total{{limit=\"{limit}\"}}");
        assert_eq!(figures.get(&name), Some(&requests), "{name}");
    }
}

#[tokio::test]
async fn the_metrics_count_refused_connections() {
    let app = TestApp::with(&["--max-connections", "4", "--metrics-listen", "127.0.0.1:0"]).await;
    let _open = kept_open(&app, b"").await.expect("a connection");
    assert!(kept_open(&app, b"").await.is_none(), "beyond a quarter");
    assert_eq!(figures(&app).await.get("rollcall_refused_connections_total"), Some(&1.0));
}

#[tokio::test]
async fn the_metrics_listener_answers_nothing_else() {
    let app = TestApp::with(&["--metrics-listen", "127.0.0.1:0"]).await;
    let address = app.metrics.expect("a listener for figures");
    for path in ["/", "/graphql", "/livez", "/metrics/"] {
        assert_eq!(request(address, Method::GET, path, &[]).await.status, 404, "{path}");
    }
    let posted = request(address, Method::POST, "/metrics", &[]).await;
    assert_eq!((posted.status, posted.header("allow")), (405, Some("GET")));
    assert_eq!(app.get("/metrics").await.status, 404);
    let packed = request(address, Method::GET, "/metrics", &[("accept-encoding", "gzip")]).await;
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
}

#[tokio::test]
async fn the_metrics_listener_has_timeouts() {
    let flags = ["--metrics-listen", "127.0.0.1:0", "--header-timeout", "100ms", "--idle-timeout", "100ms"];
    let app = TestApp::with(&flags).await;
    for start in ["", "GET /metrics HTTP/1.1\r\n", "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"] {
        let mut stream = TcpStream::connect(app.metrics.expect("a listener for figures")).await.expect("a connection");
        stream.write_all(start.as_bytes()).await.expect("the service reads");
        let answer = read_to_end(&mut stream).await;
        assert_eq!(answer.starts_with("HTTP/1.1 200 "), start.ends_with("\r\n\r\n"), "{start:?}: {answer}");
    }
}
