//! The members of teams, and their roles.

use std::collections::{HashMap, HashSet};

use sea_orm::sea_query::{ExprTrait, OnConflict};

use super::user;
use crate::entity::{team, team_membership};
use crate::graphql::field::draft;
use crate::graphql::field::identifier::given;
use crate::graphql::prelude::*;

impl TeamMembershipResolver for TeamMembership {}

/// A user whom an input names as a member of a team.
#[derive(Debug)]
pub(in crate::graphql) struct Member {
    user: User,
    /// The outer `None` leaves the role unchanged, the inner one clears it.
    role: Option<Option<String>>,
}

/// Finds the users that the field `members` names, or reports everything that is wrong with it.
pub(in crate::graphql) async fn named(db: &Transaction, members: &[TeamMembershipUserInput]) -> Result<Vec<Member>> {
    if members.len() > text::ENTRIES {
        return Err(UserError::new("members", format!("at most {} members can be given", text::ENTRIES)).into());
    }
    let mut problems = Problems::default();
    let users: Vec<UserIdentifierInput> = members.iter().map(of_member).collect();
    let users: Vec<_> = users.iter().collect();
    let mut seen = HashSet::with_capacity(users.len());
    let mut found = Vec::with_capacity(users.len());
    for (place, (user, member)) in user::all(db, &users).await?.into_iter().zip(members).enumerate() {
        let TeamMembershipUserInput { user: named, email: _, role } = member;
        // Without `user`, the error is about the member itself.
        let in_user = |error: UserError| if named.is_value() { error.within("user") } else { error };
        let within = |error: UserError| error.within(place.to_string()).within("members");
        let user = match (named.is_value(), given(&member.email).is_some()) {
            (true, true) => Err(within(UserError::new("email", "only one of email and user can be given"))),
            (false, false) => Err(within(UserError::base("exactly one of email and user must be given"))),
            _ => user.map_err(|error| within(in_user(error))),
        };
        let user = problems.take(user);
        let role =
            problems.take(draft::text::<team_membership::Entity>(team_membership::Column::Role, role).map_err(within));
        if user.as_ref().is_some_and(|user| !seen.insert(user.id)) {
            problems.push(within(UserError::new("user", "this user is listed twice")));
        }
        found.extend(user.zip(role).map(|(user, role)| Member { user, role }));
    }
    problems.none()?;
    Ok(found)
}

/// The user that an entry names, by `user` or by the older field `email`.
fn of_member(TeamMembershipUserInput { user, email, role: _ }: &TeamMembershipUserInput) -> UserIdentifierInput {
    match user.value() {
        Some(user) => user.clone(),
        None => UserIdentifierInput { id: MaybeUndefined::Undefined, email: email.clone() },
    }
}

/// Makes these users the members of a team, and no others.
pub(in crate::graphql) async fn replace(db: &Transaction, team_id: i64, members: &[Member]) -> Result<()> {
    let users: Vec<i64> = members.iter().map(|member| member.user.id).collect();
    let others = db::any(db, team_membership::Column::UserId, &users).not();
    let leaving = team_membership::Column::TeamId.eq(team_id).and(others);
    db.exec(team_membership::Entity::delete_many().filter(leaving)).await?;
    join(db, team_id, members).await.map(drop)
}

/// Adds users to a team, in one statement. A user who is a member already stays one, and gets the new role if there is
/// one.
pub(in crate::graphql) async fn join(
    db: &Transaction,
    team_id: i64,
    members: &[Member],
) -> Result<Vec<TeamMembership>> {
    if members.is_empty() {
        return Ok(Vec::new());
    }
    let rows = members.iter().map(|Member { user, role }| team_membership::ActiveModel {
        team_id: Set(team_id),
        user_id: Set(user.id),
        role: Set(role.clone().flatten()),
        ..Default::default()
    });
    let changed: Vec<i64> =
        members.iter().filter(|member| member.role.is_some()).map(|member| member.user.id).collect();
    let role = team_membership::Column::Role;
    let is_changed = db::any(db, team_membership::Column::UserId, &changed);
    let role_then =
        Expr::case(is_changed, Expr::col(("excluded", role))).finally(Expr::col((team_membership::Entity, role)));
    let member_already = OnConflict::columns([team_membership::Column::TeamId, team_membership::Column::UserId])
        .value(role, role_then)
        .to_owned();
    let insert = team_membership::Entity::insert_many(rows).on_conflict(member_already);
    let joined = db.returning(insert).await?;

    let mut by_user: HashMap<_, _> = joined.into_iter().map(|membership| (membership.user_id, membership)).collect();
    let in_order: Option<_> = members.iter().map(|member| by_user.remove(&member.user.id)).collect();
    in_order.ok_or_else(|| Error::internal("a membership was written and not returned"))
}

impl TeamMembershipCreateMutation for Mutation {
    async fn team_membership_create(
        ctx: &MutationCtx<'_>,
        input: TeamMembershipCreateInput,
    ) -> Result<TeamMembershipCreatePayload> {
        let TeamMembershipCreateInput { team_id, members } = input;
        let db = ctx.db();
        let team_id = team(db, &team_id).await?;
        let members = named(db, &members).await?;
        let memberships = join(db, team_id, &members).await?;
        Ok(TeamMembershipCreatePayload {
            members: Some(members.into_iter().map(|member| member.user).collect()),
            memberships: Some(memberships),
            ..Default::default()
        })
    }
}

/// Finds and locks the team whose members are about to change.
async fn team(db: &Transaction, id: &str) -> Result<i64> {
    Ok(id::require::<team::Entity>(&db.locking(LockType::Update), id, "teamId").await?.id)
}

impl TeamMembershipDeleteMutation for Mutation {
    async fn team_membership_delete(
        ctx: &MutationCtx<'_>,
        input: TeamMembershipDeleteInput,
    ) -> Result<TeamMembershipDeletePayload> {
        let TeamMembershipDeleteInput { team_id, members } = input;
        let db = ctx.db();
        let team_id = team(db, &team_id).await?;
        let members = named(db, &members).await?;
        let users: Vec<i64> = members.iter().map(|member| member.user.id).collect();
        let leaving =
            team_membership::Column::TeamId.eq(team_id).and(db::any(db, team_membership::Column::UserId, &users));
        let present = team_membership::Entity::find().select_only().column(team_membership::Column::UserId);
        let present = present.filter(leaving.clone());
        let present: HashSet<i64> = db.rows(present.as_query(), |row| row.get(0)).await?.into_iter().collect();

        let mut problems = Problems::default();
        for (place, _) in users.iter().enumerate().filter(|(_, user)| !present.contains(user)) {
            let error = UserError::new("user", "a membership of this user in the team does not exist on this account")
                .not_found();
            problems.push(error.within(place.to_string()).within("members"));
        }
        problems.none()?;
        db.exec(team_membership::Entity::delete_many().filter(leaving)).await?;
        let deleted_members = Some(members.into_iter().map(|member| member.user).collect());
        Ok(TeamMembershipDeletePayload { deleted_members, ..Default::default() })
    }
}
