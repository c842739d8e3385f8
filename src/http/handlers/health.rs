//! `/livez` and `/readyz`, for whoever watches the process.

use tracing::warn;

use crate::db;
use crate::http::App;
use crate::http::reply::{self, Rejection, Reply};

/// The process runs: that it answers says so.
pub fn live() -> Reply {
    reply::word("ok\n")
}

/// Requests can be answered: the database is there and of this program's version, and the service is not about to
/// stop.
pub async fn ready(app: &App) -> Result<Reply, Rejection> {
    if app.is_draining() {
        return Err(Rejection::Unavailable("The service is stopping."));
    }
    match db::check(&app.db).await {
        Ok(()) => Ok(reply::word("ok\n")),
        Err(error) => {
            warn!(%error, "not ready");
            Err(Rejection::Unavailable("The database is not ready."))
        }
    }
}
