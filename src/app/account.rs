//! The account page: the visitor's sessions, and how to end them; their feeds, and how to make and revoke them.

use maud::{Markup, html};

use super::feeds::FeedKind;
use super::form::Mistakes;
use super::layout::layout;
use super::parts::{delete_button, time};
use super::visit::{Method, Session, Visit};
use super::{Answer, Fault, Site, cookie, sessions};
use catalogue::entity::key::Key;
use catalogue::entity::user::Role;
use catalogue::entity::{Timestamp, feed, session};
use catalogue::error::Error;

/// The path of the page.
const HERE: &str = "/account";

/// Shows the page, or handles one of its forms.
pub async fn answer(site: &Site, visit: &Visit, session: &Session, path: &[&str]) -> Result<Answer, Fault> {
    match (visit.method, path) {
        (Method::Get, ["account"]) => Ok(Answer::page(show(site, visit, session, &Mistakes::none(), None).await?)),
        (Method::Post, ["account", "sessions", id, "end"]) => end_session(site, session, id).await,
        (Method::Post, ["account", "feeds"]) => create_feed(site, visit, session).await,
        (Method::Post, ["account", "feeds", id, "delete"]) => revoke_feed(site, session, id).await,
        _ => Err(Fault::NotFound),
    }
}

/// The signed-in user, their sessions and their feeds. `made` is the token of a new feed.
async fn show(
    site: &Site,
    visit: &Visit,
    session: &Session,
    mistakes: &Mistakes,
    made: Option<&Key>,
) -> Result<Markup, Fault> {
    let now = Timestamp::now();
    let sessions = session::of_user(site.db.read(), session.user.id, now).await?;
    let feeds = feed::of_user(site.db.read(), session.user.id).await?;
    let role = match session.user.role {
        Role::Admin => "an administrator: you can read and change the catalogue, and manage users and API tokens",
        Role::StandardsAdmin => {
            "a standards administrator: you can read and change the catalogue, and its levels, categories and checks"
        }
        Role::TeamMember if session.is_held_to_own => {
            "a member: you can read the catalogue, and change your teams and what they own, as this server lets members"
        }
        Role::TeamMember => "a team member: you can read the catalogue, and change your teams and what they own",
        Role::User => "a member: you can read and change the catalogue",
        Role::Viewer => "a viewer: you can read the catalogue",
    };
    let main = html! {
        @if let Some(key) = made { (shown_once(&site.catalogue.settings().app_url, key)) }
        (mistakes.summary(&[]))
        p { "You are " strong { (session.user.name) } " (" (session.user.email) "), " (role) "." }
        h2 { "Where you are signed in" }
        div.scroll tabindex="0" role="region" aria-label="Sessions" {
            table {
                thead { tr {
                    th scope="col" { "Browser" } th.wide scope="col" { "Since" } th scope="col" { "Last used" }
                    th scope="col" { "Expires" } th scope="col" { span.hidden { "Action" } }
                } }
                tbody { @for one in &sessions { (row(one, session.row.id, now)) } }
            }
        }
        (feed_card(&feeds, now))
    };
    Ok(layout(visit, "Your account", main))
}

/// A session, and the button that ends it. `own` is the id of the visitor's session.
fn row(one: &session::Model, own: i64, now: Timestamp) -> Markup {
    html! {
        tr {
            td title=[&one.user_agent] { (one.user_agent.as_deref().map_or("unknown".into(), sessions::browser)) @if one.id == own { " " span.mark { "this one" } } }
            td.wide { (time(one.created_at, now)) }
            td { (time(one.last_seen_at, now)) }
            td { (time(one.expires_at, now)) }
            td.act {
                form method="post" action={ "/account/sessions/" (one.id) "/end" } {
                    button.quiet { "End" span.hidden { " the session of " (one.created_at.minute()) } }
                }
            }
        }
    }
}

/// The user's feeds, with the button that makes one.
fn feed_card(feeds: &[feed::Model], now: Timestamp) -> Markup {
    html! {
        section.card #feeds {
            h2 { "Feeds" }
            p { "A feed shows deploys and changes in a feed reader. Its address has a token, with which anybody can "
                "read them as you can. Make one for each reader, so that you can revoke it alone." }
            @if !feeds.is_empty() {
                div.scroll tabindex="0" role="region" aria-label="Feeds" {
                    table {
                        thead { tr {
                            th scope="col" { "Made" } th scope="col" { "Last used" }
                            th scope="col" { span.hidden { "Action" } }
                        } }
                        tbody { @for one in feeds { (feed_row(one, now)) } }
                    }
                }
            }
            form method="post" action="/account/feeds" { button { "Make a feed" } }
        }
    }
}

/// A feed, and the button that revokes it.
fn feed_row(one: &feed::Model, now: Timestamp) -> Markup {
    let question = "Revoke this feed? Its addresses stop working at once.";
    let action = format!("/account/feeds/{}/delete", one.id);
    html! {
        tr {
            td { (time(one.created_at, now)) }
            td { @match one.last_used_at { Some(used) => (time(used, now)), None => span.soft { "never" } } }
            td.act { (delete_button(&action, "Revoke", &format!("the feed of {}", one.created_at.minute()), question)) }
        }
    }
}

/// The addresses of a new feed, which are shown this once.
fn shown_once(app_url: &str, key: &Key) -> Markup {
    let address = |kind: FeedKind| format!("{app_url}{}{}/{}", feed::PATH, key.reveal(), kind.file());
    html! {
        div.notice role="status" {
            p { strong { "Copy the addresses now." } " You won't see them again. Treat them like passwords." }
            p { "Deploys:" }
            code.secret #deploys data-copy="the address of deploys" { (address(FeedKind::Deploys)) }
            p { "Changes:" }
            code.secret #changes data-copy="the address of changes" { (address(FeedKind::Changes)) }
            p { "They are about all services. Append " code { "?service=ALIAS" } " for one service, or "
                code { "?team=ALIAS" } " for a team and its services." }
        }
    }
}

/// Makes a feed and shows its addresses once.
async fn create_feed(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    let actor = session.caller().actor;
    let made = site.db.write(async |db| feed::create(db, &actor, &session.user, Timestamp::now()).await);
    match made.await {
        Ok(key) => Ok(Answer::page(show(site, visit, session, &Mistakes::none(), Some(&key)).await?)),
        Err(Error::User(errors)) => Ok(Answer::refused(show(site, visit, session, &errors.into(), None).await?)),
        Err(error) => Err(error.into()),
    }
}

/// Revokes one of the visitor's feeds.
async fn revoke_feed(site: &Site, session: &Session, id: &str) -> Result<Answer, Fault> {
    let id: i64 = id.parse().map_err(|_| Fault::NotFound)?;
    let actor = session.caller().actor;
    let revoked = site.db.write(async |db| feed::revoke(db, &actor, &session.user, id).await).await?;
    if revoked { Ok(Answer::redirect(HERE)) } else { Err(Fault::NotFound) }
}

/// Ends one of the visitor's sessions.
async fn end_session(site: &Site, session: &Session, id: &str) -> Result<Answer, Fault> {
    let id: i64 = id.parse().map_err(|_| Fault::NotFound)?;
    let ended = site.db.write(async |db| sessions::end(db, session, id, "sessionEnd").await).await?;
    match (ended, id == session.row.id) {
        (false, _) => Err(Fault::NotFound),
        (true, true) => {
            Ok(Answer::Redirect { to: "/sign-in".to_owned(), cookies: vec![cookie::clear(site.is_secure())] })
        }
        (true, false) => Ok(Answer::redirect(HERE)),
    }
}
