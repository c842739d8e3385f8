//! The packages that lock files name, and their versions.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::contents::Comparison;
use super::judge::Found;
use super::locks::{self, Package};
use super::tree::{OF_LOCK, Tree};
use crate::error::quoted;
use crate::graphql::filter::predicate::regex;

/// Reads the name of a lock file, and what it says.
type Reader = (fn(&str) -> bool, fn(&str) -> Vec<Package>);

/// The lock files of a package manager.
fn readers(manager: &str) -> &'static [Reader] {
    match manager {
        "cargo" => &[(|name| name == "Cargo.lock", locks::tables)],
        "npm" => &[
            (|name| ["package-lock.json", "npm-shrinkwrap.json"].contains(&name), locks::npm),
            (|name| name == "pnpm-lock.yaml", locks::pnpm),
            (|name| name == "yarn.lock", locks::yarn),
        ],
        "golang" => &[(|name| name == "go.mod", locks::go)],
        "pypi" => &[
            (|name| ["poetry.lock", "uv.lock"].contains(&name), locks::tables),
            (|name| name.starts_with("requirements") && name.ends_with(".txt"), locks::requirements),
        ],
        "gem" => &[(|name| name == "Gemfile.lock", locks::gems)],
        "maven" => &[(|name| name == "pom.xml", locks::maven)],
        "gradle" => &[(|name| name == "gradle.lockfile", locks::gradle)],
        _ => &[],
    }
}

/// The lock files of a service: those in its folder and below, or else those of the nearest folder above that has one.
fn lock_files(tree: &Tree, manager: &str, folder: &str) -> Vec<String> {
    let is_lock = |path: &String| {
        let name = path.rsplit('/').next().unwrap_or_default();
        readers(manager).iter().any(|(is_it, _)| is_it(name))
    };
    let own: Vec<String> = tree.below(folder).into_iter().filter(is_lock).collect();
    if !own.is_empty() {
        return own;
    }
    let mut above = folder;
    while !above.is_empty() {
        above = above.rsplit_once('/').map_or("", |(above, _)| above);
        let depth = if above.is_empty() { 0 } else { above.len() + 1 };
        let here = |path: &String| !path[depth..].contains('/');
        let found: Vec<String> = tree.below(above).into_iter().filter(here).filter(is_lock).collect();
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// The name as its package manager compares it.
fn plain(manager: &str, name: &str) -> String {
    match manager {
        // https://packaging.python.org/en/latest/specifications/name-normalization/
        "pypi" => {
            name.to_lowercase().split(['-', '_', '.']).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
        }
        _ => name.to_owned(),
    }
}

/// Evaluates a check of a package.
///
/// # Errors
/// The check is one that this program does not know.
pub(super) fn judge(tree: &mut Tree, check: &Json, folder: &str) -> Result<Found, String> {
    let (manager, name) = (text(check, "packageManager"), text(check, "packageName"));
    let named = plain(manager, name);
    let pattern = match check["packageNameIsRegex"].as_bool() {
        Some(true) => Some(regex(name, true).map_err(|error| error.to_string())?),
        _ => None,
    };
    let is_it = |found: &str| {
        pattern.as_ref().map_or_else(|| plain(manager, found) == named, |pattern| pattern.is_match(found))
    };
    let files = lock_files(tree, manager, folder);
    // The version, the name and the file of each.
    let mut found: BTreeSet<(String, String, String)> = BTreeSet::new();
    for path in &files {
        let file = path.rsplit('/').next().unwrap_or_default();
        let Some((_, read)) = readers(manager).iter().find(|(is_it, _)| is_it(file)) else { continue };
        let Some(text) = tree.read(path, OF_LOCK) else { continue };
        let own = read(&text).into_iter().filter(|(name, _)| is_it(name));
        found.extend(own.map(|(name, version)| (version, name, path.clone())));
    }
    said(check, &files, &found)
}

fn text<'c>(check: &'c Json, field: &str) -> &'c str {
    check[field].as_str().unwrap_or_default()
}

fn said(check: &Json, files: &[String], found: &BTreeSet<(String, String, String)>) -> Result<Found, String> {
    let constraint = text(check, "packageConstraint");
    let manager = text(check, "packageManager");
    let Some((version, name, path)) = found.first() else {
        let passed = match constraint {
            "does_not_exist" => true,
            "matches_version" => check["missingPackageResult"] == "passed",
            _ => false,
        };
        return Ok(Found::new(
            passed,
            match files.len() {
                0 => format!("It has no lock file of {manager}."),
                1 => format!("{} does not name the package.", quoted(&files[0])),
                many => format!("None of {many} lock files names the package."),
            },
        ));
    };
    let used = |version: &str, name: &str| match version {
        "" => format!("It uses {}, of no version that is said.", quoted(name)),
        version => format!("It uses {} {version}.", quoted(name)),
    };
    match constraint {
        "exists" => Ok(Found::at(true, used(version, name), path)),
        "does_not_exist" => Ok(Found::at(false, used(version, name), path)),
        "matches_version" => {
            let comparison = Comparison::from_json(&check["versionConstraintPredicate"])?;
            let comparison = comparison.ok_or("the check does not say how to compare versions")?;
            let is_wrong = |version: &str| {
                let is_there = !version.is_empty();
                (is_there && comparison.find(version).is_some()) == comparison.is_negative
            };
            let wrong = found.iter().find(|(version, ..)| is_wrong(version));
            let shown = wrong.map_or((version, name, path), |(version, name, path)| (version, name, path));
            Ok(Found::at(wrong.is_none(), used(shown.0, shown.1), shown.2))
        }
        unknown => Err(format!("this program does not know the constraint {unknown}: update it")),
    }
}
