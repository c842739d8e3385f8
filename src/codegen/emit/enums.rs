//! Enums: a Rust enum with the names of the SDL.

use proc_macro2::TokenStream;
use quote::quote;

use super::super::model::Enum;
use super::super::names;
use super::docs::docs;

pub(super) fn definition(definition: &Enum) -> TokenStream {
    let name = names::type_name(&definition.name);
    let sdl_name = &definition.name;
    let doc = docs(definition.description.as_deref(), None);
    let variants: Vec<_> = definition.values.iter().map(|value| names::variant(&value.name)).collect();
    let words: Vec<_> = definition.values.iter().map(|value| &value.name).collect();
    let variant_docs =
        definition.values.iter().map(|value| docs(value.description.as_deref(), value.deprecated.as_deref()));
    quote! {
        #doc
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum #name {
            #(#variant_docs #variants,)*
        }

        __e::words!(#name, #sdl_name, { #(#variants: #words),* });
    }
}
