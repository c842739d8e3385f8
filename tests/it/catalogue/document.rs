//! API documents, as pipelines post them and as they are pulled from URLs.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::Mutex;
use std::thread::JoinHandle;

use hyper::Method;
use migration::{Migrator, MigratorTrait};
use rollcall::api_document::hosts::Hosts;
use rollcall::api_document::pull::{self, Pulled};
use rollcall::db::Read;
use rollcall::db::Write as _;
use rollcall::entity::service_document::Format;
use rollcall::entity::user::Role;
use rollcall::entity::{Timestamp, document_pull, service, service_document, service_document_content};
use rollcall::transfer;
use sea_orm::sea_query::Expr;
use sea_orm::{EntityTrait, Set};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::database::Database;
use crate::harness::deadline::accept;

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
    let (status, _) = post(format!("{path}/cart%00"), b"# x".to_vec()).await;
    assert_eq!(status, 404, "NUL in the alias");
    let (status, detail) = post(format!("{path}/cart"), b" \n".to_vec()).await;
    assert_eq!((status, detail), (400, json!("The body is empty: post the document as it is.")));
    let (status, detail) = post(format!("{path}/cart"), vec![0xff, 0xfe]).await;
    assert_eq!((status, detail), (400, json!("The document is not UTF-8.")));
    let (status, detail) = post(format!("{path}/cart"), b"a\0b".to_vec()).await;
    assert_eq!((status, detail), (400, json!("The document has a NUL character.")));
    let (status, _) = post(format!("{path}/cart"), vec![b'a'; 1_048_577]).await;
    assert_eq!(status, 413);
    let nowhere = "There is no endpoint for API documents at this URL: it was deleted, the URL was copied \
                   incompletely, or it belongs to another database.";
    for unknown in ["/integrations/document/", "/integrations/document/x/cart"] {
        assert_eq!(post(unknown.to_owned(), b"# x".to_vec()).await, (404, json!(nowhere)), "{unknown}");
    }
    // The answer does not tell whether the endpoint exists.
    let incomplete = "The alias of the service is missing: add it to the URL, after a slash.";
    for unnamed in ["/integrations/document/x", &path, &format!("{path}/")] {
        assert_eq!(post(unnamed.to_owned(), b"# x".to_vec()).await, (404, json!(incomplete)), "{unnamed}");
    }
    // The two kinds of endpoints refuse each other's posts.
    let deploy = path.replace("/document/", "/deploy/");
    let answer = app.request(Method::POST, &deploy, &[("content-type", "application/json")], "{}").await;
    assert_eq!(answer.status, 404);
    assert_eq!(data(&app, DOCUMENTS).await["account"]["service"]["documents"]["totalCount"], 0);
}

#[tokio::test]
async fn the_command_line_of_existing_clients_posts_a_document_below_services() {
    let app = TestApp::start().await;
    let (_, path) = endpoint(&app).await;
    let service =
        data(&app, "{ account { service(alias: \"cart\") { id } } }").await["account"]["service"]["id"].clone();
    let alias = "mutation($id: ID!, $alias: String!) {
        aliasCreate(input: { ownerId: $id, alias: $alias }) { errors { message } } }";
    for name in ["org/cart", "k8s:prod/deployment/cart", "services/openapi", "a/openapi"] {
        app.query(alias, json!({ "id": service, "alias": name })).await;
    }
    for (below, expected) in [
        ("services/cart/openapi", "cart"),
        ("services/org/cart/openapi", "org/cart"),
        ("services/org%2Fcart/openapi/", "org/cart"),
        ("services/k8s:prod/deployment/cart/openapi", "k8s:prod/deployment/cart"),
        ("services/services/openapi/openapi", "services/openapi"),
        ("services/a/openapi/openapi", "a/openapi"),
    ] {
        let headers = [("content-type", "application/octet-stream")];
        let document = format!("# {expected}");
        let answer = app.request(Method::POST, &format!("{path}/{below}"), &headers, document).await;
        assert_eq!(answer.status, 202, "{below}: {answer:?}");
        let found = data(&app, DOCUMENTS).await["account"]["service"]["preferredApiDocument"]["title"].clone();
        assert_eq!(found, json!(expected), "{below}");
    }
    // The address of a client's settings may end in a slash.
    let doubled = path.replace("/document/", "//document//");
    let answer = app.request(Method::POST, &format!("{doubled}/services/cart/openapi"), &[], "# x").await;
    assert_eq!(answer.status, 202);
    let answer = app.request(Method::POST, &format!("{path}/services/none/openapi"), &[], "# x").await;
    let detail = "No service has the alias \"none\".";
    assert_eq!((answer.status, &answer.json()["errors"][0]["detail"]), (404, &json!(detail)));
}

/// A server that sends these responses in turn, one per connection, and records the heads of the requests.
struct Site {
    /// Its host, as in `--pull-documents-from`.
    host: String,
    listener: TcpListener,
}

impl Site {
    fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        Self { host: listener.local_addr().expect("an address").to_string(), listener }
    }

    /// The hosts that documents may be pulled from: this one.
    fn hosts(&self) -> Hosts {
        Hosts::from(vec![self.host.parse().expect("a host")])
    }

    /// Sends these responses, and returns the heads of the requests in lower case once all are sent.
    fn answer<const N: usize>(&self, answers: [String; N]) -> JoinHandle<Vec<String>> {
        let listener = self.listener.try_clone().expect("the same socket");
        let serve = move |answer: String| {
            let (mut stream, mut head) = (BufReader::new(accept(&listener)), String::new());
            while !head.ends_with("\r\n\r\n") {
                stream.read_line(&mut head).expect("a head");
            }
            // The client may hang up before the end of a long response.
            let _ = stream.get_mut().write_all(answer.as_bytes());
            head.to_lowercase()
        };
        std::thread::spawn(move || answers.into_iter().map(serve).collect())
    }
}

fn response(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Connection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// A catalogue with the service `cart` that allows to pull from a site.
async fn pulling(site: &Site) -> TestApp {
    let app = TestApp::with(&["--pull-documents-from", &site.host]).await;
    data(&app, "mutation { serviceCreate(input: { name: \"Cart\" }) { errors { message } } }").await;
    app
}

const SET_URL: &str = "mutation($url: String) {
    serviceApiDocSettingsUpdate(service: { alias: \"cart\" }, apiDocumentUrl: $url) {
        service { apiDocumentUrl apiDocumentPull { pulledAt error } } errors { message path }
    }
}";

async fn set_url(app: &TestApp, url: &str) {
    let answer = app.query(SET_URL, json!({ "url": url })).await;
    assert_eq!(answer["data"]["serviceApiDocSettingsUpdate"]["errors"], json!([]), "{answer}");
}

/// Pulls all documents, also those that are not due yet.
async fn pull(app: &TestApp, hosts: &Hosts) -> Vec<Pulled> {
    let due = document_pull::Entity::update_many().col_expr(document_pull::Column::NextPullAt, Expr::value(0_i64));
    app.db.write(async |db| db.exec(due).await).await.expect("they are due");
    pull_due(app, hosts).await
}

async fn pull_due(app: &TestApp, hosts: &Hosts) -> Vec<Pulled> {
    let results = Mutex::new(Vec::new());
    let note = |pulled| results.lock().expect("no panic").push(pulled);
    pull::pull_due(&app.db, hosts, &note).await.expect("a run");
    results.into_inner().expect("no panic")
}

const PULLED: &str = "{ account { service(alias: \"cart\") {
    apiDocumentUrl apiDocumentPull { pulledAt error nextPullAt }
    preferredApiDocument { content }
    documents { nodes { title format content source { __typename } } }
} } }";

async fn pulled(app: &TestApp) -> Value {
    data(app, PULLED).await["account"]["service"].clone()
}

const YAML: &str = "openapi: 3.1.0\ninfo:\n  title: Cart API\n";

#[tokio::test]
async fn a_document_is_pulled_from_its_url_and_kept_until_it_changes() {
    let site = Site::open();
    let app = pulling(&site).await;
    let url = format!("http://{}/openapi.yml?key=s3cret", site.host);
    set_url(&app, &url).await;
    let served = site.answer([
        response("200 OK", "ETag: \"1\"\r\nContent-Type: text/yaml\r\n", YAML),
        response("304 Not Modified", "ETag: \"1\"\r\n", ""),
        response("500 Internal Server Error", "", "no"),
        response("200 OK", "ETag: \"2\"\r\n", "# The cart\n"),
        response("200 OK", "ETag: \"3\"\r\n", "# The cart\n"),
    ]);
    let hosts = site.hosts();
    assert_eq!(pull_due(&app, &hosts).await, [Pulled::Changed]);
    let first = pulled(&app).await;
    let document = json!({ "title": "Cart API", "format": "openapi", "content": YAML, "source": null });
    assert_eq!(first["documents"]["nodes"], json!([document]));
    assert_eq!((&first["apiDocumentUrl"], &first["apiDocumentPull"]["error"]), (&json!(url), &Value::Null));
    assert_ne!(first["apiDocumentPull"]["pulledAt"], Value::Null);
    assert_eq!(pull_due(&app, &hosts).await, [], "it is due in an hour");
    let browser = Browser::of(&app, Role::User).await;
    let page = browser.page("/services/cart").await;
    assert!(page.contains(&format!("Pulled from {} ", site.host)) && !page.contains("s3cret"), "{page}");
    let shown = data(&app, "{ account { documents { nodes { htmlUrl } } } }").await;
    let shown = shown["account"]["documents"]["nodes"][0]["htmlUrl"].as_str().expect("an address").to_owned();
    let page = browser.page(&shown[shown.find("/documents/").expect("a path")..]).await;
    assert!(page.contains(&format!(", pulled from {} ", site.host)) && !page.contains("s3cret"), "{page}");

    assert_eq!(pull(&app, &hosts).await, [Pulled::Unchanged]);
    assert_eq!(pulled(&app).await["documents"], first["documents"]);
    assert_eq!(pull(&app, &hosts).await, [Pulled::Failed]);
    let failed = pulled(&app).await;
    assert_eq!(failed["documents"], first["documents"], "the document stays");
    assert_eq!(failed["apiDocumentPull"]["error"], format!("{} answers 500", site.host));
    let page = browser.page("/services/cart").await;
    assert!(page.contains("answers 500"), "{page}");
    assert_eq!(pull(&app, &hosts).await, [Pulled::Changed]);
    let changed = pulled(&app).await;
    assert_eq!(changed["preferredApiDocument"]["content"], "# The cart\n");
    assert_eq!(changed["apiDocumentPull"]["error"], Value::Null);
    assert_eq!(pull(&app, &hosts).await, [Pulled::Unchanged], "the same text");

    let heads = served.join().expect("served");
    assert!(heads[0].starts_with("get /openapi.yml?key=s3cret http/1.1\r\n"), "{}", heads[0]);
    let marks: Vec<bool> = heads.iter().map(|head| head.contains("\r\nif-none-match: \"1\"\r\n")).collect();
    assert_eq!(marks, [false, true, true, true, false]);
}

#[tokio::test]
async fn a_url_that_changes_keeps_the_document_and_one_that_is_cleared_deletes_it() {
    let site = Site::open();
    let app = pulling(&site).await;
    let hosts = site.hosts();
    set_url(&app, &format!("http://{}/a", site.host)).await;
    let served = site.answer([response("200 OK", "ETag: \"1\"\r\n", "# One"), response("200 OK", "", "# Two")]);
    assert_eq!(pull_due(&app, &hosts).await, [Pulled::Changed]);
    set_url(&app, &format!("http://{}/b", site.host)).await;
    let between = pulled(&app).await;
    assert_eq!(between["documents"]["nodes"][0]["title"], "One");
    assert_eq!(between["apiDocumentPull"]["pulledAt"], Value::Null);
    assert_eq!(pull_due(&app, &hosts).await, [Pulled::Changed]);
    assert_eq!(pulled(&app).await["documents"]["nodes"][0]["title"], "Two");
    assert!(!served.join().expect("served")[1].contains("if-none-match"));
    let answer = app.query(SET_URL, json!({ "url": null })).await;
    let cleared = &answer["data"]["serviceApiDocSettingsUpdate"]["service"];
    assert_eq!(*cleared, json!({ "apiDocumentUrl": null, "apiDocumentPull": null }));
    assert_eq!(pulled(&app).await["documents"]["nodes"], json!([]));
    assert_eq!(pull(&app, &hosts).await, []);
}

#[tokio::test]
async fn a_service_prefers_posted_or_pulled_documents() {
    let site = Site::open();
    let app = TestApp::with(&["--pull-documents-from", &site.host]).await;
    let (_, path) = endpoint(&app).await;
    set_url(&app, &format!("http://{}/a", site.host)).await;
    let served = site.answer([response("200 OK", "", "# Pulled")]);
    app.request(Method::POST, &format!("{path}/cart"), &[], "# Posted").await;
    assert_eq!(pull_due(&app, &site.hosts()).await, [Pulled::Changed]);
    served.join().expect("served");
    let prefer = "mutation($source: ApiDocumentSourceEnum) {
        serviceApiDocSettingsUpdate(service: { alias: \"cart\" }, preferredApiDocumentSource: $source) {
            service { preferredApiDocument { title } }
        }
    }";
    for (source, title) in [(json!("PUSH"), "Posted"), (json!("PULL"), "Pulled"), (Value::Null, "Pulled")] {
        let answer = app.query(prefer, json!({ "source": source })).await;
        let preferred = &answer["data"]["serviceApiDocSettingsUpdate"]["service"]["preferredApiDocument"];
        assert_eq!(preferred["title"], title, "{source}");
    }
    app.request(Method::POST, &format!("{path}/cart"), &[], "# Posted again").await;
    assert_eq!(data(&app, DOCUMENTS).await["account"]["service"]["preferredApiDocument"]["title"], "Posted again");
}

#[tokio::test]
async fn a_response_that_is_no_document_is_an_error_that_shows_no_secret() {
    let site = Site::open();
    let app = pulling(&site).await;
    let host = &site.host;
    set_url(&app, &format!("http://{host}/s3cret")).await;
    let long = "a".repeat(pull::LONGEST + 1);
    let endless = format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{long}{long}");
    let redirect = "Location: http://169.254.169.254/s3cret\r\n";
    for (answer, error) in [
        (
            response("302 Found", redirect, ""),
            "redirects to another URL; set that URL, because redirects are not followed",
        ),
        (response("401 Unauthorized", "", ""), "answers 401; rollcall can only read documents that need no sign-in"),
        (response("404 Not Found", "", ""), "answers 404"),
        (response("304 Not Modified", "", ""), "answers 304"),
        (
            response("200 OK", "Content-Type: text/html; charset=utf-8\r\n", "<p>Sign in"),
            "answers with a web page; set the URL of the file itself",
        ),
        (response("200 OK", "", &long), "the document is longer than 1 MiB"),
        (endless, "the document is longer than 1 MiB"),
        (response("200 OK", "Content-Encoding: br\r\n", "x"), "answers with Content-Encoding: br"),
        (
            response("200 OK", &format!("X-Long: {}\r\n", "x".repeat(200_000)), "x"),
            "answers with headers that are too long",
        ),
        (response("200 OK", "", " \n"), "the document is empty"),
        (response("200 OK", "", "a\0b"), "the document has a NUL character"),
        (String::new(), "cannot be reached"),
    ] {
        let served = site.answer([answer]);
        assert_eq!(pull(&app, &site.hosts()).await, [Pulled::Failed], "{error}");
        served.join().expect("served");
        let after = pulled(&app).await;
        let said = after["apiDocumentPull"]["error"].as_str().expect("an error").to_owned();
        let expected = if error.starts_with("the document") { error.to_owned() } else { format!("{host} {error}") };
        assert!(said.ends_with(&expected) || said.contains(error), "{said}: {expected}");
        assert!(!said.contains("s3cret") && !said.contains("sent"), "{said}");
        assert_eq!(after["documents"]["nodes"], json!([]), "{error}");
    }
    let served = site.answer([response("200 OK", "", &"a".repeat(pull::LONGEST))]);
    assert_eq!(pull(&app, &site.hosts()).await, [Pulled::Changed], "a document of the maximum length");
    served.join().expect("served");
}

#[tokio::test]
async fn documents_are_pulled_only_from_hosts_that_the_administrator_names() {
    let site = Site::open();
    let app = pulling(&site).await;
    let refused = async |url: &str| {
        let answer = app.query(SET_URL, json!({ "url": url })).await;
        let error = answer["data"]["serviceApiDocSettingsUpdate"]["errors"][0].clone();
        assert_eq!(error["path"], json!(["apiDocumentUrl"]), "{answer}");
        error["message"].as_str().expect("a message").to_owned()
    };
    let other = "this server does not pull documents from docs.example.com; its administrator can allow it with \
                 --pull-documents-from docs.example.com";
    assert_eq!(refused("https://docs.example.com/a").await, other);
    assert!(refused("http://127.0.0.1:1/a").await.contains("127.0.0.1:1; "));
    assert!(refused("http://docs.example.com/a").await.contains("must begin with https://"));
    assert!(refused("https://ada:s3cret@docs.example.com/a").await.contains("must not contain a user or a password"));
    assert!(refused("openapi.yml").await.contains("must be a URL"));
    for mutation in ["serviceCreate(input: { name: \"Other\", ", "serviceUpdate(input: { alias: \"cart\", "] {
        let mutation = format!(
            "mutation {{ {mutation}apiDocumentUrl: \"https://docs.example.com/a\" }}) {{ errors {{ message }} }} }}"
        );
        let answer = data(&app, &mutation).await;
        let payload = answer.as_object().and_then(|payloads| payloads.values().next()).expect("a payload").clone();
        assert_eq!(payload["errors"], json!([{ "message": other }]));
    }
    // Another server may have allowed the host, and a service file is not asked.
    set_url(&app, &format!("http://{}/a", site.host)).await;
    assert_eq!(pull(&app, &Hosts::default()).await, [Pulled::Failed]);
    let error = pulled(&app).await["apiDocumentPull"]["error"].clone();
    assert!(
        error.as_str().is_some_and(|error| error.starts_with("this server does not pull documents from")),
        "{error}"
    );
}

#[tokio::test]
async fn of_two_processes_one_pulls_a_document() {
    let site = Site::open();
    let app = pulling(&site).await;
    set_url(&app, &format!("http://{}/a", site.host)).await;
    let served = site.answer([response("200 OK", "", "# Once")]);
    let hosts = site.hosts();
    let (one, other) = tokio::join!(pull_due(&app, &hosts), pull_due(&app, &hosts));
    assert_eq!([one, other].concat(), [Pulled::Changed]);
    assert_eq!(served.join().expect("served").len(), 1);
}

#[tokio::test]
async fn a_pulled_document_that_was_deleted_is_pulled_again_in_full() {
    let site = Site::open();
    let app = pulling(&site).await;
    set_url(&app, &format!("http://{}/a", site.host)).await;
    let document = || response("200 OK", "ETag: \"1\"\r\n", "# Cart");
    let served = site.answer([document(), document()]);
    assert_eq!(pull(&app, &site.hosts()).await, [Pulled::Changed]);
    let found = data(&app, "{ account { documents { nodes { id } } } }").await;
    let id = &found["account"]["documents"]["nodes"][0]["id"];
    let delete = "mutation($id: ID!) { serviceDocumentDelete(input: { id: $id }) { errors { message } } }";
    app.query(delete, json!({ "id": id })).await;
    assert_eq!(pull(&app, &site.hosts()).await, [Pulled::Changed]);
    assert!(!served.join().expect("served")[1].contains("if-none-match"));
}

#[tokio::test]
async fn a_service_file_sets_the_url_and_an_export_keeps_it() {
    let site = Site::open();
    let app = pulling(&site).await;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rollcall.yml");
    let url = format!("http://{}/a", site.host);
    let apply = async |line: &str| {
        std::fs::write(&path, format!("version: 1\nservice:\n  name: Cart\n  {line}\n")).expect("a file");
        let applied = crate::harness::service_file::run(&app.db, std::slice::from_ref(&path)).await;
        assert!(applied.is_ok(), "{applied:?}");
    };
    apply(&format!("api_document_url: {url}")).await;
    let served = site.answer([response("200 OK", "", "# Cart")]);
    assert_eq!(pull_due(&app, &site.hosts()).await, [Pulled::Changed]);
    served.join().expect("served");
    apply("language: Go").await;
    assert_eq!(pulled(&app).await["apiDocumentUrl"], url, "a missing key leaves it");

    let mut export = Vec::new();
    transfer::export(&app.db, &mut export).await.expect("an export");
    let copy = TestApp::start().await;
    transfer::import(&copy.db, "export", std::io::Cursor::new(export), |_| ()).await.expect("an import");
    let (moved, own) = (pulled(&copy).await, pulled(&app).await);
    assert_eq!((&moved["apiDocumentUrl"], &moved["documents"]), (&own["apiDocumentUrl"], &own["documents"]));
    let served = site.answer([response("200 OK", "", "# Cart")]);
    assert_eq!(pull_due(&copy, &site.hosts()).await, [Pulled::Unchanged], "it is due at once");
    served.join().expect("served");

    apply("api_document_url: null").await;
    assert_eq!(pulled(&app).await["documents"]["nodes"], json!([]));
}

#[tokio::test]
async fn posted_documents_survive_the_migration_that_lets_others_be_pulled() {
    let database = Database::empty().await;
    let db = rollcall::db::connect(&database.url).await.expect("a database");
    let steps = Migrator::migrations();
    let before = steps.iter().position(|step| step.name() == "m20261123_000030_pulled_documents").expect("the step");
    let statements = "
        INSERT INTO service (id, name, slug, created_at, updated_at) VALUES (1, 'Cart', 'cart', 0, 0);
        INSERT INTO integration (id, type, name, webhook_id, created_at, updated_at) VALUES (1, 'api_doc', 'Docs', 'x', 0, 0);
        INSERT INTO service_document (service_id, integration_id, title, format, created_at, updated_at)
            VALUES (1, 1, 'Cart API', 'markdown', 0, 0);
        INSERT INTO service_document_content (document_id, content) SELECT id, '# Cart API' FROM service_document;
        INSERT INTO service (id, name, slug, created_at, updated_at) VALUES (2, 'Gone', 'gone', 0, 0);
        INSERT INTO service_document (service_id, integration_id, title, format, created_at, updated_at)
            VALUES (2, 1, 'Gone', 'markdown', 0, 0);
        DELETE FROM service WHERE id = 2;";
    database.migrate(before).await;
    db.write(async |tx| tx.script(statements).await).await.expect("an old database");
    rollcall::db::migrate(&db).await.expect("migrations");
    let documents = db.read().all(service_document::Entity::find()).await.expect("documents");
    assert_eq!(documents.len(), 1);
    assert_eq!((&*documents[0].title, documents[0].integration_id), ("Cart API", Some(1)));
    let texts = db.read().all(service_document_content::Entity::find()).await.expect("texts");
    assert_eq!(texts.iter().map(|text| (text.document_id, &*text.content)).collect::<Vec<_>>(), [(1, "# Cart API")]);

    let app = TestApp::over(database, &[]).await;
    let pulled = |service_id| service_document::ActiveModel {
        service_id: Set(service_id),
        title: Set("Pulled".to_owned()),
        format: Set(Format::Markdown),
        created_at: Set(Timestamp::now()),
        updated_at: Set(Timestamp::now()),
        ..Default::default()
    };
    let stored = app.db.write(async |db| db.insert(pulled(1)).await).await.expect("a document");
    assert_eq!(stored.id, 3, "the id of the deleted document is not given out again");
    let twice = app.db.write(async |db| db.insert(pulled(1)).await).await.expect_err("a service has one");
    assert!(matches!(twice.violation(), Some(rollcall::db::Constraint::Unique(_))), "{twice:?}");
    app.db.write(async |db| db.exec(service::Entity::delete_by_id(1)).await).await.expect("it goes");
    let texts = app.db.read().all(service_document_content::Entity::find()).await.expect("texts");
    assert_eq!(texts, [], "a service takes its documents along, and these their texts");
}
