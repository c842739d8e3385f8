//! The teams, and one of them.

use maud::html;
use serde::Deserialize;
use serde_json::json;

use super::layout::layout;
use super::markdown::prose;
use super::parts::{Connection, count, empty, pages};
use super::services::{self, Service};
use super::visit::{Session, Visit, path};
use super::{Answer, Fault, Site, ask};
use crate::entity::user::Role;

/// What the list asks of the API.
pub(super) const LIST: &str = "
query Teams($after: String) {
  account {
    teams(first: 50, after: $after) {
      nodes { name alias manager { name } members(first: 0) { totalCount } services(first: 0) { totalCount } }
      pageInfo { hasNextPage endCursor }
    }
  }
}";

/// What the page of a team asks of the API.
pub(super) const ONE: &str = "
query Team($alias: String!, $after: String) {
  account {
    team(alias: $alias) {
      name alias aliases responsibilities
      manager { name email }
      memberships(first: 100) { nodes { role user { name email } } totalCount }
      tags(first: 50) { nodes { key value } }
      services(first: 50, after: $after) {
        nodes {
          name aliases language locked
          tier { name }
          lifecycle { name }
          lastDeploy { deployedAt status deployStatus }
        }
        pageInfo { hasNextPage endCursor }
        totalCount
      }
    }
  }
}";

#[derive(Deserialize)]
struct Teams {
    teams: Connection<Row>,
}

#[derive(Deserialize)]
struct Row {
    name: String,
    alias: String,
    manager: Option<Label>,
    members: Count,
    services: Count,
}

#[derive(Deserialize)]
struct Label {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Count {
    total_count: u64,
}

#[derive(Deserialize)]
struct One {
    team: Option<Team>,
}

#[derive(Deserialize)]
struct Team {
    name: String,
    alias: String,
    aliases: Vec<String>,
    responsibilities: Option<String>,
    manager: Option<Person>,
    memberships: Connection<Membership>,
    tags: Connection<Tag>,
    services: Connection<Service>,
}

#[derive(Deserialize)]
struct Person {
    name: String,
    email: String,
}

#[derive(Deserialize)]
struct Membership {
    role: Option<String>,
    user: Person,
}

#[derive(Deserialize)]
struct Tag {
    key: String,
    value: String,
}

/// The list.
pub async fn page(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    let Teams { teams } = ask::query(site, visit, LIST, json!({ "after": visit.query.given("after") })).await?;
    let may = session.user.role >= Role::User;
    let main = html! {
        @if may { p.actions { a.button.quiet href="/new/team" { "New team" } } }
        @if teams.nodes.is_empty() {
            (empty("There is no team yet.", html! { p { "A team owns services, and says who leads it." } }))
        } @else {
            div.scroll tabindex="0" role="region" aria-label="Teams" {
                table {
                    thead { tr { th scope="col" { "Team" } th scope="col" { "Led by" } th scope="col" { "Members" } th scope="col" { "Services" } } }
                    tbody { @for team in &teams.nodes {
                        tr {
                            th scope="row" { a href=(path(["teams", &team.alias])) { (team.name) } }
                            td { @match &team.manager { Some(manager) => (manager.name), None => span.soft { "nobody" } } }
                            td.number { (team.members.total_count) }
                            td.number { (team.services.total_count) }
                        }
                    } }
                }
            }
            (pages(visit, "/teams", teams.page_info.as_ref()))
        }
    };
    Ok(Answer::page(layout(visit, "Teams", main)))
}

/// The page of the team with this alias.
pub async fn one(site: &Site, visit: &Visit, session: &Session, alias: &str) -> Result<Answer, Fault> {
    let variables = json!({ "alias": alias, "after": visit.query.given("after") });
    let One { team } = ask::query(site, visit, ONE, variables).await?;
    let team = team.ok_or(Fault::NotFound)?;
    let main = html! {
        @if session.user.role >= Role::User {
            p.actions { a.button.quiet href={ (path(["teams", &team.alias])) "/edit" } { "Edit" } }
        }
        @if let Some(text) = &team.responsibilities { (prose(text)) }
        dl.facts {
            dt { "Led by" }
            dd { @match &team.manager { Some(manager) => { (manager.name) " (" (manager.email) ")" }, None => span.soft { "nobody" } } }
            dt { "Aliases" }
            dd { ul.marks { @for alias in &team.aliases { li { code { (alias) } } } } }
            @if !team.tags.nodes.is_empty() {
                dt { "Tags" }
                dd { ul.marks { @for tag in &team.tags.nodes { li { span.mark.none { (tag.key) @if !tag.value.is_empty() { ": " (tag.value) } } } } } }
            }
        }
        h2 { "Members" }
        @if team.memberships.nodes.is_empty() { p.soft { "Nobody belongs to this team." } } @else {
            ul { @for member in &team.memberships.nodes {
                li { (member.user.name) " " span.soft { (member.user.email) } @if let Some(role) = &member.role { " " span.mark.none { (role) } } }
            } }
        }
        h2 { "Services" }
        @if team.services.nodes.is_empty() { p.soft { "This team owns no service." } } @else {
            p.soft { (count(team.services.total_count.unwrap_or_default(), "service")) }
            (services::table(&team.services.nodes, false))
            (pages(visit, &path(["teams", &team.alias]), team.services.page_info.as_ref()))
        }
    };
    Ok(Answer::page(layout(visit, &team.name, main)))
}
