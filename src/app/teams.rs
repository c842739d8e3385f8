//! The list of teams, and the page of a team.

use maud::html;

use super::ask::ask;
use super::contact_form::contact;
use super::layout::layout;
use super::markdown::prose;
use super::operations::{Team, Teams};
use super::parts::{count, empty, local, order, pages, sorted, tags};
use super::visit::{Session, Visit, path};
use super::{Answer, Fault, Site, graph, properties, services};
use crate::entity::service::Column;
use crate::entity::team;
use crate::entity::user::Role;

/// The maximum number of contacts shown.
const NEAR: usize = 12;

/// Lists the teams.
pub async fn page(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    let teams = ask(site, visit, Teams { sort: order(visit)?, after: visit.query.given("after") }).await?.account.teams;
    let may = session.user.role >= Role::User;
    let main = html! {
        @if may { p.actions { a.button.quiet href="/new/team" { "New team" } } }
        @if teams.nodes.is_empty() {
            (empty("No teams yet.", html! { p { "A team owns services and has a manager." } }))
        } @else {
            div.scroll tabindex="0" role="region" aria-label="Teams" {
                table {
                    thead { tr {
                        (sorted(visit, "/teams", "Team", "name")) (sorted(visit, "/teams", "Manager", "manager"))
                        th scope="col" { "Members" }
                        th scope="col" { "Services" }
                    } }
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
            (pages(visit, "/teams", &teams.page_info))
        }
    };
    Ok(Answer::page(layout(visit, "Teams", main)))
}

/// Shows the team with this alias.
pub async fn one(site: &Site, visit: &Visit, session: &Session, alias: &str) -> Result<Answer, Fault> {
    let found = ask(site, visit, Team { alias, after: visit.query.given("after") }).await;
    let found = found.map_err(|fault| fault.about("team", alias))?;
    let team = found.account.team.ok_or_else(|| Fault::unknown("team", alias))?;
    let label = format!("Dependencies of the services of {}", team.name);
    let picture = graph::of_group::<team::Entity>(site, visit, Column::OwnerId, &team.id, &label).await?;
    let (here, contacts) = (path(["teams", &team.alias]), team.contacts.unwrap_or_default());
    let app_url = &*site.catalogue.settings().app_url;
    let user_link = |url: &str, name: &str| html! { a href=(local(url, app_url)) { (name) } };
    let main = html! {
        @if session.user.role >= Role::TeamMember {
            p.actions {
                a.button.quiet href={ (here) "/edit" } { "Edit" } " "
                a.button.quiet href={ (here) "/contacts" } { "Contacts" }
            }
        }
        @if let Some(text) = &team.responsibilities { (prose(text)) }
        dl.facts {
            dt { "Manager" }
            dd { @match &team.manager { Some(manager) => { (user_link(&manager.html_url, &manager.name)) " (" (manager.email) ")" }, None => span.soft { "nobody" } } }
            @if !contacts.is_empty() {
                dt { "Contact" }
                dd {
                    ul.near { @for one in contacts.iter().take(NEAR) { li { (contact(one)) } } }
                    @if contacts.len() > NEAR { a href={ (here) "/contacts" } { (contacts.len() - NEAR) " more" } }
                }
            }
            dt { "Aliases" }
            dd { ul.marks { @for alias in &team.aliases { li { code { (alias) } } } } }
            @if let Some(parent) = &team.parent_team {
                dt { "Part of" } dd { a href=(path(["teams", &parent.alias])) { (parent.name) } }
            }
            @if !team.tags.nodes.is_empty() {
                dt { "Tags" }
                dd { (tags(team.tags.nodes.iter().map(|tag| (&*tag.key, &*tag.value)))) }
            }
        }
        (properties::section(&team.properties.nodes, team.properties.page_info.has_next_page))
        h2 { "Members" }
        @if team.memberships.nodes.is_empty() { p.soft { "This team has no members." } } @else {
            ul { @for member in &team.memberships.nodes {
                li { (user_link(&member.user.html_url, &member.user.name)) " " span.soft { (member.user.email) } @if let Some(role) = &member.role { " " span.mark.none { (role) } } }
            } }
        }
        h2 #services { "Services" }
        @if team.services.nodes.is_empty() { p.soft { "This team owns no services." } } @else {
            p.soft { (count(team.services.total_count, "service")) }
            (services::table(team.services.nodes.iter().map(|service| (service, None))))
            (pages(visit, &here, &team.services.page_info))
        }
        (picture)
    };
    Ok(Answer::page(layout(visit, &team.name, main)))
}
