//! API documents, saved filters, who is on call, alert sources, and how a service was created.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, index};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let db = manager.get_connection();
        db.execute_unprepared("ALTER TABLE service ADD COLUMN creation_source text NULL").await?;
        documents(manager).await?;
        filters(manager).await?;
        on_call(manager).await?;
        alerts(manager).await
    })
}

/// The texts have a table of their own, so that listing documents does not read them.
async fn documents(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let document = Table::create()
        .table("service_document")
        .col(big_pk_auto("id"))
        .col(big_integer("service_id"))
        .col(big_integer("integration_id"))
        .col(text("title"))
        .col(text("format"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .foreign_key(&mut cascade("service_document", "service_id", "service"))
        .foreign_key(&mut cascade("service_document", "integration_id", "integration"))
        .take();
    let content = Table::create()
        .table("service_document_content")
        .col(big_pk_auto("id"))
        .col(big_integer("document_id"))
        .col(text("content"))
        .foreign_key(&mut cascade("service_document_content", "document_id", "service_document"))
        .take();
    manager.create_table(document).await?;
    manager.create_table(content).await?;
    create(
        manager,
        [
            index("service_document_once", "service_document", ["service_id", "integration_id"]).unique().take(),
            index("service_document_by_service", "service_document", ["service_id", "id"]),
            index("service_document_by_integration", "service_document", ["integration_id"]),
            index("service_document_content_by_document", "service_document_content", ["document_id"]).unique().take(),
        ],
    )
    .await
}

async fn filters(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let filter = Table::create()
        .table("filter")
        .col(big_pk_auto("id"))
        .col(text("name"))
        .col(text_null("connective"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .take();
    let predicate = Table::create()
        .table("filter_predicate")
        .col(big_pk_auto("id"))
        .col(big_integer("filter_id"))
        .col(text("key"))
        .col(text_null("key_data"))
        .col(text("type"))
        .col(text_null("value"))
        .col(boolean_null("case_sensitive"))
        .foreign_key(&mut cascade("filter_predicate", "filter_id", "filter"))
        .take();
    manager.create_table(filter).await?;
    manager.create_table(predicate).await?;
    create(manager, [index("filter_predicate_by_filter", "filter_predicate", ["filter_id", "id"])]).await
}

async fn on_call(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let table = Table::create()
        .table("on_call")
        .col(big_pk_auto("id"))
        .col(big_integer("service_id"))
        .col(text("name"))
        .col(text_null("external_email"))
        .col(text_null("schedule"))
        .col(text_null("url"))
        .col(big_integer_null("ends_at"))
        .foreign_key(&mut cascade("on_call", "service_id", "service"))
        .take();
    manager.create_table(table).await?;
    create(manager, [index("on_call_by_service", "on_call", ["service_id", "id"])]).await
}

async fn alerts(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let source = Table::create()
        .table("alert_source")
        .col(big_pk_auto("id"))
        .col(big_integer("integration_id"))
        .col(text("external_id"))
        .col(text("type"))
        .col(text("name"))
        .col(text_null("description"))
        .col(text_null("url"))
        .col(text_null("metadata"))
        .col(text("status"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .foreign_key(&mut cascade("alert_source", "integration_id", "integration"))
        .take();
    let link = Table::create()
        .table("alert_source_service")
        .col(big_pk_auto("id"))
        .col(big_integer("alert_source_id"))
        .col(big_integer("service_id"))
        .foreign_key(&mut cascade("alert_source_service", "alert_source_id", "alert_source"))
        .foreign_key(&mut cascade("alert_source_service", "service_id", "service"))
        .take();
    manager.create_table(source).await?;
    manager.create_table(link).await?;
    create(
        manager,
        [
            index("alert_source_once", "alert_source", ["integration_id", "external_id"]).unique().take(),
            index("alert_source_by_type", "alert_source", ["type", "external_id", "id"]),
            index("alert_source_service_once", "alert_source_service", ["alert_source_id", "service_id"])
                .unique()
                .take(),
            index("alert_source_service_by_service", "alert_source_service", ["service_id", "id"]),
        ],
    )
    .await
}
