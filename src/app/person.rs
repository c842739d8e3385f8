//! The page of a user: how to reach them, their teams, what they lead and are on call for, what they have deployed, and who
//! takes it over.

use maud::{Markup, html};

use super::ask::ask;
use super::contact_form::contact;
use super::form::Mistakes;
use super::layout::{Head, page as framed};
use super::offers::{Offered, Offers};
use super::operations::Person;
use super::parts::{count, delete_button, pages, tags, time};
use super::reading::too_long;
use super::roles::role_name;
use super::team_tree::Duties;
use super::visit::{Session, Visit, path};
use super::{Answer, Fault, Site, all_deploys};
use catalogue::entity::user::Role;
use catalogue::entity::{Timestamp, feed, user};
use catalogue::error::Error;
use catalogue::graphql::field::id::{self, Id};

/// Shows the user with this number.
pub async fn page(site: &Site, visit: &Visit, session: &Session, number: &str) -> Result<Answer, Fault> {
    let number: i64 = number.parse().map_err(|_| Fault::NotFound)?;
    Ok(Answer::page(show(site, visit, session, number, &Mistakes::none()).await?))
}

/// The page again, with the mistakes of the form that hands over.
pub async fn refused(
    site: &Site,
    visit: &Visit,
    session: &Session,
    number: i64,
    mistakes: &Mistakes,
) -> Result<Answer, Fault> {
    Ok(Answer::refused(show(site, visit, session, number, mistakes).await?))
}

async fn show(
    site: &Site,
    visit: &Visit,
    session: &Session,
    number: i64,
    mistakes: &Mistakes,
) -> Result<Markup, Fault> {
    let id = Id::new::<user::Entity>(number).text();
    let found = ask(site, visit, Person { id: &id, after: visit.query.given("after") }).await?;
    let user = found.account.user.ok_or(Fault::NotFound)?;
    let now = Timestamp::now();
    let is_admin = session.user.role == Role::Admin;
    let feeds = if is_admin { feed::of_user(site.db.read(), number).await? } else { Vec::new() };
    let reading = site.reading(visit).await?;
    let duties = reading.optional(|db| Duties::read(db, number)).await?;
    // Last: nothing else takes as long.
    let deploys = all_deploys::latest_of(&reading, &user.email).await?;
    drop(reading);
    let may_delete = is_admin && session.user.id != number;
    let people = Offers::read(site, visit, if may_delete { &[Offered::People] } else { &[] }).await?;
    let main = html! {
        @if let Some(moment) = &user.deactivated_at {
            p { span.mark { "deactivated" } " " (time(moment.0, now)) ". They cannot sign in." }
        }
        dl.facts {
            dt { "Email" } dd { a href={ "mailto:" (user.email) } { (user.email) } }
            @for one in user.contacts.iter().flatten() { dt { "Contact" } dd { (contact(one)) } }
            dt { "Role" } dd { (role_name(user.role)) }
            @if !user.tags.nodes.is_empty() {
                dt { "Tags" } dd { (tags(user.tags.nodes.iter().map(|tag| (&*tag.key, &*tag.value)))) }
            }
            dt { "Last sign-in" }
            dd { @match &user.last_sign_in_at {
                Some(moment) => (time(moment.0, now)),
                None => span.soft { "never" },
            } }
        }
        h2 { (count(user.teams.total_count, "team")) }
        @if !user.teams.nodes.is_empty() {
            ul { @for team in &user.teams.nodes { li { a href=(path(["teams", &team.alias])) { (team.name) } } } }
        }
        (pages(visit, &path(["users", &number.to_string()]), &user.teams.page_info))
        @match &duties { Some(duties) => (duties.show()), None => (too_long()) }
        (deploys)
        @if is_admin { (feeds_of(&id, &user.name, &feeds, now)) }
        @if let Some(duties) = duties.as_ref().filter(|_| may_delete) { (leaving((&id, &user.name), duties, &people, visit, mistakes)) }
    };
    // The list of users is for administrators.
    let head = match is_admin {
        true => Head::with_parent(&user.name, "/users", "Users"),
        false => Head::with_parent(&user.name, "/search?of=users", "Search for people"),
    };
    Ok(framed(visit, &head, main))
}

/// How many feeds the user has, and the button that revokes them. For administrators.
fn feeds_of(id: &str, name: &str, feeds: &[feed::Model], now: Timestamp) -> Markup {
    let question = "Revoke all feeds of this user? Their addresses stop working at once.";
    html! {
        h2 #feeds { "Feeds" @if !feeds.is_empty() { ": " (feeds.len()) } }
        @if feeds.is_empty() {
            p.soft { "No feed reader reads deploys and changes in their name." }
        } @else {
            p {
                "With the address of a feed, anybody can read deploys and changes. "
                @match feeds.iter().filter_map(|feed| feed.last_used_at).max() {
                    Some(used) => { "One was last read " (time(used, now)) "." }
                    None => "None was ever read."
                }
            }
            (delete_button(&path(["users", id, "feeds"]), "Revoke", &format!("the feeds of {name}"), question))
        }
    }
}

/// Revokes all feeds of a user.
pub async fn revoke_feeds(site: &Site, session: &Session, id: &str) -> Result<Answer, Fault> {
    session.require(Role::Admin)?;
    let actor = session.caller().actor;
    let revoked = site.db.write(async |db| {
        let user = id::require::<user::Entity>(db, id, "id").await?;
        feed::revoke_for(db, &actor, &user).await?;
        Ok::<_, Error>(user.id)
    });
    match revoked.await {
        Ok(number) => Ok(Answer::redirect(path(["users", &number.to_string()]))),
        Err(Error::User(_)) => Err(Fault::NotFound),
        Err(error) => Err(error.into()),
    }
}

/// The form that deletes the user, and gives what they leave behind to somebody else.
fn leaving((id, name): (&str, &str), duties: &Duties, people: &Offers, visit: &Visit, mistakes: &Mistakes) -> Markup {
    let delete = path(["users", id, "delete"]);
    let field = ("successor", "Who takes over (name or email address)", "They get the teams and the shifts.");
    html! {
        h2 #hand-over { "Delete" }
        (mistakes.summary(&[]))
        @if duties.is_empty() {
            p { "They lead no team and are on call for nothing." }
        } @else {
            h3 { "Hand over and delete" }
            form method="post" action=(delete) {
                (people.show(Offered::People, field, true, (&visit.form, &Mistakes::none())))
                button.danger { "Hand over and delete" span.hidden { " " (name) } }
            }
            h3 { "Delete without handing over" }
            p {
                @if !duties.led.is_empty() { "The teams that they lead stay, without a manager. " }
                @if !duties.on_call.is_empty() { "Their shifts stay, in the name of somebody who is gone." }
            }
        }
        details.confirm {
            summary { "Delete" span.hidden { " " (name) } }
            form method="post" action=(delete) {
                input type="hidden" name="anyway" value="1";
                p { "Delete this user? All their sessions end at once." }
                button.danger { "Yes, delete" span.hidden { " " (name) } }
            }
        }
    }
}
