//! Begins and ends the sessions of people, and records both in the audit.

use std::borrow::Cow;

use serde_json::json;

use super::visit::{Session, Visit};
use catalogue::db::{self, Transaction};
use catalogue::entity::audit::{self, Actor};
use catalogue::entity::key::Key;
use catalogue::entity::{Timestamp, session, user};
use catalogue::error::Error;

/// Begins a session for the user, ends the browser's previous one, and records both in the audit. `through` is how the
/// user signed in: `link`, or the issuer of an OpenID provider.
pub async fn begin(
    db: &Transaction,
    visit: &Visit,
    user: &user::Model,
    through: &str,
    now: Timestamp,
) -> Result<(Key, Actor), Error> {
    if let Some(old) = &visit.session {
        end(db, old, old.row.id, "signOut").await?;
    }
    session::make_room(db, user.id, now).await?;
    let (key, row) = session::begin(db, user.id, visit.user_agent.as_deref(), now).await?;
    let actor = Actor::session(&row, user);
    let detail = json!({ "through": through, "address": visit.client.to_string(), "browser": row.user_agent });
    audit::record(db, &actor, "signIn", user.subject(), &detail).await?;
    Ok((key, actor))
}

/// A browser as people know it, such as `Firefox on Linux`, by its `User-Agent` header. The header, if it says neither.
pub fn browser(user_agent: &str) -> Cow<'_, str> {
    // Each also has the words of those below it.
    const BROWSERS: [(&str, &str); 5] =
        [("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari")];
    const SYSTEMS: [(&str, &str); 7] = [
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("CrOS", "ChromeOS"),
        ("Mac OS X", "macOS"),
        ("Linux", "Linux"),
    ];
    let first = |known: &[(&str, &'static str)]| {
        known.iter().find(|(word, _)| user_agent.contains(word)).map(|(_, name)| *name)
    };
    match first(&BROWSERS).zip(first(&SYSTEMS)) {
        Some((browser, system)) => Cow::Owned(format!("{browser} on {system}")),
        None => Cow::Borrowed(user_agent),
    }
}

/// Ends a session of the user and records that in the audit. Returns whether there was one.
pub async fn end(db: &Transaction, session: &Session, id: i64, action: &str) -> Result<bool, db::Error> {
    let ended = session::end(db, session.user.id, id).await?;
    if ended {
        let (actor, subject) = (session.caller().actor, session.user.subject());
        audit::record(db, &actor, action, subject, &json!({ "session": id })).await?;
    }
    Ok(ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_has_the_name_that_people_know() {
        let webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";
        for (agent, expected) in [
            (format!("Mozilla/5.0 (X11; Linux x86_64) {webkit} Chrome/131.0.0.0 Safari/537.36"), "Chrome on Linux"),
            (
                format!("Mozilla/5.0 (Windows NT 10.0; Win64) {webkit} Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0"),
                "Edge on Windows",
            ),
            ("Mozilla/5.0 (Android 14; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0".to_owned(), "Firefox on Android"),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.1 Safari/605.1.15"
                    .to_owned(),
                "Safari on macOS",
            ),
            ("curl/8.11.0".to_owned(), "curl/8.11.0"),
        ] {
            assert_eq!(browser(&agent), expected);
        }
    }
}
