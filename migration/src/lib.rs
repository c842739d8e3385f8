//! The migrations of rollcall's database, in order, for both SQLite and PostgreSQL.
//!
//! Never edit a migration that has landed: add another one. There are no down migrations: restore a backup. The caller
//! (`src/catalogue/db/`) holds a lock and one transaction around all migrations, so a migration does not begin one of its
//! own.
//!
//! While a cluster is upgraded, older processes keep running beside newer ones. So a migration either expands the
//! database or contracts it. A contracting migration comes at least one release after the last program that needs what
//! it removes.
//!
//! - Expanding: a new table, a new index, or a new column that is nullable or has a default. Older programs keep
//!   running.
//! - Contracting: everything else, such as dropping or renaming a column, a column without a default, a narrower check,
//!   or rows that an older program would misread. Set [`NEEDED`] to the first migration of the oldest program that
//!   works with what remains. Older programs then stop.
//!
//! A migration that only adds a column is a line of the list: [`NewColumn`]. Any other has a file.
//!
//! On PostgreSQL a migration holds its locks until all migrations are done. Writes to its tables wait for that long.
//!
//! Read the columns of rows by their names: they have no positions here.
//!
//! Two rules for a new table. Declare its foreign keys when creating it, because SQLite cannot add one later. Every
//! referencing column must lead an index, because deleting the referenced row looks for it. Use `CHECK` for the shape
//! of a row (one owner out of four), but not for the words that a column may hold. The enum of the entity checks those,
//! because SQLite cannot change a check without copying the table.

use std::pin::Pin;

use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend, Value};
use sea_orm_migration::{prelude::*, schema};

use new_column::NewColumn;
use step::{Done, step};

pub use sea_orm_migration::{IntoSchemaManagerConnection, MigratorTrait};

mod ddl;
mod find_rebuild;
mod m20261121_000001_catalogue;
mod m20261121_000002_integrations;
mod m20261121_000003_deploys;
mod m20261121_000004_tokens;
mod m20261121_000005_tiers_and_lifecycles;
mod m20261121_000006_deploys_of_an_environment;
mod m20261121_000007_deploy_metrics;
mod m20261121_000008_sessions;
mod m20261121_000009_audit_and_deliveries;
mod m20261121_000010_identities;
mod m20261121_000011_audit_by_time;
mod m20261122_000001_search;
mod m20261122_000002_email_keys;
mod m20261122_000003_scopes;
mod m20261122_000004_systems_and_domains;
mod m20261122_000005_tools_contacts_dependencies;
mod m20261122_000006_rubric;
mod m20261122_000007_repositories_users_integrations;
mod m20261122_000008_documents_filters_alerts;
mod m20261122_000011_properties;
mod m20261122_000012_infrastructure;
mod m20261122_000014_service_file_sources;
mod m20261122_000017_dependencies_followed;
mod m20261122_000018_relationships;
mod m20261123_000001_find;
mod m20261123_000002_orders;
mod m20261123_000003_compatibility;
mod m20261123_000004_idempotency_keys;
mod m20261123_000005_rate_limits;
mod m20261123_000006_deploy_figures;
mod m20261123_000006_written_by_files;
mod m20261123_000007_more_orders;
mod m20261123_000010_covering_indexes;
mod m20261123_000010_filter_pairs;
mod m20261123_000020_remembered;
mod m20261123_000021_last_deploy;
mod m20261123_000030_pulled_documents;
mod m20261125_000020_metrics_of_services;
mod m20261125_000030_figures_of_periods;
mod m20261128_000010_custom_events;
mod m20261128_000020_service_file_notes;
mod m20261128_000030_checks;
mod m20261128_000050_on_call_by_email;
mod m20261128_000060_token_details;
mod m20261128_000070_check_results;
mod m20261128_000110_scorecards;
mod m20261128_000120_campaigns;
mod m20261128_000130_events;
mod m20261129_000010_custom_event_outcomes;
mod m20261129_000020_check_history;
mod m20261129_000030_standards_locks;
mod m20261129_000040_services_by_level;
mod m20261129_000050_feeds;
mod m20261130_000001_audit_owner;
mod m20261130_000002_event_filters;
mod m20261130_000010_mail_and_digests;
mod m20261130_000020_told_once;
mod m20261130_000030_scim;
mod m20261130_000040_saved_views;
mod m20261130_000060_events_ended;
mod new_column;
mod step;

/// Writes and queries the search index of services, in the form that a migration gives it.
pub mod search {
    pub use crate::m20261122_000001_search::{containing, insert, next_containing, rebuild};
}

/// Writes and queries the search index of all nouns, in the form that a migration gives it.
pub mod find {
    pub use crate::find_rebuild::rebuild;
    pub use crate::m20261123_000001_find::{
        ROWS, SEARCHED, Searched, Text, Texts, add, fold, grams, grams_of, postings, shorter, words,
    };
}

/// A write transaction that stores very many rows.
pub trait BulkInsert: ConnectionTrait {
    /// Inserts rows. `values` has the values of the first row, in the order of `columns`, then those of the next row.
    fn insert_rows(
        &self,
        table: &str,
        columns: &[&str],
        values: Vec<Value>,
    ) -> impl Future<Output = Result<(), DbErr>> + Send;
}

impl BulkInsert for SchemaManagerConnection<'_> {
    async fn insert_rows(&self, table: &str, columns: &[&str], values: Vec<Value>) -> Result<(), DbErr> {
        for rows in values.chunks(PARAMETERS / columns.len() * columns.len()) {
            let mut insert = Query::insert();
            insert.into_table(table.to_owned()).columns(columns.iter().map(|column| (*column).to_owned()));
            for row in rows.chunks(columns.len()) {
                insert.values_panic(row.iter().cloned().map(Expr::value));
            }
            self.execute(&insert).await?;
        }
        Ok(())
    }
}

/// The maximum number of values that a statement inserts.
const PARAMETERS: usize = 10_000;

/// Knows all migrations, and runs those that a database lacks.
pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            step!(m20261121_000001_catalogue),
            step!(m20261121_000002_integrations),
            step!(m20261121_000003_deploys),
            step!(m20261121_000004_tokens),
            step!(m20261121_000005_tiers_and_lifecycles),
            step!(m20261121_000006_deploys_of_an_environment),
            step!(m20261121_000007_deploy_metrics),
            step!(m20261121_000008_sessions),
            step!(m20261121_000009_audit_and_deliveries),
            step!(m20261121_000010_identities),
            step!(m20261121_000011_audit_by_time),
            step!(m20261122_000001_search),
            step!(m20261122_000002_email_keys),
            step!(m20261122_000003_scopes),
            step!(m20261122_000004_systems_and_domains),
            step!(m20261122_000005_tools_contacts_dependencies),
            step!(m20261122_000006_rubric),
            step!(m20261122_000007_repositories_users_integrations),
            step!(m20261122_000008_documents_filters_alerts),
            step!(m20261122_000011_properties),
            step!(m20261122_000012_infrastructure),
            step!(m20261122_000014_service_file_sources),
            step!(m20261122_000017_dependencies_followed),
            step!(m20261122_000018_relationships),
            step!(m20261123_000001_find),
            step!(m20261123_000002_orders),
            step!(m20261123_000003_compatibility),
            step!(m20261123_000004_idempotency_keys),
            step!(m20261123_000005_rate_limits),
            step!(m20261123_000006_deploy_figures),
            step!(m20261123_000006_written_by_files),
            step!(m20261123_000007_more_orders),
            step!(m20261123_000010_covering_indexes),
            step!(m20261123_000010_filter_pairs),
            step!(m20261123_000020_remembered),
            step!(m20261123_000021_last_deploy),
            step!(m20261123_000030_pulled_documents),
            NewColumn::boxed("m20261125_000010_provisioned_by", "user", schema::text_null("provisioned_by")),
            step!(m20261125_000020_metrics_of_services),
            step!(m20261125_000030_figures_of_periods),
            NewColumn::boxed("m20261128_000001_component_category", "component_type", schema::text_null("category")),
            step!(m20261128_000010_custom_events),
            step!(m20261128_000020_service_file_notes),
            step!(m20261128_000030_checks),
            NewColumn::boxed(
                "m20261128_000040_visit_before",
                "session",
                schema::big_integer_null("last_visit_ended_at"),
            ),
            step!(m20261128_000050_on_call_by_email),
            step!(m20261128_000060_token_details),
            step!(m20261128_000070_check_results),
            step!(m20261128_000110_scorecards),
            step!(m20261128_000120_campaigns),
            step!(m20261128_000130_events),
            step!(m20261129_000010_custom_event_outcomes),
            step!(m20261129_000020_check_history),
            step!(m20261129_000030_standards_locks),
            step!(m20261129_000040_services_by_level),
            step!(m20261129_000050_feeds),
            step!(m20261130_000010_mail_and_digests),
            NewColumn::boxed("m20261130_000050_audit_kept", "audit", schema::text_null("kept")),
            NewColumn::boxed("m20261130_000050_suggestion_acceptance", "suggestion", schema::text_null("acceptance")),
            step!(m20261130_000020_told_once),
            step!(m20261130_000030_scim),
            step!(m20261130_000040_saved_views),
            step!(m20261130_000060_events_ended),
            // After the exact values of entries, from which it reads.
            step!(m20261130_000001_audit_owner),
            step!(m20261130_000002_event_filters),
        ]
    }
}

/// The migration that a program must know to use a database with all migrations of this program. See the rules above.
/// Programs without this one cannot read documents that no integration received. No release has documents without it.
const NEEDED: &str = "m20261123_000030_pulled_documents";

/// The first migration after which a database says which migration it needs.
const SAYS_WHAT_IT_NEEDS: &str = "m20261123_000003_compatibility";

/// How the migrations of a database compare with those of this program.
#[derive(Debug, PartialEq, Eq)]
pub enum SchemaVersion {
    /// The database lacks this many migrations, possibly none.
    Lacks(usize),
    /// The database has newer migrations, and this program can still use it.
    Newer {
        /// The last migration that this program does not know.
        step: String,
    },
    /// The database has newer migrations, and this program cannot use it any more.
    TooNew {
        /// The last migration that this program does not know.
        step: String,
    },
}

/// The texts that a statement returns.
pub type Texts<'d> = Pin<Box<dyn Future<Output = Result<Vec<String>, DbErr>> + Send + 'd>>;

impl Migrator {
    /// Compares a database with the migrations known here, without changing it. `texts` runs a statement and returns the
    /// texts in its only column.
    pub async fn schema_version<'d>(
        backend: DbBackend,
        texts: impl Fn(&'static str) -> Texts<'d>,
    ) -> Result<SchemaVersion, DbErr> {
        let known: Vec<String> = Self::migrations().iter().map(|step| step.name().to_owned()).collect();
        let has = match texts(has_migrations(backend)).await?.is_empty() {
            true => Vec::new(),
            false => texts("SELECT version FROM seaql_migrations").await?,
        };
        let lacks = known.iter().filter(|step| !has.contains(step)).count();
        let Some(step) = has.iter().filter(|step| !known.contains(step)).max().cloned() else {
            return Ok(SchemaVersion::Lacks(lacks));
        };
        // If known migrations are missing too, a program of another branch has migrated the database. This one might
        // miss what they create.
        if lacks > 0 || !has.iter().any(|step| step == SAYS_WHAT_IT_NEEDS) {
            return Ok(SchemaVersion::TooNew { step });
        }
        Ok(match texts("SELECT needed_step FROM compatibility WHERE id = 1").await?.first() {
            Some(needed) if known.contains(needed) => SchemaVersion::Newer { step },
            _ => SchemaVersion::TooNew { step },
        })
    }

    /// Runs the missing migrations, and records which migration a program must know from then on.
    pub async fn complete<'c, C: ConnectionTrait>(db: &'c C) -> Result<(), DbErr>
    where
        &'c C: IntoSchemaManagerConnection<'c>,
    {
        Self::up(db, None).await?;
        let note = format!("UPDATE compatibility SET needed_step = '{NEEDED}' WHERE needed_step <> '{NEEDED}'");
        db.execute_unprepared(&note).await.map(|_| ())
    }
}

/// The statement that returns a row if a database was ever migrated.
fn has_migrations(backend: DbBackend) -> &'static str {
    match backend {
        // Only in the schema where it would be created: another one may hold the migrations of another program.
        DbBackend::Postgres => {
            "SELECT 'migrated' WHERE to_regclass(quote_ident(current_schema()) || '.seaql_migrations') IS NOT NULL"
        }
        _ => "SELECT name FROM sqlite_schema WHERE name = 'seaql_migrations'",
    }
}
