//! The deploys of all services: who deployed what, where and when, by day.

use maud::{Markup, html};

use super::ask::ask;
use super::deploys::{folded, row};
use super::form::{self, Mistakes};
use super::layout::layout;
use super::operations::AllDeploys;
use super::operations::all_deploys::Deploy;
use super::operations::types::Moment;
use super::parts::{count_to_most, day, day_of, empty, pages};
use super::services::address;
use super::visit::Visit;
use super::{Answer, Fault, Site};
use crate::deploy::days::DAY;
use crate::entity::Timestamp;

const HERE: &str = "/deploys";

/// Lists the deploys, newest first.
pub async fn page(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let query = &visit.query;
    let until = query.given("until").map(day).transpose()?;
    let wanted = AllDeploys {
        service: query.given("service").map(str::to_owned),
        environments: query.given("environment").map(|one| vec![one]),
        start: query.given("from").map(day).transpose()?.map(Moment),
        end: until.map(|day| Moment(Timestamp::from_micros(day.as_micros() + DAY))),
        after: query.given("after"),
    };
    let deploys = ask(site, visit, wanted).await?.account.deploys;
    let now = Timestamp::now();
    let main = html! {
        (filters(visit))
        div #deploys {
            @if deploys.nodes.is_empty() {
                @if query.any() { (empty("No deploys match.", html! { p { a href=(HERE) { "All deploys" } } })) } @else {
                    (empty("No deploys yet.", html! {
                        p { "Your pipelines post deploys to a deploy integration." }
                        p { a.button href="/integrations" { "Integrations" } }
                    }))
                }
            } @else {
                p.soft role="status" {
                    (count_to_most(deploys.total_count, "deploy"))
                    @if query.any() { " · " a href=(HERE) { "All deploys" } }
                }
                @for (day, deploys) in by_day(&deploys.nodes) {
                    h2 { (day) }
                    (table(&day, deploys, now))
                }
                (pages(visit, HERE, &deploys.page_info))
            }
        }
    };
    Ok(Answer::page(layout(visit, "Deploys", main)))
}

fn filters(visit: &Visit) -> Markup {
    let none = Mistakes::none();
    let field =
        |name, label, kind| form::Text { name, label, hint: "", kind, required: false }.show(&visit.query, &none);
    html! {
        form.filters method="get" action=(HERE) role="search" data-live="deploys" {
            (field("service", "Service's alias", "search"))
            (field("environment", "Environment", "text"))
            (field("from", "From (UTC)", "date"))
            (field("until", "Until", "date"))
            button { "Search" }
        }
    }
}

/// The deploys of each day, in their order.
fn by_day(deploys: &[Deploy]) -> Vec<(String, &[Deploy])> {
    let day = |deploy: &Deploy| day_of(deploy.deploy.deployed_at.0);
    deploys.chunk_by(|one, next| day(one) == day(next)).map(|days| (day(&days[0]), days)).collect()
}

fn table(day: &str, deploys: &[Deploy], now: Timestamp) -> Markup {
    let changes = folded(deploys, |deploy| (&deploy.deploy, &deploy.service_alias));
    html! {
        div.scroll tabindex="0" role="region" aria-label={ "Deploys of " (day) } {
            table {
                thead { tr {
                    th scope="col" { "Change" } th scope="col" { "Service" } th scope="col" { "Result" }
                    th.wide scope="col" { "Where" } th.number scope="col" { "When" }
                } }
                tbody { @for change in changes { (row(&change.deploy.deploy, &change.environments, Some(service(change.deploy)), now)) } }
            }
        }
    }
}

/// Links to the service, if a service still has the alias.
fn service(deploy: &Deploy) -> Markup {
    html! {
        @match &deploy.service {
            Some(service) => a href=(address(&service.aliases)) { (service.name) },
            None => span.soft { (deploy.service_alias) },
        }
    }
}
