//! What generated code calls, in one place: generated code names nothing else of the engine.

pub use super::execute::{Answer, Answers};
pub use super::input::{
    Boxed, Fields, FromFields, Input, InputArgument, InputError, MaybeUndefined, Name, ScalarCheck, Texts, Value,
    check, defaulted, exactly_one, float, no_such_word, object, optional, required, word,
};
pub use super::introspection;
pub use super::object::{Call, Composite, Context, Leaves, Object, Resolved, objects};
pub use super::page::{Edge, PAGE_INFO_TABLE, Page, PageArguments, PageInfo};
pub use super::shape::{answer, answers, scalar, scalars};
pub use super::state::State;
pub use super::tables::{ObjectInfo, column, held, relation};
pub use super::write::{Scalar, Writer, put};
