//! Suggestions: names of deploys and scans that match no service, to be accepted or ignored.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};

use super::ask::{ask, settled, unanswered};
use super::form::{self, Mistakes};
use super::layout::layout;
use super::offers::{Offered, Offers};
use super::operations::suggestions::{ServiceSuggestion, ServiceSuggestionNearMatches};
use super::operations::{
    AcceptSuggestions, CreateFromSuggestion, IdentifierInput, IgnoreSuggestion, IgnoreSuggestions, MapSuggestion,
    ServiceSuggestionAcceptance, ServiceSuggestionKind, ServiceSuggestionState, ServiceSuggestionsAcceptInput,
    SuggestionChoices, Suggestions, UndoSuggestions, UnignoreSuggestion,
};
use super::parts::{count, count_to_most, empty, grouped, link, pages, time};
use super::service_name::address;
use super::visit::{Fields, Session, Visit, path};
use super::{Answer, Fault, Site};
use catalogue::entity::user::Role;
use catalogue::entity::{Timestamp, text};
use catalogue::graphql::field::near_match;
use catalogue::graphql::repository::suggestions::MOST;

/// The states: the value in the URL, and the label.
const STATES: &[(ServiceSuggestionState, &str)] = &[
    (ServiceSuggestionState::Open, "Open"),
    (ServiceSuggestionState::Ignored, "Ignored"),
    (ServiceSuggestionState::Accepted, "Accepted"),
];

/// The query parameter that names suggestions that were just accepted.
const ACCEPTED: &str = "accepted";

/// The list of services that the fields of all suggestions share.
const SERVICES: &str = "list-services";

/// The query parameter that chooses all suggestions of a page.
const ALL: &str = "all";

/// What the page after an acceptance says beside the button that undoes it.
const ACCEPTED_NOTE: &str = "The suggestion was accepted. Undo takes back what that did; the deploys of the name then wait for a \
                             service again. ";

/// Lists the suggestions.
pub async fn page(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    let mut mistakes = Mistakes::none();
    if visit.query.given("state").is_some_and(|word| word.parse::<ServiceSuggestionState>().is_err()) {
        mistakes.push("state", "Suggestions have no such state as the address says. These are the open ones.");
    }
    Ok(Answer::checked(&mistakes, show(site, visit, session, &mistakes).await?))
}

async fn show(site: &Site, visit: &Visit, session: &Session, mistakes: &Mistakes) -> Result<Markup, Fault> {
    let state = visit.query.get("state").parse().unwrap_or(ServiceSuggestionState::Open);
    let wanted = Suggestions { state: Some(state), after: visit.query.given("after") };
    let found = ask(site, visit, wanted).await?.account.service_suggestions;
    let may = session.user.role >= Role::User;
    let choice = match may && state != ServiceSuggestionState::Accepted {
        true => choice(site, visit, state, mistakes).await?,
        false => html! {},
    };
    let maps = may && state != ServiceSuggestionState::Accepted && !found.nodes.is_empty();
    let services = Offers::read(site, visit, if maps { &[Offered::Services] } else { &[] }).await?;
    let open = html! { p { a href="/suggestions" { "Open suggestions" } } };
    let main = html! {
        p { "Deploys and scans that use a name no service has. Create the service, or map the name to one." }
        nav aria-label="States" { ul.tabs { @for (word, text) in STATES {
            li { a href={ "/suggestions?state=" (word) } aria-current=[(*word == state).then_some("page")] { (text) } }
        } } }
        (mistakes.summary(&["ownerInput.alias", "tierAlias"]))
        (done(visit, may))
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
            p.soft { (count_to_most(found.total_count, "suggestion")) }
            (choice)
            @if maps { (form::suggestions(SERVICES, services.of_kind(Offered::Services))) }
            (table(&found.nodes, visit, state, may))
            (pages(visit, "/suggestions", &found.page_info))
        }
    };
    Ok(layout(visit, "Suggestions", main))
}

/// Whether the box of a suggestion is checked. Those of a refused form stay so.
fn is_chosen(visit: &Visit, id: &str) -> bool {
    visit.query.given(ALL).is_some() || visit.form.get_all("id").any(|chosen| chosen == id)
}

/// The suggestions as a table: a row each, with what can be decided about it alone.
fn table(found: &[ServiceSuggestion], visit: &Visit, state: ServiceSuggestionState, may: bool) -> Markup {
    let now = Timestamp::now();
    let is_undecided = state != ServiceSuggestionState::Accepted;
    html! {
        @if may && is_undecided && found.iter().any(|one| !one.near_matches.is_empty()) {
            p.soft { "Map a name to a proposed service only if it is the same one: its deploys become those of that service." }
        }
        div.scroll tabindex="0" role="region" aria-label="Suggestions" {
            table.suggested {
                thead { tr {
                    @if may && is_undecided { th.pick scope="col" { span.hidden { "Choose" } } }
                    th scope="col" { "Name" }
                    th.number.wide scope="col" { "Deploys" }
                    th.wide scope="col" { "Last seen" }
                    th.roomy scope="col" { "Through" }
                    th scope="col" { @if is_undecided { "Proposed service" } @else { "Accepted for" } }
                    @if may { th scope="col" { "Decide" } }
                } }
                tbody { @for suggestion in found { (row(suggestion, visit, now, may)) } }
            }
        }
    }
}

fn row(suggestion: &ServiceSuggestion, visit: &Visit, now: Timestamp, may: bool) -> Markup {
    let ServiceSuggestion { id, alias, deploy_count, .. } = suggestion;
    let is_undecided = suggestion.state != ServiceSuggestionState::Accepted;
    let is_deploy = suggestion.kind == ServiceSuggestionKind::Deploy;
    let through = suggestion.integrations.iter().map(|one| &*one.name).collect::<Vec<_>>().join(", ");
    let (first, last) = (suggestion.first_seen_at.0, suggestion.last_seen_at.0);
    html! {
        tr {
            @if may && is_undecided {
                td.pick { label {
                    input type="checkbox" name="id" value=(id) form="chosen" checked[is_chosen(visit, id)] aria-label={ "Choose " (alias) };
                } }
            }
            th scope="row" {
                (alias)
                @if !is_deploy { small { "A code issue project" } }
                small.on-phones { @if is_deploy { (count(*deploy_count, "deploy")) ", last " } @else { "last seen " } (time(last, now)) }
            }
            td.number.wide { @if is_deploy { (grouped(*deploy_count)) } }
            td.wide { (time(last, now)) small { "first " (time(first, now)) } }
            td.roomy { (through) }
            @if is_undecided { td { (proposals(suggestion, may)) } } @else {
                td { @if let Some(service) = &suggestion.service { a href=(address(&service.aliases)) { (service.name) } } }
            }
            @if may && is_undecided { td.act { (alone(suggestion)) } } @else if may { td { (undo(suggestion)) } }
        }
    }
}

/// The services with similar names: the most similar one, and the others folded.
fn proposals(suggestion: &ServiceSuggestion, may: bool) -> Markup {
    let ServiceSuggestion { id, alias, near_matches, .. } = suggestion;
    let map = path(["suggestions", id, "map"]);
    let proposal = |near: &ServiceSuggestionNearMatches| {
        html! {
            a href=(address(&near.aliases)) { (near.name) }
            small { (near_match::in_words(alias, near.aliases.iter().map(String::as_str))) }
            @if may {
                form method="post" action=(map) {
                    input type="hidden" name="id" value=(near.id);
                    button.quiet { "Map to this" span.hidden { ": " (near.name) " for " (alias) } }
                }
            }
        }
    };
    html! {
        @match near_matches.split_first() {
            None => span.soft { "none" },
            Some((best, others)) => {
                (proposal(best))
                @if !others.is_empty() {
                    details {
                        summary { (others.len()) " more" span.hidden { " like " (alias) } }
                        @for near in others { div { (proposal(near)) } }
                    }
                }
            }
        }
    }
}

/// What is decided about one suggestion that is not accepted.
fn alone(suggestion: &ServiceSuggestion) -> Markup {
    let ServiceSuggestion { id, alias, .. } = suggestion;
    let action = |what: &str| path(["suggestions", id, what]);
    let key = id.as_str();
    html! {
        form method="post" action=(action("create")) { button { "Create service" span.hidden { " for " (alias) } } }
        @if suggestion.state == ServiceSuggestionState::Open {
            form method="post" action=(action("ignore")) { button.quiet { "Ignore" span.hidden { " " (alias) } } }
        } @else {
            form method="post" action=(action("unignore")) { button.quiet { "Reopen" span.hidden { " " (alias) } } }
        }
        details {
            summary { "Other name or service" span.hidden { " for " (alias) } }
            form.filters method="post" action=(action("create")) {
                div.field {
                    label for={ "name-" (key) } { "Name of the new service" }
                    input id={ "name-" (key) } name="name" value=(alias) maxlength=(text::SHORT) required;
                }
                button { "Create" span.hidden { " with this name for " (alias) } }
            }
            form.filters method="post" action=(action("map")) {
                div.field {
                    label for={ "alias-" (key) } { "Or an existing service (name or alias)" }
                    input id={ "alias-" (key) } name="alias" list=(SERVICES) data-find="services" maxlength=(text::SHORT) required;
                }
                button.quiet { "Map" span.hidden { " " (alias) " to it" } }
            }
        }
    }
}

/// What undoes an accepted suggestion, with what that does.
fn undo(suggestion: &ServiceSuggestion) -> Markup {
    use ServiceSuggestionAcceptance::{Created, Known, Mapped};
    let ServiceSuggestion { id, alias, service, acceptance, .. } = suggestion;
    let is_deploy = suggestion.kind == ServiceSuggestionKind::Deploy;
    let what = match (service, acceptance) {
        (Some(_), None) => {
            let version = "An earlier version of rollcall accepted it, and did not note what that did. To undo it, remove the \
                           alias from the service.";
            return html! { p.soft { (version) } };
        }
        (None, _) => "The service was deleted. Undo opens the suggestion again.",
        (_, Some(Created)) => {
            "Undo deletes the service, if nothing was added to it, changed of it or deployed since. Its deploys wait for a \
             service with this name."
        }
        (_, Some(Mapped)) if is_deploy => {
            "Undo takes the name from the service. All deploys under this name, also those since then, wait for a service \
             that gets it."
        }
        (_, Some(Mapped)) => "Undo takes the code issue project from the service.",
        (_, Some(Known)) => "The service had it before, and keeps it. Undo opens the suggestion again.",
    };
    html! {
        form method="post" action="/suggestions" {
            input type="hidden" name="id" value=(id);
            p.soft { (what) }
            button.quiet name="what" value="undo" { "Undo" span.hidden { " " (alias) } }
        }
    }
}

/// What the form before another page did, with what undoes it: the suggestion that its address names.
pub fn accepted(visit: &Visit, session: &Session) -> Markup {
    html! {
        @if let Some(id) = visit.query.given(ACCEPTED).filter(|_| session.user.role >= Role::User) {
            div.notice role="status" { (undo_form(ACCEPTED_NOTE, &[id])) }
        }
    }
}

/// A sentence, and the button that undoes these decisions.
fn undo_form(done: &str, ids: &[&str]) -> Markup {
    html! {
        form method="post" action="/suggestions" {
            (done)
            @for id in ids { input type="hidden" name="id" value=(id); }
            button.quiet name="what" value="undo" { "Undo" }
        }
    }
}

/// The form that decides about the suggestions whose boxes are checked.
async fn choice(
    site: &Site,
    visit: &Visit,
    state: ServiceSuggestionState,
    mistakes: &Mistakes,
) -> Result<Markup, Fault> {
    if state == ServiceSuggestionState::Ignored {
        return Ok(html! {
            form.filters.bulk #chosen method="post" action="/suggestions" {
                (choose_all(visit))
                button.quiet name="what" value="reopen" { "Reopen the chosen" }
            }
        });
    }
    let choices = ask(site, visit, SuggestionChoices {}).await?.account;
    let mut tiers = vec![("", "none")];
    tiers.extend(choices.tiers.iter().map(|tier| (&*tier.alias, &*tier.name)));
    let label = "Owner of the new services";
    let owner = form::Named { name: "ownerInput.alias", label, hint: "", part: "teams", required: false };
    let teams = choices.teams.nodes.iter().map(|team| (&*team.alias, &*team.name));
    Ok(html! {
        form.filters.bulk #chosen method="post" action="/suggestions" {
            (choose_all(visit))
            (owner.show(teams, &visit.form, mistakes))
            (form::select("tierAlias", "Their tier", "", &tiers, &visit.form, mistakes))
            button name="what" value="create" { "Create services for the chosen" }
            button.quiet name="what" value="ignore" { "Ignore the chosen" }
        }
    })
}

/// The link that checks all boxes of the page, or none. It needs no script, which does it in place.
fn choose_all(visit: &Visit) -> Markup {
    let query = ["made", "ignored", ACCEPTED].iter().fold(visit.query.clone(), |query, done| query.without(done));
    html! {
        @if visit.query.given(ALL).is_some() {
            a.button.quiet data-choose="chosen" href=(link("/suggestions", &query.without(ALL).query())) { "Choose none" }
        } @else {
            a.button.quiet data-choose="chosen" href=(link("/suggestions", &query.query_with(ALL, "1"))) { "Choose all on this page" }
        }
    }
}

/// What the form before this page did, with what undoes it.
fn done(visit: &Visit, may: bool) -> Markup {
    let ids: Vec<&str> = visit.query.get("ignored").split(' ').filter(|id| !id.is_empty()).take(MOST).collect();
    let made: Vec<&str> = visit.query.get("made").split(' ').filter(|alias| !alias.is_empty()).take(MOST).collect();
    let accepted: Vec<&str> = visit.query.get(ACCEPTED).split(' ').filter(|id| !id.is_empty()).take(MOST).collect();
    html! {
        @if !made.is_empty() {
            div.notice role="status" {
                p { (count(made.len() as i64, "service")) " created: " @for (at, alias) in made.iter().enumerate() {
                    @if at > 0 { ", " } a href=(path(["services", alias])) { (alias) }
                } }
                @if may && !accepted.is_empty() { (undo_form("", &accepted)) }
            }
        }
        @if may && !ids.is_empty() {
            div.notice role="status" {
                form method="post" action="/suggestions" {
                    (count(ids.len() as i64, "suggestion")) " ignored. "
                    @for id in &ids { input type="hidden" name="id" value=(id); }
                    button.quiet name="what" value="reopen" { "Undo" }
                }
            }
        }
    }
}

/// Decides about the suggestions whose boxes are checked: all or none.
pub async fn decide_all(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    let form = &visit.form;
    let ids: Vec<&str> = form.get_all("id").collect();
    let mut mistakes = Mistakes::none();
    if ids.is_empty() {
        mistakes.push("", "Choose at least one suggestion: check the box before its name.");
        return Ok(Answer::refused(show(site, visit, session, &mistakes).await?));
    }
    let (errors, next) = match form.get("what") {
        "create" => {
            let named = |alias| IdentifierInput { alias: MaybeUndefined::Value(alias), ..Default::default() };
            let accepted = ids.join(" ");
            let input = ServiceSuggestionsAcceptInput {
                ids,
                owner_input: form
                    .given("ownerInput.alias")
                    .map(named)
                    .map_or(MaybeUndefined::Undefined, MaybeUndefined::Value),
                tier_alias: form.given("tierAlias").map_or(MaybeUndefined::Undefined, MaybeUndefined::Value),
            };
            let done = ask(site, visit, AcceptSuggestions { input }).await?.service_suggestions_accept;
            let done = done.ok_or_else(unanswered)?;
            let made: Vec<String> =
                done.services.into_iter().flatten().filter_map(|service| service.aliases.into_iter().next()).collect();
            (done.errors, Fields::one("made", &made.join(" ")).and(ACCEPTED, &accepted))
        }
        "undo" => {
            let done = ask(site, visit, UndoSuggestions { ids }).await?.service_suggestions_undo;
            (done.ok_or_else(unanswered)?.errors, Fields::default())
        }
        what @ ("ignore" | "reopen") => {
            let next = if what == "ignore" { Fields::one("ignored", &ids.join(" ")) } else { Fields::default() };
            let wanted = IgnoreSuggestions { ids, reopen: Some(what == "reopen") };
            let done = ask(site, visit, wanted).await?.service_suggestions_ignore.ok_or_else(unanswered)?;
            (done.errors, next)
        }
        _ => return Err(Fault::NotFound),
    };
    match settled(errors) {
        Ok(()) => Ok(Answer::redirect(link("/suggestions", &next.query()))),
        Err(mistakes) => Ok(Answer::refused(show(site, visit, session, &mistakes).await?)),
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
    let next = match (what, service) {
        (_, Some(service)) => link(&address(&service.aliases), &Fields::one(ACCEPTED, id).query()),
        ("ignore", None) => link("/suggestions", &Fields::one("ignored", id).query()),
        _ => "/suggestions".to_owned(),
    };
    match settled(errors) {
        Ok(()) => Ok(Answer::redirect(next)),
        Err(mistakes) => Ok(Answer::refused(show(site, visit, session, &mistakes).await?)),
    }
}
