//! The program's own operations: turns `.graphql` texts into Rust types of their variables and responses.
//!
//! Pure, like the rest of the generator. `check` validates the operations against the SDL, `shape` determines the types
//! of their responses, `naming` names them, `emit` and `inputs` write them. The output is included in a module with a
//! module `types` that binds the SDL's scalars to Rust types.
//!
//! - `query Orders` becomes a struct `Orders` of its variables, which implements the trait `Operation`. The types of
//!   its response are in a module `orders`.
//! - A selection becomes a struct named after the SDL type that it selects from, or an enum if it has fragments on
//!   several types.
//! - A fragment becomes a type of the same name, shared by all operations that spread it.

mod check;
mod emit;
mod help;
mod inputs;
mod keys;
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
    /// Its name in reports.
    pub path: String,
    /// Its contents.
    pub text: String,
}

/// Generates Rust source from operations. `bindings` are those of the module `types` beside the output.
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
    Ok(emit::operations(model, &definitions, &inputs, &words))
}

/// The problems found so far, with their locations.
#[derive(Default)]
struct Reports {
    found: Vec<(Option<SourceSpan>, Problem)>,
    unbound: BTreeSet<String>,
}

impl Reports {
    fn report(&mut self, at: Option<SourceSpan>, message: impl Into<String>, help: impl Into<String>) {
        self.found.push((at, Problem::new(None, message, Some(help.into()))));
    }

    /// Reports a custom scalar without a Rust type, at its first use.
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
