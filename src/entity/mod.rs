//! The rows: one file per table, each with its columns and what finds or makes its rows.
//!
//! Finders and constructors take any connection, so that they work inside a transaction. What the rows mean to a
//! client is left to `graphql/` and `deploy/`. Foreign keys and unique indexes stand in `migration/`; a writer relies
//! on them and reads [`DbErr::sql_err`], and never looks first.

use std::collections::HashMap;

use sea_orm::entity::prelude::*;
use sea_orm::{Iterable, PrimaryKeyTrait};

use crate::db;

pub mod alias;
pub mod audit;
pub mod code_issue;
pub mod code_issue_cve;
pub mod code_issue_cwe;
pub mod code_issue_project;
pub mod code_issue_project_resource;
pub mod delivery;
pub mod deploy;
pub mod deploy_number;
pub mod integration;
pub mod key;
pub mod lifecycle;
pub mod repository;
pub mod service;
pub mod service_alias;
pub mod service_repository;
pub mod session;
pub mod sign_in_link;
pub mod suggestion;
pub mod suggestion_integration;
pub mod tag;
pub mod team;
pub mod team_alias;
pub mod team_membership;
pub mod text;
pub mod tier;
pub mod timestamp;
pub mod token;
pub mod user;

pub use timestamp::Timestamp;

/// A table whose rows are found by one number, for all rows of a page at once.
pub trait ByIds: EntityTrait {
    /// The rows with these keys, in the order of the keys: `None` for no key and for a key without a row. It takes one
    /// statement whatever the number of keys, and none when there is no key.
    fn by_ids<C: ConnectionTrait>(
        db: &C,
        ids: impl IntoIterator<Item = Option<i64>>,
    ) -> impl Future<Output = Result<Vec<Option<Self::Model>>, DbErr>> + Send;
}

impl<E> ByIds for E
where
    E: EntityTrait,
    E::PrimaryKey: PrimaryKeyTrait<ValueType = i64>,
{
    fn by_ids<C: ConnectionTrait>(
        db: &C,
        ids: impl IntoIterator<Item = Option<i64>>,
    ) -> impl Future<Output = Result<Vec<Option<E::Model>>, DbErr>> + Send {
        let ids: Vec<Option<i64>> = ids.into_iter().collect();
        async move {
            let mut wanted: Vec<i64> = ids.iter().copied().flatten().collect();
            wanted.sort_unstable();
            wanted.dedup();
            let Some(key) = E::PrimaryKey::iter().map(PrimaryKeyToColumn::into_column).next() else {
                return Ok(vec![None; ids.len()]);
            };
            let mut rows = HashMap::with_capacity(wanted.len());
            if !wanted.is_empty() {
                for row in E::find().filter(db::any(db, key, &wanted)).all(db).await? {
                    if let Value::BigInt(Some(id)) = row.get(key) {
                        rows.insert(id, row);
                    }
                }
            }
            Ok(ids.into_iter().map(|id| rows.get(&id?).cloned()).collect())
        }
    }
}
