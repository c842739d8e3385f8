//! The known weaknesses (CWE) that a code issue is about.

use super::code_issue;
use super::prelude::*;

super::table! {
    "code_issue_cwe", In("cwes"), |row| Owner::Row(RowOf::to::<code_issue::Entity>(row.code_issue_id)),
    |row| Entry::text(&row.identifier);

    /// The issue.
    pub code_issue_id: i64,
    /// `CWE-…`, as sent. The order of the ids is the order in which they were sent.
    pub identifier: String,
    /// The URL of its description.
    pub url: Option<String>,
}

super::rules![
    FieldRule::text("identifier", Column::Identifier, text::SHORT).required(),
    FieldRule::text("url", Column::Url, text::URL),
];
