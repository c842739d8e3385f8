//! Checks the database: that it exists, its version, that it is writable, and that its clock agrees with ours.

use std::path::Path;
use std::time::Duration;

use super::Finding;
use crate::cli::ourselves::Ourselves;
use crate::config::ReadDatabase;
use crate::db::{self, Db, Version};
use crate::entity::{Timestamp, audit, check_due, user};
use crate::graphql::standards::check::history;

const ABOUT: &str = "database";

/// How long results of checks are compared. A large catalogue is compared in part.
const PATIENCE: Duration = Duration::from_secs(10);

const REPLICA: &str = "replica";

/// How far the newest audit entry may be ahead of this machine's clock, in microseconds.
const TOLERANCE: i64 = 60_000_000;

/// Checks the database at `url`, and its replica. Does not open a missing file, because opening would create it.
/// `server` is the address at which a server responds.
pub(super) async fn examine(url: &str, replica: &ReadDatabase, server: Option<&Ourselves>) -> Vec<Finding> {
    match (db::missing_file(url), server) {
        (Some(file), Some(address)) => return vec![not_the_servers(&file, address)],
        (Some(file), None) => return vec![missing(&file)],
        (None, _) => {}
    }
    let db = match db::connect(url).await {
        Ok(db) => db,
        Err(error) => return vec![Finding::problem(ABOUT, error.to_string())],
    };
    let mut findings = opened(&db).await;
    findings.extend(examine_replica(&db, replica).await);
    // The findings are valid even if closing fails.
    let _ = db.close().await;
    findings
}

/// Checks that queries can read at the replica, if there is one.
async fn examine_replica(db: &Db, replica: &ReadDatabase) -> Option<Finding> {
    let url = match replica.url() {
        Ok(url) => url?,
        Err(reason) => return Some(Finding::problem(REPLICA, reason)),
    };
    Some(match db.examine_replica(&url).await {
        Ok((place, lag)) => Finding::fine(REPLICA, format!("{place} is at most {:.1} s behind", lag.as_secs_f64())),
        Err(reason) => Finding::problem(REPLICA, reason),
    })
}

/// The problem of a missing file while a server responds: a running server has a database, so this is not the server's.
fn not_the_servers(file: &Path, address: &Ourselves) -> Finding {
    let says = format!(
        "a server responds at {address}, but {} does not exist: this is not the server's database. Run this with the \
         server's settings: in its folder, or with its --database-url",
        file.display()
    );
    Finding::problem(ABOUT, says)
}

/// Checks that the first start can create the file.
fn missing(file: &Path) -> Finding {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match tempfile::tempfile_in(folder) {
        Ok(_) => Finding::fine(ABOUT, format!("{} does not exist yet; the first start creates it", file.display())),
        Err(error) => {
            let (file, folder, why) = (file.display(), folder.display(), error.kind());
            let says = format!("{file} cannot be created: {why}; let the server's user write to the folder {folder}");
            Finding::problem(ABOUT, says)
        }
    }
}

async fn opened(db: &Db) -> Vec<Finding> {
    let place = db.place();
    let version = match db::version(db).await {
        Ok(Version::Same) => "has this program's version",
        Ok(Version::Newer { .. }) => "has a newer version, which this program can use,",
        Ok(Version::Older(steps)) => {
            let says = format!(
                "{place} lacks {steps} migrations; the next start runs them. Back up first: they cannot be undone"
            );
            return vec![Finding::advice(ABOUT, says)];
        }
        Err(error) => return vec![Finding::problem(ABOUT, error.to_string())],
    };
    if let Err(error) = db.try_write().await {
        return vec![Finding::problem(ABOUT, format!("{place} is not writable: {}", error.reason()))];
    }
    let mut findings = vec![Finding::fine(ABOUT, format!("{place} {version} and is writable"))];
    for file in db.readable_by_others() {
        let (path, mode) = (file.path.display(), file.mode);
        let says = format!("other users can read {path}, which holds secrets (mode {mode:04o}); run: chmod 600 {path}");
        findings.push(Finding::advice(ABOUT, says));
    }
    match newest(db).await {
        Ok((newest, has_administrator)) => {
            findings.push(clock(newest, Timestamp::now()));
            if !has_administrator {
                let says = "there is no administrator; run: rollcall sign-in-link --email you@example.com";
                findings.push(Finding::advice("people", says));
            }
        }
        Err(error) => findings.push(Finding::problem(ABOUT, format!("{place} cannot be read: {}", error.reason()))),
    }
    findings.extend(standards(db).await);
    findings
}

/// Compares the stored results of checks with what the checks say now. A server that has just changed something needs a
/// moment, and what time changes up to a minute, or longer in a large catalogue.
async fn standards(db: &Db) -> Option<Finding> {
    let about = "standards";
    let marked = check_due::oldest(db.read(), 1, true).await.map(|marks| !marks.is_empty());
    let different = history::differences(db, PATIENCE).await;
    Some(match (marked, different) {
        (Ok(true), Ok(_)) => {
            Finding::fine(about, "changes wait for their evaluation, which a server does within a second")
        }
        (Ok(false), Ok((0, services))) => {
            Finding::fine(about, format!("the results of checks are stored as they are now, for {services} services"))
        }
        (Ok(false), Ok((different, services))) => {
            let says = format!(
                "{different} results of checks and levels of {services} services are not stored as they are now: a server \
                 evaluates all within minutes; if this stays, read its log"
            );
            Finding::advice(about, says)
        }
        (Err(error), _) => Finding::problem(about, error.reason()),
        (_, Err(error)) => Finding::problem(about, format!("the checks cannot be evaluated: {error}")),
    })
}

/// Returns the time of the newest audit entry, and whether there is an administrator.
async fn newest(db: &Db) -> Result<(Option<Timestamp>, bool), db::Error> {
    db.write(async |tx| {
        let newest = audit::page(tx, &audit::Filter::default(), 1).await?.pop();
        Ok((newest.map(|entry| entry.at), user::any_administrator(tx).await?))
    })
    .await
}

fn clock(newest: Option<Timestamp>, now: Timestamp) -> Finding {
    // Nobody compares a clock by the microsecond.
    let to_the_second =
        |moment: Timestamp| Timestamp::from_micros(moment.as_micros().div_euclid(1_000_000) * 1_000_000);
    let shown = to_the_second(now);
    match newest {
        Some(newest) if newest.as_micros().saturating_sub(now.as_micros()) > TOLERANCE => Finding::problem(
            "clock",
            format!(
                "it is {shown} here, but the newest audit entry is from {newest}; set the clock (timedatectl): until \
                 then, sign-in links, sessions and tokens expire too late"
            ),
        ),
        _ => Finding::fine("clock", format!("it is {shown}; no audit entry is later")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audit_entry_from_the_future_is_a_problem() {
        let at = |micros| Timestamp::from_micros(micros);
        assert!(clock(Some(at(TOLERANCE + 1)), at(0)).is_problem());
        assert!(!clock(Some(at(TOLERANCE)), at(0)).is_problem());
        assert!(!clock(None, at(0)).is_problem());
        assert!(!format!("{:?}", clock(None, at(1_234_567))).contains("234567"));
    }
}
