//! The forms that create and change event subscriptions.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};
use sea_orm::Iterable;

use super::ask::{ask, or_null, settled, unanswered};
use super::events::{address, digest_name, form_name, owner, shown_once};
use super::form::{self, Area, Mistakes, Text, lines};
use super::layout::{below, layout};
use super::offers::{Offered, Offers};
use super::operations::event_form::EventSubscription;
use super::operations::{
    CreateEventSubscription, EventChoices, EventDigestEnum, EventForm, EventFormEnum, EventKindEnum,
    EventSubscriptionCreateInput, EventSubscriptionUpdateInput, EventTier, UpdateEventSubscription,
};
use super::parts::count;
use super::rights::{self, Rights, Thing};
use super::schema_words::spoken;
use super::visit::{Fields, Session, Visit};
use super::{Answer, Fault, Site};
use catalogue::entity::event::Kind;
use catalogue::entity::event_subscription::NAMED;
use catalogue::entity::text;
use catalogue::entity::user::Role;

/// The fields, named by the paths that the API uses for mistakes about them.
const NAME: &str = "name";
const URL: &str = "receiverUrl";
const EMAIL: &str = "receiverEmail";
const FORM: &str = "form";
const DIGEST: &str = "digest";
const EVENTS: &str = "events";
const TEAMS: &str = "teamIds";
const SERVICES: &str = "serviceIds";
const TIERS: &str = "tierAliases";
const ENVIRONMENTS: &str = "environments";
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
    let choices = read_choices(site, visit).await?;
    let begun = Fields::one(ENABLED, "on")
        .and(EVENTS, "deploy_failed")
        .and(TEAMS, visit.query.get("team"))
        .and(SERVICES, visit.query.get("service"));
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
}

fn sent(form: &Fields) -> Result<Sent<'_>, Fault> {
    let chosen = form.get(FORM).parse::<EventFormEnum>().ok();
    let chosen = chosen.ok_or_else(|| Fault::BadRequest("Choose one of the listed forms.".to_owned()))?;
    let events = form.get_all(EVENTS).filter_map(|word| word.parse().ok()).collect();
    let is_mail = chosen == EventFormEnum::Email;
    let (url, email) = (form.given(URL).filter(|_| !is_mail), form.given(EMAIL).filter(|_| is_mail));
    let digest = form.given(DIGEST).and_then(|word| word.parse().ok());
    Ok(Sent { form: chosen, url, email, digest, events })
}

/// The field that has all but the first of what a list names.
fn more(list: &str) -> String {
    format!("{list}.more")
}

/// The field that has what a list showed when the form was made. Only there if some of what the list names was deleted.
fn before(list: &str) -> String {
    format!("{list}.before")
}

/// The field that says that a list may forget what was deleted.
fn forget(list: &str) -> String {
    format!("{list}.forget")
}

/// What a list of the form names. What was deleted stays named until somebody changes the list: a form that is sent for
/// another reason must not make it an empty one, which is all.
fn named<'f>(form: &'f Fields, list: &'static str) -> MaybeUndefined<Vec<&'f str>> {
    let given = match list {
        TIERS => form.get_all(TIERS).filter(|alias| !alias.is_empty()).collect(),
        ENVIRONMENTS => lines(form.get(ENVIRONMENTS)),
        _ => form.given(list).into_iter().chain(lines(form.get(&more(list)))).collect(),
    };
    let before = before(list);
    if form.has(&before) && !form.has(&forget(list)) && sorted(&given) == sorted(&lines(form.get(&before))) {
        return MaybeUndefined::Undefined;
    }
    MaybeUndefined::Value(given)
}

fn sorted<'f>(list: &[&'f str]) -> Vec<&'f str> {
    let mut sorted = list.to_vec();
    sorted.sort_unstable();
    sorted
}

/// Creates a subscription, and shows its secret once. Mail is not signed.
pub async fn create(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let form = &visit.form;
    let sent = sent(form)?;
    let input = EventSubscriptionCreateInput {
        name: form.get(NAME),
        receiver_url: or_null(sent.url),
        receiver_email: or_null(sent.email),
        form: MaybeUndefined::Value(sent.form),
        digest: or_null(sent.digest),
        events: sent.events,
        team_ids: named(form, TEAMS),
        service_ids: named(form, SERVICES),
        tier_aliases: named(form, TIERS),
        environments: named(form, ENVIRONMENTS),
        enabled: MaybeUndefined::Value(form.has(ENABLED)),
    };
    let done = ask(site, visit, CreateEventSubscription { input }).await?.event_subscription_create;
    let done = done.ok_or_else(unanswered)?;
    let made = settled(done.errors).map(|()| (done.event_subscription, done.secret));
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
            let choices = read_choices(site, visit).await?;
            Ok(Answer::refused(new_form(visit, &choices, form, &mistakes)))
        }
    }
}

/// What the form offers.
struct Choices {
    tiers: Vec<EventTier>,
    offers: Offers,
}

async fn read_choices(site: &Site, visit: &Visit) -> Result<Choices, Fault> {
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
        let owner = owner(&self.teams, &self.deleted);
        Thing { noun: "subscription", page: address(&self.id), owner }
    }

    /// What a list names that is still there, a line for each.
    fn listed(&self, list: &str) -> String {
        let aliases: Vec<&str> = match list {
            TEAMS => self.teams.iter().map(|team| &*team.alias).collect(),
            SERVICES => self.services.iter().map(|service| &*service.alias).collect(),
            TIERS => self.tiers.iter().map(|tier| &*tier.alias).collect(),
            _ => self.environments.iter().map(|environment| &**environment).collect(),
        };
        aliases.join("\n")
    }

    /// How much of what a list names was deleted.
    fn deleted_of(&self, list: &str) -> i32 {
        match list {
            TEAMS => self.deleted.team_count,
            SERVICES => self.deleted.service_count,
            TIERS => self.deleted.tier_count,
            _ => 0,
        }
    }
}

/// Shows the form of a subscription.
pub async fn edit(site: &Site, visit: &Visit, session: &Session, id: &str) -> Result<Answer, Fault> {
    session.require(Role::TeamMember)?;
    let (own, choices) = find(site, visit, id).await?;
    if !Rights::read(site, visit, own.thing()).await?.may_edit() {
        return Ok(Answer::redirect(address(id)));
    }
    let mut fields = Fields::one(NAME, &own.name)
        .and(FORM, &own.form.to_string())
        .and(EMAIL, own.receiver.email.as_deref().unwrap_or_default())
        .and(DIGEST, &own.digest.map(|digest| digest.to_string()).unwrap_or_default())
        .and(ENVIRONMENTS, &own.listed(ENVIRONMENTS));
    for list in [TEAMS, SERVICES] {
        let listed = own.listed(list);
        let (first, others) = listed.split_once('\n').unwrap_or((&*listed, ""));
        fields = fields.and(list, first).and(&more(list), others);
    }
    if own.enabled {
        fields = fields.and(ENABLED, "on");
    }
    let fields = own.events.iter().fold(fields, |fields, kind| fields.append(EVENTS, &kind.to_string()));
    let fields = own.tiers.iter().fold(fields, |fields, tier| fields.append(TIERS, &tier.alias));
    Ok(Answer::page(edit_form(visit, &own, &choices, &fields, &Mistakes::none())))
}

/// Changes a subscription.
pub async fn change(site: &Site, visit: &Visit, id: &str) -> Result<Answer, Fault> {
    let form = &visit.form;
    let sent = sent(form)?;
    let input = EventSubscriptionUpdateInput {
        id,
        name: MaybeUndefined::Value(form.get(NAME)),
        // The form does not show the URL, so an empty field leaves it as it is.
        receiver_url: sent.url.map_or(MaybeUndefined::Undefined, MaybeUndefined::Value),
        receiver_email: sent.email.map_or(MaybeUndefined::Undefined, MaybeUndefined::Value),
        form: MaybeUndefined::Value(sent.form),
        digest: or_null(sent.digest),
        events: MaybeUndefined::Value(sent.events),
        team_ids: named(form, TEAMS),
        service_ids: named(form, SERVICES),
        tier_aliases: named(form, TIERS),
        environments: named(form, ENVIRONMENTS),
        enabled: MaybeUndefined::Value(form.has(ENABLED)),
    };
    let done = ask(site, visit, UpdateEventSubscription { input }).await?.event_subscription_update;
    let done = settled(done.ok_or_else(unanswered)?.errors);
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
    const URL_HINT: &str = "Of an incoming webhook, or of your program. It is not shown again. Not for Email.";
    let main = html! {
        (rights::own_owner(visit))
        form method="post" action="/new/event-subscription" {
            (fields(None, choices, (form, mistakes), URL_HINT))
            div.save { button { "Create subscription" } }
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
        form method="post" action={ (address(&own.id)) "/edit" } {
            (fields(Some(own), choices, (form, mistakes), &hint))
            div.save { button { "Save" } }
        }
    };
    below(visit, (&address(&own.id), &own.name), &format!("Edit {}", own.name), main)
}

/// The hints for the fields that say about what.
const OF_TEAM: &str = "Only events about this team and what it owns. Empty for all.";
const OF_SERVICE: &str = "Only events about this service. Empty for all.";
const ON_LINES: &str = "And about these: a name or an alias on each line.";
const OF_ENVIRONMENTS: &str = "Of deploys, only those to these environments: one on each line. Empty for all.";
/// The most characters of a list in a text area.
const LIST: usize = NAMED * (text::SHORT + 1);
/// The hint for the tiers.
const OF_TIERS: &str = "Only events about services of these tiers. None for all.";
/// The hint for the address.
const MAIL: &str = "For the form Email: of a user. Administrators may give any.";

fn fields(
    own: Option<&EventSubscription>,
    Choices { tiers, offers }: &Choices,
    (form, mistakes): (&Fields, &Mistakes),
    url: &str,
) -> Markup {
    let line = |name: &str, label: &str, hint: &str, kind: &str| {
        Text { name, label, hint, kind, required: name == NAME }.show(form, mistakes)
    };
    let area =
        |name: &str, label: &str, hint: &str| Area { name, label, hint, rows: 2, most: LIST }.show(form, mistakes);
    let choose = |name: &str, label: &str, hint: &str, offered: &[(String, String)]| {
        let offered: Vec<(&str, &str)> = offered.iter().map(|(word, text)| (&**word, &**text)).collect();
        form::select(name, label, hint, &offered, form, mistakes)
    };
    // One thing, which has suggestions, and beside it an area with a line for each further one.
    let with_more = |kind: Offered, list: &str, noun: &str, [label, further, hint]: [&str; 3]| {
        html! {
            div.pair {
                (offers.show(kind, (list, label, hint), false, (form, mistakes)))
                (area(&more(list), further, ON_LINES))
            }
            (kept(own, list, noun, form))
        }
    };
    let forms = FORMS.map(|one| (one.to_string(), form_name(one).to_owned()));
    let digests = [None, Some(EventDigestEnum::Daily), Some(EventDigestEnum::Weekly)];
    let digests = digests.map(|one| (one.map(|digest| digest.to_string()).unwrap_or_default(), digest_name(one)));
    let kinds = Kind::iter().filter(|kind| *kind != Kind::Test).map(Kind::word);
    let kinds: Vec<(String, String)> = kinds.map(|word| (word.clone(), spoken(&word))).collect();
    let tiers: Vec<(String, String)> = tiers.iter().map(|tier| (tier.alias.clone(), tier.name.clone())).collect();
    let shown = [NAME, URL, EMAIL, FORM, DIGEST, EVENTS, TEAMS, SERVICES, TIERS, ENVIRONMENTS];
    html! {
        (mistakes.summary(&shown))
        (line(NAME, "Name", "Such as: failed deploys of Payments", "text"))
        div.pair {
            (choose(FORM, "Form", "Who reads the messages.", &forms))
            (choose(DIGEST, "Sent", "Digests are for every form that people read.", &digests))
        }
        div.pair {
            (line(URL, "URL", url, "text"))
            (line(EMAIL, "Email address", MAIL, "email"))
        }
        (choices((EVENTS, "Events", ""), &kinds, &html! {}, (form, mistakes)))
        (choices((TIERS, "Tiers", OF_TIERS), &tiers, &kept(own, TIERS, "tier", form), (form, mistakes)))
        (with_more(Offered::Teams, TEAMS, "team", ["Team (name or alias)", "More teams", OF_TEAM]))
        (with_more(Offered::Services, SERVICES, "service", ["Service (name or alias)", "More services", OF_SERVICE]))
        (area(ENVIRONMENTS, "Environments", OF_ENVIRONMENTS))
        label.check { input type="checkbox" name=(ENABLED) checked[form.has(ENABLED)]; " Send messages" }
    }
}

/// A group of choices, each with its value and its label. `rest` follows them.
fn choices(
    (name, legend, hint): (&str, &str, &str),
    offered: &[(String, String)],
    rest: &Markup,
    (form, mistakes): (&Fields, &Mistakes),
) -> Markup {
    html! {
        fieldset.choices {
            legend { (legend) }
            @if !hint.is_empty() { p.hint { (hint) } }
            @for message in mistakes.of_field(name) { p.wrong { (message) } }
            @for (value, label) in offered {
                label.check {
                    input type="checkbox" name=(name) value=(value) checked[form.get_all(name).any(|one| one == value)];
                    " " (label)
                }
            }
            (rest)
        }
    }
}

/// Says how much of what a list names was deleted, and keeps it named. If nothing else is left, one may forget it.
fn kept(own: Option<&EventSubscription>, list: &str, noun: &str, form: &Fields) -> Markup {
    let Some(own) = own.filter(|own| own.deleted_of(list) > 0) else { return html! {} };
    let (left, forget) = (own.listed(list), forget(list));
    html! {
        input type="hidden" name=(before(list)) value=(left);
        p.hint { "It also names " (count(own.deleted_of(list), &format!("deleted {noun}"))) ", until you change the list." }
        @if left.is_empty() {
            label.check {
                input type="checkbox" name=(forget) checked[form.has(&forget)];
                " Forget what was deleted: send events about every " (noun)
            }
        }
    }
}
