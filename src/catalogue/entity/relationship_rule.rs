//! What the ends of relationships are called, and which relationships a definition allows.

use sea_orm::entity::prelude::*;

use super::relationship::{Column, End, Entity};
use super::{ByAlias, component_type, domain, infrastructure_resource, relationship_definition, service, system, team};
use crate::db::{self, Read, ReadHandle, Transaction};
use crate::error::{Result, UserError, quoted, shortened};

/// The kinds of ends, as definitions and service files name them.
pub const KINDS: &[&str] = &["service", "system", "domain", "team", "infrastructure_resource"];

/// Finds the object that has an alias: of the given kind, else of the first of [`KINDS`] that has one.
pub async fn end(db: &dyn ReadHandle, kind: Option<&str>, alias: &str) -> Result<Option<End>, db::Error> {
    let is_wanted = |known: &str| kind.is_none_or(|kind| kind == known);
    macro_rules! look {
        ($($word:literal $table:ident $end:ident),*) => {$(
            if is_wanted($word) && let Some(found) = $table::Entity::by_alias(db, alias).await? {
                return Ok(Some(End::$end(found.id)));
            }
        )*};
    }
    look!("service" service Service, "system" system System, "domain" domain Domain, "team" team Team,
        "infrastructure_resource" infrastructure_resource InfrastructureResource);
    Ok(None)
}

/// Reads a column that holds a list of words.
pub fn words(column: &str) -> Vec<String> {
    serde_json::from_str(column).unwrap_or_default()
}

/// Fails if the definition does not allow another relationship between the two. The error is about `source` or `target`.
pub async fn check(
    db: &Transaction,
    definition: &relationship_definition::Model,
    source: End,
    target: End,
) -> Result<()> {
    check_ends(db, definition, source, target).await?;
    if definition.max_items.is_none() {
        return Ok(());
    }
    let own = Entity::find().filter(Column::RelationshipDefinitionId.eq(definition.id));
    check_number(definition, db.count(own.filter(source.columns()[0].eq(source.named().1))).await?)
}

/// Like [`check`], but does not count.
pub async fn check_ends(
    db: &Transaction,
    definition: &relationship_definition::Model,
    source: End,
    target: End,
) -> Result<()> {
    let own_type = match source {
        End::Service(id) => match db.one(service::Entity::find_by_id(id)).await? {
            Some(service) => component_type::or_default(db, service.type_id).await?,
            None => None,
        },
        _ => None,
    };
    if own_type != Some(definition.component_type_id) {
        let of = db.one(component_type::Entity::find_by_id(definition.component_type_id)).await?;
        let of = of.map_or_else(String::new, |found| found.alias);
        let message = format!("the source must be a service of the component type {}", quoted(&of));
        return Err(UserError::new("source", message).into());
    }
    let allowed = words(&definition.allowed_types);
    if !allowed.is_empty() {
        let own = kinds(db, target).await?;
        if !own.iter().any(|own| allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(own))) {
            let message = format!("the target must be one of: {}", shortened(&allowed.join(", ")));
            return Err(UserError::new("target", message).into());
        }
    }
    Ok(())
}

/// Fails if a source with `count` relationships of the definition may not have another.
pub fn check_number(definition: &relationship_definition::Model, count: u64) -> Result<()> {
    match definition.max_items {
        Some(most) if count >= u64::try_from(most).unwrap_or_default() => {
            let message =
                format!("the source has {count} relationships of this definition; at most {most} are allowed");
            Err(UserError::new("source", message).into())
        }
        _ => Ok(()),
    }
}

/// Returns the words that a definition may use for an object: its kind, and its component type or its type.
async fn kinds(db: &Transaction, end: End) -> Result<Vec<String>, db::Error> {
    Ok(match end {
        End::Service(id) => {
            let mut kinds = vec!["service".to_owned()];
            if let Some(service) = db.one(service::Entity::find_by_id(id)).await?
                && let Some(key) = component_type::or_default(db, service.type_id).await?
            {
                kinds.extend(db.one(component_type::Entity::find_by_id(key)).await?.map(|found| found.alias));
            }
            kinds
        }
        End::System(_) => vec!["system".to_owned()],
        End::Domain(_) => vec!["domain".to_owned()],
        End::Team(_) => vec!["team".to_owned()],
        End::InfrastructureResource(id) => {
            let mut kinds = vec!["infrastructure_resource".to_owned()];
            kinds.extend(db.one(infrastructure_resource::Entity::find_by_id(id)).await?.map(|found| found.r#type));
            kinds
        }
    })
}
