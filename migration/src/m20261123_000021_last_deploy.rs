//! On PostgreSQL, the time of a service's last deploy is right also after two transactions that did not see each other.
//!
//! So far, a transaction that removed the last deploy did not see one that another transaction had just stored, and the
//! time became that of an older one. Now each first locks the row of the service, and then looks at the deploys with a
//! new snapshot. A statement locks the rows of several services in the order of their ids. SQLite has one writer.

use sea_orm_migration::{prelude::*, sea_orm};

use sea_orm::{ConnectionTrait, DbBackend};

use crate::Done;

/// The table of the times.
const TABLE: &str = "service_last_deploy";

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        if manager.get_database_backend() != DbBackend::Postgres {
            return Ok(());
        }
        for statement in statements() {
            manager.get_connection().execute_unprepared(&statement).await?;
        }
        Ok(())
    })
}

fn statements() -> [String; 6] {
    let function = |name: &str, body: &str| {
        format!(
            "CREATE OR REPLACE FUNCTION {TABLE}_{name}() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN {body} RETURN NULL; END $$"
        )
    };
    let lock = |services: &str| {
        format!("PERFORM 1 FROM {TABLE} WHERE service_id IN ({services}) ORDER BY service_id FOR NO KEY UPDATE;")
    };
    let of_each = |deploys: &str| {
        format!(
            "SELECT service_id, max(deployed_at) AS deployed_at FROM {deploys} WHERE service_id IS NOT NULL \
             GROUP BY service_id"
        )
    };
    let last = |service: &str| format!("(SELECT max(deployed_at) FROM deploy WHERE service_id = {service})");

    let of_new = format!(
        "{} UPDATE {TABLE} AS present SET deployed_at = latest.deployed_at FROM ({}) AS latest \
         WHERE present.service_id = latest.service_id \
         AND (present.deployed_at IS NULL OR present.deployed_at < latest.deployed_at);",
        lock("SELECT service_id FROM inserted"),
        of_each("inserted"),
    );
    let of_deleted = format!(
        "{} UPDATE {TABLE} AS present SET deployed_at = {} FROM ({}) AS gone \
         WHERE present.service_id = gone.service_id AND present.deployed_at <= gone.deployed_at;",
        lock("SELECT service_id FROM deleted"),
        last("present.service_id"),
        of_each("deleted"),
    );
    let of_changed = format!(
        "{} UPDATE {TABLE} SET deployed_at = {} WHERE service_id IN (OLD.service_id, NEW.service_id);",
        lock("OLD.service_id, NEW.service_id"),
        last(&format!("{TABLE}.service_id")),
    );
    [
        function("new", &of_new),
        format!("DROP TRIGGER {TABLE}_of_deleted ON deploy"),
        function("deleted", &of_deleted),
        format!(
            "CREATE TRIGGER {TABLE}_of_deleted AFTER DELETE ON deploy REFERENCING OLD TABLE AS deleted \
             FOR EACH STATEMENT EXECUTE FUNCTION {TABLE}_deleted()"
        ),
        function("changed", &of_changed),
        // What has become wrong so far.
        format!(
            "UPDATE {TABLE} SET deployed_at = {0} WHERE deployed_at IS DISTINCT FROM {0}",
            last(&format!("{TABLE}.service_id"))
        ),
    ]
}
