//! How each object type is represented in Rust.

use std::collections::{HashMap, HashSet};

use super::super::bindings::Bindings;
use super::super::model::{Object, Schema};

/// The representation of an object type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Representation<'a> {
    /// The query or mutation root: no data, a trait for each field.
    Root,
    /// A hand-written type, with a resolver trait.
    Bound,
    /// A generated struct with a public field for each field of the SDL.
    Plain,
    /// `Page<Node>`.
    Connection(&'a str),
    /// `Edge<Node>`.
    Edge(&'a str),
    /// The hand-written `PageInfo`.
    PageInfo,
}

/// Whether the engine's `PageInfo` has all fields of an object.
fn is_page_info(object: &Object) -> bool {
    let known = ["hasNextPage", "hasPreviousPage", "startCursor", "endCursor"];
    object.fields.iter().all(|field| known.contains(&field.name.as_str()) && field.args.is_empty())
}

/// The representation of every object type, by name.
pub(super) fn by_type<'a>(schema: &'a Schema, bindings: &Bindings) -> HashMap<&'a str, Representation<'a>> {
    let mut representations = HashMap::new();
    let has_page_info = schema.object("PageInfo").is_some_and(is_page_info);
    let mut paged = HashSet::new();
    for object in schema.objects() {
        if schema.is_root(&object.name) {
            representations.insert(object.name.as_str(), Representation::Root);
        } else if bindings.binds(&object.name) {
            representations.insert(object.name.as_str(), Representation::Bound);
        } else if let Some(node) = schema.connection(object)
            // `Page<Node>` is one type, so a second connection over the same nodes is an ordinary object.
            && has_page_info
            && paged.insert(node)
            && let Some(edges) = object.field("edges")
        {
            representations.insert(object.name.as_str(), Representation::Connection(node));
            representations.insert(edges.ty.name(), Representation::Edge(node));
            representations.insert("PageInfo", Representation::PageInfo);
        }
    }
    for object in schema.objects() {
        representations.entry(object.name.as_str()).or_insert(Representation::Plain);
    }
    representations
}
