//! Standards files: levels, categories, filters, scorecards, checks and campaigns as YAML, which clients send to be applied.
//!
//! - The entries are applied in one transaction, all or none, by the mutations that create and change such things. So a
//!   file can say whatever they take, and what they refuse is a mistake in it.
//! - A name finds the thing the next time. A missing key leaves its field unchanged, and null clears it.
//! - What an entry describes is locked: other mutations cannot change it ([`lock`]).
//! - A dry run rolls back, and says how services would stand.

use std::collections::{BTreeSet, HashMap};

use super::check::{self, StandardsPreview};
use super::context::MutationCtx;
use super::schema::*;
use super::service_file::{files, refused};
use crate::db::{Before, RowOf};
use crate::entity::change::{Account, By, Told};
use crate::entity::text;
use crate::error::{Error, Problems, Result, UserError};
use crate::evaluation::{self, Language};
use crate::service_file::{self, Refused, Standard};

mod apply;
mod lock;
mod read;
mod rows;

use self::read::{Inputs, Standards};

pub(super) use lock::refuse_locked;

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
        let entries = read::read(&files, inputs).map_err(|notes| refused(Refused::Problems(notes)))?;
        read_expressions(&entries).await?;
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
        let account = Account::of(before, ctx.db()).await?.ok_or_else(|| UserError::base("this changes too much"))?;
        let account = account.beside_times();
        let told = account.told(before, ctx.db(), By::Object).await?;
        let preview = match is_dry_run {
            true => Some(StandardsPreview::of(ctx.db(), &account).await?),
            false => None,
        };
        Ok(StandardsApplyPayload { entries: Some(entries_of(applied, told)), preview, ..Default::default() })
    }
}

/// Reads the expressions of checks of custom events, in a process of its own, before anybody has to wait for the transaction.
/// The mutations report what is wrong with them.
async fn read_expressions(entries: &[Standards]) -> Result<()> {
    const AT_ONCE: usize = 50;
    let languages =
        [("serviceSelector", Language::Jq), ("successCondition", Language::Jq), ("resultMessage", Language::Liquid)];
    let of = |entry: &Standards| {
        let text =
            |(field, language): (&str, Language)| Some((language, entry.fields.get(field)?.as_str()?.to_owned()));
        languages.into_iter().filter_map(text).collect::<Vec<_>>()
    };
    let texts: Vec<(Language, String)> = entries.iter().flat_map(of).collect();
    for some in texts.chunks(AT_ONCE) {
        evaluation::mistakes(some.to_vec()).await.map_err(|why| Error::Internal(why.into()))?;
    }
    Ok(())
}

/// Tells what was done.
fn entries_of(applied: Vec<Applied>, told: Vec<Told>) -> Vec<StandardsFileEntry> {
    let mut changed: HashMap<RowOf, _> = told.into_iter().map(|told| (told.row, told.changed)).collect();
    let entry = |Applied { standard, row, name, place, outcome }| {
        let changed = changed.remove(&row).filter(|changed| !changed.is_empty());
        let outcome = match (outcome, &changed) {
            (StandardsFileOutcome::Updated, None) => StandardsFileOutcome::Unchanged,
            (outcome, _) => outcome,
        };
        let fields = changed.as_ref().map(service_file::outcome::fields).unwrap_or_default();
        let (path, line) = place.unzip();
        StandardsFileEntry {
            path,
            line: line.and_then(|line| i32::try_from(line).ok()),
            kind: StandardsFileKind::from_word(standard.noun()).unwrap_or(StandardsFileKind::Check),
            name,
            outcome,
            changes: fields.into_iter().map(super::service_file::change).collect(),
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
