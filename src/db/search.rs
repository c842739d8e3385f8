//! Searching the names and aliases of services: what a step of `migration/` makes, to be written and asked.

use sea_orm::{ConnectionTrait, DbBackend, DbErr};

use super::{Backend, Ids};

pub use migration::search::write;

/// Counts anew how often texts occur, after many were written: PostgreSQL decides by that how to look for one.
pub async fn take_statistics<C: ConnectionTrait>(db: &C) -> Result<(), DbErr> {
    if db.get_database_backend() == DbBackend::Postgres {
        db.execute_unprepared("ANALYZE service_search").await?;
    }
    Ok(())
}

/// The services of which the name or an alias contains a text of at least one letter, whatever the letter case.
pub fn containing(db: &impl Backend, text: &str) -> Ids {
    let (select, id) = migration::search::containing(db.backend(), text);
    Ids { select, id, may_repeat: false }
}
