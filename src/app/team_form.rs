//! The forms that make and change a team.

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use super::form::{self, Mistakes, Text};
use super::layout::layout;
use super::parts::{Connection, delete_button};
use super::visit::{Fields, Session, Visit, path};
use super::{Answer, Fault, Site, ask};
use crate::entity::field_rule::FieldRules;
use crate::entity::team::{Column, Entity};
use crate::entity::user::Role;

/// What a team has.
pub(super) const ONE: &str = "
query TeamToChange($alias: String!) {
  account {
    team(alias: $alias) {
      id name alias responsibilities
      manager { email }
      memberships(first: 100) { nodes { role user { id name email } } }
    }
  }
}";

/// Makes a team.
pub(super) const CREATE: &str = "
mutation CreateTeam($input: TeamCreateInput!) {
  done: teamCreate(input: $input) { team { alias } errors { message path } }
}";

/// Changes one.
pub(super) const UPDATE: &str = "
mutation UpdateTeam($input: TeamUpdateInput!) {
  done: teamUpdate(input: $input) { team { alias } errors { message path } }
}";

/// Deletes one.
pub(super) const DELETE: &str = "
mutation DeleteTeam($id: ID!) { done: teamDelete(input: { id: $id }) { errors { message path } } }";

/// Takes somebody in, or gives a member another role.
pub(super) const ADD_MEMBER: &str = "
mutation AddMember($id: ID!, $email: String!, $role: String) {
  done: teamMembershipCreate(input: { teamId: $id, members: [{ user: { email: $email }, role: $role }] }) {
    errors { message path }
  }
}";

/// Lets a member go.
pub(super) const REMOVE_MEMBER: &str = "
mutation RemoveMember($id: ID!, $user: ID!) {
  done: teamMembershipDelete(input: { teamId: $id, members: [{ user: { id: $user } }] }) { errors { message path } }
}";

#[derive(Deserialize)]
struct Found {
    team: Option<Team>,
}

#[derive(Deserialize)]
struct Team {
    id: String,
    name: String,
    alias: String,
    responsibilities: Option<String>,
    manager: Option<Address>,
    memberships: Connection<Membership>,
}

#[derive(Deserialize)]
struct Address {
    email: String,
}

#[derive(Deserialize)]
struct Membership {
    role: Option<String>,
    user: Member,
}

#[derive(Deserialize)]
struct Member {
    id: String,
    name: String,
    email: String,
}

#[derive(Deserialize)]
struct Done {
    team: Option<Alias>,
}

#[derive(Deserialize)]
struct Alias {
    alias: String,
}

/// The fields of the form from top to bottom: all that people write of a team. Column, label, hint, height.
const SHOWN: [(Column, &str, &str, u8); Entity::FIELDS.len()] = [
    (Column::Name, "Name", "Its alias follows from it.", 1),
    (Column::ManagerId, "Email address of who leads it", "A user of this installation.", 1),
    (Column::Responsibilities, "Responsibilities", "Markdown. Addresses become links.", 5),
];

/// The form for a new one.
pub fn new(visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    session.require(Role::User)?;
    Ok(Answer::page(new_form(visit, &Mistakes::none())))
}

fn new_form(visit: &Visit, mistakes: &Mistakes) -> Markup {
    let main = html! {
        form method="post" action="/new/team" {
            (fields(&visit.form, mistakes))
            button { "Create team" }
        }
    };
    layout(visit, "New team", main)
}

/// Makes one.
pub async fn create(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    match ask::change::<Done>(site, visit, CREATE, json!({ "input": input(&visit.form) })).await? {
        Ok(done) => Ok(Answer::redirect(done.team.map_or("/teams".to_owned(), |team| address(&team.alias)))),
        Err(mistakes) => Ok(Answer::refused(new_form(visit, &mistakes))),
    }
}

/// The form of the team with this alias.
pub async fn edit(site: &Site, visit: &Visit, session: &Session, alias: &str) -> Result<Answer, Fault> {
    session.require(Role::User)?;
    let team = find(site, visit, alias).await?;
    Ok(Answer::page(edit_form(visit, &team, &team.fields(), &Mistakes::none())))
}

/// Changes it, or who belongs to it.
pub async fn change(site: &Site, visit: &Visit, alias: &str, what: &str) -> Result<Answer, Fault> {
    let team = find(site, visit, alias).await?;
    let (form, id) = (&visit.form, &team.id);
    let (document, variables) = match what {
        "edit" => {
            let mut input = input(form);
            input["id"] = id.as_str().into();
            (UPDATE, json!({ "input": input }))
        }
        "member" => (ADD_MEMBER, json!({ "id": id, "email": form.get("email"), "role": form.given("role") })),
        "member-delete" => (REMOVE_MEMBER, json!({ "id": id, "user": form.get("id") })),
        "delete" => (DELETE, json!({ "id": id })),
        _ => return Err(Fault::NotFound),
    };
    match ask::change::<Value>(site, visit, document, variables).await? {
        Ok(_) if what == "delete" => Ok(Answer::redirect("/teams")),
        // An old alias stays valid.
        Ok(_) if what == "edit" => Ok(Answer::redirect(address(&team.alias))),
        Ok(_) => Ok(Answer::redirect(format!("{}/edit#members", address(&team.alias)))),
        Err(mistakes) => {
            let shown = if what == "edit" { form.clone() } else { team.fields() };
            Ok(Answer::refused(edit_form(visit, &team, &shown, &mistakes)))
        }
    }
}

async fn find(site: &Site, visit: &Visit, alias: &str) -> Result<Team, Fault> {
    let found: Found = ask::query(site, visit, ONE, json!({ "alias": alias })).await?;
    found.team.ok_or(Fault::NotFound)
}

fn address(alias: &str) -> String {
    path(["teams", alias])
}

impl Team {
    /// As the form has it.
    fn fields(&self) -> Fields {
        let texts: [(Column, &str); Entity::FIELDS.len()] = [
            (Column::Name, &self.name),
            (Column::ManagerId, self.manager.as_ref().map_or("", |manager| &manager.email)),
            (Column::Responsibilities, self.responsibilities.as_deref().unwrap_or_default()),
        ];
        texts.into_iter().fold(Fields::default(), |fields, (column, text)| fields.and(Entity::rule(column).name, text))
    }
}

/// The input of a mutation: what is empty is nothing, but for the name.
fn input(form: &Fields) -> Value {
    let mut input = form::input(Entity::FIELDS, form);
    input.insert("name".to_owned(), form.get("name").into());
    input.into()
}

fn fields(form: &Fields, mistakes: &Mistakes) -> Markup {
    form::entries::<Entity, _>(SHOWN, |_| Vec::new(), form, mistakes)
}

fn edit_form(visit: &Visit, team: &Team, form: &Fields, mistakes: &Mistakes) -> Markup {
    let to = |what: &str| path(["teams", &team.alias, what]);
    let text = |name, label, kind, required| {
        Text { name, label, hint: "", kind, required }.show(&Fields::default(), &Mistakes::none())
    };
    let main = html! {
        p { a href=(address(&team.alias)) { "Back to the team" } }
        form method="post" action=(to("edit")) {
            (fields(form, mistakes))
            button { "Save" }
        }
        h2 #members { "Members" }
        form method="post" action=(to("member-delete")) { ul { @for Membership { role, user } in &team.memberships.nodes { li {
            bdi { (user.name) } " " span.soft { (user.email) } @if let Some(role) = role { " " span.mark.none { (role) } } " "
            button.quiet name="id" value=(user.id) { "Remove" span.hidden { " " (user.name) } }
        } } } }
        form.filters method="post" action=(to("member")) {
            (text("email", "Email address", "email", true))
            (text("role", "Role in the team", "text", false))
            button.quiet { "Add member" }
        }
        h2 { "Delete" }
        p { "Its services stay, without an owner." }
        (delete_button(&to("delete"), "Delete", &team.name, "Delete this team?"))
    };
    layout(visit, &format!("Edit {}", team.name), main)
}
