//! Names in the place of the aliases that the audit keeps of tiers, lifecycle stages and owners: for people, who know no
//! aliases.

use std::collections::HashMap;

use sea_orm::ColumnTrait;
use sea_orm::sea_query::Query;
use serde_json::Value as Json;

use super::Fault;
use catalogue::db::{self, Read, ReadHandle, any_text};
use catalogue::entity::audit::Model;
use catalogue::entity::{lifecycle, team, tier};

/// The fields of services, systems and domains whose values are aliases.
const FIELDS: [&str; 3] = ["tier", "lifecycle", "owner"];

/// The entries with names in their changes, as far as something has these aliases still. Reads one statement for each of
/// the fields that any of them changes.
pub async fn told(db: &dyn ReadHandle, mut entries: Vec<Model>) -> Result<Vec<Model>, Fault> {
    let mut details: Vec<Json> =
        entries.iter().map(|entry| serde_json::from_str(&entry.detail).unwrap_or_default()).collect();
    for field in FIELDS {
        let mut aliases: Vec<String> =
            details.iter_mut().flat_map(|detail| sides(detail, field)).filter_map(text).collect();
        aliases.sort_unstable();
        aliases.dedup();
        let names = names(db, field, &aliases).await?;
        for side in details.iter_mut().flat_map(|detail| sides(detail, field)) {
            if let Some(name) = side.as_str().and_then(|alias| names.get(alias)) {
                *side = name.clone().into();
            }
        }
    }
    for (entry, detail) in entries.iter_mut().zip(details).filter(|(_, detail)| detail.is_object()) {
        entry.detail = detail.to_string();
    }
    Ok(entries)
}

/// The old and the new value of a changed field.
fn sides<'d>(detail: &'d mut Json, field: &str) -> impl Iterator<Item = &'d mut Json> + use<'d> {
    let change = detail.get_mut("changed").and_then(|changed| changed.get_mut(field));
    change.and_then(Json::as_object_mut).into_iter().flat_map(|change| change.values_mut())
}

fn text(side: &mut Json) -> Option<String> {
    side.as_str().map(str::to_owned)
}

/// The names of what has these aliases, by alias.
async fn names(db: &dyn ReadHandle, field: &str, aliases: &[String]) -> Result<HashMap<String, String>, db::Error> {
    let aliases: Vec<&str> = aliases.iter().map(String::as_str).collect();
    match field {
        "tier" => of_table(db, [tier::Column::Alias, tier::Column::Name], &aliases).await,
        "lifecycle" => of_table(db, [lifecycle::Column::Alias, lifecycle::Column::Name], &aliases).await,
        _ => of_table(db, [team::Column::Alias, team::Column::Name], &aliases).await,
    }
}

/// The same in a table whose columns hold aliases and names.
async fn of_table<C: ColumnTrait>(
    db: &dyn ReadHandle,
    [alias, name]: [C; 2],
    aliases: &[&str],
) -> Result<HashMap<String, String>, db::Error> {
    if aliases.is_empty() {
        return Ok(HashMap::new());
    }
    let mut rows = Query::select();
    rows.columns([alias, name]).from(alias.entity_name()).and_where(any_text(db, alias, aliases));
    let found = db.rows(&rows, |row| Ok((row.get::<String>(0)?, row.get::<String>(1)?))).await?;
    Ok(found.into_iter().collect())
}
