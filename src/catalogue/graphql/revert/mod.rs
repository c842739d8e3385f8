//! Reverts a change that the audit has an entry of, by the mutations that people use, so that their rules hold, and the
//! roles, the locks, the audit, the events and the search follow as ever.
//!
//! - What is reverted is what the entry tells of its subject. A change of 100 services has 100 entries.
//! - All or nothing: if anything stands in the way, such as a later change of one of the fields, nothing is changed.
//! - Only what the entry holds exactly is reverted ([`kept`](crate::entity::change::kept)). Nothing is guessed.
//!
//! [`step`] reads the entry, [`plan`] compares it with what is there, [`place`] looks for what took the place of what
//! was deleted, [`carry_out`] runs the mutations, and [`tell`] has the words. What they know of each
//! table is in [`tables`].

use serde_json::Value as Json;

use super::request::permit;
use super::service::service_file;
use crate::db::{Before, RowOf};
use crate::entity::change::kept;
use crate::entity::{audit, recorded};
use crate::graphql::prelude::*;

mod carry_out;
mod place;
mod plan;
mod step;
mod tables;
mod tell;

use self::plan::Plan;

pub use self::plan::SEARCHED;

/// Why an entry cannot be reverted, whatever the present state is. `None` if it may be possible.
pub fn refusal(entry: &audit::Model) -> Option<String> {
    step::of_entry(entry).err()
}

/// Whether histories tell an entry: it is about a service, a team, a system, a domain or a part of them.
pub fn is_told(entry: &audit::Model) -> bool {
    let mut told = recorded().filter(|table| kept::table(table.name()).is_some()).filter_map(|table| table.class());
    entry.subject_class.as_deref().is_some_and(|class| told.any(|told| told == class))
}

/// The noun to which what an entry tells belongs: its SDL type and its id.
pub fn belongs_to(entry: &audit::Model) -> Option<(String, i64)> {
    let root = step::of_entry(entry).ok()?.first()?.root()?;
    Some((root.table.class()?.to_owned(), root.id))
}

impl ChangeRevertMutation for Mutation {
    async fn change_revert(ctx: &MutationCtx<'_>, input: ChangeRevertInput) -> Result<ChangeRevertPayload> {
        let ChangeRevertInput { id, dry_run } = input;
        let entry = id::require::<audit::Entity>(ctx.database().read(), &id, "id").await?;
        let steps = step::of_entry(&entry).map_err(|reason| UserError::new("id", reason))?;
        let ahead = carry_out::Ahead::read(ctx, &steps).await?;
        let is_dry_run = dry_run.value().copied().unwrap_or(false);
        match is_dry_run {
            true => ctx.begin_trial().await?,
            false => ctx.begin().await?,
        }
        let plan = Plan::prepare(ctx.db(), &entry, steps).await?;
        let mut obstacles = plan.obstacles.clone();
        if obstacles.is_empty() {
            carry_out::all(ctx, &plan.steps, ahead).await?;
            if is_dry_run {
                obstacles.extend(not_allowed(ctx).await?);
            }
        }
        if !is_dry_run && !obstacles.is_empty() {
            return Err(Error::User(obstacles));
        }
        Ok(ChangeRevertPayload {
            // What is refused would not be done.
            summary: obstacles.is_empty().then(|| plan.summary()),
            fields: Some(plan.fields().into_iter().map(service_file::change).collect()),
            errors: obstacles.into_iter().map(Into::into).collect(),
        })
    }
}

/// What the caller's role does not allow of what was done. A dry run is checked like the change itself.
async fn not_allowed(ctx: &MutationCtx<'_>) -> Result<Option<UserError>> {
    let account = ctx.changed().await?;
    let refused = permit::refused(Before::Committed(ctx.committed()), ctx.db(), ctx.caller(), &account).await?;
    Ok(refused.into_iter().next().map(|(_, why)| why))
}

/// The id of a row, as clients name it.
fn global_id(row: RowOf) -> Json {
    row.table.class().map_or(Json::Null, |class| id::Id { class, number: row.id }.text().into())
}
