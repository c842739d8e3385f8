//! Validates operations against the SDL. apollo-compiler parses and validates them by the specification. All files form
//! one document, so that a fragment can be used in every file.

use std::collections::BTreeMap;

use apollo_compiler::ast::Definition;
use apollo_compiler::diagnostic::ToCliReport;
use apollo_compiler::parser::{Parser, SourceSpan};
use apollo_compiler::validation::{DiagnosticList, Valid};
use apollo_compiler::{ExecutableDocument, Schema, ast};

use super::super::check::{Contract, DEEPEST_NESTING, syntax_problems};
use super::super::diagnostics::{Diagnostics, Problem};
use super::super::source::Source;
use super::{File, help};

/// Operations and fragments without mistakes.
pub(super) struct Checked<'a> {
    pub(super) document: Valid<ExecutableDocument>,
    pub(super) places: Locations<'a>,
}

/// Returns the document of all files, or all their mistakes.
pub(super) fn check<'a>(contract: &Contract, files: &'a [File]) -> Result<Checked<'a>, Vec<Diagnostics>> {
    let mut documents = Vec::new();
    let mut malformed = Vec::new();
    for file in files {
        let parsed = Parser::new().recursion_limit(DEEPEST_NESTING).parse_ast(file.text.as_str(), &file.path);
        let (document, errors) = parsed.map_or_else(|with| (with.partial, Some(with.errors)), |it| (it, None));
        documents.push(document);
        malformed.push(errors);
    }
    let sources = files.iter().zip(&documents).map(|(file, document)| Source::new(&file.text, document)).collect();
    let places = Locations { sources };
    let mut problems = BTreeMap::new();
    for (at, errors) in malformed.iter().enumerate().filter_map(|(at, errors)| Some((at, errors.as_ref()?))) {
        let source = &places.sources[at];
        problems.insert(at, syntax_problems(errors, source).into_iter().map(help::syntax).collect::<Vec<_>>());
    }
    let is_whole = problems.is_empty();
    let (document, invalid) = validate(&contract.schema, &documents);
    let is_lost = invalid.iter().any(|found| help::loses_selections(&found.error.to_string()));
    for found in invalid.iter() {
        let Some((at, range)) = places.locate(found.error.location()) else { continue };
        let message = found.error.to_string();
        // Names in text that the parser skipped would seem to be missing.
        let mut stands = malformed[at].is_none() && (is_whole || !message.contains("fragment"));
        // Reported in other words for each operation without a name.
        stands &= !message.contains("anonymous operation");
        let text = places.text(files, found.error.location());
        if stands && !(is_lost && help::is_consequence(&message, text, files)) {
            let problem = help::validation(message, range, &contract.schema, &document);
            problems.entry(at).or_default().push(problem);
        }
    }
    for (at, document) in documents.iter().enumerate().filter(|(at, _)| malformed[*at].is_none()) {
        problems.entry(at).or_default().extend(nameless(document, &places.sources[at]));
    }
    problems.retain(|_, problems| !problems.is_empty());
    if !problems.is_empty() {
        return Err(of_files(files, problems));
    }
    Ok(Checked { document: Valid::assume_valid(document), places })
}

/// Merges all files into one document, and returns its validation errors.
fn validate(schema: &Valid<Schema>, documents: &[ast::Document]) -> (ExecutableDocument, DiagnosticList) {
    let mut invalid = DiagnosticList::new(Default::default());
    let mut builder = ExecutableDocument::builder(Some(schema), &mut invalid);
    documents.iter().for_each(|document| builder.add_ast_document(document, true));
    let document = builder.build();
    match document.validate(schema) {
        Ok(document) => (document.into_inner(), invalid),
        Err(with) => {
            invalid.merge(with.errors);
            (with.partial, invalid)
        }
    }
}

/// Reports operations without a name: their Rust types would have none.
fn nameless(document: &ast::Document, source: &Source<'_>) -> Vec<Problem> {
    let nameless = document.definitions.iter().filter_map(|definition| match definition {
        Definition::OperationDefinition(operation) if operation.name.is_none() => Some(operation),
        _ => None,
    });
    let problem = |operation: &apollo_compiler::Node<ast::OperationDefinition>| {
        let start = source.range(operation.location()).map(|range| range.start..range.start + 1);
        let help = "write `query Name { … }`: its Rust types are named after it";
        Problem::new(start, "this operation has no name", Some(help.to_owned()))
    };
    nameless.map(problem).collect()
}

/// The locations in all files.
pub(super) struct Locations<'a> {
    sources: Vec<Source<'a>>,
}

impl<'a> Locations<'a> {
    /// The file and byte range of a location.
    pub(super) fn locate(&self, location: Option<SourceSpan>) -> Option<(usize, std::ops::Range<usize>)> {
        self.sources.iter().enumerate().find_map(|(at, source)| Some((at, source.range(location)?)))
    }

    /// The full text of a location.
    pub(super) fn text(&self, files: &'a [File], location: Option<SourceSpan>) -> &'a str {
        let file = self.locate(location).and_then(|(at, _)| files.get(at));
        let bytes = location.map(|span| span.offset()..span.end_offset());
        file.zip(bytes).and_then(|(file, bytes)| file.text.get(bytes)).unwrap_or_default()
    }

    /// Groups problems by file.
    pub(super) fn diagnostics(&self, files: &[File], problems: Vec<(Option<SourceSpan>, Problem)>) -> Vec<Diagnostics> {
        let mut by_file: BTreeMap<usize, Vec<Problem>> = BTreeMap::new();
        for (location, problem) in problems {
            let (at, range) = self.locate(location).map_or((0, None), |(at, range)| (at, Some(range)));
            by_file.entry(at).or_default().push(Problem { range, ..problem });
        }
        of_files(files, by_file)
    }
}

/// The problems of each file, from an index of the files.
fn of_files(files: &[File], problems: BTreeMap<usize, Vec<Problem>>) -> Vec<Diagnostics> {
    let of_file = |(at, problems): (usize, _)| Diagnostics::new(&files[at].path, &files[at].text, problems);
    problems.into_iter().map(of_file).collect()
}
