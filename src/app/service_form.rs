//! The forms that create and change a service. An update contains only the fields that the user changed. So the audit
//! shows exactly those, and concurrent changes to other fields are not undone.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};

use super::ask::{ask, by_alias, or_null, settled, unanswered};
use super::form::{self, MARKDOWN, Mistakes, Text};
use super::layout::{below, layout};
use super::operations::service_to_change::Service;
use super::operations::{
    AddAlias, Choices, CreateService, DeleteAlias, DeleteService, DeleteTag, ServiceChoices, ServiceCreateInput,
    ServiceToChange, ServiceUpdateInput, SetTag, UpdateService,
};
use super::parts::{delete_button, short};
use super::picker;
use super::rights::{self, Rights, Thing};
use super::service_name::address;
use super::service_parts::{self, Parts};
use super::visit::{Fields, Session, Visit, path};
use super::{Answer, Fault, Site};
use catalogue::entity::field_rule::FieldRules;
use catalogue::entity::service::{Column, Entity};
use catalogue::entity::user::Role;

/// The form's fields from top to bottom: column, label, hint, height.
const SHOWN: [(Column, &str, &str, u8); Entity::FIELDS.len()] = [
    (Column::Name, "Name", "The alias is derived from it.", 1),
    (Column::Description, "Description", MARKDOWN, 3),
    (Column::OwnerId, "Owner (name or alias)", "", 1),
    (Column::TierId, "Tier", "", 1),
    (Column::LifecycleId, "Lifecycle", "", 1),
    (Column::SystemId, "System (name or alias)", "", 1),
    (Column::TypeId, "Type", "", 1),
    (Column::Language, "Language", "", 1),
    (Column::Framework, "Framework", "", 1),
    (Column::Product, "Product", "", 1),
    (
        Column::ApiDocumentUrl,
        "URL of the API document",
        "rollcall reads it about every hour. Your administrator decides from which hosts.",
        1,
    ),
    (Column::Note, "Notes", MARKDOWN, 6),
];
/// The hidden field with the service's `updatedAt` when the form was shown.
const SEEN: &str = "seen";

/// Shows the form for a new service.
pub async fn new(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    rights::to_create(site, session).await?;
    let parts = service_parts::Choices::read(site, visit).await?;
    Ok(Answer::page(new_form(site, visit, &parts, &Mistakes::none()).await?))
}

async fn new_form(
    site: &Site,
    visit: &Visit,
    parts: &service_parts::Choices,
    mistakes: &Mistakes,
) -> Result<Markup, Fault> {
    let choices = ask(site, visit, ServiceChoices).await?.account;
    let main = html! {
        (rights::own_owner(visit))
        form method="post" action="/new/service" {
            (fields(&choices, &visit.form, &parts.others(mistakes)))
            (parts.show(&visit.form, mistakes))
            div.save { button { "Create service" } }
        }
    };
    Ok(layout(visit, "New service", main))
}

/// Creates a service with its first parts: all of it, or nothing.
pub async fn create(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let choices = service_parts::Choices::read(site, visit).await?;
    let texts = choices.texts(&visit.form);
    let parts = match Parts::sent(&visit.form, &texts) {
        Ok(parts) => parts,
        Err(mistakes) => return Ok(Answer::refused(new_form(site, visit, &choices, &mistakes).await?)),
    };
    let form = form::sent::<Entity>(&visit.form);
    let given = |column| match form::given::<Entity>(&form, column) {
        Some(said) => MaybeUndefined::Value(said),
        None => MaybeUndefined::Undefined,
    };
    let input = ServiceCreateInput {
        name: form.get("name"),
        description: given(Column::Description),
        language: given(Column::Language),
        framework: given(Column::Framework),
        product: given(Column::Product),
        note: given(Column::Note),
        api_document_url: given(Column::ApiDocumentUrl),
        tier_alias: given(Column::TierId),
        lifecycle_alias: given(Column::LifecycleId),
        owner_input: given(Column::OwnerId).map_value(by_alias),
        parent: given(Column::SystemId).map_value(by_alias),
        r#type: given(Column::TypeId).map_value(by_alias),
        tools: parts.tools,
        contacts: parts.contacts,
        dependencies: parts.dependencies,
        repositories: parts.repositories,
        properties: parts.properties,
        owner_alias: MaybeUndefined::Undefined,
        skip_aliases_validation: MaybeUndefined::Undefined,
    };
    let made = ask(site, visit, CreateService { input }).await?.service_create.ok_or_else(unanswered)?;
    match settled(made.errors) {
        Ok(()) => Ok(Answer::redirect(made.service.map_or("/services".to_owned(), |made| address(&made.aliases)))),
        Err(mistakes) => {
            let mistakes = choices.placed(&mistakes, &texts);
            Ok(Answer::refused(new_form(site, visit, &choices, &mistakes).await?))
        }
    }
}

/// Shows the form of the service with this alias.
pub async fn edit(site: &Site, visit: &Visit, session: &Session, alias: &str) -> Result<Answer, Fault> {
    session.require(Role::TeamMember)?;
    let (choices, service) = find(site, visit, alias).await?;
    let rights = Rights::read(site, visit, service.thing()).await?;
    if !rights.may_edit() {
        return Ok(Answer::redirect(address(&service.aliases)));
    }
    let shown = picker::spoken(site, visit, service.fields()).await?;
    Ok(Answer::page(edit_form(visit, &choices, (&service, &rights), &shown, &Mistakes::none())))
}

/// Changes the service, its aliases or its tags.
pub async fn change(site: &Site, visit: &Visit, alias: &str, what: &str) -> Result<Answer, Fault> {
    let (choices, service) = find(site, visit, alias).await?;
    let rights = Rights::read(site, visit, service.thing()).await?;
    rights.to_edit()?;
    let (form, id, now) = (&visit.form, &*service.id, service.fields());
    if what == "edit" {
        let shown = form::sent::<Entity>(form);
        let again = |mistakes| Ok(Answer::refused(edit_form(visit, &choices, (&service, &rights), &shown, &mistakes)));
        if form.get(SEEN) != service.timestamps.updated_at.0.to_string() {
            let mut mistakes = Mistakes::none();
            mistakes.push(
                "",
                "Someone else changed this service meanwhile. Check it, then save again to keep the values below.",
            );
            return again(mistakes);
        }
        if Entity::FIELDS.iter().map(form::name_in_form).all(|name| shown.get(&name) == now.get(&name)) {
            return Ok(Answer::redirect(address(&service.aliases)));
        }
        let input = update(id, &now, &shown);
        let done = ask(site, visit, UpdateService { input }).await?.service_update.ok_or_else(unanswered)?;
        return match settled(done.errors) {
            Ok(()) => Ok(Answer::redirect(address(&done.service.map_or(service.aliases, |one| one.aliases)))),
            Err(mistakes) => again(mistakes),
        };
    }
    let alias = form.get("alias");
    let errors = match what {
        "alias" => ask(site, visit, AddAlias { id, alias }).await?.alias_create.map(|done| done.errors),
        // This page does not delete aliases of other services.
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
        Err(mistakes) => Ok(Answer::refused(edit_form(visit, &choices, (&service, &rights), &now, &mistakes))),
    }
}

async fn find(site: &Site, visit: &Visit, alias: &str) -> Result<(Choices, Service), Fault> {
    let found = ask(site, visit, ServiceToChange { alias }).await?.account;
    Ok((found.choices, found.service.ok_or_else(|| Fault::unknown("service", alias))?))
}

impl Service {
    fn thing(&self) -> Thing<'_> {
        Thing { noun: "service", page: address(&self.aliases), owner: self.owner.as_ref().map(Into::into) }
    }

    /// The current values as form fields.
    fn fields(&self) -> Fields {
        let texts: [(Column, Option<String>); Entity::FIELDS.len()] = [
            (Column::Name, Some(self.name.clone())),
            (Column::Description, self.description.clone()),
            (Column::OwnerId, self.owner.as_ref().map(|owner| owner.alias.clone())),
            (Column::TierId, self.tier.as_ref().map(|tier| tier.alias.clone())),
            (Column::LifecycleId, self.lifecycle.as_ref().map(|lifecycle| lifecycle.alias.clone())),
            (Column::SystemId, self.parent.as_ref().and_then(|system| system.aliases.first().cloned())),
            (Column::TypeId, self.r#type.aliases.first().filter(|_| !self.r#type.is_default).cloned()),
            (Column::Language, self.language.clone()),
            (Column::Framework, self.framework.clone()),
            (Column::Product, self.product.clone()),
            (Column::ApiDocumentUrl, self.api_document_url.clone()),
            (Column::Note, self.note.clone()),
        ];
        texts.into_iter().fold(Fields::default(), |fields, (column, text)| {
            fields.and(&form::name_in_form(Entity::rule(column)), &form::stored(&text.unwrap_or_default()))
        })
    }
}

/// The input that changes the service from `had` to `says`. An empty field becomes null.
fn update<'a>(id: &'a str, had: &Fields, says: &'a Fields) -> ServiceUpdateInput<'a> {
    let field = |column| match form::given::<Entity>(says, column) {
        said if said == form::given::<Entity>(had, column) => MaybeUndefined::Undefined,
        said => or_null(said),
    };
    ServiceUpdateInput {
        id: MaybeUndefined::Value(id),
        alias: MaybeUndefined::Undefined,
        name: field(Column::Name),
        description: field(Column::Description),
        language: field(Column::Language),
        framework: field(Column::Framework),
        product: field(Column::Product),
        note: field(Column::Note),
        api_document_url: field(Column::ApiDocumentUrl),
        tier_alias: field(Column::TierId),
        lifecycle_alias: field(Column::LifecycleId),
        owner_input: field(Column::OwnerId).map_value(by_alias),
        parent: field(Column::SystemId).map_value(by_alias),
        r#type: field(Column::TypeId).map_value(by_alias),
        owner_alias: MaybeUndefined::Undefined,
        skip_aliases_validation: MaybeUndefined::Undefined,
    }
}

fn fields(choices: &Choices, form: &Fields, mistakes: &Mistakes) -> Markup {
    let none = || (String::new(), "none".to_owned());
    let choices = |column: Column| match column {
        Column::OwnerId => choices.teams.nodes.iter().map(|team| (team.alias.clone(), team.name.clone())).collect(),
        Column::TierId => {
            let tiers = choices.tiers.iter().map(|tier| (tier.alias.clone(), tier.name.clone()));
            [none()].into_iter().chain(tiers).collect()
        }
        Column::LifecycleId => {
            let stages = choices.lifecycles.iter().map(|stage| (stage.alias.clone(), stage.name.clone()));
            [none()].into_iter().chain(stages).collect()
        }
        Column::SystemId => {
            let systems = choices.systems.nodes.iter();
            systems.filter_map(|system| Some((system.aliases.first()?.clone(), system.name.clone()))).collect()
        }
        Column::TypeId => {
            let types = || choices.component_types.nodes.iter();
            let default = types().find(|one| one.is_default).map_or("the default type", |one| &*one.name);
            let others = types().filter(|one| !one.is_default);
            let others = others.filter_map(|one| Some((one.aliases.first()?.clone(), one.name.clone())));
            let mut offered: Vec<(String, String)> =
                [(String::new(), default.to_owned())].into_iter().chain(others).collect();
            // What was sent or stored stays, whatever it is.
            let own = form.get(&form::name_in_form(Entity::rule(column)));
            if offered.iter().all(|(alias, _)| alias != own) {
                offered.push((own.to_owned(), own.to_owned()));
            }
            offered
        }
        _ => Vec::new(),
    };
    form::entries::<Entity, _>(SHOWN, choices, form, mistakes)
}

fn edit_form(
    visit: &Visit,
    choices: &Choices,
    (service, rights): (&Service, &Rights<'_>),
    form: &Fields,
    mistakes: &Mistakes,
) -> Markup {
    let first = service.aliases.first().map_or("", String::as_str);
    let to = |what: &str| path(["services", first, what]);
    let title = format!("Edit {}", service.name);
    let here = address(&service.aliases);
    let above = (&*here, &*service.name);
    if service.locked {
        let text = "This service is managed by a service file. Change it there.";
        return below(visit, above, &title, html! { p { (text) } });
    }
    let main = html! {
        (rights.taking())
        form method="post" action=(to("edit")) {
            input type="hidden" name=(SEEN) value=(service.timestamps.updated_at.0);
            (fields(choices, form, mistakes))
            div.save { button { "Save" } }
        }
        h2 #alias { "Aliases" }
        p { "Every alias refers to this service: in URLs, in the API and in the deploys that pipelines post." }
        form method="post" action=(to("alias-delete")) { ul.near { @for alias in &service.aliases { li {
            code.mark.none { (alias) }
            // Aliases derived from the name cannot be removed.
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
        p { "This also deletes its aliases and tags. Its deploys stay, under the alias they were sent with." }
        (delete_button(&to("delete"), "Delete", &service.name, "Delete this service, with its aliases and tags?"))
    };
    below(visit, above, &title, main)
}
