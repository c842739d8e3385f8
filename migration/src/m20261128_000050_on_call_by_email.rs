//! An index of who is on call by email address, to find what a person is on call for.

use sea_orm_migration::prelude::*;

use crate::Done;
use crate::ddl::{create, index};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move { create(manager, [index("on_call_by_email", "on_call", ["external_email"])]).await })
}
