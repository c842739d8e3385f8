//! Who is on call for a service: their list, and the forms that add and remove one.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};

use super::ask::{ask, settled, unanswered};
use super::form::{Mistakes, Text};
use super::layout::below;
use super::offers::{Offered, Offers};
use super::operations::on_call_of_service::{OnCall, Service};
use super::operations::{IdentifierInput, OnCallInput, OnCallOfService, ServiceOnCallsUpdateInput, SetOnCall};
use super::parts::{clock, delete_button, external_link, short};
use super::rights::{Rights, Thing};
use super::service_name::address;
use super::visit::{Method, Visit, path};
use super::{Answer, Fault, Site};
use catalogue::entity::{Timestamp, text};

const NAME: &str = "name";
const EMAIL: &str = "externalEmail";
const SCHEDULE: &str = "schedule";
const URL: &str = "url";
const SHOWN: [&str; 4] = [NAME, EMAIL, SCHEDULE, URL];

/// Routes the pages of who is on call.
pub async fn answer(site: &Site, visit: &Visit, path: &[&str]) -> Result<Answer, Fault> {
    use Method::{Get, Post};
    match (visit.method, path) {
        (Get, ["services", alias, "on-call"]) => page(site, visit, alias).await,
        (Post, ["services", alias, "on-call"]) => add(site, visit, alias).await,
        (Post, ["services", alias, "on-call", id, "delete"]) => remove(site, visit, alias, id).await,
        _ => Err(Fault::NotFound),
    }
}

/// Lists who is on call, with a form for another.
async fn page(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let service = find(site, visit, alias).await?;
    Ok(Answer::page(list(site, visit, &service, &Mistakes::none()).await?))
}

/// Adds somebody, after those who are on call.
async fn add(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let service = find(site, visit, alias).await?;
    let optional = |name| visit.form.given(name).map_or(MaybeUndefined::Undefined, MaybeUndefined::Value);
    let mut all: Vec<_> = service.on_calls.nodes.iter().map(kept).collect();
    let place = all.len();
    all.push(OnCallInput {
        name: visit.form.get(NAME),
        external_email: optional(EMAIL),
        schedule: optional(SCHEDULE),
        url: optional(URL),
        ends_at: MaybeUndefined::Undefined,
    });
    set(site, visit, &service, all, place).await
}

/// Removes somebody.
async fn remove(site: &Site, visit: &Visit, alias: &str, id: &str) -> Result<Answer, Fault> {
    let service = find(site, visit, alias).await?;
    let nodes = &service.on_calls.nodes;
    // Every update gives all entries new ids: whoever looks at an older list removes nobody else.
    if !nodes.iter().any(|one| one.id == id) {
        return Err(Fault::NotFound);
    }
    let rest: Vec<_> = nodes.iter().filter(|one| one.id != id).map(kept).collect();
    let place = rest.len();
    set(site, visit, &service, rest, place).await
}

/// An entry as it is.
fn kept(one: &OnCall) -> OnCallInput<'_> {
    fn optional<T>(value: Option<T>) -> MaybeUndefined<T> {
        value.map_or(MaybeUndefined::Undefined, MaybeUndefined::Value)
    }
    OnCallInput {
        name: one.name.as_deref().unwrap_or_default(),
        external_email: optional(one.external_email.as_deref()),
        schedule: optional(one.schedule.as_deref()),
        url: optional(one.url.as_deref()),
        ends_at: optional(one.ends_at),
    }
}

/// Replaces the list. The mistakes about the entry at `place` are those of the form.
async fn set(
    site: &Site,
    visit: &Visit,
    service: &Service,
    on_calls: Vec<OnCallInput<'_>>,
    place: usize,
) -> Result<Answer, Fault> {
    let of_service = IdentifierInput { id: MaybeUndefined::Value(&*service.id), alias: MaybeUndefined::Undefined };
    let input = ServiceOnCallsUpdateInput { service: of_service, on_calls };
    let done = ask(site, visit, SetOnCall { input }).await?.service_on_calls_update.ok_or_else(unanswered)?;
    let Err(found) = settled(done.errors) else {
        return Ok(Answer::redirect(address(&service.aliases) + "/on-call"));
    };
    let mut mistakes = Mistakes::none();
    let own = format!("onCalls.{place}.");
    for (path, message) in found.all() {
        mistakes.push(path.strip_prefix(&*own).unwrap_or(path), message);
    }
    Ok(Answer::refused(list(site, visit, service, &mistakes).await?))
}

async fn find(site: &Site, visit: &Visit, alias: &str) -> Result<Service, Fault> {
    let found = ask(site, visit, OnCallOfService { alias }).await?;
    found.account.service.ok_or_else(|| Fault::unknown("service", alias))
}

async fn list(site: &Site, visit: &Visit, service: &Service, mistakes: &Mistakes) -> Result<Markup, Fault> {
    let (page, people, now) = (address(&service.aliases), &service.on_calls.nodes, Timestamp::now());
    let owner = service.owner.as_ref().map(Into::into);
    let rights = Rights::read(site, visit, Thing { noun: "service", page: page.clone(), owner }).await?;
    let may = rights.may_change();
    let offers = Offers::read(site, visit, if may { &[Offered::People] } else { &[] }).await?;
    let (form, shown) = (&visit.form, if may { &SHOWN[..] } else { &[] });
    let line = |name, label, hint, most, required| {
        Text { name, label, hint, kind: "text", required }.show_at_most(most, form, mistakes)
    };
    let main = html! {
        (rights.note())
        (mistakes.summary(shown))
        @if people.is_empty() { p.soft { "Nobody is recorded as on call." } } @else {
            ul.entries { @for one in people { li {
                @let name = one.name.as_deref().unwrap_or_default();
                div {
                    (name) " "
                    @if let Some(email) = &one.external_email { a href={ "mailto:" (email) } { (email) } " " }
                    @if let Some(schedule) = &one.schedule { (external_link(one.url.as_deref(), schedule)) " " }
                    @else if let Some(url) = &one.url { (external_link(Some(url), &short(url))) " " }
                    @if let Some(end) = &one.ends_at { span.soft { "until " (clock(end.0, now)) } }
                }
                @if may {
                    (delete_button(&format!("{page}{}", path(["on-call", &one.id, "delete"])), "Remove", name, "Remove this person from the list?"))
                }
            } } }
        }
        @if may {
            h2 { "Another person" }
            p.soft { "A tool that sends who is on call replaces this list." }
            form method="post" action={ (page) "/on-call" } {
                div.pair {
                    (line(NAME, "Name", "", text::SHORT, true))
                    (offers.show(Offered::People, (EMAIL, "Email address", "Links the entry to the person."), false, (form, mistakes)))
                }
                div.pair {
                    (line(SCHEDULE, "Schedule", "", text::SHORT, false))
                    (line(URL, "URL of the schedule", "", text::URL, false))
                }
                button { "Add person" }
            }
        }
    };
    Ok(below(visit, (&page, &service.name), &format!("On call for {}", service.name), main))
}
