//! Which properties and relationships a service file wrote, so that a file that no longer has them removes those alone.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        for table in ["property", "relationship"] {
            manager.alter_table(Table::alter().table(table).add_column(text_null("written_by")).take()).await?;
        }
        Ok(())
    })
}
