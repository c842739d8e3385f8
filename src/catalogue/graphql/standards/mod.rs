//! Checks and all that is built of them: the rubric, scorecards, campaigns, and files that set them up.
//!
//! Invariant: no mutation sets the level of a service. It follows from the checks, is evaluated as it is read, and
//! stored in the background (`check/history/`).

pub(super) mod campaign;
pub mod check;
pub(super) mod rubric;
pub(super) mod scorecard;
pub(super) mod standards_file;
