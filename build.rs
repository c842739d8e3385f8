//! Turns `schema/schema.graphql` into `$OUT_DIR/schema.rs`, and the pages' operations into `$OUT_DIR/operations.rs`;
//! lists the files of the built explorer.

#[path = "src/codegen/mod.rs"]
// The problems one by one are for tests and benches.
#[allow(dead_code)]
mod codegen;
#[path = "src/app/explorer/embed.rs"]
mod explorer;

use std::path::{Path, PathBuf};
use std::{env, fs, process};

const SDL: &str = "schema/schema.graphql";
const EXPLORER: &str = "src/app/explorer/dist";
const TYPES: &str = "src/graphql/types.rs";
const OPERATIONS: &str = "src/app/operations";
/// Scalar fields whose value needs the request: they hold an address of this installation.
const COMPUTED: &[&str] = &["htmlUrl", "webhookUrl"];

fn main() {
    let own = ["src/codegen", "src/app/explorer/embed.rs", "build.rs"];
    for path in [SDL, TYPES, OPERATIONS, EXPLORER, "src/entity"].into_iter().chain(own) {
        println!("cargo::rerun-if-changed={path}");
    }
    if let Err(message) = build() {
        eprintln!("{message}");
        process::exit(1);
    }
}

fn build() -> Result<(), String> {
    let read = |path: &str| fs::read_to_string(path).map_err(|error| format!("{path} cannot be read: {error}"));
    let mut bindings = codegen::Bindings::read(&read(TYPES)?, COMPUTED).map_err(|error| format!("{TYPES}: {error}"))?;
    for (name, file) in bindings.entities() {
        let row = codegen::rows::Row::read(&file, &read(&file)?).map_err(|error| format!("{file}: {error}"))?;
        bindings.add_row(&name, row);
    }
    let contract = codegen::check(SDL, &read(SDL)?, &bindings).map_err(|mistakes| mistakes.to_string())?;
    let operations = operations(&contract)?;
    let files = explorer::table(Path::new(EXPLORER)).map_err(|error| format!("{EXPLORER} cannot be read: {error}"))?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    for (name, text) in
        [("schema.rs", contract.schema(&bindings)), ("operations.rs", operations), ("explorer.rs", files)]
    {
        let path = out.join(name);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        fs::write(&path, text).map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
    }
    Ok(())
}

/// The Rust of the pages' operations, in the order of their files' names.
fn operations(contract: &codegen::Contract) -> Result<String, String> {
    let unread = |error| format!("{OPERATIONS} cannot be read: {error}");
    let mut files = Vec::new();
    for entry in fs::read_dir(OPERATIONS).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        if path.extension().is_some_and(|extension| extension == "graphql") {
            let text = fs::read_to_string(&path).map_err(unread)?;
            files.push(codegen::operations::File { path: path.display().to_string(), text });
        }
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    let types = format!("{OPERATIONS}/types.rs");
    let source = fs::read_to_string(&types).map_err(unread)?;
    let bindings = codegen::Bindings::read(&source, &[]).map_err(|error| format!("{types}: {error}"))?;
    let all =
        |reports: Vec<codegen::Diagnostics>| reports.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    codegen::operations::generate(contract, &files, &bindings).map_err(all)
}
