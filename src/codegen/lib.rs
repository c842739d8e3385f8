//! The generator: turns an SDL text into Rust source, and operations of the program itself into Rust types
//! ([`operations`]).
//!
//! It is pure: it knows no noun of the catalogue, and only [`checkout`] reads files. [`generate`] checks the SDL ([`check`]), lowers it
//! ([`model`]) and emits one Rust text ([`emit`]), the same bytes for the same input. The text calls `engine`.
//! It is included in a module whose parent has a module `types` that binds SDL names to Rust types ([`Bindings`]).

pub mod bindings;
pub mod check;
pub mod checkout;
mod declarations;
pub mod diagnostics;
mod emit;
mod entities;
mod help;
mod inputs;
mod keys;
mod lower;
pub mod model;
pub mod names;
pub mod operations;
mod parts;
mod relations;
mod respell;
pub mod rows;
mod rules;
mod scopes;
mod source;
mod syntax;
mod unbound;

pub use bindings::Bindings;
pub use check::{Contract, check};
pub use checkout::Checkout;
pub use diagnostics::Diagnostics;

/// Generates Rust source from an SDL text.
///
/// # Errors
/// Every mistake in the SDL, with its location. `path` is the file's name in the report.
pub fn generate(path: &str, sdl: &str, bindings: &Bindings) -> Result<String, Diagnostics> {
    Ok(check(path, sdl, bindings)?.schema(bindings))
}

impl Contract {
    /// Generates the Rust source of the SDL's types and resolvers.
    pub fn schema(&self, bindings: &Bindings) -> String {
        emit::schema(&self.model, bindings)
    }

    /// Generates the lists of tables, for the module `entity`.
    pub fn tables(&self, bindings: &Bindings) -> String {
        bindings.entities.lists(&self.model, bindings)
    }
}
