//! Writes the JSON of a response once, into one growing buffer.
//!
//! When a non-null value fails, the text is truncated to the start of the nearest nullable value and `null` is written
//! there. Null propagation costs nothing until it happens.

use async_graphql::{PathSegment, ServerError};

use super::request_error::request_error;
use crate::budget::Budget;
use crate::error::Code;

/// The error of a value that must become null.
pub type Bubble = Box<ServerError>;

/// One step of a response path, borrowed from the plan.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// The response while it is written: text, errors, and the current path.
#[derive(Debug)]
pub struct Writer<'a> {
    pub(super) text: Vec<u8>,
    pub(super) errors: Vec<ServerError>,
    pub(super) path: Vec<Step<'a>>,
    /// The maximum length of the text in bytes, and whether it was exceeded.
    most: usize,
    is_full: bool,
    /// The budget, and the length of the text at which it is checked next.
    budget: Option<&'a Budget>,
    check_at: usize,
    /// The number of errors beyond [`MOST_ERRORS`].
    more_errors: usize,
}

/// The bytes of text after which the budget is checked again. Most values are copied; some columns are computed.
const CHECK: usize = 4 << 10;

/// The most errors in one response. Usually they are alike: one field that fails for each row.
pub const MOST_ERRORS: usize = 100;

/// For each byte: 0 if it needs no escape in a JSON string, else the letter of its escape (`u` for `\u00XX`).
static ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = b'u';
        byte += 1;
    }
    table[0x08] = b'b';
    table[0x09] = b't';
    table[0x0a] = b'n';
    table[0x0c] = b'f';
    table[0x0d] = b'r';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table
};

impl<'a> Writer<'a> {
    pub(super) fn new(capacity: usize) -> Self {
        let (text, path) = (Vec::with_capacity(capacity), Vec::with_capacity(16));
        let (errors, most) = (Vec::new(), usize::MAX);
        Self { text, errors, path, most, is_full: false, budget: None, check_at: CHECK, more_errors: 0 }
    }

    /// Sets the budget, and with it the maximum length of the text. Short values (names, numbers) are not checked and
    /// may exceed it slightly.
    pub(super) fn limit(&mut self, budget: &'a Budget) {
        self.most = usize::try_from(budget.limits().answer).unwrap_or(usize::MAX);
        self.budget = Some(budget);
    }

    /// Writes without checking the budget. The length of the text stays limited.
    pub(super) fn unmetered<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> T {
        let budget = self.budget.take();
        let written = write(self);
        self.budget = budget;
        written
    }

    /// Whether there is room and budget for more text. If not, the text is discarded.
    #[inline]
    pub(super) fn goes_on(&mut self) -> bool {
        if self.text.len() >= self.check_at {
            self.check_at = self.text.len() + CHECK;
            self.is_full |= self.budget.is_some_and(|budget| budget.check().is_err());
        }
        !self.is_full()
    }

    /// Whether the text has exceeded its maximum length. If so, it is discarded.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.is_full || self.text.len() > self.most
    }

    /// Adds an error unless the maximum is reached.
    fn add_error(&mut self, error: ServerError) {
        if self.errors.len() < MOST_ERRORS { self.errors.push(error) } else { self.more_errors += 1 }
    }

    /// Returns the text and the errors. A last error says how many were left out.
    pub(super) fn finish(mut self) -> (Vec<u8>, Vec<ServerError>) {
        if self.more_errors > 0 {
            let message = format!("{} more errors are not shown: a response lists {MOST_ERRORS}.", self.more_errors);
            self.errors.push(request_error(message, Vec::new(), Code::ErrorsOmitted));
        }
        (self.text, self.errors)
    }

    /// Appends text that is already JSON.
    #[inline]
    pub fn raw(&mut self, json: &str) {
        self.text.extend_from_slice(json.as_bytes());
    }

    /// The text so far, for code that appends JSON itself.
    #[inline]
    pub fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Writes `null`.
    #[inline]
    pub fn null(&mut self) {
        self.raw("null");
    }

    /// Writes a string with its quotes.
    #[inline]
    pub fn string(&mut self, value: &str) {
        if value.len() > self.most.saturating_sub(self.text.len()) {
            self.is_full = true;
            return;
        }
        self.text.reserve(value.len() + 2);
        self.text.push(b'"');
        self.escaped(value);
        self.text.push(b'"');
    }

    /// Writes the contents of a string, escaped.
    pub fn escaped(&mut self, value: &str) {
        let bytes = value.as_bytes();
        // Branch-free, so that the compiler can vectorise it.
        let escapes = |found, byte: &u8| found | (*byte < 0x20) | (*byte == b'"') | (*byte == b'\\');
        if !bytes.iter().fold(false, escapes) {
            self.text.extend_from_slice(bytes);
            return;
        }
        let mut start = 0;
        for (i, &byte) in bytes.iter().enumerate() {
            let escape = ESCAPES[byte as usize];
            if escape == 0 {
                continue;
            }
            self.text.extend_from_slice(&bytes[start..i]);
            start = i + 1;
            if escape == b'u' {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                let digits = [HEX[(byte >> 4) as usize], HEX[(byte & 15) as usize]];
                self.text.extend_from_slice(&[b'\\', b'u', b'0', b'0', digits[0], digits[1]]);
            } else {
                self.text.extend_from_slice(&[b'\\', escape]);
            }
        }
        self.text.extend_from_slice(&bytes[start..]);
    }

    /// Writes an integer.
    #[inline]
    pub fn integer(&mut self, value: impl itoa::Integer) {
        self.raw(itoa::Buffer::new().format(value));
    }

    /// The current path, as it appears in an error.
    pub(super) fn path(&self) -> Vec<PathSegment> {
        self.path
            .iter()
            .map(|step| match step {
                Step::Key(key) => PathSegment::Field((*key).to_owned()),
                Step::Index(index) => PathSegment::Index(*index),
            })
            .collect()
    }

    /// Writes a list and tracks each item's index in the path.
    pub(super) fn list<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(T, &mut Self) -> Result<(), Bubble>,
    ) -> Result<(), Bubble> {
        self.raw("[");
        for (i, item) in items.into_iter().enumerate() {
            if i > 0 {
                self.raw(",");
            }
            self.path.push(Step::Index(i));
            write(item, self)?;
            self.path.pop();
        }
        self.raw("]");
        Ok(())
    }

    /// Writes a nullable value. When `write` fails, writes `null` instead and records the error.
    pub(super) fn nullable(&mut self, write: impl FnOnce(&mut Self) -> Result<(), Bubble>) {
        let (length, depth) = (self.text.len(), self.path.len());
        if let Err(error) = write(self) {
            self.text.truncate(length);
            self.path.truncate(depth);
            self.null();
            self.add_error(*error);
        }
    }
}

/// A value without fields, as JSON.
pub trait Scalar: Send + Sync {
    /// Writes the value.
    fn write(&self, out: &mut Writer<'_>);
}

/// Writes the value of a column.
#[inline]
pub fn put(value: impl Scalar, out: &mut Writer<'_>) {
    value.write(out);
}

impl Scalar for str {
    #[inline]
    fn write(&self, out: &mut Writer<'_>) {
        out.string(self);
    }
}

impl Scalar for String {
    #[inline]
    fn write(&self, out: &mut Writer<'_>) {
        out.string(self);
    }
}

impl Scalar for i32 {
    #[inline]
    fn write(&self, out: &mut Writer<'_>) {
        out.integer(*self);
    }
}

impl Scalar for f64 {
    /// Writes the shortest text that parses to the same number. Whole numbers have no fraction, as in JavaScript. NaN
    /// and infinities become null.
    fn write(&self, out: &mut Writer<'_>) {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if !self.is_finite() {
            out.null();
        } else if self.fract() == 0.0 && self.abs() < EXACT {
            out.integer(*self as i64);
        } else {
            out.raw(&serde_json::Number::from_f64(*self).map_or_else(|| "null".to_owned(), |n| n.to_string()));
        }
    }
}

impl Scalar for bool {
    #[inline]
    fn write(&self, out: &mut Writer<'_>) {
        out.raw(if *self { "true" } else { "false" });
    }
}

impl<T: Scalar + ?Sized> Scalar for &T {
    #[inline]
    fn write(&self, out: &mut Writer<'_>) {
        (**self).write(out);
    }
}

impl<T: Scalar> Scalar for Option<T> {
    #[inline]
    fn write(&self, out: &mut Writer<'_>) {
        match self {
            Some(value) => value.write(out),
            None => out.null(),
        }
    }
}

impl<T: Scalar> Scalar for Vec<T> {
    fn write(&self, out: &mut Writer<'_>) {
        out.raw("[");
        for (i, value) in self.iter().enumerate() {
            if i > 0 {
                out.raw(",");
            }
            value.write(out);
        }
        out.raw("]");
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::budget::{Excess, Limits};

    #[test]
    fn the_budget_is_checked_while_text_is_written() {
        let budget = Budget::new(Limits::NONE, Instant::now(), false, Duration::ZERO);
        let mut out = Writer::new(0);
        out.limit(&budget);
        assert!(out.goes_on());
        out.string(&"x".repeat(CHECK));
        assert!(out.unmetered(Writer::goes_on));
        out.string(&"x".repeat(CHECK));
        assert!(!out.goes_on() && !out.goes_on());
        assert_eq!(budget.exceeded(), Some(Excess::Time));
    }
}
