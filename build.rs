//! Turns `schema/schema.graphql` into `$OUT_DIR/schema.rs`.

#[path = "src/codegen/mod.rs"]
// The problems one by one are for tests and benches.
#[allow(dead_code)]
mod codegen;

use std::path::Path;
use std::{env, fs, process};

const SDL: &str = "schema/schema.graphql";
const TYPES: &str = "src/graphql/types.rs";
/// Scalar fields whose value needs the request: they hold an address of this installation.
const COMPUTED: &[&str] = &["htmlUrl", "webhookUrl"];

fn main() {
    for path in [SDL, TYPES, "src/codegen", "build.rs"] {
        println!("cargo::rerun-if-changed={path}");
    }
    if let Err(message) = build() {
        eprintln!("{message}");
        process::exit(1);
    }
}

fn build() -> Result<(), String> {
    let read = |path: &str| fs::read_to_string(path).map_err(|error| format!("{path} cannot be read: {error}"));
    let bindings = codegen::Bindings::read(&read(TYPES)?, COMPUTED).map_err(|error| format!("{TYPES}: {error}"))?;
    let code = codegen::generate(SDL, &read(SDL)?, &bindings).map_err(|mistakes| mistakes.to_string())?;
    let out = Path::new(&env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?).join("schema.rs");
    if fs::read_to_string(&out).is_ok_and(|old| old == code) {
        return Ok(());
    }
    fs::write(&out, code).map_err(|error| format!("{} cannot be written: {error}", out.display()))
}
