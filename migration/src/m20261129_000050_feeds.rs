//! The feeds of people: their tokens, which stand in the addresses that feed readers ask.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, index};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        // As with sessions, only the SHA-256 hash of the secret is stored.
        let hash = Expr::from(Func::cust("length").arg(Expr::col("hash"))).eq(32);
        let feed = Table::create()
            .table("feed")
            .col(big_pk_auto("id"))
            .col(blob("hash"))
            .col(big_integer("user_id"))
            .col(big_integer("created_at"))
            .col(big_integer_null("last_used_at"))
            .foreign_key(&mut cascade("feed", "user_id", "user"))
            .check(hash)
            .take();
        manager.create_table(feed).await?;
        let indexes =
            [index("feed_by_hash", "feed", ["hash"]).unique().take(), index("feed_by_user", "feed", ["user_id"])];
        create(manager, indexes).await
    })
}
