//! Rows as values by column: read, named and compared.

use std::collections::{BTreeMap, BTreeSet};

use sea_orm::entity::prelude::*;
use sea_orm::{Iterable, ModelTrait};
use serde_json::{Map, Value as Json, json};

use crate::db::{self, Read, Transaction};
use crate::entity::{
    ByIds, Timestamp, alert_source, alert_source_service, category, code_issue, code_issue_project, component_type,
    contact, domain, filter, infrastructure_resource, integration, level, lifecycle, property, property_definition,
    relationship, relationship_definition, repository, service, service_dependency, service_document,
    service_repository, suggestion, system, tag, team, tier, tool, user,
};

/// Columns that are not compared: they say nothing about the object, or they are secrets.
const LEFT_OUT: &[&str] = &[
    "id",
    "created_at",
    "updated_at",
    "last_used_at",
    "hash",
    "webhook_id",
    "email_key",
    "creation_source",
    "search_key",
    "unique_key",
    "written_by",
];

/// The columns that can name an object, in order of preference.
const NAMES: &[&str] = &["slug", "alias", "default_alias", "email", "name", "key", "display_name", "address"];

/// The values of a row, by column.
pub(super) type Columns = BTreeMap<&'static str, Value>;

/// Calls a macro with the SDL types whose rows are compared, and their tables.
macro_rules! nouns {
    ($each:ident) => {
        $each! {
            "Service" service, "Team" team, "User" user, "Tier" tier, "Lifecycle" lifecycle, "Repository" repository,
            "ServiceRepository" service_repository, "Tag" tag, "Integration" integration,
            "System" system, "Domain" domain, "InfrastructureResource" infrastructure_resource, "ComponentType" component_type,
            "Tool" tool, "Level" level, "Category" category, "Contact" contact, "PropertyDefinition" property_definition,
            "Property" property, "Relationship" relationship, "RelationshipDefinition" relationship_definition, "ServiceDependency" service_dependency, "ServiceDocument" service_document, "Filter" filter,
            "AlertSource" alert_source, "AlertSourceService" alert_source_service, "CodeIssueProject" code_issue_project,
            "CodeIssue" code_issue, "ServiceSuggestion" suggestion
        }
    };
}

/// The name among the values of a row.
pub(super) fn name_of(row: &Columns) -> Option<String> {
    NAMES.iter().find_map(|name| match row.get(name)? {
        Value::String(name) => name.clone(),
        _ => None,
    })
}

/// The row as the transaction sees it.
pub(super) async fn row(transaction: &Transaction, class: &str, id: i64) -> Result<Option<Columns>, db::Error> {
    macro_rules! each {
        ($($noun:literal $module:ident),*) => {
            match class {
                $($noun => one_or_read::<$module::Entity>(
                    transaction, id, transaction.after::<$module::Entity>(id).map(Some),
                ).await,)*
                _ => Ok(None),
            }
        };
    }
    nouns!(each)
}

/// The row as it was before the transaction.
pub(super) async fn row_before(
    committed: &impl Read,
    transaction: &Transaction,
    class: &str,
    id: i64,
) -> Result<Option<Columns>, db::Error> {
    macro_rules! each {
        ($($noun:literal $module:ident),*) => {
            match class {
                $($noun => one_or_read::<$module::Entity>(
                    committed, id, transaction.before::<$module::Entity>(id),
                ).await,)*
                _ => Ok(None),
            }
        };
    }
    nouns!(each)
}

/// Returns the values of a row. Reads it unless it is `known`.
async fn one_or_read<E: ByIds>(
    db: &impl Read,
    id: i64,
    known: Option<Option<E::Model>>,
) -> Result<Option<Columns>, db::Error> {
    let row = match known {
        Some(known) => known,
        None => E::by_ids(db, [Some(id)]).await?.pop().flatten(),
    };
    Ok(row.as_ref().map(columns))
}

pub(super) fn columns<M: ModelTrait>(row: &M) -> Columns {
    let all = <M::Entity as EntityTrait>::Column::iter().map(|column| (column.as_str(), row.get(column)));
    all.filter(|(name, _)| !LEFT_OUT.contains(name)).collect()
}

/// The columns whose values differ, with both values.
pub(super) fn different(
    before: Option<&Columns>,
    after: Option<&Columns>,
) -> Vec<(&'static str, Option<Value>, Option<Value>)> {
    let names: BTreeSet<&'static str> = before.into_iter().chain(after).flat_map(BTreeMap::keys).copied().collect();
    let value = |columns: Option<&Columns>, name: &str| columns.and_then(|columns| columns.get(name)).cloned();
    let both = names.into_iter().map(|name| (name, value(before, name), value(after, name)));
    both.filter(|(_, old, new)| old != new).collect()
}

/// Converts a value to readable JSON.
pub(super) fn readable(column: &str, value: &Option<Value>) -> Json {
    match value {
        Some(Value::BigInt(Some(micros))) if column.ends_with("_at") => {
            Timestamp::from_micros(*micros).to_string().into()
        }
        Some(Value::BigInt(Some(number))) => (*number).into(),
        Some(Value::Int(Some(number))) => (*number).into(),
        Some(Value::Bool(Some(value))) => (*value).into(),
        Some(Value::String(Some(text))) => text.as_str().into(),
        _ => Json::Null,
    }
}

/// Converts the name of a column to the SDL's camel case.
pub(super) fn field(column: &str) -> String {
    let mut field = String::with_capacity(column.len());
    for (place, word) in column.split('_').enumerate() {
        let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        field.push_str(if place == 0 { first.to_owned() } else { first.to_uppercase() }.as_str());
        field.push_str(rest);
    }
    field
}

pub(super) fn insert(changed: &mut Map<String, Json>, field: &str, old: Json, new: Json) {
    // A field that is null before and after has not changed, even if the row was created or deleted.
    if old != new {
        changed.insert(field.to_owned(), json!({ "old": old, "new": new }));
    }
}
