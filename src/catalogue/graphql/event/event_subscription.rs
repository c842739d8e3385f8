//! Event subscriptions, and their deliveries. [`crate::events`] sends them.

use serde_json::json;

use super::event_filter::{Lists, deleted, named};
use super::event_target::Given;
use crate::entity::event::{Kind, What};
use crate::entity::event_subscription::{self as subscription, Column, Digest, Entity, Form, MOST};
use crate::entity::user::Role;
use crate::entity::{event, event_delivery as delivery, event_receiver as receiver, known, pages, service, team, tier};
use crate::events::{digest as digests, signature};
use crate::graphql::field::draft;
use crate::graphql::prelude::*;

impl EventSubscriptionResolver for EventSubscription {
    fn form(&self) -> EventFormEnum {
        same!(self.form, Form => EventFormEnum { StandardWebhook CloudEvent Slack Mattermost MicrosoftTeams Email })
    }

    fn digest(&self) -> Option<EventDigestEnum> {
        self.digest.map(|digest| same!(digest, Digest => EventDigestEnum { Daily Weekly }))
    }

    async fn events(rows: &[&Self], _: &Ctx<'_>) -> Result<Vec<Vec<EventKindEnum>>> {
        Ok(rows.iter().map(|row| row.kinds.split(' ').filter_map(EventKindEnum::from_word).collect()).collect())
    }

    async fn receiver(rows: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<EventReceiver>> {
        let (db, is_counted) = (ctx.db(), ctx.selects("waitingCount"));
        let mut receivers = receiver::of_subscriptions(db, rows.iter().map(|row| row.id)).await?;
        let mut found = Vec::with_capacity(rows.len());
        for row in rows {
            let own = receivers.remove(&row.id).ok_or_else(|| Error::internal("a subscription has no receiver"))?;
            let waiting = if is_counted { delivery::waiting(db, row.id).await? } else { 0 };
            found.push(EventReceiver {
                host: row.host.clone(),
                email: row.email.clone(),
                delivered_at: own.delivered_at,
                error: own.error,
                retry_at: own.retry_at,
                waiting_count: shown(waiting),
                missed_count: shown(own.missed.cast_unsigned()),
            });
        }
        Ok(found)
    }

    async fn teams(rows: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<Team>>> {
        named::<team::Entity>(ctx, rows.iter().map(|row| row.teams())).await
    }

    async fn services(rows: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<Service>>> {
        named::<service::Entity>(ctx, rows.iter().map(|row| row.services())).await
    }

    async fn tiers(rows: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<Tier>>> {
        named::<tier::Entity>(ctx, rows.iter().map(|row| row.tiers())).await
    }

    async fn environments(rows: &[&Self], _: &Ctx<'_>) -> Result<Vec<Vec<String>>> {
        Ok(rows.iter().map(|row| row.environments().unwrap_or_default()).collect())
    }

    async fn deleted(rows: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<EventSubscriptionDeleted>> {
        deleted(ctx, rows).await
    }

    async fn html_url(rows: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<String>> {
        let app_url = &ctx.settings().app_url;
        let url = |row: &&Self| pages::url(app_url, ["events", &EventSubscriptionResolver::id(*row).text()]);
        Ok(rows.iter().map(url).collect())
    }

    async fn deliveries(
        rows: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<EventDeliveryConnectionType>> {
        let own = List::<delivery::Entity>::new(delivery::Column::Id).newest_first(delivery::Column::CreatedAt);
        let own = own.filter(known::<Kind>(delivery::Column::Kind));
        let own = own.of_parents(delivery::Column::SubscriptionId, rows.iter().map(|row| row.id));
        own.pages(ctx, &args.request()?).await
    }
}

/// A number in the range of the API.
fn shown(number: u64) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

impl EventDeliveryResolver for EventDelivery {
    async fn message(rows: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<EventMessage>> {
        let events = event::Entity::by_ids(ctx.db(), rows.iter().map(|row| Some(row.event_id))).await?;
        let message = |(row, event): (&&Self, Option<event::Model>)| EventMessage {
            id: format!("evt_{}", row.event_id),
            r#type: row.kind.message_type().to_owned(),
            about: event.map_or_else(String::new, |event| {
                format!("{} {}", event.subject_class, event.subject_name.unwrap_or_default())
            }),
        };
        Ok(rows.iter().zip(events).map(message).collect())
    }

    fn state(&self) -> EventDeliveryStateEnum {
        same!(self.state, delivery::State => EventDeliveryStateEnum { Waiting Delivered Failed })
    }
}

/// All subscriptions of which this version knows the form, a page at a time.
pub(in crate::graphql) async fn page(args: &PageArguments, ctx: &Ctx<'_>) -> Result<EventSubscriptionConnectionType> {
    List::<Entity>::new(Column::Id).filter(known::<Form>(Column::Form)).page(ctx, &args.request()?).await
}

fn form(word: EventFormEnum) -> Form {
    same!(word, EventFormEnum => Form { StandardWebhook CloudEvent Slack Mattermost MicrosoftTeams Email })
}

/// The digest that a client chooses for messages of this form.
fn digest(given: Option<&EventDigestEnum>, form: Form) -> Result<Option<Digest>, UserError> {
    let Some(given) = given else { return Ok(None) };
    if !form.is_for_people() {
        let message =
            "digest is for messages that people read: of the forms email, slack, mattermost and microsoft_teams";
        return Err(UserError::new("digest", message));
    }
    Ok(Some(same!(given, EventDigestEnum => Digest { Daily Weekly })))
}

/// The kinds that a client wants, each once.
fn kinds(given: &[EventKindEnum]) -> Result<Vec<Kind>, UserError> {
    let mut kinds = Vec::new();
    for kind in given.iter().filter_map(|word| Kind::from_word(word.as_str())) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    if kinds.is_empty() {
        return Err(UserError::new("events", "events must name at least one kind of event"));
    }
    Ok(kinds)
}

fn words(kinds: &[Kind]) -> String {
    kinds.iter().map(|kind| kind.word()).collect::<Vec<_>>().join(" ")
}

impl EventSubscriptionCreateMutation for Mutation {
    async fn event_subscription_create(
        ctx: &MutationCtx<'_>,
        input: EventSubscriptionCreateInput,
    ) -> Result<EventSubscriptionSecretPayload> {
        let EventSubscriptionCreateInput {
            name,
            receiver_url,
            receiver_email,
            form: given,
            digest: rhythm,
            events,
            team_ids,
            service_ids,
            tier_aliases,
            environments,
            enabled,
        } = input;
        let db = ctx.db();
        let form = given.value().map_or(Form::StandardWebhook, |word| form(*word));
        let mut draft = Draft::<Entity>::new();
        draft.set_required(Column::Name, &name);
        Lists { team_ids, service_ids, tier_aliases, environments }.set(db, &mut draft).await?;
        let target = Given { url: &receiver_url, email: &receiver_email }.target(ctx, form, None).await;
        let target = draft.problems.take_any(target)?.flatten();
        let digest = draft.problems.take(digest(rhythm.value(), form)).flatten();
        let kinds = draft.problems.take(kinds(&events));
        let row = draft.done()?;
        let (Some(target), Some(kinds)) = (target, kinds) else { return Err(Error::internal("a mistake was lost")) };
        let now = Timestamp::now();
        let row = subscription::ActiveModel {
            form: Set(form),
            host: Set(target.host),
            email: Set(target.email),
            digest: Set(digest),
            kinds: Set(words(&kinds)),
            enabled: Set(enabled.value().copied().unwrap_or(true)),
            created_at: Set(now),
            updated_at: Set(now),
            ..row
        };
        let made = db.insert(row).await?;
        if db.count(Entity::find()).await? > MOST as u64 {
            return Err(UserError::base(format!("no subscription can be added: there are at most {MOST}")).into());
        }
        let secret = signature::secret()?;
        db.insert(receiver::new(made.id, &target.url, secret.clone())).await?;
        ctx.settings().events.add(&kinds);
        Ok(EventSubscriptionSecretPayload {
            event_subscription: Some(made),
            secret: Some(secret),
            ..Default::default()
        })
    }
}

/// The subscription of this id, locked.
async fn locked(db: &Transaction, id: &str) -> Result<EventSubscription> {
    id::require::<Entity>(&db.locking(LockType::Update), id, "id").await
}

/// Its receiver, as a row to change.
async fn own_receiver(db: &Transaction, subscription: i64) -> Result<receiver::Model> {
    let own = receiver::of_subscription(db, subscription).await?;
    own.ok_or_else(|| Error::internal("a subscription has no receiver"))
}

/// Sends what waits for a receiver to this URL, at once.
async fn direct(db: &Transaction, subscription: i64, url: String) -> Result<()> {
    let changed = receiver::ActiveModel {
        url: Set(url),
        failures: Set(0),
        retry_at: Set(None),
        error: Set(None),
        ..own_receiver(db, subscription).await?.into()
    };
    db.update(changed).await?;
    Ok(())
}

/// The digest that a client chooses, or the one from before.
fn kept_digest(
    before: &EventSubscription,
    given: &MaybeUndefined<EventDigestEnum>,
    form: Form,
) -> Result<Option<Digest>, UserError> {
    match (given, EventSubscriptionResolver::digest(before)) {
        (MaybeUndefined::Undefined, before) => digest(before.as_ref(), form),
        (given, _) => digest(given.value(), form),
    }
}

impl EventSubscriptionUpdateMutation for Mutation {
    async fn event_subscription_update(
        ctx: &MutationCtx<'_>,
        input: EventSubscriptionUpdateInput,
    ) -> Result<EventSubscriptionPayload> {
        let EventSubscriptionUpdateInput {
            id,
            name,
            receiver_url,
            receiver_email,
            form: given,
            digest: rhythm,
            events,
            team_ids,
            service_ids,
            tier_aliases,
            environments,
            enabled,
        } = input;
        let db = ctx.db();
        let before = locked(db, &id).await?;
        let mut draft = Draft::<Entity>::from_row(before.clone());
        draft.set(Column::Name, &name);
        Lists { team_ids, service_ids, tier_aliases, environments }.set(db, &mut draft).await?;
        let kinds = draft.problems.take(draft::changed("events", &events, |given| kinds(given))).flatten();
        let form = draft.problems.take(draft::changed("form", &given, |word| Ok(form(*word)))).flatten();
        let form = form.unwrap_or(before.form);
        let given = Given { url: &receiver_url, email: &receiver_email };
        let target = draft.problems.take_any(given.target(ctx, form, Some(&before)).await)?.flatten();
        let digest = draft.problems.take(kept_digest(&before, &rhythm, form)).flatten();
        let enabled = draft.problems.take(draft::changed("enabled", &enabled, |is| Ok(*is))).flatten();
        let mut row = draft.done()?;
        stays_whose_it_is(ctx, &before, &row)?;
        (row.form, row.digest) = (Set(form), Set(digest));
        if let Some(kinds) = &kinds {
            row.kinds = Set(words(kinds));
        }
        if let Some(enabled) = enabled {
            row.enabled = Set(enabled);
        }
        if let Some(target) = target {
            (row.host, row.email) = (Set(target.host), Set(target.email));
            direct(db, before.id, target.url).await?;
        }
        if digest != before.digest {
            let now = Timestamp::now();
            let at = digest.map_or(now, |digest| digests::next(digest, now));
            delivery::reschedule(db, before.id, now, at).await?;
        }
        touch(&mut row.updated_at);
        let changed = db.update(row).await?;
        ctx.settings().events.add(&changed.wanted());
        Ok(EventSubscriptionPayload { event_subscription: Some(changed), ..Default::default() })
    }
}

/// A subscription that no team owns is not a team member's: they neither take one, nor give up that theirs tells of their
/// team alone.
fn stays_whose_it_is(ctx: &MutationCtx<'_>, before: &EventSubscription, row: &subscription::ActiveModel) -> Result<()> {
    let team = row.team_id.try_as_ref().map_or(before.team_id, |team| *team);
    let is_member = ctx.caller().user.is_some_and(|(_, role)| role == Role::TeamMember);
    if is_member && team != before.team_id && (team.is_none() || before.team_id.is_none()) {
        let why = "a team member cannot change whether a subscription belongs to one team";
        return Err(UserError::new("teamIds", why).forbidden().into());
    }
    Ok(())
}

impl EventSubscriptionDeleteMutation for Mutation {
    async fn event_subscription_delete(
        ctx: &MutationCtx<'_>,
        input: DeleteInput,
    ) -> Result<EventSubscriptionDeletePayload> {
        let db = ctx.db();
        let gone = locked(db, &input.id).await?;
        ctx.shed_first::<Entity>(gone.id).await?;
        let deleted_id = Some(EventSubscriptionResolver::id(&gone));
        db.delete(gone).await?;
        Ok(EventSubscriptionDeletePayload { deleted_id, ..Default::default() })
    }
}

impl EventSubscriptionSecretRotateMutation for Mutation {
    async fn event_subscription_secret_rotate(
        ctx: &MutationCtx<'_>,
        input: DeleteInput,
    ) -> Result<EventSubscriptionSecretPayload> {
        let db = ctx.db();
        let own = locked(db, &input.id).await?;
        let before = own_receiver(db, own.id).await?;
        let (now, secret) = (Timestamp::now(), signature::secret()?);
        let changed = receiver::ActiveModel {
            earlier_secret: Set(Some(before.secret.clone())),
            earlier_until: Set(Some(Timestamp::from_micros(now.as_micros() + receiver::OVERLAP))),
            secret: Set(secret.clone()),
            ..before.into()
        };
        db.update(changed).await?;
        let own = touched(db, own).await?;
        Ok(EventSubscriptionSecretPayload { event_subscription: Some(own), secret: Some(secret), ..Default::default() })
    }
}

/// Notes that a subscription was changed, or used, by this mutation: the audit tells it, and the permissions are checked.
async fn touched(db: &Transaction, own: EventSubscription) -> Result<EventSubscription> {
    let mut row = subscription::ActiveModel::from(own);
    touch(&mut row.updated_at);
    Ok(db.update(row).await?)
}

impl EventSubscriptionTestMutation for Mutation {
    async fn event_subscription_test(ctx: &MutationCtx<'_>, input: DeleteInput) -> Result<EventSubscriptionPayload> {
        let db = ctx.db();
        let own = touched(db, locked(db, &input.id).await?).await?;
        if !own.enabled {
            return Err(UserError::new("id", "this subscription is not enabled, so nothing is sent").into());
        }
        if delivery::waiting(db, own.id).await? >= delivery::MOST_WAITING {
            return Err(UserError::new("id", "too many deliveries of this subscription wait").into());
        }
        let now = Timestamp::now();
        let tested = event::ActiveModel {
            at: Set(now),
            what: Set(What::Tested),
            subject_class: Set("EventSubscription".to_owned()),
            subject_id: Set(Some(own.id)),
            subject_name: Set(Some(own.name.clone())),
            detail: Set(json!({}).to_string()),
            ..Default::default()
        };
        let tested = db.insert(tested).await?;
        let row = crate::events::delivery(own.id, &tested, Kind::Test, now);
        db.insert(row).await?;
        Ok(EventSubscriptionPayload { event_subscription: Some(own), ..Default::default() })
    }
}

impl EventDeliveriesResendMutation for Mutation {
    async fn event_deliveries_resend(
        ctx: &MutationCtx<'_>,
        input: DeleteInput,
    ) -> Result<EventDeliveriesResendPayload> {
        let db = ctx.db();
        let own = touched(db, locked(db, &input.id).await?).await?;
        let again = delivery::send_again(db, own.id, Timestamp::now()).await?;
        let changed = receiver::Entity::update_many()
            .col_expr(receiver::Column::RetryAt, sea_orm::sea_query::Expr::value(None::<i64>))
            .filter(receiver::Column::SubscriptionId.eq(own.id));
        db.exec(changed).await?;
        Ok(EventDeliveriesResendPayload { resent: Some(shown(again)), ..Default::default() })
    }
}
