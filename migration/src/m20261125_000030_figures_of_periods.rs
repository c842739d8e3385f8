//! Figures of deploys by periods of three hours, instead of days. A window then ends with fewer deploys that no figures
//! count. They are `deploy_period_figures` and `deploy_period_figures_version`, in the form of `deploy_figures` and
//! `deploy_figures_version`, which the next release drops.
//!
//! A program of an older release removes changes from `deploy_change` when it has removed the figures of days that they
//! concern, and would leave figures of periods stale. Without the row in `deploy_figures_version` it removes no changes
//! and stores no figures, and computes metrics from all deploys until it is replaced. The figures of days are deleted,
//! because from now on nobody removes stale ones.

use sea_orm_migration::{prelude::*, sea_orm};

use sea_orm::{ConnectionTrait, DbBackend};

use crate::Done;

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let db = manager.get_connection();
        let (text, bytes) = match manager.get_database_backend() {
            DbBackend::Postgres => (r#"text COLLATE "C""#, "bytea"),
            _ => ("text", "blob"),
        };
        // An older program that stores figures waits for this row, and then does not find it.
        db.execute_unprepared("DELETE FROM deploy_figures_version").await?;
        db.execute_unprepared("DELETE FROM deploy_figures").await?;
        let table = format!(
            "CREATE TABLE deploy_period_figures (environment {text} NOT NULL, period bigint NOT NULL, \
             failures bigint NOT NULL, deploys bigint NOT NULL, successes bigint NOT NULL, \
             lead_times {bytes} NOT NULL, recovery_times {bytes} NOT NULL, PRIMARY KEY (environment, period))"
        );
        db.execute_unprepared(&table).await?;
        for statement in [
            "CREATE INDEX deploy_period_figures_by_period ON deploy_period_figures (period)",
            "CREATE TABLE deploy_period_figures_version (version bigint NOT NULL)",
            "INSERT INTO deploy_period_figures_version (version) VALUES (0)",
        ] {
            db.execute_unprepared(statement).await?;
        }
        Ok(())
    })
}
