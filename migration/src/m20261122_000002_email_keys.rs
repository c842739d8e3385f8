//! Recomputes the keys by which email addresses are compared. ASCII letters are folded to lower case, other letters are
//! not.
//!
//! Until now, letters of every script were folded. Keys that differed still differ.

use sea_orm_migration::prelude::*;

use crate::Done;

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let db = manager.get_connection();
        let users = Query::select().columns(["id", "email", "email_key"]).from("user").take();
        for user in db.query_all(&users).await? {
            let (id, email): (i64, String) = (user.try_get("", "id")?, user.try_get("", "email")?);
            let key = email.trim_ascii().to_ascii_lowercase();
            if user.try_get::<String>("", "email_key")? != key {
                let mut update = Query::update();
                update.table("user").value("email_key", key).and_where(Expr::col("id").eq(id));
                db.execute(&update).await?;
            }
        }
        Ok(())
    })
}
