//! The list of repositories, and the page of each.

use maud::{Markup, html};

use super::ask::ask;
use super::form::Mistakes;
use super::layout::layout;
use super::markdown::prose;
use super::operations::repository::{Repository, RepositoryServiceConnectionType};
use super::operations::{self, FirstService, OwnerTeam, Repositories};
use super::parts::{count, count_to_most, empty, external_link, local, order, owner, pages, short, sorted, tags, time};
use super::rights::{Rights, Thing};
use super::service_name::address;
use super::visit::{Visit, path};
use super::{Answer, Fault, Site, repository_form, search};
use catalogue::entity::{Timestamp, repository};
use catalogue::graphql::field::id::Id;

/// Lists the repositories.
pub async fn page(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let mut mistakes = Mistakes::none();
    let sort = order(visit, &mut mistakes);
    let found = ask(site, visit, Repositories { sort, after: visit.query.given("after") }).await?;
    let (repositories, app_url) = (found.account.repositories, &site.catalogue.settings().app_url);
    let head = |label, order, wide| sorted(visit, "/repositories", label, order, wide);
    let main = html! {
        (mistakes.summary(&[]))
        @if repositories.nodes.is_empty() {
            (empty("No repositories yet.", html! {
                p { "A service file adds them, with a document such as this one:" }
                pre { "version: 1\nrepository:\n  name: org/cart\n  url: https://github.com/org/cart" }
                p { "Apply it with " code { "rollcall apply rollcall.yml" } ", or add them "
                    a href="/reference/Mutation#repositoryCreate" { "through the API" }
                    ". The page of a service links them to it." }
            }))
        } @else {
            (search::field("repositories"))
            p.soft { (count_to_most(repositories.total_count, "repository")) }
            div.scroll tabindex="0" role="region" aria-label="Repositories" {
                table.lined {
                    thead { tr {
                        (head("Repository", "name", false)) (head("Alias", "alias", true)) (head("Owner", "owner", false))
                        th.number scope="col" { "Services" }
                    } }
                    tbody { @for one in &repositories.nodes { tr {
                        th scope="row" {
                            a href=(local(&one.html_url, app_url)) { (one.name) }
                            (marks(one.visible, one.archived_at.is_some()))
                        }
                        td.wide { code { (one.default_alias) } }
                        td { (owned(one.owner.as_ref(), &one.services.first_service)) }
                        td.number data-label="Services" { (one.services.total_count) }
                    } } }
                }
            }
            (pages(visit, "/repositories", &repositories.page_info))
        }
    };
    Ok(Answer::checked(&mistakes, layout(visit, "Repositories", main)))
}

/// The owner of a repository. Without one of its own, whoever owns its first service looks after its code.
fn owned(own: Option<&OwnerTeam>, services: &FirstService) -> Markup {
    let through = services.nodes.first().and_then(|service| Some((service, service.owner.as_ref()?)));
    match (own, through) {
        (None, Some((service, team))) => html! {
            (owner(Some((&*team.alias, &*team.name)))) " " span.soft { "(through " (short(&service.name)) ")" }
        },
        _ => owner(own.map(|team| (&*team.alias, &*team.name))),
    }
}

fn marks(visible: bool, archived: bool) -> Markup {
    html! {
        @if !visible { " " span.mark.none { "hidden" } }
        @if archived { " " span.mark.none { "archived" } }
    }
}

/// Shows the repository with this number.
pub async fn detail(site: &Site, visit: &Visit, number: &str) -> Result<Answer, Fault> {
    Ok(Answer::page(shown(site, visit, number, &Mistakes::none()).await?))
}

/// Changes its owner.
pub async fn change_owner(site: &Site, visit: &Visit, number: &str) -> Result<Answer, Fault> {
    match repository_form::own(site, visit, number).await? {
        Ok(answer) => Ok(answer),
        Err(mistakes) => Ok(Answer::refused(shown(site, visit, number, &mistakes).await?)),
    }
}

async fn shown(site: &Site, visit: &Visit, number: &str, mistakes: &Mistakes) -> Result<Markup, Fault> {
    let number: i64 = number.parse().map_err(|_| Fault::NotFound)?;
    let id = Id::new::<repository::Entity>(number).text();
    let found = ask(site, visit, operations::Repository { id: &id, after: visit.query.given("after") }).await?;
    let repository = found.account.repository.ok_or(Fault::NotFound)?;
    let here = path(["repositories", &number.to_string()]);
    let owner = repository.owner.as_ref().map(Into::into);
    let rights = Rights::read(site, visit, Thing { noun: "repository", page: here.clone(), owner }).await?;
    let form = match rights.may_edit() {
        true => {
            let alias = repository.owner.as_ref().map(|team| &*team.alias);
            Some(repository_form::owner_form(site, visit, &here, alias, mistakes).await?)
        }
        false => None,
    };
    let main = html! {
        @if let Some(text) = &repository.description { (prose(text)) }
        (facts(&repository, Timestamp::now()))
        @if let Some(form) = form { (rights.taking()) (form) } @else { (rights.note()) (mistakes.summary(&[])) }
        h2 { (count(repository.services.total_count, "service")) }
        (services(&repository.services))
        (pages(visit, &here, &repository.services.page_info))
    };
    Ok(layout(visit, &repository.name, main))
}

fn facts(repository: &Repository, now: Timestamp) -> Markup {
    let kinds = [
        (repository.private, "private"),
        (!repository.visible, "hidden"),
        (repository.forked == Some(true), "fork"),
        (repository.archived_at.is_some(), "archived"),
    ];
    let kinds: Vec<&str> = kinds.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
    html! {
        dl.facts {
            dt { "Owner" } dd { (owned(repository.owner.as_ref(), &repository.first_services)) }
            @if let Some(url) = &repository.url { dt { "URL" } dd { (external_link(Some(url), url)) } }
            dt { "Alias" } dd { code { (repository.default_alias) } }
            @if let Some(branch) = &repository.default_branch { dt { "Default branch" } dd { code { (branch) } } }
            @if !kinds.is_empty() {
                dt { "Kind" }
                dd { ul.marks { @for kind in &kinds { li { span.mark.none { (kind) } } } } }
            }
            @if let Some(tier) = &repository.tier { dt { "Most critical tier" } dd { (tier.name) } }
            @if !repository.languages.is_empty() {
                dt { "Languages" }
                dd { ul.marks { @for language in &repository.languages {
                    li { span.mark.none { (language.name) " " (percent(language.usage)) } }
                } } }
            }
            @if !repository.tags.nodes.is_empty() {
                dt { "Tags" }
                dd { (tags(repository.tags.nodes.iter().map(|tag| (&*tag.key, &*tag.value)))) }
            }
            @if !repository.code_issue_projects.nodes.is_empty() {
                dt { "Code issues" }
                dd {
                    (count(repository.code_issues.total_count, "issue")) " in "
                    @for (place, project) in repository.code_issue_projects.nodes.iter().enumerate() {
                        @if place > 0 { ", " }
                        (external_link(project.external_url.as_deref(), &project.name))
                    }
                }
            }
            @if let Some(created) = &repository.created_on { dt { "Added" } dd { (time(created.0, now)) } }
        }
    }
}

/// A share of 1 in percent. Less than one percent is shown as such.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 1.0 { "<1%".to_owned() } else { format!("{percent:.0}%") }
}

/// Lists the services with their folders.
fn services(services: &RepositoryServiceConnectionType) -> Markup {
    html! {
        @if services.edges.is_empty() {
            (empty("No service is linked to this repository.", html! {
                p { "Link it on the page of a service, under Repositories, or in its service file." }
            }))
        } @else {
            ul { @for edge in &services.edges { li {
                a href=(address(&edge.node.aliases)) { (edge.node.name) }
                @for folder in edge.paths.iter().filter(|folder| !folder.path.is_empty()) {
                    " " (external_link(Some(&folder.href), &folder.path))
                }
            } } }
        }
    }
}
