//! What generated code calls, in one place: generated code names nothing else of the engine.

pub use super::execute::{Answer, Answers};
pub use super::input::{
    Boxed, Fields, FromFields, Input, InputArgument, InputError, MaybeUndefined, Name, ScalarCheck, Texts, Value,
    check, defaulted, exactly_one, float, object, optional, required,
};
pub use super::introspection;
pub use super::object::{Call, Composite, Context, Leaves, Object, Parted, Resolved, objects};
pub use super::page::{Edge, PAGE_INFO_TABLE, Page, PageArguments, PageInfo, PartialPage};
pub use super::shape::{answer, answers, scalar, scalars};
pub use super::state::State;
pub use super::tables::{ObjectInfo, column, held, relation};
pub use super::write::{Scalar, Writer, put};
pub use crate::{
    __bare_mutation as bare_mutation, __mutation as mutation, __query as query, __resolve as resolve, __word as word,
};

/// Resolves a relation by a method of the type's resolver.
#[doc(hidden)]
#[macro_export]
macro_rules! __resolve {
    ($call:ident, $answers:ident, $resolver:ident::$method:ident $(, $arguments:ident)?) => {
        $call.later(move || async move {
            let answers = <Self as $resolver>::$method($call.rows, $($call.$arguments(),)? &$call.context()).await;
            $crate::generated::$answers(answers)
        })
    };
}

/// The function that resolves a field of the queries.
#[doc(hidden)]
#[macro_export]
macro_rules! __query {
    ($function:ident, $answer:ident, $resolver:ident::$method:ident $($arguments:tt)*) => {
        fn $function<'r, 'a: 'r>(call: $crate::generated::Call<'r, 'a, Self>) -> $crate::generated::Resolved<'r, 'a> {
            call.later(move || $crate::__root!(call, $answer, $resolver::$method $($arguments)*))
        }
    };
}

/// The function that resolves a mutation with a payload, of this type.
#[doc(hidden)]
#[macro_export]
macro_rules! __mutation {
    ($function:ident, $($payload:ident)::+, $resolver:ident::$method:ident $($arguments:tt)*) => {
        fn $function<'r, 'a: 'r>(call: $crate::generated::Call<'r, 'a, Self>) -> $crate::generated::Resolved<'r, 'a> {
            call.mutation(
                |call| Box::pin($crate::__root!(call, answer, $resolver::$method $($arguments)*)),
                |errors| $($payload)::+ { errors, ..Default::default() },
            )
        }
    };
}

/// The function that resolves a mutation without a payload.
#[doc(hidden)]
#[macro_export]
macro_rules! __bare_mutation {
    ($function:ident, $answer:ident, $resolver:ident::$method:ident $($arguments:tt)*) => {
        fn $function<'r, 'a: 'r>(call: $crate::generated::Call<'r, 'a, Self>) -> $crate::generated::Resolved<'r, 'a> {
            call.bare_mutation(|call| Box::pin($crate::__root!(call, $answer, $resolver::$method $($arguments)*)))
        }
    };
}

/// The future of a root field: its resolver, with the arguments that it takes.
#[doc(hidden)]
#[macro_export]
macro_rules! __root {
    ($call:ident, $answer:ident, $resolver:ident::$method:ident) => {
        async move { $crate::generated::$answer(<Self as $resolver>::$method(&$call.context()).await) }
    };
    ($call:ident, $answer:ident, $resolver:ident::$method:ident, input) => {
        async move { $crate::generated::$answer(<Self as $resolver>::$method(&$call.context(), $call.input()).await) }
    };
    ($call:ident, $answer:ident, $resolver:ident::$method:ident, $arguments:path { $($argument:ident),* }) => {
        async move {
            let arguments = $call.arguments::<$arguments>();
            let answer = <Self as $resolver>::$method(&$call.context(), $(arguments.$argument.clone()),*).await;
            $crate::generated::$answer(answer)
        }
    };
}

/// Reads and writes an enum by its names in the SDL.
#[doc(hidden)]
#[macro_export]
macro_rules! __word {
    ($type:ident, $name:literal) => {
        impl $crate::generated::Scalar for $type {
            fn write(&self, out: &mut $crate::generated::Writer<'_>) {
                out.string(self.as_str());
            }
        }

        impl $crate::generated::Input for $type {
            fn read(value: &$crate::generated::Value) -> Result<Self, $crate::generated::InputError> {
                $crate::input::enum_value(value, Self::from_word, $name)
            }
        }
    };
}
