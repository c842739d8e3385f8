//! Names in addresses and forms are looked up in few statements, within the budget of what pages read. So are the figures of
//! deploys.

use std::net::{IpAddr, Ipv4Addr};

use rollcall::app::{Fields, Method, Session, Site, Visit};
use rollcall::db::{Db, Read, Write};
use rollcall::deploy::figures::build;
use rollcall::entity::user::{self, ProvisionedBy, Role};
use rollcall::entity::{Timestamp, deploy, session, team};
use rollcall::error::Error;
use rollcall::graphql::{Catalogue, Settings};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use crate::harness::app::TestApp;
use crate::harness::browser::Browser;
use crate::harness::database::Database;
use crate::harness::statements::Statements;

/// A viewer who is signed in.
async fn signed_in(db: &Db) -> Session {
    let made = db.write(async |tx| {
        let now = Timestamp::now();
        let user = user::create(tx, "ada@example.com", None, Role::Viewer, ProvisionedBy::CommandLine, now).await?;
        let (_, row) = session::begin(tx, user.id, None, now).await?;
        Ok::<_, Error>(Session::new(row, user, false))
    });
    made.await.expect("a session")
}

/// Whether a statement looks a name up.
fn named(text: &str) -> bool {
    text.contains("AS \"named\"")
}

/// A visit of a page, or of its list alone.
fn visit(session: &Session, page: &str, query: &str, part: Option<&str>) -> Visit {
    Visit {
        method: Method::Get,
        path: vec![page.to_owned()],
        query: Fields::parse(query.as_bytes()),
        trail: Default::default(),
        done: None,
        waiting: 0,
        form: Fields::default(),
        session: Some(session.clone()),
        attempt: None,
        client: IpAddr::V4(Ipv4Addr::LOCALHOST),
        user_agent: None,
        request_id: "test".to_owned(),
        reads: Default::default(),
        part: part.map(str::to_owned),
    }
}

#[tokio::test]
async fn a_field_of_an_address_takes_one_statement_and_a_list_alone_reads_no_offers() {
    let database = Database::new().await;
    let mut db = database.open().await;
    rollcall::generate::catalogue(&db, 20, |_| {}).await.expect("a catalogue");
    let session = signed_in(&db).await;
    let team = db.read().all(team::Entity::find()).await.expect("teams").remove(0);
    let statements = Statements::of(&mut db);
    let site = Site::new(db.clone(), Catalogue::new(db.clone(), Settings::new("test", "http://test")));
    let by = |field: &str, text: &str| Fields::one(field, text).query();
    for (page, query, fields) in [
        ("deploys", String::new(), 0),
        ("deploys", by("team", &team.name), 1),
        ("deploys", by("team", &team.alias), 1),
        ("deploys", "service=none&team=none&system=none".to_owned(), 3),
        ("delivery", by("team", &team.name), 1),
        ("services", "type=none&filter=none".to_owned(), 2),
        ("services", String::new(), 0),
    ] {
        let answered = site.answer(&visit(&session, page, &query, None)).await;
        assert!(answered.is_ok(), "what is not there is said at its field: {page}?{query}");
        let texts = statements.take_texts();
        assert_eq!(texts.iter().filter(|text| named(text)).count(), fields, "{page}?{query}: {texts:#?}");
        if page != "deploys" {
            continue;
        }
        let offers = |texts: &[String]| texts.iter().any(|text| text.contains("FROM \"team\"") && !named(text));
        assert!(offers(&texts), "{query}: {texts:#?}");
        site.answer(&visit(&session, page, &query, Some("deploys"))).await.expect("a list");
        let texts = statements.take_texts();
        assert_eq!(texts.iter().filter(|text| named(text)).count(), fields, "{query}: {texts:#?}");
        assert!(!offers(&texts), "{query}: {texts:#?}");
    }
}

#[tokio::test]
async fn names_in_forms_are_looked_up_within_the_budget_of_a_page() {
    let app = TestApp::with(&["--max-rows", "10"]).await;
    let mut member = Browser::of(&app, Role::User).await;
    let refused = member.post("/new/team", &[("name", "Core"), ("managerEmail", "user")]).await;
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.text().contains("<nav aria-label=\"Catalogue\">"), "{refused:?}");
    let teams = app.db.read().all(team::Entity::find()).await.expect("teams");
    assert!(teams.is_empty(), "a form whose names are not known changes nothing: {teams:?}");
}

#[tokio::test]
async fn the_delivery_of_all_reads_the_figures_and_deploys_of_its_weeks_once() {
    let database = Database::new().await;
    let mut db = database.open().await;
    rollcall::generate::catalogue(&db, 20, |_| {}).await.expect("a catalogue");
    let now = Timestamp::now();
    rollcall::generate::deploys(&db, 3_000, now, |_| {}).await.expect("deploys");
    // Those of half a year are more than 24 weeks, and have their figures sooner.
    let old = deploy::Column::DeployedAt.lt(Timestamp::from_micros(now.as_micros() - 182 * 86_400_000_000));
    let old = deploy::Entity::delete_many().filter(old);
    db.write(async |tx| tx.exec(old).await).await.expect("a removal");
    build::update(&db, now).await.expect("figures");
    let session = signed_in(&db).await;
    let statements = Statements::of(&mut db);
    let site = Site::new(db.clone(), Catalogue::new(db.clone(), Settings::new("test", "http://test")));
    let answered = site.answer(&visit(&session, "delivery", "", None)).await;
    assert!(answered.is_ok(), "there are few deploys");
    let texts = statements.take_texts();
    let with = |word: &str| texts.iter().filter(|text| text.contains(word)).count();
    // Which periods have figures, and these. Of 24 weeks, 12, and each of 12.
    assert_eq!(with("FROM \"deploy_period_figures\""), 2, "{texts:#?}");
    // Also: how many changes and which, how many deploys came later and what they recovered (with an environment or without
    // one), how many deploys are in no figures, and these.
    assert_eq!(with("FROM \"deploy"), 9, "{texts:#?}");
}
