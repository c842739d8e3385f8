//! The audit: who changed what, when and how. Also the responses of the deploy webhook to posts that it did not record.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, index};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        // No foreign keys: an entry outlives the token that made the change and the thing that was changed.
        let audit = Table::create()
            .table("audit")
            .col(big_pk_auto("id"))
            .col(big_integer("at"))
            .col(text("actor_kind"))
            .col(big_integer_null("actor_id"))
            .col(text("actor_name"))
            .col(text("action"))
            .col(text_null("subject_class"))
            .col(big_integer_null("subject_id"))
            .col(text_null("subject_name"))
            .col(text("detail"))
            .take();
        manager.create_table(audit).await?;
        let delivery = Table::create()
            .table("delivery")
            .col(big_pk_auto("id"))
            .col(big_integer("integration_id"))
            .col(big_integer("at"))
            .col(integer("status"))
            .col(text("answer"))
            .foreign_key(&mut cascade("delivery", "integration_id", "integration"))
            .take();
        manager.create_table(delivery).await?;
        let indexes = [
            index("audit_by_actor", "audit", ["actor_kind", "actor_id", "id"]),
            index("audit_by_subject", "audit", ["subject_class", "subject_id", "id"]),
            index("delivery_by_integration", "delivery", ["integration_id", "id"]),
        ];
        create(manager, indexes).await
    })
}
