//! Pictures of dependencies: around a service, and of the services of a system or a team.
//!
//! The picture is read from the database, because the API has no graph. Its size is bounded before the layout: the search
//! of [`reach`], the services of a group, and the boxes of a picture all have limits.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use maud::{Markup, html};

use super::ask::ask;
use super::form::{self, Mistakes};
use super::layout::below;
use super::operations::ServiceGraph;
use super::operations::service_graph::{AccountService as Service, ServiceImpactConnectionType, ServiceImpactEdge};
use super::parts::{count, empty, link, pages};
use super::reading::{Reading, too_long};
use super::service_name;
use super::visit::{Fields, Visit, path};
use super::{Answer, Fault, Site};
use behind::{Behind, cells, heads};
use catalogue::db::ReadHandle;
use catalogue::entity::service::{self, Column};
use catalogue::entity::service_dependency::{self, Direction, STEPS, reach};
use catalogue::graphql::field::id::{self, Class};
use layout::{Content, Folded, PictureLimits, fold, fold_by, layers};
use picture::{Mark, Node, Picture, RANKED, Rest};

mod behind;
mod layout;
pub mod picture;

/// The maximum size of the picture on a service's page.
pub const SMALL: PictureLimits = PictureLimits { nodes: 20, in_layer: 8, named: 0 };
/// The number of steps in each direction of the picture on a service's page.
pub const SMALL_STEPS: u8 = 1;
/// The maximum size of the picture on a page of its own, and of that of a system or a team.
pub const LARGE: PictureLimits = PictureLimits { nodes: 60, in_layer: 24, named: 100 };
/// The number of steps in each direction that the page of a service's graph shows. The list of what its failure can reach
/// goes as far unless more steps are asked for, which cost more: the service with the most dependents can reach 10,000.
pub const SHOWN_STEPS: u8 = 2;
/// The maximum number of layers in the picture of a system or a team.
pub const LAYERS: usize = 6;
/// The maximum number of services of a system or a team whose dependencies are read.
pub const MEMBERS: usize = 500;
/// The maximum number of their dependencies that are read, in each direction.
pub const AROUND: usize = 5_000;

/// The path of the graph of a service.
pub fn address(aliases: &[String]) -> String {
    service_name::address(aliases) + "/graph"
}

/// Shows the graph around the service with this alias, and the services that its failure can reach.
pub async fn page(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let mut mistakes = Mistakes::none();
    let steps = steps(visit, &mut mistakes);
    let wanted = ServiceGraph { alias, depth: Some(steps), after: visit.query.given("after") };
    let service = ask(site, visit, wanted).await?.account.service.ok_or_else(|| Fault::unknown("service", alias))?;
    let Service { id, name, aliases, impact } = &service;
    let here = address(aliases);
    let by_state = visit.query.get(COLOUR) == STATE;
    let picture = site.reading(visit).await?.required(|db| centred(db, id, by_state)).await?;
    let listed: Vec<String> =
        impact.edges.iter().map(|edge| service_name::address(&edge.node.neighbour.aliases)).collect();
    let further = html! {
        a href="#impact" { "What its failure can reach" } " lists all services that depend on it, and the API has all dependencies."
    };
    let main = html! {
        @match &picture {
            Some((picture, _)) => {
                p { "Services that depend on it are to the left, its dependencies to the right, up to " (SHOWN_STEPS) " steps away. "
                    "A box leads to the picture around its service." }
                (colours(visit, &here, by_state))
                (shown(picture, &format!("Dependencies around {name}"), ("#impact", &further)))
            },
            None => (empty("No dependencies.", html! { p { "This service has no dependencies, and no service depends on it." } })),
        }
        // First: it is what people ask during an incident.
        h2 #impact { "What its failure can reach" }
        (reached(visit, &here, (steps, &mistakes), impact))
        @if let Some((picture, behind)) = &picture { (behind.table(picture, &listed)) }
    };
    Ok(Answer::checked(
        &mistakes,
        below(visit, (&service_name::address(aliases), name), &format!("Dependencies of {name}"), main),
    ))
}

/// The query parameter that says what boxes are marked by, and its value for how the last deploys went. Any other means
/// tiers.
const COLOUR: &str = "colour";
const STATE: &str = "state";

/// Links that choose what boxes are marked by.
fn colours(visit: &Visit, here: &str, by_state: bool) -> Markup {
    let current = |is: bool| is.then_some("true");
    html! {
        nav aria-label="Marks" { ul.chips {
            li { a href=(link(here, &visit.query.without(COLOUR).query())) aria-current=[current(!by_state)] { "Marked by tier" } }
            li { a href=(link(here, &visit.query.query_with(COLOUR, STATE))) aria-current=[current(by_state)] { "By last deploy" } }
        } }
    }
}

/// The large picture around a service, and who stands behind its boxes. Its boxes lead to the pictures around their
/// services, that of the service to its page.
async fn centred(db: &dyn ReadHandle, service: &str, by_state: bool) -> Result<Option<(Picture, Behind)>, Fault> {
    let Some(mut picture) = neighbourhood(db, service, SHOWN_STEPS, LARGE).await? else { return Ok(None) };
    let behind = Behind::read(db, &picture.ids()).await?;
    for node in picture.nodes.iter_mut().flatten() {
        if by_state {
            node.mark = behind.state(node.id);
        }
        if !node.is_focus {
            let query = if by_state { Fields::one(COLOUR, STATE).query() } else { String::new() };
            node.href = link(&(node.page.clone() + "/graph"), &query);
        }
    }
    Ok(Some((picture, behind)))
}

/// How many steps the address wants to see.
fn steps(visit: &Visit, mistakes: &mut Mistakes) -> i32 {
    let usual = i32::from(SHOWN_STEPS);
    let Some(text) = visit.query.given("steps") else { return usual };
    let known = text.parse().ok().filter(|steps| (1..=i32::from(STEPS)).contains(steps));
    known.unwrap_or_else(|| {
        mistakes.push("steps", format!("Choose 1 to {STEPS} steps. These are {usual}."));
        usual
    })
}

fn reached(
    visit: &Visit,
    here: &str,
    (steps, mistakes): (i32, &Mistakes),
    impact: &ServiceImpactConnectionType,
) -> Markup {
    let choices: Vec<(String, String)> = (1..=STEPS).map(|steps| (steps.to_string(), count(steps, "step"))).collect();
    let choices: Vec<(&str, &str)> = choices.iter().map(|(value, text)| (&**value, &**text)).collect();
    let chosen = Fields::one("steps", &steps.to_string());
    let row = |ServiceImpactEdge { distance, node }: &ServiceImpactEdge| {
        let neighbour = &node.neighbour;
        let tier = neighbour.tier.as_ref().map(|tier| (tier.index, &*tier.name));
        let team = node.owner.as_ref().map(|team| (&*team.alias, &*team.name));
        let names: Vec<&str> = node.on_calls.nodes.iter().map(|one| one.name.as_deref().unwrap_or_default()).collect();
        let all = usize::try_from(node.on_calls.total_count).unwrap_or_default();
        html! {
            tr {
                th scope="row" { a href=(service_name::address(&neighbour.aliases)) { (neighbour.name) } }
                td data-label="Steps" { (distance) }
                (cells(tier, team, (&names[..], all)))
            }
        }
    };
    let mut edges: Vec<&ServiceImpactEdge> = impact.edges.iter().collect();
    edges.sort_by_key(|edge| (edge.distance, edge.node.neighbour.tier.as_ref().map_or(i32::MAX, |tier| tier.index)));
    html! {
        form.filters method="get" action={ (here) "#impact" } {
            @if visit.query.get(COLOUR) == STATE { input type="hidden" name=(COLOUR) value=(STATE); }
            (form::select("steps", "Within", "", &choices, &chosen, mistakes))
            button { "Show" }
        }
        @if impact.total_count == 0 { p.soft { "No service depends on it." } } @else {
            p.soft role="status" {
                (count(impact.total_count, "service")) " within " (count(steps, "step"))
                @if !impact.is_complete { ", and more: the search stopped at its limit" }
            }
            div.scroll tabindex="0" role="region" aria-label="What its failure can reach" {
                table.lined {
                    thead { tr {
                        th scope="col" { "Service" } th scope="col" { "Steps" } (heads())
                    } }
                    tbody { @for edge in edges { (row(edge)) } }
                }
            }
            (pages(visit, here, &impact.page_info))
        }
    }
}

/// The small picture for a service's page, with a link to the large one. Empty without dependencies.
pub async fn small(reading: &Reading, service: &str, name: &str, aliases: &[String]) -> Result<Markup, Fault> {
    let picture = reading.optional(|db| neighbourhood(db, service, SMALL_STEPS, SMALL)).await?;
    let Some(picture) = picture else { return Ok(too_long()) };
    let here = address(aliases);
    Ok(html! {
        @if let Some(picture) = &picture {
            (picture.draw(&format!("Dependencies of {name}"), &here))
            (legend(picture))
            p { a href=(here) { "Larger picture, and what its failure can reach" } }
        }
    })
}

/// The picture of the services of a system or a team: those whose `column` holds its key.
pub async fn of_group<E: Class>(
    site: &Site,
    visit: &Visit,
    column: Column,
    id: &str,
    label: &str,
) -> Result<Markup, Fault> {
    let Some(key) = id::number::<E>(id) else { return Ok(html! {}) };
    let picture = site.reading(visit).await?.optional(|db| among_members(db, column, key, label)).await?;
    Ok(picture.unwrap_or_else(|| html! { section.card { h2 #dependencies { "Dependencies" } (too_long()) } }))
}

async fn among_members(db: &dyn ReadHandle, column: Column, key: i64, label: &str) -> Result<Markup, Fault> {
    let members = service::ids_of(db, column, key, MEMBERS as u64).await?;
    let (ways, is_complete) = service_dependency::around(db, &members, AROUND).await?;
    if ways.is_empty() {
        return Ok(html! {});
    }
    let mut graph = Graph { is_cut: !is_complete, ..Graph::default() };
    // Members first: they are compared before others.
    let connected: HashSet<i64> = ways.iter().flat_map(|(from, to)| [*from, *to]).collect();
    let focus: HashSet<i64> = members.iter().filter(|id| connected.contains(id)).copied().collect();
    for id in members.iter().filter(|id| focus.contains(id)) {
        graph.node(*id);
    }
    let edges: Vec<(usize, usize)> = ways.iter().map(|(from, to)| (graph.node(*from), graph.node(*to))).collect();
    let layer_of = layers(graph.ids.len(), &edges, LAYERS);
    let folded = graph.folded(db, &layer_of, LARGE, |id| focus.contains(&id)).await?;
    let mut picture = graph.picture(db, folded, (&edges, LARGE.named), |id| focus.contains(&id)).await?;
    for node in picture.nodes.iter_mut().flatten() {
        node.href = node.page.clone() + "/graph";
    }
    let further = html! {
        a href="#services" { "Services" } " lists all that belong here, and the page of each has its own picture with the others."
    };
    let more = members.len() == MEMBERS || !is_complete;
    Ok(html! {
        section.card {
            h2 #dependencies { "Dependencies" }
            @if more { p.soft { "The picture shows only the first " (MEMBERS) " services and " (AROUND) " dependencies." } }
            (shown(&picture, label, ("#services", &further)))
        }
    })
}

/// A picture with its legend, what has no box in it, and its list. `all` is where others are found, as a link and in words.
fn shown(picture: &Picture, label: &str, (all, further): (&str, &Markup)) -> Markup {
    html! {
        (picture.draw(label, all))
        (legend(picture))
        (picture.rest(further))
        details { summary { "The picture as a list" } (picture.list()) }
    }
}

fn legend(picture: &Picture) -> Markup {
    html! {
        p.soft.legend {
            "Arrows point from a service to its dependencies."
            @if picture.warns() { " A dashed arrow points to a less critical service." }
        }
        ul.marks aria-label="Marks of the boxes" { @for mark in picture.marks() {
            li { span class={ "key " (mark.class) } { (mark.letters) } " " span.soft { (mark.words) } }
        } }
    }
}

/// A graph of services, built node by node.
#[derive(Default)]
struct Graph {
    ids: Vec<i64>,
    index_of: HashMap<i64, usize>,
    is_cut: bool,
}

impl Graph {
    /// Returns the node of a service. Adds it if it is new.
    fn node(&mut self, id: i64) -> usize {
        *self.index_of.entry(id).or_insert_with(|| {
            self.ids.push(id);
            self.ids.len() - 1
        })
    }

    /// Folds the graph. If a layer has no room for all its services, those of `is_focus` come first, then the most critical,
    /// then those that most others depend on.
    async fn folded(
        &self,
        db: &dyn ReadHandle,
        layer_of: &[usize],
        most: PictureLimits,
        is_focus: impl Fn(i64) -> bool,
    ) -> Result<Folded, Fault> {
        let folded = fold(layer_of, most);
        if folded.rest.is_empty() {
            return Ok(folded);
        }
        let some = &self.ids[..self.ids.len().min(RANKED)];
        let weights = service_dependency::weights(db, some).await?.into_iter();
        let weights: HashMap<i64, (i32, Reverse<i64>)> =
            weights.map(|one| (one.id, (one.tier.unwrap_or(i32::MAX), Reverse(one.dependents)))).collect();
        let mut order: Vec<usize> = (0..self.ids.len()).collect();
        // A stable sort: whatever is alike stays as it was found. Services that were not compared come last.
        order.sort_by_cached_key(|node| {
            let id = self.ids[*node];
            let weight = weights.get(&id).copied();
            (!is_focus(id), weight.is_none(), weight)
        });
        Ok(fold_by(layer_of, &order, most))
    }

    /// Reads the names and tiers of the shown services, and of up to `named` others, and builds the picture.
    async fn picture(
        &self,
        db: &dyn ReadHandle,
        folded: Folded,
        (edges, named): (&[(usize, usize)], usize),
        is_focus: impl Fn(i64) -> bool,
    ) -> Result<Picture, Fault> {
        let named = folded.named(named);
        let mut ids = self.shown(&folded);
        ids.extend(named.iter().copied().flatten().map(|node| self.ids[*node]));
        let labels = service::labels(db, &ids).await?.into_iter();
        let mut labels: HashMap<i64, service::Label> = labels.map(|label| (label.id, label)).collect();
        let nodes = folded.boxes.iter().map(|one| match one.content {
            Content::More(_) => None,
            Content::Node(node) => labels.remove(&self.ids[node]).map(|service::Label { id, name, slug, tier }| {
                let page = path(["services", &slug]);
                let mark = Mark::of_tier(tier);
                Node { id, name, href: page.clone(), page, mark, tier, is_focus: is_focus(id) }
            }),
        });
        let nodes = nodes.collect();
        let rest = folded.rest.iter().zip(named).map(|((at, all), first)| Rest {
            layer: folded.boxes[*at].layer,
            all: all.len(),
            named: first.iter().filter_map(|node| labels.remove(&self.ids[*node])).collect(),
        });
        let rest = rest.collect();
        let edges = folded.edges(edges.iter().copied());
        Ok(Picture { folded, edges, nodes, rest, is_complete: !self.is_cut })
    }

    /// The services that have a box of their own.
    fn shown(&self, folded: &Folded) -> Vec<i64> {
        let own = |content| if let Content::Node(node) = content { Some(self.ids[node]) } else { None };
        folded.boxes.iter().filter_map(|one| own(one.content)).collect()
    }
}

/// The picture around a service. `None` if it has no dependencies in either direction.
async fn neighbourhood(
    db: &dyn ReadHandle,
    service: &str,
    steps: u8,
    most: PictureLimits,
) -> Result<Option<Picture>, Fault> {
    let Some(focus) = id::number::<service::Entity>(service) else { return Ok(None) };
    let mut graph = Graph::default();
    // The signed distance of each node from the focus: positive for dependencies, negative for dependents. A node reached
    // in both directions keeps the smaller distance.
    let mut places = vec![0_i32];
    let mut edges = Vec::new();
    graph.node(focus);
    for (direction, sign) in [(Direction::Dependencies, 1), (Direction::Dependents, -1)] {
        for reached in reach(db, &[focus], direction, steps).await? {
            graph.is_cut |= !reached.is_complete;
            for found in reached.found {
                let (node, via) = (graph.node(found.id), graph.node(found.via));
                let place = sign * i32::from(found.distance);
                match places.get_mut(node) {
                    Some(known) if place.abs() < known.abs() => *known = place,
                    Some(_) => {}
                    None => places.push(place),
                }
                edges.push(if sign > 0 { (via, node) } else { (node, via) });
            }
        }
    }
    if edges.is_empty() {
        return Ok(None);
    }
    let first = places.iter().min().copied().unwrap_or_default();
    let layer_of: Vec<usize> = places.iter().map(|place| place.abs_diff(first) as usize).collect();
    let folded = graph.folded(db, &layer_of, most, |id| id == focus).await?;
    let among = service_dependency::among(db, &graph.shown(&folded)).await?;
    edges.extend(among.into_iter().map(|(from, to)| (graph.node(from), graph.node(to))));
    Ok(Some(graph.picture(db, folded, (&edges, most.named), |id| id == focus).await?))
}
