//! What a check finds in a folder of a checkout.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde_json::Value as Json;

use super::contents::Comparison;
use super::packages;
use super::tree::{OF_FILE, Tree};
use crate::error::quoted;

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) passed: bool,
    /// A sentence.
    pub(super) message: String,
    /// The path of the file that decided.
    pub(super) path: Option<String>,
}

impl Found {
    pub(super) fn new(passed: bool, message: String) -> Self {
        Self { passed, message, path: None }
    }

    pub(super) fn at(passed: bool, message: String, path: &str) -> Self {
        Self { passed, message, path: Some(path.to_owned()) }
    }
}

/// Evaluates a check for the service in a folder. `branch` says whether the default branch is protected, or why that is not
/// known.
///
/// # Errors
/// Why its result stays as it is.
pub(super) fn judge(
    tree: &mut Tree,
    check: &Json,
    folder: &str,
    branch: &Result<bool, String>,
) -> Result<Found, String> {
    match check["__typename"].as_str().unwrap_or_default() {
        "RepositoryFileCheck" => file(tree, check, folder),
        "RepositoryGrepCheck" => grep(tree, check, folder),
        "RepositorySearchCheck" => search(tree, check, folder),
        "PackageVersionCheck" => packages::judge(tree, check, folder),
        "GitBranchProtectionCheck" => branch.clone().map(of_branch),
        unknown => Err(format!("this program does not know checks of the type {unknown}: update it")),
    }
}

fn of_branch(is_protected: bool) -> Found {
    let is = if is_protected { "is" } else { "is not" };
    Found::new(is_protected, format!("Its default branch {is} protected."))
}

/// The texts of a list.
fn texts(list: &Json) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Json::as_str).collect()
}

/// A path below a folder.
fn below(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}

fn file(tree: &mut Tree, check: &Json, folder: &str) -> Result<Found, String> {
    let wants_folder = check["directorySearch"] == Json::Bool(true);
    let noun = if wants_folder { "folder" } else { "file" };
    let folder = if check["useAbsoluteRoot"] == Json::Bool(true) { "" } else { folder };
    let paths: Vec<String> = texts(&check["filePaths"]).into_iter().map(|path| below(folder, path)).collect();
    let there: Vec<&String> = paths.iter().filter(|path| tree.is_folder(path) == Some(wants_folder)).collect();
    let names: Vec<String> = paths.iter().map(|path| quoted(path).to_string()).collect();
    let comparison = Comparison::from_json(&check["fileContentsPredicate"])?;
    let (Some(first), Some(comparison)) = (there.first(), &comparison) else {
        // There is none of them, or any is enough.
        let passed =
            there.is_empty() == comparison.as_ref().is_some_and(|one| one.is_of_existence() && one.is_negative);
        return Ok(match there.first() {
            Some(path) => Found::at(passed, format!("It has the {noun} {}.", quoted(path)), path),
            None => Found::new(passed, format!("It has no {noun} {}.", names.join(" or "))),
        });
    };
    if comparison.is_of_existence() {
        return Ok(Found::at(!comparison.is_negative, format!("It has the {noun} {}.", quoted(first)), first));
    }
    let files: Vec<String> = if wants_folder {
        there.iter().flat_map(|folder| tree.below(folder)).collect()
    } else {
        there.iter().map(|path| (*path).clone()).collect()
    };
    for path in &files {
        let Some(text) = tree.read(path, OF_FILE) else { continue };
        if comparison.find(&text).is_some() != comparison.is_negative {
            let verb = if comparison.is_negative { "do not have what must not be there" } else { "are as wanted" };
            return Ok(Found::at(true, format!("The contents of {} {verb}.", quoted(path)), path));
        }
    }
    let is = if comparison.is_negative { "lacks what must not be there" } else { "has such contents" };
    Ok(Found::new(false, format!("It has the {noun} {}, but no file there {is}.", quoted(first))))
}

fn grep(tree: &mut Tree, check: &Json, folder: &str) -> Result<Found, String> {
    let patterns = texts(&check["filePaths"]);
    let fits = globs(&patterns)?;
    let start = if folder.is_empty() { 0 } else { folder.len() + 1 };
    let are_folders = check["directorySearch"] == Json::Bool(true);
    let is_meant = |path: &str| {
        let own = &path[start..];
        if !are_folders {
            return fits.is_match(own);
        }
        own.match_indices('/').any(|(end, _)| fits.is_match(&own[..end]))
    };
    let files: Vec<String> = tree.below(folder).into_iter().filter(|path| is_meant(path)).collect();
    compare(tree, check, &files)
}

fn search(tree: &mut Tree, check: &Json, folder: &str) -> Result<Found, String> {
    let endings = texts(&check["fileExtensions"]);
    let is_meant = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        let ends = |ending: &&str| name.strip_suffix(*ending).is_some_and(|start| start.ends_with('.'));
        endings.is_empty() || endings.iter().any(ends)
    };
    let files: Vec<String> = tree.below(folder).into_iter().filter(|path| is_meant(path)).collect();
    compare(tree, check, &files)
}

/// Compares the contents of files: one is enough, or none may have what must not be there.
fn compare(tree: &mut Tree, check: &Json, files: &[String]) -> Result<Found, String> {
    let Some(comparison) = Comparison::from_json(&check["fileContentsPredicate"])? else {
        return Err("the check does not say how to compare contents".to_owned());
    };
    for path in files {
        let at = if comparison.is_of_existence() {
            Some(1)
        } else {
            let text = tree.read(path, OF_FILE);
            text.and_then(|text| Some(text[..comparison.find(&text)?].matches('\n').count() + 1))
        };
        if let Some(line) = at {
            let place = if comparison.is_of_existence() { String::new() } else { format!(", line {line}") };
            let what = if comparison.is_of_existence() { "There is" } else { "Such contents are in" };
            let message = format!("{what} {}{place}.", quoted(path));
            return Ok(Found::at(!comparison.is_negative, message, path));
        }
    }
    let message = match files.len() {
        0 => "It has no such file.".to_owned(),
        _ if comparison.is_of_existence() => "It has no such file.".to_owned(),
        1 => format!("Such contents are not in the only file, {}.", quoted(&files[0])),
        many => format!("Such contents are in none of {many} files."),
    };
    Ok(Found::new(comparison.is_negative, message))
}

fn globs(patterns: &[&str]) -> Result<GlobSet, String> {
    let mut all = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        all.add(glob.map_err(|error| format!("{} is not a pattern: {}", quoted(pattern), error.kind()))?);
    }
    all.build().map_err(|error| error.to_string())
}
