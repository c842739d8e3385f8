//! What is wrong with a request, as far as it is told: the first few errors say it.

use async_graphql::ServerError;

/// The most errors that are collected before a request is refused.
pub const MOST: usize = 20;

/// The first errors of a request.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<ServerError>);

impl Faults {
    /// One more, unless there are enough.
    pub(super) fn push(&mut self, error: ServerError) {
        if !self.are_enough() {
            self.0.push(error);
        }
    }

    /// The same for an error that may be there already.
    pub(super) fn push_new(&mut self, error: ServerError) {
        if !self.are_enough() && !self.0.contains(&error) {
            self.0.push(error);
        }
    }

    /// Whether it is pointless to look for more.
    pub(super) fn are_enough(&self) -> bool {
        self.0.len() >= MOST
    }

    /// Refuses the request when there are any.
    pub(super) fn none(self) -> Result<(), Vec<ServerError>> {
        if self.0.is_empty() { Ok(()) } else { Err(self.0) }
    }
}
