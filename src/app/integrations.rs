//! Integrations: the tools that push to the catalogue. Deploy endpoints with their URLs, snippets and last deliveries;
//! custom integrations with their projects of code issues.

use maud::{Markup, html};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::ask::{ask, settled, unanswered};
use super::form::{Mistakes, Text};
use super::layout::layout;
use super::operations::{
    self, CreateCustomIntegration, CreateDeployIntegration, DeleteIntegration, DeployStatus, IntegrationRow,
    Integrations, RenameCustomIntegration, RenameDeployIntegration, integration::Integration,
};
use super::parts::{delete_button, empty, outside, pages, short, status, time};
use super::visit::{Session, Visit, path};
use super::{Answer, Fault, Site, custom, snippets};
use crate::entity::field_rule::FieldRules;
use crate::entity::user::Role;
use crate::entity::{Timestamp, delivery, deploy, integration};
use crate::graphql::id;

impl IntegrationRow {
    fn path(&self) -> String {
        path(["integrations", &self.id])
    }

    fn kind(&self) -> &'static str {
        if self.is_deploy() { "Deploy" } else { "Custom" }
    }

    fn is_deploy(&self) -> bool {
        self.r#type == "deploy"
    }
}

/// Lists the integrations.
pub async fn page(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    let found = ask(site, visit, Integrations { after: visit.query.given("after") }).await?;
    let integrations = found.account.integrations;
    let (now, may) = (Timestamp::now(), session.user.role >= Role::User);
    let add = html! {
        @if may {
            p {
                a.button href="/integrations/new?type=deploy" { "Add Deploy integration" } " "
                a.button.quiet href="/integrations/new?type=custom" { "Add custom integration" }
            }
        }
    };
    let main = html! {
        p { "A deploy integration receives deploys from your pipelines. A custom integration receives code issues from "
            "your own tools." }
        @if integrations.nodes.is_empty() {
            (empty("No integrations yet.", add))
        } @else {
            (add)
            div.scroll tabindex="0" role="region" aria-label="Integrations" {
                table {
                    thead { tr { th scope="col" { "Name" } th scope="col" { "Kind" } th scope="col" { "Added" } } }
                    tbody { @for integration in &integrations.nodes {
                        tr {
                            th scope="row" { a href=(integration.path()) { (integration.name) } }
                            td { (integration.kind()) }
                            td { (time(integration.created_at.0, now)) }
                        }
                    } }
                }
            }
            (pages(visit, "/integrations", &integrations.page_info))
        }
    };
    Ok(Answer::page(layout(visit, "Integrations", main)))
}

/// Shows the form for a new one.
pub fn new(visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    session.require(Role::User)?;
    Ok(Answer::page(new_form(visit, &Mistakes::none())))
}

fn new_form(visit: &Visit, mistakes: &Mistakes) -> Markup {
    let custom = [&visit.form, &visit.query].iter().any(|fields| fields.get("type") == "custom");
    let (title, button, kind) = match custom {
        true => ("Add custom integration", "Create custom integration", "custom"),
        false => ("Add Deploy integration", "Create a deploy endpoint", "deploy"),
    };
    let main = html! {
        @if custom { p { "Your tool pushes projects and code issues to it through the API." } }
        @else { p { "It gets its own URL. Your pipelines post their deploys to it." } }
        form method="post" action="/integrations" {
            (mistakes.summary(&["input.name", "name"]))
            input type="hidden" name="type" value=(kind);
            (Text::of(integration::Entity::rule(integration::Column::Name), "Name", "Such as: GitHub Actions")
                .show(&visit.form, mistakes))
            button { (button) }
        }
    };
    layout(visit, title, main)
}

/// Creates one.
pub async fn create(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let name = visit.form.get("name");
    let (errors, made) = if visit.form.get("type") == "custom" {
        let made = ask(site, visit, CreateCustomIntegration { name }).await?.custom_integration_create;
        made.map(|made| (made.errors, made.integration.map(|integration| integration.id)))
    } else {
        let made = ask(site, visit, CreateDeployIntegration { name }).await?.event_integration_create;
        made.map(|made| (made.errors, made.integration.map(|integration| integration.id)))
    }
    .ok_or_else(unanswered)?;
    match (settled(errors), made) {
        (Ok(()), Some(id)) => Ok(Answer::redirect(path(["integrations", &id]))),
        (Ok(()), None) => Ok(Answer::redirect("/integrations")),
        (Err(mistakes), _) => Ok(Answer::refused(new_form(visit, &mistakes))),
    }
}

/// Shows one.
pub async fn one(site: &Site, visit: &Visit, session: &Session, id: &str) -> Result<Answer, Fault> {
    Ok(Answer::page(show(site, visit, session, id, &Mistakes::none()).await?))
}

async fn find(site: &Site, visit: &Visit, id: &str) -> Result<Integration, Fault> {
    let found = ask(site, visit, operations::Integration { id }).await?;
    found.account.integration.ok_or(Fault::NotFound)
}

async fn show(site: &Site, visit: &Visit, session: &Session, id: &str, mistakes: &Mistakes) -> Result<Markup, Fault> {
    let Integration { integration_row: integration, webhook_url } = find(site, visit, id).await?;
    let (now, may) = (Timestamp::now(), session.user.role >= Role::User);
    let form = if visit.form.any() { visit.form.clone() } else { super::Fields::one("name", &integration.name) };
    let question = match integration.is_deploy() {
        true => "Delete this integration? Its URL stops working at once. Its deploys stay.",
        false => "Delete this integration? This also deletes its projects and their code issues.",
    };
    let main = html! {
        p { (integration.kind()) " integration, added " (time(integration.created_at.0, now)) "." }
        @if let Some(url) = &webhook_url {
            h2 { "Address" }
            p { "Anyone who knows this URL can post deploys. Treat it like a password." }
            code.secret #address data-copy="the address" { (url) }
            h2 { "Post deploys to it" }
            @for (index, snippet) in snippets::all(url).iter().enumerate() {
                details open[index == 0] {
                    summary { (snippet.title) }
                    p.hint { (snippet.hint) }
                    pre tabindex="0" role="region" aria-label=(snippet.title) { code data-copy={ "the snippet for " (snippet.title) } { (snippet.text) } }
                }
            }
        }
        @if integration.is_deploy() { (deliveries(site, id, now).await?) }
        @else {
            @if may { (custom::snippet(site, &integration.id)) }
            (custom::projects(site, visit, &integration.id, id::decode(id).map_or(0, |(_, number)| number)).await?)
        }
        @if may {
            h2 { "Change" }
            form method="post" action={ (integration.path()) "/rename" } {
                (mistakes.summary(&["name"]))
                (Text::of(integration::Entity::rule(integration::Column::Name), "Name", "").show(&form, mistakes))
                button { "Rename" }
            }
            (delete_button(&format!("{}/delete", integration.path()), "Delete", &integration.name, question))
        }
    };
    Ok(layout(visit, &integration.name, main))
}

/// Lists the last deliveries: recorded deploys and refused posts. The API has neither by endpoint, so both come from
/// the rows.
async fn deliveries(site: &Site, id: &str, now: Timestamp) -> Result<Markup, Fault> {
    let (db, number) = (site.db.read(), id::decode(id).map_or(0, |(_, number)| number));
    let deploys = deploy::Entity::find().filter(deploy::Column::IntegrationId.eq(number));
    let deploys = deploys.order_by_desc(deploy::Column::Id).limit(delivery::KEPT).all(db).await?;
    let mut rows: Vec<(Timestamp, Markup)> =
        deploys.iter().map(|deploy| (deploy.created_at, recorded(deploy, now))).collect();
    rows.extend(delivery::last(db, number).await?.iter().map(|one| (one.at, refused(one, now))));
    rows.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    rows.truncate(delivery::KEPT as usize);
    Ok(html! {
        h2 #deliveries { "Last deliveries" }
        @if rows.is_empty() {
            (empty("No deliveries yet.", html! { p { "Post a deploy with one of the snippets above." } }))
        } @else {
            div.scroll tabindex="0" role="region" aria-label="Last deliveries" {
                table {
                    thead { tr { th scope="col" { "Received" } th scope="col" { "Answer" } th scope="col" { "Service" } th scope="col" { "Deploy" } } }
                    tbody { @for (_, row) in &rows { (row) } }
                }
            }
        }
    })
}

fn recorded(deploy: &deploy::Model, now: Timestamp) -> Markup {
    let understood = deploy.deploy_status.map(|status| match status {
        deploy::Status::Succeeded => DeployStatus::Succeeded,
        deploy::Status::Failed => DeployStatus::Failed,
        deploy::Status::Cancelled => DeployStatus::Cancelled,
        deploy::Status::Queued => DeployStatus::Queued,
        deploy::Status::Running => DeployStatus::Running,
    });
    html! {
        tr {
            td { (time(deploy.created_at, now)) }
            td { span.mark.good { "202" } }
            td { @match deploy.service_id {
                Some(_) => a href=(path(["services", &deploy.service_alias])) { (deploy.service_alias) },
                None => { (deploy.service_alias) " " a href="/suggestions" { "unknown" } },
            } }
            td {
                (outside(deploy.deploy_url.as_deref(), &format!("#{}", deploy.deploy_number))) " "
                (status(understood, deploy.status.as_deref())) " " bdi { (short(&deploy.description)) }
            }
        }
    }
}

fn refused(delivery: &delivery::Model, now: Timestamp) -> Markup {
    let class = if delivery.status < 300 { "mark none" } else { "mark bad" };
    html! {
        tr {
            td { (time(delivery.at, now)) }
            td { span class=(class) { (delivery.status) } }
            td colspan="2" { code { (delivery.answer) } }
        }
    }
}

/// Renames one.
pub async fn rename(site: &Site, visit: &Visit, session: &Session, id: &str) -> Result<Answer, Fault> {
    let name = visit.form.get("name");
    let errors = if find(site, visit, id).await?.integration_row.is_deploy() {
        let renamed = ask(site, visit, RenameDeployIntegration { id, name }).await?.event_integration_update;
        renamed.map(|done| done.errors)
    } else {
        let renamed = ask(site, visit, RenameCustomIntegration { id, name }).await?.custom_integration_update;
        renamed.map(|done| done.errors)
    };
    match settled(errors.ok_or_else(unanswered)?) {
        Ok(()) => Ok(Answer::redirect(path(["integrations", id]))),
        Err(mistakes) => Ok(Answer::refused(show(site, visit, session, id, &mistakes).await?)),
    }
}

/// Deletes one.
pub async fn delete(site: &Site, visit: &Visit, session: &Session, id: &str) -> Result<Answer, Fault> {
    let deleted = ask(site, visit, DeleteIntegration { id }).await?.integration_delete;
    match settled(deleted.ok_or_else(unanswered)?.errors) {
        Ok(()) => Ok(Answer::redirect("/integrations")),
        Err(mistakes) => Ok(Answer::refused(show(site, visit, session, id, &mistakes).await?)),
    }
}
