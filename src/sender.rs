//! `rollcall deploy`: reports a deploy to a deploy endpoint, from a pipeline.
//!
//! Missing arguments are filled in from the pipeline's environment and from git. The post is retried while that may
//! help, always with the same dedup id, so that it is recorded once. [`deploy::record`](crate::deploy::record) defines
//! what a record may hold.

use std::thread;
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use serde_json::{Map, Value, json};
use ureq::Agent;
use ureq::http::Response;

use crate::commands::say;
use crate::config::{self, Deploy, Pipeline, SecretUrl};
use crate::entity::Timestamp;
use crate::entity::text::{BRANCH, MESSAGE, SHORT};
use crate::outgoing;

mod git;

/// The timeout of one attempt.
const ATTEMPT: Duration = Duration::from_secs(20);
/// The pause after the first attempt. It doubles with each attempt.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause, unless the server asks for a longer one.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// The longest response that is read, in bytes. Ours are far shorter.
const LONGEST_ANSWER: u64 = 64 * 1024;

/// Sends the deploy and returns the server's JSON response. Blocks.
///
/// # Errors
/// Why it was not recorded, in a sentence or a few.
pub fn send(settings: &Deploy) -> Result<Value, String> {
    let started = Instant::now();
    let url = settings.url()?;
    let pipeline = config::pipeline();
    let commit = git::commit(pipeline.sha.as_deref());
    let body = record(settings, &pipeline, &commit)?.to_string();
    let said = post(&url, &body, || settings.deadline.saturating_sub(started.elapsed()))?;
    if let Some(sentence) = said["message"].as_str() {
        say(&format!("rollcall: {sentence}"));
    }
    Ok(said)
}

/// Builds the record. Values that do not come from the command line are cut to the allowed length.
fn record(settings: &Deploy, pipeline: &Pipeline, commit: &git::Commit) -> Result<Value, String> {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    let found = |first: &Option<String>, then: &Option<String>, most: usize| {
        let text = given(first).or_else(|| given(then))?;
        Some(text.chars().take(most).collect::<String>())
    };
    let message = found(&commit.message, &pipeline.message, MESSAGE);
    let author_name = found(&commit.author_name, &pipeline.author_name, SHORT);
    let author_email = found(&commit.author_email, &pipeline.author_email, SHORT);
    let first_line = || message.as_deref().and_then(|message| message.trim().lines().next()).map(str::to_owned);
    let description = given(&settings.description).or_else(first_line);
    let description =
        description.ok_or("there is no commit to take a description from; give one with --description")?;

    // Name, address and id come from the same source, so that those of two people are never mixed.
    let people = [
        (given(&settings.deployer_name), given(&settings.deployer_email), given(&settings.deployer_id)),
        (given(&pipeline.deployer_name), given(&pipeline.deployer_email), given(&pipeline.deployer_id)),
        (author_name.clone(), author_email.clone(), given(&pipeline.deployer_id)),
    ];
    let deployer = people.into_iter().find(|(name, email, _)| name.is_some() || email.is_some());
    let (name, email, id) = deployer.ok_or("the deployer is not known; give --deployer-name or --deployer-email")?;

    Ok(object([
        ("service", Some(json!(settings.service))),
        ("description", Some(json!(description))),
        ("deployed_at", text(given(&settings.deployed_at).unwrap_or_else(|| Timestamp::now().to_string()))),
        (
            "deployer",
            Some(object([
                ("name", name.map(Value::from)),
                ("email", email.map(Value::from)),
                ("id", id.map(Value::from)),
            ])),
        ),
        ("started_at", given(&settings.started_at).map(Value::from)),
        ("deploy_url", found(&settings.deploy_url, &pipeline.url, usize::MAX).map(Value::from)),
        ("dedup_id", text(given(&settings.dedup_id).map_or_else(new_id, Ok)?)),
        ("environment", found(&settings.environment, &pipeline.environment, usize::MAX).map(Value::from)),
        ("deploy_number", given(&settings.deploy_number).map(Value::from)),
        ("status", given(&settings.status).map(Value::from)),
        (
            "commit",
            Some(object([
                ("sha", found(&commit.sha, &pipeline.sha, SHORT).map(Value::from)),
                ("message", message.map(Value::from)),
                ("branch", found(&pipeline.branch, &commit.branch, BRANCH).map(Value::from)),
                ("date", found(&commit.date, &pipeline.committed_at, SHORT).map(Value::from)),
                ("committer_name", found(&commit.committer_name, &None, SHORT).map(Value::from)),
                ("committer_email", found(&commit.committer_email, &None, SHORT).map(Value::from)),
                ("author_name", author_name.map(Value::from)),
                ("author_email", author_email.map(Value::from)),
                ("authoring_date", given(&commit.authoring_date).map(Value::from)),
            ])),
        ),
    ]))
}

fn text(text: String) -> Option<Value> {
    Some(Value::from(text))
}

/// Creates an object of the attributes that have a value.
fn object<const N: usize>(attributes: [(&str, Option<Value>); N]) -> Value {
    let present = attributes.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(present.collect::<Map<_, _>>())
}

fn new_id() -> Result<String, String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| format!("the system has no random numbers: {error}"))?;
    Ok(HEXLOWER.encode(&bytes))
}

/// Posts until the server gives a final response or the time is up. `left` returns the time until the deadline.
fn post(url: &SecretUrl, body: &str, left: impl Fn() -> Duration) -> Result<Value, String> {
    let agent = outgoing::agent();
    let mut pause = FIRST_PAUSE;
    loop {
        let (why, asked) = match attempt(&agent, url, body, left().min(ATTEMPT)) {
            Attempt::Recorded(said) => return Ok(said),
            Attempt::Refused(why) => return Err(why),
            Attempt::Again { why, after } => (why, after),
        };
        // Jitter, so that clients that lost the server together do not return together.
        let own = pause.mul_f64(0.75 + fastrand::f64() / 2.0);
        let wait = asked.map_or(own, |asked| asked.max(own));
        // A server may ask for any number of seconds, so do not add to it: it could overflow.
        if wait >= left() {
            return Err(format!("{why}; gave up at the deadline (--deadline)"));
        }
        say(&format!("rollcall: {why}; trying again in {:.1} s", wait.as_secs_f64()));
        thread::sleep(wait);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// The outcome of an attempt. Messages never contain the URL.
enum Attempt {
    /// Status 202.
    Recorded(Value),
    /// Retrying would give the same result.
    Refused(String),
    /// Retrying may help, perhaps after a delay that the server asked for.
    Again { why: String, after: Option<Duration> },
}

fn attempt(agent: &Agent, url: &SecretUrl, body: &str, within: Duration) -> Attempt {
    let request = agent.post(url.reveal()).config().timeout_global(Some(within)).build();
    let sent = request.header("content-type", "application/json").header("accept", "application/json").send(body);
    let answer = sent.and_then(|mut response| {
        let text = response.body_mut().with_config().limit(LONGEST_ANSWER).lossy_utf8(true).read_to_string()?;
        Ok((response, text))
    });
    match answer {
        Ok((response, text)) => answered(&response, &text),
        Err(error) => failed(&error),
    }
}

fn answered<B>(response: &Response<B>, text: &str) -> Attempt {
    let said: Value = serde_json::from_str(text).unwrap_or_default();
    let status = response.status().as_u16();
    if status == 202 && said["result"].is_string() {
        return Attempt::Recorded(said);
    }
    let details = said["errors"].as_array().into_iter().flatten().filter_map(|error| error["detail"].as_str());
    let details = details.collect::<Vec<_>>().join("; ");
    match status {
        429 | 500..=599 => {
            let after = response.headers().get("retry-after").and_then(|value| seconds(value.to_str().ok()?));
            let why = if details.is_empty() { format!("the server answers {status}") } else { details };
            Attempt::Again { why, after: after.map(Duration::from_secs) }
        }
        _ if details.is_empty() => {
            Attempt::Refused(format!("the server answers {status}, but not like a deploy endpoint: is the URL right?"))
        }
        404 => Attempt::Refused("there is no deploy endpoint at this URL, or no longer".to_owned()),
        _ => Attempt::Refused(details),
    }
}

/// Parses the seconds of a `Retry-After`. A number too large for any deadline becomes the largest one.
fn seconds(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

fn failed(error: &ureq::Error) -> Attempt {
    use std::io::ErrorKind::InvalidData;
    let again = |why: String| Attempt::Again { why: format!("the server cannot be reached: {why}"), after: None };
    match error {
        // The certificate was refused, as it would be again.
        ureq::Error::Io(error) if error.kind() == InvalidData => {
            Attempt::Refused(format!("the server is not trusted: {error}"))
        }
        ureq::Error::Rustls(error) => Attempt::Refused(format!("the server is not trusted: {error}")),
        ureq::Error::Io(error) => again(error.to_string()),
        ureq::Error::Timeout(_) => again("it does not answer in time".to_owned()),
        ureq::Error::HostNotFound => again("unknown host name".to_owned()),
        ureq::Error::ConnectionFailed => again("no connection".to_owned()),
        ureq::Error::Protocol(_) => again("the connection was lost".to_owned()),
        ureq::Error::BodyExceedsLimit(_) => {
            Attempt::Refused("the server does not answer like a deploy endpoint: is the URL right?".to_owned())
        }
        // These errors can contain the URL.
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => Attempt::Refused("the deploy URL cannot be read".to_owned()),
        ureq::Error::InvalidProxyUrl => {
            Attempt::Refused("the proxy that the environment names cannot be read".to_owned())
        }
        other => Attempt::Refused(format!("the deploy cannot be sent: {other}")),
    }
}
