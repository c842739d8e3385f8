//! Spans as a collector receives them, and the ids of requests in the log.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use hyper::Method;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use rollcall::db::Write;
use rollcall::spans;
use serde_json::{Value, json};

use crate::harness::app::{Response, send};
use crate::harness::collector::{Collector, attributes};
use crate::harness::database::{Database, is_postgres};
use crate::harness::deadline::LONGEST;
use crate::harness::process::Process;
use crate::harness::program::{Place, assert_refused};
use crate::harness::webhook::record;

const CALLER: &str = "b7ad6b7169203331";

/// A service that exports spans to a collector.
struct Traced {
    service: Process,
    token: String,
    /// The path of a deploy endpoint.
    hook: String,
    database: Database,
}

impl Traced {
    async fn start(collector: &Collector, flags: &[&str]) -> Self {
        let (place, database) = (Place::new(), Database::new().await);
        let run = |arguments: &[&str]| place.run_on(&database, arguments);
        let token = run(&["token", "create", "--description", "tracing", "--scope", "admin"]);
        let url = run(&["deploy-endpoint", "create", "--name", "CI"]);
        let hook = url.split_once(":8080").expect("the usual port").1.to_owned();
        let serve = ["serve", "--listen", "127.0.0.1:0", "--database-url", &database.url, "--token-limit", "0"];
        let mut command = place.command(&[&serve[..], flags].concat());
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
        command.env("OTEL_EXPORTER_OTLP_HEADERS", "api-key=collector%20key");
        Self { service: Process::start(command), token, hook, database }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<bytes::Bytes>,
    ) -> Response {
        let client = Client::builder(TokioExecutor::new()).build_http();
        send(&client, self.service.address, method, path, headers, body).await
    }

    async fn post(&self, query: &str, variables: Value, headers: &[(&str, &str)]) -> Response {
        let token = format!("Bearer {}", self.token);
        let own = [("authorization", &*token), ("content-type", "application/json")];
        let body = json!({ "query": query, "variables": variables }).to_string();
        self.send(Method::POST, "/graphql", &[&own[..], headers].concat(), body).await
    }
}

/// A sampled `traceparent`, of a trace whose id ends in `number`.
fn traceparent(number: u8) -> (String, String) {
    let trace = format!("0af7651916cd43dd8448eb211c8031{number:02x}");
    (format!("00-{trace}-{CALLER}-01"), trace)
}

fn id(id: &[u8]) -> String {
    HEXLOWER.encode(id)
}

/// The names of the spans below another, in the order in which they began, each with its own children.
fn tree(spans: &[Span], above: &str) -> Vec<String> {
    let mut below: Vec<&Span> = spans.iter().filter(|span| id(&span.parent_span_id) == above).collect();
    below.sort_by_key(|span| (span.start_time_unix_nano, span.name.clone()));
    let lines = below.iter().flat_map(|span| {
        let under = tree(spans, &id(&span.span_id)).into_iter().map(|line| format!("  {line}"));
        [span.name.clone()].into_iter().chain(under).collect::<Vec<_>>()
    });
    lines.collect()
}

fn named<'s>(spans: &'s [Span], name: &str) -> (&'s Span, BTreeMap<String, String>) {
    let span = spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no {name} in {spans:#?}"));
    (span, attributes(&span.attributes))
}

const MAKE: &str = "mutation Make($name: String!) {
    teamCreate(input: { name: \"owning-literal\" }) { team { id } }
    serviceCreate(input: { name: $name, description: \"described-literal\" }) { service { id } errors { message } }
}";

const SHOPS: &str = "query Shops($search: String) {
    account { services(search: $search) { nodes { name owner { name } tags { nodes { key } } } } }
}";

#[tokio::test(flavor = "multi_thread")]
async fn the_spans_of_a_query_form_one_tree_below_the_callers_span() {
    let collector = Collector::start();
    let mut traced = Traced::start(&collector, &["--trace-service", "catalogue"]).await;
    traced.post(MAKE, json!({ "name": "named-variable" }), &[]).await;
    // The first run finds out whether the query needs a transaction.
    traced.post(SHOPS, json!({ "search": "named" }), &[]).await;
    let (parent, trace) = traceparent(1);
    let headers = [("traceparent", &*parent), ("tracestate", "vendor=1"), ("x-request-id", "request-7")];
    let answer = traced.post(SHOPS, json!({ "search": "named" }), &headers).await.json();
    assert_eq!(answer["data"]["account"]["services"]["nodes"][0]["name"], "named-variable");
    let log = traced.service.stop();

    let spans = collector.trace(&trace);
    let lines = tree(&spans, CALLER);
    assert_eq!(lines.len(), spans.len(), "a span is not below the caller's: {spans:#?}");
    let token = if is_postgres() { "  read a token" } else { "  SELECT token" };
    let is_read = |line: &&str| line.contains("SELECT") || *line == token;
    let fields: Vec<&str> = lines.iter().map(String::as_str).filter(|line| !is_read(line)).collect();
    let expected = [
        "POST /graphql",
        "  query Shops",
        "    Query.account",
        "      Account.services",
        "        Service.owner",
        "        Service.tags",
    ];
    assert_eq!(fields, expected, "{lines:#?}");
    assert!(lines.contains(&token.to_owned()), "{lines:#?}");
    assert!(lines.iter().any(|line| line.starts_with("          SELECT")), "{lines:#?}");
    assert!(spans.iter().all(|span| span.trace_state == "vendor=1"));

    let (request, told) = named(&spans, "POST /graphql");
    assert_eq!(request.kind(), SpanKind::Server);
    let expected = [
        ("http.request.method", "POST"),
        ("http.response.status_code", "200"),
        ("http.route", "/graphql"),
        ("network.protocol.version", "1.1"),
        ("rollcall.request_id", "request-7"),
        ("url.path", "/graphql"),
        ("url.scheme", "http"),
    ];
    assert_eq!(told, BTreeMap::from(expected.map(|(name, value)| (name.to_owned(), value.to_owned()))));
    let (_, told) = named(&spans, "query Shops");
    assert_eq!((&*told["graphql.operation.name"], &*told["graphql.operation.type"]), ("Shops", "query"));
    assert_eq!(told["rollcall.objects"], "4");
    let (_, told) = named(&spans, "Service.owner");
    let expected = ("owner", "Service", "1");
    let [name, above, parents] =
        ["graphql.field.name", "graphql.field.parent_type", "rollcall.parents"].map(|name| &*told[name]);
    assert_eq!((name, above, parents), expected);
    let (statement, told) = named(&spans, "SELECT service");
    assert_eq!(statement.kind(), SpanKind::Client);
    let system = if traced.database.url.starts_with("postgres") { "postgresql" } else { "sqlite" };
    assert_eq!((&*told["db.system.name"], &*told["db.operation.name"]), (system, "SELECT"));
    assert_eq!(told["db.response.returned_rows"], "1");
    assert!(told["db.query.text"].starts_with("SELECT \"service\".\"id\""), "{told:?}");

    assert_eq!(collector.resource()["service.name"], "catalogue");
    let head = &collector.posts()[0].head;
    assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n") && head.contains("api-key: collector key"), "{head}");
    assert!(head.contains("content-type: application/x-protobuf"), "{head}");
    let line = log.iter().find(|line| line.contains("request_id=request-7")).expect("a line");
    assert!(line.contains("operation=\"Shops\"") && line.ends_with(&format!(" trace_id={trace}")), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn mutations_deploys_and_pages_have_spans_and_secrets_are_in_none() {
    let collector = Collector::start();
    let mut traced = Traced::start(&collector, &[]).await;
    let [mutation, deploy, page] = [2, 3, 4].map(traceparent);
    let made = traced.post(MAKE, json!({ "name": "named-variable" }), &[("traceparent", &mutation.0)]).await.json();
    assert_eq!(made["data"]["serviceCreate"]["errors"], json!([]), "{made}");
    let twice = traced.post(MAKE, json!({ "name": "named-variable" }), &[]).await.json();
    assert_ne!(twice["data"]["teamCreate"], json!(null), "{twice}");
    let body = record(json!({ "service": "posted-alias", "description": "posted-text" })).to_string();
    let headers = [("content-type", "application/json"), ("traceparent", &*deploy.0)];
    assert_eq!(traced.send(Method::POST, &traced.hook, &headers, body).await.status, 202);
    let wrong = traced.send(Method::POST, "/integrations/deploy%2Fpasted-secret", &headers, "").await;
    assert!(wrong.status >= 400, "{wrong:?}");
    let headers = [("traceparent", &*page.0), ("cookie", "session=baked-secret")];
    traced.send(Method::GET, "/sign-in/linked-secret?next=asked-secret", &headers, "").await;
    traced.service.stop();

    let spans = collector.trace(&mutation.1);
    let lines = tree(&spans, CALLER);
    assert_eq!(lines.len(), spans.len(), "{lines:#?}");
    for line in
        ["    Mutation.teamCreate", "    Mutation.serviceCreate", "      BEGIN", "      INSERT service", "      COMMIT"]
    {
        assert!(lines.contains(&line.to_owned()), "{line} in {lines:#?}");
    }
    let spans = collector.trace(&deploy.1);
    let lines = tree(&spans, CALLER);
    for line in
        ["POST /integrations/deploy", "  SELECT integration", "  record a deploy", "    INSERT deploy", "    COMMIT"]
    {
        assert!(lines.contains(&line.to_owned()), "{line} in {lines:#?}");
    }
    assert_eq!(named(&spans, "record a deploy").1["rollcall.deploy.result"], "no_service_found");
    assert!(!named(&spans, "POST /integrations/deploy").1.contains_key("url.path"));
    let spans = collector.trace(&page.1);
    assert_eq!(named(&spans, "GET app").1["url.path"], "/sign-in");

    let secrets = [
        &*traced.token,
        traced.hook.rsplit('/').next().expect("the id of the endpoint"),
        "named-variable",
        "owning-literal",
        "described-literal",
        "posted-alias",
        "posted-text",
        "pasted-secret",
        "linked-secret",
        "asked-secret",
        "baked-secret",
        "collector key",
    ];
    let sent: Vec<u8> = collector.posts().into_iter().flat_map(|post| post.body).collect();
    for secret in secrets {
        assert!(!sent.windows(secret.len()).any(|part| part == secret.as_bytes()), "{secret}");
    }
    assert!(sent.windows(8).any(|part| part == b"/sign-in"), "the search finds nothing at all");
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_decide_what_is_sampled_and_malformed_parents_are_ignored() {
    let collector = Collector::start();
    let mut traced = Traced::start(&collector, &[]).await;
    let (parent, trace) = traceparent(5);
    let unsampled = format!("{}00", &parent[..53]);
    for parent in [&unsampled, &parent.to_uppercase(), "nonsense"] {
        traced.post("query Name { account { name } }", json!({}), &[("traceparent", parent)]).await;
    }
    traced.service.stop();
    assert_eq!(collector.trace(&trace).len(), 0);
    let roots: Vec<Span> = collector.spans().into_iter().filter(|span| span.parent_span_id.is_empty()).collect();
    let traces: BTreeSet<String> = roots.iter().map(|span| id(&span.trace_id)).collect();
    assert_eq!((roots.len(), traces.len()), (2, 2), "{roots:#?}");

    let collector = Collector::start();
    let mut traced = Traced::start(&collector, &["--trace-sampler", "traceidratio", "--trace-sampler-arg", "0"]).await;
    traced.post("{ account { name } }", json!({}), &[("traceparent", &parent)]).await;
    traced.service.stop();
    assert_eq!(collector.posts().len(), 0);
}

/// A query that asks for this many spans and a few more.
fn many_spans(spans: usize) -> String {
    let accounts: String = (0..spans / 2).map(|number| format!("a{number}: account {{ tiers {{ name }} }} ")).collect();
    format!("query Many {{ {accounts} }}")
}

async fn figure(traced: &Traced, figures: std::net::SocketAddr, result: &str) -> usize {
    let (_, text) = traced.service.get(figures, "/metrics").await;
    let name = format!("rollcall_spans_total{{result=\"{result}\"}} ");
    let line = text.lines().find_map(|line| line.strip_prefix(&name)).unwrap_or_else(|| panic!("{name} in {text}"));
    line.parse().expect("a number")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_has_a_limit_of_spans() {
    let collector = Collector::start();
    // A debug build beside other tests may be slow, and waits for a database server count as processor time.
    let flags = ["--metrics-listen", "127.0.0.1:0", "--query-processor-time", "10m", "--query-timeout", "10m"];
    let mut traced = Traced::start(&collector, &flags).await;
    let figures = traced.service.metrics();
    let (parent, trace) = traceparent(6);
    let answer = traced.post(&many_spans(spans::MOST), json!({}), &[("traceparent", &parent)]).await;
    assert_eq!(answer.status, 200);
    assert!(answer.json()["errors"].is_null(), "{:?}", answer.json());
    let left_out = figure(&traced, figures, "left_out").await;
    traced.service.stop();
    let spans = collector.trace(&trace);
    assert_eq!(spans.len(), spans::MOST);
    assert!(left_out > 0);
    assert_eq!(named(&spans, "POST /graphql").1["rollcall.spans_left_out"], left_out.to_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_hangs_costs_spans_and_no_time() {
    let collector = Collector::hanging();
    let mut traced = Traced::start(&collector, &["--metrics-listen", "127.0.0.1:0"]).await;
    let figures = traced.service.metrics();
    let query = many_spans(300);
    let (mut slowest, start) = (Duration::ZERO, Instant::now());
    while figure(&traced, figures, "dropped").await == 0 {
        assert!(start.elapsed() < LONGEST, "no span is dropped");
        let began = Instant::now();
        assert_eq!(traced.post(&query, json!({}), &[]).await.status, 200);
        slowest = slowest.max(began.elapsed());
    }
    // Otherwise it would wait longer for the collector.
    assert!(slowest < Duration::from_secs(8), "{slowest:?}");
    assert_eq!(figure(&traced, figures, "sent").await, 0);
    let began = Instant::now();
    let log = traced.service.stop();
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert!(log.iter().any(|line| line.contains("the last spans were not sent")), "{log:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_log_line_of_a_request_has_its_id_and_so_has_its_error_page() {
    let collector = Collector::start();
    let mut traced = Traced::start(&collector, &["--log-format", "json"]).await;
    let link = ["sign-in-link", "--email", "ada@example.com", "--database-url", &traced.database.url];
    let link = Place::new().run(&link).out;
    let link = link.trim().split_once(":8080").expect("the usual port").1;
    let db = traced.database.open().await;
    db.write(async |db| db.script("ALTER TABLE tier RENAME TO was_tier").await).await.expect("a table less");
    db.write(async |db| db.script("ALTER TABLE sign_in_link RENAME TO was_link").await).await.expect("another");
    let answer = traced.post("{ account { tiers { id } } }", json!({}), &[("x-request-id", "request-7")]).await;
    let message = "Something went wrong on our side. The request was request-7.";
    assert_eq!(answer.json()["errors"][0]["message"], message);
    let (page, given) = (("accept", "text/html"), ("x-request-id", "request-8"));
    let answer = traced.send(Method::GET, link, &[page, given], "").await;
    assert_eq!((answer.status, answer.header("x-request-id")), (500, Some("request-8")));
    assert!(answer.text().contains("The request was request-8."), "{}", answer.text());
    let made = traced.send(Method::GET, "/livez", &[("x-request-id", "not fit for a log")], "").await;
    let made = made.header("x-request-id").expect("an id").to_owned();
    assert_eq!(made.len(), 24);
    let log = traced.service.stop();

    let lines: Vec<Value> = log.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let of = |id: &str| lines.iter().filter(|line| line["request_id"] == id).collect::<Vec<_>>();
    for (id, messages) in [
        ("request-7", &["a resolver failed", "request"][..]),
        ("request-8", &["a request failed", "request"]),
        (&made, &["request"]),
    ] {
        let written: Vec<_> = of(id).iter().filter_map(|line| line["message"].as_str()).collect();
        assert_eq!(written, messages, "{log:#?}");
        assert!(of(id).iter().all(|line| line["trace_id"].as_str().is_some_and(|trace| trace.len() == 32)));
    }
}

#[test]
fn settings_of_tracing_are_checked_before_the_start() {
    let place = Place::new();
    for (flag, value) in
        [("--otlp-endpoint", "collector:4318"), ("--trace-sampler", "jaeger_remote"), ("--trace-sampler-arg", "2")]
    {
        let done = place.run(&["serve", "--listen", "127.0.0.1:0", flag, value]);
        assert_eq!(done.status, 2, "{flag}: {}", done.err);
        assert!(done.err.contains(flag), "{}", done.err);
    }
    let flags = ["--otlp-endpoint", "http://127.0.0.1:1", "--otlp-headers", "typed-secret"];
    let done = place.run(&[&["serve", "--listen", "127.0.0.1:0"], &flags[..]].concat());
    assert_refused(&done, "write --otlp-headers like name=value,other=value");
    let help = place.command(&["--help"]).env("OTEL_EXPORTER_OTLP_HEADERS", "kept-secret").output().expect("help");
    assert!(!String::from_utf8_lossy(&help.stdout).contains("kept-secret"));
}
