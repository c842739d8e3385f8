//! Tools: links from a service to its runbooks, dashboards, logs and the like.

use crate::entity::service::Writable;
use crate::entity::tool::{self, Column};
use crate::graphql::field::draft::changed;
use crate::graphql::field::identifier::{OneOf, exactly_one, given};
use crate::graphql::list::relation;
use crate::graphql::prelude::*;
use crate::graphql::service;

impl ToolResolver for Tool {
    fn category(&self) -> Option<ToolCategory> {
        ToolCategory::from_word(&self.category)
    }

    fn category_alias(&self) -> Option<&str> {
        Some(&self.category)
    }
}

impl ToolCreateMutation for Mutation {
    async fn tool_create(ctx: &MutationCtx<'_>, input: ToolCreateInput) -> Result<ToolCreatePayload> {
        let ToolCreateInput { category, display_name, service_alias, service_id, url, texts } = input;
        let db = ctx.db();
        let named = exactly_one(("serviceId", given(&service_id)), ("serviceAlias", given(&service_alias)))?;
        let (field, identifier) = match named {
            OneOf::First(id) => ("serviceId", Identifier::Id(id)),
            OneOf::Second(alias) => ("serviceAlias", Identifier::Alias(alias)),
        };
        let mut problems = Problems::default();
        let service = problems.take_any(service::require_writable_as(db, identifier, field).await)?;
        let row = problems.take_any(checked(ToolInput { category, display_name, url, texts }))?;
        problems.none()?;
        let (Some(service), Some(row)) = (service, row) else {
            return Err(Error::internal("a service or a tool was neither found nor refused"));
        };
        Ok(ToolCreatePayload { tool: Some(insert(db, &service, row).await?), ..Default::default() })
    }
}

/// Checks a new tool.
pub(super) fn checked(input: ToolInput) -> Result<tool::ActiveModel> {
    let ToolInput { category, display_name, url, texts } = input;
    let mut draft = Draft::<tool::Entity>::new();
    draft.set_required(Column::DisplayName, &display_name);
    draft.set_required(Column::Url, &url);
    draft.set_texts(&texts);
    Ok(tool::ActiveModel { category: Set(category.as_str().to_owned()), ..draft.done()? })
}

/// Adds a tool to a service.
pub(super) async fn insert(db: &Transaction, service: &Writable, row: tool::ActiveModel) -> Result<Tool> {
    let tool = db.insert(tool::ActiveModel { service_id: Set(service.id), ..row }).await?;
    let limit = ("a service", "tools");
    relation::check_row_limit::<tool::Entity>(db, Column::ServiceId, service.id, text::ENTRIES, limit).await?;
    Ok(tool)
}

impl ToolUpdateMutation for Mutation {
    async fn tool_update(ctx: &MutationCtx<'_>, input: ToolUpdateInput) -> Result<ToolUpdatePayload> {
        let ToolUpdateInput { id, category, display_name, url, texts } = input;
        let db = ctx.db();
        let tool = id::require::<tool::Entity>(db, &id, "id").await?;
        service::owner_writable(db, tool.service_id).await?;
        let mut draft = Draft::<tool::Entity>::from_row(tool);
        let category = draft.problems.take(changed("category", &category, |category| Ok(category.as_str().to_owned())));
        draft.set(Column::DisplayName, &display_name);
        draft.set(Column::Url, &url);
        draft.set_texts(&texts);
        let mut row = draft.done()?;
        if let Some(category) = category.flatten() {
            row.category = Set(category);
        }
        Ok(ToolUpdatePayload { tool: Some(db.update(row).await?), ..Default::default() })
    }
}

impl ToolDeleteMutation for Mutation {
    async fn tool_delete(ctx: &MutationCtx<'_>, input: ToolDeleteInput) -> Result<ToolDeletePayload> {
        let ToolDeleteInput { id } = input;
        let db = ctx.db();
        let tool = id::require::<tool::Entity>(db, &id, "id").await?;
        service::owner_writable(db, tool.service_id).await?;
        let deleted_tool_id = Some(ToolResolver::id(&tool));
        db.delete(tool).await?;
        Ok(ToolDeletePayload { deleted_tool_id, ..Default::default() })
    }
}
