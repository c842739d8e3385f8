//! Services and repositories that tests need without being about them.

use rollcall::db::{self, Db, Write};
use rollcall::entity::alias::AliasKind;
use rollcall::entity::{Timestamp, service, service_alias, service_dependency};
use rollcall::error::Error;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set};
use serde_json::json;

use crate::harness::app::TestApp;

/// Inserts minimal services and returns their ids.
pub async fn insert(db: &Db, names: impl Iterator<Item = String>) -> Vec<i64> {
    let now = Timestamp::now();
    let row = |name: String| service::ActiveModel {
        slug: Set(name.clone()),
        name: Set(name),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    let rows: Vec<_> = names.map(row).collect();
    let inserted = db.write(async |tx| {
        let mut keys = Vec::new();
        for some in rows.chunks(500) {
            let some = tx.returning(service::Entity::insert_many(some.to_vec())).await?;
            keys.extend(some.into_iter().map(|row| row.id));
        }
        Ok::<_, db::Error>(keys)
    });
    inserted.await.expect("the services are inserted")
}

/// Creates a repository and returns its id.
pub async fn repository(app: &TestApp, name: &str) -> String {
    let create = "mutation($name: String!) { repositoryCreate(input: { name: $name }) { repository { id } } }";
    let answer = app.query(create, json!({ "name": name })).await;
    answer["data"]["repositoryCreate"]["repository"]["id"].as_str().expect("a new repository").to_owned()
}

/// Creates a service and returns its id.
pub async fn service(app: &TestApp, name: &str) -> String {
    let create = "mutation($name: String!) { serviceCreate(input: { name: $name }) { service { id } } }";
    let answer = app.query(create, json!({ "name": name })).await;
    answer["data"]["serviceCreate"]["service"]["id"].as_str().expect("a new service").to_owned()
}

/// Locks all services with a name, as a service file does.
pub async fn lock(app: &TestApp, name: &str) {
    let locked = app.db.write(async |db| {
        let services = service::Entity::update_many().filter(service::Column::Name.eq(name));
        db.exec(services.col_expr(service::Column::LockedBy, Expr::value("rollcall.yml"))).await?;
        Ok::<_, db::Error>(())
    });
    locked.await.expect("the service is locked");
}

/// Creates services `S0`, `S1` and so on, with the aliases `s0`, `s1` and so on. Returns their keys.
pub async fn many(app: &TestApp, count: usize) -> Vec<i64> {
    let now = Timestamp::now();
    let made = app.db.write(async |db| {
        let mut ids = Vec::with_capacity(count);
        for start in (0..count).step_by(500) {
            let numbers = start..count.min(start + 500);
            let rows = numbers.clone().map(|number| service::ActiveModel {
                name: Set(format!("S{number}")),
                slug: Set(format!("s{number}")),
                created_at: Set(now),
                updated_at: Set(now),
                ..Default::default()
            });
            let made = db.returning(service::Entity::insert_many(rows)).await?;
            let made: Vec<i64> = made.into_iter().map(|service| service.id).collect();
            let aliases = numbers.zip(&made).map(|(number, id)| service_alias::ActiveModel {
                service_id: Set(*id),
                value: Set(format!("s{number}")),
                kind: Set(AliasKind::Slug),
                ..Default::default()
            });
            db.exec(service_alias::Entity::insert_many(aliases)).await?;
            ids.extend(made);
        }
        Ok::<_, Error>(ids)
    });
    made.await.expect("services")
}

/// Makes services depend on others.
pub async fn depend(app: &TestApp, edges: &[(i64, i64)]) {
    let made = app.db.write(async |db| {
        for edges in edges.chunks(500) {
            let rows = edges.iter().map(|(from, to)| service_dependency::ActiveModel {
                source_id: Set(*from),
                destination_id: Set(*to),
                ..Default::default()
            });
            db.exec(service_dependency::Entity::insert_many(rows)).await?;
        }
        Ok::<_, Error>(())
    });
    made.await.expect("dependencies");
}
