//! The deploys of all services: who deployed what, where and when, by day, and as a file.

use std::collections::HashMap;

use maud::{Markup, html};

use super::csv::{File, Row, Source};
use super::deploys::{folded, row};
use super::form::{self, Mistakes};
use super::home::mine::labels;
use super::layout::{Head, page as framed};
use super::offers::{Offered, Offers};
use super::operations::Deploy;
use super::parts::{chip, cursor_text, day, day_of, empty, link, page_links, read_cursor};
use super::picker::{self, Noun};
use super::reading::too_long;
use super::visit::{Fields, Visit, path};
use super::{Answer, Fault, Site};
use crate::db::ReadHandle;
use crate::deploy::days::DAY;
use crate::deploy::list::{self, Filter, Found};
use crate::entity::deploy::{Model, Status};
use crate::entity::service::{self, Label};
use crate::entity::{TimeCursor, Timestamp};

const HERE: &str = "/deploys";
/// The part of the page with the list, which the script asks for while somebody types.
const LIST: &str = "deploys";
/// What the fields of the page offer.
const OFFERED: [Offered; 3] = [Offered::Services, Offered::Teams, Offered::Systems];
/// The number of deploys on a page.
const PAGE: usize = 50;
/// The number of deploys that a file reads at once. Their texts are in memory until they are sent.
const PORTION: usize = 200;

/// The number of deploys on the pages of teams and systems.
const LATEST: usize = 5;

/// The statuses: the word in the address and on the page, and what is stored.
const STATUSES: &[(&str, Status)] = &[
    ("succeeded", Status::Succeeded),
    ("failed", Status::Failed),
    ("running", Status::Running),
    ("queued", Status::Queued),
    ("cancelled", Status::Cancelled),
];

/// Lists the deploys, newest first. The list alone needs no fields, nor what they offer.
pub async fn page(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    if visit.is_about(LIST) {
        return Ok(Answer::page(shown(site, visit).await?));
    }
    let offers = Offers::read(site, visit, &OFFERED).await?;
    let list = shown(site, visit).await?;
    let main = html! { (filters(visit, &offers)) (list) };
    let file = link("/deploys.csv", &visit.query.without("after").query());
    let head = Head { actions: html! { a.button.quiet href=(file) { "Download CSV" } }, ..Head::new("Deploys") };
    Ok(Answer::page(framed(visit, &head, main)))
}

/// The part of the page with the list.
async fn shown(site: &Site, visit: &Visit) -> Result<Markup, Fault> {
    let now = Timestamp::now();
    let after = visit.query.given("after").map(read_cursor).transpose()?;
    let reading = site.reading(visit).await?;
    let filter = reading.required(|db| filter(db, &visit.query)).await?;
    let found = reading.required(|db| list::page(db, &filter, after, PAGE)).await?;
    let services: Vec<i64> = found.deploys.iter().filter_map(|deploy| deploy.service_id).collect();
    let labels = reading.required(|db| labels(db, &services)).await?;
    let Found { deploys, next } = &found;
    let next = next.map(cursor_text);
    Ok(html! {
        div id=(LIST) {
            (chips(visit))
            @if deploys.is_empty() { (none(visit, next.as_deref())) }
            @for (day, deploys) in by_day(deploys) {
                h2 { (day) }
                (table(&format!("Deploys of {day}"), deploys, &labels, now))
            }
            (page_links(visit, HERE, next.as_deref()))
        }
    })
}

/// The same list as a file.
pub async fn file(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let filter = site.reading(visit).await?.required(|db| filter(db, &visit.query)).await?;
    let list = List { site: site.clone(), visit: visit.clone(), filter, after: None };
    File::begin("deploys.csv", &COLUMNS, list).await
}

/// The columns of the file.
const COLUMNS: [&str; 11] = [
    "deployed at",
    "service",
    "environment",
    "status",
    "number",
    "description",
    "deployer",
    "deployer email",
    "commit",
    "commit message",
    "url",
];

/// The deploys of a file.
struct List {
    site: Site,
    visit: Visit,
    filter: Filter,
    after: Option<TimeCursor>,
}

impl Source for List {
    async fn next(&mut self) -> Result<(Vec<Row>, bool), Fault> {
        let reading = self.site.reading(&self.visit).await?;
        let Found { deploys, next } = reading.required(|db| list::page(db, &self.filter, self.after, PORTION)).await?;
        self.after = next;
        Ok((deploys.iter().map(cells).collect(), next.is_some()))
    }
}

/// The row of a deploy.
fn cells(deploy: &Model) -> Row {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let status = STATUSES.iter().find(|(_, status)| deploy.deploy_status == Some(*status));
    let cells: [String; COLUMNS.len()] = [
        deploy.deployed_at.to_string(),
        deploy.service_alias.clone(),
        text(&deploy.environment),
        status.map_or_else(|| text(&deploy.status), |(word, _)| (*word).to_owned()),
        deploy.deploy_number.clone(),
        deploy.description.clone(),
        text(&deploy.deployer_name),
        text(&deploy.deployer_email),
        text(&deploy.commit_sha),
        text(&deploy.commit_message),
        text(&deploy.deploy_url),
    ];
    cells.into()
}

/// Reads the conditions of the address.
async fn filter(db: &dyn ReadHandle, query: &Fields) -> Result<Filter, Fault> {
    let status = query.given("status").map(|word| {
        let known = STATUSES.iter().find(|(known, _)| *known == word);
        known
            .map(|(_, status)| *status)
            .ok_or_else(|| Fault::BadRequest("Choose one of the listed statuses.".to_owned()))
    });
    let until = query.given("until").map(day).transpose()?;
    Ok(Filter {
        services: services(db, query).await?,
        environment: query.given("environment").map(str::to_owned),
        status: status.transpose()?,
        person: query.given("person").map(str::to_owned),
        start: query.given("from").map(day).transpose()?,
        end: until.map(|day| Timestamp::from_micros(day.as_micros() + DAY)),
    })
}

/// The services that the address names by their own alias or name, or by those of their team or their system. None if one of
/// these is unknown.
async fn services(db: &dyn ReadHandle, query: &Fields) -> Result<Option<Vec<i64>>, Fault> {
    let most = list::SERVICES as u64;
    let mut named: Option<Vec<i64>> = None;
    let mut narrow = |ids: Vec<i64>| {
        named = Some(match named.take() {
            Some(known) => known.into_iter().filter(|id| ids.contains(id)).collect(),
            None => ids,
        });
    };
    for (field, noun, column) in [
        ("service", Noun::Service, None),
        ("team", Noun::Team, Some(service::Column::OwnerId)),
        ("system", Noun::System, Some(service::Column::SystemId)),
    ] {
        let Some(text) = query.given(field) else { continue };
        narrow(match (picker::named(db, noun, text).await?, column) {
            (Some(found), Some(column)) => service::ids_of(db, column, found.id, most).await?,
            (Some(found), None) => vec![found.id],
            (None, _) => Vec::new(),
        });
    }
    Ok(named)
}

fn filters(visit: &Visit, offers: &Offers) -> Markup {
    let none = Mistakes::none();
    let field =
        |name, label, kind| form::Text { name, label, hint: "", kind, required: false }.show(&visit.query, &none);
    let named = |of, name, label| offers.show(of, (name, label, ""), false, (&visit.query, &none));
    let statuses: Vec<_> = [("", "any")].into_iter().chain(STATUSES.iter().map(|(word, _)| (*word, *word))).collect();
    html! {
        form.filters.one method="get" action=(HERE) role="search" data-live=(LIST) {
            (named(Offered::Services, "service", "Service (name or alias)"))
            button { "Search" }
            details.more {
                summary { "Add a filter" }
                div {
                    (named(Offered::Teams, "team", "Team (name or alias)"))
                    (named(Offered::Systems, "system", "System (name or alias)"))
                    (field("person", "Deployed by", "text"))
                    (field("environment", "Environment", "text"))
                    (form::select("status", "Status", "", &statuses, &visit.query, &none))
                    (field("from", "From (UTC)", "date"))
                    (field("until", "Until", "date"))
                }
            }
        }
    }
}

/// The filters in use.
fn chips(visit: &Visit) -> Markup {
    let known = [
        ("service", "Service is"),
        ("team", "Team is"),
        ("system", "System is"),
        ("person", "Deployed by"),
        ("environment", "Environment is"),
        ("status", "Status is"),
        ("from", "From"),
        ("until", "Until"),
    ];
    let used = || known.iter().filter_map(|(name, label)| Some((*name, *label, visit.query.given(name)?)));
    html! {
        @if used().next().is_some() {
            ul.chips { @for (name, label, value) in used() { (chip(visit, HERE, name, label, value)) } }
        }
    }
}

/// In the place of deploys. With `next`, the search has ended before the last deploy.
fn none(visit: &Visit, next: Option<&str>) -> Markup {
    let all = html! { a href=(HERE) { "All deploys" } };
    if next.is_some() {
        let text = format!("None of the next {} deploys match.", super::parts::grouped(list::SEARCHED as i64));
        return empty(&text, html! { p { "Go on with the next page, or name a service, a team or a period. " (all) } });
    }
    if visit.query.has_text() {
        return empty("No deploys match.", html! { p { (all) } });
    }
    empty(
        "No deploys yet.",
        html! {
            p { "Your pipelines post deploys to a deploy integration." }
            p { a.button href="/integrations" { "Integrations" } }
        },
    )
}

/// The deploys of each day, in their order.
fn by_day(deploys: &[Model]) -> Vec<(String, &[Model])> {
    let day = |deploy: &Model| day_of(deploy.deployed_at);
    deploys.chunk_by(|one, next| day(one) == day(next)).map(|days| (day(&days[0]), days)).collect()
}

/// The last deploys of the services whose column holds an id, with a link to all of them: a filter and its value.
pub async fn latest(
    site: &Site,
    visit: &Visit,
    (column, id): (service::Column, i64),
    (filter, value): (&str, &str),
) -> Result<Markup, Fault> {
    let reading = site.reading(visit).await?;
    let found = reading.optional(async |db| {
        let services = service::ids_of(db, column, id, list::SERVICES as u64).await?;
        let filter = Filter { services: Some(services), ..Filter::default() };
        let deploys = list::page(db, &filter, None, LATEST).await?.deploys;
        let services: Vec<i64> = deploys.iter().filter_map(|deploy| deploy.service_id).collect();
        Ok::<_, Fault>((labels(db, &services).await?, deploys))
    });
    let found = found.await?;
    let all = link(HERE, &Fields::one(filter, value).query());
    Ok(html! {
        section.card {
            h2 #deploys { "Deploys" a href=(all) { "All deploys" } }
            @match &found {
                None => (too_long()),
                Some((_, deploys)) if deploys.is_empty() => p.soft { "None of these services was deployed." },
                Some((labels, deploys)) => (table("Latest deploys", deploys, labels, Timestamp::now())),
            }
        }
    })
}

/// A table of deploys, in which those of the same commit of a service with the same result are one row.
pub fn table(label: &str, deploys: &[Model], labels: &HashMap<i64, Label>, now: Timestamp) -> Markup {
    let shown: Vec<(Deploy, &Model)> = deploys.iter().map(|deploy| (Deploy::from(deploy), deploy)).collect();
    let changes = folded(&shown, |(deploy, stored)| (deploy, &stored.service_alias));
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) {
            table.deploys {
                thead { tr {
                    th scope="col" { "Change" } th scope="col" { "Service" } th scope="col" { "Result" }
                    th.wide scope="col" { "Where" } th.number scope="col" { "When" }
                } }
                tbody { @for change in changes {
                    (row(&change.deploy.0, &change.environments, Some(service(change.deploy.1, labels)), now))
                } }
            }
        }
    }
}

/// Links to the service, if a service still has the alias.
fn service(deploy: &Model, labels: &HashMap<i64, Label>) -> Markup {
    html! {
        @match deploy.service_id.and_then(|id| labels.get(&id)) {
            Some(label) => a href=(path(["services", &label.slug])) { (label.name) },
            None => span.soft { (deploy.service_alias) },
        }
    }
}
