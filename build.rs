//! Turns `schema/schema.graphql` into `$OUT_DIR/schema.rs`, and lists the files of the built explorer.

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
const ENTITIES: &str = "src/entity";
const TYPES: &str = "src/graphql/types.rs";
/// Scalar fields whose value needs the request: they hold an address of this installation.
const COMPUTED: &[&str] = &["htmlUrl", "webhookUrl"];

fn main() {
    for path in [SDL, TYPES, ENTITIES, EXPLORER, "src/codegen", "src/app/explorer/embed.rs", "build.rs"] {
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
    for file in entities()? {
        let row = codegen::rows::Row::read(&file, &read(&file)?).map_err(|error| format!("{file}: {error}"))?;
        bindings.add_table(row);
    }
    let code = codegen::generate(SDL, &read(SDL)?, &bindings).map_err(|mistakes| mistakes.to_string())?;
    let files = explorer::table(Path::new(EXPLORER)).map_err(|error| format!("{EXPLORER} cannot be read: {error}"))?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    for (name, text) in [("schema.rs", code), ("explorer.rs", files)] {
        let path = out.join(name);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        fs::write(&path, text).map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
    }
    Ok(())
}

/// The files of the entities, in the order of their names.
fn entities() -> Result<Vec<String>, String> {
    let unreadable = |error: std::io::Error| format!("{ENTITIES} cannot be read: {error}");
    let mut files = Vec::new();
    for entry in fs::read_dir(ENTITIES).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        files.extend(name.to_str().filter(|name| name.ends_with(".rs")).map(|name| format!("{ENTITIES}/{name}")));
    }
    files.sort();
    Ok(files)
}
