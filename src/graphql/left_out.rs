//! Columns that a list does not read, because the client selects no field that needs them.
//!
//! An omitted column reads as null. So only nullable columns can be listed here, each with every field that needs it.
//! Columns are omitted in groups, which keeps the number of different statements small.

use sea_orm::{IdenStatic, Iterable};

use super::context::Ctx;
use crate::db::{Omitted, Table};

/// Columns that are read together, and the fields that need them.
struct ColumnGroup {
    columns: &'static [&'static str],
    fields: &'static [&'static str],
}

/// The groups of each table, by the table's name.
const COLUMN_GROUPS: &[(&str, &[ColumnGroup])] = &[
    (
        "service",
        &[
            ColumnGroup {
                columns: &["description", "language", "framework"],
                fields: &["description", "language", "framework"],
            },
            ColumnGroup {
                columns: &[
                    "product",
                    "note",
                    "api_document_path",
                    "api_document_url",
                    "preferred_api_document_source",
                    "creation_source",
                    "locked_repository",
                    "locked_commit",
                ],
                fields: &[
                    "product",
                    "note",
                    "apiDocumentPath",
                    "apiDocumentUrl",
                    "apiDocumentPull",
                    "preferredApiDocumentSource",
                    "preferredApiDocument",
                    "serviceFile",
                ],
            },
            ColumnGroup {
                columns: &["owner_id", "tier_id", "lifecycle_id", "system_id", "type_id"],
                fields: &["owner", "tier", "lifecycle", "parent", "type", "dependencies", "dependents", "impact"],
            },
        ],
    ),
    (
        "tag",
        // Tags are listed below their owner.
        &[ColumnGroup {
            columns: &[
                "service_id",
                "repository_id",
                "team_id",
                "user_id",
                "system_id",
                "domain_id",
                "infrastructure_resource_id",
            ],
            fields: &["owner"],
        }],
    ),
];

/// The groups of a table that a statement leaves out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LeftOut {
    groups: u8,
    /// Their columns.
    pub(super) columns: Omitted,
}

impl LeftOut {
    /// Finds the groups that a connection over `E` need not read, given what the client selects below it.
    pub(super) fn of<E: Table>(ctx: &Ctx<'_>) -> Self {
        let table = E::default();
        let Some((_, groups)) = COLUMN_GROUPS.iter().find(|(name, _)| *name == table.table_name()) else {
            return Self::default();
        };
        let mut left_out = Self::default();
        for (place, group) in groups.iter().enumerate() {
            if !ctx.selects_at(&["nodes"], group.fields) && !ctx.selects_at(&["edges", "node"], group.fields) {
                left_out.groups |= 1 << place;
                let columns = E::Column::iter().enumerate();
                let columns = columns.filter(|(_, column)| group.columns.contains(&column.as_str()));
                left_out.columns.0 |= columns.fold(0, |bits, (place, _)| bits | 1 << place);
            }
        }
        left_out
    }

    /// The groups as a bit set, in the lowest three bits.
    pub(super) fn bits(self) -> u8 {
        self.groups
    }
}
