//! A PostgreSQL server that is away, stalls, cuts connections or changes its host, seen through a proxy of the tests.
//!
//! These tests need PostgreSQL: they run in its repetition of the suite (see [`crate::storage::postgres`]).

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rollcall::db::{self, Read, Write};
use sea_orm::sea_query::{Expr, Query};
use serde_json::{Value, json};

use crate::harness::app::TestApp;
use crate::harness::database::{self, Database, texts};
use crate::harness::postgres::Cluster;
use crate::harness::postgres_proxy::{Fault, Proxy};
use crate::harness::process::Process;
use crate::harness::program::Place;
use crate::harness::webhook::record;

mod stalled_commits;

/// The maximum time of a request while the database does not respond. The server's own limits are shorter, but a busy
/// machine is slow.
const SOON: Duration = Duration::from_secs(12);

/// The socket of a database's server, and the database's name.
fn socket_and_name(database: &Database) -> (PathBuf, &str) {
    let (rest, folder) = database.url.split_once("?host=").expect("a socket");
    (PathBuf::from(folder).join(".s.PGSQL.5432"), rest.rsplit_once('/').expect("a name").1)
}

/// A service whose database is behind proxies.
struct Faults {
    _place: Place,
    database: Database,
    proxies: Vec<Proxy>,
    service: Process,
    token: String,
    webhook: String,
}

impl Faults {
    /// Starts it, unless the tests run on SQLite.
    async fn start(proxies: usize) -> Option<Self> {
        if !database::is_postgres() {
            return None;
        }
        let (place, database) = (Place::new(), Database::new().await);
        let run = |arguments: &[&str]| place.run_on(&database, arguments);
        let token = run(&["token", "create", "--description", "faults"]);
        let url = run(&["deploy-endpoint", "create", "--name", "CI"]);
        let webhook = url.split_once(":8080").expect("the usual port").1.to_owned();
        let (socket, name) = socket_and_name(&database);
        let proxies: Vec<Proxy> = join_all((0..proxies).map(|_| Proxy::to(socket.clone()))).await;
        let hosts: Vec<String> = proxies.iter().map(|proxy| format!("127.0.0.1:{}", proxy.port)).collect();
        let url =
            format!("postgres://rollcall@{}/{name}?sslmode=disable&target_session_attrs=read-write", hosts.join(","));
        let serve =
            ["serve", "--listen", "127.0.0.1:0", "--token-limit", "0", "--ip-limit", "0", "--database-url", &url];
        let service = Process::start(place.command(&serve));
        Some(Self { _place: place, database, proxies, service, token, webhook })
    }

    async fn graphql(&self, query: &str) -> (u16, Value) {
        self.service.post("/graphql", Some(&self.token), &json!({ "query": query })).await.expect("an answer")
    }

    async fn read(&self) -> (u16, Value) {
        self.graphql("{ account { services(first: 1) { totalCount } } }").await
    }

    async fn write(&self, name: &str) -> (u16, Value) {
        self.graphql(&format!("mutation {{ serviceCreate(input: {{ name: \"{name}\" }}) {{ errors {{ message }} }} }}"))
            .await
    }

    /// Its first two statements are sent together.
    async fn tag(&self, service: &str) -> (u16, Value) {
        let input = format!("{{ alias: \"{service}\", tags: {{ key: \"env\", value: \"{service}\" }} }}");
        self.graphql(&format!("mutation {{ tagAssign(input: {input}) {{ errors {{ message }} }} }}")).await
    }

    async fn deploy(&self, service: &str) -> (u16, Value) {
        let deploy = record(json!({ "service": service }));
        self.service.post(&self.webhook, None, &deploy).await.expect("an answer")
    }

    /// Asserts that everything works.
    async fn assert_serves(&self, name: &str) {
        let answers = [self.read().await, self.write(name).await, self.tag(name).await];
        for (status, answer) in answers {
            let said = answer.to_string();
            assert!(status == 200 && answer.get("errors").is_none() && !said.contains("message"), "{name}: {said}");
        }
        let (status, answer) = self.deploy(name).await;
        assert_eq!(status, 202, "{name}: {answer}");
    }

    /// Asserts that every surface reports in time that the database is unavailable, and when to retry.
    async fn assert_away(&self) {
        let began = Instant::now();
        let ready = self.service.get(self.service.address, "/readyz");
        let (ready, read, write, tag, deploy) =
            tokio::join!(ready, self.read(), self.write("lost"), self.tag("before"), self.deploy("lost"));
        let took = began.elapsed();
        assert_eq!(ready.0, 503, "{}", ready.1);
        for (status, answer) in [&read, &write, &tag] {
            assert_eq!((*status, &answer["errors"][0]["extensions"]["code"]), (503, &json!("UNAVAILABLE")), "{answer}");
        }
        assert_eq!(deploy.0, 503, "{}", deploy.1);
        assert!(took < SOON, "{took:?}");
        let url = format!("http://{}/graphql", self.service.address);
        let retry = reply_header(&url, &self.token, "retry-after").await;
        assert_eq!(retry.as_deref(), Some("1"));
    }
}

/// A header of the answer to a query.
async fn reply_header(url: &str, token: &str, name: &str) -> Option<String> {
    let (url, token, name) = (url.to_owned(), token.to_owned(), name.to_owned());
    let asked = tokio::task::spawn_blocking(move || {
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let request = agent.post(url).header("authorization", format!("Bearer {token}"));
        let answer = request.header("content-type", "application/json").send("{\"query\":\"{ account { id } }\"}");
        let answer = answer.expect("an answer");
        answer.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    });
    asked.await.expect("no panic")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_database_server_is_reported_in_seconds_and_used_again_when_it_is_back() {
    let Some(mut faults) = Faults::start(1).await else { return };
    faults.assert_serves("before").await;
    faults.proxies[0].close().await;
    faults.assert_away().await;
    faults.proxies[0].open().await;
    faults.assert_serves("after").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stalled_database_server_is_reported_in_seconds_and_used_again_when_it_continues() {
    let Some(faults) = Faults::start(1).await else { return };
    faults.assert_serves("before").await;
    faults.proxies[0].set(Fault::Stall);
    faults.assert_away().await;
    faults.proxies[0].set(Fault::None);
    faults.assert_serves("after").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_were_cut_cost_no_request() {
    let Some(faults) = Faults::start(1).await else { return };
    // Open several connections.
    join_all((0..8).map(|number| faults.write(["a", "b", "c", "d", "e", "f", "g", "h"][number]))).await;
    join_all((0..8).map(|_| faults.read())).await;
    for round in 0..3 {
        faults.proxies[0].cut();
        assert_eq!(faults.service.get(faults.service.address, "/readyz").await.0, 200);
        faults.proxies[0].cut();
        faults.assert_serves(&format!("round {round}")).await;
        // More requests than connections, all of which find one that is dead.
        faults.proxies[0].cut();
        let answers = join_all((0..24).map(|_| faults.read())).await;
        assert!(answers.iter().all(|(status, _)| *status == 200), "{answers:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_was_not_confirmed_is_looked_up_and_a_deploy_is_recorded_once() {
    let Some(faults) = Faults::start(1).await else { return };
    faults.assert_serves("before").await;
    let service = async |alias: &str| {
        let (_, found) = faults.graphql(&format!("{{ account {{ service(alias: \"{alias}\") {{ name }} }} }}")).await;
        found["data"]["account"]["service"]["name"].clone()
    };
    // Nothing was committed, so the client may retry.
    faults.proxies[0].set(Fault::LoseCommits);
    let (status, answer) = faults.write("lost").await;
    assert_eq!((status, &answer["errors"][0]["extensions"]["code"]), (503, &json!("UNAVAILABLE")), "{answer}");
    assert_eq!(service("lost").await, Value::Null);
    // The outcome is unknown, because the server stays unavailable.
    faults.proxies[0].set(Fault::StallAfterCommit);
    let (status, answer) = faults.write("uncertain").await;
    let error = &answer["errors"][0];
    assert_eq!((status, &error["extensions"]["code"]), (200, &json!("UNAVAILABLE")), "{answer}");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("It may have been carried out.")), "{answer}");
    faults.proxies[0].set(Fault::None);
    assert_eq!(service("uncertain").await, "uncertain");
    // The server writes the commit to its log and fails to flush that. It commits when it recovers.
    faults.proxies[0].set(Fault::PanicAfterCommit);
    let (status, answer) = faults.write("panicked").await;
    assert_eq!((status, &answer), (200, &json!({ "data": { "serviceCreate": { "errors": [] } } })));
    assert_eq!(service("panicked").await, "panicked");
    // It was committed, and the server finds that out.
    faults.proxies[0].set(Fault::CutCommits);
    let (status, answer) = faults.write("found").await;
    assert_eq!((status, &answer), (200, &json!({ "data": { "serviceCreate": { "errors": [] } } })));
    assert_eq!(service("found").await, "found");
    let deploy = record(json!({ "service": "before", "dedup_id": "once" }));
    let post = async || faults.service.post(&faults.webhook, None, &deploy).await.expect("an answer");
    assert_eq!(post().await.0, 503);
    assert_eq!(faults.deploy("before").await.0, 500);
    faults.proxies[0].set(Fault::None);
    let (status, answer) = post().await;
    assert_eq!((status, &answer["result"]), (202, &json!("duplicate_deploy")), "{answer}");
}

/// The entry is sent together with the commit. PostgreSQL answers that without an error, and rolls back.
#[tokio::test]
async fn a_mutation_whose_audit_entry_is_refused_changes_nothing_on_postgres() {
    if !database::is_postgres() {
        return;
    }
    let app = TestApp::start().await;
    for (code, expected) in [("08001", "UNAVAILABLE"), ("P0001", "INTERNAL")] {
        let refuse = format!(
            "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '{code}'; END $$; \
             CREATE OR REPLACE TRIGGER refuse BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION refuse()"
        );
        app.db.write(async |transaction| transaction.script(&refuse).await).await.expect("a trigger");
        let create = "mutation { serviceCreate(input: { name: \"Cart\" }) { errors { message } } }";
        let answer = app.post(create, json!({})).await.json();
        assert_eq!(answer["errors"][0]["extensions"]["code"], expected, "{answer}");
        let found = app.query("{ account { services { totalCount } } }", json!({})).await;
        assert_eq!(found["data"]["account"]["services"]["totalCount"], 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commit_of_an_import_is_uncertain_if_the_server_panics() {
    if !database::is_postgres() {
        return;
    }
    let database = Database::new().await;
    let (socket, name) = socket_and_name(&database);
    let proxy = Proxy::to(socket).await;
    let url = format!("postgres://rollcall@127.0.0.1:{}/{name}?sslmode=disable", proxy.port);
    let db = db::connect(&url).await.expect("a database");
    proxy.set(Fault::PanicAfterCommit);
    let imported = db.write_bulk(async |bulk| bulk.script("CREATE TABLE kept (id integer)").await).await;
    let error = imported.expect_err("it is not confirmed");
    assert!(error.uncertain().is_some(), "{error}");
    let kept = texts(&database.open().await, "SELECT to_regclass('kept')::text").await;
    assert_eq!(kept, ["kept"], "it was carried out");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_host_is_used_when_one_goes_away() {
    let Some(mut faults) = Faults::start(2).await else { return };
    faults.assert_serves("before").await;
    faults.proxies[0].close().await;
    let began = Instant::now();
    loop {
        let (status, _) = faults.read().await;
        if status == 200 {
            break;
        }
        assert!(began.elapsed() < SOON * 2, "the other host is not used");
    }
    faults.assert_serves("after").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_transaction_does_not_block_deploys_of_other_services() {
    let Some(faults) = Faults::start(1).await else { return };
    for name in ["first", "second"] {
        faults.write(name).await;
        assert_eq!(faults.deploy(name).await.0, 202);
    }
    // A process that has assigned a deploy's number and stalls before its commit.
    let other = db::connect(&faults.database.url).await.expect("a database");
    let transaction = other.begin_write().await.expect("a transaction");
    let locked = "UPDATE deploy_number SET last = last \
         WHERE service_id = (SELECT service_id FROM service_alias WHERE value = 'first')";
    transaction.script(locked).await.expect("a lock");
    let blocked = faults.deploy("first");
    tokio::pin!(blocked);
    let began = Instant::now();
    for number in 0..20 {
        tokio::select! {
            early = &mut blocked => panic!("it was locked: {early:?}"),
            (status, answer) = faults.deploy("second") => assert_eq!(status, 202, "{number}: {answer}"),
        }
    }
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    other.roll_back(transaction).await.expect("the end");
    assert_eq!(blocked.await.0, 202);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_deploys_of_a_locked_service_delay_those_of_others_as_little_as_one() {
    let Some(faults) = Faults::start(1).await else { return };
    for name in ["first", "second", "third"] {
        faults.write(name).await;
        assert_eq!(faults.deploy(name).await.0, 202);
    }
    let other = db::connect(&faults.database.url).await.expect("a database");
    let transaction = other.begin_write().await.expect("a transaction");
    let locked = "UPDATE deploy_number SET last = last \
         WHERE service_id IN (SELECT service_id FROM service_alias WHERE value IN ('first', 'third'))";
    transaction.script(locked).await.expect("a lock");
    // While this one waits for the lock, the others queue up: they are one group.
    let ahead = faults.deploy("third");
    let many = join_all((0..20).map(|_| async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        faults.deploy("first").await
    }));
    let last = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let began = Instant::now();
        let (status, answer) = faults.deploy("second").await;
        let took = began.elapsed();
        other.roll_back(transaction).await.expect("the end");
        assert_eq!(status, 202, "{answer}");
        took
    };
    let (ahead, many, took) = tokio::join!(ahead, many, last);
    assert!(took < Duration::from_secs(5), "{took:?}");
    for (status, answer) in many.into_iter().chain([ahead]) {
        assert_eq!(status, 202, "{answer}");
    }
}

#[tokio::test]
async fn a_connection_has_limits_so_that_a_dead_process_loses_its_locks() {
    if !database::is_postgres() {
        return;
    }
    let database = Database::new().await;
    let opened = db::connect(&database.url).await.expect("a database");
    for (setting, value) in [
        ("statement_timeout", "1min"),
        ("lock_timeout", "10s"),
        ("idle_in_transaction_session_timeout", "15s"),
        ("application_name", "rollcall"),
    ] {
        let select = Query::select().expr(Expr::cust(format!("current_setting('{setting}')"))).take();
        let found = opened.read().rows(&select, |row| row.get::<String>(0)).await.expect("a setting");
        assert_eq!(found, [value], "{setting}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_several_processes_that_start_together_one_prints_a_link_for_the_first_administrator() {
    if !database::is_postgres() {
        return;
    }
    let (place, database) = (Arc::new(Place::new()), Database::new().await);
    let starts = (0..4).map(|_| {
        let (place, url) = (Arc::clone(&place), database.url.clone());
        tokio::task::spawn_blocking(move || {
            let mut service =
                Process::start(place.command(&["serve", "--listen", "127.0.0.1:0", "--database-url", &url]));
            service.stop()
        })
    });
    let said: Vec<String> = join_all(starts).await.into_iter().flat_map(|said| said.expect("no panic")).collect();
    let links = said.iter().filter(|line| line.contains("become the first one at http")).count();
    assert_eq!(links, 1, "{said:#?}");
}

/// The certificates of an authority: its own, a server's for `localhost` with its key, and a client's for the user
/// `certified` with its key.
struct Certificates {
    server: [String; 3],
    client: [String; 2],
}

impl Certificates {
    fn make() -> Self {
        let mut of_authority = CertificateParams::new(Vec::new()).expect("parameters");
        of_authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let authority = of_authority.self_signed(&key).expect("a certificate");
        let issuer = Issuer::new(of_authority, key);
        let signed = |own: &CertificateParams| {
            let key = KeyPair::generate().expect("a key");
            [own.signed_by(&key, &issuer).expect("a certificate").pem(), key.serialize_pem()]
        };
        let [server, key] = signed(&CertificateParams::new(vec!["localhost".to_owned()]).expect("parameters"));
        let mut client = CertificateParams::new(Vec::new()).expect("parameters");
        client.distinguished_name.push(DnType::CommonName, "certified");
        Self { server: [authority.pem(), server, key], client: signed(&client) }
    }
}

/// A cluster that encrypts, and a folder for certificates.
struct Encrypted {
    cluster: Cluster,
    port: u16,
    certificates: Certificates,
    folder: tempfile::TempDir,
}

impl Encrypted {
    async fn start() -> Self {
        let certificates = Certificates::make();
        let (cluster, port) = Cluster::with_tls(&certificates.server).await.expect("a cluster");
        Self { cluster, port, certificates, folder: tempfile::tempdir().expect("a folder") }
    }

    /// Writes a file and returns its path.
    fn file(&self, name: &str, text: &str) -> String {
        let file = self.folder.path().join(name);
        std::fs::write(&file, text).expect("a file");
        file.display().to_string()
    }

    /// The file of the certificate that signs the server's.
    fn authority(&self) -> String {
        self.file("authority.pem", &self.certificates.server[0])
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_is_encrypted_and_verified_as_the_url_says() {
    if !database::is_postgres() {
        return;
    }
    let server = Encrypted::start().await;
    let (known, other) = (server.authority(), server.file("other.pem", &Certificates::make().server[0]));
    let url = |host: &str, query: &str| format!("postgres://rollcall@{host}:{}/postgres?{query}", server.port);
    let full = format!("sslmode=verify-full&sslrootcert={known}");
    for (query, is_encrypted) in [
        (&*full, true),
        (&format!("sslmode=require&sslrootcert={known}"), true),
        ("sslmode=require", true),
        ("sslmode=prefer", true),
        ("", true),
        ("sslmode=disable", false),
    ] {
        let opened = db::connect(&url("localhost", query)).await.unwrap_or_else(|error| panic!("{query}: {error}"));
        let used = Expr::cust("(SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid())");
        let used = opened.read().rows(&Query::select().expr(used).take(), |row| row.get::<bool>(0)).await;
        assert_eq!(used.expect("an answer"), [is_encrypted], "{query}");
        opened.close().await.expect("closed");
    }
    // The certificate names the host localhost, not its address.
    let unknown = format!("sslmode=verify-ca&sslrootcert={other}");
    for (host, query) in [("127.0.0.1", &full), ("localhost", &unknown)] {
        let refused = db::connect(&url(host, query)).await.expect_err("a refusal").to_string();
        assert!(refused.contains("the certificate is verified") && refused.contains("sslrootcert=FILE"), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_certificate_proves_who_connects() {
    if !database::is_postgres() {
        return;
    }
    let server = Encrypted::start().await;
    server.cluster.run(["CREATE ROLE certified LOGIN".to_owned()]).await.expect("a role");
    let of = |name: &str, [certificate, key]: &[String; 2]| {
        let certificate = server.file(&format!("{name}.pem"), certificate);
        format!("&sslcert={certificate}&sslkey={}", server.file(&format!("{name}.key"), key))
    };
    let (port, authority) = (server.port, server.authority());
    let url = |client: &str| {
        let server = format!("postgres://certified@localhost:{port}/postgres?sslmode=verify-full");
        format!("{server}&sslrootcert={authority}{client}")
    };
    let opened = db::connect(&url(&of("own", &server.certificates.client))).await.expect("a connection");
    let name = Expr::cust("(SELECT client_dn FROM pg_stat_ssl WHERE pid = pg_backend_pid())");
    let name = opened.read().rows(&Query::select().expr(name).take(), |row| row.get::<String>(0)).await;
    assert!(name.expect("an answer")[0].ends_with("/CN=certified"));
    opened.close().await.expect("closed");

    for client in ["", &of("other", &Certificates::make().client)] {
        let refused = db::connect(&url(client)).await.expect_err("a refusal").to_string();
        assert!(refused.contains("certificate"), "{client}: {refused}");
    }
}

#[tokio::test]
async fn a_read_only_host_is_reported_or_refused_if_the_url_asks_for_a_writable_one() {
    if !database::is_postgres() {
        return;
    }
    let database = Database::new().await;
    let url = format!("{}&options[default_transaction_read_only]=on", database.url);
    let db = db::connect(&url).await.expect("any host will do");
    assert_eq!(db.writes_fail(), None);
    // As `/readyz` does.
    db::check(&db).await.expect("it can be read");
    assert_eq!(db.writes_fail(), Some("The database is read-only."));
    db.close().await.expect("closed");
    let refused = db::connect(&format!("{url}&target_session_attrs=read-write")).await.expect_err("a refusal");
    assert!(refused.to_string().contains("it is read-only"), "{refused}");
}

#[test]
fn a_server_without_tls_is_refused_when_the_url_asks_for_it() {
    if !database::is_postgres() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let database = Database::new().await;
        let refused = db::connect(&format!("{}&sslmode=require", database.url)).await.expect_err("a refusal");
        assert!(refused.to_string().contains("does not support TLS"), "{refused}");
    });
}
