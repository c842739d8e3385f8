//! Changes of several services at once, all or none, with the functions that change one of them.

use std::collections::HashMap;

use sea_orm::ActiveValue;
use serde_json::{Map, Value as Json};

use super::service_file;
use super::{owner_writable, set_owner};
use crate::db::{Before, RowOf};
use crate::entity::change::By;
use crate::entity::service::{self, Column, Writable};
use crate::error::shortened;
use crate::graphql::prelude::*;
use crate::graphql::request::permit;
use crate::graphql::tag;
use crate::service_file::outcome;

/// A service that the input names, locked, and its place in the list.
struct Named {
    place: usize,
    service: Writable,
}

impl Named {
    fn row(&self) -> RowOf {
        RowOf::new::<service::Entity>(self.service.id)
    }

    /// Says in an error which service it is about.
    fn within_entry(&self, error: Error) -> Error {
        within_entry(self.place, &self.service, error)
    }
}

fn within_entry(place: usize, service: &Service, error: Error) -> Error {
    error.map_user(|error| {
        let message = format!("{}: {}", shortened(&service.name), error.message);
        let error = UserError { message: message.into(), path: Vec::new(), ..error };
        error.within(place.to_string()).within("services")
    })
}

/// Finds the services, each once, with their places in the list.
async fn find(db: &Transaction, named: &[IdentifierInput], problems: &mut Problems) -> Result<Vec<(usize, Service)>> {
    let mut found: Vec<(usize, Service)> = Vec::with_capacity(named.len());
    for (place, named) in named.iter().enumerate() {
        let one = async { identifier::require::<Service>(db, Identifier::from_input(named)?).await };
        let within = |error: UserError| error.within(place.to_string()).within("services");
        let one = one.await.map_err(|error: Error| error.map_user(within));
        if let Some(service) = problems.take_any(one)?
            && !found.iter().any(|(_, known)| known.id == service.id)
        {
            found.push((place, service));
        }
    }
    Ok(found)
}

/// Locks the services. Fails if a service file governs one of them.
async fn lock(db: &Transaction, found: Vec<(usize, Service)>) -> Result<Vec<Named>> {
    // In the order of their ids, so that two transactions that write many services cannot deadlock.
    let mut by_id: Vec<&(usize, Service)> = found.iter().collect();
    by_id.sort_by_key(|(_, service)| service.id);
    let mut locked = Vec::with_capacity(found.len());
    for (place, service) in by_id {
        let one = owner_writable(db, service.id).await.map_err(|error| within_entry(*place, service, error));
        locked.push((*place, one));
    }
    locked.sort_by_key(|(place, _)| *place);
    let (mut problems, mut named) = (Problems::default(), Vec::with_capacity(locked.len()));
    for (place, one) in locked {
        named.extend(problems.take_any(one)?.map(|service| Named { place, service }));
    }
    problems.none()?;
    Ok(named)
}

/// Sets what `change` sets and the row does not have. Returns whether that is anything.
fn set(row: &mut service::ActiveModel, change: &service::ActiveModel) -> bool {
    let columns = [
        (&mut row.owner_id, &change.owner_id),
        (&mut row.tier_id, &change.tier_id),
        (&mut row.lifecycle_id, &change.lifecycle_id),
        (&mut row.system_id, &change.system_id),
    ];
    let mut differs = false;
    for (own, wanted) in columns {
        if let ActiveValue::Set(wanted) = wanted
            && own.try_as_ref() != Some(wanted)
        {
            *own = Set(*wanted);
            differs = true;
        }
    }
    differs
}

/// Changes the services, and returns them as they are then.
async fn write(
    ctx: &MutationCtx<'_>,
    named: &[Named],
    change: &service::ActiveModel,
    tags: &[(String, String)],
) -> Result<Vec<Service>> {
    let db = ctx.db();
    let (mut problems, mut written) = (Problems::default(), Vec::with_capacity(named.len()));
    for one in named {
        let mut row = service::ActiveModel::from(Service::from(one.service.clone()));
        written.push(match set(&mut row, change) {
            true => service::update(db, &one.service, row).await?,
            false => one.service.clone().into(),
        });
        problems
            .take_any(tag::assign(db, &one.service, tags.to_vec()).await.map_err(|error| one.within_entry(error)))?;
    }
    // Here, because a dry run is checked like the change itself, and because the error names the service.
    for one in named {
        let checked = permit::check_row(Before::Committed(ctx.committed()), db, ctx.caller(), one.row()).await;
        problems.take_any(checked.map_err(|error| one.within_entry(error)))?;
    }
    problems.none()?;
    Ok(written)
}

/// Tells what has changed of the services.
async fn told(
    ctx: &MutationCtx<'_>,
    named: Vec<Named>,
    written: Vec<Service>,
    is_dry_run: bool,
) -> Result<Vec<UpdatedService>> {
    let account = ctx.changed().await?.beside_times();
    let told = account.told(Before::Committed(ctx.committed()), ctx.db(), By::Object).await?;
    let mut changed: HashMap<RowOf, Map<String, Json>> =
        told.into_iter().map(|told| (told.row, told.changed)).collect();
    let updated = |(named, written): (Named, Service)| {
        let fields = changed.remove(&named.row()).map(|changed| outcome::fields(&changed)).unwrap_or_default();
        UpdatedService {
            service: if is_dry_run { named.service.into() } else { written },
            outcome: match fields.is_empty() {
                true => ServicesUpdateOutcome::Unchanged,
                false => ServicesUpdateOutcome::Updated,
            },
            changes: fields.into_iter().map(service_file::change).collect(),
        }
    };
    Ok(named.into_iter().zip(written).map(updated).collect())
}

impl ServicesUpdateMutation for Mutation {
    async fn services_update(ctx: &MutationCtx<'_>, input: ServicesUpdateInput) -> Result<ServicesUpdatePayload> {
        let ServicesUpdateInput { services, owner_alias, tier_alias, lifecycle_alias, parent, tags, dry_run } = input;
        if services.is_empty() || services.len() > text::FEW {
            let message = format!("services must name 1 to {} services", text::FEW);
            return Err(UserError::new("services", message).into());
        }
        let tags = tags.value().map(Vec::as_slice).unwrap_or_default();
        if tags.len() > text::FEW {
            let message = format!("at most {} tags can be set in several services at once", text::FEW);
            return Err(UserError::new("tags", message).into());
        }
        let (tags, mut problems) = tag::checked(tags);
        let is_dry_run = dry_run.value().copied().unwrap_or(false);
        match is_dry_run {
            true => ctx.begin_trial().await?,
            false => ctx.begin().await?,
        }
        let db = ctx.db();
        let mut draft = Draft::<service::Entity>::new();
        set_owner(db, &mut draft, &MaybeUndefined::Undefined, &owner_alias).await?;
        draft.refer(db, Column::TierId, &tier_alias).await?;
        draft.refer(db, Column::LifecycleId, &lifecycle_alias).await?;
        draft.refer(db, Column::SystemId, &parent).await?;
        let change = problems.take_any(draft.done())?.unwrap_or_default();
        let found = find(db, &services, &mut problems).await?;
        problems.none()?;
        let named = lock(db, found).await?;
        let written = write(ctx, &named, &change, &tags).await?;
        let services = told(ctx, named, written, is_dry_run).await?;
        Ok(ServicesUpdatePayload { services: Some(services), ..Default::default() })
    }
}
