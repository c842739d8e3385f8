//! Requests that once killed the program or delayed everyone else. They are valid, and the catalogue has much data for
//! them. The server's memory limit is 512 MB. Beside each one, a canary with its own token sends a request every 100
//! ms. A minute later, the memory must have been returned.
//!
//! By default they run over a small catalogue with a debug build, some of them shorter, and with time limits ten times
//! as long. For a release build with 10,000 services and 1,000,000 deploys see CONTRIBUTING.md, "The tests".

use std::collections::HashSet;
use std::fmt::Write;
use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::catalogue::{self, ADMINISTRATOR, Size, VIEWER, odd_letters};
use crate::client::{Answer, Client};
use crate::climb::{HELD, worst};
use crate::http2;
use crate::server::{self, Server, slowness};
use crate::slow_provider::SlowProvider;
use crate::{leave_out, one_at_a_time, say_aloud};

/// The limit of the canary's wait beside an example, in a release build.
const CANARY: Duration = Duration::from_millis(250);
/// The limit of its wait beside a caller who uses all that the limits allow.
const CROWDED: Duration = Duration::from_secs(1);
/// The memory limit beside forms that do not end, in kilobytes.
const FORMS: u64 = 112 * 1024;
/// The interval of its requests.
const OFTEN: Duration = Duration::from_millis(100);
/// A token's limit of requests per minute.
const RATE: usize = 400;

/// The context of an attack.
struct Run<'r> {
    server: &'r Server,
    /// Tokens for reading and writing.
    reader: &'r str,
    writer: &'r str,
    /// A viewer's session.
    cookie: &'r str,
    provider: &'r SlowProvider,
    is_full: bool,
}

struct Example {
    name: &'static str,
    flags: &'static [&'static str],
    /// The limit of the canary's wait.
    wait: Duration,
    /// The memory limit, in kilobytes.
    memory: u64,
    attack: fn(&Run<'_>) -> Ends,
}

/// The results of the requests, or why one had none.
type Ends = Vec<Result<Answer, String>>;

impl Run<'_> {
    fn by_token(&self) -> Client {
        Client::with_token(self.server.address, self.reader)
    }

    fn by_writer(&self) -> Client {
        Client::with_token(self.server.address, self.writer)
    }

    fn by_session(&self) -> Client {
        Client::with_cookie(self.server.address, self.cookie)
    }

    /// How long an endless attack lasts.
    fn some_time(&self) -> Duration {
        Duration::from_secs(if self.is_full { 30 } else { 3 })
    }

    /// This many clients that repeat the same requests for some time.
    fn crowd(
        &self,
        count: usize,
        client: fn(&Self) -> Client,
        one: impl Fn(&mut Client) -> std::io::Result<Answer> + Sync,
    ) -> Ends {
        let end = Instant::now() + self.some_time();
        let work = |mut client: Client| {
            let mut ends = Ends::new();
            while Instant::now() < end && self.server.is_running() {
                ends.push(one(&mut client).map_err(|error| error.to_string()));
            }
            ends
        };
        let work = &work;
        thread::scope(|scope| {
            let threads: Vec<_> =
                (0..count).map(|_| client(self)).map(|client| scope.spawn(move || work(client))).collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("a client")).collect()
        })
    }

    /// Everything that a token may send in a minute, at once on a hundred connections, for each minute.
    fn flood(&self, client: fn(&Self) -> Client, bodies: &[String]) -> Ends {
        let minutes = if self.is_full { 2 } else { 1 };
        let rate = if self.is_full { RATE } else { RATE / 10 };
        let mut ends = Ends::new();
        for _ in 0..minutes {
            let next = Instant::now() + Duration::from_secs(if self.is_full { 60 } else { 1 });
            let connections = 100.min(rate);
            let work = |first: usize| {
                let mut client = client(self);
                let mine = (first..rate).step_by(connections);
                mine.map(|n| client.ask(&bodies[n % bodies.len()]).map_err(|error| error.to_string())).collect::<Ends>()
            };
            let work = &work;
            ends.extend(thread::scope(|scope| {
                let threads: Vec<_> = (0..connections).map(|first| scope.spawn(move || work(first))).collect();
                threads.into_iter().flat_map(|thread| thread.join().expect("a client")).collect::<Ends>()
            }));
            if !self.server.is_running() {
                break;
            }
            sleep(next.saturating_duration_since(Instant::now()));
        }
        ends
    }
}

fn query(text: &str) -> String {
    json!({ "query": text }).to_string()
}

/// The services of the owner of the services of the owner, and so on.
fn nested(levels: usize) -> String {
    let inner = (1..levels).fold("id".to_owned(), |inner, _| format!("owner{{services{{nodes{{{inner}}}}}}}"));
    format!("{{account{{services{{nodes{{{inner}}}}}}}}}")
}

fn ask(client: &mut Client, body: &str) -> Ends {
    vec![client.ask(body).map_err(|error| error.to_string())]
}

const SEARCH: &str = "query($s:String){account{services(search:$s){nodes{id}}}}";

/// A search over everything for six words that are like many.
fn find(start: usize) -> String {
    const FIND: &str =
        "query($t:String!){account{a:search(term:$t){name}b:search(term:$t){name}c:search(term:$t){name}}}";
    let words: Vec<String> = (0..6).map(|word| format!("svc{}", odd_letters(36, start + word))).collect();
    json!({ "query": FIND, "variables": { "t": words.join(" ") } }).to_string()
}

fn search(start: usize) -> String {
    json!({ "query": SEARCH, "variables": { "s": odd_letters(225, start) } }).to_string()
}

fn hundred_metrics() -> String {
    let one = |n| {
        format!(
            "a{n}:deployMetrics(start:\"1970-01-01T00:00:00Z\"){{deployCount failedDeploymentRecoveryTime{{median}}}}"
        )
    };
    query(&format!("{{account{{{}}}}}", (0..100).map(one).collect::<String>()))
}

/// A short text with thousands of fields and conditions. A different number gives different names.
fn conditions(number: usize, outcome: usize) -> String {
    let fields = "id name aliases description language framework product note locked htmlUrl tier{id name alias}lifecycle{id name alias}owner{id name alias}";
    let mut text = "query($b0:Boolean!$b1:Boolean!$b2:Boolean!$b3:Boolean!){account{".to_owned();
    for at in 0..60 {
        let _ = write!(text, "a{at}x{number}:service(alias:\"\")@include(if:$b{}){{...f}}", at % 4);
    }
    let _ = write!(text, "}}}}fragment f on Service{{{fields}}}");
    let flag = |n: usize| outcome >> n & 1 == 1;
    json!({ "query": text, "variables": { "b0": flag(0), "b1": flag(1), "b2": flag(2), "b3": flag(3) } }).to_string()
}

/// A fragment with an input object that repeats a field thousands of times, spread by hundreds of operations.
fn repeated_mistakes() -> String {
    let mut text = format!("fragment f on Account{{services(tag:{{{}}}){{totalCount}}}}", "key:\"\" ".repeat(3_700));
    for number in 0..300 {
        let _ = write!(text, "query q{number}{{account{{...f}}}}");
    }
    json!({ "query": text, "operationName": "q0" }).to_string()
}

fn page_of_search(start: usize) -> String {
    let encoded: String = form_urlencoded::byte_serialize(odd_letters(225, start).as_bytes()).collect();
    format!("/services?search={encoded}")
}

/// Simulates this many callbacks from the provider, and waits until it has released them all.
fn callbacks(run: &Run<'_>) -> Ends {
    let count = if run.is_full { 600 } else { 100 };
    let mut open = Vec::new();
    for _ in 0..count {
        let mut client = Client::with_cookie(run.server.address, "none=");
        let begun = match client.get("/sign-in/openid") {
            Ok(begun) => begun,
            Err(error) => return vec![Err(error.to_string())],
        };
        let to = begun.header("location").unwrap_or_default();
        let state = to.split_once("state=").map_or("", |(_, rest)| rest.split('&').next().unwrap_or_default());
        let cookie = begun.header("set-cookie").and_then(|cookie| cookie.split(';').next());
        // A refusal is fine when there are too many.
        let Some(cookie) = cookie else { continue };
        let client = Client::with_cookie(run.server.address, cookie);
        let path = format!("/sign-in/openid/callback?code=c&state={state}");
        let stream = TcpStream::connect(run.server.address);
        let sent =
            stream.and_then(|mut stream| stream.write_all(&client.request("GET", &path, "", "")).map(|()| stream));
        open.extend(sent);
    }
    assert!(!open.is_empty(), "nobody could begin to sign in");
    sleep(Duration::from_secs(2));
    let waiting = run.provider.exchanges();
    drop(open);
    while run.provider.exchanges() > 0 {
        sleep(OFTEN);
    }
    let most = run.provider.most_exchanges();
    assert!(waiting > 0, "the provider was asked nothing");
    if most > 8 { vec![Err(format!("{most} exchanges with the provider at one time"))] } else { Vec::new() }
}

/// Endless form posts without a session or link.
fn forms(run: &Run<'_>) -> Ends {
    let connections = if run.is_full { 100 } else { 20 };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let paths = ["/new/service", "/sign-in/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"];
    let time = Duration::from_secs(5);
    let all = (0..connections).map(|_| http2::half_sent(run.server, &paths, 64, 60_000, time));
    runtime.block_on(futures_util::future::join_all(all));
    Vec::new()
}

macro_rules! examples {
    ($($name:literal $flags:expr, $wait:expr, |$run:ident| $attack:expr;)*) => {
        [$(Example { name: $name, flags: &$flags, wait: $wait, memory: server::MEMORY_KB, attack: |$run| $attack }),*]
    };
}

const HASTY: [&str; 2] = ["--query-timeout", "500ms"];

fn examples() -> Vec<Example> {
    let examples = examples! {
        "services of owners of services, four times, by a token" [], CANARY, |run| ask(&mut run.by_token(), &query(&nested(4)));
        "the same by a viewer" [], CANARY, |run| ask(&mut run.by_session(), &query(&nested(4)));
        "three times" [], CANARY, |run| ask(&mut run.by_token(), &query(&nested(3)));
        "with notes of 50,000 characters" [], CANARY, |run| {
            ask(&mut run.by_token(), &query(&nested(3).replace("id", "note")))
        };
        "five times, by six at once" [], CANARY, |run| run.crowd(6, Run::by_token, |client| client.ask(&query(&nested(5))));
        "two long queries with a short limit of time" HASTY, CANARY, |run| {
            run.crowd(2, Run::by_token, |client| client.ask(&query(&nested(3))))
        };
        "a mutation with a large answer whose client leaves" [], CANARY, |run| {
            let selection = nested(4).replacen("{account{services{nodes{", "", 1).replacen("}}}}", "", 1);
            let text = format!("mutation{{serviceUpdate(input:{{alias:\"big_0\",product:\"p\"}}){{service{{{selection}}}}}}}");
            let mut client = run.by_writer();
            let request = client.request("POST", "/graphql", "application/json", &query(&text));
            for _ in 0..4 {
                client.send_and_leave(&request, Duration::from_millis(200)).expect("a connection");
            }
            sleep(run.some_time());
            Vec::new()
        };
        "all outcomes of the conditions of 640 texts" [], CANARY, |run| {
            let (mut client, texts) = (run.by_token(), if run.is_full { 640 } else { 32 });
            (0..texts * 16).map(|n| client.ask(&conditions(n / 16, n % 16)).map_err(|error| error.to_string())).collect()
        };
        "a fragment of mistakes in 300 operations" [], CANARY, |run| ask(&mut run.by_token(), &repeated_mistakes());
        "six long searches" [], CANARY, |run| {
            let start = std::sync::atomic::AtomicUsize::new(0);
            run.crowd(6, Run::by_token, |client| client.ask(&search(start.fetch_add(1, Ordering::Relaxed))))
        };
        "searches over everything for long words" [], CANARY, |run| {
            let start = std::sync::atomic::AtomicUsize::new(0);
            run.crowd(6, Run::by_token, |client| client.ask(&find(start.fetch_add(1, Ordering::Relaxed))))
        };
        "six times a hundred figures of all deploys" [], CANARY, |run| {
            run.crowd(6, Run::by_token, |client| client.ask(&hundred_metrics()))
        };
        "pages of long searches by one viewer" [], CANARY, |run| {
            let start = std::sync::atomic::AtomicUsize::new(0);
            run.crowd(6, Run::by_session, |client| client.get(&page_of_search(start.fetch_add(1, Ordering::Relaxed))))
        };
        "people who come back from a slow provider" [], CANARY, |run| callbacks(run);
        "forms over HTTP/2 that do not end" [], CANARY, |run| forms(run);
        "the worst queries by one token" [], CROWDED, |run| run.flood(Run::by_token, &worst("queries"));
        "the worst queries by one viewer's session" [], CROWDED, |run| run.flood(Run::by_session, &worst("queries"));
        "the worst mutations by one token" [], CROWDED, |run| run.flood(Run::by_writer, &worst("mutations"));
    };
    let mut examples = Vec::from(examples);
    for example in &mut examples {
        if example.name.starts_with("forms") {
            example.memory = FORMS;
        }
    }
    examples
}

/// A well-behaved client beside the attack.
struct Canary {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Result<Duration, String>>>,
}

impl Canary {
    fn start(server: &Server, token: &str) -> Self {
        let mut client = Client::with_token(server.address, token);
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            let mut waits = Vec::new();
            while !ends.load(Ordering::Relaxed) {
                let answer = client.ask(&query("{account{services(first:1){nodes{id}}}}"));
                let answer = answer.map_err(|error| error.to_string());
                waits.push(answer.and_then(|answer| match answer.status {
                    200 if !answer.text.contains("\"errors\"") => Ok(answer.took),
                    status => Err(format!("{status} {}", answer.text)),
                }));
                sleep(OFTEN);
            }
            waits
        });
        Self { is_over, thread }
    }

    /// The duration of each of its requests.
    fn stop(self) -> Vec<Result<Duration, String>> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().expect("the canary")
    }
}

/// Runs an example and returns its figures and the violated limits.
fn run(
    example: &Example,
    folder: &Path,
    tokens: [&str; 3],
    provider: &SlowProvider,
    is_full: bool,
) -> (String, Vec<String>) {
    let issuer = ["--oidc-issuer", &provider.issuer, "--oidc-client-id", "rollcall", "--oidc-domains", "*"];
    let server = Server::start(folder, tokens[0], &[&issuer, example.flags].concat()).watched();
    let cookie = catalogue::sign_in(&server, folder, VIEWER);
    let [reader, writer, other] = tokens;
    let canary = Canary::start(&server, other);
    sleep(OFTEN * 5);
    let run = Run { server: &server, reader, writer, cookie: &cookie, provider, is_full };
    let begun = Instant::now();
    let ends = (example.attack)(&run);
    let took = begun.elapsed();
    sleep(OFTEN * 5);
    let waits = canary.stop();
    let most = server.most_memory();

    let mut wrong = Vec::new();
    let mut check = |holds: bool, what: String| {
        if !holds {
            wrong.push(format!("{}: {what}", example.name));
        }
    };
    check(!server.is_killed(), format!("killed for more than {} MB", server::MEMORY_KB / 1024));
    check(server.is_running(), "the server ended".to_owned());
    check(most < example.memory, format!("{} MB of memory", most / 1024));
    // 503 means that the server is busy, 429 that the caller exceeded its limit.
    let statuses: HashSet<String> = ends
        .iter()
        .map(|end| match end {
            Ok(answer) => answer.status.to_string(),
            Err(error) => error.clone(),
        })
        .collect();
    // 403: some of the worst mutations need an administrator.
    let fine = ["200", "400", "403", "413", "422", "429", "503"];
    check(statuses.iter().all(|status| fine.contains(&&**status)), format!("{statuses:?}"));
    let allowed = example.wait * slowness();
    let longest = waits.iter().filter_map(|wait| wait.as_ref().ok()).max().copied().unwrap_or_default();
    check(longest < allowed, format!("the canary waited {longest:?}; {allowed:?} are allowed"));
    let lost = waits.iter().find_map(|wait| wait.as_ref().err());
    check(lost.is_none(), format!("the canary had no answer: {lost:?}"));
    check(waits.len() > 5, format!("the canary asked {} times", waits.len()));

    let end = Instant::now() + Duration::from_secs(60);
    let rested = Instant::now();
    while server.held_memory().is_some_and(|now| now >= HELD) && Instant::now() < end {
        sleep(Duration::from_millis(200));
    }
    let after = server.held_memory().unwrap_or_default();
    check(after < HELD, format!("{} MB are kept", after / 1024));
    let slowest = ends.iter().flatten().map(|answer| answer.took).max().unwrap_or_default();
    let bytes = ends.iter().flatten().map(|answer| answer.bytes).max().unwrap_or_default();
    let statuses = if ends.is_empty() { "-".to_owned() } else { format!("{:?}", statuses.iter().collect::<Vec<_>>()) };
    let figures = format!(
        "{:<56} {:>5} s {:>6} ends {:<16} {:>6} ms {:>9} bytes, {:>3} MB, {:>3} MB after {:>2} s, canary {:>5} ms{}",
        example.name,
        took.as_secs(),
        ends.len(),
        statuses,
        slowest.as_millis(),
        bytes,
        most / 1024,
        after / 1024,
        rested.elapsed().as_secs(),
        longest.as_millis(),
        if server.is_killed() { ", KILLED" } else { "" },
    );
    (figures, wrong)
}

#[test]
fn accepted_requests_neither_kill_the_server_nor_delay_the_others() {
    let _alone = one_at_a_time();
    if std::env::var_os("ROLLCALL_EXAMPLES").is_none() {
        say_aloud("left out: the examples of costly requests; ROLLCALL_EXAMPLES=1 runs them");
        return;
    }
    let size = Size::wanted();
    let is_full = size != Size::SMALL;
    let template = catalogue::folder(size);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    server::copy(&template, folder.path());
    let tokens = ["read", "write", "read"].map(|scope| server::token(folder.path(), scope));
    let [reader, writer, other] = &tokens;
    let provider = SlowProvider::start();
    if Server::start(folder.path(), reader, &[]).memory().is_none() {
        leave_out("no examples of costly requests: the system does not tell what memory a process has (/proc)");
        return;
    }
    // The very first link is an administrator's.
    let server = Server::start(folder.path(), reader, &[]);
    catalogue::sign_in(&server, folder.path(), ADMINISTRATOR);
    drop(server);
    let only = std::env::var("ROLLCALL_TEST_HOSTILE").unwrap_or_default();
    let mut wrong = Vec::new();
    for example in examples().iter().filter(|example| example.name.contains(&only)) {
        let (figures, mistakes) = run(example, folder.path(), [reader, writer, other], &provider, is_full);
        say_aloud(&figures);
        wrong.extend(mistakes);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
