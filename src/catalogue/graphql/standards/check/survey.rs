//! Evaluates checks for all services in one pass, twice over: as things are, and as they would be.

use std::collections::HashMap;

use sea_orm::sea_query::{Order, Query as Select};

use super::evaluate::{AT_ONCE, Counts, FAILED, NAMED, PASSED, PENDING, Prepared};
use super::standing;
use crate::entity::service;
use crate::graphql::prelude::*;

/// The index of a check's level, where the check counts towards the levels of services: now, and as it would be.
pub(super) type Indexes = [Option<i32>; 2];

/// How all services stand with some checks.
pub(super) struct Survey {
    /// How they stand with each check.
    pub(super) counts: Vec<Counts>,
    /// The first services that miss each check, by their ids.
    pub(super) missing: Vec<Vec<i64>>,
    services: i64,
    /// The lowest index of the levels of the checks that a service misses.
    lowest: HashMap<i64, Indexes>,
    /// Whether any check counts.
    has_any: [bool; 2],
}

/// What is read of some checks.
struct Part {
    services: i64,
    counts: Vec<Counts>,
    missing: Vec<Vec<i64>>,
    lowest: HashMap<i64, Indexes>,
}

/// Reads all services.
pub(super) async fn survey(db: &dyn ReadHandle, checks: &[(&Prepared, Indexes)]) -> Result<Survey> {
    let has_any = [0, 1].map(|side| checks.iter().any(|(_, indexes)| indexes[side].is_some()));
    let mut all = Survey { counts: Vec::new(), missing: Vec::new(), services: 0, lowest: HashMap::new(), has_any };
    // Without checks, the services are counted.
    let parts = checks.chunks(AT_ONCE).chain(checks.is_empty().then_some(checks));
    for some in parts {
        let part = part(db, some).await?;
        all.services = part.services;
        all.counts.extend(part.counts);
        all.missing.extend(part.missing);
        for (service, indexes) in part.lowest {
            lower(all.lowest.entry(service).or_default(), indexes);
        }
        db.pause().await?;
    }
    Ok(all)
}

async fn part(db: &dyn ReadHandle, checks: &[(&Prepared, Indexes)]) -> Result<Part> {
    /// About the bytes that a service takes in the map.
    const ENTRY: usize = 32;
    let mut select = Select::select();
    select.expr(service::Column::Id.into_expr()).from(service::Entity);
    for (one, _) in checks {
        select.expr(one.status());
    }
    select.order_by_expr(service::Column::Id.into_expr(), Order::Asc);
    let indexes: Vec<Indexes> = checks.iter().map(|(_, indexes)| *indexes).collect();
    let many = checks.len();
    let start = move || Part {
        services: 0,
        counts: vec![Counts::default(); many],
        missing: vec![Vec::new(); many],
        lowest: HashMap::new(),
    };
    let add = move |part: &mut Part, row: &db::Row<'_>| {
        let service: i64 = row.get(0)?;
        part.services += 1;
        let (mut lowest, mut bytes): (Indexes, usize) = ([None; 2], 0);
        for (place, indexes) in indexes.iter().enumerate() {
            let Some(status) = row.get::<Option<i64>>(1 + place)? else { continue };
            let counts = &mut part.counts[place];
            counts.services += 1;
            counts.passed += i64::from(status == PASSED);
            counts.pending += i64::from(status == PENDING);
            if [FAILED, PENDING].contains(&status) {
                lower(&mut lowest, *indexes);
                if (part.missing[place].len() as u64) < NAMED {
                    part.missing[place].push(service);
                    bytes += size_of::<i64>();
                }
            }
        }
        if lowest != [None; 2] {
            part.lowest.insert(service, lowest);
            bytes += ENTRY;
        }
        Ok(bytes)
    };
    Ok(db.sift(&select, start, add).await?)
}

/// Keeps the lower of two indexes on each side.
fn lower(own: &mut Indexes, others: Indexes) {
    for (own, other) in own.iter_mut().zip(others) {
        *own = [*own, other].into_iter().flatten().min();
    }
}

impl Survey {
    /// How many services have each of the levels, now or as it would be.
    pub(super) fn at_levels(&self, would: bool, levels: &[Level]) -> Vec<i64> {
        let side = usize::from(would);
        let mut services = vec![0_i64; levels.len()];
        let Some(highest) = levels.len().checked_sub(1).filter(|_| self.has_any[side]) else { return services };
        services[highest] = self.services;
        for index in self.lowest.values().filter_map(|indexes| indexes[side]) {
            if let Some(place) = standing::position(levels, [index].into_iter()) {
                services[highest] -= 1;
                services[place] += 1;
            }
        }
        services
    }
}
