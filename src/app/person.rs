//! The page of a user: how to reach them, and their teams.

use maud::html;

use super::ask::ask;
use super::contact_form::contact;
use super::layout::layout;
use super::operations::Person;
use super::parts::{count, pages, tags, time};
use super::visit::{Visit, path};
use super::{Answer, Fault, Site, users};
use crate::entity::{Timestamp, user};
use crate::graphql::id::Id;

/// Shows the user with this number.
pub async fn page(site: &Site, visit: &Visit, number: &str) -> Result<Answer, Fault> {
    let number: i64 = number.parse().map_err(|_| Fault::NotFound)?;
    let id = Id::of::<user::Entity>(number).text();
    let found = ask(site, visit, Person { id: &id, after: visit.query.given("after") }).await?;
    let user = found.account.user.ok_or(Fault::NotFound)?;
    let now = Timestamp::now();
    let main = html! {
        dl.facts {
            dt { "Email" } dd { a href={ "mailto:" (user.email) } { (user.email) } }
            @for one in user.contacts.iter().flatten() { dt { "Contact" } dd { (contact(one)) } }
            dt { "Role" } dd { (users::role_name(user.role)) }
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
    };
    Ok(Answer::page(layout(visit, &user.name, main)))
}
