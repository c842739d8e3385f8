//! DORA's metrics week by week: of the organisation, a service, a team, a system or a domain.

use maud::{Markup, html};

use super::deploy_filter::NAMED;
use super::form::{self, Mistakes};
use super::layout::{Head, page as framed};
use super::offers::{Offered, Offers};
use super::parts::{count, empty, link};
use super::scope::{self, NOUNS, Scope};
use super::visit::{Fields, Visit};
use super::{Answer, Fault, Site, delivery_figures};
use crate::deploy::delivery::{self, READ, READ_OF_ONE};
use crate::deploy::list::SERVICES;
use crate::entity::Timestamp;

const HERE: &str = "/delivery";

/// The fields that choose what the page is about. They lead to the address of that.
const KIND: &str = "kind";
const NAME: &str = "name";

/// The kinds of what the page is about, as the form says them.
const KINDS: [(&str, &str); 4] =
    [("service", "a service"), ("team", "a team"), ("system", "a system"), ("domain", "a domain")];

/// The path of the delivery of a service, a team, a system or a domain.
pub fn address(noun: &str, alias: &str) -> String {
    link(HERE, &Fields::one(noun, alias).query())
}

/// A noun, and the name or alias of one, as the address says them.
type Named<'q> = (&'static str, &'q str);

/// Shows the delivery.
pub async fn page(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let mut mistakes = Mistakes::none();
    let (named, is_short) = named(&visit.query);
    let kind = KINDS.into_iter().map(|(kind, _)| kind).find(|kind| *kind == visit.query.get(KIND));
    match (kind, visit.query.given(NAME)) {
        (Some(kind), Some(name)) => return Ok(Answer::redirect(address(kind, name))),
        (None, Some(_)) if named.is_empty() => mistakes.push(KIND, "Choose one of the listed kinds."),
        _ => {}
    }
    let about = match find(site, visit, &named).await? {
        Ok(about) => about,
        Err((noun, alias)) => {
            mistakes.push(NAME, scope::unknown(noun, alias));
            let form = choose(site, visit, (noun, alias), &mistakes).await?;
            return Ok(Answer::checked(&mistakes, framed(visit, &Head::new("Delivery"), form)));
        }
    };
    let form = match named.is_empty() {
        true => choose(site, visit, (kind.unwrap_or(KINDS[0].0), visit.query.get(NAME)), &mistakes).await?,
        false => html! {},
    };
    let (end, production) = (delivery_figures::end(Timestamp::now()), &site.catalogue.settings().production);
    let reading = site.reading(visit).await?;
    let most = if matches!(named[..], [("service", _)]) { READ_OF_ONE } else { READ };
    let (services, is_cut) = shared(&about);
    let found = match about.is_empty() {
        true => reading.required(|db| delivery::of_all(db, end, production)).await?,
        false => reading.required(|db| delivery::of_services(db, &services, end, production, most)).await?,
    };
    let weeks = count(found.weeks.len() as i64, "week");
    let main = html! {
        p.soft {
            "Deploys to production in the last " (weeks)
            @if delivery_figures::has_earlier(&found) { ", against the " (weeks) " before" } ". "
            a href="https://dora.dev/guides/dora-metrics/" { "DORA metrics" } "; the levels are those of DORA's report of 2023."
        }
        @if is_short { p.warning { "Only the first " (NAMED) " of a kind are looked for." } }
        @if is_cut { p.warning { "Only " (SERVICES) " services are counted." } }
        @if delivery_figures::is_empty(&found) {
            (empty("No deploys to production yet.", html! { p { "Deploys that succeed or fail will appear here." } }))
        } @else {
            (delivery_figures::show(&found, &named))
        }
        (form)
    };
    Ok(Answer::checked(&mistakes, headed(visit, &about, main)))
}

/// What the address names, and whether it names more than are looked for. Names mean what they mean in lists of deploys,
/// to which the figures lead.
fn named(query: &Fields) -> (Vec<Named<'_>>, bool) {
    let (mut named, mut is_short) = (Vec::new(), false);
    for (noun, ..) in NOUNS {
        let aliases: Vec<&str> = all(query, noun).collect();
        is_short |= aliases.len() > NAMED;
        named.extend(aliases.into_iter().take(NAMED).map(|alias| (noun, alias)));
    }
    (named, is_short)
}

/// The names of a kind in the address.
fn all<'q>(query: &'q Fields, noun: &'static str) -> impl Iterator<Item = &'q str> {
    query.get_all(noun).filter(|alias| !alias.is_empty())
}

/// Finds what the address names, or says which is the first that is unknown.
async fn find<'q>(
    site: &Site,
    visit: &Visit,
    named: &[Named<'q>],
) -> Result<Result<Vec<(&'static str, Scope)>, Named<'q>>, Fault> {
    let mut about = Vec::with_capacity(named.len());
    if named.is_empty() {
        return Ok(Ok(about));
    }
    let reading = site.reading(visit).await?;
    for (noun, alias) in named.iter().copied() {
        match reading.required(|db| scope::find(db, noun, alias)).await? {
            Some(scope) => about.push((noun, scope)),
            None => return Ok(Err((noun, alias))),
        }
    }
    Ok(Ok(about))
}

/// The services that belong to what is named: to any of several names of one kind, and to every kind that is named. Also
/// whether there may be more.
fn shared(about: &[(&'static str, Scope)]) -> (Vec<i64>, bool) {
    let mut is_cut = about.iter().any(|(_, scope)| scope.is_cut());
    let mut shared: Option<Vec<i64>> = None;
    for (noun, ..) in NOUNS {
        let mut of_kind = about.iter().filter(|(own, _)| *own == noun).map(|(_, scope)| &scope.services).peekable();
        if of_kind.peek().is_none() {
            continue;
        }
        let mut ids: Vec<i64> = of_kind.flatten().copied().collect();
        ids.sort_unstable();
        ids.dedup();
        shared = Some(match shared {
            Some(known) => known.into_iter().filter(|id| ids.binary_search(id).is_ok()).collect(),
            None => ids,
        });
    }
    let mut services = shared.unwrap_or_default();
    is_cut |= services.len() > SERVICES;
    services.truncate(SERVICES);
    (services, is_cut)
}

/// The page below a heading that says what it is about, with links to that.
fn headed(visit: &Visit, about: &[(&'static str, Scope)], main: Markup) -> Markup {
    if about.is_empty() {
        return framed(visit, &Head::new("Delivery"), main);
    }
    let names: Vec<&str> = about.iter().map(|(_, scope)| &*scope.name).collect();
    let title = format!("Delivery of {}", names.join(", "));
    let crumbs = html! {
        a href=(HERE) { "Delivery" } " / "
        @for (place, (_, scope)) in about.iter().enumerate() {
            @if place > 0 { ", " }
            a href=(scope.address) { (scope.name) }
        }
    };
    framed(visit, &Head { crumbs, ..Head::new(&title) }, main)
}

/// The form that chooses a service, a team, a system or a domain, with what is chosen. Its field offers the first of that
/// kind; with the script, of the kind that is chosen then.
async fn choose(site: &Site, visit: &Visit, chosen: (&str, &str), mistakes: &Mistakes) -> Result<Markup, Fault> {
    let of = NOUNS.into_iter().find(|(noun, ..)| *noun == chosen.0).map_or(Offered::Services, |(_, of, _)| of);
    let offers = Offers::read(site, visit, &[of]).await?;
    let values = Fields::one(KIND, chosen.0).and(NAME, chosen.1);
    Ok(html! {
        h2 { "Of a part" }
        form.filters method="get" action=(HERE) data-kind=(KIND) {
            (form::select(KIND, "Delivery of", "", &KINDS, &values, mistakes))
            (offers.show(of, (NAME, "Name or alias", ""), true, (&values, mistakes)))
            button { "Show" }
        }
    })
}
