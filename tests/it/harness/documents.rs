//! The pages of the repository, and where their links lead.

use std::fs;
use std::path::{Component, Path, PathBuf};

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of a page, by its path in the repository.
pub fn page(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The lines of a page that are no example.
pub fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_example = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_example ^= is_fence;
        !is_fence && !is_example
    })
}

/// The addresses of the links and pictures in a text. What stands between backquotes is no link.
pub fn links(text: &str) -> Vec<String> {
    let prose: String = prose(text).map(|line| format!("{line}\n")).collect();
    // A link's text may contain code, so code loses its text but keeps its place.
    let without_code: String = prose.split('`').step_by(2).collect();
    without_code.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.trim().to_owned())).collect()
}

/// A path in the repository, from a page and the relative address of a link in it.
pub fn target(page: &str, address: &str) -> String {
    let mut path = PathBuf::from(page);
    path.pop();
    for part in Path::new(address).components() {
        match part {
            Component::ParentDir => assert!(path.pop(), "{page}: {address} leads out of the repository"),
            part => path.push(part),
        }
    }
    path.display().to_string()
}

/// The pages that a page links to, in its order.
pub fn targets(page: &str, text: &str) -> Vec<String> {
    let files = links(text).into_iter().map(|link| link.split('#').next().unwrap_or_default().to_owned());
    files.filter(|file| file.ends_with(".md") && !file.contains(':')).map(|file| target(page, &file)).collect()
}
