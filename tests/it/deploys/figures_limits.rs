//! Figures of whole periods cost little, whatever dates, environments and numbers of deploys somebody posts.

use fastrand::Rng;
use rollcall::db::{self, Db, Read, Write};
use rollcall::deploy::figures::period::FiguresLimits;
use rollcall::deploy::figures::{self, PERIOD, build};
use rollcall::deploy::metrics::{Wanted, Window};
use rollcall::entity::deploy::{self, Column, Environments, Status};
use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{EntityTrait, Set};

use crate::harness::database::Database;
use crate::harness::deploy_figures::{
    Figures, PART, both, count, deploy as any_deploy, new_service, periods_with_figures, time,
};

/// Stores a deploy to `environment` as many times as wanted, all at the same time.
async fn store_many(db: &Db, service: i64, at: i64, (word, status): (&str, Status), environment: &str, number: usize) {
    let first = deploy::ActiveModel {
        deployed_at: Set(time(at)),
        status: Set(Some(word.to_owned())),
        deploy_status: Set(Some(status)),
        environment_key: Set(Some(environment.to_owned())),
        committed_at: Set(None),
        commit_authoring_date: Set(None),
        ..any_deploy(&mut Rng::with_seed(1), Some(service))
    };
    let first = db.write(async |tx| tx.insert(first).await).await.expect("a deploy");
    let columns = "service_id, service_alias, description, deploy_number, environment_key, status, deploy_status, \
                   deployed_at, created_at";
    let others = format!(
        "INSERT INTO deploy ({columns}) WITH RECURSIVE numbers (number) AS \
         (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < {number}) \
         SELECT {columns} FROM deploy CROSS JOIN numbers WHERE deploy.id = {} AND number > 1",
        first.id
    );
    db.write(async |tx| tx.script(&others).await).await.expect("deploys");
}

const FAILED: (&str, Status) = ("failed", Status::Failed);
const SUCCEEDED: (&str, Status) = ("succeeded", Status::Succeeded);

/// Adds 100 deploys to all figures, as nobody would, to see which periods are read from figures.
async fn falsify(db: &Db) {
    let falsify = Query::update().table("deploy_period_figures").value("deploys", Expr::col("deploys").add(100)).take();
    db.write(async |tx| tx.execute::<Figures>(&falsify).await).await.expect("an update");
}

/// Were each deploy compared with each other one of its time, this would take hours.
#[tokio::test]
async fn many_deploys_of_one_time_cost_no_more_than_others() {
    let database = Database::new().await;
    let db = database.open().await;
    let service = new_service(&db, 1).await;
    for (at, status) in [(PART, SUCCEEDED), (PART, FAILED), (2 * PART, FAILED), (2 * PART, SUCCEEDED)] {
        store_many(&db, service, at, status, "production", 20_000).await;
    }
    for (at, status) in [(PERIOD, FAILED), (2 * PERIOD, SUCCEEDED), (2 * PERIOD, FAILED), (4 * PERIOD, SUCCEEDED)] {
        store_many(&db, service, at, status, "production", 5_000).await;
    }
    assert_eq!(build::update(&db, time(4 * PERIOD)).await, Ok(4));
    let window = Window { start: time(0), end: time(5 * PERIOD), environments: Environments::named(&[]) };
    let [summed, plain] = both(&db, &window, Wanted::ALL).await;
    assert_eq!(summed.recovery_time.map(|time| (time.count, time.median)), Some((50_000, PART / 1_000_000)));
    assert_eq!(summed, plain);
}

#[tokio::test]
async fn a_run_ends_although_somebody_writes_to_a_period_all_the_time() {
    let database = Database::new().await;
    let db = database.open().await;
    let service = new_service(&db, 1).await;
    for period in 0..4 {
        store_many(&db, service, period * PERIOD, SUCCEEDED, "production", 1).await;
    }
    // Whenever period 2 gets figures, somebody changes it, up to 20 times.
    let again = format!(
        "INSERT INTO again (period) VALUES (NEW.period); \
         INSERT INTO deploy_change (id, service_id, environment_key, deployed_at) VALUES (1, {service}, 'x', {});",
        2 * PERIOD
    );
    let when = "NEW.period = 2 AND NEW.environment = '*'";
    let is_left = "(SELECT count(*) FROM again) < 20";
    let statements = match db::has_one_writer(db.read()) {
        true => vec![format!(
            "CREATE TRIGGER again AFTER INSERT ON deploy_period_figures WHEN {when} AND {is_left} BEGIN {again} END"
        )],
        false => vec![
            format!(
                "CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS \
                 $$ BEGIN IF {is_left} THEN {again} END IF; RETURN NULL; END $$"
            ),
            format!(
                "CREATE TRIGGER again AFTER INSERT ON deploy_period_figures FOR EACH ROW WHEN ({when}) \
                 EXECUTE FUNCTION again()"
            ),
        ],
    };
    for statement in ["CREATE TABLE again (period bigint)".to_owned()].into_iter().chain(statements) {
        db.write(async |tx| tx.script(&statement).await).await.expect("a trigger");
    }
    assert_eq!(build::update(&db, time(4 * PERIOD)).await, Ok(4));
    assert_eq!(periods_with_figures(&db).await, [0, 1, 3], "the next run has the other one");
    assert_eq!(build::update(&db, time(4 * PERIOD)).await, Ok(1));
}

#[tokio::test]
async fn a_period_above_a_limit_is_read_from_its_deploys() {
    let database = Database::new().await;
    let db = database.open().await;
    let service = new_service(&db, 1).await;
    let store = async |period: i64, environment: &str, number: usize| {
        store_many(&db, service, period * PERIOD, SUCCEEDED, environment, number).await;
    };
    store(0, "production", 4).await;
    for environment in ["production", "test", "other"] {
        store(1, environment, 1).await;
    }
    store(2, "production", 3).await;
    let limits = FiguresLimits { deploys: 3, environments: 2 };
    assert_eq!(build::update_within(&db, time(3 * PERIOD), &limits).await, Ok(3));
    assert_eq!(build::update_within(&db, time(3 * PERIOD), &limits).await, Ok(0), "once is enough");
    assert_eq!(count(&db, "deploy_period_figures").await, 5);
    falsify(&db).await;
    let found = async |environments: Environments| {
        let window = Window { start: time(0), end: time(3 * PERIOD), environments };
        both(&db, &window, Wanted::ALL).await.map(|metrics| metrics.deploys)
    };
    assert_eq!(found(Environments::named(&[])).await, [210, 10]);
    assert_eq!(found(Environments::named(&["production".to_owned()])).await, [108, 8]);
    assert_eq!(found(Environments::named(&["other".to_owned()])).await, [1, 1]);
    // A change takes away what a period had.
    store(1, "other", 1).await;
    store(0, "production", 1).await;
    assert_eq!(found(Environments::named(&[])).await, [112, 12]);
    // The limits without others.
    for number in 0..=1_000 {
        store(1, &format!("e{number}"), 1).await;
    }
    build::update(&db, time(3 * PERIOD)).await.expect("figures");
    assert_eq!(count(&db, "deploy_period_figures").await, 2 + 2 + 2);
}

#[tokio::test]
async fn failures_of_earlier_periods_count_towards_the_limit_of_a_period() {
    let database = Database::new().await;
    let db = database.open().await;
    let service = new_service(&db, 1).await;
    store_many(&db, service, 0, FAILED, "production", 3).await;
    store_many(&db, service, PERIOD, SUCCEEDED, "production", 1).await;
    let limits = FiguresLimits { deploys: 3, environments: 9 };
    assert_eq!(build::update_within(&db, time(2 * PERIOD), &limits).await, Ok(2));
    assert_eq!(periods_with_figures(&db).await, [0]);
    let window = Window { start: time(0), end: time(2 * PERIOD), environments: Environments::named(&[]) };
    let [summed, plain] = both(&db, &window, Wanted::ALL).await;
    assert_eq!(summed.recovery_time.map(|time| (time.count, time.median)), Some((3, PERIOD / 1_000_000)));
    assert_eq!(summed, plain);
}

/// All changes are read to find those of older periods, so there must not be any number of them.
#[tokio::test]
async fn changes_that_nobody_has_removed_for_long_end_the_use_of_figures() {
    let database = Database::new().await;
    let db = database.open().await;
    let service = new_service(&db, 1).await;
    store_many(&db, service, 0, SUCCEEDED, "production", 1).await;
    build::update(&db, time(PERIOD)).await.expect("figures");
    falsify(&db).await;
    let window = Window { start: time(0), end: time(2 * PERIOD), environments: Environments::named(&[]) };
    let found = async || both(&db, &window, Wanted::ALL).await.map(|metrics| metrics.deploys);
    let more = async |number: u64| {
        let more = format!(
            "INSERT INTO deploy_change (id, service_id, deployed_at) WITH RECURSIVE numbers (number) AS \
             (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < {number}) \
             SELECT number, {service}, {} FROM numbers",
            9 * PERIOD
        );
        db.write(async |tx| tx.script(&more).await).await.expect("changes");
    };
    more(figures::SEEN).await;
    assert_eq!(found().await, [101, 1]);
    more(1).await;
    assert_eq!(found().await, [1, 1]);
    build::update(&db, time(PERIOD)).await.expect("figures");
    assert_eq!((count(&db, "deploy_change").await, found().await), (0, [101, 1]));
}

#[tokio::test]
async fn a_transaction_takes_away_the_figures_of_few_periods() {
    let database = Database::new().await;
    let db = database.open().await;
    let service = new_service(&db, 1).await;
    for period in 0..250 {
        store_many(&db, service, period * PERIOD, FAILED, "production", 1).await;
    }
    assert_eq!(build::update(&db, time(250 * PERIOD)).await, Ok(250));
    let version = async || {
        let query = Query::select().column("version").from("deploy_period_figures_version").take();
        db.read().rows(&query, |row| row.get::<i64>(0)).await.expect("an answer")[0]
    };
    let before = version().await;
    let later = deploy::Entity::update_many().col_expr(Column::Status, Expr::value("failure"));
    db.write(async |tx| tx.exec(later).await).await.expect("an update");
    assert_eq!(build::update(&db, time(250 * PERIOD)).await, Ok(250));
    assert_eq!(version().await - before, 4 + 3, "up to 64 periods get figures at once, up to 100 lose them");
}
