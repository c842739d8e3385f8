//! Input objects and arguments: structs read from coerced values.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::super::model::{Field, Input, InputValue, Schema, Type, TypeShape, Value};
use super::super::names;
use super::Context;
use super::docs::docs;

pub(super) fn definition(context: Context<'_>, input: &Input) -> TokenStream {
    let name = names::type_name(&input.name);
    let doc = docs(input.description.as_deref(), None);
    let check = input.one_of.then(|| quote!(, exactly_one));
    let boxed = |field: &InputValue| context.schema.holds_itself(input, field);
    let (texts, fields): (Vec<_>, Vec<_>) = input.fields.iter().partition(|field| is_text(context, input, field));
    structure(context, &name, &doc, &fields, &texts, boxed, check)
}

/// Whether a field is an optional text that is stored in a column of the row that the input writes: of `Service` for
/// `ServiceCreateInput`, `ServiceUpdateInput` and `ServiceInput`. An input with a field `texts` of its own has none.
fn is_text(context: Context<'_>, input: &Input, field: &InputValue) -> bool {
    let noun = ["CreateInput", "UpdateInput", "Input"].iter().find_map(|end| input.name.strip_suffix(end));
    let row = noun.and_then(|noun| context.bindings.row(noun));
    let is_string = matches!(field.ty.shape, TypeShape::Named(_)) && field.ty.name() == "String";
    is_string
        && field.ty.nullable
        && context.schema.default_of(field).is_none()
        && !input.fields.iter().any(|field| field.name == "texts")
        && row.is_some_and(|row| row.is_text(&field.name))
}

/// The type of a field's arguments, by its path from the module that `top` leads out of. `None` without arguments; a
/// shared type if they are those of a connection, or `input` alone.
pub(super) fn arguments_type(schema: &Schema, parent: &str, field: &Field, top: &TokenStream) -> Option<TokenStream> {
    if field.args.is_empty() {
        None
    } else if field.is_page() {
        Some(quote!(__e::PageArguments))
    } else if let Some(input) = only_input(schema, field) {
        let name = names::type_name(input);
        Some(quote!(__e::InputArgument<#top #name>))
    } else {
        let name = names::type_name(&names::args(parent, &field.name));
        Some(quote!(#top #name))
    }
}

/// The input object that a field requires, if it is its only argument and called `input`.
pub(super) fn only_input<'a>(schema: &Schema, field: &'a Field) -> Option<&'a str> {
    let [argument] = &*field.args else { return None };
    let is_plain = matches!(argument.ty.shape, TypeShape::Named(_)) && !argument.ty.nullable;
    let name = argument.ty.name();
    let is_object = matches!(schema.get(name), Some(Type::Input(_)));
    (argument.name == "input" && is_plain && is_object && argument.default.is_none()).then_some(name)
}

/// The struct of a field's arguments, if it needs its own.
pub(super) fn arguments(context: Context<'_>, parent: &str, field: &Field) -> TokenStream {
    if field.args.is_empty() || field.is_page() || only_input(context.schema, field).is_some() {
        return TokenStream::new();
    }
    let name = names::type_name(&names::args(parent, &field.name));
    let doc = docs(Some(&format!("The arguments of `{parent}.{}`.", field.name)), None);
    let arguments: Vec<_> = field.args.iter().collect();
    structure(context, &name, &doc, &arguments, &[], |_| false, None)
}

fn structure(
    context: Context<'_>,
    name: &Ident,
    doc: &TokenStream,
    fields: &[&InputValue],
    texts: &[&InputValue],
    boxed: impl Fn(&InputValue) -> bool,
    check: Option<TokenStream>,
) -> TokenStream {
    let (texts, read_texts) = texts_field(texts).unzip();
    let names: Vec<_> = fields.iter().map(|field| names::snake(&field.name)).collect();
    let types = fields.iter().map(|field| context.input(field, boxed(field)));
    let field_docs = fields.iter().map(|field| docs(field.description.as_deref(), field.deprecated.as_deref()));
    let reads = fields.iter().map(|field| {
        let (own, name) = (names::snake(&field.name), &field.name);
        let read = match context.schema.default_of(field) {
            Some(default) => {
                let default = value(&default);
                quote!(defaulted(#name, || #default))
            }
            None if field.ty.nullable => quote!(optional(#name)),
            None => quote!(required(#name)),
        };
        quote!(#own: #read)
    });
    let reads = reads.chain(read_texts);
    quote! {
        #doc
        #[derive(Debug, Clone, PartialEq)]
        pub struct #name {
            #(#field_docs pub #names: #types,)*
            #texts
        }

        __e::from_fields!(#name { #(#reads),* } #check);
    }
}

/// The field that holds the optional texts, if there are any, and the expression that reads it.
fn texts_field(texts: &[&InputValue]) -> Option<(TokenStream, TokenStream)> {
    let names: Vec<_> = texts.iter().map(|field| field.name.as_str()).collect();
    let (first, others) = names.split_first()?;
    let listed = others.iter().fold(format!("`{first}`"), |listed, name| format!("{listed}, `{name}`"));
    let doc = docs(Some(&format!("{listed}.")), None);
    Some((quote!(#doc pub texts: __e::Texts,), quote!(texts: texts(&[#(#names),*]))))
}

/// An expression for a default value.
fn value(value: &Value) -> TokenStream {
    match value {
        Value::Null => quote!(__e::Value::Null),
        Value::Int(int) => quote!(__e::Value::Number(From::from(#int))),
        Value::Float(float) => quote!(__e::float(#float)),
        Value::String(text) => quote!(__e::Value::String(String::from(#text))),
        Value::Boolean(boolean) => quote!(__e::Value::Boolean(#boolean)),
        Value::Enum(word) => {
            quote!(__e::Value::Enum(__e::Name::new(#word)))
        }
        Value::List(items) => {
            let items = items.iter().map(self::value);
            quote!(__e::Value::List(vec![#(#items),*]))
        }
        Value::Object(fields) => {
            let names = fields.iter().map(|(name, _)| name);
            let values = fields.iter().map(|(_, field)| self::value(field));
            quote!(__e::object([#((#names, #values)),*]))
        }
    }
}
