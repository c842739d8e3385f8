//! Users and their roles. For administrators only.

use std::collections::HashMap;

use async_graphql::MaybeUndefined;
use maud::{Markup, html};
use serde_json::json;

use super::ask::{ask, settled, unanswered};
use super::form::{self, Mistakes, Text};
use super::layout::{Head, page as framed};
use super::operations::users::User;
use super::operations::{
    ChangeUser, DeleteUser, InviteUser, Mistake, UserIdentifierInput, UserInput, UserRole, UserSortEnum, Users,
};
use super::parts::{delete_button, order, pages, sorted};
use super::team_tree::Duties;
use super::visit::{Session, Visit, path};
use super::{Answer, Fault, Site, person};
use crate::entity::audit;
use crate::entity::field_rule::FieldRules;
use crate::entity::user::{self, Role};
use crate::entity::{Timestamp, feed, identity, session, sign_in_link};
use crate::error::Error;
use crate::graphql::field::id;

/// The roles: the API's value, and the label.
const ROLES: &[(UserRole, &str)] = &[
    (UserRole::User, "member: reads and writes the catalogue"),
    (UserRole::Viewer, "viewer: reads the catalogue"),
    (UserRole::TeamMember, "team member: reads the catalogue, and changes their teams and what those own"),
    (UserRole::StandardsAdmin, "standards administrator: a member who also changes levels, categories and checks"),
    (UserRole::Admin, "administrator: also users, tokens and audit"),
];

/// The name of a role, as all pages say it.
pub fn role_name(role: UserRole) -> &'static str {
    let label = ROLES.iter().find(|(known, _)| *known == role).map_or("", |(_, label)| label);
    label.split(':').next().unwrap_or(label)
}

/// A new sign-in link.
struct Link {
    email: String,
    url: String,
}

/// Lists the users, with the form for a new one.
pub async fn page(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    session.require(Role::Admin)?;
    let mut mistakes = Mistakes::none();
    let _: Option<UserSortEnum> = order(visit, &mut mistakes);
    Ok(Answer::checked(&mistakes, show(site, visit, session, &mistakes, None).await?))
}

async fn show(
    site: &Site,
    visit: &Visit,
    session: &Session,
    mistakes: &Mistakes,
    link: Option<Link>,
) -> Result<Markup, Fault> {
    let sort = order(visit, &mut Mistakes::none());
    let users = ask(site, visit, Users { sort, after: visit.query.given("after") }).await?.account.users;
    let roles: Vec<_> = ROLES.iter().map(|(role, text)| (role.to_string(), *text)).collect();
    let roles: Vec<_> = roles.iter().map(|(word, text)| (&**word, *text)).collect();
    let numbers: HashMap<&str, i64> =
        users.nodes.iter().filter_map(|user| Some((&*user.id, id::number::<user::Entity>(&user.id)?))).collect();
    let known = identity::known(site.db.read(), numbers.values().copied()).await?;
    let is_known = |id: &str| numbers.get(id).is_some_and(|number| known.contains(number));
    let own = id::Id::new::<user::Entity>(session.user.id).text();
    let main = html! {
        @if let Some(link) = &link {
            div.notice role="status" {
                p { "A sign-in link for " strong { (link.email) } ". Send it to them. It works once and expires "
                    "after 15 minutes." }
                code.secret data-copy="the link" { (link.url) }
            }
        }
        (mistakes.summary(&["email", "name", "input.name", "input.role"]))
        div.scroll tabindex="0" role="region" aria-label="Users" {
            table {
                thead { tr { (sorted(visit, "/users", "Name", "name", false)) (sorted(visit, "/users", "Email", "email", true)) th scope="col" { "Role" } th scope="col" { "Actions" } } }
                tbody { @for user in &users.nodes {
                    (row(site, user, numbers.get(&*user.id).copied(), user.id == own, is_known(&user.id)))
                } }
            }
        }
        (pages(visit, "/users", &users.page_info))
        (invitation(visit, &roles, mistakes))
        (provider(site))
    };
    let head = Head { actions: html! { a.button href="#invite" { "Invite a user" } }, ..Head::new("Users") };
    Ok(framed(visit, &head, main))
}

/// Says how people sign in, and what to do so that they can use their accounts at work.
fn provider(site: &Site) -> Markup {
    html! {
        section.card #provider {
            h2 { "Sign-in provider" }
            @match &site.openid {
                Some(provider) => p { "People sign in with their account at " (provider.settings().name) "." },
                None => p { "People sign in with one-time links. To let them use their account at work, connect an OpenID "
                    "provider: start the server with " code { "--oidc-issuer" } " and the settings beside it, which "
                    code { "rollcall serve --help" } " lists." },
            }
        }
    }
}

/// The form that invites a user.
fn invitation(visit: &Visit, roles: &[(&str, &str)], mistakes: &Mistakes) -> Markup {
    html! {
        form method="post" action="/users" #invite {
            fieldset {
                legend { "Invite a user" }
                (Text { kind: "email", ..Text::from_rule(user::Entity::rule(user::Column::Email), "Email address",
                        "No email is sent: you get a link to pass on.") }.show(&visit.form, mistakes))
                (Text { required: false, ..Text::from_rule(user::Entity::rule(user::Column::Name), "Name",
                        "Optional. Default: the part before the @.") }.show(&visit.form, mistakes))
                (form::select("role", "Role", "", roles, &visit.form, mistakes))
                button { "Invite" }
            }
        }
    }
}

/// A user's row with its actions. `is_known` means that the user is linked to an account at the OpenID provider.
fn row(site: &Site, user: &User, number: Option<i64>, is_own: bool, is_known: bool) -> Markup {
    html! {
        @let here = |what: &str| path(["users", &user.id, what]);
        tr {
            th scope="row" {
                @match number { Some(number) => a href={ "/users/" (number) } { (user.name) }, None => (user.name) }
                @if is_own { " " span.mark { "you" } }
                @if user.deactivated_at.is_some() { " " span.mark { "deactivated" } }
            }
            td.wide { (user.email) }
            td { form method="post" action=(here("role")) {
                label.hidden for={ "role-" (user.id) } { "Role of " (user.name) }
                select id={ "role-" (user.id) } name="role" {
                    @for (role, _) in ROLES { option value=(role) selected[*role == user.role] { (role_name(*role)) } }
                }
                " " button.quiet { "Change" span.hidden { " the role of " (user.name) } }
            } }
            td.act {
                form method="post" action=(here("link")) { button.quiet { "Sign-in link" span.hidden { " for " (user.name) } } }
                @if let Some(provider) = site.openid.as_ref().filter(|_| is_known) {
                    form method="post" action=(here("forget")) {
                        button.quiet title={ "Let another account at " (provider.settings().name) " sign in as this user" } {
                            "Unlink" span.hidden { " the account of " (user.name) " at " (provider.settings().name) }
                        }
                    }
                }
                @if !is_own {
                    (delete_button(
                        &here("delete"),
                        "Delete",
                        &user.name,
                        "Delete this user? All their sessions end at once.",
                    ))
                }
            }
        }
    }
}

/// Invites a user and shows a sign-in link for them.
pub async fn invite(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    session.require(Role::Admin)?;
    let form = &visit.form;
    let input = UserInput {
        name: form.given("name").map_or(MaybeUndefined::Undefined, MaybeUndefined::Value),
        role: MaybeUndefined::Value(role(visit)?),
        skip_welcome_email: MaybeUndefined::Undefined,
    };
    let invited = ask(site, visit, InviteUser { email: form.get("email"), input }).await?.user_invite;
    let invited = invited.ok_or_else(unanswered)?;
    match (settled(invited.errors), invited.user) {
        (Ok(()), Some(made)) => link(site, visit, session, &made.id).await,
        (Ok(()), None) => Ok(Answer::redirect("/users")),
        (Err(mistakes), _) => Ok(Answer::refused(show(site, visit, session, &mistakes, None).await?)),
    }
}

/// The role in the form.
fn role(visit: &Visit) -> Result<UserRole, Fault> {
    let role = visit.form.get("role").parse();
    role.map_err(|()| Fault::BadRequest("Choose one of the listed roles.".to_owned()))
}

/// Changes a user's role.
pub async fn change_role(site: &Site, visit: &Visit, session: &Session, id: &str) -> Result<Answer, Fault> {
    session.require(Role::Admin)?;
    let own = id::number::<user::Entity>(id) == Some(session.user.id);
    if own && visit.form.get("role") != "admin" {
        let mut mistakes = Mistakes::none();
        mistakes.push("base", "You can't remove your own administrator role. Ask another administrator.");
        return Ok(Answer::refused(show(site, visit, session, &mistakes, None).await?));
    }
    let changed = ask(site, visit, ChangeUser { id, role: role(visit)? }).await?.user_update;
    settle(site, visit, session, changed.map(|done| done.errors)).await
}

/// Deletes a user, whose duties go to the successor in the form. Without one, a user with duties is deleted only by the
/// form that shows them.
pub async fn delete(site: &Site, visit: &Visit, session: &Session, id: &str) -> Result<Answer, Fault> {
    session.require(Role::Admin)?;
    let number = id::number::<user::Entity>(id).ok_or(Fault::NotFound)?;
    let successor = visit.form.given("successor");
    if successor.is_none() && !visit.form.has("anyway") && !duties(site, visit, number).await?.is_empty() {
        let mut mistakes = Mistakes::none();
        mistakes.push("", "First say who takes over, or delete without handing over.");
        return person::refused(site, visit, session, number, &mistakes).await;
    }
    let successor =
        successor.map(|email| UserIdentifierInput { email: MaybeUndefined::Value(email), ..Default::default() });
    let deleted = ask(site, visit, DeleteUser { id, successor }).await?.user_delete;
    match settled(deleted.ok_or_else(unanswered)?.errors) {
        Ok(()) => Ok(Answer::redirect("/users")),
        Err(mistakes) if visit.form.has("successor") => person::refused(site, visit, session, number, &mistakes).await,
        Err(mistakes) => Ok(Answer::refused(show(site, visit, session, &mistakes, None).await?)),
    }
}

/// What the user with this number leads, and is on call for.
pub(super) async fn duties(site: &Site, visit: &Visit, number: i64) -> Result<Duties, Fault> {
    site.reading(visit).await?.required(|db| Duties::read(db, number)).await
}

async fn settle(site: &Site, visit: &Visit, session: &Session, errors: Option<Vec<Mistake>>) -> Result<Answer, Fault> {
    match settled(errors.ok_or_else(unanswered)?) {
        Ok(()) => Ok(Answer::redirect("/users")),
        Err(mistakes) => Ok(Answer::refused(show(site, visit, session, &mistakes, None).await?)),
    }
}

/// Unlinks the user from their account at the OpenID provider, ends their sessions and revokes their feeds. The next
/// person who signs in with the user's address becomes this user.
pub async fn forget(site: &Site, session: &Session, id: &str) -> Result<Answer, Fault> {
    session.require(Role::Admin)?;
    let actor = session.caller().actor;
    let forgotten = site.db.write(async |db| {
        let user = id::require::<user::Entity>(db, id, "id").await?;
        if identity::forget(db, user.id).await? {
            let ended = session::end_all(db, user.id).await?;
            let revoked = feed::revoke_all(db, user.id).await?;
            let detail = json!({ "endedSessions": ended, "revokedFeeds": revoked });
            audit::record(db, &actor, "userIdentityUnlink", user.subject(), &detail).await?;
        }
        Ok::<_, Error>(())
    });
    match forgotten.await {
        Ok(()) => Ok(Answer::redirect("/users")),
        Err(Error::User(_)) => Err(Fault::NotFound),
        Err(error) => Err(error.into()),
    }
}

/// Creates a sign-in link for a user and shows it once.
pub async fn link(site: &Site, visit: &Visit, session: &Session, id: &str) -> Result<Answer, Fault> {
    session.require(Role::Admin)?;
    let actor = session.caller().actor;
    let made = site.db.write(async |db| {
        let user = id::require::<user::Entity>(db, id, "id").await?;
        let key = sign_in_link::create(db, Some(user.id), Timestamp::now()).await?;
        audit::record(db, &actor, "signInLinkCreate", user.subject(), &json!({})).await?;
        Ok::<_, Error>((user.email, key))
    });
    match made.await {
        Ok((email, key)) => {
            let url = site.catalogue.settings().app_url.clone() + &sign_in_link::path(&key);
            let blank = Visit { form: Default::default(), ..visit.clone() };
            Ok(Answer::page(show(site, &blank, session, &Mistakes::none(), Some(Link { email, url })).await?))
        }
        Err(Error::User(errors)) if errors.iter().any(|error| error.path == ["id"]) => Err(Fault::NotFound),
        Err(Error::User(errors)) => Ok(Answer::refused(show(site, visit, session, &errors.into(), None).await?)),
        Err(error) => Err(error.into()),
    }
}
