//! Addresses are compared by their ASCII letters in lower case, and by other letters as they are.
//!
//! The keys until now were in lower case in every script. Two that were different stay different.

use sea_orm_migration::prelude::*;

/// This step.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        let users = Query::select().columns(["id", "email", "email_key"]).from("user").take();
        for user in db.query_all(&users).await? {
            let (id, email): (i64, String) = (user.try_get_by_index(0)?, user.try_get_by_index(1)?);
            let key = email.trim_ascii().to_ascii_lowercase();
            if user.try_get_by_index::<String>(2)? != key {
                let mut update = Query::update();
                update.table("user").value("email_key", key).and_where(Expr::col("id").eq(id));
                db.execute(&update).await?;
            }
        }
        Ok(())
    }
}
