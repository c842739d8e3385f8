//! Applies the documents of teams, systems and domains. They are not locked.

use std::collections::HashMap;

use sea_orm::sea_query::LockType;
use sea_orm::{
    ActiveModelBehavior, ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, ModelTrait, PrimaryKeyTrait,
    QueryFilter, Value,
};

use super::apply::{Change, key};
use super::document::{Document, Given, GroupDocument, Named, Subject, TeamDocument};
use super::entity_ref::EntityRef;
use super::lists;
use super::names::{self, Names};
use super::properties::Definitions;
use super::report::Problems;
use super::teams;
use super::yaml::{At, Spot};
use crate::db::{self, Read, RowOf, Table, Transaction, Write};
use crate::entity::alias::{self, AliasKind, AliasTable};
use crate::entity::field_rule::FieldRules;
use crate::entity::tag::Owner;
use crate::entity::{Timestamp, domain, domain_alias, row_lock, system, system_alias, team, team_alias};
use crate::error::quoted;

/// A table of groups.
trait Group:
    FieldRules
    + EntityTrait<
        Model: IntoActiveModel<Self::ActiveModel> + PartialEq,
        ActiveModel: Send,
        PrimaryKey: PrimaryKeyTrait<ValueType = i64>,
    > + Table
{
    type Aliases: AliasTable<Owner = i64>;
    /// Whether two rows cannot have the same name.
    const HAS_UNIQUE_NAMES: bool;
    const ID: Self::Column;
    const NAME: Self::Column;
    /// The column of the slug.
    const SLUG: Self::Column;
    const CREATED: Self::Column;
    const UPDATED: Self::Column;

    fn document(subject: &Subject) -> Option<&GroupDocument<Self::Column>>;
    fn tagged<'a>(id: i64) -> Owner<'a>;
}

macro_rules! group {
    ($module:ident, $aliases:ident, $noun:ident, $slug:ident, $unique:literal, $document:expr) => {
        impl Group for $module::Entity {
            type Aliases = $aliases::Entity;
            const HAS_UNIQUE_NAMES: bool = $unique;
            const ID: Self::Column = $module::Column::Id;
            const NAME: Self::Column = $module::Column::Name;
            const SLUG: Self::Column = $module::Column::$slug;
            const CREATED: Self::Column = $module::Column::CreatedAt;
            const UPDATED: Self::Column = $module::Column::UpdatedAt;

            fn document(subject: &Subject) -> Option<&GroupDocument<Self::Column>> {
                match subject {
                    Subject::$noun(document) => Some($document(document)),
                    _ => None,
                }
            }

            fn tagged<'a>(id: i64) -> Owner<'a> {
                Owner::$noun(id)
            }
        }
    };
}

group!(team, team_alias, Team, Alias, true, group_of);
group!(system, system_alias, System, Slug, false, std::convert::identity);
group!(domain, domain_alias, Domain, Slug, false, std::convert::identity);

fn group_of(document: &TeamDocument) -> &GroupDocument<team::Column> {
    &document.group
}

/// A document and its row.
struct Found<'a, G: Group> {
    number: usize,
    file: usize,
    document: &'a GroupDocument<G::Column>,
    before: G::Model,
    is_created: bool,
}

/// Creates and updates the teams, the domains and the systems of the documents.
pub(super) async fn apply(
    db: &Transaction,
    documents: &[Document],
    definitions: &Definitions,
    problems: &mut Problems,
) -> Result<Vec<Change>, db::Error> {
    let teams = find::<team::Entity>(db, documents, problems).await?;
    let domains = find::<domain::Entity>(db, documents, problems).await?;
    let systems = find::<system::Entity>(db, documents, problems).await?;
    let mut changes = write(db, teams, problems).await?;
    teams::apply(db, documents, definitions, &mut changes, problems).await?;
    changes.extend(write(db, domains, problems).await?);
    changes.extend(write(db, systems, problems).await?);
    Ok(changes)
}

/// Finds and locks the rows that the documents describe, and creates the missing ones with their names.
async fn find<'a, G: Group>(
    db: &Transaction,
    documents: &'a [Document],
    problems: &mut Problems,
) -> Result<Vec<Found<'a, G>>, db::Error> {
    let mut all = Vec::new();
    let mut seen: HashMap<i64, (usize, Spot)> = HashMap::new();
    let mut described: HashMap<&str, i64> = HashMap::new();
    let named = documents.iter().filter_map(|one| G::document(&one.subject)?.naming.entity.as_ref());
    let entities = names::rows_of::<G::Aliases>(db, &named.collect::<Vec<_>>()).await?;
    for (number, Document { file, subject, .. }) in documents.iter().enumerate() {
        let Some(document) = G::document(subject) else { continue };
        let twin = described.get(document.naming.found_by().value.as_str()).copied();
        let row = match twin.map_or(present::<G>(db, document, &entities).await?, Some) {
            Some(id) => Some(row_lock::row::<G>(db, id, LockType::Update).await?),
            None => None,
        };
        let is_created = row.is_none();
        let before = match row {
            Some(row) => row,
            None => create::<G>(db, &free_name::<G>(db, None, document).await?).await?,
        };
        let spot = document.naming.found_by().spot;
        if let Some((twin, at)) = seen.insert(number_of::<G>(&before), (*file, spot)) {
            let noun = G::Aliases::NOUN;
            let message = format!("this is the {noun} of another document, at {}", problems.place(twin, at));
            problems.fail(*file, spot, message);
            continue;
        }
        if is_created {
            // Other documents may refer to it.
            let kind = if document.naming.key.is_some() { AliasKind::Managed } else { AliasKind::Name };
            let id = number_of::<G>(&before);
            G::Aliases::claim_slug(db, &id, &text::<G>(&before, G::NAME)).await?;
            G::Aliases::claim(db, &id, &document.naming.found_by().value, kind).await?;
        }
        if document.naming.entity.is_some() {
            described.insert(&document.naming.found_by().value, number_of::<G>(&before));
        }
        all.push(Found { number, file: *file, document, before, is_created });
    }
    Ok(all)
}

/// Finds the row that a document describes: by its key or name as an alias, else by the same name, else by a listed alias.
/// `entities` has the rows of entities.
async fn present<G: Group>(
    db: &Transaction,
    document: &GroupDocument<G::Column>,
    entities: &HashMap<EntityRef, i64>,
) -> Result<Option<i64>, db::Error> {
    let naming = &document.naming;
    if let Some(Named { entity, .. }) = &naming.entity {
        let known = entities.get(entity).copied();
        return match known.is_none() && entity.is_in_default() && G::HAS_UNIQUE_NAMES {
            true => called::<G>(db, &naming.name.value, entities).await,
            false => Ok(known),
        };
    }
    if let Some(id) = lists::owner_of::<G::Aliases>(db, &naming.found_by().value).await? {
        return Ok(Some(id));
    }
    let name = &naming.name.value;
    if G::HAS_UNIQUE_NAMES {
        if let Some(row) = db.one(G::find().filter(G::NAME.eq(name))).await? {
            return Ok(Some(number_of::<G>(&row)));
        }
    } else if naming.key.is_none()
        && let Some(id) = lists::owner_of::<G::Aliases>(db, &alias::slug(name, G::Aliases::NOUN)).await?
        && let Some(row) = db.one(G::find_by_id(id)).await?
        && text::<G>(&row, G::NAME) == *name
    {
        return Ok(Some(id));
    }
    for alias in naming.aliases.iter().flatten() {
        if let Some(id) = lists::owner_of::<G::Aliases>(db, &alias.value).await? {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// Finds the row with a name that is no entity's.
async fn called<G: Group>(
    db: &Transaction,
    name: &str,
    entities: &HashMap<EntityRef, i64>,
) -> Result<Option<i64>, db::Error> {
    let Some(row) = db.one(G::find().filter(G::NAME.eq(name))).await? else { return Ok(None) };
    let id = number_of::<G>(&row);
    let is_taken =
        entities.values().any(|taken| *taken == id) || !names::entities::<G::Aliases>(db, &[id]).await?.is_empty();
    Ok((!is_taken).then_some(id))
}

/// The name for the row of a document: the document's, unless names are unique and another row has it. An entity is then
/// called by its own name.
async fn free_name<G: Group>(
    db: &Transaction,
    row: Option<i64>,
    document: &GroupDocument<G::Column>,
) -> Result<String, db::Error> {
    let name = &document.naming.name.value;
    let (Some(Named { entity, short }), true) = (&document.naming.entity, G::HAS_UNIQUE_NAMES) else {
        return Ok(name.clone());
    };
    for name in [name, &short.value] {
        match db.one(G::find().filter(G::NAME.eq(name))).await? {
            Some(other) if Some(number_of::<G>(&other)) != row => {}
            _ => return Ok(name.clone()),
        }
    }
    Ok(entity.to_string())
}

fn number_of<G: Group>(row: &G::Model) -> i64 {
    if let Value::BigInt(Some(id)) = row.get(G::ID) { id } else { 0 }
}

fn text<G: Group>(row: &G::Model, column: G::Column) -> String {
    if let Value::String(Some(text)) = row.get(column) { text.to_string() } else { String::new() }
}

async fn create<G: Group>(db: &Transaction, name: &str) -> Result<G::Model, db::Error> {
    let now = Timestamp::now();
    let mut row = G::ActiveModel::new();
    row.set(G::NAME, name.into());
    row.set(G::SLUG, "".into());
    row.set(G::CREATED, now.into());
    row.set(G::UPDATED, now.into());
    db.insert(row).await.map_err(lost_race)
}

/// Turns a unique violation into the error for a lost race, which is retried: another run has created the row, or renamed
/// one to its name, and the retry finds that row.
fn lost_race(error: db::Error) -> db::Error {
    match error.violation() {
        Some(db::Constraint::Unique(_)) => db::Error::LostRace,
        _ => error,
    }
}

/// Gives a row the aliases of its document, and of the name that it gets. Returns its slug, and whether an alias is new.
async fn claim_aliases<G: Group>(
    db: &Transaction,
    row: &G::Model,
    document: &GroupDocument<G::Column>,
    name: &At<String>,
    file: usize,
    problems: &mut Problems,
) -> Result<(String, bool), db::Error> {
    let (id, naming) = (number_of::<G>(row), &document.naming);
    let mut slug = text::<G>(row, G::SLUG);
    if slug.is_empty() || text::<G>(row, G::NAME) != name.value {
        slug = G::Aliases::claim_slug(db, &id, &name.value).await?;
    }
    let mut is_new = false;
    if lists::owner_of::<G::Aliases>(db, &name.value).await?.is_none() {
        G::Aliases::claim(db, &id, &name.value, AliasKind::Name).await?;
        is_new = true;
    }
    // The next run finds the row by this alias. Without the alias, that run would create a second row.
    if let Some(key) = &naming.key {
        is_new |= lists::add_alias::<G::Aliases>(db, &id, file, key, problems).await?;
        let short = naming.entity.iter().map(|named| &named.short);
        for short in short {
            is_new |= lists::add_alias::<G::Aliases>(db, &id, file, short, problems).await?;
        }
    } else if lists::owner_of::<G::Aliases>(db, &name.value).await? != Some(id) {
        let message = format!("another {} has the alias {}", G::Aliases::NOUN, quoted(&name.value));
        problems.add(file, name.spot, message);
    }
    for alias in naming.aliases.iter().flatten() {
        is_new |= lists::add_alias::<G::Aliases>(db, &id, file, alias, problems).await?;
    }
    Ok((slug, is_new))
}

/// Writes names, aliases, fields and tags of all rows.
async fn write<G: Group>(
    db: &Transaction,
    all: Vec<Found<'_, G>>,
    problems: &mut Problems,
) -> Result<Vec<Change>, db::Error> {
    let (mut changes, mut names) = (Vec::with_capacity(all.len()), Names::default());
    for Found { number, file, document, before, is_created } in all {
        // Destructured without `..`, so that no key of a document is forgotten.
        let GroupDocument { naming, fields, tags } = document;
        let id = number_of::<G>(&before);
        let mut is_changed = false;
        if let Some(aliases) = &naming.aliases {
            let kept = aliases.iter().chain([&naming.name]).chain(&naming.key).map(|alias| alias.value.as_str());
            is_changed |= lists::remove_aliases::<G::Aliases>(db, id, kept).await?;
        }
        let name = naming.name.with(free_name::<G>(db, Some(id), document).await?);
        if name.value != naming.name.value {
            let (wanted, noun) = (quoted(&naming.name.value), G::Aliases::NOUN);
            let message = format!("another {noun} is called {wanted}: this one is called {}", quoted(&name.value));
            problems.leave(file, name.spot, message);
        }
        let (slug, has_new_alias) = claim_aliases::<G>(db, &before, document, &name, file, problems).await?;
        is_changed |= has_new_alias;
        let mut after = before.clone();
        if G::HAS_UNIQUE_NAMES && text::<G>(&before, G::NAME) != name.value {
            let taken = db.one(G::find().filter(G::NAME.eq(&name.value))).await?;
            if taken.is_some() {
                let message = format!("another {} has the name {}", G::Aliases::NOUN, quoted(&name.value));
                problems.fail(file, name.spot, message);
                continue;
            }
        }
        after.set(G::NAME, name.value.as_str().into());
        after.set(G::SLUG, slug.as_str().into());
        for Given { rule, said } in fields {
            match rule.value.reference() {
                Some(to) => {
                    if let Some(found) = key(db, &mut names, to, file, said, problems).await? {
                        after.set(rule.column, found.into());
                    }
                }
                None => after.set(rule.column, said.value.clone()),
            }
        }
        if after != before {
            is_changed = true;
            touch::<G>(&before, &mut after, is_created);
            db.update(after.into_active_model().reset_all()).await.map_err(lost_race)?;
        }
        if let Some(wanted) = tags {
            is_changed |= lists::tags(db, G::tagged(id), wanted).await?;
        }
        let row = RowOf::new::<G>(id);
        changes.push(Change { number, row, name: slug, is_created, is_changed, is_behind: false });
    }
    Ok(changes)
}

fn touch<G: Group>(before: &G::Model, after: &mut G::Model, is_created: bool) {
    if let (Value::BigInt(Some(micros)), false) = (before.get(G::UPDATED), is_created) {
        after.set(G::UPDATED, Timestamp::now_after(Timestamp::from_micros(micros)).into());
    }
}
