//! Lists of rows as pages: by key instead of offset, over an index, and for all parents of a level at once.
//!
//! A [`List`] defines the rows, their parents and their order. [`List::page`] reads a page of the whole list,
//! [`List::pages`] a page for each parent. Rows are read only if the client selects some, and counted only if it
//! selects the count. [`List::partial_page`] and [`List::partial_pages`] read no columns that the client does not need; the
//! resolver cannot look at the rows then.
//!
//! Invariant: every order ends with the id, so a cursor names one place.

use sea_orm::sea_query::{Expr, ExprTrait, Query, SelectStatement};
use sea_orm::{ColumnTrait, EntityName, IdenStatic, Value};

use super::request::context::Ctx;
use crate::db::{self, Ids, OfKeys, ReadHandle, Shape, Table};
use crate::engine::object::Parted;
use crate::engine::page::{Cursor, Page, PageRequest, PartialPage};
use crate::error::Result;
use left_out::LeftOut;
use sort::Sort;

pub(super) mod left_out;
pub(super) mod relation;
pub(super) mod scan;
pub(super) mod sort;

mod count;
mod rows;
mod shape;

/// The alias of the id among the columns of a row.
pub(super) const KEY: &str = "list_key";

/// A table and one of its columns.
pub(super) type Named = (&'static str, &'static str);

/// A list of rows of `E`, by default ordered by id.
#[derive(Clone)]
pub struct List<E: Table> {
    /// The id, which is the last sort key.
    key: Named,
    /// The sort key before the id.
    order: Option<Named>,
    descending: bool,
    parents: Option<Parents>,
    among: Option<(Named, Vec<String>)>,
    first: Option<First>,
    ids: Vec<Ids>,
    filters: Vec<Expr>,
    pub(super) left_out: LeftOut,
    entity: std::marker::PhantomData<E>,
}

#[derive(Clone)]
struct Parents {
    /// The column that holds the parent's id.
    column: Named,
    ids: Vec<i64>,
    /// Joins the row to the table of that column, unless it is the row's own table.
    join: Option<Join>,
}

#[derive(Clone, Copy)]
struct Join {
    own: Named,
    other: Named,
    /// Whether the other table is one of links: each of its rows stands for one row of the list.
    links: bool,
}

/// Keeps only the first of the rows that agree in both columns.
#[derive(Clone, Copy)]
struct First([Named; 2]);

impl<E: Table> List<E> {
    /// Lists all rows of the table, ordered by its column `id`.
    pub fn new(id: E::Column) -> Self {
        Self {
            key: named(id),
            order: None,
            descending: false,
            parents: None,
            among: None,
            first: None,
            ids: Vec::new(),
            filters: Vec::new(),
            left_out: LeftOut::default(),
            entity: std::marker::PhantomData,
        }
    }

    /// Keeps only rows that meet a condition.
    pub fn filter(mut self, condition: impl Into<Expr>) -> Self {
        self.filters.push(condition.into());
        self
    }

    /// Keeps only rows with one of these ids. If nothing else restricts the list, the cursor and the limit are applied
    /// to the ids, and only the ids are counted. A page then reads no more rows than it needs, however many ids there
    /// are.
    pub fn with_ids(mut self, ids: Ids) -> Self {
        self.ids.push(ids);
        self
    }

    /// Keeps only rows whose `column` holds one of these values, which must be distinct. Each value gets a statement of
    /// its own: an index on the column and the order can serve it, however rare the value is. With `IN`, the database
    /// would scan all rows in their order, or sort all that match.
    pub fn among(mut self, column: E::Column, values: Vec<String>) -> Self {
        self.among = Some((named(column), values));
        self
    }

    /// Keeps only the first of the rows that agree in both `columns`. Needs an index on the two.
    pub fn first_of<L: ColumnTrait>(mut self, columns: [L; 2]) -> Self {
        self.first = Some(First(columns.map(named)));
        self
    }

    /// Orders by `order`, then by id.
    pub fn oldest_first(mut self, order: E::Column) -> Self {
        self.order = Some(named(order));
        self
    }

    /// Orders by `order`, then by id, both descending.
    pub fn newest_first(mut self, order: E::Column) -> Self {
        self.descending = true;
        self.ordered_by(order)
    }

    /// Orders by `order`, then by id.
    pub fn ordered_by(mut self, order: E::Column) -> Self {
        self.order = Some(named(order));
        self
    }

    /// Lists the rows of each of these parents. The column `parent` holds the parent's id.
    pub fn of_parents(self, parent: E::Column, ids: impl IntoIterator<Item = i64>) -> Self {
        self.of_column(parent.as_str(), ids.into_iter().collect())
    }

    /// Like [`of_parents`](Self::of_parents), by the column's name.
    pub(super) fn of_column(mut self, parent: &'static str, ids: Vec<i64>) -> Self {
        self.parents = Some(Parents { column: (E::default().table_name(), parent), ids, join: None });
        self
    }

    /// Lists the rows of each of these parents through a table of links, in the order of the links. The two columns of
    /// a link hold the ids of the parent and of the row.
    pub(super) fn linked(mut self, table: &'static str, [parent, target]: [&'static str; 2], ids: Vec<i64>) -> Self {
        let join = Join { own: self.key, other: (table, target), links: true };
        self.key = (table, "id");
        self.parents = Some(Parents { column: (table, parent), ids, join: Some(join) });
        self
    }

    /// Lists the rows of each of these parents through another table: the row's column `own` equals the column `other`
    /// of a row whose column `parent` holds the parent's id. Keeps the order of the list.
    pub fn related<L: ColumnTrait>(
        mut self,
        (own, other): (E::Column, L),
        parent: L,
        ids: impl IntoIterator<Item = i64>,
    ) -> Self {
        let join = Join { own: named(own), other: named(other), links: false };
        self.parents = Some(Parents { column: named(parent), ids: ids.into_iter().collect(), join: Some(join) });
        self
    }

    /// Reads a page of the whole list.
    pub async fn page(self, ctx: &Ctx<'_>, request: &PageRequest) -> Result<Page<E::Model>> {
        self.page_in(None, ctx, request).await
    }

    /// Like [`page`](Self::page), in the order that the client chose, if any.
    pub async fn page_in(self, sort: Option<Sort>, ctx: &Ctx<'_>, request: &PageRequest) -> Result<Page<E::Model>> {
        let mut page = Page::empty();
        if ctx.selects_rows() {
            let rows = match sort {
                Some(sort) => self.sorted(&sort, ctx.db(), request).await?,
                None => self.edges(ctx.db(), request).await?,
            };
            page = Page::new(rows, request);
        }
        if ctx.selects_count() {
            page.total_count =
                Some(self.counts(ctx.db(), ctx.caller().counts_to).await?.iter().map(|(_, count)| count).sum());
        }
        Ok(page)
    }

    /// Like [`page_in`](Self::page_in), without the columns that no selected field reads.
    pub async fn partial_page(
        mut self,
        sort: Option<Sort>,
        ctx: &Ctx<'_>,
        request: &PageRequest,
    ) -> Result<PartialPage<E::Model>>
    where
        E::Model: Parted,
    {
        self.left_out = LeftOut::for_selection::<E>(ctx);
        Ok(PartialPage::new(self.page_in(sort, ctx, request).await?))
    }

    /// Like [`pages`](Self::pages), without the columns that no selected field reads.
    pub async fn partial_pages(mut self, ctx: &Ctx<'_>, request: &PageRequest) -> Result<Vec<PartialPage<E::Model>>>
    where
        E::Model: Parted,
    {
        self.left_out = LeftOut::for_selection::<E>(ctx);
        Ok(self.pages(ctx, request).await?.into_iter().map(PartialPage::new).collect())
    }

    /// Reads a page for each parent, in the order of the parents.
    pub async fn pages(self, ctx: &Ctx<'_>, request: &PageRequest) -> Result<Vec<Page<E::Model>>> {
        self.pages_in(None, ctx, request).await
    }

    /// Like [`pages`](Self::pages), each page in an order by a text of the row, if one is given.
    pub async fn pages_in(
        self,
        sort: Option<Sort>,
        ctx: &Ctx<'_>,
        request: &PageRequest,
    ) -> Result<Vec<Page<E::Model>>> {
        let rows = match sort {
            _ if !ctx.selects_rows() => Vec::new(),
            Some(sort) => self.sorted_per_parent(&sort, ctx.db(), request).await?,
            None => self.rows_per_parent(ctx.db(), request).await?,
        };
        let counts = if ctx.selects_count() {
            let counts = self.counts(ctx.db(), ctx.caller().counts_to).await?;
            db::to_each(&mut self.ids().iter().copied().map(Some), counts, &|_| Ok(()))?
        } else {
            Vec::new()
        };
        let (mut rows, mut counts) = (rows.into_iter(), counts.into_iter());
        let pages = self.ids().iter().map(|_| {
            let mut page = Page::new(rows.next().unwrap_or_default(), request);
            page.total_count = counts.next().map(Option::unwrap_or_default);
            page
        });
        Ok(pages.collect())
    }

    /// Reads the first row of each parent, in the order of the parents.
    pub async fn first_per_parent(self, db: &dyn ReadHandle) -> Result<Vec<Option<E::Model>>> {
        // A page is read with one row more than it shows.
        let rows = self.rows_per_parent(db, &PageRequest { first: 0, after: None }).await?;
        Ok(rows.into_iter().map(|rows| rows.into_iter().next().map(|edge| edge.node)).collect())
    }

    fn ids(&self) -> &[i64] {
        self.parents.as_ref().map(|parents| &*parents.ids).unwrap_or_default()
    }

    /// Reads the first rows of each parent, at most `most`, in the order of the parents.
    pub async fn first_n_per_parent(self, db: &dyn ReadHandle, most: u64) -> Result<Vec<Vec<E::Model>>> {
        // A page is read with one row more than it shows.
        let rows = self.rows_per_parent(db, &PageRequest { first: most.saturating_sub(1), after: None }).await?;
        Ok(rows.into_iter().map(|rows| rows.into_iter().map(|edge| edge.node).collect()).collect())
    }

    /// Builds `FROM`, joins and conditions. `condition`, on the parents, comes first, because the key must be the first
    /// parameter of the statement.
    fn source(&self, condition: Option<Expr>, among: Option<Expr>, ids: Vec<SelectStatement>) -> SelectStatement {
        let mut rows = Query::select();
        rows.from(E::default());
        if let Some(Join { own, other, .. }) = self.parents.as_ref().and_then(|parents| parents.join) {
            rows.inner_join(other.0, column(own).eq(column(other)));
        }
        for condition in condition.into_iter().chain(among).chain(self.filters.iter().cloned()) {
            rows.and_where(condition);
        }
        if let Some(first) = self.first {
            rows.and_where(first.condition());
        }
        for ids in ids {
            rows.and_where(column(self.key).in_subquery(ids));
        }
        rows
    }

    /// Selects all rows of the list: their own columns, then the id. Sets no order and no limit. The list must have no
    /// parents and no `among`, whose conditions are not applied.
    pub(super) fn all(&self) -> SelectStatement {
        let mut rows = self.source(None, None, self.ids.iter().map(|ids| ids.select.clone()).collect());
        db::select_without::<E>(self.left_out.columns, &mut rows);
        rows.expr_as(column(self.key), KEY).take()
    }

    /// Whether no condition narrows the list.
    pub(super) fn is_whole(&self) -> bool {
        self.filters.is_empty() && self.ids.is_empty()
    }

    /// The column of the id, which is the last sort key.
    pub(super) fn key(&self) -> Expr {
        column(self.key)
    }

    /// Returns the ids if they are the only restriction of the list, and its order is that of the ids.
    fn only_ids(&self) -> Option<&Ids> {
        let is_narrowed = !self.filters.is_empty() || self.among.is_some() || self.parents.is_some();
        match &self.ids[..] {
            [ids] if !is_narrowed && !self.descending && self.order.is_none() => Some(ids),
            _ => None,
        }
    }

    /// The condition that a row comes after a cursor.
    fn after_cursor(&self, after: &Cursor) -> Expr {
        let (here, there) = match (self.order, after.order) {
            (Some(order), Some(value)) => (
                Expr::tuple([column(order), column(self.key)]),
                Expr::tuple([Expr::value(value), Expr::value(after.id)]),
            ),
            _ => (column(self.key), Expr::value(after.id)),
        };
        if self.descending { here.lt(there) } else { here.gt(there) }
    }
}

impl First {
    /// The condition that no row with a smaller id has the same values in both columns.
    fn condition(self) -> Expr {
        let (table, before) = (self.0[0].0, "before");
        let mut earlier = Query::select();
        earlier.expr(Expr::col((before, "id"))).from_as(table, before);
        for named in self.0 {
            earlier.and_where(Expr::col((before, named.1)).eq(column(named)));
        }
        earlier.and_where(Expr::col((before, "id")).lt(column((table, "id"))));
        Expr::exists(earlier).not()
    }
}

impl Parents {
    fn of_keys<'s>(
        &self,
        shape: Option<Shape>,
        build: &'s (dyn Fn(Expr) -> SelectStatement + Sync),
        values: Vec<Value>,
    ) -> OfKeys<'s> {
        let column = column(self.column);
        let (key, selected) = (column.clone(), column);
        OfKeys { shape, build, values, key, selected, keys: self.ids.clone(), is_limited: false }
    }
}

pub(super) fn named<C: ColumnTrait>(column: C) -> Named {
    (C::EntityName::default().table_name(), column.as_str())
}

pub(super) fn column(named: Named) -> Expr {
    Expr::col(named)
}
