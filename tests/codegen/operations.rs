//! Compares the types generated for the program's own operations, and the reports of mistakes, with the committed ones.
//! `UPDATE_FIXTURES=1 cargo test --test codegen` rewrites both.

use std::{env, fs};

use crate::{first_difference, path, read};
use codegen::operations::{File, generate};
use codegen::{self, Bindings, Contract};

const FOLDER: &str = "src/codegen/fixtures/operations";

/// The bound SDL types and scalars.
const SCHEMA_TYPES: &str =
    "pub struct ID; pub struct Day; pub struct Colour; pub struct Book; pub struct Film; pub struct Game;
     pub struct Person; pub struct Order;";

/// The scalars of `tests/it/project/codegen_fixtures/operations.rs`.
const TYPES: &str = "pub struct Day;";

fn contract() -> Contract {
    let sdl = format!("{FOLDER}/schema.graphql");
    let bindings = Bindings::read("types.rs", SCHEMA_TYPES).expect("the bindings parse");
    codegen::check(&sdl, &read(&sdl), &bindings).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

/// The output, or the report of all mistakes.
fn said(contract: &Contract, files: &[File]) -> Result<String, String> {
    let bindings = Bindings::read("types.rs", TYPES).expect("the bindings parse");
    let all =
        |reports: Vec<codegen::Diagnostics>| reports.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    generate(contract, files, &bindings).map_err(all)
}

fn file(name: &str) -> File {
    File { path: name.to_owned(), text: read(&format!("{FOLDER}/{name}")) }
}

/// Compares a text with the committed one, or rewrites it.
fn is_kept(name: &str, now: &str) {
    let kept = path(FOLDER).join(name);
    if env::var_os("UPDATE_FIXTURES").is_some() {
        fs::write(&kept, now).expect("a writable fixture");
    }
    let expected = fs::read_to_string(&kept).unwrap_or_default();
    let difference = first_difference(&expected, now);
    assert!(expected == now, "{}: UPDATE_FIXTURES=1 rewrites it; read the difference\n{difference}", kept.display());
}

#[test]
fn the_types_of_operations_equal_the_fixture() {
    let (contract, files) = (contract(), [file("orders.graphql"), file("search.graphql")]);
    let now = said(&contract, &files).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    assert_eq!(Ok(&now), said(&contract, &files).as_ref(), "not the same twice");
    is_kept("operations.rs", &now);
}

#[test]
fn every_mistake_in_operations_is_reported_as_expected() {
    let contract = contract();
    let entries = fs::read_dir(path(FOLDER).join("errors")).expect("the folder is there");
    let names = entries.map(|entry| entry.expect("an entry").file_name().display().to_string());
    let names: Vec<String> = names.filter(|name| name.ends_with(".graphql")).collect();
    assert!(!names.is_empty(), "no fixtures");
    for name in names {
        let name = format!("errors/{name}");
        let mistakes = said(&contract, &[file(&name)]).expect_err(&name);
        is_kept(&name.replace(".graphql", ".txt"), &mistakes);
    }
}

#[test]
fn mistakes_of_several_files_are_reported_together() {
    let text = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
    let files = [
        text("one.graphql", "query One { orders { ...Row idd } }"),
        text("two.graphql", "fragment Row on Order { weigth }"),
        text("three.graphql", "query Three { orders { id }"),
    ];
    let mistakes = said(&contract(), &files).expect_err("three mistakes");
    for place in ["one.graphql:1:29: ", "two.graphql:1:25: ", "three.graphql:1:28: "] {
        assert!(mistakes.contains(place), "{place} is not in:\n{mistakes}");
    }
}

#[test]
fn a_text_with_quotes_and_hashes_is_unchanged() {
    let text = "query Quoted { search(text: \"\"\"a \"# b\"\"\") { __typename } }".to_owned();
    let code = said(&contract(), &[File { path: "quoted.graphql".to_owned(), text: text.clone() }]);
    let code = code.unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let file = syn::parse_file(&code).expect("the output parses");
    let texts = file.items.iter().filter_map(|item| match item {
        syn::Item::Impl(item) => item.items.iter().find_map(|item| match item {
            syn::ImplItem::Const(item) => Some(&item.expr),
            _ => None,
        }),
        _ => None,
    });
    let texts: Vec<String> = texts
        .filter_map(|expression| match expression {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        })
        .collect();
    assert_eq!(texts, [text]);
}

/// Half an operation is a mistake and does not crash the process.
#[test]
fn no_text_of_operations_makes_the_generator_panic() {
    let contract = contract();
    for opener in ["{ a ", "{", "(", "query A(", "...", "... on A {", "fragment A on", "\"", "[", "@a(b: [", "$"] {
        let deep = format!("query Deep {{ orders {}", opener.repeat(3_000));
        for text in [deep, opener.repeat(3_000)] {
            assert!(said(&contract, &[File { path: "deep".to_owned(), text }]).is_err(), "{opener}");
        }
    }
    let whole = read(&format!("{FOLDER}/orders.graphql"));
    for end in (0..whole.len()).step_by(7) {
        // The rest may be whole definitions that spread missing fragments.
        let _ = said(&contract, &[File { path: "half".to_owned(), text: whole[..end].to_owned() }]);
    }
}
