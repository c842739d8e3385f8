//! Connections, edges and `PageInfo`: aliases of the hand-written `Page`, `Edge` and `PageInfo`, and their
//! implementations of the executor's traits.

use proc_macro2::TokenStream;
use quote::quote;

use super::super::model::{Object, TypeShape};
use super::super::names;
use super::objects::{implementation, resolve};
use super::{Context, docs::docs};

pub(super) fn connection(context: Context<'_>, object: &Object, node: &str) -> TokenStream {
    let name = names::type_name(&object.name);
    let doc = docs(object.description.as_deref(), None);
    let node = context.output_name(node);
    let ty = quote!(::rollcall::engine::page::Page<#node>);
    let relations = object.fields.iter().enumerate().map(|(index, field)| {
        let index = index as u16;
        let slot = match field.name.as_str() {
            "nodes" => {
                let nullable = matches!(&field.ty.shape, TypeShape::List(item) if item.nullable);
                quote!(::rollcall::engine::page::nodes(rows, #nullable, field, execution))
            }
            "edges" => {
                let values = quote!(rows.iter().map(|page| &page.edges).collect());
                quote!(::rollcall::engine::hold(#values, field, execution))
            }
            "pageInfo" => {
                let values = quote!(rows.iter().map(|page| &page.info).collect());
                quote!(::rollcall::engine::hold(#values, field, execution))
            }
            _ => {
                let counts = quote!(rows.iter().map(|page| page.count()).collect());
                quote!(::rollcall::engine::resolved(::rollcall::engine::scalars(#counts, rows.len(), execution)))
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
    let ty = quote!(::rollcall::engine::page::Edge<#node>);
    let at = |name: &str| object.fields.iter().position(|field| field.name == name).unwrap_or_default() as u16;
    let (cursor, node) = (at("cursor"), at("node"));
    let columns = [quote!(#cursor => ::rollcall::engine::write::Scalar::write(&self.cursor, out))];
    let relations = [quote! {
        #node => ::rollcall::engine::hold(rows.iter().map(|edge| &edge.node).collect(), field, execution)
    }];
    let implementation = implementation(object, &ty, columns.into_iter(), &resolve(relations.into_iter()));
    quote! {
        #doc
        pub type #name = #ty;

        #implementation
    }
}

pub(super) fn page_info(object: &Object) -> TokenStream {
    let ty = quote!(::rollcall::engine::page::PageInfo);
    let columns = object.fields.iter().enumerate().map(|(index, field)| {
        let (index, name) = (index as u16, names::snake(&field.name));
        quote!(#index => ::rollcall::engine::write::Scalar::write(&self.#name, out))
    });
    let implementation = implementation(object, &ty, columns, &resolve(std::iter::empty()));
    quote! {
        pub use ::rollcall::engine::page::PageInfo;

        #implementation
    }
}
