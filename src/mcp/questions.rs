//! What agents and people at a terminal ask alike: the documents of the tools that are commands too.

/// The fields of a service that a failure reaches, as a selection.
macro_rules! reached {
    () => {
        "name alias htmlUrl tier { name } owner { name } onCalls(first: 3) { nodes { name } }"
    };
}

pub(crate) use reached;

/// What depends on a service, the nearest first. Takes `$alias`, `$first` and `$after`.
pub const IMPACT: &str = concat!(
    "query($alias: String!, $first: Int, $after: String) { account { service(alias: $alias) {
    impact(first: $first, after: $after) {
        edges { distance node { ",
    reached!(),
    " } } totalCount isComplete pageInfo { hasNextPage endCursor }
    } } } }"
);
