//! `/livez` and `/readyz`, for monitoring.

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

/// The request header with which `rollcall doctor` asks how this service sees the client.
pub const DOCTOR: &str = "rollcall-doctor";

/// Liveness: any response means that the process runs. With the doctor's header, the response also says which client
/// address and host the service sees.
pub fn live(call: &Call) -> Reply {
    if !call.parts.headers.contains_key(DOCTOR) {
        return reply::text("ok\n");
    }
    let forwarded = match call.forwarded {
        Forwarded::Absent => "absent".to_owned(),
        Forwarded::Ignored => "ignored".to_owned(),
        Forwarded::Believed(addresses) => format!("believed {addresses}"),
    };
    let host = call.parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| call.parts.uri.authority().map(Authority::as_str)).unwrap_or_default();
    reply::text(format!("ok\nclient: {}\nforwarded: {forwarded}\nhost: {host}\n", call.client))
}

/// The timeout of the readiness check of the database.
const PATIENCE: Duration = Duration::from_millis(900);

/// The last readiness of the database, and when it was checked. One request at a time runs the check. Requests that
/// arrived before the check started share its result, so concurrent requests cost no more than one.
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
        let is_ready = match timeout(PATIENCE, db::check(&app.reserved)).await {
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

/// Readiness: the database is reachable and of this program's version, and the service is not stopping. The second line
/// says whether writes succeed. Failing writes do not make the service unready, because reads still work.
pub async fn ready(app: &App) -> Result<Reply, Rejection> {
    if app.is_draining() {
        return Err(Rejection::Unavailable("The service is stopping."));
    }
    if !app.readiness.ask(app).await {
        return Err(Rejection::Unavailable("The database is not ready."));
    }
    Ok(reply::text(match app.db.writes_fail() {
        None => "ok\nwrites: ok\n".to_owned(),
        Some(reason) => format!("ok\nwrites: failing. {reason}\n"),
    }))
}
