//! The number of SQL statements for a page does not depend on its length.

use async_graphql::Request;
use futures_util::future::join_all;
use hyper::header::{self, HeaderMap};
use rollcall::db::{self, Db, Read, Write};
use rollcall::deploy::figures::build;
use rollcall::entity::audit::{self, Actor, Subject};
use rollcall::entity::{Timestamp, deploy, service, token};
use rollcall::graphql::field::id::Id;
use rollcall::graphql::request::caller::Caller;
use rollcall::graphql::revert::SEARCHED;
use rollcall::graphql::{Catalogue, Settings};
use rollcall::http::auth::Tokens;
use sea_orm::{ColumnTrait, DbBackend, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Set, Statement};
use serde_json::{Value, json};

use crate::harness::database::{Database, is_postgres};
use crate::harness::statements::Statements;

/// A catalogue that records its statements.
struct Observed {
    catalogue: Catalogue,
    db: Db,
    statements: Statements,
    _database: Database,
}

impl Observed {
    /// Creates 120 services, some with deploys.
    async fn start() -> Self {
        let database = Database::new().await;
        let mut db = database.open().await;
        rollcall::generate::catalogue(&db, 120, |_| {}).await.expect("a catalogue");
        let services = db.read().all(service::Entity::find().limit(60)).await.expect("services");
        let deployed = db.write(async |tx| {
            for service in &services {
                tx.insert(deploy_of(service)).await?;
            }
            Ok::<_, db::Error>(())
        });
        deployed.await.expect("deploys");
        let statements = Statements::of(&mut db);
        let settings = Settings::new("test", "http://test");
        Self { catalogue: Catalogue::new(db.clone(), settings), db, statements, _database: database }
    }

    /// Runs a query and returns its data and its statements.
    async fn run(&self, query: &str) -> (Value, Vec<String>) {
        let caller = Caller::command_line();
        self.run_as(query, caller).await
    }

    /// Like [`run`](Self::run), for a caller. A query runs twice: its first run finds out whether it takes several
    /// statements.
    async fn run_as(&self, query: &str, caller: Caller) -> (Value, Vec<String>) {
        if !query.starts_with("mutation") {
            self.run_once(query, caller.clone()).await;
        }
        self.run_once(query, caller).await
    }

    async fn run_once(&self, query: &str, caller: Caller) -> (Value, Vec<String>) {
        let prepared = self.catalogue.prepare(&Request::new(query)).unwrap_or_else(|errors| panic!("{errors:?}"));
        self.statements.take();
        let response = self.catalogue.execute(&prepared, &caller, "test", None).await.expect("a database");
        assert!(response.errors.is_empty(), "{:?}", response.errors);
        let mut answer: Value = serde_json::from_slice(&response.text).expect("JSON");
        (answer["data"].take(), self.statements.take_texts())
    }
}

/// A deploy of a service.
fn deploy_of(service: &service::Model) -> deploy::ActiveModel {
    let now = Timestamp::now();
    deploy::ActiveModel {
        service_id: Set(Some(service.id)),
        service_alias: Set(service.slug.clone()),
        description: Set("Sell more".to_owned()),
        deployed_at: Set(now),
        deploy_number: Set("1".to_owned()),
        created_at: Set(now),
        ..Default::default()
    }
}

#[tokio::test]
async fn postgresql_reads_the_tokens_of_requests_that_come_at_once_together() {
    let observed = Observed::start().await;
    let (db, now) = (&observed.db, Timestamp::now());
    let mut secrets = Vec::new();
    for description in ["first", "second", "third"] {
        let made = db.write(async |tx| {
            token::create(tx, &Actor::command_line(), description, token::Scope::Read, None, now).await
        });
        secrets.push((made.await.expect("a token"), Some(description)));
    }
    secrets.push((token::Secret::new().expect("randomness"), None));
    let tokens = Tokens::new(db.clone(), 0);
    let check = async |secret: &token::Secret| {
        let value = format!("Bearer {}", secret.reveal()).parse().expect("a header");
        let found =
            tokens.check(&HeaderMap::from_iter([(header::AUTHORIZATION, value)]), [127, 0, 0, 1].into(), now).await;
        found.ok().map(|(token, _)| token.description)
    };
    observed.statements.take();
    let many: Vec<_> = secrets.iter().cycle().take(60).collect();
    let found = join_all(many.iter().map(|(secret, _)| check(secret))).await;
    for ((_, description), found) in many.iter().zip(&found) {
        assert_eq!(found.as_deref(), *description, "each request has its own token");
    }
    let taken = observed.statements.take_texts().iter().filter(|sql| sql.starts_with("SELECT")).count();
    assert_eq!(taken, if is_postgres() { 1 } else { 60 });
    if is_postgres() {
        let hashes: Vec<token::Hash> = secrets.iter().map(|(secret, _)| secret.hash()).collect();
        assert_eq!(token::by_hashes(db.read(), &hashes).await.expect("a read").len(), 3);
    }
    let (first, _) = &secrets[0];
    let row = token::by_hash(db.read(), &first.hash()).await.expect("a read").expect("a token");
    db.write(async |tx| token::delete(tx, &Actor::command_line(), row.id).await).await.expect("it is deleted");
    assert_eq!(check(first).await, None, "a deleted token is refused at once");
}

#[tokio::test]
async fn a_page_counts_to_ten_thousand_and_the_api_counts_exactly() {
    let observed = Observed::start().await;
    let caller = Caller { counts_to: Some(100), ..Caller::command_line() };
    for (list, exact, bounded) in [
        ("services", 120, 101),
        ("services(hasOwner: true)", 120, 101),
        (r#"services(search: "svc")"#, 120, 101),
        ("deploys", 60, 60),
    ] {
        let query = format!("{{ account {{ {list} {{ totalCount }} }} }}");
        let count = |data: &Value| {
            let name = list.split('(').next().expect("a name");
            data["account"][name]["totalCount"].as_i64()
        };
        assert_eq!(count(&observed.run(&query).await.0), Some(exact), "{list}");
        assert_eq!(count(&observed.run_as(&query, caller.clone()).await.0), Some(bounded), "{list}");
    }
    let tags = "{ account { service(alias: \"svc-1\") { tags { totalCount } deploys { totalCount } } } }";
    let few = Caller { counts_to: Some(0), ..caller };
    let service = &observed.run_as(tags, few).await.0["account"]["service"];
    assert_eq!((&service["tags"]["totalCount"], &service["deploys"]["totalCount"]), (&1.into(), &1.into()));
}

/// A typical page of services, and its maximum number of statements: one for the page and one for each relation.
const PAGE: (&str, usize) = (
    "name aliases owner { name manager { email } } tier { name } tags { nodes { key value } }
     repositories { totalCount } lastDeploy { deployedAt }",
    8,
);

#[tokio::test]
async fn the_number_of_statements_for_a_page_of_services_does_not_depend_on_its_length() {
    let observed = Observed::start().await;
    let (fields, most) = PAGE;
    let mut taken = Vec::new();
    for first in [1, 2, 10, 100] {
        let query = format!("{{ account {{ services(first: {first}) {{ nodes {{ {fields} }} }} }} }}");
        let (data, statements) = observed.run(&query).await;
        let nodes = data["account"]["services"]["nodes"].as_array().expect("nodes");
        assert_eq!(nodes.len(), first);
        assert!(
            nodes.iter().any(|node| node["lastDeploy"].is_object() && node["owner"]["manager"].is_object()),
            "{data}"
        );
        assert!(statements.len() <= most, "{first}: {statements:#?}");
        taken.push(statements.len());
    }
    assert_eq!(taken, [most; 4], "a statement for the page and one for each relation");
}

#[tokio::test]
async fn connections_below_a_page_take_one_statement_for_their_rows_and_one_for_their_counts() {
    let observed = Observed::start().await;
    for (connection, most) in [
        ("tags { nodes { key } totalCount }", 2),
        ("repositories { nodes { name services { nodes { name } } } totalCount }", 3),
        ("serviceRepositories { nodes { service { name } repository { name } } }", 3),
        ("deploys { nodes { description associatedUser { name } service { name } } totalCount filteredCount }", 3),
        ("deployMetrics { deployCount changeLeadTime { median } } owner { deployMetrics { failedCount } }", 3),
        ("codeIssueProjects { nodes { name } } codeIssues { nodes { name } }", 2),
        ("owner { members { totalCount } services { totalCount } tags { nodes { key } } }", 4),
        ("aliases managedAliases locked htmlUrl timestamps { createdAt }", 2),
    ] {
        let mut taken = Vec::new();
        for first in [2, 100] {
            let query = format!("{{ account {{ services(first: {first}) {{ nodes {{ {connection} }} }} }} }}");
            let (_, statements) = observed.run(&query).await;
            assert!(statements.len() <= most + 1, "{connection}: {statements:#?}");
            taken.push(statements.len());
        }
        assert_eq!(taken[0], taken[1], "{connection}");
    }
}

#[tokio::test]
async fn what_is_listed_of_a_service_is_read_from_an_index_alone() {
    if is_postgres() {
        println!("not checked on PostgreSQL, whose indexes are others");
        return;
    }
    let observed = Observed::start().await;
    let query = "{ account { services { nodes { aliases tags(first: 10) { nodes { id key value } }
        repositories { totalCount } } } service(alias: \"x\") { name } } }";
    let (_, statements) = observed.run(query).await;
    let plan = async |sql: &String| {
        let explain = Statement::from_string(DbBackend::Sqlite, format!("EXPLAIN QUERY PLAN {sql}"));
        observed.db.read().rows_by(explain, |line| line.get::<String>(3)).await.expect("a plan").join("\n")
    };
    for (table, expected) in [
        ("service_alias", "SEARCH service_alias USING COVERING INDEX service_alias_by_service (service_id=?)"),
        ("tag", "SEARCH tag USING COVERING INDEX tag_by_service (service_id=?)"),
        (
            "service_repository",
            "SEARCH service_repository USING COVERING INDEX service_repository_by_service (service_id=?)",
        ),
    ] {
        let of_table = |sql: &&String| sql.contains(&format!("FROM \"{table}\" WHERE \"{table}\".\"service_id\" = ?"));
        let sql = statements.iter().find(of_table).unwrap_or_else(|| panic!("{table}: {statements:#?}"));
        assert_eq!(plan(sql).await, expected, "{sql}");
    }
    let by_alias = statements.iter().find(|sql| sql.contains("\"value\" = ?")).expect("a service by its alias");
    assert!(!plan(by_alias).await.contains("LIST"), "the owner of an alias is one: {by_alias}");
}

#[tokio::test]
async fn the_first_run_of_a_query_finds_out_whether_it_needs_a_transaction() {
    let observed = Observed::start().await;
    // On PostgreSQL the first run begins without a transaction, and begins again when it needs a second statement.
    let again = usize::from(is_postgres());
    for (query, most) in [
        ("{ account { services { nodes { name } } } }", 1),
        ("{ account { services { nodes { name tier { name } } totalCount } } }", 3),
    ] {
        let caller = Caller::command_line();
        let (first, statements) = observed.run_once(query, caller.clone()).await;
        // Without an idle connection it begins with one.
        let expected = if most > 1 { most..=most + again } else { most..=most };
        assert!(expected.contains(&statements.len()), "{query}: {statements:#?}");
        let (second, statements) = observed.run_once(query, caller).await;
        assert_eq!((first, statements.len()), (second, most), "{query}: {statements:#?}");
    }
}

#[tokio::test]
async fn unselected_fields_cost_no_statement() {
    let observed = Observed::start().await;
    for (query, expected) in [
        ("{ account { name } }", 0),
        ("{ account { services { __typename } } }", 0),
        ("{ account { services { totalCount } } }", 1),
        ("{ account { services { nodes { name } } } }", 1),
        ("{ account { services { nodes { name } pageInfo { hasNextPage } edges { cursor } } } }", 1),
        ("{ account { services { nodes { name } totalCount } } }", 2),
        ("{ account { services { nodes { tags { __typename } } } } }", 1),
    ] {
        let (_, statements) = observed.run(query).await;
        assert_eq!(statements.len(), expected, "{query}: {statements:#?}");
    }
}

#[tokio::test]
async fn metrics_of_several_windows_are_read_together() {
    let observed = Observed::start().await;
    let now = Timestamp::now();
    rollcall::generate::deploys(&observed.db, 2_000, now, |_| {}).await.expect("deploys");
    // The figures of fewer days are there sooner.
    let old = deploy::Column::DeployedAt.lt(Timestamp::from_micros(now.as_micros() - 100 * 86_400_000_000));
    let old = deploy::Entity::delete_many().filter(old);
    observed.db.write(async |tx| tx.exec(old).await).await.expect("a removal");
    build::update(&observed.db, now).await.expect("figures");
    let ago = |days: i64| Timestamp::from_micros(now.as_micros() - days * 86_400_000_000);
    let all = "deployCount failedCount changeLeadTime { count median } failedDeploymentRecoveryTime { count median }";
    let field = |name: &str, start: i64, end: i64, selected: &str| {
        format!("{name}: deployMetrics(start: \"{}\", end: \"{}\") {{ {selected} }}", ago(start), ago(end))
    };
    let windows = [field("a", 90, 30, all), field("b", 30, 2, all), field("c", 9, 0, all)];
    let counts = field("counts", 90, 30, "deployCount");
    let of_figures =
        |statements: &[String]| statements.iter().filter(|sql| sql.contains("FROM \"deploy_period_figures\"")).count();
    // Once for the periods that have figures, and once for the figures.
    let (together, statements) = observed.run(&format!("{{ account {{ {} }} }}", windows.join(" "))).await;
    assert_eq!(of_figures(&statements), 2, "{statements:#?}");
    let (both, statements) = observed.run(&format!("{{ account {{ {counts} {} }} }}", windows.join(" "))).await;
    assert_eq!(of_figures(&statements), 4, "durations are not read for who does not want them: {statements:#?}");
    for (name, window) in ["a", "b", "c"].into_iter().zip(&windows) {
        let (alone, _) = observed.run(&format!("{{ account {{ {window} }} }}")).await;
        let expected = &alone["account"][name];
        assert!(expected["deployCount"].as_i64() > Some(0), "{alone}");
        assert_eq!([&together["account"][name], &both["account"][name]], [expected; 2], "{name}");
    }
    assert_eq!(both["account"]["counts"]["deployCount"], both["account"]["a"]["deployCount"]);
}

#[tokio::test]
async fn the_names_of_a_subscription_are_looked_up_at_once() {
    let observed = Observed::start().await;
    let query = "{ account {
        services(first: 12) { nodes { id alias } } teams(first: 6) { nodes { id alias } } tiers { id alias }
    } }";
    let (data, _) = observed.run(query).await;
    let mut taken = Vec::new();
    for (place, number) in [1, 1, 3].into_iter().enumerate() {
        // Some by id and as many by name.
        let named = |nouns: &Value| {
            let nouns = nouns.as_array().expect("a list").iter().take(2 * number).enumerate();
            let names = nouns.map(|(place, noun)| noun[if place % 2 == 0 { "id" } else { "alias" }].to_string());
            names.collect::<Vec<_>>().join(", ")
        };
        let account = &data["account"];
        let (services, teams) = (named(&account["services"]["nodes"]), named(&account["teams"]["nodes"]));
        let mutation = format!(
            "mutation {{ done: eventSubscriptionCreate(input: {{
                name: \"{place}\", receiverUrl: \"https://hooks.example.com/a\", events: [service_changed],
                serviceIds: [{services}], teamIds: [{teams}], tierAliases: [{}]
            }}) {{ errors {{ message }} }} }}",
            named(&account["tiers"])
        );
        let (done, statements) = observed.run(&mutation).await;
        assert_eq!(done["done"]["errors"], json!([]), "{mutation}");
        for names in ["service_alias", "team_alias"] {
            let with_names = |sql: &&String| sql.starts_with("SELECT") && sql.contains(&format!("FROM \"{names}\""));
            assert_eq!(statements.iter().filter(with_names).count(), 1, "{names}: {statements:#?}");
        }
        taken.push(statements.len());
    }
    assert_eq!(taken[1], taken[2], "however many names there are");
}

#[tokio::test]
async fn the_queries_of_saved_views_are_read_only_if_a_field_needs_them() {
    let observed = Observed::start().await;
    let (_, first) = observed.run("{ account { savedViews { id name own owner { name } htmlUrl } } }").await;
    assert!(!first.is_empty() && first.iter().all(|sql| !sql.contains("\"query\"")), "{first:#?}");
    for field in ["query", "problem", "name query"] {
        let (_, statements) = observed.run(&format!("{{ account {{ savedViews {{ {field} }} }} }}")).await;
        assert!(statements.iter().any(|sql| sql.contains("\"saved_view\".\"query\"")), "{field}: {statements:#?}");
    }
}

#[tokio::test]
async fn the_audit_of_a_mutation_reads_only_the_lists_that_the_mutation_changes() {
    let observed = Observed::start().await;
    let query = "{ account { services(first: 1) { nodes { id } } teams(first: 1) { nodes { id } } } }";
    let (data, _) = observed.run(query).await;
    let (service, team) = (&data["account"]["services"]["nodes"][0]["id"], &data["account"]["teams"]["nodes"][0]["id"]);
    let changed = async |mutation: String| {
        let (data, statements) =
            observed.run(&format!("mutation {{ done: {mutation} {{ errors {{ message }} }} }}")).await;
        assert_eq!(data["done"]["errors"], serde_json::json!([]), "{mutation}");
        assert!(statements.iter().any(|statement| statement.contains("audit")), "{mutation}: {statements:#?}");
        let reads = |list: &str| statements.iter().any(|one| one.starts_with("SELECT") && one.contains(list));
        ["service_alias", "team_alias", "team_membership"].map(reads)
    };
    let none = [false; 3];
    assert_eq!(changed(format!("serviceUpdate(input: {{ id: {service}, product: \"Till\" }})")).await, none);
    assert_eq!(changed(format!("teamUpdate(input: {{ id: {team}, responsibilities: \"Pay\" }})")).await, none);
    let alias = format!("aliasCreate(input: {{ ownerId: {service}, alias: \"till-1\" }})");
    assert_eq!(changed(alias).await, [true, false, false], "what is changed is read");
}

/// Statements of the search index are not counted.
#[tokio::test]
async fn the_audit_of_a_mutation_reads_no_row_that_its_transaction_knows() {
    let observed = Observed::start().await;
    let query = "{ account { services(first: 1) { nodes { id aliases tags { nodes { id } } } } teams(first: 1) { nodes { id } } } }";
    let (data, _) = observed.run(query).await;
    let service = &data["account"]["services"]["nodes"][0];
    let alias = &service["aliases"][0];
    let (id, team) = (&service["id"], &data["account"]["teams"]["nodes"][0]["id"]);
    let tag = &service["tags"]["nodes"][0]["id"];
    let tags = |of: String, value: &str| {
        format!(
            "tagAssign(input: {{ {of}, tags: [{{ key: \"a\", value: \"{value}\" }}, {{ key: \"b\", value: \"{value}\" }}] }})"
        )
    };
    let by_id = |value: &str| tags(format!("id: {id}"), value);
    let one_more = format!("tagAssign(input: {{ alias: {alias}, tags: [{{ key: \"c\", value: \"1\" }}] }})");
    // On PostgreSQL what the service has is counted while its tags are read.
    let made = match is_postgres() {
        true => "the service, its tags, the new ones, the entry",
        false => "the service, its tags, how many, the new ones, the entry",
    };
    // On PostgreSQL another mutation can change the tag before the service is locked.
    let update = match is_postgres() {
        true => "the tag, the service, the new value, the tag again, the entry",
        false => "the tag, the service, the new value, the entry",
    };
    for (mutation, expected) in [
        (by_id("1"), made),
        (one_more, made),
        (by_id("2"), "the service, its tags, the new values, the entry"),
        (tags(format!("alias: {alias}"), "3"), "the service, its tags, the new values, the entry"),
        (tags(format!("alias: {alias}"), "3"), "the service, its tags, the entry"),
        (format!("tagUpdate(input: {{ id: {tag}, value: \"9\" }})"), update),
        (format!("serviceUpdate(input: {{ id: {id}, product: \"Till\" }})"), "the service, its row, the entry"),
        (format!("teamUpdate(input: {{ id: {team}, responsibilities: \"Pay\" }})"), "the team, its row, the entry"),
    ] {
        let (data, statements) =
            observed.run(&format!("mutation {{ done: {mutation} {{ errors {{ message }} }} }}")).await;
        assert_eq!(data["done"]["errors"], serde_json::json!([]), "{mutation}");
        let own: Vec<_> = statements.iter().filter(|one| !one.contains("find_stale")).collect();
        assert_eq!(own.len(), expected.split(", ").count(), "{mutation}: {expected}: {own:#?}");
    }
}

#[tokio::test]
async fn service_files_take_few_statements_for_the_audit_and_for_relationships() {
    let observed = Observed::start().await;
    let run = async |mutation: String| {
        let (data, statements) =
            observed.run(&format!("mutation {{ done: {mutation} {{ errors {{ message }} }} }}")).await;
        assert_eq!(data["done"]["errors"], serde_json::json!([]), "{mutation}");
        statements
    };
    let apply =
        |text: &str| run(format!("serviceFilesApply(input: {{ files: {{ path: \"f.yml\", text: \"{text}\" }} }})"));
    let many: String =
        (0..40).map(|number| format!("--- {{version: 1, service: {{name: new-{number}}}}}\\n")).collect();
    let statements = apply(&many).await;
    let written = statements.iter().filter(|one| one.starts_with("INSERT INTO \"audit\"")).count();
    assert_eq!(written, 2, "one for 32 services and one for 8: {statements:#?}");

    run("relationshipDefinitionCreate(input: { name: \"Reads\", componentType: { alias: \"service\" } })".to_owned())
        .await;
    let related = |count: usize| {
        let targets = (1..=count).map(|number| format!("svc-{number}")).collect::<Vec<_>>().join(", ");
        format!("{{version: 1, service: {{name: reader, relationships: {{reads: [{targets}]}}}}}}")
    };
    apply(&related(0)).await;
    let mut removed = Vec::new();
    for count in [2, 20] {
        let added = apply(&related(count)).await;
        let counts = added.iter().filter(|one| one.contains("COUNT(") && one.contains("\"relationship\""));
        assert_eq!(counts.count(), 1, "{added:#?}");
        removed.push(apply(&related(0)).await.len());
    }
    assert_eq!(removed[0], removed[1], "the names of what is removed are read together");
}

/// Who has changed a field since is looked for among so many entries, so a revert costs the same however many came later.
#[tokio::test]
async fn a_revert_takes_the_same_statements_however_much_came_later() {
    let observed = Observed::start().await;
    let (data, _) = observed.run("{ account { service(alias: \"svc-1\") { id } } }").await;
    let id = data["account"]["service"]["id"].clone();
    let change = async |field: &str, value: &str| {
        let query = format!(
            "mutation {{ done: serviceUpdate(input: {{ id: {id}, {field}: \"{value}\" }}) {{ errors {{ message }} }} }}"
        );
        assert_eq!(observed.run(&query).await.0["done"]["errors"], json!([]), "{field}: {value}");
    };
    let newest = audit::Entity::find().order_by_desc(audit::Column::Id).limit(1);
    change("product", "Till").await;
    let entry = observed.db.read().one(newest).await.expect("the audit").expect("an entry");
    let revert = Id { class: "Change", number: entry.id }.text();
    let revert = format!("mutation {{ done: changeRevert(input: {{ id: \"{revert}\" }}) {{ errors {{ message }} }} }}");
    change("product", "Shop").await;
    let mut taken = Vec::new();
    // The change of the product is the last one at first, and then further back than is looked.
    for (later, by) in [(0, ", by command line"), (3 * SEARCHED, "")] {
        let (class, name) = (entry.subject_class.clone(), entry.subject_name.clone());
        let subject = Subject { class, id: entry.subject_id, name, ..Subject::default() };
        let told = json!({ "changed": { "language": { "old": "Go", "new": "Rust" } } });
        let row = |_| audit::entry(&Actor::command_line(), "serviceUpdate", subject.clone(), &told);
        let rows: Vec<_> = (0..later).map(row).collect();
        observed.db.write(async |tx| tx.insert_all(rows).await).await.expect("entries");
        let (data, statements) = observed.run(&revert).await;
        let refused = json!([{ "message": format!("product was changed since{by}") }]);
        assert_eq!(data["done"]["errors"], refused, "{later}");
        let is_list = |sql: &&String| sql.contains("FROM \"audit\"") && sql.contains("ORDER BY");
        let lists: Vec<_> = statements.iter().filter(is_list).collect();
        assert!(lists.len() == 1 && lists[0].contains("LIMIT"), "{statements:#?}");
        taken.push(statements.len());
    }
    assert!(taken[0] == taken[1] && taken[0] < 20, "{taken:?}");
}
