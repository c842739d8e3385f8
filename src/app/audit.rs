//! The audit page: who changed what, when, and how; sign-ins and sign-outs; refused attempts. For administrators only.

use maud::{Markup, html};
use serde_json::{Map, Value as Json};

use super::form::{self, Mistakes};
use super::layout::layout;
use super::parts::{begins_at, chip, empty, link, page_links, period, time};
use super::visit::{Fields, Session, Visit};
use super::words::{self, Addresses, value, values};
use super::{Answer, Fault, Site, revert};
use catalogue::entity::Timestamp;
use catalogue::entity::audit::{self, ActorKind, Filter, Model};
use catalogue::entity::user::Role;

const PAGE: usize = 50;
const TOO_MUCH: &str =
    "These entries took too long to read. Go back and narrow the filter, for example to fewer days or one action.";

/// The kinds of actors: the word in the URL, and the text on the page.
const KINDS: &[(&str, &str, ActorKind)] = &[
    ("token", "token", ActorKind::Token),
    ("session", "signed in", ActorKind::Session),
    ("command_line", "command line", ActorKind::CommandLine),
    ("visitor", "not signed in", ActorKind::Visitor),
];

/// Lists the entries, newest first.
pub async fn page(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    session.require(Role::Admin)?;
    let mut mistakes = Mistakes::none();
    let filter = filter(visit, &mut mistakes);
    let reading = site.reading(visit).await?;
    let read = reading.optional(|db| audit::page(db, &filter, PAGE as u64 + 1)).await?;
    let Some(mut entries) = read else { return Err(Fault::TooMuch(TOO_MUCH.to_owned())) };
    // Without them, things have their numbers.
    let addresses = reading.optional(|db| words::addresses(db, &entries)).await?.unwrap_or_default();
    let more = entries.len() > PAGE;
    entries.truncate(PAGE);
    let next = entries.last().filter(|_| more).map(|entry| format!("{}_{}", entry.at.as_micros(), entry.id));
    let filtered = visit.query.has_text();
    let main = html! {
        p { "Changes to the catalogue, its users and its tokens; sign-ins and sign-outs; and refused attempts. "
            "Deploys are not listed here." }
        (mistakes.summary(&["actor", "from", "until"]))
        (filters(visit, filter.actor, &mistakes))
        (chips(visit, &mistakes))
        @if entries.is_empty() {
            @if filtered { (empty("No entries match.", html! { p { a href="/audit" { "All changes" } } })) }
            @else { (empty("No entries yet.", html! { p { "Changes will appear here." } })) }
        } @else {
            @if filtered { p { a href="/audit" { "All changes" } } }
            (table(&entries, &addresses))
            (page_links(visit, "/audit", next.as_deref()))
        }
    };
    Ok(Answer::checked(&mistakes, layout(visit, "Audit", main)))
}

fn table(entries: &[Model], addresses: &Addresses) -> Markup {
    let now = Timestamp::now();
    html! {
        div.scroll tabindex="0" role="region" aria-label="Changes" {
            table.fit.stacked {
                thead { tr { th scope="col" { "When" } th scope="col" { "Who" } th scope="col" { "Action" } th scope="col" { "Changed" } th scope="col" { "Details" } } }
                tbody { @for entry in entries {
                    tr {
                        td { (time(entry.at, now)) }
                        td {
                            a.brief[entry.actor_kind == ActorKind::CommandLine] href=(of_actor(entry)) { (entry.actor_name) }
                            @if entry.actor_kind != ActorKind::CommandLine { " " span.mark.none { (kind(entry.actor_kind).1) } }
                        }
                        td { (words::done(entry)) small { code { (entry.action) } } }
                        td {
                            @if let Some(class) = &entry.subject_class { span.soft { (class) } " " }
                            @let name = entry.subject_name.clone().or(entry.subject_id.map(|id| id.to_string())).unwrap_or_default();
                            @match of_subject(entry) { Some(address) => a href=(address) { (name) }, None => (name) }
                            @if entry.owner_id.is_some() { small { (words::belonging(entry, addresses)) } }
                        }
                        td { (detail(entry.subject_class.as_deref(), &entry.detail)) (revert::reverted(entry)) (revert::offer(entry)) }
                    }
                } }
            }
        }
    }
}

fn filters(visit: &Visit, actor: Option<(ActorKind, Option<i64>)>, mistakes: &Mistakes) -> Markup {
    let query = &visit.query;
    let field = |name, label, kind| form::Text { name, label, hint: "", kind, required: false }.show(query, mistakes);
    let mut actors = vec![
        ("", "anybody"),
        ("token", "any token"),
        ("session", "any user"),
        ("command_line", "command line"),
        ("visitor", "anyone not signed in"),
    ];
    // A single actor can only be chosen by a link in the list.
    if let Some((_, Some(_))) = actor {
        actors.push((query.get("actor"), "this one"));
    }
    html! {
        form.filters method="get" action="/audit" role="search" {
            (form::select("actor", "Who", "", &actors, query, mistakes))
            (field("action", "Action, such as serviceUpdate or signIn", "search"))
            (field("from", "From (UTC)", "date"))
            (field("until", "Until", "date"))
            @if let Some(subject) = query.given("subject") { input type="hidden" name="subject" value=(subject); }
            button { "Search" }
        }
    }
}

/// The conditions that no field shows, each with a link that removes it: the object, and days that are not dates.
fn chips(visit: &Visit, mistakes: &Mistakes) -> Markup {
    let known = [("subject", "About"), ("from", "From"), ("until", "Until")];
    let is_unseen = |name: &str| name == "subject" || mistakes.of_field(name).next().is_some();
    let unseen = known.into_iter().filter(|(name, _)| is_unseen(name));
    let used: Vec<_> = unseen.filter_map(|(name, label)| Some((name, label, visit.query.given(name)?))).collect();
    html! {
        @if !used.is_empty() {
            ul.chips { @for (name, label, value) in used { (chip(visit, "/audit", name, label, value)) } }
        }
    }
}

/// The details of an entry: first each changed field with its old and new value, then the rest.
fn detail(class: Option<&str>, text: &str) -> Markup {
    let Ok(Json::Object(mut detail)) = serde_json::from_str(text) else { return html! { code { (text) } } };
    let changed = match detail.remove("changed") {
        Some(Json::Object(changed)) => changed,
        _ => Map::new(),
    };
    let is_input = detail.values().any(Json::is_object);
    html! {
        @for (field, change) in &changed {
            div { span.soft { (words::field_name(field)) ": " } (values(class, field, change)) }
        }
        @if is_input {
            details { summary { "input" } code { (Json::Object(detail)) } }
        } @else {
            @for (name, said) in &detail { div { span.soft { (name) ": " } (value(said)) } }
        }
    }
}

fn kind(kind: ActorKind) -> (&'static str, &'static str) {
    KINDS.iter().find(|(.., known)| *known == kind).map_or(("", ""), |(word, text, _)| (word, text))
}

/// Reads the filter: `actor=token:7`, `subject=Service:12`, `action=`, the days, and `after=` with the last entry of
/// the previous page. What is not valid is a mistake, and no condition.
fn filter(visit: &Visit, mistakes: &mut Mistakes) -> Filter {
    let query = &visit.query;
    let actor = understood(query, "actor", "Choose one of the listed actors.", mistakes, |text| {
        let (word, id) = text.split_once(':').unwrap_or((text, ""));
        let (.., kind) = KINDS.iter().find(|(known, ..)| *known == word)?;
        Some((*kind, if id.is_empty() { None } else { Some(id.parse().ok()?) }))
    });
    let subject =
        understood(query, "subject", "The object in the address is not valid: these are all.", mistakes, |text| {
            let (class, id) = text.split_once(':')?;
            Some((class.to_owned(), id.parse().ok()?))
        });
    let before = begins_at(query, mistakes);
    let (start, end) = period(query, mistakes);
    Filter { actor, subject, before, action: query.given("action").map(str::to_owned), start, end }
}

/// Parses a part of the filter. One that is not valid is a mistake with this message.
fn understood<T>(
    query: &Fields,
    name: &str,
    message: &str,
    mistakes: &mut Mistakes,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Option<T> {
    let parsed = parse(query.given(name)?);
    if parsed.is_none() {
        mistakes.push(name, message);
    }
    parsed
}

fn of_actor(entry: &Model) -> String {
    let (word, _) = kind(entry.actor_kind);
    let id = entry.actor_id.map(|id| format!(":{id}")).unwrap_or_default();
    link("/audit", &Fields::default().query_with("actor", &format!("{word}{id}")))
}

fn of_subject(entry: &Model) -> Option<String> {
    Some(address(entry.subject_class.as_ref()?, entry.subject_id?))
}

/// The link to the changes of one object, given its SDL type and row id.
pub(super) fn address(class: &str, id: i64) -> String {
    link("/audit", &Fields::default().query_with("subject", &format!("{class}:{id}")))
}
