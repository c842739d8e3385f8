//! What is wrong with an SDL, and how it is shown: place, sentence, the line with a caret, what to do.
//!
//! ```text
//! schema/schema.graphql:12:10: cannot find type `Tem`
//!   owner: Tem
//!          ^^^
//! help: did you mean `Team`?
//! ```

use std::{fmt, ops::Range};

use super::source::LineStarts;

/// Longer lines are cut to a window around the mistake.
const WIDEST_LINE: usize = 160;

/// All mistakes of one SDL, in the order of the text. Displays as a report for a terminal.
#[derive(Debug, Clone)]
pub struct Diagnostics {
    path: String,
    text: String,
    problems: Vec<Problem>,
}

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The byte range in the SDL. `None` for a mistake of the whole file.
    pub range: Option<Range<usize>>,
    /// What is wrong, without a full stop.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostics {
    /// Collects the problems of `text`, sorted by position, without duplicates. `path` is the file's name in the
    /// report.
    pub fn new(path: &str, text: &str, mut problems: Vec<Problem>) -> Self {
        problems.sort_by(|a, b| (a.start(), &a.message).cmp(&(b.start(), &b.message)));
        problems.dedup_by(|a, b| a.start() == b.start() && a.message == b.message);
        Self { path: path.to_owned(), text: text.to_owned(), problems }
    }

    /// The problems.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl Problem {
    /// Creates a problem at these bytes of the SDL.
    pub fn new(range: Option<Range<usize>>, message: impl Into<String>, help: Option<String>) -> Self {
        Self { range, message: message.into().replace(|c: char| c.is_control(), " "), help }
    }

    fn start(&self) -> usize {
        self.range.as_ref().map_or(0, |range| range.start)
    }
}

impl std::error::Error for Diagnostics {}

/// The maximum number of problems that are printed. One unclosed text can make everything after it a mistake.
const PRINTED: usize = 100;

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = LineStarts::new(&self.text);
        let mut columns = Columns::default();
        for (i, problem) in self.problems.iter().enumerate() {
            if i == PRINTED {
                return writeln!(f, "\n… and {} more", self.problems.len() - PRINTED);
            }
            if i > 0 {
                writeln!(f)?;
            }
            match &problem.range {
                Some(range) => {
                    let number = lines.number(range.start);
                    let (start, source) = lines.line(number).unwrap_or_default();
                    let first = self.text.floor_char_boundary(range.start.min(start + source.len()));
                    let column = columns.column(&self.text, start, first);
                    writeln!(f, "{}:{number}:{column}: {}", self.path, problem.message)?;
                    if !source.trim().is_empty() {
                        let (source, carets) = draw(source, first - start..range.end.saturating_sub(start));
                        writeln!(f, "{source}\n{carets}")?;
                    }
                }
                None => writeln!(f, "{}: {}", self.path, problem.message)?,
            }
            if let Some(help) = &problem.help {
                writeln!(f, "help: {help}")?;
            }
        }
        Ok(())
    }
}

/// Counts columns from left to right, so that many problems on one very long line cost a single pass over it.
#[derive(Default)]
struct Columns {
    byte: usize,
    column: usize,
}

impl Columns {
    /// Returns the column, from 1, of a byte on the line that begins at `start`. Must be called with ascending bytes.
    fn column(&mut self, text: &str, start: usize, byte: usize) -> usize {
        if self.byte < start || self.column == 0 {
            *self = Self { byte: start, column: 1 };
        }
        self.column += text[self.byte..byte].chars().count();
        self.byte = byte;
        self.column
    }
}

/// Returns a source line, or a window of a long one that contains the bytes `at`, and the line of carets below it. Tabs
/// are kept in both, so that they align.
fn draw(source: &str, at: Range<usize>) -> (String, String) {
    let long = source.len() > WIDEST_LINE;
    let before = &source[..at.start];
    let room = if long { WIDEST_LINE / 2 } else { WIDEST_LINE };
    let from = before.char_indices().rev().take(room).last().map_or(at.start, |(from, _)| from);
    let (mut line, mut carets) = (String::new(), String::new());
    if from > 0 {
        line.push('…');
        carets.push(' ');
    }
    let mut shown = source[from..].char_indices();
    for (i, c) in shown.by_ref().take(WIDEST_LINE) {
        line.push(if c.is_control() && c != '\t' { ' ' } else { c });
        match from + i {
            i if i < at.start => carets.push(if c == '\t' { '\t' } else { ' ' }),
            i if i < at.end => carets.push('^'),
            _ => {}
        }
    }
    if shown.next().is_some() {
        line.push('…');
    }
    if !carets.ends_with('^') {
        carets.push('^');
    }
    (line, carets)
}
