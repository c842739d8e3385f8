//! The counts of lists.

use sea_orm::sea_query::{Asterisk, Expr, ExprTrait, Func, Query, SelectStatement};

use super::{First, List, column};
use crate::db::{self, Ids, Read, ReadHandle, Table};
use crate::error::Result;

impl<E: Table> List<E> {
    /// Counts the whole list of each parent, by the parent's id. Without parents, the count has the key 0. Counts no
    /// further than `most` + 1, unless there are several parents.
    pub(super) async fn counts(&self, db: &dyn ReadHandle, most: Option<u32>) -> Result<Vec<(i64, i32)>> {
        let count = |row: &db::Row<'_>| Ok(i32::try_from(row.get::<i64>(0)?).unwrap_or(i32::MAX));
        let among = || self.among.as_ref().map(|(own, values)| column(*own).is_in(values));
        let ids = || self.ids.iter().map(|ids| ids.select.clone()).collect();
        let bounded = |rows: SelectStatement| match most {
            Some(most) => {
                let some = { rows }.expr(Expr::value(1)).limit(u64::from(most) + 1).take();
                Query::select().from_subquery(some, "some").take()
            }
            None => rows,
        };
        let Some(parents) = &self.parents else {
            let rows = match self.only_ids() {
                Some(Ids { select, may_repeat, .. }) => {
                    let mut ids = select.clone();
                    if *may_repeat {
                        ids.distinct();
                    }
                    Query::select().from_subquery(ids, "ids").take()
                }
                None => self.source(None, among(), ids()),
            };
            let counts = bounded(rows).expr(Func::count(Expr::col(Asterisk))).take();
            let counts = db.scan(&counts, count).await?;
            return Ok(counts.into_iter().map(|count| (0, count)).collect());
        };
        if let (Some(_), None, [one]) = (most, self.first, self.ids()) {
            let rows = self.source(Some(column(parents.column).eq(*one)), among(), ids());
            let counts = bounded(rows).expr(Func::count(Expr::col(Asterisk))).take();
            let counts = db.scan(&counts, count).await?;
            return Ok(counts.into_iter().map(|count| (*one, count)).collect());
        }
        let build = |condition: Expr| {
            let is_whole = self.filters.is_empty() && self.ids.is_empty() && self.among.is_none();
            let (mut counts, count) = match (parents.join, self.first) {
                // Without conditions on the rows, it is enough to count the links: an index on both columns is read in
                // order, which takes half the time of looking for an earlier row each time.
                (Some(join), Some(First([parent, target]))) if join.links && is_whole && parent == parents.column => (
                    Query::select().from(join.other.0).and_where(condition).take(),
                    Func::count_distinct(column(target)),
                ),
                (Some(join), first) if join.links && is_whole => {
                    let first = first.map(First::condition);
                    let links = Query::select().from(join.other.0).and_where(condition).and_where_option(first).take();
                    (links, Func::count(Expr::col(Asterisk)))
                }
                _ => (self.source(Some(condition), among(), ids()), Func::count(Expr::col(Asterisk))),
            };
            counts.expr(count);
            // One parent at a time needs no groups.
            if !db.is_embedded() {
                counts.add_group_by([column(parents.column)]);
            }
            counts.take()
        };
        let shape = self.shape("the count", false);
        Ok(db.rows_of(parents.of_keys(shape, &build, Vec::new()), count).await?)
    }
}
