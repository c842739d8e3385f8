//! Groups of the identity provider, as SCIM tells them. The settings say which roles and teams they give.

use std::collections::HashMap;

use sea_orm::sea_query::ExprTrait;

use super::audit::Subject;
use super::prelude::*;
use super::scim_group_member as member;

super::table! {
    "scim_group", Alone("ScimGroup"), Administrators, untold(NameKey);

    /// The name.
    pub display_name: String,
    /// The form in which the name is compared, from [`name_key`]; unique.
    pub name_key: String,
    /// The identity provider's id for the group; unique.
    pub external_id: Option<String>,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row, or a member, was last changed.
    pub updated_at: Timestamp,
}

impl Model {
    /// The group as the subject of an audit entry.
    pub fn subject(&self) -> Subject {
        Subject::new("ScimGroup", Some(self.id), &self.display_name)
    }

    /// The names by which the settings may mean the group: its own, and its id at the identity provider, which is what some
    /// providers name in the claim of an ID token.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        [Some(&*self.display_name), self.external_id.as_deref()].into_iter().flatten()
    }
}

/// Returns the form in which names of groups are compared: in lower case.
pub fn name_key(name: &str) -> String {
    name.to_lowercase()
}

/// Whether SCIM has told of any group with one of these names or ids at the identity provider.
pub async fn any_named(db: &dyn ReadHandle, names: &[String]) -> Result<bool, db::Error> {
    let first = Entity::find().select_only().column(Column::Id).filter(is_named(names)).limit(1);
    Ok(!db.rows(first.as_query(), |row| row.get::<i64>(0)).await?.is_empty())
}

fn is_named(names: &[String]) -> Expr {
    Column::DisplayName.is_in(names.iter().cloned()).or(Column::ExternalId.is_in(names.iter().cloned()))
}

/// A group of a user: its id, its name, and its id at the identity provider.
pub type OfUser = (i64, String, Option<String>);

/// The groups of users, by the ids of the users.
pub async fn of_users(db: &dyn ReadHandle, users: &[i64]) -> Result<HashMap<i64, Vec<OfUser>>, db::Error> {
    selected(db, users, None).await
}

/// The groups of users that have one of these names or ids at the identity provider, by the ids of the users.
pub async fn named_of_users(
    db: &dyn ReadHandle,
    users: &[i64],
    names: &[String],
) -> Result<HashMap<i64, Vec<OfUser>>, db::Error> {
    selected(db, users, Some(is_named(names))).await
}

async fn selected(
    db: &dyn ReadHandle,
    users: &[i64],
    condition: Option<Expr>,
) -> Result<HashMap<i64, Vec<OfUser>>, db::Error> {
    let group = |column: Column| Expr::col(column.as_column_ref());
    let of_user = || Expr::col(member::Column::UserId.as_column_ref());
    let mut select = Query::select()
        .expr(of_user())
        .expr(group(Column::Id))
        .expr(group(Column::DisplayName))
        .expr(group(Column::ExternalId))
        .from(member::Entity)
        .inner_join(Entity, Expr::col(member::Column::GroupId.as_column_ref()).eq(group(Column::Id)))
        .and_where(db::any(db, member::Column::UserId, users))
        .take();
    if let Some(condition) = condition {
        select.and_where(condition);
    }
    let rows = db.rows(&select, |row| Ok((row.get::<i64>(0)?, (row.get(1)?, row.get(2)?, row.get(3)?)))).await?;
    let mut groups: HashMap<i64, Vec<OfUser>> = HashMap::new();
    for (user, group) in rows {
        groups.entry(user).or_default().push(group);
    }
    groups.values_mut().for_each(|groups| groups.sort());
    Ok(groups)
}
