//! Fields that return another row, whose key is in the column `NAME_id`: `owner: Team` from `owner_id`.
//!
//! A field that is never null needs a key that is never null. What stands for a missing row is not for the generator to
//! know, so such a field is refused unless `fields!` says that its method is written by hand.

use apollo_compiler::Schema as Checked;

use super::bindings::{Bindings, TYPES};
use super::declarations::FIELDS;
use super::diagnostics::Problem;
use super::model::{Field, Object, Schema, TypeShape};
use super::parts;
use super::rows::{Column, Row};
use super::source::Source;

/// The column with the key of the row that a field returns. `None` if it returns something else.
pub(super) fn of_field<'a>(
    model: &Schema,
    bindings: &'a Bindings,
    object: &Object,
    field: &Field,
) -> Option<(String, &'a Column)> {
    let is_one = matches!(field.ty.shape, TypeShape::Named(_)) && field.args.is_empty();
    let other = model.object(field.ty.name()).filter(|_| is_one)?;
    bindings.row(&other.name)?;
    bindings.row(&object.name)?.key(&field.name)
}

/// Reports every field that is never null although its key may be, unless its method is written.
pub(super) fn check(model: &Schema, bindings: &Bindings, schema: &Checked, source: &Source<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for object in model.objects() {
        let Some(row) = bindings.row(&object.name) else { continue };
        let written = |field: &Field| parts::of_field(bindings, &object.name, &field.name).is_some();
        for field in object.fields.iter().filter(|field| !field.ty.nullable && !written(field)) {
            if let Some((key, Column { nullable: true, .. })) = of_field(model, bindings, object, field) {
                let definition = schema.get_object(&object.name).and_then(|it| it.fields.get(field.name.as_str()));
                let range = source.range(definition.and_then(|field| field.name.location()));
                problems.push(problem(range, row, &key, (&object.name, &field.name)));
            }
        }
    }
    problems
}

fn problem(range: Option<std::ops::Range<usize>>, row: &Row, key: &str, (object, field): (&str, &str)) -> Problem {
    let message = format!(
        "`{object}.{field}` is never null, but its key may be: the column `{key}` of `{}` in {}",
        row.table, row.file
    );
    let help = format!(
        "remove the `!`, or make the column not null; or write the method, and `{object} {{ row: {field}; }}` in \
         `{FIELDS}!` of {TYPES}"
    );
    Problem::new(range, message, Some(help))
}
