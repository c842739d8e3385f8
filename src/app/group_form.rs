//! The forms that create and change systems and domains, and that add and remove their children.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};

use super::ask::{ask, by_alias, or_null, settled, unanswered};
use super::form::{self, MARKDOWN, Mistakes};
use super::layout::{below, layout};
use super::offers::{Offered, Offers};
use super::operations::domain_to_change::Domain;
use super::operations::system_to_change::System;
use super::operations::{
    AssignService, AssignSystem, CreateDomain, CreateSystem, DeleteDomain, DeleteSystem, DomainInput, DomainToChange,
    Mistake, OwnerId, OwnerTeam, PageInfo, ReleaseService, ReleaseSystem, SystemInput, SystemToChange, UpdateDomain,
    UpdateSystem,
};
use super::parts::{delete_button, pages};
use super::picker;
use super::rights::{self, Rights, Thing};
use super::visit::{Fields, Session, Visit, path};
use super::{Answer, Fault, Site};
use catalogue::entity::field_rule::{FieldRules, Reference};
use catalogue::entity::user::Role;
use catalogue::entity::{domain, system};

/// The form of a system, from top to bottom: column, label, hint, height.
const SYSTEM: [(system::Column, &str, &str, u8); system::Entity::FIELDS.len()] = [
    (system::Column::Name, "Name", "The alias is derived from it.", 1),
    (system::Column::Description, "Description", MARKDOWN, 3),
    (system::Column::OwnerId, "Owner (name or alias)", "", 1),
    (system::Column::DomainId, "Domain (name or alias)", "", 1),
    (system::Column::Note, "Notes", MARKDOWN, 6),
];
/// The form of a domain. Its fields have the same names as a system's.
const DOMAIN: [(domain::Column, &str, &str, u8); domain::Entity::FIELDS.len()] = [
    (domain::Column::Name, "Name", "The alias is derived from it.", 1),
    (domain::Column::Description, "Description", MARKDOWN, 3),
    (domain::Column::OwnerId, "Owner (name or alias)", "", 1),
    (domain::Column::Note, "Notes", MARKDOWN, 6),
];
/// The field for a new child of a system and of a domain: the path that the API uses for mistakes about it.
const CHILD: [&str; 2] = ["childServices.0.alias", "childSystems.0.alias"];

/// The kind of group that a form is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupKind {
    /// A system: a group of services.
    System,
    /// A domain: a group of systems.
    Domain,
}

/// A system or a domain, as its forms need it.
struct Group {
    kind: GroupKind,
    id: String,
    name: String,
    alias: String,
    owner: Option<OwnerTeam>,
    /// The current values as form fields.
    fields: Fields,
    children: Vec<Child>,
    page_info: PageInfo,
}

struct Child {
    id: String,
    name: String,
    alias: String,
}

impl GroupKind {
    /// The first segment of its pages.
    pub fn part(self) -> &'static str {
        match self {
            Self::System => "systems",
            Self::Domain => "domains",
        }
    }

    /// What people call it.
    pub fn noun(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Domain => "domain",
        }
    }

    /// What people call its children.
    pub fn child(self) -> &'static str {
        match self {
            Self::System => "service",
            Self::Domain => "system",
        }
    }
}

/// Shows the form for a new system or domain.
pub async fn new(site: &Site, visit: &Visit, session: &Session, kind: GroupKind) -> Result<Answer, Fault> {
    rights::to_create(site, session).await?;
    Ok(Answer::page(new_form(site, visit, kind, &Mistakes::none()).await?))
}

async fn new_form(site: &Site, visit: &Visit, kind: GroupKind, mistakes: &Mistakes) -> Result<Markup, Fault> {
    let offers = Offers::read(site, visit, &[Offered::Teams, Offered::Domains]).await?;
    let main = html! {
        (rights::own_owner(visit))
        form method="post" action=(path(["new", kind.noun()])) {
            (fields(kind, &offers, &visit.form, mistakes))
            div.save { button { "Create " (kind.noun()) } }
        }
    };
    Ok(layout(visit, &format!("New {}", kind.noun()), main))
}

/// Creates a system or a domain.
pub async fn create(site: &Site, visit: &Visit, kind: GroupKind) -> Result<Answer, Fault> {
    match save(site, visit, kind, None).await? {
        Ok(alias) => Ok(Answer::redirect(alias.map_or_else(|| path([kind.part()]), |alias| address(kind, &alias)))),
        Err(mistakes) => Ok(Answer::refused(new_form(site, visit, kind, &mistakes).await?)),
    }
}

/// Shows the form of the group with this alias.
pub async fn edit(
    site: &Site,
    visit: &Visit,
    session: &Session,
    kind: GroupKind,
    alias: &str,
) -> Result<Answer, Fault> {
    session.require(Role::TeamMember)?;
    let group = find(site, visit, kind, alias).await?;
    let rights = Rights::read(site, visit, group.thing()).await?;
    if !rights.may_edit() {
        return Ok(Answer::redirect(address(kind, &group.alias)));
    }
    let shown = picker::spoken(site, visit, group.fields.clone()).await?;
    Ok(Answer::page(edit_form(site, visit, (&group, &rights), &shown, &Mistakes::none()).await?))
}

/// Changes or deletes a group, or adds or removes a child.
pub async fn change(site: &Site, visit: &Visit, kind: GroupKind, alias: &str, what: &str) -> Result<Answer, Fault> {
    let group = find(site, visit, kind, alias).await?;
    let rights = Rights::read(site, visit, group.thing()).await?;
    rights.to_edit()?;
    let (form, id) = (&visit.form, &*group.id);
    if what == "edit" {
        return match save(site, visit, kind, Some(id)).await? {
            Ok(_) => Ok(Answer::redirect(address(kind, &group.alias))),
            Err(mistakes) => Ok(Answer::refused(edit_form(site, visit, (&group, &rights), form, &mistakes).await?)),
        };
    }
    let errors = match (what, kind) {
        ("child", GroupKind::System) => {
            let assign = AssignService { id, alias: form.get(CHILD[0]) };
            ask(site, visit, assign).await?.system_child_assign.map(|done| done.errors)
        }
        ("child", GroupKind::Domain) => {
            let assign = AssignSystem { id, alias: form.get(CHILD[1]) };
            ask(site, visit, assign).await?.domain_child_assign.map(|done| done.errors)
        }
        // Must be a child of this group: the form may name any id.
        ("child-delete", _) if !group.children.iter().any(|child| child.id == form.get("id")) => {
            return Err(Fault::NotFound);
        }
        ("child-delete", GroupKind::System) => {
            ask(site, visit, ReleaseService { id: form.get("id") }).await?.service_update.map(|done| done.errors)
        }
        ("child-delete", GroupKind::Domain) => {
            ask(site, visit, ReleaseSystem { id: form.get("id") }).await?.system_update.map(|done| done.errors)
        }
        ("delete", GroupKind::System) => {
            ask(site, visit, DeleteSystem { id }).await?.system_delete.map(|done| done.errors)
        }
        ("delete", GroupKind::Domain) => {
            ask(site, visit, DeleteDomain { id }).await?.domain_delete.map(|done| done.errors)
        }
        _ => return Err(Fault::NotFound),
    };
    match settled(errors.ok_or_else(unanswered)?) {
        Ok(()) if what == "delete" => Ok(Answer::redirect(path([kind.part()]))),
        Ok(()) => Ok(Answer::redirect(format!("{}/edit#children", address(kind, &group.alias)))),
        Err(mistakes) => {
            Ok(Answer::refused(edit_form(site, visit, (&group, &rights), &group.fields, &mistakes).await?))
        }
    }
}

/// Creates a group from the form, or changes the one with this id. Returns the alias of a new group.
async fn save(
    site: &Site,
    visit: &Visit,
    kind: GroupKind,
    id: Option<&str>,
) -> Result<Result<Option<String>, Mistakes>, Fault> {
    let form = match kind {
        GroupKind::System => form::sent::<system::Entity>(&visit.form),
        GroupKind::Domain => form::sent::<domain::Entity>(&visit.form),
    };
    let owner = match owner_id(site, visit, form.given("ownerId")).await? {
        Ok(owner) => owner,
        Err(mistakes) => return Ok(Err(mistakes)),
    };
    let name = MaybeUndefined::Value(form.get("name"));
    let (description, note) = (or_null(form.given("description")), or_null(form.given("note")));
    let owner_id = or_null(owner.as_deref());
    let (alias, errors): (Option<Vec<String>>, Option<Vec<Mistake>>) = match kind {
        GroupKind::System => {
            let parent = or_null(form.given("parent.alias")).map_value(by_alias);
            let input = SystemInput { name, description, note, owner_id, parent };
            match id {
                Some(id) => {
                    let done = ask(site, visit, UpdateSystem { id, input }).await?.system_update;
                    (None, done.map(|done| done.errors))
                }
                None => match ask(site, visit, CreateSystem { input }).await?.system_create {
                    Some(done) => (done.system.map(|system| system.aliases), Some(done.errors)),
                    None => (None, None),
                },
            }
        }
        GroupKind::Domain => {
            let input = DomainInput { name, description, note, owner_id };
            match id {
                Some(id) => {
                    let done = ask(site, visit, UpdateDomain { id, input }).await?.domain_update;
                    (None, done.map(|done| done.errors))
                }
                None => match ask(site, visit, CreateDomain { input }).await?.domain_create {
                    Some(done) => (done.domain.map(|domain| domain.aliases), Some(done.errors)),
                    None => (None, None),
                },
            }
        }
    };
    let alias = alias.and_then(|aliases| aliases.into_iter().next());
    Ok(settled(errors.ok_or_else(unanswered)?).map(|()| alias))
}

/// Returns the id of the team with this alias, or the mistake that no team has it.
pub async fn owner_id(
    site: &Site,
    visit: &Visit,
    alias: Option<&str>,
) -> Result<Result<Option<String>, Mistakes>, Fault> {
    let Some(alias) = alias else { return Ok(Ok(None)) };
    let found = match ask(site, visit, OwnerId { alias }).await {
        Ok(found) => found.account.team,
        Err(Fault::NotFound) => None,
        Err(fault) => return Err(fault),
    };
    Ok(found.map(|team| Some(team.id)).ok_or_else(|| {
        let mut mistakes = Mistakes::none();
        mistakes.push("ownerId", Reference::Team.unknown(alias));
        mistakes
    }))
}

async fn find(site: &Site, visit: &Visit, kind: GroupKind, alias: &str) -> Result<Group, Fault> {
    let after = visit.query.given("after");
    Ok(match kind {
        GroupKind::System => {
            let found = ask(site, visit, SystemToChange { alias, after }).await;
            let found = found.map_err(|fault| fault.for_alias("system", alias))?;
            found.account.system.ok_or_else(|| Fault::unknown("system", alias))?.into()
        }
        GroupKind::Domain => {
            let found = ask(site, visit, DomainToChange { alias, after }).await;
            let found = found.map_err(|fault| fault.for_alias("domain", alias))?;
            found.account.domain.ok_or_else(|| Fault::unknown("domain", alias))?.into()
        }
    })
}

impl Group {
    fn thing(&self) -> Thing<'_> {
        let page = address(self.kind, &self.alias);
        Thing { noun: self.kind.noun(), page, owner: self.owner.as_ref().map(Into::into) }
    }
}

impl From<System> for Group {
    fn from(system: System) -> Self {
        let System { id, name, aliases, description, note, owner, parent, child_services } = system;
        let texts = [
            ("name", Some(name.clone())),
            ("description", description),
            ("ownerId", owner.as_ref().map(|owner| owner.alias.clone())),
            ("parent.alias", parent.and_then(|domain| domain.aliases.into_iter().next())),
            ("note", note),
        ];
        let children =
            child_services.nodes.into_iter().map(|one| Child { id: one.id, name: one.name, alias: first(one.aliases) });
        let (children, page_info) = (children.collect(), child_services.page_info);
        let (kind, alias, fields) = (GroupKind::System, first(aliases), filled(texts));
        Self { kind, id, name, alias, owner, fields, children, page_info }
    }
}

impl From<Domain> for Group {
    fn from(domain: Domain) -> Self {
        let Domain { id, name, aliases, description, note, owner, child_systems } = domain;
        let texts = [
            ("name", Some(name.clone())),
            ("description", description),
            ("ownerId", owner.as_ref().map(|owner| owner.alias.clone())),
            ("note", note),
        ];
        let children =
            child_systems.nodes.into_iter().map(|one| Child { id: one.id, name: one.name, alias: first(one.aliases) });
        let (children, page_info) = (children.collect(), child_systems.page_info);
        let (kind, alias, fields) = (GroupKind::Domain, first(aliases), filled(texts));
        Self { kind, id, name, alias, owner, fields, children, page_info }
    }
}

fn first(aliases: Vec<String>) -> String {
    aliases.into_iter().next().unwrap_or_default()
}

fn filled<const N: usize>(texts: [(&str, Option<String>); N]) -> Fields {
    texts.into_iter().fold(Fields::default(), |fields, (name, text)| fields.and(name, &text.unwrap_or_default()))
}

fn address(kind: GroupKind, alias: &str) -> String {
    path([kind.part(), alias])
}

fn fields(kind: GroupKind, offers: &Offers, form: &Fields, mistakes: &Mistakes) -> Markup {
    let of_system = |column: system::Column| match column {
        system::Column::OwnerId => offers.owned(Offered::Teams),
        system::Column::DomainId => offers.owned(Offered::Domains),
        _ => Vec::new(),
    };
    let of_domain = |column: domain::Column| match column {
        domain::Column::OwnerId => offers.owned(Offered::Teams),
        _ => Vec::new(),
    };
    match kind {
        GroupKind::System => form::entries::<system::Entity, _>(SYSTEM, of_system, form, mistakes),
        GroupKind::Domain => form::entries::<domain::Entity, _>(DOMAIN, of_domain, form, mistakes),
    }
}

async fn edit_form(
    site: &Site,
    visit: &Visit,
    (group, rights): (&Group, &Rights<'_>),
    form: &Fields,
    mistakes: &Mistakes,
) -> Result<Markup, Fault> {
    let offered = if group.kind == GroupKind::System { Offered::Services } else { Offered::Systems };
    let offers = Offers::read(site, visit, &[Offered::Teams, Offered::Domains, offered]).await?;
    let Group { kind, name, alias, children, page_info, .. } = group;
    let to = |what: &str| path([kind.part(), alias, what]);
    let (noun, child) = (kind.noun(), kind.child());
    let child_part = if *kind == GroupKind::System { "services" } else { "systems" };
    let field = CHILD[usize::from(*kind == GroupKind::Domain)];
    let label = format!("Another {child} (name or alias)");
    let main = html! {
        (rights.taking())
        form method="post" action=(to("edit")) {
            (fields(*kind, &offers, form, &mistakes.except(field)))
            div.save { button { "Save" } }
        }
        h2 #children { @if *kind == GroupKind::System { "Services" } @else { "Systems" } }
        @if children.is_empty() { p.soft { "No " (child) " belongs to this " (noun) "." } } @else {
            form method="post" action=(to("child-delete")) { ul { @for one in children { li {
                a href=(path([child_part, &one.alias])) { (one.name) } " "
                button.quiet name="id" value=(one.id) { "Remove" span.hidden { " " (one.name) } }
            } } } }
            (pages(visit, &to("edit"), page_info))
        }
        form.filters method="post" action=(to("child")) {
            (offers.show(offered, (field, &label, ""), true, (&visit.form, mistakes)))
            button.quiet { "Add " (child) }
        }
        h2 { "Delete" }
        p { "Its " (child) "s stay, without a " (noun) "." }
        (delete_button(&to("delete"), "Delete", name, &format!("Delete this {noun}?")))
    };
    Ok(below(visit, (&address(*kind, alias), name), &format!("Edit {name}"), main))
}
