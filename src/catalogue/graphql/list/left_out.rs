//! Columns that a list does not read, because the client selects no field that needs them.
//!
//! An omitted column reads as null, and nobody may see that null. So rows without it are only in a [`PartialPage`], which
//! goes to the client as it is, and whose fields say which groups of columns they read ([`Parted`]). The generator derives
//! that: see `codegen::parts`, and `fields!` in `types.rs` for the methods written by hand.
//!
//! Columns are omitted in groups ([`Table::GROUPS`]), which keeps the number of different statements small.
//!
//! [`PartialPage`]: crate::engine::page::PartialPage

use crate::db::{Omitted, Table};
use crate::engine::object::Parted;
use crate::graphql::request::context::Ctx;

/// The groups of a table that a statement leaves out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::graphql) struct LeftOut {
    groups: u8,
    /// Their columns.
    pub(in crate::graphql) columns: Omitted,
}

/// [`LeftOut::bits`] has room for these.
const MOST_GROUPS: usize = 4;

impl LeftOut {
    /// Finds the groups that a connection over `E` need not read, given what the client selects below it.
    pub(in crate::graphql) fn for_selection<E: Table<Model: Parted>>(ctx: &Ctx<'_>) -> Self {
        const { assert!(E::GROUPS.len() <= MOST_GROUPS) };
        let reads = ctx.reads_of_nodes::<E::Model>();
        Self::of_groups::<E>(|place| reads & 1 << place == 0)
    }

    /// The same as one with these [`bits`](Self::bits), for the same table.
    pub(super) fn of_bits<E: Table>(bits: u8) -> Self {
        Self::of_groups::<E>(|place| bits & 1 << place != 0)
    }

    fn of_groups<E: Table>(is_left_out: impl Fn(usize) -> bool) -> Self {
        let mut left_out = Self::default();
        for (place, columns) in E::GROUPS.iter().enumerate() {
            if is_left_out(place) {
                left_out.groups |= 1 << place;
                left_out.columns.0 |= columns.0;
            }
        }
        left_out
    }

    /// The groups as a bit set, in the lowest four bits.
    pub(in crate::graphql) fn bits(self) -> u8 {
        self.groups
    }
}
