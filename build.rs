//! Generates Rust code for two crates, both of which run this:
//!
//! - `catalogue`: `schema.rs`, from `schema/schema.graphql` and what `types.rs` and the entities say of it, and
//!   `tables.rs`, from the entities;
//! - `app`: `operations.rs`, from the pages' operations, and `explorer.rs`, which embeds the files of the built
//!   explorer.

#[path = "src/app/explorer/embed.rs"]
mod explorer;

use std::path::PathBuf;
use std::{env, fs, process};

use codegen::Checkout;
use codegen::checkout::{READ, SDL};

const EXPLORER: &str = "src/app/explorer/dist";
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
    let checkout = Checkout { root };
    let is_catalogue = env::var("CARGO_PKG_NAME").is_ok_and(|name| name == "catalogue");
    let own = if is_catalogue { &[][..] } else { &[OPERATIONS, EXPLORER, "src/app/explorer/embed.rs"] };
    for path in READ.iter().chain(&["build.rs"]).chain(own) {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }
    for (name, text) in if is_catalogue { catalogue(checkout)? } else { pages(checkout)? } {
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

fn catalogue(checkout: Checkout<'_>) -> Result<Generated, String> {
    let (contract, bindings) = checkout.contract()?;
    Ok([("schema.rs", contract.schema(&bindings)), ("tables.rs", contract.tables(&bindings))])
}

fn pages(checkout: Checkout<'_>) -> Result<Generated, String> {
    let (contract, _) = checkout.contract()?;
    let dist = checkout.root.join(EXPLORER);
    let files = explorer::table(&dist).map_err(|error| format!("{EXPLORER} cannot be read: {error}"))?;
    Ok([("operations.rs", operations(checkout, &contract)?), ("explorer.rs", files)])
}

/// Generates the Rust code of the pages' operations, in the order of their file names.
fn operations(checkout: Checkout<'_>, contract: &codegen::Contract) -> Result<String, String> {
    let mut operations = Vec::new();
    for path in checkout.files(OPERATIONS, ".graphql")? {
        let text = checkout.read(&path)?;
        operations.push(codegen::operations::File { path, text });
    }
    let types = format!("{OPERATIONS}/types.rs");
    let bindings = codegen::Bindings::read(&types, &checkout.read(&types)?).map_err(|mistakes| mistakes.to_string())?;
    let all =
        |reports: Vec<codegen::Diagnostics>| reports.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    codegen::operations::generate(contract, &operations, &bindings).map_err(all)
}
