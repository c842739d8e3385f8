//! What the page of a team says of now: who is on call for its services, their worst code issues, and its delivery.

use std::collections::{BTreeMap, HashMap};

use maud::{Markup, html};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::issues::rank;
use super::on_call::{self, OnCall};
use super::parts::{count, date, external_link, grouped, short};
use super::reading::too_long;
use super::visit::Visit;
use super::{Fault, Site, delivery_figures as figures};
use catalogue::db::{Read, ReadHandle, any};
use catalogue::deploy::delivery::{self, Delivery, GLANCED};
use catalogue::deploy::list::SERVICES;
use catalogue::entity::service::Label;
use catalogue::entity::{Timestamp, code_issue, code_issue_project_resource, service};

/// The maximum number of code issues of a team that are counted.
pub const ISSUES: usize = 5_000;
/// The number of code issues shown.
pub const WORST: usize = 5;
/// The maximum number of connections of their projects to services that are read.
const CONNECTIONS: u64 = 100;

/// What is read. A part is `None` if it took too long.
pub struct Now {
    on_call: Option<Vec<OnCall>>,
    issues: Option<Issues>,
    delivery: Option<Delivery>,
    labels: HashMap<i64, Label>,
    now: Timestamp,
    has_services: bool,
}

/// The code issues of a team's services.
struct Issues {
    /// The number of issues of each severity, in lower case, the most severe first.
    counts: Vec<(Option<String>, usize)>,
    /// The worst, those that are open for longest first, each with one of its services.
    worst: Vec<(code_issue::Model, Option<i64>)>,
}

impl Now {
    /// Reads it for the team with this id.
    pub async fn read(site: &Site, visit: &Visit, team: i64) -> Result<Self, Fault> {
        let now = Timestamp::now();
        let production = &site.catalogue.settings().production;
        let reading = site.reading(visit).await?;
        let services =
            reading.optional(|db| service::ids_of(db, service::Column::OwnerId, team, SERVICES as u64)).await?;
        let services = services.unwrap_or_default();
        let on_call = reading.optional(|db| on_call::read(db, Some(&services), now)).await?;
        let issues = reading.optional(|db| Issues::read(db, &services)).await?;
        let mut named: Vec<i64> = on_call::shown(on_call.as_deref().unwrap_or_default()).collect();
        named.extend(issues.iter().flat_map(|issues| issues.worst.iter().filter_map(|(_, service)| *service)));
        let labels = reading.optional(|db| service::labels(db, &named)).await?.unwrap_or_default();
        let labels = labels.into_iter().map(|label| (label.id, label)).collect();
        let delivery =
            reading.optional(|db| delivery::of_services(db, &services, figures::end(now), production, GLANCED)).await?;
        Ok(Self { on_call, issues, delivery, labels, now, has_services: !services.is_empty() })
    }

    /// The card of who is on call. Nothing without services.
    pub fn on_call(&self) -> Markup {
        match self.has_services {
            true => on_call::card(self.on_call.as_deref(), &self.labels, self.now),
            false => html! {},
        }
    }

    /// The card of the delivery. Nothing without deploys.
    pub fn delivery(&self, alias: &str) -> Markup {
        let figures = self.delivery.as_ref().map_or_else(too_long, |found| figures::small(found, alias));
        html! { @if !figures.0.is_empty() { section.card { h2 #delivery { "Delivery" } (figures) } } }
    }

    /// The card of the code issues. Nothing without any.
    pub fn issues(&self) -> Markup {
        let shown = self.issues.as_ref().map_or_else(too_long, |issues| issues.show(&self.labels));
        html! { @if !shown.0.is_empty() { section.card { h2 #issues { "Open code issues" } (shown) } } }
    }
}

impl Issues {
    async fn read(db: &dyn ReadHandle, services: &[i64]) -> Result<Self, Fault> {
        let mut issues = code_issue::of_services(db, services, ISSUES as u64).await?;
        let mut by_word = BTreeMap::<Option<String>, usize>::new();
        for (_, word, _) in &mut issues {
            // Again in lower case: that of a database leaves some letters.
            *word = word.take().map(|word| word.to_lowercase());
            *by_word.entry(word.clone()).or_default() += 1;
        }
        let mut counts = Vec::from_iter(by_word);
        counts.sort_by(|(one, _), (other, _)| rank(one).cmp(&rank(other)).then_with(|| one.cmp(other)));
        issues.sort_by_key(|(id, word, since)| (rank(word), *since, *id));
        let order: Vec<i64> = issues.iter().take(WORST).map(|(id, ..)| *id).collect();
        let mut worst = db.all(code_issue::Entity::find().filter(any(db, code_issue::Column::Id, &order))).await?;
        worst.sort_by_key(|issue| order.iter().position(|id| *id == issue.id));
        let service_of = service_of(db, &worst, services).await?;
        let service = |issue: &code_issue::Model| service_of.get(&issue.code_issue_project_id).copied();
        let worst = worst.into_iter().map(|issue| (service(&issue), issue)).map(|(service, issue)| (issue, service));
        Ok(Self { counts, worst: worst.collect() })
    }

    fn show(&self, labels: &HashMap<i64, Label>) -> Markup {
        let class = |word: &Option<String>| match rank(word) {
            0 | 1 => "mark bad",
            2 => "mark warn",
            _ => "mark none",
        };
        let all: usize = self.counts.iter().map(|(_, number)| number).sum();
        html! {
            @if all > 0 {
                p { @for (word, number) in &self.counts {
                    span class=(class(word)) { (short(word.as_deref().unwrap_or("without severity"))) } " "
                    (grouped(i64::try_from(*number).unwrap_or(i64::MAX))) " "
                } }
                ul.missing { @for (issue, service) in &self.worst {
                    li {
                        span {
                            (external_link(issue.external_url.as_deref(), &short(&issue.name)))
                            @if let Some(id) = service { small { (on_call::service(labels, *id)) } }
                        }
                        span {
                            @if let Some(word) = &issue.severity {
                                span class=(class(&Some(word.to_lowercase()))) { (short(word)) } " "
                            }
                            span.soft { "since " (date(issue.open_since())) }
                        }
                    }
                } }
                @if all >= ISSUES {
                    p.soft { "Only " (count(ISSUES as i64, "issue")) " are counted. There are more." }
                }
            }
        }
    }
}

/// One of these services for each project of the issues.
async fn service_of(
    db: &dyn ReadHandle,
    issues: &[code_issue::Model],
    services: &[i64],
) -> Result<HashMap<i64, i64>, Fault> {
    use code_issue_project_resource::{Column, Entity};
    let projects: Vec<i64> = issues.iter().map(|issue| issue.code_issue_project_id).collect();
    let own =
        Entity::find().filter(any(db, Column::CodeIssueProjectId, &projects)).filter(Column::ServiceId.is_not_null());
    let connections = db.all(own.order_by_desc(Column::Id).limit(CONNECTIONS)).await?;
    let of_team = connections.into_iter().filter_map(|one| Some((one.code_issue_project_id, one.service_id?)));
    Ok(of_team.filter(|(_, service)| services.contains(service)).collect())
}
