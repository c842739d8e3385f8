//! Code issue projects, as scanners upsert them.

use serde_json::{Value, json};

use crate::harness::app::TestApp;

/// Upserts a project and returns its id.
pub async fn project(app: &TestApp, integration: &str, external_id: &str, name: &str) -> String {
    let payload = upsert(app, identifier(integration, external_id), name).await;
    payload["codeIssueProject"]["id"].as_str().expect("a project").to_owned()
}

/// The identifier of a project.
pub fn identifier(integration: &str, external_id: &str) -> Value {
    json!({ "integration": { "id": integration }, "externalId": external_id })
}

pub async fn upsert(app: &TestApp, identifier: Value, name: &str) -> Value {
    let upsert = "mutation($identifier: CodeIssueProjectIdentifierInput!, $name: String!) {
        codeIssueProjectUpsert(input: { identifier: $identifier, name: $name }) {
            codeIssueProject { id name externalId externalUrl integration { id name } }
            errors { message path }
        }
    }";
    let answer = app.query(upsert, json!({ "identifier": identifier, "name": name })).await;
    answer["data"]["codeIssueProjectUpsert"].clone()
}
