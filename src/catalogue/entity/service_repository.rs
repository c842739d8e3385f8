//! The repositories that contain the source of services.

use super::prelude::*;
use super::service::Writable;
use super::{repository, service};

super::table! {
    "service_repository";

    /// The service.
    pub service_id: i64,
    /// The repository.
    pub repository_id: i64,
    /// The folder of the repository that contains the service, without slashes at either end; empty for the whole
    /// repository. Unique for each service and repository.
    pub base_directory: String,
    /// The display name of the link.
    pub display_name: Option<String>,
}

super::called!(noun "link between a service and a repository");

impl Table for Entity {
    const TOLD: Told = Told::Alone("ServiceRepository");
    const LIST: Option<&'static str> = Some("repositories");

    fn owner(row: &Model) -> Owner {
        Owner::Row(RowOf::new::<service::Entity>(row.service_id))
    }

    fn entry(row: &Model) -> Entry {
        Entry { name: vec![Word::NameOf(RowOf::new::<repository::Entity>(row.repository_id))], value: None }
    }
}

super::rules![
    FieldRule::text("baseDirectory", Column::BaseDirectory, text::SHORT).by_hand(),
    FieldRule::text("displayName", Column::DisplayName, text::SHORT).by_hand(),
];

/// Normalises a folder for storage.
pub fn folder(given: Option<String>) -> String {
    given.map(|folder| folder.trim_matches('/').to_owned()).unwrap_or_default()
}

/// Links a service to a repository and returns the link. Returns `None` if a link with this folder already exists.
pub async fn link(
    db: &dyn WriteHandle,
    service: &Writable,
    repository: i64,
    base_directory: Option<String>,
    display_name: Option<String>,
) -> Result<Option<Model>, db::Error> {
    let row = ActiveModel {
        service_id: Set(service.id),
        repository_id: Set(repository),
        base_directory: Set(folder(base_directory)),
        display_name: Set(display_name),
        ..Default::default()
    };
    let pair = [Column::ServiceId, Column::RepositoryId, Column::BaseDirectory];
    let unless_linked = OnConflict::columns(pair).do_nothing().to_owned();
    let made = db.returning(Entity::insert(row).on_conflict(unless_linked)).await?;
    Ok(made.into_iter().next())
}
