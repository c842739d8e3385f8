//! API documents of services, posted or pulled.

use std::collections::HashMap;

use sea_orm::ActiveValue;

use crate::entity::service_document::{Column, Entity, Format};
use crate::entity::{document_pull, integration as integrations, pages, service, service_document_content as content};
use crate::graphql::field::id::Id;
use crate::graphql::integration;
use crate::graphql::list::relation::to_one;
use crate::graphql::prelude::*;

impl ServiceDocumentResolver for ServiceDocument {
    fn format(&self) -> ServiceDocumentFormatEnum {
        match self.format {
            Format::OpenApi => ServiceDocumentFormatEnum::Openapi,
            Format::AsyncApi => ServiceDocumentFormatEnum::Asyncapi,
            Format::GraphQl => ServiceDocumentFormatEnum::Graphql,
            Format::Markdown => ServiceDocumentFormatEnum::Markdown,
        }
    }

    async fn html_url(documents: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<String>>> {
        let app_url = &ctx.settings().app_url;
        Ok(documents
            .iter()
            .map(|document| Some(pages::url(app_url, ["documents", &document.id.to_string()])))
            .collect())
    }

    async fn source(documents: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<ServiceDocumentSource>>> {
        let keys: Vec<_> = documents.iter().map(|document| document.integration_id).collect();
        let rows = to_one::<integrations::Model>(ctx, keys).await?;
        Ok(rows.into_iter().map(|row| row.map(|row| integration::api_doc(row).into())).collect())
    }

    async fn timestamps(documents: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<Timestamps>>> {
        let of = |one: &&Self| Some(Timestamps { created_at: one.created_at, updated_at: one.updated_at });
        Ok(documents.iter().map(of).collect())
    }

    async fn content(documents: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<String>>> {
        let db = ctx.db();
        let ids: Vec<i64> = documents.iter().map(|document| document.id).collect();
        let rows = db.all(content::Entity::find().filter(db::any(db, content::Column::DocumentId, &ids))).await?;
        let texts: HashMap<i64, String> = rows.into_iter().map(|row| (row.document_id, row.content)).collect();
        let text = |id: &i64| {
            let text = texts.get(id);
            db.charge::<String>(text.map_or(0, String::len))?;
            Ok(text.cloned())
        };
        ids.iter().map(text).collect()
    }
}

/// Finds the document with this id, for a query.
pub(in crate::graphql) async fn find(db: &dyn ReadHandle, id: &str) -> Result<Option<ServiceDocument>> {
    id::find::<Entity>(db, id).await
}

/// The documents whose title contains a text, or all of them.
fn titled(db: &dyn ReadHandle, search_term: Option<&str>) -> Result<List<Entity>> {
    let documents = List::<Entity>::new(Column::Id);
    let Some(text) = search_term.filter(|text| !text::is_nothing(text)) else { return Ok(documents) };
    let text = text::at_most("searchTerm", text::trim(text), text::SHORT)?;
    Ok(documents.filter(db::text::contains_in_any_case(db, Column::Title.into_expr(), &text)))
}

/// The documents of all services, a page at a time.
pub(in crate::graphql) async fn page(
    args: &AccountDocumentsArgs,
    ctx: &Ctx<'_>,
) -> Result<ServiceDocumentConnectionType> {
    let AccountDocumentsArgs { search_term, first, after } = args;
    let request = PageRequest::new(first, after)?;
    titled(ctx.db(), search_term.value().map(String::as_str))?.page(ctx, &request).await
}

/// The documents of each service, a page at a time.
pub(in crate::graphql) async fn of_services(
    services: Vec<i64>,
    args: &ServiceDocumentsArgs,
    ctx: &Ctx<'_>,
) -> Result<Vec<ServiceDocumentConnectionType>> {
    let ServiceDocumentsArgs { search_term, first, after } = args;
    let request = PageRequest::new(first, after)?;
    let documents = titled(ctx.db(), search_term.value().map(String::as_str))?;
    documents.of_parents(Column::ServiceId, services).pages(ctx, &request).await
}

/// Returns the preferred document of each service: of those that it prefers, the one that changed last.
pub(in crate::graphql) async fn preferred(
    services: &[&impl ServiceDetails],
    ctx: &Ctx<'_>,
) -> Result<Vec<Option<ServiceDocument>>> {
    let mut found = vec![None; services.len()];
    let sources = [None, Some(ApiDocumentSourceEnum::Push), Some(ApiDocumentSourceEnum::Pull)];
    // Most services have the same preference, so that this is one statement.
    for source in sources {
        let prefers =
            |place: &usize| <Service as ServiceResolver>::preferred_api_document_source(services[*place]) == source;
        let places: Vec<usize> = (0..services.len()).filter(prefers).collect();
        if places.is_empty() {
            continue;
        }
        let documents = List::<Entity>::new(Column::Id).newest_first(Column::UpdatedAt);
        let documents = match source {
            None => documents,
            Some(ApiDocumentSourceEnum::Push) => documents.filter(Column::IntegrationId.is_not_null()),
            Some(ApiDocumentSourceEnum::Pull) => documents.filter(Column::IntegrationId.is_null()),
        };
        let ids = places.iter().map(|place| services[*place].id());
        let newest = documents.of_parents(Column::ServiceId, ids).first_per_parent(ctx.db()).await?;
        for (place, document) in places.into_iter().zip(newest) {
            found[place] = document;
        }
    }
    Ok(found)
}

/// Returns when the document of each service is pulled, for services with a URL.
pub(in crate::graphql) async fn pulls(
    services: &[&impl ServiceDetails],
    ctx: &Ctx<'_>,
) -> Result<Vec<Option<ApiDocumentPull>>> {
    let db = ctx.db();
    let with_url = services.iter().filter(|service| service.api_document_url().is_some());
    let ids: Vec<i64> = with_url.map(|service| service.id()).collect();
    if ids.is_empty() {
        return Ok(services.iter().map(|_| None).collect());
    }
    let rows =
        db.all(document_pull::Entity::find().filter(db::any(db, document_pull::Column::ServiceId, &ids))).await?;
    let rows: HashMap<i64, document_pull::Model> = rows.into_iter().map(|row| (row.service_id, row)).collect();
    let pull = |id: i64| {
        let Some(row) = rows.get(&id) else { return Ok(None) };
        db.charge::<ApiDocumentPull>(row.error.as_ref().map_or(0, String::len))?;
        let (pulled_at, error, next_pull_at) = (row.pulled_at, row.error.clone(), row.next_pull_at);
        Ok(Some(ApiDocumentPull { pulled_at, error, next_pull_at }))
    };
    services.iter().map(|service| pull(service.id())).collect()
}

/// Refuses the URL of a document if the administrator does not allow to pull from its host.
pub(in crate::graphql) fn check_host(ctx: &MutationCtx<'_>, draft: &mut Draft<service::Entity>) {
    if let ActiveValue::Set(Some(url)) = &draft.row.api_document_url
        && let Err(why) = ctx.settings().document_hosts.check(url)
    {
        draft.problems.push(UserError::new("apiDocumentUrl", why));
    }
}

impl ServiceDocumentDeleteMutation for Mutation {
    async fn service_document_delete(
        ctx: &MutationCtx<'_>,
        input: DeleteInput,
    ) -> Result<ServiceDocumentDeletePayload> {
        let DeleteInput { id } = input;
        let db = ctx.db();
        let document = id::require::<Entity>(db, &id, "id").await?;
        let deleted_id = Some(Id::new::<Entity>(document.id));
        db.delete(document).await?;
        Ok(ServiceDocumentDeletePayload { deleted_id, ..Default::default() })
    }
}
