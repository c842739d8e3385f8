//! The services that a failure of a service can reach.

use crate::engine::page::{Cursor, Edge, Page};
use crate::entity::service;
use crate::entity::service_dependency::{Direction, Found, Reach, STEPS, reach};
use crate::graphql::list::relation::present;
use crate::graphql::prelude::*;

/// Reads a page of the services that each service's failure can reach.
pub(in crate::graphql) async fn of_services(
    services: Vec<i64>,
    args: &ServiceImpactArgs,
    ctx: &Ctx<'_>,
) -> Result<Vec<ServiceImpactConnectionType>> {
    let ServiceImpactArgs { depth, first, after } = args;
    let steps = match depth.value() {
        None => STEPS,
        Some(depth) => u8::try_from(*depth)
            .ok()
            .filter(|depth| (1..=STEPS).contains(depth))
            .ok_or_else(|| UserError::new("depth", format!("depth must be from 1 to {STEPS}")))?,
    };
    let request = PageRequest::new(first, after)?;
    request.check(|after| after.order.is_some())?;
    let reached = reach(ctx.db(), &services, Direction::Dependents, steps).await?;
    let pages: Vec<Page<Found>> = reached.iter().map(|reached| page(reached, &request)).collect();
    let selects_rows = ctx.selects("nodes") || ctx.selects("edges");
    let found = pages.iter().filter(|_| selects_rows).flat_map(|page| &page.edges).map(|edge| Some(edge.node.id));
    let mut found = present(service::Entity::by_ids(ctx.db(), found).await?)?.into_iter();
    let selects_nodes = ctx.selects("nodes");
    let mut connections = Vec::with_capacity(pages.len());
    for (page, Reach { found: all, is_complete }) in pages.into_iter().zip(reached) {
        let (mut nodes, mut edges) = (Vec::new(), Vec::new());
        for edge in page.edges {
            let Some(node) = found.next() else { break };
            if selects_nodes {
                nodes.push(clone_charged(&node, ctx)?);
            }
            let (cursor, distance) = (edge.cursor.to_string(), edge.node.distance.into());
            edges.push(ServiceImpactEdge { node, cursor, distance });
        }
        let total_count = i32::try_from(all.len()).unwrap_or(i32::MAX);
        connections.push(ServiceImpactConnectionType { nodes, edges, page_info: page.info, total_count, is_complete });
    }
    Ok(connections)
}

/// Cuts a page out of all services found, which are in the order of the cursors.
fn page(reached: &Reach, request: &PageRequest) -> Page<Found> {
    let place = |found: &Found| (i64::from(found.distance), found.id);
    let start = request.after.as_ref().map_or(0, |after| {
        let after = (after.order.unwrap_or_default(), after.id);
        reached.found.partition_point(|found| place(found) <= after)
    });
    let most = usize::try_from(request.first + 1).unwrap_or(usize::MAX);
    let rows = reached.found[start..].iter().take(most).map(|found| {
        let (order, id) = place(found);
        Edge { node: *found, cursor: Cursor::ordered(order, id) }
    });
    Page::new(rows.collect(), request)
}
