//! Queries that read at a standby server of PostgreSQL.
//!
//! These tests need PostgreSQL: they run in its repetition of the suite (see [`crate::storage::postgres`]).

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::harness::database;
use crate::harness::postgres::Cluster;
use crate::harness::postgres_proxy::{Fault, Proxy};
use crate::harness::process::Process;
use crate::harness::program::{Place, assert_refused};

/// What a replica may take to be used, or not to be used any more.
const NOTICED: Duration = Duration::from_secs(20);

/// Names in one statement, and in several.
const NAMES: [&str; 2] = [
    "{ account { services(first: 100) { nodes { name } } } }",
    "{ account { services(first: 100) { nodes { name owner { name } tags { nodes { key } } } } } }",
];

/// A service with a replica, which is behind a proxy.
struct Replicated {
    place: Place,
    cluster: Cluster,
    proxy: Proxy,
    service: Process,
    metrics: SocketAddr,
    url: String,
    read_url: String,
}

impl Replicated {
    /// Starts it, unless the tests run on SQLite.
    async fn start() -> Option<Self> {
        if !database::is_postgres() {
            return None;
        }
        let cluster = Cluster::durable().await.expect("a server");
        let name = cluster.create(Cluster::MIGRATED).await;
        let (place, url) = (Place::new(), cluster.url(&name));
        let proxy = Proxy::to(cluster.server().add_standby()).await;
        let read_url = format!("postgres://rollcall@127.0.0.1:{}/{name}?sslmode=disable", proxy.port);
        let service = Process::start(place.command(&Self::serve(&url, &read_url)));
        let metrics = service.metrics();
        let replicated = Self { place, cluster, proxy, service, metrics, url, read_url };
        replicated.until_usable(true).await;
        Some(replicated)
    }

    fn serve<'a>(url: &'a str, read_url: &'a str) -> [&'a str; 9] {
        let own = ["serve", "--listen=127.0.0.1:0", "--metrics-listen=127.0.0.1:0", "--token-limit=0", "--ip-limit=0"];
        let [serve, listen, metrics, token, ip] = own;
        [serve, listen, metrics, token, ip, "--database-url", url, "--read-database-url", read_url]
    }

    fn token(&self, scope: &str) -> String {
        // No two tokens have one description.
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let description = format!("replica {}", MADE.fetch_add(1, Ordering::Relaxed));
        let arguments =
            ["token", "create", "--description", &description, "--scope", scope, "--database-url", &self.url];
        let done = self.place.run(&arguments);
        assert_eq!(done.status, 0, "{}", done.err);
        done.out.trim().to_owned()
    }

    async fn graphql(&self, token: &str, query: &str) -> Value {
        let answer = self.service.post("/graphql", Some(token), &json!({ "query": query })).await;
        let (status, answer) = answer.expect("an answer");
        assert!(status == 200 && answer.get("errors").is_none(), "{status} {answer}");
        answer
    }

    async fn create(&self, token: &str, name: &str) {
        let mutation = format!(
            "mutation {{ serviceCreate(input: {{ name: \"{name}\" }}) {{ service {{ name }} errors {{ message }} }} }}"
        );
        let created = self.graphql(token, &mutation).await;
        assert_eq!(created["data"]["serviceCreate"]["service"]["name"], name, "{created}");
    }

    /// Whether a token's holder sees a service, by each of the queries.
    async fn sees(&self, token: &str, name: &str) -> bool {
        let mut seen = Vec::new();
        for query in NAMES {
            let answer = self.graphql(token, query).await;
            let nodes = answer["data"]["account"]["services"]["nodes"].as_array().expect("services").clone();
            seen.push(nodes.iter().any(|node| node["name"] == name));
        }
        assert_eq!(seen[0], seen[1], "both queries see the same");
        seen[0]
    }

    /// Runs a statement at the primary, or at the replica.
    async fn sql(&self, at_replica: bool, sql: &str) {
        let url = if at_replica { &self.read_url } else { &self.url };
        crate::harness::cluster::execute(url, [sql.to_owned()]).await.expect(sql);
    }

    /// Waits until queries read at the replica, or no longer do.
    async fn until_usable(&self, expected: bool) {
        let began = Instant::now();
        while self.figure("rollcall_replica_usable").await != Some(f64::from(u8::from(expected))) {
            assert!(began.elapsed() < NOTICED, "usable: {expected}");
            sleep(Duration::from_millis(100)).await;
        }
        let lag = self.figure("rollcall_replica_lag_seconds").await.expect("a figure");
        assert_eq!(lag <= 10.0, expected, "{lag}");
    }

    async fn figure(&self, name: &str) -> Option<f64> {
        let (_, text) = self.service.get(self.metrics, "/metrics").await;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        Some(line.parse().expect("a number"))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_read_at_the_replica_and_see_what_their_caller_has_written() {
    let Some(catalogue) = Replicated::start().await else { return };
    let [writer, other, reader] = ["write", "write", "read"].map(|scope| catalogue.token(scope));
    catalogue.create(&writer, "before").await;
    let began = Instant::now();
    while !catalogue.sees(&reader, "before").await {
        assert!(began.elapsed() < NOTICED, "it arrives at the replica");
    }

    catalogue.sql(true, "SELECT pg_wal_replay_pause()").await;
    catalogue.create(&writer, "after").await;
    for name in ["before", "after"] {
        assert!(catalogue.sees(&writer, name).await, "who has written it sees {name}");
    }
    for token in [&other, &reader] {
        assert!(!catalogue.sees(token, "after").await, "others read at the replica, which does not have it yet");
        assert!(catalogue.sees(token, "before").await);
    }
    // What a caller has written brings it back to the primary. Not for long: see below.
    catalogue.create(&other, "another").await;
    assert!(catalogue.sees(&other, "after").await && catalogue.sees(&other, "another").await);

    catalogue.until_usable(false).await;
    assert!(catalogue.sees(&reader, "after").await, "a replica that lags for long is not read");
    catalogue.sql(true, "SELECT pg_wal_replay_resume()").await;
    catalogue.until_usable(true).await;
    assert!(catalogue.sees(&reader, "after").await);

    // The replica has what the writers have written, so they read there again. A change beside the API shows it.
    catalogue.sql(true, "SELECT pg_wal_replay_pause()").await;
    catalogue.sql(false, "UPDATE service SET name = 'renamed' WHERE name = 'after'").await;
    for token in [&writer, &other, &reader] {
        assert!(catalogue.sees(token, "after").await, "everyone reads at the replica");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_fails_costs_no_query() {
    let Some(mut catalogue) = Replicated::start().await else { return };
    let reader = catalogue.token("read");
    catalogue.create(&catalogue.token("write"), "first").await;
    let until_soon = async |catalogue: &Replicated, what: &str| {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(3) {
            let asked = Instant::now();
            catalogue.sees(&reader, "first").await;
            assert!(asked.elapsed() < Duration::from_secs(8), "{what}: {:?}", asked.elapsed());
        }
    };
    until_soon(&catalogue, "it works").await;
    catalogue.proxy.cut();
    until_soon(&catalogue, "its connections were cut").await;
    catalogue.until_usable(true).await;
    catalogue.proxy.set(Fault::Stall);
    until_soon(&catalogue, "it stalls").await;
    catalogue.until_usable(false).await;
    catalogue.proxy.set(Fault::None);
    catalogue.until_usable(true).await;
    catalogue.proxy.close().await;
    until_soon(&catalogue, "it is away").await;
    catalogue.until_usable(false).await;
    catalogue.proxy.open().await;
    catalogue.until_usable(true).await;
    catalogue.cluster.server().promote_standby();
    until_soon(&catalogue, "it was promoted").await;
    catalogue.until_usable(false).await;
    assert!(catalogue.sees(&reader, "first").await);
    let said = catalogue.service.stop().join("\n");
    assert!(said.contains("it is not a replica any more"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_of_another_database_is_not_read() {
    let Some(catalogue) = Replicated::start().await else { return };
    let other = catalogue.cluster.create(Cluster::MIGRATED).await;
    let (rest, parameters) = catalogue.read_url.split_once('?').expect("parameters");
    let (server, _) = rest.rsplit_once('/').expect("a name");
    let url = format!("{server}/{other}?{parameters}");
    let doctor = |read_url: &str| {
        let urls = ["--database-url", &catalogue.url, "--read-database-url", read_url];
        let done = catalogue.place.run(&[&["doctor", "--listen", "127.0.0.1:9"][..], &urls].concat());
        let line = done.out.lines().find(|line| line.contains(" replica "));
        line.unwrap_or_else(|| panic!("{} {}", done.out, done.err)).to_owned()
    };
    let line = doctor(&catalogue.read_url);
    assert!(line.starts_with("ok") && line.ends_with(" s behind"), "{line}");
    let line = doctor(&url);
    assert!(line.starts_with("PROBLEM") && line.ends_with(": it is a replica of another database"), "{line}");
    // The server starts all the same, and reads at the primary.
    let service = Process::start(catalogue.place.command(&Replicated::serve(&catalogue.url, &url)));
    let (metrics, token) = (service.metrics(), catalogue.token("read"));
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(3) {
        let answer = service.post("/graphql", Some(&token), &json!({ "query": NAMES[0] })).await;
        assert_eq!(answer.expect("an answer").0, 200);
        let (_, text) = service.get(metrics, "/metrics").await;
        assert!(text.contains("\nrollcall_replica_usable 0\n"), "{text}");
    }
}

#[test]
fn a_replica_that_cannot_be_one_is_refused_at_the_start() {
    if !database::is_postgres() {
        let place = Place::with_database();
        let done = place.run(&["serve", "--listen", "127.0.0.1:0", "--read-database-url", "postgres://one/catalogue"]);
        return assert_refused(
            &done,
            "the URL of the replica needs a database on PostgreSQL, and this one is on SQLite",
        );
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let database = runtime.block_on(database::Database::new());
    let place = Place::new();
    for (url, sentence) in [
        ("sqlite://rollcall.db", "the URL of the replica must be postgres://USER:PASSWORD@HOST/DATABASE"),
        ("postgres://one,two/catalogue", "the URL of the replica must name one host"),
        (
            "postgres://one/catalogue?target_session_attrs=read-write",
            "the URL of the replica must not ask for a server that accepts writes",
        ),
        (" ", "the URL of the replica is blank: set READ_DATABASE_URL, or remove it"),
    ] {
        let serve = ["serve", "--listen", "127.0.0.1:0", "--database-url", &database.url, "--read-database-url", url];
        assert_refused(&place.run(&serve), sentence);
    }
}
