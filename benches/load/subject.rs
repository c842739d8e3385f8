//! What is measured: a running server and the processes that work for it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::Connection;
use crate::data::Place;
use crate::events::SUBSCRIPTIONS;
use crate::lines::{LINES, Line, OPERATIONS};
use crate::peers::Peer;
use crate::processes::{self, Memory};
use crate::server::{Program, Server, one_by_one};
use crate::statistics::Quartiles;
use crate::target::{Target, header};

/// Subscribes to events.
const SUBSCRIBE: &str =
    "mutation($i:EventSubscriptionCreateInput!){eventSubscriptionCreate(input:$i){errors{message path}}}";
/// How often it is asked whether events wait: less often than the server looks for new ones.
const LOOK: Duration = Duration::from_millis(600);
/// The longest that sending the events of a line may take.
const SETTLING: Duration = Duration::from_secs(600);

/// What a subject is to the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The program that is measured. It must answer every line.
    Ours,
    /// Another rollcall. Lines that it cannot answer are left out.
    Against,
    /// Our server with a commit, and a flush, for each deploy and each mutation.
    OneByOne,
    /// Another program.
    Peer,
}

/// A running server.
pub struct Subject {
    pub name: String,
    pub role: Role,
    pub target: Arc<Target>,
    /// Its process.
    pub process: u32,
    /// The first process of the database that it asks, if that is not in its own.
    pub database: Option<u32>,
    /// Milliseconds from its start to its first answer.
    pub start: Option<Quartiles>,
    /// Lines that it has refused.
    pub refused: Vec<&'static str>,
    /// Whether events of its changes are sent, which goes on after the changes.
    is_subscribed: bool,
    running: Running,
}

/// The deliveries of all subscriptions.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    /// Those that are not sent yet.
    pub waiting: u64,
    /// Those that were not kept.
    pub missed: u64,
}

/// Ends the server when dropped.
enum Running {
    Server { _server: Server },
    Peer(Peer),
}

impl Subject {
    /// Serves a copy of the database `template` with a program, which has started so often before.
    pub async fn rollcall(
        place: &Place,
        (program, role): (&Program, Role),
        (template, name): (&str, &str),
        (services, starts): (u64, u32),
    ) -> Result<Self, String> {
        let url = place.copy(template, name).await?;
        let log = place.folder().join(format!("{name}.log"));
        let access = Access::create(program, &url)?;
        let mut took = Vec::new();
        for _ in 0..starts {
            let begin = Instant::now();
            let server = program.serve(&url, &log)?;
            first_answer(&access.target(server.address, services)?).await?;
            took.push(begin.elapsed().as_secs_f64() * 1e3);
            server.stop()?;
        }
        let server = program.serve(&url, &log)?;
        let mut target = access.target(server.address, services)?;
        target.sign_in(&access.link).await?;
        target.read_cursors().await?;
        Ok(Self {
            name: program.name.clone(),
            role,
            target: Arc::new(target),
            process: server.id(),
            database: place.process(),
            start: Quartiles::of(took),
            refused: Vec::new(),
            is_subscribed: false,
            running: Running::Server { _server: server },
        })
    }

    /// Serves a copy of the database with a commit, and a flush of the disk, for each deploy and each mutation.
    pub async fn one_by_one(
        place: &Place,
        program: &Program,
        (template, name): (&str, &str),
        services: u64,
    ) -> Result<Self, String> {
        let url = place.copy(template, name).await?;
        let access = Access::create(program, &url)?;
        let server = Server::start(one_by_one(&url)?, &place.folder().join(format!("{name}.log")))?;
        Ok(Self {
            name: "one commit each".to_owned(),
            role: Role::OneByOne,
            target: Arc::new(access.target(server.address, services)?),
            process: server.id(),
            database: place.process(),
            start: None,
            refused: Vec::new(),
            is_subscribed: false,
            running: Running::Server { _server: server },
        })
    }

    /// Serves a copy of the database with subscriptions to all that changes, whose messages go to a receiver on this
    /// machine.
    pub async fn subscribed(
        place: &Place,
        program: &Program,
        (template, name): (&str, &str),
        services: u64,
        receiver: SocketAddr,
    ) -> Result<Self, String> {
        let url = place.copy(template, name).await?;
        let access = Access::create(program, &url)?;
        let log = place.folder().join(format!("{name}.log"));
        let server = program.serve_with(&url, &log, &["--send-events-to", &receiver.to_string()])?;
        let target = access.target(server.address, services)?;
        let mut connection = Connection::open(target.address).await?;
        for number in 1..=SUBSCRIPTIONS {
            let input = json!({
                "name": format!("Load {number}"), "receiverUrl": format!("http://{receiver}/events"),
                "events": ["object_changed", "deploy_recorded"],
            });
            let answer =
                connection.send(target.query(&json!(SUBSCRIBE).to_string(), &json!({ "i": input }).to_string()));
            let answer = answer.await?;
            if !answer.text()?.contains("\"errors\":[]") {
                return Err(format!("no subscription: {}", answer.shortened()));
            }
        }
        Ok(Self {
            name: format!("{SUBSCRIPTIONS} subscriptions"),
            role: Role::Ours,
            target: Arc::new(target),
            process: server.id(),
            database: place.process(),
            start: None,
            refused: Vec::new(),
            is_subscribed: true,
            running: Running::Server { _server: server },
        })
    }

    /// Waits until all that follows from the changes is done: until all events are sent. Returns whether there was
    /// something to wait for.
    pub async fn settle(&self) -> Result<bool, String> {
        if !self.is_subscribed {
            return Ok(false);
        }
        let (begin, mut quiet) = (Instant::now(), 0);
        // An event that was just stored does not wait for a receiver yet.
        while quiet < 2 {
            if begin.elapsed() > SETTLING {
                return Err(format!("events still wait after {SETTLING:?}"));
            }
            tokio::time::sleep(LOOK).await;
            quiet = if self.waiting().await?.waiting == 0 { quiet + 1 } else { 0 };
        }
        Ok(true)
    }

    /// What waits for all receivers of its events.
    pub async fn waiting(&self) -> Result<Waiting, String> {
        const QUERY: &str = "{account{eventSubscriptions{nodes{receiver{waitingCount missedCount}}}}}";
        let mut connection = Connection::open(self.target.address).await?;
        let answer = connection.send(self.target.query(&json!(QUERY).to_string(), "null")).await?;
        let json: Value = serde_json::from_slice(&answer.body).map_err(|_| answer.shortened())?;
        let nodes = json["data"]["account"]["eventSubscriptions"]["nodes"].as_array();
        let nodes = nodes.ok_or_else(|| answer.shortened())?;
        let sum = |field: &str| nodes.iter().filter_map(|node| node["receiver"][field].as_u64()).sum();
        Ok(Waiting { waiting: sum("waitingCount"), missed: sum("missedCount") })
    }

    pub fn peer(peer: Peer) -> Self {
        Self {
            name: peer.name.clone(),
            role: Role::Peer,
            target: Arc::clone(&peer.target),
            process: peer.process,
            database: peer.postgres,
            start: None,
            refused: Vec::new(),
            is_subscribed: false,
            running: Running::Peer(peer),
        }
    }

    /// Whether it is asked a line.
    pub fn answers(&self, line: &Line) -> bool {
        !self.refused.contains(&line.name)
            && match (&self.running, self.role) {
                (Running::Peer(peer), _) => peer.answers(line),
                (_, Role::OneByOne) => line.is_group_committed(),
                _ => true,
            }
    }

    /// Its resident memory.
    pub fn memory(&self) -> Option<Memory> {
        processes::memory(self.process)
    }
}

/// What an operator creates for the clients of a catalogue.
struct Access {
    token: String,
    webhook: String,
    link: String,
}

impl Access {
    fn create(program: &Program, url: &str) -> Result<Self, String> {
        let path = |words: &[&str], begin: &str| {
            let said = program.run(url, words)?;
            let at = said.find(begin).ok_or_else(|| format!("{words:?} says no address: {said}"))?;
            Ok::<_, String>(said[at..].split_whitespace().next().unwrap_or_default().to_owned())
        };
        Ok(Self {
            token: path(&["token", "create", "--description", "load"], "rc_")?,
            webhook: path(&["deploy-endpoint", "create", "--name", "load"], "/integrations/deploy/")?,
            link: path(&["sign-in-link", "--email", "load@example.com"], "/sign-in/")?,
        })
    }

    fn target(&self, address: SocketAddr, services: u64) -> Result<Target, String> {
        let mut target = Target::new(address, services, OPERATIONS)?;
        target.authorization = Some(header(&format!("Bearer {}", self.token))?);
        target.webhook.clone_from(&self.webhook);
        Ok(target)
    }
}

/// Asks for one service.
async fn first_answer(target: &Target) -> Result<(), String> {
    let (request, check) = LINES[0].call(target, &mut fastrand::Rng::with_seed(1)).split();
    let answer = Connection::open(target.address).await?.send(request).await?;
    check.look(&answer, true, false)
}
