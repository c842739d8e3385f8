//! What a caller may change, beyond the scope that a mutation requires.
//!
//! A table says who may change its rows ([`MayChange`]): those of the standards, and users, only administrators. That holds
//! whatever the SDL says of the mutation: its `@access` tells clients, and spares the work of one that is refused.
//!
//! A member of teams changes rows that their teams own. This is checked after the mutation has run and before it commits,
//! for every row that it has changed. A refused mutation is rolled back. Rows that follow by foreign keys need no
//! permission: whoever may delete a thing deletes all references to it.

use std::collections::HashMap;

use super::caller::Caller;
use super::rules::{ONLY_ADMINISTRATORS, ONLY_STANDARDS_ADMINISTRATORS};
use crate::db::{self, AnyRow, Before, MayChange, Owner, RowOf, Side, Transaction, World};
use crate::engine::Scope;
use crate::entity::change::{Account, Whole};
use crate::entity::user::Role;
use crate::entity::{ByIds, team, team_membership};
use crate::error::{Result, UserError, quoted};

/// Refuses a mutation that the caller's role does not allow.
pub(in crate::graphql) async fn check(
    before: Before<'_>,
    transaction: &Transaction,
    caller: &Caller,
    account: &Account,
) -> Result<()> {
    if let Some(why) = transaction.may_change_unseen().and_then(|who| lacks(caller, who)) {
        return Err(why.into());
    }
    match refused(before, transaction, caller, account).await?.into_iter().next() {
        None => Ok(()),
        Some((_, why)) => Err(why.into()),
    }
}

/// The changes that the caller's role does not allow, and the error about each.
pub(in crate::graphql) async fn refused<'a>(
    before: Before<'_>,
    transaction: &Transaction,
    caller: &Caller,
    account: &'a Account,
) -> Result<Vec<(&'a Whole, UserError)>> {
    let mut refused = Vec::new();
    let mut owners = match caller.user {
        Some((user, Role::TeamMember)) => {
            Some(Owners { before, transaction, user, known: HashMap::new(), names: HashMap::new() })
        }
        _ => None,
    };
    for change in account.changes.iter().filter(|change| !change.follows) {
        if let Some(why) = lacks(caller, may_change(change)) {
            refused.push((change, why));
        } else if let Some(owners) = &mut owners
            && let Some(whose) = owners.whose(change).await?
        {
            let is_team = change.row == RowOf::new::<team::Entity>(change.row.id);
            refused.push((change, owners.not_own(caller, whose, is_team).await?));
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
    if let Some(why) = lacks(caller, row.table.may_change()) {
        return Err(why.into());
    }
    let Some((user, Role::TeamMember)) = caller.user else { return Ok(()) };
    let mut owners = Owners { before, transaction, user, known: HashMap::new(), names: HashMap::new() };
    let Some(whose) = owners.whose_row(row).await? else { return Ok(()) };
    let is_team = row == RowOf::new::<team::Entity>(row.id);
    Err(owners.not_own(caller, whose, is_team).await?.into())
}

/// Who may change a row, by its table. A row that belongs to another one, such as an alias to a scorecard, is as that one is,
/// unless its table says otherwise.
fn may_change(change: &Whole) -> MayChange {
    let own = change.row.table.may_change();
    if own != MayChange::Owners {
        return own;
    }
    let versions = change.before.iter().chain(&change.after);
    let of_owner = versions.filter_map(|row| match row.owner() {
        Owner::Row(owner) => Some(owner.table.may_change()),
        Owner::Nobody | Owner::Team(_) | Owner::User(_) => None,
    });
    of_owner.max().unwrap_or(own)
}

/// Why the caller is not among those who may change something. `None` if the caller is. The scope of the mutation has been
/// checked, so whoever comes here may change the catalogue.
fn lacks(caller: &Caller, who: MayChange) -> Option<UserError> {
    let (may, why) = match who {
        MayChange::Owners | MayChange::Members => return None,
        MayChange::StandardsAdministrators => {
            (caller.user.is_none_or(|(_, role)| role >= Role::StandardsAdmin), ONLY_STANDARDS_ADMINISTRATORS)
        }
        MayChange::Administrators => (caller.scope >= Scope::Admin, ONLY_ADMINISTRATORS),
    };
    (!may).then(|| UserError::base(why).forbidden())
}

/// Finds whose rows are.
struct Owners<'d> {
    before: Before<'d>,
    transaction: &'d Transaction,
    user: i64,
    /// Whether the user is the owner, or belongs to the team.
    known: HashMap<(bool, i64), bool>,
    /// The names of teams. `None` for one that the mutation itself makes.
    names: HashMap<i64, Option<String>>,
}

/// Whose a row is that the user may not change.
#[derive(Clone, Copy)]
enum Whose {
    Team(i64),
    /// Another user's.
    User,
    Nobody,
}

/// One of the two times at which a row has an owner.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Before,
    Now,
}

impl Owners<'_> {
    /// Says why the user may not change a row that is not their own.
    async fn not_own(&mut self, caller: &Caller, whose: Whose, is_team: bool) -> Result<UserError> {
        let rule = match caller.is_held_to_own {
            true => "this server lets members change only their own teams and what those own",
            false => "you can change only your own teams and what they own",
        };
        let whose = match whose {
            Whose::Team(id) => match self.name(id).await? {
                Some(name) if is_team => format!("; this would change the team {}", quoted(&name)),
                Some(name) => format!("; this would change what the team {} owns", quoted(&name)),
                None => String::new(),
            },
            Whose::User => "; this would change what belongs to somebody else".to_owned(),
            Whose::Nobody => "; this would change what no team owns".to_owned(),
        };
        Ok(UserError::base(rule.to_owned() + &whose).forbidden())
    }

    /// The name of a team that was there before.
    async fn name(&mut self, team: i64) -> Result<Option<String>> {
        if let Some(known) = self.names.get(&team) {
            return Ok(known.clone());
        }
        let found = team::Entity::by_ids(&self.before, [Some(team)]).await?.pop().flatten();
        let name = found.map(|team| team.name);
        self.names.insert(team, name.clone());
        Ok(name)
    }

    /// Whose a row is, unless the user may change it. Its owner from before counts: otherwise anyone could give a thing to
    /// their own team and then change it. If there was none, because the thing is new or had no owner, that of now counts. A
    /// row that now belongs to another row must be the user's own at both.
    async fn whose(&mut self, change: &Whole) -> Result<Option<Whose>> {
        let (old, new) = (change.before.as_ref().map(AnyRow::owner), change.after.as_ref().map(AnyRow::owner));
        if let (Some(Owner::Row(from)), Some(Owner::Row(to))) = (old, new)
            && from != to
        {
            for row in [from, to] {
                if let Some(whose) = self.whose_row(row).await? {
                    return Ok(Some(whose));
                }
            }
        }
        self.not_users(old, new).await
    }

    async fn whose_row(&mut self, row: RowOf) -> Result<Option<Whose>> {
        let old = self.row(row, When::Before).await?.map(|row| row.owner());
        let new = self.row(row, When::Now).await?.map(|row| row.owner());
        self.not_users(old, new).await
    }

    async fn not_users(&mut self, old: Option<Owner>, new: Option<Owner>) -> Result<Option<Whose>> {
        let owner = match self.end(old, When::Before).await? {
            None => self.end(new, When::Now).await?,
            owner => owner,
        };
        let (is_team, id) = match owner {
            Some(Owner::Team(id)) => (true, id),
            Some(Owner::User(id)) => (false, id),
            Some(Owner::Row(_) | Owner::Nobody) | None => return Ok(Some(Whose::Nobody)),
        };
        let whose = if is_team { Whose::Team(id) } else { Whose::User };
        if let Some(known) = self.known.get(&(is_team, id)) {
            return Ok((!known).then_some(whose));
        }
        let is_own = match is_team {
            true => team_membership::is_of(&self.before, self.user, id).await?,
            false => id == self.user,
        };
        self.known.insert((is_team, id), is_own);
        Ok((!is_own).then_some(whose))
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
