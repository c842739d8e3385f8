//! Who is on call for a service.

use std::collections::HashMap;

use sea_orm::sea_query::ExprTrait;

use crate::entity::on_call::{self, Column, Entity};
use crate::entity::user;
use crate::entity::user::email_key;
use crate::graphql::prelude::*;

impl OnCallResolver for OnCall {
    fn name(&self) -> Option<&str> {
        Some(&self.name)
    }

    async fn user(entries: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<User>>> {
        let db = ctx.db();
        let keys: Vec<_> = entries.iter().map(|entry| entry.external_email.as_deref().map(email_key)).collect();
        let mut wanted: Vec<&str> = keys.iter().flatten().map(String::as_str).collect();
        wanted.sort_unstable();
        wanted.dedup();
        if wanted.is_empty() {
            return Ok(vec![None; entries.len()]);
        }
        let found = db.all(user::Entity::find().filter(db::any_text(db, user::Column::EmailKey, &wanted))).await?;
        let by_email: HashMap<&str, &User> = found.iter().map(|user| (user.email_key.as_str(), user)).collect();
        let user = |key: &Option<String>| {
            let user = key.as_deref().and_then(|key| by_email.get(key));
            user.map(|user| clone_charged(*user, ctx)).transpose()
        };
        keys.iter().map(user).collect()
    }
}

/// Reads a page of the people who are on call for each service at the moment.
pub(in crate::graphql) async fn of_services(
    services: Vec<i64>,
    args: &PageArguments,
    ctx: &Ctx<'_>,
) -> Result<Vec<OnCallConnectionType>> {
    let is_on = Column::EndsAt.is_null().or(Column::EndsAt.gt(Timestamp::now()));
    let entries = List::<Entity>::new(Column::Id).of_parents(Column::ServiceId, services);
    entries.filter(is_on).pages(ctx, &args.request()?).await
}

impl ServiceOnCallsUpdateMutation for Mutation {
    async fn service_on_calls_update(
        ctx: &MutationCtx<'_>,
        input: ServiceOnCallsUpdateInput,
    ) -> Result<ServiceOnCallsUpdatePayload> {
        let ServiceOnCallsUpdateInput { service, on_calls } = input;
        let db = ctx.db();
        let mut problems = Problems::default();
        // Two updates of one service follow each other.
        let service = identifier::locked::<Service>(db, "service", &service, LockType::NoKeyUpdate).await;
        let service = problems.take_any(service)?;
        if on_calls.len() > text::FEW {
            problems.push(UserError::new("onCalls", format!("at most {} people can be on call", text::FEW)));
        }
        let mut rows = Vec::with_capacity(on_calls.len().min(text::FEW));
        for (place, one) in on_calls.into_iter().enumerate().take(text::FEW) {
            let OnCallInput { name, ends_at, texts } = one;
            let mut draft = Draft::<Entity>::new();
            draft.set_required(Column::Name, &name);
            draft.set_texts(&texts);
            draft.set(Column::EndsAt, &ends_at);
            let within = |error: UserError| error.within(place.to_string()).within("onCalls");
            rows.extend(problems.take_any(draft.done().map_err(|error| error.map_user(within)))?);
        }
        problems.none()?;
        let service = service.ok_or_else(|| UserError::base("the service is missing"))?;
        db.exec(Entity::delete_many().filter(Column::ServiceId.eq(service.id))).await?;
        for row in rows {
            db.insert(on_call::ActiveModel { service_id: Set(service.id), ..row }).await?;
        }
        Ok(ServiceOnCallsUpdatePayload { service: Some(service), ..Default::default() })
    }
}
