//! Which SDL names are bound to hand-written Rust types, read from the source of the module `types`.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Item, UseTree};

/// The module that binds SDL names.
pub(super) const TYPES: &str = "src/graphql/types.rs";

/// The hand-written side, as far as the generator must know it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bindings {
    /// Bound names, and the module that holds the type: `Service` in `service`.
    bound: BTreeMap<String, Option<String>>,
    computed: BTreeSet<String>,
}

impl Bindings {
    /// Reads the source of the module `types`: every name that it defines or re-exports is bound. `computed` are the
    /// names of scalar fields that are resolved like relations although they have no arguments.
    pub fn read(source: &str, computed: &[&str]) -> Result<Self, syn::Error> {
        let mut bound = BTreeMap::new();
        for item in syn::parse_file(source)?.items {
            match item {
                Item::Use(item) => collect(&item.tree, None, &mut bound),
                Item::Struct(item) => drop(bound.insert(item.ident.to_string(), None)),
                Item::Enum(item) => drop(bound.insert(item.ident.to_string(), None)),
                Item::Type(item) => drop(bound.insert(item.ident.to_string(), None)),
                _ => {}
            }
        }
        Ok(Self { bound, computed: computed.iter().map(ToString::to_string).collect() })
    }

    /// Whether a hand-written type stands for this SDL type.
    pub fn binds(&self, sdl_name: &str) -> bool {
        self.bound.contains_key(&super::names::type_name(sdl_name).to_string())
    }

    /// Whether fields of this name need the request's context.
    pub fn is_computed(&self, field: &str) -> bool {
        self.computed.contains(field)
    }

    /// The file of the hand-written side where this SDL type's code belongs.
    pub fn file(&self, sdl_name: &str) -> String {
        let own = || super::names::snake_case(sdl_name);
        let module = self.bound.get(sdl_name).cloned().flatten().unwrap_or_else(own);
        format!("src/graphql/{module}.rs")
    }

    /// The file where a root field belongs: that of the longest bound name with which the field's name begins, else of
    /// the field's first word.
    pub fn root_field_file(&self, field: &str) -> String {
        let words = super::names::snake_case(field);
        let begins = |name: &&String| {
            let name = super::names::snake_case(name);
            words.strip_prefix(&name).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        };
        match self.bound.keys().filter(begins).max_by_key(|name| name.len()) {
            Some(name) => self.file(name),
            None => format!("src/graphql/{}.rs", words.split('_').next().unwrap_or(&words)),
        }
    }
}

fn collect(tree: &UseTree, module: Option<&str>, bound: &mut BTreeMap<String, Option<String>>) {
    let module_name = || module.map(ToOwned::to_owned);
    match tree {
        UseTree::Path(path) => collect(&path.tree, Some(&path.ident.to_string()), bound),
        UseTree::Group(group) => group.items.iter().for_each(|tree| collect(tree, module, bound)),
        UseTree::Name(name) => drop(bound.insert(name.ident.to_string(), module_name())),
        UseTree::Rename(rename) => drop(bound.insert(rename.rename.to_string(), module_name())),
        UseTree::Glob(_) => {}
    }
}
