//! The newest changes as entries of a feed: what the histories of services, teams, systems and domains tell.

use std::cmp::Reverse;
use std::collections::HashMap;

use sea_orm::sea_query::{Expr, SelectStatement};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};

use super::atom::Entry;
use super::{ENTRIES, Here, day, summary};
use crate::app::Fault;
use crate::app::history::{self, Subject, Subjects};
use crate::app::words::{self, Addresses, Thing};
use crate::db::{OfKeys, Read, ReadHandle, Row, any};
use crate::deploy::list::SERVICES;
use crate::entity::audit::{Column, Entity, Model};
use crate::entity::{
    ByIds, TimeCursor, Timestamp, contact, property, service, service_dependency, service_repository, tool,
};

/// The number of entries of the audit among which a feed of all changes looks for its own.
pub const SEARCHED: u64 = 1_000;
/// The maximum number of things of one kind, of all services of a team, whose changes are in its feed.
pub const PARTS: u64 = 1_000;

/// The classes of objects that have a history.
const WITH_HISTORY: &[&str] = &["Service", "Team", "System", "Domain"];

/// To whom things belong.
type Owners = HashMap<Thing, Thing>;

/// The newest changes of a service, of a team and its services, or of all. An entry without a page of its own leads to
/// `page`.
pub(super) async fn entries(
    db: &dyn ReadHandle,
    about: Option<&Subject>,
    here: &Here<'_>,
    page: &str,
) -> Result<Vec<Entry>, Fault> {
    let ids = match about {
        Some(about) => {
            let mut subjects = history::belonging(db, about).await?;
            if about.class == "Team" {
                let services = service::ids_of(db, service::Column::OwnerId, about.id, SERVICES as u64).await?;
                subjects.extend(history::with_parts(db, "Service", services, PARTS).await?);
            }
            newest(db, &subjects).await?
        }
        None => newest_of_all(db).await?,
    };
    let found: Vec<Model> = Entity::by_ids(db, ids.into_iter().map(Some)).await?.into_iter().flatten().collect();
    let mut things: Vec<Thing> = found.iter().filter_map(words::thing).collect();
    let owners = owners(db, &things).await?;
    things.extend(owners.values().cloned());
    let addresses = words::addresses_of(db, &things).await?;
    Ok(found.iter().map(|change| entry(change, &owners, &addresses, here, page)).collect())
}

/// The newest entries of the audit about these objects, by their ids.
async fn newest(db: &dyn ReadHandle, subjects: &Subjects) -> Result<Vec<i64>, Fault> {
    let mut places: Vec<TimeCursor> = Vec::new();
    for (class, ids) in subjects.iter().filter(|(_, ids)| !ids.is_empty()) {
        let build = |key: Expr| -> SelectStatement {
            let own = Entity::find().select_only().columns([Column::At, Column::Id]).filter(key);
            let own = own.filter(Column::SubjectClass.eq(*class));
            own.order_by_desc(Column::At).order_by_desc(Column::Id).limit(ENTRIES as u64).into_query()
        };
        let own = || Expr::col(Column::SubjectId.as_column_ref());
        let (keys, values) = (ids.clone(), Vec::new());
        let query = OfKeys { shape: None, build: &build, values, key: own(), selected: own(), keys, is_limited: true };
        let place = |row: &Row<'_>| Ok((Timestamp::from_micros(row.get(0)?), row.get::<i64>(1)?));
        places.extend(db.rows_of(query, place).await?.into_iter().map(|(_, place)| place));
    }
    places.sort_unstable_by_key(|place| Reverse(*place));
    places.truncate(ENTRIES);
    Ok(places.into_iter().map(|(_, id)| id).collect())
}

/// The newest entries about anything that has a history, or that belongs to it, by their ids. Of what no longer exists,
/// nobody knows to whom it belonged.
async fn newest_of_all(db: &dyn ReadHandle) -> Result<Vec<i64>, Fault> {
    let last = Entity::find().select_only().columns([Column::Id, Column::SubjectClass, Column::SubjectId]);
    let last = last.order_by_desc(Column::At).order_by_desc(Column::Id).limit(SEARCHED);
    let read: Vec<(i64, Option<String>, Option<i64>)> =
        db.rows(last.as_query(), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).await?;
    let seen: Vec<(i64, Thing)> =
        read.into_iter().filter_map(|(id, class, subject)| Some((id, (class?, subject?)))).collect();
    let things: Vec<Thing> = seen.iter().map(|(_, thing)| thing.clone()).collect();
    let owners = owners(db, &things).await?;
    let is_told = |thing: &Thing| WITH_HISTORY.contains(&&*thing.0) || owners.contains_key(thing);
    Ok(seen.into_iter().filter(|(_, thing)| is_told(thing)).map(|(id, _)| id).take(ENTRIES).collect())
}

/// Finds the services and teams that things belong to, if they belong to one.
async fn owners(db: &dyn ReadHandle, things: &[Thing]) -> Result<Owners, Fault> {
    let mut found = Owners::new();
    macro_rules! of {
        ($class:literal, $table:ident, $owner:literal, $column:ident) => {{
            let own = things.iter().filter(|(class, _)| class == $class);
            let ids: Vec<i64> = own.map(|(_, id)| *id).collect();
            if !ids.is_empty() {
                let own = $table::Entity::find().select_only();
                let own = own.columns([$table::Column::Id, $table::Column::$column]);
                let own = own.filter(any(db, $table::Column::Id, &ids));
                let rows: Vec<(i64, Option<i64>)> =
                    db.rows(own.as_query(), |row| Ok((row.get(0)?, row.get(1)?))).await?;
                let owned =
                    |(id, owner): (i64, Option<i64>)| Some((($class.to_owned(), id), ($owner.to_owned(), owner?)));
                found.extend(rows.into_iter().filter_map(owned));
            }
        }};
    }
    of!("Tool", tool, "Service", ServiceId);
    of!("Contact", contact, "Service", ServiceId);
    of!("Contact", contact, "Team", TeamId);
    of!("ServiceDependency", service_dependency, "Service", SourceId);
    of!("ServiceRepository", service_repository, "Service", ServiceId);
    of!("Property", property, "Service", ServiceId);
    of!("Property", property, "Team", TeamId);
    Ok(found)
}

fn entry(change: &Model, owners: &Owners, addresses: &Addresses, here: &Here<'_>, page: &str) -> Entry {
    let thing = words::thing(change);
    let owner = thing.as_ref().and_then(|thing| addresses.get(owners.get(thing)?));
    let own = thing.as_ref().and_then(|thing| addresses.get(thing));
    let name = own.map(|(_, name)| name).or(change.subject_name.as_ref()).map_or("", String::as_str);
    let done = words::done(change);
    let title = match owner {
        Some((_, owner)) => format!("{owner}: {done} {name}"),
        None => format!("{name}: {}", done.trim_end_matches(" to")),
    };
    let fields = words::fields(change).filter(|_| done.starts_with("changed"));
    Entry {
        id: here.tag(&day(change.at), &format!("change/{}", change.id)),
        title: match fields {
            Some(fields) => format!("{title} ({fields})"),
            None => title.trim_end().to_owned(),
        },
        updated: change.at,
        page: match owner.or(own) {
            Some((address, _)) => here.url(&format!("{address}/history")),
            None => page.to_owned(),
        },
        author: words::actor_name(change).to_owned(),
        summary: summary(&words::lines(change)),
    }
}
