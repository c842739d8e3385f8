//! One service: whose it is, where its code is, what was deployed and what is wrong with it.

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;

use super::deploys::{self, Deploy, Metrics};
use super::layout::layout;
use super::markdown::prose;
use super::parts::{Connection, Moment, count, empty, link, outside, short, time};
use super::services::address;
use super::visit::{Fields, Session, Visit, path};
use super::{Answer, Fault, Site, ask, audit, issues};
use crate::deploy::days::{self, DAY, Day};
use crate::entity::deploy::Environments;
use crate::entity::user::Role;
use crate::entity::{Timestamp, service};
use crate::graphql::id::{self, Class};

/// What the page asks of the API.
pub(super) const ONE: &str = "
query Service($alias: String!, $since: ISO8601DateTime!, $now: ISO8601DateTime!) {
  account {
    service(alias: $alias) {
      id name aliases description language framework product note locked
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
          deployerName deployerEmail commitSha commitMessage commitAuthoringDate committedAt
        }
        totalCount
      }
      deployMetrics(start: $since, end: $now) {
        deployCount succeededCount failedCount deploymentFrequency changeFailureRate
        changeLeadTime { median percentile90 }
        failedDeploymentRecoveryTime { median percentile90 }
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
    id: String,
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

/// How many days the figures look back.
const DAYS: usize = 30;
/// So many aliases and tags are seen at once.
const SHOWN: usize = 12;

/// The page of the service with this alias.
pub async fn page(site: &Site, visit: &Visit, session: &Session, alias: &str) -> Result<Answer, Fault> {
    let now = Timestamp::now();
    let since = Timestamp::from_micros(now.as_micros() - DAYS as i64 * DAY);
    let variables = json!({ "alias": alias, "since": since.to_string(), "now": now.to_string() });
    let found: Account = ask::query(site, visit, ONE, variables).await?;
    let service = found.service.ok_or(Fault::NotFound)?;
    let (db, number) = (site.db.read(), id::number::<service::Entity>(&service.id).unwrap_or_default());
    let production = &site.catalogue.settings().production;
    let days = days::of_service(db, number, since, DAYS, production).await?;
    // The API says that a file governs the service, the page also which.
    let file = match service.locked {
        true => service::by_alias(db, alias).await?.and_then(|row| row.locked_by),
        false => None,
    };
    let main = html! {
        @if let Some(file) = &file {
            div.notice { p { "The file " code { (file) } " governs this service: change it there. "
                code { "rollcall release" } " frees the service." } }
        }
        @if let Some(description) = &service.description { (prose(description)) }
        (facts(&service, now))
        p.actions {
            @if session.user.role >= Role::User && !service.locked {
                a.button.quiet href={ (address(&service.aliases)) "/edit" } { "Edit" } " "
            }
            @if session.user.role == Role::Admin {
                a.button.quiet href=(audit::of(service::Entity::CLASS, number)) { "History" }
            }
        }
        @if let Some(note) = &service.note { h2 { "Notes" } (prose(note)) }
        h2 #deploys { "Deploys" }
        (deploys_of(&service, &days, production, now))
        h2 #issues { "Code issues" }
        (issues::of_service(db, number).await?)
    };
    Ok(Answer::page(layout(visit, &service.name, main)))
}

fn deploys_of(service: &Service, days: &[Day], production: &Environments, now: Timestamp) -> Markup {
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
        (deploys::figures(&service.deploy_metrics, days, nodes, production))
        h3 { "The last deploys" }
        (deploys::line(nodes, now))
        p { a href=(deploys::address(&service.aliases)) {
            @if total == 1 { "Find deploys by environment and day" } @else { "All " (count(total, "deploy")) ", by environment and day" }
        } }
    }
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
            dd { (many(&service.aliases, |alias| html! { code.mark.none { (alias) } })) }
            @if !service.tags.nodes.is_empty() {
                dt { "Tags" }
                dd {
                    (many(&service.tags.nodes, tag))
                    @if service.tags.page_info.as_ref().is_some_and(|info| info.has_next()) { "and more" }
                }
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

/// Where the services are that have something in common.
fn alike(name: &str, text: &str) -> String {
    link("/services", &Fields::default().with(name, text))
}

fn tag(Tag { key, value }: &Tag) -> Markup {
    let both = if value.is_empty() { key.clone() } else { format!("{key}:{value}") };
    html! { a.mark.none href=(alike("tag", &both)) { (short(&format!("{key}{}{value}", if value.is_empty() { "" } else { ": " }))) } }
}

/// A list of which the first are shown, and the others when one asks for them.
fn many<T>(all: &[T], one: impl Fn(&T) -> Markup) -> Markup {
    let (first, rest) = all.split_at(all.len().min(SHOWN));
    let list = |part: &[T]| html! { ul.marks { @for item in part { li { (one(item)) } } } };
    html! {
        (list(first))
        @if !rest.is_empty() { details { summary { (rest.len()) " more" } (list(rest)) } }
    }
}
