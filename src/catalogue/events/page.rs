//! The pages that messages lead to.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::overdue::{self, CODE_ISSUE};
use super::{SERVICE, SUBSCRIPTION, TEAM, page_of};
use crate::db::{self, ReadHandle};
use crate::entity::event::{Model as Event, What};
use crate::entity::{ByIds, code_issue, code_issue_project, global_id, pages, service, team};

/// The pages of what some events are about, as they are when the events are told: a service may have another alias by
/// then, or be gone.
#[derive(Debug, Default)]
pub(super) struct Pages {
    /// Where the application is reached.
    pub(super) app_url: Arc<str>,
    /// The aliases of services, by id.
    pub(super) services: HashMap<i64, String>,
    /// The aliases of teams, by id.
    pub(super) teams: HashMap<i64, String>,
    /// Where code issues are shown, by id.
    pub(super) issues: HashMap<i64, Shown>,
}

/// Where a code issue is shown.
#[derive(Debug)]
pub(super) enum Shown {
    /// With these services, by their aliases.
    With(Vec<String>),
    /// Its project is connected to no service: it is listed with this integration.
    Listed(i64),
}

impl Pages {
    /// No pages but those that need no other row.
    pub(super) fn at(app_url: &Arc<str>) -> Self {
        Self { app_url: Arc::clone(app_url), ..Self::default() }
    }

    /// Finds the pages of these events.
    pub(super) async fn find(db: &dyn ReadHandle, app_url: &Arc<str>, events: &[&Event]) -> Result<Self, db::Error> {
        let mut known = Self::at(app_url);
        let services: BTreeSet<i64> = events.iter().filter_map(|event| event.service_id).collect();
        if !services.is_empty() {
            let services: Vec<i64> = services.into_iter().collect();
            let labels = service::labels(db, &services).await?;
            known.services = labels.into_iter().map(|one| (one.id, one.slug)).collect();
        }
        let team_itself = |event: &&Event| event.subject_id.filter(|_| event.subject_class == TEAM);
        let teams: BTreeSet<i64> =
            events.iter().flat_map(|event| event.team_id.into_iter().chain(team_itself(event))).collect();
        let teams = team::Entity::by_ids(db, teams.into_iter().map(Some)).await?;
        known.teams = teams.into_iter().flatten().map(|team| (team.id, team.alias)).collect();
        let issues =
            events.iter().filter(|event| event.subject_class == CODE_ISSUE).filter_map(|event| event.subject_id);
        known.issues = issues_of(db, issues.collect()).await?;
        Ok(known)
    }

    /// The address of the page that shows the subject of an event, if there is one.
    pub(super) fn of_subject(&self, event: &Event, alias: Option<&str>) -> Option<String> {
        if event.what == What::Deleted {
            return None;
        }
        let id = event.subject_id;
        let row = id.map(|id| id.to_string());
        let text = id.map(|id| global_id::text(&event.subject_class, id));
        let url = &*self.app_url;
        Some(match &*event.subject_class {
            SERVICE => self.of_service(event, alias)?,
            // Its alias may be another one by now.
            TEAM => pages::url(url, ["teams", id.and_then(|id| self.teams.get(&id)).map(String::as_str).or(alias)?]),
            "System" => pages::url(url, ["systems", alias?]),
            "Domain" => pages::url(url, ["domains", alias?]),
            "Scorecard" => pages::url(url, ["standards", "scorecards", alias?]),
            "Campaign" => pages::url(url, ["standards", "campaigns", &text?]),
            "Check" => pages::url(url, ["standards", &text?]),
            "Filter" => format!("{}?filter={}", pages::url(url, ["services"]), text?),
            "Integration" => pages::url(url, ["integrations", &text?]),
            "InfrastructureResource" => pages::url(url, ["infrastructure", &text?]),
            "Repository" => pages::url(url, ["repositories", &row?]),
            "ServiceDocument" => pages::url(url, ["documents", &row?]),
            "User" => pages::url(url, ["users", &row?]),
            "ServiceSuggestion" => pages::url(url, ["suggestions"]),
            "Token" => pages::url(url, ["tokens"]),
            SUBSCRIPTION => page_of(url, id?),
            CODE_ISSUE => match self.issues.get(&id?)? {
                Shown::With(services) => self.of_issues(services.first()?),
                Shown::Listed(integration) => self.of_integration(*integration),
            },
            _ => self.of_owner(event)?,
        })
    }

    /// The address of the page for people: that of the subject, or of what it belongs to, or the list of all of its kind.
    pub(super) fn of_reader(&self, event: &Event, alias: Option<&str>) -> Option<String> {
        let list: &[&str] = match &*event.subject_class {
            // A deploy of what the catalogue does not have.
            SERVICE if event.what == What::Deployed => &["suggestions"],
            SERVICE => &["services"],
            TEAM => &["teams"],
            "System" => &["systems"],
            "Domain" => &["domains"],
            "User" | "ScimGroup" => &["users"],
            "Token" => &["tokens"],
            "ServiceSuggestion" => &["suggestions"],
            "Check" | "Level" | "Category" | "Scorecard" | "Campaign" => &["standards"],
            "Integration" | "AlertSource" | "CodeIssueProject" | CODE_ISSUE => &["integrations"],
            "InfrastructureResource" => &["infrastructure"],
            "Repository" => &["repositories"],
            "ComponentType" | "Filter" | "Lifecycle" | "PropertyDefinition" | "RelationshipDefinition" | "Tier" => {
                &["definitions"]
            }
            _ => &[],
        };
        let list = || list.first().map(|part| pages::url(&self.app_url, [part]));
        let is_part = ![SERVICE, TEAM].contains(&&*event.subject_class);
        let owner = || if is_part { self.of_owner(event) } else { None };
        self.of_subject(event, alias).or_else(owner).or_else(list)
    }

    /// The page of the service of an event, with what the event tells.
    fn of_service(&self, event: &Event, alias: Option<&str>) -> Option<String> {
        let alias = match event.service_id {
            Some(id) => self.services.get(&id)?,
            None if event.what == What::Deployed => return None,
            None => alias?,
        };
        let url = &*self.app_url;
        Some(match event.what {
            What::Deployed => pages::url(url, ["services", alias, "deploys"]),
            What::Checked | What::Rated => pages::url(url, ["services", alias, "standards"]),
            _ => pages::url(url, ["services", alias]),
        })
    }

    /// The page of the service or the team that the subject belongs to.
    fn of_owner(&self, event: &Event) -> Option<String> {
        let service = event.service_id.and_then(|id| self.services.get(&id));
        let team = event.team_id.and_then(|id| self.teams.get(&id));
        let service = service.map(|alias| pages::url(&self.app_url, ["services", alias]));
        service.or_else(|| Some(pages::url(&self.app_url, ["teams", team?])))
    }

    /// The place where the page of a service lists its code issues.
    fn of_issues(&self, alias: &str) -> String {
        pages::url(&self.app_url, ["services", alias]) + "#issues"
    }

    fn of_integration(&self, id: i64) -> String {
        pages::url(&self.app_url, ["integrations", &global_id::text("Integration", id)])
    }
}

/// Finds where these code issues are shown. One that is gone is shown nowhere.
async fn issues_of(db: &dyn ReadHandle, ids: BTreeSet<i64>) -> Result<HashMap<i64, Shown>, db::Error> {
    let (mut shown, mut alone) = (HashMap::new(), Vec::new());
    for (issue, services) in overdue::of_issues(db, ids).await? {
        if services.is_empty() {
            alone.push(Some(issue));
        } else {
            shown.insert(issue, Shown::With(services.into_iter().map(|service| service.alias).collect()));
        }
    }
    let alone = code_issue::Entity::by_ids(db, alone).await?;
    let alone: Vec<(i64, i64)> = alone.into_iter().flatten().map(|one| (one.id, one.code_issue_project_id)).collect();
    let projects = code_issue_project::Entity::by_ids(db, alone.iter().map(|(_, project)| Some(*project))).await?;
    for ((issue, _), project) in alone.into_iter().zip(projects) {
        shown.extend(project.map(|project| (issue, Shown::Listed(project.integration_id))));
    }
    Ok(shown)
}
