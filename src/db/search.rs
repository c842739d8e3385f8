//! Searching the names and aliases of services: what a step of `migration/` makes, to be written and asked.

use sea_orm::ConnectionTrait;

use super::Ids;

pub use migration::search::write;

/// The services of which the name or an alias contains a text of at least one letter, whatever the letter case.
pub fn containing<C: ConnectionTrait>(db: &C, text: &str) -> Ids {
    let (select, id) = migration::search::containing(db.get_database_backend(), text);
    Ids { select, id, may_repeat: false }
}
