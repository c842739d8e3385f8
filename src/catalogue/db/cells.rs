//! Deserialises rows with serde: the fields of a struct are the columns, by position.

use std::fmt;

use rusqlite::types::ValueRef;
use serde::de::value::{SeqDeserializer, StrDeserializer};
use serde::de::{self, DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::Error;
use super::row::Row;

/// Reads the first columns into a struct. A field whose bit is set in `absent` has no column, and reads as null.
pub(super) fn read<'de, T>(row: &Row<'de>, absent: u64) -> Result<T, Error>
where
    T: de::Deserialize<'de>,
{
    T::deserialize(Cells { row, next: 0, absent }).map_err(|Unreadable(why)| Error::fault(why))
}

/// Why a row could not be deserialised.
#[derive(Debug)]
struct Unreadable(Box<str>);

/// The columns of a row, starting at `next`. Bit 0 of `absent` says whether the next field has no column.
struct Cells<'de, 'r> {
    row: &'r Row<'de>,
    next: usize,
    absent: u64,
}

/// One column.
struct Cell<'de>(ValueRef<'de>);

impl<'de> Deserializer<'de> for Cells<'de, '_> {
    type Error = Unreadable;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_seq(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> SeqAccess<'de> for Cells<'de, '_> {
    type Error = Unreadable;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Unreadable> {
        let is_absent = self.absent & 1 != 0;
        self.absent >>= 1;
        if is_absent {
            return seed.deserialize(Cell(ValueRef::Null)).map(Some);
        }
        let cell = self.row.cell(self.next).map_err(de::Error::custom)?;
        self.next += 1;
        seed.deserialize(Cell(cell)).map(Some)
    }
}

impl<'de> Deserializer<'de> for Cell<'de> {
    type Error = Unreadable;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.0 {
            ValueRef::Null => visitor.visit_unit(),
            ValueRef::Integer(number) => visitor.visit_i64(number),
            ValueRef::Real(number) => visitor.visit_f64(number),
            ValueRef::Text(text) => visitor.visit_str(str::from_utf8(text).map_err(de::Error::custom)?),
            ValueRef::Blob(bytes) => visitor.visit_bytes(bytes),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.0 {
            ValueRef::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &str, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.0 {
            ValueRef::Integer(number) => visitor.visit_bool(number != 0),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(self, _: &str, _: &[&str], visitor: V) -> Result<V::Value, Unreadable> {
        let word = self.0.as_str().map_err(de::Error::custom)?;
        visitor.visit_enum(StrDeserializer::new(word))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.0 {
            ValueRef::Blob(bytes) => visitor.visit_seq(SeqDeserializer::new(bytes.iter().copied())),
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct tuple
        tuple_struct map struct identifier ignored_any
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

impl de::Error for Unreadable {
    #[cold]
    fn custom<T: fmt::Display>(why: T) -> Self {
        Self(why.to_string().into())
    }
}
