//! Lists of rows that need no method: `fields!` says how to find them.
//!
//! `key owner_id` finds the rows whose column refers to the parent. `through service_repository` finds the rows that a
//! join table links to the parent, by its columns `PARENT_id` and `NODE_id`, named after the two types. Both are checked
//! against the entities.

use super::bindings::Bindings;
use super::declarations::How;
use super::model::{Field, Object, Schema};
use super::names::snake_case;
use super::rows::Row;
use spelling::nearest;

/// How to find the rows of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Relation<'a> {
    /// By this column, which refers to the parent.
    Key(&'a str),
    /// By a join table, and its columns that refer to the parent and the row.
    Through { table: &'a str, parent: String, target: String },
}

/// Why a relation is not valid.
#[derive(Debug)]
pub(super) struct Mistake {
    /// Whether the SDL's types do not fit. Otherwise the table or the column does not.
    pub(super) is_of_types: bool,
    pub(super) message: String,
    pub(super) help: String,
}

impl Mistake {
    fn of_types(message: String) -> Self {
        let help =
            "it must page through rows of a table (`first: Int, after: String`); remove this, and write the method";
        Self { is_of_types: true, message, help: help.to_owned() }
    }

    fn of_tables(message: String, help: String) -> Self {
        Self { is_of_types: false, message, help }
    }
}

/// Returns how to find the rows of `field`. `None` if nothing is declared.
pub(super) fn of_field<'a>(
    model: &'a Schema,
    bindings: &'a Bindings,
    object: &Object,
    field: &Field,
) -> Result<Option<Relation<'a>>, Mistake> {
    let Some(how) = bindings.relation(&object.name, &field.name) else { return Ok(None) };
    if bindings.row(&object.name).is_none() {
        return Err(Mistake::of_types(format!("`{}` is not bound to the row of a table", object.name)));
    }
    let node = model.object(field.ty.name()).and_then(|connection| model.connection(connection));
    let node = node.filter(|_| field.is_page());
    let Some((node, row)) = node.and_then(|node| Some((node, bindings.row(node)?))) else {
        let message = format!("`{}.{}` of the type `{}` is no list of rows", object.name, field.name, field.ty);
        return Err(Mistake::of_types(message));
    };
    match how {
        How::Key(key) => {
            has_key(row, key)?;
            Ok(Some(Relation::Key(key)))
        }
        How::Through(table) => {
            let Some(links) = bindings.table(table) else {
                let near = nearest(table, bindings.tables());
                let help = near.map_or("make its entity in src/catalogue/entity".to_owned(), |near| {
                    format!("did you mean `{near}`?")
                });
                return Err(Mistake::of_tables(format!("no entity has the table `{table}`"), help));
            };
            let [parent, target] = [&object.name, node].map(|name| format!("{}_id", snake_case(name)));
            for column in ["id", &parent, &target] {
                has_key(links, column)?;
            }
            Ok(Some(Relation::Through { table, parent, target }))
        }
        How::Part(_) | How::Computed => Ok(None),
    }
}

fn has_key(row: &Row, column: &str) -> Result<(), Mistake> {
    if row.has_key(column) {
        return Ok(());
    }
    let keys: Vec<String> = row.keys().map(|key| format!("`{key}`")).collect();
    Err(Mistake::of_tables(
        format!("the table `{}` has no column `{column}` of type i64 in {}", row.table, row.file),
        format!("its columns of that type are {}", keys.join(", ")),
    ))
}
