//! The values of a service for property definitions, each with its own form.

use maud::{Markup, html};
use serde_json::Value;

use super::ask::{ask, settled, unanswered};
use super::form::{self, Area, Mistakes, Text};
use super::layout::layout;
use super::operations::properties_of_service::{Account, Service};
use super::operations::{
    AssignProperty, PropertiesOfService, PropertyDefinitionDisplayTypeEnum as Display, PropertyField,
    PropertyLockedStatusEnum, UnassignProperty,
};
use super::parts::empty;
use super::properties;
use super::services::address;
use super::visit::{Fields, Session, Visit, path};
use super::{Answer, Fault, Site};
use crate::entity::text;
use crate::entity::user::Role;
use crate::json_schema;

/// Lists the definitions that the service can have values for, with its values.
pub async fn page(site: &Site, visit: &Visit, session: &Session, alias: &str) -> Result<Answer, Fault> {
    let (service, definitions) = find(site, visit, alias).await?;
    let may_write = session.user.role >= Role::TeamMember;
    Ok(Answer::page(list(visit, &service, &definitions, may_write, &Mistakes::none())))
}

/// Sets the value for a definition, or clears it if the field is empty.
pub async fn change(site: &Site, visit: &Visit, alias: &str, id: &str) -> Result<Answer, Fault> {
    let (service, definitions) = find(site, visit, alias).await?;
    let definition = definitions.iter().find(|definition| definition.id == id).ok_or(Fault::NotFound)?;
    if !is_open(definition) {
        return Err(Fault::BadRequest("This property can only be set through the API.".to_owned()));
    }
    let given = form::stored(visit.form.get(&field(definition)));
    let errors = if !text::is_nothing(&given) {
        let value = json(definition, &given);
        let assign = AssignProperty { owner: &service.id, definition: id, value };
        ask(site, visit, assign).await?.property_assign.map(|done| done.errors)
    } else if current(&service, definition).is_some() {
        let unassign = UnassignProperty { owner: &service.id, definition: id };
        ask(site, visit, unassign).await?.property_unassign.map(|done| done.errors)
    } else {
        Some(Vec::new())
    };
    match settled(errors.ok_or_else(unanswered)?) {
        Ok(()) => Ok(Answer::redirect(address(&service.aliases) + "/properties")),
        Err(mistakes) => {
            // Mistakes about parts of the value belong to its one field.
            let mut own = Mistakes::none();
            mistakes.messages().for_each(|message| own.push(field(definition), message));
            Ok(Answer::refused(list(visit, &service, &definitions, true, &own)))
        }
    }
}

async fn find(site: &Site, visit: &Visit, alias: &str) -> Result<(Service, Vec<PropertyField>), Fault> {
    let Account { service, property_definitions } = ask(site, visit, PropertiesOfService { alias }).await?.account;
    let mut service = service.ok_or_else(|| Fault::unknown("service", alias))?;
    let of_type = std::mem::take(&mut service.r#type.properties.nodes);
    let of_all_types = property_definitions.nodes.into_iter().filter(|definition| definition.owner_type.is_none());
    Ok((service, of_all_types.chain(of_type).collect()))
}

/// The name of a definition's form field.
fn field(definition: &PropertyField) -> String {
    format!("value-{}", definition.id)
}

fn is_open(definition: &PropertyField) -> bool {
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
fn json(definition: &PropertyField, given: &str) -> String {
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

fn input(definition: &PropertyField, form: &Fields, mistakes: &Mistakes) -> Markup {
    let (name, label) = (&*field(definition), &*definition.name);
    let hint = definition.description.as_deref().unwrap_or_default();
    let words = definition.schema.as_ref().and_then(|schema| schema.get("enum")).and_then(Value::as_array);
    match definition.display_type {
        Display::Boolean => {
            form::select(name, label, hint, &[("", "none"), ("true", "yes"), ("false", "no")], form, mistakes)
        }
        Display::Dropdown => {
            let words: Vec<String> = words.into_iter().flatten().map(|word| shown(definition, word)).collect();
            let mut options = vec![("", "none")];
            options.extend(words.iter().map(|word| (&**word, &**word)));
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

fn list(
    visit: &Visit,
    service: &Service,
    definitions: &[PropertyField],
    may_write: bool,
    mistakes: &Mistakes,
) -> Markup {
    let page = address(&service.aliases);
    let may_write = may_write && !service.locked;
    let main = html! {
        p { a href=(page) { "Back to the service" } }
        @if service.locked {
            div.notice { p { "This service is managed by a service file, so its properties cannot be changed here." } }
        }
        @if definitions.is_empty() {
            (empty("No properties yet.", html! {
                p { "Define properties through the API, with " code { "propertyDefinitionCreate" } "." }
            }))
        }
        @for definition in definitions {
            @let value = current(service, definition);
            @let name = field(definition);
            @if may_write && is_open(definition) {
                form.entry method="post" action={ (page) (path(["properties", &definition.id])) } {
                    // A refused value is shown again.
                    @let sent = visit.form.given(&name).is_some();
                    @let form = if sent { visit.form.clone() } else {
                        Fields::one(&name, &value.as_ref().map_or_else(String::new, |value| shown(definition, value)))
                    };
                    (input(definition, &form, mistakes))
                    button.quiet { "Save" span.hidden { " " (definition.name) } }
                }
            } @else {
                dl.facts {
                    dt { (definition.name) }
                    dd { @match &value { Some(value) => (properties::value(value)), None => span.soft { "none" } }
                        @if !is_open(definition) { " " span.soft { "set through the API only" } } }
                }
            }
        }
    };
    layout(visit, &format!("Properties of {}", service.name), main)
}
