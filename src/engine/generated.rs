//! What generated code calls, in one place: generated code names nothing else of the engine.

pub use super::execute::{Answer, Answers, hold, level, objects, payload, resolved, scalars};
pub use super::input::{
    Boxed, Fields, FromFields, Input, InputArgument, InputError, MaybeUndefined, Name, ScalarCheck, Texts, Value,
    check, defaulted, exactly_one, float, no_such_word, object, optional, required, word,
};
pub use super::introspection;
pub use super::object::{BoxFuture, Children, Composite, Context, Execution, Node, Object, Slot, State, boxed};
pub use super::page::{Edge, Page, PageArguments, PageInfo, nodes};
pub use super::plan::{FieldPlan, ObjectPlan};
pub use super::tables::{ObjectInfo, column, held, relation};
pub use super::write::{Scalar, Writer, put};
