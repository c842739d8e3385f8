//! What form fields that name something offer: the first of the things by name. Whoever does not find one among them writes
//! its name or its alias, which [`picker`](super::picker) understands.

use maud::Markup;

use super::ask::ask;
use super::form::{Mistakes, Named, PEOPLE};
use super::operations::PickerOffers;
use super::visit::{Fields, Visit};
use super::{Fault, Site};

/// A kind of thing that fields name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered {
    Teams,
    Services,
    Systems,
    Domains,
    Repositories,
    /// By email address.
    People,
}

impl Offered {
    /// The part of the pages that shows them, for which the script searches.
    fn part(self) -> &'static str {
        match self {
            Self::Teams => "teams",
            Self::Services => "services",
            Self::Systems => "systems",
            Self::Domains => "domains",
            Self::Repositories => "repositories",
            Self::People => PEOPLE,
        }
    }
}

/// What fields offer: of each kind, the alias or the address, and the name.
pub struct Offers(Vec<(Offered, Vec<(String, String)>)>);

impl Offers {
    /// Reads what fields of these kinds offer.
    pub async fn read(site: &Site, visit: &Visit, kinds: &[Offered]) -> Result<Self, Fault> {
        if kinds.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let has = |kind| kinds.contains(&kind);
        let wanted = PickerOffers {
            teams: has(Offered::Teams),
            services: has(Offered::Services),
            systems: has(Offered::Systems),
            domains: has(Offered::Domains),
            repositories: has(Offered::Repositories),
            people: has(Offered::People),
        };
        let found = ask(site, visit, wanted).await?.account;
        let first = |aliases: Vec<String>| aliases.into_iter().next();
        let teams = found.teams.into_iter().flat_map(|page| page.nodes).map(|one| (one.alias, one.name));
        let services = found.services.into_iter().flat_map(|page| page.nodes);
        let services = services.filter_map(|one| Some((first(one.aliases)?, one.name)));
        let systems = found.systems.into_iter().flat_map(|page| page.nodes);
        let systems = systems.filter_map(|one| Some((first(one.aliases)?, one.name)));
        let domains = found.domains.into_iter().flat_map(|page| page.nodes);
        let domains = domains.filter_map(|one| Some((first(one.aliases)?, one.name)));
        let repositories = found.repositories.into_iter().flat_map(|page| page.nodes);
        let repositories = repositories.map(|one| (one.default_alias, one.name));
        let people = found.users.into_iter().flat_map(|page| page.nodes);
        let people = people.map(|one| (one.email, one.name));
        Ok(Self(vec![
            (Offered::Teams, teams.collect()),
            (Offered::Services, services.collect()),
            (Offered::Systems, systems.collect()),
            (Offered::Domains, domains.collect()),
            (Offered::Repositories, repositories.collect()),
            (Offered::People, people.collect()),
        ]))
    }

    /// What fields of a kind offer: value and label.
    pub fn of_kind(&self, kind: Offered) -> impl Iterator<Item = (&str, &str)> {
        let own = self.0.iter().filter(move |(own, _)| *own == kind);
        own.flat_map(|(_, all)| all.iter().map(|(value, name)| (&**value, &**name)))
    }

    /// The same as a form of columns takes it.
    pub fn owned(&self, kind: Offered) -> Vec<(String, String)> {
        self.of_kind(kind).map(|(value, name)| (value.to_owned(), name.to_owned())).collect()
    }

    /// Shows a field: its name, its label and a hint.
    pub fn show(
        &self,
        kind: Offered,
        (name, label, hint): (&str, &str, &str),
        required: bool,
        (form, mistakes): (&Fields, &Mistakes),
    ) -> Markup {
        let named = Named { name, label, hint, part: kind.part(), required };
        named.show(self.of_kind(kind), form, mistakes)
    }
}
