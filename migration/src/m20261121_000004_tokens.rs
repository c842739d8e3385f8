//! API tokens.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{create, index};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let token = Table::create()
            .table("token")
            .col(big_pk_auto("id"))
            .col(text("description"))
            // SHA-256 of the token. The token itself is shown once and not stored.
            .col(blob("hash"))
            .col(text("scope"))
            .col(big_integer_null("expires_at"))
            .col(big_integer_null("last_used_at"))
            .col(big_integer("created_at"))
            .check(Expr::from(Func::cust("length").arg(Expr::col("hash"))).eq(32))
            .take();
        manager.create_table(token).await?;
        create(manager, [index("token_by_hash", "token", ["hash"]).unique().take()]).await
    })
}
