//! How services stood: which changes of results and levels are noticed, kept and told, and that none is forgotten.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rollcall::db::{Read, Write};
use rollcall::entity::user::Role;
use rollcall::entity::{
    Timestamp, check_due, check_result, service, service_dependency, service_level, standing_change, standing_day,
};
use rollcall::graphql::field::id;
use rollcall::graphql::standards::check::history;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data, soon};
use crate::harness::browser::Browser;
use crate::harness::checks::{create, send, services};
use crate::harness::database::Database;
use crate::harness::process::Process;
use crate::harness::program::Place;

/// How long a comparison may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Evaluates all that is marked, and checks that nothing else was to be evaluated.
async fn settled(app: &TestApp) {
    history::settle(&app.db, &app.wanted).await.expect("settled");
    assert_eq!(history::differences(&app.db, PATIENCE).await.expect("compared").0, 0);
    assert_eq!(check_due::oldest(app.db.read(), 10, true).await.expect("marks"), []);
}

/// The newest changes of a service, newest first: what, before, after, and the cause.
async fn changes(app: &TestApp, alias: &str, most: u32) -> Vec<String> {
    let query = format!(
        "{{ account {{ service(alias: \"{alias}\") {{ standingChanges(first: {most}) {{ nodes {{ check {{ name }} before after message cause }} totalCount }} }} }} }}"
    );
    let nodes = data(app, &query).await["account"]["service"]["standingChanges"]["nodes"].clone();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let line = |one: &Value| {
        let name = one["check"]["name"].as_str().unwrap_or("level").to_owned();
        assert_eq!(one["message"].is_string(), one["check"].is_object() && one["after"].is_string(), "{one}");
        format!("{name}: {} -> {} by {}", text(&one["before"]), text(&one["after"]), text(&one["cause"]))
    };
    nodes.as_array().expect("changes").iter().map(line).collect()
}

async fn run(app: &TestApp, mutation: &str) -> Value {
    let made = data(app, &format!("mutation {{ own: {mutation} }}")).await["own"].clone();
    assert_eq!(made["errors"], json!([]), "{mutation}");
    made
}

#[tokio::test]
async fn a_change_of_a_result_and_of_a_level_is_kept_with_its_cause() {
    let endpoint = services().await;
    let app = &endpoint.app;
    create(app, "TagDefined", json!({ "name": "Env", "tagKey": "env" })).await;
    settled(app).await;
    // What follows from a new check is known, but no change.
    assert_eq!(changes(app, "bare", 10).await, [""; 0]);
    run(app, r#"tagCreate(input: { alias: "bare", type: Service, key: "env", value: "prod" }) { errors { message } }"#)
        .await;
    settled(app).await;
    let by = "tagCreate by a test";
    let found = changes(app, "bare", 10).await;
    assert_eq!(found, [format!("level: Beginner -> Silver by {by}"), format!("Env: failed -> passed by {by}")]);
    let query = "{ account { service(alias: \"bare\") { maturityReport { latestCheckResults { status since } } } } }";
    let result = data(app, query).await["account"]["service"]["maturityReport"]["latestCheckResults"][0].clone();
    assert_eq!(result["status"], "passed");
    assert!(result["since"].is_string(), "{result}");
    // Until it is stored, nobody knows since when.
    data(app, "mutation { serviceUpdate(input: { alias: \"bare\", description: \"d\" }) { errors { message } } }")
        .await;
    let tag = data(app, "{ account { service(alias: \"bare\") { tags { nodes { id } } } } }").await;
    let tag = tag["account"]["service"]["tags"]["nodes"][0]["id"].clone();
    let delete = app
        .query("mutation($id: ID!) { tagDelete(input: { id: $id }) { errors { message } } }", json!({ "id": tag }))
        .await;
    assert_eq!(delete["data"]["tagDelete"]["errors"], json!([]));
    let result = data(app, query).await["account"]["service"]["maturityReport"]["latestCheckResults"][0].clone();
    assert_eq!((&result["status"], &result["since"]), (&json!("failed"), &Value::Null));
    settled(app).await;
    let found = changes(app, "bare", 1).await;
    assert_eq!(found, ["level: Silver -> Beginner by serviceUpdate by a test; tagDelete by a test"]);
}

#[tokio::test]
async fn deploys_new_services_and_standards_are_causes() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let check = create(app, "HasRecentDeploy", json!({ "name": "Deployed", "days": 5 })).await;
    settled(app).await;
    assert_eq!(
        endpoint.post_with(json!({ "service": "mail", "deployed_at": Timestamp::now().to_string() })).await.status,
        202
    );
    settled(app).await;
    let found = changes(app, "mail", 10).await;
    assert_eq!(found[1], "Deployed: failed -> passed by a deploy");
    run(app, r#"serviceCreate(input: { name: "New" }) { errors { message } }"#).await;
    settled(app).await;
    let found = changes(app, "new", 10).await;
    assert_eq!(found[1], "Deployed: - -> failed by serviceCreate by a test");
    assert_eq!(found[0], "level: - -> Beginner by serviceCreate by a test");
    let id = check["id"].as_str().expect("an id");
    run(app, &format!(r#"checkHasRecentDeployUpdate(input: {{ id: "{id}", days: 50 }}) {{ errors {{ message }} }}"#))
        .await;
    settled(app).await;
    let found = changes(app, "new", 10).await;
    assert_eq!(found.len(), 2, "{found:?}");
    // A check that no longer counts has no results.
    run(
        app,
        &format!(r#"checkHasRecentDeployUpdate(input: {{ id: "{id}", enabled: false }}) {{ errors {{ message }} }}"#),
    )
    .await;
    settled(app).await;
    assert_eq!(app.db.read().count(check_result::Entity::find()).await.expect("a count"), 0);
    assert_eq!(app.db.read().count(service_level::Entity::find()).await.expect("a count"), 0);
}

#[tokio::test]
async fn time_changes_results_too() {
    let endpoint = services().await;
    let app = &endpoint.app;
    create(app, "HasRecentDeploy", json!({ "name": "Deployed", "days": 5 })).await;
    settled(app).await;
    // As if the deploy of the shop had been longer ago.
    let old = rollcall::entity::deploy::Entity::update_many()
        .col_expr(rollcall::entity::deploy::Column::DeployedAt, Expr::value(1_000_000_i64));
    app.db.write(async |tx| tx.exec(old).await).await.expect("changed");
    let last = rollcall::entity::service_last_deploy::Entity::update_many()
        .col_expr(rollcall::entity::service_last_deploy::Column::DeployedAt, Expr::value(1_000_000_i64));
    app.db.write(async |tx| tx.exec(last).await).await.expect("changed");
    assert_eq!(history::evaluate_all(&app.db, &app.wanted, Timestamp::now()).await.expect("evaluated"), 2);
    assert_eq!(changes(app, "shop", 10).await[1], "Deployed: passed -> failed by time");
    assert_eq!(history::evaluate_all(&app.db, &app.wanted, Timestamp::now()).await.expect("evaluated"), 0);
}

#[tokio::test]
async fn an_ended_campaign_keeps_its_results() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let check = create(app, "TagDefined", json!({ "name": "Env", "tagKey": "env" })).await;
    let core = data(app, "{ account { team(alias: \"core\") { id } } }").await["account"]["team"]["id"].clone();
    let core = core.as_str().expect("an id");
    let made = run(app, &format!(r#"campaignCreate(input: {{ name: "Tags", ownerId: "{core}" }}) {{ campaign {{ id }} errors {{ message }} }}"#)).await;
    let id = made["campaign"]["id"].as_str().expect("an id").to_owned();
    let check = check["id"].as_str().expect("an id");
    run(
        app,
        &format!(
            r#"checksCopyToCampaign(input: {{ campaignId: "{id}", checkIds: ["{check}"] }}) {{ errors {{ message }} }}"#
        ),
    )
    .await;
    run(app, &format!(r#"campaignScheduleUpdate(input: {{ id: "{id}", startDate: "2026-01-01T00:00:00Z", targetDate: "2026-01-02T00:00:00Z" }}) {{ errors {{ message }} }}"#)).await;
    settled(app).await;
    run(app, &format!(r#"campaignEnd(input: {{ id: "{id}" }}) {{ errors {{ message }} }}"#)).await;
    run(app, r#"tagCreate(input: { alias: "bare", type: Service, key: "env", value: "prod" }) { errors { message } }"#)
        .await;
    settled(app).await;
    let query =
        format!("{{ account {{ campaign(id: \"{id}\") {{ history(days: 3) {{ day total passed pending }} }} }} }}");
    let days = data(app, &query).await["account"]["campaign"]["history"].clone();
    let days = days.as_array().expect("days");
    assert_eq!(days.len(), 1, "{days:?}");
    assert_eq!((&days[0]["total"], &days[0]["passed"], &days[0]["pending"]), (&json!(3), &json!(2), &json!(0)));
}

#[tokio::test]
async fn categories_and_teams_have_trends() {
    let endpoint = services().await;
    let app = &endpoint.app;
    create(app, "ServiceDependency", json!({ "name": "Depends" })).await;
    create(app, "TagDefined", json!({ "name": "Env", "tagKey": "env" })).await;
    settled(app).await;
    let ids = data(app, "{ account { services { nodes { id alias } } } }").await;
    let number = |alias: &str| {
        let all = ids["account"]["services"]["nodes"].as_array().expect("services");
        let own = all.iter().find(|one| one["alias"] == alias).expect("the service");
        id::number::<service::Entity>(own["id"].as_str().expect("an id")).expect("a number")
    };
    // As if the checks were ten days old, the shop too, and mail two; the shop reached its level four days ago.
    const DAY: i64 = 86_400_000_000;
    let ago = |days: i64| Timestamp::from_micros(Timestamp::now().as_micros() - days * DAY);
    let earlier = standing_day::Entity::update_many()
        .col_expr(standing_day::Column::Day, Expr::col(standing_day::Column::Day).sub(10));
    let created = |alias: &str, at: Timestamp| {
        let own = service::Entity::update_many().filter(service::Column::Id.eq(number(alias)));
        own.col_expr(service::Column::CreatedAt, Expr::value(at))
    };
    let change = standing_change::ActiveModel {
        service_id: Set(number("shop")),
        check_id: Set(None),
        at: Set(ago(4)),
        before: Set(Some("Beginner".to_owned())),
        after: Set(Some("Silver".to_owned())),
        message: Set(None),
        cause: Set("a test".to_owned()),
        ..Default::default()
    };
    let done = app.db.write(async |tx| {
        tx.exec(earlier).await?;
        tx.exec(created("shop", ago(30))).await?;
        tx.exec(created("mail", ago(2))).await?;
        tx.insert(change).await
    });
    done.await.expect("changed");
    let query = |days: i32| {
        format!(
            "{{ account {{
                rubric {{ categories {{ nodes {{ name history(days: {days}) {{ total passed pending }} }} }} }}
                core: team(alias: \"core\") {{ ...levels }} lone: team(alias: \"lone\") {{ ...levels }}
            }} }}
            fragment levels on Team {{ levelHistory(days: {days}) {{ day levelCounts {{ serviceCount level {{ name }} }} }} }}"
        )
    };
    let found = data(app, &query(30)).await["account"].clone();
    let of = |team: &str, level: &str| -> Vec<i64> {
        let days = found[team]["levelHistory"].as_array().expect("days");
        let count = |day: &Value| {
            let all = day["levelCounts"].as_array().expect("levels");
            let own = all.iter().find(|one| one["level"]["name"] == level).expect("the level");
            own["serviceCount"].as_i64().expect("a number")
        };
        days.iter().map(count).collect()
    };
    assert_eq!(of("core", "Beginner"), [1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0]);
    assert_eq!(of("core", "Silver"), [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
    assert_eq!(of("lone", "Beginner"), [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1]);
    let categories = found["rubric"]["categories"]["nodes"].clone();
    let of = |category: usize| categories[category]["history"].as_array().expect("days").clone();
    assert_eq!((of(0).len(), of(1).len()), (11, 0), "{categories}");
    assert_eq!(of(0)[10], json!({ "total": 6, "passed": 3, "pending": 0 }));
    for days in [0, history::MOST_DAYS + 1] {
        let answer = app.query(&query(days), json!({})).await;
        assert_eq!(answer["errors"].as_array().map(Vec::len), Some(3), "{answer}");
    }
    let browser = Browser::of(app, Role::Admin).await;
    let page = browser.page("/teams/core").await;
    assert!(page.contains("Services at the level Silver by day"), "{page}");
    let page = browser.page("/standards").await;
    assert!(page.contains("Safety: results passed by day"), "{page}");
}

#[tokio::test]
async fn each_day_is_as_at_its_end_until_the_next_that_differs() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let check = create(app, "TagDefined", json!({ "name": "Env", "tagKey": "env" })).await;
    settled(app).await;
    // As if that had been ten days ago.
    let earlier = standing_day::Entity::update_many()
        .col_expr(standing_day::Column::Day, Expr::col(standing_day::Column::Day).sub(10));
    app.db.write(async |tx| tx.exec(earlier).await).await.expect("changed");
    run(app, r#"tagCreate(input: { alias: "bare", type: Service, key: "env", value: "prod" }) { errors { message } }"#)
        .await;
    settled(app).await;
    let id = check["id"].as_str().expect("an id");
    let query = |days: i32| {
        format!(
            "{{ account {{ checkReport(id: \"{id}\") {{ history(days: {days}) {{ day total passed }} }} levelHistory(days: {days}) {{ day levelCounts {{ serviceCount level {{ name }} }} }} }} }}"
        )
    };
    let found = data(app, &query(30)).await["account"].clone();
    let passed: Vec<i64> = found["checkReport"]["history"]
        .as_array()
        .expect("days")
        .iter()
        .map(|day| day["passed"].as_i64().expect("a number"))
        .collect();
    assert_eq!(passed, [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3]);
    let levels = found["levelHistory"].as_array().expect("days");
    let at = |day: usize, level: usize| levels[day]["levelCounts"][level]["serviceCount"].clone();
    assert_eq!((levels.len(), at(0, 0), at(0, 2), at(10, 0), at(10, 2)), (11, json!(1), json!(2), json!(0), json!(3)));
    let found = data(app, &query(1)).await["account"]["checkReport"]["history"].clone();
    assert_eq!(found.as_array().expect("days").len(), 1);
    for days in [0, -1, history::MOST_DAYS + 1] {
        let answer = app.query(&query(days), json!({})).await;
        assert!(
            answer["errors"][0]["message"].as_str().is_some_and(|message| message.contains("days must be 1 to 365")),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn whatever_changes_the_stored_results_equal_a_full_evaluation() {
    let endpoint = services().await;
    let app = &endpoint.app;
    for (kind, own) in [
        ("ServiceOwnership", json!({ "name": "Owner" })),
        ("TagDefined", json!({ "name": "Env", "tagKey": "env" })),
        ("ToolUsage", json!({ "name": "Runbook", "toolCategory": "runbooks" })),
        ("HasRecentDeploy", json!({ "name": "Deployed", "days": 30 })),
        ("CodeIssue", json!({ "name": "Issues", "constraint": "any", "maxAllowed": 0 })),
        ("RepositoryIntegrated", json!({ "name": "Code" })),
        ("ServiceDependency", json!({ "name": "Needs" })),
        ("AlertSourceUsage", json!({ "name": "Alerts" })),
        ("Manual", json!({ "name": "Asked", "updateRequiresComment": false })),
        ("ServiceProperty", json!({ "name": "Tier", "serviceProperty": "tier_index" })),
        ("DependencyTier", json!({ "name": "Tiers" })),
        ("DeployMetrics", json!({ "name": "Failures", "metric": "change_failure_rate", "maxAllowed": 50 })),
    ] {
        create(app, kind, own).await;
    }
    settled(app).await;
    let manual = data(app, "{ account { rubric { checks { nodes { id name } } } } }").await;
    let manual = manual["account"]["rubric"]["checks"]["nodes"]
        .as_array()
        .expect("checks")
        .iter()
        .find(|check| check["name"] == "Asked")
        .expect("the manual one")["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let mut random = fastrand::Rng::with_seed(11);
    let mut count = BTreeMap::<usize, usize>::new();
    let (mut made, mut gone) = (Vec::new(), 0);
    for step in 0..160 {
        let alias = ["shop", "mail", "bare"][random.usize(0..3)];
        let key = ["env", "site"][random.usize(0..2)];
        let which = random.usize(0..13);
        *count.entry(which).or_default() += 1;
        let mutation = match which {
            0 => format!(
                r#"serviceUpdate(input: {{ alias: "{alias}", ownerAlias: {} }}) {{ errors {{ message }} }}"#,
                ["null", "\"core\"", "\"lone\""][random.usize(0..3)]
            ),
            1 => format!(
                r#"tagAssign(input: {{ alias: "{alias}", type: Service, tags: [{{ key: "{key}", value: "v{step}" }}] }}) {{ errors {{ message }} }}"#
            ),
            2 => format!(
                r#"serviceUpdate(input: {{ alias: "{alias}", tierAlias: {} }}) {{ errors {{ message }} }}"#,
                ["null", "\"tier_1\""][random.usize(0..2)]
            ),
            3 => format!(
                r#"toolCreate(input: {{ serviceAlias: "{alias}", category: runbooks, displayName: "R{step}", url: "https://wiki.example.com/{step}" }}) {{ errors {{ message }} }}"#
            ),
            4 => format!(r#"repositoryCreate(input: {{ name: "org/{step}" }}) {{ errors {{ message }} }}"#),
            5 => format!(
                r#"serviceRepositoryCreate(input: {{ service: {{ alias: "{alias}" }}, repository: {{ alias: "org/shop" }} }}) {{ errors {{ message }} }}"#
            ),
            6 => format!(
                r#"checkManualAnswer(input: {{ checkId: "{manual}", service: {{ alias: "{alias}" }}, passed: {} }}) {{ errors {{ message }} }}"#,
                random.bool()
            ),
            7 => format!(
                r#"teamUpdate(input: {{ alias: "lone", responsibilities: "r{step}" }}) {{ errors {{ message }} }}"#
            ),
            8 => {
                let status = if step % 2 == 0 { "success" } else { "failed" };
                assert_eq!(endpoint.post_with(json!({ "service": alias, "status": status })).await.status, 202);
                settled(app).await;
                continue;
            }
            9 => {
                made.push(format!("s{step}"));
                format!(r#"serviceCreate(input: {{ name: "S{step}", ownerAlias: "core" }}) {{ errors {{ message }} }}"#)
            }
            10 => {
                let Some(alias) = made.pop() else { continue };
                gone += 1;
                let tag = format!(
                    r#"tagCreate(input: {{ alias: "{alias}", type: Service, key: "env", value: "x" }}) {{ errors {{ message }} }}"#
                );
                run(app, &tag).await;
                run(app, &format!(r#"serviceDelete(input: {{ alias: "{alias}" }}) {{ errors {{ message }} }}"#)).await;
                settled(app).await;
                continue;
            }
            11 => {
                apply(app, alias, step).await;
                settled(app).await;
                continue;
            }
            _ => {
                Browser::of(app, Role::Admin).await;
                settled(app).await;
                continue;
            }
        };
        // Some are refused, such as a second link: then nothing has changed.
        data(app, &format!("mutation {{ {mutation} }}")).await;
        settled(app).await;
    }
    assert!(count.len() >= 12 && gone >= 3, "{count:?} {gone}");
    naive_levels(app).await;
}

#[tokio::test]
async fn another_tier_concerns_the_services_that_depend_on_it() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let check = create(app, "DependencyTier", json!({ "name": "Tiers" })).await;
    settled(app).await;
    let give = |tier: &str| {
        format!(r#"serviceUpdate(input: {{ alias: "mail", tierAlias: "{tier}" }}) {{ errors {{ message }} }}"#)
    };
    // The shop is of the first tier, and needs mail.
    run(app, &give("tier_1")).await;
    settled(app).await;
    assert_eq!(changes(app, "shop", 2).await[1], "Tiers: failed -> passed by serviceUpdate by a test");
    run(app, &give("tier_2")).await;
    settled(app).await;
    assert_eq!(changes(app, "shop", 2).await[1], "Tiers: passed -> failed by serviceUpdate by a test");
    let tiers = data(app, "{ account { tiers { id alias } } }").await["account"]["tiers"].clone();
    let second = tiers.as_array().expect("tiers").iter().find(|tier| tier["alias"] == "tier_2").expect("the tier");
    let id = second["id"].as_str().expect("an id");
    run(app, &format!(r#"tierUpdate(input: {{ id: "{id}", index: 0 }}) {{ errors {{ message }} }}"#)).await;
    settled(app).await;
    assert_eq!(changes(app, "shop", 2).await[1], "Tiers: failed -> passed by tierUpdate by a test");
    // Of a few that depend on it, each is marked. Of very many, the check is.
    let now = Timestamp::now();
    let row = |number: i32| service::ActiveModel {
        name: Set(format!("D{number}")),
        slug: Set(format!("d{number}")),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    app.db.write(async |tx| tx.insert_all((0..1_001).map(row).collect()).await).await.expect("services");
    let all = app.db.read().all(service::Entity::find()).await.expect("services");
    let mail = all.iter().find(|service| service.slug == "mail").expect("mail").id;
    let new: Vec<i64> = all.iter().filter(|service| service.name.starts_with('D')).map(|service| service.id).collect();
    let marked = async || {
        let marks = check_due::oldest(app.db.read(), 10, true).await.expect("marks");
        let count = |what| marks.iter().filter(|mark| mark.what == what).count();
        [check_due::What::Service, check_due::What::Check, check_due::What::All].map(count)
    };
    for (some, tier, expected) in [(&new[..2], "tier_3", [4, 0, 0]), (&new[2..], "tier_4", [1, 1, 0])] {
        let needs = |source: &i64| service_dependency::ActiveModel {
            source_id: Set(*source),
            destination_id: Set(mail),
            ..Default::default()
        };
        let links: Vec<service_dependency::ActiveModel> = some.iter().map(needs).collect();
        app.db.write(async |tx| tx.insert_all(links.clone()).await).await.expect("dependencies");
        run(app, &give(tier)).await;
        assert_eq!(marked().await, expected, "{tier}");
        history::settle(&app.db, &app.wanted).await.expect("settled");
    }
    // Nothing had noticed the new services.
    history::evaluate_all(&app.db, &app.wanted, Timestamp::now()).await.expect("evaluated");
    settled(app).await;
    // Without a check that counts, nothing follows for the services that depend on it.
    let off = json!({ "id": check["id"], "enabled": false });
    assert_eq!(send(app, "checkDependencyTierUpdate", off).await["errors"], json!([]));
    settled(app).await;
    run(app, &give("tier_3")).await;
    assert_eq!(marked().await, [1, 0, 0]);
}

/// Applies a service file.
async fn apply(app: &TestApp, alias: &str, step: i32) {
    let text = format!("version: 1\nservice:\n  name: {alias}\n  description: d{step}\n  tags: {{ env: e{step} }}\n");
    let query = "mutation($input: ServiceFilesApplyInput!) { serviceFilesApply(input: $input) { errors { message } } }";
    let files = json!({ "repository": "git@github.com:org/mono.git", "commit": "a1", "files": [{ "path": "rollcall.yml", "text": text }] });
    let answer = app.query(query, json!({ "input": files })).await;
    assert_eq!(answer.get("errors"), None, "{answer}");
}

/// Checks the stored levels by the rule as it is written down.
async fn naive_levels(app: &TestApp) {
    let query = "{ account { services { nodes { id alias maturityReport { overallLevel { name index } latestCheckResults { status check { level { index } } } } } } rubric { levels { nodes { name index } } } } }";
    let account = data(app, query).await["account"].clone();
    let mut levels: Vec<(i64, String)> = account["rubric"]["levels"]["nodes"]
        .as_array()
        .expect("levels")
        .iter()
        .map(|level| (level["index"].as_i64().expect("an index"), level["name"].as_str().expect("a name").to_owned()))
        .collect();
    levels.sort();
    let stored = app.db.read().all(service_level::Entity::find()).await.expect("levels");
    let names: BTreeMap<i64, String> = app
        .db
        .read()
        .all(rollcall::entity::level::Entity::find())
        .await
        .expect("levels")
        .into_iter()
        .map(|level| (level.id, level.name))
        .collect();
    let services = account["services"]["nodes"].as_array().expect("services");
    assert_eq!(stored.len(), services.len());
    for service in services {
        let results = service["maturityReport"]["latestCheckResults"].as_array().expect("results");
        let passes_up_to = |index: i64| {
            results
                .iter()
                .filter(|one| one["check"]["level"]["index"].as_i64().expect("an index") <= index)
                .all(|one| one["status"] == "passed")
        };
        let level = levels.iter().rev().find(|(index, _)| passes_up_to(*index)).unwrap_or(&levels[0]);
        let id = rollcall::graphql::field::id::decode(service["id"].as_str().expect("an id")).expect("an id").1;
        let own = stored.iter().find(|row| row.service_id == id).expect("a level");
        assert_eq!(names[&own.level_id], level.1, "{}", service["alias"]);
    }
}

#[tokio::test]
async fn of_two_that_evaluate_at_once_an_older_result_never_replaces_a_newer_one() {
    let endpoint = services().await;
    let app = &endpoint.app;
    create(app, "TagDefined", json!({ "name": "Env", "tagKey": "env" })).await;
    for step in 0..6 {
        let writes = async {
            data(app, &format!(r#"mutation {{ tagAssign(input: {{ alias: "bare", type: Service, tags: [{{ key: "env", value: "{step}" }}] }}) {{ errors {{ message }} }} }}"#)).await;
            let tags = data(app, "{ account { service(alias: \"bare\") { tags { nodes { id } } } } }").await;
            if step % 2 == 1 {
                let id = tags["account"]["service"]["tags"]["nodes"][0]["id"].clone();
                app.query(
                    "mutation($id: ID!) { tagDelete(input: { id: $id }) { errors { message } } }",
                    json!({ "id": id }),
                )
                .await;
            }
        };
        let settle = || async { history::settle(&app.db, &app.wanted).await.expect("settled") };
        tokio::join!(writes, settle(), settle(), settle());
        settled(app).await;
    }
    let bare = changes(app, "bare", 100).await;
    assert!(bare.len() >= 4, "{bare:?}");
}

#[tokio::test]
async fn pages_show_since_when_and_the_trend() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let check = create(app, "TagDefined", json!({ "name": "Env", "tagKey": "env" })).await;
    settled(app).await;
    run(app, r#"tagCreate(input: { alias: "bare", type: Service, key: "env", value: "prod" }) { errors { message } }"#)
        .await;
    settled(app).await;
    let browser = Browser::of(app, Role::Admin).await;
    let page = browser.page("/services/bare/standards").await;
    for expected in ["failed → passed", "Beginner → Silver", "tag added by a test"] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    // What it passes now is said, too, above what changed.
    let (now, then) = page.split_once("How it has stood").expect("what changed");
    assert!(now.contains(">Env</a>") && now.contains(">passed</span>") && !then.contains(">passed</span>"), "{page}");
    // As in other tables, a row is a name, with its time at the end: phones show it as lines.
    assert!(then.contains("<table class=\"lined\">") && then.contains("<td class=\"number\"><time "), "{then}");
    let page = browser.page(&format!("/standards/{}", check["id"].as_str().expect("an id"))).await;
    // One day is no trend.
    assert!(page.contains("<span>History begins ") && page.contains("100 %"), "{page}");
    assert!(!page.contains("results passed by day"), "{page}");
    let page = browser.page("/standards").await;
    assert!(page.contains(">History begins ") && !page.contains("Services at the level Silver by day"), "{page}");
    let page = browser.page("/services/shop").await;
    assert!(page.contains("href=\"/services/shop/standards\">All checks</a>"), "{page}");
    assert_eq!(browser.get("/services/nobody/standards").await.status, 404);
}

async fn ask(service: &Process, token: &str, query: &str) -> Value {
    let answer = service.post("/graphql", Some(token), &json!({ "query": query })).await;
    let (status, answer) = answer.expect("an answer");
    assert_eq!((status, answer.get("errors")), (200, None), "{answer}");
    answer
}

/// Kills the server between a change and its evaluation, as often as `ROLLCALL_TEST_EVALUATION_KILLS` says.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_kill_left_is_evaluated_after_the_start() {
    let kills = std::env::var("ROLLCALL_TEST_EVALUATION_KILLS").map_or(3, |kills| kills.parse().expect("a number"));
    let (place, database) = (Place::new(), Database::new().await);
    let token = place.run_on(&database, &["token", "create", "--description", "kill"]);
    let start = || {
        let serve = ["serve", "--listen", "127.0.0.1:0", "--database-url", &database.url];
        Process::start(place.command(&[&serve[..], &["--token-limit", "0", "--ip-limit", "0"]].concat()))
    };
    let mut service = start();
    ask(&service, &token, "mutation { standardsStarterCreate { errors { message } } }").await;
    service.kill();
    let mut slowest = Duration::ZERO;
    for round in 0..kills {
        let mut service = start();
        let create = format!(
            "mutation {{ serviceCreate(input: {{ name: \"K{round}\", description: \"d\" }}) {{ errors {{ message }} }} }}"
        );
        ask(&service, &token, &create).await;
        for step in 0..fastrand::u32(0..6) {
            let description = if step % 2 == 0 { "null".to_owned() } else { format!("\"{step}\"") };
            let change = format!(
                "mutation {{ serviceUpdate(input: {{ alias: \"k{round}\", description: {description} }}) {{ errors {{ message }} }} }}"
            );
            ask(&service, &token, &change).await;
        }
        tokio::time::sleep(Duration::from_millis(fastrand::u64(0..400))).await;
        service.kill();
        let mut service = start();
        let began = Instant::now();
        let query = format!(
            "{{ account {{ service(alias: \"k{round}\") {{ maturityReport {{ latestCheckResults {{ since check {{ name }} status }} }} }} }} }}"
        );
        soon("everything is evaluated", async {
            loop {
                let answer = ask(&service, &token, &query).await;
                let results = answer["data"]["account"]["service"]["maturityReport"]["latestCheckResults"].clone();
                let results = results.as_array().expect("results");
                if results.len() == 10 && results.iter().all(|result| result["since"].is_string()) {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await;
        slowest = slowest.max(began.elapsed());
        service.kill();
    }
    crate::harness::say_aloud(&format!(
        "{kills} kills between a change and its evaluation: evaluated at most {slowest:.1?} after the start"
    ));
    let db = database.open().await;
    assert_eq!(history::differences(&db, PATIENCE).await.expect("compared").0, 0);
    let kept = standing_change::Entity::find().filter(standing_change::Column::Cause.starts_with("service"));
    assert!(db.read().count(kept).await.expect("a count") >= kills);
}

#[tokio::test]
async fn a_scorecard_shows_its_results_by_day() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let core = data(app, "{ account { team(alias: \"core\") { id } } }").await["account"]["team"]["id"].clone();
    let core = core.as_str().expect("an id");
    let made = run(app, &format!(r#"scorecardCreate(input: {{ name: "Tags", ownerId: "{core}" }}) {{ scorecard {{ categories {{ nodes {{ id }} }} }} errors {{ message }} }}"#)).await;
    let category = made["scorecard"]["categories"]["nodes"][0]["id"].clone();
    create(app, "TagDefined", json!({ "name": "Env", "tagKey": "env", "categoryId": category })).await;
    settled(app).await;
    let query = "{ account { scorecard(input: { alias: \"tags\" }) { history { day total passed pending } } } }";
    let days = data(app, query).await["account"]["scorecard"]["history"].clone();
    let days = days.as_array().expect("days");
    assert_eq!(
        (days.len(), &days[0]["total"], &days[0]["passed"], &days[0]["pending"]),
        (1, &json!(3), &json!(2), &json!(0))
    );
    assert_eq!(days[0]["day"].as_str().expect("a day").split('T').nth(1), Some("00:00:00Z"));
    // Its checks count towards no level, so there is none.
    assert_eq!(app.db.read().count(service_level::Entity::find()).await.expect("a count"), 0);
}

#[tokio::test]
async fn lists_and_teams_show_levels_and_what_to_pass_first() {
    let endpoint = services().await;
    let app = &endpoint.app;
    create(app, "TagDefined", json!({ "name": "Env", "tagKey": "env" })).await;
    create(
        app,
        "TagDefined",
        json!({ "name": "Zone", "tagKey": "zone", "levelId": crate::harness::checks::ids(app).await["Silver"] }),
    )
    .await;
    let grouped = r#"mutation {
        systemCreate(input: { name: "Selling" }) { errors { message } }
        systemChildAssign(system: { alias: "selling" }, childServices: [{ alias: "mail" }, { alias: "bare" }]) { errors { message } }
    }"#;
    let grouped = data(app, grouped).await;
    assert!(grouped.as_object().expect("data").values().all(|one| one["errors"] == json!([])), "{grouped}");
    settled(app).await;
    let query = r#"{ account {
        system(input: { alias: "selling" }) {
            levelCounts { serviceCount } missedChecks { check { name } services } levelHistory(days: 7) { levelCounts { serviceCount } }
        }
        team(alias: "core") { levelCounts { level { name } serviceCount } missedChecks { check { name } services } }
        exact: services(filter: [{ key: level_index, arg: "1" }]) { nodes { alias level { name } } }
        below: services(filter: [{ key: level_index, type: less_than_or_equal_to, arg: "0" }]) { nodes { alias } }
        none: services(filter: [{ key: level_index, type: does_not_exist }]) { nodes { alias } }
    } }"#;
    let found = data(app, query).await["account"].clone();
    let counts = found["team"]["levelCounts"].as_array().expect("levels");
    let counts: Vec<(&str, i64)> = counts
        .iter()
        .map(|one| (one["level"]["name"].as_str().expect("a name"), one["serviceCount"].as_i64().expect("a number")))
        .collect();
    assert_eq!(counts, [("Beginner", 0), ("Bronze", 1), ("Silver", 0)]);
    assert_eq!(found["team"]["missedChecks"], json!([{ "check": { "name": "Zone" }, "services": 1 }]));
    let missed = |check: &str, services: i32| json!({ "check": { "name": check }, "services": services });
    let counts = json!([{ "serviceCount": 1 }, { "serviceCount": 1 }, { "serviceCount": 0 }]);
    assert_eq!(
        found["system"],
        json!({
            "levelCounts": counts, "missedChecks": [missed("Env", 1), missed("Zone", 2)],
            "levelHistory": [{ "levelCounts": counts }],
        })
    );
    let page = Browser::of(app, Role::Viewer).await.page("/systems/selling").await;
    assert!(page.contains("id=\"standards\"") && page.contains(">Zone</a>"), "{page}");
    assert_eq!(
        found["exact"]["nodes"],
        json!([
            { "alias": "shop", "level": { "name": "Bronze" } }, { "alias": "mail", "level": { "name": "Bronze" } }
        ])
    );
    assert_eq!(found["below"]["nodes"], json!([{ "alias": "bare" }]));
    assert_eq!(found["none"]["nodes"], json!([]));
    let browser = Browser::of(app, Role::User).await;
    let page = browser.page("/teams/core").await;
    assert!(page.contains("To pass, the next step first") && page.contains("Zone"), "{page}");
    let page = browser.page("/services?level=0").await;
    assert!(
        page.contains("Level is") && page.contains("/services/bare") && !page.contains("/services/shop\""),
        "{page}"
    );
    let file = browser.get("/services.csv?level=1").await;
    assert!(file.text().contains("Bronze") && !file.text().contains("bare"), "{}", file.text());
    // A check cannot depend on what depends on it.
    let filter = run(app, r#"filterCreate(input: { name: "Silver", connective: and, predicates: [{ key: level_index, type: equals, value: "2" }] }) { filter { id } errors { message } }"#).await;
    let check =
        create(app, "TagDefined", json!({ "name": "Odd", "tagKey": "odd", "filterId": filter["filter"]["id"] })).await;
    let (statuses, messages) = crate::harness::checks::outcome(app, &check).await;
    assert_eq!(statuses, "pending pending pending");
    assert!(messages[0].contains("cannot ask about levels"), "{messages:?}");
}

#[tokio::test]
async fn a_check_that_begins_to_count_tells_nobody_what_follows() {
    let endpoint = services().await;
    let app = &endpoint.app;
    create(app, "TagDefined", json!({ "name": "Env", "tagKey": "env" })).await;
    let begin = Timestamp::from_micros(Timestamp::now().as_micros() + 2_500_000);
    let later = json!({ "name": "Later", "tagKey": "later", "enableOn": begin.to_string() });
    create(app, "TagDefined", later).await;
    settled(app).await;
    let before = app.db.read().count(check_result::Entity::find()).await.expect("a count");
    while Timestamp::now() < begin {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    app.wanted.add(&[rollcall::entity::event::Kind::LevelLost, rollcall::entity::event::Kind::CheckFailed]);
    let last = Timestamp::from_micros(begin.as_micros() - 1);
    assert!(history::evaluate_all(&app.db, &app.wanted, last).await.expect("evaluated") == 0);
    assert_eq!(app.db.read().count(check_result::Entity::find()).await.expect("a count"), before + 3);
    assert_eq!(app.db.read().count(rollcall::entity::event::Entity::find()).await.expect("a count"), 0);
    // The level has changed all the same.
    assert_eq!(changes(app, "shop", 10).await, ["level: Silver -> Beginner by the check Later counts from now on"]);
    settled(app).await;
}

#[tokio::test]
async fn a_deleted_service_leaves_nothing_to_evaluate() {
    let endpoint = services().await;
    let app = &endpoint.app;
    create(app, "ServiceOwnership", json!({ "name": "Owner" })).await;
    settled(app).await;
    run(app, r#"serviceUpdate(input: { alias: "bare", ownerAlias: "core" }) { errors { message } }"#).await;
    run(app, r#"tagCreate(input: { alias: "bare", type: Service, key: "a", value: "b" }) { errors { message } }"#)
        .await;
    run(app, r#"serviceDelete(input: { alias: "bare" }) { errors { message } }"#).await;
    settled(app).await;
    run(app, r#"serviceUpdate(input: { alias: "mail", ownerAlias: null }) { errors { message } }"#).await;
    settled(app).await;
    assert_eq!(changes(app, "mail", 1).await, ["level: Silver -> Beginner by serviceUpdate by a test"]);
}
