//! Searching services by their current names and aliases, however those were changed, including databases of old
//! releases.

use std::collections::BTreeSet;

use rollcall::db::{self, Db, Write};
use rollcall::entity::user;
use rollcall::graphql::request::caller::Caller;
use rollcall::graphql::{Catalogue, Settings};
use rollcall::{generate, transfer};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::database::Database;
use crate::harness::webhook::Endpoint;

/// A catalogue over an existing database.
struct Filled(Catalogue);

impl Filled {
    fn new(db: &Db) -> Self {
        Self(Catalogue::new(db.clone(), Settings::new("test", "http://test")))
    }

    /// The names of the services that a search finds, in pages of this length, and the reported count.
    async fn found(&self, text: &str, length: u64) -> (Vec<String>, u64) {
        let query = "query($text: String!, $first: Int!, $after: String) { account {
            services(search: $text, first: $first, after: $after) {
                nodes { name } totalCount pageInfo { hasNextPage endCursor }
            }
        } }";
        let (mut names, mut after) = (Vec::new(), Value::Null);
        loop {
            let variables = json!({ "text": text, "first": length, "after": after });
            let variables = async_graphql::Variables::from_json(variables);
            let request = async_graphql::Request::new(query).variables(variables);
            let prepared = self.0.prepare(&request).unwrap_or_else(|errors| panic!("{errors:?}"));
            let caller = Caller::command_line();
            let response = self.0.execute(&prepared, &caller, "test", None).await.expect("a database");
            assert!(response.errors.is_empty(), "{:?}", response.errors);
            let answer: Value = serde_json::from_slice(&response.text).expect("JSON");
            let page = &answer["data"]["account"]["services"];
            let nodes = page["nodes"].as_array().expect("nodes");
            names.extend(nodes.iter().map(|node| node["name"].as_str().expect("a name").to_owned()));
            after = page["pageInfo"]["endCursor"].clone();
            if page["pageInfo"]["hasNextPage"] == false {
                return (names, page["totalCount"].as_u64().expect("a count"));
            }
        }
    }
}

/// Every substring of up to four letters of a name or alias, and every whole one, finds exactly the services that have
/// it, in order.
async fn assert_finds_what_is_there(app: &TestApp) {
    let all = data(app, "{ account { services { nodes { name aliases } } } }").await;
    let services: Vec<(String, Vec<String>)> = all["account"]["services"]["nodes"]
        .as_array()
        .expect("services")
        .iter()
        .map(|service| {
            let name = service["name"].as_str().expect("a name").to_owned();
            let aliases = service["aliases"].as_array().expect("aliases").iter();
            let texts = aliases.map(|alias| alias.as_str().expect("an alias").to_lowercase());
            (name.clone(), texts.chain([name.to_lowercase()]).collect())
        })
        .collect();
    let mut pieces = BTreeSet::from(["zq".to_owned(), "~".to_owned(), "old".to_owned(), "olde".to_owned()]);
    for text in services.iter().flat_map(|(_, texts)| texts) {
        let letters: Vec<char> = text.chars().collect();
        pieces.insert(text.clone());
        pieces.extend((1..=4).flat_map(|length| letters.windows(length)).map(|piece| piece.iter().collect::<String>()));
    }
    let filled = Filled::new(&app.db);
    // The blanks around a term are not looked for.
    for piece in pieces.iter().filter(|piece| !piece.trim().is_empty()) {
        let has_piece = |texts: &[String]| texts.iter().any(|text| text.contains(piece.trim()));
        let expected: Vec<&str> =
            services.iter().filter(|(_, texts)| has_piece(texts)).map(|(name, _)| name.as_str()).collect();
        let (found, count) = filled.found(&piece.to_uppercase(), 3).await;
        assert_eq!(
            (found, count),
            (expected.iter().map(|name| (*name).to_owned()).collect(), expected.len() as u64),
            "{piece:?}"
        );
    }
}

#[tokio::test]
async fn a_search_finds_parts_of_names_and_aliases_after_every_kind_of_change() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let made = data(
        app,
        r#"mutation {
            a: serviceCreate(input: { name: "Old name" }) { service { id } }
            b: serviceCreate(input: { name: "Old name" }) { service { id } }
            c: serviceCreate(input: { name: "10% _gone_" }) { service { id } }
        }"#,
    )
    .await;
    assert_finds_what_is_there(app).await;

    let alias =
        "mutation($id: ID!) { aliasCreate(input: { ownerId: $id, alias: \"Org/Olde:1\" }) { errors { message } } }";
    app.query(alias, json!({ "id": made["a"]["service"]["id"] })).await;
    data(app, r#"mutation { serviceUpdate(input: { alias: "old_name_2", name: "Ledger" }) { errors { message } } }"#)
        .await;
    assert_finds_what_is_there(app).await;
    data(
        app,
        r#"mutation {
            aliasDelete(input: { alias: "Org/Olde:1", ownerType: service }) { errors { message } }
            serviceDelete(input: { alias: "10_gone" }) { errors { message } }
        }"#,
    )
    .await;
    assert_finds_what_is_there(app).await;

    // One suggestion becomes a service, another an alias.
    for alias in ["new/olden", "shop:eu"] {
        endpoint.post_with(json!({ "service": alias })).await;
    }
    let suggestions = data(app, "{ account { serviceSuggestions { nodes { id } } } }").await;
    let id = |place: usize| suggestions["account"]["serviceSuggestions"]["nodes"][place]["id"].clone();
    let accept = "mutation($id: ID!, $service: IdentifierInput) {
        serviceSuggestionAccept(input: { id: $id, service: $service }) { errors { message } }
    }";
    app.query(accept, json!({ "id": id(0), "service": null })).await;
    app.query(accept, json!({ "id": id(1), "service": { "alias": "shop" } })).await;
    assert_finds_what_is_there(app).await;

    // A service file renames, adds and removes.
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("rollcall.yml");
    for text in [
        "version: 1\nservice:\n  name: Basket\n  aliases: [shop, olde/basket]\n",
        "version: 1\nservice:\n  name: Trolley\n  aliases: [shop, Basket]\n",
        "version: 1\nservice:\n  name: Trolley\n  aliases: [shop]\n",
    ] {
        std::fs::write(&file, text).expect("a file");
        crate::harness::service_file::run(&app.db, std::slice::from_ref(&file))
            .await
            .expect("a file without a mistake");
        assert_finds_what_is_there(app).await;
    }
}

#[tokio::test]
async fn a_search_is_at_most_255_characters_long() {
    let app = TestApp::start().await;
    let name = "ä".repeat(255);
    let create = "mutation($name: String!) { serviceCreate(input: { name: $name }) { errors { message } } }";
    app.query(create, json!({ "name": name })).await;
    let query = "query($text: String!) { account { services(search: $text) { totalCount } } }";
    let answer = app.query(query, json!({ "text": name.to_uppercase() })).await;
    assert_eq!(answer["data"]["account"]["services"]["totalCount"], 1, "{answer}");
    let answer = app.query(query, json!({ "text": format!("{name}ä") })).await;
    let message = answer["errors"][0]["message"].as_str().expect("a message");
    assert!(message.contains("search has 256 characters; at most 255 are allowed"), "{message}");
}

#[tokio::test]
async fn generated_and_imported_objects_are_found() {
    let (one, other) = (Database::new().await, Database::new().await);
    let db = one.open().await;
    generate::catalogue(&db, 620, |_| {}).await.expect("a catalogue");
    let mut export = Vec::new();
    transfer::export(&db, &mut export).await.expect("an export");
    let moved = other.open().await;
    transfer::import(&moved, "export", std::io::Cursor::new(export), |_| {}).await.expect("an import");
    for db in [&db, &moved] {
        let filled = Filled::new(db);
        for (text, count) in [("SVC-619", 1), ("svc-61", 11), ("svc-", 620), ("s", 620), ("svc-621", 0), ("~", 0)] {
            let (found, said) = filled.found(text, 100).await;
            assert_eq!((found.len() as u64, said), (count, count), "{text}");
        }
    }
}

#[tokio::test]
async fn a_database_of_the_previous_version_is_searchable_and_keeps_its_users_after_the_migration() {
    let database = Database::empty().await;
    let db = db::connect(&database.url).await.expect("a database");
    database.migrate(11).await;
    let old = db.write(async |tx| {
        // More than one batch of the migration, and one with a name of maximum length.
        for number in 1..=1100 {
            let name = if number == 7 { "ÄÖ".repeat(127) } else { format!("Größe {number}") };
            let service = format!(
                "INSERT INTO service (id, name, slug, created_at, updated_at) VALUES ({number}, '{name}', 's{number}', 0, 0);
                INSERT INTO service_alias (service_id, value, kind) VALUES ({number}, 's{number}', 'slug')"
            );
            tx.script(&service).await?;
        }
        tx.script("INSERT INTO service_alias (service_id, value, kind) VALUES (1100, 'ORG/Repo', 'managed')").await?;
        tx.script("DELETE FROM service WHERE id = 3").await?;
        let users = [("\u{212A}ate@example.com", "kate@example.com"), ("ADA@ÄRZTE.example", "ada@ärzte.example"), ("Bob@b.example", "bob@b.example")];
        for (email, key) in users {
            let user = format!(
                "INSERT INTO \"user\" (name, email, email_key, role, created_at, updated_at) VALUES ('A', '{email}', '{key}', 'user', 0, 0)"
            );
            tx.script(&user).await?;
        }
        Ok::<_, db::Error>(())
    });
    old.await.expect("an old database");
    db::migrate(&db).await.expect("migrations");

    let filled = Filled::new(&db);
    for (text, count) in [("GRÖSSE", 1098), ("größe 10", 111), ("s3", 110), ("org/", 1), ("öä", 1), ("größe 3", 110)]
    {
        assert_eq!(filled.found(text, 100).await.1, count, "{text}");
    }
    let user = async |email: &str| user::by_email(db.read(), email).await.expect("an answer").map(|user| user.email);
    assert_eq!(user("kate@example.com").await, None);
    assert_eq!(user("\u{212A}ATE@EXAMPLE.com").await.as_deref(), Some("\u{212A}ate@example.com"));
    assert_eq!(user("ada@ÄRZTE.EXAMPLE").await.as_deref(), Some("ADA@ÄRZTE.example"));
    assert_eq!(user("ada@ärzte.example").await, None);
    assert_eq!(user("BOB@b.example").await.as_deref(), Some("Bob@b.example"));
}
