//! What a request says of the members of a group, and how they change.

use std::collections::BTreeSet;

use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, QueryTrait, Set};
use serde_json::Value;

use super::error::{Refusal, ScimType};
use super::filter::{Attribute, Filter, Op as Compares};
use super::patch::{Op, Operation};
use super::{Error, Service, resource};
use crate::db::{self, Read, Transaction, Write};
use crate::entity::{scim_group_member as member, user};
use crate::group_mapping::{self, Move};

/// The most members of a group.
pub const MEMBERS: usize = 20_000;

/// The most members that a request adds to a group. It may remove all.
pub const MEMBERS_AT_ONCE: usize = 1_000;

/// The most groups of a user.
pub const GROUPS_OF_USER: usize = 1_000;

/// What is said of members, one operation after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Members {
    /// Whether those from before stay, unless they are removed.
    keeps: bool,
    added: BTreeSet<i64>,
    removed: BTreeSet<i64>,
}

impl Members {
    /// Those that are there.
    pub fn unchanged() -> Self {
        Self { keeps: true, ..Self::default() }
    }

    /// Exactly these: a list of objects with ids.
    pub fn exactly(list: &Value) -> Result<Self, Refusal> {
        Ok(Self { added: ids(list)?, ..Self::default() })
    }

    /// Carries an operation on the attribute `members` out.
    pub fn apply(&mut self, Operation { op, path, value }: &Operation) -> Result<(), Refusal> {
        if path.attribute.sub.as_deref().is_some_and(|part| part != "value") {
            return Err(Refusal::new(ScimType::InvalidPath, "Of a member, only the value can be given."));
        }
        let target = path.filter.as_ref().map(named).transpose()?;
        match (op, target) {
            (Op::Remove, Some(id)) => self.remove([id]),
            (Op::Remove, None) if value.is_null() => *self = Self::default(),
            // As Entra ID sends it.
            (Op::Remove, None) => self.remove(ids(value)?),
            (Op::Add | Op::Replace, Some(_)) => {
                return Err(Refusal::new(
                    ScimType::InvalidPath,
                    "A member can be removed by a path with a filter, not changed.",
                ));
            }
            (Op::Add, None) => self.add(ids(value)?),
            (Op::Replace, None) => *self = Self::exactly(value)?,
        }
        Ok(())
    }

    fn add(&mut self, ids: impl IntoIterator<Item = i64>) {
        for id in ids {
            self.removed.remove(&id);
            self.added.insert(id);
        }
    }

    fn remove(&mut self, ids: impl IntoIterator<Item = i64>) {
        for id in ids {
            self.added.remove(&id);
            self.removed.insert(id);
        }
    }

    /// Stores them, and returns those who join and those who leave.
    ///
    /// # Errors
    /// Somebody does not exist, or there are too many.
    pub async fn store(&self, db: &Transaction, group: i64) -> Result<(Vec<i64>, Vec<i64>), Error> {
        let own = || member::Entity::find().filter(member::Column::GroupId.eq(group));
        let (given, removed): (Vec<i64>, Vec<i64>) =
            (self.added.iter().copied().collect(), self.removed.iter().copied().collect());
        let named = |ids: &[i64]| own().filter(db::any(db, member::Column::UserId, ids));
        let present = users(db, if self.keeps { named(&given) } else { own() }).await?;
        let joining: Vec<i64> = self.added.difference(&present).copied().collect();
        let leaving: Vec<i64> = match self.keeps {
            true => users(db, named(&removed)).await?.into_iter().collect(),
            false => present.difference(&self.added).copied().collect(),
        };
        check_users(db, &joining).await?;
        if !leaving.is_empty() {
            let gone = member::Entity::delete_many().filter(member::Column::GroupId.eq(group));
            db.exec(gone.filter(db::any(db, member::Column::UserId, &leaving))).await?;
        }
        if !joining.is_empty() {
            let row =
                |user: &i64| member::ActiveModel { group_id: Set(group), user_id: Set(*user), ..Default::default() };
            db.insert_all(joining.iter().map(row).collect()).await?;
            if db.count(own()).await? > MEMBERS as u64 {
                return Err(Refusal::too_large(format!("A group has at most {MEMBERS} members.")).into());
            }
            check_groups(db, &joining).await?;
        }
        Ok((joining, leaving))
    }
}

/// The users of rows of members.
async fn users(db: &Transaction, members: sea_orm::Select<member::Entity>) -> Result<BTreeSet<i64>, db::Error> {
    let select = members.select_only().column(member::Column::UserId);
    Ok(db.rows(select.as_query(), |row| row.get::<i64>(0)).await?.into_iter().collect())
}

/// Checks that users exist, and that they are not too many at once.
async fn check_users(db: &Transaction, joining: &[i64]) -> Result<(), Error> {
    if joining.len() > MEMBERS_AT_ONCE {
        let detail = format!("A request adds at most {MEMBERS_AT_ONCE} members. Add the others by PATCH.");
        return Err(Refusal::too_large(detail).into());
    }
    let select = user::Entity::find().select_only().column(user::Column::Id);
    let select = select.filter(db::any(db, user::Column::Id, joining));
    let found: BTreeSet<i64> = db.rows(select.as_query(), |row| row.get(0)).await?.into_iter().collect();
    match joining.iter().find(|id| !found.contains(id)) {
        Some(id) => Err(Refusal::value(format!("No user has the id {id}, which members names.")).into()),
        None => Ok(()),
    }
}

/// Checks that none of these users is in too many groups.
async fn check_groups(db: &Transaction, joining: &[i64]) -> Result<(), Error> {
    let most = i64::try_from(GROUPS_OF_USER).unwrap_or(i64::MAX);
    let select = member::Entity::find().select_only().column(member::Column::UserId);
    let select = select.filter(db::any(db, member::Column::UserId, joining)).group_by(member::Column::UserId);
    let select = select.having(Expr::cust("COUNT(*)").gt(most)).limit(1);
    match db.rows(select.as_query(), |row| row.get::<i64>(0)).await?.pop() {
        Some(id) => {
            let detail = format!("A user is in at most {GROUPS_OF_USER} groups, and the user {id} would be in more.");
            Err(Refusal::too_large(detail).into())
        }
        None => Ok(()),
    }
}

/// Gives users what the settings give to the group that they join, and takes what they gave to the one that they leave.
pub async fn map(service: &Service<'_>, db: &Transaction, moves: &[Move]) -> Result<(), Error> {
    if let Some(settings) = service.mapping {
        group_mapping::apply_moves(db, settings, moves).await?;
    }
    Ok(())
}

/// The ids that a list of members names.
fn ids(list: &Value) -> Result<BTreeSet<i64>, Refusal> {
    let list = match list {
        Value::Null => return Ok(BTreeSet::new()),
        Value::Array(list) => list.as_slice(),
        one => std::slice::from_ref(one),
    };
    if list.len() > MEMBERS {
        return Err(Refusal::too_large(format!("A group has at most {MEMBERS} members.")));
    }
    let id = |member: &Value| {
        if member["type"].as_str().is_some_and(|kind| !kind.eq_ignore_ascii_case("User")) {
            return Err(Refusal::value("The members of groups are users, and not groups."));
        }
        let value = if member.is_string() { member } else { &member["value"] };
        let text = value.as_str().ok_or_else(|| Refusal::value("A member must have the id of a user as its value."))?;
        resource::number(text).ok_or_else(|| {
            let text: String = text.chars().take(100).collect();
            Refusal::value(format!("No user has the id {text}, which members names."))
        })
    };
    list.iter().map(id).collect()
}

/// The member that a filter names: `value eq "ID"`.
fn named(filter: &Filter) -> Result<i64, Refusal> {
    match filter {
        Filter::Compare(Attribute { name, sub: None }, Compares::Eq, Value::String(id)) if name == "value" => {
            // Nobody has another id.
            Ok(resource::number(id).unwrap_or(0))
        }
        _ => Err(Refusal::new(ScimType::InvalidPath, "The filter of members must be value eq \"ID\".")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scim::filter::Path;

    fn applied(operations: &[(Op, &str, Value)]) -> Result<Members, Refusal> {
        let mut members = Members::unchanged();
        for (op, path, value) in operations {
            members.apply(&Operation { op: *op, path: Path::read(path)?, value: value.clone() })?;
        }
        Ok(members)
    }

    #[test]
    fn operations_on_members_follow_each_other() {
        let one = json!([{ "value": "1" }]);
        let members = applied(&[
            (Op::Add, "members", one.clone()),
            (Op::Remove, "members[value eq \"1\"]", json!(null)),
            (Op::Add, "members", json!({ "value": "2", "type": "User" })),
            (Op::Remove, "members", json!([{ "value": "3" }])),
            (Op::Add, "members", json!("3")),
        ]);
        let expected = Members { keeps: true, added: BTreeSet::from([2, 3]), removed: BTreeSet::from([1]) };
        assert_eq!(members, Ok(expected));
        let none = applied(&[(Op::Add, "members", one.clone()), (Op::Remove, "members", json!(null))]);
        assert_eq!(none, Ok(Members::default()));
        let replaced =
            applied(&[(Op::Replace, "members", one.clone()), (Op::Add, "members", json!([{ "value": "2" }]))]);
        assert_eq!(replaced, Ok(Members { added: BTreeSet::from([1, 2]), ..Members::default() }));
        for (op, path, value, kind) in [
            (Op::Add, "members", json!([{ "value": "x" }]), ScimType::InvalidValue),
            (Op::Add, "members", json!([{ "value": "1", "type": "Group" }]), ScimType::InvalidValue),
            (Op::Add, "members", json!([{ "value": 1 }]), ScimType::InvalidValue),
            (Op::Remove, "members[display eq \"1\"]", json!(null), ScimType::InvalidPath),
            (Op::Replace, "members[value eq \"1\"].value", json!("2"), ScimType::InvalidPath),
            (Op::Replace, "members.display", json!("2"), ScimType::InvalidPath),
            (Op::Remove, "members.display", json!(null), ScimType::InvalidPath),
        ] {
            assert_eq!(applied(&[(op, path, value)]).expect_err(path).kind, Some(kind), "{path}");
        }
    }
}
