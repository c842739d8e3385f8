//! The steps that make rollcall's database, in order, for SQLite and PostgreSQL alike.
//!
//! A step is never edited once it has landed; a change is a new step. There is no way down: restore a backup.
//! Whoever runs the steps holds a lock and one transaction around them (`src/db/` of rollcall), which is why no step
//! asks for a transaction of its own.
//!
//! Two rules for a new table. Foreign keys are written with the table, because SQLite cannot add one later, and every
//! referencing column leads an index, because deleting the referenced row looks for it. `CHECK` is for the shape of a
//! row (one owner out of four); which words a column may hold is left to the enum of the entity, because SQLite
//! cannot change a check without copying the table.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::EntityTrait;
use sea_orm_migration::seaql_migrations;

pub use sea_orm_migration::{IntoSchemaManagerConnection, MigratorTrait};

mod ddl;
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

/// What services are found by: the form that a step gives it, for whoever writes and asks it.
pub mod search {
    pub use crate::m20261122_000001_search::{containing, write};
}

/// What the search over all nouns finds: the form that a step gives it, for whoever writes and asks it.
pub mod find {
    pub use crate::m20261123_000001_find::{fold, grams, refresh, shorter, take_statistics, words};
}

/// Knows all steps and runs those that a database lacks.
pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m20261121_000001_catalogue::Migration),
            Box::new(m20261121_000002_integrations::Migration),
            Box::new(m20261121_000003_deploys::Migration),
            Box::new(m20261121_000004_tokens::Migration),
            Box::new(m20261121_000005_tiers_and_lifecycles::Migration),
            Box::new(m20261121_000006_deploys_of_an_environment::Migration),
            Box::new(m20261121_000007_deploy_metrics::Migration),
            Box::new(m20261121_000008_sessions::Migration),
            Box::new(m20261121_000009_audit_and_deliveries::Migration),
            Box::new(m20261121_000010_identities::Migration),
            Box::new(m20261121_000011_audit_by_time::Migration),
            Box::new(m20261122_000001_search::Migration),
            Box::new(m20261122_000002_email_keys::Migration),
            Box::new(m20261122_000003_scopes::Migration),
            Box::new(m20261122_000004_systems_and_domains::Migration),
            Box::new(m20261122_000005_tools_contacts_dependencies::Migration),
            Box::new(m20261122_000006_rubric::Migration),
            Box::new(m20261122_000007_repositories_users_integrations::Migration),
            Box::new(m20261122_000008_documents_filters_alerts::Migration),
            Box::new(m20261122_000011_properties::Migration),
            Box::new(m20261122_000012_infrastructure::Migration),
            Box::new(m20261122_000014_service_file_sources::Migration),
            Box::new(m20261122_000017_dependencies_followed::Migration),
            Box::new(m20261122_000018_relationships::Migration),
            Box::new(m20261123_000001_find::Migration),
            Box::new(m20261123_000002_orders::Migration),
        ]
    }
}

/// How a database stands beside the steps of this program.
pub struct Standing {
    /// How many steps the database lacks.
    pub pending: usize,
    /// The steps that it has and this program does not know, in order.
    pub unknown: Vec<String>,
}

impl Migrator {
    /// Compares a database with the steps known here, without changing it.
    pub async fn standing<'c>(db: impl IntoSchemaManagerConnection<'c>) -> Result<Standing, DbErr> {
        let manager = SchemaManager::new(db);
        let mut pending: Vec<String> = Self::migrations().iter().map(|step| step.name().to_owned()).collect();
        let mut unknown = Vec::new();
        if manager.has_table(Self::migration_table_name().to_string()).await? {
            for step in seaql_migrations::Entity::find().all(manager.get_connection()).await? {
                match pending.iter().position(|name| *name == step.version) {
                    Some(known) => drop(pending.swap_remove(known)),
                    None => unknown.push(step.version),
                }
            }
        }
        unknown.sort();
        Ok(Standing { pending: pending.len(), unknown })
    }
}
