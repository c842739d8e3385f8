//! Compares the generator's output for small schemas with the committed output. `UPDATE_FIXTURES=1 cargo test --test
//! codegen` rewrites it; review the difference as code. This is a separate binary, so that it builds even when the
//! committed output, which `tests/it` compiles, does not.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use quote::ToTokens;

mod keys;
mod operations;
mod parts;
mod schema_edits;

/// A schema with committed output, which is beside the SDL.
struct Fixture {
    /// The path of the SDL.
    sdl: &'static str,
    /// The file that includes the output. Its module `types` binds SDL names to hand-written types.
    host: &'static str,
    /// Rows that represent SDL types, and the files that declare them.
    rows: &'static [(&'static str, &'static str)],
    /// Tables whose rows represent no type.
    tables: &'static [&'static str],
}

const FOLDER: &str = "src/codegen/fixtures";

const FIXTURES: &[Fixture] = &[
    Fixture {
        sdl: "src/codegen/fixtures/abstracts.graphql",
        host: "tests/it/project/codegen_fixtures/abstracts.rs",
        rows: &[],
        tables: &[],
    },
    Fixture {
        sdl: "src/codegen/fixtures/inputs.graphql",
        host: "tests/it/project/codegen_fixtures/inputs.rs",
        rows: &[],
        tables: &[],
    },
    Fixture {
        sdl: "src/codegen/fixtures/mutations.graphql",
        host: "tests/it/project/codegen_fixtures/mutations.rs",
        rows: &[],
        tables: &[],
    },
    Fixture {
        sdl: "src/codegen/fixtures/names.graphql",
        host: "tests/it/project/codegen_fixtures/names.rs",
        rows: &[],
        tables: &[],
    },
    Fixture {
        sdl: "src/codegen/fixtures/objects.graphql",
        host: "tests/it/project/codegen_fixtures/objects.rs",
        rows: &[],
        tables: &[],
    },
    Fixture {
        sdl: "src/codegen/fixtures/parts.graphql",
        host: "tests/it/project/codegen_fixtures/parts.rs",
        rows: &[
            ("Author", "tests/it/project/codegen_fixtures/parts/author.rs"),
            ("Poem", "tests/it/project/codegen_fixtures/parts/poem.rs"),
        ],
        tables: &[],
    },
    Fixture {
        sdl: "src/codegen/fixtures/rows.graphql",
        host: "tests/it/project/codegen_fixtures/rows.rs",
        rows: &[
            ("Author", "tests/it/project/codegen_fixtures/rows/author.rs"),
            ("Poem", "tests/it/project/codegen_fixtures/rows/poem.rs"),
        ],
        tables: &["tests/it/project/codegen_fixtures/rows/fondness.rs"],
    },
    Fixture { sdl: "tests/graphql-js/schema.graphql", host: "tests/it/project/library.rs", rows: &[], tables: &[] },
    Fixture { sdl: "benches/executor/schema.graphql", host: "benches/executor/main.rs", rows: &[], tables: &[] },
];

impl Fixture {
    /// The committed output.
    fn generate(&self) -> String {
        let source = read(self.host);
        let mut bindings = codegen::Bindings::read(self.host, &types_module(self.host, &source))
            .unwrap_or_else(|mistakes| panic!("{mistakes}"));
        for (name, file) in self.rows {
            let row = codegen::rows::Row::read(file, &read(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            bindings.add_row(name, row);
        }
        for file in self.tables {
            let row = codegen::rows::Row::read(file, &read(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            bindings.add_table(row);
        }
        codegen::generate(self.sdl, &read(self.sdl), &bindings).unwrap_or_else(|mistakes| panic!("{mistakes}"))
    }

    fn expected(&self) -> PathBuf {
        path(self.sdl).with_extension("rs")
    }
}

/// The source of a file's module `types`.
fn types_module(name: &str, source: &str) -> String {
    let file = syn::parse_file(source).unwrap_or_else(|error| panic!("{name}: {error}"));
    let types = file.items.into_iter().find_map(|item| match item {
        syn::Item::Mod(module) if module.ident == "types" => module.content,
        _ => None,
    });
    let (_, items) = types.unwrap_or_else(|| panic!("{name} has no module `types`"));
    items.iter().map(|item| item.to_token_stream().to_string()).collect::<Vec<_>>().join("\n")
}

fn path(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(relative)
}

fn read(relative: &str) -> String {
    fs::read_to_string(path(relative)).unwrap_or_else(|error| panic!("{relative}: {error}"))
}

/// The first line that differs, in both texts.
fn first_difference(expected: &str, now: &str) -> String {
    let lines = expected.lines().map(Some).chain([None]).zip(now.lines().map(Some).chain([None]));
    let differing = lines.enumerate().find(|(_, (expected, now))| expected != now);
    differing.map_or_else(String::new, |(number, (expected, now))| {
        format!("line {}:\n  - {}\n  + {}", number + 1, expected.unwrap_or("(end)"), now.unwrap_or("(end)"))
    })
}

#[test]
fn the_generators_output_equals_the_fixtures() {
    let mut stale = Vec::new();
    for fixture in FIXTURES {
        let now = fixture.generate();
        assert_eq!(now, fixture.generate(), "{}: not the same twice", fixture.sdl);
        let expected = fixture.expected();
        if env::var_os("UPDATE_FIXTURES").is_some() {
            if fs::read_to_string(&expected).is_ok_and(|expected| expected == now) {
                continue;
            }
            fs::write(&expected, now).unwrap_or_else(|error| panic!("{}: {error}", expected.display()));
            continue;
        }
        let kept = fs::read_to_string(&expected).unwrap_or_default();
        if kept != now {
            stale.push(format!("{}: {}", expected.display(), first_difference(&kept, &now)));
        }
    }
    assert!(stale.is_empty(), "UPDATE_FIXTURES=1 rewrites these; read the difference\n{}", stale.join("\n"));
}

#[test]
fn every_schema_of_the_folder_is_a_fixture() {
    let entries = fs::read_dir(path(FOLDER)).expect("the folder is there");
    let names = entries.map(|entry| format!("{FOLDER}/{}", entry.expect("a readable entry").file_name().display()));
    let found: BTreeSet<String> = names.filter(|name| name.ends_with(".graphql")).collect();
    let known: BTreeSet<String> = FIXTURES.iter().map(|fixture| fixture.sdl.to_owned()).collect();
    let unknown: Vec<_> = found.difference(&known).collect();
    assert!(unknown.is_empty(), "not in FIXTURES: {unknown:?}");
}

/// The source folders of the parsers, whose own test files are tried. Cargo has them, because they are built.
fn parsers() -> Vec<PathBuf> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let rustc = Command::new("rustc").args(["--print", "host-tuple"]).output().expect("rustc starts").stdout;
    let host = String::from_utf8(rustc).expect("rustc answers text");
    // Packages for other platforms may not have been downloaded.
    let of_host = ["--filter-platform", host.trim()];
    let mut metadata = Command::new(cargo);
    metadata.args(["metadata", "--format-version", "1", "--locked", "--offline"]).args(of_host);
    let metadata = metadata.output().expect("cargo starts").stdout;
    let metadata: serde_json::Value = serde_json::from_slice(&metadata).expect("cargo answers JSON");
    let packages = metadata["packages"].as_array().expect("packages").iter();
    let wanted =
        packages.filter(|package| package["name"] == "graphql-parser" || package["name"] == "async-graphql-parser");
    let manifests = wanted.filter_map(|package| package["manifest_path"].as_str());
    manifests.filter_map(|manifest| Path::new(manifest).parent().map(Path::to_owned)).collect()
}

/// Lists the `.graphql` files below a folder.
fn texts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            texts(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "graphql") {
            found.push(path);
        }
    }
}

#[test]
fn nothing_in_the_parsers_own_tests_makes_the_generator_panic() {
    let mut found = Vec::new();
    parsers().iter().for_each(|folder| texts(folder, &mut found));
    assert!(found.len() > 100, "the parsers' sources have {} texts", found.len());
    for path in found {
        // Some are intentionally not UTF-8.
        let sdl = String::from_utf8_lossy(&fs::read(&path).expect("a readable file")).into_owned();
        let name = path.display().to_string();
        // These are fragments of schemas, and operations. What is refused must have a message.
        if let Err(mistakes) = codegen::generate(&name, &sdl, &codegen::Bindings::default()) {
            assert!(!mistakes.to_string().is_empty(), "{name} is refused without a word");
        }
    }
}
