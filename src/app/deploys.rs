//! The deploys of a service: how it is delivered, by DORA's metrics, and its deploys one by one.

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;

use super::form::{self, Mistakes};
use super::layout::layout;
use super::parts::{Connection, Moment, count, day, duration, empty, grouped, outside, pages, short, status, time};
use super::plot::{self, Bar};
use super::visit::{Visit, path};
use super::{Answer, Fault, Site, ask};
use crate::deploy::days::{DAY, Day};
use crate::entity::Timestamp;
use crate::entity::deploy::Environments;

/// What the page asks of the API.
pub(super) const LIST: &str = "
query Deploys(
  $alias: String!, $environments: [String!], $start: ISO8601DateTime, $end: ISO8601DateTime, $after: String
) {
  account {
    service(alias: $alias) {
      name aliases
      deploys(first: 50, environments: $environments, start: $start, end: $end, after: $after) {
        nodes {
          deployNumber deployedAt duration description environment status deployStatus deployUrl
          deployerName deployerEmail commitSha commitMessage commitAuthoringDate committedAt
        }
        pageInfo { hasNextPage endCursor }
        totalCount
      }
    }
  }
}";

#[derive(Deserialize)]
struct Account {
    service: Option<Service>,
}

#[derive(Deserialize)]
struct Service {
    name: String,
    aliases: Vec<String>,
    deploys: Connection<Deploy>,
}

/// A deploy, as documents select it that show one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Deploy {
    deploy_number: String,
    deployed_at: Moment,
    duration: Option<i64>,
    description: String,
    environment: Option<String>,
    status: Option<String>,
    deploy_status: Option<String>,
    deploy_url: Option<String>,
    deployer_name: Option<String>,
    deployer_email: Option<String>,
    commit_sha: Option<String>,
    commit_message: Option<String>,
    commit_authoring_date: Option<Moment>,
    committed_at: Option<Moment>,
}

/// DORA's metrics.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metrics {
    deploy_count: u64,
    succeeded_count: u64,
    failed_count: u64,
    deployment_frequency: f64,
    change_failure_rate: Option<f64>,
    change_lead_time: Option<Percentiles>,
    failed_deployment_recovery_time: Option<Percentiles>,
}

#[derive(Deserialize)]
struct Percentiles {
    median: i64,
    percentile90: i64,
}

/// Where all deploys of a service are.
pub fn address(aliases: &[String]) -> String {
    path(["services", aliases.first().map_or("", String::as_str), "deploys"])
}

/// All deploys of the service with this alias, a page at a time.
pub async fn page(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let query = &visit.query;
    let until = query.given("until").map(day).transpose()?;
    let variables = json!({
        "alias": alias, "after": query.given("after"), "environments": query.given("environment").map(|one| [one]),
        "start": query.given("from").map(day).transpose()?.map(|start| start.to_string()),
        "end": until.map(|day| Timestamp::from_micros(day.as_micros() + DAY).to_string()),
    });
    let found: Account = ask::query(site, visit, LIST, variables).await?;
    let Service { name, aliases, deploys } = found.service.ok_or(Fault::NotFound)?;
    let (here, none) = (address(&aliases), Mistakes::none());
    let field = |name, label, kind| form::Text { name, label, hint: "", kind, required: false }.show(query, &none);
    let main = html! {
        p { "Of " a href=(super::services::address(&aliases)) { (name) } ", the newest first." }
        form.filters method="get" action=(here) role="search" data-live="deploys" {
            (field("environment", "Environment", "search"))
            (field("from", "From (UTC)", "date"))
            (field("until", "Until", "date"))
            button { "Search" }
        }
        div #deploys {
            @if deploys.nodes.is_empty() {
                (empty("No deploy is like that.", html! { p { a href=(here) { "All deploys" } } }))
            } @else {
                p.soft role="status" { (count(deploys.total_count.unwrap_or_default(), "deploy")) }
                (line(&deploys.nodes, Timestamp::now()))
                (pages(visit, &here, deploys.page_info.as_ref()))
            }
        }
    };
    Ok(Answer::page(layout(visit, &format!("Deploys of {name}"), main)))
}

/// Deploys on a line of time, the newest above.
pub fn line(deploys: &[Deploy], now: Timestamp) -> Markup {
    html! {
        ol.line {
            @for deploy in deploys {
                li class=[match deploy.deploy_status.as_deref() { Some("succeeded") => Some("good"), Some("failed") => Some("bad"), _ => None }] {
                    (time(deploy.deployed_at.0, now)) " "
                    (status(deploy.deploy_status.as_deref(), deploy.status.as_deref())) " "
                    @if let Some(environment) = &deploy.environment { span.mark.none { (environment) } " " }
                    (outside(deploy.deploy_url.as_deref(), &format!("#{}", deploy.deploy_number)))
                    @if let Some(seconds) = deploy.duration { span.soft { " in " (duration(seconds)) } }
                    div { (short(&deploy.description)) }
                    div.soft {
                        @if let Some(who) = deploy.deployer_name.as_ref().or(deploy.deployer_email.as_ref()) { "by " bdi { (who) } }
                        @if let Some(sha) = &deploy.commit_sha { " · " code { (sha.chars().take(10).collect::<String>()) } }
                        @if let Some(message) = &deploy.commit_message { " " bdi { (short(message)) } }
                    }
                }
            }
        }
    }
}

/// How a service is delivered: DORA's metrics of the last days, with what there was on each of `days`, and the lead times
/// of its last `deploys` to `production`, which is what the metrics and the days are of.
pub fn figures(metrics: &Metrics, days: &[Day], deploys: &[Deploy], production: &Environments) -> Markup {
    if metrics.deploy_count + metrics.failed_count == 0 {
        return html! { p.soft { "Nothing succeeded or failed in production in the last " (days.len()) " days." } };
    }
    let bars = |value: fn(&Day) -> i64, noun: &str| -> Vec<Bar> {
        let ages = (0..days.len()).rev();
        let bar = |(day, age): (&Day, usize)| Bar {
            value: value(day) as f64,
            title: format!("{}, {}", count(value(day).unsigned_abs(), noun), ago(age)),
        };
        days.iter().zip(ages).map(bar).collect()
    };
    let measured = deploys.iter().rev().filter(|deploy| production.contain(deploy.environment.as_deref()));
    let lead_times: Vec<Bar> = measured.filter_map(Deploy::lead_time).collect();
    let percentiles = |times: &Option<Percentiles>, without: &str| {
        html! {
            @match times {
                Some(times) => { strong { (duration(times.median)) } "median; 90 % within " (duration(times.percentile90)) },
                None => { strong.soft { "unknown" } (without) },
            }
        }
    };
    html! {
        p.soft { "Deploys to production of the last " (days.len()) " days, as " a href="https://dora.dev/guides/dora-metrics/" { "DORA" } " measures them." }
        div.figures {
            div.figure {
                "Deployment frequency"
                strong { (frequency(metrics.deployment_frequency)) }
                (count(metrics.deploy_count, "deploy")) " went well"
                (plot::bars(&bars(|day| day.deploys, "deploy"), "Deploys that went well, day by day"))
            }
            div.figure {
                "Change lead time"
                (percentiles(&metrics.change_lead_time, "No deploy says when its commit was made."))
                @if metrics.change_lead_time.is_some() && !lead_times.is_empty() {
                    (plot::bars(&lead_times, "Lead times of the last deploys"))
                }
            }
            div.figure {
                "Change failure rate"
                @match metrics.change_failure_rate {
                    Some(rate) => strong { (format!("{:.0} %", rate * 100.0)) },
                    None => strong.soft { "unknown" },
                }
                (grouped(metrics.failed_count)) " of " (grouped(metrics.failed_count + metrics.succeeded_count)) " failed"
                @if metrics.failed_count > 0 {
                    (plot::bars(&bars(|day| day.failed, "failed deploy"), "Failed deploys, day by day"))
                }
            }
            div.figure {
                "Recovery time"
                (percentiles(&metrics.failed_deployment_recovery_time, if metrics.failed_count == 0 { "Nothing failed." } else { "Nothing succeeded after it failed." }))
            }
        }
    }
}

/// When the day of a bar was.
fn ago(days: usize) -> String {
    match days {
        0 => "in the last 24 hours".to_owned(),
        1 => "1 day ago".to_owned(),
        days => format!("{days} days ago"),
    }
}

/// `2.5 a day`, `1.2 a week`.
fn frequency(a_day: f64) -> String {
    match a_day {
        often if often >= 1.0 => format!("{often:.1} a day"),
        weekly if weekly * 7.0 >= 1.0 => format!("{:.1} a week", weekly * 7.0),
        rarely => format!("{:.1} a month", rarely * 30.0),
    }
}

impl Deploy {
    /// From the commit to the deploy, of one that went well.
    fn lead_time(&self) -> Option<Bar> {
        let took_place = self.deploy_status.as_deref() == Some("succeeded") || self.status.is_none();
        let commit = self.commit_authoring_date.or(self.committed_at).filter(|_| took_place)?;
        let seconds = (self.deployed_at.0.as_micros() - commit.0.as_micros()) / 1_000_000;
        (seconds >= 0)
            .then(|| Bar { value: seconds as f64, title: format!("{}, #{}", duration(seconds), self.deploy_number) })
    }
}
