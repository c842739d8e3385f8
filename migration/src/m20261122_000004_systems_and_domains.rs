//! Systems of services and domains of systems, with their aliases and tags. From now on, an owner may have several tags
//! with the same key.

use sea_orm_migration::sea_orm::DbBackend;
use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, exactly_one, index, partial, set_null};

/// The columns of the owners of tags, with the tables they refer to.
const OWNERS: [(&str, &str); 6] = [
    ("service_id", "service"),
    ("repository_id", "repository"),
    ("team_id", "team"),
    ("user_id", "user"),
    ("system_id", "system"),
    ("domain_id", "domain"),
];

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        named(manager, "domain", "domain_alias", "domain_id", None).await?;
        named(manager, "system", "system_alias", "system_id", Some(("domain_id", "domain"))).await?;
        create(
            manager,
            [
                index("domain_by_owner", "domain", ["owner_id", "id"]),
                index("system_by_owner", "system", ["owner_id", "id"]),
                index("system_by_domain", "system", ["domain_id", "id"]),
                index("domain_alias_by_value", "domain_alias", ["value"]).unique().take(),
                index("domain_alias_by_domain", "domain_alias", ["domain_id", "id"]),
                index("system_alias_by_value", "system_alias", ["value"]).unique().take(),
                index("system_alias_by_system", "system_alias", ["system_id", "id"]),
            ],
        )
        .await?;
        let db = manager.get_connection();
        db.execute_unprepared(
            "ALTER TABLE service ADD COLUMN system_id bigint NULL REFERENCES system (id) ON DELETE SET NULL",
        )
        .await?;
        create(manager, [partial("service_by_system", "service", ["system_id", "id"], "system_id")]).await?;
        match manager.get_database_backend() {
            DbBackend::Sqlite => copy_tags(manager).await?,
            _ => widen_tags(manager).await?,
        }
        index_tags(manager).await
    })
}

/// Creates a table of objects with a name, a description, a note and an owner, and the table of their aliases.
async fn named(
    manager: &SchemaManager<'_>,
    table: &'static str,
    aliases: &'static str,
    key: &'static str,
    parent: Option<(&'static str, &'static str)>,
) -> Result<(), DbErr> {
    let mut things = Table::create();
    things
        .table(table)
        .col(big_pk_auto("id"))
        .col(text("name"))
        // The slug of the current name; also a row of the table of aliases.
        .col(text("slug"))
        .col(text_null("description"))
        .col(text_null("note"))
        .col(big_integer_null("owner_id"))
        .foreign_key(&mut set_null(table, "owner_id", "team"));
    if let Some((column, target)) = parent {
        things.col(big_integer_null(column)).foreign_key(&mut set_null(table, column, target));
    }
    things.col(big_integer("created_at")).col(big_integer("updated_at"));
    manager.create_table(things).await?;
    let aliases = Table::create()
        .table(aliases)
        .col(big_pk_auto("id"))
        .col(big_integer(key))
        .col(text("value"))
        .col(text("kind"))
        .foreign_key(&mut cascade(aliases, key, table))
        .take();
    manager.create_table(aliases).await
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
        INSERT INTO new_tag (id, key, value, service_id, repository_id, team_id, user_id)
            SELECT id, key, value, service_id, repository_id, team_id, user_id FROM tag ORDER BY id;
        -- An id is never given out twice, that of a deleted tag neither.
        DELETE FROM sqlite_sequence WHERE name = 'new_tag';
        INSERT INTO sqlite_sequence (name, seq) SELECT 'new_tag', seq FROM sqlite_sequence WHERE name = 'tag';
        DROP TABLE tag;
        ALTER TABLE new_tag RENAME TO tag;";
    manager.get_connection().execute_unprepared(statements).await.map(drop)
}

async fn widen_tags(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let statements = "
        ALTER TABLE tag
            ADD COLUMN system_id bigint NULL CONSTRAINT fk_tag_system_id REFERENCES system (id) ON DELETE CASCADE,
            ADD COLUMN domain_id bigint NULL CONSTRAINT fk_tag_domain_id REFERENCES domain (id) ON DELETE CASCADE,
            DROP CONSTRAINT tag_check,
            ADD CONSTRAINT tag_check
                CHECK (num_nonnulls(service_id, repository_id, team_id, user_id, system_id, domain_id) = 1);
        DROP INDEX tag_by_key_service, tag_by_key_repository, tag_by_key_team, tag_by_key_user, tag_by_key_value_service,
            tag_by_service, tag_by_repository, tag_by_team, tag_by_user, tag_by_value_service;";
    manager.get_connection().execute_unprepared(statements).await.map(drop)
}

async fn index_tags(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    macro_rules! of {
        ($owner:literal) => {{
            const COLUMN: &str = concat!($owner, "_id");
            let key = ["key", "value", COLUMN];
            [
                // Unique. The key comes first, so that the same index lists the owners that have a key.
                partial(concat!("tag_by_key_value_", $owner), "tag", key, COLUMN).unique().take(),
                partial(concat!("tag_by_", $owner), "tag", [COLUMN, "id"], COLUMN),
            ]
        }};
    }
    let owners = [of!("service"), of!("repository"), of!("team"), of!("user"), of!("system"), of!("domain")];
    let by_value = partial("tag_by_value_service", "tag", ["value", "service_id"], "service_id");
    create(manager, owners.into_iter().flatten().chain([by_value])).await
}
