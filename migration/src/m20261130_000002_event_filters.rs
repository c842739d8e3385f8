//! Event subscriptions for several teams, services, tiers and environments: each list is JSON, and null for all.
//!
//! Ids in a list are no foreign keys. What was deleted stays in it and matches nothing: without it, a list could become
//! empty, which means all. One team is in `team_id`: the subscription belongs to it, and goes with it.
//!
//! This drops columns, and all programs may go on: no release has subscriptions.

use sea_orm_migration::sea_orm::DbBackend;
use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, partial};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        match manager.get_database_backend() {
            DbBackend::Sqlite => copy(manager).await,
            _ => widen(manager).await,
        }
    })
}

/// Makes the table again, because SQLite cannot drop a column that is a foreign key. The rows that refer to it are kept
/// meanwhile: dropping it deletes them.
async fn copy(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let keep = "
        CREATE TABLE kept_event_subscription AS SELECT * FROM event_subscription;
        CREATE TABLE kept_event_receiver AS SELECT * FROM event_receiver;
        CREATE TABLE kept_event_delivery AS SELECT * FROM event_delivery;
        CREATE TABLE kept_event_sequence AS SELECT seq FROM sqlite_sequence WHERE name = 'event_subscription';
        DROP TABLE event_subscription;";
    manager.get_connection().execute_unprepared(keep).await?;
    let subscription = Table::create()
        .table("event_subscription")
        .col(big_pk_auto("id"))
        .col(text("name"))
        .col(text("form"))
        .col(text("host"))
        .col(text_null("email"))
        .col(text_null("digest"))
        .col(text("kinds"))
        .col(big_integer_null("team_id"))
        .col(text_null("team_ids"))
        .col(text_null("service_ids"))
        .col(text_null("tier_ids"))
        .col(text_null("environments"))
        .col(boolean("enabled"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .foreign_key(&mut cascade("event_subscription", "team_id", "team"))
        .take();
    manager.create_table(subscription).await?;
    create(manager, [partial("event_subscription_by_team", "event_subscription", ["team_id"], "team_id")]).await?;
    let fill = "
        INSERT INTO event_subscription (id, name, form, host, email, digest, kinds, team_id, service_ids, tier_ids,
                environments, enabled, created_at, updated_at)
            SELECT id, name, form, host, email, digest, kinds, team_id, '[' || service_id || ']', '[' || tier_id || ']',
                CASE WHEN environment IS NOT NULL THEN json_array(environment) END, enabled, created_at, updated_at
            FROM kept_event_subscription ORDER BY id;
        -- An id is never given out twice, that of a deleted subscription neither.
        DELETE FROM sqlite_sequence WHERE name = 'event_subscription';
        INSERT INTO sqlite_sequence (name, seq) SELECT 'event_subscription', seq FROM kept_event_sequence;
        INSERT INTO event_receiver SELECT * FROM kept_event_receiver ORDER BY id;
        INSERT INTO event_delivery SELECT * FROM kept_event_delivery ORDER BY id;
        DROP TABLE kept_event_subscription;
        DROP TABLE kept_event_receiver;
        DROP TABLE kept_event_delivery;
        DROP TABLE kept_event_sequence;";
    manager.get_connection().execute_unprepared(fill).await.map(drop)
}

/// Changes the columns. The indexes of a column go with it.
async fn widen(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    for statement in [
        "ALTER TABLE event_subscription ADD COLUMN team_ids text NULL, ADD COLUMN service_ids text NULL,
            ADD COLUMN tier_ids text NULL, ADD COLUMN environments text NULL",
        "UPDATE event_subscription SET service_ids = '[' || service_id::text || ']', tier_ids = '[' || tier_id::text || ']',
            environments = CASE WHEN environment IS NOT NULL THEN json_build_array(environment)::text END",
        "ALTER TABLE event_subscription DROP COLUMN service_id, DROP COLUMN tier_id, DROP COLUMN environment",
    ] {
        manager.get_connection().execute_unprepared(statement).await?;
    }
    Ok(())
}
