//! Reads the deployed commit from git. A pipeline may have neither git nor a checkout; then everything is `None`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commit {
    /// The hash.
    pub sha: Option<String>,
    /// The message.
    pub message: Option<String>,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// The commit date, in RFC 3339.
    pub date: Option<String>,
    /// The committer's name.
    pub committer_name: Option<String>,
    /// The committer's address.
    pub committer_email: Option<String>,
    /// The author's name.
    pub author_name: Option<String>,
    /// The author's address.
    pub author_email: Option<String>,
    /// The author date, in RFC 3339.
    pub authoring_date: Option<String>,
}

/// Reads the commit with this hash, or the one checked out in the working folder.
pub fn commit(sha: Option<&str>) -> Commit {
    let format = "--format=%H%x00%cI%x00%cn%x00%ce%x00%aI%x00%an%x00%ae%x00%B";
    let log = ["log", "-1", "--no-show-signature", "--encoding=UTF-8", format, "--end-of-options"];
    let arguments: Vec<&str> = log.into_iter().chain([sha.unwrap_or("HEAD")]).collect();
    let Some(said) = git(Path::new("."), &arguments) else { return Commit::default() };
    let mut parts = said.splitn(8, '\0').map(|part| Some(part.trim().to_owned()).filter(|part| !part.is_empty()));
    let mut next = || parts.next().flatten();
    Commit {
        sha: next(),
        date: next(),
        committer_name: next(),
        committer_email: next(),
        authoring_date: next(),
        author_name: next(),
        author_email: next(),
        message: next(),
        branch: git(Path::new("."), &["branch", "--show-current"]).map(|branch| branch.trim().to_owned()),
    }
}

/// A checkout.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checkout {
    /// Its folder, without symbolic links.
    pub root: Option<PathBuf>,
    /// The URL of the remote `origin`. It may hold a password.
    pub remote: Option<String>,
    /// The hash of the commit.
    pub commit: Option<String>,
}

/// Reads the checkout that the working folder is in.
pub fn checkout() -> Checkout {
    checkout_of(Path::new("."))
}

/// Reads the checkout that a folder is in.
pub fn checkout_of(folder: &Path) -> Checkout {
    let line = |arguments: &[&str]| {
        let line = git(folder, arguments)?.trim().to_owned();
        Some(line).filter(|line| !line.is_empty())
    };
    Checkout {
        root: line(&["rev-parse", "--show-toplevel"]).and_then(|root| PathBuf::from(root).canonicalize().ok()),
        remote: line(&["config", "--get", "remote.origin.url"]),
        commit: line(&["rev-parse", "--verify", "--quiet", "HEAD"]),
    }
}

/// Returns git's output in a folder, if git exists and succeeds.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let done = Command::new("git")
        .current_dir(folder)
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    done.status.success().then(|| String::from_utf8_lossy(&done.stdout).into_owned())
}
