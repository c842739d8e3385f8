//! Standards files: levels, categories, filters, scorecards, checks and campaigns as YAML, which clients send to be applied.
//!
//! - The entries are applied in one transaction, all or none, by the mutations that create and change such things. So a
//!   file can say whatever they take, and what they refuse is a mistake in it.
//! - A name finds the thing the next time. A missing key leaves its field unchanged, and null clears it.
//! - What an entry describes is locked: other mutations cannot change it ([`lock`]).
//! - A dry run rolls back, and says how services would stand.

use std::collections::{BTreeSet, HashMap};

use crate::db::{Before, RowOf};
use crate::entity::change::{Account, By, Told};
use crate::graphql::prelude::*;
use crate::graphql::service::service_file::{files, refused};
use crate::graphql::standards::check::expressions::{Mistake, read_first};
use crate::graphql::standards::check::{self, Selected, StandardsPreview};
use crate::service_file::{self, Refused, Standard};

mod apply;
mod filters;
mod lock;
mod read;
mod rows;

use self::read::{Inputs, Standards};

pub(in crate::graphql) use lock::refuse_locked;

/// The name of the input that creates a standard.
fn input_of(standard: Standard, r#type: Option<&str>) -> Option<&'static str> {
    Some(match standard {
        Standard::Level => "LevelCreateInput",
        Standard::Category => "CategoryCreateInput",
        Standard::Filter => "FilterCreateInput",
        Standard::Scorecard => "ScorecardInput",
        Standard::Check => check::input_of(check::kind_of(r#type?)?),
        Standard::Campaign => "CampaignCreateInput",
    })
}

/// What was done to what an entry describes, or no entry any more.
struct Applied {
    standard: Standard,
    row: RowOf,
    name: String,
    /// The file and the line. `None` for what was deleted.
    place: Option<(String, u64)>,
    outcome: StandardsFileOutcome,
}

impl StandardsApplyMutation for Mutation {
    async fn standards_apply(ctx: &MutationCtx<'_>, input: StandardsApplyInput) -> Result<StandardsApplyPayload> {
        let StandardsApplyInput { files: given, dry_run, delete_missing } = input;
        let mut problems = Problems::default();
        let files = files(given, &mut problems);
        problems.none()?;
        let types = check::types();
        let inputs = Inputs { schema: ctx.schema(), name: input_of, types: &types };
        let mut entries = read::read(&files, inputs).map_err(|notes| refused(Refused::Problems(notes)))?;
        filters::order(&mut entries);
        let mut problems = Problems::default();
        let fields = entries.iter().map(|entry| &entry.fields);
        for Mistake { input, field, message } in read_first(fields, ctx.expressions()).await? {
            problems.push(mistake(&entries[input], &[field], &format!("{field}: {message}")));
        }
        problems.none()?;
        let is_dry_run = dry_run.value().copied().unwrap_or(false);
        match is_dry_run {
            true => ctx.begin_trial().await?,
            false => ctx.begin().await?,
        }
        ctx.govern();
        let paths: BTreeSet<String> = files.into_iter().map(|file| file.path).collect();
        let mut applied = apply::all(ctx, entries, &paths).await?;
        if delete_missing.value().copied().unwrap_or(false) {
            applied.extend(apply::delete_missing(ctx, &applied, &paths).await?);
        }
        let before = Before::Committed(ctx.committed());
        let account =
            Account::complete(before, ctx.db()).await?.ok_or_else(|| UserError::base("this changes too much"))?;
        let account = account.beside_times();
        let told = account.told(before, ctx.db(), By::Object).await?;
        let preview = match is_dry_run {
            true => {
                let words = ["__typename", "name", "description"];
                let selected = Selected {
                    counts: !ctx.selects_only_at(&["preview", "checks"], |field| words.contains(&field)),
                    levels: !ctx.selects_only_at(&["preview"], |field| field != "levels"),
                };
                Some(StandardsPreview::prepare(ctx.db(), &account, selected).await?)
            }
            false => None,
        };
        Ok(StandardsApplyPayload { entries: Some(entries_of(applied, told)), preview, ..Default::default() })
    }
}

/// What the catalogue itself writes beside the fields of a file.
const OWN: [&str; 4] = ["alias", "aliases", "name", "slug"];

/// The fields of files that the audit names otherwise.
const FIELDS: [(&str, &str); 4] =
    [("enableAt", "enableOn"), ("kind", "type"), ("startAt", "startDate"), ("targetAt", "targetDate")];

/// Tells what was done.
fn entries_of(applied: Vec<Applied>, told: Vec<Told>) -> Vec<StandardsFileEntry> {
    let mut changed: HashMap<RowOf, _> = told.into_iter().map(|told| (told.row, told.changed)).collect();
    let entry = |Applied { standard, row, name, place, outcome }| {
        let changed = changed.remove(&row).filter(|changed| !changed.is_empty());
        let outcome = match (outcome, &changed) {
            (StandardsFileOutcome::Updated, None) => StandardsFileOutcome::Unchanged,
            (outcome, _) => outcome,
        };
        let mut fields = changed.as_ref().map(service_file::outcome::fields).unwrap_or_default();
        // What was created is locked in any case.
        let is_new = outcome == StandardsFileOutcome::Created;
        let is_own = |field: &str| OWN.contains(&field) || is_new && field == "lockedBy";
        fields.retain(|change| !is_own(&change.field));
        for change in &mut fields {
            if let Some((_, field)) = FIELDS.iter().find(|(column, _)| *column == change.field) {
                change.field = (*field).to_owned();
            }
        }
        let (path, line) = place.unzip();
        StandardsFileEntry {
            path,
            line: line.and_then(|line| i32::try_from(line).ok()),
            kind: StandardsFileKind::from_word(standard.noun()).unwrap_or(StandardsFileKind::Check),
            name,
            outcome,
            changes: fields.into_iter().map(crate::graphql::service::service_file::change).collect(),
        }
    };
    applied.into_iter().map(entry).collect()
}

impl StandardsReleaseMutation for Mutation {
    async fn standards_release(ctx: &MutationCtx<'_>, input: StandardsReleaseInput) -> Result<StandardsReleasePayload> {
        let StandardsReleaseInput { path } = input;
        let path = text::required("path", &path, text::URL)?;
        ctx.govern();
        let released = rows::locked(ctx.db(), &BTreeSet::from([path.clone()])).await?;
        if released.is_empty() {
            let message = format!("no standard is governed by {}", crate::error::quoted(&path));
            return Err(UserError::new("path", message).not_found().into());
        }
        for (standard, id, _) in &released {
            rows::lock(ctx.db(), *standard, *id, None).await?;
        }
        Ok(StandardsReleasePayload { released: i32::try_from(released.len()).ok(), ..Default::default() })
    }
}

/// A mistake in an entry, as an error of the payload.
fn mistake(entry: &Standards, path: &[impl AsRef<str>], message: &str) -> UserError {
    let note = entry.mistake(path, message);
    UserError::new("text", note.to_string()).within(note.file.to_string()).within("files")
}

/// Moves errors of a mutation to the entry that it was run for.
fn in_entry(entry: &Standards, error: Error) -> Error {
    error.map_user(|error| mistake(entry, &error.path, &error.message))
}
