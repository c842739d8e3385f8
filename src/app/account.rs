//! The account page: the visitor's sessions, and how to end them.

use maud::html;

use super::layout::layout;
use super::parts::time;
use super::visit::{Session, Visit};
use super::{Answer, Fault, Site, cookie, sign_in};
use crate::entity::user::Role;
use crate::entity::{Timestamp, session};

/// Shows the signed-in user and their sessions.
pub async fn page(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    let now = Timestamp::now();
    let sessions = session::of_user(site.db.read(), session.user.id, now).await?;
    let role = match session.user.role {
        Role::Admin => "an administrator: you can read and change the catalogue, and manage users and API tokens",
        Role::StandardsAdmin => {
            "a standards administrator: you can read and change the catalogue, and its levels, categories and checks"
        }
        Role::TeamMember => "a team member: you can read the catalogue, and change your teams and what they own",
        Role::User => "a member: you can read and change the catalogue",
        Role::Viewer => "a viewer: you can read the catalogue",
    };
    let main = html! {
        p { "You are " strong { (session.user.name) } " (" (session.user.email) "), " (role) "." }
        h2 { "Where you are signed in" }
        div.scroll tabindex="0" role="region" aria-label="Sessions" {
            table {
                thead { tr {
                    th scope="col" { "Browser" } th scope="col" { "Since" } th scope="col" { "Last used" }
                    th scope="col" { "Expires" } th scope="col" { span.hidden { "Action" } }
                } }
                tbody {
                    @for one in &sessions {
                        tr {
                            td { (one.user_agent.as_deref().unwrap_or("unknown")) @if one.id == session.row.id { " " span.mark { "this one" } } }
                            td { (time(one.created_at, now)) }
                            td { (time(one.last_seen_at, now)) }
                            td { (time(one.expires_at, now)) }
                            td.act {
                                form method="post" action={ "/account/sessions/" (one.id) "/end" } {
                                    button.quiet { "End" span.hidden { " the session of " (one.created_at) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    };
    Ok(Answer::page(layout(visit, "Your account", main)))
}

/// Ends one of the visitor's sessions.
pub async fn end_session(site: &Site, session: &Session, id: &str) -> Result<Answer, Fault> {
    let id: i64 = id.parse().map_err(|_| Fault::NotFound)?;
    let ended = site.db.write(async |db| sign_in::end(db, session, id, "sessionEnd").await).await?;
    match (ended, id == session.row.id) {
        (false, _) => Err(Fault::NotFound),
        (true, true) => {
            Ok(Answer::Redirect { to: "/sign-in".to_owned(), cookies: vec![cookie::clear(site.is_secure())] })
        }
        (true, false) => Ok(Answer::redirect("/account")),
    }
}
