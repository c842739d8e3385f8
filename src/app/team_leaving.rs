//! Deleting a team: what it leaves behind, who takes it over, and what becomes of it otherwise.

use maud::{Markup, html};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select};

use super::Fault;
use super::form::Mistakes;
use super::offers::{Offered, Offers};
use super::parts::{COUNTED, count_to_most, short};
use super::reading::too_long;
use super::visit::{Fields, path};
use catalogue::db::{Read, ReadHandle, Row};
use catalogue::entity::{
    campaign, check, domain, event_subscription, infrastructure_resource, on_call, repository, scorecard, service,
    system, team,
};

/// The maximum number of things of a kind that are named.
pub const NAMED: u64 = 10;

/// What the teams are called that are a part of it.
const PART: &str = "team that is a part of it";

/// The things of a kind: how many there are, and the first of them, each with its address.
struct Kind {
    noun: &'static str,
    count: i32,
    named: Vec<(String, String)>,
}

/// What a team leaves behind.
pub struct Estate {
    /// What it owns, and the teams that are a part of it. A successor takes all of it.
    owned: Vec<Kind>,
    /// The checks, scorecards and campaigns that it owns. They lose their owner.
    standards: Vec<Kind>,
    /// The shifts of its services, which stay.
    shifts: i32,
    /// Its subscriptions to events, which are deleted.
    subscriptions: i32,
}

impl Estate {
    /// Reads what the team with this id leaves behind.
    pub async fn read(db: &dyn ReadHandle, id: i64) -> Result<Self, Fault> {
        macro_rules! kind {
            ($table:ident, $owner:ident, $noun:expr, $part:literal, $address:ident, $name:ident) => {{
                use $table::{Column, Entity};
                let own = Entity::find().filter(Column::$owner.eq(id));
                let count = counted(db, own.clone()).await?;
                let named = own.select_only().columns([Column::$address, Column::$name]);
                let named = named.order_by_asc(Column::Id).limit(NAMED);
                let address = |word: String| path([$part, &word]);
                let read = |row: &Row<'_>| Ok((row.get::<String>(0)?, row.get::<String>(1)?));
                let named = if count == 0 { Vec::new() } else { db.rows(named.as_query(), read).await? };
                let named = named.into_iter().map(|(word, name)| (address(word), name)).collect();
                Kind { noun: $noun, count, named }
            }};
        }
        macro_rules! nameless {
            ($table:ident, $noun:literal) => {{
                let own = $table::Entity::find().filter($table::Column::OwnerId.eq(id));
                Kind { noun: $noun, count: counted(db, own).await?, named: Vec::new() }
            }};
        }
        let services = service::Entity::find().select_only().column(service::Column::Id);
        let services = services.filter(service::Column::OwnerId.eq(id)).into_query();
        let shifts = on_call::Entity::find().filter(on_call::Column::ServiceId.in_subquery(services));
        let told = event_subscription::Entity::find().filter(event_subscription::Column::TeamId.eq(id));
        Ok(Self {
            owned: vec![
                kind!(service, OwnerId, "service", "services", Slug, Name),
                kind!(system, OwnerId, "system", "systems", Slug, Name),
                kind!(domain, OwnerId, "domain", "domains", Slug, Name),
                repositories(db, id).await?,
                nameless!(infrastructure_resource, "infrastructure resource"),
                kind!(team, ParentTeamId, PART, "teams", Alias, Name),
            ],
            standards: vec![
                nameless!(check, "check"),
                nameless!(scorecard, "scorecard"),
                nameless!(campaign, "campaign"),
            ],
            shifts: counted(db, shifts).await?,
            subscriptions: counted(db, told).await?,
        })
    }

    /// Whether a successor would take nothing.
    pub fn is_empty(&self) -> bool {
        self.owned.iter().all(|kind| kind.count == 0)
    }

    fn show(&self) -> Markup {
        let some = |all: &'_ [Kind], what: &str| {
            html! {
                @for kind in all.iter().filter(|kind| kind.count > 0) { li { (kind.show()) (what) } }
            }
        };
        let leaves_any = self.owned.iter().chain(&self.standards).any(|kind| kind.count > 0);
        html! {
            @if leaves_any || self.shifts > 0 || self.subscriptions > 0 { ul #leaves {
                (some(&self.owned, ""))
                (some(&self.standards, ", without an owner in any case"))
                @if self.shifts > 0 { li { (count_to_most(self.shifts, "shift")) " of its services, which stay" } }
                @if self.subscriptions > 0 {
                    li { (count_to_most(self.subscriptions, "subscription")) " to events, deleted in any case" }
                }
            } }
        }
    }

    /// What becomes of everything without a successor.
    fn without_successor(&self) -> Markup {
        let has = |noun: &str| self.owned.iter().any(|kind| kind.noun == noun && kind.count > 0);
        html! {
            p {
                "Delete this team? "
                @if !self.is_empty() { "What it owns stays, without an owner. " }
                @if has(PART) { "The teams that are a part of it become teams of their own. " }
                "Its members, who stay users, its contacts, tags and properties are gone."
            }
        }
    }
}

impl Kind {
    fn show(&self) -> Markup {
        let count = match (self.noun, self.count) {
            (PART, count) if count != 1 => count_to_most(count, "team") + " that are a part of it",
            (noun, count) => count_to_most(count, noun),
        };
        let rest = usize::try_from(self.count).unwrap_or_default().saturating_sub(self.named.len());
        html! {
            (count)
            @if !self.named.is_empty() {
                ": "
                @for (at, (address, name)) in self.named.iter().enumerate() {
                    @if at > 0 { ", " } a href=(address) { (short(name)) }
                }
                @if rest > 0 { " and more" }
            }
        }
    }
}

/// Counts rows up to [`COUNTED`], and one more.
pub(super) async fn counted<E: EntityTrait>(db: &dyn ReadHandle, rows: Select<E>) -> Result<i32, Fault> {
    let count = db.count(rows.limit(u64::from(COUNTED) + 1)).await?;
    Ok(i32::try_from(count).unwrap_or(i32::MAX))
}

/// The repositories of the team, whose addresses have their numbers.
async fn repositories(db: &dyn ReadHandle, team: i64) -> Result<Kind, Fault> {
    use repository::{Column, Entity};
    let own = Entity::find().filter(Column::OwnerId.eq(team));
    let count = counted(db, own.clone()).await?;
    let named = own.select_only().columns([Column::Id, Column::Name]).order_by_asc(Column::Id).limit(NAMED);
    let read = |row: &Row<'_>| Ok((row.get::<i64>(0)?, row.get::<String>(1)?));
    let named = db.rows(named.as_query(), read).await?;
    let named = named.into_iter().map(|(id, name)| (path(["repositories", &id.to_string()]), name)).collect();
    Ok(Kind { noun: "repository", count, named })
}

/// The part of the form of a team that deletes it. `action` is where both forms go.
pub fn section((name, action): (&str, &str), estate: Option<&Estate>, offers: &Offers) -> Markup {
    let (form, mistakes) = (Fields::default(), Mistakes::none());
    let field = ("successor", "Team that takes over (name or alias)", "");
    html! {
        h2 #delete { "Delete" }
        @match estate {
            None => (too_long()),
            Some(estate) => {
                p { @if estate.is_empty() { "It owns no services, and no team is a part of it." } @else { "This is what it leaves:" } }
                (estate.show())
            },
        }
        @if estate.is_none_or(|estate| !estate.is_empty()) {
            h3 { "Hand over and delete" }
            p {
                "The other team becomes the owner of its services, systems, domains, repositories and infrastructure, and the "
                "parent of the teams that are a part of it."
            }
            form.filters method="post" action=(action) {
                (offers.show(Offered::Teams, field, true, (&form, &mistakes)))
                button.danger { "Hand over and delete" span.hidden { " " (name) } }
            }
            h3 { "Delete without handing over" }
        }
        @if let Some(estate) = estate {
            details.confirm {
                summary { "Delete" span.hidden { " " (name) } }
                form method="post" action=(action) {
                    input type="hidden" name="anyway" value="1";
                    (estate.without_successor())
                    button.danger { "Yes, delete" span.hidden { " " (name) } }
                }
            }
        }
    }
}
