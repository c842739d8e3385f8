//! Asks a target: as fast as it answers, or at a fixed rate.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use fastrand::Rng;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::client::Connection;
use crate::lines::Line;
use crate::statistics::percentile;
use crate::target::Target;

/// One answer in so many is looked at thoroughly, and the first of each connection.
const THOROUGH: u64 = 64;
/// The longest that requests may take beyond their time.
const PATIENCE: Duration = Duration::from_secs(60);

/// The connections that ask a line.
pub struct Clients {
    target: Arc<Target>,
    line: Line,
    clients: Vec<Client>,
}

/// A connection with its own sequence of arguments.
struct Client {
    connection: Connection,
    random: Rng,
    sent: u64,
}

/// What was answered as fast as possible.
pub struct Closed {
    pub requests: u64,
    pub took: Duration,
}

/// What was answered at a fixed rate.
#[derive(Debug, Clone, Copy)]
pub struct Latency {
    /// Requests per second.
    pub rate: f64,
    /// Milliseconds from the moment at which a request was due.
    pub p50: f64,
    pub p99: f64,
    pub max: f64,
}

impl Clients {
    /// Connects. The same seed asks with the same arguments.
    pub async fn connect(target: &Arc<Target>, line: Line, seed: u64) -> Result<Self, String> {
        let mut clients = Vec::with_capacity(line.connections);
        for number in 0..line.connections as u64 {
            let connection = Connection::open(target.address).await?;
            clients.push(Client { connection, random: Rng::with_seed(seed * 1_000 + number), sent: 0 });
        }
        Ok(Self { target: Arc::clone(target), line, clients })
    }

    /// Opens all connections again. Some servers close those that were idle for five seconds.
    pub async fn connect_again(&mut self) -> Result<(), String> {
        for client in &mut self.clients {
            client.connection = Connection::open(self.target.address).await?;
        }
        Ok(())
    }

    /// Sends a single request and returns the body of its answer.
    pub async fn once(&mut self) -> Result<Bytes, String> {
        self.clients[0].ask(&self.target, self.line).await
    }

    /// Asks for this long, each connection as soon as it has its answer.
    pub async fn closed(&mut self, time: Duration) -> Result<Closed, String> {
        let begin = Instant::now();
        let mut tasks = JoinSet::new();
        for mut client in self.clients.drain(..) {
            let (target, line) = (Arc::clone(&self.target), self.line);
            tasks.spawn(async move {
                let before = client.sent;
                while begin.elapsed() < time {
                    client.ask(&target, line).await?;
                }
                let sent = client.sent - before;
                Ok((client, sent))
            });
        }
        let requests = self.gather(tasks, time).await?.into_iter().sum();
        Ok(Closed { requests, took: begin.elapsed() })
    }

    /// Asks at a fixed rate, whether or not earlier requests are answered. A request that waits for a free connection
    /// was due all the same: the time it waits is part of its latency.
    pub async fn open(&mut self, rate: f64, time: Duration) -> Result<Latency, String> {
        let due = Arc::new(Semaphore::new(0));
        let total = (rate * time.as_secs_f64()).ceil().max(1.0) as u64;
        let (next, begin) = (Arc::new(AtomicU64::new(0)), Instant::now() + Duration::from_millis(10));
        let mut tasks = JoinSet::new();
        for mut client in self.clients.drain(..) {
            let (target, line) = (Arc::clone(&self.target), self.line);
            let (due, next) = (Arc::clone(&due), Arc::clone(&next));
            tasks.spawn(async move {
                let mut latencies = Vec::new();
                loop {
                    due.acquire().await.map_err(|error| error.to_string())?.forget();
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= total {
                        return Ok((client, latencies));
                    }
                    client.ask(&target, line).await?;
                    latencies.push((begin + Duration::from_secs_f64(number as f64 / rate)).elapsed());
                }
            });
        }
        let connections = self.line.connections;
        // In a thread of its own: the timer of tokio has a resolution of a millisecond.
        std::thread::spawn(move || pace(&due, begin, rate, total, connections));
        let mut latencies: Vec<Duration> = self.gather(tasks, time).await?.into_iter().flatten().collect();
        latencies.sort_unstable();
        let milliseconds = |share| percentile(&latencies, share).as_secs_f64() * 1e3;
        Ok(Latency { rate, p50: milliseconds(0.5), p99: milliseconds(0.99), max: milliseconds(1.0) })
    }

    /// Waits for all connections, and keeps them.
    async fn gather<T: Send + 'static>(
        &mut self,
        mut tasks: JoinSet<Result<(Client, T), String>>,
        time: Duration,
    ) -> Result<Vec<T>, String> {
        let mut results = Vec::new();
        let all = async {
            while let Some(done) = tasks.join_next().await {
                let (client, result) = done.map_err(|error| error.to_string())??;
                self.clients.push(client);
                results.push(result);
            }
            Ok::<(), String>(())
        };
        let waited = tokio::time::timeout(time + PATIENCE, all).await;
        waited.map_err(|_| format!("{}: requests are not answered", self.line.name))??;
        Ok(results)
    }
}

impl Client {
    async fn ask(&mut self, target: &Target, line: Line) -> Result<Bytes, String> {
        let (request, check) = line.call(target, &mut self.random).split();
        let answer = self.connection.send(request).await.map_err(|why| format!("{}: {why}", line.name))?;
        let is_thorough = self.sent.is_multiple_of(THOROUGH);
        self.sent += 1;
        check.look(&answer, is_thorough, target.is_peer).map_err(|why| format!("{}: {why}", line.name))?;
        Ok(answer.body)
    }
}

/// Adds a permit when a request is due, and one for each connection at the end.
fn pace(due: &Semaphore, begin: Instant, rate: f64, total: u64, connections: usize) {
    let mut issued = 0;
    while issued < total {
        let next = begin + Duration::from_secs_f64(issued as f64 / rate);
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
        let now = begin.elapsed().as_secs_f64() * rate;
        let until = total.min(now as u64 + 1).max(issued + 1);
        due.add_permits((until - issued) as usize);
        issued = until;
    }
    due.add_permits(connections);
}
