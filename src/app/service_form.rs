//! The forms that make and change a service. What they send is what was changed, so that the audit says that and no more,
//! and nobody undoes what another did meanwhile.

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use super::form::{self, Mistakes, Text};
use super::layout::layout;
use super::parts::{Connection, delete_button, short};
use super::services::address;
use super::visit::{Fields, Session, Visit, path};
use super::{Answer, Fault, Site, ask};
use crate::entity::field_rule::{FieldRule, FieldRules};
use crate::entity::service::{Column, Entity};
use crate::entity::user::Role;

/// What a new service can be given.
pub(super) const CHOICES: &str = "
query Choices {
  account { tiers { alias name } lifecycles { alias name } teams(first: 100) { nodes { alias name } } }
}";

/// The same, and what a service has.
pub(super) const ONE: &str = "
query ServiceToChange($alias: String!) {
  account {
    tiers { alias name }
    lifecycles { alias name }
    teams(first: 100) { nodes { alias name } }
    service(alias: $alias) {
      id name aliases managedAliases description language framework product note locked
      owner { alias }
      tier { alias }
      lifecycle { alias }
      timestamps { updatedAt }
      tags(first: 100) { nodes { id key value } }
    }
  }
}";

/// Makes a service.
pub(super) const CREATE: &str = "
mutation CreateService($input: ServiceCreateInput!) {
  done: serviceCreate(input: $input) { service { aliases } errors { message path } }
}";

/// Changes one.
pub(super) const UPDATE: &str = "
mutation UpdateService($input: ServiceUpdateInput!) {
  done: serviceUpdate(input: $input) { service { aliases } errors { message path } }
}";

/// Deletes one.
pub(super) const DELETE: &str = "
mutation DeleteService($id: ID!) { done: serviceDelete(input: { id: $id }) { errors { message path } } }";

/// Gives one an alias.
pub(super) const ADD_ALIAS: &str = "
mutation AddAlias($id: ID!, $alias: String!) {
  done: aliasCreate(input: { ownerId: $id, alias: $alias }) { errors { message path } }
}";

/// Takes an alias away.
pub(super) const DELETE_ALIAS: &str = "
mutation DeleteAlias($alias: String!) {
  done: aliasDelete(input: { ownerType: service, alias: $alias }) { errors { message path } }
}";

/// Sets a tag.
pub(super) const SET_TAG: &str = "
mutation SetTag($id: ID!, $key: String!, $value: String!) {
  done: tagAssign(input: { id: $id, tags: [{ key: $key, value: $value }] }) { errors { message path } }
}";

/// Takes a tag away.
pub(super) const DELETE_TAG: &str = "
mutation DeleteTag($id: ID!) { done: tagDelete(input: { id: $id }) { errors { message path } } }";

#[derive(Deserialize)]
struct Account {
    tiers: Vec<Named>,
    lifecycles: Vec<Named>,
    teams: Connection<Named>,
    service: Option<Service>,
}

#[derive(Deserialize)]
struct Named {
    alias: String,
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Service {
    id: String,
    name: String,
    aliases: Vec<String>,
    managed_aliases: Vec<String>,
    description: Option<String>,
    language: Option<String>,
    framework: Option<String>,
    product: Option<String>,
    note: Option<String>,
    locked: bool,
    owner: Option<Alias>,
    tier: Option<Alias>,
    lifecycle: Option<Alias>,
    timestamps: Timestamps,
    tags: Connection<Tag>,
}

#[derive(Deserialize)]
struct Alias {
    alias: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Timestamps {
    updated_at: String,
}

#[derive(Deserialize)]
struct Tag {
    id: String,
    key: String,
    value: String,
}

#[derive(Deserialize)]
struct Done {
    service: Option<Aliases>,
}

#[derive(Deserialize)]
struct Aliases {
    aliases: Vec<String>,
}

/// What is known before a text of several lines is written.
const MARKDOWN: &str = "Markdown. Addresses become links.";
/// The fields of the form from top to bottom: all that people write of a service. Column, label, hint, height.
const SHOWN: [(Column, &str, &str, u8); Entity::FIELDS.len()] = [
    (Column::Name, "Name", "Its alias follows from it.", 1),
    (Column::Description, "Description", MARKDOWN, 3),
    (Column::OwnerId, "Owner's alias", "", 1),
    (Column::TierId, "Tier", "", 1),
    (Column::LifecycleId, "Lifecycle", "", 1),
    (Column::Language, "Language", "", 1),
    (Column::Framework, "Framework", "", 1),
    (Column::Product, "Product", "", 1),
    (Column::Note, "Notes", MARKDOWN, 6),
];
/// When the service was last changed before the form was shown.
const SEEN: &str = "seen";

/// The form for a new one.
pub async fn new(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    session.require(Role::User)?;
    Ok(Answer::page(new_form(site, visit, &Mistakes::none()).await?))
}

async fn new_form(site: &Site, visit: &Visit, mistakes: &Mistakes) -> Result<Markup, Fault> {
    let choices: Account = ask::query(site, visit, CHOICES, json!({})).await?;
    let main = html! {
        form method="post" action="/new/service" {
            (fields(&choices, &visit.form, mistakes))
            button { "Create service" }
        }
    };
    Ok(layout(visit, "New service", main))
}

/// Makes one.
pub async fn create(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let mut input = form::input(Entity::FIELDS, &visit.form);
    input.retain(|_, value| !value.is_null());
    input.insert("name".to_owned(), visit.form.get("name").into());
    match ask::change::<Done>(site, visit, CREATE, json!({ "input": input })).await? {
        Ok(done) => Ok(Answer::redirect(done.service.map_or("/services".to_owned(), |made| address(&made.aliases)))),
        Err(mistakes) => Ok(Answer::refused(new_form(site, visit, &mistakes).await?)),
    }
}

/// The form of the service with this alias.
pub async fn edit(site: &Site, visit: &Visit, session: &Session, alias: &str) -> Result<Answer, Fault> {
    session.require(Role::User)?;
    let (choices, service) = find(site, visit, alias).await?;
    Ok(Answer::page(edit_form(visit, &choices, &service, &service.fields(), &Mistakes::none())))
}

/// Changes it, or what belongs to it.
pub async fn change(site: &Site, visit: &Visit, alias: &str, what: &str) -> Result<Answer, Fault> {
    let (choices, service) = find(site, visit, alias).await?;
    let (form, id, now) = (&visit.form, &service.id, service.fields());
    if what == "edit" {
        let mut shown = now.clone();
        for rule in Entity::FIELDS {
            let name = form::name_in_form(rule);
            shown = shown.and(&name, &form::stored(form.get(&name)));
        }
        let again = |mistakes| Ok(Answer::refused(edit_form(visit, &choices, &service, &shown, &mistakes)));
        if form.get(SEEN) != service.timestamps.updated_at {
            let mut mistakes = Mistakes::none();
            mistakes.push(
                "",
                "Somebody changed this service while you did. Look at it, then save again to have it as below.",
            );
            return again(mistakes);
        }
        let is_changed = |rule: &&FieldRule<Column>| {
            let name = form::name_in_form(rule);
            shown.get(&name) != now.get(&name)
        };
        let mut input = form::input(Entity::FIELDS.iter().filter(is_changed), &shown);
        if input.is_empty() {
            return Ok(Answer::redirect(address(&service.aliases)));
        }
        input.insert("id".to_owned(), id.as_str().into());
        return match ask::change::<Done>(site, visit, UPDATE, json!({ "input": input })).await? {
            Ok(done) => Ok(Answer::redirect(address(&done.service.map_or(service.aliases, |one| one.aliases)))),
            Err(mistakes) => again(mistakes),
        };
    }
    let (document, variables) = match what {
        "alias" => (ADD_ALIAS, json!({ "id": id, "alias": form.get("alias") })),
        // The names of other services are none of this page's business.
        "alias-delete" if service.managed_aliases.iter().any(|known| known == form.get("alias")) => {
            (DELETE_ALIAS, json!({ "alias": form.get("alias") }))
        }
        "tag" => (SET_TAG, json!({ "id": id, "key": form.get("key"), "value": form.get("value") })),
        "tag-delete" if service.tags.nodes.iter().any(|tag| tag.id == form.get("id")) => {
            (DELETE_TAG, json!({ "id": form.get("id") }))
        }
        "delete" => (DELETE, json!({ "id": id })),
        _ => return Err(Fault::NotFound),
    };
    match ask::change::<Value>(site, visit, document, variables).await? {
        Ok(_) if what == "delete" => Ok(Answer::redirect("/services")),
        // The first alias follows from the name and stays.
        Ok(_) => {
            Ok(Answer::redirect(format!("{}/edit#{}", address(&service.aliases), what.trim_end_matches("-delete"))))
        }
        Err(mistakes) => Ok(Answer::refused(edit_form(visit, &choices, &service, &now, &mistakes))),
    }
}

async fn find(site: &Site, visit: &Visit, alias: &str) -> Result<(Account, Service), Fault> {
    let mut found: Account = ask::query(site, visit, ONE, json!({ "alias": alias })).await?;
    let service = found.service.take().ok_or(Fault::NotFound)?;
    Ok((found, service))
}

impl Service {
    /// As the form has it.
    fn fields(&self) -> Fields {
        let alias = |named: &Option<Alias>| named.as_ref().map(|named| named.alias.clone());
        let texts: [(Column, Option<String>); Entity::FIELDS.len()] = [
            (Column::Name, Some(self.name.clone())),
            (Column::Description, self.description.clone()),
            (Column::OwnerId, alias(&self.owner)),
            (Column::TierId, alias(&self.tier)),
            (Column::LifecycleId, alias(&self.lifecycle)),
            (Column::Language, self.language.clone()),
            (Column::Framework, self.framework.clone()),
            (Column::Product, self.product.clone()),
            (Column::Note, self.note.clone()),
        ];
        texts.into_iter().fold(Fields::default(), |fields, (column, text)| {
            fields.and(&form::name_in_form(Entity::rule(column)), &form::stored(&text.unwrap_or_default()))
        })
    }
}

fn fields(choices: &Account, form: &Fields, mistakes: &Mistakes) -> Markup {
    let named = |all: &'_ [Named]| -> Vec<(String, String)> {
        all.iter().map(|one| (one.alias.clone(), one.name.clone())).collect()
    };
    let graded = |all: &[Named]| [vec![(String::new(), "none".to_owned())], named(all)].concat();
    let choices = |column: Column| match column {
        Column::OwnerId => named(&choices.teams.nodes),
        Column::TierId => graded(&choices.tiers),
        Column::LifecycleId => graded(&choices.lifecycles),
        _ => Vec::new(),
    };
    form::entries::<Entity, _>(SHOWN, choices, form, mistakes)
}

fn edit_form(visit: &Visit, choices: &Account, service: &Service, form: &Fields, mistakes: &Mistakes) -> Markup {
    let first = service.aliases.first().map_or("", String::as_str);
    let to = |what: &str| path(["services", first, what]);
    let title = format!("Edit {}", service.name);
    let back = html! { p { a href=(address(&service.aliases)) { "Back to the service" } } };
    if service.locked {
        return layout(visit, &title, html! { p { "A service file governs this service: change it there." } (back) });
    }
    let main = html! {
        (back)
        form method="post" action=(to("edit")) {
            input type="hidden" name=(SEEN) value=(service.timestamps.updated_at);
            (fields(choices, form, mistakes))
            button { "Save" }
        }
        h2 #alias { "Aliases" }
        p { "Every alias leads to this service: in addresses, in the API, and in the deploys that pipelines post." }
        form method="post" action=(to("alias-delete")) { ul.near { @for alias in &service.aliases { li {
            code.mark.none { (alias) }
            // Those that follow from the name stay.
            @if service.managed_aliases.contains(alias) {
                " " button.quiet name="alias" value=(alias) { "Remove" span.hidden { " the alias " (alias) } }
            }
        } } } }
        form.filters method="post" action=(to("alias")) {
            (Text { name: "alias", label: "Another alias", hint: "", kind: "text", required: true }.show(&Fields::default(), &Mistakes::none()))
            button.quiet { "Add alias" }
        }
        h2 #tag { "Tags" }
        form method="post" action=(to("tag-delete")) { ul.near { @for tag in &service.tags.nodes { li {
            span.mark.none { (tag.key) @if !tag.value.is_empty() { ": " (short(&tag.value)) } } " "
            button.quiet name="id" value=(tag.id) { "Remove" span.hidden { " the tag " (tag.key) } }
        } } } }
        form.filters method="post" action=(to("tag")) {
            (Text { name: "key", label: "Key", hint: "", kind: "text", required: true }.show(&Fields::default(), &Mistakes::none()))
            (Text { name: "value", label: "Value", hint: "", kind: "text", required: false }.show(&Fields::default(), &Mistakes::none()))
            button.quiet { "Set tag" }
        }
        h2 { "Delete" }
        p { "Its aliases and tags go with it. Its deploys stay, under the alias they were sent with." }
        (delete_button(&to("delete"), "Delete", &service.name, "Delete this service, with its aliases and tags?"))
    };
    layout(visit, &title, main)
}
