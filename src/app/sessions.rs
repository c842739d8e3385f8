//! Begins and ends the sessions of people, and records both in the audit.

use serde_json::json;

use super::visit::{Session, Visit};
use crate::db::{self, Transaction};
use crate::entity::audit::{self, Actor};
use crate::entity::key::Key;
use crate::entity::{Timestamp, session, user};
use crate::error::Error;

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

/// Ends a session of the user and records that in the audit. Returns whether there was one.
pub async fn end(db: &Transaction, session: &Session, id: i64, action: &str) -> Result<bool, db::Error> {
    let ended = session::end(db, session.user.id, id).await?;
    if ended {
        let (actor, subject) = (session.caller().actor, session.user.subject());
        audit::record(db, &actor, action, subject, &json!({ "session": id })).await?;
    }
    Ok(ended)
}
