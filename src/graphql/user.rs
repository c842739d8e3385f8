//! Users: people who belong to teams, manage them, and deploy.

use std::collections::HashMap;

use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, ModelTrait, QueryFilter, Set};

use super::contact;
use super::context::{Ctx, MutationCtx};
use super::draft::{self, Draft};
use super::id;
use super::identifier::{OneOf, exactly_one, given};
use super::list::List;
use super::schema::*;
use super::types::{Contact, User};
use crate::db::Read;
use crate::engine::page::PageRequest;
use crate::entity::field_rule::Reference;
use crate::entity::timestamp::touch;
use crate::entity::user::{Role, email_key};
use crate::entity::{ByIds, Timestamp, contact as contacts, user};
use crate::error::{Code, Error, Result, UserError};

impl UserResolver for User {
    fn role(&self) -> UserRole {
        match self.role {
            Role::Admin => UserRole::Admin,
            Role::User => UserRole::User,
            Role::Viewer => UserRole::Viewer,
        }
    }

    async fn html_url(users: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<String>> {
        Ok(vec![format!("{}/users", ctx.settings().app_url); users.len()])
    }

    fn provisioned_by(&self) -> Option<ProvisionedByEnum> {
        None
    }

    async fn contacts(users: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<Vec<Contact>>>> {
        contact::of_owners(ctx, contacts::Column::UserId, users.iter().map(|user| user.id)).await
    }
}

/// The row's word for a role of the SDL.
fn stored(role: UserRole) -> Role {
    match role {
        UserRole::Admin => Role::Admin,
        UserRole::User => Role::User,
        UserRole::Viewer => Role::Viewer,
    }
}

/// All users, a page at a time.
pub(super) async fn page(ctx: &Ctx<'_>, request: &PageRequest) -> Result<UserConnectionType> {
    List::<user::Entity>::new(user::Column::Id).page(ctx, request).await
}

/// The user that a client names, or nothing: for queries.
pub(super) async fn find(db: &impl Read, named: &UserIdentifierInput) -> Result<Option<User>> {
    match all(db, &[named]).await?.pop() {
        Some(Ok(user)) => Ok(Some(user)),
        Some(Err(error)) if error.code != Code::NotFound => Err(error.into()),
        _ => Ok(None),
    }
}

/// The user that the argument `user` of a mutation names.
async fn require(db: &impl Read, named: &UserIdentifierInput) -> Result<User> {
    match all(db, &[named]).await?.pop() {
        Some(Ok(user)) => Ok(user),
        Some(Err(error)) => Err(error.within("user").into()),
        None => Err(Error::internal("a user was looked for and neither found nor missed")),
    }
}

/// The users that a client names, in its order, or what is wrong with a name: in two statements for any number.
pub(super) async fn all(db: &impl Read, named: &[&UserIdentifierInput]) -> Result<Vec<Result<User, UserError>>> {
    let names: Vec<_> = named.iter().map(|named| Name::new(named)).collect();
    let ids = names.iter().map(|name| match name {
        Ok(Name::Id(id)) => id::number::<user::Entity>(id),
        _ => None,
    });
    let mut by_id = user::Entity::by_ids(db, ids).await?.into_iter();
    let emails = names.iter().filter_map(|name| match name {
        Ok(Name::Email(email)) => Some(email_key(email)),
        _ => None,
    });
    let emails: Vec<String> = emails.collect();
    let mut by_email = HashMap::with_capacity(emails.len());
    if !emails.is_empty() {
        let users = db.all(user::Entity::find().filter(user::Column::EmailKey.is_in(emails))).await?;
        by_email.extend(users.into_iter().map(|user| (user.email_key.clone(), user)));
    }

    let mut users = Vec::with_capacity(names.len());
    for name in names {
        let found = by_id.next().flatten();
        users.push(match name {
            Err(error) => Err(error),
            Ok(Name::Email(email)) => by_email
                .get(&email_key(email))
                .cloned()
                .ok_or_else(|| UserError::new("email", Reference::User.unknown(email)).not_found()),
            Ok(Name::Id(id)) => match found {
                Some(user) => Ok(user),
                None => Err(id::missing::<user::Entity>(id, "id")),
            },
        });
    }
    Ok(users)
}

enum Name<'a> {
    Id(&'a str),
    Email(&'a str),
}

impl<'a> Name<'a> {
    /// The one that is given. Null and the empty text are the same as absent.
    fn new(named: &'a UserIdentifierInput) -> Result<Self, UserError> {
        let UserIdentifierInput { id, email } = named;
        match exactly_one(("id", given(id)), ("email", given(email))) {
            Ok(OneOf::First(id)) => Ok(Self::Id(id)),
            Ok(OneOf::Second(email)) => Ok(Self::Email(email)),
            // The field that holds the two is at fault; who knows its name puts it into the path.
            Err(error) => Err(UserError { path: Vec::new(), ..error }),
        }
    }
}

impl UserInviteMutation for Mutation {
    async fn user_invite(ctx: &MutationCtx<'_>, email: String, input: UserInput) -> Result<UserInvitePayload> {
        let UserInput { name, role } = input;
        let role = role.value().copied().map_or(Role::User, stored);
        let name = name.value().map(String::as_str);
        let user = user::create(ctx.db(), &email, name, role, Timestamp::now()).await?;
        Ok(UserInvitePayload { user: Some(user), ..Default::default() })
    }
}

impl UserUpdateMutation for Mutation {
    async fn user_update(
        ctx: &MutationCtx<'_>,
        user: UserIdentifierInput,
        input: UserInput,
    ) -> Result<UserUpdatePayload> {
        let UserInput { name, role } = input;
        let db = ctx.db();
        let user = require(db, &user).await?;
        let mut draft = Draft::<user::Entity>::new();
        draft.set(user::Column::Name, &name);
        let role = draft.problems.take(draft::changed("role", &role, |role| Ok(stored(*role)))).flatten();
        let changes = draft.done()?;

        let user = match role {
            Some(Role::Viewer | Role::User) => user::lock_to_demote(db, user.id).await?,
            Some(Role::Admin) | None => user,
        };
        let mut row = user::ActiveModel { name: changes.name, ..user.into() };
        if let Some(role) = role {
            row.role = Set(role);
        }
        touch(&mut row.updated_at);
        let user = row.update(db).await?;
        Ok(UserUpdatePayload { user: Some(user), ..Default::default() })
    }
}

impl UserDeleteMutation for Mutation {
    async fn user_delete(ctx: &MutationCtx<'_>, user: UserIdentifierInput) -> Result<UserDeletePayload> {
        let db = ctx.db();
        let user = require(db, &user).await?;
        let user = user::lock_to_demote(db, user.id).await?;
        let deleted_user_id = Some(UserResolver::id(&user));
        user.delete(db).await?;
        Ok(UserDeletePayload { deleted_user_id, ..Default::default() })
    }
}
