//! The newest deploys as entries of a feed.

use super::atom::Entry;
use super::{ENTRIES, Here, day, summary};
use crate::Fault;
use crate::history::Subject;
use crate::parts::short;
use crate::service_name::labels;
use crate::visit::path;
use catalogue::db::ReadHandle;
use catalogue::deploy::list::{self, Filter};
use catalogue::entity::deploy::{Model, Status};
use catalogue::entity::service::{self, Label};

/// The newest deploys of a service, of the services of a team, or of all.
pub(super) async fn entries(
    db: &dyn ReadHandle,
    about: Option<&Subject>,
    here: &Here<'_>,
) -> Result<Vec<Entry>, Fault> {
    let services = match about {
        None => None,
        Some(team) if team.class == "Team" => {
            Some(service::ids_of(db, service::Column::OwnerId, team.id, list::SERVICES as u64).await?)
        }
        Some(service) => Some(vec![service.id]),
    };
    let filter = Filter { services, ..Filter::default() };
    let deploys = list::page(db, &filter, None, ENTRIES).await?.deploys;
    let services: Vec<i64> = deploys.iter().filter_map(|deploy| deploy.service_id).collect();
    let labels = labels(db, &services).await?;
    let label = |deploy: &Model| deploy.service_id.and_then(|id| labels.get(&id));
    Ok(deploys.iter().map(|deploy| entry(deploy, label(deploy), here)).collect())
}

fn entry(deploy: &Model, service: Option<&Label>, here: &Here<'_>) -> Entry {
    let page = match service {
        Some(service) => format!("{}/deploys", path(["services", &service.slug])),
        None => "/deploys".to_owned(),
    };
    let who = deploy.deployer_name.as_ref().or(deploy.deployer_email.as_ref());
    Entry {
        id: here.tag(&day(deploy.created_at), &format!("deploy/{}", deploy.id)),
        title: title(deploy, service.map_or(&deploy.service_alias, |service| &service.name)),
        updated: deploy.deployed_at,
        page: here.url(&page),
        author: who.map_or_else(|| "unknown".to_owned(), String::clone),
        summary: details(deploy),
    }
}

/// What was deployed, where, and how it went: `cart: deploy of v1.2.3 to production failed`.
fn title(deploy: &Model, service: &str) -> String {
    let to = deploy.environment.as_ref().map(|environment| format!(" to {environment}")).unwrap_or_default();
    let how = match deploy.deploy_status {
        Some(Status::Succeeded) => " succeeded".to_owned(),
        Some(Status::Failed) => " failed".to_owned(),
        Some(Status::Cancelled) => " was cancelled".to_owned(),
        Some(Status::Queued) => " is queued".to_owned(),
        Some(Status::Running) => " is running".to_owned(),
        None => deploy.status.as_ref().map(|status| format!(": {status}")).unwrap_or_default(),
    };
    format!("{service}: deploy of {}{to}{how}", deploy.deploy_number)
}

/// The description, the commit and the address of the deploy elsewhere, a line for each.
fn details(deploy: &Model) -> String {
    let sha = deploy.commit_sha.as_ref().map(|sha| sha.chars().take(10).collect::<String>());
    let message = deploy.commit_message.as_ref().map(|message| short(message).into_owned());
    let commit: Vec<String> = [sha, message].into_iter().flatten().collect();
    let commit = (!commit.is_empty()).then(|| format!("Commit {}", commit.join(" ")));
    let lines: Vec<String> = [Some(short(&deploy.description).into_owned()), commit, deploy.deploy_url.clone()]
        .into_iter()
        .flatten()
        .collect();
    summary(&lines.join("\n"))
}
