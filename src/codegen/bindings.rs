//! The bindings of SDL names to hand-written Rust types, read from the source of the module `types`.

use std::collections::BTreeMap;

use syn::{Item, UseTree};

use super::declarations::{self, Declaration, Declarations, FIELDS, How};
use super::diagnostics::{Diagnostics, Problem};
use super::entities::Entities;
use super::rows::Row;

/// The module that binds SDL names.
pub(super) const TYPES: &str = "src/catalogue/graphql/types.rs";

/// What the generator knows about the hand-written code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bindings {
    /// The bound names and the paths of their types: `Service` is `crate::entity::service::Model`.
    bound: BTreeMap<String, Vec<String>>,
    /// What `fields!` says, and the file that says it, for reports.
    declarations: Declarations,
    path: String,
    source: String,
    rows: BTreeMap<String, Row>,
    /// The rows by table name.
    tables: BTreeMap<String, Row>,
    /// All tables, also those whose columns a macro of their own declares.
    pub(super) entities: Entities,
    /// The files of the nouns by module name.
    files: BTreeMap<String, String>,
}

impl Bindings {
    /// Reads the source of the module `types`. Every type that it defines or re-exports is bound, and `fields!` says how
    /// fields are found. `path` is the file's name in a report.
    ///
    /// # Errors
    /// The text is not Rust, or `fields!` has something else than declarations.
    pub fn read(path: &str, source: &str) -> Result<Self, Diagnostics> {
        let refuse = |problem| Diagnostics::new(path, source, vec![problem]);
        let file = syn::parse_file(source).map_err(|error| refuse(Problem::new(None, error.to_string(), None)))?;
        let (mut bound, mut count) = (BTreeMap::new(), 0);
        for item in file.items {
            match item {
                Item::Use(item) => collect(&item.tree, &mut Vec::new(), &mut bound),
                Item::Struct(item) => drop(bound.insert(item.ident.to_string(), Vec::new())),
                Item::Enum(item) => drop(bound.insert(item.ident.to_string(), Vec::new())),
                Item::Type(item) => drop(bound.insert(item.ident.to_string(), Vec::new())),
                Item::Macro(item) if item.mac.path.is_ident(FIELDS) => count += 1,
                _ => {}
            }
        }
        // Lower-case names are functions, not types.
        bound.retain(|name, _| name.starts_with(|first: char| !first.is_lowercase()));
        let declarations = declarations::read(source, count).map_err(refuse)?;
        Ok(Self { bound, declarations, path: path.to_owned(), source: source.to_owned(), ..Self::default() })
    }

    /// A report of mistakes in what `fields!` says.
    pub(super) fn report(&self, problems: Vec<Problem>) -> Diagnostics {
        Diagnostics::new(&self.path, &self.source, problems)
    }

    /// Adds the file of a module that may have the code of a noun, such as `src/catalogue/graphql/team/user.rs`. Of two with one
    /// name, the first counts.
    pub fn add_file(&mut self, file: &str) {
        let stem = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        if let Some(path) = file.strip_suffix(".rs") {
            let module = stem(path.strip_suffix("/mod").unwrap_or(path));
            self.files.entry(module).or_insert_with(|| file.to_owned());
        }
    }

    /// Whether this SDL type is bound to a hand-written type.
    pub fn binds(&self, sdl_name: &str) -> bool {
        self.bound.contains_key(&super::names::type_name(sdl_name).to_string())
    }

    /// Reads an entity. Its row becomes a table's row, and the row of every name bound to its `Model`.
    ///
    /// # Errors
    /// The text is not Rust, or says something that an entity cannot: `src/catalogue/entity/tag.rs:12:5: what`.
    pub fn add_entity(&mut self, file: &str, source: &str) -> Result<(), String> {
        self.read_entity(file, source).map_err(|error| {
            let place = error.span().start();
            format!("{file}:{}:{}: {error}", place.line, place.column + 1)
        })
    }

    fn read_entity(&mut self, file: &str, source: &str) -> Result<(), syn::Error> {
        let items = syn::parse_file(source)?.items;
        self.entities.add(file, &items)?;
        let row = Row::of(file, items)?;
        if row.table.is_empty() {
            return Ok(());
        }
        let of_the_row =
            |path: &[String]| entity(path).is_some_and(|module| file == format!("src/catalogue/entity/{module}.rs"));
        for (name, _) in self.bound.iter().filter(|(_, path)| of_the_row(path)) {
            self.rows.insert(name.clone(), row.clone());
        }
        self.add_table(row);
        Ok(())
    }

    /// The module of the table whose rows stand for an SDL type.
    pub(super) fn entity(&self, sdl_name: &str) -> Option<&str> {
        entity(self.bound.get(&super::names::type_name(sdl_name).to_string())?)
    }

    /// Resolves matching fields of a bound type from the columns of a row.
    pub fn add_row(&mut self, name: &str, row: Row) {
        self.rows.insert(name.to_owned(), row);
    }

    /// Adds the row of a table, whether or not it represents an SDL type.
    pub fn add_table(&mut self, row: Row) {
        self.tables.insert(row.table.clone(), row);
    }

    /// The row of a table.
    pub fn table(&self, name: &str) -> Option<&Row> {
        self.tables.get(name)
    }

    /// The names of all tables.
    pub fn tables(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().map(String::as_str)
    }

    /// The row that represents an SDL type.
    pub fn row(&self, sdl_name: &str) -> Option<&Row> {
        self.rows.get(&super::names::type_name(sdl_name).to_string())
    }

    /// The Rust name of the type bound to an SDL name.
    pub fn bound_as(&self, sdl_name: &str) -> Option<&str> {
        self.bound.get(&super::names::type_name(sdl_name).to_string())?.last().map(String::as_str)
    }

    /// Everything that `fields!` says.
    pub(super) fn declarations(&self) -> impl Iterator<Item = &Declaration> {
        self.declarations.values().flatten()
    }

    /// What `fields!` says about a field.
    fn declared(&self, object: &str, field: &str) -> impl Iterator<Item = &How> {
        let all = self.declarations.get(object).map(Vec::as_slice).unwrap_or_default();
        all.iter().filter(move |it| it.field.text == field).map(|it| &it.how)
    }

    /// The part of the row that a field's method gets, if it is declared.
    pub(super) fn part(&self, object: &str, field: &str) -> Option<&str> {
        self.declared(object, field).find_map(|how| if let How::Part(part) = how { Some(part.as_str()) } else { None })
    }

    /// Whether a scalar without arguments is resolved like a relation, because its value is not in the row.
    pub(super) fn is_computed(&self, object: &str, field: &str) -> bool {
        self.declared(object, field).any(|how| *how == How::Computed)
    }

    /// How the rows of a list are found, if it is declared: by [`How::Key`] or [`How::Through`].
    pub(super) fn relation(&self, object: &str, field: &str) -> Option<&How> {
        self.declared(object, field).find(|how| matches!(how, How::Key(_) | How::Through(_)))
    }

    /// The source file where this SDL type's code belongs.
    pub fn file(&self, sdl_name: &str) -> String {
        let own = || super::names::snake_case(sdl_name);
        let path = self.bound.get(sdl_name).map(Vec::as_slice).unwrap_or_default();
        let module = path.len().checked_sub(2).and_then(|place| path.get(place)).cloned().unwrap_or_else(own);
        self.file_of(&module)
    }

    /// The file of a module, or where a new one belongs.
    fn file_of(&self, module: &str) -> String {
        self.files.get(module).cloned().unwrap_or_else(|| format!("src/catalogue/graphql/{module}.rs"))
    }

    /// The source file where a root field's code belongs: that of the longest bound name that the field's name starts
    /// with, else of the field's first word.
    pub fn root_field_file(&self, field: &str) -> String {
        let words = super::names::snake_case(field);
        let begins = |name: &&String| {
            let name = super::names::snake_case(name);
            words.strip_prefix(&name).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        };
        match self.bound.keys().filter(begins).max_by_key(|name| name.len()) {
            Some(name) => self.file(name),
            None => self.file_of(words.split('_').next().unwrap_or(&words)),
        }
    }
}

/// The module in `crate::entity::MODULE::Model`.
fn entity(path: &[String]) -> Option<&str> {
    match path {
        [root, folder, module, model] if root == "crate" && folder == "entity" && model == "Model" => Some(module),
        _ => None,
    }
}

fn collect(tree: &UseTree, path: &mut Vec<String>, bound: &mut BTreeMap<String, Vec<String>>) {
    let whole = |name: &syn::Ident| [path.as_slice(), &[name.to_string()]].concat();
    match tree {
        UseTree::Name(name) => drop(bound.insert(name.ident.to_string(), whole(&name.ident))),
        UseTree::Rename(rename) => drop(bound.insert(rename.rename.to_string(), whole(&rename.ident))),
        UseTree::Path(inner) => {
            path.push(inner.ident.to_string());
            collect(&inner.tree, path, bound);
            path.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| collect(tree, path, bound)),
        UseTree::Glob(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_belongs_in_the_file_of_its_module_wherever_that_is() {
        let types =
            "pub use super::grade::Tier; pub use super::check::Kind; pub use crate::entity::user::Model as User;";
        let mut bindings = Bindings::read("types.rs", types).expect("Rust");
        for file in ["g/team/user.rs", "g/standards/check/mod.rs", "g/deep/check.rs", "g/page.rs", "g/check.txt"] {
            bindings.add_file(file);
        }
        assert_eq!(bindings.file("User"), "g/team/user.rs");
        assert_eq!(bindings.file("Kind"), "g/standards/check/mod.rs");
        assert_eq!(bindings.file("Tier"), "src/catalogue/graphql/grade.rs", "a new module");
        assert_eq!(bindings.root_field_file("userCreate"), "g/team/user.rs");
        assert_eq!(bindings.root_field_file("pageDelete"), "g/page.rs");
        assert_eq!(bindings.root_field_file("novelty"), "src/catalogue/graphql/novelty.rs");
    }
}
