//! `/livez` and `/readyz`, for whoever watches the process.

use std::time::{Duration, Instant};

use hyper::header;
use hyper::http::uri::Authority;
use tokio::sync::Mutex;
use tokio::time::timeout;
use tracing::warn;

use crate::db;
use crate::http::client::Forwarded;
use crate::http::reply::{self, Rejection, Reply};
use crate::http::{App, Call};

/// The header by which `rollcall doctor` asks how this service sees it.
pub const DOCTOR: &str = "rollcall-doctor";

/// The process runs: that it answers says so. Who asks for it is told how it is seen: by which address, and which host it
/// asked for.
pub fn live(call: &Call) -> Reply {
    if !call.parts.headers.contains_key(DOCTOR) {
        return reply::words("ok\n");
    }
    let forwarded = match call.forwarded {
        Forwarded::Absent => "absent".to_owned(),
        Forwarded::Ignored => "ignored".to_owned(),
        Forwarded::Believed(addresses) => format!("believed {addresses}"),
    };
    let host = call.parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| call.parts.uri.authority().map(Authority::as_str)).unwrap_or_default();
    reply::words(format!("ok\nclient: {}\nforwarded: {forwarded}\nhost: {host}\n", call.client))
}

/// How long the database may take to say whether it is ready.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the database last said, and when it was asked. It is asked by one request at a time: those that came before it
/// was asked take the same answer, so that any number of them costs no more.
#[derive(Debug, Default)]
pub struct Readiness(Mutex<Option<(Instant, bool)>>);

impl Readiness {
    async fn ask(&self, app: &App) -> bool {
        let came = Instant::now();
        let mut last = self.0.lock().await;
        if let Some((asked, is_ready)) = *last
            && asked >= came
        {
            return is_ready;
        }
        let asked = Instant::now();
        let is_ready = match timeout(PATIENCE, db::check(&app.db)).await {
            Ok(Ok(())) => true,
            Ok(Err(error)) => {
                warn!(%error, "not ready");
                false
            }
            Err(_) => {
                warn!("not ready: the database does not answer");
                false
            }
        };
        *last = Some((asked, is_ready));
        is_ready
    }
}

/// Requests can be answered: the database is there and of this program's version, and the service is not about to
/// stop. A second line says whether writes succeed; where they do not, it is ready all the same, because it can be read.
pub async fn ready(app: &App) -> Result<Reply, Rejection> {
    if app.is_draining() {
        return Err(Rejection::Unavailable("The service is stopping."));
    }
    if !app.readiness.ask(app).await {
        return Err(Rejection::Unavailable("The database is not ready."));
    }
    Ok(reply::words(match app.db.writes_fail() {
        None => "ok\nwrites: ok\n".to_owned(),
        Some(reason) => format!("ok\nwrites: failing. {reason}\n"),
    }))
}
