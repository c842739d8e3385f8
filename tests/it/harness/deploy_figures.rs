//! Random deploys and windows, and the figures of the same window by both computations.

use fastrand::Rng;
use rollcall::db::{self, Db, Read};
use rollcall::deploy::figures::{self, PERIOD};
use rollcall::deploy::metrics::{self, Metrics, Wanted, Whose, Window};
use rollcall::entity::deploy::{self, Environments, Status};
use rollcall::entity::{Timestamp, service};
use sea_orm::Set;
use sea_orm::sea_query::{Expr, ExprTrait, Func, Query};

/// The tables of figures.
pub struct Figures;

impl db::Unrecorded for Figures {}

/// A part of a period, of which it has 24.
pub const PART: i64 = PERIOD / 24;

pub fn time(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros)
}

pub async fn new_service(db: &Db, number: u64) -> i64 {
    let name = format!("s{number}");
    db.write(async |tx| service::create(tx, service::new(&name, "api")).await).await.expect("a service").id
}

/// A time from three periods before 1970 to eleven after it. Many are the same, and many begin a period.
pub fn moment(random: &mut Rng) -> i64 {
    let parts = [random.i64(-72..264), random.i64(-72..264), random.i64(-3..11) * 24][random.usize(..3)];
    parts * PART + [0, 0, 700_000][random.usize(..3)]
}

pub fn status(random: &mut Rng) -> (Option<&'static str>, Option<Status>) {
    [
        (None, None),
        (Some("succeeded"), Some(Status::Succeeded)),
        (Some("success"), Some(Status::Succeeded)),
        (Some("failed"), Some(Status::Failed)),
        (Some("failure"), Some(Status::Failed)),
        (Some("cancelled"), Some(Status::Cancelled)),
        (Some("odd"), None),
    ][random.usize(..7)]
}

pub fn environment(random: &mut Rng) -> Option<String> {
    [None, Some("production"), Some("prod"), Some("test"), Some("*"), Some("")][random.usize(..6)].map(str::to_owned)
}

fn commit(random: &mut Rng, moment: i64) -> Option<Timestamp> {
    random.bool().then(|| time(moment - random.i64(-2..200) * PART / 7))
}

pub fn deploy(random: &mut Rng, service_id: Option<i64>) -> deploy::ActiveModel {
    let (moment, environment, (status, deploy_status)) = (moment(random), environment(random), status(random));
    deploy::ActiveModel {
        service_id: Set(service_id),
        service_alias: Set("x".to_owned()),
        description: Set("d".to_owned()),
        deploy_number: Set("1".to_owned()),
        environment: Set(environment.clone()),
        environment_key: Set(environment),
        status: Set(status.map(str::to_owned)),
        deploy_status: Set(deploy_status),
        deployed_at: Set(time(moment)),
        committed_at: Set(commit(random, moment)),
        commit_authoring_date: Set(commit(random, moment)),
        created_at: Set(time(0)),
        ..Default::default()
    }
}

pub fn window(random: &mut Rng) -> Window {
    let names = [vec![], vec!["production", "PROD"], vec!["test"], vec!["none"], vec!["*"], vec![""]];
    let names: Vec<String> = names[random.usize(..names.len())].iter().map(|name| (*name).to_owned()).collect();
    let environments = if random.bool() { Environments::production(&names) } else { Environments::named(&names) };
    let (one, other) = (moment(random), moment(random));
    Window { start: time(Ord::min(one, other)), end: time(Ord::max(one, other) + 1), environments }
}

pub fn wanted(random: &mut Rng) -> Wanted {
    Wanted { lead_time: random.u8(..3) > 0, recovery_time: random.u8(..3) > 0 }
}

/// The metrics from the figures, and from the deploys, of one snapshot.
pub async fn both(db: &Db, window: &Window, wanted: Wanted) -> [Metrics; 2] {
    let snapshot = db.begin_read(None).await.expect("a snapshot");
    let plain = metrics::measure(&snapshot, Whose::All, window, wanted).await.expect("metrics").remove(&0);
    let summed = figures::measure(&snapshot, window, wanted).await.expect("metrics");
    // With recovery times that are read again for each round.
    let again = figures::measure_keeping(&snapshot, window, wanted, 0).await.expect("metrics");
    assert_eq!(again, summed);
    [summed, plain.unwrap_or_default()]
}

/// The metrics of each of several windows from figures that are read for all of them, and from the deploys.
pub async fn both_of_each(
    db: &Db,
    windows: &[Window],
    environments: &Environments,
    wanted: Wanted,
) -> [Vec<Metrics>; 2] {
    let snapshot = db.begin_read(None).await.expect("a snapshot");
    let mut plain = Vec::new();
    for window in windows {
        let window = Window { environments: environments.clone(), ..window.clone() };
        let found = metrics::measure(&snapshot, Whose::All, &window, wanted).await.expect("metrics").remove(&0);
        plain.push(found.unwrap_or_default());
    }
    let spans: Vec<_> = windows.iter().map(|window| window.start..window.end).collect();
    let summed = figures::measure_each(&snapshot, &spans, environments, wanted, figures::KEPT).await.expect("metrics");
    // With more than may be held, so that each window is read by itself.
    let again = figures::measure_each(&snapshot, &spans, environments, wanted, 0).await.expect("metrics");
    assert_eq!(again, summed);
    [summed, plain]
}

pub async fn count(db: &Db, table: &'static str) -> i64 {
    let count = Query::select().expr(Func::count(Expr::cust("*"))).from(table).take();
    db.read().rows(&count, |row| row.get(0)).await.expect("an answer")[0]
}

pub async fn periods_with_figures(db: &Db) -> Vec<i64> {
    let periods = Query::select()
        .column("period")
        .from("deploy_period_figures")
        .and_where(Expr::col("environment").eq("*"))
        .take();
    let mut periods: Vec<i64> = db.read().rows(&periods, |row| row.get(0)).await.expect("periods");
    periods.sort_unstable();
    periods
}
