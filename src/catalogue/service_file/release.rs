//! Unlocks a service that a service file governs.

use futures_util::future::BoxFuture;
use serde_json::json;

use crate::db::{Before, Db, RowOf};
use crate::entity::audit::{self, Actor, Subject};
use crate::entity::{ByAlias, change, service};
use crate::error::{Error, UserError};

/// Unlocks the service with this alias. Returns its slug, and whether it was locked.
///
/// # Errors
/// No service has the alias.
pub fn release<'f>(db: &'f Db, alias: &'f str) -> BoxFuture<'f, Result<(String, bool), Error>> {
    Box::pin(async move {
        db.write(async |tx| {
            let unknown = || UserError::new("alias", format!("no service has the alias \"{alias}\"")).not_found();
            let found = service::Entity::by_alias(tx, alias).await?.ok_or_else(unknown)?;
            let service =
                service::lock_for_service_file(tx, &[found.id]).await?.remove(&found.id).ok_or_else(unknown)?;
            let (slug, locked) = (service.slug.clone(), service.locked_by.is_some());
            if locked {
                let row = service::unlock(tx, &service).await?;
                let subject = Subject::new("Service", Some(row.id), &row.slug);
                let committed = Before::Committed(db.committed());
                let changed = change::diff(committed, tx, RowOf::new::<service::Entity>(row.id)).await?;
                audit::record(tx, &Actor::command_line(), "release", subject, &json!({ "changed": changed })).await?;
            }
            Ok((slug, locked))
        })
        .await
    })
}
