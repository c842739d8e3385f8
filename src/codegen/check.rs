//! The entry of the generator's front end: turns a text into a checked model, or returns all its mistakes.
//!
//! apollo-compiler parses and validates the SDL by the specification. `inputs` adds what it does not check, `rules`
//! finds what cannot become Rust, `scopes` checks who may run a mutation, `unbound` finds types without a Rust type,
//! `parts` finds types with the name of a generated trait, `keys` finds fields whose key may be null, `emit` finds
//! declarations of fields that the SDL and the entities do not support, and `help` adds advice. Only a schema without
//! mistakes is lowered.

use std::collections::HashSet;

use apollo_compiler::{
    Schema as Checked,
    ast::{Definition, Document},
    diagnostic::ToCliReport,
    parser::Parser,
    validation::{DiagnosticData, DiagnosticList, Valid, WithErrors},
};

use super::{
    bindings::Bindings,
    diagnostics::{Diagnostics, Problem},
    emit, help, inputs, keys, lower,
    model::Schema,
    parts, rules, scopes,
    source::Source,
    unbound,
};

/// The maximum nesting depth of brackets. graphql-parser fails at 50, and no readable schema comes close.
pub(super) const DEEPEST_NESTING: usize = 40;

/// `@oneOf` is in the specification of September 2025, but not among apollo-compiler's built-in definitions.
const ONE_OF: &str = "directive @oneOf on INPUT_OBJECT";

/// An SDL without mistakes.
pub struct Contract {
    /// The model for the emitters.
    pub model: Schema,
    /// The schema for apollo-compiler, to check operations against.
    pub schema: Valid<Checked>,
}

/// Checks an SDL, or returns all its mistakes. `path` is the file's name in the report.
///
/// Unbound types are reported once the SDL itself is valid, and what the entities do not support after that. Mistakes in
/// what `fields!` declares are reported last, in the file of the bindings.
pub fn check(path: &str, sdl: &str, bindings: &Bindings) -> Result<Contract, Diagnostics> {
    let refuse = |problems| Err(Diagnostics::new(path, sdl, problems));
    let parser = Parser::new().recursion_limit(DEEPEST_NESTING).parse_ast(sdl, path);
    let (document, malformed) =
        parser.map_or_else(|with| (with.partial, Some(with.errors)), |document| (document, None));
    let source = Source::new(sdl, &document);
    let (schema, invalid) = validate(&document);
    if let Some(malformed) = malformed {
        let mut problems = syntax_problems(&malformed, &source);
        problems.extend(problems_despite_syntax(&invalid, &schema, &source));
        return refuse(problems);
    }
    let mut problems: Vec<_> = invalid.iter().flat_map(|list| validation_problems(list, &schema, &source)).collect();
    problems.extend(inputs::check(&schema, &source));
    problems.extend(rules::check(&schema, &source));
    problems.extend(scopes::check(&schema, &source));
    if !problems.is_empty() {
        return refuse(problems);
    }
    let mut model = match lower::lower(sdl, &document) {
        Ok(model) => model,
        Err(error) => return refuse(vec![unread(&error, &source)]),
    };
    let roots = &schema.schema_definition;
    model.description = roots.description.as_ref().map(|description| description.as_str().to_owned());
    model.query = roots.query.as_ref().map(|root| root.name.to_string()).unwrap_or_default();
    model.mutation = roots.mutation.as_ref().map(|root| root.name.to_string());
    let unbound = unbound::check(&model, bindings, &schema, &source);
    if !unbound.is_empty() {
        return refuse(unbound);
    }
    let mut unsupported = parts::check(&model, bindings, &schema, &source);
    unsupported.extend(keys::check(&model, bindings, &schema, &source));
    if !unsupported.is_empty() {
        return refuse(unsupported);
    }
    let declared = emit::check_declarations(&model, bindings);
    if !declared.is_empty() {
        return Err(bindings.report(declared));
    }
    // Safe: all validation errors were turned into problems, and there are none.
    Ok(Contract { model, schema: Valid::assume_valid(schema) })
}

/// Builds as much of the schema as possible, and returns its validation errors.
fn validate(document: &Document) -> (Checked, Vec<DiagnosticList>) {
    let defines_one_of = |definition: &Definition| {
        definition.as_directive_definition().is_some_and(|directive| directive.name == "oneOf")
    };
    let mut builder = Checked::builder();
    if !document.definitions.iter().any(defines_one_of) {
        builder = builder.parse(ONE_OF, "built-in");
    }
    let mut invalid = Vec::new();
    let mut partial = |with: WithErrors<Checked>| {
        invalid.push(with.errors);
        with.partial
    };
    let schema = builder.add_ast(document).build().unwrap_or_else(&mut partial);
    let schema = schema.validate().map_or_else(partial, Valid::into_inner);
    (schema, invalid)
}

/// The syntax errors, at most one per line: further ones mostly follow from the first.
pub(super) fn syntax_problems(list: &DiagnosticList, source: &Source<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut lines = HashSet::new();
    for found in list.iter() {
        let range = source.range(found.error.location()).unwrap_or_default();
        if lines.insert(source.lines().number(range.start)) {
            problems.push(help::syntax(&found.error.to_string(), source, range));
        }
    }
    problems
}

/// A syntax error that only graphql-parser finds (`{a b: 1}`). Only the line of its location is reliable.
fn unread(error: &str, source: &Source<'_>) -> Problem {
    let error = error.trim_start_matches("schema parse error: ").trim_start_matches("Parse error at ");
    let (place, said) = error.split_once('\n').unwrap_or(("", error));
    let number = place.split(':').next().and_then(|line| line.parse().ok());
    let range = number.and_then(|number| source.lines().line(number)).map(|(start, line)| {
        let indent = line.len() - line.trim_start().len();
        start + indent..start + line.trim_end().len()
    });
    let said = said.trim().replace("[Name]", "").replace("[Punctuator]", "").replace('\n', ", ");
    Problem::new(range, format!("this line cannot be read: {}", said.to_ascii_lowercase()), None)
}

/// The validation errors.
fn validation_problems(list: &DiagnosticList, schema: &Checked, source: &Source<'_>) -> Vec<Problem> {
    let range = |found: &DiagnosticData| source.range(found.location());
    list.iter().map(|found| help::validation(found.error.to_string(), range(found.error), schema, source)).collect()
}

/// Those validation errors that cannot be caused by text that the parser skipped.
fn problems_despite_syntax(invalid: &[DiagnosticList], schema: &Checked, source: &Source<'_>) -> Vec<Problem> {
    let defined = source.words_defined();
    let stands = |problem: &Problem| {
        let name = problem.message.split('`').nth(1).unwrap_or_default().trim_start_matches('@');
        problem.message.starts_with("cannot find") && !defined.contains(name)
            || problem.message.contains("duplicate definitions")
            || problem.message.contains("defined multiple times")
            || problem.message.contains("names starting with two underscores")
    };
    invalid.iter().flat_map(|list| validation_problems(list, schema, source)).filter(stands).collect()
}

#[cfg(test)]
mod tests {
    use std::{env, fs, path::Path};

    use super::*;

    /// The expected report is beside every `fixtures/errors/*.graphql`. `UPDATE_FIXTURES=1` rewrites it.
    #[test]
    fn every_mistake_is_reported_as_expected() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/errors");
        let entries = fs::read_dir(&folder).expect("the fixtures' folder").map(|entry| entry.expect("an entry").path());
        let mut fixtures: Vec<_> =
            entries.filter(|path| path.extension().is_some_and(|extension| extension == "graphql")).collect();
        fixtures.sort();
        assert!(!fixtures.is_empty(), "no fixtures in {}", folder.display());
        for fixture in fixtures {
            let name = fixture.file_name().expect("a file").to_string_lossy().into_owned();
            let sdl = fs::read_to_string(&fixture).expect("a readable fixture");
            let said = check(&name, &sdl, &Bindings::default())
                .map_or_else(|mistakes| mistakes.to_string(), |_| String::new());
            let expected = fixture.with_extension("txt");
            if env::var_os("UPDATE_FIXTURES").is_some() {
                fs::write(&expected, &said).expect("a writable fixture");
            }
            let expected = fs::read_to_string(&expected).unwrap_or_default();
            assert_ne!(said, "", "{name}: no mistake was found");
            assert_eq!(said, expected, "{name}: run the tests with UPDATE_FIXTURES=1 and read the difference");
        }
    }

    /// Deep nesting and half a schema are reported as mistakes and do not crash the process.
    #[test]
    fn no_text_makes_the_check_panic() {
        for opener in
            ["[", "{", "{a:", "(", "\"", "type A { a(b: C = [", "type A { a: [", "@a(b: [", "extend ", "\\", "#"]
        {
            let deep = format!("type Query {{ a: Int }} input I {{ a: I = {}", opener.repeat(10_000));
            assert!(check("deep", &deep, &Bindings::default()).is_err(), "{opener}");
            assert!(check("deep", &opener.repeat(10_000), &Bindings::default()).is_err(), "{opener}");
        }
        let whole = include_str!("fixtures/errors/defaults.graphql");
        for end in 0..whole.len() {
            assert!(check("half", &whole[..end], &Bindings::default()).is_err(), "{end}");
        }
    }
}
