//! The tool `impact`: what may fail with a service, or with any of the services of a system or a team.

use std::collections::HashMap;

use serde_json::{Value as Json, json};

use super::arguments::{ARGUMENT, Argument, Arguments};
use super::ask::Asker;
use super::named::alias;
use super::questions::{self, reached};

/// The most services that are named.
pub const ROWS: usize = 50;

/// The most services of a system or a team at which the search begins.
pub const BEGINNINGS: usize = 50;

/// How many of them a query begins at, so that its response is not too long however long the names are.
const AT_ONCE: usize = 2;

pub(super) const ARGUMENTS: [Argument; 3] = [
    ("service", "string", false, "A service, by its name or an alias; give this, system or team"),
    ("system", "string", false, "A system, by its name or an alias"),
    ("team", "string", false, "A team, by its name or an alias"),
];

const OF_SYSTEM: &str = concat!(
    "query($alias: String!, $services: Int, $after: String, $first: Int) { account {
    found: system(input: { alias: $alias }) { id name htmlUrl
        services: childServices(first: $services, after: $after) { nodes { name impact(first: $first) {
            edges { distance node { group: parent { id } ",
    reached!(),
    " } } isComplete pageInfo { hasNextPage } } } totalCount pageInfo { hasNextPage endCursor } } } } }"
);

const OF_TEAM: &str = concat!(
    "query($alias: String!, $services: Int, $after: String, $first: Int) { account {
    found: team(alias: $alias) { id name htmlUrl
        services(first: $services, after: $after) { nodes { name impact(first: $first) {
            edges { distance node { group: owner { id } ",
    reached!(),
    " } } isComplete pageInfo { hasNextPage } } } totalCount pageInfo { hasNextPage endCursor } } } } }"
);

/// Answers a call of the tool.
///
/// # Errors
/// Nothing or several things are named, or there is no such thing.
pub(super) async fn run(asker: &Asker, given: Arguments<'_>) -> Result<Json, String> {
    let mut named = Vec::new();
    for (kind, ..) in ARGUMENTS {
        named.extend(given.text(kind, ARGUMENT)?.map(|name| (kind, name)));
    }
    match &*named {
        [("service", name)] => of_service(asker, name).await,
        [(kind, name)] => of_group(asker, kind, name).await,
        [] => Err("give a service, a system or a team, by its name or an alias".to_owned()),
        several => {
            let several: Vec<&str> = several.iter().map(|(kind, _)| *kind).collect();
            Err(format!("give one of service, system and team, and not {} at once", several.join(" and ")))
        }
    }
}

async fn of_service(asker: &Asker, name: &str) -> Result<Json, String> {
    let alias = alias(asker, "service", name).await?;
    let mut found = asker.ask(questions::IMPACT, json!({ "alias": alias, "first": ROWS })).await?;
    let mut impact = found["account"]["service"]["impact"].take();
    // There is no argument for the next page.
    impact["pageInfo"] = Json::Null;
    Ok(impact)
}

async fn of_group(asker: &Asker, kind: &str, name: &str) -> Result<Json, String> {
    let alias = alias(asker, kind, name).await?;
    let document = if kind == "system" { OF_SYSTEM } else { OF_TEAM };
    let (mut reached, mut looked_at, mut after) = (Reached::default(), 0, Json::Null);
    loop {
        let most = AT_ONCE.min(BEGINNINGS - looked_at);
        let variables = json!({ "alias": alias, "services": most, "after": after, "first": ROWS });
        let mut group = asker.ask(document, variables).await?["account"]["found"].take();
        let mut services = group["services"].take();
        for service in services["nodes"].as_array_mut().into_iter().flatten() {
            looked_at += 1;
            reached.add(service, &group["id"]);
        }
        let has_more = services["pageInfo"]["hasNextPage"] == true;
        if has_more && looked_at < BEGINNINGS {
            after = services["pageInfo"]["endCursor"].take();
            continue;
        }
        let is_complete = !has_more && !reached.is_cut;
        let (edges, total) = reached.nearest();
        return Ok(json!({
            kind: { "name": group["name"], "htmlUrl": group["htmlUrl"] },
            "services": services["totalCount"],
            "servicesLookedAt": looked_at,
            "edges": edges,
            "totalCount": total,
            "isComplete": is_complete,
        }));
    }
}

/// The services outside of a group that fail with one inside, each once, at its shortest distance.
#[derive(Default)]
struct Reached {
    edges: Vec<Json>,
    places: HashMap<String, usize>,
    /// Whether a search has stopped, or has found more than was read.
    is_cut: bool,
}

impl Reached {
    /// Adds what a service of the group with this id reaches.
    fn add(&mut self, service: &mut Json, group: &Json) {
        let mut impact = service["impact"].take();
        self.is_cut |= impact["isComplete"] == false || impact["pageInfo"]["hasNextPage"] == true;
        for edge in impact["edges"].as_array_mut().into_iter().flatten() {
            let mut edge = edge.take();
            if edge["node"]["group"].take()["id"] == *group {
                continue;
            }
            edge["through"] = service["name"].clone();
            let alias = edge["node"]["alias"].as_str().unwrap_or_default().to_owned();
            match self.places.get(&alias) {
                None => {
                    self.places.insert(alias, self.edges.len());
                    self.edges.push(edge);
                }
                Some(place) if distance(&edge) < distance(&self.edges[*place]) => self.edges[*place] = edge,
                Some(_) => {}
            }
        }
    }

    /// The nearest, and the number of all.
    fn nearest(mut self) -> (Vec<Json>, usize) {
        self.edges.sort_by_key(distance);
        let total = self.edges.len();
        self.edges.truncate(ROWS);
        (self.edges, total)
    }
}

fn distance(edge: &Json) -> u64 {
    edge["distance"].as_u64().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A service that reaches others: their aliases, their distances, and the ids of their groups.
    fn service(name: &str, reached: &[(&str, u64, &str)]) -> Json {
        let edge = |(alias, distance, group): &(&str, u64, &str)| json!({ "distance": distance, "node": { "alias": alias, "group": { "id": group } } });
        let edges: Vec<Json> = reached.iter().map(edge).collect();
        json!({ "name": name, "impact": {
            "edges": edges, "isComplete": true, "pageInfo": { "hasNextPage": false },
        } })
    }

    #[test]
    fn a_service_is_told_once_at_its_shortest_distance_and_none_that_is_inside() {
        let mut reached = Reached::default();
        reached.add(&mut service("A", &[("b", 1, "own"), ("x", 2, "other"), ("y", 3, "other")]), &json!("own"));
        reached.add(&mut service("B", &[("x", 1, "other"), ("y", 4, "other")]), &json!("own"));
        assert!(!reached.is_cut);
        let (edges, total) = reached.nearest();
        let told: Vec<_> =
            edges.iter().map(|edge| (&edge["node"]["alias"], distance(edge), &edge["through"])).collect();
        assert_eq!(told, [(&json!("x"), 1, &json!("B")), (&json!("y"), 3, &json!("A"))]);
        assert_eq!(total, 2);
        assert_eq!(edges[0]["node"]["group"], Json::Null, "what says whose it is is left out of the answer");
    }

    #[test]
    fn the_nearest_are_told_and_all_are_counted() {
        let aliases: Vec<String> = (0..ROWS + 1).map(|number| format!("s{number}")).collect();
        let far: Vec<(&str, u64, &str)> = aliases.iter().map(|alias| (&**alias, 2, "other")).collect();
        let mut reached = Reached::default();
        reached.add(&mut service("A", &far), &json!("own"));
        reached.add(&mut service("B", &[("near", 1, "other")]), &json!("own"));
        let (edges, total) = reached.nearest();
        assert_eq!((edges.len(), total, &edges[0]["node"]["alias"]), (ROWS, ROWS + 2, &json!("near")));
    }
}
