//! The secrets that sessions and sign-in links are: 256 random bits, of which only the hash is kept.

use std::fmt;

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// 32 random bytes as whoever was given them holds them: 43 characters of base64url.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

const LENGTH: usize = 43;

impl Key {
    /// A new one.
    pub fn new() -> Result<Self> {
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(Error::internal)?;
        Ok(Self(BASE64URL_NOPAD.encode(&random)))
    }

    /// Reads one, when its form is right.
    pub fn read(text: &str) -> Option<Self> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        (text.len() == LENGTH && text.bytes().all(fits)).then(|| Self(text.to_owned()))
    }

    /// What is kept of it.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(&self.0).into()
    }

    /// The secret, to give it to whom it is for.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}
