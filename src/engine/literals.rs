//! Texts that differ in literals alone are taken for one.
//!
//! Whoever writes values into the text of a query, and sends no variables, sends a new text each time. Whether such a text
//! is valid does not depend on the values of its strings and whole numbers, but for two things: whether an argument can be
//! read, which is seen when it is read, and whether two values are the same. So these literals are taken out of the text,
//! and what is known of one text holds for every other of which the same is left.

use std::ops::Range;

use apollo_compiler::Node;
use apollo_compiler::ast;
use async_graphql::Value;

use super::lexical::while_is;

/// Overwrites what is taken out, byte for byte, so that everything stays in its place. No text holds this byte.
const BLANK: u8 = 0xff;

/// More literals than this are left where they are: each is compared with each.
const MOST: usize = 64;

/// The literals that were taken out of a text, each with the byte at which it begins.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Literals(Vec<(usize, Value)>);

impl Literals {
    /// The one that stands where another text with the same rest has this one.
    pub(super) fn in_place_of(&self, literal: &Node<ast::Value>) -> Option<&Value> {
        if self.0.is_empty() {
            return None;
        }
        let at = literal.location()?.offset();
        let place = self.0.binary_search_by_key(&at, |(at, _)| *at).ok()?;
        Some(&self.0[place].1)
    }

    /// About how many bytes they take: they are parts of the text, each at its place.
    pub(super) fn weight(&self) -> u64 {
        (self.0.len() * size_of::<(usize, Value)>()) as u64
    }

    /// Whether a value is one of them, or holds one.
    pub(super) fn are_in(&self, literal: &Node<ast::Value>) -> bool {
        match &**literal {
            ast::Value::List(items) => items.iter().any(|item| self.are_in(item)),
            ast::Value::Object(fields) => fields.iter().any(|(_, value)| self.are_in(value)),
            _ => self.in_place_of(literal).is_some(),
        }
    }
}

/// Takes the literals out of a text, and answers what is left of it.
///
/// They are strings without escapes and whole numbers of up to nine digits, which each differ from all others: two that
/// are the same stay, because fields may be selected twice with the same arguments alone. A text with strings that
/// have several spellings is left as it is.
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
        // A string keeps its quotes, which tell it from a number.
        let quote = usize::from(literal.starts_with('"'));
        rest[place.start + quote..place.end - quote].fill(BLANK);
        literals.push((place.start, value));
    }
    (rest, Literals(literals))
}

/// Where there are literals of the kinds that can be taken out, in the arguments of fields; nothing when there are strings
/// of other kinds.
fn places(text: &str) -> Option<Vec<Range<usize>>> {
    let bytes = text.as_bytes();
    let mut places = Vec::new();
    let (mut at, mut braces) = (0, 0_usize);
    // Whether the parentheses that are open are those of arguments, and not of the declarations of variables.
    let mut arguments = None;
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        let (length, can_be_taken) = match byte {
            b'"' => {
                let inside = while_is(&rest[1..], |byte| !matches!(byte, b'"' | b'\\' | b'\n' | b'\r'));
                if rest.get(inside + 1) != Some(&b'"') || rest.starts_with(b"\"\"\"") {
                    return None;
                }
                // The column of what follows must stay the same.
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
