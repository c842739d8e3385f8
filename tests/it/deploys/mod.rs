//! Deploys and what is posted to webhooks. Always tested here: that a deploy is stored once or refused with the
//! reason, and that metrics are those of the stored deploys.

mod clients;
mod custom_event;
mod deploy;
mod details;
mod figures;
mod figures_limits;
mod integration;
mod metrics;
mod record;
mod retention;
mod suggestion;
mod suggestion_undo;
mod webhook;
