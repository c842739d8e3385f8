//! What generated code calls, in one place: generated code names nothing else of the engine.

pub use super::execute::{Answer, Answers};
pub use super::input::{
    Boxed, Fields, FromFields, Input, InputArgument, InputError, MaybeUndefined, Name, ScalarCheck, Texts, Value,
    check, defaulted, exactly_one, float, object, optional, required, texts,
};
pub use super::introspection;
pub use super::object::{Call, Composite, Context, Leaves, Object, Parted, Resolved, objects};
pub use super::page::{Edge, PAGE_INFO_TABLE, Page, PageArguments, PageInfo, PartialPage};
pub use super::selected::Keys;
pub use super::shape::{answer, answers, scalar, scalars};
pub use super::state::State;
pub use super::tables::{ObjectInfo, column, held, relation};
pub use super::write::{Scalar, Writer, put};
pub use crate::{
    __bare_mutation as bare_mutation, __bound as bound, __cases as cases, __from_fields as from_fields,
    __mutation as mutation, __plain as plain, __possible as possible, __query as query, __root as root, __row as row,
    __selected as selected, __spelled as spelled, __table as table, __words as words,
};

/// The description of an object type, and then those of its fields that other types do not have.
#[doc(hidden)]
#[macro_export]
macro_rules! __table {
    ($type:ident, $name:literal, [$($kind:ident($($given:tt)*) $(.$with:ident $(::<$argument:ty>)? ($($value:tt)*))*),*]
        $(, $more:path)*) => {
        pub static $type: $crate::generated::ObjectInfo = $crate::generated::ObjectInfo {
            name: $name,
            fields: &[
                $($crate::generated::$kind($($given)*) $(.$with $(::<$argument>)? ($($value)*))*,)*
                $($more,)*
            ],
        };
    };
}

/// Reads a struct of arguments or of an input object: each field by one of the functions of `input`.
#[doc(hidden)]
#[macro_export]
macro_rules! __from_fields {
    ($type:ident { $($field:ident: $read:ident($($given:tt)*)),* } $(, $check:ident)?) => {
        impl $crate::generated::FromFields for $type {
            fn from_fields(fields: &$crate::generated::Fields) -> Result<Self, $crate::generated::InputError> {
                $($crate::generated::$check(fields)?;)?
                Ok(Self { $($field: $crate::generated::$read(fields, $($given)*)?),* })
            }
        }
    };
}

/// The row of a table, as a row of itself: resolvers get a part of it by the same method.
#[doc(hidden)]
#[macro_export]
macro_rules! __row {
    ($type:ty) => {
        impl AsRef<$type> for $type {
            fn as_ref(&self) -> &Self {
                self
            }
        }
    };
}

/// The executor's access to a bound type: its columns and relations by the indexes of the fields, with the methods of its
/// resolver.
#[doc(hidden)]
#[macro_export]
macro_rules! __bound {
    ($type:ty
        $(, columns { $($column:literal: $of:ident::$method:ident),* })?
        $(, relations { $($relation:literal: $how:ident($($what:tt)*)),* })?
    ) => {
        impl $crate::generated::Object for $type {
            $(fn write_column(&self, field: u16, out: &mut $crate::generated::Writer<'_>) {
                match field {
                    $($column => $crate::generated::put(<Self as $of>::$method(self), out),)*
                    _ => out.null(),
                }
            })?

            $(fn resolve<'r, 'a: 'r>(
                call: $crate::generated::Call<'r, 'a, Self>,
            ) -> $crate::generated::Resolved<'r, 'a> {
                match call.index() {
                    $($relation => $crate::__resolve!(call, $how, $($what)*),)*
                    _ => call.unresolved(),
                }
            })?
        }
    };
}

/// The executor's access to a struct: its columns, and the fields that hold objects.
#[doc(hidden)]
#[macro_export]
macro_rules! __plain {
    ($type:ty
        $(, columns { $($column:literal: $own:ident),* })?
        $(, held { $($place:literal: $field:ident),* })?
    ) => {
        impl $crate::generated::Object for $type {
            $(fn write_column(&self, field: u16, out: &mut $crate::generated::Writer<'_>) {
                match field {
                    $($column => $crate::generated::put(&self.$own, out),)*
                    _ => out.null(),
                }
            })?

            $(fn resolve<'r, 'a: 'r>(
                call: $crate::generated::Call<'r, 'a, Self>,
            ) -> $crate::generated::Resolved<'r, 'a> {
                match call.index() {
                    $($place => $crate::__resolve!(call, held, $field),)*
                    _ => call.unresolved(),
                }
            })?
        }
    };
}

/// Resolves a relation: by what the parents hold, or by a method of the type's resolver.
#[doc(hidden)]
#[macro_export]
macro_rules! __resolve {
    ($call:ident, held, $field:ident) => {
        $call.held(|row| &row.$field)
    };
    ($call:ident, $answers:ident, $resolver:ident::$method:ident $(, $arguments:ident)?) => {
        $call.later(move || async move {
            let answers = <Self as $resolver>::$method($call.rows, $($call.$arguments(),)? &$call.context()).await;
            $crate::generated::$answers(answers)
        })
    };
}

/// The object types of an interface or union: makes the value of each, and sorts values by their types.
#[doc(hidden)]
#[macro_export]
macro_rules! __possible {
    ($type:ident { $($place:literal: $variant:ident($object:ty) $rows:ident),+ }) => {
        $(impl From<$object> for $type {
            fn from(object: $object) -> Self {
                Self::$variant(object)
            }
        })+

        impl $crate::generated::Composite for $type {
            fn leaves<'a>(nodes: Vec<&'a Self>) -> $crate::generated::Leaves<'a> {
                let mut places = Vec::with_capacity(nodes.len());
                $(let mut $rows = Vec::new();)+
                for node in nodes {
                    match node {
                        $(Self::$variant(object) => {
                            places.push(($place, $rows.len() as u32));
                            $rows.push(object);
                        })+
                    }
                }
                $crate::generated::Leaves::of_several(vec![$($crate::generated::objects($rows)),+], places)
            }
        }
    };
    ($type:ident {}) => {
        impl $crate::generated::Composite for $type {
            fn leaves<'a>(_: Vec<&'a Self>) -> $crate::generated::Leaves<'a> {
                $crate::generated::Leaves::of_several(vec![], vec![])
            }
        }
    };
}

/// The executor's access to a root: the functions that resolve its fields, by their indexes.
#[doc(hidden)]
#[macro_export]
macro_rules! __root {
    ($type:ident { $($place:literal: $function:path),* }) => {
        impl $crate::generated::Object for $type {
            fn resolve<'r, 'a: 'r>(
                call: $crate::generated::Call<'r, 'a, Self>,
            ) -> $crate::generated::Resolved<'r, 'a> {
                match call.index() {
                    $($place => $function(call),)*
                    _ => call.unresolved(),
                }
            }
        }
    };
}

/// The function that resolves a field of the queries.
#[doc(hidden)]
#[macro_export]
macro_rules! __query {
    ($function:ident, $answer:ident, $resolver:ident::$method:ident $($arguments:tt)*) => {
        fn $function<'r, 'a: 'r>(call: $crate::generated::Call<'r, 'a, Self>) -> $crate::generated::Resolved<'r, 'a> {
            call.later(move || $crate::__answer!(call, $answer, $resolver::$method $($arguments)*))
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
                |call| Box::pin($crate::__answer!(call, answer, $resolver::$method $($arguments)*)),
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
            call.bare_mutation(|call| Box::pin($crate::__answer!(call, $answer, $resolver::$method $($arguments)*)))
        }
    };
}

/// The future of a root field: its resolver, with the arguments that it takes.
#[doc(hidden)]
#[macro_export]
macro_rules! __answer {
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
macro_rules! __words {
    ($type:ident, $name:literal, { $($variant:ident: $word:literal),* }) => {
        impl $type {
            /// The name of the value in the SDL.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// The value with this name in the SDL.
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

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

/// An enum in the operations of the program itself: written and read by its names in the SDL.
#[doc(hidden)]
#[macro_export]
macro_rules! __spelled {
    ($type:ident { $($variant:ident: $word:literal),* }) => {
        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(match self {
                    $(Self::$variant => $word,)*
                })
            }
        }

        impl ::std::str::FromStr for $type {
            type Err = ();

            fn from_str(word: &str) -> Result<Self, ()> {
                match word {
                    $($word => Ok(Self::$variant),)*
                    _ => Err(()),
                }
            }
        }

        impl ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<__D: ::serde::Deserializer<'de>>(deserializer: __D) -> Result<Self, __D::Error> {
                struct __Word;

                impl ::serde::de::Visitor<'_> for __Word {
                    type Value = $type;

                    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                        f.write_str(concat!("a value of ", stringify!($type)))
                    }

                    fn visit_str<__E: ::serde::de::Error>(self, word: &str) -> Result<$type, __E> {
                        word.parse().map_err(|()| __E::invalid_value(::serde::de::Unexpected::Str(word), &self))
                    }
                }

                deserializer.deserialize_str(__Word)
            }
        }
    };
}

/// The answer to a selection of fields. Each has its place, whether it may be null or absent, and its key, if that is not
/// its name.
///
/// Unlike a derived implementation, this reads objects alone, and the struct's own part of it is small.
#[doc(hidden)]
#[macro_export]
macro_rules! __selected {
    ($type:ident { $($place:literal $field:ident $null:tt $($key:literal)?),* }) => {
        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<__D: ::serde::Deserializer<'de>>(deserializer: __D) -> Result<Self, __D::Error> {
                struct __Fields;

                impl<'de> ::serde::de::Visitor<'de> for __Fields {
                    type Value = $type;

                    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                        f.write_str(concat!("struct ", stringify!($type)))
                    }

                    fn visit_map<__A: ::serde::de::MapAccess<'de>>(self, mut all: __A) -> Result<$type, __A::Error> {
                        $(let mut $field = None;)*
                        let mut keys = $crate::generated::Keys::new(&[$($crate::__key!($field $($key)?)),*]);
                        while let Some(place) = all.next_key_seed(&mut keys)? {
                            match place {
                                $($place => $field = Some(all.next_value()?),)*
                                _ => drop(all.next_value::<::serde::de::IgnoredAny>()?),
                            }
                        }
                        Ok($type { $($field: $crate::__taken!($field $null $($key)?)),* })
                    }
                }

                deserializer.deserialize_map(__Fields)
            }
        }
    };
}

/// The key of a field.
#[doc(hidden)]
#[macro_export]
macro_rules! __key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

/// What was read of a field.
#[doc(hidden)]
#[macro_export]
macro_rules! __taken {
    ($field:ident ? $($key:literal)?) => {
        $field.unwrap_or_default()
    };
    ($field:ident ! $($key:literal)?) => {
        match $field {
            Some(value) => value,
            None => return Err(::serde::de::Error::missing_field($crate::__key!($field $($key)?))),
        }
    };
}

/// The answer to a selection on an interface or union: a case for each object type, by the name of the type in it.
#[doc(hidden)]
#[macro_export]
macro_rules! __cases {
    ($type:ident { $($object:literal: $variant:ident $(($held:ident))?),* } $(, $other:ident $(($rest:ident))?)?) => {
        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let all = <::serde_json::Value as ::serde::Deserialize>::deserialize(deserializer)?;
                let read = match all.get("__typename").and_then(::serde_json::Value::as_str) {
                    $(Some($object) => $crate::__case!(all, $variant $(, $held)?),)*
                    $(_ => $crate::__case!(all, $other $(, $rest)?),)?
                    #[allow(unreachable_patterns)]
                    _ => Err(<::serde_json::Error as ::serde::de::Error>::custom("unknown __typename")),
                };
                read.map_err(::serde::de::Error::custom)
            }
        }
    };
}

/// One case: nothing but the name of its type, or what is read from the whole object.
#[doc(hidden)]
#[macro_export]
macro_rules! __case {
    ($all:ident, $variant:ident) => {
        Ok::<Self, ::serde_json::Error>(Self::$variant)
    };
    ($all:ident, $variant:ident, $held:ident) => {
        ::serde::Deserialize::deserialize(&$all).map(Self::$variant)
    };
}
