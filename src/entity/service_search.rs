//! Maintains the search index of services: the name and aliases of each, in the form that
//! [`db::search`](crate::db::search) reads. A transaction that changes a name or an alias of a service calls
//! [`refresh`].

use foldhash::{HashMap, HashMapExt};
use sea_orm::QuerySelect;
use sea_orm::QueryTrait;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::LockType;

use super::{service, service_alias};
use crate::db::{self, Read, WriteHandle};

/// The number of services whose texts are written at once.
const BATCH: usize = 500;

/// Updates the search index of a service after its name or aliases have changed.
pub async fn refresh(db: &dyn WriteHandle, service: i64) -> Result<(), db::Error> {
    // If two transactions add aliases to a service at the same time, the second waits here, and then reads both
    // aliases. This lock does not conflict with the lock that inserting an alias takes on the service.
    let locked = service::Entity::find_by_id(service).select_only().column(service::Column::Id);
    db.rows(locked.lock(LockType::NoKeyUpdate).as_query(), |row| row.get::<i64>(0)).await?;
    refresh_many(db, &[service]).await
}

/// Updates the search index of many services that no other transaction changes.
async fn refresh_many(db: &dyn WriteHandle, services: &[i64]) -> Result<(), db::Error> {
    for ids in services.chunks(BATCH) {
        let names = service::Entity::find().select_only().column(service::Column::Id).column(service::Column::Name);
        let names = names.filter(db::any(db, service::Column::Id, ids));
        let names: Vec<(i64, String)> = db.rows(names.as_query(), |row| Ok((row.get(0)?, row.get(1)?))).await?;
        let mut texts: HashMap<i64, Vec<String>> = HashMap::with_capacity(names.len());
        for (id, name) in names {
            texts.entry(id).or_default().push(name);
        }
        use service_alias::Column;
        let aliases = service_alias::Entity::find().select_only().column(Column::ServiceId).column(Column::Value);
        let aliases = aliases.filter(db::any(db, Column::ServiceId, ids));
        let aliases: Vec<(i64, String)> = db.rows(aliases.as_query(), |row| Ok((row.get(0)?, row.get(1)?))).await?;
        for (id, alias) in aliases {
            texts.entry(id).or_default().push(alias);
        }
        db::search::write(db, texts.into_iter().collect()).await?;
    }
    Ok(())
}
