//! Finds the argument, input field or list position at a source location, so that an error about a literal can name the
//! literal's path.

use apollo_compiler::Node;
use apollo_compiler::ast::{Argument, Definition, Document, Selection, Value};
use apollo_compiler::parser::SourceSpan;

/// Returns the path of the innermost value that encloses `place`, outermost step first, or `None` outside the arguments
/// of a field.
pub(super) fn at(document: &Document, place: Option<SourceSpan>) -> Option<Vec<String>> {
    let place = place?;
    let sets = document.definitions.iter().filter_map(|definition| match definition {
        Definition::OperationDefinition(operation) => Some(&operation.selection_set),
        Definition::FragmentDefinition(fragment) => Some(&fragment.selection_set),
        _ => None,
    });
    let argument = sets.filter_map(|set| in_selections(set, place)).next()?;
    let mut path = vec![argument.name.to_string()];
    let mut value = &argument.value;
    while let Some((step, inner)) = step(value, place) {
        path.push(step);
        value = inner;
    }
    Some(path)
}

fn in_selections(selections: &[Selection], place: SourceSpan) -> Option<&Node<Argument>> {
    selections.iter().find_map(|selection| match selection {
        Selection::Field(field) => {
            let argument = field.arguments.iter().find(|argument| holds(argument.location(), place));
            argument.or_else(|| in_selections(&field.selection_set, place))
        }
        Selection::InlineFragment(fragment) => in_selections(&fragment.selection_set, place),
        Selection::FragmentSpread(_) => None,
    })
}

fn step(value: &Value, place: SourceSpan) -> Option<(String, &Node<Value>)> {
    match value {
        Value::Object(fields) => {
            let found =
                fields.iter().find(|(name, value)| holds(name.location(), place) || holds(value.location(), place));
            found.map(|(name, value)| (name.to_string(), value))
        }
        Value::List(items) => {
            let found = items.iter().enumerate().find(|(_, item)| holds(item.location(), place));
            found.map(|(index, item)| (index.to_string(), item))
        }
        _ => None,
    }
}

fn holds(outer: Option<SourceSpan>, inner: SourceSpan) -> bool {
    outer.is_some_and(|outer| outer.offset() <= inner.offset() && inner.end_offset() <= outer.end_offset())
}
