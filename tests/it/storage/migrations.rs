//! The result of the migrations, and what happens to a database that cannot be opened or migrated.

use std::collections::HashSet;

use migration::{Migrator, MigratorTrait};
use rollcall::db::{self, Backend, Db, OpenError, Read, Version, Write};
use rollcall::entity::alias::{AliasKind, AliasTable};
use rollcall::entity::audit::{Actor, Subject};
use rollcall::entity::*;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, DbBackend, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Set,
    Statement,
};

use crate::harness::database::{Database, is_postgres, tables, texts};

fn service_named(name: &str, owner: Option<i64>) -> service::ActiveModel {
    service::ActiveModel {
        name: Set(name.to_owned()),
        slug: Set(name.to_owned()),
        owner_id: Set(owner),
        created_at: Set(Timestamp::from_micros(0)),
        updated_at: Set(Timestamp::from_micros(0)),
        ..Default::default()
    }
}

fn team_named(name: &str) -> team::ActiveModel {
    team::ActiveModel {
        name: Set(name.to_owned()),
        alias: Set(name.to_owned()),
        created_at: Set(Timestamp::from_micros(0)),
        updated_at: Set(Timestamp::from_micros(0)),
        ..Default::default()
    }
}

/// Stores a row in its own transaction.
async fn stored<A, E>(db: &Db, row: A) -> Result<E::Model, db::Error>
where
    A: ActiveModelTrait<Entity = E> + sea_orm::ActiveModelBehavior + Send,
    E: rollcall::db::Table,
    E::Model: sea_orm::IntoActiveModel<A>,
{
    db.write(async |db| db.insert(row).await).await
}

/// The error for something unknown to the database.
async fn tell(db: &Db, statement: &str) {
    db.write(async |db| db.script(statement).await).await.expect("a statement that works");
}

async fn refused(url: &str) -> OpenError {
    let refused = match db::connect(url).await {
        Ok(db) => db::migrate(&db).await.map(|_| ()),
        Err(error) => Err(error),
    };
    let error = refused.expect_err(url);
    assert!(!error.to_string().contains("geheim"), "{error}");
    error
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_start_together_migrate_a_database_once() {
    let database = Database::empty().await;
    let start = async |url: String| {
        let db = db::connect(&url).await.expect("a database");
        db::migrate(&db).await.expect("migrations")
    };
    let started: Vec<_> = (0..4).map(|_| tokio::spawn(start(database.url.clone()))).collect();
    let mut steps = Vec::new();
    for program in started {
        steps.push(program.await.expect("no panic"));
    }
    steps.sort_unstable();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migration/src");
    let files = std::fs::read_dir(folder).expect("the steps");
    let files =
        files.filter(|file| file.as_ref().is_ok_and(|file| file.file_name().to_string_lossy().starts_with('m')));
    let list = std::fs::read_to_string(format!("{folder}/lib.rs")).expect("the list of steps");
    assert_eq!(steps, [0, 0, 0, files.count() + list.matches("NewColumn::boxed(").count()]);
    db::check(&database.open().await).await.expect("nothing is lacking");
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_used_until_it_requires_a_newer_program() {
    let database = Database::new().await;
    let db = database.open().await;
    tell(&db, "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m20990101_000001_future', 1)").await;
    assert_eq!(db::migrate(&db).await.expect("a version that this program can use"), 0);
    let newer = Version::Newer { step: "m20990101_000001_future".to_owned() };
    assert_eq!(db::version(&db).await.expect("a version"), newer);
    tell(&db, "UPDATE compatibility SET needed_step = 'm20990101_000001_future'").await;
    let (before, error) = (tables(&db).await, refused(&database.url).await);
    assert!(
        error
            .to_string()
            .ends_with(" was upgraded by a newer rollcall (it has step m20990101_000001_future); start that one"),
        "{error}"
    );
    assert!(matches!(db::check(&db).await, Err(OpenError::Newer { .. })));
    assert_eq!(tables(&db).await, before);
}

#[tokio::test]
async fn a_migration_that_fails_leaves_nothing_behind() {
    let database = Database::empty().await;
    let db = db::connect(&database.url).await.expect("a database");
    // Another program's table, with a name that a late migration needs.
    tell(&db, "CREATE TABLE token (x int)").await;
    assert!(matches!(db::migrate(&db).await, Err(OpenError::Failed { .. })));
    assert_eq!(tables(&db).await, ["token"]);
    assert!(db::check(&db).await.is_err());
    tell(&db, "DROP TABLE token").await;
    db::migrate(&db).await.expect("nothing is in the way any more");
}

#[tokio::test]
async fn every_catalogue_begins_with_four_tiers_and_five_lifecycles() {
    let database = Database::new().await;
    let db = database.open().await;
    let tiers = db.read().all(tier::Entity::find().order_by_asc(tier::Column::Index)).await.expect("tiers");
    let tiers: Vec<_> = tiers.iter().map(|tier| (tier.index, &*tier.alias)).collect();
    assert_eq!(tiers, [(1, "tier_1"), (2, "tier_2"), (3, "tier_3"), (4, "tier_4")]);
    assert_eq!(db.read().count(lifecycle::Entity::find()).await.expect("a count"), 5);
}

#[tokio::test]
async fn a_write_token_from_before_the_scopes_keeps_all_its_rights() {
    let database = Database::new().await;
    let db = database.open().await;
    let token = |scope, byte| token::ActiveModel {
        description: Set("d".to_owned()),
        hash: Set(vec![byte; 32]),
        scope: Set(scope),
        created_at: Set(Timestamp::from_micros(0)),
        ..Default::default()
    };
    stored(&db, token(token::Scope::Write, 1)).await.expect("a token");
    stored(&db, token(token::Scope::Read, 2)).await.expect("a token");
    // As the previous release left it: before this migration.
    tell(&db, "DELETE FROM seaql_migrations WHERE version = 'm20261122_000003_scopes'").await;
    assert_eq!(db::migrate(&db).await.expect("a migration"), 1);
    let scopes: Vec<_> = token::all(db.read()).await.expect("tokens").iter().map(|token| token.scope).collect();
    assert_eq!(scopes, [token::Scope::Admin, token::Scope::Read]);
}

#[tokio::test]
async fn older_entries_of_the_audit_say_what_their_subjects_belonged_to() {
    let database = Database::new().await;
    let db = database.open().await;
    let cart = stored(&db, service_named("cart", None)).await.expect("a service").id;
    let bus = stored(&db, service_named("bus", None)).await.expect("a service").id;
    let far = Timestamp::from_micros(Timestamp::now().as_micros() * 2);
    let late = service::ActiveModel { created_at: Set(far), ..service_named("late", None) };
    stored(&db, late).await.expect("a service");
    let needs = service_dependency::ActiveModel {
        source_id: Set(cart),
        destination_id: Set(bus),
        notes: Set(None),
        ..Default::default()
    };
    let needs = stored(&db, needs).await.expect("a dependency").id;
    let kept = format!(r#"[{{"table":"tool","id":99,"old":{{"service_id":{bus}}},"new":null}}]"#);
    let of_cart = serde_json::json!({ "changed": { "service": { "old": "cart", "new": null } } });
    let of_late = serde_json::json!({ "changed": { "service": { "old": null, "new": "late" } } });
    let both = serde_json::json!({ "changed": { "source": { "old": "bus" }, "destination": { "old": "cart" } } });
    let nothing = serde_json::json!({});
    for (class, id, detail, kept) in [
        ("ServiceDependency", needs, &nothing, None),
        // Deleted: from the exact values, rather than from a name.
        ("Tool", 99, &of_cart, Some(kept)),
        ("Tool", 98, &of_cart, None),
        ("ServiceDependency", needs + 1, &both, None),
        // What has the name now is younger than the entry.
        ("Tool", 97, &of_late, None),
        ("Tool", 96, &nothing, Some("\"cut\"".to_owned())),
        ("Service", cart, &of_cart, None),
    ] {
        let entry = audit::entry(&Actor::command_line(), "test", Subject::new(class, Some(id), "a name"), detail);
        let entry = audit::ActiveModel { kept: Set(kept), ..entry };
        db.write(async |tx| tx.exec(audit::Entity::insert(entry.clone())).await).await.expect("an entry");
    }
    // As the previous release left it: before this migration.
    for index in ["audit_by_owner", "audit_by_other_owner"] {
        tell(&db, &format!("DROP INDEX {index}")).await;
    }
    for column in ["owner_class", "owner_id", "other_owner_class", "other_owner_id"] {
        tell(&db, &format!("ALTER TABLE audit DROP COLUMN {column}")).await;
    }
    tell(&db, "DELETE FROM seaql_migrations WHERE version = 'm20261130_000001_audit_owner'").await;
    assert_eq!(db::migrate(&db).await.expect("a migration"), 1);
    let entries = db.read().all(audit::Entity::find().order_by_asc(audit::Column::Id)).await.expect("entries");
    let owners: Vec<Vec<(&str, i64)>> = entries.iter().map(|entry| entry.owners().collect()).collect();
    let of = |id| ("Service", id);
    let expected = [vec![of(cart), of(bus)], vec![of(bus)], vec![of(cart)], vec![of(bus), of(cart)]];
    assert_eq!(owners, [&expected[..], &[vec![], vec![], vec![]]].concat());
}

#[tokio::test]
async fn a_subscription_for_one_of_each_names_lists_of_one() {
    let database = Database::empty().await;
    let steps = Migrator::migrations();
    let before = steps.iter().position(|step| step.name() == "m20261130_000002_event_filters").expect("the step");
    database.migrate(before).await;
    let db = db::connect(&database.url).await.expect("a database");
    let statements = r#"
        INSERT INTO team (id, name, alias, created_at, updated_at) VALUES (1, 'Own', 'own', 0, 0);
        INSERT INTO service (id, name, slug, created_at, updated_at) VALUES (1, 'Cart', 'cart', 0, 0);
        INSERT INTO event_subscription (name, form, host, kinds, enabled, created_at, updated_at)
            VALUES ('All', 'slack', 'hooks.example.com', 'deploy_failed', true, 0, 0);
        INSERT INTO event_subscription (name, form, host, email, digest, kinds, team_id, service_id, tier_id, environment,
                enabled, created_at, updated_at)
            SELECT 'Some', 'email', 'example.com', 'ada@example.com', 'weekly', 'deploy_failed', 1, 1, id, 'the "EU"', true, 1, 2
            FROM tier WHERE alias = 'tier_2';
        INSERT INTO event_subscription (name, form, host, kinds, enabled, created_at, updated_at)
            VALUES ('Gone', 'slack', 'hooks.example.com', 'deploy_failed', true, 0, 0);
        INSERT INTO event_receiver (subscription_id, url, secret, failures, missed)
            SELECT id, '', 'a secret', 3, 5 FROM event_subscription WHERE name = 'Some';
        INSERT INTO event (id, at, what, subject_class, detail) VALUES (1, 0, 'deployed', 'Service', '{}');
        INSERT INTO event_delivery (subscription_id, event_id, kind, subject, state, attempts, created_at, digest_at)
            SELECT id, 1, 'deploy_failed', 'Service:1', 'waiting', 1, 0, 7 FROM event_subscription WHERE name = 'Some';
        DELETE FROM event_subscription WHERE name = 'Gone';"#;
    tell(&db, statements).await;
    assert_eq!(db::migrate(&db).await.expect("a migration"), steps.len() - before);
    let all = event_subscription::Entity::find().order_by_asc(event_subscription::Column::Id);
    let rows = db.read().all(all).await.expect("subscriptions");
    assert_eq!(rows.iter().map(|row| (row.id, &*row.name)).collect::<Vec<_>>(), [(1, "All"), (2, "Some")]);
    assert_eq!(rows[0].filters(), event_subscription::Filters::default());
    let tier = tier::Entity::by_alias(db.read(), "tier_2").await.expect("a query").expect("a tier").id;
    let some = &rows[1];
    assert_eq!((some.team_id, some.teams(), &some.team_ids), (Some(1), Some(vec![1]), &None));
    assert_eq!((some.services(), some.tiers()), (Some(vec![1]), Some(vec![tier])));
    assert_eq!(some.environments(), Some(vec!["the \"EU\"".to_owned()]));
    assert_eq!(
        (some.email.as_deref(), some.digest),
        (Some("ada@example.com"), Some(event_subscription::Digest::Weekly))
    );
    assert_eq!((some.created_at, some.updated_at), (Timestamp::from_micros(1), Timestamp::from_micros(2)));
    let receivers = db.read().all(event_receiver::Entity::find()).await.expect("receivers");
    assert_eq!(
        receivers.iter().map(|row| (row.subscription_id, row.failures, row.missed)).collect::<Vec<_>>(),
        [(2, 3, 5)]
    );
    let deliveries = db.read().all(event_delivery::Entity::find()).await.expect("deliveries");
    assert_eq!(deliveries.iter().map(|row| (row.subscription_id, row.event_id)).collect::<Vec<_>>(), [(2, 1)]);
    assert_eq!(deliveries[0].digest_at, Some(Timestamp::from_micros(7)));

    let new = event_subscription::ActiveModel {
        name: Set("New".to_owned()),
        form: Set(event_subscription::Form::Slack),
        host: Set("hooks.example.com".to_owned()),
        kinds: Set("deploy_failed".to_owned()),
        enabled: Set(true),
        created_at: Set(Timestamp::from_micros(0)),
        updated_at: Set(Timestamp::from_micros(0)),
        ..Default::default()
    };
    assert_eq!(
        stored(&db, new).await.expect("a subscription").id,
        4,
        "the id of the deleted one is not given out again"
    );
    // What the rows refer to is as before.
    db.write(async |tx| tx.exec(service::Entity::delete_by_id(1)).await).await.expect("it goes");
    assert_eq!(db.read().count(event_subscription::Entity::find()).await.expect("a count"), 3);
    db.write(async |tx| tx.exec(team::Entity::delete_by_id(1)).await).await.expect("it goes");
    assert_eq!(db.read().count(event_subscription::Entity::find()).await.expect("a count"), 2);
    assert_eq!(db.read().count(event_receiver::Entity::find()).await.expect("a count"), 0);
    assert_eq!(db.read().count(event_delivery::Entity::find()).await.expect("a count"), 0);
    assert!(tables(&db).await.iter().all(|table| !table.starts_with("kept_")));
}

#[tokio::test]
async fn every_entity_has_the_columns_of_its_table() {
    let database = Database::new().await;
    let db = database.open().await;
    let derived = [
        "service_search",
        "find_text",
        "find_posting",
        "find_word",
        "find_gram",
        "find_stale",
        "deploy_period_figures",
        "deploy_period_figures_version",
        "deploy_figures",
        "deploy_figures_version",
        "deploy_change",
    ];
    let mut known: HashSet<String> = derived
        .iter()
        .chain(&["compatibility", "rate_limit_window", "seaql_migrations"])
        .map(|name| (*name).to_owned())
        .collect();
    macro_rules! read {
        ($($table:ident)*) => {$(
            db.read().all($table::Entity::find()).await.expect(stringify!($table));
            known.insert(stringify!($table).to_owned());
        )*};
    }
    read!(alert_source alert_source_service audit campaign check check_answer check_due check_reported check_result code_issue code_issue_cve code_issue_cwe code_issue_project code_issue_project_resource component_type contact custom_event custom_event_outcome delivery deploy deploy_number document_pull
        domain domain_alias event event_delivery event_receiver event_subscription favourite feed filter filter_predicate idempotency_key identity infrastructure_resource infrastructure_resource_alias integration lifecycle on_call property property_definition relationship relationship_definition remembered repository saved_view scim_group scim_group_member scorecard scorecard_alias service service_alias level category service_dependency service_document service_document_content service_file_note service_file_refusal service_last_deploy service_level service_repository session sign_in_link standing_change standing_day suggestion
        suggestion_integration system system_alias tag team team_alias team_membership tier token tool user);
    assert_eq!(HashSet::from_iter(tables(&db).await), known);
}

#[tokio::test]
async fn constraint_violations_are_distinguished_by_kind() {
    let database = Database::new().await;
    let db = database.open().await;
    let team = stored(&db, team_named("A")).await.expect("a team");
    let twice = stored(&db, team_named("A")).await.expect_err("names are unique");
    assert!(matches!(twice.violation(), Some(db::Constraint::Unique(_))), "{twice:?}");
    let nobody = stored(&db, service_named("s", Some(team.id + 1))).await.expect_err("no such owner");
    assert!(matches!(nobody.violation(), Some(db::Constraint::ForeignKey(_))), "{nobody:?}");

    let tag = |owner| tag::new(owner, "key".to_owned(), "value".to_owned());
    stored(&db, tag(tag::Owner::Team(team.id))).await.expect("a tag");
    let twice = stored(&db, tag(tag::Owner::Team(team.id))).await.expect_err("an owner has a key once");
    assert!(matches!(twice.violation(), Some(db::Constraint::Unique(_))), "{twice:?}");
    let nobodys = tag::ActiveModel { key: Set("k".to_owned()), value: Set(String::new()), ..Default::default() };
    stored(&db, nobodys).await.expect_err("a tag has one owner");
    let service = stored(&db, service_named("s", None)).await.expect("a service");
    let of_two = tag::ActiveModel { service_id: Set(Some(service.id)), ..tag(tag::Owner::Team(team.id)) };
    stored(&db, of_two).await.expect_err("a tag has one owner");

    let token = |hash| token::ActiveModel {
        description: Set("d".to_owned()),
        hash: Set(hash),
        scope: Set(token::Scope::Write),
        created_at: Set(Timestamp::from_micros(0)),
        ..Default::default()
    };
    stored(&db, token(vec![7; 31])).await.expect_err("a hash has 32 bytes");
    let kept = stored(&db, token(vec![7; 32])).await.expect("a token");
    assert_eq!(db.read().one(token::Entity::find_by_id(kept.id)).await, Ok(Some(kept)));
}

#[tokio::test]
async fn a_deleted_row_takes_its_dependent_rows_along_and_its_id_is_not_reused() {
    let database = Database::new().await;
    let db = database.open().await;
    let team = stored(&db, team_named("A")).await.expect("a team");
    let owned = stored(&db, service_named("owned", Some(team.id))).await.expect("a service");
    let last = stored(&db, service_named("last", None)).await.expect("a service");
    let tag = tag::ActiveModel {
        key: Set("k".to_owned()),
        value: Set("v".to_owned()),
        service_id: Set(Some(last.id)),
        ..Default::default()
    };
    stored(&db, tag).await.expect("a tag");
    let gone = db.write(async |db| {
        db.exec(service::Entity::delete_by_id(last.id)).await?;
        db.exec(team::Entity::delete_by_id(team.id)).await
    });
    gone.await.expect("both go");
    let owned = db.read().one(service::Entity::find_by_id(owned.id)).await.expect("an answer").expect("it stays");
    assert_eq!(owned.owner_id, None);
    assert_eq!(db.read().count(tag::Entity::find()).await, Ok(0));
    let next = stored(&db, service_named("next", None)).await.expect("a service");
    assert!(next.id > last.id);
}

#[tokio::test]
async fn an_uncommitted_transaction_leaves_no_row() {
    let database = Database::new().await;
    let db = database.open().await;
    let failed = db.write(async |db| {
        db.insert(service_named("failed", None)).await?;
        Err::<(), _>(db::Error::fault("no"))
    });
    assert_eq!(failed.await, Err(db::Error::fault("no")));
    let dropped = db.begin_write().await.expect("a transaction");
    dropped.insert(service_named("dropped", None)).await.expect("a row");
    drop(dropped);
    stored(&db, service_named("stored", None)).await.expect("a row");
    assert_eq!(texts(&db, "SELECT name FROM service").await, ["stored"]);
}

#[tokio::test]
async fn an_alias_has_one_owner_and_keeps_its_stronger_kind() {
    type Aliases = service_alias::Entity;
    let database = Database::new().await;
    let db = database.open().await;
    let cart = stored(&db, service_named("Shopping Cart", None)).await.expect("a service").id;
    let other = stored(&db, service_named("Shopping cart", None)).await.expect("a service").id;
    let claims = db.write::<_, db::Error>(async |db| {
        let held = service::lock_for_service_file(db, &[cart, other]).await?;
        let (cart, other) = (&held[&cart], &held[&other]);
        assert_eq!(Aliases::claim_slug(db, cart, "Shopping Cart").await?, "shopping_cart");
        assert_eq!(Aliases::claim_slug(db, other, "Shopping cart").await?, "shopping_cart_2");
        assert_eq!(Aliases::claim_slug(db, cart, "Shopping cart").await?, "shopping_cart", "it is its own");
        for (owner, kind, has_it) in [
            (cart, AliasKind::Name, true),
            (other, AliasKind::Managed, false),
            (cart, AliasKind::Managed, true),
            // An alias that a user added is not turned into a derived one.
            (cart, AliasKind::Name, true),
        ] {
            assert_eq!(Aliases::claim(db, owner, "Shopping Cart", kind).await?, has_it, "{owner:?} {kind:?}");
        }
        assert!(Aliases::claim(db, cart, "shopping_cart", AliasKind::Managed).await?);
        Ok(())
    });
    claims.await.expect("no failure");
    let aliases =
        Aliases::find().filter(service_alias::Column::ServiceId.eq(cart)).order_by_asc(service_alias::Column::Id);
    let aliases = db.read().all(aliases).await.expect("aliases");
    let aliases: Vec<_> = aliases.iter().map(|alias| (&*alias.value, alias.kind)).collect();
    assert_eq!(aliases, [("shopping_cart", AliasKind::Slug), ("Shopping Cart", AliasKind::Managed)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_64_that_claim_an_alias_at_once_one_gets_it() {
    type Aliases = service_alias::Entity;
    let database = Database::new().await;
    let db = database.open().await;
    let claim = async |db: Db| {
        db.write::<_, db::Error>(async |db| {
            let id = db.insert(service_named("Cart", None)).await?.id;
            let service = &service::lock_for_service_file(db, &[id]).await?[&id];
            let slug = Aliases::claim_slug(db, service, "Cart").await?;
            Ok((slug, Aliases::claim(db, service, "org/cart", AliasKind::Managed).await?))
        })
        .await
    };
    let claims: Vec<_> = (0..64).map(|_| tokio::spawn(claim(db.clone()))).collect();
    let (mut slugs, mut winners) = (HashSet::new(), 0);
    for done in claims {
        let (slug, has_it) = done.await.expect("no panic").expect("no failure");
        assert!(slugs.insert(slug));
        winners += usize::from(has_it);
    }
    assert_eq!(winners, 1);
}

#[tokio::test]
async fn rows_of_a_page_are_found_by_index() {
    let database = Database::new().await;
    let db = database.open().await;
    let numbers = match is_postgres() {
        true => "generate_series(1, 20000) AS g(i)",
        false => "(WITH RECURSIVE g(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g WHERE i < 20000) SELECT i FROM g)",
    };
    let services = "INSERT INTO service (name, slug, created_at, updated_at) SELECT 's' || i, 's' || i, 0, 0 FROM";
    tell(&db, &format!("{services} {numbers}")).await;
    tell(&db, "INSERT INTO tag (key, value, service_id) SELECT 'k', 'v', id FROM service").await;
    let deploys = "INSERT INTO deploy (service_alias, description, deployed_at, deploy_number, created_at, service_id)";
    tell(&db, &format!("{deploys} SELECT name, 'd', id, '1', 0, id FROM service")).await;
    tell(&db, "ANALYZE").await;

    let count = async |ids: &[i64]| {
        db.read().count(service::Entity::find().filter(db::any(db.read(), service::Column::Id, ids))).await
    };
    assert_eq!((count(&[]).await, count(&[1, 1, 7, 99_999]).await), (Ok(0), Ok(2)));

    let ids: Vec<i64> = (1..=100).collect();
    let any = |column: tag::Column| db::any(db.read(), column, &ids);
    let tags = || tag::Entity::find().select_only().column(tag::Column::ServiceId);
    let key = || tags().filter(tag::Column::Key.eq("k")).filter(tag::Column::ServiceId.gt(50));
    let deploys = || deploy::Entity::find().select_only().column(deploy::Column::Id);
    let backend = db.read().backend();
    for statement in [
        service::Entity::find().filter(db::any(db.read(), service::Column::Id, &ids)).build(backend),
        tags().filter(any(tag::Column::ServiceId)).order_by_asc(tag::Column::Id).build(backend),
        key().order_by_asc(tag::Column::ServiceId).limit(101).build(backend),
        key().filter(tag::Column::Value.eq("v")).order_by_asc(tag::Column::ServiceId).limit(101).build(backend),
        deploys().filter(deploy::Column::ServiceId.eq(5)).order_by_desc(deploy::Column::DeployedAt).build(backend),
        deploys()
            .filter(deploy::Column::ServiceAlias.eq("x"))
            .filter(deploy::Column::ServiceId.is_null())
            .build(backend),
    ] {
        let (explain, column) = if is_postgres() { ("EXPLAIN", 0) } else { ("EXPLAIN QUERY PLAN", 3) };
        let sql = format!("{explain} {}", statement.sql);
        let explain = Statement { sql, ..statement.clone() };
        let plan = db.read().rows_by(explain, move |row| row.get::<String>(column)).await.expect("a plan");
        for scan in ["Seq Scan on", "SCAN service", "SCAN tag", "SCAN deploy"] {
            assert!(!plan.iter().any(|line| line.contains(scan)), "{}\n{}", statement.sql, plan.join("\n"));
        }
    }
}

#[tokio::test]
async fn the_error_for_an_unusable_database_server_has_no_password() {
    let away = refused("postgres://user:geheim@127.0.0.1:1/none").await;
    assert!(matches!(away, OpenError::Unreachable { .. }), "{away:?}");
    assert!(matches!(refused("mysql://user:geheim@host/name").await, OpenError::Url(_)));
    if is_postgres() {
        let database = Database::empty().await;
        let no_user = database.url.replace("rollcall@", "stranger:geheim@");
        assert!(matches!(refused(&no_user).await, OpenError::Refused { .. }));
        let no_database = database.url.replace("/test_", "/none_");
        assert!(matches!(refused(&no_database).await, OpenError::Refused { .. }));
    }
}

#[tokio::test]
async fn the_error_for_an_unusable_sqlite_file_names_its_kind() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    let url = |name: &str| format!("sqlite://{}", file(name).display());

    std::fs::write(file("text.db"), vec![b'x'; 5000]).expect("a file");
    assert!(matches!(refused(&url("text.db")).await, OpenError::Corrupt { .. }));
    assert_eq!(std::fs::read(file("text.db")).expect("a file"), vec![b'x'; 5000], "it is left alone");

    let db = db::connect(&url("damaged.db")).await.expect("a database");
    db::migrate(&db).await.expect("migrations");
    db.close().await.expect("it closes");
    let mut bytes = std::fs::read(file("damaged.db")).expect("a file");
    bytes[100..].fill(0xAA);
    std::fs::write(file("damaged.db"), bytes).expect("a file");
    assert!(matches!(refused(&url("damaged.db")).await, OpenError::Corrupt { .. }));

    assert!(matches!(refused(&url("none/a.db")).await, OpenError::Refused { .. }));
    assert!(matches!(refused(&url("")).await, OpenError::Refused { .. }));
    assert!(matches!(refused("sqlite::memory:").await, OpenError::Url(_)));

    let holder = rusqlite::Connection::open(file("locked.db")).expect("a connection");
    holder.execute_batch("BEGIN EXCLUSIVE").expect("a lock");
    assert!(matches!(refused(&url("locked.db")).await, OpenError::Locked { .. }));
    holder.execute_batch("COMMIT").expect("the lock is free");
    let db = db::connect(&url("locked.db")).await.expect("a database");
    db::migrate(&db).await.expect("migrations");
}

#[tokio::test]
async fn sqlite_is_durable_and_its_readers_cannot_write() {
    let database = Database::new().await;
    let db = database.open().await;
    assert_eq!(db.read().backend(), DbBackend::Sqlite);
    let insert = service::Entity::insert(service_named("s", None)).build(DbBackend::Sqlite);
    db.read().rows_by(insert, |_| Ok(())).await.expect_err("a reader does not write");
    let writer = db.begin_write().await.expect("a transaction");
    for (pragma, expected) in
        [("journal_mode", "wal"), ("synchronous", "1"), ("foreign_keys", "1"), ("query_only", "0")]
    {
        let question = format!("SELECT CAST({pragma} AS text) FROM pragma_{pragma}");
        let question = Statement::from_string(DbBackend::Sqlite, question);
        let found = writer.rows_by(question, |row| row.get::<String>(0)).await.expect("an answer");
        assert_eq!(found, [expected], "{pragma}");
    }
    // Binding values must not cause a new plan.
    let options = texts(&db, "SELECT compile_options FROM pragma_compile_options").await;
    assert!(options.iter().any(|option| option == "ENABLE_QPSG"), "{options:?}");
}
