//! Finds the rows that documents name: by alias, by the reference of an entity, and else by a name that is written a
//! little differently.

use std::collections::{HashMap, HashSet};

use sea_orm::{EntityTrait, QueryFilter, QuerySelect, QueryTrait};

use super::document::Named;
use super::entity_ref::EntityRef;
use crate::db::{self, Read, ReadHandle};
use crate::entity::alias::{AliasTable, slug};
use crate::entity::field_rule::Reference;
use crate::entity::{
    component_type, domain, domain_alias, lifecycle, service_alias, system, system_alias, team, team_alias, tier,
};

/// What a name leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    One(i64),
    /// Several rows, which have names that differ only a little.
    Several,
    Nothing,
}

/// The kind of an alias that somebody gave, as the database has it.
const MANAGED: &str = "managed";

/// Returns the rows that entities describe already. A row has the whole reference of its entity as an alias. A row that is
/// no entity's yet belongs to the one whose short alias it has.
pub(super) async fn rows_of<T: AliasTable>(
    db: &dyn ReadHandle,
    all: &[&Named],
) -> Result<HashMap<EntityRef, i64>, db::Error> {
    if all.is_empty() {
        return Ok(HashMap::new());
    }
    let shorts = |named: &Named| [named.short.value.clone(), named.entity.short()];
    let wanted: Vec<String> =
        all.iter().flat_map(|named| shorts(named).into_iter().chain([named.entity.to_string()])).collect();
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    let known = aliases::<T>(db, db::any_text(db, T::VALUE, &wanted)).await?;
    let known: HashMap<String, (i64, bool)> =
        known.into_iter().map(|(owner, alias, kind)| (alias, (owner, kind == MANAGED))).collect();
    let (mut found, mut taken) = (HashMap::with_capacity(all.len()), HashSet::new());
    for named in all {
        if let Some((owner, _)) = known.get(&named.entity.to_string()) {
            found.insert(named.entity.clone(), *owner);
            taken.insert(*owner);
        }
    }
    let rest: Vec<&Named> = all.iter().copied().filter(|named| !found.contains_key(&named.entity)).collect();
    let candidates = rest.iter().flat_map(|named| shorts(named)).filter_map(|alias| known.get(&alias));
    let candidates: Vec<i64> = candidates.map(|(owner, _)| *owner).collect();
    taken.extend(entities::<T>(db, &candidates).await?);
    // What somebody gave a row counts for more than what follows from its name.
    for is_given in [true, false] {
        for named in &rest {
            let mut rows = shorts(named).into_iter().filter_map(|alias| known.get(&alias).copied());
            let row = rows.find(|(owner, given)| *given == is_given && !taken.contains(owner));
            if let (Some((owner, _)), false) = (row, found.contains_key(&named.entity)) {
                found.insert(named.entity.clone(), owner);
                taken.insert(owner);
            }
        }
    }
    Ok(found)
}

/// Those of the rows that are entities: a whole reference is one of their aliases.
pub(super) async fn entities<T: AliasTable>(db: &dyn ReadHandle, rows: &[i64]) -> Result<HashSet<i64>, db::Error> {
    if rows.is_empty() {
        return Ok(HashSet::new());
    }
    let own = aliases::<T>(db, db::any(db, T::OWNER, rows)).await?;
    Ok(own.into_iter().filter(|(_, alias, _)| is_entity_of::<T>(alias)).map(|(owner, ..)| owner).collect())
}

/// Whether an alias is the whole reference of an entity that a row of this table can be.
fn is_entity_of<T: AliasTable>(alias: &str) -> bool {
    EntityRef::parse_full(alias).is_some_and(|entity| entity.kind == kind_of(T::NOUN))
}

/// Backstage's kind for a noun.
fn kind_of(noun: &str) -> &str {
    match noun {
        "service" => "component",
        "team" => "group",
        noun => noun,
    }
}

/// Returns the owner, the text and the kind of the aliases that a condition selects.
async fn aliases<T: AliasTable>(
    db: &dyn ReadHandle,
    condition: impl sea_orm::sea_query::IntoCondition,
) -> Result<Vec<(i64, String, String)>, db::Error> {
    let query = T::find().select_only().column(T::OWNER).column(T::VALUE).column(T::KIND).filter(condition);
    db.rows(query.as_query(), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).await
}

/// Finds a service by an alias, or by the reference of a component.
pub(super) async fn service(db: &dyn ReadHandle, name: &str) -> Result<Option<i64>, db::Error> {
    type Aliases = service_alias::Entity;
    let entity = EntityRef::parse_full(name).filter(|entity| entity.kind == kind_of(Aliases::NOUN));
    let short = entity.as_ref().map_or_else(|| name.to_lowercase(), EntityRef::short);
    let is_namespaced = entity.as_ref().is_some_and(|entity| !entity.is_in_default());
    let slugged = (!is_namespaced).then(|| slug(&short, ""));
    let tried = [Some(name.to_owned()), Some(short), slugged];
    let tried: Vec<String> = tried.into_iter().flatten().filter(|alias| !alias.is_empty()).collect();
    let texts: Vec<&str> = tried.iter().map(String::as_str).collect();
    let known = aliases::<Aliases>(db, db::any_text(db, Aliases::VALUE, &texts)).await?;
    let owner = |alias: &String| known.iter().find(|(_, known, _)| known == alias).map(|(owner, ..)| *owner);
    if let Some(exact) = tried.first().and_then(owner) {
        return Ok(Some(exact));
    }
    let rows: Vec<i64> = tried.iter().filter_map(owner).collect();
    let others = match entity {
        Some(_) => entities::<Aliases>(db, &rows).await?,
        None => HashSet::new(),
    };
    Ok(rows.into_iter().find(|row| !others.contains(row)))
}

/// What the names of a table lead to, each written alike. Read once, when a name is no alias.
#[derive(Debug, Default)]
struct Index {
    lower: HashMap<String, HashSet<i64>>,
    slugs: HashMap<String, HashSet<i64>>,
    /// The rows that are entities.
    entities: HashSet<i64>,
}

impl Index {
    fn add(&mut self, row: i64, name: &str) {
        self.lower.entry(name.to_lowercase()).or_default().insert(row);
        self.slugs.entry(slug(name, "")).or_default().insert(row);
    }

    fn find(&self, name: &str, entity: Option<&EntityRef>) -> Found {
        let name = entity.map_or_else(|| name.to_lowercase(), EntityRef::short);
        let slug = slug(&name, "");
        // In another namespace than the default, a name that is only alike is another's.
        let slugs = match entity.is_some_and(|entity| !entity.is_in_default()) || slug.is_empty() {
            true => None,
            false => self.slugs.get(&slug),
        };
        for rows in [self.lower.get(&name), slugs].into_iter().flatten() {
            let is_free = |row: &&i64| entity.is_none() || !self.entities.contains(*row);
            let mut rows = rows.iter().filter(is_free);
            match (rows.next(), rows.next()) {
                (Some(row), None) => return Found::One(*row),
                (Some(_), Some(_)) => return Found::Several,
                _ => {}
            }
        }
        Found::Nothing
    }
}

/// Finds the rows that fields refer to.
#[derive(Debug, Default)]
pub(super) struct Names {
    found: HashMap<(&'static str, String), Found>,
    indexes: HashMap<&'static str, Index>,
}

impl Names {
    /// Finds the row that a name means: by alias, else by a name that is alike.
    pub(super) async fn find(&mut self, db: &dyn ReadHandle, to: Reference, name: &str) -> Result<Found, db::Error> {
        let table = table(to);
        if let Some(found) = self.found.get(&(table, name.to_owned())) {
            return Ok(*found);
        }
        let found = match to.key(db, name).await? {
            Some(row) => Found::One(row),
            None if matches!(to, Reference::User) => Found::Nothing,
            None => {
                if !self.indexes.contains_key(table) {
                    self.indexes.insert(table, index(db, to).await?);
                }
                let entity = EntityRef::parse_full(name).filter(|entity| entity.kind == kind_of(table));
                self.indexes.get(table).map_or(Found::Nothing, |index| index.find(name, entity.as_ref()))
            }
        };
        self.found.insert((table, name.to_owned()), found);
        Ok(found)
    }
}

fn table(to: Reference) -> &'static str {
    match to {
        Reference::Team => "team",
        Reference::System => "system",
        Reference::Domain => "domain",
        Reference::Tier => "tier",
        Reference::Lifecycle => "lifecycle",
        Reference::ComponentType => "component type",
        Reference::User => "user",
    }
}

/// Reads the names of all rows of a table.
async fn index(db: &dyn ReadHandle, to: Reference) -> Result<Index, db::Error> {
    match to {
        Reference::Team => index_of::<team_alias::Entity, team::Entity>(db, team::Column::Id, team::Column::Name).await,
        Reference::System => {
            index_of::<system_alias::Entity, system::Entity>(db, system::Column::Id, system::Column::Name).await
        }
        Reference::Domain => {
            index_of::<domain_alias::Entity, domain::Entity>(db, domain::Column::Id, domain::Column::Name).await
        }
        Reference::Tier => {
            let rows = db.all(tier::Entity::find()).await?;
            Ok(words(rows.into_iter().map(|row| (row.id, [row.alias, row.name]))))
        }
        Reference::Lifecycle => {
            let rows = db.all(lifecycle::Entity::find()).await?;
            Ok(words(rows.into_iter().map(|row| (row.id, [row.alias, row.name]))))
        }
        Reference::ComponentType => {
            let rows = db.all(component_type::Entity::find()).await?;
            Ok(words(rows.into_iter().map(|row| (row.id, [row.alias, row.name]))))
        }
        Reference::User => Ok(Index::default()),
    }
}

async fn index_of<T: AliasTable, E: EntityTrait>(
    db: &dyn ReadHandle,
    id: E::Column,
    name: E::Column,
) -> Result<Index, db::Error> {
    let mut index = Index::default();
    for (row, alias, _) in aliases::<T>(db, sea_orm::Condition::all()).await? {
        if is_entity_of::<T>(&alias) {
            index.entities.insert(row);
        }
        index.add(row, &alias);
    }
    // A name that another had first is no alias.
    let names = E::find().select_only().column(id).column(name);
    let names: Vec<(i64, String)> = db.rows(names.as_query(), |row| Ok((row.get(0)?, row.get(1)?))).await?;
    names.iter().for_each(|(row, name)| index.add(*row, name));
    Ok(index)
}

fn words(rows: impl Iterator<Item = (i64, [String; 2])>) -> Index {
    let mut index = Index::default();
    rows.for_each(|(row, names)| names.iter().for_each(|name| index.add(row, name)));
    index
}
