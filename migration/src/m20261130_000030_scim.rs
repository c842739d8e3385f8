//! What an identity provider tells of people and groups by SCIM: further names of users, whether they are deactivated, and
//! the groups with their members.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, index};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        for column in ["external_id", "user_name", "user_name_key", "given_name", "family_name"] {
            add(manager, text_null(column)).await?;
        }
        add(manager, big_integer_null("deactivated_at")).await?;
        // A user without a name of its own at the identity provider has the email address for one, so no other may have it.
        let by_name = "CREATE UNIQUE INDEX user_by_user_name ON \"user\" (coalesce(user_name_key, email_key))";
        manager.get_connection().execute_unprepared(by_name).await?;
        let group = Table::create()
            .table("scim_group")
            .col(big_pk_auto("id"))
            .col(text("display_name"))
            .col(text("name_key"))
            .col(text_null("external_id"))
            .col(big_integer("created_at"))
            .col(big_integer("updated_at"))
            .take();
        manager.create_table(group).await?;
        let member = Table::create()
            .table("scim_group_member")
            .col(big_pk_auto("id"))
            .col(big_integer("group_id"))
            .col(big_integer("user_id"))
            .foreign_key(&mut cascade("scim_group_member", "group_id", "scim_group"))
            .foreign_key(&mut cascade("scim_group_member", "user_id", "user"))
            .take();
        manager.create_table(member).await?;
        let indexes = [
            index("user_by_external_id", "user", ["external_id"]).unique().take(),
            index("scim_group_by_name", "scim_group", ["name_key"]).unique().take(),
            index("scim_group_by_external_id", "scim_group", ["external_id"]).unique().take(),
            index("scim_group_member_by_group", "scim_group_member", ["group_id", "user_id"]).unique().take(),
            index("scim_group_member_by_user", "scim_group_member", ["user_id"]),
        ];
        create(manager, indexes).await
    })
}

async fn add(manager: &SchemaManager<'_>, column: ColumnDef) -> Result<(), DbErr> {
    manager.alter_table(Table::alter().table("user").add_column(column).take()).await
}
