//! The newest changes as entries of a feed: what the histories of services, teams, systems and domains tell.

use std::cmp::Reverse;

use sea_orm::sea_query::{Expr, SelectStatement};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};

use super::atom::Entry;
use super::{ENTRIES, Here, day, summary};
use crate::Fault;
use crate::history::Subject;
use crate::words::{self, Addresses, Thing};
use catalogue::db::{OfKeys, Read, ReadHandle, Row};
use catalogue::deploy::list::SERVICES;
use catalogue::entity::audit::{Column, Entity, Model, OBJECTS};
use catalogue::entity::{ByIds, TimeCursor, Timestamp, service};

/// The number of entries of the audit among which a feed of all changes looks for its own.
pub const SEARCHED: u64 = 1_000;

/// The classes of objects that have a history.
const WITH_HISTORY: &[&str] = &["Service", "Team", "System", "Domain"];

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
            let mut objects = vec![(about.class, vec![about.id])];
            if about.class == "Team" {
                let services = service::ids_of(db, service::Column::OwnerId, about.id, SERVICES as u64).await?;
                objects.push(("Service", services));
            }
            newest(db, &objects).await?
        }
        None => newest_of_all(db).await?,
    };
    let found: Vec<Model> = Entity::by_ids(db, ids.into_iter().map(Some)).await?.into_iter().flatten().collect();
    let addresses = words::addresses(db, &found).await?;
    Ok(found.iter().map(|change| entry(change, &addresses, here, page)).collect())
}

/// The newest entries of the audit about these objects, or about what belongs to them, by their ids.
async fn newest(db: &dyn ReadHandle, objects: &[(&'static str, Vec<i64>)]) -> Result<Vec<i64>, Fault> {
    let mut places: Vec<TimeCursor> = Vec::new();
    let objects = objects.iter().filter(|(_, ids)| !ids.is_empty());
    for ((class, ids), (of_class, of_id)) in objects.flat_map(|one| OBJECTS.map(|columns| (one, columns))) {
        let build = |key: Expr| -> SelectStatement {
            let own = Entity::find().select_only().columns([Column::At, Column::Id]).filter(key);
            let own = own.filter(of_class.eq(*class));
            own.order_by_desc(Column::At).order_by_desc(Column::Id).limit(ENTRIES as u64).into_query()
        };
        let own = || Expr::col(of_id.as_column_ref());
        let (keys, values) = (ids.clone(), Vec::new());
        let query = OfKeys { shape: None, build: &build, values, key: own(), selected: own(), keys, is_limited: true };
        let place = |row: &Row<'_>| Ok((Timestamp::from_micros(row.get(0)?), row.get::<i64>(1)?));
        places.extend(db.rows_of(query, place).await?.into_iter().map(|(_, place)| place));
    }
    places.sort_unstable_by_key(|place| Reverse(*place));
    // A dependency between two services of a team is found by both.
    places.dedup();
    places.truncate(ENTRIES);
    Ok(places.into_iter().map(|(_, id)| id).collect())
}

/// The newest entries about anything that has a history, or that belongs to it, by their ids.
async fn newest_of_all(db: &dyn ReadHandle) -> Result<Vec<i64>, Fault> {
    let classes = OBJECTS.map(|(class, _)| class);
    let last = Entity::find().select_only().column(Column::Id).columns(classes);
    let last = last.order_by_desc(Column::At).order_by_desc(Column::Id).limit(SEARCHED);
    let read: Vec<(i64, [Option<String>; 3])> =
        db.rows(last.as_query(), |row| Ok((row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?]))).await?;
    let is_told =
        |classes: &[Option<String>; 3]| classes.iter().flatten().any(|class| WITH_HISTORY.contains(&&**class));
    Ok(read.into_iter().filter(|(_, classes)| is_told(classes)).map(|(id, _)| id).take(ENTRIES).collect())
}

fn entry(change: &Model, addresses: &Addresses, here: &Here<'_>, page: &str) -> Entry {
    let address = |thing: Thing| addresses.get(&thing);
    let (owner, own) = (words::owners(change).find_map(address), words::thing(change).and_then(address));
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
