//! Columns that a list does not read because the client selects nothing that is answered from them.
//!
//! A column that is left out reads as null, so that only columns that may be null can be named here, each with every field
//! that is answered from it. They are left out by the part, so that the statements of a list have few texts.

use super::context::Ctx;
use crate::db::Table;

/// Columns that are read together, and the fields that are answered from them.
struct Part {
    columns: &'static [&'static str],
    fields: &'static [&'static str],
}

/// The parts of a table, by its name.
const PARTS: &[(&str, [Part; 2])] = &[(
    "service",
    [
        Part { columns: &["description", "language", "framework"], fields: &["description", "language", "framework"] },
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
)];

/// The columns of a table that a statement leaves out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LeftOut(u8);

impl LeftOut {
    /// What a connection over `E` need not read for what the client selects below it.
    pub(super) fn of<E: Table>(ctx: &Ctx<'_>) -> Self {
        let is_needed = |part: &Part| {
            ["nodes", "edges"].iter().any(|list| match *list {
                "edges" => ctx.selects_at(&["edges", "node"], part.fields),
                list => ctx.selects_at(&[list], part.fields),
            })
        };
        let bits = parts::<E>().iter().enumerate().filter(|(_, part)| !is_needed(part));
        Self(bits.fold(0, |bits, (place, _)| bits | 1 << place))
    }

    /// Whether a column is left out.
    pub(super) fn has<E: Table>(self, column: &str) -> bool {
        let mut own = parts::<E>().iter().enumerate().filter(|(place, _)| self.0 & 1 << place != 0);
        own.any(|(_, part)| part.columns.contains(&column))
    }

    /// The parts as the lowest two bits.
    pub(super) fn bits(self) -> u8 {
        self.0
    }
}

fn parts<E: Table>() -> &'static [Part] {
    let table = E::default();
    let own = PARTS.iter().find(|(name, _)| *name == table.table_name());
    own.map_or(&[], |(_, parts)| parts)
}
