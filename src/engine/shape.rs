//! The shapes of results: an object, an optional object, or lists of them, nested to any depth. Writes them once
//! everything below is resolved. `Option` is where null propagation stops.

use std::marker::PhantomData;

use super::input::Boxed;
use super::object::{Children, Composite, Rows, State, Written};
use super::write::{Scalar, Writer};

/// A value that contains composites: one, an optional one, or nested lists of them. The composites are its leaves.
pub trait AnswerShape<S: State>: Send + Sync + 'static {
    /// The type of the leaves.
    type Node: Composite<S>;

    /// Appends the leaves in order.
    fn collect<'a>(&'a self, nodes: &mut Vec<&'a Self::Node>);
    /// Writes the value. `next` is the index of its first leaf among all collected leaves, and is advanced.
    fn write<'a>(&self, next: &mut usize, children: &Children<'a>, out: &mut Writer<'a>) -> Written;
    /// The number of leaves.
    fn count(&self) -> usize;
}

impl<S: State, T: Composite<S>> AnswerShape<S> for T {
    type Node = T;

    #[inline]
    fn collect<'a>(&'a self, nodes: &mut Vec<&'a T>) {
        nodes.push(self);
    }

    #[inline]
    fn write<'a>(&self, next: &mut usize, children: &Children<'a>, out: &mut Writer<'a>) -> Written {
        let place = *next;
        *next += 1;
        children.write(place, out)
    }

    fn count(&self) -> usize {
        1
    }
}

impl<S: State, T: AnswerShape<S>> AnswerShape<S> for Option<T> {
    type Node = T::Node;

    fn collect<'a>(&'a self, nodes: &mut Vec<&'a T::Node>) {
        if let Some(value) = self {
            value.collect(nodes);
        }
    }

    fn write<'a>(&self, next: &mut usize, children: &Children<'a>, out: &mut Writer<'a>) -> Written {
        match self {
            None => out.null(),
            Some(value) => {
                let first = *next;
                out.nullable(|out| value.write(next, children, out));
                *next = first + value.count();
            }
        }
        Ok(())
    }

    fn count(&self) -> usize {
        self.as_ref().map_or(0, AnswerShape::<S>::count)
    }
}

impl<S: State, T: AnswerShape<S>> AnswerShape<S> for Vec<T> {
    type Node = T::Node;

    fn collect<'a>(&'a self, nodes: &mut Vec<&'a T::Node>) {
        nodes.reserve(self.len());
        for value in self {
            value.collect(nodes);
        }
    }

    fn write<'a>(&self, next: &mut usize, children: &Children<'a>, out: &mut Writer<'a>) -> Written {
        out.list(self, |value, out| value.write(next, children, out))
    }

    fn count(&self) -> usize {
        self.iter().map(AnswerShape::<S>::count).sum()
    }
}

impl<S: State, T: AnswerShape<S>> AnswerShape<S> for Boxed<T> {
    type Node = T::Node;

    fn collect<'a>(&'a self, nodes: &mut Vec<&'a T::Node>) {
        self.0.collect(nodes);
    }

    fn write<'a>(&self, next: &mut usize, children: &Children<'a>, out: &mut Writer<'a>) -> Written {
        self.0.write(next, children, out)
    }

    fn count(&self) -> usize {
        self.0.count()
    }
}

pub(super) struct ScalarRows<'a, T>(pub(super) Vec<&'a T>);

impl<'a, T: Scalar> Rows<'a> for ScalarRows<'a, T> {
    fn write(&self, row: usize, out: &mut Writer<'a>) -> Written {
        self.0[row].write(out);
        Ok(())
    }
}

pub(super) struct ShapeRows<'a, S, V> {
    pub(super) values: Vec<&'a V>,
    /// The index of each value's first leaf among the children.
    pub(super) starts: Vec<usize>,
    pub(super) children: Children<'a>,
    pub(super) state: PhantomData<fn(S)>,
}

impl<'a, S: State, V: AnswerShape<S>> Rows<'a> for ShapeRows<'a, S, V> {
    fn write(&self, row: usize, out: &mut Writer<'a>) -> Written {
        let mut next = self.starts[row];
        self.values[row].write(&mut next, &self.children, out)
    }
}
