//! The home page: what one asks first in the morning, about the visitor's teams or the whole organisation.
//!
//! Invariant: a part that takes too long to read is left out, and the page is shown without it. Only the counts of the
//! catalogue and the visitor's own teams and services are always there.

use std::collections::HashMap;

use maud::{Markup, html};

use super::ask::ask;
use super::layout::{Head, page as framed};
use super::operations::Home;
use super::parts::{short, time};
use super::visit::{Session, Visit, path};
use super::words::{self, Addresses};
use super::{Answer, Fault, Site, all_deploys, on_call, service_name};
use catalogue::db;
use catalogue::deploy::days::DAY;
use catalogue::deploy::delivery::Delivery;
use catalogue::deploy::failing::Failing;
use catalogue::deploy::list;
use catalogue::entity::service::Label;
use catalogue::entity::user::Role;
use catalogue::entity::{Timestamp, deploy, team};

pub mod ahead;
mod changes;
pub mod mine;
mod view;

pub use changes::LINES;

use ahead::Next;
use changes::Line;
use mine::{Mine, Steps};
use on_call::OnCall;

/// The number of failing services that are shown.
const SHOWN: usize = 8;
/// The number of failing services that are listed: those behind the shown ones unfold.
pub const LISTED: usize = 50;
/// How far back the page looks for failures, in days.
pub const FAILING_DAYS: i64 = 30;
/// How far back the page looks at most for deploys and changes, in days.
pub const SINCE_DAYS: i64 = 14;

/// What the page reads beside the API. A part is `None` if it took too long.
struct Read {
    mine: Mine,
    steps: Option<Steps>,
    failing: Option<Vec<Failing>>,
    tally: Option<[usize; 3]>,
    deploys: Option<Vec<deploy::Model>>,
    on_call: Option<Vec<OnCall>>,
    changes: Option<(Vec<Line>, Addresses)>,
    /// Whether there is a service.
    has_services: bool,
    /// The number of open suggestions that are new.
    arrived: Option<usize>,
    next: Option<Option<Next>>,
    deliveries: Option<Vec<(team::Model, Delivery)>>,
    labels: HashMap<i64, Label>,
    /// When the visitor's last visit ended.
    before: Option<Timestamp>,
    /// The start of the first day whose deploys are shown.
    first_day: Timestamp,
    now: Timestamp,
}

/// Shows the page.
pub async fn page(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    let account = ask(site, visit, Home {}).await?.account;
    let read = read(site, visit, session).await?;
    let main = html! {
        div.lead { p { (lead(&read)) } }
        @if let Some(steps) = &read.steps { (view::checklist(steps, site.openid.is_some())) }
        (view::tiles(&account, &read, session))
        div.two {
            div.stack { (view::failing(&read)) (ahead::card(&read)) (view::deploys(&read)) }
            div.stack {
                (view::favourites(&account))
                (on_call::card(read.on_call.as_deref(), &read.labels, read.now))
                (changes::card(&read))
                (ahead::delivery(&read))
            }
        }
    };
    let name = session.user.name.split(' ').next().unwrap_or_default();
    let title = format!("Hello, {}", short(name));
    Ok(Answer::page(framed(visit, &Head::new(&title), main)))
}

/// Whose services the page is about, and since when.
fn lead(read: &Read) -> Markup {
    html! {
        @match &*read.mine.teams {
            [] => "You belong to no team, so this is about the whole organisation.",
            teams => {
                "Your teams: "
                @for (at, team) in teams.iter().enumerate() {
                    @if at > 0 { ", " } a href=(path(["teams", &team.alias])) { (team.name) }
                }
                "."
            },
        }
        @if let Some(before) = read.before { " Your last visit: " (time(before, read.now)) "." }
    }
}

async fn read(site: &Site, visit: &Visit, session: &Session) -> Result<Read, Fault> {
    let now = Timestamp::now();
    let ago = |days: i64| Timestamp::from_micros(now.as_micros() - days * DAY);
    let before = session.row.visit_before(now);
    // Days are those of UTC, as in the list of deploys, which has whole days.
    let day = |moment: Timestamp| Timestamp::from_micros(moment.as_micros().div_euclid(DAY) * DAY);
    let since = before.unwrap_or_else(|| day(ago(1))).max(ago(SINCE_DAYS));
    let first_day = day(since);
    let production = &site.catalogue.settings().production;
    let reading = site.reading(visit).await?;
    let mine = reading.required(|db| Mine::read(db, session.user.id)).await?;
    let steps = match session.user.role {
        Role::Admin => reading.optional(Steps::read).await?,
        _ => None,
    };
    let failing = reading.optional(|db| mine.failing(db, ago(FAILING_DAYS), production)).await?;
    let deploys = reading.optional(|db| mine.deploys(db, first_day, all_deploys::READ)).await?;
    let on_call = reading.optional(|db| on_call::read(db, mine.services.as_deref(), now)).await?;
    let arrived = reading.optional(|db| mine::arrived(db, since)).await?;
    let next = reading.optional(|db| Next::read(db, &mine, now)).await?;
    let changes = reading.optional(|db| with_addresses(db, &mine, since)).await?;
    let tally = reading.optional(|db| list::tally(db, mine.services.as_deref(), first_day)).await?;
    let mut ids: Vec<i64> = failing.iter().flatten().take(LISTED).map(|one| one.service_id).collect();
    ids.extend(deploys.iter().flatten().filter_map(|deploy| deploy.service_id));
    ids.extend(on_call::shown(on_call.as_deref().unwrap_or_default()));
    ids.extend(next.iter().flatten().flat_map(Next::services));
    let labels = reading.optional(|db| service_name::labels(db, &ids)).await?.unwrap_or_default();
    let has_services = reading.optional(mine::has_services).await?.unwrap_or(true);
    let deliveries = reading.optional(|db| ahead::deliveries(db, &mine, now, production)).await?;
    Ok(Read {
        mine,
        steps,
        failing,
        tally,
        deploys,
        on_call,
        changes,
        has_services,
        arrived,
        next,
        deliveries,
        labels,
        before,
        first_day,
        now,
    })
}

async fn with_addresses(
    db: &dyn db::ReadHandle,
    mine: &Mine,
    since: Timestamp,
) -> Result<(Vec<Line>, Addresses), Fault> {
    let lines = changes::folded(mine.changes(db, since).await?);
    let addresses = words::addresses_of(db, &changes::named(&lines)).await?;
    Ok((lines, addresses))
}
