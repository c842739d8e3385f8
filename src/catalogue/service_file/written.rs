//! Writes the document of what the catalogue has: the service file that, applied, would change nothing.
//!
//! It has every key that has a value, and of the lists those entries that a file would govern: not the aliases that follow
//! from names, and not properties that service files may not set.

use std::collections::HashMap;
use std::fmt::Write as _;

use futures_util::future::BoxFuture;
use sea_orm::sea_query::Value;
use sea_orm::{ColumnTrait, EntityTrait, ModelTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};
use serde_json::Value as Json;

use super::reader::fields;
use crate::db::{self, Read, ReadHandle, Table};
use crate::entity::alias::{AliasKind, AliasTable};
use crate::entity::field_rule::{FieldRules, Reference};
use crate::entity::relationship::End;
use crate::entity::{
    ByAlias, ByIds, component_type, contact, domain, domain_alias, infrastructure_resource_alias, lifecycle, property,
    property_definition, relationship, relationship_definition, repository, service, service_alias, service_dependency,
    service_repository, system, system_alias, tag, team, team_alias, team_membership, tier, tool, user,
};

/// What a document can describe, with its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Described {
    /// A service.
    Service(i64),
    /// A repository.
    Repository(i64),
    /// A team.
    Team(i64),
    /// A system.
    System(i64),
    /// A domain.
    Domain(i64),
}

impl Described {
    /// What has this SDL type and id; `None` if no document describes the type.
    pub fn from_class(class: &str, id: i64) -> Option<Self> {
        Some(match class {
            "Service" => Self::Service(id),
            "Repository" => Self::Repository(id),
            "Team" => Self::Team(id),
            "System" => Self::System(id),
            "Domain" => Self::Domain(id),
            _ => return None,
        })
    }

    /// Its key in a document.
    pub fn key(self) -> &'static str {
        match self {
            Self::Service(_) => "service",
            Self::Repository(_) => "repository",
            Self::Team(_) => "team",
            Self::System(_) => "system",
            Self::Domain(_) => "domain",
        }
    }
}

/// Writes the document of something. Returns `None` if it does not exist.
pub fn write(db: &dyn ReadHandle, described: Described) -> BoxFuture<'_, Result<Option<String>, db::Error>> {
    Box::pin(async move {
        let Some(entries) = Box::pin(entries(db, described)).await? else { return Ok(None) };
        let mut text = String::new();
        if is_called_like_another(db, described, &entries).await? {
            let what = described.key();
            let _ = writeln!(text, "# This name finds another {what}: change it before you apply this file.");
        }
        text += "version: 1\n";
        write_entry(&mut text, 0, described.key(), &Written::Entries(entries));
        Ok(Some(text))
    })
}

/// Whether the name, by which a document finds what it describes, finds something else.
async fn is_called_like_another(
    db: &dyn ReadHandle,
    described: Described,
    entries: &Entries,
) -> Result<bool, db::Error> {
    let Some((_, Written::Value(Json::String(name)))) = entries.first() else { return Ok(false) };
    let (id, found) = match described {
        Described::Service(id) => (id, service::Entity::by_alias(db, name).await?.map(|row| row.id)),
        Described::Team(id) => (id, team::Entity::by_alias(db, name).await?.map(|row| row.id)),
        Described::System(id) => (id, system::Entity::by_alias(db, name).await?.map(|row| row.id)),
        Described::Domain(id) => (id, domain::Entity::by_alias(db, name).await?.map(|row| row.id)),
        // Its alias finds it.
        Described::Repository(_) => return Ok(false),
    };
    Ok(found.is_some_and(|found| found != id))
}

/// A value of YAML.
pub(super) enum Written {
    /// A text, a number or a flag, or a value of several parts on one line.
    Value(Json),
    Entries(Entries),
    List(Vec<Written>),
}

pub(super) type Entries = Vec<(String, Written)>;

impl Written {
    fn text(text: impl Into<String>) -> Self {
        Self::Value(Json::String(text.into()))
    }
}

/// Entries of a mapping of texts, without those that have none.
fn mapping<const N: usize>(pairs: [(&str, Option<&str>); N]) -> Written {
    let given = pairs.into_iter().filter_map(|(key, text)| Some((key.to_owned(), Written::text(text?))));
    Written::Entries(given.collect())
}

pub(super) fn write_entry(text: &mut String, depth: usize, key: &str, value: &Written) {
    let indent = "  ".repeat(depth);
    let _ = write!(text, "{indent}{}:", scalar(key));
    match value {
        Written::Value(value) => {
            let _ = writeln!(text, " {}", flow(value));
        }
        Written::Entries(entries) => {
            text.push('\n');
            entries.iter().for_each(|(key, value)| write_entry(text, depth + 1, key, value));
        }
        Written::List(items) => {
            text.push('\n');
            items.iter().for_each(|item| write_item(text, depth + 1, item));
        }
    }
}

fn write_item(text: &mut String, depth: usize, item: &Written) {
    let indent = "  ".repeat(depth);
    match item {
        Written::Value(value) => {
            let _ = writeln!(text, "{indent}- {}", flow(value));
        }
        Written::List(_) => {}
        Written::Entries(entries) => {
            let mut lines = String::new();
            entries.iter().for_each(|(key, value)| write_entry(&mut lines, depth + 1, key, value));
            // The first key stands beside the dash.
            let _ = write!(text, "{indent}- {}", lines.get(2 * (depth + 1)..).unwrap_or_default());
        }
    }
}

/// A value on one line. JSON is YAML, but for a few letters.
fn flow(value: &Json) -> String {
    match value {
        Json::String(text) => scalar(text),
        other => escaped(&other.to_string()),
    }
}

/// A text, in quotes unless every parser takes it for a text without them.
fn scalar(text: &str) -> String {
    /// Words that YAML 1.1 or 1.2 takes for something else.
    const OTHERS: [&str; 9] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    let is_plain = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-')
        && !OTHERS.contains(&&*text.to_ascii_lowercase());
    if is_plain { text.to_owned() } else { escaped(&Json::from(text).to_string()) }
}

/// JSON as YAML. Letters that YAML takes for line breaks, or does not allow, stand in JSON as they are.
fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(escaped, "\\u{:04x}", u32::from(letter));
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// The keys of a document, with their values. Returns `None` if there is nothing to describe.
async fn entries(db: &dyn ReadHandle, described: Described) -> Result<Option<Entries>, db::Error> {
    let found = match described {
        Described::Service(id) => {
            let begun = begin::<service::Entity, service_alias::Entity>(db, id, service::Column::Name).await?;
            let Some(mut entries) = begun else { return Ok(None) };
            add(&mut entries, "tags", tags(db, tag::Column::ServiceId, id).await?);
            add(&mut entries, "repositories", links(db, id).await?);
            add(&mut entries, "tools", tools(db, id).await?);
            add(&mut entries, "contacts", contacts(db, contact::Column::ServiceId, id).await?);
            add(&mut entries, "dependencies", dependencies(db, id).await?);
            add_properties(db, property::Column::ServiceId, id, &mut entries).await?;
            add_relationships(db, id, &mut entries).await?;
            entries
        }
        Described::Repository(id) => {
            let Some(row) = find::<repository::Entity>(db, id).await? else { return Ok(None) };
            let (name, alias) = (Written::text(&row.name), Written::text(&row.default_alias));
            let mut entries = vec![("name".to_owned(), name), ("alias".to_owned(), alias)];
            add_fields::<repository::Entity>(db, &row, &mut entries).await?;
            add(&mut entries, "tags", tags(db, tag::Column::RepositoryId, id).await?);
            entries
        }
        Described::Team(id) => {
            let begun = begin::<team::Entity, team_alias::Entity>(db, id, team::Column::Name).await?;
            let Some(mut entries) = begun else { return Ok(None) };
            add(&mut entries, "tags", tags(db, tag::Column::TeamId, id).await?);
            add(&mut entries, "members", members(db, id).await?);
            add(&mut entries, "contacts", contacts(db, contact::Column::TeamId, id).await?);
            add_properties(db, property::Column::TeamId, id, &mut entries).await?;
            entries
        }
        Described::System(id) => {
            let begun = begin::<system::Entity, system_alias::Entity>(db, id, system::Column::Name).await?;
            let Some(mut entries) = begun else { return Ok(None) };
            add(&mut entries, "tags", tags(db, tag::Column::SystemId, id).await?);
            entries
        }
        Described::Domain(id) => {
            let begun = begin::<domain::Entity, domain_alias::Entity>(db, id, domain::Column::Name).await?;
            let Some(mut entries) = begun else { return Ok(None) };
            add(&mut entries, "tags", tags(db, tag::Column::DomainId, id).await?);
            entries
        }
    };
    Ok(Some(found))
}

/// The name, the fields and the aliases of something that has aliases of its own.
async fn begin<E: FieldRules + ByIds, T: AliasTable + Table>(
    db: &dyn ReadHandle,
    id: i64,
    name: E::Column,
) -> Result<Option<Entries>, db::Error> {
    let Some(row) = find::<E>(db, id).await? else { return Ok(None) };
    let Value::String(Some(name)) = row.get(name) else { return Ok(None) };
    let mut entries = vec![("name".to_owned(), Written::text(name))];
    add_fields::<E>(db, &row, &mut entries).await?;
    add(&mut entries, "aliases", aliases::<T>(db, id).await?);
    Ok(Some(entries))
}

/// Adds a list, unless it is empty.
fn add(entries: &mut Entries, key: &str, items: Vec<Written>) {
    if !items.is_empty() {
        entries.push((key.to_owned(), Written::List(items)));
    }
}

/// Adds the fields of a row that have a value.
async fn add_fields<E: FieldRules>(
    db: &dyn ReadHandle,
    row: &E::Model,
    entries: &mut Entries,
) -> Result<(), db::Error> {
    for rule in fields::<E>() {
        let value = match (rule.value.reference(), row.get(rule.column)) {
            (Some(to), Value::BigInt(Some(id))) => named(db, to, id).await?.map(Json::String),
            (None, Value::String(Some(text))) => Some(Json::String(text)),
            (None, Value::Bool(Some(flag))) => Some(Json::Bool(flag)),
            _ => None,
        };
        entries.extend(value.map(|value| (rule.key().to_owned(), Written::Value(value))));
    }
    Ok(())
}

/// The text by which a document refers to a row.
async fn named(db: &dyn ReadHandle, to: Reference, id: i64) -> Result<Option<String>, db::Error> {
    Ok(match to {
        Reference::Team => find::<team::Entity>(db, id).await?.map(|row| row.alias),
        Reference::Tier => find::<tier::Entity>(db, id).await?.map(|row| row.alias),
        Reference::Lifecycle => find::<lifecycle::Entity>(db, id).await?.map(|row| row.alias),
        Reference::User => find::<user::Entity>(db, id).await?.map(|row| row.email),
        Reference::System => find::<system::Entity>(db, id).await?.map(|row| row.slug),
        Reference::Domain => find::<domain::Entity>(db, id).await?.map(|row| row.slug),
        Reference::ComponentType => find::<component_type::Entity>(db, id).await?.map(|row| row.alias),
    })
}

async fn find<E: ByIds>(db: &dyn ReadHandle, id: i64) -> Result<Option<E::Model>, db::Error> {
    Ok(E::by_ids(db, [Some(id)]).await?.pop().flatten())
}

/// The aliases that somebody gave the owner.
async fn aliases<T: AliasTable + Table>(db: &dyn ReadHandle, owner: i64) -> Result<Vec<Written>, db::Error> {
    let given =
        T::find().select_only().column(T::VALUE).filter(T::OWNER.eq(owner)).filter(T::KIND.eq(AliasKind::Managed));
    let given: Vec<String> = db.rows(given.order_by_asc(T::VALUE).as_query(), |row| row.get(0)).await?;
    Ok(given.into_iter().map(Written::text).collect())
}

async fn tags(db: &dyn ReadHandle, owner: tag::Column, id: i64) -> Result<Vec<Written>, db::Error> {
    let tags = db.all(tag::Entity::find().filter(owner.eq(id)).order_by_asc(tag::Column::Id)).await?;
    Ok(tags.iter().map(|tag| mapping([("key", Some(&tag.key)), ("value", Some(&tag.value))])).collect())
}

/// The links of a service to repositories.
async fn links(db: &dyn ReadHandle, service: i64) -> Result<Vec<Written>, db::Error> {
    use service_repository::{Column, Entity};
    let links = db.all(Entity::find().filter(Column::ServiceId.eq(service)).order_by_asc(Column::Id)).await?;
    let repositories = repository::Entity::by_ids(db, links.iter().map(|link| Some(link.repository_id))).await?;
    let link = |(link, repository): (service_repository::Model, Option<repository::Model>)| {
        let alias = repository?.default_alias;
        if link.base_directory.is_empty() && link.display_name.is_none() {
            return Some(Written::text(alias));
        }
        let folder = format!("/{}", link.base_directory);
        let name = ("display_name", link.display_name.as_deref());
        Some(mapping([("name", Some(&alias)), ("path", Some(&folder)), name]))
    };
    Ok(links.into_iter().zip(repositories).filter_map(link).collect())
}

async fn tools(db: &dyn ReadHandle, service: i64) -> Result<Vec<Written>, db::Error> {
    use tool::{Column, Entity};
    let tools = db.all(Entity::find().filter(Column::ServiceId.eq(service)).order_by_asc(Column::Id)).await?;
    let tool = |tool: &tool::Model| {
        let (name, category) = (Some(&*tool.display_name), Some(&*tool.category));
        let environment = ("environment", tool.environment.as_deref());
        mapping([("name", name), ("category", category), environment, ("url", Some(&tool.url))])
    };
    Ok(tools.iter().map(tool).collect())
}

async fn contacts(db: &dyn ReadHandle, owner: contact::Column, id: i64) -> Result<Vec<Written>, db::Error> {
    let mut contacts = db.all(contact::Entity::find().filter(owner.eq(id)).order_by_asc(contact::Column::Id)).await?;
    // The first of each type is its default.
    contacts.sort_by_key(|contact| !contact.is_default);
    let contact = |contact: &contact::Model| {
        mapping([
            ("type", Some(&*contact.r#type)),
            ("address", Some(&contact.address)),
            ("display_name", contact.display_name.as_deref()),
            ("display_type", contact.display_type.as_deref()),
            ("external_id", contact.external_id.as_deref()),
        ])
    };
    Ok(contacts.iter().map(contact).collect())
}

async fn dependencies(db: &dyn ReadHandle, service: i64) -> Result<Vec<Written>, db::Error> {
    use service_dependency::{Column, Entity};
    let edges = db.all(Entity::find().filter(Column::SourceId.eq(service)).order_by_asc(Column::Id)).await?;
    let ids: Vec<i64> = edges.iter().map(|edge| edge.destination_id).collect();
    let names: HashMap<i64, String> =
        service::labels(db, &ids).await?.into_iter().map(|label| (label.id, label.slug)).collect();
    let dependency = |edge: &service_dependency::Model| {
        let alias = names.get(&edge.destination_id)?;
        Some(match &edge.notes {
            None => Written::text(alias),
            notes => mapping([("alias", Some(alias)), ("notes", notes.as_deref())]),
        })
    };
    Ok(edges.iter().filter_map(dependency).collect())
}

async fn members(db: &dyn ReadHandle, team: i64) -> Result<Vec<Written>, db::Error> {
    use team_membership::{Column, Entity};
    let members = db.all(Entity::find().filter(Column::TeamId.eq(team)).order_by_asc(Column::Id)).await?;
    let users = user::Entity::by_ids(db, members.iter().map(|member| Some(member.user_id))).await?;
    let member = |(member, user): (team_membership::Model, Option<user::Model>)| {
        let email = user?.email;
        Some(match &member.role {
            None => Written::text(email),
            role => mapping([("email", Some(&email)), ("role", role.as_deref())]),
        })
    };
    Ok(members.into_iter().zip(users).filter_map(member).collect())
}

/// Adds the values of the definitions that service files may set.
async fn add_properties(
    db: &dyn ReadHandle,
    owner: property::Column,
    id: i64,
    entries: &mut Entries,
) -> Result<(), db::Error> {
    let values = db.all(property::Entity::find().filter(owner.eq(id)).order_by_asc(property::Column::Id)).await?;
    let definitions =
        property_definition::Entity::by_ids(db, values.iter().map(|value| Some(value.definition_id))).await?;
    let mut written = Entries::new();
    for (value, definition) in values.into_iter().zip(definitions) {
        if let Some(definition) = definition.filter(|definition| definition.allowed_in_config_files)
            && let Ok(json) = serde_json::from_str(&value.value)
        {
            written.push((definition.alias, Written::Value(json)));
        }
    }
    if !written.is_empty() {
        entries.push(("properties".to_owned(), Written::Entries(written)));
    }
    Ok(())
}

/// Adds the relationships of a service that have a definition.
async fn add_relationships(db: &dyn ReadHandle, service: i64, entries: &mut Entries) -> Result<(), db::Error> {
    use relationship::{Column, Entity};
    let of_service = Entity::find()
        .filter(Column::SourceServiceId.eq(service))
        .filter(Column::RelationshipDefinitionId.is_not_null())
        .order_by_asc(Column::RelationshipDefinitionId)
        .order_by_asc(Column::Id);
    let rows = db.all(of_service).await?;
    let definitions =
        relationship_definition::Entity::by_ids(db, rows.iter().map(|row| row.relationship_definition_id)).await?;
    let targets: Vec<End> = rows.iter().filter_map(relationship::Model::target).collect();
    let aliases = aliases_of(db, &targets).await?;
    let mut by_definition: Vec<(String, Vec<Written>)> = Vec::new();
    for (row, definition) in rows.into_iter().zip(definitions) {
        let Some((definition, target)) = definition.zip(row.target()) else { continue };
        let Some(alias) = aliases.get(&target.named()) else { continue };
        let target = mapping([("alias", Some(alias)), ("type", Some(word(target)))]);
        match by_definition.last_mut().filter(|(last, _)| *last == definition.alias) {
            Some((_, targets)) => targets.push(target),
            None => by_definition.push((definition.alias, vec![target])),
        }
    }
    if !by_definition.is_empty() {
        let written = by_definition.into_iter().map(|(definition, targets)| (definition, Written::List(targets)));
        entries.push(("relationships".to_owned(), Written::Entries(written.collect())));
    }
    Ok(())
}

/// What a document calls the kind of a target.
fn word(target: End) -> &'static str {
    match target {
        End::Service(_) => "service",
        End::System(_) => "system",
        End::Domain(_) => "domain",
        End::Team(_) => "team",
        End::InfrastructureResource(_) => "infrastructure_resource",
    }
}

/// An alias of each target, by its SDL type and id. Takes one statement for each kind of target.
async fn aliases_of(db: &dyn ReadHandle, targets: &[End]) -> Result<HashMap<(&'static str, i64), String>, db::Error> {
    let ids = |class: &'static str| -> Vec<i64> {
        targets.iter().map(|target| target.named()).filter(|(named, _)| *named == class).map(|(_, id)| id).collect()
    };
    let some = |class: &'static str| ids(class).into_iter().map(Some);
    let mut found = HashMap::new();
    let services = ids("Service");
    if !services.is_empty() {
        let labels = service::labels(db, &services).await?;
        found.extend(labels.into_iter().map(|label| (("Service", label.id), label.slug)));
    }
    let systems = system::Entity::by_ids(db, some("System")).await?.into_iter().flatten();
    found.extend(systems.map(|row| (("System", row.id), row.slug)));
    let domains = domain::Entity::by_ids(db, some("Domain")).await?.into_iter().flatten();
    found.extend(domains.map(|row| (("Domain", row.id), row.slug)));
    let teams = team::Entity::by_ids(db, some("Team")).await?.into_iter().flatten();
    found.extend(teams.map(|row| (("Team", row.id), row.alias)));
    let resources = ids("InfrastructureResource");
    if !resources.is_empty() {
        use infrastructure_resource_alias::{Column, Entity};
        let aliases = Entity::find().filter(db::any(db, Column::InfrastructureResourceId, &resources));
        for row in db.all(aliases.order_by_asc(Column::Value)).await? {
            // It has no slug: the first of its aliases stands for it.
            found.entry(("InfrastructureResource", row.infrastructure_resource_id)).or_insert(row.value);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_in_quotes_where_a_parser_could_take_them_for_something_else() {
        let written = |text: &str| scalar(text);
        for plain in ["cart", "Cart-2", "a_b"] {
            assert_eq!(written(plain), plain);
        }
        for other in
            ["", "no", "NULL", "Yes", "1.0", "0x1", "a: b", "- a", "#c", "~", "*a", "&a", "@x", "a b", "2026-01-02"]
        {
            assert_eq!(written(other), Json::from(other).to_string());
        }
        assert_eq!(written("a\u{85}\u{2028}\u{7f}\n"), "\"a\\u0085\\u2028\\u007f\\n\"");
    }
}
