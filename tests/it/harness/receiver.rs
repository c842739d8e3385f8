//! A receiver of events, and the subscriptions and changes that send it some.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::ops::Deref;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::inbox::Inbox;

/// A message as received.
#[derive(Debug, Clone)]
pub struct Got {
    pub headers: BTreeMap<String, String>,
    pub text: String,
}

impl Got {
    /// The body as JSON.
    pub fn body(&self) -> Value {
        serde_json::from_str(&self.text).expect("JSON")
    }

    /// The id of the event.
    pub fn id(&self) -> &str {
        &self.headers["webhook-id"]
    }

    /// The type of the message, and the name of its subject.
    pub fn about(&self) -> (String, String) {
        let body = self.body();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&body["type"]), text(&body["data"]["subject"]["name"]))
    }
}

/// A response: the status line and the headers, the length of the body, and a pause before it.
#[derive(Debug, Clone)]
pub struct Reply(pub &'static str, pub usize, pub Duration);

pub const TAKEN: Reply = Reply("204 No Content", 0, Duration::ZERO);

/// A receiver on its own port.
pub struct Receiver(Inbox<Got>);

impl Receiver {
    /// A receiver that takes everything.
    pub fn taking() -> Self {
        Self::that(|_| TAKEN)
    }

    /// A receiver that answers as `reply` says.
    pub fn that(reply: impl Fn(&Got) -> Reply + Send + Sync + 'static) -> Self {
        Self(Inbox::listen(move |connection, kept| {
            let mut reader = BufReader::new(connection.try_clone().expect("a connection"));
            while let Some(message) = read(&mut reader) {
                let Reply(status, length, pause) = reply(&message);
                kept.lock().expect("whole").push(message);
                thread::sleep(pause);
                if answer(connection, status, length).is_err() {
                    return;
                }
            }
        }))
    }

    /// Where it is posted to.
    pub fn url(&self) -> String {
        format!("http://{}/hook/secret", self.address)
    }

    /// Its host, for `--send-events-to`.
    pub fn host(&self) -> String {
        self.address.to_string()
    }
}

impl Deref for Receiver {
    type Target = Inbox<Got>;

    fn deref(&self) -> &Inbox<Got> {
        &self.0
    }
}

/// Gives all messages of a connection to `keep`, and takes each.
pub fn serve(connection: &TcpStream, keep: impl Fn(&Got)) {
    let Ok(own) = connection.try_clone() else { return };
    let mut reader = BufReader::new(own);
    while let Some(message) = read(&mut reader) {
        keep(&message);
        let Reply(status, length, _) = TAKEN;
        if answer(connection, status, length).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Got> {
    let (mut headers, mut line) = (BTreeMap::new(), String::new());
    reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length: usize = headers.get("content-length")?.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Got { headers, text: String::from_utf8(body).ok()? })
}

fn answer(mut connection: &TcpStream, status: &str, length: usize) -> std::io::Result<()> {
    // One write: a second one would wait for 40 ms until the first is acknowledged.
    connection.write_all(format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n").as_bytes())?;
    let part = [b'x'; 8192];
    let mut left = length;
    while left > 0 {
        let some = left.min(part.len());
        connection.write_all(&part[..some])?;
        left -= some;
    }
    Ok(())
}

/// Creates a subscription.
pub const CREATE: &str = "mutation($input: EventSubscriptionCreateInput!) { eventSubscriptionCreate(input: $input) {
    secret eventSubscription { id } errors { message path }
} }";

/// The input of a subscription.
pub fn input(url: &str, more: Value) -> Value {
    let mut input = json!({ "name": "All", "receiverUrl": url, "events": ["object_changed"] });
    for (name, value) in more.as_object().expect("fields") {
        input[name] = value.clone();
    }
    input
}

/// Subscribes. Returns the id and the secret.
pub async fn subscribed(app: &TestApp, url: &str, more: Value) -> (String, String) {
    let made = app.query(CREATE, json!({ "input": input(url, more) })).await["data"]["eventSubscriptionCreate"].clone();
    assert_eq!(made["errors"], json!([]), "{made}");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    (text(&made["eventSubscription"]["id"]), text(&made["secret"]))
}

/// Sends the same as [`data`], which must work.
pub async fn changed(app: &TestApp, mutation: &str) {
    let done = data(app, &format!("mutation {{ done: {mutation} {{ errors {{ message }} }} }}")).await;
    assert_eq!(done["done"]["errors"], json!([]), "{mutation}");
}
