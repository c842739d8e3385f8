//! Deploys as the pages show them: as rows of a table, those of one commit folded into one.

use maud::{Markup, html};

use super::operations::types::Moment;
use super::operations::{Deploy, DeployStatusEnum};
use super::parts::{duration, external_link, short, status, time};
use super::visit::path;
use catalogue::entity::Timestamp;
use catalogue::entity::deploy;

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
        }
    }
}

/// Deploys of one commit with one result, to one or more environments.
pub struct Change<'d, D> {
    /// The newest of them.
    pub deploy: &'d D,
    /// Their environments, that of the newest first.
    pub environments: Vec<&'d str>,
    /// The number of them.
    pub deploys: usize,
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
                change.deploys += 1;
                let known = environment.filter(|one| !change.environments.contains(one));
                change.environments.extend(known);
            }
            None => changes.push(Change { deploy: one, environments: environment.into_iter().collect(), deploys: 1 }),
        }
    }
    changes
}

/// Shows the last changes that were deployed as a table, newest first.
pub fn table(deploys: &[Deploy], most: usize, now: Timestamp) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Latest deploys" {
            table.lined.changes {
                thead { tr {
                    th scope="col" { "Change" } th scope="col" { "Result" } th scope="col" { "Where" }
                    th.number scope="col" { "When" }
                } }
                tbody { @for change in folded(deploys, |deploy| (deploy, "")).into_iter().take(most) {
                    (row(change.deploy, &change.environments, None, &time(change.deploy.deployed_at.0, now)))
                } }
            }
        }
    }
}

/// A change as a row. `service` is the content of a column of services, if the table has one; `when` says when it was.
pub fn row(deploy: &Deploy, environments: &[&str], service: Option<Markup>, when: &Markup) -> Markup {
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
            td { (status(deploy.deploy_status, deploy.status.as_deref())) }
            td { (environments.join(", ")) }
            td.number {
                (when)
                @if let Some(seconds) = deploy.duration { small { (duration(seconds)) } }
            }
        }
    }
}

/// Formats a number of deploys a day, such as `2.5 a day` or `1.2 a week`.
pub fn frequency(a_day: f64) -> String {
    frequency_like(a_day, a_day)
}

/// The same, in the unit that is fit for another number, so that the two can be compared.
pub fn frequency_like(a_day: f64, other: f64) -> String {
    match other {
        often if often >= 1.0 => format!("{a_day:.1} a day"),
        weekly if weekly * 7.0 >= 1.0 => format!("{:.1} a week", a_day * 7.0),
        _ => format!("{:.1} a month", a_day * 30.0),
    }
}
