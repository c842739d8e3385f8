//! Idempotency keys of requests with mutations, so that no such request runs twice.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, exactly_one, index, partial};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let hash = |column| Expr::from(Func::cust("length").arg(Expr::col(column))).eq(32);
        let key = Table::create()
            .table("idempotency_key")
            .col(big_pk_auto("id"))
            .col(big_integer_null("token_id"))
            .col(big_integer_null("user_id"))
            // SHA-256 of the key, and of the request's body.
            .col(blob("key_hash"))
            .col(blob("request_hash"))
            .col(big_integer("created_at"))
            .col(integer("mutations"))
            .col(boolean("has_ended"))
            .col(text_null("answer"))
            .foreign_key(&mut cascade("idempotency_key", "token_id", "token"))
            .foreign_key(&mut cascade("idempotency_key", "user_id", "user"))
            .check(exactly_one(["token_id", "user_id"]))
            .check(hash("key_hash"))
            .check(hash("request_hash"))
            .take();
        manager.create_table(key).await?;
        let unique = |name, owner| partial(name, "idempotency_key", [owner, "key_hash"], owner).unique().take();
        let indexes = [
            unique("idempotency_key_of_token", "token_id"),
            unique("idempotency_key_of_user", "user_id"),
            index("idempotency_key_by_time", "idempotency_key", ["created_at"]),
        ];
        create(manager, indexes).await
    })
}
