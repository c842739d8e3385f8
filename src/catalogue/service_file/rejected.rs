//! Tells that files were refused, to those who want to know of the services that the files describe.
//!
//! A refused file changes nothing, so its events have a transaction of their own. A service is told once for each text of
//! its file, and at most once a day, until a file that describes it is accepted: a pipeline may post a wrong file every
//! minute. Only those services are told that the sender may change: nobody sends notices about what is not theirs.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use futures_util::future::BoxFuture;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};
use sha2::{Digest, Sha256};

use super::document::{Named, ServiceDocument, Subject};
use super::report::Problems;
use super::{File, Options, Origin, Permit, Refused, names};
use crate::db::{self, Before, Db, Read, ReadHandle, RowOf, Transaction};
use crate::entity::audit::Actor;
use crate::entity::service_file_refusal::{self, Model as Told};
use crate::entity::{ByAlias, ByIds, Timestamp, service, service_alias};
use crate::error::{self, Error};
use crate::events::{OfFiles, RefusedFile};

/// The most services that are told of the refusal of a request.
pub const TOLD_SERVICES: usize = 100;

/// How many mistakes of a file are told.
pub const TOLD_MISTAKES: usize = 5;

/// Files that were refused, and their services.
#[derive(Debug)]
pub struct Rejected {
    origin: Origin,
    files: BTreeMap<usize, Faulty>,
    /// The file of each service.
    services: BTreeMap<i64, usize>,
}

/// A file that was refused.
#[derive(Debug, Default)]
struct Faulty {
    path: String,
    /// The hash of its text.
    content: String,
    /// The first mistakes.
    mistakes: Vec<String>,
    count: usize,
}

impl Rejected {
    /// What is to be told of files that were refused. `None` if it is a dry run, if nobody wants to know, if the files are
    /// not the reason, or if they describe no service that there is.
    pub fn find<'f>(
        db: &'f Db,
        files: &'f [File],
        options: &'f Options<'f>,
        refused: &'f Refused,
    ) -> BoxFuture<'f, Result<Option<Self>, db::Error>> {
        Box::pin(async move {
            if options.is_dry_run || !options.events.is_some_and(OfFiles::are_wanted) {
                return Ok(None);
            }
            let faulty = faulty(files, refused);
            if faulty.is_empty() {
                return Ok(None);
            }
            let (db, mut services) = (db.read(), BTreeMap::new());
            for (service, file) in governed(db, &faulty, &options.origin).await? {
                services.entry(service).or_insert(file);
            }
            for (service, file) in named(db, files, options, &faulty).await? {
                if services.len() < TOLD_SERVICES {
                    services.entry(service).or_insert(file);
                }
            }
            Ok((!services.is_empty()).then(|| Self { origin: options.origin.clone(), files: faulty, services }))
        })
    }

    /// Stores the events, but for those that were told already and those of services that the sender may not change.
    pub async fn store(self, db: &Db, actor: &Actor, permit: Option<&dyn Permit>) -> error::Result<()> {
        let now = Timestamp::now();
        let ids = self.services.keys().map(|id| Some(*id));
        let told = service_file_refusal::Entity::by_ids(db.read(), ids).await?;
        let news = self.services.iter().zip(told).filter_map(|((service, file), told)| {
            let file = self.files.get(file)?;
            let is_new = told.as_ref().is_none_or(|told| told.is_followed_by(&file.content, now));
            is_new.then_some((*service, (file, told)))
        });
        let news: BTreeMap<i64, (&Faulty, Option<Told>)> = news.collect();
        // Most refusals of a file that is posted again and again end here, without a write lock.
        if news.is_empty() {
            return Ok(());
        }
        db.write(async |tx| self.tell(Before::Committed(db.committed()), tx, &news, (actor, permit), now).await).await
    }

    async fn tell(
        &self,
        before: Before<'_>,
        tx: &Transaction,
        news: &BTreeMap<i64, (&Faulty, Option<Told>)>,
        (actor, permit): (&Actor, Option<&dyn Permit>),
        now: Timestamp,
    ) -> error::Result<()> {
        let ids: Vec<i64> = news.keys().copied().collect();
        // As files are applied: whoever applies one at the same time comes before or after.
        let services = service::lock_for_service_file(tx, &ids).await?;
        let mut events = OfFiles::default();
        for (id, (file, told)) in news {
            let Some(service) = services.get(id) else { continue };
            if let Some(permit) = permit {
                match permit.check(before, tx, RowOf::new::<service::Entity>(*id)).await {
                    Err(Error::User(_)) => continue,
                    checked => checked?,
                }
            }
            if !service_file_refusal::tell(tx, *id, &file.content, told.as_ref(), now).await? {
                continue;
            }
            let Origin { repository, commit } = &self.origin;
            let (repository, commit) = (repository.as_deref(), commit.as_deref());
            let Faulty { path, content: _, mistakes, count } = file;
            events.add(service, actor, RefusedFile { path, repository, commit, mistakes, count: *count });
        }
        Ok(events.store(tx).await?)
    }
}

/// The files that are the reason of a refusal, by their places: those with mistakes, or all of them if it is about all.
fn faulty(files: &[File], refused: &Refused) -> BTreeMap<usize, Faulty> {
    let mut faulty = BTreeMap::new();
    let mut add = |place: usize, mistake: String| {
        let Some(File { path, content: Ok(text), .. }) = files.get(place) else { return };
        let file = faulty.entry(place).or_insert_with(|| {
            let content = HEXLOWER.encode(&Sha256::digest(text));
            Faulty { path: path.clone(), content, ..Faulty::default() }
        });
        file.count += 1;
        if file.mistakes.len() < TOLD_MISTAKES {
            file.mistakes.push(mistake);
        }
    };
    match refused {
        Refused::Problems(notes) => notes.iter().for_each(|note| add(note.file, note.to_string())),
        Refused::Failed(Error::User(errors)) => {
            for place in 0..files.len() {
                errors.iter().for_each(|error| add(place, error.message.clone().into_owned()));
            }
        }
        Refused::Failed(_) => {}
    }
    faulty
}

/// The services that these files of the repository govern. Without a repository, none is known.
async fn governed(
    db: &dyn ReadHandle,
    faulty: &BTreeMap<usize, Faulty>,
    origin: &Origin,
) -> Result<Vec<(i64, usize)>, db::Error> {
    use service::Column::{Id, LockedBy, LockedRepository};
    let Some(repository) = &origin.repository else { return Ok(Vec::new()) };
    let places: BTreeMap<&str, usize> = faulty.iter().map(|(place, file)| (file.path.as_str(), *place)).collect();
    let paths: Vec<&str> = places.keys().copied().collect();
    let governed = service::Entity::find()
        .select_only()
        .columns([Id, LockedBy])
        .filter(LockedRepository.eq(repository.as_str()))
        .filter(db::any_text(db, LockedBy, &paths))
        .order_by_asc(Id)
        .limit(TOLD_SERVICES as u64);
    let governed: Vec<(i64, String)> = db.rows(governed.as_query(), |row| Ok((row.get(0)?, row.get(1)?))).await?;
    Ok(governed.into_iter().filter_map(|(id, path)| Some((id, *places.get(path.as_str())?))).collect())
}

/// The services that there are and that these files name, as far as they can be read.
async fn named(
    db: &dyn ReadHandle,
    files: &[File],
    options: &Options<'_>,
    faulty: &BTreeMap<usize, Faulty>,
) -> Result<Vec<(i64, usize)>, db::Error> {
    let (documents, _) = super::read(files, options.bounds).await;
    let service = |place: usize| -> Option<(usize, &ServiceDocument)> {
        let document = documents.get(place)?;
        let Subject::Service(service) = &document.subject else { return None };
        let file = Problems::file_of(document.file);
        faulty.contains_key(&file).then_some((file, &**service))
    };
    let described: Vec<(usize, &ServiceDocument)> =
        (0..documents.len()).filter_map(service).take(TOLD_SERVICES).collect();
    let entities: Vec<&Named> = described.iter().filter_map(|(_, document)| document.naming.entity.as_ref()).collect();
    let entities = names::rows_of::<service_alias::Entity>(db, &entities).await?;
    let mut found = Vec::with_capacity(described.len());
    for (file, document) in described {
        let service = match &document.naming.entity {
            Some(named) => entities.get(&named.entity).copied(),
            None => {
                let alias = &document.naming.found_by().value;
                service::Entity::by_alias(db, alias).await?.map(|service| service.id)
            }
        };
        found.extend(service.map(|service| (service, file)));
    }
    Ok(found)
}
