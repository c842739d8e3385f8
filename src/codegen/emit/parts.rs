//! Types from whose rows lists leave columns out: the parts of a row that hand-written methods get, and the methods that
//! follow from columns, which nobody else can write.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::super::model::{Field, Object, Type};
use super::super::names;
use super::super::parts::{self, Part};
use super::super::rows::{Column, Row};
use super::Context;
use super::objects::{is_written, method};
use super::types::bound;

/// What a type has besides its resolver trait. Nothing for a type whose columns are always read.
pub(super) fn items(context: Context<'_>, object: &Object) -> TokenStream {
    let Some(row) = context.parted(object) else { return TokenStream::new() };
    let (ty, info) = (bound(&object.name), names::type_name(&object.name));
    let traits = traits(context, object, row);
    let methods: Vec<_> = object.fields.iter().filter(|field| !is_written(context, object, field)).collect();
    let derived = (!methods.is_empty()).then(|| {
        let methods = methods.iter().map(|field| method(context, object, field));
        let name = names::type_name(&parts::derived(&object.name));
        let doc =
            format!(" The fields of `{}` that follow from columns. Only the generator implements it.", object.name);
        quote! {
            #[doc = #doc]
            trait #name: AsRef<#ty> + Sized + Send + Sync + 'static {
                #(#methods)*
            }

            impl #name for #ty {}
        }
    });
    quote! {
        #traits

        #derived

        impl __e::Parted for #ty {
            fn info() -> &'static __e::ObjectInfo {
                &info::#info
            }
        }
    }
}

/// The trait that the method of `field` is in.
pub(super) fn trait_of(context: Context<'_>, object: &Object, field: &Field) -> String {
    match is_written(context, object, field) {
        true => names::resolver(&object.name),
        false => parts::derived(&object.name),
    }
}

/// The trait with the part of the row that the method of `field` gets. `None` for the row itself.
pub(super) fn part(context: Context<'_>, object: &Object, field: &Field) -> Option<String> {
    parts::of_field(context.bindings, &object.name, &field.name)?.name(&object.name, context.parted(object)?)
}

/// The traits of the parts that methods get.
fn traits(context: Context<'_>, object: &Object, row: &Row) -> TokenStream {
    let used = object.fields.iter().filter_map(|field| parts::of_field(context.bindings, &object.name, &field.name));
    let groups: BTreeSet<usize> =
        used.clone().filter_map(|part| if let Part::Group(at) = part { Some(at) } else { None }).collect();
    if groups.is_empty() && !used.clone().any(|part| part == Part::Core) {
        return TokenStream::new();
    }
    let core = trait_of_part(context, object, row, None);
    let groups = groups.into_iter().map(|place| trait_of_part(context, object, row, Some(place)));
    quote!(#core #(#groups)*)
}

/// The trait of the columns that every list reads, or of a group.
fn trait_of_part(context: Context<'_>, object: &Object, row: &Row, group: Option<usize>) -> TokenStream {
    let ty = bound(&object.name);
    let named = |part: Part| part.name(&object.name, row).map(|name| names::type_name(&name));
    let name = named(group.map_or(Part::Core, Part::Group));
    let (above, doc) = match group {
        None => (quote!(Sync), format!(" The columns of `{}` that every list reads.", object.name)),
        Some(place) => {
            let (core, group) = (named(Part::Core), &row.groups()[place].name);
            (quote!(#core), format!(" The same columns of `{}`, and the group `{group}`.", object.name))
        }
    };
    let columns = row.columns().filter(|(column, _)| row.group_of(column) == group);
    let columns = columns.filter_map(|(name, column)| accessor(context, name, column));
    let (signatures, bodies): (Vec<_>, Vec<_>) = columns.unzip();
    quote! {
        #[doc = #doc]
        pub trait #name: #above {
            #(#signatures;)*
        }

        impl #name for #ty {
            #(#signatures { #bodies })*
        }
    }
}

/// The signature and the body of the method that reads a column. `None` if generated code cannot name its type.
fn accessor(context: Context<'_>, name: &str, column: &Column) -> Option<(TokenStream, TokenStream)> {
    let name = format_ident!("{name}");
    let (ty, body) = match (&*column.ty, column.nullable) {
        ("String", false) => (quote!(&str), quote!(&self.#name)),
        ("String", true) => (quote!(Option<&str>), quote!(self.#name.as_deref())),
        ("i32" | "i64" | "f64" | "bool", nullable) => {
            let ty = format_ident!("{}", column.ty);
            (if nullable { quote!(Option<#ty>) } else { quote!(#ty) }, quote!(self.#name))
        }
        (scalar, nullable) => {
            let ty = context.schema.types.iter().find_map(|ty| match ty {
                Type::Scalar(own) if context.bindings.bound_as(&own.name) == Some(scalar) => Some(bound(&own.name)),
                _ => None,
            })?;
            match nullable {
                true => (quote!(Option<&#ty>), quote!(self.#name.as_ref())),
                false => (quote!(&#ty), quote!(&self.#name)),
            }
        }
    };
    Some((quote!(fn #name(&self) -> #ty), body))
}
