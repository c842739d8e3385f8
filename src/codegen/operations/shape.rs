//! Determines the shape of an operation's response: its selections as structs and enums, with fields merged as in the
//! specification.

use std::collections::BTreeMap;

use apollo_compiler::ast::{self, DirectiveList, OperationType, Type};
use apollo_compiler::executable::{Field as Selected, Fragment, Operation, Selection, SelectionSet};
use apollo_compiler::parser::SourceSpan;
use apollo_compiler::{ExecutableDocument, Node};

use super::super::bindings::Bindings;
use super::super::model::{Schema, TypeKind, TypeRef, TypeShape};
use super::super::names;
use super::check::Locations;
use super::{File, Reports};

/// An operation or a fragment, with its selections.
pub(super) struct Definition<'a> {
    pub(super) name: &'a str,
    pub(super) at: Option<SourceSpan>,
    /// The file that contains it.
    pub(super) path: &'a str,
    pub(super) role: Role<'a>,
    pub(super) shape: AnswerShape<'a>,
}

/// The kind of a definition.
pub(super) enum Role<'a> {
    /// An operation.
    Operation {
        /// `query` or `mutation`.
        keyword: &'static str,
        /// Its variables.
        variables: &'a [Node<ast::VariableDefinition>],
        /// Its text, including the fragments it needs.
        document: String,
    },
    /// A fragment on a type.
    Fragment {
        /// The type.
        on: &'a str,
    },
}

/// The type of a response field, inside its lists.
pub(super) enum AnswerShape<'a> {
    /// A scalar or an enum.
    Leaf(&'a str),
    /// Exactly the selection of a fragment.
    Fragment(&'a str),
    /// Its own struct or enum.
    Own(Box<Own<'a>>),
}

/// A struct or enum generated for a selection.
pub(super) struct Own<'a> {
    /// Its name, assigned by `naming`.
    pub(super) name: String,
    /// The SDL type that is selected from.
    pub(super) of: &'a str,
    /// The location of the selection.
    pub(super) at: Option<SourceSpan>,
    pub(super) kind: Composite<'a>,
}

/// How a selection becomes a type.
pub(super) enum Composite<'a> {
    /// The same fields for every object type.
    Struct {
        /// Fragments that are spread as a whole, by name.
        fragments: Vec<&'a str>,
        /// The other selected fields.
        fields: Vec<Field<'a>>,
    },
    /// Fields that depend on the object type, which `__typename` gives.
    Enum {
        /// Object types and their selections.
        cases: Vec<(&'a str, AnswerShape<'a>)>,
        /// The selection for all other object types, if there are any.
        rest: Option<AnswerShape<'a>>,
    },
}

/// A field of a struct.
pub(super) struct Field<'a> {
    /// Its key in the response.
    pub(super) key: &'a str,
    /// Its selection.
    pub(super) selected: &'a Selected,
    pub(super) ty: TypeRef,
    pub(super) shape: AnswerShape<'a>,
}

/// All operations of a valid document, then all fragments, in the order of the files.
pub(super) fn definitions<'a>(
    model: &'a Schema,
    bindings: &'a Bindings,
    document: &'a ExecutableDocument,
    files: &'a [File],
    places: &Locations<'_>,
    reports: &mut Reports,
) -> Vec<Definition<'a>> {
    let mut reader = Reader { model, bindings, document, reports };
    let path = |at| places.locate(at).map_or("", |(file, _)| files[file].path.as_str());
    let operations = document.operations.named.values().map(|operation| {
        let name = operation.name.as_ref().map_or("", |name| name.as_str());
        let at = operation.name.as_ref().and_then(|name| name.location());
        let text = text(operation, document, files, places);
        (name, at, operation_role(operation, text), &operation.selection_set)
    });
    let fragments = document.fragments.values().map(|fragment| {
        let role = Role::Fragment { on: fragment.type_condition() };
        (fragment.name.as_str(), fragment.name.location(), role, &fragment.selection_set)
    });
    let all: Vec<_> = operations.chain(fragments).collect();
    let read = |(name, at, role, set): (&'a str, _, _, &'a SelectionSet)| {
        let shape = reader.read(&[set], &reader.possible(&set.ty), &set.ty, at, false);
        Definition { name, at, path: path(at), role, shape }
    };
    all.into_iter().map(read).collect()
}

fn operation_role(operation: &Operation, document: String) -> Role<'_> {
    let keyword = if operation.operation_type == OperationType::Mutation { "mutation" } else { "query" };
    Role::Operation { keyword, variables: &operation.variables, document }
}

/// The text of an operation and of every fragment it spreads, without duplicates.
fn text(operation: &Node<Operation>, document: &ExecutableDocument, files: &[File], places: &Locations<'_>) -> String {
    let mut needed: Vec<&Node<Fragment>> = Vec::new();
    spread(&operation.selection_set, document, &mut needed);
    let locations = std::iter::once(operation.location()).chain(needed.iter().map(|fragment| fragment.location()));
    locations.map(|at| places.text(files, at).trim_end()).collect::<Vec<_>>().join("\n")
}

fn spread<'a>(set: &SelectionSet, document: &'a ExecutableDocument, needed: &mut Vec<&'a Node<Fragment>>) {
    for selection in &set.selections {
        match selection {
            Selection::Field(field) => spread(&field.selection_set, document, needed),
            Selection::InlineFragment(inline) => spread(&inline.selection_set, document, needed),
            Selection::FragmentSpread(spread_) => {
                let Some(fragment) = document.fragments.get(&spread_.fragment_name) else { continue };
                if !needed.iter().any(|known| known.name == fragment.name) {
                    needed.push(fragment);
                    spread(&fragment.selection_set, document, needed);
                }
            }
        }
    }
}

/// How a fragment's type condition matches the possible object types.
enum Meets {
    All,
    Some,
    None,
}

/// One selection of a field, and whether it is conditional.
type Once<'a> = (&'a Node<Selected>, bool);

/// The merged selections of one place.
#[derive(Default)]
struct Collected<'a> {
    /// By response key.
    fields: Vec<(&'a str, Vec<Once<'a>>)>,
    fragments: Vec<&'a str>,
    /// Conditions that match only some types, and their locations.
    conditions: Vec<(Option<SourceSpan>, Vec<&'a str>)>,
}

struct Reader<'a, 'r> {
    model: &'a Schema,
    bindings: &'a Bindings,
    document: &'a ExecutableDocument,
    reports: &'r mut Reports,
}

impl<'a> Reader<'a, '_> {
    /// The object types that a value of this type can have, in the SDL's order.
    fn possible(&self, name: &str) -> Vec<&'a str> {
        self.model.possible(name).into_iter().map(|object| object.name.as_str()).collect()
    }

    /// Determines the shape of the merged `sets` on a value of type `of`, whose object type is one of `possible`.
    /// `has_typename` means that an enclosing enum has read `__typename` already.
    fn read(
        &mut self,
        sets: &[&'a SelectionSet],
        possible: &[&'a str],
        of: &'a str,
        at: Option<SourceSpan>,
        has_typename: bool,
    ) -> AnswerShape<'a> {
        let mut found = Collected::default();
        sets.iter().for_each(|set| self.collect(set, possible, false, &mut found));
        let own = |kind| AnswerShape::Own(Box::new(Own { name: String::new(), of, at, kind }));
        if let Some((condition, _)) = found.conditions.first() {
            if !found.fields.iter().any(|(key, _)| *key == "__typename") {
                self.reports.report(
                    *condition,
                    format!("only `__typename` tells which `{of}` it is"),
                    "select `__typename` next to the fragment",
                );
            }
            let (named, others): (Vec<_>, Vec<_>) =
                possible.iter().partition(|object| found.conditions.iter().any(|(_, met)| met.contains(object)));
            let cases = named.into_iter().map(|object| (object, self.read(sets, &[object], object, at, true)));
            let cases: Vec<_> = cases.collect();
            let rest = (!others.is_empty()).then(|| self.read(sets, &others, of, at, true));
            if rest.is_some() && cases.iter().any(|(object, _)| *object == "Other") {
                let message = "`Other` is the Rust name for all other types";
                self.reports.report(*condition, message, "select something of every type, or of none but `Other`");
            }
            return own(Composite::Enum { cases, rest });
        }
        if has_typename {
            found.fields.retain(|(key, _)| *key != "__typename");
        }
        match *found.fragments {
            [fragment] if found.fields.is_empty() => AnswerShape::Fragment(fragment),
            _ => {
                let fields: Vec<_> =
                    found.fields.into_iter().map(|(key, selected)| self.field(key, &selected)).collect();
                self.report_clashes(of, &found.fragments, &fields);
                own(Composite::Struct { fragments: found.fragments, fields })
            }
        }
    }

    /// Merges a selection set into `found`, where its conditions match types in `possible`.
    fn collect(&mut self, set: &'a SelectionSet, possible: &[&'a str], may_lack: bool, found: &mut Collected<'a>) {
        for selection in &set.selections {
            match selection {
                Selection::Field(field) => {
                    let key = field.response_key().as_str();
                    let one = (field, may_lack || is_conditional(&field.directives));
                    match found.fields.iter_mut().find(|(known, _)| *known == key) {
                        Some((_, all)) => all.push(one),
                        None => found.fields.push((key, vec![one])),
                    }
                }
                Selection::InlineFragment(inline) => {
                    let condition = inline.type_condition.as_ref().unwrap_or(&set.ty);
                    match self.meets(condition, possible, inline.location(), found) {
                        Meets::All => {
                            let may_lack = may_lack || is_conditional(&inline.directives);
                            self.collect(&inline.selection_set, possible, may_lack, found);
                        }
                        Meets::Some | Meets::None => {}
                    }
                }
                Selection::FragmentSpread(spread) => {
                    let Some(fragment) = self.document.fragments.get(&spread.fragment_name) else { continue };
                    if may_lack || is_conditional(&spread.directives) {
                        self.reports.report(
                            spread.location(),
                            format!(
                                "`...{}` is conditional, but the type of a fragment cannot be absent",
                                fragment.name
                            ),
                            "put the directive on the fields, or on an inline fragment",
                        );
                    }
                    let met = self.meets(fragment.type_condition(), possible, spread.location(), found);
                    if matches!(met, Meets::All) && !found.fragments.contains(&fragment.name.as_str()) {
                        found.fragments.push(&fragment.name);
                    }
                }
            }
        }
    }

    fn meets(&self, condition: &str, possible: &[&'a str], at: Option<SourceSpan>, found: &mut Collected<'a>) -> Meets {
        let mut met = self.possible(condition);
        met.retain(|object| possible.contains(object));
        match met.len() {
            0 => Meets::None,
            all if all == possible.len() => Meets::All,
            _ => {
                found.conditions.push((at, met));
                Meets::Some
            }
        }
    }

    /// The field for all selections with the same key.
    fn field(&mut self, key: &'a str, selected: &[Once<'a>]) -> Field<'a> {
        let (first, _) = selected[0];
        let mut ty = type_ref(first.ty());
        ty.nullable |= selected.iter().all(|(_, may_lack)| *may_lack);
        let name: &'a str = first.ty().inner_named_type();
        let shape = match self.model.kind(name) {
            TypeKind::Scalar | TypeKind::Enum => {
                self.reports.bound(name, self.model, self.bindings, first.name.location());
                AnswerShape::Leaf(name)
            }
            _ => {
                let sets: Vec<&'a SelectionSet> = selected.iter().map(|(field, _)| &field.selection_set).collect();
                self.read(&sets, &self.possible(name), name, first.name.location(), false)
            }
        };
        Field { key, selected: first, ty, shape }
    }

    /// Reports fields of one struct that would have the same Rust name.
    fn report_clashes(&mut self, of: &str, fragments: &[&'a str], fields: &[Field<'a>]) {
        let mut taken: BTreeMap<String, &str> =
            fragments.iter().map(|fragment| (names::snake(fragment).to_string(), *fragment)).collect();
        for field in fields {
            let form = names::snake(field.key).to_string();
            if let Some(first) = taken.insert(form.clone(), field.key) {
                self.reports.report(
                    field.selected.response_key().location(),
                    format!("`{first}` and `{}` of `{of}` are both `{form}` in Rust", field.key),
                    format!("give this one another name: `other: {}`", field.selected.name),
                );
            }
        }
    }
}

fn is_conditional(directives: &DirectiveList) -> bool {
    directives.has("skip") || directives.has("include")
}

/// Converts a type of apollo-compiler to the model's.
pub(super) fn type_ref(ty: &Type) -> TypeRef {
    let (shape, nullable) = match ty {
        Type::Named(name) => (TypeShape::Named(name.to_string()), true),
        Type::NonNullNamed(name) => (TypeShape::Named(name.to_string()), false),
        Type::List(item) => (TypeShape::List(Box::new(type_ref(item))), true),
        Type::NonNullList(item) => (TypeShape::List(Box::new(type_ref(item))), false),
    };
    TypeRef { shape, nullable }
}
