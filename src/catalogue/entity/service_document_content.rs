//! The texts of API documents. They are stored separately, so that listing documents does not read them.

use super::prelude::*;

super::table! {
    "service_document_content", unrecorded, exported;

    /// The document; it has one text.
    pub document_id: i64,
    /// The text.
    pub content: String,
}
