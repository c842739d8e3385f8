//! Users and their roles. For administrators only.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};
use sea_orm::ActiveEnum;
use serde_json::json;

use super::ask::{ask, settled, unanswered};
use super::form::{self, Mistakes, Text};
use super::layout::{Head, page as framed};
use super::operations::users::User;
use super::operations::{
    ChangeUser, DeleteUser, InviteUser, Mistake, UserIdentifierInput, UserInput, UserRole, UserSortEnum, Users,
};
use super::parts::{count, count_to_most, delete_button, empty, order, pages, sort_link, time};
use super::roles::{ROLES, role_name};
use super::team_tree::Duties;
use super::visit::{Session, Visit, path};
use super::{Answer, Fault, Site, people, person};
use catalogue::entity::audit;
use catalogue::entity::field_rule::FieldRules;
use catalogue::entity::user::{self, Role};
use catalogue::entity::{Timestamp, feed, identity, session, sign_in_link, text};
use catalogue::error::Error;
use catalogue::graphql::field::id;

/// The most users that a search lists.
pub const FOUND: usize = 50;
/// How many teams of a user are named. The others are counted.
const TEAMS: usize = 3;

/// A user, as the list shows them.
struct Listed {
    id: String,
    name: String,
    email: String,
    role: UserRole,
    last_sign_in: Option<Timestamp>,
    is_deactivated: bool,
}

impl Listed {
    fn number(&self) -> Option<i64> {
        id::number::<user::Entity>(&self.id)
    }
}

impl From<User> for Listed {
    fn from(user: User) -> Self {
        let User { id, name, email, role, last_sign_in_at, deactivated_at } = user;
        let last_sign_in = last_sign_in_at.map(|moment| moment.0);
        Self { id, name, email, role, last_sign_in, is_deactivated: deactivated_at.is_some() }
    }
}

impl From<user::Model> for Listed {
    fn from(user: user::Model) -> Self {
        let is_deactivated = !user.is_active();
        // The API's words of roles are those that are stored.
        let role = user.role.to_value().parse().unwrap_or(UserRole::Viewer);
        let id = id::Id::new::<user::Entity>(user.id).text();
        Self { id, name: user.name, email: user.email, role, last_sign_in: user.last_sign_in_at, is_deactivated }
    }
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
    if let Some(fault) = text::fault(visit.query.get("q"), text::SHORT) {
        mistakes.push("q", format!("The text {fault}."));
    }
    Ok(Answer::checked(&mistakes, show(site, visit, session, &mistakes, None).await?))
}

async fn show(
    site: &Site,
    visit: &Visit,
    session: &Session,
    mistakes: &Mistakes,
    link: Option<Link>,
) -> Result<Markup, Fault> {
    let (users, number, links) = list(site, visit).await?;
    let roles: Vec<_> = ROLES.iter().map(|(role, text)| (role.to_string(), *text)).collect();
    let roles: Vec<_> = roles.iter().map(|(word, text)| (&**word, *text)).collect();
    let numbers: Vec<i64> = users.iter().filter_map(Listed::number).collect();
    let known = identity::known(site.db.read(), numbers.iter().copied()).await?;
    let teams = site.reading(visit).await?.optional(|db| people::teams(db, &numbers)).await?;
    let own = id::Id::new::<user::Entity>(session.user.id).text();
    let main = html! {
        @if let Some(link) = &link {
            div.notice role="status" {
                p { "A sign-in link for " strong { (link.email) } ". Send it to them. It works once and expires "
                    "after 15 minutes." }
                code.secret data-copy="the link" { (link.url) }
            }
        }
        (mistakes.summary(&["q", "email", "name", "input.name", "input.role"]))
        (search(visit, mistakes))
        @if users.is_empty() {
            (empty("Nobody matches.", html! { p { "Try another name, or fewer letters. " a href="/users" { "All users" } } }))
        } @else {
            p.soft role="status" { (number) }
            div.scroll tabindex="0" role="region" aria-label="Users" {
                table.lined {
                    thead { (heads(visit)) }
                    tbody { @for user in &users {
                        @let number = user.number();
                        @let of_user = teams.as_ref().map(|teams| number.and_then(|number| teams.get(&number)));
                        (row(site, user, of_user, user.id == own, number.is_some_and(|number| known.contains(&number))))
                    } }
                }
            }
        }
        (links)
        (invitation(visit, &roles, mistakes))
        (provider(site))
    };
    let head = Head { actions: html! { a.button href="#invite" { "Invite a user" } }, ..Head::new("Users") };
    Ok(framed(visit, &head, main))
}

/// The users of the address, how many there are, and the links to more: those that a search finds, or a page of all.
async fn list(site: &Site, visit: &Visit) -> Result<(Vec<Listed>, Markup, Markup), Fault> {
    let Some(term) = visit.query.given("q") else {
        let sort = order(visit, &mut Mistakes::none());
        let users = ask(site, visit, Users { sort, after: visit.query.given("after") }).await?.account.users;
        let links = pages(visit, "/users", &users.page_info);
        let number = html! { (count_to_most(users.total_count, "user")) };
        return Ok((users.nodes.into_iter().map(Listed::from).collect(), number, links));
    };
    if text::fault(term, text::SHORT).is_some() {
        return Ok((Vec::new(), html! {}, html! {}));
    }
    let mut found = site.reading(visit).await?.required(|db| people::find_all(db, term)).await?;
    let all = found.len();
    found.truncate(FOUND);
    let number = html! {
        (count(i64::try_from(all).unwrap_or(i64::MAX), "result"))
        @if all > FOUND { ". The best " (FOUND) " are listed." }
        " " a href="/users" { "All users" }
    };
    Ok((found.into_iter().map(Listed::from).collect(), number, html! {}))
}

fn search(visit: &Visit, mistakes: &Mistakes) -> Markup {
    let field = Text { name: "q", label: "Name or email address", hint: "", kind: "search", required: false };
    html! {
        form.filters.one method="get" action="/users" role="search" {
            (field.show(&visit.query, mistakes))
            button { "Search" }
        }
    }
}

/// The headings of the list. What a search finds is in the order of the matches.
fn heads(visit: &Visit) -> Markup {
    let is_search = visit.query.given("q").is_some();
    let (by_name, name) = sort_link(visit, "/users", ("Name", "name"));
    let (by_email, email) = sort_link(visit, "/users", ("Email", "email"));
    html! {
        tr {
            @if is_search { th scope="col" { "Name, email" } }
            @else { th scope="col" aria-sort=[by_name.or(by_email)] { (name) ", " (email) } }
            th scope="col" { "Role" } th.roomy scope="col" { "Teams" } th.wide scope="col" { "Last sign-in" }
            th scope="col" { "Actions" }
        }
    }
}

/// The first teams of a user.
fn teams_of(teams: &[(String, String)]) -> Markup {
    html! {
        @for (index, (alias, name)) in teams.iter().take(TEAMS).enumerate() {
            @if index > 0 { ", " }
            a href=(path(["teams", alias])) { (name) }
        }
        @if teams.len() > TEAMS { " and " (teams.len() - TEAMS) " more" }
    }
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
                div.pair {
                    (Text { kind: "email", ..Text::from_rule(user::Entity::rule(user::Column::Email), "Email address",
                            "No email is sent: you get a link to pass on.") }.show(&visit.form, mistakes))
                    (Text { required: false, ..Text::from_rule(user::Entity::rule(user::Column::Name), "Name",
                            "Optional. Default: the part before the @.") }.show(&visit.form, mistakes))
                }
                (form::select("role", "Role", "", roles, &visit.form, mistakes))
                button { "Invite" }
            }
        }
    }
}

/// A user's row, with its actions behind a word. Without `teams`, they were not read. `is_known` means that the user is
/// linked to an account at the OpenID provider.
fn row(
    site: &Site,
    user: &Listed,
    teams: Option<Option<&Vec<(String, String)>>>,
    is_own: bool,
    is_known: bool,
) -> Markup {
    html! {
        tr {
            th scope="row" {
                @match user.number() { Some(number) => a href={ "/users/" (number) } { (user.name) }, None => (user.name) }
                @if is_own { " " span.mark { "you" } }
                @if user.is_deactivated { " " span.mark { "deactivated" } }
                small { (user.email) }
            }
            td { (role_name(user.role)) }
            td.roomy { @match teams {
                Some(Some(teams)) => (teams_of(teams)),
                Some(None) => span.soft { "none" },
                None => span.soft { "not read" },
            } }
            td.wide { @match user.last_sign_in {
                Some(at) => (time(at, Timestamp::now())),
                None => span.soft { "never" },
            } }
            td.act { details {
                summary { "Manage" span.hidden { " " (user.name) } }
                (managing(site, user, is_own, is_known))
            } }
        }
    }
}

/// What an administrator does with a user.
fn managing(site: &Site, user: &Listed, is_own: bool, is_known: bool) -> Markup {
    let here = |what: &str| path(["users", &user.id, what]);
    html! {
        form.line method="post" action=(here("role")) {
            label.hidden for={ "role-" (user.id) } { "Role of " (user.name) }
            select id={ "role-" (user.id) } name="role" {
                @for (role, _) in ROLES { option value=(role) selected[*role == user.role] { (role_name(*role)) } }
            }
            button.quiet { "Change" span.hidden { " the role of " (user.name) } }
        }
        div.actions {
            form method="post" action=(here("link")) { button.quiet { "Sign-in link" span.hidden { " for " (user.name) } } }
            @if let Some(provider) = site.openid.as_ref().filter(|_| is_known) {
                form method="post" action=(here("forget")) {
                    button.quiet title={ "Let another account at " (provider.settings().name) " sign in as this user" } {
                        "Unlink" span.hidden { " the account of " (user.name) " at " (provider.settings().name) }
                    }
                }
            }
            @if !is_own {
                @let question = "Delete this user? All their sessions end at once.";
                (delete_button(&here("delete"), "Delete", &user.name, question))
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
