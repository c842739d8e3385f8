//! What the address of the list of services asks for: its filters and its order, for the page and for the file.

use async_graphql::MaybeUndefined;

use super::Chosen;
use super::table::Column;
use crate::ask::ask;
use crate::form::Mistakes;
use crate::operations::search::SearchResult;
use crate::operations::types::Moment;
use crate::operations::{
    IdentifierInput, Search, SearchTypeEnum, ServiceFilterEnum, ServiceFilterInput, ServiceSortEnum, Services, TagArgs,
};
use crate::parts::order;
use crate::visit::{self, Fields, Visit};
use crate::{Fault, Site, search};
use catalogue::deploy::days::DAY;
use catalogue::entity::{Timestamp, text};

/// The filters that name something by its id or its index. One that names nothing is not asked about.
pub const NAMES: [&str; 3] = ["type", "filter", "level"];

/// What a page or a file asks for, beside what the address says.
pub struct Asked<'c> {
    /// The columns.
    pub chosen: &'c Chosen,
    /// Whether the owners are needed although no column shows them.
    pub with_owners: bool,
    /// The time since which there was no deploy.
    pub since: Option<Timestamp>,
    /// Whether the address names a type, a filter or a level that does not exist. The API would answer nothing at all.
    pub is_gone: bool,
    /// The id of the saved view that is open.
    pub view: Option<String>,
}

/// The filters, the order and the columns of the address. An order that is not known is the usual one.
pub fn wanted<'v>(visit: &'v Visit, owner: Option<&'v str>, asked: &'v Asked<'_>) -> Services<'v> {
    let query = &visit.query;
    let tag = query.given("tag").map(|tag| match tag.split_once([':', '=']) {
        Some((key, value)) => {
            TagArgs { key: MaybeUndefined::Value(text::trim(key)), value: MaybeUndefined::Value(text::trim(value)) }
        }
        None => TagArgs { key: MaybeUndefined::Value(tag), ..Default::default() },
    });
    let has = |column| asked.chosen.columns.contains(&column);
    Services {
        sort: Some(order(visit, &mut Mistakes::none()).unwrap_or(ServiceSortEnum::NameAsc)),
        after: query.given("after"),
        search: query.given("search"),
        language: query.given("language"),
        owner,
        tier: query.given("tier"),
        tag,
        has_owner: query.given("unowned").map(|_| false),
        not_deployed_since: asked.since.map(Moment),
        of_my_teams: query.given("mine").map(|_| true),
        favourite: query.given("favourites").map(|_| true),
        with_owner: has(Column::Owner) || asked.with_owners,
        with_tier: has(Column::Tier),
        with_level: has(Column::Level),
        with_lifecycle: has(Column::Lifecycle),
        with_type: has(Column::Type),
        with_system: has(Column::System) || !asked.chosen.is_chosen,
        with_language: has(Column::Language),
        with_framework: has(Column::Framework),
        with_deploy: has(Column::LastDeploy),
        with_tags: has(Column::Tags),
        view: asked.view.as_deref(),
        with_view: asked.view.is_some(),
        filter: query
            .given("filter")
            .filter(|_| !asked.is_gone)
            .map(|id| IdentifierInput { id: MaybeUndefined::Value(id), alias: MaybeUndefined::Undefined }),
        conditions: {
            let own = [query.given("type").map(of_type), query.given("level").map(of_level)];
            Some(own.into_iter().flatten().collect::<Vec<_>>()).filter(|own| !own.is_empty() && !asked.is_gone)
        },
    }
}

/// The alias of the team with this name, in any case of its letters.
pub async fn team_called(site: &Site, visit: &Visit, name: &str) -> Result<Option<String>, Fault> {
    let app_url = &site.catalogue.settings().app_url;
    let found = ask(site, visit, Search { term: name }).await?.account.search;
    let is_it =
        |one: &&SearchResult| one.r#type == SearchTypeEnum::Team && one.name.to_lowercase() == name.to_lowercase();
    let path = found.iter().find(is_it).and_then(|team| search::address(team, app_url));
    // The path of a team's page ends with its alias.
    Ok(path.and_then(|path| visit::parts(path).pop()))
}

/// The condition that a service is of the component type with this id.
fn of_type(id: &str) -> ServiceFilterInput<'_> {
    ServiceFilterInput {
        key: MaybeUndefined::Value(ServiceFilterEnum::ComponentTypeId),
        arg: MaybeUndefined::Value(id),
        ..Default::default()
    }
}

/// The condition that a service has the level with this index.
fn of_level(index: &str) -> ServiceFilterInput<'_> {
    ServiceFilterInput {
        key: MaybeUndefined::Value(ServiceFilterEnum::LevelIndex),
        arg: MaybeUndefined::Value(index),
        ..Default::default()
    }
}

/// The time since which the address wants no deploy.
pub fn quiet_since(query: &Fields, mistakes: &mut Mistakes) -> Option<Timestamp> {
    let since = days_ago(query.given("quiet")?);
    if since.is_none() {
        mistakes.push("quiet", "Write the days as a whole number, such as 30.");
    }
    since
}

/// The time this many days ago. `None` unless the days are a whole number.
fn days_ago(days: &str) -> Option<Timestamp> {
    let days: u32 = days.parse().ok()?;
    Some(Timestamp::from_micros(Timestamp::now().as_micros().saturating_sub(DAY.saturating_mul(days.into()))))
}
