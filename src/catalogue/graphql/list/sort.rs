//! Sort orders that clients choose: by a column of the row, of a row beside it, or of a row that it refers to.
//!
//! A page is read in pieces, each a range of an index: the remaining rows with the cursor's value, then the rows with
//! later values, and last, in either direction, the rows without a value. So every page costs the same, wherever it is
//! in the list. A cursor holds the value of its row, not an offset: rows that are added or removed cause no gaps.

use std::sync::Arc;

use sea_orm::ColumnTrait;
use sea_orm::sea_query::{Asterisk, Expr, ExprTrait, JoinType, Order, Query, SelectStatement};

use super::{KEY, List, Named, column, named};
use crate::db::{self, OfKeys, Read, ReadHandle, Table, text};
use crate::engine::page::{Chosen, Cursor, Edge, PageRequest, SortValue};
use crate::error::Result;

/// The lists whose order clients choose, each with the number of its first order in cursors. Cursors of clients have these
/// numbers, so they stay. Each has room for 16 orders at least.
#[derive(Debug, Clone, Copy)]
pub enum Ordered {
    /// `services`
    Services = 0,
    /// `teams`
    Teams = 64,
    /// `users`
    Users = 128,
    /// `systems`
    Systems = 144,
    /// `domains`
    Domains = 160,
    /// `repositories`
    Repositories = 176,
}

/// A sort order.
#[derive(Debug, Clone, Copy)]
pub struct Sort {
    /// The number of the order in cursors, unique across all lists.
    number: u8,
    /// The column that rows are ordered by.
    key: Named,
    /// Whether that column is a text. The case of ASCII letters is ignored.
    is_text: bool,
    /// If the column is in another table: the row's column that refers to that table, and that table's id.
    group: Option<(Named, Named)>,
    /// If the column is in a table beside the row's own, with one row for each: the column of the row's id there.
    beside: Option<Named>,
    /// If the column that refers to a group is in a table beside the row's own, with a row for some of them: the column of
    /// the row's id there.
    by_way_of: Option<Named>,
    descending: bool,
}

impl Sort {
    /// Orders by a text of the row.
    pub fn by_text<C: ColumnTrait>(key: C) -> Self {
        Self {
            number: 0,
            key: named(key),
            is_text: true,
            group: None,
            beside: None,
            by_way_of: None,
            descending: false,
        }
    }

    /// Orders by a text of another row. The column `own` refers to that row, whose id is in the column `id`.
    pub fn by_text_of<O: ColumnTrait, C: ColumnTrait>(own: O, id: C, key: C) -> Self {
        Self { group: Some((named(own), named(id))), ..Self::by_text(key) }
    }

    /// Like [`by_text_of`](Self::by_text_of), by a number.
    pub fn by_number_of<O: ColumnTrait, C: ColumnTrait>(own: O, id: C, key: C) -> Self {
        Self { is_text: false, ..Self::by_text_of(own, id, key) }
    }

    /// Orders by a number of another row, to which a table beside refers that has a row for some of those of the list: the
    /// column `way` there is the id of the row, and `own` refers to the other row.
    pub fn by_number_by_way_of<W: ColumnTrait, O: ColumnTrait, C: ColumnTrait>(way: W, own: O, id: C, key: C) -> Self {
        Self { by_way_of: Some(named(way)), ..Self::by_number_of(own, id, key) }
    }

    /// Orders by a number in a table that has one row for each row of the list. The column `id` there is the row's id.
    pub fn by_number_beside<C: ColumnTrait>(id: C, key: C) -> Self {
        Self { is_text: false, beside: Some(named(id)), ..Self::by_text(key) }
    }

    /// Sets the list, the place of the order among those of the list, and its direction.
    pub fn in_list(self, list: Ordered, place: u8, descending: bool) -> Self {
        Self { number: list as u8 + place, descending, ..self }
    }

    /// The condition that `key` comes after `value` in this order.
    fn behind(&self, key: Expr, value: Expr) -> Expr {
        if self.descending { key.lt(value) } else { key.gt(value) }
    }

    /// The conditions on the rows of a piece. `indexed` is the expression of the index, `id` the column of the row's
    /// id.
    fn conditions(&self, piece: Piece, indexed: &dyn Fn() -> Expr, id: Expr) -> [Option<Expr>; 2] {
        // A range condition makes SQLite start from the index of the order.
        let least = match (self.is_text, self.beside) {
            (true, _) => Expr::value(""),
            (false, Some(_)) => Expr::value(i64::MIN),
            (false, None) => Expr::value(i64::from(i32::MIN)),
        };
        let own = || self.group.map_or_else(indexed, |(own, _)| column(own));
        let behind = |key, value: Expr| Some(self.behind(key, value));
        match (piece, self.group) {
            (Piece::All, _) => [Some(indexed().gte(least)), None],
            (Piece::Same { group, id: last, .. }, Some(_)) => [Some(own().eq(group)), behind(id, last.into())],
            (Piece::Same { value, id: last, .. }, None) => [Some(indexed().eq(bound(value))), behind(id, last.into())],
            (Piece::NextGroup { value, group }, of) => {
                [Some(indexed().eq(bound(value))), of.and_then(|(_, id)| behind(column(id), group.into()))]
            }
            (Piece::Behind { value }, _) => [behind(indexed(), bound(value)), None],
            (Piece::Without { after }, _) => [Some(own().is_null()), after.and_then(|after| behind(id, after.into()))],
        }
    }

    /// Returns the pieces of the page after a cursor, in order.
    fn pieces(&self, after: Option<&Cursor>) -> Vec<Piece> {
        let Some((Chosen { value, group, .. }, id)) =
            after.and_then(|after| Some((&**after.chosen.as_ref()?, after.id)))
        else {
            return vec![Piece::All, Piece::Without { after: None }];
        };
        let (group, Some(value)) = (*group, value.clone()) else { return vec![Piece::Without { after: Some(id) }] };
        let mut pieces = vec![Piece::Same { value: value.clone(), group, id }];
        if self.group.is_some() {
            pieces.push(Piece::NextGroup { value: value.clone(), group });
        }
        pieces.extend([Piece::Behind { value }, Piece::Without { after: None }]);
        pieces
    }
}

/// A piece of a list.
enum Piece {
    /// All rows with a value.
    All,
    /// The remaining rows with the cursor's value and group: those after its id.
    Same { value: SortValue, group: i64, id: i64 },
    /// The rows with the same value in later groups.
    NextGroup { value: SortValue, group: i64 },
    /// The rows with later values.
    Behind { value: SortValue },
    /// The rows without a value.
    Without { after: Option<i64> },
}

/// A value in a statement.
fn bound(value: SortValue) -> Expr {
    match value {
        SortValue::Text(text) => Expr::value(text),
        SortValue::Number(number) => Expr::value(number),
    }
}

impl<E: Table> List<E> {
    /// Reads the rows of a page, and one more.
    pub(in crate::graphql) async fn sorted(
        &self,
        sort: &Sort,
        db: &dyn ReadHandle,
        request: &PageRequest,
    ) -> Result<Vec<Edge<E::Model>>> {
        request.check(|after| after.chosen.as_ref().is_some_and(|chosen| chosen.order == sort.number))?;
        let most = usize::try_from(request.first + 1).unwrap_or(usize::MAX);
        let mut found = Vec::new();
        for piece in sort.pieces(request.after.as_ref()) {
            let limit = (most - found.len()) as u64;
            if limit == 0 {
                break;
            }
            found.extend(self.piece(sort, db, piece, limit).await?);
        }
        Ok(found)
    }

    /// Reads the rows of a page, and one more, for each parent, in the order of the parents. The order is by a text of the
    /// row that is never null. All rows of a parent are sorted for each page: for lists of which a parent has few.
    pub(super) async fn sorted_per_parent(
        &self,
        sort: &Sort,
        db: &dyn ReadHandle,
        request: &PageRequest,
    ) -> Result<Vec<Vec<Edge<E::Model>>>> {
        let number = sort.number;
        request.check(|after| after.chosen.as_ref().is_some_and(|chosen| chosen.order == number))?;
        let Some(parents) = &self.parents else { return Ok(Vec::new()) };
        let build = |condition| self.select_sorted(sort, db, request, condition);
        let query = OfKeys { is_limited: true, ..parents.of_keys(None, &build, Vec::new()) };
        let omitted = self.left_out.columns;
        let own = db::columns_without::<E>(omitted);
        let read = move |row: &db::Row<'_>| {
            let chosen = Chosen { order: number, value: Some(SortValue::Text(row.get(own + 1)?)), group: 0 };
            let cursor = Cursor { chosen: Some(Arc::new(chosen)), ..Cursor::id(row.get(own)?) };
            Ok((Edge { node: row.model_without::<E>(omitted)?, cursor }, row.text()))
        };
        let rows = db::by_key(db.rows_of(query, read).await?);
        let each = db::to_each(&mut parents.ids.iter().copied().map(Some), rows, &|rows| {
            rows.iter().try_for_each(|(_, text)| db.charge::<(Edge<E::Model>, usize)>(*text))
        })?;
        Ok(each.into_iter().map(|rows| rows.into_iter().flatten().map(|(edge, _)| edge).collect()).collect())
    }

    /// Selects the rows of a page of a parent, and one more. `condition` is on the parent.
    fn select_sorted(
        &self,
        sort: &Sort,
        db: &dyn ReadHandle,
        request: &PageRequest,
        condition: Expr,
    ) -> SelectStatement {
        let text = || text::lower(db, column(sort.key));
        let direction = || if sort.descending { Order::Desc } else { Order::Asc };
        let mut rows = self.source(Some(condition), None, Vec::new());
        db::select_without::<E>(self.left_out.columns, &mut rows);
        rows.expr_as(self.key(), KEY).expr_as(text(), VALUE);
        let after = request.after.as_ref().and_then(|after| Some((after.chosen.as_ref()?.value.clone()?, after.id)));
        if let Some((value, id)) = after {
            let is_same = text().eq(bound(value.clone())).and(sort.behind(self.key(), id.into()));
            rows.and_where(sort.behind(text(), bound(value)).or(is_same));
        }
        rows.order_by_expr(text(), direction()).order_by_expr(self.key(), direction());
        rows.limit(request.first + 1).take()
    }

    /// Selects the rows of the list, each with its row in the table by way of which it is ordered, or those without one.
    fn by_way_of(&self, db: &dyn ReadHandle, way: Option<Named>, with: bool) -> SelectStatement {
        match way {
            Some(way) if !with => self.all().left_join(way.0, self.key().eq(column(way))).take(),
            way => self.beside(db, way),
        }
    }

    /// Selects all rows of the list, joined to the table beside them if there is one.
    fn beside(&self, db: &dyn ReadHandle, beside: Option<Named>) -> SelectStatement {
        let mut rows = self.all();
        let Some(beside) = beside else { return rows };
        let is_same = self.key().eq(column(beside));
        if !db::joins_laterally(db) || !self.is_whole() {
            return rows.inner_join(beside.0, is_same).take();
        }
        // PostgreSQL would otherwise merge the two tables from the first row.
        rows.and_where(is_same).limit(1);
        let mut joined = Query::select();
        joined.column((OF_GROUP, Asterisk)).from(beside.0);
        joined.join_lateral(JoinType::InnerJoin, rows, OF_GROUP, Expr::value(true)).take()
    }

    async fn piece(&self, sort: &Sort, db: &dyn ReadHandle, piece: Piece, limit: u64) -> Result<Vec<Edge<E::Model>>> {
        let &Sort { number, key, is_text, group, beside, by_way_of, descending } = sort;
        // The expression of the index, and how its value is read.
        let indexed = || if is_text { text::lower(db, column(key)) } else { column(key) };
        let value = || if is_text { indexed() } else { column(key).cast_as("bigint") };
        let has_value = !matches!(piece, Piece::Without { .. });
        let mut rows = match by_way_of {
            Some(_) => self.by_way_of(db, by_way_of, has_value),
            None => self.beside(db, beside),
        };
        // Of the table beside, so that its index gives the order.
        let id = || beside.or(by_way_of.filter(|_| has_value)).map_or_else(|| self.key(), column);
        let mut order = vec![id()];
        let direction = || if descending { Order::Desc } else { Order::Asc };
        if has_value {
            rows.expr_as(value(), VALUE).expr_as(group.map_or(Expr::value(0_i64), |(own, _)| column(own)), GROUP);
        }
        if let (Some((own, id)), true) = (group, has_value) {
            rows.inner_join(id.0, column(own).eq(column(id)));
            if db::joins_laterally(db) && !matches!(piece, Piece::Same { .. }) {
                // A lateral join reads each group from an index. PostgreSQL would otherwise sort all rows of a group.
                let mut of_group = self.by_way_of(db, by_way_of, true);
                let last = by_way_of.map_or_else(|| self.key(), column);
                of_group.and_where(column(own).eq(column(id))).order_by_expr(last, direction()).limit(limit);
                rows = Query::select().column((OF_GROUP, Asterisk)).from(id.0).take();
                rows.expr_as(value(), VALUE).expr_as(column(id), GROUP);
                rows.join_lateral(JoinType::InnerJoin, of_group, OF_GROUP, Expr::value(true));
                order = vec![Expr::col((OF_GROUP, KEY))];
            }
        }
        // Within one value or group, ordering by id is enough.
        if has_value && !matches!(piece, Piece::Same { .. }) {
            order.splice(0..0, [indexed()].into_iter().chain(group.map(|(_, id)| column(id))));
        }
        let conditions = sort.conditions(piece, &indexed, id());
        for condition in conditions.into_iter().flatten() {
            rows.and_where(condition);
        }
        for place in order {
            rows.order_by_expr(place, direction());
        }
        let omitted = self.left_out.columns;
        let own = db::columns_without::<E>(omitted);
        let read = move |row: &db::Row<'_>| {
            let value = match (has_value, is_text) {
                (false, _) => None,
                (true, true) => Some(SortValue::Text(row.get(own + 1)?)),
                (true, false) => Some(SortValue::Number(row.get(own + 1)?)),
            };
            let group = if has_value { row.get(own + 2)? } else { 0 };
            let chosen = Chosen { order: number, value, group };
            let cursor = Cursor { chosen: Some(Arc::new(chosen)), ..Cursor::id(row.get(own)?) };
            Ok(Edge { node: row.model_without::<E>(omitted)?, cursor })
        };
        Ok(db.rows(rows.limit(limit), read).await?)
    }
}

/// The aliases of the columns that are read besides the row's own and its id.
const VALUE: &str = "sort_value";
const GROUP: &str = "sort_group";
/// The alias of the rows of one group, and of a row that another one is beside.
const OF_GROUP: &str = "of_group";
