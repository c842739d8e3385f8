//! After the clock is set back, no row claims that it was updated before it was created, and documents are pulled.

use rollcall::db::{self, Read, Write};
use rollcall::entity::user::{self, Role};
use rollcall::entity::{
    Timestamp, code_issue, code_issue_project, document_pull, integration, repository, service, team,
};
use rollcall::service_file;
use sea_orm::EntityTrait;
use sea_orm::sea_query::Expr;
use serde_json::json;

use crate::harness::app::{TestApp, data};
use crate::harness::code_issues::{identifier, project};
use crate::harness::integration::custom;

const FILE: &str = "version: 1
service:
  name: Governed
  description: one
---
version: 1
repository:
  name: org/governed
  url: https://github.com/org/governed
";

#[tokio::test]
async fn nothing_is_updated_before_it_was_created() {
    let app = TestApp::start().await;
    let make = r#"mutation {
        teamCreate(input: { name: "A" }) { errors { message } }
        userInvite(email: "ada@example.com", input: {}) { errors { message } }
        serviceCreate(input: { name: "shop" }) { errors { message } }
        repositoryCreate(input: { name: "org/shop" }) { repository { id } errors { message } }
    }"#;
    let repository = data(&app, make).await["repositoryCreate"]["repository"]["id"].clone();
    let scanner = custom(&app, "Scanner").await;
    project(&app, &scanner, "p1", "Cart").await;
    let issue = async |external_id: &str, name: Option<&str>| {
        let upsert = "mutation($input: CodeIssueInput!) { codeIssueUpsert(input: $input) { errors { message } } }";
        let key = json!({ "codeIssueProject": identifier(&scanner, "p1"), "externalId": external_id });
        let mut input = json!({ "identifier": key, "severity": "high" });
        if let Some(name) = name {
            (input["name"], input["issueCategory"]) = (json!(name), json!("Vulnerability"));
        }
        let answer = app.query(upsert, json!({ "input": input })).await;
        assert_eq!(answer["data"]["codeIssueUpsert"]["errors"], json!([]), "{answer}");
    };
    issue("1", Some("one")).await;
    issue("2", Some("two")).await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("rollcall.yml");
    let apply = async |text: &str| {
        std::fs::write(&file, text).expect("a file");
        crate::harness::service_file::run(&app.db, std::slice::from_ref(&file))
            .await
            .expect("a file without a mistake");
    };
    apply(FILE).await;

    // Everything was created an hour in the future.
    let later = Timestamp::from_micros(Timestamp::now().as_micros() + 3_600_000_000);
    macro_rules! each {
        ($do:ident) => {
            $do!(team user service repository integration code_issue_project code_issue)
        };
    }
    macro_rules! made_later {
        ($($table:ident)*) => {
            app.db.write(async |db| {
                $(db.exec($table::Entity::update_many()
                    .col_expr($table::Column::CreatedAt, Expr::value(later))
                    .col_expr($table::Column::UpdatedAt, Expr::value(later)))
                    .await?;)*
                Ok::<_, db::Error>(())
            })
        };
    }
    each!(made_later).await.expect("rows");

    let change = "mutation($scanner: ID!, $repository: ID!) {
        teamUpdate(input: { alias: \"a\", responsibilities: \"all\" }) { errors { message } }
        userUpdate(user: { email: \"ada@example.com\" }, input: { name: \"Countess\" }) { errors { message } }
        serviceUpdate(input: { alias: \"shop\", language: \"Go\" }) { service { timestamps { updatedAt } } errors { message } }
        repositoryUpdate(input: { id: $repository, visible: false }) { errors { message } }
        customIntegrationUpdate(integration: { id: $scanner }, input: { name: \"Linter\" }) { errors { message } }
    }";
    let answer = app.query(change, json!({ "scanner": scanner, "repository": repository })).await;
    for (mutation, payload) in answer["data"].as_object().expect("payloads") {
        assert_eq!(payload["errors"], json!([]), "{mutation}");
    }
    assert_eq!(answer["data"]["serviceUpdate"]["service"]["timestamps"]["updatedAt"], later.to_string());
    project(&app, &scanner, "p1", "Renamed").await;
    issue("1", Some("another")).await;
    issue("2", None).await;
    apply(&FILE.replace("one", "two").replace("name: org/governed", "name: org/renamed")).await;
    service_file::release(&app.db, "governed").await.expect("it was locked");
    let made = app.db.write(async |db| user::first_administrator(db, "ada@example.com", None, Timestamp::now()).await);
    assert_eq!(made.await.expect("an administrator").role, Role::Admin);

    macro_rules! assert_kept {
        ($($table:ident)*) => {$(
            let rows = app.db.read().all($table::Entity::find()).await.expect("rows");
            assert!(!rows.is_empty());
            for row in rows {
                assert_eq!((row.created_at, row.updated_at), (later, later), "{row:?}");
            }
        )*};
    }
    each!(assert_kept);
}

#[tokio::test]
async fn a_document_whose_pull_is_years_ahead_is_due() {
    let app = TestApp::start().await;
    data(&app, "mutation { serviceCreate(input: { name: \"Cart\" }) { errors { message } } }").await;
    let cart = app.db.read().one(service::Entity::find()).await.expect("a read").expect("a service");
    let url = Some("https://docs.example.com/a");
    app.db.write(async |db| document_pull::follow(db, cart.id, None, url).await).await.expect("a pull");
    let now = Timestamp::now();
    let hours_ahead = |hours: i64| Timestamp::from_micros(now.as_micros() + hours * 3_600_000_000);
    for (hours, is_due) in [(0, true), (1, false), (24, false), (26, true), (87_600, true), (24, false)] {
        let next = Expr::value(hours_ahead(hours));
        let put_off = document_pull::Entity::update_many().col_expr(document_pull::Column::NextPullAt, next);
        app.db.write(async |db| db.exec(put_off).await).await.expect("a change");
        let claimed = document_pull::claim(&app.db, now, hours_ahead(1), 10).await.expect("a read");
        assert_eq!(!claimed.is_empty(), is_due, "{hours}");
        let again = document_pull::claim(&app.db, now, hours_ahead(1), 10).await.expect("a read");
        assert_eq!(again, [], "{hours}");
    }
}
