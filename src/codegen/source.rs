//! Places in the SDL and in operations: from apollo-compiler's locations to bytes, from bytes to lines, from a whole definition to its
//! name, which is what a caret should point at.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use apollo_compiler::{
    ast::{Definition, Document, Selection},
    parser::{FileId, SourceSpan},
};

use super::{help::nearest, syntax::parts};

/// What a definition begins with.
pub(super) const KEYWORDS: &[&str] =
    &["type", "input", "enum", "interface", "union", "scalar", "directive", "extend", "schema"];

/// The file that is checked, and where in it things are.
pub(super) struct Source<'a> {
    lines: LineStarts<'a>,
    file: Option<FileId>,
    /// From the place of a whole definition, field or value to the place of its name.
    names: HashMap<Range<usize>, Range<usize>>,
}

impl<'a> Source<'a> {
    /// The places of `text`, whose syntax tree is `document`.
    pub(super) fn new(text: &'a str, document: &Document) -> Self {
        let file = document.sources.keys().next().copied();
        let mut source = Self { lines: LineStarts::of(text), file, names: HashMap::new() };
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

    /// The bytes of a location, unless it is outside the file. Of what has a name, the bytes of the name.
    pub(super) fn range(&self, location: Option<SourceSpan>) -> Option<Range<usize>> {
        let span = location.filter(|span| Some(span.file_id()) == self.file)?;
        let range = span.offset()..span.end_offset();
        Some(self.names.get(&range).cloned().unwrap_or(range))
    }

    /// The number of the line that a location is on.
    pub(super) fn line_of(&self, location: Option<SourceSpan>) -> usize {
        self.range(location).map_or(0, |range| self.lines.number(range.start))
    }

    /// The lines of the text.
    pub(super) fn lines(&self) -> &LineStarts<'a> {
        &self.lines
    }

    /// The text of these bytes.
    pub(super) fn text(&self, range: &Range<usize>) -> &'a str {
        self.lines.text.get(range.clone()).unwrap_or_default()
    }

    /// The names that the text defines as far as words can tell, misspelt keywords and all, whether or not the parser
    /// came to see them.
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

/// A text and where its lines begin. A line ends with `\n`.
pub(super) struct LineStarts<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineStarts<'a> {
    /// The lines of `text`.
    pub(super) fn of(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    /// The number, from 1, of the line that a byte is on.
    pub(super) fn number(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }

    /// Where the line of this number begins, and its text.
    pub(super) fn line(&self, number: usize) -> Option<(usize, &'a str)> {
        let start = *self.starts.get(number.checked_sub(1)?)?;
        let end = self.starts.get(number).copied().unwrap_or(self.text.len());
        Some((start, self.text[start..end].trim_end_matches(['\n', '\r'])))
    }
}
