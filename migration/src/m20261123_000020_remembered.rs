//! What servers remember from one start to the next, by name: the address of the application.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let table = Table::create().table("remembered").col(text("name").primary_key()).col(text("value")).take();
        manager.create_table(table).await
    })
}
