//! Standards files: levels, categories, filters, scorecards, checks and campaigns that are applied from YAML.

use rollcall::db::Read;
use rollcall::entity::audit;
use rollcall::entity::token::Scope;
use rollcall::entity::user::Role;
use sea_orm::EntityTrait;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::checks::{KINDS, create, outcome, predicate, services};
use crate::harness::desk::Desk;
use crate::harness::program::Place;

/// A file with one of each.
const FILE: &str = r#"version: 1
standards:
  levels:
    - { name: Beginner, description: Where every service begins. }
    - name: Bronze
    - name: Gold
  categories:
    - { name: Safety, description: What keeps it safe. }
  filters:
    - name: Critical
      predicates:
        - { key: tier_index, type: equals, value: 1 }
  scorecards:
    - { name: Ready to sell, owner: core, filter: Critical, affects_overall_service_levels: true }
  checks:
    - name: Has an environment
      type: tag_defined
      level: Bronze
      category: Safety
      owner: core
      enabled: true
      tag_key: env
      notes: |
        Say where it runs.
        Then it passes.
    - name: Speaks Rust
      type: service_property
      level: gold                      # an alias will do
      scorecard: Ready to sell
      filter: Critical
      enabled: true
      service_property: language
      property_value_predicate: { type: equals, value: Rust }
  campaigns:
    - name: Environments everywhere
      owner: core
      filter: Critical
      project_brief: Everyone says where it runs.
      start_date: "2026-11-01"
      target_date: "2027-01-31"
      checks: [Has an environment]
"#;

const APPLY: &str = "mutation($input: StandardsApplyInput!) { standardsApply(input: $input) {
    entries { path line kind name outcome changes { field before after } }
    preview {
        checks { name counts { passed failed pending } before { passed failed pending } misses { service { alias } message } }
        levels { name services before }
    }
    errors { message path }
} }";

async fn apply(app: &TestApp, text: &str, more: Value) -> Value {
    let mut input = json!({ "files": [{ "path": "standards.yml", "text": text }] });
    input.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    let answer = app.query(APPLY, json!({ "input": input })).await;
    assert_eq!(answer.get("errors"), None, "{answer}");
    answer["data"]["standardsApply"].clone()
}

/// What was done to each entry.
async fn done(app: &TestApp, text: &str, more: Value) -> Vec<String> {
    let payload = apply(app, text, more).await;
    assert_eq!(payload["errors"], json!([]), "{payload}");
    let entry = |entry: &Value| {
        let text = |name: &str| entry[name].as_str().expect("a text").to_owned();
        format!("{} {} {}", text("outcome"), text("kind"), text("name"))
    };
    payload["entries"].as_array().expect("entries").iter().map(entry).collect()
}

/// The messages about a file.
async fn mistakes(app: &TestApp, text: &str) -> Vec<String> {
    let payload = apply(app, text, json!({})).await;
    assert_eq!((&payload["entries"], &payload["preview"]), (&Value::Null, &Value::Null));
    let text = |error: &Value| error["message"].as_str().expect("a message").to_owned();
    payload["errors"].as_array().expect("errors").iter().map(text).collect()
}

/// Teams to own standards, without any standards.
async fn teams() -> TestApp {
    let app = TestApp::start().await;
    let made = "mutation {
        core: teamCreate(input: { name: \"Core\" }) { errors { message } }
        cart: serviceCreate(input: { name: \"Cart\", language: \"Rust\", tierAlias: \"tier_1\" }) { errors { message } }
        mail: serviceCreate(input: { name: \"Mail\", language: \"Go\", tierAlias: \"tier_1\" }) { errors { message } }
        env: tagCreate(input: { alias: \"mail\", type: Service, key: \"env\", value: \"prod\" }) { errors { message } }
    }";
    let made = data(&app, made).await;
    assert!(made.as_object().expect("data").values().all(|payload| payload["errors"] == json!([])), "{made}");
    app
}

async fn rubric(app: &TestApp) -> Value {
    let query = "{ account {
        rubric {
            levels { nodes { name index description lockedBy } } categories { nodes { name lockedBy } }
            checks { nodes { name type enabled rawNotes lockedBy level { name } category { name } owner { alias } filter { name } } }
        }
        filters { nodes { name lockedBy predicates { key type value } } }
        scorecards { nodes { name lockedBy affectsOverallServiceLevels owner { ... on Team { alias } } filter { name } } }
        campaigns { nodes { name lockedBy status startDate targetDate filter { name } checks { nodes { name enabled lockedBy } } } }
    } }";
    data(app, query).await["account"].clone()
}

#[tokio::test]
async fn a_file_creates_changes_and_deletes_standards() {
    let app = &teams().await;
    let made = done(app, FILE, json!({})).await;
    let expected = [
        "created level Beginner",
        "created level Bronze",
        "created level Gold",
        "created category Safety",
        "created filter Critical",
        "created scorecard Ready to sell",
        "created check Has an environment",
        "created check Speaks Rust",
        "created campaign Environments everywhere",
    ];
    assert_eq!(made, expected);
    let by = "standards.yml";
    let level = |name: &str, index: i32, description: Value| json!({ "name": name, "index": index, "description": description, "lockedBy": by });
    let found = rubric(app).await;
    assert_eq!(
        found["rubric"]["levels"]["nodes"],
        json!([
            level("Beginner", 0, json!("Where every service begins.")),
            level("Bronze", 1, Value::Null),
            level("Gold", 2, Value::Null)
        ])
    );
    assert_eq!(
        found["rubric"]["checks"]["nodes"],
        json!([
            {
                "name": "Has an environment", "type": "tag_defined", "enabled": true, "lockedBy": by,
                "rawNotes": "Say where it runs.\nThen it passes.\n", "level": { "name": "Bronze" },
                "category": { "name": "Safety" }, "owner": { "alias": "core" }, "filter": null,
            },
            {
                "name": "Speaks Rust", "type": "service_property", "enabled": true, "lockedBy": by, "rawNotes": null,
                "level": { "name": "Gold" }, "category": { "name": "Ready to sell" }, "owner": null,
                "filter": { "name": "Critical" },
            },
        ])
    );
    assert_eq!(
        found["filters"]["nodes"],
        json!([{ "name": "Critical", "lockedBy": by, "predicates": [{ "key": "tier_index", "type": "equals", "value": "1" }] }])
    );
    assert_eq!(
        found["campaigns"]["nodes"],
        json!([{
            "name": "Environments everywhere", "lockedBy": by, "status": "in_progress",
            "startDate": "2026-11-01T00:00:00Z", "targetDate": "2027-01-31T00:00:00Z", "filter": { "name": "Critical" },
            "checks": { "nodes": [{ "name": "Has an environment", "enabled": true, "lockedBy": by }] },
        }])
    );
    let entries = app.db.read().all(audit::Entity::find()).await.expect("the audit");
    let own: Vec<&audit::Model> = entries.iter().filter(|entry| entry.action == "standardsApply").collect();
    assert!(own.len() > 8 && own.iter().any(|entry| entry.detail.contains("standards.yml")), "{own:?}");
    assert!(own.iter().all(|entry| !entry.detail.contains("tag_key: env")), "the audit has no texts of files");
    // A second time changes nothing, and leaves no entry in the audit but its own.
    let entries = async || app.db.read().count(audit::Entity::find()).await.expect("the audit");
    let before = entries().await;
    let made = done(app, FILE, json!({})).await;
    assert_eq!(made, expected.map(|line| line.replace("created", "unchanged")));
    assert_eq!((rubric(app).await, entries().await), (found.clone(), before + 1));
    // A key that is gone leaves its field; null clears it; what is not in the list is deleted only when asked.
    let changed =
        FILE.replace("    - { name: Beginner, description: Where every service begins. }", "    - { name: Beginner }");
    let changed = changed
        .replace("tag_key: env", "tag_key: environment")
        .replace("      owner: core\n      enabled", "      owner: null\n      enabled");
    let made = done(app, &changed, json!({})).await;
    let updated: Vec<&String> = made.iter().filter(|line| !line.starts_with("unchanged")).collect();
    assert_eq!(updated, ["updated check Has an environment"]);
    let twice = changed.replace("[Has an environment]", "[Speaks Rust, Has an environment, Speaks Rust]");
    done(app, &twice, json!({})).await;
    let copies = rubric(app).await["campaigns"]["nodes"][0]["checks"]["nodes"].clone();
    let names: Vec<&Value> = copies.as_array().expect("checks").iter().map(|check| &check["name"]).collect();
    assert_eq!(names, ["Has an environment", "Speaks Rust"]);
    done(app, &changed, json!({})).await;
    let now = rubric(app).await;
    assert_eq!(now["rubric"]["levels"], found["rubric"]["levels"]);
    assert_eq!(now["rubric"]["checks"]["nodes"][0]["owner"], Value::Null);
    let (without, _) = FILE.split_once("  campaigns:").expect("campaigns");
    let without = without.replace("    - name: Gold\n", "").replace("level: gold ", "level: bronze ");
    let made = done(app, &without, json!({ "deleteMissing": true })).await;
    let deleted: Vec<&String> = made.iter().filter(|line| line.starts_with("deleted")).collect();
    assert_eq!(deleted, ["deleted campaign Environments everywhere", "deleted level Gold"]);
    assert_eq!(rubric(app).await["campaigns"]["nodes"], json!([]));
    // Something else still refers to it.
    let made =
        data(app, "mutation { levelCreate(input: { name: \"Top\" }) { level { id } errors { message } } }").await;
    assert_eq!(made["levelCreate"]["errors"], json!([]));
    let only = "version: 1\nstandards: { levels: [{ name: Beginner }] }\n";
    let refused = apply(app, only, json!({ "deleteMissing": true })).await;
    assert_eq!(refused["errors"], json!([]), "{refused}");
    let left = rubric(app).await;
    assert_eq!(left["rubric"]["checks"]["nodes"], json!([]));
    assert_eq!(left["rubric"]["levels"]["nodes"].as_array().expect("levels").len(), 2);
}

#[tokio::test]
async fn what_a_file_governs_is_changed_there_until_it_is_released() {
    let app = &teams().await;
    done(app, FILE, json!({})).await;
    let query = "{ account {
        rubric { levels { nodes { id } } categories { nodes { id } } checks { nodes { id } } }
        filters { nodes { id } } scorecards { nodes { id } } campaigns { nodes { id checks { nodes { id } } } }
    } }";
    let ids = data(app, query).await["account"].clone();
    let id = |place: &str| ids.pointer(place).unwrap_or_else(|| panic!("{place}: {ids}")).clone();
    let (check, level) = (id("/rubric/checks/nodes/0/id"), id("/rubric/levels/nodes/1/id"));
    let (category, filter) = (id("/rubric/categories/nodes/0/id"), id("/filters/nodes/0/id"));
    let (scorecard, campaign) = (id("/scorecards/nodes/0/id"), id("/campaigns/nodes/0/id"));
    let copy = id("/campaigns/nodes/0/checks/nodes/0/id");
    let changes = [
        format!("checkTagDefinedUpdate(input: {{ id: {check}, name: \"Other\" }})"),
        format!("checkTagDefinedUpdate(input: {{ id: {copy}, enabled: false }})"),
        format!("checkDelete(input: {{ id: {check} }})"),
        format!("levelUpdate(input: {{ id: {level}, name: \"Other\" }})"),
        format!("categoryUpdate(input: {{ id: {category}, description: \"Other\" }})"),
        format!("filterUpdate(input: {{ id: {filter}, predicates: [{{ key: product, type: exists }}] }})"),
        format!("filterUpdate(input: {{ id: {filter}, name: \"Other\" }})"),
        format!("scorecardUpdate(scorecard: {{ id: {scorecard} }}, input: {{ name: \"Other\", ownerId: \"core\" }})"),
        format!("campaignUpdate(input: {{ id: {campaign}, name: \"Other\" }})"),
        format!("campaignUnschedule(input: {{ id: {campaign} }})"),
        format!("campaignDelete(input: {{ id: {campaign} }})"),
        // The checks that it owns would have no owner any more.
        "teamDelete(input: { alias: \"core\" })".to_owned(),
    ];
    let before = rubric(app).await;
    let run = async |change: &str| {
        let made = data(app, &format!("mutation {{ own: {change} {{ errors {{ message path }} }} }}")).await;
        made["own"]["errors"].clone()
    };
    for change in &changes {
        let errors = run(change).await;
        let message = errors[0]["message"].as_str().unwrap_or_default();
        assert!(
            message.contains("its standards file \"standards.yml\" governs it; change it there"),
            "{change}: {errors}"
        );
        assert_eq!(errors[0]["path"], json!(["locked"]));
    }
    assert_eq!(rubric(app).await, before);
    // What no file describes: an answer, an end, a copy.
    let end = run(&format!("campaignEnd(input: {{ id: {campaign} }})")).await;
    assert_eq!(end, json!([]));
    assert!(done(app, FILE, json!({})).await.iter().all(|line| line.starts_with("unchanged ")));
    let more = FILE.replace("checks: [Has an environment]", "checks: [Has an environment, Speaks Rust]");
    assert!(mistakes(app, &more).await[0].contains("this campaign has ended: its checks stay as they are"));
    let own = "mutation { campaignCreate(input: { name: \"Own\", ownerId: \"core\" }) { campaign { id } errors { message } } }";
    let own = data(app, own).await["campaignCreate"]["campaign"]["id"].clone();
    assert_eq!(
        run(&format!("checksCopyToCampaign(input: {{ campaignId: {own}, checkIds: [{check}] }})")).await,
        json!([])
    );
    assert_eq!(rubric(app).await["campaigns"]["nodes"][1]["checks"]["nodes"][0]["lockedBy"], Value::Null);
    // Another file cannot take it.
    let input =
        json!({ "files": [{ "path": "other.yml", "text": "version: 1\nstandards: { levels: [{ name: Bronze }] }" }] });
    let other = app.query(APPLY, json!({ "input": input })).await["data"]["standardsApply"]["errors"].clone();
    let expected = "other.yml:2:31: the level \"Bronze\": the standards file \"standards.yml\" governs it: remove it there, or release that file";
    assert_eq!(other[0]["message"], expected, "{other}");
    let release = |path: &str| {
        format!("mutation {{ standardsRelease(input: {{ path: \"{path}\" }}) {{ released errors {{ message }} }} }}")
    };
    let unknown = data(app, &release("none.yml")).await["standardsRelease"].clone();
    assert_eq!(unknown["errors"][0]["message"], "no standard is governed by \"none.yml\"");
    let released = data(app, &release("standards.yml")).await["standardsRelease"].clone();
    assert_eq!(released, json!({ "released": 10, "errors": [] }));
    assert_eq!(run(&changes[0]).await, json!([]));
    assert!(!rubric(app).await.to_string().contains("standards.yml"));
}

#[tokio::test]
async fn a_dry_run_says_how_services_would_stand_and_changes_nothing() {
    let app = &teams().await;
    let before = rubric(app).await;
    let said = apply(app, FILE, json!({ "dryRun": true })).await;
    assert_eq!(said["errors"], json!([]));
    assert_eq!(rubric(app).await, before);
    let counts = |passed: i32, failed: i32| json!({ "passed": passed, "failed": failed, "pending": 0 });
    let miss = |service: &str, message: &str| json!({ "service": { "alias": service }, "message": message });
    let env = miss("cart", "It has no tag \"env\". Wanted: a tag \"env\".");
    let check = |name: &str, counts: &Value, misses: Value| json!({ "name": name, "counts": counts, "before": null, "misses": misses });
    let expected = json!([
        check("Has an environment", &counts(1, 1), json!([env])),
        check(
            "Speaks Rust",
            &counts(1, 1),
            json!([miss("mail", "Its language is \"Go\". Wanted: a language that equals \"Rust\".")])
        ),
        check("Has an environment", &counts(1, 1), json!([env])),
    ]);
    assert_eq!(said["preview"]["checks"], expected);
    let level =
        |name: &str, services: i32, before: Value| json!({ "name": name, "services": services, "before": before });
    let levels = |before: [Value; 3]| {
        let [beginner, bronze, gold] = before;
        json!([level("Beginner", 1, beginner), level("Bronze", 1, bronze), level("Gold", 0, gold)])
    };
    assert_eq!(said["preview"]["levels"], levels([Value::Null, Value::Null, Value::Null]));
    done(app, FILE, json!({})).await;
    let report = data(app, "{ account { servicesReport { levelCounts { level { name } serviceCount } } } }").await;
    let report = report["account"]["servicesReport"]["levelCounts"].clone();
    let now: Vec<i64> =
        report.as_array().expect("levels").iter().map(|one| one["serviceCount"].as_i64().expect("a number")).collect();
    assert_eq!(now, [1, 1, 0]);
    // A change of a filter, and of a check that is switched off.
    let changed = FILE
        .replace("value: 1 }", "value: 2 }")
        .replace("enabled: true\n      tag_key: env", "enabled: false\n      tag_key: e");
    let said = apply(app, &changed, json!({ "dryRun": true })).await;
    let (found, names) = (&said["preview"]["checks"], ["Has an environment", "Speaks Rust", "Has an environment"]);
    for (place, (name, now, then)) in [
        (names[0], counts(0, 2), counts(1, 1)),
        (names[1], counts(0, 0), counts(1, 1)),
        (names[2], counts(0, 0), counts(1, 1)),
    ]
    .into_iter()
    .enumerate()
    {
        let one = &found[place];
        assert_eq!((&one["name"], &one["counts"], &one["before"]), (&json!(name), &now, &then), "{found}");
    }
    // Nothing is asked of any service any more.
    let level =
        |name: &str, services: i32, before: i32| json!({ "name": name, "services": services, "before": before });
    assert_eq!(said["preview"]["levels"], json!([level("Beginner", 0, 1), level("Bronze", 0, 1), level("Gold", 2, 0)]));
    // In the words of the file.
    let change = |field: &str, before: &str, after: &str| json!({ "field": field, "before": before, "after": after });
    let changes = |place: usize| said["entries"][place]["changes"].clone();
    assert_eq!(changes(4), json!([change("predicates", "tier_index equals 1", "tier_index equals 2")]));
    assert_eq!(changes(6), json!([change("enabled", "true", "false"), change("tagKey", "env", "e")]));
    let other =
        FILE.replace("level: Bronze", "level: Gold").replace("project_brief: Everyone", "project_brief: Nobody");
    let other = other.replace("category: Safety", "scorecard: Ready to sell").replace("2026-11-01", "2026-11-02");
    let said = apply(app, &other, json!({ "dryRun": true })).await;
    let changes = |place: usize| said["entries"][place]["changes"].clone();
    let expected = json!([change("category", "Safety", "Ready to sell"), change("level", "bronze", "gold")]);
    assert_eq!(changes(6), expected);
    let days = change("startDate", "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z");
    let brief = change("projectBrief", "Everyone says where it runs.", "Nobody says where it runs.");
    assert_eq!(changes(8), json!([brief, days]));
}

#[tokio::test]
async fn mistakes_are_reported_with_their_places_and_nothing_is_applied() {
    let app = &teams().await;
    let of = |standards: &str| format!("version: 1\nstandards:\n{standards}");
    let check = |fields: &str| {
        of(&format!(
            "  levels: [{{ name: L }}]\n  categories: [{{ name: C }}]\n  checks:\n    - {{ name: X, level: L, category: C, {fields} }}\n"
        ))
    };
    for (text, expected) in [
        (
            "a: 1".to_owned(),
            "standards.yml:1:1: standards are in files of their own: this document has no key standards",
        ),
        (String::new(), "standards.yml:1:1: there is no document in this file"),
        ("[]".to_owned(), "standards.yml:1:1: a standards file is a mapping: write version: 1, and standards"),
        ("standards: {}".to_owned(), "standards.yml:1:1: the version is missing: write version: 1"),
        (
            "version: 2\nstandards: {}".to_owned(),
            "standards.yml:1:1: this program does not support this version: write version: 1",
        ),
        (
            "version: 1\nstandards: 3".to_owned(),
            "standards.yml:2:12: standards is a number, not a mapping of levels, categories, filters, scorecards, checks, campaigns",
        ),
        (
            of("  level: []\n"),
            "standards.yml:3:3: standards has no key \"level\"; it has levels, categories, filters, scorecards, checks, campaigns",
        ),
        (of("  levels: 3\n"), "standards.yml:3:11: levels is a number, not a list"),
        (of("  levels: [x]\n"), "standards.yml:3:12: a level is a mapping, not a string"),
        (of("  levels: [{}]\n"), "standards.yml:3:12: a level needs a name"),
        (
            of("  levels: [{ name: A }, { name: a }]\n"),
            "standards.yml:3:25: the level \"a\" is described twice: also at standards.yml:3:12",
        ),
        (
            of("  levels: [{ name: A, index: 3 }]\n"),
            "standards.yml:3:23: there is no key \"index\"; there are description, name",
        ),
        (
            of("  levels: [{ name: A, descriptoin: x }]\n"),
            "standards.yml:3:23: there is no key \"descriptoin\"; did you mean description?",
        ),
        (
            of("  levels: [{ name: A, description: [x] }]\n"),
            "standards.yml:3:36: the level \"A\": description: expected a string, found [\"x\"]",
        ),
        (
            of("  checks: [{ name: X }]\n"),
            "standards.yml:3:12: the check \"X\" needs a type, which is one of alert_source_usage, code_issue",
        ),
        (check("type: tag_defined"), "standards.yml:6:7: the check \"X\": tag_key is required"),
        (check("type: tag_defined, tag_key: \"\""), "standards.yml:6:69: the check \"X\": tag_key must not be empty"),
        (
            check("type: has_recent_deploy, days: many"),
            "the check \"X\": days: expected a 32-bit integer, found \"many\"",
        ),
        (
            check("type: tag_defined, tag_key: a, tag_predicate: { type: equal, value: b }"),
            "tag_predicate.type: expected a value of PredicateTypeEnum, found \"equal\". Did you mean `equals`?",
        ),
        (
            check("type: tag_defined, tag_key: a, tag_predicate: { typ: equals }"),
            "there is no key \"typ\"; did you mean type?",
        ),
        (check("type: tag_defined, tag_key: a, filter: None"), "the check \"X\": there is no filter \"None\""),
        (
            check("type: tag_defined, tag_key: a, owner: nobody"),
            "standards.yml:6:79: the check \"X\": a team with the id or alias \"nobody\" does not exist",
        ),
        (
            check("type: tag_defined, tag_key: a, scorecard: S"),
            "a check belongs to a category or to a scorecard, not to both",
        ),
        (check("type: tag_defined, tag_key: a, enable_on: tomorrow"), "enable_on: expected a date and time such as"),
        (of("  scorecards: [{ name: S }]\n"), "the scorecard \"S\": owner is required"),
        (
            of("  campaigns: [{ name: C, owner: core, start_date: \"2027-01-01\" }]\n"),
            "a campaign with start_date needs target_date",
        ),
        (
            of("  campaigns: [{ name: C, owner: core, start_date: \"2027-01-01\", target_date: \"2026-01-01\" }]\n"),
            "target_date must be after startDate",
        ),
        (of("  campaigns: [{ name: C, owner: core, checks: [None] }]\n"), "there is no check \"None\""),
        (of("  campaigns: [{ name: C, owner: core, checks: None }]\n"), "checks must be a list of names, not a string"),
        ("version: 1\nstandards: {".to_owned(), "the YAML cannot be read"),
    ] {
        let said = mistakes(app, &text).await;
        assert!(said.len() == 1 && said[0].contains(expected), "{text}\n{said:#?}\n{expected}");
    }
    assert_eq!(mistakes(app, &of("  levels: [{ name: A, x: 1 }, { name: B, y: 1 }]\n")).await.len(), 2);
    let many = of(&format!(
        "  levels: [{}]\n",
        (0..1_001).map(|n| format!("{{ name: L{n} }}")).collect::<Vec<_>>().join(", ")
    ));
    let said = mistakes(app, &many).await;
    assert!(said.len() == 1 && said[0].contains("the files describe more than 1000 standards"), "{said:?}");
    let many =
        of(&format!("  levels: [{}]\n", (0..101).map(|n| format!("{{ name: L{n} }}")).collect::<Vec<_>>().join(", ")));
    assert!(mistakes(app, &many).await[0].contains("there are at most 100"));
    let empty = rubric(app).await;
    assert_eq!((&empty["rubric"]["levels"]["nodes"], &empty["scorecards"]["nodes"]), (&json!([]), &json!([])));
}

#[tokio::test]
async fn only_standards_administrators_apply_standards() {
    let app = &teams().await;
    let input = json!({ "input": { "files": [{ "path": "standards.yml", "text": FILE }] } });
    for (role, may) in [(Role::TeamMember, false), (Role::User, false), (Role::StandardsAdmin, true)] {
        let browser = Browser::of(app, role).await;
        let answer = browser.query(APPLY, input.clone()).await;
        let is_done = answer["data"]["standardsApply"]["errors"] == json!([]);
        assert_eq!(is_done, may, "{role:?}: {answer}");
    }
}

/// Checks of all kinds, with what each takes.
fn all_kinds(integration: &Value, definition: &Value) -> Vec<(&'static str, Value)> {
    let contains = predicate("contains", "x");
    let own = |kind: &str| match kind {
        "AlertSourceUsage" => {
            json!({ "alertSourceType": "custom", "alertSourceNamePredicate": predicate("matches_regex", "M") })
        }
        "CodeIssue" => json!({
            "constraint": "exact", "issueName": "Bad", "issueType": ["a", "b"], "severity": ["high"], "maxAllowed": 2,
            "resolutionTime": { "unit": "day", "value": 3 },
        }),
        "CustomEvent" => json!({
            "integrationId": integration, "serviceSelector": ".a", "successCondition": ".b == \"yes\"",
            "resultMessage": "One.\n{{ two }}", "passPending": true,
        }),
        "DeployMetrics" => {
            json!({ "metric": "change_lead_time", "maxAllowed": 48, "days": 7, "environments": ["Production", "no"] })
        }
        "HasDocumentation" => json!({ "documentType": "api", "documentSubtype": "openapi" }),
        "HasRecentDeploy" => json!({ "days": 3 }),
        "Manual" => json!({
            "updateRequiresComment": true,
            "updateFrequency": { "startingDate": "2026-01-02T03:04:05Z", "frequencyTimeScale": "week", "frequencyValue": 2 },
        }),
        "PackageVersion" => json!({
            "packageManager": "npm", "packageName": "left", "packageConstraint": "matches_version", "missingPackageResult": "passed",
            "versionConstraintPredicate": predicate("satisfies_version_constraint", "^1"),
        }),
        "Relationship" => {
            json!({ "relationshipDefinitionId": definition, "relationshipCountPredicate": predicate("equals", "0") })
        }
        "RepositoryFile" => {
            json!({ "filePaths": ["a", "b: c"], "fileContentsPredicate": contains, "useAbsoluteRoot": true })
        }
        "RepositoryGrep" => json!({ "filePaths": ["*.rs"], "fileContentsPredicate": contains }),
        "RepositorySearch" => json!({ "fileExtensions": ["rs"], "fileContentsPredicate": contains }),
        "ServiceOwnership" => json!({
            "requireContactMethod": true, "contactMethod": "slack", "tagKey": "site", "tagPredicate": predicate("equals", "1"),
        }),
        "ServiceProperty" => json!({
            "serviceProperty": "custom_property", "propertyDefinition": { "alias": "data_class" },
            "propertyValuePredicate": predicate("equals", "true"),
        }),
        "TagDefined" => json!({ "tagKey": "env", "tagPredicate": predicate("equals", "no") }),
        "ToolUsage" => json!({
            "toolCategory": "runbooks", "toolNamePredicate": contains, "toolUrlPredicate": contains, "environmentPredicate": contains,
        }),
        _ => json!({}),
    };
    KINDS.iter().map(|(kind, ..)| (*kind, own(kind))).collect()
}

/// The catalogue of [`services`], with an integration of custom events. Returns its id, and that of a relationship definition.
async fn prepared(app: &TestApp) -> (Value, Value) {
    let made = "mutation { eventIntegrationCreate(input: { type: customEvent, name: \"Events\" }) { integration { id } errors { message } } }";
    let made = data(app, made).await["eventIntegrationCreate"].clone();
    assert_eq!(made["errors"], json!([]));
    (made["integration"]["id"].clone(), crate::harness::checks::ids(app).await["definition"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_exported_can_be_applied_and_is_the_same_again() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let (integration, definition) = prepared(app).await;
    for (kind, mut own) in all_kinds(&integration, &definition) {
        own["name"] = format!("The check: {kind}").into();
        own["notes"] = "# Do this\n- one\n".into();
        create(app, kind, own).await;
    }
    done(app, &FILE.replace("    - name: Bronze\n", "").replace("level: Bronze", "level: Beginner"), json!({})).await;
    let desk = Desk::at(app, Scope::Write).await;
    let exported = desk.run(&["standards", "export"]).await;
    assert_eq!(exported.status, 0, "{}", exported.err);
    desk.place.write("all.yml", &exported.out);
    let released = desk.run(&["standards", "release", "standards.yml"]).await;
    assert_eq!((released.status, &*released.out), (0, "released 9 standards of standards.yml\n"), "{}", released.err);
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let first = desk.run(&["apply", "all.yml"]).await;
    assert_eq!(first.status, 0, "{}{}", first.out, first.err);
    assert_eq!(lines(&first.out).len(), 32, "{}", first.out);
    // Nothing but the lock.
    assert!(lines(&first.out).iter().all(|line| line.starts_with("updated ")), "{}", first.out);
    let second = desk.run(&["apply", "all.yml"]).await;
    assert!(lines(&second.out).iter().all(|line| line.starts_with("unchanged ")), "{}{}", second.out, second.err);
    assert_eq!(desk.run(&["apply", "--dry-run", "all.yml"]).await.status, 0);
    assert_eq!(desk.run(&["standards", "export"]).await.out, exported.out);
    // In another catalogue, it makes the same.
    let endpoint = services().await;
    let other = &endpoint.app;
    prepared(other).await;
    let desk = Desk::at(other, Scope::Write).await;
    desk.place.write("all.yml", &exported.out);
    let planned = desk.run(&["apply", "--dry-run", "all.yml"]).await;
    assert!(
        planned.status == 3 && planned.out.contains("would create check The check: TagDefined\n"),
        "{}{}",
        planned.out,
        planned.err
    );
    assert!(
        planned.out.contains("\ncheck The check: HasRecentDeploy: 1 pass, 2 fail, 0 pending (new)\n"),
        "{}",
        planned.out
    );
    let made = desk.run(&["apply", "all.yml"]).await;
    assert_eq!(made.status, 0, "{}{}", made.out, made.err);
    // The levels of both have another order, because both had levels before.
    let sorted = |text: &str| {
        let mut lines = lines(text);
        lines.sort();
        lines
    };
    assert_eq!(sorted(&desk.run(&["standards", "export"]).await.out), sorted(&exported.out));
    let check = json!({ "id": data(other, "{ account { rubric { checks { nodes { id name } } } } }").await["account"]["rubric"]["checks"]["nodes"].as_array().expect("checks").iter().find(|one| one["name"] == "The check: HasRecentDeploy").expect("the check")["id"] });
    assert_eq!(outcome(other, &check).await.0, "passed failed failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_names_another_one_in_a_file_and_means_it_in_any_catalogue() {
    let app = &teams().await;
    let create =
        "mutation($input: FilterCreateInput!) { filterCreate(input: $input) { filter { id } errors { message } } }";
    let made = async |app: &TestApp, input: Value| {
        let answer = app.query(create, json!({ "input": input })).await;
        assert_eq!(answer["data"]["filterCreate"]["errors"], json!([]), "{answer}");
        answer["data"]["filterCreate"]["filter"]["id"].clone()
    };
    // The one that asks about the other is older.
    let outer = made(app, json!({ "name": "Outer" })).await;
    let inner = json!({ "name": "Rusty", "predicates": [{ "key": "language", "type": "equals", "value": "Rust" }] });
    let inner = made(app, inner).await;
    let predicates = json!([
        { "key": "filter_id", "type": "matches", "value": inner },
        { "key": "name", "type": "equals", "value": "Cart" },
    ]);
    let update = "mutation($input: FilterUpdateInput!) { filterUpdate(input: $input) { errors { message } } }";
    let answer = app.query(update, json!({ "input": { "id": outer, "predicates": predicates } })).await;
    assert_eq!(answer["data"]["filterUpdate"]["errors"], json!([]));
    let desk = Desk::at(app, Scope::Write).await;
    let exported = desk.run(&["standards", "export"]).await;
    assert_eq!(exported.status, 0, "{}", exported.err);
    let inner = inner.as_str().expect("an id");
    assert!(exported.out.contains(r#""value":"Rusty""#) && !exported.out.contains(inner), "{}", exported.out);

    // In another catalogue, the filters have other ids.
    let other = &teams().await;
    made(other, json!({ "name": "Something else" })).await;
    let desk = Desk::at(other, Scope::Write).await;
    desk.place.write("all.yml", &exported.out);
    let done = desk.run(&["apply", "all.yml"]).await;
    assert_eq!((done.status, &*done.out), (0, "created filter Rusty\ncreated filter Outer\n"), "{}", done.err);
    let filters = data(other, "{ account { filters { nodes { id name predicates { key value } } } } }").await;
    let filters = filters["account"]["filters"]["nodes"].as_array().expect("filters").clone();
    let named = |name: &str| filters.iter().find(|one| one["name"] == name).expect("a filter");
    assert_eq!(named("Outer")["predicates"][0], json!({ "key": "filter_id", "value": named("Rusty")["id"] }));
    let query = "query($id: ID) { account { services(filterIdentifier: { id: $id }) { nodes { name } } } }";
    let found = other.query(query, json!({ "id": named("Outer")["id"] })).await;
    assert_eq!(found["data"]["account"]["services"]["nodes"], json!([{ "name": "Cart" }]));
    let again = desk.run(&["apply", "--dry-run", "all.yml"]).await;
    assert_eq!(again.status, 0, "{}{}", again.out, again.err);
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let back = desk.run(&["standards", "export"]).await;
    let lines: Vec<String> = sorted(&back.out).into_iter().filter(|line| !line.contains("Something else")).collect();
    assert_eq!(lines, sorted(&exported.out));

    let unknown =
        exported.out.replace(r#""value":"Rusty""#, r#""value":"Nowhere""#).replace("name: Outer", "name: Lost");
    let refused = mistakes(app, &unknown).await;
    assert!(
        refused[0].contains("the filter \"Lost\": ") && refused[0].contains("there is no filter \"Nowhere\""),
        "{refused:?}"
    );
}

#[test]
fn a_file_is_applied_to_a_database_after_the_service_files_of_the_same_run() {
    let place = Place::with_database();
    place.write("standards.yml", FILE);
    place.write("core.yml", "version: 1\nteam: { name: Core }\n");
    let missing = place.run(&["apply", "standards.yml"]);
    assert_eq!(missing.status, 1);
    assert!(
        missing.err.contains(
            "standards.yml:14:37: the scorecard \"Ready to sell\": a team with the id or alias \"core\" does not exist"
        ),
        "{}",
        missing.err
    );
    let done = place.run(&["apply", "standards.yml", "core.yml"]);
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(done.out.starts_with("created team core\ncreated level Beginner\n"), "{}", done.out);
    assert_eq!(place.run(&["apply", "--dry-run", "."]).status, 0);
    place.write("standards.yml", "version: 1\nstandards:\n  levels: [{ name: Beginner }]\n");
    let planned = place.run(&["apply", "--dry-run", "--delete-missing", "standards.yml"]);
    assert!(
        planned.status == 3 && planned.out.contains("would delete check Has an environment\n"),
        "{}{}",
        planned.out,
        planned.err
    );
    let done = place.run(&["apply", "--delete-missing", "standards.yml"]);
    assert!(done.status == 0 && done.out.contains("deleted scorecard Ready to sell\n"), "{}{}", done.out, done.err);
}
