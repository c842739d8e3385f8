//! New integrations.

use serde_json::json;

use crate::harness::app::TestApp;

/// Creates a custom integration and returns its id.
pub async fn custom(app: &TestApp, name: &str) -> String {
    let create = "mutation($name: String) { customIntegrationCreate(input: { name: $name }) { integration { id } } }";
    let answer = app.query(create, json!({ "name": name })).await;
    answer["data"]["customIntegrationCreate"]["integration"]["id"].as_str().expect("a new integration").to_owned()
}

/// Creates a deploy endpoint and returns its id and its webhook's URL.
pub async fn deploy_endpoint(app: &TestApp, name: &str) -> (String, String) {
    let create = "mutation($name: String) {
        eventIntegrationCreate(input: { type: deploy, name: $name }) { integration { id webhookUrl } }
    }";
    let answer = app.query(create, json!({ "name": name })).await;
    let made = &answer["data"]["eventIntegrationCreate"]["integration"];
    let text = |field: &str| made[field].as_str().expect("a text").to_owned();
    (text("id"), text("webhookUrl"))
}
