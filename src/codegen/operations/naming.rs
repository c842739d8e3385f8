//! Names the generated types. The type of an operation or fragment has its name. The type of a selection has the name
//! of the SDL type, such as `Person`. If an operation selects different fields of `Person` in several places, each type
//! is named after the field that leads to it: `OrderBuyer`, `OrderSeller`.

use std::collections::{BTreeSet, HashMap};

use super::super::names::{snake, type_name, upper_camel_case};
use super::Reports;
use super::inputs::Inputs;
use super::shape::{AnswerShape, Composite, Definition, Own, Role};

/// Names that generated code uses without a path.
const WITHOUT_PATH: &[&str] =
    &["Box", "Err", "Ok", "Operation", "Option", "Result", "Self", "Some", "String", "Vec", "types"];

/// Names every type of the responses.
pub(super) fn name(definitions: &mut [Definition<'_>], reports: &mut Reports) {
    for definition in definitions {
        let AnswerShape::Own(root) = &mut definition.shape else { continue };
        let mut candidates = Vec::new();
        match definition.role {
            Role::Operation { .. } => candidate(root, root.of.to_owned(), root.of.to_owned(), &mut candidates),
            Role::Fragment { .. } => inner(root, definition.name, &mut candidates),
        }
        let names = chosen(&candidates, definition.name, reports);
        let mut names = names.into_iter();
        match definition.role {
            Role::Operation { .. } => assign(root, &mut names),
            Role::Fragment { .. } => {
                root.name = type_name(definition.name).to_string();
                assign_inner(root, &mut names);
            }
        }
    }
}

/// A type to be named: its preferred name, its alternative name, and the type.
type Candidate<'s, 'a> = (String, String, &'s Own<'a>);

fn candidate<'s, 'a>(own: &'s Own<'a>, first: String, other: String, found: &mut Vec<Candidate<'s, 'a>>) {
    found.push((first, other.clone(), own));
    inner(own, &other, found);
}

fn inner<'s, 'a>(own: &'s Own<'a>, other: &str, found: &mut Vec<Candidate<'s, 'a>>) {
    match &own.kind {
        Composite::Struct { fields, .. } => {
            for field in fields {
                let AnswerShape::Own(inner) = &field.shape else { continue };
                candidate(inner, inner.of.to_owned(), format!("{}{}", own.of, upper_camel_case(field.key)), found);
            }
        }
        Composite::Enum { cases, rest } => {
            for (object, shape) in cases {
                let AnswerShape::Own(inner) = shape else { continue };
                candidate(inner, (*object).to_owned(), format!("{other}{object}"), found);
            }
            if let Some(AnswerShape::Own(inner)) = rest {
                candidate(inner, format!("Other{}", own.of), format!("{other}Other"), found);
            }
        }
    }
}

/// Assigns names in the order in which [`inner`] finds the types.
fn assign(own: &mut Own<'_>, names: &mut impl Iterator<Item = String>) {
    own.name = names.next().unwrap_or_default();
    assign_inner(own, names);
}

fn assign_inner(own: &mut Own<'_>, names: &mut impl Iterator<Item = String>) {
    let shapes: Vec<&mut AnswerShape<'_>> = match &mut own.kind {
        Composite::Struct { fields, .. } => fields.iter_mut().map(|field| &mut field.shape).collect(),
        Composite::Enum { cases, rest } => cases.iter_mut().map(|(_, shape)| shape).chain(rest).collect(),
    };
    for shape in shapes {
        if let AnswerShape::Own(inner) = shape {
            assign(inner, names);
        }
    }
}

/// Chooses the names of a definition's candidates, in their order.
fn chosen(candidates: &[Candidate<'_, '_>], definition: &str, reports: &mut Reports) -> Vec<String> {
    let mut first: HashMap<&str, Option<&Own<'_>>> = HashMap::new();
    for (name, _, own) in candidates {
        let known = first.entry(name).or_insert(Some(own));
        *known = known.filter(|known| same_type(known, own));
    }
    let mut taken: HashMap<&str, &Own<'_>> = HashMap::new();
    let mut names = Vec::new();
    for (name, other, own) in candidates {
        let name = if first[name.as_str()].is_some() { name } else { other };
        let known = taken.entry(name).or_insert(own);
        if !same_type(known, own) {
            reports.report(
                own.at,
                format!("`{}` has another selection elsewhere in `{definition}`, which would also be `{name}`", own.of),
                "write this selection as a fragment: its type gets the fragment's name",
            );
        }
        names.push(type_name(name).to_string());
    }
    names
}

/// Whether two types have the same fields, in any order.
fn same_type(one: &Own<'_>, other: &Own<'_>) -> bool {
    match (&one.kind, &other.kind) {
        (
            Composite::Struct { fragments, fields },
            Composite::Struct { fragments: other_fragments, fields: other_fields },
        ) => {
            let is_there = |name: &&str| other_fragments.contains(name);
            let same = |field: &super::shape::Field<'_>| {
                let other = other_fields.iter().find(|other| other.key == field.key);
                other.is_some_and(|other| {
                    let (selected, others) = (&field.selected.name, &other.selected.name);
                    selected == others && field.ty == other.ty && same_shape(&field.shape, &other.shape)
                })
            };
            fragments.len() == other_fragments.len()
                && fields.len() == other_fields.len()
                && fragments.iter().all(is_there)
                && fields.iter().all(same)
        }
        (Composite::Enum { cases, rest }, Composite::Enum { cases: other_cases, rest: other_rest }) => {
            let same_rest = match (rest, other_rest) {
                (Some(rest), Some(other)) => same_shape(rest, other),
                (None, None) => true,
                _ => false,
            };
            let mut both = cases.iter().zip(other_cases);
            same_rest
                && cases.len() == other_cases.len()
                && both.all(|((object, shape), (other, others))| object == other && same_shape(shape, others))
        }
        _ => false,
    }
}

fn same_shape(one: &AnswerShape<'_>, other: &AnswerShape<'_>) -> bool {
    match (one, other) {
        (AnswerShape::Leaf(one), AnswerShape::Leaf(other))
        | (AnswerShape::Fragment(one), AnswerShape::Fragment(other)) => one == other,
        (AnswerShape::Own(one), AnswerShape::Own(other)) => one.of == other.of && same_type(one, other),
        _ => false,
    }
}

/// Reports operations and fragments whose types or modules would clash with another name.
pub(super) fn check(
    definitions: &[Definition<'_>],
    inputs: &Inputs<'_>,
    words: &BTreeSet<&str>,
    reports: &mut Reports,
) {
    let own = WITHOUT_PATH.iter().map(|name| ((*name).to_owned(), "something that the generated code uses".to_owned()));
    let mut taken: HashMap<String, String> = own.collect();
    for name in inputs.objects.iter().map(|input| input.name.as_str()).chain(words.iter().copied()) {
        taken.insert(name.to_owned(), format!("the SDL's type `{name}`"));
    }
    for Definition { name, at, .. } in definitions {
        if !name.starts_with(|first: char| first.is_ascii_uppercase()) {
            let message = format!("`{name}` becomes a Rust type, so it must begin with a capital letter");
            reports.report(*at, message, format!("call it `{}`", upper_camel_case(name)));
        } else if let Some(other) = taken.insert(type_name(name).to_string(), format!("`{name}`")) {
            reports.report(*at, format!("`{name}` is already the Rust name of {other}"), format!("rename `{name}`"));
        } else if let Some(other) = taken.insert(snake(name).to_string(), format!("the module of `{name}`")) {
            let message = format!("`{}`, the module of `{name}`, is already the Rust name of {other}", snake(name));
            reports.report(*at, message, format!("rename `{name}`"));
        }
    }
}
