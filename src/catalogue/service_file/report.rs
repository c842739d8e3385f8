//! Messages about files: mistakes, and notes about skipped values, each with its location.

use std::fmt;

use super::yaml::Spot;
use crate::db;
use crate::entity::text::one_line;
use crate::error::Error;

/// The maximum number of mistakes of a run that are kept. Reading stops there.
pub const MISTAKES: usize = 1_000;
/// The maximum number of notes of a run that are kept.
pub const NOTES: usize = 20_000;

/// A sentence about a place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The file's index among those of the run.
    pub file: usize,
    /// The file's name.
    pub path: String,
    /// The line, from 1. 0 means the whole file.
    pub line: u64,
    /// The column, from 1, in characters.
    pub column: u64,
    /// The sentence.
    pub message: String,
    /// Whether it says why a document of another catalogue was not applied at all.
    pub is_failure: bool,
}

/// `file:line:column: message`, on [one line](one_line): CI systems execute commands at the start of a log line.
impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file: _, path, line, column, message, is_failure: _ } = self;
        let whole = match line {
            0 => format!("{path}: {message}"),
            _ => format!("{path}:{line}:{column}: {message}"),
        };
        write!(f, "{}", one_line(&whole))
    }
}

/// A sentence about a place in a source.
#[derive(Debug, Clone)]
struct Message {
    source: usize,
    spot: Spot,
    sentence: String,
    is_failure: bool,
}

/// Adds a message to a list of at most `most`. The next one becomes a sentence that says so, and the rest is dropped.
fn add(list: &mut Vec<Message>, most: usize, what: &str, message: Message) {
    if list.len() < most {
        list.push(message);
    } else if list.len() == most {
        list.push(Message {
            sentence: format!("there are more than {most} {what}; the rest is not listed"),
            ..message
        });
    }
}

/// Documents of one file that are read alike: all or nothing, or leniently.
#[derive(Debug, Clone)]
struct Source {
    name: String,
    /// The file's index among those of the run.
    file: usize,
    /// Whether the documents are those of another catalogue, in which a mistake is only a note.
    is_lenient: bool,
}

/// Collects mistakes, so that all of them are reported together, and notes about skipped values.
#[derive(Debug, Clone, Default)]
pub(crate) struct Problems {
    /// Two of each file: its own documents, and those of other catalogues in it.
    sources: Vec<Source>,
    list: Vec<Message>,
    left: Vec<Message>,
    /// Whether a document could not be read. If so, references to missing things are not reported, because that
    /// document may define them.
    pub(crate) documents_are_missing: bool,
    /// Whether reading stops, because a limit is exceeded.
    is_over: bool,
}

impl Problems {
    /// Adds a file and returns the number of the source of its own documents.
    pub(crate) fn file(&mut self, name: &str) -> usize {
        let file = self.sources.len() / 2;
        for is_lenient in [false, true] {
            self.sources.push(Source { name: name.to_owned(), file, is_lenient });
        }
        2 * file
    }

    /// The source of the documents of other catalogues in the same file.
    pub(crate) fn lenient(source: usize) -> usize {
        source | 1
    }

    /// The index of a source's file among those of the run.
    pub(crate) fn file_of(source: usize) -> usize {
        source / 2
    }

    /// Whether the documents of a source are those of another catalogue.
    pub(crate) fn is_lenient(&self, source: usize) -> bool {
        self.sources.get(source).is_some_and(|source| source.is_lenient)
    }

    /// Adds a mistake: nothing is applied. Beyond [`MISTAKES`], nothing more is read. In a document of another catalogue,
    /// it is only a note: what it is about is skipped.
    pub(crate) fn add(&mut self, source: usize, spot: Spot, message: impl Into<String>) {
        match self.is_lenient(source) {
            true => self.leave(source, spot, message),
            false => self.refuse(source, spot, message.into()),
        }
    }

    /// The same for a mistake that fails the whole document.
    pub(crate) fn fail(&mut self, source: usize, spot: Spot, message: impl Into<String>) {
        let sentence = message.into();
        match self.is_lenient(source) {
            true => {
                add(&mut self.left, NOTES, "notes", Message { source, spot, sentence, is_failure: true });
                // The last one speaks for those that are not listed.
                if let (true, Some(last)) = (self.left.len() > NOTES, self.left.last_mut()) {
                    last.is_failure = true;
                }
            }
            false => self.refuse(source, spot, sentence),
        }
    }

    fn refuse(&mut self, source: usize, spot: Spot, sentence: String) {
        add(&mut self.list, MISTAKES, "mistakes", Message { source, spot, sentence, is_failure: false });
        self.is_over |= self.list.len() > MISTAKES;
    }

    /// Adds the mistakes of an error. Returns an internal error as it is: whether a race was lost is decided above.
    pub(crate) fn take(&mut self, source: usize, spot: Spot, error: Error) -> Result<(), db::Error> {
        match error {
            Error::User(errors) => errors.into_iter().for_each(|error| self.add(source, spot, error.message)),
            Error::Internal(cause) => {
                return Err(cause.downcast().map_or_else(|cause| db::Error::fault(cause.to_string()), |error| *error));
            }
        }
        Ok(())
    }

    /// Adds a last mistake, whatever the form of the document: nothing after it is read, and nothing is applied.
    pub(crate) fn end(&mut self, source: usize, spot: Spot, message: impl Into<String>) {
        self.refuse(source, spot, message.into());
        self.is_over = true;
    }

    /// Whether [`Self::end`] was called, or there are too many mistakes.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Adds a note about a value that the catalogue has no place for. The rest is applied.
    pub(crate) fn leave(&mut self, source: usize, spot: Spot, message: impl Into<String>) {
        let message = Message { source, spot, sentence: message.into(), is_failure: false };
        add(&mut self.left, NOTES, "notes", message);
    }

    /// The name of a source's file.
    pub(crate) fn name(&self, source: usize) -> &str {
        self.sources.get(source).map_or("", |source| &source.name)
    }

    /// Formats a location, for a message about another one.
    pub(crate) fn place(&self, source: usize, spot: Spot) -> String {
        format!("{}:{}:{}", self.name(source), spot.line, spot.column)
    }

    /// Whether there are no mistakes.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the mistakes, and the notes about skipped values, both in the order of the files and lines.
    pub(crate) fn notes(self) -> (Vec<Note>, Vec<Note>) {
        let Self { sources, list, left, .. } = self;
        let notes = |mut list: Vec<Message>| {
            list.sort_by_key(|Message { source, spot, .. }| (Self::file_of(*source), *spot));
            let note = |Message { source, spot, sentence: message, is_failure }: Message| {
                let source = sources.get(source);
                let (file, path) = source.map(|source| (source.file, source.name.clone())).unwrap_or_default();
                Note { file, path, line: spot.line, column: spot.column, message, is_failure }
            };
            list.into_iter().map(note).collect()
        };
        (notes(list), notes(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_and_notes_are_bounded() {
        let mut problems = Problems::default();
        let file = problems.file("f.yml");
        for number in 0..NOTES + 9 {
            problems.leave(file, Spot::default(), number.to_string());
        }
        for number in 0..MISTAKES {
            problems.add(file, Spot::default(), number.to_string());
        }
        assert!(!problems.is_over());
        problems.add(file, Spot::default(), "one more");
        problems.add(file, Spot::default(), "and another");
        assert!(problems.is_over());
        let (mistakes, notes) = problems.notes();
        assert_eq!((mistakes.len(), notes.len()), (MISTAKES + 1, NOTES + 1));
        assert_eq!(mistakes[MISTAKES].message, "there are more than 1000 mistakes; the rest is not listed");
        assert_eq!(notes[NOTES].message, "there are more than 20000 notes; the rest is not listed");
    }

    #[test]
    fn a_note_is_one_line() {
        let note = |line| Note {
            file: 0,
            path: "a\n.yml".into(),
            line,
            column: 2,
            message: "x\u{1b}".into(),
            is_failure: false,
        };
        assert_eq!(note(0).to_string(), "a\\n.yml: x\\u{1b}");
        assert_eq!(note(3).to_string(), "a\\n.yml:3:2: x\\u{1b}");
    }
}
