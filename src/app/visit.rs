//! A request as the pages see it: parsed, and without anything of HTTP.

use std::net::IpAddr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::openid::attempt::Attempt;
use crate::entity::{session, user};

/// A request for a page.
#[derive(Debug, Clone)]
pub struct Visit {
    /// What is to be done.
    pub method: Method,
    /// The parts of the path between its slashes, decoded; one empty part for `/`.
    pub path: Vec<String>,
    /// What stands behind the `?`.
    pub query: Fields,
    /// What a form says.
    pub form: Fields,
    /// Who is signed in.
    pub session: Option<Session>,
    /// What the browser has begun at the OpenID provider.
    pub attempt: Option<Attempt>,
    /// Where it comes from: an address, or the first of an IPv6 network of 64 bits.
    pub client: IpAddr,
    /// What the browser calls itself.
    pub user_agent: Option<String>,
    /// What names the request in answers and in the log.
    pub request_id: String,
}

/// What a page is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Show itself.
    Get,
    /// Take a form.
    Post,
}

/// A session and whose it is.
#[derive(Debug, Clone)]
pub struct Session {
    /// The session.
    pub row: session::Model,
    /// The user.
    pub user: user::Model,
}

/// Named texts, in the order in which they came.
#[derive(Debug, Clone, Default)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads `a=1&b=2`.
    pub fn parse(text: &[u8]) -> Self {
        Self(form_urlencoded::parse(text).map(|(name, text)| (name.into_owned(), printable(&text))).collect())
    }

    /// One field alone.
    pub fn one(name: &str, text: &str) -> Self {
        Self(vec![(name.to_owned(), text.to_owned())])
    }

    /// The same with one more; instead of what it says of this name already.
    pub fn and(mut self, name: &str, text: &str) -> Self {
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.to_owned(), text.to_owned()));
        self
    }

    /// The first text of this name, without the blanks around it; empty when there is none.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, text)| text.trim())
    }

    /// The same, where it is not empty.
    pub fn given(&self, name: &str) -> Option<&str> {
        Some(self.get(name)).filter(|text| !text.is_empty())
    }

    /// Whether anything is said at all.
    pub fn any(&self) -> bool {
        self.0.iter().any(|(_, text)| !text.trim().is_empty())
    }

    /// The fields as they stand behind a `?`, the empty ones left out.
    pub fn query(&self) -> String {
        let given = self.0.iter().filter(|(_, text)| !text.is_empty());
        form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish()
    }

    /// The same, `name` with another text.
    pub fn with(&self, name: &str, text: &str) -> String {
        let others = self.0.iter().filter(|(known, _)| known != name).cloned();
        Self(others.chain([(name.to_owned(), text.to_owned())]).collect()).query()
    }
}

/// The parts of a path, decoded. A part that is no text leads nowhere.
pub fn parts(path: &str) -> Vec<String> {
    let path = path.strip_prefix('/').unwrap_or(path);
    path.split('/').map(|part| printable(&percent_decode_str(part).decode_utf8_lossy())).collect()
}

/// A text without the one character that no database text may hold.
fn printable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// What may stand in one part of a path as it is.
const PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The path of `parts`, each encoded.
pub fn path<const N: usize>(parts: [&str; N]) -> String {
    let encode = |part: &&str| match *part {
        // A browser would take them for steps up and on the spot.
        "." | ".." => part.replace('.', "%252E"),
        part => utf8_percent_encode(part, PART).to_string(),
    };
    parts.iter().fold(String::new(), |path, part| path + "/" + &encode(part))
}
