//! Rows that follow from a change of another row: those that a statement changes without returning them, because there may
//! be very many.

use super::table::Table;

/// Rows of this table follow from changes of rows of the table `P`. Only where that is said,
/// [`exec_following`](super::Write::exec_following) changes them for a row of `P`. The transaction must change that row, and
/// record it: whether the caller may do it, and what is told of it, follow from that.
pub trait Follows<P: Table>: Table {
    /// From which change they follow, and how they are accounted for.
    const FROM: Following;
}

/// From which change of a row others follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Following {
    /// From its deletion, as a foreign key says. The account of the transaction tells them with the rows that the database
    /// itself deletes, or whose references it clears.
    Deletion,
    /// From any change. Its own entry stands for them, so their table may have no entries for rows that follow:
    /// [`Told::Directly`](super::Told::Directly).
    Change,
}
