//! Signing in at an OpenID provider: leading there, and taking in who comes back.
//!
//! What is said to the provider is in [`provider`], what a browser keeps meanwhile in [`attempt`]. Whom the provider means is
//! found by its subject, and the first time by the address, which it must have verified.

use maud::html;
use sea_orm::DatabaseTransaction;
use tracing::warn;

use super::layout::layout;
use super::visit::{Fields, Visit};
use super::{Answer, Fault, Site, cookie, sign_in};
use crate::config::OpenId;
use crate::entity::audit::{self, Actor};
use crate::entity::user::{self, email_key};
use crate::entity::{Timestamp, identity};
use crate::error::Error;

pub mod attempt;
pub mod exchange;
pub mod provider;

use attempt::Attempt;
pub use provider::Provider;
use provider::{Failure, Person};

/// Where signing in at the provider begins.
pub const PATH: &str = "/sign-in/openid";
/// Where the provider leads people back to.
pub const CALLBACK: &str = "/sign-in/openid/callback";

/// The address that begins it and is to end on the page `next`.
pub fn path(next: &str) -> String {
    attempt::inside(next).map_or(PATH.to_owned(), |next| format!("{PATH}?{}", Fields::one("next", next).query()))
}

/// Leads to the provider.
pub async fn begin(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let provider = site.openid.as_ref().ok_or(Fault::NotFound)?;
    let attempt = Attempt::new(visit.query.given("next"))?;
    match provider.address(&attempt).await {
        Ok(to) => Ok(Answer::Redirect { to, cookies: vec![cookie::set_attempt(&attempt, site.is_secure())] }),
        Err(failure) => failed(site, visit, provider, failure).await,
    }
}

/// Takes in whom the provider leads back, and begins a session.
pub async fn finish(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let provider = site.openid.as_ref().ok_or(Fault::NotFound)?;
    let query = &visit.query;
    let attempt = visit.attempt.as_ref().filter(|attempt| attempt.state() == query.get("state"));
    let Some(attempt) = attempt else {
        let why = "This sign-in was not begun in this browser, or more than ten minutes ago, or another one was begun after it.";
        return Ok(refused(site, visit, 400, why).await);
    };
    // RFC 9207: the answer of one provider is not to be taken for that of another.
    let is_another = query.given("iss").is_some_and(|issuer| issuer != provider.settings().issuer);
    if let Some(error) = query.given("error") {
        let said: String = [error, query.get("error_description")].join(" ").chars().take(300).collect();
        return Ok(refused(site, visit, 403, &format!("{} says: {}", provider.settings().name, said.trim())).await);
    }
    let Some(code) = query.given("code").filter(|_| !is_another) else {
        return Ok(refused(site, visit, 400, "The provider's answer cannot be read.").await);
    };
    let person = match provider.person(attempt, code, visit.client).await {
        Ok(person) => person,
        Err(failure) => return failed(site, visit, provider, failure).await,
    };
    let now = Timestamp::now();
    let begun = site.db.write(async |db| {
        let (user, change) = match admit(db, provider.settings(), &person, now).await? {
            Admitted::Known(user) => (user, None),
            Admitted::Linked(user) => (user, Some("userIdentityLink")),
            Admitted::New(user) => (user, Some("userSignUp")),
            Admitted::Not(why) => return Ok(Err(why)),
        };
        let (key, actor) = sign_in::begin(db, visit, &user, &provider.settings().issuer, now).await?;
        if let Some(change) = change {
            let detail = serde_json::json!({ "issuer": provider.settings().issuer, "subject": person.subject });
            audit::record(db, &actor, change, user.subject(), &detail).await?;
        }
        Ok::<_, Error>(Ok(key))
    });
    match begun.await {
        Ok(Ok(key)) => Ok(Answer::Redirect {
            to: attempt.next().unwrap_or("/services").to_owned(),
            cookies: vec![cookie::set(&key, site.is_secure()), cookie::clear_attempt(site.is_secure())],
        }),
        Ok(Err(why)) => Ok(refused(site, visit, 403, &why).await),
        Err(error @ Error::User(_)) => {
            Ok(refused(site, visit, 403, &format!("No user can be made of you: {error}.")).await)
        }
        Err(error) => Err(error.into()),
    }
}

/// What becomes of whom the provider means.
enum Admitted {
    /// The user as whom they have signed in before.
    Known(user::Model),
    /// The user with their address, from now on.
    Linked(user::Model),
    /// A new user.
    New(user::Model),
    /// They may not sign in, for the reason given.
    Not(String),
}

async fn admit(
    db: &DatabaseTransaction,
    settings: &OpenId,
    person: &Person,
    now: Timestamp,
) -> Result<Admitted, Error> {
    let (issuer, name) = (&settings.issuer, &settings.name);
    if let Some(user) = identity::user(db, issuer, &person.subject).await? {
        return Ok(Admitted::Known(user));
    }
    let Some(email) = person.email.as_deref() else {
        return Ok(Admitted::Not(format!("{name} does not tell your email address, and so not who you are here.")));
    };
    if !person.email_verified.unwrap_or(settings.trust_email) {
        let why = format!("{name} does not say that the address {email} is verified, so it could be anybody's.");
        return Ok(Admitted::Not(why));
    }
    let found = user::by_email(db, email).await?;
    let (user, is_new) = match found {
        Some(user) if identity::is_known(db, issuer, user.id).await? => {
            // The same account may have signed in for the first time since we looked, in another window.
            if let Some(user) = identity::user(db, issuer, &person.subject).await? {
                return Ok(Admitted::Known(user));
            }
            return Ok(Admitted::Not(format!(
                "{email} has signed in with another account at {name} before. If that was you, an administrator can make \
                 it be forgotten, on the page Users."
            )));
        }
        Some(user) => (user, false),
        None if user::address(email).is_err() => {
            return Ok(Admitted::Not(format!("{name} says that your email address is {email}, which cannot be one.")));
        }
        None if is_welcome(settings, email) => {
            // What cannot be shown is left out: a name of a user is one line.
            let given = person.name.as_deref().map(|name| {
                name.chars().filter(|letter| !letter.is_control()).take(255).collect::<String>().trim().to_owned()
            });
            let given = given.filter(|name| !name.is_empty());
            (user::create(db, email, given.as_deref(), settings.role, now).await?, true)
        }
        None => {
            let why = format!("Nobody has invited {email}. An administrator can, on the page Users.");
            return Ok(Admitted::Not(why));
        }
    };
    let kept = identity::remember(db, issuer, &person.subject, user.id, now).await?;
    // Another tab of the same person was quicker.
    let user = kept.unwrap_or(user);
    Ok(if is_new { Admitted::New(user) } else { Admitted::Linked(user) })
}

/// Whether somebody with this address needs no invitation.
fn is_welcome(settings: &OpenId, email: &str) -> bool {
    let key = email_key(email);
    let domain = key.rsplit_once('@').map_or("", |(_, domain)| domain);
    settings.domains.iter().any(|welcome| welcome == "*" || welcome == domain)
}

async fn failed(site: &Site, visit: &Visit, provider: &Provider, failure: Failure) -> Result<Answer, Fault> {
    match failure {
        Failure::Busy => {
            Err(Fault::Busy("The sign-in provider is slow, and too many people wait for it. Try again soon."))
        }
        Failure::Code => {
            let why = "The provider does not take this sign-in any more: it is too old, or was used.";
            Ok(refused(site, visit, 400, why).await)
        }
        Failure::Provider(cause) => {
            let issuer = &provider.settings().issuer;
            warn!(issuer, cause, "nobody can sign in at the OpenID provider");
            let name = &provider.settings().name;
            let why = format!(
                "{name} does not answer as it should. Whoever runs this installation finds the cause in the log, at the \
                 request {}.",
                visit.request_id
            );
            Ok(page(visit, 502, &why))
        }
    }
}

/// Refuses a sign-in, and notes that in the audit.
async fn refused(site: &Site, visit: &Visit, status: u16, why: &str) -> Answer {
    site.refusals.note(Actor::visitor(&visit.client.to_string()), "signInRefused", why).await;
    page(visit, status, why)
}

/// The page that says why nobody is signed in.
fn page(visit: &Visit, status: u16, why: &str) -> Answer {
    let main = html! {
        p role="alert" { (why) }
        p { a.button href="/sign-in" { "Back to signing in" } }
    };
    Answer::with_status(status, layout(visit, "Not signed in", main))
}
