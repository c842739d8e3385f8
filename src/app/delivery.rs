//! DORA's metrics week by week: of the organisation, a service, a team, a system or a domain.

use maud::{Markup, html};

use super::form::{self, Mistakes};
use super::layout::{Head, page as framed};
use super::offers::{Offered, Offers};
use super::parts::{count, empty, link};
use super::scope::{self, NAMED, NOUNS, Name, Named, Scope};
use super::visit::{Fields, Visit};
use super::{Answer, Fault, Site, delivery_figures};
use catalogue::deploy::delivery::{self, READ, READ_OF_ONE};
use catalogue::deploy::list::SERVICES;
use catalogue::entity::Timestamp;

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
    let kind = KINDS.into_iter().map(|(kind, _)| kind).find(|kind| *kind == visit.query.get(KIND));
    if let (Some(kind), Some(name)) = (kind, visit.query.given(NAME)) {
        return Ok(Answer::redirect(address(kind, name)));
    }
    let named = match Named::is_any(&visit.query) {
        true => site.reading(visit).await?.required(|db| Named::find(db, &visit.query)).await?,
        false => Named::default(),
    };
    if let Some((noun, alias)) = named.unknown.first().copied() {
        mistakes.push(NAME, scope::unknown(noun, alias));
        let form = choose(site, visit, (noun, alias), &mistakes).await?;
        return Ok(Answer::checked(&mistakes, framed(visit, &Head::new("Delivery"), form)));
    }
    let about = &named.found;
    if about.is_empty() && visit.query.given(NAME).is_some() {
        mistakes.push(KIND, "Choose one of the listed kinds.");
    }
    let form = match about.is_empty() {
        true => choose(site, visit, (kind.unwrap_or(KINDS[0].0), visit.query.get(NAME)), &mistakes).await?,
        false => html! {},
    };
    let (end, production) = (delivery_figures::end(Timestamp::now()), &site.catalogue.settings().production);
    let reading = site.reading(visit).await?;
    let most = if matches!(about[..], [(("service", _), _)]) { READ_OF_ONE } else { READ };
    let (services, is_cut) = named.services();
    let found = match services {
        None => reading.required(|db| delivery::of_all(db, end, production)).await?,
        Some(services) => reading.required(|db| delivery::of_services(db, &services, end, production, most)).await?,
    };
    let names: Vec<Name<'_>> = about.iter().map(|(name, _)| *name).collect();
    let weeks = count(found.weeks.len() as i64, "week");
    let main = html! {
        p.soft {
            "Deploys to production in the last " (weeks)
            @if delivery_figures::has_earlier(&found) { ", against the " (weeks) " before" } ". "
            a href="https://dora.dev/guides/dora-metrics/" { "DORA metrics" } "; the levels are those of DORA's report of 2023."
        }
        @if !named.short.is_empty() { p.warning { "Only the first " (NAMED) " of a kind are looked for." } }
        @if is_cut { p.warning { "Only " (SERVICES) " services are counted." } }
        @if delivery_figures::is_empty(&found) {
            (empty("No deploys to production yet.", html! { p { "Deploys that succeed or fail will appear here." } }))
        } @else {
            (delivery_figures::show(&found, &names))
        }
        (form)
    };
    Ok(Answer::checked(&mistakes, headed(visit, about, main)))
}

/// The page below a heading that says what it is about, with links to that.
fn headed(visit: &Visit, about: &[(Name<'_>, Scope)], main: Markup) -> Markup {
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
