//! The lists of systems and of domains, and the page of each.

use maud::{Markup, html};
use sea_orm::{EntityTrait, JoinType, QueryFilter, QuerySelect, QueryTrait, RelationDef};

use super::ask::ask;
use super::form::Mistakes;
use super::graph;
use super::group_form::GroupKind;
use super::layout::{Head, page as framed};
use super::markdown::prose;
use super::operations::domain::Domain as FoundDomain;
use super::operations::{Domain, Domains, System, Systems};
use super::parts::{count, count_to_most, empty, order, owner, pages, short, sorted, tags, tier as tier_mark};
use super::reading::too_long;
use super::rights::{Owner, Reach, Rights, Thing};
use super::visit::{Session, Visit, path};
use super::{Answer, Fault, Site, all_deploys, delivery, scope, search, services, standing};
use catalogue::db::{self, Read, ReadHandle};
use catalogue::deploy::list::SERVICES;
use catalogue::entity::service::Column;
use catalogue::entity::{domain, service, system, team, tier};
use catalogue::graphql::field::id;

/// The number of services that the page of a domain lists.
pub const MEMBERS: usize = 50;

/// Lists the systems.
pub async fn systems(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    let mut mistakes = Mistakes::none();
    let sort = order(visit, &mut mistakes);
    let systems = ask(site, visit, Systems { sort, after: visit.query.given("after") }).await?.account.systems;
    let rows = systems.nodes.iter().map(|system| {
        html! {
            th scope="row" { (link("systems", &system.aliases, &system.name)) }
            td { @match &system.parent {
                Some(domain) => (link("domains", &domain.aliases, &domain.name)),
                None => span.soft { "none" },
            } }
            td { (owner(system.owner.as_ref().map(|team| (&*team.alias, &*team.name)))) }
            td.number data-label="Services" { (system.child_services.total_count) }
        }
    });
    let head = |label, order| sorted(visit, "/systems", label, order, false);
    let heads = html! {
        (head("System", "name")) (head("Domain", "domain")) (head("Owner", "owner")) th.number scope="col" { "Services" }
    };
    let table = table("systems", ("Systems", &*count_to_most(systems.total_count, "system")), &heads, rows.collect());
    let links = pages(visit, "/systems", &systems.page_info);
    let may = !Reach::read(site, session).await?.is_empty();
    Ok(Answer::checked(&mistakes, list(visit, may, GroupKind::System, table, (links, &mistakes))))
}

/// Lists the domains.
pub async fn domains(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    let mut mistakes = Mistakes::none();
    let sort = order(visit, &mut mistakes);
    let domains = ask(site, visit, Domains { sort, after: visit.query.given("after") }).await?.account.domains;
    let rows = domains.nodes.iter().map(|domain| {
        html! {
            th scope="row" { (link("domains", &domain.aliases, &domain.name)) }
            td { (owner(domain.owner.as_ref().map(|team| (&*team.alias, &*team.name)))) }
            td.number data-label="Systems" { (domain.child_systems.total_count) }
        }
    });
    let head = |label, order| sorted(visit, "/domains", label, order, false);
    let heads = html! { (head("Domain", "name")) (head("Owner", "owner")) th.number scope="col" { "Systems" } };
    let table = table("domains", ("Domains", &*count_to_most(domains.total_count, "domain")), &heads, rows.collect());
    let links = pages(visit, "/domains", &domains.page_info);
    let may = !Reach::read(site, session).await?.is_empty();
    Ok(Answer::checked(&mistakes, list(visit, may, GroupKind::Domain, table, (links, &mistakes))))
}

/// A table below the number of all that it lists a page of; nothing without rows.
fn table(part: &str, (label, number): (&str, &str), heads: &Markup, rows: Vec<Markup>) -> Option<Markup> {
    (!rows.is_empty()).then(|| {
        html! {
            (search::field(part))
            p.soft { (number) }
            div.scroll tabindex="0" role="region" aria-label=(label) {
                table.lined {
                    thead { tr { (heads) } }
                    tbody { @for row in rows { tr { (row) } } }
                }
            }
        }
    })
}

fn list(
    visit: &Visit,
    may: bool,
    kind: GroupKind,
    table: Option<Markup>,
    (links, mistakes): (Markup, &Mistakes),
) -> Markup {
    let (title, other, what) = match kind {
        GroupKind::System => {
            ("Systems", ("Domains", "/domains"), "A system is a group of services that do one thing together.")
        }
        GroupKind::Domain => {
            ("Domains", ("Systems", "/systems"), "A domain is a group of systems that serve one part of the business.")
        }
    };
    let head = Head {
        actions: html! {
            a.button.quiet href=(other.1) { (other.0) }
            @if may { a.button href=(path(["new", kind.noun()])) { "New " (kind.noun()) } }
        },
        ..Head::new(title)
    };
    let main = html! {
        (mistakes.summary(&[]))
        @match table {
            Some(table) => { (table) (links) },
            None => (empty(&format!("No {}s yet.", kind.noun()), html! {
                p { (what) }
                @if may { a.button href=(path(["new", kind.noun()])) { "New " (kind.noun()) } }
            })),
        }
    };
    framed(visit, &head, main)
}

/// Shows the system with this alias.
pub async fn system(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let found = ask(site, visit, System { alias, after: visit.query.given("after") }).await;
    let found = found.map_err(|fault| fault.for_alias("system", alias))?;
    let system = found.account.system.ok_or_else(|| Fault::unknown("system", alias))?;
    let label = format!("Dependencies of the services of {}", system.name);
    let picture = graph::of_group::<system::Entity>(site, visit, Column::SystemId, &system.id, &label).await?;
    let number = id::number::<system::Entity>(&system.id).unwrap_or_default();
    let latest = all_deploys::latest(site, visit, (Column::SystemId, number), ("system", alias)).await?;
    let standards = standing::of_system(site, visit, alias).await?;
    let wide = html! {
        section.card {
            h2 #services { "Services" }
            @if system.child_services.nodes.is_empty() { p.soft { "No service belongs to this system." } } @else {
                p.soft { (count(system.child_services.total_count, "service")) }
                (services::table(system.child_services.nodes.iter(), false))
                (pages(visit, &path(["systems", alias]), &system.child_services.page_info))
            }
        }
        (latest)
        (picture)
    };
    let group = Group {
        kind: GroupKind::System,
        aliases: &system.aliases,
        name: &system.name,
        description: system.description.as_deref(),
        note: system.note.as_deref(),
        owner: system.owner.as_ref().map(Into::into),
        domain: system.parent.as_ref().map(|domain| (&*domain.aliases, &*domain.name)),
        tags: system.tags.nodes.iter().map(|tag| (&*tag.key, &*tag.value)).collect(),
    };
    Ok(Answer::page(group.page(visit, &group.rights(site, visit).await?, (wide, standards))))
}

/// Shows the domain with this alias.
pub async fn domain(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let found = ask(site, visit, Domain { alias, after: visit.query.given("after") }).await;
    let found = found.map_err(|fault| fault.for_alias("domain", alias))?;
    let domain = found.account.domain.ok_or_else(|| Fault::unknown("domain", alias))?;
    let number = id::number::<domain::Entity>(&domain.id).unwrap_or_default();
    let reading = site.reading(visit).await?;
    let ids = reading.optional(|db| scope::of_domain(db, number, SERVICES as u64)).await?;
    let services = match &ids {
        Some(ids) => reading.optional(|db| members(db, ids)).await?,
        None => None,
    };
    let latest = all_deploys::latest_among(&reading, ids, ("domain", alias)).await?;
    drop(reading);
    let systems = html! {
        section.card {
            h2 #systems { "Systems" }
            @if domain.child_systems.nodes.is_empty() { p.soft { "No system belongs to this domain." } } @else {
                p.soft { (count(domain.child_systems.total_count, "system")) }
                (systems_of(&domain))
                (pages(visit, &path(["domains", alias]), &domain.child_systems.page_info))
            }
        }
    };
    let wide = html! {
        section.card { (services_of(services.as_deref())) }
        (latest)
    };
    let group = Group {
        kind: GroupKind::Domain,
        aliases: &domain.aliases,
        name: &domain.name,
        description: domain.description.as_deref(),
        note: domain.note.as_deref(),
        owner: domain.owner.as_ref().map(Into::into),
        domain: None,
        tags: domain.tags.nodes.iter().map(|tag| (&*tag.key, &*tag.value)).collect(),
    };
    Ok(Answer::page(group.page(visit, &group.rights(site, visit).await?, (wide, systems))))
}

/// The systems of a domain, each with the first line of its description.
fn systems_of(domain: &FoundDomain) -> Markup {
    html! {
        ul.missing aria-label="Systems" { @for system in &domain.child_systems.nodes {
            li {
                span {
                    (link("systems", &system.aliases, &system.name))
                    @if let Some(line) = system.description.as_deref().and_then(|text| text.trim().lines().next()) {
                        small { (short(line)) }
                    }
                }
                span.soft { (count(system.child_services.total_count, "service")) }
            }
        } }
    }
}

/// A service of a domain.
struct Member {
    name: String,
    slug: String,
    tier: Option<(i32, String)>,
    owner: Option<(String, String)>,
}

/// Reads these services, by name.
async fn members(db: &dyn ReadHandle, ids: &[i64]) -> Result<Vec<Member>, db::Error> {
    let of_tier: RelationDef =
        service::Entity::belongs_to(tier::Entity).from(Column::TierId).to(tier::Column::Id).into();
    let of_owner: RelationDef =
        service::Entity::belongs_to(team::Entity).from(Column::OwnerId).to(team::Column::Id).into();
    let read = service::Entity::find()
        .select_only()
        .columns([Column::Name, Column::Slug])
        .columns([tier::Column::Index, tier::Column::Name])
        .columns([team::Column::Alias, team::Column::Name])
        .join(JoinType::LeftJoin, of_tier)
        .join(JoinType::LeftJoin, of_owner)
        .filter(db::any(db, Column::Id, ids));
    let mut members = db
        .rows(read.as_query(), |row| {
            let (index, tier): (Option<i32>, Option<String>) = (row.get(2)?, row.get(3)?);
            let (alias, owner): (Option<String>, Option<String>) = (row.get(4)?, row.get(5)?);
            Ok(Member { name: row.get(0)?, slug: row.get(1)?, tier: index.zip(tier), owner: alias.zip(owner) })
        })
        .await?;
    members.sort_by_cached_key(|member| member.name.to_lowercase());
    Ok(members)
}

/// The first services of a domain. `None` means that they were not read.
fn services_of(members: Option<&[Member]>) -> Markup {
    html! {
        h2 #services { "Services" }
        @match members {
            None => (too_long()),
            Some([]) => p.soft { "No service belongs to its systems." },
            Some(members) => {
                p.soft {
                    @if members.len() >= SERVICES { "Only " (SERVICES) " services are read" }
                    @else { (count(members.len() as i64, "service")) }
                    @if members.len() > MEMBERS { ". The first " (MEMBERS) " by name are listed; each system lists its own." }
                }
                div.scroll tabindex="0" role="region" aria-label="Services" {
                    table.lined {
                        thead { tr { th scope="col" { "Service" } th scope="col" { "Tier" } th scope="col" { "Owner" } } }
                        tbody { @for member in members.iter().take(MEMBERS) { tr {
                            th scope="row" { a href=(path(["services", &member.slug])) { (member.name) } }
                            td { @match &member.tier {
                                Some((index, name)) => (tier_mark(*index, name)),
                                None => span.soft { "none" },
                            } }
                            td { (owner(member.owner.as_ref().map(|(alias, name)| (&**alias, &**name)))) }
                        } } }
                    }
                }
            },
        }
    }
}

/// A system or a domain, as its page shows it.
struct Group<'g> {
    kind: GroupKind,
    aliases: &'g [String],
    name: &'g str,
    description: Option<&'g str>,
    note: Option<&'g str>,
    owner: Option<Owner<'g>>,
    domain: Option<(&'g [String], &'g str)>,
    tags: Vec<(&'g str, &'g str)>,
}

impl<'g> Group<'g> {
    fn first(&self) -> &'g str {
        self.aliases.first().map_or("", String::as_str)
    }

    async fn rights(&self, site: &Site, visit: &Visit) -> Result<Rights<'g>, Fault> {
        let page = path([self.kind.part(), self.first()]);
        Rights::read(site, visit, Thing { noun: self.kind.noun(), page, owner: self.owner }).await
    }

    /// `wide` are the cards of the wide column, and `narrow` those beside them, below the facts: both about as high.
    fn page(&self, visit: &Visit, rights: &Rights<'_>, (wide, narrow): (Markup, Markup)) -> Markup {
        let first = self.first();
        let (all, name) = match self.kind {
            GroupKind::System => ("/systems", "Systems"),
            GroupKind::Domain => ("/domains", "Domains"),
        };
        let head = Head {
            crumbs: html! {
                a href=(all) { (name) }
                @if let Some((aliases, name)) = self.domain { " / " (link("domains", aliases, name)) }
            },
            actions: html! {
                a.button.quiet href=(delivery::address(self.kind.noun(), first)) { "Delivery" }
                a.button.quiet href=(path([self.kind.part(), first, "history"])) { "History" }
                @if rights.may_change() {
                    a.button.quiet href=(path([self.kind.part(), first, "edit"])) { "Edit" }
                }
            },
            ..Head::new(self.name)
        };
        let main = html! {
            (rights.note())
            @if let Some(text) = self.description { div.lead { (prose(text)) } }
            div.two {
                div.stack {
                    (wide)
                    @if let Some(note) = self.note { section.card { h2 { "Notes" } (prose(note)) } }
                }
                div.stack { (self.facts()) (narrow) }
            }
        };
        framed(visit, &head, main)
    }

    fn facts(&self) -> Markup {
        html! {
            section.card {
                h2 { "Facts" }
                dl.facts {
                    dt { "Owner" } dd { (owner(self.owner.map(|team| (team.alias, team.name)))) }
                    @if let Some((aliases, name)) = self.domain {
                        dt { "Domain" } dd { (link("domains", aliases, name)) }
                    }
                    dt { "Aliases" } dd { ul.marks { @for alias in self.aliases { li { code.mark.none { (alias) } } } } }
                    @if !self.tags.is_empty() {
                        dt { "Tags" } dd { (tags(self.tags.iter().copied())) }
                    }
                }
            }
        }
    }
}

/// Links to a system or a domain by its first alias.
pub fn link(part: &str, aliases: &[String], name: &str) -> Markup {
    html! { a href=(path([part, aliases.first().map_or("", String::as_str)])) { (name) } }
}
