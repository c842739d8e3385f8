//! Reads the rows of lists, a page at a time.

use std::cmp::Reverse;

use sea_orm::sea_query::{Expr, ExprTrait, Order, SelectStatement};
use sea_orm::{Iterable, ModelTrait, PrimaryKeyToColumn, Value};

use super::{KEY, List, column};
use crate::db::{self, Ids, OfKeys, Read, ReadHandle, Shape, Table};
use crate::engine::page::{Cursor, Edge, MOST, PageRequest};
use crate::error::Result;

/// The alias of the sort key before the id, among the columns of a row.
const ORDER: &str = "list_order";

/// The limit of a whole page, which is read with one row more than it shows. In the text of the statement, PostgreSQL
/// plans it once. As a parameter, it would be planned for each page: without the number, a page seems to be a tenth of
/// the table.
const WHOLE_PAGE: &str = " LIMIT 101";
const _: () = assert!(MOST == 100);

/// A row of a page of some parent.
#[derive(Clone)]
struct Row<M> {
    edge: Edge<M>,
    /// The bytes of text that were read for it.
    text: usize,
}

impl<E: Table> List<E> {
    /// Reads the rows of each parent, in the order of the parents.
    pub(super) async fn rows_per_parent(
        &self,
        db: &dyn ReadHandle,
        request: &PageRequest,
    ) -> Result<Vec<Vec<Edge<E::Model>>>> {
        let rows = db::by_key(self.sorted_rows(db, request).await?);
        let each = db::to_each(&mut self.ids().iter().copied().map(Some), rows, &|rows| {
            rows.iter().try_for_each(|row| db.charge::<Row<E::Model>>(row.text))
        })?;
        Ok(each.into_iter().map(|rows| rows.unwrap_or_default().into_iter().map(|row| row.edge).collect()).collect())
    }

    /// Reads the rows of a page, and one more, of the whole list.
    pub(super) async fn edges(&self, db: &dyn ReadHandle, request: &PageRequest) -> Result<Vec<Edge<E::Model>>> {
        if self.parents.is_some() || self.among.is_some() {
            return Ok(self.sorted_rows(db, request).await?.into_iter().map(|(_, row)| row.edge).collect());
        }
        // They come in order. They are large, and are not moved again.
        self.rows(db, request, None, self.read()).await
    }

    /// Reads the rows of each parent, each with the parent's id, sorted by the two. Without parents, all rows have the
    /// key 0.
    async fn sorted_rows(&self, db: &dyn ReadHandle, request: &PageRequest) -> Result<Vec<(i64, Row<E::Model>)>> {
        let most = usize::try_from(request.first + 1).unwrap_or(usize::MAX);
        let conditions = match &self.among {
            None => vec![None],
            Some((own, values)) => values.iter().map(|value| Some(column(*own).eq(value.as_str()))).collect(),
        };
        let mut sorted = Vec::new();
        for condition in conditions {
            let mut rows = self.rows_with_parents(db, request, condition).await?;
            // As a rule there is one condition, and its rows need not be moved.
            if sorted.is_empty() {
                sorted = rows
            } else {
                sorted.append(&mut rows)
            }
            // A statement for several keys guarantees no order, and the rows of several values must be merged.
            let place = |row: &Row<E::Model>| (row.edge.cursor.order, row.edge.cursor.id);
            if self.descending {
                db::sort_by_key(&mut sorted, |(parent, row)| (*parent, Reverse(place(row))));
            } else {
                db::sort_by_key(&mut sorted, |(parent, row)| (*parent, place(row)));
            }
            let (mut parent, mut kept) = (None, 0);
            sorted.retain(|(of, _)| {
                if parent != Some(*of) {
                    (parent, kept) = (Some(*of), 0);
                }
                kept += 1;
                kept <= most
            });
        }
        Ok(sorted)
    }

    /// Reads the rows of a page, and one more, for each parent. `among` is a condition in addition to the filters.
    async fn rows_with_parents(
        &self,
        db: &dyn ReadHandle,
        request: &PageRequest,
        among: Option<Expr>,
    ) -> Result<Vec<(i64, Row<E::Model>)>> {
        let read = self.read();
        let read = move |row: &db::Row<'_>| Ok(Row { edge: read(row)?, text: row.text() });
        let Some(parents) = &self.parents else {
            return self.rows(db, request, among, move |row| Ok((0, read(row)?))).await;
        };
        let shape = self.shape_of_page(request)?;
        let build = |condition| self.select_page(db, request, shape, among.clone(), Some(condition));
        let query = OfKeys { is_limited: true, ..parents.of_keys(shape, &build, values_of_page(request, shape)) };
        Ok(db.rows_of(query, read).await?)
    }

    /// Reads the rows of a page, and one more, of a list without parents, in its order.
    async fn rows<T: Send + 'static>(
        &self,
        db: &dyn ReadHandle,
        request: &PageRequest,
        among: Option<Expr>,
        read: impl Fn(&db::Row<'_>) -> Result<T, db::Error> + Send + 'static,
    ) -> Result<Vec<T>> {
        let shape = self.shape_of_page(request)?;
        Ok(match shape {
            Some(shape) => db.rows_like(shape, values_of_page(request, Some(shape)), request.first + 1, read).await?,
            None => db.rows(&self.select_page(db, request, None, among, None), read).await?,
        })
    }

    /// Selects a page. `condition` is on the parents.
    fn select_page(
        &self,
        db: &dyn ReadHandle,
        request: &PageRequest,
        shape: Option<Shape>,
        among: Option<Expr>,
        condition: Option<Expr>,
    ) -> SelectStatement {
        let (ids, known) = match self.only_ids() {
            Some(Ids { page: Some(page), .. }) => (Vec::new(), Some(db::is_any(db.backend(), self.key(), page))),
            Some(ids) => (vec![ids_of_page(ids, request)], None),
            None => (self.ids.iter().map(|ids| ids.select.clone()).collect(), None),
        };
        self.page_of(self.source(condition, known.or(among), ids), request, has_fixed_limit(shape))
    }

    /// Selects a page of these rows. `is_limited` says that the limit is added to the text.
    fn page_of(&self, mut rows: SelectStatement, request: &PageRequest, is_limited: bool) -> SelectStatement {
        db::select_without::<E>(self.left_out.columns, &mut rows);
        if !self.has_own_key() {
            rows.expr_as(column(self.key), KEY);
        }
        if let Some(order) = self.order {
            rows.expr_as(column(order), ORDER);
        }
        if let Some(after) = &request.after {
            rows.and_where(self.after_cursor(after));
        }
        let direction = if self.descending { Order::Desc } else { Order::Asc };
        for place in self.order.into_iter().chain([self.key]) {
            rows.order_by_expr(column(place), direction.clone());
        }
        if is_limited { rows } else { rows.limit(request.first + 1).take() }
    }

    /// Reads a row of [`Self::select_page`].
    fn read(
        &self,
    ) -> impl Fn(&db::Row<'_>) -> Result<Edge<E::Model>, db::Error> + Clone + Send + Sync + 'static + use<E> {
        let (is_own_key, is_ordered, omitted) = (self.has_own_key(), self.order.is_some(), self.left_out.columns);
        move |row| {
            // These columns follow the row's own, in the order of the statement.
            let mut places = db::columns_without::<E>(omitted)..;
            let mut next = || places.next().unwrap_or_default();
            let id = if is_own_key { None } else { Some(row.get(next())?) };
            let order = if is_ordered { Some(row.get(next())?) } else { None };
            let node = row.model_without::<E>(omitted)?;
            let id = id.map_or_else(|| own_id::<E>(&node), Ok)?;
            Ok(Edge { node, cursor: Cursor { order, ..Cursor::id(id) } })
        }
    }

    /// Whether the rows hold what their cursors hold. A row of a list of links has the link's id in its cursor.
    fn has_own_key(&self) -> bool {
        self.key.0 == E::default().table_name()
    }

    /// The cache key of a page's statement. Fails if the page begins at a cursor of another list.
    fn shape_of_page(&self, request: &PageRequest) -> Result<Option<Shape>> {
        request.check(|after| after.order.is_some() == self.order.is_some() && after.chosen.is_none())?;
        let tail = if self.parents.is_none() && request.first == MOST { WHOLE_PAGE } else { "" };
        Ok(self.shape(shaped::<E>, request.after.is_some()).map(|shape| Shape { tail, ..shape }))
    }
}

/// Builds the statement of a page from its cache key.
fn shaped<E: Table>(shape: &Shape, condition: Option<Expr>) -> SelectStatement {
    let (list, is_behind) = List::<E>::of_shape(shape);
    let after = is_behind.then(|| Cursor { order: list.order.map(|_| 0), ..Cursor::id(0) });
    let rows = list.source(condition, None, Vec::new());
    list.page_of(rows, &PageRequest { first: 0, after }, has_fixed_limit(Some(*shape)))
}

/// Whether the limit of a page's statement is in its text, and not a parameter.
fn has_fixed_limit(shape: Option<Shape>) -> bool {
    shape.is_some_and(|shape| shape.tail == WHOLE_PAGE)
}

/// The parameters of a page's statement.
fn values_of_page(request: &PageRequest, shape: Option<Shape>) -> Vec<Value> {
    let after = request.after.iter().flat_map(|after| after.order.into_iter().chain([after.id])).map(Value::from);
    after.chain((!has_fixed_limit(shape)).then(|| (request.first + 1).into())).collect()
}

/// The id of a row, which it holds itself.
fn own_id<E: Table>(row: &E::Model) -> Result<i64, db::Error> {
    let key = <E::PrimaryKey as Iterable>::iter().next().map(PrimaryKeyToColumn::into_column);
    match key.map(|key| row.get(key)) {
        Some(Value::BigInt(Some(id))) => Ok(id),
        _ => Err(db::Error::fault(format!("a row of {} has no id", E::default().table_name()))),
    }
}

/// Selects the ids that a page may show, and one more.
fn ids_of_page(Ids { select, id, may_repeat, .. }: &Ids, request: &PageRequest) -> SelectStatement {
    let mut ids = select.clone();
    if *may_repeat {
        ids.distinct();
    }
    if let Some(after) = &request.after {
        ids.and_where(id.clone().gt(after.id));
    }
    ids.order_by_expr(id.clone(), Order::Asc).limit(request.first + 1).take()
}
