//! Bodies as real pipelines send them, byte for byte, with their clients' headers, and how each is stored.

use hyper::Method;
use serde_json::{Value, json};

use crate::harness::webhook::Endpoint;

/// Posts a body like a client does, with a query string as plugins append it. Returns the response and everything
/// stored.
async fn sent(query: &str, headers: &[(&str, &str)], body: &str) -> (String, Value) {
    let endpoint = Endpoint::start().await;
    let answer =
        endpoint.app.request(Method::POST, &format!("{}{query}", endpoint.path), headers, body.to_owned()).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let fields = "serviceAlias description deployedAt startedAt environment status deployStatus deployNumber deployUrl
        dedupId deployerId deployerName deployerEmail commitSha commitMessage commitBranch committedAt committerName
        committerEmail commitAuthorName commitAuthorEmail commitAuthoringDate";
    let mut stored = endpoint.deploys(fields).await[0].take();
    // Absent attributes are null, and an absent status is `no_status`. Only the others are worth a line.
    stored.as_object_mut().expect("a deploy").retain(|_, value| !value.is_null() && value != "no_status");
    (String::from_utf8(answer.body.to_vec()).expect("text"), stored)
}

const OK: &str = r#"{"result":"ok"}"#;

#[tokio::test]
async fn a_go_client_sends_nanoseconds_an_empty_address_and_an_empty_commit() {
    let headers =
        [("user-agent", "Go-http-client/1.1"), ("content-type", "application/json"), ("accept-encoding", "gzip")];
    let body = r#"{"service":"org/repo","deployer":{"id":"","email":"","name":"Ada Lovelace"},"deployed_at":"2026-11-21T01:44:00.123456789Z","started_at":"","description":"Event created by a command line","environment":"","dedup_id":"","deploy_number":"","deploy_url":"","status":"success","commit":{}}"#;
    let (answer, stored) = sent("", &headers, body).await;
    let expected = concat!(
        r#"{"result":"no_service_found","message":"No service has the alias \"org/repo\". "#,
        r#"The deploy is recorded, and the alias is recorded as a suggestion."}"#
    );
    assert_eq!(answer, expected);
    let expected = json!({
        "serviceAlias": "org/repo", "description": "Event created by a command line",
        "deployedAt": "2026-11-21T01:44:00.123456Z", "status": "success", "deployStatus": "success",
        "deployNumber": "1", "deployerName": "Ada Lovelace",
    });
    assert_eq!(stored, expected);
}

#[tokio::test]
async fn a_go_client_sends_a_commit_with_dates_in_the_authors_zone() {
    let headers = [("user-agent", "Go-http-client/2.0"), ("content-type", "application/json; charset=utf-8")];
    let body = r#"{"service":"shop","deployer":{"email":"ada@example.com"},"deployed_at":"2026-11-21T01:44:00.123456789Z","description":"Sell more","status":"success","commit":{"sha":"38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5","message":"Sell more","branch":"main","date":"2026-01-02T03:04:05-05:00","committer_name":"GitHub","committer_email":"noreply@github.com","author_name":"Ada Lovelace","author_email":"ada@example.com","authoring_date":"2026-01-02T03:04:05-05:00"}}"#;
    let (answer, stored) = sent("?agent=rollcall-cli-1.2.3", &headers, body).await;
    assert_eq!(answer, OK);
    let expected = json!({
        "serviceAlias": "shop", "description": "Sell more", "deployedAt": "2026-11-21T01:44:00.123456Z",
        "status": "success", "deployStatus": "success", "deployNumber": "1", "deployerEmail": "ada@example.com",
        "commitSha": "38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5", "commitMessage": "Sell more", "commitBranch": "main",
        "committedAt": "2026-01-02T08:04:05Z", "committerName": "GitHub", "committerEmail": "noreply@github.com",
        "commitAuthorName": "Ada Lovelace", "commitAuthorEmail": "ada@example.com",
        "commitAuthoringDate": "2026-01-02T08:04:05Z",
    });
    assert_eq!(stored, expected);
}

/// `"${{ github.event.head_commit.timestamp }}"` has an offset, GitHub quotes
/// `toJSON(github.event.head_commit.message)`, and `$(date -u '+%F %T')` has no zone.
#[tokio::test]
async fn a_step_of_github_actions_posts_with_curl() {
    let headers = [("user-agent", "curl/8.5.0"), ("accept", "*/*"), ("content-type", "application/json")];
    let body = r#"{
  "service": "org/shop",
  "description": "Merge pull request #1204 from org/less-waiting\n\nWait \"less\"",
  "deployed_at": "2026-11-21 01:44:00",
  "environment": "production",
  "deployer": { "name": "octocat", "email": "", "id": "583231" },
  "deploy_url": "https://github.com/org/shop/actions/runs/19553201181",
  "deploy_number": "412",
  "dedup_id": "19553201181-1",
  "status": "success",
  "commit": {
    "sha": "38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5",
    "message": "Merge pull request #1204 from org/less-waiting\n\nWait \"less\"",
    "branch": "main",
    "date": "2026-11-21T02:39:55+01:00",
    "author_name": "Ada Lovelace",
    "author_email": "583231+octocat@users.noreply.github.com"
  }
}
"#;
    let (_, stored) = sent("?agent=github-actions", &headers, body).await;
    let message = "Merge pull request #1204 from org/less-waiting\n\nWait \"less\"";
    let expected = json!({
        "serviceAlias": "org/shop", "description": message, "deployedAt": "2026-11-21T01:44:00Z",
        "environment": "production", "status": "success", "deployStatus": "success", "deployNumber": "412",
        "deployUrl": "https://github.com/org/shop/actions/runs/19553201181", "dedupId": "19553201181-1",
        "deployerId": "583231", "deployerName": "octocat",
        "commitSha": "38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5", "commitMessage": message, "commitBranch": "main",
        "committedAt": "2026-11-21T01:39:55Z", "commitAuthorName": "Ada Lovelace",
        "commitAuthorEmail": "583231+octocat@users.noreply.github.com",
    });
    assert_eq!(stored, expected);
}

/// An orb expands its parameters. Missing ones become empty texts.
#[tokio::test]
async fn a_circleci_orb_leaves_parameters_empty() {
    let headers = [("user-agent", "curl/7.88.1"), ("accept", "*/*"), ("content-type", "application/json")];
    let body = r#"{"service":"shop","description":"less-waiting","deployed_at":"2026-11-21T01:44:00Z","started_at":"","environment":"","deploy_number":"9876","deploy_url":"https://circleci.com/gh/org/shop/9876","dedup_id":"b3b1c8a0-6a3f-4a9e-9d5e-2f6f3a0f6f4e","status":"","deployer":{"id":"","email":"ada@example.com","name":"ada"},"commit":{"sha":"38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5","message":"Wait less","branch":"less-waiting","date":"2026-11-21 02:39:55 +0100","committer_name":"","committer_email":"","author_name":"Ada","author_email":"ada@example.com","authoring_date":"2026-11-21 02:39:55 +0100"}}"#;
    let (answer, stored) = sent("?agent=circleci-orb-1.0.7", &headers, body).await;
    assert_eq!(answer, OK);
    let expected = json!({
        "serviceAlias": "shop", "description": "less-waiting", "deployedAt": "2026-11-21T01:44:00Z",
        "deployNumber": "9876", "deployUrl": "https://circleci.com/gh/org/shop/9876",
        "dedupId": "b3b1c8a0-6a3f-4a9e-9d5e-2f6f3a0f6f4e", "deployerName": "ada", "deployerEmail": "ada@example.com",
        "commitSha": "38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5", "commitMessage": "Wait less",
        "commitBranch": "less-waiting", "committedAt": "2026-11-21T01:39:55Z", "commitAuthorName": "Ada",
        "commitAuthorEmail": "ada@example.com", "commitAuthoringDate": "2026-11-21T01:39:55Z",
    });
    assert_eq!(stored, expected);
}

/// `httpRequest contentType: 'APPLICATION_JSON', requestBody: groovy.json.JsonOutput.toJson([...])`: Groovy escapes
/// slashes and non-ASCII letters, and writes a missing value as null.
#[tokio::test]
async fn the_http_request_plugin_of_jenkins_names_a_charset_in_capitals_and_escapes_letters() {
    let headers = [
        ("user-agent", "Apache-HttpClient/4.5.14 (Java/17.0.13)"),
        ("content-type", "application/json; charset=UTF-8"),
        ("accept-encoding", "gzip,deflate"),
    ];
    let body = r#"{"service":"shop","description":"jenkins-shop-main-57","deployed_at":"2026-11-21T01:44:00Z","environment":"pr\u00e9-production","deployer":{"name":"Zo\u00eb Kr\u00fcger","email":null,"id":"zoe"},"deploy_url":"https:\/\/jenkins.example.com\/job\/shop\/job\/main\/57\/","deploy_number":"57","dedup_id":"jenkins-shop-main-57","status":null,"commit":{"sha":"38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5","branch":"origin\/main","message":"Wait less \ud83d\ude80"}}"#;
    let (answer, stored) = sent("?agent=jenkins-1.0", &headers, body).await;
    assert_eq!(answer, OK);
    let expected = json!({
        "serviceAlias": "shop", "description": "jenkins-shop-main-57", "deployedAt": "2026-11-21T01:44:00Z",
        "environment": "pré-production", "deployerName": "Zoë Krüger", "deployerId": "zoe", "deployNumber": "57",
        "deployUrl": "https://jenkins.example.com/job/shop/job/main/57/", "dedupId": "jenkins-shop-main-57",
        "commitSha": "38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5", "commitBranch": "origin/main",
        "commitMessage": "Wait less 🚀",
    });
    assert_eq!(stored, expected);
}

/// `sh "curl … -d @deploy.json"`: the file may have any line ends.
#[tokio::test]
async fn a_shell_step_of_jenkins_posts_what_git_prints() {
    let headers =
        [("user-agent", "curl/7.74.0"), ("accept", "*/*"), ("content-type", "application/json;charset=utf-8")];
    let body = "{\"service\":\"shop\",\"description\":\"Wait less\",\"deployed_at\":\"2026-11-21 01:44:00 +0000\",\r\n \"deployer\":{\"email\":\"Ada@Example.com\"},\"commit\":{\"date\":\"2026-11-21 02:39:55 +0100\"},\"started_at\":\"2026-11-21 01:40:12 UTC\"}\n";
    let (answer, stored) = sent("", &headers, body).await;
    assert_eq!(answer, OK);
    let expected = json!({
        "serviceAlias": "shop", "description": "Wait less", "deployedAt": "2026-11-21T01:44:00Z",
        "startedAt": "2026-11-21T01:40:12Z", "deployNumber": "1", "deployerEmail": "Ada@Example.com",
        "committedAt": "2026-11-21T01:39:55Z",
    });
    assert_eq!(stored, expected);
}

/// `CI_JOB_STARTED_AT` and `CI_COMMIT_TIMESTAMP` are ISO 8601; `CI_COMMIT_BRANCH` is empty in a pipeline of a tag.
#[tokio::test]
async fn a_gitlab_job_posts_its_predefined_variables() {
    let headers = [("user-agent", "curl/8.11.0"), ("accept", "*/*"), ("content-type", "application/json")];
    let body = r#"{"service":"group/sub/shop","description":"Wait less","deployed_at":"2026-11-21T01:44:00Z","started_at":"2026-11-21T01:40:12Z","environment":"production/eu","deploy_number":"1043","deploy_url":"https://gitlab.example.com/group/sub/shop/-/jobs/55121","dedup_id":"55121","deployer":{"id":"42","name":"Ada Lovelace","email":"ada@example.com"},"commit":{"sha":"38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5","message":"Wait less\n","branch":"","date":"2026-11-21T02:39:55+01:00","author_name":"Ada Lovelace"}}"#;
    let (_, stored) = sent("?agent=gitlab-ci", &headers, body).await;
    let expected = json!({
        "serviceAlias": "group/sub/shop", "description": "Wait less", "deployedAt": "2026-11-21T01:44:00Z",
        "startedAt": "2026-11-21T01:40:12Z", "environment": "production/eu", "deployNumber": "1043",
        "deployUrl": "https://gitlab.example.com/group/sub/shop/-/jobs/55121", "dedupId": "55121",
        "deployerId": "42", "deployerName": "Ada Lovelace", "deployerEmail": "ada@example.com",
        "commitSha": "38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5", "commitMessage": "Wait less\n",
        "committedAt": "2026-11-21T01:39:55Z", "commitAuthorName": "Ada Lovelace",
    });
    assert_eq!(stored, expected);
}

/// `deployed_at` is `{{.app.status.operationState.finishedAt}}` and `status` is `{{.app.status.operationState.phase}}`.
/// The commit comes from `call .repo.GetCommitMetadata`, with its date formatted by `Format
/// "2006-01-02T15:04:05Z07:00"`.
#[tokio::test]
async fn the_notifications_of_argo_cd_post_a_template() {
    let headers =
        [("user-agent", "Go-http-client/1.1"), ("content-type", "application/json"), ("accept-encoding", "gzip")];
    let body = r#"{
  "service": "prod:deployment/shop",
  "description": "Application shop is synced to 38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5",
  "deployed_at": "2026-11-21T01:44:00Z",
  "started_at": "2026-11-21T01:43:31Z",
  "environment": "https://kubernetes.default.svc",
  "deployer": { "name": "Argo CD" },
  "deploy_url": "https://argocd.example.com/applications/shop?operation=true",
  "dedup_id": "shop-38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5-12",
  "status": "Succeeded",
  "commit": {
    "sha": "38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5",
    "message": "Wait less",
    "date": "2026-11-21T01:39:55Z",
    "author_name": "Ada Lovelace <ada@example.com>"
  }
}"#;
    let (_, stored) = sent("", &headers, body).await;
    let expected = json!({
        "serviceAlias": "prod:deployment/shop",
        "description": "Application shop is synced to 38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5",
        "deployedAt": "2026-11-21T01:44:00Z", "startedAt": "2026-11-21T01:43:31Z",
        "environment": "https://kubernetes.default.svc", "deployerName": "Argo CD", "deployNumber": "1",
        "deployUrl": "https://argocd.example.com/applications/shop?operation=true",
        "dedupId": "shop-38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5-12", "status": "Succeeded",
        "deployStatus": "success", "commitSha": "38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5",
        "commitMessage": "Wait less", "committedAt": "2026-11-21T01:39:55Z",
        "commitAuthorName": "Ada Lovelace <ada@example.com>",
    });
    assert_eq!(stored, expected);
}

/// The output of a template that does not format its times: `{{(call .repo.GetCommitMetadata …).Date}}`, `{{call
/// .time.Now}}`.
#[tokio::test]
async fn a_go_template_prints_times_as_go_does() {
    let body = r#"{"service":"shop","description":"Wait less","deployer":{"name":"Argo CD"},
        "deployed_at":"2026-11-21 01:44:00.123456789 +0000 UTC","started_at":"2026-11-21 02:43:31.5 +0100 CET m=+0.123456789",
        "commit":{"date":"2026-11-20 22:39:55 -0300 -03"}}"#;
    let (answer, stored) = sent("", &[("content-type", "application/json")], body).await;
    assert_eq!(answer, OK);
    let expected = json!({
        "serviceAlias": "shop", "description": "Wait less", "deployerName": "Argo CD", "deployNumber": "1",
        "deployedAt": "2026-11-21T01:44:00.123456Z", "startedAt": "2026-11-21T01:43:31.5Z",
        "committedAt": "2026-11-21T01:39:55Z",
    });
    assert_eq!(stored, expected);
}
