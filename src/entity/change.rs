//! Computes what a transaction changes, for the audit: the fields of an object before and after.
//!
//! Writers do not keep old values. Until the transaction commits, another connection reads the committed rows, and the
//! transaction reads its own. The difference is the change. The transaction has locked the rows that it wrote, so no
//! other transaction can change them in the meantime.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::try_join;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ExprTrait, Query};
use sea_orm::{Iterable, ModelTrait, QueryOrder, QuerySelect, QueryTrait};
use serde_json::{Map, Value as Json, json};

use super::alias::AliasTable;
use super::{
    ByIds, Timestamp, alert_source, alert_source_service, audit, category, code_issue, code_issue_project,
    component_type, contact, domain, domain_alias, filter, infrastructure_resource, infrastructure_resource_alias,
    integration, level, lifecycle, property, property_definition, relationship, relationship_definition, repository,
    service, service_alias, service_dependency, service_document, service_repository, suggestion, system, system_alias,
    tag, team, team_alias, team_membership, tier, tool, user,
};
use crate::db::Read;

/// Parts of an object that are stored in another table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List<'a> {
    /// The aliases of a service, a team, a system, a domain or an infrastructure resource.
    Aliases,
    /// Those of these users who are members of a team, with their roles.
    Members(&'a [i64]),
    /// The first [`audit::ENTRIES`] members of a team, with their roles.
    FirstMembers,
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

/// The columns that can name an object, in order of preference.
const NAMES: &[&str] = &["slug", "alias", "default_alias", "email", "name", "key", "display_name", "address"];

/// The values of a row, by column.
type Columns = BTreeMap<&'static str, Value>;

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

/// Returns what `transaction` has changed of an object: a JSON object of fields, each with its `old` and `new` value,
/// or with what was `removed` and `added`. `committed` must read what others see. `class` is the SDL type.
///
/// Compares the given lists. Also compares the aliases if the name has changed, and the aliases and members if the
/// object was created or deleted.
pub async fn of(
    committed: &impl Read,
    transaction: &impl Read,
    class: &str,
    id: i64,
    lists: &[List<'_>],
) -> Result<Json, DbErr> {
    // Boxed, because each has room for the row of any table.
    let both = try_join(Box::pin(row(committed, class, id)), Box::pin(row(transaction, class, id)));
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
                let known = match called(transaction, class, id).await? {
                    None => called(committed, class, id).await?,
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
    for list in lists {
        if list == List::Relationships {
            if class == "Service" {
                compare_relationships(&mut changed, committed, transaction, id).await?;
            }
            continue;
        }
        let both =
            try_join(Box::pin(entries(committed, class, id, list)), Box::pin(entries(transaction, class, id, list)));
        let (before, after) = both.await?;
        compare(&mut changed, list, before, after);
    }
    Ok(Json::Object(changed))
}

/// Returns the owner of these tags, as an SDL type and an id, and what `transaction` has changed of the tags. Returns
/// `None` if the tags have several owners, or if none of them exists before or after.
pub async fn of_tags(
    committed: &impl Read,
    transaction: &impl Read,
    ids: &[i64],
) -> Result<Option<(&'static str, i64, Json)>, DbErr> {
    let ids = || ids.iter().copied().map(Some);
    let both = try_join(tag::Entity::by_ids(committed, ids()), tag::Entity::by_ids(transaction, ids()));
    let (before, after) = both.await?;
    let found = |tags: Vec<Option<tag::Model>>| -> Vec<tag::Model> { tags.into_iter().flatten().collect() };
    let (before, after) = (found(before), found(after));
    let owners: BTreeSet<_> = before.iter().chain(&after).map(owner).collect();
    let mut owners = owners.into_iter();
    let (Some(Some((class, id))), None) = (owners.next(), owners.next()) else { return Ok(None) };
    let mut changed = Map::new();
    let entries = |tags: Vec<tag::Model>| tags.into_iter().map(|tag| (tag.key, Some(tag.value))).collect();
    compare_named(&mut changed, "tags", entries(before), entries(after));
    Ok(Some((class, id, Json::Object(changed))))
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

/// Returns the name of an object. `None` if the object does not exist.
pub async fn called(db: &impl Read, class: &str, id: i64) -> Result<Option<String>, DbErr> {
    Ok(row(db, class, id).await?.as_ref().and_then(name_of))
}

/// The name among the values of a row.
fn name_of(row: &Columns) -> Option<String> {
    NAMES.iter().find_map(|name| match row.get(name)? {
        Value::String(name) => name.clone(),
        _ => None,
    })
}

async fn row(db: &impl Read, class: &str, id: i64) -> Result<Option<Columns>, DbErr> {
    macro_rules! each {
        ($($noun:literal $module:ident),*) => {
            match class {
                $($noun => $module::Entity::by_ids(db, [Some(id)]).await?.pop().flatten().as_ref().map(columns),)*
                _ => None,
            }
        };
    }
    Ok(nouns!(each))
}

fn columns<M: ModelTrait>(row: &M) -> Columns {
    let all = <M::Entity as EntityTrait>::Column::iter().map(|column| (column.as_str(), row.get(column)));
    all.filter(|(name, _)| !LEFT_OUT.contains(name)).collect()
}

/// The columns whose values differ, with both values.
fn different(before: Option<&Columns>, after: Option<&Columns>) -> Vec<(&'static str, Option<Value>, Option<Value>)> {
    let names: BTreeSet<&'static str> = before.into_iter().chain(after).flat_map(BTreeMap::keys).copied().collect();
    let value = |columns: Option<&Columns>, name: &str| columns.and_then(|columns| columns.get(name)).cloned();
    let both = names.into_iter().map(|name| (name, value(before, name), value(after, name)));
    both.filter(|(_, old, new)| old != new).collect()
}

/// Converts a value to readable JSON.
fn readable(column: &str, value: &Option<Value>) -> Json {
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
fn field(column: &str) -> String {
    let mut field = String::with_capacity(column.len());
    for (place, word) in column.split('_').enumerate() {
        let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        field.push_str(if place == 0 { first.to_owned() } else { first.to_uppercase() }.as_str());
        field.push_str(rest);
    }
    field
}

fn insert(changed: &mut Map<String, Json>, field: &str, old: Json, new: Json) {
    // A field that is null before and after has not changed, even if the row was created or deleted.
    if old != new {
        changed.insert(field.to_owned(), json!({ "old": old, "new": new }));
    }
}

/// The entries of a list. Tags also have values.
type Entries = BTreeMap<String, Option<String>>;

async fn entries(db: &impl Read, class: &str, id: i64, list: List<'_>) -> Result<Entries, DbErr> {
    let names = |names: Vec<String>| names.into_iter().map(|name| (name, None)).collect();
    Ok(match (list, class) {
        (List::Aliases, "Service") => names(aliases::<service_alias::Entity>(db, id).await?),
        (List::Aliases, "Team") => names(aliases::<team_alias::Entity>(db, id).await?),
        (List::Aliases, "System") => names(aliases::<system_alias::Entity>(db, id).await?),
        (List::Aliases, "Domain") => names(aliases::<domain_alias::Entity>(db, id).await?),
        (List::Aliases, "InfrastructureResource") => {
            names(aliases::<infrastructure_resource_alias::Entity>(db, id).await?)
        }
        (List::Members(_) | List::FirstMembers, "Team") => {
            let mut own = team_membership::Entity::find().filter(team_membership::Column::TeamId.eq(id));
            own = match list {
                List::Members(users) => own.filter(team_membership::Column::UserId.is_in(users.iter().copied())),
                _ => own.order_by_asc(team_membership::Column::Id).limit(audit::ENTRIES as u64),
            };
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

async fn dependencies(db: &impl Read, service: i64) -> Result<Vec<String>, DbErr> {
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
async fn properties(db: &impl Read, owner: property::Column, id: i64) -> Result<Entries, DbErr> {
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
    committed: &impl Read,
    transaction: &impl Read,
    service: i64,
) -> Result<(), DbErr> {
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

async fn relationships(db: &impl Read, service: i64) -> Result<Vec<relationship::Model>, DbErr> {
    use relationship::{Column, Entity};
    let own = Entity::find().filter(Column::SourceServiceId.eq(service));
    db.all(own.filter(Column::RelationshipDefinitionId.is_not_null()).order_by_asc(Column::Id)).await
}

/// Describes relationships by their definitions and targets. Reads the definitions in one statement, and the targets in
/// one for each kind.
async fn relationship_words(db: &impl Read, all: &[&relationship::Model]) -> Result<Vec<String>, DbErr> {
    let definitions = all.iter().map(|one| one.relationship_definition_id);
    let definitions = relationship_definition::Entity::by_ids(db, definitions).await?;
    let mut targets = vec![None; all.len()];
    macro_rules! each {
        ($($table:ident $id:ident),*) => {$({
            let found = $table::Entity::by_ids(db, all.iter().map(|one| one.$id)).await?;
            for (target, found) in targets.iter_mut().zip(found) {
                *target = target.take().or_else(|| found.as_ref().map(columns).as_ref().and_then(name_of));
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

async fn aliases<T: AliasTable>(db: &impl Read, owner: i64) -> Result<Vec<String>, DbErr> {
    let own = T::find().select_only().column(T::VALUE).filter(T::OWNER.eq(owner)).into_query();
    db.rows(&own, |row| row.get(0)).await
}

/// Compares the entries of a list. [`compare_relationships`] does it for relationships.
fn compare(changed: &mut Map<String, Json>, list: List<'_>, before: Entries, after: Entries) {
    match list {
        List::Tags => compare_named(changed, "tags", before, after),
        List::Properties => compare_named(changed, "properties", before, after),
        List::Aliases => compare_list(changed, "aliases", before, after),
        List::Members(_) | List::FirstMembers => compare_list(changed, "members", before, after),
        List::Repositories => compare_list(changed, "repositories", before, after),
        List::Tools => compare_list(changed, "tools", before, after),
        List::Contacts => compare_list(changed, "contacts", before, after),
        List::Dependencies => compare_list(changed, "dependencies", before, after),
        List::Relationships => {}
    }
}

/// Compares entries that have a name and a value.
fn compare_named(changed: &mut Map<String, Json>, list: &str, mut before: Entries, after: Entries) {
    let value = |value: Option<Option<String>>| value.flatten().map_or(Json::Null, Json::from);
    for (key, new) in after {
        insert(changed, &format!("{list}.{key}"), value(before.remove(&key)), value(Some(new)));
    }
    for (key, old) in before {
        insert(changed, &format!("{list}.{key}"), value(Some(old)), Json::Null);
    }
}

fn compare_list(changed: &mut Map<String, Json>, name: &str, before: Entries, after: Entries) {
    let only = |own: &Entries, other: &Entries| -> Vec<String> {
        own.keys().filter(|entry| !other.contains_key(*entry)).cloned().collect()
    };
    let (removed, added) = (only(&before, &after), only(&after, &before));
    if !removed.is_empty() || !added.is_empty() {
        changed.insert(name.to_owned(), json!({ "removed": removed, "added": added }));
    }
}
