//! Which path leads to which page.

use futures_util::future::BoxFuture;

use super::{
    Answer, Fault, Method, Session, Site, Visit, account, all_deploys, assets, audit, campaign_form, campaigns,
    check_form, contact_form, definitions, delivery, dependency_form, documents, event_form, events, explorer, graph,
    group_form, groups, history, home, infrastructure, integrations, manual, on_call_form, openid, person, picker,
    property_form, repositories, repository_form, revert, scorecard_form, search, service, service_form, service_list,
    services, services_change, sign_in, standards, standing, suggestions, team_form, teams, tokens, tool_form, users,
};

/// The first segments of all paths of the application.
const OWNED: &[&str] = &[
    "",
    "account",
    "assets",
    "audit",
    "changes",
    "definitions",
    "delivery",
    "deploys",
    "deploys.csv",
    "documents",
    "domains",
    "events",
    "explorer",
    "infrastructure",
    "integrations",
    "new",
    "reference",
    "repositories",
    "search",
    "services",
    "services.csv",
    "sign-in",
    "sign-out",
    "standards",
    "suggestions",
    "systems",
    "teams",
    "tokens",
    "users",
    "views",
];

/// Whether a path belongs to the application.
pub fn owns(path: &str) -> bool {
    let first = path.strip_prefix('/').and_then(|path| path.split('/').next());
    first.is_some_and(|first| OWNED.contains(&first))
}

impl Site {
    /// Routes a visit to its page. The pages that need no session come first.
    pub fn answer<'f>(&'f self, visit: &'f Visit) -> BoxFuture<'f, Result<Answer, Fault>> {
        Box::pin(self.route(visit))
    }

    async fn route(&self, visit: &Visit) -> Result<Answer, Fault> {
        use Method::{Get, Post};
        let path: Vec<&str> = visit.path.iter().map(String::as_str).collect();
        match (visit.method, &*path) {
            (Get, ["assets", name]) => return assets::find(name).map(Answer::Asset).ok_or(Fault::NotFound),
            (Get, ["reference"]) => return self.reference.page(visit),
            (Get, ["reference", name]) => return self.reference.type_page(visit, name),
            (Get, ["sign-in"]) => return Ok(sign_in::page(self, visit)),
            (Get, ["sign-in", "openid"]) => return openid::begin(self, visit).await,
            (Get, ["sign-in", "openid", "callback"]) => return openid::finish(self, visit).await,
            (Get, ["sign-in", key]) => return sign_in::link(self, visit, key).await,
            (Post, ["sign-in", key]) => return sign_in::use_link(self, visit, key).await,
            _ => {}
        }
        let session = visit.session.as_ref().ok_or(Fault::SignInFirst)?;
        let _forget = (visit.method == Post).then(|| self.waiting.forget_afterwards());
        let visit = &match visit.method {
            Post => picker::understood(self, visit).await?,
            Get => visit.clone(),
        };
        match (visit.method, &*path) {
            (Get, ["integrations"]) => integrations::page(self, visit, session).await,
            (Post, ["integrations"]) => integrations::create(self, visit).await,
            (Get, ["integrations", "new"]) => integrations::new(visit, session),
            (Get, ["integrations", id]) => integrations::detail(self, visit, session, id).await,
            (Post, ["integrations", id, "rename"]) => integrations::rename(self, visit, session, id).await,
            (Post, ["integrations", id, "rotate"]) => integrations::rotate(self, visit, session, id).await,
            (Post, ["integrations", id, "delete"]) => integrations::delete(self, visit, session, id).await,
            (_, ["events", ..] | ["new", "event-subscription"]) => self.events(visit, session, &path).await,
            (Get, ["tokens"]) => tokens::page(self, visit, session).await,
            (Post, ["tokens"]) => tokens::create(self, visit, session).await,
            (Post, ["tokens", id, "rotate"]) => tokens::rotate(self, visit, session, id).await,
            (Post, ["tokens", id, "delete"]) => tokens::delete(self, session, id).await,
            (_, ["users", ..]) => self.people(visit, session, &path).await,
            (Get, ["audit"]) => audit::page(self, visit, session).await,
            (_, ["changes", number, "revert"]) => revert::answer(self, visit, session, number).await,
            (_, ["views", ..]) => service_list::saved::answer(self, visit, session, &path).await,
            (Get, ["infrastructure"]) => infrastructure::page(self, visit).await,
            (Get, ["infrastructure", id]) => infrastructure::detail(self, visit, id).await,
            (Get, ["repositories"]) => repositories::page(self, visit).await,
            (Get, ["repositories", number]) => repositories::detail(self, visit, number).await,
            (Post, ["repositories", number, "owner"]) => repositories::change_owner(self, visit, number).await,
            (_, ["definitions", ..] | ["new", "tier" | "lifecycle" | "property-definition" | "filter"]) => {
                definitions::answer(self, visit, session, &path).await
            }
            (Get, ["documents", number]) => documents::page(self, visit, number).await,
            (Get, ["explorer"]) => Ok(explorer::page(visit)),
            (_, ["account", ..]) => account::answer(self, visit, session, &path).await,
            (Post, ["sign-out"]) => sign_in::sign_out(self, session).await,
            (_, ["standards", ..] | ["new", "campaign" | "check" | "level" | "category" | "scorecard", ..]) => {
                self.standard(visit, session, &path).await
            }
            (_, ["systems" | "domains", ..] | ["new", "system" | "domain"]) => self.group(visit, session, &path).await,
            (_, ["" | "services.csv" | "delivery" | "deploys" | "deploys.csv" | "search" | "suggestions", ..]) => {
                self.daily(visit, session, &path).await
            }
            _ => self.owned(visit, session, &path).await,
        }
    }

    /// The pages about the whole catalogue that people open every day.
    async fn daily(&self, visit: &Visit, session: &Session, path: &[&str]) -> Result<Answer, Fault> {
        use Method::{Get, Post};
        match (visit.method, path) {
            (Get, [""]) => home::page(self, visit, session).await,
            (Get, ["services.csv"]) => service_list::file::file(self, visit).await,
            (Get, ["delivery"]) => delivery::page(self, visit).await,
            (Get, ["deploys"]) => all_deploys::page(self, visit).await,
            (Get, ["deploys.csv"]) => all_deploys::file(self, visit).await,
            (Get, ["search"]) => search::page(self, visit).await,
            (Get, ["suggestions"]) => suggestions::page(self, visit, session).await,
            (Post, ["suggestions"]) => suggestions::decide_all(self, visit, session).await,
            (Post, ["suggestions", id, what]) => suggestions::decide(self, visit, session, id, what).await,
            _ => Err(Fault::NotFound),
        }
    }

    /// The pages of people.
    async fn people(&self, visit: &Visit, session: &Session, path: &[&str]) -> Result<Answer, Fault> {
        use Method::{Get, Post};
        match (visit.method, path) {
            (Get, ["users"]) => users::page(self, visit, session).await,
            (Get, ["users", number]) => person::page(self, visit, session, number).await,
            (Post, ["users"]) => users::invite(self, visit, session).await,
            (Post, ["users", id, "role"]) => users::change_role(self, visit, session, id).await,
            (Post, ["users", id, "link"]) => users::link(self, visit, session, id).await,
            (Post, ["users", id, "forget"]) => users::forget(self, session, id).await,
            (Post, ["users", id, "feeds"]) => person::revoke_feeds(self, session, id).await,
            (Post, ["users", id, "delete"]) => users::delete(self, visit, session, id).await,
            _ => Err(Fault::NotFound),
        }
    }

    /// The pages of event subscriptions.
    async fn events(&self, visit: &Visit, session: &Session, path: &[&str]) -> Result<Answer, Fault> {
        use Method::{Get, Post};
        match (visit.method, path) {
            (Get, ["events"]) => events::page(self, visit, session).await,
            (Get, ["events", id]) => events::detail(self, visit, id).await,
            (Get, ["events", id, "edit"]) => event_form::edit(self, visit, session, id).await,
            (Post, ["events", id, "edit"]) => event_form::change(self, visit, id).await,
            (Post, ["events", id, what]) => events::act(self, visit, id, what).await,
            (Get, ["new", "event-subscription"]) => event_form::new(self, visit, session).await,
            (Post, ["new", "event-subscription"]) => event_form::create(self, visit).await,
            _ => Err(Fault::NotFound),
        }
    }

    /// The pages of standards: checks, scorecards and campaigns.
    async fn standard(&self, visit: &Visit, session: &Session, path: &[&str]) -> Result<Answer, Fault> {
        use Method::{Get, Post};
        match (visit.method, path) {
            (Get, ["standards"]) => standards::page(self, visit, session).await,
            (Get, ["standards", "campaigns", id]) => campaigns::detail(self, visit, session, id).await,
            (Get, ["standards", "campaigns", id, "edit"]) => campaign_form::edit(self, visit, session, id).await,
            (Post, ["standards", "campaigns", id, what]) => campaign_form::change(self, visit, id, what).await,
            (Get, ["new", "campaign"]) => campaign_form::new(self, visit, session).await,
            (Post, ["new", "campaign"]) => campaign_form::create(self, visit).await,
            (_, ["standards", "scorecards", ..]) => scorecard_form::answer(self, visit, session, path).await,
            (Get, ["new", "check"]) => check_form::choose(self, visit, session),
            (Get, ["new", "check", kind]) => check_form::new(self, visit, session, kind).await,
            (Post, ["new", "check", kind]) => check_form::create(self, visit, kind).await,
            (Get, ["new", what]) => check_form::new_other(self, visit, session, what).await,
            (Post, ["new", what]) => check_form::create_other(self, visit, what).await,
            (Get, ["standards", id, "edit"]) => check_form::edit(self, visit, session, id).await,
            (Post, ["standards", id, what]) => check_form::change(self, visit, id, what).await,
            (Get, ["standards", id]) => standards::detail(self, visit, id).await,
            (Post, ["standards", "starter"]) => standards::starter(self, visit).await,
            _ => Err(Fault::NotFound),
        }
    }

    /// The pages of services and teams.
    async fn owned(&self, visit: &Visit, session: &Session, path: &[&str]) -> Result<Answer, Fault> {
        use Method::{Get, Post};
        let contacts_of = |part: &str| {
            if part == "teams" { contact_form::ContactOwner::Team } else { contact_form::ContactOwner::Service }
        };
        match (visit.method, path) {
            (Get, [part @ ("services" | "teams"), alias, "history"]) => {
                history::page(self, visit, session, part, alias).await
            }
            (Get, [part @ ("services" | "teams"), alias, "history.csv"]) => {
                history::file(self, visit, part, alias).await
            }
            (Get, ["services"]) => services::page(self, visit, session).await,
            (Post, ["services", "change"]) => services_change::change(self, visit, session).await,
            (Get, ["services", alias]) => service::page(self, visit, session, alias).await,
            (Get, ["services", alias, "deploys"]) => all_deploys::of_service(self, visit, alias).await,
            (Get, ["services", alias, "deploys.csv"]) => all_deploys::service_file(self, visit, alias).await,
            (Get, ["services", alias, "standards"]) => standing::page(self, visit, alias).await,
            (Get, ["services", alias, "graph"]) => graph::page(self, visit, alias).await,
            (Get, [part @ ("services" | "teams"), alias, "contacts"]) => {
                contact_form::page(self, visit, contacts_of(part), alias).await
            }
            (Post, [part @ ("services" | "teams"), alias, "contacts"]) => {
                contact_form::create(self, visit, contacts_of(part), alias).await
            }
            (Get, [part @ ("services" | "teams"), alias, "contacts", id]) => {
                contact_form::edit(self, visit, session, (contacts_of(part), alias), id).await
            }
            (Post, [part @ ("services" | "teams"), alias, "contacts", id, what]) => {
                contact_form::change(self, visit, (contacts_of(part), alias), id, what).await
            }
            (Get, ["services", alias, "tools"]) => tool_form::page(self, visit, alias).await,
            (Post, ["services", alias, "tools"]) => tool_form::create(self, visit, alias).await,
            (Get, ["services", alias, "tools", id]) => tool_form::edit(self, visit, session, alias, id).await,
            (Post, ["services", alias, "tools", id, what]) => tool_form::change(self, visit, alias, id, what).await,
            (Get, ["services", alias, "properties"]) => property_form::page(self, visit, alias).await,
            (Post, ["services", alias, "properties"]) => property_form::change(self, visit, alias).await,
            (Get, ["services", alias, "dependencies"]) => dependency_form::page(self, visit, alias).await,
            (Post, ["services", alias, "dependencies"]) => dependency_form::create(self, visit, alias).await,
            (Post, ["services", alias, "dependencies", id, "delete"]) => {
                dependency_form::delete(self, visit, alias, id).await
            }
            (_, ["services", _, "repositories", ..]) => repository_form::answer(self, visit, path).await,
            (_, ["services", _, "on-call", ..]) => on_call_form::answer(self, visit, path).await,
            (Get, ["services", alias, "answer", check]) => manual::page(self, visit, session, alias, check).await,
            (Post, ["services", alias, "answer", check]) => manual::answer(self, visit, alias, check).await,
            (Get, ["services", alias, "edit"]) => service_form::edit(self, visit, session, alias).await,
            (Post, ["services", alias, "favourite"]) => service_list::favourites::change(self, visit, alias).await,
            (Post, ["services", alias, what]) => service_form::change(self, visit, alias, what).await,
            (Get, ["new", "service"]) => service_form::new(self, visit, session).await,
            (Post, ["new", "service"]) => service_form::create(self, visit).await,
            (Get, ["teams"]) => teams::page(self, visit, session).await,
            (Get, ["teams", alias]) => teams::detail(self, visit, alias).await,
            (Get, ["teams", alias, "edit"]) => team_form::edit(self, visit, session, alias).await,
            (Post, ["teams", alias, what]) => team_form::change(self, visit, alias, what).await,
            (Get, ["new", "team"]) => team_form::new(self, visit, session).await,
            (Post, ["new", "team"]) => team_form::create(self, visit).await,
            _ => Err(Fault::NotFound),
        }
    }

    /// The pages of systems and domains.
    async fn group(&self, visit: &Visit, session: &Session, path: &[&str]) -> Result<Answer, Fault> {
        use Method::{Get, Post};
        let kind = match path {
            ["systems", ..] | ["new", "system"] => group_form::GroupKind::System,
            _ => group_form::GroupKind::Domain,
        };
        match (visit.method, path) {
            (Get, [part, alias, "history"]) => history::page(self, visit, session, part, alias).await,
            (Get, [part, alias, "history.csv"]) => history::file(self, visit, part, alias).await,
            (Get, ["systems"]) => groups::systems(self, visit, session).await,
            (Get, ["systems", alias]) => groups::system(self, visit, alias).await,
            (Get, ["domains"]) => groups::domains(self, visit, session).await,
            (Get, ["domains", alias]) => groups::domain(self, visit, alias).await,
            (Get, [_, alias, "edit"]) => group_form::edit(self, visit, session, kind, alias).await,
            (Post, ["new", _]) => group_form::create(self, visit, kind).await,
            (Get, ["new", _]) => group_form::new(self, visit, session, kind).await,
            (Post, [_, alias, what]) => group_form::change(self, visit, kind, alias, what).await,
            _ => Err(Fault::NotFound),
        }
    }
}
