//! `rollcall impact`: what breaks if a service, a system or an infrastructure resource is down.
//!
//! The API says what depends on a service. For a system it begins at its services, and for a system and for infrastructure
//! at what depends on them by a relationship `depends_on`.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Value as Json, json};

use super::list::tell_of_more;
use super::output::{Column, print_rows, text};
use super::show::find;
use super::{MOST, Pages, nodes, pages, server};
use crate::cli::console::say;
use crate::cli::remote::Server;
use crate::config::Impact;
use crate::mcp::questions::{IMPACT, reached};

/// The most services from which the search goes on: each takes a request, or a few.
pub const MOST_BEGINNINGS: usize = 100;

/// The most relationships that lead to one system or resource and are read.
pub const MOST_TIES: usize = 1000;

/// The most systems and resources that are looked at: each takes two requests, or a few.
pub const MOST_PLACES: usize = 100;

/// The greatest distance at which relationships are followed, like that of `Service.impact`.
const STEPS: u64 = 5;

const SERVICES: &str = concat!(
    "query($id: ID!, $first: Int, $after: String) { account { system(input: { id: $id }) {
    childServices(first: $first, after: $after) { nodes { ",
    reached!(),
    " } pageInfo { hasNextPage endCursor } } } } }"
);

const TIES_OF_SYSTEM: &str = concat!(
    "query($id: ID!, $first: Int, $after: String) { account { found: system(input: { id: $id }) {
    incomingRelationships(first: $first, after: $after) { nodes { type source { kind: __typename
        ... on Service { ",
    reached!(),
    " } ... on System { id name } ... on InfrastructureResource { id name }
    } } pageInfo { hasNextPage endCursor } } } } }"
);

const TIES_OF_INFRASTRUCTURE: &str = concat!(
    "query($id: ID!, $first: Int, $after: String) { account { found: infrastructureResource(input: { id: $id }) {
    incomingRelationships(first: $first, after: $after) { nodes { type source { kind: __typename
        ... on Service { ",
    reached!(),
    " } ... on System { id name } ... on InfrastructureResource { id name }
    } } pageInfo { hasNextPage endCursor } } } } }"
);

pub(super) fn run(settings: &Impact) -> Result<(), String> {
    let Impact { words, limit, asking } = settings;
    let server = server(&asking.remote, asking.deadline)?;
    let (kind, node) = find(&server, words)?;
    let name = text(node.get("name"));
    let limit = (*limit).min(MOST);
    let (affected, is_of_service) = match kind.word {
        "service" => (of_service(&server, &text(node.get("alias")), limit)?, true),
        "system" | "infrastructure" => {
            (of_place(&server, FailingNode::first(kind.word == "system", &node), limit)?, false)
        }
        word => return Err(format!("{name} is a {word}; a service, a system or infrastructure has an impact")),
    };
    if affected.rows.is_empty() {
        say(&format!("no service depends on the {} {name}", kind.word));
    }
    print_rows(asking.output, &columns(is_of_service), &affected.rows)?;
    affected.tell();
    Ok(())
}

/// The columns of the table. What depends on a service is found by the API, which does not say on which way.
fn columns(is_of_service: bool) -> Vec<Column> {
    let mut columns = vec![("service", "/service/name"), ("alias", "/service/alias"), ("distance", "/distance")];
    if !is_of_service {
        columns.push(("through", "/through"));
    }
    columns.extend([("tier", "/service/tier/name"), ("owner", "/service/owner/name"), ("on call", "/onCall")]);
    columns
}

/// What a failure reaches.
struct Affected {
    rows: Vec<Json>,
    has_more: bool,
    /// Whether nothing was left out at a limit of the search.
    is_complete: bool,
    /// Relationships that lead there and are no dependencies of services, systems or infrastructure.
    others: usize,
}

impl Affected {
    /// Says what the rows lack.
    fn tell(&self) {
        tell_of_more(self.has_more, self.rows.len());
        if !self.is_complete {
            say("the search stopped at its limit: a failure can reach more services");
        }
        if self.others > 0 {
            let what = "relationships that are no dependencies of services, systems or infrastructure are left out";
            say(&format!("{what}: {}", self.others));
        }
    }
}

/// A row: a service, its distance, and through what the failure reaches it.
fn row(mut service: Json, distance: u64, through: &Json) -> Json {
    let on_call: Vec<Json> = match service["onCalls"]["nodes"].take() {
        Json::Array(nodes) => nodes.into_iter().map(|mut person| person["name"].take()).collect(),
        _ => Vec::new(),
    };
    if let Some(fields) = service.as_object_mut() {
        fields.remove("onCalls");
    }
    json!({ "service": service, "distance": distance, "through": through, "onCall": on_call })
}

/// What depends on a service, at most `limit` services.
fn read(server: &Server, alias: &str, limit: usize) -> Result<(Pages, bool), String> {
    let read = pages(server, IMPACT, json!({ "alias": alias }), ("/account/service/impact", "edges"), limit)?;
    let is_complete = read.connection["isComplete"] != json!(false);
    Ok((read, is_complete))
}

fn of_service(server: &Server, alias: &str, limit: usize) -> Result<Affected, String> {
    let (Pages { entries, has_more, .. }, is_complete) = read(server, alias, limit)?;
    let rows = entries.into_iter().map(|mut edge| {
        let distance = edge["distance"].as_u64().unwrap_or_default();
        row(edge["node"].take(), distance, &Json::Null)
    });
    Ok(Affected { rows: rows.collect(), has_more, is_complete, others: 0 })
}

/// What a failure of a system or of infrastructure reaches: where it begins, and what depends on that.
fn of_place(server: &Server, first: FailingNode, limit: usize) -> Result<Affected, String> {
    let Begun { services, mut is_complete, others } = begun(server, first)?;
    let mut found = Found::default();
    for Beginning { service, distance, through } in &services {
        found.add(row(service.clone(), *distance, through));
    }
    let mut has_more = false;
    for Beginning { service, distance, .. } in services {
        let (read, is_whole) = read(server, &text(service.get("alias")), limit)?;
        is_complete &= is_whole;
        has_more |= read.has_more;
        for mut edge in read.entries {
            let distance = distance + edge["distance"].as_u64().unwrap_or_default();
            found.add(row(edge["node"].take(), distance, &service["name"]));
        }
    }
    let mut rows = found.rows;
    rows.sort_by_key(distance);
    has_more |= rows.len() > limit;
    rows.truncate(limit);
    Ok(Affected { rows, has_more, is_complete, others })
}

fn distance(row: &Json) -> u64 {
    row["distance"].as_u64().unwrap_or_default()
}

/// The rows found so far, each service once, at its shortest distance.
#[derive(Default)]
struct Found {
    rows: Vec<Json>,
    places: HashMap<String, usize>,
}

impl Found {
    fn add(&mut self, row: Json) {
        let alias = text(row.pointer("/service/alias"));
        match self.places.get(&alias) {
            None => {
                self.places.insert(alias, self.rows.len());
                self.rows.push(row);
            }
            Some(place) if distance(&row) < distance(&self.rows[*place]) => self.rows[*place] = row,
            Some(_) => {}
        }
    }
}

/// A service that fails along with a system or with infrastructure.
struct Beginning {
    service: Json,
    distance: u64,
    /// The name of what leads to it. Null if it is the first place itself.
    through: Json,
}

/// Where a failure begins among the services.
struct Begun {
    services: Vec<Beginning>,
    is_complete: bool,
    others: usize,
}

/// A system or an infrastructure resource that fails.
struct FailingNode {
    is_system: bool,
    id: String,
    distance: u64,
    /// Its name. Null for the first one, which everything else is reached through.
    through: Json,
}

impl FailingNode {
    fn first(is_system: bool, node: &Json) -> Self {
        Self { is_system, id: text(node.get("id")), distance: 0, through: Json::Null }
    }
}

/// Follows relationships, the nearest first, to the services that fail along with a place.
fn begun(server: &Server, first: FailingNode) -> Result<Begun, String> {
    let mut begun = Begun { services: Vec::new(), is_complete: true, others: 0 };
    let mut known: HashSet<String> = HashSet::from([first.id.clone()]);
    let mut next = VecDeque::from([first]);
    let mut places = 1;
    while let Some(place) = next.pop_front() {
        if place.is_system {
            let (services, _) = read_nodes(server, SERVICES, &place.id, "/account/system/childServices", MOST_TIES)?;
            for service in services {
                begun.add(&mut known, service, place.distance, &place.through);
            }
        }
        if place.distance >= STEPS {
            begun.is_complete = false;
            continue;
        }
        let document = if place.is_system { TIES_OF_SYSTEM } else { TIES_OF_INFRASTRUCTURE };
        let (ties, has_more) =
            read_nodes(server, document, &place.id, "/account/found/incomingRelationships", MOST_TIES)?;
        begun.is_complete &= !has_more;
        for mut tie in ties {
            let (mut source, distance) = (tie["source"].take(), place.distance + 1);
            let kind = source.as_object_mut().and_then(|source| source.remove("kind")).unwrap_or_default();
            match kind.as_str() {
                Some("Service") if tie["type"] == "depends_on" => {
                    begun.add(&mut known, source, distance, &place.through);
                }
                Some(kind @ ("System" | "InfrastructureResource")) if tie["type"] == "depends_on" => {
                    let id = text(source.get("id"));
                    if known.contains(&id) {
                        continue;
                    }
                    if places >= MOST_PLACES {
                        begun.is_complete = false;
                    } else {
                        known.insert(id.clone());
                        places += 1;
                        let through = source["name"].take();
                        next.push_back(FailingNode { is_system: kind == "System", id, distance, through });
                    }
                }
                _ => begun.others += 1,
            }
        }
    }
    Ok(begun)
}

impl Begun {
    /// Adds a service that is not known yet.
    fn add(&mut self, known: &mut HashSet<String>, service: Json, distance: u64, through: &Json) {
        if self.services.len() >= MOST_BEGINNINGS {
            self.is_complete = false;
        } else if known.insert(format!("service {}", text(service.get("alias")))) {
            self.services.push(Beginning { service, distance, through: through.clone() });
        }
    }
}

fn read_nodes(
    server: &Server,
    document: &str,
    id: &str,
    place: &str,
    limit: usize,
) -> Result<(Vec<Json>, bool), String> {
    nodes(server, document, json!({ "id": id }), place, limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_that_is_reached_twice_is_one_row_at_its_shortest_distance() {
        let of = |alias: &str| json!({ "name": alias, "alias": alias });
        let mut found = Found::default();
        for (alias, distance) in [("a", 2), ("b", 1), ("a", 1), ("b", 3)] {
            found.add(row(of(alias), distance, &json!(distance)));
        }
        let rows: Vec<(String, u64)> =
            found.rows.iter().map(|row| (text(row.pointer("/service/alias")), distance(row))).collect();
        assert_eq!(rows, [("a".to_owned(), 1), ("b".to_owned(), 1)]);
        assert_eq!(found.rows[0]["through"], json!(1));
    }

    #[test]
    fn those_on_call_are_a_list_of_names() {
        let service = json!({ "name": "Cart", "onCalls": { "nodes": [{ "name": "Ada" }, { "name": "Jon" }] } });
        let row = row(service, 1, &Json::Null);
        assert_eq!((&row["onCall"], &row["service"]), (&json!(["Ada", "Jon"]), &json!({ "name": "Cart" })));
    }
}
