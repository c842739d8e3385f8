//! What was not taken from the document of each service, when its service file was last applied.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

/// A row of `service_file_note`: a service from whose document something was not taken.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "service_file_note")]
pub struct Model {
    /// The service.
    #[sea_orm(primary_key, auto_increment = false)]
    pub service_id: i64,
    /// The [notes](Note), as JSON.
    pub notes: String,
}

/// Empty: related rows are read in batches, for example by [`ByIds`](super::ByIds).
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

crate::unrecorded!(Entity, left_out("each run of a service file writes them again"));

/// The most notes of a service. The last one says how many there are beside it.
pub const NOTES: usize = super::text::FEW;
/// The most characters of a sentence.
pub const SENTENCE: usize = 500;

/// A note: what was not taken, where and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The file.
    pub path: String,
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1, in characters.
    pub column: u64,
    /// The key within which it is, if any: such as `tags`, or `spec.dependsOn`.
    pub key: Option<String>,
    /// The sentence, cut after [`SENTENCE`] characters.
    pub message: String,
}

impl Model {
    /// The notes.
    pub fn notes(&self) -> Vec<Note> {
        serde_json::from_str(&self.notes).unwrap_or_default()
    }
}
