//! Forms: fields with their labels, and what was wrong with them beside them.

use std::borrow::Cow;

use maud::{Markup, html};
use sea_orm::ColumnTrait;

use super::visit::Fields;
use crate::entity::field_rule::{FieldRule, FieldRules, Reference, ValueRule};
use crate::entity::text;
use crate::error::UserError;

/// What was wrong with a form, by field.
#[derive(Debug, Default)]
pub struct Mistakes(Vec<(String, String)>);

impl Mistakes {
    /// None: a form that was not sent yet.
    pub fn none() -> Self {
        Self::default()
    }

    /// One more: about the field `field`, or about the whole form where it is empty.
    pub fn push(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.0.push((field.into(), message.into()));
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn of<'a>(&'a self, field: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == field).map(|(_, message)| &**message)
    }

    /// What was wrong with fields that the form does not show, told above it.
    pub fn summary(&self, shown: &[&str]) -> Markup {
        let others = || self.0.iter().filter(|(field, _)| !shown.contains(&&**field));
        html! {
            @if others().next().is_some() {
                div.problem role="alert" {
                    @for (_, message) in others() { p { (message) } }
                }
            }
        }
    }
}

impl From<Vec<UserError>> for Mistakes {
    fn from(errors: Vec<UserError>) -> Self {
        Self(errors.into_iter().map(|error| (error.path.join("."), error.message.into_owned())).collect())
    }
}

/// A field of a table's list as a form shows it: its kind, and how much fits, follow from its rule.
struct Entry<'a, C: 'static> {
    rule: &'static FieldRule<C>,
    label: &'a str,
    hint: &'a str,
    /// How high a text of several lines is at first.
    rows: u8,
}

impl<C: ColumnTrait> Entry<'_, C> {
    /// The field, with what the form said and what was wrong with that. `choices` are the names that it may hold, where it
    /// names something: value and what it is called.
    fn show(&self, choices: &[(&str, &str)], form: &Fields, mistakes: &Mistakes) -> Markup {
        let Self { rule, label, hint, rows } = *self;
        let name = &*name_in_form(rule);
        let line = |kind| Text { kind, ..Text::of(rule, label, hint) }.show(form, mistakes);
        match rule.value {
            ValueRule::Text(most) if most > text::SHORT => Area { name, label, hint, rows, most }.show(form, mistakes),
            ValueRule::Named(Reference::User) => line("email"),
            ValueRule::Named(_) => select(name, label, hint, choices, form, mistakes),
            ValueRule::Identified(_) => suggested(name, label, choices.iter().copied(), form, mistakes),
            ValueRule::Text(_) | ValueRule::Flag | ValueRule::Place | ValueRule::Moment => line("text"),
        }
    }
}

/// The name of a field in a form: the path by which the API tells what is wrong with it.
pub fn name_in_form<C>(rule: &FieldRule<C>) -> Cow<'static, str> {
    match rule.value {
        ValueRule::Identified(_) => format!("{}.alias", rule.name).into(),
        _ => rule.name.into(),
    }
}

/// The fields of a table's list, and what was wrong with anything else above them. `shown` says for each column its label,
/// what to know before filling it in, and its height; `choices` what may be chosen for it.
pub fn entries<E: FieldRules, const N: usize>(
    shown: [(E::Column, &str, &str, u8); N],
    choices: impl Fn(E::Column) -> Vec<(String, String)>,
    form: &Fields,
    mistakes: &Mistakes,
) -> Markup {
    let names = shown.each_ref().map(|(column, ..)| name_in_form(E::rule(*column)));
    html! {
        (mistakes.summary(&names.each_ref().map(|name| &**name)))
        @for (column, label, hint, rows) in shown {
            @let choices = choices(column);
            @let choices: Vec<_> = choices.iter().map(|(value, text)| (&**value, &**text)).collect();
            (Entry { rule: E::rule(column), label, hint, rows }.show(&choices, form, mistakes))
        }
    }
}

/// What a form says of the fields of a table's list, as the database is to have it.
pub fn sent<E: FieldRules>(form: &Fields) -> Fields {
    E::FIELDS.iter().fold(Fields::default(), |fields, rule| {
        let name = name_in_form(rule);
        fields.and(&name, &stored(form.get(&name)))
    })
}

/// What a form says of a column; what is empty is nothing.
pub fn given<E: FieldRules>(form: &Fields, column: E::Column) -> Option<&str> {
    form.given(&name_in_form(E::rule(column)))
}

/// A text with the line ends of the database: those of forms are others.
pub fn stored(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// One line of text.
pub struct Text<'a> {
    /// The field's name.
    pub name: &'a str,
    /// What it is called.
    pub label: &'a str,
    /// What to know before filling it in; may be empty.
    pub hint: &'a str,
    /// `text`, `email`, `search`.
    pub kind: &'a str,
    /// Whether it must be filled in.
    pub required: bool,
}

impl<'a> Text<'a> {
    /// A field of a table's list.
    pub fn of<C>(rule: &FieldRule<C>, label: &'a str, hint: &'a str) -> Self {
        Self { name: rule.name, label, hint, kind: "text", required: rule.is_required }
    }

    /// The field, with what the form said and what was wrong with that.
    pub fn show(&self, form: &Fields, mistakes: &Mistakes) -> Markup {
        let Self { name, label, hint, kind, required } = *self;
        frame(name, label, hint, mistakes, |described| {
            html! {
                input id={ "field-" (name) } name=(name) type=(kind) value=(form.get(name)) required[required] min=[(kind == "number").then_some("0")]
                    maxlength=(text::SHORT) dir="auto" aria-describedby=[described] aria-invalid=[invalid(name, mistakes)];
            }
        })
    }
}

/// Several lines of text.
pub struct Area<'a> {
    /// The field's name.
    pub name: &'a str,
    /// What it is called.
    pub label: &'a str,
    /// What to know before filling it in; may be empty.
    pub hint: &'a str,
    /// How high it is at first.
    pub rows: u8,
    /// The most characters.
    pub most: usize,
}

impl Area<'_> {
    /// The field, with what the form said and what was wrong with that.
    pub fn show(&self, form: &Fields, mistakes: &Mistakes) -> Markup {
        let Self { name, label, hint, rows, most } = *self;
        frame(name, label, hint, mistakes, |described| {
            html! {
                // A browser takes the first new line away.
                textarea id={ "field-" (name) } name=(name) rows=(rows) maxlength=(most) dir="auto"
                    aria-describedby=[described] aria-invalid=[invalid(name, mistakes)] { "\n" (form.get(name)) }
            }
        })
    }
}

/// A choice of one among several: value and what it is called.
pub fn select(
    name: &str,
    label: &str,
    hint: &str,
    options: &[(&str, &str)],
    form: &Fields,
    mistakes: &Mistakes,
) -> Markup {
    frame(name, label, hint, mistakes, |described| {
        html! {
            select id={ "field-" (name) } name=(name) aria-describedby=[described] aria-invalid=[invalid(name, mistakes)] {
                @for (value, text) in options {
                    option value=(value) selected[form.get(name) == *value] { (text) }
                }
            }
        }
    })
}

/// A line of text for which there are proposals: value and what it is called.
pub fn suggested<'a>(
    name: &str,
    label: &str,
    proposals: impl Iterator<Item = (&'a str, &'a str)>,
    form: &Fields,
    mistakes: &Mistakes,
) -> Markup {
    frame(name, label, "", mistakes, |described| {
        html! {
            input id={ "field-" (name) } name=(name) value=(form.get(name)) list={ "list-" (name) } maxlength=(text::SHORT)
                aria-describedby=[described] aria-invalid=[invalid(name, mistakes)];
            datalist id={ "list-" (name) } {
                @for (value, text) in proposals { option value=(value) { (text) } }
            }
        }
    })
}

fn invalid(name: &str, mistakes: &Mistakes) -> Option<&'static str> {
    mistakes.of(name).next().map(|_| "true")
}

fn frame(
    name: &str,
    label: &str,
    hint: &str,
    mistakes: &Mistakes,
    input: impl FnOnce(Option<String>) -> Markup,
) -> Markup {
    let wrong: Vec<&str> = mistakes.of(name).collect();
    let mut described = Vec::new();
    if !hint.is_empty() {
        described.push(format!("hint-{name}"));
    }
    if !wrong.is_empty() {
        described.push(format!("wrong-{name}"));
    }
    let described = (!described.is_empty()).then(|| described.join(" "));
    html! {
        div.field {
            label for={ "field-" (name) } { (label) }
            @if !hint.is_empty() { p.hint id={ "hint-" (name) } { (hint) } }
            (input(described))
            @if !wrong.is_empty() {
                p.wrong id={ "wrong-" (name) } { @for message in &wrong { (message) " " } }
            }
        }
    }
}
