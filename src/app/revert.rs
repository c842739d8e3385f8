//! Reverts a change of the audit: a page that shows what that would do and what stands in its way, with one button.

use maud::{Markup, html};

use super::ask::{ask, settled, unanswered};
use super::form::Mistakes;
use super::layout::{Head, page as framed};
use super::operations::RevertChange;
use super::operations::revert_change::ServiceFileChange;
use super::parts::{relative, short, time};
use super::rights::Reach;
use super::visit::{Method, Session, Visit, path};
use super::words::{self, Addresses};
use super::{Answer, Fault, Site};
use catalogue::entity::audit::{self, Model};
use catalogue::entity::user::Role;
use catalogue::entity::{ByIds, Timestamp};
use catalogue::graphql::field::id::Id;
use catalogue::graphql::revert;

/// The link to the page that reverts an entry, if that may be possible.
pub fn offer(entry: &Model) -> Markup {
    html! {
        @if revert::refusal(entry).is_none() {
            a.button.quiet href=(address(entry.id)) { "Revert" span.hidden {
                ": " (words::fields(entry).unwrap_or_else(|| words::done(entry)))
                @if let Some(name) = &entry.subject_name { " of " (short(name)) }
                ", " (relative(entry.at, Timestamp::now()))
            } }
        }
    }
}

/// A link to the entry that an entry reverts, if it does.
pub fn reverted(entry: &Model) -> Markup {
    html! {
        @if let Some(other) = words::reverted(entry) {
            div { a.plain href=(address(other)) { "The change that was reverted" } }
        }
    }
}

/// The path of the page that reverts an entry.
fn address(number: i64) -> String {
    path(["changes", &number.to_string(), "revert"])
}

/// An entry, and where what it tells is found.
struct Found {
    entry: Model,
    /// The noun to which it belongs: the path of its page and its name.
    noun: Option<(String, String)>,
    addresses: Addresses,
}

async fn find(site: &Site, visit: &Visit, number: &str) -> Result<Found, Fault> {
    let number = number.parse::<i64>().map_err(|_| Fault::NotFound)?;
    let reading = site.reading(visit).await?;
    let read = async |db| audit::Entity::by_ids(db, [Some(number)]).await;
    let entry = reading.required(read).await?.pop().flatten().ok_or(Fault::NotFound)?;
    // Entries about anything else, such as users and tokens, are for administrators.
    let thing = revert::belongs_to(&entry).or_else(|| words::thing(&entry).filter(|_| revert::is_told(&entry)));
    let things: Vec<words::Thing> = thing.into_iter().collect();
    if things.is_empty() {
        return Err(Fault::NotFound);
    }
    let addresses = reading.required(|db| words::addresses_of(db, &things)).await?;
    let noun = things.first().and_then(|thing| addresses.get(thing)).cloned();
    Ok(Found { entry, noun, addresses })
}

/// Shows what a revert of the entry with this number would do, or carries it out.
pub async fn answer(site: &Site, visit: &Visit, session: &Session, number: &str) -> Result<Answer, Fault> {
    if visit.method == Method::Post {
        session.require(Role::TeamMember)?;
    }
    let found = find(site, visit, number).await?;
    match visit.method {
        Method::Get => Ok(Answer::page(show(site, visit, session, &found).await?)),
        Method::Post => carry_out(site, visit, session, found).await,
    }
}

async fn carry_out(site: &Site, visit: &Visit, session: &Session, found: Found) -> Result<Answer, Fault> {
    let id = Id::new::<audit::Entity>(found.entry.id).text();
    let wanted = RevertChange { id: &id, dry_run: Some(false) };
    let done = ask(site, visit, wanted).await?.change_revert.ok_or_else(unanswered)?;
    match settled(done.errors) {
        Ok(()) => Ok(Answer::redirect(match found.noun {
            Some((noun, _)) => format!("{noun}/history"),
            None => "/".to_owned(),
        })),
        Err(_) => Ok(Answer::refused(show(site, visit, session, &found).await?)),
    }
}

async fn show(site: &Site, visit: &Visit, session: &Session, found: &Found) -> Result<Markup, Fault> {
    let Found { entry, noun, addresses } = found;
    let refusal = match Reach::read(site, session).await?.is_empty() {
        true => Some("your role does not allow to revert changes".to_owned()),
        false => revert::refusal(entry),
    };
    let tried = match &refusal {
        Some(_) => None,
        None => {
            let id = Id::new::<audit::Entity>(entry.id).text();
            let wanted = RevertChange { id: &id, dry_run: Some(true) };
            Some(ask(site, visit, wanted).await?.change_revert.ok_or_else(unanswered)?)
        }
    };
    let (summary, fields, errors) = match tried {
        Some(tried) => (tried.summary, tried.fields.unwrap_or_default(), tried.errors),
        None => (None, Vec::new(), Vec::new()),
    };
    let mistakes = settled(errors).err().unwrap_or_else(Mistakes::none);
    let obstacles: Vec<&str> = refusal.as_deref().into_iter().chain(mistakes.messages()).collect();
    let main = html! {
        section {
            h2 { "The change" }
            p { (words::done(entry)) " " (words::subject(entry, addresses)) " by "
                bdi { (short(words::actor_name(entry))) } ", " (time(entry.at, Timestamp::now())) "." }
            (words::details(entry))
            (reverted(entry))
            p { "For " code { "changeRevert" } " of the API, its id is "
                code { (Id::new::<audit::Entity>(entry.id).text()) } "." }
        }
        @if !obstacles.is_empty() {
            div.problem role="alert" {
                p { strong { "It cannot be reverted." } " Nothing is changed, because:" }
                ul { @for obstacle in &obstacles { li { (obstacle) } } }
            }
        }
        (preview(entry.subject_class.as_deref(), summary.as_deref(), &fields))
        div.actions {
            @if obstacles.is_empty() {
                form method="post" action=(address(entry.id)) { button { "Revert this change" } }
            }
            @if let Some((noun, _)) = noun { a.button.quiet href={ (noun) "/history" } { "Back to the history" } }
        }
    };
    let head = match noun {
        Some((address, name)) => Head::with_parent("Revert a change", address, name),
        None => Head::new("Revert a change"),
    };
    Ok(framed(visit, &head, main))
}

/// What a revert would do, field by field. Without a summary it is refused: only how the fields differ is shown.
fn preview(class: Option<&str>, summary: Option<&str>, fields: &[ServiceFileChange]) -> Markup {
    let side = |field: &str, text: &Option<String>| {
        let text = text.as_ref().map(|text| words::text_in_words(class, field, text));
        html! { @match &text { Some(text) => (short(text)), None => span.soft { "nothing" } } }
    };
    let (title, then) = match summary {
        Some(_) => ("The revert", "After the revert"),
        None => ("The fields", "Before the change"),
    };
    html! {
        @if summary.is_some() || !fields.is_empty() {
            section {
                h2 { (title) }
                @if let Some(summary) = summary {
                    p { (summary) " It is all or nothing, and a change of its own: the history tells it, and it can be reverted." }
                    p.soft { "Nothing is changed yet." }
                }
                @if !fields.is_empty() {
                    div.scroll tabindex="0" role="region" aria-label="Fields" {
                        table {
                            thead { tr { th scope="col" { "Field" } th scope="col" { "Now" } th scope="col" { (then) } } }
                            tbody { @for field in fields {
                                tr {
                                    th scope="row" { (words::field_name(&field.field)) }
                                    td { (side(&field.field, &field.before)) }
                                    td { (side(&field.field, &field.after)) }
                                }
                            } }
                        }
                    }
                }
            }
        }
    }
}
