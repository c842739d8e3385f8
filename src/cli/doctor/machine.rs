//! Checks the machine: free disk space, and how many files a process may open.

use std::fs;
use std::path::Path;

use rustix::fs::statvfs;
use rustix::process::{Resource, getrlimit};

use super::Finding;
use crate::db;

/// The minimum free space, in bytes; less is a problem. SQLite's write-ahead log alone may need as much.
const LEAST: u64 = 64 << 20;

/// The comfortable free space, in bytes; less deserves advice.
const COMFORTABLE: u64 = 1 << 30;

/// The number of files that a server opens besides its connections.
const OTHER_FILES: u64 = 64;

/// Checks that the process may open a socket for each connection that the settings allow.
pub(super) fn connections(most: u32) -> Finding {
    let wanted = u64::from(most) + OTHER_FILES;
    match getrlimit(Resource::Nofile).current {
        Some(limit) if limit < wanted => Finding::advice(
            "files",
            format!(
                "this shell may open {limit} files, and --max-connections {most} needs {wanted}; raise the limit of the \
                 server (LimitNOFILE= of its unit, ulimit -n), or lower --max-connections"
            ),
        ),
        _ => Finding::fine("files", format!("{wanted} files can be opened")),
    }
}

/// Checks the free space where the database file is. `None` for a database server.
pub(super) fn disk(url: &str) -> Option<Finding> {
    let file = db::file(url)?;
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let Ok(disk) = statvfs(folder) else {
        let says = format!("the folder {} does not exist; make it, or change --database-url", folder.display());
        return Some(Finding::problem("disk", says));
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let size = fs::metadata(&file).map_or(0, |file| file.len());
    Some(judge(free, size, folder))
}

fn judge(free: u64, size: u64, folder: &Path) -> Finding {
    let (place, left, used) = (folder.display(), megabytes(free), megabytes(size));
    if free < LEAST {
        let says = format!("{place} has {left} left; make room: writes fail once the disk is full");
        Finding::problem("disk", says)
    } else if free < COMFORTABLE.max(size.saturating_mul(2)) {
        let says =
            format!("{place} has {left} left for a database of {used}; a backup or an upgrade may need twice that");
        Finding::advice("disk", says)
    } else {
        Finding::fine("disk", format!("{place} has {left} left for a database of {used}"))
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes / 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_must_have_room_for_a_copy() {
        let level = |free, size| judge(free, size, Path::new("/x")).to_string().split(' ').next().map(str::to_owned);
        assert_eq!(level(LEAST - 1, 0).as_deref(), Some("PROBLEM"));
        assert_eq!(level(COMFORTABLE - 1, 0).as_deref(), Some("advice"));
        assert_eq!(level(COMFORTABLE, 0).as_deref(), Some("ok"));
        assert_eq!(level(COMFORTABLE, COMFORTABLE).as_deref(), Some("advice"));
    }
}
