//! Writes the audit of a mutation, from the account of its transaction.

use sea_orm::Set;
use serde_json::{Map, Value};

use super::rules::Rules;
use crate::db::{self, Before, RowOf, Transaction};
use crate::entity::audit::{self, Actor};
use crate::entity::change::{Account, By, Told};
use crate::entity::{check, check_due};
use crate::events::{self, Wanted};

/// Stores what follows from the mutation `action`: its events, the marks of what checks ask about, and its entries, one for
/// each object that it has changed, but for the first, which also has the input. Returns that one, which is stored when the
/// mutation commits. `input` holds the arguments.
pub(in crate::graphql) async fn note(
    before: Before<'_>,
    transaction: &Transaction,
    actor: &Actor,
    (action, input): (&str, &Value),
    (rules, wanted): (&Rules, &Wanted),
    account: &Account,
) -> Result<audit::ActiveModel, db::Error> {
    let told = account.told(before, transaction, By::Object).await?;
    events::note(transaction, wanted, (actor, action), account, &told).await?;
    if account.changes.iter().any(|change| change.row == RowOf::new::<check::Entity>(change.row.id)) {
        wanted.add_checks();
    }
    if wanted.has_checks() {
        check_due::note(transaction, (actor, action), &account.changes).await?;
    }
    let keeping = account.keeping();
    let mut told = told.into_iter();
    let (subject, changed, kept) = told
        .next()
        .map_or_else(Default::default, |Told { row, subject, changed }| (subject, changed, keeping.of_subject(row)));
    let mut detail = input.as_object().cloned().unwrap_or_default();
    detail.values_mut().for_each(|value| hide_secrets(rules, value));
    insert_changed(&mut detail, changed);
    let others = told.map(|Told { row, subject, changed }| {
        let mut detail = Map::new();
        insert_changed(&mut detail, changed);
        let entry = audit::entry(actor, action, subject, &detail.into());
        audit::ActiveModel { kept: Set(keeping.of_subject(row)), ..entry }
    });
    audit::store_all(transaction, others).await?;
    let entry = audit::entry(actor, action, subject, &detail.into());
    Ok(audit::ActiveModel { kept: Set(kept), ..entry })
}

fn insert_changed(detail: &mut Map<String, Value>, changed: Map<String, Value>) {
    if !changed.is_empty() {
        detail.insert("changed".to_owned(), changed.into());
    }
}

/// A migration that waits for this transaction keeps all other readers of its tables waiting. A mutation that meets one
/// has lost a race: it rolls back, which lets the migration pass, and is retried.
pub(in crate::graphql) fn let_pass(error: db::Error) -> db::Error {
    if error.is_locked() { db::Error::LostRace } else { error }
}

/// Replaces each secret by a placeholder, which says only that one was given.
fn hide_secrets(rules: &Rules, input: &mut Value) {
    match input {
        Value::Array(items) => items.iter_mut().for_each(|item| hide_secrets(rules, item)),
        Value::Object(fields) => {
            for (name, value) in fields {
                match rules.is_secret(name) && !value.is_null() {
                    true => *value = "(secret)".into(),
                    false => hide_secrets(rules, value),
                }
            }
        }
        _ => {}
    }
}
