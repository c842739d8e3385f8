//! The contacts of a service or a team: their list, and the forms that add, change and delete them. Other pages show a
//! contact by [`contact`].

use async_graphql::MaybeUndefined;
use maud::{Markup, html};

use super::ask::{ask, or_null, settled, unanswered};
use super::form::{self, Mistakes};
use super::layout::{Head, below, page as framed};
use super::operations::{
    AddContact, ChangeContact, Contact, ContactCreateInput, ContactType, ContactUpdateInput, ContactsOfService,
    ContactsOfTeam, DeleteContact, OwnerTeam,
};
use super::parts::{delete_button, external_link, short};
use super::rights::{Rights, Thing};
use super::visit::{Fields, Session, Visit, path};
use super::{Answer, Fault, Site};
use catalogue::entity::contact::{Column, Entity};
use catalogue::entity::user::Role;

/// The form's fields below the type: column, label, hint, height.
const SHOWN: [(Column, &str, &str, u8); 3] = [
    (Column::Address, "Address", "An email address, a channel, a handle or a URL.", 1),
    (Column::DisplayName, "Name", "Shown instead of the address.", 1),
    (Column::DisplayType, "Name of the channel", "Shown instead of the type.", 1),
];
/// The field of the checkbox.
const DEFAULT: &str = "makeDefault";

/// The kind of object that has the contacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContactOwner {
    /// A service.
    Service,
    /// A team.
    Team,
}

/// A service or a team with its contacts.
struct Owner {
    kind: ContactOwner,
    id: String,
    name: String,
    /// The path of its page.
    page: String,
    is_locked: bool,
    /// The team that may change them.
    team: Option<OwnerTeam>,
    contacts: Vec<Contact>,
}

/// Shows a contact: a link where its address is one.
pub fn contact(contact: &Contact) -> Markup {
    let Contact { r#type: kind, address, display_name, display_type, .. } = contact;
    let name = display_name.as_deref().unwrap_or(address);
    html! {
        span.soft { (display_type.as_deref().map_or_else(|| channel(*kind).into(), short)) ": " }
        @match kind {
            ContactType::Email => a href={ "mailto:" (address) } { (short(name)) },
            ContactType::Web => (external_link(Some(address), &short(name))),
            _ => { (short(name)) @if display_name.is_some() { " " span.soft { (short(address)) } } },
        }
    }
}

fn channel(kind: ContactType) -> &'static str {
    match kind {
        ContactType::Email => "Email",
        ContactType::Github => "GitHub",
        ContactType::MicrosoftTeams => "Microsoft Teams",
        ContactType::Slack => "Slack",
        ContactType::SlackHandle => "Slack handle",
        ContactType::Web => "Web",
    }
}

/// Lists the contacts, with a form for another.
pub async fn page(site: &Site, visit: &Visit, kind: ContactOwner, alias: &str) -> Result<Answer, Fault> {
    let owner = find(site, visit, kind, alias).await?;
    let rights = Rights::read(site, visit, owner.thing()).await?;
    Ok(Answer::page(list(visit, &owner, &rights, &Mistakes::none())))
}

/// Adds a contact.
pub async fn create(site: &Site, visit: &Visit, kind: ContactOwner, alias: &str) -> Result<Answer, Fault> {
    let owner = find(site, visit, kind, alias).await?;
    let rights = Rights::read(site, visit, owner.thing()).await?;
    rights.to_change()?;
    let form = form::sent::<Entity>(&visit.form);
    let input = ContactCreateInput {
        address: form.get("address"),
        display_name: or_null(form::given::<Entity>(&form, Column::DisplayName)),
        display_type: or_null(form::given::<Entity>(&form, Column::DisplayType)),
        external_id: MaybeUndefined::Undefined,
        owner_id: MaybeUndefined::Value(&owner.id),
        team_alias: MaybeUndefined::Undefined,
        team_id: MaybeUndefined::Undefined,
        r#type: chosen(&visit.form)?,
    };
    let done = ask(site, visit, AddContact { input }).await?.contact_create.ok_or_else(unanswered)?;
    match settled(done.errors) {
        Ok(()) => Ok(Answer::redirect(owner.page + "/contacts")),
        Err(mistakes) => Ok(Answer::refused(list(visit, &owner, &rights, &mistakes))),
    }
}

/// Shows the form of a contact.
pub async fn edit(
    site: &Site,
    visit: &Visit,
    session: &Session,
    (kind, alias): (ContactOwner, &str),
    id: &str,
) -> Result<Answer, Fault> {
    session.require(Role::TeamMember)?;
    let owner = find(site, visit, kind, alias).await?;
    let contact = owner.contact(id)?;
    if !Rights::read(site, visit, owner.thing()).await?.may_change() {
        return Ok(Answer::redirect(owner.page + "/contacts"));
    }
    Ok(Answer::page(edit_form(visit, &owner, contact, &contact.fields(), &Mistakes::none())))
}

/// Changes or deletes a contact.
pub async fn change(
    site: &Site,
    visit: &Visit,
    (kind, alias): (ContactOwner, &str),
    id: &str,
    what: &str,
) -> Result<Answer, Fault> {
    let owner = find(site, visit, kind, alias).await?;
    // Must be a contact of this owner: the form may name any id.
    let contact = owner.contact(id)?;
    Rights::read(site, visit, owner.thing()).await?.to_change()?;
    let form = form::sent::<Entity>(&visit.form);
    let errors = match what {
        "edit" => {
            let input = ContactUpdateInput {
                id,
                address: MaybeUndefined::Value(form.get("address")),
                display_name: or_null(form::given::<Entity>(&form, Column::DisplayName)),
                display_type: or_null(form::given::<Entity>(&form, Column::DisplayType)),
                external_id: MaybeUndefined::Undefined,
                make_default: MaybeUndefined::Value(visit.form.given(DEFAULT).is_some()),
                r#type: MaybeUndefined::Value(chosen(&visit.form)?),
            };
            ask(site, visit, ChangeContact { input }).await?.contact_update.map(|done| done.errors)
        }
        "delete" => ask(site, visit, DeleteContact { id }).await?.contact_delete.map(|done| done.errors),
        _ => return Err(Fault::NotFound),
    };
    match settled(errors.ok_or_else(unanswered)?) {
        Ok(()) => Ok(Answer::redirect(owner.page + "/contacts")),
        Err(mistakes) => {
            let shown = if what == "edit" { visit.form.clone() } else { contact.fields() };
            Ok(Answer::refused(edit_form(visit, &owner, contact, &shown, &mistakes)))
        }
    }
}

async fn find(site: &Site, visit: &Visit, kind: ContactOwner, alias: &str) -> Result<Owner, Fault> {
    Ok(match kind {
        ContactOwner::Service => {
            let found = ask(site, visit, ContactsOfService { alias }).await?.account.service;
            let found = found.ok_or_else(|| Fault::unknown("service", alias))?;
            let page = super::service_name::address(&found.aliases);
            let contacts = found.contacts.unwrap_or_default();
            let team = found.owner;
            Owner { kind, id: found.id, name: found.name, page, is_locked: found.locked, team, contacts }
        }
        ContactOwner::Team => {
            let found =
                ask(site, visit, ContactsOfTeam { alias }).await.map_err(|fault| fault.for_alias("team", alias))?;
            let found = found.account.team.ok_or_else(|| Fault::unknown("team", alias))?;
            let page = path(["teams", &found.alias]);
            let contacts = found.contacts.unwrap_or_default();
            let team = OwnerTeam { id: found.id.clone(), alias: found.alias, name: found.name.clone() };
            Owner { kind, id: found.id, name: found.name, page, is_locked: false, team: Some(team), contacts }
        }
    })
}

impl Owner {
    fn thing(&self) -> Thing<'_> {
        let noun = if self.kind == ContactOwner::Team { "team" } else { "service" };
        Thing { noun, page: self.page.clone(), owner: self.team.as_ref().map(Into::into) }
    }

    fn contact(&self, id: &str) -> Result<&Contact, Fault> {
        self.contacts.iter().find(|contact| contact.id == id).ok_or(Fault::NotFound)
    }
}

impl Contact {
    /// The current values as form fields.
    fn fields(&self) -> Fields {
        Fields::one("type", &self.r#type.to_string())
            .and("address", &self.address)
            .and("displayName", self.display_name.as_deref().unwrap_or_default())
            .and("displayType", self.display_type.as_deref().unwrap_or_default())
    }
}

fn chosen(form: &Fields) -> Result<ContactType, Fault> {
    form.get("type").parse().map_err(|()| Fault::BadRequest("Choose a type of contact.".to_owned()))
}

/// The types of contacts: their words and labels.
pub fn kinds() -> [(String, &'static str); 6] {
    use ContactType::{Email, Github, MicrosoftTeams, Slack, SlackHandle, Web};
    [Slack, SlackHandle, Email, MicrosoftTeams, Github, Web].map(|kind| (kind.to_string(), channel(kind)))
}

fn fields(form: &Fields, mistakes: &Mistakes) -> Markup {
    let kinds = kinds();
    let kinds = kinds.each_ref().map(|(value, label)| (&**value, *label));
    html! {
        (form::select("type", "Type", "", &kinds, form, mistakes))
        (form::entries::<Entity, _>(SHOWN, |_| Vec::new(), form, mistakes))
    }
}

fn list(visit: &Visit, owner: &Owner, rights: &Rights<'_>, mistakes: &Mistakes) -> Markup {
    let Owner { name, page, is_locked, contacts, .. } = owner;
    let may_write = rights.may_change() && !is_locked;
    let main = html! {
        @if *is_locked { div.notice { p { "This service is managed by a service file, so its contacts cannot be changed here." } } } @else { (rights.note()) }
        @if contacts.is_empty() { p.soft { "No contacts yet." } } @else {
            ul.entries { @for one in contacts { li {
                div { (contact(one)) @if one.is_default { " " span.mark.none { "default" } } }
                @if may_write {
                    a.button.quiet href={ (page) (path(["contacts", &one.id])) } { "Edit" span.hidden { " " (short(&one.address)) } }
                    (delete_button(&format!("{page}{}", path(["contacts", &one.id, "delete"])), "Delete", &short(&one.address), "Delete this contact?"))
                }
            } } }
        }
        @if may_write {
            h2 { "New contact" }
            form method="post" action={ (page) "/contacts" } {
                (fields(&visit.form, mistakes))
                button { "Add contact" }
            }
        } @else {
            (mistakes.summary(&[]))
        }
    };
    below(visit, (page, name), &format!("Contacts of {name}"), main)
}

fn edit_form(visit: &Visit, owner: &Owner, contact: &Contact, form: &Fields, mistakes: &Mistakes) -> Markup {
    let list = format!("{}/contacts", owner.page);
    let kind = channel(contact.r#type);
    let main = html! {
        form method="post" action={ (list) (path([&contact.id, "edit"])) } {
            (fields(form, mistakes))
            @if !contact.is_default {
                label.check { input type="checkbox" name=(DEFAULT) value="1"; " Make it the default contact of its type" }
            }
            button { "Save" }
        }
    };
    let title = format!("{kind} contact of {}", owner.name);
    framed(visit, &Head::below(visit, &title, &[(&*owner.page, &*owner.name), (&*list, "Contacts")]), main)
}
