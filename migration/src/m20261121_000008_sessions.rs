//! Sign-in: the sessions of people, and the links that begin one.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, index};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        // As with tokens, only the SHA-256 hash of the secret is stored.
        let hash = || Expr::from(Func::cust("length").arg(Expr::col("hash"))).eq(32);
        let session = Table::create()
            .table("session")
            .col(big_pk_auto("id"))
            .col(blob("hash"))
            .col(big_integer("user_id"))
            .col(text_null("user_agent"))
            .col(big_integer("created_at"))
            .col(big_integer("last_seen_at"))
            .col(big_integer("expires_at"))
            .foreign_key(&mut cascade("session", "user_id", "user"))
            .check(hash())
            .take();
        manager.create_table(session).await?;

        let link = Table::create()
            .table("sign_in_link")
            .col(big_pk_auto("id"))
            .col(blob("hash"))
            // Null: whoever uses the link becomes the first administrator.
            .col(big_integer_null("user_id"))
            .col(big_integer("created_at"))
            .col(big_integer("expires_at"))
            .col(big_integer_null("used_at"))
            .foreign_key(&mut cascade("sign_in_link", "user_id", "user"))
            .check(hash())
            .take();
        manager.create_table(link).await?;

        let indexes = [
            index("session_by_hash", "session", ["hash"]).unique().take(),
            index("session_by_user", "session", ["user_id"]),
            index("sign_in_link_by_hash", "sign_in_link", ["hash"]).unique().take(),
            index("sign_in_link_by_user", "sign_in_link", ["user_id"]),
        ];
        create(manager, indexes).await
    })
}
