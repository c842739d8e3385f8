//! Figures of whole periods: whatever is written, and whenever they are computed, the metrics are those of the deploys.

use fastrand::Rng;
use rollcall::db::{self, Db, Read, Write};
use rollcall::deploy::figures::durations::{self, Ended, Search};
use rollcall::deploy::figures::{PERIOD, build};
use rollcall::deploy::metrics::{Percentiles, Wanted, Window};
use rollcall::deploy::retention;
use rollcall::entity::deploy::{self, Column, Environments, Status};
use rollcall::entity::service;
use rollcall::transfer;
use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, QueryTrait, Set};

use crate::harness::database::Database;
use crate::harness::deploy_figures::{
    Figures, PART, both, both_of_each, count, deploy, environment, moment, new_service, periods_with_figures, status,
    time, wanted, window,
};

/// The period in which the figures are computed. Some deploys are later.
const NOW: i64 = 9;

async fn compare(db: &Db, random: &mut Rng, what: &str) {
    let (window, wanted) = (window(random), wanted(random));
    let [summed, plain] = both(db, &window, wanted).await;
    assert_eq!(summed, plain, "{what} {window:?} {wanted:?}");
    // Others, without another order of what the tests write.
    let (mut windows, mut others) = (vec![window], random.clone());
    for _ in 0..others.usize(1..4) {
        windows.push(self::window(&mut others));
    }
    let [summed, plain] = both_of_each(db, &windows, &windows[0].environments, wanted).await;
    assert_eq!(summed, plain, "{what} {windows:?} {wanted:?}");
}

/// One of the deploys.
async fn any_deploy(db: &Db, random: &mut Rng) -> Option<i64> {
    let ids = deploy::Entity::find().select_only().column(Column::Id).into_query();
    random.choice(db.read().rows(&ids, |row| row.get::<i64>(0)).await.expect("ids"))
}

/// Writes something that can change the metrics. Returns what.
async fn write(db: &Db, random: &mut Rng, services: &mut [i64; 3]) -> &'static str {
    let service_id = [None, Some(services[0]), Some(services[1]), Some(services[2])][random.usize(..4)];
    let kind = random.u8(..20);
    let id = any_deploy(db, random).await.unwrap_or_default();
    let change = async |column: Column, value: Expr| {
        let update = deploy::Entity::update_many().col_expr(column, value).filter(Column::Id.eq(id));
        db.write(async |tx| tx.exec(update).await).await.expect("an update");
    };
    match kind {
        0..12 => {
            let deploys: Vec<_> = (0..random.usize(1..6)).map(|_| deploy(random, service_id)).collect();
            let insert = deploy::Entity::insert_many(deploys);
            db.write(async |tx| tx.exec(insert).await).await.expect("deploys");
            "inserted"
        }
        12 => {
            db.write(async |tx| tx.exec(deploy::Entity::delete_by_id(id)).await).await.expect("a removal");
            "removed"
        }
        13 => {
            let (status, deploy_status) = status(random);
            change(Column::Status, Expr::value(status)).await;
            change(Column::DeployStatus, Expr::value(deploy_status)).await;
            "another status"
        }
        14 => {
            change(Column::ServiceId, Expr::value(service_id)).await;
            "another service"
        }
        15 => {
            change(Column::EnvironmentKey, Expr::value(environment(random))).await;
            "another environment"
        }
        16 => {
            change(Column::DeployedAt, Expr::value(time(moment(random)))).await;
            "another time"
        }
        17 => {
            change(Column::CommittedAt, Expr::value(time(moment(random)))).await;
            "another commit"
        }
        18 => {
            let place = random.usize(..3);
            let gone = services[place];
            db.write(async |tx| tx.exec(service::Entity::delete_by_id(gone)).await).await.expect("a removal");
            services[place] = new_service(db, random.u64(..)).await;
            "a service removed"
        }
        _ => {
            let before = time(random.i64(-3..3) * PERIOD + PART);
            retention::remove(db, before).await.expect("a removal");
            "old ones removed"
        }
    }
}

#[tokio::test]
async fn the_figures_are_those_of_the_deploys_after_any_writes() {
    let database = Database::new().await;
    let db = database.open().await;
    let (mut used, mut rounds) = (0, 0);
    let mut random = Rng::with_seed(5);
    let mut services = [new_service(&db, 1).await, new_service(&db, 2).await, new_service(&db, 3).await];
    for _ in 0..if cfg!(debug_assertions) { 200 } else { 1_000 } {
        let mut what = String::new();
        for _ in 0..random.usize(1..4) {
            what += write(&db, &mut random, &mut services).await;
            what += ", ";
        }
        compare(&db, &mut random, &what).await;
        if random.u8(..3) > 0 {
            build::update(&db, time(NOW * PERIOD + PART)).await.expect("figures");
            assert_eq!(count(&db, "deploy_change").await, 0, "all changes are taken into account");
            let periods = periods_with_figures(&db).await;
            assert!(periods.iter().all(|period| *period < NOW), "{periods:?}");
            used += periods.len();
            rounds += 1;
        }
        for _ in 0..3 {
            compare(&db, &mut random, &what).await;
        }
    }
    assert!(used > 8 * rounds, "{used} periods in {rounds} rounds");
}

#[tokio::test]
async fn the_figures_are_used_and_a_change_of_an_older_period_ends_that() {
    let database = Database::new().await;
    let db = database.open().await;
    let service = new_service(&db, 1).await;
    let deploys = |at: i64, status: Status, word: &str| deploy::ActiveModel {
        deployed_at: Set(time(at)),
        status: Set(Some(word.to_owned())),
        deploy_status: Set(Some(status)),
        environment: Set(None),
        environment_key: Set(None),
        ..deploy(&mut Rng::with_seed(1), Some(service))
    };
    let store = async |deploy: deploy::ActiveModel| {
        db.write(async |tx| tx.insert(deploy).await).await.expect("a deploy");
    };
    for period in 0..4 {
        store(deploys(period * PERIOD + PART, Status::Failed, "failed")).await;
        store(deploys(period * PERIOD + 2 * PART, Status::Succeeded, "succeeded")).await;
    }
    assert_eq!(build::update(&db, time(4 * PERIOD + PART)).await, Ok(4));
    // As nobody would write it, to see which periods are read from figures.
    let falsify = Query::update().table("deploy_period_figures").value("deploys", Expr::col("deploys").add(100)).take();
    db.write(async |tx| tx.execute::<Figures>(&falsify).await).await.expect("an update");
    let all = Window { start: time(0), end: time(5 * PERIOD), environments: Environments::named(&[]) };
    let found = async || both(&db, &all, Wanted::ALL).await.map(|metrics| metrics.deploys);
    assert_eq!(found().await, [404, 4]);
    // New deploys leave the figures of older periods as they are, and recoveries of older failures too.
    store(deploys(4 * PERIOD + PART, Status::Succeeded, "succeeded")).await;
    store(deploys(4 * PERIOD, Status::Failed, "failed")).await;
    assert_eq!(found().await, [405, 5]);
    // A late one concerns its period, and that of the next success.
    store(deploys(PERIOD + 3 * PART, Status::Failed, "failed")).await;
    assert_eq!(found().await, [205, 5]);
    assert_eq!(build::update(&db, time(4 * PERIOD + PART)).await, Ok(2));
    assert_eq!(found().await, [205, 5]);
    // The limits of a window within periods.
    let part = Window { start: time(PART), end: time(3 * PERIOD + PART), ..all.clone() };
    assert_eq!(both(&db, &part, Wanted::ALL).await.map(|metrics| metrics.deploys), [3, 3]);
}

#[tokio::test]
async fn periods_without_deploys_have_figures_only_between_others() {
    let database = Database::new().await;
    let db = database.open().await;
    let service = new_service(&db, 1).await;
    for period in [0, 3, 1_000, 1_010] {
        let deploy = deploy::ActiveModel {
            deployed_at: Set(time(period * PERIOD)),
            ..deploy(&mut Rng::with_seed(1), Some(service))
        };
        db.write(async |tx| tx.insert(deploy).await).await.expect("a deploy");
    }
    build::update(&db, time(1_012 * PERIOD)).await.expect("figures");
    let expected: Vec<i64> = (0..4).chain(1_000..1_012).collect();
    assert_eq!(periods_with_figures(&db).await, expected);
    let before = count(&db, "deploy_period_figures").await;
    assert_eq!(build::update(&db, time(1_012 * PERIOD)).await, Ok(0));
    assert_eq!(count(&db, "deploy_period_figures").await, before);
    compare(&db, &mut Rng::with_seed(2), "sparse").await;
}

/// Figures are computed without a deploy that is committed later. Deploys of one service are written one after another, so
/// no second one is open meanwhile. SQLite has one writer.
#[tokio::test]
async fn a_transaction_that_commits_late_makes_figures_stale_on_postgres() {
    let database = Database::new().await;
    let db = database.open().await;
    if db::has_one_writer(db.read()) {
        return;
    }
    let service = new_service(&db, 1).await;
    let deploy = |at: i64, status: Status, word: &str| deploy::ActiveModel {
        deployed_at: Set(time(at)),
        status: Set(Some(word.to_owned())),
        deploy_status: Set(Some(status)),
        environment_key: Set(None),
        ..deploy(&mut Rng::with_seed(1), Some(service))
    };
    let window = Window { start: time(0), end: time(9 * PERIOD), environments: Environments::named(&[]) };
    for period in [0, 1, 5, 7] {
        let success = deploy(period * PERIOD, Status::Succeeded, "succeeded");
        db.write(async |tx| tx.insert(success).await).await.expect("a deploy");
    }
    let success = deploy(3 * PERIOD + PART, Status::Succeeded, "succeeded");
    db.write(async |tx| tx.insert(success).await).await.expect("a deploy");
    let failure = db.begin_write().await.expect("a transaction");
    failure.insert(deploy(2 * PERIOD + PART, Status::Failed, "failed")).await.expect("a deploy");
    assert_eq!(build::update(&db, time(9 * PERIOD)).await.map(|periods| periods > 0), Ok(true));
    build::update(&db, time(9 * PERIOD)).await.expect("figures");
    let [summed, plain] = both(&db, &window, Wanted::ALL).await;
    assert_eq!((summed.deploys, summed.recovery_time), (5, None));
    assert_eq!(summed, plain);
    db.commit(failure).await.expect("a commit");
    for _ in 0..2 {
        let [summed, plain] = both(&db, &window, Wanted::ALL).await;
        assert_eq!(summed.recovery_time.map(|time| time.median), Some(PERIOD / 1_000_000));
        assert_eq!(summed, plain);
        build::update(&db, time(9 * PERIOD)).await.expect("figures");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_processes_compute_figures_while_others_write() {
    let database = Database::new().await;
    let (db, other) = (database.open().await, database.open().await);
    let service = new_service(&db, 1).await;
    let now = time(NOW * PERIOD);
    let writers = (0..2_u64).map(|number| {
        let db = if number == 0 { db.clone() } else { other.clone() };
        tokio::spawn(async move {
            let mut random = Rng::with_seed(number);
            for _ in 0..60 {
                let deploy = deploy(&mut random, Some(service));
                let stored = db.write(async |tx| tx.insert(deploy).await).await.expect("a deploy");
                if random.bool() {
                    let id = stored.id;
                    db.write(async |tx| tx.exec(deploy::Entity::delete_by_id(id)).await).await.expect("a removal");
                }
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let builders = [db.clone(), other.clone()].map(|db| {
        tokio::spawn(async move {
            loop {
                build::update(&db, now).await.expect("figures");
                tokio::task::yield_now().await;
            }
        })
    });
    let mut random = Rng::with_seed(9);
    while !writers.iter().all(tokio::task::JoinHandle::is_finished) {
        compare(&db, &mut random, "meanwhile").await;
    }
    for writer in writers {
        writer.await.expect("no panic");
    }
    for builder in builders {
        assert!(!builder.is_finished());
        builder.abort();
    }
    for _ in 0..10 {
        compare(&db, &mut random, "in the end").await;
        build::update(&db, now).await.expect("figures");
    }
    assert!(!periods_with_figures(&db).await.is_empty());
}

#[tokio::test]
async fn an_import_starts_without_figures() {
    let (one, two) = (Database::new().await, Database::new().await);
    let (from, to) = (one.open().await, two.open().await);
    let mut random = Rng::with_seed(3);
    let services = [new_service(&from, 1).await, new_service(&from, 2).await, new_service(&from, 3).await];
    for _ in 0..40 {
        let service = random.choice(services);
        let deploy = deploy(&mut random, service);
        from.write(async |tx| tx.insert(deploy).await).await.expect("a deploy");
    }
    build::update(&from, time(NOW * PERIOD)).await.expect("figures");
    let mut export = Vec::new();
    transfer::export(&from, &mut export).await.expect("an export");
    assert!(!String::from_utf8_lossy(&export).contains("deploy_period_figures"));
    // Figures of deploys that are gone by then.
    let gone = deploy(&mut random, None);
    to.write(async |tx| tx.insert(gone).await).await.expect("a deploy");
    build::update(&to, time(NOW * PERIOD)).await.expect("figures");
    to.write(async |tx| tx.exec(deploy::Entity::delete_many()).await).await.expect("a removal");
    transfer::import(&to, "x", std::io::Cursor::new(export), |_| {}).await.expect("an import");
    assert_eq!((count(&to, "deploy_period_figures").await, count(&to, "deploy_change").await), (0, 0));
    compare(&to, &mut random, "imported").await;
    build::update(&to, time(NOW * PERIOD)).await.expect("figures");
    assert_eq!(periods_with_figures(&to).await, periods_with_figures(&from).await);
    compare(&to, &mut random, "imported, with figures").await;
}

/// The percentiles of durations, and the number of rounds.
fn percentiles(mut search: Search, durations: &[u64]) -> (Option<Percentiles>, u32) {
    for rounds in 1.. {
        let mut round = search.round();
        durations.iter().for_each(|duration| round.add(*duration));
        match round.end().expect("a round") {
            Ended::Found(percentiles) => return (percentiles, rounds),
            Ended::Again(next) => search = next,
        }
    }
    unreachable!("the rounds end");
}

#[test]
fn durations_are_read_as_written_and_percentiles_are_exact() {
    let mut random = Rng::with_seed(4);
    for round in 0..300 {
        let most = 1_u64 << random.u32(..64);
        let mut given: Vec<u64> = (0..random.usize(..80) * (1 + round % 3)).map(|_| random.u64(..most)).collect();
        let bytes = durations::write(&mut given).expect("bytes");
        let mut read = Vec::new();
        durations::read(&bytes, |duration| read.push(duration)).expect("durations");
        assert!(given.is_sorted() && read == given, "{given:?}");

        let small: Vec<u64> = given.iter().map(|duration| duration >> 1).collect();
        let at = |hundredths: usize| small.get((small.len() * hundredths).div_ceil(100).wrapping_sub(1));
        let number = |number: u64| i64::try_from(number).expect("a number");
        let expected =
            at(50).map(|median| (number(small.len() as u64), number(*median), number(*at(90).expect("one"))));
        let longest = at(90).copied().unwrap_or_default();
        for (search, most) in [(Search::of_short(), 1 << 18), (Search::of_long(), 1 << 11)] {
            assert_eq!(percentiles(search.clone().unless_few(), &small), (percentiles(search.clone(), &small).0, 1));
            let (found, rounds) = percentiles(search, &small);
            let found = found.map(|found| (found.count, found.median, found.percentile90));
            assert_eq!(found, expected, "{small:?}");
            let few = if longest < most {
                1
            } else if longest < 1 << 23 {
                2
            } else {
                6
            };
            assert!((longest < most) == (rounds == 1) && rounds <= few, "{rounds}: {small:?}");
        }

        let (duration, periods) = (random.u64(..most) >> 24, random.u64(..2));
        let periods = duration / (PERIOD.unsigned_abs() / 1_000_000) + periods;
        assert_eq!(durations::duration_and_periods(durations::recovery(duration, periods)), (duration, periods));
    }
    // As many as a round holds without counting them, and more.
    for number in [1 << 15, (1 << 15) + 1, 100_000] {
        let many: Vec<u64> = (0..number).map(|_| random.u64(..1 << 30)).collect();
        for search in [Search::of_short(), Search::of_long()] {
            assert_eq!(percentiles(search.clone().unless_few(), &many).0, percentiles(search, &many).0, "{number}");
        }
    }
    for damaged in [&[1_u8][..], &[2, 0, 0, 0, 0, 7], &[1, 0, 0, 0, 4, 0, 0, 0, 0]] {
        durations::read(damaged, |_| {}).expect_err("damaged");
    }
}
