//! Converts byte offsets of a request's text to lines and columns.
//!
//! A line ends with LF, CR, or both. Columns count UTF-16 units, like editors and JavaScript clients.

use apollo_compiler::parser::SourceSpan;
use async_graphql::Pos;

/// The line table of a text. Built in one pass; each lookup is a binary search.
#[derive(Debug)]
pub(super) struct Lines {
    /// The byte offset of each line.
    starts: Vec<usize>,
    /// For each character with more bytes than UTF-16 units: the offset after it, and the accumulated surplus up to
    /// there.
    excess: Vec<(usize, usize)>,
}

impl Lines {
    pub(super) fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let ends_line = |&(at, byte): &(usize, &u8)| match byte {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        let ends = bytes.iter().enumerate().filter(ends_line).map(|(at, _)| at + 1);
        let starts = [0].into_iter().chain(ends).collect();
        let mut more = 0;
        let wide = text.char_indices().filter(|(_, character)| !character.is_ascii());
        let excess = wide.map(|(at, character)| {
            more += character.len_utf8() - character.len_utf16();
            (at + character.len_utf8(), more)
        });
        Self { starts, excess: excess.collect() }
    }

    /// The locations of an error: the start of the span, if there is one.
    pub(super) fn locations(&self, span: Option<SourceSpan>) -> Vec<Pos> {
        span.map(|span| self.at(span.offset())).into_iter().collect()
    }

    /// The line and column of a byte offset, both starting at 1.
    pub(super) fn at(&self, byte: usize) -> Pos {
        let line = self.starts.partition_point(|start| *start <= byte);
        let start = self.starts[line - 1];
        Pos { line, column: byte - start - (self.excess(byte) - self.excess(start)) + 1 }
    }

    /// The memory that the table takes, in bytes.
    pub(super) fn weight(&self) -> u64 {
        (size_of_val(&*self.starts) + size_of_val(&*self.excess)) as u64
    }

    /// How many more bytes than UTF-16 units precede this offset.
    fn excess(&self, byte: usize) -> usize {
        let before = self.excess.partition_point(|(end, _)| *end <= byte);
        before.checked_sub(1).map_or(0, |last| self.excess[last].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_those_of_an_editor() {
        let text = "a\tb\r\nc\rd\n\né🐦x\u{2028}y";
        let lines = Lines::new(text);
        for (what, line, column) in
            [("a", 1, 1), ("b", 1, 3), ("c", 2, 1), ("d", 3, 1), ("é", 5, 1), ("x", 5, 4), ("y", 5, 6)]
        {
            let byte = text.find(what).unwrap_or_default();
            assert_eq!(lines.at(byte), Pos { line, column }, "{what}");
        }
    }
}
