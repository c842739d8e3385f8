//! The list of integrations says what arrives at each; the page of one says how to post to it, in the words of its kind.

use hyper::Method;
use rollcall::db::{Read, Write};
use rollcall::entity::user::Role;
use rollcall::entity::{Timestamp, delivery, deploy};
use sea_orm::{EntityTrait, Set};
use serde_json::{Value, json};
use tokio::task::yield_now;

use crate::harness::app::{data, soon};
use crate::harness::browser::Browser;
use crate::harness::webhook::Endpoint;

/// Integrations of other kinds beside the deploy endpoint `CI`.
const CREATE: &str = r#"mutation {
    github: eventIntegrationCreate(input: { type: githubActions, name: "Runner" }) { integration { id webhookUrl } }
    argo: eventIntegrationCreate(input: { type: argocd, name: "Clusters" }) { integration { id webhookUrl } }
    events: eventIntegrationCreate(input: { type: customEvent, name: "Scans" }) { integration { id webhookUrl } }
    documents: eventIntegrationCreate(input: { type: apiDoc, name: "Contracts" }) { integration { id webhookUrl } }
    aws: awsIntegrationCreate(input: { name: "Live account", ownershipTagKeys: [] }) { integration { id } }
    issues: customIntegrationCreate(input: { name: "Scanner" }) { integration { id } }
}"#;

/// The text between the first `start` and the following `end`.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let rest = text.split_once(start).unwrap_or_else(|| panic!("no {start} in {text}")).1;
    rest.split_once(end).unwrap_or_else(|| panic!("no {end} behind {start}")).0
}

/// The cells of an integration in the list.
fn row<'a>(list: &'a str, name: &str) -> &'a str {
    between(list, &format!(">{name}</a></th>"), "</tr>")
}

async fn post(endpoint: &Endpoint, made: &Value, body: &str) -> u16 {
    let url = made["integration"]["webhookUrl"].as_str().expect("a URL");
    let path = &url[url.find("/integrations/").expect("a path")..];
    let headers = [("content-type", "application/json")];
    endpoint.app.request(Method::POST, path, &headers, body.to_owned()).await.status
}

#[tokio::test]
async fn the_list_says_what_was_received_last_and_which_posts_failed() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let made = data(app, CREATE).await;
    let browser = Browser::of(app, Role::User).await;
    let list = browser.page("/integrations").await;
    for (name, kind) in [
        ("CI", "Deploy"),
        ("Runner", "GitHub Actions"),
        ("Clusters", "Argo CD"),
        ("Scans", "Event"),
        ("Contracts", "API documents"),
    ] {
        let row = row(&list, name);
        assert!(row.contains(&format!("<td>{kind}</td>")) && row.contains(">never<"), "{name}: {row}");
        assert!(row.contains("<td class=\"number\" data-label=\"Failed in 24 h\">0</td>"), "{name}: {row}");
    }
    assert!(row(&list, "Scanner").contains("through the API"), "{list}");
    let recorded = list.split_once("id=\"recorded\"").expect("what is only recorded").1;
    assert!(recorded.contains("<td>AWS</td>") && !recorded.contains("<td>Deploy</td>"), "{recorded}");

    assert_eq!(endpoint.post_with(json!({})).await.status, 202);
    assert_eq!(endpoint.post("{}").await.status, 400);
    assert_eq!(endpoint.post("[]").await.status, 400);
    assert_eq!(post(&endpoint, &made["events"], r#"{"open": 1}"#).await, 202);
    soon("the posts are noted", async {
        while app.db.read().count(delivery::Entity::find()).await.expect("a number") < 2 {
            yield_now().await;
        }
    })
    .await;
    let list = browser.page("/integrations").await;
    let ci = row(&list, "CI");
    assert!(ci.contains(&format!("href=\"/integrations/{}#deliveries\"", endpoint.id)), "{ci}");
    assert!(ci.contains(">2<") && !ci.contains("never"), "{ci}");
    let scans = row(&list, "Scans");
    assert!(
        !scans.contains("never") && scans.contains("<td class=\"number\" data-label=\"Failed in 24 h\">0</td>"),
        "{scans}"
    );
    assert!(row(&list, "Runner").contains(">never<"), "{list}");

    let page = browser.page(&format!("/integrations/{}", endpoint.id)).await;
    let answers = between(&page, "id=\"deliveries\"", "</table>");
    for (answer, times) in [(">202 accepted<", 1), (">400 refused<", 2)] {
        assert_eq!(answers.matches(answer).count(), times, "{answer}: {answers}");
    }

    // Behind more deploys than are searched, nobody knows.
    let now = Timestamp::now();
    let last = deploy::ActiveModel {
        id: Set(1_000_000),
        service_alias: Set("other".to_owned()),
        description: Set(String::new()),
        deployed_at: Set(now),
        deploy_number: Set("1".to_owned()),
        created_at: Set(now),
        ..Default::default()
    };
    app.db.write(async |tx| tx.insert(last.clone()).await).await.expect("a deploy");
    let list = browser.page("/integrations").await;
    assert!(row(&list, "Runner").contains(">not lately<"), "{list}");
    assert!(row(&list, "Contracts").contains(">never<"), "{list}");
}

#[tokio::test]
async fn an_integration_says_how_to_post_in_the_words_of_its_kind() {
    let endpoint = Endpoint::start().await;
    let made = data(&endpoint.app, CREATE).await;
    let browser = Browser::of(&endpoint.app, Role::User).await;
    let page = async |name: &str| {
        let id = made[name]["integration"]["id"].as_str().expect("an id");
        browser.page(&format!("/integrations/{id}")).await
    };
    let github = page("github").await;
    assert!(github.contains("GitHub Actions integration, added"), "{github}");
    assert_eq!(github.matches("<details open><summary>").count(), 1, "{github}");
    assert!(github.contains("<details open><summary>GitHub Actions</summary>"), "{github}");
    assert!(page("argo").await.contains("<details open><summary>curl</summary>"));

    let events = page("events").await;
    let main = events.split_once("<main").expect("a main part").1;
    assert!(main.contains("can post events") && main.contains("Post events to it"), "{main}");
    assert!(main.contains("Post an event with the snippet above."), "{main}");
    assert!(!main.contains("Post deploys") && !main.contains("GitLab CI"), "{main}");
    let body = between(main, "-d '", "'").replace("&quot;", "\"");
    assert_eq!(post(&endpoint, &made["events"], &body).await, 202);
    let events = page("events").await;
    assert!(events.contains("Event or deploy"), "{events}");
    let main = between(&events, "id=\"deliveries\"", "</table>");
    assert!(main.contains("<td>event</td>") && main.contains("shopping_cart"), "{main}");

    let documents = page("documents").await;
    assert!(documents.contains("can post documents") && documents.contains("its documents"), "{documents}");
}

#[tokio::test]
async fn the_page_of_an_integration_gives_it_a_new_url() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let made = data(app, CREATE).await;
    let here = format!("/integrations/{}", endpoint.id);
    let mut browser = Browser::of(app, Role::User).await;
    let before = browser.page(&here).await;
    assert!(before.contains(&endpoint.path) && before.contains("The old one stops working at once"), "{before}");
    let rotate = format!("{here}/rotate");
    assert!(before.contains(&format!("<form method=\"post\" action=\"{rotate}\">")), "{before}");
    assert!(before.contains("Yes, new URL"), "{before}");
    let moved = browser.post(&rotate, &[]).await;
    assert_eq!(moved.location(), here);
    let after = browser.page(moved.header("location").expect("a place")).await;
    assert!(after.contains("The old one no longer works") && !after.contains("Saved."), "{after}");
    let url = between(&after, "id=\"address\"", "</code>");
    assert!(url.contains("/integrations/deploy/") && !after.contains(&endpoint.path), "{after}");
    assert_eq!(endpoint.post_with(json!({})).await.status, 404);

    // What has no webhook has no button, and the form is refused.
    let id = made["aws"]["integration"]["id"].as_str().expect("an id");
    let aws = browser.page(&format!("/integrations/{id}")).await;
    assert!(!aws.contains("/rotate\""), "{aws}");
    let refused = browser.post(&format!("/integrations/{id}/rotate"), &[]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("this is an integration of type aws, which receives no events"), "{refused:?}");
    let mut viewer = Browser::of(app, Role::Viewer).await;
    assert!(!viewer.page(&here).await.contains("/rotate\""));
    assert_eq!(viewer.post(&rotate, &[]).await.status, 403);
    let audit = Browser::of(app, Role::Admin).await.page("/audit?action=eventIntegrationUrlRotate").await;
    assert!(audit.contains("gave a new URL to event integration"), "{audit}");
}
