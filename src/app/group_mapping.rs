//! What groups of the identity provider give: a role, and memberships of teams, as the settings say. It is the same for the
//! groups that an ID token names when somebody signs in, and for those that SCIM tells.
//!
//! What the settings do not name is left alone. A sign-in says which groups somebody is in, so it sets the role. A change of a
//! group says only who joins it and who leaves it, so it takes no more than the group gave.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use futures_util::future::BoxFuture;
use sea_orm::sea_query::{Expr, LockType};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Set};
use serde_json::{Map, Value, json};
use tracing::warn;

use crate::openid_settings::OpenId;
use catalogue::db::{self, Read, ReadHandle, Transaction, Write};
use catalogue::entity::user::{self, Role};
use catalogue::entity::{ByAlias, scim_group, team, team_membership};
use catalogue::error::Error;

/// A group's name without the slash of a path that has one step, as Keycloak writes it.
pub fn plain(name: &str) -> &str {
    name.strip_prefix('/').unwrap_or(name)
}

/// The names that the settings give something to, of the groups of a person who signs in: those that the provider's claim
/// names, and those that SCIM has told. `None` if neither says anything about such groups: a provider that stops sending the
/// claim, or that pushes other groups, would otherwise take everybody's roles.
pub async fn of_person(
    db: &dyn ReadHandle,
    settings: &OpenId,
    user: i64,
    claimed: Option<&[String]>,
) -> Result<Option<BTreeSet<String>>, db::Error> {
    let mut names = of_users(db, settings, &[user]).await?.remove(&user).unwrap_or_default();
    if claimed.is_none() && !scim_group::any_named(db, &named(settings)).await? {
        return Ok(None);
    }
    names.extend(claimed.into_iter().flatten().map(|name| plain(name).to_owned()));
    Ok(Some(names))
}

/// The names by which SCIM may tell the groups that the settings name: with and without the slash of a path.
fn named(settings: &OpenId) -> Vec<String> {
    let roles = settings.group_roles.iter().map(|(group, _)| plain(group));
    let teams = settings.group_teams.iter().map(|(group, _)| plain(group));
    roles.chain(teams).flat_map(|group| [group.to_owned(), format!("/{group}")]).collect()
}

/// The names of the groups that SCIM has told of each of these users, of those groups that the settings name.
async fn of_users(
    db: &dyn ReadHandle,
    settings: &OpenId,
    users: &[i64],
) -> Result<HashMap<i64, BTreeSet<String>>, db::Error> {
    let groups = scim_group::named_of_users(db, users, &named(settings)).await?;
    let names = |groups: Vec<scim_group::OfUser>| -> BTreeSet<String> {
        let names = groups.into_iter().flat_map(|(_, name, external)| [Some(name), external]).flatten();
        names.map(|name| plain(&name).to_owned()).collect()
    };
    Ok(groups.into_iter().map(|(user, groups)| (user, names(groups))).collect())
}

/// What a change of a group means for some users.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Move {
    /// The users.
    pub users: Vec<i64>,
    /// The names of the group that they no longer have.
    pub lost: BTreeSet<String>,
    /// The names of the group that they have from now on.
    pub gained: BTreeSet<String>,
}

impl Move {
    /// The users who lose a group with the first names, and have one with the others instead. What is in both stays.
    pub fn new(users: Vec<i64>, before: &[String], after: &[String]) -> Self {
        let set = |names: &[String]| -> BTreeSet<String> { names.iter().map(|name| plain(name).to_owned()).collect() };
        let (before, after) = (set(before), set(after));
        let (lost, gained) =
            (before.difference(&after).cloned().collect(), after.difference(&before).cloned().collect());
        Self { users, lost, gained }
    }

    /// Whether the settings give anything to the group, and there is anybody to have it.
    fn matters(&self, settings: &OpenId) -> bool {
        let own = |group: &str| self.lost.contains(plain(group)) || self.gained.contains(plain(group));
        let has_role = settings.group_roles.iter().any(|(group, _)| own(group));
        let has_team = settings.group_teams.iter().any(|(group, _)| own(group));
        !self.users.is_empty() && (has_role || has_team)
    }
}

/// A user as the mapping leaves them, and what it has changed: `role`, `joined` and `left`.
pub type Mapped = BTreeMap<i64, (user::Model, Map<String, Value>)>;

/// Gives a user who signs in the role and the memberships of the groups with these names.
pub fn apply<'f>(
    db: &'f Transaction,
    settings: &'f OpenId,
    user: i64,
    groups: &'f BTreeSet<String>,
) -> BoxFuture<'f, Result<Mapped, Error>> {
    Box::pin(async move {
        let mut mapped = locked(db, &[user]).await?;
        if !settings.group_roles.is_empty() {
            let role = highest(settings, groups).unwrap_or(settings.role);
            set_roles(db, &mut mapped, |_| role).await?;
        }
        for alias in settings.group_teams.iter().map(|(_, alias)| &**alias).collect::<BTreeSet<&str>>() {
            let is_member = gives(settings, groups, alias);
            join(db, alias, &mut mapped, |_| Some(is_member)).await?;
        }
        Ok(mapped)
    })
}

/// Gives and takes what a change of a group means. A role by which a user stands higher than by the group, and a team that
/// another of their groups gives, stay. A user is in one of the moves at most.
pub fn apply_moves<'f>(
    db: &'f Transaction,
    settings: &'f OpenId,
    moves: &'f [Move],
) -> BoxFuture<'f, Result<(), Error>> {
    Box::pin(async move {
        let moves: Vec<&Move> = moves.iter().filter(|one| one.matters(settings)).collect();
        let move_of: HashMap<i64, &Move> =
            moves.iter().flat_map(|one| one.users.iter().map(move |user| (*user, *one))).collect();
        let ids: Vec<i64> = move_of.keys().copied().collect();
        if ids.is_empty() {
            return Ok(());
        }
        // Their groups are read when nobody else changes these users any more.
        let mut mapped = locked(db, &ids).await?;
        let groups = of_users(db, settings, &ids).await?;
        let none = BTreeSet::new();
        let now = |user: i64| groups.get(&user).unwrap_or(&none);
        let role = |user: &user::Model| {
            move_of.get(&user.id).map_or(user.role, |one| moved(settings, one, now(user.id), user.role))
        };
        set_roles(db, &mut mapped, role).await?;
        let is_moved =
            |group: &str| moves.iter().any(|one| one.lost.contains(plain(group)) || one.gained.contains(plain(group)));
        let teams = settings.group_teams.iter().filter(|(group, _)| is_moved(group));
        for alias in teams.map(|(_, alias)| &**alias).collect::<BTreeSet<&str>>() {
            let belongs = |user: i64| {
                let one = move_of.get(&user)?;
                if gives(settings, &one.gained, alias) {
                    return Some(true);
                }
                let leaves = gives(settings, &one.lost, alias) && !gives(settings, now(user), alias);
                leaves.then_some(false)
            };
            join(db, alias, &mut mapped, belongs).await?;
        }
        Ok(())
    })
}

/// The role of a user after a move. Groups that are joined raise it. Groups that are left lower it, if it is the one that they
/// gave: to the highest of those in `groups`, or to that of new users.
fn moved(settings: &OpenId, one: &Move, groups: &BTreeSet<String>, role: Role) -> Role {
    let kept = match highest(settings, &one.lost) {
        Some(lost) if lost == role => highest(settings, groups).unwrap_or(settings.role).min(role),
        _ => role,
    };
    highest(settings, &one.gained).map_or(kept, |gained| gained.max(kept))
}

/// Locks these users.
async fn locked(db: &Transaction, ids: &[i64]) -> Result<Mapped, db::Error> {
    // In the order of their ids, so that two of these transactions cannot deadlock.
    let users = user::Entity::find().filter(db::any(db, user::Column::Id, ids)).order_by_asc(user::Column::Id);
    let users = db.all(users.lock(LockType::NoKeyUpdate)).await?;
    Ok(users.into_iter().map(|user| (user.id, (user, Map::new()))).collect())
}

/// Makes those users members of a team who belong to it, and takes those out of it who do not. Of whom nothing is known, they
/// stay what they are.
async fn join(
    db: &Transaction,
    alias: &str,
    mapped: &mut Mapped,
    belongs: impl Fn(i64) -> Option<bool>,
) -> Result<(), db::Error> {
    use team_membership::{ActiveModel, Column, Entity};
    let Some(team) = team::Entity::by_alias(db, alias).await? else {
        warn!(team = alias, "--oidc-group-teams names a team that does not exist");
        return Ok(());
    };
    let ids: Vec<i64> = mapped.keys().copied().collect();
    let of_team = || Entity::find().filter(Column::TeamId.eq(team.id));
    let members = db.all(of_team().filter(db::any(db, Column::UserId, &ids))).await?;
    let members: HashSet<i64> = members.into_iter().map(|membership| membership.user_id).collect();
    let joining: Vec<i64> =
        ids.iter().copied().filter(|id| belongs(*id) == Some(true) && !members.contains(id)).collect();
    let leaving: Vec<i64> =
        ids.iter().copied().filter(|id| belongs(*id) == Some(false) && members.contains(id)).collect();
    let row = |id: &i64| ActiveModel { team_id: Set(team.id), user_id: Set(*id), ..Default::default() };
    db.insert_all(joining.iter().map(row).collect()).await?;
    if !leaving.is_empty() {
        let gone = Entity::delete_many().filter(Column::TeamId.eq(team.id));
        db.exec(gone.filter(db::any(db, Column::UserId, &leaving))).await?;
    }
    for (word, ids) in [("joined", joining), ("left", leaving)] {
        for id in ids {
            let Some((_, changed)) = mapped.get_mut(&id) else { continue };
            let list = changed.entry(word).or_insert_with(|| json!([]));
            list.as_array_mut().into_iter().for_each(|list| list.push(team.alias.clone().into()));
        }
    }
    Ok(())
}

/// The highest role that the settings give to groups with these names.
fn highest(settings: &OpenId, groups: &BTreeSet<String>) -> Option<Role> {
    settings.group_roles.iter().filter(|(group, _)| groups.contains(plain(group))).map(|(_, role)| *role).max()
}

/// Whether the settings give a team to a group with one of these names.
fn gives(settings: &OpenId, groups: &BTreeSet<String>, alias: &str) -> bool {
    settings.group_teams.iter().any(|(group, team)| team == alias && groups.contains(plain(group)))
}

/// Gives users their roles. The only administrator stays one.
async fn set_roles(db: &Transaction, mapped: &mut Mapped, role: impl Fn(&user::Model) -> Role) -> Result<(), Error> {
    let wanted = mapped.values().map(|(user, _)| (user.id, user.role, role(user)));
    let differing: Vec<(i64, Role, Role)> = wanted.filter(|(_, before, role)| before != role).collect();
    let mut given: BTreeMap<Role, Vec<i64>> = BTreeMap::new();
    for (id, before, role) in &differing {
        if *before == Role::Admin {
            match user::lock_to_demote(db, *id).await {
                Ok(_) => {}
                Err(Error::User(_)) => {
                    warn!(user = id, "the only administrator is in no group of administrators, and stays one");
                    continue;
                }
                Err(error) => return Err(error),
            }
            // The next one may be the last.
            set_role(db, mapped, *role, &[*id]).await?;
            continue;
        }
        given.entry(*role).or_default().push(*id);
    }
    for (role, ids) in given {
        set_role(db, mapped, role, &ids).await?;
    }
    Ok(())
}

async fn set_role(db: &Transaction, mapped: &mut Mapped, role: Role, ids: &[i64]) -> Result<(), db::Error> {
    let update = user::Entity::update_many().col_expr(user::Column::Role, Expr::value(role));
    for now in db.updated(update.filter(db::any(db, user::Column::Id, ids))).await? {
        let Some((user, changed)) = mapped.get_mut(&now.id) else { continue };
        changed.insert("role".to_owned(), json!([user.role.word(), role.word()]));
        *user = now;
    }
    Ok(())
}
