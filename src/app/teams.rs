//! The list of teams, and the page of a team.

use maud::{Markup, html};

use super::ask::ask;
use super::contact_form::contact;
use super::form::Mistakes;
use super::layout::{Head, page as framed};
use super::markdown::prose;
use super::operations::team::AccountTeam as Found;
use super::operations::{Team, Teams};
use super::parts::{count, count_to_most, empty, local, order, pages, sorted, tags};
use super::rights::{Owner, Rights, Thing};
use super::team_now::Now;
use super::visit::{Session, Visit, path};
use super::{Answer, Fault, Site, all_deploys, delivery, graph, properties, search, services, standing, team_tree};
use catalogue::entity::service::Column;
use catalogue::entity::team;
use catalogue::entity::user::Role;
use catalogue::graphql::field::id;

/// The maximum number of contacts shown.
const NEAR: usize = 12;
/// The number of members whose contacts are shown, and the maximum number of contacts shown of each.
const REACHED: [usize; 2] = [25, 3];

/// Lists the teams.
pub async fn page(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    let mut mistakes = Mistakes::none();
    let sort = order(visit, &mut mistakes);
    let teams = ask(site, visit, Teams { sort, after: visit.query.given("after") }).await?.account.teams;
    let may = session.user.role >= Role::User;
    let is_flat = visit.query.has("sort") || visit.query.has("after");
    let tree = match is_flat {
        true => None,
        false => team_tree::tree(&site.reading(visit).await?).await?,
    };
    let number = count_to_most(teams.total_count, "team");
    let main = html! {
        (mistakes.summary(&[]))
        @if !teams.nodes.is_empty() { (search::field("teams")) }
        @if let Some(tree) = &tree {
            p.soft { (number) " · " a href="/teams?sort=name_ASC" { "Show as a list" } }
            (tree)
        } @else if teams.nodes.is_empty() {
            (empty("No teams yet.", html! {
                p { "A team owns services and has a manager." }
                @if may { a.button href="/new/team" { "New team" } }
            }))
        } @else {
            p.soft { (number) }
            div.scroll tabindex="0" role="region" aria-label="Teams" {
                table.lined {
                    thead { tr {
                        (sorted(visit, "/teams", "Team", "name", false)) (sorted(visit, "/teams", "Manager", "manager", false))
                        th.number scope="col" { "Members" }
                        th.number scope="col" { "Services" }
                    } }
                    tbody { @for team in &teams.nodes {
                        tr {
                            th scope="row" { a href=(path(["teams", &team.alias])) { (team.name) } }
                            td { @match &team.manager { Some(manager) => (manager.name), None => span.soft { "nobody" } } }
                            td.number data-label="Members" { (team.members.total_count) }
                            td.number data-label="Services" { (team.services.total_count) }
                        }
                    } }
                }
            }
            (pages(visit, "/teams", &teams.page_info))
        }
    };
    let head = Head { actions: html! { @if may { a.button href="/new/team" { "New team" } } }, ..Head::new("Teams") };
    Ok(Answer::checked(&mistakes, framed(visit, &head, main)))
}

/// Shows the team with this alias.
pub async fn detail(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let found = ask(site, visit, Team { alias, after: visit.query.given("after") }).await;
    let found = found.map_err(|fault| fault.for_alias("team", alias))?;
    let team = found.account.team.ok_or_else(|| Fault::unknown("team", alias))?;
    let label = format!("Dependencies of the services of {}", team.name);
    let picture = graph::of_group::<team::Entity>(site, visit, Column::OwnerId, &team.id, &label).await?;
    let number = id::number::<team::Entity>(&team.id).unwrap_or_default();
    let latest = all_deploys::latest(site, visit, (Column::OwnerId, number), ("team", &*team.alias)).await?;
    let owned = team_tree::owned(&site.reading(visit).await?, number).await?;
    let now = Now::read(site, visit, number).await?;
    let standards = standing::of_team(site, visit, alias).await?;
    let here = path(["teams", &team.alias]);
    let own = Owner { id: &team.id, alias: &team.alias, name: &team.name };
    let rights = Rights::read(site, visit, Thing { noun: "team", page: here.clone(), owner: Some(own) }).await?;
    let may = rights.may_change();
    let head = Head {
        crumbs: html! {
            a href="/teams" { "Teams" }
            @if let Some(parent) = &team.parent_team { " / " a href=(path(["teams", &parent.alias])) { (parent.name) } }
        },
        actions: html! {
            a.button.quiet href=(delivery::address("team", &team.alias)) { "Delivery" }
            a.button.quiet href={ (here) "/history" } { "History" }
            @if may { a.button.quiet href={ (here) "/contacts" } { "Contacts" } a.button.quiet href={ (here) "/edit" } { "Edit" } }
        },
        ..Head::new(&team.name)
    };
    let main = html! {
        (rights.note())
        @if let Some(text) = &team.responsibilities { div.lead { (prose(text)) } }
        div.two {
            div.stack {
                section.card {
                    h2 #services { "Services" }
                    @if team.services.nodes.is_empty() {
                        p.soft { "This team owns no services. " a href="/services?unowned=1" { "Services without an owner" } }
                    } @else {
                        p.soft { (count(team.services.total_count, "service")) }
                        (services::table(team.services.nodes.iter(), true))
                        (pages(visit, &here, &team.services.page_info))
                    }
                }
                (now.issues())
                (latest)
                (picture)
            }
            div.stack {
                (facts(&team, &here, &site.catalogue.settings().app_url))
                (now.on_call())
                (members(&team, may.then_some(&*here), &site.catalogue.settings().app_url))
                (now.delivery(&team.alias))
                (standards)
                (list_of_parts(&team))
                (owned)
                (properties::section(&team.properties.nodes, team.properties.page_info.has_next_page))
            }
        }
    };
    Ok(Answer::page(framed(visit, &head, main)))
}

fn list_of_parts(team: &Found) -> Markup {
    html! {
        @if !team.children.nodes.is_empty() {
            section.card {
                h2 { "Parts" }
                ul.marks { @for part in &team.children.nodes {
                    li { a.mark href=(path(["teams", &part.alias])) { (part.name) } }
                } }
                @if team.children.page_info.has_next_page { p.soft { "and more" } }
            }
        }
    }
}

fn user_link(url: &str, name: &str, app_url: &str) -> Markup {
    html! { a href=(local(url, app_url)) { (name) } }
}

fn facts(team: &Found, here: &str, app_url: &str) -> Markup {
    let contacts = team.contacts.as_deref().unwrap_or_default();
    html! {
        section.card {
            h2 { "Facts" }
            dl.facts {
                dt { "Manager" }
                dd { @match &team.manager { Some(manager) => { (user_link(&manager.html_url, &manager.name, app_url)) small { (manager.email) } }, None => span.mark.warn { "nobody" } } }
                @if !contacts.is_empty() {
                    dt { "Contact" }
                    dd {
                        @for one in contacts.iter().take(NEAR) { div { (contact(one)) } }
                        @if contacts.len() > NEAR { a href={ (here) "/contacts" } { (contacts.len() - NEAR) " more" } }
                    }
                }
                dt { "Aliases" }
                dd { ul.marks { @for alias in &team.aliases { li { code.mark.none { (alias) } } } } }
                @if let Some(parent) = &team.parent_team {
                    dt { "Part of" } dd { a href=(path(["teams", &parent.alias])) { (parent.name) } }
                }
                @if !team.tags.nodes.is_empty() {
                    dt { "Tags" }
                    dd { (tags(team.tags.nodes.iter().map(|tag| (&*tag.key, &*tag.value)))) }
                }
            }
        }
    }
}

/// The members. `page` is that of the team, for whoever may add some.
fn members(team: &Found, page: Option<&str>, app_url: &str) -> Markup {
    let [members, of_each] = REACHED;
    html! {
        section.card {
            h2 { "Members" }
            @if team.memberships.nodes.is_empty() {
                p.soft { "This team has no members." @if let Some(page) = page { " " a href={ (page) "/edit" } { "Add a member" } } }
            } @else {
                ul.missing { @for (at, member) in team.memberships.nodes.iter().enumerate() {
                    @let contacts = if at < members { of_each } else { 0 };
                    li {
                        span { (user_link(&member.user.html_url, &member.user.name, app_url)) small { (member.user.email) }
                            @for one in member.user.contacts.iter().flatten().take(contacts) { small { (contact(one)) } }
                        }
                        @if let Some(role) = &member.role { span { span.mark.none { (role) } } }
                    }
                } }
            }
        }
    }
}
