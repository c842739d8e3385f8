//! A sign-in in progress at the OpenID provider. Its one secret is stored only in the browser's cookie. The values for the
//! provider are derived from it, so that none of them reveals the others.

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest, Sha256};

use catalogue::entity::key::Key;
use catalogue::error::Result;

/// A sign-in in progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    key: Key,
    /// The path to return to, on this site.
    next: Option<String>,
}

/// The longest path to return to, in bytes.
const LONGEST_NEXT: usize = 1_000;

impl Attempt {
    /// Starts a sign-in that returns to the page `next`.
    pub fn new(next: Option<&str>) -> Result<Self> {
        Ok(Self { key: Key::new()?, next: next.and_then(inside).map(str::to_owned) })
    }

    /// Parses the value of the cookie.
    pub fn read(text: &str) -> Option<Self> {
        let (key, next) = text.split_once('.').unwrap_or((text, ""));
        let next = BASE64URL_NOPAD.decode(next.as_bytes()).ok().and_then(|next| String::from_utf8(next).ok());
        let next = next.as_deref().and_then(inside).map(str::to_owned);
        Some(Self { key: Key::read(key)?, next })
    }

    /// The value of the cookie.
    pub fn write(&self) -> String {
        let next = BASE64URL_NOPAD.encode(self.next.as_deref().unwrap_or_default().as_bytes());
        format!("{}.{next}", self.key.reveal())
    }

    /// The `state`, which the provider returns through the browser. Proves that this browser started the sign-in.
    pub fn state(&self) -> String {
        self.derive("state")
    }

    /// The `nonce`, which the provider copies into the ID token. Proves that the token belongs to this sign-in.
    pub fn nonce(&self) -> String {
        self.derive("nonce")
    }

    /// The PKCE verifier, sent with the code. The provider has seen only its hash until then. Proves that the code is
    /// used by the one who requested it.
    pub fn verifier(&self) -> String {
        self.derive("verifier")
    }

    /// The path to return to.
    pub fn next(&self) -> Option<&str> {
        self.next.as_deref()
    }

    fn derive(&self, what: &str) -> String {
        BASE64URL_NOPAD
            .encode(&Sha256::new().chain_update(what).chain_update(".").chain_update(self.key.reveal()).finalize())
    }
}

/// Returns `next` if it is a path to a page behind the sign-in, and unambiguous: no browser may read it as another
/// site.
pub fn inside(next: &str) -> Option<&str> {
    let is_plain = next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\' && byte != b'#');
    let path = next.split('?').next().unwrap_or_default();
    let leads_on = !["/", "/sign-in", "/sign-out", "/assets"]
        .iter()
        .any(|own| path == *own || path.starts_with(&format!("{own}/")));
    (next.len() <= LONGEST_NEXT && is_plain && leads_on && crate::owns(path)).then_some(next)
}
