//! The shapes of results: an object, an optional object, or lists of them, nested to any depth. Writes them once
//! everything below is resolved. `Option` is where null propagation stops.
//!
//! Here the types of answers end: what the engine holds afterwards is a [`List`].

use super::input::Boxed;
use super::object::{
    Answered, Call, Children, Collected, Composite, List, Mutation, Resolved, Resolver, Values, Written,
};
use super::write::{Scalar, Writer};
use crate::error::{Result, UserError};

/// A value that contains composites: one, an optional one, or nested lists of them. The composites are its leaves.
pub trait AnswerShape: Send + Sync + 'static {
    /// The type of the leaves.
    type Node: Composite;

    /// Appends the leaves in order.
    fn collect<'a>(&'a self, nodes: &mut Vec<&'a Self::Node>);
    /// Writes the value. `next` is the index of its first leaf among all collected leaves, and is advanced.
    fn write<'a>(&self, next: &mut usize, children: &Children<'a>, out: &mut Writer<'a>) -> Written;
    /// The number of leaves.
    fn count(&self) -> usize;
}

impl<T: Composite> AnswerShape for T {
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

impl<T: AnswerShape> AnswerShape for Option<T> {
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
        self.as_ref().map_or(0, AnswerShape::count)
    }
}

impl<T: AnswerShape> AnswerShape for Vec<T> {
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
        self.iter().map(AnswerShape::count).sum()
    }
}

impl<T: AnswerShape> AnswerShape for Boxed<T> {
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

/// The answers of a resolver: objects for each parent.
pub fn answers<V: AnswerShape>(answers: Result<Vec<V>>) -> Result<Answered> {
    answers.map(|values| Box::new(Shapes(values)) as Answered)
}

/// The answer of a resolver without parents.
pub fn answer<V: AnswerShape>(answer: Result<V>) -> Result<Answered> {
    answer.map(|value| Box::new(Shapes(vec![value])) as Answered)
}

/// The answers of a resolver: scalars or enums for each parent.
pub fn scalars<V: Scalar + 'static>(answers: Result<Vec<V>>) -> Result<Answered> {
    answers.map(|values| Box::new(Scalars(values)) as Answered)
}

/// The answer of a resolver without parents: a scalar or an enum.
pub fn scalar<V: Scalar + 'static>(answer: Result<V>) -> Result<Answered> {
    scalars(answer.map(|value| vec![value]))
}

impl<'r, 'a, T> Call<'r, 'a, T> {
    /// Objects that the parents already hold: `field` of each of them.
    pub fn held<V: AnswerShape>(self, field: impl Fn(&'a T) -> &'a V) -> Resolved<'r, 'a> {
        Resolved::Held(Box::new(Held(self.rows.iter().map(|row| field(row)).collect())))
    }

    /// A mutation with a payload. `refused` makes the payload of errors that the caller can fix. Other errors become
    /// top-level errors.
    pub fn mutation<P: AnswerShape, E: From<UserError> + 'static>(
        self,
        resolver: Resolver,
        refused: fn(Vec<E>) -> P,
    ) -> Resolved<'r, 'a> {
        let refused = move |errors: Vec<UserError>| {
            Box::new(Shapes(vec![refused(errors.into_iter().map(E::from).collect())])) as Answered
        };
        Resolved::Mutation(Mutation { resolver, refused: Some(Box::new(refused)) })
    }

    /// A mutation without a payload: all its errors are top-level errors.
    pub fn bare_mutation(self, resolver: Resolver) -> Resolved<'r, 'a> {
        Resolved::Mutation(Mutation { resolver, refused: None })
    }
}

/// Answers with objects.
struct Shapes<V>(Vec<V>);

impl<V: AnswerShape> Values for Shapes<V> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn list<'a>(&'a self) -> Box<dyn List<'a> + 'a> {
        Box::new(Held(self.0.iter().collect()))
    }
}

/// Values with objects, which are kept elsewhere.
struct Held<'a, V>(Vec<&'a V>);

impl<'a, V: AnswerShape> List<'a> for Held<'a, V> {
    fn collect(&self) -> Option<Collected<'a>> {
        let mut nodes = Vec::with_capacity(self.0.len());
        let mut starts = Vec::with_capacity(self.0.len());
        for value in &self.0 {
            starts.push(nodes.len());
            value.collect(&mut nodes);
        }
        Some(Collected { starts, count: nodes.len(), leaves: V::Node::leaves(nodes) })
    }

    fn write(&self, row: usize, mut first: usize, children: &Children<'a>, out: &mut Writer<'a>) -> Written {
        self.0[row].write(&mut first, children, out)
    }
}

/// Answers with scalars.
struct Scalars<V>(Vec<V>);

impl<V: Scalar + 'static> Values for Scalars<V> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn list<'a>(&'a self) -> Box<dyn List<'a> + 'a> {
        Box::new(ScalarList(&self.0))
    }
}

struct ScalarList<'a, V>(&'a [V]);

impl<'a, V: Scalar> List<'a> for ScalarList<'a, V> {
    fn collect(&self) -> Option<Collected<'a>> {
        None
    }

    fn write(&self, row: usize, _: usize, _: &Children<'a>, out: &mut Writer<'a>) -> Written {
        self.0[row].write(out);
        Ok(())
    }
}
