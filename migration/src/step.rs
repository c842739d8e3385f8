//! Migrations that have a file of their own: a function `up` in a module whose name the database keeps.

use std::pin::Pin;

use sea_orm_migration::prelude::*;

/// Runs until the migration is done. Boxed in its file, so that what is proven of the statements that one awaits serves
/// all: with an `async fn` in an `impl` for each, the compiler proves it anew for each.
pub(crate) type Done<'m> = Pin<Box<dyn Future<Output = Result<(), DbErr>> + Send + 'm>>;

/// A migration that has a file.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) up: for<'m> fn(&'m SchemaManager<'m>) -> Done<'m>,
}

impl MigrationName for Step {
    fn name(&self) -> &str {
        self.name
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        (self.up)(manager).await
    }
}

/// The migration in a module.
macro_rules! step {
    ($module:ident) => {
        Box::new($crate::step::Step { name: stringify!($module), up: $crate::$module::up })
    };
}
pub(crate) use step;
