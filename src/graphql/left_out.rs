//! Columns that a list does not read, because the client selects no field that needs them.
//!
//! An omitted column reads as null. So only nullable columns can be listed here, each with every field that needs it.
//! Columns are omitted in groups, which keeps the number of different statements small.

use sea_orm::{IdenStatic, Iterable};

use super::context::Ctx;
use crate::db::{Omitted, Table};

/// Columns that are read together, and the fields that need them.
struct Part {
    columns: &'static [&'static str],
    fields: &'static [&'static str],
}

/// The parts of each table, by the table's name.
const PARTS: &[(&str, &[Part])] = &[
    (
        "service",
        &[
            Part {
                columns: &["description", "language", "framework"],
                fields: &["description", "language", "framework"],
            },
            Part {
                columns: &[
                    "product",
                    "note",
                    "api_document_path",
                    "preferred_api_document_source",
                    "creation_source",
                    "locked_repository",
                    "locked_commit",
                ],
                fields: &[
                    "product",
                    "note",
                    "apiDocumentPath",
                    "preferredApiDocumentSource",
                    "preferredApiDocument",
                    "serviceFile",
                ],
            },
        ],
    ),
    (
        "tag",
        // No field of a tag needs its owner: tags are listed below their owner.
        &[Part {
            columns: &[
                "service_id",
                "repository_id",
                "team_id",
                "user_id",
                "system_id",
                "domain_id",
                "infrastructure_resource_id",
            ],
            fields: &[],
        }],
    ),
];

/// The parts of a table that a statement leaves out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LeftOut {
    parts: u8,
    /// Their columns.
    pub(super) columns: Omitted,
}

impl LeftOut {
    /// Finds the parts that a connection over `E` need not read, given what the client selects below it.
    pub(super) fn of<E: Table>(ctx: &Ctx<'_>) -> Self {
        let table = E::default();
        let Some((_, parts)) = PARTS.iter().find(|(name, _)| *name == table.table_name()) else {
            return Self::default();
        };
        let mut left_out = Self::default();
        for (place, part) in parts.iter().enumerate() {
            if !ctx.selects_at(&["nodes"], part.fields) && !ctx.selects_at(&["edges", "node"], part.fields) {
                left_out.parts |= 1 << place;
                let columns = E::Column::iter().enumerate();
                let columns = columns.filter(|(_, column)| part.columns.contains(&column.as_str()));
                left_out.columns.0 |= columns.fold(0, |bits, (place, _)| bits | 1 << place);
            }
        }
        left_out
    }

    /// The parts as a bit set, in the lowest two bits.
    pub(super) fn bits(self) -> u8 {
        self.parts
    }
}
