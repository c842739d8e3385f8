//! Infrastructure that services run on, with its aliases and tags.

use sea_orm_migration::sea_orm::DbBackend;
use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, exactly_one, index, partial, set_null};

/// The columns of the owners of tags, with the tables they refer to. The last one is new.
const OWNERS: [(&str, &str); 7] = [
    ("service_id", "service"),
    ("repository_id", "repository"),
    ("team_id", "team"),
    ("user_id", "user"),
    ("system_id", "system"),
    ("domain_id", "domain"),
    ("infrastructure_resource_id", "infrastructure_resource"),
];

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let resource = Table::create()
            .table("infrastructure_resource")
            .col(big_pk_auto("id"))
            .col(text("type"))
            .col(text("name"))
            // A JSON object, as text.
            .col(text("data"))
            .col(text_null("provider_resource_type"))
            .col(text_null("provider_name"))
            .col(text_null("account_name"))
            .col(text_null("external_url"))
            .col(big_integer_null("owner_id"))
            .col(big_integer("created_at"))
            .col(big_integer("updated_at"))
            .foreign_key(&mut set_null("infrastructure_resource", "owner_id", "team"))
            .take();
        let alias = Table::create()
            .table("infrastructure_resource_alias")
            .col(big_pk_auto("id"))
            .col(big_integer("infrastructure_resource_id"))
            .col(text("value"))
            .col(text("kind"))
            .foreign_key(&mut cascade(
                "infrastructure_resource_alias",
                "infrastructure_resource_id",
                "infrastructure_resource",
            ))
            .take();
        manager.create_table(resource).await?;
        manager.create_table(alias).await?;
        let of_resource = ["infrastructure_resource_id", "id"];
        create(
            manager,
            [
                partial("infrastructure_resource_by_owner", "infrastructure_resource", ["owner_id", "id"], "owner_id"),
                index("infrastructure_resource_alias_by_value", "infrastructure_resource_alias", ["value"])
                    .unique()
                    .take(),
                index("infrastructure_resource_alias_by_resource", "infrastructure_resource_alias", of_resource),
            ],
        )
        .await?;
        match manager.get_database_backend() {
            DbBackend::Sqlite => copy_tags(manager).await?,
            _ => widen_tags(manager).await?,
        }
        create(manager, of("infrastructure_resource_id", INDEXES[6])).await
    })
}

/// The names of each owner's two indexes.
const INDEXES: [[&str; 2]; 7] = [
    ["tag_by_key_value_service", "tag_by_service"],
    ["tag_by_key_value_repository", "tag_by_repository"],
    ["tag_by_key_value_team", "tag_by_team"],
    ["tag_by_key_value_user", "tag_by_user"],
    ["tag_by_key_value_system", "tag_by_system"],
    ["tag_by_key_value_domain", "tag_by_domain"],
    ["tag_by_key_value_infrastructure_resource", "tag_by_infrastructure_resource"],
];

/// The indexes of the tags of one kind of owner.
fn of(column: &'static str, [by_key_value, by_owner]: [&'static str; 2]) -> [IndexCreateStatement; 2] {
    [
        partial(by_key_value, "tag", ["key", "value", column], column).unique().take(),
        partial(by_owner, "tag", [column, "id"], column),
    ]
}

/// Copies the table, because SQLite cannot change the check of an existing one.
async fn copy_tags(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let mut tag = Table::create();
    tag.table("new_tag").col(big_pk_auto("id")).col(text("key")).col(text("value"));
    for (column, target) in OWNERS {
        tag.col(big_integer_null(column)).foreign_key(&mut cascade("new_tag", column, target));
    }
    tag.check(exactly_one(OWNERS.map(|(column, _)| column)));
    manager.create_table(tag).await?;
    let statements = "
        INSERT INTO new_tag (id, key, value, service_id, repository_id, team_id, user_id, system_id, domain_id)
            SELECT id, key, value, service_id, repository_id, team_id, user_id, system_id, domain_id FROM tag ORDER BY id;
        -- An id is never given out twice, that of a deleted tag neither.
        DELETE FROM sqlite_sequence WHERE name = 'new_tag';
        INSERT INTO sqlite_sequence (name, seq) SELECT 'new_tag', seq FROM sqlite_sequence WHERE name = 'tag';
        DROP TABLE tag;
        ALTER TABLE new_tag RENAME TO tag;";
    manager.get_connection().execute_unprepared(statements).await?;
    for (place, (column, _)) in OWNERS[..6].iter().enumerate() {
        create(manager, of(column, INDEXES[place])).await?;
    }
    create(manager, [partial("tag_by_value_service", "tag", ["value", "service_id"], "service_id")]).await
}

async fn widen_tags(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let statements = "
        ALTER TABLE tag
            ADD COLUMN infrastructure_resource_id bigint NULL CONSTRAINT fk_tag_infrastructure_resource_id
                REFERENCES infrastructure_resource (id) ON DELETE CASCADE,
            DROP CONSTRAINT tag_check,
            ADD CONSTRAINT tag_check
                CHECK (num_nonnulls(service_id, repository_id, team_id, user_id, system_id, domain_id,
                    infrastructure_resource_id) = 1);";
    manager.get_connection().execute_unprepared(statements).await.map(drop)
}
