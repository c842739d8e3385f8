//! SDL types as Rust types.

use proc_macro2::TokenStream;
use quote::quote;

use super::super::model::{InputValue, TypeKind, TypeRef, TypeShape};
use super::super::names;
use super::{Context, Representation};

impl Context<'_> {
    /// The type of a column: strings are borrowed, others by value.
    pub(super) fn column(&self, ty: &TypeRef) -> TokenStream {
        match &ty.shape {
            TypeShape::Named(name) if name == "String" => nullable(ty, quote!(&str)),
            _ => self.output(ty),
        }
    }

    /// The type of a relation's result for one parent, or of a plain object's field.
    pub(super) fn output(&self, ty: &TypeRef) -> TokenStream {
        let inner = match &ty.shape {
            TypeShape::List(item) => {
                let item = self.output(item);
                quote!(Vec<#item>)
            }
            TypeShape::Named(name) => self.output_name(name),
        };
        nullable(ty, inner)
    }

    /// The Rust type of a named output type.
    pub(super) fn output_name(&self, name: &str) -> TokenStream {
        match self.schema.kind(name) {
            TypeKind::Scalar => match name {
                "String" => quote!(String),
                "Int" => quote!(i32),
                "Float" => quote!(f64),
                "Boolean" => quote!(bool),
                _ => bound(name),
            },
            TypeKind::Object => {
                let object = self.schema.object(name).map(|object| self.representation(object));
                if object == Some(Representation::Bound) { bound(name) } else { generated(name) }
            }
            _ => generated(name),
        }
    }

    /// The type of an argument or input field. `boxed` must be true if the type would otherwise contain itself.
    pub(super) fn input(&self, value: &InputValue, boxed: bool) -> TokenStream {
        let inner = self.input_inner(&value.ty, boxed);
        match (value.ty.nullable, &value.default) {
            (false, _) => inner,
            (true, Some(_)) => quote!(Option<#inner>),
            (true, None) => quote!(__e::MaybeUndefined<#inner>),
        }
    }

    fn input_inner(&self, ty: &TypeRef, boxed: bool) -> TokenStream {
        match &ty.shape {
            TypeShape::List(item) => {
                let inner = self.input_inner(item, false);
                let item = nullable(item, inner);
                quote!(Vec<#item>)
            }
            TypeShape::Named(name) => {
                let named = match (self.schema.kind(name), name.as_str()) {
                    (TypeKind::Scalar, "String" | "ID") => quote!(String),
                    (TypeKind::Scalar, "Int") => quote!(i32),
                    (TypeKind::Scalar, "Float") => quote!(f64),
                    (TypeKind::Scalar, "Boolean") => quote!(bool),
                    (TypeKind::Scalar, _) => bound(name),
                    _ => generated(name),
                };
                if boxed { quote!(__e::Boxed<#named>) } else { named }
            }
        }
    }
}

/// A type of the module `types`.
pub(super) fn bound(name: &str) -> TokenStream {
    let name = names::type_name(name);
    quote!(super::types::#name)
}

fn generated(name: &str) -> TokenStream {
    let name = names::type_name(name);
    quote!(#name)
}

fn nullable(ty: &TypeRef, inner: TokenStream) -> TokenStream {
    if ty.nullable { quote!(Option<#inner>) } else { inner }
}
