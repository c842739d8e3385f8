//! `rollcall deploy`: what a pipeline sends, to a recording server and to the real one.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Command, Output};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::harness::deadline::{accept, output};
use crate::harness::process::Process;
use crate::harness::program::{Done, Place, assert_refused};

/// A server that sends these responses in turn, one per connection, and records the requests. An empty response is a
/// broken connection.
struct Fake {
    url: String,
    served: JoinHandle<Vec<Value>>,
}

const SECRET: &str = "5d1f7a52-secret";
const RECORDED: &str = "HTTP/1.1 202 Accepted\r\nContent-Length: 15\r\n\r\n{\"result\":\"ok\"}";

impl Fake {
    fn answering<const N: usize>(answers: [&'static str; N]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/integrations/deploy/{SECRET}", listener.local_addr().expect("an address"));
        let serve = move |answer: &str| {
            let mut stream = BufReader::new(accept(&listener));
            let (mut head, mut length) = (String::new(), 0);
            while !head.ends_with("\r\n\r\n") {
                let mut line = String::new();
                stream.read_line(&mut line).expect("a head");
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().expect("a length");
                }
                head += &line;
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).expect("a body");
            assert!(head.starts_with(&format!("POST /integrations/deploy/{SECRET} HTTP/1.1\r\n")), "{head}");
            assert!(head.to_lowercase().contains("\r\ncontent-type: application/json\r\n"), "{head}");
            stream.get_mut().write_all(answer.as_bytes()).expect("an answer");
            serde_json::from_slice(&body).expect("JSON")
        };
        Self { url, served: std::thread::spawn(move || answers.into_iter().map(serve).collect()) }
    }

    /// The requests, once all responses were sent.
    fn sent(self) -> Vec<Value> {
        self.served.join().expect("served")
    }
}

/// Runs `rollcall deploy` with exactly this environment. Asserts that its output never contains the secret.
fn deploy(place: &Place, url: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Done {
    let mut command = place.command(&[&["deploy"], arguments].concat());
    command.env("ROLLCALL_DEPLOY_URL", url).envs(environment.iter().copied());
    let Output { status, stdout, stderr } = output(&mut command);
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let done = Done { status: status.code().expect("a status"), out: text(stdout), err: text(stderr) };
    assert!(!done.out.contains(SECRET) && !done.err.contains(SECRET), "{}{}", done.out, done.err);
    done
}

/// An empty folder, so git finds nothing.
const NO_GIT: (&str, &str) = ("PATH", "/nonexistent");

/// The minimum without git and a pipeline.
const ENOUGH: [&str; 6] = ["--service", "shop", "--description", "Sell more", "--deployer-name", "Ada"];

fn git(place: &Place, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(place.path()).args(arguments).env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", place.path());
    for (role, name, date) in
        [("AUTHOR", "Ada", "2026-01-02T03:04:05-05:00"), ("COMMITTER", "Grace", "2026-01-03T00:00:00Z")]
    {
        git.env(format!("GIT_{role}_NAME"), name).env(format!("GIT_{role}_DATE"), date);
        git.env(format!("GIT_{role}_EMAIL"), format!("{}@example.com", name.to_lowercase()));
    }
    let done = git.output().expect("git");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// A folder with a repository of one commit.
fn repository() -> Place {
    let place = Place::new();
    git(&place, &["init", "--quiet", "--initial-branch", "trunk"]);
    git(&place, &["commit", "--quiet", "--allow-empty", "--message", "Sell more\n\nMuch \"more\", zł"]);
    place
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deploy_is_recorded_with_the_commit_that_is_checked_out() {
    let place = repository();
    let service = Process::start(place.command(&["--listen", "127.0.0.1:0"]));
    let token = place.run(&["token", "create", "--description", "x"]).out.trim().to_owned();
    let create = json!({ "query": "mutation { serviceCreate(input: { name: \"shop\" }) { service { id } } }" });
    service.post("/graphql", Some(&token), &create).await.expect("an answer");
    let url =
        place.run(&["deploy-endpoint", "create", "--name", "CI", "--app-url", &format!("http://{}", service.address)]);
    place.write("url", &url.out);

    let send = || {
        place.run(&[
            "deploy",
            "--url-file",
            "url",
            "--service",
            "shop",
            "--environment",
            "production",
            "--status",
            "succeeded",
            "--dedup-id",
            "7",
            "--started-at",
            "2026-11-21 01:40:00",
            "--deployed-at",
            "2026-11-21T01:44:00Z",
        ])
    };
    let done = send();
    assert_eq!((done.status, &*done.out, &*done.err), (0, "{\"result\":\"ok\"}\n", ""));
    let again = send();
    let sentence = "No deploy was created because of an existing deploy with identical dedup_id.";
    assert_eq!((again.status, &*again.err), (0, &*format!("rollcall: {sentence}\n")));
    let expected = json!({ "result": "duplicate_deploy", "message": sentence });
    assert_eq!(serde_json::from_str::<Value>(&again.out).expect("JSON"), expected);

    let fields =
        "service { name } description environment status duration deployNumber dedupId deployerName deployerEmail
        commitMessage commitBranch committedAt committerName committerEmail commitAuthorName commitAuthorEmail
        commitAuthoringDate";
    let expected = json!([{
        "service": { "name": "shop" }, "description": "Sell more", "environment": "production", "status": "succeeded",
        "duration": 240, "deployNumber": "1", "dedupId": "7", "deployerName": "Ada", "deployerEmail": "ada@example.com",
        "commitMessage": "Sell more\n\nMuch \"more\", zł", "commitBranch": "trunk",
        "committedAt": "2026-01-03T00:00:00Z", "committerName": "Grace", "committerEmail": "grace@example.com",
        "commitAuthorName": "Ada", "commitAuthorEmail": "ada@example.com", "commitAuthoringDate": "2026-01-02T08:04:05Z",
    }]);
    assert_eq!(json!(service.deploys(&token, fields).await), expected);

    // A refusal shows the server's sentences and is not retried.
    let done = place.run(&[
        "deploy",
        "--url-file",
        "url",
        "--service",
        "shop",
        "--started-at",
        "soon",
        "--deployed-at",
        "now",
    ]);
    let forms = "is not a date and time such as 2026-11-21T01:44:00Z or 2026-11-21 01:44:00";
    // A wrong `started_at` alone is left out.
    assert_refused(&done, &format!("deployed_at \"now\" {forms}"));
    place.run(&["deploy-endpoint", "delete", "1"]);
    assert_refused(&send(), "there is no deploy endpoint at this URL, or no longer");
}

#[test]
fn the_run_the_commit_and_the_deployer_are_read_from_each_ci_systems_variables() {
    let sha = "38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5";
    let cases: [(&[(&str, &str)], Value); 7] = [
        (
            &[
                ("GITHUB_ACTIONS", "true"),
                ("GITHUB_SERVER_URL", "https://github.com"),
                ("GITHUB_REPOSITORY", "org/shop"),
                ("GITHUB_RUN_ID", "19553201181"),
                ("GITHUB_ACTOR", "octocat"),
                ("GITHUB_ACTOR_ID", "583231"),
                ("GITHUB_SHA", sha),
                ("GITHUB_REF_TYPE", "branch"),
                ("GITHUB_REF_NAME", "main"),
                ("GITHUB_HEAD_REF", ""),
            ],
            json!({
                "deploy_url": "https://github.com/org/shop/actions/runs/19553201181",
                "deployer": { "name": "octocat", "id": "583231" }, "commit": { "sha": sha, "branch": "main" },
            }),
        ),
        (
            &[
                ("GITLAB_CI", "true"),
                ("CI_JOB_URL", "https://gitlab.example.com/org/shop/-/jobs/55121"),
                ("CI_ENVIRONMENT_NAME", "production/eu"),
                ("GITLAB_USER_NAME", "Ada Lovelace"),
                ("GITLAB_USER_ID", "42"),
                ("GITLAB_USER_EMAIL", "ada@example.com"),
                ("CI_COMMIT_SHA", sha),
                ("CI_COMMIT_BRANCH", "main"),
                ("CI_COMMIT_MESSAGE", "Wait less\n\nMuch"),
                ("CI_COMMIT_TIMESTAMP", "2026-11-21T02:39:55+01:00"),
                ("CI_COMMIT_AUTHOR", "Grace Hopper <grace@example.com>"),
            ],
            json!({
                "description": "Wait less", "deploy_url": "https://gitlab.example.com/org/shop/-/jobs/55121",
                "environment": "production/eu",
                "deployer": { "name": "Ada Lovelace", "email": "ada@example.com", "id": "42" },
                "commit": {
                    "sha": sha, "branch": "main", "message": "Wait less\n\nMuch", "date": "2026-11-21T02:39:55+01:00",
                    "author_name": "Grace Hopper", "author_email": "grace@example.com",
                },
            }),
        ),
        (
            &[
                ("CIRCLECI", "true"),
                ("CIRCLE_BUILD_URL", "https://circleci.com/gh/org/shop/9876"),
                ("CIRCLE_USERNAME", "ada"),
                ("CIRCLE_SHA1", sha),
                ("CIRCLE_BRANCH", "main"),
            ],
            json!({
                "deploy_url": "https://circleci.com/gh/org/shop/9876", "deployer": { "name": "ada" },
                "commit": { "sha": sha, "branch": "main" },
            }),
        ),
        (
            &[
                ("JENKINS_URL", "https://jenkins.example.com/"),
                ("BUILD_URL", "https://jenkins.example.com/job/shop/57/"),
                ("GIT_COMMIT", sha),
                ("GIT_BRANCH", "origin/main"),
                ("BUILD_USER", "Ada Lovelace"),
                ("BUILD_USER_ID", "ada"),
            ],
            json!({
                "deploy_url": "https://jenkins.example.com/job/shop/57/",
                "deployer": { "name": "Ada Lovelace", "id": "ada" }, "commit": { "sha": sha, "branch": "main" },
            }),
        ),
        (
            &[
                ("BUILDKITE", "true"),
                ("BUILDKITE_BUILD_URL", "https://buildkite.com/org/shop/builds/12"),
                ("BUILDKITE_BUILD_CREATOR", "Ada"),
                ("BUILDKITE_BUILD_CREATOR_EMAIL", "ada@example.com"),
                ("BUILDKITE_COMMIT", "HEAD"),
                ("BUILDKITE_BRANCH", "main"),
                ("BUILDKITE_MESSAGE", "Wait less"),
            ],
            json!({
                "description": "Wait less", "deploy_url": "https://buildkite.com/org/shop/builds/12",
                "deployer": { "name": "Ada", "email": "ada@example.com" },
                "commit": { "branch": "main", "message": "Wait less" },
            }),
        ),
        (
            &[
                ("TF_BUILD", "True"),
                ("SYSTEM_COLLECTIONURI", "https://dev.azure.com/org/"),
                ("SYSTEM_TEAMPROJECT", "Web Shop"),
                ("BUILD_BUILDID", "812"),
                ("BUILD_REQUESTEDFOR", "Ada"),
                ("BUILD_REQUESTEDFOREMAIL", "ada@example.com"),
                ("BUILD_SOURCEVERSION", sha),
                ("BUILD_SOURCEBRANCH", "refs/heads/feature/less"),
                ("BUILD_SOURCEVERSIONMESSAGE", "Wait less"),
                ("ENVIRONMENT_NAME", "production"),
            ],
            json!({
                "description": "Wait less", "environment": "production",
                "deploy_url": "https://dev.azure.com/org/Web%20Shop/_build/results?buildId=812",
                "deployer": { "name": "Ada", "email": "ada@example.com" },
                "commit": { "sha": sha, "branch": "feature/less", "message": "Wait less" },
            }),
        ),
        (
            &[
                ("BITBUCKET_BUILD_NUMBER", "31"),
                ("BITBUCKET_GIT_HTTP_ORIGIN", "http://bitbucket.org/org/shop"),
                ("BITBUCKET_COMMIT", sha),
                ("BITBUCKET_BRANCH", "main"),
                ("BITBUCKET_DEPLOYMENT_ENVIRONMENT", "production"),
                ("ROLLCALL_DEPLOY_DEPLOYER_EMAIL", "ada@example.com"),
            ],
            json!({
                "deploy_url": "https://bitbucket.org/org/shop/pipelines/results/31", "environment": "production",
                "deployer": { "email": "ada@example.com" }, "commit": { "sha": sha, "branch": "main" },
            }),
        ),
    ];
    for (variables, expected) in cases {
        let (place, fake) = (Place::new(), Fake::answering([RECORDED]));
        let mut arguments = vec!["--service", "shop", "--deployed-at", "2026-11-21 01:44:00", "--dedup-id", "7"];
        let mut whole = json!({ "service": "shop", "deployed_at": "2026-11-21 01:44:00", "dedup_id": "7" });
        if expected["description"].is_null() {
            arguments.extend(["--description", "Sell more"]);
            whole["description"] = json!("Sell more");
        }
        for (name, value) in expected.as_object().expect("an object") {
            whole[name] = value.clone();
        }
        let done = deploy(&place, &fake.url, &arguments, &[&[NO_GIT], variables].concat());
        assert_eq!((done.status, &*done.out, &*done.err), (0, "{\"result\":\"ok\"}\n", ""), "{variables:?}");
        assert_eq!(fake.sent(), [whole], "{variables:?}");
    }
}

#[test]
fn a_post_to_a_busy_or_unreachable_server_is_retried_with_the_same_dedup_id() {
    let fake = Fake::answering([
        "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n",
        "",
        RECORDED,
    ]);
    let url = fake.url.clone();
    let done = deploy(&Place::new(), &url, &ENOUGH, &[NO_GIT]);
    assert_eq!((done.status, &*done.out), (0, "{\"result\":\"ok\"}\n"), "{}", done.err);
    let sent = fake.sent();
    assert!(sent.iter().all(|body| body == &sent[0]), "{sent:?}");
    assert_eq!(sent[0]["dedup_id"].as_str().map(str::len), Some(32));
    let said: Vec<_> = done.err.lines().collect();
    assert_eq!(said.len(), 3, "{}", done.err);
    assert!(said[0].starts_with("rollcall: the server answers 503; trying again in "), "{}", said[0]);
    // At least as long as the server asked for.
    assert!(said[1].starts_with("rollcall: the server answers 429; trying again in 1."), "{}", said[1]);
    assert!(said[0].ends_with(" s, for at most 60 s (--deadline)"), "{}", said[0]);
    let host = url.split('/').nth(2).expect("the host");
    assert!(said[2].starts_with(&format!("rollcall: the server {host} cannot be reached: ")), "{}", said[2]);
}

#[test]
fn a_permanent_refusal_is_not_retried() {
    for (answer, sentence) in [
        (
            "HTTP/1.1 400 Bad Request\r\nContent-Length: 55\r\n\r\n{\"errors\":[{\"detail\":\"first\"},{\"detail\":\"second \u{e9}\"}]} ",
            "first; second é",
        ),
        (
            "HTTP/1.1 302 Found\r\nLocation: /sign-in\r\nContent-Length: 0\r\n\r\n",
            "the server answers 302, but not like a deploy endpoint: is the URL right?",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n<!doc",
            "the server answers 200, but not like a deploy endpoint: is the URL right?",
        ),
    ] {
        let fake = Fake::answering([answer]);
        assert_refused(&deploy(&Place::new(), &fake.url, &ENOUGH, &[NO_GIT]), sentence);
    }
}

#[test]
fn an_http_url_of_a_server_that_wants_https_is_refused_with_the_cure() {
    for answer in [
        "HTTP/1.1 301 Moved Permanently\r\nLocation: https://127.0.0.1/x\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 400 Bad Request\r\nContent-Length: 48\r\n\r\nClient sent an HTTP request to an HTTPS server.\n",
    ] {
        let fake = Fake::answering([answer]);
        let host = fake.url.split('/').nth(2).expect("the host").to_owned();
        let done = deploy(&Place::new(), &fake.url, &ENOUGH, &[NO_GIT]);
        assert_refused(&done, &format!("the server {host} speaks TLS; write https:// instead of http://"));
    }
    // The host of another site says nothing about this one.
    let fake = Fake::answering(["HTTP/1.1 302 Found\r\nLocation: https://login.example\r\nContent-Length: 0\r\n\r\n"]);
    let sentence = "the server answers 302, but not like a deploy endpoint: is the URL right?";
    assert_refused(&deploy(&Place::new(), &fake.url, &ENOUGH, &[NO_GIT]), sentence);
}

#[test]
fn retries_stop_at_the_deadline() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let url = format!("http://{free}/integrations/deploy/{SECRET}");
    let done = deploy(&Place::new(), &url, &[&ENOUGH[..], &["--deadline", "1s"]].concat(), &[NO_GIT]);
    assert_eq!((done.status, &*done.out), (1, ""));
    let last = done.err.lines().next_back().expect("a line");
    assert!(last.starts_with(&format!("rollcall: the server {free} cannot be reached: ")), "{last}");
    assert!(last.ends_with("; gave up at the deadline (--deadline)"), "{last}");
    // Gives up if the server asks for more time than is left.
    let fake = Fake::answering(["HTTP/1.1 429 Too Many Requests\r\nRetry-After: 900\r\nContent-Length: 0\r\n\r\n"]);
    let done = deploy(&Place::new(), &fake.url, &ENOUGH, &[NO_GIT]);
    assert_refused(&done, "the server answers 429; gave up at the deadline (--deadline)");
}

#[test]
fn without_git_and_a_pipeline_the_missing_deployer_is_named() {
    let place = Place::new();
    let url = format!("http://127.0.0.1:9/integrations/deploy/{SECRET}");
    for arguments in [&["--service", "shop"][..], &["--service", "shop", "--description", "x"]] {
        let done = deploy(&place, &url, arguments, &[NO_GIT]);
        assert_refused(&done, "the deployer is not known; give --deployer-name or --deployer-email");
    }
}

/// The description and the hash that a checkout is reported with.
fn described(place: &Place, environment: &[(&str, &str)]) -> (String, Value) {
    let fake = Fake::answering([RECORDED]);
    let done = deploy(place, &fake.url, &["--service", "shop", "--deployer-name", "Ada"], environment);
    assert_eq!(done.status, 0, "{}", done.err);
    let sent = fake.sent().remove(0);
    (sent["description"].as_str().expect("a description").to_owned(), sent["commit"]["sha"].clone())
}

#[test]
fn a_commit_without_a_message_is_reported_with_a_description_of_its_own() {
    let place = repository();
    let empty = ["commit", "--quiet", "--allow-empty", "--allow-empty-message", "--message", ""];
    git(&place, &empty);
    let (description, sha) = described(&place, &[]);
    let sha = sha.as_str().expect("a hash").to_owned();
    assert_eq!(description, format!("Deploy of commit {}", &sha[..12]));
    // Nothing but blanks.
    git(&place, &["commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "--message", "\n  \n"]);
    assert!(described(&place, &[]).0.starts_with("Deploy of commit "));
    // A checkout of one commit, without a branch.
    git(&place, &["checkout", "--quiet", "--detach", &sha]);
    assert_eq!(described(&place, &[]), (format!("Deploy of commit {}", &sha[..12]), json!(sha)));
    let shallow = Place::new();
    git(&shallow, &["clone", "--quiet", "--depth", "1", &format!("file://{}", place.path().display()), "."]);
    assert_eq!(described(&shallow, &[]).0, format!("Deploy of commit {}", &sha[..12]));
    // A commit that the checkout does not have, a repository without commits, and no git at all.
    let run = [("GITHUB_ACTIONS", "true"), ("GITHUB_SHA", "0123456789abcdef0123456789abcdef01234567")];
    assert_eq!(described(&shallow, &run).0, "Deploy of commit 0123456789ab");
    let new = Place::new();
    git(&new, &["init", "--quiet"]);
    assert_eq!(described(&new, &[]), ("Deploy of shop".to_owned(), Value::Null));
    assert_eq!(described(&Place::new(), &[NO_GIT]), ("Deploy of shop".to_owned(), Value::Null));
    assert_eq!(described(&Place::new(), &[NO_GIT, run[0], run[1]]).0, "Deploy of commit 0123456789ab");
}

#[test]
fn an_invalid_url_is_wrong_usage_and_is_not_quoted() {
    let place = Place::new();
    for url in [SECRET, "ftp://host/5d1f7a52-secret", "https://host", "https://host/5d1f7a52-secret with blanks"] {
        let done = deploy(&place, url, &ENOUGH, &[]);
        assert_eq!((done.status, &*done.out), (2, ""), "{url}");
        assert!(
            done.err.starts_with("error: the deploy URL must be what `rollcall deploy-endpoint create` printed"),
            "{}",
            done.err
        );
    }
    place.write("url", "https://host");
    let done = place.run(&[&["deploy", "--url-file", "url"], &ENOUGH[..]].concat());
    assert!(done.status == 1 && done.err.starts_with("rollcall: url: the deploy URL must be"), "{}", done.err);
    let help = deploy(&place, &format!("https://host/{SECRET}"), &["--help"], &[]);
    assert_eq!(help.status, 0);
    for flag in ["--url", "--url-file", "--service", "--description", "--environment", "--status", "--dedup-id"] {
        let variable = flag.to_uppercase().replacen("--", "ROLLCALL_DEPLOY_", 1).replace('-', "_");
        let out = help.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(out.contains(flag) && out.contains(&format!("[env: {variable}")), "{flag}");
    }
}

#[test]
fn without_a_url_the_missing_secret_is_named() {
    let place = Place::new();
    let sentence = "there is no deploy URL: set ROLLCALL_DEPLOY_URL (is the secret set for this job?), or \
                    ROLLCALL_DEPLOY_URL_FILE, or --url";
    assert_refused(&place.run(&[&["deploy"], &ENOUGH[..]].concat()), sentence);
    assert_refused(&deploy(&place, "", &ENOUGH, &[NO_GIT]), sentence);
    let done = place.run(&[&["deploy", "--url", ""], &ENOUGH[..]].concat());
    assert!(done.status == 2 && done.err.starts_with(&format!("error: {sentence}\n")), "{}", done.err);
    // A blank variable does not conflict with the file.
    let fake = Fake::answering([RECORDED]);
    place.write("url", &fake.url);
    let done = deploy(&place, " ", &[&["--url-file", "url"], &ENOUGH[..]].concat(), &[NO_GIT]);
    assert_eq!((done.status, &*done.out), (0, "{\"result\":\"ok\"}\n"), "{}", done.err);
}

#[test]
fn a_server_may_ask_for_any_delay() {
    let place = Place::new();
    for answer in [
        "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 18446744073709551615\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 99999999999999999999999999\r\nContent-Length: 0\r\n\r\n",
    ] {
        let fake = Fake::answering([answer]);
        let done = deploy(&place, &fake.url, &ENOUGH, &[NO_GIT]);
        let status = &answer[9..12];
        assert_refused(&done, &format!("the server answers {status}; gave up at the deadline (--deadline)"));
        assert_eq!(fake.sent().len(), 1);
    }
    let fake = Fake::answering([RECORDED]);
    let forever = ["--deadline", "7000000d"];
    let done = deploy(&place, &fake.url, &[&ENOUGH[..], &forever].concat(), &[NO_GIT]);
    assert_eq!(done.status, 0, "{}", done.err);
}

#[test]
fn a_misspelt_status_is_wrong_usage_and_gets_a_suggestion() {
    let place = Place::new();
    let status = |word: &str| deploy(&place, "http://127.0.0.1:1/x", &[&ENOUGH[..], &["--status", word]].concat(), &[]);
    for (word, hint) in [
        ("sucess", "did you mean success? write succeeded, failed, cancelled, queued or running"),
        ("suceeded", "did you mean succeeded? write succeeded, failed, cancelled, queued or running"),
        ("canelled", "did you mean cancelled? write succeeded, failed, cancelled, queued or running"),
        ("green", "write succeeded, failed, cancelled, queued or running"),
    ] {
        let done = status(word);
        assert_eq!((done.status, &*done.out), (2, ""), "{word}");
        let expected = format!("error: invalid value '{word}' for '--status <STATUS>': {hint}\n");
        assert!(done.err.starts_with(&expected), "{}", done.err);
    }
    // Words that CI systems have in their variables, and an empty one.
    for word in ["success", "Failure", "cancelled", "CANCELED", ""] {
        let fake = Fake::answering([RECORDED]);
        let done = deploy(&place, &fake.url, &ENOUGH, &[NO_GIT, ("ROLLCALL_DEPLOY_STATUS", word)]);
        assert_eq!(done.status, 0, "{word}: {}", done.err);
        let expected = if word.is_empty() { Value::Null } else { json!(word) };
        assert_eq!(fake.sent()[0]["status"], expected);
    }
}
