//! The predicates of saved filters, in the order in which they were given.

use super::filter;
use super::prelude::*;

super::table! {
    "filter_predicate";

    /// The filter.
    pub filter_id: i64,
    /// What is compared: a value of the SDL's `PredicateKeyEnum`.
    pub key: String,
    /// The key of a tag or the definition of a property, where `key` alone does not say what to compare.
    pub key_data: Option<String>,
    /// How it is compared: a value of the SDL's `PredicateTypeEnum`.
    pub r#type: String,
    /// The value to compare with.
    pub value: Option<String>,
    /// Whether the comparison is case-sensitive.
    pub case_sensitive: Option<bool>,
}

impl Table for Entity {
    const TOLD: Told = Told::In("predicates");

    fn owner(row: &Model) -> Owner {
        Owner::Row(RowOf::new::<filter::Entity>(row.filter_id))
    }

    fn entry(row: &Model) -> Entry {
        let words = [Some(&row.key), row.key_data.as_ref(), Some(&row.r#type), row.value.as_ref()];
        Entry::text(words.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" "))
    }
}
