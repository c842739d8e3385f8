//! Tags: keys with values on services, repositories, teams, users, systems, domains and infrastructure.

use std::collections::HashSet;

use futures_util::future::join;

use super::field::alias::or_taken;
use super::field::draft::changed;
use super::list::relation;
use super::service;
use crate::entity::service::Writable;
use crate::entity::tag::{self, Owner};
use crate::entity::{self, ByAlias, repository, user};
use crate::graphql::prelude::*;

impl TagResolver for Tag {
    fn owner(&self) -> TaggableResource {
        match self {
            Self { repository_id: Some(_), .. } => TaggableResource::Repository,
            Self { team_id: Some(_), .. } => TaggableResource::Team,
            Self { user_id: Some(_), .. } => TaggableResource::User,
            Self { system_id: Some(_), .. } => TaggableResource::System,
            Self { domain_id: Some(_), .. } => TaggableResource::Domain,
            Self { infrastructure_resource_id: Some(_), .. } => TaggableResource::InfrastructureResource,
            _ => TaggableResource::Service,
        }
    }
}

/// A thing that can have tags: a service, locked for writing, or the key of another thing.
enum Taggable {
    Service(Box<Writable>),
    Repository(i64),
    Team(i64),
    User(i64),
    System(i64),
    Domain(i64),
    InfrastructureResource(i64),
}

impl Taggable {
    fn owner(&self) -> Owner<'_> {
        match self {
            Self::Service(service) => Owner::Service(service),
            Self::Repository(id) => Owner::Repository(*id),
            Self::Team(id) => Owner::Team(*id),
            Self::User(id) => Owner::User(*id),
            Self::System(id) => Owner::System(*id),
            Self::Domain(id) => Owner::Domain(*id),
            Self::InfrastructureResource(id) => Owner::InfrastructureResource(*id),
        }
    }
}

/// Finds the thing that a client names by id or alias, and locks it, so that other mutations cannot assign tags to it
/// meanwhile.
async fn taggable(db: &Transaction, identifier: Identifier<'_>, kind: Option<TaggableResource>) -> Result<Taggable> {
    let kind = match identifier {
        // An alias where the id belongs.
        Identifier::Id(id) if id::decode(id).is_none() => kind.unwrap_or(TaggableResource::Service),
        Identifier::Alias(_) => kind.unwrap_or(TaggableResource::Service),
        Identifier::Id(id) => {
            let kind = id::decode(id).and_then(|(class, _)| TaggableResource::from_word(&class));
            kind.ok_or_else(|| {
                UserError::new(
                    "id",
                    id::stray(id, "service, repository, team, user, system, domain or infrastructure resource"),
                )
                .not_found()
            })?
        }
    };
    let locking = &db.locking(LockType::Update);
    Ok(match (kind, identifier) {
        (TaggableResource::Service, identifier) => {
            Taggable::Service(Box::new(service::require_writable(db, identifier).await?))
        }
        (TaggableResource::Team, identifier) => {
            Taggable::Team(identifier::require::<Team>(locking, identifier).await?.id)
        }
        (TaggableResource::Repository, Identifier::Id(id)) => {
            Taggable::Repository(id::require::<repository::Entity>(locking, id, "id").await?.id)
        }
        (TaggableResource::Repository, Identifier::Alias(alias)) => {
            let repository = repository::Entity::by_alias(locking, alias).await?;
            Taggable::Repository(repository.ok_or_else(|| unknown("repository with the alias", alias))?.id)
        }
        (TaggableResource::User, Identifier::Id(id)) => {
            Taggable::User(id::require::<user::Entity>(locking, id, "id").await?.id)
        }
        (TaggableResource::User, Identifier::Alias(email)) => {
            let user = user::by_email(locking, email).await?;
            Taggable::User(user.ok_or_else(|| unknown("user with the email address", email))?.id)
        }
        (TaggableResource::System, identifier) => {
            Taggable::System(identifier::require::<System>(locking, identifier).await?.id)
        }
        (TaggableResource::Domain, identifier) => {
            Taggable::Domain(identifier::require::<Domain>(locking, identifier).await?.id)
        }
        (TaggableResource::InfrastructureResource, identifier) => Taggable::InfrastructureResource(
            identifier::require::<InfrastructureResource>(locking, identifier).await?.id,
        ),
    })
}

/// The id of the service, as an expression, if its tags can be read while it is being locked. That saves round trips.
/// `None` for other owners, and where there are no round trips.
fn early(db: &Transaction, identifier: Identifier<'_>, kind: Option<TaggableResource>) -> Option<Expr> {
    match identifier {
        _ if db::has_one_writer(db) => None,
        Identifier::Id(id) => id::number::<entity::service::Entity>(id).map(Expr::val),
        Identifier::Alias(alias) => {
            let is_service = kind.is_none_or(|kind| kind == TaggableResource::Service);
            is_service.then(|| tag::service_called(alias))
        }
    }
}

fn unknown(what: &str, alias: &str) -> UserError {
    UserError::new("alias", id::absent(&format!("{what} {}", quoted(alias)))).not_found()
}

/// Locks the service that a tag belongs to, if any. Fails if a service file governs the service.
async fn refuse_locked(db: &Transaction, tag: &Tag) -> Result<()> {
    if let Some(id) = tag.service_id {
        service::owner_writable(db, id).await?;
    }
    Ok(())
}

fn taken(field: &'static str, key: &str, value: &str) -> UserError {
    let message = format!("the tag with the key {} and the value {} already exists", quoted(key), quoted(value));
    UserError::new(field, message)
}

/// Fails if the owner has more tags than allowed. Call it after the insert.
async fn refuse_too_many(db: &Transaction, owner: Owner<'_>) -> Result<()> {
    relation::check_row_limit::<tag::Entity>(db, owner.column(), owner.id(), text::ENTRIES, ("an owner", "tags")).await
}

/// Checks the tags that an input sets: each key once.
pub(super) fn checked(tags: &[TagInput]) -> (Vec<(String, String)>, Problems) {
    let mut problems = Problems::default();
    let mut seen = HashSet::with_capacity(tags.len());
    let mut checked = Vec::with_capacity(tags.len());
    for (place, TagInput { key, value }) in tags.iter().enumerate() {
        let within = |error: UserError| error.within(place.to_string()).within("tags");
        let checked_key = problems.take(tag::check_key(key).map_err(within));
        let checked_value = problems.take(tag::check_value(value).map_err(within));
        if !seen.insert(text::trim(key)) {
            problems.push(within(UserError::new("key", format!("the key {} is given twice", quoted(key)))));
        }
        checked.extend(checked_key.zip(checked_value));
    }
    (checked, problems)
}

/// Gives a service exactly one tag with each of these keys, which are [`checked`].
pub(super) async fn assign(db: &Transaction, service: &Writable, tags: Vec<(String, String)>) -> Result<()> {
    let owner = Owner::Service(service);
    let (_, has_more) = tag::assign(db, owner, tags, None).await?;
    if has_more { refuse_too_many(db, owner).await } else { Ok(()) }
}

impl TagAssignMutation for Mutation {
    async fn tag_assign(ctx: &MutationCtx<'_>, input: TagAssignInput) -> Result<TagAssignPayload> {
        let TagAssignInput { id, alias, r#type, tags } = input;
        let db = ctx.db();
        if tags.len() > text::ENTRIES {
            return Err(UserError::new("tags", format!("at most {} tags can be set at once", text::ENTRIES)).into());
        }
        let identifier = Identifier::new(&id, &alias)?;
        let (checked, problems) = checked(&tags);
        let problems = problems.none();
        let early = early(db, identifier, r#type).filter(|_| problems.is_ok());
        let present = async {
            match early {
                Some(service) => tag::of_service(db, service, &checked).await,
                None => Ok(None),
            }
        };
        // They are sent in this order, so that nobody changes the tags after they are read.
        let (owner, present) = join(taggable(db, identifier, r#type), present).await;
        let (owner, present) = (owner?, present?);
        problems?;

        // Another service may have got the alias before the tags were read.
        let present = present.filter(|present| present.id == owner.owner().id());
        let all_fit = present.as_ref().is_some_and(|present| present.count + checked.len() <= text::ENTRIES);
        let present = present.map(|present| present.with_keys);
        let (tags, has_more) = tag::assign(db, owner.owner(), checked, present).await?;
        if has_more && !all_fit {
            refuse_too_many(db, owner.owner()).await?;
        }
        Ok(TagAssignPayload { tags: Some(tags), ..Default::default() })
    }
}

impl TagCreateMutation for Mutation {
    async fn tag_create(ctx: &MutationCtx<'_>, input: TagCreateInput) -> Result<TagCreatePayload> {
        let TagCreateInput { id, alias, r#type, key, value } = input;
        let db = ctx.db();
        let owner = taggable(db, Identifier::new(&id, &alias)?, r#type).await?;
        let mut problems = Problems::default();
        let new_key = problems.take(tag::check_key(&key));
        let new_value = problems.take(tag::check_value(&value));
        problems.none()?;

        let tag = db.insert(tag::new(owner.owner(), new_key.unwrap_or_default(), new_value.unwrap_or_default())).await;
        let tag = tag.map_err(|error| or_taken(error, taken("value", &key, &value)))?;
        refuse_too_many(db, owner.owner()).await?;
        Ok(TagCreatePayload { tag: Some(tag), ..Default::default() })
    }
}

impl TagUpdateMutation for Mutation {
    async fn tag_update(ctx: &MutationCtx<'_>, input: TagUpdateInput) -> Result<TagUpdatePayload> {
        let TagUpdateInput { id, key, value } = input;
        let db = ctx.db();
        let tag = id::require::<tag::Entity>(db, &id, "id").await?;
        refuse_locked(db, &tag).await?;
        let mut problems = Problems::default();
        let key = problems.take(changed("key", &key, |key| tag::check_key(key))).flatten();
        let value = problems.take(changed("value", &value, |value| tag::check_value(value))).flatten();
        problems.none()?;

        let (new_key, new_value) = (key.as_ref().unwrap_or(&tag.key), value.as_ref().unwrap_or(&tag.value));
        let error = taken(if value.is_some() { "value" } else { "key" }, new_key, new_value);
        let mut row: tag::ActiveModel = tag.into();
        if let Some(key) = key {
            row.key = Set(key);
        }
        if let Some(value) = value {
            row.value = Set(value);
        }
        let tag = db.update(row).await.map_err(|cause| or_taken(cause, error))?;
        Ok(TagUpdatePayload { tag: Some(tag), ..Default::default() })
    }
}

impl TagDeleteMutation for Mutation {
    async fn tag_delete(ctx: &MutationCtx<'_>, input: TagDeleteInput) -> Result<TagDeletePayload> {
        let TagDeleteInput { id } = input;
        let db = ctx.db();
        let tag = id::require::<tag::Entity>(db, &id, "id").await?;
        refuse_locked(db, &tag).await?;
        let deleted_tag_id = Some(id::Id::new::<tag::Entity>(tag.id));
        db.delete(tag).await?;
        Ok(TagDeletePayload { deleted_tag_id, ..Default::default() })
    }
}
