//! What tables say of all their rows in one word, and the macros that say it for them.

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

/// The groups of columns that lists leave out ([`Table::GROUPS`](crate::db::Table::GROUPS)), from the names of the groups
/// and their columns. The generator reads them too: it refuses a column that is never null, or in two groups.
#[macro_export]
macro_rules! column_groups {
    ($($group:ident: $($column:ident),+;)+) => {
        &[$($crate::db::Omitted($(1 << Column::$column as u64)|+)),+]
    };
}

/// Implements [`Table`](crate::db::Table) for a table whose changes are not recorded. Its rows are `exported`, or
/// `left_out("why")`. A word of [`MayChange`](crate::db::MayChange) may follow, and after it `untold(Column)`.
#[macro_export]
macro_rules! unrecorded {
    ($table:ty, exported $(, $may_change:ident)?) => {
        $crate::unrecorded!($table => None $(, $may_change)?);
    };
    ($table:ty, left_out($why:literal) $(, $may_change:ident $(, untold($($untold:ident),+))?)?) => {
        $crate::unrecorded!($table => Some($why) $(, $may_change $(, untold($($untold),+))?)?);
    };
    ($table:ty => $left_out:expr $(, $may_change:ident $(, untold($($untold:ident),+))?)?) => {
        impl $crate::db::Unrecorded for $table {
            $(const MAY_CHANGE: $crate::db::MayChange = $crate::db::MayChange::$may_change;)?
        }

        impl $crate::db::Table for $table {
            const TOLD: $crate::db::Told = $crate::db::Told::Nothing;
            const LEFT_OUT: Option<&'static str> = $left_out;
            const MAY_CHANGE: $crate::db::MayChange = <Self as $crate::db::Unrecorded>::MAY_CHANGE;
            $($(const UNTOLD: &'static [Column] = &[$(Column::$untold),+];)?)?

            fn owner(_: &<$table as sea_orm::EntityTrait>::Model) -> $crate::db::Owner {
                $crate::db::Owner::Nobody
            }
        }
    };
}
