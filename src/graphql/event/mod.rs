//! Subscriptions to events, and where they send to.

pub(super) mod event_subscription;
pub(super) mod event_target;
