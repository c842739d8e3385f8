//! Parts of an object that are stored in another table, and what a transaction changes of them.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::try_join;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ExprTrait, Query};
use sea_orm::{QueryOrder, QuerySelect, QueryTrait};
use serde_json::{Map, Value as Json, json};

use super::row::{insert, name_of};
use crate::db::{self, AnyRow, Read, ReadHandle, Transaction};
use crate::entity::alias::AliasTable;
use crate::entity::{
    ByIds, audit, contact, domain, domain_alias, infrastructure_resource, infrastructure_resource_alias, property,
    property_definition, relationship, relationship_definition, repository, scorecard_alias, service, service_alias,
    service_dependency, service_repository, system, system_alias, tag, team, team_alias, team_membership, tool, user,
};

/// Parts of an object that are stored in another table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// The aliases of a service, a team, a system, a domain, an infrastructure resource or a scorecard.
    Aliases,
    /// The first [`audit::ENTRIES`] members of a team, with their roles.
    Members,
    /// The tags of a service, a repository, a team, a system or a domain.
    Tags,
    /// The repositories of a service.
    Repositories,
    /// The tools of a service.
    Tools,
    /// The contacts of a service or a team.
    Contacts,
    /// The services that a service depends on.
    Dependencies,
    /// The properties of a service or a team.
    Properties,
    /// The relationships of a service that have a definition.
    Relationships,
}

/// Compares the lists of an object of the SDL type `class`. Adds what was removed and added to `changed`.
pub(super) async fn compare_lists(
    changed: &mut Map<String, Json>,
    committed: &dyn ReadHandle,
    transaction: &Transaction,
    (class, id): (&str, i64),
    lists: Vec<List>,
) -> Result<(), db::Error> {
    for list in lists {
        if list == List::Relationships {
            if class == "Service" {
                compare_relationships(changed, committed, transaction, id).await?;
            }
            continue;
        }
        // Boxed, because each has room for the rows of any table.
        let before = Box::pin(entries(committed, class, id, list));
        let (before, after) = try_join(before, Box::pin(entries(transaction, class, id, list))).await?;
        compare(changed, list, before, after);
    }
    Ok(())
}

/// The entries of a list. Tags also have values.
pub(super) type Entries = BTreeMap<String, Option<String>>;

async fn entries(db: &dyn ReadHandle, class: &str, id: i64, list: List) -> Result<Entries, db::Error> {
    let names = |names: Vec<String>| names.into_iter().map(|name| (name, None)).collect();
    Ok(match (list, class) {
        (List::Aliases, "Service") => names(aliases::<service_alias::Entity>(db, id).await?),
        (List::Aliases, "Team") => names(aliases::<team_alias::Entity>(db, id).await?),
        (List::Aliases, "System") => names(aliases::<system_alias::Entity>(db, id).await?),
        (List::Aliases, "Domain") => names(aliases::<domain_alias::Entity>(db, id).await?),
        (List::Aliases, "Scorecard") => names(aliases::<scorecard_alias::Entity>(db, id).await?),
        (List::Aliases, "InfrastructureResource") => {
            names(aliases::<infrastructure_resource_alias::Entity>(db, id).await?)
        }
        (List::Members, "Team") => {
            let own = team_membership::Entity::find().filter(team_membership::Column::TeamId.eq(id));
            let own = own.order_by_asc(team_membership::Column::Id).limit(audit::ENTRIES as u64);
            let members = db.all(own).await?;
            let users = user::Entity::by_ids(db, members.iter().map(|member| Some(member.user_id))).await?;
            let name = |(member, user): (team_membership::Model, Option<user::Model>)| {
                let email = user.map_or_else(|| member.user_id.to_string(), |user| user.email);
                match member.role {
                    Some(role) => format!("{email} ({role})"),
                    None => email,
                }
            };
            names(members.into_iter().zip(users).map(name).collect())
        }
        (List::Tags, class) => {
            let Some(owner) = tag_owner(class) else { return Ok(Entries::new()) };
            let own = tag::Entity::find().filter(owner.eq(id)).order_by_asc(tag::Column::Id);
            let mut tags = Entries::new();
            for tag in db.all(own).await? {
                let values = tags.entry(tag.key).or_default();
                *values = Some(values.take().map_or(tag.value.clone(), |before| format!("{before}, {}", tag.value)));
            }
            tags
        }
        (List::Repositories, "Service") => {
            let own = service_repository::Entity::find().filter(service_repository::Column::ServiceId.eq(id));
            let links = db.all(own.order_by_asc(service_repository::Column::Id)).await?;
            let linked = links.iter().map(|link| Some(link.repository_id));
            let repositories = repository::Entity::by_ids(db, linked).await?;
            names(repositories.into_iter().flatten().map(|repository| repository.default_alias).collect())
        }
        (List::Tools, "Service") => {
            let own = tool::Entity::find().filter(tool::Column::ServiceId.eq(id));
            names(db.all(own).await?.iter().map(tool_words).collect())
        }
        (List::Contacts, "Service" | "Team") => {
            let owner = if class == "Service" { contact::Column::ServiceId } else { contact::Column::TeamId };
            let own = db.all(contact::Entity::find().filter(owner.eq(id))).await?;
            names(own.iter().map(contact_words).collect())
        }
        (List::Dependencies, "Service") => names(dependencies(db, id).await?),
        (List::Properties, "Service") => properties(db, property::Column::ServiceId, id).await?,
        (List::Properties, "Team") => properties(db, property::Column::TeamId, id).await?,
        _ => Entries::new(),
    })
}

async fn dependencies(db: &dyn ReadHandle, service: i64) -> Result<Vec<String>, db::Error> {
    let own = service_dependency::Entity::find().filter(service_dependency::Column::SourceId.eq(service));
    let own = db.all(own).await?;
    let others = service::Entity::by_ids(db, own.iter().map(|one| Some(one.destination_id))).await?;
    let name = |(one, other): (service_dependency::Model, Option<service::Model>)| {
        let slug = other.map_or_else(|| one.destination_id.to_string(), |other| other.slug);
        one.notes.map_or(slug.clone(), |notes| format!("{slug} ({notes})"))
    };
    Ok(own.into_iter().zip(others).map(name).collect())
}

/// The values of an owner's properties, as JSON text, by the aliases of their definitions.
async fn properties(db: &dyn ReadHandle, owner: property::Column, id: i64) -> Result<Entries, db::Error> {
    use property_definition::{Column, Entity};
    let select = Query::select()
        .column((Entity, Column::Alias))
        .column((property::Entity, property::Column::Value))
        .from(property::Entity)
        .inner_join(Entity, ExprTrait::eq(Column::Id.into_expr(), property::Column::DefinitionId.into_expr()))
        .and_where(owner.eq(id))
        .take();
    let rows: Vec<(String, String)> = db.rows(&select, |row| Ok((row.get(0)?, row.get(1)?))).await?;
    Ok(rows.into_iter().map(|(alias, value)| (alias, Some(value))).collect())
}

/// Compares the relationships of a service that have a definition. Reads names only of those that differ.
async fn compare_relationships(
    changed: &mut Map<String, Json>,
    committed: &dyn ReadHandle,
    transaction: &Transaction,
    service: i64,
) -> Result<(), db::Error> {
    let before = relationships(committed, service).await?;
    let after = relationships(transaction, service).await?;
    let keys =
        |all: &[relationship::Model]| -> BTreeSet<String> { all.iter().map(|one| one.unique_key.clone()).collect() };
    let (old, new) = (keys(&before), keys(&after));
    let (mut removed, mut added) = (Entries::new(), Entries::new());
    let gone: Vec<_> = before.iter().filter(|one| !new.contains(&one.unique_key)).collect();
    removed.extend(relationship_words(committed, &gone).await?.into_iter().map(|words| (words, None)));
    let made: Vec<_> = after.iter().filter(|one| !old.contains(&one.unique_key)).collect();
    added.extend(relationship_words(transaction, &made).await?.into_iter().map(|words| (words, None)));
    compare_list(changed, "relationships", removed, added);
    Ok(())
}

async fn relationships(db: &dyn ReadHandle, service: i64) -> Result<Vec<relationship::Model>, db::Error> {
    use relationship::{Column, Entity};
    let own = Entity::find().filter(Column::SourceServiceId.eq(service));
    db.all(own.filter(Column::RelationshipDefinitionId.is_not_null()).order_by_asc(Column::Id)).await
}

/// Describes relationships by their definitions and targets. Reads the definitions in one statement, and the targets in
/// one for each kind.
async fn relationship_words(db: &dyn ReadHandle, all: &[&relationship::Model]) -> Result<Vec<String>, db::Error> {
    let definitions = all.iter().map(|one| one.relationship_definition_id);
    let definitions = relationship_definition::Entity::by_ids(db, definitions).await?;
    let mut targets = vec![None; all.len()];
    macro_rules! each {
        ($($table:ident $id:ident),*) => {$({
            let found = $table::Entity::by_ids(db, all.iter().map(|one| one.$id)).await?;
            for (target, found) in targets.iter_mut().zip(found) {
                *target = target.take().or_else(|| found.as_ref().and_then(|row| name_of(&AnyRow::of::<$table::Entity>(row.clone()))));
            }
        })*};
    }
    each!(service target_service_id, system target_system_id, domain target_domain_id, team target_team_id,
        infrastructure_resource target_infrastructure_resource_id);
    let words = definitions.into_iter().zip(targets).map(|(definition, target): (_, Option<String>)| {
        let definition = definition.map(|definition| definition.alias);
        format!("{}: {}", definition.unwrap_or_default(), target.unwrap_or_default())
    });
    Ok(words.collect())
}

fn tag_owner(class: &str) -> Option<tag::Column> {
    let owners = [
        ("Service", tag::Column::ServiceId),
        ("Repository", tag::Column::RepositoryId),
        ("Team", tag::Column::TeamId),
        ("System", tag::Column::SystemId),
        ("Domain", tag::Column::DomainId),
    ];
    owners.into_iter().find_map(|(owner, column)| (owner == class).then_some(column))
}

fn tool_words(tool: &tool::Model) -> String {
    let tool::Model { category, display_name, url, environment, .. } = tool;
    let of = environment.as_ref().map_or(String::new(), |environment| format!(", {environment}"));
    format!("{display_name} ({category}{of}): {url}")
}

fn contact_words(contact: &contact::Model) -> String {
    let contact::Model { r#type, address, display_name, .. } = contact;
    let name = display_name.as_ref().map_or(String::new(), |name| format!(" ({name})"));
    format!("{}: {address}{name}", r#type)
}

async fn aliases<T: AliasTable>(db: &dyn ReadHandle, owner: i64) -> Result<Vec<String>, db::Error> {
    let own = T::find().select_only().column(T::VALUE).filter(T::OWNER.eq(owner)).into_query();
    db.rows(&own, |row| row.get(0)).await
}

/// Compares the entries of a list. [`compare_relationships`] does it for relationships.
fn compare(changed: &mut Map<String, Json>, list: List, before: Entries, after: Entries) {
    match list {
        List::Tags => compare_named(changed, "tags", before, after),
        List::Properties => compare_named(changed, "properties", before, after),
        List::Aliases => compare_list(changed, "aliases", before, after),
        List::Members => compare_list(changed, "members", before, after),
        List::Repositories => compare_list(changed, "repositories", before, after),
        List::Tools => compare_list(changed, "tools", before, after),
        List::Contacts => compare_list(changed, "contacts", before, after),
        List::Dependencies => compare_list(changed, "dependencies", before, after),
        List::Relationships => {}
    }
}

/// Compares entries that have a name and a value.
pub(super) fn compare_named(changed: &mut Map<String, Json>, list: &str, mut before: Entries, after: Entries) {
    let value = |value: Option<Option<String>>| value.flatten().map_or(Json::Null, Json::from);
    for (key, new) in after {
        insert(changed, &format!("{list}.{key}"), value(before.remove(&key)), value(Some(new)));
    }
    for (key, old) in before {
        insert(changed, &format!("{list}.{key}"), value(Some(old)), Json::Null);
    }
}

pub(super) fn compare_list(changed: &mut Map<String, Json>, name: &str, before: Entries, after: Entries) {
    let only = |own: &Entries, other: &Entries| -> Vec<String> {
        own.keys().filter(|entry| !other.contains_key(*entry)).cloned().collect()
    };
    let (removed, added) = (only(&before, &after), only(&after, &before));
    if !removed.is_empty() || !added.is_empty() {
        changed.insert(name.to_owned(), json!({ "removed": removed, "added": added }));
    }
}
