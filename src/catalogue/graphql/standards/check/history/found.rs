//! What a round evaluates, and what it finds that is not as stored.

use std::collections::HashMap;

use crate::entity::check_due::Part;
use crate::entity::check_result::Status;
use crate::entity::{level, service};

/// Which checks are evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// One.
    Check(i64),
    /// Those that ask about a part of services, themselves or by a filter.
    About(Part),
}

/// What is evaluated, and why.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    /// Which checks.
    pub(super) asked: Asked,
    /// Whether services with marks of their own are left to these.
    pub(super) leaves_marked: bool,
    /// Who changed what.
    pub(super) cause: String,
    /// Whether nobody is told.
    pub(super) is_quiet: bool,
}

/// A result that is not as stored.
#[derive(Debug, Clone)]
pub(super) struct Changed {
    pub(super) service: i64,
    pub(super) check: i64,
    pub(super) before: Option<Status>,
    pub(super) after: Option<Status>,
    /// What the check found. `None` if nobody reads it.
    pub(super) message: Option<String>,
}

/// A level that is not as stored.
#[derive(Debug, Clone)]
pub(super) struct Moved {
    pub(super) service: i64,
    pub(super) before: Option<level::Model>,
    pub(super) after: Option<level::Model>,
}

/// What is not as stored.
#[derive(Default)]
pub(super) struct Found {
    /// The number of times that results were stored before.
    pub(super) round: Option<String>,
    pub(super) results: Vec<Changed>,
    pub(super) levels: Vec<Moved>,
    /// The services that were left to their own marks.
    pub(super) left: Vec<i64>,
    /// The services of which somebody is told.
    pub(super) services: HashMap<i64, service::Model>,
    /// The names of the checks.
    pub(super) names: HashMap<i64, String>,
}

/// Whether a change is kept. What follows from a new check, or from one that has ended, is not.
pub(super) fn is_kept(scope: &Scope, is_new: bool) -> bool {
    !(scope.is_quiet && is_new)
}
