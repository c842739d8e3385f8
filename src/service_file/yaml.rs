//! A YAML tree in which every value has its line and column.
//!
//! Deserialising into structs would stop at the first mistake, but all mistakes are reported. [`read`](super::read)
//! interprets the tree.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use serde_saphyr::options::DuplicateKeyPolicy;
use serde_saphyr::{Location, Spanned};

/// A line and a column, both from 1, in characters. Line 0 means the whole file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot {
    pub(super) line: u64,
    pub(super) column: u64,
}

impl From<Location> for Spot {
    fn from(location: Location) -> Self {
        Self { line: location.line(), column: location.column() }
    }
}

/// A value and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct At<T> {
    pub(super) value: T,
    pub(super) spot: Spot,
}

impl<T> At<T> {
    /// Another value at the same location.
    pub(super) fn with<U>(&self, value: U) -> At<U> {
        At { value, spot: self.spot }
    }
}

/// A YAML value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Null,
    Flag(bool),
    Number(Number),
    Text(String),
    List(Vec<At<Node>>),
    /// Keeps repeated keys.
    Mapping(Vec<(At<Node>, At<Node>)>),
}

impl Node {
    /// The name of this kind of value in messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Flag(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Mapping(_) => "a mapping",
        }
    }
}

/// Parses the documents of a text. Stops after a syntax error: what follows cannot be split into documents.
pub(super) fn documents(text: &str) -> Vec<Result<At<Node>, At<String>>> {
    let options = serde_saphyr::options! {
        // Keep all entries, so that a repeated key can be reported.
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        // As in YAML 1.2, `no` and `on` are strings.
        strict_booleans: true,
        with_snippet: false,
    };
    let mut bytes = text.as_bytes();
    let documents = serde_saphyr::read_with_options::<_, At<Node>>(&mut bytes, options);
    documents.map(|document| document.map_err(|error| complaint(&error))).collect()
}

fn complaint(error: &serde_saphyr::Error) -> At<String> {
    let spot = error.location().map(Spot::from).unwrap_or_default();
    let message = error.without_snippet().to_string();
    // The caller adds the location.
    let message = message.lines().next().unwrap_or_default();
    let message = message.split(" at line ").next().unwrap_or_default();
    At { value: format!("the YAML cannot be read: {}", without_content(message)), spot }
}

/// Removes the text that a message quotes, except single characters. After a syntax error it is unknown what the file
/// is, and whether it holds secrets.
fn without_content(message: &str) -> String {
    let Some(start) = message.find(['\'', '"', '`']) else { return message.to_owned() };
    let (before, quoted) = message.split_at(start);
    let mut letters = quoted.chars();
    let (mark, inner, end) = (letters.next(), letters.next(), letters.next());
    let mark = mark.unwrap_or_default();
    let kept = match (inner, end) {
        (Some(inner), Some(end)) if end == mark => 2 * mark.len_utf8() + inner.len_utf8(),
        // An apostrophe.
        _ if quoted.matches(mark).count() == 1 => mark.len_utf8(),
        // Up to the last quotation mark of its kind, because the quoted text may contain some.
        _ => {
            let rest = quoted.rsplit_once(mark).map_or("", |(_, rest)| rest);
            return format!("{before}{mark}…{mark}{rest}");
        }
    };
    let (kept, rest) = quoted.split_at(kept);
    format!("{before}{kept}{}", without_content(rest))
}

impl<'de> Deserialize<'de> for At<Node> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned { value, referenced, .. } = Spanned::<Node>::deserialize(deserializer)?;
        Ok(Self { value, spot: referenced.into() })
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Tree)
    }
}

struct Tree;

impl<'de> Visitor<'de> for Tree {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Flag(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Node, E> {
        Number::from_f64(value).map(Node::Number).ok_or_else(|| E::custom("a number must be finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Node, E> {
        Ok(Node::Text(value))
    }

    fn visit_bytes<E: serde::de::Error>(self, _: &[u8]) -> Result<Node, E> {
        Err(E::custom("binary values are not supported"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut mapping = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            mapping.push(entry);
        }
        Ok(Node::Mapping(mapping))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_syntax_error_quotes_only_single_characters() {
        for (message, shown) in [
            ("unclosed bracket '{'", "unclosed bracket '{'"),
            ("expected ',' or ']', found 'geheim'", "expected ',' or ']', found '…'"),
            ("invalid value: string \"ge\\\"heim\", expected a value", "invalid value: string \"…\", expected a value"),
            ("the tag wasn't known", "the tag wasn't known"),
            ("unsupported tag `!geheim`", "unsupported tag `…`"),
        ] {
            assert_eq!(without_content(message), shown);
        }
    }
}
