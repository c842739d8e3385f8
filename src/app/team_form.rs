//! The forms that create and change a team.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};

use super::ask::{ask, by_alias, or_null, settled, unanswered};
use super::form::{self, MARKDOWN, Mistakes, Text};
use super::layout::{below, layout};
use super::offers::{Offered, Offers};
use super::operations::team_to_change::{AccountTeam as Team, TeamMembership};
use super::operations::{
    AddMember, CreateTeam, DeleteTeam, RemoveMember, TeamCreateInput, TeamToChange, TeamUpdateInput, UpdateTeam,
};
use super::picker;
use super::rights::{Owner, Rights, Thing};
use super::team_leaving::{self, Estate};
use super::visit::{Fields, Session, Visit, path};
use super::{Answer, Fault, Site};
use catalogue::entity::field_rule::FieldRules;
use catalogue::entity::team::{Column, Entity};
use catalogue::entity::user::Role;
use catalogue::graphql::field::id;

/// The form's fields from top to bottom: column, label, hint, height.
const SHOWN: [(Column, &str, &str, u8); Entity::FIELDS.len()] = [
    (Column::Name, "Name", "The alias is derived from it.", 1),
    (Column::ManagerId, "Manager (name or email address)", "", 1),
    (Column::ParentTeamId, "Part of (name or alias)", "", 1),
    (Column::Responsibilities, "Responsibilities", MARKDOWN, 5),
];

/// Shows the form for a new team.
pub async fn new(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    session.require(Role::User)?;
    Ok(Answer::page(new_form(site, visit, &Mistakes::none()).await?))
}

async fn new_form(site: &Site, visit: &Visit, mistakes: &Mistakes) -> Result<Markup, Fault> {
    let offers = Offers::read(site, visit, &[Offered::Teams, Offered::People]).await?;
    let main = html! {
        form method="post" action="/new/team" {
            (fields(&offers, &visit.form, mistakes))
            div.save { button { "Create team" } }
        }
    };
    Ok(layout(visit, "New team", main))
}

/// Creates a team.
pub async fn create(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let form = form::sent::<Entity>(&visit.form);
    let field = |column| or_null(form::given::<Entity>(&form, column));
    let input = TeamCreateInput {
        name: form.get("name"),
        manager_email: field(Column::ManagerId),
        responsibilities: field(Column::Responsibilities),
        parent_team: field(Column::ParentTeamId).map_value(by_alias),
        contacts: MaybeUndefined::Undefined,
        members: MaybeUndefined::Undefined,
        group: MaybeUndefined::Undefined,
    };
    let made = ask(site, visit, CreateTeam { input }).await?.team_create.ok_or_else(unanswered)?;
    match settled(made.errors) {
        Ok(()) => Ok(Answer::redirect(made.team.map_or("/teams".to_owned(), |team| address(&team.alias)))),
        Err(mistakes) => Ok(Answer::refused(new_form(site, visit, &mistakes).await?)),
    }
}

/// Shows the form of the team with this alias.
pub async fn edit(site: &Site, visit: &Visit, session: &Session, alias: &str) -> Result<Answer, Fault> {
    session.require(Role::TeamMember)?;
    let team = find(site, visit, alias).await?;
    if !Rights::read(site, visit, team.thing()).await?.may_edit() {
        return Ok(Answer::redirect(address(&team.alias)));
    }
    let shown = picker::spoken(site, visit, team.fields()).await?;
    Ok(Answer::page(edit_form(site, visit, &team, &shown, &Mistakes::none()).await?))
}

/// Changes the team or its members.
pub async fn change(site: &Site, visit: &Visit, alias: &str, what: &str) -> Result<Answer, Fault> {
    let team = find(site, visit, alias).await?;
    Rights::read(site, visit, team.thing()).await?.to_edit()?;
    let (form, id) = (&visit.form, &*team.id);
    let errors = match what {
        "edit" => {
            let form = form::sent::<Entity>(form);
            let field = |column| or_null(form::given::<Entity>(&form, column));
            let input = TeamUpdateInput {
                id: MaybeUndefined::Value(id),
                alias: MaybeUndefined::Undefined,
                name: MaybeUndefined::Value(form.get("name")),
                manager_email: field(Column::ManagerId),
                responsibilities: field(Column::Responsibilities),
                parent_team: field(Column::ParentTeamId).map_value(by_alias),
                members: MaybeUndefined::Undefined,
                group: MaybeUndefined::Undefined,
            };
            ask(site, visit, UpdateTeam { input }).await?.team_update.map(|done| done.errors)
        }
        "member" => {
            let member = AddMember { id, email: form.get("email"), role: form.given("role") };
            ask(site, visit, member).await?.team_membership_create.map(|done| done.errors)
        }
        "member-delete" => {
            let member = RemoveMember { id, user: form.get("id") };
            ask(site, visit, member).await?.team_membership_delete.map(|done| done.errors)
        }
        "delete" => {
            if let Some(refused) = unless_seen(site, visit, &team).await? {
                return Ok(refused);
            }
            let delete = DeleteTeam { id, successor: form.given("successor").map(by_alias) };
            ask(site, visit, delete).await?.team_delete.map(|done| done.errors)
        }
        _ => return Err(Fault::NotFound),
    };
    match settled(errors.ok_or_else(unanswered)?) {
        Ok(()) if what == "delete" => Ok(Answer::redirect("/teams")),
        // Renamed teams keep their old alias.
        Ok(()) if what == "edit" => Ok(Answer::redirect(address(&team.alias))),
        Ok(()) => Ok(Answer::redirect(format!("{}/edit#members", address(&team.alias)))),
        Err(mistakes) => {
            let shown = if what == "edit" { form.clone() } else { team.fields() };
            Ok(Answer::refused(edit_form(site, visit, &team, &shown, &mistakes).await?))
        }
    }
}

/// The form again, if nobody has chosen what becomes of what the team leaves: a team that owns something is deleted only
/// with a successor, or by the form that says what it leaves.
async fn unless_seen(site: &Site, visit: &Visit, team: &Team) -> Result<Option<Answer>, Fault> {
    visit.session.as_ref().ok_or(Fault::SignInFirst)?.require(Role::TeamMember)?;
    if visit.form.given("successor").is_some() || visit.form.has("anyway") {
        return Ok(None);
    }
    let number = id::number::<Entity>(&team.id).unwrap_or_default();
    if site.reading(visit).await?.required(|db| Estate::read(db, number)).await?.is_empty() {
        return Ok(None);
    }
    let mut mistakes = Mistakes::none();
    mistakes.push("", "First say which team takes over, or delete without handing over.");
    Ok(Some(Answer::refused(edit_form(site, visit, team, &team.fields(), &mistakes).await?)))
}

async fn find(site: &Site, visit: &Visit, alias: &str) -> Result<Team, Fault> {
    let found = ask(site, visit, TeamToChange { alias }).await.map_err(|fault| fault.for_alias("team", alias))?;
    found.account.team.ok_or_else(|| Fault::unknown("team", alias))
}

fn address(alias: &str) -> String {
    path(["teams", alias])
}

impl Team {
    fn thing(&self) -> Thing<'_> {
        let owner = Owner { id: &self.id, alias: &self.alias, name: &self.name };
        Thing { noun: "team", page: address(&self.alias), owner: Some(owner) }
    }

    /// The current values as form fields.
    fn fields(&self) -> Fields {
        let texts: [(Column, &str); Entity::FIELDS.len()] = [
            (Column::Name, &self.name),
            (Column::ManagerId, self.manager.as_ref().map_or("", |manager| &manager.email)),
            (Column::ParentTeamId, self.parent_team.as_ref().map_or("", |team| &team.alias)),
            (Column::Responsibilities, self.responsibilities.as_deref().unwrap_or_default()),
        ];
        texts.into_iter().fold(Fields::default(), |fields, (column, text)| {
            fields.and(&form::name_in_form(Entity::rule(column)), text)
        })
    }
}

fn fields(offers: &Offers, form: &Fields, mistakes: &Mistakes) -> Markup {
    let offered = |column: Column| match column {
        Column::ManagerId => offers.owned(Offered::People),
        Column::ParentTeamId => offers.owned(Offered::Teams),
        _ => Vec::new(),
    };
    form::entries::<Entity, _>(SHOWN, offered, form, mistakes)
}

async fn edit_form(
    site: &Site,
    visit: &Visit,
    team: &Team,
    form: &Fields,
    mistakes: &Mistakes,
) -> Result<Markup, Fault> {
    let offers = Offers::read(site, visit, &[Offered::Teams, Offered::People]).await?;
    let number = id::number::<Entity>(&team.id).unwrap_or_default();
    let estate = site.reading(visit).await?.optional(|db| Estate::read(db, number)).await?;
    let (fresh, none) = (Fields::default(), Mistakes::none());
    let to = |what: &str| path(["teams", &team.alias, what]);
    let role = Text { name: "role", label: "Role in the team", hint: "", kind: "text", required: false };
    let main = html! {
        form method="post" action=(to("edit")) {
            (fields(&offers, form, mistakes))
            div.save { button { "Save" } }
        }
        h2 #members { "Members" }
        form method="post" action=(to("member-delete")) { ul { @for TeamMembership { role, user } in &team.memberships.nodes { li {
            bdi { (user.name) } " " span.soft { (user.email) } @if let Some(role) = role { " " span.mark.none { (role) } } " "
            button.quiet name="id" value=(user.id) { "Remove" span.hidden { " " (user.name) } }
        } } } }
        form.filters method="post" action=(to("member")) {
            (offers.show(Offered::People, ("email", "Person (name or email address)", ""), true, (&fresh, &none)))
            (role.show(&fresh, &none))
            button.quiet { "Add member" }
        }
        (team_leaving::section((&team.name, &to("delete")), estate.as_ref(), &offers))
    };
    Ok(below(visit, (&address(&team.alias), &team.name), &format!("Edit {}", team.name), main))
}
