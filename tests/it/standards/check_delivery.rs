//! Checks of the metrics of deploys, and of the tiers of dependencies: what they count, and what they say.

use rollcall::db::Write;
use rollcall::entity::deploy::{Environments, PRODUCTION};
use rollcall::entity::{Timestamp, check, remembered};
use sea_orm::EntityTrait;
use sea_orm::sea_query::Expr;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::checks::{create, outcome, send, services};
use crate::harness::database::Database;
use crate::harness::process::Process;
use crate::harness::program::Place;
use crate::harness::webhook::Endpoint;

const DAY: i64 = 86_400_000_000;

/// Posts a deploy that took place so many minutes ago, `lead` seconds after its commit.
async fn deployed(endpoint: &Endpoint, [service, status, environment]: [&str; 3], minutes: i64, lead: Option<i64>) {
    let at = Timestamp::now().as_micros() - minutes * 60_000_000;
    let moment = |micros: i64| Timestamp::from_micros(micros).to_string();
    let mut deploy =
        json!({ "service": service, "status": status, "environment": environment, "deployed_at": moment(at) });
    if let Some(lead) = lead {
        deploy["commit"] = json!({ "date": moment(at - lead * 1_000_000) });
    }
    assert_eq!(endpoint.post_with(deploy).await.status, 202);
}

/// Changes the check. Answers its errors.
async fn change(app: &TestApp, check: &Value, mut own: Value) -> Value {
    own["id"] = check["id"].clone();
    send(app, "checkDeployMetricsUpdate", own).await["errors"].clone()
}

/// The metrics of each service: the failure rate in percent, and the lead time in seconds.
async fn measured(app: &TestApp, days: i64, environments: &Value) -> Vec<[Option<f64>; 2]> {
    let query = "query($start: ISO8601DateTime, $environments: [String!]) { account { services { nodes {
        deployMetrics(start: $start, environments: $environments) { changeFailureRate changeLeadTime { median } }
    } } } }";
    let start = Timestamp::from_micros(Timestamp::now().as_micros() - days * DAY).to_string();
    let answer = app.query(query, json!({ "start": start, "environments": environments })).await;
    let nodes = answer["data"]["account"]["services"]["nodes"].as_array().expect("services");
    let of = |node: &Value| {
        let metrics = &node["deployMetrics"];
        let rate = metrics["changeFailureRate"].as_f64().map(|rate| rate * 100.0);
        [rate, metrics["changeLeadTime"]["median"].as_f64()]
    };
    nodes.iter().map(of).collect()
}

#[tokio::test]
async fn a_check_of_deploys_agrees_with_their_metrics() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..120 {
        let service = ["shop", "mail"][random.usize(0..2)];
        let status = ["success", "success", "failed", "", "cancelled", "odd"][random.usize(0..6)];
        let environment = ["production", "Prod", "staging", ""][random.usize(0..4)];
        let lead = [None, Some(-60), Some(random.i64(0..200_000))][random.usize(0..3)];
        // Never near the edge of a window.
        let minutes = random.i64(0..40) * 1_440 + 720;
        deployed(&endpoint, [service, status, environment], minutes, lead).await;
    }
    let mut seen = std::collections::BTreeSet::new();
    for (days, environments) in
        [(3, Value::Null), (30, Value::Null), (30, json!(["STAGING"])), (90, json!(["prod", "production"]))]
    {
        let measured = measured(app, days, &environments).await;
        for (place, metric, unit, bounds) in [
            (0, "change_failure_rate", 1.0, [0, 20, 33, 50, 100]),
            (1, "change_lead_time", 3_600.0, [1, 15, 25, 35, 60]),
        ] {
            for most in bounds {
                let own = json!({ "metric": metric, "maxAllowed": most, "days": days, "environments": environments });
                let check = create(app, "DeployMetrics", own.clone()).await;
                let expected = measured.iter().map(|own| match own[place] {
                    None => "pending",
                    // A third of the deploys is no whole percent, and no float.
                    Some(value) if value <= f64::from(most) * unit + 1e-9 => "passed",
                    Some(_) => "failed",
                });
                let expected: Vec<&str> = expected.collect();
                seen.extend(expected.iter().map(|status| (metric, *status)));
                let (statuses, messages) = outcome(app, &check).await;
                assert_eq!(statuses, expected.join(" "), "{own} {measured:?} {messages:?}");
            }
        }
    }
    assert_eq!(seen.len(), 6, "each metric passes, fails and is unknown: {seen:?}");
}

/// A catalogue with the shop, a level and a category, served with these flags.
async fn shop(flags: &[&str]) -> Endpoint {
    let endpoint = Endpoint::with(flags).await;
    let made = r#"mutation {
        level: levelCreate(input: { name: "Bronze" }) { errors { message } }
        category: categoryCreate(input: { name: "Safety" }) { errors { message } }
        team: teamCreate(input: { name: "Core" }) { errors { message } }
        billing: relationshipDefinitionCreate(input: { name: "Billed to", componentType: { alias: "service" } }) { errors { message } }
    }"#;
    let made = data(&endpoint.app, made).await;
    assert!(made.as_object().expect("data").values().all(|one| one["errors"] == json!([])), "{made}");
    endpoint
}

#[tokio::test]
async fn without_environments_production_counts() {
    let endpoint = shop(&["--production-environments", "Live"]).await;
    let app = &endpoint.app;
    for (status, environment) in [("failed", "live"), ("success", ""), ("success", "production"), ("failed", "test")] {
        deployed(&endpoint, ["shop", status, environment], 60, None).await;
    }
    let check = create(app, "DeployMetrics", json!({ "metric": "change_failure_rate", "maxAllowed": 10 })).await;
    let wanted = |to: &str| format!("Wanted: at most 10 % failed deploys to {to} in the last 30 days.");
    let half = format!("50 % of its deploys of the last 30 days failed. {}", wanted("production"));
    assert_eq!(outcome(app, &check).await, ("failed".to_owned(), vec![half.clone()]));
    let fields = async || {
        let query = "query($id: ID) { account { check(id: $id) {
            ... on DeployMetricsCheck { metric maxAllowed days environments }
        } } }";
        app.query(query, json!({ "id": check["id"] })).await["data"]["account"]["check"].clone()
    };
    let mut expected = json!({ "metric": "change_failure_rate", "maxAllowed": 10, "days": 30, "environments": null });
    assert_eq!(fields().await, expected);
    assert_eq!(change(app, &check, json!({ "environments": [" Production "] })).await, json!([]));
    let none = "0 % of its deploys of the last 30 days failed.".to_owned();
    assert_eq!(outcome(app, &check).await, ("passed".to_owned(), vec![none]));
    expected["environments"] = json!(["Production"]);
    assert_eq!(fields().await, expected);
    assert_eq!(change(app, &check, json!({ "environments": ["test", "live"], "days": 1 })).await, json!([]));
    let (status, messages) = outcome(app, &check).await;
    let all = "100 % of its deploys of the last day failed. Wanted: at most 10 % failed deploys to test or live in the last day.";
    assert_eq!((&*status, &*messages[0]), ("failed", all));
    assert_eq!(change(app, &check, json!({ "environments": null, "days": null })).await, json!([]));
    assert_eq!(outcome(app, &check).await.1, [half]);
    expected["environments"] = Value::Null;
    assert_eq!(fields().await, expected);
}

#[tokio::test]
async fn what_counts_as_production_is_what_it_is_when_a_check_is_evaluated() {
    let endpoint = shop(&["--production-environments", "Live"]).await;
    let app = &endpoint.app;
    for (status, environment) in [("failed", "live"), ("success", "production")] {
        deployed(&endpoint, ["shop", status, environment], 60, None).await;
    }
    let check = create(app, "DeployMetrics", json!({ "metric": "change_failure_rate", "maxAllowed": 10 })).await;
    let status = async || outcome(app, &check).await.0;
    assert_eq!(status().await, "failed");
    // As earlier releases stored it: with what counted as production when it was written.
    let old = r#"{"metric":"change_failure_rate","max_allowed":10,"days":30,"environments":null,"production":["production"]}"#;
    let old = check::Entity::update_many().col_expr(check::Column::Parameters, Expr::value(old));
    app.db.write(async |tx| tx.exec(old).await).await.expect("changed");
    assert_eq!(status().await, "failed");
    // A server was started with another setting.
    let other = Environments::production(&["Production".to_owned()]);
    app.db.write(async |tx| remembered::set_production(tx, &other).await).await.expect("remembered");
    assert_eq!(status().await, "passed");
    assert_eq!(change(app, &check, json!({ "maxAllowed": 20 })).await, json!([]));
    assert_eq!(status().await, "passed");
}

#[tokio::test]
async fn a_server_tells_commands_what_counts_as_production() {
    let (place, database) = (Place::new(), Database::new().await);
    let known = async || remembered::production(database.open().await.read()).await.expect("read");
    let named =
        |names: &[&str]| Environments::production(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    assert_eq!(known().await, named(&PRODUCTION));
    for names in ["Live, staging", "production,prod"] {
        let serve = ["serve", "--listen", "127.0.0.1:0", "--database-url", &database.url];
        Process::start(place.command(&[&serve[..], &["--production-environments", names]].concat())).stop();
        assert_eq!(known().await, named(&names.split(',').map(str::trim).collect::<Vec<_>>()));
    }
}

#[tokio::test]
async fn a_check_of_deploys_passes_up_to_its_bound() {
    let endpoint = shop(&[]).await;
    let app = &endpoint.app;
    let rate = create(app, "DeployMetrics", json!({ "metric": "change_failure_rate", "maxAllowed": 25 })).await;
    let time = create(app, "DeployMetrics", json!({ "metric": "change_lead_time", "maxAllowed": 5 })).await;
    let expected = "The service has a time of at most 5 hours from commit to deploy to production, at the median of the last 30 days.";
    assert_eq!(time["description"], expected);
    let said = async |check: &Value| {
        let (status, messages) = outcome(app, check).await;
        format!("{status}: {}", messages[0].split(" Wanted: ").next().expect("a sentence"))
    };
    assert_eq!(said(&rate).await, "pending: None of its deploys of the last 30 days says whether it failed.");
    assert_eq!(said(&time).await, "pending: None of its deploys of the last 30 days says when its commit was made.");
    // Of two, the first one is the median.
    for (lead, status, of_rate, of_time) in [
        (5 * 3_600, "failed", "failed: 100 %", "pending: None"),
        (5 * 3_600, "success", "failed: 50 %", "passed: Its deploys of the last 30 days took 5 hours from"),
        (6 * 3_600, "success", "failed: 33 %", "passed: Its deploys of the last 30 days took 5 hours from"),
        (5 * 3_600 + 1, "", "failed: 33 %", "failed: Its deploys of the last 30 days took 5 hours and 1 minute from"),
        (60, "success", "passed: 25 %", "passed: Its deploys of the last 30 days took 5 hours from"),
    ] {
        deployed(&endpoint, ["shop", status, "production"], 30, Some(lead)).await;
        let (rate, time) = (said(&rate).await, said(&time).await);
        assert!(rate.starts_with(of_rate) && time.starts_with(of_time), "{lead} {status}: {rate} {time}");
    }
    // A bound that another metric does not allow.
    assert_eq!(change(app, &time, json!({ "maxAllowed": 101 })).await, json!([]));
    let errors = json!([{ "message": "maxAllowed must be from 0 to 100", "path": ["maxAllowed"] }]);
    assert_eq!(change(app, &time, json!({ "metric": "change_failure_rate" })).await, errors);
    let both = json!({ "metric": "change_failure_rate", "maxAllowed": 24 });
    assert_eq!(change(app, &time, both).await, json!([]));
    assert_eq!(said(&time).await, "failed: 25 % of its deploys of the last 30 days failed.");
}

#[tokio::test]
async fn a_dependency_without_a_tier_is_less_critical_than_any() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let check = create(app, "DependencyTier", json!({})).await;
    let said = async || {
        let (statuses, messages) = outcome(app, &check).await;
        let sentence = |message: &String| message.split(" Wanted: ").next().unwrap_or_default().to_owned();
        (statuses, messages.iter().map(sentence).collect::<Vec<_>>())
    };
    let shop = "It depends on Mail, which is less critical.";
    let (fine, none) = ("It depends on nothing less critical.", "It has no tier.");
    let is = |statuses: &str, messages: [&str; 3]| (statuses.to_owned(), messages.map(str::to_owned).to_vec());
    assert_eq!(said().await, is("failed passed pending", [shop, fine, none]));
    let link = r#"mutation { own: serviceDependencyCreate(inputV2: { dependencyKey: {
        sourceIdentifier: { alias: "mail" }, destinationIdentifier: { alias: "bare" }
    } }) { errors { message } } }"#;
    assert_eq!(data(app, link).await["own"]["errors"], json!([]));
    let bare = "It depends on Bare, which is less critical.";
    assert_eq!(said().await, is("failed failed pending", [shop, bare, none]));
    for (tier, statuses, mail) in [
        ("tier_4", "failed failed passed", bare),
        ("tier_3", "failed passed passed", fine),
        ("tier_1", "failed passed passed", fine),
    ] {
        let update = format!(
            r#"mutation {{ own: serviceUpdate(input: {{ alias: "bare", tierAlias: "{tier}" }}) {{ errors {{ message }} }} }}"#
        );
        assert_eq!(data(app, &update).await["own"]["errors"], json!([]));
        assert_eq!(said().await, is(statuses, [shop, mail, fine]), "{tier}");
    }
}
