//! What was not taken from the document of each service.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::cascade;

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let note = Table::create()
            .table("service_file_note")
            .col(big_integer("service_id").primary_key())
            .col(text("notes"))
            .foreign_key(&mut cascade("service_file_note", "service_id", "service"))
            .take();
        manager.create_table(note).await
    })
}
