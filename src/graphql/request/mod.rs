//! What one request has: [`caller`] who sends it and what they may do, [`context`] what a resolver gets, [`places`] its
//! place among those that run, `rules` what directives of the SDL say of it, `permit` what a member of teams may change,
//! [`idempotency`] whether it was answered before, `note` what it leaves in the audit.

pub mod caller;
pub mod context;
pub mod idempotency;
pub(super) mod note;
pub(super) mod permit;
pub mod places;
pub(super) mod rules;
