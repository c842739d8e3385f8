//! Event subscriptions: who is told what happens, what was sent, and what came back.

use maud::{Markup, html};

use super::ask::{ask, settled, unanswered};
use super::form::Mistakes;
use super::layout::{Head, page as framed};
use super::operations::event_subscription::{EventDelivery, EventMessage, EventReceiver, EventSubscription};
use super::operations::{
    self, DeleteEventSubscription, EventDeleted, EventDeliveryStateEnum as State, EventDigestEnum as Digest,
    EventFormEnum as Form, EventSubscriptions, EventTeam, ResendEvents, RotateEventSecret, TestEventSubscription,
};
use super::parts::{count, count_to_most, delete_button, empty, pages, replace_button, time};
use super::rights::{Owner, Reach, Rights, Thing};
use super::schema_words::spoken;
use super::visit::{Session, Visit, path};
use super::{Answer, Fault, Site};
use catalogue::entity::Timestamp;
use catalogue::entity::action::spaced;
use catalogue::entity::event::Kind;
use catalogue::events::digest::HOUR;

/// The path of a subscription's page.
pub fn address(id: &str) -> String {
    path(["events", id])
}

/// What a form is called.
pub fn form_name(form: Form) -> &'static str {
    match form {
        Form::StandardWebhook => "Standard webhook",
        Form::CloudEvent => "CloudEvent",
        Form::Slack => "Slack",
        Form::Mattermost => "Mattermost",
        Form::MicrosoftTeams => "Microsoft Teams",
        Form::Email => "Email",
    }
}

/// When messages of a digest are sent, or those about each event.
pub fn digest_name(digest: Option<Digest>) -> String {
    match digest {
        None => "at once, a message for each event".to_owned(),
        Some(Digest::Daily) => format!("every day at {HOUR:02}:00 UTC, in one message"),
        Some(Digest::Weekly) => format!("every Monday at {HOUR:02}:00 UTC, in one message"),
    }
}

/// The team that a subscription belongs to: the only one that it names.
pub fn owner<'t>(teams: &'t [EventTeam], deleted: &EventDeleted) -> Option<Owner<'t>> {
    match teams {
        [EventTeam { id, alias, name }] if deleted.team_count == 0 => Some(Owner { id, alias, name }),
        _ => None,
    }
}

/// How many teams of a subscription the list of all subscriptions names.
const TEAMS: usize = 3;

/// Lists the subscriptions.
pub async fn page(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    let found = ask(site, visit, EventSubscriptions { after: visit.query.given("after") }).await?;
    let (list, now) = (found.account.event_subscriptions, Timestamp::now());
    let may_add = !Reach::read(site, session).await?.is_empty();
    let add = html! {
        @if may_add { a.button href="/new/event-subscription" { "Add subscription" } }
    };
    let main = html! {
        p { "A subscription sends a message when something happens: to an email address, to a channel of Slack, Mattermost or "
            "Microsoft Teams, or to a program of yours." }
        @if list.nodes.is_empty() { (empty("No subscriptions yet.", html! { (add) })) } @else {
            p.soft { (count_to_most(list.total_count, "subscription")) }
            div.scroll tabindex="0" role="region" aria-label="Subscriptions" {
                table.lined {
                    thead { tr {
                        th scope="col" { "Name" } th scope="col" { "Receiver" } th.wide scope="col" { "Events" }
                        th.wide scope="col" { "Teams" } th scope="col" { "State" }
                    } }
                    tbody { @for one in &list.nodes {
                        tr {
                            th scope="row" { a href=(address(&one.id)) { (one.name) } }
                            td {
                                (form_name(one.form)) ", " (one.receiver.email.as_ref().unwrap_or(&one.receiver.host))
                                @if let Some(digest) = one.digest { " " span.soft { (digest.to_string()) } }
                            }
                            td.wide { (count(i64::try_from(one.events.len()).unwrap_or(i64::MAX), "kind")) }
                            td.wide {
                                @let (teams, deleted) = (&one.teams, one.deleted.team_count);
                                @let more = teams.len().saturating_sub(TEAMS);
                                @for (place, team) in teams.iter().take(TEAMS).enumerate() {
                                    @if place > 0 { ", " } a href=(path(["teams", &team.alias])) { (team.name) }
                                }
                                @if more > 0 { " and " (more) " more" }
                                @else if teams.is_empty() { @if deleted > 0 { (count(deleted, "deleted team")) } @else { "all" } }
                            }
                            td { @let at = one.receiver.delivered_at.map(|at| at.0);
                                 (state(one.enabled, one.receiver.error.is_some(), at, now)) }
                        }
                    } }
                }
            }
            (pages(visit, "/events", &list.page_info))
        }
    };
    let head = Head { actions: add, ..Head::new("Events") };
    Ok(Answer::page(framed(visit, &head, main)))
}

fn state(enabled: bool, fails: bool, delivered: Option<Timestamp>, now: Timestamp) -> Markup {
    html! {
        @if !enabled { span.mark.none { "off" } }
        @else if fails { span.mark.bad { "failing" } }
        @else if let Some(at) = delivered { span.mark.good { "works" } " " span.soft { "last taken " (time(at, now)) } }
        @else { span.mark.none { "nothing sent yet" } }
    }
}

/// Shows a subscription.
pub async fn detail(site: &Site, visit: &Visit, id: &str) -> Result<Answer, Fault> {
    Ok(Answer::page(show(site, visit, id, (&Mistakes::none(), None)).await?))
}

async fn show(
    site: &Site,
    visit: &Visit,
    id: &str,
    (mistakes, secret): (&Mistakes, Option<&str>),
) -> Result<Markup, Fault> {
    let found = ask(site, visit, operations::EventSubscription { id, after: visit.query.given("after") }).await?;
    let own = found.account.event_subscription.ok_or(Fault::NotFound)?;
    let owner = owner(&own.teams, &own.deleted);
    let rights = Rights::read(site, visit, Thing { noun: "subscription", page: address(id), owner }).await?;
    let may = rights.may_change();
    let now = Timestamp::now();
    let to = |what: &str| format!("{}/{what}", address(id));
    let main = html! {
        (mistakes.summary(&[]))
        (rights.note())
        @if let Some(secret) = secret { (shown_once(secret)) }
        div.two {
            div.stack { section.card { h2 #deliveries { "Deliveries" } (deliveries(visit, &own, now)) } }
            div.stack {
                section.card { h2 { "Facts" } (facts(&own, now)) }
                @if may { section.card {
                    h2 { "Actions" }
                    div.actions {
                        form method="post" action=(to("test")) { button.quiet { "Send a test" } }
                        form method="post" action=(to("resend")) { button.quiet { "Send failed ones again" } }
                        @if own.form != Form::Email {
                            (replace_button(&to("rotate"), "New secret", &own.name,
                                "Give it a new secret? For a day, messages are signed with both."))
                        }
                        (delete_button(&to("delete"), "Delete", &own.name, "Delete this subscription, with its deliveries?"))
                    }
                } }
            }
        }
    };
    let actions = html! { @if may { a.button href=(to("edit")) { "Edit" } } };
    let chips = state(own.enabled, own.receiver.error.is_some(), own.receiver.delivered_at.map(|at| at.0), now);
    let head = Head { chips, actions, ..Head::with_parent(&own.name, "/events", "Events") };
    Ok(framed(visit, &head, main))
}

/// The secret of a subscription, which is shown this once.
pub fn shown_once(secret: &str) -> Markup {
    html! {
        div.notice role="status" {
            p { strong { "Copy the secret now." } " You won't be able to see it again." }
            code.secret #secret data-copy="the secret" { (secret) }
            p { "Receivers of the forms Standard webhook and CloudEvent check with it that a message is ours." }
        }
    }
}

fn facts(own: &EventSubscription, now: Timestamp) -> Markup {
    let EventReceiver { host, email, delivered_at, error, retry_at, waiting_count, missed_count } = &own.receiver;
    html! {
        dl.facts {
            dt { "Receiver" } dd { (form_name(own.form)) @if let Some(email) = email { " to " (email) } @else { " at " (host) } }
            dt { "Sent" } dd { (digest_name(own.digest)) }
            dt { "Events" } dd { @for (place, kind) in own.events.iter().enumerate() {
                @if place > 0 { ", " } (spoken(&kind.to_string()))
            } }
            (named("Teams", own.teams.iter().map(|one| link(["teams", &one.alias], &one.name)), (own.deleted.team_count, "team")))
            (named("Services", own.services.iter().map(|one| link(["services", &one.alias], &one.name)),
                (own.deleted.service_count, "service")))
            (named("Tiers", own.tiers.iter().map(|one| html! { (one.name) }), (own.deleted.tier_count, "tier")))
            (named("Environments", own.environments.iter().map(|one| html! { (one) }), (0, "environment")))
            @if let Some(at) = delivered_at { dt { "Last taken" } dd { (time(at.0, now)) } }
            @if let Some(error) = error { dt { "Last error" } dd { (error) } }
            @if let Some(at) = retry_at { dt { "Tried again" } dd { (time(at.0, now)) } }
            @if *waiting_count > 0 { dt { "Waiting" } dd { (waiting_count) } }
            @if *missed_count > 0 { dt { "Not kept" } dd { (missed_count) } }
        }
    }
}

fn link(place: [&str; 2], name: &str) -> Markup {
    html! { a href=(path(place)) { (name) } }
}

/// What a list names, and how much of it was deleted. Nothing if it names nothing.
fn named(heading: &str, left: impl ExactSizeIterator<Item = Markup>, (deleted, noun): (i32, &str)) -> Markup {
    let is_left = left.len() > 0;
    html! {
        @if is_left || deleted > 0 {
            dt { (heading) }
            dd {
                @for (place, one) in left.enumerate() { @if place > 0 { ", " } (one) }
                @if deleted > 0 {
                    @if is_left { ", " }
                    span.soft { (count(deleted, &format!("deleted {noun}"))) }
                    @if !is_left { ": no event passes, until the list is changed" }
                }
            }
        }
    }
}

fn deliveries(visit: &Visit, own: &EventSubscription, now: Timestamp) -> Markup {
    let mark = |one: &EventDelivery| match one.state {
        State::Delivered => html! { span.mark.good { "delivered" } },
        State::Waiting => html! { span.mark.none { "waiting" } },
        State::Failed => html! { span.mark.bad { "failed" } },
    };
    html! {
        @if own.deliveries.nodes.is_empty() { p.soft { "Nothing was sent yet. Send a test." } } @else {
            div.scroll tabindex="0" role="region" aria-label="Deliveries" {
                table.lined {
                    thead { tr {
                        th scope="col" { "Event" } th scope="col" { "State" } th scope="col" { "Answer" } th scope="col" { "When" }
                    } }
                    tbody { @for one in &own.deliveries.nodes {
                        tr {
                            th scope="row" { (event(&one.message)) }
                            td { (mark(one)) @if one.attempts > 1 { " " span.soft { (one.attempts) " attempts" } } }
                            td { @if let Some(error) = &one.error { (error) } @else if let Some(status) = one.status { (status) } }
                            td { (time(one.created_at.0, now)) }
                        }
                    } }
                }
            }
            (pages(visit, &address(&own.id), &own.deliveries.page_info))
        }
    }
}

/// What a message tells, in words. What its receiver gets, its type and its id, is below.
fn event(message: &EventMessage) -> Markup {
    let EventMessage { id, r#type, about } = message;
    let kind = Kind::of_message(r#type).map_or_else(|| r#type.clone(), |kind| spoken(&kind.word()));
    let (class, name) = about.split_once(' ').unwrap_or((about.as_str(), ""));
    let class = spaced(class);
    html! {
        (kind) " " span.soft { @if !kind.contains(&class) { (class) " " } bdi { (name) } }
        small { code { (r#type) } " " code { (id) } }
    }
}

/// Tests or deletes a subscription, sends its deliveries again, or gives it a new secret.
pub async fn act(site: &Site, visit: &Visit, id: &str, what: &str) -> Result<Answer, Fault> {
    let errors = match what {
        "test" => ask(site, visit, TestEventSubscription { id }).await?.event_subscription_test.map(|done| done.errors),
        "resend" => ask(site, visit, ResendEvents { id }).await?.event_deliveries_resend.map(|done| done.errors),
        "delete" => {
            ask(site, visit, DeleteEventSubscription { id }).await?.event_subscription_delete.map(|done| done.errors)
        }
        "rotate" => {
            let done = ask(site, visit, RotateEventSecret { id }).await?.event_subscription_secret_rotate;
            let done = done.ok_or_else(unanswered)?;
            if let Some(secret) = &done.secret {
                return Ok(Answer::page(show(site, visit, id, (&Mistakes::none(), Some(secret))).await?));
            }
            Some(done.errors)
        }
        _ => return Err(Fault::NotFound),
    };
    match settled(errors.ok_or_else(unanswered)?) {
        Ok(()) if what == "delete" => Ok(Answer::redirect("/events")),
        Ok(()) => Ok(Answer::redirect(address(id))),
        Err(mistakes) => Ok(Answer::refused(show(site, visit, id, (&mistakes, None)).await?)),
    }
}
