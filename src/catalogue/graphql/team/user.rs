//! Users: people who belong to teams, manage them, and deploy.

use std::collections::HashMap;

use sea_orm::sea_query::{ExprTrait, Query as Select};

use super::contact;
use super::hand_over;
use crate::db::Backend;
use crate::entity::field_rule::Reference;
use crate::entity::user::{ProvisionedBy, Role, email_key};
use crate::entity::{contact as contacts, pages, tag, user};
use crate::error::Code;
use crate::graphql::field::draft;
use crate::graphql::field::identifier::{OneOf, exactly_one, given};
use crate::graphql::list::sort::{Ordered, Sort};
use crate::graphql::prelude::*;

impl UserResolver for User {
    fn role(&self) -> UserRole {
        same!(self.role, Role => UserRole { Admin StandardsAdmin User TeamMember Viewer })
    }

    async fn html_url(users: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<String>> {
        let app_url = &ctx.settings().app_url;
        Ok(users.iter().map(|user| pages::url(app_url, ["users", &user.id.to_string()])).collect())
    }

    fn provisioned_by(&self) -> Option<ProvisionedByEnum> {
        Some(match self.provisioned_by? {
            ProvisionedBy::CommandLine => ProvisionedByEnum::ApiCli,
            ProvisionedBy::Scim => ProvisionedByEnum::IntegrationScim,
            ProvisionedBy::User => ProvisionedByEnum::User,
            ProvisionedBy::Token => ProvisionedByEnum::ApiOther,
            ProvisionedBy::OpenId => ProvisionedByEnum::SsoOther,
        })
    }

    async fn contacts(users: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<Vec<Contact>>>> {
        contact::of_owners(ctx, contacts::Column::UserId, users.iter().map(|user| user.id)).await
    }
}

/// Converts a role of the SDL to the stored one.
pub(in crate::graphql) fn stored(role: UserRole) -> Role {
    same!(role, UserRole => Role { Admin StandardsAdmin User TeamMember Viewer })
}

/// The maximum number of conditions on users.
pub const CONDITIONS: usize = 20;

/// The users that meet every condition, a page at a time.
pub(in crate::graphql) async fn page(args: &AccountUsersArgs, ctx: &Ctx<'_>) -> Result<UserConnectionType> {
    let AccountUsersArgs { sort_by, first, after, filter } = args;
    let request = PageRequest::new(first, after)?;
    let given = filter.value().map(Vec::as_slice).unwrap_or_default();
    if given.len() > CONDITIONS {
        return Err(UserError::new("filter", format!("at most {CONDITIONS} conditions can be given")).into());
    }
    let mut users = List::<user::Entity>::new(user::Column::Id);
    for (place, one) in given.iter().enumerate() {
        let condition = condition(ctx.db(), one).map_err(|error| error.within(place.to_string()).within("filter"))?;
        users = users.filter(condition);
    }
    users.page_in(sort_by.value().copied().map(order), ctx, &request).await
}

/// Converts a sort order of the SDL.
fn order(sort: UserSortEnum) -> Sort {
    use UserSortEnum as By;
    let order = match sort {
        By::NameAsc | By::NameDesc => Sort::by_text(user::Column::Name),
        By::EmailAsc | By::EmailDesc => Sort::by_text(user::Column::Email),
    };
    order.in_list(Ordered::Users, sort as u8, matches!(sort, By::NameDesc | By::EmailDesc))
}

/// Converts a condition of an input to SQL.
fn condition(db: &dyn Backend, UsersFilterInput { arg, key, r#type }: &UsersFilterInput) -> Result<Expr, UserError> {
    let arg = arg.value().map(|arg| text::at_most("arg", arg, text::TAG_KEY + 1 + text::TAG_VALUE)).transpose()?;
    let needed = || arg.as_deref().ok_or_else(|| UserError::new("arg", "arg must be given with this key"));
    let is = |column: user::Column, text: &str| db::text::lower(db, column.into_expr()).eq(text.to_ascii_lowercase());
    let condition = match key {
        UsersFilterEnum::DeactivatedAt => is_at(user::Column::DeactivatedAt, arg.as_deref())?,
        UsersFilterEnum::Email => user::Column::EmailKey.eq(email_key(needed()?)),
        UsersFilterEnum::Name => is(user::Column::Name, needed()?),
        UsersFilterEnum::Role => is(user::Column::Role, needed()?),
        UsersFilterEnum::LastSignInAt => is_at(user::Column::LastSignInAt, arg.as_deref())?,
        UsersFilterEnum::Tag => {
            let (key, value) = match needed()?.split_once(':') {
                Some((key, value)) => (key, Some(value)),
                None => (needed()?, None),
            };
            let mut tags = Select::select();
            tags.expr(Expr::value(1)).from(tag::Entity);
            tags.and_where(tag::Column::UserId.into_expr().eq(user::Column::Id.into_expr()));
            tags.and_where(tag::Column::Key.eq(key));
            if let Some(value) = value {
                tags.and_where(tag::Column::Value.eq(value));
            }
            Expr::exists(tags)
        }
    };
    Ok(match r#type {
        Some(BasicTypeEnum::DoesNotEqual) => condition.not(),
        Some(BasicTypeEnum::Equals) | None => condition,
    })
}

/// The condition that a date is this moment, or that there is none.
fn is_at(column: user::Column, arg: Option<&str>) -> Result<Expr, UserError> {
    let Some(arg) = arg else { return Ok(column.is_null()) };
    let moment = Timestamp::parse(arg).map_err(|_| UserError::new("arg", "arg must be a date and time"))?;
    // A null column is not this moment, so `does_not_equal` must match it.
    Ok(column.is_not_null().and(column.eq(moment)))
}

/// Finds the user that a client names, for a query.
pub(in crate::graphql) async fn find(db: &dyn ReadHandle, named: &UserIdentifierInput) -> Result<Option<User>> {
    match all(db, &[named]).await?.pop() {
        Some(Ok(user)) => Ok(Some(user)),
        Some(Err(error)) if error.code != Code::NotFound => Err(error.into()),
        _ => Ok(None),
    }
}

/// Finds the user that the argument `user` of a mutation names.
async fn require(db: &dyn ReadHandle, named: &UserIdentifierInput) -> Result<User> {
    match all(db, &[named]).await?.pop() {
        Some(Ok(user)) => Ok(user),
        Some(Err(error)) => Err(error.within("user").into()),
        None => Err(Error::internal("a user was looked for and neither found nor missed")),
    }
}

/// Finds the users that a client names, in the client's order. An entry is an error if its name is wrong or unknown.
/// Takes two statements for any number of users.
pub(in crate::graphql) async fn all(
    db: &dyn ReadHandle,
    named: &[&UserIdentifierInput],
) -> Result<Vec<Result<User, UserError>>> {
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
                .ok_or_else(|| id::missing_name("email", Reference::User, email)),
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
    /// Returns the one that is given. Null and the empty text count as absent.
    fn new(named: &'a UserIdentifierInput) -> Result<Self, UserError> {
        let UserIdentifierInput { id, email } = named;
        match exactly_one(("id", given(id)), ("email", given(email))) {
            // An email address where the id belongs.
            Ok(OneOf::First(id)) if id::decode(id).is_none() && id.contains('@') => Ok(Self::Email(id)),
            Ok(OneOf::First(id)) => Ok(Self::Id(id)),
            Ok(OneOf::Second(email)) => Ok(Self::Email(email)),
            // The error is about the field that holds these two. The caller knows its name, and adds it to the path.
            Err(error) => Err(UserError { path: Vec::new(), ..error }),
        }
    }
}

impl UserInviteMutation for Mutation {
    async fn user_invite(
        ctx: &MutationCtx<'_>,
        email: String,
        input: UserInput,
        // Ignored: no mail is sent.
        _: MaybeUndefined<bool>,
    ) -> Result<UserInvitePayload> {
        let UserInput { name, role, skip_welcome_email: _ } = input;
        let role = role.value().copied().map_or(Role::User, stored);
        let name = name.value().map(String::as_str);
        let by = if ctx.caller().user.is_some() { ProvisionedBy::User } else { ProvisionedBy::Token };
        let user = user::create(ctx.db(), &email, name, role, by, Timestamp::now()).await?;
        Ok(UserInvitePayload { user: Some(user), ..Default::default() })
    }
}

impl UserUpdateMutation for Mutation {
    async fn user_update(
        ctx: &MutationCtx<'_>,
        user: UserIdentifierInput,
        input: UserInput,
    ) -> Result<UserUpdatePayload> {
        let UserInput { name, role, skip_welcome_email: _ } = input;
        let db = ctx.db();
        let user = require(db, &user).await?;
        let mut draft = Draft::<user::Entity>::new();
        draft.set(user::Column::Name, &name);
        let role = draft.problems.take(draft::changed("role", &role, |role| Ok(stored(*role)))).flatten();
        let changes = draft.done()?;

        let user = match role {
            Some(Role::Admin) | None => user,
            Some(_) => user::lock_to_demote(db, user.id).await?,
        };
        let mut row = user::ActiveModel { name: changes.name, ..user.into() };
        if let Some(role) = role {
            row.role = Set(role);
        }
        let user = db.update(row).await?;
        Ok(UserUpdatePayload { user: Some(user), ..Default::default() })
    }
}

impl UserDeleteMutation for Mutation {
    async fn user_delete(
        ctx: &MutationCtx<'_>,
        user: UserIdentifierInput,
        successor: MaybeUndefined<UserIdentifierInput>,
    ) -> Result<UserDeletePayload> {
        let db = ctx.db();
        let user = require(db, &user).await?;
        let user = user::lock_to_demote(db, user.id).await?;
        if let Some(named) = successor.value() {
            let found = all(db, &[named]).await?.pop();
            let found = found.ok_or_else(|| Error::internal("a successor was neither found nor missed"))?;
            hand_over::to_user(ctx, &user, &found.map_err(|error| error.within("successor"))?).await?;
        }
        ctx.shed_first::<user::Entity>(user.id).await?;
        let deleted_user_id = Some(UserResolver::id(&user));
        db.delete(user).await?;
        Ok(UserDeletePayload { deleted_user_id, ..Default::default() })
    }
}
