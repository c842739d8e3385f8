//! The cache keys of the statements of lists. A list is made of its key again, and the statement of that list, so a text
//! depends on nothing that the key does not hold.

use std::fmt::Debug;
use std::marker::PhantomData;

use super::left_out::LeftOut;
use super::{First, Join, List, Named, Parents};
use crate::db::{Build, Shape, Table};

/// In the place of a column that a list does not have.
const NONE: Named = ("", "");

impl<E: Table> List<E> {
    /// The cache key of a statement's text, which `build` builds. `None` if the list has conditions, which the key does not
    /// cover.
    pub(super) fn shape(&self, build: Build, is_behind: bool) -> Option<Shape> {
        if !self.filters.is_empty() || !self.ids.is_empty() || self.among.is_some() {
            return None;
        }
        let (parent, join) = match &self.parents {
            Some(parents) => (parents.column, parents.join),
            None => (NONE, None),
        };
        let (own, other) = join.map_or(((E::default().table_name(), ""), NONE), |join| (join.own, join.other));
        let [one, two] = self.first.map_or([NONE; 2], |first| first.0);
        let columns = [parent, self.key, self.order.unwrap_or(NONE), own, other, one, two];
        let flags = [self.descending, is_behind, join.is_some_and(|join| join.links)];
        let flags = flags.iter().fold(self.left_out.bits(), |flags, flag| flags << 1 | u8::from(*flag));
        let shape = Shape { build, columns, flags, tail: "" };
        debug_assert_eq!(Self::of_shape(&shape).0.form(), self.form(), "{shape:?} lacks something of its list");
        Some(shape)
    }

    /// The list with this cache key, and whether its pages begin at a cursor. Its parents have no ids.
    pub(super) fn of_shape(shape: &Shape) -> (Self, bool) {
        let [parent, key, order, own, other, one, two] = shape.columns;
        let has = |place: u8| shape.flags & 1 << place != 0;
        let given = |column: Named| Some(column).filter(|column| *column != NONE);
        let join = given(other).map(|other| Join { own, other, links: has(0) });
        let list = Self {
            key,
            order: given(order),
            descending: has(2),
            parents: given(parent).map(|column| Parents { column, ids: Vec::new(), join }),
            among: None,
            first: given(one).map(|one| First([one, two])),
            ids: Vec::new(),
            filters: Vec::new(),
            left_out: LeftOut::of_bits::<E>(shape.flags >> 3),
            entity: PhantomData,
        };
        (list, has(1))
    }

    /// All that the text of a statement depends on, if nothing narrows the list.
    fn form(&self) -> impl PartialEq + Debug + use<E> {
        let join = |join: Join| (join.own, join.other, join.links);
        let parents = self.parents.as_ref().map(|parents| (parents.column, parents.join.map(join)));
        (self.key, self.order, self.descending, parents, self.first.map(|first| first.0), self.left_out)
    }
}
