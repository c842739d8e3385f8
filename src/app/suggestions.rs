//! Suggestions: what was pushed and no service is known for, to be worked off.

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use super::form::Mistakes;
use super::layout::layout;
use super::parts::{Connection, Moment, count, empty, pages, time};
use super::services::address;
use super::visit::{Session, Visit, path};
use super::{Answer, Fault, Site, ask};
use crate::entity::user::Role;
use crate::entity::{Timestamp, text};

/// What the list asks of the API.
pub(super) const LIST: &str = "
query Suggestions($state: ServiceSuggestionState, $after: String) {
  account {
    serviceSuggestions(first: 30, state: $state, after: $after) {
      nodes {
        id kind alias state deployCount firstSeenAt lastSeenAt
        integrations { name }
        nearMatches { id name aliases }
        service { name aliases }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
}";

/// Creates a service for one.
pub(super) const CREATE: &str = "
mutation CreateFromSuggestion($id: ID!, $name: String) {
  done: serviceSuggestionAccept(input: { id: $id, name: $name }) { service { aliases } errors { message path } }
}";

/// Gives one to a service that is there.
pub(super) const MAP: &str = "
mutation MapSuggestion($id: ID!, $service: IdentifierInput!) {
  done: serviceSuggestionAccept(input: { id: $id, service: $service }) { service { aliases } errors { message path } }
}";

/// Ignores one.
pub(super) const IGNORE: &str = "
mutation IgnoreSuggestion($id: ID!) {
  done: serviceSuggestionIgnore(input: { id: $id }) { serviceSuggestion { id } errors { message path } }
}";

/// Opens one again.
pub(super) const UNIGNORE: &str = "
mutation UnignoreSuggestion($id: ID!) {
  done: serviceSuggestionUnignore(input: { id: $id }) { serviceSuggestion { id } errors { message path } }
}";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct List {
    service_suggestions: Connection<Suggestion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Suggestion {
    id: String,
    kind: String,
    alias: String,
    state: String,
    deploy_count: u64,
    first_seen_at: Moment,
    last_seen_at: Moment,
    integrations: Vec<Label>,
    near_matches: Vec<Near>,
    service: Option<Accepted>,
}

#[derive(Deserialize)]
struct Label {
    name: String,
}

#[derive(Deserialize)]
struct Near {
    id: String,
    name: String,
    aliases: Vec<String>,
}

#[derive(Deserialize)]
struct Accepted {
    name: String,
    aliases: Vec<String>,
}

#[derive(Deserialize)]
struct Done {
    service: Option<Owner>,
}

#[derive(Deserialize)]
struct Owner {
    aliases: Vec<String>,
}

/// The states: as the address has them, and as people say them.
const STATES: &[(&str, &str)] = &[("open", "Open"), ("ignored", "Ignored"), ("accepted", "Accepted")];

/// The list.
pub async fn page(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    Ok(Answer::page(show(site, visit, session, &Mistakes::none()).await?))
}

async fn show(site: &Site, visit: &Visit, session: &Session, mistakes: &Mistakes) -> Result<Markup, Fault> {
    let asked = visit.query.given("state").unwrap_or("open");
    let state = STATES.iter().map(|(word, _)| *word).find(|word| *word == asked).unwrap_or("open");
    let variables = json!({ "state": state, "after": visit.query.given("after") });
    let List { service_suggestions: found } = ask::query(site, visit, LIST, variables).await?;
    let (now, may) = (Timestamp::now(), session.user.role >= Role::User);
    let main = html! {
        p { "What was deployed or scanned under a name that no service has." }
        nav aria-label="States" { ul.tabs { @for (word, text) in STATES {
            li { a href={ "/suggestions?state=" (word) } aria-current=[(*word == state).then_some("page")] { (text) } }
        } } }
        (mistakes.summary(&[]))
        @if found.nodes.is_empty() {
            @match state {
                "open" => (empty("Nothing to decide.", html! {
                    p { "When a pipeline posts a deploy of a name that no service has, it shows up here. "
                        a href="/integrations" { "Deploy integrations" } }
                })),
                _ => (empty("None.", html! { p { a href="/suggestions" { "Open suggestions" } } })),
            }
        } @else {
            @for suggestion in &found.nodes { (one(suggestion, now, may)) }
            (pages(visit, "/suggestions", found.page_info.as_ref()))
        }
    };
    Ok(layout(visit, "Suggestions", main))
}

fn one(suggestion: &Suggestion, now: Timestamp, may: bool) -> Markup {
    let Suggestion { id, alias, deploy_count, .. } = suggestion;
    let action = |what: &str| path(["suggestions", id, what]);
    let key = id.as_str();
    html! {
        section.figure aria-label=(alias) {
            h2 { (alias) }
            p.soft {
                @if suggestion.kind == "deploy" { (count(*deploy_count, "deploy")) } @else { "A code issue project" }
                @if !suggestion.integrations.is_empty() {
                    " through " (suggestion.integrations.iter().map(|one| &*one.name).collect::<Vec<_>>().join(", "))
                }
                ", first " (time(suggestion.first_seen_at.0, now)) ", last " (time(suggestion.last_seen_at.0, now)) "."
            }
            @if let Some(service) = &suggestion.service {
                p { "Accepted for " a href=(address(&service.aliases)) { (service.name) } "." }
            }
            @if may && suggestion.state != "accepted" {
                @if !suggestion.near_matches.is_empty() {
                    p { "Perhaps it is one of these:" }
                    ul.near { @for near in &suggestion.near_matches { li {
                        form method="post" action=(action("map")) {
                            input type="hidden" name="id" value=(near.id);
                            a href=(address(&near.aliases)) { (near.name) } " "
                            button { "Map to this" span.hidden { ": " (near.name) " for " (alias) } }
                        }
                    } } }
                }
                div.filters {
                    form.filters method="post" action=(action("create")) {
                        div.field {
                            label for={ "name-" (key) } { "New service called" }
                            input id={ "name-" (key) } name="name" value=(alias) maxlength=(text::SHORT) required;
                        }
                        button class=[(!suggestion.near_matches.is_empty()).then_some("quiet")] { "Create service" span.hidden { " for " (alias) } }
                    }
                    form.filters method="post" action=(action("map")) {
                        div.field {
                            label for={ "alias-" (key) } { "or alias of a known service" }
                            input id={ "alias-" (key) } name="alias" maxlength=(text::SHORT) required;
                        }
                        button.quiet { "Map" span.hidden { " " (alias) " to it" } }
                    }
                    @if suggestion.state == "open" {
                        form method="post" action=(action("ignore")) { button.quiet { "Ignore" span.hidden { " " (alias) } } }
                    } @else {
                        form method="post" action=(action("unignore")) { button.quiet { "Open again" span.hidden { ": " (alias) } } }
                    }
                }
            }
        }
    }
}

/// Decides about one.
pub async fn decide(site: &Site, visit: &Visit, session: &Session, id: &str, what: &str) -> Result<Answer, Fault> {
    let form = &visit.form;
    let done = match what {
        "create" => {
            let variables = json!({ "id": id, "name": form.given("name") });
            ask::change::<Done>(site, visit, CREATE, variables).await?.map(|done| done.service)
        }
        "map" => {
            let service = match form.given("id") {
                Some(service) => json!({ "id": service }),
                None => json!({ "alias": form.get("alias") }),
            };
            let variables = json!({ "id": id, "service": service });
            ask::change::<Done>(site, visit, MAP, variables).await?.map(|done| done.service)
        }
        "ignore" => ask::change::<Value>(site, visit, IGNORE, json!({ "id": id })).await?.map(|_| None),
        "unignore" => ask::change::<Value>(site, visit, UNIGNORE, json!({ "id": id })).await?.map(|_| None),
        _ => return Err(Fault::NotFound),
    };
    match done {
        Ok(Some(service)) => Ok(Answer::redirect(address(&service.aliases))),
        Ok(None) => Ok(Answer::redirect("/suggestions")),
        Err(mistakes) => Ok(Answer::refused(show(site, visit, session, &mistakes).await?)),
    }
}
