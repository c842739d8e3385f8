//! DORA's metrics week by week: of the organisation, a service, a team, a system or a domain.

use maud::{Markup, html};

use super::form::Mistakes;
use super::layout::{Head, page as framed};
use super::offers::Offers;
use super::parts::{count, empty, link};
use super::scope::{self, NOUNS, OFFERED};
use super::visit::{Fields, Visit};
use super::{Answer, Fault, Site, delivery_figures};
use crate::deploy::delivery::{self, READ, READ_OF_ONE};
use crate::deploy::list::SERVICES;
use crate::entity::Timestamp;

const HERE: &str = "/delivery";

/// The path of the delivery of a service, a team, a system or a domain.
pub fn address(noun: &str, alias: &str) -> String {
    link(HERE, &Fields::one(noun, alias).query())
}

/// Shows the delivery.
pub async fn page(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let end = delivery_figures::end(Timestamp::now());
    let production = &site.catalogue.settings().production;
    let named = NOUNS.into_iter().find_map(|(noun, ..)| Some((noun, visit.query.given(noun)?)));
    let about = match named {
        Some((noun, alias)) => site.reading(visit).await?.required(|db| scope::find(db, noun, alias)).await?,
        None => None,
    };
    let mut mistakes = Mistakes::none();
    if let (Some((noun, alias)), None) = (named, &about) {
        mistakes.push(noun, scope::unknown(noun, alias));
        let offers = Offers::read(site, visit, &OFFERED).await?;
        return Ok(Answer::checked(
            &mistakes,
            framed(visit, &Head::new("Delivery"), choose(visit, &offers, &mistakes)),
        ));
    }
    let offers = Offers::read(site, visit, if named.is_none() { &OFFERED } else { &[] }).await?;
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
        @if about.is_none() { (choose(visit, &offers, &mistakes)) }
    };
    let title = about.as_ref().map_or("Delivery".to_owned(), |about| format!("Delivery of {}", about.name));
    let head = match &about {
        Some(about) => Head::with_parent(&title, &about.address, &about.name),
        None => Head::new(&title),
    };
    Ok(Answer::page(framed(visit, &head, main)))
}

/// The forms that choose a service, a team, a system or a domain.
fn choose(visit: &Visit, offers: &Offers, mistakes: &Mistakes) -> Markup {
    html! {
        h2 { "Of a service, a team, a system or a domain" }
        div.filters {
            @for (noun, of, label) in NOUNS {
                form.filters method="get" action=(HERE) {
                    (offers.show(of, (noun, label, ""), true, (&visit.query, mistakes)))
                    button.quiet { "Show" }
                }
            }
        }
    }
}
