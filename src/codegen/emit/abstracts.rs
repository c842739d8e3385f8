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
    let resolve = resolve(&variants);
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

        impl __e::Node for #name {}

        impl __e::Composite<super::types::State> for #name {
            fn resolve<'r, 'a: 'r>(
                nodes: Vec<&'a Self>,
                plans: &'a [__e::ObjectPlan],
                execution: &'r __e::Execution<'a, super::types::State>,
            ) -> __e::BoxFuture<'r, __e::Children<'a>> {
                #resolve
            }
        }
    }
}

/// Groups the objects by type, and resolves each group with its own plan.
fn resolve(variants: &[Ident]) -> TokenStream {
    let rows: Vec<_> = (0..variants.len()).map(|index| format_ident!("rows_{index}")).collect();
    let indexes: Vec<_> = (0..variants.len()).map(number).collect();
    let numbers = indexes.clone();
    if variants.is_empty() {
        quote! {
            let _ = (nodes, plans, execution);
            Box::pin(async move {
                __e::Children::of_several(vec![], vec![])
            })
        }
    } else {
        quote! {
            Box::pin(async move {
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
                let levels = vec![
                    #(__e::level(#rows, &plans[#indexes], execution).await,)*
                ];
                __e::Children::of_several(levels, places)
            })
        }
    }
}
