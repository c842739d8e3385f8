//! The names of fields in JSON: one attribute of the struct where Rust's names follow from them.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::super::names;

/// How the fields of a struct are named.
pub(super) struct Keys {
    /// Whether the struct has `rename_all`.
    in_camel_case: bool,
}

impl Keys {
    /// Finds out from the names in JSON.
    pub(super) fn of_fields<'a>(mut keys: impl Iterator<Item = &'a str>) -> Self {
        Self { in_camel_case: keys.any(|key| names::snake(key) != key && is_camel_case(key)) }
    }

    /// The attribute of the struct.
    pub(super) fn attribute(&self) -> Option<TokenStream> {
        self.in_camel_case.then(|| quote!(#[serde(rename_all = "camelCase")]))
    }

    /// The attribute of a field whose name does not follow.
    pub(super) fn rename(&self, field: &Ident, key: &str) -> Option<TokenStream> {
        let follows = if self.in_camel_case { is_camel_case(key) } else { *field == key };
        (!follows).then(|| quote!(#[serde(rename = #key)]))
    }
}

/// Whether serde makes this name of the field's: each word but the first begins with a capital, without underscores.
fn is_camel_case(key: &str) -> bool {
    let mut camel = String::with_capacity(key.len());
    for (index, word) in names::snake_case(key).split('_').enumerate() {
        let (first, rest) = word.split_at(word.len().min(1));
        camel.push_str(&if index == 0 { first.to_owned() } else { first.to_ascii_uppercase() });
        camel.push_str(rest);
    }
    camel == key
}
