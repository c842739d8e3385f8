//! Checks and all that is built of them: the rubric, scorecards, campaigns, and files that set them up.

pub(super) mod campaign;
pub mod check;
pub(super) mod rubric;
pub(super) mod scorecard;
pub(super) mod standards_file;
