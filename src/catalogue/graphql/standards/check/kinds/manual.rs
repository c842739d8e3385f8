//! A person says whether a service passes.

use sea_orm::sea_query::{ExprTrait, Func};
use serde::{Deserialize, Serialize};

use super::super::change::{Change, within};
use super::super::period;
use super::super::question::{Asks, Facts, Question, first};
use crate::entity::{check, check_answer};
use crate::graphql::filter::predicate::Rows;
use crate::graphql::prelude::*;

/// The parameters of `ManualCheck`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::graphql::standards::check) struct Manual {
    pub(in crate::graphql::standards::check) update_frequency: Option<Frequency>,
    pub(in crate::graphql::standards::check) update_requires_comment: bool,
}

/// How often the check is to be answered again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::graphql::standards::check) struct Frequency {
    /// A value of the SDL's `FrequencyTimeScale`.
    pub(in crate::graphql::standards::check) unit: String,
    pub(in crate::graphql::standards::check) count: i32,
    /// When the first period begins, in microseconds since 1970.
    start: i64,
}

impl Frequency {
    pub(in crate::graphql::standards::check) fn start(&self) -> Timestamp {
        Timestamp::from_micros(self.start)
    }

    pub(in crate::graphql::standards::check) fn unit(&self) -> FrequencyTimeScale {
        // Mutations write only words of the enum, so the fallback is not expected.
        FrequencyTimeScale::from_word(&self.unit).unwrap_or(FrequencyTimeScale::Day)
    }
}

impl Manual {
    pub(in crate::graphql::standards::check) async fn give(
        &mut self,
        change: &mut Change<'_>,
        frequency: MaybeUndefined<ManualCheckFrequencyUpdateInput>,
        requires_comment: MaybeUndefined<bool>,
    ) -> Result<()> {
        match requires_comment {
            MaybeUndefined::Undefined => {}
            MaybeUndefined::Null => change.draft.problems.push(must_not_be_null("updateRequiresComment")),
            MaybeUndefined::Value(requires) => self.update_requires_comment = requires,
        }
        match frequency {
            MaybeUndefined::Undefined => {}
            MaybeUndefined::Null => self.update_frequency = None,
            MaybeUndefined::Value(given) => {
                let frequency = changed(self.update_frequency.as_ref(), given);
                let frequency = frequency.map_err(|error| error.within("updateFrequency"));
                if let Some(frequency) = change.draft.problems.take(frequency) {
                    self.update_frequency = Some(frequency);
                }
            }
        }
        Ok(())
    }

    /// The beginning of the period in which an answer must have been given. `None` if any answer is valid.
    fn valid_from(&self, now: Timestamp) -> Option<Timestamp> {
        let Frequency { unit, count, .. } = self.update_frequency.as_ref()?;
        period::current(self.update_frequency.as_ref()?.start(), unit, *count, now)
    }
}

/// The frequency after a change. A field that is absent keeps its value, if there is one.
fn changed(before: Option<&Frequency>, given: ManualCheckFrequencyUpdateInput) -> Result<Frequency, UserError> {
    let ManualCheckFrequencyUpdateInput { frequency_time_scale, frequency_value, starting_date } = given;
    fn field<T>(field: &'static str, given: MaybeUndefined<T>, before: Option<T>) -> Result<T, UserError> {
        match given {
            MaybeUndefined::Null => Err(must_not_be_null(field)),
            MaybeUndefined::Value(given) => Ok(given),
            MaybeUndefined::Undefined => before.ok_or_else(|| UserError::new(field, format!("{field} must be given"))),
        }
    }
    let unit = field("frequencyTimeScale", frequency_time_scale, before.map(Frequency::unit))?.as_str().to_owned();
    let count = field("frequencyValue", frequency_value, before.map(|before| before.count))?;
    let count = within("frequencyValue", count, 1..=period::UNITS)?;
    let start = field("startingDate", starting_date, before.map(Frequency::start))?.as_micros();
    Ok(Frequency { unit, count, start })
}

impl Asks for Manual {
    fn wanted(&self) -> String {
        match &self.update_frequency {
            None => "the answer of a person that it passes".to_owned(),
            Some(Frequency { unit, count: 1, .. }) => {
                format!("the answer of a person that it passes, again every {unit}")
            }
            Some(Frequency { unit, count, .. }) => {
                format!("the answer of a person that it passes, again every {}", period::in_words(unit, *count))
            }
        }
    }

    fn said(&self, found: Option<&str>) -> String {
        match found {
            None => "Nobody has answered, or the answer has expired.".to_owned(),
            Some("") => "A person has answered.".to_owned(),
            Some(comment) => format!("A person has answered {}.", quoted(comment)),
        }
    }

    async fn question(&self, check: &check::Model, facts: Facts<'_>) -> Result<Question> {
        use check_answer::Column;
        let mut answers = Rows::new(check_answer::Entity, Column::ServiceId).and_where(Column::CheckId.eq(check.id));
        if let Some(since) = self.valid_from(facts.now) {
            answers = answers.and_where(Column::AnsweredAt.gte(since));
        }
        let passed = answers.exist_where(Some(Column::Passed.eq(true)));
        let comment = Func::coalesce([Column::Comment.into_expr(), Expr::value("")]);
        let pending = Some(answers.exist_where(None).not());
        Ok(Question { pending, ..Question::new(passed, first(&answers, comment.into())) })
    }
}
