//! Sign-in through an OpenID provider: which of its subjects is which user.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, index};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let identity = Table::create()
            .table("identity")
            .col(big_pk_auto("id"))
            .col(text("issuer"))
            .col(text("subject"))
            .col(big_integer("user_id"))
            .col(big_integer("created_at"))
            .foreign_key(&mut cascade("identity", "user_id", "user"))
            .take();
        manager.create_table(identity).await?;
        let indexes = [
            index("identity_by_subject", "identity", ["issuer", "subject"]).unique().take(),
            index("identity_by_user", "identity", ["user_id"]),
        ];
        create(manager, indexes).await
    })
}
