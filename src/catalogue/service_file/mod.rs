//! Service files: YAML that describes services, repositories, teams, systems and domains, kept beside their code.
//! Applying a file updates the catalogue and locks the services, so that they can only be changed in the file.
//!
//! docs/service-files.md shows one of each kind, with all its keys.
//!
//! - A key sets its field; null and the empty text clear it. A missing key leaves the field unchanged.
//! - A list is complete: entries that are not listed are removed. Aliases derived from a name stay.
//! - Of properties and relationships, only those are removed that a file wrote.
//! - A document refers to the service whose alias is the document's name, else to the one with an alias from its list
//!   (a rename), else to a new one. For a repository, the alias is the document's `alias`, else that of its `url`, else
//!   its name.
//! - The lock records the file's name, and the repository and the commit it comes from. [`release`] unlocks the service.
//!   Removing a document changes nothing: its service stays locked until it is released. Only services are locked.
//! - Of files that are refused, those are told who want to know of their services ([`Rejected`]).
//! - All files are applied together or not at all. What others name comes first: teams, domains, systems, repositories,
//!   services, dependencies, properties, relationships.
//! - Backstage's `catalog-info.yaml` is read as it is. Values that the catalogue has no place for are skipped, with a note
//!   for each ([`left_out`]).
//!
//! [`source`] finds files and [`read`](mod@read) reads them, [`catalog_info`] those of Backstage, with [`yaml`].
//! [`mod@form`] tells forms apart, [`document`] is what all become. [`mod@apply`] applies them by [`services`],
//! [`teams`], [`groups`], [`repositories`] and [`lists`]; [`names`], [`entity_ref`] and [`parents`] find what they
//! name. [`report`] has the mistakes and notes, [`portions`] splits what is too much for one request, and [`standards`]
//! is the other form.

mod apply;
mod catalog_info;
mod digits;
mod document;
mod entity_ref;
mod find;
mod form;
mod groups;
mod intake;
mod joined;
mod left_out;
mod lists;
mod names;
mod noted;
mod options;
mod origin;
pub(crate) mod outcome;
mod parents;
mod portions;
mod properties;
mod read;
mod reader;
mod rehearsal;
mod rejected;
mod relationships;
mod release;
pub(crate) mod report;
mod repositories;
mod repository_url;
mod services;
mod source;
pub(crate) mod standards;
mod teams;
mod written;
pub(crate) mod yaml;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use serde_json::{Value as Json, json};

pub use self::intake::{Bounds, PROPERTIES_TEXT};
pub use self::options::{Options, Progress};
pub use self::origin::{Origin, address_of};
pub use self::portions::Portions;
pub use self::rejected::{Rejected, TOLD_MISTAKES, TOLD_SERVICES};
pub use self::release::release;
pub use self::report::{MISTAKES, NOTES, Note};
pub use self::source::{File, FileSelection, collect};
pub use self::standards::{Plain, STANDARDS, Standard, StandardsEntry, has_standards, key, write_standards};
pub use self::written::{Described, write};
pub use self::yaml::{YAML_ANCHORED, YAML_ANCHORS, YAML_DOCUMENTS, YAML_TEXT, YAML_VALUES};

use self::apply::Change;
use self::document::Document;
use self::intake::Intake;
use self::noted::Parts;
use self::outcome::{OfDocument, Outcomes, described, fields};
use self::properties::Definitions;
use self::report::Problems;
use self::yaml::Spot;
use crate::budget::{Budget, Excess, Limits};
use crate::db::{self, Before, Db, MOST_CHANGED, Reader, RowOf, Snapshot, Transaction};
use crate::entity::audit::{self, Actor, Subject};
use crate::entity::change::{Account, By, Told, Whole};
use crate::entity::{check_due, service};
use crate::error::{self, Error, UserError};
use crate::events;

/// The permissions of the caller who applies the files.
pub trait Permit: Sync {
    /// The changes that the caller may not make, and the error about each. Called in their transaction, after them. `before`
    /// reads what was there before.
    fn refused<'c>(
        &'c self,
        before: Before<'c>,
        transaction: &'c Transaction,
        account: &'c Account,
    ) -> BoxFuture<'c, error::Result<Vec<(&'c Whole, UserError)>>>;

    /// Fails if the caller may not change this row.
    fn check<'c>(
        &'c self,
        before: Before<'c>,
        transaction: &'c Transaction,
        row: RowOf,
    ) -> BoxFuture<'c, error::Result<()>>;
}

/// The reason why nothing was changed.
#[derive(Debug)]
pub enum Refused {
    /// The mistakes in the files, in their order.
    Problems(Vec<Note>),
    /// An error that the files did not cause.
    Failed(Error),
}

impl From<db::Error> for Refused {
    fn from(error: db::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// The result of applying files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    /// The results of the documents, in their order, and then of the services that were released.
    pub documents: Vec<Applied>,
    /// Notes about the values that were skipped.
    pub left_out: Vec<Note>,
}

/// What applying a document did to its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The subject was created.
    Created,
    /// The subject was changed.
    Updated,
    /// Nothing: the subject was up to date.
    Unchanged,
    /// The service was unlocked, because no document describes the service any more.
    Released,
}

/// A document's subject, and what was done to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The document's file. Empty for a service that was released.
    pub path: String,
    /// The line at which the document begins.
    pub line: u64,
    /// The kind of the subject, such as `service`.
    pub kind: String,
    /// The alias that names it.
    pub name: String,
    /// What was done.
    pub outcome: Outcome,
    /// The fields that changed, by name.
    pub changes: Vec<FieldChange>,
}

/// A field of a subject, before and after.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct FieldChange {
    /// Its name.
    pub field: String,
    /// The old value, cut after 255 characters. For a list, the removed entries.
    pub before: Option<String>,
    /// The new value, cut in the same way. For a list, the added entries.
    pub after: Option<String>,
}

/// The most bytes of rows that a rehearsal for a request copies.
pub const REHEARSED: u64 = 32 << 20;
/// The longest that such a rehearsal takes.
const REHEARSING: Duration = Duration::from_secs(20);

/// Files that were read and checked while others write, and that nothing has refused so far.
#[derive(Debug)]
pub struct Prepared {
    documents: Vec<Document>,
    parts: Parts,
    problems: Problems,
    definitions: Definitions,
    /// The outcome of the rehearsal. `None` if there was none.
    rehearsed: Option<Done>,
}

/// Reads and checks files, without a lock and without the connection that writes. A dry run, and a request, are also
/// rehearsed in a [database of their own](db::rehearse): so mistakes, and what the caller may not change, are found
/// before anybody waits.
///
/// # Errors
/// All mistakes in the files.
pub fn prepare<'f>(
    db: &'f Db,
    files: &'f [File],
    options: &'f Options<'f>,
) -> BoxFuture<'f, Result<Prepared, Refused>> {
    Box::pin(async move {
        let (mut documents, mut problems) = read(files, options.bounds).await;
        if !problems.is_over() {
            joined::join(&mut documents, &mut problems);
        }
        if problems.is_over() {
            return Err(Refused::Problems(problems.notes().0));
        }
        let limits = match options.bounds {
            Some(_) => Limits { rows: REHEARSED, time: REHEARSING, ..Limits::NONE },
            None => Limits::NONE,
        };
        // The definitions are read one at a time, so they are not charged.
        let definitions = {
            let seen = db.begin_read(None).await?;
            properties::check(&seen, &documents, &mut problems).await?
        };
        let begins = |file: &File| {
            let parts = yaml::parts(file.content.as_deref().unwrap_or_default());
            parts.into_iter().map(|(line, _)| line).collect()
        };
        let parts = files.iter().map(begins).collect();
        let mut prepared = Prepared { documents, parts, problems, definitions, rehearsed: None };
        if prepared.problems.is_over() {
            return Err(Refused::Problems(prepared.problems.notes().0));
        }
        if options.is_dry_run || options.bounds.is_some() {
            let budget = Arc::new(Budget::new(limits, Instant::now() + limits.time, false, Duration::ZERO));
            let seen = db.begin_read(Some(Arc::clone(&budget))).await?;
            let rehearsed = Box::pin(prepared.rehearse(&seen, options)).await;
            prepared.rehearsed = Some(rehearsed.map_err(|refused| too_much(&budget).unwrap_or(refused))?);
        }
        Ok(prepared)
    })
}

/// Prepares files and applies them, all or none, unless the options say that this is a dry run. If it loses a race
/// ([`db::Error::is_lost_race`]), the caller can start over.
///
/// # Errors
/// All mistakes in the files. Nothing is changed then.
pub fn apply<'f>(
    db: &'f Db,
    actor: &'f Actor,
    files: &'f [File],
    options: &'f Options<'f>,
) -> BoxFuture<'f, Result<Done, Refused>> {
    Box::pin(async move {
        let prepared = prepare(db, files, options).await?;
        match options.is_dry_run {
            true => Ok(prepared.rehearsed()),
            false => db.write(async |tx| prepared.apply(db.committed(), tx, actor, options).await).await,
        }
    })
}

/// Tells what a transaction has changed, and stores its events for an `actor`.
async fn tell(
    before: Before<'_>,
    tx: &Transaction,
    actor: Option<&Actor>,
    options: &Options<'_>,
) -> Result<(Account, Vec<Told>), Refused> {
    let account = Account::complete(before, tx).await?.ok_or_else(too_many)?;
    let told = account.told(before, tx, By::Document).await?;
    if let (Some(actor), Some(wanted)) = (actor, options.events) {
        events::note(tx, wanted, (actor, "apply"), &account, &told).await?;
        if wanted.has_checks() {
            check_due::note(tx, (actor, "apply"), &account.changes).await?;
        }
    }
    Ok((account, told))
}

/// The error of a rehearsal that has exhausted its budget.
fn too_much(budget: &Budget) -> Option<Refused> {
    let what = match budget.exceeded()? {
        Excess::Rows => format!("takes more than {REHEARSED} bytes"),
        _ => format!("takes more than {REHEARSING:?} to read"),
    };
    let message = format!("what the catalogue has of the files {what}; apply fewer files at a time");
    Some(Refused::Failed(UserError::new("files", message).into()))
}

impl Prepared {
    /// What a dry run says: what applying the files would do.
    pub fn rehearsed(self) -> Done {
        self.rehearsed.unwrap_or_default()
    }

    /// Applies the documents to copies of what they name.
    async fn rehearse(&self, seen: &Snapshot, options: &Options<'_>) -> Result<Done, Refused> {
        let copy = db::rehearse().await?;
        rehearsal::copy(seen, &copy, &self.documents, &self.definitions, options).await?;
        let (done, _) = Box::pin(self.apply_to(Before::Seen(seen), &copy, None, options)).await?;
        Ok(done)
    }

    /// Applies the files in `transaction`, all or none, and writes the audit. `committed` reads the rows as they were
    /// before the transaction. Whatever the preparation has found is looked up again. The caller starts over with a new
    /// preparation if this [loses a race](db::Error::is_lost_race).
    ///
    /// # Errors
    /// All mistakes in the files. Nothing is changed then.
    pub fn apply<'f>(
        &'f self,
        committed: &'f Reader,
        transaction: &'f Transaction,
        actor: &'f Actor,
        options: &'f Options<'f>,
    ) -> BoxFuture<'f, Result<Done, Refused>> {
        Box::pin(async move {
            properties::hold(transaction, &self.definitions).await?;
            let (done, changed) =
                Box::pin(self.apply_to(Before::Committed(committed), transaction, Some(actor), options)).await?;
            db::find::refresh(transaction).await?;
            audit::record_all(transaction, actor, changed.into_iter()).await?;
            Ok(done)
        })
    }

    async fn apply_to(
        &self,
        before: Before<'_>,
        tx: &Transaction,
        actor: Option<&Actor>,
        options: &Options<'_>,
    ) -> Result<(Done, Vec<Entry>), Refused> {
        let Self { documents, definitions, .. } = self;
        let mut problems = self.problems.clone();
        tx.keep_record(if options.bounds.is_some() { MOST_CHANGED } else { usize::MAX });
        let ignored = Progress::default();
        let progress = options.progress.unwrap_or(&ignored);
        progress.begin(documents.len());
        let done = apply::apply(tx, documents, definitions, &options.origin, &mut problems, progress).await?;
        if !problems.is_empty() {
            return Err(Refused::Problems(problems.notes().0));
        }
        let most = options.bounds.map_or(usize::MAX, |bounds| bounds.documents);
        let released = match (&options.origin.repository, options.releases_missing) {
            (Some(repository), true) => {
                let described: Vec<i64> =
                    done.iter().filter(|one| one.is_of::<service::Entity>()).map(|one| one.row.id).collect();
                let released = services::release_missing(tx, repository, &described, most).await;
                released.map_err(Refused::Failed)?
            }
            _ => Vec::new(),
        };
        let (account, told) = tell(before, tx, actor, options).await?;
        let places: HashMap<RowOf, usize> = told.iter().enumerate().map(|(place, told)| (told.row, place)).collect();
        let mut told: Vec<Option<Told>> = told.into_iter().map(Some).collect();
        let mut changed = |row: RowOf| told.get_mut(*places.get(&row)?)?.take().map(|told| told.changed);
        let mut applied = Outcomes::default();
        for change in &done {
            applied.add(described(change, changed(change.row), documents, &problems), options)?;
        }
        for (id, name) in released {
            let row = RowOf::new::<service::Entity>(id);
            let (kind, outcome, changed) = ("service".to_owned(), Outcome::Released, changed(row));
            let changes = changed.as_ref().map(fields).unwrap_or_default();
            let entry = Applied { path: String::new(), line: 0, kind, name, outcome, changes };
            applied.add(OfDocument { row, applied: entry, changed }, options)?;
        }
        check_permit(before, tx, &account, &applied, options).await?;
        let notes = problems.notes().1;
        self.follow(before, tx, &done, &applied, &notes, options).await?;
        let mut entries = Vec::with_capacity(applied.all.len());
        let mut documents = Vec::with_capacity(applied.all.len());
        for OfDocument { row, applied, changed } in applied.all {
            if let Some(changed) = changed {
                let action = if applied.outcome == Outcome::Released { "release" } else { "apply" };
                let subject = Subject::new(row.table.class().unwrap_or_default(), Some(row.id), &applied.name);
                entries.push((action, subject, json!({ "changed": changed })));
            }
            documents.push(applied);
        }
        // What no document describes.
        let others = told.into_iter().flatten();
        entries.extend(others.map(|Told { subject, changed, .. }| ("apply", subject, json!({ "changed": changed }))));
        Ok((Done { documents, left_out: notes }, entries))
    }

    /// Stores the commit that the services' file comes from, and what was not taken from the file. For a service that is
    /// unchanged otherwise, this needs the caller's permission to change it; without, nothing is stored.
    async fn follow(
        &self,
        before: Before<'_>,
        tx: &Transaction,
        done: &[Change],
        applied: &Outcomes,
        notes: &[Note],
        options: &Options<'_>,
    ) -> Result<(), Refused> {
        let Self { documents, parts, .. } = self;
        let services: Vec<&Change> = done.iter().filter(|change| change.is_of::<service::Entity>()).collect();
        let described: Vec<(i64, usize)> = services.iter().map(|change| (change.row.id, change.number)).collect();
        let notes = noted::by_service(&described, documents, parts, notes);
        let mut notes = noted::different(tx, &described, notes).await?;
        let mut behind = Vec::new();
        for change in services {
            let id = change.row.id;
            if !change.is_behind && !notes.contains_key(&id) {
                continue;
            }
            let is_changed = applied.get(change.row).is_some_and(|applied| applied.outcome != Outcome::Unchanged);
            match options.permit {
                Some(permit) if !is_changed => match permit.check(before, tx, change.row).await {
                    Err(Error::User(_)) => {
                        notes.remove(&id);
                        continue;
                    }
                    checked => checked.map_err(Refused::Failed)?,
                },
                _ => {}
            }
            behind.extend(change.is_behind.then_some(id));
        }
        services::follow(tx, &behind, &options.origin).await?;
        noted::store(tx, notes).await?;
        Ok(())
    }
}

/// An entry of the audit: the action, the subject, and what has changed.
type Entry = (&'static str, Subject, Json);

/// Reads the documents of files, up to the first limit that is exceeded.
async fn read(files: &[File], bounds: Option<Bounds>) -> (Vec<Document>, Problems) {
    let (mut problems, mut intake) = (Problems::default(), Intake::new(bounds));
    for File { path, content, is_found: _ } in files {
        let file = problems.file(path);
        match content {
            Ok(text) => read::read(file, text, &mut intake, &mut problems),
            Err(Note { line, column, message, .. }) => {
                let is_lenient = form::is_named_by_another(path);
                let source = if is_lenient { Problems::lenient(file) } else { file };
                problems.fail(source, Spot { line: *line, column: *column }, message);
                problems.documents_are_missing |= !is_lenient;
            }
        }
        if problems.is_over() {
            break;
        }
        // Other requests wait for this thread.
        tokio::task::yield_now().await;
    }
    (intake.documents, problems)
}

/// The error of files that change too many rows.
fn too_many() -> Refused {
    let message = format!("the files change more than {MOST_CHANGED} things; apply fewer files at a time");
    Refused::Failed(UserError::new("files", message).into())
}

/// Refuses the files if they change what the caller may not change.
async fn check_permit(
    before: Before<'_>,
    tx: &Transaction,
    account: &Account,
    applied: &Outcomes,
    options: &Options<'_>,
) -> Result<(), Refused> {
    let Some(permit) = options.permit else { return Ok(()) };
    let refused = permit.refused(before, tx, account).await.map_err(Refused::Failed)?;
    let refused = refused.into_iter().map(|(change, error)| (change.subject(By::Document), error));
    let refused: HashMap<Option<RowOf>, UserError> = refused.collect();
    let mut problems = error::Problems::default();
    for OfDocument { row, applied: Applied { kind, name, .. }, .. } in &applied.all {
        if let Some(error) = refused.get(&Some(*row)) {
            let message = format!("the {kind} {}: {}", error::quoted(name), error.message);
            problems.push(UserError { message: message.into(), ..error.clone() }.within("files"));
        }
    }
    // What no document describes.
    let others = refused.into_iter().filter(|(row, _)| row.and_then(|row| applied.get(row)).is_none());
    if let Some((_, error)) = others.min_by(|(_, one), (_, other)| one.message.cmp(&other.message)) {
        problems.push(error.within("files"));
    }
    problems.none().map_err(Refused::Failed)
}
