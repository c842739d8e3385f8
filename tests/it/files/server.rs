//! `rollcall apply --server`, its dry run, and the mutation behind them.

use rollcall::db::Read;
use rollcall::entity::audit::{self, ActorKind};
use rollcall::entity::tag;
use rollcall::entity::token::Scope;
use rollcall::graphql::service::service_file::{CHANGES, DOCUMENTS, ENTRIES};
use sea_orm::{EntityTrait, QueryOrder};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::apply_command::run;
use crate::harness::deadline::output;
use crate::harness::program::Place;

const APPLY: &str = "mutation($input: ServiceFilesApplyInput!) { serviceFilesApply(input: $input) {
    documents { path line kind name outcome changes { field before after } }
    notTaken { path line column message isFailure }
    errors { message path }
} }";

async fn send(app: &TestApp, input: Value) -> Value {
    let mut answer = app.query(APPLY, json!({ "input": input })).await;
    assert_eq!(answer.get("errors"), None, "{answer}");
    answer["data"]["serviceFilesApply"].take()
}

fn file(path: &str, text: &str) -> Value {
    json!({ "path": path, "text": text })
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_folders_are_applied_from_a_pipeline_with_one_command() {
    let (app, place) = (TestApp::start().await, Place::new());
    let token = app.new_token(Scope::Write, None).await;
    place.write("teams.yml", "version: 1\nteam: { name: Platform }\n");
    for number in 0..50 {
        let folder = format!("services/s{number}");
        std::fs::create_dir_all(place.path().join(&folder)).expect("a folder");
        place.write(&format!("{folder}/compose.yml"), "services: {}\n");
        let next = (number + 1) % 50;
        let text = format!(
            "version: 1\nservice:\n  name: Service {number}\n  owner: platform\n  tags: {{ number: \"{number}\" }}\n  \
             dependencies: [service_{next}]\n---\nversion: 1\nrepository: {{ name: org/s{number} }}\n"
        );
        place.write(&format!("{folder}/rollcall.yml"), text);
    }
    let commit = |commit| ["--repository", "git@github.com:org/mono.git", "--commit", commit, "--name", "rollcall.yml"];
    let files = ["services", "teams.yml"];
    let first = run(&place, &app, &token, &[&commit("c0ffee01")[..], &files].concat()).await;
    assert_eq!((first.status, &*first.err), (0, ""), "{}", first.err);
    assert_eq!(first.out.lines().filter(|line| line.starts_with("created ")).count(), 101, "{}", first.out);
    let second = run(&place, &app, &token, &[&commit("c0ffee02")[..], &files].concat()).await;
    assert_eq!((second.status, &*second.err), (0, ""));
    assert_eq!(second.out.lines().filter(|line| line.starts_with("unchanged ")).count(), 101, "{}", second.out);
    let query = r#"{ account { service(alias: "service_7") {
        owner { name } dependencies { edges { node { name } } } serviceFile { path repository commit }
    } } }"#;
    let expected = json!({
        "owner": { "name": "Platform" }, "dependencies": { "edges": [{ "node": { "name": "Service 8" } }] },
        "serviceFile": {
            "path": "services/s7/rollcall.yml", "repository": "https://github.com/org/mono", "commit": "c0ffee02",
        },
    });
    assert_eq!(data(&app, query).await["account"]["service"], expected);
    let entries = app.db.read().all(audit::Entity::find().order_by_asc(audit::Column::Id)).await.expect("entries");
    let applied: Vec<_> = entries.iter().filter(|entry| entry.action == "apply").collect();
    assert_eq!(applied.len(), 101, "one for each thing that changed, and none for the second run");
    assert!(applied.iter().all(|entry| entry.actor_kind == ActorKind::Token));
    let service = applied.iter().find(|entry| entry.subject_name.as_deref() == Some("service_7")).expect("an entry");
    let detail: Value = serde_json::from_str(&service.detail).expect("JSON");
    assert_eq!(detail["changed"]["dependencies"], json!({ "removed": [], "added": ["service_8"] }));
    assert_eq!(detail["changed"]["lockedCommit"]["new"], json!("c0ffee01"));
    assert!(!entries.iter().any(|entry| entry.action == "serviceFilesApply"), "not once more for all of them");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_prints_the_differences_and_changes_nothing() {
    let (app, place) = (TestApp::start().await, Place::new());
    let token = app.new_token(Scope::Write, None).await;
    place.write("cart.yml", "version: 1\nservice: { name: Cart, language: Go, tags: { env: dev }, aliases: [a] }\n");
    let dry = ["--dry-run", "cart.yml"];
    let done = run(&place, &app, &token, &dry).await;
    assert_eq!((done.status, &*done.err), (3, ""));
    assert!(done.out.starts_with("would create service cart\n"), "{}", done.out);
    assert_eq!(
        data(&app, "{ account { services { totalCount } } }").await["account"]["services"]["totalCount"],
        json!(0)
    );
    assert_eq!(run(&place, &app, &token, &["cart.yml"]).await.status, 0);
    let done = run(&place, &app, &token, &dry).await;
    assert_eq!((done.status, &*done.out, &*done.err), (0, "unchanged service cart\n", ""));
    place.write("cart.yml", "version: 1\nservice: { name: Cart, language: Rust, tags: { env: prod }, aliases: [b] }\n");
    let expected = "would update service cart\n  aliases: \"a\" → \"b\"\n  language: \"Go\" → \"Rust\"\n  tags.env: \"dev\" → \"prod\"\n";
    let done = run(&place, &app, &token, &dry).await;
    assert_eq!((done.status, &*done.out, &*done.err), (3, expected, ""));
    let entries = app.db.read().all(audit::Entity::find()).await.expect("entries");
    assert_eq!(entries.iter().filter(|entry| entry.action == "apply").count(), 1);
    assert_eq!(
        data(&app, r#"{ account { service(alias: "a") { language } } }"#).await["account"]["service"]["language"],
        json!("Go")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_prints_the_value_of_a_property_as_json() {
    let (app, place) = (TestApp::start().await, Place::new());
    let define =
        r#"mutation { propertyDefinitionCreate(input: { name: "Grade", schema: {} }) { errors { message } } }"#;
    assert_eq!(data(&app, define).await["propertyDefinitionCreate"]["errors"], json!([]));
    let token = app.new_token(Scope::Write, None).await;
    let write = |grade: &str| {
        place.write("cart.yml", format!("version: 1\nservice: {{ name: Cart, properties: {{ grade: {grade} }} }}\n"));
    };
    write("a");
    assert_eq!(run(&place, &app, &token, &["cart.yml"]).await.status, 0);
    for (grade, shown) in
        [("b", r#""b""#), (r#""b\"c\nd""#, r#""b\"c\nd""#), ("[1, { c: d }]", r#"[1,{"c":"d"}]"#), ("null", "-")]
    {
        write(grade);
        let done = run(&place, &app, &token, &["--dry-run", "cart.yml"]).await;
        let expected = format!("would update service cart\n  properties.grade: \"a\" → {shown}\n");
        assert_eq!((done.status, &*done.out, &*done.err), (3, &*expected, ""));
    }
}

#[test]
fn a_dry_run_on_the_database_prints_the_same() {
    let place = Place::with_database();
    place.write("cart.yml", "version: 1\nservice: { name: Cart }\n");
    let dry = place.run(&["apply", "--dry-run", "cart.yml"]);
    let expected = "would create service cart\n  aliases: - → \"Cart, cart\"\n  lockedBy: - → \"cart.yml\"\n  \
        name: - → \"Cart\"\n  slug: - → \"cart\"\n";
    assert_eq!((dry.status, &*dry.out, &*dry.err), (3, expected, ""));
    assert_eq!(&*place.run(&["apply", "cart.yml"]).out, "created service cart\n");
    assert_eq!(place.run(&["apply", "--dry-run", "cart.yml"]).status, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_servers_refusal_is_printed_and_not_retried() {
    let (app, place) = (TestApp::start().await, Place::with_database());
    place.write("wrong.yml", "version: 1\nservice: { name: Cart, owner: nobody, tier: none }\n");
    place.write("good.yml", "version: 1\nservice: { name: Good }\n");
    let (write, read) = (app.new_token(Scope::Write, None).await, app.new_token(Scope::Read, None).await);
    let done = run(&place, &app, &write, &["good.yml", "wrong.yml"]).await;
    let expected = "wrong.yml:2:31: no team has the alias \"nobody\"\nwrong.yml:2:45: no tier has the alias \"none\"\n";
    assert_eq!((done.status, &*done.out, &*done.err), (1, "", expected));
    let done = run(&place, &app, &write, &["good.yml", "gone.yml"]).await;
    let expected = "gone.yml: it cannot be read: No such file or directory (os error 2)\n";
    assert_eq!((done.status, &*done.out, &*done.err), (1, "", expected));
    for (token, words) in [(read.as_str(), "write"), ("rc_none", "token")] {
        let done = run(&place, &app, token, &["good.yml"]).await;
        assert_eq!((done.status, &*done.out), (1, ""), "{}", done.err);
        assert!(
            done.err.starts_with("rollcall: ") && done.err.contains(words) && done.err.lines().count() == 1,
            "{}",
            done.err
        );
        assert!(!done.err.contains(token), "{}", done.err);
    }
    assert_eq!(
        data(&app, "{ account { services { totalCount } } }").await["account"]["services"]["totalCount"],
        json!(0)
    );
    let mut alone = place.command(&["apply", "--server", "http://127.0.0.1:1", "--deadline", "1s", "good.yml"]);
    let done = tokio::task::spawn_blocking(move || output(alone.env("ROLLCALL_TOKEN", "rc_x")));
    let done = done.await.expect("it ends");
    assert_eq!(done.status.code(), Some(1));
    let err = String::from_utf8_lossy(&done.stderr).into_owned();
    let first = err.lines().next().unwrap_or_default();
    assert!(first.starts_with("rollcall: the server 127.0.0.1:1 cannot be reached: "), "{err}");
    assert!(first.ends_with(" s, for at most 1 s (--deadline)"), "{err}");
    assert!(err.contains("gave up at the deadline"), "{err}");
    let done = place.run(&["apply", "--server", "http://127.0.0.1:1", "good.yml"]);
    let expected = "rollcall: there is no token for http://127.0.0.1:1: run rollcall login, or set ROLLCALL_TOKEN or --token-file\n";
    assert_eq!((done.status, &*done.err), (1, expected));
    // A missing secret of a CI system.
    let mut blank = place.command(&["apply", "--server", "http://127.0.0.1:1", "good.yml"]);
    let done = output(blank.env("ROLLCALL_TOKEN", ""));
    assert_eq!((done.status.code(), &*String::from_utf8_lossy(&done.stderr)), (Some(1), expected));
    place.write("token", "\n");
    let mut blank = place.command(&["apply", "--server", "http://127.0.0.1:1", "--token-file", "token", "good.yml"]);
    let done = output(blank.env("ROLLCALL_TOKEN", " "));
    let expected =
        "rollcall: the token cannot be read from token (from --token-file or ROLLCALL_TOKEN_FILE): the file is blank\n";
    assert_eq!((done.status.code(), &*String::from_utf8_lossy(&done.stderr)), (Some(1), expected));
    let done = place.run(&["apply", "--release-missing", "good.yml"]);
    assert_eq!((done.status, &*done.err), (1, "rollcall: --release-missing needs the repository; give --repository\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_error_for_a_wrong_server_url_says_how_to_write_it() {
    let (app, place) = (TestApp::start().await, Place::new());
    let token = app.new_token(Scope::Write, None).await;
    place.write("good.yml", "version: 1\nservice: { name: Good }\n");
    let address = app.address;
    for (server, sentence) in [
        (
            format!("http://{address}/graphql"),
            format!("there is no API at {address}/graphql/graphql; give the address of the server, without /graphql"),
        ),
        (
            format!("https://{address}"),
            format!("the server {address} does not speak TLS; write http:// instead of https://"),
        ),
    ] {
        let done = run(&place, &app, &token, &["--server", &server, "good.yml"]).await;
        crate::harness::program::assert_refused(&done, &sentence);
    }
}

#[tokio::test]
async fn the_mutation_answers_the_result_of_each_document() {
    let app = TestApp::start().await;
    let text = "# Cart\nversion: 1\nservice:\n  name: Cart\n  dependencies: [mail]\n";
    let input = json!({ "files": [file("cart.yml", text)] });
    let answer = send(&app, input.clone()).await;
    let document = &answer["documents"][0];
    let place = json!([document["path"], document["line"], document["kind"], document["name"], document["outcome"]]);
    assert_eq!(place, json!(["cart.yml", 4, "service", "cart", "created"]));
    assert!(
        document["changes"]
            .as_array()
            .expect("changes")
            .contains(&json!({ "field": "name", "before": null, "after": "Cart" }))
    );
    let message = "the dependency is not taken: no service has the alias \"mail\"";
    assert_eq!(
        answer["notTaken"],
        json!([{ "path": "cart.yml", "line": 5, "column": 18, "message": message, "isFailure": false }])
    );
    assert_eq!(answer["errors"], json!([]));
    let dry = json!({ "files": [file("moved.yml", text)], "dryRun": true });
    let answer = send(&app, dry).await;
    let changes = json!([{ "field": "lockedBy", "before": "cart.yml", "after": "moved.yml" }]);
    assert_eq!((&answer["documents"][0]["outcome"], &answer["documents"][0]["changes"]), (&json!("updated"), &changes));
    let answer = send(&app, input).await;
    assert_eq!(
        (&answer["documents"][0]["outcome"], &answer["documents"][0]["changes"]),
        (&json!("unchanged"), &json!([]))
    );
    let wrong = json!({ "files": [file("f.yml", "version: 1\nservice: { name: X, tier: none }\n")] });
    let error = json!({ "message": "f.yml:2:27: no tier has the alias \"none\"", "path": ["files", "0", "text"] });
    assert_eq!(send(&app, wrong).await, json!({ "documents": null, "notTaken": null, "errors": [error] }));
}

#[tokio::test]
async fn the_mutation_refuses_too_much_input_before_it_costs_anything() {
    let app = TestApp::start().await;
    let errors = async |input: Value| send(&app, input).await["errors"].take();
    let many: Vec<_> = (0..=1_000).map(|number| file(&format!("{number}.yml"), "")).collect();
    assert_eq!(
        errors(json!({ "files": many })).await,
        json!([{ "message": "at most 1000 files can be applied at once", "path": ["files"] }])
    );
    let documents = "--- {version: 1, service: {name: x}}\n".repeat(DOCUMENTS + 1);
    let found = errors(json!({ "files": [file("f.yml", &documents)] })).await;
    assert_eq!(
        found,
        json!([{
            "message": format!("f.yml:{}:27: there are more than {DOCUMENTS} documents; apply fewer files at a time", DOCUMENTS + 1),
            "path": ["files", "0", "text"],
        }])
    );
    let aliases = |from: usize| {
        (from..from + 1_000).map(|number| number.to_string()).map(|n| format!("a{n}")).collect::<Vec<_>>().join(", ")
    };
    let lists: String = (0..=ENTRIES / 1_000)
        .map(|number| {
            format!("--- {{version: 1, service: {{name: s{number}, aliases: [{}]}}}}\n", aliases(number * 1_000))
        })
        .collect();
    let found = errors(json!({ "files": [file("f.yml", &lists)] })).await;
    assert_eq!(
        found[0]["message"],
        json!("f.yml:6:27: the lists have more than 5000 entries in total; apply fewer files at a time")
    );
    let laughs: String = (0..30).map(|n| format!("a{}: &a{} [*a{n}, *a{n}, *a{n}, *a{n}]\n", n + 1, n + 1)).collect();
    let found = errors(json!({ "files": [file("f.yml", &format!("a0: &a0 ha\n{laughs}"))] })).await;
    let message = found[0]["message"].as_str().expect("a message");
    assert!(message.ends_with(": the anchors of the file hold more than 100000 keys and values"), "{message}");
    let mistakes = "--- 1\n".repeat(150);
    let found = errors(json!({ "files": [file("f.yml", &mistakes)] })).await;
    let found = found.as_array().expect("errors");
    assert_eq!((found.len(), &found[100]["message"]), (101, &json!("there are 50 more mistakes")));
    let expected = json!([{ "message": "path must not be empty", "path": ["files", "0", "path"] }]);
    assert_eq!(errors(json!({ "files": [file("", "")] })).await, expected);
    let expected = json!([{ "message": "repository must be the URL of a repository", "path": ["repository"] }]);
    assert_eq!(errors(json!({ "files": [], "repository": "javascript:x" })).await, expected);
    let expected = json!([{ "message": "releaseMissing needs the repository", "path": ["releaseMissing"] }]);
    assert_eq!(errors(json!({ "files": [], "releaseMissing": true })).await, expected);
    let expected = json!([{ "message": "commit must be the hash of a commit", "path": ["commit"] }]);
    assert_eq!(errors(json!({ "files": [], "commit": "main" })).await, expected);
    assert_eq!(
        data(&app, "{ account { services { totalCount } } }").await["account"]["services"]["totalCount"],
        json!(0)
    );
}

#[tokio::test]
async fn what_aliases_repeat_counts_over_all_documents_and_files() {
    let app = TestApp::start().await;
    let messages = async |texts: &[&str]| -> Vec<String> {
        let files: Vec<_> = texts.iter().enumerate().map(|(n, text)| file(&format!("{n}.yml"), text)).collect();
        let errors = send(&app, json!({ "files": files })).await["errors"].take();
        let messages = errors.as_array().expect("errors").iter();
        messages.map(|error| error["message"].as_str().expect("a message").to_owned()).collect()
    };
    let seven = |alias: &str| format!("[{}]", [alias; 7].join(", "));
    let lists = [("&b ", "*a"), ("&c ", "*b"), ("&d ", "*c"), ("&e ", "*d"), ("&f ", "*e"), ("", "*f")];
    let lists: Vec<_> = lists.iter().map(|(anchor, alias)| format!("{anchor}{}", seven(alias))).collect();
    // 160,133 values in less than 250 bytes.
    let bomb = format!("--- [&a x, {}]\n", lists.join(", "));
    assert!(bomb.len() < 250, "{bomb}");
    let no_mapping = |place: &str| format!("{place}: a document must be a mapping, not a list");
    assert_eq!(messages(&[&*bomb]).await, [no_mapping("0.yml:1:5")]);
    let limit = "the files have more than 250000 keys and values, aliases expanded; apply fewer files at a time";
    let two = messages(&[&*bomb, &*bomb, "["]).await;
    assert_eq!((two.len(), &two[0]), (2, &no_mapping("0.yml:1:5")));
    assert!(two[1].starts_with("1.yml:1:") && two[1].ends_with(limit), "{two:?}");
    let repeated = messages(&[&*bomb.repeat(1_000), "["]).await;
    assert!(repeated.len() == 1 && repeated[0].starts_with("0.yml:2:") && repeated[0].ends_with(limit), "{repeated:?}");
    let long = |times: usize| format!("[&a {}, {}]\n", "x".repeat(100_000), vec!["*a"; times].join(", "));
    assert_eq!(messages(&[&*long(80)]).await, [no_mapping("0.yml:1:1")]);
    let limit = "the keys and values have more than 8388608 bytes, aliases expanded; apply fewer files at a time";
    let longer = messages(&[&*long(90)]).await;
    assert!(longer.len() == 1 && longer[0].ends_with(limit), "{longer:?}");
}

#[tokio::test]
async fn nothing_is_read_after_a_limit() {
    let app = TestApp::start().await;
    let errors = async |text: &str| send(&app, json!({ "files": [file("f.yml", text)] })).await["errors"].take();
    let service = |tags: &str| format!("version: 1\nservice: {{ name: Cart, tags: {tags} }}\n");
    let many = |tag: fn(usize) -> String| (0..=1_000).map(tag).collect::<Vec<_>>().join(", ");
    // The last tag is a mistake.
    let list = service(&format!("[{}, 7]", many(|number| format!("{{ key: k{number} }}"))));
    let mapping = service(&format!("{{ {}, Wrong: v }}", many(|number| format!("k{number}: v"))));
    for text in [list, mapping] {
        let message = "f.yml:2:30: tags has 1002 entries; at most 1000 are allowed";
        assert_eq!(errors(&text).await, json!([{ "message": message, "path": ["files", "0", "text"] }]));
    }
    // Tags that occur several times count once.
    let same = service(&format!("[{}]", vec!["{ key: k }"; 1_002].join(", ")));
    assert_eq!(errors(&same).await, json!([]));
    // After too many documents, and too many mistakes.
    let documents = "--- {version: 1, service: {name: x}}\n".repeat(DOCUMENTS + 1);
    let found = errors(&format!("{documents}--- 1\n")).await;
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
    let found = errors(&"--- 1\n".repeat(5_000)).await;
    assert_eq!(found[100]["message"], json!("there are 901 more mistakes"));
}

#[tokio::test]
async fn files_that_change_too_many_fields_change_nothing() {
    let app = TestApp::start().await;
    let tags = (0..1_000).map(|number| format!("k{number}: v")).collect::<Vec<_>>().join(", ");
    let service =
        |number: usize, tags: &str| format!("--- {{version: 1, service: {{name: s{number}, tags: {{{tags}}}}}}}\n");
    let apply = async |text: String| send(&app, json!({ "files": [file("f.yml", &text)] })).await["errors"].take();
    let services = CHANGES / 1_000 + 1;
    for some in (0..services).collect::<Vec<_>>().chunks(5) {
        assert_eq!(apply(some.iter().map(|number| service(*number, &tags)).collect()).await, json!([]));
    }
    let kept = async || {
        let rows = app.db.read().count(tag::Entity::find()).await.expect("a count");
        (rows, app.db.read().count(audit::Entity::find()).await.expect("a count"))
    };
    let before = kept().await;
    assert_eq!(before.0, 1_000 * services as u64);
    let message = "the files change more than 15000 fields; apply fewer files at a time";
    let refused = apply((0..services).map(|number| service(number, "")).collect()).await;
    assert_eq!(refused, json!([{ "message": message, "path": ["files"] }]));
    assert_eq!(kept().await, before);
    // One service fewer is within the limit.
    assert_eq!(apply((1..services).map(|number| service(number, "")).collect()).await, json!([]));
    assert_eq!(kept().await.0, 1_000);
}

#[tokio::test]
async fn documents_of_other_catalogues_that_fail_are_told_from_what_is_skipped() {
    let app = TestApp::start().await;
    let entity = |kind: &str, name: &str| {
        format!("---\napiVersion: backstage.io/v1alpha1\nkind: {kind}\nmetadata: {{ name: {name} }}\n")
    };
    let text =
        [entity("Component", "good"), entity("Component", ""), entity("Template", "x"), entity("Component", "good")]
            .concat();
    let answer = send(&app, json!({ "files": [file("catalog-info.yaml", &text)] })).await;
    let outcomes: Vec<_> = answer["documents"].as_array().expect("documents").iter().map(|one| &one["name"]).collect();
    assert_eq!((outcomes, &answer["errors"]), (vec![&json!("good")], &json!([])), "{answer}");
    let notes: Vec<_> =
        answer["notTaken"].as_array().expect("notes").iter().map(|note| (&note["line"], &note["isFailure"])).collect();
    let expected = [(json!(6), json!(true)), (json!(10), json!(false)), (json!(16), json!(true))];
    assert_eq!(notes, expected.iter().map(|(line, failure)| (line, failure)).collect::<Vec<_>>());
}

/// The entities of a large organisation: people, groups in groups, and components that name others.
fn organisation(components: usize) -> String {
    let head = |kind: &str, name: &str| {
        format!("---\napiVersion: backstage.io/v1alpha1\nkind: {kind}\nmetadata:\n  name: {name}\nspec:\n")
    };
    let mut text = String::new();
    for number in 0..components {
        let (group, next) = (number % 100, (number + 1) % components);
        text += &head("Component", &format!("c{number}"));
        text += &format!(
            "  owner: g{group}\n  system: s{}\n  dependsOn: [component:c{next}]\n  providesApis: [a{}]\n",
            number % 50,
            number % 20
        );
    }
    for number in 0..50 {
        text += &head("System", &format!("s{number}"));
        text += &format!("  owner: g{number}\n");
    }
    for number in 0..100 {
        text += &head("Group", &format!("g{number}"));
        text += &format!("  type: team\n  parent: {}\n  members: [p{number}]\n", if number < 99 { "g99" } else { "" });
    }
    for number in 0..100 {
        text += &head("User", &format!("p{number}"));
        text += &format!(
            "  memberOf: [g{}, g{}]\n  profile: {{ email: p{}@example.com }}\n",
            number,
            (number + 50) % 100,
            number % 3
        );
    }
    for number in 0..20 {
        text += &head("API", &format!("a{number}"));
        text += &format!("  definition: {{ $text: \"https://docs.example.com/a{number}.yml\" }}\n");
    }
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn more_entities_than_a_request_takes_are_applied_in_portions() {
    let app = TestApp::with(&["--token-limit", "0"]).await;
    let place = Place::new();
    let token = app.new_token(Scope::Write, None).await;
    for number in 0..3 {
        data(
            &app,
            &format!(
                "mutation {{ userInvite(email: \"p{number}@example.com\", input: {{}}) {{ errors {{ message }} }} }}"
            ),
        )
        .await;
    }
    let text = organisation(1_100);
    place.write("catalog-info.yaml", &text);
    let first = run(&place, &app, &token, &["catalog-info.yaml"]).await;
    assert_eq!(first.status, 0, "{}", first.err);
    assert_eq!(first.out.lines().filter(|line| line.starts_with("created ")).count(), 1_250, "{}", first.err);
    // Each reference leads somewhere, whichever portion it is in.
    let wrong: Vec<_> =
        first.err.lines().filter(|note| !note.contains("spec.type") && !note.contains("only the URL")).collect();
    assert!(wrong.is_empty(), "{} {:?}", wrong.len(), wrong.first());
    let second = run(&place, &app, &token, &["catalog-info.yaml"]).await;
    assert_eq!(second.out.lines().filter(|line| line.starts_with("unchanged ")).count(), 1_250, "{}", second.err);
    assert_eq!(second.err, first.err);
    let query = r#"{ account {
        service(alias: "c1099") { owner { name parentTeam { name } members { totalCount } } parent { name } dependencies { nodes { name } } apiDocumentUrl }
        services { totalCount } teams { totalCount } systems { totalCount }
    } }"#;
    let found = data(&app, query).await["account"].take();
    let expected = json!({
        "service": {
            "owner": { "name": "g99", "parentTeam": null, "members": { "totalCount": 2 } }, "parent": { "name": "s49" },
            "dependencies": { "nodes": [{ "name": "c0" }] }, "apiDocumentUrl": "https://docs.example.com/a19.yml",
        },
        "services": { "totalCount": 1_100 }, "teams": { "totalCount": 100 }, "systems": { "totalCount": 50 },
    });
    assert_eq!(found, expected);
    let dry = run(&place, &app, &token, &["--dry-run", "catalog-info.yaml"]).await;
    assert_eq!(dry.status, 0, "{}", dry.err);
    let release = ["--release-missing", "--repository", "https://git.example.com/a/b", "catalog-info.yaml"];
    let release = run(&place, &app, &token, &release).await;
    assert!(release.status == 1 && release.err.contains("leave it out"), "{}", release.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_our_own_that_is_too_large_is_not_split() {
    let (app, place) = (TestApp::start().await, Place::new());
    let token = app.new_token(Scope::Write, None).await;
    let text: String =
        (0..=DOCUMENTS).map(|number| format!("--- {{version: 1, service: {{name: s{number}}}}}\n")).collect();
    place.write("rollcall.yml", &text);
    let done = run(&place, &app, &token, &["rollcall.yml"]).await;
    assert_eq!((done.status, &*done.out), (1, ""));
    let expected = "rollcall.yml:501:27: there are more than 500 documents; apply fewer files at a time\n\
        it is one file: split it, or apply it to the database itself, without --server\n";
    assert_eq!(done.err, expected);
}

#[tokio::test]
async fn a_request_releases_a_bounded_number_of_services() {
    let app = TestApp::start().await;
    let services = |from: usize, to: usize| -> String {
        (from..to).map(|number| format!("--- {{version: 1, service: {{name: s{number}}}}}\n")).collect()
    };
    let apply = async |text: &str, releases: bool| {
        let input = json!({
            "files": [file("f.yml", text)], "repository": "https://github.com/org/a", "releaseMissing": releases,
        });
        send(&app, input).await["errors"].take()
    };
    for (from, to) in [(0, DOCUMENTS), (DOCUMENTS, DOCUMENTS + 2)] {
        assert_eq!(apply(&services(from, to), false).await, json!([]));
    }
    let refused = apply(&services(0, 1), true).await;
    let message = format!(
        "501 services of the repository have no document; at most {DOCUMENTS} can be released at once: release others with \
         rollcall release first"
    );
    assert_eq!(refused, json!([{ "message": message, "path": ["releaseMissing"] }]));
    let locked = "{ account { service(alias: \"s7\") { locked } } }";
    assert_eq!(data(&app, locked).await["account"]["service"]["locked"], true);
    assert_eq!(apply(&services(0, 2), true).await, json!([]));
    assert_eq!(data(&app, locked).await["account"]["service"]["locked"], false);
}
