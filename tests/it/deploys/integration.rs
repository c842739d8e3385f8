//! Integrations: deploy endpoints and custom ones.

use hyper::Method;
use rollcall::db::{self, Read, Write};
use rollcall::entity::audit::ActorKind;
use rollcall::entity::user::Role;
use rollcall::entity::{Timestamp, audit, deploy, integration};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::integration::{custom, deploy_endpoint};
use crate::harness::webhook::{Endpoint, record};

async fn count(app: &TestApp) -> Value {
    app.query("{ account { integrations { totalCount } } }", json!({})).await["data"]["account"]["integrations"].clone()
}

#[tokio::test]
async fn custom_integration_create_answers_the_new_integration() {
    let app = TestApp::start().await;
    let create = r#"mutation {
        customIntegrationCreate(input: { name: "Scanner" }) {
            integration { __typename name type displayName webhookUrl }
            errors { message path }
        }
    }"#;
    let expected = json!({ "data": { "customIntegrationCreate": {
        "integration": {
            "__typename": "CustomIntegration",
            "name": "Scanner",
            "type": "custom",
            "displayName": "Custom: Scanner",
            "webhookUrl": null,
        },
        "errors": [],
    } } });
    assert_eq!(app.query(create, json!({})).await, expected);
}

#[tokio::test]
async fn custom_integration_create_needs_a_name() {
    let app = TestApp::start().await;
    let create = "mutation($input: CustomIntegrationInput!) {
        customIntegrationCreate(input: $input) { integration { id } errors { message path } }
    }";
    for (input, message) in [
        (json!({}), "name is needed to create an integration"),
        (json!({ "name": null }), "name must not be null"),
        (json!({ "name": " " }), "name must not be empty"),
        (json!({ "name": "x".repeat(256) }), "name has 256 characters; at most 255 are allowed"),
    ] {
        let expected = json!({ "data": { "customIntegrationCreate": {
            "integration": null,
            "errors": [{ "message": message, "path": ["name"] }],
        } } });
        assert_eq!(app.query(create, json!({ "input": input })).await, expected, "{input}");
    }
    assert_eq!(count(&app).await, json!({ "totalCount": 0 }));
}

#[tokio::test]
async fn custom_integration_update_changes_the_name_when_one_is_given() {
    let app = TestApp::start().await;
    let id = custom(&app, "Scanner").await;
    let update = r#"mutation($id: ID!) {
        renamed: customIntegrationUpdate(integration: { id: $id }, input: { name: "Linter" }) { integration { id name } }
        left: customIntegrationUpdate(integration: { id: $id }, input: {}) { integration { id name } }
    }"#;
    let expected = json!({ "data": {
        "renamed": { "integration": { "id": id, "name": "Linter" } },
        "left": { "integration": { "id": id, "name": "Linter" } },
    } });
    assert_eq!(app.query(update, json!({ "id": id })).await, expected);
}

#[tokio::test]
async fn custom_integration_update_refuses_what_is_no_custom_integration() {
    let app = TestApp::start().await;
    let (deploy, _) = deploy_endpoint(&app, "CI").await;
    let update = "mutation($integration: IdentifierInput!) {
        customIntegrationUpdate(integration: $integration, input: { name: \"x\" }) {
            integration { id }
            errors { message path }
        }
    }";
    for (integration, message, path) in [
        (json!({ "id": deploy }), "this is an integration of type deploy, not custom", json!(["integration", "id"])),
        (
            json!({ "id": "Z2lkOi8vcm9sbGNhbGwvSW50ZWdyYXRpb24vOTk" }),
            "an integration with this id does not exist on this account",
            json!(["integration", "id"]),
        ),
        (json!({ "alias": "scanner" }), "integrations have no aliases: give the id", json!(["integration", "alias"])),
        (json!({}), "exactly one of id and alias must be given", json!(["integration"])),
    ] {
        let answer = app.query(update, json!({ "integration": integration })).await;
        let expected = json!({ "data": { "customIntegrationUpdate": {
            "integration": null,
            "errors": [{ "message": message, "path": path }],
        } } });
        assert_eq!(answer, expected, "{integration}");
    }
}

#[tokio::test]
async fn event_integration_create_answers_a_unique_webhook_url() {
    let app = TestApp::start().await;
    let prefix = format!("http://{}/integrations/deploy/", app.address);
    let mut ids = Vec::new();
    for name in ["one", "two"] {
        let (_, url) = deploy_endpoint(&app, name).await;
        let id = url.strip_prefix(&prefix).expect("an address of this installation").to_owned();
        let lengths: Vec<_> = id.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "{id} is a UUID");
        ids.push(id);
    }
    assert_ne!(ids[0], ids[1]);
}

#[tokio::test]
async fn an_event_integration_without_a_name_is_named_after_its_type() {
    let app = TestApp::start().await;
    let create = "mutation {
        absent: eventIntegrationCreate(input: { type: deploy }) { integration { __typename name type displayName } }
        null: eventIntegrationCreate(input: { type: deploy, name: null }) { integration { name } }
        empty: eventIntegrationCreate(input: { type: deploy, name: \"\" }) { integration { name } errors { path } }
    }";
    let expected = json!({ "data": {
        "absent": { "integration": {
            "__typename": "DeployIntegration", "name": "Deploy", "type": "deploy", "displayName": "Deploy: Deploy",
        } },
        "null": { "integration": { "name": "Deploy" } },
        "empty": { "integration": null, "errors": [{ "path": ["name"] }] },
    } });
    assert_eq!(app.query(create, json!({})).await, expected);
}

#[tokio::test]
async fn event_integration_update_renames_and_keeps_the_webhook_url() {
    let app = TestApp::start().await;
    let (id, url) = deploy_endpoint(&app, "CI").await;
    let update = "mutation($id: ID!) {
        eventIntegrationUpdate(input: { id: $id, name: \"Jenkins\" }) {
            integration { id name webhookUrl }
            errors { message path }
        }
    }";
    let expected = json!({ "data": { "eventIntegrationUpdate": {
        "integration": { "id": id, "name": "Jenkins", "webhookUrl": url },
        "errors": [],
    } } });
    assert_eq!(app.query(update, json!({ "id": id })).await, expected);
}

#[tokio::test]
async fn event_integration_update_refuses_a_custom_integration() {
    let app = TestApp::start().await;
    let id = custom(&app, "Scanner").await;
    let update = "mutation($id: ID!) {
        eventIntegrationUpdate(input: { id: $id, name: \"x\" }) { integration { id } errors { message path } }
    }";
    let expected = json!({ "data": { "eventIntegrationUpdate": {
        "integration": null,
        "errors": [{ "message": "this is an integration of type custom, which receives no events", "path": ["id"] }],
    } } });
    assert_eq!(app.query(update, json!({ "id": id })).await, expected);
}

const ROTATE: &str = "mutation($id: ID!) {
    eventIntegrationUrlRotate(input: { id: $id }) { integration { id name webhookUrl } errors { message path } }
}";

#[tokio::test]
async fn a_rotated_webhook_url_ends_the_old_one_and_keeps_everything_else() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    assert_eq!(endpoint.post_with(json!({})).await.status, 202);
    let rotated = app.query(ROTATE, json!({ "id": endpoint.id })).await["data"]["eventIntegrationUrlRotate"].clone();
    assert_eq!(rotated["errors"], json!([]), "{rotated}");
    assert_eq!((&rotated["integration"]["id"], &rotated["integration"]["name"]), (&json!(endpoint.id), &json!("CI")));
    let url = rotated["integration"]["webhookUrl"].as_str().expect("a URL").to_owned();
    let path = url.split_once(&app.address.to_string()).expect("our address").1.to_owned();
    assert!(path.starts_with("/integrations/deploy/") && path != endpoint.path, "{path}");

    assert_eq!(endpoint.post_with(json!({ "deploy_number": "2" })).await.status, 404, "at the old one");
    let headers = [("content-type", "application/json")];
    let body = record(json!({ "deploy_number": "3" })).to_string();
    assert_eq!(app.request(Method::POST, &path, &headers, body).await.status, 202);
    let deploys = endpoint.deploys("deployNumber").await;
    assert!(deploys.to_string().contains("\"3\"") && !deploys.to_string().contains("\"2\""), "{deploys}");

    // Everybody who reads the audit learns of it, and nobody learns a URL.
    let newest = audit::Entity::find().filter(audit::Column::Action.eq("eventIntegrationUrlRotate"));
    let entries = app.db.read().all(newest).await.expect("the audit");
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!(entries[0].subject_class.as_deref(), Some("Integration"));
    assert!(
        entries[0].subject_name.as_deref() == Some("CI") && entries[0].actor_kind == ActorKind::Token,
        "{entries:?}"
    );
    let secrets = [&path, &endpoint.path].map(|path| path.rsplit_once('/').expect("an id").1.to_owned());
    let told = format!("{entries:?}");
    assert!(secrets.iter().all(|secret| !told.contains(secret)), "{told}");

    let second = app.query(ROTATE, json!({ "id": endpoint.id })).await;
    let second = second["data"]["eventIntegrationUrlRotate"]["integration"]["webhookUrl"].clone();
    assert!(second.is_string() && second != json!(url), "{second}");
}

#[tokio::test]
async fn only_an_integration_with_a_webhook_gets_a_new_url() {
    let app = TestApp::start().await;
    let id = custom(&app, "Scanner").await;
    let expected = json!({ "data": { "eventIntegrationUrlRotate": {
        "integration": null,
        "errors": [{ "message": "this is an integration of type custom, which receives no events", "path": ["id"] }],
    } } });
    assert_eq!(app.query(ROTATE, json!({ "id": id })).await, expected);
    let unknown = app.query(ROTATE, json!({ "id": "none" })).await["data"]["eventIntegrationUrlRotate"].clone();
    assert_eq!((&unknown["integration"], &unknown["errors"][0]["path"]), (&json!(null), &json!(["id"])), "{unknown}");

    let (id, url) = deploy_endpoint(&app, "CI").await;
    let read = "query($id: ID!) { account { integration(id: $id) { webhookUrl } } }";
    for role in [Role::Viewer, Role::TeamMember] {
        let refused = Browser::of(&app, role).await.query(ROTATE, json!({ "id": id })).await;
        assert!(refused["data"]["eventIntegrationUrlRotate"]["integration"].is_null(), "{role:?}: {refused}");
    }
    let now = app.query(read, json!({ "id": id })).await["data"]["account"]["integration"]["webhookUrl"].clone();
    assert_eq!(now, json!(url), "nobody who was refused has changed it");
}

#[tokio::test]
async fn integrations_of_one_type_are_a_list_of_their_own() {
    let app = TestApp::start().await;
    custom(&app, "Scanner").await;
    deploy_endpoint(&app, "CI").await;
    custom(&app, "Linter").await;
    let query = "{ account {
        all: integrations { nodes { name } totalCount }
        custom: integrations(type: custom) { nodes { name } totalCount }
        deploy: integrations(type: deploy) { edges { node { name } } totalCount }
        any: integrations(type: null, first: 1) { nodes { name } pageInfo { hasNextPage } }
    } }";
    let expected = json!({ "data": { "account": {
        "all": { "nodes": [{ "name": "Scanner" }, { "name": "CI" }, { "name": "Linter" }], "totalCount": 3 },
        "custom": { "nodes": [{ "name": "Scanner" }, { "name": "Linter" }], "totalCount": 2 },
        "deploy": { "edges": [{ "node": { "name": "CI" } }], "totalCount": 1 },
        "any": { "nodes": [{ "name": "Scanner" }], "pageInfo": { "hasNextPage": true } },
    } } });
    assert_eq!(app.query(query, json!({})).await, expected);
}

#[tokio::test]
async fn an_integration_is_found_by_id_and_is_null_when_there_is_none() {
    let app = TestApp::start().await;
    let id = custom(&app, "Scanner").await;
    let query = "query($id: ID!) { account {
        found: integration(id: $id) { ... on CustomIntegration { name } }
        none: integration(id: \"nothing\") { name }
    } }";
    let expected = json!({ "data": { "account": { "found": { "name": "Scanner" }, "none": null } } });
    assert_eq!(app.query(query, json!({ "id": id })).await, expected);
}

#[tokio::test]
async fn an_integration_has_the_time_of_its_creation() {
    let app = TestApp::start().await;
    let before = Timestamp::now();
    custom(&app, "Scanner").await;
    let answer = app.query("{ account { integrations { nodes { createdAt } } } }", json!({})).await;
    let created = &answer["data"]["account"]["integrations"]["nodes"][0]["createdAt"];
    let created: Timestamp = created.as_str().expect("a text").parse().expect("a moment");
    assert!((before..=Timestamp::now()).contains(&created), "{created}");
}

const DELETE: &str = "mutation($resource: IdentifierInput!) {
    integrationDelete(resource: $resource) {
        deletedIntegrationId deletedCodeIssueProjectCount deletedCodeIssueCount keptDeployCount
        errors { message path }
    }
}";

#[tokio::test]
async fn integration_delete_takes_projects_and_issues_with_it_and_counts_them() {
    let app = TestApp::start().await;
    let (id, other) = (custom(&app, "Scanner").await, custom(&app, "Linter").await);
    for (integration, project, issues) in [(&id, "a", 2), (&id, "b", 1), (&other, "c", 1)] {
        let upsert = "mutation($identifier: CodeIssueProjectIdentifierInput!) {
            codeIssueProjectUpsert(input: { identifier: $identifier, name: \"p\" }) { errors { message } }
        }";
        let identifier = json!({ "integration": { "id": integration }, "externalId": project });
        app.query(upsert, json!({ "identifier": identifier })).await;
        for issue in 0..issues {
            let upsert = "mutation($identifier: CodeIssueIdentifierInput!) {
                codeIssueUpsert(input: { identifier: $identifier, name: \"i\", issueCategory: \"c\" }) { errors { message } }
            }";
            let identifier = json!({ "codeIssueProject": identifier, "externalId": issue.to_string() });
            app.query(upsert, json!({ "identifier": identifier })).await;
        }
    }
    let expected = json!({ "data": { "integrationDelete": {
        "deletedIntegrationId": id,
        "deletedCodeIssueProjectCount": 2,
        "deletedCodeIssueCount": 3,
        "keptDeployCount": 0,
        "errors": [],
    } } });
    assert_eq!(app.query(DELETE, json!({ "resource": { "id": id } })).await, expected);
    let query = "{ account {
        integrations { nodes { name } }
        codeIssueProjects { nodes { externalId codeIssues { totalCount } } totalCount }
    } }";
    let expected = json!({ "data": { "account": {
        "integrations": { "nodes": [{ "name": "Linter" }] },
        "codeIssueProjects": { "nodes": [{ "externalId": "c", "codeIssues": { "totalCount": 1 } }], "totalCount": 1 },
    } } });
    assert_eq!(app.query(query, json!({})).await, expected);
}

#[tokio::test]
async fn integration_delete_keeps_the_deploys_posted_to_it() {
    let app = TestApp::start().await;
    let (id, _) = deploy_endpoint(&app, "CI").await;
    let recorded = app.db.write(async |db| {
        let endpoint = db.one(integration::Entity::find()).await?.expect("the endpoint");
        for number in ["1", "2"] {
            let now = Timestamp::now();
            let row = deploy::ActiveModel {
                integration_id: Set(Some(endpoint.id)),
                service_alias: Set("cart".to_owned()),
                description: Set("a deploy".to_owned()),
                deployed_at: Set(now),
                dedup_id: Set(Some(number.to_owned())),
                deploy_number: Set(number.to_owned()),
                created_at: Set(now),
                ..Default::default()
            };
            db.insert(row).await?;
        }
        Ok::<_, db::Error>(())
    });
    recorded.await.expect("two deploys");
    let expected = json!({ "data": { "integrationDelete": {
        "deletedIntegrationId": id,
        "deletedCodeIssueProjectCount": 0,
        "deletedCodeIssueCount": 0,
        "keptDeployCount": 2,
        "errors": [],
    } } });
    assert_eq!(app.query(DELETE, json!({ "resource": { "id": id } })).await, expected);
    let deploys = app.query("{ account { deploys { totalCount } } }", json!({})).await;
    assert_eq!(deploys, json!({ "data": { "account": { "deploys": { "totalCount": 2 } } } }));
}

#[tokio::test]
async fn a_second_integration_delete_is_an_error() {
    let app = TestApp::start().await;
    let id = custom(&app, "Scanner").await;
    app.query(DELETE, json!({ "resource": { "id": id } })).await;
    let answer = app.query(DELETE, json!({ "resource": { "id": id } })).await;
    let expected = json!({ "data": { "integrationDelete": {
        "deletedIntegrationId": null,
        "deletedCodeIssueProjectCount": null,
        "deletedCodeIssueCount": null,
        "keptDeployCount": null,
        "errors": [{ "message": "an integration with this id does not exist on this account", "path": ["resource", "id"] }],
    } } });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn cloud_integrations_are_recorded_without_their_secrets() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        aws: awsIntegrationCreate(input: {
            name: "Cloud", externalId: "e", iamRole: "arn", ownershipTagKeys: ["owner", "team"], awsTagsOverrideOwnership: true,
            regionOverride: ["eu-west-1"]
        }) { integration { id type name displayName installedAt ... on AwsIntegration {
            iamRole externalId awsTagsOverrideOwnership ownershipTagKeys regionOverride webhookUrl invalidatedAt invalidatedReason
        } } errors { path message } }
        azure: azureResourcesIntegrationCreate(input: {
            clientId: "c", clientSecret: "hush-azure", subscriptionId: "s", tenantId: "t", tagsOverrideOwnership: false
        }) { integration { id type name ... on AzureResourcesIntegration {
            subscriptionId tenantId tagsOverrideOwnership ownershipTagKeys aliases
        } } errors { path message } }
        google: googleCloudIntegrationCreate(input: { clientEmail: "x@example.com", privateKey: "hush-google" }) {
            integration { id type ... on GoogleCloudIntegration { clientEmail projects { id name url } aliases ownershipTagKeys tagsOverrideOwnership } }
            errors { path message }
        }
        kubernetes: kubernetesIntegrationCreate(input: { extractDefinition: "a: 1", transformDefinition: "b: 2" }) {
            integration { id type ... on KubernetesIntegration { extractDefinition transformDefinition } } errors { path message }
        }
        newRelic: newRelicIntegrationCreate(input: { apiKey: "hush-relic", baseUrl: "https://api.newrelic.com" }) {
            integration { id type ... on NewRelicIntegration { baseUrl accountKey } } errors { path message }
        }
        wrong: newRelicIntegrationCreate(input: { baseUrl: "ftp://x" }) { integration { id } errors { path } }
        many: awsIntegrationCreate(input: { ownershipTagKeys: [""], name: "", regionOverride: [] }) { integration { id } errors { path } }
    }"#;
    let made = data(&app, query).await;
    let aws = &made["aws"]["integration"];
    let expected = json!({
        "id": aws["id"], "type": "aws", "name": "Cloud", "displayName": "AWS: Cloud", "installedAt": aws["installedAt"],
        "iamRole": "arn", "externalId": "e", "awsTagsOverrideOwnership": true, "ownershipTagKeys": ["owner", "team"],
        "regionOverride": ["eu-west-1"], "webhookUrl": null, "invalidatedAt": null, "invalidatedReason": null,
    });
    assert_eq!(*aws, expected);
    let azure = &made["azure"]["integration"];
    let expected = json!({
        "id": azure["id"], "type": "azureResources", "name": "Azure", "subscriptionId": "s", "tenantId": "t",
        "tagsOverrideOwnership": false, "ownershipTagKeys": null, "aliases": null,
    });
    assert_eq!(*azure, expected);
    let expected = json!({
        "id": made["google"]["integration"]["id"], "type": "googleCloud", "clientEmail": "x@example.com", "projects": null, "aliases": null, "ownershipTagKeys": null,
        "tagsOverrideOwnership": null,
    });
    assert_eq!(made["google"]["integration"], expected);
    let expected = json!({ "id": made["kubernetes"]["integration"]["id"], "type": "kubernetes", "extractDefinition": "a: 1", "transformDefinition": "b: 2" });
    assert_eq!(made["kubernetes"]["integration"], expected);
    let expected = json!({ "id": made["newRelic"]["integration"]["id"], "type": "newRelic", "baseUrl": "https://api.newrelic.com", "accountKey": null });
    assert_eq!(made["newRelic"]["integration"], expected);
    assert_eq!(made["wrong"]["errors"], json!([{ "path": ["baseUrl"] }]));
    assert_eq!(made["many"]["errors"], json!([{ "path": ["ownershipTagKeys", "0"] }, { "path": ["name"] }]));

    let update = "mutation($aws: ID!, $azure: ID!, $google: ID!, $kubernetes: ID!, $newRelic: ID!) {
        aws: awsIntegrationUpdate(integration: { id: $aws }, input: { ownershipTagKeys: [], iamRole: null }) {
            integration { name ... on AwsIntegration { iamRole externalId ownershipTagKeys } } errors { path message }
        }
        other: awsIntegrationUpdate(integration: { id: $azure }, input: { ownershipTagKeys: [] }) { integration { id } errors { path message } }
        azure: azureResourcesIntegrationUpdate(integration: { id: $azure }, input: { name: \"Blue\", tenantId: \"u\" }) {
            integration { name ... on AzureResourcesIntegration { tenantId subscriptionId } } errors { path message }
        }
        google: googleCloudIntegrationUpdate(integration: { id: $google }, input: { clientEmail: null, privateKey: \"hush-google\" }) {
            integration { ... on GoogleCloudIntegration { clientEmail } } errors { message }
        }
        kubernetes: kubernetesIntegrationUpdate(integration: { id: $kubernetes }, input: { transformDefinition: \"c: 3\" }) {
            integration { ... on KubernetesIntegration { extractDefinition transformDefinition } } errors { message }
        }
        newRelic: newRelicIntegrationUpdate(resource: { id: $newRelic }, input: { baseUrl: \"https://api.eu.newrelic.com\" }) {
            integration { ... on NewRelicIntegration { baseUrl } } errors { message }
        }
        again: integrationReactivate(integration: { id: $aws }) { integration { installedAt } errors { message } }
    }";
    let id = |name: &str| made[name]["integration"]["id"].clone();
    let ids = json!({
        "aws": id("aws"), "azure": id("azure"), "google": id("google"), "kubernetes": id("kubernetes"), "newRelic": id("newRelic"),
    });
    let answer = app.query(update, ids).await["data"].clone();
    assert_eq!(answer["google"], json!({ "integration": { "clientEmail": null }, "errors": [] }));
    let expected = json!({ "extractDefinition": "a: 1", "transformDefinition": "c: 3" });
    assert_eq!(answer["kubernetes"], json!({ "integration": expected, "errors": [] }));
    let expected = json!({ "baseUrl": "https://api.eu.newrelic.com" });
    assert_eq!(answer["newRelic"], json!({ "integration": expected, "errors": [] }));
    let expected = json!({ "name": "Cloud", "iamRole": null, "externalId": "e", "ownershipTagKeys": [] });
    assert_eq!(answer["aws"], json!({ "integration": expected, "errors": [] }));
    let message = "this is an integration of type azureResources, not aws";
    assert_eq!(answer["other"]["errors"], json!([{ "path": ["integration", "id"], "message": message }]));
    let expected = json!({ "name": "Blue", "tenantId": "u", "subscriptionId": "s" });
    assert_eq!(answer["azure"], json!({ "integration": expected, "errors": [] }));
    assert!(answer["again"]["integration"]["installedAt"].as_str() > aws["installedAt"].as_str(), "{answer}");
    let listed = data(&app, "{ account { integrations(type: aws) { nodes { name type } } } }").await;
    assert_eq!(listed["account"]["integrations"]["nodes"], json!([{ "name": "Cloud", "type": "aws" }]));

    // Neither the rows nor the audit keep a secret.
    let mut export = Vec::new();
    rollcall::transfer::export(&app.db, &mut export).await.expect("an export");
    let entries = app.db.read().all(rollcall::entity::audit::Entity::find()).await.expect("the audit");
    let kept = format!("{} {entries:?}", String::from_utf8_lossy(&export));
    assert!(kept.contains("subscriptionId") && !kept.contains("hush"), "{kept}");
}
