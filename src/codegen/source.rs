//! Locations in the SDL and in operations: converts apollo-compiler's locations to bytes, bytes to lines, and a
//! definition to its name, where the caret should point.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use apollo_compiler::{
    ast::{Definition, Document, Selection},
    parser::{FileId, SourceSpan},
};
use spelling::nearest;

use super::syntax::parts;

/// The keywords that begin a definition.
pub(super) const KEYWORDS: &[&str] =
    &["type", "input", "enum", "interface", "union", "scalar", "directive", "extend", "schema"];

/// A file, and the locations in it.
pub(super) struct Source<'a> {
    lines: LineStarts<'a>,
    file: Option<FileId>,
    /// Maps the range of a definition, field or value to the range of its name.
    names: HashMap<Range<usize>, Range<usize>>,
}

impl<'a> Source<'a> {
    /// Reads the locations of `text`, whose syntax tree is `document`.
    pub(super) fn new(text: &'a str, document: &Document) -> Self {
        let file = document.sources.keys().next().copied();
        let mut source = Self { lines: LineStarts::new(text), file, names: HashMap::new() };
        for definition in &document.definitions {
            let parts = parts(definition);
            source.name(definition.location(), parts.name.and_then(|name| name.location()));
            for field in parts.fields {
                source.name(field.location(), field.name.location());
                field.arguments.iter().for_each(|argument| source.name(argument.location(), argument.name.location()));
            }
            parts.inputs.iter().for_each(|input| source.name(input.location(), input.name.location()));
            parts.values.iter().for_each(|value| source.name(value.location(), value.value.location()));
            match definition {
                Definition::OperationDefinition(it) => {
                    source.name(it.location(), it.name.as_ref().and_then(|name| name.location()));
                    source.selections(&it.selection_set);
                }
                Definition::FragmentDefinition(it) => {
                    source.name(it.location(), it.name.location());
                    source.selections(&it.selection_set);
                }
                _ => {}
            }
        }
        source
    }

    fn selections(&mut self, selections: &[Selection]) {
        for selection in selections {
            match selection {
                Selection::Field(field) => {
                    self.name(field.location(), field.name.location());
                    field.arguments.iter().for_each(|it| self.name(it.location(), it.name.location()));
                    self.selections(&field.selection_set);
                }
                Selection::InlineFragment(inline) => {
                    let condition = inline.type_condition.as_ref().and_then(|name| name.location());
                    self.name(inline.location(), condition);
                    self.selections(&inline.selection_set);
                }
                Selection::FragmentSpread(spread) => self.name(spread.location(), spread.fragment_name.location()),
            }
        }
    }

    fn name(&mut self, whole: Option<SourceSpan>, name: Option<SourceSpan>) {
        if let (Some(whole), Some(name)) = (self.range(whole), self.range(name)) {
            self.names.insert(whole, name);
        }
    }

    /// The byte range of a location, or of the name at that location. `None` if it is outside the file.
    pub(super) fn range(&self, location: Option<SourceSpan>) -> Option<Range<usize>> {
        let span = location.filter(|span| Some(span.file_id()) == self.file)?;
        let range = span.offset()..span.end_offset();
        Some(self.names.get(&range).cloned().unwrap_or(range))
    }

    /// The line number of a location.
    pub(super) fn line_of(&self, location: Option<SourceSpan>) -> usize {
        self.range(location).map_or(0, |range| self.lines.number(range.start))
    }

    /// The lines of the text.
    pub(super) fn lines(&self) -> &LineStarts<'a> {
        &self.lines
    }

    /// The text of a byte range.
    pub(super) fn text(&self, range: &Range<usize>) -> &'a str {
        self.lines.text.get(range.clone()).unwrap_or_default()
    }

    /// The names that the text seems to define, even with misspelt keywords or where the parser failed.
    pub(super) fn words_defined(&self) -> HashSet<&'a str> {
        let words =
            || self.lines.text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        words()
            .zip(words().skip(1))
            .filter(|(word, _)| nearest(word, KEYWORDS.iter().copied()).is_some())
            .map(|(_, name)| name)
            .collect()
    }
}

/// A text with the start of each line. A line ends with `\n`.
pub(super) struct LineStarts<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineStarts<'a> {
    /// Finds the lines of `text`.
    pub(super) fn new(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    /// The line number, from 1, of a byte.
    pub(super) fn number(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }

    /// The start and text of a line, by its number.
    pub(super) fn line(&self, number: usize) -> Option<(usize, &'a str)> {
        let start = *self.starts.get(number.checked_sub(1)?)?;
        let end = self.starts.get(number).copied().unwrap_or(self.text.len());
        Some((start, self.text[start..end].trim_end_matches(['\n', '\r'])))
    }
}
