//! Suggestions: names of deploys and scans that match no service, to be accepted or ignored.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};

use super::ask::{ask, settled, unanswered};
use super::form::Mistakes;
use super::layout::layout;
use super::operations::suggestions::ServiceSuggestion;
use super::operations::{
    CreateFromSuggestion, IdentifierInput, IgnoreSuggestion, MapSuggestion, ServiceSuggestionKind,
    ServiceSuggestionState, Suggestions, UnignoreSuggestion,
};
use super::parts::{count, empty, pages, time};
use super::services::address;
use super::visit::{Session, Visit, path};
use super::{Answer, Fault, Site};
use crate::entity::user::Role;
use crate::entity::{Timestamp, text};

/// The states: the value in the URL, and the label.
const STATES: &[(ServiceSuggestionState, &str)] = &[
    (ServiceSuggestionState::Open, "Open"),
    (ServiceSuggestionState::Ignored, "Ignored"),
    (ServiceSuggestionState::Accepted, "Accepted"),
];

/// Lists the suggestions.
pub async fn page(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    Ok(Answer::page(show(site, visit, session, &Mistakes::none()).await?))
}

async fn show(site: &Site, visit: &Visit, session: &Session, mistakes: &Mistakes) -> Result<Markup, Fault> {
    let state = visit.query.get("state").parse().unwrap_or(ServiceSuggestionState::Open);
    let wanted = Suggestions { state: Some(state), after: visit.query.given("after") };
    let found = ask(site, visit, wanted).await?.account.service_suggestions;
    let (now, may) = (Timestamp::now(), session.user.role >= Role::User);
    let open = html! { p { a href="/suggestions" { "Open suggestions" } } };
    let main = html! {
        p { "Deploys and scans that use a name no service has. Create the service, or map the name to one." }
        nav aria-label="States" { ul.tabs { @for (word, text) in STATES {
            li { a href={ "/suggestions?state=" (word) } aria-current=[(*word == state).then_some("page")] { (text) } }
        } } }
        (mistakes.summary(&[]))
        @if found.nodes.is_empty() {
            @match state {
                ServiceSuggestionState::Open => (empty("No open suggestions.", html! {
                    p { "When a pipeline posts a deploy with a name that no service has, the name appears here. "
                        a href="/integrations" { "Deploy integrations" } }
                })),
                ServiceSuggestionState::Ignored => (empty("No ignored suggestions.", open)),
                ServiceSuggestionState::Accepted => (empty("No accepted suggestions.", open)),
            }
        } @else {
            @for suggestion in &found.nodes { (one(suggestion, now, may)) }
            (pages(visit, "/suggestions", &found.page_info))
        }
    };
    Ok(layout(visit, "Suggestions", main))
}

fn one(suggestion: &ServiceSuggestion, now: Timestamp, may: bool) -> Markup {
    let ServiceSuggestion { id, alias, deploy_count, .. } = suggestion;
    let action = |what: &str| path(["suggestions", id, what]);
    let key = id.as_str();
    html! {
        section.figure aria-label=(alias) {
            h2 { (alias) }
            p.soft {
                @if suggestion.kind == ServiceSuggestionKind::Deploy { (count(*deploy_count, "deploy")) } @else { "A code issue project" }
                @if !suggestion.integrations.is_empty() {
                    " through " (suggestion.integrations.iter().map(|one| &*one.name).collect::<Vec<_>>().join(", "))
                }
                ", first " (time(suggestion.first_seen_at.0, now)) ", last " (time(suggestion.last_seen_at.0, now)) "."
            }
            @if let Some(service) = &suggestion.service {
                p { "Accepted for " a href=(address(&service.aliases)) { (service.name) } ". "
                    @if may { "To undo it, " a href={ (address(&service.aliases)) "/edit#alias" } { "remove the alias from the service" } "." } }
            }
            @if may && suggestion.state != ServiceSuggestionState::Accepted {
                @if !suggestion.near_matches.is_empty() {
                    p { "Services with similar names. Map only if it is the same service: its deploys become those of the other." }
                    ul.near { @for near in &suggestion.near_matches { li {
                        form method="post" action=(action("map")) {
                            input type="hidden" name="id" value=(near.id);
                            a href=(address(&near.aliases)) { (near.name) } " "
                            button.quiet { "Map to this" span.hidden { ": " (near.name) " for " (alias) } }
                        }
                    } } }
                }
                div.filters {
                    form.filters method="post" action=(action("create")) {
                        div.field {
                            label for={ "name-" (key) } { "Name of the new service" }
                            input id={ "name-" (key) } name="name" value=(alias) maxlength=(text::SHORT) required;
                        }
                        button { "Create service" span.hidden { " for " (alias) } }
                    }
                    form.filters method="post" action=(action("map")) {
                        div.field {
                            label for={ "alias-" (key) } { "Or alias of an existing service" }
                            input id={ "alias-" (key) } name="alias" maxlength=(text::SHORT) required;
                        }
                        button.quiet { "Map" span.hidden { " " (alias) " to it" } }
                    }
                    @if suggestion.state == ServiceSuggestionState::Open {
                        form method="post" action=(action("ignore")) { button.quiet { "Ignore" span.hidden { " " (alias) } } }
                    } @else {
                        form method="post" action=(action("unignore")) {
                            button.quiet { "Reopen" span.hidden { " " (alias) } }
                        }
                    }
                }
            }
        }
    }
}

/// Accepts or ignores a suggestion.
pub async fn decide(site: &Site, visit: &Visit, session: &Session, id: &str, what: &str) -> Result<Answer, Fault> {
    let form = &visit.form;
    let (errors, service) = match what {
        "create" => {
            let create = CreateFromSuggestion { id, name: form.given("name") };
            let done = ask(site, visit, create).await?.service_suggestion_accept.ok_or_else(unanswered)?;
            (done.errors, done.service)
        }
        "map" => {
            let service = match form.given("id") {
                Some(id) => IdentifierInput { id: MaybeUndefined::Value(id), ..Default::default() },
                None => IdentifierInput { alias: MaybeUndefined::Value(form.get("alias")), ..Default::default() },
            };
            let map = MapSuggestion { id, service };
            let done = ask(site, visit, map).await?.service_suggestion_accept.ok_or_else(unanswered)?;
            (done.errors, done.service)
        }
        "ignore" => {
            let done = ask(site, visit, IgnoreSuggestion { id }).await?.service_suggestion_ignore;
            (done.ok_or_else(unanswered)?.errors, None)
        }
        "unignore" => {
            let done = ask(site, visit, UnignoreSuggestion { id }).await?.service_suggestion_unignore;
            (done.ok_or_else(unanswered)?.errors, None)
        }
        _ => return Err(Fault::NotFound),
    };
    match settled(errors) {
        Ok(()) => Ok(Answer::redirect(service.map_or("/suggestions".to_owned(), |service| address(&service.aliases)))),
        Err(mistakes) => Ok(Answer::refused(show(site, visit, session, &mistakes).await?)),
    }
}
