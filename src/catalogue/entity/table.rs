//! How a table is declared in its file.

/// Declares the row of a table. Takes the name of the table, what its rows are to the audit, whose a row is, for rows in
/// lists what their entries say, and the columns after `id`:
///
/// ```text
/// use super::prelude::*;
///
/// super::table! {
///     "gadget", In("gadgets"), |row| Owner::Team(row.team_id), |row| Entry::text(&row.name);
///
///     /// The team that has it.
///     pub team_id: i64,
///     /// The display name.
///     pub name: String,
/// }
/// ```
///
/// Where nobody owns a row, a word of [`MayChange`](crate::db::MayChange) stands in the place of whose it is:
/// `"level", Alone("Level"), StandardsAdministrators;`. A mutation that changes such a row for anybody else is refused,
/// whatever it says of itself. `untold(Column)` may follow, with columns that the audit does not tell. Columns with a secret
/// have the type [`Secret`](crate::db::Secret).
///
/// A table whose changes are not recorded says `unrecorded` in their place, and `exported` or `left_out("why")`: whether
/// exports have its rows; a word of [`MayChange`](crate::db::MayChange) may follow. Those of other tables are exported, unless
/// `left_out("why")` follows what they are to the audit. A table that says more of its rows gives only its name, and
/// implements [`Table`](crate::db::Table) itself.
///
/// It becomes what sea-orm wants of a module, `Model`, `Relation` and the traits of both, and `impl Table for Entity`. The
/// file needs `use super::prelude::*`. The generator reads the columns from the source.
macro_rules! table {
    ($table:tt; $($columns:tt)*) => {
        #[doc = concat!("A row of `", $table, "`.")]
        #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, serde::Deserialize)]
        #[sea_orm(table_name = $table)]
        pub struct Model {
            /// Primary key; never reused.
            #[sea_orm(primary_key)]
            pub id: i64,
            $($columns)*
        }

        /// Empty: related rows are read in batches, for example by [`ByIds`](crate::entity::ByIds).
        #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
        pub enum Relation {}

        impl ActiveModelBehavior for ActiveModel {}
    };
    ($table:tt, unrecorded, exported $(, $may_change:ident)?; $($columns:tt)*) => {
        $crate::entity::table! { $table; $($columns)* }
        $crate::unrecorded!(Entity, exported $(, $may_change)?);
    };
    (
        $table:tt, unrecorded, left_out($why:literal) $(, $may_change:ident $(, untold($($untold:ident),+))?)?;
        $($columns:tt)*
    ) => {
        $crate::entity::table! { $table; $($columns)* }
        $crate::unrecorded!(Entity, left_out($why) $(, $may_change $(, untold($($untold),+))?)?);
    };
    (
        $table:tt, $told:ident($name:tt), $may_change:ident $(, untold($($untold:ident),+))?; $($columns:tt)*
    ) => {
        $crate::entity::table! { $table; $($columns)* }

        impl $crate::db::Table for Entity {
            const TOLD: $crate::db::Told = $crate::db::Told::$told($name);
            const MAY_CHANGE: $crate::db::MayChange = $crate::db::MayChange::$may_change;
            $(const UNTOLD: &'static [Column] = &[$(Column::$untold),+];)?

            fn owner(_: &Model) -> $crate::db::Owner {
                $crate::db::Owner::Nobody
            }
        }
    };
    (
        $table:tt, $told:ident($name:tt), $(left_out($why:literal),)? |$row:pat_param| $owner:expr
        $(, |$listed:pat_param| $entry:expr)?; $($columns:tt)*
    ) => {
        $crate::entity::table! { $table; $($columns)* }

        impl $crate::db::Table for Entity {
            const TOLD: $crate::db::Told = $crate::db::Told::$told($name);
            $(const LEFT_OUT: Option<&'static str> = Some($why);)?

            fn owner($row: &Model) -> $crate::db::Owner {
                $owner
            }

            $(fn entry($listed: &Model) -> $crate::db::Entry {
                $entry
            })?
        }
    };
}
pub(super) use table;

/// Implements [`FieldRules`](crate::entity::field_rule::FieldRules) with this list as `FIELDS`. The generator reads the optional
/// texts from the source.
macro_rules! rules {
    ($($rule:expr),+ $(,)?) => {
        impl $crate::entity::field_rule::FieldRules for Entity {
            const FIELDS: &'static [$crate::entity::field_rule::FieldRule<Column>] = &[$($rule),+];
        }
    };
}
pub(super) use rules;

/// Says what ids and messages call a row where that is not its type in the SDL and the name of its table:
/// `called!(class "Change", noun "change")`, or one of the words. The generator reads it from the source. Clients hold ids,
/// so a class stays.
macro_rules! called {
    ($(class $class:literal)? $(,)? $(noun $noun:literal)?) => {};
}
pub(super) use called;

/// Implements [`ByAlias`](crate::entity::ByAlias) for a table whose alias is a unique column of its own, such as `Alias`.
macro_rules! by_alias {
    ($column:ident) => {
        impl $crate::entity::ByAlias for Entity {
            async fn by_alias(db: &dyn ReadHandle, alias: &str) -> Result<Option<Model>, db::Error> {
                $crate::entity::by_unique::<Entity>(db, Column::$column, alias).await
            }
        }
    };
}
pub(super) use by_alias;
