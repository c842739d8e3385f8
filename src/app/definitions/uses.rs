//! What uses a definition, which its page says before somebody deletes it.

use maud::{Markup, html};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select};

use super::grade::{Grade, Kind};
use crate::Fault;
use crate::parts::{count, count_to_most, delete_button, link, short};
use crate::reading::too_long;
use crate::team_leaving::counted;
use crate::visit::Fields;
use catalogue::db::{self, Read, ReadHandle};
use catalogue::entity::{
    campaign, check, event_subscription, filter, filter_predicate, property, property_definition, scorecard, service,
};
use catalogue::graphql::field::id::Id;

/// The maximum number of things of a kind that are named.
pub const NAMED: u64 = 10;

/// The maximum number of conditions of saved filters in which a name is looked for.
pub const PREDICATES: u64 = 1_000;

/// What uses a definition.
#[derive(Default)]
pub struct Uses {
    /// The things of each kind, in words.
    lines: Vec<Markup>,
    /// Whether some of them keep it from being deleted.
    hold: bool,
}

impl Uses {
    /// Reads what uses a tier or a lifecycle stage.
    pub async fn of_grade(db: &dyn ReadHandle, kind: Kind, id: i64, grade: &Grade) -> Result<Self, Fault> {
        let column = match kind {
            Kind::Tier => service::Column::TierId,
            Kind::Stage => service::Column::LifecycleId,
        };
        let mut uses = Self::default();
        let services = counted(db, service::Entity::find().filter(column.eq(id))).await?;
        if services > 0 {
            let said = count_to_most(services, "service");
            let list = link("/services", &Fields::one("tier", &grade.alias).query());
            uses.lines.push(html! {
                @if kind == Kind::Tier { a href=(list) { (said) } } @else { (said) }
                " of it, without a " (kind.noun()) " afterwards"
            });
        }
        if kind == Kind::Tier {
            let told = db.all(event_subscription::Entity::find()).await?;
            let told = told.iter().filter(|one| one.tiers().is_some_and(|tiers| tiers.contains(&id))).count();
            if told > 0 {
                uses.lines.push(html! { (count(told as i64, "subscription")) " to its events" });
            }
        }
        let names = [grade.alias.clone(), grade.id.clone(), grade.index.to_string()];
        let key = match kind {
            Kind::Tier => "tier_index",
            Kind::Stage => "lifecycle_index",
        };
        uses.lines.extend(filters(db, &[key], Said::Value, &names).await?);
        Ok(uses)
    }

    /// Reads what uses a property definition.
    pub async fn of_definition(db: &dyn ReadHandle, id: i64, alias: &str) -> Result<Self, Fault> {
        let mut uses = Self::default();
        let values = property::Entity::find().filter(property::Column::DefinitionId.eq(id));
        let values = counted(db, values).await?;
        if values > 0 {
            uses.lines.push(html! { (count_to_most(values, "value")) ", deleted with it" });
        }
        let checks = check::Entity::find().filter(check::Column::PropertyDefinitionId.eq(id));
        uses.lines.extend(named(db, "check", checks, [check::Column::Id, check::Column::Name]).await?);
        let names = [alias.to_owned(), Id::new::<property_definition::Entity>(id).text()];
        uses.lines.extend(filters(db, &["property", "properties"], Said::KeyData, &names).await?);
        Ok(uses)
    }

    /// Reads what uses a saved filter.
    pub async fn of_filter(db: &dyn ReadHandle, id: i64) -> Result<Self, Fault> {
        let mut uses = Self::default();
        macro_rules! held {
            ($table:ident, $noun:literal) => {{
                use $table::{Column, Entity};
                let own = Entity::find().filter(Column::FilterId.eq(id));
                uses.lines.extend(named(db, $noun, own, [Column::Id, Column::Name]).await?);
            }};
        }
        held!(check, "check");
        held!(scorecard, "scorecard");
        held!(campaign, "campaign");
        uses.hold = !uses.lines.is_empty();
        let names = [Id::new::<filter::Entity>(id).text()];
        uses.lines.extend(filters(db, &["filter_id"], Said::Value, &names).await?);
        Ok(uses)
    }
}

/// Where a condition names something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    KeyData,
    Value,
}

/// The saved filters with a condition about one of these keys that names one of these.
async fn filters(db: &dyn ReadHandle, keys: &[&str], said: Said, names: &[String]) -> Result<Option<Markup>, Fault> {
    use filter_predicate::{Column, Entity, Model};
    let asking = Entity::find().filter(Column::Key.is_in(keys.iter().copied()));
    let asking = db.all(asking.order_by_asc(Column::Id).limit(PREDICATES)).await?;
    let is_about = |predicate: &Model| {
        let text = if said == Said::KeyData { &predicate.key_data } else { &predicate.value };
        let mut parts = text.iter().flat_map(|text| text.split(',')).map(str::trim);
        parts.any(|part| names.iter().any(|name| name == part))
    };
    let ids: Vec<i64> = asking.iter().filter(|one| is_about(one)).map(|one| one.filter_id).collect();
    if ids.is_empty() {
        return Ok(None);
    }
    let own = filter::Entity::find().filter(db::any(db, filter::Column::Id, &ids));
    named(db, "saved filter", own, [filter::Column::Id, filter::Column::Name]).await
}

/// Things of a kind: how many there are, and the first of them by name. The columns hold their numbers and their names.
async fn named<E: EntityTrait>(
    db: &dyn ReadHandle,
    noun: &str,
    own: Select<E>,
    [id, name]: [E::Column; 2],
) -> Result<Option<Markup>, Fault> {
    let count = counted(db, own.clone()).await?;
    if count == 0 {
        return Ok(None);
    }
    let first = own.select_only().column(name).order_by_asc(id).limit(NAMED);
    let names: Vec<String> = db.rows(first.as_query(), |row| row.get(0)).await?;
    let has_more = usize::try_from(count).is_ok_and(|count| count > names.len());
    Ok(Some(html! {
        (count_to_most(count, noun)) ": "
        @for (at, name) in names.iter().enumerate() { @if at > 0 { ", " } bdi { (short(name)) } }
        @if has_more { " and more" }
    }))
}

/// The part of a page that deletes a definition, after it has said what uses it. `action` is where the form goes. Without
/// `uses`, that was not read.
pub fn section(uses: Option<&Uses>, action: &str, (noun, name): (&str, &str), question: &str) -> Markup {
    html! {
        h2 #delete { "Delete" }
        @match uses {
            None => (too_long()),
            Some(Uses { lines, .. }) if lines.is_empty() => p { "Nothing uses this " (noun) "." },
            Some(Uses { lines, .. }) => {
                p { "This uses the " (noun) ":" }
                ul #uses { @for line in lines { li { (line) } } }
            },
        }
        @if uses.is_some_and(|uses| uses.hold) {
            p { "It can be deleted when no check, scorecard or campaign uses it." }
        } @else {
            (delete_button(action, "Delete", name, question))
        }
    }
}
