//! The same pages with few deploys and with many.

use std::time::{Duration, Instant};

use rollcall::deploy::commit::GROUP;
use rollcall::entity::Timestamp;
use rollcall::entity::audit::Actor;
use rollcall::entity::token::{self, Scope};
use sea_orm::ConnectionTrait;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::client::{self, Client};
use crate::{Server, database, folder, percentile};

const SERVICES: u64 = 10;
const FEW: i64 = 1_000;
const MANY: i64 = 1_000_000;
const TURNS: usize = 400;
/// The time of the first deploy. One follows each second.
const BEGIN: i64 = 1_700_000_000;

pub fn run(runtime: &Runtime) {
    runtime.block_on(async {
        let (few, many) = (Stored::new(FEW).await, Stored::new(MANY).await);
        let (mut of_few, mut of_many) =
            (Client::connect(few.server.address).await, Client::connect(many.server.address).await);
        println!("{:58} {FEW:>9} {MANY:>9}  ratio", "median of a page, deploys stored:");
        for (name, selection) in queries() {
            let (mut short, mut long) = (Vec::new(), Vec::new());
            for _ in 0..TURNS {
                short.push(few.time(&mut of_few, &selection).await);
                long.push(many.time(&mut of_many, &selection).await);
            }
            let median = |times: &mut Vec<Duration>| {
                times.sort_unstable();
                percentile(times, 0.5).as_secs_f64() * 1e6
            };
            let (short, long) = (median(&mut short), median(&mut long));
            println!("{name:58} {short:>6.0} µs {long:>6.0} µs  {:.2}", long / short);
        }
    });
}

/// A name, and a selection on the account. `$last` stands for the time of the newest deploy minus 15 minutes.
fn queries() -> Vec<(String, String)> {
    let filters = [
        ("", ""),
        ("environment", r#"environments: ["staging"]"#),
        ("environment of the oldest", r#"environments: ["trial"]"#),
        ("two environments", r#"environments: ["staging", "production"]"#),
        ("two environments, of the oldest", r#"environments: ["trial", "rehearsal"]"#),
        ("since", r#"start: "$last""#),
        ("until long ago", r#"end: "2023-11-14T22:21:00Z""#),
        ("since, environment", r#"start: "$last", environments: ["production"]"#),
    ];
    let nodes = "nodes { id deployNumber deployedAt environment status commitSha service { name } }";
    let mut queries = Vec::new();
    for (name, filter) in filters {
        let comma = if filter.is_empty() { "" } else { ", " };
        let page = |name: String, text: String| (name.trim_end_matches(": ").to_owned(), text);
        queries.push(page(
            format!("service.deploys: {name}"),
            format!(r#"service(alias: "svc-3") {{ deploys(first: 10{comma}{filter}) {{ {nodes} }} }}"#),
        ));
        queries
            .push(page(format!("account.deploys: {name}"), format!("deploys(first: 10{comma}{filter}) {{ {nodes} }}")));
        queries.push(page(
            format!("account.deploys of a service: {name}"),
            format!(r#"deploys(serviceId: "$service", first: 10{comma}{filter}) {{ {nodes} }}"#),
        ));
    }
    queries.push(("services.lastDeploy".to_owned(), "services(first: 10) { nodes { lastDeploy { id } } }".to_owned()));
    queries.push((
        "services.deploys".to_owned(),
        format!("services(first: 10) {{ nodes {{ deploys(first: 10) {{ {nodes} }} }} }}"),
    ));
    queries
}

/// A server with this many deploys.
struct Stored {
    count: i64,
    token: String,
    server: Server,
    service: String,
    _folder: tempfile::TempDir,
}

impl Stored {
    async fn new(count: i64) -> Self {
        let folder = folder();
        let (url, db) = database(folder.path(), SERVICES).await;
        let token = db.write(async |db| {
            token::create(db, &Actor::command_line(), "a bench", Scope::Read, None, Timestamp::now()).await
        });
        let token = token.await.expect("a token").reveal().to_owned();
        let started = Instant::now();
        let fill = fill(count);
        db.write(async |db| db.execute_unprepared(&fill).await).await.expect("deploys");
        db.close().await.expect("closed");
        println!("{count} deploys stored in {:.1?}", started.elapsed());
        let server = Server::start(&url, GROUP);
        let mut stored = Self { count, token, server, service: String::new(), _folder: folder };
        let mut client = Client::connect(stored.server.address).await;
        let request = stored.request(r#"service(alias: "svc-3") { id }"#);
        let (_, body) = client.send(&request).await;
        let answer: serde_json::Value = serde_json::from_slice(body).expect("JSON");
        stored.service = answer["data"]["account"]["service"]["id"].as_str().expect("an id").to_owned();
        stored
    }

    fn request(&self, selection: &str) -> Vec<u8> {
        let last = Timestamp::from_micros((BEGIN + self.count - 900) * 1_000_000).to_string();
        let query =
            format!("{{ account {{ {selection} }} }}").replace("$last", &last).replace("$service", &self.service);
        client::post(
            "/graphql",
            &format!("Authorization: Bearer {}\r\n", self.token),
            &json!({ "query": query }).to_string(),
        )
    }

    async fn time(&self, client: &mut Client, selection: &str) -> Duration {
        let request = self.request(selection);
        let start = Instant::now();
        let (status, body) = client.send(&request).await;
        let took = start.elapsed();
        assert!(status == 200 && !body.starts_with(b"{\"errors"), "{status} {}", String::from_utf8_lossy(body));
        took
    }
}

/// The statement that stores deploys: for each service in turn, most to `staging`, the oldest to environments that no
/// longer exist.
fn fill(count: i64) -> String {
    let environment = "CASE WHEN i <= 100 THEN 'trial' WHEN i <= 200 THEN 'rehearsal' \
                       WHEN (i / 10) % 10 < 7 THEN 'staging' ELSE 'production' END";
    format!(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
        INSERT INTO deploy (service_id, service_alias, description, deployed_at, deploy_number, environment,
            environment_key, status, deploy_status, deployer_name, commit_sha, commit_message, created_at)
        SELECT 1 + i % {SERVICES}, 'svc-' || (1 + i % {SERVICES}), 'Merge pull request #' || i, ({BEGIN} + i) * 1000000,
            CAST(i / {SERVICES} AS text), {environment}, {environment}, 'success', 'succeeded', 'Ada Lovelace',
            '38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5', 'Merge pull request #' || i, ({BEGIN} + i) * 1000000
        FROM n"
    )
}
