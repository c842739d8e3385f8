//! Gives tokens of the scope `write` the scope `admin`. Until now, `write` included what `admin` is for.

use sea_orm_migration::prelude::*;

use crate::Done;

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let all =
            Query::update().table("token").value("scope", "admin").and_where(Expr::col("scope").eq("write")).take();
        manager.execute(all).await
    })
}
