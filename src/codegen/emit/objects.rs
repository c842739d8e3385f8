//! Object types: a resolver trait for a bound type, a struct for plain data.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::super::model::{Field, Object, TypeShape};
use super::super::names;
use super::roots::is_errors_of_payload;
use super::tables::is_column;
use super::types::bound as bound_type;
use super::{Context, Representation, derived, docs::docs, inputs, parts};

/// The trait that a hand-written type implements, and the executor's access to it.
pub(super) fn bound(context: Context<'_>, object: &Object) -> TokenStream {
    let ty = bound_type(&object.name);
    let resolver = names::type_name(&names::resolver(&object.name));
    let doc = docs(object.description.as_deref(), None);
    let message = format!("nothing resolves the fields of the SDL's type `{}` for `{{Self}}`", object.name);
    let note = format!("write `impl {resolver} for {}` in {}", object.name, context.bindings.file(&object.name));
    let methods = object.fields.iter().filter(|field| !is_errors_of_payload(context, object, field));
    let methods = methods.filter(|field| is_written(context, object, field));
    let methods = methods.map(|field| method(context, object, field));
    let arguments = object.fields.iter().map(|field| inputs::arguments(context, &object.name, field));
    let columns = object.fields.iter().enumerate().filter(|(_, field)| is_column(context, object, field));
    let columns = columns.map(|(index, field)| {
        let (index, method) = (number(index), names::snake(&field.name));
        let resolver = names::type_name(&parts::trait_of(context, object, field));
        quote!(#index: #resolver::#method)
    });
    let relations = object.fields.iter().enumerate().filter(|(_, field)| !is_column(context, object, field));
    let relations = relations.map(|(index, field)| relation(context, object, number(index), field));
    let (columns, relations) = (group(&quote!(columns), columns), group(&quote!(relations), relations));
    let parts = parts::items(context, object);
    let row = context.row(object).map(|_| quote!(AsRef<#ty> +));
    let as_row = context.row(object).map(|_| quote!(__e::row!(#ty);));
    quote! {
        #doc
        #[diagnostic::on_unimplemented(message = #message, note = #note)]
        pub trait #resolver: #row Sized + Send + Sync + 'static {
            #(#methods)*
        }

        #as_row

        #parts

        #(#arguments)*

        __e::bound!(#ty #columns #relations);
    }
}

/// Whether the resolver trait has the method of a field, so that it is written by hand, or can be.
pub(super) fn is_written(context: Context<'_>, object: &Object, field: &Field) -> bool {
    context.parted(object).is_none() || derived::method(context, object, field).is_none()
}

/// The method of a field.
pub(super) fn method(context: Context<'_>, object: &Object, field: &Field) -> TokenStream {
    let name = names::snake(&field.name);
    let doc = docs(field.description.as_deref(), field.deprecated.as_deref());
    let body = derived::method(context, object, field).map(|derived| derived.body);
    let body = body.map_or(quote!(;), |body| quote!({ #body }));
    let part = parts::part(context, object, field).map(|name| names::type_name(&name));
    if is_column(context, object, field) {
        let ty = context.column(&field.ty);
        let parent = names::snake(&names::snake_case(&object.name));
        let receiver = part.map_or(quote!(&self), |part| quote!(#parent: &impl #part));
        return quote!(#doc fn #name(#receiver) -> #ty #body);
    }
    let ty = context.output(&field.ty);
    let parents = names::snake(&format!("{}s", names::snake_case(&object.name)));
    let parent = part.map_or(quote!(Self), |part| quote!(impl #part));
    let arguments =
        inputs::arguments_type(context.schema, &object.name, field, &TokenStream::new()).map(|ty| quote!(args: &#ty,));
    quote! {
        #doc
        fn #name(
            #parents: &[&#parent],
            #arguments
            ctx: &Ctx<'_>,
        ) -> impl __e::Answers<#ty> #body
    }
}

/// How a relation of a bound type is resolved.
fn relation(context: Context<'_>, object: &Object, index: Literal, field: &Field) -> TokenStream {
    if is_errors_of_payload(context, object, field) {
        let name = names::snake(&field.name);
        return quote!(#index: held(#name));
    }
    let resolver = names::type_name(&parts::trait_of(context, object, field));
    let method = names::snake(&field.name);
    let arguments = (!field.args.is_empty()).then(|| quote!(, arguments));
    let answers = if context.schema.is_leaf(field.ty.name()) { quote!(scalars) } else { quote!(answers) };
    quote!(#index: #answers(#resolver::#method #arguments))
}

/// A struct with a public field for each field of the SDL.
pub(super) fn plain(context: Context<'_>, object: &Object) -> TokenStream {
    let name = names::type_name(&object.name);
    let doc = docs(object.description.as_deref(), None);
    let fields: Vec<_> = object.fields.iter().map(|field| names::snake(&field.name)).collect();
    let types = object.fields.iter().map(|field| context.plain_field(object, field));
    let field_docs = object.fields.iter().map(|field| docs(field.description.as_deref(), field.deprecated.as_deref()));
    let has_default =
        object.fields.iter().all(|field| field.ty.nullable || matches!(field.ty.shape, TypeShape::List(_)));
    let default = has_default.then(|| quote!(, Default));
    let is_leaf = |field: &Field| context.schema.is_leaf(field.ty.name());
    let member = |(index, field): (usize, &Field)| {
        let (index, name) = (number(index), names::snake(&field.name));
        quote!(#index: #name)
    };
    let (columns, held): (Vec<_>, Vec<_>) = object.fields.iter().enumerate().partition(|(_, field)| is_leaf(field));
    let columns = group(&quote!(columns), columns.into_iter().map(member));
    let held = group(&quote!(held), held.into_iter().map(member));
    quote! {
        #doc
        #[derive(Debug #default)]
        pub struct #name {
            #(#field_docs pub #fields: #types,)*
        }

        __e::plain!(#name #columns #held);
    }
}

/// A group of fields in the executor's access to a type, if there are any.
fn group(name: &TokenStream, fields: impl Iterator<Item = TokenStream>) -> Option<TokenStream> {
    let fields: Vec<_> = fields.collect();
    (!fields.is_empty()).then(|| quote!(, #name { #(#fields),* }))
}

/// The index of a field, in a match.
pub(super) fn number(index: usize) -> Literal {
    Literal::usize_unsuffixed(index)
}

impl Context<'_> {
    /// The type of a plain object's field. Boxes it if the object would otherwise contain itself.
    fn plain_field(&self, object: &Object, field: &Field) -> TokenStream {
        let ty = self.output(&field.ty);
        if !self.plainly_holds(field, &object.name, &mut Vec::new()) {
            return ty;
        }
        let name = names::type_name(field.ty.name());
        let boxed = quote!(__e::Boxed<#name>);
        if field.ty.nullable { quote!(Option<#boxed>) } else { boxed }
    }

    /// Whether a value of `field` can contain a `target` through plain structs and enums only.
    fn plainly_holds<'s>(&'s self, field: &'s Field, target: &str, seen: &mut Vec<&'s str>) -> bool {
        if matches!(field.ty.shape, TypeShape::List(_)) {
            return false;
        }
        self.schema.possible(field.ty.name()).iter().any(|object| {
            if self.representation(object) != Representation::Plain || seen.contains(&object.name.as_str()) {
                return false;
            }
            seen.push(&object.name);
            object.name == target || object.fields.iter().any(|field| self.plainly_holds(field, target, seen))
        })
    }
}
