//! The form with the values of a service for property definitions.

use std::hash::{DefaultHasher, Hash, Hasher};

use maud::{Markup, html};
use serde_json::Value;

use super::ask::{ask, settled, unanswered};
use super::form::{self, Area, Mistakes, Text};
use super::layout::below;
use super::operations::properties_of_service::{Account, Service};
use super::operations::{
    AssignProperty, PropertiesOfService, PropertyDefinitionDisplayTypeEnum as Display, PropertyField,
    PropertyLockedStatusEnum, UnassignProperty,
};
use super::parts::empty;
use super::properties;
use super::rights::{Rights, Thing};
use super::service_name::address;
use super::visit::{Fields, Visit};
use super::{Answer, Fault, Site};
use catalogue::entity::text;
use catalogue::entity::user::Role;
use catalogue::json_schema;

/// Lists the definitions that the service can have values for, with its values.
pub async fn page(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let (service, definitions) = find(site, visit, alias).await?;
    let rights = Rights::read(site, visit, service.thing()).await?;
    Ok(Answer::page(list(visit, &service, &definitions, &rights, &Mistakes::none())))
}

/// Sets the values that the user changed, and clears those whose field is empty.
pub async fn change(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let (service, definitions) = find(site, visit, alias).await?;
    let rights = Rights::read(site, visit, service.thing()).await?;
    rights.to_change()?;
    let mut mistakes = Mistakes::none();
    for definition in definitions.iter().filter(|definition| has_changed(definition, &visit.form)) {
        if !is_open(definition) {
            return Err(Fault::BadRequest("This property can only be set through the API.".to_owned()));
        }
        // Mistakes about parts of a value belong to its one field.
        for message in set(site, visit, &service, definition).await?.messages() {
            mistakes.push(field(definition), message);
        }
    }
    match mistakes.is_empty() {
        true => Ok(Answer::redirect(address(&service.aliases) + "/properties")),
        false => Ok(Answer::refused(list(visit, &service, &definitions, &rights, &mistakes))),
    }
}

/// Whether the form has a value for the definition that differs from the one it was shown with. A value that someone
/// else changed meanwhile stays, unless the user changed it too.
fn has_changed(definition: &PropertyField, form: &Fields) -> bool {
    let name = field(definition);
    form.has(&name) && form.given(&seen(definition)) != Some(&*fingerprint(&form::stored(form.get(&name))))
}

async fn set(site: &Site, visit: &Visit, service: &Service, definition: &PropertyField) -> Result<Mistakes, Fault> {
    let given = form::stored(visit.form.get(&field(definition)));
    let errors = if !text::is_nothing(&given) {
        let value = json(definition, &given);
        let assign = AssignProperty { owner: &service.id, definition: &definition.id, value };
        ask(site, visit, assign).await?.property_assign.map(|done| done.errors)
    } else if current(service, definition).is_some() {
        let unassign = UnassignProperty { owner: &service.id, definition: &definition.id };
        ask(site, visit, unassign).await?.property_unassign.map(|done| done.errors)
    } else {
        Some(Vec::new())
    };
    Ok(settled(errors.ok_or_else(unanswered)?).err().unwrap_or_default())
}

/// The name of the hidden field with the fingerprint of a value when the form was shown.
fn seen(definition: &PropertyField) -> String {
    format!("seen-{}", definition.id)
}

/// A short text that differs for different values. It only saves work, so it need not resist an attacker.
fn fingerprint(value: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text::trim(value).hash(&mut hasher);
    format!("{:x}", hasher.finish())
}

async fn find(site: &Site, visit: &Visit, alias: &str) -> Result<(Service, Vec<PropertyField>), Fault> {
    let Account { service, property_definitions } = ask(site, visit, PropertiesOfService { alias }).await?.account;
    let mut service = service.ok_or_else(|| Fault::unknown("service", alias))?;
    let of_type = std::mem::take(&mut service.r#type.properties.nodes);
    let of_all_types = property_definitions.nodes.into_iter().filter(|definition| definition.owner_type.is_none());
    Ok((service, of_all_types.chain(of_type).collect()))
}

impl Service {
    fn thing(&self) -> Thing<'_> {
        Thing { noun: "service", page: address(&self.aliases), owner: self.owner.as_ref().map(Into::into) }
    }
}

/// The name of a definition's form field.
pub fn field(definition: &PropertyField) -> String {
    format!("value-{}", definition.id)
}

/// Whether people set it by a form.
pub fn is_open(definition: &PropertyField) -> bool {
    definition.locked_status == PropertyLockedStatusEnum::Unlocked
}

/// The service's current value.
fn current(service: &Service, definition: &PropertyField) -> Option<Value> {
    let own = service.properties.nodes.iter().find(|property| property.definition.id == definition.id)?;
    serde_json::from_str(&own.value).ok()
}

/// Whether people write the value as plain text instead of JSON.
fn is_text(definition: &PropertyField) -> bool {
    let schema = definition.schema.as_ref();
    schema.and_then(|schema| schema.get("type")).and_then(Value::as_str) == Some("string")
}

/// Converts the text of a field to JSON. If the schema allows any type, text that is not JSON becomes a string.
pub fn json(definition: &PropertyField, given: &str) -> String {
    let text = || Value::from(given).to_string();
    let is_json = serde_json::from_str::<serde::de::IgnoredAny>(given).is_ok();
    let allows_any = definition.schema.as_ref().is_none_or(|schema| schema.get("type").is_none());
    if is_text(definition) || allows_any && !is_json { text() } else { given.to_owned() }
}

/// Formats a value for its form field.
fn shown(definition: &PropertyField, value: &Value) -> String {
    match value {
        Value::String(text) if is_text(definition) => text.clone(),
        other => other.to_string(),
    }
}

/// Shows the field of a property.
pub fn input(definition: &PropertyField, form: &Fields, mistakes: &Mistakes) -> Markup {
    let (name, label) = (&*field(definition), &*definition.name);
    let hint = definition.description.as_deref().unwrap_or_default();
    let words = definition.schema.as_ref().and_then(|schema| schema.get("enum")).and_then(Value::as_array);
    match definition.display_type {
        Display::Boolean => {
            form::select(name, label, hint, &[("", "none"), ("true", "yes"), ("false", "no")], form, mistakes)
        }
        Display::Dropdown => {
            let option = |word: &Value| (shown(definition, word), properties::plain(word));
            let words: Vec<(String, String)> = words.into_iter().flatten().map(option).collect();
            let mut options = vec![("", "none")];
            options.extend(words.iter().map(|(value, label)| (&**value, &**label)));
            form::select(name, label, hint, &options, form, mistakes)
        }
        Display::Array | Display::Object => {
            let hint = &*format!("{hint} As JSON.");
            Area { name, label, hint: hint.trim_start(), rows: 3, most: json_schema::VALUE }.show(form, mistakes)
        }
        Display::Number | Display::Text => {
            Text { name, label, hint, kind: "text", required: false }.show(form, mistakes)
        }
    }
}

/// The field of a property. A value that was sent is shown again.
fn entry(visit: &Visit, service: &Service, definition: &PropertyField, mistakes: &Mistakes) -> Markup {
    let name = field(definition);
    let stored = current(service, definition).map_or_else(String::new, |value| shown(definition, &value));
    let form = if visit.form.has(&name) { visit.form.clone() } else { Fields::one(&name, &stored) };
    html! {
        input type="hidden" name=(seen(definition)) value=(fingerprint(&stored));
        (input(definition, &form, mistakes))
    }
}

fn list(
    visit: &Visit,
    service: &Service,
    definitions: &[PropertyField],
    rights: &Rights<'_>,
    mistakes: &Mistakes,
) -> Markup {
    let page = address(&service.aliases);
    let may_write = rights.may_change() && !service.locked;
    let main = html! {
        @if service.locked {
            div.notice { p { "This service is managed by a service file, so its properties cannot be changed here." } }
        } @else {
            (rights.note())
        }
        @if definitions.is_empty() {
            (empty("No properties yet.", html! {
                p { "Properties are defined for all services on the page " a href="/definitions" { "Definitions" } "." }
                @if visit.session.as_ref().is_some_and(|session| session.user.role >= Role::User) {
                    p { a.button href="/new/property-definition" { "New property" } }
                }
            }))
        }
        @let (open, shut): (Vec<_>, Vec<_>) = definitions.iter().partition(|one| may_write && is_open(one));
        @if !open.is_empty() {
            form.entry method="post" action={ (page) "/properties" } {
                @for definition in open { (entry(visit, service, definition, mistakes)) }
                button { "Save" }
            }
        }
        @if !shut.is_empty() {
            dl.facts { @for definition in shut {
                dt { (definition.name) }
                dd { @match current(service, definition) { Some(value) => (properties::value(&value)), None => span.soft { "none" } }
                    @if !is_open(definition) { " " span.soft { "set through the API only" } } }
            } }
        }
    };
    below(visit, (&page, &service.name), &format!("Properties of {}", service.name), main)
}
