//! The secrets of sessions, sign-in links and feeds: 256 random bits. Only the hash is stored.

use std::fmt;

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// A secret as its holder has it: 32 random bytes as 43 characters of base64url.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

const LENGTH: usize = 43;

impl Key {
    /// Generates a key.
    pub fn new() -> Result<Self> {
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(Error::internal)?;
        Ok(Self(BASE64URL_NOPAD.encode(&random)))
    }

    /// Parses a key. Checks its form only.
    pub fn read(text: &str) -> Option<Self> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        (text.len() == LENGTH && text.bytes().all(fits)).then(|| Self(text.to_owned()))
    }

    /// The SHA-256 hash of the text. Only the hash is stored.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(&self.0).into()
    }

    /// The secret itself, to hand to its holder.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}
