//! The documents of a run, collected while they are read. What a request may hold is checked here, before any of it
//! costs a statement.

use super::document::Document;
use super::report::Problems;
use super::yaml::Allowance;

/// The maximum size of the values of properties in all files of a request, as JSON text, in bytes. Schemas have
/// patterns, so a check takes time for each byte. A thousand services with ten values of 100 bytes each stay below it.
pub const PROPERTIES_TEXT: usize = 1 << 20;

/// The maximum size of a run, and of what it changes.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// The number of documents. People and APIs of Backstage count as entries.
    pub documents: usize,
    /// The number of entries in the lists of all documents.
    pub entries: usize,
    /// The number of fields that change, as [`Applied::changes`](super::Applied::changes) lists them, in all subjects.
    pub changes: usize,
}

/// The documents that were read so far.
pub(super) struct Intake {
    pub(super) documents: Vec<Document>,
    /// The keys and values that may still be read.
    pub(super) allowance: Allowance,
    bounds: Option<Bounds>,
    /// The number of entries of the documents' lists.
    entries: usize,
    /// The number of documents that describe something of the catalogue.
    subjects: usize,
    /// The bytes of the documents' property values.
    text: usize,
}

impl Intake {
    pub(super) fn new(bounds: Option<Bounds>) -> Self {
        let allowance = if bounds.is_some() { Allowance::REQUEST } else { Allowance::LOCAL };
        Self { documents: Vec::new(), allowance, bounds, entries: 0, subjects: 0, text: 0 }
    }

    /// Adds a document. If the document exceeds a bound, reports that instead, as the last mistake.
    pub(super) fn add(&mut self, document: Document, problems: &mut Problems) {
        let Some(Bounds { documents, entries, changes: _ }) = self.bounds else {
            self.documents.push(document);
            return;
        };
        self.entries += document.entries();
        self.text += document.properties_text();
        self.subjects += usize::from(document.has_subject());
        let exceeded = if self.subjects > documents {
            format!("there are more than {documents} documents")
        } else if self.entries > entries {
            format!("the lists have more than {entries} entries in total")
        } else if self.text > PROPERTIES_TEXT {
            format!("the values of properties have more than {PROPERTIES_TEXT} bytes in total")
        } else {
            self.documents.push(document);
            return;
        };
        problems.end(document.file, document.spot, format!("{exceeded}; apply fewer files at a time"));
    }
}
