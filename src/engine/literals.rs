//! Lets texts that differ only in their literals share a cache entry.
//!
//! A client that writes values into its queries, instead of sending variables, sends a new text each time. The strings
//! and integers are cut out of the text, and the rest is the cache key. Their values can affect validity in two ways
//! only. Coercion can fail: it runs again for each request. Two values can be equal: only literals that occur once are
//! cut out.

use std::ops::Range;

use apollo_compiler::Node;
use apollo_compiler::ast;
use async_graphql::Value;

use super::lexical::while_is;

/// Overwrites each byte of a literal. The text keeps its length, so that byte offsets stay valid. No text contains this
/// byte, because it never occurs in UTF-8.
const BLANK: u8 = 0xff;

/// The most literals that are cut out. Each is compared with every other, so the work grows with their square.
const MOST: usize = 64;

/// The literals of a text, with their byte offsets.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Literals(Vec<(usize, Value)>);

impl Literals {
    /// Returns the literal at the position of `literal`, which belongs to another document of the same shape.
    pub(super) fn in_place_of(&self, literal: &Node<ast::Value>) -> Option<&Value> {
        if self.0.is_empty() {
            return None;
        }
        let at = literal.location()?.offset();
        let place = self.0.binary_search_by_key(&at, |(at, _)| *at).ok()?;
        Some(&self.0[place].1)
    }

    /// Estimates the memory that the literals take, in bytes. Their strings are part of the text, which is counted
    /// elsewhere.
    pub(super) fn weight(&self) -> u64 {
        (self.0.len() * size_of::<(usize, Value)>()) as u64
    }

    /// Whether a value is, or contains, one of these literals.
    pub(super) fn are_in(&self, literal: &Node<ast::Value>) -> bool {
        match &**literal {
            ast::Value::List(items) => items.iter().any(|item| self.are_in(item)),
            ast::Value::Object(fields) => fields.iter().any(|(_, value)| self.are_in(value)),
            _ => self.in_place_of(literal).is_some(),
        }
    }
}

/// Splits a text into its cache key and its literals.
///
/// Takes non-empty ASCII strings without escapes, and integers of up to nine digits. Only distinct literals are taken:
/// a field may be selected twice only if its arguments are equal, so equal literals must stay equal. A text with any
/// other form of string is returned unchanged.
pub(super) fn taken_out_of(text: &str) -> (Vec<u8>, Literals) {
    let mut rest = text.as_bytes().to_vec();
    let mut literals = Vec::new();
    let places = places(text).filter(|places| places.len() <= MOST).unwrap_or_default();
    for place in &places {
        let literal = &text[place.clone()];
        if places.iter().filter(|other| text[(*other).clone()] == *literal).count() > 1 {
            continue;
        }
        let value = match literal.strip_prefix('"').and_then(|literal| literal.strip_suffix('"')) {
            Some(inside) => Value::String(inside.to_owned()),
            None => match literal.parse::<i32>() {
                Ok(number) => Value::Number(number.into()),
                Err(_) => continue,
            },
        };
        // A string keeps its quotes, so that the key tells it from a number.
        let quote = usize::from(literal.starts_with('"'));
        rest[place.start + quote..place.end - quote].fill(BLANK);
        literals.push((place.start, value));
    }
    (rest, Literals(literals))
}

/// Returns the ranges of the literals that can be taken: those in the arguments of fields. Returns `None` if the text
/// has any other form of string.
fn places(text: &str) -> Option<Vec<Range<usize>>> {
    let bytes = text.as_bytes();
    let mut places = Vec::new();
    let (mut at, mut braces) = (0, 0_usize);
    // `Some(true)` inside arguments, `Some(false)` inside variable declarations.
    let mut arguments = None;
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        let (length, can_be_taken) = match byte {
            b'"' => {
                let inside = while_is(&rest[1..], |byte| !matches!(byte, b'"' | b'\\' | b'\n' | b'\r'));
                if rest.get(inside + 1) != Some(&b'"') || rest.starts_with(b"\"\"\"") {
                    return None;
                }
                // Only ASCII strings, so that columns after them stay the same.
                (inside + 2, inside > 0 && rest[..=inside].is_ascii())
            }
            b'-' | b'0'..=b'9' => {
                let length = while_is(rest, |byte| b"+-._".contains(&byte) || byte.is_ascii_alphanumeric());
                let digits = rest[..length].strip_prefix(b"-").unwrap_or(&rest[..length]);
                let is_whole = digits.iter().all(u8::is_ascii_digit) && (1..=9).contains(&digits.len());
                (length, is_whole && (digits[0] != b'0' || digits.len() == 1))
            }
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                (while_is(rest, |byte| byte == b'_' || byte.is_ascii_alphanumeric()), false)
            }
            b'#' => (while_is(rest, |byte| !matches!(byte, b'\n' | b'\r')), false),
            _ => {
                match byte {
                    b'(' => arguments = Some(braces > 0),
                    b')' => arguments = None,
                    b'{' if arguments.is_none() => braces += 1,
                    b'}' if arguments.is_none() => braces = braces.saturating_sub(1),
                    _ => {}
                }
                (1, false)
            }
        };
        if can_be_taken && arguments == Some(true) {
            places.push(at..at + length);
        }
        at += length;
    }
    Some(places)
}
