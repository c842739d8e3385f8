//! Users as resources.

use std::collections::HashMap;

use async_graphql::{Request as Operation, Variables};
use sea_orm::sea_query::LockType;
use sea_orm::{ActiveModelTrait, ActiveValue, ColumnTrait, EntityTrait, QueryFilter, Set};
use serde_json::{Map, Value, json};

use super::change::{Done, carry_out, or_taken};
use super::error::{Refusal, ScimType, absent};
use super::person::Person;
use super::resource::{Asked, body, meta};
use super::{Answer, Error, Request, Service, conditions, list as page, patch, schemas};
use crate::db::{Read, ReadHandle, Transaction, Write};
use crate::entity::user::{self, ProvisionedBy, Role};
use crate::entity::{
    Timestamp, feed, remembered, row_lock, scim_group, scim_group_member as member, session, sign_in_link,
};
use crate::graphql::Unavailable;
use crate::graphql::field::id::Id;

/// The most users that a catalogue may have for another one to be created by SCIM.
pub const MOST_USERS: u64 = 100_000;

const TAKEN: &str = "Another user has this userName or email address, as either of them, or this externalId.";

/// The groups of users, by the ids of the users.
type GroupsOf = HashMap<i64, Vec<scim_group::OfUser>>;

/// The users that a filter selects, a page at a time.
pub async fn list(service: &Service<'_>, query: &str) -> Result<Answer, Error> {
    let asked = Asked::new(query)?;
    let db = service.db.begin_read(None).await?;
    let condition = asked.filter.as_ref().map(|filter| conditions::of_users(&db, filter)).transpose()?;
    let (mut users, total) = page::rows::<user::Entity>(&db, user::Column::Id, condition, &asked).await?;
    let mut groups = HashMap::new();
    if asked.shape.wants("groups") {
        let ids = |users: &[user::Model]| users.iter().map(|user| user.id).collect::<Vec<_>>();
        let sizes = member::numbers(&db, member::Column::UserId, &ids(&users)).await?;
        users.truncate(page::fitting(users.iter().map(|user| sizes.get(&user.id).copied().unwrap_or_default())));
        groups = scim_group::of_users(&db, &ids(&users)).await?;
    }
    let resources = users.iter().map(|user| asked.shape.apply(resource(service, user, &groups)));
    Ok(page::answer(&asked, total, resources.collect()))
}

/// A user.
pub async fn show(service: &Service<'_>, id: i64, query: &str) -> Result<Answer, Error> {
    let asked = Asked::new(query)?;
    let db = service.db.begin_read(None).await?;
    let user = db.one(user::Entity::find_by_id(id)).await?.ok_or_else(|| absent(id))?;
    shown(service, &db, &user, &asked).await.map(|user| Answer::new(200, user))
}

/// Creates a user, with the role of new users.
pub async fn create(service: &Service<'_>, request: &Request<'_>) -> Result<Answer, Error> {
    let asked = Asked::new(request.query)?;
    let person = Person::read(&body(request.body)?)?;
    let created = carry_out(service, "scimUserCreate", async |db| {
        if db.count(user::Entity::find()).await? >= MOST_USERS {
            let detail = format!("SCIM creates no user beside {MOST_USERS} others.");
            return Err(Refusal::too_large(detail).into());
        }
        let now = Timestamp::now();
        let mut row = person.row(None, now)?;
        row.role = Set(service.mapping.map_or(Role::Viewer, |settings| settings.role));
        row.provisioned_by = Set(Some(ProvisionedBy::Scim));
        row.created_at = Set(now);
        row.updated_at = row.created_at.clone();
        check_names(db, &row).await?;
        let user = or_taken(db.insert(row).await, TAKEN)?;
        shown(service, db, &user, &asked).await.map(Done::told)
    });
    created.await.map(|user| Answer::new(201, user))
}

/// Replaces what is known of a user. What the request leaves out is removed, but for the name that is shown, the address, and
/// whether the person may sign in.
pub async fn replace(service: &Service<'_>, id: i64, request: &Request<'_>) -> Result<Answer, Error> {
    let person = Person::read(&body(request.body)?)?;
    update(service, id, request.query, |_| Ok(person.clone())).await
}

/// Changes a user.
pub async fn change(service: &Service<'_>, id: i64, request: &Request<'_>) -> Result<Answer, Error> {
    let operations = patch::read(request.body)?;
    let changed = |user: &user::Model| {
        let mut person = Person::from_row(user);
        let mut unknown: Result<(), Refusal> = Ok(());
        for operation in &operations {
            match person.apply(operation) {
                Err(refusal) if refusal.is_about_the_path() => unknown = unknown.and(Err(refusal)),
                done => done?,
            }
        }
        // Nobody stays in for the sake of an attribute that does not exist.
        let says_so = operations.iter().any(|one| one.path.attribute.name == "active");
        if says_so && person.active == Some(false) { Ok(person) } else { unknown.map(|()| person) }
    };
    update(service, id, request.query, changed).await
}

async fn update(
    service: &Service<'_>,
    id: i64,
    query: &str,
    person: impl Fn(&user::Model) -> Result<Person, Refusal>,
) -> Result<Answer, Error> {
    let asked = Asked::new(query)?;
    let updated = carry_out(service, "scimUserUpdate", async |db| {
        if db.one(user::Entity::find_by_id(id)).await?.is_none() {
            return Err(absent(id).into());
        }
        let mut user = row_lock::row::<user::Entity>(db, id, LockType::NoKeyUpdate).await?;
        let person = person(&user)?;
        let leaves = user.is_active() && person.active == Some(false);
        if leaves {
            user = user::lock_to_demote(db, id).await.map_err(|error| as_state(error.into()))?;
        }
        let now = Timestamp::now();
        let row = person.row(Some(&user), now)?;
        if row.is_changed() {
            check_names(db, &row).await?;
            user = or_taken(db.update(row).await, TAKEN)?;
        }
        let detail = if leaves { end(db, id).await? } else { Map::new() };
        let answer = shown(service, db, &user, &asked).await?;
        Ok(Done { answer, detail })
    });
    updated.await.map(|user| Answer::new(200, user))
}

/// Checks that the name of a user is not the address of another, nor the address the name of another. An index refuses two
/// equal names, and two equal addresses, and the name of one that is the address of another without a name.
async fn check_names(db: &Transaction, row: &user::ActiveModel) -> Result<(), Error> {
    use user::Column;
    let name = match &row.user_name_key {
        ActiveValue::Set(Some(key)) => Some(Column::EmailKey.eq(key.clone())),
        _ => None,
    };
    let address = match &row.email_key {
        ActiveValue::Set(key) => Some(Column::UserNameKey.eq(key.clone())),
        _ => None,
    };
    if name.is_none() && address.is_none() {
        return Ok(());
    }
    // Of two who are named at once, the second is compared with the first.
    remembered::lock_user_names(db).await?;
    // A new user has no id yet.
    let own = row.id.try_as_ref().copied().unwrap_or_default();
    for same in [name, address].into_iter().flatten() {
        if db.one(user::Entity::find().filter(same).filter(Column::Id.ne(own))).await?.is_some() {
            return Err(Refusal::new(ScimType::Uniqueness, TAKEN).into());
        }
    }
    Ok(())
}

/// An error of the client that is about the state of the user, not about the value.
fn as_state(error: Error) -> Error {
    match error {
        Error::Refused(refusal) => Error::Refused(refusal.of_kind(ScimType::Mutability)),
        error => error,
    }
}

/// Ends what lets a person in: sessions, links for signing in, and feeds. Returns what the audit says of it.
async fn end(db: &Transaction, id: i64) -> Result<Map<String, Value>, Error> {
    let sessions = session::end_all(db, id).await?;
    let feeds = feed::revoke_all(db, id).await?;
    sign_in_link::void_all(db, id).await?;
    let detail = [("endedSessions", sessions), ("revokedFeeds", feeds)];
    Ok(detail.into_iter().map(|(name, number)| (name.to_owned(), number.into())).collect())
}

/// Deletes a user, by the mutation of the API.
pub async fn delete(service: &Service<'_>, id: i64) -> Result<Answer, Error> {
    if service.db.read().one(user::Entity::find_by_id(id)).await?.is_none() {
        return Err(absent(id).into());
    }
    let text = Id::new::<user::Entity>(id).text();
    let operation = Operation::new(DELETE).variables(Variables::from_json(json!({ "id": text })));
    let prepared = service.catalogue.prepare(&operation);
    let prepared = prepared.map_err(|errors| Error::Internal(format!("userDelete is refused: {errors:?}")))?;
    let response = service.catalogue.execute(&prepared, &service.caller, service.request_id, None).await;
    let response = response.map_err(|Unavailable(reason)| Error::Unavailable(reason))?;
    let answer: Value = serde_json::from_slice(&response.text).map_err(|error| Error::Internal(error.to_string()))?;
    if let Some(error) = answer["errors"][0]["message"].as_str() {
        return Err(Error::Internal(format!("userDelete fails: {error}")));
    }
    match answer["data"]["userDelete"]["errors"][0]["message"].as_str() {
        // Somebody else has deleted the user in the meantime.
        Some(_) if service.db.read().one(user::Entity::find_by_id(id)).await?.is_none() => Err(absent(id).into()),
        Some(message) => Err(Refusal::conflict(message).into()),
        None => Ok(Answer::nothing()),
    }
}

const DELETE: &str = "mutation($id: ID!) { userDelete(user: { id: $id }) { errors { message } } }";

/// A user as the client wants to see it.
async fn shown(service: &Service<'_>, db: &dyn ReadHandle, user: &user::Model, asked: &Asked) -> Result<Value, Error> {
    let groups = match asked.shape.wants("groups") {
        true => scim_group::of_users(db, &[user.id]).await?,
        false => HashMap::new(),
    };
    Ok(asked.shape.apply(resource(service, user, &groups)))
}

/// A user as a resource.
fn resource(service: &Service<'_>, user: &user::Model, groups: &GroupsOf) -> Value {
    let base = &service.base;
    let mut name = Map::new();
    name.insert("formatted".to_owned(), user.name.clone().into());
    for (part, value) in [("givenName", &user.given_name), ("familyName", &user.family_name)] {
        if let Some(value) = value {
            name.insert(part.to_owned(), value.clone().into());
        }
    }
    let groups = groups.get(&user.id).into_iter().flatten().map(|(id, name, _)| {
        json!({ "value": id.to_string(), "$ref": format!("{base}/Groups/{id}"), "display": name, "type": "direct" })
    });
    let mut resource = json!({
        "schemas": [schemas::USER],
        "id": user.id.to_string(),
        "userName": user.user_name.as_ref().unwrap_or(&user.email),
        "displayName": user.name,
        "name": name,
        "emails": [{ "value": user.email, "type": "work", "primary": true }],
        "active": user.is_active(),
        "groups": groups.collect::<Vec<_>>(),
        "meta": meta("User", user.created_at, user.updated_at, &format!("{base}/Users/{}", user.id)),
    });
    if let Some(external) = &user.external_id {
        resource["externalId"] = external.clone().into();
    }
    resource
}
