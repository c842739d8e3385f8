//! API tokens: created, shown once, listed, deleted. For administrators only.

use std::time::Duration;

use maud::{Markup, html};
use sea_orm::ActiveEnum;

use super::form::{self, Mistakes, Text};
use super::layout::layout;
use super::parts::{date, delete_button, empty, time};
use super::visit::{Fields, Session, Visit};
use super::{Answer, Fault, Site};
use catalogue::deploy::days::DAY;
use catalogue::entity::token::{self, Expiry, Lifetimes, Scope, Secret};
use catalogue::entity::user::Role;
use catalogue::entity::{Timestamp, remembered};
use catalogue::error::Error;

/// The field of the form for how long a token is valid, and the one for the date on which it expires.
const TIME: &str = "expires";
const DATE: &str = "expiresOn";

/// The lifetimes of tokens: the form's value, the label, and the time.
const EXPIRIES: &[(&str, &str, Duration)] = &[
    ("90", "90 days", Duration::from_secs(90 * 86_400)),
    ("30", "30 days", Duration::from_secs(30 * 86_400)),
    ("365", "a year", Duration::from_secs(365 * 86_400)),
];

/// The form's value for a token that never expires, and for one that expires as the server is set.
const NEVER: &str = "never";
const DEFAULT: &str = "default";

/// How long a token that is replaced stays valid: the form's value, the label, and hours.
const OVERLAPS: &[(&str, &str, i64)] =
    &[("24", "for a day", 24), ("168", "for a week", 168), ("1", "for an hour", 1), ("0", "no longer", 0)];

/// The scopes: the form's value, the label, and the scope.
const SCOPES: &[(&str, &str, Scope)] = &[
    ("write", "write: read and change the catalogue", Scope::Write),
    ("read", "read: read the catalogue, change nothing", Scope::Read),
    ("admin", "admin: also add, change and delete users", Scope::Admin),
    ("scim", "scim: for an identity provider, which adds, changes and deactivates users", Scope::Scim),
];

/// Lists the tokens, with the form for a new one.
pub async fn page(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    session.require(Role::Admin)?;
    Ok(Answer::page(show(site, visit, &Mistakes::none(), None).await?))
}

/// Creates a token and shows it once.
pub async fn create(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    session.require(Role::Admin)?;
    let (form, now) = (&visit.form, Timestamp::now());
    let scope = SCOPES.iter().find(|(word, ..)| *word == form.get("scope")).map(|(.., scope)| *scope);
    let scope = scope.ok_or_else(|| Fault::BadRequest("The scope must be read, write, admin or scim.".to_owned()))?;
    let lifetimes = remembered::token_lifetimes(site.db.read()).await?;
    let (field, expiry) = expiry(form)?;
    let end = match expiry.and_then(|expiry| lifetimes.end(expiry, now)) {
        Ok(end) => end,
        Err(message) => {
            let mut mistakes = Mistakes::none();
            mistakes.push(field, message);
            return Ok(Answer::refused(show(site, visit, &mistakes, None).await?));
        }
    };
    let description = form.get("description");
    let actor = session.caller().actor;
    let made = site.db.write(async |db| token::create(db, &actor, description, scope, end, now).await);
    match made.await {
        Ok(secret) => Ok(Answer::page(show(site, visit, &Mistakes::none(), Some(&secret)).await?)),
        Err(Error::User(errors)) => Ok(Answer::refused(show(site, visit, &errors.into(), None).await?)),
        Err(error) => Err(error.into()),
    }
}

/// When the form says that a token expires, and the field that says it: the date, or else the time. A mistake in the date is
/// told beside it.
fn expiry(form: &Fields) -> Result<(&'static str, Result<Expiry, String>), Fault> {
    if let Some(day) = form.given(DATE) {
        let date = Timestamp::at_start_of(day).map(Expiry::At);
        return Ok((DATE, date.map_err(|_| "Write a date like 2027-01-31.".to_owned())));
    }
    let expiry = match form.get(TIME) {
        DEFAULT => Some(Expiry::Default),
        NEVER => Some(Expiry::Never),
        days => EXPIRIES.iter().find(|(word, ..)| *word == days).map(|(.., days)| Expiry::After(*days)),
    };
    let expiry = expiry.ok_or_else(|| Fault::BadRequest("Choose one of the listed lifetimes.".to_owned()))?;
    Ok((TIME, Ok(expiry)))
}

/// The choices of the form for how long a token is valid, as far as the server allows them: value and label.
fn choices(lifetimes: Lifetimes) -> Vec<(&'static str, String)> {
    let fits = |days: &Duration| lifetimes.most.is_none_or(|most| *days <= most);
    let own = lifetimes.default.map(|default| (DEFAULT, format!("{}, as the server is set", token::span(default))));
    let listed = EXPIRIES.iter().filter(|(.., days)| fits(days)).map(|(word, text, _)| (*word, (*text).to_owned()));
    let never = lifetimes.most.is_none().then(|| (NEVER, "never".to_owned()));
    own.into_iter().chain(listed).chain(never).collect()
}

/// Replaces a token, and shows the new one once.
pub async fn rotate(site: &Site, visit: &Visit, session: &Session, id: &str) -> Result<Answer, Fault> {
    session.require(Role::Admin)?;
    let id: i64 = id.parse().map_err(|_| Fault::NotFound)?;
    let overlap = OVERLAPS.iter().find(|(word, ..)| *word == visit.form.get("overlap")).map(|(.., hours)| *hours);
    let overlap = overlap.ok_or_else(|| Fault::BadRequest("Choose one of the listed times.".to_owned()))?;
    let now = Timestamp::now();
    let end = Timestamp::from_micros(now.as_micros() + overlap * DAY / 24);
    let actor = session.caller().actor;
    let made = site.db.write(async |db| token::rotate(db, &actor, id, end, now).await);
    match made.await {
        Ok(Some(secret)) => Ok(Answer::page(show(site, visit, &Mistakes::none(), Some(&secret)).await?)),
        Ok(None) => Err(Fault::NotFound),
        Err(Error::User(errors)) => Ok(Answer::refused(show(site, visit, &errors.into(), None).await?)),
        Err(error) => Err(error.into()),
    }
}

/// Deletes a token.
pub async fn delete(site: &Site, session: &Session, id: &str) -> Result<Answer, Fault> {
    session.require(Role::Admin)?;
    let id: i64 = id.parse().map_err(|_| Fault::NotFound)?;
    let actor = session.caller().actor;
    let deleted = site.db.write(async |db| token::delete(db, &actor, id).await).await?;
    if deleted { Ok(Answer::redirect("/tokens")) } else { Err(Fault::NotFound) }
}

async fn show(site: &Site, visit: &Visit, mistakes: &Mistakes, secret: Option<&Secret>) -> Result<Markup, Fault> {
    let (mut tokens, now) = (token::all(site.db.read()).await?, Timestamp::now());
    tokens.reverse();
    let lifetimes = remembered::token_lifetimes(site.db.read()).await?;
    let expiries = choices(lifetimes);
    let expiries: Vec<_> = expiries.iter().map(|(word, text)| (*word, &**text)).collect();
    let expiry_of =
        |secret: &Secret| tokens.iter().find(|token| token.hash == secret.hash()).and_then(|token| token.expires_at);
    let kept = visit.form.clone();
    let form_fields = if secret.is_some() { Default::default() } else { kept };
    let main = html! {
        @if let Some(secret) = secret {
            div.notice role="status" {
                p { strong { "Copy the token now." } " You won't be able to see it again." }
                code.secret #secret data-copy="the token" { (secret.reveal()) }
                @if let Some(end) = expiry_of(secret) { p { "It expires on " (date(end)) "." } }
                p { "Send it as " code { "Authorization: Bearer …" } " to " code { (site.catalogue.settings().app_url) "/graphql" } "." }
            }
        }
        p { "Programs use the API with a token. Anyone with the token can do everything its scope allows. Treat it like a password." }
        (mistakes.summary(&["description", "scope", TIME, DATE]))
        details #new open[(tokens.is_empty() && secret.is_none()) || !mistakes.is_empty()] {
            summary { "New token" }
            (creation(&expiries, &form_fields, mistakes))
        }
        h2 { "Tokens" }
        @if tokens.is_empty() {
            (empty("No tokens yet.", html! { p { "Create one above, or with " code { "rollcall token create" } "." } }))
        } @else {
            div.scroll tabindex="0" role="region" aria-label="Tokens" {
                table {
                    thead { tr { th scope="col" { "Description" } th.wide scope="col" { "Scope" } th.wide scope="col" { "Created" } th scope="col" { "Last used" } th scope="col" { "Expires" } th scope="col" { span.hidden { "Action" } } } }
                    tbody { @for token in &tokens {
                        (row(token, now))
                    } }
                }
            }
        }
    };
    Ok(layout(visit, "API tokens", main))
}

/// The form for a new token. `expiries` are the lifetimes to choose from.
fn creation(expiries: &[(&str, &str)], fields: &Fields, mistakes: &Mistakes) -> Markup {
    let scopes: Vec<_> = SCOPES.iter().map(|(word, text, _)| (*word, *text)).collect();
    let hint = "What it is for, such as: nightly import";
    let description = Text { name: "description", label: "Description", hint, kind: "text", required: true };
    let hint = "In place of the time. The token stops working when that day begins in UTC.";
    let date = Text { name: DATE, label: "Or on a date", hint, kind: "date", required: false };
    html! {
        form method="post" action="/tokens" {
            (description.show(fields, mistakes))
            (form::select("scope", "Scope", "", &scopes, fields, mistakes))
            (form::select(TIME, "Expires after", "", expiries, fields, mistakes))
            (date.show(fields, mistakes))
            button { "Create token" }
        }
    }
}

/// The form that replaces a token, behind a button.
fn rotation(token: &token::Model) -> Markup {
    html! {
        details.confirm.quiet {
            summary { "Rotate" span.hidden { " " (token.description) } }
            form method="post" action={ "/tokens/" (token.id) "/rotate" } {
                p { "You get a new token with the same description, scope and lifetime, as far as the server allows it." }
                label for={ "overlap-" (token.id) } { "The old one works" }
                " " select id={ "overlap-" (token.id) } name="overlap" {
                    @for (value, label, _) in OVERLAPS { option value=(value) { (label) } }
                }
                " " button { "Rotate" span.hidden { " " (token.description) } }
            }
        }
    }
}

/// Whether a token can be replaced by another one like it.
fn can_be_rotated(token: &token::Model, now: Timestamp) -> bool {
    token.is_current() && token.is_valid(now) && token.scope != Scope::Unknown
}

/// A token's row with its actions.
fn row(token: &token::Model, now: Timestamp) -> Markup {
    html! {
        tr {
            th scope="row" {
                (token.description)
                @if let Some(prefix) = &token.prefix { small { code { (prefix) "…" } } }
            }
            td.wide { @match token.scope {
                Scope::Unknown => { span.mark.bad { "unknown" } small { "of a newer version: refused here" } }
                scope => (scope.to_value()),
            } }
            td.wide {
                (time(token.created_at, now))
                @if let Some(by) = &token.created_by { small { "by " bdi { (by.split(" (").next().unwrap_or(by)) } } }
            }
            td {
                @match token.last_used_at { Some(used) => (time(used, now)), None => span.soft { "never" } }
                @if let Some(from) = &token.last_used_from { small { "from " (from) } }
            }
            td { @match token.expires_at {
                Some(end) => { @if end <= now { span.mark.bad { "expired" } " " } (date(end)) },
                None => span.soft { "never" },
            } }
            td.act { @if can_be_rotated(token, now) { (rotation(token)) } (delete_button(
                &format!("/tokens/{}/delete", token.id),
                "Delete",
                &token.description,
                "Delete this token? Programs that use it are refused at once.",
            )) }
        }
    }
}
