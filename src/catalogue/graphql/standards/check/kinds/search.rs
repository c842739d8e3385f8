//! Files in the repository of a service have certain contents. A pipeline reports it.

use globset::GlobBuilder;
use serde::{Deserialize, Serialize};

use super::super::change::{Change, required_comparison};
use super::super::comparison::Comparison;
use super::super::question::{Asks, Facts, Question};
use super::super::reported;
use super::file::{one_of, path};
use crate::entity::check;
use crate::graphql::prelude::*;

/// The parameters of `RepositoryGrepCheck`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::graphql::standards::check) struct RepositoryGrep {
    pub(in crate::graphql::standards::check) directory_search: bool,
    pub(in crate::graphql::standards::check) file_contents_predicate: Option<Comparison>,
    pub(in crate::graphql::standards::check) file_paths: Option<Vec<String>>,
}

/// The parameters of `RepositorySearchCheck`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::graphql::standards::check) struct RepositorySearch {
    pub(in crate::graphql::standards::check) file_contents_predicate: Option<Comparison>,
    pub(in crate::graphql::standards::check) file_extensions: Option<Vec<String>>,
}

impl RepositoryGrep {
    pub(in crate::graphql::standards::check) async fn give(
        &mut self,
        change: &mut Change<'_>,
        are_folders: MaybeUndefined<bool>,
        contents: MaybeUndefined<PredicateUpdateInput>,
        patterns: MaybeUndefined<Vec<String>>,
    ) -> Result<()> {
        Change::flag(&mut self.directory_search, are_folders);
        required_comparison(change, "fileContentsPredicate", &mut self.file_contents_predicate, &contents);
        change.texts("filePaths", &mut self.file_paths, &patterns, true, pattern);
        Ok(())
    }
}

impl RepositorySearch {
    pub(in crate::graphql::standards::check) async fn give(
        &mut self,
        change: &mut Change<'_>,
        contents: MaybeUndefined<PredicateUpdateInput>,
        endings: MaybeUndefined<Vec<String>>,
    ) -> Result<()> {
        required_comparison(change, "fileContentsPredicate", &mut self.file_contents_predicate, &contents);
        change.texts("fileExtensions", &mut self.file_extensions, &endings, false, ending);
        Ok(())
    }
}

/// Checks a pattern of paths.
fn pattern(given: &str) -> Result<String, String> {
    let pattern = path(given)?;
    GlobBuilder::new(&pattern)
        .literal_separator(true)
        .build()
        .map_err(|error| format!("not a pattern: {}", error.kind()))?;
    Ok(pattern)
}

/// Checks the ending of a name of a file, and removes dots before it.
fn ending(given: &str) -> Result<String, String> {
    match given.trim_start_matches(['*', '.']) {
        "" => Err("it names no ending".to_owned()),
        ending if ending.contains('/') => Err("it must not contain /".to_owned()),
        ending => Ok(ending.to_owned()),
    }
}

/// What a comparison of the contents of files wants. `files` says which, after `file`.
fn wanted(files: &str, comparison: Option<&Comparison>) -> String {
    match comparison.map(|comparison| (comparison, comparison.refuted())) {
        None => format!("a file{files}"),
        Some((comparison, _)) if comparison.is_absence() => format!("no file{files}"),
        Some((_, Some(refuted))) => format!("no file{files} whose contents {}", refuted.words()),
        Some((comparison, None)) => format!("a file{files} whose contents {}", comparison.words()),
    }
}

impl Asks for RepositoryGrep {
    fn wanted(&self) -> String {
        let patterns = one_of(self.file_paths.as_ref());
        let place = if self.directory_search { "in a folder" } else { "with a path like" };
        wanted(&format!(" {place} {patterns}"), self.file_contents_predicate.as_ref())
    }

    fn said(&self, found: Option<&str>) -> String {
        reported::said(found)
    }

    async fn question(&self, check: &check::Model, _: Facts<'_>) -> Result<Question> {
        Ok(reported::question(check))
    }
}

impl Asks for RepositorySearch {
    fn wanted(&self) -> String {
        let files = match &self.file_extensions {
            None => String::new(),
            endings => format!(" that ends with {}", one_of(endings.as_ref())),
        };
        wanted(&files, self.file_contents_predicate.as_ref())
    }

    fn said(&self, found: Option<&str>) -> String {
        reported::said(found)
    }

    async fn question(&self, check: &check::Model, _: Facts<'_>) -> Result<Question> {
        Ok(reported::question(check))
    }
}
