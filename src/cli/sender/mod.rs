//! `rollcall deploy`: reports a deploy to a deploy endpoint, from a pipeline.
//!
//! Missing arguments are filled in from the pipeline's environment and from git. The post is retried while that may
//! help, always with the same dedup id, so that it is recorded once. [`deploy::record`](crate::deploy::record) defines
//! what a record may hold.

use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use serde_json::{Map, Value, json};
use ureq::Agent;
use ureq::http::Response;

use super::console::say;
use crate::config::{self, Deploy, Pipeline, SecretUrl};
use crate::entity::Timestamp;
use crate::entity::text::{BRANCH, MESSAGE, SHORT, is_nothing};
use crate::outgoing::{self, Attempt, Purpose, needs_tls, retry};

pub(crate) mod git;

/// The timeout of one attempt.
pub const ATTEMPT: Duration = Duration::from_secs(20);
/// The longest response that is read, in bytes. Ours are far shorter.
pub const LONGEST_ANSWER: u64 = 64 * 1024;

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
    let notes = said["notes"].as_array().into_iter().flatten();
    for sentence in [&said["message"]].into_iter().chain(notes).filter_map(Value::as_str) {
        say(&format!("rollcall: {sentence}"));
    }
    Ok(said)
}

/// Builds the record. Values that do not come from the command line are cut to the allowed length.
fn record(settings: &Deploy, pipeline: &Pipeline, commit: &git::Commit) -> Result<Value, String> {
    let given = |text: &Option<String>| text.clone().filter(|text| !is_nothing(text));
    let found = |first: &Option<String>, then: &Option<String>, most: usize| {
        let text = given(first).or_else(|| given(then))?;
        Some(text.chars().take(most).collect::<String>())
    };
    let message = found(&commit.message, &pipeline.message, MESSAGE);
    let author_name = found(&commit.author_name, &pipeline.author_name, SHORT);
    let author_email = found(&commit.author_email, &pipeline.author_email, SHORT);
    let first_line = || message.as_deref().and_then(|message| message.trim().lines().next()).map(str::to_owned);
    let sha = found(&commit.sha, &pipeline.sha, SHORT);
    let own = || description_of(sha.as_deref(), &settings.service);
    let description = given(&settings.description).or_else(first_line).unwrap_or_else(own);

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
                ("sha", sha.map(Value::from)),
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

/// The description of a deploy without a message: a commit may have an empty one, and a pipeline may have neither git nor
/// a checkout.
fn description_of(sha: Option<&str>, service: &str) -> String {
    match sha {
        Some(sha) => format!("Deploy of commit {}", sha.chars().take(12).collect::<String>()),
        None => format!("Deploy of {}", service.trim()),
    }
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
    retry(&left, say, || attempt(&agent, url, body, left().min(ATTEMPT)))
}

fn attempt(agent: &Agent, url: &SecretUrl, body: &str, within: Duration) -> Attempt<Value> {
    let request = agent.post(url.reveal()).config().timeout_global(Some(within)).build();
    let sent = request.header("content-type", "application/json").header("accept", "application/json").send(body);
    let answer = sent.and_then(|mut response| {
        let text = response.body_mut().with_config().limit(LONGEST_ANSWER).lossy_utf8(true).read_to_string()?;
        Ok((response, text))
    });
    match answer {
        Ok((response, text)) => answered(&response, &text, url),
        Err(error) => Attempt::failed(
            &error,
            &Purpose { what: "deploy", done: "sent", receiver: "a deploy endpoint" },
            url.reveal(),
        ),
    }
}

fn answered<B>(response: &Response<B>, text: &str, url: &SecretUrl) -> Attempt<Value> {
    if let Some(why) = needs_tls(url.reveal(), response, text) {
        return Attempt::Refused(why);
    }
    let said: Value = serde_json::from_str(text).unwrap_or_default();
    let status = response.status().as_u16();
    if status == 202 && said["result"].is_string() {
        return Attempt::Done(said);
    }
    let errors = said["errors"].as_array().into_iter().flatten();
    let details = errors.flat_map(|error| [&error["detail"], &error["hint"]]).filter_map(Value::as_str);
    let details = details.collect::<Vec<_>>().join("; ");
    if status == 404 && !details.is_empty() {
        return Attempt::Refused("there is no deploy endpoint at this URL, or no longer".to_owned());
    }
    Attempt::refused(response, details, "a deploy endpoint")
}
