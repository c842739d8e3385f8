//! What a check said of a service when it was last evaluated in the background.

use super::prelude::*;

super::table! {
    "check_result", unrecorded, left_out("derived from all that checks ask about");

    /// The check.
    pub check_id: i64,
    /// The service.
    pub service_id: i64,
    /// Whether the service passes.
    pub status: Status,
    /// Since when.
    pub since: Timestamp,
}

/// Whether a service passes a check that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It does not.
    Failed,
    /// It does.
    Passed,
    /// Nothing is known yet.
    Pending,
}

impl Status {
    /// The word in the API.
    pub fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Passed => "passed",
            Self::Pending => "pending",
        }
    }
}
