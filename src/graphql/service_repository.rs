//! The links that say which services' code a repository holds.

use sea_orm::{ActiveModelTrait, ModelTrait, Set};

use super::context::{Ctx, MutationCtx};
use super::draft::Draft;
use super::identifier::Identifier;
use super::list::List;
use super::relation::present;
use super::schema::*;
use super::types::{Repository, Service, ServiceRepository};
use super::{draft, id, repository, service as services};
use crate::db::Read;
use crate::engine::page::PageArguments;
use crate::entity::service_repository::{self, Column, Entity};
use crate::entity::{ByIds, repository as repository_rows};
use crate::error::{Error, Problems, Result, UserError};

impl ServiceRepositoryResolver for ServiceRepository {
    fn base_directory(&self) -> &str {
        self.base_directory.trim_matches('/')
    }
}

/// A page of each service's repositories, with its links to them.
pub(super) async fn repositories(
    services: &[&Service],
    args: &PageArguments,
    ctx: &Ctx<'_>,
) -> Result<Vec<ServiceReposConnectionType>> {
    let links = List::<Entity>::new(Column::Id).of(Column::ServiceId, services.iter().map(|service| service.id));
    let pages = links.pages(ctx, &args.request()?).await?;
    let selects_nodes = ctx.selects("nodes");
    let keys = pages.iter().flat_map(|page| &page.edges).map(|edge| Some(edge.node.repository_id));
    let mut found = present(repository_rows::Entity::by_ids(ctx.db(), keys).await?)?.into_iter();
    let mut connections = Vec::with_capacity(pages.len());
    for page in pages {
        let (mut nodes, mut edges) = (Vec::new(), Vec::new());
        for (edge, node) in page.edges.into_iter().zip(found.by_ref()) {
            if selects_nodes {
                ctx.db().charge::<Repository>(node.name.len() + node.default_alias.len())?;
                nodes.push(node.clone());
            }
            // The two are linked once.
            let service_repositories = vec![edge.node];
            edges.push(ServiceReposEdge { node, cursor: edge.cursor.to_string(), service_repositories });
        }
        let total_count = page.total_count.unwrap_or_default();
        connections.push(ServiceReposConnectionType { nodes, edges, page_info: page.info, total_count });
    }
    Ok(connections)
}

/// The oldest link of each service.
pub(super) async fn default_links(services: &[&Service], ctx: &Ctx<'_>) -> Result<Vec<Option<ServiceRepository>>> {
    let links = List::<Entity>::new(Column::Id).of(Column::ServiceId, services.iter().map(|service| service.id));
    links.firsts(ctx.db()).await
}

impl ServiceRepositoryUpdateMutation for Mutation {
    async fn service_repository_update(
        ctx: &MutationCtx<'_>,
        input: ServiceRepositoryUpdateInput,
    ) -> Result<ServiceRepositoryUpdatePayload> {
        let ServiceRepositoryUpdateInput { base_directory, display_name, id } = input;
        let db = ctx.db();
        let link = id::require::<Entity>(db, &id, "id").await?;
        services::owner_writable(db, link.service_id).await?;
        let mut draft = Draft::<Entity>::of(link);
        // The column always has a text: what is cleared is the whole repository.
        let base_directory = draft.problems.take(draft::text::<Entity>(Column::BaseDirectory, &base_directory));
        draft.set(Column::DisplayName, &display_name);
        let mut row = draft.done()?;
        if let Some(base_directory) = base_directory.flatten() {
            row.base_directory = Set(base_directory.unwrap_or_else(|| "/".to_owned()));
        }
        Ok(ServiceRepositoryUpdatePayload { service_repository: Some(row.update(db).await?), ..Default::default() })
    }
}

impl ServiceRepositoryCreateMutation for Mutation {
    async fn service_repository_create(
        ctx: &MutationCtx<'_>,
        input: ServiceRepositoryCreateInput,
    ) -> Result<ServiceRepositoryCreatePayload> {
        let ServiceRepositoryCreateInput { service, repository, base_directory, display_name } = input;
        let db = ctx.db();
        let mut problems = Problems::default();
        let service = problems.take_any(services::require_writable_at(db, &service).await)?;
        let repository = problems.take_any(named_repository(db, &repository).await)?;
        let text = draft::text::<Entity>;
        let base_directory = problems.take(text(Column::BaseDirectory, &base_directory));
        let display_name = problems.take(text(Column::DisplayName, &display_name));
        problems.none()?;

        // Both are there, or there is a problem.
        let (Some(service), Some(repository)) = (service, repository) else {
            return Err(Error::internal("a service or a repository was neither found nor missed"));
        };
        let (base_directory, display_name) = (base_directory.flatten().flatten(), display_name.flatten().flatten());
        let link = service_repository::link(db, &service, repository, base_directory, display_name).await?;
        let link = link.ok_or_else(|| UserError::base("the service and the repository are linked already"))?;
        Ok(ServiceRepositoryCreatePayload { service_repository: Some(link), ..Default::default() })
    }
}

/// The key of the repository that is to be linked.
async fn named_repository(db: &impl Read, named: &IdentifierInput) -> Result<i64> {
    let found = async { repository::require(db, Identifier::new(&named.id, &named.alias)?).await };
    Ok(found.await.map_err(|error| error.map_user(|error| error.within("repository")))?.id)
}

impl ServiceRepositoryDeleteMutation for Mutation {
    async fn service_repository_delete(
        ctx: &MutationCtx<'_>,
        input: DeleteInput,
    ) -> Result<ServiceRepositoryDeletePayload> {
        let DeleteInput { id } = input;
        let db = ctx.db();
        let link = id::require::<Entity>(db, &id, "id").await?;
        services::owner_writable(db, link.service_id).await?;
        let deleted_id = Some(ServiceRepositoryResolver::id(&link));
        link.delete(db).await?;
        Ok(ServiceRepositoryDeletePayload { deleted_id, ..Default::default() })
    }
}
