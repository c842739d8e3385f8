//! DORA's metrics week by week: of the organisation, a service, a team, a system or a domain.

use maud::{Markup, html};

use super::form::{self, Mistakes};
use super::layout::{Head, page as framed};
use super::offers::{Offered, Offers};
use super::parts::{count, empty, link};
use super::scope::{self, NOUNS};
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

/// Shows the delivery.
pub async fn page(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let mut mistakes = Mistakes::none();
    let named = NOUNS.into_iter().find_map(|(noun, ..)| Some((noun, visit.query.given(noun)?)));
    let kind = KINDS.into_iter().map(|(kind, _)| kind).find(|kind| *kind == visit.query.get(KIND));
    match (kind, visit.query.given(NAME)) {
        (Some(kind), Some(name)) => return Ok(Answer::redirect(address(kind, name))),
        (None, Some(_)) if named.is_none() => mistakes.push(KIND, "Choose one of the listed kinds."),
        _ => {}
    }
    let end = delivery_figures::end(Timestamp::now());
    let production = &site.catalogue.settings().production;
    let about = match named {
        Some((noun, alias)) => site.reading(visit).await?.required(|db| scope::find(db, noun, alias)).await?,
        None => None,
    };
    if let (Some((noun, alias)), None) = (named, &about) {
        mistakes.push(NAME, scope::unknown(noun, alias));
        let form = choose(site, visit, (noun, alias), &mistakes).await?;
        return Ok(Answer::checked(&mistakes, framed(visit, &Head::new("Delivery"), form)));
    }
    let form = match named {
        None => choose(site, visit, (kind.unwrap_or(KINDS[0].0), visit.query.get(NAME)), &mistakes).await?,
        Some(_) => html! {},
    };
    let reading = site.reading(visit).await?;
    let most = if named.is_some_and(|(noun, _)| noun == "service") { READ_OF_ONE } else { READ };
    let found = match &about {
        Some(about) => reading.required(|db| delivery::of_services(db, &about.services, end, production, most)).await?,
        None => reading.required(|db| delivery::of_all(db, end, production)).await?,
    };
    let weeks = count(found.weeks.len() as i64, "week");
    let main = html! {
        p.soft { "Deploys to production in the last " (weeks) ", against the " (weeks) " before. "
            a href="https://dora.dev/guides/dora-metrics/" { "DORA metrics" } "; the levels are those of DORA's report of 2023." }
        @if about.as_ref().is_some_and(scope::Scope::is_cut) {
            p.warning { "Only " (SERVICES) " services are counted." }
        }
        @if delivery_figures::is_empty(&found) {
            (empty("No deploys to production yet.", html! { p { "Deploys that succeed or fail will appear here." } }))
        } @else {
            (delivery_figures::show(&found, named))
        }
        (form)
    };
    let title = about.as_ref().map_or("Delivery".to_owned(), |about| format!("Delivery of {}", about.name));
    let head = match &about {
        Some(about) => Head {
            crumbs: html! { a href=(HERE) { "Delivery" } " / " a href=(about.address) { (about.name) } },
            ..Head::new(&title)
        },
        None => Head::new(&title),
    };
    Ok(Answer::checked(&mistakes, framed(visit, &head, main)))
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
