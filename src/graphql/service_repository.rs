//! The links that say which services' code a repository holds.

use sea_orm::{DatabaseTransaction, ModelTrait};

use super::context::MutationCtx;
use super::identifier::Identifier;
use super::schema::*;
use super::types::ServiceRepository;
use super::{draft, id, repository, service as services};
use crate::db::Read;
use crate::entity::service::{self, Writable};
use crate::entity::service_repository::{self, Column, Entity};
use crate::error::{Error, Problems, Result, UserError};

impl ServiceRepositoryResolver for ServiceRepository {}

impl ServiceRepositoryCreateMutation for Mutation {
    async fn service_repository_create(
        ctx: &MutationCtx<'_>,
        input: ServiceRepositoryCreateInput,
    ) -> Result<ServiceRepositoryCreatePayload> {
        let ServiceRepositoryCreateInput { service, repository, base_directory, display_name } = input;
        let db = ctx.db();
        let mut problems = Problems::default();
        let service = problems.take_any(writable_service(db, &service).await)?;
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

/// The service that is to be linked.
async fn writable_service(db: &DatabaseTransaction, named: &IdentifierInput) -> Result<Writable> {
    let found = async { services::require(db, Identifier::new(&named.id, &named.alias)?).await };
    service::writable(db, found.await.map_err(|error| error.map_user(|error| error.within("service")))?).await
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
