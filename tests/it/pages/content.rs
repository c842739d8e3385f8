//! The pages of the application: what they show, what their forms do, and that no user's text is interpreted as HTML.

use hyper::Method;
use rollcall::db::Read;
use rollcall::entity::user::Role;
use rollcall::entity::{self, delivery};
use sea_orm::{EntityTrait, QueryOrder};
use serde_json::json;
use tokio::task::yield_now;

use crate::harness::app::{TestApp, soon};
use crate::harness::browser::Browser;
use crate::harness::webhook::record;
use crate::harness::{integration, service_file};

/// The text between the first `start` and the following `end`.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let rest = text.split_once(start).unwrap_or_else(|| panic!("no {start} in {text}")).1;
    rest.split_once(end).unwrap_or_else(|| panic!("no {end} behind {start}")).0
}

/// The path of the first integration's page.
async fn first_integration(browser: &Browser<'_>) -> String {
    let list = browser.page("/integrations").await;
    list.split('"').find(|text| text.starts_with("/integrations/Z")).expect("an integration").to_owned()
}

/// Waits until this many posts to webhooks are noted.
async fn until_noted(app: &TestApp, posts: u64) {
    soon("the posts are noted", async {
        while app.db.read().count(delivery::Entity::find()).await.expect("a number") < posts {
            yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn the_first_hour_of_a_team() {
    let app = TestApp::start().await;
    let mut ada = Browser::of(&app, Role::Admin).await;
    let page = ada.page("/services").await;
    let nothing = page.split_once("No services yet.").expect("that there are none").1;
    assert!(nothing.contains("<a class=\"button\" href=\"/new/service\">New service</a>"), "{page}");
    assert!(ada.page("/").await.contains("There are no services yet."));

    let made = ada.post("/tokens", &[("description", "import"), ("scope", "write"), ("expires", "90")]).await;
    let token = between(between(made.text(), "id=\"secret\"", "/code>"), ">", "<").to_owned();
    assert!(token.starts_with("rc_"), "{token}");
    let authorization = format!("Bearer {token}");
    let ask = async || {
        let headers = [("authorization", &*authorization)];
        app.post_with("{ account { name } }", json!({}), &headers).await.status
    };
    assert_eq!(ask().await, 200);
    let list = ada.page("/tokens").await;
    assert!(list.contains("import") && !list.contains(&token), "shown once");
    for scope in ["read", "write", "admin"] {
        assert!(list.contains(&format!("<option value=\"{scope}\">{scope}: ")), "{scope}: {list}");
    }

    let made = ada.post("/integrations", &[("type", "deploy"), ("name", "CI")]).await;
    let page = ada.page(made.location()).await;
    let url = between(between(&page, "id=\"address\"", "/code>"), ">", "<");
    let path = url.split_once(&app.address.to_string()).expect("our address").1;
    let json = [("content-type", "application/json")];
    let posted = app.request(Method::POST, path, &json, record(json!({ "service": "org/cart" })).to_string()).await;
    assert_eq!(posted.status, 202);
    assert!(ada.page(made.location()).await.contains("org/cart"));

    let suggestions = ada.page("/suggestions").await;
    let create = suggestions.split('"').find(|text| text.ends_with("/create")).expect("a form");
    let accepted = ada.post(create, &[("name", "Shopping Cart")]).await;
    let page = ada.page(accepted.location()).await;
    assert!(
        page.contains("<h1>Shopping Cart</h1>") && page.contains("org/cart") && page.contains("Sell more"),
        "{page}"
    );
    assert!(ada.page("/services").await.contains("Shopping Cart"));
    assert!(ada.page("/suggestions?state=accepted").await.contains("Accepted for"));

    let delete = list.split('"').find(|text| text.ends_with("/delete")).expect("a form").to_owned();
    assert_eq!(ada.post(&delete, &[]).await.location(), "/tokens");
    assert_eq!(ask().await, 401);
}

#[tokio::test]
async fn the_form_for_a_token_is_folded_unless_it_is_needed() {
    let app = TestApp::start().await;
    let mut ada = Browser::of(&app, Role::Admin).await;
    let (folded, open) = ("<details id=\"new\"><summary>New token", "<details id=\"new\" open><summary>New token");
    let refused = ada.post("/tokens", &[("description", ""), ("scope", "read"), ("expires", "30")]).await;
    assert!(refused.status == 422 && refused.text().contains(open), "{refused:?}");
    let made = ada.post("/tokens", &[("description", "import"), ("scope", "read"), ("expires", "30")]).await;
    assert!(made.text().contains("id=\"secret\"") && made.text().contains(folded), "{made:?}");
    let list = ada.page("/tokens").await;
    assert!(list.contains(folded) && list.contains("import"), "{list}");
    for delete in list.split('"').filter(|text| text.ends_with("/delete")) {
        assert_eq!(ada.post(delete, &[]).await.location(), "/tokens");
    }
    let none = ada.page("/tokens").await;
    assert!(none.contains("No tokens yet.") && none.contains(open), "{none}");
}

#[tokio::test]
async fn a_refused_form_is_shown_again_with_the_reason() {
    let app = TestApp::start().await;
    let mut ada = Browser::of(&app, Role::Admin).await;
    let long = "x".repeat(300);
    let refused = ada.post("/tokens", &[("description", ""), ("scope", "read"), ("expires", "30")]).await;
    assert_eq!(refused.status, 422);
    assert!(
        refused.text().contains("aria-invalid=\"true\"") && refused.text().contains("Description must not be empty")
    );
    assert!(refused.text().contains("<option value=\"read\" selected>"));
    // The title says so, and the wrong field has the focus, without the script.
    let title = "<title>Error: API tokens · rollcall</title>";
    assert!(refused.text().contains(title) && !ada.page("/tokens").await.contains("Error:"), "{refused:?}");
    let focused = "aria-describedby=\"hint-description wrong-description\" aria-invalid=\"true\" autofocus>";
    assert!(refused.text().contains(focused), "{refused:?}");
    assert_eq!(refused.text().matches(" autofocus>").count(), 1, "{refused:?}");
    let refused = ada.post("/integrations", &[("type", "deploy"), ("name", &long)]).await;
    assert!(refused.status == 422 && refused.text().contains("300 characters"), "{refused:?}");
    let refused = ada.post("/users", &[("email", "admin@example.com"), ("role", "user")]).await;
    assert!(refused.status == 422 && refused.text().contains("has the email address"), "{refused:?}");
    assert_eq!(ada.post("/users", &[("email", "eve@example.com"), ("role", "king")]).await.status, 400);
    assert_eq!(ada.post("/tokens", &[("description", "x"), ("scope", "all"), ("expires", "30")]).await.status, 400);
    let gone = ada.post("/suggestions/Z2lkOi8vcm9sbGNhbGwvU2VydmljZVN1Z2dlc3Rpb24vOQ/ignore", &[]).await;
    assert!(gone.status == 422 && gone.text().contains("role=\"alert\" tabindex=\"-1\" autofocus>"), "{gone:?}");
}

#[tokio::test]
async fn suggestions_are_mapped_ignored_and_reopened() {
    let app = TestApp::start().await;
    let mut ada = Browser::of(&app, Role::User).await;
    ada.post("/integrations", &[("type", "deploy"), ("name", "CI")]).await;
    let page = ada.page(&first_integration(&ada).await).await;
    let path = between(&page, "/integrations/deploy/", "<");
    for service in ["shop", "shpo"] {
        let body = record(json!({ "service": service })).to_string();
        let headers = [("content-type", "application/json")];
        app.request(Method::POST, &format!("/integrations/deploy/{path}"), &headers, body).await;
    }
    let form = async |browser: &Browser<'_>, state: &str, what: &str| {
        let page = browser.page(&format!("/suggestions?state={state}")).await;
        page.split('"').find(|text| text.ends_with(what)).map(str::to_owned)
    };
    let create = form(&ada, "open", "/create").await.expect("a form");
    assert_eq!(ada.post(&create, &[("name", "shop")]).await.place(), "/services/shop");
    assert!(ada.page("/suggestions").await.contains("Map to this"), "the name is near");
    let ignore = form(&ada, "open", "/ignore").await.expect("a form");
    assert_eq!(ada.post(&ignore, &[]).await.place(), "/suggestions");
    assert!(ada.page("/suggestions").await.contains("No open suggestions."));
    let open = form(&ada, "ignored", "/unignore").await.expect("a form");
    assert_eq!(ada.post(&open, &[]).await.location(), "/suggestions");
    let map = form(&ada, "open", "/map").await.expect("a form");
    assert_eq!(ada.post(&map, &[("alias", "none")]).await.status, 422);
    assert_eq!(ada.post(&map, &[("alias", "shop")]).await.place(), "/services/shop");
    assert!(ada.page("/services/shpo").await.contains("<h1>shop</h1>"));
}

#[tokio::test]
async fn an_endpoint_shows_its_last_deliveries_with_their_answers() {
    let app = TestApp::start().await;
    let mut ada = Browser::of(&app, Role::User).await;
    ada.post("/integrations", &[("type", "deploy"), ("name", "CI")]).await;
    let page_path = first_integration(&ada).await;
    let page = ada.page(&page_path).await;
    assert!(page.contains("No deliveries yet."));
    let path = format!("/integrations/deploy/{}", between(&page, "/integrations/deploy/", "<"));
    let post = async |body: String| {
        let headers = [("content-type", "application/json")];
        app.request(Method::POST, &path, &headers, body).await.status
    };
    let deploy = record(json!({ "dedup_id": "1" })).to_string();
    assert_eq!([post("{}".to_owned()).await, post(deploy.clone()).await, post(deploy).await], [400, 202, 202]);
    assert_eq!(app.request(Method::POST, &path, &[], "x").await.status, 415);
    // A refused post is recorded in the background, shortly after the response.
    let newest = async || {
        let last = app.db.read().one(delivery::Entity::find().order_by_desc(delivery::Column::Id)).await;
        last.expect("an answer").map_or(0, |last| last.id)
    };
    let until = async |last: i64| {
        while newest().await < last {
            yield_now().await
        }
    };
    soon("the posts are noted", until(3)).await;
    let page = ada.page(&page_path).await;
    for answer in ["param is missing or the value is empty: service", "duplicate_deploy", "Sell more", "must be JSON"] {
        assert!(page.contains(answer), "{answer}: {page}");
    }
    assert!(page.contains("<a class=\"mark warn\" href=\"/suggestions\">unknown service</a>"), "{page}");
    for _ in 0..25 {
        assert_eq!(post("[]".to_owned()).await, 400);
    }
    soon("the posts are noted", until(28)).await;
    assert_eq!(app.db.read().count(delivery::Entity::find()).await, Ok(delivery::KEPT));
}

#[tokio::test]
async fn a_refused_post_shows_its_mistakes_as_a_list() {
    let app = TestApp::start().await;
    let (id, url) = integration::deploy_endpoint(&app, "CI").await;
    let path = url.split_once(&app.address.to_string()).expect("our address").1;
    let headers = [("content-type", "application/json")];
    assert_eq!(app.request(Method::POST, path, &headers, "{}").await.status, 400);
    until_noted(&app, 1).await;
    let page = Browser::of(&app, Role::Viewer).await.page(&format!("/integrations/{id}")).await;
    let row = between(between(&page, "id=\"deliveries\"", "</table>"), "<ul class=\"mistakes\">", "</ul>");
    assert!(row.starts_with("<li>param is missing or the value is empty: "), "{row}");
    assert!(row.matches("<li>").count() > 1 && !row.contains("&quot;errors&quot;"), "{row}");
}

#[tokio::test]
async fn an_integration_for_api_documents_shows_how_to_post_them() {
    let app = TestApp::start().await;
    let create = "mutation { serviceCreate(input: { name: \"shopping_cart\" }) { errors { message } } }";
    app.query(create, json!({})).await;
    let mut mem = Browser::of(&app, Role::User).await;
    let list = mem.page("/integrations").await;
    assert!(list.contains("href=\"/integrations/new?type=apiDoc\"") && list.contains("OpenAPI"), "{list}");
    let form = mem.page("/integrations/new?type=apiDoc").await;
    assert!(form.contains("name=\"type\" value=\"apiDoc\"") && form.contains("post the API documents"), "{form}");
    let refused = mem.post("/integrations", &[("type", "apiDoc"), ("name", "")]).await;
    assert!(refused.status == 422 && refused.text().contains("value=\"apiDoc\""), "{refused:?}");

    let made = mem.post("/integrations", &[("type", "apiDoc"), ("name", "Documents")]).await;
    let page = mem.page(made.location()).await;
    assert!(page.contains("can post documents") && page.contains("No deliveries yet."), "{page}");
    for other in ["deploys", "Projects", "Push code issues"] {
        let main = page.split_once("<main").expect("the main part").1;
        assert!(!main.contains(other), "{other}: {page}");
    }
    assert!(mem.page("/integrations").await.contains("<td>API documents</td>"));
    let url = between(&page, "curl --fail-with-body '", "' --data-binary @openapi.yml");
    let path = url.split_once(&app.address.to_string()).expect("our address").1;
    assert_eq!(app.request(Method::POST, path, &[], "openapi: 3.1.0\n").await.status, 202);
    let unknown = path.replace("shopping_cart", "none");
    assert_eq!(app.request(Method::POST, &unknown, &[], "openapi: 3.1.0\n").await.status, 404);
    until_noted(&app, 2).await;
    let page = mem.page(made.location()).await;
    assert!(page.contains("<code>created</code>") && page.contains("<li>No service has the alias "), "{page}");

    let rename = format!("{}/rename", made.location());
    assert_eq!(mem.post(&rename, &[("name", "Contracts")]).await.location(), made.location());
    assert!(mem.page(made.location()).await.contains("<h1>Contracts</h1>"));
}

#[tokio::test]
async fn an_integration_of_any_type_has_the_page_of_its_kind() {
    let app = TestApp::start().await;
    let create = "mutation {
        jenkins: eventIntegrationCreate(input: { type: jenkins }) { integration { id } }
        aws: awsIntegrationCreate(input: { ownershipTagKeys: [] }) { integration { id } }
    }";
    let made = app.query(create, json!({})).await["data"].take();
    let browser = Browser::of(&app, Role::User).await;
    let page = async |name: &str| {
        let id = made[name]["integration"]["id"].as_str().expect("an id");
        browser.page(&format!("/integrations/{id}")).await
    };
    let jenkins = page("jenkins").await;
    assert!(jenkins.contains("Post deploys to it") && !jenkins.contains("Projects"), "{jenkins}");
    let aws = page("aws").await;
    assert!(aws.contains("does not connect to it") && !aws.contains("Projects") && !aws.contains("/rename"), "{aws}");
    assert!(!jenkins.contains("Last connected"), "{jenkins}");
}

#[tokio::test]
async fn an_integration_with_a_cloud_or_a_cluster_shows_what_the_api_records() {
    let app = TestApp::start().await;
    let create = r#"mutation {
        aws: awsIntegrationCreate(input: {
            name: "Live account", iamRole: "arn:aws:iam::1:role/<b>", externalId: "e-7", ownershipTagKeys: ["owner", "team"],
            awsTagsOverrideOwnership: true, regionOverride: ["eu-west-1"]
        }) { integration { id } }
        everywhere: awsIntegrationCreate(input: { ownershipTagKeys: [], awsTagsOverrideOwnership: false }) { integration { id } }
        azure: azureResourcesIntegrationCreate(input: {
            clientSecret: "hush", subscriptionId: "s-1", tenantId: "t-1", ownershipTagKeys: ["owner"], tagsOverrideOwnership: false
        }) { integration { id } }
        google: googleCloudIntegrationCreate(input: { clientEmail: "x@example.com", privateKey: "hush" }) { integration { id } }
        cluster: kubernetesIntegrationCreate(input: { extractDefinition: "extract:\n  - a", transformDefinition: "b: 2" }) { integration { id } }
        relic: newRelicIntegrationCreate(input: { apiKey: "hush", baseUrl: "https://api.eu.newrelic.com" }) { integration { id } }
    }"#;
    let made = app.query(create, json!({})).await["data"].take();
    let browser = Browser::of(&app, Role::Viewer).await;
    let list = browser.page("/integrations").await;
    let fact = |name: &str, value: &str| format!("<dt>{name}</dt><dd>{value}</dd>");
    let shown = [
        (
            "aws",
            "AWS",
            vec![
                fact("IAM role", "<code>arn:aws:iam::1:role/&lt;b&gt;</code>"),
                fact("External id", "<code>e-7</code>"),
                "<li><code class=\"mark none\">eu-west-1</code></li>".to_owned(),
                "<li><code class=\"mark none\">team</code></li>".to_owned(),
                fact("If they disagree with the catalogue", "the tag counts"),
                "/reference/Mutation#awsIntegrationUpdate".to_owned(),
            ],
        ),
        (
            "everywhere",
            "AWS",
            vec![fact("Regions", "all"), fact("If they disagree with the catalogue", "the catalogue counts")],
        ),
        ("azure", "Azure", vec![fact("Subscription", "<code>s-1</code>"), fact("Tenant", "<code>t-1</code>")]),
        ("google", "Google Cloud", vec![fact("Service account", "<code>x@example.com</code>")]),
        ("cluster", "Kubernetes", vec!["extract:\n  - a</code>".to_owned(), "How it is transformed".to_owned()]),
        ("relic", "New Relic", vec!["href=\"https://api.eu.newrelic.com\"".to_owned()]),
    ];
    for (name, kind, parts) in shown {
        let id = made[name]["integration"]["id"].as_str().expect("an id");
        assert!(
            list.contains(&format!("href=\"/integrations/{id}\"")) && list.contains(&format!("<td>{kind}</td>")),
            "{list}"
        );
        let page = browser.page(&format!("/integrations/{id}")).await;
        for part in parts.iter().map(String::as_str).chain(["<dt>Recorded</dt>", "keeps none of its secrets"]) {
            assert!(page.contains(part), "{name}: {part}: {page}");
        }
        assert!(!page.contains("Last connected"), "{name}: {page}");
        assert!(!page.contains("hush") && !page.contains("<h2>URL</h2>"), "{name}: {page}");
        assert!(!page.contains("Only the start is shown."), "{name}: {page}");
    }
    let create = "mutation($long: YAML!) {
        kubernetesIntegrationCreate(input: { extractDefinition: $long }) { integration { id } }
    }";
    let made = app.query(create, json!({ "long": "é".repeat(50_000) })).await;
    let id = made["data"]["kubernetesIntegrationCreate"]["integration"]["id"].as_str();
    let id = id.unwrap_or_else(|| panic!("{made}"));
    let page = browser.page(&format!("/integrations/{id}")).await;
    assert_eq!(page.matches('é').count(), 4_000);
    assert!(page.contains("Only the start is shown. The API returns all of it."), "{page}");
}

#[tokio::test]
async fn a_concurrently_deleted_endpoint_loses_no_other_endpoints_deliveries() {
    let app = TestApp::start().await;
    let (_, kept) = integration::deploy_endpoint(&app, "kept").await;
    let (gone_id, gone) = integration::deploy_endpoint(&app, "gone").await;
    let gone_id = rollcall::graphql::field::id::decode(&gone_id).expect("an id").1;
    let refuse = async |url: &str| {
        let path = url.split_once(&app.address.to_string()).expect("our address").1;
        assert_eq!(app.request(Method::POST, path, &[], "x").await.status, 415);
    };
    // The first write waits for the transaction, and the others queue behind it.
    let held = app.db.write(async |db| {
        for url in [&kept, &gone, &kept] {
            refuse(url).await;
        }
        entity::integration::delete_deploy_endpoint(db, gone_id).await
    });
    assert!(held.await.expect("a deletion").is_some());
    until_noted(&app, 2).await;
}

#[tokio::test]
async fn a_custom_integration_shows_how_to_push_to_it_and_what_was_pushed() {
    let app = TestApp::start().await;
    let create = "mutation { serviceCreate(input: { name: \"shopping_cart\" }) { errors { message } } }";
    app.query(create, json!({})).await;
    let mut mem = Browser::of(&app, Role::User).await;
    let made = mem.post("/integrations", &[("type", "custom"), ("name", "Scanner")]).await;
    let page = mem.page(made.location()).await;
    assert!(page.contains("No projects yet."), "{page}");
    let push = between(&page, "&lt;&lt;'JSON'\n", "\nJSON").replace("&quot;", "\"");
    let push: serde_json::Value = serde_json::from_str(&push).expect("JSON");
    let answer = app.query(push["query"].as_str().expect("a document"), push["variables"].clone()).await;
    let none = json!({ "errors": [] });
    assert_eq!(answer["data"], json!({ "codeIssueProjectUpsert": none, "codeIssueUpsert": none }));
    let page = mem.page(made.location()).await;
    let table = between(&page, "aria-label=\"Projects\"", "</table>");
    assert!(
        table.contains("href=\"/services/shopping_cart\"") && table.contains("<td class=\"number\">1</td>"),
        "{table}"
    );
    assert_eq!(mem.get(&format!("{}?after=x", made.location())).await.status, 400);
}

#[tokio::test]
async fn an_integration_is_shown_without_what_exceeds_the_budget() {
    let app = TestApp::with(&["--max-rows", "20000"]).await;
    let custom = integration::custom(&app, "Scanner").await;
    let upsert =
        "mutation($p: CodeIssueProjectUpsertInput!) { codeIssueProjectUpsert(input: $p) { errors { message } } }";
    let url = format!("https://example.com/{}", "a".repeat(800));
    for number in 0..30 {
        let identifier = json!({ "integration": { "id": custom }, "externalId": number.to_string() });
        let project = json!({ "identifier": identifier, "name": format!("project {number}"), "url": url });
        let answer = app.query(upsert, json!({ "p": project })).await;
        assert_eq!(answer["data"]["codeIssueProjectUpsert"]["errors"], json!([]), "{answer}");
    }
    let page = Browser::of(&app, Role::User).await.page(&format!("/integrations/{custom}")).await;
    assert!(page.contains("This took too long to read.") && !page.contains("project 1"), "{page}");
    assert!(page.contains("/rename\"") && page.contains("/delete\""), "{page}");
}

#[tokio::test]
async fn an_administrator_manages_users() {
    let app = TestApp::start().await;
    let mut ada = Browser::of(&app, Role::Admin).await;
    let invited = ada.post("/users", &[("email", "bob@example.com"), ("name", "Bob"), ("role", "viewer")]).await;
    let link = between(invited.text(), &format!("http://{}", app.address), "<").to_owned();
    let mut bob = Browser::new(&app);
    assert_eq!(bob.post(&link, &[]).await.location(), "/");
    assert!(bob.page("/account").await.contains("a viewer"));

    let forms = ada.page("/users").await;
    let form = |what: &str| forms.split('"').filter(|text| text.ends_with(what)).map(str::to_owned).collect::<Vec<_>>();
    let [own, bobs] = &*form("/role") else { panic!("two users: {forms}") };
    assert_eq!(ada.post(bobs, &[("role", "user")]).await.location(), "/users");
    assert!(bob.page("/account").await.contains("a member"));
    assert_eq!(ada.post(own, &[("role", "viewer")]).await.status, 422, "nobody locks himself out");
    let [delete] = &*form("/delete") else { panic!("not for oneself: {forms}") };
    assert_eq!(ada.post(delete, &[]).await.location(), "/users");
    assert_eq!(bob.get("/account").await.place(), "/sign-in");
}

#[tokio::test]
async fn services_are_searched_filtered_and_paged() {
    let app = TestApp::start().await;
    for number in 0..60 {
        let language = if number == 7 { "Ada" } else { "Rust" };
        let create = "mutation($input: ServiceCreateInput!) { serviceCreate(input: $input) { errors { message } } }";
        app.query(create, json!({ "input": { "name": format!("service {number}"), "language": language } })).await;
    }
    let browser = Browser::of(&app, Role::Viewer).await;
    let first = browser.page("/services").await;
    assert!(first.contains("60 services") && first.contains(">service 53<") && !first.contains(">service 54<"));
    let next = between(&first, "rel=\"next\" href=\"", "\"").replace("&amp;", "&");
    let second = browser.page(&next).await;
    assert!(second.contains(">service 54<") && !second.contains(">service 53<") && second.contains("First page"));
    let one = browser.page("/services?language=Ada").await;
    assert!(one.contains("1 service ·") && one.contains(">service 7<"), "{one}");
    assert!(browser.page("/services?search=SERVICE+59&tier=&owner=").await.contains("1 service ·"));
    assert!(browser.page("/services?tag=a:b").await.contains("No services match."));
    assert_eq!(browser.get("/services?after=%00").await.status, 400);
    assert!(browser.page("/services?unowned=1&quiet=30").await.contains("60 services"));
    assert_eq!(browser.get("/services?quiet=soon").await.status, 400);
}

#[tokio::test]
async fn unknown_objects_and_paths_get_an_error_page() {
    let app = TestApp::start().await;
    let browser = Browser::of(&app, Role::User).await;
    for path in ["/services/none", "/teams/none", "/integrations/none", "/services/a/b", "/nowhere", "/assets/x.css"] {
        let answer = browser.get(path).await;
        assert_eq!(answer.status, 404, "{path}");
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
        assert!(answer.text().contains("<h1>Not found</h1>"), "{path}");
    }
    assert_eq!(app.request(Method::PUT, "/services", &[], "").await.status, 405);
}

#[tokio::test]
async fn the_page_of_a_locked_service_names_the_command_that_unlocks_it() {
    let app = TestApp::start().await;
    service_file::apply_text(&app, "version: 1\nservice: { name: Shopping Cart, aliases: [cart] }\n").await;
    let page = Browser::of(&app, Role::Viewer).await.page("/services/cart").await;
    assert!(page.contains("run <code>rollcall release shopping_cart</code> first"), "{page}");
}

#[tokio::test]
async fn the_page_of_an_unknown_alias_links_to_the_search() {
    let app = TestApp::start().await;
    let browser = Browser::of(&app, Role::User).await;
    for (path, noun) in [
        ("/services/nope%20%26", "service"),
        ("/services/nope%20%26/edit", "service"),
        ("/services/nope%20%26/graph", "service"),
        ("/services/nope%20%26/deploys", "service"),
        ("/services/nope%20%26/contacts", "service"),
        ("/services/nope%20%26/properties", "service"),
        ("/teams/nope%20%26", "team"),
        ("/teams/nope%20%26/edit", "team"),
        ("/teams/nope%20%26/contacts", "team"),
        ("/systems/nope%20%26", "system"),
        ("/domains/nope%20%26/edit", "domain"),
    ] {
        let answer = browser.get(path).await;
        assert_eq!(answer.status, 404, "{path}");
        let sentence = format!("No {noun} has the alias <bdi>nope &amp;</bdi>.");
        assert!(answer.text().contains(&sentence), "{path}: {}", answer.text());
        assert!(answer.text().contains("href=\"/search?q=nope+%26\""), "{path}: {}", answer.text());
    }
    assert!(browser.get("/services/a/b").await.text().contains("This page does not exist"));
}

#[tokio::test]
async fn an_unknown_alias_leads_to_the_nearest_names() {
    let app = TestApp::start().await;
    for name in ["shopping <b>cart", "checkout a", "checkout b", "checkout c", "checkout d"] {
        let create = "mutation($name: String!) { serviceCreate(input: { name: $name }) { errors { message } } }";
        let made = app.query(create, json!({ "name": name })).await;
        assert_eq!(made["data"]["serviceCreate"]["errors"], json!([]), "{made}");
    }
    let browser = Browser::of(&app, Role::Viewer).await;
    let page = async |path: &str| {
        let answer = browser.get(path).await;
        assert_eq!(answer.status, 404, "{path}");
        answer.text().to_owned()
    };
    let one = page("/services/shoping").await;
    assert!(one.contains("shopping &lt;b&gt;cart</a></li>") && one.contains("Did you mean one of these?"), "{one}");
    assert!(one.contains("href=\"/search?q=shoping\""), "{one}");
    let three = page("/services/checkout").await;
    assert_eq!(three.matches("<li><a href=\"/services/checkout_").count(), 3, "{three}");
    let none = page("/teams/zzqqxx").await;
    assert!(!none.contains("Did you mean"), "{none}");
}

#[tokio::test]
async fn a_page_loads_its_files_from_this_server_under_cacheable_names() {
    let app = TestApp::start().await;
    let page = Browser::new(&app).get("/sign-in").await;
    let policy = page.header("content-security-policy").expect("a policy");
    for part in ["default-src 'none'", "script-src 'self'", "style-src 'self'", "form-action 'self'", "base-uri 'none'"]
    {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert_eq!(page.header("cache-control"), Some("no-store"));
    let files: Vec<&str> = page.text().split('"').filter(|text| text.starts_with("/assets/")).collect();
    assert_eq!(files.len(), 3);
    for file in files {
        let answer = app.get(file).await;
        assert_eq!(answer.status, 200, "{file}");
        assert_eq!(answer.header("cache-control"), Some("public, max-age=31536000, immutable"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
}

/// Text that would be markup, a script or an unsafe URL, if it were not escaped.
const HOSTILE: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>&{{7*7}}";

#[tokio::test]
async fn every_value_is_escaped_and_every_page_is_small() {
    let app = TestApp::with(&["--token-limit", "0", "--ip-limit", "0"]).await;
    let mut ada = Browser::of(&app, Role::Admin).await;
    let hostile = |what: &str| format!("{what}{HOSTILE}");
    let url = "javascript:alert(3)";
    let tell = async |query: &str, variables: serde_json::Value| {
        let answer = app.query(query, variables).await;
        assert!(answer.get("errors").is_none() && !answer.to_string().contains("\"message\""), "{answer}");
        answer["data"].clone()
    };
    tell(
        "mutation($email: String!, $input: UserInput!) { userInvite(email: $email, input: $input) { errors { message } } }",
        json!({ "email": "\"'><script>alert(1)</script>@x", "input": { "name": hostile("user") } }),
    )
    .await;
    tell(
        "mutation($input: TeamCreateInput!) { teamCreate(input: $input) { errors { message } } }",
        json!({ "input": {
            "name": hostile("team"), "responsibilities": hostile("resp"),
            "managerEmail": "\"'><script>alert(1)</script>@x",
            "members": [{ "user": { "email": "admin@example.com" }, "role": hostile("member") }],
        } }),
    )
    .await;
    let team = tell("{ account { teams { nodes { alias } } } }", json!({})).await;
    let team = team["account"]["teams"]["nodes"][0]["alias"].as_str().expect("a team").to_owned();
    for (mutation, input) in [
        ("tierCreate(input: $input)", json!({ "name": hostile("tier"), "alias": "t", "description": hostile("td") })),
        (
            "lifecycleCreate(input: $input)",
            json!({ "name": hostile("life"), "alias": "l", "description": hostile("ld") }),
        ),
        (
            "serviceCreate(input: $input)",
            json!({
                "name": hostile("service"), "description": hostile("d"), "language": hostile("l"),
                "framework": hostile("f"), "product": hostile("p"), "note": hostile("n"), "tierAlias": "t",
                "lifecycleAlias": "l", "ownerInput": { "alias": team },
            }),
        ),
    ] {
        let (name, _) = mutation.split_once('(').expect("a call");
        let class = format!("{}{}Input", name[..1].to_uppercase(), &name[1..]);
        tell(
            &format!("mutation($input: {class}!) {{ {mutation} {{ errors {{ message }} }} }}"),
            json!({ "input": input }),
        )
        .await;
    }
    let found = tell("{ account { services { nodes { id aliases } } } }", json!({})).await;
    let service = &found["account"]["services"]["nodes"][0];
    let id = service["id"].as_str().expect("an id").to_owned();
    tell(
        "mutation($owner: ID!, $alias: String!, $value: String!) {
            aliasCreate(input: { ownerId: $owner, alias: $alias }) { errors { message } }
            tagAssign(input: { id: $owner, tags: [{ key: \"key\", value: $value }] }) { errors { message } }
        }",
        json!({ "owner": id, "alias": hostile("alias"), "value": hostile("value") }),
    )
    .await;
    tell(
        "mutation($input: RepositoryCreateInput!, $id: ID!, $alias: String!) {
            repositoryCreate(input: $input) { errors { message } }
            serviceRepositoryCreate(input: {
                service: { id: $id }, repository: { alias: $alias }, baseDirectory: $alias, displayName: $alias
            }) { errors { message } }
        }",
        json!({
            "id": id, "alias": hostile("repo"),
            "input": { "name": hostile("repo"), "defaultAlias": hostile("repo"), "url": "https://x/?\"><script>alert(1)</script>" },
        }),
    )
    .await;

    for kind in ["custom", "deploy", "apiDoc"] {
        assert_eq!(ada.post("/integrations", &[("type", kind), ("name", &hostile(kind))]).await.status, 303);
    }
    let integrations = tell("{ account { integrations { nodes { id type webhookUrl } } } }", json!({})).await;
    let integrations = integrations["account"]["integrations"]["nodes"].as_array().expect("nodes").clone();
    let webhook = integrations[1]["webhookUrl"].as_str().expect("an address");
    let path = webhook.split_once(&app.address.to_string()).expect("our address").1;
    for alias in [hostile("alias"), hostile("unknown")] {
        let deploy = record(json!({
            "service": alias, "description": hostile("text"), "deploy_url": url, "environment": hostile("env"),
            "status": hostile("status"), "deploy_number": hostile("1"), "dedup_id": alias,
            "deployer": { "name": hostile("who"), "email": hostile("mail") },
            "commit": { "sha": "\"><b>'&", "message": hostile("message"), "branch": hostile("branch") },
        }));
        let headers = [("content-type", "application/json")];
        let answer = app.request(Method::POST, path, &headers, deploy.to_string()).await;
        assert_eq!(answer.status, 202, "{answer:?}");
    }
    let custom = integrations[0]["id"].as_str().expect("an id");
    tell(
        "mutation($project: CodeIssueProjectUpsertInput!, $issue: CodeIssueInput!) {
            codeIssueProjectUpsert(input: $project) { errors { message } }
            codeIssueUpsert(input: $issue) { errors { message } }
        }",
        json!({
            "project": {
                "identifier": { "integration": { "id": custom }, "externalId": "p" }, "name": hostile("service"), "url": url,
            },
            "issue": {
                "identifier": {
                    "externalId": "i",
                    "codeIssueProject": { "integration": { "id": custom }, "externalId": "p" },
                },
                "name": hostile("issue"), "issueCategory": hostile("category"), "severity": hostile("severity"),
                "url": url,
            },
        }),
    )
    .await;
    let form = [("description", &*hostile("token")), ("scope", "read"), ("expires", "never")];
    assert_eq!(ada.post("/tokens", &form).await.status, 200);
    let form = [("name", HOSTILE), ("query", "search=%3Cscript%3Ealert(1)"), ("shared", "1")];
    assert_eq!(ada.post("/views", &form).await.place(), "/services");

    let alias = service["aliases"][0].as_str().expect("an alias");
    let mut pages: Vec<String> =
        ["/services", "/teams", "/suggestions", "/integrations", "/tokens", "/users", "/audit"]
            .into_iter()
            .chain(["/account", "/integrations/new", "/integrations/new?type=custom", "/suggestions?state=accepted"])
            .chain([
                "/integrations/new?type=apiDoc",
                "/repositories",
                "/repositories/1",
                "/users/1",
                "/definitions",
                "/new/tier",
                "/new/lifecycle",
                "/new/property-definition",
                "/new/filter",
                "/standards",
                "/views",
                "/views/1/edit",
                "/services?view=1",
                "/services?columns=alias,owner,type,system,framework,tags",
            ])
            .map(str::to_owned)
            .collect();
    for path in [format!("/services/{alias}"), format!("/teams/{team}")] {
        pages.push(format!("{path}/edit"));
        pages.push(path);
    }
    pages.push(format!("/services/{alias}/deploys"));
    pages.extend(["/", "/deploys", "/deploys?status=failed", "/delivery"].map(str::to_owned));
    pages.push(format!("/services/{alias}/history"));
    pages.push(format!("/services/{alias}/repositories"));
    pages.push(format!("/services/{alias}/on-call"));
    pages.push(format!("/teams/{team}/history"));
    pages.push(format!("/delivery?team={team}"));
    let made = ["service", "team", "campaign", "check", "check/custom-event", "level", "event-subscription"];
    pages.extend(made.map(|noun| format!("/new/{noun}")));
    pages.push("/events".to_owned());
    pages.extend(integrations.iter().map(|one| format!("/integrations/{}", one["id"].as_str().expect("an id"))));
    let encoded: String = form_urlencoded::byte_serialize(HOSTILE.as_bytes()).collect();
    for field in ["search", "owner", "tier", "language", "tag", "state", "type", "after"] {
        pages.push(format!("/services?{field}={encoded}"));
        pages.push(format!("/suggestions?{field}={encoded}"));
        pages.push(format!("/integrations/new?{field}={encoded}"));
    }
    for field in ["service", "team", "system", "domain", "person", "environment", "status", "from", "after"] {
        pages.push(format!("/deploys?{field}={encoded}"));
    }
    for field in ["made", "ignored", "accepted"] {
        pages.push(format!("/suggestions?{field}={encoded}"));
    }
    pages.push(format!("/delivery?team={encoded}"));
    pages.push(format!("/services/{alias}/history?kind={encoded}"));
    let history = ada.page(&format!("/services/{alias}/history")).await;
    let revert = history.split('"').find(|text| text.starts_with("/changes/")).expect("a change to revert");
    pages.push(revert.to_owned());
    pages.push(format!("/services/{alias}?accepted={encoded}"));
    pages.push(format!("/services/{}", encoded.replace('+', "%20")));
    pages.push(format!("/search?q={encoded}"));
    pages.push(format!("/audit?subject={encoded}&actor={encoded}"));
    let mut seen = 0;
    for path in pages {
        let page = ada.get(&path).await;
        check(&path, page.text());
        seen += page.text().matches("&lt;script&gt;alert(1)").count();
    }
    for (path, form) in [
        (
            "/tokens",
            &[("description", &*format!("{}{HOSTILE}", "x".repeat(250))), ("scope", "read"), ("expires", "30")][..],
        ),
        ("/integrations", &[("type", "deploy"), ("name", &*format!("{}{HOSTILE}", "x".repeat(250)))]),
        ("/users", &[("email", HOSTILE), ("name", HOSTILE), ("role", "user")]),
        ("/new/service", &[("name", ""), ("note", HOSTILE), ("ownerInput.alias", HOSTILE), ("tierAlias", HOSTILE)]),
        ("/new/tier", &[("name", HOSTILE), ("alias", HOSTILE), ("description", HOSTILE), ("index", HOSTILE)]),
        ("/new/property-definition", &[("name", HOSTILE), ("schema", HOSTILE), ("lockedStatus", HOSTILE)]),
        ("/new/filter", &[("name", HOSTILE), ("predicates.0.key", HOSTILE), ("predicates.0.value", HOSTILE)]),
        ("/new/team", &[("name", ""), ("managerEmail", HOSTILE), ("responsibilities", HOSTILE)]),
        ("/views", &[("name", ""), ("query", HOSTILE)]),
        ("/services/change", &[("service", HOSTILE), ("ownerAlias", HOSTILE), ("tags.0.key", HOSTILE)]),
    ] {
        let page = ada.post(path, form).await;
        assert_eq!(page.status, 422, "{path}");
        check(path, page.text());
    }
    assert!(seen > 40, "the values are on the pages: {seen}");
}

/// Checks that no user's text became markup, and that the page obeys its security policy.
fn check(path: &str, page: &str) {
    assert!(page.len() < 100_000, "{path} has {} bytes", page.len());
    for markup in
        ["<script>", "<img", "onerror=alert(2)>", "<b>", "href=\"javascript:", "<style", " style=\"", " onclick="]
    {
        assert!(!page.contains(markup), "{path}: {markup} in {page}");
    }
    assert_eq!(page.matches("<script").count(), 1, "{path}");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"), "{path}");
}
