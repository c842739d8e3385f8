//! Columns that a list does not read, because the client selects no field that needs them.
//!
//! An omitted column reads as null. So only nullable columns can be listed here, and only fields that are listed here
//! leave columns out: any other field of the type reads all of them. A test reads each field alone, in a list and without
//! one, and compares. Columns are omitted in groups, which keeps the number of different statements small.

use sea_orm::{IdenStatic, Iterable};

use super::context::Ctx;
use crate::db::{Omitted, Table};

/// What a list over a table can leave out.
struct Rules {
    /// The table's name.
    table: &'static str,
    groups: &'static [ColumnGroup],
    /// The fields that need no column of any group.
    free: &'static [&'static str],
}

/// Columns that are read together, and the fields that need them, and no other group.
struct ColumnGroup {
    columns: &'static [&'static str],
    fields: &'static [&'static str],
}

const RULES: &[Rules] = &[
    Rules {
        table: "service",
        groups: &[
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
        free: &[
            "__typename",
            "id",
            "name",
            "alias",
            "aliases",
            "managedAliases",
            "locked",
            "configErrors",
            "htmlUrl",
            "timestamps",
            "tags",
            "tools",
            "contacts",
            "repositories",
            "repos",
            "defaultServiceRepository",
            "serviceRepositories",
            "deploys",
            "lastDeploy",
            "deployMetrics",
            "codeIssueProjects",
            "codeIssues",
            "properties",
            "property",
            "documents",
            "onCalls",
            "alertSourceServices",
            "alertSources",
            "relationships",
            "incomingRelationships",
        ],
    },
    Rules {
        table: "tag",
        // Tags are listed below their owner.
        groups: &[ColumnGroup {
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
        free: &["__typename", "id", "key", "value"],
    },
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
        let Some(Rules { groups, free, .. }) = RULES.iter().find(|rules| rules.table == table.table_name()) else {
            return Self::default();
        };
        let mut left_out = Self::default();
        for (place, group) in groups.iter().enumerate() {
            let others = groups.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, group)| group.fields);
            let spared: Vec<&str> = others.flatten().chain(*free).copied().collect();
            let spares = |field: &str| spared.contains(&field);
            if ctx.selects_only_at(&["nodes"], spares) && ctx.selects_only_at(&["edges", "node"], spares) {
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
