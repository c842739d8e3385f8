//! The parts of the form for a new service that have pages of their own later: a link, a contact, a dependency, a repository
//! and the properties. Each is optional, and folded until it is used. Fields have the names that the API uses for mistakes.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};

use super::ask::{ask, by_alias};
use super::form::{self, Area, Mistakes, Text};
use super::offers::{Offered, Offers};
use super::operations::{
    ContactInput, ContactType, IdentifierInput, PropertiesOfNew, PropertyField, ServiceDependencyInput,
    ServicePropertyInput, ServiceRepositoryInput, ToolCategory, ToolInput,
};
use super::visit::{Fields, Visit};
use super::{Fault, Site, contact_form, property_form, tool_form};
use catalogue::entity::text;

const CATEGORY: &str = "tools.0.category";
const LINK_NAME: &str = "tools.0.displayName";
const URL: &str = "tools.0.url";
const TYPE: &str = "contacts.0.type";
const ADDRESS: &str = "contacts.0.address";
const CONTACT_NAME: &str = "contacts.0.displayName";
const NEEDS: &str = "dependencies.0.service.alias";
const NOTES: &str = "dependencies.0.notes";
const REPOSITORY: &str = "repositories.0.repository.alias";
const FOLDER: &str = "repositories.0.baseDirectory";
/// All fields but those of the properties.
const FIELDS: [&str; 10] = [CATEGORY, LINK_NAME, URL, TYPE, ADDRESS, CONTACT_NAME, NEEDS, NOTES, REPOSITORY, FOLDER];

/// The properties that the form asks for. More are on the page of a service's properties.
pub const PROPERTIES: usize = 30;

/// What the form offers.
pub struct Choices {
    offers: Offers,
    properties: Vec<PropertyField>,
}

/// What the form says, as the API takes it.
pub struct Parts<'f> {
    pub tools: MaybeUndefined<Vec<ToolInput<'f>>>,
    pub contacts: MaybeUndefined<Vec<ContactInput<'f>>>,
    pub dependencies: MaybeUndefined<Vec<ServiceDependencyInput<'f>>>,
    pub repositories: MaybeUndefined<Vec<ServiceRepositoryInput<'f>>>,
    pub properties: MaybeUndefined<Vec<ServicePropertyInput<'f>>>,
}

impl Choices {
    /// Reads what the form offers.
    pub async fn read(site: &Site, visit: &Visit) -> Result<Self, Fault> {
        let offers = Offers::read(site, visit, &[Offered::Services, Offered::Repositories]).await?;
        Ok(Self { offers, properties: properties(site, visit).await? })
    }

    /// The mistakes about other fields.
    pub fn others(&self, mistakes: &Mistakes) -> Mistakes {
        let own: Vec<String> = self.properties.iter().map(property_form::field).collect();
        mistakes.outside(|field| FIELDS.contains(&field) || own.iter().any(|name| name == field))
    }

    /// Shows the parts, those open that say something.
    pub fn show(&self, form: &Fields, mistakes: &Mistakes) -> Markup {
        let line = |name, label, hint, most| {
            Text { name, label, hint, kind: "text", required: false }.show_at_most(most, form, mistakes)
        };
        let links = html! {
            (form::select(CATEGORY, "What the link is for", "", &pairs(&tool_form::categories()), form, mistakes))
            (line(LINK_NAME, "Name of the link", "", text::SHORT))
            (line(URL, "URL of the link", "", text::URL))
        };
        let contacts = html! {
            (form::select(TYPE, "Type of contact", "", &pairs(&contact_form::kinds()), form, mistakes))
            (line(ADDRESS, "Address", "An email address, a channel, a handle or a URL.", text::URL))
            (line(CONTACT_NAME, "Name of the contact", "Shown instead of the address.", text::SHORT))
        };
        let named = |kind, field| self.offers.show(kind, field, false, (form, mistakes));
        let notes = Area {
            name: NOTES,
            label: "Why it needs the other",
            hint: "Why or how this service needs the other.",
            rows: 2,
            most: text::DESCRIPTION,
        };
        let needs = html! {
            (named(Offered::Services, (NEEDS, "The other service (name or alias)", "")))
            (notes.show(form, mistakes))
        };
        let repositories = html! {
            (named(Offered::Repositories, (REPOSITORY, "Repository (name or alias)", "")))
            (line(FOLDER, "Folder", "Where its code is in the repository. Empty for the whole repository.", text::SHORT))
        };
        let own: Vec<String> = self.properties.iter().map(property_form::field).collect();
        let own: Vec<&str> = own.iter().map(|name| &**name).collect();
        let properties = html! {
            @for definition in &self.properties { (property_form::input(definition, form, mistakes)) }
            p.soft { "Other properties, such as those of its type, are set on the service's own page." }
        };
        let group = |title, names: &[&str], chosen, fields| group(title, (names, chosen), fields, (form, mistakes));
        html! {
            (group("A link, such as the runbook", &[LINK_NAME, URL], CATEGORY, links))
            (group("A contact", &[ADDRESS, CONTACT_NAME], TYPE, contacts))
            (group("A dependency", &[NEEDS, NOTES], "", needs))
            (group("A repository", &[REPOSITORY, FOLDER], "", repositories))
            @if !own.is_empty() { (group("Properties", &own, "", properties)) }
        }
    }

    /// The texts of a form that was sent, as the API takes them.
    pub fn texts(&self, form: &Fields) -> Texts {
        let given = self.properties.iter().filter_map(|definition| {
            let text = form::stored(form.given(&property_form::field(definition))?);
            Some((definition.id.clone(), property_form::json(definition, &text)))
        });
        Texts { values: given.collect(), notes: form::stored(form.get(NOTES)) }
    }

    /// Moves the mistakes about properties, which the API tells by their places, to their fields.
    pub fn placed(&self, found: &Mistakes, texts: &Texts) -> Mistakes {
        let mut placed = Mistakes::none();
        for (path, message) in found.all() {
            let place = path.strip_prefix("properties.").and_then(|rest| rest.split('.').next()?.parse::<usize>().ok());
            let id = place.and_then(|place| texts.values.get(place)).map(|(id, _)| id);
            match self.properties.iter().find(|one| Some(&one.id) == id) {
                Some(definition) => placed.push(property_form::field(definition), message),
                None => placed.push(path, message),
            }
        }
        placed
    }
}

/// Texts that a form says in other words than the API.
pub struct Texts {
    /// The ids of properties, and their values as JSON.
    values: Vec<(String, String)>,
    notes: String,
}

impl<'f> Parts<'f> {
    /// Reads the parts of a form that was sent.
    ///
    /// # Errors
    /// A choice is none of those that the form offers, or nothing is named.
    pub fn sent(form: &'f Fields, texts: &'f Texts) -> Result<Self, Mistakes> {
        let mut mistakes = Mistakes::none();
        let is_used = |names: [&str; 2]| names.iter().any(|name| form.given(name).is_some());
        let (mut tools, mut contacts, mut dependencies, mut repositories) = (None, None, None, None);
        if is_used([LINK_NAME, URL]) {
            let environment = MaybeUndefined::Undefined;
            match form.get(CATEGORY).parse::<ToolCategory>() {
                Ok(category) => {
                    tools = Some(ToolInput {
                        category,
                        display_name: form.get(LINK_NAME),
                        environment,
                        url: form.get(URL),
                    });
                }
                Err(()) => mistakes.push(CATEGORY, "Choose what the link is for."),
            }
        }
        if is_used([ADDRESS, CONTACT_NAME]) {
            let display_name = or_absent(form.given(CONTACT_NAME));
            match form.get(TYPE).parse::<ContactType>() {
                Ok(r#type) => contacts = Some(ContactInput { address: form.get(ADDRESS), display_name, r#type }),
                Err(()) => mistakes.push(TYPE, "Choose a type of contact."),
            }
        }
        if is_used([NEEDS, NOTES]) {
            match form.given(NEEDS) {
                Some(named) => {
                    let notes = or_absent(Some(&*texts.notes).filter(|notes| !notes.is_empty()));
                    dependencies = Some(ServiceDependencyInput { service: by_alias(named), notes });
                }
                None => mistakes.push(NEEDS, "Name the other service, or remove the note."),
            }
        }
        if is_used([REPOSITORY, FOLDER]) {
            match form.given(REPOSITORY) {
                Some(named) => {
                    let (base_directory, display_name) = (or_absent(form.given(FOLDER)), MaybeUndefined::Undefined);
                    let repository = by_alias(named);
                    repositories = Some(ServiceRepositoryInput { repository, base_directory, display_name });
                }
                None => mistakes.push(REPOSITORY, "Name the repository, or remove the folder."),
            }
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let properties: Vec<_> = texts.values.iter().map(|(id, value)| property(id, value)).collect();
        Ok(Self {
            tools: or_absent(tools.map(|one| vec![one])),
            contacts: or_absent(contacts.map(|one| vec![one])),
            dependencies: or_absent(dependencies.map(|one| vec![one])),
            repositories: or_absent(repositories.map(|one| vec![one])),
            properties: or_absent(Some(properties).filter(|all| !all.is_empty())),
        })
    }
}

fn or_absent<T>(value: Option<T>) -> MaybeUndefined<T> {
    value.map_or(MaybeUndefined::Undefined, MaybeUndefined::Value)
}

fn property<'f>(id: &'f str, value: &str) -> ServicePropertyInput<'f> {
    let definition = IdentifierInput { id: MaybeUndefined::Value(id), alias: MaybeUndefined::Undefined };
    ServicePropertyInput { definition, value: value.to_owned() }
}

/// The definitions that services of all types can have values for, and people can set.
async fn properties(site: &Site, visit: &Visit) -> Result<Vec<PropertyField>, Fault> {
    let found = ask(site, visit, PropertiesOfNew).await?.account.property_definitions;
    let open = found.nodes.into_iter().filter(|one| one.owner_type.is_none() && property_form::is_open(one));
    Ok(open.take(PROPERTIES).collect())
}

fn pairs(options: &[(impl AsRef<str>, impl AsRef<str>)]) -> Vec<(&str, &str)> {
    options.iter().map(|(value, label)| (value.as_ref(), label.as_ref())).collect()
}

/// A part, open if one of its texts is given or one of its fields is wrong.
fn group(
    title: &str,
    (names, chosen): (&[&str], &str),
    fields: Markup,
    (form, mistakes): (&Fields, &Mistakes),
) -> Markup {
    let is_wrong = |name: &str| !name.is_empty() && mistakes.of_field(name).next().is_some();
    let is_open = is_wrong(chosen) || names.iter().any(|name| form.given(name).is_some() || is_wrong(name));
    html! { details open[is_open] { summary { (title) } (fields) } }
}
