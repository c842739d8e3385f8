//! The generator: an SDL text in, Rust source out; and Rust types of the operations that the program itself sends
//! ([`operations`]).
//!
//! Pure: it reads no file and knows no noun of the catalogue. [`generate`] checks the SDL ([`check`]), lowers it
//! ([`model`]) and writes one Rust text ([`emit`]), the same bytes for the same input. The text is included in a module
//! whose parent has a module `types` that binds SDL names to Rust types ([`Bindings`]); what it calls is in
//! `rollcall::engine`.

pub mod bindings;
pub mod check;
pub mod diagnostics;
mod emit;
mod help;
mod inputs;
mod lower;
pub mod model;
pub mod names;
pub mod operations;
mod respell;
pub mod rows;
mod rules;
mod scopes;
mod source;
mod syntax;
mod unbound;

pub use bindings::Bindings;
pub use check::{Contract, check};
pub use diagnostics::Diagnostics;

/// Turns an SDL text into Rust source.
///
/// # Errors
/// Every mistake in the SDL, with its place. `path` is the file's name in them.
pub fn generate(path: &str, sdl: &str, bindings: &Bindings) -> Result<String, Diagnostics> {
    Ok(check(path, sdl, bindings)?.schema(bindings))
}

impl Contract {
    /// The Rust source of the SDL's types and resolvers.
    pub fn schema(&self, bindings: &Bindings) -> String {
        emit::schema(&self.model, bindings)
    }
}
