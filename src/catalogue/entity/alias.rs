//! Aliases of services, teams, systems, domains, infrastructure resources and scorecards: their kinds, how an owner
//! claims one, and how a name becomes a slug.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ExprTrait, OnConflict, Query};
use serde::Deserialize;

use crate::db::{self, Table, Write, WriteHandle};

/// The origin of an alias.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum AliasKind {
    /// Derived from a name by [`slug`]. Locked: it outlives a rename and cannot be deleted.
    Slug,
    /// A name, verbatim, that was free when its owner took it. Locked too.
    Name,
    /// Given by someone: through the API, by a service file, or by mapping a suggestion. Only these are the SDL's
    /// `managedAliases`, so that a client which declares aliases reads back what it declared.
    Managed,
}

/// Returns the slug of a name: lower case, with each run of other characters than letters and digits replaced by one
/// `_`, and no `_` at either end (`Shopping Cart` → `shopping_cart`). Returns `fallback` for a name without letters and
/// digits.
pub fn slug(name: &str, fallback: &str) -> String {
    let mut slug = String::with_capacity(name.len());
    for letter in name.to_lowercase().chars() {
        if letter.is_alphanumeric() {
            slug.push(letter);
        } else if !slug.is_empty() && !slug.ends_with('_') {
            slug.push('_');
        }
    }
    slug.truncate(slug.trim_end_matches('_').len());
    if slug.is_empty() { fallback.to_owned() } else { slug }
}

/// A table of aliases. Each alias belongs to one owner at a time.
pub trait AliasTable: Table {
    /// An owner whose aliases the caller may write.
    type Owner: Sync;
    /// The noun for an owner. Also the slug of an owner whose name has no letter or digit.
    const NOUN: &'static str;
    /// The column of the owner's id.
    const OWNER: Self::Column;
    /// The column of the alias; unique.
    const VALUE: Self::Column;
    /// The column of the alias's kind.
    const KIND: Self::Column;

    /// Returns the id of an owner.
    fn key(owner: &Self::Owner) -> i64;

    /// Gives an alias to the owner unless another owner has it. Returns whether the owner has it now.
    ///
    /// If the owner already had the alias, the stronger kind wins: `Slug` over `Managed`, and `Managed` over `Name`.
    fn claim(
        db: &dyn WriteHandle,
        owner: &Self::Owner,
        value: &str,
        kind: AliasKind,
    ) -> impl Future<Output = Result<bool, db::Error>> + Send {
        let given = |column: Self::Column| Expr::col(("excluded", column));
        let present = |column: Self::Column| Expr::col((Self::default(), column));
        let present_is_stronger = present(Self::KIND).eq(AliasKind::Slug).or(given(Self::KIND).eq(AliasKind::Name));
        let stronger = Expr::case(present_is_stronger, present(Self::KIND)).finally(given(Self::KIND));
        let insert = Query::insert()
            .into_table(Self::default())
            .columns([Self::OWNER, Self::VALUE, Self::KIND])
            .values_panic([Self::key(owner).into(), value.into(), Expr::value(kind)])
            .on_conflict(
                OnConflict::column(Self::VALUE)
                    .value(Self::KIND, stronger)
                    .action_and_where(present(Self::OWNER).eq(given(Self::OWNER)))
                    .to_owned(),
            )
            .take();
        async move { Ok(db.stored_by::<Self>(true, insert).await?.len() == 1) }
    }

    /// Gives the owner a slug of its name and returns it: the plain slug if it is free or already the owner's,
    /// otherwise a numbered one.
    fn claim_slug(
        db: &dyn WriteHandle,
        owner: &Self::Owner,
        name: &str,
    ) -> impl Future<Output = Result<String, db::Error>> + Send {
        async move {
            for slug in slugs(name, Self::NOUN, Self::key(owner)) {
                if Self::claim(db, owner, &slug, AliasKind::Slug).await? {
                    return Ok(slug);
                }
            }
            Err(db::Error::fault(format!("no slug is left for {name:?}")))
        }
    }
}

/// Defines a table of aliases in its module: the row and its [`AliasTable`], and [`ByAlias`](super::ByAlias) of its
/// owners. Takes the table, the module of its owners, the noun for one, the column of its id, and the type of an owner
/// whose aliases the caller may write, with its id.
macro_rules! alias_table {
    ($table:tt, $owner:ident, $noun:literal, $id:ident $column:ident, $held:ty, |$one:ident| $key:expr) => {
        use super::alias::{AliasKind, AliasTable};
        use super::$owner;
        use super::prelude::*;

        super::table! {
            $table, In("aliases"), |row| Owner::Row(RowOf::new::<$owner::Entity>(row.$id)), |row| Entry::text(&row.value);

            /// The owner.
            pub $id: i64,
            /// The alias, matched exactly; unique.
            pub value: String,
            /// The origin of the alias.
            pub kind: AliasKind,
        }

        impl super::ByAlias for $owner::Entity {
            async fn by_alias(db: &dyn ReadHandle, alias: &str) -> Result<Option<$owner::Model>, db::Error> {
                super::by_own_alias::<$owner::Entity, Entity>(db, $owner::Column::Id, alias).await
            }
        }

        impl AliasTable for Entity {
            type Owner = $held;
            const NOUN: &'static str = $noun;
            const OWNER: Column = Column::$column;
            const VALUE: Column = Column::Value;
            const KIND: Column = Column::Kind;

            fn key($one: &$held) -> i64 {
                $key
            }
        }
    };
}
pub(super) use alias_table;

/// The slugs to try for a name: `cart`, `cart_2` to `cart_9`, and then numbers from the owner's id on. Without that
/// jump, the hundredth owner of the same name would need a hundred attempts.
fn slugs(name: &str, fallback: &str, owner: i64) -> impl Iterator<Item = String> {
    let slug = slug(name, fallback);
    let numbered = slug.clone();
    let numbers = (2..10).chain(Ord::max(owner, 10)..=i64::MAX);
    std::iter::once(slug).chain(numbers.map(move |number| format!("{numbered}_{number}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_keeps_letters_and_digits_and_joins_them_by_one_underscore() {
        for (name, expected) in [
            ("Shopping Cart", "shopping_cart"),
            ("redis", "redis"),
            ("  --API  v2 (EU)!", "api_v2_eu"),
            ("org/repo", "org_repo"),
            ("snake_case__name", "snake_case_name"),
            ("Größe Ελλάς", "größe_ελλάς"),
            ("!?", "service"),
            ("", "service"),
        ] {
            assert_eq!(slug(name, "service"), expected, "{name}");
        }
    }

    #[test]
    fn a_slug_is_its_own_slug() {
        for name in ["Shopping Cart", "İstanbul", "ẞtraße", "a__b", "Ⅷ. Service"] {
            let once = slug(name, "service");
            assert_eq!(slug(&once, "service"), once);
        }
    }

    #[test]
    fn a_slug_that_is_taken_is_numbered() {
        let tried: Vec<_> = slugs("Cart", "service", 1234).take(11).collect();
        assert_eq!(tried[..3], ["cart", "cart_2", "cart_3"]);
        assert_eq!(tried[8..], ["cart_9", "cart_1234", "cart_1235"]);
    }
}
