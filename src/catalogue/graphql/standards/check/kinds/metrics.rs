//! Few of a service's deploys fail, or its changes are deployed soon. The SDL says at `DeployMetrics` which deploys
//! count.

use sea_orm::sea_query::{ExprTrait, Func, Order, Query as Select, WindowStatement};
use serde::{Deserialize, Serialize};

use super::super::change::{Change, within};
use super::super::period;
use super::super::question::{Asks, Facts, Question, aggregate, own_rows};
use super::issue::words;
use crate::deploy::days::DAY;
use crate::deploy::metrics::{self, Window};
use crate::entity::deploy::{Column, Entity, Environments};
use crate::entity::{check, remembered};
use crate::graphql::filter::predicate::Rows;
use crate::graphql::prelude::*;
use crate::graphql::schema::DeployMetricsCheckMetricEnum as Metric;

/// The maximum number of days that a check of the metrics of deploys looks back.
pub const METRIC_DAYS: i32 = 90;

/// The number of days that it looks back if it does not say.
const DEFAULT_DAYS: i32 = 30;

/// The maximum number of hours from commit to deploy that it can allow.
pub const LEAD_HOURS: i32 = 8_760;

/// The parameters of `DeployMetricsCheck`.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::graphql::standards::check) struct DeployMetrics {
    /// A value of the SDL's `DeployMetricsCheckMetricEnum`.
    metric: String,
    /// Percent of the deploys, or hours.
    pub(in crate::graphql::standards::check) max_allowed: i32,
    pub(in crate::graphql::standards::check) days: i32,
    /// `None` for those of production, which the server knows when it evaluates the check. Rows of earlier releases also
    /// have a part `production`, with what counted as production when they were written. It means nothing.
    pub(in crate::graphql::standards::check) environments: Option<Vec<String>>,
}

impl Default for DeployMetrics {
    fn default() -> Self {
        Self { metric: String::new(), max_allowed: 0, days: DEFAULT_DAYS, environments: None }
    }
}

impl DeployMetrics {
    pub(in crate::graphql::standards::check) async fn give(
        &mut self,
        change: &mut Change<'_>,
        days: MaybeUndefined<i32>,
        environments: MaybeUndefined<Vec<String>>,
        max_allowed: MaybeUndefined<i32>,
        metric: MaybeUndefined<Metric>,
    ) -> Result<()> {
        match days {
            MaybeUndefined::Undefined => {}
            MaybeUndefined::Null => self.days = DEFAULT_DAYS,
            MaybeUndefined::Value(days) => {
                if let Some(days) = change.draft.problems.take(within("days", days, 1..=METRIC_DAYS)) {
                    self.days = days;
                }
            }
        }
        self.give_environments(change, &environments);
        change.word("metric", &mut self.metric, metric.map_value(Metric::as_str));
        match max_allowed {
            MaybeUndefined::Undefined => {}
            MaybeUndefined::Null => change.draft.problems.push(must_not_be_null("maxAllowed")),
            MaybeUndefined::Value(most) => self.max_allowed = most,
        }
        // What is allowed depends on the metric, so one that stays is checked too.
        let range = match self.metric() {
            Metric::ChangeFailureRate => 0..=100,
            Metric::ChangeLeadTime => 1..=LEAD_HOURS,
        };
        change.draft.problems.take(within("maxAllowed", self.max_allowed, range));
        Ok(())
    }

    fn give_environments(&mut self, change: &mut Change<'_>, given: &MaybeUndefined<Vec<String>>) {
        const FIELD: &str = "environments";
        let named = match given {
            MaybeUndefined::Value(given) if given.is_empty() => {
                let message = "environments must not be empty; without it, those of production count";
                Err(UserError::new(FIELD, message))
            }
            given => words(FIELD, given),
        };
        if let Some(named) = change.draft.problems.take(named).flatten() {
            self.environments = named;
        }
    }

    pub(in crate::graphql::standards::check) fn metric(&self) -> Metric {
        // Mutations write only words of the enum, so the fallback is not expected.
        Metric::from_word(&self.metric).unwrap_or(Metric::ChangeFailureRate)
    }

    /// The days, in words.
    fn span(&self) -> String {
        if self.days == 1 { "the last day".to_owned() } else { format!("the last {} days", self.days) }
    }

    /// A rate in words. It is given in hundredths of a percent, rounded up. What is over the maximum does not read like
    /// the maximum.
    fn percent(&self, rate: i64) -> String {
        let (nearest, most) = ((rate + 50) / 100, i64::from(self.max_allowed));
        if nearest == most && rate > most * 100 { format!("More than {most} %") } else { format!("{nearest} %") }
    }
}

impl Asks for DeployMetrics {
    fn wanted(&self) -> String {
        let to = self.environments.as_ref().map_or_else(|| "production".to_owned(), |named| named.join(" or "));
        let (most, span) = (self.max_allowed, self.span());
        match self.metric() {
            Metric::ChangeFailureRate => format!("at most {most} % failed deploys to {to} in {span}"),
            Metric::ChangeLeadTime => {
                let time = period::in_words("hour", most);
                format!("a time of at most {time} from commit to deploy to {to}, at the median of {span}")
            }
        }
    }

    fn said(&self, found: Option<&str>) -> String {
        let (found, span) = (found.and_then(|found| found.parse::<i64>().ok()), self.span());
        match (self.metric(), found) {
            (Metric::ChangeFailureRate, Some(rate)) => {
                format!("{} of its deploys of {span} failed.", self.percent(rate))
            }
            (Metric::ChangeFailureRate, None) => {
                format!("None of its deploys of {span} says whether it failed.")
            }
            (Metric::ChangeLeadTime, Some(micros)) => {
                let time = time_in_words(micros / 1_000_000);
                format!("Its deploys of {span} took {time} from commit, at the median.")
            }
            (Metric::ChangeLeadTime, None) => {
                format!("None of its deploys of {span} says when its commit was made.")
            }
        }
    }

    async fn question(&self, _: &check::Model, facts: Facts<'_>) -> Result<Question> {
        let start = Timestamp::from_micros(facts.now.as_micros() - i64::from(self.days) * DAY);
        let environments = match &self.environments {
            Some(named) => Environments::named(named),
            None => remembered::production(facts.db).await?,
        };
        let mut deploys = Rows::new(Entity, Column::ServiceId);
        metrics::restrict(&mut deploys.from, &Window { start, end: facts.now, environments }, false);
        let (excess, found) = match self.metric() {
            Metric::ChangeFailureRate => failure_rate(deploys, self.max_allowed),
            Metric::ChangeLeadTime => lead_time(deploys, self.max_allowed),
        };
        let pending = Some(excess.clone().is_null());
        Ok(Question { pending, ..Question::new(excess.lte(number(0)), found) })
    }
}

/// A number in the text of a statement, so that sums of it are whole numbers of the database.
fn number(number: i32) -> Expr {
    Expr::cust(number.to_string())
}

/// By how much the failures among the deploys exceed so many percent, and the rate in hundredths of a percent, rounded
/// up. Both are null if it is not known of any deploy whether it failed.
fn failure_rate(deploys: Rows, most: i32) -> (Expr, Expr) {
    let finished = deploys.and_where(Column::DeployStatus.is_not_null());
    let sum = |failed: i32, succeeded: i32| -> Expr {
        Func::sum(Expr::case(metrics::has_failed(), number(failed)).finally(number(succeeded))).into()
    };
    let count = || Expr::from(Func::count(Expr::cust("*")));
    let excess = aggregate(&finished, sum(100 - most, -most));
    let rate = sum(10_000, 0).add(count()).sub(number(1)).div(count());
    (excess, aggregate(&finished, rate))
}

/// How many more deploys took longer than so many hours from commit than did not, and the median in microseconds. Both
/// are null if it is not known of any deploy how long it took.
///
/// The median, by nearest rank, is within the hours if at least half of the deploys are. It is rounded down to seconds,
/// so less than a second more is within the hours too.
fn lead_time(deploys: Rows, hours: i32) -> (Expr, Expr) {
    const VALUE: &str = "value";
    const PART: &str = "part";
    let bound = (i64::from(hours) * 3_600 + 1) * 1_000_000;
    let is_other = Column::DeployStatus.is_null().or(metrics::has_failed().not());
    let deploys = deploys.and_where(is_other);
    let value = metrics::lead_time;
    let side = Expr::case(value().lt(bound), number(-1)).case(value().gte(bound), number(1));
    let excess = aggregate(&deploys, Func::sum(side).into());
    let by_value = WindowStatement::new().order_by_expr(value(), Order::Asc).take();
    let ranked = own_rows(&deploys)
        .expr_as(value(), VALUE)
        .expr_window_as(Expr::cust("CUME_DIST()"), by_value, PART)
        .and_where(value().is_not_null())
        .take();
    let median = Select::select()
        .expr(Func::min(Expr::col(VALUE)))
        .from_subquery(ranked, "ranked")
        .and_where(Expr::col(PART).gte(0.5))
        .take();
    (excess, db::scalar(median))
}

/// A time in words, by its two largest units. From a minute on, it is rounded up, so that what is over so many hours
/// does not read like so many hours.
fn time_in_words(seconds: i64) -> String {
    let in_units = |unit: &str, number: i64| {
        if number == 1 { format!("1 {unit}") } else { format!("{number} {unit}s") }
    };
    let (minutes, hours) = ((seconds + 59) / 60, (seconds + 3_599) / 3_600);
    let (large, small) = if seconds < 60 {
        (("second", seconds), ("", 0))
    } else if minutes < 60 {
        (("minute", minutes), ("", 0))
    } else if minutes < 48 * 60 {
        (("hour", minutes / 60), ("minute", minutes % 60))
    } else {
        (("day", hours / 24), ("hour", hours % 24))
    };
    match small {
        (_, 0) => in_units(large.0, large.1),
        (unit, number) => format!("{} and {}", in_units(large.0, large.1), in_units(unit, number)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_said_in_the_units_that_fit_it() {
        for (seconds, expected) in [
            (0, "0 seconds"),
            (1, "1 second"),
            (59, "59 seconds"),
            (60, "1 minute"),
            (61, "2 minutes"),
            (3_541, "1 hour"),
            (5 * 3_600, "5 hours"),
            (5 * 3_600 + 1, "5 hours and 1 minute"),
            (47 * 3_600 + 3_540, "47 hours and 59 minutes"),
            (48 * 3_600, "2 days"),
            (49 * 3_600 + 1, "2 days and 2 hours"),
        ] {
            assert_eq!(time_in_words(seconds), expected);
        }
    }

    #[test]
    fn a_rate_over_the_maximum_does_not_read_like_it() {
        let check = DeployMetrics { max_allowed: 12, ..DeployMetrics::default() };
        for (rate, expected) in [
            (0, "0 %"),
            (1_200, "12 %"),
            (1_201, "More than 12 %"),
            (1_249, "More than 12 %"),
            (1_250, "13 %"),
            (10_000, "100 %"),
        ] {
            assert_eq!(check.percent(rate), expected);
        }
    }
}
