//! The list of services, with search and filters.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};

use super::ask::{ask, ask_counting};
use super::csv::Csv;
use super::form::{self, Mistakes};
use super::layout::{Head, page as framed};
use super::operations::search::SearchResult;
use super::operations::services::{Account, Service, Team};
use super::operations::types::Moment;
use super::operations::{
    IdentifierInput, Search, SearchTypeEnum, ServiceFilterEnum, ServiceFilterInput, ServiceRow, ServiceSortEnum,
    Services, ServicesFile, TagArgs, services_file,
};
use super::parts::{self, COUNTED, FOUND, count_to, empty, link, order, pages, sorted, status, tier, time};
use super::services_change::Bar;
use super::visit::{self, Session, Visit, path};
use super::{Answer, Fault, Site, search};
use crate::deploy::days::DAY;
use crate::entity::user::Role;
use crate::entity::{Timestamp, text};

/// Shows the list of services, with its filters and orders.
pub async fn page(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    show(site, visit, session, &Mistakes::none()).await
}

/// The same, with the mistakes in the form that changes the selected services.
pub(super) async fn show(site: &Site, visit: &Visit, session: &Session, wrong: &Mistakes) -> Result<Answer, Fault> {
    let mut mistakes = Mistakes::none();
    let since = visit.query.given("quiet").and_then(|days| match days_ago(days) {
        Some(moment) => Some(moment),
        None => {
            mistakes.push("quiet", "Write the days as a whole number, such as 30.");
            None
        }
    });
    let owner = visit.query.given("owner");
    let mut found = find(site, visit, owner, since).await?;
    // The owner's name does as well as its alias.
    if let Some(name) = owner
        && found.services.nodes.is_empty()
        && let Some(alias) = team_called(site, visit, name).await?.filter(|alias| alias != name)
    {
        found = find(site, visit, Some(&alias), since).await?;
    }
    let similar = match visit.query.given("search") {
        Some(term) if found.services.nodes.is_empty() => similar(site, visit, term).await?,
        _ => Vec::new(),
    };
    let bar = Bar::of(site, visit, session, wrong).await?;
    let may = session.user.role >= Role::User;
    let file = link("/services.csv", &visit.query.without("after").query());
    let actions = html! {
        a.button.quiet href=(file) { "Download CSV" }
        @if may { a.button href="/new/service" { "New service" } }
    };
    let head = Head { actions, ..Head::new("Services") };
    let main = html! {
        (wrong.summary(&[]))
        (filters(visit, &found, &mistakes))
        div #services {
            (chips(visit, &found))
            (list(visit, &found, &similar, &site.catalogue.settings().app_url, bar.as_ref()))
        }
    };
    let status = match (mistakes.is_empty(), wrong.is_empty()) {
        (false, _) => 400,
        (true, false) => 422,
        (true, true) => 200,
    };
    Ok(Answer::with_status(status, framed(visit, &head, main)))
}

async fn find(site: &Site, visit: &Visit, owner: Option<&str>, since: Option<Timestamp>) -> Result<Account, Fault> {
    let wanted = wanted(visit, owner, since)?;
    Ok(ask_counting(counted(visit), site, visit, wanted).await?.account)
}

/// The filters and the order of the address.
fn wanted<'v>(visit: &'v Visit, owner: Option<&'v str>, since: Option<Timestamp>) -> Result<Services<'v>, Fault> {
    let query = &visit.query;
    let tag = query.given("tag").map(|tag| match tag.split_once([':', '=']) {
        Some((key, value)) => {
            TagArgs { key: MaybeUndefined::Value(text::trim(key)), value: MaybeUndefined::Value(text::trim(value)) }
        }
        None => TagArgs { key: MaybeUndefined::Value(tag), ..Default::default() },
    });
    Ok(Services {
        sort: Some(order(visit)?.unwrap_or(ServiceSortEnum::NameAsc)),
        after: query.given("after"),
        search: query.given("search"),
        language: query.given("language"),
        owner,
        tier: query.given("tier"),
        tag,
        has_owner: query.given("unowned").map(|_| false),
        not_deployed_since: since.map(Moment),
        filter: query
            .given("filter")
            .map(|id| IdentifierInput { id: MaybeUndefined::Value(id), alias: MaybeUndefined::Undefined }),
        conditions: {
            let own = [query.given("type").map(of_type), query.given("level").map(of_level)];
            Some(own.into_iter().flatten().collect::<Vec<_>>()).filter(|own| !own.is_empty())
        },
    })
}

/// The same list as a file, in the same order.
pub async fn file(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let since = visit.query.given("quiet").and_then(days_ago);
    let mut owner = visit.query.given("owner").map(str::to_owned);
    if let Some(name) = &owner
        && find(site, visit, Some(name), since).await?.services.nodes.is_empty()
        && let Some(alias) = team_called(site, visit, name).await?
    {
        owner = Some(alias);
    }
    let mut csv = Csv::new(&COLUMNS);
    let mut after: Option<String> = None;
    loop {
        let wanted = as_file(wanted(visit, owner.as_deref(), since)?, after.as_deref());
        let page = ask(site, visit, wanted).await?.account.services;
        for one in &page.nodes {
            if !csv.row(cells(one).iter().map(String::as_str)) {
                return Ok(csv.file("services.csv", false));
            }
        }
        match page.page_info.end_cursor.filter(|_| page.page_info.has_next_page) {
            Some(next) => after = Some(next),
            None => return Ok(csv.file("services.csv", true)),
        }
    }
}

/// The columns of the file.
const COLUMNS: [&str; 12] = [
    "name",
    "alias",
    "owner",
    "tier",
    "lifecycle",
    "language",
    "framework",
    "system",
    "last deploy",
    "last status",
    "url",
    "level",
];

/// A page of the file, with the filters and the order of a page of the list.
fn as_file<'v>(list: Services<'v>, after: Option<&'v str>) -> ServicesFile<'v> {
    let Services {
        sort, search, language, owner, tier, tag, has_owner, not_deployed_since, filter, conditions, ..
    } = list;
    ServicesFile { sort, search, language, owner, tier, tag, has_owner, not_deployed_since, filter, conditions, after }
}

/// The row of a service.
fn cells(one: &services_file::Service) -> [String; COLUMNS.len()] {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let deploy = one.last_deploy.as_ref();
    [
        one.name.clone(),
        one.aliases.first().cloned().unwrap_or_default(),
        one.owner.as_ref().map(|owner| owner.name.clone()).unwrap_or_default(),
        one.tier.as_ref().map(|tier| tier.name.clone()).unwrap_or_default(),
        one.lifecycle.as_ref().map(|stage| stage.name.clone()).unwrap_or_default(),
        text(&one.language),
        text(&one.framework),
        one.parent.as_ref().map(|system| system.name.clone()).unwrap_or_default(),
        deploy.map(|deploy| deploy.deployed_at.0.to_string()).unwrap_or_default(),
        deploy.and_then(|deploy| deploy.status.clone()).unwrap_or_default(),
        one.html_url.clone(),
        one.level.as_ref().and_then(|level| level.name.clone()).unwrap_or_default(),
    ]
}

/// The alias of the team with this name, in any case of its letters.
async fn team_called(site: &Site, visit: &Visit, name: &str) -> Result<Option<String>, Fault> {
    let app_url = &site.catalogue.settings().app_url;
    let found = ask(site, visit, Search { term: name }).await?.account.search;
    let is_it =
        |one: &&SearchResult| one.r#type == SearchTypeEnum::Team && one.name.to_lowercase() == name.to_lowercase();
    let path = found.iter().find(is_it).and_then(|team| search::address(team, app_url));
    // The path of a team's page ends with its alias.
    Ok(path.and_then(|path| visit::parts(path).pop()))
}

/// Services with similar names, for a search that finds nothing: the search of all pages forgives mistakes of typing.
async fn similar(site: &Site, visit: &Visit, term: &str) -> Result<Vec<SearchResult>, Fault> {
    let found = ask(site, visit, Search { term }).await?.account.search;
    Ok(found.into_iter().filter(|one| one.r#type == SearchTypeEnum::Service).collect())
}

/// Up to which number services are counted.
fn counted(visit: &Visit) -> u32 {
    if visit.query.given("search").is_some() { FOUND } else { COUNTED }
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

/// The time this many days ago. `None` unless the days are a whole number.
fn days_ago(days: &str) -> Option<Timestamp> {
    let days: u32 = days.parse().ok()?;
    Some(Timestamp::from_micros(Timestamp::now().as_micros().saturating_sub(DAY.saturating_mul(days.into()))))
}

/// One field, and the other filters behind a button.
fn filters(visit: &Visit, found: &Account, mistakes: &Mistakes) -> Markup {
    let text =
        |name, label, kind| form::Text { name, label, hint: "", kind, required: false }.show(&visit.query, mistakes);
    let mut tiers = vec![("", "any")];
    tiers.extend(found.tiers.iter().map(|tier| (&*tier.alias, &*tier.name)));
    let levels: Vec<(String, &str)> = levels(found).collect();
    let levels: Vec<(&str, &str)> =
        [("", "any")].into_iter().chain(levels.iter().map(|(index, name)| (&**index, *name))).collect();
    let mut types = vec![("", "any")];
    types.extend(found.component_types.nodes.iter().map(|one| (&*one.id, &*one.name)));
    let mut filters = vec![("", "none")];
    filters.extend(found.filters.nodes.iter().map(|filter| (&*filter.id, &*filter.name)));
    html! {
        form.filters.one method="get" action="/services" role="search" data-live="services" {
            (text("search", "Name or alias", "search"))
            button { "Search" }
            details.more open[!mistakes.is_empty()] {
                summary { "Add a filter" }
                div {
                    (form::suggested("owner", "Owner", found.teams.nodes.iter().map(|team| (&*team.alias, &*team.name)), &visit.query, mistakes))
                    (form::select("tier", "Tier", "", &tiers, &visit.query, mistakes))
                    @if levels.len() > 1 { (form::select("level", "Level", "", &levels, &visit.query, mistakes)) }
                    (form::select("type", "Type", "", &types, &visit.query, mistakes))
                    @if !found.filters.nodes.is_empty() {
                        (form::select("filter", "Saved filter", "", &filters, &visit.query, mistakes))
                    }
                    (text("language", "Language", "text"))
                    (text("tag", "Tag (key or key:value)", "text"))
                    (text("quiet", "No deploy in … days", "number"))
                    label.check { input type="checkbox" name="unowned" value="1" checked[visit.query.given("unowned").is_some()]; "No owner" }
                }
            }
            @if let Some(sort) = visit.query.given("sort") { input type="hidden" name="sort" value=(sort); }
        }
    }
}

/// The levels: the index and the name of each.
fn levels(found: &Account) -> impl Iterator<Item = (String, &str)> {
    let levels = found.rubric.iter().flat_map(|rubric| &rubric.levels.nodes);
    levels.filter_map(|level| Some((level.index?.to_string(), level.name.as_deref()?)))
}

/// The filters in use, each with a link that removes it.
fn chips(visit: &Visit, found: &Account) -> Markup {
    let tier = |alias: &str| found.tiers.iter().find(|one| one.alias == alias).map(|one| one.name.clone());
    let kind = |id: &str| found.component_types.nodes.iter().find(|one| one.id == id).map(|one| one.name.clone());
    let saved = |id: &str| found.filters.nodes.iter().find(|one| one.id == id).map(|one| one.name.clone());
    let team = |alias: &str| found.teams.nodes.iter().find(|one| one.alias == alias).map(|one| one.name.clone());
    let chip = |name: &str, label: &str, named: &dyn Fn(&str) -> Option<String>| {
        let given = visit.query.given(name)?;
        Some(parts::chip(visit, "/services", name, label, &named(given).unwrap_or_else(|| given.to_owned())))
    };
    let plain = |_: &str| None;
    let chips = [
        chip("owner", "Owner is", &team),
        chip("tier", "Tier is", &tier),
        chip("level", "Level is", &|index| {
            levels(found).find(|(own, _)| own == index).map(|(_, name)| name.to_owned())
        }),
        chip("type", "Type is", &kind),
        chip("filter", "Saved filter", &saved),
        chip("language", "Language is", &plain),
        chip("tag", "Tag", &plain),
        chip("quiet", "Days without a deploy:", &plain),
        chip("unowned", "Owner is", &|_| Some("none".to_owned())),
    ];
    html! { @if chips.iter().any(Option::is_some) { ul.chips { @for chip in chips.iter().flatten() { (chip) } } } }
}

fn list(visit: &Visit, found: &Account, similar: &[SearchResult], app_url: &str, bar: Option<&Bar<'_>>) -> Markup {
    let services = &found.services;
    let filtered = visit.query.without("sort").any();
    if services.nodes.is_empty() {
        return if filtered { none_match(similar, app_url) } else { none_yet() };
    }
    let rows = services.nodes.iter().map(|Service { service_row, owner }| (service_row, Some(owner.as_ref())));
    let heading = |label: &str, order: &str| sorted(visit, "/services", label, order, is_wide(order));
    let bar = bar.filter(|bar| services.nodes.iter().any(|one| bar.offers(&one.service_row, one.owner.as_ref())));
    let table = match bar {
        Some(bar) => {
            let select = |service: &ServiceRow, owner: Option<&Team>| bar.select(service, owner);
            bar.around(visit, table_with(heading, rows, Some(&select)))
        }
        None => table_with(heading, rows, None),
    };
    html! {
        p.soft role="status" {
            (count_to(counted(visit), services.total_count, "service"))
            @if filtered { " · " a href="/services" { "All services" } }
        }
        (table)
        (pages(visit, "/services", &services.page_info))
    }
}

fn none_match(similar: &[SearchResult], app_url: &str) -> Markup {
    empty(
        "No services match.",
        html! {
            @if !similar.is_empty() {
                p { "Services with similar names:" }
                ul.near { @for one in similar { @if let Some(address) = search::address(one, app_url) {
                    li { a href=(address) { (one.name) } }
                } } }
            }
            p { "Remove a filter or shorten the search, or see " a href="/services" { "all services" } "." }
        },
    )
}

fn none_yet() -> Markup {
    empty(
        "No services yet.",
        html! {
            p { "Services appear when you accept a suggestion, apply service files, or create them here or through the API." }
            p { a href="/integrations" { "Add a deploy integration" } " and let your pipelines report deploys: "
                "each unknown name becomes a " a href="/suggestions" { "suggestion" } "." }
        },
    )
}

/// The table of services, without links to sort it. Omits the column of owners if no row has an owner to show, as on a
/// team's page.
pub(super) fn table<'a>(services: impl Iterator<Item = (&'a ServiceRow, Option<Option<&'a Team>>)> + Clone) -> Markup {
    table_with(|label, order| html! { th.wide[is_wide(order)] scope="col" { (label) } }, services, None)
}

/// What stands before a row of the table, to select it.
type Select<'s> = &'s dyn Fn(&ServiceRow, Option<&Team>) -> Markup;

/// The same, with headings built by `heading` from their label and the name of their order.
fn table_with<'a>(
    heading: impl Fn(&str, &str) -> Markup,
    services: impl Iterator<Item = (&'a ServiceRow, Option<Option<&'a Team>>)> + Clone,
    select: Option<Select<'_>>,
) -> Markup {
    let now = Timestamp::now();
    let with_owner = services.clone().any(|(_, owner)| owner.is_some());
    let with_level = services.clone().any(|(service, _)| service.level.is_some());
    html! {
        div.scroll tabindex="0" role="region" aria-label="Services" {
            table {
                thead { tr {
                    @if select.is_some() { th.pick scope="col" { span.hidden { "Select" } } }
                    (heading("Service", "name")) @if with_owner { (heading("Owner", "owner")) } (heading("Tier", "tier"))
                    @if with_level { (heading("Level", "level")) }
                    (heading("Lifecycle", "lifecycle")) (heading("Language", "language"))
                    (heading("Last deploy", "last_deploy"))
                } }
                tbody { @for (service, owner) in services { tr {
                    @if let Some(select) = select { td.pick { (select(service, owner.flatten())) } }
                    (cells_of(service, owner, with_level, now))
                } } }
            }
        }
    }
}

/// Whether phones leave out the column with this order.
fn is_wide(order: &str) -> bool {
    matches!(order, "lifecycle" | "language")
}

/// The cells of a row of the table. `owner` is `None` in a table without the column.
fn cells_of(service: &ServiceRow, owner: Option<Option<&Team>>, with_level: bool, now: Timestamp) -> Markup {
    html! {
        th scope="row" {
            a href=(address(&service.aliases)) { (service.name) }
            @if service.locked { " " span.mark.none { "locked" } }
            @if let Some(system) = &service.parent { small { (system.name) } }
        }
        @if let Some(owner) = owner { td { @match owner {
            Some(owner) => a href=(path(["teams", &owner.alias])) { (owner.name) },
            None => span.mark.warn { "none" },
        } } }
        td { @if let Some(one) = &service.tier { (tier(one.index, &one.name)) } }
        @if with_level { td { @if let Some(level) = &service.level { (level.name.as_deref().unwrap_or_default()) } } }
        td.wide { @if let Some(lifecycle) = &service.lifecycle { (lifecycle.name) } }
        td.wide { @if let Some(language) = &service.language { (language) } }
        td { @match &service.last_deploy {
            Some(deploy) => {
                (time(deploy.deployed_at.0, now)) " "
                (status(deploy.deploy_status, deploy.status.as_deref()))
            },
            None => span.soft { "never" },
        } }
    }
}

/// The path of a service's page. Any alias would do; a service always has one.
pub(super) fn address(aliases: &[String]) -> String {
    path(["services", aliases.first().map_or("", String::as_str)])
}
