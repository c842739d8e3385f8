//! What one request has: [`caller`] who sends it and what they may do, [`context`] what a resolver gets, [`places`] its
//! place among those that run, `rules` what directives of the SDL say of it, `permit` what a member of teams may change,
//! [`idempotency`] whether it was answered before, `note` what it leaves in the audit.
//!
//! Invariant: what a member of teams may change, the audit and the search follow from the rows that the transaction of
//! a mutation has written, and not from what its resolver says. Only mutations with `@bulk` account for that
//! themselves.

pub mod caller;
pub mod context;
pub mod idempotency;
pub(super) mod note;
pub(super) mod permit;
pub mod places;
pub(super) mod rules;
