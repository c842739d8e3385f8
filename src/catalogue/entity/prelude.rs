//! What the file of a table needs: `use super::prelude::*`, for `table!` too. It has sea-orm's prelude, what
//! `crate::db` says of tables and handles, and the rules of fields.

pub(super) use sea_orm::entity::prelude::*;
pub(super) use sea_orm::sea_query::{LockType, OnConflict, Query};
pub(super) use sea_orm::{QueryOrder, QuerySelect, QueryTrait, Set};
pub(super) use serde::Deserialize;

pub(super) use super::field_rule::{FieldRule, FieldRules, Reference, ValueRule};
pub(super) use super::{Timestamp, text};
pub(super) use crate::db::{
    self, Entry, Owner, Read, ReadHandle, RowOf, Table, Told, Transaction, Word, Write, WriteHandle,
};
pub(super) use crate::error::{Error, Result, UserError, quoted};
