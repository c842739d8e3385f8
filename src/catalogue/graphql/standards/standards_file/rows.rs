//! The rows of standards: found by their names, and locked.

use std::collections::BTreeSet;

use sea_orm::sea_query::Condition;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Set, Unchanged};

use crate::db::RowOf;
use crate::db::{Read, Transaction, Write};
use crate::entity::{campaign, category, check, filter, level, scorecard};
use crate::error::Result;
use crate::graphql::field::id::Id;
use crate::service_file::Standard;

/// A row of a standard: its key, and the file that governs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) id: i64,
    pub(super) locked_by: Option<String>,
}

/// The tables of standards, and which of their rows are meant, with names that are unique as a rule.
macro_rules! tables {
    ($($standard:ident $entity:ident $among:expr;)*) => {
        /// The rows with a name. A table may have several.
        pub(super) async fn named(db: &Transaction, standard: Standard, name: &str) -> Result<Vec<Row>> {
            match standard {
                $(Standard::$standard => {
                    let found = $entity::Entity::find().filter($entity::Column::Name.eq(name)).filter($among);
                    let rows = db.all(found.order_by_asc($entity::Column::Id).limit(2)).await?;
                    Ok(rows.into_iter().map(|row| Row { id: row.id, locked_by: row.locked_by }).collect())
                })*
            }
        }

        /// Says which file governs a row.
        pub(super) async fn lock(db: &Transaction, standard: Standard, id: i64, path: Option<&str>) -> Result<()> {
            match standard {
                $(Standard::$standard => {
                    let locked_by = Set(path.map(str::to_owned));
                    db.update($entity::ActiveModel { id: Unchanged(id), locked_by, ..Default::default() }).await?;
                })*
            }
            Ok(())
        }

        /// The rows that these files govern, each with its name.
        pub(super) async fn locked(
            db: &Transaction,
            paths: &BTreeSet<String>,
        ) -> Result<Vec<(Standard, i64, String)>> {
            let mut all = Vec::new();
            $(
                let own = $entity::Entity::find().filter($entity::Column::LockedBy.is_in(paths.iter().map(String::as_str)));
                let rows = db.all(own.order_by_asc($entity::Column::Id)).await?;
                all.extend(rows.into_iter().map(|row| (Standard::$standard, row.id, row.name)));
            )*
            Ok(all)
        }

        /// The place of a row.
        pub(super) fn place(standard: Standard, id: i64) -> RowOf {
            match standard {
                $(Standard::$standard => RowOf::new::<$entity::Entity>(id),)*
            }
        }

        /// The global id of a row.
        pub(super) fn global(standard: Standard, id: i64) -> String {
            match standard {
                $(Standard::$standard => Id::new::<$entity::Entity>(id).text(),)*
            }
        }
    };
}

/// All rows.
fn any() -> Condition {
    Condition::all()
}

tables! {
    Level level any();
    Category category category::Column::ScorecardId.is_null();
    Filter filter any();
    Scorecard scorecard any();
    Check check check::Column::CampaignId.is_null();
    Campaign campaign any();
}
