//! What tables say of all their rows in one word.

/// What the rows of a table are to the audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// Objects of this SDL type, with entries of their own.
    Alone(&'static str),
    /// The same, unless they are deleted or changed along with the row that they refer to: there may be very many.
    Directly(&'static str),
    /// Entries of the list with this name, of the row that they belong to.
    In(&'static str),
    /// Nothing: what follows from other rows, counters, and what belongs to a sign-in. No transaction records them.
    Nothing,
}

/// Who may change the rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MayChange {
    /// Whoever may change the row that a row belongs to, by [`Owner::Row`](super::Owner::Row). Of others: who may change
    /// the catalogue, and members of teams what their teams own.
    Owners,
    /// Who may change the catalogue, even if a row belongs to one that only others change.
    Members,
    /// Standards administrators and administrators, and tokens that may write.
    StandardsAdministrators,
    /// Administrators, and tokens that may do what these may.
    Administrators,
}
