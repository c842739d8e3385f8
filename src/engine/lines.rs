//! Where something stands in a request's text: lines and columns as clients count them.
//!
//! A line ends with LF, CR, or both; columns count UTF-16 units, so that an editor, and every client written in
//! JavaScript, points at the same place.

use apollo_compiler::parser::SourceSpan;
use async_graphql::Pos;

/// The places of one text. Asking is cheap: the text is read once.
#[derive(Debug)]
pub(super) struct Lines {
    /// The byte at which each line begins.
    starts: Vec<usize>,
    /// The byte after each character that takes more bytes than UTF-16 units, and how many more there are until then.
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

    /// The places that an error carries: where something begins, if that is known.
    pub(super) fn of(&self, span: Option<SourceSpan>) -> Vec<Pos> {
        span.map(|span| self.at(span.offset())).into_iter().collect()
    }

    /// The line and column of a byte, both counted from one.
    pub(super) fn at(&self, byte: usize) -> Pos {
        let line = self.starts.partition_point(|start| *start <= byte);
        let start = self.starts[line - 1];
        Pos { line, column: byte - start - (self.excess(byte) - self.excess(start)) + 1 }
    }

    /// How many bytes it takes.
    pub(super) fn weight(&self) -> u64 {
        (size_of_val(&*self.starts) + size_of_val(&*self.excess)) as u64
    }

    /// By how much the bytes before this one outnumber the UTF-16 units.
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
