//! Changes of inputs: arguments of fields and directives, and fields of input objects.

use apollo_compiler::ast::{InputValueDefinition, Type};
use apollo_compiler::collections::IndexMap;
use apollo_compiler::schema::Component;
use apollo_compiler::{Name, Node};

use super::{Differ, Fate, default_value, fates};

type Input = Node<InputValueDefinition>;

/// The kinds and words for changes of one of the three kinds of input values. graphql-js words arguments and input fields
/// differently.
struct InputWords {
    changed: &'static str,
    type_changed: &'static str,
    type_widened: &'static str,
    became_required: &'static str,
    default_changed: &'static str,
    default_added: &'static str,
}

const ARGUMENT: InputWords = InputWords {
    changed: "has changed type",
    type_changed: "ARG_CHANGED_KIND",
    type_widened: "ARG_TYPE_WIDENED",
    became_required: "ARG_BECAME_REQUIRED",
    default_changed: "ARG_DEFAULT_VALUE_CHANGE",
    default_added: "ARG_DEFAULT_VALUE_ADDED",
};

const INPUT_FIELD: InputWords = InputWords {
    changed: "changed type",
    type_changed: "FIELD_CHANGED_KIND",
    type_widened: "INPUT_FIELD_TYPE_WIDENED",
    became_required: "INPUT_FIELD_BECAME_REQUIRED",
    default_changed: "INPUT_FIELD_DEFAULT_VALUE_CHANGE",
    default_added: "INPUT_FIELD_DEFAULT_VALUE_ADDED",
};

const DIRECTIVE_ARGUMENT: InputWords = InputWords {
    changed: "has changed type",
    type_changed: "DIRECTIVE_ARG_CHANGED_KIND",
    type_widened: "DIRECTIVE_ARG_TYPE_WIDENED",
    became_required: "DIRECTIVE_ARG_BECAME_REQUIRED",
    default_changed: "DIRECTIVE_ARG_DEFAULT_VALUE_CHANGE",
    default_added: "DIRECTIVE_ARG_DEFAULT_VALUE_ADDED",
};

impl Differ<'_> {
    pub(super) fn arguments(&mut self, field: &str, old: &[Input], new: &[Input]) {
        for (arg, fate) in fates(by_name(old), by_name(new)) {
            let at = &format!("{field}({arg}:)");
            let subject = &format!("{field} arg {arg}");
            match fate {
                Fate::Removed(_) => self.breaking("ARG_REMOVED", at, format!("{subject} was removed.")),
                Fate::Added(new) if new.is_required() => {
                    let sentence = format!("A required arg {arg} on {field} was added.");
                    self.breaking("REQUIRED_ARG_ADDED", at, sentence);
                }
                Fate::Added(_) => {
                    let sentence = format!("An optional arg {arg} on {field} was added.");
                    self.dangerous("OPTIONAL_ARG_ADDED", at, sentence);
                }
                Fate::Kept(old, new) => self.input_kept(&ARGUMENT, at, subject, old, new),
            }
        }
    }

    pub(super) fn input_fields(
        &mut self,
        name: &Name,
        old: &IndexMap<Name, Component<InputValueDefinition>>,
        new: &IndexMap<Name, Component<InputValueDefinition>>,
    ) {
        for (field, fate) in fates(old, new) {
            let at = &format!("{name}.{field}");
            match fate {
                Fate::Removed(_) => self.breaking("FIELD_REMOVED", at, format!("{at} was removed.")),
                Fate::Added(new) if new.is_required() => {
                    let sentence = format!("A required field {field} on input type {name} was added.");
                    self.breaking("REQUIRED_INPUT_FIELD_ADDED", at, sentence);
                }
                Fate::Added(_) => {
                    let sentence = format!("An optional field {field} on input type {name} was added.");
                    self.dangerous("OPTIONAL_INPUT_FIELD_ADDED", at, sentence);
                }
                Fate::Kept(old, new) => self.input_kept(&INPUT_FIELD, at, at, old, new),
            }
        }
    }

    pub(super) fn directive_arguments(&mut self, name: &Name, old: &[Input], new: &[Input]) {
        for (arg, fate) in fates(by_name(old), by_name(new)) {
            let at = &format!("@{name}({arg}:)");
            let subject = &format!("{name} arg {arg}");
            match fate {
                Fate::Removed(_) => {
                    let sentence = format!("{arg} was removed from {name}.");
                    self.breaking("DIRECTIVE_ARG_REMOVED", at, sentence);
                }
                Fate::Added(new) if new.is_required() => {
                    let sentence = format!("A required arg {arg} on directive {name} was added.");
                    self.breaking("REQUIRED_DIRECTIVE_ARG_ADDED", at, sentence);
                }
                Fate::Added(_) => {
                    let sentence = format!("An optional arg {arg} on directive {name} was added.");
                    self.safe("OPTIONAL_DIRECTIVE_ARG_ADDED", at, sentence);
                }
                Fate::Kept(old, new) => self.input_kept(&DIRECTIVE_ARGUMENT, at, subject, old, new),
            }
        }
    }

    /// Compares an argument or input field that is in both schemas. `subject` begins the sentences about it.
    fn input_kept(
        &mut self,
        words: &InputWords,
        at: &str,
        subject: &str,
        old: &InputValueDefinition,
        new: &InputValueDefinition,
    ) {
        self.documentation(at, old, new);
        let sentence = format!("{subject} {} from {} to {}.", words.changed, old.ty, new.ty);
        if !is_within(&old.ty, &new.ty) {
            // Defaults of different types cannot be compared; graphql-js stops here too.
            return self.breaking(words.type_changed, at, sentence);
        }
        if old.ty != new.ty {
            self.safe(words.type_widened, at, sentence);
        }
        if new.is_required() && !old.is_required() {
            self.breaking(words.became_required, at, format!("{subject} became required."));
        }
        let (old, new) = (default_value::text(self.old, old), default_value::text(self.new, new));
        match (old, new) {
            (Some(old), Some(new)) if old != new => {
                let sentence = format!("{subject} has changed defaultValue from {old} to {new}.");
                self.dangerous(words.default_changed, at, sentence);
            }
            (Some(_), None) => {
                let sentence = format!("{subject} defaultValue was removed.");
                self.dangerous(words.default_changed, at, sentence);
            }
            (None, Some(new)) => {
                let sentence = format!("{subject} defaultValue {new} was added.");
                self.safe(words.default_added, at, sentence);
            }
            _ => {}
        }
    }
}

fn by_name(inputs: &[Input]) -> impl Iterator<Item = (&Name, &Input)> {
    inputs.iter().map(|input| (&input.name, input))
}

/// Whether every value of `narrow` is a value of `wide`: the same type with at least its `!`s. For outputs the new type
/// must be within the old one, for inputs the old one within the new.
pub(super) fn is_within(narrow: &Type, wide: &Type) -> bool {
    if wide.is_non_null() && !narrow.is_non_null() {
        return false;
    }
    match (narrow, wide) {
        (Type::Named(a) | Type::NonNullNamed(a), Type::Named(b) | Type::NonNullNamed(b)) => a == b,
        (Type::List(a) | Type::NonNullList(a), Type::List(b) | Type::NonNullList(b)) => is_within(a, b),
        _ => false,
    }
}
