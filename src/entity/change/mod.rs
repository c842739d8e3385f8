//! Computes what a transaction changes, for the audit: the fields of an object before and after.
//!
//! Writers do not keep old values. Until the transaction commits, another connection reads the committed rows, and the
//! transaction reads its own. The difference is the change. The transaction has locked the rows that it wrote, so no
//! other transaction can change them in the meantime. Rows that the transaction [knows](Transaction::before) are not read
//! again.

use std::collections::BTreeSet;

use futures_util::future::try_join;
use sea_orm::entity::prelude::*;
use serde_json::{Map, Value as Json};

use self::list::{compare_lists, compare_named};
use self::row::{columns, different, field, insert, name_of, readable, row, row_before};
use super::{ByIds, tag};
use crate::db::{self, Read, Transaction};

mod list;
mod row;

pub use list::List;

/// Columns that hold the id of a row in another table, with that table's SDL type.
const REFERENCES: &[(&str, &str)] = &[
    ("owner_id", "Team"),
    ("type_id", "ComponentType"),
    ("component_type_id", "ComponentType"),
    ("definition_id", "PropertyDefinition"),
    ("relationship_definition_id", "RelationshipDefinition"),
    ("parent_team_id", "Team"),
    ("source_service_id", "Service"),
    ("source_system_id", "System"),
    ("source_domain_id", "Domain"),
    ("source_team_id", "Team"),
    ("source_infrastructure_resource_id", "InfrastructureResource"),
    ("target_service_id", "Service"),
    ("target_system_id", "System"),
    ("target_domain_id", "Domain"),
    ("target_team_id", "Team"),
    ("target_infrastructure_resource_id", "InfrastructureResource"),
    ("source_id", "Service"),
    ("destination_id", "Service"),
    ("system_id", "System"),
    ("domain_id", "Domain"),
    ("tier_id", "Tier"),
    ("lifecycle_id", "Lifecycle"),
    ("manager_id", "User"),
    ("service_id", "Service"),
    ("repository_id", "Repository"),
    ("team_id", "Team"),
    ("user_id", "User"),
    ("integration_id", "Integration"),
    ("alert_source_id", "AlertSource"),
    ("code_issue_project_id", "CodeIssueProject"),
];

/// Returns what `transaction` has changed of an object: a JSON object of fields, each with its `old` and `new` value,
/// or with what was `removed` and `added`. `committed` must read what others see. `class` is the SDL type.
///
/// Compares the given lists. Also compares the aliases if the name has changed, and the aliases and members if the
/// object was created or deleted.
pub async fn of(
    committed: &impl Read,
    transaction: &Transaction,
    class: &str,
    id: i64,
    lists: &[List<'_>],
) -> Result<Json, db::Error> {
    // Boxed, because each has room for the row of any table.
    let both = try_join(Box::pin(row_before(committed, transaction, class, id)), Box::pin(row(transaction, class, id)));
    let (before, after) = both.await?;
    let mut changed = Map::new();
    for (column, old, new) in different(before.as_ref(), after.as_ref()) {
        let reference = REFERENCES.iter().find(|(known, _)| *known == column);
        let Some((_, class)) = reference else {
            insert(&mut changed, &field(column), readable(column, &old), readable(column, &new));
            continue;
        };
        let mut names = [old, new].map(|value| readable(column, &value));
        for name in &mut names {
            if let Some(id) = name.as_i64() {
                // If the row was deleted in the same transaction, only `committed` still finds it.
                let known = match row(transaction, class, id).await?.as_ref().and_then(name_of) {
                    None => called_before(committed, transaction, class, id).await?,
                    known => known,
                };
                *name = known.map_or(Json::from(id), Json::from);
            }
        }
        let [old, new] = names;
        insert(&mut changed, column.trim_end_matches("_id"), old, new);
    }
    let is_whole = before.is_some() != after.is_some();
    let mut lists = lists.to_vec();
    if (is_whole || changed.contains_key("name")) && !lists.contains(&List::Aliases) {
        lists.push(List::Aliases);
    }
    if is_whole {
        lists.push(List::FirstMembers);
    }
    compare_lists(&mut changed, committed, transaction, (class, id), lists).await?;
    Ok(Json::Object(changed))
}

/// Returns the owner of these tags, as an SDL type and an id, and what `transaction` has changed of the tags. Returns
/// `None` if the tags have several owners, or if none of them exists before or after.
pub async fn of_tags(
    committed: &impl Read,
    transaction: &Transaction,
    ids: &[i64],
) -> Result<Option<(&'static str, i64, Json)>, db::Error> {
    let known = |id: &i64| transaction.before::<tag::Entity>(*id);
    let before = all_or_read::<tag::Entity>(committed, ids, ids.iter().map(known).collect());
    let known = |id: &i64| transaction.after::<tag::Entity>(*id).map(Some);
    let after = all_or_read::<tag::Entity>(transaction, ids, ids.iter().map(known).collect());
    let (before, after) = try_join(before, after).await?;
    let owners: BTreeSet<_> = before.iter().chain(&after).map(owner).collect();
    let mut owners = owners.into_iter();
    let (Some(Some((class, id))), None) = (owners.next(), owners.next()) else { return Ok(None) };
    let mut changed = Map::new();
    let entries = |tags: Vec<tag::Model>| tags.into_iter().map(|tag| (tag.key, Some(tag.value))).collect();
    compare_named(&mut changed, "tags", entries(before), entries(after));
    Ok(Some((class, id, Json::Object(changed))))
}

/// Returns the rows with these ids that exist. Reads them unless all of them are `known`.
async fn all_or_read<E: ByIds>(
    db: &impl Read,
    ids: &[i64],
    known: Option<Vec<Option<E::Model>>>,
) -> Result<Vec<E::Model>, db::Error> {
    let rows = match known {
        Some(known) => known,
        None => E::by_ids(db, ids.iter().copied().map(Some)).await?,
    };
    Ok(rows.into_iter().flatten().collect())
}

fn owner(tag: &tag::Model) -> Option<(&'static str, i64)> {
    let owners = [
        ("Service", tag.service_id),
        ("Repository", tag.repository_id),
        ("Team", tag.team_id),
        ("User", tag.user_id),
        ("System", tag.system_id),
        ("Domain", tag.domain_id),
        ("InfrastructureResource", tag.infrastructure_resource_id),
    ];
    owners.into_iter().find_map(|(class, id)| Some((class, id?)))
}

/// Compares two versions of a row, like [`of`]. References to other rows are ids, not names.
pub fn between<M: ModelTrait>(before: Option<&M>, after: Option<&M>) -> Json {
    let (before, after) = (before.map(columns), after.map(columns));
    let mut changed = Map::new();
    for (column, old, new) in different(before.as_ref(), after.as_ref()) {
        insert(&mut changed, &field(column), readable(column, &old), readable(column, &new));
    }
    Json::Object(changed)
}

/// Returns the name that an object had before the transaction. `None` if the object did not exist.
pub async fn called_before(
    committed: &impl Read,
    transaction: &Transaction,
    class: &str,
    id: i64,
) -> Result<Option<String>, db::Error> {
    Ok(row_before(committed, transaction, class, id).await?.as_ref().and_then(name_of))
}
