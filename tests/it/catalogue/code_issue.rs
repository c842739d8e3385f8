//! Code issues: upserted one by one, each in its project.

use serde_json::{Value, json};

use crate::harness::app::TestApp;
use crate::harness::code_issues::{identifier, project};
use crate::harness::integration::custom;
use crate::harness::services::{repository, service};

/// The identifier of the issue `external_id` of the project `p1`.
fn issue(integration: &str, external_id: &str) -> Value {
    json!({ "codeIssueProject": identifier(integration, "p1"), "externalId": external_id })
}

/// Upserts an issue and returns the payload.
async fn upsert(app: &TestApp, input: Value) -> Value {
    let upsert = "mutation($input: CodeIssueInput!) {
        codeIssueUpsert(input: $input) {
            codeIssue {
                id name externalId externalUrl issueCategory issueType severity introducedAt
                cves { identifier url } cwes { identifier url } codeIssueProject { name }
            }
            errors { message path }
        }
    }";
    app.query(upsert, json!({ "input": input })).await["data"]["codeIssueUpsert"].clone()
}

/// Creates a service, and a custom integration with the project `p1`. Returns the integration's id.
async fn with_project(app: &TestApp) -> String {
    let integration = custom(app, "Scanner").await;
    project(app, &integration, "p1", "Cart").await;
    integration
}

async fn count(app: &TestApp) -> Value {
    let query = "{ account { codeIssueProjects { nodes { codeIssues { totalCount } } } } }";
    app.query(query, json!({})).await["data"]["account"]["codeIssueProjects"]["nodes"][0]["codeIssues"].clone()
}

#[tokio::test]
async fn code_issue_upsert_creates_an_issue_with_all_its_fields() {
    let app = TestApp::start().await;
    let integration = with_project(&app).await;
    let made = upsert(
        &app,
        json!({
            "identifier": issue(&integration, "1"),
            "name": "Remote code execution",
            "issueCategory": "Vulnerability",
            "issueType": "snyk:vuln",
            "severity": "high",
            "url": "https://scan.example.com/1",
            "introducedAt": "2026-01-02T03:04:05-05:00",
            "cves": [
                { "identifier": "CVE-2021-44228", "url": "https://cve.example.com/44228" },
                { "identifier": "CVE-2021-45046" },
            ],
            "cwes": { "identifier": "CWE-502" },
        }),
    );
    let made = made.await;
    let expected = json!({
        "codeIssue": {
            "id": made["codeIssue"]["id"],
            "name": "Remote code execution",
            "externalId": "1",
            "externalUrl": "https://scan.example.com/1",
            "issueCategory": "Vulnerability",
            "issueType": "snyk:vuln",
            "severity": "high",
            "introducedAt": "2026-01-02T08:04:05Z",
            "cves": [
                { "identifier": "CVE-2021-44228", "url": "https://cve.example.com/44228" },
                { "identifier": "CVE-2021-45046", "url": null },
            ],
            "cwes": [{ "identifier": "CWE-502", "url": null }],
            "codeIssueProject": { "name": "Cart" },
        },
        "errors": [],
    });
    assert_eq!(made, expected);
}

#[tokio::test]
async fn code_issue_upsert_needs_name_and_category_to_create_and_not_to_update() {
    let app = TestApp::start().await;
    let integration = with_project(&app).await;
    let identifier = issue(&integration, "1");
    let expected = json!({ "codeIssue": null, "errors": [
        { "message": "name is needed to create a code issue", "path": ["name"] },
        { "message": "issueCategory is needed to create a code issue", "path": ["issueCategory"] },
    ] });
    assert_eq!(upsert(&app, json!({ "identifier": identifier, "severity": "low" })).await, expected);
    let expected = json!({ "codeIssue": null, "errors": [
        { "message": "issueCategory is needed to create a code issue", "path": ["issueCategory"] },
    ] });
    assert_eq!(upsert(&app, json!({ "identifier": identifier, "name": "n" })).await, expected);
    assert_eq!(count(&app).await, json!({ "totalCount": 0 }));

    upsert(&app, json!({ "identifier": identifier, "name": "n", "issueCategory": "c" })).await;
    let updated = upsert(&app, json!({ "identifier": identifier, "severity": "low" })).await;
    assert_eq!(updated["errors"], json!([]));
    let fields = |field: &str| updated["codeIssue"][field].clone();
    assert_eq!([fields("name"), fields("issueCategory"), fields("severity")], [json!("n"), json!("c"), json!("low")]);
    assert_eq!(count(&app).await, json!({ "totalCount": 1 }));
}

#[tokio::test]
async fn an_issue_without_a_type_has_its_category_as_type() {
    let app = TestApp::start().await;
    let integration = with_project(&app).await;
    let identifier = issue(&integration, "1");
    let of = |answer: Value| answer["codeIssue"]["issueType"].clone();
    let made = json!({ "identifier": identifier, "name": "n", "issueCategory": "Vulnerability" });
    assert_eq!(of(upsert(&app, made).await), json!("Vulnerability"));
    assert_eq!(
        of(upsert(&app, json!({ "identifier": identifier, "issueCategory": "License" })).await),
        json!("License")
    );
    assert_eq!(of(upsert(&app, json!({ "identifier": identifier, "issueType": "gpl" })).await), json!("gpl"));
    assert_eq!(of(upsert(&app, json!({ "identifier": identifier, "severity": "low" })).await), json!("gpl"));
    assert_eq!(of(upsert(&app, json!({ "identifier": identifier, "issueType": null })).await), json!("License"));
}

#[tokio::test]
async fn an_update_keeps_absent_fields_and_clears_null_ones() {
    let app = TestApp::start().await;
    let integration = with_project(&app).await;
    let identifier = issue(&integration, "1");
    let full = json!({
        "identifier": identifier, "name": "n", "issueCategory": "c", "issueType": "t", "severity": "s", "url": "u",
        "introducedAt": "2026-01-02T03:04:05Z", "cves": { "identifier": "CVE-1" }, "cwes": { "identifier": "CWE-1" },
    });
    let made = upsert(&app, full).await;
    // With a name and a category, the statement differs.
    let named = json!({ "identifier": identifier, "name": "n", "issueCategory": "c" });
    assert_eq!(upsert(&app, named).await, made);
    assert_eq!(upsert(&app, json!({ "identifier": identifier })).await, made);

    let null = json!({
        "identifier": identifier, "issueType": null, "severity": null, "url": null, "introducedAt": null,
        "cves": null, "cwes": [],
    });
    let expected = json!({
        "codeIssue": {
            "id": made["codeIssue"]["id"],
            "name": "n",
            "externalId": "1",
            "externalUrl": null,
            "issueCategory": "c",
            "issueType": "c",
            "severity": null,
            "introducedAt": null,
            "cves": [],
            "cwes": [],
            "codeIssueProject": { "name": "Cart" },
        },
        "errors": [],
    });
    assert_eq!(upsert(&app, null).await, expected);
}

#[tokio::test]
async fn cves_and_cwes_are_replaced_as_a_whole() {
    let app = TestApp::start().await;
    let integration = with_project(&app).await;
    let identifier = issue(&integration, "1");
    let first = json!({
        "identifier": identifier, "name": "n", "issueCategory": "c",
        "cves": [{ "identifier": "CVE-1" }, { "identifier": "CVE-2" }], "cwes": [{ "identifier": "CWE-1" }],
    });
    upsert(&app, first).await;
    let second = json!({ "identifier": identifier, "cves": [{ "identifier": "CVE-3" }, { "identifier": "CVE-1" }] });
    let updated = upsert(&app, second).await;
    let cves = json!([{ "identifier": "CVE-3", "url": null }, { "identifier": "CVE-1", "url": null }]);
    assert_eq!(updated["codeIssue"]["cves"], cves);
    assert_eq!(updated["codeIssue"]["cwes"], json!([{ "identifier": "CWE-1", "url": null }]));
}

#[tokio::test]
async fn code_issue_upsert_names_every_field_that_is_wrong() {
    let app = TestApp::start().await;
    let integration = with_project(&app).await;
    let long = "x".repeat(256);
    let unknown = json!({ "codeIssueProject": identifier(&integration, "p2"), "externalId": "" });
    let known = issue(&integration, "1");
    let many: Vec<_> = (0..1001).map(|_| json!({ "identifier": "CVE-1" })).collect();
    for (input, paths) in [
        (
            json!({ "identifier": unknown, "name": "", "issueCategory": null, "issueType": long, "severity": long }),
            json!([
                ["identifier", "codeIssueProject", "externalId"],
                ["identifier", "externalId"],
                ["name"],
                ["issueCategory"],
                ["issueType"],
                ["severity"]
            ]),
        ),
        (json!({ "identifier": known, "name": "n", "issueCategory": "c", "url": "u".repeat(2001) }), json!([["url"]])),
        (json!({ "identifier": known, "name": "n", "issueCategory": "c", "cves": many }), json!([["cves"]])),
        (
            json!({ "identifier": known, "name": "n", "issueCategory": "c",
                "cves": [{ "identifier": "CVE-1" }, { "identifier": "", "url": "u".repeat(2001) }],
                "cwes": [{ "identifier": long }] }),
            json!([["cves", "1", "identifier"], ["cves", "1", "url"], ["cwes", "0", "identifier"]]),
        ),
    ] {
        let payload = upsert(&app, input).await;
        let found: Vec<_> = payload["errors"].as_array().into_iter().flatten().map(|error| &error["path"]).collect();
        assert_eq!((json!(found), &payload["codeIssue"]), (paths, &json!(null)));
    }
    assert_eq!(count(&app).await, json!({ "totalCount": 0 }));
}

#[tokio::test]
async fn one_external_id_names_two_issues_of_two_projects() {
    let app = TestApp::start().await;
    let integration = with_project(&app).await;
    project(&app, &integration, "p2", "Trolley").await;
    let other = json!({ "codeIssueProject": identifier(&integration, "p2"), "externalId": "1" });
    let first =
        upsert(&app, json!({ "identifier": issue(&integration, "1"), "name": "n", "issueCategory": "c" })).await;
    let second = upsert(&app, json!({ "identifier": other, "name": "n", "issueCategory": "c" })).await;
    assert_ne!(first["codeIssue"]["id"], second["codeIssue"]["id"]);
    assert_eq!(second["codeIssue"]["codeIssueProject"], json!({ "name": "Trolley" }));
}

#[tokio::test]
async fn code_issues_are_reached_from_the_service_the_repository_and_the_project() {
    let app = TestApp::start().await;
    service(&app, "Cart").await;
    repository(&app, "Cart").await;
    let integration = with_project(&app).await;
    for (external_id, name) in [("2", "first"), ("1", "second")] {
        let input = json!({ "identifier": issue(&integration, external_id), "name": name, "issueCategory": "c",
            "cves": { "identifier": name } });
        upsert(&app, input).await;
    }
    let query = r#"{ account {
        service(alias: "Cart") { codeIssues { nodes { name cves { identifier } } totalCount } }
        repository(alias: "Cart") { codeIssues(first: 1) { edges { node { name } } pageInfo { hasNextPage } } }
        codeIssueProjects { nodes { codeIssues { nodes { name cves { identifier } } totalCount } } }
    } }"#;
    let all = json!({
        "nodes": [
            { "name": "first", "cves": [{ "identifier": "first" }] },
            { "name": "second", "cves": [{ "identifier": "second" }] },
        ],
        "totalCount": 2,
    });
    let expected = json!({ "data": { "account": {
        "service": { "codeIssues": all },
        "repository": {
            "codeIssues": { "edges": [{ "node": { "name": "first" } }], "pageInfo": { "hasNextPage": true } },
        },
        "codeIssueProjects": { "nodes": [{ "codeIssues": all }] },
    } } });
    assert_eq!(app.query(query, json!({})).await, expected);
}

#[tokio::test]
async fn code_issue_delete_answers_the_id_and_the_external_id() {
    let app = TestApp::start().await;
    let integration = with_project(&app).await;
    let identifier = issue(&integration, "1");
    let made = upsert(&app, json!({ "identifier": identifier, "name": "n", "issueCategory": "c" })).await;
    let delete = "mutation($input: CodeIssueIdentifierInput!) {
        codeIssueDelete(input: $input) { deletedId deletedAlias errors { message path } }
    }";
    let expected = json!({ "data": { "codeIssueDelete": {
        "deletedId": made["codeIssue"]["id"],
        "deletedAlias": "1",
        "errors": [],
    } } });
    assert_eq!(app.query(delete, json!({ "input": identifier })).await, expected);
    assert_eq!(count(&app).await, json!({ "totalCount": 0 }));

    let expected = json!({ "data": { "codeIssueDelete": {
        "deletedId": null,
        "deletedAlias": null,
        "errors": [{ "message": "a code issue of the project with the externalId \"1\" does not exist on this account", "path": ["externalId"] }],
    } } });
    assert_eq!(app.query(delete, json!({ "input": identifier })).await, expected);
}

#[tokio::test]
async fn of_64_clients_that_push_one_issue_every_one_gets_the_same() {
    let app = TestApp::start().await;
    let integration = with_project(&app).await;
    let push = |number: usize| {
        let input = json!({ "identifier": issue(&integration, "1"), "name": "n", "issueCategory": "c",
            "severity": number.to_string(), "cves": [{ "identifier": "CVE-1" }, { "identifier": "CVE-2" }] });
        upsert(&app, input)
    };
    let answers = futures_util::future::join_all((0..64).map(push)).await;
    let id = &answers[0]["codeIssue"]["id"];
    for (number, answer) in answers.iter().enumerate() {
        assert_eq!((&answer["codeIssue"]["id"], &answer["errors"]), (id, &json!([])));
        assert_eq!(answer["codeIssue"]["severity"], json!(number.to_string()));
    }
    assert_eq!(count(&app).await, json!({ "totalCount": 1 }));
    let cves = upsert(&app, json!({ "identifier": issue(&integration, "1") })).await["codeIssue"]["cves"].clone();
    assert_eq!(cves, json!([{ "identifier": "CVE-1", "url": null }, { "identifier": "CVE-2", "url": null }]));
}
