//! The list of services, with search and filters.

use maud::{Markup, html};

use super::ask::{ask, ask_counting};
use super::form::{self, Mistakes};
use super::layout::{Head, page as framed};
use super::operations::search::SearchResult;
use super::operations::services::Account;
use super::operations::{Search, SearchTypeEnum, ServiceRow, ServiceSortEnum};
use super::parts::{self, COUNTED, FOUND, count_to, empty, link, order, pages, sorted_of};
use super::rights::Reach;
use super::service_list::asked::{Asked, NAMES, quiet_since, team_called, wanted};
use super::service_list::bar::Bar;
use super::service_list::saved::VIEW;
use super::service_list::table::{Column, Row, Shape, table as table_of};
use super::service_list::{Chosen, choice, favourites};
use super::visit::{Fields, Session, Visit};
use super::{Answer, Fault, Site, picker, search};
use catalogue::entity::user::Role;
use catalogue::entity::{team_membership, text};

/// The filters at which mistakes are shown.
const SHOWN: [&str; 7] = ["search", "owner", "tier", "level", "type", "filter", "quiet"];

/// Shows the list of services, with its filters and orders.
pub async fn page(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    show(site, visit, session, &Mistakes::none()).await
}

/// The same, with the mistakes in the form that changes the selected services.
pub(super) async fn show(site: &Site, visit: &Visit, session: &Session, wrong: &Mistakes) -> Result<Answer, Fault> {
    let visit = &picker::understood_address(site, visit).await?;
    let mut mistakes = Mistakes::none();
    let chosen = Chosen::parse(&visit.query).unwrap_or_else(|message| {
        mistakes.push(choice::COLUMNS, message);
        Chosen::default()
    });
    let since = quiet_since(&visit.query, &mut mistakes);
    let _: Option<ServiceSortEnum> = order(visit, &mut mistakes);
    // Names are typed letter by letter: until something has one, nothing is listed, and the page is valid.
    let is_valid = mistakes.is_empty();
    let mut gone = choice::gone(site, &visit.query, &NAMES).await?;
    let (with_owners, view) = (session.user.role == Role::TeamMember, choice::open_id(&visit.query));
    let asked = Asked { chosen: &chosen, with_owners, since, is_gone: !gone.is_empty(), view };
    let (mut found, is_taken) = find_or_refuse(site, visit, &asked, &mut gone).await?;
    if gone.is_empty() && found.services.nodes.is_empty() {
        gone = choice::gone(site, &visit.query, &["owner", "tier"]).await?;
    }
    if !gone.is_empty() {
        found.services.nodes.clear();
    }
    gone.all().for_each(|(field, message)| mistakes.push(field, message));
    choice::complete(site, visit, &mut found).await?;
    let similar = match visit.query.given("search") {
        Some(term) if is_taken && found.services.nodes.is_empty() => similar(site, visit, term).await?,
        _ => Vec::new(),
    };
    let bar = Bar::read(site, visit, session, wrong).await?;
    let may = !Reach::read(site, session).await?.is_empty();
    let app_url = &*site.catalogue.settings().app_url;
    // To whoever has no team, nothing else matters of a list of what their teams own.
    let is_teamless = found.services.nodes.is_empty() && visit.query.given("mine").is_some();
    let is_teamless = is_teamless && team_membership::teams_of(site.db.read(), session.user.id).await?.is_empty();
    let nothing = Nothing { gone: gone.messages().next(), similar: &similar, app_url, may, is_teamless };
    let file = link("/services.csv", &visit.query.without("after").query());
    let actions = html! {
        a.button.quiet href=(file) { "Download CSV" }
        @if may { a.button href="/new/service" { "New service" } }
    };
    let head = Head { actions, ..Head::new("Services") };
    let main = html! {
        (wrong.summary(&[]))
        (mistakes.summary(&SHOWN))
        (filters(visit, &found, &mistakes))
        div #services {
            (choice::tools(visit, (&found, &chosen), session))
            (chips(visit, &found))
            (list(visit, (&found, &chosen), &nothing, bar.as_ref()))
        }
    };
    let status = match (is_valid && is_taken, wrong.is_empty()) {
        (false, _) => 400,
        (true, false) => 422,
        (true, true) => 200,
    };
    Ok(Answer::with_status(status, framed(visit, &head, main)))
}

/// Finds the services of the address, and says whether the API takes what it asks for. What is refused, such as a text that
/// is too long, is a mistake: nothing is found, and the filters stay in sight.
async fn find_or_refuse(
    site: &Site,
    visit: &Visit,
    asked: &Asked<'_>,
    gone: &mut Mistakes,
) -> Result<(Account, bool), Fault> {
    let message = match find(site, visit, asked).await {
        Ok(found) => return Ok((found, true)),
        Err(Fault::BadRequest(message)) => message,
        Err(fault) => return Err(fault),
    };
    let too_long = |name: &'static str| Some((name, text::fault(visit.query.get(name), text::SHORT)?));
    match ["search", "owner"].into_iter().find_map(too_long) {
        Some((name, fault)) => gone.push(name, format!("The text {fault}.")),
        None => gone.push(visit.query.given("filter").map_or("", |_| "filter"), message),
    }
    let bare = Visit { query: Fields::default(), ..visit.clone() };
    let asked =
        Asked { chosen: asked.chosen, with_owners: false, since: None, is_gone: true, view: asked.view.clone() };
    Ok((find_of(site, &bare, None, &asked).await?, false))
}

/// Finds the services of the address. The owner's name does as well as its alias.
async fn find(site: &Site, visit: &Visit, asked: &Asked<'_>) -> Result<Account, Fault> {
    let owner = visit.query.given("owner");
    let found = find_of(site, visit, owner, asked).await?;
    if let Some(name) = owner
        && found.services.nodes.is_empty()
        && let Some(alias) = team_called(site, visit, name).await?.filter(|alias| alias != name)
    {
        return find_of(site, visit, Some(&alias), asked).await;
    }
    Ok(found)
}

async fn find_of(site: &Site, visit: &Visit, owner: Option<&str>, asked: &Asked<'_>) -> Result<Account, Fault> {
    let wanted = wanted(visit, owner, asked);
    Ok(ask_counting(counted(visit), site, visit, wanted).await?.account)
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

/// One field, and the other filters behind a button.
fn filters(visit: &Visit, found: &Account, mistakes: &Mistakes) -> Markup {
    let text =
        |name, label, kind| form::Text { name, label, hint: "", kind, required: false }.show(&visit.query, mistakes);
    let owner = form::Named { name: "owner", label: "Owner", hint: "", part: "teams", required: false };
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
                    (owner.show(found.teams.nodes.iter().map(|team| (&*team.alias, &*team.name)), &visit.query, mistakes))
                    (form::select("tier", "Tier", "", &tiers, &visit.query, mistakes))
                    @if levels.len() > 1 || visit.query.given("level").is_some() { (form::select("level", "Level", "", &levels, &visit.query, mistakes)) }
                    (form::pick("type", "Type", "", &types, &visit.query, mistakes))
                    @if !found.filters.nodes.is_empty() || visit.query.given("filter").is_some() {
                        (form::pick("filter", "Saved filter", "", &filters, &visit.query, mistakes))
                    }
                    (text("language", "Language", "text"))
                    (text("tag", "Tag (key or key:value)", "text"))
                    (text("quiet", "No deploy in … days", "number"))
                    label.check { input type="checkbox" name="unowned" value="1" checked[visit.query.given("unowned").is_some()]; "No owner" }
                    button { "Apply" }
                }
            }
            (choice::kept(&visit.query, &["sort", choice::COLUMNS, "mine", "favourites", VIEW]))
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
        chip("mine", "Owner is", &|_| Some("one of my teams".to_owned())),
        chip("favourites", "Only", &|_| Some("favourites".to_owned())),
    ];
    html! { @if chips.iter().any(Option::is_some) { ul.chips { @for chip in chips.iter().flatten() { (chip) } } } }
}

/// What there is to say in the place of services.
struct Nothing<'n> {
    /// That the address names something that does not exist.
    gone: Option<&'n str>,
    similar: &'n [SearchResult],
    app_url: &'n str,
    /// Whether the visitor may add services.
    may: bool,
    /// Whether the list is of the visitor's teams, of which there are none.
    is_teamless: bool,
}

fn list(visit: &Visit, (found, chosen): (&Account, &Chosen), nothing: &Nothing<'_>, bar: Option<&Bar<'_>>) -> Markup {
    let services = &found.services;
    let filtered = visit.query.without("sort").without(choice::COLUMNS).without(VIEW).has_text();
    if services.nodes.is_empty() {
        return if filtered { none_match(visit, nothing) } else { none_yet(nothing.may) };
    }
    let heading = |label: &str, order: Option<&str>, class: Option<&str>| match order {
        Some(order) => sorted_of(visit, "/services", (label, order), class),
        None => plain_heading(label, order, class),
    };
    let bar = bar.filter(|bar| services.nodes.iter().any(|one| bar.offers(one)));
    let rows = services.nodes.iter().map(|one| {
        let before = html! { (favourites::star(one)) @if let Some(bar) = bar { (bar.select(one)) } };
        (Row::from(one), before)
    });
    let has_levels = services.nodes.iter().any(|one| one.level.is_some());
    let columns = chosen.shown(has_levels);
    let shape = Shape { columns: &columns, is_chosen: chosen.is_chosen, with_systems: true, has_before: true };
    let table = table_of(&shape, heading, rows);
    html! {
        p.soft role="status" {
            (count_to(counted(visit), services.total_count, "service"))
            @if filtered { " · " a href="/services" { "All services" } }
        }
        (favourites::form(visit))
        @match bar { Some(bar) => (bar.wrap(visit, table)), None => (table) }
        (pages(visit, "/services", &services.page_info))
    }
}

fn none_match(visit: &Visit, nothing: &Nothing<'_>) -> Markup {
    let Nothing { gone, similar, app_url, is_teamless, .. } = nothing;
    if *is_teamless {
        let next = html! {
            p {
                "Ask a member or the manager of " a href="/teams" { "your team" }
                " to add you to it: then its services stand here."
            }
            p { a href="/services" { "All services" } }
        };
        return empty("You belong to no team.", next);
    }
    empty(
        "No services match.",
        html! {
            @if let Some(gone) = gone { p { (gone) } }
            @if !similar.is_empty() {
                p { "Services with similar names:" }
                ul.near { @for one in *similar { @if let Some(address) = search::address(one, app_url) {
                    li { a href=(address) { (one.name) } }
                } } }
            }
            @if visit.query.given("favourites").is_some() {
                p { "Press the star beside a service to keep it here." }
            }
            p { "Remove a filter or shorten the search, or see " a href="/services" { "all services" } "." }
        },
    )
}

fn none_yet(may: bool) -> Markup {
    empty(
        "No services yet.",
        html! {
            @if may { p { a.button href="/new/service" { "New service" } } }
            p { "Services also come from service files, and through the API." }
            p { a href="/integrations" { "Add a deploy integration" } " and let your pipelines report deploys: "
                "each unknown name becomes a " a href="/suggestions" { "suggestion" } "." }
        },
    )
}

/// The table of services of a team or a system, without links to sort it and without owners. `with_systems` says whether
/// the rows name their systems.
pub(super) fn table<'a>(services: impl Iterator<Item = &'a ServiceRow> + Clone, with_systems: bool) -> Markup {
    let has_levels = services.clone().any(|service| service.level.is_some());
    let columns = Chosen::default().shown(has_levels);
    let columns: Vec<Column> = columns.into_iter().filter(|column| *column != Column::Owner).collect();
    let shape = Shape { columns: &columns, is_chosen: false, with_systems, has_before: false };
    table_of(&shape, plain_heading, services.map(|service| (Row::from(service), html! {})))
}

/// The heading of a column by which a list is not sorted.
fn plain_heading(label: &str, _: Option<&str>, class: Option<&str>) -> Markup {
    html! { th class=[class] scope="col" { (label) } }
}
