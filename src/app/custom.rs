//! The page of a custom integration: how to push to it, and the projects in it with their issues and services.

use std::collections::HashMap;

use maud::{Markup, html};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select};

use super::parts::{empty, external_link, grouped, page_links};
use super::reading::too_long;
use super::visit::{Visit, path};
use super::{Fault, Site};
use catalogue::db::{self, OfKeys, Read, ReadHandle};
use catalogue::entity::{code_issue, code_issue_project, code_issue_project_resource as link, repository, service};

const PAGE: u64 = 50;

/// The most services and repositories that are shown for a project.
pub const CONNECTED: usize = 10;

/// The instructions for pushing through the API.
pub fn snippet(site: &Site, id: &str) -> Markup {
    let text = PUSH.replace("ORIGIN", &site.catalogue.settings().app_url).replace("INTEGRATION", id);
    html! {
        h2 { "Push code issues to it" }
        p { "Your tool can send everything on each run: existing projects and issues are updated. A project with the "
            "name of a service or repository is connected to it. Any other project becomes a "
            a href="/suggestions" { "suggestion" } ". Ask an administrator for the token." }
        pre tabindex="0" role="region" aria-label="curl" { code data-copy="the snippet for curl" { (text) } }
        p { "See the reference for " a href="/reference/CodeIssueProjectUpsertInput" { "projects" } " and "
            a href="/reference/CodeIssueInput" { "issues" } "." }
    }
}

const PUSH: &str = r#"curl --fail-with-body ORIGIN/graphql \
  -H "Authorization: Bearer $ROLLCALL_TOKEN" \
  -H 'Content-Type: application/json' \
  -d @- <<'JSON'
{
  "query": "mutation($project: CodeIssueProjectUpsertInput!, $issue: CodeIssueInput!) { codeIssueProjectUpsert(input: $project) { errors { message path } } codeIssueUpsert(input: $issue) { errors { message path } } }",
  "variables": {
    "project": {
      "identifier": {"integration": {"id": "INTEGRATION"}, "externalId": "shopping_cart"},
      "name": "shopping_cart"
    },
    "issue": {
      "identifier": {
        "codeIssueProject": {"integration": {"id": "INTEGRATION"}, "externalId": "shopping_cart"},
        "externalId": "issue-1"
      },
      "name": "A dependency is known to be unsafe",
      "issueCategory": "vulnerability",
      "severity": "high"
    }
  }
}
JSON
"#;

/// Lists the integration's projects, newest first. The API cannot list projects by integration, so they are read from
/// the database.
pub async fn projects(site: &Site, visit: &Visit, id: &str, number: i64) -> Result<Markup, Fault> {
    use code_issue_project::{Column, Entity};
    let mut found = Entity::find().filter(Column::IntegrationId.eq(number));
    if let Some(after) = visit.query.given("after") {
        let after: i64 = after.parse().map_err(|_| Fault::NoSuchPage)?;
        found = found.filter(Column::Id.lt(after));
    }
    let found = found.order_by_desc(Column::Id).limit(PAGE + 1);
    let listed = read(site, visit, found).await?;
    Ok(html! {
        h2 #projects { "Projects" }
        @match &listed {
            Some(listed) => (table(visit, id, listed)),
            None => (too_long()),
        }
    })
}

/// A page of the list of projects.
struct Listed {
    projects: Vec<code_issue_project::Model>,
    /// The cursor of the next page.
    next: Option<String>,
    /// What each project is connected to. `None` if that was not read.
    about: Option<HashMap<i64, Vec<Markup>>>,
    /// The number of issues of each project. `None` if they were not counted.
    issues: Option<HashMap<i64, i64>>,
}

async fn read(site: &Site, visit: &Visit, found: Select<code_issue_project::Entity>) -> Result<Option<Listed>, Fault> {
    let reading = site.reading(visit).await?;
    let Some(mut projects) = reading.optional(|db| db.all(found)).await? else { return Ok(None) };
    let more = projects.len() as u64 > PAGE;
    projects.truncate(PAGE as usize);
    let next = projects.last().filter(|_| more).map(|project| project.id.to_string());
    let ids: Vec<i64> = projects.iter().map(|project| project.id).collect();
    let about = reading.optional(|db| connected(db, &ids)).await?;
    // Last: nothing else takes as long.
    let issues = reading.optional(|db| issues(db, &ids)).await?;
    Ok(Some(Listed { projects, next, about, issues }))
}

fn table(visit: &Visit, id: &str, listed: &Listed) -> Markup {
    let Listed { projects, next, about, issues } = listed;
    html! {
        @if projects.is_empty() {
            (empty("No projects yet.", html! { p { "Push a project and its issues as shown above." } }))
        } @else {
            @if about.is_none() || issues.is_none() { (too_long()) }
            div.scroll tabindex="0" role="region" aria-label="Projects" {
                table {
                    thead { tr { th scope="col" { "Project" } th scope="col" { "About" } th.number scope="col" { "Issues" } } }
                    tbody { @for project in projects {
                        tr {
                            th scope="row" { (external_link(project.external_url.as_deref(), &project.name)) }
                            td { @match about.as_ref().map(|about| about.get(&project.id)) {
                                Some(Some(things)) => ul.marks { @for thing in things { li { (thing) } } },
                                Some(None) => a.mark.warn href="/suggestions" { "unknown service" },
                                None => span.soft { "not read" },
                            } }
                            td.number { @match issues {
                                Some(issues) => (grouped(issues.get(&project.id).copied().unwrap_or_default())),
                                None => span.soft { "not read" },
                            } }
                        }
                    } }
                }
            }
            (page_links(visit, &path(["integrations", id]), next.as_deref()))
        }
    }
}

/// Counts the issues of each project.
async fn issues(db: &dyn ReadHandle, ids: &[i64]) -> Result<HashMap<i64, i64>, Fault> {
    use code_issue::{Column, Entity};
    let counted =
        Entity::find().select_only().column(Column::CodeIssueProjectId).column_as(Column::Id.count(), "issues");
    let counted = counted.filter(db::any(db, Column::CodeIssueProjectId, ids)).group_by(Column::CodeIssueProjectId);
    let counted = db.rows(counted.as_query(), |row| Ok((row.get(0)?, row.get(1)?))).await?;
    Ok(counted.into_iter().collect())
}

/// The services and repositories connected to each project: the first [`CONNECTED`], and whether there are more.
async fn connected(db: &dyn ReadHandle, ids: &[i64]) -> Result<HashMap<i64, Vec<Markup>>, Fault> {
    use link::{Column, Entity};
    let build =
        |key: Expr| Entity::find().filter(key).order_by_asc(Column::Id).limit(CONNECTED as u64 + 1).into_query();
    let own = || Expr::col(Column::CodeIssueProjectId.as_column_ref());
    let (keys, values) = (ids.to_vec(), Vec::new());
    let query = OfKeys { shape: None, build: &build, values, key: own(), selected: own(), keys, is_limited: true };
    let links = db.rows_of(query, |row| row.model::<Entity>()).await?;
    let services: Vec<i64> = links.iter().filter_map(|(_, link)| link.service_id).collect();
    let services = service::labels(db, &services).await?;
    let services: HashMap<i64, _> = services.into_iter().map(|service| (service.id, service)).collect();
    let repositories: Vec<i64> = links.iter().filter_map(|(_, link)| link.repository_id).collect();
    let repositories = repository::Entity::find().filter(db::any(db, repository::Column::Id, &repositories));
    let repositories = db.all(repositories).await?;
    let repositories: HashMap<i64, _> = repositories.into_iter().map(|one| (one.id, one)).collect();
    let mut about = HashMap::<i64, Vec<Markup>>::new();
    for (project, link) in &links {
        let service = link.service_id.and_then(|id| services.get(&id));
        let repository = link.repository_id.and_then(|id| repositories.get(&id));
        let thing = match (service, repository) {
            (Some(service), _) => html! { a href=(path(["services", &service.slug])) { (service.name) } },
            (_, Some(repository)) => external_link(repository.url.as_deref(), &repository.name),
            (None, None) => continue,
        };
        let things = about.entry(*project).or_default();
        things.push(if things.len() < CONNECTED {
            thing
        } else {
            html! { "and others" }
        });
    }
    Ok(about)
}
