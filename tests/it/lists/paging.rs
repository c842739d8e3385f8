//! Pages of a list that changes while it is read, and the rules of `first`, `after` and cursors.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rollcall::db::Write;
use rollcall::entity::service;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::services::insert;
use crate::harness::tour::{object, schema};
use crate::harness::webhook::Endpoint;

/// The number of services at the start. At least as many are added meanwhile.
const SERVICES: usize = 10_000;

#[tokio::test]
async fn while_services_come_and_go_a_client_sees_all_that_stay_exactly_once() {
    let app = TestApp::with(&["--token-limit", "0", "--ip-limit", "0"]).await;
    let most = SERVICES;
    // Every second one will be deleted.
    let name = |i: usize| if i.is_multiple_of(2) { format!("stays-{i}") } else { format!("goes-{i}") };
    let keys = insert(&app.db, (0..most).map(name)).await;
    let mut doomed: Vec<i64> = keys.into_iter().skip(1).step_by(2).collect();
    // The first, the last and some in between, so that rows disappear before, at and after the client's cursor.
    fastrand::Rng::with_seed(7).shuffle(&mut doomed);

    let (writes, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let churn = {
        let (db, writes, done) = (app.db.clone(), Arc::clone(&writes), Arc::clone(&done));
        tokio::spawn(async move {
            let batch = (most / 40).max(1);
            let mut next = 0;
            while !done.load(Ordering::Relaxed) {
                let going: Vec<_> = doomed.drain(..doomed.len().min(batch / 2)).collect();
                let delete = service::Entity::delete_many().filter(service::Column::Id.is_in(going));
                db.write(async |tx| tx.exec(delete).await).await.expect("services are deleted");
                if next < most {
                    insert(&db, (next..next + batch).map(|i| format!("comes-{i}"))).await;
                    next += batch;
                }
                writes.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
            }
            next
        })
    };

    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let (mut after, mut pages, mut before) = (Value::Null, 0, 0);
    loop {
        // The list changes between any two pages.
        while writes.load(Ordering::Relaxed) == before {
            assert!(!churn.is_finished(), "the writer failed");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        before = writes.load(Ordering::Relaxed);
        let query = "query($after: String) { account { services(first: 100, after: $after) {
            nodes { name } pageInfo { hasNextPage endCursor }
        } } }";
        let page = app.query(query, json!({ "after": after })).await["data"]["account"]["services"].take();
        for node in page["nodes"].as_array().expect("nodes") {
            *seen.entry(node["name"].as_str().expect("a name").to_owned()).or_default() += 1;
        }
        pages += 1;
        if page["pageInfo"]["hasNextPage"] == json!(false) {
            break;
        }
        after = page["pageInfo"]["endCursor"].clone();
    }
    done.store(true, Ordering::Relaxed);
    let came = churn.await.expect("the writer does not fail");
    assert!(came > 0 && pages > most / 250, "{came} came, {pages} pages");
    let twice: Vec<_> = seen.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
    let lost: Vec<_> = (0..most).step_by(2).map(name).filter(|name| !seen.contains_key(name)).collect();
    assert!(lost.is_empty(), "{lost:?}");
}

/// The page of services with these arguments.
async fn page(app: &TestApp, arguments: &str) -> Value {
    let fields =
        "nodes { name } edges { cursor } totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";
    let query = format!("{{ account {{ services{arguments} {{ {fields} }} }} }}");
    data(app, &query).await["account"]["services"].take()
}

#[tokio::test]
async fn first_is_clamped_to_100_and_100_when_it_is_absent_or_null() {
    let app = TestApp::start().await;
    insert(&app.db, (0..130).map(|i| format!("s{i}"))).await;
    for (arguments, length) in [
        ("", 100),
        ("(first: null)", 100),
        ("(first: 99)", 99),
        ("(first: 100)", 100),
        ("(first: 101)", 100),
        ("(first: 500)", 100),
        ("(first: 2147483647)", 100),
    ] {
        let page = page(&app, arguments).await;
        assert_eq!(page["nodes"].as_array().map(Vec::len), Some(length), "{arguments}");
        assert_eq!((&page["pageInfo"]["hasNextPage"], &page["totalCount"]), (&json!(true), &json!(130)), "{arguments}");
    }
}

#[tokio::test]
async fn a_page_of_0_is_empty_and_says_that_there_is_no_next_page() {
    let app = TestApp::start().await;
    let empty = |count: i32| {
        json!({
            "nodes": [], "edges": [], "totalCount": count,
            "pageInfo": { "hasNextPage": false, "hasPreviousPage": false, "startCursor": null, "endCursor": null },
        })
    };
    assert_eq!(page(&app, "(first: 0)").await, empty(0));
    assert_eq!(page(&app, "").await, empty(0));
    insert(&app.db, (0..2).map(|i| format!("s{i}"))).await;
    assert_eq!(page(&app, "(first: 0)").await, empty(2));
    let first = page(&app, "(first: 1)").await;
    let after = first["pageInfo"]["endCursor"].as_str().expect("a cursor");
    let rest = page(&app, &format!("(first: 0, after: \"{after}\")")).await;
    assert_eq!(rest["pageInfo"]["hasNextPage"], false);
}

#[tokio::test]
async fn a_first_that_is_negative_or_not_an_int_is_an_error() {
    let app = TestApp::start().await;
    let query = "query($first: Int) { account { services(first: $first) { nodes { name } } } }";
    for first in [-1, -100, i32::MIN] {
        let answer = app.query(query, json!({ "first": first })).await;
        assert_eq!(answer["errors"][0]["message"], "first must not be negative", "{first}");
        assert_eq!(answer["errors"][0]["path"], json!(["account", "services"]), "{first}");
    }
    for first in [json!(2_147_483_648_u64), json!(1.5), json!("1")] {
        let answer = app.query(query, json!({ "first": first })).await;
        assert_eq!(answer["errors"][0]["extensions"]["code"], "BAD_USER_INPUT", "{first}");
    }
}

#[tokio::test]
async fn an_empty_after_is_the_same_as_null_and_absent() {
    let app = TestApp::start().await;
    insert(&app.db, (0..3).map(|i| format!("s{i}"))).await;
    let absent = page(&app, "(first: 2)").await;
    for after in ["null", "\"\""] {
        assert_eq!(page(&app, &format!("(first: 2, after: {after})")).await, absent, "{after}");
    }
}

#[tokio::test]
async fn page_info_says_whether_there_are_pages_before_and_after() {
    let app = TestApp::start().await;
    insert(&app.db, (0..5).map(|i| format!("s{i}"))).await;
    let mut after = String::new();
    for (length, more, previous) in [(2, true, false), (2, true, true), (1, false, true)] {
        let page = page(&app, &format!("(first: 2, after: \"{after}\")")).await;
        let edges = page["edges"].as_array().expect("edges");
        assert_eq!(edges.len(), length);
        let expected = json!({
            "hasNextPage": more, "hasPreviousPage": previous,
            "startCursor": edges[0]["cursor"], "endCursor": edges[length - 1]["cursor"],
        });
        assert_eq!((&page["pageInfo"], &page["totalCount"]), (&expected, &json!(5)));
        after = page["pageInfo"]["endCursor"].as_str().expect("a cursor").to_owned();
    }
    // After the last row there is an empty page.
    let page = page(&app, &format!("(first: 2, after: \"{after}\")")).await;
    assert_eq!((&page["nodes"], &page["pageInfo"]["hasNextPage"]), (&json!([]), &json!(false)));
}

#[tokio::test]
async fn cursors_consist_of_letters_digits_and_underscores() {
    let endpoint = Endpoint::start().await;
    endpoint.create_service("cart").await;
    for service in ["shop", "cart"] {
        endpoint.post_with(json!({ "service": service })).await;
    }
    // Ordered by id, and by time and id.
    for list in ["services", "deploys"] {
        let query = format!(
            "{{ account {{ {list}(first: 1) {{ pageInfo {{ hasNextPage endCursor startCursor }} edges {{ cursor }} }} }} }}"
        );
        let body = endpoint.app.post(&query, json!({})).await.body;
        let body = std::str::from_utf8(&body).expect("text");
        assert!(body.contains("\"hasNextPage\":true"), "{body}");
        for name in ["endCursor", "startCursor", "cursor"] {
            let text =
                body.split_once(&format!("\"{name}\":\"")).expect("a cursor").1.split_once('"').expect("its end").0;
            assert!(
                !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
                "{text}"
            );
        }
    }
}

#[tokio::test]
async fn an_invalid_cursor_or_one_of_another_list_is_an_error() {
    let endpoint = Endpoint::start().await;
    endpoint.post_with(json!({})).await;
    let cursors = r#"{ account { services { edges { node { id } cursor } } deploys { edges { cursor } } } }"#;
    let read = data(&endpoint.app, cursors).await["account"].take();
    let cursor = |list: &str| read[list]["edges"][0]["cursor"].as_str().expect("a cursor").to_owned();
    let (by_id, by_moment) = (cursor("services"), cursor("deploys"));
    let id = read["services"]["edges"][0]["node"]["id"].as_str().expect("an id");
    let unreadable = "`after` is not a valid cursor. Use `pageInfo.endCursor` of the previous page.";
    let foreign = "`after` is a cursor of another list or order. Use `pageInfo.endCursor` of the previous page.";
    let ask = async |list: &str, after: &str| {
        let query = format!("query($after: String) {{ account {{ {list}(after: $after) {{ nodes {{ id }} }} }} }}");
        endpoint.app.query(&query, json!({ "after": after })).await
    };
    let damaged =
        [&by_id[1..], &by_id[..by_id.len() - 1], &format!("{by_id}A"), &format!("{by_id}="), &format!(" {by_id}")];
    for after in ["!", "x", "100", "é", id].into_iter().chain(damaged) {
        for list in ["services", "deploys"] {
            let answer = ask(list, after).await;
            assert_eq!(answer["errors"][0]["message"], unreadable, "{list} {after:?}: {answer}");
            assert_eq!(answer["errors"][0]["path"], json!(["account", list]));
            assert_eq!(answer["errors"][0]["extensions"]["code"], "BAD_USER_INPUT");
        }
    }
    for (list, after) in [("services", &by_moment), ("deploys", &by_id)] {
        assert_eq!(ask(list, after).await["errors"][0]["message"], foreign, "{list}");
    }
}

#[tokio::test]
async fn a_cursor_stays_valid_after_its_row_is_deleted() {
    let app = TestApp::start().await;
    let keys = insert(&app.db, (0..4).map(|i| format!("s{i}"))).await;
    let first = page(&app, "(first: 2)").await;
    let delete = service::Entity::delete_many().filter(service::Column::Id.is_in(keys[..2].to_vec()));
    app.db.write(async |tx| tx.exec(delete).await).await.expect("they are deleted");
    let after = first["pageInfo"]["endCursor"].as_str().expect("a cursor");
    let rest = page(&app, &format!("(after: \"{after}\")")).await;
    assert_eq!(rest["nodes"], json!([{ "name": "s2" }, { "name": "s3" }]));
    assert_eq!(rest["totalCount"], 2);
}

#[tokio::test]
async fn rows_that_compare_equal_are_ordered_by_id() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        a: tierCreate(input: { name: "B", index: 7 }) { errors { message } }
        b: tierCreate(input: { name: "A", index: 7 }) { errors { message } }
        c: tierCreate(input: { name: "C", index: 0 }) { errors { message } }
    }"#;
    data(&app, query).await;
    let read = data(&app, "{ account { tiers { name index } } }").await;
    let tiers = read["account"]["tiers"].as_array().expect("tiers");
    let names: Vec<_> = tiers.iter().map(|tier| tier["name"].as_str().expect("a name")).collect();
    assert_eq!(names[names.len() - 2..], ["B", "A"], "{names:?}");
    let ranks: Vec<_> = tiers.iter().map(|tier| tier["index"].as_i64()).collect();
    assert!(ranks.is_sorted(), "{ranks:?}");
}

#[test]
fn every_connection_has_nodes_edges_page_info_and_a_count_and_takes_first_and_after() {
    let schema = schema();
    let mut connections = 0;
    for (name, ty) in &schema.types {
        let Some(this) = ty.as_object() else { continue };
        if name.ends_with("ConnectionType") {
            connections += 1;
            let of = |field: &str| this.fields[field].ty.to_string();
            let edge = this.fields["edges"].ty.inner_named_type();
            assert_eq!(of("nodes"), format!("[{}!]!", this.fields["nodes"].ty.inner_named_type()), "{name}");
            assert_eq!((of("pageInfo"), of("totalCount")), ("PageInfo!".to_owned(), "Int!".to_owned()), "{name}");
            assert_eq!(object(&schema, edge).fields["cursor"].ty.to_string(), "String!", "{name}");
            assert_eq!(
                object(&schema, edge).fields["node"].ty.inner_named_type(),
                this.fields["nodes"].ty.inner_named_type()
            );
        }
        for field in this.fields.values().filter(|field| field.ty.inner_named_type().ends_with("ConnectionType")) {
            for (argument, ty) in [("first", "Int"), ("after", "String")] {
                let found = field.arguments.iter().find(|one| one.name == argument);
                assert_eq!(found.map(|one| one.ty.to_string()).as_deref(), Some(ty), "{name}.{}", field.name);
            }
        }
    }
    assert!(connections > 10, "{connections}");
}

#[tokio::test]
async fn a_list_is_not_paged_by_offset() {
    let app = TestApp::start().await;
    for arguments in ["offset: 100", "skip: 100", "page: 2"] {
        let response =
            app.post(&format!("{{ account {{ services({arguments}) {{ totalCount }} }} }}"), json!({})).await;
        assert_eq!((response.status, &*response.code()), (200, "GRAPHQL_VALIDATION_FAILED"), "{arguments}");
    }
}
