//! A legal but hostile catalogue: everything in it is at the limits that the program accepts. It is written through the
//! program's own interfaces, on top of what `rollcall generate` creates.
//!
//! The team `everything` owns 150 services and has 300 members, who are also members of 40 more teams. Each of the
//! services has a name of 255 letters, a note of 50,000 characters that take six bytes each in a response, 100 tags and
//! 100 repositories. Each repository has 100 of the services, and 100 code issue projects are connected to each. Some
//! aliases, deploys and code issues have the maximum length.
//!
//! It is created once and kept below `target/tmp`, because a million deploys take minutes.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Value, json};

use crate::client::Client;
use crate::server::{self, Server};

/// The services of the team `everything`.
const SERVICES: usize = 150;
/// The number of linked services, repositories or projects.
const LINKED: usize = 100;
/// The services that have tools, contacts and dependencies.
const CONNECTED: usize = 30;
/// The number of mutations in a document.
const MUTATIONS: usize = 20;
/// The services that no service file manages.
pub const UNLOCKED: usize = 20;
/// The users for sign-in links: an administrator and a viewer.
pub const ADMINISTRATOR: &str = "admin@example.com";
pub const VIEWER: &str = "viewer@example.com";

/// The size of the generated part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub services: u64,
    pub deploys: u64,
}

impl Size {
    /// The size for a test in every run.
    pub const SMALL: Self = Self { services: 300, deploys: 20_000 };

    /// The size in `ROLLCALL_TEST_SIZE`, such as `10000,1000000`; small by default.
    pub fn wanted() -> Self {
        let Ok(text) = std::env::var("ROLLCALL_TEST_SIZE") else { return Self::SMALL };
        let numbers =
            text.split_once(',').and_then(|(services, deploys)| Some((services.parse().ok()?, deploys.parse().ok()?)));
        let (services, deploys) = numbers.expect("ROLLCALL_TEST_SIZE is SERVICES,DEPLOYS");
        Self { services, deploys }
    }
}

/// The folder with the database, created if necessary. Must not be written to.
pub fn folder(size: Size) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let kept = place.join(format!("hostile-{}-{}-{:016x}", size.services, size.deploys, version()));
    if !kept.exists() {
        crate::say_aloud(&format!("making {}", kept.display()));
        fs::create_dir_all(place).expect("a folder");
        // Remove outdated ones of this size.
        let prefix = format!("hostile-{}-{}-", size.services, size.deploys);
        for old in fs::read_dir(place).expect("the folder").flatten() {
            if old.file_name().to_string_lossy().starts_with(&prefix) {
                fs::remove_dir_all(old.path()).expect("an old catalogue goes");
            }
        }
        let folder = tempfile::tempdir_in(place).expect("a folder");
        make(folder.path(), size);
        fs::rename(folder.keep(), &kept).expect("the whole catalogue");
    }
    kept
}

/// Everything that the cached catalogue depends on: this file, the migrations, and the program that creates it.
fn version() -> u64 {
    let mut hasher = DefaultHasher::new();
    include_str!("catalogue.rs").hash(&mut hasher);
    let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("migration/src");
    let names = fs::read_dir(migrations).expect("the migrations").map(|file| file.expect("a file").file_name());
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    names.hash(&mut hasher);
    let program = server::program();
    if program != Path::new(env!("CARGO_BIN_EXE_rollcall")) {
        let made = fs::metadata(&program).and_then(|file| file.modified()).expect("the program");
        (program, made).hash(&mut hasher);
    }
    hasher.finish()
}

/// The global id of a row.
pub fn id(class: &str, number: u64) -> String {
    BASE64URL_NOPAD.encode(format!("gid://rollcall/{class}/{number}").as_bytes())
}

/// A text of this many distinct non-ASCII letters. A different `start` gives different letters.
pub fn odd_letters(count: usize, start: usize) -> String {
    let letters = (0..).filter_map(|n| char::from_u32(0xc0 + (start * 31 + n) as u32 % 0x2000));
    letters.filter(|letter| letter.is_alphabetic()).take(count).collect()
}

/// Text of four bytes a character, the most that a name may have.
fn swelling(length: usize) -> String {
    "🚀".repeat(length)
}

/// Signs in with a link and returns the cookie.
pub fn sign_in(server: &Server, folder: &Path, email: &str) -> String {
    let link = server::run(folder, &["sign-in-link", "--email", email]);
    let path = link.find("/sign-in/").map(|at| link[at..].split_whitespace().next().unwrap_or_default());
    let mut client = Client::with_cookie(server.address, "none=");
    let form = client.request("POST", path.expect("a link"), "application/x-www-form-urlencoded", "");
    let answer = client.send(&form).expect("an answer");
    let cookie = answer.header("set-cookie").and_then(|cookie| cookie.split(';').next());
    cookie.unwrap_or_else(|| panic!("{} does not sign in: {} {}", email, answer.status, answer.text)).to_owned()
}

fn make(folder: &Path, size: Size) {
    let (services, deploys) = (size.services.to_string(), size.deploys.to_string());
    server::run(folder, &["generate", "--services", &services, "--deploys", &deploys]);
    let endpoint = server::run(folder, &["deploy-endpoint", "create", "--name", "hostile"]);
    let path = endpoint.find("/integrations/").map(|at| endpoint[at..].to_owned()).expect("a path");

    let server = Server::start(folder, "", &[]).watched();
    let mut client = Client::with_cookie(server.address, &sign_in(&server, folder, ADMINISTRATOR));
    people(&mut client);
    tiers(&mut client);
    services_of_one_team(&mut client);
    graph(&mut client);
    heavy_property(&mut client);
    server.stop();

    fs::write(folder.join("services.yml"), service_file()).expect("a file");
    server::run(folder, &["apply", "services.yml"]);
    for number in 0..UNLOCKED {
        server::run(folder, &["release", &format!("big_{number}")]);
    }
    fs::remove_file(folder.join("services.yml")).expect("the file");

    let server = Server::start(folder, "", &[]).watched();
    let mut client = Client::with_cookie(server.address, &sign_in(&server, folder, ADMINISTRATOR));
    code_issues(&mut client);
    posts(&mut client, &path);
    assert!(!server.is_killed(), "making the catalogue took too much memory");
    server.stop();
}

/// Calls a mutation with each input. All must succeed.
fn call(client: &mut Client, mutation: &str, input: &str, inputs: &[Value], most: usize) {
    for some in inputs.chunks(most) {
        let numbers = 0..some.len();
        let variables = numbers.clone().map(|n| format!("$i{n}: {input}! ")).collect::<String>();
        let calls = numbers.clone().map(|n| format!("m{n}: {mutation}(input: $i{n}) {{ errors {{ message path }} }} "));
        let text = format!("mutation({variables}) {{ {} }}", calls.collect::<String>());
        let values = numbers.map(|n| (format!("i{n}"), some[n].clone())).collect();
        let data = client.data(&text, &Value::Object(values));
        for (name, payload) in data.as_object().expect("an object") {
            assert_eq!(payload["errors"], json!([]), "{mutation} {name}");
        }
    }
}

fn emails() -> impl Iterator<Item = String> {
    (0..300).map(|n| format!("colleague{n}@example.com"))
}

fn people(client: &mut Client) {
    let everybody: Vec<String> = emails().chain([VIEWER.to_owned()]).collect();
    for some in everybody.chunks(MUTATIONS) {
        let invite = |email: &String| {
            let alias = email.split('@').next().unwrap_or_default();
            let name = odd_letters(200, email.len());
            format!(
                "{alias}: userInvite(email: \"{email}\", input: {{ name: \"{alias} {name}\", role: viewer }}) {{ errors {{ message }} }} "
            )
        };
        let data = client.data(&format!("mutation {{ {} }}", some.iter().map(invite).collect::<String>()), &json!({}));
        assert!(
            data.as_object().is_some_and(|all| all.values().all(|payload| payload["errors"] == json!([]))),
            "{data}"
        );
    }
    let members =
        |count| emails().take(count).map(|email| json!({ "user": { "email": email }, "role": odd_letters(255, 3) }));
    let team = |name: String, count| json!({ "name": name, "responsibilities": swelling(5_000), "members": members(count).collect::<Vec<_>>() });
    let mut teams = vec![team("everything".to_owned(), 300)];
    teams.extend((0..40).map(|n| team(format!("crowd {n}"), LINKED)));
    call(client, "teamCreate", "TeamCreateInput", &teams, 5);
    let tags: Vec<Value> =
        (0..LINKED).map(|n| json!({ "key": format!("key-{n:0>60}"), "value": swelling(1_000) })).collect();
    let input = json!({ "type": "Team", "alias": "everything", "tags": tags });
    call(client, "tagAssign", "TagAssignInput", &[input], 1);
}

fn tiers(client: &mut Client) {
    for (noun, input) in [("tierCreate", "TierCreateInput"), ("lifecycleCreate", "LifecycleCreateInput")] {
        let one = |n| json!({ "name": format!("{n} {}", odd_letters(200, n)), "description": swelling(5_000) });
        call(client, noun, input, &(0..60).map(one).collect::<Vec<_>>(), MUTATIONS);
    }
}

fn services_of_one_team(client: &mut Client) {
    let one = |n| {
        json!({
            "name": format!("big {n}"), "note": swelling(50_000), "description": swelling(5_000),
            "ownerInput": { "alias": "everything" }, "tierAlias": "tier_1", "language": "Rust",
        })
    };
    // The limit of a body is one megabyte.
    call(client, "serviceCreate", "ServiceCreateInput", &(0..SERVICES).map(one).collect::<Vec<_>>(), 2);
}

/// What the services of the team belong to, need and link to.
fn graph(client: &mut Client) {
    let note = swelling(50_000);
    let domain = json!({ "name": "domain", "description": swelling(5_000), "note": note });
    call(client, "domainCreate", "DomainInput", &[domain], 1);
    let system = json!({ "name": "system", "note": note, "parent": { "alias": "domain" } });
    call(client, "systemCreate", "SystemInput", &[system], 1);
    let alias = |n: usize| format!("big_{}", n % SERVICES);
    for start in (0..SERVICES).step_by(50) {
        let services: Vec<Value> = (start..start + 50).map(|n| json!({ "alias": alias(n) })).collect();
        let text = "mutation($services: [IdentifierInput!]!) { systemChildAssign(system: { alias: \"system\" }, childServices: $services) { errors { message } } }";
        let data = client.data(text, &json!({ "services": services }));
        assert_eq!(data["systemChildAssign"]["errors"], json!([]));
    }
    let pairs = || (0..CONNECTED).flat_map(|service| (0..LINKED).map(move |n| (service, n)));
    let url = |n: usize| format!("https://example.com/{n}/{}", "t".repeat(1_900));
    let tools: Vec<Value> = pairs()
        .map(|(service, n)| json!({ "serviceAlias": alias(service), "category": "runbooks", "displayName": odd_letters(255, n), "url": url(n) }))
        .collect();
    call(client, "toolCreate", "ToolCreateInput", &tools, MUTATIONS);
    let dependencies: Vec<Value> = pairs()
        .map(|(service, n)| {
            let (source, destination) = (json!({ "alias": alias(service) }), json!({ "alias": alias(service + n + 1) }));
            json!({ "dependencyKey": { "sourceIdentifier": source, "destinationIdentifier": destination }, "notes": swelling(500) })
        })
        .collect();
    for some in dependencies.chunks(MUTATIONS) {
        let calls = (0..some.len())
            .map(|n| format!("m{n}: serviceDependencyCreate(inputV2: $i{n}) {{ errors {{ message }} }} "))
            .collect::<String>();
        let variables = (0..some.len()).map(|n| format!("$i{n}: ServiceDependencyCreateInput! ")).collect::<String>();
        let values = some.iter().enumerate().map(|(n, input)| (format!("i{n}"), input.clone())).collect();
        let data = client.data(&format!("mutation({variables}) {{ {calls} }}"), &Value::Object(values));
        assert!(
            data.as_object().is_some_and(|all| all.values().all(|payload| payload["errors"] == json!([]))),
            "{data}"
        );
    }
    let found = client
        .data("{ account { team(alias: \"everything\") { id services(first: 100) { nodes { id } } } } }", &json!({}));
    let services = found.pointer("/account/team/services/nodes").and_then(Value::as_array).expect("a list");
    let owners = services.iter().take(CONNECTED).map(|service| &service["id"]).chain([&found["account"]["team"]["id"]]);
    let contacts: Vec<Value> = owners
        .flat_map(|owner| (0..LINKED).map(move |n| json!({ "ownerId": owner, "type": "web", "address": url(n), "displayName": odd_letters(255, n) })))
        .collect();
    call(client, "contactCreate", "ContactCreateInput", &contacts, MUTATIONS);
}

/// A property whose values take long to check: each is compared with ten patterns of many states.
fn heavy_property(client: &mut Client) {
    let pattern = |n: usize| json!({ "pattern": format!("(a?){{{0}}}a{{{0}}}b?$", 40 + n) });
    let schema = json!({ "allOf": (0..10).map(pattern).collect::<Vec<_>>() });
    let text = "mutation($schema: JSONSchema!) { propertyDefinitionCreate(input: { name: \"heavy\", schema: $schema }) { errors { message } } }";
    let data = client.data(text, &json!({ "schema": schema }));
    assert_eq!(data["propertyDefinitionCreate"]["errors"], json!([]));
}

/// The alias of a repository that is linked with many services.
pub fn repository(number: usize) -> String {
    format!("example.com:hostile/repository-{number}")
}

/// JSON is also valid YAML.
fn service_file() -> String {
    let repository = |n: usize| {
        json!({ "version": 1, "repository": {
            "name": format!("hostile/repository-{n}"), "alias": repository(n), "url": format!("https://example.com/{}", "u".repeat(1_900)),
        }})
    };
    let service = |n: usize| {
        let value = if n < 20 { "v".repeat(1_000) } else { "v".repeat(100) };
        let tags = (0..LINKED).map(|tag| (format!("key-{tag:0>60}"), json!(value))).collect();
        let more = if n == 0 { 900 } else { 3 };
        let mut aliases = vec![format!("big_{n}")];
        aliases.extend((0..more).map(|alias| format!("{n} {alias} {}", odd_letters(200, alias))));
        let linked: Vec<String> = if n < LINKED { (0..LINKED).map(self::repository).collect() } else { Vec::new() };
        json!({ "version": 1, "service": {
            "name": format!("{n} {}", odd_letters(250, n)), "aliases": aliases, "tags": Value::Object(tags), "repositories": linked,
        }})
    };
    let documents = (0..LINKED).map(repository).chain((0..SERVICES).map(service));
    documents.map(|document| document.to_string()).collect::<Vec<_>>().join("\n---\n")
}

fn code_issues(client: &mut Client) {
    let made = client
        .data("mutation { customIntegrationCreate(input: { name: \"hostile\" }) { integration { id } } }", &json!({}));
    let integration = made["customIntegrationCreate"]["integration"]["id"].clone();
    let identifier = |n: usize| json!({ "integration": { "id": integration }, "externalId": format!("project {n}") });
    let projects: Vec<Value> = (0..LINKED)
        .map(|n| json!({ "identifier": identifier(n), "name": format!("project {n} {}", odd_letters(200, n)) }))
        .collect();
    call(client, "codeIssueProjectUpsert", "CodeIssueProjectUpsertInput", &projects, MUTATIONS);
    let found = client.data("{ account { codeIssueProjects { nodes { id } } } }", &json!({}));
    let projects: Vec<&Value> = found["account"]["codeIssueProjects"]["nodes"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|node| &node["id"])
        .collect();
    let resources = client.data(
        "{ account { team(alias: \"everything\") { services { nodes { id } } } service(alias: \"big_0\") { repositories { nodes { id } } } } }",
        &json!({}),
    );
    let nodes = |path: &str| resources.pointer(path).and_then(Value::as_array).expect("a list").clone();
    let resources = [nodes("/account/team/services/nodes"), nodes("/account/service/repositories/nodes")].concat();
    let connect: Vec<Value> = resources
        .iter()
        .map(|resource| json!({ "codeIssueProjectIds": projects, "resourceId": resource["id"] }))
        .collect();
    // The limit of a request is 2,000 changes.
    call(client, "codeIssueProjectResourceConnect", "CodeIssueProjectResourceConnectInput", &connect, MUTATIONS / 2);
    let issue = |n: usize| {
        let (count, url) =
            if n < 5 { (400, format!("https://example.com/{}", "c".repeat(1_900))) } else { (100, String::new()) };
        let cves: Vec<Value> = (0..count)
            .map(|cve| {
                if url.is_empty() {
                    json!({ "identifier": format!("CVE-{cve}") })
                } else {
                    json!({ "identifier": format!("CVE-{cve}"), "url": url })
                }
            })
            .collect();
        json!({
            "identifier": { "codeIssueProject": identifier(0), "externalId": format!("issue {n}") },
            "name": odd_letters(255, n), "issueCategory": "security", "severity": "high", "cves": cves,
            "cwes": [{ "identifier": "CWE-79" }, { "identifier": "CWE-89" }],
        })
    };
    call(client, "codeIssueUpsert", "CodeIssueInput", &(0..LINKED).map(issue).collect::<Vec<_>>(), 1);
}

/// Deploys with long texts for a known service, and deploys for unknown aliases.
fn posts(client: &mut Client, path: &str) {
    let mut post = |service: String, text: &str| {
        let body = json!({
            "service": service, "description": text, "deployed_at": "2026-11-21T01:44:00Z",
            "deployer": { "email": "colleague1@example.com" }, "environment": "production", "status": "succeeded",
            "commit": { "sha": "c0ffee", "message": text },
        });
        let request = client.request("POST", path, "application/json", &body.to_string());
        let answer = client.send(&request).expect("an answer");
        assert_eq!(answer.status, 202, "{}", answer.text);
    };
    let long = "\"".repeat(50_000);
    for _ in 0..LINKED {
        post("big_0".to_owned(), &long);
    }
    for n in 0..LINKED {
        post(format!("{} {n}", odd_letters(240, n)), "unknown");
    }
}
