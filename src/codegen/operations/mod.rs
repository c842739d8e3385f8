//! Operations that the program itself sends: `.graphql` texts in, Rust types of their variables and answers out.
//!
//! Pure, like the rest of the generator. `check` holds the operations against the SDL, `shape` reads the types of their
//! answers, `naming` names them, `emit` and `inputs` write them. The output is included in a module that has a module
//! `types`, which binds the SDL's scalars to Rust types:
//!
//! - `query Orders` becomes a struct `Orders` of its variables, which implements the trait `Operation`; the types of
//!   its answer are in a module `orders`;
//! - a selection becomes a struct named for the type of the SDL that it selects from, or an enum where it has fragments
//!   on several types;
//! - a fragment becomes a type of its own name, which all operations share that spread it.

mod check;
mod emit;
mod help;
mod inputs;
mod naming;
mod shape;

use std::collections::BTreeSet;

use apollo_compiler::parser::SourceSpan;

use super::bindings::Bindings;
use super::check::Contract;
use super::diagnostics::{Diagnostics, Problem};
use super::model::{Schema, Type};

/// A file of operations and fragments.
#[derive(Debug, Clone)]
pub struct File {
    /// How reports name it.
    pub path: String,
    /// What stands in it.
    pub text: String,
}

/// Turns operations into Rust source. `bindings` are those of the module `types` beside the output.
///
/// # Errors
/// Every mistake in the operations, by file.
pub fn generate(contract: &Contract, files: &[File], bindings: &Bindings) -> Result<String, Vec<Diagnostics>> {
    let model = &contract.model;
    let check::Checked { document, places } = check::check(contract, files)?;
    let mut reports = Reports::default();
    let mut definitions = shape::definitions(model, bindings, &document, files, &places, &mut reports);
    naming::name(&mut definitions, &mut reports);
    let inputs = inputs::used(model, bindings, &definitions, &mut reports);
    let answered = emit::answered_words(model, &definitions);
    let words: BTreeSet<&str> = answered.union(&inputs.words).copied().collect();
    naming::check(&definitions, &inputs, &words, &mut reports);
    if !reports.found.is_empty() {
        return Err(places.diagnostics(files, reports.found));
    }
    Ok(emit::operations(model, &definitions, &inputs, &answered))
}

/// Problems found so far, with their places.
#[derive(Default)]
struct Reports {
    found: Vec<(Option<SourceSpan>, Problem)>,
    unbound: BTreeSet<String>,
}

impl Reports {
    fn report(&mut self, at: Option<SourceSpan>, message: impl Into<String>, help: impl Into<String>) {
        self.found.push((at, Problem::new(None, message, Some(help.into()))));
    }

    /// Reports a custom scalar without a Rust type, where it is first used.
    fn bound(&mut self, name: &str, model: &Schema, bindings: &Bindings, at: Option<SourceSpan>) {
        let is_custom = matches!(model.get(name), Some(Type::Scalar(_)));
        if is_custom && !bindings.binds(name) && self.unbound.insert(name.to_owned()) {
            self.report(
                at,
                format!("the scalar `{name}` has no Rust type here"),
                format!("add `pub use … as {name};` to the module `types` beside the generated operations"),
            );
        }
    }
}
