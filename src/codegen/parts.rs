//! Parts of rows: what a field reads of a row from which lists leave groups of columns out.
//!
//! Nobody may see null in a column that was not read. So each field of such a type says which groups it reads, and what
//! it says is enforced:
//!
//! - A method derived from a column reads the group of that column. It is in a trait of its own, which only generated code
//!   implements, so that nothing can override it.
//! - A method that `parts!` names is written by hand, and gets a part of the row: a trait with the columns that every list
//!   reads, or with these and a group. Nothing else of the row can be reached through it.
//! - Any other method is written by hand, gets the row, and reads all groups.

use apollo_compiler::Schema as Checked;

use super::bindings::{Bindings, PARTS, TYPES};
use super::diagnostics::Problem;
use super::model::{Object, Schema};
use super::names;
use super::rows::Row;
use super::source::Source;
use spelling::nearest;

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
    fn named(row: &Row, name: &str) -> Option<Self> {
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

/// The part of the row that the method of a field gets. `None` if `parts!` does not name the field.
pub(super) fn of(bindings: &Bindings, object: &str, field: &str) -> Option<Part> {
    Part::named(row(bindings, object)?, bindings.part(object, field)?)
}

/// Checks what `parts!` says, and that no type has the name of a part.
pub(super) fn check(model: &Schema, bindings: &Bindings, schema: &Checked, source: &Source<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, fields) in bindings.parts() {
        let mut report = |message: String, help: String| {
            let range = schema.types.get(name).and_then(|ty| source.range(ty.name().location()));
            problems.push(Problem::new(range, format!("`{PARTS}!` of {TYPES}: {message}"), Some(help)));
        };
        let (Some(object), Some(row)) = (model.object(name), row(bindings, name)) else {
            let help = "remove it there, or add GROUPS to its entity".to_owned();
            report(format!("no list leaves columns of `{name}` out"), help);
            continue;
        };
        for (field, part) in fields {
            if object.field(field).is_none() {
                let near = nearest(field, object.fields.iter().map(|field| &*field.name));
                let help = near.map_or("remove it there".to_owned(), |near| format!("did you mean `{near}`?"));
                report(format!("`{name}` has no field `{field}`"), help);
            }
            if Part::named(row, part).is_none() {
                let groups: Vec<&str> = row.groups().iter().map(|group| &*group.name).collect();
                let help = format!("its parts are core, {} and row", groups.join(", "));
                report(format!("the row of `{name}` has no part `{part}`"), help);
            }
        }
    }
    problems.extend(model.objects().flat_map(|object| clashes(object, model, bindings, schema, source)));
    problems
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
    use super::super::rows::Row;
    use super::*;

    /// The report for a schema, with `parts!` of this content.
    fn said(parts: &str, more: &str) -> String {
        let sdl = format!("type Query {{ poem: Poem }} type Poem {{ id: ID! motto: String }} {more}");
        let types = format!(
            "pub use super::id::Id as ID; pub use crate::entity::poem::Model as Poem; parts! {{ {parts} }} \
             pub use crate::entity::poet::Model as Poet;"
        );
        let mut bindings = Bindings::read(&types, &[]).expect("Rust");
        let source = "pub struct Model { pub id: i64, pub motto: Option<String> }
            impl Table for Entity { const GROUPS: X = column_groups! { texts: Motto; }; }";
        bindings.add_row("Poem", Row::read("src/entity/poem.rs", source).expect("Rust"));
        bindings.add_row("Poet", Row::read("src/entity/poet.rs", "pub struct Model { pub id: i64 }").expect("Rust"));
        check_text("s.graphql", &sdl, &bindings).map_or_else(|mistakes| mistakes.to_string(), |_| String::new())
    }

    #[test]
    fn parts_of_fields_that_exist_are_accepted() {
        for parts in ["", "Poem { core: id; }", "Poem { texts: motto, id; }", "Poem { row: motto; core: id; }"] {
            assert_eq!(said(parts, ""), "", "{parts}");
        }
    }

    #[test]
    fn a_part_that_there_is_not_is_reported_with_what_there_is() {
        let poet = "type Poet { id: ID! }";
        for (parts, more, message, help) in [
            ("Poem { core: moto; }", "", "`Poem` has no field `moto`", "did you mean `motto`?"),
            ("Poem { keys: motto; }", "", "the row of `Poem` has no part `keys`", "its parts are core, texts and row"),
            ("Poet { core: id; }", poet, "no list leaves columns of `Poet` out", "remove it there, or add GROUPS"),
            ("Poem { core: id; }", "type PoemTexts { x: Int }", "`PoemTexts` is the name that", "rename the type"),
            ("Poem { core: id; }", "type PoemDerived { x: Int }", "`PoemDerived` is the name that", "rename the type"),
        ] {
            let said = said(parts, more);
            assert!(said.contains(message) && said.contains(help), "{parts}: {said}");
        }
    }

    #[test]
    fn a_field_gets_one_part() {
        let types = "parts! { Poem { core: id; row: id; } }";
        let said = Bindings::read(types, &[]).expect_err("named twice").to_string();
        assert_eq!(said, "`parts!` names `Poem.id` twice");
    }
}
