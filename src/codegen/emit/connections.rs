//! Connections, edges and `PageInfo`: aliases of the hand-written `Page`, `Edge` and `PageInfo`, and their
//! implementations of the executor's traits.

use proc_macro2::TokenStream;
use quote::quote;

use super::super::model::{Object, TypeShape};
use super::super::names;
use super::objects::{implementation, number, resolve};
use super::{Context, docs::docs};

pub(super) fn connection(context: Context<'_>, object: &Object, node: &str) -> TokenStream {
    let name = names::type_name(&object.name);
    let doc = docs(object.description.as_deref(), None);
    let node = context.output_name(node);
    let ty = quote!(__e::Page<#node>);
    let relations = object.fields.iter().enumerate().map(|(index, field)| {
        let index = number(index);
        let slot = match field.name.as_str() {
            "nodes" => {
                let nullable = matches!(&field.ty.shape, TypeShape::List(item) if item.nullable);
                quote!(__e::nodes(rows, #nullable, field, execution))
            }
            "edges" => {
                let values = quote!(rows.iter().map(|page| &page.edges).collect());
                quote!(__e::hold(#values, field, execution))
            }
            "pageInfo" => {
                let values = quote!(rows.iter().map(|page| &page.info).collect());
                quote!(__e::hold(#values, field, execution))
            }
            _ => {
                let counts = quote!(rows.iter().map(|page| page.count()).collect());
                quote!(__e::resolved(__e::scalars(#counts, rows.len(), execution)))
            }
        };
        quote!(#index => #slot)
    });
    let implementation = implementation(object, &ty, std::iter::empty(), &resolve(relations));
    quote! {
        #doc
        pub type #name = #ty;

        #implementation
    }
}

pub(super) fn edge(context: Context<'_>, object: &Object, node: &str) -> TokenStream {
    let name = names::type_name(&object.name);
    let doc = docs(object.description.as_deref(), None);
    let node = context.output_name(node);
    let ty = quote!(__e::Edge<#node>);
    let at = |name: &str| object.fields.iter().position(|field| field.name == name).unwrap_or_default();
    let (cursor, node) = (number(at("cursor")), number(at("node")));
    let columns = [quote!(#cursor => __e::put(&self.cursor, out))];
    let relations = [quote! {
        #node => __e::hold(rows.iter().map(|edge| &edge.node).collect(), field, execution)
    }];
    let implementation = implementation(object, &ty, columns.into_iter(), &resolve(relations.into_iter()));
    quote! {
        #doc
        pub type #name = #ty;

        #implementation
    }
}

pub(super) fn page_info(object: &Object) -> TokenStream {
    let ty = quote!(__e::PageInfo);
    let columns = object.fields.iter().enumerate().map(|(index, field)| {
        let (index, name) = (number(index), names::snake(&field.name));
        quote!(#index => __e::put(&self.#name, out))
    });
    let implementation = implementation(object, &ty, columns, &resolve(std::iter::empty()));
    quote! {
        pub use __e::PageInfo;

        #implementation
    }
}
