//! What a page costs does not grow with the catalogue: no statement of a list reads a whole table.
//!
//! The plans are those of the statements that requests really run.

use async_graphql::Request;
use rollcall::db::{Db, Write};
use rollcall::entity::{Timestamp, code_issue};
use rollcall::graphql::request::caller::Caller;
use rollcall::graphql::{Catalogue, Settings};

use crate::harness::database::{Database, is_postgres};
use crate::harness::statements::{Statements, plan};

/// A catalogue that keeps its statements.
struct Observed {
    catalogue: Catalogue,
    db: Db,
    statements: Statements,
    _database: Database,
}

impl Observed {
    async fn start() -> Self {
        let database = Database::new().await;
        let mut db = database.open().await;
        rollcall::generate::catalogue(&db, 2_000, |_| {}).await.expect("a catalogue");
        let end = Timestamp::parse("2026-01-01T00:00:00Z").expect("a moment");
        rollcall::generate::deploys(&db, 5_000, end, |_| {}).await.expect("deploys");
        if is_postgres() {
            db.write(async |tx| tx.script("ANALYZE").await).await.expect("statistics");
        }
        let asked = db.clone();
        let statements = Statements::of(&mut db);
        let catalogue = Catalogue::new(db, Settings::new("test", "http://test"));
        Self { catalogue, db: asked, statements, _database: database }
    }

    /// Runs a query. Returns the text and the plan of each of its statements.
    async fn plans(&self, query: &str) -> Vec<(String, String)> {
        let prepared = self.catalogue.prepare(&Request::new(query)).unwrap_or_else(|errors| panic!("{errors:?}"));
        self.statements.take();
        let caller = Caller::command_line();
        let response = self.catalogue.execute(&prepared, &caller, "test", None).await.expect("a database");
        assert!(response.errors.is_empty(), "{query}: {:?}", response.errors);
        let mut plans = Vec::new();
        for statement in self.statements.take().into_iter().filter(|statement| statement.sql.starts_with("SELECT")) {
            plans.push((statement.sql.clone(), plan(&self.db, statement).await));
        }
        assert!(!plans.is_empty(), "{query} reads nothing");
        plans
    }
}

/// The tables that grow with the catalogue and its history.
const LARGE: [&str; 7] = ["service", "service_alias", "tag", "repository", "service_repository", "deploy", "user"];

/// Whether a plan reads a whole table that grows.
fn reads_all(sql: &str, plan: &str) -> bool {
    plan.lines().any(|line| {
        let line = line.trim().trim_start_matches("-> ").trim();
        LARGE.iter().any(|table| match is_postgres() {
            true => {
                let scan = ["Seq Scan on ", "Parallel Seq Scan on "].iter().find_map(|scan| line.split_once(scan));
                let name = scan.map(|(_, rest)| rest.trim_start_matches('"'));
                name.is_some_and(|name| name.split([' ', '"']).next() == Some(*table))
            }
            // SQLite's rows are stored in the order of their ids. A page of them without a condition reads them so.
            false => line == format!("SCAN {table}") && sql.contains(" WHERE "),
        })
    })
}

#[tokio::test]
async fn no_page_reads_a_whole_table() {
    let observed = Observed::start().await;
    let services = [
        r#"language: "Rust""#,
        r#"framework: "axum""#,
        r#"product: "none""#,
        r#"ownerAlias: "team-7""#,
        r#"tierAlias: "tier_1""#,
        r#"lifecycleAlias: "beta""#,
        "hasOwner: false",
        r#"tag: { key: "env" }"#,
        r#"tag: { key: "env", value: "env-3" }"#,
        r#"search: "bil""#,
    ];
    let orders = ["name", "owner", "tier", "lifecycle", "language", "product"];
    let mut asked = vec![
        "services".to_owned(),
        "deploys".to_owned(),
        r#"deploys(environments: ["production"])"#.to_owned(),
        r#"deploys(start: "2025-06-01T00:00:00Z", end: "2025-07-01T00:00:00Z")"#.to_owned(),
        r#"users(filter: [{ key: name, arg: "Manager 3" }])"#.to_owned(),
        r#"users(filter: [{ key: email, arg: "manager3@example.com" }])"#.to_owned(),
        "repositories".to_owned(),
        "teams".to_owned(),
    ];
    for (place, one) in services.iter().enumerate() {
        asked.push(format!("services({one})"));
        let others = services[place + 1..].iter().filter(|other| other.split(':').next() != one.split(':').next());
        asked.extend(others.map(|other| format!("services({one}, {other})")));
    }
    for order in orders {
        asked.extend(["ASC", "DESC"].map(|direction| format!("services(sortBy: {order}_{direction})")));
    }
    for list in &asked {
        let query = format!("{{ account {{ {list} {{ nodes {{ id }} pageInfo {{ hasNextPage }} }} }} }}");
        for (sql, plan) in observed.plans(&query).await {
            assert!(!reads_all(&sql, &plan), "{list}\n{sql}\n{plan}");
        }
    }
}

#[tokio::test]
async fn two_filters_of_services_keep_the_order_of_an_index() {
    let observed = Observed::start().await;
    for (filters, index) in [
        (r#"language: "Rust", tierAlias: "tier_1""#, "service_by_language"),
        (r#"framework: "axum", language: "Rust""#, "service_by_framework"),
        (r#"tierAlias: "tier_1", lifecycleAlias: "beta""#, "service_by_lifecycle"),
        (r#"tierAlias: "tier_1", hasOwner: false"#, "service_by_tier"),
        (r#"tierAlias: "tier_1", ownerAlias: "team-7""#, "service_by_owner"),
        (r#"language: "Rust", ownerAlias: "team-7""#, "service_by_owner"),
    ] {
        let query = format!("{{ account {{ services({filters}) {{ nodes {{ id }} pageInfo {{ hasNextPage }} }} }} }}");
        let plans = observed.plans(&query).await;
        let plan = plans.iter().find(|(sql, _)| sql.contains("LIMIT")).map_or("", |(_, plan)| plan);
        if is_postgres() {
            // By its statistics it may begin with any of the filters.
            assert!(plan.contains("service_by_"), "{filters}\n{plan}");
        } else {
            assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{filters}\n{plan}");
        }
    }
    let key = r#"{ account { services(tag: { key: "env" }) { nodes { id } totalCount } } }"#;
    for (sql, plan) in observed.plans(key).await {
        let is_of_tags = sql.contains("\"tag\"");
        assert!(!is_of_tags || plan.contains("tag_by_key_service"), "{sql}\n{plan}");
        assert!(!is_of_tags || !plan.contains("FOR DISTINCT"), "{sql}\n{plan}");
    }
}

#[tokio::test]
async fn overdue_issues_are_found_by_an_index() {
    let database = Database::new().await;
    let mut db = database.open().await;
    let asked = db.clone();
    let statements = Statements::of(&mut db);
    assert_eq!(code_issue::overdue(db.read(), Timestamp::now(), 10).await.expect("issues"), Vec::<i64>::new());
    let statement = statements.take().pop().expect("a statement");
    let plan = plan(&asked, statement).await;
    assert!(plan.contains("code_issue_untold") && !plan.contains("B-TREE"), "{plan}");
}
