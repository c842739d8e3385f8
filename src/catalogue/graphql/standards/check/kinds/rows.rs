//! A service has a repository, a dependency or a service file. These kinds have no parameters.

use sea_orm::ColumnTrait;
use sea_orm::sea_query::{Expr, ExprTrait};
use serde::{Deserialize, Serialize};

use super::super::change::Change;
use super::super::question::{Asks, Facts, Question, first};
use crate::entity::{check, repository, service, service_dependency, service_repository};
use crate::error::Result;
use crate::graphql::filter::predicate::Rows;

/// Defines kinds without parameters.
macro_rules! plain {
    ($($(#[$doc:meta])* $name:ident: $wanted:literal, $has:literal, $lacks:literal, $question:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Default, Serialize, Deserialize)]
        pub(in crate::graphql::standards::check) struct $name {}

        impl $name {
            pub(in crate::graphql::standards::check) async fn give(&mut self, _: &mut Change<'_>) -> Result<()> {
                Ok(())
            }
        }

        impl Asks for $name {
            fn wanted(&self) -> String {
                $wanted.to_owned()
            }

            fn said(&self, found: Option<&str>) -> String {
                found.map_or_else(|| $lacks.to_owned(), |found| format!($has, found))
            }

            async fn question(&self, _: &check::Model, _: Facts<'_>) -> Result<Question> {
                Ok($question)
            }
        }
    )*};
}

plain! {
    /// The parameters of `RepositoryIntegratedCheck`.
    RepositoryIntegrated: "a repository", "Its repository is {}.", "It has no repository.", linked();
    /// The parameters of `ServiceDependencyCheck`.
    ServiceDependency: "a dependency on another service", "It depends on {}.", "It has no dependency.", depending();
    /// The parameters of `ServiceConfigurationCheck`.
    ServiceConfiguration: "a service file", "Its service file is {}.", "No service file describes it.", described();
}

fn linked() -> Question {
    let mut links = Rows::new(service_repository::Entity, service_repository::Column::ServiceId);
    let is_linked = repository::Column::Id.into_expr().eq(service_repository::Column::RepositoryId.into_expr());
    links.from.inner_join(repository::Entity, is_linked);
    Question::new(links.exist_where(None), first(&links, repository::Column::Name.into_expr()))
}

fn depending() -> Question {
    const OTHER: &str = "other";
    let mut links = Rows::new(service_dependency::Entity, service_dependency::Column::SourceId);
    let is_other = Expr::col((OTHER, "id")).eq(service_dependency::Column::DestinationId.into_expr());
    links.from.join_as(sea_orm::JoinType::InnerJoin, service::Entity, OTHER, is_other);
    Question::new(links.exist_where(None), first(&links, Expr::col((OTHER, "name"))))
}

fn described() -> Question {
    let file = || service::Column::LockedBy.into_expr();
    Question::new(file().is_not_null(), file())
}
