//! Groups of the provider: at each sign-in they decide a user's role, and the memberships of the teams that the settings
//! name.
//!
//! What the settings do not name is left alone. Without the claim, nothing changes: a provider that stops sending it would
//! otherwise take everybody's roles.

use std::collections::BTreeSet;

use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, QueryFilter, Set};
use serde_json::{Map, Value, json};
use tracing::warn;

use super::answer::Object;
use crate::config::OpenId;
use crate::db::{Read, Transaction, Write};
use crate::entity::timestamp::touch;
use crate::entity::user::{self, Role};
use crate::entity::{ByAlias, team, team_membership};
use crate::error::Error;

/// The most groups of a person that are looked at.
pub const MOST: usize = 1_000;

/// The groups that a claim names: a list of texts, one text, or the keys of an object. `claim` may be a path, such as
/// `realm_access.roles`. `None` if there is no such claim. A slash at the beginning, as Keycloak writes paths, is left out.
pub(super) fn of(claims: &Object, claim: &str) -> Option<Vec<String>> {
    let value = match claims.get(claim) {
        Some(value) => value,
        None => {
            let mut steps = claim.split('.');
            let first = claims.get(steps.next()?)?;
            steps.try_fold(first, |value, step| value.get(step))?
        }
    };
    let names: Vec<&str> = match value {
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        Value::String(name) => vec![name],
        Value::Object(names) => names.keys().map(String::as_str).collect(),
        _ => return None,
    };
    Some(names.into_iter().take(MOST).map(|name| plain(name).to_owned()).collect())
}

/// A group's name without the slash of a path that has one step.
pub(super) fn plain(name: &str) -> &str {
    name.strip_prefix('/').unwrap_or(name)
}

/// Gives a user the role and the memberships of the person's groups. Returns the user as it is then, and what was changed,
/// for the audit.
pub(super) async fn apply(
    db: &Transaction,
    settings: &OpenId,
    user: user::Model,
    groups: Option<&[String]>,
) -> Result<(user::Model, Option<Value>), Error> {
    let Some(groups) = groups else {
        if !settings.group_roles.is_empty() || !settings.group_teams.is_empty() {
            warn!(claim = settings.groups_claim, "a person signed in without the claim that names groups");
        }
        return Ok((user, None));
    };
    let has = |group: &str| groups.iter().any(|one| one == plain(group));
    let mut changed = Map::new();
    let user = match role(settings, has) {
        Some(role) if role != user.role => {
            let before = user.role;
            let user = set_role(db, user, role).await?;
            if user.role != before {
                changed.insert("role".to_owned(), json!([before.word(), user.role.word()]));
            }
            user
        }
        _ => user,
    };
    for alias in settings.group_teams.iter().map(|(_, alias)| alias).collect::<BTreeSet<_>>() {
        let Some(team) = team::Entity::by_alias(db, alias).await? else {
            warn!(team = alias, "--oidc-group-teams names a team that does not exist");
            continue;
        };
        let belongs = settings.group_teams.iter().any(|(group, team)| team == alias && has(group));
        let own = team_membership::Entity::find().filter(team_membership::Column::TeamId.eq(team.id));
        let is_member = db.one(own.filter(team_membership::Column::UserId.eq(user.id))).await?;
        let key = match (belongs, is_member) {
            (true, None) => {
                let row =
                    team_membership::ActiveModel { team_id: Set(team.id), user_id: Set(user.id), ..Default::default() };
                db.insert(row).await?;
                "joined"
            }
            (false, Some(membership)) => {
                db.delete(membership).await?;
                "left"
            }
            _ => continue,
        };
        let list = changed.entry(key).or_insert_with(|| json!([]));
        list.as_array_mut().into_iter().for_each(|list| list.push(team.alias.clone().into()));
    }
    Ok((user, (!changed.is_empty()).then_some(Value::Object(changed))))
}

/// The highest role of the groups, or that of new users if none of them has one. `None` if groups decide no roles.
fn role(settings: &OpenId, has: impl Fn(&str) -> bool) -> Option<Role> {
    let own = settings.group_roles.iter().filter(|(group, _)| has(group)).map(|(_, role)| *role);
    (!settings.group_roles.is_empty()).then(|| own.max().unwrap_or(settings.role))
}

/// Sets a user's role. The only administrator stays one.
async fn set_role(db: &Transaction, user: user::Model, role: Role) -> Result<user::Model, Error> {
    if user.role == Role::Admin {
        match user::lock_to_demote(db, user.id).await {
            Ok(_) => {}
            Err(Error::User(_)) => {
                warn!(user = user.email, "the only administrator is in no group of administrators, and stays one");
                return Ok(user);
            }
            Err(error) => return Err(error),
        }
    }
    let mut row: user::ActiveModel = user.into();
    row.role = Set(role);
    touch(&mut row.updated_at);
    debug_assert!(row.is_changed());
    Ok(db.update(row).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_read_from_what_providers_send() {
        let claims = json!({
            "groups": ["/platform", "dev", 7, "/org/team"],
            "realm_access": { "roles": ["admin"] },
            "urn:zitadel:iam:org:project:roles": { "admin": { "1": "x" }, "viewer": {} },
            "one": "ops", "none": null, "empty": [], "dotted.name": ["a"],
        });
        let claims = claims.as_object().expect("an object");
        for (claim, expected) in [
            ("groups", Some(vec!["platform", "dev", "org/team"])),
            ("realm_access.roles", Some(vec!["admin"])),
            ("urn:zitadel:iam:org:project:roles", Some(vec!["admin", "viewer"])),
            ("one", Some(vec!["ops"])),
            ("empty", Some(vec![])),
            ("dotted.name", Some(vec!["a"])),
            ("none", None),
            ("absent", None),
            ("realm_access.absent", None),
        ] {
            let read = of(claims, claim);
            assert_eq!(read, expected.map(|names| names.into_iter().map(str::to_owned).collect()), "{claim}");
        }
    }
}
