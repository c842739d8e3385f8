//! The repository of a service has a file. A pipeline reports it.

use serde::{Deserialize, Serialize};

use super::super::change::Change;
use super::super::comparison::{Comparison, Of};
use super::super::question::{Asks, Facts, Question};
use super::super::reported;
use crate::entity::check;
use crate::graphql::prelude::*;

/// The parameters of `RepositoryFileCheck`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::graphql::standards::check) struct RepositoryFile {
    pub(in crate::graphql::standards::check) directory_search: bool,
    pub(in crate::graphql::standards::check) file_contents_predicate: Option<Comparison>,
    pub(in crate::graphql::standards::check) file_paths: Option<Vec<String>>,
    pub(in crate::graphql::standards::check) use_absolute_root: bool,
}

impl RepositoryFile {
    pub(in crate::graphql::standards::check) async fn give(
        &mut self,
        change: &mut Change<'_>,
        are_folders: MaybeUndefined<bool>,
        contents: MaybeUndefined<PredicateUpdateInput>,
        paths: MaybeUndefined<Vec<String>>,
        at_root: MaybeUndefined<bool>,
    ) -> Result<()> {
        Change::flag(&mut self.directory_search, are_folders);
        Change::flag(&mut self.use_absolute_root, at_root);
        change.comparison("fileContentsPredicate", Of::Text, &mut self.file_contents_predicate, &contents);
        change.texts("filePaths", &mut self.file_paths, &paths, true, path);
        Ok(())
    }
}

/// Checks a path below a folder of a repository.
pub(super) fn path(given: &str) -> Result<String, String> {
    match given.trim_matches('/') {
        "" => Err("it names no file".to_owned()),
        path if path.split('/').any(|part| part == "..") => Err("it must not lead out of the folder".to_owned()),
        path => Ok(path.to_owned()),
    }
}

/// Paths or the like in words.
pub(super) fn one_of(texts: Option<&Vec<String>>) -> String {
    let texts: Vec<String> = texts.into_iter().flatten().map(|text| quoted(text).to_string()).collect();
    texts.join(" or ")
}

impl Asks for RepositoryFile {
    fn wanted(&self) -> String {
        let noun = if self.directory_search { "folder" } else { "file" };
        let paths = one_of(self.file_paths.as_ref());
        match &self.file_contents_predicate {
            None => format!("a {noun} {paths}"),
            Some(comparison) if comparison.is_absence() => format!("no {noun} {paths}"),
            Some(comparison) if self.directory_search => {
                format!("a folder {paths} with a file whose contents {}", comparison.words())
            }
            Some(comparison) => format!("a file {paths} whose contents {}", comparison.words()),
        }
    }

    fn said(&self, found: Option<&str>) -> String {
        reported::said(found)
    }

    async fn question(&self, check: &check::Model, _: Facts<'_>) -> Result<Question> {
        Ok(reported::question(check))
    }
}
