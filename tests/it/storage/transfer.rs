//! Exports and imports: a catalogue moves from one database to another unchanged.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, Cursor};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use hyper::Method;
use rollcall::db::{Db, Read, Write};
use rollcall::entity::{
    Timestamp, audit, identity, scim_group, scim_group_member, service, service_document_content, user,
};
use rollcall::transfer;
use sea_orm::{EntityTrait, ModelTrait, Set};
use serde_json::Value;

use crate::harness::app::{TestApp, data};
use crate::harness::database::{Database, is_postgres, texts};
use crate::harness::deadline::output;
use crate::harness::program::{Place, assert_refused};
use crate::harness::tour::Tour;

/// The output of `rollcall export` for a database.
fn exported(place: &Place, url: &str) -> String {
    let done = place.run(&["export", "--database-url", url]);
    assert_eq!((done.status, &*done.err), (0, ""));
    done.out
}

/// The number of rows of each table in an export.
fn rows(export: &str) -> BTreeMap<String, usize> {
    let mut rows = BTreeMap::new();
    for line in export.lines().skip(1) {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let name = line.as_object().and_then(|line| line.keys().next()).expect("a key");
        *rows.entry(name.clone()).or_default() += 1;
    }
    rows.remove("rows");
    rows
}

#[tokio::test]
async fn every_table_is_exported_or_named_with_the_reason_why_not() {
    let database = Database::new().await;
    let tables = crate::harness::database::tables(&database.open().await).await;
    let left_out = transfer::LEFT_OUT.iter().map(|(table, _)| *table);
    let known: BTreeSet<&str> = transfer::TABLES.iter().copied().chain(left_out).collect();
    assert_eq!(tables.iter().map(String::as_str).collect::<BTreeSet<_>>(), known);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_catalogue_moves_to_the_other_backend_and_back_byte_for_byte() {
    let (tour, other, place) = (Tour::start().await, Database::new().await, Place::new());
    let db = &tour.endpoint.app.db;
    let identity = identity::ActiveModel {
        issuer: Set("https://id.example.com".to_owned()),
        subject: Set("ada \"\\\n\u{1} ß 🚀".to_owned()),
        user_id: Set(1),
        created_at: Set(Timestamp::from_micros(-1)),
        ..Default::default()
    };
    db.write(async |tx| tx.insert(identity).await).await.expect("an identity");
    let now = Timestamp::from_micros(0);
    let group = scim_group::ActiveModel {
        display_name: Set("Developers".to_owned()),
        name_key: Set("developers".to_owned()),
        external_id: Set(Some("8aa1a0c0".to_owned())),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    let group = db.write(async |tx| tx.insert(group).await).await.expect("a group");
    let member = scim_group_member::ActiveModel { group_id: Set(group.id), user_id: Set(1), ..Default::default() };
    db.write(async |tx| tx.insert(member).await).await.expect("a member");
    let mut export = Vec::new();
    transfer::export(db, &mut export).await.expect("an export");
    let export = String::from_utf8(export).expect("text");
    let empty: Vec<_> = transfer::TABLES.iter().filter(|table| !rows(&export).contains_key(**table)).collect();
    assert!(empty.is_empty(), "the tour fills every table: {empty:?}");
    place.write("export", &export);
    // In a run on PostgreSQL, the tour's database and the other one are on PostgreSQL, and the file is SQLite's.
    for url in ["sqlite://rollcall.db", &other.url] {
        let done = place.run(&["import", "export", "--database-url", url]);
        assert_eq!((done.status, &*done.out), (0, ""), "{}", done.err);
        assert_eq!(exported(&place, url), export, "{url}");
        place.write("export", exported(&place, url));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_generated_catalogue_moves_to_the_other_backend_and_works_there() {
    let (place, other) = (Place::new(), Database::new().await);
    let run = |arguments: &[&str]| {
        let done = place.run(arguments);
        assert_eq!(done.status, 0, "{}", done.err);
        done.out
    };
    run(&["generate", "--services", "700", "--deploys", "1200"]);
    run(&["token", "create", "--description", "stays where it is"]);
    let address = run(&["deploy-endpoint", "create", "--name", "CI"]);
    let export = exported(&place, "sqlite://rollcall.db");
    assert_eq!((rows(&export)["service"], rows(&export)["deploy"]), (700, 1200));
    place.write("export", &export);
    run(&["import", "export", "--database-url", &other.url]);
    assert_eq!(exported(&place, &other.url), export);
    assert_eq!(run(&["token", "list", "--database-url", &other.url]), "");
    assert_eq!(run(&["deploy-endpoint", "list", "--database-url", &other.url]), format!("1\t{}\tCI\n", address.trim()));
    // New rows get later ids than the old ones.
    place.write("a.yml", "version: 1\nservice: { name: The next one, tags: { a: b } }\n");
    run(&["apply", "a.yml", "--database-url", &other.url]);
    let next = exported(&place, &other.url);
    assert!(next.contains(r#"{"service":{"id":701,"name":"The next one""#));
    run(&["deploy-endpoint", "create", "--name", "CD", "--database-url", &other.url]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_is_not_reused_after_the_move() {
    let (tour, other) = (Tour::start().await, Database::new().await);
    let app = &tour.endpoint.app;
    let id = tour.endpoint.create_service("gone").await;
    let delete = "mutation($id: ID!) { serviceDelete(input: { id: $id }) { errors { message } } }";
    app.query(delete, serde_json::json!({ "id": id })).await;
    let mut export = Vec::new();
    transfer::export(&app.db, &mut export).await.expect("an export");
    let db = other.open().await;
    transfer::import(&db, "export", Cursor::new(export), |_| {}).await.expect("an import");
    let noted = db.read().one(audit::Entity::find()).await.expect("an answer").expect("an entry");
    assert_eq!(noted.action, "import");
    assert!(noted.detail.starts_with("{\"file\":\"export\",\"rows\":"), "{}", noted.detail);
    let here = db.write(async |tx| service::create(tx, service::new("next", "api")).await);
    let there = app.db.write(async |tx| service::create(tx, service::new("next", "api")).await);
    let (here, there) = (here.await.expect("a service"), there.await.expect("a service"));
    assert_eq!(here.id, there.id);
}

/// In an export, a control character takes six bytes.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_document_of_control_characters_is_imported_from_its_export() {
    let (app, other) = (TestApp::start().await, Database::new().await);
    let query = r#"mutation {
        serviceCreate(input: { name: "Cart" }) { errors { message } }
        eventIntegrationCreate(input: { type: apiDoc }) { integration { webhookUrl } }
    }"#;
    let made = data(&app, query).await;
    let url = made["eventIntegrationCreate"]["integration"]["webhookUrl"].as_str().expect("an address");
    let path = &url[url.find("/integrations/").expect("a path")..];
    let document = format!("# Cart\n{}", "\u{1}".repeat(1_000_000));
    let posted = app.request(Method::POST, &format!("{path}/cart"), &[], document.clone()).await;
    assert_eq!(posted.status, 202);
    let mut export = Vec::new();
    transfer::export(&app.db, &mut export).await.expect("an export");
    let db = other.open().await;
    transfer::import(&db, "export", Cursor::new(export), |_| {}).await.expect("an import");
    let stored = db.read().one(service_document_content::Entity::find()).await.expect("an answer").expect("a document");
    assert!(stored.content == document, "{} bytes", stored.content.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_takes_long_tells_how_far_it_is() {
    let (from, to) = (Database::empty().await, Database::new().await);
    let db = rollcall::db::connect(&from.url).await.expect("a database");
    let steps = std::sync::Mutex::new(Vec::new());
    let told = |done: usize, all: usize| steps.lock().expect("no panic").push((done, all));
    let migrated = rollcall::db::migrate_telling(&db, &told).await.expect("migrations");
    let steps = steps.into_inner().expect("no panic");
    assert_eq!(steps, (0..=migrated).map(|done| (done, migrated)).collect::<Vec<_>>());
    assert!(migrated > 10, "{migrated}");
    assert_eq!(rollcall::db::migrate(&db).await.expect("nothing to do"), 0);

    let mut done = Vec::new();
    rollcall::generate::catalogue(&db, 300, |number| done.push(number)).await.expect("a catalogue");
    assert!(done.is_sorted() && done.last() == Some(&300), "{done:?}");
    let (mut export, mut told) = (Vec::new(), Vec::new());
    let rows = transfer::export_telling(&db, &mut export, |done, all| told.push((done, all))).await.expect("an export");
    assert!(rows > 300 && told.is_sorted() && told.iter().all(|(_, all)| *all == rows), "{rows}: {told:?}");
    assert_eq!(told.last(), Some(&(rows, rows)));

    let mut steps = Vec::new();
    let input = Cursor::new(export);
    let to = to.open().await;
    let imported = transfer::import_telling(&to, "export", input, |step| steps.push(step)).await.expect("an import");
    assert_eq!(imported, rows);
    let (last, before) = steps.split_last().expect("steps");
    assert_eq!((*last, before.last()), (transfer::Step::Completing, Some(&transfer::Step::Rows(rows))));
}

/// What the triggers of deploys keep is derived after a bulk write, and the triggers go on afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn a_bulk_write_of_deploys_derives_what_the_triggers_keep_and_starts_them_again() {
    let (database, other) = (Database::new().await, Database::new().await);
    let (db, other) = (database.open().await, other.open().await);
    rollcall::generate::catalogue(&db, 200, |_| {}).await.expect("a catalogue");
    rollcall::generate::deploys(&db, 500, Timestamp::now(), |_| {}).await.expect("deploys");
    let mut export = Vec::new();
    transfer::export(&db, &mut export).await.expect("an export");
    transfer::import(&other, "export", Cursor::new(export), |_| {}).await.expect("an import");
    const WRONG: &str = "SELECT CAST(count(*) AS text) FROM service_last_deploy AS kept WHERE \
         coalesce(deployed_at, 0) <> coalesce((SELECT max(deployed_at) FROM deploy WHERE service_id = kept.service_id), 0)";
    const NOTED: &str = "SELECT CAST(count(*) AS text) FROM deploy_change";
    const DEPLOYED: &str = "SELECT CAST(count(*) AS text) FROM service_last_deploy WHERE deployed_at IS NOT NULL";
    for db in [&db, &other] {
        assert_eq!(texts(db, WRONG).await, ["0"]);
        assert_ne!(texts(db, DEPLOYED).await, ["0"]);
        assert_eq!(texts(db, NOTED).await, ["0"]);
        let last = "UPDATE deploy SET deployed_at = deployed_at + 1 WHERE id = (SELECT max(id) FROM deploy)";
        db.write(async |tx| tx.script(last).await).await.expect("a change");
        assert_eq!(texts(db, WRONG).await, ["0"], "the triggers go on");
        assert_eq!(texts(db, NOTED).await, ["2"], "before and after the change");
    }
}

/// The definitions of all indexes, foreign keys and triggers.
async fn structure(db: &Db) -> Vec<String> {
    let queries: &[&str] = match is_postgres() {
        true => &[
            "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexdef",
            "SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) AS one FROM pg_constraint \
             ORDER BY one",
            "SELECT pg_get_triggerdef(oid) || tgenabled::text AS one FROM pg_trigger WHERE NOT tgisinternal ORDER BY one",
        ],
        false => &["SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, sql"],
    };
    let mut structure = Vec::new();
    for query in queries {
        let mut part = texts(db, query).await;
        assert_ne!(part, [""; 0]);
        structure.append(&mut part);
    }
    structure
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_row_among_thousands_is_named_by_its_line_and_nothing_stays() {
    let (database, other) = (Database::new().await, Database::new().await);
    let (db, other) = (database.open().await, other.open().await);
    rollcall::generate::catalogue(&db, 1_500, |_| {}).await.expect("a catalogue");
    rollcall::generate::deploys(&db, 2_500, Timestamp::now(), |_| {}).await.expect("deploys");
    let (mut export, before) = (Vec::new(), structure(&other).await);
    transfer::export(&db, &mut export).await.expect("an export");
    let export = String::from_utf8(export).expect("text");
    let lines: Vec<&str> = export.lines().collect();
    let deploy = lines.iter().rposition(|line| line.starts_with(r#"{"deploy":"#)).expect("a deploy");
    let mut bad = lines.clone();
    let nowhere = lines[deploy].replacen(r#""service_id":"#, r#""service_id":999999"#, 1);
    bad[deploy] = &nowhere;
    for (lines, line) in [(bad, deploy + 1), ([&lines[..=deploy], &lines[deploy..]].concat(), deploy + 2)] {
        let refused = transfer::import(&other, "export", Cursor::new(lines.join("\n")), |_| {}).await;
        let refused = refused.expect_err("a bad row");
        assert!(refused.starts_with(&format!("export:{line}: the row cannot be stored: ")), "{refused}");
        assert_eq!(texts(&other, "SELECT name FROM service").await, [""; 0]);
        assert_eq!(structure(&other).await, before);
    }
    transfer::import(&other, "export", Cursor::new(export.clone()), |_| {}).await.expect("an import");
    assert_eq!(structure(&other).await, before);
    let mut again = Vec::new();
    transfer::export(&other, &mut again).await.expect("an export");
    assert!(again == export.as_bytes());
}

#[tokio::test]
async fn a_row_may_refer_to_a_later_one() {
    let database = Database::new().await;
    let db = database.open().await;
    let teams = |last: u64, parent: u64| {
        let mut text = "{\"rollcall\":\"catalogue\",\"version\":1}\n".to_owned();
        for id in 1..=last {
            let parent = if id == 3 { parent.to_string() } else { "null".to_owned() };
            let names = format!(r#""name":"T{id}","alias":"t{id}","parent_team_id":{parent}"#);
            text += &format!("{{\"team\":{{\"id\":{id},{names},\"created_at\":0,\"updated_at\":0}}}}\n");
        }
        text + &format!("{{\"rows\":{last}}}\n")
    };
    let why = "its parent_team_id is 2001, and there is no team with this id";
    let refused = transfer::import(&db, "export", Cursor::new(teams(2_000, 2_001)), |_| {}).await;
    assert_eq!(refused, Err(format!("export:4: the row cannot be stored: {why}")));
    let text = teams(2_000, 2_001);
    let mut lines: Vec<&str> = text.lines().collect();
    lines.swap(1, 2);
    let refused = transfer::import(&db, "export", Cursor::new(lines.join("\n")), |_| {}).await;
    assert_eq!(refused, Err(format!("the row of team with id 3 cannot be stored: {why}")));
    let imported = transfer::import(&db, "export", Cursor::new(teams(2_000, 2_000)), |_| {}).await;
    assert_eq!(imported, Ok(2_000));
    let parents = "SELECT CAST(parent_team_id AS text) FROM team WHERE parent_team_id IS NOT NULL";
    assert_eq!(texts(&db, parents).await, ["2000"]);
    let orphan = "UPDATE team SET parent_team_id = 2001 WHERE id = 7";
    db.write(async |tx| tx.script(orphan).await).await.expect_err("foreign keys are checked again");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_search_index_of_an_import_is_the_one_that_single_writes_make() {
    let database = Database::new().await;
    let db = database.open().await;
    rollcall::generate::catalogue(&db, 250, |_| {}).await.expect("a catalogue");
    let stored = async || {
        let of_text = "t.kind || ' ' || t.owner || ' ' || t.is_name || ' ' || t.folded";
        let mut stored = Vec::new();
        for select in [
            format!("SELECT {of_text} || ' ' || t.value AS one FROM find_text t ORDER BY one"),
            format!(
                "SELECT p.word || ' ' || p.letters || ' ' || {of_text} AS one FROM find_posting p \
                 JOIN find_text t ON t.id = p.text_id ORDER BY one"
            ),
            "SELECT word FROM find_word ORDER BY word".to_owned(),
            "SELECT gram || ' ' || letters || ' ' || word AS one FROM find_gram ORDER BY one".to_owned(),
        ] {
            stored.push(texts(&db, &select).await);
        }
        stored
    };
    let rebuilt = stored().await;
    assert!(rebuilt.iter().all(|rows| rows.len() > 250));
    let refreshed = db.write(async |tx| {
        for table in ["find_text", "find_posting", "find_word", "find_gram"] {
            tx.script(&format!("DELETE FROM {table}")).await?;
        }
        for (kind, table) in [(1, "service"), (2, "system"), (3, "domain"), (4, "team"), (5, "user"), (6, "repository")]
        {
            let stale = format!("INSERT INTO find_stale (kind, owner) SELECT {kind}, id FROM \"{table}\"");
            tx.script(&stale).await?;
        }
        rollcall::db::find::refresh(tx).await
    });
    refreshed.await.expect("a refresh");
    assert_eq!(stored().await, rebuilt);
}

#[tokio::test]
async fn a_file_that_is_not_an_export_is_refused_at_its_line_and_changes_nothing() {
    let database = Database::new().await;
    let db = database.open().await;
    let exported = async || {
        let mut export = Vec::new();
        transfer::export(&db, &mut export).await.expect("an export");
        String::from_utf8(export).expect("text")
    };
    let nothing = exported().await;
    let head = r#"{"rollcall":"catalogue","version":1}"#;
    let user = |id: &str, rest: &str| {
        format!(
            r#"{{"user":{{"id":{id},"name":"A","email":"{id}","email_key":"{id}","role":"user","created_at":0{rest}}}}}"#
        )
    };
    let ada = user("1", r#","updated_at":0"#);
    let again = ada.replacen(r#""id":1"#, r#""id":2"#, 1);
    let first = "export:1: this is not the first line of an export by rollcall";
    let one_key = "export:2: a line must be an object with one key, the name of a table";
    for (lines, expected) in [
        (vec![], first.to_owned()),
        (vec!["not JSON"], first.to_owned()),
        (vec![r#"{"rollcall":"else","version":1}"#], first.to_owned()),
        (
            vec![r#"{"rollcall":"catalogue","version":2,"more":[]}"#],
            "export:1: this was written by a newer rollcall (format 2; this one reads up to 1); use that version"
                .to_owned(),
        ),
        (
            vec![r#"{"rollcall":"catalogue","version":1,"last_ids":{"user":-1}}"#],
            "export:1: an id must be between 0 and 9007199254740991".to_owned(),
        ),
        (vec![head], "export:2: the end is missing: this export is incomplete".to_owned()),
        (vec![head, &ada], "export:3: the end is missing: this export is incomplete".to_owned()),
        (vec![head, &ada, r#"{"rows":2}"#], "export:3: 2 rows were exported, but this file has 1".to_owned()),
        (vec![head, r#"{"rows":0}"#, &ada], "export:3: there is more after the end".to_owned()),
        (vec![head, "[]"], "export:2: this is not a JSON object: ".to_owned()),
        (vec![head, "{}"], one_key.to_owned()),
        (vec![head, r#"{"user":{"id":1},"team":{"id":1}}"#], one_key.to_owned()),
        (vec![head, r#"{"rows":0,"rows":0}"#], one_key.to_owned()),
        (vec![head, r#"{"rows":"0"}"#], "export:2: the number of rows must be a whole number".to_owned()),
        (vec![head, r#"{"rows":-1}"#], "export:2: the number of rows must be a whole number".to_owned()),
        (vec![head, r#"{"user":[]}"#], "export:2: a row of user must be an object".to_owned()),
        (vec![head, r#"{"pg_user":{"id":1}}"#], "export:2: there is no table \"pg_user\"".to_owned()),
        (vec![head, r#"{"token":{"id":1}}"#], "export:2: token is not imported: a secret".to_owned()),
        (vec![head, &user("0", "")], "export:2: the id of a row must be between 1 and 9007199254740991".to_owned()),
        (vec![head, &user("9007199254740992", "")], "export:2: the id of a row must be between 1".to_owned()),
        (vec![head, &user("1", ""), r#"{"rows":1}"#], "export:2: updated_at is missing".to_owned()),
        (
            vec![head, &user("1", r#","updated_at":"now""#), r#"{"rows":1}"#],
            "export:2: updated_at has another type".to_owned(),
        ),
        (
            vec![head, &user("1", r#","updated_at":0,"admin":true"#), r#"{"rows":1}"#],
            "export:2: there is no column \"admin\"".to_owned(),
        ),
        (
            vec![head, &ada.replace(r#""role":"user""#, r#""role":"god""#), r#"{"rows":1}"#],
            "export:2: role is not one of the allowed values".to_owned(),
        ),
        (
            vec![head, &ada.replace(r#""A""#, r#""\u0000""#), r#"{"rows":1}"#],
            "export:2: the column name of user has a NUL character (\\u0000), which text may not contain".to_owned(),
        ),
        (vec![head, &ada, &ada, r#"{"rows":2}"#], "export:3: the row cannot be stored: ".to_owned()),
        (vec![head, &ada, &again, r#"{"rows":2}"#], "export:3: the row cannot be stored: ".to_owned()),
        (vec![head, &ada, &ada, "[]"], "export:3: the row cannot be stored: ".to_owned()),
        (
            vec![
                head,
                &ada,
                r#"{"team":{"id":7,"name":"A","alias":"a","created_at":0,"updated_at":0,"manager_id":9}}"#,
                r#"{"rows":2}"#,
            ],
            "export:3: the row cannot be stored: ".to_owned(),
        ),
    ] {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let refused = transfer::import(&db, "export", Cursor::new(text.clone()), |_| {}).await.expect_err(&text);
        assert!(refused.starts_with(&expected), "{text}\n{refused}");
        assert_eq!(exported().await, nothing, "{text}");
    }
    let long = format!(r#"{{"rollcall":"catalogue","version":1,"more":"{}"}}"#, "x".repeat(1 << 20));
    let refused = transfer::import(&db, "export", Cursor::new(format!("{long}\n{{\"rows\":0}}\n")), |_| {}).await;
    assert_eq!(refused, Err(first.to_owned()));
    let endless = std::io::Read::chain(Cursor::new(format!("{head}\n{{\"user\":\"")), std::io::repeat(b'x'));
    let endless = BufReader::with_capacity(1 << 20, endless);
    let refused = transfer::import(&db, "export", endless, |_| {}).await.expect_err("too long");
    assert_eq!(refused, "export:2: the line is longer than 134217728 bytes");
    let whole = format!("{head}\n{ada}\n{{\"rows\":1}}\n");
    assert_eq!(transfer::import(&db, "export", Cursor::new(whole.clone()), |_| {}).await, Ok(1));
    let stored = db.read().one(rollcall::entity::user::Entity::find()).await.expect("an answer").expect("a user");
    assert_eq!(stored.get(rollcall::entity::user::Column::Name), "A".into());
    // Importing an export of a program without component types keeps the existing ones.
    let types = db.read().all(rollcall::entity::component_type::Entity::find()).await.expect("component types");
    assert_eq!(types.len(), 6);
}

#[tokio::test]
async fn keys_of_email_addresses_are_computed_again_for_any_number_of_users() {
    let database = Database::new().await;
    let db = database.open().await;
    let number = 1_001;
    let mut text = "{\"rollcall\":\"catalogue\",\"version\":1}\n".to_owned();
    for id in 1..=number {
        let names = format!(r#""name":"A","email":"A{id}@Example.com","email_key":"A{id}@Example.com""#);
        text += &format!(r#"{{"user":{{"id":{id},{names},"role":"user","created_at":0,"updated_at":0}}}}"#);
        text += "\n";
    }
    text += &format!("{{\"rows\":{number}}}\n");
    assert_eq!(transfer::import(&db, "export", Cursor::new(text.clone()), |_| {}).await, Ok(number));
    let users = db.read().all(user::Entity::find()).await.expect("users");
    let stale: Vec<_> = users.iter().filter(|user| user.email_key != user::email_key(&user.email)).collect();
    assert_eq!((users.len() as u64, stale.len()), (number, 0), "{stale:?}");
}

#[test]
fn an_sqlite_catalogue_that_is_not_empty_is_not_imported_into() {
    let place = Place::new();
    let done = place.run(&["generate", "--services", "3"]);
    assert_eq!(done.status, 0, "{}", done.err);
    let export = exported(&place, "sqlite://rollcall.db");
    place.write("export", &export);
    let done = place.run(&["import", "export"]);
    let sentence =
        "import needs an empty catalogue, and this one already has rows in user; name another with --database-url";
    assert_refused(&done, sentence);
    assert_eq!(exported(&place, "sqlite://rollcall.db"), export);
    let done = place.run(&["import", "none"]);
    assert_refused(&done, "none cannot be read: No such file or directory (os error 2)");
    let mut piped = place.command(&["import", "-", "--database-url", "sqlite://piped.db"]);
    let file = std::fs::File::open(place.path().join("export")).expect("a file");
    let done = output(piped.stdin(Stdio::from(file)));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(exported(&place, "sqlite://piped.db"), export);
}

#[test]
fn an_exported_file_is_readable_only_by_its_owner_and_replaces_another_only_with_the_flag() {
    let place = Place::new();
    assert_eq!(place.run(&["generate", "--services", "3"]).status, 0);
    let whole = exported(&place, "sqlite://rollcall.db");
    let file = place.path().join("catalogue.jsonl");
    let read = || std::fs::read_to_string(&file).expect("an export");
    let export = |more: &[&str]| place.run(&[&["export", "--output", "catalogue.jsonl"], more].concat());

    let done = export(&[]);
    assert_eq!((done.status, &*done.out), (0, ""), "{}", done.err);
    let told = done.err.strip_prefix("exported to catalogue.jsonl: ").and_then(|told| told.split_once(" rows in "));
    let end: serde_json::Value = serde_json::from_str(whole.lines().last().expect("an end")).expect("JSON");
    assert!(told.is_some_and(|(rows, _)| rows.parse() == Ok(end["rows"].as_u64().expect("rows"))), "{}", done.err);
    assert_eq!(read(), whole);
    let mode = std::fs::metadata(&file).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    place.write("catalogue.jsonl", "precious");
    assert_refused(&export(&[]), "catalogue.jsonl exists; name a new file, or add --replace");
    assert_eq!(read(), "precious");
    let failed = export(&["--replace", "--database-url", "postgres://127.0.0.1:1/none"]);
    assert_eq!((failed.status, read()), (1, "precious".to_owned()), "{}", failed.err);
    assert_eq!(export(&["--replace"]).status, 0);
    assert_eq!(read(), whole);

    let names = std::fs::read_dir(place.path()).expect("the folder").map(|entry| entry.expect("an entry").file_name());
    assert_eq!(names.collect::<BTreeSet<_>>(), BTreeSet::from(["catalogue.jsonl".into(), "rollcall.db".into()]));
    assert_eq!(place.run(&["export", "--replace"]).status, 2);
}
