//! Values that many nouns have: [`id`] global ids, [`identifier`] an id or an alias, `alias` the aliases of a thing,
//! `reference` a thing by its type and id, `same` variants of two enums, `near_match` a hint for a mistyped alias,
//! `timestamp` and `json`. `draft` turns a checked input into a row.
//!
//! Invariant: what a column may hold, a draft takes from the rule of the column, in `FIELDS` of its entity, and it
//! reports all mistakes of an input together.

pub(super) mod alias;
pub(super) mod draft;
pub mod id;
pub mod identifier;
pub(super) mod json;
pub mod near_match;
pub(super) mod reference;
pub(super) mod same;
pub(super) mod timestamp;
