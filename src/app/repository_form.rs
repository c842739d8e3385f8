//! The repositories of a service: their list, and the forms that link and unlink them. And the form with a repository's owner.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};

use super::ask::{ask, by_alias, settled, unanswered};
use super::form::{Mistakes, Text};
use super::layout::below;
use super::offers::{Offered, Offers};
use super::operations::repositories_of_service::Service;
use super::operations::{
    IdentifierInput, LinkRepository, OwnRepository, RepositoriesOfService, ServiceRepositoryCreateInput,
    UnlinkRepository,
};
use super::parts::{count, delete_button, external_link, local, pages};
use super::rights::{Rights, Thing};
use super::service_name::address;
use super::visit::{Fields, Method, Visit, path};
use super::{Answer, Fault, Site};
use catalogue::entity::{ByIds, repository, service, service_repository};
use catalogue::graphql::field::id::{self, Id};

/// The fields, named by the paths that the API uses for mistakes about them.
const REPOSITORY: &str = "repository.alias";
const FOLDER: &str = "baseDirectory";
const NAME: &str = "displayName";
/// The field of the owner of a repository.
pub const OWNER: &str = "ownerId";

/// Routes the pages of a service's repositories.
pub async fn answer(site: &Site, visit: &Visit, path: &[&str]) -> Result<Answer, Fault> {
    use Method::{Get, Post};
    match (visit.method, path) {
        (Get, ["services", alias, "repositories"]) => page(site, visit, alias).await,
        (Post, ["services", alias, "repositories"]) => link(site, visit, alias).await,
        (Post, ["services", alias, "repositories", id, "delete"]) => unlink(site, visit, alias, id).await,
        _ => Err(Fault::NotFound),
    }
}

/// Lists the repositories, with a form for another.
async fn page(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let service = find(site, visit, alias).await?;
    Ok(Answer::page(list(site, visit, &service, &Mistakes::none()).await?))
}

/// Links a repository.
async fn link(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let service = find(site, visit, alias).await?;
    let optional = |name| visit.form.given(name).map_or(MaybeUndefined::Undefined, MaybeUndefined::Value);
    let input = ServiceRepositoryCreateInput {
        service: IdentifierInput { id: MaybeUndefined::Value(&service.id), alias: MaybeUndefined::Undefined },
        repository: by_alias(visit.form.get(REPOSITORY)),
        base_directory: optional(FOLDER),
        display_name: optional(NAME),
    };
    let done = ask(site, visit, LinkRepository { input }).await?.service_repository_create.ok_or_else(unanswered)?;
    finish(site, visit, &service, settled(done.errors)).await
}

/// Unlinks a repository of the service.
async fn unlink(site: &Site, visit: &Visit, alias: &str, id: &str) -> Result<Answer, Fault> {
    let service = find(site, visit, alias).await?;
    let found =
        service_repository::Entity::by_ids(site.db.read(), [id::number::<service_repository::Entity>(id)]).await?;
    let own = id::number::<service::Entity>(&service.id);
    // Must be a link of this service: the form may name any id.
    if !found.into_iter().flatten().any(|link| Some(link.service_id) == own) {
        return Err(Fault::NotFound);
    }
    let done = ask(site, visit, UnlinkRepository { id }).await?.service_repository_delete.ok_or_else(unanswered)?;
    finish(site, visit, &service, settled(done.errors)).await
}

async fn finish(site: &Site, visit: &Visit, service: &Service, done: Result<(), Mistakes>) -> Result<Answer, Fault> {
    match done {
        Ok(()) => Ok(Answer::redirect(address(&service.aliases) + "/repositories")),
        Err(mistakes) => Ok(Answer::refused(list(site, visit, service, &mistakes).await?)),
    }
}

async fn find(site: &Site, visit: &Visit, alias: &str) -> Result<Service, Fault> {
    let wanted = RepositoriesOfService { alias, after: visit.query.given("after") };
    ask(site, visit, wanted).await?.account.service.ok_or_else(|| Fault::unknown("service", alias))
}

async fn list(site: &Site, visit: &Visit, service: &Service, mistakes: &Mistakes) -> Result<Markup, Fault> {
    let Service { name, aliases, locked, service_repositories: links, .. } = service;
    let (page, app_url) = (address(aliases), &site.catalogue.settings().app_url);
    let owner = service.owner.as_ref().map(Into::into);
    let rights = Rights::read(site, visit, Thing { noun: "service", page: page.clone(), owner }).await?;
    let may = rights.may_change() && !locked;
    let offers = Offers::read(site, visit, if may { &[Offered::Repositories] } else { &[] }).await?;
    let (form, shown) = (&visit.form, if may { &[REPOSITORY, FOLDER, NAME][..] } else { &[] });
    let main = html! {
        (rights.note())
        @if *locked { div.notice { p { "This service is managed by a service file, so its repositories cannot be changed here." } } }
        (mistakes.summary(shown))
        @if links.nodes.is_empty() { p.soft { "No repository is linked to this service." } } @else {
            p.soft { (count(links.total_count, "link")) }
            ul.entries { @for link in &links.nodes { li {
                div {
                    (external_link(link.repository.url.as_deref(), link.display_name.as_deref().unwrap_or(&link.repository.name))) " "
                    a.soft href=(local(&link.repository.html_url, app_url)) { code { (link.repository.default_alias) } }
                    @if !link.base_directory.is_empty() { " in " code { (link.base_directory) } }
                }
                @if may {
                    (delete_button(&format!("{page}{}", path(["repositories", &link.id, "delete"])), "Unlink", &link.repository.name, "Unlink this repository? The repository stays."))
                }
            } } }
            (pages(visit, &format!("{page}/repositories"), &links.page_info))
        }
        @if may {
            h2 { "Link a repository" }
            form method="post" action={ (page) "/repositories" } {
                (offers.show(Offered::Repositories, (REPOSITORY, "Repository (name or alias)", ""), true, (form, mistakes)))
                (Text { name: FOLDER, label: "Folder", hint: "Where the code of the service is in it. Empty for the whole repository.", kind: "text", required: false }.show(form, mistakes))
                (Text { name: NAME, label: "Name of the link", hint: "Shown instead of the repository's name.", kind: "text", required: false }.show(form, mistakes))
                button { "Link repository" }
            }
        }
    };
    Ok(below(visit, (&page, name), &format!("Repositories of {name}"), main))
}

/// Changes the owner of the repository with this number.
pub async fn own(site: &Site, visit: &Visit, number: &str) -> Result<Result<Answer, Mistakes>, Fault> {
    let number: i64 = number.parse().map_err(|_| Fault::NotFound)?;
    let id = Id::new::<repository::Entity>(number).text();
    let owner = visit.form.given(OWNER);
    let done = ask(site, visit, OwnRepository { id: &id, owner }).await?.repository_update.ok_or_else(unanswered)?;
    Ok(settled(done.errors).map(|()| Answer::redirect(path(["repositories", &number.to_string()]))))
}

/// Shows the form with the owner of a repository.
pub async fn owner_form(
    site: &Site,
    visit: &Visit,
    here: &str,
    owner: Option<&str>,
    mistakes: &Mistakes,
) -> Result<Markup, Fault> {
    let offers = Offers::read(site, visit, &[Offered::Teams]).await?;
    let stored = Fields::one(OWNER, owner.unwrap_or_default());
    let form = if visit.form.has(OWNER) { &visit.form } else { &stored };
    Ok(html! {
        (mistakes.summary(&[OWNER]))
        form.filters method="post" action={ (here) "/owner" } {
            (offers.show(Offered::Teams, (OWNER, "Owner (name or alias)", ""), false, (form, mistakes)))
            button.quiet { "Save owner" }
        }
    })
}
