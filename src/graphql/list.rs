//! Lists of rows as pages: by key, over an index, and for all parents of a level in one statement.
//!
//! A [`List`] says which rows, whose they are, and in what order. It becomes a page of all of them ([`List::page`]) or
//! a page for each parent ([`List::pages`]). Rows are read only when the client selects some, and counted only when it
//! selects the count.

use std::collections::HashMap;

use sea_orm::sea_query::{
    Asterisk, Expr, ExprTrait, Func, Order, OverStatement, Query, SelectStatement, WindowStatement,
};
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, FromQueryResult, IdenStatic, Iterable, ModelTrait, QueryFilter,
    QueryResult, Value,
};

use super::context::Ctx;
use super::page::{Cursor, Page, PageRequest};
use crate::db;
use crate::error::{Result, UserError};

/// The names of what is read beside the row's own columns.
const PARENT: &str = "list_parent";
const ORDER: &str = "list_order";
const KEY: &str = "list_key";
const RANK: &str = "list_rank";
const COUNT: &str = "list_count";

/// Rows of `E`, ordered by id unless said otherwise.
#[derive(Clone)]
pub struct List<E: EntityTrait> {
    /// `FROM`, joins and filters.
    source: SelectStatement,
    /// The id that ends the order.
    key: Expr,
    /// What comes before the id in the order.
    order: Option<Expr>,
    descending: bool,
    parents: Option<Parents>,
    /// The links alone, while no condition asks for the rows behind them: enough to count.
    links: Option<SelectStatement>,
    entity: std::marker::PhantomData<E>,
}

#[derive(Clone)]
struct Parents {
    column: Expr,
    ids: Vec<i64>,
}

impl<E: EntityTrait> List<E>
where
    E::Model: FromQueryResult + Send,
{
    /// All rows of the table, ordered by its column `id`.
    pub fn new(id: E::Column) -> Self {
        Self {
            source: Query::select().from(E::default()).take(),
            key: column(id),
            order: None,
            descending: false,
            parents: None,
            links: None,
            entity: std::marker::PhantomData,
        }
    }

    /// Only rows that meet a condition.
    pub fn filter(mut self, condition: impl Into<Expr>) -> Self {
        self.source.and_where(condition.into());
        self.links = None;
        self
    }

    /// The greatest first: by `order`, then by id.
    pub fn newest_first(mut self, order: E::Column) -> Self {
        self.order = Some(column(order));
        self.descending = true;
        self
    }

    /// The smallest first: by `order`, then by id.
    pub fn ordered_by(mut self, order: E::Column) -> Self {
        self.order = Some(column(order));
        self
    }

    /// The rows of each of these parents, which `parent` names.
    pub fn of<C: ConnectionTrait>(mut self, db: &C, parent: E::Column, ids: impl IntoIterator<Item = i64>) -> Self {
        self.parents_are(db, parent, ids.into_iter().collect());
        self
    }

    /// The rows that a table of links ties to each of these parents, in the order of the links. `target` is the link's
    /// column that names the row `id`, `parent` the one that names the parent, `link` the link's own id.
    pub fn linked<C, L>(
        mut self,
        db: &C,
        (id, target): (E::Column, L),
        link: L,
        parent: L,
        ids: impl IntoIterator<Item = i64>,
    ) -> Self
    where
        C: ConnectionTrait,
        L: ColumnTrait,
    {
        let ids: Vec<_> = ids.into_iter().collect();
        let links = Query::select().from(link.entity_name()).and_where(is_one_of(db, parent, &ids)).take();
        self.source.inner_join(link.entity_name(), column(id).eq(column(target)));
        self.key = column(link);
        self.parents_are(db, parent, ids);
        self.links = Some(links);
        self
    }

    /// The rows that another table ties to each of these parents: `own` of the row is `other` of a row whose `parent`
    /// is one of them. The order stays that of the rows.
    pub fn related<C, L>(
        mut self,
        db: &C,
        (own, other): (E::Column, L),
        parent: L,
        ids: impl IntoIterator<Item = i64>,
    ) -> Self
    where
        C: ConnectionTrait,
        L: ColumnTrait,
    {
        self.source.inner_join(parent.entity_name(), column(own).eq(column(other)));
        self.parents_are(db, parent, ids.into_iter().collect());
        self
    }

    fn parents_are<C: ConnectionTrait>(&mut self, db: &C, parent: impl ColumnTrait, ids: Vec<i64>) {
        self.source.and_where(is_one_of(db, parent, &ids));
        self.parents = Some(Parents { column: column(parent), ids });
    }

    /// One page of the whole list.
    pub async fn page(self, ctx: &Ctx<'_>, request: &PageRequest) -> Result<Page<E::Model>> {
        let mut page = Page::empty();
        if ctx.selects_rows() {
            let rows = self.rows(&ctx.db(), request).await?;
            page = Page::new(rows.into_iter().map(|row| (row.place, row.model)).collect(), request);
        }
        if ctx.selects_count() {
            page.total_count = Some(self.counts(&ctx.db()).await?.values().sum());
        }
        Ok(page)
    }

    /// A page for each parent, in the order in which they were given.
    pub async fn pages(self, ctx: &Ctx<'_>, request: &PageRequest) -> Result<Vec<Page<E::Model>>> {
        let ids = self.parents.as_ref().map(|parents| parents.ids.clone()).unwrap_or_default();
        let mut by_parent: HashMap<i64, Vec<(Cursor, E::Model)>> = HashMap::with_capacity(ids.len());
        if ctx.selects_rows() {
            for row in self.rows(&ctx.db(), request).await? {
                by_parent.entry(row.parent).or_default().push((row.place, row.model));
            }
        }
        let counts = if ctx.selects_count() { Some(self.counts(&ctx.db()).await?) } else { None };
        let page = |id: &i64| {
            // A parent may stand twice in a level: the rows are read once and given to each.
            let rows = by_parent.get(id).cloned().unwrap_or_default();
            let mut page = Page::new(rows, request);
            page.total_count = counts.as_ref().map(|counts| counts.get(id).copied().unwrap_or(0));
            page
        };
        Ok(ids.iter().map(page).collect())
    }

    /// The first row of each of these parents, in the order in which they were given. `own` of a row names its parent,
    /// whose table has the key `parent`. One look into the index of `own` and the order for each parent, however many
    /// rows it has, which a window over the rows of all parents would read.
    pub async fn firsts<C: ConnectionTrait>(
        self,
        db: &C,
        (id, own): (E::Column, E::Column),
        parent: impl ColumnTrait,
        ids: impl IntoIterator<Item = i64>,
    ) -> Result<Vec<Option<E::Model>>> {
        let ids: Vec<_> = ids.into_iter().collect();
        let direction = if self.descending { Order::Desc } else { Order::Asc };
        let first = self.source.clone().expr(column(id)).and_where(column(own).eq(column(parent))).take();
        let first = self.sorted(first, direction).limit(1).take();
        let of_parents = Query::select()
            .expr(Expr::SubQuery(None, Box::new(first.into())))
            .from(parent.entity_name())
            .and_where(is_one_of(db, parent, &ids))
            .take();
        let mut firsts = HashMap::with_capacity(ids.len());
        if !ids.is_empty() {
            for row in E::find().filter(column(id).in_subquery(of_parents)).all(db).await? {
                if let Value::BigInt(Some(parent)) = row.get(own) {
                    firsts.insert(parent, row);
                }
            }
        }
        Ok(ids.iter().map(|id| firsts.get(id).cloned()).collect())
    }

    /// The rows of the page and one more, of each parent.
    async fn rows<C: ConnectionTrait>(&self, db: &C, request: &PageRequest) -> Result<Vec<Row<E>>> {
        let is_empty = self.parents.as_ref().is_some_and(|parents| parents.ids.is_empty());
        if is_empty {
            return Ok(Vec::new());
        }
        if request.after.is_some_and(|after| after.order.is_some() != self.order.is_some()) {
            return Err(UserError::new("after", "after is a cursor of another list").into());
        }
        let rows = db.query_all(&self.statement(request)).await?;
        rows.iter().map(|row| Ok(self.read(row)?)).collect()
    }

    fn read(&self, row: &QueryResult) -> Result<Row<E>, sea_orm::DbErr> {
        let order = if self.order.is_some() { Some(row.try_get("", ORDER)?) } else { None };
        Ok(Row {
            parent: if self.parents.is_some() { row.try_get("", PARENT)? } else { 0 },
            place: Cursor { order, id: row.try_get("", KEY)? },
            model: E::Model::from_query_result(row, "")?,
        })
    }

    fn statement(&self, request: &PageRequest) -> SelectStatement {
        let direction = if self.descending { Order::Desc } else { Order::Asc };
        let mut rows = self.source.clone();
        for own in E::Column::iter() {
            rows.expr_as(column(own), own.as_str());
        }
        rows.expr_as(self.key.clone(), KEY);
        if let Some(order) = &self.order {
            rows.expr_as(order.clone(), ORDER);
        }
        if let Some(after) = request.after {
            rows.and_where(self.beyond(after));
        }
        let limit = request.first + 1;
        let Some(parents) = &self.parents else {
            return self.sorted(rows, direction).limit(limit).take();
        };
        rows.expr_as(parents.column.clone(), PARENT);
        if parents.ids.len() == 1 {
            return self.sorted(rows, direction).limit(limit).take();
        }
        let mut window = WindowStatement::new();
        window.add_partition_by(parents.column.clone());
        if let Some(order) = &self.order {
            window.order_by_expr(order.clone(), direction.clone());
        }
        window.order_by_expr(self.key.clone(), direction);
        rows.expr_window_as(Expr::cust("ROW_NUMBER()"), window, RANK);
        let rank = || Expr::col(RANK);
        Query::select()
            .column(Asterisk)
            .from_subquery(rows, "ranked")
            .and_where(rank().lte(limit as i64))
            .order_by_expr(rank(), Order::Asc)
            .take()
    }

    fn sorted(&self, mut rows: SelectStatement, direction: Order) -> SelectStatement {
        if let Some(order) = &self.order {
            rows.order_by_expr(order.clone(), direction.clone());
        }
        rows.order_by_expr(self.key.clone(), direction);
        rows
    }

    /// What comes after a place in the order.
    fn beyond(&self, after: Cursor) -> Expr {
        let (here, there) = match (&self.order, after.order) {
            (Some(order), Some(value)) => (
                Expr::tuple([order.clone(), self.key.clone()]),
                Expr::tuple([Expr::value(value), Expr::value(after.id)]),
            ),
            _ => (self.key.clone(), Expr::value(after.id)),
        };
        if self.descending { here.lt(there) } else { here.gt(there) }
    }

    /// The length of the whole list of each parent; that of a list without parents stands at 0.
    async fn counts<C: ConnectionTrait>(&self, db: &C) -> Result<HashMap<i64, i32>> {
        let mut counts = self.links.as_ref().unwrap_or(&self.source).clone();
        counts.expr_as(Func::count(Expr::col(Asterisk)), COUNT);
        if let Some(parents) = &self.parents {
            counts.expr_as(parents.column.clone(), PARENT).add_group_by([parents.column.clone()]);
        }
        let read = |row: &QueryResult| {
            let parent = if self.parents.is_some() { row.try_get("", PARENT)? } else { 0 };
            let count: i64 = row.try_get("", COUNT)?;
            Ok((parent, i32::try_from(count).unwrap_or(i32::MAX)))
        };
        db.query_all(&counts).await?.iter().map(read).collect()
    }
}

struct Row<E: EntityTrait> {
    parent: i64,
    place: Cursor,
    model: E::Model,
}

fn is_one_of<C: ConnectionTrait>(db: &C, parent: impl ColumnTrait, ids: &[i64]) -> Expr {
    match ids {
        [id] => column(parent).eq(*id),
        ids => db::any(db, parent, ids),
    }
}

fn column(column: impl ColumnTrait) -> Expr {
    Expr::col(column.as_column_ref())
}
