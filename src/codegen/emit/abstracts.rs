//! Interfaces and unions: an enum with a variant for each possible object type.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::super::names;
use super::{Context, docs::docs, objects::number};

pub(super) fn definition(context: Context<'_>, sdl_name: &str, description: Option<&str>) -> TokenStream {
    let name = names::type_name(sdl_name);
    let doc = docs(description, None);
    let possible = context.schema.possible(sdl_name);
    let variants: Vec<_> = possible.iter().map(|object| names::type_name(&object.name)).collect();
    let types: Vec<_> = possible.iter().map(|object| context.output_name(&object.name)).collect();
    let variant_docs = possible.iter().map(|object| format!(" The SDL's `{}`.", object.name));
    let places = (0..possible.len()).map(number);
    let rows = (0..possible.len()).map(|index| format_ident!("rows_{index}"));
    quote! {
        #doc
        #[derive(Debug)]
        pub enum #name {
            #(#[doc = #variant_docs] #variants(#types),)*
        }

        __e::possible!(#name { #(#places: #variants(#types) #rows),* });
    }
}
