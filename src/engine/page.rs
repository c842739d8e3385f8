//! Pages of lists: the results of a connection, and the cursors between its pages.
//!
//! A cursor is the key of a row, never an offset. Rows that are added or removed between two pages cause no duplicates
//! and no gaps.

use std::fmt::{self, Write};
use std::sync::Arc;

use async_graphql::MaybeUndefined;
use data_encoding::BASE32_NOPAD;

use super::input::{self, Fields, FromFields, InputError};
use super::object::{Call, Children, Collected, Composite, List, Object, Resolved, Written};
use super::shape::scalars;
use super::tables::{FieldInfo, ObjectInfo, column};
use super::write::{Scalar, Writer, put};
use crate::error::{Error, UserError};

/// The maximum page size, which is also the default.
pub const MOST: u64 = 100;

/// What is said of a cursor that cannot be read, and of one that belongs to another list.
const UNREADABLE: &str = "`after` is not a valid cursor. Use `pageInfo.endCursor` of the previous page.";
const FOREIGN: &str = "`after` is a cursor of another list or order. Use `pageInfo.endCursor` of the previous page.";

/// Whether an error of a response says that its list has no page at a cursor.
pub fn is_about_cursor(message: &str) -> bool {
    [UNREADABLE, FOREIGN].contains(&message)
}

/// A row and the cursor that stands at it.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge<T> {
    /// The row.
    pub node: T,
    /// The row's position in the list.
    pub cursor: Cursor,
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The rows in the list's order.
    pub edges: Vec<Edge<T>>,
    /// What lies before and after the page.
    pub info: PageInfo,
    /// The length of the whole list. Counted only if the client selects it.
    pub total_count: Option<i32>,
}

/// A page of rows from which columns may be missing, because no field that the client selects reads them. Only the engine
/// looks at the rows, and only through those fields.
#[derive(Debug)]
pub struct PartialPage<T>(Page<T>);

/// What lies before and after a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageInfo {
    /// Whether more rows follow.
    pub has_next_page: bool,
    /// Whether the page began after a cursor.
    pub has_previous_page: bool,
    /// The first row's cursor.
    pub start_cursor: Option<Cursor>,
    /// The last row's cursor.
    pub end_cursor: Option<Cursor>,
}

/// A position in a list: the sort key of a row, then its id. Lists ordered by id alone have no sort key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// The sort key before the id.
    pub order: Option<i64>,
    /// The row's id.
    pub id: i64,
    /// The position in an order that the client chose. `order` is then `None`.
    pub chosen: Option<Arc<Chosen>>,
}

/// A position in an order that the client chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// The number of the order. Other orders refuse the cursor.
    pub order: u8,
    /// The value by which the row is ordered, if it has one.
    pub value: Option<SortValue>,
    /// The id of the row that the value belongs to, such as a service's team. 0 if the value is the listed row's own.
    pub group: i64,
}

/// A value by which rows are ordered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SortValue {
    /// A text.
    Text(String),
    /// A number.
    Number(i64),
}

/// The longest cursor, in characters: a text of 255 letters, in base 32, and some numbers.
const LONGEST_CURSOR: usize = 1_700;

/// The requested page, read from `first` and `after`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    /// The number of rows, at most [`MOST`].
    pub first: u64,
    /// The position after which the page starts.
    pub after: Option<Cursor>,
}

/// The arguments of a connection without filters.
#[derive(Debug, Clone, PartialEq)]
pub struct PageArguments {
    /// The page size.
    pub first: MaybeUndefined<i32>,
    /// The cursor after which the page starts.
    pub after: MaybeUndefined<String>,
}

impl FromFields for PageArguments {
    fn from_fields(fields: &Fields) -> Result<Self, InputError> {
        Ok(Self { first: input::optional(fields, "first")?, after: input::optional(fields, "after")? })
    }
}

impl PageArguments {
    /// Validates the arguments.
    pub fn request(&self) -> crate::error::Result<PageRequest> {
        PageRequest::new(&self.first, &self.after)
    }
}

impl PageRequest {
    /// Reads the arguments. `first` defaults to the maximum and is clamped to it. A negative `first` or an invalid
    /// cursor is a user error.
    pub fn new(first: &MaybeUndefined<i32>, after: &MaybeUndefined<String>) -> crate::error::Result<Self> {
        let first = match first.value() {
            None => MOST,
            Some(first) => {
                u64::try_from(*first).map_err(|_| UserError::new("first", "first must not be negative"))?.min(MOST)
            }
        };
        let after = match after.value().map(String::as_str) {
            None | Some("") => None,
            Some(text) => Some(Cursor::parse(text).ok_or_else(|| UserError::new("after", UNREADABLE))?),
        };
        Ok(Self { first, after })
    }

    /// Refuses a cursor of another list. `is_meant` reports whether a cursor fits this one.
    pub fn check(&self, is_meant: impl FnOnce(&Cursor) -> bool) -> Result<(), UserError> {
        match &self.after {
            Some(after) if !is_meant(after) => Err(UserError::new("after", FOREIGN)),
            _ => Ok(()),
        }
    }
}

impl<T: Composite> Object for Page<T> {
    fn resolve<'r, 'a: 'r>(call: Call<'r, 'a, Self>) -> Resolved<'r, 'a> {
        resolve(call, |page| page)
    }
}

impl<T: Composite> Object for PartialPage<T> {
    fn resolve<'r, 'a: 'r>(call: Call<'r, 'a, Self>) -> Resolved<'r, 'a> {
        resolve(call, |page| &page.0)
    }
}

/// Resolves a field of connections. `page` returns the page of one.
fn resolve<'r, 'a: 'r, C: Object, T: Composite>(
    call: Call<'r, 'a, C>,
    page: fn(&'a C) -> &'a Page<T>,
) -> Resolved<'r, 'a> {
    match call.name() {
        "nodes" => {
            let pages = call.rows.iter().map(|row| page(row)).collect();
            Resolved::Held(Box::new(Nodes { pages, nullable: call.items_are_nullable() }))
        }
        "edges" => call.held(|row| &page(row).edges),
        "pageInfo" => call.held(|row| &page(row).info),
        _ => Resolved::Now(scalars(call.rows.iter().map(|row| page(row).count()).collect())),
    }
}

impl<T: Composite> Object for Edge<T> {
    /// The cursor is the only column.
    fn write_column(&self, _: u16, out: &mut Writer<'_>) {
        put(&self.cursor, out);
    }

    /// The node is the only relation.
    fn resolve<'r, 'a: 'r>(call: Call<'r, 'a, Self>) -> Resolved<'r, 'a> {
        call.held(|edge| &edge.node)
    }
}

/// The fields of `PageInfo`, in this order in every schema.
const PAGE_INFO: &[FieldInfo] = &[
    column("hasNextPage"),
    column("hasPreviousPage"),
    column("startCursor").nullable(),
    column("endCursor").nullable(),
];

/// The description of `PageInfo`.
pub static PAGE_INFO_TABLE: ObjectInfo = ObjectInfo { name: "PageInfo", fields: PAGE_INFO };

impl Object for PageInfo {
    fn write_column(&self, field: u16, out: &mut Writer<'_>) {
        match field {
            0 => put(self.has_next_page, out),
            1 => put(self.has_previous_page, out),
            2 => put(&self.start_cursor, out),
            _ => put(&self.end_cursor, out),
        }
    }
}

/// A connection's `nodes`: the same objects as in its edges.
struct Nodes<'a, T> {
    pages: Vec<&'a Page<T>>,
    /// Whether a failed node becomes null or fails its page.
    nullable: bool,
}

impl<'a, T: Composite> List<'a> for Nodes<'a, T> {
    fn collect(&self) -> Option<Collected<'a>> {
        let mut starts = Vec::with_capacity(self.pages.len());
        let mut nodes = Vec::with_capacity(self.pages.iter().map(|page| page.edges.len()).sum());
        for page in &self.pages {
            starts.push(nodes.len());
            nodes.extend(page.edges.iter().map(|edge| &edge.node));
        }
        Some(Collected { starts, count: nodes.len(), leaves: T::leaves(nodes) })
    }

    fn write(&self, row: usize, first: usize, children: &Children<'a>, out: &mut Writer<'a>) -> Written {
        out.list(first..first + self.pages[row].edges.len(), |place, out| {
            if self.nullable {
                out.nullable(|out| children.write(place, out));
                Ok(())
            } else {
                children.write(place, out)
            }
        })
    }
}

impl<T> Page<T> {
    /// A page without rows.
    pub fn empty() -> Self {
        Self::new(Vec::new(), &PageRequest { first: 0, after: None })
    }

    /// Builds a page. The rows must have been read with one row more than requested, to
    /// detect a next page. An empty page never has a next page: with `first: 0` there is no cursor to continue from,
    /// and a client that pages until `hasNextPage` is false would loop forever. This deviates from the cursor
    /// connections specification and graphql-relay.
    pub fn new(mut edges: Vec<Edge<T>>, request: &PageRequest) -> Self {
        let first = usize::try_from(request.first).unwrap_or(usize::MAX);
        let has_next_page = edges.len() > first && first > 0;
        edges.truncate(first);
        let info = PageInfo {
            has_next_page,
            has_previous_page: request.after.is_some(),
            start_cursor: edges.first().map(|edge| edge.cursor.clone()),
            end_cursor: edges.last().map(|edge| edge.cursor.clone()),
        };
        Self { edges, info, total_count: None }
    }

    /// Converts the rows.
    pub fn map<U>(self, mut convert: impl FnMut(T) -> U) -> Page<U> {
        let Self { edges, info, total_count } = self;
        let edges = edges.into_iter().map(|Edge { node, cursor }| Edge { node: convert(node), cursor }).collect();
        Page { edges, info, total_count }
    }

    /// The length of the whole list.
    ///
    /// # Errors
    /// When the client selects the count but the resolver did not count.
    pub fn count(&self) -> crate::error::Result<i32> {
        self.total_count.ok_or_else(|| Error::internal("totalCount is selected, but the list was not counted"))
    }
}

impl<T> PartialPage<T> {
    /// Hands a page over to the engine. Its rows must have all columns that the selected fields read
    /// ([`Context::reads_of_nodes`](super::object::Context::reads_of_nodes)).
    pub fn new(page: Page<T>) -> Self {
        Self(page)
    }
}

impl Cursor {
    /// A position in a list ordered by id.
    pub fn id(id: i64) -> Self {
        Self { order: None, id, chosen: None }
    }

    /// A position in a list ordered by a number and then by id.
    pub fn ordered(order: i64, id: i64) -> Self {
        Self { order: Some(order), ..Self::id(id) }
    }

    /// Whether it is a position in a list ordered by id.
    pub fn is_id(&self) -> bool {
        self.order.is_none() && self.chosen.is_none()
    }

    /// Parses a cursor.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > LONGEST_CURSOR {
            return None;
        }
        let bytes = BASE32_NOPAD.decode(text.to_ascii_uppercase().as_bytes()).ok()?;
        let number = |bytes: &[u8]| bytes.try_into().ok().map(i64::from_be_bytes);
        match bytes.split_first()? {
            (b'i', id) => Some(Self::id(number(id)?)),
            (b'o', key) if key.len() == 16 => Some(Self::ordered(number(&key[..8])?, number(&key[8..])?)),
            (b's', key) => {
                let (order, key) = key.split_first()?;
                let (group, key) = key.split_at_checked(8)?;
                let (id, key) = key.split_at_checked(8)?;
                let value = match key.split_first()? {
                    (b'0', []) => None,
                    (b'n', value) => Some(SortValue::Number(number(value)?)),
                    (b't', value) => Some(SortValue::Text(str::from_utf8(value).ok()?.to_owned())),
                    _ => return None,
                };
                let chosen = Chosen { order: *order, value, group: number(group)? };
                Some(Self { chosen: Some(Arc::new(chosen)), ..Self::id(number(id)?) })
            }
            _ => None,
        }
    }

    /// Appends the cursor as clients see it: letters and digits only, because clients match `\w+`.
    fn append_to(&self, text: &mut Vec<u8>) {
        let mut key = [0; 17];
        key[9..].copy_from_slice(&self.id.to_be_bytes());
        let long;
        let key = match (self.order, &self.chosen) {
            (_, Some(chosen)) => {
                long = chosen.key(self.id);
                &*long
            }
            (None, _) => {
                key[8] = b'i';
                &key[8..]
            }
            (Some(order), _) => {
                key[0] = b'o';
                key[1..9].copy_from_slice(&order.to_be_bytes());
                &key
            }
        };
        let start = text.len();
        text.resize(start + BASE32_NOPAD.encode_len(key.len()), 0);
        BASE32_NOPAD.encode_mut(key, &mut text[start..]);
    }
}

impl Chosen {
    fn key(&self, id: i64) -> Vec<u8> {
        let mut key = vec![b's', self.order];
        key.extend(self.group.to_be_bytes());
        key.extend(id.to_be_bytes());
        match &self.value {
            None => key.push(b'0'),
            Some(SortValue::Number(number)) => {
                key.push(b'n');
                key.extend(number.to_be_bytes());
            }
            Some(SortValue::Text(text)) => {
                key.push(b't');
                key.extend(text.as_bytes());
            }
        }
        key
    }
}

impl Scalar for Cursor {
    fn write(&self, out: &mut Writer<'_>) {
        out.raw("\"");
        self.append_to(&mut out.text);
        out.raw("\"");
    }
}

/// The cursor as clients see it.
impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        self.append_to(&mut text);
        text.iter().try_for_each(|letter| f.write_char(char::from(*letter)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_has_a_next_one_has_a_cursor_to_get_it_by() {
        for (length, first, after) in
            (0..6).flat_map(|length| (0..6).flat_map(move |first| [None, Some(0)].map(|after| (length, first, after))))
        {
            // Read one row more than requested.
            let edges = (1..=length).take(first + 1).map(|id| Edge { node: (), cursor: Cursor::id(id) });
            let page = Page::new(edges.collect(), &PageRequest { first: first as u64, after: after.map(Cursor::id) });
            let more = first > 0 && length > first as i64;
            assert_eq!(page.info.has_next_page, more, "{first} of {length}");
            assert!(!more || page.info.end_cursor.is_some(), "{first} of {length}");
        }
    }

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let chosen =
            |value, group| Cursor { chosen: Some(Arc::new(Chosen { order: 3, value, group })), ..Cursor::id(7) };
        for cursor in [
            Cursor::id(i64::MIN),
            Cursor::ordered(-1, 5),
            chosen(None, 0),
            chosen(Some(SortValue::Number(-4)), 9),
            chosen(Some(SortValue::Text(String::new())), 0),
            chosen(Some(SortValue::Text("\u{10FFFF}".repeat(255))), i64::MAX),
        ] {
            let text = cursor.to_string();
            assert!(text.len() <= LONGEST_CURSOR, "{}", text.len());
            assert_eq!(Cursor::parse(&text), Some(cursor.clone()), "{text}");
            assert_eq!(Cursor::parse(&text[..text.len() - 8]), None, "{text}");
        }
        assert_eq!(Cursor::parse(&"A".repeat(LONGEST_CURSOR + 1)), None);
    }
}
