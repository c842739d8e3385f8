//! What the file of a noun needs: `use crate::graphql::prelude::*`. It has the types of the SDL, the parts of a request, drafts,
//! identifiers, lists and errors, and those traits of the database that take rows apart and write them.

pub(super) use async_graphql::MaybeUndefined;
pub(super) use sea_orm::sea_query::{Expr, LockType};
pub(super) use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Set};

pub(super) use super::field::draft::Draft;
pub(super) use super::field::id;
pub(super) use super::field::identifier::{self, Identifier};
pub(super) use super::field::same::same;
pub(super) use super::list::List;
pub(super) use super::list::relation::{clone_charged, relations};
pub(super) use super::request::context::{Ctx, MutationCtx};
pub(super) use super::schema::*;
pub(super) use super::types::*;
pub(super) use crate::db::{self, Read, ReadHandle, Transaction, Write};
pub(super) use crate::engine::page::{PageArguments, PageRequest};
pub(super) use crate::entity::field_rule::must_not_be_null;
pub(super) use crate::entity::timestamp::touch;
pub(super) use crate::entity::{ByIds, Timestamp, text};
pub(super) use crate::error::{Error, Problems, Result, UserError, quoted};
