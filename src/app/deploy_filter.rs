//! The filter of the list of deploys: what its address says, its fields, and its chips.

use maud::{Markup, html};

use super::Fault;
use super::form::{self, Mistakes};
use super::offers::Offers;
use super::parts::{begins_at, chip, grouped, period};
use super::scope::{self, NAMED, NOUNS, Named};
use super::visit::{Fields, Visit};
use catalogue::db::ReadHandle;
use catalogue::deploy::list::{self, Filter, SEARCHED};
use catalogue::entity::deploy::{Environments, Status};
use catalogue::entity::{TimeCursor, service};

/// The statuses: the word in the address and on the page, and what is stored.
pub const STATUSES: &[(&str, Status)] = &[
    ("succeeded", Status::Succeeded),
    ("failed", Status::Failed),
    ("running", Status::Running),
    ("queued", Status::Queued),
    ("cancelled", Status::Cancelled),
];

/// The parameter that selects the deploys to production, whatever its environments are called.
pub const PRODUCTION: &str = "production";

/// The fields of the filter.
const FIELDS: [&str; 9] = ["service", "team", "system", "domain", "person", "environment", "status", "from", "until"];

/// What an address says of the list.
pub struct Wanted {
    /// The deploys. A condition that is not understood is a mistake, and selects all; a name that nothing has selects none.
    pub filter: Filter,
    /// Where the page begins.
    pub after: Option<TimeCursor>,
    /// What is not understood.
    pub mistakes: Mistakes,
    /// Whether only names are not understood: whoever types one sees at once that nothing has it, yet.
    pub is_valid: bool,
    /// Whether only some of the services are listed, because there are too many.
    pub is_cut: bool,
}

impl Wanted {
    /// Reads the conditions of an address. Of a list of one service, the address names no other.
    pub async fn read(
        db: &dyn ReadHandle,
        query: &Fields,
        production: &Environments,
        of: Option<&service::Model>,
    ) -> Result<Self, Fault> {
        let mut mistakes = Mistakes::none();
        let status = query.given("status").and_then(|word| {
            let known = STATUSES.iter().find(|(known, _)| *known == word);
            if known.is_none() {
                mistakes.push("status", "Choose one of the listed statuses.");
            }
            known.map(|(_, status)| *status)
        });
        let after = begins_at(query, &mut mistakes);
        let (start, end) = period(query, &mut mistakes);
        let is_valid = mistakes.is_empty();
        let (services, is_cut) = match of {
            Some(service) => (Some(vec![service.id]), false),
            None => services(db, query, &mut mistakes).await?,
        };
        let filter = Filter {
            services,
            environment: query.given("environment").map(str::to_owned),
            production: query.given(PRODUCTION).map(|_| production.clone()),
            status,
            person: query.given("person").map(str::to_owned),
            start,
            end,
        };
        Ok(Self { filter, after, mistakes, is_valid, is_cut })
    }

    /// Whether a page shows the newest deploys of all.
    pub fn is_live(&self) -> bool {
        self.after.is_none() && self.filter.end.is_none() && self.mistakes.is_empty()
    }

    /// Says at its field if no deploy at all is by this person, as far as is searched. For a list that has none.
    pub async fn check_person(&self, db: &dyn ReadHandle) -> Result<Option<String>, Fault> {
        let Some(person) = self.filter.person.as_ref().filter(|_| self.after.is_none()) else { return Ok(None) };
        let all = Filter { person: Some(person.clone()), ..Filter::default() };
        let found = list::page(db, &all, None, 1).await?;
        Ok(match (found.deploys.is_empty(), found.next) {
            (false, _) => None,
            (true, None) => Some("Nobody whose name or email address has this text has deployed.".to_owned()),
            (true, Some(_)) => {
                Some(format!("None of the last {} deploys is by such a person.", grouped(SEARCHED as i64)))
            }
        })
    }
}

/// The services that the address names by their own alias, their team, their system or their domain, and whether there may
/// be more of them.
async fn services(
    db: &dyn ReadHandle,
    query: &Fields,
    mistakes: &mut Mistakes,
) -> Result<(Option<Vec<i64>>, bool), Fault> {
    let named = Named::find(db, query).await?;
    for noun in &named.short {
        mistakes.push(*noun, format!("Only the first {NAMED} are looked for."));
    }
    for (noun, name) in &named.unknown {
        mistakes.push(*noun, scope::unknown(noun, name));
    }
    Ok(named.services())
}

/// The fields. Without `offers`, the list is of one service.
pub fn fields(visit: &Visit, here: &str, offers: Option<&Offers>, mistakes: &Mistakes) -> Markup {
    let query = &visit.query;
    let field = |name, label, kind| form::Text { name, label, hint: "", kind, required: false }.show(query, mistakes);
    let nouns = |offers: &Offers, from: usize, most: usize| {
        html! {
            @for (name, of, label) in NOUNS.into_iter().skip(from).take(most) {
                (offers.show(of, (name, label, ""), false, (query, mistakes)))
            }
        }
    };
    let statuses: Vec<_> = [("", "any")].into_iter().chain(STATUSES.iter().map(|(word, _)| (*word, *word))).collect();
    html! {
        (mistakes.summary(&FIELDS))
        form.filters.one method="get" action=(here) role="search" data-live="deploys" {
            @match offers {
                Some(offers) => (nouns(offers, 0, 1)),
                None => (field("person", "Deployed by", "text")),
            }
            // A field has room for one. Any more stay as they are.
            @if offers.is_some() { @for (noun, ..) in NOUNS {
                @for more in query.get_all(noun).skip(1).take(NAMED).filter(|more| !more.is_empty()) {
                    input type="hidden" name=(noun) value=(more);
                }
            } }
            button { "Search" }
            details.more open[!mistakes.is_empty()] {
                summary { "Add a filter" }
                div {
                    @if let Some(offers) = offers {
                        (nouns(offers, 1, NOUNS.len()))
                        (field("person", "Deployed by", "text"))
                    }
                    (field("environment", "Environment", "text"))
                    (form::select("status", "Status", "", &statuses, query, mistakes))
                    (field("from", "From (UTC)", "date"))
                    (field("until", "Until", "date"))
                    label.check {
                        input type="checkbox" name=(PRODUCTION) value="1" checked[query.given(PRODUCTION).is_some()];
                        "Only production"
                    }
                    button { "Apply" }
                }
            }
        }
    }
}

/// What a filter in use says: of a kind of things, all that are named.
fn value(query: &Fields, name: &str) -> Option<String> {
    if !NOUNS.iter().any(|(noun, ..)| *noun == name) {
        return query.given(name).map(str::to_owned);
    }
    let all: Vec<&str> = query.get_all(name).filter(|one| !one.is_empty()).take(NAMED).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// The filters in use. A list of one service does not know those of others.
pub fn chips(visit: &Visit, here: &str, is_of_all: bool) -> Markup {
    let known = [
        ("service", "Service is"),
        ("team", "Team is"),
        ("system", "System is"),
        ("domain", "Domain is"),
        ("person", "Deployed by"),
        ("environment", "Environment is"),
        ("status", "Status is"),
        ("from", "From"),
        ("until", "Until"),
    ];
    let known = if is_of_all { &known[..] } else { &known[NOUNS.len()..] };
    let used = || known.iter().filter_map(|(name, label)| Some((*name, *label, value(&visit.query, name)?)));
    let is_production = visit.query.given(PRODUCTION).is_some();
    html! {
        @if used().next().is_some() || is_production {
            ul.chips {
                @for (name, label, value) in used() { (chip(visit, here, name, label, &value)) }
                @if is_production { (chip(visit, here, PRODUCTION, "Only", "production")) }
            }
        }
    }
}
