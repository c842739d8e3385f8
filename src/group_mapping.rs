//! What groups of the identity provider give: a role, and memberships of teams, as the settings say. It is the same for the
//! groups that an ID token names when somebody signs in, and for those that SCIM tells.
//!
//! What the settings do not name is left alone.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use sea_orm::sea_query::{Expr, LockType};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Set};
use serde_json::{Map, Value, json};
use tracing::warn;

use crate::config::OpenId;
use crate::db::{self, Read, ReadHandle, Transaction, Write};
use crate::entity::timestamp::touched;
use crate::entity::user::{self, Role};
use crate::entity::{ByAlias, scim_group, team, team_membership};
use crate::error::Error;

/// A group's name without the slash of a path that has one step, as Keycloak writes it.
pub fn plain(name: &str) -> &str {
    name.strip_prefix('/').unwrap_or(name)
}

/// The names of the groups of a person who signs in: those that the provider's claim names, and those that SCIM has told.
/// `None` if neither says anything about groups: a provider that stops sending the claim would otherwise take everybody's
/// roles.
pub async fn of_person(
    db: &dyn ReadHandle,
    user: i64,
    claimed: Option<&[String]>,
) -> Result<Option<BTreeSet<String>>, db::Error> {
    let mut names = of_users(db, &[user]).await?.remove(&user).unwrap_or_default();
    if claimed.is_none() && !scim_group::any(db).await? {
        return Ok(None);
    }
    names.extend(claimed.into_iter().flatten().map(|name| plain(name).to_owned()));
    Ok(Some(names))
}

/// The names of the groups that SCIM has told of each of these users.
pub async fn of_users(db: &dyn ReadHandle, users: &[i64]) -> Result<HashMap<i64, BTreeSet<String>>, db::Error> {
    let groups = scim_group::of_users(db, users).await?;
    let names = |groups: Vec<scim_group::OfUser>| -> BTreeSet<String> {
        let names = groups.into_iter().flat_map(|(_, name, external)| [Some(name), external]).flatten();
        names.map(|name| plain(&name).to_owned()).collect()
    };
    Ok(groups.into_iter().map(|(user, groups)| (user, names(groups))).collect())
}

/// Whether the settings give anything to a group with one of these names.
pub fn concerns(settings: &OpenId, names: &[String]) -> bool {
    let own = |group: &str| is_among(group, Some(names));
    settings.group_roles.iter().any(|(group, _)| own(group)) || settings.group_teams.iter().any(|(group, _)| own(group))
}

fn is_among(group: &str, names: Option<&[String]>) -> bool {
    names.is_none_or(|names| names.iter().any(|name| plain(name) == plain(group)))
}

/// A user as the mapping leaves them, and what it has changed: `role`, `joined` and `left`.
pub type Mapped = BTreeMap<i64, (user::Model, Map<String, Value>)>;

/// Gives users the role and the memberships of their groups. `groups` has the names of each one's groups. With `about`,
/// only what the settings give to groups with these names is looked at.
pub async fn apply(
    db: &Transaction,
    settings: &OpenId,
    groups: &HashMap<i64, BTreeSet<String>>,
    about: Option<&[String]>,
) -> Result<Mapped, Error> {
    let ids: Vec<i64> = groups.keys().copied().collect();
    // In the order of their ids, so that two of these transactions cannot deadlock.
    let users = user::Entity::find().filter(db::any(db, user::Column::Id, &ids)).order_by_asc(user::Column::Id);
    let users = db.all(users.lock(LockType::NoKeyUpdate)).await?;
    let mut mapped: Mapped = users.into_iter().map(|user| (user.id, (user, Map::new()))).collect();
    let has = |user: i64, group: &str| groups.get(&user).is_some_and(|groups| groups.contains(plain(group)));
    if settings.group_roles.iter().any(|(group, _)| is_among(group, about)) {
        let role = |user: i64| role(settings, |group| has(user, group));
        set_roles(db, &mut mapped, role).await?;
    }
    let named = settings.group_teams.iter().filter(|(group, _)| is_among(group, about));
    for alias in named.map(|(_, alias)| alias).collect::<BTreeSet<_>>() {
        let Some(team) = team::Entity::by_alias(db, alias).await? else {
            warn!(team = alias, "--oidc-group-teams names a team that does not exist");
            continue;
        };
        let belongs = |user: i64| settings.group_teams.iter().any(|(group, team)| team == alias && has(user, group));
        join(db, &team, &mut mapped, belongs).await?;
    }
    Ok(mapped)
}

/// Makes those users members of a team who belong to it, and takes the others out of it.
async fn join(
    db: &Transaction,
    team: &team::Model,
    mapped: &mut Mapped,
    belongs: impl Fn(i64) -> bool,
) -> Result<(), db::Error> {
    use team_membership::{ActiveModel, Column, Entity};
    let ids: Vec<i64> = mapped.keys().copied().collect();
    let of_team = || Entity::find().filter(Column::TeamId.eq(team.id));
    let members = db.all(of_team().filter(db::any(db, Column::UserId, &ids))).await?;
    let members: HashSet<i64> = members.into_iter().map(|membership| membership.user_id).collect();
    let joining: Vec<i64> = ids.iter().copied().filter(|id| belongs(*id) && !members.contains(id)).collect();
    let leaving: Vec<i64> = ids.iter().copied().filter(|id| !belongs(*id) && members.contains(id)).collect();
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

/// The highest role of the groups, or that of new users if none of them has one.
fn role(settings: &OpenId, has: impl Fn(&str) -> bool) -> Role {
    let own = settings.group_roles.iter().filter(|(group, _)| has(group)).map(|(_, role)| *role);
    own.max().unwrap_or(settings.role)
}

/// Gives users their roles. The only administrator stays one.
async fn set_roles(db: &Transaction, mapped: &mut Mapped, role: impl Fn(i64) -> Role) -> Result<(), Error> {
    let differing = mapped.values().filter(|(user, _)| role(user.id) != user.role);
    let differing: Vec<(i64, Role)> = differing.map(|(user, _)| (user.id, user.role)).collect();
    let mut given: BTreeMap<Role, Vec<i64>> = BTreeMap::new();
    for (id, before) in &differing {
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
            set_role(db, mapped, role(*id), &[*id]).await?;
            continue;
        }
        given.entry(role(*id)).or_default().push(*id);
    }
    for (role, ids) in given {
        set_role(db, mapped, role, &ids).await?;
    }
    Ok(())
}

async fn set_role(db: &Transaction, mapped: &mut Mapped, role: Role, ids: &[i64]) -> Result<(), db::Error> {
    let update = user::Entity::update_many()
        .col_expr(user::Column::Role, Expr::value(role))
        .col_expr(user::Column::UpdatedAt, touched(user::Column::UpdatedAt));
    for now in db.updated(update.filter(db::any(db, user::Column::Id, ids))).await? {
        let Some((user, changed)) = mapped.get_mut(&now.id) else { continue };
        changed.insert("role".to_owned(), json!([user.role.word(), role.word()]));
        *user = now;
    }
    Ok(())
}
