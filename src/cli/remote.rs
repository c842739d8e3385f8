//! A server that a command asks: where it is, the token for it, and what its responses mean.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use ureq::Agent;
use ureq::http::Response;

use super::console::say;
use super::contexts::Contexts;
use crate::config::{Remote, Secret};
use crate::outgoing::{self, Attempt, Purpose, needs_tls, retry};

/// The longest response that is read, in bytes: twice the longest that a server gives.
const LONGEST_ANSWER: u64 = 16 << 20;

/// The status of a request whose body is larger than the server, or a proxy before it, takes.
pub(super) const TOO_LARGE: u16 = 413;

/// A server, and how long a request may take with its repetitions.
pub(super) struct Server {
    url: String,
    token: Secret,
    agent: Agent,
    deadline: Duration,
}

impl Server {
    /// The server that the arguments name, or else that of the context. Returns `None` if there is neither.
    ///
    /// # Errors
    /// There is no such context, or no token for the server, in one sentence.
    pub(super) fn resolve(remote: &Remote, deadline: Duration) -> Result<Option<Self>, String> {
        let given = remote.token()?;
        let contexts = Contexts::read()?;
        // A server with its token needs no context, and whatever the file says of it is of no interest.
        let context = match (&remote.server, &given, &remote.context) {
            (Some(_), Some(_), None) => None,
            (_, _, name) => contexts.named(name.as_deref())?,
        };
        let Some(url) = remote.server.clone().or_else(|| context.map(|context| context.server.clone())) else {
            return Ok(None);
        };
        let kept = context.filter(|context| context.server == url).map(|context| Secret::from(&*context.token));
        let token = given.or(kept).ok_or_else(|| {
            format!("there is no token for {url}: run rollcall login, or set ROLLCALL_TOKEN or --token-file")
        })?;
        Ok(Some(Self { url, token, agent: outgoing::agent(), deadline }))
    }

    /// A server with a token for it.
    pub(super) fn new(url: String, token: Secret, deadline: Duration) -> Self {
        Self { url, token, agent: outgoing::agent(), deadline }
    }

    /// Runs a document and returns its data. Blocks.
    ///
    /// # Errors
    /// Why there is no data, or what its errors say, in a sentence or a few.
    pub(super) fn ask(&self, document: &str, variables: &Json) -> Result<Json, String> {
        Self::data(&mut self.answer(document, variables)?)
    }

    /// Takes the data out of a response.
    ///
    /// # Errors
    /// What its errors say.
    pub(super) fn data(said: &mut Json) -> Result<Json, String> {
        let errors: Vec<String> = messages(said).collect();
        if errors.is_empty() { Ok(said["data"].take()) } else { Err(errors.join("; ")) }
    }

    /// Runs a document and returns the whole response, with its errors. Blocks.
    ///
    /// # Errors
    /// Why there is no response, in a sentence or a few.
    pub(super) fn answer(&self, document: &str, variables: &Json) -> Result<Json, String> {
        let body = json!({ "query": document, "variables": variables }).to_string();
        self.post(&body, self.deadline, |_, said| said.is_object().then(|| said.take()))
    }

    /// Posts a body to the API. `read` takes the result out of a response, given its status, or returns `None` if the
    /// response has none. An attempt takes at most `most`. Blocks.
    ///
    /// # Errors
    /// Why there is no result, in a sentence or a few.
    pub(super) fn post<T>(
        &self,
        body: &str,
        most: Duration,
        read: impl Fn(u16, &mut Json) -> Option<T>,
    ) -> Result<T, String> {
        let started = Instant::now();
        let left = || self.deadline.saturating_sub(started.elapsed());
        retry(left, say, || self.attempt(body, left().min(most), &read))
    }

    /// Posts a message to a path of the server, once, and returns the response's text. Blocks.
    ///
    /// # Errors
    /// Why there is no response, or what a response other than 2xx says.
    pub(super) fn pass_on(&self, path: &str, headers: &[(&str, &str)], message: &str) -> Result<String, String> {
        let request = self.agent.post(format!("{}{path}", self.url));
        let mut request = request.config().timeout_global(Some(self.deadline)).build();
        request = request.header("content-type", "application/json");
        request = request.header("authorization", format!("Bearer {}", self.token.reveal()));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = request.send(message).map_err(|error| format!("{}: {error}", self.url))?;
        let body = response.body_mut().with_config().limit(LONGEST_ANSWER).lossy_utf8(true).read_to_string();
        let text = body.map_err(|error| format!("{}: {error}", self.url))?;
        match response.status().as_u16() {
            200..=299 => Ok(text),
            status => Err(format!("{} answered {status}: {}", self.url, text.trim())),
        }
    }

    fn attempt<T>(&self, body: &str, within: Duration, read: impl Fn(u16, &mut Json) -> Option<T>) -> Attempt<T> {
        let request = self.agent.post(format!("{}/graphql", self.url));
        let request = request.config().timeout_global(Some(within)).build();
        let request = request.header("content-type", "application/json").header("accept", "application/json");
        let sent = request.header("authorization", format!("Bearer {}", self.token.reveal())).send(body);
        let answer = sent.and_then(|mut response| {
            let text = response.body_mut().with_config().limit(LONGEST_ANSWER).lossy_utf8(true).read_to_string()?;
            Ok((response, text))
        });
        match answer {
            Ok((response, text)) => answered(&self.url, &response, &text, read),
            Err(error) => {
                let purpose = Purpose { what: "request", done: "sent", receiver: "a rollcall server" };
                Attempt::failed(&error, &purpose, &self.url)
            }
        }
    }
}

/// The messages of a response's errors.
fn messages(said: &Json) -> impl Iterator<Item = String> {
    let errors = said["errors"].as_array().into_iter().flatten();
    errors.filter_map(|error| error["message"].as_str().or(error["detail"].as_str()).map(str::to_owned))
}

/// Returns the outcome of a response. `server` is the server's URL without `/graphql`.
pub(super) fn answered<B, T>(
    server: &str,
    response: &Response<B>,
    text: &str,
    read: impl Fn(u16, &mut Json) -> Option<T>,
) -> Attempt<T> {
    if let Some(why) = needs_tls(server, response, text) {
        return Attempt::Refused(why);
    }
    let mut said: Json = serde_json::from_str(text).unwrap_or_default();
    let status = response.status().as_u16();
    let is_answered = [200, TOO_LARGE].contains(&status) || said["data"].is_object();
    if is_answered && let Some(result) = read(status, &mut said) {
        return Attempt::Done(result);
    }
    let (host, path) = outgoing::split_url(server);
    if status == 404 && !path.is_empty() {
        return Attempt::Refused(format!(
            "there is no API at {host}{path}/graphql; give the address of the server, without {path}"
        ));
    }
    Attempt::refused(response, messages(&said).collect::<Vec<_>>().join("; "), "a rollcall server")
}
