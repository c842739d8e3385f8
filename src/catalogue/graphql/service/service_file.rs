//! Applies service files that clients send through the API. [`service_file`] does the work, as for `rollcall apply` on
//! the database itself.

use futures_util::future::BoxFuture;
use tokio::task::JoinHandle;
use tracing::warn;

use crate::db::{Before, RowOf};
use crate::entity::change::{Account, Whole};
use crate::entity::service_file_note;
use crate::graphql::prelude::*;
use crate::graphql::request::caller::Caller;
use crate::graphql::request::permit;
use crate::service_file::{
    self, Applied, Bounds, Described, FieldChange, File, Note, Options, Origin, Outcome, Permit, Refused, Rejected,
};

/// The maximum number of documents in a request. On SQLite, everybody who changes anything waits while they are applied:
/// for about a quarter of a second, if they have as many entries as they may have.
pub const DOCUMENTS: usize = 500;
/// The maximum number of list entries in all documents of a request.
pub const ENTRIES: usize = 5_000;
/// The maximum number of fields that a request changes, in all subjects. An entry of the tags or the properties is a
/// field, any other list is one.
pub const CHANGES: usize = 15_000;
/// The maximum number of mistakes that an answer reports.
const MISTAKES: usize = 100;
/// The maximum number of notes in an answer.
const NOTES: usize = 1_000;

/// Returns the service file that governs each service, if any.
pub(in crate::graphql) fn of_services(services: &[&impl ServiceDetails]) -> Vec<Option<ServiceFile>> {
    services.iter().map(|service| governing(*service)).collect()
}

fn governing(service: &impl ServiceDetails) -> Option<ServiceFile> {
    let path = service.locked_by()?;
    let (repository, commit) = (service.locked_repository(), service.locked_commit());
    let url = repository.zip(commit).map(|(repository, commit)| service_file::address_of(repository, commit, path));
    let (repository, commit) = (repository.map(str::to_owned), commit.map(str::to_owned));
    Some(ServiceFile { path: path.to_owned(), repository, commit, url })
}

/// What was not taken from each service's file.
pub(in crate::graphql) async fn config_errors(
    services: &[&impl ServiceCore],
    ctx: &Ctx<'_>,
) -> Result<Vec<Vec<ConfigError>>> {
    let keys = services.iter().map(|service| service.locked_by().is_some().then_some(service.id()));
    let rows = service_file_note::Entity::by_ids(ctx.db(), keys).await?;
    let error = |noted: service_file_note::Note| {
        let number = |number| i32::try_from(number).unwrap_or(i32::MAX);
        let (line, column) = (number(noted.line), number(noted.column));
        let r#type = class_of(noted.key.as_deref());
        ConfigError { key: noted.key, message: Some(noted.message), origin: noted.path, r#type, line, column }
    };
    Ok(rows.into_iter().map(|row| row.iter().flat_map(|row| row.notes()).map(error).collect()).collect())
}

/// What a key of a service file is about, in any of the forms.
fn class_of(key: Option<&str>) -> ConfigErrorClass {
    let mut names = key.unwrap_or_default().split('.');
    let name = match names.next() {
        Some("metadata" | "spec") => names.next(),
        name => name,
    };
    match name {
        Some("alert_sources" | "alert sources") => ConfigErrorClass::AlertSourceError,
        Some("aliases") => ConfigErrorClass::AliasError,
        Some("dependencies" | "dependsOn" | "consumesApis") => ConfigErrorClass::ServiceDependencyError,
        Some("repositories" | "repository") => ConfigErrorClass::ServiceRepositoryError,
        Some("tags" | "labels" | "annotations") => ConfigErrorClass::TagError,
        Some("tools" | "links") => ConfigErrorClass::ToolError,
        _ => ConfigErrorClass::InvalidValueError,
    }
}

/// The service file of what has this id. `None` if there is none.
pub(in crate::graphql) async fn config_file(id: &str, ctx: &Ctx<'_>) -> Result<Option<ConfigFile>> {
    let Some(described) = id::decode(id).and_then(|(class, id)| Described::from_class(&class, id)) else {
        return Ok(None);
    };
    let Some(yaml) = service_file::write(ctx.db(), described).await? else { return Ok(None) };
    ctx.db().charge::<ConfigFile>(yaml.len())?;
    Ok(Some(ConfigFile { owner_type: described.key().to_owned(), yaml }))
}

/// What the caller's role allows.
struct PermitOf<'a>(&'a Caller);

impl Permit for PermitOf<'_> {
    fn refused<'c>(
        &'c self,
        before: Before<'c>,
        transaction: &'c Transaction,
        account: &'c Account,
    ) -> BoxFuture<'c, Result<Vec<(&'c Whole, UserError)>>> {
        Box::pin(permit::refused(before, transaction, self.0, account))
    }

    fn check<'c>(&'c self, before: Before<'c>, transaction: &'c Transaction, row: RowOf) -> BoxFuture<'c, Result<()>> {
        Box::pin(permit::check_row(before, transaction, self.0, row))
    }
}

/// The files of an input. Reports names that are no names, and too many files.
pub(in crate::graphql) fn files(given: Vec<ServiceFileInput>, problems: &mut Problems) -> Vec<File> {
    if given.len() > text::ENTRIES {
        let message = format!("at most {} files can be applied at once", text::ENTRIES);
        problems.push(UserError::new("files", message));
    }
    for (place, ServiceFileInput { path, text: _ }) in given.iter().take(text::ENTRIES).enumerate() {
        let within = |error: UserError| error.within(place.to_string()).within("files");
        problems.take(text::required("path", path, text::URL).map_err(within));
    }
    let file = |ServiceFileInput { path, text }| File { path, content: Ok(text), is_found: false };
    given.into_iter().map(file).collect()
}

impl ServiceFilesApplyMutation for Mutation {
    async fn service_files_apply(
        ctx: &MutationCtx<'_>,
        input: ServiceFilesApplyInput,
    ) -> Result<ServiceFilesApplyPayload> {
        let ServiceFilesApplyInput { files: given, repository, commit, dry_run, release_missing } = input;
        let mut problems = Problems::default();
        let files = files(given, &mut problems);
        let origin = Origin::new(repository.value().map(String::as_str), commit.value().map(String::as_str));
        let origin = problems.take(origin);
        let releases_missing = release_missing.value().copied().unwrap_or(false);
        if releases_missing && origin.as_ref().is_some_and(|origin| origin.repository.is_none()) {
            problems.push(UserError::new("releaseMissing", "releaseMissing needs the repository"));
        }
        problems.none()?;
        let caller = ctx.caller();
        let options = Options {
            origin: origin.unwrap_or_default(),
            is_dry_run: dry_run.value().copied().unwrap_or(false),
            releases_missing,
            bounds: Some(Bounds { documents: DOCUMENTS, entries: ENTRIES, changes: CHANGES }),
            permit: Some(&PermitOf(caller)),
            events: Some(&ctx.settings().events),
            progress: None,
        };
        let prepared = match service_file::prepare(ctx.database(), &files, &options).await {
            Ok(prepared) => prepared,
            Err(error) => {
                if let Some(stored) = tell(ctx, &files, &options, &error).await {
                    let _ = stored.await;
                }
                return Err(refused(error));
            }
        };
        let done = match options.is_dry_run {
            true => prepared.rehearsed(),
            false => {
                ctx.begin().await?;
                match prepared.apply(ctx.committed(), ctx.db(), &caller.actor, &options).await {
                    Ok(done) => {
                        ctx.accounted();
                        done
                    }
                    Err(error) => {
                        // Whoever waited for this here would wait for the mutation's own locks.
                        let _ = tell(ctx, &files, &options, &error).await;
                        return Err(refused(error));
                    }
                }
            }
        };
        Ok(ServiceFilesApplyPayload {
            documents: Some(done.documents.into_iter().map(document).collect()),
            not_taken: Some(notes(done.left_out)),
            ..Default::default()
        })
    }
}

/// Begins to tell, in a transaction of its own, that files were refused. `None` if nobody is told.
async fn tell(
    ctx: &MutationCtx<'_>,
    files: &[File],
    options: &Options<'_>,
    refused: &Refused,
) -> Option<JoinHandle<()>> {
    let rejected = match Rejected::find(ctx.database(), files, options, refused).await {
        Ok(rejected) => rejected?,
        Err(error) => {
            warn!(%error, "it cannot be told that a service file was refused");
            return None;
        }
    };
    let (db, caller) = (ctx.database().clone(), ctx.caller().clone());
    Some(tokio::spawn(async move {
        if let Err(error) = rejected.store(&db, &caller.actor, Some(&PermitOf(&caller))).await {
            warn!(%error, "it cannot be told that a service file was refused");
        }
    }))
}

/// Converts mistakes to errors of the payload. Each message names the file, the line and the column.
pub(in crate::graphql) fn refused(refused: Refused) -> Error {
    let notes = match refused {
        Refused::Problems(notes) => notes,
        Refused::Failed(error) => return error,
    };
    let more = notes.len().saturating_sub(MISTAKES);
    let error = |note: Note| UserError::new("text", note.to_string()).within(note.file.to_string()).within("files");
    let mut errors: Vec<UserError> = notes.into_iter().take(MISTAKES).map(error).collect();
    if more > 0 {
        errors.push(UserError::new("files", format!("there are {more} more mistakes")));
    }
    Error::User(errors)
}

fn document(applied: Applied) -> ServiceFileDocument {
    let Applied { path, line, kind, name, outcome, changes } = applied;
    ServiceFileDocument {
        path: Some(path).filter(|path| !path.is_empty()),
        line: i32::try_from(line).ok().filter(|line| *line > 0),
        kind: ServiceFileKind::from_word(&kind).unwrap_or(ServiceFileKind::Service),
        name,
        outcome: same!(outcome, Outcome => ServiceFileOutcome { Created Updated Unchanged Released }),
        changes: changes.into_iter().map(change).collect(),
    }
}

/// Converts a field that changed.
pub(in crate::graphql) fn change(FieldChange { field, before, after }: FieldChange) -> ServiceFileChange {
    ServiceFileChange { field, before, after }
}

/// Converts the first notes. If there are more, the last one says how many, and those about documents that failed come
/// first.
fn notes(mut notes: Vec<Note>) -> Vec<ServiceFileNote> {
    let more = notes.len().saturating_sub(NOTES);
    if more > 0 {
        notes.sort_by_key(|note| !note.is_failure);
    }
    if let (1.., Some(last)) = (more, notes.get_mut(NOTES - 1)) {
        last.message = format!("there are {} more notes", more + 1);
    }
    notes.into_iter().take(NOTES).map(note).collect()
}

fn note(note: Note) -> ServiceFileNote {
    let Note { file: _, path, line, column, message, is_failure } = note;
    let number = |number| i32::try_from(number).unwrap_or(i32::MAX);
    ServiceFileNote { path, line: number(line), column: number(column), message, is_failure }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entity::{contact, tool};

    #[test]
    fn service_files_know_the_words_of_the_sdl() {
        let contacts: Vec<_> = contact::TYPES.iter().filter_map(|word| ContactType::from_word(word)).collect();
        assert_eq!(contacts.len(), contact::TYPES.len());
        let tools: Vec<_> = tool::CATEGORIES.iter().filter_map(|word| ToolCategory::from_word(word)).collect();
        assert_eq!(tools.len(), tool::CATEGORIES.len());
        let number = |noun: &str| {
            let body =
                crate::graphql::SDL.split(&format!("enum {noun} {{")).nth(1).and_then(|rest| rest.split('}').next());
            body.map(|body| body.lines().filter(|line| !line.contains("\"\"\"") && !line.trim().is_empty()).count())
        };
        assert_eq!(number("ContactType"), Some(contact::TYPES.len()));
        assert_eq!(number("ToolCategory"), Some(tool::CATEGORIES.len()));
    }
}
