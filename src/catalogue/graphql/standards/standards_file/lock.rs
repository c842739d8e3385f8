//! Locks: what a standards file describes is changed there.

use sea_orm::sea_query::Value;

use crate::db::AnyRow;
use crate::entity::change::{Account, Whole};
use crate::error::{Result, UserError, quoted};
use crate::service_file::Standard;

/// The columns that change when a campaign ends, which no file says.
const OF_AN_END: [&str; 2] = ["ended_at", "updated_at"];

/// Refuses changes of what standards files govern.
pub(in crate::graphql) fn refuse_locked(account: &Account) -> Result<()> {
    let locked = account.changes.iter().find_map(|change| Some((change, file_of(change).filter(|_| differs(change))?)));
    let Some((change, file)) = locked else { return Ok(()) };
    let name = change.before.as_ref().and_then(|row| text(row, "name")).unwrap_or_default();
    let message = format!(
        "the {} {} is locked: its standards file {} governs it; change it there",
        change.row.table.name(),
        quoted(&name),
        quoted(&file)
    );
    Err(UserError::new("locked", message).into())
}

/// The file that governed a row before.
fn file_of(change: &Whole) -> Option<String> {
    let is_standard = Standard::ALL.iter().any(|standard| standard.noun() == change.row.table.name());
    if is_standard { text(change.before.as_ref()?, "locked_by") } else { None }
}

/// Whether a row has changed. The predicates of a filter change the time of its last change.
fn differs(change: &Whole) -> bool {
    let is_campaign = change.row.table.name() == Standard::Campaign.noun();
    let is_compared = |name: &str| !is_campaign || !OF_AN_END.contains(&name);
    let columns = |row: &AnyRow| row.columns().into_iter().filter(|(name, _)| is_compared(name)).collect::<Vec<_>>();
    change.before.as_ref().map(columns) != change.after.as_ref().map(columns)
}

fn text(row: &AnyRow, column: &str) -> Option<String> {
    match row.value(column)? {
        Value::String(text) => text,
        _ => None,
    }
}
