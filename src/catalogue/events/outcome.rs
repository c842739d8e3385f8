//! What became of a message, and when it is sent again.

use std::time::Duration;

use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{EntityTrait, UpdateMany};

use super::receiver::Response;
use crate::entity::Timestamp;
use crate::entity::event_delivery::{self as delivery, State};

/// How long a message is sent again before it is given up.
pub const GIVEN_UP_AFTER: Duration = Duration::from_secs(3 * 86_400);

/// The longest pause before a receiver that does not answer is tried again, or a message that it refuses.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// The pause after the first failure. Each next one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The longest error that is stored, in characters.
const ERROR: usize = 300;

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The receiver has taken it, with this status.
    Taken(u16),
    /// The receiver does not take this message.
    Refused { status: u16, error: String },
    /// The receiver takes no message at the moment.
    Down { status: Option<u16>, error: String, after: Option<Duration> },
}

impl Outcome {
    /// Nothing came back.
    pub(super) fn down(error: &str) -> Self {
        Self::Down { status: None, error: error.to_owned(), after: None }
    }
}

impl From<Response> for Outcome {
    fn from(Response { status, retry_after, body }: Response) -> Self {
        let error = match body.is_empty() {
            true => format!("the receiver answered {status}"),
            false => format!("the receiver answered {status}: {body}"),
        };
        match status {
            200..=299 => Self::Taken(status),
            408 | 425 | 429 => Self::Down { status: Some(status), error, after: retry_after.map(Duration::from_secs) },
            300..=399 => {
                let error = format!("the receiver answered {status}; redirects are not followed");
                Self::Refused { status, error }
            }
            400..=499 => Self::Refused { status, error },
            _ => Self::Down { status: Some(status), error, after: retry_after.map(Duration::from_secs) },
        }
    }
}

/// What becomes of deliveries that were sent with this outcome, after so many earlier attempts `since` a time. For those
/// that were taken, neither matters.
pub(super) fn ended(
    outcome: &Outcome,
    attempts: i32,
    since: Timestamp,
    now: Timestamp,
) -> UpdateMany<delivery::Entity> {
    use delivery::Column::{Attempts, EndedAt, Error, NextAt, State as StateColumn, Status};
    let (status, error) = match outcome {
        Outcome::Taken(status) => (Some(*status), None),
        Outcome::Refused { status, error } => (Some(*status), Some(error)),
        Outcome::Down { status, error, .. } => (*status, Some(error)),
    };
    let is_over = now.as_micros() - since.as_micros() > micros(GIVEN_UP_AFTER);
    let state = match outcome {
        Outcome::Taken(_) => State::Delivered,
        _ if is_over => State::Failed,
        _ => State::Waiting,
    };
    let told = delivery::Entity::update_many()
        .col_expr(Attempts, Expr::col(Attempts).add(1))
        .col_expr(Status, Expr::value(status.map(i32::from)))
        .col_expr(Error, Expr::value(error.map(|error| cut(error))))
        .col_expr(StateColumn, Expr::value(state));
    match (state, outcome) {
        (State::Waiting, Outcome::Refused { .. }) => {
            told.col_expr(NextAt, Expr::value(after(pause(attempts.saturating_add(1)))))
        }
        // It is still the oldest. The receiver has a pause of its own.
        (State::Waiting, _) => told,
        _ => told.col_expr(NextAt, Expr::value(None::<i64>)).col_expr(EndedAt, Expr::value(now)),
    }
}

/// The beginning of an error, which is stored.
pub(super) fn cut(error: &str) -> String {
    match error.char_indices().nth(ERROR) {
        Some((end, _)) => format!("{}…", &error[..end]),
        None => error.to_owned(),
    }
}

/// The pause after this many failures, give or take a fifth, so that processes drift apart.
pub(super) fn pause(failures: i32) -> Duration {
    let doubled = FIRST_PAUSE * 2_u32.pow(failures.clamp(1, 12).unsigned_abs() - 1);
    doubled.min(LONGEST_PAUSE).mul_f64(0.8 + 0.4 * fastrand::f64())
}

/// The moment after this time.
pub(super) fn after(time: Duration) -> Timestamp {
    Timestamp::from_micros(Timestamp::now().as_micros() + micros(time))
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(status: u16, retry_after: Option<u64>) -> Outcome {
        Outcome::from(Response { status, retry_after, body: "no".to_owned() })
    }

    #[test]
    fn a_status_says_whether_the_message_or_the_receiver_is_at_fault() {
        assert_eq!(answered(204, None), Outcome::Taken(204));
        let error = "the receiver answered 400: no".to_owned();
        assert_eq!(answered(400, None), Outcome::Refused { status: 400, error });
        for status in [301, 302, 307, 308, 401, 404, 410, 413, 422] {
            assert!(matches!(answered(status, None), Outcome::Refused { .. }), "{status}");
        }
        for status in [408, 425, 429, 500, 502, 503, 504] {
            let after = Some(Duration::from_secs(7));
            assert!(matches!(answered(status, Some(7)), Outcome::Down { after: own, .. } if own == after), "{status}");
        }
    }

    #[test]
    fn pauses_become_longer_up_to_a_bound() {
        for (failures, least, most) in
            [(1, 800, 1_200), (2, 1_600, 2_400), (11, 480_000, 720_000), (99, 480_000, 720_000)]
        {
            let pause = pause(failures).as_millis();
            assert!((least..=most).contains(&pause), "{failures}: {pause}");
        }
    }
}
