//! Reads and writes the properties of services and teams: values of property definitions.
//!
//! A file removes only the values that a file wrote. A value that somebody else wrote stays, unless the file has another
//! value for its definition, or null.

use std::collections::{BTreeMap, HashMap, HashSet};

use data_encoding::HEXLOWER;
use sea_orm::sea_query::LockType;
use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, QueryFilter, QuerySelect, Set};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use super::document::{Document, Property};
use super::reader::{Entries, Reader};
use super::report::Problems;
use super::yaml::{At, Node, Spot};
use crate::db::{self, Read, ReadHandle, Transaction, Write};
use crate::entity::property::{ActiveModel, Column, Entity, set_value};
use crate::entity::property_definition::{self, Model as Definition};
use crate::entity::{BY_FILE, delete_by_ids, text};
use crate::error::quoted;
use crate::json_schema::{self, Allowance, CHECKING, Fault, JsonSchema};

impl Reader<'_> {
    /// Reads properties: a mapping of definitions' aliases to values. Null counts as the empty mapping.
    pub(super) fn properties(&mut self, entries: &Entries<'_>) -> Option<Vec<Property>> {
        let node = entries.get("properties")?;
        if node.value == Node::Null {
            return Some(Vec::new());
        }
        let pairs = self.mapping("properties", node)?;
        self.check_number(node.spot, "properties", pairs.len(), text::ENTRIES);
        let pairs = pairs.into_iter().take(text::ENTRIES);
        Some(pairs.filter_map(|(key, value)| self.property(&key, value)).collect())
    }

    fn property(&mut self, key: &At<&str>, node: &At<Node>) -> Option<Property> {
        let alias = self.definition(key)?;
        let (value, bytes) = match node.value {
            Node::Null => (None, 0),
            _ => {
                let value = self.json(node)?;
                let text = self.take(node.spot, json_schema::write_value("the value", &value))?;
                (Some(value), text.len())
            }
        };
        Some(Property { definition: alias, said: node.clone(), value, bytes })
    }

    /// The alias of a definition.
    pub(super) fn definition(&mut self, key: &At<&str>) -> Option<At<String>> {
        let alias = self.take(key.spot, text::required("the alias of a definition", key.value, text::SHORT))?;
        Some(key.with(alias))
    }

    /// Converts a value to JSON, and reports keys that are not texts or occur twice.
    fn json(&mut self, node: &At<Node>) -> Option<Json> {
        Some(match &node.value {
            Node::Null => Json::Null,
            Node::Flag(flag) => (*flag).into(),
            Node::Number(number, _) => number.clone().into(),
            Node::Text(text) => text.as_str().into(),
            Node::List(items) => items.iter().map(|item| self.json(item)).collect::<Option<Vec<_>>>()?.into(),
            Node::Mapping(pairs) => {
                let entries = self.mapping("a value", node)?;
                if entries.len() < pairs.len() {
                    return None;
                }
                let fields = entries.into_iter().map(|(key, value)| Some((key.value.to_owned(), self.json(value)?)));
                Json::Object(fields.collect::<Option<_>>()?)
            }
        })
    }
}

/// The definitions that documents name, and which values they refuse.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    /// By alias. Instead of its schema, each has the schema's hash.
    known: HashMap<String, Definition>,
    /// The places of the values that are not taken.
    refused: HashSet<(usize, Spot)>,
}

impl Definitions {
    /// The ids of the definitions.
    pub(super) fn ids(&self) -> impl Iterator<Item = i64> + '_ {
        self.known.values().map(|definition| definition.id)
    }
}

/// Finds the definitions of all properties of the documents, and checks the values against their schemas. Schemas may be
/// large, so only one is kept at a time. Ends once the checks take too long.
pub(super) async fn check(
    db: &dyn ReadHandle,
    documents: &[Document],
    problems: &mut Problems,
) -> Result<Definitions, db::Error> {
    let mut named: BTreeMap<&str, Vec<(usize, &Property)>> = BTreeMap::new();
    for document in documents {
        for property in document.properties() {
            named.entry(&property.definition.value).or_default().push((document.file, property));
        }
    }
    let mut found = Definitions::default();
    let mut allowance = Allowance::default();
    for (alias, properties) in named {
        if problems.is_over() {
            break;
        }
        use property_definition::{Column, Entity};
        let definition = db.one(Entity::find().filter(Column::Alias.eq(alias))).await?;
        let refused = match &definition {
            None => Some(format!("no property definition has the alias {}", quoted(alias))),
            Some(definition) if !definition.allowed_in_config_files => {
                Some(format!("service files may not set the property {}", quoted(alias)))
            }
            Some(_) => None,
        };
        if let Some(message) = refused {
            for (file, property) in properties {
                problems.add(file, property.definition.spot, message.clone());
            }
        } else if let Some(definition) = definition {
            found.refused.extend(check_values(&definition.schema, &properties, &mut allowance, problems).await);
            found.known.insert(alias.to_owned(), hashed(definition));
        }
    }
    Ok(found)
}

/// Replaces the schema by its hash.
fn hashed(definition: Definition) -> Definition {
    let schema = HEXLOWER.encode(&Sha256::digest(&definition.schema));
    Definition { schema, ..definition }
}

/// Locks definitions, one after the other. Fails as a lost race if one has changed since the values were checked.
pub(super) async fn hold(db: &Transaction, definitions: &Definitions) -> Result<(), db::Error> {
    use property_definition::{Column, Entity};
    let mut definitions: Vec<&Definition> = definitions.known.values().collect();
    // In the order of their ids, so that two transactions cannot deadlock.
    definitions.sort_unstable_by_key(|definition| definition.id);
    for checked in definitions {
        let held = db.one(Entity::find().filter(Column::Id.eq(checked.id)).lock(LockType::KeyShare)).await?;
        if held.map(hashed).as_ref() != Some(checked) {
            return Err(db::Error::LostRace);
        }
    }
    Ok(())
}

/// Checks values against the schema of their definition. A value may take 100 ms and more, so the check yields before
/// each: other requests run, and a caller that gave up ends it. A used up allowance is the last mistake. Returns the places
/// of the values that are not taken.
async fn check_values(
    schema: &str,
    properties: &[(usize, &Property)],
    allowance: &mut Allowance,
    problems: &mut Problems,
) -> Vec<(usize, Spot)> {
    let mut read: Option<Result<JsonSchema, String>> = None;
    let mut refused = Vec::new();
    for (file, Property { said, value, .. }) in properties {
        let Some(value) = value else { continue };
        // No further mistake would be kept.
        if problems.is_over() {
            break;
        }
        tokio::task::yield_now().await;
        let _turn = json_schema::turn(schema, &value.to_string()).await;
        let faults = allowance.spend(|| match read.get_or_insert_with(|| JsonSchema::of_row(schema)) {
            Ok(schema) => Ok(schema.faults(value)),
            Err(message) => Err(format!("the definition's schema {message}")),
        });
        if !matches!(&faults, Some(Ok(faults)) if faults.is_empty()) {
            refused.push((*file, said.spot));
        }
        match faults {
            Some(Ok(faults)) => {
                for Fault { message, path } in faults {
                    problems.add(*file, place(said, &path), message);
                }
            }
            Some(Err(message)) => problems.add(*file, said.spot, message),
            None if problems.is_lenient(*file) => problems.leave(*file, said.spot, late()),
            None => problems.end(*file, said.spot, late()),
        }
    }
    refused
}

/// What is wrong when the checks take too long.
fn late() -> String {
    format!(
        "it takes more than {CHECKING:?} of processor time to check the values of properties against their schemas; \
         apply fewer files at a time, or simplify the schemas"
    )
}

/// The place of a part of a value.
fn place(mut node: &At<Node>, path: &[String]) -> Spot {
    for step in path {
        let part = match &node.value {
            Node::List(items) => step.parse().ok().and_then(|place: usize| items.get(place)),
            Node::Mapping(pairs) => {
                let is_meant = |key: &At<Node>| matches!(&key.value, Node::Text(key) if key == step);
                pairs.iter().find(|(key, _)| is_meant(key)).map(|(_, value)| value)
            }
            _ => None,
        };
        let Some(part) = part else { break };
        node = part;
    }
    node.spot
}

/// Gives the owner in the column `owner` the properties. `refuses` says why the owner cannot have one of a definition.
/// Returns whether anything changed.
pub(super) async fn assign(
    db: &Transaction,
    (owner, id): (Column, i64),
    (file, wanted): (usize, &[Property]),
    definitions: &Definitions,
    refuses: impl Fn(&Definition) -> Option<&'static str>,
    problems: &mut Problems,
) -> Result<bool, db::Error> {
    let present = db.all(Entity::find().filter(owner.eq(id))).await?;
    let mut present: HashMap<i64, _> = present.into_iter().map(|row| (row.definition_id, row)).collect();
    let mut is_changed = false;
    for Property { definition: named, said, value, bytes: _ } in wanted {
        // One that is not there was reported.
        let Some(definition) = definitions.known.get(&named.value) else { continue };
        let row = present.remove(&definition.id);
        if definitions.refused.contains(&(file, said.spot)) {
            continue;
        }
        let Some(value) = value else {
            if let Some(row) = row {
                db.delete(row).await?;
                is_changed = true;
            }
            continue;
        };
        if let Some(why) = refuses(definition) {
            problems.add(file, named.spot, why);
            continue;
        }
        match row {
            Some(row) if serde_json::from_str::<Json>(&row.value).is_ok_and(|present| present == *value) => continue,
            Some(row) => {
                let mut row: ActiveModel = row.into();
                set_value(&mut row, value.to_string(), value, Some(BY_FILE));
                db.update(row).await?;
            }
            None => {
                let mut row = ActiveModel { definition_id: Set(definition.id), ..Default::default() };
                row.set(owner, id.into());
                set_value(&mut row, value.to_string(), value, Some(BY_FILE));
                db.exec(Entity::insert(row)).await?;
            }
        }
        is_changed = true;
    }
    let gone: Vec<i64> =
        present.values().filter(|row| row.written_by.as_deref() == Some(BY_FILE)).map(|row| row.id).collect();
    is_changed |= delete_by_ids::<Entity>(db, Column::Id, &gone).await?;
    Ok(is_changed)
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::time::Duration;

    use super::*;

    /// Checks a few flags, which are no numbers. Returns how often the check was polled, and the mistakes.
    async fn checked(mut allowance: Allowance) -> (usize, Vec<String>) {
        let node = At { value: Node::Flag(true), spot: Spot { line: 1, column: 1 } };
        let definition = node.with("size".to_owned());
        let property = Property { definition, said: node, value: Some(Json::Bool(true)), bytes: 4 };
        let properties = [(0, &property); 3];
        let mut problems = Problems::default();
        let mut polls = 0;
        {
            let mut check = pin!(check_values("{\"type\": \"number\"}", &properties, &mut allowance, &mut problems));
            poll_fn(|context| {
                polls += 1;
                check.as_mut().poll(context)
            })
            .await;
        }
        (polls, problems.notes().0.into_iter().map(|note| note.message).collect())
    }

    #[tokio::test]
    async fn other_requests_run_between_two_values() {
        let (polls, mistakes) = checked(Allowance::default()).await;
        assert_eq!((polls, mistakes.len()), (4, 3));
    }

    #[tokio::test]
    async fn checks_end_when_they_take_too_long() {
        let (polls, mistakes) = checked(Allowance::new(Duration::ZERO)).await;
        assert_eq!((polls, mistakes), (2, vec![late()]));
        // The first check is begun, and takes all.
        let (polls, mistakes) = checked(Allowance::new(Duration::from_nanos(1))).await;
        assert_eq!((polls, mistakes.len(), mistakes.last()), (3, 2, Some(&late())));
    }
}
