//! The metrics of `/metrics`: counters since the process began, and its current state.
//!
//! Recording costs well under a microsecond per request; the OpenMetrics text is written on request. Labels never hold
//! values that a caller chooses, except for a limited number of operation names.

use std::collections::HashSet;
use std::fs;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::{Method, Request, StatusCode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use super::activity::Closed;
use super::limits::Key;
use super::reply::{self, Reply};
use super::serve::{Admitted, Answers, Peer};
use super::standing::Standing;
use super::upload::Upload;
use super::{App, router};
use crate::api_document::pull::Pulled;
use crate::budget::Used;
use crate::db::Db;
use crate::deploy::Outcome;
use crate::spans;

/// The path of the metrics.
pub const PATH: &str = "/metrics";

/// The maximum number of operation names that get their own label. All others are counted under [`OTHER`].
pub const NAMES: usize = 100;

/// The maximum length of a name that gets its own label, in bytes.
const NAME_LENGTH: usize = 64;

/// The label of all other names.
const OTHER: &str = "other";

/// The histogram buckets of durations, in seconds.
const BOUNDS: [f64; 14] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// The histogram buckets of object counts.
const OBJECTS: [f64; 6] = [1.0, 10.0, 100.0, 1_000.0, 10_000.0, 100_000.0];

type Histograms<L> = Family<L, Histogram, fn() -> Histogram>;
type Counters<L> = Family<L, Counter>;

/// The metrics of a process.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Histograms<RequestLabels>,
    operations: Histograms<OperationLabels>,
    objects: Histogram,
    processor: Histogram,
    names: RwLock<HashSet<String>>,
    deploys: Counters<DeployLabels>,
    documents: Counters<DocumentLabels>,
    limited: Counters<LimitLabels>,
    unauthenticated: Counter,
    connections: Gauge,
    refused_connections: Counter,
    closed: Counters<ClosedLabels>,
    database: Family<DatabaseLabels, Gauge>,
    database_most: Family<PoolLabels, Gauge>,
    writable: Gauge,
    replica: Gauge,
    replica_lag: Gauge<f64, AtomicU64>,
    resident: Gauge,
    files: Gauge,
    standing: Standing,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: &'static str,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabels {
    r#type: &'static str,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DeployLabels {
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DocumentLabels {
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LimitLabels {
    limit: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ClosedLabels {
    reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DatabaseLabels {
    pool: &'static str,
    state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PoolLabels {
    pool: &'static str,
}

/// The result of a post to a deploy endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deploy<'a> {
    /// It was accepted.
    Taken(&'a Outcome),
    /// The request is invalid.
    Refused,
    /// The server failed.
    Failed,
}

impl Default for Metrics {
    fn default() -> Self {
        let durations = || Histogram::new(BOUNDS);
        let metrics = Self {
            registry: Registry::default(),
            requests: Family::new_with_constructor(durations),
            operations: Family::new_with_constructor(durations),
            objects: Histogram::new(OBJECTS),
            processor: Histogram::new(BOUNDS),
            names: RwLock::default(),
            deploys: Family::default(),
            documents: Family::default(),
            limited: Family::default(),
            unauthenticated: Counter::default(),
            connections: Gauge::default(),
            refused_connections: Counter::default(),
            closed: Family::default(),
            database: Family::default(),
            database_most: Family::default(),
            writable: Gauge::default(),
            replica: Gauge::default(),
            replica_lag: Gauge::default(),
            resident: Gauge::default(),
            files: Gauge::default(),
            standing: Standing::default(),
        };
        metrics.registered()
    }
}

impl Metrics {
    fn registered(mut self) -> Self {
        let to = &mut self.registry;
        let (seconds, bytes) = (|| Unit::Seconds, || Unit::Bytes);
        let help = "Duration of requests, from the request head to the response";
        to.register_with_unit("rollcall_http_request_duration", help, seconds(), self.requests.clone());
        let help = "Duration of executed GraphQL operations";
        to.register_with_unit("rollcall_graphql_operation_duration", help, seconds(), self.operations.clone());
        let help = "Objects in the responses of GraphQL operations";
        to.register("rollcall_graphql_operation_objects", help, self.objects.clone());
        let help = "Processor time of GraphQL operations";
        to.register_with_unit("rollcall_graphql_operation_processor", help, seconds(), self.processor.clone());
        let help = "Posts to existing deploy endpoints, by result";
        to.register("rollcall_deploys", help, self.deploys.clone());
        let help = "Pulls of API documents, by result";
        to.register("rollcall_document_pulls", help, self.documents.clone());
        let help = "Requests refused by a rate limit";
        to.register("rollcall_limited_requests", help, self.limited.clone());
        let help = "Requests refused for lack of a valid token";
        to.register("rollcall_unauthenticated_requests", help, self.unauthenticated.clone());
        to.register("rollcall_open_connections", "Open client connections", self.connections.clone());
        let help = "Connections closed because their address had too many";
        to.register("rollcall_refused_connections", help, self.refused_connections.clone());
        let help = "Connections, and streams of HTTP/2, closed before their client had finished";
        to.register("rollcall_closed_connections", help, self.closed.clone());
        let help = "Connections to the database";
        to.register("rollcall_database_connections", help, self.database.clone());
        let help = "The maximum number of connections to the database";
        to.register("rollcall_database_connections_max", help, self.database_most.clone());
        let help =
            "Whether the last write to the database succeeded: 1, or 0 while its disk is full or cannot be written";
        to.register("rollcall_database_writable", help, self.writable.clone());
        to.register("rollcall_spans", "Spans for the collector, by result", spans::figures());
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        to.register("rollcall_build", "The running version", version);
        let started: Gauge<f64, AtomicU64> = Gauge::default();
        started.set(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64());
        to.register_with_unit("process_start_time", "When the process began, since 1970", seconds(), started);
        to.register_with_unit("process_resident_memory", "Memory in use", bytes(), self.resident.clone());
        to.register("process_open_fds", "Open files and sockets", self.files.clone());
        self.standing.register(to);
        // A counter must exist at 0, or its first increment is invisible.
        for result in ["ok", "no_service_found", "duplicate_deploy", "refused", "failed"] {
            self.deploys.get_or_create(&DeployLabels { result }).inc_by(0);
        }
        for result in Pulled::ALL {
            self.documents.get_or_create(&DocumentLabels { result: result.name() }).inc_by(0);
        }
        for why in Closed::ALL {
            self.closed.get_or_create(&ClosedLabels { reason: why.name() }).inc_by(0);
        }
        for limit in ["token", "session", "feed", "address"] {
            self.limited.get_or_create(&LimitLabels { limit }).inc_by(0);
        }
        self
    }

    /// The metrics of a process that reads at a replica.
    pub fn with_replica(mut self) -> Self {
        let help = "Whether queries read at the replica: 1, or 0 while it is away or behind";
        self.registry.register("rollcall_replica_usable", help, self.replica.clone());
        let help = "How old what the replica shows may be, at most; NaN while no query reads there";
        let lag = self.replica_lag.clone();
        self.registry.register_with_unit("rollcall_replica_lag", help, Unit::Seconds, lag);
        self
    }

    /// Records a request and its response.
    pub fn request(&self, route: router::Route, status: StatusCode, took: Duration) {
        let labels = RequestLabels { route: route.name(), status: status.as_u16() };
        self.requests.get_or_create(&labels).observe(took.as_secs_f64());
    }

    /// Records an executed operation.
    pub fn operation(&self, is_mutation: bool, name: Option<&str>, took: Duration, used: &Used) {
        self.objects.observe(used.objects as f64);
        self.processor.observe(used.processor.as_secs_f64());
        let name = name.unwrap_or_default();
        let name = if self.tells_apart(name) { name } else { OTHER };
        let r#type = if is_mutation { "mutation" } else { "query" };
        let labels = OperationLabels { r#type, name: name.to_owned() };
        self.operations.get_or_create(&labels).observe(took.as_secs_f64());
    }

    /// Whether a name gets its own label. The first [`NAMES`] names do.
    fn tells_apart(&self, name: &str) -> bool {
        if name.is_empty() || name.len() > NAME_LENGTH {
            return name.is_empty();
        }
        let names = self.names.read().unwrap_or_else(PoisonError::into_inner);
        if names.contains(name) || names.len() >= NAMES {
            return names.contains(name);
        }
        drop(names);
        let mut names = self.names.write().unwrap_or_else(PoisonError::into_inner);
        names.contains(name) || names.len() < NAMES && names.insert(name.to_owned())
    }

    /// Records a post to a deploy endpoint.
    pub fn deploy(&self, deploy: Deploy<'_>) {
        let result = match deploy {
            Deploy::Taken(outcome) => outcome.result(),
            Deploy::Refused => "refused",
            Deploy::Failed => "failed",
        };
        self.deploys.get_or_create(&DeployLabels { result }).inc();
    }

    /// Records the result of pulling an API document.
    pub fn document(&self, pulled: Pulled) {
        self.documents.get_or_create(&DocumentLabels { result: pulled.name() }).inc();
    }

    /// Counts a connection that was closed because its address had too many.
    pub fn refused_connection(&self) {
        self.refused_connections.inc();
    }

    /// Counts a connection, or a stream of one, that was closed before its client had finished.
    pub fn closed(&self, why: Closed) {
        self.closed.get_or_create(&ClosedLabels { reason: why.name() }).inc();
    }

    /// Records a request refused by a rate limit.
    pub fn limited(&self, key: Key) {
        let limit = match key {
            Key::Token(_) => "token",
            Key::Session(_) => "session",
            Key::Feed(_) => "feed",
            Key::Address(_) => "address",
        };
        self.limited.get_or_create(&LimitLabels { limit }).inc();
    }

    /// Records a request without a valid token.
    pub fn unauthenticated(&self) {
        self.unauthenticated.inc();
    }

    /// Sets the number of open connections.
    pub fn connections(&self, open: usize) {
        self.connections.set(open.try_into().unwrap_or(i64::MAX));
    }

    /// Writes all metrics as OpenMetrics text.
    fn text(&self, db: &Db) -> String {
        for pool in db.pools() {
            for (state, connections) in [("in_use", pool.in_use), ("idle", pool.idle)] {
                let labels = DatabaseLabels { pool: pool.name, state };
                self.database.get_or_create(&labels).set(connections.into());
            }
            self.database_most.get_or_create(&PoolLabels { pool: pool.name }).set(pool.most.into());
        }
        self.writable.set(db.writes_fail().is_none().into());
        let lag = db.replica_lag();
        self.replica.set(lag.is_some().into());
        self.replica_lag.set(lag.map_or(f64::NAN, |lag| lag.as_secs_f64()));
        // Stays 0 where `/proc` does not exist.
        self.resident.set(resident_bytes().unwrap_or_default());
        self.files.set(fs::read_dir("/proc/self/fd").map_or(0, |files| files.count().try_into().unwrap_or(i64::MAX)));
        let mut text = String::new();
        // Writing to memory cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// The resident memory of this process, in bytes.
fn resident_bytes() -> Option<i64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: i64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// Serves the metrics listener, which has no other resource.
pub(super) struct Page(pub Arc<App>);

impl Answers for Page {
    async fn answer(&self, request: Request<Upload>, _: Peer, _: Admitted) -> Reply {
        match (request.uri().path(), request.method()) {
            (PATH, &Method::GET) => {
                let (app, settings) = (&self.0, self.0.catalogue.settings());
                app.metrics.standing.refresh(&app.db, settings.budget, &settings.production).await;
                reply::metrics(app.metrics.text(&app.db), request.headers())
            }
            (PATH, _) => reply::bare(StatusCode::METHOD_NOT_ALLOWED, Some("GET")),
            _ => reply::bare(StatusCode::NOT_FOUND, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_the_first_are_one() {
        let metrics = Metrics::default();
        for number in 0..NAMES + 50 {
            metrics.operation(false, Some(&format!("Name{number}")), Duration::from_millis(1), &Used::default());
        }
        metrics.operation(true, Some("Name0"), Duration::ZERO, &Used::default());
        metrics.operation(true, None, Duration::ZERO, &Used::default());
        metrics.operation(true, Some(&"x".repeat(NAME_LENGTH + 1)), Duration::ZERO, &Used::default());
        let mut text = String::new();
        encode(&mut text, &metrics.registry).expect("text");
        let count = |labels: &str| {
            let line = format!("rollcall_graphql_operation_duration_seconds_count{{{labels}}} ");
            text.lines().find_map(|of| of.strip_prefix(&line)).map(str::to_owned)
        };
        assert_eq!(count(r#"type="query",name="Name0""#).as_deref(), Some("1"));
        assert_eq!(count(r#"type="query",name="Name99""#).as_deref(), Some("1"));
        assert_eq!(count(r#"type="query",name="Name100""#), None);
        assert_eq!(count(r#"type="query",name="other""#).as_deref(), Some("50"));
        assert_eq!(count(r#"type="mutation",name="Name0""#).as_deref(), Some("1"));
        assert_eq!(count(r#"type="mutation",name="""#).as_deref(), Some("1"));
        assert_eq!(count(r#"type="mutation",name="other""#).as_deref(), Some("1"));
        let lines = text.lines().filter(|line| line.starts_with("rollcall_graphql_operation_duration_seconds_count"));
        assert_eq!(lines.count(), NAMES + 4);
    }
}
