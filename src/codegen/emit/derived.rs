//! Resolver methods derived from the columns of a type's row, which need not be written by hand.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::super::keys;
use super::super::model::{Field, Object};
use super::super::names;
use super::super::parts;
use super::super::relations::{self, Relation};
use super::super::rows::{Column, Row};
use super::Context;
use super::tables::is_column;
use super::types::bound;

impl<'a> Context<'a> {
    /// The row that represents an object type, if it has a table.
    pub(super) fn row(&self, object: &Object) -> Option<&'a Row> {
        self.bindings.row(&object.name)
    }

    /// The row that represents an object type, if lists leave columns of it out.
    pub(super) fn parted(&self, object: &Object) -> Option<&'a Row> {
        parts::row(self.bindings, &object.name)
    }
}

/// A method that follows from a column.
pub(super) struct Derived {
    pub(super) body: TokenStream,
    /// The column.
    pub(super) column: String,
}

/// The method of `field`, if a column determines its result. `None` also if `fields!` says that the method is written.
pub(super) fn method(context: Context<'_>, object: &Object, field: &Field) -> Option<Derived> {
    match parts::of_field(context.bindings, &object.name, &field.name) {
        Some(_) => None,
        None => by_column(context, object, field),
    }
}

/// Whether a method follows from a column, so that it need not be written.
pub(super) fn follows(context: Context<'_>, object: &Object, field: &Field) -> bool {
    by_column(context, object, field).is_some()
}

fn by_column(context: Context<'_>, object: &Object, field: &Field) -> Option<Derived> {
    let row = context.row(object)?;
    let ty = bound(&object.name);
    let this = quote!(self.as_ref());
    if is_column(context, object, field) {
        let name = names::snake(&field.name);
        let column = row.column(&field.name)?;
        let body = match fit(context, field, column)? {
            Fit::Id => quote!(super::types::ID::of_row::<#ty>(#this.#name)),
            Fit::Text if column.nullable => quote!(#this.#name.as_deref()),
            Fit::Text => quote!(&#this.#name),
            Fit::Value => quote!(#this.#name),
        };
        return Some(Derived { body, column: names::snake_case(&field.name) });
    }
    let list = list(context, object, field).map(|body| Derived { body, column: "id".to_owned() });
    list.or_else(|| to_one(context, object, field))
}

/// The groups of columns that a field reads, as a bit set. `None` for all of them, and for a type without groups.
pub(super) fn reads(context: Context<'_>, object: &Object, field: &Field) -> Option<u8> {
    let row = context.parted(object)?;
    match parts::of_field(context.bindings, &object.name, &field.name) {
        Some(part) => part.bits(),
        None => {
            let column = method(context, object, field)?.column;
            Some(row.group_of(&column).map_or(0, |group| 1 << group))
        }
    }
}

/// How a column is converted to the value of a field.
enum Fit {
    Id,
    Text,
    Value,
}

/// How a column fits the type of a field, if it does.
fn fit(context: Context<'_>, field: &Field, column: &Column) -> Option<Fit> {
    let name = field.ty.name();
    if name == "ID" {
        return (field.name == "id" && column.text() == "i64" && !field.ty.nullable).then_some(Fit::Id);
    }
    if field.ty.nullable != column.nullable {
        return None;
    }
    match (name, &*column.ty) {
        ("String", "String") => Some(Fit::Text),
        ("Int", "i32") | ("Boolean", "bool") | ("Float", "f64") => Some(Fit::Value),
        // A custom scalar that is bound to the column's type.
        (_, ty) if context.schema.is_leaf(name) && context.bindings.bound_as(name) == Some(ty) => Some(Fit::Value),
        _ => None,
    }
}

/// The method of a list whose key or links are declared.
fn list(context: Context<'_>, object: &Object, field: &Field) -> Option<TokenStream> {
    let relation = relations::of_field(context.schema, context.bindings, object, field).ok()??;
    let parents = names::snake(&format!("{}s", names::snake_case(&object.name)));
    let ids = quote!(#parents.iter().map(|row| row.as_ref().id).collect());
    let node = context.schema.object(field.ty.name()).and_then(|answer| context.schema.connection(answer));
    let is_partial = node.is_some_and(|node| parts::row(context.bindings, node).is_some());
    let pages = match relation {
        Relation::Key(key) => {
            let list = format_ident!("{}", if is_partial { "partial_list" } else { "list" });
            quote!(super::types::#list(ctx, args, #key, #ids))
        }
        Relation::Through { table, parent, target } => {
            let list = format_ident!("{}", if is_partial { "partial_list_through" } else { "list_through" });
            quote!(super::types::#list(ctx, args, #table, [#parent, #target], #ids))
        }
    };
    if !field.ty.nullable {
        return Some(pages);
    }
    Some(quote!(async move { Ok(#pages.await?.into_iter().map(Some).collect()) }))
}

/// The method that returns the row whose id is in the column `NAME_id`.
fn to_one(context: Context<'_>, object: &Object, field: &Field) -> Option<Derived> {
    let (key, column) = keys::of_field(context.schema, context.bindings, object, field)?;
    let (other, own) = (bound(field.ty.name()), format_ident!("{key}"));
    let parents = names::snake(&format!("{}s", names::snake_case(&object.name)));
    let id = quote!(row.as_ref().#own);
    let id = if column.nullable { id } else { quote!(Some(#id)) };
    let to_one = if field.ty.nullable { quote!(to_one) } else { quote!(to_its_one) };
    let body = quote!(super::types::#to_one::<#other>(ctx, #parents.iter().map(|row| #id).collect()));
    Some(Derived { body, column: key })
}
