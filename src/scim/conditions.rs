//! Filters as conditions of SQL. Every comparison is true or false, and never null, so that `not` is the opposite.

use sea_orm::ColumnTrait;
use sea_orm::sea_query::{Expr, ExprTrait, Func, Query, SelectStatement};
use serde_json::Value;

use super::error::{Refusal, ScimType};
use super::filter::{Attribute, Filter, Op};
use super::resource;
use crate::db::{self, Backend};
use crate::entity::user::email_key;
use crate::entity::{Timestamp, scim_group as group, scim_group_member as member, user};

/// What an attribute is in the database.
enum Field {
    /// A text, and the form in which values are compared with it.
    Text(Expr, fn(&str) -> String),
    /// The same, which may be null.
    Optional(Expr, fn(&str) -> String),
    /// An id.
    Id(Expr),
    /// A condition.
    Flag(Expr),
    /// A moment.
    Moment(Expr),
    /// The same text for all.
    Constant(&'static str),
    /// Other resources: whether any, and whether one is among them.
    Related(fn() -> Expr, fn(i64) -> Expr),
}

fn wrong(detail: String) -> Refusal {
    Refusal::new(ScimType::InvalidFilter, detail)
}

/// The users that a filter selects.
pub fn of_users(db: &dyn Backend, filter: &Filter) -> Result<Expr, Refusal> {
    condition(db, filter, &|db, attribute| user_field(db, attribute))
}

/// The groups that a filter selects.
pub fn of_groups(db: &dyn Backend, filter: &Filter) -> Result<Expr, Refusal> {
    condition(db, filter, &|_, attribute| group_field(attribute))
}

/// The name by which an identity provider knows a user. The expression is that of an index.
pub fn user_name() -> Expr {
    let columns = [user::Column::UserNameKey, user::Column::EmailKey].map(|column| Expr::col(column.as_column_ref()));
    Func::coalesce(columns).into()
}

fn exact(text: &str) -> String {
    text.to_owned()
}

fn lower(text: &str) -> String {
    text.to_ascii_lowercase()
}

fn user_field(db: &dyn Backend, attribute: &Attribute) -> Option<Field> {
    let column = |column: user::Column| Expr::col(column.as_column_ref());
    let lowered = |name: user::Column| db::text::lower(db, column(name));
    let name = || Field::Text(lowered(user::Column::Name), lower);
    Some(match (&*attribute.name, attribute.sub.as_deref()) {
        ("id", None) => Field::Id(column(user::Column::Id)),
        ("username", None) => Field::Text(user_name(), email_key),
        ("externalid", None) => Field::Optional(column(user::Column::ExternalId), exact),
        ("displayname", None) | ("name", None | Some("formatted")) => name(),
        ("name", Some("familyname")) => Field::Optional(lowered(user::Column::FamilyName), lower),
        ("name", Some("givenname")) => Field::Optional(lowered(user::Column::GivenName), lower),
        ("emails", None | Some("value")) => Field::Text(column(user::Column::EmailKey), email_key),
        ("emails", Some("type")) => Field::Constant("work"),
        ("emails", Some("primary")) => Field::Flag(Expr::value(true)),
        ("active", None) => Field::Flag(user::Column::DeactivatedAt.is_null()),
        ("meta", Some("created")) => Field::Moment(column(user::Column::CreatedAt)),
        ("meta", Some("lastmodified")) => Field::Moment(column(user::Column::UpdatedAt)),
        ("meta", Some("resourcetype")) => Field::Constant("user"),
        ("groups", None | Some("value")) => Field::Related(
            || user::Column::Id.in_subquery(members(member::Column::UserId)),
            |id| {
                user::Column::Id
                    .in_subquery(members(member::Column::UserId).and_where(member::Column::GroupId.eq(id)).take())
            },
        ),
        _ => return None,
    })
}

fn group_field(attribute: &Attribute) -> Option<Field> {
    let column = |column: group::Column| Expr::col(column.as_column_ref());
    Some(match (&*attribute.name, attribute.sub.as_deref()) {
        ("id", None) => Field::Id(column(group::Column::Id)),
        ("displayname", None) => Field::Text(column(group::Column::NameKey), group::name_key),
        ("externalid", None) => Field::Optional(column(group::Column::ExternalId), exact),
        ("meta", Some("created")) => Field::Moment(column(group::Column::CreatedAt)),
        ("meta", Some("lastmodified")) => Field::Moment(column(group::Column::UpdatedAt)),
        ("meta", Some("resourcetype")) => Field::Constant("group"),
        ("members", None | Some("value")) => Field::Related(
            || group::Column::Id.in_subquery(members(member::Column::GroupId)),
            |id| {
                group::Column::Id
                    .in_subquery(members(member::Column::GroupId).and_where(member::Column::UserId.eq(id)).take())
            },
        ),
        _ => return None,
    })
}

/// Selects a column of the members of groups.
fn members(column: member::Column) -> SelectStatement {
    Query::select().column(column).from(member::Entity).take()
}

type Fields<'f> = &'f dyn Fn(&dyn Backend, &Attribute) -> Option<Field>;

fn condition(db: &dyn Backend, filter: &Filter, fields: Fields<'_>) -> Result<Expr, Refusal> {
    let field = |attribute: &Attribute| {
        let name = attribute.sub.as_ref().map_or(attribute.name.clone(), |sub| format!("{}.{sub}", attribute.name));
        fields(db, attribute).ok_or_else(|| wrong(format!("Filters cannot be about the attribute {name}.")))
    };
    Ok(match filter {
        Filter::And(one, other) => condition(db, one, fields)?.and(condition(db, other, fields)?),
        Filter::Or(one, other) => condition(db, one, fields)?.or(condition(db, other, fields)?),
        Filter::Not(one) => condition(db, one, fields)?.not(),
        Filter::Present(attribute) => present(field(attribute)?),
        Filter::Compare(attribute, op, value) => compare(db, field(attribute)?, *op, value)?,
        Filter::Within(attribute, inner) => {
            let is_one = matches!(**inner, Filter::Compare(_, Op::Eq, _) | Filter::Present(_));
            if !is_one && matches!(field(attribute)?, Field::Related(..)) {
                return Err(wrong(format!("Only value eq \"ID\" is supported inside {}[…].", attribute.name)));
            }
            // An address is the only one of its user.
            condition(db, inner, &|db, sub: &Attribute| {
                let sub = Attribute { name: attribute.name.clone(), sub: Some(sub.name.clone()) };
                fields(db, &sub)
            })?
        }
    })
}

fn present(field: Field) -> Expr {
    match field {
        Field::Optional(expr, _) => expr.is_not_null(),
        Field::Related(any, _) => any(),
        Field::Text(..) | Field::Id(_) | Field::Flag(_) | Field::Moment(_) | Field::Constant(_) => Expr::value(true),
    }
}

fn compare(db: &dyn Backend, field: Field, op: Op, value: &Value) -> Result<Expr, Refusal> {
    if value.is_null() {
        let is_absent = present(field).not();
        return match op {
            Op::Eq => Ok(is_absent),
            Op::Ne => Ok(is_absent.not()),
            _ => Err(wrong("With null, only eq and ne are supported.".to_owned())),
        };
    }
    let either = |is: Expr| match op {
        Op::Eq => Ok(is),
        Op::Ne => Ok(is.not()),
        _ => Err(wrong("Of this attribute, only eq, ne and pr are supported.".to_owned())),
    };
    match field {
        Field::Text(expr, key) => Ok(text(db, expr, op, &key(&given(value)?))),
        Field::Optional(expr, key) => {
            let is = |op| -> Result<Expr, Refusal> {
                Ok(expr.clone().is_not_null().and(text(db, expr.clone(), op, &key(&given(value)?))))
            };
            // Nothing is not the value.
            if op == Op::Ne { is(Op::Eq).map(ExprTrait::not) } else { is(op) }
        }
        Field::Id(expr) => {
            let id = resource::number(&given(value)?);
            either(id.map_or_else(|| Expr::value(false), |id| expr.eq(id)))
        }
        Field::Flag(expr) => {
            let wanted =
                resource::flag("the value", value).map_err(|refusal| refusal.of_kind(ScimType::InvalidFilter))?;
            either(if wanted { expr } else { expr.not() })
        }
        Field::Moment(expr) => {
            let moment = Timestamp::parse(&given(value)?);
            moment_compares(expr, op, moment.map_err(|wrong_one| wrong(format!("The value is {wrong_one}.")))?)
        }
        Field::Constant(is) => either(Expr::value(given(value)?.eq_ignore_ascii_case(is))),
        Field::Related(_, has) => either(resource::number(&given(value)?).map_or_else(|| Expr::value(false), has)),
    }
}

/// A value that must be a text, and that a database can hold.
fn given(value: &Value) -> Result<String, Refusal> {
    match value {
        Value::String(text) if !text.contains('\0') => Ok(text.clone()),
        _ => Err(wrong(format!("The attribute is compared with a text in quotation marks, not with {value}."))),
    }
}

fn text(db: &dyn Backend, expr: Expr, op: Op, wanted: &str) -> Expr {
    // By code point: PostgreSQL's own order follows the locale of the database.
    let ordered = |expr| db::text::lower(db, expr);
    let wanted_lower = || wanted.to_ascii_lowercase();
    match op {
        Op::Eq => expr.eq(wanted),
        Op::Ne => expr.ne(wanted),
        Op::Co => db::text::contains(db, expr, wanted),
        Op::Sw => db::text::begins_with(db, expr, wanted),
        Op::Ew => db::text::ends_with(db, expr, wanted),
        Op::Gt => ordered(expr).gt(wanted_lower()),
        Op::Ge => ordered(expr).gte(wanted_lower()),
        Op::Lt => ordered(expr).lt(wanted_lower()),
        Op::Le => ordered(expr).lte(wanted_lower()),
    }
}

fn moment_compares(expr: Expr, op: Op, moment: Timestamp) -> Result<Expr, Refusal> {
    Ok(match op {
        Op::Eq => expr.eq(moment),
        Op::Ne => expr.ne(moment),
        Op::Gt => expr.gt(moment),
        Op::Ge => expr.gte(moment),
        Op::Lt => expr.lt(moment),
        Op::Le => expr.lte(moment),
        Op::Co | Op::Sw | Op::Ew => return Err(wrong("A date cannot be compared with co, sw or ew.".to_owned())),
    })
}
