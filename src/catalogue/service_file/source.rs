//! Finds the service files named on a command line, and reads them.
//!
//! Does not follow symbolic links. In a pipeline, the checkout may come from a stranger, and a link could lead to files
//! of the machine. Limits the files, bytes and depth of a run.

use std::fs::{self, DirEntry, FileType};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

use encoding_rs::Encoding;

use super::report::Note;
use super::{form, read};

/// The maximum number of files of a run.
const FILES: usize = 10_000;
/// The maximum size of all files of a run, in bytes.
const BYTES: u64 = 64 << 20;
/// The maximum depth of folders.
const DEPTH: usize = 32;

/// The name of standard input in messages.
const STANDARD_INPUT: &str = "standard input";

/// A file that was found.
#[derive(Debug, Clone)]
pub struct File {
    /// Its name in messages and locks.
    pub path: String,
    /// Its text, or a note why it cannot be read.
    pub content: Result<String, Note>,
    /// Whether it was found in a folder, instead of being named.
    pub is_found: bool,
}

impl File {
    /// Whether the file was found in a folder and has a document that is not a service file's: folders hold other YAML,
    /// too.
    pub fn is_found_by_mistake(&self) -> bool {
        self.is_found && self.content.as_ref().is_ok_and(|text| read::has_other_documents(text))
    }

    /// Returns why the file cannot be sent to a server: it cannot be read, or has a null character, which no text of a
    /// request may have. In a file of another catalogue, that is the failure of this file alone.
    pub fn unsendable(&self) -> Option<Note> {
        let is_lenient = form::is_named_by_another(&self.path)
            || self.content.as_ref().is_ok_and(|text| form::looks_like_an_entity(text));
        let note = match &self.content {
            Err(note) => note.clone(),
            Ok(text) => {
                let (line, column) = place_of_end(&text[..text.find('\0')?]);
                let message = "a YAML file has no null character".to_owned();
                Note { file: 0, path: self.path.clone(), line, column, message, is_failure: false }
            }
        };
        Some(Note { is_failure: is_lenient, ..note })
    }
}

/// Which files to read.
#[derive(Debug, Clone, Default)]
pub struct FileSelection {
    /// Files, folders, and `-` for standard input.
    pub paths: Vec<PathBuf>,
    /// The names of the files to read in folders. Empty means every `.yml` and `.yaml` file.
    pub names: Vec<String>,
    /// The folder that names of files are relative to, if they are in it.
    pub root: Option<PathBuf>,
}

/// Finds and reads files, those of a folder in the order of their names.
pub fn collect(places: &FileSelection) -> Vec<File> {
    let mut sources = Sources { places, bytes: BYTES, left: FILES, files: Vec::new() };
    for place in &places.paths {
        for source in sources.find(place) {
            let file = sources.read(&source, place);
            sources.files.push(file);
        }
    }
    sources.files
}

/// The source of a text.
#[derive(Debug, Clone)]
enum Source {
    StandardInput,
    File(PathBuf),
}

/// Finds and reads the files of one run.
#[derive(Debug)]
struct Sources<'p> {
    places: &'p FileSelection,
    /// The number of bytes that may still be read.
    bytes: u64,
    /// The number of files that may still be found.
    left: usize,
    files: Vec<File>,
}

/// The result of walking a folder.
#[derive(Default)]
struct Found {
    files: Vec<PathBuf>,
    /// Whether a link was skipped.
    links: bool,
}

impl Sources<'_> {
    /// The name of a file: its path in the root, if there is one, else its path as given, without `./`.
    fn name(&self, path: &Path) -> String {
        let below = |root: &PathBuf| Some(path.canonicalize().ok()?.strip_prefix(root).ok()?.display().to_string());
        let below = self.places.root.as_ref().and_then(below).filter(|name| !name.is_empty());
        let given = path.strip_prefix(".").ok().filter(|rest| !rest.as_os_str().is_empty()).unwrap_or(path);
        below.unwrap_or_else(|| given.display().to_string())
    }

    /// Reports a place that cannot be read. What it defines is unknown, so references to it are not reported as
    /// missing.
    fn unread(&mut self, path: &Path, message: impl Into<String>) {
        let path = self.name(path);
        let file = self.files.len();
        let note = Note { file, path: path.clone(), line: 0, column: 0, message: message.into(), is_failure: false };
        self.files.push(File { path, content: Err(note), is_found: false });
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
                    let names = match &*self.places.names {
                        [] => ".yml or .yaml file".to_owned(),
                        names => format!("file called {}", names.join(" or ")),
                    };
                    self.unread(place, format!("there is no {names} in this folder{links}"));
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
            let is_wanted = match &*self.places.names {
                [] => path.extension().is_some_and(|kind| kind == "yml" || kind == "yaml"),
                names => names.iter().any(|wanted| name == **wanted),
            };
            if name.as_encoded_bytes().starts_with(b".") || name == "node_modules" {
                continue;
            }
            if kind.is_symlink() {
                found.links = true;
            } else if kind.is_dir() {
                self.walk(&path, depth + 1, found);
            } else if is_wanted && self.left > 0 {
                self.left -= 1;
                found.files.push(path);
            } else if is_wanted {
                return self.unread(folder, format!("there are more than {FILES} files"));
            }
        }
    }

    /// Reads the file that was named as `place`, or found in it.
    fn read(&mut self, source: &Source, place: &Path) -> File {
        let (path, bytes) = match source {
            Source::StandardInput => (STANDARD_INPUT.to_owned(), self.bytes(io::stdin().lock())),
            Source::File(path) => (self.name(path), fs::File::open(path).and_then(|file| self.bytes(file))),
        };
        let file = self.files.len();
        let note = |line, column, message| Note { file, path: path.clone(), line, column, message, is_failure: false };
        let content = match bytes.map(text_of) {
            Ok(Ok(text)) => Ok(text),
            Ok(Err(error)) => {
                let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let (line, column) = place_of_end(&String::from_utf8_lossy(valid));
                Err(note(line, column, "this is not UTF-8".to_owned()))
            }
            Err(error) => Err(note(0, 0, format!("it cannot be read: {error}"))),
        };
        let is_found = matches!(source, Source::File(path) if path != place);
        File { path, content, is_found }
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

/// The line and the column, both from 1, of what follows a text.
fn place_of_end(text: &str) -> (u64, u64) {
    let last = text.rsplit('\n').next().unwrap_or_default();
    (text.matches('\n').count() as u64 + 1, last.chars().count() as u64 + 1)
}

/// The text of a file: UTF-8, or UTF-16 if a byte order mark says so. Errors are those of UTF-8.
fn text_of(bytes: Vec<u8>) -> Result<String, FromUtf8Error> {
    let is_wide = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    let wide = Encoding::for_bom(&bytes).filter(|_| is_wide).and_then(|(encoding, _)| {
        let (text, _, is_lossy) = encoding.decode(&bytes);
        (!is_lossy).then(|| text.into_owned())
    });
    wide.map_or_else(|| String::from_utf8(bytes), Ok)
}

fn entries(folder: &Path) -> io::Result<Vec<(DirEntry, FileType)>> {
    fs::read_dir(folder)?.map(|entry| entry.and_then(|entry| entry.file_type().map(|kind| (entry, kind)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_utf_8_or_utf_16_with_a_mark() {
        let little: Vec<u8> = "\u{feff}a: é".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = "\u{feff}a: é".encode_utf16().flat_map(u16::to_be_bytes).collect();
        let unmarked: Vec<u8> = "é".encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (bytes, expected) in [
            (little, Some("a: é")),
            (big, Some("a: é")),
            ("a: é".into(), Some("a: é")),
            ("\u{feff}a: é".into(), Some("\u{feff}a: é")),
            (unmarked, None),
            (b"\xff\xfe\x00\xd8".to_vec(), None),
            (b"a: \xe9".to_vec(), None),
        ] {
            assert_eq!(text_of(bytes.clone()).ok().as_deref(), expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_sent_fails_alone_if_it_is_of_another_catalogue() {
        let unread = Note {
            file: 3,
            path: String::new(),
            line: 2,
            column: 5,
            message: "this is not UTF-8".to_owned(),
            is_failure: false,
        };
        for (path, content, expected) in [
            ("catalog-info.yaml", Err(unread.clone()), Some((2, 5, true))),
            ("a/opslevel.yml", Err(unread.clone()), Some((2, 5, true))),
            ("rollcall.yml", Err(unread), Some((2, 5, false))),
            ("rollcall.yml", Ok("a: 1\nb: é\0"), Some((2, 5, false))),
            ("opslevel.yml", Ok("\0"), Some((1, 1, true))),
            ("x.yml", Ok("apiVersion: a\nkind: b\n\0"), Some((3, 1, true))),
            ("x.yml", Ok("a: 1"), None),
        ] {
            let file = File { path: path.to_owned(), content: content.map(str::to_owned), is_found: false };
            let note = file.unsendable().map(|note| (note.line, note.column, note.is_failure));
            assert_eq!(note, expected, "{file:?}");
        }
    }
}
