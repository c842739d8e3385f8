//! What the events of a subscription must be about: its lists of teams, services, tiers and environments.

use std::collections::HashSet;

use crate::entity::event_subscription::{Entity, NAMED, column};
use crate::entity::field_rule::Reference;
use crate::entity::{deploy, service, team, tier};
use crate::graphql::field::draft;
use crate::graphql::prelude::*;

/// The lists that an input gives. Absent leaves one unchanged; null or empty is all.
pub(in crate::graphql) struct Lists {
    pub(in crate::graphql) team_ids: MaybeUndefined<Vec<String>>,
    pub(in crate::graphql) service_ids: MaybeUndefined<Vec<String>>,
    pub(in crate::graphql) tier_aliases: MaybeUndefined<Vec<String>>,
    pub(in crate::graphql) environments: MaybeUndefined<Vec<String>>,
}

impl Lists {
    /// Sets the columns of a subscription, and its owner: the only team that it names.
    pub(in crate::graphql) async fn set(self, db: &Transaction, draft: &mut Draft<Entity>) -> Result<()> {
        let teams = Noun::Team.ids(db, self.team_ids).await;
        if let Some(teams) = draft.problems.take_any(teams)?.flatten() {
            let owner = match teams[..] {
                [team] => Some(team),
                _ => None,
            };
            draft.row.team_id = Set(owner);
            draft.row.team_ids = Set(if owner.is_none() { column(teams) } else { None });
        }
        let services = Noun::Service.ids(db, self.service_ids).await;
        if let Some(services) = draft.problems.take_any(services)?.flatten() {
            draft.row.service_ids = Set(column(services));
        }
        let tiers = Noun::Tier.ids(db, self.tier_aliases).await;
        if let Some(tiers) = draft.problems.take_any(tiers)?.flatten() {
            draft.row.tier_ids = Set(column(tiers));
        }
        if let Some(environments) = draft.problems.take(environments(self.environments)).flatten() {
            draft.row.environments = Set(column(environments));
        }
        Ok(())
    }
}

/// What a list names by ids.
#[derive(Clone, Copy)]
enum Noun {
    Team,
    Service,
    Tier,
}

impl Noun {
    /// The field of the inputs.
    fn field(self) -> &'static str {
        match self {
            Self::Team => "teamIds",
            Self::Service => "serviceIds",
            Self::Tier => "tierAliases",
        }
    }

    /// The ids of what a list names, each once. `None` if it is not given.
    async fn ids(self, db: &Transaction, given: MaybeUndefined<Vec<String>>) -> Result<Option<Vec<i64>>> {
        let Some(given) = entries(self.field(), given)? else { return Ok(None) };
        let mut problems = Problems::default();
        let (mut ids, mut known) = (Vec::with_capacity(given.len()), HashSet::new());
        for entry in &given {
            if let Some(id) = problems.take_any(self.id(db, text::trim(entry)).await)?
                && known.insert(id)
            {
                ids.push(id);
            }
        }
        problems.none()?;
        Ok(Some(ids))
    }

    async fn id(self, db: &Transaction, given: &str) -> Result<i64> {
        let field = self.field();
        match self {
            Self::Team => Ok(id::require::<team::Entity>(db, given, field).await?.id),
            Self::Service => Ok(id::require::<service::Entity>(db, given, field).await?.id),
            Self::Tier => draft::by_name(db, given, field, Reference::Tier).await,
        }
    }
}

/// The entries of a list. `None` if it is not given.
fn entries(field: &'static str, given: MaybeUndefined<Vec<String>>) -> Result<Option<Vec<String>>, UserError> {
    let given = match given {
        MaybeUndefined::Undefined => return Ok(None),
        MaybeUndefined::Null => Vec::new(),
        MaybeUndefined::Value(given) => given,
    };
    if given.len() > NAMED {
        let message = format!("{field} has {} entries; at most {NAMED} are allowed", given.len());
        return Err(UserError::new(field, message));
    }
    Ok(Some(given))
}

/// The environments that a client names, each once.
fn environments(given: MaybeUndefined<Vec<String>>) -> Result<Option<Vec<String>>, UserError> {
    const FIELD: &str = "environments";
    let Some(given) = entries(FIELD, given)? else { return Ok(None) };
    let (mut named, mut known) = (Vec::with_capacity(given.len()), HashSet::new());
    for entry in &given {
        let environment = text::required(FIELD, entry, text::SHORT)?;
        if known.insert(deploy::environment_key(&environment)) {
            named.push(environment);
        }
    }
    Ok(Some(named))
}

/// What each subscription names, without what was deleted.
pub(in crate::graphql) async fn named<E: ByIds>(
    ctx: &Ctx<'_>,
    lists: impl Iterator<Item = Option<Vec<i64>>>,
) -> Result<Vec<Vec<E::Model>>> {
    let found = found::<E>(ctx, lists.map(Option::unwrap_or_default).collect()).await?;
    Ok(found.into_iter().map(|rows| rows.into_iter().flatten().collect()).collect())
}

/// How much of what each subscription names was deleted.
pub(in crate::graphql) async fn deleted(
    ctx: &Ctx<'_>,
    rows: &[&EventSubscription],
) -> Result<Vec<EventSubscriptionDeleted>> {
    let teams = gone::<team::Entity>(ctx, rows.iter().map(|row| row.teams())).await?;
    let services = gone::<service::Entity>(ctx, rows.iter().map(|row| row.services())).await?;
    let tiers = gone::<tier::Entity>(ctx, rows.iter().map(|row| row.tiers())).await?;
    let counts = teams.into_iter().zip(services).zip(tiers);
    let deleted = counts.map(|((team_count, service_count), tier_count)| EventSubscriptionDeleted {
        team_count,
        service_count,
        tier_count,
    });
    Ok(deleted.collect())
}

/// How much of each list is no longer there.
async fn gone<E: ByIds>(ctx: &Ctx<'_>, lists: impl Iterator<Item = Option<Vec<i64>>>) -> Result<Vec<i32>> {
    let found = found::<E>(ctx, lists.map(Option::unwrap_or_default).collect()).await?;
    let count = |rows: Vec<Option<E::Model>>| rows.iter().filter(|row| row.is_none()).count();
    Ok(found.into_iter().map(count).map(|count| i32::try_from(count).unwrap_or(i32::MAX)).collect())
}

/// The rows of each list; `None` for those that were deleted.
async fn found<E: ByIds>(ctx: &Ctx<'_>, lists: Vec<Vec<i64>>) -> Result<Vec<Vec<Option<E::Model>>>> {
    let mut found = E::by_ids(ctx.db(), lists.iter().flatten().copied().map(Some)).await?.into_iter();
    Ok(lists.iter().map(|list| found.by_ref().take(list.len()).collect()).collect())
}
