//! The rules of the house: which modules may depend on which, and where things are done. Each failure message gives the
//! reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The Rust files below a folder of the project, or a single file, with their texts.
fn sources(place: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    let mut next = vec![root.join(place)];
    while let Some(path) = next.pop() {
        // npm packages of the explorer.
        if path.ends_with("node_modules") {
            continue;
        }
        if path.is_dir() {
            next.extend(
                fs::read_dir(&path).expect("a folder of the project").map(|entry| entry.expect("an entry").path()),
            );
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(read(root, path));
        }
    }
    assert!(!files.is_empty(), "{place} has no Rust file: the rule looks at nothing");
    files.sort();
    files
}

fn read(root: &Path, path: PathBuf) -> (String, String) {
    let text = fs::read_to_string(&path).expect("a source file");
    let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
    (name, text)
}

/// The places below `place` where code (not a comment) contains one of `words`, except in `allowed` files and folders.
fn found(place: &str, words: &[&str], allowed: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (name, text) in sources(place) {
        if allowed.iter().any(|allowed| name == *allowed || name.starts_with(&format!("{allowed}/"))) {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if let Some(word) = words.iter().find(|word| code.contains(**word)) {
                found.push(format!("{name}:{}: {word}", number + 1));
            }
        }
    }
    found
}

/// Fails if one of `words` occurs where it is not allowed.
fn nowhere(place: &str, words: &[&str], allowed: &[&str], why: &str) {
    // A word for a module that is gone would forbid nothing.
    for module in words.iter().filter_map(|word| word.strip_prefix("crate::")).filter(|_| place.starts_with("src")) {
        let path = module.trim_end_matches([':', ';']).replace("::", "/");
        let exists = |root: &str| {
            let path = format!("{}/{root}/{path}", env!("CARGO_MANIFEST_DIR"));
            Path::new(&path).exists() || Path::new(&format!("{path}.rs")).exists()
        };
        assert!(exists("src") || exists("src/catalogue"), "there is no {path}");
    }
    let found = found(place, words, allowed);
    assert!(found.is_empty(), "{why}\n{}", found.join("\n"));
}

#[test]
fn hyper_is_used_only_in_http() {
    let why = "Only http/ knows hyper, so that the rest can be read, tested and changed without a socket.";
    nowhere("src", &["hyper::", "hyper_util::", "http_body_util::"], &["src/http"], why);
}

#[test]
fn opentelemetry_is_used_only_in_spans() {
    let why = "Only spans/ knows OpenTelemetry, so that one folder decides what spans cost and contain.";
    nowhere("src", &["opentelemetry::", "opentelemetry_sdk::", "opentelemetry_otlp::"], &["src/catalogue/spans"], why);
}

#[test]
fn entities_and_deploys_do_not_import_graphql() {
    let why = "Entities and the webhook serve every surface, and must not depend on one of them.";
    for place in ["src/catalogue/entity", "src/catalogue/deploy", "src/catalogue/service_file"] {
        nowhere(place, &["async_graphql", "apollo_compiler", "crate::graphql"], &[], why);
    }
}

#[test]
fn the_engine_names_no_noun_and_no_table() {
    let why = "The engine runs any schema over any state: what belongs to the catalogue is in graphql/ and below.";
    nowhere("src/engine", &["catalogue::", "sea_orm", "rusqlite"], &[], why);
}

/// A file of a crate.
struct Module {
    /// Its path from the root of the crate.
    path: Vec<String>,
    /// The paths from there that its code names: of modules, and of what is in them.
    named: Vec<Vec<String>>,
}

/// The files of a crate. Tests may name anything.
fn modules(root: &str) -> Vec<Module> {
    let module = |(name, text): (String, String)| {
        let inside = name.strip_prefix(root).unwrap_or(&name).trim_matches('/').trim_end_matches(".rs");
        let mut path: Vec<String> = inside.split('/').map(str::to_owned).collect();
        // What a folder declares is its own, and all that is in it may name that.
        path.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
        let named = named(&path, &code.join("\n"));
        Module { path, named }
    };
    sources(root).into_iter().filter(|(name, _)| !name.contains("/fixtures/")).map(module).collect()
}

fn is_in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The paths behind `crate`, `super` and `self` in the code of a module, from the root of its crate.
fn named(module: &[String], code: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for word in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(word) {
            // Unless it is the end of a longer name, or the second `super`.
            if !code[..at].ends_with(|c| is_in_name(c) || c == ':') {
                read_path(&code[at..], &[], &mut paths);
            }
        }
    }
    let from_root = |path: Vec<&str>| {
        let above = path.iter().take_while(|part| **part == "super").count();
        let (base, rest) = match path[0] {
            "crate" => (&module[..0], &path[1..]),
            "self" => (module, &path[1..]),
            _ => (&module[..module.len().saturating_sub(above)], &path[above..]),
        };
        base.iter().cloned().chain(rest.iter().map(|part| (*part).to_owned())).collect()
    };
    paths.into_iter().map(from_root).collect()
}

/// Reads a path, or a tree of paths as in `use`, behind the parts before it. Returns the code that follows.
fn read_path<'c>(code: &'c str, before: &[&'c str], paths: &mut Vec<Vec<&'c str>>) -> &'c str {
    if let Some(mut rest) = code.strip_prefix('{') {
        loop {
            let behind = read_path(rest.trim_start(), before, paths);
            // Over `as` and another name.
            let Some(end) = behind.find([',', '}']) else { return "" };
            rest = &behind[end + 1..];
            if behind[end..].starts_with('}') {
                return rest;
            }
        }
    }
    let (name, rest) = code.split_at(code.find(|c| !is_in_name(c)).unwrap_or(code.len()));
    let mut path = before.to_vec();
    path.extend(Some(name).filter(|name| !name.is_empty()));
    match rest.strip_prefix("::") {
        Some(inside) => read_path(inside, &path, paths),
        None => {
            paths.push(path);
            rest
        }
    }
}

/// The files and folders in a folder, each with those of them that its code names.
fn siblings(modules: &[Module], folder: &[String]) -> BTreeMap<String, BTreeSet<String>> {
    let inside = |path: &[String]| path.strip_prefix(folder)?.first().cloned();
    let mut all: BTreeMap<String, BTreeSet<String>> =
        modules.iter().filter_map(|module| Some((inside(&module.path)?, BTreeSet::new()))).collect();
    for module in modules {
        let Some(own) = inside(&module.path) else { continue };
        let names = module.named.iter().filter_map(|path| inside(path));
        let names: Vec<String> = names.filter(|name| *name != own && all.contains_key(name)).collect();
        all.entry(own).or_default().extend(names);
    }
    all
}

/// Those that name each other, however many steps it takes, and what is between them.
fn circle(mut left: BTreeMap<String, BTreeSet<String>>) -> BTreeMap<String, BTreeSet<String>> {
    loop {
        let before = left.len();
        let names: BTreeSet<String> = left.keys().cloned().collect();
        let named: BTreeSet<String> = left.values().flatten().cloned().collect();
        left.retain(|name, used| named.contains(name) && !used.is_disjoint(&names));
        if left.len() == before {
            return left;
        }
    }
}

const NO_CIRCLES: &str = "What depends on each other can only be read together. Move what both need below both.";

/// The crates within `src`: each has a root of its own.
const CRATES: [&str; 5] = ["app", "catalogue", "codegen", "engine", "spelling"];

/// The files of the crate of the program, without those of the other crates.
fn program() -> Vec<Module> {
    let mut modules = modules("src");
    modules.retain(|module| !module.path.first().is_some_and(|first| CRATES.contains(&first.as_str())));
    modules
}

#[test]
fn the_folders_have_no_cyclic_dependencies() {
    for modules in [program(), modules("src/app"), modules("src/catalogue")] {
        let folders = siblings(&modules, &[]);
        let named = folders.values().map(BTreeSet::len).sum::<usize>();
        assert!(named > 10, "the rule looks at nothing: {named} in {folders:?}");
        let circle = circle(folders);
        assert!(circle.is_empty(), "{NO_CIRCLES}\n{circle:#?}");
    }
}

/// The folders whose files still name each other in circles. Add none; take out one whose files no longer do.
const WITH_CIRCLES: [&str; 13] = [
    "src/cli/check",
    "src/http",
    "src/catalogue/db",
    "src/catalogue/db/sqlite",
    "src/catalogue/entity",
    "src/catalogue/events",
    "src/catalogue/graphql",
    "src/catalogue/graphql/request",
    "src/catalogue/graphql/standards",
    "src/catalogue/graphql/standards/check",
    "src/catalogue/service_file",
    "src/codegen",
    "src/codegen/emit",
];

#[test]
fn the_files_of_a_folder_have_no_cyclic_dependencies() {
    let mut crates = vec![("src".to_owned(), program())];
    crates.extend(CRATES.map(|name| format!("src/{name}")).map(|root| (root.clone(), modules(&root))));
    let mut with_circles = Vec::new();
    let mut count = 0;
    for (root, modules) in &crates {
        let folders = modules.iter().flat_map(|module| (0..module.path.len()).map(|end| &module.path[..end]));
        for folder in folders.collect::<BTreeSet<_>>() {
            let name = [std::slice::from_ref(root), folder].concat().join("/");
            let files = siblings(modules, folder);
            count += files.values().map(BTreeSet::len).sum::<usize>();
            let circle = circle(files);
            assert!(circle.is_empty() || WITH_CIRCLES.contains(&name.as_str()), "{NO_CIRCLES}\n{name}: {circle:#?}");
            with_circles.extend((!circle.is_empty()).then_some(name));
        }
    }
    assert!(count > 1_000, "the rule looks at nothing: {count}");
    assert_eq!(with_circles, WITH_CIRCLES, "take out the folders that no longer have circles");
}

#[test]
fn a_circle_is_found() {
    let in_app = ["app".to_owned()];
    let mut modules = program();
    let mut add = |name: &str, code: &str| {
        let path = vec!["app".to_owned(), name.to_owned()];
        modules.push(Module { named: named(&path, code), path });
    };
    add("first", "use super::{Site, second::{Two as Other, two}};");
    add("second", "fn three() -> crate::app::third::Three { super::fourth::four() }");
    add("third", "use super::fourth;");
    add("fourth", "use crate::{app::{first::One, visit::Visit}, db};");
    let circle: Vec<String> = circle(siblings(&modules, &in_app)).into_keys().collect();
    assert_eq!(circle, ["first", "fourth", "second", "third"]);
}

#[test]
fn nothing_imports_the_process() {
    let why = "cli/ is the process around the catalogue: what several commands share belongs below it.";
    nowhere("src", &["crate::cli::", "crate::cli;"], &["src/cli"], why);
}

#[test]
fn lower_layers_do_not_import_upper_layers() {
    let why = "Dependencies point one way: service_file, deploy -> entity. What two share belongs below both.";
    nowhere("src/catalogue/entity", &["crate::deploy", "crate::service_file"], &[], why);
    nowhere("src/transfer", &["crate::http", "crate::app", "crate::config", "crate::graphql"], &[], why);
}

#[test]
fn the_catalogue_knows_no_surface_and_pages_no_http() {
    let why = "Pages stand on the catalogue, HTTP and the command line on both: none of them is below another.";
    let catalogue = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/catalogue/Cargo.toml"));
    let app = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/app/Cargo.toml"));
    for (manifest, others) in [
        (catalogue, &["app", "clap", "http-body-util", "hyper", "maud", "openidconnect", "rmcp"][..]),
        (app, &["clap", "http-body-util", "hyper", "rmcp", "rusqlite"]),
    ] {
        assert!(manifest.contains("\nsea-orm"), "the rule looks at nothing");
        for other in others {
            assert!(!manifest.contains(&format!("\n{other}.")), "{why}\n{other}");
            assert!(!manifest.contains(&format!("\n{other} =")), "{why}\n{other}");
        }
    }
}

#[test]
fn a_statement_outside_the_database_says_which_table_it_changes() {
    let why =
        "The audit and the permissions follow from the rows that a statement changes: write through a typed `Write`.";
    // An import empties tables by their names.
    let allowed = ["src/catalogue/db", "src/transfer/import.rs"];
    nowhere("src", &["execute_change(", "execute_script(", "change_untyped(", ".script("], &allowed, why);
}

#[test]
fn a_backend_is_named_in_one_folder() {
    let why = "One code path serves SQLite and PostgreSQL; what differs between them is in db/ and migration/.";
    let words = ["DbBackend", "DatabaseBackend", "Sqlite", "Postgres", "sqlite::", "postgres::", "PRAGMA", "rusqlite"];
    nowhere("src", &words, &["src/catalogue/db"], why);
}

#[test]
fn sql_text_is_only_in_db() {
    let why = "Statements are built, not written: SQL text stands in db/ and migration/ alone.";
    let words =
        ["\"SELECT ", "\"INSERT ", "\"UPDATE ", "\"DELETE ", "Statement::from_s", "execute_unprepared", "raw_sql"];
    nowhere("src", &words, &["src/catalogue/db"], why);
}

#[test]
fn the_environment_is_read_in_one_file() {
    let why = "Every setting is a flag and a variable of config/, so that --help shows them all.";
    // The generator is used by the build script and the tests, and has its own rule. libpq's variables are not ours.
    let allowed = ["src/config/mod.rs", "src/codegen", "src/catalogue/db/postgres/defaults.rs"];
    let words = ["env::var", "env::args", "std::env", "env!(\"ROLLCALL"];
    nowhere("src", &words, &allowed, why);
}

#[test]
fn the_generator_does_no_io() {
    let why =
        "codegen/ is a function from text to text: only checkout.rs reads files, and the build script writes them.";
    let words = [
        "fs::read",
        "fs::write",
        "fs::create",
        "fs::remove",
        "File::",
        "println!",
        "eprintln!",
        "std::env",
        "std::process",
        "std::net",
    ];
    let tests_begin = |text: &str| text.find("#[cfg(test)]").unwrap_or(text.len());
    for (name, text) in sources("src/codegen") {
        if name.contains("/fixtures/") || name.ends_with("/checkout.rs") {
            continue;
        }
        let code = &text[..tests_begin(&text)];
        for word in words {
            assert!(!code.contains(word), "{why}\n{name}: {word}");
        }
    }
}

#[test]
fn the_generator_names_no_noun_of_the_catalogue() {
    let why = "The generator serves any SDL: a noun of the catalogue in its code would be a special case.";
    let words = [
        "\"Service",
        "\"Team",
        "\"Tag\"",
        "\"Tier",
        "\"Repository",
        "\"Integration",
        "\"Deploy",
        "CodeIssue",
        "\"Account",
    ];
    let tests_begin = |text: &str| text.find("#[cfg(test)]").unwrap_or(text.len());
    for (name, text) in sources("src/codegen") {
        if name.contains("/fixtures/") {
            continue;
        }
        for (number, line) in text[..tests_begin(&text)].lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let word = words.iter().find(|word| code.contains(**word));
            assert!(word.is_none(), "{why}\n{name}:{}: {}", number + 1, line.trim());
        }
    }
}

#[test]
fn generated_code_uses_only_the_engine_and_types() {
    let why = "Generated code calls the engine and names what types.rs binds; anything else would tie it to the nouns.";
    let code = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/graphql-js/schema.rs"));
    let uses: Vec<&str> = code.lines().filter_map(|line| line.trim_start().strip_prefix("use ")).collect();
    let others: Vec<_> = uses.iter().filter(|path| !path.starts_with("super::")).collect();
    assert_eq!(others, [&"::engine::generated as __e;"], "{why}");
    assert!(!code.contains("crate::"), "{why}");
}

#[test]
fn tests_share_only_what_is_in_the_harness() {
    let why = "What two tests need lies in tests/it/harness, where the next one looks for it.";
    let folders = include_str!("../main.rs").lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    let words = folders.filter(|folder| *folder != "harness").map(|folder| format!("crate::{folder}::"));
    let words: Vec<String> = words.collect();
    assert!(words.len() > 10, "the rule looks at nothing");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // These belong together: fixtures and the test of them, a schema and the test that asks it.
    let together = ["codegen_fixtures", "executor.rs", "library.rs"].map(|name| format!("tests/it/project/{name}"));
    nowhere("tests/it", &words, &together.each_ref().map(String::as_str), why);
}

#[test]
fn updated_at_is_never_before_created_at() {
    let why = "A clock may be set back: `touch` and `touched` of entity/timestamp.rs keep the later moment.";
    let words =
        ["updated_at = Set(", "updated_at = Timestamp::now()", "updated_at = now", "update_column(Column::UpdatedAt"];
    nowhere("src", &words, &["src/catalogue/entity/timestamp.rs"], why);
}

#[test]
fn pages_use_only_operations_that_the_build_has_checked() {
    let why =
        "What pages ask stands in src/app/operations/, where the build holds it against the SDL; ask.rs sends it.";
    nowhere("src/app", &["Request::new", "catalogue.prepare", "catalogue.execute"], &["src/app/ask.rs"], why);
}

#[test]
fn responses_are_built_in_one_file() {
    let why = "What every response has in common (headers, lengths, shapes of errors) is kept by http/reply/ alone.";
    nowhere("src", &["Response::new", "Response::builder"], &["src/http/reply"], why);
}

#[test]
fn no_function_is_too_long() {
    let why = "A function of more than 60 lines does several things: give each a name.";
    let mut count = 0;
    for (name, text) in sources("src") {
        if name.contains("/fixtures/") {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines: Vec<&str> = code.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let head = line.trim_start();
            let is_function = head.split("fn ").next().is_some_and(|before| {
                head.len() > before.len()
                    && before
                        .split_whitespace()
                        .all(|word| word.starts_with("pub") || ["const", "async"].contains(&word))
            });
            if !is_function || head.ends_with(['}', ';']) {
                continue;
            }
            let indent = &line[..line.len() - head.len()];
            let ends = |line: &&str| {
                line.strip_prefix(indent)
                    .is_some_and(|rest| rest == "}" || rest.starts_with(')') && rest.ends_with(';'))
            };
            let length = lines[at..].iter().position(ends).map_or(0, |end| end + 1);
            assert!(length <= 60, "{why}\n{name}:{}: {length} lines", at + 1);
            count += 1;
        }
    }
    assert!(count > 500, "the rule looks at {count} functions");
}

#[test]
fn no_file_is_too_long() {
    let why = "Past 400 lines look for a second noun; past 500 there is one.";
    for (name, text) in sources("src") {
        if !name.contains("/fixtures/") {
            let lines = text.lines().count();
            assert!(lines <= 500, "{why}\n{name} has {lines}");
        }
    }
}

#[test]
fn no_module_has_a_meaningless_name() {
    let why = "utils, helpers, common and manager say nothing: name a file after what is in it.";
    for (name, _) in sources("src") {
        for word in ["util", "helper", "common", "manager", "misc"] {
            assert!(!name.contains(word), "{why}\n{name}");
        }
    }
}

#[test]
fn what_a_team_owns_goes_to_its_successor() {
    let why = "A team that is deleted hands over what it owns.";
    let file = "src/catalogue/graphql/team/hand_over.rs";
    // Standards lose their owner, because whoever deletes a team may not change them. The audit keeps who owned a thing then.
    let stay = ["audit", "campaign", "check", "scorecard"];
    let hand_over = std::fs::read_to_string(format!("{}/{file}", env!("CARGO_MANIFEST_DIR"))).expect("the file");
    let mut count = 0;
    for (name, text) in sources("src/catalogue/entity") {
        let table = name.rsplit('/').next().and_then(|name| name.strip_suffix(".rs")).expect("a file of Rust");
        if text.contains("pub owner_id: ") && !stay.contains(&table) {
            assert!(hand_over.contains(&format!("owned!({table}, ")), "{why}\n{file} has no line for {table}");
            count += 1;
        }
    }
    assert!(count >= 5, "the rule looks at nothing");
}
