//! Estimates the largest possible response before the request runs, by multiplying page sizes down the plan.
//!
//! The unit is objects. A connection counts its `first` argument, a list without pages the length that the SDL assumes
//! (`@listSize`), and an expensive field the weight that the SDL gives (`@cost`). The estimate bounds what the
//! request asks for. [`crate::budget`] counts what it finds while it runs.

use super::page;
use super::plan::{FieldPlan, ObjectPlan, Plan};
use super::sizing::Sizing;
use super::tables::Size;

/// The assumed length of a time window, in days, when the client gives no start.
const DAYS: u64 = 30;

/// Returns the estimate of a plan. `sizings` holds the page sizes of each argument slot.
pub(super) fn total(plan: &Plan, sizings: &[Sizing]) -> u64 {
    Walk { sizings, visit: |_: &[&FieldPlan], _| {} }.object(&plan.root, 1, 1, &mut Vec::new())
}

/// Returns the path of the field that adds most to the estimate, and how much it adds.
pub(super) fn largest(plan: &Plan, sizings: &[Sizing]) -> (String, u64) {
    let mut largest = (String::new(), 0);
    let visit = |path: &[&FieldPlan], own: u64| {
        if own > largest.1 {
            let keys: Vec<&str> = path.iter().map(|field| &*field.response_key).collect();
            largest = (keys.join("."), own);
        }
    };
    Walk { sizings, visit }.object(&plan.root, 1, 1, &mut Vec::new());
    largest
}

struct Walk<'p, V> {
    sizings: &'p [Sizing],
    visit: V,
}

impl<'p, V: FnMut(&[&'p FieldPlan], u64)> Walk<'p, V> {
    /// Estimates the selections on `count` objects. `page` is their page size if they are connections, else 1.
    fn object(&mut self, plan: &'p ObjectPlan, count: u64, page: u64, path: &mut Vec<&'p FieldPlan>) -> u64 {
        let mut total = 0_u64;
        for field in &plan.fields {
            let Some(cost) = field.cost().filter(|cost| cost.weight > 0 || !field.children.is_empty()) else {
                continue;
            };
            let sizing = field.arguments.map_or(Sizing::default(), |slot| self.sizings[slot]);
            let (items, page) = match cost.size {
                Size::One => (1, 1),
                Size::Connection => (1, sizing.first.unwrap_or(page::MOST).min(page::MOST)),
                Size::Page => (page, 1),
                Size::List(size) => (u64::from(size), 1),
            };
            let days = u64::from(cost.per_day).saturating_mul(sizing.days.unwrap_or(DAYS));
            let count = count.saturating_mul(items);
            let own = count.saturating_mul(days.saturating_add(u64::from(cost.weight)));
            path.push(field);
            (self.visit)(path, own);
            // Each object has one concrete type, so the costliest of the possible types is the bound.
            let children = field.children.iter().map(|child| self.object(child, count, page, path)).max();
            path.pop();
            total = total.saturating_add(own).saturating_add(children.unwrap_or(0));
        }
        total
    }
}
