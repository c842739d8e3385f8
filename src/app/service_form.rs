//! The forms that make and change a service. What they send is what was changed, so that the audit says that and no more,
//! and nobody undoes what another did meanwhile.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};

use super::ask::{ask, or_null, settled, unanswered};
use super::form::{self, Area, Mistakes, Text};
use super::layout::layout;
use super::operations::service_to_change::Service;
use super::operations::{
    AddAlias, Choices, CreateService, DeleteAlias, DeleteService, DeleteTag, IdentifierInput, ServiceChoices,
    ServiceCreateInput, ServiceToChange, ServiceUpdateInput, SetTag, UpdateService,
};
use super::parts::{delete_button, short};
use super::services::address;
use super::visit::{Fields, Session, Visit, path};
use super::{Answer, Fault, Site};
use crate::entity::user::Role;

/// The fields, which are called as in the API.
const FIELDS: [&str; 9] =
    ["name", "description", OWNER, "tierAlias", "lifecycleAlias", "language", "framework", "product", "note"];
/// Where the API says that something is wrong with the owner.
const OWNER: &str = "ownerInput.alias";
/// When the service was last changed before the form was shown.
const SEEN: &str = "seen";

/// The form for a new one.
pub async fn new(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    session.require(Role::User)?;
    Ok(Answer::page(new_form(site, visit, &Mistakes::none()).await?))
}

async fn new_form(site: &Site, visit: &Visit, mistakes: &Mistakes) -> Result<Markup, Fault> {
    let choices = ask(site, visit, ServiceChoices).await?.account;
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
    let form = sent(&visit.form);
    let given = |name| form.given(name).map_or(MaybeUndefined::Undefined, MaybeUndefined::Value);
    let input = ServiceCreateInput {
        name: form.get("name"),
        description: given("description"),
        language: given("language"),
        framework: given("framework"),
        product: given("product"),
        note: given("note"),
        tier_alias: given("tierAlias"),
        lifecycle_alias: given("lifecycleAlias"),
        owner_input: given(OWNER).map_value(by_alias),
    };
    let made = ask(site, visit, CreateService { input }).await?.service_create.ok_or_else(unanswered)?;
    match settled(made.errors) {
        Ok(()) => Ok(Answer::redirect(made.service.map_or("/services".to_owned(), |made| address(&made.aliases)))),
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
    let (form, id, now) = (&visit.form, &*service.id, service.fields());
    if what == "edit" {
        let shown = sent(form);
        let again = |mistakes| Ok(Answer::refused(edit_form(visit, &choices, &service, &shown, &mistakes)));
        if form.get(SEEN) != service.timestamps.updated_at.0.to_string() {
            let mut mistakes = Mistakes::none();
            mistakes.push(
                "",
                "Somebody changed this service while you did. Look at it, then save again to have it as below.",
            );
            return again(mistakes);
        }
        let changed: Vec<_> = FIELDS.into_iter().filter(|name| shown.get(name) != now.get(name)).collect();
        if changed.is_empty() {
            return Ok(Answer::redirect(address(&service.aliases)));
        }
        let input = update(id, &changed, &shown);
        let done = ask(site, visit, UpdateService { input }).await?.service_update.ok_or_else(unanswered)?;
        return match settled(done.errors) {
            Ok(()) => Ok(Answer::redirect(address(&done.service.map_or(service.aliases, |one| one.aliases)))),
            Err(mistakes) => again(mistakes),
        };
    }
    let alias = form.get("alias");
    let errors = match what {
        "alias" => ask(site, visit, AddAlias { id, alias }).await?.alias_create.map(|done| done.errors),
        // The names of other services are none of this page's business.
        "alias-delete" if service.managed_aliases.iter().any(|known| known == alias) => {
            ask(site, visit, DeleteAlias { alias }).await?.alias_delete.map(|done| done.errors)
        }
        "tag" => {
            let tag = SetTag { id, key: form.get("key"), value: form.get("value") };
            ask(site, visit, tag).await?.tag_assign.map(|done| done.errors)
        }
        "tag-delete" if service.tags.nodes.iter().any(|tag| tag.id == form.get("id")) => {
            ask(site, visit, DeleteTag { id: form.get("id") }).await?.tag_delete.map(|done| done.errors)
        }
        "delete" => ask(site, visit, DeleteService { id }).await?.service_delete.map(|done| done.errors),
        _ => return Err(Fault::NotFound),
    };
    match settled(errors.ok_or_else(unanswered)?) {
        Ok(()) if what == "delete" => Ok(Answer::redirect("/services")),
        // The first alias follows from the name and stays.
        Ok(()) => {
            Ok(Answer::redirect(format!("{}/edit#{}", address(&service.aliases), what.trim_end_matches("-delete"))))
        }
        Err(mistakes) => Ok(Answer::refused(edit_form(visit, &choices, &service, &now, &mistakes))),
    }
}

async fn find(site: &Site, visit: &Visit, alias: &str) -> Result<(Choices, Service), Fault> {
    let found = ask(site, visit, ServiceToChange { alias }).await?.account;
    Ok((found.choices, found.service.ok_or(Fault::NotFound)?))
}

impl Service {
    /// As the form has it.
    fn fields(&self) -> Fields {
        let texts = [
            Some(self.name.clone()),
            self.description.clone(),
            self.owner.as_ref().map(|owner| owner.alias.clone()),
            self.tier.as_ref().map(|tier| tier.alias.clone()),
            self.lifecycle.as_ref().map(|lifecycle| lifecycle.alias.clone()),
            self.language.clone(),
            self.framework.clone(),
            self.product.clone(),
            self.note.clone(),
        ];
        let fields = FIELDS.into_iter().zip(texts);
        fields.fold(Fields::default(), |fields, (name, text)| fields.and(name, &lines(&text.unwrap_or_default())))
    }
}

/// A text with the line ends of the database: those of forms are others.
fn lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// What a form says of the service.
fn sent(form: &Fields) -> Fields {
    FIELDS.into_iter().fold(Fields::default(), |fields, name| fields.and(name, &lines(form.get(name))))
}

/// The input that changes these fields of the service `id` to what the form says: what is empty is nothing.
fn update<'a>(id: &'a str, changed: &[&str], form: &'a Fields) -> ServiceUpdateInput<'a> {
    let field = |name| if changed.contains(&name) { or_null(form.given(name)) } else { MaybeUndefined::Undefined };
    ServiceUpdateInput {
        id: MaybeUndefined::Value(id),
        alias: MaybeUndefined::Undefined,
        name: field("name"),
        description: field("description"),
        language: field("language"),
        framework: field("framework"),
        product: field("product"),
        note: field("note"),
        tier_alias: field("tierAlias"),
        lifecycle_alias: field("lifecycleAlias"),
        owner_input: field(OWNER).map_value(by_alias),
    }
}

fn by_alias(alias: &str) -> IdentifierInput<'_> {
    IdentifierInput { id: MaybeUndefined::Undefined, alias: MaybeUndefined::Value(alias) }
}

fn fields(choices: &Choices, form: &Fields, mistakes: &Mistakes) -> Markup {
    let text =
        |name, label, hint| Text { name, label, hint, kind: "text", required: name == "name" }.show(form, mistakes);
    let area = |name, label, rows, most| {
        Area { name, label, hint: "Markdown. Addresses become links.", rows, most }.show(form, mistakes)
    };
    let mut tiers = vec![("", "none")];
    tiers.extend(choices.tiers.iter().map(|tier| (&*tier.alias, &*tier.name)));
    let mut lifecycles = vec![("", "none")];
    lifecycles.extend(choices.lifecycles.iter().map(|lifecycle| (&*lifecycle.alias, &*lifecycle.name)));
    let teams = choices.teams.nodes.iter().map(|team| (&*team.alias, &*team.name));
    html! {
        (mistakes.summary(&FIELDS))
        (text("name", "Name", "Its alias follows from it."))
        (area("description", "Description", 3, 5_000))
        (form::suggested(OWNER, "Owner's alias", teams, form, mistakes))
        (form::select("tierAlias", "Tier", "", &tiers, form, mistakes))
        (form::select("lifecycleAlias", "Lifecycle", "", &lifecycles, form, mistakes))
        (text("language", "Language", ""))
        (text("framework", "Framework", ""))
        (text("product", "Product", ""))
        (area("note", "Notes", 6, 50_000))
    }
}

fn edit_form(visit: &Visit, choices: &Choices, service: &Service, form: &Fields, mistakes: &Mistakes) -> Markup {
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
            input type="hidden" name=(SEEN) value=(service.timestamps.updated_at.0);
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
