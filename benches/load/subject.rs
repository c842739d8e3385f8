//! What is measured: a running server and the processes that work for it.

use std::sync::Arc;
use std::time::Instant;

use crate::client::Connection;
use crate::data::Place;
use crate::lines::{LINES, Line, OPERATIONS};
use crate::peers::Peer;
use crate::processes::{self, Memory};
use crate::server::{Program, Server, one_by_one};
use crate::statistics::Quartiles;
use crate::target::{Target, header};

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
    running: Running,
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
            running: Running::Server { _server: server },
        })
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

    fn target(&self, address: std::net::SocketAddr, services: u64) -> Result<Target, String> {
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
