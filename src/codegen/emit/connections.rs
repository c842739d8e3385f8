//! Connections, edges and `PageInfo`: aliases of the engine's `Page`, `Edge` and `PageInfo`. Where lists leave columns of
//! the nodes out, a connection is a `PartialPage`.

use proc_macro2::TokenStream;
use quote::quote;

use super::super::model::Object;
use super::super::names;
use super::super::parts;
use super::{Context, docs::docs};

pub(super) fn connection(context: Context<'_>, object: &Object, node: &str) -> TokenStream {
    let is_partial = parts::row(context.bindings, node).is_some();
    let page = if is_partial { quote!(__e::PartialPage) } else { quote!(__e::Page) };
    alias(object, &page, &context.output_name(node))
}

pub(super) fn edge(context: Context<'_>, object: &Object, node: &str) -> TokenStream {
    alias(object, &quote!(__e::Edge), &context.output_name(node))
}

fn alias(object: &Object, generic: &TokenStream, node: &TokenStream) -> TokenStream {
    let name = names::type_name(&object.name);
    let doc = docs(object.description.as_deref(), None);
    quote!(#doc pub type #name = #generic<#node>;)
}

pub(super) fn page_info() -> TokenStream {
    quote!(
        pub use __e::PageInfo;
    )
}
