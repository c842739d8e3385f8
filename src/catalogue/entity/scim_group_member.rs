//! The members of groups of the identity provider.

use std::collections::HashMap;

use super::prelude::*;
use super::{scim_group, user};

super::table! {
    "scim_group_member", In("members"), |row| Owner::Row(RowOf::new::<scim_group::Entity>(row.group_id)),
    |row| Entry { name: vec![Word::NameOf(RowOf::new::<user::Entity>(row.user_id))], value: None };

    /// The group.
    pub group_id: i64,
    /// The member; at most once per group.
    pub user_id: i64,
}

/// The ids of a group's members, in order.
pub async fn of_group(db: &dyn ReadHandle, group: i64) -> Result<Vec<i64>, db::Error> {
    let members = Entity::find().select_only().column(Column::UserId).filter(Column::GroupId.eq(group));
    db.rows(members.order_by_asc(Column::UserId).as_query(), |row| row.get(0)).await
}

/// The numbers of members of groups, or of groups of users, for those that have any: by the ids in a column.
pub async fn numbers(db: &dyn ReadHandle, by: Column, ids: &[i64]) -> Result<HashMap<i64, usize>, db::Error> {
    let select = Entity::find().select_only().column(by).expr(Expr::cust("COUNT(*)"));
    let select = select.filter(db::any(db, by, ids)).group_by(by);
    let number = |row: &db::Row<'_>| Ok((row.get::<i64>(0)?, usize::try_from(row.get::<i64>(1)?).unwrap_or_default()));
    Ok(db.rows(select.as_query(), number).await?.into_iter().collect())
}
