//! The shapes of answers: one object, perhaps none, lists of them in any nesting; and how each is written, once all
//! that is selected below is resolved. `Option` is where a null stops.

use std::marker::PhantomData;

use super::input::Boxed;
use super::object::{Children, Composite, Rows, State, Written};
use super::write::{Scalar, Writer};

/// A value that holds composites: one, perhaps none, a list of them, in any nesting.
pub trait AnswerShape<S: State>: Send + Sync + 'static {
    /// What stands at the ends.
    type Node: Composite<S>;

    /// Appends the ends in order.
    fn collect<'a>(&'a self, nodes: &mut Vec<&'a Self::Node>);
    /// Writes the value; `next` is the place of its first end among all that were collected.
    fn write<'a>(&self, next: &mut usize, children: &Children<'a>, out: &mut Writer<'a>) -> Written;
    /// The number of ends.
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
    /// Where each value's ends begin among the children.
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
