//! The forms of property definitions.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};
use serde_json::Value;

use super::HERE;
use super::uses::{self, Uses};
use crate::ask::{ask, or_null, settled, unanswered};
use crate::form::{self, Area, Mistakes, Text};
use crate::layout::{Head, page as framed};
use crate::operations::property_definition_to_change::PropertyDefinition;
use crate::operations::{
    ChangePropertyDefinition, CreatePropertyDefinition, DeletePropertyDefinition, PropertyDefinitionInput,
    PropertyDefinitionToChange, PropertyDisplayStatusEnum, PropertyLockedStatusEnum,
};
use crate::visit::{Fields, Visit, path};
use crate::{Answer, Fault, Site};
use catalogue::entity::{property_definition, text};
use catalogue::graphql::field::id;
use catalogue::json_schema;

/// The fields of the form, by the paths that the API uses for mistakes about them.
const NAME: &str = "name";
const DESCRIPTION: &str = "description";
const SCHEMA: &str = "schema";
const LOCKED: &str = "lockedStatus";
const DISPLAYED: &str = "propertyDisplayStatus";
const IN_FILES: &str = "allowedInConfigFiles";
const SHOWN: [&str; 6] = [NAME, DESCRIPTION, SCHEMA, LOCKED, DISPLAYED, IN_FILES];

/// The words of a flag.
const YES: &str = "yes";
const NO: &str = "no";

impl PropertyDefinition {
    /// The number of its row.
    fn number(&self) -> i64 {
        id::number::<property_definition::Entity>(&self.id).unwrap_or_default()
    }

    /// Its values as form fields.
    fn fields(&self) -> Fields {
        let schema = self.schema.as_ref().and_then(|schema| serde_json::to_string_pretty(schema).ok());
        Fields::one(NAME, &self.name)
            .and(DESCRIPTION, self.description.as_deref().unwrap_or_default())
            .and(SCHEMA, &schema.unwrap_or_default())
            .and(LOCKED, &self.locked_status.to_string())
            .and(DISPLAYED, &self.property_display_status.to_string())
            .and(IN_FILES, if self.allowed_in_config_files { YES } else { NO })
    }
}

/// The values of a new one's form.
fn usual() -> Fields {
    Fields::one(SCHEMA, "{\"type\": \"string\"}")
        .and(LOCKED, &PropertyLockedStatusEnum::Unlocked.to_string())
        .and(DISPLAYED, &PropertyDisplayStatusEnum::Visible.to_string())
        .and(IN_FILES, YES)
}

/// What a form says, beside its texts.
struct Given {
    description: String,
    schema: Value,
    locked: PropertyLockedStatusEnum,
    displayed: PropertyDisplayStatusEnum,
    in_files: bool,
}

impl Given {
    /// Reads the form. What it does not say is as usual.
    fn read(form: &Fields) -> Result<Self, Mistakes> {
        let mut mistakes = Mistakes::none();
        let schema = match form::stored(form.untrimmed(SCHEMA)) {
            empty if empty.is_empty() => {
                mistakes.push(SCHEMA, "must be given");
                Value::Null
            }
            text => serde_json::from_str(&text).unwrap_or_else(|error| {
                mistakes.push(SCHEMA, format!("is not JSON: {error}"));
                Value::Null
            }),
        };
        let locked = form.given(LOCKED).map_or(Ok(PropertyLockedStatusEnum::Unlocked), str::parse);
        let displayed = form.given(DISPLAYED).map_or(Ok(PropertyDisplayStatusEnum::Visible), str::parse);
        let unknown = "must be one of the words that are offered";
        if locked.is_err() {
            mistakes.push(LOCKED, unknown);
        }
        if displayed.is_err() {
            mistakes.push(DISPLAYED, unknown);
        }
        let description = form::stored(form.untrimmed(DESCRIPTION));
        let in_files = form.get(IN_FILES) != NO;
        match (locked, displayed, mistakes.is_empty()) {
            (Ok(locked), Ok(displayed), true) => Ok(Self { description, schema, locked, displayed, in_files }),
            _ => Err(mistakes),
        }
    }

    /// The input. A schema that says what the `present` one says is left out, so that no other spelling is a change.
    fn input<'g>(&'g self, name: &'g str, present: Option<&Value>) -> PropertyDefinitionInput<'g> {
        let schema = match present {
            Some(present) if *present == self.schema => MaybeUndefined::Undefined,
            _ => MaybeUndefined::Value(self.schema.clone()),
        };
        PropertyDefinitionInput {
            allowed_in_config_files: MaybeUndefined::Value(self.in_files),
            description: or_null(Some(&*self.description).filter(|text| !text.is_empty())),
            locked_status: MaybeUndefined::Value(self.locked),
            name: MaybeUndefined::Value(name),
            property_display_status: MaybeUndefined::Value(self.displayed),
            schema,
        }
    }
}

/// Shows the form for a new one.
pub fn new(visit: &Visit) -> Answer {
    Answer::page(new_form(visit, &usual(), &Mistakes::none()))
}

/// Creates one.
pub async fn create(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let given = match Given::read(&visit.form) {
        Ok(given) => given,
        Err(mistakes) => return Ok(Answer::refused(new_form(visit, &visit.form, &mistakes))),
    };
    let input = given.input(visit.form.get(NAME), None);
    let done = ask(site, visit, CreatePropertyDefinition { input }).await?.property_definition_create;
    match settled(done.ok_or_else(unanswered)?.errors) {
        Ok(()) => Ok(Answer::redirect(HERE)),
        Err(mistakes) => Ok(Answer::refused(new_form(visit, &visit.form, &mistakes))),
    }
}

/// Shows the form of one.
pub async fn edit(site: &Site, visit: &Visit, id: &str) -> Result<Answer, Fault> {
    let own = find(site, visit, id).await?;
    Ok(Answer::page(edit_form(site, visit, &own, &own.fields(), &Mistakes::none()).await?))
}

/// Changes one.
pub async fn change(site: &Site, visit: &Visit, id: &str) -> Result<Answer, Fault> {
    let own = find(site, visit, id).await?;
    let done = match Given::read(&visit.form) {
        Ok(given) => {
            let input = given.input(visit.form.get(NAME), own.schema.as_ref());
            let done = ask(site, visit, ChangePropertyDefinition { id, input }).await?.property_definition_update;
            settled(done.ok_or_else(unanswered)?.errors)
        }
        Err(mistakes) => Err(mistakes),
    };
    match done {
        Ok(()) => Ok(Answer::redirect(HERE)),
        Err(mistakes) => Ok(Answer::refused(edit_form(site, visit, &own, &visit.form, &mistakes).await?)),
    }
}

/// Deletes one.
pub async fn delete(site: &Site, visit: &Visit, id: &str) -> Result<Answer, Fault> {
    let own = find(site, visit, id).await?;
    let done = ask(site, visit, DeletePropertyDefinition { id }).await?.property_definition_delete;
    match settled(done.ok_or_else(unanswered)?.errors) {
        Ok(()) => Ok(Answer::redirect(HERE)),
        Err(mistakes) => Ok(Answer::refused(edit_form(site, visit, &own, &own.fields(), &mistakes).await?)),
    }
}

async fn find(site: &Site, visit: &Visit, id: &str) -> Result<PropertyDefinition, Fault> {
    let found = ask(site, visit, PropertyDefinitionToChange { id }).await?;
    found.account.property_definition.ok_or(Fault::NotFound)
}

fn fields(is_new: bool, form: &Fields, mistakes: &Mistakes) -> Markup {
    let choice = |name, label, options: &[(&str, &str)]| form::select(name, label, "", options, form, mistakes);
    let hint = if is_new { "The alias is derived from it." } else { "The alias stays." };
    let schema = match is_new {
        true => "As JSON. Such as {\"type\": \"string\"}, or {\"enum\": [\"yes\", \"no\"]} for a choice.",
        false => "As JSON. Values that it does not allow are kept, and say so.",
    };
    let name = Text { name: NAME, label: "Name", hint, kind: "text", required: true };
    html! {
        (mistakes.summary(&SHOWN))
        (name.show(form, mistakes))
        (Area { name: DESCRIPTION, label: "Description", hint: "", rows: 3, most: text::DESCRIPTION }.show(form, mistakes))
        (Area { name: SCHEMA, label: "JSON Schema of its values", hint: schema, rows: 8, most: json_schema::SCHEMA }
            .show(form, mistakes))
        (choice(LOCKED, "Who sets its values", &[("unlocked", "people on pages, and programs"), ("ui_locked", "programs only")]))
        (choice(DISPLAYED, "On pages", &[("visible", "shown"), ("hidden", "hidden")]))
        (choice(IN_FILES, "In service files", &[(YES, "can be set"), (NO, "cannot be set")]))
    }
}

fn new_form(visit: &Visit, form: &Fields, mistakes: &Mistakes) -> Markup {
    let main = html! {
        p { "A property says something about services, in addition to their built-in fields." }
        form method="post" action="/new/property-definition" {
            (fields(true, form, mistakes))
            button { "Create property" }
        }
    };
    framed(visit, &Head::with_parent("New property", HERE, "Definitions"), main)
}

async fn edit_form(
    site: &Site,
    visit: &Visit,
    own: &PropertyDefinition,
    form: &Fields,
    mistakes: &Mistakes,
) -> Result<Markup, Fault> {
    let (number, alias) = (own.number(), &*own.alias);
    let reading = site.reading(visit).await?;
    let uses = reading.optional(|db| Uses::of_definition(db, number, alias)).await?;
    let to = |what: &str| path(["definitions", "properties", &own.id, what]);
    let main = html! {
        p.soft { "Its alias is " code { (own.alias) }
            @if let Some(of) = &own.component_type { ". Only services of the type " (of.name) " have it" } "." }
        form method="post" action=(to("edit")) {
            (fields(false, form, mistakes))
            button { "Save" }
        }
        (uses::section(uses.as_ref(), &to("delete"), ("property", &own.name), "Delete this property, with all its values?"))
    };
    Ok(framed(visit, &Head::with_parent(&format!("Edit {}", own.name), HERE, "Definitions"), main))
}
