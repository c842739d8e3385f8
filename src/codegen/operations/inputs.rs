//! The inputs of operations: structs of their variables, and of the input objects in these.

use std::collections::BTreeSet;

use apollo_compiler::Node;
use apollo_compiler::ast::VariableDefinition;
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::super::bindings::Bindings;
use super::super::emit::docs::docs;
use super::super::model::{Input, InputValue, Schema, Type, TypeKind, TypeRef, TypeShape};
use super::super::names;
use super::Reports;
use super::keys::Keys;
use super::shape::{Definition, Role, type_ref};

/// The types that the variables of all operations need.
#[derive(Default)]
pub(super) struct Inputs<'a> {
    /// Input objects, in the SDL's order.
    pub(super) objects: Vec<&'a Input>,
    /// Enums, by name.
    pub(super) words: BTreeSet<&'a str>,
}

/// Collects the types that the variables of the operations need.
pub(super) fn used<'a>(
    model: &'a Schema,
    bindings: &Bindings,
    definitions: &[Definition<'_>],
    reports: &mut Reports,
) -> Inputs<'a> {
    let mut inputs = Inputs::default();
    let mut objects = BTreeSet::new();
    for definition in definitions {
        let Role::Operation { variables, .. } = &definition.role else { continue };
        let mut taken = BTreeSet::new();
        for variable in *variables {
            if !taken.insert(names::snake(&variable.name).to_string()) {
                let message = format!("another variable has the same Rust name as `${}`", variable.name);
                reports.report(variable.name.location(), message, "rename one of them");
            }
            let mut next = vec![variable.ty.inner_named_type().as_str()];
            while let Some(name) = next.pop() {
                match model.get(name) {
                    Some(Type::Input(input)) if objects.insert(input.name.as_str()) => {
                        next.extend(input.fields.iter().map(|field| field.ty.name()));
                    }
                    Some(Type::Enum(definition)) => drop(inputs.words.insert(&definition.name)),
                    _ => reports.bound(name, model, bindings, variable.name.location()),
                }
            }
        }
    }
    let is_used = |input: &&Input| objects.contains(input.name.as_str());
    inputs.objects = model.types.iter().filter_map(as_input).filter(is_used).collect();
    inputs
}

fn as_input(ty: &Type) -> Option<&Input> {
    match ty {
        Type::Input(input) => Some(input),
        _ => None,
    }
}

/// The struct of an operation's variables.
pub(super) fn variables(
    model: &Schema,
    name: &Ident,
    doc: &TokenStream,
    variables: &[Node<VariableDefinition>],
) -> TokenStream {
    if variables.is_empty() {
        return quote!(#doc #[derive(::serde::Serialize)] pub struct #name;);
    }
    let keys = Keys::of_fields(variables.iter().map(|variable| variable.name.as_str()));
    let renamed = keys.attribute();
    let fields = variables.iter().map(|variable| {
        let ty = type_ref(&variable.ty);
        let inner = inner(model, &ty, false);
        let field = names::snake(&variable.name);
        let rename = keys.rename(&field, &variable.name);
        // An absent value is sent as null, unless null means something else.
        match (&variable.default_value, ty.nullable) {
            (Some(_), _) => {
                let doc = docs(Some("Absent: the operation's default."), None);
                quote!(#doc #rename #[serde(skip_serializing_if = "Option::is_none")] pub #field: Option<#inner>,)
            }
            (None, true) => quote!(#rename pub #field: Option<#inner>,),
            (None, false) => quote!(#rename pub #field: #inner,),
        }
    });
    let borrows = variables.iter().any(|variable| borrows(model, variable.ty.inner_named_type()));
    let lifetime = borrows.then(|| quote!(<'a>));
    quote!(#doc #[derive(::serde::Serialize)] #renamed pub struct #name #lifetime { #(#fields)* })
}

/// The lifetime arguments of an operation's struct, for its impls.
pub(super) fn any_lifetime(model: &Schema, variables: &[Node<VariableDefinition>]) -> Option<TokenStream> {
    variables.iter().any(|variable| borrows(model, variable.ty.inner_named_type())).then(|| quote!(<'_>))
}

/// The struct of an input object.
pub(super) fn object(model: &Schema, input: &Input) -> TokenStream {
    let name = names::type_name(&input.name);
    let lifetime = borrows(model, &input.name).then(|| quote!(<'a>));
    if input.one_of {
        let variants = input.fields.iter().map(|field| {
            let (variant, word) = (names::variant(&field.name), &field.name);
            let inner = inner(model, &field.ty, model.holds_itself(input, field));
            quote!(#[serde(rename = #word)] #variant(#inner),)
        });
        // Few callers use every variant.
        return quote! {
            #[allow(dead_code)] #[derive(::serde::Serialize)] pub enum #name #lifetime { #(#variants)* }
        };
    }
    let keys = Keys::of_fields(input.fields.iter().map(|field| field.name.as_str()));
    let renamed = keys.attribute();
    let fields = input.fields.iter().map(|field| self::field(model, input, field, &keys));
    let is_required = |field: &InputValue| !field.ty.nullable && field.default.is_none();
    let default = (!input.fields.iter().any(is_required)).then(|| quote!(Default,));
    quote!(#[derive(#default ::serde::Serialize)] #renamed pub struct #name #lifetime { #(#fields)* })
}

fn field(model: &Schema, input: &Input, field: &InputValue, keys: &Keys) -> TokenStream {
    let inner = inner(model, &field.ty, model.holds_itself(input, field));
    let name = names::snake(&field.name);
    let rename = keys.rename(&name, &field.name);
    match (field.ty.nullable, &field.default) {
        (true, _) => quote! {
            #rename
            #[serde(skip_serializing_if = "__e::MaybeUndefined::is_undefined")]
            pub #name: __e::MaybeUndefined<#inner>,
        },
        (false, Some(_)) => {
            quote!(#rename #[serde(skip_serializing_if = "Option::is_none")] pub #name: Option<#inner>,)
        }
        (false, None) => quote!(#rename pub #name: #inner,),
    }
}

/// The type without its own nullability. `is_boxed` if it would otherwise contain itself.
fn inner(model: &Schema, ty: &TypeRef, is_boxed: bool) -> TokenStream {
    match &ty.shape {
        TypeShape::List(item) => {
            let inner = inner(model, item, false);
            if item.nullable { quote!(Vec<Option<#inner>>) } else { quote!(Vec<#inner>) }
        }
        TypeShape::Named(name) => {
            let ident = names::type_name(name);
            let named = match (model.kind(name), name.as_str()) {
                (TypeKind::Scalar, "String" | "ID") => quote!(&'a str),
                (TypeKind::Scalar, _) => scalar(name, &quote!(types)),
                (TypeKind::Input, _) if borrows(model, name) => quote!(#ident<'a>),
                _ => quote!(#ident),
            };
            if is_boxed { quote!(Box<#named>) } else { named }
        }
    }
}

/// Whether an input contains text, which it then borrows.
fn borrows(model: &Schema, name: &str) -> bool {
    let (mut seen, mut next) = (BTreeSet::new(), vec![name]);
    while let Some(name) = next.pop() {
        match model.input(name) {
            Some(input) if seen.insert(name) => next.extend(input.fields.iter().map(|field| field.ty.name())),
            None if matches!(name, "String" | "ID") => return true,
            _ => {}
        }
    }
    false
}

/// The Rust type of a built-in scalar other than text.
pub(super) fn scalar(name: &str, types: &TokenStream) -> TokenStream {
    match name {
        "Int" => quote!(i32),
        "Float" => quote!(f64),
        "Boolean" => quote!(bool),
        name => {
            let name = names::type_name(name);
            quote!(#types::#name)
        }
    }
}
