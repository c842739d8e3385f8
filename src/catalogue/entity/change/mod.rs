//! What a transaction changes, in the words of the audit: the fields of an object before and after.
//!
//! [`Account`] tells all that a mutation has changed, from the record of its transaction. [`diff`] compares one object,
//! for transactions that keep no record: until the transaction commits, another connection reads the committed rows, and the
//! transaction reads its own. The transaction has locked the rows that it wrote, so no other can change them in the
//! meantime.

use futures_util::future::try_join;
use sea_orm::ModelTrait;
use serde_json::{Map, Value as Json};

use self::row::{
    columns, columns_of, different, field, insert, insert_different, names_of, readable, referred, row_before, row_now,
};
use crate::db::{self, Before, RowOf, Table, Transaction};

mod account;
pub mod kept;
mod row;

pub use account::{Account, By, Told, Whole};
pub use row::label;
pub(crate) use row::reference;

/// Returns what `transaction`, which keeps no record, has changed of an object: a JSON object of fields, each with its
/// `old` and `new` value. `before` must read what others see.
pub async fn diff(before: Before<'_>, transaction: &Transaction, object: RowOf) -> Result<Json, db::Error> {
    let (old, new) = try_join(row_before(before, transaction, object), row_now(transaction, object)).await?;
    let differing = different(old.as_ref().map(columns_of).as_ref(), new.as_ref().map(columns_of).as_ref());
    let referred = differing
        .iter()
        .flat_map(|(column, old, new)| [old, new].into_iter().flat_map(|value| referred(column, value.as_ref())));
    let names = names_of(before, transaction, referred.collect::<Vec<_>>()).await?;
    let mut changed = Map::new();
    insert_different(&mut changed, differing, &names);
    Ok(Json::Object(changed))
}

/// Compares two versions of a row, like [`diff`]. References to other rows are ids, not names.
pub fn between<M: ModelTrait<Entity: Table>>(before: Option<&M>, after: Option<&M>) -> Json {
    let (before, after) = (before.map(columns), after.map(columns));
    let mut changed = Map::new();
    for (column, old, new) in different(before.as_ref(), after.as_ref()) {
        insert(&mut changed, &field(column), readable(column, &old), readable(column, &new));
    }
    Json::Object(changed)
}
