//! The dependencies of a service: their list, and the forms that add and delete them.

use maud::{Markup, html};

use super::ask::{ask, settled, unanswered};
use super::form::{self, Area, Mistakes};
use super::graph;
use super::layout::below;
use super::offers::{Offered, Offers};
use super::operations::dependencies_of_service::AccountService as Service;
use super::operations::{AddDependency, DeleteDependency, DependenciesOfService};
use super::parts::{count, delete_button, pages, short, tier as tier_chip};
use super::rights::{Rights, Thing};
use super::service_name::address;
use super::visit::{Visit, path};
use super::{Answer, Fault, Site};
use catalogue::entity::text::DESCRIPTION;
use catalogue::entity::{ByIds, service, service_dependency};
use catalogue::graphql::field::id;

/// The fields, named by the paths that the API uses for mistakes about them.
const ON: &str = "dependencyKey.destinationIdentifier.alias";
const NOTES: &str = "notes";

/// Lists the dependencies, with a form for another.
pub async fn page(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let service = find(site, visit, alias).await?;
    let rights = Rights::read(site, visit, service.thing()).await?;
    Ok(Answer::page(list(site, visit, &service, &rights, &Mistakes::none()).await?))
}

/// Adds a dependency.
pub async fn create(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let service = find(site, visit, alias).await?;
    let rights = Rights::read(site, visit, service.thing()).await?;
    rights.to_change()?;
    let notes = form::stored(visit.form.get(NOTES));
    let add =
        AddDependency { id: &service.id, on: visit.form.get(ON), notes: Some(&*notes).filter(|text| !text.is_empty()) };
    let done = ask(site, visit, add).await?.service_dependency_create.ok_or_else(unanswered)?;
    answer(site, visit, &service, &rights, settled(done.errors)).await
}

/// Deletes a dependency of the service.
pub async fn delete(site: &Site, visit: &Visit, alias: &str, id: &str) -> Result<Answer, Fault> {
    let service = find(site, visit, alias).await?;
    let found =
        service_dependency::Entity::by_ids(site.db.read(), [id::number::<service_dependency::Entity>(id)]).await?;
    let source = id::number::<service::Entity>(&service.id);
    // Must be a dependency of this service: the form may name any id.
    if !found.into_iter().flatten().any(|dependency| Some(dependency.source_id) == source) {
        return Err(Fault::NotFound);
    }
    let rights = Rights::read(site, visit, service.thing()).await?;
    rights.to_change()?;
    let done = ask(site, visit, DeleteDependency { id }).await?.service_dependency_delete.ok_or_else(unanswered)?;
    answer(site, visit, &service, &rights, settled(done.errors)).await
}

async fn answer(
    site: &Site,
    visit: &Visit,
    service: &Service,
    rights: &Rights<'_>,
    done: Result<(), Mistakes>,
) -> Result<Answer, Fault> {
    match done {
        Ok(()) => Ok(Answer::redirect(address(&service.aliases) + "/dependencies")),
        Err(mistakes) => Ok(Answer::refused(list(site, visit, service, rights, &mistakes).await?)),
    }
}

async fn find(site: &Site, visit: &Visit, alias: &str) -> Result<Service, Fault> {
    let wanted = DependenciesOfService { alias, after: visit.query.given("after") };
    ask(site, visit, wanted).await?.account.service.ok_or_else(|| Fault::unknown("service", alias))
}

impl Service {
    fn thing(&self) -> Thing<'_> {
        Thing { noun: "service", page: address(&self.aliases), owner: self.owner.as_ref().map(Into::into) }
    }
}

async fn list(
    site: &Site,
    visit: &Visit,
    service: &Service,
    rights: &Rights<'_>,
    mistakes: &Mistakes,
) -> Result<Markup, Fault> {
    let Service { name, aliases, locked, dependencies, .. } = service;
    let page = address(aliases);
    let may_write = rights.may_change() && !locked;
    let offers = Offers::read(site, visit, if may_write { &[Offered::Services] } else { &[] }).await?;
    let main = html! {
        p { a href=(graph::address(aliases)) { "Picture" } }
        @if *locked { div.notice { p { "This service is managed by a service file, so its dependencies cannot be changed here." } } } @else { (rights.note()) }
        (mistakes.summary(&[ON, NOTES]))
        @if dependencies.edges.is_empty() { p.soft { "This service depends on no other." } } @else {
            p.soft { "Depends on " (count(dependencies.total_count, "service")) }
            ul.entries { @for edge in &dependencies.edges { li {
                div {
                    a href=(address(&edge.node.aliases)) { (edge.node.name) } " "
                    @if let Some(tier) = &edge.node.tier { (tier_chip(tier.index, &tier.name)) " " }
                    @if edge.on_less_critical_tier { span.mark.warn { "less critical than this service" } " " }
                    @if let Some(notes) = &edge.notes { span.soft { (short(notes)) } }
                }
                @if may_write {
                    (delete_button(&format!("{page}{}", path(["dependencies", &edge.id, "delete"])), "Delete", &edge.node.name, "Delete this dependency? Both services stay."))
                }
            } } }
            (pages(visit, &format!("{page}/dependencies"), &dependencies.page_info))
        }
        @if may_write {
            h2 { "New dependency" }
            form method="post" action={ (page) "/dependencies" } {
                (offers.show(Offered::Services, (ON, "The other service (name or alias)", ""), true, (&visit.form, mistakes)))
                (Area { name: NOTES, label: "Notes", hint: "Why or how this service needs the other.", rows: 2, most: DESCRIPTION }.show(&visit.form, mistakes))
                button { "Add dependency" }
            }
        }
    };
    Ok(below(visit, (&page, name), &format!("What {name} depends on"), main))
}
