//! What a service is related to: the other ends of its relationships, whichever end it is itself.

use super::things;
use crate::engine::page::{Edge, Page};
use crate::entity::relationship::{self, Column, End, Entity};
use crate::graphql::prelude::*;

/// An object that a service is related to, and the relationship.
#[derive(Debug, Clone, PartialEq)]
pub struct RelatedResourceEdge {
    relationship: RelationshipType,
    other: End,
    cursor: String,
}

impl RelatedResourceEdgeResolver for RelatedResourceEdge {
    async fn node(edges: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<RelationshipResource>> {
        things(ctx, edges.iter().map(|edge| Some(edge.other)).collect()).await
    }

    fn cursor(&self) -> &str {
        &self.cursor
    }

    async fn relationship(edges: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<RelationshipType>> {
        let copy = |edge: &&Self| {
            let texts = [&edge.relationship.r#type, &edge.relationship.unique_key];
            ctx.db().charge::<RelationshipType>(texts.map(String::len).iter().sum())?;
            Ok(edge.relationship.clone())
        };
        edges.iter().map(copy).collect()
    }
}

/// Returns one end of a relationship.
type OtherEnd = fn(&RelationshipType) -> Option<End>;

/// Reads a page of the relationships that have a service at one end, for each service.
async fn pages(
    services: &[&Service],
    own: Column,
    request: &PageRequest,
    ctx: &Ctx<'_>,
) -> Result<Vec<Page<RelationshipType>>> {
    let ids = services.iter().map(|service| service.id);
    List::<Entity>::new(Column::Id).of_parents(own, ids).pages(ctx, request).await
}

/// A page of what each service is related to.
pub(in crate::graphql) async fn of_services(
    services: &[&Service],
    args: &PageArguments,
    ctx: &Ctx<'_>,
) -> Result<Vec<RelatedResourceConnectionType>> {
    let request = args.request()?;
    // Read with one row more than the page has, so that the merged page knows whether another follows.
    let more = PageRequest { first: request.first + 1, after: request.after.clone() };
    let outgoing = pages(services, Column::SourceServiceId, &more, ctx).await?;
    let incoming = pages(services, Column::TargetServiceId, &more, ctx).await?;
    let mut merged = Vec::with_capacity(services.len());
    for (outgoing, incoming) in outgoing.into_iter().zip(incoming) {
        let counts = [outgoing.total_count, incoming.total_count];
        let [target, source]: [OtherEnd; 2] = [relationship::Model::target, relationship::Model::source];
        let outgoing = outgoing.edges.into_iter().map(|edge| (edge, target));
        let incoming = incoming.edges.into_iter().map(|edge| (edge, source));
        let mut edges = Vec::new();
        for (Edge { node, cursor }, other) in outgoing.chain(incoming) {
            let other = other(&node).ok_or_else(|| Error::internal("a relationship has no other end"))?;
            edges.push(Edge { node: (node, other), cursor });
        }
        edges.sort_unstable_by_key(|edge| edge.node.0.id);
        merged.push((Page::new(edges, &request), counts.into_iter().flatten().sum::<i32>()));
    }
    let mut nodes = match ctx.selects("nodes") {
        true => {
            let others = merged.iter().flat_map(|(page, _)| &page.edges).map(|edge| Some(edge.node.1));
            things(ctx, others.collect()).await?
        }
        false => Vec::new(),
    }
    .into_iter();
    let connection = |(page, total_count): (Page<(RelationshipType, End)>, i32)| RelatedResourceConnectionType {
        nodes: nodes.by_ref().take(page.edges.len()).collect(),
        page_info: page.info,
        total_count,
        edges: page.edges.into_iter().map(edge).collect(),
    };
    Ok(merged.into_iter().map(connection).collect())
}

fn edge(Edge { node: (relationship, other), cursor }: Edge<(RelationshipType, End)>) -> RelatedResourceEdge {
    RelatedResourceEdge { relationship, other, cursor: cursor.to_string() }
}
