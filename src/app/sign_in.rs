//! Signing in by a link, and signing out.
//!
//! Opening a link does not use it up; the button on its page does. Mail and chat programs open links before people do.

use maud::{Markup, html};
use serde_json::json;

use super::form::{Mistakes, Text};
use super::layout::layout;
use super::visit::{Fields, Session, Visit};
use super::{Answer, Fault, Site, attempt, cookie, openid, sessions};
use catalogue::db::{Before, RowOf};
use catalogue::entity::audit::{self, Actor};
use catalogue::entity::change;
use catalogue::entity::key::Key;
use catalogue::entity::sign_in_link;
use catalogue::entity::user;
use catalogue::entity::{ByIds, Timestamp};
use catalogue::error::Error;

/// The path of the sign-in page.
const PATH: &str = "/sign-in";

/// The same path, with the page to return to after signing in, if there is a valid one.
pub fn path(next: Option<&str>) -> String {
    let next = next.and_then(attempt::inside);
    next.map_or(PATH.to_owned(), |next| format!("{PATH}?{}", Fields::one("next", next).query()))
}

/// The page for visitors who are not signed in.
pub fn page(site: &Site, visit: &Visit) -> Answer {
    let main = html! {
        @if let Some(provider) = &site.openid {
            p { a.button href=(openid::path(visit.query.get("next"))) { "Sign in with " (provider.settings().name) } }
            h2 { "Or with a link" }
        }
        p { "You need a sign-in link. An administrator can create one for you on the page " em { "Users" }
            ", or the operator of this installation with:" }
        pre tabindex="0" { code { "rollcall sign-in-link --email you@example.com" } }
        p { "A link works once and expires after 15 minutes. A new link makes earlier ones void." }
    };
    Answer::page(layout(visit, "Sign in", main))
}

/// Shows the page of a link, whose button uses it up.
pub async fn link(site: &Site, visit: &Visit, key: &str) -> Result<Answer, Fault> {
    let Some((key, link)) = find(site, key).await? else { return Ok(link_not_valid(site, visit).await) };
    Ok(Answer::page(ask(site, visit, &key, link.user_id, &Mistakes::none()).await?))
}

/// Uses a link up and begins a session. Ends the browser's previous session, so that the new one has a new secret.
pub async fn use_link(site: &Site, visit: &Visit, key: &str) -> Result<Answer, Fault> {
    let Some((key, link)) = find(site, key).await? else { return Ok(link_not_valid(site, visit).await) };
    let now = Timestamp::now();
    let begun = site.db.write(async |tx| {
        let Some(link) = sign_in_link::consume(tx, &key, now).await? else { return Ok(None) };
        let user = match link.user_id {
            Some(_) => user::Entity::by_ids(tx, [link.user_id]).await?.pop().flatten(),
            None => {
                let (email, name) = (visit.form.get("email"), visit.form.given("name"));
                Some(user::first_administrator(tx, email, name, now).await?)
            }
        };
        // A deleted user's links are deleted too.
        let Some(user) = user else { return Ok(None) };
        let (key, actor) = sessions::begin(tx, visit, &user, "link", now).await?;
        if link.user_id.is_none() {
            let changed =
                change::diff(Before::Committed(site.db.committed()), tx, RowOf::new::<user::Entity>(user.id)).await?;
            let detail = json!({ "changed": changed });
            audit::record(tx, &actor, "firstAdministrator", user.subject(), &detail).await?;
        }
        Ok(Some(key))
    });
    match begun.await {
        Ok(Some(key)) => {
            let cookies = vec![cookie::set(&key, site.is_secure())];
            Ok(Answer::Redirect { to: "/".to_owned(), cookies })
        }
        Ok(None) => Ok(link_not_valid(site, visit).await),
        Err(Error::User(errors)) => Ok(Answer::refused(ask(site, visit, &key, link.user_id, &errors.into()).await?)),
        Err(error) => Err(error.into()),
    }
}

/// Ends the current session.
pub async fn sign_out(site: &Site, session: &Session) -> Result<Answer, Fault> {
    site.db.write(async |db| sessions::end(db, session, session.row.id, "signOut").await).await?;
    Ok(Answer::Redirect { to: "/sign-in".to_owned(), cookies: vec![cookie::clear(site.is_secure())] })
}

/// Whether the link is valid.
pub async fn is_link(site: &Site, key: &str) -> Result<bool, Fault> {
    Ok(find(site, key).await?.is_some())
}

async fn find(site: &Site, key: &str) -> Result<Option<(Key, sign_in_link::Model)>, Fault> {
    let Some(key) = Key::read(key) else { return Ok(None) };
    let link = sign_in_link::by_key(site.db.read(), &key, Timestamp::now()).await?;
    Ok(link.map(|link| (key, link)))
}

async fn ask(
    site: &Site,
    visit: &Visit,
    key: &Key,
    user_id: Option<i64>,
    mistakes: &Mistakes,
) -> Result<Markup, Fault> {
    let user = user::Entity::by_ids(site.db.read(), [user_id]).await?.pop().flatten();
    let main = html! {
        form.narrow method="post" action=(sign_in_link::path(key)) {
            @match &user {
                Some(user) => p { "You are about to sign in as " strong { (user.name) } " (" (user.email) ")." },
                None => {
                    p { "This installation has no administrator yet. You become the first administrator." }
                    (mistakes.summary(&["email", "name"]))
                    (Text { name: "email", label: "Your email address", kind: "email", required: true, hint: "" }
                        .show(&visit.form, mistakes))
                    (Text { name: "name", label: "Your name", kind: "text", required: false,
                        hint: "Optional. Default: the part before the @." }.show(&visit.form, mistakes))
                },
            }
            button { "Sign in" }
        }
    };
    Ok(layout(visit, "Sign in", main))
}

/// The same page for an unknown, used or expired link, so that it does not reveal which.
async fn link_not_valid(site: &Site, visit: &Visit) -> Answer {
    let stranger = Actor::visitor(&visit.client.to_string());
    site.refusals.note(stranger, "signInRefused", "The sign-in link is not valid.").await;
    let main = html! {
        p { "Possible causes:" }
        ul {
            li { "The link was already used." }
            li { "It is older than 15 minutes." }
            li { "A newer link was created for the same user. Only the newest works." }
            li { "It was not copied completely." }
            li { "The user is deactivated: whoever manages accounts at your identity provider can activate them again." }
            li { "It was created for another database. The command that creates a link must use the same database as "
                "the server." }
        }
        p { a href="/sign-in" { "How to get a new link" } }
    };
    Answer::with_status(404, layout(visit, "Link not valid", main))
}
