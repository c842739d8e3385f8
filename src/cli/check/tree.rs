//! The files of a checkout, read within bounds: what git ignores is not seen, and no symbolic link is followed.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ignore::WalkBuilder;
use rustix::fs::OFlags;

/// The maximum number of files that are seen.
pub const FILES: usize = 200_000;
/// How much of a file is read, in bytes.
pub const OF_FILE: u64 = 1 << 20;
/// How much of a lock file is read, in bytes.
pub const OF_LOCK: u64 = 16 << 20;
/// How much of all files is read, in bytes. A file that several checks look at counts for each.
pub const OF_ALL: u64 = 256 << 20;
/// How long files are listed and read.
pub const TIME: Duration = Duration::from_secs(60);

/// A checkout.
pub(super) struct Tree {
    root: PathBuf,
    /// The paths of all files, with `/` between folders.
    files: BTreeSet<String>,
    left: u64,
    started: Instant,
    /// Why not all was looked at.
    cut: Option<&'static str>,
}

impl Tree {
    /// Lists the files below a folder.
    pub(super) fn walk(root: &Path) -> Self {
        let mut tree =
            Self { root: root.to_owned(), files: BTreeSet::new(), left: OF_ALL, started: Instant::now(), cut: None };
        let walk = WalkBuilder::new(root)
            .hidden(false)
            .ignore(false)
            .git_global(false)
            .git_exclude(false)
            .parents(false)
            .require_git(false)
            .follow_links(false)
            .filter_entry(|entry| entry.file_name() != ".git")
            .build();
        // What cannot be listed is not there for this program.
        for entry in walk.filter_map(Result::ok) {
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            if tree.files.len() == FILES {
                tree.cut = Some("there are more than 200,000 files");
                break;
            }
            if tree.started.elapsed() > TIME {
                tree.cut = Some("listing them took more than 60 s");
                break;
            }
            let path = entry.path().strip_prefix(root).ok().and_then(Path::to_str);
            tree.files.extend(path.map(str::to_owned));
        }
        tree
    }

    /// Why not all files were looked at. `None` if they were.
    pub(super) fn cut(&self) -> Option<&'static str> {
        self.cut
    }

    /// The paths of the files in a folder, and below it.
    pub(super) fn below(&self, folder: &str) -> Vec<String> {
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        self.files.range(start.clone()..).take_while(|path| path.starts_with(&start)).cloned().collect()
    }

    /// Whether a path is that of a folder, or of a file. `None` if nothing is there, or a symbolic link leads there.
    pub(super) fn is_folder(&self, path: &str) -> Option<bool> {
        let mut at = self.root.clone();
        let mut kind = fs::symlink_metadata(&at).ok()?.file_type();
        for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part == ".." || !kind.is_dir() {
                return None;
            }
            at.push(part);
            kind = fs::symlink_metadata(&at).ok()?.file_type();
        }
        if kind.is_dir() { Some(true) } else { kind.is_file().then_some(false) }
    }

    /// Reads the beginning of a file: at most `most` bytes. Bytes that are no UTF-8 become U+FFFD. `None` if it cannot be
    /// read, is no text, or a bound is reached.
    pub(super) fn read(&mut self, path: &str, most: u64) -> Option<String> {
        if self.is_folder(path) != Some(false) {
            return None;
        }
        if self.started.elapsed() > TIME {
            self.cut = Some("reading them took more than 60 s");
            return None;
        }
        let mut bytes = Vec::new();
        let file = open(&self.root.join(path))?;
        let most = most.min(self.left);
        file.take(most + 1).read_to_end(&mut bytes).ok()?;
        if bytes.len() as u64 > most {
            let all = most == self.left;
            self.cut = Some(if all { "they have more than 256 MiB" } else { "a file has more than is read of one" });
            bytes.truncate(usize::try_from(most).ok()?);
        }
        self.left -= bytes.len() as u64;
        let is_text = !bytes.iter().take(8 << 10).any(|byte| *byte == 0);
        is_text.then(|| String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Opens a file, but no link and nothing that could wait for another process.
fn open(path: &Path) -> Option<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let file = OpenOptions::new().read(true).custom_flags(i32::try_from(flags).ok()?).open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}
