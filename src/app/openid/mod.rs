//! Signing in at an OpenID provider: the redirect there, and the callback.
//!
//! [`provider`] talks to the provider; [`Attempt`] is what the browser keeps meanwhile. A person is identified by the
//! provider's subject. On the first sign-in, the user is found by the email address, which the provider must have
//! verified.

use maud::html;
use sea_orm::sea_query::LockType;
use serde_json::{Map, Value};
use tracing::warn;

use super::attempt::{self, Attempt};
use super::layout::layout;
use super::visit::{Fields, Visit};
use super::{Answer, Fault, Site, cookie, sessions};
use crate::group_mapping;
use crate::openid_settings::OpenId;
use catalogue::db::Transaction;
use catalogue::entity::audit::{self, Actor};
use catalogue::entity::user::{self, ProvisionedBy, email_key};
use catalogue::entity::{Timestamp, identity, row_lock, text};
use catalogue::error::Error;

mod answer;
pub mod exchange;
pub mod groups;
mod id_token;
pub mod provider;

pub use provider::Provider;
use provider::{Failure, Person};

/// The path that starts a sign-in at the provider.
pub const PATH: &str = "/sign-in/openid";
/// The path of the callback.
pub const CALLBACK: &str = "/sign-in/openid/callback";

/// The path that starts a sign-in which returns to the page `next`.
pub fn path(next: &str) -> String {
    attempt::inside(next).map_or(PATH.to_owned(), |next| format!("{PATH}?{}", Fields::one("next", next).query()))
}

/// Redirects to the provider.
pub async fn begin(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let provider = site.openid.as_ref().ok_or(Fault::NotFound)?;
    let attempt = Attempt::new(visit.query.given("next"))?;
    match provider.address(&attempt).await {
        Ok(to) => Ok(Answer::Redirect { to, cookies: vec![cookie::set_attempt(&attempt, site.is_secure())] }),
        Err(failure) => failed(site, visit, provider, failure).await,
    }
}

/// Handles the provider's callback and begins a session.
pub async fn finish(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let provider = site.openid.as_ref().ok_or(Fault::NotFound)?;
    let query = &visit.query;
    let attempt = visit.attempt.as_ref().filter(|attempt| attempt.state() == query.get("state"));
    let Some(attempt) = attempt else {
        let why =
            "This sign-in has expired, was started in another browser, or was replaced by a newer one. Try again.";
        return Ok(refused(site, visit, 400, why).await);
    };
    // RFC 9207: prevents mixing up the responses of two providers.
    let is_another = query.given("iss").is_some_and(|issuer| issuer != provider.settings().issuer);
    if let Some(error) = query.given("error") {
        let said: String = [error, query.get("error_description")].join(" ").chars().take(300).collect();
        return Ok(refused(site, visit, 403, &format!("{} says: {}", provider.settings().name, said.trim())).await);
    }
    let Some(code) = query.given("code").filter(|_| !is_another) else {
        return Ok(
            refused(site, visit, 400, "The provider's response has no code, or is another provider's (iss).").await
        );
    };
    let person = match provider.person(attempt, code, visit.client).await {
        Ok(person) => person,
        Err(failure) => return failed(site, visit, provider, failure).await,
    };
    let now = Timestamp::now();
    let begun = site.db.write(async |db| {
        let settings = provider.settings();
        let (user, change) = match admit(db, settings, &person, now).await? {
            Admitted::Known(user) => (user, None),
            Admitted::Linked(user) => (user, Some("userIdentityLink")),
            Admitted::New(user) => (user, Some("userSignUp")),
            Admitted::Not(why) => return Ok(Err(why)),
        };
        let (user, by_groups) = map_groups(db, settings, user, person.groups.as_deref()).await?;
        let (key, actor) = sessions::begin(db, visit, &user, &settings.issuer, now).await?;
        if let Some(change) = change {
            let detail = serde_json::json!({ "issuer": settings.issuer, "subject": person.subject });
            audit::record(db, &actor, change, user.subject(), &detail).await?;
        }
        if let Some(detail) = by_groups {
            audit::record(db, &actor, "userGroupsApply", user.subject(), &detail).await?;
        }
        Ok::<_, Error>(Ok(key))
    });
    match begun.await {
        Ok(Ok(key)) => Ok(Answer::Redirect {
            to: attempt.next().unwrap_or("/").to_owned(),
            cookies: vec![cookie::set(&key, site.is_secure()), cookie::clear_attempt(site.is_secure())],
        }),
        Ok(Err(why)) => Ok(refused(site, visit, 403, &why).await),
        Err(error @ Error::User(_)) => {
            Ok(refused(site, visit, 403, &format!("We couldn't create a user for you: {error}.")).await)
        }
        Err(error) => Err(error.into()),
    }
}

/// Gives a user the role and the memberships of the person's groups. Returns the user as it is then, and what was changed,
/// for the audit.
async fn map_groups(
    db: &Transaction,
    settings: &OpenId,
    user: user::Model,
    claimed: Option<&[String]>,
) -> Result<(user::Model, Option<Value>), Error> {
    if !settings.uses_groups() {
        return Ok((user, None));
    }
    let Some(groups) = group_mapping::of_person(db, settings, user.id, claimed).await? else {
        warn!(claim = settings.groups_claim, "a person signed in without the claim that names groups");
        return Ok((user, None));
    };
    let mut mapped = group_mapping::apply(db, settings, user.id, &groups).await?;
    let (user, changed) = mapped.remove(&user.id).unwrap_or((user, Map::new()));
    Ok((user, (!changed.is_empty()).then_some(Value::Object(changed))))
}

/// The settings of the provider that people sign in at, if there is one.
pub fn settings(site: &Site) -> Option<&OpenId> {
    site.openid.as_ref().map(Provider::settings)
}

/// The user that a person signs in as.
enum Admitted {
    /// The user they have signed in as before.
    Known(user::Model),
    /// The user with their address, linked from now on.
    Linked(user::Model),
    /// A new user.
    New(user::Model),
    /// None, for the given reason.
    Not(String),
}

impl Admitted {
    /// A user from before, unless they are deactivated.
    fn known(user: user::Model) -> Self {
        user.refusal().map_or(Self::Known(user), Self::Not)
    }
}

/// Finds or creates the user that a person signs in as, and locks them.
async fn admit(db: &Transaction, settings: &OpenId, person: &Person, now: Timestamp) -> Result<Admitted, Error> {
    let admitted = recognise(db, settings, person, now).await?;
    let id = match &admitted {
        Admitted::Known(user) | Admitted::Linked(user) => user.id,
        Admitted::New(_) | Admitted::Not(_) => return Ok(admitted),
    };
    // Whoever deactivates the user, or moves them between groups, comes before this or after the sign-in.
    let user = row_lock::row::<user::Entity>(db, id, LockType::NoKeyUpdate).await?;
    Ok(match (user.refusal(), admitted) {
        (Some(why), _) => Admitted::Not(why),
        (None, Admitted::Linked(_)) => Admitted::Linked(user),
        (None, _) => Admitted::Known(user),
    })
}

async fn recognise(db: &Transaction, settings: &OpenId, person: &Person, now: Timestamp) -> Result<Admitted, Error> {
    let (issuer, name) = (&settings.issuer, &settings.name);
    if let Some(user) = identity::user(db, issuer, &person.subject).await? {
        return Ok(Admitted::known(user));
    }
    let Some(email) = person.email.as_deref() else {
        return Ok(Admitted::Not(match person.email_fault {
            Some(fault) => format!("{name} did not share your email address as it should: {fault}."),
            None => format!("{name} did not share your email address (the claim email), so we can't tell who you are."),
        }));
    };
    if !person.email_verified && !settings.trust_email {
        let why = format!(
            "{name} does not say that {email} is verified (the claim email_verified), so it could be anyone's address. \
             Verify it there, or ask the operator of this installation: if nobody can choose their address at {name}, \
             --oidc-trust-email accepts it."
        );
        return Ok(Admitted::Not(why));
    }
    let found = user::by_email(db, email).await?;
    let (user, is_new) = match found {
        Some(user) if identity::is_known(db, issuer, user.id).await? => {
            // The same account may have signed in from another tab since the first check.
            if let Some(user) = identity::user(db, issuer, &person.subject).await? {
                return Ok(Admitted::known(user));
            }
            return Ok(Admitted::Not(format!(
                "{email} is linked to another account at {name}. If that account is yours too, ask an administrator to \
                 unlink it on the Users page."
            )));
        }
        Some(user) if !user.is_active() => return Ok(Admitted::known(user)),
        Some(user) => (user, false),
        None if user::address(email).is_err() => {
            return Ok(Admitted::Not(format!("{name} sent {email}, which is not a valid email address.")));
        }
        None if is_welcome(settings, email) => {
            // A user's name must be a single printable line.
            let given = person.name.as_deref().map(|name| text::cleaned(name, text::SHORT));
            let given = given.filter(|name| !name.is_empty());
            (user::create(db, email, given.as_deref(), settings.role, ProvisionedBy::OpenId, now).await?, true)
        }
        None => {
            let why = format!("{email} has not been invited. An administrator can invite you on the Users page.");
            return Ok(Admitted::Not(why));
        }
    };
    let kept = identity::remember(db, issuer, &person.subject, user.id, now).await?;
    // Another tab of the same person may have been faster.
    let user = kept.unwrap_or(user);
    Ok(if is_new { Admitted::New(user) } else { Admitted::Linked(user) })
}

/// Whether this address needs no invitation.
fn is_welcome(settings: &OpenId, email: &str) -> bool {
    let key = email_key(email);
    let domain = key.rsplit_once('@').map_or("", |(_, domain)| domain);
    settings.domains.iter().any(|welcome| welcome == "*" || welcome == domain)
}

async fn failed(site: &Site, visit: &Visit, provider: &Provider, failure: Failure) -> Result<Answer, Fault> {
    match failure {
        Failure::Busy => {
            Err(Fault::Busy("The sign-in provider is slow, and too many people are waiting for it. Try again soon."))
        }
        Failure::Code => {
            let why = "The provider refused this sign-in: it has expired or was already used.";
            Ok(refused(site, visit, 400, why).await)
        }
        Failure::Provider(cause) => {
            let issuer = &provider.settings().issuer;
            warn!(issuer, cause, "a sign-in at the OpenID provider failed");
            let name = &provider.settings().name;
            let why = format!(
                "{name} does not respond as it should. The operator of this installation can find the cause in the \
                 log, at request {}.",
                visit.request_id
            );
            Ok(page(visit, 502, &why))
        }
    }
}

/// Refuses a sign-in, and records that in the audit.
async fn refused(site: &Site, visit: &Visit, status: u16, why: &str) -> Answer {
    site.refusals.note(Actor::visitor(&visit.client.to_string()), "signInRefused", why).await;
    page(visit, status, why)
}

/// The page that says why the sign-in failed.
fn page(visit: &Visit, status: u16, why: &str) -> Answer {
    let main = html! {
        p role="alert" { (why) }
        p { a.button href="/sign-in" { "Back to sign-in" } }
    };
    Answer::with_status(status, layout(visit, "Not signed in", main))
}
