//! DORA's metrics: compared with numbers worked out by hand, and with a simple computation for random deploys.

use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rollcall::db::{self, Db, Write};
use rollcall::deploy::metrics::{self, Metrics, Percentiles, Wanted, Whose, Window};
use rollcall::entity::deploy::{self, Environments, Status};
use rollcall::entity::{Timestamp, service, team};
use sea_orm::{EntityTrait, Set};
use serde_json::{Value, json};

use crate::harness::database::Database;
use crate::harness::webhook::Endpoint;

const FIELDS: &str = "deployCount succeededCount failedCount deploymentFrequency changeFailureRate
    changeLeadTime { count median percentile90 } failedDeploymentRecoveryTime { count median percentile90 }";
const NOVEMBER: &str = r#"start: "2026-11-01T00:00:00Z", end: "2026-11-11T00:00:00Z""#;

/// Posts a deploy: service, status, environment, time, and commit time. Empty values are left out.
async fn deployed(endpoint: &Endpoint, deploys: &[[&str; 5]]) {
    for [service, status, environment, moment, commit] in deploys {
        let attributes = json!({
            "service": service, "status": status, "environment": environment,
            "deployed_at": format!("2026-{moment}"),
            "commit": if commit.is_empty() { json!({}) } else { json!({ "date": format!("2026-{commit}") }) },
        });
        assert_eq!(endpoint.post_with(attributes).await.status, 202);
    }
}

async fn of_account(endpoint: &Endpoint, fields: &str) -> Value {
    let answer = endpoint.app.query(&format!("{{ account {{ {fields} }} }}"), json!({})).await;
    assert_eq!(answer.get("errors"), None, "{answer}");
    answer["data"]["account"].clone()
}

#[tokio::test]
async fn deploy_metrics_match_their_descriptions() {
    let endpoint = Endpoint::start().await;
    deployed(
        &endpoint,
        &[
            // Lead times of 1, 2, 3, 4 and 10 hours.
            ["shop", "success", "production", "11-01 01:00:00", "11-01 00:00:00"],
            ["shop", "succeeded", "production", "11-02 02:00:00", "11-02 00:00:00"],
            ["shop", "", "production", "11-03 03:00:00", "11-03 00:00:00"],
            ["shop", "succeeded", "staging", "11-04 04:00:00", "11-04 00:00:00"],
            ["shop", "succeeded", "production", "11-05 10:00:00", "11-05 00:00:00"],
            // No lead time: the commit is later than the deploy.
            ["shop", "succeeded", "production", "11-05 12:00:00", "11-05 12:00:01"],
            // Recovered after 2 hours, after 1 hour, and after 2 days, which is beyond the window.
            ["shop", "failed", "production", "11-05 08:00:00", "11-05 00:00:00"],
            ["shop", "failure", "production", "11-05 09:00:00", ""],
            ["shop", "failed", "staging", "11-10 00:00:00", ""],
            ["shop", "succeeded", "Staging", "11-12 00:00:00", "11-12 00:00:00"],
            // Never recovered: what follows has another environment, no status, or is not a success.
            ["shop", "failed", "", "11-09 00:00:00", ""],
            ["shop", "", "", "11-09 01:00:00", ""],
            ["shop", "cancelled", "", "11-09 02:00:00", "11-09 00:00:00"],
            ["shop", "odd", "", "11-09 03:00:00", "11-09 00:00:00"],
            ["shop", "running", "", "11-09 04:00:00", "11-09 00:00:00"],
            // Outside of the window, or without a service.
            ["shop", "failed", "production", "10-31 23:59:59", ""],
            ["shop", "failed", "production", "11-11 00:00:00", ""],
            ["org/repo", "failed", "production", "11-05 00:00:00", ""],
        ],
    )
    .await;
    let expected = json!({
        "deployCount": 7, "succeededCount": 5, "failedCount": 4, "deploymentFrequency": 0.7,
        "changeFailureRate": 4.0 / 9.0,
        "changeLeadTime": { "count": 5, "median": 3 * 3600, "percentile90": 10 * 3600 },
        "failedDeploymentRecoveryTime": { "count": 3, "median": 2 * 3600, "percentile90": 48 * 3600 },
    });
    let found = of_account(&endpoint, &format!("deployMetrics({NOVEMBER}, environments: []) {{ {FIELDS} }}")).await;
    assert_eq!(found["deployMetrics"], expected);
    let found = of_account(
        &endpoint,
        &format!(
            "services {{ nodes {{ name deployMetrics({NOVEMBER}, environments: []) {{ {FIELDS} start end }} }} }}"
        ),
    )
    .await;
    let mut with_window = expected.clone();
    (with_window["start"], with_window["end"]) = (json!("2026-11-01T00:00:00Z"), json!("2026-11-11T00:00:00Z"));
    assert_eq!(found["services"]["nodes"], json!([{ "name": "shop", "deployMetrics": with_window }]));

    let found = of_account(
        &endpoint,
        &format!(
            "deployMetrics({NOVEMBER}, environments: [\"STAGING\"]) {{ {FIELDS} }}
            service(alias: \"shop\") {{ deployMetrics({NOVEMBER}, environments: [\"STAGING\"]) {{ {FIELDS} }} }}"
        ),
    )
    .await;
    let expected = json!({
        "deployCount": 1, "succeededCount": 1, "failedCount": 1, "deploymentFrequency": 0.1, "changeFailureRate": 0.5,
        "changeLeadTime": { "count": 1, "median": 4 * 3600, "percentile90": 4 * 3600 },
        "failedDeploymentRecoveryTime": { "count": 1, "median": 48 * 3600, "percentile90": 48 * 3600 },
    });
    assert_eq!(found["deployMetrics"], expected);
    assert_eq!(found["service"]["deployMetrics"], expected);
}

#[tokio::test]
async fn production_is_measured_unless_environments_are_given() {
    let deploys = [
        ["shop", "succeeded", "PROD", "11-01 00:00:00", ""],
        ["shop", "failed", "production", "11-02 00:00:00", ""],
        ["shop", "succeeded", "Production", "11-02 01:00:00", ""],
        ["shop", "succeeded", "", "11-03 00:00:00", ""],
        ["shop", "succeeded", "live", "11-04 00:00:00", ""],
        ["shop", "failed", "staging", "11-05 00:00:00", ""],
        ["shop", "succeeded", "Staging", "11-05 02:00:00", ""],
        ["shop", "failed", "test", "11-06 00:00:00", ""],
    ];
    for (flags, production) in
        [(&[] as &[&str], [3, 1, 3600]), (&["--production-environments", "Live, staging"], [3, 1, 7200])]
    {
        let endpoint = Endpoint::with(flags).await;
        let team = r#"mutation {
            teamCreate(input: { name: "A" }) { errors { message } }
            serviceUpdate(input: { alias: "shop", ownerInput: { alias: "a" } }) { errors { message } }
        }"#;
        endpoint.app.query(team, json!({})).await;
        deployed(&endpoint, &deploys).await;
        for (environments, expected) in [
            ("", production),
            (", environments: null", production),
            (", environments: []", [5, 3, 3600]),
            (r#", environments: ["STAGING"]"#, [1, 1, 7200]),
            (r#", environments: ["production", "Prod"]"#, [2, 1, 3600]),
        ] {
            let metrics = format!(
                "deployMetrics({NOVEMBER}{environments}) {{
                    deployCount failedCount failedDeploymentRecoveryTime {{ median }}
                }}"
            );
            let fields =
                format!("{metrics} service(alias: \"shop\") {{ {metrics} }} team(alias: \"a\") {{ {metrics} }}");
            let found = of_account(&endpoint, &fields).await;
            for found in [&found, &found["service"], &found["team"]] {
                let found = &found["deployMetrics"];
                let recovery = &found["failedDeploymentRecoveryTime"]["median"];
                let found = json!([found["deployCount"], found["failedCount"], recovery]);
                assert_eq!(found, json!(expected), "{flags:?} {environments}");
            }
        }
    }
}

#[tokio::test]
async fn the_authoring_date_takes_precedence_over_the_commit_date() {
    let endpoint = Endpoint::start().await;
    let commit = json!({ "authoring_date": "2026-11-01 00:00:00", "date": "2026-11-04 23:59:59" });
    endpoint.post_with(json!({ "deployed_at": "2026-11-05 00:00:00.9", "commit": commit })).await;
    let found = of_account(&endpoint, &format!("deployMetrics({NOVEMBER}) {{ changeLeadTime {{ median }} }}")).await;
    assert_eq!(found["deployMetrics"]["changeLeadTime"]["median"], 4 * 86_400);
}

#[tokio::test]
async fn metrics_without_data_are_null() {
    let endpoint = Endpoint::start().await;
    deployed(&endpoint, &[["shop", "", "", "11-05 00:00:00", ""]]).await;
    endpoint.create_service("idle").await;
    let found =
        of_account(&endpoint, &format!("services {{ nodes {{ deployMetrics({NOVEMBER}) {{ {FIELDS} }} }} }}")).await;
    let with = |deploys: i32, frequency: f64| {
        json!({ "deployMetrics": {
            "deployCount": deploys, "succeededCount": 0, "failedCount": 0,
            "deploymentFrequency": if deploys == 0 { json!(0) } else { json!(frequency) },
            "changeFailureRate": null, "changeLeadTime": null, "failedDeploymentRecoveryTime": null,
        } })
    };
    assert_eq!(found["services"]["nodes"], json!([with(1, 0.1), with(0, 0.0)]));
}

#[tokio::test]
async fn a_team_is_measured_by_the_services_that_it_owns() {
    let endpoint = Endpoint::start().await;
    let make = r#"mutation {
        a: teamCreate(input: { name: "A" }) { errors { message } }
        b: teamCreate(input: { name: "B" }) { errors { message } }
        serviceUpdate(input: { alias: "shop", ownerInput: { alias: "a" } }) { errors { message } }
        serviceCreate(input: { name: "cart", ownerInput: { alias: "a" } }) { errors { message } }
        c: serviceCreate(input: { name: "free" }) { errors { message } }
    }"#;
    endpoint.app.query(make, json!({})).await;
    deployed(
        &endpoint,
        &[
            ["shop", "failed", "", "11-05 00:00:00", ""],
            // Another service's success is not a recovery.
            ["cart", "succeeded", "", "11-05 01:00:00", "11-05 00:00:00"],
            ["free", "succeeded", "", "11-05 02:00:00", ""],
        ],
    )
    .await;
    let fields =
        "deployCount failedCount changeFailureRate changeLeadTime { median } failedDeploymentRecoveryTime { median }";
    let found =
        of_account(&endpoint, &format!("teams {{ nodes {{ name deployMetrics({NOVEMBER}) {{ {fields} }} }} }}")).await;
    let expected = json!([
        { "name": "A", "deployMetrics": {
            "deployCount": 1, "failedCount": 1, "changeFailureRate": 0.5, "changeLeadTime": { "median": 3600 },
            "failedDeploymentRecoveryTime": null,
        } },
        { "name": "B", "deployMetrics": {
            "deployCount": 0, "failedCount": 0, "changeFailureRate": null, "changeLeadTime": null,
            "failedDeploymentRecoveryTime": null,
        } },
    ]);
    assert_eq!(found["teams"]["nodes"], expected);
}

#[tokio::test]
async fn the_default_window_is_the_last_30_days() {
    let endpoint = Endpoint::start().await;
    let days = async |arguments: &str| {
        let found = of_account(&endpoint, &format!("deployMetrics{arguments} {{ start end }}")).await;
        let moment = |name: &str| {
            let text = found["deployMetrics"][name].as_str().expect("a moment");
            text.parse::<Timestamp>().expect("a moment").as_micros()
        };
        (moment("end"), (moment("end") - moment("start")) / 86_400_000_000)
    };
    let before = Timestamp::now().as_micros();
    let (end, length) = days("").await;
    assert!((before..=Timestamp::now().as_micros()).contains(&end) && length == 30);
    assert_eq!(days(r#"(end: "2026-11-11T00:00:00Z")"#).await.1, 30);

    let query = r#"{ account { deployMetrics(start: "2026-11-11T00:00:00Z", end: "2026-11-11T00:00:00Z") { end } } }"#;
    let answer = endpoint.app.query(query, json!({})).await;
    let message = "start must be before end (default: now)";
    assert!(answer["errors"][0]["message"].as_str().is_some_and(|text| text.contains(message)), "{answer}");
}

/// A deploy for the metrics: the number of its service (2 for none), environment, status, time, commit time.
type Deploy = (usize, Option<&'static str>, Option<&'static str>, i64, Option<i64>);

fn seconds(number: i64) -> Timestamp {
    Timestamp::from_micros(number * 1_000_000)
}

fn deploys() -> impl Strategy<Value = Vec<Deploy>> {
    let environment = prop::sample::select(vec![None, Some("a"), Some("b")]);
    let status = prop::sample::select(vec![
        None,
        Some("succeeded"),
        Some("succeeded"),
        Some("failed"),
        Some("failed"),
        Some("cancelled"),
        Some("odd"),
    ]);
    // Few distinct times, so that many deploys share one. In seconds.
    vec((0..3_usize, environment, status, 0..30_i64, prop::option::of(-3..30_i64)), 0..60)
}

fn windows() -> impl Strategy<Value = Window> {
    let environments = prop::sample::select(vec![vec![], vec!["A"], vec!["a", "b"], vec!["none"]]);
    (0..20_i64, 1..20_i64, environments, prop::bool::ANY).prop_map(|(start, length, names, is_production)| {
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        Window {
            start: seconds(start),
            end: seconds(start + length),
            environments: match is_production {
                true => Environments::production(&names),
                false => Environments::named(&names),
            },
        }
    })
}

/// The metrics of these services' deploys, computed deploy by deploy.
fn plainly(deploys: &[Deploy], services: &[usize], window: &Window) -> Metrics {
    let mut metrics = Metrics::default();
    let (mut lead_times, mut recovery_times) = (Vec::new(), Vec::new());
    for (place, (service, environment, status, moment, commit)) in deploys.iter().enumerate() {
        let is_inside = (window.start..window.end).contains(&seconds(*moment));
        if !services.contains(service) || !is_inside || !window.environments.contain(*environment) {
            continue;
        }
        match status {
            None | Some("succeeded") => {
                metrics.deploys += 1;
                metrics.succeeded += i64::from(status.is_some());
                lead_times.extend(commit.map(|commit| moment - commit).filter(|time| *time >= 0));
            }
            Some("failed") => {
                metrics.failed += 1;
                let later = deploys.iter().enumerate().filter(|(other, deploy)| {
                    (deploy.0, deploy.1, deploy.2) == (*service, *environment, Some("succeeded"))
                        && (deploy.3, *other) > (*moment, place)
                });
                recovery_times.extend(later.map(|(_, deploy)| deploy.3 - moment).min());
            }
            _ => {}
        }
    }
    let percentiles = |mut times: Vec<i64>| {
        times.sort_unstable();
        let at = |hundredths: usize| times[(times.len() * hundredths).div_ceil(100) - 1];
        let count = i64::try_from(times.len()).expect("few");
        (count > 0).then(|| Percentiles { count, median: at(50), percentile90: at(90) })
    };
    metrics.lead_time = percentiles(lead_times);
    metrics.recovery_time = percentiles(recovery_times);
    metrics
}

/// Two services, the first of which has an owner.
async fn two_services(db: &Db) -> (i64, [i64; 2]) {
    let now = Timestamp::from_micros(0);
    let team = team::ActiveModel {
        name: Set("Core".to_owned()),
        alias: Set("core".to_owned()),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    let made = db.write(async |tx| {
        let team = tx.insert(team).await?;
        let one =
            service::create(tx, service::ActiveModel { owner_id: Set(Some(team.id)), ..service::new("one", "api") })
                .await?;
        let two = service::create(tx, service::new("two", "api")).await?;
        Ok::<_, db::Error>((team.id, [one.id, two.id]))
    });
    made.await.expect("services")
}

fn row((service, environment, status, moment, commit): Deploy, services: [i64; 2]) -> deploy::ActiveModel {
    let deploy_status = match status {
        Some("succeeded") => Some(Status::Succeeded),
        Some("failed") => Some(Status::Failed),
        Some("cancelled") => Some(Status::Cancelled),
        _ => None,
    };
    deploy::ActiveModel {
        service_id: Set(services.get(service).copied()),
        service_alias: Set("x".to_owned()),
        description: Set("d".to_owned()),
        deploy_number: Set("1".to_owned()),
        environment: Set(environment.map(str::to_owned)),
        environment_key: Set(environment.map(str::to_owned)),
        status: Set(status.map(str::to_owned)),
        deploy_status: Set(deploy_status),
        deployed_at: Set(seconds(moment)),
        committed_at: Set(commit.map(seconds)),
        created_at: Set(Timestamp::from_micros(0)),
        ..Default::default()
    }
}

#[tokio::test]
async fn deploy_metrics_read_one_snapshot_while_deploys_arrive() {
    let database = Database::new().await;
    let db = database.open().await;
    let (_, services) = two_services(&db).await;
    let window = Window { start: seconds(0), end: seconds(9), environments: Environments::named(&[]) };
    let stored = async |moment| {
        let deploy = row((0, None, Some("succeeded"), moment, None), services);
        db.write(async |tx| tx.insert(deploy).await).await.expect("a deploy");
    };
    stored(1).await;
    let snapshot = db.begin_read(None).await.expect("a snapshot");
    for whose in [Whose::All, Whose::All, Whose::Services(&services)] {
        let found = metrics::measure(&snapshot, whose, &window, Wanted::ALL).await.expect("metrics");
        assert_eq!(found.values().map(|metrics| metrics.deploys).sum::<i64>(), 1, "{whose:?}");
        stored(2).await;
    }
}

#[tokio::test]
async fn deploy_metrics_of_random_deploys_equal_a_simple_computation() {
    let database = Database::new().await;
    let db = database.open().await;
    let (team, services) = two_services(&db).await;
    let teams = [team];
    let mut runner = TestRunner::deterministic();
    for _ in 0..100 {
        let (deploys, window) = (deploys(), windows()).new_tree(&mut runner).expect("a value").current();
        let rows: Vec<_> = deploys.iter().map(|deploy| row(*deploy, services)).collect();
        let written = db.write(async |tx| {
            tx.exec(deploy::Entity::delete_many()).await?;
            for row in rows {
                tx.insert(row).await?;
            }
            Ok::<_, db::Error>(())
        });
        written.await.expect("deploys");
        let measured = async |whose| metrics::measure(db.read(), whose, &window, Wanted::ALL).await.expect("metrics");
        let of = |found: &HashMap<i64, Metrics>, key: i64| found.get(&key).cloned().unwrap_or_default();
        let found = measured(Whose::Services(&services)).await;
        for (place, service) in services.iter().enumerate() {
            assert_eq!(of(&found, *service), plainly(&deploys, &[place], &window), "{deploys:?} {window:?}");
        }
        let found = measured(Whose::Teams(&teams)).await;
        assert_eq!(of(&found, team), plainly(&deploys, &[0], &window), "{deploys:?} {window:?}");
        let found = measured(Whose::All).await;
        assert_eq!(of(&found, 0), plainly(&deploys, &[0, 1], &window), "{deploys:?} {window:?}");
        for (lead_time, recovery_time) in [(false, false), (true, false), (false, true)] {
            let wanted = Wanted { lead_time, recovery_time };
            let all = plainly(&deploys, &[0, 1], &window);
            let expected = Metrics {
                lead_time: all.lead_time.filter(|_| lead_time),
                recovery_time: all.recovery_time.filter(|_| recovery_time),
                ..all
            };
            let found = metrics::measure(db.read(), Whose::All, &window, wanted).await.expect("metrics");
            assert_eq!(of(&found, 0), expected, "{wanted:?} {deploys:?} {window:?}");
            let found = metrics::measure(db.read(), Whose::Teams(&teams), &window, wanted).await.expect("metrics");
            let counts = of(&found, team);
            let all = plainly(&deploys, &[0], &window);
            assert_eq!((counts.deploys, counts.failed), (all.deploys, all.failed), "{wanted:?} {deploys:?} {window:?}");
        }
    }
}
