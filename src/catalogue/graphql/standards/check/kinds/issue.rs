//! A service has no code issues, or only a few.

use sea_orm::sea_query::{ExprTrait, Func};
use serde::{Deserialize, Serialize};

use super::super::change::{Change, within};
use super::super::period;
use super::super::question::{Asks, Facts, Question, count};
use crate::entity::text::{FEW, SHORT};
use crate::entity::{check, code_issue, code_issue_project_resource};
use crate::graphql::filter::predicate::Rows;
use crate::graphql::prelude::*;

/// The parameters of `CodeIssueCheck`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::graphql::standards::check) struct CodeIssue {
    /// A value of the SDL's `CheckCodeIssueConstraintEnum`.
    pub(in crate::graphql::standards::check) constraint: String,
    pub(in crate::graphql::standards::check) issue_name: Option<String>,
    pub(in crate::graphql::standards::check) issue_type: Option<Vec<String>>,
    pub(in crate::graphql::standards::check) max_allowed: Option<i32>,
    pub(in crate::graphql::standards::check) resolution_time: Option<ResolutionTime>,
    pub(in crate::graphql::standards::check) severity: Option<Vec<String>>,
}

/// The time in which issues are to be resolved.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::graphql::standards::check) struct ResolutionTime {
    /// A value of the SDL's `CodeIssueResolutionTimeUnitEnum`.
    pub(in crate::graphql::standards::check) unit: String,
    pub(in crate::graphql::standards::check) value: i32,
}

/// Checks a list of words. `None` leaves it unchanged.
pub(super) fn words(
    field: &'static str,
    given: &MaybeUndefined<Vec<String>>,
) -> Result<Option<Option<Vec<String>>>, UserError> {
    let given = match given {
        MaybeUndefined::Undefined => return Ok(None),
        MaybeUndefined::Null => return Ok(Some(None)),
        MaybeUndefined::Value(given) => given,
    };
    if given.len() > FEW {
        return Err(UserError::new(field, format!("{field} has {} words; at most {FEW} are allowed", given.len())));
    }
    let words = given.iter().map(|word| text::required(field, word, SHORT)).collect::<Result<_, _>>()?;
    Ok(Some(Some(words)))
}

impl CodeIssue {
    #[allow(clippy::too_many_arguments, reason = "one for each field of its inputs")]
    pub(in crate::graphql::standards::check) async fn give(
        &mut self,
        change: &mut Change<'_>,
        constraint: MaybeUndefined<CheckCodeIssueConstraintEnum>,
        issue_name: MaybeUndefined<String>,
        issue_type: MaybeUndefined<Vec<String>>,
        max_allowed: MaybeUndefined<i32>,
        resolution_time: MaybeUndefined<CodeIssueResolutionTimeInput>,
        severity: MaybeUndefined<Vec<String>>,
    ) -> Result<()> {
        let constraint = constraint.map_value(CheckCodeIssueConstraintEnum::as_str);
        change.word("constraint", &mut self.constraint, constraint);
        change.text("issueName", &mut self.issue_name, &issue_name, SHORT, false);
        if self.issue_name.is_none() && !self.takes_any_name() {
            let message = "issueName must be given, unless constraint is any";
            change.draft.problems.push(UserError::new("issueName", message));
        }
        for (field, stored, given) in
            [("issueType", &mut self.issue_type, &issue_type), ("severity", &mut self.severity, &severity)]
        {
            if let Some(words) = change.draft.problems.take(words(field, given)).flatten() {
                *stored = words;
            }
        }
        match max_allowed {
            MaybeUndefined::Undefined => {}
            MaybeUndefined::Null => self.max_allowed = None,
            MaybeUndefined::Value(most) => {
                self.max_allowed = change.draft.problems.take(within("maxAllowed", most, 0..=i32::MAX));
            }
        }
        match resolution_time {
            MaybeUndefined::Undefined => {}
            MaybeUndefined::Null => self.resolution_time = None,
            MaybeUndefined::Value(CodeIssueResolutionTimeInput { unit, value }) => {
                let value = within("value", value, 1..=period::UNITS);
                let value = value.map_err(|error| error.within("resolutionTime"));
                if let Some(value) = change.draft.problems.take(value) {
                    self.resolution_time = Some(ResolutionTime { unit: unit.as_str().to_owned(), value });
                }
            }
        }
        Ok(())
    }

    fn takes_any_name(&self) -> bool {
        self.constraint == CheckCodeIssueConstraintEnum::Any.as_str()
    }
}

impl ResolutionTime {
    pub(in crate::graphql::standards::check) fn unit(&self) -> CodeIssueResolutionTimeUnitEnum {
        // Mutations write only words of the enum, so the fallback is not expected.
        CodeIssueResolutionTimeUnitEnum::from_word(&self.unit).unwrap_or(CodeIssueResolutionTimeUnitEnum::Day)
    }
}

impl Asks for CodeIssue {
    fn wanted(&self) -> String {
        let mut wanted = match self.max_allowed {
            None | Some(0) => "no code issue".to_owned(),
            Some(1) => "at most 1 code issue".to_owned(),
            Some(most) => format!("at most {most} code issues"),
        };
        let mut add = |part: String| wanted.push_str(&part);
        for (noun, words) in [("of the type", &self.issue_type), ("of the severity", &self.severity)] {
            if let Some(words) = words.as_ref().filter(|words| !words.is_empty()) {
                add(format!(" {noun} {}", words.join(" or ")));
            }
        }
        if let Some(name) = self.issue_name.as_ref().filter(|_| !self.takes_any_name()) {
            let is_exact = self.constraint == CheckCodeIssueConstraintEnum::Exact.as_str();
            add(format!(" whose name {} {}", if is_exact { "is" } else { "contains" }, quoted(name)));
        }
        if let Some(time) = &self.resolution_time {
            add(format!(" that is older than {}", period::in_words(&time.unit, time.value)));
        }
        wanted
    }

    fn said(&self, found: Option<&str>) -> String {
        match found {
            None | Some("0") => "It has no such code issue.".to_owned(),
            Some("1") => "It has 1 such code issue.".to_owned(),
            Some(count) => format!("It has {count} such code issues."),
        }
    }

    async fn question(&self, _: &check::Model, facts: Facts<'_>) -> Result<Question> {
        use code_issue::Column;
        use code_issue_project_resource::Column as Link;
        let mut issues = Rows::new(code_issue_project_resource::Entity, Link::ServiceId);
        let is_linked = Column::CodeIssueProjectId.into_expr().eq(Link::CodeIssueProjectId.into_expr());
        issues.from.inner_join(code_issue::Entity, is_linked);
        let folded = |column: Column| db::text::lower(facts.db, column.into_expr());
        for (column, words) in [(Column::IssueType, &self.issue_type), (Column::Severity, &self.severity)] {
            if let Some(words) = words.as_ref().filter(|words| !words.is_empty()) {
                issues = issues.and_where(folded(column).is_in(words.iter().map(|word| word.to_ascii_lowercase())));
            }
        }
        if let Some(name) = self.issue_name.as_ref().filter(|_| !self.takes_any_name()) {
            issues = issues.and_where(match self.constraint == CheckCodeIssueConstraintEnum::Exact.as_str() {
                true => Column::Name.eq(name.as_str()),
                false => db::text::contains(facts.db, folded(Column::Name), &name.to_ascii_lowercase()),
            });
        }
        if let Some(time) = &self.resolution_time {
            let since = Func::coalesce([Column::IntroducedAt.into_expr(), Column::CreatedAt.into_expr()]);
            let due = period::before(facts.now, &time.unit, time.value);
            issues = issues.and_where(sea_orm::sea_query::Expr::from(since).lt(due));
        }
        let found = count(&issues);
        Ok(Question::new(found.clone().lte(i64::from(self.max_allowed.unwrap_or_default())), found))
    }
}
