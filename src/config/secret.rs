//! Secrets, which are never shown.

use std::convert::Infallible;
use std::fmt;
use std::path::PathBuf;

use super::trimmed::read_file;

/// A secret text. It is never shown.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Parses a secret, which may be any text.
    pub(super) fn parse(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }

    /// The secret that was given itself, or is in a file. `None` without either, and for a blank one.
    ///
    /// # Errors
    /// Why the file, which `setting` names, cannot be read, in one sentence. `what` is what it should hold.
    pub(super) fn given(
        what: &str,
        secret: Option<&Self>,
        (file, setting): (Option<&PathBuf>, &str),
    ) -> Result<Option<Self>, String> {
        let secret = match file {
            Some(file) => Some(Self(read_file(what, setting, file)?)),
            None => secret.cloned(),
        };
        Ok(secret.filter(|secret| !secret.0.is_empty()))
    }

    /// The text itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}
