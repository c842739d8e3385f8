//! Interfaces and unions: an enum with a variant for each possible object type.

use proc_macro2::{Ident, TokenStream};
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
    let leaves = leaves(&variants);
    quote! {
        #doc
        #[derive(Debug)]
        pub enum #name {
            #(#[doc = #variant_docs] #variants(#types),)*
        }

        #(impl From<#types> for #name {
            fn from(object: #types) -> Self {
                Self::#variants(object)
            }
        })*

        impl __e::Composite for #name {
            fn leaves<'a>(nodes: Vec<&'a Self>) -> __e::Leaves<'a> {
                #leaves
            }
        }
    }
}

/// Sorts the objects by type.
fn leaves(variants: &[Ident]) -> TokenStream {
    let rows: Vec<_> = (0..variants.len()).map(|index| format_ident!("rows_{index}")).collect();
    let numbers: Vec<_> = (0..variants.len()).map(number).collect();
    if variants.is_empty() {
        return quote! {
            let _ = nodes;
            __e::Leaves::of_several(vec![], vec![])
        };
    }
    quote! {
        let mut places = Vec::with_capacity(nodes.len());
        #(let mut #rows = Vec::new();)*
        for node in nodes {
            match node {
                #(Self::#variants(object) => {
                    places.push((#numbers, #rows.len() as u32));
                    #rows.push(object);
                })*
            }
        }
        __e::Leaves::of_several(vec![#(__e::objects(#rows)),*], places)
    }
}
