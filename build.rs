//! Generates `$OUT_DIR/schema.rs` from `schema/schema.graphql`, `$OUT_DIR/tables.rs` from the entities,
//! `$OUT_DIR/operations.rs` from the pages' operations, and `$OUT_DIR/explorer.rs`, which embeds the files of the built
//! explorer.

#[path = "src/app/explorer/embed.rs"]
mod explorer;

use std::path::{Path, PathBuf};
use std::{env, fs, process};

const SDL: &str = "schema/schema.graphql";
const EXPLORER: &str = "src/app/explorer/dist";
const ENTITIES: &str = "src/entity";
const NOUNS: &str = "src/graphql";
const TYPES: &str = "src/graphql/types.rs";
const OPERATIONS: &str = "src/app/operations";

fn main() {
    let own = ["src/app/explorer/embed.rs", "build.rs"];
    for path in [SDL, TYPES, OPERATIONS, ENTITIES, EXPLORER].into_iter().chain(own) {
        println!("cargo::rerun-if-changed={path}");
    }
    if let Err(message) = build() {
        eprintln!("{message}");
        process::exit(1);
    }
}

fn build() -> Result<(), String> {
    let mut bindings = codegen::Bindings::read(TYPES, &read(TYPES)?).map_err(|mistakes| mistakes.to_string())?;
    for file in files(ENTITIES, ".rs")? {
        bindings.add_entity(&file, &read(&file)?)?;
    }
    for folder in tree(NOUNS)? {
        files(&folder, ".rs")?.iter().for_each(|file| bindings.add_file(file));
    }
    let contract = codegen::check(SDL, &read(SDL)?, &bindings).map_err(|mistakes| mistakes.to_string())?;
    let operations = operations(&contract)?;
    let files = explorer::table(Path::new(EXPLORER)).map_err(|error| format!("{EXPLORER} cannot be read: {error}"))?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let (schema, tables) = (contract.schema(&bindings), contract.tables(&bindings));
    for (name, text) in
        [("schema.rs", schema), ("tables.rs", tables), ("operations.rs", operations), ("explorer.rs", files)]
    {
        let path = out.join(name);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        fs::write(&path, text).map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
    }
    Ok(())
}

/// Lists the files in a folder with this name suffix, sorted by name.
fn files(folder: &str, ending: &str) -> Result<Vec<String>, String> {
    let paths = listed(folder)?.into_iter().filter(|path| path.is_file());
    Ok(paths.filter_map(|path| path.to_str().map(str::to_owned)).filter(|path| path.ends_with(ending)).collect())
}

/// Lists a folder and all folders below it, each before those that are in it.
fn tree(folder: &str) -> Result<Vec<String>, String> {
    let mut folders = vec![folder.to_owned()];
    for path in listed(folder)?.iter().filter(|path| path.is_dir()) {
        folders.extend(tree(path.to_str().ok_or("a folder's name is not text")?)?);
    }
    Ok(folders)
}

/// Lists what is in a folder, sorted by name.
fn listed(folder: &str) -> Result<Vec<PathBuf>, String> {
    let unread = |error: std::io::Error| format!("{folder} cannot be read: {error}");
    let entries = fs::read_dir(folder).map_err(unread)?;
    let mut paths =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>().map_err(unread)?;
    paths.sort();
    Ok(paths)
}

/// Reads a file. The error names it.
fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{path} cannot be read: {error}"))
}

/// Generates the Rust code of the pages' operations, in the order of their file names.
fn operations(contract: &codegen::Contract) -> Result<String, String> {
    let mut operations = Vec::new();
    for path in files(OPERATIONS, ".graphql")? {
        let text = read(&path)?;
        operations.push(codegen::operations::File { path, text });
    }
    let types = format!("{OPERATIONS}/types.rs");
    let bindings = codegen::Bindings::read(&types, &read(&types)?).map_err(|mistakes| mistakes.to_string())?;
    let all =
        |reports: Vec<codegen::Diagnostics>| reports.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    codegen::operations::generate(contract, &operations, &bindings).map_err(all)
}
