//! `../specification.md` says which test covers which promise; this test keeps that page correct. Its first part is
//! checked against the schema. Its second part has the rules that no schema contains.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use apollo_compiler::Schema;
use apollo_compiler::schema::{ExtendedType, FieldDefinition};

use crate::harness::tour::schema;

/// A row of the page.
struct Row {
    /// Whether it is in the part about the schema.
    is_of_schema: bool,
    /// The heading above it: a type of the schema, or the topic of the rule.
    about: String,
    /// Fields of the type, or the rule in a few words.
    what: String,
    /// The tests that cover it.
    keep: Vec<String>,
}

fn rows() -> Vec<Row> {
    let (mut part, mut about, mut rows) = ("", "", Vec::new());
    for line in include_str!("../specification.md").lines() {
        if let Some(title) = line.strip_prefix("# ") {
            part = title;
        } else if let Some(title) = line.strip_prefix("## ") {
            about = title;
        } else if let Some(row) = line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |")) {
            let (what, keep) = row.split_once(" | ").unwrap_or_else(|| panic!("a row without tests: {line}"));
            if keep != "kept by" {
                rows.push(Row {
                    is_of_schema: part == "The schema",
                    about: about.to_owned(),
                    what: what.to_owned(),
                    keep: keep.split(", ").map(str::to_owned).collect(),
                });
            }
        }
    }
    rows
}

/// All tests by name, each with its text, the shared code of its module, and what that imports from `harness`.
fn tests() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let mut tests = BTreeMap::new();
    let mut next: Vec<PathBuf> = vec![root.clone()];
    while let Some(path) = next.pop() {
        if path.is_dir() {
            next.extend(fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let module = path.strip_prefix(&root).expect("below the tests").with_extension("");
            let module: Vec<_> =
                module.iter().map(|step| step.to_string_lossy()).filter(|step| step != "mod").collect();
            let source = fs::read_to_string(&path).expect("a source file");
            let (own, shared) = split(&source);
            let shared = shared + &imported(&source, &root.join("harness"));
            let named = |(name, text)| (format!("{}::{name}", module.join("::")), format!("{shared}{text}"));
            tests.extend(own.into_iter().map(named));
        }
    }
    tests
}

/// The tests of a source file, by name and text, and the rest of the file.
fn split(source: &str) -> (Vec<(String, String)>, String) {
    let (mut tests, mut shared) = (Vec::new(), String::new());
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        let mark = line.trim_start();
        if !mark.starts_with("#[test]") && !mark.starts_with("#[tokio::test") {
            shared.extend([line, "\n"]);
            continue;
        }
        let end = format!("{}}}", &line[..line.len() - mark.len()]);
        let body: Vec<_> = lines.by_ref().take_while(|line| *line != end).collect();
        let head = body.iter().find_map(|line| line.split_once("fn ")).expect("a test is a function");
        let name = head.1.split(['(', '<']).next().unwrap_or_default();
        tests.push((name.to_owned(), body.join("\n")));
    }
    (tests, shared)
}

/// The items of a module, by name and text.
fn items(module: &str) -> Vec<(&str, String)> {
    let keywords = ["async", "const", "enum", "fn", "impl", "pub", "static", "struct", "type"];
    let mut items: Vec<(&str, String)> = Vec::new();
    for line in module.lines() {
        if keywords.iter().any(|word| line.strip_prefix(word).is_some_and(|rest| rest.starts_with(' '))) {
            let mut words = line.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
            items.push((words.find(|word| !keywords.contains(word)).unwrap_or_default(), String::new()));
        }
        if let Some((_, text)) = items.last_mut() {
            text.extend([line, "\n"]);
        }
    }
    items
}

/// What a source file imports from `harness` by name, with what that uses of its own module. The tour is left out: it
/// speaks of every field.
fn imported(source: &str, harness: &Path) -> String {
    let mut text = String::new();
    for import in source.split("\nuse crate::harness::").skip(1) {
        let Some((module, names)) = import.split(';').next().unwrap_or_default().split_once("::") else { continue };
        if module.starts_with("tour") {
            continue;
        }
        let module = fs::read_to_string(harness.join(module).with_extension("rs")).expect("a module of the harness");
        let items = items(&module);
        let names = names.split([',', '{', '}']).filter_map(|name| name.split_whitespace().next());
        let (mut left, mut taken): (Vec<&str>, _) = (names.collect(), BTreeSet::new());
        while let Some(name) = left.pop() {
            if taken.insert(name) {
                for (_, item) in items.iter().filter(|(own, _)| *own == name) {
                    text.push_str(item);
                    left.extend(items.iter().map(|(name, _)| *name).filter(|name| speaks_of(item, name)));
                }
            }
        }
    }
    text
}

/// The fields and arguments of a row: `field`, `field(argument)`.
fn coordinates(row: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut around = None;
    for word in row.split_whitespace() {
        let argument = match (word.split_once('('), around) {
            (Some((field, argument)), _) => {
                all.push(field.to_owned());
                around = Some(field);
                argument
            }
            (None, Some(_)) => word,
            (None, None) => {
                all.push(word.to_owned());
                continue;
            }
        };
        all.extend(around.map(|field| format!("{field}({})", argument.trim_end_matches(')'))));
        around = around.filter(|_| !argument.ends_with(')'));
    }
    all
}

/// Everything that the rows must mention: the fields of all types except wrappers (pages, edges, payloads), with the
/// arguments of the account's fields and their objects' lists. Wrappers, `first` and `after` are covered once for all.
fn promised(schema: &Schema) -> BTreeSet<String> {
    let carries = |name: &str| ["ConnectionType", "Edge", "Payload"].iter().any(|end| name.ends_with(end));
    let mut all = BTreeSet::new();
    for (name, ty) in schema.types.iter().filter(|(name, ty)| !ty.is_built_in() && !carries(name)) {
        let fields: Vec<&FieldDefinition> = match ty {
            ExtendedType::Object(object) => object.fields.values().map(|field| &***field).collect(),
            ExtendedType::Interface(interface) => interface.fields.values().map(|field| &***field).collect(),
            _ => Vec::new(),
        };
        for field in fields {
            all.insert(format!("{name}.{}", field.name));
            // A mutation's arguments are its inputs, which `refusals` tests.
            for argument in field.arguments.iter().filter(|_| name != "Mutation") {
                if argument.name != "first" && argument.name != "after" {
                    all.insert(format!("{name}.{}({})", field.name, argument.name));
                }
            }
        }
    }
    all
}

/// Whether a text contains a name as a whole word.
fn speaks_of(text: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part))
}

#[test]
fn every_field_argument_and_mutation_of_the_schema_is_in_a_row() {
    let mut kept = BTreeSet::new();
    for Row { about, what, .. } in rows().iter().filter(|row| row.is_of_schema) {
        kept.extend(coordinates(what).into_iter().map(|field| format!("{about}.{field}")));
    }
    let promised = promised(&schema());
    let lacking: Vec<_> = promised.difference(&kept).collect();
    let gone: Vec<_> = kept.difference(&promised).collect();
    assert!(lacking.is_empty(), "no row of specification.md says which test keeps {lacking:?}");
    assert!(gone.is_empty(), "the schema has no {gone:?}, of which specification.md speaks");
}

#[test]
fn every_test_that_keeps_a_row_exists() {
    let tests = tests();
    let rows = rows();
    assert!(rows.iter().any(|row| row.is_of_schema) && rows.iter().any(|row| !row.is_of_schema), "a part is empty");
    let missing = rows.iter().flat_map(|row| row.keep.iter().map(move |test| (row, test)));
    let missing = missing.filter(|(_, test)| !tests.contains_key(*test));
    let missing: Vec<_> = missing.map(|(row, test)| format!("{}, {}: {test}", row.about, row.what)).collect();
    assert!(missing.is_empty(), "there are no such tests\n{}", missing.join("\n"));
}

#[test]
fn one_of_the_tests_in_a_row_mentions_its_field() {
    let tests = tests();
    let mut silent = Vec::new();
    for Row { about, what, keep, .. } in rows().iter().filter(|row| row.is_of_schema) {
        for coordinate in coordinates(what) {
            let name = coordinate.split('(').next_back().unwrap_or_default().trim_end_matches(')');
            if !keep.iter().filter_map(|test| tests.get(test)).any(|text| speaks_of(text, name)) {
                silent.push(format!("{about}.{coordinate}: {}", keep.join(", ")));
            }
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}
