//! The root types: a trait for each field, so that each noun's file can implement its own.

use proc_macro2::TokenStream;
use quote::quote;

use super::super::model::{Field, Object, TypeShape};
use super::super::names;
use super::objects::number;
use super::{Context, Representation, docs::docs, inputs};

pub(super) fn definition(context: Context<'_>, root: &Object) -> TokenStream {
    let name = names::type_name(&root.name);
    let doc = docs(root.description.as_deref(), None);
    let is_mutation = context.schema.mutation.as_deref() == Some(&root.name);
    let traits = root.fields.iter().map(|field| field_trait(context, root, field, is_mutation));
    let arguments = root.fields.iter().map(|field| inputs::arguments(context, &root.name, field));
    let fields = root.fields.iter().enumerate().map(|(index, field)| {
        let (index, function) = (number(index), resolve_name(field));
        quote!(#index: #name::#function)
    });
    let functions = root.fields.iter().map(|field| function(context, root, field, is_mutation));
    let (schema, ty) = (number(root.fields.len()), number(root.fields.len() + 1));
    let introspection = [quote!(#schema: __e::introspection::schema), quote!(#ty: __e::introspection::type_by_name)];
    let introspection = introspection.into_iter().filter(|_| !is_mutation);
    let fields = fields.chain(introspection);
    quote! {
        #doc
        #[derive(Debug, Clone, Copy)]
        pub struct #name;

        #(#traits)*

        #(#arguments)*

        impl #name {
            #(#functions)*
        }

        __e::root!(#name { #(#fields),* });
    }
}

fn trait_name(field: &Field, is_mutation: bool) -> proc_macro2::Ident {
    names::type_name(&if is_mutation { names::mutation(&field.name) } else { names::query(&field.name) })
}

fn field_trait(context: Context<'_>, root: &Object, field: &Field, is_mutation: bool) -> TokenStream {
    let name = trait_name(field, is_mutation);
    let method = names::snake(&field.name);
    let doc = docs(field.description.as_deref(), field.deprecated.as_deref());
    let message = format!("nothing resolves the SDL's `{}.{}`", root.name, field.name);
    let file = context.bindings.root_field_file(&field.name);
    let note = format!("write `impl {name} for {}` in {file}", root.name);
    let arguments = field.args.iter().map(|argument| {
        let (name, ty) = (names::snake(&argument.name), context.input(argument, false));
        quote!(#name: #ty,)
    });
    // An argument may be named `ctx` too; none can begin with two underscores.
    let ctx = names::snake(if field.args.iter().any(|argument| argument.name == "ctx") { "__ctx" } else { "ctx" });
    let context_type = if is_mutation { quote!(MutationCtx) } else { quote!(Ctx) };
    let answer = answer(context, field, is_mutation);
    quote! {
        #doc
        #[diagnostic::on_unimplemented(message = #message, note = #note)]
        pub trait #name {
            fn #method(
                #ctx: &#context_type<'_>,
                #(#arguments)*
            ) -> impl __e::Answer<#answer>;
        }
    }
}

/// The return type of a root field's method. A payload is never null: its errors are inside it.
fn answer(context: Context<'_>, field: &Field, is_mutation: bool) -> TokenStream {
    if is_mutation && is_payload(context, field) {
        context.output_name(field.ty.name())
    } else {
        context.output(&field.ty)
    }
}

/// Whether a field returns a payload: a type with a list `errors`, all of whose fields are nullable or lists. Of a bound
/// type, the Rust type must have the field `errors`, too.
fn is_payload(context: Context<'_>, field: &Field) -> bool {
    let Some(object) = context.schema.object(field.ty.name()) else { return false };
    let is_list = |field: &Field| matches!(field.ty.shape, TypeShape::List(_));
    let errors = object.field("errors");
    matches!(context.representation(object), Representation::Plain | Representation::Bound)
        && matches!(field.ty.shape, TypeShape::Named(_))
        && errors.is_some_and(|errors| is_list(errors) && !errors.ty.nullable)
        && object.fields.iter().all(|field| field.ty.nullable || is_list(field))
}

/// Whether a field of a bound type is the list of errors of a payload. No resolver reads it: the Rust type has a field of
/// that name. So it is answered however long the mutation took.
pub(super) fn is_errors_of_payload(context: Context<'_>, object: &Object, field: &Field) -> bool {
    let mutation = context.schema.mutation.as_deref().and_then(|name| context.schema.object(name));
    let returns = |root: &Field| root.ty.name() == object.name && is_payload(context, root);
    field.name == "errors"
        && field.args.is_empty()
        && !context.schema.is_leaf(field.ty.name())
        && mutation.is_some_and(|mutation| mutation.fields.iter().any(returns))
}

/// The name of the function that resolves a root field. Each has its own, because the compiler checks a function as a
/// whole: with one for all mutations, an edit of one would check all of them again.
fn resolve_name(field: &Field) -> proc_macro2::Ident {
    names::snake(&format!("resolve_{}", names::snake_case(&field.name)))
}

/// The function that resolves a root field.
fn function(context: Context<'_>, root: &Object, field: &Field, is_mutation: bool) -> TokenStream {
    let (function, name) = (resolve_name(field), trait_name(field, is_mutation));
    let method = names::snake(&field.name);
    let arguments = arguments(context, root, field);
    let answer = if context.schema.is_leaf(field.ty.name()) { quote!(scalar) } else { quote!(answer) };
    if !is_mutation {
        return quote!(__e::query!(#function, #answer, #name::#method #arguments););
    }
    if is_payload(context, field) {
        let ty = context.output_name(field.ty.name());
        return quote!(__e::mutation!(#function, #ty, #name::#method #arguments););
    }
    quote!(__e::bare_mutation!(#function, #answer, #name::#method #arguments);)
}

/// How a root field takes its arguments.
fn arguments(context: Context<'_>, root: &Object, field: &Field) -> Option<TokenStream> {
    if inputs::only_input(context.schema, field).is_some() {
        return Some(quote!(, input));
    }
    let ty = inputs::arguments_type(context.schema, &root.name, field, &TokenStream::new())?;
    let names = field.args.iter().map(|argument| names::snake(&argument.name));
    Some(quote!(, #ty { #(#names),* }))
}
