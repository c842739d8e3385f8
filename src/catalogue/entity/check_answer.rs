//! What people answered to manual checks: at most one answer for each service and check.

use super::prelude::*;
use super::{check, service};

super::table! {
    "check_answer";

    /// The check.
    pub check_id: i64,
    /// The service.
    pub service_id: i64,
    /// Who answered, if a person did.
    pub user_id: Option<i64>,
    /// Whether the service passes.
    pub passed: bool,
    /// Why.
    pub comment: Option<String>,
    /// When the answer was given.
    pub answered_at: Timestamp,
}

impl Table for Entity {
    const TOLD: Told = Told::In("checkAnswers");

    fn owner(row: &Model) -> Owner {
        Owner::Row(RowOf::new::<service::Entity>(row.service_id))
    }

    fn entry(row: &Model) -> Entry {
        // The time too: the same answer, given again, counts for longer.
        let answer = format!("{} at {}", if row.passed { "passed" } else { "failed" }, row.answered_at);
        let value = row.comment.as_ref().map_or(answer.clone(), |comment| format!("{answer}: {comment}"));
        Entry { name: vec![Word::NameOf(RowOf::new::<check::Entity>(row.check_id))], value: Some(value) }
    }
}

super::rules![FieldRule::text("comment", Column::Comment, text::DESCRIPTION)];
