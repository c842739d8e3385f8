//! The links of a service to its runbooks, dashboards, logs and the like: their list, and their forms.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};

use super::ask::{ask, or_null, settled, unanswered};
use super::form::{self, Mistakes};
use super::layout::{Head, below, page as framed};
use super::operations::tools_of_service::Service;
use super::operations::{
    AddTool, ChangeTool, DeleteTool, ToolCategory, ToolCreateInput, ToolUpdateInput, ToolsOfService,
};
use super::parts::{count, delete_button, external_link, pages};
use super::rights::{Rights, Thing};
use super::schema_words::spoken;
use super::service_name::address;
use super::visit::{Fields, Session, Visit, path};
use super::{Answer, Fault, Site};
use catalogue::entity::field_rule::FieldRules;
use catalogue::entity::tool::{self, Column, Entity};
use catalogue::entity::user::Role;
use catalogue::entity::{ByIds, service};
use catalogue::graphql::field::id;

/// The form's fields below the category: column, label, hint, height.
const SHOWN: [(Column, &str, &str, u8); Entity::FIELDS.len()] =
    [(Column::DisplayName, "Name", "", 1), (Column::Url, "URL", "", 1), (Column::Environment, "Environment", "", 1)];
/// The categories of links, in the order of the form: those needed during an incident come first.
const CATEGORIES: [&str; 23] = [
    "runbooks",
    "logs",
    "metrics",
    "observability",
    "errors",
    "incidents",
    "health_checks",
    "status_page",
    "deployment",
    "continuous_integration",
    "code",
    "issue_tracking",
    "backlog",
    "wiki",
    "api_documentation",
    "architecture_diagram",
    "design_documentation",
    "feature_flag",
    "orchestrator",
    "admin",
    "resiliency",
    "security_scans",
    "other",
];

/// Lists the links, with a form for another.
pub async fn page(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let service = find(site, visit, alias).await?;
    let rights = Rights::read(site, visit, service.thing()).await?;
    Ok(Answer::page(list(visit, &service, &rights, &Mistakes::none())))
}

/// Adds a link.
pub async fn create(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let service = find(site, visit, alias).await?;
    let rights = Rights::read(site, visit, service.thing()).await?;
    rights.to_change()?;
    let form = form::sent::<Entity>(&visit.form);
    let input = ToolCreateInput {
        category: chosen(&visit.form)?,
        display_name: form.get("displayName"),
        environment: or_null(form::given::<Entity>(&form, Column::Environment)),
        service_alias: MaybeUndefined::Undefined,
        service_id: MaybeUndefined::Value(&service.id),
        url: form.get("url"),
    };
    let done = ask(site, visit, AddTool { input }).await?.tool_create.ok_or_else(unanswered)?;
    match settled(done.errors) {
        Ok(()) => Ok(Answer::redirect(address(&service.aliases) + "/tools")),
        Err(mistakes) => Ok(Answer::refused(list(visit, &service, &rights, &mistakes))),
    }
}

/// Shows the form of a link.
pub async fn edit(site: &Site, visit: &Visit, session: &Session, alias: &str, id: &str) -> Result<Answer, Fault> {
    session.require(Role::TeamMember)?;
    let service = find(site, visit, alias).await?;
    let tool = tool_of(site, &service, id).await?;
    if !Rights::read(site, visit, service.thing()).await?.may_change() {
        return Ok(Answer::redirect(address(&service.aliases) + "/tools"));
    }
    Ok(Answer::page(edit_form(visit, &service, id, &current(&tool), &Mistakes::none())))
}

/// Changes or deletes a link.
pub async fn change(site: &Site, visit: &Visit, alias: &str, id: &str, what: &str) -> Result<Answer, Fault> {
    let service = find(site, visit, alias).await?;
    // Must be a link of this service: the form may name any id.
    let tool = tool_of(site, &service, id).await?;
    Rights::read(site, visit, service.thing()).await?.to_change()?;
    let form = form::sent::<Entity>(&visit.form);
    let errors = match what {
        "edit" => {
            let input = ToolUpdateInput {
                id,
                category: MaybeUndefined::Value(chosen(&visit.form)?),
                display_name: MaybeUndefined::Value(form.get("displayName")),
                environment: or_null(form::given::<Entity>(&form, Column::Environment)),
                url: MaybeUndefined::Value(form.get("url")),
            };
            ask(site, visit, ChangeTool { input }).await?.tool_update.map(|done| done.errors)
        }
        "delete" => ask(site, visit, DeleteTool { id }).await?.tool_delete.map(|done| done.errors),
        _ => return Err(Fault::NotFound),
    };
    match settled(errors.ok_or_else(unanswered)?) {
        Ok(()) => Ok(Answer::redirect(address(&service.aliases) + "/tools")),
        Err(mistakes) => {
            let shown = if what == "edit" { visit.form.clone() } else { current(&tool) };
            Ok(Answer::refused(edit_form(visit, &service, id, &shown, &mistakes)))
        }
    }
}

async fn find(site: &Site, visit: &Visit, alias: &str) -> Result<Service, Fault> {
    let wanted = ToolsOfService { alias, after: visit.query.given("after") };
    ask(site, visit, wanted).await?.account.service.ok_or_else(|| Fault::unknown("service", alias))
}

impl Service {
    fn thing(&self) -> Thing<'_> {
        Thing { noun: "service", page: address(&self.aliases), owner: self.owner.as_ref().map(Into::into) }
    }
}

/// Finds the service's link with this id. The API has no query for a single link, so it is read from the database.
async fn tool_of(site: &Site, service: &Service, id: &str) -> Result<tool::Model, Fault> {
    let found = Entity::by_ids(site.db.read(), [id::number::<Entity>(id)]).await?.pop().flatten();
    let owner = id::number::<service::Entity>(&service.id);
    found.filter(|tool| Some(tool.service_id) == owner).ok_or(Fault::NotFound)
}

/// The current values as form fields.
fn current(tool: &tool::Model) -> Fields {
    Fields::one("category", &tool.category)
        .and("displayName", &tool.display_name)
        .and("url", &tool.url)
        .and("environment", tool.environment.as_deref().unwrap_or_default())
}

fn chosen(form: &Fields) -> Result<ToolCategory, Fault> {
    form.get("category").parse().map_err(|()| Fault::BadRequest("Choose what the link is for.".to_owned()))
}

/// The categories of links: their words and labels.
pub fn categories() -> [(&'static str, String); CATEGORIES.len()] {
    CATEGORIES.map(|word| (word, spoken(word)))
}

fn fields(form: &Fields, mistakes: &Mistakes) -> Markup {
    let categories = categories();
    let categories = categories.each_ref().map(|(word, label)| (*word, &**label));
    html! {
        (form::select("category", "What it is for", "", &categories, form, mistakes))
        (form::entries::<Entity, _>(SHOWN, |_| Vec::new(), form, mistakes))
    }
}

fn list(visit: &Visit, service: &Service, rights: &Rights<'_>, mistakes: &Mistakes) -> Markup {
    let Service { name, aliases, locked, tools, .. } = service;
    let page = address(aliases);
    let may_write = rights.may_change() && !locked;
    let main = html! {
        @if *locked { div.notice { p { "This service is managed by a service file, so its links cannot be changed here." } } } @else { (rights.note()) }
        @if tools.nodes.is_empty() { p.soft { "No links yet." } } @else {
            p.soft { (count(tools.total_count, "link")) }
            ul.entries { @for tool in &tools.nodes { li {
                div {
                    (external_link(Some(&tool.url), &tool.display_name)) " "
                    @if let Some(category) = &tool.category_alias { span.mark.none { (spoken(category)) } " " }
                    @if let Some(environment) = &tool.environment { span.soft { (environment) } }
                }
                @if may_write {
                    a.button.quiet href={ (page) (path(["tools", &tool.id])) } { "Edit" span.hidden { " " (tool.display_name) } }
                    (delete_button(&format!("{page}{}", path(["tools", &tool.id, "delete"])), "Delete", &tool.display_name, "Delete this link?"))
                }
            } } }
            (pages(visit, &format!("{page}/tools"), &tools.page_info))
        }
        @if may_write {
            h2 { "New link" }
            form method="post" action={ (page) "/tools" } {
                (fields(&visit.form, mistakes))
                button { "Add link" }
            }
        } @else {
            (mistakes.summary(&[]))
        }
    };
    below(visit, (&page, name), &format!("Links of {name}"), main)
}

fn edit_form(visit: &Visit, service: &Service, id: &str, form: &Fields, mistakes: &Mistakes) -> Markup {
    let here = address(&service.aliases);
    let list = format!("{here}/tools");
    let main = html! {
        form method="post" action={ (list) (path([id, "edit"])) } {
            (fields(form, mistakes))
            button { "Save" }
        }
    };
    let title = format!("Link of {}", service.name);
    framed(visit, &Head::below(visit, &title, &[(&*here, &*service.name), (&*list, "Links")]), main)
}
