//! The static description of each object type for the executor: a table in the module `info`.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::super::model::{Field, Object, Schema, Type, TypeShape, Value};
use super::super::{names, scopes};
use super::roots::is_errors_of_payload;
use super::types::bound;
use super::{Context, Representation, derived, inputs};

pub(super) fn module(context: Context<'_>) -> TokenStream {
    let tables = context.schema.objects().map(|object| table(context, object));
    let scalars = scalars(context.schema).map(|name| {
        let ty = bound(name);
        quote!((#name, __e::check::<super::#ty>))
    });
    quote! {
        #[doc = " The executor's descriptions of the object types, by their names in the SDL."]
        #[allow(non_upper_case_globals)]
        pub mod info {
            use super::__e;

            #[doc = " The custom scalars of arguments and input fields, with the checks of their values."]
            pub static SCALARS: &[__e::ScalarCheck] = &[#(#scalars),*];
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
    if context.representation(object) == Representation::PageInfo {
        return quote!(pub use __e::PAGE_INFO_TABLE as #name;);
    }
    let sdl_name = &object.name;
    let fields = object.fields.iter().map(|field| field_info(context, object, field));
    let introspection = (context.schema.query == object.name)
        .then(|| quote!(, __e::introspection::SCHEMA_FIELD, __e::introspection::TYPE_FIELD));
    quote!(__e::table!(#name, #sdl_name, [#(#fields),*] #introspection);)
}

/// The description of a field: what differs from a field that is never null, has no arguments and costs what its kind
/// costs.
fn field_info(context: Context<'_>, object: &Object, field: &Field) -> TokenStream {
    let name = &field.name;
    let kind = kind(context, object, field);
    let objects = context.schema.possible(field.ty.name());
    let objects = objects.iter().map(|object| names::type_name(&object.name));
    let mut info = match kind {
        FieldKind::Column => quote!(column(#name)),
        FieldKind::Relation => quote!(relation(#name, &[#(&#objects),*])),
        FieldKind::Held => quote!(held(#name, &[#(&#objects),*])),
    };
    if field.ty.nullable {
        info.extend(quote!(.nullable()));
    }
    let is_paged = matches!(context.representation(object), Representation::Connection(_)) && field.name == "nodes";
    if is_paged && matches!(&field.ty.shape, TypeShape::List(item) if item.nullable) {
        info.extend(quote!(.nullable_items()));
    }
    if let Some(arguments) = inputs::arguments_type(context.schema, &object.name, field, &quote!(super::)) {
        info.extend(quote!(.args::<#arguments>()));
    }
    info.extend(cost(context, object, field));
    if let Some(groups) = derived::reads(context, object, field) {
        let groups = Literal::u8_unsuffixed(groups);
        info.extend(quote!(.reading(#groups)));
    }
    if let Some(scope) = scope(context.schema, object, field) {
        let scope = names::snake(scope);
        info.extend(quote!(.#scope()));
    }
    info
}

/// The assumed length of a list without pages and without `@listSize`.
const LIST_SIZE: u32 = 10;

/// What a field adds to the estimate of a request, unless it is what any field of its kind adds.
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
        return TokenStream::new();
    }
    let (weight, per_day) = (weight.unwrap_or(1), given("cost", "perDay").unwrap_or(0));
    let is_empty = context.schema.possible(field.ty.name()).is_empty();
    let weighing = (is_empty || (weight, per_day) != (1, 0)).then(|| {
        let (weight, per_day) = (Literal::u32_unsuffixed(weight), Literal::u32_unsuffixed(per_day));
        quote!(.weighing(#weight, #per_day))
    });
    let size = match (is_list, context.schema.object(field.ty.name())) {
        (false, Some(answer)) if is_connection(answer) => quote!(.connection()),
        (true, _) if is_connection(object) => quote!(.page()),
        (true, _) => {
            let size = Literal::u32_unsuffixed(given("listSize", "assumedSize").unwrap_or(LIST_SIZE));
            quote!(.list(#size))
        }
        _ => TokenStream::new(),
    };
    quote!(#weighing #size)
}

enum FieldKind {
    Column,
    Relation,
    Held,
}

fn kind(context: Context<'_>, object: &Object, field: &Field) -> FieldKind {
    match context.representation(object) {
        _ if is_column(context, object, field) => FieldKind::Column,
        Representation::Root => FieldKind::Relation,
        Representation::Bound if !is_errors_of_payload(context, object, field) => FieldKind::Relation,
        _ => FieldKind::Held,
    }
}

/// The scope that a field requires, unless it is that of queries. In a schema without scopes, mutations
/// require the highest.
fn scope<'a>(schema: &Schema, object: &Object, field: &'a Field) -> Option<&'a str> {
    let is_mutation = schema.mutation.as_deref() == Some(&object.name);
    let scope = match field.directive(scopes::DIRECTIVE, scopes::ARGUMENT) {
        Some(Value::Enum(scope)) => scope.as_str(),
        _ if is_mutation => scopes::ADMIN,
        _ => scopes::READ,
    };
    (scope != scopes::READ).then_some(scope)
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
