//! Dependencies between services.

use crate::engine::page::Page;
use crate::entity::service::Writable;
use crate::entity::service_dependency::{self, Column, Entity};
use crate::entity::{service, text as texts, tier};
use crate::graphql::field::alias::or_taken;
use crate::graphql::field::draft;
use crate::graphql::field::id::Id;
use crate::graphql::field::identifier::{OneOf, exactly_one, given};
use crate::graphql::list::relation::{self, present, to_its_one};
use crate::graphql::prelude::*;
use crate::graphql::service as services;

impl ServiceDependencyResolver for ServiceDependency {
    async fn source_service(dependencies: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<Service>>> {
        let sources = to_its_one(ctx, dependencies.iter().map(|one| Some(one.source_id)).collect()).await?;
        Ok(sources.into_iter().map(Some).collect())
    }

    async fn destination_service(dependencies: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<Service>>> {
        let destinations = to_its_one(ctx, dependencies.iter().map(|one| Some(one.destination_id)).collect()).await?;
        Ok(destinations.into_iter().map(Some).collect())
    }
}

/// Reads a page of dependencies for each service, and the service at the other end of each, in the order of the pages.
async fn pages(
    services: &[&impl ServiceKeys],
    args: &PageArguments,
    ctx: &Ctx<'_>,
    own: Column,
    other: fn(&ServiceDependency) -> i64,
) -> Result<(Vec<Page<ServiceDependency>>, std::vec::IntoIter<Service>)> {
    let dependencies = List::<Entity>::new(Column::Id).of_parents(own, services.iter().map(|service| service.id()));
    let pages = dependencies.pages(ctx, &args.request()?).await?;
    let others = pages.iter().flat_map(|page| &page.edges).map(|edge| Some(other(&edge.node)));
    let others = present(service::Entity::by_ids(ctx.db(), others).await?)?;
    Ok((pages, others.into_iter()))
}

macro_rules! connection {
    ($name:ident, $connection:ident, $edge:ident, $resolver:ident, $own:ident, $other:ident, $doc:literal) => {
        /// An entry of the page: a dependency, and the service at its other end.
        #[derive(Debug, Clone, PartialEq)]
        pub struct $edge {
            dependency: ServiceDependency,
            node: Service,
            cursor: String,
            is_locked: bool,
            /// The tier of the service that depends, then the tier of the service that it depends on.
            tiers: [Option<i64>; 2],
        }

        impl $resolver for $edge {
            async fn node(edges: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Service>> {
                edges.iter().map(|edge| clone_charged(&edge.node, ctx)).collect()
            }

            fn cursor(&self) -> &str {
                &self.cursor
            }

            fn id(&self) -> Id {
                ServiceDependencyResolver::id(&self.dependency)
            }

            fn locked(&self) -> bool {
                self.is_locked
            }

            fn notes(&self) -> Option<&str> {
                self.dependency.notes.as_deref()
            }

            async fn on_less_critical_tier(edges: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<bool>> {
                less_critical(ctx, edges.iter().map(|edge| edge.tiers).collect()).await
            }
        }

        #[doc = $doc]
        pub(in crate::graphql) async fn $name(
            services: &[&impl ServiceKeys],
            args: &PageArguments,
            ctx: &Ctx<'_>,
        ) -> Result<Vec<$connection>> {
            let (pages, mut others) = pages(services, args, ctx, Column::$own, |one| one.$other).await?;
            let selects_nodes = ctx.selects("nodes");
            let mut connections = Vec::with_capacity(pages.len());
            for (service, page) in services.iter().zip(pages) {
                let (mut nodes, mut edges) = (Vec::new(), Vec::new());
                for (edge, node) in page.edges.into_iter().zip(others.by_ref()) {
                    let own = (service.locked_by().is_some(), service.tier_id());
                    let other = (node.locked_by.is_some(), node.tier_id);
                    let is_source = service.id() == edge.node.source_id;
                    let [(is_locked, from), (_, to)] = if is_source { [own, other] } else { [other, own] };
                    if selects_nodes {
                        nodes.push(clone_charged(&node, ctx)?);
                    }
                    edges.push($edge {
                        dependency: edge.node,
                        node,
                        cursor: edge.cursor.to_string(),
                        is_locked,
                        tiers: [from, to],
                    });
                }
                let total_count = page.total_count.unwrap_or_default();
                connections.push($connection { nodes, edges, page_info: page.info, total_count });
            }
            Ok(connections)
        }
    };
}

connection!(
    dependencies,
    ServiceDependenciesConnectionType,
    ServiceDependenciesEdge,
    ServiceDependenciesEdgeResolver,
    SourceId,
    destination_id,
    "A page of what each service depends on."
);
connection!(
    dependents,
    ServiceDependentsConnectionType,
    ServiceDependentsEdge,
    ServiceDependentsEdgeResolver,
    DestinationId,
    source_id,
    "A page of what depends on each service."
);

/// Whether the second tier of each pair is less critical than the first.
async fn less_critical(ctx: &Ctx<'_>, pairs: Vec<[Option<i64>; 2]>) -> Result<Vec<bool>> {
    let tiers = tier::Entity::by_ids(ctx.db(), pairs.iter().flatten().copied()).await?;
    Ok(tiers.chunks(2).map(|pair| matches!(pair, [Some(from), Some(to)] if to.index > from.index)).collect())
}

/// Finds the service at one end of a new dependency. Either of two fields may name it.
async fn end(
    db: &dyn ReadHandle,
    (id_field, id): (&'static str, &MaybeUndefined<String>),
    (field, identifier): (&'static str, &MaybeUndefined<IdentifierInput>),
) -> Result<Service> {
    let found = async {
        match exactly_one((id_field, given(id)), (field, identifier.value()))? {
            OneOf::First(id) => id::require::<service::Entity>(db, id, id_field).await,
            OneOf::Second(named) => identifier::require_in::<Service>(db, field, named).await,
        }
    };
    found.await.map_err(|error: Error| error.map_user(|error| error.within("dependencyKey")))
}

/// Makes a service depend on another, which must not be the service itself. `row` holds the other columns.
pub(in crate::graphql) async fn insert(
    db: &Transaction,
    source: &Writable,
    destination: i64,
    row: service_dependency::ActiveModel,
) -> Result<ServiceDependency> {
    let row = service_dependency::ActiveModel { source_id: Set(source.id), destination_id: Set(destination), ..row };
    let taken = UserError::base("this dependency already exists");
    let dependency = db.insert(row).await.map_err(|error| or_taken(error, taken))?;
    relation::check_row_limit::<Entity>(db, Column::SourceId, source.id, texts::ENTRIES, ("a service", "dependencies"))
        .await?;
    Ok(dependency)
}

impl ServiceDependencyCreateMutation for Mutation {
    async fn service_dependency_create(
        ctx: &MutationCtx<'_>,
        input_v2: ServiceDependencyCreateInput,
    ) -> Result<ServiceDependencyPayload> {
        let ServiceDependencyCreateInput { dependency_key, notes } = input_v2;
        let ServiceDependencyKey { destination, destination_identifier, notes: of_key, source, source_identifier } =
            dependency_key;
        let db = ctx.db();
        let mut draft = Draft::<Entity>::new();
        let of_key = draft::text::<Entity>(Column::Notes, &of_key).map_err(|error| error.within("dependencyKey"));
        draft.row.notes = Set(draft.problems.take(of_key).flatten().flatten());
        draft.set(Column::Notes, &notes);
        let locking = db.locking(LockType::Update);
        let source = end(&locking, ("source", &source), ("sourceIdentifier", &source_identifier)).await;
        let source = draft.problems.take_any(source.and_then(service::writable))?;
        let destination = end(db, ("destination", &destination), ("destinationIdentifier", &destination_identifier));
        let destination = draft.problems.take_any(destination.await)?;
        if let (Some(source), Some(destination)) = (&source, &destination)
            && source.id == destination.id
        {
            draft.problems.push(UserError::base("a service cannot depend on itself"));
        }
        let row = draft.done()?;
        let (Some(source), Some(destination)) = (source, destination) else {
            return Err(Error::internal("a service was neither found nor missed"));
        };
        let dependency = insert(db, &source, destination.id, row).await?;
        Ok(ServiceDependencyPayload { service_dependency: Some(dependency), ..Default::default() })
    }
}

impl ServiceDependencyDeleteMutation for Mutation {
    async fn service_dependency_delete(
        ctx: &MutationCtx<'_>,
        input: DeleteInput,
    ) -> Result<ServiceDependencyDeletePayload> {
        let DeleteInput { id } = input;
        let deleted_id = Some(delete(ctx.db(), &id).await?);
        Ok(ServiceDependencyDeletePayload { deleted_id, ..Default::default() })
    }
}

/// Deletes the dependency with this id.
pub(in crate::graphql) async fn delete(db: &Transaction, id: &str) -> Result<Id> {
    let dependency = id::require::<Entity>(db, id, "id").await?;
    services::owner_writable(db, dependency.source_id).await?;
    let id = ServiceDependencyResolver::id(&dependency);
    db.delete(dependency).await?;
    Ok(id)
}
