//! Parts of rows: what a field reads of a row from which lists leave groups of columns out.
//!
//! Nobody may see null in a column that was not read. So each field of such a type says which groups it reads, and what
//! it says is enforced:
//!
//! - A method derived from a column reads the group of that column. It is in a trait of its own, which only generated code
//!   implements, so that nothing can override it.
//! - A method whose part `fields!` declares is written by hand, and gets a part of the row: a trait with the columns
//!   that every list reads, or with these and a group. Nothing else of the row can be reached through it.
//! - Any other method is written by hand, gets the row, and reads all groups.

use apollo_compiler::Schema as Checked;

use super::bindings::Bindings;
use super::diagnostics::Problem;
use super::model::{Object, Schema};
use super::names;
use super::rows::Row;
use super::source::Source;

/// A part of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The columns that every list reads.
    Core,
    /// These, and the group at this place.
    Group(usize),
    /// All columns.
    Row,
}

impl Part {
    /// The part of this name.
    pub(super) fn named(row: &Row, name: &str) -> Option<Self> {
        match name {
            "core" => Some(Self::Core),
            "row" => Some(Self::Row),
            _ => row.groups().iter().position(|group| group.name == name).map(Self::Group),
        }
    }

    /// The groups that it has, as a bit set. `None` for all of them.
    pub(super) fn bits(self) -> Option<u8> {
        match self {
            Self::Core => Some(0),
            Self::Group(place) => Some(1 << place),
            Self::Row => None,
        }
    }

    /// The name of its trait. `None` for the row itself.
    pub(super) fn name(self, object: &str, row: &Row) -> Option<String> {
        match self {
            Self::Core => Some(format!("{object}Core")),
            Self::Group(place) => {
                let group = row.groups().get(place)?;
                Some(format!("{object}{}", names::upper_camel_case(&group.name)))
            }
            Self::Row => None,
        }
    }
}

/// The trait of the methods derived from columns.
pub(super) fn derived(object: &str) -> String {
    format!("{object}Derived")
}

/// The row of a type from which lists leave columns out.
pub(super) fn row<'a>(bindings: &'a Bindings, object: &str) -> Option<&'a Row> {
    bindings.row(object).filter(|row| !row.groups().is_empty())
}

/// The part of the row that the hand-written method of a field gets. `None` if it is not declared.
pub(super) fn of_field(bindings: &Bindings, object: &str, field: &str) -> Option<Part> {
    Part::named(bindings.row(object)?, bindings.part(object, field)?)
}

/// Reports types with the name of a part's trait.
pub(super) fn check(model: &Schema, bindings: &Bindings, schema: &Checked, source: &Source<'_>) -> Vec<Problem> {
    model.objects().flat_map(|object| clashes(object, model, bindings, schema, source)).collect()
}

/// Types with the name of a generated trait of `object`.
fn clashes(
    object: &Object,
    model: &Schema,
    bindings: &Bindings,
    schema: &Checked,
    source: &Source<'_>,
) -> Vec<Problem> {
    let Some(row) = row(bindings, &object.name) else { return Vec::new() };
    let parts = [Part::Core].into_iter().chain((0..row.groups().len()).map(Part::Group));
    let names = parts.filter_map(|part| part.name(&object.name, row)).chain([derived(&object.name)]);
    let taken = names.filter(|name| model.get(name).is_some());
    let problem = |name: String| {
        let range = schema.types.get(name.as_str()).and_then(|ty| source.range(ty.name().location()));
        let message = format!("`{name}` is the name that the generated code gives to a trait of `{}`", object.name);
        Problem::new(range, message, Some(format!("rename the type `{name}`")))
    };
    taken.map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::super::check::check as check_text;
    use super::*;

    #[test]
    fn no_type_has_the_name_of_a_part() {
        for name in ["PoemCore", "PoemTexts", "PoemDerived"] {
            let sdl = format!("type Query {{ poem: Poem }} type Poem {{ motto: String }} type {name} {{ x: Int }}");
            let mut bindings = Bindings::read("types.rs", "pub use crate::entity::poem::Model as Poem;").expect("Rust");
            let source = "pub struct Model { pub motto: Option<String> }
                impl Table for Entity { const GROUPS: X = column_groups! { texts: Motto; }; }";
            bindings.add_row("Poem", Row::read("src/catalogue/entity/poem.rs", source).expect("Rust"));
            let said = check_text("s.graphql", &sdl, &bindings).err().expect("a clash").to_string();
            assert!(said.contains(&format!("`{name}` is the name that the generated code gives")), "{said}");
            assert!(said.contains(&format!("help: rename the type `{name}`")), "{said}");
        }
    }
}
