//! The audit: who changed what, when, and through what. For administrators.

use maud::{Markup, html};

use super::form::{self, Mistakes};
use super::layout::layout;
use super::parts::{day, empty, link, time, turn};
use super::visit::{Fields, Session, Visit};
use super::{Answer, Fault, Site};
use crate::deploy::days::DAY;
use crate::entity::Timestamp;
use crate::entity::audit::{self, ActorKind, Filter, Model};
use crate::entity::user::Role;

const PAGE: usize = 50;

/// The kinds of actors: as the address has them, and as people say them.
const KINDS: &[(&str, &str, ActorKind)] = &[
    ("token", "token", ActorKind::Token),
    ("session", "signed in", ActorKind::Session),
    ("command_line", "command line", ActorKind::CommandLine),
];

/// The entries, the newest first.
pub async fn page(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    session.require(Role::Admin)?;
    let filter = filter(visit)?;
    let mut entries = audit::page(site.db.read(), &filter, PAGE as u64 + 1).await?;
    let more = entries.len() > PAGE;
    entries.truncate(PAGE);
    let next = entries.last().filter(|_| more).map(|entry| format!("{}_{}", entry.at.as_micros(), entry.id));
    let now = Timestamp::now();
    let filtered = visit.query.any();
    let main = html! {
        p { "Every change of the catalogue, its users and its tokens. Deploys are a record of their own." }
        (filters(visit, filter.actor))
        @if entries.is_empty() {
            @if filtered { (empty("No change is like that.", html! { p { a href="/audit" { "All changes" } } })) }
            @else { (empty("Nothing was changed yet.", html! { p { "What anybody changes from now on is noted here." } })) }
        } @else {
            @if filtered { p { a href="/audit" { "All changes" } } }
            div.scroll tabindex="0" role="region" aria-label="Changes" {
                table {
                    thead { tr { th scope="col" { "When" } th scope="col" { "Who" } th scope="col" { "Did" } th scope="col" { "To" } th scope="col" { "With" } } }
                    tbody { @for entry in &entries {
                        tr {
                            td { (time(entry.at, now)) }
                            td {
                                a.brief[entry.actor_kind == ActorKind::CommandLine] href=(of_actor(entry)) { (entry.actor_name) }
                                @if entry.actor_kind != ActorKind::CommandLine { " " span.mark.none { (kind(entry.actor_kind).1) } }
                            }
                            td { code { (entry.action) } }
                            td {
                                @if let Some(class) = &entry.subject_class { span.soft { (class) } " " }
                                @let name = entry.subject_name.clone().or(entry.subject_id.map(|id| id.to_string())).unwrap_or_default();
                                @match of_subject(entry) { Some(address) => a href=(address) { (name) }, None => (name) }
                            }
                            td { @if entry.detail != "{}" { details { summary { "input" } code { (entry.detail) } } } }
                        }
                    } }
                }
            }
            (turn(visit, "/audit", next.as_deref()))
        }
    };
    Ok(Answer::page(layout(visit, "Audit", main)))
}

fn filters(visit: &Visit, actor: Option<(ActorKind, Option<i64>)>) -> Markup {
    let (query, none) = (&visit.query, Mistakes::none());
    let field = |name, label, kind| form::Text { name, label, hint: "", kind, required: false }.show(query, &none);
    let mut actors =
        vec![("", "anybody"), ("token", "any token"), ("session", "any user"), ("command_line", "command line")];
    // One actor is chosen by a link of the list.
    if let Some((_, Some(_))) = actor {
        actors.push((query.get("actor"), "this one"));
    }
    html! {
        form.filters method="get" action="/audit" role="search" {
            (form::select("actor", "Who", "", &actors, query, &none))
            (field("action", "Did, such as serviceUpdate", "search"))
            (field("from", "From (UTC)", "date"))
            (field("until", "Until", "date"))
            @if let Some(subject) = query.given("subject") { input type="hidden" name="subject" value=(subject); }
            button { "Search" }
        }
    }
}

fn kind(kind: ActorKind) -> (&'static str, &'static str) {
    KINDS.iter().find(|(.., known)| *known == kind).map_or(("", ""), |(word, text, _)| (word, text))
}

/// `actor=token:7`, `subject=Service:12`, `action=`, days, `after=` the last entry of the page before.
fn filter(visit: &Visit) -> Result<Filter, Fault> {
    let query = &visit.query;
    let bad = || Fault::BadRequest("That is no filter of the audit.".to_owned());
    let number = |text: &str| text.parse::<i64>().map_err(|_| bad());
    let actor = match query.given("actor") {
        Some(text) => {
            let (word, id) = text.split_once(':').unwrap_or((text, ""));
            let (.., kind) = KINDS.iter().find(|(known, ..)| *known == word).ok_or_else(bad)?;
            Some((*kind, if id.is_empty() { None } else { Some(number(id)?) }))
        }
        None => None,
    };
    let subject = match query.given("subject") {
        Some(text) => {
            let (class, id) = text.split_once(':').ok_or_else(bad)?;
            Some((class.to_owned(), number(id)?))
        }
        None => None,
    };
    let before = match query.given("after") {
        Some(text) => {
            let (at, id) = text.split_once('_').ok_or_else(bad)?;
            Some((Timestamp::from_micros(number(at)?), number(id)?))
        }
        None => None,
    };
    let until = query.given("until").map(day).transpose()?;
    Ok(Filter {
        actor,
        subject,
        before,
        action: query.given("action").map(str::to_owned),
        start: query.given("from").map(day).transpose()?,
        end: until.map(|day| Timestamp::from_micros(day.as_micros() + DAY)),
    })
}

fn of_actor(entry: &Model) -> String {
    let (word, _) = kind(entry.actor_kind);
    let id = entry.actor_id.map(|id| format!(":{id}")).unwrap_or_default();
    link("/audit", &Fields::default().with("actor", &format!("{word}{id}")))
}

fn of_subject(entry: &Model) -> Option<String> {
    Some(of(entry.subject_class.as_ref()?, entry.subject_id?))
}

/// Where the changes of one thing are: the SDL's noun, and its row.
pub(super) fn of(class: &str, id: i64) -> String {
    link("/audit", &Fields::default().with("subject", &format!("{class}:{id}")))
}
