//! One service: whose it is, where its code is, what was deployed and what is wrong with it.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;

use super::layout::layout;
use super::parts::{Connection, Moment, count, duration, empty, outside, status, time};
use super::plot;
use super::visit::{Visit, path};
use super::{Answer, Fault, Site, ask};
use crate::entity::{Timestamp, service};

/// What the page asks of the API.
pub(super) const ONE: &str = "
query Service($alias: String!, $since: ISO8601DateTime!) {
  account {
    service(alias: $alias) {
      name aliases description language framework product note locked
      owner { name alias manager { name email } }
      tier { name description }
      lifecycle { name description }
      timestamps { createdAt updatedAt }
      tags(first: 100) { nodes { key value } pageInfo { hasNextPage endCursor } }
      serviceRepositories(first: 50) {
        nodes { baseDirectory displayName repository { name defaultAlias url } }
      }
      deploys(first: 20) {
        nodes {
          deployNumber deployedAt duration description environment status deployStatus deployUrl
          deployerName deployerEmail commitSha commitMessage
        }
        totalCount
      }
      deployMetrics(start: $since) {
        deployCount succeededCount failedCount deploymentFrequency changeFailureRate
        changeLeadTime { median percentile90 }
        failedDeploymentRecoveryTime { median percentile90 }
      }
      recent: deploys(first: 100, start: $since) {
        nodes { deployedAt deployStatus commitAuthoringDate committedAt }
      }
      codeIssues(first: 100) {
        nodes { name severity issueCategory externalUrl }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}";

#[derive(Deserialize)]
struct Account {
    service: Option<Service>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Service {
    name: String,
    aliases: Vec<String>,
    description: Option<String>,
    language: Option<String>,
    framework: Option<String>,
    product: Option<String>,
    note: Option<String>,
    locked: bool,
    owner: Option<Owner>,
    tier: Option<Step>,
    lifecycle: Option<Step>,
    timestamps: Timestamps,
    tags: Connection<Tag>,
    service_repositories: Connection<Link>,
    deploys: Connection<Deploy>,
    deploy_metrics: Metrics,
    recent: Connection<Recent>,
    code_issues: Connection<Issue>,
}

#[derive(Deserialize)]
struct Owner {
    name: String,
    alias: String,
    manager: Option<Person>,
}

#[derive(Deserialize)]
struct Person {
    name: String,
    email: String,
}

#[derive(Deserialize)]
struct Step {
    name: String,
    description: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Timestamps {
    created_at: Moment,
    updated_at: Moment,
}

#[derive(Deserialize)]
struct Tag {
    key: String,
    value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Link {
    base_directory: String,
    display_name: Option<String>,
    repository: Repository,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Repository {
    name: String,
    default_alias: String,
    url: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Deploy {
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
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Recent {
    deployed_at: Moment,
    deploy_status: Option<String>,
    commit_authoring_date: Option<Moment>,
    committed_at: Option<Moment>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metrics {
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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Issue {
    name: String,
    severity: Option<String>,
    issue_category: String,
    external_url: Option<String>,
}

/// How many days the figures look back.
const DAYS: usize = 30;
const DAY: i64 = 86_400 * 1_000_000;

/// The page of the service with this alias.
pub async fn page(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let now = Timestamp::now();
    let since = Timestamp::from_micros(now.as_micros() - DAYS as i64 * DAY);
    let variables = json!({ "alias": alias, "since": since.to_string() });
    let found: Account = ask::query(site, visit, ONE, variables).await?;
    let service = found.service.ok_or(Fault::NotFound)?;
    // The API says that a file governs the service, the page also which.
    let file = match service.locked {
        true => service::by_alias(site.db.read(), alias).await?.and_then(|row| row.locked_by),
        false => None,
    };
    let main = html! {
        @if let Some(file) = &file {
            div.notice { p { "The file " code { (file) } " governs this service: change it there. "
                code { "rollcall release" } " frees the service." } }
        }
        @if let Some(description) = &service.description { p { (description) } }
        (facts(&service, now))
        @if let Some(note) = &service.note { h2 { "Notes" } pre.note { (note) } }
        h2 #deploys { "Deploys" }
        (figures(&service, now))
        (deploys(&service, now))
        h2 #issues { "Code issues" }
        (issues(&service))
    };
    Ok(Answer::page(layout(visit, &service.name, main)))
}

fn facts(service: &Service, now: Timestamp) -> Markup {
    let step = |step: &Option<Step>| {
        html! {
            @match step {
                Some(step) => { (step.name) @if let Some(text) = &step.description { " " span.soft { (text) } } },
                None => span.soft { "none" },
            }
        }
    };
    let texts = [("Language", &service.language), ("Framework", &service.framework), ("Product", &service.product)];
    html! {
        dl.facts {
            dt { "Owner" }
            dd { @match &service.owner {
                Some(owner) => {
                    a href=(path(["teams", &owner.alias])) { (owner.name) }
                    @if let Some(manager) = &owner.manager { ", led by " (manager.name) " (" (manager.email) ")" }
                },
                None => span.soft { "none" },
            } }
            dt { "Tier" } dd { (step(&service.tier)) }
            dt { "Lifecycle" } dd { (step(&service.lifecycle)) }
            @for (label, text) in texts {
                @if let Some(text) = text { dt { (label) } dd { (text) } }
            }
            dt { "Aliases" }
            dd { ul.marks { @for alias in &service.aliases { li { code { (alias) } } } } }
            @if !service.tags.nodes.is_empty() {
                dt { "Tags" }
                dd { ul.marks {
                    @for tag in &service.tags.nodes { li { span.mark.none { (tag.key) @if !tag.value.is_empty() { ": " (tag.value) } } } }
                    @if service.tags.page_info.as_ref().is_some_and(|info| info.has_next()) { li { "and more" } }
                } }
            }
            @if !service.service_repositories.nodes.is_empty() {
                dt { "Repositories" }
                dd { @for link in &service.service_repositories.nodes {
                    div {
                        (outside(link.repository.url.as_deref(), link.display_name.as_deref().unwrap_or(&link.repository.name)))
                        " " code.soft { (link.repository.default_alias) }
                        @if !matches!(&*link.base_directory, "" | "/") { " in " code { (link.base_directory) } }
                    }
                } }
            }
            dt { "In the catalogue" }
            dd { (time(service.timestamps.created_at.0, now)) ", changed " (time(service.timestamps.updated_at.0, now)) }
        }
    }
}

/// How the service is delivered, by DORA's metrics of the last days, with a plot where the single deploys make one.
fn figures(service: &Service, now: Timestamp) -> Markup {
    let (metrics, recent) = (&service.deploy_metrics, &service.recent.nodes);
    if recent.is_empty() {
        return html! {};
    }
    let by_day = |counts: &dyn Fn(&Recent) -> bool| {
        let mut days = [0.0; DAYS];
        for deploy in recent.iter().filter(|deploy| counts(deploy)) {
            let age = (now.as_micros() - deploy.deployed_at.0.as_micros()).max(0) / DAY;
            if let Some(day) = (DAYS - 1).checked_sub(age as usize).and_then(|day| days.get_mut(day)) {
                *day += 1.0;
            }
        }
        days
    };
    let is = |word: &'static str| move |deploy: &Recent| deploy.deploy_status.as_deref() == Some(word);
    let lead_times: Vec<f64> = recent.iter().rev().filter_map(Recent::lead_time).collect();
    let percentiles = |times: &Option<Percentiles>| {
        html! {
            @match times {
                Some(times) => { strong { (duration(times.median)) } "90 of 100 within " (duration(times.percentile90)) },
                None => strong.soft { "unknown" },
            }
        }
    };
    html! {
        p.soft { "Of the last " (DAYS) " days, as " a href="https://dora.dev/guides/dora-metrics/" rel="noopener noreferrer" { "DORA" } " measures them." }
        div.figures {
            div.figure {
                "Deployment frequency"
                strong { (frequency(metrics.deployment_frequency)) }
                (count(metrics.deploy_count, "deploy"))
                (plot::bars(&by_day(&|_| true), &format!("Deploys on each of the last {DAYS} days")))
            }
            div.figure {
                "Change lead time"
                (percentiles(&metrics.change_lead_time))
                @if !lead_times.is_empty() { (plot::bars(&lead_times, "The lead time of each of the last deploys")) }
            }
            div.figure {
                "Change failure rate"
                @match metrics.change_failure_rate {
                    Some(rate) => strong { (format!("{:.0} %", rate * 100.0)) },
                    None => strong.soft { "unknown" },
                }
                (metrics.failed_count) " of " (metrics.failed_count + metrics.succeeded_count) " failed"
                @if metrics.failed_count > 0 {
                    (plot::bars(&by_day(&is("failed")), &format!("Failed deploys on each of the last {DAYS} days")))
                }
            }
            div.figure { "Recovery time" (percentiles(&metrics.failed_deployment_recovery_time)) }
        }
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

impl Recent {
    /// From the commit to the deploy, in seconds.
    fn lead_time(&self) -> Option<f64> {
        let commit = self.commit_authoring_date.or(self.committed_at)?.0.as_micros();
        let seconds = (self.deployed_at.0.as_micros() - commit) as f64 / 1e6;
        (seconds >= 0.0).then_some(seconds)
    }
}

fn deploys(service: &Service, now: Timestamp) -> Markup {
    let Connection { nodes, total_count, .. } = &service.deploys;
    if nodes.is_empty() {
        let alias = service.aliases.first().map_or("", String::as_str);
        return empty(
            "Nothing was deployed yet.",
            html! {
                p { "Send deploys of " code { (alias) } " to a " a href="/integrations" { "deploy integration" } "." }
            },
        );
    }
    let total = total_count.unwrap_or_default();
    html! {
        p.soft { (count(total, "deploy")) @if total > nodes.len() as u64 { ", the newest " (nodes.len()) " of which are these" } }
        ol.line {
            @for deploy in nodes {
                li class=[match deploy.deploy_status.as_deref() { Some("succeeded") => Some("good"), Some("failed") => Some("bad"), _ => None }] {
                    (time(deploy.deployed_at.0, now)) " "
                    (status(deploy.deploy_status.as_deref(), deploy.status.as_deref())) " "
                    @if let Some(environment) = &deploy.environment { span.mark.none { (environment) } " " }
                    (outside(deploy.deploy_url.as_deref(), &format!("#{}", deploy.deploy_number)))
                    @if let Some(seconds) = deploy.duration { span.soft { " in " (duration(seconds)) } }
                    div { (deploy.description) }
                    div.soft {
                        @if let Some(who) = deploy.deployer_name.as_ref().or(deploy.deployer_email.as_ref()) { "by " (who) }
                        @if let Some(sha) = &deploy.commit_sha { " · " code { (sha.chars().take(10).collect::<String>()) } }
                        @if let Some(message) = &deploy.commit_message { " " (message.lines().next().unwrap_or_default()) }
                    }
                }
            }
        }
    }
}

fn issues(service: &Service) -> Markup {
    let Connection { nodes, page_info, .. } = &service.code_issues;
    if nodes.is_empty() {
        return empty(
            "No code issue is known.",
            html! {
                p { "Tools push code issues to a custom integration; a project of the service's name is connected by itself." }
            },
        );
    }
    let mut by_severity: BTreeMap<(usize, &str), Vec<&Issue>> = BTreeMap::new();
    for issue in nodes {
        let severity = issue.severity.as_deref().unwrap_or("none");
        let rank =
            ["critical", "high", "medium", "low", "info"].iter().position(|word| severity.eq_ignore_ascii_case(word));
        by_severity.entry((rank.unwrap_or(5), severity)).or_default().push(issue);
    }
    html! {
        @if page_info.as_ref().is_some_and(|info| info.has_next()) { p.soft { "The first 100 of them:" } }
        @for ((rank, severity), issues) in &by_severity {
            details open[*rank < 2] {
                summary {
                    span class={ "mark " (match rank { 0 | 1 => "bad", 2 => "warn", _ => "none" }) } { (severity) }
                    " " (count(issues.len() as u64, "issue"))
                }
                ul { @for issue in issues {
                    li { (outside(issue.external_url.as_deref(), &issue.name)) " " span.soft { (issue.issue_category) } }
                } }
            }
        }
    }
}
