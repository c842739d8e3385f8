//! Links between services and the repositories that hold their code.

use std::collections::HashMap;

use sea_orm::ModelTrait;

use crate::db::{self as database, Table};
use crate::engine::page::{Edge, Page};
use crate::entity::service::Writable;
use crate::entity::service_repository::{self, Column, Entity};
use crate::entity::{pages, repository as repositories_table, service as services_table};
use crate::graphql::field::alias;
use crate::graphql::field::draft;
use crate::graphql::list::relation::present;
use crate::graphql::prelude::*;
use crate::graphql::service as services;

impl ServiceRepositoryResolver for ServiceRepository {}

/// The maximum number of links between a service and a repository.
const MOST: usize = text::FEW;

/// An entry of a page: the first link between a service and a repository, and the row that it leads to.
struct First<M> {
    link: ServiceRepository,
    node: M,
    cursor: String,
}

/// Reads a page of linked rows for each parent. Of several links between the same two rows, only the first counts.
async fn pages<M>(
    parents: Vec<i64>,
    args: &PageArguments,
    ctx: &Ctx<'_>,
    [parent, target]: [Column; 2],
    key: fn(&ServiceRepository) -> i64,
) -> Result<Vec<(Vec<First<M>>, PageInfo, i32)>>
where
    M: ModelTrait<Entity: Table<Model = M> + ByIds> + Clone + Send + Sync + 'static,
{
    let links = List::<Entity>::new(Column::Id).of_parents(parent, parents).first_of([parent, target]);
    let pages = links.pages(ctx, &args.request()?).await?;
    let keys: Vec<_> = pages.iter().flat_map(|page| &page.edges).map(|edge| Some(key(&edge.node))).collect();
    let mut found = present(M::Entity::by_ids(ctx.db(), keys).await?)?.into_iter();
    let pages = pages.into_iter().map(|page| {
        let entry = |(edge, node): (Edge<ServiceRepository>, M)| First {
            link: edge.node,
            node,
            cursor: edge.cursor.to_string(),
        };
        let entries = page.edges.into_iter().zip(found.by_ref()).map(entry).collect();
        (entries, page.info, page.total_count.unwrap_or_default())
    });
    Ok(pages.collect())
}

/// Takes apart a page of rows, for a connection whose edges are not selected.
fn nodes_alone<M>(page: Page<M>) -> (Vec<M>, PageInfo, i32) {
    let nodes = page.edges.into_iter().map(|edge| edge.node).collect();
    (nodes, page.info, page.total_count.unwrap_or_default())
}

/// The ids of a link's service and repository.
fn pair(link: &ServiceRepository) -> (i64, i64) {
    (link.service_id, link.repository_id)
}

/// Reads all links between the service and the repository of each pair, oldest first, in one statement.
async fn links_between(ctx: &Ctx<'_>, pairs: Vec<(i64, i64)>) -> Result<Vec<Vec<ServiceRepository>>> {
    let distinct = |mut keys: Vec<i64>| {
        keys.sort_unstable();
        keys.dedup();
        keys
    };
    let services = distinct(pairs.iter().map(|(service, _)| *service).collect());
    let repositories = distinct(pairs.iter().map(|(_, repository)| *repository).collect());
    let db = ctx.db();
    let links = Entity::find()
        .filter(database::any(db, Column::ServiceId, &services))
        .filter(database::any(db, Column::RepositoryId, &repositories))
        .order_by_asc(Column::Id);
    let mut by_pair = HashMap::<_, Vec<ServiceRepository>>::with_capacity(pairs.len());
    for link in db.all(links).await? {
        by_pair.entry((link.service_id, link.repository_id)).or_default().push(link);
    }
    Ok(pairs.iter().map(|pair| by_pair.get(pair).cloned().unwrap_or_default()).collect())
}

/// A page of each service's repositories, with its links to them.
pub(in crate::graphql) async fn repositories(
    services: Vec<i64>,
    args: &PageArguments,
    ctx: &Ctx<'_>,
) -> Result<Vec<ServiceReposConnectionType>> {
    let columns = [Column::ServiceId, Column::RepositoryId];
    if !ctx.selects("edges") {
        // Without edges, one statement reads the repositories, and the links are not needed.
        let list = List::<repositories_table::Entity>::new(repositories_table::Column::Id);
        let list = list.linked("service_repository", ["service_id", "repository_id"], services).first_of(columns);
        let pages = list.pages(ctx, &args.request()?).await?.into_iter().map(nodes_alone);
        let connection = |(nodes, page_info, total_count)| ServiceReposConnectionType {
            nodes,
            edges: Vec::new(),
            page_info,
            total_count,
        };
        return Ok(pages.map(connection).collect());
    }
    let pages = pages::<Repository>(services, args, ctx, columns, |link| link.repository_id).await?;
    let selects_nodes = ctx.selects("nodes");
    let mut connections = Vec::with_capacity(pages.len());
    for (entries, page_info, total_count) in pages {
        let (mut nodes, mut edges) = (Vec::new(), Vec::new());
        for First { link, node, cursor } in entries {
            if selects_nodes {
                nodes.push(clone_charged(&node, ctx)?);
            }
            edges.push(ServiceReposEdge { link, node, cursor });
        }
        connections.push(ServiceReposConnectionType { nodes, edges, page_info, total_count });
    }
    Ok(connections)
}

/// A page of each repository's services, with its links to them.
pub(in crate::graphql) async fn services(
    repositories: &[&Repository],
    args: &PageArguments,
    ctx: &Ctx<'_>,
) -> Result<Vec<RepositoryServiceConnectionType>> {
    let parents: Vec<i64> = repositories.iter().map(|repository| repository.id).collect();
    let columns = [Column::RepositoryId, Column::ServiceId];
    if !ctx.selects("edges") {
        let list = List::<services_table::Entity>::new(services_table::Column::Id);
        let list = list.linked("service_repository", ["repository_id", "service_id"], parents).first_of(columns);
        let pages = list.pages(ctx, &args.request()?).await?.into_iter().map(nodes_alone);
        let connection = |(nodes, page_info, total_count)| RepositoryServiceConnectionType {
            nodes,
            edges: Vec::new(),
            page_info,
            total_count,
        };
        return Ok(pages.map(connection).collect());
    }
    let pages = pages::<Service>(parents, args, ctx, columns, |link| link.service_id).await?;
    let selects_nodes = ctx.selects("nodes");
    let mut connections = Vec::with_capacity(pages.len());
    for (repository, (entries, page_info, total_count)) in repositories.iter().zip(pages) {
        let (mut nodes, mut edges) = (Vec::new(), Vec::new());
        for First { link, node, cursor } in entries {
            if selects_nodes {
                nodes.push(clone_charged(&node, ctx)?);
            }
            // `paths` builds URLs from the repository. This copy is not charged: it is small beside the services.
            let repository = (*repository).clone();
            edges.push(RepositoryServiceEdge { link, node, cursor, repository });
        }
        connections.push(RepositoryServiceConnectionType { nodes, edges, page_info, total_count });
    }
    Ok(connections)
}

/// A repository of a service.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceReposEdge {
    link: ServiceRepository,
    node: Repository,
    cursor: String,
}

impl ServiceReposEdgeResolver for ServiceReposEdge {
    fn cursor(&self) -> &str {
        &self.cursor
    }

    relations! { |edges: Self, args, ctx|
        node() -> Repository = edges.iter().map(|edge| clone_charged(&edge.node, ctx)).collect();
        service_repositories() -> Vec<ServiceRepository> =
            links_between(ctx, edges.iter().map(|edge| pair(&edge.link)).collect()).await;
    }
}

/// A service of a repository.
#[derive(Debug, Clone, PartialEq)]
pub struct RepositoryServiceEdge {
    link: ServiceRepository,
    node: Service,
    cursor: String,
    repository: Repository,
}

impl RepositoryServiceEdgeResolver for RepositoryServiceEdge {
    fn cursor(&self) -> &str {
        &self.cursor
    }

    async fn at_root(edges: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<bool>> {
        let links = links_between(ctx, edges.iter().map(|edge| pair(&edge.link)).collect()).await?;
        Ok(links.iter().map(|links| links.iter().any(|link| link.base_directory.is_empty())).collect())
    }

    async fn paths(edges: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<RepositoryPath>>> {
        let links = links_between(ctx, edges.iter().map(|edge| pair(&edge.link)).collect()).await?;
        let paths = edges.iter().zip(links).map(|(edge, links)| {
            let path = |link: ServiceRepository| {
                let address = edge.repository.address_of(&link.base_directory);
                RepositoryPath { address, repository: edge.repository.id, path: link.base_directory }
            };
            links.into_iter().map(path).collect()
        });
        Ok(paths.collect())
    }

    relations! { |edges: Self, args, ctx|
        node() -> Service = edges.iter().map(|edge| clone_charged(&edge.node, ctx)).collect();
        service_repositories() -> Vec<ServiceRepository> =
            links_between(ctx, edges.iter().map(|edge| pair(&edge.link)).collect()).await;
    }
}

/// A folder of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryPath {
    address: Option<String>,
    repository: i64,
    path: String,
}

impl RepositoryPathResolver for RepositoryPath {
    fn path(&self) -> &str {
        &self.path
    }

    async fn href(paths: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<String>> {
        // Without a URL of its own, the folder leads to the repository's page in rollcall.
        let app_url = &ctx.settings().app_url;
        let page = |path: &&Self| pages::url(app_url, ["repositories", &path.repository.to_string()]);
        Ok(paths.iter().map(|path| path.address.clone().unwrap_or_else(|| page(path))).collect())
    }
}

/// The oldest link of each service.
pub(in crate::graphql) async fn default_links(
    services: Vec<i64>,
    ctx: &Ctx<'_>,
) -> Result<Vec<Option<ServiceRepository>>> {
    let links = List::<Entity>::new(Column::Id).of_parents(Column::ServiceId, services);
    links.first_per_parent(ctx.db()).await
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
        let mut draft = Draft::<Entity>::from_row(link);
        // Null clears the folder, which then is the whole repository. The column itself is never null.
        let base_directory = draft.problems.take(draft::text::<Entity>(Column::BaseDirectory, &base_directory));
        draft.set(Column::DisplayName, &display_name);
        let mut row = draft.done()?;
        if let Some(base_directory) = base_directory.flatten() {
            row.base_directory = Set(service_repository::folder(base_directory));
        }
        let taken = UserError::new("baseDirectory", "the service is already linked to this folder of the repository");
        let link = db.update(row).await.map_err(|error| alias::or_taken(error, taken))?;
        Ok(ServiceRepositoryUpdatePayload { service_repository: Some(link), ..Default::default() })
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
        let link = ServiceRepositoryInput { repository, base_directory, display_name };
        let link = problems.take_any(checked(db, &link).await)?;
        problems.none()?;

        // Both were found, or `problems` had an error.
        let (Some(service), Some(link)) = (service, link) else {
            return Err(Error::internal("a service or a repository was neither found nor missed"));
        };
        let link = insert(db, &service, link).await?;
        Ok(ServiceRepositoryCreatePayload { service_repository: Some(link), ..Default::default() })
    }
}

/// A link that can be made: the key of the repository, the folder and the name.
pub(super) struct NewLink {
    repository: i64,
    base_directory: Option<String>,
    display_name: Option<String>,
}

/// Checks a new link.
pub(super) async fn checked(db: &dyn ReadHandle, input: &ServiceRepositoryInput) -> Result<NewLink> {
    let ServiceRepositoryInput { repository, base_directory, display_name } = input;
    let mut problems = Problems::default();
    let repository = problems.take_any(named_repository(db, repository).await)?;
    let text = draft::text::<Entity>;
    let base_directory = problems.take(text(Column::BaseDirectory, base_directory));
    let display_name = problems.take(text(Column::DisplayName, display_name));
    problems.none()?;
    let repository = repository.ok_or_else(|| Error::internal("a repository was neither found nor missed"))?;
    let (base_directory, display_name) = (base_directory.flatten().flatten(), display_name.flatten().flatten());
    Ok(NewLink { repository, base_directory, display_name })
}

/// Links a service to a repository.
pub(super) async fn insert(db: &Transaction, service: &Writable, link: NewLink) -> Result<ServiceRepository> {
    let NewLink { repository, base_directory, display_name } = link;
    let link = service_repository::link(db, service, repository, base_directory, display_name).await?;
    let link = link.ok_or_else(|| UserError::base("the service is already linked to this folder of the repository"))?;
    let pair = Entity::find().filter(Column::ServiceId.eq(link.service_id));
    let links = db.count(pair.filter(Column::RepositoryId.eq(link.repository_id))).await?;
    if links > MOST as u64 {
        let message = format!("no more links can be added: a service and a repository have at most {MOST}");
        return Err(UserError::base(message).into());
    }
    Ok(link)
}

/// Finds the key of the repository to link.
async fn named_repository(db: &dyn ReadHandle, named: &IdentifierInput) -> Result<i64> {
    let found = async { identifier::require::<Repository>(db, Identifier::new(&named.id, &named.alias)?).await };
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
        db.delete(link).await?;
        Ok(ServiceRepositoryDeletePayload { deleted_id, ..Default::default() })
    }
}
