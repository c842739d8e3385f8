//! A sign-in that was begun at the provider and not ended yet. Its one secret is in a cookie of the browser, and nowhere else;
//! what the provider is given is made of it, so that nobody who sees one of these has the others.

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest, Sha256};

use crate::app;
use crate::entity::key::Key;
use crate::error::Result;

/// A sign-in that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    key: Key,
    /// The page to come back to: a path of ours.
    next: Option<String>,
}

/// The longest path to come back to, in bytes.
const LONGEST_NEXT: usize = 1_000;

impl Attempt {
    /// A new one, that is to end on the page `next`.
    pub fn new(next: Option<&str>) -> Result<Self> {
        Ok(Self { key: Key::new()?, next: next.and_then(inside).map(str::to_owned) })
    }

    /// Reads one as a cookie holds it.
    pub fn read(text: &str) -> Option<Self> {
        let (key, next) = text.split_once('.').unwrap_or((text, ""));
        let next = BASE64URL_NOPAD.decode(next.as_bytes()).ok().and_then(|next| String::from_utf8(next).ok());
        let next = next.as_deref().and_then(inside).map(str::to_owned);
        Some(Self { key: Key::read(key)?, next })
    }

    /// The same, to be kept in a cookie.
    pub fn write(&self) -> String {
        let next = BASE64URL_NOPAD.encode(self.next.as_deref().unwrap_or_default().as_bytes());
        format!("{}.{next}", self.key.reveal())
    }

    /// What the provider gives back to the browser: whoever brings it has begun here.
    pub fn state(&self) -> String {
        self.derive("state")
    }

    /// What the provider writes into the ID token: it was made for this sign-in.
    pub fn nonce(&self) -> String {
        self.derive("nonce")
    }

    /// What the provider is shown with the code, and knew only the hash of: the code is used by whom it was made for.
    pub fn verifier(&self) -> String {
        self.derive("verifier")
    }

    /// The page to come back to.
    pub fn next(&self) -> Option<&str> {
        self.next.as_deref()
    }

    fn derive(&self, what: &str) -> String {
        BASE64URL_NOPAD
            .encode(&Sha256::new().chain_update(what).chain_update(".").chain_update(self.key.reveal()).finalize())
    }
}

/// A path with its query, where it leads to one of the pages behind the sign-in, and no browser could read it otherwise.
pub fn inside(next: &str) -> Option<&str> {
    let is_plain = next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\' && byte != b'#');
    let path = next.split('?').next().unwrap_or_default();
    let leads_on = !["/", "/sign-in", "/sign-out", "/assets"]
        .iter()
        .any(|own| path == *own || path.starts_with(&format!("{own}/")));
    (next.len() <= LONGEST_NEXT && is_plain && leads_on && app::owns(path)).then_some(next)
}
