//! Forms that follow from the SDL: one field for each field of a mutation's input, with the description as its hint.
//!
//! A field of the form is named by the path that the API uses for mistakes about it, such as `tagPredicate.type`. What the
//! fields mean to the API follows from their types, so a field that is added to an input appears in its form.

use apollo_compiler::Schema;
use apollo_compiler::ast::Type;
use apollo_compiler::schema::{ExtendedType, InputObjectType, InputValueDefinition, ObjectType};
use maud::{Markup, html};
use serde_json::{Map, Value as Json, json};

use super::form::{self, Area, Mistakes, Named, Text, pick, select};
use super::schema_words::{field_label, option_label, plain, repeats};
use super::visit::Fields;
use catalogue::entity::text::DESCRIPTION;

/// The words of a flag in a form.
const YES: &str = "yes";
const NO: &str = "no";

/// What a check looks for. Its form begins with this; then comes what else must be given, and what may be.
const QUESTION: [&str; 12] = [
    "packageName",
    "packageManager",
    "packageConstraint",
    "versionConstraintPredicate",
    "filePaths",
    "fileContentsPredicate",
    "relationshipDefinitionId",
    "metric",
    "documentType",
    "serviceProperty",
    "propertyDefinition",
    "requireContactMethod",
];
/// What all checks have. It comes last.
const GENERAL: [&str; 9] =
    ["name", "description", "categoryId", "levelId", "ownerId", "filterId", "enabled", "enableOn", "notes"];

/// What a form asks for unless somebody chooses otherwise: the field, and the word of its enum.
const USUAL: [(&str, &str); 1] = [("packageConstraint", "exists")];

/// The fields that are written in a text area.
const LONG: [&str; 6] =
    ["description", "notes", "resultMessage", "serviceSelector", "successCondition", "projectBrief"];

/// Texts that are words of an enum, in any case of their letters: the field, the enum, and the hint.
const TEXTS: [(&str, &str, &str); 1] =
    [("contactMethod", "ContactType", "The type of contact that the owner must have; empty for any.")];

/// The values that can be chosen for fields that name something, each with its label.
pub type Choices<'c> = &'c dyn Fn(&str) -> Option<Vec<(String, String)>>;

/// The form of an input.
#[derive(Clone, Copy)]
pub struct Form<'s> {
    schema: &'s Schema,
    input: &'s InputObjectType,
}

/// What a field takes.
enum Takes<'s> {
    Flag,
    Number,
    Text,
    List,
    Day,
    Word(Vec<&'s str>),
    Parts(&'s InputObjectType),
}

impl<'s> Form<'s> {
    /// The form of the input with this name.
    pub fn new(schema: &'s Schema, input: &str) -> Option<Self> {
        Some(Self { schema, input: schema.get_input_object(input)? })
    }

    fn takes(self, ty: &Type) -> Takes<'s> {
        if ty.is_list() {
            return Takes::List;
        }
        match self.schema.types.get(ty.inner_named_type()) {
            Some(ExtendedType::Enum(words)) => Takes::Word(words.values.keys().map(|word| word.as_str()).collect()),
            Some(ExtendedType::InputObject(parts)) => Takes::Parts(parts),
            _ => match ty.inner_named_type().as_str() {
                "Boolean" => Takes::Flag,
                "Int" => Takes::Number,
                "ISO8601DateTime" => Takes::Day,
                _ => Takes::Text,
            },
        }
    }

    /// The fields in the order of the form.
    fn fields(self) -> Vec<&'s InputValueDefinition> {
        let is_check = self.has("levelId");
        let place = |field: &InputValueDefinition| {
            let among = |names: &[&str]| names.iter().position(|own| *own == field.name.as_str());
            match (among(&QUESTION), among(&GENERAL)) {
                (Some(at), _) => (0, at),
                // What is not a check is asked for its name first.
                (_, Some(0)) if !is_check => (0, 0),
                (_, Some(at)) => (3, at),
                _ => (if field.is_required() { 1 } else { 2 }, 0),
            }
        };
        let mut fields: Vec<&InputValueDefinition> = self.input.fields.values().map(|field| &***field).collect();
        fields.sort_by_key(|field| place(field));
        fields
    }

    /// Whether it has a field.
    pub fn has(self, field: &str) -> bool {
        self.input.fields.contains_key(field)
    }

    /// Shows the fields, preceded by mistakes about anything else.
    pub fn show(self, choices: Choices<'_>, form: &Fields, mistakes: &Mistakes) -> Markup {
        let names = self.names();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        html! {
            (mistakes.summary(&names))
            @for field in self.fields() { (self.field(field, "", choices, form, mistakes)) }
        }
    }

    /// The names of the form's fields.
    fn names(self) -> Vec<String> {
        let mut names = Vec::new();
        for field in self.fields() {
            match self.takes(&field.ty) {
                Takes::Parts(parts) => {
                    let parts = parts_of(parts).map(|part| format!("{}.{}", field.name, part.name));
                    names.extend(parts);
                }
                _ => names.push(field.name.to_string()),
            }
        }
        names
    }

    fn field(
        self,
        field: &InputValueDefinition,
        above: &str,
        choices: Choices<'_>,
        form: &Fields,
        mistakes: &Mistakes,
    ) -> Markup {
        let name = &*format!("{above}{}", field.name);
        let (label, hint) = (&*field_label(name), &*hint_of(field));
        let most = most(hint).unwrap_or(DESCRIPTION);
        let hint = if repeats(label, hint) { "" } else { hint };
        let (required, is_required) = (field.is_required(), field.ty.is_non_null());
        let none = (!is_required).then(|| (String::new(), "—".to_owned()));
        if name == "ownerId" {
            let teams = choices(name).unwrap_or_default();
            let field = Named { name, label: "Owner (name or alias)", hint: "", part: "teams", required: false };
            return field.show(teams.iter().map(|(alias, name)| (&**alias, &**name)), form, mistakes);
        }
        let (words, hint) = self.words_of(name).map_or((None, hint), |(words, hint)| (Some(words), hint));
        let has_words = words.is_some();
        if let Some(offered) = words.or_else(|| choices(name)) {
            let present = Some(form.get(name)).filter(|own| !own.is_empty() && offered.iter().all(|(id, _)| id != own));
            let said = |own: &str| if has_words { option_label(own) } else { "as it is".to_owned() };
            let present = present.map(|own| (own.to_owned(), said(own)));
            let offered: Vec<(String, String)> = none.into_iter().chain(present).chain(offered).collect();
            let offered: Vec<(&str, &str)> = offered.iter().map(|(value, text)| (&**value, &**text)).collect();
            return pick(name, label, hint, &offered, form, mistakes);
        }
        let chosen = |words: Vec<(String, String)>| {
            let offered: Vec<(String, String)> = none.clone().into_iter().chain(words).collect();
            let offered: Vec<(&str, &str)> = offered.iter().map(|(value, text)| (&**value, &**text)).collect();
            select(name, label, hint, &offered, form, mistakes)
        };
        let line = |kind| Text { name, label, hint, kind, required }.show(form, mistakes);
        let area = |rows| Area { name, label, hint, rows, most }.show(form, mistakes);
        match self.takes(&field.ty) {
            Takes::Flag => select(name, label, hint, &[(NO, NO), (YES, YES)], form, mistakes),
            Takes::Word(words) => {
                let words = in_order(field, words).into_iter();
                chosen(words.map(|word| (word.to_owned(), option_label(word))).collect())
            }
            Takes::Number => line("number"),
            Takes::Day => line("date"),
            Takes::List => area(2),
            Takes::Text if LONG.contains(&name) => area(3),
            Takes::Text => line("text"),
            Takes::Parts(parts) => html! {
                fieldset {
                    legend { (label) }
                    @if !hint.is_empty() { p.hint { (hint) } }
                    div.pair { @for part in parts_of(parts) {
                        (self.part(part, &format!("{name}."), choices, form, mistakes))
                    } }
                }
            },
        }
    }

    /// The words that a text can be, each with its label, and the hint.
    fn words_of(self, field: &str) -> Option<(Vec<(String, String)>, &'static str)> {
        let (_, ty, hint) = TEXTS.iter().find(|(own, ..)| *own == field)?;
        let words = self.schema.get_enum(ty)?.values.keys();
        Some((words.map(|word| (word.to_string(), option_label(word))).collect(), hint))
    }

    /// A part of a field. Nobody has to fill it in, because the whole field may be empty.
    fn part(
        self,
        part: &InputValueDefinition,
        above: &str,
        choices: Choices<'_>,
        form: &Fields,
        mistakes: &Mistakes,
    ) -> Markup {
        let optional =
            InputValueDefinition { ty: (*part.ty).clone().nullable().into(), ..InputValueDefinition::clone(part) };
        self.field(&optional, above, choices, form, mistakes)
    }

    /// Reads the submitted fields as the input. Of an empty field, there is a null, so that an update clears it.
    pub fn input(self, form: &Fields, mistakes: &mut Mistakes) -> Map<String, Json> {
        let fields = self.input.fields.values().filter_map(|field| {
            let value = self.value(field, "", form, mistakes);
            let value = match value.is_null() && field.ty.is_non_null() {
                // An empty text in a field that must be given is a mistake that the API tells best.
                true => absent(&self.takes(&field.ty)).or_else(|| missing(mistakes, field.name.as_str())),
                false => Some(value),
            };
            Some((field.name.to_string(), value?))
        });
        fields.collect()
    }

    /// The fields of the input that differ from those of another form, and those that `update` needs.
    pub fn differing(self, update: &str, form: &Fields, before: &Fields, mistakes: &mut Mistakes) -> Map<String, Json> {
        let (mut own, before) = (self.input(form, mistakes), self.input(before, &mut Mistakes::none()));
        let needed = |name: &str| {
            let input = self.schema.get_input_object(update);
            input.and_then(|input| input.fields.get(name)).is_some_and(|field| field.ty.is_non_null())
        };
        own.retain(|name, value| before.get(name) != Some(value) || needed(name));
        own
    }

    fn value(self, field: &InputValueDefinition, above: &str, form: &Fields, mistakes: &mut Mistakes) -> Json {
        let name = format!("{above}{}", field.name);
        let text = form.get(&name);
        match self.takes(&field.ty) {
            Takes::Parts(parts) => {
                let given: Map<String, Json> = parts_of(parts)
                    .map(|part| (part.name.to_string(), self.value(part, &format!("{name}."), form, mistakes)))
                    .filter(|(_, value)| !value.is_null())
                    .collect();
                if given.is_empty() {
                    return Json::Null;
                }
                let lacks =
                    |part: &&InputValueDefinition| part.is_required() && !given.contains_key(part.name.as_str());
                for part in parts_of(parts).filter(lacks) {
                    missing(mistakes, &format!("{name}.{}", part.name));
                }
                given.into()
            }
            _ if text.is_empty() => Json::Null,
            Takes::Flag => (text == YES).into(),
            Takes::Number => match text.parse::<i32>() {
                Ok(number) => number.into(),
                Err(_) => {
                    mistakes.push(name, "must be a whole number");
                    Json::Null
                }
            },
            Takes::Day => format!("{text}T00:00:00Z").into(),
            Takes::List => form::stored(text).lines().map(str::trim).filter(|line| !line.is_empty()).collect(),
            Takes::Word(words) if !words.contains(&text) => {
                mistakes.push(name, "must be one of the words that are offered");
                Json::Null
            }
            Takes::Word(_) => text.into(),
            Takes::Text if LONG.contains(&&*name) => form::stored(form.untrimmed(&name)).into(),
            // What is compared may begin or end with a blank.
            Takes::Text if name.ends_with(".value") => form.untrimmed(&name).into(),
            Takes::Text => text.into(),
        }
    }

    /// The selection of an object's fields that have the values of the form.
    pub fn selection(self, object: &ObjectType) -> String {
        let mut selected = Vec::new();
        for field in self.input.fields.values() {
            let Some((name, own)) = source(object, &field.name) else { continue };
            match self.takes(&field.ty) {
                Takes::Parts(parts) => {
                    let has = |part: &str| {
                        let ty = self.schema.get_object(own.ty.inner_named_type());
                        ty.is_some_and(|ty| ty.fields.contains_key(part))
                    };
                    let parts = parts_of(parts).map(|part| part.name.as_str()).filter(|part| has(part));
                    selected.push(format!("{name} {{ {} }}", parts.collect::<Vec<_>>().join(" ")));
                }
                _ if &*field.name == "ownerId" => selected.push("owner { alias }".to_owned()),
                _ if field.name.ends_with("Id") => selected.push(format!("{name} {{ id }}")),
                _ => selected.push(name.to_owned()),
            }
        }
        selected.join(" ")
    }

    /// The fields with the values of an object, which has the selection of [`selection`](Self::selection).
    pub fn filled(self, object: &Json) -> Fields {
        let mut fields = Fields::default();
        for field in self.input.fields.values() {
            let name = field.name.as_str();
            let value = [name, name.trim_end_matches("Id"), "rawNotes"]
                .into_iter()
                .find_map(|own| (own != "rawNotes" || name == "notes").then(|| object.get(own)).flatten());
            let Some(value) = value else { continue };
            match self.takes(&field.ty) {
                Takes::Parts(parts) => {
                    for part in parts_of(parts) {
                        let part_value = value.get(part.name.as_str()).unwrap_or(&Json::Null);
                        let is_day = matches!(self.takes(&part.ty), Takes::Day);
                        fields = fields.and(&format!("{name}.{}", part.name), &shown(part_value, is_day));
                    }
                }
                Takes::Day => fields = fields.and(name, &shown(value, true)),
                _ => {
                    let value = value.get("alias").or_else(|| value.get("id")).unwrap_or(value);
                    fields = fields.and(name, &shown(value, false));
                }
            }
        }
        fields
    }
}

/// The words of an enum in the order of a form: what is usual, and what the description of the field names, come first. The
/// first one of a field that must be given is chosen already, so it must be one that works.
fn in_order<'w>(field: &InputValueDefinition, mut words: Vec<&'w str>) -> Vec<&'w str> {
    let description = field.description.as_deref().unwrap_or_default();
    let is_named = |word: &str| description.contains(&format!("`{word}`"));
    words.sort_by_key(|&word| (!USUAL.contains(&(field.name.as_str(), word)), !is_named(word)));
    words
}

/// The hint of a field: its description, in the words of people.
fn hint_of(field: &InputValueDefinition) -> String {
    match field.name.as_str() {
        "enabled" => "A check counts only when it is switched on.".to_owned(),
        _ => field.description.as_deref().map(plain).unwrap_or_default(),
    }
}

/// Says that a field must be given, unless something else is wrong with it.
fn missing(mistakes: &mut Mistakes, field: &str) -> Option<Json> {
    if mistakes.of_field(field).next().is_none() {
        mistakes.push(field, "must be given");
    }
    None
}

/// The field of an object that has the value of a field of an input.
fn source<'o>(object: &'o ObjectType, name: &str) -> Option<(&'o str, &'o apollo_compiler::schema::FieldDefinition)> {
    let names = if name == "notes" { ["rawNotes", ""] } else { [name, name.strip_suffix("Id").unwrap_or_default()] };
    names.into_iter().find_map(|own| object.fields.get_key_value(own)).map(|(name, own)| (name.as_str(), &***own))
}

/// The parts of a field. A thing has an id and an alias: a form sends the id.
fn parts_of(input: &InputObjectType) -> impl Iterator<Item = &InputValueDefinition> {
    let only = (input.name.as_str() == "IdentifierInput").then_some("id");
    let parts = input.fields.values().map(|part| &***part);
    parts.filter(move |part| only.is_none_or(|only| part.name.as_str() == only))
}

/// What is sent for a field that must be given and is empty.
fn absent(takes: &Takes<'_>) -> Option<Json> {
    match takes {
        Takes::Text => Some(json!("")),
        Takes::List => Some(json!([])),
        _ => None,
    }
}

/// A value of the API as the text of a field.
fn shown(value: &Json, is_day: bool) -> String {
    match value {
        Json::Null => String::new(),
        Json::Bool(is) => if *is { YES } else { NO }.to_owned(),
        Json::String(text) if is_day => text.get(..10).unwrap_or(text).to_owned(),
        Json::String(text) => text.clone(),
        Json::Array(list) => list.iter().filter_map(Json::as_str).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    }
}

/// The most characters that a description allows: `1 to 255 characters`, `at most 5000 characters`.
fn most(description: &str) -> Option<usize> {
    let before = description.split(" characters").next()?;
    before.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_says_how_long_a_text_may_be() {
        assert_eq!((most("The key, 1 to 64 characters."), most("At most 5000 characters.")), (Some(64), Some(5_000)));
        assert_eq!((most("Whether it counts."), most("")), (None, None));
    }
}
