//! Figures of deploys by day, for the account's metrics, and the changes that make figures stale.
//!
//! - `deploy_figures` holds, for a day that is over (a number of days since 1970, UTC) and an environment, what the
//!   deploys of that day contribute. Its environment is `*` for all deploys, empty for those without an environment,
//!   and otherwise `=` before the environment's key. A day has figures if it has a row for `*`.
//! - `deploy_change` lists deploys that were added, changed or removed. Triggers fill it, so that no write is missed,
//!   nor one by a program of an older release. Nobody updates a row of it, so that no writer waits for another.
//! - `deploy_figures_version` has one row. Whoever changes figures or removes changes raises its version, and does so
//!   only if it is still the version of the snapshot that the change was computed from.
//!
//! `src/catalogue/deploy/figures/mod.rs` of rollcall says how these keep stale figures out of every answer.

use sea_orm_migration::{prelude::*, sea_orm};

use sea_orm::{ConnectionTrait, DbBackend};

use crate::Done;
use crate::ddl::{create, index};

/// The columns that the metrics depend on.
const COLUMNS: [&str; 7] = [
    "service_id",
    "environment_key",
    "deployed_at",
    "status",
    "deploy_status",
    "committed_at",
    "commit_authoring_date",
];

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let db = manager.get_connection();
        let is_postgres = manager.get_database_backend() == DbBackend::Postgres;
        let (text, bytes, number) = match is_postgres {
            true => (r#"text COLLATE "C""#, "bytea", "bigserial PRIMARY KEY"),
            false => ("text", "blob", "integer PRIMARY KEY"),
        };
        let tables = [
            format!(
                "CREATE TABLE deploy_figures (environment {text} NOT NULL, day bigint NOT NULL, \
                 failures bigint NOT NULL, deploys bigint NOT NULL, successes bigint NOT NULL, \
                 lead_times {bytes} NOT NULL, recovery_times {bytes} NOT NULL, PRIMARY KEY (environment, day))"
            ),
            "CREATE INDEX deploy_figures_by_day ON deploy_figures (day)".to_owned(),
            "CREATE TABLE deploy_figures_version (version bigint NOT NULL)".to_owned(),
            "INSERT INTO deploy_figures_version (version) VALUES (0)".to_owned(),
            format!(
                "CREATE TABLE deploy_change (number {number}, id bigint NOT NULL, service_id bigint NOT NULL, \
                 environment_key text, deployed_at bigint NOT NULL)"
            ),
        ];
        for statement in tables.into_iter().chain(if is_postgres { on_postgres() } else { on_sqlite() }) {
            db.execute_unprepared(&statement).await?;
        }
        // Finds the failures that a success recovers, as `deploy_by_success` finds the success after a failure.
        let columns = ["service_id", "environment_key", "deployed_at", "id"];
        let failures = Expr::col("deploy_status").eq("failed");
        create(manager, [index("deploy_by_failure", "deploy", columns).and_where(failures).take()]).await
    })
}

/// Where a deploy is noted: always, also one of today. Its day may end, and get figures that do not count it, before its
/// transaction commits, and a trigger cannot see that. Rollcall removes the notes each minute. Deploys without a service
/// count in no metric, so they are not noted. Those whose status does not count are: what counts is no business of a
/// trigger.
const NOTED: &str = "deploy_change (id, service_id, environment_key, deployed_at)";

fn on_sqlite() -> Vec<String> {
    let note = |row: &str| {
        format!(
            "INSERT INTO {NOTED} SELECT {row}.id, {row}.service_id, {row}.environment_key, {row}.deployed_at \
             WHERE {row}.service_id IS NOT NULL;"
        )
    };
    let (old, new) = (note("OLD"), note("NEW"));
    let changed = COLUMNS.map(|column| format!("OLD.{column} IS NOT NEW.{column}")).join(" OR ");
    let columns = COLUMNS.join(", ");
    vec![
        format!("CREATE TRIGGER deploy_change_new AFTER INSERT ON deploy BEGIN {new} END"),
        format!("CREATE TRIGGER deploy_change_deleted AFTER DELETE ON deploy BEGIN {old} END"),
        format!(
            "CREATE TRIGGER deploy_change_changed AFTER UPDATE OF {columns} ON deploy WHEN {changed} \
             BEGIN {old} {new} END"
        ),
    ]
}

/// One statement notes all deploys that a statement adds or removes.
fn on_postgres() -> Vec<String> {
    let changed = COLUMNS.map(|column| format!("OLD.{column} IS DISTINCT FROM NEW.{column}")).join(" OR ");
    let columns = COLUMNS.join(", ");
    let function = |name: &str, body: &str| {
        format!("CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} RETURN NULL; END $$")
    };
    let note = |row: &str| {
        format!(
            "IF {row}.service_id IS NOT NULL THEN INSERT INTO {NOTED} \
             VALUES ({row}.id, {row}.service_id, {row}.environment_key, {row}.deployed_at); END IF;"
        )
    };
    let several = format!(
        "INSERT INTO {NOTED} SELECT id, service_id, environment_key, deployed_at FROM changed \
         WHERE service_id IS NOT NULL;"
    );
    let both = format!("{} {}", note("OLD"), note("NEW"));
    vec![
        function("deploy_change_note_several", &several),
        function("deploy_change_note", &both),
        "CREATE TRIGGER deploy_change_new AFTER INSERT ON deploy REFERENCING NEW TABLE AS changed \
         FOR EACH STATEMENT EXECUTE FUNCTION deploy_change_note_several()"
            .to_owned(),
        "CREATE TRIGGER deploy_change_deleted AFTER DELETE ON deploy REFERENCING OLD TABLE AS changed \
         FOR EACH STATEMENT EXECUTE FUNCTION deploy_change_note_several()"
            .to_owned(),
        format!(
            "CREATE TRIGGER deploy_change_changed AFTER UPDATE OF {columns} ON deploy FOR EACH ROW \
             WHEN ({changed}) EXECUTE FUNCTION deploy_change_note()"
        ),
    ]
}
