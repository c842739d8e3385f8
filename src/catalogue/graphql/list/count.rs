//! The counts of lists.

use sea_orm::sea_query::{Asterisk, Expr, ExprTrait, Func, Query, SelectStatement};

use super::{First, List, column};
use crate::db::{self, Build, Ids, Read, ReadHandle, Shape, Table};
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
        // One parent at a time needs no groups.
        let is_one = db.is_embedded();
        let build = |condition: Expr| self.select_counts(Some(condition), is_one);
        let shaped: Build = if is_one { shaped::<E, true> } else { shaped::<E, false> };
        let shape = self.shape(shaped, false);
        Ok(db.rows_of(parents.of_keys(shape, &build, Vec::new()), count).await?)
    }

    /// Selects the counts of parents, each with its parent unless it `is_one`. `condition` is on the parents.
    fn select_counts(&self, condition: Option<Expr>, is_one: bool) -> SelectStatement {
        let (parent, join) = self.parents.as_ref().map_or((None, None), |own| (Some(own.column), own.join));
        let is_whole = self.is_whole() && self.among.is_none();
        let (mut counts, count) = match (join, self.first) {
            // Without conditions on the rows, it is enough to count the links: an index on both columns is read in order,
            // which takes half the time of looking for an earlier row each time.
            (Some(join), Some(First([one, target]))) if join.links && is_whole && Some(one) == parent => (
                Query::select().from(join.other.0).and_where_option(condition).take(),
                Func::count_distinct(column(target)),
            ),
            (Some(join), first) if join.links && is_whole => {
                let mut links = Query::select();
                links.from(join.other.0).and_where_option(condition).and_where_option(first.map(First::condition));
                (links, Func::count(Expr::col(Asterisk)))
            }
            _ => {
                let among = self.among.as_ref().map(|(own, values)| column(*own).is_in(values));
                let ids = self.ids.iter().map(|ids| ids.select.clone()).collect();
                (self.source(condition, among, ids), Func::count(Expr::col(Asterisk)))
            }
        };
        counts.expr(count);
        if !is_one {
            counts.add_group_by(parent.map(column));
        }
        counts
    }
}

/// Builds the statement of [`List::select_counts`] from its cache key.
fn shaped<E: Table, const IS_ONE: bool>(shape: &Shape, condition: Option<Expr>) -> SelectStatement {
    List::<E>::of_shape(shape).0.select_counts(condition, IS_ONE)
}
