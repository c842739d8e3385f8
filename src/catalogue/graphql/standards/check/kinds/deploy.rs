//! A service was deployed recently.

use serde::{Deserialize, Serialize};

use super::super::change::{Change, within};
use super::super::question::{Asks, Facts, Question, first};
use crate::entity::{check, service_last_deploy};
use crate::graphql::filter::predicate::Rows;
use crate::graphql::prelude::*;

/// The maximum number of days that a check can look back.
pub const DAYS: i32 = 3_650;

/// A day, in microseconds.
const DAY: i64 = 86_400_000_000;

/// The parameters of `HasRecentDeployCheck`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::graphql::standards::check) struct HasRecentDeploy {
    pub(in crate::graphql::standards::check) days: i32,
}

impl HasRecentDeploy {
    pub(in crate::graphql::standards::check) async fn give(
        &mut self,
        change: &mut Change<'_>,
        days: MaybeUndefined<i32>,
    ) -> Result<()> {
        match days {
            MaybeUndefined::Undefined => {}
            MaybeUndefined::Null => change.draft.problems.push(must_not_be_null("days")),
            MaybeUndefined::Value(days) => {
                if let Some(days) = change.draft.problems.take(within("days", days, 1..=DAYS)) {
                    self.days = days;
                }
            }
        }
        Ok(())
    }
}

impl Asks for HasRecentDeploy {
    fn wanted(&self) -> String {
        match self.days {
            1 => "a deploy in the last day".to_owned(),
            days => format!("a deploy in the last {days} days"),
        }
    }

    fn said(&self, found: Option<&str>) -> String {
        match found.and_then(|micros| micros.parse().ok()) {
            Some(micros) => format!("Its last deploy was on {}.", Timestamp::from_micros(micros).minute()),
            None => "It was never deployed.".to_owned(),
        }
    }

    async fn question(&self, _: &check::Model, facts: Facts<'_>) -> Result<Question> {
        use service_last_deploy::{Column, Entity};
        let since = Timestamp::from_micros(facts.now.as_micros() - i64::from(self.days) * DAY);
        let deploys = Rows::new(Entity, Column::ServiceId);
        let passed = deploys.exist_where(Some(Column::DeployedAt.gte(since)));
        Ok(Question::new(passed, first(&deploys, Column::DeployedAt.into_expr())))
    }
}
