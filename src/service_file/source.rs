//! Finds the service files named on a command line, and reads them.
//!
//! Does not follow symbolic links. In a pipeline, the checkout may come from a stranger, and a link could lead to files
//! of the machine. Limits the files, bytes and depth of a run.

use std::fs::{self, DirEntry, File, FileType};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::yaml::Spot;
use super::{Problems, STANDARD_INPUT};

/// The maximum number of files of a run.
const FILES: usize = 10_000;
/// The maximum size of all files of a run, in bytes.
const BYTES: u64 = 64 << 20;
/// The maximum depth of folders.
const DEPTH: usize = 32;

/// The source of a text.
#[derive(Debug, Clone)]
pub(super) enum Source {
    StandardInput,
    File(PathBuf),
}

impl Source {
    pub(super) fn name(&self) -> String {
        match self {
            Self::StandardInput => STANDARD_INPUT.to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }
}

/// Finds and reads the files of one run.
#[derive(Debug)]
pub(super) struct Sources<'p> {
    problems: &'p mut Problems,
    /// The number of bytes that may still be read.
    bytes: u64,
    /// The number of files that may still be found.
    files: usize,
}

/// The result of walking a folder.
#[derive(Default)]
struct Found {
    files: Vec<PathBuf>,
    /// Whether a link was skipped.
    links: bool,
}

impl<'p> Sources<'p> {
    pub(super) fn new(problems: &'p mut Problems) -> Self {
        Self { problems, bytes: BYTES, files: FILES }
    }

    /// Calls `read` with the number and text of each file that `place` stands for.
    pub(super) fn each(&mut self, place: &Path, mut read: impl FnMut(usize, &str, &mut Problems)) {
        for source in self.find(place) {
            let file = self.problems.file(&source);
            if let Some(text) = self.text(&source, file) {
                read(file, &text, self.problems);
            }
        }
    }

    /// Reports a place that cannot be read. What it defines is unknown, so references to it are not reported as
    /// missing.
    fn unread(&mut self, path: &Path, message: impl Into<String>) {
        let file = self.problems.file(&Source::File(path.to_owned()));
        self.problems.add(file, Spot::default(), message);
        self.problems.documents_are_missing = true;
    }

    fn find(&mut self, place: &Path) -> Vec<Source> {
        if place == Path::new("-") {
            return vec![Source::StandardInput];
        }
        // Drop a trailing slash, which would follow a link.
        let named: PathBuf = place.components().collect();
        match fs::symlink_metadata(&named).map(|metadata| metadata.file_type()) {
            Ok(kind) if kind.is_symlink() => {
                self.unread(place, "this is a symbolic link, and links are not followed; name its target");
                Vec::new()
            }
            Ok(kind) if kind.is_dir() => {
                let mut found = Found::default();
                self.walk(place, 1, &mut found);
                if found.files.is_empty() {
                    let links = if found.links { "; symbolic links are not followed" } else { "" };
                    self.unread(place, format!("there is no .yml or .yaml file in this folder{links}"));
                }
                found.files.sort();
                found.files.into_iter().map(Source::File).collect()
            }
            _ => vec![Source::File(place.to_owned())],
        }
    }

    /// Collects the files below a folder. Skips hidden files and installed packages.
    fn walk(&mut self, folder: &Path, depth: usize, found: &mut Found) {
        if depth > DEPTH {
            return self.unread(folder, format!("the folders are nested more than {DEPTH} deep"));
        }
        let entries = match entries(folder) {
            Ok(entries) => entries,
            Err(error) => return self.unread(folder, format!("it cannot be read: {error}")),
        };
        for (entry, kind) in entries {
            let path = entry.path();
            let name = entry.file_name();
            let is_yaml = path.extension().is_some_and(|kind| kind == "yml" || kind == "yaml");
            if name.as_encoded_bytes().starts_with(b".") || name == "node_modules" {
                continue;
            }
            if kind.is_symlink() {
                found.links = true;
            } else if kind.is_dir() {
                self.walk(&path, depth + 1, found);
            } else if is_yaml && self.files > 0 {
                self.files -= 1;
                found.files.push(path);
            } else if is_yaml {
                return self.unread(folder, format!("there are more than {FILES} files"));
            }
        }
    }

    fn text(&mut self, source: &Source, file: usize) -> Option<String> {
        let bytes = match source {
            Source::StandardInput => self.bytes(io::stdin().lock()),
            Source::File(path) => File::open(path).and_then(|file| self.bytes(file)),
        };
        match bytes.map(String::from_utf8) {
            Ok(Ok(text)) => return Some(text),
            Ok(Err(error)) => {
                let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let valid = String::from_utf8_lossy(valid);
                let last = valid.rsplit('\n').next().unwrap_or_default();
                let spot =
                    Spot { line: valid.matches('\n').count() as u64 + 1, column: last.chars().count() as u64 + 1 };
                self.problems.add(file, spot, "this is not UTF-8");
            }
            Err(error) => self.problems.add(file, Spot::default(), format!("it cannot be read: {error}")),
        }
        self.problems.documents_are_missing = true;
        None
    }

    /// Reads within the remaining number of bytes of the run.
    fn bytes(&mut self, input: impl Read) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = input.take(self.bytes + 1).read_to_end(&mut bytes)? as u64;
        match self.bytes.checked_sub(read) {
            Some(rest) => {
                self.bytes = rest;
                Ok(bytes)
            }
            None => Err(io::Error::other(format!("the files are larger than {} MiB in total", BYTES >> 20))),
        }
    }
}

fn entries(folder: &Path) -> io::Result<Vec<(DirEntry, FileType)>> {
    fs::read_dir(folder)?.map(|entry| entry.and_then(|entry| entry.file_type().map(|kind| (entry, kind)))).collect()
}
