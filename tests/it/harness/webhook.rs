//! A deploy endpoint, and the record that is posted to it.

use hyper::Method;
use serde_json::{Value, json};

use crate::harness::app::{Response, TestApp};
use crate::harness::integration;

/// A service of the catalogue with a deploy endpoint.
pub struct Endpoint {
    pub app: TestApp,
    /// The path to post to.
    pub path: String,
    /// The integration's id.
    pub id: String,
}

impl Endpoint {
    /// A catalogue with one service, `shop`.
    pub async fn start() -> Self {
        Self::with(&[]).await
    }

    /// The same, served with these flags.
    pub async fn with(flags: &[&str]) -> Self {
        let app = TestApp::with(&[&["--token-limit", "0", "--ip-limit", "0"], flags].concat()).await;
        let (id, url) = integration::deploy_endpoint(&app, "CI").await;
        let path = url.split_once(&app.address.to_string()).expect("our address").1.to_owned();
        let endpoint = Self { app, path, id };
        endpoint.create_service("shop").await;
        endpoint
    }

    pub async fn create_service(&self, name: &str) -> String {
        let create = "mutation($name: String!) { serviceCreate(input: { name: $name }) { service { id } } }";
        let made = self.app.query(create, json!({ "name": name })).await;
        made["data"]["serviceCreate"]["service"]["id"].as_str().expect("a service").to_owned()
    }

    pub async fn post(&self, body: impl ToString) -> Response {
        let headers = [("content-type", "application/json")];
        self.app.request(Method::POST, &self.path, &headers, body.to_string()).await
    }

    /// Posts the record, with these attributes added or replaced.
    pub async fn post_with(&self, attributes: Value) -> Response {
        self.post(record(attributes)).await
    }

    /// The fields of all deploys, newest first.
    pub async fn deploys(&self, fields: &str) -> Value {
        let answer =
            self.app.query(&format!("{{ account {{ deploys {{ nodes {{ {fields} }} }} }} }}"), json!({})).await;
        answer["data"]["account"]["deploys"]["nodes"].clone()
    }
}

/// The smallest record, with changes. Null removes an attribute.
pub fn record(attributes: Value) -> Value {
    let mut record = json!({
        "service": "shop",
        "description": "Sell more",
        "deployed_at": "2026-11-21 01:44:00",
        "deployer": { "name": "Ada" },
    });
    for (name, value) in attributes.as_object().expect("an object") {
        record[name] = value.clone();
    }
    record
}
