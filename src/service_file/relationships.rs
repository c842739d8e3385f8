//! Reads and writes the relationships of services: those of relationship definitions. A system, and what a service
//! depends on, have keys of their own.
//!
//! A file removes only the relationships that a file wrote.

use std::collections::{HashMap, HashSet};

use sea_orm::sea_query::LockType;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, DatabaseTransaction, DbErr, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect,
    Set,
};

use super::document::{Document, Relationship, Subject};
use super::reader::{Entries, Reader};
use super::report::Problems;
use super::yaml::{At, Node};
use crate::db;
use crate::entity::relationship::{self, Column, End, Entity};
use crate::entity::relationship_definition::{self, Model as Definition};
use crate::entity::{BY_FILE, relationship_rule, text};
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

    /// A target: an alias, or an alias with the type of what has it.
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
    db: &DatabaseTransaction,
    documents: &[Document],
    problems: &mut Problems,
) -> Result<Definitions, DbErr> {
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
                // So that its limits stay what they are while they are counted.
                false => Entity::find().filter(Column::Alias.eq(alias)).lock(LockType::Share).one(db).await?,
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

/// Relates a service to the targets. A target that is not there is left out and noted: two repositories may relate
/// their services to one another, and one of them comes first. Returns whether anything changed.
pub(super) async fn relate(
    db: &DatabaseTransaction,
    service: i64,
    file: usize,
    wanted: &[Relationship],
    definitions: &Definitions,
    problems: &mut Problems,
) -> Result<bool, DbErr> {
    let own = Entity::find().filter(Column::SourceServiceId.eq(service)).filter(Column::Type.eq(RELATED_TO));
    let mut present = own.filter(Column::RelationshipDefinitionId.is_not_null()).all(db).await?;
    let mut seen = HashSet::with_capacity(wanted.len());
    let mut new = Vec::new();
    for Relationship { definition: named, target: At { value: alias, spot }, kind } in wanted {
        // One that is not there was reported.
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
        let is_meant = |row: &relationship::Model| {
            row.relationship_definition_id == Some(definition.id) && row.target() == Some(target)
        };
        match present.iter().position(is_meant) {
            Some(place) => drop(present.swap_remove(place)),
            None => new.push((definition, target, *spot)),
        }
    }
    let gone: Vec<i64> =
        present.iter().filter(|row| row.written_by.as_deref() == Some(BY_FILE)).map(|row| row.id).collect();
    // First, because a definition limits how many there are.
    if !gone.is_empty() {
        Entity::delete_many().filter(db::any(db, Column::Id, &gone)).exec(db).await?;
    }
    let is_changed = !gone.is_empty() || !new.is_empty();
    for (definition, target, spot) in new {
        let source = End::Service(service);
        if let Err(error) = relationship_rule::check(db, definition, source, target).await {
            problems.take(file, spot, error)?;
            continue;
        }
        let row = relationship::new(RELATED_TO, Some(definition.id), source, target);
        let row = relationship::ActiveModel { written_by: Set(Some(BY_FILE.to_owned())), ..row };
        row.insert(db).await?;
        let number = Entity::find().filter(Column::SourceServiceId.eq(service)).count(db).await?;
        if number > text::ENTRIES as u64 {
            let message = format!("no more relationships can be added: a service has at most {}", text::ENTRIES);
            problems.add(file, spot, message);
            break;
        }
    }
    Ok(is_changed)
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
