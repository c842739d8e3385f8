//! Tags: keys with values on services, repositories, teams, users, systems, domains and infrastructure.
//!
//! The database enforces that exactly one owner is set, and that an owner has each combination of key and value once.
//! An owner may have several tags with the same key.

use std::collections::HashMap;

use sea_orm::sea_query::ExprTrait;
use sea_orm::{Condition, IntoActiveModel, Iterable, JoinType};

use super::prelude::*;
use super::service::Writable;
use super::{domain, infrastructure_resource, repository, service, service_alias, system, team, user};
use crate::column_groups;
use crate::db::Omitted;

super::table! {
    "tag";

    /// The key.
    pub key: String,
    /// The value; may be empty.
    pub value: String,
    /// The owner, if it is a service.
    pub service_id: Option<i64>,
    /// The owner, if it is a repository.
    pub repository_id: Option<i64>,
    /// The owner, if it is a team.
    pub team_id: Option<i64>,
    /// The owner, if it is a user.
    pub user_id: Option<i64>,
    /// The owner, if it is a system.
    pub system_id: Option<i64>,
    /// The owner, if it is a domain.
    pub domain_id: Option<i64>,
    /// The owner, if it is an infrastructure resource.
    pub infrastructure_resource_id: Option<i64>,
}

impl Table for Entity {
    const TOLD: Told = Told::In("tags");
    // Members tag users, too.
    const MAY_CHANGE: db::MayChange = db::MayChange::Members;
    // Tags are listed below their owner.
    const GROUPS: &'static [Omitted] = column_groups! {
        owners: ServiceId, RepositoryId, TeamId, UserId, SystemId, DomainId, InfrastructureResourceId;
    };

    fn owner(row: &Model) -> db::Owner {
        let owners = [
            db::Owner::row::<service::Entity>(row.service_id),
            db::Owner::row::<repository::Entity>(row.repository_id),
            db::Owner::row::<team::Entity>(row.team_id),
            db::Owner::row::<user::Entity>(row.user_id),
            db::Owner::row::<system::Entity>(row.system_id),
            db::Owner::row::<domain::Entity>(row.domain_id),
            db::Owner::row::<infrastructure_resource::Entity>(row.infrastructure_resource_id),
        ];
        owners.into_iter().flatten().next().unwrap_or(db::Owner::Nobody)
    }

    fn entry(row: &Model) -> Entry {
        Entry { value: Some(row.value.clone()), ..Entry::text(&row.key) }
    }
}

/// The owner of a tag, with its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner<'a> {
    /// A service.
    Service(&'a Writable),
    /// A repository.
    Repository(i64),
    /// A team.
    Team(i64),
    /// A user.
    User(i64),
    /// A system.
    System(i64),
    /// A domain.
    Domain(i64),
    /// An infrastructure resource.
    InfrastructureResource(i64),
}

impl Owner<'_> {
    /// Returns the column of owners of this kind.
    pub fn column(self) -> Column {
        match self {
            Self::Service(_) => Column::ServiceId,
            Self::Repository(_) => Column::RepositoryId,
            Self::Team(_) => Column::TeamId,
            Self::User(_) => Column::UserId,
            Self::System(_) => Column::SystemId,
            Self::Domain(_) => Column::DomainId,
            Self::InfrastructureResource(_) => Column::InfrastructureResourceId,
        }
    }

    /// Returns the id of the owner.
    pub fn id(self) -> i64 {
        match self {
            Self::Service(service) => service.id,
            Self::Repository(id)
            | Self::Team(id)
            | Self::User(id)
            | Self::System(id)
            | Self::Domain(id)
            | Self::InfrastructureResource(id) => id,
        }
    }
}

/// Checks the key of a tag, without the blanks around it: `^[a-z][0-9a-z_./\\-]*$`, at most [`text::TAG_KEY`] characters.
pub fn check_key(key: &str) -> Result<String, UserError> {
    let key = text::trim(key);
    let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_./\\-".contains(letter);
    if !key.starts_with(|first: char| first.is_ascii_lowercase()) || !key.chars().all(fits) {
        let rule = "key must begin with a lowercase letter and go on with lowercase letters, digits, _, -, ., / and \\";
        return Err(UserError::new("key", rule));
    }
    text::at_most("key", key, text::TAG_KEY)
}

/// Checks the value of a tag, a short text of at most [`text::TAG_VALUE`] characters. It may be empty.
pub fn check_value(value: &str) -> Result<String, UserError> {
    text::line("value", value, text::TAG_VALUE)
}

/// Builds a tag that is not stored yet. Inserting it violates the unique index if the owner already has this key with
/// this value.
pub fn new(owner: Owner<'_>, key: String, value: String) -> ActiveModel {
    let mut tag = ActiveModel { key: Set(key), value: Set(value), ..Default::default() };
    tag.set(owner.column(), owner.id().into());
    tag
}

/// What [`of_service`] reads.
#[derive(Debug)]
pub struct OfService {
    /// The service.
    pub id: i64,
    /// How many tags it has, counted up to one more than [`text::ENTRIES`].
    pub count: usize,
    /// Those with the keys that were asked for.
    pub with_keys: Vec<Model>,
}

/// The id of the service with this alias, or null.
pub fn service_called(alias: &str) -> Expr {
    super::id_of(service_alias::Column::ServiceId, service_alias::Column::Value, alias)
}

/// Reads the tags with the keys of `tags` that a service has, and how many tags it has in all, with one statement.
/// `service` is its id. `None` if there is no such service.
pub async fn of_service(
    db: &dyn ReadHandle,
    service: Expr,
    tags: &[(String, String)],
) -> Result<Option<OfService>, db::Error> {
    let id = (service::Entity, service::Column::Id);
    let is_of_it = Expr::col(Column::ServiceId).eq(service.clone());
    let mut all = Query::select().expr(Expr::cust("1")).from(Entity).and_where(is_of_it).take();
    let count = db::count_of(all.limit(text::ENTRIES as u64 + 1).take());
    let keys = tags.iter().map(|(key, _)| key.as_str());
    let on = Condition::all().add(Expr::col((Entity, Column::ServiceId)).equals(id)).add(Column::Key.is_in(keys));
    let mut select = Entity::find().order_by_asc(Column::Id).into_query();
    select.column(id).expr(db::scalar(count));
    select.join(JoinType::RightJoin, service::Entity, on).and_where(Expr::col(id).eq(service));
    let columns = Column::iter().count();
    let rows = db.rows(&select, move |row| {
        let tag = row.get::<Option<i64>>(0)?.map(|_| row.model::<Entity>()).transpose()?;
        Ok((row.get::<i64>(columns)?, row.get::<i64>(columns + 1)?, tag))
    });
    let rows = rows.await?;
    let Some(&(id, count, _)) = rows.first() else { return Ok(None) };
    let with_keys = rows.into_iter().filter_map(|(_, _, tag)| tag).collect();
    Ok(Some(OfService { id, count: usize::try_from(count).unwrap_or_default(), with_keys }))
}

/// Reads the tags with the keys of `tags` that an owner has.
async fn with_keys(db: &dyn ReadHandle, owner: Owner<'_>, tags: &[(String, String)]) -> Result<Vec<Model>, db::Error> {
    let keys = tags.iter().map(|(key, _)| key.as_str());
    let of_owner = Entity::find().filter(owner.column().eq(owner.id()));
    db.all(of_owner.filter(Column::Key.is_in(keys)).order_by_asc(Column::Id)).await
}

/// Gives the owner exactly one tag with each of these keys, with the given value. The keys must be distinct. Returns
/// the tags in the same order, and whether the owner has more tags now. The caller must have locked the owner, and may
/// have read its tags with these keys afterwards (`present`).
pub async fn assign(
    db: &dyn WriteHandle,
    owner: Owner<'_>,
    tags: Vec<(String, String)>,
    present: Option<Vec<Model>>,
) -> Result<(Vec<Model>, bool), db::Error> {
    if tags.is_empty() {
        return Ok((Vec::new(), false));
    }
    let present = match present {
        Some(present) => present,
        None => with_keys(db, owner, &tags).await?,
    };
    if let Owner::Service(_) = owner {
        // Whoever changes tags of a service locks it first.
        db.hold::<Entity>(&present);
    }
    let mut of_key = HashMap::<String, Vec<Model>>::new();
    for tag in present {
        of_key.entry(tag.key.clone()).or_default().push(tag);
    }
    let mut assigned = Vec::with_capacity(tags.len());
    let (mut updated, mut made, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for (key, value) in &tags {
        let mut present = of_key.remove(key).unwrap_or_default();
        if present.is_empty() {
            made.push(new(owner, key.clone(), value.clone()));
            continue;
        }
        // A tag that already has the value is kept as it is.
        let tag = present.remove(present.iter().position(|tag| tag.value == *value).unwrap_or_default());
        match tag.value == *value {
            true => assigned.push(tag),
            false => updated.push(Model { value: value.clone(), ..tag }),
        }
        others.extend(present.iter().map(|tag| tag.id));
    }
    super::delete_by_ids::<Entity>(db, Column::Id, &others).await?;
    if !updated.is_empty() {
        let rows = updated.into_iter().map(|tag| tag.into_active_model().reset_all());
        let by_id = OnConflict::column(Column::Id).update_column(Column::Value).to_owned();
        assigned.extend(db.returning(Entity::insert_many(rows).on_conflict(by_id)).await?);
    }
    let has_more = made.len() > others.len();
    if !made.is_empty() {
        assigned.extend(db.returning(Entity::insert_many(made)).await?);
    }
    let places: HashMap<&str, usize> = tags.iter().zip(0..).map(|((key, _), place)| (key.as_str(), place)).collect();
    assigned.sort_by_key(|row| places.get(row.key.as_str()).copied());
    Ok((assigned, has_more))
}
