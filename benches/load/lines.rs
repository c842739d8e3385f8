//! The lines of the table: what each asks with random arguments, and what its answers must be.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use fastrand::Rng;
use serde_json::{Value, json};

use crate::client::{Answer, Request};
use crate::target::Target;

/// How many services a page has. Their number is a multiple of it, so that every page is full.
pub const PAGE: usize = 100;

/// A line of the table.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    pub name: &'static str,
    /// How many connections ask it at once.
    pub connections: usize,
    pub description: &'static str,
    ask: Ask,
}

/// All lines, in the order of the table.
pub const LINES: [Line; 16] = [
    line("Q1", 16, "one service by alias, with owner, tier, tags and the number of its repositories", Ask::Service),
    line("Q1-literals", 16, "the same with the alias in the text", Ask::ServiceByLiteral),
    line("Q2", 16, "the first 100 services, each with all of that", Ask::FirstPage),
    line("Q2-random", 16, "any 100 services, each with all of that", Ask::AnyPage),
    line("Q3", 16, "id and name of 100 services after the first nine tenths", Ask::LatePage),
    line("search", 16, "search(term:), also with mistyped terms", Ask::Search),
    line("M1", 16, "two tags set on a service", Ask::Tags),
    line("create", 16, "serviceCreate", Ask::Create),
    line("mutations-64", 64, "tagAssign, serviceUpdate and serviceCreate", Ask::Mutations),
    line("W1-16", 16, "one deploy posted, every tenth twice", Ask::Deploy),
    line("W1-64", 64, "the same", Ask::Deploy),
    line("page-services", 16, "the page of all services", Ask::Page(App::Services)),
    line("page-service", 16, "the page of a service", Ask::Page(App::Service)),
    line("page-deploys", 16, "the page of its deploys", Ask::Page(App::Deploys)),
    line("page-team", 16, "the page of a team", Ask::Page(App::Team)),
    line("page-search", 16, "the page of a search", Ask::Page(App::Search)),
];

const fn line(name: &'static str, connections: usize, description: &'static str, ask: Ask) -> Line {
    Line { name, connections, description, ask }
}

/// What a line asks.
#[derive(Debug, Clone, Copy)]
enum Ask {
    Service,
    ServiceByLiteral,
    FirstPage,
    AnyPage,
    LatePage,
    Search,
    Tags,
    Create,
    Mutations,
    Deploy,
    Page(App),
}

/// A page of the application.
#[derive(Debug, Clone, Copy)]
enum App {
    Services,
    Service,
    Deploys,
    Team,
    Search,
}

macro_rules! service {
    () => {
        "id name description language framework aliases owner{name manager{email}} tier{alias name} \
         tags(first:10){nodes{id key value}} repositories{totalCount}"
    };
}

/// The operations, by their names.
pub const OPERATIONS: [(&str, &str); 7] = [
    ("Q1", concat!("query($a:String!){account{service(alias:$a){", service!(), "}}}")),
    (
        "Q2",
        concat!(
            "query($c:String){account{services(first:100,after:$c){nodes{",
            service!(),
            "} pageInfo{hasNextPage endCursor}}}}"
        ),
    ),
    ("Q3", "query($c:String){account{services(first:100,after:$c){nodes{id name} pageInfo{hasNextPage endCursor}}}}"),
    ("search", "query($t:String!){account{search(term:$t){type name alias match htmlUrl}}}"),
    ("M1", "mutation($i:TagAssignInput!){tagAssign(input:$i){tags{id key value} errors{message path}}}"),
    ("create", "mutation($i:ServiceCreateInput!){serviceCreate(input:$i){service{id name} errors{message path}}}"),
    (
        "update",
        "mutation($i:ServiceUpdateInput!){serviceUpdate(input:$i){service{id description} errors{message path}}}",
    ),
];

/// A request, and what its answer must be.
pub struct Call {
    pub request: Request,
    expected: Expected,
}

/// What an answer must be.
enum Expected {
    /// One service with this alias.
    Service(String),
    /// A page of [`PAGE`] services.
    Services { with_relations: bool },
    /// Results of a search; at least one, if the term is a name.
    Found { some: bool },
    /// A mutation without errors, with this text in its answer.
    Changed(String),
    /// A recorded deploy.
    Recorded,
    /// A page with this text.
    Html(String),
}

/// How often names have been made that must be unique.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// The begin of such names. Peers keep what earlier runs have posted.
static RUN: LazyLock<u64> = LazyLock::new(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs()));

fn unique() -> String {
    format!("{:x}-{}", *RUN, COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Words that many services, and all teams, have in their names.
const WORDS: [&str; 10] =
    ["billing", "cart", "checkout", "ledger", "payments", "orders", "invoice", "gateway", "quota", "report"];

impl Line {
    /// Whether a word of `--only` selects it: `W1` selects `W1-16` and `W1-64`.
    pub fn is_selected(&self, word: &str) -> bool {
        self.name.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    }

    /// The line without its variant, which is how peers name what they can answer.
    pub fn operation(&self) -> &'static str {
        self.name.split('-').next().unwrap_or(self.name)
    }

    /// Whether it changes nothing and its answers hold no ids, times or sessions, so that two programs answer the same.
    pub fn is_comparable(&self) -> bool {
        matches!(self.ask, Ask::Service | Ask::ServiceByLiteral | Ask::FirstPage)
    }

    /// Whether what it changes is flushed to the disk together with what others change.
    pub fn is_group_committed(&self) -> bool {
        matches!(self.ask, Ask::Deploy | Ask::Mutations)
    }

    /// Whether it posts deploys.
    pub fn is_deploy(&self) -> bool {
        matches!(self.ask, Ask::Deploy)
    }

    /// The next request.
    pub fn call(&self, target: &Target, random: &mut Rng) -> Call {
        match self.ask {
            Ask::Service => {
                let alias = any_service(target, random);
                query(target, "Q1", &json!({ "a": alias }), Expected::Service(alias))
            }
            Ask::ServiceByLiteral => by_literal(target, any_service(target, random)),
            Ask::FirstPage => services(target, "Q2", &Value::Null),
            Ask::AnyPage => {
                let page = random.usize(..=target.cursors.len());
                let cursor = if page == 0 { Value::Null } else { json!(target.cursors[page - 1]) };
                services(target, "Q2", &cursor)
            }
            Ask::LatePage => services(target, "Q3", &json!(target.late_cursor)),
            Ask::Search => {
                let (term, some) = term(target, random);
                query(target, "search", &json!({ "t": term }), Expected::Found { some })
            }
            Ask::Tags => assign_tags(target, random),
            Ask::Create => create(target, random),
            Ask::Mutations => match random.u8(..3) {
                0 => assign_tags(target, random),
                1 => update(target, random),
                _ => create(target, random),
            },
            Ask::Deploy => Call { request: target.deploy(deploy(target, random)), expected: Expected::Recorded },
            Ask::Page(page) => page_call(target, random, page),
        }
    }
}

fn any_service(target: &Target, random: &mut Rng) -> String {
    format!("svc-{}", random.u64(1..=target.services))
}

fn query(target: &Target, operation: &str, variables: &Value, expected: Expected) -> Call {
    let text = target.operation(operation).unwrap_or_else(|| panic!("no operation {operation}"));
    Call { request: target.query(text, &variables.to_string()), expected }
}

fn services(target: &Target, operation: &str, cursor: &Value) -> Call {
    let expected = Expected::Services { with_relations: operation == "Q2" };
    query(target, operation, &json!({ "c": cursor }), expected)
}

fn by_literal(target: &Target, alias: String) -> Call {
    let text = target.operation("Q1").expect("every target has it");
    let text = text.replacen("query($a:String!)", "", 1).replacen("$a", &format!(r#"\"{alias}\""#), 1);
    Call { request: target.query(&text, "null"), expected: Expected::Service(alias) }
}

/// A term, and whether it must find something: an alias, two words of names, or an alias of a team with a letter too
/// many.
fn term(target: &Target, random: &mut Rng) -> (String, bool) {
    let word = WORDS[random.usize(..WORDS.len())];
    match random.u8(..3) {
        0 => (any_service(target, random), true),
        1 => (format!("{word} {}", random.u64(1..=target.services)), false),
        _ => (format!("teaam {} {word}", any_team(target, random)), false),
    }
}

fn any_team(target: &Target, random: &mut Rng) -> u64 {
    random.u64(1..=target.services.div_ceil(100))
}

fn assign_tags(target: &Target, random: &mut Rng) -> Call {
    let values = [format!("env-{}", random.u8(1..=40)), format!("team-{}", random.u8(1..=40))];
    let tags = json!([{ "key": "env", "value": values[0] }, { "key": "team", "value": values[1] }]);
    let input = json!({ "i": { "alias": any_service(target, random), "tags": tags } });
    let [_, second] = values;
    query(target, "M1", &input, Expected::Changed(second))
}

fn create(target: &Target, random: &mut Rng) -> Call {
    let name = format!("Load {}", unique());
    let team = format!("team-{}", any_team(target, random));
    let input = json!({
        "name": name,
        "description": "Answers what the bench asks.",
        "language": "Rust",
        "framework": "axum",
        "ownerInput": { "alias": team },
    });
    query(target, "create", &json!({ "i": input }), Expected::Changed(name))
}

fn update(target: &Target, random: &mut Rng) -> Call {
    let description = format!("Described by the bench, {}.", unique());
    let input = json!({ "alias": any_service(target, random), "description": description });
    query(target, "update", &json!({ "i": input }), Expected::Changed(description))
}

/// A typical record from a pipeline. Every tenth has the id of another.
fn deploy(target: &Target, random: &mut Rng) -> String {
    let id = if random.u8(..10) == 0 { format!("{:x}-again-{}", *RUN, random.u8(..)) } else { unique() };
    json!({
        "service": any_service(target, random),
        "description": "Merge pull request #1204 from org/less-waiting",
        "deployed_at": "2026-11-21T01:44:00Z",
        "started_at": "2026-11-21T01:40:12Z",
        "deployer": { "name": "Ada Lovelace", "email": "ada@example.com" },
        "deploy_url": "https://ci.example.com/org/shop/actions/runs/19553201181",
        "dedup_id": id,
        "environment": "production",
        "status": "succeeded",
        "commit": {
            "sha": "38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5",
            "message": "Merge pull request #1204 from org/less-waiting\n\nWait less",
            "branch": "main",
            "date": "2026-11-21T01:39:55Z",
            "author_name": "Ada Lovelace",
            "author_email": "ada@example.com"
        }
    })
    .to_string()
}

fn page_call(target: &Target, random: &mut Rng, page: App) -> Call {
    let (path, text) = match page {
        App::Services => ("/services".to_owned(), "/services/".to_owned()),
        App::Service => {
            let alias = any_service(target, random);
            (format!("/services/{alias}"), alias)
        }
        App::Deploys => {
            let alias = any_service(target, random);
            (format!("/services/{alias}/deploys"), "Deploys".to_owned())
        }
        App::Team => {
            let team = any_team(target, random);
            (format!("/teams/team-{team}"), format!("Team {team} "))
        }
        App::Search => {
            let (term, _) = term(target, random);
            (format!("/search?q={}", term.replace(' ', "+")), "<form".to_owned())
        }
    };
    Call { request: target.page(&path), expected: Expected::Html(text) }
}

impl Call {
    /// Takes the request out, to send it.
    pub fn split(self) -> (Request, Check) {
        (self.request, Check(self.expected))
    }
}

/// What an answer must be.
pub struct Check(Expected);

impl Check {
    /// Fails if the answer is not what it must be. The quick look costs little; the thorough one reads the JSON.
    pub fn look(&self, answer: &Answer, is_thorough: bool, is_peer: bool) -> Result<(), String> {
        let wrong = |why: &str| Err(format!("{why}: {}", answer.shortened()));
        let status = match self.0 {
            Expected::Recorded if is_peer => 200..=202,
            Expected::Recorded => 202..=202,
            _ => 200..=200,
        };
        if !status.contains(&answer.status) {
            return wrong("the status is wrong");
        }
        let text = answer.text()?;
        let is_query = matches!(self.0, Expected::Service(_) | Expected::Services { .. } | Expected::Found { .. });
        if is_query && text.contains("\"errors\"") || text.starts_with("{\"errors\"") {
            return wrong("the response has errors");
        }
        let holds = match &self.0 {
            Expected::Service(alias) => text.contains(&format!("\"{alias}\"")),
            Expected::Services { with_relations } => text.len() >= PAGE * if *with_relations { 150 } else { 20 },
            Expected::Found { .. } => text.starts_with("{\"data\":"),
            Expected::Changed(value) => text.contains("\"errors\":[]") && text.contains(value.as_str()),
            Expected::Recorded => text.contains("\"result\":") && !text.contains("no_service_found"),
            Expected::Html(part) => text.contains("</html>") && text.contains(part.as_str()),
        };
        if !holds {
            return wrong("the response lacks what it must have");
        }
        if is_thorough && !is_peer && !self.holds_in_full(text) {
            return wrong("the response is not what was asked for");
        }
        Ok(())
    }

    fn holds_in_full(&self, text: &str) -> bool {
        if matches!(self.0, Expected::Recorded | Expected::Html(_)) {
            return true;
        }
        let Ok(json) = serde_json::from_str::<Value>(text) else { return false };
        let account = &json["data"]["account"];
        json.get("errors").is_none()
            && match &self.0 {
                Expected::Service(alias) => is_service(&account["service"], alias),
                Expected::Services { with_relations } => account["services"]["nodes"].as_array().is_some_and(|nodes| {
                    nodes.len() == PAGE
                        && nodes.iter().all(|node| node["id"].is_string() && node["name"].is_string())
                        && (!with_relations || nodes.iter().all(|node| node["owner"]["name"].is_string()))
                }),
                Expected::Found { some } => {
                    account["search"].as_array().is_some_and(|found| !some || !found.is_empty())
                }
                _ => json["data"].is_object(),
            }
    }
}

/// Whether this is the service with all that was asked for.
fn is_service(service: &Value, alias: &str) -> bool {
    let aliases = service["aliases"].as_array();
    let tags = service["tags"]["nodes"].as_array();
    aliases.is_some_and(|aliases| aliases.iter().any(|it| it == alias))
        && tags.is_some_and(|tags| (1..=10).contains(&tags.len()) && tags.iter().all(|tag| tag["value"].is_string()))
        && service["owner"]["manager"]["email"].is_string()
        && service["tier"]["alias"].is_string()
        && service["repositories"]["totalCount"].as_u64().is_some_and(|count| count <= 2)
}
