//! Who made a token, how it begins, from where it was last used, and a description that no other token has. Tokens from
//! before have none of these.

use sea_orm_migration::{prelude::*, schema::text_null};

use crate::Done;
use crate::ddl::{create, index};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        for column in ["created_by", "prefix", "last_used_from", "description_key"] {
            manager.alter_table(Table::alter().table("token").add_column(text_null(column)).take()).await?;
        }
        create(manager, [index("token_by_description", "token", ["description_key"]).unique().take()]).await
    })
}
