//! Form fields with labels, and mistakes shown beside them.

use std::borrow::Cow;

use maud::{Markup, html};
use sea_orm::ColumnTrait;
use spelling::nearest;

use super::Fault;
use super::visit::Fields;
use catalogue::entity::field_rule::{FieldRule, FieldRules, Reference, ValueRule};
use catalogue::entity::text;
use catalogue::error::UserError;

/// The hint for Markdown fields.
pub const MARKDOWN: &str = "Markdown. URLs become links.";

/// The mistakes of a form, by field.
#[derive(Debug, Default)]
pub struct Mistakes(Vec<(String, String)>);

impl Mistakes {
    /// No mistakes, for a form that was not sent yet.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a mistake about `field`, or about the whole form if `field` is empty.
    pub fn push(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.0.push((field.into(), in_words(message.into())));
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The messages about a field.
    pub fn of_field<'a>(&'a self, field: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == field).map(|(_, message)| &**message)
    }

    /// All mistakes: field and message.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(field, message)| (&**field, &**message))
    }

    /// All messages.
    pub fn messages(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(_, message)| &**message)
    }

    /// Refuses what can only be answered without any, such as a file.
    pub fn refused(&self) -> Result<(), Fault> {
        match self.is_empty() {
            true => Ok(()),
            false => Err(Fault::BadRequest(self.messages().collect::<Vec<_>>().join(" "))),
        }
    }

    /// The mistakes about anything but `field`, which belongs to another form of the page.
    pub fn except(&self, field: &str) -> Self {
        Self(self.0.iter().filter(|(known, _)| known != field).cloned().collect())
    }

    /// The mistakes about fields for which `is_own` is false.
    pub fn outside(&self, is_own: impl Fn(&str) -> bool) -> Self {
        Self(self.0.iter().filter(|(known, _)| !is_own(known)).cloned().collect())
    }

    /// Shows mistakes about fields that the form does not show. They have the focus: they are above the fields.
    pub fn summary(&self, shown: &[&str]) -> Markup {
        let others = || self.0.iter().filter(|(field, _)| !shown.contains(&&**field));
        html! {
            @if others().next().is_some() {
                div.problem role="alert" tabindex="-1" autofocus {
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

/// What the API says of an alias that nothing has, in the words of pages, where names do as well.
fn in_words(message: String) -> String {
    let called = |message: &str| {
        let (noun, alias) = message.strip_suffix(" does not exist on this account")?.split_once(" with the alias ")?;
        let noun = noun.strip_prefix("a ").or_else(|| noun.strip_prefix("an "))?;
        Some(format!("No {noun} is called {alias}."))
    };
    called(&message).unwrap_or(message)
}

/// A column as a form field. Its kind and maximum length follow from its rule.
struct Entry<'a, C: 'static> {
    rule: &'static FieldRule<C>,
    label: &'a str,
    hint: &'a str,
    /// The initial height of a text area, in rows.
    rows: u8,
}

impl<C: ColumnTrait> Entry<'_, C> {
    /// Shows the field with its value and mistakes. `choices` are the options of a field that names something: value
    /// and label.
    fn show(&self, choices: &[(&str, &str)], form: &Fields, mistakes: &Mistakes) -> Markup {
        let Self { rule, label, hint, rows } = *self;
        let name = &*name_in_form(rule);
        let line =
            |kind| Text { kind, ..Text::from_rule(rule, label, hint) }.show_at_most(rule.max_length(), form, mistakes);
        let named = |to| {
            let named = Named { name, label, hint, part: part_of(to), required: false };
            named.show(choices.iter().copied(), form, mistakes)
        };
        match rule.value {
            ValueRule::Text(most) if rule.is_long() => Area { name, label, hint, rows, most }.show(form, mistakes),
            // There are few component types, so all are listed.
            ValueRule::Identified(Reference::ComponentType) => select(name, label, hint, choices, form, mistakes),
            ValueRule::Named(to @ Reference::User) | ValueRule::Id(to) | ValueRule::Identified(to) => named(to),
            ValueRule::Named(_) => select(name, label, hint, choices, form, mistakes),
            ValueRule::Text(_) | ValueRule::Flag | ValueRule::Place | ValueRule::Moment => line("text"),
        }
    }
}

/// The part of the pages that shows people.
pub const PEOPLE: &str = "users";

/// The part of the pages that shows what a field refers to, if the script searches for it.
fn part_of(to: Reference) -> &'static str {
    match to {
        Reference::Team => "teams",
        Reference::System => "systems",
        Reference::Domain => "domains",
        Reference::User => PEOPLE,
        Reference::Tier | Reference::Lifecycle | Reference::ComponentType => "",
    }
}

/// The name of a column's form field: the path that the API uses for mistakes about it.
pub fn name_in_form<C>(rule: &FieldRule<C>) -> Cow<'static, str> {
    match rule.value {
        ValueRule::Identified(_) => format!("{}.alias", rule.name).into(),
        _ => rule.name.into(),
    }
}

/// Shows the fields of a table, preceded by mistakes about anything else. `shown` gives each column's label, hint and
/// height; `choices` gives its options.
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

/// Converts the submitted fields to what the database stores.
pub fn sent<E: FieldRules>(form: &Fields) -> Fields {
    E::FIELDS.iter().fold(Fields::default(), |fields, rule| {
        let name = name_in_form(rule);
        let text = if rule.is_long() { form.untrimmed(&name) } else { form.get(&name) };
        fields.and(&name, &stored(text))
    })
}

/// The submitted value of a column. `None` if it is empty.
pub fn given<E: FieldRules>(form: &Fields, column: E::Column) -> Option<&str> {
    let (rule, name) = (E::rule(column), name_in_form(E::rule(column)));
    let text = if rule.is_long() { form.untrimmed(&name) } else { form.get(&name) };
    Some(text).filter(|text| !text.is_empty())
}

/// The lines of a text area that lists things, without blank ones.
pub fn lines(area: &str) -> Vec<&str> {
    area.lines().map(text::trim).filter(|line| !line.is_empty()).collect()
}

/// Converts line ends: forms send CRLF, the database stores LF.
pub fn stored(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// A single-line text field.
pub struct Text<'a> {
    /// The field's name.
    pub name: &'a str,
    /// The label.
    pub label: &'a str,
    /// A hint, or empty.
    pub hint: &'a str,
    /// The input type, such as `text`, `email` or `search`.
    pub kind: &'a str,
    /// Whether it is required.
    pub required: bool,
}

impl<'a> Text<'a> {
    /// The field of a column.
    pub fn from_rule<C>(rule: &FieldRule<C>, label: &'a str, hint: &'a str) -> Self {
        Self { name: rule.name, label, hint, kind: "text", required: rule.is_required }
    }

    /// Shows the field with its value and mistakes.
    pub fn show(&self, form: &Fields, mistakes: &Mistakes) -> Markup {
        self.show_at_most(text::SHORT, form, mistakes)
    }

    /// The same, for a text of at most `most` characters.
    pub fn show_at_most(&self, most: usize, form: &Fields, mistakes: &Mistakes) -> Markup {
        let Self { name, label, hint, kind, required } = *self;
        frame(name, label, hint, mistakes, |described| {
            html! {
                input id={ "field-" (name) } name=(name) type=(kind) value=(form.get(name)) required[required] min=[(kind == "number").then_some("0")]
                    maxlength=(most) dir="auto" aria-describedby=[described] aria-invalid=[invalid(name, mistakes)] autofocus[is_wrong(name, mistakes)];
            }
        })
    }
}

/// A text area.
pub struct Area<'a> {
    /// The field's name.
    pub name: &'a str,
    /// The label.
    pub label: &'a str,
    /// A hint, or empty.
    pub hint: &'a str,
    /// The initial height, in rows.
    pub rows: u8,
    /// The maximum number of characters.
    pub most: usize,
}

impl Area<'_> {
    /// Shows the field with its value and mistakes.
    pub fn show(&self, form: &Fields, mistakes: &Mistakes) -> Markup {
        let Self { name, label, hint, rows, most } = *self;
        frame(name, label, hint, mistakes, |described| {
            html! {
                // A browser drops the first newline.
                textarea id={ "field-" (name) } name=(name) rows=(rows) maxlength=(most) dir="auto"
                    aria-describedby=[described] aria-invalid=[invalid(name, mistakes)] autofocus[is_wrong(name, mistakes)] { "\n" (form.get(name)) }
            }
        })
    }
}

/// Shows a select field. Choices are value and label.
pub fn select(
    name: &str,
    label: &str,
    hint: &str,
    options: &[(&str, &str)],
    form: &Fields,
    mistakes: &Mistakes,
) -> Markup {
    // A value that is refused stays in sight beside what is wrong with it.
    let is_odd = |value: &&str| !value.is_empty() && options.iter().all(|(known, _)| known != value);
    let odd = Some(form.get(name)).filter(|value| is_odd(value) && is_wrong(name, mistakes));
    frame(name, label, hint, mistakes, |described| {
        html! {
            select id={ "field-" (name) } name=(name) aria-describedby=[described] aria-invalid=[invalid(name, mistakes)] autofocus[is_wrong(name, mistakes)] {
                @for (value, text) in options {
                    option value=(value) selected[form.get(name) == *value] { (text) }
                }
                @if let Some(odd) = odd { option value=(odd) selected { (odd) } }
            }
        }
    })
}

/// The most things that a list of choices has: as many as a page of the API. There may be more.
pub const LISTED: usize = 100;

/// What an empty field says whose list of choices may not have all things.
const MORE: &str = "Type a name: not all are listed";

/// Shows a select field for one of many things: id and label. Where there may be more than are listed, it is a text field
/// with suggestions, which takes the name of any; [`picker`](super::picker) understands it.
pub fn pick(
    name: &str,
    label: &str,
    hint: &str,
    options: &[(&str, &str)],
    form: &Fields,
    mistakes: &Mistakes,
) -> Markup {
    if options.iter().filter(|(value, _)| !value.is_empty()).count() < LISTED {
        return select(name, label, hint, options, form, mistakes);
    }
    let field = Named { name, label, hint, part: "", required: false };
    field.show(options.iter().copied(), form, mistakes)
}

/// A text field that names one of many things by its name or its alias, with the first of them as suggestions:
/// [`picker`](super::picker) understands what is written, and the script searches on the server.
pub struct Named<'a> {
    /// The field's name.
    pub name: &'a str,
    /// The label.
    pub label: &'a str,
    /// A hint, or empty.
    pub hint: &'a str,
    /// The part of the pages that shows such things, such as `teams`, or empty: the search finds no others.
    pub part: &'a str,
    /// Whether it is required.
    pub required: bool,
}

impl Named<'_> {
    /// Shows the field. The suggestions are value and label.
    pub fn show<'p>(
        &self,
        proposals: impl Iterator<Item = (&'p str, &'p str)>,
        form: &Fields,
        mistakes: &Mistakes,
    ) -> Markup {
        let Self { name, label, hint, part, required } = *self;
        let proposals: Vec<_> = proposals.filter(|(value, _)| !value.is_empty()).collect();
        let more = (proposals.len() >= LISTED).then_some(MORE);
        let mut own = Mistakes::none();
        mistakes.of_field(name).for_each(|message| own.push(name, message));
        if let Some(meant) = meant(form.get(name), &proposals).filter(|_| !own.is_empty()) {
            own.push(name, format!("Did you mean {meant}?"));
        }
        frame(name, label, hint, &own, |described| {
            html! {
                input id={ "field-" (name) } name=(name) value=(form.get(name)) list={ "list-" (name) } maxlength=(text::SHORT)
                    placeholder=[more] required[required] data-find=[Some(part).filter(|part| !part.is_empty())] dir="auto" autocomplete="off"
                    aria-describedby=[described] aria-invalid=[invalid(name, mistakes)] autofocus[is_wrong(name, mistakes)];
                (suggestions(&format!("list-{name}"), proposals))
            }
        })
    }
}

/// The name of the suggestion that a text probably misspells. None if the text is one of them.
fn meant<'p>(text: &str, proposals: &[(&'p str, &'p str)]) -> Option<&'p str> {
    let found = nearest(text, proposals.iter().flat_map(|(value, name)| [*name, *value]))?;
    let (_, name) = proposals.iter().find(|(value, name)| [*value, *name].contains(&found))?;
    (found != text).then_some(*name)
}

/// The suggestions of text fields: value and label.
pub fn suggestions<'p>(id: &str, proposals: impl IntoIterator<Item = (&'p str, &'p str)>) -> Markup {
    html! { datalist id=(id) { @for (value, text) in proposals { option value=(value) { (text) } } } }
}

fn invalid(name: &str, mistakes: &Mistakes) -> Option<&'static str> {
    is_wrong(name, mistakes).then_some("true")
}

/// Whether there are mistakes about a field. The first such field of a page has the focus.
fn is_wrong(name: &str, mistakes: &Mistakes) -> bool {
    mistakes.of_field(name).next().is_some()
}

/// A message about a field with the field's label in the place of its name in the API: the label without what explains it,
/// behind a colon or in parentheses. A sentence begins with a capital.
fn labelled(name: &str, label: &str, message: &str) -> String {
    let label = label.split([':', '(']).next().unwrap_or(label).trim_end();
    let own = name.rsplit('.').next().unwrap_or(name);
    if let Some(rest) = message.strip_prefix(own).filter(|rest| rest.starts_with(' ')) {
        return format!("{label}{rest}");
    }
    let mut letters = message.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn frame(
    name: &str,
    label: &str,
    hint: &str,
    mistakes: &Mistakes,
    input: impl FnOnce(Option<String>) -> Markup,
) -> Markup {
    let wrong: Vec<String> = mistakes.of_field(name).map(|message| labelled(name, label, message)).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_calls_a_field_by_its_label() {
        for (name, label, message, expected) in [
            ("displayName", "Name of the link", "displayName must not be empty", "Name of the link must not be empty"),
            ("children.0.url", "Address", "url must begin with https://", "Address must begin with https://"),
            ("url", "Address", "urls differ", "Urls differ"),
            ("day", "Target: the last day (UTC)", "day must be later", "Target must be later"),
            ("id", "Owner (name or alias)", "id must be given", "Owner must be given"),
            ("owner", "Owner", "no team has the alias \"a\"", "No team has the alias \"a\""),
            ("owner", "Owner", "", ""),
        ] {
            assert_eq!(labelled(name, label, message), expected);
        }
    }
}
