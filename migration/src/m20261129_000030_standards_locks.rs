//! Which standards file governs a level, a category, a filter, a scorecard, a check or a campaign.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        for table in ["level", "category", "filter", "scorecard", "check", "campaign"] {
            manager.alter_table(Table::alter().table(table).add_column(text_null("locked_by")).take()).await?;
        }
        Ok(())
    })
}
