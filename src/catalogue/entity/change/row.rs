//! Rows as values by column: read, named and compared.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sea_orm::Value;
use sea_orm::entity::prelude::*;
use sea_orm::{Iterable, ModelTrait};
use serde_json::{Map, Value as Json, json};

use crate::db::{self, AnyRow, AnyTable, Before, RowOf, Side, Table, Transaction, World, any_table};
use crate::entity::{Timestamp, component_type, property_definition, recorded_as, service, team, user};

/// The columns that can name an object, in order of preference.
const NAMES: &[&str] = &["slug", "alias", "default_alias", "email", "name", "key", "display_name", "address"];

/// The column that is a JSON object, of which each part is told: the parameters of a check.
const PARTS: &str = "parameters";

/// Its parts that no input has: what a check keeps of other rows, for its sentences, and what it kept in earlier releases.
const OWN_PARTS: [&str; 3] = ["definition", "integration", "production"];

/// The table that a column refers to: that of its name, such as `team` of `team_id`, unless it has another one.
pub(crate) fn reference(column: &str) -> Option<&'static dyn AnyTable> {
    let column = column.trim_start_matches("source_").trim_start_matches("target_");
    Some(match column {
        "owner_id" | "parent_team_id" => any_table::<team::Entity>(),
        "type_id" => any_table::<component_type::Entity>(),
        "definition_id" => any_table::<property_definition::Entity>(),
        // Those of a dependency.
        "id" | "destination_id" => any_table::<service::Entity>(),
        "manager_id" => any_table::<user::Entity>(),
        _ => return recorded_as(column.strip_suffix("_id")?),
    })
}

/// The table that the ids in a column refer to, if it is a JSON list of ids: `team` for `team_ids`.
fn listed(column: &str) -> Option<&'static dyn AnyTable> {
    recorded_as(column.strip_suffix("_ids")?)
}

/// The values of a row, by column.
pub(super) type Columns = BTreeMap<&'static str, Value>;

/// The name of a row.
pub(super) fn name_of(row: &AnyRow) -> Option<String> {
    NAMES.iter().find_map(|name| match row.value(name)? {
        Value::String(name) => name,
        _ => None,
    })
}

/// The row as the transaction sees it.
pub(super) async fn row_now(transaction: &Transaction, row: RowOf) -> Result<Option<AnyRow>, db::Error> {
    match transaction.after(row) {
        Side::Row(row) => Ok(Some(row)),
        Side::Absent => Ok(None),
        Side::Unknown => read_one(World::Now(transaction), row).await,
    }
}

/// The row as it was before the transaction.
pub(super) async fn row_before(
    before: Before<'_>,
    transaction: &Transaction,
    row: RowOf,
) -> Result<Option<AnyRow>, db::Error> {
    match transaction.before(row) {
        Side::Row(row) => Ok(Some(row)),
        Side::Absent => Ok(None),
        Side::Unknown => read_one(World::Before(before), row).await,
    }
}

async fn read_one(world: World<'_>, row: RowOf) -> Result<Option<AnyRow>, db::Error> {
    Ok(row.table.read(world, None, vec![row.id], 1).await?.pop())
}

/// Reads these rows, one statement for each table. Leaves out those that do not exist.
pub(super) async fn read_all(
    world: World<'_>,
    rows: impl IntoIterator<Item = RowOf>,
) -> Result<HashMap<RowOf, AnyRow>, db::Error> {
    let mut tables: Vec<(&'static dyn AnyTable, Vec<i64>)> = Vec::new();
    for row in rows {
        match tables.iter_mut().find(|(table, _)| RowOf { table: *table, ..row } == row) {
            Some((_, ids)) => ids.push(row.id),
            None => tables.push((row.table, vec![row.id])),
        }
    }
    let mut found = HashMap::new();
    for (table, ids) in tables {
        let most = ids.len() as u64;
        let rows = table.read(world, None, ids, most).await?;
        found.extend(rows.into_iter().filter_map(|row| Some((row.place()?, row))));
    }
    Ok(found)
}

/// The names of these rows, as the transaction sees them. If it has deleted a row, the name from before.
pub(super) async fn names_of(
    before: Before<'_>,
    transaction: &Transaction,
    rows: impl IntoIterator<Item = RowOf>,
) -> Result<HashMap<RowOf, String>, db::Error> {
    let (mut names, mut unknown) = (HashMap::new(), Vec::new());
    for row in rows {
        let known = match transaction.after(row) {
            Side::Unknown => {
                unknown.push(row);
                continue;
            }
            Side::Row(known) => Some(known),
            Side::Absent => row_before(before, transaction, row).await?,
        };
        names.extend(known.as_ref().and_then(name_of).map(|name| (row, name)));
    }
    let found = read_all(World::Now(transaction), unknown.iter().copied()).await?;
    names.extend(found.iter().filter_map(|(row, found)| Some((*row, name_of(found)?))));
    unknown.retain(|row| !found.contains_key(row));
    for row in unknown {
        let gone = row_before(before, transaction, row).await?;
        names.extend(gone.as_ref().and_then(name_of).map(|name| (row, name)));
    }
    Ok(names)
}

/// The columns of a row that are compared.
pub(super) fn columns_of(row: &AnyRow) -> Columns {
    row.told_columns().into_iter().collect()
}

pub(super) fn columns<M: ModelTrait<Entity: Table>>(row: &M) -> Columns {
    let told = <M::Entity as EntityTrait>::Column::iter().filter(|column| db::is_told::<M::Entity>(*column));
    told.map(|column| (column.as_str(), row.get(column))).collect()
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

/// The rows that a column refers to.
pub(super) fn referred(column: &str, value: Option<&Value>) -> Vec<RowOf> {
    match value {
        Some(Value::BigInt(Some(id))) => reference(column).map(|table| RowOf { table, id: *id }).into_iter().collect(),
        Some(Value::String(Some(text))) => listed(column).map_or_else(Vec::new, |table| {
            let ids: Vec<i64> = serde_json::from_str(text).unwrap_or_default();
            ids.into_iter().map(|id| RowOf { table, id }).collect()
        }),
        _ => Vec::new(),
    }
}

/// Adds the fields of a row that differ to `changed`. `names` has the names of the rows that they refer to.
pub(super) fn insert_different(
    changed: &mut Map<String, Json>,
    different: Vec<(&'static str, Option<Value>, Option<Value>)>,
    names: &HashMap<RowOf, String>,
) {
    for (column, old, new) in different {
        if column == PARTS {
            insert_parts(changed, [old, new]);
            continue;
        }
        let [old, new] = [old, new].map(|value| {
            let rows = referred(column, value.as_ref());
            if listed(column).is_some() && !rows.is_empty() {
                let name = |row: RowOf| names.get(&row).cloned().unwrap_or_else(|| row.id.to_string());
                return rows.into_iter().map(name).collect::<Json>();
            }
            let name = rows.first().and_then(|row| names.get(row));
            name.map_or_else(|| readable(column, &value), |name| Json::from(name.as_str()))
        });
        insert(changed, &label(column), old, new);
    }
}

/// The name by which the audit tells a column.
pub fn label(column: &str) -> String {
    match (reference(column), column.strip_suffix("_ids")) {
        (Some(_), _) => column.trim_end_matches("_id").to_owned(),
        (None, Some(one)) if listed(column).is_some() => format!("{one}s"),
        (None, _) => field(column),
    }
}

/// Adds the parts of a JSON object that differ.
fn insert_parts(changed: &mut Map<String, Json>, sides: [Option<Value>; 2]) {
    let parts = |value: Option<Value>| match value {
        Some(Value::String(Some(text))) => serde_json::from_str::<BTreeMap<String, Json>>(&text).unwrap_or_default(),
        _ => BTreeMap::new(),
    };
    let [mut old, mut new] = sides.map(parts);
    for parts in [&mut old, &mut new] {
        parts.retain(|part, _| !OWN_PARTS.contains(&part.as_str()));
    }
    for (part, new) in new {
        insert(changed, &field(&part), old.remove(&part).unwrap_or_default(), new);
    }
    for (part, old) in old {
        insert(changed, &field(&part), old, Json::Null);
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entity::integration;

    #[test]
    fn a_secret_is_not_told() {
        let all = || integration::Column::iter().map(|column| column.as_str());
        let told = integration::Column::iter().filter(|column| db::is_told::<integration::Entity>(*column));
        let told: Vec<&str> = told.map(|column| column.as_str()).collect();
        assert_eq!(told, ["type", "name", "event_type", "installed_at", "settings"]);
        let untold: Vec<&str> = all().filter(|column| !told.contains(column)).collect();
        assert_eq!(untold, ["id", "webhook_id", "created_at", "updated_at"]);
    }

    #[test]
    fn a_column_refers_to_the_table_of_its_name_unless_it_has_another_one() {
        for (column, table) in [
            ("team_id", Some("team")),
            ("alert_source_id", Some("alert_source")),
            ("target_infrastructure_resource_id", Some("infrastructure_resource")),
            ("owner_id", Some("team")),
            ("source_id", Some("service")),
            ("manager_id", Some("user")),
            // Its changes are not recorded.
            ("saved_view_id", None),
            ("external_id", None),
            ("team", None),
        ] {
            assert_eq!(reference(column).map(|table| table.name()), table, "{column}");
        }
    }

    #[test]
    fn a_list_of_ids_refers_to_each_row_and_is_called_by_what_it_lists() {
        let list = Value::from("[3,1]".to_owned());
        let rows: Vec<_> =
            referred("team_ids", Some(&list)).into_iter().map(|row| (row.table.name(), row.id)).collect();
        assert_eq!(rows, [("team", 3), ("team", 1)]);
        assert!(referred("name", Some(&list)).is_empty() && referred("team_ids", None).is_empty());
        for (column, called) in [("team_ids", "teams"), ("team_id", "team"), ("environments", "environments")] {
            assert_eq!(label(column), called);
        }
    }
}
