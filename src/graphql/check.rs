//! Checks: what services are to be measured by. None can be created yet, so that their lists are empty, and no service
//! reaches a level.

use super::context::Ctx;
use super::schema::*;
use super::types::{Level, Service};
use crate::engine::page::{Page, PageArguments};
use crate::entity::Timestamp;
use crate::error::Result;

/// A page of a list without rows.
fn empty<T>(args: &PageArguments) -> Result<Page<T>> {
    // Fails for invalid arguments, as every list does.
    args.request()?;
    Ok(Page { total_count: Some(0), ..Page::empty() })
}

/// All checks.
pub(super) fn page(args: &PageArguments) -> Result<CheckConnectionType> {
    empty(args)
}

/// How a service stands in the rubric.
pub(super) fn stats() -> ServiceStats {
    let check_results = Some(ServiceCheckResults);
    ServiceStats { rubric: RubricReport { level: None, category_level: None, check_results } }
}

/// The results of a service's checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServiceCheckResults;

impl ServiceCheckResultsResolver for ServiceCheckResults {
    async fn by_level(
        results: &[&Self],
        args: &PageArguments,
        _: &Ctx<'_>,
    ) -> Result<Vec<CheckResultsByLevelConnectionType>> {
        results.iter().map(|_| empty(args)).collect()
    }

    async fn next_level(results: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<ServiceNextLevel>>> {
        Ok(results.iter().map(|_| None).collect())
    }
}

/// The results of a level's checks. There is none yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckResultsByLevel {}

impl CheckResultsByLevelResolver for CheckResultsByLevel {
    async fn level(levels: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<Level>>> {
        Ok(levels.iter().map(|level| match **level {}).collect())
    }

    async fn items(levels: &[&Self], _: &PageArguments, _: &Ctx<'_>) -> Result<Vec<CheckResultsConnectionType>> {
        Ok(levels.iter().map(|level| match **level {}).collect())
    }
}

/// The result of a check. There is none yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckResult {}

impl CheckResultResolver for CheckResult {
    async fn check(results: &[&Self], _: &Ctx<'_>) -> Result<Vec<Check>> {
        Ok(results.iter().map(|result| match **result {}).collect())
    }

    fn last_updated(&self) -> Timestamp {
        match *self {}
    }

    fn message(&self) -> &str {
        match *self {}
    }

    async fn service(results: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<Service>>> {
        Ok(results.iter().map(|result| match **result {}).collect())
    }

    fn service_alias(&self) -> Option<&str> {
        match *self {}
    }

    fn status(&self) -> CheckStatus {
        match *self {}
    }
}
