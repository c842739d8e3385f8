//! What stands behind the services of a picture: who owns each, who is on call for it, and how its last deploy went.

use std::collections::HashMap;

use maud::{Markup, html};
use sea_orm::sea_query::{Expr, ExprTrait, Order, Query};
use sea_orm::{ColumnTrait, EntityTrait, JoinType, QueryFilter, QuerySelect, QueryTrait, RelationDef};

use super::picture::{Mark, Picture};
use crate::Fault;
use crate::on_call;
use crate::parts::{owner, short, tier as tier_chip};
use catalogue::db::{self, Read, ReadHandle};
use catalogue::entity::service::Column;
use catalogue::entity::{Timestamp, deploy, service, team};

/// The most people on call that a row names.
const PEOPLE: usize = 3;

/// A service of the picture.
struct One {
    /// The alias and the name of the team that owns it.
    owner: Option<(String, String)>,
    /// The stored word for how its last deploy went. `None` without a deploy, or if the deploy has no status.
    last: Option<String>,
    /// Who is on call for it.
    on_call: Vec<String>,
}

/// The services of a picture, by id.
pub struct Behind(HashMap<i64, One>);

impl Behind {
    /// Reads it for these services: as many as a picture has boxes, in two statements.
    pub async fn read(db: &dyn ReadHandle, ids: &[i64]) -> Result<Self, Fault> {
        let mut read = owners(db, ids).await?;
        for (person, services) in on_call::read(db, Some(ids), Timestamp::now()).await? {
            for id in services {
                if let Some(one) = read.get_mut(&id) {
                    one.on_call.push(person.name.clone());
                }
            }
        }
        Ok(Self(read))
    }

    /// How the last deploy of a service went, as the mark of its box.
    pub fn state(&self, id: i64) -> Mark {
        let (class, letters, words) = match self.0.get(&id).and_then(|one| one.last.as_deref()) {
            Some("succeeded") => ("good", "✓", "last deploy succeeded"),
            Some("failed") => ("bad", "✕", "last deploy failed"),
            Some("queued" | "running") => ("warn", "…", "deploy under way"),
            Some("cancelled") => ("none", "○", "last deploy cancelled"),
            _ => ("none", "–", "no deploy with a status"),
        };
        Mark { class, letters: letters.to_owned(), words: words.to_owned() }
    }

    /// The services of the picture as a table, without those whose pages are `listed` above it. Nothing if none is left.
    pub fn table(&self, picture: &Picture, listed: &[String]) -> Markup {
        let rest: Vec<_> = picture.nodes.iter().flatten().filter(|node| !listed.contains(&node.page)).collect();
        html! {
            @if !rest.is_empty() {
                h2 #people { "The others in the picture" }
                div.scroll tabindex="0" role="region" aria-label="The other services of the picture" {
                    table.lined {
                        thead { tr { th scope="col" { "Service" } (heads()) } }
                        tbody { @for node in &rest {
                            @let one = self.0.get(&node.id);
                            @let words = Mark::of_tier(node.tier).words;
                            @let names = one.map_or(&[][..], |one| &one.on_call[..]);
                            @let names: Vec<&str> = names.iter().map(String::as_str).collect();
                            tr {
                                th scope="row" { a href=(node.page) { (short(&node.name)) } }
                                (cells(
                                    node.tier.map(|index| (index, &*words)),
                                    one.and_then(|one| one.owner.as_ref()).map(|(alias, name)| (&**alias, &**name)),
                                    (&names[..], names.len()),
                                ))
                            }
                        } }
                    }
                }
            }
        }
    }
}

/// The headings of [`cells`].
pub fn heads() -> Markup {
    html! { th scope="col" { "Tier" } th scope="col" { "Owner" } th scope="col" { "On call now" } }
}

/// The cells of a row with what stands behind a service: the index and the name of its tier, the alias and the name of its
/// owner, and who is on call, with the number of all of them. Whatever is missing is marked alike.
pub fn cells(tier: Option<(i32, &str)>, team: Option<(&str, &str)>, (names, all): (&[&str], usize)) -> Markup {
    let none = html! { span.mark.warn { "none" } };
    html! {
        td data-label=[tier.is_none().then_some("Tier")] {
            @match tier { Some((index, name)) => (tier_chip(index, name)), None => (none) }
        }
        td data-label=[team.is_none().then_some("Owner")] { (owner(team)) }
        td data-label="On call" { @if names.is_empty() { (none) } @else { (people(names, all)) } }
    }
}

fn people(names: &[&str], all: usize) -> Markup {
    html! {
        @for (at, name) in names.iter().take(PEOPLE).enumerate() {
            @if at > 0 { ", " }
            bdi { (short(name)) }
        }
        @if all > PEOPLE { " and " (all - PEOPLE) " more" }
    }
}

/// Reads who owns the services and how the last deploy of each went, which an index of deploys has.
async fn owners(db: &dyn ReadHandle, ids: &[i64]) -> Result<HashMap<i64, One>, db::Error> {
    let of_owner: RelationDef =
        service::Entity::belongs_to(team::Entity).from(Column::OwnerId).to(team::Column::Id).into();
    let is_own = Expr::col(deploy::Column::ServiceId.as_column_ref()).eq(Expr::col(Column::Id.as_column_ref()));
    let last = Query::select()
        .column(deploy::Column::DeployStatus.as_column_ref())
        .from(deploy::Entity)
        .and_where(is_own)
        .order_by(deploy::Column::DeployedAt.as_column_ref(), Order::Desc)
        .order_by(deploy::Column::Id.as_column_ref(), Order::Desc)
        .limit(1)
        .take();
    let mut read = service::Entity::find()
        .select_only()
        .column(Column::Id)
        .columns([team::Column::Alias, team::Column::Name])
        .join(JoinType::LeftJoin, of_owner)
        .filter(db::any(db, Column::Id, ids));
    QueryTrait::query(&mut read).expr(db::scalar(last));
    let one = |row: &db::Row<'_>| {
        let (alias, name): (Option<String>, Option<String>) = (row.get(1)?, row.get(2)?);
        Ok((row.get::<i64>(0)?, One { owner: alias.zip(name), last: row.get(3)?, on_call: Vec::new() }))
    };
    Ok(db.rows(read.as_query(), one).await?.into_iter().collect())
}
