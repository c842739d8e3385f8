//! The time and the size of every page, with 10,000 services and a million deploys. A page may take 20 ms and 100 KB.
//! The API's lists, filters, searches, counts and metrics are timed too.

use std::sync::Arc;
use std::time::{Duration, Instant};

use regex::Regex;
use rollcall::db;
use rollcall::deploy::figures;
use rollcall::entity::Timestamp;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::client::Connection;
use crate::data::Place;
use crate::options::Options;
use crate::server::Program;
use crate::statistics::percentile;
use crate::subject::{Role, Subject};
use crate::target::Target;

/// The longest median, of a page that is asked for alone.
const MOST_TIME: Duration = Duration::from_millis(20);
const MOST_BYTES: usize = 100_000;
/// The most rows of a file.
const FILE_ROWS: u64 = 100_000;
/// How many clients ask for a page at once.
const TOGETHER: usize = 8;

/// What a request asks for.
enum Asked {
    Page(String),
    /// A name, and an operation as a JSON string.
    Query(&'static str, String),
}

impl Asked {
    fn name(&self) -> &str {
        match self {
            Self::Page(path) => path,
            Self::Query(name, _) => name,
        }
    }

    async fn send(&self, connection: &mut Connection, target: &Target) -> Result<(Duration, usize), String> {
        let request = match self {
            Self::Page(path) => target.page(path),
            Self::Query(_, text) => target.query(text, "{}"),
        };
        let begin = Instant::now();
        let answer = connection.send(request).await?;
        let took = begin.elapsed();
        if answer.status == 200 && !answer.body.starts_with(br#"{"errors"#) {
            Ok((took, answer.body.len()))
        } else {
            Err(format!("{}: {}", self.name(), answer.shortened()))
        }
    }
}

/// Computes the figures of deploys, which the server would do meanwhile. Fails with a database of another version.
async fn compute_figures(url: &str) -> Result<(), String> {
    let db = db::connect(url).await.map_err(|error| error.to_string())?;
    let periods = figures::build::update(&db, Timestamp::now()).await.map_err(|error| error.to_string())?;
    eprintln!("figures of {periods} periods computed");
    Ok(())
}

/// Prints a row for each page and returns the figures, and the pages that are over the limits.
pub async fn run(program: &Program, place: &Place, options: &Options) -> Result<(Value, Vec<String>), String> {
    let times = if options.is_quick() { 1 } else { 200 };
    let (services, deploys) = (options.services_of_pages(), options.deploys_of_pages());
    let url = place.fill(program, "pages", services, deploys).await?;
    if let Err(why) = compute_figures(&url).await {
        eprintln!("the program computes the figures of deploys while its pages are timed: {why}");
    }
    let subject = Subject::rollcall(place, (program, Role::Ours), ("pages", "served"), (services, 0)).await?;
    let (mut figures, mut over) = (Vec::new(), Vec::new());
    println!("\n## All pages, {}, {services} services, {deploys} deploys\n", place.name());
    println!("| page or query | p50 ms | p99 ms | p50 ms, {TOGETHER} at once | bytes |\n|---|---:|---:|---:|---:|");
    for asked in all(&subject, (services, options.is_quick())).await? {
        let asked = Arc::new(asked);
        let (alone, bytes) = time_alone(&subject, &asked, times).await?;
        let together = time_together(&subject, &asked, times / TOGETHER + 1).await?;
        let [p50, p99, p50_together] =
            [(&alone, 0.5), (&alone, 0.99), (&together, 0.5)].map(|(times, share)| percentile(times, share));
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let (p50_ms, p99_ms, together_ms) = (milliseconds(p50), milliseconds(p99), milliseconds(p50_together));
        let name = asked.name();
        println!("| {name} | {p50_ms:.1} | {p99_ms:.1} | {together_ms:.1} | {bytes} |");
        figures.push(json!({
            "database": place.name(),
            "page": name,
            "p50Ms": p50_ms,
            "p99Ms": p99_ms,
            "p50MsTogether": together_ms,
            "bytes": bytes,
        }));
        let is_page = matches!(&*asked, Asked::Page(_));
        if is_page && (bytes > MOST_BYTES || p50 > MOST_TIME) && !options.is_quick() {
            over.push(format!("{name} takes {p50_ms:.1} ms and {bytes} bytes, of {MOST_TIME:?} and {MOST_BYTES}"));
        }
    }
    figures.push(file(&subject, place, deploys).await?);
    Ok((json!(figures), over))
}

/// Downloads the longest file that there can be, once: it is no page, and is written while it is sent.
async fn file(subject: &Subject, place: &Place, deploys: u64) -> Result<Value, String> {
    const PATH: &str = "/deploys.csv";
    let mut connection = Connection::open(subject.target.address).await?;
    let began = Instant::now();
    let body = connection.send(subject.target.page(PATH)).await?.body;
    let took = began.elapsed().as_secs_f64() * 1e3;
    let rows = body.iter().filter(|byte| **byte == b'\n').count() as u64;
    // The names of the columns, and the row that says that the list has more.
    let expected = if deploys > FILE_ROWS { FILE_ROWS + 2 } else { deploys + 1 };
    if rows < expected {
        return Err(format!("{PATH} has {rows} lines, and should have {expected}"));
    }
    println!("| {PATH}, {rows} lines | {took:.1} | {took:.1} | | {} |", body.len());
    Ok(json!({
        "database": place.name(), "page": PATH, "p50Ms": took, "p99Ms": took, "p50MsTogether": took, "bytes": body.len(),
    }))
}

async fn time_alone(subject: &Subject, asked: &Asked, times: usize) -> Result<(Vec<Duration>, usize), String> {
    let mut connection = Connection::open(subject.target.address).await?;
    let (_, bytes) = asked.send(&mut connection, &subject.target).await?;
    let mut took = Vec::new();
    for _ in 0..times {
        took.push(asked.send(&mut connection, &subject.target).await?.0);
    }
    took.sort_unstable();
    Ok((took, bytes))
}

async fn time_together(subject: &Subject, asked: &Arc<Asked>, times: usize) -> Result<Vec<Duration>, String> {
    let mut tasks = JoinSet::new();
    for _ in 0..TOGETHER {
        let (target, asked) = (subject.target.clone(), Arc::clone(asked));
        tasks.spawn(async move {
            let mut connection = Connection::open(target.address).await?;
            let mut took = Vec::new();
            for _ in 0..times {
                took.push(asked.send(&mut connection, &target).await?.0);
            }
            Ok::<_, String>(took)
        });
    }
    let mut all = Vec::new();
    while let Some(took) = tasks.join_next().await {
        all.extend(took.map_err(|error| error.to_string())??);
    }
    all.sort_unstable();
    Ok(all)
}

/// Everything that is asked for: pages, and queries of the API.
async fn all(subject: &Subject, (services, is_quick): (u64, bool)) -> Result<Vec<Asked>, String> {
    let mut all: Vec<Asked> = paths(subject, (services, is_quick)).await?.into_iter().map(Asked::Page).collect();
    let after = late_system(subject).await?;
    let queries = graph_queries(services, &after).into_iter().chain(lists_and_counts()).chain(metrics());
    all.extend(
        queries.map(|(name, selection)| Asked::Query(name, json!(format!("{{account{{{selection}}}}}")).to_string())),
    );
    Ok(all)
}

/// A name, and a selection on the account.
type Named = (&'static str, String);

/// Queries through the graph of services. The first service has the most dependents. One in the middle is like most.
fn graph_queries(services: u64, after: &Value) -> Vec<Named> {
    let middle = services / 2;
    vec![
        ("five steps of impact, most dependents", impact("svc-1")),
        ("five steps of impact", impact(&format!("svc-{middle}"))),
        ("a page of dependents", "service(alias:\"svc-1\"){dependents{edges{node{id name}}}}".to_owned()),
        ("what belongs to a page of services", format!("services(first:100){GRAPH}")),
        ("the first systems", "systems(first:100){nodes{id name}}".to_owned()),
        ("systems after nine tenths", format!("systems(first:100,after:{after}){{nodes{{id name}}}}")),
    ]
}

/// Lists with each kind of filter and order, and exact counts, which cost an entry of an index for each row.
fn lists_and_counts() -> Vec<Named> {
    let page = |arguments: &str| format!("services(first:100{arguments}){{nodes{{id name}} pageInfo{{endCursor}}}}");
    let count = |arguments: &str| format!("services{arguments}{{totalCount}}");
    let month = Timestamp::from_micros(Timestamp::now().as_micros() - MONTH);
    let quiet = format!(",notDeployedSince:\"{month}\"");
    vec![
        ("services", page("")),
        ("services by name", page(",sortBy:name_ASC")),
        ("services by owner", page(",sortBy:owner_DESC")),
        ("services by last deploy", page(",sortBy:last_deploy_DESC")),
        ("services in a language", page(",language:\"Rust\"")),
        ("services in a language, of a tier", page(",language:\"Rust\",tierAlias:\"tier_1\"")),
        ("services of a team", page(",ownerAlias:\"team-1\"")),
        ("services with a tag", page(",tag:{key:\"env\",value:\"env-7\"}")),
        ("services without a deploy for 30 days", page(&quiet)),
        ("services that a search finds", page(",search:\"ledger\"")),
        ("services whose name contains a word", page(",filter:[{key:name,type:contains,arg:\"ledger\"}]")),
        ("search", "search(term:\"leger biling\"){name}".to_owned()),
        ("deploys", "deploys(first:100){nodes{id deployedAt}}".to_owned()),
        ("deploys to an environment", "deploys(first:100,environments:[\"staging\"]){nodes{id deployedAt}}".to_owned()),
        ("repositories", "repositories(first:100){nodes{id name}}".to_owned()),
        ("count of services", count("")),
        ("count of services in a language", count("(language:\"Rust\")")),
        ("count of services with a tag", count("(tag:{key:\"env\",value:\"env-7\"})")),
        ("count of services that a search finds", count("(search:\"ledger\")")),
        ("count of deploys", "deploys{totalCount}".to_owned()),
    ]
}

/// Metrics of the account, of a team, and of the service with the most deploys.
fn metrics() -> Vec<Named> {
    let now = Timestamp::now().as_micros();
    let of = |length: i64| {
        let (start, end) = (Timestamp::from_micros(now - length), Timestamp::from_micros(now));
        format!(
            "deployMetrics(start:\"{start}\",end:\"{end}\"){{deployCount changeLeadTime{{median percentile90}} \
             failedDeploymentRecoveryTime{{median percentile90}}}}"
        )
    };
    vec![
        ("metrics of the account, 30 days", of(MONTH)),
        ("metrics of the account, a year", of(YEAR)),
        ("metrics of a team, 30 days", format!("team(alias:\"team-1\"){{{}}}", of(MONTH))),
        ("metrics of the service with most deploys, 30 days", format!("service(alias:\"svc-1\"){{{}}}", of(MONTH))),
    ]
}

/// In microseconds.
const MONTH: i64 = 30 * 86_400 * 1_000_000;
const YEAR: i64 = 365 * 86_400 * 1_000_000;

/// What the graph says of each service.
const GRAPH: &str = "{nodes{id parent{name} tools(first:5){nodes{url}} properties(first:5){nodes{value}} \
                     dependencies(first:5){edges{node{id name}}}}}";

fn impact(alias: &str) -> String {
    format!("service(alias:\"{alias}\"){{impact(depth:5){{totalCount isComplete edges{{distance node{{name}}}}}}}}")
}

/// The cursor after nine tenths of the systems, as GraphQL writes it.
async fn late_system(subject: &Subject) -> Result<Value, String> {
    let mut connection = Connection::open(subject.target.address).await?;
    let mut cursors = vec![Value::Null];
    loop {
        let after = cursors.last().unwrap_or(&Value::Null);
        let text = format!("{{account{{systems(first:100,after:{after}){{pageInfo{{hasNextPage endCursor}}}}}}}}");
        let answer = connection.send(subject.target.query(&json!(text).to_string(), "{}")).await?;
        let json: Value = serde_json::from_slice(&answer.body).map_err(|_| answer.shortened())?;
        let page = &json["data"]["account"]["systems"]["pageInfo"];
        if page["hasNextPage"] != true {
            break;
        }
        cursors.push(page["endCursor"].clone());
    }
    Ok(cursors.swap_remove((cursors.len() - 1) * 9 / 10))
}

/// The kinds of changes that a history can be limited to.
const HISTORIES: [&str; 8] =
    ["links", "contacts", "dependencies", "repositories", "properties", "tags", "aliases", "members"];

/// What somebody makes that the generated catalogue does not have: changes to revert, and the parts of standards.
const MADE: &str = r#"mutation{
    level: levelCreate(input:{name:"Measured"}){level{id} errors{message}}
    category: categoryCreate(input:{name:"Measured"}){category{id} errors{message}}
    team: teamUpdate(input:{alias:"team-1",responsibilities:"Measured"}){team{id} errors{message}}
    service: serviceUpdate(input:{alias:"svc-1",product:"Measured"}){errors{message}}
}"#;

/// What somebody makes of that.
const MADE_OF_IT: &str = r#"mutation($level:ID!,$category:ID!,$team:ID!){
    check: checkManualCreate(input:{
        name:"Measured",levelId:$level,categoryId:$category,enabled:true,updateRequiresComment:false
    }){check{id} errors{message}}
    campaign: campaignCreate(input:{name:"Measured",ownerId:$team}){campaign{id} errors{message}}
    scorecard: scorecardCreate(input:{name:"Measured",ownerId:$team,affectsOverallServiceLevels:true}){
        scorecard{aliases} errors{message}
    }
    subscription: eventSubscriptionCreate(input:{
        name:"Measured",receiverUrl:"https://hooks.example.com/",form:slack,events:[deploy_failed],enabled:false
    }){eventSubscription{id} errors{message}}
}"#;

/// How long the server may take to evaluate the new check for all services, before pages are timed.
const EVALUATED: Duration = Duration::from_secs(15);

/// Makes all that, and a saved view. Returns the pages about it.
async fn made(subject: &Subject, is_quick: bool) -> Result<Vec<String>, String> {
    let mut connection = Connection::open(subject.target.address).await?;
    let mut run = async |text: &str, variables: Value| -> Result<Value, String> {
        let answer = connection.send(subject.target.query(&json!(text).to_string(), &variables.to_string())).await?;
        let json: Value = serde_json::from_slice(&answer.body).map_err(|_| answer.shortened())?;
        let payloads = json["data"].as_object().ok_or_else(|| answer.shortened())?;
        match payloads.values().all(|payload| payload["errors"] == json!([])) {
            true => Ok(json["data"].clone()),
            false => Err(answer.shortened()),
        }
    };
    let first = run(MADE, json!({})).await?;
    let variables = json!({
        "level": first["level"]["level"]["id"], "category": first["category"]["category"]["id"],
        "team": first["team"]["team"]["id"],
    });
    let made = run(MADE_OF_IT, variables).await?;
    let view = "name=Measured&query=tier%3Dtier_1%26columns%3Dalias%2Cowner%2Ctags";
    connection.send(subject.target.form("/views", view)?).await?;
    if !is_quick {
        tokio::time::sleep(EVALUATED).await;
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (check, campaign) = (text(&made["check"]["check"]["id"]), text(&made["campaign"]["campaign"]["id"]));
    let (subscription, scorecard) =
        (text(&made["subscription"]["eventSubscription"]["id"]), text(&made["scorecard"]["scorecard"]["aliases"][0]));
    Ok(vec![
        "/services?view=1&tier=tier_1&columns=alias,owner,tags".to_owned(),
        "/views/1/edit".to_owned(),
        format!("/standards/{check}"),
        format!("/standards/{check}/edit"),
        format!("/services/svc-1/answer/{check}"),
        format!("/standards/campaigns/{campaign}"),
        format!("/standards/campaigns/{campaign}/edit"),
        format!("/standards/scorecards/{scorecard}"),
        format!("/events/{subscription}"),
        format!("/events/{subscription}/edit"),
        link(subject, "/services/svc-1/history", r#"href="(/changes/[^"]*)""#).await?,
        link(subject, "/teams/team-1/history", r#"href="(/changes/[^"]*)""#).await?,
    ])
}

/// The pages: those with most to read, and each kind of the others.
async fn paths(subject: &Subject, (services, is_quick): (u64, bool)) -> Result<Vec<String>, String> {
    let made = made(subject, is_quick).await?;
    let second_page = link(subject, "/services", r#"href="(/services\?[^"]*after=[^"]*)""#).await?;
    let integration = link(subject, "/integrations", r#"href="(/integrations/[^"?]{8,})""#).await?;
    let system = link(subject, "/systems", r#"href="(/systems/[^"?]*)""#).await?;
    let domain = link(subject, "/domains", r#"href="(/domains/[^"?]*)""#).await?;
    let of_type = link(subject, "/definitions", r#"href="(/services\?type=[^"]*)""#).await?;
    // The generated catalogue has some of these only if it is large.
    let resource = link(subject, "/infrastructure", r#"href="(/infrastructure/[^"?]*)""#).await.ok();
    let tool = link(subject, "/services/svc-1/tools", r#"href="(/services/svc-1/tools/[^"?]*)""#).await.ok();
    let contact = link(subject, "/teams/team-1/contacts", r#"href="(/teams/team-1/contacts/[^"?]*)""#).await.ok();
    let below = [&system, &domain].map(|group| ["/edit", "/history"].map(|part| format!("{group}{part}")));
    let kinds = HISTORIES.map(|kind| format!("/services/svc-1/history?kind={kind}"));
    let middle = format!("/services/svc-{}", services / 2);
    let graph = format!("{middle}/graph");
    let paths = [
        "/",
        "/services",
        &second_page,
        "/services?search=ledger",
        "/services?search=svc-99",
        "/services?search=nothing+is+called+so",
        "/services?tag=env%3Aenv-7",
        "/services?owner=team-1&tier=tier_1&language=Rust",
        "/services?unowned=1",
        "/services?quiet=30",
        &of_type,
        "/services/svc-1",
        "/services/svc-1/deploys",
        "/deploys",
        "/deploys?service=svc-1&environment=production",
        "/delivery",
        "/delivery?team=team-1",
        "/delivery?service=svc-1",
        "/services/svc-1/deploys?status=failed",
        "/deploys?team=team-1&production=1&status=failed",
        "/deploys?status=failed",
        "/deploys?person=nobody",
        "/deploys?team=team-1",
        "/deploys?team=team-1&status=failed&environment=production",
        "/services/svc-1/history",
        "/teams/team-1/history",
        "/deploys?environment=nowhere",
        "/services/svc-1/edit",
        &middle,
        "/services/svc-1/graph",
        &graph,
        "/services/svc-1/dependencies",
        "/services/svc-1/repositories",
        "/services/svc-1/on-call",
        "/services/svc-1/tools",
        "/services/svc-1/properties",
        "/services/svc-1/contacts",
        "/services/svc-1/standards",
        "/systems",
        &system,
        "/domains",
        &domain,
        "/search?q=svc-99",
        "/search?q=leger+biling",
        "/search?of=users&q=a",
        "/new/service",
        "/new/team",
        "/new/system",
        "/new/domain",
        "/teams",
        "/teams/team-1",
        "/teams/team-1/edit",
        "/teams/team-1/contacts",
        "/repositories",
        "/repositories?sort=owner_DESC",
        "/repositories/1",
        "/infrastructure",
        "/definitions",
        "/new/tier",
        "/new/property-definition",
        "/new/filter",
        "/standards",
        "/new/campaign",
        "/events",
        "/new/event-subscription",
        "/new/check",
        "/new/check/custom-event",
        "/new/check/tag-defined",
        "/new/level",
        "/new/category",
        "/new/scorecard",
        "/suggestions",
        "/suggestions?state=accepted",
        "/integrations",
        "/integrations/new",
        &integration,
        "/tokens",
        "/users",
        "/users/1",
        "/audit",
        "/account",
        "/views",
        "/services?mine=1",
        "/services?favourites=1",
        "/services?columns=alias,owner,type,system,framework,tags",
        "/explorer",
        "/reference",
        "/reference/Account",
        "/reference?q=deploy",
    ];
    let others = made.into_iter().chain(below.into_iter().flatten()).chain(kinds);
    Ok(paths.map(str::to_owned).into_iter().chain(others).chain(resource).chain(tool).chain(contact).collect())
}

/// The first link on a page that looks like this.
async fn link(subject: &Subject, path: &str, pattern: &str) -> Result<String, String> {
    let mut connection = Connection::open(subject.target.address).await?;
    let body = connection.send(subject.target.page(path)).await?.body;
    let pattern = Regex::new(pattern).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&body);
    let found = pattern.captures(&text).ok_or_else(|| format!("{path} has no link like {pattern}"))?;
    Ok(found[1].replace("&amp;", "&"))
}
