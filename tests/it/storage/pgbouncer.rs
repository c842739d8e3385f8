//! PostgreSQL behind PgBouncer in transaction mode: each transaction may be on another connection to the server.
//!
//! These tests need PostgreSQL: they run in its repetition of the suite (see [`crate::storage::postgres`]).

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use futures_util::future::join_all;
use rollcall::db::{self, Read};
use sea_orm::{DbBackend, Statement};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::database::{self, Database};
use crate::harness::process::Process;
use crate::harness::program::Place;
use crate::harness::webhook::record;

/// The connections of PgBouncer to the server, and those of rollcall to PgBouncer for requests.
const TO_SERVER: i64 = 5;
const REQUESTS: i64 = 4;

/// A PgBouncer. Stopped when dropped.
struct PgBouncer {
    process: Child,
    address: SocketAddr,
    _folder: TempDir,
}

impl PgBouncer {
    /// Starts one before the server whose socket is in `server`. `None` if there is no such program.
    fn start(server: &Path) -> Option<Self> {
        let program =
            ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].into_iter().find(|file| Path::new(file).exists())?;
        let address = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port");
        let folder = tempfile::tempdir().expect("a folder");
        let settings = format!(
            "[databases]\n* = host={} port=5432 user=rollcall\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {}\n\
             unix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = {TO_SERVER}\n",
            server.display(),
            address.port()
        );
        let file = folder.path().join("pgbouncer.ini");
        std::fs::write(&file, settings).expect("a file");
        let mut command = Command::new(program);
        // It refuses to run as root.
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(folder.path(), Some(65534), None).expect("root");
            command.args(["-u", "nobody"]);
        }
        let process = command.arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let started = Self { process: process.expect("it starts"), address, _folder: folder };
        for _ in 0..200 {
            if TcpStream::connect(address).is_ok() {
                return Some(started);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("PgBouncer does not listen");
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_works_through_pgbouncer_in_transaction_mode() {
    if !database::is_postgres() {
        return;
    }
    let database = Database::empty().await;
    let (rest, folder) = database.url.split_once("?host=").expect("a socket");
    let name = rest.rsplit_once('/').expect("a name").1;
    let Some(pooler) = PgBouncer::start(Path::new(folder)) else {
        assert!(std::env::var_os("CI").is_none(), "there is no pgbouncer");
        return crate::harness::say_aloud("left out: PgBouncer; on Debian: apt-get install pgbouncer");
    };
    let parameters = "sslmode=disable&pgbouncer=true";
    let url = format!("postgres://rollcall@{}/{name}?{parameters}&pool_max_conns={REQUESTS}", pooler.address);
    let refused = db::connect(&url.replace("&pgbouncer=true", "")).await.expect_err("a refusal").to_string();
    assert!(refused.contains("unsupported startup parameter") && refused.contains("pgbouncer=true"), "{refused}");

    let place = Place::new();
    let run = |arguments: &[&str]| {
        let done = place.run(&[arguments, &["--database-url", &url]].concat());
        assert_eq!(done.status, 0, "{arguments:?}: {}", done.err);
        done.out.trim().to_owned()
    };
    run(&["migrate"]);
    run(&["generate", "--services", "50", "--deploys", "50"]);
    let token = run(&["token", "create", "--description", "pgbouncer"]);
    let webhook = run(&["deploy-endpoint", "create", "--name", "CI"]);
    let webhook = webhook.split_once(":8080").expect("the usual port").1.to_owned();
    let serve = ["serve", "--listen", "127.0.0.1:0", "--token-limit", "0", "--ip-limit", "0", "--database-url", &url];
    let service = Process::start(place.command(&serve));

    let graphql = async |query: String| {
        let answer = service.post("/graphql", Some(&token), &json!({ "query": query })).await;
        let (status, answer) = answer.expect("an answer");
        assert!(status == 200 && answer.get("errors").is_none(), "{query}: {status} {answer}");
        answer
    };
    // More at the same time than there are connections to the server.
    let caller = async |number: usize| {
        for turn in 0..5 {
            let name = format!("pooled {number} {turn}");
            let created = graphql(format!(
                "mutation {{ serviceCreate(input: {{ name: \"{name}\" }}) {{ service {{ id }} errors {{ message }} }} }}"
            ));
            let created = created.await;
            assert_eq!(created["data"]["serviceCreate"]["errors"], json!([]), "{created}");
            let (status, answer) =
                service.post(&webhook, None, &record(json!({ "service": name }))).await.expect("an answer");
            assert_eq!(status, 202, "{answer}");
            let read = graphql(format!(
                "{{ account {{ service(alias: \"{name}\") {{ name tier {{ name }} tags {{ totalCount }} \
                 lastDeploy {{ deployedAt }} }} services(first: 20) {{ nodes {{ name owner {{ name }} }} }} }} }}"
            ));
            assert_eq!(read.await["data"]["account"]["service"]["name"], Value::from(name));
        }
    };
    join_all((0..12).map(caller)).await;

    let direct = database.open().await;
    let ours = format!("SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}' AND pid <> pg_backend_pid()");
    let ours = Statement::from_string(DbBackend::Postgres, ours);
    let ours = direct.read().rows_by(ours, |row| row.get::<i64>(0)).await.expect("an answer");
    assert!(ours[0] <= TO_SERVER + 3, "{ours:?}");
}
