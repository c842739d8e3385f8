//! The forms that create and change event subscriptions.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};
use sea_orm::Iterable;

use super::ask::{ask, or_null, settled, unanswered};
use super::events::{address, digest_name, form_name, shown_once, spoken};
use super::form::{self, Mistakes, Text};
use super::group_form::owner_id;
use super::layout::layout;
use super::offers::{Offered, Offers};
use super::operations::event_form::EventSubscription;
use super::operations::{
    CreateEventSubscription, EventChoices, EventDigestEnum, EventForm, EventFormEnum, EventKindEnum, EventService,
    EventSubscriptionCreateInput, EventSubscriptionUpdateInput, EventTier, UpdateEventSubscription,
};
use super::rights::{self, Owner, Rights, Thing};
use super::visit::{Fields, Session, Visit};
use super::{Answer, Fault, Site};
use crate::entity::event::Kind;
use crate::entity::user::Role;

/// The fields, named by the paths that the API uses for mistakes about them.
const NAME: &str = "name";
const URL: &str = "receiverUrl";
const EMAIL: &str = "receiverEmail";
const FORM: &str = "form";
const DIGEST: &str = "digest";
const EVENTS: &str = "events";
const TEAM: &str = "teamId";
const SERVICE: &str = "serviceId";
const TIER: &str = "tierAlias";
const ENVIRONMENT: &str = "environment";
const ENABLED: &str = "enabled";

const FORMS: [EventFormEnum; 6] = [
    EventFormEnum::Slack,
    EventFormEnum::Mattermost,
    EventFormEnum::MicrosoftTeams,
    EventFormEnum::Email,
    EventFormEnum::StandardWebhook,
    EventFormEnum::CloudEvent,
];

/// Shows the form for a new subscription.
pub async fn new(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    rights::to_create(site, session).await?;
    let choices = choices(site, visit).await?;
    let begun = Fields::one(ENABLED, "on")
        .and(EVENTS, "deploy_failed")
        .and(TEAM, visit.query.get("team"))
        .and(SERVICE, visit.query.get("service"));
    Ok(Answer::page(new_form(visit, &choices, &begun, &Mistakes::none())))
}

/// What the form says, as the API takes it.
struct Sent<'a> {
    form: EventFormEnum,
    /// Of the two places to send to, only that of the form counts.
    url: Option<&'a str>,
    email: Option<&'a str>,
    digest: Option<EventDigestEnum>,
    events: Vec<EventKindEnum>,
    team: Option<String>,
    service: Option<String>,
}

async fn sent<'a>(site: &Site, visit: &'a Visit) -> Result<Result<Sent<'a>, Mistakes>, Fault> {
    let form = &visit.form;
    let team = match owner_id(site, visit, form.given(TEAM)).await? {
        Ok(team) => team,
        Err(unknown) => {
            let mut mistakes = Mistakes::none();
            unknown.messages().for_each(|message| mistakes.push(TEAM, message));
            return Ok(Err(mistakes));
        }
    };
    let service = match form.given(SERVICE) {
        None => None,
        Some(alias) => match ask(site, visit, EventService { alias }).await?.account.service {
            Some(service) => Some(service.id),
            None => {
                let mut mistakes = Mistakes::none();
                mistakes.push(SERVICE, format!("No service has the alias {alias}."));
                return Ok(Err(mistakes));
            }
        },
    };
    let chosen = form.get(FORM).parse::<EventFormEnum>().ok();
    let chosen = chosen.ok_or_else(|| Fault::BadRequest("Choose one of the listed forms.".to_owned()))?;
    let events = form.get_all(EVENTS).filter_map(|word| word.parse().ok()).collect();
    let is_mail = chosen == EventFormEnum::Email;
    let (url, email) = (form.given(URL).filter(|_| !is_mail), form.given(EMAIL).filter(|_| is_mail));
    let digest = form.given(DIGEST).and_then(|word| word.parse().ok());
    Ok(Ok(Sent { form: chosen, url, email, digest, events, team, service }))
}

/// Creates a subscription, and shows its secret once. Mail is not signed.
pub async fn create(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let form = &visit.form;
    let made = match sent(site, visit).await? {
        Err(mistakes) => Err(mistakes),
        Ok(sent) => {
            let input = EventSubscriptionCreateInput {
                name: form.get(NAME),
                receiver_url: or_null(sent.url),
                receiver_email: or_null(sent.email),
                form: MaybeUndefined::Value(sent.form),
                digest: or_null(sent.digest),
                events: sent.events,
                team_id: or_null(sent.team.as_deref()),
                service_id: or_null(sent.service.as_deref()),
                tier_alias: or_null(form.given(TIER)),
                environment: or_null(form.given(ENVIRONMENT)),
                enabled: MaybeUndefined::Value(form.has(ENABLED)),
            };
            let done = ask(site, visit, CreateEventSubscription { input }).await?.event_subscription_create;
            let done = done.ok_or_else(unanswered)?;
            settled(done.errors).map(|()| (done.event_subscription, done.secret))
        }
    };
    match made {
        Ok((own, secret)) => {
            let (own, secret) = (own.ok_or_else(unanswered)?, secret.ok_or_else(unanswered)?);
            if form.get(FORM) == EventFormEnum::Email.to_string() {
                return Ok(Answer::redirect(address(&own.id)));
            }
            let main = html! {
                (shown_once(&secret))
                p { a.button href=(address(&own.id)) { "Go to the subscription" } }
            };
            Ok(Answer::page(layout(visit, form.get(NAME), main)))
        }
        Err(mistakes) => {
            let choices = choices(site, visit).await?;
            Ok(Answer::refused(new_form(visit, &choices, form, &mistakes)))
        }
    }
}

/// What the form offers.
struct Choices {
    tiers: Vec<EventTier>,
    offers: Offers,
}

async fn choices(site: &Site, visit: &Visit) -> Result<Choices, Fault> {
    let tiers = ask(site, visit, EventChoices {}).await?.account.tiers;
    Ok(Choices { tiers, offers: offers(site, visit).await? })
}

async fn offers(site: &Site, visit: &Visit) -> Result<Offers, Fault> {
    Offers::read(site, visit, &[Offered::Teams, Offered::Services]).await
}

async fn find(site: &Site, visit: &Visit, id: &str) -> Result<(EventSubscription, Choices), Fault> {
    let found = ask(site, visit, EventForm { id }).await?.account;
    let own = found.event_subscription.ok_or(Fault::NotFound)?;
    Ok((own, Choices { tiers: found.tiers, offers: offers(site, visit).await? }))
}

impl EventSubscription {
    fn thing(&self) -> Thing<'_> {
        let owner = self.team.as_ref().map(|team| Owner { id: &team.id, alias: &team.alias, name: &team.name });
        Thing { noun: "subscription", page: address(&self.id), owner }
    }
}

/// Shows the form of a subscription.
pub async fn edit(site: &Site, visit: &Visit, session: &Session, id: &str) -> Result<Answer, Fault> {
    session.require(Role::TeamMember)?;
    let (own, choices) = find(site, visit, id).await?;
    if !Rights::read(site, visit, own.thing()).await?.may_edit() {
        return Ok(Answer::redirect(address(id)));
    }
    let text = |text: Option<&String>| text.cloned().unwrap_or_default();
    let mut fields = Fields::one(NAME, &own.name)
        .and(FORM, &own.form.to_string())
        .and(EMAIL, &text(own.receiver.email.as_ref()))
        .and(DIGEST, &own.digest.map(|digest| digest.to_string()).unwrap_or_default())
        .and(TEAM, &text(own.team.as_ref().map(|team| &team.alias)))
        .and(SERVICE, &text(own.service.as_ref().map(|service| &service.alias)))
        .and(TIER, &text(own.tier.as_ref().map(|tier| &tier.alias)))
        .and(ENVIRONMENT, &text(own.environment.as_ref()));
    if own.enabled {
        fields = fields.and(ENABLED, "on");
    }
    let fields = own.events.iter().fold(fields, |fields, kind| fields.append(EVENTS, &kind.to_string()));
    Ok(Answer::page(edit_form(visit, &own, &choices, &fields, &Mistakes::none())))
}

/// Changes a subscription.
pub async fn change(site: &Site, visit: &Visit, id: &str) -> Result<Answer, Fault> {
    let form = &visit.form;
    let done = match sent(site, visit).await? {
        Err(mistakes) => Err(mistakes),
        Ok(sent) => {
            let input = EventSubscriptionUpdateInput {
                id,
                name: MaybeUndefined::Value(form.get(NAME)),
                // The form does not show the URL, so an empty field leaves it as it is.
                receiver_url: sent.url.map_or(MaybeUndefined::Undefined, MaybeUndefined::Value),
                receiver_email: sent.email.map_or(MaybeUndefined::Undefined, MaybeUndefined::Value),
                form: MaybeUndefined::Value(sent.form),
                digest: or_null(sent.digest),
                events: MaybeUndefined::Value(sent.events),
                team_id: or_null(sent.team.as_deref()),
                service_id: or_null(sent.service.as_deref()),
                tier_alias: or_null(form.given(TIER)),
                environment: or_null(form.given(ENVIRONMENT)),
                enabled: MaybeUndefined::Value(form.has(ENABLED)),
            };
            let done = ask(site, visit, UpdateEventSubscription { input }).await?.event_subscription_update;
            settled(done.ok_or_else(unanswered)?.errors)
        }
    };
    match done {
        Ok(()) => Ok(Answer::redirect(address(id))),
        Err(mistakes) => {
            let (own, choices) = find(site, visit, id).await?;
            Rights::read(site, visit, own.thing()).await?.to_edit()?;
            Ok(Answer::refused(edit_form(visit, &own, &choices, form, &mistakes)))
        }
    }
}

fn new_form(visit: &Visit, choices: &Choices, form: &Fields, mistakes: &Mistakes) -> Markup {
    let main = html! {
        (rights::own_owner(visit))
        form method="post" action="/new/event-subscription" {
            (fields(choices, form, mistakes, "Of an incoming webhook, or of your program. It is not shown again. Not for Email."))
            button { "Create subscription" }
        }
    };
    layout(visit, "New subscription", main)
}

fn edit_form(visit: &Visit, own: &EventSubscription, choices: &Choices, form: &Fields, mistakes: &Mistakes) -> Markup {
    let hint = match own.form {
        EventFormEnum::Email => "For every form but Email. It is not shown again.".to_owned(),
        _ => format!("Empty: still at {}.", own.receiver.host),
    };
    let main = html! {
        p { a href=(address(&own.id)) { "Back to the subscription" } }
        form method="post" action={ (address(&own.id)) "/edit" } {
            (fields(choices, form, mistakes, &hint))
            button { "Save" }
        }
    };
    layout(visit, &format!("Edit {}", own.name), main)
}

/// The hints for the fields that say about what.
const OF_TEAM: &str = "Only events about this team and what it owns. Empty for all.";
const OF_SERVICE: &str = "Only events about this service. Empty for all.";
/// The hint for the address.
const MAIL: &str = "For the form Email: of a user. Administrators may give any.";

fn fields(Choices { tiers, offers }: &Choices, form: &Fields, mistakes: &Mistakes, url: &str) -> Markup {
    let line = |name, label, hint, required| Text { name, label, hint, kind: "text", required }.show(form, mistakes);
    let forms: Vec<(String, &str)> = FORMS.iter().map(|one| (one.to_string(), form_name(*one))).collect();
    let forms: Vec<(&str, &str)> = forms.iter().map(|(word, name)| (&**word, *name)).collect();
    let every = ("", "all tiers");
    let tiers: Vec<(&str, &str)> =
        [every].into_iter().chain(tiers.iter().map(|tier| (&*tier.alias, &*tier.name))).collect();
    let digests =
        [EventDigestEnum::Daily, EventDigestEnum::Weekly].map(|one| (one.to_string(), digest_name(Some(one))));
    let at_once = (String::new(), digest_name(None));
    let digests: Vec<(&str, &str)> =
        [&at_once].into_iter().chain(&digests).map(|(word, name)| (&**word, &**name)).collect();
    let shown = [NAME, URL, EMAIL, FORM, DIGEST, EVENTS, TEAM, SERVICE, TIER, ENVIRONMENT];
    html! {
        (mistakes.summary(&shown))
        (line(NAME, "Name", "Such as: failed deploys of Payments", true))
        (form::select(FORM, "Form", "Who reads the messages.", &forms, form, mistakes))
        (Text { name: URL, label: "URL", hint: url, kind: "text", required: false }.show(form, mistakes))
        (Text { name: EMAIL, label: "Email address", hint: MAIL, kind: "email", required: false }.show(form, mistakes))
        (form::select(DIGEST, "Sent", "Digests are for every form that people read.", &digests, form, mistakes))
        fieldset.choices {
            legend { "Events" }
            @for message in mistakes.of_field(EVENTS) { p.wrong { (message) } }
            @for kind in Kind::iter().filter(|kind| *kind != Kind::Test).map(Kind::word) {
                label.check {
                    input type="checkbox" name=(EVENTS) value=(kind) checked[form.get_all(EVENTS).any(|one| one == kind)];
                    " " (spoken(&kind))
                }
            }
        }
        (offers.show(Offered::Teams, (TEAM, "Team (name or alias)", OF_TEAM), false, (form, mistakes)))
        (offers.show(Offered::Services, (SERVICE, "Service (name or alias)", OF_SERVICE), false, (form, mistakes)))
        (form::select(TIER, "Tier", "Only events about services of this tier.", &tiers, form, mistakes))
        (line(ENVIRONMENT, "Environment", "Of deploys, only those to it. Empty for all.", false))
        label.check { input type="checkbox" name=(ENABLED) checked[form.has(ENABLED)]; " Send messages" }
    }
}
