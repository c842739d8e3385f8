//! The level of one service, outside a request of the API: for badges.

use futures_util::future::BoxFuture;

use super::evaluate;
use super::home::{self, Placed};
use super::question::Facts;
use super::standing;
use crate::entity::{ByAlias, service};
use crate::graphql::prelude::*;

/// The level of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelOf {
    /// Its name.
    pub name: String,
    /// Its position among the levels, from 0.
    pub place: usize,
    /// The number of levels.
    pub levels: usize,
}

/// The level of the service with this alias. `None` if there is no such service; no level if no check counts, or there
/// are no levels.
///
/// # Errors
/// The database fails.
pub fn level_of<'f>(db: &'f dyn ReadHandle, alias: &'f str) -> BoxFuture<'f, Result<Option<Option<LevelOf>>>> {
    Box::pin(async move {
        let Some(service) = service::Entity::by_alias(db, alias).await? else { return Ok(None) };
        let now = Timestamp::now();
        let is_asked = |one: &Placed| one.home.is_overall() && one.check.counts(now);
        let placed = home::place(db, evaluate::checks(db).await?).await?;
        let checks: Vec<Placed> = placed.into_iter().filter(is_asked).collect();
        if checks.is_empty() {
            return Ok(Some(None));
        }
        let only = [service.id];
        let levels = standing::in_order(db).await?;
        let prepared = evaluate::prepare(checks, Facts { db, only: Some(&only), now }).await?;
        let results = evaluate::results(db, &prepared, &only).await?.remove(&service.id).unwrap_or_default();
        let missed = results.iter().filter(|result| result.status != CheckStatus::Passed).filter_map(|result| {
            let level = prepared[result.check].check.level_id;
            levels.iter().find(|own| own.id == level).map(|own| own.index)
        });
        let place = standing::position(&levels, missed);
        Ok(Some(place.map(|place| LevelOf { name: levels[place].name.clone(), place, levels: levels.len() })))
    })
}
