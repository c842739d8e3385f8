//! The deploys of a service: a filtered list, and charts of DORA's metrics.

use maud::{Markup, html};

use super::operations::deploy_metrics::DurationPercentiles;
use super::operations::types::Moment;
use super::operations::{Deploy, DeployMetrics, DeployStatusEnum};
use super::parts::{count, day_of, duration, external_link, grouped, short, status, time};
use super::plot::{self, Bar};
use super::reading::too_long;
use super::service::DAYS;
use super::visit::path;
use crate::deploy::days::{DAY, Day};
use crate::entity::Timestamp;
use crate::entity::deploy::{self, Environments};

/// The path of a service's list of deploys.
pub fn address(aliases: &[String]) -> String {
    path(["services", aliases.first().map_or("", String::as_str), "deploys"])
}

impl From<&deploy::Model> for Deploy {
    fn from(deploy: &deploy::Model) -> Self {
        let duration = deploy.started_at.map(|start| (deploy.deployed_at.as_micros() - start.as_micros()) / 1_000_000);
        Self {
            deploy_number: deploy.deploy_number.clone(),
            deployed_at: Moment(deploy.deployed_at),
            duration: duration.and_then(|seconds| i32::try_from(seconds).ok()).filter(|seconds| *seconds >= 0),
            description: deploy.description.clone(),
            environment: deploy.environment.clone(),
            status: deploy.status.clone(),
            deploy_status: match deploy.deploy_status {
                None => DeployStatusEnum::NoStatus,
                Some(deploy::Status::Queued) => DeployStatusEnum::Queued,
                Some(deploy::Status::Running) => DeployStatusEnum::Running,
                Some(deploy::Status::Succeeded) => DeployStatusEnum::Success,
                Some(deploy::Status::Failed) => DeployStatusEnum::Failure,
                Some(deploy::Status::Cancelled) => DeployStatusEnum::Canceled,
            },
            deploy_url: deploy.deploy_url.clone(),
            deployer_name: deploy.deployer_name.clone(),
            deployer_email: deploy.deployer_email.clone(),
            commit_sha: deploy.commit_sha.clone(),
            commit_message: deploy.commit_message.clone(),
            commit_authoring_date: deploy.commit_authoring_date.map(Moment),
            committed_at: deploy.committed_at.map(Moment),
        }
    }
}

/// Deploys of one commit with one result, to one or more environments.
pub struct Change<'d, D> {
    /// The newest of them.
    pub deploy: &'d D,
    /// Their environments, that of the newest first.
    pub environments: Vec<&'d str>,
}

/// Folds deploys of the same commit of a service with the same result, such as those to staging and then to production.
/// `about` gives the deploy, and what tells services apart.
pub fn folded<'d, D>(deploys: &'d [D], about: impl Fn(&'d D) -> (&'d Deploy, &'d str)) -> Vec<Change<'d, D>> {
    let mut changes: Vec<Change<'d, D>> = Vec::new();
    for one in deploys {
        let (deploy, service) = about(one);
        let key = |(deploy, service): (&'d Deploy, &'d str)| (&deploy.commit_sha, deploy.deploy_status, service);
        let same = |change: &&mut Change<'d, D>| {
            deploy.commit_sha.is_some() && key(about(change.deploy)) == key((deploy, service))
        };
        let environment = deploy.environment.as_deref();
        match changes.iter_mut().find(same) {
            Some(change) => {
                let known = environment.filter(|one| !change.environments.contains(one));
                change.environments.extend(known);
            }
            None => changes.push(Change { deploy: one, environments: environment.into_iter().collect() }),
        }
    }
    changes
}

/// Shows the last changes that were deployed as a table, newest first.
pub fn table(deploys: &[Deploy], most: usize, now: Timestamp) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Latest deploys" {
            table {
                thead { tr {
                    th scope="col" { "Change" } th scope="col" { "Result" } th.wide scope="col" { "Where" }
                    th.number scope="col" { "When" }
                } }
                tbody { @for change in folded(deploys, |deploy| (deploy, "")).into_iter().take(most) {
                    (row(change.deploy, &change.environments, None, now))
                } }
            }
        }
    }
}

/// A change as a row. `service` is the content of a column of services, if the table has one.
pub fn row(deploy: &Deploy, environments: &[&str], service: Option<Markup>, now: Timestamp) -> Markup {
    let who = deploy.deployer_name.as_ref().or(deploy.deployer_email.as_ref());
    let text = deploy.commit_message.as_ref().map_or(&deploy.description, |message| message);
    html! {
        tr {
            th scope="row" {
                (external_link(deploy.deploy_url.as_deref(), &short(text)))
                small {
                    "#" (deploy.deploy_number)
                    @if let Some(sha) = &deploy.commit_sha { " · " code { (sha.chars().take(10).collect::<String>()) } }
                    @if let Some(who) = who { " · " bdi { (who) } }
                }
            }
            @if let Some(service) = service { td { (service) } }
            td {
                (status(deploy.deploy_status, deploy.status.as_deref()))
                @if !environments.is_empty() { small.on-phones { (environments.join(", ")) } }
            }
            td.wide { (environments.join(", ")) }
            td.number {
                (time(deploy.deployed_at.0, now))
                @if let Some(seconds) = deploy.duration { small { (duration(seconds)) } }
            }
        }
    }
}

/// Shows DORA's metrics, with a bar for each of `days` and the lead times of the last `deploys` to `production`.
/// `metrics` and `days` must cover the same environments and `DAYS` days. `days` is `None` if they were not read.
pub fn figures(
    metrics: &DeployMetrics,
    days: Option<&[Day]>,
    deploys: &[Deploy],
    production: &Environments,
    now: Timestamp,
) -> Markup {
    if metrics.deploy_count == 0 && metrics.failed_count == 0 {
        return html! { p.soft { "No deploy to production succeeded or failed in the last " (DAYS) " days." } };
    }
    let settled = i64::from(metrics.failed_count) + i64::from(metrics.succeeded_count);
    let first = day_of(Timestamp::from_micros(now.as_micros() - (DAYS as i64 - 1) * DAY));
    let by_day = |value: fn(&Day) -> i64, is_bad: bool, noun: &str, label: &str| {
        html! {
            @if let Some(days) = days { (plot::bars(&bars(days, value, noun, is_bad), label, [&*first, "today"])) }
        }
    };
    let measured = deploys.iter().rev().filter(|deploy| production.contain(deploy.environment.as_deref()));
    let lead_times: Vec<Bar> = measured.filter_map(Deploy::lead_time).collect();
    html! {
        p.soft { a href="https://dora.dev/guides/dora-metrics/" { "DORA metrics" }
            " of the deploys to production in the last " (DAYS) " days." }
        @if days.is_none() { (too_long()) }
        div.figures {
            div.figure {
                "Deployment frequency"
                strong { (frequency(metrics.deployment_frequency)) }
                (count(metrics.deploy_count, "deploy")) " succeeded"
                (by_day(|day| day.deploys, false, "deploy", "Successful deploys by day"))
            }
            div.figure {
                "Change lead time"
                (percentiles(metrics.change_lead_time.as_ref(), "No deploy has a commit date."))
                @if metrics.change_lead_time.is_some() && !lead_times.is_empty() {
                    (plot::bars(&lead_times, "Lead times of the last deploys", ["earlier deploys", "last"]))
                }
            }
            div.figure {
                "Change failure rate"
                @match metrics.change_failure_rate {
                    Some(rate) => strong { (format!("{:.0} %", rate * 100.0)) },
                    None => strong.soft { "unknown" },
                }
                (grouped(metrics.failed_count)) " of " (grouped(settled)) " failed"
                @if metrics.failed_count > 0 {
                    (by_day(|day| day.failed, true, "failed deploy", "Failed deploys by day"))
                }
            }
            div.figure {
                "Recovery time"
                (percentiles(
                    metrics.failed_deployment_recovery_time.as_ref(),
                    if metrics.failed_count == 0 { "No failures." } else { "No failure was followed by a success." },
                ))
            }
        }
    }
}

/// A bar for each of the days.
fn bars(days: &[Day], value: fn(&Day) -> i64, noun: &str, is_bad: bool) -> Vec<Bar> {
    let ages = (0..days.len()).rev();
    let bar = |(day, age): (&Day, usize)| Bar {
        value: value(day) as f64,
        title: format!("{}, {}", count(value(day), noun), ago(age)),
        is_bad,
    };
    days.iter().zip(ages).map(bar).collect()
}

fn percentiles(times: Option<&DurationPercentiles>, without: &str) -> Markup {
    html! {
        @match times {
            Some(times) => {
                strong { (duration(times.median)) }
                div { "median" }
                div { "90 % within " (duration(times.percentile90)) }
            },
            None => { strong.soft { "unknown" } (without) },
        }
    }
}

/// The age of a bar's day, in words.
fn ago(days: usize) -> String {
    match days {
        0 => "in the last 24 hours".to_owned(),
        1 => "1 day ago".to_owned(),
        days => format!("{days} days ago"),
    }
}

/// Formats a number of deploys a day, such as `2.5 a day` or `1.2 a week`.
pub fn frequency(a_day: f64) -> String {
    match a_day {
        often if often >= 1.0 => format!("{often:.1} a day"),
        weekly if weekly * 7.0 >= 1.0 => format!("{:.1} a week", weekly * 7.0),
        rarely => format!("{:.1} a month", rarely * 30.0),
    }
}

impl Deploy {
    /// The time from commit to deploy. `None` unless the deploy succeeded.
    fn lead_time(&self) -> Option<Bar> {
        let took_place = self.deploy_status == DeployStatusEnum::Success || self.status.is_none();
        let commit = self.commit_authoring_date.or(self.committed_at).filter(|_| took_place)?;
        let seconds = (self.deployed_at.0.as_micros() - commit.0.as_micros()) / 1_000_000;
        (seconds >= 0).then(|| Bar {
            value: seconds as f64,
            title: format!("{}, #{}", duration(seconds), self.deploy_number),
            is_bad: false,
        })
    }
}
