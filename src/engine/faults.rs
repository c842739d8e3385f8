//! Collects the errors of a request, up to [`MOST`].

use async_graphql::ServerError;

/// The most errors that are reported for one request.
pub const MOST: usize = 20;

/// The first errors of a request.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<ServerError>);

impl Faults {
    /// Adds an error unless the maximum is reached.
    pub(super) fn push(&mut self, error: ServerError) {
        if !self.are_enough() {
            self.0.push(error);
        }
    }

    /// Adds an error unless the maximum is reached or the same error is already there.
    pub(super) fn push_new(&mut self, error: ServerError) {
        if !self.are_enough() && !self.0.contains(&error) {
            self.0.push(error);
        }
    }

    /// Whether the maximum is reached, so that looking for more is pointless.
    pub(super) fn are_enough(&self) -> bool {
        self.0.len() >= MOST
    }

    /// Succeeds if there are no errors, else returns them.
    pub(super) fn none(self) -> Result<(), Vec<ServerError>> {
        if self.0.is_empty() { Ok(()) } else { Err(self.0) }
    }
}
