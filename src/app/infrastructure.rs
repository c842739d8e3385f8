//! The list of infrastructure resources, and the page of each. Pipelines write them through the API.

use maud::{Markup, html};
use serde_json::Value;

use super::ask::ask;
use super::layout::layout;
use super::operations::{InfrastructureResource, InfrastructureResources};
use super::parts::{count_to_most, empty, external_link, owner, pages, tags, time};
use super::properties;
use super::relationships;
use super::visit::{Visit, path};
use super::{Answer, Fault, Site, search};
use catalogue::entity::Timestamp;

/// Lists the resources.
pub async fn page(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let found = ask(site, visit, InfrastructureResources { after: visit.query.given("after") }).await?;
    let resources = found.account.infrastructure_resources;
    let main = html! {
        @if resources.nodes.is_empty() {
            (empty("No infrastructure yet.", html! {
                p { "Add databases, queues, clusters and the like " a href="/reference/Mutation#infrastructureResourceCreate" { "through the API" } "." }
                p { a.button.quiet href="/explorer" { "Try it in the explorer" } }
            }))
        } @else {
            (search::field("infrastructure"))
            p.soft { (count_to_most(resources.total_count, "resource")) }
            div.scroll tabindex="0" role="region" aria-label="Infrastructure" {
                table.lined {
                    thead { tr {
                        @for head in ["Resource", "Type", "Provider", "Owner"] { th scope="col" { (head) } }
                    } }
                    tbody { @for one in &resources.nodes { tr {
                        th scope="row" { (link(&one.id, &one.name)) }
                        td { (one.r#type)
                            @if let Some(kind) = &one.provider_resource_type { " " span.soft { (kind) } }
                        }
                        td { @if let Some(provider) = &one.provider_data {
                            (provider.provider_name.as_deref().unwrap_or_default()) " " span.soft { (provider.account_name) }
                        } }
                        td { (owner(one.owner.as_ref().map(|team| (&*team.alias, &*team.name)))) }
                    } } }
                }
            }
            (pages(visit, "/infrastructure", &resources.page_info))
        }
    };
    Ok(Answer::page(layout(visit, "Infrastructure", main)))
}

/// Shows the resource with this id.
pub async fn detail(site: &Site, visit: &Visit, id: &str) -> Result<Answer, Fault> {
    let found = ask(site, visit, InfrastructureResource { id }).await?.account.infrastructure_resource;
    let resource = found.ok_or(Fault::NotFound)?;
    let now = Timestamp::now();
    let (from, to) = (&resource.relationships, &resource.incoming_relationships);
    let data = resource.raw_data.as_ref().and_then(Value::as_object);
    let main = html! {
        dl.facts {
            dt { "Type" } dd { (resource.r#type)
                @if let Some(kind) = &resource.provider_resource_type { " " span.soft { (kind) } }
            }
            dt { "Owner" } dd { (owner(resource.owner.as_ref().map(|team| (&*team.alias, &*team.name)))) }
            @if let Some(provider) = &resource.provider_data {
                dt { "Provider" } dd {
                    (external_link(provider.external_url.as_deref(), provider.provider_name.as_deref().unwrap_or("provider")))
                    " " span.soft { (provider.account_name) }
                }
            }
            @if !resource.aliases.is_empty() {
                dt { "Aliases" } dd { ul.marks { @for alias in &resource.aliases { li { code.mark.none { (alias) } } } } }
            }
            @if !resource.tags.nodes.is_empty() {
                dt { "Tags" } dd { (tags(resource.tags.nodes.iter().map(|tag| (&*tag.key, &*tag.value)))) }
            }
            dt { "Created" } dd { (time(resource.timestamps.created_at.0, now)) }
            dt { "Changed" } dd { (time(resource.timestamps.updated_at.0, now)) }
        }
        @if let Some(data) = data {
            h2 { "Data" }
            dl.facts { @for (field, value) in data { dt { (field) } dd { (properties::value(value)) } } }
        }
        (relationships::section(&from.nodes, &to.nodes, from.total_count + to.total_count))
    };
    Ok(Answer::page(layout(visit, &resource.name, main)))
}

/// Links to the page of a resource.
fn link(id: &str, name: &str) -> Markup {
    html! { a href=(path(["infrastructure", id])) { (name) } }
}
