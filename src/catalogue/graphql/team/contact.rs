//! Contacts: how to reach the people who look after a service or a team, or one user.

use sea_orm::{ActiveModelTrait, Select};

use crate::engine::input::Texts;
use crate::entity::contact::{self, ActiveModel, Column, Entity};
use crate::entity::text::FEW;
use crate::entity::{self, ByAlias, repository, row_lock};
use crate::graphql::field::draft::changed;
use crate::graphql::list::relation;
use crate::graphql::prelude::*;
use crate::graphql::service;

impl ContactResolver for Contact {
    fn r#type(&self) -> ContactType {
        // Mutations write only words of the enum, so the fallback is not expected.
        ContactType::from_word(&self.r#type).unwrap_or(ContactType::Web)
    }
}

/// All contacts of each owner, the oldest first.
pub(in crate::graphql) async fn of_owners(
    ctx: &Ctx<'_>,
    owner: Column,
    ids: impl IntoIterator<Item = i64>,
) -> Result<Vec<Option<Vec<Contact>>>> {
    let lists = List::<Entity>::new(Column::Id).of_parents(owner, ids).first_n_per_parent(ctx.db(), FEW as u64).await?;
    Ok(lists.into_iter().map(Some).collect())
}

/// Writes the contacts of a new team.
pub(in crate::graphql) async fn of_new_team(db: &Transaction, team: i64, given: &[ContactInput]) -> Result<()> {
    add_all(db, checked("a team", given)?, Column::TeamId, team).await
}

/// Checks the field `contacts` of a new owner.
pub(in crate::graphql) fn checked(owner: &str, given: &[ContactInput]) -> Result<Vec<ActiveModel>> {
    let within = |place: usize| move |error: UserError| error.within(place.to_string()).within("contacts");
    if given.len() > FEW {
        return Err(UserError::new("contacts", format!("{owner} has at most {FEW} contacts")).into());
    }
    let mut problems = Problems::default();
    let mut rows = Vec::with_capacity(given.len());
    for (place, ContactInput { address, r#type, texts }) in given.iter().enumerate() {
        let mut draft = Draft::<Entity>::new();
        fill(&mut draft, *r#type, &MaybeUndefined::Value(address.clone()), texts);
        let row = draft.done().map_err(|error| error.map_user(within(place)));
        rows.extend(problems.take_any(row)?);
    }
    problems.none()?;
    Ok(rows)
}

/// Adds contacts to their owner, which must be locked or new.
pub(in crate::graphql) async fn add_all(
    db: &Transaction,
    rows: Vec<ActiveModel>,
    owner: Column,
    id: i64,
) -> Result<()> {
    for row in rows {
        add(db, row, owner, id).await?;
    }
    Ok(())
}

/// Sets the type, the address and the optional texts.
fn fill(draft: &mut Draft<Entity>, kind: ContactType, address: &MaybeUndefined<String>, texts: &Texts) {
    draft.set(Column::Address, address);
    if let (ContactType::Web, Some(address)) = (kind, address.value()) {
        // Pages show the address as a link.
        let url = repository::check_url(address).map_err(|error| UserError { path: vec!["address".into()], ..error });
        draft.problems.take(url);
    }
    draft.set_texts(texts);
    draft.row.r#type = Set(kind.as_str().to_owned());
}

/// Adds a contact to its owner, which must be locked. The owner's first contact of a type becomes the default.
async fn add(db: &Transaction, row: ActiveModel, owner: Column, id: i64) -> Result<Contact> {
    let kind = row.r#type.clone().take().unwrap_or_default();
    let is_first = db.count(of_type((owner, id), &kind)).await? == 0;
    let mut row = ActiveModel { is_default: Set(is_first), ..row };
    row.set(owner, id.into());
    let contact = db.insert(row).await?;
    relation::check_row_limit::<Entity>(db, owner, id, FEW, ("an owner", "contacts")).await?;
    Ok(contact)
}

/// The contacts of an owner that have this type.
fn of_type((owner, id): (Column, i64), kind: &str) -> Select<Entity> {
    Entity::find().filter(owner.eq(id)).filter(Column::Type.eq(kind))
}

/// Makes the oldest contact of this type the default, if there is one. The owner must be locked, and have no default of
/// this type.
async fn promote_oldest(db: &Transaction, owner: (Column, i64), kind: &str) -> Result<()> {
    if let Some(oldest) = db.one(of_type(owner, kind).order_by_asc(Column::Id)).await? {
        db.update(ActiveModel { is_default: Set(true), ..oldest.into() }).await?;
    }
    Ok(())
}

/// The class of what has this alias or email address. A service comes before a team.
async fn class_of_name(db: &Transaction, name: &str) -> Result<Option<&'static str>> {
    if entity::service::Entity::by_alias(db, name).await?.is_some() {
        return Ok(Some("Service"));
    }
    if entity::team::Entity::by_alias(db, name).await?.is_some() {
        return Ok(Some("Team"));
    }
    Ok(entity::user::by_email(db, name).await?.map(|_| "User"))
}

/// Finds and locks the owner that the input names. Returns the column of the owner, and its key.
async fn owner(db: &Transaction, input: &ContactCreateInput) -> Result<(Column, i64)> {
    let ContactCreateInput { owner_id, team_alias, team_id, .. } = input;
    let given = [("ownerId", owner_id), ("teamId", team_id), ("teamAlias", team_alias)];
    let mut given = given.into_iter().filter_map(|(field, named)| Some((field, named.value()?)));
    let (Some((field, named)), None) = (given.next(), given.next()) else {
        return Err(UserError::base("exactly one of ownerId, teamId and teamAlias must be given").into());
    };
    let at = |error: crate::error::Error| error.map_user(|error| UserError { path: vec![field.into()], ..error });
    let class = match id::decode(named) {
        None if field == "ownerId" => {
            let found = class_of_name(db, named).await?;
            Some(found.ok_or_else(|| id::absent_name(field, "service, team or user", named))?.to_owned())
        }
        decoded => decoded.map(|(class, _)| class),
    };
    match (field, class.as_deref()) {
        ("ownerId", Some("Service")) => {
            Ok((Column::ServiceId, service::require_writable_as(db, Identifier::Id(named), field).await?.id))
        }
        ("ownerId", Some("User")) => {
            let user = id::require::<entity::user::Entity>(&db.locking(LockType::Update), named, field).await?;
            Ok((Column::UserId, user.id))
        }
        ("ownerId", class) if class != Some("Team") => {
            Err(UserError::new(field, id::stray(named, "service, team or user")).not_found().into())
        }
        _ => {
            let identifier = if field == "teamAlias" { Identifier::Alias(named) } else { Identifier::Id(named) };
            let team = identifier::require::<Team>(&db.locking(LockType::Update), identifier).await.map_err(at)?;
            Ok((Column::TeamId, team.id))
        }
    }
}

/// Finds the contact with this id, and locks its owner and the contact. Fails if a service file governs the owner.
async fn require_locked(db: &Transaction, id: &str) -> Result<Contact> {
    let found = id::require::<Entity>(db, id, "id").await?;
    match found.owner() {
        (Column::ServiceId, id) => drop(service::owner_writable(db, id).await?),
        (Column::TeamId, id) => drop(row_lock::row::<entity::team::Entity>(db, id, LockType::Update).await?),
        (_, id) => drop(row_lock::row::<entity::user::Entity>(db, id, LockType::Update).await?),
    }
    // Read it again: another mutation could have changed it before the owner was locked.
    Ok(row_lock::row::<Entity>(db, found.id, LockType::Update).await?)
}

impl ContactCreateMutation for Mutation {
    async fn contact_create(ctx: &MutationCtx<'_>, input: ContactCreateInput) -> Result<ContactCreatePayload> {
        let db = ctx.db();
        let mut draft = Draft::<Entity>::new();
        let owner = draft.problems.take_any(owner(db, &input).await)?;
        let ContactCreateInput { address, r#type, texts, .. } = input;
        fill(&mut draft, r#type, &MaybeUndefined::Value(address), &texts);
        let row = draft.done()?;
        let (owner, id) = owner.ok_or_else(|| UserError::base("the owner is missing"))?;
        Ok(ContactCreatePayload { contact: Some(add(db, row, owner, id).await?), ..Default::default() })
    }
}

impl ContactUpdateMutation for Mutation {
    async fn contact_update(ctx: &MutationCtx<'_>, input: ContactUpdateInput) -> Result<ContactUpdatePayload> {
        let ContactUpdateInput { id, address, make_default, r#type, texts } = input;
        let db = ctx.db();
        let contact = require_locked(db, &id).await?;
        let (owner, was_default) = (contact.owner(), contact.is_default);
        let (had_type, had_address) = (ContactResolver::r#type(&contact), contact.address.clone());
        let mut draft = Draft::<Entity>::from_row(contact);
        let to = draft.problems.take(changed("type", &r#type, |kind| Ok(*kind))).flatten().unwrap_or(had_type);
        // If the type changes, check the stored address too: a web page needs a URL.
        let has_new_type = to != had_type;
        let address = if has_new_type && address.is_undefined() { MaybeUndefined::Value(had_address) } else { address };
        fill(&mut draft, to, &address, &texts);
        let mut row = draft.done()?;
        // Like a new contact, it becomes the default of its new type only if it is the first.
        let is_default = if has_new_type { db.count(of_type(owner, to.as_str())).await? == 0 } else { was_default };
        row.is_default = Set(is_default || make_default.value() == Some(&true));
        let contact = db.update(row).await?;
        if contact.is_default {
            contact::clear_other_defaults(db, &contact).await?;
        }
        if has_new_type && was_default {
            promote_oldest(db, owner, had_type.as_str()).await?;
        }
        Ok(ContactUpdatePayload { contact: Some(contact), ..Default::default() })
    }
}

impl ContactDeleteMutation for Mutation {
    async fn contact_delete(ctx: &MutationCtx<'_>, input: ContactDeleteInput) -> Result<ContactDeletePayload> {
        let ContactDeleteInput { id } = input;
        let db = ctx.db();
        let contact = require_locked(db, &id).await?;
        let deleted_contact_id = Some(ContactResolver::id(&contact));
        let owner = contact.owner();
        let (was_default, kind) = (contact.is_default, contact.r#type.clone());
        db.delete(contact).await?;
        if was_default {
            promote_oldest(db, owner, &kind).await?;
        }
        Ok(ContactDeletePayload { deleted_contact_id, ..Default::default() })
    }
}
