//! Groups as resources. The settings say which roles and teams they give.

use std::collections::{BTreeSet, HashMap};

use sea_orm::sea_query::{Expr, ExprTrait, LockType, Query};
use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, Set};
use serde_json::{Map, Value, json};

use super::change::{Done, carry_out, or_taken};
use super::error::{Refusal, ScimType, absent};
pub use super::membership::{GROUPS_OF_USER, MEMBERS, MEMBERS_AT_ONCE};
use super::membership::{Members, map};
use super::patch::{self, Operation, check_other};
use super::resource::{Asked, body, meta, text};
use super::{Answer, Error, Request, Service, conditions, list as page, schemas};
use crate::db::{self, Read, ReadHandle, Transaction, Write};
use crate::entity::scim_group::{ActiveModel, Column, Entity, Model, name_key};
use crate::entity::timestamp::touch;
use crate::entity::{Timestamp, row_lock, scim_group_member as member, text as texts, user};
use crate::group_mapping::Move;

/// The most groups.
pub const MOST_GROUPS: u64 = 10_000;

const TAKEN: &str = "Another group has this displayName or externalId.";

/// The members of groups, by the ids of the groups: their ids and names.
type MembersOf = HashMap<i64, Vec<(i64, String)>>;

/// What a request says of a group.
#[derive(Debug, Clone)]
struct Said {
    display_name: Option<String>,
    external_id: Option<String>,
    members: Members,
}

impl Said {
    /// Reads a whole resource.
    fn read(given: &Map<String, Value>) -> Result<Self, Refusal> {
        let value_of = |name: &str| given.get(name).unwrap_or(&Value::Null);
        Ok(Self {
            display_name: text("displayName", value_of("displayName"))?,
            external_id: text("externalId", value_of("externalId"))?,
            members: Members::exactly(value_of("members"))?,
        })
    }

    /// A group as it is, before operations change it.
    fn from_row(group: &Model) -> Self {
        let (display_name, external_id) = (Some(group.display_name.clone()), group.external_id.clone());
        Self { display_name, external_id, members: Members::unchanged() }
    }

    /// Carries an operation out.
    fn apply(&mut self, operation: &Operation) -> Result<(), Refusal> {
        let Operation { op, path, value } = operation;
        let value = if *op == patch::Op::Remove { &Value::Null } else { value };
        match (&*path.attribute.name, &path.attribute.sub, &path.filter) {
            ("members", ..) => self.members.apply(operation)?,
            ("displayname", None, None) => self.display_name = text("displayName", value)?,
            ("externalid", None, None) => self.external_id = text("externalId", value)?,
            ("displayname" | "externalid", ..) => {
                let detail = format!("The attribute {} has no parts.", path.attribute.name);
                return Err(Refusal::new(ScimType::InvalidPath, detail));
            }
            _ => check_other(&path.attribute)?,
        }
        Ok(())
    }

    /// The row of the group, with the columns that differ from `before` set.
    fn row(&self, before: Option<&Model>) -> Result<ActiveModel, Error> {
        let name = self.display_name.as_deref();
        let name = name.ok_or_else(|| Refusal::value("A group must have the attribute displayName."))?;
        let name = texts::required("displayName", name, texts::SHORT)?;
        let external = self.external_id.as_deref();
        let external = external.map_or(Ok(None), |id| texts::optional("externalId", id, texts::SHORT))?;
        let mut row = before.cloned().map(ActiveModel::from).unwrap_or_default();
        row.name_key.set_ne(name_key(&name));
        row.display_name.set_ne(name);
        row.external_id.set_ne(external);
        Ok(row)
    }
}

/// The groups that a filter selects, a page at a time.
pub async fn list(service: &Service<'_>, query: &str) -> Result<Answer, Error> {
    let asked = Asked::new(query)?;
    let db = service.db.begin_read(None).await?;
    let condition = asked.filter.as_ref().map(|filter| conditions::of_groups(&db, filter)).transpose()?;
    let (mut groups, total) = page::rows::<Entity>(&db, Column::Id, condition, &asked).await?;
    let mut members = HashMap::new();
    if asked.shape.wants("members") {
        let ids = |groups: &[Model]| groups.iter().map(|group| group.id).collect::<Vec<_>>();
        let sizes = member::numbers(&db, member::Column::GroupId, &ids(&groups)).await?;
        groups.truncate(page::fitting(groups.iter().map(|group| sizes.get(&group.id).copied().unwrap_or_default())));
        members = members_of(&db, &ids(&groups)).await?;
    }
    let resources = groups.iter().map(|group| asked.shape.apply(resource(service, group, &members)));
    Ok(page::answer(&asked, total, resources.collect()))
}

/// A group.
pub async fn show(service: &Service<'_>, id: i64, query: &str) -> Result<Answer, Error> {
    let asked = Asked::new(query)?;
    let db = service.db.begin_read(None).await?;
    let group = db.one(Entity::find_by_id(id)).await?.ok_or_else(|| absent(id))?;
    shown(service, &db, &group, &asked).await.map(|group| Answer::new(200, group))
}

/// Creates a group.
pub async fn create(service: &Service<'_>, request: &Request<'_>) -> Result<Answer, Error> {
    let asked = Asked::new(request.query)?;
    let said = Said::read(&body(request.body)?)?;
    let created = carry_out(service, "scimGroupCreate", async |db| {
        if db.count(Entity::find()).await? >= MOST_GROUPS {
            return Err(Refusal::too_large(format!("There are at most {MOST_GROUPS} groups.")).into());
        }
        let now = Timestamp::now();
        let mut row = said.row(None)?;
        row.created_at = Set(now);
        row.updated_at = row.created_at.clone();
        let group = or_taken(db.insert(row).await, TAKEN)?;
        let (joined, _) = said.members.store(db, group.id).await?;
        map(service, db, &[Move::new(joined, &[], &names(&group))]).await?;
        shown(service, db, &group, &asked).await.map(Done::told)
    });
    created.await.map(|group| Answer::new(201, group))
}

/// Replaces a group and its members.
pub async fn replace(service: &Service<'_>, id: i64, request: &Request<'_>) -> Result<Answer, Error> {
    let asked = Asked::new(request.query)?;
    let said = Said::read(&body(request.body)?)?;
    let replaced = carry_out(service, "scimGroupUpdate", async |db| {
        let group = store(service, db, id, |_| Ok(said.clone())).await?;
        shown(service, db, &group, &asked).await.map(Done::told)
    });
    replaced.await.map(|group| Answer::new(200, group))
}

/// Changes a group. Answers without the group, whose members may be many, unless the client names attributes.
pub async fn change(service: &Service<'_>, id: i64, request: &Request<'_>) -> Result<Answer, Error> {
    let asked = Asked::new(request.query)?;
    let operations = patch::read(request.body)?;
    let shows = asked.shape != super::attributes::Shape::All;
    let changed = carry_out(service, "scimGroupUpdate", async |db| {
        let said = |group: &Model| {
            let mut said = Said::from_row(group);
            operations.iter().try_for_each(|operation| said.apply(operation))?;
            Ok(said)
        };
        let group = store(service, db, id, said).await?;
        let answer = if shows { Some(shown(service, db, &group, &asked).await?) } else { None };
        Ok(Done::told(answer))
    });
    let group = changed.await?;
    Ok(group.map_or_else(Answer::nothing, |group| Answer::new(200, group)))
}

/// Stores what is said of a group, and gives its members, and those who were, what their groups give.
async fn store(
    service: &Service<'_>,
    db: &Transaction,
    id: i64,
    said: impl Fn(&Model) -> Result<Said, Refusal>,
) -> Result<Model, Error> {
    if db.one(Entity::find_by_id(id)).await?.is_none() {
        return Err(absent(id).into());
    }
    let before = row_lock::row::<Entity>(db, id, LockType::NoKeyUpdate).await?;
    let said = said(&before)?;
    let mut row = said.row(Some(&before))?;
    let is_renamed = row.is_changed();
    let (joined, left) = said.members.store(db, id).await?;
    if !is_renamed && joined.is_empty() && left.is_empty() {
        return Ok(before);
    }
    touch(&mut row.updated_at);
    let group = or_taken(db.update(row).await, TAKEN)?;
    let mut staying = if is_renamed { member::of_group(db, id).await? } else { Vec::new() };
    let new: BTreeSet<i64> = joined.iter().copied().collect();
    staying.retain(|user| !new.contains(user));
    let (before, after) = (names(&before), names(&group));
    let moves = [Move::new(joined, &[], &after), Move::new(left, &before, &[]), Move::new(staying, &before, &after)];
    map(service, db, &moves).await?;
    Ok(group)
}

/// Deletes a group. Its members lose what it gave them.
pub async fn delete(service: &Service<'_>, id: i64) -> Result<Answer, Error> {
    let deleted = carry_out(service, "scimGroupDelete", async |db| {
        if db.one(Entity::find_by_id(id)).await?.is_none() {
            return Err(absent(id).into());
        }
        let group = row_lock::row::<Entity>(db, id, LockType::Update).await?;
        let members = member::of_group(db, id).await?;
        let names = names(&group);
        db.delete(group).await?;
        map(service, db, &[Move::new(members, &names, &[])]).await?;
        Ok(Done::told(()))
    });
    deleted.await.map(|()| Answer::nothing())
}

/// The names by which the settings may mean a group.
fn names(group: &Model) -> Vec<String> {
    group.names().map(str::to_owned).collect()
}

/// The members of groups, in the order of their ids.
async fn members_of(db: &dyn ReadHandle, groups: &[i64]) -> Result<MembersOf, db::Error> {
    let of_member = |column: member::Column| Expr::col(column.as_column_ref());
    let of_user = |column: user::Column| Expr::col(column.as_column_ref());
    let select = Query::select()
        .expr(of_member(member::Column::GroupId))
        .expr(of_member(member::Column::UserId))
        .expr(of_user(user::Column::Name))
        .from(member::Entity)
        .inner_join(user::Entity, of_member(member::Column::UserId).eq(of_user(user::Column::Id)))
        .and_where(db::any(db, member::Column::GroupId, groups))
        .take();
    let rows = db.rows(&select, |row| Ok((row.get::<i64>(0)?, (row.get(1)?, row.get(2)?)))).await?;
    let mut members: MembersOf = HashMap::new();
    for (group, member) in rows {
        members.entry(group).or_default().push(member);
    }
    members.values_mut().for_each(|members| members.sort_unstable());
    Ok(members)
}

/// A group as the client wants to see it.
async fn shown(service: &Service<'_>, db: &dyn ReadHandle, group: &Model, asked: &Asked) -> Result<Value, Error> {
    let members = match asked.shape.wants("members") {
        true => members_of(db, &[group.id]).await?,
        false => HashMap::new(),
    };
    Ok(asked.shape.apply(resource(service, group, &members)))
}

/// A group as a resource.
fn resource(service: &Service<'_>, group: &Model, members: &MembersOf) -> Value {
    let base = &service.base;
    let members = members.get(&group.id).into_iter().flatten().map(|(id, name)| {
        json!({ "value": id.to_string(), "$ref": format!("{base}/Users/{id}"), "display": name, "type": "User" })
    });
    let mut resource = json!({
        "schemas": [schemas::GROUP],
        "id": group.id.to_string(),
        "displayName": group.display_name,
        "members": members.collect::<Vec<_>>(),
        "meta": meta("Group", group.created_at, group.updated_at, &format!("{base}/Groups/{}", group.id)),
    });
    if let Some(external) = &group.external_id {
        resource["externalId"] = external.clone().into();
    }
    resource
}
