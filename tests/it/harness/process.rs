//! The server in its own process: to be killed, to run out of disk, to be posted to.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::harness::deadline::{Deadline, LONGEST, end_of};

/// A running service, killed when dropped.
pub struct Process {
    /// Its address.
    pub address: SocketAddr,
    /// How long it took to start.
    pub started_in: Duration,
    child: Child,
    /// Its further output.
    said: Mutex<Receiver<String>>,
    client: Client<HttpConnector, Full<Bytes>>,
}

impl Process {
    /// Starts a command that serves, and waits until it prints its address.
    pub fn start(mut command: Command) -> Self {
        let begin = Instant::now();
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the program runs");
        let deadline = Deadline::of(&child);
        let mut lines = BufReader::new(child.stderr.take().expect("standard error")).lines();
        let mut said = String::new();
        let address = loop {
            match lines.next() {
                Some(line) => said += &line.expect("text"),
                None => panic!("the service did not start: {said}"),
            }
            // As text or as JSON.
            if let Some((_, after)) = said.split_once("listens on ").or(said.split_once(r#""address":""#)) {
                break after.split([' ', '"']).next().and_then(|address| address.parse().ok()).expect("an address");
            }
        };
        let started_in = begin.elapsed();
        drop(deadline);
        // Drain the rest, so that the pipe does not fill.
        let (say, said) = mpsc::channel();
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| drop(say.send(line))));
        let said = Mutex::new(said);
        Self { address, started_in, child, said, client: Client::builder(TokioExecutor::new()).build_http() }
    }

    /// The process's id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it like `kill -9`.
    pub fn kill(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Tells it to stop, waits until it has, and returns its output.
    pub fn stop(&mut self) -> Vec<String> {
        self.tell_to_stop();
        self.wait()
    }

    /// Tells it to stop.
    pub fn tell_to_stop(&self) {
        let id = i32::try_from(self.id()).ok().and_then(Pid::from_raw).expect("an id");
        kill_process(id, Signal::TERM).expect("a signal");
    }

    /// Waits until it has stopped, and returns its output.
    pub fn wait(&mut self) -> Vec<String> {
        let ended = end_of(&mut self.child);
        assert!(ended.success(), "{ended}");
        self.said.lock().expect("what it says").iter().collect()
    }

    /// Waits for a line of its output with this text.
    pub fn line(&self, text: &str) -> String {
        let said = self.said.lock().expect("what it says");
        loop {
            let line = said.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("no line: {text}"));
            if line.contains(text) {
                return line;
            }
        }
    }

    /// The address of its metrics, with `--metrics-listen`.
    pub fn metrics(&self) -> SocketAddr {
        let line = self.line("figures are shown");
        line.rsplit_once("address=").and_then(|(_, address)| address.trim().parse().ok()).expect("an address")
    }

    /// Gets a text.
    pub async fn get(&self, address: SocketAddr, path: &str) -> (u16, String) {
        let request = Request::get(format!("http://{address}{path}")).body(Full::default()).expect("a request");
        let answered = async {
            let (parts, body) = self.client.request(request).await.expect("an answer").into_parts();
            (parts.status.as_u16(), body.collect().await.expect("a body").to_bytes())
        };
        let (status, body) = timeout(LONGEST, answered).await.unwrap_or_else(|_| panic!("{path}: no answer"));
        (status, String::from_utf8(body.to_vec()).expect("text"))
    }

    /// Posts JSON. Returns `None` if the service went away.
    pub async fn post(&self, path: &str, token: Option<&str>, body: &Value) -> Option<(u16, Value)> {
        self.post_with_key(path, token, None, body).await
    }

    /// The same with an `Idempotency-Key`.
    pub async fn post_with_key(
        &self,
        path: &str,
        token: Option<&str>,
        key: Option<&str>,
        body: &Value,
    ) -> Option<(u16, Value)> {
        let mut request = Request::builder().method(Method::POST).uri(format!("http://{}{path}", self.address));
        request = request.header("content-type", "application/json");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let request = request.body(Full::new(Bytes::from(body.to_string()))).expect("a request");
        let answered = async {
            let (parts, body) = self.client.request(request).await.ok()?.into_parts();
            Some((parts.status.as_u16(), body.collect().await.ok()?.to_bytes()))
        };
        let (status, body) = timeout(LONGEST, answered).await.unwrap_or_else(|_| panic!("{path}: no answer"))?;
        Some((status, serde_json::from_slice(&body).ok()?))
    }

    /// All deploys with these fields, newest first.
    pub async fn deploys(&self, token: &str, fields: &str) -> Vec<Value> {
        let (mut deploys, mut after) = (Vec::new(), json!(null));
        loop {
            let query = format!(
                "query($after: String) {{ account {{ deploys(after: $after) {{
                    nodes {{ {fields} }} pageInfo {{ hasNextPage endCursor }}
                }} }} }}"
            );
            let body = json!({ "query": query, "variables": { "after": after } });
            let (_, mut answer) = self.post("/graphql", Some(token), &body).await.expect("an answer");
            let page = &mut answer["data"]["account"]["deploys"];
            let Value::Array(nodes) = page["nodes"].take() else { panic!("{answer}") };
            deploys.extend(nodes);
            if page["pageInfo"]["hasNextPage"] != true {
                return deploys;
            }
            after = page["pageInfo"]["endCursor"].take();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
