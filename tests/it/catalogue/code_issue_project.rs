//! Code issue projects and their connections.

use rollcall::entity::user::Role;
use serde_json::{Value, json};

use crate::harness::app::TestApp;
use crate::harness::browser::Browser;
use crate::harness::code_issues::{identifier, project, upsert};
use crate::harness::integration::{custom, deploy_endpoint};
use crate::harness::services::{repository, service};

/// The names of a project's connections, by kind.
async fn resources(app: &TestApp, project: &str) -> Value {
    let query = "query($id: ID!) { account { codeIssueProject(id: $id) {
        resources { nodes { __typename name } totalCount }
    } } }";
    let answer = app.query(query, json!({ "id": project })).await;
    answer["data"]["account"]["codeIssueProject"]["resources"].clone()
}

async fn suggestions(app: &TestApp) -> Value {
    let query =
        "{ account { serviceSuggestions { nodes { kind alias state deployCount codeIssueProject { name } } } } }";
    app.query(query, json!({})).await["data"]["account"]["serviceSuggestions"]["nodes"].clone()
}

async fn connect(app: &TestApp, projects: Value, resource: &str) -> Value {
    let connect = "mutation($input: CodeIssueProjectResourceConnectInput!) {
        codeIssueProjectResourceConnect(input: $input) {
            resource { __typename id name }
            errors { message path }
        }
    }";
    let input = json!({ "codeIssueProjectIds": projects, "resourceId": resource });
    app.query(connect, json!({ "input": input })).await["data"]["codeIssueProjectResourceConnect"].clone()
}

async fn disconnect(app: &TestApp, project: &str, resource: &str) -> Value {
    let disconnect = "mutation($input: CodeIssueProjectResourceDisconnectInput!) {
        codeIssueProjectResourceDisconnect(input: $input) {
            disconnectedCodeIssueProjectResourceId
            codeIssueProject { id name }
            errors { message path }
        }
    }";
    let input = json!({ "codeIssueProjectId": project, "resourceId": resource });
    app.query(disconnect, json!({ "input": input })).await["data"]["codeIssueProjectResourceDisconnect"].clone()
}

#[tokio::test]
async fn code_issue_project_upsert_creates_and_then_updates_the_same_project() {
    let app = TestApp::start().await;
    let integration = custom(&app, "Scanner").await;
    let made = upsert(&app, identifier(&integration, "p1"), "Cart").await;
    let id = &made["codeIssueProject"]["id"];
    let project = |name: &str| {
        json!({
            "codeIssueProject": {
                "id": id,
                "name": name,
                "externalId": "p1",
                "externalUrl": null,
                "integration": { "id": integration, "name": "Scanner" },
            },
            "errors": [],
        })
    };
    assert_eq!(made, project("Cart"));
    assert_eq!(upsert(&app, identifier(&integration, "p1"), "Trolley").await, project("Trolley"));
    let count = app.query("{ account { codeIssueProjects { totalCount } } }", json!({})).await;
    assert_eq!(count, json!({ "data": { "account": { "codeIssueProjects": { "totalCount": 1 } } } }));
}

#[tokio::test]
async fn code_issue_project_upsert_leaves_an_absent_url_and_clears_a_null_one() {
    let app = TestApp::start().await;
    let integration = custom(&app, "Scanner").await;
    let upsert = "mutation($p: CodeIssueProjectIdentifierInput!) {
        set: codeIssueProjectUpsert(input: { identifier: $p, name: \"Cart\", url: \"https://scan.example.com/1\" }) {
            codeIssueProject { externalUrl }
        }
        left: codeIssueProjectUpsert(input: { identifier: $p, name: \"Cart\" }) { codeIssueProject { externalUrl } }
        cleared: codeIssueProjectUpsert(input: { identifier: $p, name: \"Cart\", url: null }) {
            codeIssueProject { externalUrl }
        }
    }";
    let expected = json!({ "data": {
        "set": { "codeIssueProject": { "externalUrl": "https://scan.example.com/1" } },
        "left": { "codeIssueProject": { "externalUrl": "https://scan.example.com/1" } },
        "cleared": { "codeIssueProject": { "externalUrl": null } },
    } });
    assert_eq!(app.query(upsert, json!({ "p": identifier(&integration, "p1") })).await, expected);
}

#[tokio::test]
async fn one_external_id_names_two_projects_of_two_integrations() {
    let app = TestApp::start().await;
    let (scanner, linter) = (custom(&app, "Scanner").await, custom(&app, "Linter").await);
    let first = project(&app, &scanner, "p1", "Cart").await;
    let second = project(&app, &linter, "p1", "Cart").await;
    assert_ne!(first, second);
}

#[tokio::test]
async fn code_issue_project_upsert_names_every_field_that_is_wrong() {
    let app = TestApp::start().await;
    let integration = custom(&app, "Scanner").await;
    let (deploy, _) = deploy_endpoint(&app, "CI").await;
    let upsert = "mutation($input: CodeIssueProjectUpsertInput!) {
        codeIssueProjectUpsert(input: $input) { codeIssueProject { id } errors { path } }
    }";
    let long = "x".repeat(256);
    for (identifier, name, url, paths) in [
        (identifier(&deploy, "p"), "n", "u", json!([["identifier", "integration", "id"]])),
        (identifier("x", "p"), "n", "u", json!([["identifier", "integration", "id"]])),
        (
            json!({ "integration": { "alias": "x" }, "externalId": "p" }),
            "n",
            "u",
            json!([["identifier", "integration", "alias"]]),
        ),
        (identifier(&integration, ""), "n", "u", json!([["identifier", "externalId"]])),
        (
            identifier("x", &long),
            &long,
            &*"u".repeat(2001),
            json!([["identifier", "integration", "id"], ["identifier", "externalId"], ["name"], ["url"]]),
        ),
        (identifier(&integration, "p"), "", "u", json!([["name"]])),
    ] {
        let input = json!({ "identifier": identifier, "name": name, "url": url });
        let errors = paths.as_array().into_iter().flatten().map(|path| json!({ "path": path })).collect::<Vec<_>>();
        let expected = json!({ "data": { "codeIssueProjectUpsert": { "codeIssueProject": null, "errors": errors } } });
        assert_eq!(app.query(upsert, json!({ "input": input })).await, expected, "{input}");
    }
    let count = app.query("{ account { codeIssueProjects { totalCount } } }", json!({})).await;
    assert_eq!(count, json!({ "data": { "account": { "codeIssueProjects": { "totalCount": 0 } } } }));
}

#[tokio::test]
async fn a_project_is_connected_at_once_to_the_service_or_repository_with_its_name() {
    let app = TestApp::start().await;
    service(&app, "Cart").await;
    repository(&app, "Cart").await;
    service(&app, "cart").await;
    service(&app, "Cart 2").await;
    let integration = custom(&app, "Scanner").await;
    let id = project(&app, &integration, "p1", "Cart").await;
    let expected = json!({
        "nodes": [{ "__typename": "Service", "name": "Cart" }, { "__typename": "Repository", "name": "Cart" }],
        "totalCount": 2,
    });
    assert_eq!(resources(&app, &id).await, expected);
    assert_eq!(suggestions(&app).await, json!([]));
}

#[tokio::test]
async fn a_project_that_matches_nothing_becomes_a_suggestion() {
    let app = TestApp::start().await;
    let integration = custom(&app, "Scanner").await;
    let id = project(&app, &integration, "p1", "Cart").await;
    project(&app, &integration, "p1", "Trolley").await;
    assert_eq!(resources(&app, &id).await, json!({ "nodes": [], "totalCount": 0 }));
    let expected = json!([{
        "kind": "code_issue_project",
        "alias": "Trolley",
        "state": "open",
        "deployCount": 0,
        "codeIssueProject": { "name": "Trolley" },
    }]);
    assert_eq!(suggestions(&app).await, expected);
}

#[tokio::test]
async fn a_project_that_is_pushed_again_finds_the_service_that_was_created_since() {
    let app = TestApp::start().await;
    let integration = custom(&app, "Scanner").await;
    let id = project(&app, &integration, "p1", "Cart").await;
    service(&app, "Cart").await;
    project(&app, &integration, "p1", "Cart").await;
    let expected = json!({ "nodes": [{ "__typename": "Service", "name": "Cart" }], "totalCount": 1 });
    assert_eq!(resources(&app, &id).await, expected);
    assert_eq!(suggestions(&app).await, json!([]));
}

#[tokio::test]
async fn a_renamed_project_is_connected_to_the_service_or_repository_with_its_new_name() {
    let app = TestApp::start().await;
    service(&app, "Cart").await;
    service(&app, "Trolley").await;
    let integration = custom(&app, "Scanner").await;
    let id = project(&app, &integration, "p1", "Cart").await;
    project(&app, &integration, "p1", "Trolley").await;
    let expected = json!({
        "nodes": [{ "__typename": "Service", "name": "Cart" }, { "__typename": "Service", "name": "Trolley" }],
        "totalCount": 2,
    });
    assert_eq!(resources(&app, &id).await, expected);
}

#[tokio::test]
async fn a_deleted_connection_by_name_is_not_created_again_by_the_next_push() {
    let app = TestApp::start().await;
    let cart = service(&app, "Cart").await;
    let integration = custom(&app, "Scanner").await;
    let id = project(&app, &integration, "p1", "Cart").await;
    disconnect(&app, &id, &cart).await;
    project(&app, &integration, "p1", "Cart").await;
    assert_eq!(resources(&app, &id).await, json!({ "nodes": [], "totalCount": 0 }));
}

#[tokio::test]
async fn a_project_whose_service_was_deleted_is_suggested_by_the_next_push() {
    let app = TestApp::start().await;
    service(&app, "Cart").await;
    let integration = custom(&app, "Scanner").await;
    project(&app, &integration, "p1", "Cart").await;
    app.query("mutation { serviceDelete(input: { alias: \"cart\" }) { errors { message } } }", json!({})).await;
    assert_eq!(suggestions(&app).await, json!([]));
    project(&app, &integration, "p1", "Cart").await;
    let expected = json!([{
        "kind": "code_issue_project",
        "alias": "Cart",
        "state": "open",
        "deployCount": 0,
        "codeIssueProject": { "name": "Cart" },
    }]);
    assert_eq!(suggestions(&app).await, expected);
}

#[tokio::test]
async fn code_issue_project_resource_connect_takes_one_project_for_a_list_of_one() {
    let app = TestApp::start().await;
    let integration = custom(&app, "Scanner").await;
    let id = project(&app, &integration, "p1", "scan of cart").await;
    let cart = service(&app, "Cart").await;
    let expected = json!({ "resource": { "__typename": "Service", "id": cart, "name": "Cart" }, "errors": [] });
    assert_eq!(connect(&app, json!(id), &cart).await, expected);
    assert_eq!(connect(&app, json!(id), &cart).await, expected, "what is connected stays so");
    let nodes = json!({ "nodes": [{ "__typename": "Service", "name": "Cart" }], "totalCount": 1 });
    assert_eq!(resources(&app, &id).await, nodes);
    assert_eq!(suggestions(&app).await, json!([]), "what is connected lacks nothing");
}

#[tokio::test]
async fn connected_projects_are_reached_from_the_service_and_from_the_repository() {
    let app = TestApp::start().await;
    let integration = custom(&app, "Scanner").await;
    let ids = [project(&app, &integration, "p1", "one").await, project(&app, &integration, "p2", "two").await];
    let (cart, tools) = (service(&app, "Cart").await, repository(&app, "tools").await);
    connect(&app, json!(ids), &cart).await;
    connect(&app, json!(ids[1]), &tools).await;
    let query = r#"{ account {
        service(alias: "cart") { codeIssueProjects { nodes { name } totalCount } }
        repository(alias: "tools") { codeIssueProjects { nodes { name } totalCount } }
    } }"#;
    let expected = json!({ "data": { "account": {
        "service": { "codeIssueProjects": { "nodes": [{ "name": "one" }, { "name": "two" }], "totalCount": 2 } },
        "repository": { "codeIssueProjects": { "nodes": [{ "name": "two" }], "totalCount": 1 } },
    } } });
    assert_eq!(app.query(query, json!({})).await, expected);
}

#[tokio::test]
async fn one_unknown_project_refuses_them_all() {
    let app = TestApp::start().await;
    let integration = custom(&app, "Scanner").await;
    let id = project(&app, &integration, "p1", "one").await;
    let cart = service(&app, "Cart").await;
    let message =
        format!("{cart}: a code issue project with this id does not exist on this account: it is the id of a Service");
    let expected = json!({ "resource": null, "errors": [{ "message": message, "path": ["codeIssueProjectIds"] }] });
    assert_eq!(connect(&app, json!([id, cart]), &cart).await, expected);
    assert_eq!(resources(&app, &id).await, json!({ "nodes": [], "totalCount": 0 }));
}

#[tokio::test]
async fn code_issue_project_resource_connect_names_every_field_that_is_wrong() {
    let app = TestApp::start().await;
    let integration = custom(&app, "Scanner").await;
    let resource =
        "a service or repository with this id does not exist on this account: it is the id of an Integration";
    let expected = json!({ "resource": null, "errors": [
        { "message": "codeIssueProjectIds must name at least one project", "path": ["codeIssueProjectIds"] },
        { "message": resource, "path": ["resourceId"] },
    ] });
    assert_eq!(connect(&app, json!([]), &integration).await, expected);
}

#[tokio::test]
async fn code_issue_project_resource_disconnect_ends_one_connection() {
    let app = TestApp::start().await;
    let integration = custom(&app, "Scanner").await;
    let id = project(&app, &integration, "p1", "one").await;
    let (cart, tools) = (service(&app, "Cart").await, repository(&app, "tools").await);
    connect(&app, json!(id), &cart).await;
    connect(&app, json!(id), &tools).await;
    let expected = json!({
        "disconnectedCodeIssueProjectResourceId": tools,
        "codeIssueProject": { "id": id, "name": "one" },
        "errors": [],
    });
    assert_eq!(disconnect(&app, &id, &tools).await, expected);
    let nodes = json!({ "nodes": [{ "__typename": "Service", "name": "Cart" }], "totalCount": 1 });
    assert_eq!(resources(&app, &id).await, nodes);
}

#[tokio::test]
async fn deleting_an_unknown_connection_is_an_error() {
    let app = TestApp::start().await;
    let integration = custom(&app, "Scanner").await;
    let id = project(&app, &integration, "p1", "one").await;
    let cart = service(&app, "Cart").await;
    let expected = json!({
        "disconnectedCodeIssueProjectResourceId": null,
        "codeIssueProject": null,
        "errors": [{
            "message": "a connection between the code issue project and this service or repository does not exist on this account",
            "path": ["resourceId"],
        }],
    });
    assert_eq!(disconnect(&app, &id, &cart).await, expected);
}

#[tokio::test]
async fn code_issue_project_delete_takes_its_issues_with_it() {
    let app = TestApp::start().await;
    let integration = custom(&app, "Scanner").await;
    let id = project(&app, &integration, "p1", "Cart").await;
    let delete = "mutation($input: CodeIssueProjectIdentifierInput!) {
        codeIssueProjectDelete(input: $input) { deletedId deletedAlias errors { message path } }
    }";
    let input = identifier(&integration, "p1");
    let expected =
        json!({ "data": { "codeIssueProjectDelete": { "deletedId": id, "deletedAlias": "p1", "errors": [] } } });
    assert_eq!(app.query(delete, json!({ "input": input })).await, expected);
    assert_eq!(suggestions(&app).await, json!([]));

    let message = "a code issue project of the integration with the externalId \"p1\" does not exist on this account";
    let expected = json!({ "data": { "codeIssueProjectDelete": {
        "deletedId": null,
        "deletedAlias": null,
        "errors": [{ "message": message, "path": ["externalId"] }],
    } } });
    assert_eq!(app.query(delete, json!({ "input": input })).await, expected);
}

#[tokio::test]
async fn a_code_issue_project_is_found_by_id_or_identifier_and_is_null_when_there_is_none() {
    let app = TestApp::start().await;
    let integration = custom(&app, "Scanner").await;
    let id = project(&app, &integration, "p1", "Cart").await;
    let query =
        "query($id: ID!, $known: CodeIssueProjectIdentifierInput!, $unknown: CodeIssueProjectIdentifierInput!) {
        account {
            by_id: codeIssueProject(id: $id) { name }
            by_identifier: codeIssueProject(identifier: $known) { name }
            malformed: codeIssueProject(id: \"x\") { name }
            unknown: codeIssueProject(identifier: $unknown) { name }
        }
    }";
    let variables =
        json!({ "id": id, "known": identifier(&integration, "p1"), "unknown": identifier(&integration, "p2") });
    let expected = json!({ "data": { "account": {
        "by_id": { "name": "Cart" },
        "by_identifier": { "name": "Cart" },
        "malformed": null,
        "unknown": null,
    } } });
    assert_eq!(app.query(query, variables).await, expected);
}

#[tokio::test]
async fn a_query_for_a_code_issue_project_needs_exactly_one_of_id_and_identifier() {
    let app = TestApp::start().await;
    let answer = app.query("{ account { codeIssueProject { name } } }", json!({})).await;
    assert_eq!(answer["data"], json!({ "account": { "codeIssueProject": null } }));
    assert_eq!(answer["errors"][0]["message"], json!("exactly one of id and identifier must be given"));
    assert_eq!(answer["errors"][0]["extensions"]["code"], json!("BAD_USER_INPUT"));
}

#[tokio::test]
async fn resources_of_a_project_are_paged_in_order_of_connection() {
    let app = TestApp::start().await;
    let integration = custom(&app, "Scanner").await;
    let id = project(&app, &integration, "p1", "one").await;
    let cart = service(&app, "Cart").await;
    for resource in [repository(&app, "tools").await, cart, repository(&app, "docs").await] {
        connect(&app, json!(id), &resource).await;
    }
    let query = "query($id: ID!, $after: String) { account { codeIssueProject(id: $id) {
        resources(first: 2, after: $after) { edges { node { name } } pageInfo { hasNextPage endCursor } }
    } } }";
    let first = app.query(query, json!({ "id": id })).await;
    let first = &first["data"]["account"]["codeIssueProject"]["resources"];
    assert_eq!(first["edges"], json!([{ "node": { "name": "tools" } }, { "node": { "name": "Cart" } }]));
    let second = app.query(query, json!({ "id": id, "after": first["pageInfo"]["endCursor"] })).await;
    let second = &second["data"]["account"]["codeIssueProject"]["resources"];
    assert_eq!(second["edges"], json!([{ "node": { "name": "docs" } }]));
    assert_eq!(second["pageInfo"]["hasNextPage"], json!(false));
}

#[tokio::test]
async fn of_64_clients_that_push_one_project_every_one_gets_the_same() {
    let app = TestApp::start().await;
    service(&app, "Cart").await;
    let integration = custom(&app, "Scanner").await;
    let answers =
        futures_util::future::join_all((0..64).map(|_| upsert(&app, identifier(&integration, "p1"), "Cart"))).await;
    let id = &answers[0]["codeIssueProject"]["id"];
    for answer in &answers {
        assert_eq!((&answer["codeIssueProject"]["id"], &answer["errors"]), (id, &json!([])));
    }
    let expected = json!({ "nodes": [{ "__typename": "Service", "name": "Cart" }], "totalCount": 1 });
    assert_eq!(resources(&app, id.as_str().expect("an id")).await, expected);
}

#[tokio::test]
async fn the_page_of_an_integration_shows_a_few_connections_of_each_project() {
    let app = TestApp::start().await;
    let integration = custom(&app, "Scanner").await;
    let many = project(&app, &integration, "1", "Many").await;
    let one = project(&app, &integration, "2", "One").await;
    for n in 0..12 {
        let service = service(&app, &format!("Numbered {n:02}")).await;
        connect(&app, json!([many]), &service).await;
    }
    connect(&app, json!([one]), &service(&app, "Alone").await).await;
    let page = Browser::of(&app, Role::Viewer).await.page(&format!("/integrations/{integration}")).await;
    let shown = |name: &str| page.matches(&format!(">{name}<")).count();
    assert_eq!((shown("Numbered 00"), shown("Numbered 09"), shown("Numbered 10"), shown("Numbered 11")), (1, 1, 0, 0));
    assert_eq!((shown("and others"), shown("Alone")), (1, 1), "{page}");
}
