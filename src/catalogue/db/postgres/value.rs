//! Values in PostgreSQL's binary format: the parameters of statements, and the columns of rows.
//!
//! Columns become values of rusqlite, so that the rows of both databases are read in one way ([`crate::db::cells`]).

use std::error::Error;

use rusqlite::types::ValueRef;
use sea_orm::Value;
use sea_orm::sea_query::ArrayType;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

type Unwritable = Box<dyn Error + Sync + Send>;

/// A parameter of a statement.
#[derive(Debug)]
pub(in crate::db) struct Parameter<'v>(pub(in crate::db) &'v Value);

/// The type that a parameter is sent as. The server casts it to what the statement needs.
pub(in crate::db) fn type_of(value: &Value) -> Type {
    match value {
        Value::Bool(_) => Type::BOOL,
        Value::SmallInt(_) => Type::INT2,
        Value::Int(_) => Type::INT4,
        Value::BigInt(_) | Value::Unsigned(_) | Value::BigUnsigned(_) => Type::INT8,
        Value::Double(_) => Type::FLOAT8,
        Value::String(_) => Type::TEXT,
        Value::Bytes(_) => Type::BYTEA,
        Value::Array(ArrayType::Bool, _) => Type::BOOL_ARRAY,
        Value::Array(ArrayType::Int, _) => Type::INT4_ARRAY,
        Value::Array(ArrayType::BigInt, _) => Type::INT8_ARRAY,
        Value::Array(ArrayType::Double, _) => Type::FLOAT8_ARRAY,
        Value::Array(ArrayType::String, _) => Type::TEXT_ARRAY,
        Value::Array(ArrayType::Bytes, _) => Type::BYTEA_ARRAY,
        // Refused when it is written.
        _ => Type::UNKNOWN,
    }
}

/// About how many bytes a parameter takes.
pub(in crate::db) fn bytes_of(value: &Value) -> usize {
    match value {
        Value::String(Some(text)) => text.len(),
        Value::Bytes(Some(bytes)) => bytes.len(),
        Value::Array(_, Some(values)) => values.iter().map(bytes_of).sum(),
        _ => 8,
    }
}

impl ToSql for Parameter<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Unwritable> {
        match self.0 {
            Value::Bool(value) => value.to_sql(ty, out),
            Value::SmallInt(value) => value.to_sql(ty, out),
            Value::Int(value) => value.to_sql(ty, out),
            Value::BigInt(value) => value.to_sql(ty, out),
            Value::Unsigned(value) => value.map(i64::from).to_sql(ty, out),
            Value::BigUnsigned(value) => value.map(i64::try_from).transpose()?.to_sql(ty, out),
            Value::Double(value) => value.to_sql(ty, out),
            Value::String(value) => value.to_sql(ty, out),
            Value::Bytes(value) => value.to_sql(ty, out),
            Value::Array(_, None) => Ok(IsNull::Yes),
            Value::Array(_, Some(values)) => {
                let values: Vec<Parameter<'_>> = values.iter().map(Parameter).collect();
                values.to_sql(ty, out)
            }
            other => Err(format!("a parameter has an unknown type: {other:?}").into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        // The statement was prepared with the types of its parameters.
        true
    }

    to_sql_checked!();
}

/// A column of a row.
pub(in crate::db) struct Cell<'r>(pub(in crate::db) ValueRef<'r>);

impl<'r> FromSql<'r> for Cell<'r> {
    fn from_sql(ty: &Type, raw: &'r [u8]) -> Result<Self, Unwritable> {
        Ok(Self(match *ty {
            Type::INT8 => ValueRef::Integer(i64::from_be_bytes(raw.try_into()?)),
            Type::INT4 => ValueRef::Integer(i32::from_be_bytes(raw.try_into()?).into()),
            Type::INT2 => ValueRef::Integer(i16::from_be_bytes(raw.try_into()?).into()),
            Type::OID => ValueRef::Integer(u32::from_be_bytes(raw.try_into()?).into()),
            Type::BOOL => ValueRef::Integer(bool::from_sql(ty, raw)?.into()),
            Type::FLOAT8 => ValueRef::Real(f64::from_be_bytes(raw.try_into()?)),
            Type::TEXT | Type::VARCHAR | Type::NAME => ValueRef::Text(raw),
            Type::BYTEA => ValueRef::Blob(raw),
            _ => return Err(format!("values of the type {ty} are not read").into()),
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Unwritable> {
        Ok(Self(ValueRef::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
