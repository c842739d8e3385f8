//! Reads and writes the relationships of services that have a relationship definition. The system of a service and its
//! dependencies have keys of their own.
//!
//! A file removes only the relationships that a file wrote.

use std::collections::{HashMap, HashSet};

use sea_orm::sea_query::LockType;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, QueryTrait, Set};

use super::document::{Document, Relationship, Subject};
use super::reader::{Entries, Reader};
use super::report::Problems;
use super::yaml::{At, Node, Spot};
use crate::db::{self, Read, Transaction, Write};
use crate::entity::relationship::{self, Column, End, Entity};
use crate::entity::relationship_definition::{self, Model as Definition};
use crate::entity::{BY_FILE, delete_by_ids, relationship_rule, text};
use crate::error::quoted;

/// The type of the relationships that have a definition: a word of the SDL's `RelationshipTypeEnum`.
const RELATED_TO: &str = "related_to";

impl Reader<'_> {
    /// Reads relationships: a mapping of definitions' aliases to lists of targets. Null counts as the empty mapping.
    pub(super) fn relationships(&mut self, entries: &Entries<'_>) -> Option<Vec<Relationship>> {
        let node = entries.get("relationships")?;
        let mut found = Vec::new();
        if node.value == Node::Null {
            return Some(found);
        }
        let mut number = 0;
        for (key, value) in self.mapping("relationships", node)? {
            let Some(definition) = self.definition(&key) else { continue };
            let items = match &value.value {
                Node::Null => &[],
                Node::List(items) => items.as_slice(),
                _ => {
                    self.wrong_kind(&definition.value, "a list", value);
                    continue;
                }
            };
            number += items.len();
            for item in items.iter().take(text::ENTRIES.saturating_sub(found.len())) {
                found.extend(self.target(&definition, item));
            }
        }
        self.check_number(node.spot, "relationships", number, text::ENTRIES);
        Some(found)
    }

    /// Reads a target: an alias, or an alias with the kind of object that has it.
    fn target(&mut self, definition: &At<String>, node: &At<Node>) -> Option<Relationship> {
        let check = |alias: &str| text::required("alias", alias, text::SHORT);
        let definition = definition.clone();
        if let Node::Text(alias) = &node.value {
            let target = node.with(self.take(node.spot, check(alias))?);
            return Some(Relationship { definition, target, kind: None });
        }
        let entries = self.entries("a relationship", node, &["alias", "type"])?;
        let Some(named) = entries.get("alias") else {
            self.wrong(node.spot, "a relationship needs an alias");
            return None;
        };
        let alias = self.string("alias", named)?;
        let target = named.with(self.take(named.spot, check(alias))?);
        let kind = match entries.get("type") {
            None | Some(At { value: Node::Null, .. }) => None,
            Some(kind) => Some(self.word("type", kind, relationship_rule::KINDS)?),
        };
        Some(Relationship { definition, target, kind })
    }
}

/// The definitions that documents name, by alias.
pub(super) type Definitions = HashMap<String, Definition>;

/// Finds and locks the definitions of all relationships of the documents.
pub(super) async fn definitions(
    db: &Transaction,
    documents: &[Document],
    problems: &mut Problems,
) -> Result<Definitions, db::Error> {
    let mut missing: HashSet<&str> = HashSet::new();
    let mut found = Definitions::new();
    for Document { file, subject, .. } in documents {
        let Subject::Service(document) = subject else { continue };
        for Relationship { definition: At { value: alias, spot }, .. } in document.relationships.iter().flatten() {
            use relationship_definition::{Column, Entity};
            if found.contains_key(alias) {
                continue;
            }
            let definition = match missing.contains(alias.as_str()) {
                true => None,
                // Locked, so that its limits do not change while relationships are counted.
                false => db.one(Entity::find().filter(Column::Alias.eq(alias)).lock(LockType::Share)).await?,
            };
            match definition {
                Some(definition) => drop(found.insert(alias.clone(), definition)),
                None => {
                    missing.insert(alias);
                    let message = format!("no relationship definition has the alias {}", quoted(alias));
                    problems.add(*file, *spot, message);
                }
            }
        }
    }
    Ok(found)
}

/// Replaces the relationships that files gave a service. Skips a missing target with a note: the services of two
/// repositories may relate to each other, and one repository is applied first. Returns whether anything changed.
pub(super) async fn relate(
    db: &Transaction,
    service: i64,
    file: usize,
    wanted: &[Relationship],
    definitions: &Definitions,
    problems: &mut Problems,
) -> Result<bool, db::Error> {
    let own = Entity::find().filter(Column::SourceServiceId.eq(service)).filter(Column::Type.eq(RELATED_TO));
    let present = db.all(own.filter(Column::RelationshipDefinitionId.is_not_null())).await?;
    let key = |row: &relationship::Model| (row.relationship_definition_id, row.target().map(End::named));
    let ids: HashMap<_, i64> = present.iter().map(|row| (key(row), row.id)).collect();
    let (mut seen, mut kept) = (HashSet::with_capacity(wanted.len()), HashSet::new());
    let mut new = Vec::new();
    for Relationship { definition: named, target: At { value: alias, spot }, kind } in wanted {
        // A missing definition was reported when the definitions were read.
        let Some(definition) = definitions.get(&named.value) else { continue };
        let Some(target) = relationship_rule::end(db, kind.as_deref(), alias).await? else {
            let message = format!("the relationship is not taken: nothing has the alias {}", quoted(alias));
            problems.leave(file, *spot, message);
            continue;
        };
        if target == End::Service(service) || !seen.insert((definition.id, target.named())) {
            let is_own = target == End::Service(service);
            let what = if is_own { "a service cannot be related to itself" } else { "this relationship occurs twice" };
            problems.add(file, *spot, what);
            continue;
        }
        match ids.get(&(Some(definition.id), Some(target.named()))) {
            Some(id) => {
                kept.insert(*id);
            }
            None => new.push((definition, target, *spot)),
        }
    }
    let gone = present.iter().filter(|row| row.written_by.as_deref() == Some(BY_FILE) && !kept.contains(&row.id));
    let gone: Vec<i64> = gone.map(|row| row.id).collect();
    // Delete first, because a definition limits how many relationships there are.
    let is_changed = delete_by_ids::<Entity>(db, Column::Id, &gone).await? || !new.is_empty();
    if !new.is_empty() {
        add(db, service, file, new, problems).await?;
    }
    Ok(is_changed)
}

/// Adds relationships of a service, each with its definition and the place that it has in the file.
async fn add(
    db: &Transaction,
    service: i64,
    file: usize,
    new: Vec<(&Definition, End, Spot)>,
    problems: &mut Problems,
) -> Result<(), db::Error> {
    let source = End::Service(service);
    // The service is locked, so nobody else adds relationships in the meantime.
    let mut numbers = numbers(db, service).await?;
    for (definition, target, spot) in new {
        if numbers.values().sum::<u64>() >= text::ENTRIES as u64 {
            let message = format!("no more relationships can be added: a service has at most {}", text::ENTRIES);
            problems.add(file, spot, message);
            break;
        }
        let number = numbers.entry(Some(definition.id)).or_default();
        let allowed = match relationship_rule::check_ends(db, definition, source, target).await {
            Ok(()) => relationship_rule::check_number(definition, *number),
            refused => refused,
        };
        if let Err(error) = allowed {
            problems.take(file, spot, error)?;
            continue;
        }
        let row = relationship::new(RELATED_TO, Some(definition.id), source, target);
        let row = relationship::ActiveModel { written_by: Set(Some(BY_FILE.to_owned())), ..row };
        db.insert(row).await?;
        *number += 1;
    }
    Ok(())
}

/// Counts the relationships of a service, by definition.
async fn numbers(db: &Transaction, service: i64) -> Result<HashMap<Option<i64>, u64>, db::Error> {
    let own = Entity::find().filter(Column::SourceServiceId.eq(service)).select_only();
    let own = own.column(Column::RelationshipDefinitionId).column_as(Column::Id.count(), "number");
    let own = own.group_by(Column::RelationshipDefinitionId);
    let own: Vec<(Option<i64>, i64)> = db.rows(own.as_query(), |row| Ok((row.get(0)?, row.get(1)?))).await?;
    Ok(own.into_iter().map(|(definition, number)| (definition, u64::try_from(number).unwrap_or_default())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_targets_are_written_as_definitions_write_them() {
        assert!(relationship_rule::KINDS.iter().all(|kind| !kind.contains(char::is_uppercase)));
        let ends = [End::Service(1), End::System(1), End::Domain(1), End::Team(1), End::InfrastructureResource(1)];
        let letters = |text: &str| text.replace('_', "").to_lowercase();
        assert!(ends.iter().zip(relationship_rule::KINDS).all(|(end, kind)| letters(end.named().0) == letters(kind)));
    }
}
