//! What a signed-in user may change, beyond the scope that a mutation requires.
//!
//! A member of teams changes rows that their teams own. This is checked after the mutation has run and before it commits,
//! for every row that it has changed. A refused mutation is rolled back. Rows that follow by foreign keys need no
//! permission: whoever may delete a thing deletes all references to it.

use std::collections::HashMap;

use super::caller::Caller;
use crate::db::{self, AnyRow, Before, Owner, RowOf, Side, Transaction, World};
use crate::entity::change::{Account, Whole};
use crate::entity::team_membership;
use crate::entity::user::Role;
use crate::error::{Result, UserError};

/// Refuses a mutation that the caller's role does not allow.
pub(in crate::graphql) async fn check(
    before: Before<'_>,
    transaction: &Transaction,
    caller: &Caller,
    account: &Account,
) -> Result<()> {
    match refused(before, transaction, caller, account).await?.is_empty() {
        true => Ok(()),
        false => Err(not_own().into()),
    }
}

/// The changes that the caller's role does not allow.
pub(in crate::graphql) async fn refused<'a>(
    before: Before<'_>,
    transaction: &Transaction,
    caller: &Caller,
    account: &'a Account,
) -> Result<Vec<&'a Whole>> {
    let Some((user, Role::TeamMember)) = caller.user else { return Ok(Vec::new()) };
    let mut owners = Owners { before, transaction, user, known: HashMap::new() };
    let mut refused = Vec::new();
    for change in account.changes.iter().filter(|change| !change.follows) {
        if !owners.may_change(change).await? {
            refused.push(change);
        }
    }
    Ok(refused)
}

/// Refuses a change of a row that the caller's role does not allow: of one that is there, or that the transaction makes.
pub(in crate::graphql) async fn check_row(
    before: Before<'_>,
    transaction: &Transaction,
    caller: &Caller,
    row: RowOf,
) -> Result<()> {
    let Some((user, Role::TeamMember)) = caller.user else { return Ok(()) };
    let mut owners = Owners { before, transaction, user, known: HashMap::new() };
    match owners.is_own_row(row).await? {
        true => Ok(()),
        false => Err(not_own().into()),
    }
}

pub(in crate::graphql) fn not_own() -> UserError {
    UserError::base("you can change only your own teams and what they own").forbidden()
}

/// Finds whose rows are.
struct Owners<'d> {
    before: Before<'d>,
    transaction: &'d Transaction,
    user: i64,
    /// Whether the user is the owner, or belongs to the team.
    known: HashMap<(bool, i64), bool>,
}

/// One of the two times at which a row has an owner.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Before,
    Now,
}

impl Owners<'_> {
    /// Whether the user may change a row. Its owner from before counts: otherwise anyone could give a thing to their own
    /// team and then change it. If there was none, because the thing is new or had no owner, that of now counts. A row that
    /// now belongs to another row must be the user's own at both.
    async fn may_change(&mut self, change: &Whole) -> Result<bool> {
        let (old, new) = (change.before.as_ref().map(AnyRow::owner), change.after.as_ref().map(AnyRow::owner));
        if let (Some(Owner::Row(from)), Some(Owner::Row(to))) = (old, new)
            && from != to
            && !(self.is_own_row(from).await? && self.is_own_row(to).await?)
        {
            return Ok(false);
        }
        self.is_own(old, new).await
    }

    async fn is_own_row(&mut self, row: RowOf) -> Result<bool> {
        let old = self.row(row, When::Before).await?.map(|row| row.owner());
        let new = self.row(row, When::Now).await?.map(|row| row.owner());
        self.is_own(old, new).await
    }

    async fn is_own(&mut self, old: Option<Owner>, new: Option<Owner>) -> Result<bool> {
        let owner = match self.end(old, When::Before).await? {
            None => self.end(new, When::Now).await?,
            owner => owner,
        };
        let (is_team, id) = match owner {
            Some(Owner::Team(id)) => (true, id),
            Some(Owner::User(id)) => (false, id),
            Some(Owner::Row(_) | Owner::Nobody) | None => return Ok(false),
        };
        if let Some(known) = self.known.get(&(is_team, id)) {
            return Ok(*known);
        }
        let is_own = match is_team {
            true => team_membership::is_of(&self.before, self.user, id).await?,
            false => id == self.user,
        };
        self.known.insert((is_team, id), is_own);
        Ok(is_own)
    }

    /// The team or the user at the end of a chain of owners. `None` if there is none.
    async fn end(&self, mut owner: Option<Owner>, when: When) -> Result<Option<Owner>> {
        loop {
            owner = match owner {
                Some(Owner::Row(row)) => self.row(row, when).await?.map(|row| row.owner()),
                Some(Owner::Nobody) | None => return Ok(None),
                end => return Ok(end),
            };
        }
    }

    async fn row(&self, row: RowOf, when: When) -> Result<Option<AnyRow>, db::Error> {
        let (known, world) = match when {
            When::Before => (self.transaction.before(row), World::Before(self.before)),
            When::Now => (self.transaction.after(row), World::Now(self.transaction)),
        };
        match known {
            Side::Row(row) => Ok(Some(row)),
            Side::Absent => Ok(None),
            Side::Unknown => Ok(row.table.read(world, None, vec![row.id], 1).await?.pop()),
        }
    }
}
