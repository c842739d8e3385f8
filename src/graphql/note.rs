//! Describes a mutation for the audit: its subject, its input, and what it changed.

use serde_json::{Map, Value};

use super::{id, relationship};
use crate::db::{self, Db, Read, Transaction};
use crate::entity::audit::{self, Actor, Subject};
use crate::entity::change::{self, List};
use crate::entity::{ByAlias, domain, infrastructure_resource, service, system, team};

/// Makes the audit entry of the mutation `action`, which is stored when the mutation commits. Returns the subject, and
/// the entry. `input` holds the arguments, `payload` the identifying fields of the payload.
pub(super) async fn note(
    db: &Db,
    transaction: &Transaction,
    actor: &Actor,
    action: &str,
    input: &Value,
    payload: &Value,
) -> Result<(Subject, audit::ActiveModel), db::Error> {
    let mut subject = subject(payload, input);
    // Some relationships are a column of another row. They are recorded as changes of that row.
    match subject.class.as_deref() {
        Some(relationship::SYSTEM_OF_SERVICE) => subject.class = Some("Service".to_owned()),
        Some(relationship::DOMAIN_OF_SYSTEM) => subject.class = Some("System".to_owned()),
        _ => {}
    }
    let changed = changed(db, transaction, payload, input, &mut subject).await.map_err(let_pass)?;
    let mut detail = input.as_object().cloned().unwrap_or_default();
    detail.values_mut().filter_map(Value::as_object_mut).for_each(hide_secrets);
    if let Value::Object(changed) = changed
        && !changed.is_empty()
    {
        detail.insert("changed".to_owned(), changed.into());
    }
    let entry = audit::entry(actor, action, subject.clone(), &detail.into());
    Ok((subject, entry))
}

/// A migration that waits for this transaction keeps all other readers of its tables waiting. A mutation that meets one
/// has lost a race: it rolls back, which lets the migration pass, and is retried.
fn let_pass(error: db::Error) -> db::Error {
    if error.is_locked() { db::Error::LostRace } else { error }
}

/// Input fields that are secrets.
const SECRETS: &[&str] = &["apiKey", "clientSecret", "privateKey"];

/// Replaces each secret by a placeholder, which says only that one was given.
fn hide_secrets(input: &mut Map<String, Value>) {
    for secret in SECRETS {
        if let Some(value) = input.get_mut(*secret).filter(|value| !value.is_null()) {
            *value = "(secret)".into();
        }
    }
}

/// Finds what the mutation has changed. A change of tags is recorded as a change of their owner, which becomes the
/// subject.
async fn changed(
    db: &Db,
    transaction: &Transaction,
    payload: &Value,
    input: &Value,
    subject: &mut Subject,
) -> Result<Value, db::Error> {
    let committed = &db.committed(transaction);
    let tags = ids(payload, "Tag");
    if !tags.is_empty()
        && let Some((class, id, changed)) = change::of_tags(committed, transaction, &tags).await?
    {
        if subject.class.is_some() || subject.name.is_none() {
            subject.name = change::called_before(committed, transaction, class, id).await?;
        }
        (subject.class, subject.id) = (Some(class.to_owned()), Some(id));
        return Ok(changed);
    }
    if subject.class.is_none()
        && let Some(named) = by_alias(committed, payload, input).await?
    {
        *subject = named;
    }
    match (&subject.class, subject.id) {
        (Some(class), Some(id)) => {
            // Compare only lists that the mutation may have changed: each is read twice, while other writers wait.
            let members = ids(payload, "User");
            let mut lists = Vec::with_capacity(2);
            if payload.get("aliases").is_some() || payload.get("deletedAlias").is_some() {
                lists.push(List::Aliases);
            }
            if !members.is_empty() {
                lists.push(List::Members(&members));
            } else if input.pointer("/input/members").is_some() {
                lists.push(List::FirstMembers);
            }
            change::of(committed, transaction, class, id, &lists).await
        }
        _ => Ok(Map::new().into()),
    }
}

/// Finds the subject of a mutation that names it by an alias, and answers no id: it deletes that alias, or changes the
/// members of a team.
async fn by_alias(committed: &impl Read, payload: &Value, input: &Value) -> Result<Option<Subject>, db::Error> {
    let kind = input.pointer("/input/ownerType").and_then(Value::as_str);
    let (alias, kind) = match payload.get("deletedAlias").and_then(Value::as_str) {
        Some(alias) => (alias, kind),
        None => match input.pointer("/input/teamId").and_then(Value::as_str) {
            Some(alias) => (alias, Some("team")),
            None => return Ok(None),
        },
    };
    let found = match kind {
        Some("team") => team::Entity::by_alias(committed, alias).await?.map(|team| ("Team", team.id, team.alias)),
        Some("system") => {
            system::Entity::by_alias(committed, alias).await?.map(|system| ("System", system.id, system.slug))
        }
        Some("domain") => {
            domain::Entity::by_alias(committed, alias).await?.map(|domain| ("Domain", domain.id, domain.slug))
        }
        Some("infrastructure_resource") => infrastructure_resource::Entity::by_alias(committed, alias)
            .await?
            .map(|resource| ("InfrastructureResource", resource.id, resource.name)),
        _ => service::Entity::by_alias(committed, alias).await?.map(|service| ("Service", service.id, service.slug)),
    };
    Ok(found.map(|(class, id, name)| Subject::new(class, Some(id), &name)))
}

/// Returns the ids of one class in a payload: of its objects, and of what it names as deleted.
fn ids(payload: &Value, class: &str) -> Vec<i64> {
    let own = |object: &Value| object.get("id").and_then(|id| id_of("id", id));
    let ids = payload.as_object().into_iter().flatten().flat_map(|(name, value)| match value {
        Value::Array(objects) => objects.iter().filter_map(own).collect(),
        Value::Object(_) => Vec::from_iter(own(value)),
        _ => Vec::from_iter(id_of(name, value)),
    });
    ids.filter(|(known, _)| known == class).map(|(_, id)| id).collect()
}

/// Finds the subject of a mutation: the object in the payload, else the deleted thing that the payload names, else what
/// the input names. `payload` holds the identifying fields of the payload.
fn subject(payload: &Value, input: &Value) -> Subject {
    let members = || payload.as_object().into_iter().flatten();
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let named = |object: &Value| ["name", "alias", "key"].iter().find_map(|field| object.get(*field).and_then(text));
    // Of several repositories, the audit names the first, and has the others in the input.
    let first = payload.get("updatedRepositories").and_then(|repositories| repositories.get(0));
    for object in first.into_iter().chain(members().map(|(_, object)| object)) {
        if let Some((class, number)) = object.get("id").and_then(|id| id_of("id", id)) {
            return Subject { class: Some(class), id: Some(number), name: named(object) };
        }
    }
    let of_input = match input.as_object().and_then(|arguments| arguments.values().find(|value| value.is_object())) {
        Some(fields) => fields,
        None => input,
    };
    let name = members().filter(|(name, value)| id_of(name, value).is_none()).find_map(|(_, value)| text(value));
    let name = name.or_else(|| named(of_input)).or_else(|| named(input));
    let fields = [of_input, input].into_iter().filter_map(Value::as_object).flatten();
    let found = members()
        .find_map(|(name, value)| id_of(name, value))
        .or_else(|| fields.into_iter().find_map(|(name, value)| id_of(name, value)));
    let (class, number) = found.unzip();
    Subject { class, id: number, name }
}

/// Decodes the value of a field that holds a global id. Any other field holds what a caller wrote, even if it looks like
/// one: an alias can be the id of another thing.
fn id_of(name: &str, value: &Value) -> Option<(String, i64)> {
    let is_id = name == "id" || name.ends_with("Id");
    value.as_str().filter(|_| is_id).and_then(id::decode)
}
