//! Generates Rust code for two crates, both of which run this:
//!
//! - `catalogue`: `schema.rs`, from `schema/schema.graphql` and what `types.rs` and the entities say of it, and
//!   `tables.rs`, from the entities;
//! - `app`: `operations.rs`, from the pages' operations, and `explorer.rs`, which embeds the files of the built
//!   explorer.

#[path = "src/app/explorer/embed.rs"]
mod explorer;

use std::path::{Path, PathBuf};
use std::{env, fs, process};

const SDL: &str = "schema/schema.graphql";
const EXPLORER: &str = "src/app/explorer/dist";
const ENTITIES: &str = "src/catalogue/entity";
const NOUNS: &str = "src/catalogue/graphql";
const TYPES: &str = "src/catalogue/graphql/types.rs";
const OPERATIONS: &str = "src/app/operations";

fn main() {
    if let Err(message) = build() {
        eprintln!("{message}");
        process::exit(1);
    }
}

fn build() -> Result<(), String> {
    let from = |name| env::var_os(name).map(PathBuf::from).ok_or(format!("{name} is not set"));
    let (folder, out) = (from("CARGO_MANIFEST_DIR")?, from("OUT_DIR")?);
    let root = folder.ancestors().find(|folder| folder.join(SDL).exists()).ok_or(format!("{SDL} is not there"))?;
    env::set_current_dir(root).map_err(|error| format!("{}: {error}", root.display()))?;
    let is_catalogue = env::var("CARGO_PKG_NAME").is_ok_and(|name| name == "catalogue");
    let own = if is_catalogue { &[][..] } else { &[OPERATIONS, EXPLORER, "src/app/explorer/embed.rs"] };
    for path in [SDL, TYPES, ENTITIES, "build.rs"].iter().chain(own) {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }
    for (name, text) in if is_catalogue { catalogue()? } else { pages()? } {
        let path = out.join(name);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        fs::write(&path, text).map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
    }
    Ok(())
}

/// Files with what they contain.
type Generated = [(&'static str, String); 2];

fn catalogue() -> Result<Generated, String> {
    let (contract, bindings) = contract()?;
    Ok([("schema.rs", contract.schema(&bindings)), ("tables.rs", contract.tables(&bindings))])
}

fn pages() -> Result<Generated, String> {
    let (contract, _) = contract()?;
    let files = explorer::table(Path::new(EXPLORER)).map_err(|error| format!("{EXPLORER} cannot be read: {error}"))?;
    Ok([("operations.rs", operations(&contract)?), ("explorer.rs", files)])
}

/// Reads the SDL, and what it is bound to.
fn contract() -> Result<(codegen::Contract, codegen::Bindings), String> {
    let mut bindings = codegen::Bindings::read(TYPES, &read(TYPES)?).map_err(|mistakes| mistakes.to_string())?;
    for file in files(ENTITIES, ".rs")? {
        bindings.add_entity(&file, &read(&file)?)?;
    }
    for folder in tree(NOUNS)? {
        files(&folder, ".rs")?.iter().for_each(|file| bindings.add_file(file));
    }
    let contract = codegen::check(SDL, &read(SDL)?, &bindings).map_err(|mistakes| mistakes.to_string())?;
    Ok((contract, bindings))
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
