//! People for the fields that name somebody: found by name or email address while somebody types. Whoever is signed in may
//! see all of them.

use std::collections::HashMap;

use maud::{Markup, html};
use sea_orm::{EntityTrait, JoinType, QueryFilter, QuerySelect, QueryTrait, RelationDef};

use super::form::{self, Mistakes};
use super::layout::{Head, page as framed};
use super::parts::{count, empty};
use super::visit::{Visit, path};
use super::{Answer, Fault, Site};
use catalogue::db::find::{Noun, find_of};
use catalogue::db::{self, Read, ReadHandle};
use catalogue::entity::{ByIds, team, team_membership, text, user};
use catalogue::error::Error;

/// The part of the page of a search with the results, which the script asks for.
pub const RESULTS: &str = "results";
/// The most people that are found.
pub const MOST: usize = 100;
/// The most memberships in teams that are read for the users on a page.
pub const MEMBERSHIPS: u64 = 1_000;

/// Shows the people that a term finds. The script asks for the results alone.
pub async fn page(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let term = visit.query.given("q").map(|term| text::at_most("term", term, text::SHORT)).transpose();
    let term = term.map_err(Error::from)?;
    let found = match &term {
        Some(term) => site.reading(visit).await?.required(|db| find(db, term)).await?,
        None => Vec::new(),
    };
    let results = html! {
        div id=(RESULTS) {
            @if term.is_none() { p.soft { "Finds people by name or email address." } }
            @else if found.is_empty() { (empty("Nobody matches.", html! { p { "Try another name, or fewer letters." } })) }
            @else { (list(&found)) }
        }
    };
    if visit.is_about(RESULTS) {
        return Ok(Answer::page(results));
    }
    let (label, hint) = ("Name or email address", "");
    let field = form::Text { name: "q", label, hint, kind: "search", required: false };
    let main = html! {
        form.filters method="get" action="/search" role="search" data-live=(RESULTS) {
            input type="hidden" name="of" value=(form::PEOPLE);
            (field.show(&visit.query, &Mistakes::none()))
            button { "Search" }
        }
        (results)
    };
    Ok(Answer::page(framed(visit, &Head::with_parent("Search for people", "/search", "Search"), main)))
}

/// The people who can sign in among those that a term finds, the best matches first.
async fn find(db: &dyn ReadHandle, term: &str) -> Result<Vec<user::Model>, db::Error> {
    let people = find_all(db, term).await?;
    Ok(people.into_iter().filter(user::Model::is_active).take(MOST).collect())
}

/// The people that a term finds, also those who were deactivated, the best matches first.
pub(super) async fn find_all(db: &dyn ReadHandle, term: &str) -> Result<Vec<user::Model>, db::Error> {
    // The index finds some hundred at most.
    let found = find_of(db, Noun::User, term, usize::MAX).await?;
    let people = user::Entity::by_ids(db, found.iter().map(|found| Some(found.id))).await?;
    Ok(people.into_iter().flatten().collect())
}

/// The teams of these users, alias and name, by name: those of the first [`MEMBERSHIPS`] memberships.
pub(super) async fn teams(
    db: &dyn ReadHandle,
    users: &[i64],
) -> Result<HashMap<i64, Vec<(String, String)>>, db::Error> {
    use team_membership::{Column, Entity};
    let of_team: RelationDef = Entity::belongs_to(team::Entity).from(Column::TeamId).to(team::Column::Id).into();
    let teams = Entity::find().select_only().column(Column::UserId).column(team::Column::Alias);
    let teams = teams.column(team::Column::Name).join(JoinType::InnerJoin, of_team);
    let teams = teams.filter(db::any(db, Column::UserId, users)).limit(MEMBERSHIPS);
    let read: Vec<(i64, String, String)> =
        db.rows(teams.as_query(), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).await?;
    let mut of_users: HashMap<i64, Vec<(String, String)>> = HashMap::new();
    for (user, alias, name) in read {
        of_users.entry(user).or_default().push((alias, name));
    }
    for teams in of_users.values_mut() {
        teams.sort_by(|(_, one), (_, other)| one.cmp(other));
    }
    Ok(of_users)
}

/// Links to people. A field takes the email address.
fn list(found: &[user::Model]) -> Markup {
    html! {
        p.soft role="status" {
            (count(i32::try_from(found.len()).unwrap_or(i32::MAX), "result"))
            @if found.len() >= MOST { ". There may be more." }
        }
        ul.results { @for one in found { li {
            a href=(path(["users", &one.id.to_string()])) data-value=(one.email) { (one.name) }
            " " span.soft { (one.email) }
        } } }
    }
}
