//! Subscriptions to events, and where they send to. [`crate::events`] sends.
//!
//! Invariant: the secret with which messages are signed is answered only by the mutation that makes it, or a new one.
//! No field shows it later.

pub(super) mod event_filter;
pub(super) mod event_subscription;
pub(super) mod event_target;
