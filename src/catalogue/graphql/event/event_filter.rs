//! What the events of a subscription must be about: its lists of teams, services, tiers and environments.

use std::collections::{HashMap, HashSet};

use sea_orm::sea_query::{ExprTrait, Query, UnionType};

use crate::entity::event_subscription::{Entity, NAMED, column};
use crate::entity::field_rule::Reference;
use crate::entity::{deploy, service, service_alias, team, team_alias, tier};
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
        let texts: Vec<&str> = given.iter().map(|entry| text::trim(entry)).collect();
        let known = self.known(db, &texts).await?;
        let mut problems = Problems::default();
        let (mut ids, mut named) = (Vec::with_capacity(texts.len()), HashSet::new());
        for text in texts {
            let by_id = || self.number(text).filter(|id| known.ids.contains(id));
            match known.by_name.get(text).copied().or_else(by_id) {
                Some(id) if named.insert(id) => ids.push(id),
                Some(_) => {}
                None => problems.push(self.missing(text)),
            }
        }
        problems.none()?;
        Ok(Some(ids))
    }

    /// The number in an id of such a row.
    fn number(self, text: &str) -> Option<i64> {
        match self {
            Self::Team => id::number::<team::Entity>(text),
            Self::Service => id::number::<service::Entity>(text),
            Self::Tier => id::number::<tier::Entity>(text),
        }
    }

    /// Whether a text is looked up as a name. Tiers are named by alias, even by one that looks like an id.
    fn may_be_name(self, text: &str) -> bool {
        matches!(self, Self::Tier) || id::decode(text).is_none()
    }

    /// What these texts name, as far as it exists.
    async fn known(self, db: &Transaction, texts: &[&str]) -> Result<Known, db::Error> {
        let ids: Vec<i64> = texts.iter().filter_map(|text| self.number(text)).collect();
        let names: Vec<&str> = texts.iter().copied().filter(|text| self.may_be_name(text)).collect();
        match self {
            Self::Team => {
                let by_name = (team_alias::Column::TeamId, team_alias::Column::Value);
                Known::read(db, team::Column::Id, &ids, by_name, &names).await
            }
            Self::Service => {
                let by_name = (service_alias::Column::ServiceId, service_alias::Column::Value);
                Known::read(db, service::Column::Id, &ids, by_name, &names).await
            }
            Self::Tier => {
                let by_name = (tier::Column::Id, tier::Column::Alias);
                Known::read(db, tier::Column::Id, &ids, by_name, &names).await
            }
        }
    }

    /// The error for a text that names nothing.
    fn missing(self, text: &str) -> UserError {
        let field = self.field();
        match self {
            Self::Team => id::missing::<team::Entity>(text, field),
            Self::Service => id::missing::<service::Entity>(text, field),
            Self::Tier if id::decode(text).is_some() => id::missing::<tier::Entity>(text, field),
            Self::Tier => id::missing_name(field, Reference::Tier, text),
        }
    }
}

/// Rows that a list names.
#[derive(Default)]
struct Known {
    /// The ids of those that it names by id.
    ids: HashSet<i64>,
    /// The ids of the others, by the name.
    by_name: HashMap<String, i64>,
}

impl Known {
    /// Finds rows by their ids and by their names, in one statement. `key` and `name` are the columns of a table of names.
    async fn read<I: ColumnTrait, N: ColumnTrait>(
        db: &Transaction,
        id: I,
        ids: &[i64],
        (key, name): (N, N),
        names: &[&str],
    ) -> Result<Self, db::Error> {
        let by_id = Query::select()
            .column(id)
            .expr(Expr::cust("NULL").cast_as("text"))
            .from(id.entity_name())
            .and_where(db::any(db, id, ids))
            .take();
        let mut by_name = Query::select()
            .columns([key, name])
            .from(name.entity_name())
            .and_where(db::any_text(db, name, names))
            .take();
        let query = match (ids.is_empty(), names.is_empty()) {
            (true, true) => return Ok(Self::default()),
            (true, false) => by_name,
            (false, true) => by_id,
            (false, false) => by_name.union(UnionType::All, by_id).take(),
        };
        let mut known = Self::default();
        let found = db.rows(&query, |row| Ok((row.get::<Option<String>>(1)?, row.get::<i64>(0)?))).await?;
        for (name, id) in found {
            match name {
                Some(name) => known.by_name.extend([(name, id)]),
                None => known.ids.extend([id]),
            }
        }
        Ok(known)
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
