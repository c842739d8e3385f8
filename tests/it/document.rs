//! API documents, as pipelines post them.

use hyper::Method;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::service::data;

/// An endpoint for documents: its id, and the path that they are posted to.
async fn endpoint(app: &TestApp) -> (Value, String) {
    let query = r#"mutation {
        serviceCreate(input: { name: "Cart" }) { errors { message } }
        eventIntegrationCreate(input: { type: apiDoc }) { integration { id name type webhookUrl } errors { message } }
    }"#;
    let made = data(app, query).await["eventIntegrationCreate"]["integration"].clone();
    assert_eq!((&made["name"], &made["type"]), (&json!("API documents"), &json!("apiDoc")));
    let url = made["webhookUrl"].as_str().expect("an address");
    (made["id"].clone(), url[url.find("/integrations/").expect("a path")..].to_owned())
}

const DOCUMENTS: &str = "{ account { service(alias: \"cart\") {
    preferredApiDocument { title }
    documents { totalCount nodes { id title format content htmlUrl source { ... on ApiDocIntegration { name } } service { name } } }
} } }";

#[tokio::test]
async fn a_document_is_posted_replaced_and_deleted() {
    let app = TestApp::start().await;
    let (integration, path) = endpoint(&app).await;
    let openapi = "openapi: 3.1.0\ninfo:\n  title: Cart API\n  version: '1'\npaths: {}\n";
    let posted = app.request(Method::POST, &format!("{path}/cart"), &[("content-type", "text/yaml")], openapi).await;
    assert_eq!((posted.status, posted.json()), (202, json!({ "result": "created" })));
    let service = data(&app, DOCUMENTS).await["account"]["service"].clone();
    let document = &service["documents"]["nodes"][0];
    let expected = json!({
        "id": document["id"], "title": "Cart API", "format": "openapi", "content": openapi, "htmlUrl": document["htmlUrl"],
        "source": { "name": "API documents" }, "service": { "name": "Cart" },
    });
    assert_eq!(service["documents"], json!({ "totalCount": 1, "nodes": [expected] }));
    assert_eq!(service["preferredApiDocument"], json!({ "title": "Cart API" }));

    let markdown = "# How to *use* it\n\n<script>alert(1)</script>\n";
    let posted = app.request(Method::POST, &format!("{path}/cart"), &[], markdown).await;
    assert_eq!(posted.json(), json!({ "result": "replaced" }));
    let service = data(&app, DOCUMENTS).await["account"]["service"].clone();
    let replaced = &service["documents"]["nodes"][0];
    assert_eq!((&replaced["id"], &replaced["format"]), (&document["id"], &json!("markdown")));
    assert_eq!(replaced["title"], "How to *use* it");

    let query = "query($term: String) { account { documents(searchTerm: $term) { totalCount } } }";
    for (term, count) in [("HOW", 1), ("", 1), ("none", 0), ("%", 0)] {
        let answer = app.query(query, json!({ "term": term })).await;
        assert_eq!(answer["data"]["account"]["documents"]["totalCount"], count, "{term}");
    }
    let pulled =
        "mutation { serviceApiDocSettingsUpdate(service: { alias: \"cart\" }, preferredApiDocumentSource: PULL) {
        service { preferredApiDocument { id } } errors { message }
    } }";
    let answer = data(&app, pulled).await;
    assert_eq!(answer["serviceApiDocSettingsUpdate"]["service"]["preferredApiDocument"], Value::Null);

    let delete = "mutation($id: ID!) { serviceDocumentDelete(input: { id: $id }) { deletedId errors { message } } }";
    let answer = app.query(delete, json!({ "id": document["id"] })).await;
    assert_eq!(answer["data"]["serviceDocumentDelete"], json!({ "deletedId": document["id"], "errors": [] }));
    let gone =
        app.query("query($id: ID) { account { document(id: $id) { id } } }", json!({ "id": document["id"] })).await;
    assert_eq!(gone["data"]["account"]["document"], Value::Null);

    // Deleting an integration deletes its documents.
    app.request(Method::POST, &format!("{path}/cart"), &[], markdown).await;
    let delete = "mutation($id: ID!) { integrationDelete(resource: { id: $id }) { errors { message } } }";
    app.query(delete, json!({ "id": integration })).await;
    assert_eq!(data(&app, DOCUMENTS).await["account"]["service"]["documents"]["totalCount"], 0);
    assert_eq!(app.request(Method::POST, &format!("{path}/cart"), &[], markdown).await.status, 404);
}

#[tokio::test]
async fn an_invalid_document_or_one_of_an_unknown_service_is_refused() {
    let app = TestApp::start().await;
    let (_, path) = endpoint(&app).await;
    let post = async |path: String, body: Vec<u8>| {
        let answer = app.request(Method::POST, &path, &[], body).await;
        (answer.status, answer.json()["errors"][0]["detail"].clone())
    };
    let (status, detail) = post(format!("{path}/no%20such"), b"# x".to_vec()).await;
    assert_eq!((status, detail), (404, json!("No service has the alias \"no such\".")));
    let (status, detail) = post(format!("{path}/cart"), b" \n".to_vec()).await;
    assert_eq!((status, detail), (400, json!("The body is empty: post the document as it is.")));
    let (status, detail) = post(format!("{path}/cart"), vec![0xff, 0xfe]).await;
    assert_eq!((status, detail), (400, json!("The document is not UTF-8.")));
    let (status, detail) = post(format!("{path}/cart"), b"a\0b".to_vec()).await;
    assert_eq!((status, detail), (400, json!("The document has a NUL character.")));
    let (status, _) = post(format!("{path}/cart"), vec![b'a'; 1_048_577]).await;
    assert_eq!(status, 413);
    for unknown in ["/integrations/document/", "/integrations/document/x", "/integrations/document/x/cart", &path] {
        assert_eq!(post(unknown.to_owned(), b"# x".to_vec()).await.0, 404, "{unknown}");
    }
    // The two kinds of endpoints refuse each other's posts.
    let deploy = path.replace("/document/", "/deploy/");
    let answer = app.request(Method::POST, &deploy, &[("content-type", "application/json")], "{}").await;
    assert_eq!(answer.status, 404);
    assert_eq!(data(&app, DOCUMENTS).await["account"]["service"]["documents"]["totalCount"], 0);
}
