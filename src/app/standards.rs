//! Standards: the rubric as a table, the page of a check, and how a service stands.

use maud::{Markup, html};

use super::ask::{ask, settled, unanswered};
use super::form::Mistakes;
use super::layout::{Head, page as framed};
use super::markdown::prose;
use super::operations::service_standards::{CheckResult, MaturityReport};
use super::operations::standard::CheckReport;
use super::operations::standards::{
    CategoryConnectionTypeNodes as Category, CheckReport as Report, LevelConnectionTypeNodes as Level, Rubric,
};
use super::operations::{self, CheckStatus};
use super::parts::{count, date, delete_button, empty, grouped, level as level_chip, local};
use super::standard_parts::{address, governed, mark, name, state, told, with_links};
use super::visit::{Session, Visit, path};
use super::{Answer, Fault, Site, campaigns, manual, scorecards, standing};
use catalogue::entity::user::Role;
use catalogue::entity::{ByIds, campaign, category, check, scorecard};
use catalogue::graphql::field::id::{self, Id};

/// Shows the rubric: categories by levels, and in each cell its checks with how many services pass, as last stored.
pub async fn page(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    let rubric = ask(site, visit, operations::Standards {}).await?.account.rubric;
    let main = match &rubric {
        Some(rubric) if !rubric.reports.is_empty() => table(rubric),
        _ => empty(
            "No checks yet.",
            html! {
                @if session.user.role >= Role::StandardsAdmin { (starter_form(&Mistakes::none())) }
                p { "A check asks one question about each service, and belongs to a level and a category." }
            },
        ),
    };
    list(site, visit, session, main).await
}

/// The button that creates the starter set.
fn starter_form(mistakes: &Mistakes) -> Markup {
    html! {
        form method="post" action="/standards/starter" {
            (mistakes.summary(&[]))
            p { "Begin with ten checks that most lists of production readiness have in common: an owner, a description, a "
                "runbook, a recent deploy, and others. Each says what it is for. You can change and delete all of them." }
            button { "Create the starter set" }
        }
    }
}

/// Creates the starter set.
pub async fn starter(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let made = ask(site, visit, operations::StandardsStarter {}).await?.standards_starter_create;
    match settled(made.ok_or_else(unanswered)?.errors) {
        Ok(()) => Ok(Answer::redirect("/standards")),
        Err(mistakes) => {
            let head = Head::new("Standards");
            Ok(Answer::refused(framed(visit, &head, starter_form(&mistakes))))
        }
    }
}

/// The page with the rubric in `main`: scorecards and campaigns follow.
async fn list(site: &Site, visit: &Visit, session: &Session, main: Markup) -> Result<Answer, Fault> {
    let main = html! {
        (main)
        (standing::trends(site, visit).await?)
        (scorecards::list(site, visit).await?)
        (campaigns::list(site, visit).await?)
    };
    let actions = html! {
        @if session.user.role >= Role::StandardsAdmin {
            a.button href="/new/check" { "New check" } " "
            a.button.quiet href="/new/level" { "New level" } " "
            a.button.quiet href="/new/category" { "New category" } " "
            a.button.quiet href="/new/scorecard" { "New scorecard" } " "
            a.button.quiet href="/new/campaign" { "New campaign" }
        }
    };
    let head = Head { actions, ..Head::new("Standards") };
    Ok(Answer::page(framed(visit, &head, main)))
}

fn table(rubric: &Rubric) -> Markup {
    let (levels, categories) = (&rubric.levels.nodes, &rubric.categories.nodes);
    let heading = |level: &Level| html! { th scope="col" title=[&level.description] { (name(level.name.as_deref())) } };
    let row = |category: &Category| {
        html! {
            tr {
                th scope="row" title=[&category.description] { (category.name) }
                @for level in levels { td { (cell(rubric, level, category)) } }
            }
        }
    };
    html! {
        p { "A service reaches a level when it passes every check of that level and of the levels below." }
        div.scroll tabindex="0" role="region" aria-label="Standards" {
            table.stacked {
                thead { tr { th scope="col" { "Category" } @for level in levels { (heading(level)) } } }
                tbody { @for category in categories { (row(category)) } }
            }
        }
    }
}

/// The checks of a level and a category. On phones, where a category is a block, each cell names its level.
fn cell(rubric: &Rubric, level: &Level, category: &Category) -> Markup {
    let is_own = |report: &&Report| {
        let check = &report.check;
        check.level.as_ref().is_some_and(|own| own.id == level.id)
            && check.category.as_ref().is_some_and(|own| own.id == category.id)
    };
    let own: Vec<&Report> = rubric.reports.iter().filter(is_own).collect();
    html! {
        @if !own.is_empty() { div.on-phones.soft aria-hidden="true" { (name(level.name.as_deref())) } }
        @for report in own {
            div {
                a href=(address(&report.check.id)) { (report.check.name) }
                " " (state(report.check.enabled, report.check.enable_on))
                @if let Some(today) = report.history.last() {
                    " " span.soft { (today.passed) " of " (count(today.total, "service")) }
                    @if today.passed < today.total {
                        " " span.mark.bad.brief { (grouped(today.total - today.passed)) " not passed" }
                    }
                }
            }
        }
    }
}

/// Shows a check: what it asks, how to pass it, and who does not.
pub async fn detail(site: &Site, visit: &Visit, id: &str) -> Result<Answer, Fault> {
    let report = ask(site, visit, operations::Standard { id }).await?.account.check_report.ok_or(Fault::NotFound)?;
    let check = &report.check;
    let app_url = &site.catalogue.settings().app_url;
    let home = home(site, &check.id).await?;
    let main = html! {
        @if let Some(description) = &check.description { div.lead { p { (with_links(description)) } } }
        div.two {
            div.stack {
                (failing(visit, &report))
                @if let Some(notes) = &check.raw_notes { section.card { h2 { "How to pass" } (prose(notes)) } }
            }
            div.stack {
                section.card { h2 { "Facts" } (facts(&report, home.as_ref(), app_url)) }
                (standing::trend(&report.history))
            }
        }
    };
    let may = visit.session.as_ref().is_some_and(|session| session.user.role >= Role::StandardsAdmin);
    let may = may && check.locked_by.is_none();
    let actions = html! {
        @if may {
            a.button href=(path(["standards", id, "edit"])) { "Edit" } " "
            @let is_on = check.enabled == Some(true);
            form method="post" action=(path(["standards", id, "switch"])) {
                input type="hidden" name="enabled" value=(if is_on { "no" } else { "yes" });
                button.quiet { @if is_on { "Switch off" } @else { "Switch on" } }
            } " "
            (delete_button(&path(["standards", id, "delete"]), "Delete", &check.name, "Delete the check with its results and history?"))
        }
    };
    let chips = state(check.enabled, check.enable_on);
    let head = Head { chips, actions, ..Head::with_parent(&check.name, "/standards", "Standards") };
    Ok(Answer::page(framed(visit, &head, main)))
}

/// The campaign or the scorecard that a check belongs to.
struct Home {
    noun: &'static str,
    name: String,
    address: String,
}

/// Finds what a check belongs to; `None` for the rubric. The API does not say it of a check, so it is read from the
/// database.
async fn home(site: &Site, id: &str) -> Result<Option<Home>, Fault> {
    let db = site.db.read();
    let check = check::Entity::by_ids(db, [id::number::<check::Entity>(id)]).await?.pop().flatten();
    let Some(check) = check else { return Ok(None) };
    // A copy in a campaign keeps its category, which may be that of a scorecard.
    if let Some(own) = campaign::Entity::by_ids(db, [check.campaign_id]).await?.pop().flatten() {
        let address = campaigns::address(&Id::new::<campaign::Entity>(own.id).text());
        return Ok(Some(Home { noun: "Campaign", name: own.name, address }));
    }
    let category = category::Entity::by_ids(db, [Some(check.category_id)]).await?.pop().flatten();
    let scorecard = category.and_then(|category| category.scorecard_id);
    let own = scorecard::Entity::by_ids(db, [scorecard]).await?.pop().flatten();
    Ok(own.map(|own| {
        let address = path(["standards", "scorecards", &own.slug]);
        Home { noun: "Scorecard", name: own.name, address }
    }))
}

fn facts(report: &CheckReport, home: Option<&Home>, app_url: &str) -> Markup {
    let check = &report.check;
    html! {
        dl.facts {
            @if let Some(home) = home { dt { (home.noun) } dd { a href=(home.address) { (home.name) } } }
            @if let Some(level) = &check.level { dt { "Level" } dd { (name(level.name.as_deref())) } }
            @if let Some(category) = &check.category { dt { "Category" } dd { (category.name) } }
            dt { "Services" }
            dd { @match &check.filter {
                Some(filter) => a href=(local(&filter.html_url, app_url)) { (filter.name) },
                None => "all",
            } }
            @if let Some(owner) = &check.owner { dt { "Owner" } dd { a href=(path(["teams", &owner.alias])) { (owner.name) } } }
            (governed(check.locked_by.as_deref()))
            dt { "Results" }
            dd { (report.passed) " of " (count(report.services, "service")) " passed, " (report.failed) " failed, " (report.pending) " pending" }
        }
    }
}

fn failing(visit: &Visit, report: &CheckReport) -> Markup {
    let missed = report.failed + report.pending;
    let shown = report.failing.len();
    html! {
        section.card {
            h2 { "Not passed" }
            @if report.services == 0 { p.soft { "It is for no service." } }
            @else if missed == 0 { p { "All services pass." } }
            @else {
                (scorecards::missing(visit, &report.check.parameters, &report.check.id, &report.failing))
                @if usize::try_from(missed).unwrap_or_default() > shown { p.soft { "The first " (shown) " of " (missed) "." } }
            }
        }
    }
}

/// How a service stands, for its page.
#[derive(Default)]
pub struct Standing {
    /// The level that it has reached.
    pub level: Option<String>,
    /// Its level among all, and the checks that it does not pass. Empty as long as no check counts, or if evaluating all
    /// takes too long.
    pub card: Markup,
}

/// Finds how a service stands, with links to answer its manual checks for whoever may.
pub async fn of_service(site: &Site, visit: &Visit, alias: &str, may_answer: bool) -> Result<Standing, Fault> {
    let account = match ask(site, visit, operations::ServiceStandards { alias }).await {
        Ok(found) => found.account,
        Err(Fault::TooMuch(_) | Fault::BadRequest(_)) => return Ok(Standing::default()),
        Err(fault) => return Err(fault),
    };
    let levels = account.rubric.into_iter().flat_map(|rubric| rubric.levels.nodes);
    let mut levels: Vec<Step> =
        levels.filter_map(|level| Some((level.index?, level.name.unwrap_or_default()))).collect();
    levels.sort_unstable();
    let Some(report) = account.service.and_then(|service| service.maturity_report) else {
        return Ok(Standing::default());
    };
    let level = report.overall_level.as_ref();
    let level = level.map(|level| name(level.name.as_deref()).to_owned());
    Ok(Standing { level, card: shown(may_answer, alias, &report, &levels) })
}

/// A level: its index and its name.
type Step = (i32, String);

/// How far a service has come: a bar with a part for each level.
fn progress(reached: i32, levels: &[Step]) -> Markup {
    let done = levels.iter().filter(|(index, _)| *index <= reached).count();
    let name = levels.get(done.saturating_sub(1)).map_or("", |(_, name)| name);
    html! {
        @if done > 0 {
            p { strong { (name) } span.soft { ", level " (done) " of " (levels.len()) } }
            div.levels role="img" aria-label={ "Level " (done) " of " (levels.len()) } {
                @for (index, name) in levels { span.reached[*index <= reached] title=(name) {} }
            }
        }
    }
}

fn shown(may_answer: bool, alias: &str, report: &MaturityReport, levels: &[Step]) -> Markup {
    let results = report.latest_check_results.as_deref().unwrap_or_default();
    let index = |result: &CheckResult| result.check.level.as_ref().and_then(|level| level.index);
    let mut missed: Vec<&CheckResult> =
        results.iter().filter(|result| matches!(result.status, CheckStatus::Failed | CheckStatus::Pending)).collect();
    missed.sort_by_key(|result| index(result));
    let counting = results.iter().filter(|result| result.status != CheckStatus::Upcoming).count();
    // The lowest level of which something is missing is the next one.
    let target = missed.iter().find_map(|result| index(result));
    let (next, later): (Vec<&CheckResult>, Vec<&CheckResult>) =
        missed.into_iter().partition(|result| index(result).is_none_or(|own| Some(own) <= target));
    let target = levels.iter().find(|(own, _)| Some(*own) == target).map_or("the next level", |(_, name)| name);
    let checks = |many: &[&CheckResult]| count(i64::try_from(many.len()).unwrap_or(i64::MAX), "check");
    html! {
        section.card {
            h2 #standards { "Standards" a href=(standing::changes_of(alias)) { "All checks" } }
            @if let Some(reached) = report.overall_level.as_ref().and_then(|level| level.index) { (progress(reached, levels)) }
            @if next.is_empty() {
                p { "It passes all of its " (count(i64::try_from(counting).unwrap_or(i64::MAX), "check")) "." }
            } @else {
                p { (checks(&next)) " to " strong { (target) } ":" }
                ul { @for result in &next { (step(may_answer, alias, result)) } }
                @if !later.is_empty() {
                    details {
                        summary { (checks(&later)) " for later levels" }
                        ul { @for result in &later { (step(may_answer, alias, result)) } }
                    }
                }
            }
        }
    }
}

fn step(may_answer: bool, alias: &str, result: &CheckResult) -> Markup {
    let level = result.check.level.as_ref().and_then(|level| level.name.as_deref());
    html! {
        li {
            a href=(address(&result.check.id)) { (result.check.name) }
            @if let Some(level) = level { " " (level_chip(level)) }
            " " (mark(result.status))
            @if let Some(since) = result.since { " " span.soft { "since " (date(since.0)) } }
            small { (told(&result.message)) (manual::link(may_answer, result.check.r#type, &result.check.id, Some(alias))) }
        }
    }
}
