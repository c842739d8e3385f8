//! The same lists of deploys with few deploys and with many.

use std::time::{Duration, Instant};

use rollcall::entity::Timestamp;
use serde_json::{Value, json};

use crate::client::Connection;
use crate::data::Place;
use crate::options::Options;
use crate::server::Program;
use crate::statistics::percentile;
use crate::subject::{Role, Subject};

const SERVICES: u64 = 10;
/// The time of the first deploy. One follows each second.
const BEGIN: i64 = 1_700_000_000;

/// Prints a row for each list and returns the figures.
pub async fn run(program: &Program, options: &Options) -> Result<Value, String> {
    let (few, many, turns) = if options.is_quick() { (1_000, 2_000, 3) } else { (1_000, 1_000_000, 400) };
    let place = Place::sqlite()?;
    let (few, many) = (Stored::new(&place, program, few).await?, Stored::new(&place, program, many).await?);
    let (mut of_few, mut of_many) = (few.connect().await?, many.connect().await?);
    println!("\n## Lists of deploys, SQLite, median\n");
    println!("| list | µs, {} deploys | µs, {} deploys | ratio |\n|---|---:|---:|---:|", few.count, many.count);
    let mut figures = Vec::new();
    for (name, selection) in queries() {
        let (mut short, mut long) = (Vec::new(), Vec::new());
        for _ in 0..turns {
            short.push(few.time(&mut of_few, &selection).await?);
            long.push(many.time(&mut of_many, &selection).await?);
        }
        let median = |times: &mut Vec<Duration>| {
            times.sort_unstable();
            percentile(times, 0.5).as_secs_f64() * 1e6
        };
        let (short, long) = (median(&mut short), median(&mut long));
        println!("| {name} | {short:.0} | {long:.0} | {:.2} |", long / short);
        figures.push(json!({ "list": name, "fewUs": short, "manyUs": long }));
    }
    Ok(json!(figures))
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
    subject: Subject,
    service: String,
}

impl Stored {
    async fn new(place: &Place, program: &Program, count: i64) -> Result<Self, String> {
        let name = format!("deploys_{count}");
        place.fill(program, &name, SERVICES, 0).await?;
        let begin = Instant::now();
        place.execute_on_file(&name, &fill(count))?;
        eprintln!("{count} deploys stored in {:.1?}", begin.elapsed());
        let copy = format!("{name}_served");
        let subject = Subject::rollcall(place, (program, Role::Ours), (&name, &copy), (SERVICES, 0)).await?;
        let mut stored = Self { count, subject, service: String::new() };
        let mut connection = stored.connect().await?;
        let answer = stored.ask(&mut connection, r#"service(alias: "svc-3") { id }"#).await?;
        stored.service = answer["data"]["account"]["service"]["id"].as_str().ok_or("no service svc-3")?.to_owned();
        let answer = stored.ask(&mut connection, "deploys(first: 1) { totalCount }").await?;
        let total = &answer["data"]["account"]["deploys"]["totalCount"];
        if *total == count { Ok(stored) } else { Err(format!("{count} deploys are stored, and {total} are told")) }
    }

    async fn connect(&self) -> Result<Connection, String> {
        Connection::open(self.subject.target.address).await
    }

    fn request(&self, selection: &str) -> crate::client::Request {
        let last = Timestamp::from_micros((BEGIN + self.count - 900) * 1_000_000).to_string();
        let query =
            format!("{{ account {{ {selection} }} }}").replace("$last", &last).replace("$service", &self.service);
        self.subject.target.query(&json!(query).to_string(), "null")
    }

    async fn ask(&self, connection: &mut Connection, selection: &str) -> Result<Value, String> {
        let answer = connection.send(self.request(selection)).await?;
        serde_json::from_slice(&answer.body).map_err(|_| answer.shortened())
    }

    async fn time(&self, connection: &mut Connection, selection: &str) -> Result<Duration, String> {
        let request = self.request(selection);
        let begin = Instant::now();
        let answer = connection.send(request).await?;
        let took = begin.elapsed();
        if answer.status != 200 || answer.text()?.contains("\"errors\"") {
            return Err(format!("{selection}: {}", answer.shortened()));
        }
        Ok(took)
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
