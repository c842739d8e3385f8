//! API documents that rollcall pulls from a URL: the URL of a service, when it is pulled next, and documents that no
//! integration received.

use sea_orm_migration::sea_orm::DbBackend;
use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, index};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let db = manager.get_connection();
        db.execute_unprepared("ALTER TABLE service ADD COLUMN api_document_url text NULL").await?;
        let pull = Table::create()
            .table("document_pull")
            .col(big_pk_auto("id"))
            .col(big_integer("service_id"))
            .col(big_integer("next_pull_at"))
            .col(big_integer_null("pulled_at"))
            .col(text_null("error"))
            .col(integer("failures"))
            .col(text_null("etag"))
            .col(text_null("last_modified"))
            .foreign_key(&mut cascade("document_pull", "service_id", "service"))
            .take();
        manager.create_table(pull).await?;
        create(
            manager,
            [
                index("document_pull_by_service", "document_pull", ["service_id"]).unique().take(),
                index("document_pull_by_time", "document_pull", ["next_pull_at", "id"]),
            ],
        )
        .await?;
        match manager.get_database_backend() {
            DbBackend::Sqlite => copy_documents(manager).await?,
            _ => {
                let statement = "ALTER TABLE service_document ALTER COLUMN integration_id DROP NOT NULL";
                db.execute_unprepared(statement).await?;
            }
        }
        let mut once = index("service_document_pulled_once", "service_document", ["service_id"]);
        once.unique().and_where(Expr::col("integration_id").is_null());
        create(manager, [once]).await
    })
}

/// Copies the two tables, because SQLite cannot make an existing column nullable.
async fn copy_documents(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let document = Table::create()
        .table("new_service_document")
        .col(big_pk_auto("id"))
        .col(big_integer("service_id"))
        .col(big_integer_null("integration_id"))
        .col(text("title"))
        .col(text("format"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .foreign_key(&mut cascade("new_service_document", "service_id", "service"))
        .foreign_key(&mut cascade("new_service_document", "integration_id", "integration"))
        .take();
    // The texts are copied too: dropping their documents would delete them.
    let content = Table::create()
        .table("new_service_document_content")
        .col(big_pk_auto("id"))
        .col(big_integer("document_id"))
        .col(text("content"))
        .foreign_key(&mut cascade("new_service_document_content", "document_id", "new_service_document"))
        .take();
    manager.create_table(document).await?;
    manager.create_table(content).await?;
    let statements = "
        INSERT INTO new_service_document (id, service_id, integration_id, title, format, created_at, updated_at)
            SELECT id, service_id, integration_id, title, format, created_at, updated_at FROM service_document ORDER BY id;
        INSERT INTO new_service_document_content (id, document_id, content)
            SELECT id, document_id, content FROM service_document_content ORDER BY id;
        -- An id is never given out twice, that of a deleted document neither.
        DELETE FROM sqlite_sequence WHERE name IN ('new_service_document', 'new_service_document_content');
        INSERT INTO sqlite_sequence (name, seq) SELECT 'new_' || name, seq FROM sqlite_sequence
            WHERE name IN ('service_document', 'service_document_content');
        DROP TABLE service_document_content;
        DROP TABLE service_document;
        ALTER TABLE new_service_document RENAME TO service_document;
        ALTER TABLE new_service_document_content RENAME TO service_document_content;";
    manager.get_connection().execute_unprepared(statements).await?;
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
