//! The deploys of all services, or of one: who deployed what, where and when, by day, and as a file.

use std::collections::HashMap;

use maud::{Markup, html};

use super::csv::{File, Row, Source};
use super::deploy_filter::{self, STATUSES, Wanted};
use super::deploys::{folded, row};
use super::form::Mistakes;
use super::layout::{Head, page as framed};
use super::offers::Offers;
use super::operations::Deploy;
use super::parts::{cursor_text, day_of, empty, grouped, link, page_links, time, time_of_day};
use super::reading::{Reading, too_long};
use super::service_name::labels;
use super::visit::{Fields, Visit, path};
use super::{Answer, Fault, Site, scope};
use catalogue::deploy::list::{self, Filter, Found};
use catalogue::entity::deploy::Model;
use catalogue::entity::service::{self, Label};
use catalogue::entity::{ByAlias, TimeCursor, Timestamp};

const HERE: &str = "/deploys";
/// The part of the page with the list, which the script asks for while somebody types, and again after a while.
const LIST: &str = "deploys";
/// The number of deploys on a page.
const PAGE: usize = 50;
/// The number of deploys that a file reads at once. Their texts are in memory until they are sent.
const PORTION: usize = 200;

/// The number of rows of the last deploys on the home page and the pages of teams, systems, domains and people.
const LATEST: usize = 5;
/// The number of deploys that are read for these rows: more than are shown, because a row is a change with all of its
/// environments. Four environments of each change are found, or those of fewer changes if there are more.
pub const READ: usize = 4 * LATEST;
/// After how many seconds a list of the newest deploys reads itself again, while it is seen.
const REFRESH: &str = "30";

/// Lists the deploys of all services, newest first.
pub async fn page(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    show(site, visit, None).await
}

/// Lists those of the service with this alias.
pub async fn of_service(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let service = known(site, visit, alias).await?;
    show(site, visit, Some(&service)).await
}

async fn known(site: &Site, visit: &Visit, alias: &str) -> Result<service::Model, Fault> {
    let found = site.reading(visit).await?.required(|db| service::Entity::by_alias(db, alias)).await?;
    found.ok_or_else(|| Fault::unknown("service", alias))
}

/// Lists the deploys, newest first: of all services, or of one.
async fn show(site: &Site, visit: &Visit, of: Option<&service::Model>) -> Result<Answer, Fault> {
    let query = &visit.query;
    let here = of.map_or_else(|| HERE.to_owned(), |service| path(["services", &service.slug, "deploys"]));
    // The list alone needs no fields, nor what they offer.
    let is_whole = !visit.is_about(LIST);
    let offers = Offers::read(site, visit, if of.is_none() && is_whole { &scope::OFFERED } else { &[] }).await?;
    let production = &site.catalogue.settings().production;
    let reading = site.reading(visit).await?;
    let mut wanted = reading.required(|db| Wanted::read(db, query, production, of)).await?;
    let found = reading.required(|db| list::page(db, &wanted.filter, wanted.after, PAGE)).await?;
    let is_live = wanted.is_live();
    let services: Vec<i64> = found.deploys.iter().filter_map(|deploy| deploy.service_id).collect();
    let labels = reading.required(|db| labels(db, &services)).await?;
    let Found { deploys, next } = &found;
    if deploys.is_empty() && next.is_none() {
        let message = reading.required(|db| wanted.check_person(db)).await?;
        if let Some(message) = message {
            wanted.mistakes.push("person", message);
        }
    }
    let next = next.map(cursor_text);
    let status = if wanted.is_valid { 200 } else { 400 };
    let list = html! {
        div id=(LIST) data-refresh=[is_live.then_some(REFRESH)] {
            (deploy_filter::chips(visit, &here, of.is_none()))
            @if deploys.is_empty() { (none(visit, &here, (next.as_deref(), &wanted.mistakes))) }
            @if !deploys.is_empty() { (days(deploys, of.is_none().then_some(&labels))) }
            (page_links(visit, &here, next.as_deref()))
        }
    };
    if !is_whole {
        return Ok(Answer::with_status(status, list));
    }
    let main = html! {
        (deploy_filter::fields(visit, &here, of.is_none().then_some(&offers), &wanted.mistakes))
        @if wanted.is_cut { p.warning { "Only the deploys of " (list::SERVICES) " services are listed." } }
        (list)
    };
    let file = link(&format!("{here}.csv"), &query.without("after").query());
    let actions = html! { a.button.quiet href=(file) { "Download CSV" } };
    let title = of.map_or_else(|| "Deploys".to_owned(), |service| format!("Deploys of {}", service.name));
    let head = match of {
        Some(service) => Head::below(visit, &title, &[(&*path(["services", &service.slug]), &*service.name)]),
        None => Head::new(&title),
    };
    Ok(Answer::with_status(status, framed(visit, &Head { actions, ..head }, main)))
}

/// The same list as a file.
pub async fn file(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    file_of(site, visit, None).await
}

/// The list of a service as a file.
pub async fn service_file(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let service = known(site, visit, alias).await?;
    file_of(site, visit, Some(&service)).await
}

/// The list as a file. It has no place for mistakes.
async fn file_of(site: &Site, visit: &Visit, of: Option<&service::Model>) -> Result<Answer, Fault> {
    let production = &site.catalogue.settings().production;
    let wanted = site.reading(visit).await?.required(|db| Wanted::read(db, &visit.query, production, of)).await?;
    wanted.mistakes.refused()?;
    let list = List { site: site.clone(), visit: visit.clone(), filter: wanted.filter, after: None };
    Ok(Answer::file(File::begin("deploys.csv", &COLUMNS, list).await?))
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

/// In the place of deploys. With `next`, the search has ended before the last deploy.
fn none(visit: &Visit, here: &str, (next, mistakes): (Option<&str>, &Mistakes)) -> Markup {
    let all = html! { a href=(here) { "All deploys" } };
    if next.is_some() {
        let text = format!("None of the next {} deploys match.", grouped(list::SEARCHED as i64));
        return empty(&text, html! { p { "Go on with the next page, or name a service, a team or a period. " (all) } });
    }
    if !mistakes.is_empty() {
        // The script shows the list without the fields, at which this stands, too.
        return empty(&mistakes.messages().collect::<Vec<_>>().join(" "), html! { p { (all) } });
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
    named: (&str, &str),
) -> Result<Markup, Fault> {
    let reading = site.reading(visit).await?;
    let services = reading.optional(|db| service::ids_of(db, column, id, list::SERVICES as u64)).await?;
    latest_among(&reading, services, named).await
}

/// The last deploys of these services, at most [`list::SERVICES`], with a link to all of them: a filter and its value. `None`
/// means that the services were not read.
pub async fn latest_among(
    reading: &Reading,
    services: Option<Vec<i64>>,
    (filter, value): (&str, &str),
) -> Result<Markup, Fault> {
    let found = match services {
        None => None,
        Some(services) => {
            let filter = Filter { services: Some(services), ..Filter::default() };
            let found = reading.optional(async |db| {
                let deploys = list::page(db, &filter, None, READ).await?.deploys;
                let services: Vec<i64> = deploys.iter().filter_map(|deploy| deploy.service_id).collect();
                Ok::<_, Fault>((labels(db, &services).await?, deploys))
            });
            found.await?
        }
    };
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

/// The last deploys of the person with this email address, with a link to all of them.
pub async fn latest_of(reading: &Reading, email: &str) -> Result<Markup, Fault> {
    let found = reading.optional(async |db| {
        let filter = Filter { person: Some(email.to_owned()), ..Filter::default() };
        let found = list::page(db, &filter, None, READ).await?;
        let services: Vec<i64> = found.deploys.iter().filter_map(|deploy| deploy.service_id).collect();
        Ok::<_, Fault>((labels(db, &services).await?, found))
    });
    let found = found.await?;
    let all = link(HERE, &Fields::one("person", email).query());
    Ok(html! {
        h2 #deploys { "Deploys" }
        @match &found {
            None => (too_long()),
            Some((_, found)) if found.deploys.is_empty() => p.soft {
                @if found.next.is_some() {
                    "None of the last " (grouped(list::SEARCHED as i64)) " deploys is by them."
                } @else { "No deploy names their email address." }
            },
            Some((labels, found)) => (table("Latest deploys", &found.deploys, labels, Timestamp::now())),
        }
        p { a href=(all) { "All deploys" span.hidden { " of this person" } } }
    })
}

/// A table of the last of these deploys, in which those of the same commit of a service with the same result are one row.
pub fn table(label: &str, deploys: &[Model], labels: &HashMap<i64, Label>, now: Timestamp) -> Markup {
    let rows = html! { tbody { (changes(deploys, LATEST, Some(labels), |moment| time(moment, now))) } };
    framed_rows(label, true, "When", &rows)
}

/// The same in one table by day, each row with its time of day. Without `labels`, the deploys are of one service, which the
/// rows do not name.
fn days(deploys: &[Model], labels: Option<&HashMap<i64, Label>>) -> Markup {
    let columns = if labels.is_some() { 5 } else { 4 };
    let rows = html! {
        @for (day, deploys) in by_day(deploys) {
            tbody {
                tr.day { th scope="rowgroup" colspan=(columns) { (day) } }
                (changes(deploys, deploys.len(), labels, time_of_day))
            }
        }
    };
    framed_rows("Deploys by day", labels.is_some(), "Time (UTC)", &rows)
}

/// A table around rows of deploys. `when` is the heading of their times.
fn framed_rows(label: &str, with_services: bool, when: &str, rows: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) {
            table.lined.changes {
                thead { tr {
                    th scope="col" { "Change" }
                    @if with_services { th scope="col" { "Service" } }
                    th scope="col" { "Result" } th scope="col" { "Where" } th.number scope="col" { (when) }
                } }
                (rows)
            }
        }
    }
}

/// The number of deploys in [`table`], and that of its rows.
pub fn shown(deploys: &[Model]) -> (usize, usize) {
    let all: Vec<(Deploy, &Model)> = deploys.iter().map(|deploy| (Deploy::from(deploy), deploy)).collect();
    let changes = folded(&all, |(deploy, stored)| (deploy, &stored.service_alias));
    let rows = changes.len().min(LATEST);
    (changes.iter().take(rows).map(|change| change.deploys).sum(), rows)
}

/// The rows of the last changes of these deploys, at most `most`. All are folded first, so that each has its environments.
fn changes(
    deploys: &[Model],
    most: usize,
    labels: Option<&HashMap<i64, Label>>,
    when: impl Fn(Timestamp) -> Markup,
) -> Markup {
    let shown: Vec<(Deploy, &Model)> = deploys.iter().map(|deploy| (Deploy::from(deploy), deploy)).collect();
    let changes = folded(&shown, |(deploy, stored)| (deploy, &stored.service_alias));
    html! {
        @for change in changes.into_iter().take(most) {
            @let (deploy, stored) = change.deploy;
            (row(deploy, &change.environments, labels.map(|labels| service(stored, labels)), &when(stored.deployed_at)))
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
