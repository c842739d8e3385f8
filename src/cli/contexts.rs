//! Contexts: servers and tokens that `rollcall login` keeps in a file of the user's.
//!
//! Only its owner can read the file. A token is only ever sent to the server that it is kept with.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::console::say;
use crate::config;
use crate::entity::text::one_line;
use crate::new_file::{Existing, NewFile};

/// The maximum size of the file, in bytes.
const LONGEST: u64 = 1 << 20;

/// The contexts of a user.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Contexts {
    /// The name of the context that is used when no other is named.
    pub(super) current: Option<String>,
    /// By name.
    pub(super) contexts: BTreeMap<String, Context>,
}

/// A server and a token for it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Context {
    /// The server's URL, without a path.
    pub(super) server: String,
    /// A token of the server.
    pub(super) token: String,
}

impl Contexts {
    /// Reads the file. There are no contexts if it does not exist.
    ///
    /// # Errors
    /// The file cannot be read, in one sentence.
    pub(super) fn read() -> Result<Self, String> {
        let Some(path) = config::contexts_file() else { return Ok(Self::default()) };
        let unread = |why: &dyn std::fmt::Display| format!("the contexts in {} cannot be read: {why}", path.display());
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            file => file.map_err(|error| unread(&error))?,
        };
        if is_readable_by_others(&file) {
            say(&format!("others can read {}, which holds tokens: run chmod 600 on it", path.display()));
        }
        let mut text = String::new();
        file.take(LONGEST).read_to_string(&mut text).map_err(|error| unread(&error))?;
        serde_json::from_str(&text).map_err(|error| unread(&error))
    }

    /// Writes the file, which replaces the earlier one as a whole. Makes its folder.
    ///
    /// # Errors
    /// The file cannot be written, in one sentence.
    pub(super) fn write(&self) -> Result<PathBuf, String> {
        let path = config::contexts_file().ok_or("there is no folder for settings: set HOME, or ROLLCALL_CONTEXTS")?;
        let unwritten = |error: io::Error| format!("{} cannot be written: {error}", path.display());
        if let Some(folder) = path.parent().filter(|folder| *folder != Path::new("")) {
            fs::create_dir_all(folder).map_err(unwritten)?;
        }
        let file = NewFile::create(&path).map_err(unwritten)?;
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        file.as_file().write_all(text.as_bytes()).map_err(unwritten)?;
        file.finish(Existing::Replace).map_err(unwritten)?;
        Ok(path)
    }

    /// The context with this name, or the current one.
    ///
    /// # Errors
    /// There is none, in one sentence.
    pub(super) fn named(&self, name: Option<&str>) -> Result<Option<&Context>, String> {
        let Some(name) = name.or(self.current.as_deref()) else { return Ok(None) };
        self.contexts.get(name).map(Some).ok_or_else(|| self.unknown(name))
    }

    /// The sentence about a name that no context has.
    pub(super) fn unknown(&self, name: &str) -> String {
        let known: Vec<String> = self.contexts.keys().map(|name| one_line(name).to_string()).collect();
        let known =
            if known.is_empty() { "there is none".to_owned() } else { format!("there are {}", known.join(", ")) };
        format!("no context has the name {}; {known}", one_line(name))
    }
}

#[cfg(unix)]
fn is_readable_by_others(file: &File) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_readable_by_others(_: &File) -> bool {
    false
}
