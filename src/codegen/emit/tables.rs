//! The static description of each object type for the executor: a table in the module `info`.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::super::model::{Field, Object, Schema, Type, TypeShape, Value};
use super::super::{names, scopes};
use super::roots::is_errors_of_payload;
use super::types::bound;
use super::{Context, Representation, inputs};

pub(super) fn module(context: Context<'_>) -> TokenStream {
    let tables = context.schema.objects().map(|object| table(context, object));
    let scalars = scalars(context.schema).map(|name| {
        let ty = bound(name);
        quote!((#name, ::rollcall::engine::input::check::<super::#ty>))
    });
    quote! {
        #[doc = " The executor's descriptions of the object types, by their names in the SDL."]
        #[allow(non_upper_case_globals)]
        pub mod info {
            #[doc = " The custom scalars of arguments and input fields, with the checks of their values."]
            pub static SCALARS: &[::rollcall::engine::input::ScalarCheck] = &[#(#scalars),*];
            #(#tables)*
        }
    }
}

fn scalars(schema: &Schema) -> impl Iterator<Item = &str> {
    let is_given = |name: &str| {
        schema.types.iter().any(|ty| match ty {
            Type::Object(object) => {
                object.fields.iter().flat_map(|field| &field.args).any(|given| given.ty.name() == name)
            }
            Type::Input(input) => input.fields.iter().any(|given| given.ty.name() == name),
            _ => false,
        })
    };
    let scalars = schema.types.iter().filter(|ty| matches!(ty, Type::Scalar(_)));
    scalars.map(Type::name).filter(move |name| is_given(name))
}

fn table(context: Context<'_>, object: &Object) -> TokenStream {
    let name = names::type_name(&object.name);
    let sdl_name = &object.name;
    let doc = format!(" `{sdl_name}`.");
    let fields = object.fields.iter().map(|field| {
        let field_name = &field.name;
        let kind = match kind(context, object, field) {
            Kind::Column => quote!(Column),
            Kind::Relation => quote!(Relation),
            Kind::Held => quote!(Held),
        };
        let nullable = field.ty.nullable;
        let arguments = match inputs::arguments_type(&object.name, field) {
            None => quote!(None),
            Some(ty) => {
                let ty = if ty.to_string().starts_with("::") { ty } else { quote!(super::#ty) };
                quote!(Some(::rollcall::engine::input::read_arguments::<#ty>))
            }
        };
        let cost = cost(context, object, field);
        let scope = scope(context.schema, object, field);
        let objects = context.schema.possible(field.ty.name());
        let objects = objects.iter().map(|object| names::type_name(&object.name));
        quote! {
            ::rollcall::engine::FieldInfo {
                name: #field_name,
                kind: ::rollcall::engine::Kind::#kind,
                nullable: #nullable,
                arguments: #arguments,
                objects: &[#(&#objects),*],
                cost: #cost,
                scope: ::rollcall::engine::Scope::#scope,
            }
        }
    });
    let introspection = (context.schema.query == object.name).then(|| {
        quote!(::rollcall::engine::introspection::SCHEMA_FIELD, ::rollcall::engine::introspection::TYPE_FIELD)
    });
    quote! {
        #[doc = #doc]
        pub static #name: ::rollcall::engine::ObjectInfo = ::rollcall::engine::ObjectInfo {
            name: #sdl_name,
            fields: &[#(#fields,)* #introspection],
        };
    }
}

/// The assumed length of a list without pages and without `@listSize`.
const LIST_SIZE: u32 = 10;

/// What a field adds to the estimate of a request.
fn cost(context: Context<'_>, object: &Object, field: &Field) -> TokenStream {
    let is_leaf = context.schema.is_leaf(field.ty.name());
    let is_list = matches!(field.ty.shape, TypeShape::List(_));
    // Includes connections that are generated as plain objects: their edges have more fields, or another connection has
    // the same node type.
    let is_connection = |object: &Object| context.schema.is_paged(object);
    let given = |directive, argument| match field.directive(directive, argument) {
        Some(Value::Int(number)) => u32::try_from(*number).ok(),
        _ => None,
    };
    let weight = given("cost", "weight");
    if is_leaf && weight.is_none() {
        return quote!(::rollcall::engine::Cost::NONE);
    }
    let (weight, per_day) = (weight.unwrap_or(1), given("cost", "perDay").unwrap_or(0));
    let size = match (is_list, context.schema.object(field.ty.name())) {
        (false, Some(answer)) if is_connection(answer) => quote!(Connection),
        (true, _) if is_connection(object) => quote!(Page),
        (true, _) => {
            let size = given("listSize", "assumedSize").unwrap_or(LIST_SIZE);
            quote!(List(#size))
        }
        _ => quote!(One),
    };
    quote! {
        ::rollcall::engine::Cost {
            weight: #weight,
            per_day: #per_day,
            size: ::rollcall::engine::Size::#size,
        }
    }
}

enum Kind {
    Column,
    Relation,
    Held,
}

fn kind(context: Context<'_>, object: &Object, field: &Field) -> Kind {
    match context.representation(object) {
        _ if is_column(context, object, field) => Kind::Column,
        Representation::Root => Kind::Relation,
        Representation::Bound if !is_errors_of_payload(context, object, field) => Kind::Relation,
        _ => Kind::Held,
    }
}

/// The variant of the scope that a field requires. In a schema without scopes, mutations require the highest.
fn scope(schema: &Schema, object: &Object, field: &Field) -> Ident {
    let is_mutation = schema.mutation.as_deref() == Some(&object.name);
    match field.directive(scopes::DIRECTIVE, scopes::ARGUMENT) {
        Some(Value::Enum(scope)) => names::variant(scope),
        _ => names::variant(if is_mutation { scopes::ADMIN } else { scopes::READ }),
    }
}

/// Whether a field is read from the object itself while the response is written.
pub(super) fn is_column(context: Context<'_>, object: &Object, field: &Field) -> bool {
    let is_leaf = context.schema.is_leaf(field.ty.name());
    match context.representation(object) {
        Representation::Root => false,
        Representation::Bound => {
            let is_named = matches!(field.ty.shape, TypeShape::Named(_));
            is_leaf && is_named && field.args.is_empty() && !context.bindings.is_computed(&object.name, &field.name)
        }
        Representation::Connection(_) => false,
        Representation::Plain | Representation::Edge(_) | Representation::PageInfo => is_leaf,
    }
}
