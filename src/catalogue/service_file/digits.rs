//! How numbers are written in a file. YAML reads `007` and `1.10` as numbers where other catalogues mean texts.

use serde_saphyr::Location;

use super::yaml::{At, Node};

/// The text of a number in its file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Digits {
    /// The bytes of the file's text at which the number is written: until [`Self::find_in`] has the text.
    At(usize, usize),
    Text(Box<str>),
}

impl From<Location> for Digits {
    fn from(location: Location) -> Self {
        let span = location.span();
        let bytes = span.byte_offset().zip(span.byte_len());
        let place = bytes.and_then(|(start, length)| {
            let start = usize::try_from(start).ok()?;
            Some((start, start.checked_add(usize::try_from(length).ok()?)?))
        });
        let (start, end) = place.unwrap_or_default();
        Self::At(start, end)
    }
}

impl Digits {
    /// No text, so that the number itself is written.
    pub(crate) const NONE: Self = Self::At(0, 0);

    /// Takes the digits out of the text that the number was read from.
    pub(crate) fn find_in(&mut self, text: &str) {
        let Self::At(start, end) = *self else { return };
        let is_of_number = |letter: char| letter.is_ascii_alphanumeric() || "+-._".contains(letter);
        let digits = text.get(start..end).map(str::trim).filter(|digits| digits.chars().all(is_of_number));
        if let Some(digits) = digits.filter(|digits| !digits.is_empty()) {
            *self = Self::Text(digits.into());
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::At(..) => None,
            Self::Text(text) => Some(text),
        }
    }
}

impl At<Node> {
    /// Gives each number its text in the file.
    pub(crate) fn find_digits(&mut self, text: &str) {
        match &mut self.value {
            Node::Number(_, digits) => digits.find_in(text),
            Node::List(items) => items.iter_mut().for_each(|item| item.find_digits(text)),
            Node::Mapping(pairs) => pairs.iter_mut().for_each(|(key, value)| {
                key.find_digits(text);
                value.find_digits(text);
            }),
            Node::Null | Node::Flag(_) | Node::Text(_) => {}
        }
    }
}
